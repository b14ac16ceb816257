//! Evaluation, exact by the manual's pseudo code (PTX ISA 9.7.18), and the trace of it that people read.
//!
//! Intermediate values are exact integers: nothing wraps before the last stage takes the lower bits. The stages keep
//! the manual's names and order: select, operate, saturate, then secondary operation, merge or accumulate. One
//! definition of each stage serves both [`Form::eval`] and [`Form::explain`], except for two that SIMD evaluation does for
//! all lanes at once (select, and the last stage): the tests hold their outcomes together.
//!
//! The stages take the [`Deviations`] of the code that ptxas emits as an argument: there is one implementation, and each
//! deviation is a condition in the stage where it happens. `by` is that argument; SIMD forms have none.

use alloc::vec::Vec;
use core::cmp::Ordering;
use core::ops::{Add, Shl, Shr, Sub};

use crate::deviation::Deviations;
use crate::isa::form::{Finish, Form, MadMode, Variant};
use crate::isa::range::{Range, extend, lower};
use crate::isa::types::{Comparison, Mask, Operation, Scale, Secondary, Selector, Shape, ShiftMode, Type};
use crate::semantics::Semantics;

/// An exact intermediate value. The widest, `vmad`'s product of two 33-bit values plus c, needs 67 bits.
pub type Exact = i128;

impl Form {
    /// The value of d for these register values: the lower 32 bits of what the manual's pseudo code computes.
    ///
    /// `c` does not matter where the form does not [use it](Form::uses_c).
    ///
    /// ```
    /// let form: vop::Form = "vadd4.s32.s32.u32.sat d.b20, a, b, c".parse().unwrap();
    /// assert_eq!(form.eval(0x12f48056, 0xff7f8001, 0x00000064), 0x00730057);
    /// ```
    #[inline]
    pub fn eval(self, a: u32, b: u32, c: u32) -> u32 {
        self.eval_by(Deviations::NONE, a, b, c)
    }

    /// The value of d that the manual's pseudo code, or the code that a ptxas emits, computes.
    #[inline]
    pub fn eval_as(self, semantics: Semantics, a: u32, b: u32, c: u32) -> u32 {
        self.eval_by(semantics.deviations(), a, b, c)
    }

    /// The value of d under any set of deviations.
    #[inline]
    pub fn eval_by(self, by: Deviations, a: u32, b: u32, c: u32) -> u32 {
        let sources = u64::from(b) << 32 | u64::from(a);
        match self.mnemonic().shape() {
            Shape::Scalar if by.is_empty() => self.eval_scalar_by_the_manual(sources, c),
            Shape::Scalar => self.eval_scalar_by(by, sources, c),
            Shape::Halves => self.eval_simd::<2>(sources, c),
            Shape::Bytes => self.eval_simd::<4>(sources, c),
        }
    }

    // Two functions, in the first of which the deviations are known to be none and cost nothing. Neither is inlined: that
    // would cost SIMD forms, which share the caller, a tenth.
    #[inline(never)]
    fn eval_scalar_by_the_manual(self, sources: u64, c: u32) -> u32 {
        self.eval_scalar(Deviations::NONE, sources, c)
    }

    #[inline(never)]
    fn eval_scalar_by(self, by: Deviations, sources: u64, c: u32) -> u32 {
        self.eval_scalar(by, sources, c)
    }

    #[inline(always)]
    fn eval_scalar(self, by: Deviations, sources: u64, c: u32) -> u32 {
        let [a, b] = [false, true].map(|second| self.input(by, Shape::Scalar, 0, second).value(sources));
        match (self.mnemonic().operation(), self.variant()) {
            (Operation::Mad, Variant::Mad(mode, scale)) => {
                self.end_scalar(by, self.mad(by, a.into(), b.into(), self.mad_addend(by, c), mode, scale), c)
            }
            (Operation::Shl, _) => self.end_scalar(by, self.shift_left(by, a, b), c),
            (operation, _) => self.end_scalar(by, self.operate(operation, Holds::new(self.comparison()), a, b), c),
        }
    }

