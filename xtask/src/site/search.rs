//! The index that the search of the pages reads.

use serde_json::json;

use super::Page;

/// Something that a search finds.
pub(crate) struct Find {
    /// What the list of results shows.
    pub(crate) title: String,
    /// Words that say what kind of thing it is: `instruction`, `diagnostic`, `guide`.
    pub(crate) kind: &'static str,
    /// Where in the page.
    pub(crate) anchor: Option<String>,
    /// The text that is searched, beside the title.
    pub(crate) text: String,
}

/// A script that leaves the index in a variable: pages that are opened as files cannot read another file in another way.
pub(crate) fn script(pages: &[Page]) -> String {
    let mut rows = Vec::new();
    for page in pages {
        for find in &page.finds {
            let anchor = find.anchor.as_ref().map(|anchor| format!("#{anchor}")).unwrap_or_default();
            let text = find.text.split_whitespace().collect::<Vec<_>>().join(" ");
            rows.push(json!([find.title, find.kind, format!("{}{anchor}", page.path), text]).to_string());
        }
    }
    format!("self.vopIndex = [\n{}\n];\n", rows.join(",\n"))
}
