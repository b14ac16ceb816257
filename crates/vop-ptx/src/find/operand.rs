//! The operands of an `asm`: what `%0` stands for.

use std::ops::Range;

/// The operands of one `asm`, in the order of their numbers.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Asm {
    /// Where it stands, in bytes of the file: names of the program mean what they mean there.
    pub(crate) at: usize,
    /// Where it ends, behind its closing bracket, if the file itself holds all of it: not where a macro writes a part.
    pub(crate) end: Option<usize>,
    /// Those that can be read: all of them if `complete`, otherwise those before the first that is not known, and behind it those
    /// with a name.
    pub(crate) operands: Vec<AsmOperand>,
    /// How many of them, the last ones, stand behind one that is not known: their numbers are not known either.
    pub(crate) uncounted: usize,
    pub(crate) complete: bool,
    /// Whether `%0` is the first one; those of Zig have names alone.
    pub(crate) numbered: bool,
}

/// An operand.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct AsmOperand {
    /// `%[name]`, without brackets.
    pub(crate) name: Option<String>,
    /// The constraint as the file writes it, with quotes or brackets: `"=r"`, `in(reg32)`.
    pub(crate) written: String,
    /// The place of the constraint, in bytes of the file.
    pub(crate) place: Range<usize>,
    pub(crate) class: Class,
    pub(crate) access: Access,
    /// The expression behind it, as far as it is read.
    pub(crate) expression: Vec<Lexeme>,
    /// The place of the expression.
    pub(crate) expression_place: Range<usize>,
    /// The place of all of it.
    pub(crate) whole: Range<usize>,
    /// The type that the language writes beside it, as LLVM does.
    pub(crate) scalar: Option<Scalar>,
}

/// What holds an operand.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Class {
    /// A 32-bit register.
    Word,
    /// Another register.
    Other(&'static str),
    /// A number in the text.
    Immediate,
    /// A place in memory.
    Memory,
    /// What the constraint says is not known, or may be several things.
    Unknown,
}

/// Who writes an operand.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Access {
    /// The program, before.
    In,
    /// The text; before that it holds anything.
    Out,
    /// Both: `+r`, or another operand is tied to it.
    InOut,
}

/// The type of an expression.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Scalar {
    /// An integer, a pointer or an enumeration of this number of bytes.
    Integer(u8),
    /// A floating-point number of this number of bytes.
    Float(u8),
}

impl Scalar {
    /// The number of bytes.
    pub(crate) fn size(self) -> u8 {
        match self {
            Scalar::Integer(size) | Scalar::Float(size) => size,
        }
    }
}

/// A token of an expression.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Lexeme {
    pub(crate) text: Vec<u8>,
    /// Where it stands in the file, or where the macro that writes it is used.
    pub(crate) at: usize,
    pub(crate) kind: LexemeKind,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum LexemeKind {
    Word,
    Number,
    /// `'c'`, a string, or what is not known.
    Other,
    Sign,
}

impl AsmOperand {
    /// The name of the output that an input with the constraint `"[name]"` begins as.
    pub(crate) fn tied_name(&self) -> Option<&str> {
        let constraint = self.written.trim_matches('"').trim_start_matches(['&', '%']);
        constraint.strip_prefix('[')?.strip_suffix(']')
    }

    /// Translates its places.
    pub(crate) fn moved(&mut self, place: impl Fn(Range<usize>) -> Range<usize>) {
        for one in [&mut self.place, &mut self.whole, &mut self.expression_place] {
            *one = place(one.clone());
        }
    }
}

impl Asm {
    /// The index of the operand of this name or number.
    pub(crate) fn index(&self, name: &str) -> Option<usize> {
        // `{}` of Rust takes the next operand, and is numbered from 1.
        let next = name.strip_prefix("field$").and_then(|number| number.parse::<usize>().ok()?.checked_sub(1));
        if let Some(number) = next.or_else(|| name.parse::<usize>().ok()) {
            return (self.numbered && number < self.operands.len() - self.uncounted).then_some(number);
        }
        self.operands.iter().position(|operand| operand.name.as_deref() == Some(name))
    }

    /// Marks the outputs that inputs are tied to: those of `ties` by their numbers, those of `"[name]"` by their names.
    pub(crate) fn tie(&mut self, ties: &[usize]) {
        let counted = self.operands.len() - self.uncounted;
        let mut outputs: Vec<usize> = ties.iter().copied().filter(|&output| output < counted).collect();
        for input in 0..self.operands.len() {
            let operand = &self.operands[input];
            let Some(name) = operand.tied_name().filter(|_| operand.access == Access::In) else { continue };
            let is_it = |other: &AsmOperand| other.access != Access::In && other.name.as_deref() == Some(name);
            if let Some(output) = self.operands.iter().position(is_it) {
                outputs.push(output);
                self.operands[input].class = Class::Word;
            }
        }
        for output in outputs {
            if let Some(operand) = self.operands.get_mut(output).filter(|operand| operand.access == Access::Out) {
                operand.access = Access::InOut;
            }
        }
    }
}

/// What a constraint of GCC or LLVM says, of NVIDIA's targets: its class, and for a matching one the number of the output.
pub(crate) fn class_of(constraint: &str) -> (Class, Option<usize>) {
    let letters = constraint.trim_start_matches(['=', '+', '&', '%', '*']);
    if !letters.is_empty() && letters.bytes().all(|b| b.is_ascii_digit()) {
        return (Class::Word, letters.parse().ok());
    }
    let class = match letters {
        "r" => Class::Word,
        "h" => Class::Other("a 16-bit register"),
        "l" => Class::Other("a 64-bit register"),
        "f" => Class::Other("an `.f32` register"),
        "d" => Class::Other("an `.f64` register"),
        "q" => Class::Other("a 128-bit register"),
        "b" => Class::Other("a predicate"),
        "n" | "i" => Class::Immediate,
        "m" => Class::Memory,
        _ => Class::Unknown,
    };
    (class, None)
}
