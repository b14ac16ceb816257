//! Base instructions of PTX, by their text, as plain operations: those that stand beside video instructions in an `asm`, and those that are
//! ported for themselves.
//!
//! An instruction becomes a [`Sequence`] of the rows of the table of base instructions ([`vop::lower::Op`]), and that becomes plain
//! operations as a lowered form does. So one translation, which is proved, serves both.

use std::collections::HashMap;
use std::fmt;
use std::sync::OnceLock;

use vop::isa::range::Range;
use vop::isa::types::{Comparison, Type};
use vop::lower::{Op, PackedOp, Sequence, Value};

use crate::cheapest;
use crate::code::Code;
use crate::machine::{self, Machine, PLAIN};

const A: Value = Value::A;
const B: Value = Value::B;
const C: Value = Value::C;

/// A mnemonic, with what the PTX ISA manual says of it.
struct Row {
    /// The opcodes of integers of 32 and 16 bits and of predicates: `{x,y}` is one of these or nothing, `[x,y]` one of these.
    opcodes: &'static str,
    /// The number of source operands.
    arity: usize,
    /// The section of the manual.
    section: &'static str,
    /// What it computes. `$` stands for `signed` or `unsigned`, as the type says; `@` for what a modifier means.
    words: &'static str,
}

/// A row for each mnemonic, or several where the operands or the words differ.
#[rustfmt::skip]
static ROWS: &[Row] = &[
    Row { opcodes: "mov.[b32,u32,s32]",                       arity: 1, section: "9.7.9.3",  words: "a." },
    Row { opcodes: "mov.pred",                                arity: 1, section: "9.7.9.3",  words: "The predicate a." },
    Row { opcodes: "mov.[b16,u16,s16]",                       arity: 1, section: "9.7.9.3",  words: "The lower half of a." },
    Row { opcodes: "add.[u32,s32]",                           arity: 2, section: "9.7.1.1",  words: "The sum of a and b, modulo 2^32." },
    Row { opcodes: "add.sat.s32",                             arity: 2, section: "9.7.1.1",  words: "The sum of a and b, signed, clamped to -2147483648 to 2147483647." },
    Row { opcodes: "add{.sat}.[u8x4,s8x4,u16x2,s16x2]",       arity: 2, section: "9.7.1.1",  words: "The sums of a's and b's @." },
    Row { opcodes: "add.[u16,s16]",                           arity: 2, section: "9.7.1.1",  words: "The sum of the lower halves of a and b, modulo 2^16." },
    Row { opcodes: "sub.[u32,s32]",                           arity: 2, section: "9.7.1.2",  words: "The difference of a and b, modulo 2^32." },
    Row { opcodes: "sub.sat.s32",                             arity: 2, section: "9.7.1.2",  words: "The difference of a and b, signed, clamped to -2147483648 to 2147483647." },
    Row { opcodes: "sub{.sat}.[u8x4,s8x4]",                   arity: 2, section: "9.7.1.2",  words: "The differences of a's and b's @." },
    Row { opcodes: "sub.[u16,s16]",                           arity: 2, section: "9.7.1.2",  words: "The difference of the lower halves of a and b, modulo 2^16." },
    Row { opcodes: "mul.lo.[u32,s32]",                        arity: 2, section: "9.7.1.3",  words: "The lower 32 bits of the product of a and b." },
    Row { opcodes: "mul.hi.[u32,s32]",                        arity: 2, section: "9.7.1.3",  words: "The upper 32 bits of the product of a and b, $." },
    Row { opcodes: "mul.lo.[u16,s16]",                        arity: 2, section: "9.7.1.3",  words: "The lower 16 bits of the product of the lower halves of a and b." },
    Row { opcodes: "mul.wide.[u16,s16]",                      arity: 2, section: "9.7.1.3",  words: "The product of the lower halves of a and b, $, as 32 bits." },
    Row { opcodes: "mad.lo.[u32,s32]",                        arity: 3, section: "9.7.1.4",  words: "The lower 32 bits of the product of a and b, and c, modulo 2^32." },
    Row { opcodes: "mad.hi.[u32,s32]",                        arity: 3, section: "9.7.1.4",  words: "The upper 32 bits of the product of a and b, $, and c, modulo 2^32." },
    Row { opcodes: "mad.lo.[u16,s16]",                        arity: 3, section: "9.7.1.4",  words: "The product of the lower halves of a and b, and c, modulo 2^16." },
    Row { opcodes: "mad.wide.[u16,s16]",                      arity: 3, section: "9.7.1.4",  words: "The product of the lower halves of a and b, $, and c, modulo 2^32." },
    Row { opcodes: "mul24.lo.[u32,s32]",                      arity: 2, section: "9.7.1.5",  words: "The lower 32 bits of the product of a's and b's lower 24 bits, $." },
    Row { opcodes: "mad24.lo.[u32,s32]",                      arity: 3, section: "9.7.1.6",  words: "The lower 32 bits of the product of a's and b's lower 24 bits, $, and c, modulo 2^32." },
    Row { opcodes: "sad.[u32,s32]",                           arity: 3, section: "9.7.1.7",  words: "The sum of c and the absolute difference of a and b, $." },
    Row { opcodes: "abs.s32",                                 arity: 1, section: "9.7.1.10", words: "The absolute value of a, signed; the least number stays as it is." },
    Row { opcodes: "abs.s16",                                 arity: 1, section: "9.7.1.10", words: "The absolute value of the lower half of a, signed; the least number stays as it is." },
    Row { opcodes: "neg.s32",                                 arity: 1, section: "9.7.1.11", words: "Minus a, modulo 2^32." },
    Row { opcodes: "neg.s16",                                 arity: 1, section: "9.7.1.11", words: "Minus the lower half of a, modulo 2^16." },
    Row { opcodes: "min.[u32,s32]",                           arity: 2, section: "9.7.1.12", words: "The lesser of a and b, $." },
    Row { opcodes: "min.relu.s32",                            arity: 2, section: "9.7.1.12", words: "The lesser of a and b, signed, but no less than 0." },
    Row { opcodes: "min.[u8x4,s8x4,u16x2,s16x2]",             arity: 2, section: "9.7.1.12", words: "The lesser in each lane of a's and b's @." },
    Row { opcodes: "min.relu.[s8x4,s16x2]",                   arity: 2, section: "9.7.1.12", words: "The lesser in each lane of a's and b's @, but no less than 0." },
    Row { opcodes: "min.[u16,s16]",                           arity: 2, section: "9.7.1.12", words: "The lesser of the lower halves of a and b, $." },
    Row { opcodes: "max.[u32,s32]",                           arity: 2, section: "9.7.1.13", words: "The greater of a and b, $." },
    Row { opcodes: "max.relu.s32",                            arity: 2, section: "9.7.1.13", words: "The greater of a and b, signed, but no less than 0." },
    Row { opcodes: "max.[u8x4,s8x4,u16x2,s16x2]",             arity: 2, section: "9.7.1.13", words: "The greater in each lane of a's and b's @." },
    Row { opcodes: "max.relu.[s8x4,s16x2]",                   arity: 2, section: "9.7.1.13", words: "The greater in each lane of a's and b's @, but no less than 0." },
    Row { opcodes: "max.[u16,s16]",                           arity: 2, section: "9.7.1.13", words: "The greater of the lower halves of a and b, $." },
    Row { opcodes: "popc.b32",                                arity: 1, section: "9.7.1.14", words: "The number of ones in a." },
    Row { opcodes: "clz.b32",                                 arity: 1, section: "9.7.1.15", words: "The number of zeros above the highest one of a: 32 if there is none." },
    Row { opcodes: "bfind.u32",                               arity: 1, section: "9.7.1.16", words: "The place of the highest one of a, from 0: 0xffffffff if there is none." },
    Row { opcodes: "brev.b32",                                arity: 1, section: "9.7.1.18", words: "The bits of a in the opposite order." },
    Row { opcodes: "bfe.u32",                                 arity: 3, section: "9.7.1.19", words: "The field of a from bit b on, c bits long, with zeros above. b and c are modulo 256." },
    Row { opcodes: "bfe.s32",                                 arity: 3, section: "9.7.1.19", words: "The field of a from bit b on, c bits long, with copies of its highest bit above. b and c are modulo 256." },
    Row { opcodes: "bfi.b32",                                 arity: 4, section: "9.7.1.20", words: "b with a's lower bits in a field: the third operand is its lowest bit, the fourth its length, both modulo 256." },
    Row { opcodes: "dp4a.[u32,s32].[u32,s32]",                arity: 3, section: "9.7.1.23", words: "The sum of c and the four products of bytes of a and b, modulo 2^32: @." },
    Row { opcodes: "dp2a.[lo,hi].[u32,s32].[u32,s32]",        arity: 3, section: "9.7.1.24", words: "The sum of c and the two products of half-words of a and @, modulo 2^32." },
    Row { opcodes: "set.[eq,ne].[u32,s32].[b32,u32,s32]",     arity: 2, section: "9.7.6.1",  words: "All ones if a @ b, else 0." },
    Row { opcodes: "set.[lt,le,gt,ge].[u32,s32].[u32,s32]",   arity: 2, section: "9.7.6.1",  words: "All ones if a @ b, $, else 0." },
    Row { opcodes: "set.[lo,ls,hi,hs].[u32,s32].u32",         arity: 2, section: "9.7.6.1",  words: "All ones if a @ b, $, else 0." },
    Row { opcodes: "setp.[eq,ne].[b32,u32,s32]",              arity: 2, section: "9.7.6.2",  words: "1 if a @ b, else 0." },
    Row { opcodes: "setp.[lt,le,gt,ge].[u32,s32]",            arity: 2, section: "9.7.6.2",  words: "1 if a @ b, $, else 0." },
    Row { opcodes: "setp.[lo,ls,hi,hs].u32",                  arity: 2, section: "9.7.6.2",  words: "1 if a @ b, $, else 0." },
    Row { opcodes: "setp.[eq,ne].[b16,u16,s16]",              arity: 2, section: "9.7.6.2",  words: "1 if the lower half of a @ that of b, else 0." },
    Row { opcodes: "setp.[lt,le,gt,ge].[u16,s16]",            arity: 2, section: "9.7.6.2",  words: "1 if the lower half of a @ that of b, $, else 0." },
    Row { opcodes: "setp.[lo,ls,hi,hs].u16",                  arity: 2, section: "9.7.6.2",  words: "1 if the lower half of a @ that of b, $, else 0." },
    Row { opcodes: "selp.[b32,u32,s32]",                      arity: 3, section: "9.7.6.3",  words: "a if c is not 0, else b." },
    Row { opcodes: "selp.[b16,u16,s16]",                      arity: 3, section: "9.7.6.3",  words: "The lower half of a if c is not 0, else that of b." },
    Row { opcodes: "slct.[b32,u32,s32].s32",                  arity: 3, section: "9.7.6.4",  words: "a if c, signed, is at least 0, else b." },
    Row { opcodes: "and.[b32,pred]",                          arity: 2, section: "9.7.8.1",  words: "The bits that a and b have." },
    Row { opcodes: "and.b16",                                 arity: 2, section: "9.7.8.1",  words: "The bits that the lower halves of a and b both have." },
    Row { opcodes: "or.[b32,pred]",                           arity: 2, section: "9.7.8.2",  words: "The bits that a or b has." },
    Row { opcodes: "or.b16",                                  arity: 2, section: "9.7.8.2",  words: "The bits that the lower half of a or that of b has." },
    Row { opcodes: "xor.[b32,pred]",                          arity: 2, section: "9.7.8.3",  words: "The bits in which a and b differ." },
    Row { opcodes: "xor.b16",                                 arity: 2, section: "9.7.8.3",  words: "The bits in which the lower halves of a and b differ." },
    Row { opcodes: "not.b32",                                 arity: 1, section: "9.7.8.4",  words: "The bits that a does not have." },
    Row { opcodes: "not.pred",                                arity: 1, section: "9.7.8.4",  words: "1 if a is 0, else 0." },
    Row { opcodes: "not.b16",                                 arity: 1, section: "9.7.8.4",  words: "The bits that the lower half of a does not have." },
    Row { opcodes: "lop3.b32",                                arity: 4, section: "9.7.8.6",  words: "A function of three bits in each bit of a, b and c: bit 4a + 2b + c of the table." },
    Row { opcodes: "shf.[l,r].[wrap,clamp].b32",              arity: 3, section: "9.7.8.7",  words: "The @." },
    Row { opcodes: "shl.b32",                                 arity: 2, section: "9.7.8.8",  words: "a shifted left by b bits: 0 from 32 on." },
    Row { opcodes: "shl.b16",                                 arity: 2, section: "9.7.8.8",  words: "The lower half of a shifted left by b bits: 0 from 16 on." },
    Row { opcodes: "shr.[b32,u32]",                           arity: 2, section: "9.7.8.9",  words: "a shifted right by b bits: 0 from 32 on." },
    Row { opcodes: "shr.s32",                                 arity: 2, section: "9.7.8.9",  words: "a, signed, shifted right by b bits: its sign in all bits from 31 on." },
    Row { opcodes: "shr.[b16,u16]",                           arity: 2, section: "9.7.8.9",  words: "The lower half of a shifted right by b bits: 0 from 16 on." },
    Row { opcodes: "shr.s16",                                 arity: 2, section: "9.7.8.9",  words: "The lower half of a, signed, shifted right by b bits: its sign in all bits from 15 on." },
    Row { opcodes: "prmt.b32{.f4e,.b4e,.rc8,.ecl,.ecr,.rc16}", arity: 3, section: "9.7.9.7",  words: "Bytes of a and b: @." },
    Row { opcodes: "cvt.[u8,u16,u32,s8,s16,s32].[u8,u16,u32,s8,s16,s32]", arity: 1, section: "9.7.9.21", words: "a's @." },
    Row { opcodes: "cvt.sat.u8.[u16,u32,s8,s16,s32]",         arity: 1, section: "9.7.9.21", words: "a's @." },
    Row { opcodes: "cvt.sat.u16.[u32,s8,s16,s32]",            arity: 1, section: "9.7.9.21", words: "a's @." },
    Row { opcodes: "cvt.sat.u32.[s8,s16,s32]",                arity: 1, section: "9.7.9.21", words: "a's @." },
    Row { opcodes: "cvt.sat.s8.[u8,u16,u32,s16,s32]",         arity: 1, section: "9.7.9.21", words: "a's @." },
    Row { opcodes: "cvt.sat.s16.[u16,u32,s32]",               arity: 1, section: "9.7.9.21", words: "a's @." },
    Row { opcodes: "cvt.sat.s32.u32",                         arity: 1, section: "9.7.9.21", words: "a's @." },
    Row { opcodes: "cvt.pack.sat.[u16,s16].s32",              arity: 2, section: "9.7.9.22", words: "a and b, signed, clamped to @, b in the lower half." },
    Row { opcodes: "cvt.pack.sat.[u8,s8].s32.b32",            arity: 3, section: "9.7.9.22", words: "a and b, signed, clamped to @, b in the lowest byte and a above it, and c's lower half above both." },
];

