//! From a candidate to base instructions: the form's selectors decide which bytes its steps read.
//!
//! Three things are made here. A word of picked bytes ([`Step::Pick`]) becomes a register as it stands, a `prmt`, a shift, an
//! `and`, or two instructions where bytes of both registers stand beside zeros. A weighted sum ([`Step::Sum`]) becomes dot
//! products in which a byte counts as often as selectors take it. And the lanes of the output are put in their places with
//! those of c by `prmt`. Tests try all selectors: every byte goes where it belongs whatever its value, as none of
//! these looks at values.

use alloc::collections::BTreeMap;
use alloc::vec::Vec;

use super::base::Op;
use super::candidate::{BytePlace, Candidate, Output, Pick, Step, Value};
use super::sequence::Sequence;
use crate::isa::form::Form;
use crate::isa::types::{Selector, Shape, Type};
use crate::target::Target;

/// How a weighted sum is written.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum SumStyle {
    /// A dot product for each register and type.
    Dot,
    /// The same, but sums of all bytes of a register as absolute differences to zero.
    Absdiff,
    /// A dot product for the first inputs and one for the second, each put in its position before.
    Selected,
    /// All lanes in one register first, if there is room.
    Gathered,
    /// One lane after the other.
    Chain,
}

/// The sequences that a candidate becomes; all compute the same.
pub(super) fn resolve(candidate: &Candidate, form: Form, target: Target) -> Vec<Sequence> {
    let has = |wanted: fn(&Step) -> bool| candidate.steps.iter().any(wanted);
    let sums = has(|step| matches!(step, Step::Sum { .. }));
    let styles: &[SumStyle] = match sums {
        true => &[SumStyle::Dot, SumStyle::Absdiff, SumStyle::Selected, SumStyle::Gathered, SumStyle::Chain],
        false => &[SumStyle::Dot],
    };
    let same = has(|step| matches!(step, Step::Pick(picks) if picks.iter().any(|pick| matches!(pick, Pick::Same(_)))));
    let mut sequences = Vec::new();
    for &style in styles {
        for backward in [false, true] {
            if backward && !same {
                continue;
            }
            let same = same_bytes(candidate, form, backward);
            let writer =
                Writer { form, candidate, same, style, target, sequence: Sequence::default(), values: Vec::new() };
            if let Some(sequence) = writer.write()
                && !sequences.contains(&sequence)
            {
                sequences.push(sequence);
            }
        }
    }
    sequences
}

/// A byte that a pick wants: its number in b:a (0 to 3 are a's), its sign, zero, or any.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Want {
    Byte(u8),
    Sign(u8),
    Zero,
    Any,
}

/// The number in b:a of a byte of an input.
fn number(form: Form, candidate: &Candidate, second: bool, position: u8, byte: u8) -> u8 {
    let selector = if second { form.bsel() } else { form.asel() };
    let lane = usize::from(candidate.placement[usize::from(position)].unwrap_or(0));
    match selector {
        Selector::Word => 4 * u8::from(second) + byte,
        Selector::Part(part) => 4 * u8::from(second) + part.shift() as u8 / 8 + byte,
        Selector::Halves(lanes) => 2 * lanes[lane % 2] + byte,
        Selector::Bytes(lanes) => lanes[lane] + byte,
    }
}

fn wants(form: Form, candidate: &Candidate, picks: &[Pick; 4], same: &BTreeMap<u8, u8>) -> [Want; 4] {
    picks.map(|pick| match pick {
        Pick::Byte { second, position, byte } => Want::Byte(number(form, candidate, second, position, byte)),
        Pick::Sign { second, position, byte } => Want::Sign(number(form, candidate, second, position, byte)),
        Pick::Zero => Want::Zero,
        Pick::Any => Want::Any,
        Pick::Same(n) => same.get(&n).map_or(Want::Any, |&byte| Want::Byte(byte)),
    })
}

/// The register whose own bytes are those wanted: 0 for a, 4 for b.
fn register_in_place(wants: &[Want; 4]) -> Option<u8> {
    [0, 4]
        .into_iter()
        .find(|register| (0..).zip(wants).all(|(i, want)| *want == Want::Any || *want == Want::Byte(register + i)))
}

