//! `vop prove`.

use std::collections::HashSet;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::str::FromStr;
use std::sync::Mutex;
use std::time::{Duration, Instant, SystemTime};

use vop::lower::{Choice, LowerOptions, Query};
use vop::{Form, Semantics, Target};
use vop_prove::{Answer, Cache, Item, Solver, Verdict};

use crate::progress::Progress;
use crate::{Failure, Outcome, instruction, output};

/// Prove with an SMT solver (z3) that lowered sequences compute the instructions' values, for all inputs.
///
/// For each FORM it proves the sequence that lowering chooses: the rule's steps for all selectors at once, and the whole
/// sequence as it is written. A query that the solver does not decide in time is a failure.
/// z3 must be on the PATH: Debian's package z3, or PyPI's z3-solver.
#[derive(clap::Args)]
#[command(
    arg_required_else_help = true,
    after_help = "\
Examples:
  vop prove 'vadd4.u32.u32.u32 d.b20, a.b7531, b, c' --target sm_120f
  vop prove vadd4.u32.u32.u32 --target sm_90 --query | z3 -in
  vop prove --all --cache proofs.txt
  vop prove --all --sample 500/2026-01-31"
)]
pub(crate) struct Args {
    /// Instructions, with or without operands.
    #[arg(value_name = "FORM", required_unless_present = "all", conflicts_with = "all")]
    forms: Vec<String>,
    /// The GPU that they are lowered for: sm_75, sm_80, sm_86, sm_89, sm_90, sm_100, sm_103, sm_120 or sm_120f.
    #[arg(long, required_unless_present = "all", conflicts_with = "all")]
    target: Option<Target>,
    #[command(flatten)]
    semantics: instruction::SemanticsArg,
    /// Print the queries as SMT-LIB that z3 reads, and do not run the solver.
    #[arg(long)]
    query: bool,
    /// Prove every sequence that a rule writes for any form, on all targets and in all semantics.
    #[arg(long)]
    all: bool,
    /// With --all: a file of hashes of proved queries. These are not proved again, and new ones are added to the file.
    #[arg(long, value_name = "FILE", requires = "all")]
    cache: Option<PathBuf>,
    /// The seconds that the solver may spend on a query.
    #[arg(long, value_name = "SECONDS", default_value_t = Solver::TIMEOUT.as_secs())]
    timeout: u64,
    /// With --all: prove N queries again that the cache holds, and all that it lacks. The day decides which; the default is
    /// today.
    #[arg(long, value_name = "N[/DAY]", requires = "all")]
    sample: Option<Sample>,
}

/// How many queries, and the day that chooses them.
#[derive(Clone)]
struct Sample {
    count: usize,
    day: String,
}

impl FromStr for Sample {
    type Err = String;

    fn from_str(text: &str) -> Result<Sample, String> {
        let (count, day) = match text.split_once('/') {
            Some((count, day)) => (count, day.to_string()),
            None => (text, today()),
        };
        let count = count.parse().map_err(|_| format!("`{count}` is not a number of queries"))?;
        Ok(Sample { count, day })
    }
}

/// The number of days since 1970, in UTC.
fn today() -> String {
    let since = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH).unwrap_or_default();
    (since.as_secs() / 86400).to_string()
}

pub(crate) fn run(args: Args) -> Result<Outcome, Failure> {
    let timeout = Duration::from_secs(args.timeout);
    match (&args.target, args.all) {
        (_, true) => all(&args, timeout),
        // clap lets them pass where there is a form, which excludes `--all`.
        (_, false) if args.cache.is_some() || args.sample.is_some() => {
            Err(Failure::Misuse("`--cache` and `--sample` go with `--all`".into()))
        }
        (Some(target), false) => {
            let options = LowerOptions::new(*target).with_semantics(args.semantics.semantics);
            some(&args, options, timeout)
        }
        (None, false) => Err(Failure::Misuse("`--target` is missing".into())),
    }
}

