//! `cargo xtask api`.

use std::collections::BTreeSet;
use std::fmt::Write as _;
use std::io::{self, Write as _};
use std::path::{Path, PathBuf};
use std::process::Command;

use super::Failure;
use super::graph::Graph;
use super::process::{cargo, root, succeed, write};

/// Compare the public API of each published library with xtask/api/NAME.txt.
///
/// The documentation is made on the way, as JSON, so that it is checked as `cargo doc` checks it. A change of the API is an error
/// until the text changes with it; a line that goes or changes breaks users, and needs a new version (docs/releasing.md).
#[derive(clap::Args)]
pub(crate) struct Args {
    /// Write the texts.
    #[arg(long)]
    write: bool,
    /// Fail where this Rust toolchain writes the documentation in a format that is not known here, instead of skipping the
    /// comparison.
    #[arg(long)]
    require: bool,
}

pub(crate) fn run(args: Args) -> Result<(), Failure> {
    let root = root()?;
    let graph = Graph::read(&root, "x86_64-unknown-linux-gnu")?;
    let libraries = graph.published().into_iter().filter(|package| package.folder.join("src/lib.rs").exists());
    document(&root)?;
    let mut faults = String::new();
    for package in libraries {
        let json = root.join("target/doc").join(package.name.replace('-', "_") + ".json");
        let new = match public_api::Builder::from_rustdoc_json(&json)
            .omit_blanket_impls(true)
            .omit_auto_trait_impls(true)
            .omit_auto_derived_impls(true)
            .build()
        {
            Ok(api) => api.to_string(),
            Err(why) if args.require || is_readable(&json) => return Err(format!("{}: {why}", json.display()).into()),
            Err(why) => {
                writeln!(
                    io::stderr(),
                    "skipped: the public API is not compared, since this toolchain's documentation cannot be read: {why}"
                )?;
                return Ok(());
            }
        };
        let text = root.join("xtask/api").join(format!("{}.txt", package.name));
        if args.write {
            write(&text, new)?;
            continue;
        }
        let old = std::fs::read_to_string(&text).unwrap_or_default();
        let difference = difference(&old.replace("\r\n", "\n"), &new);
        if !difference.is_empty() {
            write!(faults, "\n{}:{difference}", package.name)?;
        }
    }
    if !faults.is_empty() {
        return Err(
            format!("the public API is not that of xtask/api (`cargo xtask api --write` writes it):{faults}").into()
        );
    }
    writeln!(io::stdout(), "the public API is that of xtask/api")?;
    Ok(())
}

/// Lines that went, with `-`, and lines that came, with `+`.
fn difference(old: &str, new: &str) -> String {
    let (have, want): (BTreeSet<&str>, BTreeSet<&str>) = (old.lines().collect(), new.lines().collect());
    let gone = old.lines().filter(|line| !want.contains(line)).map(|line| format!("\n- {line}"));
    let come = new.lines().filter(|line| !have.contains(line)).map(|line| format!("\n+ {line}"));
    gone.chain(come).collect()
}

/// Has rustdoc write JSON of the workspace's libraries to target/doc.
fn document(root: &Path) -> Result<(), Failure> {
    let flags = std::env::var("RUSTDOCFLAGS").unwrap_or_default();
    let mut command = Command::new(cargo());
    command.args(["doc", "--workspace", "--no-deps", "--locked", "--all-features"]).current_dir(root);
    command.env("RUSTDOCFLAGS", format!("{flags} -Z unstable-options --output-format json"));
    // Stable Rust writes JSON where it is told to be a nightly one. Cargo itself is not told, since build scripts would hear it
    // and all that is built would be built again.
    command.env("RUSTDOC", wrapper(root)?);
    // Lints are no part of it, and a wrapper that adds them reads each crate once more.
    command.env_remove("RUSTC_WORKSPACE_WRAPPER");
    succeed(&mut command)
}

/// A script that starts rustdoc as a nightly one.
fn wrapper(root: &Path) -> Result<PathBuf, Failure> {
    let path = root.join("target/rustdoc-json");
    let rustdoc = std::env::var("RUSTDOC").unwrap_or_else(|_| "rustdoc".to_owned());
    write(&path, format!("#!/bin/sh\nRUSTC_BOOTSTRAP=1 exec {rustdoc} \"$@\"\n"))?;
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt;
        std::fs::set_permissions(&path, std::fs::Permissions::from_mode(0o755))?;
    }
    Ok(path)
}

/// Whether a file is JSON of the format that is known here.
fn is_readable(json: &Path) -> bool {
    let version = |text: String| serde_json::from_str::<serde_json::Value>(&text).ok()?["format_version"].as_u64();
    std::fs::read_to_string(json).ok().and_then(version) == Some(FORMAT)
}

/// The version of rustdoc's JSON that public-api reads.
const FORMAT: u64 = 57;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn changes_are_told() {
        assert_eq!(difference("pub fn a()\n", "pub fn a()\n"), "");
        assert_eq!(
            difference("pub fn a()\n", "pub fn a(u8)\npub fn b()\n"),
            "\n- pub fn a()\n+ pub fn a(u8)\n+ pub fn b()"
        );
    }
}
