//! Rules that compute lanes as words, one by one, and gather them at the end.

use alloc::vec::Vec;

use super::idioms::word_type;
use crate::isa::range::Range;
use crate::isa::types::{Comparison, Operation, Type};
use crate::lower::base::Op;
use crate::lower::candidate::{Builder, BytePlace, NotApplicable, Output, Pick, Value, Written};

impl Builder {
    /// The output of words, one for each live position, that fit.
    fn words(&self, words: &[(u8, Value)]) -> Output {
        let mut places = [None; 4];
        for &(position, value) in words {
            places[usize::from(position)] = Some(BytePlace { value, byte: 0 });
        }
        Output::Lanes(places)
    }

    /// The output of words, one for each live position, clamped to a range by instructions that also pack them.
    fn packed_words(&mut self, words: &[(u8, Value)], to: Range) -> Output {
        let op = Op::Pack { to };
        let zero = Value::Word(0);
        let mut places = [None; 4];
        let mut place = |position: u8, value, byte| places[usize::from(position)] = Some(BytePlace { value, byte });
        match (to.bits, words) {
            (16, &[(p, x)]) => place(p, self.op(op, &[zero, x]), 0),
            (16, &[(p, x), (q, y)]) => {
                let both = self.op(op, &[y, x]);
                place(p, both, 0);
                place(q, both, 2);
            }
            (_, words) => {
                let word = |i: usize| words.get(i).map_or(zero, |&(_, word)| word);
                let upper = if words.len() > 2 { self.op(op, &[word(3), word(2), zero]) } else { zero };
                let all = self.op(op, &[word(1), word(0), upper]);
                for (byte, &(p, _)) in (0..).zip(words) {
                    place(p, all, byte);
                }
            }
        }
        Output::Lanes(places)
    }
}

/// One lane after the other, as words.
pub(super) fn in_words(b: &mut Builder) -> Written {
    let operation = b.operation();
    let live = b.live();
    // More bytes are never cheaper so, unless an instruction takes a difference and adds it.
    let is_few = live.len() <= 2 || b.accumulates() && operation == Operation::Absdiff;
    if !b.is_in_place() || !is_few {
        return Err(NotApplicable);
    }
    let negative = b.signed() != [false, false];
    let to_unsigned = b.form.sat() && b.form.dtype() == Some(Type::U32);
    let mut clamp = b.clamp();
    let mut sum = Value::C;
    let mut words = Vec::new();
    let one = Value::Word(1);
    for position in live {
        let [x, y] = [false, true].map(|second| b.word(second, position));
        let word = match operation {
            Operation::Add => b.op(Op::Add, &[x, y]),
            Operation::Sub => b.op(Op::Sub, &[x, y]),
            Operation::Min => b.op(Op::Min(Type::S32), &[x, y]),
            Operation::Max => b.op(Op::Max(Type::S32), &[x, y]),
            Operation::Absdiff if b.accumulates() => {
                sum = b.op(Op::Sad(Type::S32), &[x, y, sum]);
                continue;
            }
            Operation::Absdiff => b.op(Op::Sad(Type::S32), &[x, y, Value::Word(0)]),
            Operation::Avrg => {
                let both = b.op(Op::Add, &[x, y]);
                match (negative, to_unsigned) {
                    (false, _) => {
                        let more = b.op(Op::Add, &[both, one]);
                        b.op(Op::Shr(Type::S32), &[more, one])
                    }
                    (true, true) => {
                        clamp = None;
                        let more = b.op(Op::Add, &[both, one]);
                        let positive = b.op(Op::Max(Type::S32), &[more, one]);
                        b.op(Op::Shr(Type::U32), &[positive, one])
                    }
                    (true, false) => {
                        let complement = b.not(both);
                        let more = b.shift_add(complement, false, 31, both);
                        b.op(Op::Shr(Type::S32), &[more, one])
                    }
                }
            }
            _ => set_word(b, x, y)?,
        };
        if b.accumulates() {
            sum = b.op(Op::Add, &[sum, word]);
        }
        words.push((position, word));
    }
    if b.accumulates() {
        return Ok(Output::Value(sum));
    }
    if let Some(to) = clamp {
        return Ok(b.packed_words(&words, to));
    }
    Ok(b.words(&words))
}

