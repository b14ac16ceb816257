//! The instructions that the manual calls approximate.
//!
//! The results of hardware are not published to the bit. Each function is computed in double precision and rounded to the nearest, so its
//! error is half a unit in the last place, which is within the manual's bounds:
//!
//! | instruction | maximum error by the manual |
//! |---|---|
//! | `div.approx.f32` | 2 ulp, for 2^-126 ≤ abs(b) ≤ 2^126; beyond, see below |
//! | `div.full.f32` | 2 ulp |
//! | `rcp.approx.f32`, `sqrt.approx.f32` | 1 ulp |
//! | `rsqrt.approx.f32` | relative 2^-22.9 |
//! | `sin.approx.f32`, `cos.approx.f32` | absolute 2^-20.5 from -π to π |
//! | `lg2.approx.f32` | absolute 2^-22 near 1, relative 2^-22 elsewhere |
//! | `ex2.approx.f32` | 2 ulp |
//! | `tanh.approx.f32` | relative 2^-11 |
//! | `ex2.approx.f16`, `.bf16` | relative 2^-9.9, 2^-7 |
//! | `tanh.approx.f16`, `.bf16` | absolute 2^-10.987, 2^-8 |
//! | `rcp.approx.ftz.f64`, `rsqrt.approx.ftz.f64` | those of single precision: the low words of the operand count for nothing |
//!
//! `div.approx` gives 0 where 2^126 < abs(b) < 2^128 and `a` is finite, and NaN where `a` is infinite, as the manual says: it
//! multiplies with a reciprocal that is flushed.

use super::float::{SCALE, Single, by_flag};
use super::half::{Half, HalfExt, by_half};
use super::round::{self, Nearest};
use super::{Call, Pure, Ty};

/// `div.approx`, `div.full`, `rcp.approx`, `sqrt.approx` in single precision.
pub(super) fn quotient(name: &str, kind: &str, call: &mut Call<'_, '_>) -> Option<Pure> {
    let (ty, ftz) = (call.ty, call.flushes());
    macro_rules! flushed {
        (|$($x:ident),*| $f:expr, $scaled:expr) => {
            by_flag!(ftz, FTZ, compute!(|$($x: f32),*| {
                $(let $x = $x.flush::<FTZ>();)*
                Single::finish_scaled::<FTZ>($f, if FTZ { $scaled } else { 0.0 })
            }))
        };
    }
    match (name, kind) {
        ("div", "approx") => Pure::of(flushed!(|a, b| divide_approximately(a, b), (a * SCALE) / b), ty, &[ty; 2]),
        ("div", _) => Pure::of(flushed!(|a, b| a / b, (a * SCALE) / b), ty, &[ty; 2]),
        ("rcp", "approx") => Pure::of(flushed!(|a| 1.0 / a, SCALE / a), ty, &[ty]),
        // No root is small.
        ("sqrt", "approx") => Pure::of(flushed!(|a| a.sqrt(), f32::INFINITY), ty, &[ty]),
        _ => None,
    }
}

#[inline(always)]
fn divide_approximately(a: f32, b: f32) -> f32 {
    let huge = b.abs() > f32::from_bits((126 + 127) << 23) && b.is_finite();
    // The reciprocal that is zero, with the sign of b.
    if huge { a * f32::from_bits(b.to_bits() & 0x8000_0000) } else { a / b }
}

/// `rcp.approx.ftz.f64`: of the high word alone, and the low word of the result is zero.
pub(super) fn reciprocal_double(call: &mut Call<'_, '_>) -> Option<Pure> {
    call.take("ftz").then_some(())?;
    Pure::of(compute!(|a: f64| coarse(a, |a| 1.0 / a)), Ty::F64, &[Ty::F64])
}

#[inline(always)]
fn coarse(a: f64, f: impl Fn(f64) -> f64) -> f64 {
    const HIGH: u64 = 0xffff_ffff_0000_0000;
    let flush = |bits: u64| if bits & 0x7ff0_0000_0000_0000 == 0 { bits & 1 << 63 } else { bits };
    let a = f64::from_bits(flush(a.to_bits() & HIGH));
    let result = super::float::or_nan(f(a), [a; 3]).to_bits();
    // To the nearest, where that is finite.
    let rounded = if f64::from_bits(result).is_finite() { result + (1 << 31) } else { result };
    f64::from_bits(flush(rounded & HIGH))
}

