//! [`Intrinsic`]: CUDA's SIMD intrinsics and its integer intrinsics of 32 bits, as the CUDA Math API's manual lists them. The one list of
//! them: what is said of a name in a diagnostic, and what is written for it in another language, follow from it.
//!
//! The names of SIMD intrinsics are regular: an operation, `s` or `u` for the lanes' sign, `ss` or `us` for saturation, and 2 or 4 for the
//! lanes; or for the newer ones a type, `s16x2`, and `_relu`. `__vibmax_…` and `__vibmin_…` are left out, as they have results by
//! reference.

use alloc::format;
use alloc::string::{String, ToString};
use alloc::vec::Vec;
use core::fmt;

use crate::isa::form::Form;
use crate::isa::range::Range;
use crate::isa::types::{Comparison, Type};
use crate::lower::{Op, PackedOp};
use crate::term::{concat, constant, difference, extended, part, sum};

/// What an intrinsic computes; in each lane, where there are several.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Meaning {
    /// What a packed instruction computes.
    Binary(PackedOp),
    /// The absolute difference.
    Absdiff,
    /// The average of two, rounded away from zero if it is not negative, and down otherwise.
    Average,
    /// The average of two, rounded down.
    AverageDown,
    /// The average of two, rounded up.
    AverageUp,
    /// The absolute value.
    Absolute {
        /// Whether the absolute value of the least number is the greatest one, and not the least.
        saturates: bool,
    },
    /// Minus the value.
    Negative {
        /// Whether minus the least number is the greatest one, and not the least.
        saturates: bool,
    },
    /// 1 where the comparison holds, or all bits (`true`).
    Compare(Comparison, bool),
    /// The sum of the absolute differences of all lanes.
    SumOfDifferences,
    /// The greatest or the least of two or three, and then the greatest of that and 0.
    Extreme {
        /// Whether it is the greatest.
        greater: bool,
        /// Whether it is of three.
        three: bool,
        /// Whether negative results become 0.
        relu: bool,
    },
    /// The greatest or the least of a sum, modulo the lane's size, and a third, and then the greatest of that and 0.
    SumExtreme {
        /// Whether it is the greatest.
        greater: bool,
        /// Whether negative results become 0.
        relu: bool,
    },
    /// What a base instruction of PTX computes of the same operands.
    Base(Op),
    /// Bytes of a and b, each selected by the lower three bits of a digit of c.
    BytePermutation,
    /// A word of the long word with the lower word a and the upper word b, shifted by c.
    FunnelShift {
        /// Whether it is shifted left, and the word is the upper one.
        left: bool,
        /// Whether amounts above 32 count as 32; otherwise the lower five bits count.
        clamps: bool,
    },
    /// The bits in the opposite order.
    Reversed,
    /// The number of ones.
    Ones,
    /// The number of zeros above the highest one.
    LeadingZeros,
    /// The place of the lowest one, from 1; 0 if there is none.
    FirstOne,
    /// The upper word of the product.
    HighProduct,
    /// The lower word of the product of the lower 24 bits.
    Product24,
}

/// An intrinsic of CUDA whose operands and result are words.
///
/// ```
/// let intrinsic = vop::Intrinsic::from_name("__vsubss4").unwrap();
/// assert_eq!(intrinsic.form().unwrap().to_string(), "vsub4.s32.s32.s32.sat d, a, b, c");
/// assert_eq!(intrinsic.eval(0x80, 1, 0), 0x80);
///
/// let dot = vop::Intrinsic::from_name("__dp4a(unsigned, unsigned, unsigned)").unwrap();
/// assert_eq!(dot.instruction().unwrap(), "dp4a.u32.u32 d, a, b, c");
/// ```
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct Intrinsic {
    name: String,
    types: &'static str,
    meaning: Meaning,
    lanes: Range,
}

