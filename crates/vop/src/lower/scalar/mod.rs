//! Rules for scalar forms.
//!
//! A rule follows the stages of evaluation: it selects, operates, saturates and finishes. What it knows at each stage is
//! an interval that holds the exact value ([`Interval`]); it decides whether a clamp is needed, and by which comparison. The
//! semantics come in as the [`Deviations`] that concern the form, each a condition in its stage as in
//! [`eval`](crate::eval).
//!
//! - [`long`] computes every stage in long words. It applies to every form.
//! - [`word`] does with words where the numbers fit them, or only their lower bits count.
//! - [`saturate`], [`shift`] and [`mad`] find in words, or in the halves of a long one, whether a result that does not fit is
//!   clamped.

mod long;
mod mad;
mod saturate;
mod shift;
mod word;

use alloc::vec::Vec;

use super::LowerOptions;
use super::candidate::{Builder, Candidate, Output, Value, Written, in_place};
use crate::deviation::Deviations;
use crate::eval::Exact;
use crate::interval::Interval;
use crate::isa::form::{Form, Variant};
use crate::isa::range::Range;
use crate::isa::types::{Part, ShiftMode, Type};

/// What the rules write for a form.
pub(super) fn candidates(form: Form, options: LowerOptions) -> Vec<Candidate> {
    let by = options.semantics.deviations().concerning(form);
    let mut candidates = Vec::new();
    let mut write = |name: &'static str, rule: &dyn Fn(&mut Stages) -> Written| {
        let mut stages = Stages { b: Builder::new(form, options.target, in_place(form)), form, by };
        let Ok(output) = rule(&mut stages) else { return false };
        let candidate = stages.b.finish(name, output);
        let known = candidates
            .iter()
            .any(|known: &Candidate| known.steps == candidate.steps && known.output == candidate.output);
        if !known {
            candidates.push(candidate);
        }
        true
    };
    let mut in_words = false;
    for way in 0..word::WAYS {
        in_words |= write("scalar low", &|s| word::low(s, way));
        in_words |= write("scalar word", &|s| word::exact(s, way));
    }
    if in_words {
        return candidates;
    }
    for way in 0..word::WAYS {
        write("scalar mad long", &|s| mad::long(s, way));
    }
    for plan in saturate::plans() {
        write("scalar clamped word", &|s| saturate::stages(s, plan));
        write("scalar mad word", &|s| mad::word(s, plan));
    }
    write("scalar shift clamped before", &shift::clamped_before);
    write("scalar shift limited", &shift::limited);
    write("scalar shift shifted back", &shift::shifted_back);
    write("scalar shift of 34 bits", &shift::low34);
    write("scalar shift compared before", &shift::compared_before);
    write("scalar long", &long::stages);
    candidates
}

/// What a rule writes with, and whose value it writes.
struct Stages {
    b: Builder,
    form: Form,
    by: Deviations,
}

impl Stages {
    /// How the first or second input is read.
    fn input(&self, second: bool) -> Range {
        self.form.input_range(self.by, second)
    }

    /// The values of the first or second input.
    fn interval(&self, second: bool) -> Interval {
        self.input(second).into()
    }

    /// The first or second input as a word, extended by its type.
    fn word(&mut self, second: bool) -> Value {
        self.b.word(second, 0)
    }

    /// How c is read where it is a number.
    fn c(&self) -> Range {
        Range::new(self.form.c_type(self.by).is_signed(), 32)
    }

    /// Whether the secondary operation takes the lower 32 bits alone, as signed.
    fn cuts(&self) -> bool {
        self.form.cuts_to_32_bits(self.by)
    }

    /// The values of the operation's result.
    fn result(&self) -> Interval {
        word::result(self)
    }

    /// Where saturation clamps to.
    fn clamps_to(&self) -> Option<Interval> {
        let range = self.form.saturation_by(self.by)?;
        let to = Interval::from(range);
        let by_sign = self.form.saturates_by_sign(self.by);
        Some(if by_sign { Interval { min: 0, max: Exact::MAX } } else { to })
    }

    /// Whether saturation makes negative numbers the greatest.
    fn turns_negative_to_greatest(&self) -> bool {
        self.form.saturates_part_unsigned(self.by)
    }

    /// The shift amount as a word; what it has above 32 the base instructions on words take for 32.
    fn amount(&mut self) -> Value {
        if !self.amounts().1 {
            return self.word(true);
        }
        // Only the lowest byte counts.
        let amount = word::loose(self, true, 1);
        self.b.lop2(|x, y| x & y, amount, Value::Word(31))
    }

    /// The greatest shift amount, and whether amounts are taken modulo 32.
    fn amounts(&self) -> (u32, bool) {
        match self.form.variant() {
            Variant::Shift(ShiftMode::Wrap) => (31, true),
            _ => (32, false),
        }
    }

    /// The end of a form that writes a part of d: the lower bits of a word there, the rest from c.
    fn merged(&mut self, t: Value, part: Part) -> Output {
        // To 13.2 ptxas inserts the upper half.
        let from = if self.form.merges_wrong_half(self.by) { 2 } else { 0 };
        let (first, bytes) = (part.shift() as u8 / 8, part.bits() as u8 / 8);
        let nibbles = core::array::from_fn(|i| match (i as u8).checked_sub(first) {
            Some(byte) if byte < bytes => 4 + from + byte,
            _ => i as u8,
        });
        Output::Value(self.b.prmt(Value::C, t, nibbles))
    }
}

/// A number whose lower 32 bits are a word, and all that it may be.
#[derive(Debug, Clone, Copy)]
struct Word {
    value: Value,
    interval: Interval,
}

/// The type with this sign.
const fn type_of(signed: bool) -> Type {
    if signed { Type::S32 } else { Type::U32 }
}

/// The interval of the sums of two numbers.
fn sum(x: Interval, y: Interval) -> Interval {
    Interval { min: x.min + y.min, max: x.max + y.max }
}

/// The interval of the negated numbers.
fn negated(x: Interval) -> Interval {
    Interval { min: -x.max, max: -x.min }
}

/// The interval of the products.
fn product(x: Interval, y: Interval) -> Interval {
    let corners = [x.min * y.min, x.min * y.max, x.max * y.min, x.max * y.max];
    Interval {
        min: corners.into_iter().fold(Exact::MAX, Exact::min),
        max: corners.into_iter().fold(Exact::MIN, Exact::max),
    }
}

/// The interval of the numbers clamped to another.
fn clamped(x: Interval, to: Interval) -> Interval {
    Interval { min: x.min.clamp(to.min, to.max), max: x.max.clamp(to.min, to.max) }
}

/// The numbers that a signed register of `bits` bits holds.
const fn signed(bits: u32) -> Interval {
    Interval { min: -(1 << (bits - 1)), max: (1 << (bits - 1)) - 1 }
}

/// The numbers that an unsigned register of `bits` bits holds.
const fn unsigned(bits: u32) -> Interval {
    Interval { min: 0, max: (1 << bits) - 1 }
}