/// The texts that a pattern of [`Row::opcodes`] stands for.
fn expanded(pattern: &str) -> Vec<String> {
    let Some(at) = pattern.find(['[', '{']) else { return vec![pattern.to_string()] };
    let (before, rest) = pattern.split_at(at);
    let end = rest.find([']', '}']).unwrap_or(rest.len() - 1);
    let nothing = rest.starts_with('{').then_some("");
    let rests = expanded(&rest[end + 1..]);
    let choices = nothing.into_iter().chain(rest[1..end].split(','));
    choices.flat_map(|choice| rests.iter().map(move |rest| format!("{before}{choice}{rest}"))).collect()
}

/// The rows by opcode.
fn rows() -> &'static HashMap<String, &'static Row> {
    static KNOWN: OnceLock<HashMap<String, &'static Row>> = OnceLock::new();
    KNOWN.get_or_init(|| {
        ROWS.iter().flat_map(|row| expanded(row.opcodes).into_iter().map(move |opcode| (opcode, row))).collect()
    })
}

/// Why a text is no base instruction that is ported.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum BaseError {
    /// The opcode is not known.
    Opcode,
    /// It has another number of source operands, which is this.
    Operands(usize),
    /// This operand, from 0 for a, must be a constant.
    Constant(usize),
    /// It reads four registers, and functions have three parameters.
    FourRegisters,
}

impl fmt::Display for BaseError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            BaseError::Opcode => f.write_str("it is not among the base instructions that are ported"),
            BaseError::Operands(count) => {
                write!(f, "it has {count} source operand{}", if *count == 1 { "" } else { "s" })
            }
            BaseError::Constant(at) => write!(f, "its source operand {} must be a constant up to 255", at + 1),
            BaseError::FourRegisters => f.write_str(
                "it reads four registers, and functions have three parameters: give one of the last two as a constant",
            ),
        }
    }
}

