//! Stages in words, where the numbers fit them or only their lower bits count.

use super::{Stages, Word, clamped, negated, product, signed, sum, type_of, unsigned};
use crate::eval::Exact;
use crate::interval::Interval;
use crate::isa::form::{Finish, MadMode, Variant};
use crate::isa::range::Range;
use crate::isa::types::{Comparison, Operation, Secondary, Type};
use crate::lower::base::Op;
use crate::lower::candidate::{NotApplicable, Output, Pick, Value, Written};

/// Which way of several equal ones a rule writes.
pub(super) const WAYS: u8 = 2;

impl Word {
    /// The types by which it can be compared.
    pub(super) fn has(self, ty: Type) -> bool {
        if ty.is_signed() { signed(32).holds(self.interval) } else { unsigned(32).holds(self.interval) }
    }

    /// Whether its lower 32 bits tell the number.
    pub(super) fn is_exact(self) -> bool {
        self.has(Type::S32) || self.has(Type::U32)
    }

    /// The type by which it is compared, if there is one: signed, if that holds it.
    pub(super) fn ty(self) -> Type {
        type_of(self.has(Type::S32))
    }
}

/// The stages modulo 2^32, where only the lower bits of the result count.
pub(super) fn low(s: &mut Stages, way: u8) -> Written {
    let turns = s.turns_negative_to_greatest() && s.result().min < 0;
    let unclamped = s.clamps_to().is_none_or(|to| to.holds(s.result()) && !turns);
    match s.form.finish() {
        Finish::Secondary(Secondary::Min | Secondary::Max) => return Err(NotApplicable),
        _ if !unclamped => return Err(NotApplicable),
        _ => {}
    }
    let t = lower_bits(s, way)?;
    Ok(ended(s, t, way))
}

/// The stages where the result of the operation is a signed or an unsigned word.
pub(super) fn exact(s: &mut Stages, way: u8) -> Written {
    let t = operated(s, way)?;
    let t = saturated(s, t, way)?;
    finished(s, t, way)
}

/// An input of which the lower bytes alone count.
pub(super) fn loose(s: &mut Stages, second: bool, needed: u8) -> Value {
    let Range { signed, bits } = s.input(second);
    if bits == 32 {
        return s.word(second);
    }
    let bytes = (bits / 8) as u8;
    s.b.pick(core::array::from_fn(|i| match i as u8 {
        byte if byte >= needed => Pick::Any,
        byte if byte < bytes => Pick::Byte { second, position: 0, byte },
        _ if signed => Pick::Sign { second, position: 0, byte: bytes - 1 },
        _ => Pick::Zero,
    }))
}

/// The lower bits of the operation's result.
fn lower_bits(s: &mut Stages, way: u8) -> Result<Value, NotApplicable> {
    let needed = match s.form.finish() {
        Finish::Merge(part) if !s.form.merges_wrong_half(s.by) => part.bits() as u8 / 8,
        _ => 4,
    };
    match (s.form.mnemonic().operation(), s.form.variant()) {
        (operation @ (Operation::Add | Operation::Sub), _) => {
            let (a, b) = (loose(s, false, needed), loose(s, true, needed));
            Ok(s.b.op(if operation == Operation::Add { Op::Add } else { Op::Sub }, &[a, b]))
        }
        (Operation::Shl, _) => {
            let a = loose(s, false, needed);
            let amount = s.amount();
            Ok(s.b.op(Op::Shl, &[a, amount]))
        }
        (Operation::Mad, Variant::Mad(mode, None)) => {
            let (a, b) = (s.word(false), s.word(true));
            Ok(match mode {
                MadMode::Plain | MadMode::NegateAB => s.b.op(Op::Mad, &[a, b, Value::C]),
                MadMode::PlusOne => {
                    let t = s.b.op(Op::Mad, &[a, b, Value::C]);
                    s.b.op(Op::Add, &[t, Value::Word(1)])
                }
                MadMode::NegateA | MadMode::NegateB => {
                    let t = s.b.op(Op::Mul, &[a, b]);
                    s.b.op(Op::Sub, &[Value::C, t])
                }
                MadMode::NegateC | MadMode::NegateABC => {
                    let t = s.b.op(Op::Mul, &[a, b]);
                    s.b.op(Op::Sub, &[t, Value::C])
                }
            })
        }
        (Operation::Absdiff, _) => match views(s, way) {
            Ok(_) => operated(s, way).map(|t| t.value),
            Err(_) => {
                // |u - s| = |u - p| + (p - s), p being the greater of s and 0.
                let (u, v) = mixed(s);
                let p = s.b.op(Op::Max(Type::S32), &[v, Value::Word(0)]);
                let rest = s.b.op(Op::Sub, &[p, v]);
                Ok(s.b.op(Op::Sad(Type::U32), &[u, p, rest]))
            }
        },
        _ => operated(s, way).map(|t| t.value),
    }
}

