//! `cargo xtask site`.

mod wasm;

use std::collections::BTreeMap;
use std::io::{self, Write as _};
use std::path::{Path, PathBuf};

use serde_json::json;
use xtask::site::{Site, site};

use self::wasm::Profile;
use super::Failure;
use super::process::{root, write};

/// Write the site: pages of all instructions, diagnostics and docs, with a playground.
///
/// The folder can be opened from a disk or be given to any server of static files. It takes the place of an older one that this command
/// wrote.
#[derive(clap::Args)]
pub(crate) struct Args {
    /// The folder that is written.
    #[arg(short, long, value_name = "FOLDER", default_value = "target/site")]
    output: PathBuf,
    /// Also write what the pages show of instructions, as JSON: request, and answer of the library. The tests in a browser read it.
    #[arg(long, value_name = "FILE")]
    examples: Option<PathBuf>,
    /// Do not build the playground's module again: take it from the older site.
    #[arg(long)]
    keep_wasm: bool,
    /// Do not optimise the playground's module. Building it takes less time; it is larger and slower. CI tests it.
    #[arg(long, conflicts_with = "keep_wasm")]
    dev: bool,
}

/// The script that holds the playground's module, in the site's folder.
const SCRIPT: &str = "assets/vop-wasm.js";

pub(crate) fn run(args: Args) -> Result<(), Failure> {
    let root = root()?;
    let output = std::env::current_dir()?.join(args.output);
    if output.exists() && !output.join(SCRIPT).is_file() {
        return Err(format!("{} exists, and is no site that this command wrote", output.display()).into());
    }
    let script = if args.keep_wasm {
        std::fs::read(output.join(SCRIPT))
            .map_err(|error| format!("there is no older site to take {SCRIPT} from: {error}"))?
    } else {
        let wasm = wasm::build(&root, if args.dev { Profile::Dev } else { Profile::Web })?;
        writeln!(io::stdout(), "the module has {} bytes, {} compressed", wasm.module.len(), wasm.compressed.len())?;
        wasm.script().into_bytes()
    };
    let Site { mut files, examples } = site(&root)?;
    files.insert(SCRIPT.into(), script);
    if let Some(path) = args.examples {
        let rows: Vec<_> = examples
            .iter()
            .map(|example| json!({ "page": example.page, "request": example.request, "answer": example.answer }))
            .collect();
        write(&path, serde_json::Value::from(rows).to_string())?;
    }
    replace(&output, &files)?;
    let bytes: usize = files.values().map(Vec::len).sum();
    let pages = files.keys().filter(|path| path.ends_with(".html")).count();
    writeln!(io::stdout(), "wrote {} ({pages} pages, {} examples, {bytes} bytes)", output.display(), examples.len())?;
    Ok(())
}

/// Writes a folder beside its place, and puts it there when it is complete.
fn replace(output: &Path, files: &BTreeMap<String, Vec<u8>>) -> Result<(), Failure> {
    let parent = output.parent().ok_or("the site needs a folder of its own")?;
    std::fs::create_dir_all(parent)?;
    let staging = tempfile::Builder::new().prefix(".site").tempdir_in(parent)?;
    let new = staging.path().join("new");
    for (path, content) in files {
        let path = new.join(path);
        std::fs::create_dir_all(path.parent().unwrap_or(&new))?;
        std::fs::write(&path, content).map_err(|error| format!("cannot write {}: {error}", path.display()))?;
    }
    let old = staging.path().join("old");
    if output.exists() {
        std::fs::rename(output, &old)?;
    }
    std::fs::rename(&new, output)?;
    Ok(())
}
