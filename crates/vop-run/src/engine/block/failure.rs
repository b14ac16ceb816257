//! Errors of a block: which thread failed where.

use super::Worker;
use super::groups::{Group, Wait, count, first};
use super::storage::Overflow;
use crate::code::Pc;
use crate::column::WARP;
use crate::engine::access::WarpFault;
use crate::error::{RunError, RunErrorKind, ThreadId};
use crate::memory::Fault;

/// An error, boxed so that results without one are small.
pub(in crate::engine) type Failure = Box<RunError>;

impl Worker<'_> {
    pub(in crate::engine) fn thread_id(&self, thread: usize) -> ThreadId {
        let shape = &self.launch.shape;
        let (block, thread) = match self.launch.at_once {
            1 => (self.ctaid, thread),
            _ => (shape.ctaid(self.block_index + (thread / shape.threads()) as u64), thread % shape.threads()),
        };
        ThreadId { block, thread: shape.tid(thread) }
    }

    /// One of several blocks that run as one has failed, at a step that the blocks before it have executed. They go on without it and those
    /// behind it, as an error of theirs goes before its error. Returns the failure if there are none before it.
    #[cold]
    pub(super) fn leave_from(&mut self, failure: Failure) -> Result<(), Failure> {
        let of_launch = matches!(failure.kind, RunErrorKind::Limit | RunErrorKind::Stopped | RunErrorKind::Timeout);
        let Some(thread) = failure.thread.filter(|_| !of_launch && !self.abandoned) else { return Err(failure) };
        let index = self.launch.shape.index_of(thread.block);
        let threads = (index - self.block_index) as usize * self.launch.shape.threads();
        if threads == 0 {
            return Err(failure);
        }
        self.failed = Some((index, failure));
        self.running.mask[threads..].fill(0);
        self.running.active = count(&self.running.mask);
        self.live.end_from(threads);
        self.groups.keep(&self.frames, threads);
        Ok(())
    }

    /// Puts the thread and the step on an error.
    #[cold]
    pub(in crate::engine) fn fail(&self, error: RunError, thread: usize, pc: Pc) -> Failure {
        let error = RunError { thread: Some(self.thread_id(thread)), ..error };
        Box::new(self.launch.kernel.locate(error, pc))
    }

    /// The error of a load, store or atomic.
    #[cold]
    pub(super) fn access_failed(&self, (warp, (lane, fault)): WarpFault, pc: Pc) -> Failure {
        self.faulted(fault, warp * WARP + lane, pc)
    }

    /// The error of a fault that an operation met for one thread.
    #[cold]
    pub(in crate::engine) fn faulted(&self, fault: Fault, thread: usize, pc: Pc) -> Failure {
        self.fail(self.launch.layout(self.reach.top).explain(fault), thread, pc)
    }

    /// The error of a launch that ends before its end, with the place where the running group is.
    #[cold]
    pub(in crate::engine) fn ended(&self, error: RunError) -> Failure {
        // The step behind the join is one of the loop.
        let (pc, steps) = (self.running.pc, &self.launch.kernel.steps);
        let counted = (pc..).take(64).find(|pc| steps.get(*pc as usize).is_none_or(|step| step.counts));
        self.fail(error, first(&self.running.mask), counted.unwrap_or(pc))
    }

    #[cold]
    pub(super) fn overflow(&self, depth: u32, why: Overflow) -> Failure {
        if let Overflow::Memory(error) = why {
            return self.fail(error, first(&self.running.mask), self.running.pc);
        }
        let message = format!(
            "stack overflow: {depth} nested calls take more than the {} bytes of a thread's stack",
            self.launch.stack_limit
        );
        let error = RunError::new(RunErrorKind::StackOverflow, message)
            .with_help("check that every recursion ends; `--stack` sets the limit");
        self.fail(error, first(&self.running.mask), self.running.pc)
    }

    /// The error where no thread can go on. It names the first thread that waits, and one that waits elsewhere.
    #[cold]
    pub(in crate::engine) fn deadlock(&self) -> Failure {
        let parked = &self.groups.parked;
        let waiting = |group: &Group| first(&group.mask);
        let Some(one) = parked.iter().min_by_key(|group| waiting(group)) else {
            return Box::new(RunError::new(RunErrorKind::Deadlock, "threads wait for each other"));
        };
        let step_of = |group: &Group| match group.wait {
            Wait::Barrier(_) => group.pc - 1,
            _ => group.pc,
        };
        let kernel = self.launch.kernel;
        let message = match parked.iter().find(|group| step_of(group) != step_of(one) || group.wait != one.wait) {
            Some(other) => {
                let line = kernel.place(kernel.steps[step_of(other) as usize].statement);
                let line = line.map_or(String::new(), |place| format!(" (line {}: `{}`)", place.line, place.text));
                let other = self.thread_id(waiting(other));
                format!("this thread and {other} wait for each other at different places{line}")
            }
            None => match &one.wait {
                Wait::Barrier(arrival) => arrival.lonely(),
                _ => "this thread waits for lanes of its warp that never arrive".to_owned(),
            },
        };
        self.fail(RunError::new(RunErrorKind::Deadlock, message), waiting(one), step_of(one))
    }
}
