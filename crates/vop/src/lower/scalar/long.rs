//! Every stage in long words: the manual's pseudo code, line by line. It applies to every form in all semantics, and is what
//! is left where no rule does better.
//!
//! A long word holds every intermediate value but those of `vmad` with a negated sign and an unsigned product, which need 65
//! bits; of these, as much is kept as the result depends on.

use super::{Stages, clamped, negated, product, signed, sum, type_of, unsigned};
use crate::eval::Exact;
use crate::interval::Interval;
use crate::isa::form::{Finish, MadMode, Variant};
use crate::isa::range::Range;
use crate::isa::types::{Operation, Scale, Secondary, Type};
use crate::lower::base::Op;
use crate::lower::candidate::{NotApplicable, Output, Value, Written};

/// A number in a long word, which holds all values of the interval, as a signed or an unsigned one.
#[derive(Debug, Clone, Copy)]
pub(super) struct Long {
    pub(super) value: Value,
    pub(super) interval: Interval,
}

impl Long {
    /// The type by which it is compared: signed, if that holds it.
    fn ty(self) -> Type {
        type_of(signed(64).holds(self.interval))
    }
}

pub(super) fn stages(s: &mut Stages) -> Written {
    let t = operated(s)?;
    let t = saturated(s, t);
    Ok(finished(s, t))
}

/// The first or second input.
fn input(s: &mut Stages, second: bool) -> Long {
    let (range, word) = (s.input(second), s.word(second));
    Long { value: s.b.op(Op::Extend(type_of(range.signed)), &[word]), interval: range.into() }
}

fn operated(s: &mut Stages) -> Result<Long, NotApplicable> {
    let operation = s.form.mnemonic().operation();
    match (operation, s.form.variant()) {
        (Operation::Shl | Operation::Shr, _) => return Ok(shifted(s)),
        (Operation::Mad, Variant::Mad(mode, scale)) => return Ok(mad(s, mode, scale)),
        _ => {}
    }
    let pair = [false, true].map(|second| input(s, second).value);
    let value = match (operation, s.form.variant()) {
        (Operation::Add, _) => s.b.op(Op::AddLong, &pair),
        (Operation::Sub, _) => s.b.op(Op::SubLong, &pair),
        (Operation::Absdiff, _) => {
            let differences = [pair, [pair[1], pair[0]]].map(|pair| s.b.op(Op::SubLong, &pair));
            s.b.op(Op::MaxLong(Type::S32), &differences)
        }
        (Operation::Min, _) => s.b.op(Op::MinLong(Type::S32), &pair),
        (Operation::Max, _) => s.b.op(Op::MaxLong(Type::S32), &pair),
        (Operation::Set, Variant::Comparison(comparison)) => {
            let holds = s.b.op(Op::SetpLong(comparison, Type::S32), &pair);
            s.b.op(Op::SelpLong, &[Value::Long(1), Value::Long(0), holds])
        }
        _ => return Err(NotApplicable),
    };
    Ok(Long { value, interval: s.result() })
}

/// The shifted first input.
pub(super) fn shifted(s: &mut Stages) -> Long {
    let left = s.form.mnemonic().operation() == Operation::Shl;
    let a = input(s, false);
    let amount = s.word(true);
    let amount = match s.amounts().1 {
        true => s.b.lop2(|x, y| x & y, amount, Value::Word(31)),
        false => s.b.op(Op::Min(Type::U32), &[amount, Value::Word(32)]),
    };
    let interval = s.result();
    if !left {
        return Long { value: s.b.op(Op::ShrLong(Type::S32), &[a.value, amount]), interval };
    }
    let by_sign = s.form.shifts_in_64_bits(s.by) && !signed(64).holds(interval);
    Long { value: s.b.op(Op::ShlLong, &[a.value, amount]), interval: if by_sign { signed(64) } else { interval } }
}

/// `vmad`'s product, and c.
pub(super) fn operands(s: &mut Stages) -> (Long, Long) {
    let interval = product(s.interval(false), s.interval(true));
    let p = Long { value: multiplied(s), interval };
    let c = s.b.op(Op::Extend(type_of(s.c().signed)), &[Value::C]);
    (p, Long { value: c, interval: s.c().into() })
}

/// The values of the sum.
fn total(mode: MadMode, p: Interval, c: Interval) -> Interval {
    let p = if mode.negates_product() { negated(p) } else { p };
    let c = if mode.negates_c() { negated(c) } else { c };
    let one = Exact::from(mode == MadMode::PlusOne);
    sum(sum(p, c), Interval { min: one, max: one })
}

/// Whether a long word holds the sum.
pub(super) fn fits(mode: MadMode, p: Interval, c: Interval) -> bool {
    let sum = total(mode, p, c);
    signed(64).holds(sum) || unsigned(64).holds(sum)
}

/// The sum, modulo 2^64 if it does not fit. The one of `.po` is added last, or first to c.
pub(super) fn added(s: &mut Stages, mode: MadMode, p: Long, c: Long, way: u8) -> Long {
    let interval = total(mode, p.interval, c.interval);
    let (mut c, one) = (c.value, mode == MadMode::PlusOne);
    if one && way == 1 {
        c = s.b.op(Op::AddLong, &[c, Value::Long(1)]);
    }
    let mut value = match (mode.negates_product(), mode.negates_c()) {
        (true, _) => s.b.op(Op::SubLong, &[c, p.value]),
        (_, true) => s.b.op(Op::SubLong, &[p.value, c]),
        _ => s.b.op(Op::AddLong, &[p.value, c]),
    };
    if one && way == 0 {
        value = s.b.op(Op::AddLong, &[value, Value::Long(1)]);
    }
    Long { value, interval }
}

