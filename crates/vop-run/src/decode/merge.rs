//! Steps for several blocks at once.
//!
//! A block of few threads takes most of its time to start, to end, and to come from one step to the next. Where blocks have nothing to do with
//! one another but memory, a core runs some of them as if they were one block: each thread has its own `%ctaid`, and all else is as before. That
//! is so where a kernel has no shared memory and no barrier, and no step at which threads of a warp or of a block wait for others. Atomics and
//! ordered accesses stay as they are: in a launch of one core their results follow the order of blocks.
//!
//! Here is also which kernels keep their blocks apart, which is less: what one block writes no other one can know of.
//!
//! A loop ends when the last of the threads ends it that run together, so kernels stay alone whose loops depend on what was loaded or on
//! floats, unless these become functions that few threads at a time execute. What remains are mostly loops that all threads leave together.

use super::sample;
use crate::code::{Access, Entry, Kernel, Linear, Merged, Op, OrderSemantics, Role, Step};
use crate::column::{Area, MAX_LANES, Slot, Width};
use crate::jit::known::Known;
use crate::jit::{self, each};
use crate::memory::Space;
use crate::special::Special;

/// Bytes of the stack of a thread at which blocks stay alone: more would leave the caches.
const MAX_STACK: u32 = 1 << 10;
/// Bytes that the registers of all threads may take which run at once; in kernels with loops, which come back to them.
const MAX_REGISTERS: u32 = 1 << 19;
const MAX_LOOPED: u32 = 1 << 17;

impl Kernel {
    /// The steps that several blocks execute as one, where blocks are as for [`Kernel::sampled`]. `None` if blocks must stay alone.
    pub(crate) fn merged(&self, lines: bool) -> Option<&Merged> {
        self.merged[usize::from(lines)].get_or_init(|| merge(self, lines)).as_ref()
    }

    /// Whether no thread of another block can know of a write before the launch ends: nothing orders the accesses of several blocks, and none
    /// waits for another one. (Weak loads wait for nothing.)
    pub(crate) fn keeps_apart(&self) -> bool {
        let weak = |access: &Access| access.order.semantics == OrderSemantics::Weak;
        let keeps_apart = |step: &Step| match &step.op {
            Op::Load(load) => weak(&load.access),
            Op::Store(store) => weak(&store.access),
            Op::Atomic(atomic) => atomic.access.space == Space::Shared,
            Op::Poll(Some(access)) => access.space == Space::Shared,
            // Those of a block, which one core runs.
            Op::Barrier(_) | Op::Warp(_) | Op::BranchIndexed { .. } => true,
            _ => stays_same(step),
        };
        *self.apart.get_or_init(|| self.steps.iter().all(keeps_apart))
    }
}

/// Whether a step does the same in blocks that are run as one.
fn stays_same(step: &Step) -> bool {
    let weak = |access: &Access| access.order.semantics == OrderSemantics::Weak && access.space != Space::Shared;
    match &step.op {
        Op::Load(load) => weak(&load.access),
        Op::Store(store) => weak(&store.access),
        Op::Compute { .. }
        | Op::ComputeEither(_)
        | Op::Video(_)
        | Op::Divisor(..)
        | Op::Join
        | Op::Branch(_)
        | Op::StackAddress { .. }
        | Op::Return
        | Op::Exit
        | Op::Nothing
        | Op::Trap(_) => true,
        _ => false,
    }
}

