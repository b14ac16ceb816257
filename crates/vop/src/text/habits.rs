//! What to write for a function or an instruction of another family: CUDA's SIMD intrinsics, SSE, NEON, AMD's and OpenCL's
//! built-in functions, packed types of other PTX instructions.
//!
//! A name is read to what it [means](Meaning) on lanes of 8 or 16 bits, and that is written in video instructions. Where none
//! computes it alone, ordinary instructions stand around it: what is written computes exactly what the name computes.

use alloc::collections::BTreeSet;
use alloc::format;
use alloc::string::{String, ToString};
use alloc::vec::Vec;

use super::patch::fresh;
use crate::intrinsic::{self, Intrinsic};
use crate::isa::table::Mnemonic;
use crate::isa::types::{Comparison, Shape};
use crate::lower::PackedOp;

/// What a name computes, in each lane if nothing else is said.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Meaning {
    /// `vadd` and others of two operands, by the stem; the lower bits of the result, or the nearest value.
    Binary {
        stem: &'static str,
        saturates: bool,
    },
    /// The average, rounded up.
    RoundedUp,
    /// The average, rounded down.
    RoundedDown,
    /// The absolute value.
    Absolute {
        saturates: bool,
    },
    Negative {
        saturates: bool,
    },
    /// 1 where the comparison holds.
    One(Comparison),
    /// All bits of the lane where it holds.
    Mask(Comparison),
    /// The sum of the absolute differences of all lanes; with an accumulator, if there is a third operand.
    SumOfDifferences {
        accumulates: bool,
    },
    /// The least or the greatest of three, or of two; and of 0, if it clamps.
    Extreme {
        stem: &'static str,
        three: bool,
        clamps: bool,
    },
    /// The greatest or the least of a sum (its lower bits) and a third; and of 0, if it clamps.
    SumExtreme {
        stem: &'static str,
        clamps: bool,
    },
}

impl Meaning {
    /// With the nearest values in the place of lower bits, if the modifiers say so.
    fn saturating(self, sat: bool) -> Meaning {
        match self {
            Meaning::Binary { stem, saturates } if stem != "vavrg" => {
                Meaning::Binary { stem, saturates: saturates || sat }
            }
            Meaning::Absolute { saturates } => Meaning::Absolute { saturates: saturates || sat },
            Meaning::Negative { saturates } => Meaning::Negative { saturates: saturates || sat },
            other => other,
        }
    }
}

/// A name of another family, read.
#[derive(Debug, Clone, Copy)]
struct Habit {
    meaning: Meaning,
    shape: Shape,
    signed: bool,
    /// What there is to say beside it.
    note: &'static str,
}

/// What to write instead of an instruction or a function.
pub(super) struct Instead {
    /// The mnemonic of the video instruction that does most of it.
    pub(super) mnemonic: String,
    /// A sentence, or a sentence with a block of instructions below it.
    pub(super) help: String,
    /// What stands for the whole instruction, where its operands are known and nothing else is to be said.
    pub(super) text: Option<String>,
}

/// The operands of what is to be written.
pub(super) struct Given<'a> {
    /// The guard with its blank, or nothing.
    pub(super) guard: String,
    /// The registers d, a, b and c, as far as they are written; none where the text has no operands or others.
    pub(super) registers: &'a [&'a str],
    /// Whether the text has operands: then others are not written in their place.
    pub(super) others: bool,
}

/// What to write for a name that is no video instruction's, with the text of its modifiers, `.u8x4`; `None` if it is of no known
/// family.
pub(super) fn instead(name: &str, modifiers: &str, given: &Given<'_>) -> Option<Instead> {
    let habit = read(&name.to_ascii_lowercase(), &Modifiers::read(modifiers))?;
    Some(habit.written(given))
}

/// Whether a word is no mnemonic, and says what a video instruction with two or four lanes does: `vcmpeq4`, as CUDA has
/// `__vcmpeq4`. It is refused, with what to write instead.
///
/// ```
/// assert!(vop::is_name_of_lanes("vcmpeq4") && vop::is_name_of_lanes("vmad2"));
/// assert!(!vop::is_name_of_lanes("vadd4") && !vop::is_name_of_lanes("vmov4"));
/// ```
pub fn is_name_of_lanes(word: &str) -> bool {
    let name = word.to_ascii_lowercase();
    Mnemonic::from_name(&name).is_none()
        && name.starts_with('v')
        && name.ends_with(['2', '4'])
        && (cuda(&name, &Modifiers::default()).is_some() || advice(&name).is_some())
}

