//! The subcommands, and what they share.

pub(crate) mod api;
pub(crate) mod build_times;
pub(crate) mod conformance;
mod cost;
mod cost_table;
pub(crate) mod dependencies;
pub(crate) mod dist;
pub(crate) mod divergence;
pub(crate) mod docs;
pub(crate) mod fold;
pub(crate) mod golden;
pub(crate) mod gpu;
mod graph;
pub(crate) mod library;
pub(crate) mod licences;
mod lowering;
pub(crate) mod packages;
pub(crate) mod port_cost;
pub(crate) mod port_prove;
pub(crate) mod port_test;
mod port_time;
mod process;
pub(crate) mod programs;
mod run;
mod sbom;
pub(crate) mod search;
mod show;
pub(crate) mod site;
pub(crate) mod suites;
mod sweep;
pub(crate) mod test;

use std::io::{self, Write};
use std::path::PathBuf;
use std::process::ExitCode;

use clap::Subcommand;
use xtask::sass::{Code, Toolchain, ToolchainError, Unsupported};

/// `cargo xtask sass`.
#[derive(Subcommand)]
pub(crate) enum Sass {
    Run(run::Args),
    Show(show::Args),
    Cost(cost::Args),
    Sweep(sweep::Args),
    CostTable(cost_table::Args),
    Lowering(lowering::Args),
}

impl Sass {
    pub(crate) fn run(self) -> Result<(), Failure> {
        match self {
            Sass::Run(args) => run::run(args),
            Sass::Show(args) => show::run(args),
            Sass::Cost(args) => cost::run(args),
            Sass::Sweep(args) => sweep::run(args),
            Sass::CostTable(args) => cost_table::run(args),
            Sass::Lowering(args) => lowering::run(args),
        }
    }
}

/// Which tools are asked.
#[derive(clap::Args)]
pub(crate) struct Tools {
    /// Another ptxas than that of CUDA_BIN or the PATH.
    #[arg(long, value_name = "PATH")]
    ptxas: Option<PathBuf>,
}

impl Tools {
    fn find(self) -> Result<Toolchain, ToolchainError> {
        self.ptxas.map_or_else(Toolchain::find, Toolchain::with_ptxas)
    }
}

/// The one FORM of a command and how it is compiled.
#[derive(clap::Args)]
pub(crate) struct Compilation {
    /// The instruction or block.
    form: String,
    /// The GPU that machine code is made for.
    #[arg(long, default_value = "sm_90")]
    target: String,
    #[command(flatten)]
    tools: Tools,
}

/// A compiled FORM.
struct Compiled {
    text: String,
    code: Code,
    /// Who made it: `ptxas 13.5 for sm_90`.
    by: String,
    /// The version of that ptxas: `13.5`.
    version: String,
}

impl Compilation {
    fn compile(self) -> Result<Compiled, Failure> {
        let toolchain = self.tools.find()?;
        let text = full_text(&self.form);
        let mut codes = toolchain.compile(&[&text], &self.target)?;
        let code = codes.pop().ok_or("a text has no machine code")?;
        let version = toolchain.version().to_owned();
        Ok(Compiled { text, code, by: format!("ptxas {version} for {}", self.target), version })
    }
}

/// The text that ptxas gets: where a form is written without operands, they are put in. Whether it is legal, ptxas judges.
fn full_text(form: &str) -> String {
    match (vop::parse(form), vop::Parser::new().allow_bare().parse(form)) {
        (Err(_), Ok(bare)) => bare.form.to_string(),
        _ => form.trim().to_owned(),
    }
}

/// Why a command could not do its work.
pub(crate) struct Failure(Box<dyn std::error::Error>);

impl std::fmt::Display for Failure {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        self.0.fmt(f)
    }
}

impl Failure {
    /// Prints the reason, except where the output was closed by its reader. Returns the exit status.
    pub(crate) fn report(self) -> ExitCode {
        let closed = |error: &io::Error| error.kind() == io::ErrorKind::BrokenPipe;
        if self.0.downcast_ref().is_some_and(closed) {
            return ExitCode::SUCCESS;
        }
        // Nothing can be done where standard error is closed.
        let _ = writeln!(io::stderr(), "error: {self}");
        ExitCode::FAILURE
    }
}

macro_rules! failure {
    ($($error:ty),*) => { $(
        impl From<$error> for Failure {
            fn from(error: $error) -> Failure {
                Failure(error.into())
            }
        }
    )* };
}
failure!(ToolchainError, Unsupported, io::Error, std::fmt::Error, String, &str);
