//! `cvt` (PTX manual, section 9.7.9).

use super::float::{Single, by_flag};
use super::half::{Bf16, F16, Half, HalfExt, from_pair};
use super::round::{self, Mode, by_mode};
use super::{Call, Pure, Ty};
use crate::module::Scalar;
use crate::run::engine::lanes::Compute;

/// What fills a register of so many bits from a result of an integer type that is narrower, and lives in a column of its own width:
/// zeros or its sign. `None` where the column is the register's already.
pub(crate) fn extend(ty: Scalar, register: u32) -> Option<Compute> {
    Some(match (ty, register) {
        (Scalar::S8, 16) => compute!(|a: i8| i16::from(a)),
        (Scalar::S8, 32) => compute!(|a: i8| i32::from(a)),
        (Scalar::S8, 64) => compute!(|a: i8| i64::from(a)),
        (Scalar::S16, 32) => compute!(|a: i16| i32::from(a)),
        (Scalar::S16, 64) => compute!(|a: i16| i64::from(a)),
        (Scalar::S32, 64) => compute!(|a: i32| i64::from(a)),
        (_, 64) if ty.bits().is_some_and(|bits| bits < 64) => compute!(|a: u32| u64::from(a)),
        _ => return None,
    })
}

/// The low word of a wider register: what a source of 32 bits or less takes of it.
pub(crate) fn low_word() -> Compute {
    compute!(|a: u64| a as u32)
}

/// The expression with `$t` for the Rust integer of any width.
macro_rules! by_any_integer {
    ($ty:expr, $t:ident, $compute:expr) => {
        if $ty.is_signed() { by_signed!($ty, $t, $compute) } else { by_unsigned!($ty, $t, $compute) }
    };
}

/// As [`by_any_integer`], for signed types.
macro_rules! by_signed {
    ($ty:expr, $t:ident, $compute:expr) => {
        match $ty {
            Ty::S8 => {
                type $t = i8;
                $compute
            }
            Ty::S16 => {
                type $t = i16;
                $compute
            }
            Ty::S32 => {
                type $t = i32;
                $compute
            }
            Ty::S64 => {
                type $t = i64;
                $compute
            }
            _ => return None,
        }
    };
}

/// As [`by_any_integer`], for unsigned types.
macro_rules! by_unsigned {
    ($ty:expr, $t:ident, $compute:expr) => {
        match $ty {
            Ty::U8 => {
                type $t = u8;
                $compute
            }
            Ty::U16 => {
                type $t = u16;
                $compute
            }
            Ty::U32 => {
                type $t = u32;
                $compute
            }
            Ty::U64 => {
                type $t = u64;
                $compute
            }
            _ => return None,
        }
    };
}

/// The expression with `$t` for the unsigned integer as wide as the type.
macro_rules! by_any_width {
    ($ty:expr, $t:ident, $compute:expr) => {
        match $ty {
            Ty::U8 | Ty::S8 => {
                type $t = u8;
                $compute
            }
            Ty::U16 | Ty::S16 => {
                type $t = u16;
                $compute
            }
            Ty::U32 | Ty::S32 => {
                type $t = u32;
                $compute
            }
            Ty::U64 | Ty::S64 => {
                type $t = u64;
                $compute
            }
            _ => return None,
        }
    };
}

pub(super) fn convert(mut call: Call<'_, '_>) -> Option<Pure> {
    let to = call.ty;
    if call.take("pack") {
        return pack(call);
    }
    let from = call.take_type()?;
    let compute = match (to.is_integer(), from.is_integer()) {
        (true, true) => integers(to, from, call.take("sat"))?,
        (true, false) => {
            let rounding = call.opcode.take_of(&["rni", "rzi", "rmi", "rpi"])?;
            let ftz = from == Ty::F32 && call.take("ftz");
            // Every result is clamped, whether it says so or not.
            call.take("sat");
            to_integer(to, from, rounding, ftz)?
        }
        (false, true) => {
            let narrow = from.bits() <= 16 && matches!(to, Ty::F32 | Ty::F64) || from.bits() == 32 && to == Ty::F64;
            let mode = call.opcode.take_of(&["rn", "rz", "rm", "rp"]);
            let mode = if narrow { mode.or(Some("rn")) } else { mode }?;
            from_integer(to, from, mode, call.take("sat"))?
        }
        (false, false) => return floats(to, from, call),
    };
    Some(Pure { wide: true, ..Pure::new(compute, &[to], &[from]) })
}