/// What to write for a video instruction with a packed type or a number of bits in the place of its types: `vmin.u8x4`, `vadd.8`.
///
/// Its operands have not been read: where it has any, there are none in what to write.
pub(super) fn instead_of_packed(name: &str, modifiers: &str, has_operands: bool) -> Option<String> {
    let modifiers = Modifiers::read(modifiers);
    let (shape, stem) = (modifiers.shape.filter(|_| !modifiers.others)?, name.trim_end_matches(['2', '4']));
    let habit = read(&format!("__{stem}{}", shape.lanes()), &modifiers)?;
    let Instead { mnemonic, help, .. } =
        habit.written(&Given { guard: String::new(), registers: &[], others: has_operands });
    // One that has its lanes has its fourth operand.
    let help = if has_operands && mnemonic == name { help.split(", ").next().map(String::from)? } else { help };
    (help.starts_with("write `") && !help.contains('\n')).then_some(help)
}

/// What the modifiers of a name say.
#[derive(Debug, Clone, Copy, Default)]
struct Modifiers {
    shape: Option<Shape>,
    signed: Option<bool>,
    saturates: bool,
    comparison: Option<Comparison>,
    /// Whether there are others.
    others: bool,
}

impl Modifiers {
    fn read(text: &str) -> Modifiers {
        let mut read = Modifiers::default();
        for word in text.split('.').map(|word| word.trim().to_ascii_lowercase()) {
            if let Some((shape, signed)) = lanes_of(&word) {
                read.shape = read.shape.or(Some(shape));
                read.signed = read.signed.or(signed);
            }
            match word.as_str() {
                "s32" => read.signed = read.signed.or(Some(true)),
                "u32" => read.signed = read.signed.or(Some(false)),
                "sat" => read.saturates = true,
                _ => match Comparison::ALL.iter().find(|one| one.name() == word) {
                    Some(comparison) => read.comparison = read.comparison.or(Some(*comparison)),
                    None => read.others |= !word.is_empty() && lanes_of(&word).is_none(),
                },
            }
        }
        read
    }
}

/// The lanes that a modifier of another family names, and whether they are signed.
fn lanes_of(word: &str) -> Option<(Shape, Option<bool>)> {
    let (signed, rest) = match word.as_bytes().first()? {
        b's' | b'i' => (Some(true), &word[1..]),
        b'u' => (Some(false), &word[1..]),
        b'b' => (None, &word[1..]),
        _ => (None, word),
    };
    // Of NEON's `.i8` it does not matter which it is.
    let signed = if word.starts_with('i') { None } else { signed };
    let shape = match rest {
        "8x4" | "8" | "x4" | "v4" | "4" => Shape::Bytes,
        "16x2" | "16" | "x2" | "v2" | "2" => Shape::Halves,
        _ => return None,
    };
    // `.u4` and `.sx2` are nothing.
    let named = rest.len() == word.len() || rest.contains("8") || rest.contains("16");
    named.then_some((shape, signed))
}

fn binary(stem: &'static str, saturates: bool) -> Option<Meaning> {
    Some(Meaning::Binary { stem, saturates })
}

fn read(name: &str, modifiers: &Modifiers) -> Option<Habit> {
    cuda(name, modifiers)
        .or_else(|| dpx(name))
        .or_else(|| sse(name))
        .or_else(|| x86(name))
        .or_else(|| neon(name, modifiers))
        .or_else(|| amd(name))
        .or_else(|| packed(name, modifiers))
}

/// Splits the letter of the sign from an operation's name: `maxs`, `maxu`.
fn signed_name(name: &str) -> (&str, Option<bool>) {
    match name.as_bytes().last() {
        Some(b's') => (&name[..name.len() - 1], Some(true)),
        Some(b'u') => (&name[..name.len() - 1], Some(false)),
        _ => (name, None),
    }
}

/// CUDA's DPX functions and others whose names say a type: `__vimax3_s16x2`, as far as video instructions compute them.
fn dpx(name: &str) -> Option<Habit> {
    let intrinsic = Intrinsic::from_name(name).filter(Intrinsic::is_simd)?;
    let lanes = intrinsic.lanes();
    let shape = match lanes.bits {
        8 => Shape::Bytes,
        16 => Shape::Halves,
        _ => Shape::Scalar,
    };
    Some(Habit { meaning: meaning_of(intrinsic.meaning(), shape)?, shape, signed: lanes.signed, note: "" })
}

