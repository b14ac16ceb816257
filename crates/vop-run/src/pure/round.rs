//! Rounding: by modes, and to odd.
//!
//! Results of narrow formats are computed in a wider one and rounded again. That is right for every mode if the first rounding
//! is *to odd*: towards zero, and where it is inexact the last bit is set. Values that the second rounding must tell apart stay apart, as
//! the wider format has at least two more bits (Boldo and Melquiond, "Emulation of a FMA and correctly rounded sums").

/// A rounding mode.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Round {
    /// `.rn`: to the nearest, ties to even.
    NearestTiesToEven,
    /// `.rz`
    TowardZero,
    /// `.rm`
    TowardNegative,
    /// `.rp`
    TowardPositive,
}

/// A rounding mode as a type, so that each has loops of its own.
pub(super) trait Mode: Copy + 'static {
    const ROUND: Round;
    const NEAREST: bool = matches!(Self::ROUND, Round::NearestTiesToEven);

    /// Whether a number rounded to the nearest must go to the neighbour below, from what it was before; or above.
    #[inline(always)]
    fn correct(rounded: f64, exact: f64) -> Correction {
        match Self::ROUND {
            Round::TowardZero => Correction { inwards: rounded.abs() > exact.abs(), outwards: false },
            Round::TowardNegative => {
                Correction { inwards: rounded > exact && rounded > 0.0, outwards: rounded > exact && rounded <= 0.0 }
            }
            Round::TowardPositive => {
                Correction { inwards: rounded < exact && rounded < 0.0, outwards: rounded < exact && rounded >= 0.0 }
            }
            _ => Correction { inwards: false, outwards: false },
        }
    }
}

/// A step to the neighbour nearer to zero or farther from it.
#[derive(Clone, Copy)]
pub(super) struct Correction {
    inwards: bool,
    outwards: bool,
}

impl Correction {
    /// The step on a float's bits: neighbours differ by one.
    #[inline(always)]
    pub(super) fn step(self, bits: u32) -> u32 {
        bits.wrapping_add(u32::from(self.outwards)).wrapping_sub(u32::from(self.inwards))
    }
}

macro_rules! modes {
    ($($name:ident $round:ident;)*) => { $(
        #[derive(Clone, Copy)]
        pub(super) struct $name;
        impl Mode for $name {
            const ROUND: Round = Round::$round;
        }
    )* };
}
modes! {
    Nearest NearestTiesToEven;
    Zero TowardZero;
    Down TowardNegative;
    Up TowardPositive;
}

/// The expression with `R` for the mode of a modifier.
macro_rules! by_mode {
    ($mode:expr, $compute:expr) => {
        match $mode {
            "rn" => {
                type R = $crate::pure::round::Nearest;
                $compute
            }
            "rz" => {
                type R = $crate::pure::round::Zero;
                $compute
            }
            "rm" => {
                type R = $crate::pure::round::Down;
                $compute
            }
            _ => {
                type R = $crate::pure::round::Up;
                $compute
            }
        }
    };
}
pub(super) use by_mode;

/// A result rounded to odd: from the result rounded to the nearest, and the sign of the error that this left.
#[inline(always)]
fn odd(rounded: f64, error: f64) -> f64 {
    let bits = rounded.to_bits();
    let inexact = error.abs() > 0.0;
    // Towards what is missing, from an even number to the odd one next to it.
    let outwards = (error > 0.0) == (rounded > 0.0);
    let step = if outwards { 1 } else { u64::MAX };
    f64::from_bits(if inexact && bits & 1 == 0 { bits.wrapping_add(step) } else { bits })
}

/// The sum, rounded to odd. `DOWN` says that the mode to come makes a sum of zero negative, unless both are positive.
#[inline(always)]
pub(super) fn odd_sum<const DOWN: bool>(a: f64, b: f64) -> f64 {
    let sum = a + b;
    let second = sum - a;
    // Exact (Knuth); NaN where the sum is no number.
    let error = (a - (sum - second)) + (b - second);
    let negative = DOWN && sum == 0.0 && (a.is_sign_negative() || b.is_sign_negative());
    if negative { -0.0 } else { odd(sum, error) }
}

/// The sum, rounded to odd for a mode.
#[inline(always)]
pub(super) fn odd_sum_signed<R: Mode>(a: f64, b: f64) -> f64 {
    if matches!(R::ROUND, Round::TowardNegative) { odd_sum::<true>(a, b) } else { odd_sum::<false>(a, b) }
}

