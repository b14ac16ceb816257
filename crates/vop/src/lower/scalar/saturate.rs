//! Sums and differences of two words that need 33 bits, clamped to a word without a long one.
//!
//! Each is written for operands read as one of the two types; where an operand's values fit both, it is read as either.

use super::word::{clamp, finished};
use super::{Stages, Word, clamped, negated, sum, type_of};
use crate::eval::Exact;
use crate::interval::Interval;
use crate::isa::form::Finish;
use crate::isa::range::Range;
use crate::isa::types::{Comparison, Operation, Secondary, Type};
use crate::lower::base::Op;
use crate::lower::candidate::{Builder, NotApplicable, Value, Written};

/// How many ways to clamp there are at most.
pub(super) const WAYS: u8 = 2;

/// The sign bit.
const SIGN: Value = Value::Word(1 << 31);
/// The greatest signed word.
const GREATEST: Value = Value::Word(i32::MAX as u32);
const ZERO: Value = Value::Word(0);
const ONES: Value = Value::Word(u32::MAX);

/// What a rule reads its operands as and clamps to, and which way.
#[derive(Debug, Clone, Copy)]
pub(super) struct Plan {
    pub(super) operands: [Type; 2],
    pub(super) to: Type,
    pub(super) way: u8,
}

/// All of them.
pub(super) fn plans() -> impl Iterator<Item = Plan> {
    const BOTH: [Type; 2] = [Type::U32, Type::S32];
    BOTH.into_iter().flat_map(|to| {
        BOTH.into_iter().flat_map(move |a| {
            BOTH.into_iter().flat_map(move |b| (0..WAYS).map(move |way| Plan { operands: [a, b], to, way }))
        })
    })
}

/// The stages where the result needs 33 bits and is clamped to a word, or a secondary operation makes it as good as
/// clamped.
pub(super) fn stages(s: &mut Stages, plan: Plan) -> Written {
    let result = s.result();
    if (Word { value: Value::C, interval: result }).is_exact() {
        return Err(NotApplicable);
    }
    let word = Interval::from(Range::new(plan.to.is_signed(), 32));
    let to = match (s.clamps_to(), s.form.finish()) {
        // Clamped at 0 alone.
        (Some(to), _) if to.max == Exact::MAX && result.max <= word.max => Interval { max: word.max, ..to },
        (Some(to), _) if !s.turns_negative_to_greatest() || result.min >= 0 => to,
        (None, Finish::Secondary(secondary)) if !s.cuts() && plan.to == type_of(s.c().signed) => match secondary {
            Secondary::Min if result.min >= word.min => word,
            Secondary::Max if result.max <= word.max => word,
            _ => return Err(NotApplicable),
        },
        _ => return Err(NotApplicable),
    };
    if !word.holds(to) {
        return Err(NotApplicable);
    }
    let operands = [false, true].map(|second| Word { value: s.word(second), interval: s.interval(second) });
    let operation = s.form.mnemonic().operation();
    let t = clamped_word(&mut s.b, operation, operands, plan)?;
    let t = clamp(s, t, to, 0)?;
    finished(s, t, 0)
}

/// The sum, difference or absolute difference of two words, clamped to a word.
pub(super) fn clamped_word(
    b: &mut Builder,
    operation: Operation,
    operands: [Word; 2],
    Plan { operands: types, to, way }: Plan,
) -> Result<Word, NotApplicable> {
    if !operands[0].has(types[0]) || !operands[1].has(types[1]) {
        return Err(NotApplicable);
    }
    let [x, y] = operands.map(|operand| operand.value);
    let value = match operation {
        Operation::Add => added(b, operands, types, to, way)?,
        Operation::Sub => match (types, to) {
            ([Type::U32, Type::U32], Type::U32) if way == 0 => {
                let most = b.op(Op::Max(Type::U32), &[x, y]);
                b.op(Op::Sub, &[most, y])
            }
            ([Type::S32, Type::S32], Type::U32) if way == 0 => {
                let most = b.op(Op::Max(Type::S32), &[x, y]);
                b.op(Op::Sub, &[most, y])
            }
            ([Type::S32, Type::S32], Type::S32) if way == 0 => b.op(Op::SubSat, &[x, y]),
            ([Type::U32, Type::U32], Type::S32) => match way {
                0 => {
                    let difference = b.op(Op::Sub, &[x, y]);
                    let above = b.op(Op::Min(Type::U32), &[difference, GREATEST]);
                    let below = b.op(Op::Max(Type::U32), &[difference, SIGN]);
                    b.choose(Comparison::Ge, Type::U32, [x, y], [above, below])
                }
                1 => {
                    let (x, y) = (flipped(b, x), flipped(b, y));
                    b.op(Op::SubSat, &[x, y])
                }
                _ => return Err(NotApplicable),
            },
            ([Type::U32, Type::S32], Type::U32) => match way {
                0 => {
                    let (above, below) = parts(b, y);
                    let most = b.op(Op::Max(Type::U32), &[x, above]);
                    let room = b.op(Op::Sub, &[ONES, below]);
                    let least = b.op(Op::Min(Type::U32), &[most, room]);
                    b.op(Op::Sub, &[least, y])
                }
                _ => {
                    let x = flipped(b, x);
                    let rest = b.op(Op::SubSat, &[x, y]);
                    flipped(b, rest)
                }
            },
            ([Type::U32, Type::S32], Type::S32) if way == 0 => {
                // One less than the greatest x saturates all the same.
                let x = match operands[0].has(Type::S32) {
                    true => x,
                    false => b.op(Op::Min(Type::U32), &[x, Value::Word(u32::MAX - 1)]),
                };
                let room = b.op(Op::Sub, &[x, GREATEST]);
                let y = b.op(Op::Max(Type::S32), &[y, room]);
                b.op(Op::Sub, &[x, y])
            }
            ([Type::S32, Type::U32], Type::S32) if way == 0 => {
                let limit = b.op(Op::Add, &[y, SIGN]);
                let most = b.op(Op::Max(Type::S32), &[limit, x]);
                b.op(Op::Sub, &[most, y])
            }
            ([Type::S32, Type::U32], Type::U32) if way == 0 => {
                let x = b.op(Op::Max(Type::S32), &[x, ZERO]);
                let most = b.op(Op::Max(Type::U32), &[x, y]);
                b.op(Op::Sub, &[most, y])
            }
            _ => return Err(NotApplicable),
        },
        Operation::Absdiff if way == 0 => {
            let (u, v) = match types {
                [Type::U32, Type::S32] => (x, y),
                [Type::S32, Type::U32] => (y, x),
                // Its result is an unsigned word.
                _ => return Err(NotApplicable),
            };
            let (above, below) = parts(b, v);
            let room = b.op(Op::Sub, &[ONES, below]);
            let u = b.op(Op::Min(Type::U32), &[u, room]);
            let value = b.op(Op::Sad(Type::U32), &[u, above, below]);
            if to.is_signed() { b.op(Op::Min(Type::U32), &[value, GREATEST]) } else { value }
        }
        _ => return Err(NotApplicable),
    };
    let [x, y] = operands.map(|operand| operand.interval);
    let difference = sum(x, negated(y));
    let exact = match operation {
        Operation::Add => sum(x, y),
        Operation::Sub => difference,
        _ => Interval { min: 0, max: difference.max.max(-difference.min) },
    };
    Ok(Word { value, interval: clamped(exact, Range::new(to.is_signed(), 32).into()) })
}