/// What the names of intrinsics on lanes say between `__v` and the number of lanes, comparisons excepted: the meaning, and whether lanes
/// are signed.
const STEMS: [(&str, Meaning, bool); 21] = [
    ("abs", Meaning::Absolute { saturates: false }, true),
    ("absss", Meaning::Absolute { saturates: true }, true),
    ("neg", Meaning::Negative { saturates: false }, true),
    ("negss", Meaning::Negative { saturates: true }, true),
    ("add", Meaning::Binary(PackedOp::Add), false),
    ("addss", Meaning::Binary(PackedOp::AddSat), true),
    ("addus", Meaning::Binary(PackedOp::AddSat), false),
    ("sub", Meaning::Binary(PackedOp::Sub), false),
    ("subss", Meaning::Binary(PackedOp::SubSat), true),
    ("subus", Meaning::Binary(PackedOp::SubSat), false),
    ("absdiffs", Meaning::Absdiff, true),
    ("absdiffu", Meaning::Absdiff, false),
    ("sads", Meaning::SumOfDifferences, true),
    ("sadu", Meaning::SumOfDifferences, false),
    ("avgs", Meaning::Average, true),
    ("avgu", Meaning::Average, false),
    ("haddu", Meaning::AverageDown, false),
    ("maxs", Meaning::Binary(PackedOp::Max), true),
    ("maxu", Meaning::Binary(PackedOp::Max), false),
    ("mins", Meaning::Binary(PackedOp::Min), true),
    ("minu", Meaning::Binary(PackedOp::Min), false),
];

/// The types that the newer names end with.
const TYPES: [(&str, Range); 4] = [
    ("s16x2", Range::new(true, 16)),
    ("u16x2", Range::new(false, 16)),
    ("s32", Range::new(true, 32)),
    ("u32", Range::new(false, 32)),
];

const fn dp4a(ty: Type) -> Meaning {
    Meaning::Base(Op::Dp4a(ty, ty))
}

const fn dp2a(high: bool, ty: Type) -> Meaning {
    Meaning::Base(Op::Dp2a { high, x: ty, y: ty })
}

const fn funnel(left: bool, clamps: bool) -> Meaning {
    Meaning::FunnelShift { left, clamps }
}

/// The integer intrinsics: the name, the types of its parameters if it is overloaded, the meaning, and whether words are signed.
const INTEGERS: [(&str, &str, Meaning, bool); 31] = [
    ("__byte_perm", "", Meaning::BytePermutation, false),
    ("__dp4a", "int, int, int", dp4a(Type::S32), true),
    ("__dp4a", "unsigned, unsigned, unsigned", dp4a(Type::U32), false),
    ("__dp4a", "char4, char4, int", dp4a(Type::S32), true),
    ("__dp4a", "uchar4, uchar4, unsigned", dp4a(Type::U32), false),
    ("__dp2a_lo", "int, int, int", dp2a(false, Type::S32), true),
    ("__dp2a_lo", "unsigned, unsigned, unsigned", dp2a(false, Type::U32), false),
    ("__dp2a_lo", "short2, char4, int", dp2a(false, Type::S32), true),
    ("__dp2a_lo", "ushort2, uchar4, unsigned", dp2a(false, Type::U32), false),
    ("__dp2a_hi", "int, int, int", dp2a(true, Type::S32), true),
    ("__dp2a_hi", "unsigned, unsigned, unsigned", dp2a(true, Type::U32), false),
    ("__dp2a_hi", "short2, char4, int", dp2a(true, Type::S32), true),
    ("__dp2a_hi", "ushort2, uchar4, unsigned", dp2a(true, Type::U32), false),
    ("__funnelshift_l", "", funnel(true, false), false),
    ("__funnelshift_lc", "", funnel(true, true), false),
    ("__funnelshift_r", "", funnel(false, false), false),
    ("__funnelshift_rc", "", funnel(false, true), false),
    ("__sad", "", Meaning::Base(Op::Sad(Type::S32)), true),
    ("__usad", "", Meaning::Base(Op::Sad(Type::U32)), false),
    ("__brev", "", Meaning::Reversed, false),
    ("__popc", "", Meaning::Ones, false),
    ("__clz", "", Meaning::LeadingZeros, false),
    ("__ffs", "", Meaning::FirstOne, false),
    ("__mulhi", "", Meaning::HighProduct, true),
    ("__umulhi", "", Meaning::HighProduct, false),
    ("__mul24", "", Meaning::Product24, true),
    ("__umul24", "", Meaning::Product24, false),
    ("__hadd", "", Meaning::AverageDown, true),
    ("__uhadd", "", Meaning::AverageDown, false),
    ("__rhadd", "", Meaning::AverageUp, true),
    ("__urhadd", "", Meaning::AverageUp, false),
];

