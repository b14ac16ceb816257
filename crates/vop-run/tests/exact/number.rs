//! Exact numbers: integers of any size times powers of two. Slow, and as simple as can be.

use std::cmp::Ordering;

/// An integer of any size: words, the least first, without zeros at the end.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Natural(Vec<u32>);

impl Natural {
    pub(crate) fn new(value: u128) -> Natural {
        Natural((0..4).map(|i| (value >> (32 * i)) as u32).collect()).trimmed()
    }

    fn trimmed(mut self) -> Natural {
        while self.0.last() == Some(&0) {
            self.0.pop();
        }
        self
    }

    pub(crate) fn is_zero(&self) -> bool {
        self.0.is_empty()
    }

    /// The number of bits, without zeros in front.
    pub(crate) fn bits(&self) -> i64 {
        self.0.last().map_or(0, |top| self.0.len() as i64 * 32 - i64::from(top.leading_zeros()))
    }

    fn bit(&self, place: i64) -> bool {
        self.0.get((place / 32) as usize).is_some_and(|word| word >> (place % 32) & 1 == 1)
    }

    pub(crate) fn shifted_left(&self, by: i64) -> Natural {
        let mut words = vec![0; (by / 32) as usize];
        let mut carry = 0u64;
        for word in self.0.iter().chain(&[0]) {
            let wide = (u64::from(*word) << (by % 32)) | carry;
            words.push(wide as u32);
            carry = wide >> 32;
        }
        Natural(words).trimmed()
    }

    /// The quotient by a power of two, and how the rest compares with half of it; `None` where there is no rest.
    fn shifted_right(&self, by: i64) -> (Natural, Option<Ordering>) {
        if by <= 0 {
            return (self.shifted_left(-by), None);
        }
        let quotient: Vec<bool> = (by..self.bits().max(by)).map(|place| self.bit(place)).collect();
        let mut words = vec![0u32; quotient.len().div_ceil(32)];
        for (i, bit) in quotient.iter().enumerate() {
            words[i / 32] |= u32::from(*bit) << (i % 32);
        }
        let half = self.bit(by - 1);
        let below = (0..(by - 1).min(self.bits())).any(|place| self.bit(place));
        let rest = match (half, below) {
            (false, false) => None,
            (false, true) => Some(Ordering::Less),
            (true, false) => Some(Ordering::Equal),
            (true, true) => Some(Ordering::Greater),
        };
        (Natural(words).trimmed(), rest)
    }

    fn plus(&self, other: &Natural) -> Natural {
        let mut words = Vec::new();
        let mut carry = 0u64;
        for i in 0..self.0.len().max(other.0.len()) + 1 {
            let word = |natural: &Natural| u64::from(natural.0.get(i).copied().unwrap_or(0));
            carry += word(self) + word(other);
            words.push(carry as u32);
            carry >>= 32;
        }
        Natural(words).trimmed()
    }

    /// Of a number that is not smaller.
    fn minus(&self, other: &Natural) -> Natural {
        let mut words = Vec::new();
        let mut borrow = 0i64;
        for i in 0..self.0.len() {
            let word = |natural: &Natural| i64::from(natural.0.get(i).copied().unwrap_or(0));
            let difference = word(self) - word(other) - borrow;
            borrow = i64::from(difference < 0);
            words.push(difference as u32);
        }
        Natural(words).trimmed()
    }

    fn compared(&self, other: &Natural) -> Ordering {
        self.0.len().cmp(&other.0.len()).then_with(|| self.0.iter().rev().cmp(other.0.iter().rev()))
    }
}

/// A number: sign, integer, exponent of two; and whether a little more is there than that, less than any bit that counts.
#[derive(Clone, Debug)]
pub(crate) struct Exact {
    pub(crate) negative: bool,
    pub(crate) magnitude: Natural,
    pub(crate) exponent: i64,
    pub(crate) more: bool,
}

impl Exact {
    pub(crate) fn integer(value: i128) -> Exact {
        let magnitude = Natural::new(value.unsigned_abs());
        Exact { negative: value < 0, magnitude, exponent: 0, more: false }
    }

    pub(crate) fn negated(mut self) -> Exact {
        self.negative = !self.negative;
        self
    }

    pub(crate) fn is_zero(&self) -> bool {
        self.magnitude.is_zero() && !self.more
    }

    fn small(&self) -> u128 {
        self.magnitude.0.iter().rev().fold(0, |value, word| value << 32 | u128::from(*word))
    }

    /// Of factors of 64 bits each.
    pub(crate) fn times(&self, other: &Exact) -> Exact {
        Exact {
            negative: self.negative != other.negative,
            magnitude: Natural::new(self.small() * other.small()),
            exponent: self.exponent + other.exponent,
            more: false,
        }
    }

    /// The sum. A sum of zero has the sign of both; `down` decides where these differ, or where numbers cancel.
    pub(crate) fn plus(&self, other: &Exact, down: bool) -> Exact {
        let exponent = self.exponent.min(other.exponent);
        let [a, b] = [self, other].map(|x| x.magnitude.shifted_left(x.exponent - exponent));
        let (negative, magnitude) = match (self.negative == other.negative, a.compared(&b)) {
            (true, _) => (self.negative, a.plus(&b)),
            (false, Ordering::Greater) => (self.negative, a.minus(&b)),
            (false, Ordering::Less) => (other.negative, b.minus(&a)),
            (false, Ordering::Equal) => (down, Natural::new(0)),
        };
        Exact { negative, magnitude, exponent, more: false }
    }

