//! The picture of crates at the top of `ARCHITECTURE.md`, from their `Cargo.toml` files.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write;
use std::path::{Path, PathBuf};

/// Each crate in `crates/`, and those of them that it depends on.
type Crates = BTreeMap<String, BTreeSet<String>>;

/// The page.
pub fn path() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../ARCHITECTURE.md")
}

/// `ARCHITECTURE.md` with the picture of the crates as they are now.
///
/// # Errors
/// A file cannot be read, or is not as expected; a sentence says which.
pub fn architecture() -> Result<String, String> {
    let text = std::fs::read_to_string(path()).map_err(|error| format!("ARCHITECTURE.md: {error}"))?;
    crate::section::replaced(&text, "crates", &picture(&read()?)).map_err(|why| format!("ARCHITECTURE.md: {why}"))
}

fn read() -> Result<Crates, String> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../crates");
    let mut crates = Crates::new();
    for entry in std::fs::read_dir(&folder).map_err(|error| format!("crates/: {error}"))? {
        let manifest = entry.map_err(|error| format!("crates/: {error}"))?.path().join("Cargo.toml");
        let Ok(text) = std::fs::read_to_string(&manifest) else { continue };
        let wrong = |why: &str| format!("{}: {why}", manifest.display());
        let table: toml::Table = text.parse().map_err(|error: toml::de::Error| wrong(error.message()))?;
        let package = table.get("package").and_then(|package| package.get("name")).and_then(toml::Value::as_str);
        let dependencies = table.get("dependencies").and_then(toml::Value::as_table);
        let names = dependencies.into_iter().flat_map(|table| table.keys().cloned()).collect();
        crates.insert(package.ok_or_else(|| wrong("no name"))?.to_owned(), names);
    }
    let known: BTreeSet<String> = crates.keys().cloned().collect();
    crates.values_mut().for_each(|names| names.retain(|name| known.contains(name)));
    Ok(crates)
}

/// Whether one crate depends on another over at least one crate between them.
fn indirectly(crates: &Crates, from: &str, to: &str) -> bool {
    let mut reached: BTreeSet<&str> = BTreeSet::new();
    let mut open: Vec<&str> = crates[from].iter().filter(|name| *name != to).map(String::as_str).collect();
    while let Some(name) = open.pop() {
        if reached.insert(name) {
            open.extend(crates[name].iter().map(String::as_str));
        }
    }
    reached.contains(to)
}

/// A diagram in Mermaid's language, which forges draw. A dependency that follows from others is left out.
fn picture(crates: &Crates) -> String {
    let mut text = String::from("```mermaid\ngraph TD\n");
    for (name, dependencies) in crates {
        for dependency in dependencies.iter().filter(|dependency| !indirectly(crates, name, dependency)) {
            let _ = writeln!(text, "    {name} --> {dependency}");
        }
    }
    text.push_str("```\n");
    text
}