    /// Saturate, and the scalar last stage.
    #[inline(always)]
    fn end_scalar<T: Integer>(self, by: Deviations, t: T, c: u32) -> u32 {
        let t = self.saturate(by, t);
        match self.finish() {
            Finish::Secondary(secondary) => self.secondary(by, secondary, t, c).low(),
            Finish::Merge(part) => merge(self.inserted(by, t.low()), c, part.shift(), part.bits()),
            Finish::Plain | Finish::Lanes(_) | Finish::Accumulate(_) => t.low(),
        }
    }

    fn eval_simd<const N: usize>(self, sources: u64, c: u32) -> u32 {
        // One loop an operation, each with its operation known, is several times as fast as one that asks in each lane.
        match self.mnemonic().operation() {
            Operation::Add => self.eval_lanes::<N>(Operation::Add, sources, c),
            Operation::Sub => self.eval_lanes::<N>(Operation::Sub, sources, c),
            Operation::Avrg => self.eval_lanes::<N>(Operation::Avrg, sources, c),
            Operation::Absdiff => self.eval_lanes::<N>(Operation::Absdiff, sources, c),
            Operation::Min => self.eval_lanes::<N>(Operation::Min, sources, c),
            Operation::Max => self.eval_lanes::<N>(Operation::Max, sources, c),
            operation => self.eval_lanes::<N>(operation, sources, c),
        }
    }

    #[inline(always)]
    fn eval_lanes<const N: usize>(self, operation: Operation, sources: u64, c: u32) -> u32 {
        let shape = if N == 2 { Shape::Halves } else { Shape::Bytes };
        let (mask, accumulate) = match self.finish() {
            Finish::Accumulate(mask) => (mask, true),
            Finish::Lanes(mask) => (mask, false),
            // A scalar finish: no SIMD form has one.
            _ => return c,
        };
        // Lanes are at most 16 bits wide: 32 hold every intermediate value, and cost less than 64 or 128.
        let (least, greatest) =
            self.saturation().map_or((i32::MIN, i32::MAX), |range| (range.min() as i32, range.max() as i32));
        let holds = Holds::new(self.comparison());
        let a = self.lanes::<N>(shape, false, sources);
        let b = self.lanes::<N>(shape, true, sources);
        let mut t = [0; N];
        for i in 0..N {
            t[i] = self.operate(operation, holds, a[i], b[i]).clamp(least, greatest);
        }
        if accumulate {
            // Modulo 2^32 the sum of the exact values is the sum of their lower bits.
            return (0..N).fold(c, |d, i| d.wrapping_add(t[i] as u32 & u32::from(mask.has(i)).wrapping_neg()));
        }
        let results = (0..N).fold(0, |d, i| d | (t[i] as u32 & lower(shape.bits())) << (i as u32 * shape.bits()));
        let written = mask.word(shape);
        (results & written) | (c & !written)
    }

    /// Select, for all lanes of a SIMD form.
    #[inline(always)]
    fn lanes<const N: usize>(self, shape: Shape, second: bool, sources: u64) -> [i32; N] {
        let (selector, ty) =
            if second { (self.packed_bsel(), self.btype()) } else { (self.packed_asel(), self.atype()) };
        let word = if selector == Selector::default_for(shape, second).pack() {
            (sources >> if second { 32 } else { 0 }) as u32
        } else {
            (0..N).fold(0, |word, i| {
                let lane = (sources >> (Selector::lane(selector, shape, i) * shape.bits())) as u32;
                word | (lane & lower(shape.bits())) << (i as u32 * shape.bits())
            })
        };
        let sign = (ty.is_signed() as i32) << (shape.bits() - 1);
        core::array::from_fn(|i| {
            let pattern = (word >> (i as u32 * shape.bits())) & lower(shape.bits());
            (pattern as i32 ^ sign) - sign
        })
    }

    /// Select: where lane `i`'s first or second input comes from, and how it is read. The shape is the form's own.
    #[inline(always)]
    fn input(self, by: Deviations, shape: Shape, i: usize, second: bool) -> Input {
        let (selector, mut ty) =
            if second { (self.packed_bsel(), self.btype()) } else { (self.packed_asel(), self.atype()) };
        let (shift, bits) = match shape {
            Shape::Scalar => {
                let (shift, bits) = Selector::part(selector);
                if bits == 32 && self.reads_words_signed(by) {
                    ty = Type::S32;
                }
                (shift + if second { 32 } else { 0 }, bits)
            }
            Shape::Halves | Shape::Bytes => (Selector::lane(selector, shape, i) * shape.bits(), shape.bits()),
        };
        Input { shift, bits, ty }
    }

