//! `cvt`.

use vop_ptx::module::Scalar;

use super::float::{Single, by_flag, or_nan, saturation, to_single};
use super::half::{Bf16, F16, Half, HalfExt, by_half, from_pair};
use super::round::{self, by_mode};
use super::{Call, Pure, Ty};
use crate::lanes::Compute;

/// Extends a result of a narrower integer type to a register of `register` bits: by zeros, or by its sign. `None` where the result's
/// column is the register's column.
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

/// `cvt`; rare conversions take several steps.
pub(super) fn convert(mut call: Call<'_, '_>) -> Option<Pure> {
    let to = call.ty;
    if call.take("pack") {
        return pack(call);
    }
    let from = call.take_type()?;
    let steps = match (to.is_integer(), from.is_integer()) {
        // Where every value fits, the instruction has no `.sat`.
        (true, true) if !holds(to, from) && call.take("sat") => clamped(to, from)?,
        (true, true) => vec![by_any_integer!(from, S, by_any_width!(to, D, compute!(|a: S| a as D)))],
        (true, false) => {
            let rounding = call.opcode.take_of(&["rni", "rzi", "rmi", "rpi"])?;
            let ftz = from == Ty::F32 && call.flushes();
            // Every result is clamped, whether it says so or not.
            call.take("sat");
            to_integer(to, from, rounding, ftz)?
        }
        (false, true) => {
            let mode = call.opcode.take_of(&["rn", "rz", "rm", "rp"])?;
            let exact = from.bits() <= 16 && matches!(to, Ty::F32 | Ty::F64) || from.bits() == 32 && to == Ty::F64;
            let mode = if exact { "rn" } else { mode };
            let mut steps = from_integer(to, from, mode)?;
            // An integer is zero or at least 1, so that nothing is flushed.
            if to == Ty::F32 {
                call.take("ftz");
            }
            if call.take("sat") {
                steps.push(saturation(to)?);
            }
            steps
        }
        (false, false) => return floats(to, from, call),
    };
    wide(steps, to, from)
}

/// Whether the first type has every value of the second.
fn holds(to: Ty, from: Ty) -> bool {
    match (to.is_signed(), from.is_signed()) {
        (false, true) => false,
        (true, false) => to.bits() > from.bits(),
        _ => to.bits() >= from.bits(),
    }
}

fn wide(steps: Vec<Compute>, to: Ty, from: Ty) -> Option<Pure> {
    let mut steps = steps.into_iter();
    let first = Pure { wide: true, ..Pure::new(steps.next()?, &[to], &[from]) };
    Some(steps.fold(first, Pure::then))
}

/// `.sat` between integers: from words at once, from all others through the widest type.
fn clamped(to: Ty, from: Ty) -> Option<Vec<Compute>> {
    macro_rules! clamp {
        ($wide:ident, $from:ident) => {
            by_any_integer!(
                to,
                D,
                compute!(|a: $from| {
                    const LOW: $wide = if D::MIN as i128 > $wide::MIN as i128 { D::MIN as $wide } else { $wide::MIN };
                    const HIGH: $wide =
                        if (D::MAX as i128) < $wide::MAX as i128 { D::MAX as $wide } else { $wide::MAX };
                    a.clamp(LOW, HIGH) as D
                })
            )
        };
    }
    Some(match from {
        Ty::S32 => vec![clamp!(i32, i32)],
        Ty::U32 => vec![clamp!(u32, u32)],
        Ty::S64 => vec![clamp!(i64, i64)],
        Ty::U64 => vec![clamp!(u64, u64)],
        _ if from.is_signed() => vec![by_signed!(from, S, compute!(|a: S| a as i32)), clamp!(i32, i32)],
        _ => vec![by_unsigned!(from, S, compute!(|a: S| a as u32)), clamp!(u32, u32)],
    })
}

