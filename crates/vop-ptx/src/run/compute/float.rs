//! Floating point that IEEE 754 defines to the last bit; what the manual calls approximate is refused by the decoder.
//!
//! A NaN result of `.f32` arithmetic is the manual's canonical `0x7fffffff`. Its payload in `.f64` is whatever the host gives.

use std::cmp::Ordering::{Equal, Greater, Less};

use super::Compute;
use super::integer::Int;
use crate::module::Scalar;

/// A Rust float that stands for a PTX type.
pub(crate) trait Float: Copy + PartialOrd {
    fn from_slot(slot: u64) -> Self;
    fn to_slot(self) -> u64;
    /// As an arithmetic result: NaN made canonical.
    fn result(self) -> u64;
    /// Subnormals to zero of the same sign; only `.f32` has `.ftz`.
    fn flush(self) -> Self;
    fn is_nan(self) -> bool;
    fn add(self, b: Self) -> Self;
    fn sub(self, b: Self) -> Self;
    fn mul(self, b: Self) -> Self;
    fn div(self, b: Self) -> Self;
    fn fma(self, b: Self, c: Self) -> Self;
    fn sqrt(self) -> Self;
    fn reciprocal(self) -> Self;
    fn negative(self) -> bool;
    fn saturate(self) -> Self;
}

macro_rules! float {
    ($float:ident, $bits:ident, $quiet:expr) => {
        impl Float for $float {
            fn from_slot(slot: u64) -> Self {
                $float::from_bits(slot as $bits)
            }
            fn to_slot(self) -> u64 {
                u64::from(self.to_bits())
            }
            fn result(self) -> u64 {
                match $quiet {
                    Some(quiet) if $float::is_nan(self) => quiet,
                    _ => self.to_slot(),
                }
            }
            fn flush(self) -> Self {
                if self.is_subnormal() { self * 0.0 } else { self }
            }
            fn is_nan(self) -> bool {
                $float::is_nan(self)
            }
            fn add(self, b: Self) -> Self {
                self + b
            }
            fn sub(self, b: Self) -> Self {
                self - b
            }
            fn mul(self, b: Self) -> Self {
                self * b
            }
            fn div(self, b: Self) -> Self {
                self / b
            }
            fn fma(self, b: Self, c: Self) -> Self {
                self.mul_add(b, c)
            }
            fn sqrt(self) -> Self {
                $float::sqrt(self)
            }
            fn reciprocal(self) -> Self {
                1.0 / self
            }
            fn negative(self) -> bool {
                self.is_sign_negative()
            }
            fn saturate(self) -> Self {
                // The order of the tests sends NaN and -0.0 to +0.0, as the manual asks.
                if self > 0.0 { if self < 1.0 { self } else { 1.0 } } else { 0.0 }
            }
        }
    };
}
float!(f32, u32, Some(0x7fff_ffff));
float!(f64, u64, None::<u64>);

macro_rules! arithmetic {
    ($($name:ident($a:ident $(, $b:ident $(, $c:ident)?)?) = $value:expr;)*) => { $(
        fn $name<T: Float, const FTZ: bool, const SAT: bool>($a: u64, _b: u64, _c: u64, _: u64) -> u64 {
            let source = |slot| { let x = T::from_slot(slot); if FTZ { x.flush() } else { x } };
            let $a = source($a);
            $(let $b = source(_b);
            $(let $c = source(_c);)?)?
            let result: T = $value;
            let result = if FTZ { result.flush() } else { result };
            if SAT { result.saturate().to_slot() } else { result.result() }
        }
    )* };
}

arithmetic! {
    add(a, b) = a.add(b);
    sub(a, b) = a.sub(b);
    mul(a, b) = a.mul(b);
    div(a, b) = a.div(b);
    fma(a, b, c) = a.fma(b, c);
    sqrt(a) = a.sqrt();
    rcp(a) = a.reciprocal();
    min(a, b) = least(a, b);
    max(a, b) = greatest(a, b);
}

/// The smaller; a NaN loses, and -0.0 is below +0.0.
fn least<T: Float>(a: T, b: T) -> T {
    if a.is_nan() || b < a || (a == b && b.negative()) { b } else { a }
}

fn greatest<T: Float>(a: T, b: T) -> T {
    if a.is_nan() || b > a || (a == b && a.negative()) { b } else { a }
}

/// `.NaN`: a NaN wins.
fn min_nan<T: Float>(a: u64, b: u64, _: u64, _: u64) -> u64 {
    let (a, b) = (T::from_slot(a), T::from_slot(b));
    if a.is_nan() || b.is_nan() { a.add(b).result() } else { least(a, b).result() }
}

fn max_nan<T: Float>(a: u64, b: u64, _: u64, _: u64) -> u64 {
    let (a, b) = (T::from_slot(a), T::from_slot(b));
    if a.is_nan() || b.is_nan() { a.add(b).result() } else { greatest(a, b).result() }
}

fn neg<const SIGN: u32>(a: u64, _: u64, _: u64, _: u64) -> u64 {
    a ^ 1 << SIGN
}

