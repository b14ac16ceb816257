//! Registers of SSE2, which every x86-64 processor has, as vectors.
//!
//! SSE2 chooses no bytes, shifts all lanes alike and compares signed words and unsigned bytes alone: what it lacks is made of
//! what it has.

#![allow(unsafe_code, reason = "intrinsics; every x86-64 processor has them")]

use core::arch::x86_64::*;

use super::choose::Register;
use super::constants::Gather;
use super::vector::{Vector, Wide};

#[inline(always)]
fn count(by: u32) -> __m128i {
    // SAFETY: every x86-64 processor has SSE2.
    unsafe { _mm_cvtsi32_si128(by as i32) }
}

/// a where the mask has bits, else b.
#[inline(always)]
fn select(mask: __m128i, a: __m128i, b: __m128i) -> __m128i {
    // SAFETY: every x86-64 processor has SSE2.
    unsafe { _mm_or_si128(_mm_and_si128(mask, a), _mm_andnot_si128(mask, b)) }
}

/// All bits where a is greater as an unsigned word: with their signs flipped unsigned words compare as signed ones.
#[inline(always)]
fn above32(a: __m128i, b: __m128i) -> __m128i {
    // SAFETY: every x86-64 processor has SSE2.
    unsafe {
        let sign = _mm_set1_epi32(i32::MIN);
        _mm_cmpgt_epi32(_mm_xor_si128(a, sign), _mm_xor_si128(b, sign))
    }
}

/// All bits where the signed 64-bit value of a is greater.
#[inline(always)]
fn greater64(a: __m128i, b: __m128i) -> __m128i {
    // SAFETY: every x86-64 processor has SSE2.
    unsafe {
        // Where the upper words are the same, that of b - a is the borrow of the lower ones.
        let borrow = _mm_and_si128(_mm_cmpeq_epi32(a, b), _mm_sub_epi64(b, a));
        let upper = _mm_or_si128(_mm_cmpgt_epi32(a, b), borrow);
        _mm_shuffle_epi32::<0b11_11_01_01>(upper)
    }
}

/// Two to the power of each word, from 0 to 31, as the exponent of a float.
#[inline(always)]
fn power_of_two(exponent: __m128i) -> __m128i {
    // SAFETY: every x86-64 processor has SSE2.
    unsafe {
        let float = _mm_add_epi32(_mm_slli_epi32::<23>(exponent), _mm_set1_epi32(127 << 23));
        // 2^31 is no signed word, and what is given for that has its bits.
        _mm_cvttps_epi32(_mm_castsi128_ps(float))
    }
}

/// All bits where a shift leaves something: by less than 32.
#[inline(always)]
fn leaves(by: __m128i) -> __m128i {
    // SAFETY: every x86-64 processor has SSE2.
    unsafe { _mm_cmpeq_epi32(_mm_srli_epi32::<5>(by), _mm_setzero_si128()) }
}

/// The register with the sign of each byte flipped.
#[inline(always)]
fn biased8(a: __m128i) -> __m128i {
    // SAFETY: every x86-64 processor has SSE2.
    unsafe { _mm_xor_si128(a, _mm_set1_epi8(i8::MIN)) }
}

macro_rules! one_each {
    ($($name:ident = $intrinsic:ident;)*) => {
        $(#[inline(always)]
        fn $name(self, other: __m128i) -> __m128i {
            // SAFETY: every x86-64 processor has SSE2.
            unsafe { $intrinsic(self, other) }
        })*
    };
}

macro_rules! shift_each {
    ($($name:ident = $intrinsic:ident;)*) => {
        $(#[inline(always)]
        fn $name(self, by: u32) -> __m128i {
            // SAFETY: every x86-64 processor has SSE2.
            unsafe { $intrinsic(self, count(by)) }
        })*
    };
}

impl Register for __m128i {
    #[inline(always)]
    unsafe fn load(words: *const u32) -> __m128i {
        // SAFETY: the caller has the words there.
        unsafe { _mm_loadu_si128(words.cast()) }
    }

    #[inline(always)]
    unsafe fn store(self, words: *mut u32) {
        // SAFETY: the caller has place for the words.
        unsafe { _mm_storeu_si128(words.cast(), self) }
    }
}

impl Vector for __m128i {
    const WORDS: usize = 4;
    type Wide = __m128i;

    #[inline(always)]
    fn prefetch(chunk: *const u32) {
        // SAFETY: a prefetch reads nothing, so the place need not be there.
        unsafe {
            _mm_prefetch::<_MM_HINT_T0>(chunk.cast());
            _mm_prefetch::<_MM_HINT_T0>(chunk.wrapping_add(16).cast());
        }
    }

    #[inline(always)]
    fn splat(self, word: u32) -> __m128i {
        // SAFETY: every x86-64 processor has SSE2.
        unsafe { _mm_set1_epi32(word as i32) }
    }

