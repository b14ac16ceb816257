//! Inlay hints: the cost of each instruction, at the end of its line.

use std::ops::Range;

use vop_ptx::uses::Verdict;

use crate::cost;
use crate::document::Document;
use crate::settings::Settings;

/// A cost beside a line.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Hint {
    /// The end of the line.
    pub at: usize,
    /// `45 on sm_90`; `45 + 3 on sm_90`, if the line has two instructions.
    pub label: String,
}

/// The costs of the legal instructions of a part of a document, a line each.
pub fn hints(document: &Document, span: &Range<usize>, settings: &Settings) -> Vec<Hint> {
    let target = cost::target(document, settings);
    let (text, lines) = (document.text(), document.lines());
    let mut hints: Vec<(usize, Vec<String>)> = Vec::new();
    let mut last = None;
    for one in &document.file_uses().uses {
        let (Verdict::Legal(form) | Verdict::LegalFragment(form)) = one.verdict else { continue };
        let end = lines.span(text, lines.line(one.span.end.saturating_sub(1).max(one.span.start))).end;
        // Versions of one text, and what a macro writes, are at one place.
        if end < span.start || one.span.start > span.end || last.replace(one.span.start) == Some(one.span.start) {
            continue;
        }
        let cost = form.cost(target).to_string();
        match hints.last_mut() {
            Some((at, costs)) if *at == end => costs.push(cost),
            _ => hints.push((end, vec![cost])),
        }
    }
    let label = |costs: Vec<String>| format!("{} on {target}", costs.join(" + "));
    hints.into_iter().map(|(at, costs)| Hint { at, label: label(costs) }).collect()
}

#[cfg(test)]
mod tests {
    use vop_ptx::find::Language;

    use super::*;

    #[test]
    fn a_line_each() {
        let text = ".version 8.0\n.target sm_75\n.reg .b32 a, b, c, d;\nvadd.u32.u32.u32 d, a, b; vadd4.u32.u32.u32 d, a, b, c; // x\nvadd.q d;\n";
        let document = Document::new(text, Language::Ptx);
        let hints = |settings: &Settings| hints(&document, &(0..text.len()), settings);
        let found = hints(&Settings::default());
        assert_eq!(found.len(), 1);
        assert!(text[..found[0].at].ends_with("// x"));
        assert!(found[0].label.ends_with(" on sm_75") && found[0].label.contains(" + "), "{found:?}");
        let other = Settings { target: "sm_120".parse().ok(), ..Settings::default() };
        assert!(hints(&other)[0].label.ends_with(" on sm_120"));
        assert_eq!(super::hints(&document, &(0..5), &Settings::default()), []);
    }
}
