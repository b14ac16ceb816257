//! Elements of buffers and arguments as numbers: from text and TOML to bits, and back for people.

use half::f16;
use vop_ptx::module::Scalar;

use crate::engine::launch::Arg;
use crate::types::{self, Kind};

/// A number of any element type, exactly.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Number {
    Integer(i128),
    Float(f64),
}

impl Number {
    /// The nearest double.
    pub(super) fn to_f64(self) -> f64 {
        match self {
            Number::Integer(value) => value as f64,
            Number::Float(value) => value,
        }
    }

    /// The bits of an element, if the number is in the type's range.
    pub(super) fn bits(self, ty: Scalar) -> Option<u64> {
        match (ty, self) {
            (Scalar::F16, number) => Some(u64::from(f16::from_f64(number.to_f64()).to_bits())),
            (Scalar::F32, number) => Some(u64::from((number.to_f64() as f32).to_bits())),
            (Scalar::F64, number) => Some(number.to_f64().to_bits()),
            (_, Number::Integer(value)) if ty.is_integer() => {
                let above = value >> (ty.width() - u32::from(ty.is_signed()));
                let fits = above == 0 || (ty.is_signed() && above == -1);
                fits.then_some(value as u64 & types::mask(ty.width()))
            }
            _ => None,
        }
    }
}

/// The bits of an element that a text gives: `-5`, `0xff`, `0b101`, `1_000`; `0.5`, `1e-3`, `inf` and `nan` for floats.
pub(super) fn parse(text: &str, ty: Scalar) -> Option<u64> {
    if let Some(value) = integer(text) {
        return Number::Integer(value).bits(ty);
    }
    match ty {
        // Not by way of a double, which would round twice.
        Scalar::F32 => Some(u64::from(text.parse::<f32>().ok()?.to_bits())),
        Scalar::F16 | Scalar::F64 => Number::Float(text.parse().ok()?).bits(ty),
        _ => None,
    }
}

fn integer(text: &str) -> Option<i128> {
    let (negative, digits) = text.strip_prefix('-').map_or((false, text), |digits| (true, digits));
    let plain = digits.replace('_', "").to_ascii_lowercase();
    let (digits, radix) = match plain.split_at_checked(2) {
        Some(("0x", digits)) => (digits, 16),
        Some(("0b", digits)) => (digits, 2),
        _ => (plain.as_str(), 10),
    };
    // `from_str_radix` takes a sign.
    if digits.starts_with(['+', '-']) {
        return None;
    }
    let value = i128::from(u64::from_str_radix(digits, radix).ok()?);
    // `-0` is another number than 0 where it is a float.
    (value != 0 || !negative).then_some(if negative { -value } else { value })
}

/// The number that an element's bytes hold.
pub(super) fn read(ty: Scalar, bytes: &[u8]) -> Number {
    let bits = bytes.iter().rev().fold(0, |bits, byte| bits << 8 | u64::from(*byte));
    match ty {
        Scalar::F16 => Number::Float(f16::from_bits(bits as u16).to_f64()),
        Scalar::F32 => Number::Float(f32::from_bits(bits as u32).into()),
        Scalar::F64 => Number::Float(f64::from_bits(bits)),
        _ if ty.is_signed() => {
            let unused = 64 - ty.width();
            Number::Integer(i128::from((bits << unused) as i64 >> unused))
        }
        _ => Number::Integer(i128::from(bits)),
    }
}

/// An element in digits that tell it from others of its type.
pub(super) fn show(ty: Scalar, bytes: &[u8]) -> String {
    match (read(ty, bytes), ty) {
        (Number::Integer(value), _) => value.to_string(),
        (Number::Float(value), Scalar::F16 | Scalar::F32) => format!("{:?}", value as f32),
        (Number::Float(value), _) => format!("{value:?}"),
    }
}

/// An argument of one element.
pub(super) fn argument(ty: Scalar, bits: u64) -> Arg {
    match ty {
        // Compilers declare a half as `.b16` or as a structure of two bytes: bytes fit both.
        Scalar::F16 => Arg::Bytes(bits.to_le_bytes()[..2].to_vec()),
        _ => Arg::Scalar(ty, bits),
    }
}

/// The bytes of elements, one after the other.
pub(super) fn bytes(ty: Scalar, elements: impl IntoIterator<Item = u64>) -> Vec<u8> {
    elements.into_iter().flat_map(|bits| bits.to_le_bytes().into_iter().take(ty.size())).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn texts_become_the_bits_of_their_type_or_nothing() {
        for (text, ty, bits) in [
            ("255", Scalar::U8, Some(255)),
            ("256", Scalar::U8, None),
            ("-1", Scalar::U8, None),
            ("-128", Scalar::S8, Some(0x80)),
            ("-129", Scalar::S8, None),
            ("128", Scalar::S8, None),
            ("0xFFFF_FFFF", Scalar::U32, Some(0xffff_ffff)),
            ("-0x80000000", Scalar::S32, Some(0x8000_0000)),
            ("0b101", Scalar::U16, Some(5)),
            ("010", Scalar::U32, Some(10)),
            ("18446744073709551615", Scalar::U64, Some(u64::MAX)),
            ("18446744073709551616", Scalar::U64, None),
            ("0.5", Scalar::U32, None),
            ("", Scalar::U32, None),
            ("0x", Scalar::U32, None),
            ("+-5", Scalar::S32, None),
            ("--5", Scalar::S32, None),
            ("é", Scalar::S32, None),
            ("0.5", Scalar::F32, Some(0x3f00_0000)),
            ("3", Scalar::F32, Some(0x4040_0000)),
            ("-0", Scalar::F32, Some(0x8000_0000)),
            ("-inf", Scalar::F32, Some(0xff80_0000)),
            // Just above a tie between singles, and on it as a double.
            ("1.00000005960464477540", Scalar::F32, Some(0x3f80_0001)),
            ("1e-3", Scalar::F64, Some(0x3f50_624d_d2f1_a9fc)),
            ("0.1", Scalar::F16, Some(0x2e66)),
            ("65520", Scalar::F16, Some(0x7c00)),
            ("x", Scalar::F64, None),
        ] {
            assert_eq!(parse(text, ty), bits, "{text} as {ty:?}");
        }
    }

    #[test]
    fn what_is_shown_is_what_was_read() {
        for (text, ty) in [
            ("-128", Scalar::S8),
            ("65535", Scalar::U16),
            ("-9223372036854775808", Scalar::S64),
            ("18446744073709551615", Scalar::U64),
            ("0.099975586", Scalar::F16),
            ("0.1", Scalar::F32),
            ("-0.0", Scalar::F64),
            ("1e-45", Scalar::F32),
            ("inf", Scalar::F32),
            ("NaN", Scalar::F64),
        ] {
            let bits = parse(text, ty).unwrap();
            assert_eq!(show(ty, &bytes(ty, [bits])), text, "{ty:?}");
        }
    }
}
