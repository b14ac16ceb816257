//! `vop lsp`: the language server, over standard input and output.

use std::path::Path;

use vop_lsp::settings::FileSettings;

use crate::{Failure, Outcome, check};

/// Serve an editor: the language server for PTX, and for PTX in sources.
///
/// It speaks the Language Server Protocol on standard input and output. It gives diagnostics, hover, completion, signature help, code
/// actions, inlay hints of costs, and in files of PTX also definitions, references, rename, symbols, folding and semantic tokens.
/// Files of PTX, CUDA C++, OpenCL, Python, Rust, LLVM IR and the other languages of `vop check` are read.
///
/// docs/editors.md of the repository has the settings for VS Code, Neovim, Helix and Emacs.
#[derive(clap::Args)]
#[command(after_help = "\
The editor sets (all may be absent):
  vop.target      GPU of costs and of lowering; default the module's .target,
                  else sm_90
  vop.semantics   isa, ptxas or a release, as --semantics of `vop check`
  vop.level       error, warning or note; default warning
  vop.allow       lints that are not shown
  vop.inlayHints  whether costs are shown; default true
  vop.portTo      languages to port to, as --to of `vop port`

vop.toml counts as for `vop check`.

Exit status: 0 the editor has said `shutdown` before `exit`, 1 it has not.")]
pub(crate) struct Args {
    /// What editors pass; standard input and output are used anyway.
    #[arg(long, hide = true)]
    stdio: bool,
}

pub(crate) fn run(args: Args) -> Result<Outcome, Failure> {
    let Args { stdio: _ } = args;
    let is_clean = vop_lsp::stdio(&configuration)?;
    Ok(if is_clean { Outcome::Fine } else { Outcome::Findings })
}

/// What `vop check` knows of a file. It is read again each time, as the user may just have changed it.
fn configuration(path: &Path) -> Result<FileSettings, String> {
    let check::Configured { targets, semantics, allow, is_excluded } = check::configured(path)?;
    Ok(FileSettings { target: targets.first().copied(), semantics, allow, excluded: is_excluded })
}