fn integers(to: Ty, from: Ty, sat: bool) -> Option<Compute> {
    Some(match (sat, from.is_signed()) {
        (false, _) => by_any_integer!(from, S, by_any_width!(to, D, compute!(|a: S| a as D))),
        (true, true) => by_signed!(
            from,
            S,
            by_any_integer!(
                to,
                D,
                compute!(|a: S| {
                    const LOW: i64 = if D::MIN == 0 { 0 } else { D::MIN as i64 };
                    const HIGH: i64 = if D::MAX as u64 > i64::MAX as u64 { i64::MAX } else { D::MAX as i64 };
                    i64::from(a).clamp(LOW, HIGH) as D
                })
            )
        ),
        (true, false) => {
            by_unsigned!(from, S, by_any_integer!(to, D, compute!(|a: S| u64::from(a).min(D::MAX as u64) as D)))
        }
    })
}

fn to_integer(to: Ty, from: Ty, rounding: &str, ftz: bool) -> Option<Compute> {
    /// NaN becomes zero, or the sign bit alone where one of both has 64 bits.
    macro_rules! rounded {
        ($float:ident, $double:literal, |$a:ident| $value:expr) => {
            by_any_integer!(
                to,
                D,
                compute!(|$a: $float| {
                    const NAN: D = if $double || D::BITS == 64 { (1 as D) << (D::BITS - 1) } else { 0 };
                    let value = $value;
                    if value.is_nan() { NAN } else { value as D }
                })
            )
        };
    }
    Some(match (from, rounding, ftz) {
        (Ty::F32, "rni", _) => rounded!(f32, false, |a| a.round_ties_even()),
        // The cast rounds to zero.
        (Ty::F32, "rzi", _) => rounded!(f32, false, |a| a),
        (Ty::F32, "rmi", false) => rounded!(f32, false, |a| a.floor()),
        (Ty::F32, "rpi", false) => rounded!(f32, false, |a| a.ceil()),
        // Elsewhere subnormals become zero anyway.
        (Ty::F32, "rmi", true) => rounded!(f32, false, |a| a.flush::<true>().floor()),
        (Ty::F32, _, true) => rounded!(f32, false, |a| a.flush::<true>().ceil()),
        (Ty::F64, "rni", _) => rounded!(f64, true, |a| a.round_ties_even()),
        (Ty::F64, "rzi", _) => rounded!(f64, true, |a| a),
        (Ty::F64, "rmi", _) => rounded!(f64, true, |a| a.floor()),
        (Ty::F64, _, _) => rounded!(f64, true, |a| a.ceil()),
        (Ty::F16, "rni", _) => rounded!(F16, false, |a| a.single().round_ties_even()),
        (Ty::F16, "rzi", _) => rounded!(F16, false, |a| a.single()),
        (Ty::F16, "rmi", _) => rounded!(F16, false, |a| a.single().floor()),
        (Ty::F16, _, _) => rounded!(F16, false, |a| a.single().ceil()),
        (Ty::Bf16, "rni", _) => rounded!(Bf16, false, |a| a.single().round_ties_even()),
        (Ty::Bf16, "rzi", _) => rounded!(Bf16, false, |a| a.single()),
        (Ty::Bf16, "rmi", _) => rounded!(Bf16, false, |a| a.single().floor()),
        (Ty::Bf16, _, _) => rounded!(Bf16, false, |a| a.single().ceil()),
        _ => return None,
    })
}

/// An integer in double precision, rounded to odd.
trait Odd: Copy {
    fn odd(self) -> f64;
}