/// Proves lowerings of forms.
fn some(args: &Args, options: LowerOptions, timeout: Duration) -> Result<Outcome, Failure> {
    let mut forms: Vec<Form> = Vec::new();
    for text in &args.forms {
        forms.push(instruction::read(text)?.form);
    }
    let mut out = output::stdout();
    let mut solver = None;
    let mut outcome = Outcome::Fine;
    let mut first = true;
    for form in forms {
        let Some(choice) = vop_prove::chosen(form, options) else {
            let text = format!("{form} on {} stays as it is: there is nothing to prove", options.target);
            writeln!(out, "{}{text}", if args.query { "; " } else { "" })?;
            continue;
        };
        let queries = vop_prove::queries(form, options, &choice).map_err(Failure::Failed)?;
        if args.query {
            for query in queries {
                if !first {
                    writeln!(out, "(reset)")?;
                }
                first = false;
                writeln!(out, "; {form} on {} by the rule `{}`", options.target, choice.candidate.rule)?;
                write!(out, "{query}")?;
            }
            continue;
        }
        let solver = match &mut solver {
            Some(solver) => solver,
            none => none.insert(Solver::start(timeout).map_err(Failure::Misuse)?),
        };
        if !one(&mut out, solver, form, options, &choice, queries)? {
            outcome = Outcome::Findings;
        }
    }
    out.flush()?;
    Ok(outcome)
}

/// Proves a choice and says how that went.
fn one(
    out: &mut impl Write,
    solver: &mut Solver,
    form: Form,
    options: LowerOptions,
    choice: &Choice,
    queries: Vec<Query>,
) -> Result<bool, Failure> {
    let Choice { candidate, sequence, cost } = choice;
    writeln!(out, "{form} on {}, by the rule `{}`:", options.target, candidate.rule)?;
    for line in sequence.lines() {
        writeln!(out, "    {line};")?;
    }
    writeln!(out, "machine instructions: {cost}, of the original {}", form.cost(options.target))?;
    let mut answers = Vec::new();
    let mut progress = Progress::new(Some(queries.len()), "queries").at_once();
    for (done, query) in queries.into_iter().enumerate() {
        progress.at(done);
        let answer = vop_prove::ask(solver, query).map_err(Failure::Failed)?;
        let seconds = answer.time.as_secs_f64();
        writeln!(out, "{} in {seconds:.2} s: {}", described(&answer.verdict), answer.query.claim)?;
        if let Verdict::Refuted(counterexample) = &answer.verdict {
            writeln!(out, "    {counterexample}")?;
        }
        answers.push(answer);
    }
    drop(progress);
    let proved = vop_prove::is_proved(form, &answers);
    let whole = !answers.iter().any(|Answer { verdict, .. }| matches!(verdict, Verdict::Unknown(_)));
    let by = if whole { "" } else { ", by its parts" };
    writeln!(out, "{}{}", if proved { "proved" } else { "not proved" }, if proved { by } else { "" })?;
    Ok(proved)
}

fn described(verdict: &Verdict) -> String {
    match verdict {
        Verdict::Proved => "proved".into(),
        Verdict::Refuted(_) => "refuted".into(),
        Verdict::Unknown(why) => format!("undecided ({why})"),
    }
}