/// The type by which both inputs are compared; none if one needs to be signed and one unsigned.
fn views(s: &Stages, way: u8) -> Result<Type, NotApplicable> {
    let both = [s.interval(false), s.interval(true)];
    let order = if way == 0 { [Type::S32, Type::U32] } else { [Type::U32, Type::S32] };
    let holds = |ty: Type| {
        let all = if ty.is_signed() { signed(32) } else { unsigned(32) };
        both.iter().all(|&interval| all.holds(interval))
    };
    order.into_iter().find(|&ty| holds(ty)).ok_or(NotApplicable)
}

/// The unsigned input and the signed one.
fn mixed(s: &mut Stages) -> (Value, Value) {
    let first = s.input(false).signed;
    (s.word(first), s.word(!first))
}

/// The operation's result, if it is a word.
fn operated(s: &mut Stages, way: u8) -> Result<Word, NotApplicable> {
    let interval = s.result();
    let t = Word { value: Value::C, interval };
    if !t.is_exact() {
        return Err(NotApplicable);
    }
    let value = match (s.form.mnemonic().operation(), s.form.variant()) {
        (operation @ (Operation::Add | Operation::Sub), _) => {
            let (a, b) = (s.word(false), s.word(true));
            s.b.op(if operation == Operation::Add { Op::Add } else { Op::Sub }, &[a, b])
        }
        (operation @ (Operation::Min | Operation::Max), _) => {
            let less = operation == Operation::Min;
            match views(s, way) {
                Ok(ty) => {
                    let (a, b) = (s.word(false), s.word(true));
                    s.b.op(if less { Op::Min(ty) } else { Op::Max(ty) }, &[a, b])
                }
                Err(_) => {
                    let (u, v) = mixed(s);
                    match less {
                        true => {
                            let u = s.b.op(Op::Min(Type::U32), &[u, Value::Word(i32::MAX as u32)]);
                            s.b.op(Op::Min(Type::S32), &[u, v])
                        }
                        false => {
                            let v = s.b.op(Op::Max(Type::S32), &[v, Value::Word(0)]);
                            s.b.op(Op::Max(Type::U32), &[u, v])
                        }
                    }
                }
            }
        }
        (Operation::Absdiff, _) => {
            let ty = views(s, 0)?;
            let (a, b) = (s.word(false), s.word(true));
            let difference = sum(s.interval(false), negated(s.interval(true)));
            if way == 0 {
                s.b.op(Op::Sad(ty), &[a, b, Value::Word(0)])
            } else if signed(32).holds(difference) {
                let difference = s.b.op(Op::Sub, &[a, b]);
                s.b.op(Op::Abs, &[difference])
            } else {
                let (most, least) = (s.b.op(Op::Max(ty), &[a, b]), s.b.op(Op::Min(ty), &[a, b]));
                s.b.op(Op::Sub, &[most, least])
            }
        }
        (Operation::Shr, _) => {
            let (ty, a) = (type_of(s.input(false).signed), s.word(false));
            let amount = s.amount();
            s.b.op(Op::Shr(ty), &[a, amount])
        }
        (Operation::Set, Variant::Comparison(comparison)) => {
            let holds = compared(s, comparison, way);
            s.b.op(Op::Selp, &[Value::Word(1), Value::Word(0), holds])
        }
        _ => return Err(NotApplicable),
    };
    Ok(Word { value, interval })
}