/// The meaning of what stands in a name between `__v` and the number of lanes, and whether lanes are signed.
pub(crate) fn stem(body: &str) -> Option<(Meaning, bool)> {
    if let Some((_, meaning, signed)) = STEMS.iter().find(|(stem, ..)| *stem == body) {
        return Some((*meaning, *signed));
    }
    let (rest, fills) =
        body.strip_prefix("cmp").map(|rest| (rest, true)).or(body.strip_prefix("set").map(|rest| (rest, false)))?;
    let comparison = *Comparison::ALL.iter().find(|comparison| rest.starts_with(comparison.name()))?;
    let has_order = !matches!(comparison, Comparison::Eq | Comparison::Ne);
    let signed = match &rest[comparison.name().len()..] {
        "" if !has_order => false,
        "s" if has_order => true,
        "u" if has_order => false,
        _ => return None,
    };
    Some((Meaning::Compare(comparison, fills), signed))
}

/// The meaning of the newer names behind `__vi`: `max3_s16x2_relu`.
fn newer(body: &str) -> Option<(Meaning, Range)> {
    let (body, relu) = body.strip_suffix("_relu").map_or((body, false), |body| (body, true));
    let (operation, ty) = body.split_once('_')?;
    let (_, lanes) = TYPES.iter().find(|(name, _)| *name == ty)?;
    let meaning = match operation {
        "max3" | "min3" => Meaning::Extreme { greater: operation == "max3", three: true, relu },
        "max" | "min" if relu => Meaning::Extreme { greater: operation == "max", three: false, relu },
        "addmax" | "addmin" => Meaning::SumExtreme { greater: operation == "addmax", relu },
        _ => return None,
    };
    // Nothing without sign is negative.
    (lanes.signed || !relu).then_some((meaning, *lanes))
}

impl Intrinsic {
    /// All of them, in the order of their operations.
    pub fn all() -> Vec<Intrinsic> {
        let mut all = Vec::new();
        let lanes = |stem: &str, all: &mut Vec<Intrinsic>| {
            all.extend(["2", "4"].into_iter().filter_map(|count| Intrinsic::from_name(&format!("__v{stem}{count}"))));
        };
        for (stem, ..) in STEMS {
            lanes(stem, &mut all);
        }
        for kind in ["cmp", "set"] {
            for comparison in Comparison::ALL {
                for sign in ["", "s", "u"] {
                    lanes(&format!("{kind}{}{sign}", comparison.name()), &mut all);
                }
            }
        }
        for extreme in ["max", "min"] {
            for (ty, _) in TYPES {
                for end in ["", "_relu"] {
                    for name in [extreme.to_string(), format!("{extreme}3"), format!("add{extreme}")] {
                        all.extend(Intrinsic::from_name(&format!("__vi{name}_{ty}{end}")));
                    }
                }
            }
        }
        all.extend(INTEGERS.into_iter().map(Intrinsic::of_row));
        all
    }

    fn of_row((name, types, meaning, signed): (&str, &'static str, Meaning, bool)) -> Intrinsic {
        Intrinsic { name: name.to_string(), types, meaning, lanes: Range::new(signed, 32) }
    }

    /// The intrinsic of a name, `__vsubss4`. One that is overloaded has types behind its name, `__dp4a(int, int, int)`; without them it is
    /// the first of its [overloads](Intrinsic::overloads).
    pub fn from_name(text: &str) -> Option<Intrinsic> {
        // Most texts that are asked about are none.
        text.strip_prefix("__")?;
        let (name, types) = match text.split_once('(') {
            Some((name, rest)) => (name.trim_end(), Some(rest.trim_end().strip_suffix(')')?)),
            None => (text, None),
        };
        if let Some(types) = types {
            let words: Vec<&str> = types.split(',').map(str::trim).collect();
            let is_like = |known: &str| {
                let alike = |word: &str, known: &str| {
                    word == known || known == "unsigned" && matches!(word, "unsigned int" | "uint" | "uint32_t")
                };
                let known: Vec<&str> = known.split(", ").collect();
                known.len() == words.len() && known.iter().zip(&words).all(|(known, word)| alike(word, known))
            };
            let row = INTEGERS.into_iter().find(|row| row.0 == name && !row.1.is_empty() && is_like(row.1));
            return row.map(Intrinsic::of_row);
        }
        if let Some(row) = INTEGERS.into_iter().find(|row| row.0 == name) {
            return Some(Intrinsic::of_row(row));
        }
        let body = name.strip_prefix("__v")?;
        let (meaning, lanes) = match (body.strip_prefix('i').and_then(newer), body.as_bytes().last()?) {
            (Some(found), _) => found,
            (None, count @ (b'2' | b'4')) => {
                let (meaning, signed) = stem(&body[..body.len() - 1])?;
                (meaning, Range::new(signed, if *count == b'2' { 16 } else { 8 }))
            }
            (None, _) => return None,
        };
        Some(Intrinsic { name: name.to_string(), types: "", meaning, lanes })
    }

    /// The intrinsics that a form computes alone, with its operands a and b (and c, where the form adds to it).
    pub fn of_form(form: Form) -> Vec<Intrinsic> {
        Intrinsic::all().into_iter().filter(|one| one.is_form() && one.form() == Some(form)).collect()
    }

    /// The intrinsics that a base instruction computes alone: those of `dp4a.s32.s32`.
    pub fn of_opcode(opcode: &str) -> Vec<Intrinsic> {
        let is_it = |text: String| text.split(' ').next() == Some(opcode);
        let alone = |one: &Intrinsic| one.difference().is_none() && one.instruction().is_some_and(is_it);
        Intrinsic::all().into_iter().filter(alone).collect()
    }

    /// The name.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// The types of its parameters, separated by commas, if there are others of its name: `int, int, int`.
    pub fn types(&self) -> Option<&'static str> {
        Some(self.types).filter(|types| !types.is_empty())
    }

