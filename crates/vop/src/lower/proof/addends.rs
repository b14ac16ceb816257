//! The value of an accumulating candidate as a sum of addends, each of which depends on few positions.
//!
//! That a sum over four lanes is the sum of four results is much for a solver; that what one lane adds is its result is little. So
//! the value is taken apart along its sums, and what depends on the same positions is put together again: c, a constant, and
//! for each group of positions a sum that must be the sum of their results, up to a constant. The constants cancel.
//!
//! What an addend depends on is looked up byte by byte and only decides the groups: were it wrong, the query would claim what does
//! not hold, as each claim is about all values of all free constants.

use alloc::format;
use alloc::string::{String, ToString};
use alloc::vec;
use alloc::vec::Vec;

use super::{Equal, Malformed, Writer, in_range};
use crate::eval::Exact;
use crate::interval::Interval;
use crate::interval::OperandValue;
use crate::isa::types::Type;
use crate::lower::base::{Op, Sort};
use crate::lower::candidate::{Pick, Step, Value};
use crate::semantics::Deviations;
use crate::smt::Bits;
use crate::term::{constant, extended};

/// Positions, a bit each from bit 0; bytes that may be anything, from bit 4; all else, bit 63.
type Support = u64;

const ELSE: Support = 1 << 63;
/// What depends on c is not taken apart.
const C: Support = 1 << 62;

/// What is added, or subtracted.
struct Addend {
    /// The step whose result it is, if it is one.
    value: Option<Value>,
    term: String,
    negative: bool,
    /// What it is, as added, where all free constants are zero.
    at_zero: u32,
    support: Support,
}

/// A sum that is being taken apart.
struct Sum<'w, 'c> {
    writer: &'w mut Writer<'c>,
    /// What each byte of each step depends on.
    supports: Vec<Vec<Support>>,
    /// What each step is where all free constants are zero.
    at_zero: Vec<u64>,
    addends: Vec<Addend>,
    /// How often c is added.
    times_c: i32,
}

/// What must be equal so that a value is the sum of c and of the results at all live positions; nothing if the value cannot be
/// taken apart.
pub(super) fn parts(writer: &mut Writer<'_>, value: Value) -> Result<Option<Vec<Equal>>, Malformed> {
    let (addends, times_c) = taken_apart(writer, value)?;
    if times_c != 1 {
        return Ok(None);
    }
    // A sum of twice the results, halved.
    let halved = match &addends[..] {
        [Addend { value: Some(Value::Step(number)), negative: false, .. }] => match &writer.candidate.steps[*number] {
            Step::Base(Op::Shr(ty), operands) if operands[1] == Value::Word(1) => Some((operands[0], *ty)),
            _ => None,
        },
        _ => None,
    };
    let Some((twice, ty)) = halved else { return Ok(groups(writer, &addends, 1)) };
    let (addends, 0) = taken_apart(writer, twice)? else { return Ok(None) };
    let Some(mut equal) = groups(writer, &addends, 2) else { return Ok(None) };
    // Half of twice a sum is the sum, within the range that a sum of `count` results has.
    let live: Vec<u8> = writer.candidate.live().collect();
    let Interval { min, max } = writer.form.with_default_selectors().result_range([OperandValue::Free; 3]);
    for &position in &live {
        let result = writer.result(position);
        let given = in_range(writer.form, &result);
        equal.push(Equal { name: "whether it is a result".into(), given, wanted: "true".into() });
    }
    let sum = writer.script.declare("sum", 32);
    let [least, greatest] = [min, max].map(|end| constant((end * live.len() as Exact) as u64, 32));
    let half = Op::Shr(ty).smt(&[&format!("(bvadd {sum} {sum})"), &constant(1, 32)]);
    let given = format!("(ite (and (bvsle {least} {sum}) (bvsle {sum} {greatest})) {half} {sum})");
    let given = writer.script.define(Bits::Vector(32), given);
    equal.push(Equal { name: "half of twice a sum".into(), given, wanted: sum });
    Ok(Some(equal))
}