/// 1 or 0 by a comparison of words that are not as wide.
fn set_word(b: &mut Builder, x: Value, y: Value) -> Result<Value, NotApplicable> {
    let comparison = b.form.comparison().ok_or(NotApplicable)?;
    let one = Value::Word(1);
    if !b.accumulates() {
        return Ok(b.choose(comparison, Type::S32, [x, y], [one, Value::Word(0)]));
    }
    let (word, inverted) = match comparison {
        Comparison::Eq | Comparison::Ne => {
            let differing = b.lop2(|x, y| x ^ y, x, y);
            (b.op(Op::Min(Type::U32), &[differing, one]), comparison == Comparison::Eq)
        }
        _ => {
            let swapped = matches!(comparison, Comparison::Gt | Comparison::Le);
            let (x, y) = if swapped { (y, x) } else { (x, y) };
            let difference = b.op(Op::Sub, &[x, y]);
            let negative = b.op(Op::Shr(Type::U32), &[difference, Value::Word(31)]);
            (negative, matches!(comparison, Comparison::Ge | Comparison::Le))
        }
    };
    Ok(if inverted { b.lop2(|x, y| x ^ y, word, one) } else { word })
}

/// Clamped sums and differences of half-words as words, by dot products.
pub(super) fn saturating_halves(b: &mut Builder) -> Written {
    let (Some(to), 16) = (b.clamp(), b.bits()) else { return Err(NotApplicable) };
    let weight = match b.operation() {
        Operation::Add => 1,
        Operation::Sub => -1,
        _ => return Err(NotApplicable),
    };
    let common = b.common_type();
    let mut words = Vec::new();
    for position in b.live() {
        let word = match common {
            Ok(signed) => {
                let both = b.pick(core::array::from_fn(|i| Pick::Byte { second: i >= 2, position, byte: i as u8 % 2 }));
                let weights = Value::Word(0x01 | u32::from(weight as u8) << 8);
                b.dot(signed, both, weights, Value::Word(0))
            }
            Err(NotApplicable) => b.sum(Value::Word(0), one_position(position, weight)),
        };
        words.push((position, word));
    }
    Ok(b.packed_words(&words, to))
}

fn one_position(position: u8, weight: i8) -> [[i8; 4]; 2] {
    [1, weight].map(|weight| core::array::from_fn(|p| if p == usize::from(position) { weight } else { 0 }))
}

/// Clamped sums and differences of bytes as words, by dot products.
pub(super) fn saturating_bytes(b: &mut Builder) -> Written {
    let (Some(to), 8) = (b.clamp(), b.bits()) else { return Err(NotApplicable) };
    let weight: i8 = match b.operation() {
        Operation::Add => 1,
        Operation::Sub => -1,
        _ => return Err(NotApplicable),
    };
    let mut words = Vec::new();
    let live = b.live();
    match b.common_type() {
        Ok(signed) => {
            for pair in live.chunks(2) {
                let byte = |second, position| Pick::Byte { second, position, byte: 0 };
                let [x, y] = [pair[0], *pair.last().unwrap_or(&pair[0])];
                let both = b.pick([byte(false, x), byte(true, x), byte(false, y), byte(true, y)]);
                for (shift, &position) in [0, 16].into_iter().zip(pair) {
                    let weights = Value::Word((0x01 | u32::from(weight as u8) << 8) << shift);
                    words.push((position, b.dot(signed, both, weights, Value::Word(0))));
                }
            }
        }
        Err(NotApplicable) => {
            for position in live {
                words.push((position, b.sum(Value::Word(0), one_position(position, weight))));
            }
        }
    }
    Ok(b.packed_words(&words, to))
}

