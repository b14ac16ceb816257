//! Arithmetic in `.f32` and `.f64`, exact to the last bit in every rounding mode.
//!
//! In `.f32`, a result that is a NaN is `0x7fffffff`. In `.f64` it is the first operand that is a NaN, made quiet; if none is,
//! `0xfff8000000000000`.

use super::half::{HalfExt, by_half};
use super::round::{self, Mode, by_mode};
use super::{Call, Pure, Ty};
use crate::lanes::Compute;

/// The expression with a constant for whether a modifier was there.
macro_rules! by_flag {
    ($flag:expr, $name:ident, $compute:expr) => {
        if $flag {
            const $name: bool = true;
            $compute
        } else {
            const $name: bool = false;
            $compute
        }
    };
}
pub(super) use by_flag;

/// Steps before and after an operation in single precision.
pub(super) trait Single {
    /// Subnormals to zero of the same sign where `FTZ` is.
    fn flush<const FTZ: bool>(self) -> Self;
    /// Clamped to 0 to 1, NaN to +0.0.
    fn saturate(self) -> Self;
    /// The value, with the NaN of arithmetic for every NaN.
    fn canonical(self) -> Self;
    /// The result of an operation, which no rounding brought up to the smallest normal number.
    fn finish<const FTZ: bool>(self) -> Self;
    /// The result of an operation, from the result and from the same times 2^24.
    fn finish_scaled<const FTZ: bool>(self, scaled: Self) -> Self;
}

/// What operands are multiplied with so that a result near the smallest normal number becomes one that is rounded as if exponents had no
/// bounds.
pub(super) const SCALE: f32 = (1 << 24) as f32;

impl Single for f32 {
    #[inline(always)]
    fn flush<const FTZ: bool>(self) -> f32 {
        let bits = self.to_bits();
        if FTZ && bits & 0x7f80_0000 == 0 { f32::from_bits(bits & 0x8000_0000) } else { self }
    }
    #[inline(always)]
    fn saturate(self) -> f32 {
        let positive = if self > 0.0 { self } else { 0.0 };
        if positive < 1.0 { positive } else { 1.0 }
    }
    #[inline(always)]
    fn canonical(self) -> f32 {
        // In integers: of floats a compiler may take one NaN for another.
        let bits = self.to_bits();
        f32::from_bits(if bits & 0x7fff_ffff > 0x7f80_0000 { 0x7fff_ffff } else { bits })
    }
    #[inline(always)]
    fn finish<const FTZ: bool>(self) -> f32 {
        self.flush::<FTZ>().canonical()
    }
    #[inline(always)]
    fn finish_scaled<const FTZ: bool>(self, scaled: f32) -> f32 {
        // With `.ftz` the result is rounded to 24 bits, and becomes zero if that is below 2^-126. Subnormal numbers have fewer bits, so
        // rounding to them may reach 2^-126 where rounding to 24 bits does not.
        let bits = self.to_bits();
        let least = bits & 0x7fff_ffff == 0x0080_0000;
        let risen = least && scaled.abs() < f32::MIN_POSITIVE * SCALE;
        if FTZ && risen { f32::from_bits(bits & 0x8000_0000) } else { self.finish::<FTZ>() }
    }
}

#[inline(always)]
fn quiet(a: f64) -> f64 {
    f64::from_bits(a.to_bits() | 1 << 51)
}

/// The result of an operation in double precision, or the NaN that it is.
#[inline(always)]
pub(super) fn or_nan(result: f64, sources: [f64; 3]) -> f64 {
    let [a, b, c] = sources;
    let nan = if a.is_nan() {
        quiet(a)
    } else if b.is_nan() {
        quiet(b)
    } else if c.is_nan() {
        quiet(c)
    } else {
        f64::from_bits(0xfff8_0000_0000_0000)
    };
    // In integers: of floats a compiler may take one NaN for another.
    f64::from_bits(if result.is_nan() { nan.to_bits() } else { result.to_bits() })
}

