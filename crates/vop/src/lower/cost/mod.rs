//! What a sequence costs: how many machine instructions ptxas 13.5 makes of it on a target.
//!
//! Every instruction that is needed counts [by itself](Code::alone), and a list of [fusions](FUSIONS) says which instructions ptxas makes
//! one of: each a function named after what it finds. All was found by measuring, and `cargo xtask sass lowering` holds it
//! against ptxas. Where it is not sure it leaves a cost above the truth, so that nothing is chosen that is more expensive than it
//! seems.

mod long;

use alloc::vec::Vec;
use core::cmp::Ordering;

use super::base::{Op, PackedOp};
use super::candidate::Value;
use super::sequence::Sequence;
use crate::isa::range::Range;
use crate::isa::types::{Comparison, Type};
use crate::target::Target;
use long::Halves;

impl Sequence {
    /// How many machine instructions ptxas 13.5 makes of it on a target, counted as [`Form::cost`](crate::Form::cost)
    /// counts. This is a model; how often it is right, docs/lowering-cost.md says.
    pub fn cost(&self, target: Target) -> u32 {
        let mut code = Code::new(self, target);
        for fusion in FUSIONS {
            for number in 0..code.steps.len() {
                if code.counts(number) {
                    fusion(&mut code, number);
                }
            }
        }
        let steps: u32 =
            (0..code.steps.len()).filter(|&number| code.counts(number)).map(|number| code.alone(number)).sum();
        steps + code.constants()
    }
}

/// What is known of the target beside the instructions it has.
#[derive(Debug, Clone, Copy)]
struct Machine {
    /// Dot products take constants from a bank of the kernel's own: sm_75 to sm_89.
    has_constant_bank: bool,
    /// sm_90 to sm_103 have a sum and a minimum in one instruction (VIADDMNMX), and three-way minima (VIMNMX3).
    has_fused_minimum: bool,
    /// From sm_90 on the maximum with zero is a part of a minimum or maximum.
    has_relu: bool,
    /// sm_120 lost the absolute difference of words and bytes, and gained saturating sums of words.
    is_120: bool,
}

impl Machine {
    fn of(target: Target) -> Machine {
        let number = target.number();
        Machine {
            has_constant_bank: number < 90,
            has_fused_minimum: (90..107).contains(&number),
            has_relu: number >= 90,
            is_120: number >= 120,
        }
    }
}

/// A sequence on its way to machine code.
struct Code {
    steps: Vec<(Op, Vec<Value>)>,
    machine: Machine,
    /// How often each step is read; 0 of those that nothing needs.
    uses: Vec<u32>,
    /// Steps that have become a part of what reads them.
    fused: Vec<bool>,
    /// What else a step reads through the steps that became a part of it.
    inputs: Vec<Vec<Value>>,
    /// Which halves of long results are needed.
    needed: Vec<Halves>,
}

type Fusion = fn(&mut Code, usize);

/// In the order in which they are tried: each step joins the first that takes it.
const FUSIONS: &[Fusion] = &[
    Code::negated_halves,
    Code::shifted_sum,
    Code::product_sum,
    Code::bound_at_zero,
    Code::sum_then_bound,
    Code::three_way_bound,
    Code::three_way_sum,
    Code::compared_logic,
    Code::masked_amount,
    Code::long_product_sum,
    Code::long_three_way_sum,
    Code::sign_in_sum,
];

impl Code {
    fn new(sequence: &Sequence, target: Target) -> Code {
        let machine = Machine::of(target);
        let (steps, result) = simplified(sequence, machine);
        let mut uses = alloc::vec![0; steps.len()];
        if let Some(Value::Step(number)) = result {
            uses[number] = 1;
        }
        for number in (0..steps.len()).rev() {
            if uses[number] > 0 {
                steps[number].1.iter().filter_map(|value| value.as_step()).for_each(|read| uses[read] += 1);
            }
        }
        let fused = alloc::vec![false; steps.len()];
        let inputs = steps.iter().map(|(_, operands)| operands.clone()).collect();
        let needed = long::needed(&steps, &uses, machine.is_120);
        Code { steps, machine, uses, fused, inputs, needed }
    }

    /// Whether a step is an instruction of its own.
    fn counts(&self, number: usize) -> bool {
        self.uses[number] > 0 && !self.fused[number]
    }

