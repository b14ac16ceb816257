//! Integer arithmetic, with and without carries.

use super::{Call, Pure, Ty};

/// Operations of all integer types for which Rust has no common name.
trait Int: Copy {
    /// The high half of the product.
    fn mul_high(self, b: Self) -> Self;
    /// `|a - b|`, wrapped to the type.
    fn distance(self, b: Self) -> Self;
    /// The quotient, towards zero; any value where `b` is zero.
    fn quotient(self, b: Self) -> Self;
    /// The remainder, with the sign of the dividend; any value where `b` is zero.
    fn remainder(self, b: Self) -> Self;
}

macro_rules! narrow {
    ($($int:ident as $word:ident;)*) => { $(
        impl Int for $int {
            #[inline(always)]
            fn mul_high(self, b: $int) -> $int {
                (($word::from(self) * $word::from(b)) >> $int::BITS) as $int
            }
            #[inline(always)]
            fn distance(self, b: $int) -> $int {
                self.abs_diff(b) as $int
            }
            #[inline(always)]
            fn quotient(self, b: $int) -> $int {
                $word::from(self).quotient($word::from(b)) as $int
            }
            #[inline(always)]
            fn remainder(self, b: $int) -> $int {
                self.wrapping_sub(self.quotient(b).wrapping_mul(b))
            }
        }
    )* };
}
narrow! { u16 as u32; i16 as i32; }

impl Int for u32 {
    #[inline(always)]
    fn mul_high(self, b: u32) -> u32 {
        ((u64::from(self) * u64::from(b)) >> 32) as u32
    }
    #[inline(always)]
    fn distance(self, b: u32) -> u32 {
        self.abs_diff(b)
    }
    /// In `f64`, which is SIMD. A quotient that is no integer differs from the next by 1/b at least, far more than the rounding.
    #[inline(always)]
    fn quotient(self, b: u32) -> u32 {
        /// Adding it moves the integer part of what is below 2^32 into the low bits.
        const SHIFT: f64 = (1u64 << 52) as f64;
        let quotient = f64::from(self) / f64::from(b);
        let nearest = (quotient + SHIFT) - SHIFT;
        let floor = if nearest > quotient { nearest - 1.0 } else { nearest };
        (floor + SHIFT).to_bits() as u32
    }
    #[inline(always)]
    fn remainder(self, b: u32) -> u32 {
        self.wrapping_sub(self.quotient(b).wrapping_mul(b))
    }
}

impl Int for i32 {
    #[inline(always)]
    fn mul_high(self, b: i32) -> i32 {
        ((i64::from(self) * i64::from(b)) >> 32) as i32
    }
    #[inline(always)]
    fn distance(self, b: i32) -> i32 {
        self.abs_diff(b) as i32
    }
    #[inline(always)]
    fn quotient(self, b: i32) -> i32 {
        let magnitude = self.unsigned_abs().quotient(b.unsigned_abs()) as i32;
        let sign = (self ^ b) >> 31;
        (magnitude ^ sign).wrapping_sub(sign)
    }
    #[inline(always)]
    fn remainder(self, b: i32) -> i32 {
        self.wrapping_sub(self.quotient(b).wrapping_mul(b))
    }
}

impl Int for u64 {
    /// From products of words, which are SIMD where a 128-bit product is not.
    #[inline(always)]
    fn mul_high(self, b: u64) -> u64 {
        const WORD: u64 = u32::MAX as u64;
        let (a0, a1, b0, b1) = (self & WORD, self >> 32, b & WORD, b >> 32);
        let low = a0 * b0;
        let middle = a1 * b0 + (low >> 32);
        let other = a0 * b1 + (middle & WORD);
        a1 * b1 + (middle >> 32) + (other >> 32)
    }
    #[inline(always)]
    fn distance(self, b: u64) -> u64 {
        self.abs_diff(b)
    }
    #[inline(always)]
    fn quotient(self, b: u64) -> u64 {
        self.checked_div(b).unwrap_or(u64::MAX)
    }
    #[inline(always)]
    fn remainder(self, b: u64) -> u64 {
        self.checked_rem(b).unwrap_or(self)
    }
}

impl Int for i64 {
    #[inline(always)]
    fn mul_high(self, b: i64) -> i64 {
        // As an unsigned number, a negative factor is larger by 2^64.
        let high = (self as u64).mul_high(b as u64) as i64;
        high.wrapping_sub(self >> 63 & b).wrapping_sub(b >> 63 & self)
    }
    #[inline(always)]
    fn distance(self, b: i64) -> i64 {
        self.abs_diff(b) as i64
    }
    #[inline(always)]
    fn quotient(self, b: i64) -> i64 {
        if b == 0 { -1 } else { self.wrapping_div(b) }
    }
    #[inline(always)]
    fn remainder(self, b: i64) -> i64 {
        if b == 0 { self } else { self.wrapping_rem(b) }
    }
}

