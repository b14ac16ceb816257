//! What kernels compute with: a register's worth of words.
//!
//! A kernel is written once, over [`Vector`]. The registers of SSE2, of AVX2 and AVX-512 and of NEON are vectors (`sse2.rs`,
//! `avx.rs`, `neon.rs`), and so is a single word: a loop over words that computes with `u32` is what the compiler vectorises
//! for any other processor.

use super::constants::Gather;

/// Some words, one of each of as many instructions. Operations are on all of them alike; the number in a name is the
/// width of the lanes that it takes a word for, and arithmetic wraps in those lanes.
///
/// No operation makes a vector out of nothing. The first ones are loaded, which is unsafe (`Register` in `choose.rs`): whoever
/// loads one knows that the processor has the instructions. So a vector is a proof of that, and all operations are safe.
pub(super) trait Vector: Copy {
    /// How many words.
    const WORDS: usize;

    /// The words widened to 64 bits: two vectors of as many bits as this one.
    type Wide: Wide;

    /// Asks for a chunk of memory to be brought to the cache. It need not be there.
    fn prefetch(chunk: *const u32);

    /// A vector of this word everywhere. A vector stands before the dot as the proof that the processor has such registers:
    /// see [`Vector`].
    fn splat(self, word: u32) -> Self;

    fn and(self, other: Self) -> Self;
    fn or(self, other: Self) -> Self;
    fn xor(self, other: Self) -> Self;

    /// Every word from the bytes of a and of b that belong to it.
    fn gather(a: Self, b: Self, gather: &Gather) -> Self;

    fn add32(self, other: Self) -> Self;
    fn sub32(self, other: Self) -> Self;
    fn mul32(self, other: Self) -> Self;
    fn min32(self, other: Self) -> Self;
    fn max32(self, other: Self) -> Self;
    /// The lesser and the greater, unsigned.
    fn minu32(self, other: Self) -> Self;
    fn maxu32(self, other: Self) -> Self;
    /// All bits where the signed value is greater, else none.
    fn gt32(self, other: Self) -> Self;
    /// All bits where they are equal, else none.
    fn eq32(self, other: Self) -> Self;
    /// Shifts by less than 32, which is the same in every plan.
    fn shl32(self, by: u32) -> Self;
    fn shr32(self, by: u32) -> Self;
    fn sra32(self, by: u32) -> Self;
    /// Shifts by less than 32, which the plan says.
    fn shl_all32(self, by: u32) -> Self;
    fn shr_all32(self, by: u32) -> Self;
    /// Shifts each word by the number in the other's word; 32 and more leave nothing.
    fn shlv32(self, by: Self) -> Self;
    fn shrv32(self, by: Self) -> Self;

    fn add16(self, other: Self) -> Self;
    fn sub16(self, other: Self) -> Self;
    fn min16(self, other: Self) -> Self;
    fn max16(self, other: Self) -> Self;
    fn minu16(self, other: Self) -> Self;
    fn maxu16(self, other: Self) -> Self;
    fn adds16(self, other: Self) -> Self;
    fn addsu16(self, other: Self) -> Self;
    fn subs16(self, other: Self) -> Self;
    fn subsu16(self, other: Self) -> Self;
    /// The mean, unsigned, rounded up.
    fn avgu16(self, other: Self) -> Self;
    /// 1 where they are equal, else 0.
    fn eq16(self, other: Self) -> Self;
    /// Shifts by less than 16.
    fn shl16(self, by: u32) -> Self;
    fn shr16(self, by: u32) -> Self;
    fn sra16(self, by: u32) -> Self;
    /// Both signed half-words of each word, summed.
    fn sum_halves(self) -> Self;

    fn add8(self, other: Self) -> Self;
    fn sub8(self, other: Self) -> Self;
    fn min8(self, other: Self) -> Self;
    fn max8(self, other: Self) -> Self;
    fn minu8(self, other: Self) -> Self;
    fn maxu8(self, other: Self) -> Self;
    fn adds8(self, other: Self) -> Self;
    fn addsu8(self, other: Self) -> Self;
    fn subs8(self, other: Self) -> Self;
    fn subsu8(self, other: Self) -> Self;
    fn avgu8(self, other: Self) -> Self;
    fn eq8(self, other: Self) -> Self;
    /// The four unsigned bytes of each word, summed.
    fn sum_bytes(self) -> Self;

