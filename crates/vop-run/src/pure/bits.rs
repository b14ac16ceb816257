//! Integer instructions on bits: counts, searches, shifts, bit fields and `prmt`.

use super::{Call, Pure, Ty};
use crate::lanes::Compute;

/// Shifts by any distance: beyond the width, zeros or signs are left.
trait Shift: Copy {
    fn shift_left(self, by: u32) -> Self;
    fn shift_right(self, by: u32) -> Self;
}

macro_rules! shifts {
    ($($unsigned:ident $signed:ident $word:ident $signed_word:ident;)*) => { $(
        impl Shift for $unsigned {
            #[inline(always)]
            fn shift_left(self, by: u32) -> $unsigned {
                $word::from(self).checked_shl(by).unwrap_or(0) as $unsigned
            }
            #[inline(always)]
            fn shift_right(self, by: u32) -> $unsigned {
                $word::from(self).checked_shr(by).unwrap_or(0) as $unsigned
            }
        }
        impl Shift for $signed {
            #[inline(always)]
            fn shift_left(self, by: u32) -> $signed {
                (self as $unsigned).shift_left(by) as $signed
            }
            #[inline(always)]
            fn shift_right(self, by: u32) -> $signed {
                ($signed_word::from(self) >> by.min($word::BITS - 1)) as $signed
            }
        }
    )* };
}
shifts! { u16 i16 u32 i32; u32 i32 u32 i32; u64 i64 u64 i64; }

/// Bit fields of a word.
trait Field: Copy {
    /// The field. Where the type is signed, the highest bit of the field that the value has extends it.
    fn extract(self, start: u32, length: u32) -> Self;
}

macro_rules! fields {
    ($($unsigned:ident $signed:ident;)*) => { $(
        impl Field for $unsigned {
            #[inline(always)]
            fn extract(self, start: u32, length: u32) -> $unsigned {
                self.shift_right(start) & !$unsigned::MAX.shift_left(length)
            }
        }
        impl Field for $signed {
            #[inline(always)]
            fn extract(self, start: u32, length: u32) -> $signed {
                // The field is shifted to the top and down again. A field without bits would be left as it was.
                let unused = $signed::BITS.saturating_sub(length);
                let field = self.shift_right(start) << (unused & ($signed::BITS - 1)) >> (unused & ($signed::BITS - 1));
                if length == 0 { 0 } else { field }
            }
        }
    )* };
}
fields! { u32 i32; u64 i64; }

/// `b` with the low bits of `a` from a place on.
macro_rules! insert {
    ($T:ident, $a:ident, $b:ident, $start:expr, $length:expr) => {{
        let start = $start;
        let field = (!$T::MAX.shift_left($length)).shift_left(start);
        ($b & !field) | ($a.shift_left(start) & field)
    }};
}