/// Which bytes are taken for the picks that only must be the same everywhere: those that cost nothing in the first (or the
/// last) register that has such picks.
fn same_bytes(candidate: &Candidate, form: Form, backward: bool) -> BTreeMap<u8, u8> {
    let mut same = BTreeMap::new();
    let mut assign = |step: &Step| {
        let Step::Pick(picks) = step else { return };
        let wants = wants(form, candidate, picks, &same);
        let register = register_in_place(&wants);
        for (i, pick) in (0..).zip(picks) {
            if let Pick::Same(n) = pick {
                same.entry(*n).or_insert(register.unwrap_or(0) + if register.is_some() { i } else { 0 });
            }
        }
    };
    if backward {
        candidate.steps.iter().rev().for_each(&mut assign);
    } else {
        candidate.steps.iter().for_each(&mut assign);
    }
    same
}

struct Writer<'a> {
    form: Form,
    candidate: &'a Candidate,
    same: BTreeMap<u8, u8>,
    style: SumStyle,
    target: Target,
    sequence: Sequence,
    /// What the candidate's steps have become.
    values: Vec<Value>,
}

impl Writer<'_> {
    fn value(&self, value: Value) -> Value {
        value.as_step().map_or(value, |number| self.values[number])
    }

    fn write(mut self) -> Option<Sequence> {
        for step in &self.candidate.steps {
            let value = match step {
                Step::Base(op, operands) => {
                    let operands: Vec<Value> = operands.iter().map(|&operand| self.value(operand)).collect();
                    self.sequence.push(*op, &operands)
                }
                Step::Pick(picks) => {
                    let wants = wants(self.form, self.candidate, picks, &self.same);
                    self.picked(wants)
                }
                Step::Sum { addend, weights } => {
                    let addend = self.value(*addend);
                    self.summed(addend, weights)?
                }
            };
            self.values.push(value);
        }
        let result = match &self.candidate.output {
            Output::Value(value) => self.value(*value),
            Output::Lanes(places) => self.gathered(places),
        };
        self.sequence.result = Some(result);
        share_constants(&mut self.sequence);
        Some(self.sequence)
    }

    fn prmt(&mut self, x: Value, y: Value, nibbles: [u8; 4]) -> Value {
        let selector = (0..4).fold(0, |all, i| all | u16::from(nibbles[i]) << (4 * i));
        self.sequence.push(Op::Prmt(selector), &[x, y])
    }

    fn picked(&mut self, wants: [Want; 4]) -> Value {
        match register_in_place(&wants) {
            Some(0) => return Value::A,
            Some(_) => return Value::B,
            None => {}
        }
        let taken = |want: &Want| match want {
            Want::Byte(byte) | Want::Sign(byte) => Some(*byte),
            _ => None,
        };
        let has_zeros = wants.contains(&Want::Zero);
        let registers: Vec<u8> = {
            let mut all: Vec<u8> = wants.iter().filter_map(taken).map(|byte| byte / 4).collect();
            all.sort_unstable();
            all.dedup();
            all
        };
        let register = |number: u8| if number == 0 { Value::A } else { Value::B };
        match registers[..] {
            [] => Value::Word(0),
            [only] => {
                let x = register(only);
                let own = wants.map(|want| match want {
                    Want::Byte(byte) => Want::Byte(byte % 4),
                    Want::Sign(byte) => Want::Sign(byte % 4),
                    other => other,
                });
                // Shifts and masks melt into what takes them, as a `prmt` does not.
                for first in 1..4 {
                    for (fill, op) in
                        [(Want::Zero, Op::Shr(Type::U32)), (Want::Sign(3), Op::Shr(Type::S32)), (Want::Zero, Op::Shl)]
                    {
                        let is_right = op != Op::Shl;
                        let is_shifted = (0..4).zip(&own).all(|(i, want)| {
                            let byte = if is_right { i + first } else { i + 4 - first };
                            let taken = if is_right { byte < 4 } else { byte >= 4 };
                            *want == Want::Any || *want == if taken { Want::Byte(byte % 4) } else { fill }
                        });
                        if is_shifted {
                            return self.sequence.push(op, &[x, Value::Word(8 * u32::from(first))]);
                        }
                    }
                }
                let in_place =
                    (0..).zip(&own).all(|(i, want)| matches!(want, Want::Zero | Want::Any) || *want == Want::Byte(i));
                if in_place {
                    let mask = (0..4).filter(|&i| own[i] != Want::Zero).fold(0, |mask, i| mask | 0xff << (8 * i));
                    return self.sequence.push(Op::Lop3(0xc0), &[x, Value::Word(mask), Value::Word(0)]);
                }
                let nibbles = own.map(|want| match want {
                    Want::Byte(byte) => byte,
                    Want::Sign(byte) => 8 | byte,
                    Want::Zero => 4,
                    Want::Any => 0,
                });
                let other = if has_zeros { Value::Word(0) } else { x };
                self.prmt(x, other, nibbles)
            }
            _ => {
                let nibbles = wants.map(|want| match want {
                    Want::Byte(byte) => byte,
                    Want::Sign(byte) => 8 | byte,
                    Want::Zero | Want::Any => 0,
                });
                let all = self.prmt(Value::A, Value::B, nibbles);
                if !has_zeros {
                    return all;
                }
                let mask = (0..4).filter(|&i| wants[i] != Want::Zero).fold(0, |mask, i| mask | 0xff << (8 * i));
                self.sequence.push(Op::Lop3(0xc0), &[all, Value::Word(mask), Value::Word(0)])
            }
        }
    }

    fn summed(&mut self, addend: Value, weights: &[[i8; 4]; 2]) -> Option<Value> {
        let shape = self.form.mnemonic().shape();
        let bytes = (shape.bits() / 8) as u8;
        // The terms, in order, each as the number of its lane in b:a with its type and weight.
        let mut terms: Vec<(u8, Type, i8)> = Vec::new();
        for (second, weights) in [false, true].into_iter().zip(weights) {
            let ty = if second { self.form.btype() } else { self.form.atype() };
            for (position, &weight) in (0..).zip(weights).filter(|&(_, &weight)| weight != 0) {
                terms.push((number(self.form, self.candidate, second, position, 0) / bytes, ty, weight));
            }
        }
        let lanes = shape.lanes() as u8;
        let register = |lane: u8| if lane < lanes { Value::A } else { Value::B };
        // By register and type, the weight of each of its lanes.
        let mut dots: Vec<((Value, Type), [i8; 4])> = Vec::new();
        for &(lane, ty, weight) in &terms {
            let key = (register(lane), ty);
            let known = dots.iter().position(|dot| dot.0 == key).unwrap_or(dots.len());
            if known == dots.len() {
                dots.push((key, [0; 4]));
            }
            dots[known].1[usize::from(lane % lanes)] += weight;
        }
        dots.retain(|(_, weights)| *weights != [0; 4]);
        match self.style {
            SumStyle::Dot | SumStyle::Absdiff => {
                if self.style == SumStyle::Absdiff && (shape != Shape::Bytes || !super::has_native_absdiff(self.target))
                {
                    return None;
                }
                let mut sum = addend;
                for ((register, ty), weights) in dots {
                    if self.style == SumStyle::Absdiff && ty == Type::U32 && weights == [1; 4] {
                        sum = self.sequence.push(Op::Absdiff4Add(ty), &[register, Value::Word(0), sum]);
                        continue;
                    }
                    sum = self.sequence.push(dot(shape, ty), &[register, Value::Word(constant(&weights)), sum]);
                }
                Some(sum)
            }
            SumStyle::Selected => {
                let mut sum = addend;
                for (second, weights) in [false, true].into_iter().zip(weights) {
                    let wants = core::array::from_fn(|i| {
                        let (position, byte) = (i as u8 / bytes, i as u8 % bytes);
                        match weights[usize::from(position)] {
                            0 => Want::Any,
                            _ => Want::Byte(number(self.form, self.candidate, second, position, byte)),
                        }
                    });
                    let ty = if second { self.form.btype() } else { self.form.atype() };
                    let x = self.picked(wants);
                    sum = self.sequence.push(dot(shape, ty), &[x, Value::Word(constant(weights)), sum]);
                }
                Some(sum)
            }
            SumStyle::Gathered => {
                let ty = terms.first()?.1;
                if terms.len() > usize::from(lanes) || terms.iter().any(|term| term.1 != ty) {
                    return None;
                }
                let mut wants = [Want::Any; 4];
                for (i, &(lane, ..)) in terms.iter().enumerate() {
                    for byte in 0..bytes {
                        wants[i * usize::from(bytes) + usize::from(byte)] = Want::Byte(lane * bytes + byte);
                    }
                }
                let x = self.picked(wants);
                let mut weights = [0; 4];
                terms.iter().zip(&mut weights).for_each(|(term, weight)| *weight = term.2);
                if ty == Type::U32 && weights == [1; 4] && super::has_native_absdiff(self.target) {
                    return Some(self.sequence.push(Op::Absdiff4Add(ty), &[x, Value::Word(0), addend]));
                }
                Some(self.sequence.push(dot(shape, ty), &[x, Value::Word(constant(&weights)), addend]))
            }
            SumStyle::Chain => {
                if terms.len() > 4 {
                    return None;
                }
                // A top lane is one instruction with its sum, and with what is subtracted from it: so what is subtracted may
                // come first, from which the addend is taken, and then all that from what is added.
                let is_top = |lane: u8| lane % lanes == lanes - 1;
                let can_turn = terms.iter().any(|term| term.2 > 0);
                terms.sort_by_key(|&(lane, _, weight)| match (is_top(lane), weight < 0) {
                    (true, true) if can_turn => 0,
                    (true, _) => 1,
                    (false, false) => 2,
                    (false, true) => 3,
                });
                let mut sum = addend;
                let mut is_turned = false;
                for (lane, ty, weight) in terms {
                    let top = lane * bytes + bytes - 1;
                    let word = self.picked(core::array::from_fn(|i| match i as u8 {
                        byte if byte < bytes => Want::Byte(lane * bytes + byte),
                        _ if ty.is_signed() => Want::Sign(top),
                        _ => Want::Zero,
                    }));
                    let minus = weight < 0;
                    let turns = minus != is_turned && (is_turned || is_top(lane) && can_turn);
                    sum = match (turns, minus == is_turned) {
                        (true, _) => self.sequence.push(Op::Sub, &[word, sum]),
                        (false, true) => self.sequence.push(Op::Add, &[sum, word]),
                        (false, false) => self.sequence.push(Op::Sub, &[sum, word]),
                    };
                    is_turned ^= turns;
                }
                Some(sum)
            }
        }
    }

    /// Puts lanes where they belong, and those of c in the others.
    fn gathered(&mut self, places: &[Option<BytePlace>; 4]) -> Value {
        let shape = self.form.mnemonic().shape();
        let bytes = shape.bits() as usize / 8;
        let mut wanted: [(Value, u8); 4] = core::array::from_fn(|i| (Value::C, i as u8));
        for (position, place) in places.iter().enumerate() {
            let (Some(place), Some(lane)) = (place, self.candidate.placement[position]) else { continue };
            for byte in 0..bytes {
                wanted[usize::from(lane) * bytes + byte] = (self.value(place.value), place.byte + byte as u8);
            }
        }
        let mut registers: Vec<Value> = Vec::new();
        for (register, _) in wanted {
            if !registers.contains(&register) {
                registers.push(register);
            }
        }
        // Where each byte stands in the register that has taken in all so far.
        let mut stands = wanted.map(|(register, byte)| (register == registers[0]).then_some(byte));
        let mut all = registers[0];
        if registers.len() == 1 {
            let nibbles = wanted.map(|(_, byte)| byte);
            return if nibbles == [0, 1, 2, 3] { all } else { self.prmt(all, all, nibbles) };
        }
        for &register in &registers[1..] {
            let nibbles = core::array::from_fn(|i| match (wanted[i], stands[i]) {
                ((of, byte), _) if of == register => 4 + byte,
                (_, Some(byte)) => byte,
                _ => 0,
            });
            all = self.prmt(all, register, nibbles);
            for i in 0..4 {
                stands[i] = (stands[i].is_some() || wanted[i].0 == register).then_some(i as u8);
            }
        }
        all
    }
}