fn merge(kernel: &Kernel, lines: bool) -> Option<Merged> {
    let [function] = &kernel.functions[..] else { return None };
    let entry = kernel.entry.as_deref()?;
    if function.stack > MAX_STACK || !kernel.steps.iter().all(stays_same) {
        return None;
    }
    let loops = has_loops(&kernel.steps);
    let as_functions = || jit::serves(kernel.level) && jit::all_loops_are_regions(kernel);
    if loops && !branches_are_counted(entry) && !as_functions() {
        return None;
    }
    let registers = if loops { MAX_LOOPED } else { MAX_REGISTERS } / function.registers.iter().sum::<u32>().max(1);
    let lanes = (registers as usize).min(MAX_LANES);
    let mut merged = Merged { thread_bytes: kernel.thread_bytes, lanes, ..Merged::default() };
    let mut places = Vec::new();
    for &(special, slot, width) in &kernel.specials {
        let Special::Ctaid(axis) = special else { continue };
        // Special registers of threads are words.
        if width != Width::Word {
            return None;
        }
        let new = Slot::new(Area::Thread, merged.thread_bytes);
        merged.thread_bytes += Width::Word.bytes();
        merged.ctaids.push((axis, new));
        places.push((slot, new));
    }
    let moved = |steps: &[Step]| {
        let mut steps = steps.to_vec();
        for step in &mut steps {
            step.op.slots(&mut |slot, _| {
                if let Some((_, new)) = places.iter().find(|(old, _)| old == slot) {
                    *slot = *new;
                }
            });
        }
        steps
    };
    merged.steps = moved(&kernel.steps);
    let entry = Entry { steps: moved(&entry.steps), ..entry.clone() };
    let ctaids: Vec<Slot> = places.iter().map(|(_, new)| *new).collect();
    merged.sampled = sample::find(kernel, &entry, &merged.steps, &ctaids, lines);
    if let Some(sampled) = &merged.sampled {
        each(&sampled.steps, 0..sampled.steps.len(), |_, step| {
            step.op.clone().slots(&mut |slot, _| merged.needs_ctaids |= ctaids.contains(slot));
        });
    }
    Some(merged)
}

fn has_loops(steps: &[Step]) -> bool {
    steps.iter().enumerate().any(|(at, step)| matches!(step.op, Op::Branch(target) if target as usize <= at))
}

/// Whether all branches depend on nothing but parameters, indexes, and sums, products and comparisons of them.
fn branches_are_counted(entry: &Entry) -> bool {
    let number = |slot: Slot| entry.numbers.of(slot);
    let mut other = vec![false; entry.numbers.total()];
    let mut changed = true;
    while std::mem::take(&mut changed) {
        for step in &entry.steps {
            let known = match &step.op {
                Op::Compute { linear, known, .. } => {
                    *linear != Linear::No
                        || known.is_of_predicates()
                        || matches!(known, Known::Compare(_, what) if !what.is_float())
                }
                Op::Load(load) => load.access.space == Space::Param,
                _ => false,
            };
            let (mut mixed, mut results) = (!known, Vec::new());
            step.op.clone().slots(&mut |slot, role| match (number(*slot), role) {
                (Some(number), Role::Source) => mixed |= other[number],
                (Some(number), Role::Result) => results.push(number),
                _ => {}
            });
            // A guarded step keeps what was there.
            mixed |= step.guard.and_then(|guard| number(guard.slot)).is_some_and(|number| other[number]);
            for number in results.into_iter().filter(|_| mixed) {
                changed |= !std::mem::replace(&mut other[number], true);
            }
        }
    }
    let guards = entry.steps.iter().filter(|step| matches!(step.op, Op::Branch(_) | Op::Return | Op::Exit));
    !guards.filter_map(|step| number(step.guard?.slot)).any(|number| other[number])
}

#[cfg(test)]
mod tests {
    use crate::Program;

    #[test]
    fn blocks_that_may_learn_of_a_write_do_not_keep_apart() {
        let keeps_apart = |body: &str| {
            let text = format!(
                ".version 8.0\n.target sm_80\n.address_size 64\n.entry k(.param .u64 p) {{ .reg .b64 %a; .reg .b32 %w<4>; .reg .pred %q;
                 .shared .b32 s; ld.param.u64 %a, [p]; {body} ret; }}"
            );
            Program::read(&text).kernel("k").expect("it is legal").keeps_apart()
        };
        for body in [
            "st.global.u32 [%a], 1;",
            "ld.u32 %w0, [%a]; st.shared.u32 [s], %w0; bar.sync 0; st.global.u32 [%a+4], %w0;",
            "atom.shared.add.u32 %w0, [s], 1;",
            "shfl.sync.idx.b32 %w1, %w0, 0, 31, -1; st.u32 [%a], %w1;",
        ] {
            assert!(keeps_apart(body), "{body}");
        }
        for body in [
            "st.global.u32 [%a], 1; membar.gl;",
            "st.volatile.global.u32 [%a], 1;",
            "ld.acquire.gpu.global.u32 %w0, [%a];",
            "atom.global.add.u32 %w0, [%a], 1;",
            "red.add.u32 [%a], 1;",
            "L: ld.relaxed.gpu.global.u32 %w0, [%a]; setp.eq.u32 %q, %w0, 0; @%q bra L;",
        ] {
            assert!(!keeps_apart(body), "{body}");
        }
    }
}