fn meaning_of(meaning: intrinsic::Meaning, shape: Shape) -> Option<Meaning> {
    use intrinsic::Meaning as Of;
    let stem = |greater: bool| if greater { "vmax" } else { "vmin" };
    Some(match meaning {
        Of::Binary(PackedOp::Add) => binary("vadd", false)?,
        Of::Binary(PackedOp::AddSat) => binary("vadd", true)?,
        Of::Binary(PackedOp::Sub) => binary("vsub", false)?,
        Of::Binary(PackedOp::SubSat) => binary("vsub", true)?,
        Of::Binary(PackedOp::Min) => binary("vmin", false)?,
        Of::Binary(PackedOp::Max) => binary("vmax", false)?,
        Of::Absdiff => binary("vabsdiff", false)?,
        Of::Average if shape.is_simd() => binary("vavrg", false)?,
        Of::AverageDown if shape.is_simd() => Meaning::RoundedDown,
        Of::Absolute { saturates } => Meaning::Absolute { saturates },
        Of::Negative { saturates } => Meaning::Negative { saturates },
        Of::Compare(comparison, true) if shape.is_simd() => Meaning::Mask(comparison),
        Of::Compare(comparison, _) => Meaning::One(comparison),
        Of::SumOfDifferences => Meaning::SumOfDifferences { accumulates: !shape.is_simd() },
        // The last of two scalar extremes would be a third, and the least of two, clamped to 0 from below, needs another instruction.
        Of::Extreme { greater, three, relu } if shape.is_simd() || !relu || greater && !three => {
            Meaning::Extreme { stem: stem(greater), three, clamps: relu }
        }
        // A scalar sum has 33 bits until it is compared.
        Of::SumExtreme { greater, relu } if shape.is_simd() => {
            Meaning::SumExtreme { stem: stem(greater), clamps: relu }
        }
        _ => return None,
    })
}

/// CUDA's SIMD intrinsics, `__vaddss4`; the same as if they were instructions, `vaddss4.s32`; and names that are like theirs, `vadds4`.
fn cuda(name: &str, modifiers: &Modifiers) -> Option<Habit> {
    let (bare, is_function) = name.strip_prefix("__").map_or((name, false), |bare| (bare, true));
    let bare = bare.strip_prefix('v')?;
    let (body, shape) = match bare.as_bytes().last()? {
        b'4' => (&bare[..bare.len() - 1], Shape::Bytes),
        b'2' => (&bare[..bare.len() - 1], Shape::Halves),
        _ if is_function => return None,
        _ => (bare, modifiers.shape.unwrap_or(Shape::Scalar)),
    };
    let sat = modifiers.saturates;
    let compare = |cc: &str, mask: bool| {
        let (cc, signed) = if cc.len() == 3 { signed_name(cc) } else { (cc, None) };
        let comparison = *Comparison::ALL.iter().find(|comparison| comparison.name() == cc)?;
        Some((if mask { Meaning::Mask(comparison) } else { Meaning::One(comparison) }, signed))
    };
    let plain = |meaning: Option<Meaning>, signed: Option<bool>| meaning.map(|meaning| (meaning, signed));
    let (meaning, signed) = if let Some((meaning, signed)) = intrinsic::stem(body) {
        use intrinsic::Meaning as Of;
        // Where the sign does not matter to the intrinsic, it may to the modifiers.
        let open = matches!(meaning, Of::Binary(PackedOp::Add | PackedOp::Sub))
            || matches!(meaning, Of::Compare(Comparison::Eq | Comparison::Ne, _));
        plain(meaning_of(meaning, shape).map(|meaning| meaning.saturating(sat)), (!open).then_some(signed))
    } else {
        match body {
            "abss" | "abssat" => plain(Some(Meaning::Absolute { saturates: true }), Some(true)),
            "negs" | "negsat" => plain(Some(Meaning::Negative { saturates: true }), Some(true)),
            "addu" => plain(binary("vadd", sat), None),
            "subu" => plain(binary("vsub", sat), None),
            "adds" | "addsat" => plain(binary("vadd", true), None),
            "subs" | "subsat" => plain(binary("vsub", true), None),
            "absdiff" | "abd" | "abds" | "abdu" | "absd" | "absdif" => {
                plain(binary("vabsdiff", sat), signed_name(body).1)
            }
            "max" => plain(binary("vmax", sat), None),
            "min" => plain(binary("vmin", sat), None),
            "avg" | "avrg" | "avrgs" | "avrgu" if shape.is_simd() => plain(binary("vavrg", false), signed_name(body).1),
            "hadd" | "hadds" if shape.is_simd() => plain(Some(Meaning::RoundedDown), signed_name(body).1),
            "rhadd" | "rhadds" | "rhaddu" if shape.is_simd() => plain(Some(Meaning::RoundedUp), signed_name(body).1),
            "sad" => plain(Some(Meaning::SumOfDifferences { accumulates: !is_function && !shape.is_simd() }), None),
            "cmp" => plain(modifiers.comparison.map(Meaning::Mask), None),
            "set" => plain(modifiers.comparison.map(Meaning::One), None),
            _ => match (body.strip_prefix("cmp"), body.strip_prefix("set")) {
                (Some(cc), _) => compare(cc, shape.is_simd()),
                (_, Some(cc)) => compare(cc, false),
                _ => None,
            },
        }
    }?;
    let by_default = matches!(meaning, Meaning::Absolute { .. } | Meaning::Negative { .. });
    let signed = signed.or(modifiers.signed).unwrap_or(by_default);
    Some(Habit { meaning, shape, signed, note: "" })
}