    /// All of its name: more than one if it is overloaded.
    pub fn overloads(&self) -> Vec<Intrinsic> {
        match self.types() {
            None => Vec::from([self.clone()]),
            Some(_) => INTEGERS.into_iter().filter(|row| row.0 == self.name).map(Intrinsic::of_row).collect(),
        }
    }

    /// What it computes in each lane.
    pub fn meaning(&self) -> Meaning {
        self.meaning
    }

    /// The lanes of its operands: how wide they are, and whether they are signed.
    pub fn lanes(&self) -> Range {
        self.lanes
    }

    /// Whether it is a SIMD intrinsic; otherwise it is an integer intrinsic.
    pub fn is_simd(&self) -> bool {
        self.name.starts_with("__v")
    }

    /// The number of parameters: words of 32 bits.
    pub fn parameters(&self) -> usize {
        match self.meaning {
            Meaning::Absolute { .. }
            | Meaning::Negative { .. }
            | Meaning::Reversed
            | Meaning::Ones
            | Meaning::LeadingZeros
            | Meaning::FirstOne => 1,
            Meaning::Extreme { three: true, .. }
            | Meaning::SumExtreme { .. }
            | Meaning::Base(_)
            | Meaning::BytePermutation
            | Meaning::FunnelShift { .. } => 3,
            _ => 2,
        }
    }

    fn ty(&self) -> Type {
        if self.lanes.signed { Type::S32 } else { Type::U32 }
    }

    /// The form that computes it, or most of it; see [`difference`](Intrinsic::difference). None for most on whole words.
    pub fn form(&self) -> Option<Form> {
        let count = match self.lanes.bits {
            8 => "4",
            16 => "2",
            _ => "",
        };
        let ty = self.ty();
        let sat = |saturates: bool| if saturates { ".sat" } else { "" };
        let text = match self.meaning {
            Meaning::Binary(op) => {
                let (stem, sat) = match op {
                    PackedOp::Add => ("vadd", ""),
                    PackedOp::AddSat => ("vadd", ".sat"),
                    PackedOp::Sub => ("vsub", ""),
                    PackedOp::SubSat => ("vsub", ".sat"),
                    PackedOp::Min | PackedOp::MinRelu => ("vmin", ""),
                    PackedOp::Max | PackedOp::MaxRelu => ("vmax", ""),
                };
                format!("{stem}{count}{ty}{ty}{ty}{sat}")
            }
            Meaning::Absdiff => format!("vabsdiff{count}{ty}{ty}{ty}"),
            Meaning::Average | Meaning::AverageDown => format!("vavrg{count}{ty}{ty}{ty}"),
            Meaning::Absolute { saturates } => format!("vabsdiff{count}{ty}{ty}{ty}{}", sat(saturates)),
            Meaning::Negative { saturates } => format!("vsub{count}{ty}{ty}{ty}{}", sat(saturates)),
            Meaning::Compare(comparison, _) => format!("vset{count}{ty}{ty}{comparison}"),
            Meaning::SumOfDifferences | Meaning::Base(Op::Sad(_)) => format!("vabsdiff{count}.u32{ty}{ty}.add"),
            Meaning::Extreme { greater, .. } | Meaning::SumExtreme { greater, .. } => {
                format!("{}{count}{ty}{ty}{ty}", if greater { "vmax" } else { "vmin" })
            }
            _ => return None,
        };
        text.parse().ok()
    }

