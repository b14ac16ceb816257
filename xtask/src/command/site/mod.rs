//! `cargo xtask site`.

mod wasm;

use std::io::{self, Write as _};
use std::path::PathBuf;

use super::Failure;
use super::process::{root, write};

/// Build the playground's module of WebAssembly, and the script that holds it.
#[derive(clap::Args)]
pub(crate) struct Args {
    /// The folder that the script is written to.
    #[arg(short, long, value_name = "FOLDER", default_value = "target/site")]
    output: PathBuf,
}

pub(crate) fn run(args: Args) -> Result<(), Failure> {
    let root = root()?;
    let wasm = wasm::build(&root)?;
    let folder = root.join(args.output);
    std::fs::create_dir_all(&folder)?;
    write(&folder.join("vop-wasm.js"), wasm.script())?;
    writeln!(io::stdout(), "the module has {} bytes, {} compressed", wasm.module.len(), wasm.compressed.len())?;
    Ok(())
}
