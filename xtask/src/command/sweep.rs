//! `cargo xtask sass sweep`.

use std::io::{IsTerminal, Write};
use std::path::PathBuf;

use clap::builder::RangedU64ValueParser;
use vop::Semantics;
use xtask::sweep::{self, Outcome, Sweep};

use super::{Failure, Tools};

/// Compare the machine code that ptxas emits with `--semantics ptxas`, on all scalar forms or on random SIMD ones.
#[derive(clap::Args)]
#[command(after_help = "\
Examples:
  cargo xtask sass sweep
  cargo xtask sass sweep --every 49 --target sm_75 --ptxas 12.4/nvidia/cuda_nvcc/bin/ptxas
  cargo xtask sass sweep --simd 20000 --seed 5
  cargo xtask sass sweep --write-hashes tests/golden/ptxas-hashes.tsv")]
pub(crate) struct Args {
    /// The GPU that machine code is made for.
    #[arg(long, default_value = "sm_90")]
    target: String,
    /// Rows of inputs for each form.
    #[arg(long, value_name = "COUNT", default_value_t = 256, value_parser = positive())]
    inputs: u64,
    /// Chooses the inputs, and the forms where they are random.
    #[arg(long, default_value_t = 1, value_parser = positive())]
    seed: u64,
    /// Take COUNT random SIMD forms instead of the scalar ones.
    #[arg(long, value_name = "COUNT", value_parser = positive())]
    simd: Option<u64>,
    /// Take one in COUNT scalar forms, chosen at random.
    #[arg(long, value_name = "COUNT", default_value_t = 1, value_parser = positive())]
    every: u64,
    /// The semantics to compare the code with [default: that of the ptxas that is used].
    #[arg(long)]
    semantics: Option<Semantics>,
    /// Write hashes of the results of all scalar forms to a file, and compare nothing.
    #[arg(long, value_name = "FILE", conflicts_with_all = ["simd", "every", "inputs", "seed", "semantics"])]
    write_hashes: Option<PathBuf>,
    #[command(flatten)]
    tools: Tools,
}

fn positive() -> RangedU64ValueParser {
    RangedU64ValueParser::new().range(1..)
}

pub(crate) fn run(args: Args) -> Result<(), Failure> {
    let toolchain = args.tools.find()?;
    let terminal = std::io::stderr().is_terminal();
    let progress = |done: usize| {
        if terminal {
            // Nothing can be done where standard error is closed.
            let _ = write!(std::io::stderr(), "\r{done} forms");
        }
    };
    if let Some(path) = args.write_hashes {
        let text = sweep::hashes(&toolchain, &args.target, progress)?;
        return Ok(std::fs::write(path, text)?);
    }
    let semantics = match args.semantics {
        Some(semantics) => semantics,
        None => format!("ptxas-{}", toolchain.version()).parse().map_err(|_| {
            format!(
                "the semantics of ptxas {} are not known: name those to compare with by --semantics",
                toolchain.version()
            )
        })?,
    };
    let sweep = Sweep { target: args.target, semantics, inputs: args.inputs as usize, seed: args.seed };
    let Outcome { forms, agree, unlike_manual, disagreements } = match args.simd {
        Some(count) => sweep.run(&toolchain, sweep::simd_forms(args.seed, count as usize).into_iter(), progress)?,
        None => sweep.run(&toolchain, sweep::one_in(args.seed, args.every), progress)?,
    };
    let mut out = std::io::stdout().lock();
    if terminal {
        writeln!(out)?;
    }
    for line in disagreements {
        writeln!(out, "{line}")?;
    }
    writeln!(
        out,
        "{agree} of {forms} forms agree with {semantics}, on {} inputs each; {unlike_manual} disagree with the manual",
        sweep.inputs
    )?;
    if agree == forms { Ok(()) } else { Err("the code and the library disagree".into()) }
}