macro_rules! odd {
    (exact: $($int:ident)*) => { $(
        impl Odd for $int {
            #[inline(always)]
            fn odd(self) -> f64 {
                f64::from(self)
            }
        }
    )* };
    (inexact: $($int:ident)*) => { $(
        impl Odd for $int {
            #[inline(always)]
            fn odd(self) -> f64 {
                // 11 bits too many: those of 2^53 and more lose them, the last that stays tells whether any was set.
                let short = self >> 11 | $int::from(self & 0x7ff != 0);
                let small = self.unsigned() >> 53 == 0;
                if small { self as f64 } else { short as f64 * 2048.0 }
            }
        }
    )* };
}
odd! { exact: u8 i8 u16 i16 u32 i32 }
odd! { inexact: u64 i64 }

/// The magnitude.
trait Magnitude {
    fn unsigned(self) -> u64;
}
impl Magnitude for u64 {
    #[inline(always)]
    fn unsigned(self) -> u64 {
        self
    }
}
impl Magnitude for i64 {
    #[inline(always)]
    fn unsigned(self) -> u64 {
        self.unsigned_abs()
    }
}

/// To double precision, whose neighbours are found in integers.
fn double<R: Mode>(a: i128) -> f64 {
    let nearest = a as f64;
    let back = nearest as i128;
    let (inwards, outwards) = match R::ROUND {
        rustc_apfloat::Round::TowardZero => (back.abs() > a.abs(), false),
        rustc_apfloat::Round::TowardNegative => (back > a && back > 0, back > a && back < 0),
        rustc_apfloat::Round::TowardPositive => (back < a && back < 0, back < a && back > 0),
        _ => (false, false),
    };
    f64::from_bits(nearest.to_bits() + u64::from(outwards) - u64::from(inwards))
}

#[inline(always)]
fn saturate_double(a: f64) -> f64 {
    let positive = if a > 0.0 { a } else { 0.0 };
    if positive < 1.0 { positive } else { 1.0 }
}

fn from_integer(to: Ty, from: Ty, mode: &str, sat: bool) -> Option<Compute> {
    macro_rules! half {
        ($half:ident) => {
            by_mode!(
                mode,
                by_flag!(
                    sat,
                    SAT,
                    by_any_integer!(
                        from,
                        S,
                        compute!(|a: S| { $half::rounded::<R>(round::odd_single(a.odd())).finish::<false, SAT>() })
                    )
                )
            )
        };
    }
    Some(match (to, mode, from.bits()) {
        (Ty::F32, _, 8 | 16) | (Ty::F32, "rn", _) => {
            by_flag!(sat, SAT, by_any_integer!(from, S, compute!(|a: S| (a as f32).finish::<false, SAT>())))
        }
        (Ty::F32, _, _) => by_mode!(
            mode,
            by_flag!(
                sat,
                SAT,
                by_any_integer!(from, S, compute!(|a: S| { round::single::<R>(a.odd()).finish::<false, SAT>() }))
            )
        ),
        (Ty::F64, _, 8 | 16 | 32) | (Ty::F64, "rn", _) => by_flag!(
            sat,
            SAT,
            by_any_integer!(
                from,
                S,
                compute!(|a: S| {
                    let value = a as f64;
                    if SAT { saturate_double(value) } else { value }
                })
            )
        ),
        (Ty::F64, _, _) if !sat => by_mode!(
            mode,
            match from {
                Ty::U64 => compute!(|a: u64| double::<R>(i128::from(a))),
                _ => compute!(|a: i64| double::<R>(i128::from(a))),
            }
        ),
        (Ty::F16, _, _) => half!(F16),
        (Ty::Bf16, _, _) => half!(Bf16),
        _ => return None,
    })
}

/// What a conversion between floats does after rounding.
#[derive(Clone, Copy)]
struct Clamp {
    /// To 0 to 1.
    sat: bool,
    /// Negative numbers to zero.
    relu: bool,
    /// Infinities to the largest numbers.
    finite: bool,
}

