//! Integer arithmetic, logic, shifts, bit fields and comparisons.

use super::Compute;
use crate::module::Scalar;
use crate::run::types::Kind;

/// A Rust integer that stands for a PTX integer type.
pub(crate) trait Int: Copy + Ord {
    const BITS: u32;
    fn from_slot(slot: u64) -> Self;
    fn to_slot(self) -> u64;
    /// The exact value: every 64-bit product and sum fits.
    fn wide(self) -> i128;
    /// The low bits of an exact value.
    fn wrap(value: i128) -> Self;
    /// The nearest representable value.
    fn saturate(value: i128) -> Self;
}

macro_rules! int {
    ($($int:ident as $unsigned:ident),*) => { $(
        impl Int for $int {
            const BITS: u32 = $int::BITS;
            fn from_slot(slot: u64) -> Self { slot as $int }
            fn to_slot(self) -> u64 { u64::from(self as $unsigned) }
            fn wide(self) -> i128 { i128::from(self) }
            fn wrap(value: i128) -> Self { value as $int }
            fn saturate(value: i128) -> Self {
                value.clamp(i128::from($int::MIN), i128::from($int::MAX)) as $int
            }
        }
    )* };
}
int!(u8 as u8, u16 as u16, u32 as u32, u64 as u64, i8 as u8, i16 as u16, i32 as u32, i64 as u64);

/// Instantiates a generic function for an integer type of 16 bits or more; `.b` types count as unsigned.
macro_rules! by_type {
    ($ty:expr, $function:ident $(, $more:ty)*) => {
        match $ty {
            Scalar::U16 | Scalar::B16 => Some($function::<u16 $(, $more)*> as Compute),
            Scalar::S16 => Some($function::<i16 $(, $more)*> as Compute),
            Scalar::U32 | Scalar::B32 => Some($function::<u32 $(, $more)*> as Compute),
            Scalar::S32 => Some($function::<i32 $(, $more)*> as Compute),
            Scalar::U64 | Scalar::B64 => Some($function::<u64 $(, $more)*> as Compute),
            Scalar::S64 => Some($function::<i64 $(, $more)*> as Compute),
            _ => None,
        }
    };
}

/// Instantiates a function for the untyped widths 32 and 64.
macro_rules! by_width {
    ($ty:expr, $function:ident) => {
        match $ty {
            Scalar::U32 | Scalar::B32 => Some($function::<u32> as Compute),
            Scalar::S32 => Some($function::<i32> as Compute),
            Scalar::U64 | Scalar::B64 => Some($function::<u64> as Compute),
            Scalar::S64 => Some($function::<i64> as Compute),
            _ => None,
        }
    };
}

/// `d = f(a, b)` or `f(a, b, c)` in exact integers, then wrapped to the type.
macro_rules! exact {
    ($($name:ident($a:ident $(, $b:ident $(, $c:ident)?)?) = $value:expr;)*) => { $(
        fn $name<T: Int>($a: u64, _b: u64, _c: u64, _: u64) -> u64 {
            let $a = T::from_slot($a).wide();
            $(let $b = T::from_slot(_b).wide();
            $(let $c = T::from_slot(_c).wide();)?)?
            T::wrap($value).to_slot()
        }
    )* };
}

exact! {
    add(a, b) = a + b;
    sub(a, b) = a - b;
    mul_lo(a, b) = a.wrapping_mul(b);
    mul_hi(a, b) = (a.wrapping_mul(b)) >> T::BITS;
    mad_lo(a, b, c) = a.wrapping_mul(b).wrapping_add(c);
    mad_hi(a, b, c) = (a.wrapping_mul(b) >> T::BITS) + c;
    sad(a, b, c) = c + (a - b).abs();
    neg(a) = -a;
    abs(a) = a.abs();
    min(a, b) = a.min(b);
    max(a, b) = a.max(b);
}

/// u64 products need 128 bits unsigned: `i128` wraps, and its arithmetic shift would smear the sign.
fn mul_hi_u64(a: u64, b: u64, _: u64, _: u64) -> u64 {
    ((u128::from(a) * u128::from(b)) >> 64) as u64
}

fn mad_hi_u64(a: u64, b: u64, c: u64, _: u64) -> u64 {
    mul_hi_u64(a, b, 0, 0).wrapping_add(c)
}

fn add_sat<T: Int>(a: u64, b: u64, _: u64, _: u64) -> u64 {
    T::saturate(T::from_slot(a).wide() + T::from_slot(b).wide()).to_slot()
}

