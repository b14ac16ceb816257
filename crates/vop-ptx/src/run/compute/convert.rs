//! `cvt`: between integer widths, between integers and floats, and rounding to integral floats.
//!
//! An integer destination register may be wider than the destination type: the second source of these functions is the
//! mask of the register's bits, and the result is extended by the type's signedness to fill it.

use super::Compute;
use super::float::{Float, nan_as_integer};
use super::integer::Int;
use crate::module::Scalar;

/// How a float becomes integral.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Rounding {
    /// `.rni`: to the nearest, ties to even.
    Nearest,
    /// `.rzi`: towards zero.
    Zero,
    /// `.rmi`: towards minus infinity.
    Down,
    /// `.rpi`: towards plus infinity.
    Up,
}

impl Rounding {
    pub(crate) fn parse(name: &str) -> Option<Rounding> {
        match name {
            "rni" => Some(Rounding::Nearest),
            "rzi" => Some(Rounding::Zero),
            "rmi" => Some(Rounding::Down),
            "rpi" => Some(Rounding::Up),
            _ => None,
        }
    }
}

/// Picks an instance by an integer type of any width.
macro_rules! by_int {
    ($ty:expr, $with:ident) => {
        match $ty {
            Scalar::U8 | Scalar::B8 => $with!(u8),
            Scalar::S8 => $with!(i8),
            Scalar::U16 | Scalar::B16 => $with!(u16),
            Scalar::S16 => $with!(i16),
            Scalar::U32 | Scalar::B32 => $with!(u32),
            Scalar::S32 => $with!(i32),
            Scalar::U64 | Scalar::B64 => $with!(u64),
            Scalar::S64 => $with!(i64),
            _ => return None,
        }
    };
}

fn int_to_int<S: Int, D: Int, const SAT: bool>(a: u64, register: u64, _: u64, _: u64) -> u64 {
    let value = S::from_slot(a).wide();
    let value = if SAT { D::saturate(value) } else { D::wrap(value) };
    value.wide() as u64 & register
}

fn integers_from<S: Int>(to: Scalar, sat: bool) -> Option<Compute> {
    macro_rules! with {
        ($d:ident) => {
            Some(if sat { int_to_int::<S, $d, true> } else { int_to_int::<S, $d, false> })
        };
    }
    by_int!(to, with)
}

/// Between two integer types.
pub(crate) fn integers(to: Scalar, from: Scalar, sat: bool) -> Option<Compute> {
    macro_rules! with {
        ($s:ident) => {
            integers_from::<$s>(to, sat)
        };
    }
    by_int!(from, with)
}

/// A float that can be rounded and read as an integer.
trait Convert: Float {
    const IS_F64: bool;
    fn nearest(self) -> Self;
    fn zero(self) -> Self;
    fn down(self) -> Self;
    fn up(self) -> Self;
    fn integer(self) -> i128;
    fn from_integer(value: i128) -> Self;
}

macro_rules! convert {
    ($float:ident, $is_f64:expr) => {
        impl Convert for $float {
            const IS_F64: bool = $is_f64;
            fn nearest(self) -> Self {
                self.round_ties_even()
            }
            fn zero(self) -> Self {
                self.trunc()
            }
            fn down(self) -> Self {
                self.floor()
            }
            fn up(self) -> Self {
                self.ceil()
            }
            fn integer(self) -> i128 {
                self as i128
            }
            fn from_integer(value: i128) -> Self {
                value as $float
            }
        }
    };
}
convert!(f32, false);
convert!(f64, true);

const NEAREST: u8 = 0;
const ZERO: u8 = 1;
const DOWN: u8 = 2;
const UP: u8 = 3;

fn round<F: Convert, const ROUNDING: u8>(value: F) -> F {
    match ROUNDING {
        NEAREST => value.nearest(),
        ZERO => value.zero(),
        DOWN => value.down(),
        _ => value.up(),
    }
}

fn float_to_int<F: Convert, D: Int, const ROUNDING: u8>(a: u64, register: u64, _: u64, _: u64) -> u64 {
    let value = F::from_slot(a);
    if value.is_nan() {
        return nan_as_integer::<D>(F::IS_F64) & register;
    }
    // Out of range is clamped whether or not `.sat` is written; a float's range fits an i128 or saturates there.
    D::saturate(round::<F, ROUNDING>(value).integer()).wide() as u64 & register
}