    /// The instruction of PTX that computes it, or most of it: its [form](Intrinsic::form), or a base instruction. None for averages of
    /// words.
    pub fn instruction(&self) -> Option<String> {
        let ty = self.ty();
        let opcode = match self.meaning {
            Meaning::Base(op) => op.opcode().to_string(),
            Meaning::BytePermutation => "prmt.b32".to_string(),
            Meaning::FunnelShift { left, clamps } => {
                format!("shf.{}.{}.b32", if left { "l" } else { "r" }, if clamps { "clamp" } else { "wrap" })
            }
            Meaning::Reversed => "brev.b32".to_string(),
            Meaning::Ones => "popc.b32".to_string(),
            Meaning::LeadingZeros | Meaning::FirstOne => "clz.b32".to_string(),
            Meaning::HighProduct => format!("mul.hi{ty}"),
            Meaning::Product24 => format!("mul24.lo{ty}"),
            _ => return self.form().map(|form| form.to_string()),
        };
        Some(format!("{opcode} d, {}", ["a", "a, b", "a, b, c"][self.parameters() - 1]))
    }

    /// Whether the form computes the intrinsic from the same operands, c being 0 where it is added to.
    pub fn is_form(&self) -> bool {
        matches!(
            self.meaning,
            Meaning::Binary(_)
                | Meaning::Absdiff
                | Meaning::Average
                | Meaning::Compare(_, false)
                | Meaning::SumOfDifferences
                | Meaning::Base(Op::Sad(_))
        )
    }

    /// What is to be done beside the [instruction](Intrinsic::instruction), in a sentence; `None` if the instruction computes the intrinsic
    /// as it is, or if there is none.
    pub fn difference(&self) -> Option<String> {
        let fill = self.greatest();
        Some(match self.meaning {
            Meaning::AverageDown if self.lanes.bits < 32 => {
                "The form rounds up, and the intrinsic down: the average of the complements, complemented, is rounded down.".into()
            }
            Meaning::Absolute { .. } => "b of the form is a register that holds 0.".into(),
            Meaning::Negative { .. } => "a of the form is a register that holds 0, and b the operand.".into(),
            Meaning::Compare(_, true) => {
                format!("The form gives 1 in a lane where the intrinsic has all bits set: multiply by {fill:#x}.")
            }
            Meaning::SumOfDifferences => "The form adds the sum to c, which must be 0.".into(),
            Meaning::Extreme { three, relu, .. } => match (three, relu) {
                (true, true) => "The form is applied again to its result and the third, and negative results become 0.".into(),
                (true, false) => "The form is applied again to its result and the third.".into(),
                (false, _) => "Negative results become 0.".into(),
            },
            Meaning::SumExtreme { relu, .. } => {
                let relu = if relu { ", and negative results become 0" } else { "" };
                format!("Its first operand is the sum of the first two, modulo the lane's size{relu}.")
            }
            Meaning::BytePermutation => {
                "Where the highest bit of a digit of c is set, the instruction takes the byte's sign in all bits. The intrinsic ignores \
                 this bit: c of the instruction is c & 0x7777."
                    .into()
            }
            Meaning::FirstOne => {
                "The instruction is applied to a & -a, the lowest one alone, and the intrinsic is 32 minus its result.".into()
            }
            _ => return None,
        })
    }

    /// The greatest number without sign of a lane.
    fn greatest(&self) -> u32 {
        u32::MAX >> (32 - self.lanes.bits)
    }

