//! Rules of whole words: nothing is carried from lane to lane that does harm.

use crate::isa::types::{Comparison, Operation, Type};
use crate::lower::base::Op;
use crate::lower::candidate::{Builder, NotApplicable, Pick, Value, Written};

/// The two operations whose results are taken modulo the lane's size: whether it is the difference.
fn modular_sub(b: &Builder) -> Result<bool, NotApplicable> {
    match b.operation() {
        Operation::Add | Operation::Sub if b.clamp().is_some() || b.accumulates() => Err(NotApplicable),
        Operation::Add => Ok(false),
        Operation::Sub => Ok(true),
        _ => Err(NotApplicable),
    }
}

/// Sums and differences of the lower bits, and the highest apart.
pub(super) fn add_sub(b: &mut Builder) -> Written {
    let sub = modular_sub(b)?;
    let [x, y] = b.sources();
    let (highest, lower) = (b.highest_bits(), b.lower_bits());
    let [left, right, difference];
    if sub {
        left = b.lop2(|x, k| x | k, x, highest);
        right = b.lop2(|y, k| y & k, y, lower);
        difference = b.lop3(|x, y, k| !(x ^ y) & k, x, y, highest);
    } else {
        left = b.lop2(|x, k| x & k, x, lower);
        right = b.lop2(|y, k| y & k, y, lower);
        difference = b.lop3(|x, y, k| (x ^ y) & k, x, y, highest);
    }
    let op = if sub { Op::Sub } else { Op::Add };
    let result = b.op(op, &[left, right]);
    let lanes = b.lop2(|x, y| x ^ y, result, difference);
    Ok(b.in_positions(lanes))
}

/// Sums made even, or differences made odd: what one lane carries into the next stays in its lowest bit, which is known without.
pub(super) fn add_sub_parity(b: &mut Builder) -> Written {
    let sub = modular_sub(b)?;
    let [x, y] = b.sources();
    let lowest = b.lowest_bits();
    let (parity, result);
    if sub {
        parity = b.lop3(|x, y, k| !(x ^ y) & k, x, y, lowest);
        let difference = b.op(Op::Sub, &[x, y]);
        result = b.op(Op::Add, &[difference, parity]);
    } else {
        parity = b.lop3(|x, y, k| (x ^ y) & k, x, y, lowest);
        let sum = b.op(Op::Add, &[x, y]);
        result = b.op(Op::Sub, &[sum, parity]);
    }
    // Of an odd difference the lowest bit is set where that of the true one is not.
    let known = |p: u8| if sub { !p } else { p };
    let lanes = b.lop3(|t, p, k| t & !k | known(p) & k, result, parity, lowest);
    Ok(b.in_positions(lanes))
}

/// Sums and differences of half-words: what was carried into the upper one is taken back.
pub(super) fn add_sub_halves(b: &mut Builder) -> Written {
    let sub = modular_sub(b)?;
    if b.bits() != 16 || !b.is_full() {
        return Err(NotApplicable);
    }
    let [x, y] = b.sources();
    let (op, back) = if sub { (Op::Sub, Op::Add) } else { (Op::Add, Op::Sub) };
    let result = b.op(op, &[x, y]);
    let carries = b.lop3(|r, x, y| r ^ x ^ y, result, x, y);
    let carry = b.lop2(|c, k| c & k, carries, Value::Word(0x1_0000));
    let lanes = b.op(back, &[result, carry]);
    Ok(b.in_positions(lanes))
}

/// Sums and differences of lanes that do not touch: nothing is carried into them from what lies between.
pub(super) fn add_sub_separate(b: &mut Builder) -> Written {
    let sub = modular_sub(b)?;
    let live = b.live();
    if live.windows(2).any(|pair| pair[0] + 1 == pair[1]) {
        return Err(NotApplicable);
    }
    let bytes = (b.bits() / 8) as u8;
    let below = live[0] * bytes;
    let last = live[live.len() - 1] * bytes;
    let several = live.len() > 1;
    // Below the first lane one operand is zero; between lanes, a sum of both operands' zeros takes in a carry, as a difference
    // of ones and zeros takes in a borrow.
    let zero_between = |i: u8| if i < below || several && i < last { Pick::Zero } else { Pick::Any };
    let [x, y];
    if sub {
        let plain = b.source(false);
        x = match several {
            true => {
                let ones = (0..4).filter(|i| !live.contains(&(i / bytes))).fold(0, |word, i| word | 0xff << (8 * i));
                b.lop2(|x, k| x | k, plain, Value::Word(ones))
            }
            false => plain,
        };
        y = b.source_with(true, zero_between);
    } else {
        x = b.source_with(false, zero_between);
        y = if several { b.source_with(true, zero_between) } else { b.source(true) };
    }
    let lanes = b.op(if sub { Op::Sub } else { Op::Add }, &[x, y]);
    Ok(b.in_positions(lanes))
}