    /// Words as unsigned 64-bit values, in two vectors: which are in which is the vector's own affair.
    fn widen(self) -> [Self::Wide; 2];
    /// The products of signed words, and of unsigned ones, in the order of [`widen`](Vector::widen).
    fn mul_signed(self, other: Self) -> [Self::Wide; 2];
    fn mul_unsigned(self, other: Self) -> [Self::Wide; 2];
    /// The lower words of values in that order, and the upper ones.
    fn narrow(wide: [Self::Wide; 2]) -> Self;
    fn narrow_upper(wide: [Self::Wide; 2]) -> Self;
}

/// Values of 64 bits.
pub(super) trait Wide: Copy {
    /// This value everywhere, as [`Vector::splat`] has it.
    fn splat64(self, value: u64) -> Self;
    fn and64(self, other: Self) -> Self;
    fn or64(self, other: Self) -> Self;
    fn xor64(self, other: Self) -> Self;
    fn add64(self, other: Self) -> Self;
    fn sub64(self, other: Self) -> Self;
    fn min64(self, other: Self) -> Self;
    fn max64(self, other: Self) -> Self;
    /// The upper word at most this, unsigned, and the lower one as it is.
    fn limit_upper(self, greatest: u32) -> Self;
    /// Shifts by less than 64, each value by its own number.
    fn shlv64(self, by: Self) -> Self;
    fn shrv64(self, by: Self) -> Self;
    /// Shifts by less than 64.
    fn shl_all64(self, by: u32) -> Self;
    fn shr_all64(self, by: u32) -> Self;
}

const HIGH_HALF: u32 = 0xffff_0000;
const HIGH_BYTE: u32 = 0xff00_0000;

/// An operation on both half-words, each brought to the upper end of a word, where it has the sign and the limits of a
/// word.
#[inline(always)]
fn halves(a: u32, b: u32, f: impl Fn(u32, u32) -> u32) -> u32 {
    f(a << 16, b << 16) >> 16 | f(a & HIGH_HALF, b & HIGH_HALF) & HIGH_HALF
}

/// An operation on all four bytes, each brought to the upper end of a word.
#[inline(always)]
fn bytes(a: u32, b: u32, f: impl Fn(u32, u32) -> u32) -> u32 {
    f(a << 24, b << 24) >> 24
        | (f(a << 16 & HIGH_BYTE, b << 16 & HIGH_BYTE) & HIGH_BYTE) >> 16
        | (f(a << 8 & HIGH_BYTE, b << 8 & HIGH_BYTE) & HIGH_BYTE) >> 8
        | f(a & HIGH_BYTE, b & HIGH_BYTE) & HIGH_BYTE
}

#[inline(always)]
fn min(a: u32, b: u32) -> u32 {
    (a as i32).min(b as i32) as u32
}

#[inline(always)]
fn max(a: u32, b: u32) -> u32 {
    (a as i32).max(b as i32) as u32
}

#[inline(always)]
fn adds(a: u32, b: u32) -> u32 {
    (a as i32).saturating_add(b as i32) as u32
}

#[inline(always)]
fn subs(a: u32, b: u32) -> u32 {
    (a as i32).saturating_sub(b as i32) as u32
}

#[inline(always)]
fn equal(a: u32, b: u32) -> u32 {
    u32::from(a == b).wrapping_neg()
}

impl Vector for u32 {
    const WORDS: usize = 1;
    /// The second of the two is always 0, and nothing is computed with it.
    type Wide = u64;

