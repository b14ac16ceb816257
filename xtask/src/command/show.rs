//! `cargo xtask sass show`.

use std::io::Write;

use super::{Compilation, Failure};

/// Print the machine code that ptxas makes of a form: loads of a, b and c, the form, the store of d.
#[derive(clap::Args)]
#[command(after_help = "\
Example:
  cargo xtask sass show vabsdiff4.u32.u32.u32.add --target sm_120")]
pub(crate) struct Args {
    #[command(flatten)]
    compilation: Compilation,
}

pub(crate) fn run(args: Args) -> Result<(), Failure> {
    let compiled = args.compilation.compile()?;
    write!(std::io::stdout().lock(), "{}", compiled.code)?;
    Ok(())
}
