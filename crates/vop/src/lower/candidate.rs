//! [`Candidate`]: a sequence of steps that may stand for a form, and the [`Builder`] with which rules write one.
//!
//! A candidate reads the inputs of its form through [`Step::Pick`] and [`Step::Sum`] alone, which name *positions*: where a SIMD
//! rule works on a register of lanes, position p is the p-th lane of that register. The [placement](Candidate::placement) says
//! which lane of the form each position stands for, and the form's selectors from which bytes of a and b that lane comes.
//! So a candidate is the same for all selectors, and is proved for all of them at once; `resolve.rs` makes base
//! instructions of it.

use alloc::vec::Vec;

use super::base::{Op, PackedOp};
use crate::isa::form::{Finish, Form};
use crate::isa::range::Range;
use crate::isa::types::{Comparison, Shape, Type};
use crate::target::Target;

/// What a step reads.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Value {
    /// Register a, as it is: only where a scalar form takes the whole word.
    A,
    /// Register b, likewise.
    B,
    /// Register c.
    C,
    /// The result of a step, by its number.
    Step(usize),
    /// A constant word.
    Word(u32),
    /// A constant long word.
    Long(u64),
}

/// A byte of a register that is made of the inputs of positions.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Pick {
    /// Byte `byte` of the first or second input of a position, 0 the least significant.
    Byte {
        /// Whether it is the second input.
        second: bool,
        /// The position; 0 in scalar forms.
        position: u8,
        /// Which byte of it.
        byte: u8,
    },
    /// The sign of such a byte, in all bits.
    Sign {
        /// Whether it is the second input.
        second: bool,
        /// The position; 0 in scalar forms.
        position: u8,
        /// Which byte of it.
        byte: u8,
    },
    /// Zero.
    Zero,
    /// Whatever is cheapest.
    Any,
    /// Whatever is cheapest, but the same byte wherever this is picked with the same number.
    Same(u8),
}

/// A step of a candidate.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub enum Step {
    /// A base instruction.
    Base(Op, Vec<Value>),
    /// A word of picked bytes, byte 0 first.
    Pick([Pick; 4]),
    /// `addend` plus the inputs of all positions, each times a weight: `weights[0]` are those of first inputs.
    Sum {
        /// What the sum begins with.
        addend: Value,
        /// For first and second inputs, the weight at each position, -1, 0 or 1.
        weights: [[i8; 4]; 2],
    },
}

/// Where the result of a position is: the lane that begins at a byte of a value.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct BytePlace {
    /// The register.
    pub value: Value,
    /// The least significant byte in it.
    pub byte: u8,
}

/// What a candidate leaves.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub enum Output {
    /// All of d.
    Value(Value),
    /// The results of positions, to be put into the lanes they stand for, the other lanes being c's; `None` at positions that
    /// stand for none.
    Lanes([Option<BytePlace>; 4]),
}

/// A word in the middle of an accumulating candidate whose lanes are known: the proof is cut there.
///
/// At every live position the exact result is `factor · lane + offset`; at the others the lane is zero where
/// `others_are_zero` says so, and anything elsewhere.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Cut {
    /// The word.
    pub value: Value,
    /// Whether its lanes are read signed.
    pub signed: bool,
    /// See above.
    pub factor: i8,
    /// See above.
    pub offset: i32,
    /// See above.
    pub others_are_zero: bool,
}

/// A sequence of steps that computes a form.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct Candidate {
    /// The rule that wrote it.
    pub rule: &'static str,
    /// Its steps; each reads only earlier ones.
    pub steps: Vec<Step>,
    /// What it leaves.
    pub output: Output,
    /// Which lane of the form each position stands for; `None` where a position stands for none. Scalar forms have one lane.
    pub placement: Placement,
    /// Where its proof may be cut.
    pub cut: Option<Cut>,
}

/// Which lane each position stands for.
pub type Placement = [Option<u8>; 4];

/// The placement in which every lane that counts stands in its own position.
pub(super) fn in_place(form: Form) -> Placement {
    core::array::from_fn(|i| {
        let counts = form.mask().map_or(i == 0, |mask| i < form.mnemonic().shape().lanes() && mask.has(i));
        counts.then_some(i as u8)
    })
}

/// Why a rule writes nothing: it does not apply to the form, or not to the target.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct NotApplicable;

/// What a rule returns.
pub(super) type Written = Result<Output, NotApplicable>;

/// Writes the steps of a candidate.
///
/// Equal steps are written once. Every method that writes a step returns the value of its result.
#[derive(Debug, Clone)]
pub struct Builder {
    /// The form.
    pub form: Form,
    /// The target, for rules that would otherwise write what it lacks, or what costs more on it than something else.
    pub target: Target,
    /// Which lane each position stands for.
    pub placement: Placement,
    /// Where the proof may be cut.
    pub cut: Option<Cut>,
    steps: Vec<Step>,
}

