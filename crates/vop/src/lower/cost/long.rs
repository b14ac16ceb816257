//! Long words: a register pair, of which each half is computed if it is needed.
//!
//! Before sm_120 most instructions on long words are two on words, and halves that are known zeros cost nothing. sm_120 has
//! sums, minima and comparisons of long words, which take pairs: there a zero must be put into the upper register.

use alloc::vec::Vec;

use super::{Code, Op, Value};
use crate::isa::types::Type;

/// Which halves of a result are needed.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) struct Halves {
    pub(super) low: bool,
    pub(super) high: bool,
}

/// Which halves of each step are needed; nothing of those that give words.
pub(super) fn needed(steps: &[(Op, Vec<Value>)], uses: &[u32], pairs: bool) -> Vec<Halves> {
    const LOW: Halves = Halves { low: true, high: false };
    const HIGH: Halves = Halves { low: false, high: true };
    const BOTH: Halves = Halves { low: true, high: true };
    let mut needed = alloc::vec![Halves::default(); steps.len()];
    for number in (0..steps.len()).rev().filter(|&number| uses[number] > 0) {
        let (op, operands) = &steps[number];
        let own = needed[number];
        let amount = match operands.get(1) {
            Some(Value::Word(amount)) => Some(*amount),
            _ => None,
        };
        let reads = match op {
            Op::Low => LOW,
            Op::High => HIGH,
            Op::SelpLong => own,
            Op::AddLong | Op::SubLong if pairs => BOTH,
            Op::AddLong | Op::SubLong | Op::MulLong => Halves { low: true, high: own.high },
            Op::ShlLong if amount.is_some_and(|amount| amount >= 32) => LOW,
            Op::ShlLong => Halves { low: true, high: own.high },
            Op::ShrLong(_) if amount.is_some_and(|amount| amount >= 32) => HIGH,
            Op::ShrLong(_) => Halves { low: own.low, high: true },
            _ => BOTH,
        };
        for read in operands.iter().filter_map(|value| value.as_step()) {
            needed[read].low |= reads.low;
            needed[read].high |= reads.high;
        }
    }
    needed
}

impl Code {
    /// Whether the value is a word with zeros above.
    fn is_zero_extended(&self, value: Value) -> bool {
        value.as_step().is_some_and(|number| self.steps[number].0 == Op::Extend(Type::U32))
    }

    fn needs_upper(&self, value: Value) -> bool {
        match value {
            Value::Long(constant) => i32::try_from(constant as i64).is_err(),
            value => self.is_zero_extended(value),
        }
    }

    /// A long product and a sum are one: IMAD.WIDE. It may be negated no more than the product of words may.
    pub(super) fn long_product_sum(&mut self, number: usize) {
        let operands = match &self.steps[number] {
            (Op::AddLong, operands) => operands.clone(),
            (Op::SubLong, operands) => Vec::from([operands[0]]),
            _ => return,
        };
        for value in operands {
            if let Some((inner, Op::MulWide(_))) = self.only(value) {
                self.fuse(inner, number);
                return;
            }
        }
    }

    /// A sum of three long words is as many instructions as one of two: IADD3 has two carries.
    pub(super) fn long_three_way_sum(&mut self, number: usize) {
        let (Op::AddLong | Op::SubLong, operands) = &self.steps[number] else { return };
        if self.machine.is_120 || self.is_fused(number) {
            return;
        }
        for value in operands.clone() {
            if let Some((inner, Op::AddLong | Op::SubLong)) = self.only(value)
                && !self.is_fused(inner)
            {
                self.fuse(inner, number);
                return;
            }
        }
    }

    /// The upper half of a sum extends one of its words by the sign as it reads it: LEA.HI.X.SX32.
    pub(super) fn sign_in_sum(&mut self, number: usize) {
        let operands = match &self.steps[number] {
            (Op::AddLong, operands) => operands.clone(),
            // It may not be negated.
            (Op::SubLong, operands) => Vec::from([operands[0]]),
            _ => return,
        };
        if self.machine.is_120 || self.is_fused(number) {
            return;
        }
        for value in operands {
            if let Some((inner, Op::Extend(Type::S32))) = self.only(value) {
                self.fuse(inner, number);
                return;
            }
        }
    }

    /// What a step on long words costs.
    pub(super) fn long(&self, number: usize) -> u32 {
        let (op, operands) = &self.steps[number];
        let Halves { low, high } = self.needed[number];
        let halves = u32::from(low) + u32::from(high);
        let amount = match operands.get(1) {
            Some(Value::Word(amount)) => Some(*amount),
            _ => None,
        };
        let pairs = self.machine.is_120;
        // Upper halves that must stand in registers: zeros, and those of constants that are not a word extended by its sign.
        let uppers = || {
            let mut extended: Vec<Value> =
                self.inputs[number].iter().copied().filter(|&value| self.needs_upper(value)).collect();
            extended.sort_unstable();
            extended.dedup();
            extended.len() as u32
        };
        match op {
            Op::Low | Op::High | Op::Join | Op::Extend(Type::U32) => 0,
            Op::Extend(Type::S32) => u32::from(high),
            Op::MulWide(_) => 1,
            Op::AddLong | Op::SubLong if !high => 1,
            Op::AddLong | Op::SubLong if self.has_product(number) => 1 + uppers(),
            Op::AddLong | Op::SubLong | Op::MinLong(_) | Op::MaxLong(_) if pairs => 1 + uppers(),
            Op::SetpLong(..) if pairs => 1 + uppers(),
            Op::AddLong | Op::SubLong | Op::SetpLong(..) => 2,
            Op::MinLong(_) | Op::MaxLong(_) => 2 + halves,
            Op::SelpLong => halves,
            // All but the products of lower halves are summed into the upper half.
            Op::MulLong => {
                let crosses = operands.iter().filter(|&&value| !self.is_zero_extended(value)).count() as u32;
                1 + if high && crosses > 0 { crosses + 1 } else { 0 }
            }
            Op::ShlLong => match amount {
                Some(0) => 0,
                Some(32) => 0,
                Some(33..) => u32::from(high),
                _ => halves,
            },
            Op::ShrLong(ty) => {
                let sign = u32::from(high && ty.is_signed());
                match amount {
                    Some(0) => 0,
                    Some(32) => sign,
                    Some(33..) => u32::from(low) + sign,
                    _ => halves,
                }
            }
            _ => 1,
        }
    }

    /// Whether a long product has become a part of the step.
    fn has_product(&self, number: usize) -> bool {
        self.steps[number]
            .1
            .iter()
            .filter_map(|value| value.as_step())
            .any(|inner| matches!(self.steps[inner].0, Op::MulWide(_)) && self.fused[inner])
    }
}