/// The addends of a value, and how often c is one.
fn taken_apart(writer: &mut Writer<'_>, value: Value) -> Result<(Vec<Addend>, i32), Malformed> {
    let mut sum = Sum { writer, supports: Vec::new(), at_zero: Vec::new(), addends: Vec::new(), times_c: 0 };
    for step in &sum.writer.candidate.steps {
        let (supports, at_zero) = (sum.supports(step), sum.at_zero(step));
        sum.supports.push(supports);
        sum.at_zero.push(at_zero);
    }
    sum.take_apart(value, false)?;
    Ok((sum.addends, sum.times_c))
}

/// What must be equal so that addends are, taken together, a multiple of the results at all live positions; nothing if all of them
/// hang together, or depend on c.
fn groups(writer: &mut Writer<'_>, addends: &[Addend], times: u32) -> Option<Vec<Equal>> {
    let live: Vec<u8> = writer.candidate.live().collect();
    let mut groups: Vec<(Support, Vec<&Addend>)> = live.iter().map(|position| (1 << position, Vec::new())).collect();
    let mut constants = 0u32;
    let mut equal = Vec::new();
    for addend in addends {
        if addend.support == 0 {
            constants = constants.wrapping_add(addend.at_zero);
            let given = if addend.negative { format!("(bvneg {})", addend.term) } else { addend.term.clone() };
            equal.push(Equal { name: "a constant".into(), given, wanted: constant(addend.at_zero.into(), 32) });
            continue;
        }
        let mut all = (addend.support, vec![addend]);
        groups.retain(|(support, addends)| {
            let apart = support & addend.support == 0;
            if !apart {
                all.0 |= support;
                all.1.extend(addends);
            }
            apart
        });
        groups.push(all);
    }
    groups.sort_by_key(|(support, _)| support.trailing_zeros());
    let at_zero = writer.form.operate_exactly(Deviations::NONE, 0, 0) as u32;
    for (support, addends) in &groups {
        let positions: Vec<u8> = live.iter().copied().filter(|position| support >> position & 1 != 0).collect();
        if positions.is_empty() || addends.is_empty() || support & C != 0 {
            return None;
        }
        let given = addends.iter().fold(constant(0, 32), |sum, addend| {
            format!("({} {sum} {})", if addend.negative { "bvsub" } else { "bvadd" }, addend.term)
        });
        let more = addends.iter().fold(0u32, |sum, addend| sum.wrapping_add(addend.at_zero));
        let more = more.wrapping_sub(at_zero.wrapping_mul(times * positions.len() as u32));
        constants = constants.wrapping_add(more);
        let wanted = positions.iter().fold(constant(more.into(), 32), |sum, &position| {
            let result = writer.result(position);
            (0..times).fold(sum, |sum, _| format!("(bvadd {sum} {result})"))
        });
        let [given, wanted] = [given, wanted].map(|term| writer.script.define(Bits::Vector(32), term));
        let names: Vec<String> = positions.iter().map(u8::to_string).collect();
        equal.push(Equal { name: format!("what position {} adds", names.join(" and ")), given, wanted });
    }
    (constants == 0 && (groups.len() > 1 || times > 1)).then_some(equal)
}

impl Sum<'_, '_> {
    fn add(&mut self, value: Option<Value>, term: String, negative: bool, at_zero: u64, support: Support) {
        let term = self.writer.script.define(Bits::Vector(32), term);
        let at_zero = if negative { (at_zero as u32).wrapping_neg() } else { at_zero as u32 };
        self.addends.push(Addend { value, term, negative, at_zero, support });
    }

