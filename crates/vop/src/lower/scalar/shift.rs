//! `vshl` where more than the lower bits of its result count.

use super::long;
use super::word::{clamp, finished};
use super::{Stages, Word};
use crate::eval::Exact;
use crate::interval::Interval;
use crate::isa::form::Finish;
use crate::isa::range::Range;
use crate::isa::types::{Comparison, Operation, Secondary, Type};
use crate::lower::base::Op;
use crate::lower::candidate::{NotApplicable, Output, Value, Written};

const ZERO: Value = Value::Word(0);

/// Saturates by asking whether a exceeds the greatest result shifted right.
pub(super) fn limited(s: &mut Stages) -> Written {
    let to = saturation(s)?;
    let mut a = s.word(false);
    if s.input(false).signed {
        if to.min < 0 {
            return Err(NotApplicable);
        }
        a = s.b.op(Op::Max(Type::S32), &[a, ZERO]);
    }
    let amount = s.amount();
    let greatest = Value::Word(to.max as u32);
    let limit = s.b.op(Op::Shr(Type::U32), &[greatest, amount]);
    let t = s.b.op(Op::Shl, &[a, amount]);
    let value = s.b.choose(Comparison::Gt, Type::U32, [a, limit], [greatest, t]);
    finished(s, Word { value, interval: Interval { min: 0, max: to.max } }, 0)
}

/// Saturates to a signed word by shifting back.
pub(super) fn shifted_back(s: &mut Stages) -> Written {
    let to = saturation(s)?;
    let word = Interval::from(Range::new(true, 32));
    if !s.input(false).signed || !word.holds(to) {
        return Err(NotApplicable);
    }
    let (a, amount) = (s.word(false), s.amount());
    let t = s.b.op(Op::Shl, &[a, amount]);
    let back = s.b.op(Op::Shr(Type::S32), &[t, amount]);
    let end = end(s, a, Value::Word(i32::MAX as u32));
    let value = s.b.choose(Comparison::Ne, Type::U32, [back, a], [end, t]);
    let t = clamp(s, Word { value, interval: word }, to, 0)?;
    finished(s, t, 0)
}

/// Saturates to a part of a word: operands that are clamped before shift no bit out, and saturate all the same.
pub(super) fn clamped_before(s: &mut Stages) -> Written {
    let to = saturation(s)?;
    let Finish::Merge(part) = s.form.finish() else { return Err(NotApplicable) };
    let Range { signed, bits } = s.input(false);
    let mut a = Word { value: s.word(false), interval: s.interval(false) };
    if bits == 32 {
        let least = if signed && to.min == 0 { 0 } else { a.interval.min.max(-(1 << 15)) };
        let greatest = if least < 0 { (1 << 15) - 1 } else { (1 << 16) - 1 };
        a = clamp(s, a, Interval { min: least, max: greatest }, 1)?;
    }
    let most = part.bits();
    let amount = s.amount();
    let amount = s.b.op(Op::Min(Type::U32), &[amount, Value::Word(most)]);
    let value = s.b.op(Op::Shl, &[a.value, amount]);
    let Interval { min, max } = a.interval;
    let interval = Interval { min: min.min(min << most), max: max.max(max << most) };
    let t = clamp(s, Word { value, interval }, to, 0)?;
    finished(s, t, 0)
}

/// Saturates as ptxas's code does, the lower 34 bits to a word: by the upper three or two of them.
pub(super) fn low34(s: &mut Stages) -> Written {
    if s.form.mnemonic().operation() != Operation::Shl || !s.form.keeps_low_34_bits(s.by) {
        return Err(NotApplicable);
    }
    let to = s.form.saturation_by(s.by).filter(|to| to.bits == 32).ok_or(NotApplicable)?;
    let t = long::shifted(s).value;
    let low = s.b.op(Op::Low, &[t]);
    let greatest = Value::Word(to.max() as u32);
    let value = if to.signed {
        let t = s.b.op(Op::ShrLong(Type::U32), &[t, Value::Word(2)]);
        let top = s.b.op(Op::Low, &[t]);
        let end = end(s, top, greatest);
        let rest = s.b.op(Op::Add, &[top, Value::Word(1 << 29)]);
        s.b.choose(Comparison::Ge, Type::U32, [rest, Value::Word(1 << 30)], [end, low])
    } else {
        let high = s.b.op(Op::High, &[t]);
        let top = s.b.op(Op::Shl, &[high, Value::Word(30)]);
        let end = end(s, top, greatest);
        s.b.choose(Comparison::Ne, Type::U32, [top, ZERO], [end, low])
    };
    finished(s, Word { value, interval: to.into() }, 0)
}

/// Where saturation ends, by the sign of a word: at the greatest value, or the least, which is one more.
fn end(s: &mut Stages, sign: Value, greatest: Value) -> Value {
    let sign = s.b.op(Op::Shr(Type::U32), &[sign, Value::Word(31)]);
    s.b.op(Op::Add, &[sign, greatest])
}

/// A secondary comparison: t exceeds c if a exceeds c shifted right, rounded down.
pub(super) fn compared_before(s: &mut Stages) -> Written {
    let Finish::Secondary(secondary @ (Secondary::Min | Secondary::Max)) = s.form.finish() else {
        return Err(NotApplicable);
    };
    let (a_signed, c_signed) = (s.input(false).signed, s.c().signed);
    // c is never above what saturation clamps to, so the lesser of both needs no clamp from above.
    let saturates = s.form.sat() && (secondary == Secondary::Max || a_signed);
    if s.form.mnemonic().operation() != Operation::Shl || saturates || deviates(s) {
        return Err(NotApplicable);
    }
    let (mut a, amount) = (s.word(false), s.amount());
    let t = s.b.op(Op::Shl, &[a, amount]);
    let mut c = Value::C;
    if a_signed && !c_signed {
        a = s.b.op(Op::Max(Type::S32), &[a, ZERO]);
    }
    if c_signed && !a_signed {
        c = s.b.op(Op::Max(Type::S32), &[c, ZERO]);
    }
    let ty = super::type_of(a_signed && c_signed);
    let limit = s.b.op(Op::Shr(ty), &[c, amount]);
    let values = if secondary == Secondary::Min { [c, t] } else { [t, c] };
    let mut value = s.b.choose(Comparison::Gt, ty, [a, limit], values);
    if c_signed && !a_signed && secondary == Secondary::Min {
        value = s.b.op(Op::Min(Type::S32), &[value, Value::C]);
    }
    Ok(Output::Value(value))
}

/// Where `vshl` saturates to by the manual.
fn saturation(s: &Stages) -> Result<Interval, NotApplicable> {
    if s.form.mnemonic().operation() != Operation::Shl || deviates(s) {
        return Err(NotApplicable);
    }
    s.clamps_to().filter(|to| to.max < Exact::MAX).ok_or(NotApplicable)
}

/// Whether ptxas's ways with large results count.
fn deviates(s: &Stages) -> bool {
    let Stages { form, by, .. } = *s;
    form.compares_unsigned(by) || form.cuts_to_32_bits(by) || form.keeps_low_34_bits(by) || form.shifts_in_64_bits(by)
}
