//! [`Machine`]: which operations a target has, and what each costs.
//!
//! A cost is about the number of instructions. Constants are free: a compiler keeps them in registers or in the instruction.

use vop::isa::range::Range;
use vop::isa::types::Comparison;
use vop::lower::{Op as Base, PackedOp, Value};

use crate::code::{Op, Step, Width};
use crate::extra::{Extra, byte};

/// The operations of a target.
pub(crate) struct Machine {
    /// What an operation costs; `None` if the target does not have it.
    pub(crate) cost: fn(Op) -> Option<u32>,
    /// Whether an operation and the one that reads its result, and nothing else does, are one instruction.
    pub(crate) fuses: Option<fn(&Step, &Step) -> bool>,
    /// Whether the compiler makes a comparison and a selection for each lane of the lesser of lanes and 1.
    pub(crate) compares_with_one: bool,
}

impl Machine {
    /// Whether it has an operation beside the plain ones.
    pub(crate) fn has(&self, extra: Extra) -> bool {
        (self.cost)(Op::Extra(extra)).is_some()
    }
}

/// Plain operations of C and its kin.
pub(crate) static PLAIN: Machine = Machine { cost: plain, fuses: None, compares_with_one: false };

/// Plain operations on words alone.
pub(crate) static WORDS: Machine =
    Machine { cost: |op| if op.is_long() { None } else { plain(op) }, fuses: None, compares_with_one: false };

/// The machine of plain operations, with long words or without.
pub(crate) fn plain_with(has_long: bool) -> &'static Machine {
    if has_long { &PLAIN } else { &WORDS }
}

/// Plain operations, and built-in functions on vectors in a word: OpenCL C.
pub(crate) static OPENCL: Machine = Machine { cost: opencl, fuses: None, compares_with_one: false };

/// The same with dot products of bytes: the extension `cl_khr_integer_dot_product`.
pub(crate) static OPENCL_DOT: Machine = Machine { cost: opencl_dot, fuses: None, compares_with_one: false };

/// AMD's GPUs: packed half-words, and some instructions for bytes.
pub(crate) static AMDGCN: Machine = Machine { cost: amdgcn, fuses: Some(amdgcn_fuses), compares_with_one: true };

/// Vectors of words on x86 with AVX2.
pub(crate) static AVX2: Machine = Machine { cost: avx2, fuses: None, compares_with_one: false };

/// Vectors of words on x86 with AVX-512F and AVX-512BW.
pub(crate) static AVX512: Machine = Machine { cost: avx512, fuses: None, compares_with_one: false };

/// Vectors of words on Arm with NEON, as every AArch64 has it.
pub(crate) static NEON: Machine = Machine { cost: neon, fuses: None, compares_with_one: false };

/// All of them, plain ones first.
pub(crate) static ALL: [&Machine; 8] = [&PLAIN, &WORDS, &OPENCL, &OPENCL_DOT, &AMDGCN, &AVX2, &AVX512, &NEON];

fn plain(op: Op) -> Option<u32> {
    match op {
        Op::Extra(_) => None,
        op if op.is_conversion() => Some(0),
        _ => Some(1),
    }
}

/// Packed operations of lanes as narrow as these.
fn packed(extra: Extra) -> Option<(PackedOp, Range)> {
    match extra {
        Extra::Base(Base::Packed(op, lanes)) => Some((op, lanes)),
        _ => None,
    }
}

/// What bytes are taken: whether of a second word, signs, and ones.
struct Bytes {
    of_second: bool,
    signs: bool,
    even_signs: bool,
    ones: bool,
}

fn bytes(places: [u8; 4]) -> Bytes {
    let taken = places.into_iter().filter(|place| *place < byte::ZERO);
    let is_sign = |place: &u8| *place >= byte::SIGN;
    Bytes {
        of_second: taken.clone().any(|place| place & 4 != 0),
        signs: taken.clone().any(|place| is_sign(&place)),
        even_signs: taken.clone().any(|place| is_sign(&place) && place & 1 == 0),
        ones: places.contains(&byte::ONES),
    }
}

const fn is_relu(op: PackedOp) -> bool {
    matches!(op, PackedOp::MinRelu | PackedOp::MaxRelu)
}

fn opencl(op: Op) -> Option<u32> {
    let Op::Extra(extra) = op else { return plain(op) };
    match extra {
        Extra::Base(Base::Packed(op, _)) => (!is_relu(op)).then_some(1),
        Extra::Base(Base::AddSat | Base::SubSat | Base::AddSatUnsigned | Base::Min(_) | Base::Max(_)) => Some(1),
        Extra::Absdiff(_) | Extra::Average(_) | Extra::Compare(..) => Some(1),
        Extra::Bytes(places) => {
            let of = bytes(places);
            (!of.signs && !of.ones).then_some(1)
        }
        Extra::Shift(_) | Extra::Sum(_) | Extra::Sad(_) | Extra::Base(_) => None,
    }
}

fn opencl_dot(op: Op) -> Option<u32> {
    match op {
        // The function, and a sum.
        Op::Extra(Extra::Base(Base::Dp4a(..))) => Some(2),
        Op::Extra(Extra::Sum(Range { bits: 8, .. })) => Some(1),
        other => opencl(other),
    }
}