/// Minimum and maximum: the comparison's bit, in all bits of the lane, chooses.
pub(super) fn min_max(b: &mut Builder) -> Written {
    let is_max = b.is_maximum()?;
    let [x, y] = b.sources();
    let signed = b.signed();
    let greater = b.greater(x, y, signed == [true, true]);
    let greater = match signed {
        [false, true] => b.lop2(|t, y| t | y, greater, y),
        [true, false] => b.lop2(|t, x| t & !x, greater, x),
        _ => greater,
    };
    let mask = b.spread(greater);
    let lanes = match is_max {
        true => b.lop3(|x, y, m| (m & x) | (!m & y), x, y, mask),
        false => b.lop3(|x, y, m| (m & y) | (!m & x), x, y, mask),
    };
    let result_signed = if signed[0] == signed[1] { signed[0] } else { !is_max };
    b.end(lanes, result_signed)
}

/// Unsigned clamped sums and differences: x - min(x, y) and x + min(¬x, y).
pub(super) fn saturating_add_sub(b: &mut Builder) -> Written {
    let Some(to) = b.clamp() else { return Err(NotApplicable) };
    let sub = match b.operation() {
        Operation::Add => false,
        Operation::Sub => true,
        _ => return Err(NotApplicable),
    };
    if b.common_type()? || to.signed {
        return Err(NotApplicable);
    }
    let [x, y] = b.sources();
    let most = if sub { x } else { b.not(x) };
    let greater = b.greater(most, y, false);
    let mask = b.spread(greater);
    let lesser = b.lop3(|x, y, m| (m & y) | (!m & x), most, y, mask);
    let lanes = b.op(if sub { Op::Sub } else { Op::Add }, &[x, lesser]);
    Ok(b.in_positions(lanes))
}

/// Comparisons: in the highest bit of every lane.
pub(super) fn compare(b: &mut Builder) -> Written {
    let comparison = b.form.comparison().ok_or(NotApplicable)?;
    let signed = b.signed();
    let inverted = matches!(comparison, Comparison::Eq | Comparison::Ge | Comparison::Le);
    let [x, y] = b.sources();
    let highest = b.highest_bits();
    // The word whose highest bits are the answers, or the opposite; where that is another instruction, it turns them too.
    let (word, inverted) = match comparison {
        Comparison::Eq | Comparison::Ne => {
            let lower = b.lower_bits();
            let differing = b.lop3(|x, y, k| (x ^ y) & k, x, y, lower);
            let carried = b.op(Op::Add, &[differing, lower]);
            let turn = inverted && b.accumulates();
            let word = match (signed[0] == signed[1], turn) {
                (true, false) => b.lop3(|t, x, y| t | (x ^ y), carried, x, y),
                (true, true) => b.lop3(|t, x, y| !(t | (x ^ y)), carried, x, y),
                (false, false) => b.lop3(|t, x, y| t | x | y, carried, x, y),
                (false, true) => b.lop3(|t, x, y| !(t | x | y), carried, x, y),
            };
            (word, inverted && !turn)
        }
        _ => {
            let swapped = matches!(comparison, Comparison::Lt | Comparison::Ge);
            let (x, y) = if swapped { (y, x) } else { (x, y) };
            let signed = if swapped { [signed[1], signed[0]] } else { signed };
            let greater = b.greater(x, y, signed == [true, true]);
            // Of mixed types the signed input's sign decides first.
            let (with, function): (Value, fn(u8, u8) -> u8) = match signed {
                [false, true] => (y, |t, y| t | y),
                [true, false] => (x, |t, x| t & !x),
                _ => (Value::Word(0), |t, _| t),
            };
            let is_mixed = signed[0] != signed[1];
            if b.accumulates() {
                let word = match (is_mixed, inverted) {
                    (false, false) => greater,
                    (_, false) => b.lop2(function, greater, with),
                    (_, true) => b.lop2(|t, s| !function(t, s), greater, with),
                };
                (word, false)
            } else {
                let word = match inverted {
                    false => b.lop3(|t, s, k| function(t, s) & k, greater, with, highest),
                    true => b.lop3(|t, s, k| !function(t, s) & k, greater, with, highest),
                };
                let lanes = b.op(Op::Shr(Type::U32), &[word, Value::Word(b.bits() - 1)]);
                return Ok(b.in_positions(lanes));
            }
        }
    };
    if !b.accumulates() {
        let shifted = b.op(Op::Shr(Type::U32), &[word, Value::Word(b.bits() - 1)]);
        let one = b.lowest_bits();
        let lanes = match inverted {
            true => b.lop2(|t, k| !t & k, shifted, one),
            false => b.lop2(|t, k| t & k, shifted, one),
        };
        return Ok(b.in_positions(lanes));
    }
    Ok(b.count_signs(word))
}