const PART_OF_VECTOR: &str = "a register holds 4 bytes or 2 half-words of the vector";

/// SSE's intrinsics: `_mm_adds_epu8`.
fn sse(name: &str) -> Option<Habit> {
    let name = ["_mm_", "_mm256_", "_mm512_"].into_iter().find_map(|prefix| name.strip_prefix(prefix))?;
    let (operation, ty) = name.split_once('_')?;
    let ty = ty.strip_prefix("ep").or_else(|| ty.strip_prefix('p'))?;
    let (signed, shape) = (
        ty.starts_with('i'),
        match ty {
            "i8" | "u8" => Shape::Bytes,
            "i16" | "u16" => Shape::Halves,
            _ => return None,
        },
    );
    let meaning = match operation {
        "add" if signed => binary("vadd", false)?,
        "sub" if signed => binary("vsub", false)?,
        "adds" => binary("vadd", true)?,
        "subs" => binary("vsub", true)?,
        "max" => binary("vmax", false)?,
        "min" => binary("vmin", false)?,
        "avg" if !signed => binary("vavrg", false)?,
        "abs" if signed => Meaning::Absolute { saturates: false },
        "cmpeq" if signed => Meaning::Mask(Comparison::Eq),
        "cmpgt" if signed => Meaning::Mask(Comparison::Gt),
        "cmplt" if signed => Meaning::Mask(Comparison::Lt),
        "sad" if !signed && shape == Shape::Bytes => Meaning::SumOfDifferences { accumulates: false },
        _ => return None,
    };
    Some(Habit { meaning, shape, signed, note: PART_OF_VECTOR })
}

/// The instructions of x86: `paddusb`, `vpaddusb`.
fn x86(name: &str) -> Option<Habit> {
    let body = name.strip_prefix('v').unwrap_or(name).strip_prefix('p')?;
    if body == "sadbw" {
        let meaning = Meaning::SumOfDifferences { accumulates: false };
        return Some(Habit { meaning, shape: Shape::Bytes, signed: false, note: PART_OF_VECTOR });
    }
    let (body, shape) = match body.as_bytes().last()? {
        b'b' => (&body[..body.len() - 1], Shape::Bytes),
        b'w' => (&body[..body.len() - 1], Shape::Halves),
        _ => return None,
    };
    let (meaning, signed) = match body {
        "add" => (binary("vadd", false)?, false),
        "sub" => (binary("vsub", false)?, false),
        "adds" => (binary("vadd", true)?, true),
        "addus" => (binary("vadd", true)?, false),
        "subs" => (binary("vsub", true)?, true),
        "subus" => (binary("vsub", true)?, false),
        "maxs" => (binary("vmax", false)?, true),
        "maxu" => (binary("vmax", false)?, false),
        "mins" => (binary("vmin", false)?, true),
        "minu" => (binary("vmin", false)?, false),
        "avg" => (binary("vavrg", false)?, false),
        "abs" => (Meaning::Absolute { saturates: false }, true),
        "cmpeq" => (Meaning::Mask(Comparison::Eq), true),
        "cmpgt" => (Meaning::Mask(Comparison::Gt), true),
        _ => return None,
    };
    Some(Habit { meaning, shape, signed, note: PART_OF_VECTOR })
}

