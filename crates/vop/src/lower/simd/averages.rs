//! Rules for averages, which are rounded away from zero where they are not negative, and down elsewhere.

use crate::eval::Range;
use crate::isa::types::Operation;
use crate::lower::base::{Op, PackedOp};
use crate::lower::candidate::{Builder, NotApplicable, Output, Value, Written};

impl Builder {
    fn need_average(&self) -> Result<(), NotApplicable> {
        if self.operation() == Operation::Avrg { Ok(()) } else { Err(NotApplicable) }
    }

    /// Half of the least signed lane's value below zero: what mixed averages, which begin there, are kept above zero with.
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

/// Averages of signed inputs. Where the sum is not negative both are complemented, and so is the average of them; the floor that is
/// taken between is negative in any case.
pub(super) fn signed(b: &mut Builder) -> Written {
    b.need_average()?;
    if !b.common_type()? || b.clamp().is_some() {
        return Err(NotApplicable);
    }
    let [x, y] = b.sources();
    // All ones where the sum is not negative; or, by the other way, where it is.
    let lanes = match b.has_saturating() {
        true => {
            let sum = b.on_lanes(PackedOp::AddSat, true, x, y);
            let negative = b.spread(sum);
            let common = b.lop3(|x, y, m| (m & x & y) | (!m & !x & !y), x, y, negative);
            let floor = b.with_half_difference(common, x, y);
            b.lop3(|t, m, k| !((t | k) ^ m), floor, negative, b.highest_bits())
        }
        false => {
            let biased = b.floor_average(x, y, true);
            let positive = b.spread(biased);
            let common = b.lop3(|x, y, m| (!m & x & y) | (m & !x & !y), x, y, positive);
            let floor = b.with_half_difference(common, x, y);
            b.lop3(|t, m, k| (t | k) ^ m, floor, positive, b.highest_bits())
        }
    };
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
    // A sum is negative if y is and the sum without signs has no carry; or if y is, x could be signed, and that sum is negative.
    let word = match b.has_saturating() {
        true => {
            let sum = b.on_lanes(PackedOp::AddSat, true, x, y);
            b.lop2(|t, x| t & !x, sum, x)
        }
        false => {
            let floor = b.floor_average(x, y, false);
            b.lop2(|t, y| !t & y, floor, y)
        }
    };
    let negative = b.spread(word);
    let common = b.lop3(|x, y, m| (m & x & y) | (!m & !x & !y), x, y, negative);
    let floor = b.with_half_difference(common, x, y);
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

/// Averages of mixed types, a quarter of the lane's values above what they are.
pub(super) fn mixed(b: &mut Builder) -> Written {
    b.need_average()?;
    let clamp = b.clamp();
    if clamp.is_some_and(|to| !to.signed) {
        return Err(NotApplicable);
    }
    let [x, y] = b.mixed_sources()?;
    let y = b.biased(y);
    let floor = b.floor_average(x, y, false);
    // One of the two highest bits says that the average is not negative.
    let next = b.op(Op::Shl, &[floor, Value::Word(1)]);
    let differing = b.lop2(|x, y| x ^ y, x, y);
    let odd = b.op(Op::Shl, &[differing, Value::Word(b.bits() - 1)]);
    let rounds_up = b.lop3(|x, y, r| (x | y) & r, floor, next, odd);
    let more = b.lop2(|x, k| x & k, rounds_up, b.highest_bits());
    let lanes = b.shift_add(more, false, b.bits() - 1, floor);
    end_above(b, lanes)
}

/// Ends a rule for averages of mixed types that stand a quarter of the lane's values too high.
fn end_above(b: &mut Builder, mut lanes: Value) -> Written {
    let quarter = b.quarter();
    if b.accumulates() {
        return Ok(b.accumulate_with_offset(lanes, false, quarter));
    }
    if let Some(to) = b.clamp() {
        let most = b.splat((to.max() as i32 + quarter) as u32);
        lanes = match b.has_packed() {
            true => b.on_lanes(PackedOp::Min, false, lanes, most),
            false if b.has_native_absdiff() => b.native_min(lanes, most),
            false => return Err(NotApplicable),
        };
    }
    let lanes = match (b.bits(), b.has_packed()) {
        (8, true) => b.on_lanes(PackedOp::Sub, false, lanes, b.splat(quarter as u32)),
        (16, true) => b.on_lanes(PackedOp::Add, false, lanes, b.splat(-quarter as u32)),
        _ => {
            // Borrowed from the highest bit alone, which is then as it would have been.
            let highest = b.highest_bits();
            let guarded = b.lop2(|x, k| x | k, lanes, highest);
            let less = b.op(Op::Sub, &[guarded, b.splat(quarter as u32)]);
            b.lop3(|x, y, k| x ^ (!y & k), less, lanes, highest)
        }
    };
    Ok(b.in_positions(lanes))
}

/// Averages of signed half-words: the floor, and 1 more if it is not negative and half was cut off.
pub(super) fn signed_halves(b: &mut Builder) -> Written {
    b.need_average()?;
    if b.common_type() != Ok(true) || b.bits() != 16 || !b.has_packed() || b.clamp().is_some() {
        return Err(NotApplicable);
    }
    let [x, y] = b.sources();
    let biased = b.floor_average(x, y, true);
    let floor = b.biased(biased);
    let one = b.lowest_bits();
    let odd = b.lop3(|x, y, k| (x ^ y) & k, x, y, one);
    let next = b.on_lanes(PackedOp::Add, true, floor, one);
    let more = b.packed(PackedOp::MinRelu, Range::new(true, 16), next, odd);
    let lanes = b.on_lanes(PackedOp::Add, false, floor, more);
    Ok(match b.accumulates() {
        true => b.accumulate(lanes, true),
        false => b.in_positions(lanes),
    })
}

/// Averages of mixed types: the floor, and 1 more if it is not negative and half was cut off.
pub(super) fn mixed_by_parity(b: &mut Builder) -> Written {
    b.need_average()?;
    if !b.has_packed() || b.clamp().is_some_and(|to| !to.signed) {
        return Err(NotApplicable);
    }
    let [x, y] = b.mixed_sources()?;
    let y = b.biased(y);
    let floor = b.floor_average(x, y, false);
    let odd = b.lop3(|x, y, k| (x ^ y) & k, x, y, b.lowest_bits());
    // How much more than the greatest negative number it is, which is as good as whether it is more.
    let below = b.splat(b.quarter() as u32 - 1);
    let above = match b.bits() {
        8 => b.on_lanes(PackedOp::SubSat, false, floor, below),
        _ => {
            let greater = b.on_lanes(PackedOp::Max, false, floor, below);
            b.op(Op::Sub, &[greater, below])
        }
    };
    let more = b.on_lanes(PackedOp::Min, false, above, odd);
    let lanes = b.op(Op::Add, &[floor, more]);
    end_above(b, lanes)
}
