//! Rules for averages, which are rounded away from zero where they are not negative, and down elsewhere.

use crate::isa::types::{Operation, Type};
use crate::lower::base::{Op, PackedOp};
use crate::lower::candidate::{Builder, NotApplicable, Output, Value, Written};

impl Builder {
    fn need_average(&self) -> Result<(), NotApplicable> {
        if self.operation() == Operation::Avrg { Ok(()) } else { Err(NotApplicable) }
    }

    /// How far below zero averages of an unsigned and a signed lane begin: half of what is added to the signed one.
    fn quarter(&self) -> i32 {
        1 << (self.bits() - 2)
    }
}

/// Averages of unsigned inputs: rounded up.
pub(super) fn unsigned(b: &mut Builder) -> Written {
    b.need_average()?;
    if b.common_type()? {
        return Err(NotApplicable);
    }
    let [x, y] = b.sources();
    if b.clamp().is_some() {
        // The complement of a floor, and no more than the greatest signed lane.
        let floor = b.floor_average_of_complements(x, y, false);
        let lanes = match b.has_packed() {
            true => {
                let greater = b.on_lanes(PackedOp::Max, false, floor, b.highest_bits());
                b.not(greater)
            }
            false => {
                let small = b.spread(floor);
                b.lop3(|t, m, k| !(t & m) & k, floor, small, b.lower_bits())
            }
        };
        return Ok(b.in_positions(lanes));
    }
    let lanes = b.ceiling_average(x, y);
    b.end(lanes, false)
}

impl Builder {
    /// All ones in the lanes where an unsigned x and a signed y have a negative sum.
    fn negative_sums(&mut self, x: Value, y: Value) -> Value {
        let word = if self.has_saturating() {
            // It is the sum of signed lanes, and not of an x that could not be signed.
            let sum = self.on_lanes(PackedOp::AddSat, true, x, y);
            self.lop2(|t, x| t & !x, sum, x)
        } else {
            // Nothing is carried from what is added without signs.
            let floor = self.floor_average(x, y, false);
            self.lop2(|t, y| !t & y, floor, y)
        };
        self.spread(word)
    }
}

/// Accumulated averages of mixed types: half of the sums of both inputs, and of 1 or -1 for each odd sum.
pub(super) fn accumulated_mixed(b: &mut Builder) -> Written {
    b.need_average()?;
    // Without packed sums signs come from the word's sum, and lanes that wait for the carry of those below are too much for a solver.
    if !b.accumulates() || !b.has_saturating() {
        return Err(NotApplicable);
    }
    let [x, y] = b.mixed_sources()?;
    let negative = b.negative_sums(x, y);
    let one = b.lowest_live_bits();
    let odd = b.lop3(|x, y, k| (x ^ y) & k, x, y, one);
    let ones = b.lop2(|m, k| m | k, negative, one);
    let rounded = b.op(Op::Dp4a(Type::S32, Type::S32), &[odd, ones, Value::Word(0)]);
    let once = b.placement.map(|lane| i8::from(lane.is_some()));
    let sum = b.sum(rounded, [once; 2]);
    Ok(Output::Value(b.shift_add(sum, true, 1, Value::C)))
}

/// Accumulated averages of mixed types, each with a quarter of a lane's values added, which makes it unsigned: the floor, and 1 more
/// where it is a quarter or more and half was cut off.
pub(super) fn accumulated_mixed_above_zero(b: &mut Builder) -> Written {
    b.need_average()?;
    if !b.accumulates() {
        return Err(NotApplicable);
    }
    let [x, y] = b.mixed_sources()?;
    let y = b.biased(y);
    let floor = b.floor_average(x, y, false);
    let odd = b.lop3(|x, y, k| (x ^ y) & k, x, y, b.lowest_bits());
    // A quarter or more has one of the two highest bits.
    let [half, quarter] = [1, 2].map(|below| b.op(Op::Shr(Type::U32), &[floor, Value::Word(b.bits() - below)]));
    let more = b.lop3(|h, q, odd| (h | q) & odd, half, quarter, odd);
    let lanes = b.op(Op::Add, &[floor, more]);
    Ok(b.accumulate_with_offset(lanes, false, b.quarter()))
}