/// NEON's intrinsics, `vabdq_u8`, and instructions, `vabd.u8`.
fn neon(name: &str, modifiers: &Modifiers) -> Option<Habit> {
    let body = name.strip_prefix('v')?;
    let (body, shape, signed) = match body.split_once('_') {
        Some((body, ty)) => {
            let (shape, signed) = lanes_of(ty).filter(|_| matches!(ty, "u8" | "s8" | "u16" | "s16"))?;
            (body, shape, signed)
        }
        None => (body, modifiers.shape?, modifiers.signed),
    };
    let signed = signed.unwrap_or(false);
    let compare = |comparison| Some(Meaning::Mask(comparison));
    let operation = |body: &str| match body {
        "add" => binary("vadd", false),
        "sub" => binary("vsub", false),
        "qadd" => binary("vadd", true),
        "qsub" => binary("vsub", true),
        "abd" => binary("vabsdiff", false),
        "max" => binary("vmax", false),
        "min" => binary("vmin", false),
        "hadd" => Some(Meaning::RoundedDown),
        "rhadd" => Some(Meaning::RoundedUp),
        "abs" if signed => Some(Meaning::Absolute { saturates: false }),
        "qabs" if signed => Some(Meaning::Absolute { saturates: true }),
        "neg" if signed => Some(Meaning::Negative { saturates: false }),
        "qneg" if signed => Some(Meaning::Negative { saturates: true }),
        "ceq" => compare(Comparison::Eq),
        "cgt" => compare(Comparison::Gt),
        "cge" => compare(Comparison::Ge),
        "clt" => compare(Comparison::Lt),
        "cle" => compare(Comparison::Le),
        _ => None,
    };
    let meaning = operation(body).or_else(|| operation(body.strip_suffix('q')?))?;
    Some(Habit { meaning, shape, signed, note: PART_OF_VECTOR })
}

/// AMD's built-in functions and instructions, and OpenCL's functions on `uchar4`.
fn amd(name: &str) -> Option<Habit> {
    let sad =
        |shape| Habit { meaning: Meaning::SumOfDifferences { accumulates: true }, shape, signed: false, note: "" };
    match name {
        "__builtin_amdgcn_sad_u8" | "v_sad_u8" | "amd_sad" | "__sad_u8" => return Some(sad(Shape::Bytes)),
        "__builtin_amdgcn_sad_u16" | "v_sad_u16" => return Some(sad(Shape::Halves)),
        _ => {}
    }
    if let Some(packed) = name.strip_prefix("v_pk_") {
        let (operation, ty) = packed.split_once('_')?;
        let signed = match ty {
            "i16" => true,
            "u16" => false,
            _ => return None,
        };
        let meaning = match operation {
            "add" => binary("vadd", false)?,
            "sub" => binary("vsub", false)?,
            "max" => binary("vmax", false)?,
            "min" => binary("vmin", false)?,
            _ => return None,
        };
        return Some(Habit { meaning, shape: Shape::Halves, signed, note: "" });
    }
    let meaning = match name {
        "add_sat" => binary("vadd", true)?,
        "sub_sat" => binary("vsub", true)?,
        "abs_diff" => binary("vabsdiff", false)?,
        "hadd" => Meaning::RoundedDown,
        "rhadd" => Meaning::RoundedUp,
        _ => return None,
    };
    Some(Habit { meaning, shape: Shape::Bytes, signed: false, note: "this is for `uchar4`" })
}

/// Other PTX instructions with packed types: `add.sat.u8x4`, `max.s16x2`.
fn packed(name: &str, modifiers: &Modifiers) -> Option<Habit> {
    let shape = modifiers.shape?;
    let sat = modifiers.saturates;
    let meaning = match name {
        "add" => binary("vadd", sat)?,
        "sub" => binary("vsub", sat)?,
        "min" => binary("vmin", false)?,
        "max" => binary("vmax", false)?,
        "neg" => Meaning::Negative { saturates: sat },
        "abs" => Meaning::Absolute { saturates: sat },
        "avg" | "avrg" => binary("vavrg", false)?,
        "absdiff" => binary("vabsdiff", sat)?,
        _ => return None,
    };
    let by_default = matches!(meaning, Meaning::Absolute { .. } | Meaning::Negative { .. });
    Some(Habit { meaning, shape, signed: modifiers.signed.unwrap_or(by_default), note: "" })
}

