//! `cargo xtask docs`.

use std::path::Path;

use super::Failure;

/// Write the parts of docs/ that follow from the code, and the picture of crates in ARCHITECTURE.md.
#[derive(clap::Args)]
pub(crate) struct Args {}

pub(crate) fn run(Args {}: Args) -> Result<(), Failure> {
    let docs = Path::new(env!("CARGO_MANIFEST_DIR")).join("../docs");
    for (name, text) in xtask::docs::all() {
        std::fs::write(docs.join(name), text)?;
    }
    std::fs::write(xtask::crates::path(), xtask::crates::architecture()?)?;
    Ok(())
}