#[inline(always)]
fn sum_double<R: Mode>(a: f64, b: f64) -> f64 {
    or_nan(if R::NEAREST { a + b } else { round::sum_double::<R>(a, b) }, [a, b, b])
}

#[inline(always)]
fn product_double<R: Mode>(a: f64, b: f64) -> f64 {
    or_nan(if R::NEAREST { a * b } else { round::product_double::<R>(a, b) }, [a, b, b])
}

#[inline(always)]
fn fused_double<R: Mode>(a: f64, b: f64, c: f64) -> f64 {
    or_nan(if R::NEAREST { a.mul_add(b, c) } else { round::fused_double::<R>(a, b, c) }, [a, b, c])
}

#[inline(always)]
fn quotient_double<R: Mode>(a: f64, b: f64) -> f64 {
    or_nan(if R::NEAREST { a / b } else { round::quotient_double::<R>(a, b) }, [a, b, b])
}

#[inline(always)]
fn root_double<R: Mode>(a: f64) -> f64 {
    or_nan(round::root_double::<R>(a), [a; 3])
}

/// The smaller and the larger number; -0.0 is below +0.0, and of a NaN and a number the number is taken.
pub(super) trait Order: Copy {
    fn least(self, b: Self) -> Self;
    fn greatest(self, b: Self) -> Self;
}

macro_rules! order {
    ($($float:ident)*) => { $(
        impl Order for $float {
            #[inline(always)]
            fn least(self, b: $float) -> $float {
                // Of equal numbers, zeros alone differ: the sign of either.
                let equal = $float::from_bits(self.to_bits() | b.to_bits());
                let least = if self < b { self } else if self == b { equal } else { b };
                if b.is_nan() { self } else { least }
            }
            #[inline(always)]
            fn greatest(self, b: $float) -> $float {
                let equal = $float::from_bits(self.to_bits() & b.to_bits());
                let greatest = if self > b { self } else if self == b { equal } else { b };
                if b.is_nan() { self } else { greatest }
            }
        }
    )* };
}
order! { f32 f64 }

/// `min` and `max` in single precision: flush, choose, treat NaN.
#[inline(always)]
fn extreme<const MAX: bool, const FTZ: bool, const NAN: bool>(a: f32, b: f32) -> f32 {
    let (a, b) = (a.flush::<FTZ>(), b.flush::<FTZ>());
    let chosen = if MAX { a.greatest(b) } else { a.least(b) };
    if NAN && (a.is_nan() || b.is_nan()) { f32::from_bits(0x7fff_ffff) } else { chosen.canonical() }
}

/// `.abs`: of the magnitudes.
#[inline(always)]
fn extreme_of_magnitudes<const MAX: bool, const FTZ: bool, const NAN: bool>(a: f32, b: f32) -> f32 {
    extreme::<MAX, FTZ, NAN>(a.abs(), b.abs())
}

/// `.xorsign.abs`: of the magnitudes, with the sign of the product.
#[inline(always)]
fn extreme_magnitude<const MAX: bool, const FTZ: bool, const NAN: bool>(a: f32, b: f32) -> f32 {
    let sign = (a.to_bits() ^ b.to_bits()) & 0x8000_0000;
    let chosen = extreme_of_magnitudes::<MAX, FTZ, NAN>(a, b);
    if chosen.is_nan() { chosen } else { f32::from_bits(chosen.to_bits() | sign) }
}

pub(super) fn arithmetic(name: &str, mut call: Call<'_, '_>) -> Option<Pure> {
    match (name, call.ty) {
        ("testp", _) => test_property(call),
        ("min" | "max", Ty::F32) => extremes(name, call),
        ("neg" | "abs" | "copysign" | "min" | "max", _) => signs(name, call),
        (_, Ty::F32) => match call.take_type() {
            Some(source) => super::half::mixed(name, source, call),
            None => single(name, &mut call),
        },
        (_, Ty::F32x2) => pairs(name, &mut call),
        (_, Ty::F64) => double(name, &mut call),
        _ => None,
    }
}

