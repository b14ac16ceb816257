//! Rounding: by modes, and to odd.
//!
//! Results of narrow formats are computed in a wider one and rounded again. That is right for every mode if the first rounding
//! is *to odd*: towards zero, and where it is inexact the last bit is set. Values that the second rounding must tell apart stay apart, as
//! the wider format has at least two more bits (Boldo and Melquiond, "Emulation of a FMA and correctly rounded sums").

use rustc_apfloat::{Float as _, Round, ieee::Double};

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

/// To single precision by a mode, from what is exact or rounded to odd.
#[inline(always)]
pub(super) fn single<R: Mode>(a: f64) -> f32 {
    let rounded = a as f32;
    f32::from_bits(R::correct(f64::from(rounded), a).step(rounded.to_bits()))
}

fn double(a: f64) -> Double {
    Double::from_bits(u128::from(a.to_bits()))
}

fn value(a: rustc_apfloat::StatusAnd<Double>) -> f64 {
    f64::from_bits(a.value.to_bits() as u64)
}

/// Double precision by modes that the host has no instructions for.
pub(super) fn sum_double<R: Mode>(a: f64, b: f64) -> f64 {
    value(double(a).add_r(double(b), R::ROUND))
}

pub(super) fn product_double<R: Mode>(a: f64, b: f64) -> f64 {
    value(double(a).mul_r(double(b), R::ROUND))
}

pub(super) fn quotient_double<R: Mode>(a: f64, b: f64) -> f64 {
    value(double(a).div_r(double(b), R::ROUND))
}

pub(super) fn fused_double<R: Mode>(a: f64, b: f64, c: f64) -> f64 {
    value(double(a).mul_add_r(double(b), double(c), R::ROUND))
}

/// The square root to the nearest is next to the others, and its square says on which side.
pub(super) fn root_double<R: Mode>(a: f64) -> f64 {
    let root = a.sqrt();
    if R::NEAREST || !(root > 0.0 && root < f64::INFINITY) {
        return root;
    }
    let ((square, twice), (root_mantissa, exponent)) = (integral(a), integral(root));
    // The square has 105 bits or 106, so what is compared with it is no shorter than it was and no longer than that.
    let exact = u128::from(square) << (twice - 2 * exponent);
    let correction = match (u128::from(root_mantissa).pow(2).cmp(&exact), R::ROUND) {
        (std::cmp::Ordering::Greater, Round::TowardZero | Round::TowardNegative) => -1,
        (std::cmp::Ordering::Less, Round::TowardPositive) => 1,
        _ => 0,
    };
    f64::from_bits(root.to_bits().wrapping_add_signed(correction))
}

/// A positive number as an integer of 53 bits times a power of two.
fn integral(a: f64) -> (u64, i32) {
    let (fraction, exponent) = (a.to_bits() & ((1 << 52) - 1), (a.to_bits() >> 52) as i32);
    if exponent > 0 {
        return (fraction | 1 << 52, exponent - 1075);
    }
    let shift = fraction.leading_zeros() - 11;
    (fraction << shift, -1074 - shift as i32)
}