    #[inline(always)]
    fn gather(a: __m128i, b: __m128i, gather: &Gather) -> __m128i {
        // SAFETY: every x86-64 processor has SSE2.
        unsafe {
            let both = _mm_xor_si128(a, b);
            let [from_b, left] = [&gather.from_b, &gather.left];
            macro_rules! byte {
                ($i:literal) => {{
                    let from = _mm_xor_si128(a, _mm_and_si128(both, a.splat(from_b[$i])));
                    _mm_srli_epi32::<24>(_mm_sll_epi32(from, count(left[$i])))
                }};
            }
            let lower = _mm_or_si128(byte!(0), _mm_slli_epi32::<8>(byte!(1)));
            let upper = _mm_or_si128(byte!(2), _mm_slli_epi32::<8>(byte!(3)));
            _mm_or_si128(lower, _mm_slli_epi32::<16>(upper))
        }
    }

    one_each! {
        and = _mm_and_si128; or = _mm_or_si128; xor = _mm_xor_si128;
        add32 = _mm_add_epi32; sub32 = _mm_sub_epi32; gt32 = _mm_cmpgt_epi32; eq32 = _mm_cmpeq_epi32;
        add16 = _mm_add_epi16; sub16 = _mm_sub_epi16; min16 = _mm_min_epi16; max16 = _mm_max_epi16;
        adds16 = _mm_adds_epi16; addsu16 = _mm_adds_epu16; subs16 = _mm_subs_epi16; subsu16 = _mm_subs_epu16;
        avgu16 = _mm_avg_epu16;
        add8 = _mm_add_epi8; sub8 = _mm_sub_epi8; minu8 = _mm_min_epu8; maxu8 = _mm_max_epu8;
        adds8 = _mm_adds_epi8; addsu8 = _mm_adds_epu8; subs8 = _mm_subs_epi8; subsu8 = _mm_subs_epu8;
        avgu8 = _mm_avg_epu8;
    }

    shift_each! {
        shl32 = _mm_sll_epi32; shr32 = _mm_srl_epi32; sra32 = _mm_sra_epi32;
        shl_all32 = _mm_sll_epi32; shr_all32 = _mm_srl_epi32;
        shl16 = _mm_sll_epi16; shr16 = _mm_srl_epi16; sra16 = _mm_sra_epi16;
    }

    #[inline(always)]
    fn mul32(self, other: __m128i) -> __m128i {
        Self::narrow(self.mul_unsigned(other))
    }
    #[inline(always)]
    fn min32(self, other: __m128i) -> __m128i {
        // SAFETY: every x86-64 processor has SSE2.
        unsafe { select(_mm_cmpgt_epi32(self, other), other, self) }
    }
    #[inline(always)]
    fn max32(self, other: __m128i) -> __m128i {
        // SAFETY: every x86-64 processor has SSE2.
        unsafe { select(_mm_cmpgt_epi32(self, other), self, other) }
    }
    #[inline(always)]
    fn minu32(self, other: __m128i) -> __m128i {
        select(above32(self, other), other, self)
    }
    #[inline(always)]
    fn maxu32(self, other: __m128i) -> __m128i {
        select(above32(self, other), self, other)
    }
    #[inline(always)]
    fn shlv32(self, by: __m128i) -> __m128i {
        // SAFETY: every x86-64 processor has SSE2.
        unsafe { _mm_and_si128(self.mul32(power_of_two(by)), leaves(by)) }
    }
    #[inline(always)]
    fn shrv32(self, by: __m128i) -> __m128i {
        // SAFETY: every x86-64 processor has SSE2.
        unsafe {
            // Left by what is left of 31, then right by 31.
            let [even, odd] = self.mul_unsigned(power_of_two(_mm_sub_epi32(_mm_set1_epi32(31), by)));
            _mm_and_si128(Self::narrow([_mm_srli_epi64::<31>(even), _mm_srli_epi64::<31>(odd)]), leaves(by))
        }
    }

    #[inline(always)]
    fn minu16(self, other: __m128i) -> __m128i {
        // SAFETY: every x86-64 processor has SSE2.
        unsafe { _mm_sub_epi16(self, _mm_subs_epu16(self, other)) }
    }
    #[inline(always)]
    fn maxu16(self, other: __m128i) -> __m128i {
        // SAFETY: every x86-64 processor has SSE2.
        unsafe { _mm_add_epi16(other, _mm_subs_epu16(self, other)) }
    }
    #[inline(always)]
    fn eq16(self, other: __m128i) -> __m128i {
        // SAFETY: every x86-64 processor has SSE2.
        unsafe { _mm_and_si128(_mm_cmpeq_epi16(self, other), _mm_set1_epi16(1)) }
    }
    #[inline(always)]
    fn sum_halves(self) -> __m128i {
        // SAFETY: every x86-64 processor has SSE2.
        unsafe { _mm_madd_epi16(self, _mm_set1_epi16(1)) }
    }