/// From a float to an integer. `.ftz` changes nothing that survives the rounding but the directed ones, so it is refused there.
pub(crate) fn to_integer(to: Scalar, from: Scalar, rounding: Rounding) -> Option<Compute> {
    macro_rules! with {
        ($d:ident) => {
            match (from, rounding) {
                (Scalar::F32, Rounding::Nearest) => Some(float_to_int::<f32, $d, NEAREST> as Compute),
                (Scalar::F32, Rounding::Zero) => Some(float_to_int::<f32, $d, ZERO>),
                (Scalar::F32, Rounding::Down) => Some(float_to_int::<f32, $d, DOWN>),
                (Scalar::F32, Rounding::Up) => Some(float_to_int::<f32, $d, UP>),
                (Scalar::F64, Rounding::Nearest) => Some(float_to_int::<f64, $d, NEAREST>),
                (Scalar::F64, Rounding::Zero) => Some(float_to_int::<f64, $d, ZERO>),
                (Scalar::F64, Rounding::Down) => Some(float_to_int::<f64, $d, DOWN>),
                (Scalar::F64, Rounding::Up) => Some(float_to_int::<f64, $d, UP>),
                _ => None,
            }
        };
    }
    by_int!(to, with)
}

/// Rounds to the nearest, ties to even: an `i128` converts in one step.
fn int_to_float<S: Int, F: Convert>(a: u64, _: u64, _: u64, _: u64) -> u64 {
    F::from_integer(S::from_slot(a).wide()).to_slot()
}

/// From an integer to a float, `.rn`.
pub(crate) fn from_integer(to: Scalar, from: Scalar) -> Option<Compute> {
    macro_rules! with {
        ($s:ident) => {
            match to {
                Scalar::F32 => Some(int_to_float::<$s, f32> as Compute),
                Scalar::F64 => Some(int_to_float::<$s, f64>),
                _ => None,
            }
        };
    }
    by_int!(from, with)
}

fn narrow<const SAT: bool>(a: u64, _: u64, _: u64, _: u64) -> u64 {
    let value = f64::from_slot(a) as f32;
    if SAT { value.saturate().to_slot() } else { value.result() }
}

fn widen<const SAT: bool>(a: u64, _: u64, _: u64, _: u64) -> u64 {
    let value = f64::from(f32::from_slot(a));
    if SAT { value.saturate().to_slot() } else { value.to_slot() }
}

fn same<F: Convert, const SAT: bool>(a: u64, _: u64, _: u64, _: u64) -> u64 {
    let value = F::from_slot(a);
    if SAT { value.saturate().to_slot() } else { value.result() }
}

fn integral<F: Convert, const ROUNDING: u8>(a: u64, _: u64, _: u64, _: u64) -> u64 {
    round::<F, ROUNDING>(F::from_slot(a)).result()
}

/// Between floats: of two widths (`.rn` when narrowing), or the same with or without rounding to an integral value.
pub(crate) fn floats(to: Scalar, from: Scalar, rounding: Option<Rounding>, sat: bool) -> Option<Compute> {
    Some(match (to, from, rounding, sat) {
        (Scalar::F32, Scalar::F64, None, false) => narrow::<false>,
        (Scalar::F32, Scalar::F64, None, true) => narrow::<true>,
        (Scalar::F64, Scalar::F32, None, false) => widen::<false>,
        (Scalar::F64, Scalar::F32, None, true) => widen::<true>,
        (Scalar::F32, Scalar::F32, None, false) => same::<f32, false>,
        (Scalar::F32, Scalar::F32, None, true) => same::<f32, true>,
        (Scalar::F64, Scalar::F64, None, false) => same::<f64, false>,
        (Scalar::F64, Scalar::F64, None, true) => same::<f64, true>,
        (Scalar::F32, Scalar::F32, Some(Rounding::Nearest), false) => integral::<f32, NEAREST>,
        (Scalar::F32, Scalar::F32, Some(Rounding::Zero), false) => integral::<f32, ZERO>,
        (Scalar::F32, Scalar::F32, Some(Rounding::Down), false) => integral::<f32, DOWN>,
        (Scalar::F32, Scalar::F32, Some(Rounding::Up), false) => integral::<f32, UP>,
        (Scalar::F64, Scalar::F64, Some(Rounding::Nearest), false) => integral::<f64, NEAREST>,
        (Scalar::F64, Scalar::F64, Some(Rounding::Zero), false) => integral::<f64, ZERO>,
        (Scalar::F64, Scalar::F64, Some(Rounding::Down), false) => integral::<f64, DOWN>,
        (Scalar::F64, Scalar::F64, Some(Rounding::Up), false) => integral::<f64, UP>,
        _ => return None,
    })
}