impl Habit {
    /// The instructions: `{d}`, `{a}`, `{b}` and `{c}` are the operands, `{x}` any register where a fourth operand must be,
    /// `{t}` and `{u}` new registers. The first is the mnemonic that does most of it.
    fn lines(&self) -> (String, Vec<String>) {
        let lanes = match self.shape {
            Shape::Scalar => "",
            Shape::Halves => "2",
            Shape::Bytes => "4",
        };
        let any = if self.shape.is_simd() { ", {x}" } else { "" };
        let ty = if self.signed { ".s32" } else { ".u32" };
        let types = format!("{ty}{ty}{ty}");
        let sat = |saturates: bool| if saturates { ".sat" } else { "" };
        let one = |line: String| alloc::vec![line];
        // The bits that make the lanes of one sign those of the other, or the complement of these.
        let flip = |sign: bool, others: bool| {
            let lane: u32 = if self.shape == Shape::Bytes { 0x80 } else { 0x8000 };
            let all = if self.shape == Shape::Bytes { 0x0101_0101 } else { 0x0001_0001 };
            (if sign { lane * all } else { 0 }) ^ if others { u32::MAX } else { 0 }
        };
        match self.meaning {
            Meaning::Binary { stem, saturates } => (
                format!("{stem}{lanes}"),
                one(format!("{stem}{lanes}{types}{} {{d}}, {{a}}, {{b}}{any}", sat(saturates))),
            ),
            Meaning::RoundedUp if !self.signed => {
                ("vavrg".to_string() + lanes, one(format!("vavrg{lanes}{types} {{d}}, {{a}}, {{b}}{any}")))
            }
            // Averages of unsigned lanes round up; those of complements round down. Signed lanes have another bias.
            Meaning::RoundedUp | Meaning::RoundedDown => {
                let bits = flip(self.signed, self.meaning == Meaning::RoundedDown);
                let mnemonic = format!("vavrg{lanes}");
                let lines = alloc::vec![
                    format!("xor.b32 {{t}}, {{a}}, {bits:#010x}"),
                    format!("xor.b32 {{u}}, {{b}}, {bits:#010x}"),
                    format!("{mnemonic}.u32.u32.u32 {{t}}, {{t}}, {{u}}, {{t}}"),
                    format!("xor.b32 {{d}}, {{t}}, {bits:#010x}"),
                ];
                (mnemonic, lines)
            }
            Meaning::Absolute { saturates } if self.shape.is_simd() => {
                let mnemonic = format!("vabsdiff{lanes}");
                let line = format!("{mnemonic}.s32.s32.s32{} {{d}}, {{a}}, {{t}}, {{t}}", sat(saturates));
                (mnemonic, alloc::vec!["mov.b32 {t}, 0".to_string(), line])
            }
            Meaning::Absolute { saturates } => {
                ("vabsdiff".to_string(), one(format!("vabsdiff.s32.s32.s32{} {{d}}, {{a}}, 0", sat(saturates))))
            }
            Meaning::Negative { saturates } if self.shape.is_simd() => {
                let mnemonic = format!("vsub{lanes}");
                let line = format!("{mnemonic}.s32.s32.s32{} {{d}}, {{t}}, {{a}}, {{t}}", sat(saturates));
                (mnemonic, alloc::vec!["mov.b32 {t}, 0".to_string(), line])
            }
            Meaning::Negative { saturates } => {
                ("vsub".to_string(), one(format!("vsub.s32.s32.s32{} {{d}}, 0, {{a}}", sat(saturates))))
            }
            Meaning::One(comparison) => {
                let mnemonic = format!("vset{lanes}");
                (mnemonic.clone(), one(format!("{mnemonic}{ty}{ty}{comparison} {{d}}, {{a}}, {{b}}{any}")))
            }
            Meaning::Mask(comparison) => {
                let mnemonic = format!("vset{lanes}");
                let mut lines = one(format!("{mnemonic}{ty}{ty}{comparison} {{d}}, {{a}}, {{b}}{any}"));
                if self.shape.is_simd() {
                    lines.push(format!(
                        "mul.lo.u32 {{d}}, {{d}}, {}",
                        if self.shape == Shape::Bytes { 0xff } else { 0xffff }
                    ));
                }
                (mnemonic, lines)
            }
            Meaning::SumOfDifferences { accumulates } => {
                let mnemonic = format!("vabsdiff{lanes}");
                let line = |c: &str| format!("{mnemonic}.u32{ty}{ty}.add {{d}}, {{a}}, {{b}}, {c}");
                match (accumulates, self.shape) {
                    (true, _) => (mnemonic.clone(), one(line("{c}"))),
                    (false, Shape::Scalar) => (mnemonic.clone(), one(line("0"))),
                    (false, _) => (mnemonic.clone(), alloc::vec!["mov.b32 {t}, 0".to_string(), line("{t}")]),
                }
            }
            Meaning::Extreme { stem, three, clamps } if self.shape == Shape::Scalar => {
                // The secondary operation has the third value, or the bound.
                let secondary = &stem[1..];
                let third = if three { "{c}" } else { "0" };
                debug_assert!(three || clamps, "of two there is an instruction");
                (stem.to_string(), one(format!("{stem}{types}.{secondary} {{d}}, {{a}}, {{b}}, {third}")))
            }
            Meaning::Extreme { stem, three, clamps } => {
                let mnemonic = format!("{stem}{lanes}");
                let mut lines = one(format!("{mnemonic}{types} {{t}}, {{a}}, {{b}}, {{a}}"));
                if three {
                    lines.push(format!("{mnemonic}{types} {{t}}, {{t}}, {{c}}, {{t}}"));
                }
                self.finish(&mut lines, clamps, lanes);
                (mnemonic, lines)
            }
            Meaning::SumExtreme { stem, clamps } => {
                let mnemonic = format!("{stem}{lanes}");
                let mut lines = one(format!("vadd{lanes}{types} {{t}}, {{a}}, {{b}}, {{a}}"));
                lines.push(format!("{mnemonic}{types} {{t}}, {{t}}, {{c}}, {{t}}"));
                self.finish(&mut lines, clamps, lanes);
                (mnemonic, lines)
            }
        }
    }