impl core::error::Error for BaseError {}

/// A base instruction: what it computes of the registers a, b and c. A predicate is a word, 1 or 0.
///
/// ```
/// use vop_port::Base;
/// let base = Base::read("bfe.u32", &[None, Some(8), Some(8)]).unwrap();
/// assert_eq!(base.code().eval(0x1234_5678, 8, 8), 0x56);
/// assert!(Base::read("ld.global.u32", &[None]).is_none());
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Base {
    opcode: String,
    /// With the operations on long words that are shortest, and without any.
    sequences: [Sequence; 2],
    arity: usize,
    /// The source operands that are constants of the function, and their values.
    fixed: Vec<(usize, u32)>,
}

impl Base {
    /// The instruction of an opcode with its modifiers, `shf.l.wrap.b32`, and of source operands of which some are constants. `None` if it
    /// has no such source operands, or is none of those that are known: those of integers of 32 and 16 bits and of predicates. An integer of 16 bits
    /// is the lower half of a word; of a result the upper half is 0.
    pub fn read(opcode: &str, constants: &[Option<u32>]) -> Option<Base> {
        Base::try_read(opcode, constants).ok()
    }

    /// As [`Base::read`].
    ///
    /// # Errors
    /// Why there is no such instruction.
    pub fn try_read(opcode: &str, constants: &[Option<u32>]) -> Result<Base, BaseError> {
        let arity = rows().get(opcode).ok_or(BaseError::Opcode)?.arity;
        if arity != constants.len() {
            return Err(BaseError::Operands(arity));
        }
        let parts: Vec<&str> = opcode.split('.').collect();
        let written = |has_long: bool| {
            let mut reader = Reader { sequence: Sequence::default(), constants, fixed: Vec::new(), has_long };
            let result = reader.read(parts[0], &parts[1..])?;
            reader.sequence.set_result(result);
            Ok((reader.sequence, reader.fixed))
        };
        let (sequence, fixed) = written(true)?;
        let sequences = [sequence, written(false)?.0];
        Ok(Base { opcode: opcode.to_string(), sequences, arity, fixed })
    }

    /// The opcodes that are known, in the order of the manual; those of a mnemonic alone, if one is given.
    ///
    /// ```
    /// assert_eq!(vop_port::Base::opcodes(Some("clz")), ["clz.b32"]);
    /// ```
    pub fn opcodes(mnemonic: Option<&str>) -> Vec<String> {
        let is_wanted = |row: &&Row| mnemonic.is_none_or(|mnemonic| row.mnemonic() == mnemonic);
        ROWS.iter().filter(is_wanted).flat_map(|row| expanded(row.opcodes)).collect()
    }

    /// Whether a word is the mnemonic of base instructions that are known.
    pub fn is_mnemonic(word: &str) -> bool {
        ROWS.iter().any(|row| row.mnemonic() == word)
    }

    /// The number of source operands of an opcode that is known.
    pub fn arity_of(opcode: &str) -> Option<usize> {
        rows().get(opcode).map(|row| row.arity)
    }

    /// The instruction of an opcode with registers as its operands, and with some constant where it needs one.
    pub fn sample(opcode: &str) -> Option<Base> {
        let mut constants = vec![None; Base::arity_of(opcode)?];
        if let Some(last) = constants.get_mut(3) {
            *last = Some(if opcode.starts_with("lop3") { 0x96 } else { 8 });
        }
        Base::read(opcode, &constants)
    }

    /// Instructions for tests and proofs: one for each opcode, and where constants are a part of the function, several.
    pub fn samples() -> Vec<Base> {
        let mut all: Vec<Base> = Base::opcodes(None).iter().filter_map(|opcode| Base::sample(opcode)).collect();
        let mut add = |opcode: &str, constants: &[Option<u32>]| all.extend(Base::read(opcode, constants));
        for table in 0..=255 {
            add("lop3.b32", &[None, None, None, Some(table)]);
        }
        for selector in [0x3210, 0x0123, 0x5410, 0x7632, 0x6543, 0x1032, 0x0000, 0xbbaa, 0x9180, 0xfedc, 0x4_4440] {
            add("prmt.b32", &[None, None, Some(selector)]);
        }
        for mode in ["f4e", "b4e", "rc8", "ecl", "ecr", "rc16"] {
            (0..5).for_each(|c| add(&format!("prmt.b32.{mode}"), &[None, None, Some(c)]));
        }
        for place in [0, 1, 8, 31, 32, 255, 256] {
            for count in [0, 1, 8, 24, 32, 255, 264] {
                add("bfi.b32", &[None, None, Some(place), Some(count)]);
            }
            add("bfi.b32", &[None, None, Some(place), None]);
            add("bfi.b32", &[None, None, None, Some(place)]);
        }
        let mut seen = std::collections::HashSet::new();
        all.retain(|base| seen.insert(base.name()));
        all
    }

    /// The instruction of a text as [`Base::text`] gives it.
    pub fn from_text(text: &str) -> Option<Base> {
        let (opcode, operands) = text.split_once(" d, ")?;
        let constants = operands.split(", ").map(|operand| match operand.strip_prefix("0x") {
            Some(digits) => u32::from_str_radix(digits, 16).ok(),
            None => operand.parse().ok(),
        });
        let constants: Vec<Option<u32>> = constants.collect();
        Base::read(opcode, &constants).filter(|base| base.text() == text)
    }

    /// The opcode with its modifiers.
    pub fn opcode(&self) -> &str {
        &self.opcode
    }

    /// The number of source operands.
    pub fn arity(&self) -> usize {
        self.arity
    }

    /// The value of a source operand that is a part of the function.
    pub fn constant(&self, at: usize) -> Option<u32> {
        self.fixed.iter().find(|(of, _)| *of == at).map(|(_, value)| *value)
    }

    /// The source operands that the function has as parameters: the others are a part of it.
    pub fn parameters(&self) -> impl Iterator<Item = usize> {
        (0..self.arity).filter(|&i| self.constant(i).is_none())
    }

    /// The instruction with its operands as the function has them: `lop3.b32 d, a, b, c, 0x96`.
    pub fn text(&self) -> String {
        let mut text = format!("{} d", self.opcode);
        let mut names = ["a", "b", "c"].into_iter();
        for i in 0..self.arity {
            match self.constant(i) {
                Some(value) if value < 10 => text.push_str(&format!(", {value}")),
                Some(value) => text.push_str(&format!(", {value:#x}")),
                None => text.push_str(&format!(", {}", names.next().unwrap_or("?"))),
            }
        }
        text
    }

    /// The function's name: `ptx_lop3_b32_96`. It has the constants from the first one on; a register among them is an `r`.
    pub fn name(&self) -> String {
        let first = self.fixed.iter().map(|(at, _)| *at).min().unwrap_or(self.arity);
        let fixed = (first..self.arity)
            .map(|i| self.constant(i).map_or_else(|| "_r".to_string(), |value| format!("_{value:x}")));
        format!("ptx_{}{}", self.opcode.replace('.', "_"), fixed.collect::<String>())
    }

    /// The section of the PTX ISA manual.
    pub fn section(&self) -> &'static str {
        rows().get(&self.opcode).map_or("", |row| row.section)
    }

    /// What it does, in one sentence.
    pub fn describe(&self) -> String {
        let Some(row) = rows().get(&self.opcode) else { return String::new() };
        let ty = self.opcode.rsplit('.').next().unwrap_or_default();
        let sign = if ty.starts_with('s') { "signed" } else { "unsigned" };
        row.words.replace('$', sign).replace('@', &modifier_words(&self.opcode))
    }

    /// Whether all of its operands are registers of 32 bits, none a predicate or of 16 bits.
    pub(crate) fn is_of_words(&self) -> bool {
        // `cvt` takes registers that are wider than their type.
        let has_halves = !self.opcode.starts_with("cvt.") && self.opcode.split('.').any(|part| half(part).is_some());
        !(self.opcode.starts_with("setp.")
            || self.opcode.starts_with("selp.")
            || self.opcode.ends_with(".pred")
            || has_halves)
    }

    /// The plain operations.
    pub fn code(&self) -> Code {
        self.code_on(&PLAIN)
    }

    /// The plain operations: the fewest, or the fewest without long words.
    pub fn code_with(&self, has_long: bool) -> Code {
        self.code_on(machine::plain_with(has_long))
    }

    /// The cheapest operations on a machine.
    pub(crate) fn code_on(&self, machine: &'static Machine) -> Code {
        cheapest(&self.sequences, machine).unwrap_or_default()
    }

    /// The rows of the table of base instructions that it is.
    pub fn sequence(&self) -> &Sequence {
        &self.sequences[0]
    }

    /// The rows of the table of base instructions that it is, none of which has long words.
    pub fn sequence_of_words(&self) -> &Sequence {
        &self.sequences[1]
    }
}

