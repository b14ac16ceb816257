//! Rules that use the one video instruction on bytes which machine code of most targets still has: |x - y| of each byte. Where it
//! has not, ptxas makes little of it for equal types alone.
//!
//! With R = |x - y|, the lesser of x and y is (x + y - R) / 2, the greater (x + y + R) / 2, and x - y or 0 is (x - y + R) / 2, in every
//! lane; so the same holds of the words as numbers, if they are computed in more than 32 bits.

use super::idioms::word_type;
use crate::isa::types::{Operation, Type};
use crate::lower::base::Op;
use crate::lower::candidate::{Builder, NotApplicable, Output, Pick, Value, Written};

impl Builder {
    /// Half of x + y + z in more than 32 bits, where `minus` says which of y and z is subtracted.
    fn half_sum(&mut self, [x, y, z]: [Value; 3], minus: [bool; 2]) -> Value {
        let op = |minus| if minus { Op::SubLong } else { Op::AddLong };
        let [x, y, z] = [x, y, z].map(|word| self.op(Op::Extend(Type::U32), &[word]));
        let both = self.op(op(minus[0]), &[x, y]);
        let all = self.op(op(minus[1]), &[both, z]);
        let half = self.op(Op::ShrLong(Type::U32), &[all, Value::Word(1)]);
        self.op(Op::Low, &[half])
    }

    /// The lesser of unsigned bytes.
    pub(super) fn native_min(&mut self, x: Value, y: Value) -> Value {
        let difference = self.op(Op::Absdiff4(Type::U32), &[x, y]);
        self.half_sum([x, y, difference], [false, true])
    }

    /// The greater of unsigned bytes.
    fn native_max(&mut self, x: Value, y: Value) -> Value {
        let difference = self.op(Op::Absdiff4(Type::U32), &[x, y]);
        self.half_sum([x, y, difference], [false, false])
    }

    /// x - y, but no less than 0, in unsigned bytes.
    pub(super) fn native_sub_to_zero(&mut self, x: Value, y: Value) -> Value {
        let difference = self.op(Op::Absdiff4(Type::U32), &[x, y]);
        self.half_sum([x, y, difference], [true, false])
    }
}

/// |x - y| of equal types.
pub(super) fn native(b: &mut Builder) -> Written {
    if b.operation() != Operation::Absdiff || b.bits() != 8 {
        return Err(NotApplicable);
    }
    let signed = b.common_type()?;
    if !b.accumulates() {
        let [x, y] = b.sources();
        let lanes = b.op(Op::Absdiff4(word_type(signed)), &[x, y]);
        return b.end(lanes, false);
    }
    // What is not wanted is the difference of a byte and itself.
    let [x, y] = [false, true].map(|second| b.source_with(second, Pick::Same));
    Ok(Output::Value(b.op(Op::Absdiff4Add(word_type(signed)), &[x, y, Value::C])))
}

/// |x - y| of an unsigned x and a signed y.
pub(super) fn native_mixed(b: &mut Builder) -> Written {
    if b.operation() != Operation::Absdiff || b.bits() != 8 {
        return Err(NotApplicable);
    }
    if b.accumulates() {
        // |x - p| + (p - y), where p is y or 0.
        let [x, y] = [false, true].map(|second| b.source_with(second, |_| Pick::Zero));
        let [x, y] = if b.signed()[0] { [y, x] } else { [x, y] };
        b.common_type().map_or(Ok(()), |_| Err(NotApplicable))?;
        let signs = b.spread(y);
        let positive = b.lop2(|y, m| y & !m, y, signs);
        let negative = b.op(Op::Absdiff4Add(Type::S32), &[y, positive, Value::C]);
        return Ok(Output::Value(b.op(Op::Absdiff4Add(Type::U32), &[x, positive, negative])));
    }
    let [x, y] = b.mixed_sources()?;
    let (highest, lower) = (b.highest_bits(), b.lower_bits());
    let unsigned = b.op(Op::Absdiff4(Type::U32), &[x, y]);
    let signs = b.spread(y);
    // x - y where y is negative: of lower bits, with a guard above them.
    let guarded = b.lop2(|x, k| x | k, x, highest);
    let small = b.lop2(|y, k| y & k, y, lower);
    let difference = b.op(Op::Sub, &[guarded, small]);
    let clamp = b.clamp();
    let signed = clamp.is_some_and(|to| to.signed);
    let sum = match signed {
        true => b.lop3(|t, x, k| t | (x & k), difference, x, highest),
        false => b.lop3(|t, x, k| t ^ (x & k), difference, x, highest),
    };
    let lanes = b.lop3(|sum, r, m| (m & sum) | (!m & r), sum, unsigned, signs);
    let lanes = match clamp.map(|to| to.signed) {
        None => lanes,
        Some(true) => {
            let beyond = b.spread(lanes);
            b.lop3(|x, m, k| (x | m) & k, lanes, beyond, lower)
        }
        Some(false) => {
            let carried = b.lop3(|x, t, y| x & t & y, x, difference, y);
            let beyond = b.spread(carried);
            b.lop2(|x, m| x | m, lanes, beyond)
        }
    };
    Ok(b.in_positions(lanes))
}

