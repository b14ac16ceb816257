//! Which results an operation can have.
//!
//! Every operation except the absolute difference grows or falls with each of its inputs while the other stays. An input is a
//! sum of its bits, in which the sign bit counts negative. So the ends of the interval follow from the ends of the
//! inputs; where two operands are one register or both selectors pick the same bits, from the bits that they share.

use crate::eval::{Exact, Selected};
use crate::isa::form::{Finish, Form, Variant};
use crate::isa::range::Range;
use crate::isa::types::{Operation, Secondary};
use crate::semantics::Deviations;

/// What is known of an operand's value.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum OperandValue {
    /// Nothing: a register of its own.
    Free,
    /// All: an immediate.
    Known(u32),
    /// That of an operand before it (0 is a, 1 is b, others are ignored), plus a constant: the same register.
    SameAs {
        /// The other operand.
        operand: usize,
        /// What is added.
        plus: u32,
    },
}

/// The values from one to another, both included.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Interval {
    /// The least.
    pub min: Exact,
    /// The greatest.
    pub max: Exact,
}

impl Interval {
    fn of(values: impl IntoIterator<Item = Exact>) -> Interval {
        values
            .into_iter()
            .map(|value| Interval { min: value, max: value })
            .reduce(Interval::and)
            .unwrap_or(Interval { min: 0, max: 0 })
    }

    /// The least interval that holds both.
    fn and(self, other: Interval) -> Interval {
        Interval { min: self.min.min(other.min), max: self.max.max(other.max) }
    }

    fn ends(self) -> [Exact; 2] {
        [self.min, self.max]
    }

    /// Whether a value is in it.
    pub const fn contains(self, value: Exact) -> bool {
        self.min <= value && value <= self.max
    }

    /// Whether all of another interval is in it.
    pub const fn holds(self, other: Interval) -> bool {
        self.min <= other.min && other.max <= self.max
    }
}

impl From<Range> for Interval {
    fn from(range: Range) -> Interval {
        Interval { min: range.min().into(), max: range.max().into() }
    }
}

/// `0…255`, or the one value.
impl core::fmt::Display for Interval {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        write!(f, "{}", self.min)?;
        if self.max > self.min { write!(f, "…{}", self.max) } else { Ok(()) }
    }
}

impl Form {
    /// The least and the greatest value that the manual's pseudo code can have before saturation, in the lanes that count;
    /// `sources` says what is known of a, b and c, see
    /// [`Instruction::operand_values`](crate::Instruction::operand_values).
    ///
    /// Both ends are reached by some inputs, with one exception: where operands of a shift or of `vmad` are one register,
    /// they are bounds, as if it were several.
    ///
    /// ```
    /// use vop::interval::OperandValue;
    /// let form: vop::Form = "vsub4.s32.u32.u32.sat d, a, b, c".parse().unwrap();
    /// assert_eq!(form.result_range([OperandValue::Free; 3]).to_string(), "-255…255");
    /// ```
    pub fn result_range(self, sources: [OperandValue; 3]) -> Interval {
        // The inputs' places do not depend on their values.
        let lanes = self.explain(0, 0, 0).lanes;
        let counted = lanes.iter().enumerate().filter(|&(i, _)| self.mask().is_none_or(|mask| mask.has(i)));
        let ranges = counted.map(|(_, lane)| self.lane_range(Inputs { of_lane: lane.inputs, sources }));
        ranges.reduce(Interval::and).unwrap_or(Interval { min: 0, max: 0 })
    }

    /// Whether `.sat` changes the result for some inputs; not where there is none.
    ///
    /// As exact as [`result_range`](Form::result_range).
    pub fn can_saturate(self, sources: [OperandValue; 3]) -> bool {
        let (Some(clamp), results) = (self.saturation().map(Interval::from), self.result_range(sources)) else {
            return false;
        };
        // No c is less than the least value that is clamped to, so the greater of c and what lies below is c, clamped or
        // not; of `.min` and what lies above the same holds.
        match self.finish() {
            Finish::Secondary(Secondary::Max) => results.max > clamp.max,
            Finish::Secondary(Secondary::Min) => results.min < clamp.min,
            _ => !clamp.holds(results),
        }
    }

    /// The values of the first lane's two inputs.
    pub(crate) fn input_ranges(self, sources: [OperandValue; 3]) -> [Interval; 2] {
        let lane = self.explain(0, 0, 0).lanes.into_iter().next();
        lane.map_or([Interval { min: 0, max: 0 }; 2], |lane| {
            let inputs = Inputs { of_lane: lane.inputs, sources };
            [inputs.sum([1, 0]), inputs.sum([0, 1])]
        })
    }