pub(super) fn arithmetic(name: &str, mut call: Call<'_, '_>) -> Option<Pure> {
    let ty = call.ty;
    match name {
        "mul24" | "mad24" => return arithmetic24(name, call),
        "dp4a" | "dp2a" => return dot(name, call),
        _ => {}
    }
    if matches!(name, "addc" | "subc" | "madc") || matches!(name, "add" | "sub" | "mad") && call.take("cc") {
        return extended(name, call);
    }
    let part = if matches!(name, "mul" | "mad") { Some(call.opcode.take_of(&["lo", "hi", "wide"])?) } else { None };
    let saturates = match name {
        "add" => matches!(ty, Ty::S32 | Ty::U32),
        "sub" => ty == Ty::S32,
        _ => ty == Ty::S32 && part == Some("hi") && name == "mad",
    };
    let saturate = saturates && call.take("sat");
    let relu = ty == Ty::S32 && matches!(name, "min" | "max") && call.take("relu");
    let compute = match (name, part) {
        ("add", _) if saturate && ty == Ty::U32 => compute!(|a: u32, b: u32| a.saturating_add(b)),
        ("add", _) if saturate => compute!(|a: i32, b: i32| a.saturating_add(b)),
        ("sub", _) if saturate => compute!(|a: i32, b: i32| a.saturating_sub(b)),
        ("add", _) => by_width!(ty, compute!(|a: T, b: T| a.wrapping_add(b))),
        ("sub", _) => by_width!(ty, compute!(|a: T, b: T| a.wrapping_sub(b))),
        ("mul", Some("wide")) => match ty {
            Ty::U16 => compute!(|a: u16, b: u16| u32::from(a) * u32::from(b)),
            Ty::S16 => compute!(|a: i16, b: i16| i32::from(a) * i32::from(b)),
            Ty::U32 => compute!(|a: u32, b: u32| u64::from(a) * u64::from(b)),
            Ty::S32 => compute!(|a: i32, b: i32| i64::from(a) * i64::from(b)),
            _ => return None,
        },
        ("mad", Some("wide")) => match ty {
            Ty::U16 => compute!(|a: u16, b: u16, c: u32| (u32::from(a) * u32::from(b)).wrapping_add(c)),
            Ty::S16 => compute!(|a: i16, b: i16, c: i32| (i32::from(a) * i32::from(b)).wrapping_add(c)),
            Ty::U32 => compute!(|a: u32, b: u32, c: u64| (u64::from(a) * u64::from(b)).wrapping_add(c)),
            Ty::S32 => compute!(|a: i32, b: i32, c: i64| (i64::from(a) * i64::from(b)).wrapping_add(c)),
            _ => return None,
        },
        ("mul", Some("lo")) => by_width!(ty, compute!(|a: T, b: T| a.wrapping_mul(b))),
        ("mul", _) => by_integer!(ty, compute!(|a: T, b: T| a.mul_high(b))),
        ("mad", Some("lo")) => by_width!(ty, compute!(|a: T, b: T, c: T| a.wrapping_mul(b).wrapping_add(c))),
        ("mad", _) if saturate => compute!(|a: i32, b: i32, c: i32| a.mul_high(b).saturating_add(c)),
        ("mad", _) => by_integer!(ty, compute!(|a: T, b: T, c: T| a.mul_high(b).wrapping_add(c))),
        ("sad", _) => by_integer!(ty, compute!(|a: T, b: T, c: T| a.distance(b).wrapping_add(c))),
        ("div", _) => by_integer!(ty, compute!(|a: T, b: T| a.quotient(b))),
        ("rem", _) => by_integer!(ty, compute!(|a: T, b: T| a.remainder(b))),
        ("min", _) if relu => compute!(|a: i32, b: i32| a.min(b).max(0)),
        ("max", _) if relu => compute!(|a: i32, b: i32| a.max(b).max(0)),
        ("min", _) => by_integer!(ty, compute!(|a: T, b: T| a.min(b))),
        ("max", _) => by_integer!(ty, compute!(|a: T, b: T| a.max(b))),
        ("neg", _) if ty.is_signed() => by_width!(ty, compute!(|a: T| a.wrapping_neg())),
        ("abs", _) => match ty {
            Ty::S16 => compute!(|a: i16| a.wrapping_abs()),
            Ty::S32 => compute!(|a: i32| a.wrapping_abs()),
            Ty::S64 => compute!(|a: i64| a.wrapping_abs()),
            _ => return None,
        },
        _ => return None,
    };
    if !ty.is_integer() {
        return None;
    }
    let wide = match (part, ty) {
        (Some("wide"), Ty::U16) => Ty::U32,
        (Some("wide"), Ty::S16) => Ty::S32,
        (Some("wide"), Ty::U32) => Ty::U64,
        (Some("wide"), _) => Ty::S64,
        _ => ty,
    };
    let sources: &[Ty] = match name {
        "neg" | "abs" => &[ty],
        "mad" | "sad" => &[ty, ty, wide],
        _ => &[ty, ty],
    };
    let divisor = matches!(name, "div" | "rem").then_some(1);
    Some(Pure { divisor, ..Pure::new(compute, &[wide], sources) })
}

