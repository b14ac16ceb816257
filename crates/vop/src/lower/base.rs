//! The base instructions that a lowering may emit: the second table of the library.
//!
//! A row is an [`Op`]; its columns are methods, each one `match`: the [opcode](Op::opcode), the [sorts](Op::sort) of result
//! and operands, from which target and PTX version [there is one](Op::needs), what it [computes](Op::eval), and the same as a
//! [term for a solver](Op::smt). What it costs is in `cost.rs`, as ptxas fuses neighbours. Each means what the
//! PTX ISA manual says under its opcode.
//!
//! Four rows are idioms of more than one instruction, which ptxas makes fewer of: [`Op::AddSatUnsigned`], [`Op::AddIf`],
//! [`Op::Negate16x2`] and [`Op::Absdiff4`] without `.add`, whose c must be written and is ignored.

use alloc::borrow::Cow;
use alloc::format;
use alloc::string::{String, ToString};
use alloc::vec::Vec;

use crate::isa::range::Range;
use crate::isa::types::{Comparison, Type};
use crate::target::ModuleTarget;
use crate::term::{clamped, concat, constant, difference, extended, lop3, part, product, sum};

/// What a value is: how many bits, or a truth value.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Sort {
    /// `.pred`.
    Predicate,
    /// `.b16`: only inside idioms.
    Half,
    /// `.b32`.
    Word,
    /// `.b64`.
    Long,
}

impl Sort {
    /// The type of a register that holds it, with its dot.
    pub const fn register_type(self) -> &'static str {
        match self {
            Sort::Predicate => ".pred",
            Sort::Half => ".b16",
            Sort::Word => ".b32",
            Sort::Long => ".b64",
        }
    }
}

/// The name of a packed instruction's type, by the range of its lanes: `u16x2`, `s8x4`.
fn lanes_name(lanes: Range) -> &'static str {
    match (lanes.signed, lanes.bits) {
        (false, 16) => "u16x2",
        (true, 16) => "s16x2",
        (false, _) => "u8x4",
        (true, _) => "s8x4",
    }
}

/// Lane `i` of a word, as a number.
fn lane(word: u64, lanes: Range, i: u32) -> i64 {
    lanes.value_of((word >> (i * lanes.bits)) as u32)
}

/// What a packed instruction does in each lane.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum PackedOp {
    /// Sum, modulo the lane's size.
    Add,
    /// Sum, clamped to the lane's range: `.sat`.
    AddSat,
    /// Difference, modulo the lane's size.
    Sub,
    /// Difference, clamped: `.sat`.
    SubSat,
    /// The lesser.
    Min,
    /// The greater.
    Max,
    /// The lesser, or 0 if that is negative: `.relu`.
    MinRelu,
    /// The greater, or 0 if that is negative: `.relu`.
    MaxRelu,
}

