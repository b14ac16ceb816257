//! Pages of the repository's Markdown files.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use pulldown_cmark::{CowStr, Event, HeadingLevel, Options, Parser, Tag, TagEnd, html};
use vop_draw::html::escaped;

use super::search::Find;
use super::{Page, resolved};

const SECTION: &str = "guide/index.html";

/// The pages, and the pictures that they show: path in the site, file.
pub(crate) struct Guide {
    pub(crate) pages: Vec<Page>,
    pub(crate) pictures: BTreeMap<String, PathBuf>,
}

fn options() -> Options {
    Options::ENABLE_TABLES | Options::ENABLE_STRIKETHROUGH
}

/// Markdown without links as HTML.
pub(crate) fn markdown(text: &str) -> String {
    let mut page = String::new();
    html::push_html(&mut page, Parser::new_ext(text, options()));
    page
}

/// A sentence whose code is in backquotes as HTML.
pub(crate) fn inline(text: &str) -> String {
    let part =
        |(i, part): (usize, &str)| if i % 2 == 1 { format!("<code>{}</code>", escaped(part)) } else { escaped(part) };
    text.split('`').enumerate().map(part).collect()
}

/// Where a file of the repository is in the site, if it is a page of it.
fn place(file: &str) -> Option<String> {
    let folder = |name: &str| match name {
        "README" => "index".to_owned(),
        name => name.to_owned(),
    };
    let path = match file.strip_suffix(".md")? {
        "README" => "index.html".to_owned(),
        "ARCHITECTURE" | "CONTRIBUTING" | "CHANGELOG" => {
            format!("guide/{}.html", file.trim_end_matches(".md").to_lowercase())
        }
        "docs/diagnostics" => "diagnostics/index.html".to_owned(),
        "tests/golden/README" => "guide/golden.html".to_owned(),
        "fuzz/README" => "guide/fuzz.html".to_owned(),
        "editors/vscode/README" => "guide/vscode.html".to_owned(),
        other => match other.split('/').collect::<Vec<_>>()[..] {
            ["docs", name] => format!("guide/{}.html", folder(name)),
            ["docs", "decisions", name] => format!("guide/decisions/{}.html", folder(name)),
            ["examples", name, "README"] => format!("examples/{name}.html"),
            _ => return None,
        },
    };
    Some(path)
}

/// All Markdown files that are pages, in the order of their paths.
fn files(root: &Path) -> Result<Vec<String>, String> {
    let mut files: Vec<String> = [
        "ARCHITECTURE.md",
        "CONTRIBUTING.md",
        "CHANGELOG.md",
        "tests/golden/README.md",
        "fuzz/README.md",
        "editors/vscode/README.md",
    ]
    .map(str::to_owned)
    .to_vec();
    for folder in ["docs", "docs/decisions", "examples"] {
        let entries = std::fs::read_dir(root.join(folder)).map_err(|error| format!("cannot read {folder}: {error}"))?;
        let mut names: Vec<String> =
            entries.filter_map(|entry| Some(entry.ok()?.file_name().to_string_lossy().into_owned())).collect();
        names.sort();
        files.extend(names.into_iter().map(|name| match folder {
            "examples" => format!("examples/{name}/README.md"),
            folder => format!("{folder}/{name}"),
        }));
    }
    files.retain(|file| place(file).is_some() && file != "docs/diagnostics.md" && root.join(file).is_file());
    Ok(files)
}

/// The pages.
///
/// # Errors
/// A sentence, if a file cannot be read.
pub(crate) fn pages(root: &Path) -> Result<Guide, String> {
    let mut guide = Guide { pages: Vec::new(), pictures: BTreeMap::new() };
    let mut titles = Vec::new();
    for file in files(root)? {
        let text = String::from_utf8(super::read(&root.join(&file))?).map_err(|_| format!("{file} is not UTF-8"))?;
        let page = page(root, &file, &text, &mut guide.pictures);
        titles.push((page.path.clone(), page.title.clone()));
        guide.pages.push(page);
    }
    for page in &mut guide.pages {
        page.aside = aside(&page.path, &titles);
    }
    Ok(guide)
}

/// Links to the other pages: guides, examples and, below a heading, decisions.
fn aside(current: &str, titles: &[(String, String)]) -> String {
    let up = "../".repeat(current.matches('/').count());
    let group = |name: &str, is_in: fn(&str) -> bool| {
        let links: String = titles
            .iter()
            .filter(|(path, _)| is_in(path))
            .map(|(path, title)| {
                let here = if path == current { " aria-current=\"page\"" } else { "" };
                format!("<li><a href=\"{up}{path}\"{here}>{}</a></li>", escaped(title))
            })
            .collect();
        let open = if is_in(current) { " open" } else { "" };
        format!("<details{open}><summary>{name}</summary><ul>{links}</ul></details>\n")
    };
    group("Guide", |path| path.starts_with("guide/") && !path.starts_with("guide/decisions/"))
        + &group("Examples", |path| path.starts_with("examples/"))
        + &group("Decisions", |path| path.starts_with("guide/decisions/"))
}

