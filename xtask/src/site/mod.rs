//! The site: pages that need no server, made of the library's tables, of docs/ and of what the library computes.
//!
//! - [`site`] makes all pages. `instructions.rs` has those of mnemonics, `codes.rs` those of diagnostics, `guide.rs` those of Markdown files,
//!   `front.rs` the others.
//! - `search.rs` makes the index that `site/site.js` searches.
//! - `example.rs` draws an instruction on values, and remembers what was drawn: the browser must compute it again.
//!
//! The scripts and the style sheet are in `site/`.

mod cases;
mod codes;
mod effect;
mod example;
mod front;
mod guide;
mod instructions;
mod search;

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use vop_draw::html::escaped;

pub use example::Example;

/// The name of the site, in titles.
const NAME: &str = "vop";

/// A page.
pub(crate) struct Page {
    /// Its place below the site's folder: `instructions/vadd4.html`.
    path: String,
    title: String,
    /// A sentence for those who find it by a search.
    description: String,
    /// What stands between its head and its foot, in HTML. Links are relative to the page.
    body: String,
    /// Which of [`SECTIONS`] it belongs to.
    section: &'static str,
    /// What stands beside it, in HTML, perhaps nothing.
    aside: String,
    /// What a search finds of it.
    finds: Vec<search::Find>,
}

/// The parts of the site: path, name.
const SECTIONS: [(&str, &str); 5] = [
    ("index.html", "Instructions"),
    ("playground.html", "Playground"),
    ("costs.html", "Costs"),
    ("diagnostics/index.html", "Diagnostics"),
    ("guide/index.html", "Guide"),
];

/// The whole site.
pub struct Site {
    /// All files but the scripts: the path below the site's folder, and the content.
    pub files: BTreeMap<String, Vec<u8>>,
    /// What the pages show of instructions, in the order of the pages.
    pub examples: Vec<Example>,
}

/// Makes the pages.
///
/// `root` is the repository, whose Markdown files, scripts, pictures and golden data are read.
///
/// # Errors
/// A sentence, if a file cannot be read, a link leads nowhere, or two files have one path.
pub fn site(root: &Path) -> Result<Site, String> {
    let data = Data::read(root)?;
    let mut examples = Vec::new();
    let mut pages = vec![front::front(), front::playground()];
    let mut forms = Vec::new();
    pages.extend(instructions::pages(&data, &mut examples, &mut forms));
    pages.push(front::costs(&forms));
    pages.extend(codes::pages(&cases::cases(root)?));
    let guide = guide::pages(root)?;
    pages.extend(guide.pages);
    check_links(&pages, &guide.pictures)?;
    let mut files = BTreeMap::new();
    let index = search::script(&pages);
    let mut add = |path: String, content: Vec<u8>| match files.insert(path.clone(), content) {
        None => Ok(()),
        Some(_) => Err(format!("two files of the site are {path}")),
    };
    for page in &pages {
        add(page.path.clone(), page.html().into_bytes())?;
    }
    add("assets/search-index.js".into(), index.into_bytes())?;
    for name in ["style.css", "site.js", "playground.js"] {
        add(format!("assets/{name}"), read(&root.join("site").join(name))?)?;
    }
    for (path, from) in guide.pictures {
        add(path, read(&from)?)?;
    }
    Ok(Site { files, examples })
}

fn read(path: &Path) -> Result<Vec<u8>, String> {
    std::fs::read(path).map_err(|error| format!("cannot read {}: {error}", path.display()))
}

/// What pages need of the repository beside its pages.
struct Data {
    /// The rows of `tests/golden/uses.tsv`: form, projects, purposes.
    uses: Vec<[String; 3]>,
    /// What was proved.
    proofs: vop_prove::Cache,
}

impl Data {
    fn read(root: &Path) -> Result<Data, String> {
        let golden = root.join("tests/golden");
        let text = String::from_utf8(read(&golden.join("uses.tsv"))?).map_err(|_| "uses.tsv is not UTF-8")?;
        let row = |line: &str| {
            let mut cells = line.split('\t').map(str::to_owned);
            Some([cells.next()?, cells.next()?, cells.next()?])
        };
        let uses = text.lines().skip(1).map(|line| row(line).ok_or_else(|| format!("uses.tsv: {line}")));
        let proofs = String::from_utf8(read(&golden.join("proofs.txt"))?).map_err(|_| "proofs.txt is not UTF-8")?;
        Ok(Data { uses: uses.collect::<Result<_, _>>()?, proofs: vop_prove::Cache::parse(&proofs)? })
    }
}

impl Page {
    /// How links of the page begin that lead to the site's folder.
    fn up(&self) -> String {
        "../".repeat(self.path.matches('/').count())
    }