    /// The step whose result this value is, if nothing else reads it and nothing became one with it yet.
    fn only(&self, value: Value) -> Option<(usize, Op)> {
        let number = value.as_step()?;
        (self.uses[number] == 1 && self.counts(number)).then(|| (number, self.steps[number].0))
    }

    /// A step becomes a part of another.
    fn fuse(&mut self, inner: usize, into: usize) {
        self.fused[inner] = true;
        let inputs = self.inputs[inner].clone();
        self.inputs[into].retain(|&of| of != Value::Step(inner));
        self.inputs[into].extend(inputs);
    }

    /// Whether a step has become one with steps that it reads.
    fn is_fused(&self, number: usize) -> bool {
        self.inputs[number] != self.steps[number].1
    }

    /// `neg.s16` of both halves is the sign of an operand of a packed sum.
    fn negated_halves(&mut self, number: usize) {
        let (Op::Packed(PackedOp::Add, _), operands) = &self.steps[number] else { return };
        for value in operands.clone() {
            if let Some((inner, Op::Negate16x2)) = self.only(value) {
                self.fuse(inner, number);
                return;
            }
        }
    }

    /// A shift by a constant and a sum are one: LEA or LEA.HI. A shift that is read more than once is a part of all sums that
    /// read it, or of none.
    fn shifted_sum(&mut self, number: usize) {
        if self.is_fused(number) {
            return;
        }
        for shift in self.steps[number].1.clone().into_iter().filter_map(Value::as_step) {
            let readers: Vec<usize> =
                (0..self.steps.len()).filter(|&reader| self.inputs[reader].contains(&Value::Step(shift))).collect();
            let all = readers.iter().all(|&reader| !self.is_fused(reader) && self.takes_shifted(reader, shift));
            if self.counts(shift) && all && readers.len() == self.uses[shift] as usize {
                readers.into_iter().for_each(|reader| self.fuse(shift, reader));
                return;
            }
        }
    }

    /// Whether a step is a sum that can take the result of another step as a shift by a constant.
    fn takes_shifted(&self, number: usize, shift: usize) -> bool {
        let (op, operands) = &self.steps[number];
        let is_first = operands[0] == Value::Step(shift);
        // Where one of two values is chosen, sm_90 to sm_103 sum under a predicate instead.
        let is_chosen = self.machine.has_fused_minimum
            && operands.iter().any(|value| is_constant(*value))
            && self.steps.iter().any(|(op, operands)| *op == Op::Selp && operands.contains(&Value::Step(number)));
        if is_chosen {
            return false;
        }
        match (&self.steps[shift].0, self.steps[shift].1.get(1)) {
            (Op::Shr(_), Some(Value::Word(1..=31))) if *op == Op::Add => true,
            (Op::Shr(_), Some(Value::Word(2..=31))) if *op == Op::AddSatUnsigned => true,
            // What is shifted right may not be negated, the other may.
            (Op::Shr(_), Some(Value::Word(2..=31))) => *op == Op::Sub && is_first,
            (Op::Shl, Some(Value::Word(1..=31))) => matches!(op, Op::Add | Op::Sub),
            _ => false,
        }
    }

    /// A product and a sum are one: IMAD.
    fn product_sum(&mut self, number: usize) {
        let operands = match &self.steps[number] {
            (Op::Add, operands) => operands.clone(),
            (Op::Sub, operands) => Vec::from([operands[0]]),
            _ => return,
        };
        if self.is_fused(number) {
            return;
        }
        for value in operands {
            if let Some((inner, Op::Mul)) = self.only(value) {
                self.fuse(inner, number);
                return;
            }
        }
    }

    /// A minimum or maximum of signed words and the maximum of it and zero are one: `.RELU`.
    fn bound_at_zero(&mut self, number: usize) {
        let (Op::Max(Type::S32), operands) = &self.steps[number] else { return };
        if !self.machine.has_relu || !operands.contains(&Value::Word(0)) {
            return;
        }
        for value in operands.clone() {
            if let Some((inner, Op::Min(Type::S32) | Op::Max(Type::S32))) = self.only(value) {
                self.fuse(inner, number);
                return;
            }
        }
    }

