//! What the rules for lanes have in common: constants, small computations on all lanes, and how a rule ends.

use crate::isa::range::Range;
use crate::isa::types::{Operation, Type};
use crate::lower::base::{Op, PackedOp};
use crate::lower::candidate::{Builder, Cut, NotApplicable, Output, Value, Written, in_place};

/// `.s32` or `.u32`.
pub(super) const fn word_type(signed: bool) -> Type {
    if signed { Type::S32 } else { Type::U32 }
}

/// Half-words, read signed.
pub(super) const HALVES: Range = Range::new(true, 16);

/// The same half-word twice.
pub(super) fn twice(half: i32) -> Value {
    Value::Word(0x1_0001 * (half as u32 & 0xffff))
}

impl Builder {
    /// The operation.
    pub(super) fn operation(&self) -> Operation {
        self.form.mnemonic().operation()
    }

    /// Whether the operation is the maximum, if it is that or the minimum.
    pub(super) fn is_maximum(&self) -> Result<bool, NotApplicable> {
        match self.operation() {
            Operation::Min => Ok(false),
            Operation::Max => Ok(true),
            _ => Err(NotApplicable),
        }
    }

    /// Whether the inputs are read signed.
    pub(super) fn signed(&self) -> [bool; 2] {
        [self.form.atype().is_signed(), self.form.btype().is_signed()]
    }

    /// The type that both inputs have.
    pub(super) fn common_type(&self) -> Result<bool, NotApplicable> {
        match self.signed() {
            [x, y] if x == y => Ok(x),
            _ => Err(NotApplicable),
        }
    }

    /// Both sources.
    pub(super) fn sources(&mut self) -> [Value; 2] {
        [self.source(false), self.source(true)]
    }

    /// Both sources of inputs of which one is signed: the unsigned one first.
    pub(super) fn mixed_sources(&mut self) -> Result<[Value; 2], NotApplicable> {
        let [x, y] = self.sources();
        match self.signed() {
            [false, true] => Ok([x, y]),
            [true, false] => Ok([y, x]),
            _ => Err(NotApplicable),
        }
    }

    /// Whether every lane is in its own position.
    pub(super) fn is_in_place(&self) -> bool {
        self.placement == in_place(self.form)
    }

    /// The least and the greatest result of the operation, for inputs from anywhere.
    pub(super) fn results(&self) -> [i64; 2] {
        let [x, y] = [self.input_range(false), self.input_range(true)];
        let average = |sum: i64| if sum >= 0 { (sum + 1) >> 1 } else { sum >> 1 };
        match self.operation() {
            Operation::Sub => [x.min() - y.max(), x.max() - y.min()],
            Operation::Absdiff => [0, (x.max() - y.min()).max(y.max() - x.min())],
            Operation::Min => [x.min().min(y.min()), x.max().min(y.max())],
            Operation::Max => [x.min().max(y.min()), x.max().max(y.max())],
            Operation::Avrg => [average(x.min() + y.min()), average(x.max() + y.max())],
            Operation::Set => [0, 1],
            _ => [x.min() + y.min(), x.max() + y.max()],
        }
    }

    /// The range to which results are clamped, if there are any outside it.
    pub(super) fn clamp(&self) -> Option<Range> {
        let to = Range::new(self.form.dtype()?.is_signed(), self.bits());
        let [least, greatest] = self.results();
        (self.form.sat() && (least < to.min() || greatest > to.max())).then_some(to)
    }

    /// Whether the target has packed instructions on lanes of the form's width.
    pub(super) fn has_packed(&self) -> bool {
        let op = if self.bits() == 16 { PackedOp::Add } else { PackedOp::Sub };
        Op::Packed(op, Range::new(false, self.bits())).needs().met_by(self.target)
    }

    /// Whether the target has packed instructions on half-words.
    pub(super) fn has_packed_halves(&self) -> bool {
        Op::Packed(PackedOp::Add, HALVES).needs().met_by(self.target)
    }

    /// Whether the target has packed sums that are clamped.
    pub(super) fn has_saturating(&self) -> bool {
        Op::Packed(PackedOp::AddSat, Range::new(true, self.bits())).needs().met_by(self.target)
    }

    /// Whether ptxas makes one instruction of a packed sum and the minimum or maximum that takes it.
    pub(super) fn fuses_sum_and_minimum(&self) -> bool {
        (90..107).contains(&self.target.number())
    }

    /// Whether the target has `vabsdiff4` in one instruction, and the form bytes to use it on.
    pub(super) fn has_native_absdiff(&self) -> bool {
        self.bits() == 8 && crate::lower::has_native_absdiff(self.target)
    }

    /// The highest bit of every lane.
    pub(super) fn highest_bits(&self) -> Value {
        self.splat(1 << (self.bits() - 1))
    }

