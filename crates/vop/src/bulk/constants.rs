//! The numbers that kernels compute with, found from the form before the first word is seen.
//!
//! Selectors, masks, types, deviations and the ends of saturation are data here, so that one kernel serves all of them.

use crate::deviation::Deviations;
use crate::interval::Interval;
use crate::interval::OperandValue;
use crate::isa::form::{Finish, Form, MadMode, Variant};
use crate::isa::range::Range;
use crate::isa::types::{Comparison, Mask, Operation, Secondary, Selector, ShiftMode};

/// A choice of four bytes from the eight of a and b.
#[derive(Debug, Clone, Copy)]
pub(super) struct Gather {
    /// For each byte: all bits if it comes from b.
    pub(super) from_b: [u32; 4],
    /// For each byte: how far left it is from the upper end of its register.
    pub(super) left: [u32; 4],
    /// For the sixteen bytes of four words, which of a's is taken, as `pshufb` reads it: 0x80 where it is none.
    pub(super) bytes_of_a: [u8; 16],
    /// The same of b.
    pub(super) bytes_of_b: [u8; 16],
}

impl Gather {
    /// `bytes[i]` is the byte, of b:a, that comes to place `i`.
    fn new(bytes: [u8; 4]) -> Gather {
        let place = |word: usize, second: bool, i: usize| {
            if (bytes[i] >= 4) == second { 4 * word as u8 + bytes[i] % 4 } else { 0x80 }
        };
        let places = |second| core::array::from_fn(|i| place(i / 4, second, i % 4));
        Gather {
            from_b: bytes.map(|byte| if byte >= 4 { u32::MAX } else { 0 }),
            left: bytes.map(|byte| 24 - 8 * u32::from(byte % 4)),
            bytes_of_a: places(false),
            bytes_of_b: places(true),
        }
    }

    fn of(selector: Selector) -> Gather {
        Gather::new(match selector {
            Selector::Bytes(bytes) => bytes,
            Selector::Halves([y, x]) => [2 * y, 2 * y + 1, 2 * x, 2 * x + 1],
            Selector::Word | Selector::Part(_) => [0, 1, 2, 3],
        })
    }
}

/// How a comparison is read off the signs of a - b and b - a: the sum of those that count, negated or not.
#[derive(Debug, Clone, Copy)]
pub(super) struct Holds {
    /// All bits if it counts that a is less.
    pub(super) less: u64,
    /// All bits if it counts that a is greater.
    pub(super) greater: u64,
    /// 1 if the comparison holds where neither of those that count is so.
    pub(super) otherwise: u64,
}

impl Holds {
    fn new(comparison: Option<Comparison>) -> Holds {
        let (less, greater, otherwise) = match comparison {
            Some(Comparison::Lt) => (true, false, false),
            Some(Comparison::Ge) => (true, false, true),
            Some(Comparison::Gt) => (false, true, false),
            Some(Comparison::Le) => (false, true, true),
            Some(Comparison::Ne) => (true, true, false),
            Some(Comparison::Eq) => (true, true, true),
            None => (false, false, false),
        };
        Holds { less: all_bits(less), greater: all_bits(greater), otherwise: otherwise.into() }
    }
}

const fn all_bits(condition: bool) -> u64 {
    (condition as u64).wrapping_neg()
}

/// The numbers of a SIMD form. Lanes are computed with in containers of twice their width, the even ones and the odd
/// ones of a word: bytes in half-words, half-words in words.
#[derive(Debug, Clone, Copy)]
pub(super) struct Lanes {
    pub(super) a: Lane,
    pub(super) b: Lane,
    /// The least and the greatest value of a container after saturation.
    pub(super) least: u32,
    pub(super) greatest: u32,
    /// All bits of the containers of even and odd lanes that are accumulated.
    pub(super) even: u32,
    pub(super) odd: u32,
    /// All bits of the lanes that are written.
    pub(super) written: u32,
    pub(super) holds: Holds,
}

/// How the lanes of a or b are read.
#[derive(Debug, Clone, Copy)]
pub(super) struct Lane {
    pub(super) gather: Gather,
    /// The sign bits of a word, if lanes are signed. With its sign bit flipped a lane is unsigned, and too great by `bias`.
    pub(super) signs: u32,
    /// The same in a container.
    pub(super) bias: u32,
}

