//! Registers of NEON, which every AArch64 processor with floating point has, as vectors.

#![allow(unsafe_code, reason = "intrinsics; this file is compiled only where NEON is always there")]

use core::arch::aarch64::*;

use super::choose::Register;
use super::constants::Gather;
use super::vector::{Vector, Wide};

/// Registers by the type of their lanes: reading one as another costs nothing.
macro_rules! as_lanes {
    ($($name:ident $back:ident $ty:ident $from:ident $to:ident;)*) => {
        $(#[inline(always)]
        fn $name(word: uint32x4_t) -> $ty {
            // SAFETY: this file is compiled only where NEON is always there.
            unsafe { $from(word) }
        }
        #[inline(always)]
        fn $back(lanes: $ty) -> uint32x4_t {
            // SAFETY: this file is compiled only where NEON is always there.
            unsafe { $to(lanes) }
        })*
    };
}

as_lanes! {
    s32 of_s32 int32x4_t vreinterpretq_s32_u32 vreinterpretq_u32_s32;
    u16 of_u16 uint16x8_t vreinterpretq_u16_u32 vreinterpretq_u32_u16;
    s16 of_s16 int16x8_t vreinterpretq_s16_u32 vreinterpretq_u32_s16;
    u8 of_u8 uint8x16_t vreinterpretq_u8_u32 vreinterpretq_u32_u8;
    s8 of_s8 int8x16_t vreinterpretq_s8_u32 vreinterpretq_u32_s8;
}

macro_rules! one_each {
    ($($name:ident = $lanes:ident $back:ident $intrinsic:ident;)*) => {
        $(#[inline(always)]
        fn $name(self, other: uint32x4_t) -> uint32x4_t {
            // SAFETY: this file is compiled only where NEON is always there.
            unsafe { $back($intrinsic($lanes(self), $lanes(other))) }
        })*
    };
}

#[inline(always)]
fn u32(word: uint32x4_t) -> uint32x4_t {
    word
}

/// A shift takes a number with a sign, of which it reads the lowest byte: more than 32 would be something else.
#[inline(always)]
fn amount(by: uint32x4_t) -> int32x4_t {
    // SAFETY: this file is compiled only where NEON is always there.
    unsafe { s32(vminq_u32(by, vdupq_n_u32(32))) }
}

#[inline(always)]
fn s64(value: uint64x2_t) -> int64x2_t {
    // SAFETY: this file is compiled only where NEON is always there.
    unsafe { vreinterpretq_s64_u64(value) }
}

impl Register for uint32x4_t {
    #[inline(always)]
    unsafe fn load(words: *const u32) -> uint32x4_t {
        // SAFETY: the caller has the words there.
        unsafe { vld1q_u32(words) }
    }

    #[inline(always)]
    unsafe fn store(self, words: *mut u32) {
        // SAFETY: the caller has place for the words.
        unsafe { vst1q_u32(words, self) }
    }
}

impl Vector for uint32x4_t {
    const WORDS: usize = 4;
    type Wide = uint64x2_t;

    /// Stable Rust has no prefetch here; what the processor does by itself is left to it.
    #[inline(always)]
    fn prefetch(_: *const u32) {}

    #[inline(always)]
    fn splat(self, word: u32) -> uint32x4_t {
        // SAFETY: this file is compiled only where NEON is always there.
        unsafe { vdupq_n_u32(word) }
    }

    #[inline(always)]
    fn gather(a: uint32x4_t, b: uint32x4_t, gather: &Gather) -> uint32x4_t {
        // SAFETY: this file is compiled only where NEON is always there; the loads read 16 bytes of arrays of 16.
        unsafe {
            let (of_a, of_b) = (vld1q_u8(gather.bytes_of_a.as_ptr()), vld1q_u8(gather.bytes_of_b.as_ptr()));
            of_u8(vorrq_u8(vqtbl1q_u8(u8(a), of_a), vqtbl1q_u8(u8(b), of_b)))
        }
    }

