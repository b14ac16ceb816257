//! Elements of buffers and arguments as numbers: from text and TOML to bits, and back for people.

use half::f16;
use vop_arrays::Element;
use vop_ptx::module::Scalar;

use crate::engine::launch::Arg;
use crate::types;

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
    pub(super) fn bits(self, ty: Element) -> Option<u64> {
        match (ty, self) {
            (Element::F16, number) => Some(u64::from(f16::from_f64(number.to_f64()).to_bits())),
            (Element::F32, number) => Some(u64::from((number.to_f64() as f32).to_bits())),
            (Element::F64, number) => Some(number.to_f64().to_bits()),
            (_, Number::Integer(value)) => {
                let bits = 8 * ty.size() as u32;
                let above = value >> (bits - u32::from(ty.is_signed()));
                let fits = above == 0 || (ty.is_signed() && above == -1);
                fits.then_some(value as u64 & types::mask(bits))
            }
            (_, Number::Float(_)) => None,
        }
    }
}

/// The type of a kernel's parameter that such an element fits.
pub(super) fn scalar(ty: Element) -> Scalar {
    match ty {
        Element::U8 => Scalar::U8,
        Element::I8 => Scalar::S8,
        Element::U16 => Scalar::U16,
        Element::I16 => Scalar::S16,
        Element::U32 => Scalar::U32,
        Element::I32 => Scalar::S32,
        Element::U64 => Scalar::U64,
        Element::I64 => Scalar::S64,
        Element::F16 => Scalar::F16,
        Element::F32 => Scalar::F32,
        Element::F64 => Scalar::F64,
    }
}

/// The type of elements that fit a kernel's parameter.
pub(super) fn element(ty: Scalar) -> Option<Element> {
    let unsigned = match ty {
        Scalar::B8 => Scalar::U8,
        Scalar::B16 => Scalar::U16,
        Scalar::B32 => Scalar::U32,
        Scalar::B64 => Scalar::U64,
        other => other,
    };
    Element::ALL.into_iter().find(|element| scalar(*element) == unsigned)
}

/// The bits of an element that a text gives: `-5`, `0xff`, `0b101`, `1_000`; `0.5`, `1e-3`, `inf` and `nan` for floats.
pub fn parse(text: &str, ty: Element) -> Option<u64> {
    if let Some(value) = integer(text) {
        return Number::Integer(value).bits(ty);
    }
    match ty {
        // Parsed directly: parsing as a double first would round twice.
        Element::F32 => Some(u64::from(text.parse::<f32>().ok()?.to_bits())),
        Element::F16 | Element::F64 => Number::Float(text.parse().ok()?).bits(ty),
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
    // `from_str_radix` would accept a sign.
    if digits.starts_with(['+', '-']) {
        return None;
    }
    let value = i128::from(u64::from_str_radix(digits, radix).ok()?);
    // As a float, `-0` differs from 0.
    (value != 0 || !negative).then_some(if negative { -value } else { value })
}

/// The bits of an element that a value of a launch file gives. TOML's integers are i64; larger ones are written as strings.
pub(super) fn of_toml(value: &toml::Value, ty: Element) -> Option<u64> {
    match value {
        toml::Value::Integer(value) => Number::Integer((*value).into()).bits(ty),
        toml::Value::Float(value) => Number::Float(*value).bits(ty),
        toml::Value::String(text) => parse(text, ty),
        _ => None,
    }
}

/// The number that an element's bytes hold.
pub(super) fn read(ty: Element, bytes: &[u8]) -> Number {
    let bits = bytes.iter().rev().fold(0, |bits, byte| bits << 8 | u64::from(*byte));
    match ty {
        Element::F16 => Number::Float(f16::from_bits(bits as u16).to_f64()),
        Element::F32 => Number::Float(f32::from_bits(bits as u32).into()),
        Element::F64 => Number::Float(f64::from_bits(bits)),
        _ if ty.is_signed() => {
            let unused = 64 - 8 * ty.size() as u32;
            Number::Integer(i128::from((bits << unused) as i64 >> unused))
        }
        _ => Number::Integer(i128::from(bits)),
    }
}

/// An element in digits that tell it from others of its type.
pub fn show(ty: Element, bytes: &[u8]) -> String {
    match (read(ty, bytes), ty) {
        (Number::Integer(value), _) => value.to_string(),
        (Number::Float(value), Element::F16 | Element::F32) => format!("{:?}", value as f32),
        (Number::Float(value), _) => format!("{value:?}"),
    }
}

/// An argument of one element.
pub(super) fn argument(ty: Element, bits: u64) -> Arg {
    match ty {
        // Compilers declare a half as `.b16` or as a structure of two bytes: bytes fit both.
        Element::F16 => Arg::Bytes(bits.to_le_bytes()[..2].to_vec()),
        _ => Arg::Scalar(scalar(ty), bits),
    }
}

/// The bytes of elements, one after the other.
pub(super) fn bytes(ty: Element, elements: impl IntoIterator<Item = u64>) -> Vec<u8> {
    elements.into_iter().flat_map(|bits| bits.to_le_bytes().into_iter().take(ty.size())).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn texts_become_the_bits_of_their_type_or_nothing() {
        for (text, ty, bits) in [
            ("255", Element::U8, Some(255)),
            ("256", Element::U8, None),
            ("-1", Element::U8, None),
            ("-128", Element::I8, Some(0x80)),
            ("-129", Element::I8, None),
            ("128", Element::I8, None),
            ("0xFFFF_FFFF", Element::U32, Some(0xffff_ffff)),
            ("-0x80000000", Element::I32, Some(0x8000_0000)),
            ("0b101", Element::U16, Some(5)),
            ("010", Element::U32, Some(10)),
            ("18446744073709551615", Element::U64, Some(u64::MAX)),
            ("18446744073709551616", Element::U64, None),
            ("0.5", Element::U32, None),
            ("", Element::U32, None),
            ("0x", Element::U32, None),
            ("+-5", Element::I32, None),
            ("--5", Element::I32, None),
            ("é", Element::I32, None),
            ("0.5", Element::F32, Some(0x3f00_0000)),
            ("3", Element::F32, Some(0x4040_0000)),
            ("-0", Element::F32, Some(0x8000_0000)),
            ("-inf", Element::F32, Some(0xff80_0000)),
            // Just above a tie between singles, and on it as a double.
            ("1.00000005960464477540", Element::F32, Some(0x3f80_0001)),
            ("1e-3", Element::F64, Some(0x3f50_624d_d2f1_a9fc)),
            ("0.1", Element::F16, Some(0x2e66)),
            ("65520", Element::F16, Some(0x7c00)),
            ("x", Element::F64, None),
        ] {
            assert_eq!(parse(text, ty), bits, "{text} as {ty:?}");
        }
    }

    #[test]
    fn what_is_shown_is_what_was_read() {
        for (text, ty) in [
            ("-128", Element::I8),
            ("65535", Element::U16),
            ("-9223372036854775808", Element::I64),
            ("18446744073709551615", Element::U64),
            ("0.099975586", Element::F16),
            ("0.1", Element::F32),
            ("-0.0", Element::F64),
            ("1e-45", Element::F32),
            ("inf", Element::F32),
            ("NaN", Element::F64),
        ] {
            let bits = parse(text, ty).unwrap();
            assert_eq!(show(ty, &bytes(ty, [bits])), text, "{ty:?}");
        }
    }
}