    /// Adds a word, or what it is the sum of.
    fn take_apart(&mut self, value: Value, negative: bool) -> Result<(), Malformed> {
        let candidate = self.writer.candidate;
        let step = value.as_step().and_then(|number| candidate.steps.get(number));
        match (value, step) {
            (Value::C, _) => self.times_c += if negative { -1 } else { 1 },
            (_, Some(Step::Base(Op::Add, operands))) => {
                for &operand in operands {
                    self.take_apart(operand, negative)?;
                }
            }
            (_, Some(Step::Base(Op::Sub, operands))) => {
                for (&operand, minus) in operands.iter().zip([false, true]) {
                    self.take_apart(operand, negative != minus)?;
                }
            }
            (_, Some(Step::Base(op @ (Op::Dp4a(..) | Op::Dp2a { .. } | Op::Absdiff4Add(_)), operands))) => {
                self.take_apart(operands[2], negative)?;
                let terms = [self.writer.word(operands[0])?, self.writer.word(operands[1])?];
                let addends = op.addends(&[&terms[0], &terms[1], ""]);
                let bytes = 4 / addends.len();
                for (k, term) in addends.into_iter().enumerate() {
                    // Times nothing.
                    if term == constant(0, 32) {
                        continue;
                    }
                    // Of both words what other bytes are plays no part.
                    let mask = (u64::from(u32::MAX) >> (32 - 8 * bytes)) << (8 * bytes * k);
                    let [x, y] = [operands[0], operands[1]].map(|operand| self.zero_of(operand));
                    let y = if matches!(op, Op::Absdiff4Add(_)) { y & mask } else { y };
                    let of =
                        |operand: Value| self.support_of(operand)[k * bytes..][..bytes].iter().fold(0, |x, y| x | y);
                    let is_zero = |operand: Value| {
                        self.support_of(operand)[k] == 0 && self.zero_of(operand) >> (8 * k) & 0xff == 0
                    };
                    let support = match op {
                        // Times nothing, as is claimed for the solver to see.
                        Op::Dp4a(..) if is_zero(operands[0]) || is_zero(operands[1]) => 0,
                        // The bytes of the second word are constants wherever that matters.
                        Op::Dp2a { .. } => of(operands[0]) | self.all_of(operands[1]),
                        _ => of(operands[0]) | of(operands[1]),
                    };
                    self.add(None, term, negative, op.eval(&[x & mask, y, 0]), support);
                }
            }
            (_, Some(Step::Base(Op::AddIf, operands))) => {
                self.take_apart(operands[0], negative)?;
                let (y, p) = (self.writer.word(operands[1])?, self.writer.value(operands[2])?.0);
                let support = self.all_of(operands[1]) | self.all_of(operands[2]);
                let at_zero = if self.zero_of(operands[2]) != 0 { self.zero_of(operands[1]) } else { 0 };
                self.add(None, format!("(ite {p} {y} {})", constant(0, 32)), negative, at_zero, support);
            }
            (_, Some(Step::Sum { addend, weights })) => {
                self.take_apart(*addend, negative)?;
                for (second, weights) in [false, true].into_iter().zip(weights) {
                    let form = self.writer.form;
                    let signed = if second { form.btype() } else { form.atype() }.is_signed();
                    for (position, &weight) in (0..).zip(weights).filter(|&(_, &weight)| weight != 0) {
                        let input = self.writer.input(second, position);
                        let term = extended(&input, 32 - form.input_bits(second), signed);
                        self.add(None, term, negative != (weight < 0), 0, 1 << position);
                    }
                }
            }
            _ => {
                let term = self.writer.word(value)?;
                let (at_zero, support) = (self.zero_of(value), self.all_of(value));
                self.add(Some(value), term, negative, at_zero, support);
            }
        }
        Ok(())
    }

    fn zero_of(&self, value: Value) -> u64 {
        match value {
            Value::Step(number) => self.at_zero.get(number).copied().unwrap_or(0),
            Value::Word(word) => word.into(),
            Value::Long(long) => long,
            Value::A | Value::B | Value::C => 0,
        }
    }

    fn at_zero(&self, step: &Step) -> u64 {
        match step {
            Step::Pick(_) => 0,
            Step::Sum { addend, .. } => self.zero_of(*addend),
            Step::Base(op, operands) => {
                let operands: Vec<u64> = operands.iter().map(|&operand| self.zero_of(operand)).collect();
                op.eval(&operands)
            }
        }
    }

    fn support_of(&self, value: Value) -> Vec<Support> {
        match value {
            Value::Step(number) => self.supports.get(number).cloned().unwrap_or_else(|| vec![ELSE; 8]),
            Value::Word(_) => vec![0; 4],
            Value::Long(_) => vec![0; 8],
            Value::C => vec![C; 4],
            Value::A | Value::B => vec![ELSE; 4],
        }
    }