/// The quotient of two numbers of single precision, rounded to odd.
#[inline(always)]
pub(super) fn odd_quotient(a: f64, b: f64) -> f64 {
    let quotient = a / b;
    let missing = (-quotient).mul_add(b, a);
    odd(quotient, if b < 0.0 { -missing } else { missing })
}

/// The square root of a number of single precision, rounded to odd.
#[inline(always)]
pub(super) fn odd_root(a: f64) -> f64 {
    let root = a.sqrt();
    odd(root, (-root).mul_add(root, a))
}

/// To single precision, to odd.
#[inline(always)]
pub(super) fn odd_single(a: f64) -> f32 {
    let rounded = a as f32;
    let back = f64::from(rounded);
    let bits = rounded.to_bits();
    // A number too large is no infinity before the last rounding, only more than any.
    let inwards = back.abs() > a.abs() && (bits & 1 == 0);
    let outwards = back.abs() < a.abs() && (bits & 1 == 0);
    f32::from_bits(Correction { inwards, outwards }.step(bits))
}

/// The smallest number of single precision that is not subnormal, 2^-126.
const NORMAL: f64 = f32::MIN_POSITIVE as f64;

/// To single precision by a mode, from what is exact or rounded to odd. With `FTZ`, a result below 2^-126 becomes zero. That is the result
/// of 24 bits and of an exponent without bounds: what such a rounding brings up to 2^-126 stays.
#[inline(always)]
pub(super) fn single<R: Mode, const FTZ: bool>(a: f64) -> f32 {
    let rounded = a as f32;
    let rounded = f32::from_bits(R::correct(f64::from(rounded), a).step(rounded.to_bits()));
    // Half a unit in the last place of 24 bits below 2^-126, and a whole one.
    const HALF: f64 = NORMAL * (1.0 - 1.0 / (1u64 << 25) as f64);
    const WHOLE: f64 = NORMAL * (1.0 - 1.0 / (1u64 << 24) as f64);
    let tiny = match R::ROUND {
        // The tie goes to 2^-126, which is even.
        Round::NearestTiesToEven => a.abs() < HALF,
        Round::TowardZero => a.abs() < NORMAL,
        Round::TowardNegative => (-WHOLE..NORMAL).contains(&a),
        Round::TowardPositive => a > -NORMAL && a <= WHOLE,
    };
    if FTZ && tiny { f32::from_bits(rounded.to_bits() & 0x8000_0000) } else { rounded }
}

/// A result of double precision by a mode: from the result rounded to the nearest, and a number that has the sign of what this left.
#[inline(always)]
fn settle<R: Mode>(nearest: f64, missing: f64) -> f64 {
    let negative = nearest.is_sign_negative();
    // Both are false where the result is no number, or is an infinity without rounding.
    let (less, more) = (missing < 0.0, missing > 0.0);
    let (inwards, outwards) = match R::ROUND {
        Round::NearestTiesToEven => (false, false),
        Round::TowardZero => (if negative { more } else { less }, false),
        Round::TowardNegative => (less & !negative, less & negative),
        Round::TowardPositive => (more & negative, more & !negative),
    };
    // Neighbours differ by one, and infinity is next to the largest number.
    f64::from_bits(nearest.to_bits().wrapping_add(u64::from(outwards)).wrapping_sub(u64::from(inwards)))
}

/// The sum in double precision.
#[inline(always)]
pub(super) fn sum_double<R: Mode>(a: f64, b: f64) -> f64 {
    let (large, small) = if a.abs() >= b.abs() { (a, b) } else { (b, a) };
    let nearest = large + small;
    // Exact (Dekker), as nothing here can overflow but the sum.
    let missing = small - (nearest - large);
    let zero = matches!(R::ROUND, Round::TowardNegative) && nearest == 0.0;
    if zero && (a.is_sign_negative() || b.is_sign_negative()) { -0.0 } else { settle::<R>(nearest, missing) }
}

const UP: f64 = f64::from_bits((1023 + 600) << 52);
const DOWN: f64 = f64::from_bits((1023 - 600) << 52);

const fn power_of_two(exponent: i64) -> f64 {
    f64::from_bits(((1023 + exponent) as u64) << 52)
}

/// The power of two that brings a number near to 1: to 2^-474 at least, and to less than 2^424.
#[inline(always)]
fn scale(a: f64) -> f64 {
    const LOW: f64 = power_of_two(-400);
    const HIGH: f64 = power_of_two(400);
    if a.abs() < LOW {
        UP
    } else if a.abs() > HIGH {
        DOWN
    } else {
        1.0
    }
}

