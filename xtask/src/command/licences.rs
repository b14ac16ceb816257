//! `cargo xtask licences`.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;
use std::io::{self, Write as _};
use std::path::{Path, PathBuf};

use spdx::{Expression, ParseMode};

use super::Failure;
use super::graph::{Graph, Package, Tree};
use super::process::{root, write};

/// Check licence and origin of every dependency against deny.toml.
///
/// It checks what `cargo deny check licenses sources` checks, from the same file, but builds in seconds. cargo-deny also knows
/// advisories, and is run where it is installed (docs/releasing.md).
#[derive(clap::Args)]
pub(crate) struct Args {
    /// Write the licence texts of all that the command is linked with to this file.
    #[arg(long, value_name = "FILE")]
    texts: Option<PathBuf>,
    /// The target that the texts are for.
    #[arg(long, value_name = "TARGET", default_value = "x86_64-unknown-linux-gnu")]
    target: String,
}

pub(crate) fn run(args: Args) -> Result<(), Failure> {
    let root = root()?;
    let rules = Rules::read(&root.join("deny.toml"))?;
    let mut checked = BTreeSet::new();
    let mut faults = BTreeSet::new();
    for target in &rules.targets {
        for package in Graph::read(&root, target)?.packages().filter(|package| !package.is_ours()) {
            checked.insert((package.name.clone(), package.version.clone()));
            faults.extend(rules.judge(package).map(|why| format!("{} {}: {why}", package.name, package.version)));
        }
    }
    if !faults.is_empty() {
        let faults: Vec<String> = faults.into_iter().collect();
        return Err(format!("licences:\n{}", faults.join("\n")).into());
    }
    if let Some(file) = args.texts {
        let text = texts(&root, "vop-cli", &args.target)?;
        write(&file, text)?;
    }
    writeln!(io::stdout(), "{} dependencies have licences that deny.toml allows", checked.len())?;
    Ok(())
}

/// What deny.toml says.
struct Rules {
    allowed: Vec<String>,
    /// Crates that may have a licence beside those.
    exceptions: BTreeMap<String, Vec<String>>,
    registries: Vec<String>,
    targets: Vec<String>,
}

impl Rules {
    fn read(path: &Path) -> Result<Rules, Failure> {
        let text = std::fs::read_to_string(path).map_err(|error| format!("cannot read {}: {error}", path.display()))?;
        Rules::parse(&text).map_err(|error| format!("{}: {error}", path.display()).into())
    }

    fn parse(text: &str) -> Result<Rules, String> {
        let table: toml::Table = text.parse().map_err(|error: toml::de::Error| error.to_string())?;
        let list = |section: &str, name: &str| {
            let values = table.get(section).and_then(|section| section.get(name)).and_then(toml::Value::as_array);
            let strings: Option<Vec<String>> =
                values.map(|values| values.iter().filter_map(|value| value.as_str().map(str::to_owned)).collect());
            strings
                .filter(|strings| !strings.is_empty())
                .ok_or_else(|| format!("[{section}] has no list of strings `{name}`"))
        };
        let exceptions = table.get("licenses").and_then(|licenses| licenses.get("exceptions"));
        let exceptions = exceptions.and_then(toml::Value::as_array).map_or(&[][..], |all| all);
        let exception = |value: &toml::Value| {
            let allowed = value.get("allow")?.as_array()?.iter().map(|name| name.as_str().map(str::to_owned));
            Some((value.get("crate")?.as_str()?.to_owned(), allowed.collect::<Option<Vec<_>>>()?))
        };
        let exceptions: Option<BTreeMap<_, _>> = exceptions.iter().map(exception).collect();
        Ok(Rules {
            allowed: list("licenses", "allow")?,
            exceptions: exceptions.ok_or("[licenses] has an exception that is not `{ crate = NAME, allow = LIST }`")?,
            registries: list("sources", "allow-registry")?,
            targets: list("graph", "targets")?,
        })
    }

    /// What is wrong with a dependency.
    fn judge(&self, package: &Package) -> Option<String> {
        let source = package.source.as_deref().unwrap_or_default();
        if !self.registries.iter().any(|registry| source.strip_prefix("registry+") == Some(registry)) {
            return Some(format!("it is from {source}, which `allow-registry` does not list"));
        }
        let Some(license) = &package.license else {
            return Some(
                "it names no licence; read its text, and replace the package if the text is not a usual one".to_owned(),
            );
        };
        let excepted = self.exceptions.get(&package.name).map_or(&[][..], |all| all);
        let is_allowed = |license: &str| self.allowed.iter().chain(excepted).any(|allowed| allowed == license);
        match Expression::parse_mode(license, ParseMode::LAX) {
            Err(error) => Some(format!("its licence `{license}` cannot be read: {}", error.reason)),
            Ok(expression) if expression.evaluate(|license| is_allowed(&license.to_string())) => None,
            Ok(_) => Some(format!("its licence `{license}` is not allowed; deny.toml lists those that are")),
        }
    }
}

