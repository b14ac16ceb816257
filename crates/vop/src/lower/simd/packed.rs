//! Rules that use packed instructions of the lanes' own width.

use crate::isa::types::{Comparison, Operation, Type};
use crate::lower::base::{Op, PackedOp};
use crate::lower::candidate::{Builder, Cut, NotApplicable, Output, Value, Written};

/// Sums and differences modulo the lane's size.
pub(super) fn add_sub(b: &mut Builder) -> Written {
    if b.accumulates() || b.clamp().is_some() || !b.has_packed() {
        return Err(NotApplicable);
    }
    let [x, y] = b.sources();
    let lanes = match b.operation() {
        Operation::Add => b.on_lanes(PackedOp::Add, false, x, y),
        Operation::Sub => b.sub_lanes(x, y),
        _ => return Err(NotApplicable),
    };
    Ok(b.in_positions(lanes))
}

impl Builder {
    /// x - y, but no less than 0, in unsigned lanes.
    fn sub_to_zero(&mut self, x: Value, y: Value) -> Value {
        if self.bits() == 8 {
            return self.on_lanes(PackedOp::SubSat, false, x, y);
        }
        let greater = self.on_lanes(PackedOp::Max, false, x, y);
        self.op(Op::Sub, &[greater, y])
    }

    /// x - y, clamped, in signed lanes.
    fn sub_clamped(&mut self, x: Value, y: Value) -> Value {
        if self.bits() == 8 {
            return self.on_lanes(PackedOp::SubSat, true, x, y);
        }
        let complement = self.not(x);
        let sum = self.on_lanes(PackedOp::AddSat, true, complement, y);
        self.not(sum)
    }

    /// The highest bit of every lane turned: signed to unsigned lanes 2^(bits - 1) greater, and back.
    pub(super) fn biased(&mut self, x: Value) -> Value {
        self.lop2(|x, k| x ^ k, x, self.highest_bits())
    }
}

/// Clamped sums and differences, of all types.
pub(super) fn saturating_add_sub(b: &mut Builder) -> Written {
    let Some(to) = b.clamp().filter(|_| b.has_packed()) else { return Err(NotApplicable) };
    let [mut x, mut y] = b.sources();
    let [mut x_signed, mut y_signed] = b.signed();
    let sub = match b.operation() {
        Operation::Add => false,
        Operation::Sub => true,
        _ => return Err(NotApplicable),
    };
    if !sub && x_signed && !y_signed {
        (x, y, x_signed, y_signed) = (y, x, false, true);
    }
    let one = b.lowest_bits();
    let lanes = match (sub, x_signed, y_signed, to.signed) {
        (false, false, false, false) => b.on_lanes(PackedOp::AddSat, false, x, y),
        (false, false, false, true) => {
            let sum = b.on_lanes(PackedOp::AddSat, false, x, y);
            b.on_lanes(PackedOp::Min, false, sum, b.lower_bits())
        }
        (false, true, true, true) => b.on_lanes(PackedOp::AddSat, true, x, y),
        (false, true, true, false) => {
            // No less than -1, and 1 more; then 1 less but no less than 0.
            let complement = b.not(y);
            let greater = b.on_lanes(PackedOp::Max, true, x, complement);
            let sum = b.on_lanes(PackedOp::Add, false, greater, y);
            let more = b.on_lanes(PackedOp::Add, false, sum, one);
            b.sub_to_zero(more, one)
        }
        (false, _, true, true) => {
            let biased = b.biased(y);
            let sum = b.on_lanes(PackedOp::AddSat, false, x, biased);
            b.biased(sum)
        }
        (false, ..) => {
            let positive = b.relu(y);
            let negative = b.sub_lanes(positive, y);
            let sum = b.on_lanes(PackedOp::AddSat, false, x, positive);
            b.sub_to_zero(sum, negative)
        }
        (true, false, false, false) => b.sub_to_zero(x, y),
        (true, false, false, true) => {
            let (x, y) = (b.biased(x), b.biased(y));
            b.sub_clamped(x, y)
        }
        (true, true, true, true) => b.sub_clamped(x, y),
        (true, true, true, false) => {
            let greater = b.on_lanes(PackedOp::Max, true, x, y);
            b.sub_lanes(greater, y)
        }
        (true, true, false, true) => {
            let biased = b.biased(x);
            let difference = b.sub_to_zero(biased, y);
            b.biased(difference)
        }
        (true, true, false, false) => {
            let positive = b.relu(x);
            b.sub_to_zero(positive, y)
        }
        (true, false, true, true) => {
            // x + ¬y + 1, biased.
            let complement = b.lop2(|y, k| y ^ k, y, b.lower_bits());
            let sum = b.on_lanes(PackedOp::AddSat, false, x, complement);
            let more = b.on_lanes(PackedOp::AddSat, false, sum, one);
            b.biased(more)
        }
        (true, false, true, false) => {
            let positive = b.relu(y);
            let negative = b.sub_lanes(positive, y);
            let difference = b.sub_to_zero(x, positive);
            b.on_lanes(PackedOp::AddSat, false, difference, negative)
        }
    };
    Ok(b.in_positions(lanes))
}

