//! Records what threads of a block execute together, for a table with a row for each statement and a column for each thread.

#![allow(unsafe_code, reason = "results stand in columns, which are raw memory")]

use std::mem;
use std::ops::Range;
use std::sync::{Arc, Mutex, PoisonError};

use super::observer::View;
use crate::code::{Kernel, Step};
use crate::column::Width;
use crate::error::Place;

/// Threads whose statements are recorded, with results, while a launch runs: [`LaunchOptions::watch`](crate::LaunchOptions::watch). What
/// was recorded is taken after the launch, also after one that fails.
///
/// ```
/// use vop_run::{LaunchOptions, Program, Watch};
///
/// let program = Program::read(
///     ".version 8.0 .target sm_75 .address_size 64
///      .entry k() { .reg .b32 r; .reg .pred p; mov.u32 r, %tid.x; setp.gt.u32 p, r, 1; @p shl.b32 r, r, 4; }",
/// );
/// let watch = Watch::new([0, 0, 0], 0..3, 100);
/// let options = LaunchOptions::default().with_watch(watch.clone());
/// program.kernel("k")?.launch([1, 1, 1], [4, 1, 1], &[], &mut program.memory(), &options)?;
/// let steps = watch.take().steps;
/// assert_eq!(steps[0].results[0].values, [0, 1, 2]);
/// assert_eq!(steps[1].results[0].values, [0, 0, 1]);
/// assert_eq!((&steps[2].active[..], steps[2].results[0].values[2]), (&[false, false, true][..], 32));
/// # Ok::<(), vop_run::RunErrors>(())
/// ```
#[derive(Clone, Debug)]
pub struct Watch {
    block: [u32; 3],
    threads: Range<usize>,
    most: usize,
    watched: Arc<Mutex<Watched>>,
}

impl Watch {
    /// Watches these threads of a block, by their index in it, x first. Of more than `most` statements the first ones are recorded.
    pub fn new(block: [u32; 3], threads: Range<usize>, most: usize) -> Watch {
        Watch { block, threads, most, watched: Arc::default() }
    }

    /// Takes what was recorded since the last time.
    pub fn take(&self) -> Watched {
        mem::take(&mut self.watched.lock().unwrap_or_else(PoisonError::into_inner))
    }

    fn with<T>(&self, f: impl FnOnce(&mut Watched) -> T) -> T {
        f(&mut self.watched.lock().unwrap_or_else(PoisonError::into_inner))
    }
}

/// What a [`Watch`] recorded.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Watched {
    /// In the order of execution. Threads that have parted at a branch execute a statement one group after another.
    pub steps: Vec<WatchedStep>,
    /// The number of those that are not recorded.
    pub left_out: u64,
}

/// A statement that threads executed together.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct WatchedStep {
    /// The statement.
    pub place: Place,
    /// Whether each watched thread executed it.
    pub active: Vec<bool>,
    /// The registers that it wrote, in the order of its operands.
    pub results: Vec<WatchedResult>,
}

/// A register that a statement wrote.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct WatchedResult {
    /// Its width: 1 for a predicate, 32, also for smaller ones, or 64.
    pub bits: u32,
    /// What each watched thread has in it, if it executed the statement: 0 or 1 for a predicate. Otherwise 0.
    pub values: Vec<u64>,
}

/// A statement that is being executed.
#[derive(Debug)]
struct Pending {
    statement: u32,
    active: Vec<bool>,
    results: Vec<WatchedResult>,
}

/// A [`Watch`] at work.
#[derive(Debug)]
pub(super) struct Watcher {
    watch: Watch,
    /// The threads that are at the step, if any of those that are watched is.
    active: Vec<bool>,
    follows: bool,
    pending: Option<Pending>,
    recorded: usize,
    left_out: u64,
}

impl Watcher {
    pub(super) fn new(watch: Watch) -> Watcher {
        Watcher { watch, active: Vec::new(), follows: false, pending: None, recorded: 0, left_out: 0 }
    }

    /// Threads come to a step.
    pub(super) fn before(&mut self, view: &View<'_>, step: &Step, mask: &[u8]) {
        self.follows = view.ctaid == self.watch.block;
        if !self.follows {
            return;
        }
        self.active.clear();
        let threads = self.watch.threads.clone();
        self.active.extend(threads.map(|thread| mask.get(thread).is_some_and(|m| *m != 0)));
        self.follows = self.active.contains(&true);
        if self.follows && step.counts {
            self.flush(view.kernel);
            if self.recorded < self.watch.most {
                let (statement, active) = (step.statement, self.active.clone());
                self.pending = Some(Pending { statement, active, results: Vec::new() });
            } else {
                self.left_out += 1;
            }
        }
    }

    /// Threads have not executed the step after all.
    pub(super) fn undo(&mut self, gone: &[u8], counts: bool) {
        let (true, true, Some(pending)) = (counts, self.follows, &mut self.pending) else { return };
        for (active, thread) in pending.active.iter_mut().zip(self.watch.threads.clone()) {
            *active &= gone.get(thread).is_none_or(|m| *m == 0);
        }
        if !pending.active.contains(&true) {
            self.pending = None;
            self.follows = false;
        }
    }

    /// Threads have executed a step.
    pub(super) fn after(&mut self, view: &View<'_>, step: &Step) {
        let (true, Some(pending)) = (self.follows, &mut self.pending) else { return };
        let mut results = Vec::new();
        for (slot, width) in step.op.results() {
            let of_thread = |(thread, active): (usize, &bool)| {
                // SAFETY: the decoder laid the slot out for this width, and a thread of the mask is one of the block.
                let value = if *active { unsafe { view.file.element(slot, width, thread) } } else { 0 };
                if width == Width::Predicate { value & 1 } else { value }
            };
            let values = self.watch.threads.clone().zip(&self.active).map(of_thread).collect();
            let bits = if width == Width::Predicate { 1 } else { 8 * width.bytes() };
            results.push(WatchedResult { bits, values });
        }
        if !results.is_empty() {
            // Of steps that prepare another one only the last matters, except for the parts of a vector.
            if !step.is_part {
                pending.results.clear();
            }
            pending.results.extend(results);
        }
    }

    /// Records the statement that was executed last.
    fn flush(&mut self, kernel: &Kernel) {
        let Some(Pending { statement, active, results }) = self.pending.take() else { return };
        let Some(place) = kernel.place(statement) else { return };
        self.recorded += 1;
        self.watch.with(|watched| watched.steps.push(WatchedStep { place, active, results }));
    }

    /// Ends the record.
    pub(super) fn finish(&mut self, kernel: &Kernel) {
        self.flush(kernel);
        let left_out = mem::take(&mut self.left_out);
        self.watch.with(|watched| watched.left_out += left_out);
    }
}
