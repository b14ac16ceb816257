//! `vop completions`.

use std::io::Write;

use clap::CommandFactory;

use crate::{Cli, Failure, Outcome, output};

/// Print a completion script for a shell.
///
/// For bash: `vop completions bash > ~/.local/share/bash-completion/completions/vop`.
#[derive(clap::Args)]
pub(crate) struct Args {
    /// The shell.
    shell: clap_complete::Shell,
}

pub(crate) fn run(args: Args) -> Result<Outcome, Failure> {
    let mut out = output::stdout();
    clap_complete::generate(args.shell, &mut Cli::command(), "vop", &mut out);
    out.flush()?;
    Ok(Outcome::Fine)
}
