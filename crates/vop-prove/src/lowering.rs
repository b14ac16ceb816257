//! The proof of one lowering.

use std::time::{Duration, Instant};

use vop::Form;
use vop::isa::form::Finish;
use vop::lower::{Choice, Claim, LowerOptions, Query};

use crate::{Solver, Verdict};

/// What a solver said of a query.
#[derive(Debug, Clone)]
pub struct Answer {
    /// What was asked.
    pub query: Query,
    /// What it said.
    pub verdict: Verdict,
    /// How long that took.
    pub time: Duration,
}

/// The choice that [`Form::lower`] makes, as it says what is to be proved; `None` if the instruction stays as it is.
pub fn chosen(form: Form, options: LowerOptions) -> Option<Choice> {
    let sequence = form.lower(options).sequence?;
    form.choices(options).into_iter().find(|choice| choice.sequence == sequence)
}

/// What is to be proved of a choice: of the candidate for all selectors, and of the sequence that it became from end to end.
///
/// # Errors
/// A sentence, if the rule wrote what means nothing.
pub fn queries(form: Form, options: LowerOptions, choice: &Choice) -> Result<Vec<Query>, String> {
    let by = options.semantics.deviations().concerning(form);
    let write = || {
        let mut queries = choice.candidate.queries(form, by)?;
        queries.push(choice.sequence.query(form, by)?);
        Ok(queries)
    };
    write().map_err(|why: vop::lower::Malformed| {
        format!("the rule `{}` wrote for {form} what means nothing: {why}", choice.candidate.rule)
    })
}

/// Asks a solver.
///
/// # Errors
/// If it cannot be asked.
pub fn ask(solver: &mut Solver, query: Query) -> Result<Answer, String> {
    let start = Instant::now();
    let verdict = solver.prove(&query)?;
    Ok(Answer { query, verdict, time: start.elapsed() })
}

/// Whether the answers to a choice's [`queries`] prove it. Where a form accumulates, its sequence as a whole may be too much for
/// the solver: the candidate's proof is enough then, as what [resolving](vop::lower) makes of one is decided by tests.
pub fn is_proved(form: Form, answers: &[Answer]) -> bool {
    let accumulates = matches!(form.finish(), Finish::Accumulate(_));
    !answers.is_empty()
        && answers.iter().all(|answer| match answer.verdict {
            Verdict::Proved => true,
            Verdict::Refuted(_) => false,
            Verdict::Unknown(_) => accumulates && answer.query.claim == Claim::Sequence,
        })
}
