//! [`Instruction`]: what is read from a text.

use crate::isa::form::Form;

/// A video instruction: a form and what it is applied to.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Instruction<'t> {
    /// `@p` or `@!p`, if there is one.
    pub guard: Option<Guard<'t>>,
    /// What it computes.
    pub form: Form,
    /// The destination register.
    pub d: &'t str,
    /// The first operand.
    pub a: Operand<'t>,
    /// The second operand.
    pub b: Operand<'t>,
    /// The third operand. A scalar form [may not use](Form::uses_c) it.
    pub c: Option<Operand<'t>>,
}

/// The predicate under which an instruction is executed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Guard<'t> {
    /// `@!p`.
    pub negated: bool,
    /// The predicate register's name.
    pub predicate: &'t str,
}

/// A source operand.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Operand<'t> {
    /// A register, by name.
    Register(&'t str),
    /// `c+1`: a register and a constant that is added to it modulo 2^32. ptxas takes it for operand c of scalar forms;
    /// the manual does not have it.
    Sum {
        /// The register, by name.
        register: &'t str,
        /// What is added.
        addend: u32,
    },
    /// A constant expression.
    Immediate {
        /// Its lower 32 bits.
        value: u32,
        /// As it is written; in canonical text its value stands instead if it holds blanks or comments.
        text: &'t str,
    },
}

impl<'t> Instruction<'t> {
    /// The names of all registers that it has, its guard's among them.
    pub(crate) fn registers(&self) -> impl Iterator<Item = &'t str> {
        let sources = [Some(self.a), Some(self.b), self.c].into_iter().flatten().filter_map(Operand::register);
        sources.chain([self.d]).chain(self.guard.map(|guard| guard.predicate))
    }
}

impl<'t> Operand<'t> {
    /// The register's name, of a sum too; `None` for an immediate.
    pub fn register(self) -> Option<&'t str> {
        match self {
            Operand::Register(name) | Operand::Sum { register: name, .. } => Some(name),
            Operand::Immediate { .. } => None,
        }
    }
}