/// A base instruction, without its operands.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Op {
    /// Any function of three bits, in each bit: bit `4x + 2y + z` of the table is its value.
    Lop3(u8),
    /// Bytes of two words, by a selector of four nibbles: 0 to 3 are the bytes of the first, 4 to 7 those of the second; 8 added
    /// takes the sign of the byte in all bits instead.
    Prmt(u16),
    /// Sum modulo 2^32.
    Add,
    /// Difference modulo 2^32.
    Sub,
    /// The lesser word.
    Min(Type),
    /// The greater word.
    Max(Type),
    /// Shift left by the second operand; 32 and more give 0.
    Shl,
    /// Shift right, arithmetic if signed; more than 32 is as 32.
    Shr(Type),
    /// The lower word of a product.
    Mul,
    /// The lower word of x·y + z.
    Mad,
    /// The upper word of the unsigned product x·y, plus z. If y is a power of two, ptxas makes one instruction of it that shifts x and
    /// adds, which it makes of a shift and a sum as well, unless the shifted value is used again.
    MadHigh,
    /// |x|, x signed; the least word stays as it is.
    Abs,
    /// |x - y| + z modulo 2^32, x and y as typed.
    Sad(Type),
    /// z plus the four products of bytes of x and y, each read by its type.
    Dp4a(Type, Type),
    /// z plus the two products of half-words of x and bytes 0, 1 (or 2, 3) of y.
    Dp2a {
        /// Whether bytes 2 and 3 are taken: `.hi`.
        high: bool,
        /// How half-words of x are read.
        x: Type,
        /// How bytes of y are read.
        y: Type,
    },
    /// The video instruction that machine code still has: |x - y| in each byte, read by the type.
    Absdiff4(Type),
    /// The sum of those four differences and z.
    Absdiff4Add(Type),
    /// Two signed words clamped to a range: y in the lowest place, x in the next. With bytes, the lower half of z stands above them.
    Pack {
        /// To which range.
        to: Range,
    },
    /// Sum of two signed words, clamped to a signed word.
    AddSat,
    /// Difference of two signed words, clamped to a signed word.
    SubSat,
    /// Sum of two unsigned words, clamped to an unsigned word. An idiom: the carry chooses between the sum and all ones.
    AddSatUnsigned,
    /// A packed instruction.
    Packed(PackedOp, Range),
    /// Minus each half-word. An idiom: `neg.s16` on both halves, which ptxas makes a part of the instruction that takes it.
    Negate16x2,
    /// Whether two words compare so.
    Setp(Comparison, Type),
    /// Whether two long words compare so.
    SetpLong(Comparison, Type),
    /// The first or the second word, as the predicate says.
    Selp,
    /// x + y if the predicate holds, else x. An idiom: a guarded sum.
    AddIf,
    /// A word made long, by its type.
    Extend(Type),
    /// The lower word.
    Low,
    /// The upper word.
    High,
    /// The long word of a lower and an upper word.
    Join,
    /// Sum of long words.
    AddLong,
    /// Difference of long words.
    SubLong,
    /// The lesser long word.
    MinLong(Type),
    /// The greater long word.
    MaxLong(Type),
    /// Long shift left; the amount is a word, 64 and more give 0.
    ShlLong,
    /// Long shift right; the amount is a word.
    ShrLong(Type),
    /// The long product of two words of a type.
    MulWide(Type),
    /// The lower half of the product of two long words.
    MulLong,
    /// The first or the second long word, as the predicate says.
    SelpLong,
}

/// From which target and PTX version an instruction is there.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct Needs {
    /// The least `.version` of a module, major and minor.
    pub version: (u8, u8),
    /// The least target.
    pub target: u16,
    /// Whether only targets of that family with the suffix `f` or `a` have it.
    pub family: bool,
}

impl Needs {
    /// What every module has that has a video instruction.
    pub const NOTHING: Needs = Needs { version: (2, 0), target: 20, family: false };

    /// What two instructions need together.
    #[must_use]
    pub fn and(self, other: Needs) -> Needs {
        Needs {
            version: self.version.max(other.version),
            target: self.target.max(other.target),
            family: self.family || other.family,
        }
    }

    /// Whether a target has it: a GPU, or what a module's `.target` allows.
    pub fn met_by(self, target: impl Into<ModuleTarget>) -> bool {
        let target = target.into();
        let needed = self.module_target();
        if self.family {
            target.suffix.is_some() && target.number >= needed.number && target.family() == needed.family()
        } else {
            target.number >= needed.number
        }
    }

    /// The least `.target` of a module that has it.
    pub fn module_target(self) -> ModuleTarget {
        ModuleTarget { number: self.target, suffix: self.family.then_some('f') }
    }
}