    /// The last of several instructions writes d: the greatest of `{t}` and 0, or `{t}`.
    fn finish(&self, lines: &mut Vec<String>, clamps: bool, lanes: &str) {
        if clamps {
            lines.push("mov.b32 {u}, 0".to_string());
            lines.push(format!("vmax{lanes}.s32.s32.s32 {{d}}, {{t}}, {{u}}, {{u}}"));
        } else if let Some(last) = lines.last_mut() {
            *last = last.replacen("{t}", "{d}", 1);
        }
    }

    /// Only what is to be used, for operands that are not plain: a block would lose their selectors.
    fn without_operands(&self, mnemonic: String, lines: &[String]) -> Instead {
        let mut help = match lines {
            [only] => {
                let opcode = only.split(' ').next().unwrap_or_default();
                let any = only.ends_with("{x}");
                let any =
                    if any { ", which has a fourth operand c: with all lanes written any register does" } else { "" };
                format!("write `{opcode}`{any}")
            }
            _ => format!("write it with `{mnemonic}`"),
        };
        if matches!(self.meaning, Meaning::Mask(_)) && self.shape.is_simd() {
            help.push_str(", which gives 1 in each lane where it holds, and fill these lanes");
        }
        if !self.note.is_empty() {
            help.push_str(&format!("; {}", self.note));
        }
        Instead { mnemonic, help, text: None }
    }

    fn written(&self, given: &Given<'_>) -> Instead {
        let (mnemonic, lines) = self.lines();
        let uses = |name: &str| lines.iter().any(|line| line.contains(name));
        let needed = if uses("{c}") { 4 } else { 2 + usize::from(uses("{b}")) };
        let fits = (needed..=4).contains(&given.registers.len());
        if given.others && !fits {
            return self.without_operands(mnemonic, &lines);
        }
        let (registers, guard) =
            if fits { (given.registers, given.guard.as_str()) } else { (&["d", "a", "b", "c"][..], "") };
        let mut taken: BTreeSet<String> = registers.iter().map(|name| (*name).to_string()).collect();
        taken.extend(guard.split(['@', '!', ' ']).map(String::from));
        let [t, u] = ["t", "u"].map(|name| fresh(name, &mut taken));
        let of = |i: usize| registers.get(i).copied().unwrap_or_default();
        let any = registers.get(3).copied().unwrap_or(of(1));
        let named: Vec<String> = lines
            .iter()
            .map(|line| {
                let guard = if line.contains("{d}") { guard } else { "" };
                let mut text = line.clone();
                for (place, name) in [("{t}", t.as_str()), ("{u}", &u), ("{x}", any)] {
                    text = text.replace(place, name);
                }
                for (i, place) in ["{d}", "{a}", "{b}", "{c}"].into_iter().enumerate() {
                    text = text.replace(place, of(i));
                }
                format!("{guard}{text}")
            })
            .collect();
        let mut help = match named.as_slice() {
            [only] => format!("write `{only}`"),
            _ => "write".to_string(),
        };
        if matches!(self.meaning, Meaning::Mask(_)) && self.shape.is_simd() {
            help.push_str(&format!(
                " it with `{mnemonic}`, which gives 1 in each lane where it holds, and fill these lanes"
            ));
        }
        if !self.note.is_empty() {
            help.push_str(&format!("; {}", self.note));
        }
        if help == "write" || help.starts_with("write;") {
            help = help.replacen("write", &format!("write it with `{mnemonic}`"), 1);
        }
        let is_said = fits && given.others && self.note.is_empty();
        let mut text = named.first().filter(|_| is_said && named.len() == 1).cloned();
        if named.len() > 1 {
            let new: Vec<&str> = [("{t}", &t), ("{u}", &u)]
                .into_iter()
                .filter(|(place, _)| uses(place))
                .map(|(_, name)| name.as_str())
                .collect();
            let declared = if new.is_empty() { String::new() } else { format!("    .reg .b32 {};\n", new.join(", ")) };
            let block: Vec<String> = named.iter().map(|line| format!("    {line};\n")).collect();
            let block = format!("{{\n{declared}{}}}", block.concat());
            help.push_str(&format!(":\n{block}"));
            text = is_said.then_some(block);
        }
        Instead { mnemonic, help, text }
    }
}

