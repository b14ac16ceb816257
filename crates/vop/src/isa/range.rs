//! [`Range`]: the values of a type, and how bits are read as one of them.

use super::types::Type;

/// The values that an integer type of 8, 16 or 32 bits has: what an input is read as, and what saturation clamps to.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Range {
    /// Whether it is signed.
    pub signed: bool,
    /// Its width: 8, 16 or 32.
    pub bits: u32,
}

impl Range {
    /// The range of a type.
    pub const fn new(signed: bool, bits: u32) -> Range {
        Range { signed, bits }
    }

    /// The least value.
    pub const fn min(self) -> i64 {
        if self.signed { -(1 << (self.bits - 1)) } else { 0 }
    }

    /// The value that the lower bits of a word stand for.
    pub const fn value_of(self, word: u32) -> i64 {
        extend(word, self.bits, if self.signed { Type::S32 } else { Type::U32 })
    }

    /// The greatest value.
    pub const fn max(self) -> i64 {
        (1 << (self.bits - self.signed as u32)) - 1
    }
}

/// A mask of the lower `bits` bits of a register.
pub(crate) const fn lower(bits: u32) -> u32 {
    u32::MAX >> (32 - bits)
}

/// The value of the lower `bits` bits of a pattern.
#[inline]
pub(crate) const fn extend(pattern: u32, bits: u32, ty: Type) -> i64 {
    // The sign bit counts negative: flipped and subtracted, without a branch on the type.
    let sign = (ty.is_signed() as i64) << (bits - 1);
    ((pattern & lower(bits)) as i64 ^ sign) - sign
}