/// A 24-bit integer from the low bits of a word.
#[inline(always)]
fn unsigned24(a: u32) -> u64 {
    u64::from(a & 0xff_ffff)
}

#[inline(always)]
fn signed24(a: i32) -> i64 {
    i64::from(a << 8 >> 8)
}

/// `mul24` and `mad24`: `.lo` keeps bits 0 to 31 of the 48-bit product, `.hi` bits 16 to 47.
fn arithmetic24(name: &str, mut call: Call<'_, '_>) -> Option<Pure> {
    let (ty, part) = (call.ty, call.opcode.take_of(&["lo", "hi"])?);
    let compute = match (name, part, ty) {
        ("mul24", "lo", Ty::U32) => compute!(|a: u32, b: u32| (unsigned24(a) * unsigned24(b)) as u32),
        ("mul24", "hi", Ty::U32) => compute!(|a: u32, b: u32| ((unsigned24(a) * unsigned24(b)) >> 16) as u32),
        ("mul24", "lo", Ty::S32) => compute!(|a: i32, b: i32| (signed24(a) * signed24(b)) as i32),
        ("mul24", "hi", Ty::S32) => compute!(|a: i32, b: i32| ((signed24(a) * signed24(b)) >> 16) as i32),
        ("mad24", "lo", Ty::U32) => {
            compute!(|a: u32, b: u32, c: u32| ((unsigned24(a) * unsigned24(b)) as u32).wrapping_add(c))
        }
        ("mad24", "hi", Ty::U32) => {
            compute!(|a: u32, b: u32, c: u32| (((unsigned24(a) * unsigned24(b)) >> 16) as u32).wrapping_add(c))
        }
        ("mad24", "lo", Ty::S32) => {
            compute!(|a: i32, b: i32, c: i32| ((signed24(a) * signed24(b)) as i32).wrapping_add(c))
        }
        ("mad24", "hi", Ty::S32) if call.take("sat") => {
            compute!(|a: i32, b: i32, c: i32| (((signed24(a) * signed24(b)) >> 16) as i32).saturating_add(c))
        }
        ("mad24", "hi", Ty::S32) => {
            compute!(|a: i32, b: i32, c: i32| (((signed24(a) * signed24(b)) >> 16) as i32).wrapping_add(c))
        }
        _ => return None,
    };
    Pure::of(compute, ty, &[ty; 3][..if name == "mul24" { 2 } else { 3 }])
}

/// The sum of bytes of `a` times bytes of `b`, and `c`: four of each, or two halves of `a` with the low or the high bytes of `b`.
fn dot(name: &str, mut call: Call<'_, '_>) -> Option<Pure> {
    let (a, b) = (call.ty, call.take_type()?);
    macro_rules! four {
        ($a:ident, $b:ident) => {
            compute!(|a: u32, b: u32, c: u32| {
                let ([a0, a1, a2, a3], [b0, b1, b2, b3]) = (a.to_le_bytes(), b.to_le_bytes());
                let product = |a: u8, b: u8| i32::from(a as $a) * i32::from(b as $b);
                let sum = product(a0, b0) + product(a1, b1) + product(a2, b2) + product(a3, b3);
                c.wrapping_add(sum as u32)
            })
        };
    }
    macro_rules! two {
        ($a:ident, $b:ident, $shift:literal) => {
            compute!(|a: u32, b: u32, c: u32| {
                let product = |a: u32, b: u32| i32::from(a as $a) * i32::from(b as $b);
                let (low, high) = (product(a, b >> $shift), product(a >> 16, b >> ($shift + 8)));
                c.wrapping_add(low.wrapping_add(high) as u32)
            })
        };
    }
    let part = if name == "dp2a" { Some(call.opcode.take_of(&["lo", "hi"])?) } else { None };
    let compute = match (part, a, b) {
        (None, Ty::U32, Ty::U32) => four!(u8, u8),
        (None, Ty::U32, Ty::S32) => four!(u8, i8),
        (None, Ty::S32, Ty::U32) => four!(i8, u8),
        (None, Ty::S32, Ty::S32) => four!(i8, i8),
        (Some("lo"), Ty::U32, Ty::U32) => two!(u16, u8, 0),
        (Some("lo"), Ty::U32, Ty::S32) => two!(u16, i8, 0),
        (Some("lo"), Ty::S32, Ty::U32) => two!(i16, u8, 0),
        (Some("lo"), Ty::S32, Ty::S32) => two!(i16, i8, 0),
        (Some(_), Ty::U32, Ty::U32) => two!(u16, u8, 16),
        (Some(_), Ty::U32, Ty::S32) => two!(u16, i8, 16),
        (Some(_), Ty::S32, Ty::U32) => two!(i16, u8, 16),
        (Some(_), Ty::S32, Ty::S32) => two!(i16, i8, 16),
        _ => return None,
    };
    let sum = if a.is_signed() || b.is_signed() { Ty::S32 } else { Ty::U32 };
    Pure::of(compute, sum, &[a, b, sum])
}

