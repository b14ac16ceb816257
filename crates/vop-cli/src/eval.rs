//! `vop eval`.

use std::io::Write;
use std::path::PathBuf;

use vop::{Parser, Semantics};

use crate::progress::Progress;
use crate::{Failure, Outcome, instruction, output};

/// Compute an instruction's result.
///
/// Prints d as 0x and eight hexadecimal digits. Values are decimal, hexadecimal (0x) or binary (0b), and may be negative; `_`
/// may group digits. c may be left out where the instruction does not read it.
///
/// With --batch, each row (instruction, a, b and c, separated by tabs) gives one line, in order: the result, or `error: …`.
/// Exit status 1 if there is an error.
#[derive(clap::Args)]
#[command(
    allow_negative_numbers = true,
    after_help = "\
Examples:
  vop eval vadd4.s32.s32.u32.sat 0x12f48056 0xff7f8001
  vop eval 'vadd.u32.s32.s32.sat.min d, a.h0, b.h1, c' -1 0x50000 255
  vop eval --semantics ptxas 'vadd.u32.s32.s32.sat d.b0, a, b, c' -16 5 0
  printf 'vmax.s32.s32.s32\\t-5\\t7\\t-\\n' | vop eval --batch -"
)]
pub(crate) struct Args {
    /// The instruction, with or without operands.
    #[arg(required_unless_present = "batch", conflicts_with = "batch")]
    instr: Option<String>,
    /// The values of registers a, b and, if the form reads it, c.
    #[arg(value_name = "A B [C]", conflicts_with = "batch")]
    values: Vec<String>,
    /// A file of tab-separated rows `instruction a b c` (`-` for no c), or `-` for standard input.
    #[arg(long, value_name = "FILE")]
    batch: Option<PathBuf>,
    #[command(flatten)]
    semantics: instruction::SemanticsArg,
}

pub(crate) fn run(args: Args) -> Result<Outcome, Failure> {
    let semantics = args.semantics.semantics;
    if let Some(path) = args.batch {
        return batch(output::Lines::open(&path)?, semantics);
    }
    let text = args.instr.unwrap_or_default();
    let instruction = instruction::read(&text)?;
    let values: Vec<&str> = args.values.iter().map(String::as_str).collect();
    let [a, b, c] = instruction::inputs(&instruction, &values).map_err(Failure::Misuse)?;
    let mut out = output::stdout();
    writeln!(out, "{:#010x}", instruction.form.eval_as(semantics, a, b, c))?;
    out.flush()?;
    Ok(Outcome::Fine)
}

fn batch(mut lines: output::Lines, semantics: Semantics) -> Result<Outcome, Failure> {
    let mut out = output::stdout();
    let mut outcome = Outcome::Fine;
    let parser = Parser::new().allow_bare();
    let mut progress = Progress::beside_output(lines.count, "rows");
    let (mut done, mut refused) = (0, output::Refused::default());
    while let Some(line) = lines.next()? {
        progress.at(done);
        done += 1;
        let row = line.and_then(|line| row(&parser, line, semantics).map_err(|why| with_hint(line, why)));
        let is_refused = row.is_err();
        match row {
            Ok(d) => writeln!(out, "{d:#010x}")?,
            Err(why) => {
                writeln!(out, "error: {}", output::field(&why))?;
                outcome = Outcome::Findings;
            }
        }
        refused.count(is_refused)?;
    }
    out.flush()?;
    Ok(outcome)
}

/// An error of a row, with a hint where blanks separate its columns.
fn with_hint(line: &str, why: String) -> String {
    let mut words = line.split_whitespace().rev();
    let is_value = |word: &str| word == "-" || instruction::value(word).is_ok();
    let values = words.by_ref().take_while(|word| is_value(word)).count();
    match line.contains('\t') || values == 0 {
        true => why,
        false => format!("{why}; columns are separated by tabs, and this row has none"),
    }
}

fn row(parser: &Parser<'_>, line: &str, semantics: Semantics) -> Result<u32, String> {
    let mut fields = line.split('\t');
    let text = fields.next().unwrap_or_default();
    let mut values = [""; 4];
    let mut count = 0;
    for (place, field) in values.iter_mut().zip(&mut fields) {
        *place = field.trim();
        count += 1;
    }
    if fields.next().is_some() {
        return Err("too many columns: a row is instruction, a, b and c, separated by tabs".into());
    }
    let instruction = parser.parse(text).map_err(|faults| faults[0].to_string())?;
    let [a, b, c] = instruction::inputs(&instruction, &values[..count])?;
    Ok(instruction.form.eval_as(semantics, a, b, c))
}