pub(super) fn manipulation(name: &str, mut call: Call<'_, '_>) -> Option<Pure> {
    let ty = call.ty;
    const WORD: Ty = Ty::U32;
    let bits = ty.is_bits();
    match name {
        "popc" if bits => Pure::of(by_wide_width!(ty, compute!(|a: T| a.count_ones())), WORD, &[ty]),
        "clz" if bits => Pure::of(by_wide_width!(ty, compute!(|a: T| a.leading_zeros())), WORD, &[ty]),
        "brev" if bits => Pure::of(by_wide_width!(ty, compute!(|a: T| a.reverse_bits())), ty, &[ty]),
        "bfind" => Pure::of(find(ty, call.take("shiftamt"))?, WORD, &[ty]),
        "fns" if ty == Ty::B32 => {
            let compute = compute!(|mask: u32, base: u32, offset: i32| find_nth_set(mask, base, offset));
            // ptxas's code negates a negative offset, and compares it as a signed number.
            let by_ptxas = compute!(|mask: u32, base: u32, offset: i32| {
                if offset == i32::MIN { 0 } else { find_nth_set(mask, base, offset) }
            });
            Some(Pure::new(compute, &[WORD], &[ty, ty, Ty::S32]).but_by_ptxas(by_ptxas))
        }
        // A start and a length are the low bytes of their operands. ptxas's code takes all of a word if the field is one of 64 bits.
        "bfe" => {
            let compute =
                by_wide_integer!(ty, compute!(|a: T, start: u32, length: u32| a.extract(start & 255, length & 255)));
            let pure = Pure::new(compute, &[ty], &[ty, WORD, WORD]);
            Some(match ty {
                Ty::U64 => pure.but_by_ptxas(compute!(|a: u64, start: u32, length: u32| a.extract(start, length))),
                Ty::S64 => pure.but_by_ptxas(compute!(|a: i64, start: u32, length: u32| a.extract(start, length))),
                _ => pure,
            })
        }
        "bfi" if bits => {
            let compute = by_wide_width!(
                ty,
                compute!(|a: T, b: T, start: u32, length: u32| insert!(T, a, b, start & 255, length & 255))
            );
            let pure = Pure::new(compute, &[ty], &[ty, ty, WORD, WORD]);
            let by_ptxas = compute!(|a: u64, b: u64, start: u32, length: u32| insert!(u64, a, b, start, length));
            Some(if ty == Ty::B64 { pure.but_by_ptxas(by_ptxas) } else { pure })
        }
        "szext" => Pure::of(extend(ty, call.opcode.take_of(&["wrap", "clamp"])?)?, ty, &[ty, WORD]),
        "bmsk" if ty == Ty::B32 => {
            let compute = match call.opcode.take_of(&["wrap", "clamp"])? {
                "wrap" => compute!(|a: u32, b: u32| bit_mask(a & 31, b & 31)),
                _ => compute!(|a: u32, b: u32| bit_mask(a.min(32), b.min(32))),
            };
            Pure::of(compute, ty, &[ty, ty])
        }
        "shl" if bits => Pure::of(by_width!(ty, compute!(|a: T, by: u32| a.shift_left(by))), ty, &[ty, WORD]),
        "shr" => {
            let compute = match ty {
                Ty::S16 => compute!(|a: i16, by: u32| a.shift_right(by)),
                Ty::S32 => compute!(|a: i32, by: u32| a.shift_right(by)),
                Ty::S64 => compute!(|a: i64, by: u32| a.shift_right(by)),
                _ => by_width!(ty, compute!(|a: T, by: u32| a.shift_right(by))),
            };
            Pure::of(compute, ty, &[ty, WORD])
        }
        "shf" if ty == Ty::B32 => {
            let direction = call.opcode.take_of(&["l", "r"])?;
            let compute = match (direction, call.opcode.take_of(&["wrap", "clamp"])?) {
                ("l", "wrap") => compute!(|a: u32, b: u32, by: u32| funnel_left(a, b, by & 31)),
                ("l", _) => compute!(|a: u32, b: u32, by: u32| if by > 31 { a } else { funnel_left(a, b, by & 31) }),
                (_, "wrap") => compute!(|a: u32, b: u32, by: u32| funnel_right(a, b, by & 31)),
                (_, _) => compute!(|a: u32, b: u32, by: u32| if by > 31 { b } else { funnel_right(a, b, by & 31) }),
            };
            Pure::of(compute, ty, &[ty, ty, WORD])
        }
        "prmt" if ty == Ty::B32 => Pure::of(permute(&mut call), ty, &[ty, ty, ty]),
        _ => None,
    }
}

/// The position of the highest bit that is not a copy of the sign, or its distance from the top; all ones where there is none.
fn find(ty: Ty, shift_amount: bool) -> Option<Compute> {
    Some(match (ty, shift_amount) {
        (Ty::U32, false) => compute!(|a: u32| 31u32.wrapping_sub(a.leading_zeros())),
        (Ty::S32, false) => compute!(|a: i32| 31u32.wrapping_sub((a ^ (a >> 31)).leading_zeros())),
        (Ty::U64, false) => compute!(|a: u64| 63u32.wrapping_sub(a.leading_zeros())),
        (Ty::S64, false) => compute!(|a: i64| 63u32.wrapping_sub((a ^ (a >> 63)).leading_zeros())),
        (Ty::U32, true) => compute!(|a: u32| if a == 0 { u32::MAX } else { a.leading_zeros() }),
        (Ty::S32, true) => compute!(|a: i32| {
            let a = a ^ (a >> 31);
            if a == 0 { u32::MAX } else { a.leading_zeros() }
        }),
        (Ty::U64, true) => compute!(|a: u64| if a == 0 { u32::MAX } else { a.leading_zeros() }),
        (Ty::S64, true) => compute!(|a: i64| {
            let a = a ^ (a >> 63);
            if a == 0 { u32::MAX } else { a.leading_zeros() }
        }),
        _ => return None,
    })
}

/// `fns`: the set bit that is `offset` set bits above `base`, or below it, where the first counts if `base` is set itself; with
/// offset 0, `base` if it is set. All ones if there is none.
fn find_nth_set(mask: u32, base: u32, offset: i32) -> u32 {
    if base > 31 {
        return u32::MAX;
    }
    let candidates = match offset {
        0 => mask & 1 << base,
        1.. => mask & u32::MAX << base,
        // Downwards is upwards from the other end.
        _ => (mask & u32::MAX >> (31 - base)).reverse_bits(),
    };
    let mut left = candidates;
    for _ in 1..offset.unsigned_abs().min(33) {
        left &= left.wrapping_sub(1);
    }
    match (left, offset) {
        (0, _) => u32::MAX,
        (_, ..0) => 31 - left.trailing_zeros(),
        _ => left.trailing_zeros(),
    }
}