/// The sum shifted right.
pub(super) fn scaled(s: &mut Stages, sum: Long, bits: u32) -> Long {
    if bits == 0 {
        return sum;
    }
    let value = s.b.op(Op::ShrLong(sum.ty()), &[sum.value, Value::Word(bits)]);
    Long { value, interval: Interval { min: sum.interval.min >> bits, max: sum.interval.max >> bits } }
}

fn mad(s: &mut Stages, mode: MadMode, scale: Option<Scale>) -> Long {
    let (mut p, c) = operands(s);
    let fits = fits(mode, p.interval, c.interval);
    if !fits && s.form.sat() {
        // Products from 2^62 on saturate in any case.
        let limit = 1u64 << 62;
        let value = s.b.op(Op::MinLong(Type::U32), &[p.value, Value::Long(limit)]);
        p = Long { value, interval: clamped(p.interval, Interval { min: 0, max: limit.into() }) };
    }
    let mut t = added(s, mode, p, c, 0);
    if !fits && !s.form.sat() {
        // A sum of 65 bits of which only the lower bits count is as good as any.
        t.interval = signed(64);
    }
    let bits = scale.map_or(0, Scale::bits);
    if bits > 0 && s.form.scales_unsigned(s.by) && t.interval.min < 0 {
        t.interval = unsigned(64);
    }
    scaled(s, t, bits)
}

/// The product of both inputs.
fn multiplied(s: &mut Stages) -> Value {
    let both = [s.interval(false), s.interval(true)];
    let all = |of: Interval| both.iter().all(|&interval| of.holds(interval));
    if all(signed(32)) || all(unsigned(32)) {
        let (a, b) = (s.word(false), s.word(true));
        return s.b.op(Op::MulWide(type_of(all(signed(32)))), &[a, b]);
    }
    let (a, b) = (input(s, false), input(s, true));
    s.b.op(Op::MulLong, &[a.value, b.value])
}

/// Saturate.
fn saturated(s: &mut Stages, mut t: Long) -> Long {
    let Some(to) = s.clamps_to() else { return t };
    if s.turns_negative_to_greatest() && t.interval.min < 0 {
        let value = s.b.op(Op::MinLong(Type::U32), &[t.value, Value::Long(to.max as u64)]);
        return Long { value, interval: Interval { min: 0, max: to.max } };
    }
    if s.form.keeps_low_34_bits(s.by) {
        t = kept(s, t);
    }
    let (mut value, ty) = (t.value, t.ty());
    if t.interval.min < to.min {
        value = s.b.op(Op::MaxLong(ty), &[value, Value::Long(to.min as u64)]);
    }
    if t.interval.max > to.max {
        value = s.b.op(Op::MinLong(ty), &[value, Value::Long(to.max as u64)]);
    }
    Long { value, interval: clamped(t.interval, to) }
}

/// The lower 34 bits, as signed.
fn kept(s: &mut Stages, t: Long) -> Long {
    if signed(34).holds(t.interval) {
        return t;
    }
    let up = s.b.op(Op::ShlLong, &[t.value, Value::Word(30)]);
    Long { value: s.b.op(Op::ShrLong(Type::S32), &[up, Value::Word(30)]), interval: signed(34) }
}

/// The last stage.
fn finished(s: &mut Stages, t: Long) -> Output {
    let secondary = match s.form.finish() {
        Finish::Merge(part) => {
            let word = s.b.op(Op::Low, &[t.value]);
            return s.merged(word, part);
        }
        Finish::Secondary(secondary) => secondary,
        _ => return Output::Value(s.b.op(Op::Low, &[t.value])),
    };
    let low = s.b.op(Op::Low, &[t.value]);
    if secondary == Secondary::Add {
        return Output::Value(s.b.op(Op::Add, &[low, Value::C]));
    }
    let t = if s.cuts() { Long { value: s.b.op(Op::Extend(Type::S32), &[low]), interval: signed(32) } } else { t };
    let value = compared(s, t, secondary);
    Output::Value(s.b.op(Op::Low, &[value]))
}

fn compared(s: &mut Stages, t: Long, secondary: Secondary) -> Value {
    let Range { signed: c_signed, .. } = s.c();
    let c = s.b.op(Op::Extend(type_of(c_signed)), &[Value::C]);
    let op = |ty: Type| if secondary == Secondary::Min { Op::MinLong(ty) } else { Op::MaxLong(ty) };
    if s.form.compares_unsigned(s.by) && t.interval.min < 0 {
        return s.b.op(op(Type::U32), &[t.value, c]);
    }
    if t.ty() == Type::S32 || !c_signed {
        return s.b.op(op(t.ty()), &[t.value, c]);
    }
    // t is too great for a signed long word, and c may be negative.
    match secondary {
        Secondary::Min => {
            let limit = Value::Long(i64::MAX as u64);
            let t = s.b.op(Op::MinLong(Type::U32), &[t.value, limit]);
            s.b.op(op(Type::S32), &[t, c])
        }
        _ => {
            let c = s.b.op(Op::MaxLong(Type::S32), &[c, Value::Long(0)]);
            s.b.op(op(Type::U32), &[t.value, c])
        }
    }
}