/// Unsigned clamped sums without an instruction that clamps: x + min(y, ¬x).
pub(super) fn add_below_complement(b: &mut Builder) -> Written {
    let Some(to) = b.clamp() else { return Err(NotApplicable) };
    if b.operation() != Operation::Add || b.common_type()? || b.bits() == 8 || !b.has_packed() {
        return Err(NotApplicable);
    }
    let [x, y] = b.sources();
    let complement = b.not(x);
    let lesser = b.on_lanes(PackedOp::Min, false, y, complement);
    let sum = b.op(Op::Add, &[lesser, x]);
    let lanes = if to.signed { b.on_lanes(PackedOp::Min, false, sum, b.lower_bits()) } else { sum };
    Ok(b.in_positions(lanes))
}

/// Minimum and maximum, of all types.
pub(super) fn min_max(b: &mut Builder) -> Written {
    let (op, op_relu) = match b.operation() {
        Operation::Min => (PackedOp::Min, PackedOp::MinRelu),
        Operation::Max => (PackedOp::Max, PackedOp::MaxRelu),
        _ => return Err(NotApplicable),
    };
    if !b.has_packed() {
        return Err(NotApplicable);
    }
    let clamp = b.clamp();
    if let Ok(signed) = b.common_type() {
        let [x, y] = b.sources();
        let lanes = match clamp.map(|to| to.signed) {
            Some(false) => b.on_lanes(op_relu, true, x, y),
            Some(true) => {
                let lanes = b.on_lanes(op, false, x, y);
                b.on_lanes(PackedOp::Min, false, lanes, b.lower_bits())
            }
            None => b.on_lanes(op, signed, x, y),
        };
        return Ok(match b.accumulates() {
            true => b.accumulate(lanes, signed),
            false => b.in_positions(lanes),
        });
    }
    let [x, y] = b.mixed_sources()?;
    // What lies outside the result's type is cut off before, from the one input that can lie there.
    let signed = match clamp {
        Some(to) => to.signed,
        None => op == PackedOp::Min,
    };
    let lanes = match signed {
        false => {
            let y = b.relu(y);
            b.on_lanes(op, false, x, y)
        }
        true => {
            let x = b.on_lanes(PackedOp::Min, false, x, b.lower_bits());
            b.on_lanes(op, true, x, y)
        }
    };
    Ok(match b.accumulates() {
        true => b.accumulate(lanes, signed),
        false => b.in_positions(lanes),
    })
}

/// |x - y| of equal types: the greater less the lesser.
pub(super) fn absdiff(b: &mut Builder) -> Written {
    if b.operation() != Operation::Absdiff || !b.has_packed() {
        return Err(NotApplicable);
    }
    let signed = b.common_type()?;
    let [x, y] = b.sources();
    let greater = b.on_lanes(PackedOp::Max, signed, x, y);
    let lesser = b.on_lanes(PackedOp::Min, signed, x, y);
    let lanes = match (b.bits(), signed) {
        // Nothing is borrowed from the next lane.
        (16, false) => b.op(Op::Sub, &[greater, lesser]),
        _ => b.sub_lanes(greater, lesser),
    };
    if b.accumulates() {
        return Ok(b.accumulate(lanes, false));
    }
    let lanes = if b.clamp().is_some() { b.on_lanes(PackedOp::Min, false, lanes, b.lower_bits()) } else { lanes };
    Ok(b.in_positions(lanes))
}

