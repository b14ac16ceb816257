//! `cargo xtask port-prove`.

use std::collections::BTreeSet;
use std::io::Write;
use std::path::PathBuf;
use std::time::Duration;

use vop::intrinsic::Meaning;
use vop::isa::form::Finish;
use vop::isa::types::Operation;
use vop::lower::{Op, Query, Value};
use vop::{Form, Intrinsic, Mnemonic, Semantics};
use vop_port::{Base, Request, Source};
use vop_prove::{Cache, Hash, Solver, Verdict};
use vop_tests::golden;

use super::Failure;
use super::process::root;

/// Prove with z3 that what `vop port` writes computes the form.
///
/// Proved are what the rules of vop-port write, for all selectors at once; the plain operations of each base instruction that rules use;
/// the plain operations of forms as they are written, with all shifts below the width; and those of base instructions and of intrinsics of
/// CUDA that are ported for themselves, with and without long words. The forms are those with default selectors, in
/// all semantics, and those of golden rows. A form that accumulates, and vmad, may be too much for the solver as a whole: for these
/// the first two are enough, beside the proofs of `vop prove --all`. What was proved before is not asked again:
/// tests/golden/port-proofs.txt holds the hashes.
#[derive(clap::Args)]
pub(crate) struct Args {
    /// These forms, base instructions or intrinsics alone.
    forms: Vec<String>,
    /// Take each N-th form with default selectors.
    #[arg(long, default_value_t = 1)]
    every: usize,
    /// Take each N-th golden form, or none for 0.
    #[arg(long, default_value_t = 10)]
    golden: usize,
    /// The seconds that the solver may spend on a query.
    #[arg(long, default_value_t = 20)]
    timeout: u64,
    /// Prove again what was proved before.
    #[arg(long)]
    again: bool,
}

