//! The kernels: what is done to a vector's words, by operation and last stage. The rest of a form is in its constants.
//!
//! They are the stages of `eval.rs` once more, where that takes one value of any form at a time: the tests hold both
//! together.
//!
//! All of it must be inlined into functions that have the processor's features. A function or a closure that is not inlined lacks
//! them, and calls a function for each instruction.

use super::constants::{Input, Lane, Lanes, LowBits, Mad, Scalar};
use super::vector::{Vector, Wide};
use crate::isa::types::Operation;

/// What is done to some words of a, b and c.
pub(super) trait Kernel {
    type Constants;

    fn step<V: Vector>(k: &Self::Constants, a: V, b: V, c: V) -> V;
}

// Operations, as constant parameters can be numbers alone.
pub(super) const ADD: u8 = Operation::Add as u8;
pub(super) const SUB: u8 = Operation::Sub as u8;
pub(super) const AVRG: u8 = Operation::Avrg as u8;
pub(super) const ABSDIFF: u8 = Operation::Absdiff as u8;
pub(super) const MIN: u8 = Operation::Min as u8;
pub(super) const MAX: u8 = Operation::Max as u8;
pub(super) const SHL: u8 = Operation::Shl as u8;
pub(super) const SHR: u8 = Operation::Shr as u8;
pub(super) const SET: u8 = Operation::Set as u8;

/// Lanes of twice the width of a form's, in which all its values fit.
pub(super) trait Container {
    /// The width of the form's lanes.
    const LANE: u32;

    fn add<V: Vector>(a: V, b: V) -> V;
    fn sub<V: Vector>(a: V, b: V) -> V;
    fn min<V: Vector>(a: V, b: V) -> V;
    fn max<V: Vector>(a: V, b: V) -> V;
    fn shl<V: Vector>(a: V, by: u32) -> V;
    fn shr<V: Vector>(a: V, by: u32) -> V;
    fn sra<V: Vector>(a: V, by: u32) -> V;
    /// The sum of a word's containers.
    fn sum<V: Vector>(a: V) -> V;
    /// A value in each container of a word.
    fn splat<V: Vector>(like: V, value: u16) -> V;
}

/// Bytes, in half-words.
pub(super) struct Bytes;

impl Container for Bytes {
    const LANE: u32 = 8;

    #[inline(always)]
    fn add<V: Vector>(a: V, b: V) -> V {
        a.add16(b)
    }
    #[inline(always)]
    fn sub<V: Vector>(a: V, b: V) -> V {
        a.sub16(b)
    }
    #[inline(always)]
    fn min<V: Vector>(a: V, b: V) -> V {
        a.min16(b)
    }
    #[inline(always)]
    fn max<V: Vector>(a: V, b: V) -> V {
        a.max16(b)
    }
    #[inline(always)]
    fn shl<V: Vector>(a: V, by: u32) -> V {
        a.shl16(by)
    }
    #[inline(always)]
    fn shr<V: Vector>(a: V, by: u32) -> V {
        a.shr16(by)
    }
    #[inline(always)]
    fn sra<V: Vector>(a: V, by: u32) -> V {
        a.sra16(by)
    }
    #[inline(always)]
    fn sum<V: Vector>(a: V) -> V {
        a.sum_halves()
    }
    #[inline(always)]
    fn splat<V: Vector>(like: V, value: u16) -> V {
        like.splat(u32::from(value) * 0x1_0001)
    }
}

/// Half-words, in words.
pub(super) struct Halves;

impl Container for Halves {
    const LANE: u32 = 16;

    #[inline(always)]
    fn add<V: Vector>(a: V, b: V) -> V {
        a.add32(b)
    }
    #[inline(always)]
    fn sub<V: Vector>(a: V, b: V) -> V {
        a.sub32(b)
    }
    #[inline(always)]
    fn min<V: Vector>(a: V, b: V) -> V {
        a.min32(b)
    }
    #[inline(always)]
    fn max<V: Vector>(a: V, b: V) -> V {
        a.max32(b)
    }
    #[inline(always)]
    fn shl<V: Vector>(a: V, by: u32) -> V {
        a.shl32(by)
    }
    #[inline(always)]
    fn shr<V: Vector>(a: V, by: u32) -> V {
        a.shr32(by)
    }
    #[inline(always)]
    fn sra<V: Vector>(a: V, by: u32) -> V {
        a.sra32(by)
    }
    #[inline(always)]
    fn sum<V: Vector>(a: V) -> V {
        a
    }
    #[inline(always)]
    fn splat<V: Vector>(like: V, value: u16) -> V {
        like.splat(value.into())
    }
}

