//! Rules for bytes that use packed instructions on half-words: two bytes extended to half-words, or bytes in the upper halves of
//! half-words with something below.

use alloc::vec::Vec;

use super::idioms::{HALVES, twice};
use crate::isa::range::Range;
use crate::isa::types::{Operation, Type};
use crate::lower::base::{Op, PackedOp};
use crate::lower::candidate::{Builder, BytePlace, NotApplicable, Output, Value, Written};

/// Half-words, read unsigned.
const UNSIGNED_HALVES: Range = Range::new(false, 16);

impl Builder {
    fn need_bytes(&self) -> Result<(), NotApplicable> {
        if self.bits() == 8 && self.has_packed_halves() { Ok(()) } else { Err(NotApplicable) }
    }

    /// The live positions by twos; the last may be alone, and is then both.
    fn pairs(&self) -> Vec<[u8; 2]> {
        self.live().chunks(2).map(|pair| [pair[0], *pair.last().unwrap_or(&pair[0])]).collect()
    }

    /// Signed half-words between two values clamped to a range of bytes.
    fn clamp_halves(&mut self, halves: Value, [least, greatest]: [i64; 2], to: Range) -> Value {
        let (below, above) = (least < to.min(), greatest > to.max());
        let max = twice(to.max() as i32);
        match (to.signed, below, above) {
            (false, true, true) => self.packed(PackedOp::MinRelu, HALVES, halves, max),
            (false, true, false) => self.packed(PackedOp::MaxRelu, HALVES, halves, Value::Word(0)),
            (_, below, above) => {
                let halves = if above { self.packed(PackedOp::Min, HALVES, halves, max) } else { halves };
                if below { self.packed(PackedOp::Max, HALVES, halves, twice(to.min() as i32)) } else { halves }
            }
        }
    }
}

/// Sums of bytes in the lower halves of half-words, and in the upper with zeros below.
pub(super) fn add_even_odd(b: &mut Builder) -> Written {
    b.need_bytes()?;
    if b.operation() != Operation::Add || b.clamp().is_some() || b.accumulates() {
        return Err(NotApplicable);
    }
    let [x, y] = b.sources();
    let upper = b.lop2(|x, k| x & k, x, Value::Word(0xff00_ff00));
    let sums = [x, upper].map(|x| b.packed(PackedOp::Add, UNSIGNED_HALVES, x, y));
    Ok(Output::Lanes(core::array::from_fn(|p| b.placement[p].map(|_| BytePlace { value: sums[p % 2], byte: p as u8 }))))
}

/// Minimum and maximum of the upper bytes of half-words, and of the lower ones shifted up: what stands below does not matter.
pub(super) fn min_max_even_odd(b: &mut Builder) -> Written {
    b.need_bytes()?;
    let op = match b.operation() {
        Operation::Min => PackedOp::Min,
        Operation::Max => PackedOp::Max,
        _ => return Err(NotApplicable),
    };
    let signed = b.common_type()?;
    let lanes = Range::new(signed, 16);
    let [x, y] = b.sources();
    let odd = b.packed(op, lanes, x, y);
    let [x, y] = [x, y].map(|x| b.op(Op::Shl, &[x, Value::Word(8)]));
    let even = b.packed(op, lanes, x, y);
    if b.accumulates() || b.clamp().is_some() {
        if !b.is_full() {
            return Err(NotApplicable);
        }
        let all = b.prmt(even, odd, [1, 5, 3, 7]);
        return b.end(all, signed);
    }
    Ok(Output::Lanes(core::array::from_fn(|p| {
        let (value, byte) = if p % 2 == 1 { (odd, p) } else { (even, p + 1) };
        b.placement[p].map(|_| BytePlace { value, byte: byte as u8 })
    })))
}

/// Bytes as half-words, two and two.
pub(super) fn in_halves(b: &mut Builder) -> Written {
    b.need_bytes()?;
    let operation = b.operation();
    let results = b.results();
    let [x_signed, y_signed] = b.signed();
    let mut places = [None; 4];
    let mut sum = Value::C;
    for pair in b.pairs() {
        // ptxas takes what comes first as what need not wait.
        let y = b.halves(true, pair);
        let x = b.halves(false, pair);
        let mut clamp = b.clamp();
        let mut halves = match operation {
            Operation::Add => b.packed(PackedOp::Add, HALVES, x, y),
            Operation::Sub => b.sub_halves(x, y),
            // One instruction subtracts and takes the greater, with what is not clamped as it is far from the half-word's ends.
            Operation::Absdiff if b.fuses_sum_and_minimum() => {
                let [less, more] = [[x, y], [y, x]].map(|[x, y]| b.sub_halves(x, y));
                b.packed(PackedOp::Max, HALVES, less, more)
            }
            Operation::Absdiff => {
                let greater = b.packed(PackedOp::Max, HALVES, x, y);
                let lesser = b.packed(PackedOp::Min, HALVES, x, y);
                // Nothing is borrowed from the upper half unless signs are mixed.
                match x_signed || y_signed {
                    true => b.sub_halves(greater, lesser),
                    false => b.op(Op::Sub, &[greater, lesser]),
                }
            }
            Operation::Min | Operation::Max => {
                let to_zero = clamp.is_some_and(|to| !to.signed && results[0] < 0 && results[1] <= to.max());
                if to_zero {
                    clamp = None;
                }
                let op = match (operation, to_zero) {
                    (Operation::Min, false) => PackedOp::Min,
                    (Operation::Min, true) => PackedOp::MinRelu,
                    (_, false) => PackedOp::Max,
                    (_, true) => PackedOp::MaxRelu,
                };
                b.packed(op, HALVES, x, y)
            }
            _ => return Err(NotApplicable),
        };
        if let Some(to) = clamp {
            halves = b.clamp_halves(halves, results, to);
        }
        sum = match (b.accumulates(), pair[0] == pair[1]) {
            (false, _) => sum,
            (true, true) => b.shift_add(halves, true, 16, sum),
            (true, false) => b.both_halves(halves, sum),
        };
        for (place, position) in [0, 2].into_iter().zip(pair) {
            places[usize::from(position)].get_or_insert(BytePlace { value: halves, byte: place });
        }
    }
    Ok(if b.accumulates() { Output::Value(sum) } else { Output::Lanes(places) })
}