/// What to write for an integer intrinsic of CUDA that a base instruction computes.
pub(super) fn base_instruction(name: &str) -> Option<String> {
    let intrinsic = Intrinsic::from_name(name).filter(|intrinsic| !intrinsic.is_simd())?;
    let instruction = intrinsic.instruction()?;
    Some(match intrinsic.difference() {
        Some(difference) => format!("the base instruction `{instruction}` does most of it. {difference}"),
        None => format!("write the base instruction `{instruction}`"),
    })
}

/// What to do about a name that looks like a video instruction, and that none computes.
pub(super) fn advice(name: &str) -> Option<&'static str> {
    let name = name.to_ascii_lowercase();
    let stem = name.trim_end_matches(|c: char| c.is_ascii_digit()).trim_start_matches("__");
    let is_function = name.starts_with("__");
    let simd = stem.len() < name.trim_start_matches("__").len();
    Some(match (stem, simd) {
        ("vmad" | "vfma" | "vmla", true) => {
            "no video instruction multiplies lanes: `vmad` takes one byte or half-word of each operand, as in \
             `vmad.u32.u32.u32 d, a.b0, b.b0, c`; `dp4a.u32.u32 d, a, b, c` adds the products of all bytes to c"
        }
        ("vfma" | "vmla", false) => "write `vmad.u32.u32.u32 d, a, b, c`",
        ("vmul" | "vmull", false) => "write `vmad.u32.u32.u32 d, a, b, 0`",
        ("vmul" | "vmull", true) => {
            "no video instruction multiplies lanes: `vmad` takes one byte or half-word of each operand, as in \
             `vmad.u32.u32.u32 d, a.b0, b.b0, 0`; `dp4a.u32.u32 d, a, b, c` adds the products of all bytes to c"
        }
        ("vdot" | "vdp", _) if name.ends_with('2') => {
            "no instruction adds the products of two registers' half-words: `vmad` takes one half-word of each operand, and `dp2a` \
             takes half-words of a and bytes of b"
        }
        ("vdot" | "vdp" | "vdp4a" | "vdot4a", _) => {
            "write `dp4a.u32.u32 d, a, b, c`, with `.s32` for signed bytes: it adds the products of all bytes to c"
        }
        ("dp4a", _) if is_function => {
            "write `dp4a.s32.s32 d, a, b, c`, or `dp4a.u32.u32` for unsigned bytes: it adds the products of all bytes to c"
        }
        ("dp2a_lo" | "dp2a_hi", _) if is_function => {
            "write `dp2a.lo.s32.s32 d, a, b, c` or `dp2a.hi.s32.s32`, with `.u32.u32` for unsigned numbers: it adds the products of a's \
             half-words and b's lower or upper bytes to c"
        }
        ("sad", _) if is_function => "write `vabsdiff.u32.s32.s32.add d, a, b, c`, or `sad.s32 d, a, b, c`",
        ("usad", _) if is_function => "write `vabsdiff.u32.u32.u32.add d, a, b, c`, or `sad.u32 d, a, b, c`",
        ("byte_perm", _) if is_function => {
            "write `prmt.b32 d, a, b, c`: each digit of c selects a byte, 0 to 3 of a and 4 to 7 of b"
        }
        ("vprmt" | "vperm", _) => {
            "no video instruction only permutes bytes; write `prmt.b32 d, a, b, c`: each digit of c selects a byte, 0 to 3 of a and \
             4 to 7 of b"
        }
        ("vsel" | "vselect" | "vbsl", _) => {
            "no video instruction selects: `lop3.b32 d, c, a, b, 0xca` takes the bits of a where c has ones, and those of b elsewhere"
        }
        ("vand" | "vor" | "vxor", _) => "write `and.b32`, `or.b32` or `xor.b32`: lanes do not matter to them",
        ("vnot", _) => "write `not.b32 d, a`: lanes do not matter to it",
        ("vavg" | "vavrg", false) => "write `vavrg2` or `vavrg4`: the average has no scalar form",
        ("vhadd" | "vrhadd", false) => "write `vavrg2` or `vavrg4`, which round up: the average has no scalar form",
        ("vcmp", false) => "write `vset`, with a comparison: `vset.u32.u32.eq d, a, b`",
        _ => return None,
    })
}
