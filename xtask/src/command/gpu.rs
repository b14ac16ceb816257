//! `cargo xtask gpu`.

use std::io::Write;
use std::path::PathBuf;

use vop::Target;

use super::Failure;

/// Write a Python script that checks and times lowered instructions on a GPU.
///
/// It needs Python 3 and NVIDIA's driver on the machine with the GPU, and nothing of this repository.
#[derive(clap::Args)]
pub(crate) struct Args {
    /// The GPU that instructions are lowered for.
    #[arg(long, default_value = "sm_90")]
    target: Target,
    /// Where it is written.
    #[arg(short, long, default_value = "target/gpu.py")]
    output: PathBuf,
}

pub(crate) fn run(args: Args) -> Result<(), Failure> {
    std::fs::write(&args.output, xtask::gpu::script(args.target))?;
    let mut out = std::io::stdout();
    Ok(writeln!(out, "wrote {}; run it with python3 where the GPU is", args.output.display())?)
}