    /// What it does, in one sentence.
    pub fn describe(&self) -> String {
        let sign = if self.lanes.signed { "signed" } else { "unsigned" };
        let lanes = match self.lanes.bits {
            8 => format!("four {sign} bytes"),
            16 => format!("two {sign} half-words"),
            _ => format!("{sign} words"),
        };
        let each = if self.lanes.bits == 32 { "of" } else { "in each lane of" };
        let range = |saturates: bool| match saturates {
            true => format!(", clamped to {} to {}", self.lanes.min(), self.lanes.max()),
            false => String::new(),
        };
        let relu = |relu: bool| if relu { ", but no less than 0" } else { "" };
        match self.meaning {
            Meaning::Binary(op) => {
                let what = match op {
                    PackedOp::Add | PackedOp::AddSat => "The sum",
                    PackedOp::Sub | PackedOp::SubSat => "The difference",
                    PackedOp::Min | PackedOp::MinRelu => "The lesser",
                    PackedOp::Max | PackedOp::MaxRelu => "The greater",
                };
                format!("{what} {each} {lanes}{}.", range(matches!(op, PackedOp::AddSat | PackedOp::SubSat)))
            }
            Meaning::Absdiff => format!("The absolute difference {each} {lanes}."),
            Meaning::Average => format!("The average {each} {lanes}, rounded away from zero if it is not negative."),
            Meaning::AverageDown => format!("The average {each} {lanes}, rounded down."),
            Meaning::AverageUp => format!("The average {each} {lanes}, rounded up."),
            Meaning::Absolute { saturates } => format!("The absolute value {each} {lanes}{}.", range(saturates)),
            Meaning::Negative { saturates } => format!("The negative {each} {lanes}{}.", range(saturates)),
            Meaning::Compare(comparison, fills) => {
                let set = if fills { "all bits set" } else { "1" };
                format!("Compares {lanes}: {set} where a is {} b, else 0.", relation(comparison))
            }
            Meaning::SumOfDifferences => format!("The sum of the absolute differences of {lanes}."),
            Meaning::Extreme { greater, three, relu: clamps } => {
                let what = match (greater, three) {
                    (true, true) => "The greatest of three",
                    (true, false) => "The greater",
                    (false, true) => "The least of three",
                    (false, false) => "The lesser",
                };
                format!("{what} {each} {lanes}{}.", relu(clamps))
            }
            Meaning::SumExtreme { greater, relu: clamps } => {
                let what = if greater { "greater" } else { "lesser" };
                format!("The {what} of a + b, modulo the size, and c {each} {lanes}{}.", relu(clamps))
            }
            Meaning::Base(Op::Dp4a(..)) => format!("The sum of c and the four products of a's {sign} bytes and b's."),
            Meaning::Base(Op::Dp2a { high, .. }) => {
                let which = if high { "upper" } else { "lower" };
                format!("The sum of c and the two products of a's {sign} half-words and b's {which} {sign} bytes.")
            }
            Meaning::Base(_) => format!("The sum of c and the absolute difference of a and b, {sign} words."),
            Meaning::BytePermutation => {
                "Four bytes: each of c's four lower hexadecimal digits selects one, modulo 8; 0 to 3 are a's bytes, 4 to 7 b's.".into()
            }
            Meaning::FunnelShift { left, clamps } => {
                let (word, direction) = if left { ("upper", "left") } else { ("lower", "right") };
                let amount = if clamps { "c bits, but no more than 32" } else { "c modulo 32 bits" };
                format!(
                    "The {word} word of the 64 bits with the lower word a and the upper word b, shifted {direction} by {amount}."
                )
            }
            Meaning::Reversed => "The bits of a in the opposite order.".into(),
            Meaning::Ones => "The number of ones in a.".into(),
            Meaning::LeadingZeros => "The number of zeros above the highest one of a: 32 if there is none.".into(),
            Meaning::FirstOne => "The place of the lowest one of a, from 1: 0 if there is none.".into(),
            Meaning::HighProduct => format!("The upper 32 bits of the product of {lanes}."),
            Meaning::Product24 => {
                format!("The lower 32 bits of the product of the lower 24 bits of a and b, which are {sign}.")
            }
        }
    }