/// Sums with a carry in, and the carry out. A difference is the sum with the complement and a carry in: `CC.CF` is 1 after `sub.cc`
/// if nothing was borrowed. The manual only speaks of "borrow-in" and "borrow-out"; ptxas's code agrees with this, and so
/// does the division of 128 bits in CUDA's own library, which reads the flag of `subc.cc` with `addc`.
trait Carry: Sized {
    fn add_carry(self, b: Self, carry: bool) -> (Self, bool);
}

macro_rules! carry {
    ($($int:ident as $unsigned:ident;)*) => { $(
        impl Carry for $int {
            #[inline(always)]
            fn add_carry(self, b: $int, carry: bool) -> ($int, bool) {
                let (sum, first) = (self as $unsigned).overflowing_add(b as $unsigned);
                let (sum, second) = sum.overflowing_add($unsigned::from(carry));
                (sum as $int, first | second)
            }
        }
    )* };
}
carry! { u32 as u32; u64 as u64; i32 as u32; i64 as u64; }

/// `add`, `sub` and `mad` that take `CC.CF` (`addc`), give it (`.cc`), or both.
fn extended(name: &str, mut call: Call<'_, '_>) -> Option<Pure> {
    let ty = call.ty;
    let carry_in = matches!(name, "addc" | "subc" | "madc");
    // An instruction without a carry in comes here because of its `.cc`, which has been taken.
    let carry_out = !carry_in || call.take("cc");
    let part = if name.starts_with("mad") { Some(call.opcode.take_of(&["lo", "hi"])?) } else { None };
    if !ty.is_integer() {
        return None;
    }
    let compute = match (&name[..3], part, carry_in, carry_out) {
        ("add", _, false, _) => by_wide_width!(ty, compute!(|a: T, b: T| a.add_carry(b, false))),
        ("add", _, true, false) => by_wide_width!(ty, compute!(|a: T, b: T, cf: bool| a.add_carry(b, cf).0)),
        ("add", _, true, true) => by_wide_width!(ty, compute!(|a: T, b: T, cf: bool| a.add_carry(b, cf))),
        ("sub", _, false, _) => by_wide_width!(ty, compute!(|a: T, b: T| a.add_carry(!b, true))),
        ("sub", _, true, false) => by_wide_width!(ty, compute!(|a: T, b: T, cf: bool| a.add_carry(!b, cf).0)),
        ("sub", _, true, true) => by_wide_width!(ty, compute!(|a: T, b: T, cf: bool| a.add_carry(!b, cf))),
        (_, Some("lo"), false, _) => {
            by_wide_width!(ty, compute!(|a: T, b: T, c: T| a.wrapping_mul(b).add_carry(c, false)))
        }
        (_, Some("lo"), true, false) => {
            by_wide_width!(ty, compute!(|a: T, b: T, c: T, cf: bool| a.wrapping_mul(b).add_carry(c, cf).0))
        }
        (_, Some("lo"), true, true) => {
            by_wide_width!(ty, compute!(|a: T, b: T, c: T, cf: bool| a.wrapping_mul(b).add_carry(c, cf)))
        }
        (_, _, false, _) => by_wide_integer!(ty, compute!(|a: T, b: T, c: T| a.mul_high(b).add_carry(c, false))),
        (_, _, true, false) => {
            by_wide_integer!(ty, compute!(|a: T, b: T, c: T, cf: bool| a.mul_high(b).add_carry(c, cf).0))
        }
        (_, _, true, true) => {
            by_wide_integer!(ty, compute!(|a: T, b: T, c: T, cf: bool| a.mul_high(b).add_carry(c, cf)))
        }
    };
    let sources: &[Ty] = if part.is_some() { &[ty; 3] } else { &[ty; 2] };
    Some(Pure { carry_in, carry_out, ..Pure::new(compute, &[ty], sources) })
}
