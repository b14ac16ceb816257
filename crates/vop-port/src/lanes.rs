//! Lanes of a word, computed side by side with plain operations.
//!
//! What stands in the highest bit of each lane is kept apart, so that nothing is carried from lane to lane: of sums the lower bits are
//! added without it, of differences the lower bits are subtracted from what has it set.

use vop::isa::range::Range;
use vop::isa::types::{Comparison, Type};
use vop::lower::{Op as Base, PackedOp, Value};

use crate::boolean;
use crate::code::{Code, Extra, Op, Shift, Width, byte, constant};
use crate::extra::constant_byte;
use crate::machine::Machine;

const WORD: Width = Width::Word;

/// A way to compute a value, or nothing.
pub(crate) type Way<'a> = &'a dyn Fn(&mut Written<'_>) -> Option<Value>;

/// Writes operations on words, and on words of lanes.
pub(crate) trait Lanes {
    /// The code that is written.
    fn code(&mut self) -> &mut Code;

    /// The machine that it is written for.
    fn machine(&self) -> &'static Machine;

    /// An operation that the machine has beside the plain ones, or nothing.
    fn extra(&mut self, extra: Extra, at: &[Value]) -> Option<Value> {
        self.machine().has(extra).then(|| self.code().push(Op::Extra(extra), at))
    }

    /// A packed operation of the machine.
    fn extra_packed(&mut self, op: PackedOp, lanes: Range, x: Value, y: Value) -> Option<Value> {
        self.extra(Extra::Base(Base::Packed(op, lanes)), &[x, y])
    }

    /// What the cheapest of several ways gives; the first of equal ones. A way that gives nothing is left out.
    fn cheapest(&mut self, ways: &[Way<'_>]) -> Option<Value> {
        let machine = self.machine();
        let written = ways.iter().filter_map(|way| {
            let mut code = self.code().clone();
            let value = way(&mut Written { code: &mut code, machine })?;
            Some((code.cost_or_lacking(machine), code, value))
        });
        let (_, code, value) = written.min_by_key(|(cost, ..)| *cost)?;
        *self.code() = code;
        Some(value)
    }

    /// A function of three bits.
    fn lop3(&mut self, table: u8, operands: [Value; 3]) -> Value {
        let machine = self.machine();
        boolean::lop3(self.code(), machine, table, operands)
    }

    /// An operation on words.
    fn word(&mut self, op: fn(Width) -> Op, x: Value, y: Value) -> Value {
        self.code().push(op(WORD), &[x, y])
    }

    /// x and a constant.
    fn and(&mut self, x: Value, k: u32) -> Value {
        self.word(Op::And, x, Value::Word(k))
    }

    /// Shifted left by a constant below 32.
    fn shl(&mut self, x: Value, n: u32) -> Value {
        self.word(Op::Shl, x, Value::Word(n))
    }

    /// Shifted right by a constant below 32.
    fn shr(&mut self, x: Value, n: u32) -> Value {
        self.word(Op::Shr, x, Value::Word(n))
    }

    /// Shifted right by a constant below 32, the sign from above.
    fn sar(&mut self, x: Value, n: u32) -> Value {
        self.word(Op::Sar, x, Value::Word(n))
    }

    /// One value or the other.
    fn select(&mut self, width: Width, truth: Value, x: Value, y: Value) -> Value {
        self.code().push(Op::Select(width), &[truth, x, y])
    }

    /// Whether two values compare so.
    fn compare(&mut self, comparison: Comparison, width: Width, signed: bool, x: Value, y: Value) -> Value {
        let op = if signed { Op::CompareSigned(comparison, width) } else { Op::Compare(comparison, width) };
        self.code().push(op, &[x, y])
    }

    /// The lesser or the greater.
    fn bound(&mut self, greater: bool, width: Width, signed: bool, x: Value, y: Value) -> Value {
        // Numbers that are not negative compare alike.
        let signed = signed && (self.code().possible(x) | self.code().possible(y)) & width.sign() != 0;
        let ty = if signed { Type::S32 } else { Type::U32 };
        let extra = Extra::Base(if greater { Base::Max(ty) } else { Base::Min(ty) });
        if width == WORD && self.machine().has(extra) {
            // Nothing is less than 0 without sign, and bits above the least of two numbers are zero.
            let most = self.code().possible(x);
            match constant(y) {
                Some(0) if !signed => return if greater { x } else { Value::Word(0) },
                Some(k) if !signed && most <= k => return if greater { y } else { x },
                _ => return self.code().push(Op::Extra(extra), &[x, y]),
            }
        }
        let comparison = if greater { Comparison::Gt } else { Comparison::Lt };
        let holds = self.compare(comparison, width, signed, x, y);
        self.select(width, holds, x, y)
    }

    /// A number in two's complement, but no less and no more than two others.
    fn clamp_signed(&mut self, width: Width, x: Value, [least, most]: [Value; 2]) -> Value {
        let x = self.bound(true, width, true, x, least);
        self.bound(false, width, true, x, most)
    }

    /// Every lane's highest bit in all its bits.
    fn spread(&mut self, x: Value, bits: u32) -> Value {
        const SIGNS: [u8; 2] = [1 + byte::SIGN, 3 + byte::SIGN];
        let by_product = |w: &mut Written<'_>| {
            let shifted = w.shr(x, bits - 1);
            let ones = w.and(shifted, splat(1, bits));
            Some(w.word(Op::Mul, ones, Value::Word(greatest(bits))))
        };
        let by_comparison = |w: &mut Written<'_>| {
            let [less, greater] = [Comparison::Lt, Comparison::Gt].map(|of| Extra::Compare(of, Range::new(true, bits)));
            let zero = Value::Word(0);
            w.extra(less, &[x, zero]).or_else(|| w.extra(greater, &[zero, x]))
        };
        let by_bytes = |w: &mut Written<'_>| {
            let (places, of) = match bits {
                16 => ([SIGNS[0], SIGNS[0], SIGNS[1], SIGNS[1]], vec![x]),
                _ => {
                    let up = w.shl(x, 8);
                    ([SIGNS[0], SIGNS[0] + 4, SIGNS[1], SIGNS[1] + 4], vec![up, x])
                }
            };
            w.machine().has(Extra::Bytes(places)).then(|| w.code().push_bytes(places, &of))
        };
        let by_shift = |w: &mut Written<'_>| {
            if bits == 16 { w.extra(Extra::Shift(Shift::RightSigned), &[x, Value::Word(15)]) } else { None }
        };
        self.cheapest(&[&by_product, &by_comparison, &by_shift, &by_bytes]).unwrap_or(Value::Word(0))
    }

    /// An operation on bytes by the same on half-words: those in odd places where they are, with zeros below in y, and those in even places
    /// moved up.
    fn by_halves(&mut self, op: PackedOp, lanes: Range, x: Value, y: Value) -> Option<Value> {
        let halves = Range::new(lanes.signed, 16);
        if lanes.bits != 8 || !self.machine().has(Extra::Base(Base::Packed(op, halves))) {
            return None;
        }
        // Of sums and differences the lower byte needs no room below.
        let wraps = matches!(op, PackedOp::Add | PackedOp::Sub);
        let is_bound = matches!(op, PackedOp::Min | PackedOp::Max);
        let even = if wraps {
            self.extra_packed(op, halves, x, y)?
        } else {
            let x = self.shl(x, 8);
            // What decides between two values is in the upper byte; what is below is of no account.
            let y = match is_bound {
                true => self.shl(y, 8),
                false => self.shifted_halves(Shift::Left, y, 8)?,
            };
            self.extra_packed(op, halves, x, y)?
        };
        let cut = if is_bound { y } else { self.and(y, 0xff00_ff00) };
        let odd = self.extra_packed(op, halves, x, cut)?;
        if wraps {
            return Some(
                self.lop3(function(|k, even, odd| k & even | !k & odd), [Value::Word(0x00ff_00ff), even, odd]),
            );
        }
        let places = [1, 5, 3, 7];
        if self.machine().has(Extra::Bytes(places)) {
            return Some(self.code().push_bytes(places, &[even, odd]));
        }
        let even = self.shr(even, 8);
        Some(self.lop3(function(|k, even, odd| k & even | !k & odd), [Value::Word(0x00ff_00ff), even, odd]))
    }

    /// Half-words shifted by a constant.
    fn shifted_halves(&mut self, shift: Shift, x: Value, by: u32) -> Option<Value> {
        self.extra(Extra::Shift(shift), &[x, Value::Word(by)])
    }

    /// Whether no lane of a sum is carried into the next.
    fn is_sum_separate(&mut self, x: Value, y: Value, bits: u32) -> bool {
        let (x, y) = (self.code().possible(x), self.code().possible(y));
        let lane = |word: u64, i: u32| word >> (i * bits) & u64::from(greatest(bits));
        (0..32 / bits - 1).all(|i| lane(x, i) + lane(y, i) <= u64::from(greatest(bits)))
    }

    /// Sums modulo the lane's size.
    fn add_lanes(&mut self, x: Value, y: Value, bits: u32) -> Value {
        if self.is_sum_separate(x, y, bits) {
            return self.word(Op::Add, x, y);
        }
        let lanes = Range::new(false, bits);
        let ways: [Way<'_>; 3] =
            [&|w| w.extra_packed(PackedOp::Add, lanes, x, y), &|w| w.by_halves(PackedOp::Add, lanes, x, y), &|w| {
                Some(w.plain_add_lanes(x, y, bits))
            }];
        self.cheapest(&ways).unwrap_or(Value::Word(0))
    }

    /// Sums modulo the lane's size, in plain operations.
    fn plain_add_lanes(&mut self, x: Value, y: Value, bits: u32) -> Value {
        let (lower, highest) = (splat(!(1 << (bits - 1)), bits), splat(1 << (bits - 1), bits));
        let (p, q) = (self.and(x, lower), self.and(y, lower));
        let sum = self.word(Op::Add, p, q);
        let differing = self.word(Op::Xor, x, y);
        let top = self.and(differing, highest);
        self.word(Op::Xor, sum, top)
    }

    /// The differences of the lower bits, with a one above that is zero where one more was borrowed.
    fn guarded_difference(&mut self, x: Value, y: Value, bits: u32) -> Value {
        let (lower, highest) = (splat(!(1 << (bits - 1)), bits), splat(1 << (bits - 1), bits));
        let guarded = self.word(Op::Or, x, Value::Word(highest));
        let small = self.and(y, lower);
        self.word(Op::Sub, guarded, small)
    }

    /// Differences modulo the lane's size.
    fn sub_lanes(&mut self, x: Value, y: Value, bits: u32) -> Value {
        let lanes = Range::new(false, bits);
        let ways: [Way<'_>; 3] =
            [&|w| w.extra_packed(PackedOp::Sub, lanes, x, y), &|w| w.by_halves(PackedOp::Sub, lanes, x, y), &|w| {
                Some(w.plain_sub_lanes(x, y, bits))
            }];
        self.cheapest(&ways).unwrap_or(Value::Word(0))
    }

    /// Differences modulo the lane's size, in plain operations.
    fn plain_sub_lanes(&mut self, x: Value, y: Value, bits: u32) -> Value {
        let highest = splat(1 << (bits - 1), bits);
        let difference = self.guarded_difference(x, y, bits);
        let top = self.lop3(function(|x, y, k| !(x ^ y) & k), [x, y, Value::Word(highest)]);
        self.word(Op::Xor, difference, top)
    }

    /// All ones in the lanes in which x is at least y, and what differs.
    fn at_least(&mut self, x: Value, y: Value, lanes: Range) -> [Value; 2] {
        let differing = self.word(Op::Xor, x, y);
        let difference = self.guarded_difference(x, y, lanes.bits);
        // Where the highest bits differ, they decide.
        let decides = if lanes.signed { y } else { x };
        let table = function(|d, by, f| d ^ ((d ^ by) & f));
        let holds = self.lop3(table, [difference, decides, differing]);
        [self.spread(holds, lanes.bits), differing]
    }

    /// The lesser or the greater of lanes.
    fn bound_lanes(&mut self, greater: bool, x: Value, y: Value, lanes: Range) -> Value {
        if x == y {
            return x;
        }
        let op = if greater { PackedOp::Max } else { PackedOp::Min };
        let ways: [Way<'_>; 3] = [&|w| w.extra_packed(op, lanes, x, y), &|w| w.by_halves(op, lanes, x, y), &|w| {
            Some(w.plain_bound_lanes(greater, x, y, lanes))
        }];
        self.cheapest(&ways).unwrap_or(Value::Word(0))
    }

    /// The lesser or the greater of lanes, in plain operations.
    fn plain_bound_lanes(&mut self, greater: bool, x: Value, y: Value, lanes: Range) -> Value {
        // Nothing is less than 0 without sign, and a negative number with sign.
        if lanes.signed && y == Value::Word(0) {
            let negative = self.spread(x, lanes.bits);
            let table = if greater { function(|x, m, _| x & !m) } else { function(|x, m, _| x & m) };
            return self.lop3(table, [x, negative, Value::Word(0)]);
        }
        let [mask, differing] = self.at_least(x, y, lanes);
        let turned = self.word(Op::And, differing, mask);
        self.word(Op::Xor, turned, if greater { y } else { x })
    }

    /// The differences of the greater and the lesser.
    fn absdiff_lanes(&mut self, x: Value, y: Value, lanes: Range) -> Value {
        let has_bounds = [8, 16].map(|bits| Extra::Base(Base::Packed(PackedOp::Max, Range::new(lanes.signed, bits))));
        let has_bounds = has_bounds.into_iter().any(|extra| self.machine().has(extra));
        let ways: [Way<'_>; 4] = [
            &|w| w.extra(Extra::Absdiff(lanes), &[x, y]),
            &|w| {
                if !has_bounds {
                    return None;
                }
                let [most, least] = [true, false].map(|greater| w.bound_lanes(greater, x, y, lanes));
                Some(match lanes.signed {
                    // No lane of the lesser is greater.
                    false => w.word(Op::Sub, most, least),
                    true => w.sub_lanes(most, least, lanes.bits),
                })
            },
            &|w| {
                if !has_bounds || !lanes.signed {
                    return None;
                }
                let highest = Value::Word(splat(1 << (lanes.bits - 1), lanes.bits));
                let [x, y] = [x, y].map(|x| w.word(Op::Xor, x, highest));
                Some(w.absdiff_lanes(x, y, Range::new(false, lanes.bits)))
            },
            &|w| Some(w.plain_absdiff_lanes(x, y, lanes)),
        ];
        self.cheapest(&ways).unwrap_or(Value::Word(0))
    }

    /// The differences of the greater and the lesser, in plain operations.
    fn plain_absdiff_lanes(&mut self, x: Value, y: Value, lanes: Range) -> Value {
        let highest = Value::Word(splat(1 << (lanes.bits - 1), lanes.bits));
        let [x, y] = if lanes.signed { [x, y].map(|x| self.word(Op::Xor, x, highest)) } else { [x, y] };
        let [mask, differing] = self.at_least(x, y, Range::new(false, lanes.bits));
        let turned = self.word(Op::And, differing, mask);
        let (greater, lesser) = (self.word(Op::Xor, turned, y), self.word(Op::Xor, turned, x));
        self.word(Op::Sub, greater, lesser)
    }

    /// Clamped sums or differences.
    fn saturated_lanes(&mut self, sub: bool, x: Value, y: Value, lanes: Range) -> Value {
        let op = if sub { PackedOp::SubSat } else { PackedOp::AddSat };
        let ways: [Way<'_>; 3] = [&|w| w.extra_packed(op, lanes, x, y), &|w| w.by_halves(op, lanes, x, y), &|w| {
            Some(w.plain_saturated_lanes(sub, x, y, lanes))
        }];
        self.cheapest(&ways).unwrap_or(Value::Word(0))
    }

    /// Clamped sums or differences, in plain operations.
    fn plain_saturated_lanes(&mut self, sub: bool, x: Value, y: Value, lanes: Range) -> Value {
        let (bits, highest) = (lanes.bits, splat(1 << (lanes.bits - 1), lanes.bits));
        if !lanes.signed && sub {
            let [mask, _] = self.at_least(x, y, lanes);
            let (x, y) = (self.word(Op::And, x, mask), self.word(Op::And, y, mask));
            return self.word(Op::Sub, x, y);
        }
        let result = if sub { self.sub_lanes(x, y, bits) } else { self.add_lanes(x, y, bits) };
        if !lanes.signed {
            // Carried out: both had the bit, or one had it and the sum has not.
            let carried = self.lop3(function(|x, y, r| x & y | (x | y) & !r), [x, y, result]);
            let mask = self.spread(carried, bits);
            return self.word(Op::Or, result, mask);
        }
        let table = match sub {
            true => function(|r, x, y| (x ^ y) & (r ^ x)),
            false => function(|r, x, y| (r ^ x) & (r ^ y)),
        };
        let over = self.lop3(table, [result, x, y]);
        let over = self.and(over, highest);
        // All ones, and from there to the greatest, or if x is negative to the least.
        let ones = self.spread(over, bits);
        let negative = self.word(Op::And, over, x);
        let one = self.shr(negative, bits - 1);
        let turn = self.word(Op::Sub, over, one);
        let all = self.word(Op::Or, result, ones);
        self.word(Op::Xor, all, turn)
    }

    /// A packed instruction.
    fn packed(&mut self, op: PackedOp, lanes: Range, x: Value, y: Value) -> Value {
        match op {
            PackedOp::Add => self.add_lanes(x, y, lanes.bits),
            PackedOp::Sub => self.sub_lanes(x, y, lanes.bits),
            PackedOp::AddSat => self.saturated_lanes(false, x, y, lanes),
            PackedOp::SubSat => self.saturated_lanes(true, x, y, lanes),
            PackedOp::Min => self.bound_lanes(false, x, y, lanes),
            PackedOp::Max => self.bound_lanes(true, x, y, lanes),
            PackedOp::MinRelu => {
                let least = self.bound_lanes(false, x, y, lanes);
                self.bound_lanes(true, least, Value::Word(0), lanes)
            }
            PackedOp::MaxRelu => {
                let most = self.bound_lanes(true, x, y, lanes);
                // The greater of a value and 0 is not negative.
                if x == Value::Word(0) || y == Value::Word(0) {
                    return most;
                }
                self.bound_lanes(true, most, Value::Word(0), lanes)
            }
        }
    }

    /// Bytes of two words: see [`vop::lower::Op::Prmt`].
    fn prmt(&mut self, selector: u16, x: Value, y: Value) -> Value {
        let places: [u8; 4] = core::array::from_fn(|i| {
            let place = (selector >> (4 * i) & 15) as u8;
            let constant = constant_byte(if place & 4 == 0 { x } else { y }, place & 3);
            constant.unwrap_or(place)
        });
        let ways: [Way<'_>; 4] = [
            &|w| Some(w.plain_prmt(selector, x, y)),
            &|w| w.machine().has(Extra::Bytes(places)).then(|| w.code().push_bytes(places, &[x, y])),
            &|w| w.extended_halves(places, x, y),
            &|w| w.bytes_by_source(places, x, y),
        ];
        self.cheapest(&ways).unwrap_or(Value::Word(0))
    }

    /// Two bytes as half-words, each extended by its sign: moved up, and shifted down.
    fn extended_halves(&mut self, places: [u8; 4], x: Value, y: Value) -> Option<Value> {
        let [p, p_sign, q, q_sign] = places;
        if p >= byte::SIGN || q >= byte::SIGN || p_sign != p + byte::SIGN || q_sign != q + byte::SIGN {
            return None;
        }
        let up = match (p & 3, q & 3) {
            (0, 2) if p >> 2 == q >> 2 => {
                let of = if p < 4 { x } else { y };
                self.shifted_halves(Shift::Left, of, 8)?
            }
            (1, 3) if p >> 2 == q >> 2 => {
                if p < 4 {
                    x
                } else {
                    y
                }
            }
            _ => {
                let places = [byte::ZERO, p, byte::ZERO, q];
                self.machine().has(Extra::Bytes(places)).then(|| self.code().push_bytes(places, &[x, y]))?
            }
        };
        self.shifted_halves(Shift::RightSigned, up, 8)
    }

    /// Bytes of two words and of their signs: those of each by themselves.
    fn bytes_by_source(&mut self, places: [u8; 4], x: Value, y: Value) -> Option<Value> {
        let mut parts = Vec::new();
        for (of, signs, first) in [(x, false, 0), (y, false, 4), (x, true, byte::SIGN), (y, true, 4 + byte::SIGN)] {
            let is_of = |place: u8| (first..first + 4).contains(&place);
            if !places.into_iter().any(is_of) {
                continue;
            }
            let own = places.map(|place| if is_of(place) { place - first } else { byte::ZERO });
            if !self.machine().has(Extra::Bytes(own)) {
                return None;
            }
            let of = if signs { self.spread(of, 8) } else { of };
            parts.push(self.code().push_bytes(own, &[of]));
        }
        let ones = places.map(|place| if place == byte::ONES { 0xff } else { 0 });
        let ones = Value::Word(u32::from_le_bytes(ones));
        Some(parts.into_iter().fold(ones, |all, part| self.word(Op::Or, all, part)))
    }

    /// Bytes of two words, in plain operations.
    fn plain_prmt(&mut self, selector: u16, x: Value, y: Value) -> Value {
        let wanted: [(Value, u32, bool); 4] = core::array::from_fn(|i| {
            let nibble = u32::from(selector >> (4 * i) & 15);
            (if nibble & 4 == 0 { x } else { y }, nibble & 3, nibble & 8 != 0)
        });
        // One field extended by its sign.
        let (first, low, _) = wanted[0];
        for count in 1..4usize {
            let top = low + count as u32 - 1;
            let is_field = top < 4
                && wanted.iter().enumerate().all(|(i, &(of, byte, sign))| {
                    of == first && sign == (i >= count) && byte == if i < count { low + i as u32 } else { top }
                });
            if is_field {
                let count = count as u32;
                let up = self.shl(first, 8 * (4 - low - count));
                return self.sar(up, 8 * (4 - count));
            }
        }
        let mut parts: Vec<Value> = Vec::new();
        // Bytes that keep their distance.
        let mut moved: Vec<(Value, i32, u32)> = Vec::new();
        // Signs in neighbouring bytes: the word, how far its sign stands above the place, the width, and where the lowest bits are.
        let mut signs: Vec<(Value, i32, u32, u32)> = Vec::new();
        let mut i = 0;
        while i < 4 {
            let (of, byte, sign) = wanted[i];
            if !sign {
                let distance = i as i32 - byte as i32;
                let place = 0xff << (8 * i);
                match moved.iter_mut().find(|known| known.0 == of && known.1 == distance) {
                    Some(known) => known.2 |= place,
                    None => moved.push((of, distance, place)),
                }
                i += 1;
                continue;
            }
            let run = wanted[i..].iter().take_while(|&&other| other == (of, byte, true)).count();
            let (down, width) = (8 * byte as i32 + 7 - 8 * i as i32, 8 * run as u32);
            match signs.iter_mut().find(|known| known.0 == of && known.1 == down && known.2 == width) {
                Some(known) => known.3 |= 1 << (8 * i),
                None => signs.push((of, down, width, 1 << (8 * i))),
            }
            i += run;
        }
        // Bytes that are there more than once are multiplied.
        let mut from = 0;
        while from < moved.len() {
            let (of, distance, places) = moved[from];
            let mut factor = 1u32;
            let mut kept = Vec::new();
            for &(other, further, at) in &moved[from + 1..] {
                let by = 8 * (further - distance);
                let shifted = if (1..32).contains(&by) { places << by } else { 0 };
                let is_whole = (1..32).contains(&by) && shifted >> by == places;
                if other == of && is_whole && shifted == at {
                    factor |= 1 << by;
                } else {
                    kept.push((other, further, at));
                }
            }
            moved.truncate(from + 1);
            moved.extend(kept);
            let shifted = self.shifted(of, 8 * distance);
            let part = self.and(shifted, places);
            parts.push(self.word(Op::Mul, part, Value::Word(factor)));
            from += 1;
        }
        for (of, down, width, places) in signs {
            let shifted = self.shifted(of, -down);
            let ones = self.and(shifted, places);
            parts.push(self.word(Op::Mul, ones, Value::Word(greatest(width))));
        }
        parts.into_iter().reduce(|all, part| self.word(Op::Or, all, part)).unwrap_or(Value::Word(0))
    }

    /// Shifted left, or right if negative.
    fn shifted(&mut self, x: Value, by: i32) -> Value {
        if by >= 0 { self.shl(x, by as u32) } else { self.shr(x, by.unsigned_abs()) }
    }

    /// A lane as a word.
    fn lane(&mut self, x: Value, lanes: Range, i: u32) -> Value {
        let above = 32 - lanes.bits * (i + 1);
        if lanes.signed {
            let up = self.shl(x, above);
            return self.sar(up, 32 - lanes.bits);
        }
        let down = self.shr(x, lanes.bits * i);
        self.and(down, greatest(lanes.bits))
    }

    /// The sum of lanes of several words, each lane as often as its weight says.
    fn dot(&mut self, terms: &[Term]) -> Value {
        let ways: [Way<'_>; 3] =
            [&|w| w.dot_of_bytes(terms), &|w| w.dot_by_sums(terms), &|w| Some(w.dot_by_lanes(terms))];
        self.cheapest(&ways).unwrap_or(Value::Word(0))
    }

    /// Words whose lanes all count once, or all minus once: each summed by an operation of the machine.
    fn dot_by_sums(&mut self, terms: &[Term]) -> Option<Value> {
        let mut sum = Value::Word(0);
        for &Term { word, lanes, weights } in terms {
            let Some(sign) = weights.into_iter().find(|&weight| weight != 0) else { continue };
            if sign.abs() != 1 || weights.iter().any(|&weight| weight != 0 && weight != sign) {
                return None;
            }
            let count = (32 / lanes.bits) as usize;
            let places = (0..count)
                .filter(|i| weights[*i] != 0)
                .fold(0, |all, i| all | greatest(lanes.bits) << (lanes.bits * i as u32));
            let word = self.and(word, places);
            let part = match self.extra(Extra::Sum(lanes), &[word]) {
                Some(part) => part,
                None => {
                    // Signed lanes as unsigned ones that are greater by half of the range.
                    let highest = if lanes.signed { splat(1 << (lanes.bits - 1), lanes.bits) & places } else { 0 };
                    let raised = self.word(Op::Xor, word, Value::Word(highest));
                    let more = highest.count_ones() << (lanes.bits - 1);
                    let less = Value::Word(more.wrapping_neg());
                    if self.machine().has(Extra::Sad(lanes.bits)) {
                        let zero = Value::Word(0);
                        self.extra(Extra::Sad(lanes.bits), &[raised, zero, less])?
                    } else {
                        let part = self.extra(Extra::Sum(Range::new(false, lanes.bits)), &[raised])?;
                        self.word(Op::Add, part, less)
                    }
                }
            };
            sum = self.word(if sign < 0 { Op::Sub } else { Op::Add }, sum, part);
        }
        Some(sum)
    }

    /// Lane by lane.
    fn dot_by_lanes(&mut self, terms: &[Term]) -> Value {
        let mut sum = Value::Word(0);
        for &Term { word, lanes, weights } in terms {
            for (i, weight) in (0..).zip(weights).filter(|(_, weight)| *weight != 0) {
                let lane = self.lane(word, lanes, i);
                let times = self.word(Op::Mul, lane, Value::Word(i32::from(weight).unsigned_abs()));
                let op = if weight < 0 { Op::Sub } else { Op::Add };
                sum = self.word(op, sum, times);
            }
        }
        sum
    }

    /// Bytes that all count once, or all minus once: side by side, and then by one product.
    fn dot_of_bytes(&mut self, terms: &[Term]) -> Option<Value> {
        let sign = terms.iter().flat_map(|term| term.weights).find(|&weight| weight != 0)?;
        if sign.abs() != 1
            || terms.iter().any(|term| term.lanes.bits != 8 || term.weights.iter().any(|w| *w != 0 && *w != sign))
        {
            return None;
        }
        let mut offset = 0u32;
        let mut most = 0;
        let mut words = Vec::new();
        for term in terms {
            let places = (0..4).filter(|i| term.weights[*i] != 0).fold(0, |all, i| all | 0xff << (8 * i));
            let mut word = self.and(term.word, places);
            if term.lanes.signed {
                word = self.word(Op::Xor, word, Value::Word(0x8080_8080 & places));
                offset = offset.wrapping_sub(128 * (places.count_ones() / 8));
            }
            let possible = self.code().possible(word);
            most += (0..4).map(|i| possible >> (8 * i) & 0xff).sum::<u64>();
            words.push(word);
        }
        let total = if most <= 0xff {
            let sum = words.into_iter().reduce(|sum, word| self.word(Op::Add, sum, word))?;
            let product = self.word(Op::Mul, sum, Value::Word(0x0101_0101));
            self.shr(product, 24)
        } else {
            let mut halves: Option<Value> = None;
            for word in words {
                let even = self.and(word, 0x00ff_00ff);
                let down = self.shr(word, 8);
                let odd = self.and(down, 0x00ff_00ff);
                let both = self.word(Op::Add, even, odd);
                halves = Some(halves.map_or(both, |halves| self.word(Op::Add, halves, both)));
            }
            let product = self.word(Op::Mul, halves?, Value::Word(0x0001_0001));
            self.shr(product, 16)
        };
        let total = self.word(Op::Add, total, Value::Word(offset));
        Some(if sign < 0 { self.word(Op::Sub, Value::Word(0), total) } else { total })
    }
}

/// Lanes of a word that are summed.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Term {
    pub(crate) word: Value,
    pub(crate) lanes: Range,
    /// How often each lane counts.
    pub(crate) weights: [i16; 4],
}

/// Code alone.
pub(crate) struct Written<'a> {
    pub(crate) code: &'a mut Code,
    pub(crate) machine: &'static Machine,
}

impl Lanes for Written<'_> {
    fn code(&mut self) -> &mut Code {
        self.code
    }

    fn machine(&self) -> &'static Machine {
        self.machine
    }
}

/// The truth table of a function.
pub(crate) fn function(function: impl Fn(u8, u8, u8) -> u8) -> u8 {
    function(0xf0, 0xcc, 0xaa)
}

/// The greatest number of a lane.
pub(crate) const fn greatest(bits: u32) -> u32 {
    u32::MAX >> (32 - bits)
}

/// The same in every lane.
pub(crate) fn splat(lane: u32, bits: u32) -> u32 {
    (0..32 / bits).fold(0, |word, i| word | (lane & greatest(bits)) << (i * bits))
}
