//! `vmad` where it saturates or scales: the product in a word where that holds it, else in a long word whose halves decide
//! whether the sum is clamped.

use super::long::{Long, added, fits, operands, scaled};
use super::saturate::{Plan, clamped_word};
use super::{Stages, Word, clamped, product, signed, unsigned};
use crate::interval::Interval;
use crate::isa::form::{MadMode, Variant};
use crate::isa::range::Range;
use crate::isa::types::{Comparison, Operation, Type};
use crate::lower::base::Op;
use crate::lower::candidate::{NotApplicable, Output, Value, Written};

/// The product in a word, then a saturating sum.
pub(super) fn word(s: &mut Stages, plan: Plan) -> Written {
    let Variant::Mad(mode, None) = s.form.variant() else { return Err(NotApplicable) };
    let Some(to) = s.form.saturation_by(s.by) else { return Err(NotApplicable) };
    if to != Range::new(plan.to.is_signed(), 32) {
        return Err(NotApplicable);
    }
    let one = i128::from(mode == MadMode::PlusOne);
    let mut interval = product(s.interval(false), s.interval(true));
    interval.min += one;
    interval.max += one;
    let (a, b) = (s.word(false), s.word(true));
    let value = match mode {
        MadMode::PlusOne => s.b.op(Op::Mad, &[a, b, Value::Word(1)]),
        _ => s.b.op(Op::Mul, &[a, b]),
    };
    let p = Word { value, interval };
    let c = Word { value: Value::C, interval: s.c().into() };
    let (operation, operands) = match (mode.negates_product(), mode.negates_c()) {
        (true, _) => (Operation::Sub, [c, p]),
        (_, true) => (Operation::Sub, [p, c]),
        _ => (Operation::Add, [p, c]),
    };
    let t = clamped_word(&mut s.b, operation, operands, plan)?;
    Ok(Output::Value(t.value))
}

/// The sum in a long word, clamped by its upper half where it is not sure to fit.
pub(super) fn long(s: &mut Stages, way: u8) -> Written {
    let Variant::Mad(mode, scale) = s.form.variant() else { return Err(NotApplicable) };
    let to = s.form.saturation_by(s.by);
    if to.is_none() && scale.is_none() {
        return Err(NotApplicable);
    }
    let bits = scale.map_or(0, |scale| scale.bits());
    let (mut p, c) = operands(s);
    let fits = fits(mode, p.interval, c.interval);
    if !fits && to.is_some() {
        // Products from 2^62 on saturate in any case.
        let (low, high) = (s.b.op(Op::Low, &[p.value]), s.b.op(Op::High, &[p.value]));
        let high = s.b.op(Op::Min(Type::U32), &[high, Value::Word((1 << 30) - 1)]);
        p = Long { value: s.b.op(Op::Join, &[low, high]), interval: clamped(p.interval, unsigned(62)) };
    }
    let mut sum = added(s, mode, p, c, way);
    if !fits && to.is_none() {
        // A sum of 65 bits of which only the lower bits count is as good as any.
        sum.interval = signed(64);
    }
    if bits > 0 && s.form.scales_unsigned(s.by) && sum.interval.min < 0 {
        sum.interval = unsigned(64);
    }
    let t = scaled(s, sum, bits);
    let low = s.b.op(Op::Low, &[t.value]);
    let Some(to) = to.filter(|&to| !Interval::from(to).holds(t.interval)) else { return Ok(Output::Value(low)) };
    let (least, greatest) = (Value::Word(to.min() as u32), Value::Word(to.max() as u32));
    let high = s.b.op(Op::High, &[sum.value]);
    let (below, above) = (t.interval.min < to.min().into(), t.interval.max > to.max().into());
    let end = match (below, above) {
        // The sign is added to the greatest, and makes it the least.
        (true, true) => {
            let sign = s.b.op(Op::Shr(Type::U32), &[high, Value::Word(31)]);
            s.b.op(Op::Add, &[sign, greatest])
        }
        (true, false) => least,
        _ => greatest,
    };
    let value = if !to.signed {
        s.b.choose(Comparison::Ge, Type::U32, [high, Value::Word(1 << bits)], [end, low])
    } else if bits == 0 {
        // The upper half must be the sign of the lower.
        let top = s.b.op(Op::Shr(Type::U32), &[low, Value::Word(31)]);
        let rest = s.b.op(Op::Add, &[top, high]);
        s.b.choose(Comparison::Ne, Type::U32, [rest, Value::Word(0)], [end, low])
    } else {
        let rest = s.b.op(Op::Add, &[high, Value::Word(1 << (bits - 1))]);
        s.b.choose(Comparison::Ge, Type::U32, [rest, Value::Word(1 << bits)], [end, low])
    };
    Ok(Output::Value(value))
}