    /// How a form reads its first or second input, in each lane.
    pub(crate) fn input_range(self, by: Deviations, second: bool) -> Range {
        let Input { bits, ty, .. } = self.input(by, self.mnemonic().shape(), 0, second);
        Range::new(ty.is_signed(), bits)
    }

    /// Operate: the raw result of one lane, for every operation whose results fit 64 bits; `vshl`'s and `vmad`'s do not,
    /// see [`operate_exactly`](Form::operate_exactly). `holds` is the form's own comparison.
    #[inline(always)]
    fn operate<T: Integer>(self, operation: Operation, holds: Holds, a: T, b: T) -> T {
        match operation {
            Operation::Add => a + b,
            Operation::Sub => a - b,
            Operation::Absdiff => (a - b).max(b - a),
            Operation::Min => a.min(b),
            Operation::Max => a.max(b),
            // "if ((Va + Vb) >= 0) t = (Va + Vb + 1) >> 1; else t = (Va + Vb) >> 1"
            Operation::Avrg => (a + b + T::from(a + b >= T::from(false))) >> 1,
            Operation::Shr => a >> self.shift_amount(b.low()),
            Operation::Set => T::from(holds.between(a, b)),
            Operation::Shl | Operation::Mad => T::from(false),
        }
    }

    /// The raw result for any operation; of `vmad` the product, negated if the form says so.
    pub(crate) fn operate_exactly(self, by: Deviations, a: i64, b: i64) -> Exact {
        match (self.mnemonic().operation(), self.variant()) {
            (Operation::Mad, Variant::Mad(mode, _)) => product(a.into(), b.into(), mode),
            (Operation::Shl, _) => self.shift_left(by, a, b),
            (operation, _) => self.operate(operation, Holds::new(self.comparison()), a, b).into(),
        }
    }

    #[inline(always)]
    fn shift_left(self, by: Deviations, a: i64, b: i64) -> Exact {
        let t = Exact::from(a) << self.shift_amount(b.low());
        if self.shifts_in_64_bits(by) { t.lower(64) } else { t }
    }

    /// "if (mode == .clamp && tb > 32) tb = 32; if (mode == .wrap) tb = tb & 0x1f"
    #[inline]
    fn shift_amount(self, b: u32) -> u32 {
        match self.variant() {
            Variant::Shift(ShiftMode::Wrap) => b & 31,
            _ => b.min(32),
        }
    }

    /// `vmad`'s c, read by the sign of the final result.
    #[inline(always)]
    pub(crate) fn mad_addend(self, by: Deviations, c: u32) -> Exact {
        extend(c, 32, self.c_type(by)).into()
    }

    /// The exact value of `vmad`'s sum, scaled.
    ///
    /// The manual negates by complement and an added lsb; on exact integers that is negation. Its scaling keeps 64 bits,
    /// which hold every scaled sum.
    #[inline(always)]
    pub(crate) fn mad(
        self,
        by: Deviations,
        a: Exact,
        b: Exact,
        c: Exact,
        mode: MadMode,
        scale: Option<Scale>,
    ) -> Exact {
        let c = if mode.negates_c() { -c } else { c };
        let sum = product(a, b, mode) + c + Exact::from(mode == MadMode::PlusOne);
        match scale {
            None => sum,
            Some(scale) if self.scales_unsigned(by) => (sum as u64 >> scale.bits()).into(),
            Some(scale) => sum >> scale.bits(),
        }
    }

    /// The range that `.sat` clamps to; `None` without `.sat`.
    #[inline]
    pub fn saturation(self) -> Option<Range> {
        self.saturation_by(Deviations::NONE)
    }

    /// The range that `.sat` clamps to under a set of deviations.
    #[inline(always)]
    pub(crate) fn saturation_by(self, by: Deviations) -> Option<Range> {
        let bits = match self.finish() {
            Finish::Merge(_) if self.saturates_shift_to_word(by) => 32,
            Finish::Merge(part) => part.bits(),
            _ => self.mnemonic().shape().bits(),
        };
        self.sat().then(|| Range { signed: self.is_signed(), bits })
    }

