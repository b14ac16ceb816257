//! Registers of AVX2 and AVX-512 as vectors.
//!
//! A value of these types is loaded ([`Register::load`], which is unsafe) or made from others. So where there is one, the
//! processor has the features of its intrinsics, and they can be called.

#![allow(unsafe_code, reason = "intrinsics of features that the type's values prove")]

use core::arch::x86_64::*;

use super::choose::Register;
use super::constants::Gather;
use super::vector::{Vector, Wide};

/// The operations that both have, each one intrinsic or few; what only one of them has is given with it.
macro_rules! register {
    ($(#[$doc:meta])* $ty:ident($raw:ident), $words:literal, [$load:ident $store:ident] [$set16:ident $set32:ident $set64:ident] $spread:ident $shuffle:ident
     $or:ident [$madd:ident $mul:ident $mulu:ident],
     one { $($one:ident = $one_intrinsic:ident;)* }
     shift { $($shift:ident = $shift_intrinsic:ident;)* }
     wide { $($wide:ident = $wide_intrinsic:ident;)* }
     own { $($own:tt)* } own_wide { $($own_wide:tt)* }) => {
        $(#[$doc])*
        #[derive(Clone, Copy)]
        #[repr(transparent)]
        pub(super) struct $ty($raw);

        impl Register for $ty {
            #[inline(always)]
            unsafe fn load(words: *const u32) -> $ty {
                // SAFETY: the caller has the words there, and a processor with the features.
                $ty(unsafe { $load(words.cast()) })
            }

            #[inline(always)]
            unsafe fn store(self, words: *mut u32) {
                // SAFETY: the caller has place for the words; that there is a value proves the features.
                unsafe { $store(words.cast(), self.0) }
            }
        }

        impl Vector for $ty {
            const WORDS: usize = $words;
            type Wide = $ty;

            #[inline(always)]
            fn prefetch(chunk: *const u32) {
                // SAFETY: a prefetch reads nothing, so the place need not be there.
                unsafe {
                    _mm_prefetch::<_MM_HINT_T0>(chunk.cast());
                    _mm_prefetch::<_MM_HINT_T0>(chunk.wrapping_add(16).cast());
                }
            }

            #[inline(always)]
            fn splat(self, word: u32) -> $ty {
                // SAFETY: that there is a value proves that the processor has the features.
                $ty(unsafe { $set32(word as i32) })
            }

            #[inline(always)]
            fn gather(a: $ty, b: $ty, gather: &Gather) -> $ty {
                // SAFETY: that there are values proves the features; the loads read 16 bytes of arrays of 16.
                unsafe {
                    let of_a = $spread(_mm_loadu_si128(gather.bytes_of_a.as_ptr().cast()));
                    let of_b = $spread(_mm_loadu_si128(gather.bytes_of_b.as_ptr().cast()));
                    $ty($or($shuffle(a.0, of_a), $shuffle(b.0, of_b)))
                }
            }

            $(#[inline(always)]
            fn $one(self, other: $ty) -> $ty {
                // SAFETY: that there is a value proves that the processor has the features.
                $ty(unsafe { $one_intrinsic(self.0, other.0) })
            })*

            // The number is a constant wherever it stands, and becomes an immediate.
            $(#[inline(always)]
            fn $shift(self, by: u32) -> $ty {
                // SAFETY: that there is a value proves that the processor has the features.
                $ty(unsafe { $shift_intrinsic(self.0, _mm_cvtsi32_si128(by as i32)) })
            })*

            #[inline(always)]
            fn shl_all32(self, by: u32) -> $ty {
                self.shlv32(self.splat(by))
            }

            #[inline(always)]
            fn shr_all32(self, by: u32) -> $ty {
                self.shrv32(self.splat(by))
            }

            #[inline(always)]
            fn sum_halves(self) -> $ty {
                // SAFETY: that there is a value proves that the processor has the features.
                $ty(unsafe { $madd(self.0, $set16(1)) })
            }

            #[inline(always)]
            fn mul_signed(self, other: $ty) -> [$ty; 2] {
                // SAFETY: that there is a value proves that the processor has the features.
                unsafe { [$ty($mul(self.0, other.0)), $ty($mul(self.shr_all64(32).0, other.shr_all64(32).0))] }
            }

            #[inline(always)]
            fn mul_unsigned(self, other: $ty) -> [$ty; 2] {
                // SAFETY: that there is a value proves that the processor has the features.
                unsafe { [$ty($mulu(self.0, other.0)), $ty($mulu(self.shr_all64(32).0, other.shr_all64(32).0))] }
            }

            #[inline(always)]
            fn widen(self) -> [$ty; 2] {
                [self.and64(self.splat64(u32::MAX.into())), self.shr_all64(32)]
            }

            #[inline(always)]
            fn narrow([even, odd]: [$ty; 2]) -> $ty {
                even.and64(even.splat64(u32::MAX.into())).or64(odd.shl_all64(32))
            }

            #[inline(always)]
            fn narrow_upper([even, odd]: [$ty; 2]) -> $ty {
                even.shr_all64(32).or64(odd.and64(odd.splat64(u64::from(u32::MAX) << 32)))
            }

            $($own)*
        }

        impl Wide for $ty {
            #[inline(always)]
            fn splat64(self, value: u64) -> $ty {
                // SAFETY: that there is a value proves that the processor has the features.
                $ty(unsafe { $set64(value as i64) })
            }

            $(#[inline(always)]
            fn $wide(self, other: $ty) -> $ty {
                // SAFETY: that there is a value proves that the processor has the features.
                $ty(unsafe { $wide_intrinsic(self.0, other.0) })
            })*

            #[inline(always)]
            fn limit_upper(self, greatest: u32) -> $ty {
                self.minu32(self.splat64(u64::from(greatest) << 32 | u64::from(u32::MAX)))
            }

            #[inline(always)]
            fn shl_all64(self, by: u32) -> $ty {
                self.shlv64(self.splat64(by.into()))
            }

            #[inline(always)]
            fn shr_all64(self, by: u32) -> $ty {
                self.shrv64(self.splat64(by.into()))
            }

            $($own_wide)*
        }
    };
}

register! {
    /// A register of AVX2: eight words.
    Avx2(__m256i), 8, [_mm256_loadu_si256 _mm256_storeu_si256] [_mm256_set1_epi16 _mm256_set1_epi32 _mm256_set1_epi64x] _mm256_broadcastsi128_si256 _mm256_shuffle_epi8
    _mm256_or_si256 [_mm256_madd_epi16 _mm256_mul_epi32 _mm256_mul_epu32],
    one { and = _mm256_and_si256; or = _mm256_or_si256; xor = _mm256_xor_si256; add32 = _mm256_add_epi32; sub32 = _mm256_sub_epi32; mul32 = _mm256_mullo_epi32; min32 = _mm256_min_epi32; max32 = _mm256_max_epi32; minu32 = _mm256_min_epu32; maxu32 = _mm256_max_epu32; shlv32 = _mm256_sllv_epi32; shrv32 = _mm256_srlv_epi32; add16 = _mm256_add_epi16; sub16 = _mm256_sub_epi16; min16 = _mm256_min_epi16; max16 = _mm256_max_epi16; minu16 = _mm256_min_epu16; maxu16 = _mm256_max_epu16; adds16 = _mm256_adds_epi16; addsu16 = _mm256_adds_epu16; subs16 = _mm256_subs_epi16; subsu16 = _mm256_subs_epu16; avgu16 = _mm256_avg_epu16; add8 = _mm256_add_epi8; sub8 = _mm256_sub_epi8; min8 = _mm256_min_epi8; max8 = _mm256_max_epi8; minu8 = _mm256_min_epu8; maxu8 = _mm256_max_epu8; adds8 = _mm256_adds_epi8; addsu8 = _mm256_adds_epu8; subs8 = _mm256_subs_epi8; subsu8 = _mm256_subs_epu8; avgu8 = _mm256_avg_epu8; }
    shift { shl32 = _mm256_sll_epi32; shr32 = _mm256_srl_epi32; sra32 = _mm256_sra_epi32; shl16 = _mm256_sll_epi16; shr16 = _mm256_srl_epi16; sra16 = _mm256_sra_epi16; }
    wide { and64 = _mm256_and_si256; or64 = _mm256_or_si256; xor64 = _mm256_xor_si256; add64 = _mm256_add_epi64; sub64 = _mm256_sub_epi64; shlv64 = _mm256_sllv_epi64; shrv64 = _mm256_srlv_epi64; }
    own {
        #[inline(always)]
        fn gt32(self, other: Avx2) -> Avx2 {
            // SAFETY: that there is a value proves that the processor has the features.
            Avx2(unsafe { _mm256_cmpgt_epi32(self.0, other.0) })
        }
        #[inline(always)]
        fn eq32(self, other: Avx2) -> Avx2 {
            // SAFETY: that there is a value proves that the processor has the features.
            Avx2(unsafe { _mm256_cmpeq_epi32(self.0, other.0) })
        }
        #[inline(always)]
        fn eq16(self, other: Avx2) -> Avx2 {
            // SAFETY: that there is a value proves that the processor has the features.
            Avx2(unsafe { _mm256_and_si256(_mm256_cmpeq_epi16(self.0, other.0), _mm256_set1_epi16(1)) })
        }
        #[inline(always)]
        fn sum_bytes(self) -> Avx2 {
            // SAFETY: that there is a value proves that the processor has the features.
            Avx2(unsafe { _mm256_maddubs_epi16(self.0, _mm256_set1_epi8(1)) }).sum_halves()
        }
        #[inline(always)]
        fn eq8(self, other: Avx2) -> Avx2 {
            // SAFETY: that there is a value proves that the processor has the features.
            Avx2(unsafe { _mm256_and_si256(_mm256_cmpeq_epi8(self.0, other.0), _mm256_set1_epi8(1)) })
        }
 }
    own_wide {
        #[inline(always)]
        fn min64(self, other: Avx2) -> Avx2 {
            // SAFETY: that there is a value proves that the processor has the features.
            Avx2(unsafe { _mm256_blendv_epi8(self.0, other.0, _mm256_cmpgt_epi64(self.0, other.0)) })
        }
        #[inline(always)]
        fn max64(self, other: Avx2) -> Avx2 {
            // SAFETY: that there is a value proves that the processor has the features.
            Avx2(unsafe { _mm256_blendv_epi8(other.0, self.0, _mm256_cmpgt_epi64(self.0, other.0)) })
        }
 }
}

register! {
    /// A register of AVX-512 with F, BW, DQ and VL: sixteen words.
    Avx512(__m512i), 16, [_mm512_loadu_si512 _mm512_storeu_si512] [_mm512_set1_epi16 _mm512_set1_epi32 _mm512_set1_epi64] _mm512_broadcast_i32x4 _mm512_shuffle_epi8
    _mm512_or_si512 [_mm512_madd_epi16 _mm512_mul_epi32 _mm512_mul_epu32],
    one { and = _mm512_and_si512; or = _mm512_or_si512; xor = _mm512_xor_si512; add32 = _mm512_add_epi32; sub32 = _mm512_sub_epi32; mul32 = _mm512_mullo_epi32; min32 = _mm512_min_epi32; max32 = _mm512_max_epi32; minu32 = _mm512_min_epu32; maxu32 = _mm512_max_epu32; shlv32 = _mm512_sllv_epi32; shrv32 = _mm512_srlv_epi32; add16 = _mm512_add_epi16; sub16 = _mm512_sub_epi16; min16 = _mm512_min_epi16; max16 = _mm512_max_epi16; minu16 = _mm512_min_epu16; maxu16 = _mm512_max_epu16; adds16 = _mm512_adds_epi16; addsu16 = _mm512_adds_epu16; subs16 = _mm512_subs_epi16; subsu16 = _mm512_subs_epu16; avgu16 = _mm512_avg_epu16; add8 = _mm512_add_epi8; sub8 = _mm512_sub_epi8; min8 = _mm512_min_epi8; max8 = _mm512_max_epi8; minu8 = _mm512_min_epu8; maxu8 = _mm512_max_epu8; adds8 = _mm512_adds_epi8; addsu8 = _mm512_adds_epu8; subs8 = _mm512_subs_epi8; subsu8 = _mm512_subs_epu8; avgu8 = _mm512_avg_epu8; }
    shift { shl32 = _mm512_sll_epi32; shr32 = _mm512_srl_epi32; sra32 = _mm512_sra_epi32; shl16 = _mm512_sll_epi16; shr16 = _mm512_srl_epi16; sra16 = _mm512_sra_epi16; }
    wide { and64 = _mm512_and_si512; or64 = _mm512_or_si512; xor64 = _mm512_xor_si512; add64 = _mm512_add_epi64; sub64 = _mm512_sub_epi64; shlv64 = _mm512_sllv_epi64; shrv64 = _mm512_srlv_epi64; min64 = _mm512_min_epi64; max64 = _mm512_max_epi64; }
    own {
        #[inline(always)]
        fn gt32(self, other: Avx512) -> Avx512 {
            // SAFETY: that there is a value proves that the processor has the features.
            Avx512(unsafe { _mm512_movm_epi32(_mm512_cmpgt_epi32_mask(self.0, other.0)) })
        }
        #[inline(always)]
        fn eq32(self, other: Avx512) -> Avx512 {
            // SAFETY: that there is a value proves that the processor has the features.
            Avx512(unsafe { _mm512_movm_epi32(_mm512_cmpeq_epi32_mask(self.0, other.0)) })
        }
        #[inline(always)]
        fn eq16(self, other: Avx512) -> Avx512 {
            // SAFETY: that there is a value proves that the processor has the features.
            Avx512(unsafe { _mm512_maskz_set1_epi16(_mm512_cmpeq_epi16_mask(self.0, other.0), 1) })
        }
        #[inline(always)]
        fn sum_bytes(self) -> Avx512 {
            // Of two half-words that have the sum the upper one. Multiplications by 1, as in AVX2, take longer, as they and the
            // subtractions that mostly come before want the same unit.
            // SAFETY: that there is a value proves that the processor has the features.
            Avx512(unsafe { _mm512_srli_epi32::<16>(_mm512_dbsad_epu8::<0>(self.0, _mm512_setzero_si512())) })
        }
        #[inline(always)]
        fn eq8(self, other: Avx512) -> Avx512 {
            // SAFETY: that there is a value proves that the processor has the features.
            Avx512(unsafe { _mm512_maskz_set1_epi8(_mm512_cmpeq_epi8_mask(self.0, other.0), 1) })
        }
 }
    own_wide {  }
}