/// |x - y| of an unsigned x and a signed y: |x - p| + (p - y) where p is y or 0.
pub(super) fn mixed_absdiff(b: &mut Builder) -> Written {
    if b.operation() != Operation::Absdiff || !b.has_packed() {
        return Err(NotApplicable);
    }
    let [x, y] = b.mixed_sources()?;
    let positive = b.relu(y);
    let negative = b.sub_lanes(positive, y);
    let greater = b.on_lanes(PackedOp::Max, false, x, positive);
    let lesser = b.on_lanes(PackedOp::Min, false, x, positive);
    let difference = match b.bits() {
        16 => b.op(Op::Sub, &[greater, lesser]),
        _ => b.sub_lanes(greater, lesser),
    };
    if b.accumulates() {
        return Ok(Output::Value(b.sum_both([(difference, false, 1), (negative, false, 1)], Value::C)));
    }
    let clamp = b.clamp();
    let op = if clamp.is_some() { PackedOp::AddSat } else { PackedOp::Add };
    let sum = b.on_lanes(op, false, difference, negative);
    let lanes = match clamp {
        Some(to) if to.signed => b.on_lanes(PackedOp::Min, false, sum, b.lower_bits()),
        _ => sum,
    };
    Ok(b.in_positions(lanes))
}

/// |x - y| of mixed types modulo the lane's size, or accumulated: the greater less the lesser, each in the type that has it.
pub(super) fn mixed_max_min(b: &mut Builder) -> Written {
    if b.operation() != Operation::Absdiff || b.clamp().is_some() || !b.has_packed() {
        return Err(NotApplicable);
    }
    let [x, y] = b.mixed_sources()?;
    let positive = b.relu(y);
    let greater = b.on_lanes(PackedOp::Max, false, x, positive);
    let small = b.on_lanes(PackedOp::Min, false, x, b.lower_bits());
    let lesser = b.on_lanes(PackedOp::Min, true, small, y);
    if b.accumulates() {
        return Ok(Output::Value(b.sum_both([(greater, false, 1), (lesser, true, -1)], Value::C)));
    }
    let lanes = b.sub_lanes(greater, lesser);
    Ok(b.in_positions(lanes))
}

/// Accumulated |x - y| as twice the greater, less both inputs, which stand where they stand.
pub(super) fn twice_maximum(b: &mut Builder) -> Written {
    if b.operation() != Operation::Absdiff || !b.accumulates() || !b.has_packed() {
        return Err(NotApplicable);
    }
    let (greater, signed) = match b.common_type() {
        Ok(signed) => {
            let [x, y] = b.sources();
            (b.on_lanes(PackedOp::Max, signed, x, y), signed)
        }
        Err(NotApplicable) => {
            let [x, y] = b.mixed_sources()?;
            let positive = b.relu(y);
            (b.on_lanes(PackedOp::Max, false, x, positive), false)
        }
    };
    let minus = b.placement.map(|lane| if lane.is_some() { -1 } else { 0 });
    let less = b.sum(Value::C, [minus; 2]);
    let twice = b.weights(2);
    Ok(Output::Value(b.dot(signed, greater, twice, less)))
}

/// Accumulated comparisons by the sign of a clamped difference: of x - y for <, and of x + ¬y, which is 1 less, for ≤.
pub(super) fn compare_by_sign(b: &mut Builder) -> Written {
    let comparison = b.form.comparison().filter(|_| b.accumulates() && b.has_saturating()).ok_or(NotApplicable)?;
    let [x, y] = b.sources();
    let [x_signed, y_signed] = b.signed();
    let (x, y, x_signed, y_signed) = match comparison {
        Comparison::Lt | Comparison::Le => (x, y, x_signed, y_signed),
        Comparison::Gt | Comparison::Ge => (y, x, y_signed, x_signed),
        Comparison::Eq | Comparison::Ne => return Err(NotApplicable),
    };
    let is_strict = matches!(comparison, Comparison::Lt | Comparison::Gt);
    let signs = match (x_signed, y_signed, is_strict) {
        (true, true, true) if b.bits() == 8 => b.on_lanes(PackedOp::SubSat, true, x, y),
        (true, true, false) => {
            let complement = b.not(y);
            b.on_lanes(PackedOp::AddSat, true, x, complement)
        }
        // What has its highest bit set and is unsigned is greater than all that is signed.
        (false, true, false) => {
            let complement = b.not(y);
            let signs = b.on_lanes(PackedOp::AddSat, true, x, complement);
            b.lop2(|t, x| t & !x, signs, x)
        }
        (true, false, false) => {
            let complement = b.not(y);
            let signs = b.on_lanes(PackedOp::AddSat, true, x, complement);
            b.lop2(|t, y| t | y, signs, y)
        }
        (false, true, true) => {
            // x < y is the opposite of y ≤ x.
            let complement = b.not(x);
            let signs = b.on_lanes(PackedOp::AddSat, true, y, complement);
            b.lop2(|t, x| !(t | x), signs, x)
        }
        (true, false, true) => {
            let complement = b.not(x);
            let signs = b.on_lanes(PackedOp::AddSat, true, y, complement);
            b.lop2(|t, y| !(t & !y), signs, y)
        }
        _ => return Err(NotApplicable),
    };
    Ok(b.count_signs(signs))
}