impl Row {
    fn mnemonic(&self) -> &'static str {
        self.opcodes.split('.').next().unwrap_or_default().split('{').next().unwrap_or_default()
    }
}

/// What an opcode's modifiers mean.
fn modifier_words(opcode: &str) -> String {
    let parts: Vec<&str> = opcode.split('.').collect();
    let (name, last) = (parts[0], parts[parts.len() - 1]);
    let of_range = |range: Range| format!("{} to {}", range.min(), range.max());
    let sign = |ty: &str| if ty.starts_with('s') { "signed" } else { "unsigned" };
    if let Some(lanes) = lanes(last) {
        let count = if lanes.bits == 8 { "four" } else { "two" };
        let kind = if lanes.bits == 8 { "bytes" } else { "half-words" };
        let clamped = if parts.contains(&"sat") { format!(", clamped to {}", of_range(lanes)) } else { String::new() };
        return format!("{count} {} {kind}{clamped}", sign(last));
    }
    match (name, &parts[1..]) {
        ("dp4a", [x, y]) => format!("a's are {}, b's {}", sign(x), sign(y)),
        ("dp2a", [half, x, y]) => {
            let half = if *half == "lo" { "lower" } else { "upper" };
            format!("b's {half} bytes: a's are {}, b's {}", sign(x), sign(y))
        }
        ("set" | "setp", [by, ..]) => match *by {
            "eq" => "equals",
            "ne" => "differs from",
            "lt" | "lo" => "is less than",
            "le" | "ls" => "is at most",
            "gt" | "hi" => "is greater than",
            _ => "is at least",
        }
        .to_string(),
        ("shf", [direction, mode, _]) => {
            let (word, direction) = if *direction == "l" { ("upper", "left") } else { ("lower", "right") };
            let amount = if *mode == "clamp" { "c bits, but no more than 32" } else { "c modulo 32 bits" };
            format!("{word} word of the 64 bits with the lower word a and the upper word b, shifted {direction} by {amount}")
        }
        ("prmt", [_]) => "each of c's four lower hexadecimal digits selects one, 0 to 3 of a, 4 to 7 of b; digits from 8 on take the \
                          sign of that byte in all bits"
            .to_string(),
        ("prmt", [_, mode]) => match *mode {
            "f4e" => "four from byte c modulo 4 on, upwards",
            "b4e" => "four from byte c modulo 4 on, downwards, b's highest below a's lowest",
            "rc8" => "byte c modulo 4 of a, four times",
            "ecl" => "those of a, but byte c modulo 4 in the place of all below it",
            "ecr" => "those of a, but byte c modulo 4 in the place of all above it",
            _ => "half-word c modulo 2 of a, twice",
        }
        .to_string(),
        ("cvt", ["pack", "sat", to, ..]) => range_of(to).map(of_range).unwrap_or_default(),
        ("cvt", [rest @ .., to, from]) => {
            let bits = |name: &str| name[1..].to_string();
            let part = match bits(from).as_str() {
                "32" => format!("word, {}", sign(from)),
                count => format!("lower {count} bits, {}", sign(from)),
            };
            match (rest.is_empty(), range_of(to)) {
                (false, Some(to)) => format!("{part}, clamped to {}", of_range(to)),
                _ => format!("{part}, as {} bits that are {}", bits(to), sign(to)),
            }
        }
        _ => String::new(),
    }
}

/// The range of a type of at most 32 bits.
pub(crate) fn range_of(name: &str) -> Option<Range> {
    let bits = name.get(1..)?.parse().ok().filter(|bits| [8, 16, 32].contains(bits))?;
    match &name[..1] {
        "u" => Some(Range::new(false, bits)),
        "s" => Some(Range::new(true, bits)),
        _ => None,
    }
}

struct Reader<'c> {
    sequence: Sequence,
    constants: &'c [Option<u32>],
    fixed: Vec<(usize, u32)>,
    /// Whether rows of long words may be written.
    has_long: bool,
}

fn signed(name: &str) -> Option<Type> {
    match name {
        "u32" | "b32" => Some(Type::U32),
        "s32" => Some(Type::S32),
        _ => None,
    }
}

/// A type of 16 bits. Its values are the lower halves of words; of a result the upper half is 0.
fn half(name: &str) -> Option<Range> {
    match name {
        "u16" | "b16" => Some(HALF),
        "s16" => Some(Range::new(true, 16)),
        _ => None,
    }
}

const HALF: Range = Range::new(false, 16);

fn comparison(name: &str, ty: Type) -> Option<(Comparison, Type)> {
    Some(match name {
        "eq" => (Comparison::Eq, ty),
        "ne" => (Comparison::Ne, ty),
        "lt" => (Comparison::Lt, ty),
        "le" => (Comparison::Le, ty),
        "gt" => (Comparison::Gt, ty),
        "ge" => (Comparison::Ge, ty),
        // As numbers without sign, whatever the type.
        "lo" => (Comparison::Lt, Type::U32),
        "ls" => (Comparison::Le, Type::U32),
        "hi" => (Comparison::Gt, Type::U32),
        "hs" => (Comparison::Ge, Type::U32),
        _ => return None,
    })
}

fn lanes(name: &str) -> Option<Range> {
    Some(match name {
        "u8x4" => Range::new(false, 8),
        "s8x4" => Range::new(true, 8),
        "u16x2" => Range::new(false, 16),
        "s16x2" => Range::new(true, 16),
        _ => return None,
    })
}

fn word(value: u32) -> Value {
    Value::Word(value)
}

const AND: u8 = 0xf0 & 0xcc;
const OR: u8 = 0xf0 | 0xcc;
const XOR: u8 = 0xf0 ^ 0xcc;