/// SIMD forms: the even lanes and the odd lanes, each in containers. `GATHERS` unless sources are read in place, and
/// `SUMS` where the last stage is the accumulation.
pub(super) struct InLanes<C, const OPERATION: u8, const GATHERS: bool, const SUMS: bool>(C);

impl<C: Container, const OPERATION: u8, const GATHERS: bool, const SUMS: bool> Kernel
    for InLanes<C, OPERATION, GATHERS, SUMS>
{
    type Constants = Lanes;

    #[inline(always)]
    fn step<V: Vector>(k: &Lanes, a: V, b: V, c: V) -> V {
        let (from_a, from_b) =
            if GATHERS { (V::gather(a, b, &k.a.gather), V::gather(a, b, &k.b.gather)) } else { (a, b) };
        let [a_even, a_odd] = read_lanes::<C, V>(&k.a, from_a);
        let [b_even, b_odd] = read_lanes::<C, V>(&k.b, from_b);
        let even = operate_in_lanes::<C, OPERATION, V>(k, a_even, b_even);
        let odd = operate_in_lanes::<C, OPERATION, V>(k, a_odd, b_odd);
        if SUMS {
            let counted = C::add(even.and(a.splat(k.even)), odd.and(a.splat(k.odd)));
            return C::sum(counted).add32(c);
        }
        let lower = if C::LANE == 8 { 0x00ff_00ff } else { 0xffff };
        let lanes = even.and(a.splat(lower)).or(C::shl(odd, C::LANE));
        lanes.and(a.splat(k.written)).or(c.and(a.splat(!k.written)))
    }
}

#[inline(always)]
fn read_lanes<C: Container, V: Vector>(lane: &Lane, word: V) -> [V; 2] {
    let word = word.xor(word.splat(lane.signs));
    let lower = if C::LANE == 8 { 0x00ff_00ff } else { 0xffff };
    let bias = word.splat(lane.bias);
    [C::sub(word.and(word.splat(lower)), bias), C::sub(C::shr(word, C::LANE), bias)]
}

/// Operate and saturate.
#[inline(always)]
fn operate_in_lanes<C: Container, const OPERATION: u8, V: Vector>(k: &Lanes, a: V, b: V) -> V {
    let top = 2 * C::LANE - 1;
    let t = match OPERATION {
        ADD => C::add(a, b),
        SUB => C::sub(a, b),
        AVRG => {
            // The sum plus one, less one where it is negative.
            let sum = C::add(a, b);
            C::sra(C::add(C::add(sum, C::splat(a, 1)), C::sra(sum, top)), 1)
        }
        ABSDIFF => C::max(C::sub(a, b), C::sub(b, a)),
        MIN => C::min(a, b),
        MAX => C::max(a, b),
        _ => {
            let less = C::sub(a, b).and(a.splat(k.holds.less as u32));
            let greater = C::sub(b, a).and(a.splat(k.holds.greater as u32));
            // 1 or 0 in every container, and saturation is not for comparisons.
            return C::shr(less.or(greater), top).xor(C::splat(a, k.holds.otherwise as u16));
        }
    };
    C::min(C::max(t, a.splat(k.least)), a.splat(k.greatest))
}

/// Operations on lanes of the form's own width that one instruction does or few, where they come to what the form says:
/// [`Packed::of`](super::choose) decides that.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[repr(u8)]
pub(super) enum Packed {
    Add,
    Sub,
    AddSigned,
    AddUnsigned,
    SubSigned,
    SubUnsigned,
    MinSigned,
    MinUnsigned,
    MaxSigned,
    MaxUnsigned,
    AvrgUnsigned,
    AbsdiffUnsigned,
    Equal,
}

/// SIMD forms without selectors and masks that are a [`Packed`] operation.
pub(super) struct InPlace<C, const PACKED: u8, const SUMS: bool>(C);

impl<C: Container, const PACKED: u8, const SUMS: bool> Kernel for InPlace<C, PACKED, SUMS> {
    type Constants = Lanes;

    #[inline(always)]
    fn step<V: Vector>(_: &Lanes, a: V, b: V, c: V) -> V {
        let lanes = operate_packed::<C, PACKED, V>(a, b);
        if !SUMS {
            lanes
        } else if C::LANE == 8 {
            lanes.sum_bytes().add32(c)
        } else {
            lanes.and(a.splat(0xffff)).add32(lanes.shr32(16)).add32(c)
        }
    }
}

