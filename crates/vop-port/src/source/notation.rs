//! [`Notation`]: how a language writes what stands for an `asm` statement.

use vop_ptx::asm::{AsmOperand, Class};

use super::body::{Kind, Source, Step, What};
use super::write::Expression;
use crate::code::Width;
use crate::print::Syntax;

/// How a language writes assignments, variables and calls. All variables are words without sign, or of 64 bits where that is said.
pub(super) trait Notation {
    /// A constant.
    fn number(&self, value: u32) -> String;

    /// A constant of 64 bits.
    fn long(&self, value: u64) -> String;

    /// Whether evaluating an expression may change something that only this language has.
    fn changes(&self, _expression: &str) -> bool {
        false
    }

    /// An operand's expression as the argument of a call. `before` is the file before the statement.
    fn argument(&self, expression: &Expression, operand: &AsmOperand, before: &str) -> String;

    /// An operand's expression as a word, to be named.
    fn word(&self, expression: &Expression, operand: &AsmOperand, before: &str) -> String;

    /// A call of a function.
    fn call(&self, name: &str, arguments: &[String]) -> String;

    /// A word assigned to a place, without a semicolon.
    fn assigned(&self, place: &Expression, value: &str, before: &str) -> String;

    /// A name for a value that stays.
    fn constant(&self, name: &str, kind: Kind, value: &str) -> String;

    /// A variable, and whether it gets more than one value.
    fn variable(&self, name: &str, kind: Kind, initial: Option<&str>, changes: bool) -> String;

    /// An expression that is evaluated for what it changes.
    fn discarded(&self, expression: &Expression) -> String;

    /// A line that is carried out if a predicate holds, or does not.
    fn guarded(&self, negated: bool, predicate: &str, line: &str) -> String;

    /// What a base instruction is without a call, if an operator computes it.
    fn plain(&self, step: &Step, from: &[String]) -> Option<String>;

    /// What begins and ends a block.
    fn block(&self) -> [&'static str; 2];

    /// Whether macros' bodies are lines of a preprocessor.
    fn is_c(&self) -> bool {
        false
    }
}

/// C and its relatives.
pub(super) struct C {
    pub(super) syntax: &'static (dyn Syntax + Sync),
    /// The types of integers without and with sign, of 32 and of 64 bits.
    pub(super) types: [[&'static str; 2]; 2],
}

impl C {
    /// An expression with operands and types in it.
    fn expression(&self, expression: &str, from: &[String]) -> String {
        let [[word, signed_word], [long, signed_long]] = self.types;
        let types = [("{SL}", signed_long), ("{SW}", signed_word), ("{L}", long), ("{W}", word)];
        let mut text = types.into_iter().fold(expression.to_string(), |text, (name, ty)| text.replace(name, ty));
        for (number, operand) in from.iter().enumerate() {
            text = text.replace(&format!("{{{number}}}"), operand);
        }
        text
    }

    /// The type of a variable.
    fn ty(&self, kind: Kind) -> &'static str {
        self.types[usize::from(kind == Kind::Long)][0]
    }
}

impl Notation for C {
    fn number(&self, value: u32) -> String {
        match value {
            0..10 => value.to_string(),
            10..=255 => format!("{value}u"),
            _ => format!("{value:#x}u"),
        }
    }

    fn long(&self, value: u64) -> String {
        self.syntax.literal(value, Width::Long)
    }

    fn argument(&self, expression: &Expression, _: &AsmOperand, _: &str) -> String {
        expression.argument()
    }

    fn word(&self, expression: &Expression, operand: &AsmOperand, _: &str) -> String {
        let kind = Kind::of(operand);
        let (ty, text) = (self.ty(kind), &expression.text);
        // A pointer is no number in C++: `static_cast` refuses it.
        let value = if ty.contains("::") && kind != Kind::Long {
            format!("static_cast<{ty}>({text})")
        } else if expression.is_bare() {
            format!("({ty}){text}")
        } else {
            format!("({ty})({text})")
        };
        if kind == Kind::Half { format!("{value} & 0xffffu") } else { value }
    }

    fn call(&self, name: &str, arguments: &[String]) -> String {
        format!("{name}({})", arguments.join(", "))
    }

    fn assigned(&self, place: &Expression, value: &str, _: &str) -> String {
        format!("{} = {value}", place.place())
    }

    fn constant(&self, name: &str, kind: Kind, value: &str) -> String {
        format!("const {} {name} = {value};", self.ty(kind))
    }

    fn variable(&self, name: &str, kind: Kind, initial: Option<&str>, _: bool) -> String {
        let initial = initial.map(|initial| format!(" = {initial}")).unwrap_or_default();
        format!("{} {name}{initial};", self.ty(kind))
    }

    fn discarded(&self, expression: &Expression) -> String {
        format!("(void)({});", expression.text)
    }

    fn guarded(&self, negated: bool, predicate: &str, line: &str) -> String {
        format!("if ({}{predicate}) {line}", if negated { "!" } else { "" })
    }

