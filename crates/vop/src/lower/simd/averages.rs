//! Rules for averages, which are rounded away from zero where they are not negative, and down elsewhere.

use crate::eval::Range;
use crate::isa::types::{Operation, Type};
use crate::lower::base::{Op, PackedOp};
use crate::lower::candidate::{Builder, NotApplicable, Value, Written};

impl Builder {
    fn need_average(&self) -> Result<(), NotApplicable> {
        if self.operation() == Operation::Avrg { Ok(()) } else { Err(NotApplicable) }
    }

    /// Half of the least signed lane's value below zero: what mixed averages, which begin there, are kept above zero with.
    fn quarter(&self) -> i32 {
        1 << (self.bits() - 2)
    }
}

/// Averages of equal types.
pub(super) fn average(b: &mut Builder) -> Written {
    b.need_average()?;
    let signed = b.common_type()?;
    if signed && b.clamp().is_some() {
        return Err(NotApplicable);
    }
    let [x, y] = b.sources();
    if !signed {
        let lanes = b.ceiling_average(x, y);
        return b.end(lanes, false);
    }
    // The highest bit of the biased average says that it is not negative, and so that half is rounded up.
    let floor = b.floor_average(x, y, true);
    let rounds_up = b.op(Op::Shr(Type::U32), &[floor, Value::Word(b.bits() - 1)]);
    let odd = b.lop3(|x, y, r| (x ^ y) & r, x, y, rounds_up);
    let more = b.lop2(|x, k| x & k, odd, b.lowest_bits());
    let biased = b.op(Op::Add, &[floor, more]);
    end_biased(b, biased)
}

/// Ends a rule when signed results stand in a register with their highest bits turned.
fn end_biased(b: &mut Builder, biased: Value) -> Written {
    if b.accumulates() {
        let more = 1 << (b.bits() - 1);
        return Ok(b.accumulate_with_offset(biased, false, more));
    }
    let lanes = b.lop2(|x, k| x ^ k, biased, b.highest_bits());
    Ok(b.in_positions(lanes))
}

/// Averages of signed or mixed inputs clamped to unsigned results: what is not negative is rounded up.
pub(super) fn average_above_zero(b: &mut Builder) -> Written {
    b.need_average()?;
    if b.clamp().is_none_or(|to| to.signed) {
        return Err(NotApplicable);
    }
    if b.common_type() == Ok(true) {
        let [x, y] = b.sources();
        let either = b.lop3(|x, y, k| (x ^ k) | (y ^ k), x, y, b.highest_bits());
        let biased = b.without_half_difference(either, x, y);
        let signs = b.spread(biased);
        let lanes = b.lop3(|x, m, k| x & m & k, biased, signs, b.lower_bits());
        return Ok(b.in_positions(lanes));
    }
    let [x, y] = b.mixed_sources()?;
    let y = b.biased(y);
    let more = b.ceiling_average(x, y);
    let quarter = b.splat(b.quarter() as u32);
    let lanes = match b.bits() {
        8 if b.has_packed() => b.on_lanes(PackedOp::SubSat, false, more, quarter),
        16 if b.has_packed() => {
            let greater = b.on_lanes(PackedOp::Max, false, more, quarter);
            b.op(Op::Sub, &[greater, quarter])
        }
        8 if b.has_native_absdiff() => b.native_sub_to_zero(more, quarter),
        _ => return Err(NotApplicable),
    };
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