impl Lanes {
    pub(super) fn new(form: Form) -> Lanes {
        let shape = form.mnemonic().shape();
        let bits = shape.bits();
        // One value in every container of a word.
        let containers = |value: i64| if bits == 8 { u32::from(value as u16) * 0x1_0001 } else { value as u32 };
        let lane = |selector, signed: bool| {
            let sign = u32::from(signed) << (bits - 1);
            let signs = if bits == 8 { sign * 0x0101_0101 } else { sign * 0x1_0001 };
            Lane { gather: Gather::of(selector), signs, bias: containers(sign.into()) }
        };
        let (least, greatest) =
            form.saturation().map_or((i64::from(i32::MIN), i64::from(i32::MAX)), |range| (range.min(), range.max()));
        let (least, greatest) = match (form.saturation(), bits) {
            (None, 8) => (i16::MIN.into(), i16::MAX.into()),
            _ => (least, greatest),
        };
        let written = form.mask().map_or(0, |mask| mask.word(shape));
        // Each lane's bits of the mask, spread to its container.
        let spread = |lanes: u32| if bits == 8 { (lanes & 0x00ff_00ff) * 0x101 } else { (lanes & 0xffff) * 0x1_0001 };
        Lanes {
            a: lane(form.asel(), form.atype().is_signed()),
            b: lane(form.bsel(), form.btype().is_signed()),
            least: containers(least),
            greatest: containers(greatest),
            even: spread(written),
            odd: spread(written >> bits),
            written,
            holds: Holds::new(form.comparison()),
        }
    }
}

/// The numbers of a scalar form but `vmad`. Those of 64 bits are for kernels that compute with exact values, or with what is left of
/// them where more is too great to matter; the others need 32 bits alone.
#[derive(Debug, Clone, Copy)]
pub(super) struct Scalar {
    pub(super) a: Input,
    pub(super) b: Input,
    /// What is xored to a and b so that their order is that of signed words; if there is something.
    pub(super) order: u32,
    /// The same for the result and c.
    pub(super) secondary_order: u32,
    /// All bits if a is signed, and the sign bit of a word if it is.
    pub(super) arithmetic: u32,
    pub(super) a_sign: u64,
    /// Of a shift amount, the bits that count.
    pub(super) amount: u32,
    /// The sign bit of 64 if shifted values reach it as a value, else 0.
    pub(super) top: u64,
    pub(super) holds: Holds,
    /// What a saturation looks at.
    pub(super) saturated: LowBits,
    pub(super) least: u64,
    /// The greatest value, and what is xored to it and to the value so that they compare as signed.
    pub(super) greatest: u64,
    pub(super) greatest_order: u64,
    /// What a secondary operation looks at.
    pub(super) compared: LowBits,
    /// What is xored to both so that they compare as signed.
    pub(super) compared_order: u64,
    /// How c is read.
    pub(super) c: LowBits,
    /// The last stage: d is the result shifted left, of it the bits `written`, plus the bits `kept` of c.
    pub(super) left: u32,
    pub(super) written: u32,
    pub(super) kept: u32,
}

/// Where a scalar form's input is, and how it is read.
#[derive(Debug, Clone, Copy)]
pub(super) struct Input {
    pub(super) shift: u32,
    pub(super) cut: LowBits,
}

impl Input {
    fn new(selector: Selector, range: Range) -> Input {
        Input { shift: selector.place().0, cut: LowBits::new(range.bits, range.signed) }
    }
}

/// The lower bits of a value, signed or not.
#[derive(Debug, Clone, Copy)]
pub(super) struct LowBits {
    /// These bits.
    pub(super) bits: u64,
    /// The highest of them if it counts negative, else 0.
    pub(super) sign: u64,
}

impl LowBits {
    /// Nothing is cut.
    const NONE: LowBits = LowBits { bits: u64::MAX, sign: 0 };

    const fn new(bits: u32, signed: bool) -> LowBits {
        LowBits { bits: u64::MAX >> (64 - bits), sign: (signed as u64) << (bits - 1) }
    }

