//! Runs of steps that only compute, as machine code: a register that nothing reads afterwards never comes to its column.
//!
//! A block executes a step as a loop over columns, so each step reads its operands from the first-level cache and writes its result to it.
//! In a run of such steps most results are read by the next steps alone. Where a launch is long enough, its runs are translated: a
//! function goes over the threads of the block by as many as a vector register has words, and keeps everything in registers on the way.
//!
//! ```text
//! Steps ──Run::find──► runs ──Live──► what must be stored ──Writer──► machine code ──► Op::Run in place of the first step
//! ```
//!
//! - [`known`]: the instructions that have a template. What each computes is defined in `pure/`; a test compares every template with it.
//! - [`live`]: which registers are read later. [`emit`]: templates, and which values stay in registers.
//! - [`assembler`], [`executable`]: bytes, and pages for them.
//!
//! The other steps of a run stay at their places, so a jump into a run executes them one by one. Nothing of this changes what a kernel
//! computes or what is counted; observed launches and checked ones execute every step by itself.

#![allow(unsafe_code, reason = "machine code")]

mod assembler;
mod emit;
mod executable;
pub(crate) mod known;
mod live;

pub(crate) use emit::LANES;

use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use crate::code::{Kernel, Op, Run, Step};
use crate::column::File;
use crate::level::Level;
use emit::Writer;
use executable::Executable;
use live::Live;

/// Thread-instructions after which a kernel's runs are worth a translation, which takes about as long as a million of them.
const HOT: u64 = 1 << 21;
/// Kernels of more steps are not looked at: liveness would take longer than they do.
const MAX_STEPS: usize = 1 << 15;
/// Steps of one run.
const MAX_RUN: usize = 1 << 12;

/// The steps of a kernel with runs among them, for blocks of one number of warps.
#[derive(Debug)]
pub(crate) struct Compiled {
    pub(crate) steps: Vec<Step>,
    #[allow(dead_code, reason = "the runs are in it")]
    code: Option<Executable>,
}

/// What a kernel's launches have executed, and its translations.
#[derive(Debug, Default)]
pub(crate) struct Heat {
    executed: AtomicU64,
    /// By whether the steps rely on samples, on which, and by the number of warps.
    compiled: Mutex<Vec<((usize, usize), Arc<Compiled>)>>,
}

impl Heat {
    /// Adds what a launch has executed.
    pub(crate) fn add(&self, executed: u64) {
        self.executed.fetch_add(executed, Ordering::Relaxed);
    }

    /// How many runs the translations have, and how many steps are in them.
    pub(crate) fn runs(&self) -> (usize, usize) {
        let all = self.compiled.lock().unwrap_or_else(PoisonError::into_inner);
        let steps = all.iter().flat_map(|(_, compiled)| &compiled.steps);
        steps.fold((0, 0), |(runs, executed), step| match step.op {
            Op::Run(run) => (runs + 1, executed + run.executed as usize),
            _ => (runs, executed),
        })
    }

    /// Whether a translation pays, after this much of the running launch.
    pub(crate) fn is_hot(&self, executed: u64) -> bool {
        self.executed.load(Ordering::Relaxed) + executed >= HOT
    }

    /// The translation of steps: `variant` tells them from the kernel's others.
    pub(crate) fn compiled(&self, kernel: &Kernel, steps: &[Step], variant: usize, file: &File) -> Arc<Compiled> {
        let key = (variant, file.warps);
        let mut all = self.compiled.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some((_, found)) = all.iter().find(|(other, _)| *other == key) {
            return Arc::clone(found);
        }
        let compiled = Arc::new(compile(kernel, steps, file));
        all.push((key, Arc::clone(&compiled)));
        compiled
    }
}

/// Whether kernels for this level can be translated on this machine.
pub(crate) fn serves(level: Level) -> bool {
    level == Level::Avx512
}

/// Steps that follow one another and can be one function.
#[derive(Debug)]
struct Found {
    start: usize,
    /// The step after it.
    end: usize,
}

impl Found {
    /// All runs of at least two instructions.
    fn all(kernel: &Kernel, steps: &[Step]) -> Vec<Found> {
        let mut found = Vec::new();
        let mut at = 0;
        while at < steps.len() {
            // Not what a skip would jump over at the start.
            if let Op::Skip { steps, .. } = &steps[at].op {
                at += *steps as usize;
                continue;
            }
            let (start, mut computes, mut end) = (at, 0, at);
            while at < steps.len() && at - start < MAX_RUN && steps[at].guard.is_none() {
                match &steps[at].op {
                    Op::Compute { known, operands, .. } if emit::can_write(kernel, *known, operands) => {
                        computes += 1;
                        at += 1;
                        end = at;
                    }
                    // What samples have computed counts all the same.
                    Op::Skip { steps, .. } => at += *steps as usize,
                    _ => break,
                }
            }
            if computes > 1 {
                found.push(Found { start, end });
            }
            at = at.max(start + 1);
        }
        found
    }
}

/// Steps with a run in place of the first step of each.
fn compile(kernel: &Kernel, steps: &[Step], file: &File) -> Compiled {
    let mut compiled = Compiled { steps: steps.to_vec(), code: None };
    if steps.len() > MAX_STEPS {
        return compiled;
    }
    let found = Found::all(kernel, steps);
    if found.is_empty() {
        return compiled;
    }
    let live = Live::new(steps, &kernel.functions);
    let mut writer = Writer::new(kernel, file);
    let mut runs = Vec::new();
    for found in found {
        let entries = [false, true].map(|masked| writer.function(steps, &found, &live, masked));
        if let [Some(all), Some(some)] = entries {
            runs.push((found, all, some));
        }
    }
    let Some(code) = Executable::new(writer.code()) else { return compiled };
    for (found, all, some) in runs {
        let range = &steps[found.start..found.end];
        let mut counts = 0;
        let mut at = 0;
        let mut executed = 0;
        while at < range.len() {
            counts += u32::from(range[at].counts);
            executed += 1;
            match range[at].op {
                Op::Skip { steps, counts: skipped } => {
                    counts += skipped;
                    at += steps as usize;
                }
                _ => at += 1,
            }
        }
        let first = &mut compiled.steps[found.start];
        let own = u32::from(first.counts);
        // SAFETY: the writer put functions there, of this type.
        let [all, some] = unsafe { [all, some].map(|at| code.function(at)) };
        first.op = Op::Run(Run { all, some, steps: range.len() as u32, counts: counts - own, executed });
    }
    compiled.code = Some(code);
    compiled
}
