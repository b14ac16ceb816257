//! What the executor asks of a fundamental type.

use vop_ptx::module::Scalar;

/// Questions about a [`Scalar`] as an instruction's type.
pub(crate) trait Kind: Copy {
    /// The width in bits; 0 for opaque types, which no instruction here takes.
    fn width(self) -> u32;
    /// The width in memory.
    fn size(self) -> usize;
    fn is_signed(self) -> bool;
    fn is_float(self) -> bool;
    fn is_integer(self) -> bool;
}

impl Kind for Scalar {
    fn width(self) -> u32 {
        self.bits().unwrap_or(0)
    }

    fn size(self) -> usize {
        self.width().div_ceil(8) as usize
    }

    fn is_signed(self) -> bool {
        matches!(self, Scalar::S8 | Scalar::S16 | Scalar::S32 | Scalar::S64)
    }

    fn is_float(self) -> bool {
        matches!(self, Scalar::F32 | Scalar::F64)
    }

    fn is_integer(self) -> bool {
        use Scalar::*;
        matches!(self, U8 | U16 | U32 | U64 | S8 | S16 | S32 | S64 | B8 | B16 | B32 | B64)
    }
}

/// The low `bits` ones.
pub(crate) fn mask(bits: u32) -> u64 {
    if bits >= 64 { u64::MAX } else { (1 << bits) - 1 }
}
