//! `cargo xtask golden`.

use std::io::{IsTerminal, Write};

use clap::builder::RangedU64ValueParser;
use xtask::golden::{self, File};
use xtask::sass::Toolchain;

use super::process::write;
use super::{Failure, Tools};

/// Check the files of tests/golden against NVIDIA's tools and z3, or make them again.
///
/// Each row has given cells (a form and its inputs, or a text) and cells that a tool answers: a verdict or a cost by ptxas, a cost by
/// nvcc, a value of d by the machine code in a simulator or by a transcription of the manual, a proof by z3. The command asks the
/// tools again. tests/golden/README.md says which cells are given.
///
/// With --rows it takes new rows instead of those in the file: forms, inputs and mutated texts are chosen by the seed. It prints them,
/// appends them to the file (--write), or compares the library with them (--check).
#[derive(clap::Args)]
#[command(after_help = "\
Examples:
  cargo xtask golden                                         check all files, which takes half an hour, proofs.txt most of it
  cargo xtask golden accept.tsv values.tsv --sample 500      check some rows
  cargo xtask golden ptxas-cost.tsv --write                  measure again and write what differs
  cargo xtask golden accept.tsv --rows 10000 --seed 7 --check    compare the parser with ptxas on new texts
  cargo xtask golden values.tsv --rows 50 --seed 7 --write   append new rows")]
pub(crate) struct Args {
    /// Files of tests/golden [default: all].
    #[arg(value_name = "FILE")]
    files: Vec<File>,
    /// Say which rows the tools answer otherwise, and fail if there are any; this is the default.
    #[arg(long, conflicts_with = "write")]
    check: bool,
    /// Write the answers of the tools into the files. Rows keep their order. Each file is replaced as a whole.
    #[arg(long)]
    write: bool,
    /// Ask about N rows of each file, chosen by the seed.
    #[arg(long, value_name = "N", conflicts_with = "rows", value_parser = positive())]
    sample: Option<u64>,
    /// Take N new rows, chosen by the seed.
    #[arg(long, value_name = "N", requires = "files", value_parser = positive())]
    rows: Option<u64>,
    /// Which rows are chosen: equal seeds choose equal rows.
    #[arg(long, value_name = "NUMBER", default_value_t = 1)]
    seed: u64,
    #[command(flatten)]
    tools: Tools,
}

fn positive() -> RangedU64ValueParser {
    RangedU64ValueParser::new().range(1..)
}

/// How many differences of a file are printed.
const SHOWN: usize = 20;

pub(crate) fn run(args: Args) -> Result<(), Failure> {
    let files = if args.files.is_empty() { File::ALL.to_vec() } else { args.files };
    let toolchain = if files.iter().any(|file| file.needs_ptxas()) { Some(args.tools.find()?) } else { None };
    let mut failed = Vec::new();
    for &file in &files {
        let done = match (args.rows, &toolchain) {
            (Some(count), Some(toolchain)) => {
                let what = (count as usize, args.seed);
                let to = if args.check {
                    To::Compare
                } else if args.write {
                    To::Append
                } else {
                    To::Print
                };
                draw(file, toolchain, what, to)
            }
            (Some(_), None) => Err(file.cannot_be_drawn().unwrap_or("it needs ptxas").into()),
            (None, toolchain) => {
                let sample = args.sample.map(|count| (count as usize, args.seed));
                check(file, toolchain.as_ref(), sample, args.write)
            }
        };
        match done {
            Ok(true) => {}
            Ok(false) => failed.push(file.to_string()),
            // The other files are still checked.
            Err(why) => {
                writeln!(std::io::stderr(), "error: {file}: {why}")?;
                failed.push(file.to_string());
            }
        }
    }
    match failed.len() {
        0 => Ok(()),
        _ => Err(format!("not as the tools say, or not checked: {}", failed.join(", ")).into()),
    }
}

/// Shows on a terminal the number of rows done.
fn progress(file: File) -> impl Fn(usize, usize) + Sync {
    let terminal = std::io::stderr().is_terminal();
    move |done, all| {
        if terminal {
            let end = if done == all { "\r\x1b[K" } else { "" };
            // Nothing can be done where standard error is closed.
            let _ = write!(std::io::stderr(), "\r{file}: {done} of {all} rows{end}");
        }
    }
}

/// Whether the file is as the tools say, or is now.
fn check(
    file: File,
    toolchain: Option<&Toolchain>,
    sample: Option<(usize, u64)>,
    is_written: bool,
) -> Result<bool, Failure> {
    let path = file.path();
    let text = std::fs::read_to_string(&path).map_err(|error| format!("{}: {error}", path.display()))?;
    let report = golden::check(file, &text, toolchain, sample, &progress(file))?;
    let mut out = std::io::stdout().lock();
    for difference in report.differences.iter().take(SHOWN) {
        writeln!(out, "{file}, {difference}")?;
    }
    let more = report.differences.len().saturating_sub(SHOWN);
    if more > 0 {
        writeln!(out, "{file}: {more} more")?;
    }
    let golden::Report { rows, asked, differences, text: new } = report;
    let differ = differences.len();
    if differ == 0 {
        writeln!(out, "{file}: {asked} of {rows} rows asked, all as the tools say")?;
        return Ok(true);
    }
    writeln!(out, "{file}: {asked} of {rows} rows asked, {differ} not as the tools say")?;
    if !is_written {
        return Ok(false);
    }
    if differences.iter().any(|difference| matches!(difference.answer, golden::Answer::Fault(_))) {
        return Err("nothing is written, since the tools have no answer for some rows".into());
    }
    write(&path, &new)?;
    writeln!(out, "{file}: written")?;
    Ok(true)
}

/// What becomes of new rows.
#[derive(Clone, Copy)]
enum To {
    Print,
    Append,
    Compare,
}

/// Whether the library agrees with new rows, where it is asked.
fn draw(file: File, toolchain: &Toolchain, what: (usize, u64), to: To) -> Result<bool, Failure> {
    let path = file.path();
    let text = std::fs::read_to_string(&path).map_err(|error| format!("{}: {error}", path.display()))?;
    let rows = golden::draw(file, &text, toolchain, what, &progress(file))?;
    let mut out = std::io::stdout().lock();
    match to {
        To::Print => rows.iter().try_for_each(|row| writeln!(out, "{row}"))?,
        To::Append => {
            write(&path, text + &rows.join("\n") + "\n")?;
            writeln!(out, "{file}: {} rows appended", rows.len())?;
        }
        To::Compare => {
            let mut wrong = 0;
            for row in &rows {
                if let Some(sentence) = golden::disagreement(file, &text, row)? {
                    wrong += 1;
                    if wrong <= SHOWN {
                        writeln!(out, "{file}: {sentence}")?;
                    }
                }
            }
            writeln!(out, "{file}: {} new rows, the library disagrees on {wrong}", rows.len())?;
            return Ok(wrong == 0);
        }
    }
    Ok(true)
}