fn constant(weights: &[i8; 4]) -> u32 {
    u32::from_le_bytes(weights.map(|weight| weight as u8))
}

fn dot(shape: Shape, ty: Type) -> Op {
    match shape {
        Shape::Halves => Op::Dp2a { high: false, x: ty, y: Type::S32 },
        _ => Op::Dp4a(ty, Type::S32),
    }
}

/// A dot product of half-words reads half of its constant: two different ones share a word. On most targets a constant costs an
/// instruction.
fn share_constants(sequence: &mut Sequence) {
    let mut pairs: Vec<u32> = Vec::new();
    for (op, operands) in &sequence.steps {
        if let (Op::Dp2a { high: false, .. }, [_, Value::Word(constant), _]) = (op, &operands[..])
            && !pairs.contains(constant)
        {
            pairs.push(*constant);
        }
    }
    for (op, operands) in &mut sequence.steps {
        if let (Op::Dp2a { high, .. }, [_, Value::Word(constant), _]) = (op, &mut operands[..])
            && !*high
            && let Some(i) = pairs.iter().position(|pair| pair == constant)
        {
            *high = i % 2 == 1;
            *constant = pairs[i & !1] & 0xffff | pairs.get(i | 1).copied().unwrap_or(0) << 16;
        }
    }
}

#[cfg(test)]
mod tests;