/// Between floats. The first of two sources is the higher half.
fn floats(to: Ty, from: Ty, mut call: Call<'_, '_>) -> Option<Pure> {
    if matches!(to, Ty::F16x2 | Ty::Bf16x2) && from == Ty::F32 {
        let mode = call.opcode.take_of(&["rn", "rz"])?;
        let (relu, finite) = (call.take("relu"), call.take("satfinite"));
        let compute = match to {
            Ty::F16x2 => halves_of_singles::<F16>(mode, relu, finite),
            _ => halves_of_singles::<Bf16>(mode, relu, finite),
        };
        return Pure::of(compute, to, &[from; 2]);
    }
    if is_small(to) || is_small(from) {
        return super::small::convert(to, from, call);
    }
    if to == Ty::Tf32 {
        return tensor_single(from, call);
    }
    let integral = if to == from { call.opcode.take_of(&["rni", "rzi", "rmi", "rpi"]) } else { None };
    let narrows = match (to, from) {
        (Ty::F32, Ty::F64) | (Ty::F16 | Ty::Bf16, Ty::F32 | Ty::F64) => true,
        (Ty::F16, Ty::Bf16) | (Ty::Bf16, Ty::F16) => true,
        _ => false,
    };
    let mode = if narrows { call.opcode.take_of(&["rn", "rz", "rm", "rp"])? } else { "rn" };
    let ftz = (to == Ty::F32 || from == Ty::F32) && call.take("ftz");
    let sat = call.take("sat");
    let half_of_single = matches!((to, from), (Ty::F16 | Ty::Bf16, Ty::F32)) && matches!(mode, "rn" | "rz") && !sat;
    let clamp =
        Clamp { sat, relu: half_of_single && call.take("relu"), finite: half_of_single && call.take("satfinite") };
    let compute = match (to, from) {
        (Ty::F16, Ty::F32) => half_of::<F16>(mode, ftz, clamp),
        (Ty::Bf16, Ty::F32) => half_of::<Bf16>(mode, ftz, clamp),
        (Ty::F16, Ty::F64) => half_of_double::<F16>(mode, sat),
        (Ty::Bf16, Ty::F64) => half_of_double::<Bf16>(mode, sat),
        (Ty::F16, Ty::Bf16) => by_mode!(
            mode,
            by_flag!(sat, SAT, compute!(|a: Bf16| { F16::rounded::<R>(a.single()).finish::<false, SAT>() }))
        ),
        (Ty::Bf16, Ty::F16) => by_mode!(
            mode,
            by_flag!(sat, SAT, compute!(|a: F16| { Bf16::rounded::<R>(a.single()).finish::<false, SAT>() }))
        ),
        (Ty::F32, Ty::F16) => by_flag!(sat, SAT, compute!(|a: F16| a.single().finish::<false, SAT>())),
        // The upper half of a word: a NaN keeps its bits.
        (Ty::F32, Ty::Bf16) if !ftz && !sat => compute!(|a: Bf16| a.single()),
        (Ty::F32, Ty::Bf16) => {
            by_flag!(ftz, FTZ, by_flag!(sat, SAT, compute!(|a: Bf16| a.single().finish::<FTZ, SAT>())))
        }
        (Ty::F32, Ty::F64) => by_mode!(
            mode,
            by_flag!(ftz, FTZ, by_flag!(sat, SAT, compute!(|a: f64| { round::single::<R>(a).finish::<FTZ, SAT>() })))
        ),
        (Ty::F64, Ty::F16) => by_flag!(sat, SAT, compute!(|a: F16| doubled::<SAT>(a.single()))),
        (Ty::F64, Ty::Bf16) => by_flag!(sat, SAT, compute!(|a: Bf16| doubled::<SAT>(a.single()))),
        (Ty::F64, Ty::F32) => {
            by_flag!(ftz, FTZ, by_flag!(sat, SAT, compute!(|a: f32| doubled::<SAT>(a.flush::<FTZ>()))))
        }
        (Ty::F64, Ty::F64) => integral_double(integral, sat)?,
        (Ty::F32, Ty::F32) => integral_single(integral, ftz, sat)?,
        (Ty::F16, Ty::F16) => integral_half::<F16>(integral, sat)?,
        (Ty::Bf16, Ty::Bf16) => integral_half::<Bf16>(integral, sat)?,
        _ => return None,
    };
    Some(Pure { wide: true, ..Pure::new(compute, &[to], &[from]) })
}

