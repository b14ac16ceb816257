//! What a launch did, from what its cores did.

use super::{Kernel, LaunchOptions, Work};
use crate::engine::block::Failure;
use crate::engine::observer::{Observer, Profile};
use crate::error::RunErrors;
use crate::memory::Memory;

/// What a launch did.
#[derive(Clone, Debug, Default)]
#[non_exhaustive]
pub struct Report {
    /// Statements executed, one for each thread that executed it. A statement whose guard was false is not counted.
    pub instructions: u64,
    /// Video instructions among them.
    pub video: u64,
    /// The number of blocks that ran.
    pub blocks: u64,
    /// Lines of the PTX whose atomics may make results depend on the order of blocks, which differs from run to run on more than
    /// one core: sums of floating point, `exch` and `cas`, and those whose old value is used. Empty where there is one block or one
    /// core.
    pub order_dependent: Vec<usize>,
    /// What was executed by statement, if [`LaunchOptions::profile`] asked for it.
    pub profile: Option<Profile>,
    /// What the thread of [`LaunchOptions::trace`] executed, a line for each statement.
    pub trace: Vec<String>,
}

impl Report {
    /// Sums up what the cores did; what blocks printed goes to memory, in the order of the blocks. Of several failures the one of the
    /// first block is returned.
    pub(super) fn new(
        kernel: &Kernel,
        options: &LaunchOptions,
        blocks: u64,
        work: Vec<Work>,
        memory: &mut Memory,
    ) -> Result<Report, RunErrors> {
        let mut report = Report { blocks, ..Report::default() };
        if work.len() > 1 {
            let lines = kernel.ordered.iter().filter_map(|statement| Some(kernel.place(*statement)?.line));
            report.order_dependent = lines.collect();
        }
        let mut printed = Vec::new();
        let mut failure: Option<(u64, Failure)> = None;
        let mut observers: Vec<Box<Observer>> = Vec::new();
        for work in work {
            report.instructions += work.executed;
            report.video += work.video;
            printed.extend(work.printed);
            observers.extend(work.observers);
            if let Some(found) = work.failure
                && failure.as_ref().is_none_or(|(index, _)| found.0 < *index)
            {
                failure = Some(found);
            }
        }
        printed.sort_by_key(|(index, _)| *index);
        let last = failure.as_ref().map_or(u64::MAX, |(index, _)| *index);
        memory.printed.extend(printed.into_iter().filter(|(index, _)| *index <= last).flat_map(|(_, text)| text));
        if options.profile && failure.is_none() {
            report.profile = Some(Profile::new(kernel, &observers));
        }
        let trace: Vec<String> = observers.into_iter().flat_map(|observer| observer.into_trace()).collect();
        match failure {
            Some((_, error)) => Err(crate::error::RunError { trace: trace.into(), ..*error }.into()),
            None => Ok(Report { trace, ..report }),
        }
    }
}
