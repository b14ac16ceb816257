//! `cvt` between pairs of floats of 8, 6 and 4 bits and wider ones.
//!
//! | type | exponent | fraction | largest | NaN |
//! |---|---|---|---|---|
//! | `.e4m3` | 4 bits | 3 bits | 448 | 0x7f |
//! | `.e5m2` | 5 | 2 | 57344 | 0x7f |
//! | `.e2m3` | 2 | 3 | 7.5 | none: becomes the largest number |
//! | `.e3m2` | 3 | 2 | 28 | none |
//! | `.e2m1` | 2 | 1 | 6 | none |
//! | `.ue8m0` | 8, and nothing else: a power of two from 2^-127 | 0 | 2^127 | 0xff |
//!
//! Values are rounded to the nearest. Those that are too large become the largest number, as `.satfinite` says, which must be written. A
//! pair of `.e2m1` is a byte; a pair of any other type has 16 bits.

use super::float::by_flag;
use super::half::{Bf16, F16, Half, from_pair, pair};
use super::{Call, Pure, Ty};
use crate::lanes::Compute;

/// A float of a byte or less.
trait Small: Copy + 'static {
    const EXPONENT: u32;
    const FRACTION: u32;
    /// The bits of the largest number.
    const LARGEST: u8;
    /// The bits that a NaN becomes.
    const NAN: u8;
    const BIAS: i32 = (1 << (Self::EXPONENT - 1)) - 1;

    /// Bits of the sign and what is below it.
    const SIGN: u8 = 1 << (Self::EXPONENT + Self::FRACTION);

    /// To the nearest, ties to even; clamped to the largest.
    fn encode(a: f32) -> u8 {
        // Units of the last place, which below the smallest exponent are all the same.
        let exponent = ((a.to_bits() >> 23 & 0xff) as i32 - 127).max(1 - Self::BIAS);
        let place = exponent - Self::FRACTION as i32;
        let units = (f64::from(a.abs()) * power_of_two(-place)).round_ties_even();
        // The first bit of a normal number counts as one in the exponent, which therefore starts from zero.
        let bits = (units as u32).saturating_add(((exponent + Self::BIAS - 1) as u32) << Self::FRACTION);
        let magnitude = bits.min(u32::from(Self::LARGEST)) as u8;
        match a.is_nan() {
            true => Self::NAN,
            false if a.is_sign_negative() => magnitude | Self::SIGN,
            false => magnitude,
        }
    }

    fn decode(a: u8) -> f32 {
        let magnitude = a & (Self::SIGN - 1);
        let (exponent, fraction) = (magnitude >> Self::FRACTION, magnitude & ((1 << Self::FRACTION) - 1));
        let units = if exponent == 0 { fraction } else { fraction | 1 << Self::FRACTION };
        let place = i32::from(exponent.max(1)) - Self::BIAS - Self::FRACTION as i32;
        let value = (f64::from(units) * power_of_two(place)) as f32;
        let value = match Self::special(magnitude) {
            Some(special) => special,
            None => value,
        };
        if a & Self::SIGN == 0 { value } else { -value }
    }

    /// The infinity or NaN above the largest number.
    fn special(magnitude: u8) -> Option<f32> {
        match magnitude {
            _ if magnitude <= Self::LARGEST => None,
            _ if magnitude == Self::LARGEST + 1 && Self::FRACTION == 2 => Some(f32::INFINITY),
            _ => Some(f32::NAN),
        }
    }
}

fn power_of_two(exponent: i32) -> f64 {
    f64::from_bits(((exponent + 1023) as u64) << 52)
}

macro_rules! small {
    ($($name:ident: $exponent:literal $fraction:literal, $largest:literal $nan:literal;)*) => { $(
        #[derive(Clone, Copy)]
        struct $name;
        impl Small for $name {
            const EXPONENT: u32 = $exponent;
            const FRACTION: u32 = $fraction;
            const LARGEST: u8 = $largest;
            const NAN: u8 = $nan;
        }
    )* };
}
small! {
    E4m3: 4 3, 0x7e 0x7f;
    E5m2: 5 2, 0x7b 0x7f;
    E2m3: 2 3, 0x1f 0x1f;
    E3m2: 3 2, 0x1f 0x1f;
    E2m1: 2 1, 0x07 0x07;
}

/// Turns negative numbers, and the negative zero, to zero where `RELU` is.
fn positive<const RELU: bool>(a: f32) -> f32 {
    if RELU && a.is_sign_negative() && !a.is_nan() { 0.0 } else { a }
}

fn encode<S: Small, const RELU: bool>(a: f32) -> u8 {
    S::encode(positive::<RELU>(a))
}

fn decode<S: Small, H: Half, const RELU: bool>(a: u8) -> H {
    H::nearest(positive::<RELU>(S::decode(a)))
}