impl Builder {
    /// One that has no step.
    pub fn new(form: Form, target: Target, placement: Placement) -> Builder {
        Builder { form, target, placement, cut: None, steps: Vec::new() }
    }

    /// The candidate that a rule's steps make.
    pub fn finish(self, rule: &'static str, output: Output) -> Candidate {
        Candidate { rule, steps: self.steps, output, placement: self.placement, cut: self.cut }.pruned()
    }

    /// The range of a lane of the first or second input.
    pub fn input_range(&self, second: bool) -> Range {
        let ty = if second { self.form.btype() } else { self.form.atype() };
        let selector = if second { self.form.bsel() } else { self.form.asel() };
        let bits = match self.form.mnemonic().shape() {
            Shape::Scalar => selector.place().1,
            shape => shape.bits(),
        };
        Range::new(ty.is_signed(), bits)
    }

    /// The number of lanes of a SIMD form.
    pub fn lanes(&self) -> usize {
        self.form.mnemonic().shape().lanes()
    }

    /// The width of a lane.
    pub fn bits(&self) -> u32 {
        self.form.mnemonic().shape().bits()
    }

    /// The positions that stand for a lane, in ascending order.
    pub fn live(&self) -> Vec<u8> {
        (0..4).filter(|&p| self.placement[usize::from(p)].is_some()).collect()
    }

    /// Whether every position of a SIMD form stands for a lane.
    pub fn is_full(&self) -> bool {
        self.live().len() == self.lanes()
    }

    /// Whether the form accumulates.
    pub fn accumulates(&self) -> bool {
        matches!(self.form.finish(), Finish::Accumulate(_))
    }

    /// Writes a step, or finds the one that is equal.
    pub fn step(&mut self, step: Step) -> Value {
        let known = self.steps.iter().position(|known| *known == step);
        Value::Step(known.unwrap_or_else(|| {
            self.steps.push(step);
            self.steps.len() - 1
        }))
    }

    /// Writes a base instruction.
    pub fn op(&mut self, op: Op, operands: &[Value]) -> Value {
        debug_assert_eq!(operands.len(), op.operands().len(), "{op:?}");
        self.step(Step::Base(op, operands.to_vec()))
    }

    /// A register that holds the inputs of all live positions, each in its own; the bytes between are anything.
    pub fn source(&mut self, second: bool) -> Value {
        self.source_with(second, |_| Pick::Any)
    }

    /// The same with a choice of what stands in the bytes of positions that stand for no lane, by their number in the register.
    pub fn source_with(&mut self, second: bool, other: impl Fn(u8) -> Pick) -> Value {
        let bytes = (self.bits() / 8) as u8;
        let picks = core::array::from_fn(|i| {
            let (position, byte) = (i as u8 / bytes, i as u8 % bytes);
            match self.placement[usize::from(position)] {
                Some(_) => Pick::Byte { second, position, byte },
                None => other(i as u8),
            }
        });
        self.pick(picks)
    }

    /// A register of picked bytes, byte 0 first.
    pub fn pick(&mut self, picks: [Pick; 4]) -> Value {
        self.step(Step::Pick(picks))
    }

    /// The input of one position (0 in scalar forms) as a word, extended by its type.
    pub fn word(&mut self, second: bool, position: u8) -> Value {
        let Range { signed, bits } = self.input_range(second);
        if bits == 32 {
            return if second { Value::B } else { Value::A };
        }
        let bytes = (bits / 8) as u8;
        self.pick(core::array::from_fn(|i| match i as u8 {
            byte if byte < bytes => Pick::Byte { second, position, byte },
            _ if signed => Pick::Sign { second, position, byte: bytes - 1 },
            _ => Pick::Zero,
        }))
    }

    /// Two byte positions (or one twice) as half-words, extended by their type: one of them in the lower, one in the upper half.
    pub fn halves(&mut self, second: bool, [low, high]: [u8; 2]) -> Value {
        let signed = self.input_range(second).signed;
        self.pick(core::array::from_fn(|i| {
            let position = if i < 2 { low } else { high };
            match i % 2 {
                0 => Pick::Byte { second, position, byte: 0 },
                _ if signed => Pick::Sign { second, position, byte: 0 },
                _ => Pick::Zero,
            }
        }))
    }

    /// `addend` plus the weighted inputs of positions.
    pub fn sum(&mut self, addend: Value, weights: [[i8; 4]; 2]) -> Value {
        self.step(Step::Sum { addend, weights })
    }