impl Op {
    /// The opcode; of an idiom the one of the instruction that gives it its name.
    pub fn opcode(self) -> Cow<'static, str> {
        let text = match self {
            // What ptxas makes a part of a shift is `and`, and not `lop3`.
            Op::Lop3(0xc0) => "and.b32",
            Op::Lop3(0xfc) => "or.b32",
            Op::Lop3(0x3c) => "xor.b32",
            Op::Lop3(0x0f) => "not.b32",
            Op::Lop3(_) => "lop3.b32",
            Op::Prmt(_) => "prmt.b32",
            Op::Add => "add.u32",
            Op::Sub => "sub.u32",
            Op::Min(ty) => return format!("min{ty}").into(),
            Op::Max(ty) => return format!("max{ty}").into(),
            Op::Shl => "shl.b32",
            Op::Shr(ty) => return format!("shr{ty}").into(),
            Op::Mul => "mul.lo.u32",
            Op::Mad => "mad.lo.u32",
            Op::MadHigh => "mad.hi.u32",
            Op::Abs => "abs.s32",
            Op::Sad(ty) => return format!("sad{ty}").into(),
            Op::Dp4a(x, y) => return format!("dp4a{x}{y}").into(),
            Op::Dp2a { high, x, y } => return format!("dp2a.{}{x}{y}", if high { "hi" } else { "lo" }).into(),
            Op::Absdiff4(ty) => return format!("vabsdiff4.u32{ty}{ty}").into(),
            Op::Absdiff4Add(ty) => return format!("vabsdiff4.u32{ty}{ty}.add").into(),
            Op::Pack { to } => {
                let tail = if to.bits == 8 { ".b32" } else { "" };
                return format!("cvt.pack.sat.{}{}.s32{tail}", if to.signed { 's' } else { 'u' }, to.bits).into();
            }
            Op::AddSat => "add.sat.s32",
            Op::SubSat => "sub.sat.s32",
            Op::AddSatUnsigned => "add.cc.u32",
            Op::Packed(op, lanes) => {
                let name = match op {
                    PackedOp::Add => "add",
                    PackedOp::AddSat => "add.sat",
                    PackedOp::Sub => "sub",
                    PackedOp::SubSat => "sub.sat",
                    PackedOp::Min => "min",
                    PackedOp::Max => "max",
                    PackedOp::MinRelu => "min.relu",
                    PackedOp::MaxRelu => "max.relu",
                };
                return format!("{name}.{}", lanes_name(lanes)).into();
            }
            Op::Negate16x2 => "neg.s16",
            Op::Setp(comparison, ty) => return format!("setp{comparison}{ty}").into(),
            Op::SetpLong(comparison, ty) => return format!("setp{comparison}.{}", long(ty)).into(),
            Op::Selp => "selp.b32",
            Op::AddIf => "add.u32",
            Op::Extend(ty) => return format!("cvt.{}{ty}", long(ty)).into(),
            Op::Low => "cvt.u32.u64",
            Op::High | Op::Join => "mov.b64",
            Op::AddLong => "add.u64",
            Op::SubLong => "sub.u64",
            Op::MinLong(ty) => return format!("min.{}", long(ty)).into(),
            Op::MaxLong(ty) => return format!("max.{}", long(ty)).into(),
            Op::ShlLong => "shl.b64",
            Op::ShrLong(ty) => return format!("shr.{}", long(ty)).into(),
            Op::MulWide(ty) => return format!("mul.wide{ty}").into(),
            Op::MulLong => "mul.lo.u64",
            Op::SelpLong => "selp.b64",
        };
        text.into()
    }

    /// The sort of the result.
    pub const fn sort(self) -> Sort {
        match self {
            Op::Setp(..) | Op::SetpLong(..) => Sort::Predicate,
            Op::Extend(_)
            | Op::AddLong
            | Op::SubLong
            | Op::MinLong(_)
            | Op::MaxLong(_)
            | Op::ShlLong
            | Op::ShrLong(_)
            | Op::MulWide(_)
            | Op::MulLong
            | Op::SelpLong
            | Op::Join => Sort::Long,
            _ => Sort::Word,
        }
    }

    /// The sorts of the operands.
    pub const fn operands(self) -> &'static [Sort] {
        use Sort::{Long, Predicate, Word};
        match self {
            Op::Lop3(_)
            | Op::Mad
            | Op::MadHigh
            | Op::Sad(_)
            | Op::Dp4a(..)
            | Op::Dp2a { .. }
            | Op::Absdiff4Add(_)
            | Op::Pack { to: Range { bits: 8, .. } } => &[Word, Word, Word],
            Op::Selp | Op::AddIf => &[Word, Word, Predicate],
            Op::Abs | Op::Negate16x2 | Op::Extend(_) => &[Word],
            Op::Low | Op::High => &[Long],
            Op::SetpLong(..) | Op::AddLong | Op::SubLong | Op::MinLong(_) | Op::MaxLong(_) | Op::MulLong => {
                &[Long, Long]
            }
            Op::ShlLong | Op::ShrLong(_) => &[Long, Word],
            Op::SelpLong => &[Long, Long, Predicate],
            _ => &[Word, Word],
        }
    }

    /// From which target and PTX version it exists.
    pub const fn needs(self) -> Needs {
        match self {
            Op::Packed(PackedOp::AddSat | PackedOp::SubSat | PackedOp::Sub, _)
            | Op::Packed(_, Range { bits: 8, .. }) => Needs { version: (9, 2), target: 120, family: true },
            Op::Packed(..) => Needs { version: (8, 0), target: 90, family: false },
            Op::Pack { .. } => Needs { version: (6, 5), target: 72, family: false },
            Op::Dp4a(..) | Op::Dp2a { .. } => Needs { version: (5, 0), target: 61, family: false },
            Op::Lop3(table) if !is_plain(table) => Needs { version: (4, 3), target: 50, family: false },
            Op::Absdiff4(_) | Op::Absdiff4Add(_) => Needs { version: (3, 0), target: 30, family: false },
            _ => Needs::NOTHING,
        }
    }

    /// Whether it writes the carry flag, which an instruction behind it may read.
    pub const fn writes_carry(self) -> bool {
        matches!(self, Op::AddSatUnsigned)
    }

    /// Whether operands may be immediates; where not, a `mov` goes before, which ptxas folds.
    pub const fn takes_immediates(self) -> bool {
        !matches!(self, Op::Absdiff4(_) | Op::Absdiff4Add(_) | Op::Packed(..) | Op::Negate16x2 | Op::Extend(_))
    }

    /// What it computes. Words and predicates stand in the lower bits, with zeros above.
    ///
    /// # Panics
    /// If there are fewer operands than [it has](Op::operands).
    pub fn eval(self, operands: &[u64]) -> u64 {
        let at = |i: usize| operands[i];
        let signed = |i: usize| at(i) as i32 as i64;
        let typed = |i: usize, ty: Type| if ty.is_signed() { signed(i) } else { at(i) as i64 };
        let bytes = |i: usize, ty: Type| (0..4).map(move |k| lane(at(i), Range::new(ty.is_signed(), 8), k));
        let absdiffs = |ty: Type| bytes(0, ty).zip(bytes(1, ty)).map(|(x, y)| x.abs_diff(y));
        let exact = |i: usize, ty: Type| if ty.is_signed() { i128::from(at(i) as i64) } else { i128::from(at(i)) };
        let value = match self {
            Op::Lop3(table) => (0..8).filter(|bit| table >> bit & 1 != 0).fold(0, |all, bit| {
                let take = |i: usize, mask: u32| if bit & mask != 0 { at(i) } else { !at(i) };
                all | take(0, 4) & take(1, 2) & take(2, 1)
            }),
            Op::Prmt(selector) => (0..4).fold(0, |word, i| {
                let nibble = selector >> (4 * i) & 15;
                let byte = (at(1) << 32 | at(0)) >> (8 * (nibble & 7)) & 0xff;
                word | if nibble & 8 == 0 { byte } else { (byte >> 7) * 0xff } << (8 * i)
            }),
            Op::Add => at(0).wrapping_add(at(1)),
            Op::Sub => at(0).wrapping_sub(at(1)),
            Op::Min(ty) => typed(0, ty).min(typed(1, ty)) as u64,
            Op::Max(ty) => typed(0, ty).max(typed(1, ty)) as u64,
            Op::Shl => at(0) << at(1).min(32),
            Op::Shr(ty) => (typed(0, ty) >> at(1).min(32)) as u64,
            Op::Mul => at(0).wrapping_mul(at(1)),
            Op::MadHigh => (at(0).wrapping_mul(at(1)) >> 32).wrapping_add(at(2)),
            Op::Mad => at(0).wrapping_mul(at(1)).wrapping_add(at(2)),
            Op::Abs => signed(0).unsigned_abs(),
            Op::Sad(ty) => typed(0, ty).abs_diff(typed(1, ty)).wrapping_add(at(2)),
            Op::Dp4a(x, y) => {
                let products = bytes(0, x).zip(bytes(1, y)).map(|(x, y)| x * y);
                (products.sum::<i64>() as u64).wrapping_add(at(2))
            }
            Op::Dp2a { high, x, y } => {
                let x = (0..2).map(|k| lane(at(0), Range::new(x.is_signed(), 16), k));
                let products = x.zip(bytes(1, y).skip(if high { 2 } else { 0 })).map(|(x, y)| x * y);
                (products.sum::<i64>() as u64).wrapping_add(at(2))
            }
            Op::Absdiff4(ty) => absdiffs(ty).enumerate().fold(0, |word, (i, t)| word | t << (8 * i)),
            Op::Absdiff4Add(ty) => absdiffs(ty).sum::<u64>().wrapping_add(at(2)),
            Op::Pack { to } => {
                let clamped = |i: usize| signed(i).clamp(to.min(), to.max()) as u64 & lower(to.bits);
                let packed = clamped(0) << to.bits | clamped(1);
                if to.bits == 8 { packed | at(2) << 16 } else { packed }
            }
            Op::AddSat => (signed(0) + signed(1)).clamp(i32::MIN.into(), i32::MAX.into()) as u64,
            Op::SubSat => (signed(0) - signed(1)).clamp(i32::MIN.into(), i32::MAX.into()) as u64,
            Op::AddSatUnsigned => (at(0) + at(1)).min(u32::MAX.into()),
            Op::Packed(op, lanes) => (0..32 / lanes.bits).fold(0, |word, i| {
                let (x, y) = (lane(at(0), lanes, i), lane(at(1), lanes, i));
                let t = match op {
                    PackedOp::Add => x + y,
                    PackedOp::AddSat => (x + y).clamp(lanes.min(), lanes.max()),
                    PackedOp::Sub => x - y,
                    PackedOp::SubSat => (x - y).clamp(lanes.min(), lanes.max()),
                    PackedOp::Min => x.min(y),
                    PackedOp::Max => x.max(y),
                    PackedOp::MinRelu => x.min(y).max(0),
                    PackedOp::MaxRelu => x.max(y).max(0),
                };
                word | (t as u64 & lower(lanes.bits)) << (i * lanes.bits)
            }),
            Op::Negate16x2 => at(0).wrapping_neg() & 0xffff | (at(0) >> 16).wrapping_neg() << 16,
            Op::Setp(comparison, ty) => comparison.holds(typed(0, ty).cmp(&typed(1, ty))).into(),
            Op::SetpLong(comparison, ty) => comparison.holds(exact(0, ty).cmp(&exact(1, ty))).into(),
            Op::Selp | Op::SelpLong => at(if at(2) != 0 { 0 } else { 1 }),
            Op::AddIf => at(0).wrapping_add(if at(2) != 0 { at(1) } else { 0 }),
            Op::Extend(ty) => typed(0, ty) as u64,
            Op::Low => at(0),
            Op::High => at(0) >> 32,
            Op::Join => at(1) << 32 | at(0),
            Op::AddLong => at(0).wrapping_add(at(1)),
            Op::SubLong => at(0).wrapping_sub(at(1)),
            Op::MinLong(ty) => exact(0, ty).min(exact(1, ty)) as u64,
            Op::MaxLong(ty) => exact(0, ty).max(exact(1, ty)) as u64,
            Op::ShlLong => at(0).checked_shl(at(1) as u32).unwrap_or(0),
            Op::ShrLong(ty) => (exact(0, ty) >> at(1).min(64)) as u64,
            Op::MulWide(ty) => typed(0, ty).wrapping_mul(typed(1, ty)) as u64,
            Op::MulLong => at(0).wrapping_mul(at(1)),
        };
        match self.sort() {
            Sort::Word => value & lower(32),
            _ => value,
        }
    }

    /// What it computes as a term of SMT-LIB's `QF_BV`: words are `(_ BitVec 32)`, long words `(_ BitVec 64)`, predicates
    /// `Bool`. Operands are terms, written more than once: give them names.
    ///
    /// # Panics
    /// If there are fewer operands than [it has](Op::operands).
    pub fn smt(self, operands: &[&str]) -> String {
        let at = |i: usize| operands[i];
        let byte = |i: usize, k: u32| part(at(i), k * 8, 8);
        let lane_of = |i: usize, k: u32, lanes: Range| part(at(i), k * lanes.bits, lanes.bits);
        let binary = |name: &str| format!("({name} {} {})", at(0), at(1));
        let least = |name: &str| format!("(ite ({name} {} {}) {} {})", at(0), at(1), at(0), at(1));
        match self {
            Op::Lop3(table) => lop3(table, [at(0), at(1), at(2)]),
            Op::Prmt(selector) => concat((0..4).map(|i| {
                let nibble = u32::from(selector >> (4 * i) & 15);
                let byte = byte((nibble >> 2 & 1) as usize, nibble & 3);
                if nibble & 8 == 0 { byte } else { format!("(bvashr {byte} #x07)") }
            })),
            Op::Add | Op::AddLong => binary("bvadd"),
            Op::Sub | Op::SubLong => binary("bvsub"),
            Op::Min(ty) | Op::MinLong(ty) => least(if ty.is_signed() { "bvsle" } else { "bvule" }),
            Op::Max(ty) | Op::MaxLong(ty) => least(if ty.is_signed() { "bvsge" } else { "bvuge" }),
            Op::Shl => binary("bvshl"),
            Op::Shr(ty) => binary(if ty.is_signed() { "bvashr" } else { "bvlshr" }),
            Op::Mul | Op::MulLong => binary("bvmul"),
            Op::Mad => format!("(bvadd (bvmul {} {}) {})", at(0), at(1), at(2)),
            Op::Abs => format!("(ite (bvslt {} {}) (bvneg {}) {})", at(0), constant(0, 32), at(0), at(0)),
            Op::MadHigh => {
                let product = format!("(bvmul {} {})", extended(at(0), 32, false), extended(at(1), 32, false));
                format!("(bvadd {} {})", part(&product, 32, 32), at(2))
            }
            Op::Sad(ty) => format!("(bvadd {} {})", difference(at(0), at(1), ty), at(2)),
            Op::Dp4a(..) | Op::Dp2a { .. } | Op::Absdiff4Add(_) => sum(at(2), self.addends(operands).into_iter()),
            Op::Absdiff4(ty) => concat((0..4).map(|k| difference(&byte(0, k), &byte(1, k), ty))),
            Op::Pack { to } => {
                let clamped = |i: usize| {
                    let (least, greatest) = (constant(to.min() as u64, 32), constant(to.max() as u64, 32));
                    let x = at(i);
                    part(
                        &format!("(ite (bvslt {x} {least}) {least} (ite (bvsgt {x} {greatest}) {greatest} {x}))"),
                        0,
                        to.bits,
                    )
                };
                match to.bits {
                    8 => concat([clamped(1), clamped(0), part(at(2), 0, 16)].into_iter()),
                    _ => concat([clamped(1), clamped(0)].into_iter()),
                }
            }
            Op::AddSat | Op::SubSat => {
                let name = if self == Op::AddSat { "bvadd" } else { "bvsub" };
                clamped(
                    &format!("({name} {} {})", extended(at(0), 2, true), extended(at(1), 2, true)),
                    34,
                    Range::new(true, 32),
                )
            }
            Op::AddSatUnsigned => {
                let sum = format!("(bvadd {} {})", extended(at(0), 2, false), extended(at(1), 2, false));
                clamped(&sum, 34, Range::new(false, 32))
            }
            Op::Packed(op, lanes) => concat((0..32 / lanes.bits).map(|k| {
                let (x, y) = (lane_of(0, k, lanes), lane_of(1, k, lanes));
                let [below, zero] = [if lanes.signed { "bvslt" } else { "bvult" }, &constant(0, lanes.bits)];
                let min = format!("(ite ({below} {x} {y}) {x} {y})");
                let max = format!("(ite ({below} {x} {y}) {y} {x})");
                let relu = |t: String| format!("(ite (bvslt {t} {zero}) {zero} {t})");
                let wide = |name: &str| {
                    format!("({name} {} {})", extended(&x, 2, lanes.signed), extended(&y, 2, lanes.signed))
                };
                match op {
                    PackedOp::Add => format!("(bvadd {x} {y})"),
                    PackedOp::Sub => format!("(bvsub {x} {y})"),
                    PackedOp::AddSat => clamped(&wide("bvadd"), lanes.bits + 2, lanes),
                    PackedOp::SubSat => clamped(&wide("bvsub"), lanes.bits + 2, lanes),
                    PackedOp::Min => min,
                    PackedOp::Max => max,
                    PackedOp::MinRelu => relu(min),
                    PackedOp::MaxRelu => relu(max),
                }
            })),
            Op::Negate16x2 => concat((0..2).map(|k| format!("(bvneg {})", part(at(0), 16 * k, 16)))),
            Op::Setp(comparison, ty) | Op::SetpLong(comparison, ty) => match comparison {
                Comparison::Eq => binary("="),
                Comparison::Ne => format!("(not {})", binary("=")),
                Comparison::Lt => binary(if ty.is_signed() { "bvslt" } else { "bvult" }),
                Comparison::Le => binary(if ty.is_signed() { "bvsle" } else { "bvule" }),
                Comparison::Gt => binary(if ty.is_signed() { "bvsgt" } else { "bvugt" }),
                Comparison::Ge => binary(if ty.is_signed() { "bvsge" } else { "bvuge" }),
            },
            Op::Selp | Op::SelpLong => format!("(ite {} {} {})", at(2), at(0), at(1)),
            Op::AddIf => format!("(ite {} (bvadd {} {}) {})", at(2), at(0), at(1), at(0)),
            Op::Extend(ty) => extended(at(0), 32, ty.is_signed()),
            Op::Low => part(at(0), 0, 32),
            Op::High => part(at(0), 32, 32),
            Op::Join => concat([at(0), at(1)].into_iter().map(str::to_string)),
            Op::ShlLong => format!("(bvshl {} {})", at(0), extended(at(1), 32, false)),
            Op::ShrLong(ty) => {
                let name = if ty.is_signed() { "bvashr" } else { "bvlshr" };
                format!("({name} {} {})", at(0), extended(at(1), 32, false))
            }
            Op::MulWide(ty) => {
                let wide = |i: usize| extended(at(i), 32, ty.is_signed());
                format!("(bvmul {} {})", wide(0), wide(1))
            }
        }
    }

    /// What a dot product or an accumulating difference adds to its third operand, for each byte or half-word of the first; nothing
    /// for other instructions.
    ///
    /// # Panics
    /// If there are fewer operands than [it has](Op::operands).
    pub(super) fn addends(self, operands: &[&str]) -> Vec<String> {
        let byte = |i: usize, k: u32| part(operands[i], k * 8, 8);
        match self {
            Op::Dp4a(x, y) => (0..4).map(|k| product(&byte(0, k), x, 8, operands[1], k, y)).collect(),
            Op::Dp2a { high, x, y } => {
                let first = if high { 2 } else { 0 };
                let half = |k: u32| part(operands[0], 16 * k, 16);
                (0..2).map(|k| product(&half(k), x, 16, operands[1], first + k, y)).collect()
            }
            Op::Absdiff4Add(ty) => {
                (0..4).map(|k| extended(&difference(&byte(0, k), &byte(1, k), ty), 24, false)).collect()
            }
            _ => Vec::new(),
        }
    }

    /// The instruction as text, a line each without its semicolon; the last alone writes d. `fresh` names registers that
    /// an idiom needs.
    ///
    /// # Panics
    /// If there are fewer operands than [it has](Op::operands).
    pub fn ptx(self, d: &str, operands: &[&str], mut fresh: impl FnMut(Sort) -> String) -> Vec<String> {
        let opcode = self.opcode();
        let list = operands.join(", ");
        match self {
            Op::Lop3(table) if is_plain(table) => {
                let taken = if table == 0x0f { 1 } else { 2 };
                Vec::from([format!("{opcode} {d}, {}", operands[..taken].join(", "))])
            }
            Op::Lop3(table) => Vec::from([format!("{opcode} {d}, {list}, {table:#04x}")]),
            Op::Prmt(selector) => Vec::from([format!("{opcode} {d}, {list}, {selector:#06x}")]),
            Op::Absdiff4(_) => Vec::from([format!("{opcode} {d}, {list}, {}", operands[0])]),
            Op::AddSatUnsigned => {
                let (sum, carry, p) = (fresh(Sort::Word), fresh(Sort::Word), fresh(Sort::Predicate));
                Vec::from([
                    format!("add.cc.u32 {sum}, {list}"),
                    format!("addc.u32 {carry}, 0, 0"),
                    format!("setp.ne.u32 {p}, {carry}, 0"),
                    format!("selp.b32 {d}, -1, {sum}, {p}"),
                ])
            }
            Op::High => Vec::from([format!("{opcode} {{{}, {d}}}, {list}", fresh(Sort::Word))]),
            Op::Join => Vec::from([format!("{opcode} {d}, {{{list}}}")]),
            Op::AddIf => {
                let sum = fresh(Sort::Word);
                let [x, y, p] = [operands[0], operands[1], operands[2]];
                Vec::from([
                    format!("mov.b32 {sum}, {x}"),
                    format!("@{p} add.u32 {sum}, {sum}, {y}"),
                    format!("mov.b32 {d}, {sum}"),
                ])
            }
            Op::Negate16x2 => {
                let halves = [fresh(Sort::Half), fresh(Sort::Half)];
                let pair = format!("{{{}, {}}}", halves[0], halves[1]);
                let negate = |half: &String| format!("neg.s16 {half}, {half}");
                Vec::from([
                    format!("mov.b32 {pair}, {}", operands[0]),
                    negate(&halves[0]),
                    negate(&halves[1]),
                    format!("mov.b32 {d}, {pair}"),
                ])
            }
            _ => Vec::from([format!("{opcode} {d}, {list}")]),
        }
    }
}

/// Whether a truth table has an instruction of its own: `and`, `or`, `xor` and `not` of its first columns.
const fn is_plain(table: u8) -> bool {
    matches!(table, 0xc0 | 0xfc | 0x3c | 0x0f)
}

/// The long type of the same sign.
fn long(ty: Type) -> &'static str {
    if ty.is_signed() { "s64" } else { "u64" }
}

/// The lower `bits` bits of a long word.
const fn lower(bits: u32) -> u64 {
    u64::MAX >> (64 - bits)
}