    /// A sum and a minimum or maximum of it are one: VIADDMNMX.
    fn sum_then_bound(&mut self, number: usize) {
        if !self.machine.has_fused_minimum {
            return;
        }
        let (op, operands) = &self.steps[number];
        let packed = match op {
            Op::Min(_) | Op::Max(_) => false,
            Op::Packed(PackedOp::Min | PackedOp::Max | PackedOp::MinRelu | PackedOp::MaxRelu, _) => true,
            _ => return,
        };
        for value in operands.clone() {
            match self.only(value) {
                Some((inner, Op::Packed(PackedOp::Add, _))) if packed && self.has_room(number, inner) => {
                    self.fuse(inner, number);
                    return;
                }
                Some((inner, sum @ (Op::Add | Op::Sub)))
                    // The sum of a product is one with that, and a constant is not subtracted from.
                    if !packed
                        && !self.reads_product(inner)
                        && !self.is_fused(inner)
                        && self.has_room(number, inner)
                        && (sum == Op::Add || !matches!(self.steps[inner].1[0], Value::Word(_))) =>
                {
                    self.fuse(inner, number);
                    return;
                }
                _ => {}
            }
        }
    }

    fn reads_product(&self, number: usize) -> bool {
        let mut read = self.steps[number].1.iter().filter_map(|value| value.as_step());
        read.any(|number| self.steps[number].0 == Op::Mul)
    }

    /// The least or the greatest of three is one: VIMNMX3.
    fn three_way_bound(&mut self, number: usize) {
        if !self.machine.has_fused_minimum || self.is_fused(number) {
            return;
        }
        let (op, operands) = &self.steps[number];
        if !matches!(op, Op::Min(_) | Op::Max(_) | Op::Packed(PackedOp::Min | PackedOp::Max, _)) {
            return;
        }
        let op = *op;
        for value in operands.clone() {
            if let Some((inner, known)) = self.only(value)
                && known == op
                && !self.is_fused(inner)
                && self.has_room(number, inner)
            {
                self.fuse(inner, number);
                return;
            }
        }
    }

    /// A sum of three is one, whatever their signs: IADD3.
    fn three_way_sum(&mut self, number: usize) {
        let (Op::Add | Op::Sub, operands) = &self.steps[number] else { return };
        if self.is_fused(number) {
            return;
        }
        for value in operands.clone() {
            if let Some((inner, Op::Add | Op::Sub)) = self.only(value)
                && !self.is_fused(inner)
            {
                self.fuse(inner, number);
                return;
            }
        }
    }

    /// A comparison with zero is a part of the LOP3 whose result is compared.
    fn compared_logic(&mut self, number: usize) {
        let (Op::Setp(Comparison::Eq | Comparison::Ne, _), operands) = &self.steps[number] else { return };
        if operands[1] == Value::Word(0)
            && let Some((inner, Op::Lop3(_))) = self.only(operands[0])
        {
            self.fuse(inner, number);
        }
    }

    /// Shifts take the lower five bits of their amount for nothing: SHF.W.
    fn masked_amount(&mut self, number: usize) {
        let (Op::Lop3(0xc0), operands) = &self.steps[number] else { return };
        if operands[1] != Value::Word(31) {
            return;
        }
        let mask = Value::Step(number);
        let readers: Vec<usize> =
            (0..self.steps.len()).filter(|&reader| self.steps[reader].1.contains(&mask)).collect();
        let all = readers.iter().all(|&reader| match &self.steps[reader] {
            (Op::Shl | Op::Shr(_), operands) => operands[0] != mask && !is_constant(operands[0]),
            _ => false,
        });
        if all && readers.len() == self.uses[number] as usize {
            readers.into_iter().for_each(|reader| self.fuse(number, reader));
        }
    }

    /// Whether what became one would need two constants, and an instruction has room for one.
    fn has_room(&self, one: usize, other: usize) -> bool {
        let constants = |number: usize| self.inputs[number].iter().filter(|value| is_constant(**value)).count();
        constants(one) + constants(other) <= 1
    }