/// Accumulated comparisons of one or two lanes: a guarded sum for each. Lanes of equal types are compared in words that are the same
/// elsewhere, so that one that stands there need not be moved.
pub(super) fn guarded_counts(b: &mut Builder) -> Written {
    let comparison = b.form.comparison().filter(|_| b.accumulates()).ok_or(NotApplicable)?;
    let live = b.live();
    let common = b.common_type();
    if live.len() > 2 || common.is_err() && !b.is_in_place() {
        return Err(NotApplicable);
    }
    let mut sum = Value::C;
    for position in live {
        let ([x, y], signed) = match common {
            Ok(signed) => ([false, true].map(|second| b.word_same_elsewhere(second, position)), signed),
            Err(NotApplicable) => ([false, true].map(|second| b.word(second, position)), true),
        };
        let holds = b.op(Op::Setp(comparison, word_type(signed)), &[x, y]);
        sum = b.op(Op::AddIf, &[sum, Value::Word(1), holds]);
    }
    Ok(Output::Value(sum))
}

/// Accumulated equality of the top lane: whether the bits that differ make a number that is less than the lane's 1.
pub(super) fn guarded_difference(b: &mut Builder) -> Written {
    let comparison = match b.form.comparison().filter(|_| b.accumulates()) {
        Some(Comparison::Eq) => Comparison::Lt,
        Some(Comparison::Ne) => Comparison::Ge,
        _ => return Err(NotApplicable),
    };
    if b.live() != [b.lanes() as u8 - 1] {
        return Err(NotApplicable);
    }
    let [x, y] = b.sources();
    let differing = b.differing(x, y);
    let one = Value::Word(1 << (32 - b.bits()));
    let holds = b.op(Op::Setp(comparison, Type::U32), &[differing, one]);
    Ok(Output::Value(b.op(Op::AddIf, &[Value::C, Value::Word(1), holds])))
}

impl Builder {
    /// A position's input in a word that has the same bytes elsewhere as that of its other input: in its place, or at the top if
    /// order is asked for and it is signed.
    fn word_same_elsewhere(&mut self, second: bool, position: u8) -> Value {
        let is_equality = matches!(self.form.comparison(), Some(Comparison::Eq | Comparison::Ne));
        let at = if self.input_range(second).signed && !is_equality { self.lanes() as u8 - 1 } else { position };
        self.word_same_but_at(second, position, at)
    }

    /// The same at a given place.
    fn word_same_but_at(&mut self, second: bool, position: u8, at: u8) -> Value {
        let bytes = (self.bits() / 8) as u8;
        self.pick(core::array::from_fn(|i| match (i as u8).checked_sub(at * bytes) {
            Some(byte) if byte < bytes => Pick::Byte { second, position, byte },
            _ => Pick::Same(4 * position + i as u8),
        }))
    }
}

/// Accumulated x - y or |x - y| of one or two unsigned lanes, from words that are the same above.
pub(super) fn differences_below_same(b: &mut Builder) -> Written {
    let live = b.live();
    if !b.accumulates() || b.common_type()? || live.len() > 2 || !b.is_in_place() {
        return Err(NotApplicable);
    }
    let mut sum = Value::C;
    for position in live {
        let [x, y] = [false, true].map(|second| b.word_same_but_at(second, position, 0));
        sum = match b.operation() {
            Operation::Absdiff => b.op(Op::Sad(Type::U32), &[x, y, sum]),
            Operation::Sub => {
                let more = b.op(Op::Add, &[sum, x]);
                b.op(Op::Sub, &[more, y])
            }
            _ => return Err(NotApplicable),
        };
    }
    Ok(Output::Value(sum))
}

/// |x - y| as the size of a difference, where the instruction that does both is not in the machine.
pub(super) fn sizes(b: &mut Builder) -> Written {
    sizes_of(b, [false, true])
}

/// The same of y - x: ptxas takes a shift into what is subtracted from.
pub(super) fn sizes_turned(b: &mut Builder) -> Written {
    sizes_of(b, [true, false])
}