    /// What the processor does by itself is left to it.
    #[inline(always)]
    fn prefetch(_: *const u32) {}
    #[inline(always)]
    fn splat(self, word: u32) -> u32 {
        word
    }
    #[inline(always)]
    fn and(self, other: u32) -> u32 {
        self & other
    }
    #[inline(always)]
    fn or(self, other: u32) -> u32 {
        self | other
    }
    #[inline(always)]
    fn xor(self, other: u32) -> u32 {
        self ^ other
    }
    #[inline(always)]
    fn gather(a: u32, b: u32, gather: &Gather) -> u32 {
        let of = |byte: usize| {
            let from = a ^ (a ^ b) & gather.from_b[byte];
            (from << gather.left[byte] >> 24) << (8 * byte)
        };
        of(0) | of(1) | of(2) | of(3)
    }
    #[inline(always)]
    fn add32(self, other: u32) -> u32 {
        self.wrapping_add(other)
    }
    #[inline(always)]
    fn sub32(self, other: u32) -> u32 {
        self.wrapping_sub(other)
    }
    #[inline(always)]
    fn mul32(self, other: u32) -> u32 {
        self.wrapping_mul(other)
    }
    #[inline(always)]
    fn min32(self, other: u32) -> u32 {
        min(self, other)
    }
    #[inline(always)]
    fn max32(self, other: u32) -> u32 {
        max(self, other)
    }
    #[inline(always)]
    fn minu32(self, other: u32) -> u32 {
        Ord::min(self, other)
    }
    #[inline(always)]
    fn maxu32(self, other: u32) -> u32 {
        Ord::max(self, other)
    }
    #[inline(always)]
    fn gt32(self, other: u32) -> u32 {
        u32::from(self as i32 > other as i32).wrapping_neg()
    }
    #[inline(always)]
    fn eq32(self, other: u32) -> u32 {
        equal(self, other)
    }
    #[inline(always)]
    fn shl32(self, by: u32) -> u32 {
        self << by
    }
    #[inline(always)]
    fn shr32(self, by: u32) -> u32 {
        self >> by
    }
    #[inline(always)]
    fn sra32(self, by: u32) -> u32 {
        (self as i32 >> by) as u32
    }
    #[inline(always)]
    fn shl_all32(self, by: u32) -> u32 {
        self << by
    }
    #[inline(always)]
    fn shr_all32(self, by: u32) -> u32 {
        self >> by
    }
    #[inline(always)]
    fn shlv32(self, by: u32) -> u32 {
        if by < 32 { self << (by & 31) } else { 0 }
    }
    #[inline(always)]
    fn shrv32(self, by: u32) -> u32 {
        if by < 32 { self >> (by & 31) } else { 0 }
    }

    #[inline(always)]
    fn add16(self, other: u32) -> u32 {
        halves(self, other, u32::wrapping_add)
    }
    #[inline(always)]
    fn sub16(self, other: u32) -> u32 {
        halves(self, other, u32::wrapping_sub)
    }
    #[inline(always)]
    fn min16(self, other: u32) -> u32 {
        halves(self, other, min)
    }
    #[inline(always)]
    fn max16(self, other: u32) -> u32 {
        halves(self, other, max)
    }
    #[inline(always)]
    fn minu16(self, other: u32) -> u32 {
        halves(self, other, u32::min)
    }
    #[inline(always)]
    fn maxu16(self, other: u32) -> u32 {
        halves(self, other, u32::max)
    }
    #[inline(always)]
    fn adds16(self, other: u32) -> u32 {
        halves(self, other, adds)
    }
    #[inline(always)]
    fn addsu16(self, other: u32) -> u32 {
        halves(self, other, u32::saturating_add)
    }
    #[inline(always)]
    fn subs16(self, other: u32) -> u32 {
        halves(self, other, subs)
    }
    #[inline(always)]
    fn subsu16(self, other: u32) -> u32 {
        halves(self, other, u32::saturating_sub)
    }
    #[inline(always)]
    fn avgu16(self, other: u32) -> u32 {
        // a + b = 2 (a | b) - (a ^ b); the bit that would come from the lane above is cleared.
        (self | other) - ((self ^ other) >> 1 & 0x7fff_7fff)
    }
    #[inline(always)]
    fn eq16(self, other: u32) -> u32 {
        halves(self, other, equal) & 0x0001_0001
    }
    #[inline(always)]
    fn shl16(self, by: u32) -> u32 {
        (self << by) & ((0xffff << by & 0xffff) * 0x1_0001)
    }
    #[inline(always)]
    fn shr16(self, by: u32) -> u32 {
        (self >> by) & ((0xffff >> by) * 0x1_0001)
    }
    #[inline(always)]
    fn sra16(self, by: u32) -> u32 {
        (self as i32 >> by) as u32 & HIGH_HALF | ((self << 16) as i32 >> by) as u32 >> 16
    }
    #[inline(always)]
    fn sum_halves(self) -> u32 {
        self.shl32(16).sra32(16).add32(self.sra32(16))
    }

