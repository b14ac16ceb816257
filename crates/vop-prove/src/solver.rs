//! [`Solver`]: z3, asked one query after another.

use std::fmt;
use std::io;
use std::time::Duration;

use easy_smt::{Context, ContextBuilder, Response, SExpr};
use vop::lower::Query;

/// A running z3.
pub struct Solver {
    context: Option<Context>,
    timeout: Duration,
    /// The number of queries that the running process was given.
    asked: u32,
}

/// The solver's verdict on a query.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Verdict {
    /// It holds for all values.
    Proved,
    /// It does not hold for some values.
    Refuted(Counterexample),
    /// The solver gave up, for the reason that it names: `timeout`.
    Unknown(String),
}

/// Values for which a query's claim does not hold.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Counterexample {
    /// Names, numbers of bits and values of the free constants.
    pub inputs: Vec<(String, u32, u64)>,
    /// Results that differ: the name, the computed value and the right one.
    pub differences: Vec<(String, String, String)>,
}

impl Counterexample {
    /// The value of a free constant; 0 for one that the query does not have, which may have any.
    pub fn input(&self, name: &str) -> u64 {
        self.inputs.iter().find(|(known, ..)| known == name).map_or(0, |(.., value)| *value)
    }
}

/// `a = 0x00000001, b = 0x00000000 gives d = 0x00000002, not 0x00000001`.
impl fmt::Display for Counterexample {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (i, (name, bits, value)) in self.inputs.iter().enumerate() {
            let gap = if i == 0 { "" } else { ", " };
            write!(f, "{gap}{name} = {value:#0width$x}", width = 2 + bits.div_ceil(4) as usize)?;
        }
        f.write_str(" gives")?;
        for (i, (name, given, wanted)) in self.differences.iter().enumerate() {
            let gap = if i == 0 { "" } else { ";" };
            write!(f, "{gap} {name} = {given}, not {wanted}")?;
        }
        Ok(())
    }
}

/// The number of queries after which a new process is started, as a process grows with each.
const QUERIES_A_PROCESS: u32 = 500;

impl Solver {
    /// The default time limit of a query.
    pub const TIMEOUT: Duration = Duration::from_secs(20);

    /// Starts z3 with a time limit for each query.
    ///
    /// # Errors
    /// A sentence that says what to install.
    pub fn start(timeout: Duration) -> Result<Solver, String> {
        let mut solver = Solver { context: None, timeout, asked: 0 };
        solver.context().map_err(|error| {
            format!("z3 does not run ({error}): install Debian's z3 or PyPI's z3-solver, and have it on the PATH")
        })?;
        Ok(solver)
    }

    /// A process without a trace of earlier queries.
    fn context(&mut self) -> io::Result<&mut Context> {
        self.asked += 1;
        if self.asked > QUERIES_A_PROCESS {
            self.context = None;
            self.asked = 1;
        }
        let timeout = self.timeout.as_millis();
        let context = match self.context.take() {
            Some(mut context) => {
                // `push` and `pop` would make z3 solve incrementally, which is far slower.
                let reset = context.list(vec![context.atom("reset")]);
                context.raw_send(reset)?;
                success(&mut context)?;
                context
            }
            None => ContextBuilder::new().with_z3_defaults().build()?,
        };
        let context = self.context.insert(context);
        let milliseconds = context.numeral(timeout);
        context.set_option(":timeout", milliseconds)?;
        context.set_logic("QF_BV")?;
        Ok(context)
    }

    /// Asks whether a query's claim holds for all values.
    ///
    /// # Errors
    /// A sentence on why the solver cannot answer: it does not understand the query, or has ended.
    pub fn prove(&mut self, query: &Query) -> Result<Verdict, String> {
        let asked = self.ask(query);
        if asked.is_err() {
            // Its answer has not been read.
            self.context = None;
        }
        asked.map_err(|error| format!("the solver fails: {error}"))
    }

    fn ask(&mut self, query: &Query) -> io::Result<Verdict> {
        let context = self.context()?;
        let commands: Vec<String> = query.commands().collect();
        let all = context.atom(commands.join("\n"));
        context.raw_send(all)?;
        for _ in &commands {
            success(context)?;
        }
        match context.check()? {
            Response::Unsat => Ok(Verdict::Proved),
            Response::Sat => Ok(Verdict::Refuted(counterexample(context, query)?)),
            Response::Unknown => {
                let ask = context.list(vec![context.atom("get-info"), context.atom(":reason-unknown")]);
                context.raw_send(ask)?;
                let answer = context.raw_recv()?;
                let reason = context.get_list(answer).and_then(|list| list.get(1).copied());
                let reason = reason.map_or_else(|| "no reason".into(), |reason| context.display(reason).to_string());
                Ok(Verdict::Unknown(reason.trim_matches('"').to_string()))
            }
        }
    }
}

/// Reads z3's answer to a command.
fn success(context: &mut Context) -> io::Result<()> {
    let answer = context.raw_recv()?;
    match context.get_atom(answer) {
        Some("success") => Ok(()),
        _ => Err(io::Error::other(context.display(answer).to_string())),
    }
}

fn counterexample(context: &mut Context, query: &Query) -> io::Result<Counterexample> {
    let mut values = |terms: Vec<&str>| -> io::Result<Vec<String>> {
        if terms.is_empty() {
            return Ok(Vec::new());
        }
        let terms: Vec<SExpr> = terms.into_iter().map(|term| context.atom(term)).collect();
        let values = context.get_value(terms)?;
        Ok(values.into_iter().map(|(_, value)| written(&context.display(value).to_string())).collect())
    };
    let inputs = values(query.declared().iter().map(|(name, _)| name.as_str()).collect())?;
    let inputs = query.declared().iter().zip(inputs).map(|((name, bits), value)| {
        let value = value.strip_prefix("0x").and_then(|digits| u64::from_str_radix(digits, 16).ok());
        (name.clone(), *bits, value.unwrap_or_default())
    });
    let inputs = inputs.collect();
    let given = values(query.equal().iter().map(|equal| equal.given.as_str()).collect())?;
    let wanted = values(query.equal().iter().map(|equal| equal.wanted.as_str()).collect())?;
    let all = query.equal().iter().zip(given.into_iter().zip(wanted));
    let differ = all.filter(|(_, (given, wanted))| given != wanted);
    let differences = differ.map(|(equal, (given, wanted))| (equal.name.clone(), given, wanted)).collect();
    Ok(Counterexample { inputs, differences })
}

/// A value as programs write it: `#x0f` as 0x0f.
fn written(value: &str) -> String {
    if let Some(digits) = value.strip_prefix("#x") {
        return format!("0x{digits}");
    }
    match value.strip_prefix("#b").map(|digits| u64::from_str_radix(digits, 2)) {
        Some(Ok(number)) => format!("{number:#x}"),
        _ => value.to_string(),
    }
}