/// The anchors of a page's headings, as forges make them: lower case, blanks as hyphens, without other punctuation.
fn anchor(heading: &str) -> String {
    let kept = heading.chars().filter(|c| c.is_alphanumeric() || "-_ ".contains(*c));
    kept.collect::<String>().to_lowercase().replace(' ', "-")
}

fn page(root: &Path, file: &str, text: &str, pictures: &mut BTreeMap<String, PathBuf>) -> Page {
    let path = place(file).unwrap_or_default();
    let up = "../".repeat(path.matches('/').count());
    let mut events: Vec<Event<'_>> = Parser::new_ext(text, options()).collect();
    let mut title = String::new();
    let mut finds: Vec<Find> = Vec::new();
    // Whether the links that are open lead somewhere.
    let mut links = Vec::new();
    for i in 0..events.len() {
        match &events[i] {
            Event::Start(Tag::Heading { level, .. }) => {
                let level = *level;
                let words: String = events[i + 1..]
                    .iter()
                    .take_while(|event| !matches!(event, Event::End(TagEnd::Heading(_))))
                    .filter_map(|event| match event {
                        Event::Text(text) | Event::Code(text) => Some(text.to_string()),
                        _ => None,
                    })
                    .collect();
                let anchor = anchor(&words);
                if title.is_empty() {
                    title = words.clone();
                }
                let is_first = finds.is_empty();
                finds.push(Find {
                    title: if is_first { words } else { format!("{title}: {words}") },
                    kind: "guide",
                    anchor: (!is_first).then(|| anchor.clone()),
                    text: String::new(),
                });
                if let Event::Start(Tag::Heading { id, .. }) = &mut events[i] {
                    *id = (level != HeadingLevel::H1).then(|| CowStr::from(anchor));
                }
            }
            Event::Start(Tag::Link { dest_url, .. }) => {
                let target = target(root, file, dest_url, &up);
                links.push(target.is_some());
                events[i] = match target {
                    Some(target) => Event::InlineHtml(format!("<a href=\"{}\">", escaped(&target)).into()),
                    // A file that the site does not have.
                    None => Event::InlineHtml("<span class=\"file\">".into()),
                };
            }
            Event::End(TagEnd::Link) => {
                let is_link = links.pop().unwrap_or(true);
                events[i] = Event::InlineHtml(if is_link { "</a>" } else { "</span>" }.into());
            }
            Event::Start(Tag::Image { dest_url, .. }) if !dest_url.contains("://") => {
                let from = resolved(file, dest_url);
                let picture = format!("pictures/{}", from.replace('/', "-"));
                let link = format!("{up}{picture}");
                pictures.insert(picture, root.join(from));
                if let Event::Start(Tag::Image { dest_url, .. }) = &mut events[i] {
                    *dest_url = link.into();
                }
            }
            Event::Text(text) | Event::Code(text) => {
                if let Some(find) = finds.last_mut() {
                    find.text.push_str(text);
                    find.text.push(' ');
                }
            }
            // Comments to those who write the files, and pictures that only forges draw.
            Event::Html(text) if text.trim_start().starts_with("<!--") => events[i] = Event::Html("".into()),
            _ => {}
        }
    }
    let first = first_sentence(&events);
    let mut body = String::new();
    html::push_html(&mut body, events.into_iter());
    // Wide tables and code scroll by themselves.
    let body =
        body.replace("<table>", "<div class=\"scrolls\"><table class=\"plain\">").replace("</table>", "</table></div>");
    Page {
        path,
        description: if first.is_empty() { title.clone() } else { first },
        title,
        body,
        section: SECTION,
        aside: String::new(),
        finds,
    }
}

/// The first paragraph's text.
fn first_sentence(events: &[Event<'_>]) -> String {
    let paragraph = events.iter().skip_while(|event| !matches!(event, Event::Start(Tag::Paragraph)));
    let words: String = paragraph
        .take_while(|event| !matches!(event, Event::End(TagEnd::Paragraph)))
        .filter_map(|event| match event {
            Event::Text(text) | Event::Code(text) => Some(text.as_ref()),
            Event::SoftBreak => Some(" "),
            _ => None,
        })
        .collect();
    words.split_inclusive(". ").next().unwrap_or_default().trim().to_owned()
}

/// What a link of a file is in the site; `None` if it leads to a file that the site does not have.
fn target(root: &Path, file: &str, link: &str, up: &str) -> Option<String> {
    if link.contains("://") || link.starts_with('#') {
        return Some(link.to_owned());
    }
    let (path, anchor) = link.split_once('#').unwrap_or((link, ""));
    let mut to = resolved(file, path);
    if root.join(&to).is_dir() {
        to.push_str("/README.md");
    }
    // A code has a page of its own, and a group of codes a heading in their list.
    if to == "docs/diagnostics.md" && anchor.starts_with('v') {
        return Some(match anchor.split_once("xx") {
            Some((group, _)) => format!("{up}diagnostics/index.html#{group}"),
            None => format!("{up}diagnostics/{}.html", anchor.to_uppercase()),
        });
    }
    let place = place(&to).filter(|_| root.join(&to).is_file())?;
    // The front page is not made of the README.
    let anchor = if anchor.is_empty() || place == "index.html" { String::new() } else { format!("#{anchor}") };
    Some(format!("{up}{place}{anchor}"))
}