/// Whether the comparison holds.
fn compared(s: &mut Stages, comparison: Comparison, way: u8) -> Value {
    if let Ok(ty) = views(s, way) {
        let (a, b) = (s.word(false), s.word(true));
        return s.b.op(Op::Setp(comparison, ty), &[a, b]);
    }
    // From here on one is unsigned, u, and one signed, v.
    let comparison = if s.input(false).signed { turned(comparison) } else { comparison };
    let (u, v) = mixed(s);
    match comparison {
        // They are equal if they have the same bits and v's sign is none of these.
        Comparison::Eq | Comparison::Ne => {
            let sign = Value::Word(1 << 31);
            let differ = if way == 0 {
                s.b.lop3(|x, y, z| x ^ y | y & z, u, v, sign)
            } else {
                let (differ, sign) = (s.b.lop2(|x, y| x ^ y, u, v), s.b.lop2(|x, y| x & y, v, sign));
                s.b.lop2(|x, y| x | y, differ, sign)
            };
            s.b.op(Op::Setp(comparison, Type::U32), &[differ, Value::Word(0)])
        }
        // Less than a negative v is less than 0: none is.
        Comparison::Lt | Comparison::Ge => {
            let v = s.b.op(Op::Max(Type::S32), &[v, Value::Word(0)]);
            s.b.op(Op::Setp(comparison, Type::U32), &[u, v])
        }
        // At most v is less than v + 1.
        Comparison::Le | Comparison::Gt => {
            let v = s.b.op(Op::Max(Type::S32), &[v, Value::Word(u32::MAX)]);
            let v = s.b.op(Op::Add, &[v, Value::Word(1)]);
            let comparison = if comparison == Comparison::Le { Comparison::Lt } else { Comparison::Ge };
            s.b.op(Op::Setp(comparison, Type::U32), &[u, v])
        }
    }
}

/// The comparison that holds of y and x where this one holds of x and y.
fn turned(comparison: Comparison) -> Comparison {
    match comparison {
        Comparison::Lt => Comparison::Gt,
        Comparison::Le => Comparison::Ge,
        Comparison::Gt => Comparison::Lt,
        Comparison::Ge => Comparison::Le,
        same => same,
    }
}

/// Saturate.
fn saturated(s: &mut Stages, t: Word, way: u8) -> Result<Word, NotApplicable> {
    let Some(to) = s.clamps_to() else { return Ok(t) };
    if s.turns_negative_to_greatest() && t.interval.min < 0 {
        let value = s.b.op(Op::Min(Type::U32), &[t.value, Value::Word(to.max as u32)]);
        return Ok(Word { value, interval: Interval { min: 0, max: to.max } });
    }
    clamp(s, t, to, way)
}

/// The number clamped. It must fit a word.
pub(super) fn clamp(s: &mut Stages, t: Word, to: Interval, way: u8) -> Result<Word, NotApplicable> {
    if !t.is_exact() {
        return Err(NotApplicable);
    }
    let interval = clamped(t.interval, to);
    let (below, above) = (t.interval.min < to.min, t.interval.max > to.max);
    let ty = if way == 0 || !t.has(Type::U32) { t.ty() } else { Type::U32 };
    let whole = s.form.merges_wrong_half(s.by);
    let narrow = [8, 16].into_iter().filter(|_| !whole).find_map(|bits| {
        [false, true].map(|signed| Range::new(signed, bits)).into_iter().find(|&range| to == Interval::from(range))
    });
    let value = match (below, above) {
        (false, false) => t.value,
        // A part of d is made: what stands above it is not taken.
        (true, true) if narrow.is_some() && way == 0 => {
            let range = narrow.ok_or(NotApplicable)?;
            let zero = Value::Word(0);
            let op = Op::Pack { to: range };
            let value = if range.bits == 8 { s.b.op(op, &[zero, t.value, zero]) } else { s.b.op(op, &[zero, t.value]) };
            return Ok(Word { value, interval });
        }
        _ => {
            let mut value = t.value;
            if below {
                value = s.b.op(Op::Max(ty), &[value, Value::Word(to.min as u32)]);
            }
            if above {
                // What is clamped from below at 0 or more is a number of both types.
                value = s.b.op(Op::Min(ty), &[value, Value::Word(to.max as u32)]);
            }
            value
        }
    };
    Ok(Word { value, interval })
}