    /// All bits but the highest of every lane.
    pub(super) fn lower_bits(&self) -> Value {
        self.splat(!(1 << (self.bits() - 1)))
    }

    /// The lowest bit of every lane.
    pub(super) fn lowest_bits(&self) -> Value {
        self.splat(1)
    }

    /// The lowest bit of every lane that counts.
    pub(super) fn lowest_live_bits(&self) -> Value {
        Value::Word(self.live().iter().fold(0, |word, p| word | 1 << (u32::from(*p) * self.bits())))
    }

    /// All bits but the lowest of every lane.
    pub(super) fn upper_bits(&self) -> Value {
        self.splat(!1)
    }

    /// A packed instruction on lanes of the form's width.
    pub(super) fn on_lanes(&mut self, op: PackedOp, signed: bool, x: Value, y: Value) -> Value {
        self.packed(op, Range::new(signed, self.bits()), x, y)
    }

    /// Each signed lane, or 0 if it is negative, by a packed instruction.
    pub(super) fn relu(&mut self, x: Value) -> Value {
        self.on_lanes(PackedOp::MaxRelu, true, x, Value::Word(0))
    }

    /// Differences of half-words modulo 2^16: one instruction, as ptxas takes the minus into the sum.
    pub(super) fn sub_halves(&mut self, x: Value, y: Value) -> Value {
        let minus = self.op(Op::Negate16x2, &[y]);
        self.packed(PackedOp::Add, HALVES, x, minus)
    }

    /// Packed differences modulo the lane's size.
    pub(super) fn sub_lanes(&mut self, x: Value, y: Value) -> Value {
        match self.bits() {
            16 => self.sub_halves(x, y),
            _ => self.on_lanes(PackedOp::Sub, false, x, y),
        }
    }

    /// Every lane's sign in all its bits.
    pub(super) fn spread(&mut self, x: Value) -> Value {
        let bytes = if self.bits() == 8 { [8, 9, 10, 11] } else { [9, 9, 11, 11] };
        self.prmt(x, Value::Word(0), bytes)
    }

    /// The words added, one of them shifted right: one instruction.
    pub(super) fn shift_add(&mut self, x: Value, signed: bool, amount: u32, y: Value) -> Value {
        let shifted = self.op(Op::Shr(word_type(signed)), &[x, Value::Word(amount)]);
        self.op(Op::Add, &[shifted, y])
    }

    /// ⌊(x + y) / 2⌋ in every lane; of signed lanes 2^(bits - 1) is added. Three instructions.
    pub(super) fn floor_average(&mut self, x: Value, y: Value, signed: bool) -> Value {
        let common = match signed {
            true => self.lop3(|x, y, k| (x ^ k) & (y ^ k), x, y, self.highest_bits()),
            false => self.lop2(|x, y| x & y, x, y),
        };
        self.with_half_difference(common, x, y)
    }

    /// The same of the complements: its complement is ⌈(x + y) / 2⌉.
    pub(super) fn floor_average_of_complements(&mut self, x: Value, y: Value, signed: bool) -> Value {
        let common = match signed {
            true => self.lop3(|x, y, k| !(x ^ k) & !(y ^ k), x, y, self.highest_bits()),
            false => self.lop2(|x, y| !x & !y, x, y),
        };
        self.with_half_difference(common, x, y)
    }

    /// The bits that x and y have in common and half of those in which they differ: the last two instructions of an average.
    pub(super) fn with_half_difference(&mut self, common: Value, x: Value, y: Value) -> Value {
        let differing = self.lop3(|x, y, k| (x ^ y) & k, x, y, self.upper_bits());
        self.shift_add(differing, false, 1, common)
    }

    /// The same where it is the second of the same x and y: ptxas would otherwise keep the half that both take, and add twice.
    pub(super) fn again_with_half_difference(&mut self, common: Value, x: Value, y: Value) -> Value {
        let differing = self.lop3(|x, y, k| (x ^ y) & k, x, y, self.upper_bits());
        self.op(Op::MadHigh, &[differing, Value::Word(1 << 31), common])
    }

    /// A word whose highest bit in every lane says x > y there: the average of x and of y's complement. Three instructions.
    pub(super) fn greater(&mut self, x: Value, y: Value, signed: bool) -> Value {
        let common = match signed {
            true => self.lop3(|x, y, k| (x ^ k) & !(y ^ k), x, y, self.highest_bits()),
            false => self.lop2(|x, y| x & !y, x, y),
        };
        let differing = self.lop3(|x, y, k| !(x ^ y) & k, x, y, self.upper_bits());
        self.shift_add(differing, false, 1, common)
    }

