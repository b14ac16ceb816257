//! What `atom`, `red` and `redux` do with two values.

use super::float::{Order, Single, or_nan};
use super::half::{Bf16, F16, Half, HalfExt, from_pair, pair};

/// An operation on two values as bits, zero-extended: the value in memory, and the operand.
pub(crate) type Fold = fn(u64, u64) -> u64;

/// The operation that a name and a type give.
///
/// - Integers: `add min max and or xor exch inc dec`.
/// - Floats: `add min max`. `add.ftz` of `.f32` flushes subnormals, as `atom` and `red` do in global memory; in shared memory, and
///   with halves, they do not.
/// - `redux` has `min` and `max` of `.f32`, which give a number if one operand is a number; `min.NaN` and the like give a NaN, and `min.abs`
///   and `min.abs.NaN` take magnitudes.
pub(crate) fn fold(operation: &str, ty: &str) -> Option<Fold> {
    macro_rules! integers {
        ($int:ident, $unsigned:ident) => {
            match operation {
                "add" => |a, b| u64::from((a as $unsigned).wrapping_add(b as $unsigned)),
                "min" => |a, b| u64::from((a as $int).min(b as $int) as $unsigned),
                "max" => |a, b| u64::from((a as $int).max(b as $int) as $unsigned),
                _ => bits(operation)?,
            }
        };
    }
    macro_rules! singles {
        (|$a:ident, $b:ident| $f:expr) => {
            |a, b| {
                let ($a, $b) = (f32::from_bits(a as u32), f32::from_bits(b as u32));
                let result: f32 = $f;
                u64::from(result.to_bits())
            }
        };
    }
    macro_rules! doubles {
        (|$a:ident, $b:ident| $f:expr) => {
            |a, b| {
                let ($a, $b) = (f64::from_bits(a), f64::from_bits(b));
                or_nan($f, [$a, $b, $b]).to_bits()
            }
        };
    }
    macro_rules! halves {
        ($half:ident) => {
            match operation {
                "add" => |a, b| halves::<$half>(a, b, add),
                "min" => |a, b| halves::<$half>(a, b, |a, b| a.extreme::<false, false, false>(b)),
                "max" => |a, b| halves::<$half>(a, b, |a, b| a.extreme::<true, false, false>(b)),
                _ => return None,
            }
        };
    }
    macro_rules! half {
        ($half:ident) => {
            match operation {
                "add" => |a, b| one::<$half>(a, b, add),
                "min" => |a, b| one::<$half>(a, b, |a, b| a.extreme::<false, false, false>(b)),
                "max" => |a, b| one::<$half>(a, b, |a, b| a.extreme::<true, false, false>(b)),
                _ => return None,
            }
        };
    }
    Some(match (ty, operation) {
        ("u32", "inc") => |a, b| if a >= b { 0 } else { a + 1 },
        ("u32", "dec") => |a, b| if a == 0 || a > b { b } else { a - 1 },
        ("u32", _) => integers!(u32, u32),
        ("s32", _) => integers!(i32, u32),
        ("u64", _) => integers!(u64, u64),
        ("s64", _) => integers!(i64, u64),
        ("b16" | "b32" | "b64", _) => bits(operation)?,
        ("f32", "add") => singles!(|a, b| (a + b).canonical()),
        ("f32", "add.ftz") => singles!(|a, b| (a.flush::<true>() + b.flush::<true>()).finish::<true>()),
        ("f32", "min") => singles!(|a, b| a.least(b).canonical()),
        ("f32", "max") => singles!(|a, b| a.greatest(b).canonical()),
        ("f32", "min.NaN") => singles!(|a, b| or_missing(a, b, a.least(b))),
        ("f32", "max.NaN") => singles!(|a, b| or_missing(a, b, a.greatest(b))),
        ("f32", "min.abs") => singles!(|a, b| a.abs().least(b.abs()).canonical()),
        ("f32", "max.abs") => singles!(|a, b| a.abs().greatest(b.abs()).canonical()),
        ("f32", "min.abs.NaN") => singles!(|a, b| or_missing(a, b, a.abs().least(b.abs()))),
        ("f32", "max.abs.NaN") => singles!(|a, b| or_missing(a, b, a.abs().greatest(b.abs()))),
        ("f64", "add") => doubles!(|a, b| a + b),
        ("f64", "min") => doubles!(|a, b| a.least(b)),
        ("f64", "max") => doubles!(|a, b| a.greatest(b)),
        ("f16", _) => half!(F16),
        ("bf16", _) => half!(Bf16),
        ("f16x2", _) => halves!(F16),
        ("bf16x2", _) => halves!(Bf16),
        _ => return None,
    })
}

/// Operations that do not depend on the type.
fn bits(operation: &str) -> Option<Fold> {
    Some(match operation {
        "and" => |a, b| a & b,
        "or" => |a, b| a | b,
        "xor" => |a, b| a ^ b,
        "exch" => |_, b| b,
        _ => return None,
    })
}

fn or_missing(a: f32, b: f32, result: f32) -> f32 {
    if a.is_nan() || b.is_nan() { f32::NAN.canonical() } else { result.canonical() }
}

fn add<H: Half>(a: H, b: H) -> H {
    H::nearest(a.single() + b.single())
}

fn one<H: Half>(a: u64, b: u64, f: fn(H, H) -> H) -> u64 {
    u64::from(f(H::from_bits(a as u16), H::from_bits(b as u16)).bits())
}

fn halves<H: Half>(a: u64, b: u64, f: fn(H, H) -> H) -> u64 {
    let ([a0, a1], [b0, b1]) = (pair::<H>(a as u32), pair::<H>(b as u32));
    u64::from(from_pair([f(a0, b0), f(a1, b1)]))
}