/// Averages of signed inputs. Where the sum is not negative both are complemented, and so is the average of them; the floor that is
/// taken between is negative in any case.
pub(super) fn signed(b: &mut Builder) -> Written {
    b.need_average()?;
    if !b.common_type()? || b.clamp().is_some() {
        return Err(NotApplicable);
    }
    let [x, y] = b.sources();
    let highest = b.highest_bits();
    if b.has_saturating() {
        let sum = b.on_lanes(PackedOp::AddSat, true, x, y);
        let negative = b.spread(sum);
        let common = b.lop3(|x, y, m| (m & x & y) | (!m & !x & !y), x, y, negative);
        let floor = b.with_half_difference(common, x, y);
        let lanes = b.lop3(|t, m, k| !((t | k) ^ m), floor, negative, highest);
        return b.end(lanes, true);
    }
    let biased = b.floor_average(x, y, true);
    let positive = b.spread(biased);
    let common = b.lop3(|x, y, m| (!m & x & y) | (m & !x & !y), x, y, positive);
    let floor = b.again_with_half_difference(common, x, y);
    if b.accumulates() && b.is_full() && b.has_native_absdiff() {
        // Unsigned sums need no constant; so the bias that would be taken off stays.
        let lanes = b.lop3(|t, m, k| (t & !k) ^ m, floor, positive, highest);
        let more = 1 << (b.bits() - 1);
        return Ok(b.accumulate_with_offset(lanes, false, more));
    }
    let lanes = b.lop3(|t, m, k| (t | k) ^ m, floor, positive, highest);
    b.end(lanes, true)
}

/// Averages of signed or mixed inputs clamped to unsigned results: what is not negative is rounded up, as the complement of a floor.
pub(super) fn above_zero(b: &mut Builder) -> Written {
    b.need_average()?;
    if b.clamp().is_none_or(|to| to.signed) {
        return Err(NotApplicable);
    }
    if b.common_type() == Ok(true) {
        let [x, y] = b.sources();
        let floor = b.floor_average_of_complements(x, y, true);
        let negative = b.spread(floor);
        let lanes = b.lop3(|t, m, k| !t & !m & k, floor, negative, b.lower_bits());
        return Ok(b.in_positions(lanes));
    }
    let [x, y] = b.mixed_sources()?;
    let y = b.biased(y);
    let floor = b.floor_average_of_complements(x, y, false);
    // Both the bias, halved, and the complement are taken off at once.
    let most = b.splat(!(b.quarter() as u32));
    let lanes = match b.bits() {
        8 if b.has_packed() => b.on_lanes(PackedOp::SubSat, false, most, floor),
        16 if b.has_packed() => {
            let greater = b.on_lanes(PackedOp::Max, false, floor, most);
            b.op(Op::Sub, &[greater, floor])
        }
        8 if b.has_native_absdiff() => b.native_sub_to_zero(most, floor),
        _ => return Err(NotApplicable),
    };
    Ok(b.in_positions(lanes))
}

/// Averages of mixed types as of signed ones: where the sum is not negative, of the complements.
pub(super) fn mixed_of_complements(b: &mut Builder) -> Written {
    b.need_average()?;
    let clamp = b.clamp();
    if b.accumulates() || clamp.is_some_and(|to| !to.signed) {
        return Err(NotApplicable);
    }
    let [x, y] = b.mixed_sources()?;
    let highest = b.highest_bits();
    let negative = b.negative_sums(x, y);
    let common = b.lop3(|x, y, m| (m & x & y) | (!m & !x & !y), x, y, negative);
    let floor = match b.has_saturating() {
        true => b.with_half_difference(common, x, y),
        false => b.again_with_half_difference(common, x, y),
    };
    let mut lanes = b.lop3(|t, y, k| t ^ (y & k), floor, y, highest);
    if clamp.is_some() {
        lanes = match b.has_packed() {
            true => b.on_lanes(PackedOp::Max, false, lanes, highest),
            false => {
                let fits = b.spread(lanes);
                b.lop3(|t, m, k| (t & m) | k, lanes, fits, highest)
            }
        };
    }
    let lanes = b.lop2(|t, m| !(t ^ m), lanes, negative);
    Ok(b.in_positions(lanes))
}

/// Averages of mixed types modulo the lane's size: the floor, and 1 more if it is not negative and half was cut off.
pub(super) fn mixed_modular(b: &mut Builder) -> Written {
    b.need_average()?;
    if !b.has_packed() || b.clamp().is_some_and(|to| !to.signed) {
        return Err(NotApplicable);
    }
    let [x, y] = b.mixed_sources()?;
    let highest = b.highest_bits();
    let floor = b.floor_average(x, y, false);
    let odd = b.lop3(|x, y, k| (x ^ y) & k, x, y, b.lowest_bits());
    let positive = b.lop3(|t, y, k| (t | !y) & k, floor, y, highest);
    let more = b.on_lanes(PackedOp::Min, false, odd, positive);
    let lanes = b.op(Op::Add, &[floor, more]);
    if b.accumulates() {
        // Where y is negative that is half of a lane's values too much.
        let less = b.lop2(|y, k| y & k, y, highest);
        return Ok(Output::Value(b.sum_both([(lanes, false, 1), (less, false, -1)], Value::C)));
    }
    let lanes = match b.clamp() {
        Some(_) => {
            let most = b.lop2(|y, k| y | k, y, b.lower_bits());
            b.on_lanes(PackedOp::Min, false, lanes, most)
        }
        None => lanes,
    };
    let lanes = b.lop3(|t, y, k| t ^ (y & k), lanes, y, highest);
    Ok(b.in_positions(lanes))
}
