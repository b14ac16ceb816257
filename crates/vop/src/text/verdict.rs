//! The verdict on what was read: modifiers and operands become a [`Form`], or faults.
//!
//! What is legal is [`Form::new`]'s to say. Judged here is what a form does not know: the number and the kinds of operands,
//! and what ptxas takes or refuses beside the manual. The words of the faults are in `wording.rs`.

use alloc::borrow::Cow;
use core::ops::Range;

use super::instruction::Guard;
use super::opcode::Opcode;
use super::operand::{Operands, Raw, Written};
use super::reader::Reader;
use super::registers::RegisterType;
use super::selector::{digits, mask};
use super::wording::Side;
use crate::isa::form::{DestinationSelector, Form};
use crate::isa::scalar::ScalarType;
use crate::isa::special;
use crate::isa::table::{Axis, Mnemonic};
use crate::isa::types::{Part, Selector, Shape};

impl Reader<'_, '_> {
    /// The form that was written, `None` if there is none such. Faults are recorded, also where there is one.
    pub(super) fn judge(&mut self, guard: Option<Guard<'_>>, opcode: &Opcode, operands: &Operands) -> Option<Form> {
        let name = self.slice(opcode.mnemonic);
        let mut capitals = opcode.capitals;
        let mut found = Mnemonic::from_name(name);
        if found.is_none() {
            found = Mnemonic::from_name(&name.to_ascii_lowercase());
            capitals |= found.is_some();
        }
        let Some(mnemonic) = found else {
            self.unknown_mnemonic(guard, opcode, operands, name);
            return None;
        };
        if capitals {
            self.upper_case(mnemonic, opcode, operands);
        }
        let mut wanted = opcode.wanted;
        wanted.types = opcode.types();
        let bare = self.settings.bare && operands.complete && operands.count == 0;
        if !bare {
            // Of an instruction in upper case the names may be in upper case by mistake, too: one fault is enough.
            if !capitals && (!operands.plain || self.knows_registers()) {
                self.operand_kinds(mnemonic, wanted.secondary.is_some(), operands);
            }
            let [d, a, b, c] = &operands.list;
            wanted.minuses = [a.minus, b.minus, c.minus];
            if !mnemonic.allows(Axis::Negation) && wanted.minuses == CANCELLED {
                wanted.minuses = [false; 3];
            }
            wanted.dsel = self.destination_selector(mnemonic, d, capitals);
            wanted.asel = self.source_selector(mnemonic, a, Side::A, capitals);
            wanted.bsel = self.source_selector(mnemonic, b, Side::B, capitals);
            for (side, operand, selector) in [(Side::A, a, wanted.asel), (Side::B, b, wanted.bsel)] {
                if selector.is_some() && self.text_of(operand.selector) == UNREADABLE && !self.settings.lenient {
                    self.unreadable_selector(opcode, operands, side);
                }
            }
            self.no_selector_on_c(mnemonic, c, operands.count);
            // Where the form is legal this is what `Form::uses_c` says.
            let uses_c = wanted.secondary.is_some() || wanted.dsel.is_some() || !mnemonic.allows(Axis::OptionalC);
            self.operand_count(mnemonic, uses_c, wanted.secondary.is_some(), operands);
        }
        match Form::new(mnemonic, &wanted) {
            Ok(form) => Some(form),
            Err(violations) => {
                for violation in violations {
                    self.violation(mnemonic, opcode, operands, violation);
                }
                None
            }
        }
    }

    fn destination_selector(&mut self, mnemonic: Mnemonic, d: &Written, capitals: bool) -> Option<DestinationSelector> {
        if d.selector.is_empty() {
            return None;
        }
        let name = &*without_capitals(&self.text_of(d.selector)[1..], capitals);
        if self.is_said_of_register(d) {
            return None;
        }
        let shape = mnemonic.shape();
        if !shape.is_simd() {
            if let Some(part) = Part::from_name(name) {
                return Some(DestinationSelector::Part(part));
            }
            if is_void(name) {
                return None;
            }
        } else if let Some(mask) = mask(name, shape) {
            return Some(DestinationSelector::Mask(mask));
        }
        self.wrong_selector(mnemonic, name, d.selector.range(), Side::D);
        None
    }

    fn source_selector(
        &mut self,
        mnemonic: Mnemonic,
        operand: &Written,
        side: Side,
        capitals: bool,
    ) -> Option<Selector> {
        if operand.selector.is_empty() {
            return None;
        }
        let name = &*without_capitals(&self.text_of(operand.selector)[1..], capitals);
        let selector = match mnemonic.shape() {
            Shape::Scalar => Part::from_name(name).map(Selector::Part),
            Shape::Halves => digits::<2>(name, 'h', 3).map(Selector::Halves),
            Shape::Bytes => digits::<4>(name, 'b', 7).map(Selector::Bytes),
        };
        if selector.is_none() && !self.is_said_of_register(operand) {
            self.wrong_selector(mnemonic, name, operand.selector.range(), side);
        }
        selector
    }

