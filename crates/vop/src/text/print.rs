//! Canonical text.

use core::fmt;

use super::instruction::{Guard, Instruction, Operand};

/// The canonical text: guard, modifiers in the manual's order, default selectors, minuses and a fourth operand without
/// effect left out, no semicolon. Parsing it gives an equal instruction.
impl fmt::Display for Instruction<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let Some(guard) = &self.guard {
            write!(f, "{guard} ")?;
        }
        let c: &dyn fmt::Display = match &self.c {
            Some(c) => c,
            None => &"c",
        };
        self.form.print(f, [&Name(self.d), &self.a, &self.b, c])
    }
}

/// A register's name, without the padding that a `str` looks for.
struct Name<'t>(&'t str);

impl fmt::Display for Name<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.0)
    }
}

impl fmt::Display for Guard<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "@{}{}", if self.negated { "!" } else { "" }, self.predicate)
    }
}

impl fmt::Display for Operand<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Operand::Register(name) => f.write_str(name),
            Operand::Sum { register, addend } => write!(f, "{register}+{addend}"),
            // An expression with blanks or comments in it would not stay on one line.
            Operand::Immediate { value, text }
                if text.bytes().any(|byte| byte.is_ascii_whitespace() || byte == b'/') =>
            {
                write!(f, "{value}")
            }
            Operand::Immediate { text, .. } => f.write_str(text),
        }
    }
}