fn to_integer(to: Ty, from: Ty, rounding: &str, ftz: bool) -> Option<Vec<Compute>> {
    /// NaN becomes zero, or the sign bit alone where one of both has 64 bits. The cast rounds to zero and clamps.
    macro_rules! truncated {
        ($float:ident, $double:literal) => {
            by_any_integer!(
                to,
                D,
                compute!(|a: $float| {
                    const NAN: D = if $double || D::BITS == 64 { (1 as D) << (D::BITS - 1) } else { 0 };
                    if a.is_nan() { NAN } else { a as D }
                })
            )
        };
    }
    let mut steps = Vec::new();
    match from {
        Ty::F16 => steps.push(compute!(|a: F16| a.single())),
        Ty::Bf16 => steps.push(compute!(|a: Bf16| a.single())),
        // In the other modes subnormals become zero anyway.
        Ty::F32 if ftz && matches!(rounding, "rmi" | "rpi") => steps.push(compute!(|a: f32| a.flush::<true>())),
        Ty::F32 | Ty::F64 => {}
        _ => return None,
    }
    if rounding != "rzi" {
        let ty = if from == Ty::F64 { from } else { Ty::F32 };
        steps.push(integral(ty, rounding)?);
    }
    steps.push(if from == Ty::F64 { truncated!(f64, true) } else { truncated!(f32, false) });
    Some(steps)
}