#[inline(always)]
fn operate_packed<C: Container, const PACKED: u8, V: Vector>(a: V, b: V) -> V {
    macro_rules! packed {
        ($($operation:ident $bytes:ident $halves:ident,)*) => {
            $(if PACKED == Packed::$operation as u8 {
                return if C::LANE == 8 { a.$bytes(b) } else { a.$halves(b) };
            })*
        };
    }
    packed! {
        Add add8 add16,
        Sub sub8 sub16,
        AddSigned adds8 adds16,
        AddUnsigned addsu8 addsu16,
        SubSigned subs8 subs16,
        SubUnsigned subsu8 subsu16,
        MinSigned min8 min16,
        MinUnsigned minu8 minu16,
        MaxSigned max8 max16,
        MaxUnsigned maxu8 maxu16,
        AvrgUnsigned avgu8 avgu16,
        Equal eq8 eq16,
    }
    // One of the two differences is 0 when it saturates.
    if C::LANE == 8 { a.subsu8(b).or(b.subsu8(a)) } else { a.subsu16(b).or(b.subsu16(a)) }
}

/// Last stages of scalar forms.
pub(super) mod end {
    /// The result is d.
    pub(in super::super) const PLAIN: u8 = 0;
    /// The lower bits, shifted and merged into c or added to it as the constants say: also for [`PLAIN`] and [`ADD`].
    pub(in super::super) const LOWER: u8 = 1;
    pub(in super::super) const ADD: u8 = 2;
    pub(in super::super) const MIN: u8 = 3;
    pub(in super::super) const MAX: u8 = 4;
}

/// How the inputs of scalar forms are read.
pub(super) mod read {
    /// As the constants say: also for the others.
    pub(in super::super) const PARTS: u8 = 0;
    /// As they are.
    pub(in super::super) const WORDS: u8 = 1;
    /// As they are; and they, the result and c compare as signed, or as unsigned, without anything being done to them.
    pub(in super::super) const SIGNED: u8 = 2;
    pub(in super::super) const UNSIGNED: u8 = 3;
    /// As they are; and all of b is the amount of a shift.
    pub(in super::super) const CLAMPED: u8 = 4;
}

/// Scalar forms that 32 bits are enough for.
pub(super) struct InWords<const OPERATION: u8, const READ: u8, const END: u8>;

impl<const OPERATION: u8, const READ: u8, const END: u8> Kernel for InWords<OPERATION, READ, END> {
    type Constants = Scalar;

    #[inline(always)]
    fn step<V: Vector>(k: &Scalar, a: V, b: V, c: V) -> V {
        let (a, b) = if READ == read::PARTS { (read_word(&k.a, a), read_word(&k.b, b)) } else { (a, b) };
        let t = match OPERATION {
            ADD => a.add32(b),
            SUB => a.sub32(b),
            ABSDIFF => {
                let [less, greater] = [least_word::<READ, V>(k.order, a, b), greatest_word::<READ, V>(k.order, a, b)];
                greater.sub32(less)
            }
            MIN => least_word::<READ, V>(k.order, a, b),
            MAX => greatest_word::<READ, V>(k.order, a, b),
            // What is shifted by 32 or more is gone, without its being asked for.
            SHL if READ == read::CLAMPED => a.shlv32(b),
            SHL => a.shlv32(b.and(a.splat(k.amount))),
            SHR => shift_right(k, a, b),
            _ => {
                let (a, b) = (a.xor(a.splat(k.order)), b.xor(a.splat(k.order)));
                let less = b.gt32(a).and(a.splat(k.holds.less as u32));
                let greater = a.gt32(b).and(a.splat(k.holds.greater as u32));
                less.or(greater).and(a.splat(1)).xor(a.splat(k.holds.otherwise as u32))
            }
        };
        match END {
            end::PLAIN => t,
            end::ADD => t.add32(c),
            end::MIN => least_word::<READ, V>(k.secondary_order, t, c),
            end::MAX => greatest_word::<READ, V>(k.secondary_order, t, c),
            _ => lower_end(k, t, c),
        }
    }
}

#[inline(always)]
fn least_word<const READ: u8, V: Vector>(order: u32, a: V, b: V) -> V {
    let order = a.splat(order);
    match READ {
        read::SIGNED => a.min32(b),
        read::UNSIGNED => a.minu32(b),
        _ => a.xor(order).min32(b.xor(order)).xor(order),
    }
}

#[inline(always)]
fn greatest_word<const READ: u8, V: Vector>(order: u32, a: V, b: V) -> V {
    let order = a.splat(order);
    match READ {
        read::SIGNED => a.max32(b),
        read::UNSIGNED => a.maxu32(b),
        _ => a.xor(order).max32(b.xor(order)).xor(order),
    }
}

