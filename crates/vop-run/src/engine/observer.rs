//! Looks at every step: for `--profile` and `--trace`.

#![allow(unsafe_code, reason = "traced values stand in columns, which are raw memory")]

use std::fmt::Write as _;

use super::watch::{Watch, Watcher};
use crate::code::{Kernel, Op, Pc};
use crate::column::{File, WARP, Width};
use crate::error::ThreadId;
use crate::special::Shape;

/// The greatest number of lines of a trace.
const MAX_TRACE: usize = 1_000_000;

/// What an observer sees of a worker.
pub(super) struct View<'v> {
    pub(super) kernel: &'v Kernel,
    /// The block that runs.
    pub(super) ctaid: [u32; 3],
    pub(super) file: &'v File,
}

/// What one core saw.
pub(super) struct Observer {
    /// By step; empty if nothing is to be counted.
    counts: Vec<StepCounts>,
    /// The thread to follow: its block, and its index there.
    traced: Option<([u32; 3], usize)>,
    trace: Vec<String>,
    /// The results of the statement that the traced thread is executing.
    pending: Option<(u32, Vec<String>)>,
    follows: bool,
    watcher: Option<Watcher>,
}

#[derive(Clone, Copy, Debug, Default)]
struct StepCounts {
    /// Threads that executed it.
    threads: u64,
    /// Warps that had a thread to execute it.
    warps: u64,
    /// Groups that parted at it.
    parted: u64,
}

/// Whether a statement's result is unsigned: the first type of its opcode is.
fn is_unsigned(statement: &str) -> bool {
    let opcode = statement.split_whitespace().find(|word| !word.starts_with('@')).unwrap_or_default();
    let mut types = opcode.split('.').skip(1).filter(|word| {
        let (kind, width) = word.split_at_checked(1).unwrap_or_default();
        matches!(kind, "u" | "s" | "b" | "f") && matches!(width, "8" | "16" | "32" | "64")
    });
    types.next().is_some_and(|ty| ty.starts_with('u'))
}

impl Observer {
    /// Counts what each step of a kernel executes, if `profile` asks for it, follows a thread, and watches several.
    pub(super) fn new(
        kernel: &Kernel,
        shape: &Shape,
        profile: bool,
        traced: Option<ThreadId>,
        watch: Option<&Watch>,
    ) -> Observer {
        Observer {
            counts: if profile { vec![StepCounts::default(); kernel.steps.len()] } else { Vec::new() },
            traced: traced.map(|id| (id.block, Shape::thread(id.thread, shape.block))),
            trace: Vec::new(),
            pending: None,
            follows: false,
            watcher: watch.cloned().map(Watcher::new),
        }
    }

    /// Groups parted at a step.
    pub(super) fn parted(&mut self, pc: Pc) {
        if let Some(counts) = self.counts.get_mut(pc as usize) {
            counts.parted += 1;
        }
    }

    /// Threads come to a step.
    pub(super) fn before(&mut self, view: &View<'_>, pc: Pc, mask: &[u8], active: u32) {
        if let Some(counts) = self.counts.get_mut(pc as usize) {
            counts.threads += u64::from(active);
            counts.warps += mask.chunks(WARP).filter(|warp| warp.iter().any(|m| *m != 0)).count() as u64;
        }
        let step = &view.kernel.steps[pc as usize];
        if let Some(watcher) = &mut self.watcher {
            watcher.before(view, step, mask);
        }
        self.follows =
            self.traced.is_some_and(|(block, thread)| block == view.ctaid && mask.get(thread).is_some_and(|m| *m != 0));
        if self.follows && step.counts {
            self.flush(view.kernel);
            self.pending = Some((step.statement, Vec::new()));
        }
    }

    /// Threads have not executed the step after all: they will come to it again.
    pub(super) fn undo(&mut self, pc: Pc, gone: &[u8], counts: bool) {
        if let Some(counts) = self.counts.get_mut(pc as usize) {
            counts.threads -= gone.iter().map(|m| u64::from(m & 1)).sum::<u64>();
        }
        if let Some(watcher) = &mut self.watcher {
            watcher.undo(gone, counts);
        }
        if counts && self.follows && self.traced.is_some_and(|(_, thread)| gone.get(thread).is_some_and(|m| *m != 0)) {
            self.pending = None;
            self.follows = false;
        }
    }