/// `szext`: the low `n` bits, extended.
fn extend(ty: Ty, mode: &str) -> Option<Compute> {
    Some(match (ty, mode) {
        (Ty::U32, "wrap") => compute!(|a: u32, n: u32| a.extract(0, n & 31)),
        (Ty::U32, _) => compute!(|a: u32, n: u32| a.extract(0, n.min(32))),
        (Ty::S32, "wrap") => compute!(|a: i32, n: u32| a.extract(0, n & 31)),
        (Ty::S32, _) => compute!(|a: i32, n: u32| a.extract(0, n.min(32))),
        _ => return None,
    })
}

/// `bmsk`: `length` ones, from the bit `start` on.
#[inline(always)]
fn bit_mask(start: u32, length: u32) -> u32 {
    (!u32::MAX.shift_left(length)).shift_left(start)
}

/// The high word of `b:a` shifted left, by 31 at most.
#[inline(always)]
fn funnel_left(a: u32, b: u32, by: u32) -> u32 {
    b << by | a >> 1 >> (31 - by)
}

/// The low word of `b:a` shifted right, by 31 at most.
#[inline(always)]
fn funnel_right(a: u32, b: u32, by: u32) -> u32 {
    a >> by | b << 1 << (31 - by)
}

/// The byte of `b:a` that the low three bits of a selector name, in the low byte of the result; the other bits may be anything.
#[inline(always)]
fn byte(a: u32, b: u32, selector: u32) -> u32 {
    (if selector & 4 == 0 { a } else { b }) >> (8 * (selector & 3))
}

#[inline(always)]
fn select_bytes(a: u32, b: u32, selectors: [u32; 4]) -> u32 {
    let [d0, d1, d2, d3] = selectors.map(|selector| byte(a, b, selector) & 0xff);
    d0 | d1 << 8 | d2 << 16 | d3 << 24
}

/// The selectors in the nibbles of a word; the fourth bit of one replicates the byte's sign.
#[inline(always)]
fn select_or_sign(a: u32, b: u32, selectors: u32) -> u32 {
    let part = |shift: u32| {
        let selector = selectors >> shift & 15;
        let byte = byte(a, b, selector) & 0xff;
        if selector & 8 == 0 { byte } else { (byte >> 7).wrapping_neg() & 0xff }
    };
    part(0) | part(4) << 8 | part(8) << 16 | part(12) << 24
}

fn permute(call: &mut Call<'_, '_>) -> Compute {
    /// The modes: selectors that the low two bits of `c` choose.
    macro_rules! mode {
        ($($selectors:literal)*) => {
            compute!(|a: u32, b: u32, c: u32| {
                const SELECTORS: [u32; 4] = [$($selectors),*];
                let selectors = match c & 3 {
                    0 => SELECTORS[0],
                    1 => SELECTORS[1],
                    2 => SELECTORS[2],
                    _ => SELECTORS[3],
                };
                select_bytes(a, b, [selectors, selectors >> 4, selectors >> 8, selectors >> 12])
            })
        };
    }
    match call.opcode.take_of(&["f4e", "b4e", "rc8", "ecl", "ecr", "rc16"]) {
        Some("f4e") => return mode!(0x3210 0x4321 0x5432 0x6543),
        Some("b4e") => return mode!(0x5670 0x6701 0x7012 0x0123),
        Some("rc8") => return mode!(0x0000 0x1111 0x2222 0x3333),
        Some("ecl") => return mode!(0x3210 0x3211 0x3222 0x3333),
        Some("ecr") => return mode!(0x0000 0x1110 0x2210 0x3210),
        Some(_) => return mode!(0x1010 0x3232 0x1010 0x3232),
        None => {}
    }
    // Constants: those that compilers write often are a shift or two.
    match call.immediate_from_end(0).map(|selectors| selectors & 0xffff) {
        Some(0x5410) => compute!(|a: u32, b: u32, _selectors: u32| a & 0xffff | b << 16),
        Some(0x7632) => compute!(|a: u32, b: u32, _selectors: u32| a >> 16 | b & 0xffff_0000),
        Some(0x1032) => compute!(|a: u32, _b: u32, _selectors: u32| a.rotate_left(16)),
        Some(0x0123) => compute!(|a: u32, _b: u32, _selectors: u32| a.swap_bytes()),
        Some(constant) if constant & 0x8888 == 0 => compute!(|a: u32, b: u32, selectors: u32| {
            select_bytes(a, b, [selectors, selectors >> 4, selectors >> 8, selectors >> 12])
        }),
        _ => compute!(|a: u32, b: u32, selectors: u32| select_or_sign(a, b, selectors)),
    }
}
