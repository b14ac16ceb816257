//! Types of elements.

use std::fmt;
use std::str::FromStr;

/// The type of an array's elements.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Element {
    /// Unsigned, 8 bits.
    U8,
    /// Signed, 8 bits.
    I8,
    /// Unsigned, 16 bits.
    U16,
    /// Signed, 16 bits.
    I16,
    /// Unsigned, 32 bits.
    U32,
    /// Signed, 32 bits.
    I32,
    /// Unsigned, 64 bits.
    U64,
    /// Signed, 64 bits.
    I64,
    /// A float of 16 bits (IEEE 754 binary16).
    F16,
    /// A float of 32 bits (binary32).
    F32,
    /// A float of 64 bits (binary64).
    F64,
}

impl Element {
    /// All types.
    pub const ALL: [Element; 11] = {
        use Element::*;
        [U8, I8, U16, I16, U32, I32, U64, I64, F16, F32, F64]
    };

    /// The name: `u8`, `i32`, `f16`.
    pub const fn name(self) -> &'static str {
        match self {
            Element::U8 => "u8",
            Element::I8 => "i8",
            Element::U16 => "u16",
            Element::I16 => "i16",
            Element::U32 => "u32",
            Element::I32 => "i32",
            Element::U64 => "u64",
            Element::I64 => "i64",
            Element::F16 => "f16",
            Element::F32 => "f32",
            Element::F64 => "f64",
        }
    }

    /// All names, for a message: `u8, i8, …, f64`.
    pub fn names() -> String {
        Element::ALL.map(Element::name).join(", ")
    }

    /// The size in bytes: 1, 2, 4 or 8.
    pub const fn size(self) -> usize {
        match self {
            Element::U8 | Element::I8 => 1,
            Element::U16 | Element::I16 | Element::F16 => 2,
            Element::U32 | Element::I32 | Element::F32 => 4,
            Element::U64 | Element::I64 | Element::F64 => 8,
        }
    }

    /// Whether it is a signed integer.
    pub const fn is_signed(self) -> bool {
        matches!(self, Element::I8 | Element::I16 | Element::I32 | Element::I64)
    }

    /// Whether it is a float.
    pub const fn is_float(self) -> bool {
        matches!(self, Element::F16 | Element::F32 | Element::F64)
    }

    /// The integer type of a size in bytes; `None` if there is none of this size.
    pub fn integer(size: usize, signed: bool) -> Option<Element> {
        Element::ALL.into_iter().find(|ty| !ty.is_float() && ty.size() == size && ty.is_signed() == signed)
    }

    /// How many bytes an array of this shape has; `None` if the number does not fit 64 bits.
    pub fn byte_len(self, shape: &[u64]) -> Option<u64> {
        // An axis of length 0 makes it empty, however long the others are.
        if shape.contains(&0) {
            return Some(0);
        }
        shape.iter().try_fold(self.size() as u64, |product, n| product.checked_mul(*n))
    }

    /// Reverses the bytes of each element: from big-endian to little-endian, and back.
    pub fn swap_bytes(self, bytes: &mut [u8]) {
        match self.size() {
            2 => bytes.as_chunks_mut::<2>().0.iter_mut().for_each(|element| element.reverse()),
            4 => bytes.as_chunks_mut::<4>().0.iter_mut().for_each(|element| element.reverse()),
            8 => bytes.as_chunks_mut::<8>().0.iter_mut().for_each(|element| element.reverse()),
            _ => {}
        }
    }
}

impl fmt::Display for Element {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name())
    }
}

impl FromStr for Element {
    type Err = UnknownElement;

    fn from_str(name: &str) -> Result<Element, UnknownElement> {
        let found = Element::ALL.into_iter().find(|element| element.name() == name);
        found.ok_or_else(|| UnknownElement(name.to_owned()))
    }
}

/// A name that no [`Element`] has.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct UnknownElement(String);

impl fmt::Display for UnknownElement {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "`{}` is no element type: the types are {}", self.0, Element::names())
    }
}

impl std::error::Error for UnknownElement {}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_and_sizes_agree() {
        for element in Element::ALL {
            let (kind, bits) = element.name().split_at(1);
            assert_eq!(bits.parse(), Ok(8 * element.size()));
            assert_eq!(kind == "i", element.is_signed(), "{element}");
            assert_eq!(kind == "f", element.is_float(), "{element}");
            assert_eq!(element.name().parse(), Ok(element));
            if !element.is_float() {
                assert_eq!(Element::integer(element.size(), element.is_signed()), Some(element));
            }
            let mut bytes: Vec<u8> = (0..16).collect();
            element.swap_bytes(&mut bytes);
            let expected: Vec<u8> = (0..16).map(|i| i ^ (element.size() as u8 - 1)).collect();
            assert_eq!(bytes, expected, "{element}");
        }
        assert!("U8".parse::<Element>().is_err());
        assert_eq!(Element::integer(3, false), None);
    }

    #[test]
    fn sizes_do_not_overflow() {
        assert_eq!(Element::U16.byte_len(&[]), Some(2));
        assert_eq!(Element::F64.byte_len(&[3, 5]), Some(120));
        assert_eq!(Element::U8.byte_len(&[1 << 32, 1 << 32]), None);
        assert_eq!(Element::U8.byte_len(&[1 << 32, 1 << 32, 0]), Some(0));
    }
}
