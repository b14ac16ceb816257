//! The proof of one lowering.

use std::time::{Duration, Instant};

use vop::Form;
use vop::isa::form::Finish;
use vop::lower::{Choice, Claim, LowerOptions, Query};

use crate::{Solver, Verdict};

/// A solver's answer to a query.
#[derive(Debug, Clone)]
pub struct Answer {
    /// The query.
    pub query: Query,
    /// The verdict.
    pub verdict: Verdict,
    /// The time that the solver took.
    pub time: Duration,
}

/// The choice that [`Form::lower`] makes, from which the queries follow; `None` if the instruction stays as it is.
pub fn chosen(form: Form, options: LowerOptions) -> Option<Choice> {
    let sequence = form.lower(options).sequence?;
    form.choices(options).into_iter().find(|choice| choice.sequence == sequence)
}

/// The queries of a choice: those of the candidate, for all selectors, and that of the whole sequence that it became.
///
/// # Errors
/// A sentence, if the rule wrote a malformed candidate.
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

/// Gives a query to a solver.
///
/// # Errors
/// A sentence on why the solver cannot answer.
pub fn ask(solver: &mut Solver, query: Query) -> Result<Answer, String> {
    let start = Instant::now();
    let verdict = solver.prove(&query)?;
    Ok(Answer { query, verdict, time: start.elapsed() })
}

/// Whether the answers to a choice's [`queries`] prove it. Where a form accumulates, its sequence as a whole may be too much for
/// the solver: then the candidate's proof is enough, as tests check all that [resolving](vop::lower) makes of a candidate.
pub fn is_proved(form: Form, answers: &[Answer]) -> bool {
    let accumulates = matches!(form.finish(), Finish::Accumulate(_));
    !answers.is_empty()
        && answers.iter().all(|answer| match answer.verdict {
            Verdict::Proved => true,
            Verdict::Refuted(_) => false,
            Verdict::Unknown(_) => accumulates && answer.query.claim == Claim::Sequence,
        })
}