/// Minimum and maximum, unless both inputs are signed.
pub(super) fn min_max(b: &mut Builder) -> Written {
    let is_max = b.is_maximum()?;
    if !b.has_native_absdiff() || b.common_type() == Ok(true) {
        return Err(NotApplicable);
    }
    let to_zero = is_max || b.clamp().is_some_and(|to| !to.signed);
    let (x, y, signed) = match (b.mixed_sources(), to_zero) {
        (Err(NotApplicable), _) => {
            let [x, y] = b.sources();
            (x, y, false)
        }
        (Ok([x, y]), true) => {
            let signs = b.spread(y);
            (x, b.lop2(|y, m| y & !m, y, signs), false)
        }
        (Ok([x, y]), false) => {
            // A negative number is less than any other, and all ones is never less.
            let signs = b.spread(y);
            (b.lop2(|x, m| x | m, x, signs), y, true)
        }
    };
    let lanes = if is_max { b.native_max(x, y) } else { b.native_min(x, y) };
    b.end(lanes, signed)
}

/// Accumulated minimum and maximum of equal types: half of the sums of both inputs and of the differences.
pub(super) fn accumulated_min_max(b: &mut Builder) -> Written {
    let weight = match b.operation() {
        Operation::Min => -1,
        Operation::Max => 1,
        _ => return Err(NotApplicable),
    };
    if !b.has_native_absdiff() || !b.accumulates() {
        return Err(NotApplicable);
    }
    let signed = b.common_type()?;
    let [x, y] = b.sources();
    let differences = b.op(Op::Absdiff4(word_type(signed)), &[x, y]);
    let weights = b.weights(weight);
    let sum = b.dot(false, differences, weights, Value::Word(0));
    let once = b.placement.map(|lane| i8::from(lane.is_some()));
    let sum = b.sum(sum, [once; 2]);
    Ok(Output::Value(b.shift_add(sum, true, 1, Value::C)))
}

/// Clamped sums and differences.
pub(super) fn saturating_add_sub(b: &mut Builder) -> Written {
    let Some(to) = b.clamp().filter(|_| b.has_native_absdiff()) else { return Err(NotApplicable) };
    let sub = match b.operation() {
        Operation::Add => false,
        Operation::Sub => true,
        _ => return Err(NotApplicable),
    };
    let [mut x, mut y] = b.sources();
    let [mut x_signed, mut y_signed] = b.signed();
    if !sub && x_signed && !y_signed {
        (x, y, x_signed, y_signed) = (y, x, false, true);
    }
    let zero = Value::Word(0);
    let lanes = match (sub, x_signed, y_signed, to.signed) {
        (false, false, false, signed) => {
            let complement = b.not(x);
            let less = b.native_sub_to_zero(complement, y);
            let sum = b.not(less);
            if signed { b.clamp_unsigned(sum) } else { sum }
        }
        (false, false, true, true) => {
            let (complement, biased) = (b.not(x), b.biased(y));
            let less = b.native_sub_to_zero(complement, biased);
            b.lop2(|x, k| x ^ k, less, b.lower_bits())
        }
        (false, false, true, false) => {
            // x + y is ¬(¬x - y), and where y is negative, x - |y|.
            let signs = b.spread(y);
            let turned = b.lop2(|x, m| !(x ^ m), x, signs);
            let size = b.op(Op::Absdiff4(Type::S32), &[y, zero]);
            let less = b.native_sub_to_zero(turned, size);
            b.lop2(|x, m| !(x ^ m), less, signs)
        }
        (true, false, false, false) => b.native_sub_to_zero(x, y),
        (true, true, false, true) => {
            let biased = b.biased(x);
            let difference = b.native_sub_to_zero(biased, y);
            b.biased(difference)
        }
        (true, true, false, false) => {
            let signs = b.spread(x);
            let positive = b.lop2(|x, m| x & !m, x, signs);
            b.native_sub_to_zero(positive, y)
        }
        (true, true, true, false) => {
            let (x, y) = (b.biased(x), b.biased(y));
            b.native_sub_to_zero(x, y)
        }
        (true, false, true, false) => {
            let signs = b.spread(y);
            let turned = b.lop2(|x, m| x ^ m, x, signs);
            let size = b.op(Op::Absdiff4(Type::S32), &[y, zero]);
            let less = b.native_sub_to_zero(turned, size);
            b.lop2(|x, m| x ^ m, less, signs)
        }
        _ => return Err(NotApplicable),
    };
    Ok(b.in_positions(lanes))
}