fn sizes_of(b: &mut Builder, order: [bool; 2]) -> Written {
    let live = b.live();
    if b.operation() != Operation::Absdiff || crate::lower::has_native_absdiff(b.target) || !b.is_in_place() {
        return Err(NotApplicable);
    }
    // Two sizes in one `prmt` cost ptxas a move.
    if live.len() > 2 || live.len() == 2 && !b.accumulates() && b.clamp().is_none() {
        return Err(NotApplicable);
    }
    let mut sum = Value::C;
    let mut words = Vec::new();
    for position in live {
        let [x, y] = order.map(|second| b.word(second, position));
        let difference = b.op(Op::Sub, &[x, y]);
        let size = b.op(Op::Abs, &[difference]);
        if b.accumulates() {
            sum = b.op(Op::Add, &[sum, size]);
        }
        words.push((position, size));
    }
    if b.accumulates() {
        return Ok(Output::Value(sum));
    }
    Ok(match b.clamp() {
        Some(to) => b.packed_words(&words, to),
        None => b.words(&words),
    })
}

/// Minimum and maximum of one or two lanes at the top of words, where what stands below does not decide.
pub(super) fn min_max_at_top(b: &mut Builder) -> Written {
    let [op, op_signed] = match b.operation() {
        Operation::Min => [Op::Min(Type::U32), Op::Min(Type::S32)],
        Operation::Max => [Op::Max(Type::U32), Op::Max(Type::S32)],
        _ => return Err(NotApplicable),
    };
    let (live, bytes) = (b.live(), (b.bits() / 8) as u8);
    if live.len() > 2 || !b.is_in_place() {
        return Err(NotApplicable);
    }
    let (zero, most) = (Value::Word(0), Value::Word(i32::MAX as u32));
    let clamp = b.clamp().map(|to| to.signed);
    let mut places = [None; 4];
    let mut sum = Value::C;
    for position in live {
        let pick = |second| {
            core::array::from_fn(|i| match (i as u8).checked_sub(4 - bytes) {
                Some(byte) => Pick::Byte { second, position, byte },
                None => Pick::Any,
            })
        };
        let (word, byte, signed) = if let Ok(signed) = b.common_type() {
            let is_low = position == 0 && !signed && !b.accumulates() && clamp.is_none();
            let [x, y] = [false, true].map(|second| match is_low {
                true => b.word_same_but_at(second, position, 0),
                false => b.pick(pick(second)),
            });
            let word = b.op(if signed { op_signed } else { op }, &[x, y]);
            (word, if is_low { 0 } else { 4 - bytes }, signed)
        } else {
            let [x, y] = [false, true].map(|second| b.pick(pick(second)));
            let [x, y] = if b.signed()[0] { [y, x] } else { [x, y] };
            // As in packed instructions, what lies outside the result's type is cut off from the one input that can lie there.
            let signed = clamp.unwrap_or(b.operation() == Operation::Min);
            let word = match signed {
                true => {
                    let x = b.op(Op::Min(Type::U32), &[x, most]);
                    b.op(op_signed, &[x, y])
                }
                false => {
                    let y = b.op(Op::Max(Type::S32), &[y, zero]);
                    b.op(op, &[x, y])
                }
            };
            (word, 4 - bytes, signed)
        };
        let word = match (b.common_type(), clamp) {
            (Ok(true), Some(false)) => b.op(Op::Max(Type::S32), &[word, zero]),
            (Ok(false), Some(true)) => b.op(Op::Min(Type::U32), &[word, most]),
            _ => word,
        };
        if b.accumulates() {
            sum = b.shift_add(word, signed, 32 - b.bits(), sum);
        }
        places[usize::from(position)] = Some(BytePlace { value: word, byte });
    }
    Ok(if b.accumulates() { Output::Value(sum) } else { Output::Lanes(places) })
}

/// |x - y| of half-words by instructions on words which are the same in their other half.
pub(super) fn absdiff_halves(b: &mut Builder) -> Written {
    if b.operation() != Operation::Absdiff || b.bits() != 16 || b.accumulates() {
        return Err(NotApplicable);
    }
    let signed = b.common_type()?;
    let mut lanes = Value::Word(0);
    for position in b.live() {
        let [x, y] = [false, true].map(|second| match (position, signed) {
            (0, true) => b.word(second, 0),
            (0, false) => b.word_same_but_at(second, 0, 0),
            _ => b.word_same_but_at(second, position, 1),
        });
        let ty = word_type(signed);
        lanes = b.op(Op::Sad(ty), &[x, y, lanes]);
    }
    b.end(lanes, false)
}