/// The licence texts of all packages that a package of the workspace is linked with.
///
/// # Errors
///
/// If a package has no text and its licence is one whose text is not known here.
pub(crate) fn texts(root: &Path, package: &str, target: &str) -> Result<String, Failure> {
    let tree =
        Tree { package, target, all_features: true, edges: "normal,no-proc-macro", offline: false }.list(root)?;
    let graph = Graph::read(root, target)?;
    let mut by_text: BTreeMap<String, Vec<String>> = BTreeMap::new();
    let mut list = String::new();
    for package in graph.select(&tree)?.into_iter().filter(|package| !package.is_ours()) {
        let name = format!("{} {}", package.name, package.version);
        writeln!(list, "    {name:<36} {}", package.license.as_deref().unwrap_or("see its text"))?;
        for text in texts_of(root, package)? {
            by_text.entry(text).or_default().push(name.clone());
        }
    }
    if target.ends_with("musl") {
        list.push_str("    musl                                 MIT\n");
        let text = MUSL.to_owned() + &without_copyright(&std::fs::read_to_string(root.join("LICENSE-MIT"))?);
        by_text.entry(text).or_default().push("musl".to_owned());
    }
    let mut all = format!(
        "vop itself is under MIT or Apache-2.0, at your choice. It is linked with these packages and with Rust's standard library\n\
         (MIT or Apache-2.0), under these licences. Their texts follow.\n\n{list}"
    );
    for (text, mut names) in by_text {
        names.dedup();
        write!(all, "\n{}\n{}\n\n{text}", "=".repeat(100), names.join(", "))?;
    }
    Ok(all)
}

const MUSL: &str = "Copyright © 2005-2020 Rich Felker, et al.\n\n";

/// The licence texts that a package holds, those of C code in it included. Where it holds none, the text that its licence names.
fn texts_of(root: &Path, package: &Package) -> Result<Vec<String>, Failure> {
    let mut files: BTreeSet<PathBuf> = package.license_file.iter().map(|file| package.folder.join(file)).collect();
    let is_text = |name: &str| {
        let name = name.to_ascii_uppercase();
        ["LICENSE", "LICENCE", "COPYING", "COPYRIGHT", "NOTICE", "UNLICENSE"]
            .iter()
            .any(|start| name.starts_with(start))
    };
    let mut folders = vec![(package.folder.clone(), 0)];
    while let Some((folder, depth)) = folders.pop() {
        for entry in std::fs::read_dir(&folder)? {
            let entry = entry?;
            let kind = entry.file_type()?;
            if kind.is_dir() && depth < 1 {
                folders.push((entry.path(), depth + 1));
            } else if kind.is_file()
                && is_text(&entry.file_name().to_string_lossy())
                && entry.path().extension().is_none_or(|extension| extension != "rs")
            {
                files.insert(entry.path());
            }
        }
    }
    let read = |file: &PathBuf| -> Result<String, Failure> {
        let text = String::from_utf8_lossy(&std::fs::read(file)?).replace("\r\n", "\n");
        Ok(text.trim_end().to_owned() + "\n")
    };
    let texts: Vec<String> = files.iter().map(read).collect::<Result<_, _>>()?;
    if !texts.is_empty() {
        return Ok(texts);
    }
    let license = package.license.as_deref().unwrap_or_default();
    let text = if license.contains("Apache-2.0") {
        std::fs::read_to_string(root.join("LICENSE-APACHE"))?
    } else if license.contains("MIT") {
        let text = without_copyright(&std::fs::read_to_string(root.join("LICENSE-MIT"))?);
        format!(
            "Copyright (c) {}\n\n{text}",
            if package.authors.is_empty() { "the authors".to_owned() } else { package.authors.join(", ") }
        )
    } else {
        return Err(format!(
            "{} {} ({license}) holds no licence text; add it to xtask's licences.rs",
            package.name, package.version
        )
        .into());
    };
    Ok(vec![text])
}

/// The MIT licence from "Permission is hereby granted" on.
fn without_copyright(mit: &str) -> String {
    mit.find("Permission is").map_or(mit, |start| &mit[start..]).to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    const REGISTRY: &str = "registry+https://github.com/rust-lang/crates.io-index";

    fn package(license: Option<&str>, source: &str) -> Package {
        Package {
            name: "a".to_owned(),
            version: "1.0.0".to_owned(),
            license: license.map(str::to_owned),
            license_file: None,
            authors: Vec::new(),
            description: None,
            repository: None,
            folder: PathBuf::new(),
            source: Some(source.to_owned()),
            published: true,
            needs: BTreeSet::new(),
            compiled_after: BTreeSet::new(),
        }
    }

    #[test]
    fn licences_are_judged() {
        let rules = Rules::read(&root().unwrap_or_else(|error| panic!("{error}")).join("deny.toml"));
        let rules = rules.unwrap_or_else(|error| panic!("{error}"));
        for allowed in [
            "MIT",
            "MIT/Apache-2.0",
            "MIT OR GPL-3.0-only",
            "Apache-2.0 WITH LLVM-exception",
            "(MIT OR Apache-2.0) AND Unicode-3.0",
        ] {
            assert_eq!(rules.judge(&package(Some(allowed), REGISTRY)), None, "{allowed}");
        }
        for refused in
            ["GPL-3.0-only", "MIT AND GPL-3.0-only", "Apache-2.0 WITH Classpath-exception-2.0", "MPL-2.0", "what", ""]
        {
            assert!(rules.judge(&package(Some(refused), REGISTRY)).is_some(), "{refused}");
        }
        let cbindgen = |license| Package { name: "cbindgen".to_owned(), ..package(Some(license), REGISTRY) };
        assert_eq!(rules.judge(&cbindgen("MPL-2.0")), None);
        assert!(rules.judge(&cbindgen("GPL-3.0-only")).is_some());
        assert!(rules.judge(&package(None, REGISTRY)).is_some());
        assert!(rules.judge(&package(Some("MIT"), "git+https://example.com/a")).is_some());
    }

    #[test]
    fn rules_must_be_there() {
        assert!(Rules::parse("[licenses]\nallow = [\"MIT\"]").is_err_and(|error| error.contains("allow-registry")));
        assert!(
            Rules::parse("[licenses]\nallow = [\"MIT\"]\nexceptions = [{}]")
                .is_err_and(|error| error.contains("exception"))
        );
        assert!(Rules::parse("[licenses\n").is_err());
    }
}