/// The last stage.
pub(super) fn finished(s: &mut Stages, mut t: Word, way: u8) -> Written {
    let Finish::Secondary(secondary @ (Secondary::Min | Secondary::Max)) = s.form.finish() else {
        return Ok(ended(s, t.value, way));
    };
    if s.cuts() && !t.has(Type::S32) {
        t.interval = signed(32);
    }
    if !t.is_exact() {
        return Err(NotApplicable);
    }
    let c = s.c();
    let op = |ty: Type| if secondary == Secondary::Min { Op::Min(ty) } else { Op::Max(ty) };
    let c_type = type_of(c.signed);
    if s.form.compares_unsigned(s.by) && t.interval.min < 0 {
        let value = match secondary {
            Secondary::Min => {
                let sign = s.b.op(Op::Shr(Type::S32), &[t.value, Value::Word(31)]);
                let t = s.b.lop2(|x, y| x | y, t.value, sign);
                s.b.op(Op::Min(Type::U32), &[t, Value::C])
            }
            _ => {
                let most = s.b.op(Op::Max(Type::U32), &[t.value, Value::C]);
                s.b.choose(Comparison::Lt, Type::S32, [t.value, Value::Word(0)], [t.value, most])
            }
        };
        return Ok(Output::Value(value));
    }
    let value = if t.has(c_type) {
        s.b.op(op(c_type), &[t.value, Value::C])
    } else {
        // One of t and c is unsigned, u, and one signed, v.
        let (u, v) = if c.signed { (t.value, Value::C) } else { (Value::C, t.value) };
        match secondary {
            Secondary::Min => {
                let u = s.b.op(Op::Min(Type::U32), &[u, Value::Word(i32::MAX as u32)]);
                s.b.op(Op::Min(Type::S32), &[u, v])
            }
            _ => {
                let v = s.b.op(Op::Max(Type::S32), &[v, Value::Word(0)]);
                s.b.op(Op::Max(Type::U32), &[u, v])
            }
        }
    };
    Ok(Output::Value(value))
}

/// The last stage of which the lower bits are enough.
fn ended(s: &mut Stages, t: Value, way: u8) -> Output {
    match s.form.finish() {
        Finish::Merge(part) => s.merged(t, part),
        Finish::Secondary(_) => {
            if let (Operation::Set, Variant::Comparison(comparison)) = (s.form.mnemonic().operation(), s.form.variant())
            {
                let holds = compared(s, comparison, way);
                return Output::Value(s.b.op(Op::AddIf, &[Value::C, Value::Word(1), holds]));
            }
            Output::Value(s.b.op(Op::Add, &[t, Value::C]))
        }
        _ => Output::Value(t),
    }
}

/// The result of an operation on two intervals; `vmad`'s is not asked for.
pub(super) fn result(s: &Stages) -> Interval {
    let (x, y) = (s.interval(false), s.interval(true));
    let difference = sum(x, negated(y));
    match s.form.mnemonic().operation() {
        Operation::Add => sum(x, y),
        Operation::Sub => difference,
        Operation::Absdiff => {
            let least = if difference.contains(0) { 0 } else { difference.min.abs().min(difference.max.abs()) };
            Interval { min: least, max: difference.max.max(-difference.min) }
        }
        Operation::Min => Interval { min: x.min.min(y.min), max: x.max.min(y.max) },
        Operation::Max => Interval { min: x.min.max(y.min), max: x.max.max(y.max) },
        Operation::Set => unsigned(1),
        Operation::Shl => product(x, Interval { min: 1, max: 1 << s.amounts().0 }),
        Operation::Shr => {
            let greatest = s.amounts().0;
            Interval { min: x.min.min(x.min >> greatest), max: x.max.max(x.max >> greatest) }
        }
        Operation::Mad | Operation::Avrg => Interval { min: Exact::MIN, max: Exact::MAX },
    }
}
