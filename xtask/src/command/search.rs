//! `cargo xtask search`.

use std::io::Write;
use std::time::{Duration, Instant};

use vop::{Semantics, Target};
use vop_prove::{Solver, Verdict};
use xtask::search::{GROUPS, Search};

use super::{Failure, full_text};

/// Search for the shortest sequence of machine instructions that computes a form.
///
/// Tries lengths in ascending order up to the one that is given, and ends where something is found; what is found is asked of
/// z3. Where nothing is found, and nothing rejected, there is nothing, with these instructions and constants and at most one
/// constant an instruction (and two exceptions, that the documentation of the module names).
#[derive(clap::Args)]
#[command(after_help = "\
Examples:
  cargo xtask search vadd4.u32.u32.u32 --length 3
  cargo xtask search vset4.u32.u32.lt --length 4 --use logic,sum,shift,bound --constants 80808080,01010101

Instructions to --use: logic (lop3), sum (add, sub, sums of three), shift (by constants, also with a sum), bound (min and max of
words), spread and bytes (some prmt), packed (what the target has), absdiff (vabsdiff4).")]
pub(crate) struct Args {
    /// The form.
    form: String,
    /// The GPU: which packed instructions there are, and what found sequences cost.
    #[arg(long, default_value = "sm_75")]
    target: Target,
    /// How many machine instructions at most.
    #[arg(long, value_name = "N", default_value_t = 3)]
    length: usize,
    /// Groups of instructions.
    #[arg(long = "use", value_name = "GROUPS", value_delimiter = ',', default_value = "logic,sum,shift")]
    groups: Vec<String>,
    /// Constants in hexadecimal, beside 0 and all ones [default: the highest and the lowest bit of each lane, and all others].
    #[arg(long, value_name = "WORDS", value_delimiter = ',', value_parser = word)]
    constants: Vec<u32>,
}

fn word(text: &str) -> Result<u32, std::num::ParseIntError> {
    u32::from_str_radix(text.trim_start_matches("0x"), 16)
}

pub(crate) fn run(args: Args) -> Result<(), Failure> {
    let text = full_text(&args.form);
    let instruction = vop::parse(&text).map_err(|_| format!("`{text}` is no video instruction that ptxas takes"))?;
    let form = instruction.form;
    if let Some(unknown) = args.groups.iter().find(|group| GROUPS.iter().all(|(name, _)| name != group)) {
        return Err(format!("`{unknown}` is no group of instructions").into());
    }
    let mut constants = args.constants;
    if constants.is_empty() {
        let bits = form.mnemonic().shape().bits();
        let splat = |lane: u32| (0..32).step_by(bits as usize).fold(0, |word, shift| word | lane << shift);
        let [highest, lowest] = [splat(1 << (bits - 1)), splat(1)];
        constants = vec![highest, lowest, !highest, !lowest];
    }
    let search = Search { form, target: args.target, groups: args.groups, constants, care: u32::MAX };
    let mut out = std::io::stdout();
    for length in 0..=args.length {
        let start = Instant::now();
        let found = search.run(length);
        let seconds = start.elapsed().as_secs_f32();
        let (count, states, rejected) = (found.sequences.len(), found.states, found.rejected);
        writeln!(out, "{length} instructions: {count} found, {rejected} rejected, {states} states, {seconds:.1} s")?;
        for sequence in &found.sequences {
            let mut count = 0;
            let lines = sequence.ptx(["d", "a", "b", "c"], |_| {
                count += 1;
                format!("t{count}")
            });
            writeln!(out, "  {}; // {}, {}", lines.join("; "), sequence.cost(args.target), verdict(form, sequence))?;
        }
        if !found.sequences.is_empty() {
            break;
        }
    }
    Ok(())
}

/// What z3 says of a sequence, in a word or two.
fn verdict(form: vop::Form, sequence: &vop::lower::Sequence) -> String {
    let by = Semantics::Isa.deviations().concerning(form);
    let Ok(query) = sequence.query(form, by) else { return "no query can be made of it".into() };
    match Solver::start(Duration::from_secs(30)).and_then(|mut solver| solver.prove(&query)) {
        Ok(Verdict::Proved) => "proved".into(),
        Ok(Verdict::Refuted(counterexample)) => format!("refuted: {counterexample}"),
        Ok(Verdict::Unknown(why)) => format!("not decided: {why}"),
        Err(why) => format!("not asked: {why}"),
    }
}