    /// By a number of 64 bits that is not zero. The quotient has 64 bits at least.
    pub(crate) fn over(&self, other: &Exact) -> Exact {
        let (a, b) = (self.small(), other.small());
        let shift = a.leading_zeros();
        let a = if a == 0 { 0 } else { a << shift };
        Exact {
            negative: self.negative != other.negative,
            magnitude: Natural::new(a / b),
            exponent: self.exponent - other.exponent - i64::from(shift),
            more: a % b != 0,
        }
    }

    /// Of a number that is not negative.
    pub(crate) fn root(&self) -> Exact {
        let a = self.small();
        let even = |shift: u32| (self.exponent - i64::from(shift)) % 2 == 0;
        let shift = (0..=a.leading_zeros().min(126)).rev().find(|shift| even(*shift)).expect("one of two is even");
        let a = a << shift;
        let root = a.isqrt();
        Exact {
            negative: self.negative,
            magnitude: Natural::new(root),
            exponent: (self.exponent - i64::from(shift)) / 2,
            more: root * root != a,
        }
    }
}

/// A binary format of floats.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Format {
    /// Bits of the whole, and of the fraction.
    pub(crate) bits: u32,
    pub(crate) fraction: u32,
}

pub(crate) const HALF: Format = Format { bits: 16, fraction: 10 };
pub(crate) const BRAIN: Format = Format { bits: 16, fraction: 7 };
pub(crate) const SINGLE: Format = Format { bits: 32, fraction: 23 };
pub(crate) const DOUBLE: Format = Format { bits: 64, fraction: 52 };

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Mode {
    Nearest,
    Zero,
    Down,
    Up,
}

impl Format {
    fn bias(self) -> i64 {
        (1 << (self.bits - self.fraction - 2)) - 1
    }

    pub(crate) fn sign(self) -> u64 {
        1 << (self.bits - 1)
    }

    /// The bits of infinity.
    pub(crate) fn infinity(self) -> u64 {
        (self.sign() - 1) >> self.fraction << self.fraction
    }

    /// The bits of the smallest number that is not subnormal.
    pub(crate) fn normal(self) -> u64 {
        1 << self.fraction
    }

    pub(crate) fn is_nan(self, bits: u64) -> bool {
        bits & !self.sign() > self.infinity()
    }

    pub(crate) fn is_finite(self, bits: u64) -> bool {
        bits & !self.sign() < self.infinity()
    }

    /// The number of finite bits.
    pub(crate) fn exact(self, bits: u64) -> Exact {
        let (exponent, fraction) = ((bits & !self.sign()) >> self.fraction, bits & (self.normal() - 1));
        let integer = if exponent == 0 { fraction } else { fraction | self.normal() };
        Exact {
            negative: bits & self.sign() != 0,
            magnitude: Natural::new(u128::from(integer)),
            exponent: (exponent.max(1) as i64) - self.bias() - i64::from(self.fraction),
            more: false,
        }
    }

    /// Subnormals as zeros of the same sign.
    pub(crate) fn flushed(self, bits: u64, ftz: bool) -> u64 {
        if ftz && bits & !self.sign() < self.normal() { bits & self.sign() } else { bits }
    }

    /// The bits of a number by a mode. With `ftz` the exponent has no lower bound, and what is subnormal afterwards is zero.
    pub(crate) fn rounded(self, number: &Exact, mode: Mode, ftz: bool) -> u64 {
        let sign = if number.negative { self.sign() } else { 0 };
        if number.is_zero() {
            return sign;
        }
        // One more bit, which is set where more is there, below any half.
        let magnitude = number.magnitude.shifted_left(2).plus(&Natural::new(u128::from(number.more)));
        let exponent = number.exponent - 2;
        let least = 1 - self.bias() - i64::from(self.fraction);
        let unbounded = exponent + magnitude.bits() - 1 - i64::from(self.fraction);
        let place = if ftz { unbounded } else { unbounded.max(least) };
        let (quotient, rest) = magnitude.shifted_right(place - exponent);
        let up = match mode {
            Mode::Nearest => match rest {
                Some(Ordering::Greater) => true,
                Some(Ordering::Equal) => quotient.bit(0),
                _ => false,
            },
            Mode::Zero => false,
            Mode::Down => number.negative && rest.is_some(),
            Mode::Up => !number.negative && rest.is_some(),
        };
        let units = Exact { negative: false, magnitude: quotient, exponent: 0, more: false }.small() as u64;
        let units = units + u64::from(up);
        // The first bit of a normal number counts as one in the exponent.
        let bits = (i128::from(place - least) << self.fraction) + i128::from(units);
        if bits < i128::from(self.normal()) && ftz {
            return sign;
        }
        if bits < i128::from(self.infinity()) {
            return sign | bits as u64;
        }
        let inwards = match mode {
            Mode::Nearest => false,
            Mode::Zero => true,
            Mode::Down => !number.negative,
            Mode::Up => number.negative,
        };
        sign | if inwards { self.infinity() - 1 } else { self.infinity() }
    }
}
