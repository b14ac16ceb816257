//! Lanes of a word, computed side by side with plain operations.
//!
//! What stands in the highest bit of each lane is kept apart, so that nothing is carried from lane to lane: of sums the lower bits are
//! added without it, of differences the lower bits are subtracted from what has it set.

use vop::isa::range::Range;
use vop::isa::types::Comparison;
use vop::lower::{PackedOp, Value};

use crate::boolean::lop3;
use crate::code::{Code, Op, Width};

const WORD: Width = Width::Word;

/// Writes operations on words, and on words of lanes.
pub(crate) trait Lanes {
    /// The code that is written.
    fn code(&mut self) -> &mut Code;

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
        let shifted = self.shr(x, bits - 1);
        let ones = self.and(shifted, splat(1, bits));
        self.word(Op::Mul, ones, Value::Word(greatest(bits)))
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
        let highest = splat(1 << (bits - 1), bits);
        let difference = self.guarded_difference(x, y, bits);
        let top = lop3(self.code(), function(|x, y, k| !(x ^ y) & k), [x, y, Value::Word(highest)]);
        self.word(Op::Xor, difference, top)
    }

    /// All ones in the lanes in which x is at least y, and what differs.
    fn at_least(&mut self, x: Value, y: Value, lanes: Range) -> [Value; 2] {
        let differing = self.word(Op::Xor, x, y);
        let difference = self.guarded_difference(x, y, lanes.bits);
        // Where the highest bits differ, they decide.
        let decides = if lanes.signed { y } else { x };
        let table = function(|d, by, f| d ^ ((d ^ by) & f));
        let holds = lop3(self.code(), table, [difference, decides, differing]);
        [self.spread(holds, lanes.bits), differing]
    }

    /// The lesser or the greater of lanes.
    fn bound_lanes(&mut self, greater: bool, x: Value, y: Value, lanes: Range) -> Value {
        if x == y {
            return x;
        }
        // Nothing is less than 0 without sign, and a negative number with sign.
        if lanes.signed && y == Value::Word(0) {
            let negative = self.spread(x, lanes.bits);
            let table = if greater { function(|x, m, _| x & !m) } else { function(|x, m, _| x & m) };
            return lop3(self.code(), table, [x, negative, Value::Word(0)]);
        }
        let [mask, differing] = self.at_least(x, y, lanes);
        let turned = self.word(Op::And, differing, mask);
        self.word(Op::Xor, turned, if greater { y } else { x })
    }

    /// The differences of the greater and the lesser.
    fn absdiff_lanes(&mut self, x: Value, y: Value, lanes: Range) -> Value {
        let highest = Value::Word(splat(1 << (lanes.bits - 1), lanes.bits));
        let [x, y] = if lanes.signed { [x, y].map(|x| self.word(Op::Xor, x, highest)) } else { [x, y] };
        let [mask, differing] = self.at_least(x, y, Range::new(false, lanes.bits));
        let turned = self.word(Op::And, differing, mask);
        let (greater, lesser) = (self.word(Op::Xor, turned, y), self.word(Op::Xor, turned, x));
        self.word(Op::Sub, greater, lesser)
    }

    /// Clamped sums or differences.
    fn saturated_lanes(&mut self, sub: bool, x: Value, y: Value, lanes: Range) -> Value {
        let (bits, highest) = (lanes.bits, splat(1 << (lanes.bits - 1), lanes.bits));
        if !lanes.signed && sub {
            let [mask, _] = self.at_least(x, y, lanes);
            let (x, y) = (self.word(Op::And, x, mask), self.word(Op::And, y, mask));
            return self.word(Op::Sub, x, y);
        }
        let result = if sub { self.sub_lanes(x, y, bits) } else { self.add_lanes(x, y, bits) };
        if !lanes.signed {
            // Carried out: both had the bit, or one had it and the sum has not.
            let carried = lop3(self.code(), function(|x, y, r| x & y | (x | y) & !r), [x, y, result]);
            let mask = self.spread(carried, bits);
            return self.word(Op::Or, result, mask);
        }
        let table = match sub {
            true => function(|r, x, y| (x ^ y) & (r ^ x)),
            false => function(|r, x, y| (r ^ x) & (r ^ y)),
        };
        let over = lop3(self.code(), table, [result, x, y]);
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
                self.bound_lanes(true, most, Value::Word(0), lanes)
            }
        }
    }

    /// Bytes of two words: see [`vop::lower::Op::Prmt`].
    fn prmt(&mut self, selector: u16, x: Value, y: Value) -> Value {
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
        let one_by_one = {
            let mut code = self.code().clone();
            let before = code.steps().len();
            Written(&mut code).dot_by_lanes(terms);
            code.steps().len() - before
        };
        let mut code = self.code().clone();
        let before = code.steps().len();
        if let Some(sum) = Written(&mut code).dot_of_bytes(terms)
            && code.steps().len() - before <= one_by_one
        {
            *self.code() = code;
            return sum;
        }
        self.dot_by_lanes(terms)
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
pub(crate) struct Written<'a>(pub(crate) &'a mut Code);

impl Lanes for Written<'_> {
    fn code(&mut self) -> &mut Code {
        self.0
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
