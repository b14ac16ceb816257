//! The pages that people read: their links lead somewhere, and the indexes name every page.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("..")
}

/// The names in a folder of the repository, in order.
fn names(folder: &str) -> Vec<String> {
    let entries = std::fs::read_dir(root().join(folder)).unwrap_or_else(|error| panic!("{folder}: {error}"));
    let mut names: Vec<String> =
        entries.map(|entry| entry.expect("a name").file_name().to_string_lossy().into_owned()).collect();
    names.sort();
    names
}

/// All Markdown files that are written for people, relative to the repository.
fn pages() -> Vec<String> {
    let mut pages: Vec<String> = names(".").into_iter().filter(|name| name.ends_with(".md")).collect();
    for folder in ["docs", "docs/decisions", "fuzz", "tests/golden"] {
        pages.extend(
            names(folder).into_iter().filter(|name| name.ends_with(".md")).map(|name| format!("{folder}/{name}")),
        );
    }
    for parent in ["crates", "examples"] {
        let readmes = names(parent).into_iter().map(|name| format!("{parent}/{name}/README.md"));
        pages.extend(readmes.filter(|page| root().join(page).exists()));
    }
    pages
}

fn read(page: &str) -> String {
    std::fs::read_to_string(root().join(page)).unwrap_or_else(|error| panic!("{page}: {error}"))
}

/// The text without fenced blocks of code.
fn prose(text: &str) -> String {
    let mut fenced = false;
    let lines = text.lines().filter(|line| {
        let fence = line.trim_start().starts_with("```");
        fenced ^= fence;
        !fenced && !fence
    });
    lines.collect::<Vec<_>>().join("\n")
}

/// The anchors of a page's headings, as forges make them: lower case, blanks as hyphens, without other punctuation.
fn anchors(page: &str) -> BTreeSet<String> {
    let text = prose(&read(page));
    let headings = text.lines().filter(|line| line.starts_with('#')).map(|line| line.trim_start_matches('#').trim());
    let anchor = |heading: &str| {
        let kept = heading.chars().filter(|c| c.is_alphanumeric() || "-_ ".contains(*c));
        kept.collect::<String>().to_lowercase().replace(' ', "-")
    };
    headings.map(anchor).collect()
}

/// The targets of a page's links and pictures.
fn links(page: &str) -> Vec<String> {
    let text = prose(&read(page));
    let targets = text.split("](").skip(1).filter_map(|rest| rest.split_once(')')).map(|(target, _)| target.to_owned());
    targets.collect()
}

#[test]
fn links_lead_somewhere() {
    let mut count = 0;
    let mut broken = Vec::new();
    for page in pages() {
        let folder = Path::new(&page).parent().unwrap_or(Path::new("")).to_owned();
        for link in links(&page).into_iter().filter(|link| !link.contains("://")) {
            count += 1;
            let (path, anchor) = link.split_once('#').unwrap_or((&link, ""));
            let target = if path.is_empty() { PathBuf::from(&page) } else { folder.join(path) };
            let exists = root().join(&target).exists();
            let is_page = target.extension().is_some_and(|extension| extension == "md");
            if !exists || (!anchor.is_empty() && is_page && !anchors(&target.to_string_lossy()).contains(anchor)) {
                broken.push(format!("{page}: {link}"));
            }
        }
    }
    assert!(broken.is_empty(), "links that lead nowhere:\n{}", broken.join("\n"));
    assert!(count > 100, "only {count} links were found: is the test right?");
}

#[test]
fn indexes_name_every_page() {
    for folder in ["docs", "docs/decisions"] {
        let linked: BTreeSet<String> = links(&format!("{folder}/README.md"))
            .into_iter()
            .map(|link| link.split('#').next().unwrap_or_default().to_owned())
            .collect();
        for name in names(folder).into_iter().filter(|name| name.ends_with(".md") && name != "README.md") {
            assert!(linked.contains(&name), "{folder}/README.md does not link to {name}");
        }
    }
}

/// A reader sees the whole README at once, more or less.
#[test]
fn the_readme_is_one_page() {
    let lines = read("README.md").lines().count();
    assert!(lines <= 160, "README.md has {lines} lines: move something to docs/");
}

/// The README's first command is `cargo run`, and the package has two targets that could be meant.
#[test]
fn cargo_run_is_the_command() {
    let default = read("crates/vop-cli/Cargo.toml").lines().any(|line| line == "default-run = \"vop\"");
    assert!(default, "crates/vop-cli/Cargo.toml does not say which target `cargo run` runs");
}

#[test]
fn the_picture_of_crates_is_up_to_date() {
    let text = std::fs::read_to_string(xtask::crates::path()).expect("ARCHITECTURE.md can be read");
    let expected = xtask::crates::architecture().unwrap_or_else(|why| panic!("{why}"));
    assert!(text == expected, "the picture in ARCHITECTURE.md is out of date: run `cargo xtask docs`");
}
