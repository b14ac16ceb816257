//! Half precision: `.f16`, `.bf16` and pairs of them, computed in single or double precision and rounded
//! once. NaN is `0x7fff` in both.

use super::float::{Order, Single, by_flag};
use super::round::{self, Mode};
use super::{Call, Pure, Ty};
use crate::column::Width;
use crate::lanes::{Compute, Lane};

/// A number of 16 bits.
pub(crate) trait Half: Lane {
    /// The smallest number that is not subnormal.
    const NORMAL: u16;
    /// The largest number.
    const LARGEST: u16;
    /// The bits of a fraction of single precision that one of this precision does not have.
    const DROPPED: u32;
    /// The bits of NaN, and of the infinity below it.
    const NAN: u16 = 0x7fff;

    fn from_bits(bits: u16) -> Self;
    fn bits(self) -> u16;
    fn single(self) -> f32;
    /// Rounds to the nearest; NaN becomes canonical.
    fn nearest(a: f32) -> Self;
}

macro_rules! half {
    ($(#[$doc:meta])* $name:ident) => {
        $(#[$doc])*
        #[derive(Clone, Copy, Debug, PartialEq)]
        pub(crate) struct $name(u16);

        impl Lane for $name {
            type Element = u32;
            const WIDTH: Width = Width::Word;
            #[inline(always)]
            fn read(element: u32) -> $name {
                $name(element as u16)
            }
            #[inline(always)]
            fn write(self) -> u32 {
                u32::from(self.0)
            }
        }
    };
}
half! {
    /// IEEE half precision: 5 bits of exponent, 10 of fraction.
    F16
}
half! {
    /// The upper half of single precision: 8 bits of exponent, 7 of fraction.
    Bf16
}

impl Half for F16 {
    const NORMAL: u16 = 0x0400;
    const LARGEST: u16 = 0x7bff;
    const DROPPED: u32 = 13;

    #[inline(always)]
    fn from_bits(bits: u16) -> F16 {
        F16(bits)
    }

    #[inline(always)]
    fn bits(self) -> u16 {
        self.0
    }

    #[inline(always)]
    fn single(self) -> f32 {
        let magnitude = u32::from(self.0 & 0x7fff);
        // The exponent is then 224 too large; the largest one is that of infinity, which multiplying does not change.
        let normal = f32::from_bits((magnitude << 13) + (0xe0 << 23)) * f32::from_bits(15 << 23);
        // As the fraction of a half, less the half.
        let subnormal = f32::from_bits(magnitude | 0x3f00_0000) - 0.5;
        // The unit of that fraction is 2^-24, as of subnormal halves.
        let value = if magnitude < 0x0400 { subnormal } else { normal };
        f32::from_bits(value.to_bits() | u32::from(self.0 & 0x8000) << 16)
    }

    #[inline(always)]
    fn nearest(a: f32) -> F16 {
        let bits = a.to_bits();
        let (sign, magnitude) = (bits >> 16 & 0x8000, bits & 0x7fff_ffff);
        // Adding a number 2^13 times as large as the value rounds it to the fraction's ten bits; it is 2^-1 at least, whose
        // last bit is 2^-24.
        let exponent = (magnitude & 0x7f80_0000).max(113 << 23);
        let anchor = f32::from_bits(exponent + (13 << 23));
        let rounded = (f32::from_bits(magnitude) + anchor).to_bits().wrapping_sub(anchor.to_bits());
        // `rounded` counts units in the last place; the exponent's place is put on top of it.
        let value = rounded.wrapping_add((exponent >> 13).wrapping_sub(113 << 10));
        let value = if magnitude >= 0x477f_f000 { 0x7c00 } else { value };
        let value = if magnitude > 0x7f80_0000 { 0x7fff } else { value | sign };
        F16(value as u16)
    }
}

impl Half for Bf16 {
    const NORMAL: u16 = 0x0080;
    const LARGEST: u16 = 0x7f7f;
    const DROPPED: u32 = 16;

    #[inline(always)]
    fn from_bits(bits: u16) -> Bf16 {
        Bf16(bits)
    }

    #[inline(always)]
    fn bits(self) -> u16 {
        self.0
    }

    #[inline(always)]
    fn single(self) -> f32 {
        f32::from_bits(u32::from(self.0) << 16)
    }

    #[inline(always)]
    fn nearest(a: f32) -> Bf16 {
        let bits = a.to_bits();
        let rounded = bits.wrapping_add(0x7fff + (bits >> 16 & 1)) >> 16;
        Bf16(if a.is_nan() { 0x7fff } else { rounded as u16 })
    }
}

/// Operations that follow from [`Half`]'s.
pub(super) trait HalfExt: Half {
    /// Rounds by a mode, from what is exact or rounded to odd.
    #[inline(always)]
    fn rounded<R: Mode>(a: f32) -> Self {
        let nearest = Self::nearest(a);
        if R::NEAREST || a.is_nan() {
            return nearest;
        }
        let correction = R::correct(f64::from(nearest.single()), f64::from(a));
        Self::from_bits(correction.step(u32::from(nearest.bits())) as u16)
    }

    #[inline(always)]
    fn double(self) -> f64 {
        f64::from(self.single())
    }

    #[inline(always)]
    fn is_nan(self) -> bool {
        self.single().is_nan()
    }

    #[inline(always)]
    fn flush<const FTZ: bool>(self) -> Self {
        let bits = self.bits();
        if FTZ && bits & 0x7fff < Self::NORMAL { Self::from_bits(bits & 0x8000) } else { self }
    }

    /// Rounds to the nearest, from what is exact or rounded to odd. With `FTZ`, a result below the smallest normal number becomes zero: the
    /// result of as many bits as normal numbers have, and of an exponent without bounds.
    #[inline(always)]
    fn nearest_flushed<const FTZ: bool>(a: f32) -> Self {
        // Less by half a unit in the last place; the tie goes up.
        let bits = Self::from_bits(Self::NORMAL).single().to_bits();
        let least = f32::from_bits(bits - (1 << Self::DROPPED) / 2);
        let sign = (a.to_bits() >> 16) as u16 & 0x8000;
        if FTZ && a.abs() < least { Self::from_bits(sign) } else { Self::nearest(a) }
    }

    /// Negative numbers and -0.0 to +0.0; NaN stays one.
    #[inline(always)]
    fn relu(self) -> Self {
        let negative = self.bits() & 0x8000 != 0 && !self.is_nan();
        Self::from_bits(if negative { 0 } else { self.bits() })
    }

    /// Infinities to the largest numbers.
    #[inline(always)]
    fn finite(self) -> Self {
        let infinite = self.single().is_infinite();
        Self::from_bits(if infinite { self.bits() & 0x8000 | Self::LARGEST } else { self.bits() })
    }

    /// Clamped to 0 to 1, NaN to +0.0.
    #[inline(always)]
    fn saturate(self) -> Self {
        Self::nearest(self.single().saturate())
    }

    /// `a * b + c`, rounded once: the product is exact in double precision.
    #[inline(always)]
    fn fused<const FTZ: bool>(self, b: Self, c: Self) -> Self {
        let sum = round::odd_sum::<false>(self.double() * b.double(), c.double());
        Self::nearest_flushed::<FTZ>(round::odd_single(sum))
    }

    #[inline(always)]
    fn extreme<const MAX: bool, const FTZ: bool, const NAN: bool>(self, b: Self) -> Self {
        let (a, b) = (self.flush::<FTZ>().single(), b.flush::<FTZ>().single());
        let chosen = if MAX { a.greatest(b) } else { a.least(b) };
        Self::nearest(if NAN && (a.is_nan() || b.is_nan()) { f32::NAN } else { chosen })
    }

    #[inline(always)]
    fn extreme_magnitude<const MAX: bool, const FTZ: bool, const NAN: bool>(self, b: Self) -> Self {
        let magnitude = |x: Self| Self::from_bits(x.bits() & 0x7fff);
        let chosen = magnitude(self).extreme::<MAX, FTZ, NAN>(magnitude(b));
        let sign = if chosen.is_nan() { 0 } else { (self.bits() ^ b.bits()) & 0x8000 };
        Self::from_bits(chosen.bits() | sign)
    }
}

impl<T: Half> HalfExt for T {}

/// A word's halves, the low one first.
#[inline(always)]
pub(super) fn pair<H: Half>(a: u32) -> [H; 2] {
    super::packed::halves(a).map(H::from_bits)
}

#[inline(always)]
pub(super) fn from_pair<H: Half>(pair: [H; 2]) -> u32 {
    super::packed::from_halves(pair.map(H::bits))
}

/// A function of numbers of type `H` for a type of half precision: on pairs, for each of both.
macro_rules! by_half {
    ($ty:expr, |$($x:ident),+| $f:expr) => {{
        use $crate::pure::half::{Bf16, F16};
        match $ty {
            Ty::F16 => {
                type H = F16;
                compute!(|$($x: H),+| $f)
            }
            Ty::Bf16 => {
                type H = Bf16;
                compute!(|$($x: H),+| $f)
            }
            Ty::F16x2 => {
                type H = F16;
                by_half!(pairs |$($x),+| $f)
            }
            Ty::Bf16x2 => {
                type H = Bf16;
                by_half!(pairs |$($x),+| $f)
            }
            _ => return None,
        }
    }};
    (pairs |$($x:ident),+| $f:expr) => {
        compute!(|$($x: u32),+| {
            $(let $x = $crate::pure::half::pair::<H>($x);)+
            $crate::pure::half::from_pair([
                { $(let $x = $x[0];)+ $f },
                { $(let $x = $x[1];)+ $f },
            ])
        })
    };
}
pub(super) use by_half;

/// As [`by_half`], with a constant for whether `.ftz` is there, which `.bf16` does not have.
macro_rules! by_half_flushed {
    ($ty:expr, $ftz:expr, $name:ident, |$($x:ident),+| $f:expr) => {
        if $ftz && matches!($ty, Ty::F16 | Ty::F16x2) {
            const $name: bool = true;
            type H = F16;
            match $ty {
                Ty::F16 => compute!(|$($x: H),+| $f),
                _ => by_half!(pairs |$($x),+| $f),
            }
        } else {
            const $name: bool = false;
            by_half!($ty, |$($x),+| $f)
        }
    };
}

pub(super) fn arithmetic(name: &str, mut call: Call<'_, '_>) -> Option<Pure> {
    let ty = call.ty;
    let ieee = matches!(ty, Ty::F16 | Ty::F16x2);
    let rounded = call.take("rn");
    let ftz = ieee && call.take("ftz");
    /// The operation between flushed sources and a flushed result.
    macro_rules! flushed {
        (|$($x:ident),*| $f:expr) => {
            by_half_flushed!(ty, ftz, FTZ, |$($x),*| {
                $(let $x = $x.flush::<FTZ>();)*
                $f
            })
        };
    }
    let (compute, sources) = match (name, rounded) {
        ("add", _) => (flushed!(|a, b| H::nearest_flushed::<FTZ>(a.single() + b.single())), 2),
        ("sub", _) => (flushed!(|a, b| H::nearest_flushed::<FTZ>(a.single() - b.single())), 2),
        ("mul", _) => (flushed!(|a, b| H::nearest_flushed::<FTZ>(a.single() * b.single())), 2),
        ("fma", true) => (flushed!(|a, b, c| a.fused::<FTZ>(b, c)), 3),
        ("neg", false) => (by_half_flushed!(ty, ftz, FTZ, |a| H::from_bits(a.flush::<FTZ>().bits() ^ 0x8000)), 1),
        ("abs", false) => (by_half_flushed!(ty, ftz, FTZ, |a| H::from_bits(a.flush::<FTZ>().bits() & 0x7fff)), 1),
        ("min" | "max", false) => (extremes(name == "max", ftz, &mut call)?, 2),
        _ => return None,
    };
    let mut pure = Pure::new(compute, &[ty], &[ty; 3][..sources]);
    if ieee && matches!(name, "add" | "sub" | "mul" | "fma") && call.take("sat") {
        pure = pure.then(super::float::saturation(ty)?);
    } else if name == "fma" && call.take("relu") {
        pure = pure.then(by_half!(ty, |a| a.relu()));
    }
    Some(pure)
}

fn extremes(max: bool, ftz: bool, call: &mut Call<'_, '_>) -> Option<Compute> {
    let ty = call.ty;
    let nan = call.take("NaN");
    macro_rules! choice {
        ($f:ident) => {
            by_flag!(max, MAX, by_flag!(nan, NAN, by_half_flushed!(ty, ftz, FTZ, |a, b| a.$f::<MAX, FTZ, NAN>(b))))
        };
    }
    Some(match (call.take("xorsign"), call.take("abs")) {
        (true, true) => choice!(extreme_magnitude),
        (false, false) => choice!(extreme),
        _ => return None,
    })
}

/// Sums and products of halves in single precision: `add.f32.f16`, `fma.f32.bf16`.
pub(super) fn mixed(name: &str, source: Ty, mut call: Call<'_, '_>) -> Option<Pure> {
    let ty = call.ty;
    let mode = match (name, call.opcode.take_of(&["rn", "rz", "rm", "rp"])) {
        ("add" | "sub", None) => "rn",
        ("add" | "sub" | "fma", Some(mode)) => mode,
        _ => return None,
    };
    /// In double precision, rounded to odd.
    macro_rules! odd {
        ($half:ident) => {
            by_flag!(
                mode == "rm",
                DOWN,
                match name {
                    "add" => compute!(|a: $half, c: f32| round::odd_sum::<DOWN>(a.double(), f64::from(c))),
                    "sub" => compute!(|a: $half, c: f32| round::odd_sum::<DOWN>(a.double(), -f64::from(c))),
                    _ => compute!(|a: $half, b: $half, c: f32| {
                        round::odd_sum::<DOWN>(a.double() * b.double(), f64::from(c))
                    }),
                }
            )
        };
    }
    let compute = match source {
        Ty::F16 => odd!(F16),
        Ty::Bf16 => odd!(Bf16),
        _ => return None,
    };
    let sources = &[source, source, ty][if name == "fma" { 0 } else { 1 }..];
    let pure = Pure::new(compute, &[ty], sources).then(super::float::to_single(mode, false));
    Some(if call.take("sat") { pure.then(super::float::saturation(ty)?) } else { pure })
}