    /// Threads have executed a step.
    pub(super) fn after(&mut self, view: &View<'_>, pc: Pc) {
        let step = &view.kernel.steps[pc as usize];
        if let Some(watcher) = &mut self.watcher {
            watcher.after(view, step);
        }
        let (true, Some((_, thread))) = (self.follows, self.traced) else { return };
        let unsigned = self
            .pending
            .as_ref()
            .is_some_and(|(statement, _)| view.kernel.place(*statement).is_some_and(|place| is_unsigned(&place.text)));
        let mut values = Vec::new();
        for (slot, width) in step.op.results() {
            // SAFETY: the decoder laid the slot out for this width.
            let value = unsafe { view.file.element(slot, width, thread) };
            values.push(match width {
                Width::Predicate => (value != 0).to_string(),
                Width::Word | Width::Double if value > 9 && unsigned => format!("{value:#x} ({value})"),
                Width::Word if value > 9 => format!("{value:#x} ({})", value as u32 as i32),
                Width::Double if value > 9 => format!("{value:#x} ({})", value as i64),
                _ => value.to_string(),
            });
        }
        if let (Some((_, results)), false) = (&mut self.pending, values.is_empty()) {
            // Of steps that prepare another one only the last matters, except for the parts of a vector.
            if !step.is_part {
                results.clear();
            }
            results.extend(values);
        }
    }

    fn flush(&mut self, kernel: &Kernel) {
        let Some((statement, results)) = self.pending.take() else { return };
        if self.trace.len() >= MAX_TRACE {
            if self.trace.len() == MAX_TRACE {
                self.trace.push(format!("(the trace ends here: it has {MAX_TRACE} lines)"));
            }
            return;
        }
        let Some(place) = kernel.place(statement) else { return };
        let mut line = format!("{:>6}  {}", place.line, place.text);
        if !results.is_empty() {
            let _ = write!(line, "   => {}", results.join(", "));
        }
        self.trace.push(line);
    }

    /// Ends the trace, and what is watched.
    pub(super) fn finish(&mut self, kernel: &Kernel) {
        self.flush(kernel);
        if let Some(watcher) = &mut self.watcher {
            watcher.finish(kernel);
        }
    }

    pub(super) fn into_trace(self) -> Vec<String> {
        self.trace
    }
}

/// What a launch executed, by statement.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Profile {
    /// The statements that were executed, in the order of the PTX.
    pub statements: Vec<StatementProfile>,
}

/// What was executed of a statement.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct StatementProfile {
    /// Its line in the PTX.
    pub line: usize,
    /// Its column there in characters, from 1.
    pub column: usize,
    /// The file and line of the source code that `.loc` gives.
    pub source: Option<(String, u32)>,
    /// The opcode with its modifiers.
    pub opcode: String,
    /// The statement's text.
    pub text: String,
    /// Threads that executed it.
    pub threads: u64,
    /// Warps that executed it, with at least one of their threads.
    pub warps: u64,
    /// How often threads that came together parted at it.
    pub parted: u64,
    /// Bytes that it read from memory or wrote to it.
    pub bytes: u64,
}

impl Profile {
    pub(super) fn new(kernel: &Kernel, observers: &[Box<Observer>]) -> Profile {
        let mut statements = Vec::new();
        for (pc, step) in kernel.steps.iter().enumerate().filter(|(_, step)| step.counts) {
            let of = observers.iter().filter_map(|observer| observer.counts.get(pc));
            let sum = of.fold(StepCounts::default(), |a, b| StepCounts {
                threads: a.threads + b.threads,
                warps: a.warps + b.warps,
                parted: a.parted + b.parted,
            });
            if sum.threads == 0 {
                continue;
            }
            let Some(place) = kernel.place(step.statement) else { continue };
            // The step that counts may stand before the one that reaches memory.
            let mine = kernel.steps[pc..].iter().take_while(|other| other.statement == step.statement);
            let bytes = mine
                .map(|step| match &step.op {
                    Op::Load(load) => u64::from(load.access.bytes),
                    Op::Store(store) => u64::from(store.access.bytes),
                    Op::Atomic(atomic) => u64::from(atomic.access.bytes),
                    _ => 0,
                })
                .sum::<u64>();
            statements.push(StatementProfile {
                line: place.line,
                column: place.column,
                source: place.source.map(|source| (source.file, source.line)),
                opcode: kernel.opcode(step.statement),
                text: place.text,
                threads: sum.threads,
                warps: sum.warps,
                parted: sum.parted,
                bytes: bytes * sum.threads,
            });
        }
        statements.sort_by_key(|statement| statement.line);
        Profile { statements }
    }
}