    #[inline(always)]
    fn add8(self, other: u32) -> u32 {
        bytes(self, other, u32::wrapping_add)
    }
    #[inline(always)]
    fn sub8(self, other: u32) -> u32 {
        bytes(self, other, u32::wrapping_sub)
    }
    #[inline(always)]
    fn min8(self, other: u32) -> u32 {
        bytes(self, other, min)
    }
    #[inline(always)]
    fn max8(self, other: u32) -> u32 {
        bytes(self, other, max)
    }
    #[inline(always)]
    fn minu8(self, other: u32) -> u32 {
        bytes(self, other, u32::min)
    }
    #[inline(always)]
    fn maxu8(self, other: u32) -> u32 {
        bytes(self, other, u32::max)
    }
    #[inline(always)]
    fn adds8(self, other: u32) -> u32 {
        bytes(self, other, adds)
    }
    #[inline(always)]
    fn addsu8(self, other: u32) -> u32 {
        bytes(self, other, u32::saturating_add)
    }
    #[inline(always)]
    fn subs8(self, other: u32) -> u32 {
        bytes(self, other, subs)
    }
    #[inline(always)]
    fn subsu8(self, other: u32) -> u32 {
        bytes(self, other, u32::saturating_sub)
    }
    #[inline(always)]
    fn avgu8(self, other: u32) -> u32 {
        (self | other) - ((self ^ other) >> 1 & 0x7f7f_7f7f)
    }
    #[inline(always)]
    fn eq8(self, other: u32) -> u32 {
        bytes(self, other, equal) & 0x0101_0101
    }
    #[inline(always)]
    fn sum_bytes(self) -> u32 {
        let pairs = (self & 0x00ff_00ff) + (self >> 8 & 0x00ff_00ff);
        (pairs & 0xffff) + (pairs >> 16)
    }

    #[inline(always)]
    fn widen(self) -> [u64; 2] {
        [self.into(), 0]
    }
    #[inline(always)]
    fn mul_signed(self, other: u32) -> [u64; 2] {
        [(i64::from(self as i32) * i64::from(other as i32)) as u64, 0]
    }
    #[inline(always)]
    fn mul_unsigned(self, other: u32) -> [u64; 2] {
        [u64::from(self) * u64::from(other), 0]
    }
    #[inline(always)]
    fn narrow(wide: [u64; 2]) -> u32 {
        wide[0] as u32
    }
    #[inline(always)]
    fn narrow_upper(wide: [u64; 2]) -> u32 {
        (wide[0] >> 32) as u32
    }
}

impl Wide for u64 {
    #[inline(always)]
    fn splat64(self, value: u64) -> u64 {
        value
    }
    #[inline(always)]
    fn and64(self, other: u64) -> u64 {
        self & other
    }
    #[inline(always)]
    fn or64(self, other: u64) -> u64 {
        self | other
    }
    #[inline(always)]
    fn xor64(self, other: u64) -> u64 {
        self ^ other
    }
    #[inline(always)]
    fn add64(self, other: u64) -> u64 {
        self.wrapping_add(other)
    }
    #[inline(always)]
    fn sub64(self, other: u64) -> u64 {
        self.wrapping_sub(other)
    }
    #[inline(always)]
    fn min64(self, other: u64) -> u64 {
        (self as i64).min(other as i64) as u64
    }
    #[inline(always)]
    fn max64(self, other: u64) -> u64 {
        (self as i64).max(other as i64) as u64
    }
    #[inline(always)]
    fn limit_upper(self, greatest: u32) -> u64 {
        (self >> 32).min(greatest.into()) << 32 | self & u64::from(u32::MAX)
    }
    #[inline(always)]
    fn shlv64(self, by: u64) -> u64 {
        self << (by & 63)
    }
    #[inline(always)]
    fn shrv64(self, by: u64) -> u64 {
        self >> (by & 63)
    }
    #[inline(always)]
    fn shl_all64(self, by: u32) -> u64 {
        self << by
    }
    #[inline(always)]
    fn shr_all64(self, by: u32) -> u64 {
        self >> by
    }
}
