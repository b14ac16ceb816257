//! `cargo xtask fold`.

use std::fmt::Write as _;
use std::io::Write;
use std::path::{Path, PathBuf};

use xtask::fold::{self, Row};

use super::{Failure, Tools};

/// Ask ptxas what single instructions of `vop run` compute on constants.
///
/// The instructions are those of the tests of vop-run. Without --random, ptxas's results are compared with those of the tests.
#[derive(clap::Args)]
#[command(after_help = "\
Examples:
  cargo xtask fold
  cargo xtask fold --random 200 --seed 7 --target sm_75 --write rows.tsv
  VOP_ROWS=$PWD/rows.tsv cargo test -p vop-run --test pure rows")]
pub(crate) struct Args {
    /// The GPU that machine code is made for.
    #[arg(long, default_value = "sm_90")]
    target: String,
    /// Take COUNT random inputs of each instruction, and write the rows to a file.
    #[arg(long, value_name = "COUNT", requires = "write")]
    random: Option<usize>,
    /// Chooses the inputs.
    #[arg(long, default_value_t = 1)]
    seed: u64,
    /// Where random rows go, without those whose result is a NaN.
    #[arg(long, value_name = "FILE", requires = "random")]
    write: Option<PathBuf>,
    #[command(flatten)]
    tools: Tools,
}

pub(crate) fn run(args: Args) -> Result<(), Failure> {
    let toolchain = args.tools.find()?;
    let given = Row::of_folder(Path::new("crates/vop-run/tests/data/run"))?;
    let rows = args.random.map_or_else(|| given.clone(), |count| fold::random(&given, count, args.seed));
    let results = fold::fold(&toolchain, &rows, &args.target)?;
    let known: Vec<(&Row, u64)> = rows.iter().zip(results).filter_map(|(row, result)| Some((row, result?))).collect();
    let by = format!("ptxas {} for {}", toolchain.version(), args.target);
    let mut out = std::io::stdout().lock();
    if let Some(path) = args.write {
        let mut text = String::new();
        for (row, result) in known.iter().filter(|(row, result)| !row.is_nan(*result)) {
            writeln!(text, "{row}\t{result:x}")?;
        }
        std::fs::write(&path, text)?;
        writeln!(out, "{} of {} rows are known to {by}", known.len(), rows.len())?;
        return Ok(());
    }
    let agrees = |row: &Row, result| result == row.result || row.is_nan(result) && row.is_nan(row.result);
    let others: Vec<&(&Row, u64)> = known.iter().filter(|(row, result)| !agrees(row, *result)).collect();
    for (row, result) in &others {
        writeln!(out, "{row}: {:x}, and {result:x} by ptxas", row.result)?;
    }
    let (known, others) = (known.len(), others.len());
    writeln!(out, "{} of {} rows are known to {by}; {} agree", known, rows.len(), known - others)?;
    if others == 0 { Ok(()) } else { Err("ptxas disagrees with the tests of vop-run".into()) }
}