    /// Whether the register is none that has selectors, which is said of the register: `%tid.x`, or `v.x` of a vector.
    fn is_said_of_register(&self, operand: &Written) -> bool {
        operand.raw == Raw::Register && self.knows_registers() && {
            let name = self.text_of(operand.name);
            special::is_special(name) || self.register_type(name) == Some(RegisterType::Vector)
        }
    }

    fn no_selector_on_c(&mut self, mnemonic: Mnemonic, c: &Written, count: usize) {
        if c.selector.is_empty() || self.is_said_of_register(c) {
            return;
        }
        let name = &self.text_of(c.selector)[1..];
        // The fourth of five operands may be meant as another.
        if !mnemonic.shape().is_simd() && is_void(name) || count > 4 {
            return;
        }
        self.selector_on_c(mnemonic, name, c.selector.range());
    }

    /// Judges what kinds of things the operands are.
    fn operand_kinds(&mut self, mnemonic: Mnemonic, accumulates: bool, operands: &Operands) {
        let simd = mnemonic.shape().is_simd();
        let [_, a, b, c] = &operands.list;
        let negates = mnemonic.allows(Axis::Negation) || [a.minus, b.minus, c.minus] == CANCELLED;
        for (i, operand) in operands.list.iter().enumerate().take(operands.count) {
            match operand.raw {
                Raw::Register => {
                    if self.knows_registers() {
                        let name = self.text_of(operand.name);
                        let span = operand.name.start as usize..operand.at.end as usize;
                        // What has no dtype is stricter with the registers that dtype would be of.
                        let counts = operand.minus || matches!(i, 0 | 3) && !mnemonic.allows(Axis::Dtype);
                        if counts && self.register_type(name) == Some(RegisterType::Scalar(ScalarType::F16x2)) {
                            self.not_half_precision(mnemonic, i, operand);
                        } else {
                            self.register_kind(mnemonic, i, operand, span);
                        }
                    }
                    if operand.minus && (i == 0 || !negates) {
                        // To c of `.add` is added as to one number.
                        self.negation(mnemonic, i, operand, !simd || i == 3 && accumulates);
                    }
                    if operand.sink && i > 0 {
                        self.wrong_kind(mnemonic, i, &Written { raw: Raw::Pair, ..*operand });
                    }
                }
                Raw::Sum if !simd => self.sum_kind(mnemonic, operand),
                Raw::Immediate if i > 0 && !simd => {}
                Raw::Absent => {}
                _ => self.wrong_kind(mnemonic, i, operand),
            }
        }
    }

    fn register_kind(&mut self, mnemonic: Mnemonic, i: usize, operand: &Written, span: Range<usize>) {
        match self.register_type(self.text_of(operand.name)) {
            Some(ty) if ty.is_operand() => {}
            found => self.wrong_register(mnemonic, i, operand, span, found),
        }
    }

    /// Judges the register of `c+1`: any integer one, also a special one, but of 32 bits for `vset`.
    #[cold]
    fn sum_kind(&mut self, mnemonic: Mnemonic, operand: &Written) {
        let register = self.text_of(operand.name);
        let vector = special::is_vector(register);
        if !self.knows_registers() || special::is_special(register) && !vector {
            return;
        }
        match self.register_type(register) {
            Some(ty) if ty.is_integer() && (ty.is_operand() || mnemonic.allows(Axis::Dtype)) => {}
            Some(RegisterType::Scalar(ScalarType::F16x2)) if !mnemonic.allows(Axis::Dtype) => {
                self.not_half_precision(mnemonic, 3, operand);
            }
            _ => self.register_kind(mnemonic, 3, operand, operand.name.range()),
        }
    }

    fn operand_count(&mut self, mnemonic: Mnemonic, needs_c: bool, accumulates: bool, operands: &Operands) {
        let right = if needs_c { operands.count == 4 } else { matches!(operands.count, 3 | 4) };
        if right || !operands.complete {
            return;
        }
        self.wrong_count(mnemonic, needs_c, accumulates, operands);
    }
}

/// The one selector that ptxas takes for something else.
pub(super) const UNREADABLE: &str = ".b1024";

/// Minuses before both a and b and not c. ptxas counts only whether the product is negated, of any instruction, and so
/// takes these two everywhere; outside `vmad` they have no effect (`vadd.u32.u32.u32 d, -a, -b` computes a + b).
const CANCELLED: [bool; 3] = [true, true, false];

/// A selector in lower case, if the instruction is one that is written in capitals.
fn without_capitals(name: &str, capitals: bool) -> Cow<'_, str> {
    if capitals { Cow::Owned(name.to_ascii_lowercase()) } else { Cow::Borrowed(name) }
}

/// `.b01`, `.b12` and `.b23`, which ptxas takes on d and c of scalar forms and ignores. They are of another
/// instruction family; no code is known that writes them.
fn is_void(name: &str) -> bool {
    matches!(name, "b01" | "b12" | "b23")
}
