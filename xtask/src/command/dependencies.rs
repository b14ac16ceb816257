//! `cargo xtask dependencies`.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;
use std::io::{self, Write as _};

use super::Failure;
use super::graph::{Graph, Key, Package, Tree};
use super::process::{root, write};

/// Compare docs/dependencies.md with what default builds compile.
///
/// Each package costs everybody build time, so none joins by accident: a new one is an error until the page lists it, a direct
/// dependency with a reason.
#[derive(clap::Args)]
pub(crate) struct Args {
    /// Write the page. Reasons stay; where one is missing, the page says TODO, and the next comparison fails.
    #[arg(long)]
    write: bool,
}

/// The page.
const PAGE: &str = "docs/dependencies.md";
/// What the page says where a reason is missing.
const TODO: &str = "TODO: say why";
/// The packages whose trees are counted, and whether a table names each package of the tree.
const BUILDS: [(&str, Option<&str>); 10] = [
    ("vop", None),
    ("vop-draw", None),
    ("vop-ptx", None),
    ("vop-port", None),
    ("vop-prove", None),
    ("vop-arrays", None),
    ("vop-run", None),
    ("vop-capi", None),
    ("vop-cli", Some("The command")),
    ("vop-python", Some("The Python package")),
];

pub(crate) fn run(args: Args) -> Result<(), Failure> {
    let root = root()?;
    let target = "x86_64-unknown-linux-gnu";
    let graph = Graph::read(&root, target)?;
    let mut trees = Vec::new();
    for (package, table) in BUILDS.into_iter().filter(|(name, _)| graph.packages().any(|package| package.name == *name))
    {
        let tree = Tree { package, target, all_features: false, edges: "normal,build", offline: true }.list(&root)?;
        trees.push((package, table, tree));
    }
    let path = root.join(PAGE);
    let old = std::fs::read_to_string(&path).unwrap_or_default();
    let new = page(&graph, &trees, &reasons(&old))?;
    if args.write {
        write(&path, new)?;
    } else if let Some(fault) = fault(&old, &new) {
        return Err(format!("{PAGE}: {fault}").into());
    }
    writeln!(io::stdout(), "{PAGE} lists what default builds compile")?;
    Ok(())
}

/// The reasons on a page, by package.
fn reasons(page: &str) -> BTreeMap<String, String> {
    let rows = page.lines().filter_map(|line| line.strip_prefix("| `")?.split_once("` | "));
    let rows = rows.map(|(name, reason)| (name.to_owned(), reason.trim_end_matches(" |").to_owned()));
    rows.filter(|(_, reason)| !reason.starts_with("of `")).collect()
}

/// The page as it should be.
fn page(
    graph: &Graph,
    trees: &[(&str, Option<&str>, BTreeSet<Key>)],
    reasons: &BTreeMap<String, String>,
) -> Result<String, Failure> {
    let mut page = "\
# Dependencies

Everything that a default build compiles beside the crates of this repository, on x86-64 Linux. Each package costs those who build from
source time, so a test (`cargo test -p xtask --test cases dependencies::`) compares this page with `cargo tree` and fails when a package is not
listed. `cargo xtask dependencies --write` adds it; a direct dependency needs a reason, written by hand.
[performance.md](performance.md#build-times) says what the builds cost.

| build | packages |
| --- | --- |
"
    .to_owned();
    for (name, _, tree) in trees {
        let others = graph.select(tree)?.into_iter().filter(|package| !package.is_ours()).count();
        writeln!(page, "| {name} | {others} |")?;
    }
    for (_, title, tree) in trees {
        let Some(title) = title else { continue };
        write!(page, "\n## {title}\n\n| package | why |\n| --- | --- |\n")?;
        let packages = graph.select(tree)?;
        let mut rows: BTreeMap<&str, String> = BTreeMap::new();
        for package in packages.iter().filter(|package| !package.is_ours()) {
            rows.insert(&package.name, why(package, &packages, reasons));
        }
        for (name, why) in rows {
            writeln!(page, "| `{name}` | {why} |")?;
        }
    }
    Ok(page)
}

/// Why a package is in a tree: the reason by hand for a direct dependency, otherwise the packages that need it.
fn why(package: &Package, tree: &[&Package], reasons: &BTreeMap<String, String>) -> String {
    let needs_it = |other: &&&Package| other.compiled_after.iter().any(|(name, _)| *name == package.name);
    let (ours, others): (Vec<&Package>, Vec<&Package>) =
        tree.iter().filter(needs_it).copied().partition(|other| other.is_ours());
    if !ours.is_empty() || others.is_empty() {
        return reasons.get(&package.name).cloned().unwrap_or_else(|| TODO.to_owned());
    }
    let names: BTreeSet<String> = others.iter().map(|other| format!("`{}`", other.name)).collect();
    format!("of {}", names.into_iter().collect::<Vec<_>>().join(", "))
}

/// What is wrong with the page, if anything is.
fn fault(old: &str, new: &str) -> Option<String> {
    let lines = |page: &str| page.lines().map(str::to_owned).collect::<BTreeSet<String>>();
    let (have, want) = (lines(old), lines(new));
    if let Some(line) = new.lines().find(|line| line.contains(TODO)) {
        return Some(format!("a direct dependency has no reason; write it in place of TODO:\n{line}"));
    }
    let list =
        |sign: &str, lines: Vec<&String>| lines.iter().map(|line| format!("\n{sign} {line}")).collect::<String>();
    let difference = list("-", have.difference(&want).collect()) + &list("+", want.difference(&have).collect());
    let current = old.replace("\r\n", "\n") == new;
    (!current).then(|| format!("it is not current; after `cargo xtask dependencies --write` it has{difference}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_new_package_is_a_fault() {
        let old = "| `a` | reads |\n";
        assert_eq!(fault(old, old), None);
        assert!(
            fault(old, "| `a` | reads |\n| `b` | of `a` |\n").is_some_and(|fault| fault.contains("+ | `b` | of `a` |"))
        );
        assert!(fault(old, &format!("| `a` | {TODO} |\n")).is_some_and(|fault| fault.contains("no reason")));
        assert!(fault(old, "").is_some_and(|fault| fault.contains("- | `a` | reads |")));
    }

    #[test]
    fn reasons_are_kept_and_what_follows_from_the_tree_is_not() {
        let reasons = reasons("| package | why |\n| `a` | reads |\n| `b` | of `a`, `c` |\n");
        assert_eq!(reasons.into_iter().collect::<Vec<_>>(), [("a".to_owned(), "reads".to_owned())]);
    }
}