    #[inline(always)]
    fn min8(self, other: __m128i) -> __m128i {
        // SAFETY: every x86-64 processor has SSE2.
        unsafe { biased8(_mm_min_epu8(biased8(self), biased8(other))) }
    }
    #[inline(always)]
    fn max8(self, other: __m128i) -> __m128i {
        // SAFETY: every x86-64 processor has SSE2.
        unsafe { biased8(_mm_max_epu8(biased8(self), biased8(other))) }
    }
    #[inline(always)]
    fn eq8(self, other: __m128i) -> __m128i {
        // SAFETY: every x86-64 processor has SSE2.
        unsafe { _mm_and_si128(_mm_cmpeq_epi8(self, other), _mm_set1_epi8(1)) }
    }
    #[inline(always)]
    fn sum_bytes(self) -> __m128i {
        // SAFETY: every x86-64 processor has SSE2.
        unsafe { _mm_add_epi16(_mm_and_si128(self, _mm_set1_epi16(0xff)), _mm_srli_epi16::<8>(self)).sum_halves() }
    }

    #[inline(always)]
    fn mul_signed(self, other: __m128i) -> [__m128i; 2] {
        // SAFETY: every x86-64 processor has SSE2.
        unsafe {
            // A negative factor counts 2^32 too many as an unsigned one.
            let [even, odd] = self.mul_unsigned(other);
            let surplus = _mm_add_epi32(
                _mm_and_si128(_mm_srai_epi32::<31>(self), other),
                _mm_and_si128(_mm_srai_epi32::<31>(other), self),
            );
            let upper = _mm_set1_epi64x(i64::from(u32::MAX) << 32);
            [_mm_sub_epi64(even, _mm_slli_epi64::<32>(surplus)), _mm_sub_epi64(odd, _mm_and_si128(surplus, upper))]
        }
    }
    #[inline(always)]
    fn mul_unsigned(self, other: __m128i) -> [__m128i; 2] {
        // SAFETY: every x86-64 processor has SSE2.
        unsafe { [_mm_mul_epu32(self, other), _mm_mul_epu32(_mm_srli_epi64::<32>(self), _mm_srli_epi64::<32>(other))] }
    }
    #[inline(always)]
    fn widen(self) -> [__m128i; 2] {
        // SAFETY: every x86-64 processor has SSE2.
        unsafe { [_mm_and_si128(self, _mm_set1_epi64x(u32::MAX.into())), _mm_srli_epi64::<32>(self)] }
    }
    #[inline(always)]
    fn narrow([even, odd]: [__m128i; 2]) -> __m128i {
        // SAFETY: every x86-64 processor has SSE2.
        unsafe {
            let lower = _mm_and_si128(even, _mm_set1_epi64x(u32::MAX.into()));
            _mm_or_si128(lower, _mm_slli_epi64::<32>(odd))
        }
    }
    #[inline(always)]
    fn narrow_upper([even, odd]: [__m128i; 2]) -> __m128i {
        // SAFETY: every x86-64 processor has SSE2.
        unsafe {
            let upper = _mm_andnot_si128(_mm_set1_epi64x(u32::MAX.into()), odd);
            _mm_or_si128(_mm_srli_epi64::<32>(even), upper)
        }
    }
}

impl Wide for __m128i {
    #[inline(always)]
    fn splat64(self, value: u64) -> __m128i {
        // SAFETY: every x86-64 processor has SSE2.
        unsafe { _mm_set1_epi64x(value as i64) }
    }

    one_each! {
        and64 = _mm_and_si128; or64 = _mm_or_si128; xor64 = _mm_xor_si128; add64 = _mm_add_epi64; sub64 = _mm_sub_epi64;
    }

    #[inline(always)]
    fn min64(self, other: __m128i) -> __m128i {
        select(greater64(self, other), other, self)
    }
    #[inline(always)]
    fn max64(self, other: __m128i) -> __m128i {
        select(greater64(self, other), self, other)
    }
    #[inline(always)]
    fn limit_upper(self, greatest: u32) -> __m128i {
        self.minu32(self.splat64(u64::from(greatest) << 32 | u64::from(u32::MAX)))
    }
    #[inline(always)]
    fn shlv64(self, by: __m128i) -> __m128i {
        // SAFETY: every x86-64 processor has SSE2.
        unsafe {
            // A shift takes one number, the lower half of a register.
            let (lower, upper) = (_mm_sll_epi64(self, by), _mm_sll_epi64(self, _mm_unpackhi_epi64(by, by)));
            _mm_unpacklo_epi64(lower, _mm_unpackhi_epi64(upper, upper))
        }
    }
    #[inline(always)]
    fn shrv64(self, by: __m128i) -> __m128i {
        // SAFETY: every x86-64 processor has SSE2.
        unsafe {
            let (lower, upper) = (_mm_srl_epi64(self, by), _mm_srl_epi64(self, _mm_unpackhi_epi64(by, by)));
            _mm_unpacklo_epi64(lower, _mm_unpackhi_epi64(upper, upper))
        }
    }
    shift_each! {
        shl_all64 = _mm_sll_epi64; shr_all64 = _mm_srl_epi64;
    }
}