    /// Its value, lane by lane.
    pub fn eval(&self, a: u32, b: u32, c: u32) -> u32 {
        let Range { bits, .. } = self.lanes;
        let long = u64::from(b) << 32 | u64::from(a);
        let number =
            |word: u32, bits: u32| Range::new(self.lanes.signed, 32).value_of(word << (32 - bits)) >> (32 - bits);
        match self.meaning {
            Meaning::Base(op) => return op.eval(&[a, b, c].map(u64::from)) as u32,
            Meaning::BytePermutation => {
                let bytes = long.to_le_bytes();
                return u32::from_le_bytes(core::array::from_fn(|i| bytes[(c >> (4 * i) & 7) as usize]));
            }
            Meaning::FunnelShift { left, clamps } => {
                let amount = if clamps { c.min(32) } else { c % 32 };
                return if left { (long << amount >> 32) as u32 } else { (long >> amount) as u32 };
            }
            Meaning::Reversed => return a.reverse_bits(),
            Meaning::Ones => return a.count_ones(),
            Meaning::LeadingZeros => return a.leading_zeros(),
            Meaning::FirstOne => return if a == 0 { 0 } else { a.trailing_zeros() + 1 },
            // In two's complement, the product of numbers without sign is too great for i64.
            Meaning::HighProduct => return ((i128::from(number(a, 32)) * i128::from(number(b, 32))) >> 32) as u32,
            Meaning::Product24 => return (number(a, 24) * number(b, 24)) as u32,
            _ => {}
        }
        let lane = |word: u32, i: u32| self.lanes.value_of(word >> (i * bits));
        let clamp = |value: i64| value.clamp(self.lanes.min(), self.lanes.max());
        let wrap = |value: i64| self.lanes.value_of(value as u32 & self.greatest());
        let relu = |value: i64, relu: bool| if relu { value.max(0) } else { value };
        let extreme = |greater: bool, x: i64, y: i64| if greater { x.max(y) } else { x.min(y) };
        let mut word = 0u32;
        let mut sum = 0u32;
        for i in 0..32 / bits {
            let (x, y, z) = (lane(a, i), lane(b, i), lane(c, i));
            let value = match self.meaning {
                Meaning::Binary(op) => match op {
                    PackedOp::Add => x + y,
                    PackedOp::AddSat => clamp(x + y),
                    PackedOp::Sub => x - y,
                    PackedOp::SubSat => clamp(x - y),
                    PackedOp::Min | PackedOp::MinRelu => x.min(y),
                    PackedOp::Max | PackedOp::MaxRelu => x.max(y),
                },
                Meaning::Absdiff | Meaning::SumOfDifferences => (x - y).abs(),
                Meaning::Average => (x + y + i64::from(x + y >= 0)) >> 1,
                Meaning::AverageDown => (x + y) >> 1,
                Meaning::AverageUp => (x + y + 1) >> 1,
                Meaning::Absolute { saturates: true } => clamp(x.abs()),
                Meaning::Absolute { saturates: false } => x.abs(),
                Meaning::Negative { saturates: true } => clamp(-x),
                Meaning::Negative { saturates: false } => -x,
                Meaning::Compare(comparison, fills) => match (comparison.holds(x.cmp(&y)), fills) {
                    (false, _) => 0,
                    (true, false) => 1,
                    (true, true) => -1,
                },
                Meaning::Extreme { greater, three, relu: clamps } => {
                    let first = extreme(greater, x, y);
                    relu(if three { extreme(greater, first, z) } else { first }, clamps)
                }
                Meaning::SumExtreme { greater, relu: clamps } => relu(extreme(greater, wrap(x + y), z), clamps),
                _ => 0,
            };
            word |= (value as u32 & self.greatest()) << (i * bits);
            sum = sum.wrapping_add(value as u32);
        }
        if self.meaning == Meaning::SumOfDifferences { sum } else { word }
    }