fn is_small(ty: Ty) -> bool {
    matches!(ty, Ty::E4m3x2 | Ty::E5m2x2 | Ty::E2m3x2 | Ty::E3m2x2 | Ty::E2m1x2 | Ty::Ue8m0x2)
}

#[inline(always)]
fn doubled<const SAT: bool>(a: f32) -> f64 {
    let value = f64::from(a);
    if SAT { saturate_double(value) } else { value }
}

fn half_of<H: Half>(mode: &str, ftz: bool, clamp: Clamp) -> Compute {
    match (clamp.relu, clamp.finite) {
        (false, false) => by_mode!(
            mode,
            by_flag!(
                ftz,
                FTZ,
                by_flag!(
                    clamp.sat,
                    SAT,
                    compute!(|a: f32| { H::rounded::<R>(a.flush::<FTZ>()).finish::<false, SAT>() })
                )
            )
        ),
        (true, false) => by_mode!(mode, compute!(|a: f32| H::rounded::<R>(a).relu())),
        (false, true) => by_mode!(mode, compute!(|a: f32| H::rounded::<R>(a).finite())),
        (true, true) => by_mode!(mode, compute!(|a: f32| H::rounded::<R>(a).finite().relu())),
    }
}

fn half_of_double<H: Half>(mode: &str, sat: bool) -> Compute {
    by_mode!(
        mode,
        by_flag!(sat, SAT, compute!(|a: f64| { H::rounded::<R>(round::odd_single(a)).finish::<false, SAT>() }))
    )
}

fn halves_of_singles<H: Half>(mode: &str, relu: bool, finite: bool) -> Compute {
    by_mode!(
        mode,
        by_flag!(
            relu,
            RELU,
            by_flag!(
                finite,
                FINITE,
                compute!(|a: f32, b: f32| {
                    let f = |x: f32| {
                        let rounded = H::rounded::<R>(x);
                        let rounded = if FINITE { rounded.finite() } else { rounded };
                        if RELU { rounded.relu() } else { rounded }
                    };
                    from_pair([f(b), f(a)])
                })
            )
        )
    )
}

fn integral_single(rounding: Option<&str>, ftz: bool, sat: bool) -> Option<Compute> {
    macro_rules! rounded {
        (|$a:ident| $f:expr) => {
            by_flag!(
                ftz,
                FTZ,
                by_flag!(
                    sat,
                    SAT,
                    compute!(|a: f32| {
                        let $a = a.flush::<FTZ>();
                        $f.finish::<FTZ, SAT>()
                    })
                )
            )
        };
    }
    Some(match rounding {
        None => rounded!(|a| a),
        Some("rni") => rounded!(|a| a.round_ties_even()),
        Some("rzi") => rounded!(|a| a.trunc()),
        Some("rmi") => rounded!(|a| a.floor()),
        Some(_) => rounded!(|a| a.ceil()),
    })
}

fn integral_double(rounding: Option<&str>, sat: bool) -> Option<Compute> {
    macro_rules! rounded {
        (|$a:ident| $f:expr) => {
            by_flag!(
                sat,
                SAT,
                compute!(|$a: f64| {
                    let value = $f;
                    if SAT { saturate_double(value) } else { super::float::or_nan(value, [$a; 3]) }
                })
            )
        };
    }
    Some(match rounding {
        None => rounded!(|a| a),
        Some("rni") => rounded!(|a| a.round_ties_even()),
        Some("rzi") => rounded!(|a| a.trunc()),
        Some("rmi") => rounded!(|a| a.floor()),
        Some(_) => rounded!(|a| a.ceil()),
    })
}

