//! From base instructions of PTX to plain operations.

use vop::isa::range::Range;
use vop::isa::types::{Comparison, Type};
use vop::lower::{Op as Base, PackedOp, Sequence, Value};

use crate::code::{Code, Extra, Op, Shift, Width, constant, opposite};
use crate::lanes::{Lanes, Term, Way, Written, splat};
use crate::machine::Machine;

const WORD: Width = Width::Word;
const LONG: Width = Width::Long;

/// The operations that compute what a sequence does on a machine.
pub(crate) fn translate(sequence: &Sequence, machine: &'static Machine) -> Code {
    let mut translator = Translator { sequence, code: Code::default(), values: Vec::new(), machine };
    for number in 0..sequence.steps().len() {
        let value = translator.step(number);
        let value = translator.as_shifted_lanes(value);
        translator.values.push(value);
    }
    let result = sequence.result().map_or(Value::Word(0), |result| translator.value(result));
    translator.code.finish(result)
}

/// The plain operations of one base instruction whose operands are the registers a, b and c: extended to the sorts it takes, of
/// which a predicate is whether the register is not zero.
pub(crate) struct Translator<'a> {
    sequence: &'a Sequence,
    code: Code,
    /// What the steps have become.
    values: Vec<Value>,
    machine: &'static Machine,
}

impl Lanes for Translator<'_> {
    fn code(&mut self) -> &mut Code {
        &mut self.code
    }

    fn machine(&self) -> &'static Machine {
        self.machine
    }
}