fn added(b: &mut Builder, operands: [Word; 2], types: [Type; 2], to: Type, way: u8) -> Result<Value, NotApplicable> {
    let [x, y] = operands.map(|operand| operand.value);
    let (u, v) = if types[0] == Type::U32 { (x, y) } else { (y, x) };
    Ok(match (types, to) {
        ([Type::U32, Type::U32], _) => {
            let sum = match way {
                0 => b.op(Op::AddSatUnsigned, &[x, y]),
                1 => {
                    let room = b.op(Op::Sub, &[ONES, y]);
                    let least = b.op(Op::Min(Type::U32), &[x, room]);
                    b.op(Op::Add, &[least, y])
                }
                _ => return Err(NotApplicable),
            };
            if to.is_signed() { b.op(Op::Min(Type::U32), &[sum, GREATEST]) } else { sum }
        }
        ([Type::S32, Type::S32], Type::S32) if way == 0 => b.op(Op::AddSat, &[x, y]),
        ([Type::S32, Type::S32], Type::U32) => match way {
            0 => {
                let sum = b.op(Op::Add, &[x, y]);
                // Its top bit is that of the sum of 33 bits.
                let sign = b.lop3(|x, y, sum| x & y | (x ^ y) & sum, x, y, sum);
                b.choose(Comparison::Lt, Type::S32, [sign, ZERO], [ZERO, sum])
            }
            1 => {
                // The operand whose minus is a word.
                let least = Exact::from(i32::MIN);
                let (x, y) = if operands[1].interval.min > least { (x, y) } else { (y, x) };
                if operands.iter().all(|operand| operand.interval.min == least) {
                    return Err(NotApplicable);
                }
                let minus = b.op(Op::Sub, &[ZERO, y]);
                let most = b.op(Op::Max(Type::S32), &[x, minus]);
                b.op(Op::Add, &[most, y])
            }
            _ => return Err(NotApplicable),
        },
        (_, Type::U32) => match way {
            0 => {
                let (above, below) = parts(b, v);
                let room = b.op(Op::Sub, &[ONES, above]);
                let least = b.op(Op::Min(Type::U32), &[u, room]);
                let most = b.op(Op::Max(Type::U32), &[least, below]);
                b.op(Op::Add, &[most, v])
            }
            _ => {
                let u = flipped(b, u);
                let sum = b.op(Op::AddSat, &[u, v]);
                flipped(b, sum)
            }
        },
        (_, Type::S32) if way == 0 => {
            let room = b.op(Op::Sub, &[GREATEST, u]);
            let least = b.op(Op::Min(Type::S32), &[v, room]);
            b.op(Op::Add, &[least, u])
        }
        _ => return Err(NotApplicable),
    })
}

/// A word with its sign bit turned.
fn flipped(b: &mut Builder, x: Value) -> Value {
    b.lop2(|x, y| x ^ y, x, SIGN)
}

/// The greater of a signed number and 0, and by how much that is greater: the number is their difference.
fn parts(b: &mut Builder, x: Value) -> (Value, Value) {
    let above = b.op(Op::Max(Type::S32), &[x, ZERO]);
    (above, b.op(Op::Sub, &[above, x]))
}
