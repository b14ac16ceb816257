//! Which registers are read later: what a run of steps must leave in their columns.

use std::collections::HashMap;

use crate::code::{FunctionCode, Op, Role, Step};
use crate::column::Slot;

/// Passes over the steps.
const MAX_PASSES: usize = 32;
/// Words of all rows together: 16 MiB.
const MAX_WORDS: usize = 1 << 21;

/// For each step, the registers that may be read at it or after it before they are written.
#[derive(Debug)]
pub(super) struct Live {
    numbers: HashMap<Slot, usize>,
    /// Words of a row, which has a bit for each register.
    width: usize,
    rows: Vec<u64>,
}

/// The steps that may be executed after a step.
fn next(steps: &[Step], at: usize, see: &mut dyn FnMut(usize)) {
    let step = &steps[at];
    match &step.op {
        Op::Branch(target) => see(*target as usize),
        Op::BranchIndexed { targets, .. } => targets.iter().for_each(|target| see(*target as usize)),
        Op::Skip { steps, .. } => return see(at + *steps as usize),
        _ => {}
    }
    if step.guard.is_some() || step.op.falls_through() {
        see(at + 1);
    }
}

impl Live {
    /// Of all steps of a kernel. With several functions, everything may be read after a call and after a return. `None` if the kernel is too
    /// large.
    pub(super) fn new(steps: &[Step], functions: &[FunctionCode]) -> Option<Live> {
        let mut numbers = HashMap::new();
        let mut uses = Vec::with_capacity(steps.len());
        let mut gives = Vec::with_capacity(steps.len());
        for step in steps {
            let (mut used, mut given) = (Vec::new(), Vec::new());
            let mut see = |slot: Slot, role| {
                if slot.register_width().is_some() {
                    let count = numbers.len();
                    let number = *numbers.entry(slot).or_insert(count);
                    if role == Role::Source { used.push(number) } else { given.push(number) }
                }
            };
            if let Some(guard) = step.guard {
                see(guard.slot, Role::Source);
            }
            step.op.clone().slots(&mut |slot, role| see(*slot, role));
            // Threads that do not take the step keep what they had.
            if step.guard.is_some() {
                given.clear();
            }
            uses.push(used);
            gives.push(given);
        }
        let width = numbers.len().div_ceil(64).max(1);
        if steps.len() * width > MAX_WORDS {
            return None;
        }
        let mut live = Live { numbers, width, rows: vec![0; (steps.len() + 1) * width] };
        let several = functions.len() > 1;
        let mut row = vec![0u64; width];
        let mut changed = true;
        for pass in 0.. {
            if !changed {
                break;
            }
            // A kernel that is laid out against its flow takes a pass for each jump. To take everything for live is right as well.
            if pass == MAX_PASSES {
                live.rows.fill(u64::MAX);
                break;
            }
            changed = false;
            for at in (0..steps.len()).rev() {
                let leaves = matches!(steps[at].op, Op::Call(_) | Op::Return | Op::System(_));
                row.fill(if several && leaves { u64::MAX } else { 0 });
                next(steps, at, &mut |to| {
                    let to = to.min(steps.len());
                    for (word, other) in row.iter_mut().zip(&live.rows[to * width..(to + 1) * width]) {
                        *word |= other;
                    }
                });
                for number in &gives[at] {
                    row[number / 64] &= !(1 << (number % 64));
                }
                for number in &uses[at] {
                    row[number / 64] |= 1 << (number % 64);
                }
                let old = &mut live.rows[at * width..(at + 1) * width];
                if *old != *row {
                    old.copy_from_slice(&row);
                    changed = true;
                }
            }
        }
        Some(live)
    }

    /// Whether a register may be read at a step or after it.
    pub(super) fn at(&self, step: usize, slot: Slot) -> bool {
        self.numbers.get(&slot).is_some_and(|number| {
            let word = self.rows[step * self.width + number / 64];
            word >> (number % 64) & 1 != 0
        })
    }
}