fn amdgcn(op: Op) -> Option<u32> {
    let Op::Extra(extra) = op else {
        return match op {
            Op::Mul(Width::Word) => Some(3),
            Op::Mul(Width::Long) => Some(8),
            op if op.is_long() => plain(op).map(|cost| 2 * cost),
            op => plain(op),
        };
    };
    match extra {
        Extra::Base(Base::Packed(op, lanes)) => (lanes.bits == 16 && !is_relu(op)).then_some(1),
        Extra::Base(Base::AddSat | Base::SubSat | Base::AddSatUnsigned | Base::Min(_) | Base::Max(_)) => Some(1),
        Extra::Base(Base::Dp4a(x, y)) => (x == y).then_some(1),
        // Bits of one or the other; and both or a third; any of three.
        Extra::Base(Base::Lop3(0xca | 0xea | 0xfe)) => Some(1),
        Extra::Bytes(places) => (!bytes(places).even_signs).then_some(1),
        Extra::Shift(_) | Extra::Average(8) | Extra::Sad(8 | 16 | 32) => Some(1),
        _ => None,
    }
}

/// Instructions of two operations, which the compiler finds: `v_bfe`, `v_and_or`, `v_lshl_or`, `v_lshl_add`, `v_add_lshl`, `v_add3`, `v_or3`,
/// `v_xad`, `v_med3`, and `v_bfi` for an operand that is complemented.
fn amdgcn_fuses((inner, of): &Step, (outer, by): &Step) -> bool {
    const WORD: Width = Width::Word;
    let is_constant = |operands: &[Value]| matches!(operands.get(1), Some(Value::Word(_)));
    match (inner, outer) {
        (Op::Shl(WORD), Op::Sar(WORD)) => is_constant(of) && is_constant(by),
        (Op::Shr(WORD), Op::And(WORD)) => {
            is_constant(of) && matches!(by[1], Value::Word(mask) if mask & mask.wrapping_add(1) == 0)
        }
        (Op::Shl(WORD), Op::Or(WORD) | Op::Add(WORD)) => is_constant(of),
        (Op::Add(WORD), Op::Shl(WORD)) => is_constant(by),
        (Op::And(WORD) | Op::Or(WORD), Op::Or(WORD)) => true,
        (Op::Add(WORD) | Op::Xor(WORD), Op::Add(WORD)) => true,
        (Op::Not(WORD), Op::And(WORD)) => true,
        (Op::Extra(Extra::Base(Base::Min(x))), Op::Extra(Extra::Base(Base::Max(y))))
        | (Op::Extra(Extra::Base(Base::Max(x))), Op::Extra(Extra::Base(Base::Min(y)))) => {
            x == y && is_constant(of) && is_constant(by)
        }
        _ => false,
    }
}

fn avx2(op: Op) -> Option<u32> {
    let Op::Extra(extra) = op else {
        return match op {
            op if op.is_long() => None,
            Op::Narrow | Op::Widen | Op::WidenSigned => None,
            Op::Mul(_) | Op::Select(_) => Some(2),
            Op::Compare(Comparison::Eq, _) => Some(1),
            Op::CompareSigned(Comparison::Gt | Comparison::Lt, _) => Some(1),
            Op::Compare(Comparison::Gt | Comparison::Lt, _) => Some(3),
            Op::Compare(..) | Op::CompareSigned(..) => Some(2),
            _ => Some(1),
        };
    };
    match extra {
        Extra::Compare(Comparison::Eq, _) => Some(1),
        Extra::Compare(Comparison::Gt | Comparison::Lt, Range { signed: true, .. }) => Some(1),
        other => x86(other),
    }
}

/// What AVX2 and AVX-512BW have both.
fn x86(extra: Extra) -> Option<u32> {
    if let Some((op, _)) = packed(extra) {
        return (!is_relu(op)).then_some(1);
    }
    match extra {
        Extra::Base(Base::Min(_) | Base::Max(_)) | Extra::Average(8 | 16) | Extra::Shift(_) => Some(1),
        Extra::Bytes(places) => {
            let of = bytes(places);
            (!of.of_second && !of.signs && !of.ones).then_some(1)
        }
        Extra::Sum(Range { bits: 8, .. }) => Some(2),
        Extra::Sum(Range { bits: 16, signed: true }) => Some(1),
        _ => None,
    }
}

fn avx512(op: Op) -> Option<u32> {
    let Op::Extra(extra) = op else {
        return match op {
            op if op.is_long() => None,
            Op::Narrow | Op::Widen | Op::WidenSigned => None,
            Op::Mul(_) => Some(2),
            _ => Some(1),
        };
    };
    match extra {
        Extra::Compare(..) => Some(2),
        Extra::Base(Base::Lop3(_)) => Some(1),
        other => x86(other),
    }
}

fn neon(op: Op) -> Option<u32> {
    let Op::Extra(extra) = op else {
        return match op {
            op if op.is_long() => None,
            Op::Narrow | Op::Widen | Op::WidenSigned => None,
            Op::Compare(Comparison::Ne, _) | Op::CompareSigned(Comparison::Ne, _) => Some(2),
            _ => Some(1),
        };
    };
    match extra {
        Extra::Base(Base::Packed(op, _)) => (!is_relu(op)).then_some(1),
        Extra::Base(Base::AddSat | Base::SubSat | Base::AddSatUnsigned | Base::Min(_) | Base::Max(_)) => Some(1),
        Extra::Base(Base::Lop3(0xca)) => Some(1),
        Extra::Base(_) | Extra::Sad(_) => None,
        Extra::Absdiff(_) | Extra::Average(_) | Extra::Shift(_) => Some(1),
        Extra::Compare(Comparison::Ne, _) => Some(2),
        Extra::Compare(..) => Some(1),
        Extra::Bytes(places) => {
            let of = bytes(places);
            (!of.signs && !of.ones).then_some(if of.of_second { 2 } else { 1 })
        }
        Extra::Sum(lanes) => Some(if lanes.bits == 8 { 2 } else { 1 }),
    }
}