    fn when(condition: bool, bits: u32) -> LowBits {
        if condition { LowBits::new(bits, true) } else { LowBits::NONE }
    }
}

const SIGN_32: u32 = 1 << 31;
const SIGN_64: u64 = 1 << 63;

const SIGNED: Interval = Interval { min: i32::MIN as i128, max: i32::MAX as i128 };
const UNSIGNED: Interval = Interval { min: 0, max: u32::MAX as i128 };

/// What makes the order of values that of signed words, if anything does.
fn order(values: [Interval; 2]) -> Option<u32> {
    let all_in = |words: Interval| values.into_iter().all(|values| words.holds(values));
    if all_in(SIGNED) {
        Some(0)
    } else if all_in(UNSIGNED) {
        Some(SIGN_32)
    } else {
        None
    }
}

/// What the stages of a scalar form need.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Precision {
    /// 32 bits are enough for all of them.
    Words,
    /// 64 bits, without saturation,
    Exact,
    /// with it,
    Saturated,
    /// and with the deviations of the stages from saturation on.
    Deviating,
}

impl Scalar {
    /// The numbers, and what is to be computed with them.
    pub(super) fn new(form: Form, by: Deviations) -> (Scalar, Precision) {
        let operation = form.mnemonic().operation();
        let [a, b] = [false, true].map(|second| form.input_range(by, second));
        let c_signed = form.c_type(by).is_signed();
        let compares = matches!(form.finish(), Finish::Secondary(Secondary::Min | Secondary::Max));

        // The lower word stays where the sign bit is moved down, and what remains is greater than any word.
        let top = operation == Operation::Shl && !a.signed && !form.shifts_in_64_bits(by);

        let mut least = i64::MIN;
        let mut greatest = i64::MAX;
        let mut greatest_order = 0;
        if let Some(range) = form.saturation_by(by) {
            (least, greatest) = (range.min(), range.max());
            if form.saturates_part_unsigned(by) {
                (least, greatest_order) = (i64::MIN, SIGN_64);
            } else if form.saturates_by_sign(by) {
                greatest = i64::MAX;
            }
        }

        let cuts = form.cuts_to_32_bits(by);
        let (left, written, kept) = match form.finish() {
            Finish::Merge(part) => {
                let written = u32::MAX >> (32 - part.bits()) << part.shift();
                // The upper half of the result is in its place already.
                (if form.merges_wrong_half(by) { 0 } else { part.shift() }, written, !written)
            }
            Finish::Secondary(_) => (0, u32::MAX, u32::MAX),
            Finish::Plain | Finish::Lanes(_) | Finish::Accumulate(_) => (0, u32::MAX, 0),
        };

        let input_order = order([a.into(), b.into()]);
        let result = form.result_range([OperandValue::Free; 3]);
        let c = if c_signed { SIGNED } else { UNSIGNED };
        // Reduced to 32 bits as signed, what is in SIGNED stays.
        let secondary_order = order([result, c]).filter(|&order| order == 0 || !cuts);
        let narrow = !form.sat()
            && match operation {
                Operation::Add | Operation::Sub | Operation::Shl | Operation::Shr => true,
                _ => input_order.is_some(),
            }
            && (!compares || secondary_order.is_some());

        let scalar = Scalar {
            a: Input::new(form.asel(), a),
            b: Input::new(form.bsel(), b),
            order: input_order.unwrap_or(0),
            secondary_order: secondary_order.unwrap_or(0),
            arithmetic: all_bits(a.signed) as u32,
            a_sign: if a.signed { SIGN_32.into() } else { 0 },
            amount: if form.variant() == CLAMP { u32::MAX } else { 31 },
            top: if top { SIGN_64 } else { 0 },
            holds: Holds::new(form.comparison()),
            saturated: LowBits::when(form.keeps_low_34_bits(by), 34),
            least: least as u64,
            greatest: greatest as u64 ^ greatest_order,
            greatest_order,
            compared: LowBits::when(cuts, 32),
            compared_order: if form.compares_unsigned(by) { SIGN_64 } else { 0 },
            c: LowBits::new(32, c_signed),
            left,
            written,
            kept,
        };
        let cut = |cut: LowBits| cut.bits != u64::MAX;
        let deviates =
            cut(scalar.saturated) || cut(scalar.compared) || scalar.greatest_order | scalar.compared_order != 0;
        let precision = match (narrow, deviates, form.sat()) {
            (true, ..) => Precision::Words,
            (_, true, _) => Precision::Deviating,
            (_, _, true) => Precision::Saturated,
            (_, _, false) => Precision::Exact,
        };
        (scalar, precision)
    }
}

