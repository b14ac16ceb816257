//! How the registers of a loop change from one round to the next, as far as sums and products tell.

use std::collections::HashMap;
use std::ops::Range;

use crate::code::{Kernel, Linear, Op, Step};
use crate::column::{Slot, Width};
use crate::jit::each;
use crate::jit::emit::immediate;

/// How a value changes from one round of a loop to the next.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Advance {
    /// By a number; not at all, if that is zero.
    By(i64),
    /// By something that is the same in each round.
    Unknown,
    /// It depends on what was read, or on more than sums and products.
    Anyhow,
}

impl Advance {
    fn plus(self, other: Advance) -> Advance {
        match (self, other) {
            (Advance::Anyhow, _) | (_, Advance::Anyhow) => Advance::Anyhow,
            (Advance::By(a), Advance::By(b)) => Advance::By(a.wrapping_add(b)),
            _ => Advance::Unknown,
        }
    }
}

/// How the registers of a region change.
pub(super) struct Advances<'k> {
    kernel: &'k Kernel,
    /// Those that are written.
    slots: HashMap<Slot, Advance>,
}

impl Advances<'_> {
    /// First, each register that the range writes is one that nothing is known of; then what a register has added to itself, at one place, is
    /// known, and last what follows from these.
    pub(super) fn of<'k>(kernel: &'k Kernel, steps: &[Step], range: Range<usize>) -> Advances<'k> {
        let mut times: HashMap<Slot, u32> = HashMap::new();
        each(steps, range.clone(), |_, step| {
            step.op.results().into_iter().for_each(|(slot, _)| *times.entry(slot).or_default() += 1);
        });
        let slots = times.keys().map(|slot| (*slot, Advance::Anyhow)).collect();
        let mut advances = Advances { kernel, slots };
        let once = |slot: Slot| times.get(&slot) == Some(&1);
        each(steps, range.clone(), |_, step| {
            let Op::Compute { linear: Linear::Sum, operands, .. } = &step.op else { return };
            let [a, b, ..] = operands.sources;
            let d = operands.results[0];
            let by = if a == d { b } else { a };
            if (a == d || b == d) && once(d) && advances.of_slot(by) == Advance::By(0) {
                let width = d.register_width().unwrap_or(Width::Word);
                let advance = advances.immediate(by, width).map_or(Advance::Unknown, Advance::By);
                advances.slots.insert(d, advance);
            }
        });
        // Each pass carries what is known over at least one step.
        for _ in 0..4 {
            each(steps, range.clone(), |_, step| {
                let Op::Compute { linear, operands, .. } = &step.op else { return };
                let d = operands.results[0];
                if advances.of_slot(d) == Advance::Anyhow && once(d) {
                    let advance = advances.result(*linear, operands.sources);
                    advances.slots.insert(d, advance);
                }
            });
        }
        advances
    }

    pub(super) fn of_slot(&self, slot: Slot) -> Advance {
        self.slots.get(&slot).copied().unwrap_or(Advance::By(0))
    }

    fn immediate(&self, slot: Slot, width: Width) -> Option<i64> {
        let low = immediate(self.kernel, slot)?;
        let bytes = self.kernel.constants.get(slot.offset() as usize..)?;
        match width {
            Width::Double => Some(i64::from_le_bytes(*bytes.first_chunk()?)),
            _ => Some(i64::from(low as i32)),
        }
    }

    fn result(&self, linear: Linear, sources: [Slot; 4]) -> Advance {
        let [a, b, c, _] = sources.map(|slot| self.of_slot(slot));
        let scaled = |value: Advance, factor: Slot, width| match (value, self.immediate(factor, width)) {
            (Advance::By(0), _) => Advance::By(0),
            (Advance::By(by), Some(factor)) => Advance::By(by.wrapping_mul(factor)),
            (Advance::Anyhow, _) => Advance::Anyhow,
            _ => Advance::Unknown,
        };
        let product = |width| match (a, b) {
            (_, Advance::By(0)) => scaled(a, sources[1], width),
            (Advance::By(0), _) => scaled(b, sources[0], width),
            _ => Advance::Anyhow,
        };
        match linear {
            Linear::No | Linear::Order { .. } => Advance::Anyhow,
            Linear::Sum => a.plus(b),
            Linear::Difference => match b {
                Advance::By(by) => a.plus(Advance::By(by.wrapping_neg())),
                other => a.plus(other),
            },
            Linear::Product(width) => product(width).plus(c),
            Linear::WideProduct { .. } => product(Width::Word).plus(c),
            Linear::Shift => match (a, self.immediate(sources[1], Width::Word)) {
                (Advance::By(by), Some(shift @ 0..32)) => Advance::By(by.wrapping_shl(shift as u32)),
                (Advance::By(0), _) => Advance::By(0),
                (Advance::Anyhow, _) => Advance::Anyhow,
                _ => Advance::Unknown,
            },
            Linear::Extension | Linear::Low => a,
        }
    }
}