    /// What it computes of three words as a term of SMT-LIB's `QF_BV`. Operands are terms, written more than once: give them names.
    pub fn smt(&self, words: [&str; 3]) -> String {
        let [a, b, c] = words;
        let Range { signed, bits } = self.lanes;
        let bit = |k: u32| format!("(= {} #b1)", part(a, k, 1));
        match self.meaning {
            Meaning::Binary(op) => return Op::Packed(op, self.lanes).smt(&[a, b]),
            Meaning::Base(op) => return op.smt(&words),
            Meaning::BytePermutation => {
                return concat((0..4).map(|i| {
                    let digit = part(c, 4 * i, 3);
                    let byte = |k: u32| part(if k < 4 { a } else { b }, 8 * (k % 4), 8);
                    (0..7).rev().fold(byte(7), |rest, k| {
                        format!("(ite (= {digit} {}) {} {rest})", constant(k.into(), 3), byte(k))
                    })
                }));
            }
            Meaning::FunnelShift { left, clamps } => {
                let amount = match clamps {
                    true => format!("(ite (bvult {c} #x00000020) {c} #x00000020)"),
                    false => format!("(bvand {c} #x0000001f)"),
                };
                let (name, word) = if left { ("bvshl", 32) } else { ("bvlshr", 0) };
                return part(&format!("({name} (concat {b} {a}) {})", extended(&amount, 32, false)), word, 32);
            }
            Meaning::Reversed => return concat((0..32).rev().map(|k| part(a, k, 1))),
            Meaning::Ones => return sum("#x00000000", (0..32).map(|k| extended(&part(a, k, 1), 31, false))),
            Meaning::LeadingZeros => {
                return (0..32).fold(constant(32, 32), |rest, k| {
                    format!("(ite {} {} {rest})", bit(k), constant(u64::from(31 - k), 32))
                });
            }
            Meaning::FirstOne => {
                return (0..32).rev().fold(constant(0, 32), |rest, k| {
                    format!("(ite {} {} {rest})", bit(k), constant(u64::from(k + 1), 32))
                });
            }
            Meaning::HighProduct => {
                let [x, y] = [a, b].map(|x| extended(x, 32, signed));
                return part(&format!("(bvmul {x} {y})"), 32, 32);
            }
            Meaning::Product24 => {
                let [x, y] = [a, b].map(|x| extended(&part(x, 0, 24), 8, signed));
                return format!("(bvmul {x} {y})");
            }
            _ => {}
        }
        let lane = |word: &str, k: u32| part(word, k * bits, bits);
        let (zero, least, most) =
            (constant(0, bits), constant(self.lanes.min() as u64, bits), constant(self.lanes.max() as u64, bits));
        let below = if signed { "bvslt" } else { "bvult" };
        let extreme = |greater: bool, x: &str, y: &str| match greater {
            false => format!("(ite ({below} {x} {y}) {x} {y})"),
            true => format!("(ite ({below} {x} {y}) {y} {x})"),
        };
        let relu = |x: String, relu: bool| if relu { format!("(ite (bvslt {x} {zero}) {zero} {x})") } else { x };
        let average = |x: &str, y: &str, more: &str| {
            let exact = format!("(bvadd {} {})", extended(x, 2, signed), extended(y, 2, signed));
            let (one, none) = (constant(1, bits + 2), constant(0, bits + 2));
            let more = match more {
                "up" => one.clone(),
                "away" => format!("(ite (bvsge {exact} {none}) {one} {none})"),
                _ => none,
            };
            part(&format!("(bvashr (bvadd {exact} {more}) {one})"), 0, bits)
        };
        let minus = |x: &str, saturates: bool| match saturates {
            true => format!("(ite (= {x} {least}) {most} (bvneg {x}))"),
            false => format!("(bvneg {x})"),
        };
        let lanes = (0..32 / bits).map(|k| {
            let (x, y, z) = (lane(a, k), lane(b, k), lane(c, k));
            match self.meaning {
                Meaning::Absdiff | Meaning::SumOfDifferences => difference(&x, &y, self.ty()),
                Meaning::Average => average(&x, &y, "away"),
                Meaning::AverageDown => average(&x, &y, "down"),
                Meaning::AverageUp => average(&x, &y, "up"),
                Meaning::Absolute { saturates } => {
                    format!("(ite (bvslt {x} {zero}) {} {x})", minus(&x, saturates))
                }
                Meaning::Negative { saturates } => minus(&x, saturates),
                Meaning::Compare(comparison, fills) => {
                    let holds = match comparison {
                        Comparison::Eq => format!("(= {x} {y})"),
                        Comparison::Ne => format!("(not (= {x} {y}))"),
                        Comparison::Lt => format!("({below} {x} {y})"),
                        Comparison::Le => format!("(not ({below} {y} {x}))"),
                        Comparison::Gt => format!("({below} {y} {x})"),
                        Comparison::Ge => format!("(not ({below} {x} {y}))"),
                    };
                    let set = constant(if fills { u64::MAX } else { 1 }, bits);
                    format!("(ite {holds} {set} {zero})")
                }
                Meaning::Extreme { greater, three, relu: clamps } => {
                    let first = extreme(greater, &x, &y);
                    relu(if three { extreme(greater, &first, &z) } else { first }, clamps)
                }
                Meaning::SumExtreme { greater, relu: clamps } => {
                    relu(extreme(greater, &format!("(bvadd {x} {y})"), &z), clamps)
                }
                _ => zero.clone(),
            }
        });
        match self.meaning {
            Meaning::SumOfDifferences => sum("#x00000000", lanes.map(|lane| extended(&lane, 32 - bits, false))),
            _ if bits == 32 => lanes.collect(),
            _ => concat(lanes),
        }
    }
}

/// The name, with types if it is overloaded.
impl fmt::Display for Intrinsic {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.name)?;
        self.types().map_or(Ok(()), |types| write!(f, "({types})"))
    }
}

fn relation(comparison: Comparison) -> &'static str {
    match comparison {
        Comparison::Eq => "equal to",
        Comparison::Ne => "not",
        Comparison::Lt => "less than",
        Comparison::Le => "at most",
        Comparison::Gt => "greater than",
        Comparison::Ge => "at least",
    }
}