pub(crate) fn run(args: Args) -> Result<(), Failure> {
    let path: PathBuf = root()?.join("tests/golden/port-proofs.txt");
    let mut cache = if path.exists() { Cache::load(&path)? } else { Cache::default() };
    let mut solver = Solver::start(Duration::from_secs(args.timeout))?;
    let (mut seen, mut bases) = (BTreeSet::new(), BTreeSet::new());
    let (mut asked, mut known, mut open) = (0, 0, Vec::new());
    let mut out = std::io::stdout();
    let mut prove = |what: String, query: Query, may_stay_open: bool| -> Result<(), Failure> {
        let hash = Hash::of(&query);
        if !seen.insert(hash) || cache.has(hash) && !args.again {
            known += 1;
            return Ok(());
        }
        asked += 1;
        match solver.prove(&query)? {
            Verdict::Proved => cache.insert(hash),
            Verdict::Refuted(example) => return Err(format!("{what}: {}: {example}", query.claim).into()),
            Verdict::Unknown(why) => {
                writeln!(out, "open ({why}): {what}: {}", query.claim)?;
                open.push((what, may_stay_open));
            }
        }
        if asked % 200 == 0 {
            writeln!(out, "{asked} queries")?;
            cache.save(&path)?;
        }
        Ok(())
    };
    let mut sources = Vec::new();
    for text in &args.forms {
        let request = Request::read(text, Semantics::Isa).map_err(|error| error.to_string())?;
        sources.push(request.source);
    }
    let forms: Vec<Form> = match args.forms.is_empty() {
        false => sources
            .iter()
            .filter_map(|source| if let Source::Form(form, _) = source { Some(*form) } else { None })
            .collect(),
        true => {
            sources.extend(Base::samples().into_iter().map(Source::Base));
            sources.extend(Intrinsic::all().into_iter().map(Source::Intrinsic));
            let default = Mnemonic::ALL.into_iter().flat_map(|mnemonic| mnemonic.forms_with_default_selectors());
            let mut golden: Vec<&str> = golden::rows(golden::VALUES).map(|(_, row)| row[0]).collect();
            golden.dedup();
            let golden = golden.into_iter().step_by(args.golden.max(1)).filter(|_| args.golden > 0);
            let golden = golden.map(read).collect::<Result<Vec<_>, _>>()?;
            default.step_by(args.every.max(1)).chain(golden).collect()
        }
    };
    for source in sources {
        for has_long in [true, false] {
            let without = if has_long { "" } else { " without long words" };
            match &source {
                Source::Base(base) => {
                    // A solver does not multiply.
                    let may_stay_open = ["mul", "mad", "dp"].iter().any(|name| base.opcode().starts_with(name));
                    let query = base.code_with(has_long).query_of_base(base);
                    prove(format!("{}{without}", base.text()), query, may_stay_open)?;
                }
                // Nor does it sum four differences.
                Source::Intrinsic(intrinsic) => {
                    let may_stay_open = match intrinsic.meaning() {
                        Meaning::HighProduct | Meaning::Product24 | Meaning::SumOfDifferences => true,
                        Meaning::Base(op) => !matches!(op, Op::Sad(_)),
                        _ => false,
                    };
                    let code = vop_port::code_of_intrinsic(intrinsic, has_long);
                    prove(format!("{intrinsic}{without}"), code.query_of_intrinsic(intrinsic), may_stay_open)?;
                }
                Source::Form(..) => {}
            }
        }
    }
    for form in forms {
        let may_stay_open =
            matches!(form.finish(), Finish::Accumulate(_)) || form.mnemonic().operation() == Operation::Mad;
        for candidate in vop_port::candidates(form) {
            for query in candidate.queries(form, Semantics::Isa.deviations()).map_err(|error| error.to_string())? {
                prove(format!("{form} by the rule `{}`", candidate.rule), query, false)?;
            }
        }
        for semantics in Semantics::ALL {
            for sequence in vop_port::sequences(form, semantics) {
                for (op, operands) in sequence.steps() {
                    // What a dot product or a shift becomes depends on its constant.
                    let constant = match (op, operands.get(1)) {
                        (Op::Dp4a(..) | Op::Dp2a { .. } | Op::MadHigh, Some(Value::Word(word))) => Some(*word),
                        (Op::Shl | Op::Shr(_) | Op::ShlLong | Op::ShrLong(_), Some(Value::Word(word))) => Some(*word),
                        _ => None,
                    };
                    if !bases.insert((*op, constant)) {
                        continue;
                    }
                    if let Some(query) = vop_port::query_of_base(*op, constant) {
                        let with = constant.map(|constant| format!(" by {constant:#x}")).unwrap_or_default();
                        // A solver does not multiply, and sums of four differences are too much; the differences, and the sums of four
                        // bytes, are proved by themselves.
                        let is_product =
                            constant.is_none() && matches!(op, Op::Dp4a(..) | Op::Dp2a { .. } | Op::MadHigh);
                        let may_stay_open = is_product || matches!(op, Op::Absdiff4Add(_));
                        prove(format!("the base instruction {op:?}{with}"), query, may_stay_open)?;
                    }
                }
            }
            // Those of plain operations, and those of targets that have others.
            for code in vop_port::codes(form, semantics) {
                prove(format!("{form} as {semantics}"), code.query(form, semantics), may_stay_open)?;
            }
        }
    }
    cache.save(&path)?;
    let mut out = std::io::stdout();
    writeln!(out, "{} of {asked} queries proved; {known} were known or asked before", asked - open.len())?;
    for (what, _) in open.iter().filter(|(_, may)| *may) {
        writeln!(out, "open, and tested by evaluation: {what}")?;
    }
    match open.iter().find(|(_, may)| !may) {
        Some((what, _)) => Err(format!("not proved: {what}").into()),
        None => Ok(()),
    }
}

fn read(text: &str) -> Result<Form, Failure> {
    text.parse().map_err(|_| format!("`{text}` is not a legal instruction").into())
}