    /// Any function of three bits in each bit, given as a function of the truth table's columns.
    pub fn lop3(&mut self, function: impl Fn(u8, u8, u8) -> u8, x: Value, y: Value, z: Value) -> Value {
        self.op(Op::Lop3(function(0xf0, 0xcc, 0xaa)), &[x, y, z])
    }

    /// The same of two bits.
    pub fn lop2(&mut self, function: impl Fn(u8, u8) -> u8, x: Value, y: Value) -> Value {
        self.lop3(|x, y, _| function(x, y), x, y, Value::Word(0))
    }

    /// Every bit turned.
    pub fn not(&mut self, x: Value) -> Value {
        self.lop3(|x, _, _| !x, x, Value::Word(0), Value::Word(0))
    }

    /// Bytes of two words, by four numbers, byte 0 first; see [`Op::Prmt`].
    pub fn prmt(&mut self, x: Value, y: Value, bytes: [u8; 4]) -> Value {
        let selector = (0..4).fold(0, |all, i| all | u16::from(bytes[i]) << (4 * i));
        self.op(Op::Prmt(selector), &[x, y])
    }

    /// A packed instruction.
    pub fn packed(&mut self, op: PackedOp, lanes: Range, x: Value, y: Value) -> Value {
        self.op(Op::Packed(op, lanes), &[x, y])
    }

    /// The word, or the other, as a comparison of two words says: two steps.
    pub fn choose(&mut self, comparison: Comparison, ty: Type, [x, y]: [Value; 2], [yes, no]: [Value; 2]) -> Value {
        let holds = self.op(Op::Setp(comparison, ty), &[x, y]);
        self.op(Op::Selp, &[yes, no, holds])
    }

    /// A word with the same pattern in every lane of the form.
    pub fn splat(&self, lane: u32) -> Value {
        let (bits, lanes) = (self.bits(), self.lanes() as u32);
        let lane = if bits == 32 { lane } else { lane & ((1 << bits) - 1) };
        Value::Word((0..lanes).fold(0, |word, i| word | lane << (i * bits)))
    }

    /// The output whose lanes all stand in one register, each in its position.
    pub fn in_positions(&self, value: Value) -> Output {
        let bytes = (self.bits() / 8) as u8;
        Output::Lanes(core::array::from_fn(|p| self.placement[p].map(|_| BytePlace { value, byte: p as u8 * bytes })))
    }
}

impl Value {
    /// The number of the step whose result it is.
    pub const fn as_step(self) -> Option<usize> {
        match self {
            Value::Step(number) => Some(number),
            _ => None,
        }
    }
}

impl Step {
    /// The values it reads.
    pub fn operands(&self) -> &[Value] {
        match self {
            Step::Base(_, operands) => operands,
            Step::Pick(_) => &[],
            Step::Sum { addend, .. } => core::slice::from_ref(addend),
        }
    }

    fn operands_mut(&mut self) -> &mut [Value] {
        match self {
            Step::Base(_, operands) => operands,
            Step::Pick(_) => &mut [],
            Step::Sum { addend, .. } => core::slice::from_mut(addend),
        }
    }
}

impl Output {
    /// The values it reads.
    pub fn operands(&self) -> Vec<Value> {
        match self {
            Output::Value(value) => Vec::from([*value]),
            Output::Lanes(places) => places.iter().flatten().map(|place| place.value).collect(),
        }
    }

    fn operands_mut(&mut self) -> Vec<&mut Value> {
        match self {
            Output::Value(value) => Vec::from([value]),
            Output::Lanes(places) => places.iter_mut().flatten().map(|place| &mut place.value).collect(),
        }
    }
}

impl Candidate {
    /// Without the steps that nothing needs.
    fn pruned(mut self) -> Candidate {
        let mut needed = alloc::vec![false; self.steps.len()];
        let outputs = self.output.operands().into_iter().chain(self.cut.map(|cut| cut.value));
        outputs.filter_map(Value::as_step).for_each(|number| needed[number] = true);
        for number in (0..self.steps.len()).rev() {
            if needed[number] {
                self.steps[number].operands().iter().filter_map(|value| value.as_step()).for_each(|n| needed[n] = true);
            }
        }
        let renumbered = |value: &mut Value| {
            if let Value::Step(number) = value {
                *number = needed[..*number].iter().filter(|&&needed| needed).count();
            }
        };
        self.steps.iter_mut().flat_map(Step::operands_mut).for_each(renumbered);
        self.output.operands_mut().into_iter().for_each(renumbered);
        self.cut.iter_mut().map(|cut| &mut cut.value).for_each(renumbered);
        let mut is_needed = needed.iter();
        self.steps.retain(|_| *is_needed.next().unwrap_or(&true));
        self
    }
}