fn sub_sat<T: Int>(a: u64, b: u64, _: u64, _: u64) -> u64 {
    T::saturate(T::from_slot(a).wide() - T::from_slot(b).wide()).to_slot()
}

fn mad_hi_sat(a: u64, b: u64, c: u64, _: u64) -> u64 {
    let product = (i32::from_slot(a).wide() * i32::from_slot(b).wide()) >> 32;
    i32::saturate(product + i32::from_slot(c).wide()).to_slot()
}

/// The product at twice the width: `T` is the source type, `W` the result's.
fn mul_wide<T: Int, W: Int>(a: u64, b: u64, _: u64, _: u64) -> u64 {
    W::wrap(T::from_slot(a).wide() * T::from_slot(b).wide()).to_slot()
}

fn mad_wide<T: Int, W: Int>(a: u64, b: u64, c: u64, _: u64) -> u64 {
    W::wrap(T::from_slot(a).wide() * T::from_slot(b).wide() + W::from_slot(c).wide()).to_slot()
}

/// Division by zero is unspecified in the manual; all ones is what current GPUs give.
fn div<T: Int>(a: u64, b: u64, _: u64, _: u64) -> u64 {
    let b = T::from_slot(b).wide();
    T::wrap(if b == 0 { -1 } else { T::from_slot(a).wide() / b }).to_slot()
}

/// The remainder by zero is unspecified in the manual; the dividend goes with `div`'s choice.
fn rem<T: Int>(a: u64, b: u64, _: u64, _: u64) -> u64 {
    let (a, b) = (T::from_slot(a).wide(), T::from_slot(b).wide());
    T::wrap(if b == 0 { a } else { a % b }).to_slot()
}

/// Shift amounts beyond the width clamp to it.
fn shl<T: Int>(a: u64, b: u64, _: u64, _: u64) -> u64 {
    T::wrap(T::from_slot(a).wide() << (b as u32).min(T::BITS)).to_slot()
}

fn shr<T: Int>(a: u64, b: u64, _: u64, _: u64) -> u64 {
    T::wrap(T::from_slot(a).wide() >> (b as u32).min(T::BITS)).to_slot()
}

fn extend24(value: u64, signed: bool) -> i128 {
    let value = (value as u32) << 8;
    if signed { i128::from(value as i32 >> 8) } else { i128::from(value >> 8) }
}

/// `mul24` and `mad24`: `.lo` keeps bits 0 to 31 of the 48-bit product, `.hi` bits 16 to 47.
fn mad24<const SIGNED: bool, const SHIFT: u32, const SATURATE: bool>(a: u64, b: u64, c: u64, _: u64) -> u64 {
    let product = (extend24(a, SIGNED) * extend24(b, SIGNED)) >> SHIFT;
    let product = i128::from(product as u32 as i32);
    if SATURATE {
        i32::saturate(product + i32::from_slot(c).wide()).to_slot()
    } else {
        u32::wrap(product + u32::from_slot(c).wide()).to_slot()
    }
}

pub(crate) fn mul24(ty: Scalar, high: bool, saturate: bool) -> Option<Compute> {
    Some(match (ty, high, saturate) {
        (Scalar::U32, false, false) => mad24::<false, 0, false>,
        (Scalar::U32, true, false) => mad24::<false, 16, false>,
        (Scalar::S32, false, false) => mad24::<true, 0, false>,
        (Scalar::S32, true, false) => mad24::<true, 16, false>,
        (Scalar::S32, true, true) => mad24::<true, 16, true>,
        _ => return None,
    })
}

/// The carry out of `a + b + c` at the type's width; `c` is the carry in.
fn carry<T: Int>(a: u64, b: u64, c: u64, _: u64) -> u64 {
    ((u128::from(a) + u128::from(b) + u128::from(c)) >> T::BITS) as u64 & 1
}

/// The borrow out of `a - b - c`.
fn borrow<T: Int>(a: u64, b: u64, c: u64, _: u64) -> u64 {
    u64::from(u128::from(a) < u128::from(b) + u128::from(c))
}

fn add_carry<T: Int>(a: u64, b: u64, c: u64, _: u64) -> u64 {
    T::wrap(i128::from(a) + i128::from(b) + i128::from(c)).to_slot()
}

fn sub_borrow<T: Int>(a: u64, b: u64, c: u64, _: u64) -> u64 {
    T::wrap(i128::from(a) - i128::from(b) - i128::from(c)).to_slot()
}