/// The product in double precision.
#[inline(always)]
pub(super) fn product_double<R: Mode>(a: f64, b: f64) -> f64 {
    let nearest = a * b;
    // What is missing may be less than the smallest number. Then it is asked for larger factors.
    let small = nearest.abs() < power_of_two(-900);
    let scale = |x: f64| if small && x.abs() < 1.0 { UP } else { 1.0 };
    let (by_a, by_b) = (scale(a), scale(b));
    let missing = (a * by_a).mul_add(b * by_b, -(nearest * by_a * by_b));
    settle::<R>(nearest, missing)
}

/// The quotient in double precision.
#[inline(always)]
pub(super) fn quotient_double<R: Mode>(a: f64, b: f64) -> f64 {
    let nearest = a / b;
    let (by_a, by_b) = (scale(a), scale(b));
    let inverse = if by_b == UP {
        DOWN
    } else if by_b == DOWN {
        UP
    } else {
        1.0
    };
    // Exact: a quotient that is scaled is far from the limit that it nears.
    let scaled = if by_a == by_b { nearest } else { nearest * by_a * inverse };
    let missing = (-scaled).mul_add(b * by_b, a * by_a);
    settle::<R>(nearest, if b.is_sign_negative() { -missing } else { missing })
}

/// `a * b + c` in double precision, rounded once.
///
/// The sign of what is missing comes from the sum of four numbers that the product, `c` and the result are (Boldo and Muller, "Exact and
/// approximated error of the FMA"), after all were scaled so that no step overflows or loses bits.
#[inline(always)]
pub(super) fn fused_double<R: Mode>(a: f64, b: f64, c: f64) -> f64 {
    let nearest = a.mul_add(b, c);
    let (by_a, by_b) = (scale(a), scale(b));
    let (x, y) = (a * by_a, b * by_b);
    // Large by small: in two steps, the first would overflow or lose bits.
    let (first, second) = if by_a * by_b == 1.0 { (1.0, 1.0) } else { (by_a, by_b) };
    let (z, result) = (c * first * second, nearest * first * second);
    // A product that was scaled down is so large that of a `c` which is too small for that, only the sign matters.
    const LEAST: f64 = power_of_two(-960);
    let faint = first * second < 1.0 && z.abs() < LEAST && c != 0.0;
    let z = if faint { LEAST.copysign(c) } else { z };
    // And if `c` becomes too large, it is the result to the nearest, and the product is what is missing.
    let alone = z.abs() > power_of_two(960);
    let (z, result) = if alone { (0.0, 0.0) } else { (z, result) };
    let product = x * y;
    let below = x.mul_add(y, -product);
    let (middle, low) = exact_sum(z, below);
    let (high, rest) = exact_sum(product, middle);
    let missing = ((high - result) + rest) + low;
    // The sum of `c` and a zero is exact, and so is infinity.
    let exact = a == 0.0 || b == 0.0 || c.is_infinite();
    let missing = if exact { 0.0 } else { missing };
    let negative = a.is_sign_negative() != b.is_sign_negative() || c.is_sign_negative();
    let zero = matches!(R::ROUND, Round::TowardNegative) && nearest == 0.0 && missing == 0.0;
    if zero && negative { -0.0 } else { settle::<R>(nearest, missing) }
}

/// A sum and what is missing in it, exact (Knuth) unless something overflows.
#[inline(always)]
fn exact_sum(a: f64, b: f64) -> (f64, f64) {
    let sum = a + b;
    let second = sum - a;
    (sum, (a - (sum - second)) + (b - second))
}

/// The square root in double precision.
#[inline(always)]
pub(super) fn root_double<R: Mode>(a: f64) -> f64 {
    let nearest = a.sqrt();
    // The square of a root may be less than the smallest number.
    let by = if a < power_of_two(-900) { power_of_two(100) } else { 1.0 };
    let root = nearest * by;
    settle::<R>(nearest, (-root).mul_add(root, a * by * by))
}

/// An integer in double precision: the sum of its high word, as a number of 2^32, and of its low word.
#[inline(always)]
pub(super) fn integer_double<R: Mode>(high: f64, low: f64) -> f64 {
    let high = high * (1u64 << 32) as f64;
    let nearest = high + low;
    settle::<R>(nearest, low - (nearest - high))
}