#[inline(always)]
fn read_word<V: Vector>(input: &Input, word: V) -> V {
    let sign = word.splat(input.cut.sign as u32);
    read_unsigned(input, word).xor(sign).sub32(sign)
}

#[inline(always)]
fn read_unsigned<V: Vector>(input: &Input, word: V) -> V {
    word.shr_all32(input.shift).and(word.splat(input.cut.bits as u32))
}

#[inline(always)]
fn shift_right<V: Vector>(k: &Scalar, a: V, b: V) -> V {
    // All bits of a negative value are flipped, so that zeros come in from above.
    let sign = a.sra32(31).and(a.splat(k.arithmetic));
    a.xor(sign).shrv32(b.and(a.splat(k.amount))).xor(sign)
}

#[inline(always)]
fn lower_end<V: Vector>(k: &Scalar, t: V, c: V) -> V {
    t.shl_all32(k.left).and(t.splat(k.written)).add32(c.and(t.splat(k.kept)))
}

/// How the factors of a product are read.
pub(super) mod factors {
    /// As signed words; what is unsigned has no sign bit.
    pub(in super::super) const SIGNED: u8 = 0;
    /// As unsigned words.
    pub(in super::super) const UNSIGNED: u8 = 1;
    /// One as a signed word, the other as an unsigned one.
    pub(in super::super) const MIXED: u8 = 2;
    /// In any way, as only the lower word of the product counts.
    pub(in super::super) const ANY: u8 = 3;
}

/// `vmad`: parts of words are read if `PARTS` says so, and sums are saturated if `SATURATES` does.
pub(super) struct Products<const FACTORS: u8, const PARTS: bool, const SATURATES: bool>;

impl<const FACTORS: u8, const PARTS: bool, const SATURATES: bool> Kernel for Products<FACTORS, PARTS, SATURATES> {
    type Constants = Mad;

    #[inline(always)]
    fn step<V: Vector>(k: &Mad, a: V, b: V, c: V) -> V {
        let (a, b) = if PARTS { (read_word(&k.a, a), read_word(&k.b, b)) } else { (a, b) };
        let c = c.xor(a.splat(k.flip_c));
        if FACTORS == factors::ANY {
            return a.mul32(b).xor(a.splat(k.flip_product as u32)).add32(c).add32(a.splat(k.addend as u32));
        }
        let [product, other_product] = if FACTORS == factors::SIGNED { a.mul_signed(b) } else { a.mul_unsigned(b) };
        let [surplus, other_surplus] = if FACTORS == factors::MIXED {
            // A negative factor counts 2^32 too many as an unsigned one.
            let of_a = a.sra32(31).and(b).and(a.splat(k.a_signed));
            of_a.add32(b.sra32(31).and(a).and(a.splat(k.b_signed))).widen()
        } else {
            [product.splat64(0); 2]
        };
        let [c, other_c] = c.widen();
        let sums = [
            sum_of_product::<FACTORS, SATURATES, _>(k, product, surplus, c),
            sum_of_product::<FACTORS, SATURATES, _>(k, other_product, other_surplus, other_c),
        ];
        let lower = V::narrow([sums[0].shr_all64(k.scale), sums[1].shr_all64(k.scale)]);
        if !SATURATES {
            return lower;
        }
        let sign = a.splat(k.scaled_sign);
        let upper = V::narrow_upper(sums).shr_all32(k.scale).xor(sign).sub32(sign);
        // The value is in range if the upper word repeats the sign of the lower one, or for unsigned results is 0.
        let in_range = upper.eq32(lower.sra32(31).and(a.splat(k.signed)));
        let end = upper.sra32(31).xor(a.splat(k.greatest));
        end.xor(end.xor(lower).and(in_range))
    }
}

/// The product less its surplus, negated or not, and c.
#[inline(always)]
fn sum_of_product<const FACTORS: u8, const SATURATES: bool, W: Wide>(k: &Mad, product: W, surplus: W, c: W) -> W {
    let product = match FACTORS {
        // What is so great saturates, whatever is added. Without saturation only bits below are looked at.
        factors::UNSIGNED if SATURATES => product.limit_upper(1 << 30),
        factors::MIXED => product.sub64(surplus.shl_all64(32)),
        _ => product,
    };
    product.xor64(product.splat64(k.flip_product)).add64(c).add64(product.splat64(k.addend))
}

/// Which stages there are between the operation and the last.
pub(super) mod stages {
    pub(in super::super) const EXACT: u8 = 0;
    /// Saturation, as the manual has it.
    pub(in super::super) const SATURATED: u8 = 1;
    /// Saturation that looks at some bits alone, or takes negative values for great ones; and of both what the secondary
    /// operation does: also for the others.
    pub(in super::super) const DEVIATING: u8 = 2;
}