impl Reader<'_> {
    fn push(&mut self, op: Op, operands: &[Value]) -> Value {
        self.sequence.push(op, operands)
    }

    fn logic(&mut self, table: u8, x: Value, y: Value) -> Value {
        self.push(Op::Lop3(table), &[x, y, word(0)])
    }

    fn and(&mut self, x: Value, k: u32) -> Value {
        self.logic(AND, x, word(k))
    }

    /// An operand that must be a constant, which becomes a part of the function.
    fn constant(&mut self, at: usize) -> Result<u32, BaseError> {
        self.constant_if_any(at).ok_or(BaseError::Constant(at))
    }

    /// An operand that becomes a part of the function if it is a constant.
    fn constant_if_any(&mut self, at: usize) -> Option<u32> {
        let value = self.constants.get(at).copied().flatten()?;
        self.fixed.push((at, value));
        Some(value)
    }

    /// Whether a word is not zero.
    fn holds(&mut self, x: Value) -> Value {
        self.push(Op::Setp(Comparison::Ne, Type::U32), &[x, word(0)])
    }

    fn number(&mut self, predicate: Value, yes: u32) -> Value {
        self.push(Op::Selp, &[word(yes), word(0), predicate])
    }

    /// An instruction of integers of 16 bits: what it computes of words that are extended from them.
    fn value_of_halves(&mut self, name: &str, modifiers: &[&str], ty: Range) -> Option<Value> {
        let word_ty = if ty.signed { Type::S32 } else { Type::U32 };
        let [a, b, c] = [A, B, C].map(|register| self.narrowed(register, ty));
        // A result of 16 bits, or of 32.
        let (d, is_half) = match (name, &modifiers[..modifiers.len() - 1]) {
            ("mov", []) => (a, true),
            ("add", []) => (self.push(Op::Add, &[a, b]), true),
            ("sub", []) => (self.push(Op::Sub, &[a, b]), true),
            ("mul", ["lo"]) => (self.push(Op::Mul, &[a, b]), true),
            ("mul", ["wide"]) => (self.push(Op::Mul, &[a, b]), false),
            ("mad", ["lo"]) => (self.push(Op::Mad, &[a, b, c]), true),
            ("mad", ["wide"]) => (self.push(Op::Mad, &[a, b, C]), false),
            ("min", []) => (self.push(Op::Min(word_ty), &[a, b]), true),
            ("max", []) => (self.push(Op::Max(word_ty), &[a, b]), true),
            ("and", []) => (self.logic(AND, a, b), true),
            ("or", []) => (self.logic(OR, a, b), true),
            ("xor", []) => (self.logic(XOR, a, b), true),
            ("not", []) => (self.logic(XOR, a, word(u32::MAX)), true),
            ("abs", []) => (self.push(Op::Abs, &[a]), true),
            ("neg", []) => (self.push(Op::Sub, &[word(0), a]), true),
            // Amounts are words.
            ("shl", []) => (self.push(Op::Shl, &[a, B]), true),
            ("shr", []) => (self.push(Op::Shr(word_ty), &[a, B]), true),
            ("selp", []) => {
                let holds = self.holds(C);
                (self.push(Op::Selp, &[a, b, holds]), true)
            }
            ("setp", [by]) => {
                let (by, ty) = comparison(by, word_ty)?;
                let holds = self.push(Op::Setp(by, ty), &[a, b]);
                (self.number(holds, 1), false)
            }
            _ => return None,
        };
        Some(if is_half { self.narrowed(d, HALF) } else { d })
    }

    /// The result.
    fn read(&mut self, name: &str, modifiers: &[&str]) -> Result<Value, BaseError> {
        if let ("lop3", _) = (name, modifiers) {
            let table = self.constant(3)?;
            let table = u8::try_from(table).map_err(|_| BaseError::Constant(3))?;
            return Ok(self.push(Op::Lop3(table), &[A, B, C]));
        }
        if name == "bfi" {
            return self.inserted();
        }
        self.value(name, modifiers).ok_or(BaseError::Opcode)
    }

    /// The result of an instruction that takes registers as all of its operands.
    fn value(&mut self, name: &str, modifiers: &[&str]) -> Option<Value> {
        if let Some(ty) = modifiers.last().and_then(|ty| half(ty)).filter(|_| name != "cvt") {
            return self.value_of_halves(name, modifiers, ty);
        }
        Some(match (name, modifiers) {
            ("mov", _) => A,
            ("add" | "sub" | "min" | "max", [.., ty]) if lanes(ty).is_some() => {
                let op = match (name, &modifiers[..modifiers.len() - 1]) {
                    ("add", []) => PackedOp::Add,
                    ("add", ["sat"]) => PackedOp::AddSat,
                    ("sub", []) => PackedOp::Sub,
                    ("sub", ["sat"]) => PackedOp::SubSat,
                    ("min", []) => PackedOp::Min,
                    ("max", []) => PackedOp::Max,
                    ("min", ["relu"]) => PackedOp::MinRelu,
                    ("max", ["relu"]) => PackedOp::MaxRelu,
                    _ => return None,
                };
                self.push(Op::Packed(op, lanes(ty)?), &[A, B])
            }
            ("add" | "sub", ["sat", _]) => self.clamped_sum(name == "sub"),
            ("add", _) => self.push(Op::Add, &[A, B]),
            ("sub", _) => self.push(Op::Sub, &[A, B]),
            ("mul", ["lo", _]) => self.push(Op::Mul, &[A, B]),
            ("mul", ["hi", ty]) => self.high_product(signed(ty)?),
            ("mad", ["lo", _]) => self.push(Op::Mad, &[A, B, C]),
            ("mad", ["hi", ty]) => {
                let high = self.high_product(signed(ty)?);
                self.push(Op::Add, &[high, C])
            }
            ("mul24", ["lo", ty]) => {
                let [x, y] = self.lower_24(signed(ty)?);
                self.push(Op::Mul, &[x, y])
            }
            ("mad24", ["lo", ty]) => {
                let [x, y] = self.lower_24(signed(ty)?);
                self.push(Op::Mad, &[x, y, C])
            }
            ("min", [.., ty]) => {
                let least = self.push(Op::Min(signed(ty)?), &[A, B]);
                self.relu(least, modifiers)
            }
            ("max", [.., ty]) => {
                let most = self.push(Op::Max(signed(ty)?), &[A, B]);
                self.relu(most, modifiers)
            }
            ("abs", _) => self.push(Op::Abs, &[A]),
            ("neg", _) => self.push(Op::Sub, &[word(0), A]),
            ("sad", [ty]) => self.push(Op::Sad(signed(ty)?), &[A, B, C]),
            ("and", _) => self.logic(AND, A, B),
            ("or", _) => self.logic(OR, A, B),
            ("xor", _) => self.logic(XOR, A, B),
            ("not", ["b32"]) => self.logic(XOR, A, word(u32::MAX)),
            ("not", ["pred"]) => self.logic(XOR, A, word(1)),
            ("shl", _) => self.push(Op::Shl, &[A, B]),
            ("shr", [ty]) => self.push(Op::Shr(signed(ty)?), &[A, B]),
            ("shf", [direction, mode, _]) => self.funnel(*direction == "l", *mode == "clamp"),
            ("prmt", [_]) => match self.constant_if_any(2) {
                Some(selector) => self.push(Op::Prmt(selector as u16), &[A, B]),
                None => self.permuted(true),
            },
            ("prmt", [_, mode]) => self.permuted_by_mode(mode)?,
            ("slct", _) => {
                let holds = self.push(Op::Setp(Comparison::Ge, Type::S32), &[C, word(0)]);
                self.push(Op::Selp, &[A, B, holds])
            }
            ("bfe", [ty]) => self.extracted(signed(ty)? == Type::S32),
            ("selp", _) => {
                let holds = self.holds(C);
                self.push(Op::Selp, &[A, B, holds])
            }
            ("setp", [by, ty]) => {
                let (by, ty) = comparison(by, signed(ty)?)?;
                let holds = self.push(Op::Setp(by, ty), &[A, B]);
                self.number(holds, 1)
            }
            ("set", [by, _, ty]) => {
                let (by, ty) = comparison(by, signed(ty)?)?;
                let holds = self.push(Op::Setp(by, ty), &[A, B]);
                self.number(holds, u32::MAX)
            }
            ("cvt", ["pack", "sat", to, rest @ ..]) => {
                let operands = [A, B, C];
                self.push(Op::Pack { to: range_of(to)? }, &operands[..1 + rest.len()])
            }
            ("cvt", [to, from]) => self.converted(to, from, false)?,
            ("cvt", ["sat", to, from]) => self.converted(to, from, true)?,
            ("dp4a", [x, y]) => self.push(Op::Dp4a(signed(x)?, signed(y)?), &[A, B, C]),
            ("dp2a", [half, x, y]) => {
                let op = Op::Dp2a { high: *half == "hi", x: signed(x)?, y: signed(y)? };
                self.push(op, &[A, B, C])
            }
            ("popc", _) => self.ones(A),
            ("clz", _) => {
                let bits = self.length();
                self.push(Op::Sub, &[word(32), bits])
            }
            ("bfind", _) => {
                let bits = self.length();
                self.push(Op::Sub, &[bits, word(1)])
            }
            ("brev", _) => self.reversed(),
            _ => return None,
        })
    }

    /// The greater of a value and 0, if the modifiers say so.
    fn relu(&mut self, x: Value, modifiers: &[&str]) -> Value {
        if modifiers.contains(&"relu") { self.push(Op::Max(Type::S32), &[x, word(0)]) } else { x }
    }

    /// The sum or difference of signed words, clamped. Without long words: where it has another sign than it must have, the nearest bound.
    fn clamped_sum(&mut self, sub: bool) -> Value {
        if self.has_long {
            return self.push(if sub { Op::SubSat } else { Op::AddSat }, &[A, B]);
        }
        let sum = self.push(if sub { Op::Sub } else { Op::Add }, &[A, B]);
        // a, b, the sum: b's sign is turned for a difference.
        let over = if sub { (0xf0 ^ 0xcc) & (0xf0 ^ 0xaa) } else { (0xf0 ^ 0xaa) & (0xcc ^ 0xaa) };
        let over = self.push(Op::Lop3(over), &[A, B, sum]);
        let over = self.push(Op::Setp(Comparison::Lt, Type::S32), &[over, word(0)]);
        let sign = self.push(Op::Shr(Type::S32), &[A, word(31)]);
        let bound = self.logic(XOR, sign, word(i32::MAX as u32));
        self.push(Op::Selp, &[bound, sum, over])
    }

    /// The upper word of the product of a and b. Without long words: of products of half-words, and for signed words less b where a is
    /// negative, and less a where b is.
    fn high_product(&mut self, ty: Type) -> Value {
        if self.has_long {
            let product = self.push(Op::MulWide(ty), &[A, B]);
            return self.push(Op::High, &[product]);
        }
        let [[x0, x1], [y0, y1]] = [A, B].map(|x| [self.and(x, 0xffff), self.push(Op::Shr(Type::U32), &[x, word(16)])]);
        let down = |reader: &mut Self, x: Value| reader.push(Op::Shr(Type::U32), &[x, word(16)]);
        let least = self.push(Op::Mul, &[x0, y0]);
        let least = down(self, least);
        // At most (2^16 - 1)^2 + 2^16 - 1, which is less than 2^32.
        let middle = self.push(Op::Mad, &[x1, y0, least]);
        let middle_lower = self.and(middle, 0xffff);
        let other = self.push(Op::Mad, &[x0, y1, middle_lower]);
        let (middle, other) = (down(self, middle), down(self, other));
        let high = self.push(Op::Mad, &[x1, y1, middle]);
        let mut high = self.push(Op::Add, &[high, other]);
        if ty == Type::S32 {
            for (x, y) in [(A, B), (B, A)] {
                let sign = self.push(Op::Shr(Type::S32), &[x, word(31)]);
                let less = self.logic(AND, sign, y);
                high = self.push(Op::Sub, &[high, less]);
            }
        }
        high
    }

    /// The lower 24 bits of a and b, extended.
    fn lower_24(&mut self, ty: Type) -> [Value; 2] {
        [A, B].map(|x| match ty {
            Type::U32 => self.and(x, 0x00ff_ffff),
            Type::S32 => {
                let top = self.push(Op::Shl, &[x, word(8)]);
                self.push(Op::Shr(Type::S32), &[top, word(8)])
            }
        })
    }

    /// `shf`: a word of the long word b, a.
    fn funnel(&mut self, left: bool, clamps: bool) -> Value {
        let amount = if clamps { self.push(Op::Min(Type::U32), &[C, word(32)]) } else { self.and(C, 31) };
        self.window(left, amount, clamps)
    }

    /// The upper word of the long word b, a, shifted left; or its lower word, shifted right. The amount is up to 31, or up to 32.
    fn window(&mut self, left: bool, amount: Value, to_32: bool) -> Value {
        if self.has_long {
            let long = self.push(Op::Join, &[A, B]);
            let op = if left { Op::ShlLong } else { Op::ShrLong(Type::U32) };
            let shifted = self.push(op, &[long, amount]);
            return self.push(if left { Op::High } else { Op::Low }, &[shifted]);
        }
        let (here, there) = if left { (B, A) } else { (A, B) };
        let (toward, from) = if left { (Op::Shl, Op::Shr(Type::U32)) } else { (Op::Shr(Type::U32), Op::Shl) };
        let shifted = self.push(toward, &[here, amount]);
        let others = if to_32 {
            let rest = self.push(Op::Sub, &[word(32), amount]);
            self.push(from, &[there, rest])
        } else {
            // By one and then by 31 - amount, so that no shift is by 32.
            let one = self.push(from, &[there, word(1)]);
            let rest = self.logic(XOR, amount, word(31));
            self.push(from, &[one, rest])
        };
        self.logic(OR, shifted, others)
    }

    /// `bfi`: b with a's lower bits in a field. Its place and its length are the lowest bytes of words. One of them may be a register,
    /// which is the function's third.
    fn inserted(&mut self) -> Result<Value, BaseError> {
        let (at, count) = match (self.constant_if_any(2), self.constant_if_any(3)) {
            (Some(at), Some(count)) => {
                let (at, count) = (at & 255, count & 255);
                let ones = if count >= 32 { u32::MAX } else { (1 << count) - 1 };
                let mask = ones.checked_shl(at).unwrap_or(0);
                let shifted = self.push(Op::Shl, &[A, word(at)]);
                return Ok(self.push(Op::Lop3(AND | (0xaa & !0xcc)), &[shifted, word(mask), B]));
            }
            (Some(at), None) => (word(at & 255), self.and(C, 255)),
            (None, Some(count)) => (self.and(C, 255), word(count & 255)),
            (None, None) => return Err(BaseError::FourRegisters),
        };
        let above = self.push(Op::Shl, &[word(1), count]);
        let ones = self.push(Op::Sub, &[above, word(1)]);
        let mask = self.push(Op::Shl, &[ones, at]);
        let shifted = self.push(Op::Shl, &[A, at]);
        // mask ? shifted : b
        Ok(self.push(Op::Lop3(AND | (0xaa & !0xcc)), &[shifted, mask, B]))
    }

    /// `prmt` with a mode: the lowest two bits of c choose among four selectors.
    fn permuted_by_mode(&mut self, mode: &str) -> Option<Value> {
        if let Some(c) = self.constant_if_any(2) {
            let selectors = selectors_of(mode)?;
            return Some(self.push(Op::Prmt(selectors[(c & 3) as usize]), &[A, B]));
        }
        let by = self.and(C, if mode == "rc16" { 1 } else { 3 });
        let bits = self.push(Op::Shl, &[by, word(if mode == "rc16" { 4 } else { 3 })]);
        let selected = self.push(Op::Shr(Type::U32), &[A, bits]);
        let byte = self.and(selected, 255);
        Some(match mode {
            "f4e" => self.window(false, bits, false),
            // Bytes n - 3 to n of b and a, a above b, turned around: from bit 8(n + 1) of them on.
            "b4e" => {
                let window = if self.has_long {
                    let long = self.push(Op::Join, &[B, A]);
                    let amount = self.push(Op::Add, &[bits, word(8)]);
                    let shifted = self.push(Op::ShrLong(Type::U32), &[long, amount]);
                    self.push(Op::Low, &[shifted])
                } else {
                    let lower = self.push(Op::Shr(Type::U32), &[B, word(8)]);
                    let lower = self.push(Op::Shr(Type::U32), &[lower, bits]);
                    // 24 - bits, which has no bits but these.
                    let rest = self.logic(XOR, bits, word(24));
                    let upper = self.push(Op::Shl, &[A, rest]);
                    self.logic(OR, lower, upper)
                };
                self.push(Op::Prmt(0x0123), &[window, word(0)])
            }
            "rc8" => self.push(Op::Mul, &[byte, word(0x0101_0101)]),
            "rc16" => {
                let half = self.and(selected, 0xffff);
                self.push(Op::Mul, &[half, word(0x0001_0001)])
            }
            "ecl" | "ecr" => {
                let all = self.push(Op::Mul, &[byte, word(0x0101_0101)]);
                let one = self.push(Op::Shl, &[word(1), bits]);
                let below = self.push(Op::Sub, &[one, word(1)]);
                // below ? all : a, and the other way around.
                let [x, y] = if mode == "ecl" { [all, A] } else { [A, all] };
                self.push(Op::Lop3(AND | (0xaa & !0xcc)), &[x, below, y])
            }
            _ => return None,
        })
    }

    /// `bfe`: bits of a from b on, as many as c says; both are bytes. If signed, the highest of them, or of a, stands above.
    fn extracted(&mut self, signed: bool) -> Value {
        let (at, count) = (self.and(B, 255), self.and(C, 255));
        let ty = if signed { Type::S32 } else { Type::U32 };
        let moved = self.push(Op::Shr(ty), &[A, at]);
        let above = self.push(Op::Shl, &[word(1), count]);
        let mask = self.push(Op::Sub, &[above, word(1)]);
        if !signed {
            return self.logic(AND, moved, mask);
        }
        // The sign: bit min(at + count - 1, 31) of a, or 0 if there are no bits.
        let last = self.push(Op::Add, &[at, count]);
        let last = self.push(Op::Sub, &[last, word(1)]);
        let last = self.push(Op::Min(Type::S32), &[last, word(31)]);
        let up = self.push(Op::Sub, &[word(31), last]);
        let top = self.push(Op::Shl, &[A, up]);
        let sign = self.push(Op::Shr(Type::S32), &[top, word(31)]);
        let any = self.holds(count);
        let sign = self.push(Op::Selp, &[sign, word(0), any]);
        // mask ? moved : sign
        self.push(Op::Lop3((0xf0 & 0xcc) | (0xaa & !0xcc)), &[moved, mask, sign])
    }

    /// `cvt` between integers of at most 32 bits, of which the narrower is the lowest part of its register.
    fn converted(&mut self, to: &str, from: &str, saturate: bool) -> Option<Value> {
        let (to, from) = (range_of(to)?, range_of(from)?);
        let mut value = self.narrowed(A, from);
        if saturate {
            // As numbers of the source's type; a bound that is no such number does not bind.
            let ty = if from.signed { Type::S32 } else { Type::U32 };
            if from.signed {
                let least = to.min().max(i64::from(i32::MIN));
                value = self.push(Op::Max(ty), &[value, word(least as u32)]);
            }
            let most = if from.signed { i64::from(i32::MAX) } else { i64::from(u32::MAX) };
            if to.max() < most {
                value = self.push(Op::Min(ty), &[value, word(to.max() as u32)]);
            }
            return Some(value);
        }
        Some(self.narrowed(value, to))
    }

    /// The lowest part of a word, extended by its sign or by zeros.
    fn narrowed(&mut self, x: Value, to: Range) -> Value {
        match (to.bits, to.signed) {
            (32, _) => x,
            (bits, false) => self.and(x, u32::MAX >> (32 - bits)),
            (bits, true) => {
                let top = self.push(Op::Shl, &[x, word(32 - bits)]);
                self.push(Op::Shr(Type::S32), &[top, word(32 - bits)])
            }
        }
    }

    /// The number of bits up to the highest one: all below it are made one, and counted.
    fn length(&mut self) -> Value {
        let mut x = A;
        for by in [1, 2, 4, 8, 16] {
            let below = self.push(Op::Shr(Type::U32), &[x, word(by)]);
            x = self.logic(OR, x, below);
        }
        self.ones(x)
    }

    /// `brev`: neighbours are exchanged, then pairs and nibbles, and the bytes.
    fn reversed(&mut self) -> Value {
        let mut x = A;
        for (by, mask) in [(1, 0x5555_5555), (2, 0x3333_3333), (4, 0x0f0f_0f0f)] {
            let right = self.push(Op::Shr(Type::U32), &[x, word(by)]);
            let (right, left) = (self.and(right, mask), self.and(x, mask));
            let left = self.push(Op::Shl, &[left, word(by)]);
            x = self.logic(OR, left, right);
        }
        self.push(Op::Prmt(0x0123), &[x, word(0)])
    }

    /// `prmt` with a selector in c: each nibble picks a byte of the eight, or, if its highest bit is set and counts, that byte's sign.
    fn permuted(&mut self, signs: bool) -> Value {
        let bytes = if self.has_long { Some(self.push(Op::Join, &[A, B])) } else { None };
        let mut d = word(0);
        for i in 0..4 {
            let nibble = self.push(Op::Shr(Type::U32), &[C, word(4 * i)]);
            let byte = match bytes {
                Some(bytes) => {
                    let number = self.and(nibble, 7);
                    let down = self.push(Op::Shl, &[number, word(3)]);
                    let byte = self.push(Op::ShrLong(Type::U32), &[bytes, down]);
                    self.push(Op::Low, &[byte])
                }
                None => {
                    let number = self.and(nibble, 3);
                    let down = self.push(Op::Shl, &[number, word(3)]);
                    let second = self.and(nibble, 4);
                    let second = self.holds(second);
                    let of = self.push(Op::Selp, &[B, A, second]);
                    self.push(Op::Shr(Type::U32), &[of, down])
                }
            };
            let byte = if signs {
                let top = self.push(Op::Shl, &[byte, word(24)]);
                let sign = self.push(Op::Shr(Type::S32), &[top, word(31)]);
                let wants = self.and(nibble, 8);
                let wants = self.holds(wants);
                self.push(Op::Selp, &[sign, byte, wants])
            } else {
                byte
            };
            let byte = self.and(byte, 255);
            let byte = self.push(Op::Shl, &[byte, word(8 * i)]);
            d = self.logic(OR, d, byte);
        }
        d
    }

    /// `popc`: sums of neighbours, in pairs, nibbles and bytes, and the bytes added by a product.
    fn ones(&mut self, x: Value) -> Value {
        let half = self.push(Op::Shr(Type::U32), &[x, word(1)]);
        let half = self.and(half, 0x5555_5555);
        let pairs = self.push(Op::Sub, &[x, half]);
        let upper = self.push(Op::Shr(Type::U32), &[pairs, word(2)]);
        let (lower, upper) = (self.and(pairs, 0x3333_3333), self.and(upper, 0x3333_3333));
        let nibbles = self.push(Op::Add, &[lower, upper]);
        let upper = self.push(Op::Shr(Type::U32), &[nibbles, word(4)]);
        let bytes = self.push(Op::Add, &[nibbles, upper]);
        let bytes = self.and(bytes, 0x0f0f_0f0f);
        let sum = self.push(Op::Mul, &[bytes, word(0x0101_0101)]);
        self.push(Op::Shr(Type::U32), &[sum, word(24)])
    }
}