    /// Saturate: optSaturate, and the SIMD forms' CLAMP.
    #[inline(always)]
    fn saturate<T: Integer>(self, by: Deviations, t: T) -> T {
        let Some(range) = self.saturation_by(by) else { return t };
        let (least, greatest) = (T::new(range.min()), T::new(range.max()));
        if by.is_empty() {
            return t.clamp(least, greatest);
        }
        let zero = T::new(0);
        let t = if self.keeps_low_34_bits(by) { t.lower(34) } else { t };
        if self.saturates_part_unsigned(by) {
            if t < zero { greatest } else { t.min(greatest) }
        } else if self.saturates_by_sign(by) {
            t.max(zero)
        } else {
            t.clamp(least, greatest)
        }
    }

    /// optSecOp. "The sign of the third operand is based on `dtype`"; `vset` has none and is unsigned.
    #[inline(always)]
    fn secondary<T: Integer>(self, by: Deviations, secondary: Secondary, t: T, c: u32) -> T {
        let (t, c) = (self.compared(by, t), T::new(extend(c, 32, self.c_type(by))));
        // As unsigned 64 bits a negative value is greater than every c.
        let beyond = self.compares_unsigned(by) && t < T::new(0);
        match secondary {
            Secondary::Add => t + c,
            Secondary::Min if beyond => c,
            Secondary::Min => t.min(c),
            Secondary::Max if beyond => t,
            Secondary::Max => t.max(c),
        }
    }

    /// What a merge inserts: the lower bits of this.
    #[inline(always)]
    fn inserted(self, by: Deviations, t: u32) -> u32 {
        if self.merges_wrong_half(by) { t >> 16 } else { t }
    }

    /// What the secondary operation takes: the result, or what is left of it.
    #[inline(always)]
    fn compared<T: Integer>(self, by: Deviations, t: T) -> T {
        if self.cuts_to_32_bits(by) { t.lower(32) } else { t }
    }

    /// How c is read, where it is a number: by the sign of the result.
    #[inline(always)]
    pub(crate) fn c_type(self, by: Deviations) -> Type {
        let signed = if self.signs_c_by_a(by) {
            self.atype().is_signed()
        } else {
            self.reads_words_signed(by) || self.is_signed()
        };
        if signed { Type::S32 } else { Type::U32 }
    }
}

/// The integers that stages compute with, each where all values fit it: 32 bits in lanes, 64 in scalar forms, and
/// [`Exact`] where 64 are too few.
trait Integer:
    Copy + Ord + From<bool> + Add<Output = Self> + Sub<Output = Self> + Shl<u32, Output = Self> + Shr<u32, Output = Self>
{
    /// A value that fits.
    fn new(value: i64) -> Self;
    /// The lower bits, as a signed value. More bits than the integer has leave it as it is.
    fn lower(self, bits: u32) -> Self;
    /// The lower 32 bits.
    fn low(self) -> u32;
}

macro_rules! integers {
    ($($ty:ty)*) => {$(
        impl Integer for $ty {
            #[inline]
            fn new(value: i64) -> $ty {
                value as $ty
            }

            #[inline]
            fn lower(self, bits: u32) -> $ty {
                let above = <$ty>::BITS.saturating_sub(bits);
                self << above >> above
            }

            #[inline]
            fn low(self) -> u32 {
                self as u32
            }
        }
    )*};
}

integers!(i32 i64 Exact);

/// A comparison decided: whether it holds for less, equal and greater, so that lanes need not ask which it is.
#[derive(Clone, Copy)]
struct Holds {
    less: bool,
    equal: bool,
    greater: bool,
}

impl Holds {
    /// That of a form; of one that does not compare, one that never holds.
    #[inline]
    fn new(comparison: Option<Comparison>) -> Holds {
        let of = |ordering| comparison.is_some_and(|comparison| comparison.holds(ordering));
        Holds { less: of(Ordering::Less), equal: of(Ordering::Equal), greater: of(Ordering::Greater) }
    }