/// The numbers of a `vmad`: d is ((a b ^ flip_product) + (c ^ flip_c) + addend) >> scale, where c, flipped, is unsigned, and
/// the addend has what negations and signs then lack.
#[derive(Debug, Clone, Copy)]
pub(super) struct Mad {
    pub(super) a: Input,
    pub(super) b: Input,
    /// All bits if a is signed, or b.
    pub(super) a_signed: u32,
    pub(super) b_signed: u32,
    pub(super) flip_product: u64,
    pub(super) flip_c: u32,
    pub(super) addend: u64,
    pub(super) scale: u32,
    /// Where the sign of the upper word is after the shift, if it is kept.
    pub(super) scaled_sign: u32,
    /// All bits if the result is signed.
    pub(super) signed: u32,
    /// Its greatest value; the least is this one's complement.
    pub(super) greatest: u32,
}

/// What `vmad` needs of its factors.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Factors {
    /// Both are signed words, or smaller.
    Signed,
    /// Both are unsigned words.
    Unsigned,
    /// One is signed, and the other an unsigned word.
    Mixed,
    /// The lower word of the product does.
    Any,
}

impl Mad {
    pub(super) fn new(form: Form, by: Deviations) -> (Mad, Factors) {
        let (mode, scale) = match form.variant() {
            Variant::Mad(mode, scale) => (mode, scale.map_or(0, |scale| scale.bits())),
            _ => (MadMode::Plain, 0),
        };
        let [a, b] = [false, true].map(|second| form.input_range(by, second));
        let c_signed = form.c_type(by).is_signed();
        let mut addend = i64::from(mode == MadMode::PlusOne) + i64::from(mode.negates_product());
        // All bits of c are flipped to negate it, and its sign bit is flipped to make it unsigned.
        let flip_c = match (c_signed, mode.negates_c()) {
            (false, false) => 0,
            (false, true) => {
                addend -= i64::from(u32::MAX);
                u32::MAX
            }
            (true, negates) => {
                addend -= i64::from(SIGN_32) - i64::from(negates);
                if negates { !SIGN_32 } else { SIGN_32 }
            }
        };
        let factors = if !form.sat() && scale == 0 {
            Factors::Any
        } else if [a, b].into_iter().all(|range| SIGNED.holds(range.into())) {
            Factors::Signed
        } else if a.signed || b.signed {
            Factors::Mixed
        } else {
            Factors::Unsigned
        };
        let keeps_sign = !form.scales_unsigned(by);
        let mad = Mad {
            a: Input::new(form.asel(), a),
            b: Input::new(form.bsel(), b),
            a_signed: all_bits(a.signed) as u32,
            b_signed: all_bits(b.signed) as u32,
            flip_product: all_bits(mode.negates_product()),
            flip_c,
            addend: addend as u64,
            scale,
            scaled_sign: if keeps_sign { SIGN_32 >> scale } else { 0 },
            signed: all_bits(form.is_signed()) as u32,
            greatest: if form.is_signed() { !SIGN_32 } else { u32::MAX },
        };
        (mad, factors)
    }
}

pub(super) const CLAMP: Variant = Variant::Shift(ShiftMode::Clamp);

/// Whether both sources of a form are read where they are: no selector says otherwise.
pub(super) fn reads_in_place(form: Form) -> bool {
    let shape = form.mnemonic().shape();
    form.asel() == Selector::default_for(shape, false) && form.bsel() == Selector::default_for(shape, true)
}

/// Whether a SIMD form writes or sums all its lanes.
pub(super) fn takes_all(form: Form) -> bool {
    form.mask() == Some(Mask::full(form.mnemonic().shape()))
}