/// Value and flag of `add{c}.cc` and `sub{c}.cc`: the third source is the carry or borrow in.
pub(crate) fn extended(subtract: bool, ty: Scalar) -> Option<(Compute, Compute)> {
    if subtract {
        Some((by_width!(ty, sub_borrow)?, by_width!(ty, borrow)?))
    } else {
        Some((by_width!(ty, add_carry)?, by_width!(ty, carry)?))
    }
}

fn popc(a: u64, _: u64, _: u64, _: u64) -> u64 {
    u64::from(a.count_ones())
}

fn clz<T: Int>(a: u64, _: u64, _: u64, _: u64) -> u64 {
    u64::from(a.leading_zeros() + T::BITS - 64)
}

fn brev<T: Int>(a: u64, _: u64, _: u64, _: u64) -> u64 {
    a.reverse_bits() >> (64 - T::BITS)
}

/// The most significant bit that is not a sign bit, or all ones if there is none.
fn bfind<T: Int, const SHIFT_AMOUNT: bool>(a: u64, _: u64, _: u64, _: u64) -> u64 {
    let value = T::from_slot(a).wide();
    let value = if value < 0 { !value } else { value } as u64;
    match value.checked_ilog2() {
        None => u64::from(u32::MAX),
        Some(bit) if SHIFT_AMOUNT => u64::from(T::BITS - 1 - bit),
        Some(bit) => u64::from(bit),
    }
}

fn bfind_bit<T: Int>(a: u64, b: u64, c: u64, d: u64) -> u64 {
    bfind::<T, false>(a, b, c, d)
}

fn bfind_shift<T: Int>(a: u64, b: u64, c: u64, d: u64) -> u64 {
    bfind::<T, true>(a, b, c, d)
}

/// Start and length are the low bytes of `b` and `c`; beyond the top the field is filled with its sign (or zero).
fn bfe<T: Int>(a: u64, b: u64, c: u64, _: u64) -> u64 {
    let (start, length) = ((b & 255) as u32, (c & 255) as u32);
    if length == 0 {
        return 0;
    }
    let value = T::from_slot(a).wide();
    let top = (start + length - 1).min(T::BITS - 1);
    let sign = if T::wrap(-1).wide() < 0 { (value >> top) & 1 } else { 0 };
    let kept = if start < T::BITS { (top + 1).saturating_sub(start) } else { 0 };
    let field = (value >> start.min(127)) & ((1 << kept) - 1);
    T::wrap(if sign == 1 { field | (-1 << kept) } else { field }).to_slot()
}

fn bfi<T: Int>(a: u64, b: u64, c: u64, d: u64) -> u64 {
    let (start, length) = ((c & 255) as u32, (d & 255) as u32);
    if start >= T::BITS {
        return b;
    }
    let length = length.min(T::BITS - start);
    let field = crate::run::types::mask(length) << start;
    (b & !field) | ((a << start) & field)
}

fn not<T: Int>(a: u64, _: u64, _: u64, _: u64) -> u64 {
    T::from_slot(!a).to_slot()
}

fn cnot(a: u64, _: u64, _: u64, _: u64) -> u64 {
    u64::from(a == 0)
}

pub(crate) fn and(a: u64, b: u64, _: u64, _: u64) -> u64 {
    a & b
}

pub(crate) fn or(a: u64, b: u64, _: u64, _: u64) -> u64 {
    a | b
}

pub(crate) fn xor(a: u64, b: u64, _: u64, _: u64) -> u64 {
    a ^ b
}

pub(crate) fn not_pred(a: u64, _: u64, _: u64, _: u64) -> u64 {
    a ^ 1
}

/// Three-input logic: bit `4a + 2b + c` of the table answers for each bit position.
pub(crate) fn lop3(a: u64, b: u64, c: u64, table: u64) -> u64 {
    let mut result = 0;
    for row in 0..8u32 {
        if table >> row & 1 == 1 {
            let pick = |value: u64, bit: u32| if row >> bit & 1 == 1 { value } else { !value };
            result |= pick(a, 2) & pick(b, 1) & pick(c, 0);
        }
    }
    result & 0xffff_ffff
}

fn shf_left<const WRAP: bool>(a: u64, b: u64, c: u64, _: u64) -> u64 {
    let amount = if WRAP { c & 31 } else { c.min(32) };
    ((b << 32 | a) << amount) >> 32
}