    one_each! {
        and = u32 u32 vandq_u32; or = u32 u32 vorrq_u32; xor = u32 u32 veorq_u32;
        add32 = u32 u32 vaddq_u32; sub32 = u32 u32 vsubq_u32; mul32 = u32 u32 vmulq_u32;
        min32 = s32 of_s32 vminq_s32; max32 = s32 of_s32 vmaxq_s32; minu32 = u32 u32 vminq_u32; maxu32 = u32 u32 vmaxq_u32;
        gt32 = s32 u32 vcgtq_s32; eq32 = u32 u32 vceqq_u32;
        add16 = u16 of_u16 vaddq_u16; sub16 = u16 of_u16 vsubq_u16;
        min16 = s16 of_s16 vminq_s16; max16 = s16 of_s16 vmaxq_s16; minu16 = u16 of_u16 vminq_u16; maxu16 = u16 of_u16 vmaxq_u16;
        adds16 = s16 of_s16 vqaddq_s16; addsu16 = u16 of_u16 vqaddq_u16;
        subs16 = s16 of_s16 vqsubq_s16; subsu16 = u16 of_u16 vqsubq_u16; avgu16 = u16 of_u16 vrhaddq_u16;
        add8 = u8 of_u8 vaddq_u8; sub8 = u8 of_u8 vsubq_u8;
        min8 = s8 of_s8 vminq_s8; max8 = s8 of_s8 vmaxq_s8; minu8 = u8 of_u8 vminq_u8; maxu8 = u8 of_u8 vmaxq_u8;
        adds8 = s8 of_s8 vqaddq_s8; addsu8 = u8 of_u8 vqaddq_u8;
        subs8 = s8 of_s8 vqsubq_s8; subsu8 = u8 of_u8 vqsubq_u8; avgu8 = u8 of_u8 vrhaddq_u8;
    }

    #[inline(always)]
    fn shl32(self, by: u32) -> uint32x4_t {
        // SAFETY: this file is compiled only where NEON is always there.
        unsafe { vshlq_u32(self, vdupq_n_s32(by as i32)) }
    }
    #[inline(always)]
    fn shr32(self, by: u32) -> uint32x4_t {
        // SAFETY: this file is compiled only where NEON is always there.
        unsafe { vshlq_u32(self, vdupq_n_s32(-(by as i32))) }
    }
    #[inline(always)]
    fn sra32(self, by: u32) -> uint32x4_t {
        // SAFETY: this file is compiled only where NEON is always there.
        unsafe { of_s32(vshlq_s32(s32(self), vdupq_n_s32(-(by as i32)))) }
    }
    #[inline(always)]
    fn shl_all32(self, by: u32) -> uint32x4_t {
        self.shl32(by)
    }
    #[inline(always)]
    fn shr_all32(self, by: u32) -> uint32x4_t {
        self.shr32(by)
    }
    #[inline(always)]
    fn shlv32(self, by: uint32x4_t) -> uint32x4_t {
        // SAFETY: this file is compiled only where NEON is always there.
        unsafe { vshlq_u32(self, amount(by)) }
    }
    #[inline(always)]
    fn shrv32(self, by: uint32x4_t) -> uint32x4_t {
        // SAFETY: this file is compiled only where NEON is always there.
        unsafe { vshlq_u32(self, vnegq_s32(amount(by))) }
    }

    #[inline(always)]
    fn eq16(self, other: uint32x4_t) -> uint32x4_t {
        // SAFETY: this file is compiled only where NEON is always there.
        unsafe { of_u16(vandq_u16(vceqq_u16(u16(self), u16(other)), vdupq_n_u16(1))) }
    }
    #[inline(always)]
    fn shl16(self, by: u32) -> uint32x4_t {
        // SAFETY: this file is compiled only where NEON is always there.
        unsafe { of_u16(vshlq_u16(u16(self), vdupq_n_s16(by as i16))) }
    }
    #[inline(always)]
    fn shr16(self, by: u32) -> uint32x4_t {
        // SAFETY: this file is compiled only where NEON is always there.
        unsafe { of_u16(vshlq_u16(u16(self), vdupq_n_s16(-(by as i16)))) }
    }
    #[inline(always)]
    fn sra16(self, by: u32) -> uint32x4_t {
        // SAFETY: this file is compiled only where NEON is always there.
        unsafe { of_s16(vshlq_s16(s16(self), vdupq_n_s16(-(by as i16)))) }
    }
    #[inline(always)]
    fn sum_halves(self) -> uint32x4_t {
        // SAFETY: this file is compiled only where NEON is always there.
        unsafe { of_s32(vpaddlq_s16(s16(self))) }
    }

    #[inline(always)]
    fn eq8(self, other: uint32x4_t) -> uint32x4_t {
        // SAFETY: this file is compiled only where NEON is always there.
        unsafe { of_u8(vandq_u8(vceqq_u8(u8(self), u8(other)), vdupq_n_u8(1))) }
    }
    #[inline(always)]
    fn sum_bytes(self) -> uint32x4_t {
        // SAFETY: this file is compiled only where NEON is always there.
        unsafe { vpaddlq_u16(vpaddlq_u8(u8(self))) }
    }