/// All other scalar forms: exact values in 64 bits, except values too great to matter (see [`below_top`]).
pub(super) struct Exactly<const OPERATION: u8, const STAGES: u8, const END: u8>;

impl<const OPERATION: u8, const STAGES: u8, const END: u8> Kernel for Exactly<OPERATION, STAGES, END> {
    type Constants = Scalar;

    #[inline(always)]
    fn step<V: Vector>(k: &Scalar, a: V, b: V, c: V) -> V {
        let [c_one, c_other] = if END == end::LOWER { c.widen() } else { widen(c, k.c.sign) };
        let [one, other] = if OPERATION == SHR {
            // A word is enough for what is shifted right.
            let t = shift_right(k, read_word(&k.a, a), read_word(&k.b, b));
            let [one, other] = widen(t, k.a_sign);
            [finish::<STAGES, END, _>(k, one, c_one), finish::<STAGES, END, _>(k, other, c_other)]
        } else {
            let [a_one, a_other] = widen(read_unsigned(&k.a, a), k.a.cut.sign);
            let [b_one, b_other] = widen(read_unsigned(&k.b, b), k.b.cut.sign);
            let one = operate_exactly::<OPERATION, _>(k, a_one, b_one);
            let other = operate_exactly::<OPERATION, _>(k, a_other, b_other);
            [finish::<STAGES, END, _>(k, one, c_one), finish::<STAGES, END, _>(k, other, c_other)]
        };
        let t = V::narrow([one, other]);
        if END == end::LOWER { lower_end(k, t, c) } else { t }
    }
}

#[inline(always)]
fn operate_exactly<const OPERATION: u8, W: Wide>(k: &Scalar, a: W, b: W) -> W {
    match OPERATION {
        ADD => a.add64(b),
        SUB => a.sub64(b),
        ABSDIFF => a.sub64(b).max64(b.sub64(a)),
        MIN => a.min64(b),
        MAX => a.max64(b),
        SHL => below_top(k, a.shlv64(amount(k, b))),
        _ => {
            let less = a.sub64(b).and64(a.splat64(k.holds.less));
            let greater = b.sub64(a).and64(a.splat64(k.holds.greater));
            less.or64(greater).shr_all64(63).xor64(a.splat64(k.holds.otherwise))
        }
    }
}

/// Saturation and the secondary operation.
#[inline(always)]
fn finish<const STAGES: u8, const END: u8, W: Wide>(k: &Scalar, t: W, c: W) -> W {
    let (least, greatest) = (t.splat64(k.least), t.splat64(k.greatest));
    let t = match STAGES {
        stages::EXACT => t,
        stages::SATURATED => t.max64(least).min64(greatest),
        _ => {
            let order = t.splat64(k.greatest_order);
            cut(t, k.saturated).max64(least).xor64(order).min64(greatest).xor64(order)
        }
    };
    if END == end::LOWER {
        return t;
    }
    if STAGES != stages::DEVIATING {
        return if END == end::MIN { t.min64(c) } else { t.max64(c) };
    }
    let order = t.splat64(k.compared_order);
    let (t, c) = (cut(t, k.compared).xor64(order), c.xor64(order));
    if END == end::MIN { t.min64(c).xor64(order) } else { t.max64(c).xor64(order) }
}

/// Words with a sign, if there is one, as 64-bit values.
#[inline(always)]
fn widen<V: Vector>(words: V, sign: u64) -> [V::Wide; 2] {
    // With its sign flipped a word is unsigned, and too great by as much.
    let [one, other] = words.xor(words.splat(sign as u32)).widen();
    [one.sub64(one.splat64(sign)), other.sub64(one.splat64(sign))]
}

/// The value of the lower bits.
#[inline(always)]
fn cut<W: Wide>(value: W, cut: LowBits) -> W {
    let sign = value.splat64(cut.sign);
    value.and64(value.splat64(cut.bits)).xor64(sign).sub64(sign)
}

#[inline(always)]
fn amount<W: Wide>(k: &Scalar, b: W) -> W {
    b.and64(b.splat64(k.amount.into())).min64(b.splat64(32))
}

/// Shifted values of 2^63 and more, by 2^62 less: they are not negative then, they are still greater than
/// whatever they are compared with, and their lower words are the same.
#[inline(always)]
fn below_top<W: Wide>(k: &Scalar, value: W) -> W {
    let top = value.and64(value.splat64(k.top));
    value.xor64(top).or64(top.shr_all64(1))
}