    fn lane_range(self, inputs: Inputs) -> Interval {
        let by = Deviations::NONE;
        let operation = self.mnemonic().operation();
        let operate = |a: Exact, b: Exact| self.operate_exactly(by, a as i64, b as i64);
        let (a, b) = (inputs.sum([1, 0]), inputs.sum([0, 1]));
        let corners = || a.ends().into_iter().flat_map(move |a| b.ends().map(move |b| (a, b)));
        match (operation, self.variant()) {
            (Operation::Add, _) => inputs.sum([1, 1]),
            (Operation::Avrg, _) => Interval::of(inputs.sum([1, 1]).ends().map(|sum| operate(sum, 0))),
            (Operation::Sub, _) => inputs.sum([1, -1]),
            // A difference that can have both signs can be 0 as well: inputs without a bit in common have all values
            // between their ends, and of one register all bits can be 0.
            (Operation::Absdiff | Operation::Set, _) => {
                let difference = inputs.sum([1, -1]);
                let zero = difference.contains(0).then_some(0);
                Interval::of(difference.ends().into_iter().chain(zero).map(|difference| operate(difference, 0)))
            }
            (Operation::Min | Operation::Max, _) if inputs.overlap() => {
                Interval::of(corner_words().map(|word| inputs.values(word)).map(|[a, b]| operate(a, b)))
            }
            (Operation::Mad, Variant::Mad(mode, scale)) => {
                let known = match inputs.sources[2] {
                    OperandValue::Known(c) => [c; 4],
                    OperandValue::Free | OperandValue::SameAs { .. } => [0, 0x7fff_ffff, 0x8000_0000, u32::MAX],
                };
                let addends = known.map(|c| self.mad_addend(by, c));
                Interval::of(corners().flat_map(|(a, b)| addends.map(|c| self.mad(by, a, b, c, mode, scale))))
            }
            // Those that grow or fall with each input. A new operation must be looked at, so none is left to a wildcard.
            (Operation::Min | Operation::Max | Operation::Shl | Operation::Shr | Operation::Mad, _) => {
                Interval::of(corners().map(|(a, b)| operate(a, b)))
            }
        }
    }
}

/// A lane's two inputs, and what is known of the registers that they come from.
#[derive(Clone, Copy)]
struct Inputs {
    of_lane: [Selected; 2],
    sources: [OperandValue; 3],
}

impl Inputs {
    /// The register that an input comes from, 0 for a and 1 for b; its value if that is known.
    fn source(self, input: Selected) -> Result<usize, u32> {
        let operand = usize::from(input.from_b);
        match self.sources[operand] {
            OperandValue::Free => Ok(operand),
            OperandValue::Known(value) => Err(value),
            // Nothing is added but to c.
            OperandValue::SameAs { operand, .. } => Ok(operand.min(1)),
        }
    }

    /// The values of the sum of both inputs, each times a factor: where a bit counts is where it counts for both.
    fn sum(self, factors: [Exact; 2]) -> Interval {
        let mut weights = [[0; 32]; 2];
        let mut constant = 0;
        for (input, factor) in self.of_lane.into_iter().zip(factors) {
            match self.source(input) {
                Ok(register) => {
                    for bit in 0..input.bits {
                        let sign = input.ty.is_signed() && bit + 1 == input.bits;
                        let weight = factor * if sign { -(1 << bit) } else { 1 << bit };
                        weights[register][(input.shift + bit) as usize & 31] += weight;
                    }
                }
                Err(value) => constant += factor * value_in(input, value),
            }
        }
        let weights = weights.as_flattened();
        Interval {
            min: constant + weights.iter().map(|&weight| weight.min(0)).sum::<Exact>(),
            max: constant + weights.iter().map(|&weight| weight.max(0)).sum::<Exact>(),
        }
    }

    /// Whether some bit of a register counts in both inputs.
    fn overlap(self) -> bool {
        let [a, b] = self.of_lane;
        let same = matches!((self.source(a), self.source(b)), (Ok(a), Ok(b)) if a == b);
        same && a.shift < b.shift + b.bits && b.shift < a.shift + a.bits
    }

    /// Both values where the one register that they come from has this one.
    fn values(self, word: u32) -> [Exact; 2] {
        self.of_lane.map(|input| value_in(input, word))
    }
}

/// The value that an input takes from a register.
fn value_in(input: Selected, word: u32) -> Exact {
    Range { signed: input.ty.is_signed(), bits: input.bits }.value_of(word >> input.shift).into()
}

/// Words that give two parts of them their least and greatest values at once: all bits 0 or all 1, except those that may
/// be a sign.
fn corner_words() -> impl Iterator<Item = u32> {
    (0..32u32).map(|choice| {
        let signs = (choice & 1) << 7 | (choice & 2) << 14 | (choice & 4) << 21 | (choice & 8) << 28;
        if choice < 16 { signs } else { !signs }
    })
}