    #[inline]
    fn between<T: Ord>(self, a: T, b: T) -> bool {
        (self.less & (a < b)) | (self.equal & (a == b)) | (self.greater & (a > b))
    }
}

/// Where an input comes from: a position in b:a, the 64 bits whose lower half is a.
#[derive(Clone, Copy)]
struct Input {
    shift: u32,
    bits: u32,
    ty: Type,
}

impl Input {
    #[inline]
    fn value(self, sources: u64) -> i64 {
        extend((sources >> self.shift) as u32, self.bits, self.ty)
    }

    fn selected(self, sources: u64) -> Selected {
        Selected {
            from_b: self.shift >= 32,
            shift: self.shift % 32,
            bits: self.bits,
            pattern: (sources >> self.shift) as u32 & lower(self.bits),
            ty: self.ty,
            value: self.value(sources),
        }
    }
}

#[inline]
fn product(a: Exact, b: Exact, mode: MadMode) -> Exact {
    if mode.negates_product() { -(a * b) } else { a * b }
}

/// optMerge: c with the lower bits of t in place of its own.
#[inline]
const fn merge(t: u32, c: u32, shift: u32, bits: u32) -> u32 {
    let mask = lower(bits) << shift;
    (t << shift & mask) | (c & !mask)
}

/// An input of a lane as the select stage took it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub struct Selected {
    /// Whether it came from register b rather than a.
    pub from_b: bool,
    /// The position of its least significant bit there.
    pub shift: u32,
    /// Its width in bits.
    pub bits: u32,
    /// Its bits.
    pub pattern: u32,
    /// How they are read: by the type of the operand that it stands for; ptxas reads the words of `vmad` as signed.
    pub ty: Type,
    /// Its value.
    pub value: i64,
}

/// Everything that happens on the way from inputs to d, by [`Form::explain`].
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Trace {
    /// The form.
    pub form: Form,
    /// Whose answer this is.
    pub semantics: Semantics,
    /// The deviations that make d another than the manual's for these inputs: with any of them taken back it would change.
    pub deviations: Deviations,
    /// The values of registers a, b and c.
    pub inputs: [u32; 3],
    /// The lanes, lane 0 (the least significant) first: one, two or four.
    pub lanes: Vec<Lane>,
    /// What `.sat` clamped to, if there is one.
    pub saturation: Option<Range>,
    /// How c is read where it is a number.
    pub c_type: Type,
    /// The last stage.
    pub end: End,
    /// The value of d.
    pub d: u32,
}

/// One lane's way.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Lane {
    /// The two inputs.
    pub inputs: [Selected; 2],
    /// The exact raw result; of `vmad` the product, negated if the form says so.
    pub raw: Exact,
    /// `vmad` alone: what was added to the product and what became of the sum.
    pub mad: Option<Mad>,
    /// After saturation; equal to the result before it where nothing was clamped.
    pub saturated: Exact,
}

impl Lane {
    /// What went into the saturation: `vmad`'s scaled sum, else the raw result.
    pub fn unsaturated(&self) -> Exact {
        self.mad.as_ref().map_or(self.raw, |mad| mad.scaled)
    }
}

/// The middle stages of `vmad`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub struct Mad {
    /// c by its sign, negated if the form says so.
    pub addend: Exact,
    /// 1 with `.po`, else 0.
    pub plus_one: Exact,
    /// Product, addend and plus one.
    pub sum: Exact,
    /// The sum after `.shr7` or `.shr15`; the sum itself without.
    pub scaled: Exact,
}

/// The last stage.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum End {
    /// The lower 32 bits of the result.
    Truncate,
    /// A secondary operation.
    Secondary {
        /// Which.
        operation: Secondary,
        /// What it took of the result.
        t: Exact,
        /// The value of c.
        c: Exact,
        /// The exact outcome, whose lower 32 bits are d.
        outcome: Exact,
    },
    /// The lower bits of the result in place of a part of c.
    Merge {
        /// Where the part begins.
        shift: u32,
        /// How wide it is.
        bits: u32,
        /// The bits that are inserted there.
        inserted: u32,
    },
    /// The lanes of the mask, the others from c.
    Lanes(Mask),
    /// c plus the lanes of the mask.
    Accumulate {
        /// The lanes that count.
        mask: Mask,
        /// The exact sum of those lanes, without c.
        sum: Exact,
    },
}