fn integral_half<H: Half>(rounding: Option<&str>, sat: bool) -> Option<Compute> {
    macro_rules! rounded {
        (|$a:ident| $f:expr) => {
            by_flag!(
                sat,
                SAT,
                compute!(|a: H| {
                    let $a = a.single();
                    H::nearest($f).finish::<false, SAT>()
                })
            )
        };
    }
    Some(match rounding {
        None => rounded!(|a| a),
        Some("rni") => rounded!(|a| a.round_ties_even()),
        Some("rzi") => rounded!(|a| a.trunc()),
        Some("rmi") => rounded!(|a| a.floor()),
        Some(_) => rounded!(|a| a.ceil()),
    })
}

/// `.tf32`: single precision with ten bits of fraction; the others are zero.
fn tensor_single(from: Ty, mut call: Call<'_, '_>) -> Option<Pure> {
    const DROPPED: u32 = 13;
    const KEPT: u32 = u32::MAX << DROPPED;
    /// Half of the last place that stays, and less by one where a tie goes to an even number that is below.
    #[inline(always)]
    fn tensor<const MODE: u8, const RELU: bool, const FINITE: bool>(a: f32) -> u32 {
        let bits = a.to_bits();
        let half = 1 << (DROPPED - 1);
        let up = match MODE {
            0 => half - 1 + (bits >> DROPPED & 1),
            1 => half,
            _ => 0,
        };
        let rounded = bits.wrapping_add(up) & KEPT;
        let infinite = rounded & 0x7fff_ffff == 0x7f80_0000;
        let rounded = if FINITE && infinite { rounded & 0x8000_0000 | 0x7f7f_ffff & KEPT } else { rounded };
        let rounded = if RELU && bits >> 31 == 1 { 0 } else { rounded };
        if a.is_nan() { 0x7fff_ffff } else { rounded }
    }
    if from != Ty::F32 {
        return None;
    }
    let mode = call.opcode.take_of(&["rn", "rna", "rz"])?;
    let (relu, finite) = (mode != "rna" && call.take("relu"), call.take("satfinite"));
    let compute = by_flag!(
        relu,
        RELU,
        by_flag!(
            finite,
            FINITE,
            match mode {
                "rn" => compute!(|a: f32| tensor::<0, RELU, FINITE>(a)),
                "rna" => compute!(|a: f32| tensor::<1, RELU, FINITE>(a)),
                _ => compute!(|a: f32| tensor::<2, RELU, FINITE>(a)),
            }
        )
    );
    Pure::of(compute, Ty::Tf32, &[from])
}

/// `cvt.pack.sat`: two words clamped to a type, the second in the lower place; bytes below the lower half of a third word.
fn pack(mut call: Call<'_, '_>) -> Option<Pure> {
    if !call.take("sat") || call.take_type()? != Ty::S32 {
        return None;
    }
    macro_rules! two {
        ($t:ident) => {
            compute!(|a: i32, b: i32| {
                let clamp = |x: i32| x.clamp($t::MIN.into(), $t::MAX.into()) as u16;
                super::packed::from_halves([clamp(b), clamp(a)])
            })
        };
    }
    macro_rules! four {
        (|$x:ident| $clamped:expr) => {
            compute!(|a: i32, b: i32, c: u32| {
                let clamp = |$x: i32| $clamped;
                u32::from(clamp(b)) | u32::from(clamp(a)) << 8 | c << 16
            })
        };
    }
    let compute = match (call.ty, call.take_type()) {
        (Ty::U16, None) => two!(u16),
        (Ty::S16, None) => two!(i16),
        (Ty::U8, Some(Ty::B32)) => four!(|x| x.clamp(0, 0xff) as u8),
        (Ty::S8, Some(Ty::B32)) => four!(|x| x.clamp(-0x80, 0x7f) as u8),
        (Ty::U8, None) | (Ty::S8, None) => return None,
        _ => return None,
    };
    let sources: &[Ty] = if call.ty.bits() == 8 { &[Ty::S32, Ty::S32, Ty::B32] } else { &[Ty::S32; 2] };
    Pure::of(compute, Ty::B32, sources)
}