pub(super) fn function(name: &str, mut call: Call<'_, '_>) -> Option<Pure> {
    let ty = call.ty;
    if !call.take("approx") && (!call.dialect.approximates || name == "tanh") {
        return None;
    }
    if ty == Ty::F64 {
        let known = name == "rsqrt";
        let ftz = known && call.take("ftz");
        let compute = match (known, ftz) {
            (true, true) => compute!(|a: f64| coarse(a, |a| 1.0 / a.sqrt())),
            (true, false) => compute!(|a: f64| super::float::or_nan(1.0 / a.sqrt(), [a; 3])),
            _ => return None,
        };
        return Pure::of(compute, ty, &[ty]);
    }
    if ty.is_half() {
        // In `.bf16` subnormals are flushed by `ex2`, which must say so.
        let bf16 = matches!(ty, Ty::Bf16 | Ty::Bf16x2);
        let compute = match name {
            "ex2" if bf16 && !call.take("ftz") => return None,
            "ex2" if bf16 => {
                by_half!(ty, |a| H::nearest(exponential(a.flush::<true>().double()) as f32).flush::<true>())
            }
            "ex2" => by_half!(ty, |a| H::nearest(exponential(a.double()) as f32)),
            "tanh" => by_half!(ty, |a| H::nearest(hyperbolic_tangent(a.single()))),
            _ => return None,
        };
        return Pure::of(compute, ty, &[ty]);
    }
    if ty != Ty::F32 {
        return None;
    }
    let ftz = name != "tanh" && call.flushes();
    macro_rules! flushed {
        (|$x:ident| $f:expr) => {
            by_flag!(
                ftz,
                FTZ,
                compute!(|a: f32| {
                    let $x = f64::from(a.flush::<FTZ>());
                    round::single::<Nearest, FTZ>($f).canonical()
                })
            )
        };
    }
    let compute = match name {
        "rsqrt" => by_flag!(ftz, FTZ, compute!(|a: f32| reciprocal_root(a.flush::<FTZ>()).canonical())),
        "sin" => flushed!(|a| sine(a)),
        "cos" => flushed!(|a| cosine(a)),
        "lg2" => flushed!(|a| logarithm(a)),
        "ex2" => flushed!(|a| exponential(a)),
        _ => compute!(|a: f32| hyperbolic_tangent(a).canonical()),
    };
    Pure::of(compute, ty, &[ty])
}

/// `1 / sqrt(a)`, computed in double precision and rounded to the nearest. Roots and quotients of doubles take twice as long as those of
/// singles, so a quotient in single precision is mended: two terms of the series of its error leave less than a double shows. A test
/// compares all mantissas. No result is subnormal.
#[inline(always)]
fn reciprocal_root(a: f32) -> f32 {
    let near = 1.0 / a.sqrt();
    let (wide, y) = (f64::from(a), f64::from(near));
    // Twice the relative error, with the other sign: y * y is exact. No number where the root is zero, infinite or none: then `near` is exact.
    let error = 1.0 - wide * (y * y);
    let mended = (y + y * (error * (0.5 + 0.375 * error))) as f32;
    if error.is_nan() { near } else { mended }
}

// The library's functions are calls, so inlining these into the loops gains nothing.

fn sine(a: f64) -> f64 {
    a.sin()
}

fn cosine(a: f64) -> f64 {
    a.cos()
}

fn logarithm(a: f64) -> f64 {
    a.log2()
}

fn exponential(a: f64) -> f64 {
    a.exp2()
}

fn hyperbolic_tangent(a: f32) -> f32 {
    f64::from(a).tanh() as f32
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reciprocal_roots_are_those_of_doubles() {
        let expected = |a: f32| (1.0 / f64::from(a).sqrt()) as f32;
        // All mantissas, of an even and an odd exponent: other exponents scale both sides.
        for bits in 0x3f00_0000..0x4000_0000u32 {
            let a = f32::from_bits(bits);
            assert_eq!(reciprocal_root(a).to_bits(), expected(a).to_bits(), "of {bits:#x}");
        }
        let others =
            [0.0, -0.0, f32::INFINITY, f32::MAX, f32::MIN_POSITIVE, f32::from_bits(1), f32::from_bits(0x7f_ffff)];
        for a in others {
            assert_eq!(reciprocal_root(a).to_bits(), expected(a).to_bits(), "of {a:?}");
        }
        for a in [-1.0, f32::NEG_INFINITY, f32::NAN, -f32::from_bits(1)] {
            assert!(reciprocal_root(a).is_nan(), "of {a:?}");
        }
    }
}