impl Form {
    /// The stages of [`eval`](Form::eval) as data.
    pub fn explain(self, a: u32, b: u32, c: u32) -> Trace {
        self.explain_as(Semantics::Isa, a, b, c)
    }

    /// The stages of [`eval_as`](Form::eval_as) as data.
    pub fn explain_as(self, semantics: Semantics, a: u32, b: u32, c: u32) -> Trace {
        let by = semantics.deviations().concerning(self);
        let sources = u64::from(b) << 32 | u64::from(a);
        let lanes: Vec<Lane> =
            (0..self.mnemonic().shape().lanes()).map(|i| self.explain_lane(by, i, sources, c)).collect();
        let first = lanes.first().map_or(0, |lane| lane.saturated);
        let end = match self.finish() {
            Finish::Plain => End::Truncate,
            Finish::Secondary(operation) => End::Secondary {
                operation,
                t: self.compared(by, first),
                c: extend(c, 32, self.c_type(by)).into(),
                outcome: self.secondary(by, operation, first, c),
            },
            Finish::Merge(part) => {
                let (shift, bits) = (part.shift(), part.bits());
                End::Merge { shift, bits, inserted: self.inserted(by, first.low()) & lower(bits) }
            }
            Finish::Lanes(mask) => End::Lanes(mask),
            Finish::Accumulate(mask) => {
                let counted = lanes.iter().enumerate().filter(|&(i, _)| mask.has(i));
                End::Accumulate { mask, sum: counted.map(|(_, lane)| lane.saturated).sum() }
            }
        };
        let d = compose(&lanes, end, c, self.mnemonic().shape().bits());
        Trace {
            form: self,
            semantics,
            deviations: self.deciding(by, a, b, c),
            inputs: [a, b, c],
            lanes,
            saturation: self.saturation_by(by),
            c_type: self.c_type(by),
            end,
            d,
        }
    }

    /// Those deviations that d depends on: the others of the set can be taken back one after the other, and d stays.
    /// None if d is the manual's.
    pub fn deciding(self, by: Deviations, a: u32, b: u32, c: u32) -> Deviations {
        let d = self.eval_by(by, a, b, c);
        if d == self.eval(a, b, c) {
            return Deviations::NONE;
        }
        by.iter().fold(by, |by, deviation| {
            let fewer = by.without(deviation);
            if self.eval_by(fewer, a, b, c) == d { fewer } else { by }
        })
    }

    fn explain_lane(self, by: Deviations, i: usize, sources: u64, c: u32) -> Lane {
        let inputs = [false, true].map(|second| self.input(by, self.mnemonic().shape(), i, second).selected(sources));
        let [a, b] = inputs.map(|input| input.value);
        let raw = self.operate_exactly(by, a, b);
        let Variant::Mad(mode, scale) = self.variant() else {
            return Lane { inputs, raw, mad: None, saturated: self.saturate(by, raw) };
        };
        let c = self.mad_addend(by, c);
        let plus_one = Exact::from(mode == MadMode::PlusOne);
        let addend = if mode.negates_c() { -c } else { c };
        let scaled = self.mad(by, a.into(), b.into(), c, mode, scale);
        let stages = Mad { addend, plus_one, sum: raw + addend + plus_one, scaled };
        Lane { inputs, raw, mad: Some(stages), saturated: self.saturate(by, scaled) }
    }
}

/// d from the stages before it.
fn compose(lanes: &[Lane], end: End, c: u32, bits: u32) -> u32 {
    match end {
        End::Truncate => lanes.first().map_or(0, |lane| lane.saturated.low()),
        End::Secondary { outcome, .. } => outcome.low(),
        End::Merge { shift, bits, inserted } => merge(inserted, c, shift, bits),
        End::Lanes(mask) => {
            let written = lanes.iter().enumerate().filter(|&(i, _)| mask.has(i));
            written.fold(c, |d, (i, lane)| merge(lane.saturated.low(), d, i as u32 * bits, bits))
        }
        End::Accumulate { sum, .. } => c.wrapping_add(sum.low()),
    }
}
