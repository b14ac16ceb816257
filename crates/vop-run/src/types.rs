//! What the executor asks of a fundamental type.

use vop_ptx::module::Scalar;

/// Questions about a [`Scalar`] as an instruction's type, beside its own.
pub(crate) trait Kind: Copy {
    /// The width in bits; 0 for opaque types, which no instruction here takes.
    fn width(self) -> u32;
    /// The width in memory.
    fn size(self) -> usize;
    fn is_float(self) -> bool;
}

impl Kind for Scalar {
    fn width(self) -> u32 {
        self.bits().unwrap_or(0)
    }

    fn size(self) -> usize {
        self.width().div_ceil(8) as usize
    }

    fn is_float(self) -> bool {
        matches!(self, Scalar::F32 | Scalar::F64)
    }
}

/// The low `bits` ones.
pub(crate) fn mask(bits: u32) -> u64 {
    if bits >= 64 { u64::MAX } else { (1 << bits) - 1 }
}
