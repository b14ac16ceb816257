//! Integers of several lanes in a word: `u16x2`, `s16x2`, `u8x4`, `s8x4`.

use super::{Call, Pure, Ty};

/// A word's halves, the low one first.
#[inline(always)]
pub(super) fn halves(a: u32) -> [u16; 2] {
    [a as u16, (a >> 16) as u16]
}

#[inline(always)]
pub(super) fn from_halves([low, high]: [u16; 2]) -> u32 {
    u32::from(low) | u32::from(high) << 16
}

pub(super) fn arithmetic(name: &str, mut call: Call<'_, '_>) -> Option<Pure> {
    let ty = call.ty;
    /// A function of lanes, on words of two or four.
    macro_rules! lanes {
        (2, $lane:ident, |$a:ident, $b:ident| $f:expr) => {
            compute!(|a: u32, b: u32| {
                let f = |a: u16, b: u16| {
                    let ($a, $b) = (a as $lane, b as $lane);
                    $f as u16
                };
                let ([a0, a1], [b0, b1]) = (halves(a), halves(b));
                from_halves([f(a0, b0), f(a1, b1)])
            })
        };
        (4, $lane:ident, |$a:ident, $b:ident| $f:expr) => {
            compute!(|a: u32, b: u32| {
                let f = |a: u8, b: u8| {
                    let ($a, $b) = (a as $lane, b as $lane);
                    $f as u8
                };
                let ([a0, a1, a2, a3], [b0, b1, b2, b3]) = (a.to_le_bytes(), b.to_le_bytes());
                u32::from_le_bytes([f(a0, b0), f(a1, b1), f(a2, b2), f(a3, b3)])
            })
        };
    }
    macro_rules! by_lanes {
        (|$a:ident, $b:ident| $f:expr) => {
            match ty {
                Ty::U16x2 => lanes!(2, u16, |$a, $b| $f),
                Ty::U8x4 => lanes!(4, u8, |$a, $b| $f),
                _ => by_signed_lanes!(|$a, $b| $f),
            }
        };
    }
    macro_rules! by_signed_lanes {
        (|$a:ident, $b:ident| $f:expr) => {
            match ty {
                Ty::S16x2 => lanes!(2, i16, |$a, $b| $f),
                Ty::S8x4 => lanes!(4, i8, |$a, $b| $f),
                _ => return None,
            }
        };
    }
    if name == "neg" {
        let compute = match ty {
            Ty::S8x4 => compute!(|a: u32| u32::from_le_bytes(a.to_le_bytes().map(u8::wrapping_neg))),
            _ => return None,
        };
        return Pure::of(compute, ty, &[ty]);
    }
    let saturate = matches!(name, "add" | "sub") && call.take("sat");
    let relu = matches!((name, ty), ("min" | "max", Ty::S16x2 | Ty::S8x4)) && call.take("relu");
    let compute = match name {
        "add" if saturate => by_lanes!(|a, b| a.saturating_add(b)),
        "sub" if saturate => by_lanes!(|a, b| a.saturating_sub(b)),
        "add" => by_lanes!(|a, b| a.wrapping_add(b)),
        "sub" => by_lanes!(|a, b| a.wrapping_sub(b)),
        "min" if relu => by_signed_lanes!(|a, b| a.min(b).max(0)),
        "max" if relu => by_signed_lanes!(|a, b| a.max(b).max(0)),
        "min" => by_lanes!(|a, b| a.min(b)),
        "max" => by_lanes!(|a, b| a.max(b)),
        _ => return None,
    };
    Pure::of(compute, ty, &[ty, ty])
}