/// Comparisons: 1 or 0 in every lane; where the form accumulates, 0 in those that do not count.
pub(super) fn compare(b: &mut Builder) -> Written {
    let Some(comparison) = b.form.comparison().filter(|_| b.has_packed()) else { return Err(NotApplicable) };
    let [x, y] = b.sources();
    let one = match b.accumulates() {
        true => b.lowest_live_bits(),
        false => b.lowest_bits(),
    };
    let [x_signed, y_signed] = b.signed();
    let bytes = b.bits() == 8;
    let lanes = match comparison {
        Comparison::Eq | Comparison::Ne => {
            let differing = b.differing(x, y);
            match (comparison, bytes) {
                (Comparison::Eq, true) => b.on_lanes(PackedOp::SubSat, false, one, differing),
                (Comparison::Eq, false) => {
                    let differ = b.on_lanes(PackedOp::Min, false, differing, one);
                    b.lop2(|x, y| x ^ y, differ, one)
                }
                _ => b.on_lanes(PackedOp::Min, false, differing, one),
            }
        }
        _ => {
            let swapped = matches!(comparison, Comparison::Lt | Comparison::Ge);
            let inverted = matches!(comparison, Comparison::Ge | Comparison::Le);
            let (x, y) = if swapped { (y, x) } else { (x, y) };
            let (x_signed, y_signed) = if swapped { (y_signed, x_signed) } else { (x_signed, y_signed) };
            // A negative x is greater than no unsigned y, as 0 is not.
            let (x, x_signed) = if x_signed && !y_signed { (b.relu(x), false) } else { (x, x_signed) };
            match (x_signed == y_signed, bytes, x_signed, inverted) {
                (true, true, false, _) => {
                    let difference = b.on_lanes(PackedOp::SubSat, false, x, y);
                    match inverted {
                        true => b.on_lanes(PackedOp::SubSat, false, one, difference),
                        false => b.on_lanes(PackedOp::Min, false, difference, one),
                    }
                }
                (true, true, true, false) => {
                    let difference = b.on_lanes(PackedOp::SubSat, true, x, y);
                    b.on_lanes(PackedOp::MinRelu, true, difference, one)
                }
                (is_same, ..) => {
                    let greater = b.on_lanes(PackedOp::Max, x_signed && is_same, x, y);
                    let differing = match is_same {
                        true => b.lop2(|x, y| x ^ y, greater, y),
                        false => b.lop3(|x, y, k| (x ^ y) | (y & k), greater, y, b.highest_bits()),
                    };
                    if bytes && inverted {
                        b.on_lanes(PackedOp::SubSat, false, one, differing)
                    } else {
                        let holds = b.on_lanes(PackedOp::Min, false, differing, one);
                        if inverted { b.lop2(|x, y| x ^ y, holds, one) } else { holds }
                    }
                }
            }
        }
    };
    if !b.accumulates() {
        return Ok(b.in_positions(lanes));
    }
    if b.live() == [b.lanes() as u8 - 1] {
        return Ok(b.accumulate(lanes, false));
    }
    // The squares of 0 and 1 need no constant.
    b.cut = Some(Cut { value: lanes, signed: false, factor: 1, offset: 0, others_are_zero: true });
    Ok(Output::Value(b.op(Op::Dp4a(Type::S32, Type::S32), &[lanes, lanes, Value::C])))
}

impl Builder {
    /// A word that is zero in the lanes in which the sources are equal. The highest bits of mixed types must both be zero.
    pub(super) fn differing(&mut self, x: Value, y: Value) -> Value {
        let highest = self.highest_bits();
        match self.signed() {
            [true, false] => self.lop3(|x, y, k| (x ^ y) | (x & k), x, y, highest),
            [false, true] => self.lop3(|x, y, k| (x ^ y) | (y & k), x, y, highest),
            _ => self.lop2(|x, y| x ^ y, x, y),
        }
    }
}