    fn plain(&self, step: &Step, from: &[String]) -> Option<String> {
        let base = match &step.what {
            What::Base(base) => base,
            What::Expression(expression) => return Some(self.expression(expression, from)),
            What::Form(_) => return None,
        };
        let (name, modifiers) = base.opcode().split_once('.')?;
        let sign = match (name, modifiers) {
            ("mov", _) => return Some(from[0].clone()),
            ("not", "b32") => return Some(format!("~{}", from[0])),
            ("neg", "s32") => return Some(format!("0u - {}", from[0])),
            ("selp", _) => return Some(format!("{} ? {} : {}", from[2], from[0], from[1])),
            ("mad", "lo.u32" | "lo.s32") => return Some(format!("{} * {} + {}", from[0], from[1], from[2])),
            ("add", "u32" | "s32" | "b32") => "+",
            ("sub", "u32" | "s32" | "b32") => "-",
            ("mul", "lo.u32" | "lo.s32") => "*",
            ("and", _) => "&",
            ("or", _) => "|",
            ("xor", _) => "^",
            ("shl", "b32") if is_amount(&step.from[1]) => "<<",
            ("shr", "u32" | "b32") if is_amount(&step.from[1]) => ">>",
            _ => return None,
        };
        // Two constants would be signed numbers.
        let is_constant = |source: &Source| matches!(source, Source::Constant(_));
        if step.from.iter().all(is_constant) {
            return None;
        }
        Some(format!("{} {sign} {}", from[0], from[1]))
    }

    fn block(&self) -> [&'static str; 2] {
        ["do {", "} while (0)"]
    }

    fn is_c(&self) -> bool {
        true
    }
}

fn is_amount(source: &Source) -> bool {
    matches!(source, Source::Constant(amount) if *amount < 32)
}

/// Rust. Functions are those of the module `vop_port` at the crate's root.
///
/// Rust converts no integers by itself, and an `asm!` takes words of three types. Each is converted by a method that the other two do not
/// have: so if the file is misread, the compiler refuses the text.
pub(super) struct Rust;

impl Rust {
    /// The type of a variable, `x`, `*x` or `x[i]`, by the nearest declaration before the statement; `u32` if that says none of the three.
    fn ty(expression: &str, before: &str) -> &'static str {
        let place = expression.trim_start_matches(['*', '&']);
        let length = place.bytes().take_while(|b| b.is_ascii_alphanumeric() || *b == b'_').count();
        let (name, behind) = place.split_at(length);
        if name.is_empty() || !(behind.is_empty() || behind.starts_with('[') && behind.ends_with(']')) {
            return "u32";
        }
        let is_part = |b: Option<u8>| b.is_some_and(|b| b.is_ascii_alphanumeric() || b == b'_' || b == b'.');
        for (at, _) in before.rmatch_indices(name) {
            let rest = before[at + name.len()..].trim_start();
            let starts = at == 0 || !is_part(Some(before.as_bytes()[at - 1]));
            let Some(ty) = rest.strip_prefix(':').filter(|ty| starts && !ty.starts_with(':')) else { continue };
            let ty = &ty[..ty.find([',', ')', '=', '{', '|']).unwrap_or(ty.len())];
            let words = ty.split(|c: char| !(c.is_ascii_alphanumeric() || c == '_'));
            let found: Vec<&'static str> =
                words.filter_map(|word| ["u32", "i32", "f32"].into_iter().find(|ty| *ty == word)).collect();
            return found.first().copied().unwrap_or("u32");
        }
        "u32"
    }
}

impl Notation for Rust {
    fn number(&self, value: u32) -> String {
        if value < 256 { value.to_string() } else { format!("{value:#x}") }
    }

    fn long(&self, value: u64) -> String {
        format!("{value}")
    }

    fn changes(&self, expression: &str) -> bool {
        // `f!(x)`, a block or a closure, an early return.
        let bytes = expression.as_bytes();
        let calls = |(at, _): (usize, &str)| at > 0 && bytes[at - 1].is_ascii_alphanumeric();
        expression.contains(['{', '?', '|']) || expression.match_indices('!').any(calls)
    }

    fn argument(&self, expression: &Expression, operand: &AsmOperand, before: &str) -> String {
        let text = &expression.text;
        if operand.class == Class::Immediate {
            // A constant of any type of integer.
            return match text.parse::<i64>() {
                Ok(value) => self.number(value as u32),
                Err(_) => format!("({text}) as u32"),
            };
        }
        let inner = || if expression.is_name() { text.clone() } else { format!("({text})") };
        match Rust::ty(text, before) {
            "i32" => format!("{}.cast_unsigned()", inner()),
            "f32" => format!("{}.to_bits()", inner()),
            _ => text.clone(),
        }
    }

    fn word(&self, expression: &Expression, operand: &AsmOperand, before: &str) -> String {
        self.argument(expression, operand, before)
    }

    fn call(&self, name: &str, arguments: &[String]) -> String {
        format!("crate::vop_port::{name}({})", arguments.join(", "))
    }

    fn assigned(&self, place: &Expression, value: &str, before: &str) -> String {
        let text = &place.text;
        match Rust::ty(text, before) {
            "i32" => format!("{text} = {value}.cast_signed()"),
            "f32" => format!("{text} = f32::from_bits({value})"),
            _ => format!("{text} = {value}"),
        }
    }

    fn constant(&self, name: &str, _: Kind, value: &str) -> String {
        format!("let {name}: u32 = {value};")
    }

    fn variable(&self, name: &str, _: Kind, initial: Option<&str>, changes: bool) -> String {
        let initial = initial.map(|initial| format!(" = {initial}")).unwrap_or_default();
        format!("let {}{name}: u32{initial};", if changes { "mut " } else { "" })
    }

    fn discarded(&self, expression: &Expression) -> String {
        format!("let _ = {};", expression.text)
    }

    fn guarded(&self, negated: bool, predicate: &str, line: &str) -> String {
        format!("if {predicate} {} 0 {{ {line} }}", if negated { "==" } else { "!=" })
    }

    fn plain(&self, step: &Step, from: &[String]) -> Option<String> {
        let What::Base(base) = &step.what else { return None };
        base.opcode().starts_with("mov.").then(|| from[0].clone())
    }

    fn block(&self) -> [&'static str; 2] {
        ["{", "}"]
    }
}