impl Translator<'_> {
    fn value(&self, value: Value) -> Value {
        value.as_step().map_or(value, |number| self.values[number])
    }

    /// The base instruction that a value is the result of.
    fn base(&self, value: Value) -> Option<(Base, &[Value])> {
        value.as_step().map(|number| {
            let (op, operands) = &self.sequence.steps()[number];
            (*op, &operands[..])
        })
    }

    /// How often a value is read.
    fn uses(&self, value: Value) -> usize {
        let steps = self.sequence.steps().iter().flat_map(|(_, operands)| operands);
        steps.chain(&self.sequence.result()).filter(|&&of| of == value).count()
    }

    fn step(&mut self, number: usize) -> Value {
        let (op, sources) = &self.sequence.steps()[number];
        let (op, sources) = (*op, sources.clone());
        let at: Vec<Value> = sources.iter().map(|&source| self.value(source)).collect();
        match op {
            Base::Lop3(table) => self.lop3(table, [at[0], at[1], at[2]]),
            Base::Prmt(selector) => self.prmt(selector, at[0], at[1]),
            Base::Add => self.word(Op::Add, at[0], at[1]),
            Base::Sub => self.average(at[0], at[1]).unwrap_or_else(|| self.word(Op::Sub, at[0], at[1])),
            Base::Min(ty) => self.bound(false, WORD, ty.is_signed(), at[0], at[1]),
            Base::Max(ty) => self.bound(true, WORD, ty.is_signed(), at[0], at[1]),
            Base::Shl => self.shift_left(at[0], at[1]),
            Base::Shr(ty) => self.shift_right(ty.is_signed(), at[0], at[1]),
            Base::Mul => self.word(Op::Mul, at[0], at[1]),
            Base::Mad => {
                let product = self.word(Op::Mul, at[0], at[1]);
                self.word(Op::Add, product, at[2])
            }
            Base::MadHigh => {
                let upper = match constant(at[1]) {
                    Some(k) if k.is_power_of_two() && k > 1 => self.shr(at[0], 32 - k.trailing_zeros()),
                    Some(0 | 1) => Value::Word(0),
                    _ => {
                        let [x, y] = [at[0], at[1]].map(|x| self.code.push(Op::Widen, &[x]));
                        let product = self.code.push(Op::Mul(LONG), &[x, y]);
                        self.high(product)
                    }
                };
                self.word(Op::Add, upper, at[2])
            }
            Base::Abs => {
                let minus = self.word(Op::Sub, Value::Word(0), at[0]);
                if let Some(greater) = self.extra(Extra::Base(Base::Max(Type::S32)), &[at[0], minus]) {
                    return greater;
                }
                let negative = self.compare(Comparison::Lt, WORD, true, at[0], Value::Word(0));
                self.select(WORD, negative, minus, at[0])
            }
            Base::Sad(ty)
                if self.machine.has(Extra::Sad(32)) && (!ty.is_signed() || self.are_not_negative(&at[..2])) =>
            {
                self.code.push(Op::Extra(Extra::Sad(32)), &at)
            }
            Base::Sad(ty) if self.machine.has(Extra::Base(Base::Max(ty))) => {
                let [most, least] =
                    [true, false].map(|greater| self.bound(greater, WORD, ty.is_signed(), at[0], at[1]));
                let difference = self.word(Op::Sub, most, least);
                self.word(Op::Add, difference, at[2])
            }
            Base::Sad(ty) => {
                let less = self.compare(Comparison::Lt, WORD, ty.is_signed(), at[0], at[1]);
                let (x, y) = (self.word(Op::Sub, at[1], at[0]), self.word(Op::Sub, at[0], at[1]));
                let difference = self.select(WORD, less, x, y);
                self.word(Op::Add, difference, at[2])
            }
            Base::Dp4a(..) | Base::Dp2a { .. } => self.dot_product(number, op, &sources),
            Base::Absdiff4(ty) => self.absdiff_lanes(at[0], at[1], Range::new(ty.is_signed(), 8)),
            Base::Absdiff4Add(ty) if self.machine.has(Extra::Sad(8)) => {
                // Signed bytes as unsigned ones that are greater by half of the range.
                let highest = Value::Word(if ty.is_signed() { splat(0x80, 8) } else { 0 });
                let [x, y] = [at[0], at[1]].map(|x| self.word(Op::Xor, x, highest));
                self.code.push(Op::Extra(Extra::Sad(8)), &[x, y, at[2]])
            }
            Base::Absdiff4Add(ty) => {
                let word = self.absdiff_lanes(at[0], at[1], Range::new(ty.is_signed(), 8));
                let sum = self.dot(&[Term { word, lanes: Range::new(false, 8), weights: [1; 4] }]);
                self.word(Op::Add, sum, at[2])
            }
            Base::Pack { to } => {
                let limits = [to.min(), to.max()].map(|limit| Value::Word(limit as u32));
                let [x, y] = [at[0], at[1]].map(|x| {
                    let clamped = self.clamp_signed(WORD, x, limits);
                    self.and(clamped, u32::MAX >> (32 - to.bits))
                });
                let x = self.shl(x, to.bits);
                let packed = self.word(Op::Or, x, y);
                match at.get(2) {
                    Some(&above) => {
                        let above = self.shl(above, 16);
                        self.word(Op::Or, packed, above)
                    }
                    None => packed,
                }
            }
            Base::AddSat | Base::SubSat | Base::AddSatUnsigned if self.machine.has(Extra::Base(op)) => {
                self.code.push(Op::Extra(Extra::Base(op)), &at)
            }
            Base::AddSat | Base::SubSat => {
                let [x, y] = [at[0], at[1]].map(|x| self.code.push(Op::WidenSigned, &[x]));
                let exact = self.code.push(if op == Base::AddSat { Op::Add(LONG) } else { Op::Sub(LONG) }, &[x, y]);
                let limits = [i32::MIN, i32::MAX].map(|limit| Value::Long(i64::from(limit) as u64));
                let clamped = self.clamp_signed(LONG, exact, limits);
                self.code.push(Op::Narrow, &[clamped])
            }
            Base::AddSatUnsigned => {
                let sum = self.word(Op::Add, at[0], at[1]);
                let carried = self.compare(Comparison::Lt, WORD, false, sum, at[0]);
                self.select(WORD, carried, Value::Word(u32::MAX), sum)
            }
            Base::Packed(op, lanes) => {
                // A sum with a negated number is a difference.
                if let (PackedOp::Add, Some((Base::Negate16x2, of))) = (op, self.base(sources[1])) {
                    let y = self.value(of[0]);
                    return self.sub_lanes(at[0], y, lanes.bits);
                }
                if let Some(ones) = self.compared_lanes(op, lanes, &sources, &at) {
                    return ones;
                }
                self.packed(op, lanes, at[0], at[1])
            }
            Base::Negate16x2 => self.sub_lanes(Value::Word(0), at[0], 16),
            Base::Setp(comparison, ty) => self.compare(comparison, WORD, ty.is_signed(), at[0], at[1]),
            Base::SetpLong(comparison, ty) => self.compare(comparison, LONG, ty.is_signed(), at[0], at[1]),
            Base::Selp => self.select(WORD, at[2], at[0], at[1]),
            Base::SelpLong => self.select(LONG, at[2], at[0], at[1]),
            Base::AddIf => {
                let more = match at[1] {
                    Value::Word(1) => self.code.push(Op::Number, &[at[2]]),
                    y => self.select(WORD, at[2], y, Value::Word(0)),
                };
                self.word(Op::Add, at[0], more)
            }
            Base::Extend(ty) => self.code.push(if ty.is_signed() { Op::WidenSigned } else { Op::Widen }, &[at[0]]),
            Base::Low => self.code.push(Op::Narrow, &[at[0]]),
            Base::High => self.high(at[0]),
            Base::Join => {
                let [low, high] = [at[0], at[1]].map(|x| self.code.push(Op::Widen, &[x]));
                let high = self.code.push(Op::Shl(LONG), &[high, Value::Word(32)]);
                self.code.push(Op::Or(LONG), &[high, low])
            }
            Base::AddLong => self.code.push(Op::Add(LONG), &at),
            Base::SubLong => self.code.push(Op::Sub(LONG), &at),
            Base::MulLong => self.code.push(Op::Mul(LONG), &at),
            Base::MinLong(ty) => self.bound(false, LONG, ty.is_signed(), at[0], at[1]),
            Base::MaxLong(ty) => self.bound(true, LONG, ty.is_signed(), at[0], at[1]),
            Base::ShlLong => self.shift_long(Op::Shl(LONG), at[0], at[1]),
            Base::ShrLong(ty) => {
                let op = if ty.is_signed() { Op::Sar(LONG) } else { Op::Shr(LONG) };
                self.shift_long(op, at[0], at[1])
            }
            Base::MulWide(ty) => {
                let [x, y] = [at[0], at[1]].map(|x| {
                    let op = if ty.is_signed() { Op::WidenSigned } else { Op::Widen };
                    self.code.push(op, &[x])
                });
                self.code.push(Op::Mul(LONG), &[x, y])
            }
        }
    }

    /// The average of lanes, where a difference is one: all bits that either has, without half of those in which they differ.
    fn average(&mut self, either: Value, half: Value) -> Option<Value> {
        let (Op::Or(WORD), &[x, y]) = self.code.step(either)? else { return None };
        let (Op::Shr(WORD), &[upper, Value::Word(1)]) = self.code.step(half)? else { return None };
        let (Op::And(WORD), &[differ, Value::Word(mask)]) = self.code.step(upper)? else { return None };
        if self.code.step(differ)? != (Op::Xor(WORD), &[x, y][..]) {
            return None;
        }
        let bits = [8, 16].into_iter().find(|&bits| mask == splat(!1, bits))?;
        self.extra(Extra::Average(bits), &[x, y])
    }

    /// Half-words that are shifted by a shift of the word and a mask, as the machine shifts half-words.
    fn as_shifted_lanes(&mut self, value: Value) -> Value {
        let Some((outer, &[inner, Value::Word(k)])) = self.code.step(value) else { return value };
        let Some((inner, &[x, Value::Word(l)])) = self.code.step(inner) else { return value };
        let (shift, by, mask) = match (outer, inner) {
            (Op::And(WORD), Op::Shr(WORD)) if l < 16 => (Shift::Right, l, (k, 0xffff >> l)),
            (Op::And(WORD), Op::Shl(WORD)) if l < 16 => (Shift::Left, l, (k, 0xffff << l)),
            (Op::Shr(WORD), Op::And(WORD)) if k < 16 => (Shift::Right, k, (l, 0xffff << k)),
            _ => return value,
        };
        if mask.0 != splat(mask.1, 16) {
            return value;
        }
        self.shifted_halves(shift, x, by).unwrap_or(value)
    }

    /// 1 in each lane in which two compare so, by a comparison of the machine: where a difference, no less than 0, is bounded by 1, or taken
    /// from 1.
    fn compared_lanes(&mut self, op: PackedOp, lanes: Range, sources: &[Value], at: &[Value]) -> Option<Value> {
        let one = Value::Word(splat(1, lanes.bits));
        let (number, is_set) = match op {
            PackedOp::Min if !lanes.signed && sources[1] == one => (0, true),
            PackedOp::SubSat if !lanes.signed && sources[0] == one => (1, false),
            _ => return None,
        };
        if self.machine.compares_with_one && is_set && lanes.bits == 16 {
            // What is carried out of a sum is 1, too.
            let sum = self.extra_packed(PackedOp::AddSat, lanes, at[0], Value::Word(0x7fff_7fff))?;
            return self.shifted_halves(Shift::Right, sum, 15);
        }
        let (comparison, of, x, y) = self.question(sources[number], at[number], lanes.bits)?;
        let mask = |w: &mut Written<'_>, comparison: Comparison| {
            let swapped = match comparison {
                Comparison::Lt => Comparison::Gt,
                Comparison::Ge => Comparison::Le,
                other => other,
            };
            let extra = w.extra(Extra::Compare(comparison, of), &[x, y]);
            extra.or_else(|| w.extra(Extra::Compare(swapped, of), &[y, x]))
        };
        let wanted = if is_set { comparison } else { opposite(comparison) };
        let ways: [Way<'_>; 3] = [
            &|w| Some(w.packed(op, lanes, at[0], at[1])),
            &|w| {
                let mask = mask(w, wanted)?;
                Some(w.word(Op::And, mask, one))
            },
            // All ones and 1 are 0.
            &|w| {
                let mask = mask(w, opposite(wanted))?;
                Some(w.add_lanes(mask, one, lanes.bits))
            },
        ];
        // The difference is needed by the first way alone.
        let machine = self.machine;
        let written = ways.iter().filter_map(|way| {
            let mut code = self.code.clone();
            let value = way(&mut Written { code: &mut code, machine })?;
            Some((code.clone().finish(value).cost_or_lacking(machine), code, value))
        });
        let (_, code, value) = written.min_by_key(|(cost, ..)| *cost)?;
        self.code = code;
        Some(value)
    }

    /// What a difference that is not negative says where it is not zero: how the lanes of two values compare.
    fn question(&self, source: Value, value: Value, bits: u32) -> Option<(Comparison, Range, Value, Value)> {
        let of = |signed: bool| Range::new(signed, bits);
        let difference = |source: Value, signed: bool| {
            let (Base::Packed(PackedOp::SubSat, lanes), &[y, x]) = self.base(source)? else { return None };
            (lanes == of(signed)).then_some((Comparison::Lt, lanes, self.value(x), self.value(y)))
        };
        match self.base(source)? {
            (Base::Packed(PackedOp::Max, lanes), &[inner, Value::Word(0)]) if lanes == of(true) => {
                difference(inner, true)
            }
            (Base::Packed(..), _) => difference(source, false),
            _ => match self.code.step(value)? {
                (Op::Xor(WORD), &[x, y]) => Some((Comparison::Ne, of(false), x, y)),
                _ => None,
            },
        }
    }

    fn high(&mut self, long: Value) -> Value {
        let upper = self.code.push(Op::Shr(LONG), &[long, Value::Word(32)]);
        self.code.push(Op::Narrow, &[upper])
    }

    /// Whether the highest bits of words are zero.
    fn are_not_negative(&self, words: &[Value]) -> bool {
        words.iter().all(|&word| self.code.possible(word) <= i32::MAX as u64)
    }

    /// Whether an amount is less than a limit, whatever the inputs are.
    fn is_below(&self, amount: Value, limit: u64) -> bool {
        self.code.possible(amount) < limit
    }

    /// An amount, but no more than a limit that is 2^n - 1.
    fn limited(&mut self, amount: Value, most: u32) -> Value {
        if self.is_below(amount, u64::from(most) + 1) {
            return amount;
        }
        self.bound(false, WORD, false, amount, Value::Word(most))
    }

    /// Shifted left; 32 and more give 0.
    fn shift_left(&mut self, x: Value, amount: Value) -> Value {
        if self.is_below(amount, 32) {
            return self.word(Op::Shl, x, amount);
        }
        if constant(amount).is_some() {
            return Value::Word(0);
        }
        if self.is_below(amount, 64) {
            let x = self.code.push(Op::Widen, &[x]);
            let shifted = self.code.push(Op::Shl(LONG), &[x, amount]);
            return self.code.push(Op::Narrow, &[shifted]);
        }
        let inside = self.compare(Comparison::Lt, WORD, false, amount, Value::Word(32));
        let lower = self.and(amount, 31);
        let shifted = self.word(Op::Shl, x, lower);
        self.select(WORD, inside, shifted, Value::Word(0))
    }

    /// Shifted right; 32 and more give 0, or copies of the sign.
    fn shift_right(&mut self, signed: bool, x: Value, amount: Value) -> Value {
        if self.is_below(amount, 32) {
            return self.word(if signed { Op::Sar } else { Op::Shr }, x, amount);
        }
        if signed {
            let amount = match constant(amount) {
                Some(_) => Value::Word(31),
                None => self.limited(amount, 31),
            };
            return self.word(Op::Sar, x, amount);
        }
        if constant(amount).is_some() {
            return Value::Word(0);
        }
        if self.is_below(amount, 64) {
            let x = self.code.push(Op::Widen, &[x]);
            let shifted = self.code.push(Op::Shr(LONG), &[x, amount]);
            return self.code.push(Op::Narrow, &[shifted]);
        }
        let inside = self.compare(Comparison::Lt, WORD, false, amount, Value::Word(32));
        let lower = self.and(amount, 31);
        let shifted = self.word(Op::Shr, x, lower);
        self.select(WORD, inside, shifted, Value::Word(0))
    }

    /// A long word shifted by a word. 64 and more give 0, or copies of the sign.
    fn shift_long(&mut self, op: Op, x: Value, amount: Value) -> Value {
        let amount = match constant(amount) {
            Some(k) if k >= 64 && op != Op::Sar(LONG) => return Value::Long(0),
            Some(k) => Value::Word(k.min(63) as u32),
            None if self.is_bounded(amount, 64) => amount,
            None if op == Op::Sar(LONG) => self.limited(amount, 63),
            None => {
                let inside = self.compare(Comparison::Lt, WORD, false, amount, Value::Word(64));
                let lower = self.and(amount, 63);
                let shifted = self.code.push(op, &[x, lower]);
                return self.select(LONG, inside, shifted, Value::Long(0));
            }
        };
        self.code.push(op, &[x, amount])
    }

    /// Whether an amount is known to be less than a limit: by its bits, or as the lesser of itself and a constant.
    fn is_bounded(&self, amount: Value, limit: u64) -> bool {
        if self.is_below(amount, limit) {
            return true;
        }
        let step = |value: Value| value.as_step().map(|number| &self.code.steps()[number]);
        let Some((Op::Select(WORD), of)) = step(amount) else { return false };
        let Some((Op::Compare(Comparison::Lt, WORD), pair)) = step(of[0]) else { return false };
        of[1..] == pair[..] && constant(pair[1]).is_some_and(|k| k < limit)
    }

    /// The bits that say which bytes of a value are all ones, if every byte is all ones or zero; or the value if they are 0 or 1.
    fn flags(&mut self, source: Value) -> Option<Value> {
        let value = self.value(source);
        if self.code.possible(value) & !0x0101_0101 == 0 {
            return Some(value);
        }
        let (Base::Prmt(selector), of) = self.base(source)? else { return None };
        let (x, is_zero) = (self.value(of[0]), of[1] == Value::Word(0));
        let mut flags = Value::Word(0);
        // Signs by how far they stand above the lowest bit of their byte.
        let mut known: Vec<(i32, u32)> = Vec::new();
        for i in 0..4 {
            let nibble = i32::from(selector >> (4 * i) & 15);
            match nibble {
                8..=11 => {
                    let down = 8 * (nibble & 3) + 7 - 8 * i;
                    match known.iter_mut().find(|(by, _)| *by == down) {
                        Some((_, places)) => *places |= 1 << (8 * i),
                        None => known.push((down, 1 << (8 * i))),
                    }
                }
                4..=7 if is_zero => {}
                _ => return None,
            }
        }
        for (down, places) in known {
            let shifted = if down >= 0 { self.shr(x, down as u32) } else { self.shl(x, down.unsigned_abs()) };
            let ones = self.and(shifted, places);
            flags = self.word(Op::Or, flags, ones);
        }
        Some(flags)
    }

    /// A dot product and its addend. An addend that is one as well, and nothing else's, is summed along.
    fn dot_product(&mut self, number: usize, op: Base, sources: &[Value]) -> Value {
        if let (Base::Dp4a(x, y), true) = (op, sources[0] == sources[1])
            && x == y
            && let Some(flags) = self.flags(sources[0])
        {
            let sum = self.dot(&[Term { word: flags, lanes: Range::new(false, 8), weights: [1; 4] }]);
            let addend = self.value(sources[2]);
            return self.word(Op::Add, sum, addend);
        }
        let Some(term) = self.term(op, sources) else {
            if self.machine.has(Extra::Base(op)) {
                let at: Vec<Value> = sources.iter().map(|&source| self.value(source)).collect();
                return self.code.push(Op::Extra(Extra::Base(op)), &at);
            }
            return self.products(op, sources);
        };
        let (mut terms, mut addend) = (vec![term], sources[2]);
        while let Some((op, sources)) = self.base(addend)
            && matches!(op, Base::Dp4a(..) | Base::Dp2a { .. })
            && self.uses(addend) == 1
        {
            let sources = sources.to_vec();
            let Some(term) = self.term(op, &sources) else { break };
            terms.push(term);
            addend = sources[2];
        }
        let _ = number;
        let mut sum = self.value(addend);
        // Those of which all lanes count once can be summed side by side.
        while let Some(first) = terms.first().copied() {
            let is_like = |term: &Term| {
                let signs = |term: &Term| term.weights.map(|weight| weight.signum());
                let one = |term: &Term| {
                    let signs = signs(term);
                    [1, -1].into_iter().find(|&sign| signs.iter().all(|&s| s == 0 || s == sign))
                };
                term.lanes.bits == first.lanes.bits && one(term).is_some() && one(term) == one(&first)
            };
            let (like, rest): (Vec<Term>, Vec<Term>) = terms.iter().skip(1).partition(|term| is_like(term));
            let mut group = vec![first];
            group.extend(like);
            let part = self.dot(&group);
            sum = self.word(Op::Add, sum, part);
            terms = rest;
        }
        sum
    }

    /// The lanes of a dot product with a constant.
    fn term(&self, op: Base, sources: &[Value]) -> Option<Term> {
        let Value::Word(constant) = sources[1] else { return None };
        let weight = |byte: u32, ty: Type| Range::new(ty.is_signed(), 8).value_of(constant >> (8 * byte)) as i16;
        let (ty, bits, weights) = match op {
            Base::Dp4a(x, y) => (x, 8, core::array::from_fn(|i| weight(i as u32, y))),
            Base::Dp2a { high, x, y } => {
                let first = if high { 2 } else { 0 };
                (x, 16, [weight(first, y), weight(first + 1, y), 0, 0])
            }
            _ => return None,
        };
        Some(Term { word: self.value(sources[0]), lanes: Range::new(ty.is_signed(), bits), weights })
    }

    /// A dot product of two values, product by product.
    fn products(&mut self, op: Base, sources: &[Value]) -> Value {
        let [x, y, mut sum] = [sources[0], sources[1], sources[2]].map(|source| self.value(source));
        let (x_lanes, y_lanes, count, first) = match op {
            Base::Dp4a(x, y) => (Range::new(x.is_signed(), 8), Range::new(y.is_signed(), 8), 4, 0),
            Base::Dp2a { high, x, y } => {
                (Range::new(x.is_signed(), 16), Range::new(y.is_signed(), 8), 2, if high { 2 } else { 0 })
            }
            _ => return sum,
        };
        for i in 0..count {
            let (p, q) = (self.lane(x, x_lanes, i), self.lane(y, y_lanes, first + i));
            let product = self.word(Op::Mul, p, q);
            sum = self.word(Op::Add, sum, product);
        }
        sum
    }
}