/// Proves everything.
fn all(args: &Args, timeout: Duration) -> Result<Outcome, Failure> {
    let start = Instant::now();
    let items = vop_prove::everything().map_err(Failure::Failed)?;
    if args.query {
        let mut out = output::stdout();
        for (i, item) in items.iter().enumerate() {
            let reset = if i == 0 { "" } else { "(reset)\n" };
            write!(out, "{reset}; {}\n{}", of(item), item.query)?;
        }
        out.flush()?;
        return Ok(Outcome::Fine);
    }
    let mut cache = match &args.cache {
        Some(path) if path.exists() => {
            let bytes = output::read(path)?;
            let read = Cache::parse(&String::from_utf8_lossy(&bytes));
            read.map_err(|why| Failure::Misuse(format!("cannot read the cache {}: {why}", path.display())))?
        }
        Some(_) => Cache::default(),
        None => Cache::default(),
    };
    let mut sampled = Vec::new();
    if let Some(Sample { count, day }) = &args.sample {
        sampled.extend(items.iter().map(|item| item.hash));
        sampled.sort_by_key(|hash| hash.rank(day));
        sampled.truncate(*count);
        sampled.sort();
    }
    // Without a cache a sample is all that is proved.
    let only_sample = args.sample.is_some() && args.cache.is_none();
    let asked: Vec<&Item> = items
        .iter()
        .filter(|item| sampled.binary_search(&item.hash).is_ok() || !only_sample && !cache.has(item.hash))
        .collect();
    let all: HashSet<_> = items.iter().map(|item| item.hash).collect();
    cache.retain(|hash| all.contains(hash));
    let cached = items.len() - asked.len();
    let failures = prove(&asked, timeout, &mut cache, args.cache.as_deref())?;
    if let Some(path) = &args.cache {
        cache.save(path).map_err(Failure::Failed)?;
    }
    let mut out = output::stdout();
    for (item, verdict) in &failures {
        if let Verdict::Refuted(counterexample) = verdict {
            writeln!(out, "{}: {}: {}", of(item), described(verdict), item.query.claim)?;
            writeln!(out, "    {counterexample}")?;
        }
    }
    let number = |count: usize| vop::grouped(count as u64);
    let proved = number(asked.len() - failures.len());
    let seconds = start.elapsed().as_secs_f64();
    writeln!(
        out,
        "{proved} of {} queries proved in {seconds:.0} s; not asked: {}",
        number(asked.len()),
        number(cached)
    )?;
    out.flush()?;
    Ok(if failures.is_empty() { Outcome::Fine } else { Outcome::Findings })
}

/// What asks for a query.
fn of(item: &Item) -> String {
    let semantics = match item.semantics {
        Semantics::Isa => String::new(),
        other => format!(" ({other})"),
    };
    format!("{}{semantics} by the rule `{}`", item.form, item.rule)
}

/// Gives queries to as many solvers as there are processors; returns those that were not proved.
fn prove<'i>(
    asked: &[&'i Item],
    timeout: Duration,
    cache: &mut Cache,
    file: Option<&Path>,
) -> Result<Vec<(&'i Item, Verdict)>, Failure> {
    struct State<'i, 'c> {
        next: usize,
        done: usize,
        failures: Vec<(usize, &'i Item, Verdict)>,
        progress: Progress,
        cache: &'c mut Cache,
        error: Option<String>,
    }
    let workers = std::thread::available_parallelism().map_or(1, usize::from).min(asked.len());
    let progress = Progress::new(Some(asked.len()), "queries");
    let state = Mutex::new(State { next: 0, done: 0, failures: Vec::new(), progress, cache, error: None });
    // No other thread panics while it holds the state.
    let lock = || state.lock().unwrap_or_else(|poisoned| poisoned.into_inner());
    let work = || -> Result<(), String> {
        let mut solver = Solver::start(timeout)?;
        loop {
            let number = {
                let mut state = lock();
                let number = state.next;
                if number >= asked.len() || state.error.is_some() {
                    return Ok(());
                }
                state.next += 1;
                number
            };
            let item = asked[number];
            let verdict = solver.prove(&item.query).map_err(|why| format!("{}: {why}", of(item)))?;
            let mut state = lock();
            state.done += 1;
            match verdict {
                Verdict::Proved => state.cache.insert(item.hash),
                other => {
                    // Printed at once, as all queries together take hours.
                    let text = format!("{}: {}: {}\n", of(item), described(&other), item.query.claim);
                    state.progress.suspend(|| output::notice(&text));
                    state.failures.push((number, item, other));
                    state.progress.remark(format!(", {} not proved", state.failures.len()));
                }
            }
            let done = state.done;
            state.progress.at(done);
            // What was proved is not lost if somebody stops this.
            if let Some(file) = file.filter(|_| state.done.is_multiple_of(500)) {
                state.cache.save(file)?;
            }
        }
    };
    std::thread::scope(|scope| {
        for _ in 0..workers {
            scope.spawn(|| {
                if let Err(why) = work() {
                    lock().error.get_or_insert(why);
                }
            });
        }
    });
    let mut state = lock();
    if let Some(why) = state.error.take() {
        return Err(Failure::Failed(why));
    }
    state.failures.sort_by_key(|(number, ..)| *number);
    Ok(state.failures.drain(..).map(|(_, item, verdict)| (item, verdict)).collect())
}