/// The rounding mode, which all but sums and products must name.
fn mode<'a>(name: &str, call: &mut Call<'_, 'a>) -> Option<&'a str> {
    let by_default = match name {
        "add" | "sub" | "mul" => true,
        "mad" if call.ty == Ty::F32 => call.dialect.rounds_mad,
        "mad" | "div" | "sqrt" => call.ty == Ty::F64 && call.dialect.approximates,
        _ => false,
    };
    call.opcode.take_of(&["rn", "rz", "rm", "rp"]).or(by_default.then_some("rn"))
}

fn single(name: &str, call: &mut Call<'_, '_>) -> Option<Pure> {
    let ty = call.ty;
    let approximates = call.dialect.approximates && matches!(name, "div" | "rcp" | "sqrt");
    if let Some(kind) = call.opcode.take_of(&["approx", "full"]).or(approximates.then_some("approx")) {
        return super::approx::quotient(name, kind, call);
    }
    let (mode, ftz) = (mode(name, call)?, call.flushes());
    /// The operation between flushed sources and a finished result; if both can be inexact below 2^-126, with the same times 2^24.
    macro_rules! nearest {
        (|$($x:ident),*| $f:expr $(, $scaled:expr)?) => {
            by_flag!(ftz, FTZ, compute!(|$($x: f32),*| {
                $(let $x = $x.flush::<FTZ>();)*
                nearest!(finish $f $(, $scaled)?)
            }))
        };
        (finish $f:expr) => { Single::finish::<FTZ>($f) };
        (finish $f:expr, $scaled:expr) => { Single::finish_scaled::<FTZ>($f, if FTZ { $scaled } else { 0.0 }) };
    }
    /// The operation in double precision, rounded to odd, which the next step rounds by the mode.
    macro_rules! directed {
        (|$($x:ident),*| $f:expr) => {
            by_flag!(ftz, FTZ, compute!(|$($x: f32),*| {
                $(let $x = f64::from($x.flush::<FTZ>());)*
                $f
            }))
        };
    }
    macro_rules! signed {
        (|$($x:ident),*| $f:expr) => { by_flag!(mode == "rm", DOWN, directed!(|$($x),*| $f)) };
    }
    let (compute, sources) = match (name, mode) {
        // Sums below 2^-126 are exact.
        ("add", "rn") => (nearest!(|a, b| a + b), 2),
        ("sub", "rn") => (nearest!(|a, b| a - b), 2),
        ("mul", "rn") => (nearest!(|a, b| a * b, (a * SCALE) * b), 2),
        ("fma" | "mad", "rn") => (nearest!(|a, b, c| a.mul_add(b, c), (a * SCALE).mul_add(b, c * SCALE)), 3),
        ("div", "rn") => (nearest!(|a, b| a / b, (a * SCALE) / b), 2),
        ("rcp", "rn") => (nearest!(|a| 1.0 / a, SCALE / a), 1),
        ("sqrt", "rn") => (nearest!(|a| a.sqrt()), 1),
        ("add", _) => (signed!(|a, b| round::odd_sum::<DOWN>(a, b)), 2),
        ("sub", _) => (signed!(|a, b| round::odd_sum::<DOWN>(a, -b)), 2),
        // Exact: 48 bits, and no exponent is too small.
        ("mul", _) => (directed!(|a, b| a * b), 2),
        ("fma" | "mad", _) => (signed!(|a, b, c| round::odd_sum::<DOWN>(a * b, c)), 3),
        ("div", _) => (directed!(|a, b| round::odd_quotient(a, b)), 2),
        ("rcp", _) => (directed!(|a| round::odd_quotient(1.0, a)), 1),
        ("sqrt", _) => (directed!(|a| round::odd_root(a)), 1),
        _ => return None,
    };
    let mut pure = Pure::new(compute, &[ty], &[ty; 3][..sources]);
    if mode != "rn" {
        pure = pure.then(to_single(mode, ftz));
    }
    if matches!(name, "add" | "sub" | "mul" | "fma" | "mad") && call.take("sat") {
        pure = pure.then(saturation(ty)?);
    }
    Some(pure)
}