    #[inline(always)]
    fn mul_signed(self, other: uint32x4_t) -> [uint64x2_t; 2] {
        // SAFETY: this file is compiled only where NEON is always there.
        unsafe {
            let (a, b) = (s32(self), s32(other));
            [
                vreinterpretq_u64_s64(vmull_s32(vget_low_s32(a), vget_low_s32(b))),
                vreinterpretq_u64_s64(vmull_high_s32(a, b)),
            ]
        }
    }
    #[inline(always)]
    fn mul_unsigned(self, other: uint32x4_t) -> [uint64x2_t; 2] {
        // SAFETY: this file is compiled only where NEON is always there.
        unsafe { [vmull_u32(vget_low_u32(self), vget_low_u32(other)), vmull_high_u32(self, other)] }
    }
    #[inline(always)]
    fn widen(self) -> [uint64x2_t; 2] {
        // SAFETY: this file is compiled only where NEON is always there.
        unsafe { [vmovl_u32(vget_low_u32(self)), vmovl_high_u32(self)] }
    }
    #[inline(always)]
    fn narrow([low, high]: [uint64x2_t; 2]) -> uint32x4_t {
        // SAFETY: this file is compiled only where NEON is always there.
        unsafe { vuzp1q_u32(vreinterpretq_u32_u64(low), vreinterpretq_u32_u64(high)) }
    }
    #[inline(always)]
    fn narrow_upper([low, high]: [uint64x2_t; 2]) -> uint32x4_t {
        // SAFETY: this file is compiled only where NEON is always there.
        unsafe { vuzp2q_u32(vreinterpretq_u32_u64(low), vreinterpretq_u32_u64(high)) }
    }
}

impl Wide for uint64x2_t {
    #[inline(always)]
    fn splat64(self, value: u64) -> uint64x2_t {
        // SAFETY: this file is compiled only where NEON is always there.
        unsafe { vdupq_n_u64(value) }
    }
    #[inline(always)]
    fn and64(self, other: uint64x2_t) -> uint64x2_t {
        // SAFETY: this file is compiled only where NEON is always there.
        unsafe { vandq_u64(self, other) }
    }
    #[inline(always)]
    fn or64(self, other: uint64x2_t) -> uint64x2_t {
        // SAFETY: this file is compiled only where NEON is always there.
        unsafe { vorrq_u64(self, other) }
    }
    #[inline(always)]
    fn xor64(self, other: uint64x2_t) -> uint64x2_t {
        // SAFETY: this file is compiled only where NEON is always there.
        unsafe { veorq_u64(self, other) }
    }
    #[inline(always)]
    fn add64(self, other: uint64x2_t) -> uint64x2_t {
        // SAFETY: this file is compiled only where NEON is always there.
        unsafe { vaddq_u64(self, other) }
    }
    #[inline(always)]
    fn sub64(self, other: uint64x2_t) -> uint64x2_t {
        // SAFETY: this file is compiled only where NEON is always there.
        unsafe { vsubq_u64(self, other) }
    }
    #[inline(always)]
    fn min64(self, other: uint64x2_t) -> uint64x2_t {
        // SAFETY: this file is compiled only where NEON is always there.
        unsafe { vbslq_u64(vcgtq_s64(s64(self), s64(other)), other, self) }
    }
    #[inline(always)]
    fn max64(self, other: uint64x2_t) -> uint64x2_t {
        // SAFETY: this file is compiled only where NEON is always there.
        unsafe { vbslq_u64(vcgtq_s64(s64(self), s64(other)), self, other) }
    }
    #[inline(always)]
    fn limit_upper(self, greatest: u32) -> uint64x2_t {
        // SAFETY: this file is compiled only where NEON is always there.
        unsafe {
            let limits = vdupq_n_u64(u64::from(greatest) << 32 | u64::from(u32::MAX));
            vreinterpretq_u64_u32(vminq_u32(vreinterpretq_u32_u64(self), vreinterpretq_u32_u64(limits)))
        }
    }
    #[inline(always)]
    fn shlv64(self, by: uint64x2_t) -> uint64x2_t {
        // SAFETY: this file is compiled only where NEON is always there.
        unsafe { vshlq_u64(self, s64(by)) }
    }
    #[inline(always)]
    fn shrv64(self, by: uint64x2_t) -> uint64x2_t {
        // SAFETY: this file is compiled only where NEON is always there.
        unsafe { vshlq_u64(self, vnegq_s64(s64(by))) }
    }
    #[inline(always)]
    fn shl_all64(self, by: u32) -> uint64x2_t {
        // SAFETY: this file is compiled only where NEON is always there.
        unsafe { vshlq_u64(self, vdupq_n_s64(by.into())) }
    }
    #[inline(always)]
    fn shr_all64(self, by: u32) -> uint64x2_t {
        // SAFETY: this file is compiled only where NEON is always there.
        unsafe { vshlq_u64(self, vdupq_n_s64(-i64::from(by))) }
    }
}