/// The selectors of a mode of `prmt`, by the lowest two bits of c.
pub(crate) fn selectors_of(mode: &str) -> Option<[u16; 4]> {
    Some(match mode {
        "f4e" => [0x3210, 0x4321, 0x5432, 0x6543],
        "b4e" => [0x5670, 0x6701, 0x7012, 0x0123],
        "rc8" => [0x0000, 0x1111, 0x2222, 0x3333],
        "ecl" => [0x3210, 0x3211, 0x3222, 0x3333],
        "ecr" => [0x0000, 0x1110, 0x2210, 0x3210],
        "rc16" => [0x1010, 0x3232, 0x1010, 0x3232],
        _ => return None,
    })
}

/// What no single instruction of the table is, for intrinsics of CUDA.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Idiom {
    /// `prmt` that takes no signs.
    Bytes,
    /// The place of the lowest one, from 1.
    FirstOne,
}

/// The rows that an idiom is.
pub(crate) fn idiom(idiom: Idiom, has_long: bool) -> Sequence {
    let mut reader = Reader { sequence: Sequence::default(), constants: &[], fixed: Vec::new(), has_long };
    let result = match idiom {
        Idiom::Bytes => reader.permuted(false),
        Idiom::FirstOne => {
            // The lowest one and all below it are counted.
            let less = reader.push(Op::Sub, &[A, word(1)]);
            let bits = reader.logic(XOR, A, less);
            let count = reader.ones(bits);
            let any = reader.holds(A);
            reader.push(Op::Selp, &[count, word(0), any])
        }
    };
    reader.sequence.set_result(result);
    reader.sequence
}