    /// What it costs to have constants where they are needed.
    fn constants(&self) -> u32 {
        // A dot product takes its constant from a bank, or else from a uniform register, which is set once.
        let mut uniform: Vec<u32> = Vec::new();
        let mut more = 0;
        for number in (0..self.steps.len()).filter(|&number| self.counts(number)) {
            let (op, operands) = &self.steps[number];
            let constants = operands.iter().filter(|value| is_constant(**value)).count() as u32;
            // This number of immediates has room in the instruction; each other is put into a register.
            let room = match op {
                Op::Dp4a(..) | Op::Dp2a { .. } => {
                    let factor = operands[..2].iter().find_map(|value| match value {
                        Value::Word(word) if is_constant(*value) => Some(*word),
                        _ => None,
                    });
                    uniform.extend(factor.filter(|factor| !uniform.contains(factor)));
                    u32::from(factor.is_some())
                }
                Op::Absdiff4(_) | Op::Absdiff4Add(_) if !self.machine.is_120 => 0,
                // The selector stands there.
                Op::Prmt(_) => 0,
                Op::Shl | Op::Shr(_) if is_constant(operands[0]) => 0,
                Op::AddSat | Op::SubSat if self.machine.has_fused_minimum => 0,
                // Its second operand is negated, or it has none.
                Op::Packed(PackedOp::Sub, _) | Op::Packed(PackedOp::SubSat, Range { signed: false, .. })
                    if is_constant(operands[1]) =>
                {
                    0
                }
                Op::Pack { to: Range { bits: 8, .. } } if is_constant(operands[2]) => 0,
                _ => 1,
            };
            let each = if matches!(op, Op::Prmt(_)) { 2 } else { 1 };
            more += each * constants.saturating_sub(room);
        }
        more + if self.machine.has_constant_bank { 0 } else { uniform.len() as u32 }
    }

    /// What a step costs by itself.
    fn alone(&self, number: usize) -> u32 {
        let Machine { is_120, .. } = self.machine;
        match self.steps[number].0 {
            Op::Absdiff4(_) if is_120 => 3,
            Op::AddSat | Op::SubSat if !is_120 => 5,
            Op::AddSatUnsigned => 2,
            _ => self.long(number),
        }
    }
}

/// Whether a value is a constant that an instruction must hold; 0 is a register of its own.
fn is_constant(value: Value) -> bool {
    matches!(value, Value::Word(1..) | Value::Long(1..))
}

/// The steps without those that ptxas knows the results of, and what d is.
fn simplified(sequence: &Sequence, machine: Machine) -> (Vec<(Op, Vec<Value>)>, Option<Value>) {
    let mut simple = Sequence::default();
    let mut values: Vec<Value> = Vec::with_capacity(sequence.steps.len());
    let new = |value: Value, values: &[Value]| value.as_step().map_or(value, |number| values[number]);
    for (op, operands) in &sequence.steps {
        let mut operands: Vec<Value> = operands.iter().map(|&operand| new(operand, &values)).collect();
        if matches!(op, Op::Add | Op::Min(_) | Op::Max(_)) {
            operands.sort_unstable();
        }
        let value = match (op, &operands[..]) {
            // Both operands are one; of a predicate, 0 and 1 stand for false and true.
            (Op::Setp(comparison, _), [x, y]) if x == y => Value::Word(comparison.holds(Ordering::Equal).into()),
            (Op::Min(_) | Op::Max(_), [x, y]) if x == y => *x,
            (Op::Add, [Value::Word(0), x] | [x, Value::Word(0)]) | (Op::Sub, [x, Value::Word(0)]) => *x,
            (Op::Selp, [_, y, Value::Word(0)]) => *y,
            (Op::Selp, [x, _, Value::Word(_)]) => *x,
            (Op::AddIf, [x, _, Value::Word(0)]) => *x,
            (Op::AddIf, [x, y, Value::Word(_)]) => simple.push(Op::Add, &[*x, *y]),
            // Absolute differences that the target lacks are written out.
            (Op::Sad(_), [x, y, z]) if machine.is_120 && x == y => *z,
            (Op::Sad(ty), [x, y, z]) if machine.is_120 => {
                let greater = simple.push(Op::Max(*ty), &[*x, *y]);
                let lesser = simple.push(Op::Min(*ty), &[*x, *y]);
                let difference = simple.push(Op::Sub, &[greater, lesser]);
                if *z == Value::Word(0) { difference } else { simple.push(Op::Add, &[difference, *z]) }
            }
            (Op::Absdiff4Add(ty), [x, y, z]) if machine.is_120 => {
                let differences = simple.push(Op::Absdiff4(*ty), &[*x, *y]);
                let ones = Value::Word(0x0101_0101);
                let sum = simple.push(Op::Dp4a(Type::U32, Type::U32), &[differences, ones, Value::Word(0)]);
                if *z == Value::Word(0) { sum } else { simple.push(Op::Add, &[sum, *z]) }
            }
            _ => simple.push(*op, &operands),
        };
        values.push(value);
    }
    let result = sequence.result.map(|result| new(result, &values));
    (simple.steps, result)
}