/// Two numbers of single precision in a register of 64 bits.
fn pairs(name: &str, call: &mut Call<'_, '_>) -> Option<Pure> {
    let ty = call.ty;
    let (mode, ftz) = (mode(name, call)?, call.take("ftz"));
    /// The operation on each half: to the nearest, or in double precision and rounded from there.
    macro_rules! each {
        (|$($x:ident),*| $nearest:expr, $scaled:expr, $odd:expr) => {
            by_flag!(ftz, FTZ, by_mode!(mode, compute!(|$($x: u64),*| {
                let f = |$($x: u32),*| {
                    $(let $x = f32::from_bits($x).flush::<FTZ>();)*
                    let result = if <R as Mode>::NEAREST {
                        $nearest.finish_scaled::<FTZ>(if FTZ { $scaled } else { 0.0 })
                    } else {
                        $(let $x = f64::from($x);)*
                        round::single::<R, FTZ>($odd).canonical()
                    };
                    u64::from(result.to_bits())
                };
                f($($x as u32),*) | f($(($x >> 32) as u32),*) << 32
            })))
        };
    }
    let (compute, sources) = match name {
        // Sums below 2^-126 are exact, and the others are not below it.
        "add" => (each!(|a, b| (a + b), f32::INFINITY, round::odd_sum_signed::<R>(a, b)), 2),
        "sub" => (each!(|a, b| (a - b), f32::INFINITY, round::odd_sum_signed::<R>(a, -b)), 2),
        "mul" => (each!(|a, b| (a * b), (a * SCALE) * b, a * b), 2),
        "fma" => (
            each!(|a, b, c| a.mul_add(b, c), (a * SCALE).mul_add(b, c * SCALE), round::odd_sum_signed::<R>(a * b, c)),
            3,
        ),
        _ => return None,
    };
    Pure::of(compute, ty, &[ty; 3][..sources])
}

/// From what is exact or rounded to odd in double precision.
pub(super) fn to_single(mode: &str, ftz: bool) -> Compute {
    by_flag!(ftz, FTZ, by_mode!(mode, compute!(|a: f64| round::single::<R, FTZ>(a).canonical())))
}

/// `.sat`: clamps to 0 to 1, NaN to +0.0.
pub(super) fn saturation(ty: Ty) -> Option<Compute> {
    Some(match ty {
        Ty::F32 => compute!(|a: f32| a.saturate()),
        Ty::F64 => compute!(|a: f64| {
            let positive = if a > 0.0 { a } else { 0.0 };
            if positive < 1.0 { positive } else { 1.0 }
        }),
        _ => by_half!(ty, |a| a.saturate()),
    })
}

fn double(name: &str, call: &mut Call<'_, '_>) -> Option<Pure> {
    let ty = call.ty;
    if name == "rcp" && call.take("approx") {
        return super::approx::reciprocal_double(call);
    }
    let mode = mode(name, call)?;
    macro_rules! moded {
        (|$($x:ident),*| $f:expr) => { by_mode!(mode, compute!(|$($x: f64),*| $f)) };
    }
    match name {
        "add" => Pure::of(moded!(|a, b| sum_double::<R>(a, b)), ty, &[ty; 2]),
        // A NaN keeps its sign in a difference.
        "sub" => Pure::of(moded!(|a, b| sum_double::<R>(a, if b.is_nan() { b } else { -b })), ty, &[ty; 2]),
        "mul" => Pure::of(moded!(|a, b| product_double::<R>(a, b)), ty, &[ty; 2]),
        "fma" | "mad" => Pure::of(moded!(|a, b, c| fused_double::<R>(a, b, c)), ty, &[ty; 3]),
        "div" => Pure::of(moded!(|a, b| quotient_double::<R>(a, b)), ty, &[ty; 2]),
        "rcp" => Pure::of(moded!(|a| quotient_double::<R>(1.0, a)), ty, &[ty]),
        "sqrt" => Pure::of(moded!(|a| root_double::<R>(a)), ty, &[ty]),
        _ => None,
    }
}