fn shf_right<const WRAP: bool>(a: u64, b: u64, c: u64, _: u64) -> u64 {
    let amount = if WRAP { c & 31 } else { c.min(32) };
    ((b << 32 | a) >> amount) & 0xffff_ffff
}

pub(crate) fn shf(left: bool, wrap: bool) -> Compute {
    match (left, wrap) {
        (true, true) => shf_left::<true>,
        (true, false) => shf_left::<false>,
        (false, true) => shf_right::<true>,
        (false, false) => shf_right::<false>,
    }
}

/// The byte that one selector nibble picks: three bits of number, one that replicates the sign.
fn prmt_byte(pool: u64, selector: u64) -> u64 {
    let byte = pool >> (8 * (selector & 7)) & 0xff;
    if selector & 8 == 0 { byte } else { 0xff * (byte >> 7) }
}

fn prmt_select(a: u64, b: u64, selectors: [u64; 4]) -> u64 {
    let pool = b << 32 | a;
    (0..4).fold(0, |d, i| d | prmt_byte(pool, selectors[i]) << (8 * i))
}

fn prmt(a: u64, b: u64, c: u64, _: u64) -> u64 {
    prmt_select(a, b, [c & 15, c >> 4 & 15, c >> 8 & 15, c >> 12 & 15])
}

/// The modes of `prmt`: rows of the manual's table, indexed by the low two bits of `c`.
fn prmt_mode<const MODE: usize>(a: u64, b: u64, c: u64, _: u64) -> u64 {
    const ROWS: [[[u64; 4]; 4]; 6] = [
        [[0, 1, 2, 3], [1, 2, 3, 4], [2, 3, 4, 5], [3, 4, 5, 6]], // f4e
        [[0, 7, 6, 5], [1, 0, 7, 6], [2, 1, 0, 7], [3, 2, 1, 0]], // b4e
        [[0, 0, 0, 0], [1, 1, 1, 1], [2, 2, 2, 2], [3, 3, 3, 3]], // rc8
        [[0, 1, 2, 3], [1, 1, 2, 3], [2, 2, 2, 3], [3, 3, 3, 3]], // ecl
        [[0, 0, 0, 0], [0, 1, 1, 1], [0, 1, 2, 2], [0, 1, 2, 3]], // ecr
        [[0, 1, 0, 1], [2, 3, 2, 3], [0, 1, 0, 1], [2, 3, 2, 3]], // rc16
    ];
    prmt_select(a, b, ROWS[MODE][(c & 3) as usize])
}

pub(crate) fn permute(mode: Option<&str>) -> Option<Compute> {
    Some(match mode {
        None => prmt,
        Some("f4e") => prmt_mode::<0>,
        Some("b4e") => prmt_mode::<1>,
        Some("rc8") => prmt_mode::<2>,
        Some("ecl") => prmt_mode::<3>,
        Some("ecr") => prmt_mode::<4>,
        Some("rc16") => prmt_mode::<5>,
        Some(_) => return None,
    })
}

fn dp4a_of<A: Int, B: Int>(a: u64, b: u64, c: u64, _: u64) -> u64 {
    let products = (0..4).map(|i| A::from_slot(a >> (8 * i)).wide() * B::from_slot(b >> (8 * i)).wide());
    u32::wrap(products.sum::<i128>() + u32::from_slot(c).wide()).to_slot()
}

/// Two halves of `a` times two bytes of `b`: the low pair, or the high one.
fn dp2a_of<A: Int, B: Int, const HIGH: bool>(a: u64, b: u64, c: u64, _: u64) -> u64 {
    let b = if HIGH { b >> 16 } else { b };
    let products = (0..2).map(|i| A::from_slot(a >> (16 * i)).wide() * B::from_slot(b >> (8 * i)).wide());
    u32::wrap(products.sum::<i128>() + u32::from_slot(c).wide()).to_slot()
}

pub(crate) fn dp4a(a: Scalar, b: Scalar) -> Option<Compute> {
    Some(match (a, b) {
        (Scalar::U32, Scalar::U32) => dp4a_of::<u8, u8>,
        (Scalar::U32, Scalar::S32) => dp4a_of::<u8, i8>,
        (Scalar::S32, Scalar::U32) => dp4a_of::<i8, u8>,
        (Scalar::S32, Scalar::S32) => dp4a_of::<i8, i8>,
        _ => return None,
    })
}