pub(super) fn convert(to: Ty, from: Ty, mut call: Call<'_, '_>) -> Option<Pure> {
    if to == Ty::Ue8m0x2 || from == Ty::Ue8m0x2 {
        return power(to, from, call);
    }
    let widens = matches!(to, Ty::F16x2 | Ty::Bf16x2);
    if !call.take("rn") || !widens && !call.take("satfinite") {
        return None;
    }
    let relu = call.take("relu");
    let compute = match if widens { from } else { to } {
        Ty::E4m3x2 => bytes::<E4m3>(to, from, relu),
        Ty::E5m2x2 => bytes::<E5m2>(to, from, relu),
        Ty::E2m3x2 => bytes::<E2m3>(to, from, relu),
        Ty::E3m2x2 => bytes::<E3m2>(to, from, relu),
        _ => nibbles(to, from, relu),
    };
    Pure::of(compute?, to, &[from; 2][..if from == Ty::F32 { 2 } else { 1 }])
}

/// The first of two sources is the higher byte.
fn bytes<S: Small>(to: Ty, from: Ty, relu: bool) -> Option<Compute> {
    Some(match (to, from) {
        (Ty::F16x2, _) => {
            by_flag!(relu, RELU, compute!(|a: u16| { from_pair::<F16>(a.to_le_bytes().map(decode::<S, F16, RELU>)) }))
        }
        (Ty::Bf16x2, _) => {
            by_flag!(relu, RELU, compute!(|a: u16| { from_pair::<Bf16>(a.to_le_bytes().map(decode::<S, Bf16, RELU>)) }))
        }
        (_, Ty::F32) => {
            by_flag!(relu, RELU, compute!(|a: f32, b: f32| { u16::from_le_bytes([b, a].map(encode::<S, RELU>)) }))
        }
        (_, Ty::F16x2) => by_flag!(
            relu,
            RELU,
            compute!(|a: u32| { u16::from_le_bytes(pair::<F16>(a).map(|half| encode::<S, RELU>(half.single()))) })
        ),
        (_, Ty::Bf16x2) => by_flag!(
            relu,
            RELU,
            compute!(|a: u32| { u16::from_le_bytes(pair::<Bf16>(a).map(|half| encode::<S, RELU>(half.single()))) })
        ),
        _ => return None,
    })
}

fn nibbles(to: Ty, from: Ty, relu: bool) -> Option<Compute> {
    Some(match (to, from) {
        (Ty::F16x2, _) => by_flag!(
            relu,
            RELU,
            compute!(|a: u8| { from_pair::<F16>([a & 15, a >> 4].map(decode::<E2m1, F16, RELU>)) })
        ),
        (Ty::Bf16x2, _) => by_flag!(
            relu,
            RELU,
            compute!(|a: u8| { from_pair::<Bf16>([a & 15, a >> 4].map(decode::<E2m1, Bf16, RELU>)) })
        ),
        (_, Ty::F32) => {
            by_flag!(relu, RELU, compute!(|a: f32, b: f32| { encode::<E2m1, RELU>(b) | encode::<E2m1, RELU>(a) << 4 }))
        }
        (_, Ty::F16x2) => by_flag!(
            relu,
            RELU,
            compute!(|a: u32| {
                let [low, high] = pair::<F16>(a).map(|half| encode::<E2m1, RELU>(half.single()));
                low | high << 4
            })
        ),
        (_, Ty::Bf16x2) => by_flag!(
            relu,
            RELU,
            compute!(|a: u32| {
                let [low, high] = pair::<Bf16>(a).map(|half| encode::<E2m1, RELU>(half.single()));
                low | high << 4
            })
        ),
        _ => return None,
    })
}

/// The power of two below a magnitude, or above it, as `.ue8m0` holds it: an exponent and nothing else.
fn exponent<const UP: bool, const FINITE: bool>(a: f32) -> u8 {
    let magnitude = a.to_bits() & 0x7fff_ffff;
    let below = magnitude >> 23;
    // Subnormals are 2^-127 and more from 0x400000 on: zero is 2^-127 too, the smallest there is.
    let above = if below == 0 { magnitude > 0x0040_0000 } else { magnitude & 0x007f_ffff != 0 };
    let exponent = if UP && below < 255 { below + u32::from(above) } else { below };
    match (a.is_nan(), FINITE) {
        (true, _) => 0xff,
        (false, true) => exponent.min(0xfe) as u8,
        (false, false) => exponent as u8,
    }
}

fn power(to: Ty, from: Ty, mut call: Call<'_, '_>) -> Option<Pure> {
    if to == Ty::Bf16x2 {
        call.take("rn").then_some(())?;
        let compute = compute!(|a: u16| from_pair::<Bf16>(a.to_le_bytes().map(|exponent| match exponent {
            0 => Bf16::from_bits(0x0040),
            0xff => Bf16::from_bits(Bf16::NAN),
            _ => Bf16::from_bits(u16::from(exponent) << 7),
        })));
        return Pure::of(compute, to, &[from]);
    }
    let (mode, finite) = (call.opcode.take_of(&["rz", "rp"])?, call.take("satfinite"));
    let compute = by_flag!(
        mode == "rp",
        UP,
        by_flag!(
            finite,
            FINITE,
            match from {
                Ty::F32 => compute!(|a: f32, b: f32| u16::from_le_bytes([b, a].map(exponent::<UP, FINITE>))),
                Ty::Bf16x2 => compute!(|a: u32| {
                    u16::from_le_bytes(pair::<Bf16>(a).map(|half| exponent::<UP, FINITE>(half.single())))
                }),
                _ => return None,
            }
        )
    );
    Pure::of(compute, to, &[from; 2][..if from == Ty::F32 { 2 } else { 1 }])
}