/// `min` and `max` of two numbers of single precision, or of three: of two, and then with the third.
fn extremes(name: &str, mut call: Call<'_, '_>) -> Option<Pure> {
    let ty = call.ty;
    let (ftz, nan, max) = (call.flushes(), call.take("NaN"), name == "max");
    let three = call.operands == 4;
    let sign = !three && call.take("xorsign");
    let magnitude = (sign || three) && call.take("abs");
    macro_rules! choice {
        ($f:ident) => {
            by_flag!(
                max,
                MAX,
                by_flag!(ftz, FTZ, by_flag!(nan, NAN, compute!(|a: f32, b: f32| $f::<MAX, FTZ, NAN>(a, b))))
            )
        };
    }
    let compute = match (sign, magnitude) {
        (true, true) => choice!(extreme_magnitude),
        (true, false) => return None,
        (false, true) => choice!(extreme_of_magnitudes),
        (false, false) => choice!(extreme),
    };
    let pure = Pure::new(compute, &[ty], &[ty; 3][..if three { 3 } else { 2 }]);
    Some(if three { pure.then(compute) } else { pure })
}

/// `neg`, `abs` and `copysign`, and `min` and `max` in double precision.
fn signs(name: &str, mut call: Call<'_, '_>) -> Option<Pure> {
    let ty = call.ty;
    const SIGN: u32 = 1 << 31;
    const SIGN_DOUBLE: u64 = 1 << 63;
    let ftz = ty == Ty::F32 && matches!(name, "neg" | "abs") && call.flushes();
    let compute = match (name, ty) {
        ("neg", Ty::F32) if ftz => compute!(|a: f32| (-a.flush::<true>()).canonical()),
        ("abs", Ty::F32) if ftz => compute!(|a: f32| a.flush::<true>().abs().canonical()),
        ("neg", Ty::F32) => compute!(|a: u32| a ^ SIGN),
        ("abs", Ty::F32) => compute!(|a: u32| a & !SIGN),
        ("neg", Ty::F64) => compute!(|a: u64| a ^ SIGN_DOUBLE),
        ("abs", Ty::F64) => compute!(|a: u64| a & !SIGN_DOUBLE),
        ("copysign", Ty::F32) => compute!(|a: u32, b: u32| a & SIGN | b & !SIGN),
        ("copysign", Ty::F64) => compute!(|a: u64, b: u64| a & SIGN_DOUBLE | b & !SIGN_DOUBLE),
        ("min", Ty::F64) => compute!(|a: f64, b: f64| or_nan(a.least(b), [a, b, b])),
        ("max", Ty::F64) => compute!(|a: f64, b: f64| or_nan(a.greatest(b), [a, b, b])),
        _ => return None,
    };
    Pure::of(compute, ty, &[ty; 2][..if matches!(name, "neg" | "abs") { 1 } else { 2 }])
}

fn test_property(call: Call<'_, '_>) -> Option<Pure> {
    let property = call.opcode.take_of(&["finite", "infinite", "number", "notanumber", "normal", "subnormal"])?;
    macro_rules! properties {
        ($float:ident) => {
            match property {
                "finite" => compute!(|a: $float| a.is_finite()),
                "infinite" => compute!(|a: $float| a.is_infinite()),
                "number" => compute!(|a: $float| !a.is_nan()),
                "notanumber" => compute!(|a: $float| a.is_nan()),
                // Zero counts as normal.
                "normal" => compute!(|a: $float| a.abs() >= $float::MIN_POSITIVE && a.is_finite() || a == 0.0),
                _ => compute!(|a: $float| a.abs() < $float::MIN_POSITIVE && a != 0.0),
            }
        };
    }
    let compute = match call.ty {
        Ty::F32 => properties!(f32),
        Ty::F64 => properties!(f64),
        _ => return None,
    };
    Pure::of(compute, Ty::Pred, &[call.ty])
}