pub(crate) fn dp2a(a: Scalar, b: Scalar, high: bool) -> Option<Compute> {
    Some(match (a, b, high) {
        (Scalar::U32, Scalar::U32, false) => dp2a_of::<u16, u8, false>,
        (Scalar::U32, Scalar::S32, false) => dp2a_of::<u16, i8, false>,
        (Scalar::S32, Scalar::U32, false) => dp2a_of::<i16, u8, false>,
        (Scalar::S32, Scalar::S32, false) => dp2a_of::<i16, i8, false>,
        (Scalar::U32, Scalar::U32, true) => dp2a_of::<u16, u8, true>,
        (Scalar::U32, Scalar::S32, true) => dp2a_of::<u16, i8, true>,
        (Scalar::S32, Scalar::U32, true) => dp2a_of::<i16, u8, true>,
        (Scalar::S32, Scalar::S32, true) => dp2a_of::<i16, i8, true>,
        _ => return None,
    })
}

/// What packed instructions do in each lane.
const ADD: u8 = 0;
const ADD_SAT: u8 = 1;
const SUB: u8 = 2;
const SUB_SAT: u8 = 3;
const MIN: u8 = 4;
const MAX: u8 = 5;
const MIN_RELU: u8 = 6;
const MAX_RELU: u8 = 7;

/// All lanes of a word, each by itself.
fn lanes<T: Int, const OP: u8>(a: u64, b: u64, _: u64, _: u64) -> u64 {
    (0..32 / T::BITS).map(|i| i * T::BITS).fold(0, |word, shift| {
        let (a, b) = (T::from_slot(a >> shift).wide(), T::from_slot(b >> shift).wide());
        let value = match OP {
            ADD => T::wrap(a + b),
            ADD_SAT => T::saturate(a + b),
            SUB => T::wrap(a - b),
            SUB_SAT => T::saturate(a - b),
            MIN => T::wrap(a.min(b)),
            MAX => T::wrap(a.max(b)),
            MIN_RELU => T::wrap(a.min(b).max(0)),
            _ => T::wrap(a.max(b).max(0)),
        };
        word | value.to_slot() << shift
    })
}

fn lanes_of<const OP: u8>(lanes: &str) -> Option<Compute> {
    Some(match lanes {
        "u16x2" => self::lanes::<u16, OP>,
        "s16x2" => self::lanes::<i16, OP>,
        "u8x4" => self::lanes::<u8, OP>,
        "s8x4" => self::lanes::<i8, OP>,
        _ => return None,
    })
}

/// A packed instruction by its name, with `.sat` or `.relu`, and its type: `u16x2`, `s8x4`.
pub(crate) fn packed(name: &str, lanes: &str) -> Option<Compute> {
    match name {
        "add" => lanes_of::<ADD>(lanes),
        "add.sat" => lanes_of::<ADD_SAT>(lanes),
        "sub" => lanes_of::<SUB>(lanes),
        "sub.sat" => lanes_of::<SUB_SAT>(lanes),
        "min" => lanes_of::<MIN>(lanes),
        "max" => lanes_of::<MAX>(lanes),
        "min.relu" if lanes.starts_with('s') => lanes_of::<MIN_RELU>(lanes),
        "max.relu" if lanes.starts_with('s') => lanes_of::<MAX_RELU>(lanes),
        _ => None,
    }
}

/// Two signed words clamped to a type, the second in the lower place; bytes below the lower half of the third.
fn pack_of<T: Int>(a: u64, b: u64, c: u64, _: u64) -> u64 {
    let part = |slot: u64| T::saturate(i32::from_slot(slot).wide()).to_slot();
    let both = part(a) << T::BITS | part(b);
    if T::BITS == 8 { both | (c & 0xffff) << 16 } else { both }
}

/// `cvt.pack.sat` to a type, and how many sources it has.
pub(crate) fn pack(to: Scalar) -> Option<(Compute, usize)> {
    Some(match to {
        Scalar::U8 => (pack_of::<u8>, 3),
        Scalar::S8 => (pack_of::<i8>, 3),
        Scalar::U16 => (pack_of::<u16>, 2),
        Scalar::S16 => (pack_of::<i16>, 2),
        _ => return None,
    })
}

fn min_relu(a: u64, b: u64, _: u64, _: u64) -> u64 {
    (a as i32).min(b as i32).max(0).to_slot()
}

fn max_relu(a: u64, b: u64, _: u64, _: u64) -> u64 {
    (a as i32).max(b as i32).max(0).to_slot()
}

pub(crate) fn relu(name: &str) -> Option<Compute> {
    match name {
        "min" => Some(min_relu),
        "max" => Some(max_relu),
        _ => None,
    }
}

