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
        "rsqrt" => flushed!(|a| 1.0 / a.sqrt()),
        "sin" => flushed!(|a| sine(a)),
        "cos" => flushed!(|a| cosine(a)),
        "lg2" => flushed!(|a| logarithm(a)),
        "ex2" => flushed!(|a| exponential(a)),
        _ => compute!(|a: f32| hyperbolic_tangent(a).canonical()),
    };
    Pure::of(compute, ty, &[ty])
}

// The library's functions are calls, one for each thread, so inlining these into the loops gains nothing.

fn sine(a: f64) -> f64 {
    a.sin()
}

fn cosine(a: f64) -> f64 {
    a.cos()
}

// `lg2` and `ex2` are in every `expf`, `logf` and `powf` that compilers make. They are polynomials here, without branches and calls, so that
// the loops over threads become SIMD. Their relative error is below 2^-50, and the result is rounded to 24 bits or fewer.

/// The binary logarithm of a number that is no subnormal of double precision.
#[inline(always)]
fn logarithm(a: f64) -> f64 {
    /// 1 / (2k + 1), of the series of atanh.
    const TERMS: [f64; 10] = [
        1.0 / 3.0,
        1.0 / 5.0,
        1.0 / 7.0,
        1.0 / 9.0,
        1.0 / 11.0,
        1.0 / 13.0,
        1.0 / 15.0,
        1.0 / 17.0,
        1.0 / 19.0,
        1.0 / 21.0,
    ];
    // a = m * 2^e, m from sqrt(1/2) to sqrt(2).
    let bits = a.to_bits();
    let above = bits.wrapping_sub(std::f64::consts::FRAC_1_SQRT_2.to_bits());
    let e = (above as i64 >> 52) as i32;
    let m = f64::from_bits(bits.wrapping_sub((above as i64 >> 52 << 52) as u64));
    // ln m = 2 atanh s; s is at most 0.172.
    let s = (m - 1.0) / (m + 1.0);
    let square = s * s;
    let mut sum = TERMS[9];
    let mut k = 9;
    while k > 0 {
        k -= 1;
        sum = sum * square + TERMS[k];
    }
    let ln = 2.0 * s + 2.0 * s * (square * sum);
    let result = f64::from(e) + ln * std::f64::consts::LOG2_E;
    let result = if a == f64::INFINITY { a } else { result };
    let result = if a == 0.0 { f64::NEG_INFINITY } else { result };
    if a >= 0.0 { result } else { f64::NAN }
}

/// Two to the power of a number. What is beyond 2^±1000 is 2^±1000, which no narrower format has.
#[inline(always)]
fn exponential(a: f64) -> f64 {
    /// 1 / k!
    const TERMS: [f64; 14] = [
        1.0,
        1.0,
        1.0 / 2.0,
        1.0 / 6.0,
        1.0 / 24.0,
        1.0 / 120.0,
        1.0 / 720.0,
        1.0 / 5040.0,
        1.0 / 40320.0,
        1.0 / 362_880.0,
        1.0 / 3_628_800.0,
        1.0 / 39_916_800.0,
        1.0 / 479_001_600.0,
        1.0 / 6_227_020_800.0,
    ];
    /// Added to a number of less than 52 bits, it leaves the nearest whole number in the low bits.
    const WHOLE: f64 = 1.5 * (1u64 << 52) as f64;
    let a = if a > 1000.0 { 1000.0 } else { a };
    let a = if a < -1000.0 { -1000.0 } else { a };
    let shifted = a + WHOLE;
    let x = (a - (shifted - WHOLE)) * std::f64::consts::LN_2;
    let mut sum = TERMS[13];
    let mut k = 13;
    while k > 0 {
        k -= 1;
        sum = sum * x + TERMS[k];
    }
    sum * f64::from_bits(shifted.to_bits().wrapping_add(1023) << 52)
}

fn hyperbolic_tangent(a: f32) -> f32 {
    f64::from(a).tanh() as f32
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Numbers of single precision, from all over.
    fn numbers() -> impl Iterator<Item = f64> {
        (0..200_000u32).map(|i| f64::from(f32::from_bits(i.wrapping_mul(0x9e37_79b1))))
    }

    #[test]
    fn polynomials_are_as_good_as_the_library() {
        let close = |is: f64, exact: f64| (is - exact).abs() <= exact.abs() * 2f64.powi(-50);
        let mut finite = 0;
        for a in numbers().filter(|a| !a.is_nan()) {
            let (is, exact) = (logarithm(a), a.log2());
            assert!(is.is_nan() && exact.is_nan() || is == exact || close(is, exact), "lg2 {a:e}: {is:e}, {exact:e}");
            // The powers that single precision has, and what is beyond.
            let b = a % 300.0;
            let (is, exact) = (exponential(b), b.exp2());
            assert!(is.is_nan() && exact.is_nan() || close(is, exact), "ex2 {b:e}: {is:e}, {exact:e}");
            finite += u32::from(exact.is_finite() && b.abs() > 1e-3);
        }
        assert!(finite > 50_000, "{finite}");
        for k in -149..128 {
            let power = 2f64.powi(k);
            assert_eq!((logarithm(power), exponential(f64::from(k))), (f64::from(k), power));
        }
        // Where the logarithm is small, it is as exact.
        for i in 1..1000 {
            for a in [1.0 + f64::from(i) * f64::from(f32::EPSILON), 1.0 - f64::from(i) * f64::from(f32::EPSILON) / 2.0]
            {
                assert!(close(logarithm(a), (a - 1.0).ln_1p() * std::f64::consts::LOG2_E), "lg2 {a:e}");
            }
        }
        assert_eq!([0.0, -0.0, f64::INFINITY].map(logarithm), [f64::NEG_INFINITY, f64::NEG_INFINITY, f64::INFINITY]);
        assert!([-1.0, f64::NEG_INFINITY, f64::NAN].map(logarithm).iter().all(|v| v.is_nan()));
        assert_eq!([f64::INFINITY, f64::NEG_INFINITY].map(|a| exponential(a) as f32), [f32::INFINITY, 0.0]);
        assert!(exponential(f64::NAN).is_nan());
    }
}