/// To an integral number.
fn integral(ty: Ty, rounding: &str) -> Option<Compute> {
    macro_rules! rounded {
        ($float:ident) => {
            match rounding {
                "rni" => compute!(|a: $float| a.round_ties_even()),
                "rzi" => compute!(|a: $float| a.trunc()),
                "rmi" => compute!(|a: $float| a.floor()),
                _ => compute!(|a: $float| a.ceil()),
            }
        };
    }
    Some(match ty {
        Ty::F32 => rounded!(f32),
        Ty::F64 => rounded!(f64),
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
                // Values of 2^53 and more have 11 bits too many and lose them; the last bit that stays tells whether any was set.
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

fn from_integer(to: Ty, from: Ty, mode: &str) -> Option<Vec<Compute>> {
    // Through double precision, where 64 bits must be rounded to odd.
    macro_rules! odd {
        () => {
            by_any_integer!(from, S, compute!(|a: S| a.odd()))
        };
    }
    Some(match (to, mode) {
        (Ty::F32, "rn") => vec![by_any_integer!(from, S, compute!(|a: S| a as f32))],
        (Ty::F32, _) => vec![odd!(), to_single(mode, false)],
        (Ty::F64, "rn") => vec![by_any_integer!(from, S, compute!(|a: S| a as f64))],
        (Ty::F64, _) => vec![by_mode!(
            mode,
            match from {
                Ty::U64 =>
                    compute!(|a: u64| round::integer_double::<R>(f64::from((a >> 32) as u32), f64::from(a as u32))),
                _ => compute!(|a: i64| round::integer_double::<R>(f64::from((a >> 32) as i32), f64::from(a as u32))),
            }
        )],
        (Ty::F16, _) => vec![odd!(), half_of_double::<F16>(mode)],
        (Ty::Bf16, _) => vec![odd!(), half_of_double::<Bf16>(mode)],
        _ => return None,
    })
}

fn half_of_single<H: Half>(mode: &str) -> Compute {
    by_mode!(mode, compute!(|a: f32| H::rounded::<R>(a)))
}

fn half_of_double<H: Half>(mode: &str) -> Compute {
    by_mode!(mode, compute!(|a: f64| H::rounded::<R>(round::odd_single(a))))
}

/// Between floats. The first of two sources is the higher half.
fn floats(to: Ty, from: Ty, mut call: Call<'_, '_>) -> Option<Pure> {
    if is_small(to) || is_small(from) {
        return super::small::convert(to, from, call);
    }
    match (to, from) {
        (Ty::F16x2, Ty::F32) => return halves_of_singles::<F16>(call),
        (Ty::Bf16x2, Ty::F32) => return halves_of_singles::<Bf16>(call),
        (Ty::Tf32, Ty::F32) => return tensor_single(call),
        _ => {}
    }
    let narrows = matches!(
        (to, from),
        (Ty::F32, Ty::F64) | (Ty::F16 | Ty::Bf16, Ty::F32 | Ty::F64) | (Ty::F16, Ty::Bf16) | (Ty::Bf16, Ty::F16)
    );
    // Between the halves none need be written.
    let both_half = to.is_half() && from.is_half();
    let mode = match if narrows { call.opcode.take_of(&["rn", "rz", "rm", "rp"]) } else { Some("rn") } {
        None if !both_half => return None,
        mode => mode.unwrap_or("rn"),
    };
    let ftz = (to == Ty::F32 || from == Ty::F32) && call.flushes();
    // ptxas's code does not flush, which shows where a rounding mode makes something of a subnormal number.
    let unflushed = ftz && (to, from) == (Ty::F16, Ty::F32) && matches!(mode, "rm" | "rp");
    let mut steps = match (to, from) {
        (Ty::F16, Ty::F32) if unflushed => {
            vec![by_mode!(mode, compute!(|a: f32| F16::rounded::<R>(a.flush::<true>())))]
        }
        (Ty::F16, Ty::F32) => vec![half_of_single::<F16>(mode)],
        (Ty::Bf16, Ty::F32) => vec![half_of_single::<Bf16>(mode)],
        (Ty::F16, Ty::F64) => vec![half_of_double::<F16>(mode)],
        (Ty::Bf16, Ty::F64) => vec![half_of_double::<Bf16>(mode)],
        (Ty::F16, Ty::Bf16) => vec![compute!(|a: Bf16| a.single()), half_of_single::<F16>(mode)],
        (Ty::Bf16, Ty::F16) => vec![compute!(|a: F16| a.single()), half_of_single::<Bf16>(mode)],
        (Ty::F32, Ty::F16) => vec![compute!(|a: F16| a.single().canonical())],
        // The upper half of a word: a NaN keeps its bits.
        (Ty::F32, Ty::Bf16) => vec![compute!(|a: Bf16| a.single())],
        (Ty::F32, Ty::F64) => vec![to_single(mode, ftz)],
        (Ty::F64, Ty::F16) => vec![compute!(|a: F16| a.double())],
        (Ty::F64, Ty::Bf16) => vec![compute!(|a: Bf16| a.double())],
        (Ty::F64, Ty::F32) => vec![compute!(|a: f32| f64::from(a))],
        (Ty::F64, Ty::F64) | (Ty::F32, Ty::F32) => match call.opcode.take_of(&["rni", "rzi", "rmi", "rpi"]) {
            Some(rounding) if to == Ty::F64 => {
                vec![integral(to, rounding)?, compute!(|a: f64| or_nan(a, [a; 3]))]
            }
            Some(rounding) => vec![integral(to, rounding)?, compute!(|a: f32| a.canonical())],
            None if to == Ty::F64 => vec![compute!(|a: f64| or_nan(a, [a; 3]))],
            None => vec![compute!(|a: f32| a.canonical())],
        },
        (Ty::F16, Ty::F16) => {
            let mut steps = vec![compute!(|a: F16| a.single())];
            if let Some(rounding) = call.opcode.take_of(&["rni", "rzi", "rmi", "rpi"]) {
                steps.push(integral(Ty::F32, rounding)?);
            }
            steps.push(half_of_single::<F16>("rn"));
            steps
        }
        (Ty::Bf16, Ty::Bf16) => {
            let mut steps = vec![compute!(|a: Bf16| a.single())];
            if let Some(rounding) = call.opcode.take_of(&["rni", "rzi", "rmi", "rpi"]) {
                steps.push(integral(Ty::F32, rounding)?);
            }
            steps.push(half_of_single::<Bf16>("rn"));
            steps
        }
        _ => return None,
    };
    if ftz && !unflushed {
        let flush = compute!(|a: f32| a.flush::<true>());
        match (to, from) {
            (_, Ty::F32) => steps.insert(0, flush),
            (_, Ty::F64) => {}
            _ => steps.push(flush),
        }
    }
    if to != Ty::Bf16 && from != Ty::Bf16 && call.take("sat") {
        steps.push(saturation(to)?);
    } else if matches!((to, from), (Ty::F16 | Ty::Bf16, Ty::F32)) && matches!(mode, "rn" | "rz") {
        if call.take("satfinite") {
            steps.push(by_half!(to, |a| a.finite()));
        }
        if call.take("relu") {
            steps.push(by_half!(to, |a| a.relu()));
        }
    }
    let pure = wide(steps, to, from)?;
    Some(if unflushed { pure.but_by_ptxas(half_of_single::<F16>(mode)) } else { pure })
}

fn is_small(ty: Ty) -> bool {
    matches!(ty, Ty::E4m3x2 | Ty::E5m2x2 | Ty::E2m3x2 | Ty::E3m2x2 | Ty::E2m1x2 | Ty::Ue8m0x2)
}

fn halves_of_singles<H: Half>(mut call: Call<'_, '_>) -> Option<Pure> {
    let to = call.ty;
    let compute = by_mode!(
        call.opcode.take_of(&["rn", "rz"])?,
        compute!(|a: f32, b: f32| from_pair([H::rounded::<R>(b), H::rounded::<R>(a)]))
    );
    let mut pure = Pure::new(compute, &[to], &[Ty::F32; 2]);
    if call.take("satfinite") {
        pure = pure.then(by_half!(to, |a| a.finite()));
    }
    if call.take("relu") {
        pure = pure.then(by_half!(to, |a| a.relu()));
    }
    Some(pure)
}

/// `.tf32`: single precision with ten bits of fraction; the others are zero.
fn tensor_single(mut call: Call<'_, '_>) -> Option<Pure> {
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
    let pure = Pure::new(compute, &[Ty::Tf32], &[Ty::F32]);
    if mode != "rna" {
        return Some(pure);
    }
    // ptxas's code drops the bits of a NaN as it drops those of a number; what has no others becomes an infinity.
    let by_ptxas = by_flag!(
        finite,
        FINITE,
        compute!(|a: f32| {
            let bits = a.to_bits() & KEPT;
            let largest = FINITE && bits & 0x7f80_0000 == 0x7f80_0000;
            let bits = if largest { bits.wrapping_sub(1 << DROPPED) } else { bits };
            if a.is_nan() { bits } else { tensor::<1, false, FINITE>(a) }
        })
    );
    Some(pure.but_by_ptxas(by_ptxas))
}

/// `cvt.pack.sat`: two words clamped to a type, the second in the lower place; below what a third word has in its low bits.
fn pack(mut call: Call<'_, '_>) -> Option<Pure> {
    /// The bits of a lane, and its limits.
    macro_rules! lanes {
        ($bits:literal, $low:literal, $high:literal) => {{
            const ONES: u32 = (1 << $bits) - 1;
            if $bits == 16 {
                compute!(|a: i32, b: i32| {
                    let lane = |x: i32| x.clamp($low, $high) as u32 & ONES;
                    lane(b) | lane(a) << $bits
                })
            } else {
                compute!(|a: i32, b: i32, c: u32| {
                    let lane = |x: i32| x.clamp($low, $high) as u32 & ONES;
                    lane(b) | lane(a) << $bits | c << ($bits & 15) << ($bits & 15)
                })
            }
        }};
    }
    if !call.take("sat") {
        return None;
    }
    // Types of fewer bits than eight are lanes here and nowhere else.
    let small = call.opcode.take_of(&["u4", "s4", "u2", "s2"]);
    let from = if small.is_some() { call.ty } else { call.take_type()? };
    if from != Ty::S32 {
        return None;
    }
    let compute = match (small, call.ty) {
        (Some("u4"), _) => lanes!(4, 0, 15),
        (Some("s4"), _) => lanes!(4, -8, 7),
        (Some("u2"), _) => lanes!(2, 0, 3),
        (Some(_), _) => lanes!(2, -2, 1),
        (None, Ty::U8) => lanes!(8, 0, 0xff),
        (None, Ty::S8) => lanes!(8, -0x80, 0x7f),
        (None, Ty::U16) => lanes!(16, 0, 0xffff),
        (None, Ty::S16) => lanes!(16, -0x8000, 0x7fff),
        _ => return None,
    };
    if small.is_none() && call.ty.bits() == 16 {
        return Pure::of(compute, Ty::B32, &[from; 2]);
    }
    (call.take_type()? == Ty::B32).then_some(())?;
    Pure::of(compute, Ty::B32, &[from, from, Ty::B32])
}