/// A constant of PTX, as its lower 64 bits.
pub(crate) fn constant(text: &str) -> Option<u64> {
    let (minus, digits) = text.strip_prefix('-').map_or((false, text), |rest| (true, rest.trim_start()));
    if !digits.starts_with(|c: char| c.is_ascii_digit()) {
        return None;
    }
    let digits = digits.strip_suffix(['u', 'U']).unwrap_or(digits);
    let lower = digits.to_ascii_lowercase();
    let value = if let Some(hex) = lower.strip_prefix("0x") {
        u64::from_str_radix(hex, 16)
    } else if let Some(binary) = lower.strip_prefix("0b") {
        u64::from_str_radix(binary, 2)
    } else if lower.len() > 1 && lower.starts_with('0') {
        u64::from_str_radix(&lower, 8)
    } else {
        lower.parse()
    };
    let value = value.ok()?;
    Some(if minus { value.wrapping_neg() } else { value })
}

#[cfg(test)]
mod tests {
    use std::cell::RefCell;

    use super::*;

    /// An opcode and its constants.
    type Key = (String, Vec<Option<u32>>);

    /// Instructions with their operations on every machine: finding these takes far longer than computing them.
    #[derive(Default)]
    struct Known(HashMap<Key, (Base, Vec<Code>)>);

    impl Known {
        fn run(&mut self, opcode: &str, constants: &[Option<u32>], at: [u32; 3]) -> u32 {
            let (base, codes) = self.0.entry((opcode.to_owned(), constants.to_vec())).or_insert_with(|| {
                let base = Base::read(opcode, constants).unwrap_or_else(|| panic!("{opcode}"));
                let codes = machine::ALL.iter().map(|machine| base.code_on(machine)).chain([base.code()]).collect();
                (base, codes)
            });
            let [a, b, c] = at;
            let value = base.sequence().eval(a, b, c);
            assert_eq!(base.sequence_of_words().eval(a, b, c), value, "{opcode} {at:x?}");
            for code in codes {
                assert_eq!(code.eval(a, b, c), value, "{opcode} {at:x?}");
            }
            value
        }
    }

    /// What the manual's loop says of `bfe.s32`.
    fn bfe_s32(a: u32, b: u32, c: u32) -> u32 {
        let (pos, len) = (b & 255, c & 255);
        let bit = |i: u32| a >> i & 1;
        let sign = if len == 0 { 0 } else { bit((pos + len - 1).min(31)) };
        (0..32).fold(0, |d, i| d | (if i < len && pos + i <= 31 { bit(pos + i) } else { sign }) << i)
    }