    fn all_of(&self, value: Value) -> Support {
        self.support_of(value).into_iter().fold(0, |x, y| x | y)
    }

    /// What each byte of a step depends on.
    fn supports(&self, step: &Step) -> Vec<Support> {
        let (op, operands) = match step {
            Step::Pick(picks) => {
                let of = |(i, pick): (usize, &Pick)| match *pick {
                    Pick::Byte { position, .. } | Pick::Sign { position, .. } => 1 << position,
                    Pick::Zero => 0,
                    // A byte of its own, which nothing else depends on: those of several steps are taken for one.
                    Pick::Any => 1 << (4 + i),
                    Pick::Same(number) => 1 << (8 + number % 48),
                };
                return picks.iter().enumerate().map(of).collect();
            }
            Step::Sum { addend, weights } => {
                let summed = |position: usize| weights.iter().any(|weights| weights[position] != 0);
                let all = (0..4).filter(|&position| summed(position)).fold(0, |all, position| all | 1 << position);
                return vec![all | self.all_of(*addend); 4];
            }
            Step::Base(op, operands) => (*op, operands),
        };
        let bytes = match op.sort() {
            Sort::Predicate => 1,
            Sort::Half => 2,
            Sort::Word => 4,
            Sort::Long => 8,
        };
        let of: Vec<Vec<Support>> = operands.iter().map(|&operand| self.support_of(operand)).collect();
        let all = of.iter().flatten().fold(0, |x, y| x | y);
        let in_lanes = |size: usize| {
            let lane = |i: usize| of.iter().flat_map(|of| &of[i / size * size..][..size]).fold(0, |x, y| x | y);
            (0..bytes).map(lane).collect()
        };
        let word = |value: Value| match value {
            Value::Word(word) => Some(word),
            _ => None,
        };
        match op {
            // Constants may leave nothing of an operand.
            Op::Lop3(table) => {
                let counts = |operand: usize, byte: usize| {
                    (8 * byte..8 * byte + 8).any(|bit| {
                        let known = |i: usize| word(operands[i]).map(|word| word >> bit & 1);
                        (0..8u8).any(|row| {
                            let bit_of = |i: usize| u32::from(row >> (2 - i) & 1);
                            (0..3).all(|i| i == operand || known(i).is_none_or(|bit| bit == bit_of(i)))
                                && (table >> row ^ table >> (row ^ 4 >> operand)) & 1 != 0
                        })
                    })
                };
                (0..4)
                    .map(|i| (0..3).filter(|&operand| counts(operand, i)).fold(0, |all, operand| all | of[operand][i]))
                    .collect()
            }
            Op::Absdiff4(_) => in_lanes(1),
            Op::Packed(_, lanes) => in_lanes(lanes.bits as usize / 8),
            Op::Negate16x2 => in_lanes(2),
            Op::Prmt(selector) => {
                let both = [&of[0][..], &of[1][..]].concat();
                (0..4).map(|i| both[usize::from(selector >> (4 * i) & 7)]).collect()
            }
            // A carry goes up.
            Op::Add | Op::Sub => (0..4).map(|i| of.iter().flat_map(|of| &of[..=i]).fold(0, |x, y| x | y)).collect(),
            Op::Shl | Op::Shr(_) => match word(operands[1]) {
                Some(amount) if amount < 32 => {
                    // Bits of two bytes, or, above, of the sign.
                    let (down, amount) = (op != Op::Shl, amount as i32);
                    let byte = |at: i32| {
                        let sign = if op == Op::Shr(Type::S32) { 3 } else { 4 };
                        let at = if at > 3 { sign } else { at };
                        usize::try_from(at).ok().and_then(|at| of[0].get(at)).copied().unwrap_or(0)
                    };
                    let low = |i: i32| if down { 8 * i + amount } else { 8 * i - amount };
                    (0..4).map(|i| byte(low(i).div_euclid(8)) | byte((low(i) + 7).div_euclid(8))).collect()
                }
                _ => vec![all; 4],
            },
            _ => vec![all; bytes],
        }
    }
}