/// One- and two-source arithmetic named by its opcode alone.
pub(crate) fn arithmetic(name: &str, ty: Scalar) -> Option<Compute> {
    match name {
        "add" => by_type!(ty, add),
        "sub" => by_type!(ty, sub),
        "add.sat" if ty == Scalar::S32 => Some(add_sat::<i32>),
        "sub.sat" if ty == Scalar::S32 => Some(sub_sat::<i32>),
        "mul.lo" => by_type!(ty, mul_lo),
        "mul.hi" if ty.width() == 64 && !ty.is_signed() => Some(mul_hi_u64),
        "mul.hi" => by_type!(ty, mul_hi),
        "mad.lo" => by_type!(ty, mad_lo),
        "mad.hi" if ty.width() == 64 && !ty.is_signed() => Some(mad_hi_u64),
        "mad.hi" => by_type!(ty, mad_hi),
        "mad.hi.sat" if ty == Scalar::S32 => Some(mad_hi_sat),
        "mul.wide" => Some(match ty {
            Scalar::U16 => mul_wide::<u16, u32>,
            Scalar::S16 => mul_wide::<i16, i32>,
            Scalar::U32 => mul_wide::<u32, u64>,
            Scalar::S32 => mul_wide::<i32, i64>,
            _ => return None,
        }),
        "mad.wide" => Some(match ty {
            Scalar::U16 => mad_wide::<u16, u32>,
            Scalar::S16 => mad_wide::<i16, i32>,
            Scalar::U32 => mad_wide::<u32, u64>,
            Scalar::S32 => mad_wide::<i32, i64>,
            _ => return None,
        }),
        "sad" => by_type!(ty, sad),
        "div" => by_type!(ty, div),
        "rem" => by_type!(ty, rem),
        "neg" if ty.is_signed() => by_type!(ty, neg),
        "abs" if ty.is_signed() => by_type!(ty, abs),
        "min" => by_type!(ty, min),
        "max" => by_type!(ty, max),
        "shl" => by_type!(ty, shl),
        "shr" => by_type!(ty, shr),
        "and" => Some(and),
        "or" => Some(or),
        "xor" => Some(xor),
        "not" if ty == Scalar::Pred => Some(not_pred),
        "not" => by_type!(ty, not),
        "cnot" => Some(cnot),
        "popc" => Some(popc),
        "clz" => by_width!(ty, clz),
        "brev" => by_width!(ty, brev),
        "bfind" => by_width!(ty, bfind_bit),
        "bfind.shiftamt" => by_width!(ty, bfind_shift),
        "bfe" => by_width!(ty, bfe),
        "bfi" => by_width!(ty, bfi),
        _ => None,
    }
}

macro_rules! comparisons {
    ($($name:ident = $operator:tt;)*) => { $(
        fn $name<T: Int>(a: u64, b: u64, _: u64, _: u64) -> u64 {
            u64::from(T::from_slot(a) $operator T::from_slot(b))
        }
    )* };
}

comparisons! {
    eq = ==;
    ne = !=;
    lt = <;
    le = <=;
    gt = >;
    ge = >=;
}

/// An integer comparison giving 0 or 1; `lo ls hi hs` are the unsigned spellings.
pub(crate) fn compare(operator: &str, ty: Scalar) -> Option<Compute> {
    if ty.is_signed() && matches!(operator, "lo" | "ls" | "hi" | "hs") {
        return None;
    }
    match operator {
        "eq" => by_type!(ty, eq),
        "ne" => by_type!(ty, ne),
        "lt" | "lo" => by_type!(ty, lt),
        "le" | "ls" => by_type!(ty, le),
        "gt" | "hi" => by_type!(ty, gt),
        "ge" | "hs" => by_type!(ty, ge),
        _ => None,
    }
}

pub(crate) fn select(a: u64, b: u64, c: u64, _: u64) -> u64 {
    if c == 0 { b } else { a }
}

/// `slct` on an `.s32` selector: `a` where it is not negative.
pub(crate) fn select_sign(a: u64, b: u64, c: u64, _: u64) -> u64 {
    if (c as i32) < 0 { b } else { a }
}

/// All ones for true: what `set` gives in an integer destination.
pub(crate) fn truth_mask(a: u64, _: u64, _: u64, _: u64) -> u64 {
    a * 0xffff_ffff
}

pub(crate) fn nonzero(a: u64, _: u64, _: u64, _: u64) -> u64 {
    u64::from(a != 0)
}