    fn html(&self) -> String {
        let up = self.up();
        let title = match self.path.as_str() {
            "index.html" => self.title.clone(),
            _ => format!("{} · {NAME}", self.title),
        };
        let link = |(path, name): &(&str, &str)| {
            let current = if *path == self.section { " aria-current=\"page\"" } else { "" };
            format!("<a href=\"{up}{path}\"{current}>{name}</a>")
        };
        let links: Vec<String> = SECTIONS.iter().map(link).collect();
        let (class, aside) = match self.aside.as_str() {
            "" => ("", String::new()),
            aside => (
                " class=\"with-aside\"",
                format!("<nav class=\"aside\" aria-label=\"Pages of this part\">{aside}</nav>\n"),
            ),
        };
        format!(
            "<!DOCTYPE html>\n<html lang=\"en\" data-up=\"{up}\">\n<head>\n<meta charset=\"utf-8\">\n\
             <meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n<title>{}</title>\n\
             <meta name=\"description\" content=\"{}\">\n<meta name=\"color-scheme\" content=\"light dark\">\n\
             <link rel=\"icon\" href=\"data:image/svg+xml,{ICON}\">\n\
             <noscript><style>.tools, .filters, .only, .ask {{ display: none }}</style></noscript>\n\
             <link rel=\"stylesheet\" href=\"{up}assets/style.css\">\n<script src=\"{up}assets/site.js\"></script>\n</head>\n<body>\n\
             <a class=\"skip\" href=\"#main\">Skip to the content</a>\n<header>\n<a class=\"name\" href=\"{up}index.html\">{NAME}</a>\n\
             <nav aria-label=\"Parts of the site\">{}</nav>\n<div class=\"tools\"><input type=\"search\" id=\"search\" placeholder=\"Search, or paste an instruction ( / )\" \
             aria-label=\"Search\" autocomplete=\"off\" spellcheck=\"false\" role=\"combobox\" aria-expanded=\"false\" aria-controls=\"found\">\n\
             <div id=\"found\" role=\"listbox\" aria-label=\"Results\" hidden></div>\n\
             <button type=\"button\" id=\"theme\" aria-label=\"Switch between dark and light\">◐</button></div>\n</header>\n\
             <div id=\"page\"{class}>\n{aside}<main id=\"main\" tabindex=\"-1\">\n{}</main>\n</div>\n\
             <footer><p>Made by <code>cargo xtask site</code> from the tables and the code of vop {}. PTX and CUDA are NVIDIA's.</p></footer>\n\
             </body>\n</html>\n",
            escaped(&title),
            escaped(&self.description),
            links.join(""),
            self.body,
            env!("CARGO_PKG_VERSION"),
        )
    }
}

/// Four lanes, one of them saturated.
const ICON: &str = "%3Csvg xmlns='http://www.w3.org/2000/svg' viewBox='0 0 16 16'%3E%3Cg fill='%230a7d62'%3E%3Crect y='4' width='3' height='8'/%3E\
    %3Crect x='4.3' y='1' width='3' height='14' fill='%23c2410c'/%3E%3Crect x='8.6' y='6' width='3' height='4'/%3E\
    %3Crect x='13' y='3' width='3' height='10'/%3E%3C/g%3E%3C/svg%3E";

/// A link to the playground with an instruction and values.
fn permalink(up: &str, text: &str, inputs: Option<[u32; 3]>) -> String {
    let encode = |text: &str| {
        let mut encoded = String::new();
        for byte in text.bytes() {
            match byte {
                b'A'..=b'Z' | b'a'..=b'z' | b'0'..=b'9' | b'-' | b'_' | b'.' => encoded.push(char::from(byte)),
                byte => encoded.push_str(&format!("%{byte:02X}")),
            }
        }
        encoded
    };
    let values = inputs.map_or(String::new(), |[a, b, c]| format!("&a={a:x}&b={b:x}&c={c:x}"));
    escaped(&format!("{up}playground.html#i={}{values}", encode(text)))
}

/// The attribute of a start tag, unescaped as far as links need.
fn attributes<'h>(html: &'h str, name: &str) -> Vec<&'h str> {
    let mark = format!(" {name}=\"");
    html.split(&mark[..]).skip(1).filter_map(|rest| rest.split_once('"')).map(|(value, _)| value).collect()
}

/// The first of some names that is there twice.
fn twice<'n>(names: &[&'n str]) -> Option<&'n str> {
    let mut seen = BTreeSet::new();
    names.iter().copied().find(|name| !seen.insert(*name))
}

/// Every link to a page of the site leads to a page, and to a place that the page has.
fn check_links(pages: &[Page], pictures: &BTreeMap<String, std::path::PathBuf>) -> Result<(), String> {
    let anchors: BTreeMap<&str, BTreeSet<&str>> =
        pages.iter().map(|page| (page.path.as_str(), attributes(&page.body, "id").into_iter().collect())).collect();
    let mut broken = Vec::new();
    for page in pages {
        if let Some(twice) = twice(&attributes(&page.body, "id")) {
            broken.push(format!("{}: two places are #{twice}", page.path));
        }
        let links = [&page.body, &page.aside]
            .into_iter()
            .flat_map(|html| attributes(html, "href").into_iter().chain(attributes(html, "src")));
        for link in links.filter(|link| !link.contains("://") && !link.starts_with("data:")) {
            let (path, anchor) = link.split_once('#').unwrap_or((link, ""));
            let path = if path.is_empty() { page.path.clone() } else { resolved(&page.path, path) };
            let Some(names) = anchors.get(path.as_str()) else {
                if !pictures.contains_key(&path) && !path.starts_with("assets/") {
                    broken.push(format!("{}: {link}", page.path));
                }
                continue;
            };
            // What stands behind the playground's mark is no place.
            if !anchor.is_empty() && path != "playground.html" && !names.contains(anchor) {
                broken.push(format!("{}: {link}", page.path));
            }
        }
        for place in page.finds.iter().filter_map(|find| find.anchor.as_deref()) {
            if !anchors[page.path.as_str()].contains(place) {
                broken.push(format!("the search, in {}: #{place}", page.path));
            }
        }
    }
    if broken.is_empty() { Ok(()) } else { Err(format!("links that lead nowhere:\n{}", broken.join("\n"))) }
}

/// The path that a relative link leads to.
fn resolved(from: &str, link: &str) -> String {
    let mut folders: Vec<&str> = from.split('/').collect();
    folders.pop();
    for part in link.split('/') {
        match part {
            ".." => {
                folders.pop();
            }
            "." => {}
            part => folders.push(part),
        }
    }
    folders.join("/")
}