fn abs<const SIGN: u32>(a: u64, _: u64, _: u64, _: u64) -> u64 {
    a & !(1 << SIGN)
}

fn copysign<const SIGN: u32>(a: u64, b: u64, _: u64, _: u64) -> u64 {
    (b & !(1 << SIGN)) | (a & 1 << SIGN)
}

macro_rules! pick {
    ($ty:expr, $ftz:expr, $sat:expr, $function:ident) => {
        match ($ty, $ftz, $sat) {
            (Scalar::F32, false, false) => Some($function::<f32, false, false> as Compute),
            (Scalar::F32, false, true) => Some($function::<f32, false, true> as Compute),
            (Scalar::F32, true, false) => Some($function::<f32, true, false> as Compute),
            (Scalar::F32, true, true) => Some($function::<f32, true, true> as Compute),
            (Scalar::F64, false, false) => Some($function::<f64, false, false> as Compute),
            _ => None,
        }
    };
}

pub(crate) fn arithmetic(name: &str, ty: Scalar, ftz: bool, sat: bool) -> Option<Compute> {
    match name {
        "add" => pick!(ty, ftz, sat, add),
        "sub" => pick!(ty, ftz, sat, sub),
        "mul" => pick!(ty, ftz, sat, mul),
        "div" if !sat => pick!(ty, ftz, sat, div),
        "fma" => pick!(ty, ftz, sat, fma),
        "sqrt" if !sat => pick!(ty, ftz, sat, sqrt),
        "rcp" if !sat => pick!(ty, ftz, sat, rcp),
        "min" if !sat => pick!(ty, ftz, sat, min),
        "max" if !sat => pick!(ty, ftz, sat, max),
        _ if ftz || sat => None,
        "min.NaN" => Some(if ty == Scalar::F32 { min_nan::<f32> } else { min_nan::<f64> }),
        "max.NaN" => Some(if ty == Scalar::F32 { max_nan::<f32> } else { max_nan::<f64> }),
        "neg" => Some(if ty == Scalar::F32 { neg::<31> } else { neg::<63> }),
        "abs" => Some(if ty == Scalar::F32 { abs::<31> } else { abs::<63> }),
        "copysign" => Some(if ty == Scalar::F32 { copysign::<31> } else { copysign::<63> }),
        _ => None,
    }
}

macro_rules! comparisons {
    ($($name:ident = $order:pat,)*) => { $(
        fn $name<T: Float, const FTZ: bool, const UNUSED: bool>(a: u64, b: u64, _: u64, _: u64) -> u64 {
            let source = |slot| { let x = T::from_slot(slot); if FTZ { x.flush() } else { x } };
            match source(a).partial_cmp(&source(b)) { $order => 1, _ => 0 }
        }
    )* };
}

// No order means that one of the two is NaN.
comparisons! {
    eq = Some(Equal),
    ne = Some(Less) | Some(Greater),
    lt = Some(Less),
    le = Some(Less) | Some(Equal),
    gt = Some(Greater),
    ge = Some(Greater) | Some(Equal),
    equ = None | Some(Equal),
    neu = None | Some(Less) | Some(Greater),
    ltu = None | Some(Less),
    leu = None | Some(Less) | Some(Equal),
    gtu = None | Some(Greater),
    geu = None | Some(Greater) | Some(Equal),
    num = Some(_),
    nan = None,
}

/// A comparison giving 0 or 1: plain ones are false where an operand is NaN, those ending in `u` true.
pub(crate) fn compare(operator: &str, ty: Scalar, ftz: bool) -> Option<Compute> {
    match operator {
        "eq" => pick!(ty, ftz, false, eq),
        "ne" => pick!(ty, ftz, false, ne),
        "lt" => pick!(ty, ftz, false, lt),
        "le" => pick!(ty, ftz, false, le),
        "gt" => pick!(ty, ftz, false, gt),
        "ge" => pick!(ty, ftz, false, ge),
        "equ" => pick!(ty, ftz, false, equ),
        "neu" => pick!(ty, ftz, false, neu),
        "ltu" => pick!(ty, ftz, false, ltu),
        "leu" => pick!(ty, ftz, false, leu),
        "gtu" => pick!(ty, ftz, false, gtu),
        "geu" => pick!(ty, ftz, false, geu),
        "num" => pick!(ty, ftz, false, num),
        "nan" => pick!(ty, ftz, false, nan),
        _ => None,
    }
}

/// 1.0 or 0.0: what `set` gives in an `.f32` destination.
pub(crate) fn truth_float(a: u64, _: u64, _: u64, _: u64) -> u64 {
    if a == 0 { 0 } else { 1.0f32.to_slot() }
}

/// `slct` on an `.f32` selector: `a` where it is at least zero; NaN selects `b`.
pub(crate) fn select_sign(a: u64, b: u64, c: u64, _: u64) -> u64 {
    if f32::from_slot(c) >= 0.0 { a } else { b }
}

/// What a conversion from float to integer gives for NaN (manual, "cvt").
pub(crate) fn nan_as_integer<T: Int>(source_is_f64: bool) -> u64 {
    if source_is_f64 || T::BITS == 64 { 1 << (T::BITS - 1) } else { 0 }
}