impl Builder {
    /// `addend` plus both signed half-words.
    fn both_halves(&mut self, halves: Value, addend: Value) -> Value {
        self.op(Op::Dp2a { high: false, x: Type::S32, y: Type::S32 }, &[halves, Value::Word(0x0101), addend])
    }

    /// The averages of bytes in the lower bytes of half-words, from their sums.
    fn halved(&mut self, sum: Value, negative: bool) -> Value {
        if !negative {
            let more = self.op(Op::Add, &[sum, twice(1)]);
            return self.op(Op::Shr(Type::U32), &[more, Value::Word(1)]);
        }
        // The floor, and 1 more if half was cut off from what is not negative; only then something is carried.
        let signs = self.op(Op::Shr(Type::U32), &[sum, Value::Word(15)]);
        let more = self.lop3(|s, t, k| s & !t & k, sum, signs, twice(1));
        self.shift_add(sum, false, 1, more)
    }

    /// Twice the averages of bytes as half-words, or one more, from their sums.
    fn twice_average(&mut self, sum: Value, negative: bool) -> Value {
        let one = twice(1);
        if !negative {
            return self.op(Op::Add, &[sum, one]);
        }
        if self.fuses_sum_and_minimum() {
            // 1 more where that is not negative.
            let more = self.packed(PackedOp::Add, UNSIGNED_HALVES, sum, one);
            let rounding = self.packed(PackedOp::MinRelu, HALVES, more, one);
            return self.packed(PackedOp::Add, UNSIGNED_HALVES, sum, rounding);
        }
        let signs = self.prmt(sum, Value::Word(0), [9, 9, 11, 11]);
        let less = self.packed(PackedOp::Add, UNSIGNED_HALVES, sum, signs);
        self.packed(PackedOp::Add, UNSIGNED_HALVES, less, one)
    }
}

/// Averages of bytes as half-words, two and two.
pub(super) fn average(b: &mut Builder) -> Written {
    b.need_bytes()?;
    if b.operation() != Operation::Avrg || b.accumulates() {
        return Err(NotApplicable);
    }
    let negative = b.signed() != [false, false];
    let clamp = b.clamp();
    let mut places = [None; 4];
    for pair in b.pairs() {
        let [x, y] = [false, true].map(|second| b.halves(second, pair));
        let sum = b.packed(PackedOp::Add, HALVES, x, y);
        let halves = match clamp {
            Some(to) if !to.signed => {
                let sum = b.packed(PackedOp::MaxRelu, HALVES, sum, Value::Word(0));
                b.halved(sum, false)
            }
            Some(_) => {
                let sum = b.packed(PackedOp::Min, HALVES, sum, twice(254));
                b.halved(sum, negative)
            }
            None => b.halved(sum, negative),
        };
        for (place, position) in [0, 2].into_iter().zip(pair) {
            places[usize::from(position)].get_or_insert(BytePlace { value: halves, byte: place });
        }
    }
    Ok(Output::Lanes(places))
}

/// Accumulated averages of two signed bytes as half-words, whose lower bytes they become.
pub(super) fn accumulated_signed_average(b: &mut Builder) -> Written {
    b.need_bytes()?;
    if b.operation() != Operation::Avrg || !b.accumulates() || !b.common_type()? {
        return Err(NotApplicable);
    }
    let [pair] = b.pairs()[..] else { return Err(NotApplicable) };
    let [x, y] = [false, true].map(|second| b.halves(second, pair));
    let sum = b.packed(PackedOp::Add, HALVES, x, y);
    let halves = b.halved(sum, true);
    let weights = Value::Word(if pair[0] == pair[1] { 0x01 } else { 0x01_0001 });
    Ok(Output::Value(b.dot(true, halves, weights, Value::C)))
}

/// Accumulated averages of one or two bytes as half-words: half of each half-word is added by an instruction that shifts.
pub(super) fn accumulated_average(b: &mut Builder) -> Written {
    b.need_bytes()?;
    if b.operation() != Operation::Avrg || !b.accumulates() {
        return Err(NotApplicable);
    }
    let [pair] = b.pairs()[..] else { return Err(NotApplicable) };
    let negative = b.signed() != [false, false];
    let [x, y] = [false, true].map(|second| b.halves(second, pair));
    let sum = b.packed(PackedOp::Add, HALVES, x, y);
    let doubled = b.twice_average(sum, negative);
    let mut sum = b.shift_add(doubled, true, 17, Value::C);
    if pair[0] != pair[1] {
        let lower = b.op(Op::Shl, &[doubled, Value::Word(16)]);
        sum = b.shift_add(lower, true, 17, sum);
    }
    Ok(Output::Value(sum))
}