    /// ⌈(x + y) / 2⌉ in every unsigned lane: what both have, half of what one has, and the lowest bit if any has it. Three
    /// instructions.
    pub(super) fn ceiling_average(&mut self, x: Value, y: Value) -> Value {
        let [lowest, upper] = [self.lowest_bits(), self.upper_bits()];
        let both = self.lop3(|x, y, k| x & y | (x | y) & k, x, y, lowest);
        let one = self.lop3(|x, y, k| (x ^ y) & k, x, y, upper);
        self.shift_add(one, false, 1, both)
    }

    /// `addend` plus (or minus) the lanes of the positions that stand for one.
    pub(super) fn sum_lanes(&mut self, lanes: Value, signed: bool, weight: i8, addend: Value) -> Value {
        let live = self.live();
        if live == [self.lanes() as u8 - 1] && weight == 1 {
            return self.shift_add(lanes, signed, 32 - self.bits(), addend);
        }
        if self.is_full() && !signed && weight == 1 && self.has_native_absdiff() {
            return self.op(Op::Absdiff4Add(Type::U32), &[lanes, Value::Word(0), addend]);
        }
        let weights = self.weights(weight);
        self.dot(signed, lanes, weights, addend)
    }

    /// The constant of a dot product that takes the live positions of a register `factor` times.
    pub(super) fn weights(&self, weight: i8) -> Value {
        Value::Word(self.live().iter().fold(0, |word, p| word | u32::from(weight as u8) << (8 * p)))
    }

    /// The dot product of the form's lanes with signed bytes of a constant.
    pub(super) fn dot(&mut self, signed: bool, lanes: Value, constant: Value, addend: Value) -> Value {
        let x = word_type(signed);
        let op = match self.bits() {
            16 => Op::Dp2a { high: false, x, y: Type::S32 },
            _ => Op::Dp4a(x, Type::S32),
        };
        self.op(op, &[lanes, constant, addend])
    }

    /// `addend` plus the live lanes of two registers, each taken with its factor.
    pub(super) fn sum_both(&mut self, [x, y]: [(Value, bool, i8); 2], addend: Value) -> Value {
        let sum = self.sum_lanes(x.0, x.1, x.2, addend);
        self.sum_lanes(y.0, y.1, y.2, sum)
    }

    /// Ends an accumulating form, when the results stand in a register.
    pub(super) fn accumulate(&mut self, lanes: Value, signed: bool) -> Output {
        self.accumulate_with_offset(lanes, signed, 0)
    }

    /// The same when each lane is more than the result by some number.
    pub(super) fn accumulate_with_offset(&mut self, lanes: Value, signed: bool, more: i32) -> Output {
        self.cut = Some(Cut { value: lanes, signed, factor: 1, offset: -more, others_are_zero: false });
        let sum = self.sum_lanes(lanes, signed, 1, Value::C);
        let all = more.wrapping_mul(self.live().len() as i32);
        Output::Value(if all == 0 { sum } else { self.op(Op::Add, &[sum, Value::Word(-all as u32)]) })
    }

    /// Ends an accumulating comparison: counts the live lanes whose highest bit is set.
    pub(super) fn count_signs(&mut self, lanes: Value) -> Output {
        let live = self.live();
        if live == [self.lanes() as u8 - 1] {
            return Output::Value(self.shift_add(lanes, false, 31, Value::C));
        }
        let bytes = (self.bits() / 8) as u8;
        let masks = core::array::from_fn(|i| {
            let position = i as u8 / bytes;
            let is_first = (i as u8).is_multiple_of(bytes);
            if is_first && live.contains(&position) { 8 | (position * bytes + bytes - 1) } else { 4 }
        });
        let masks = self.prmt(lanes, Value::Word(0), masks);
        // The squares of 0 and -1 need no constant.
        if bytes == 1 {
            self.cut = Some(Cut { value: masks, signed: true, factor: -1, offset: 0, others_are_zero: true });
        }
        Output::Value(self.op(Op::Dp4a(Type::S32, Type::S32), &[masks, masks, Value::C]))
    }

    /// Ends a rule when results of this type, which they fit, stand in a register: clamps, and accumulates or merges.
    pub(super) fn end(&mut self, lanes: Value, signed: bool) -> Written {
        if self.accumulates() {
            return Ok(self.accumulate(lanes, signed));
        }
        let lanes = match self.clamp() {
            Some(to) if to.signed && !signed => self.clamp_unsigned(lanes),
            Some(to) if signed && !to.signed => {
                let signs = self.spread(lanes);
                self.lop2(|x, m| x & !m, lanes, signs)
            }
            _ => lanes,
        };
        Ok(self.in_positions(lanes))
    }

    /// Unsigned lanes, but no more than the greatest signed one.
    pub(super) fn clamp_unsigned(&mut self, lanes: Value) -> Value {
        let signs = self.spread(lanes);
        self.lop3(|x, m, k| (x | m) & k, lanes, signs, self.lower_bits())
    }
}