    #[test]
    fn base_instructions_compute_what_the_manual_says() {
        let mut known = Known::default();
        let mut run = |opcode: &str, constants: &[Option<u32>], at| known.run(opcode, constants, at);
        let three = [None; 3];
        let edges =
            [0, 1, 2, 7, 8, 31, 32, 33, 63, 64, 127, 128, 255, 256, 0x7fff_ffff, 0x8000_0000, 0xffff_ffff, 0x1234_5678];
        for a in edges {
            for b in edges {
                for c in edges {
                    assert_eq!(run("bfe.s32", &three, [a, b, c]), bfe_s32(a, b, c), "bfe.s32 {a:x} {b:x} {c:x}");
                    let (pos, len) = (b & 255, c & 255);
                    let moved = if pos > 31 { 0 } else { a >> pos };
                    let mask = if len > 31 { u32::MAX } else { (1 << len) - 1 };
                    assert_eq!(run("bfe.u32", &three, [a, b, c]), moved & mask);
                    let long = u64::from(b) << 32 | u64::from(a);
                    assert_eq!(run("shf.l.wrap.b32", &three, [a, b, c]), (long << (c & 31) >> 32) as u32);
                    assert_eq!(run("shf.r.wrap.b32", &three, [a, b, c]), (long >> (c & 31)) as u32);
                    assert_eq!(run("shf.l.clamp.b32", &three, [a, b, c]), ((long << c.min(32)) >> 32) as u32);
                    assert_eq!(run("shf.r.clamp.b32", &three, [a, b, c]), (long >> c.min(32)) as u32);
                    let bytes = long.to_le_bytes();
                    let permuted = (0..4).fold(0, |d, i| {
                        let byte = bytes[(c >> (4 * i) & 7) as usize];
                        let byte = if c >> (4 * i) & 8 != 0 { ((byte as i8) >> 7) as u8 } else { byte };
                        d | u32::from(byte) << (8 * i)
                    });
                    assert_eq!(run("prmt.b32", &three, [a, b, c]), permuted);
                    assert_eq!(run("slct.u32.s32", &three, [a, b, c]), if (c as i32) >= 0 { a } else { b });
                    assert_eq!(run("selp.b32", &three, [a, b, c & 1]), if c & 1 == 1 { a } else { b });
                    assert_eq!(run("mad.lo.s32", &three, [a, b, c]), a.wrapping_mul(b).wrapping_add(c));
                    let high = (i64::from(a as i32) * i64::from(b as i32)) >> 32;
                    assert_eq!(run("mad.hi.s32", &three, [a, b, c]), (high as u32).wrapping_add(c));
                }
                let pair = [None, None];
                assert_eq!(run("setp.lt.s32", &pair, [a, b, 0]), u32::from((a as i32) < b as i32));
                assert_eq!(run("setp.lo.u32", &pair, [a, b, 0]), u32::from(a < b));
                assert_eq!(run("set.ge.u32.u32", &pair, [a, b, 0]), if a >= b { u32::MAX } else { 0 });
                assert_eq!(run("add.sat.s32", &pair, [a, b, 0]), (a as i32).saturating_add(b as i32) as u32);
                assert_eq!(run("shr.s32", &pair, [a, b, 0]), ((a as i32) >> b.min(31)) as u32);
                assert_eq!(run("and.b32", &pair, [a, b, 0]), a & b);
                assert_eq!(run("mul.hi.u32", &pair, [a, b, 0]), ((u64::from(a) * u64::from(b)) >> 32) as u32);
                let inserted = run("bfi.b32", &[None, None, Some(8), Some(4)], [a, b, 0]);
                assert_eq!(inserted, b & !0xf00 | (a & 15) << 8);
            }
            assert_eq!(run("popc.b32", &[None], [a, 0, 0]), a.count_ones());
            assert_eq!(run("clz.b32", &[None], [a, 0, 0]), a.leading_zeros());
            assert_eq!(run("bfind.u32", &[None], [a, 0, 0]), 31u32.wrapping_sub(a.leading_zeros()));
            assert_eq!(run("brev.b32", &[None], [a, 0, 0]), a.reverse_bits());
            assert_eq!(run("cvt.s32.s8", &[None], [a, 0, 0]), a as i8 as i32 as u32);
            assert_eq!(run("cvt.u16.u32", &[None], [a, 0, 0]), a & 0xffff);
            assert_eq!(run("cvt.sat.u8.s32", &[None], [a, 0, 0]), (a as i32).clamp(0, 255) as u32);
            assert_eq!(run("cvt.sat.s8.u32", &[None], [a, 0, 0]), a.min(127));
            assert_eq!(run("cvt.sat.s16.s32", &[None], [a, 0, 0]), (a as i32).clamp(-32768, 32767) as u32);
            assert_eq!(run("cvt.sat.u32.s32", &[None], [a, 0, 0]), (a as i32).max(0) as u32);
            assert_eq!(run("cvt.sat.s32.u32", &[None], [a, 0, 0]), a.min(0x7fff_ffff));
        }
    }

    /// The upper halves of operands mean nothing, and that of a result is 0.
    #[test]
    fn halves_are_computed_of_the_lower_bits() {
        let known = RefCell::new(Known::default());
        let run = |opcode: &str, constants: &[Option<u32>], at| known.borrow_mut().run(opcode, constants, at);
        let edges = [0, 1, 15, 16, 31, 0x7fff, 0x8000, 0xffff, 0x0001_8000, 0xffff_7fff, 0xdead_beef];
        for a in edges {
            for b in edges {
                let (x, y) = (a as u16, b as u16);
                let (p, q) = (x as i16, y as i16);
                let check = |opcode: &str, wanted: u32| {
                    assert_eq!(run(opcode, &[None, None], [a, b, 0]), wanted, "{opcode} {a:x} {b:x}")
                };
                check("add.u16", x.wrapping_add(y).into());
                check("sub.s16", x.wrapping_sub(y).into());
                check("mul.lo.u16", x.wrapping_mul(y).into());
                check("mul.wide.u16", u32::from(x) * u32::from(y));
                check("mul.wide.s16", (i32::from(p) * i32::from(q)) as u32);
                check("min.s16", (p.min(q) as u16).into());
                check("max.u16", x.max(y).into());
                check("xor.b16", (x ^ y).into());
                check("shl.b16", u32::from(x).checked_shl(b).unwrap_or(0) & 0xffff);
                check("shr.u16", u32::from(x).checked_shr(b).unwrap_or(0));
                check("shr.s16", ((i32::from(p) >> b.min(31)) as u16).into());
                check("setp.lt.s16", u32::from(p < q));
                check("setp.lo.u16", u32::from(x < y));
                for c in edges {
                    let three = [None; 3];
                    assert_eq!(run("mad.lo.s16", &three, [a, b, c]), x.wrapping_mul(y).wrapping_add(c as u16).into());
                    let wide = (i32::from(p) * i32::from(q)) as u32;
                    assert_eq!(run("mad.wide.s16", &three, [a, b, c]), wide.wrapping_add(c));
                    assert_eq!(run("selp.b16", &three, [a, b, c]), if c != 0 { x.into() } else { y.into() });
                }
            }
            assert_eq!(run("not.b16", &[None], [a, 0, 0]), (!(a as u16)).into());
            assert_eq!(run("neg.s16", &[None], [a, 0, 0]), (a as u16).wrapping_neg().into());
            assert_eq!(run("abs.s16", &[None], [a, 0, 0]), ((a as i16).wrapping_abs() as u16).into());
        }
        assert!(!Base::read("add.u16", &[None, None]).unwrap().is_of_words());
        assert!(Base::read("cvt.u32.u16", &[None]).unwrap().is_of_words());
    }

    #[test]
    fn what_is_not_known_is_none() {
        for (opcode, count) in [
            ("add.cc.u32", 2),
            ("addc.u32", 2),
            ("add.u64", 2),
            ("add.u32", 3),
            ("mul.wide.u32", 2),
            ("prmt.b32.f8e", 3),
            ("add.b32", 2),
            ("setp.lo.s32", 2),
            ("bfi.b32", 4),
            ("lop3.b32", 4),
            ("cvt.rn.f32.s32", 1),
            ("cvt.u64.u32", 1),
            ("dp4a.b32.u32", 3),
            ("setp.lt.and.s32", 3),
            ("mov.u64", 1),
            ("", 0),
        ] {
            assert_eq!(Base::read(opcode, &vec![None; count]), None, "{opcode}");
        }
        assert_eq!(
            Base::read("lop3.b32", &[None, None, None, Some(0x96)]).map(|base| base.name()).as_deref(),
            Some("ptx_lop3_b32_96")
        );
    }
}
