//! Whether the manual's semantics and ptxas's can differ on a form, and an input on which they do.
//!
//! Decided by trying: [`Form::divergence`] evaluates both on a few hundred to a few thousand inputs, all combinations of
//! values at which some stage changes its behaviour (the ends of types and of saturation ranges, powers of two around
//! the places where a register is cut, shift amounts around its size), and reports the first that separates them. What it
//! reports is a fact. That it misses no form is proved: for every form on which the inputs find nothing, an SMT solver
//! shows that none of the 2^96 inputs separates the two (`cargo xtask divergence`).

use alloc::string::{String, ToString};
use core::fmt::Write;

use crate::interval::OperandValue;
use crate::isa::form::{Finish, Form, Variant};
use crate::isa::types::{Operation, Secondary, Selector};
use crate::semantics::{Deviations, Semantics};
use crate::text::{Instruction, Operand};

/// An input on which two semantics give a form two values.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Divergence {
    /// The form.
    pub form: Form,
    /// Which code is compared with the manual.
    pub semantics: Semantics,
    /// Values of the operands a, b and c (of an operand `c+1` the sum); c is 0 where the form does not use it.
    pub inputs: [u32; 3],
    /// d by the manual.
    pub isa: u32,
    /// d as the code computes it.
    pub ptxas: u32,
    /// Why: the deviations that decide it for these inputs.
    pub deviations: Deviations,
}

impl Form {
    /// Whether the newest ptxas's code computes something else than the manual's pseudo code on some input, with such an
    /// input; `None` if no input separates them.
    ///
    /// ```
    /// let form: vop::Form = "vadd.u32.s32.s32.sat d.b0, a, b, c".parse().unwrap();
    /// let divergence = form.divergence().unwrap();
    /// assert_eq!(divergence.to_string(), "a = 0, b = -1, c = 0 gives d = 0x000000ff, by the manual 0x00000000");
    /// ```
    pub fn divergence(self) -> Option<Divergence> {
        self.divergence_of(Semantics::Ptxas, [OperandValue::Free; 3])
    }

    /// The same for any semantics, and of an instruction whose operands are not free to have any value: see
    /// [`Instruction::divergence`].
    ///
    /// Exact where the operands are free. Where one is not, that no input is found does not prove that there is none.
    pub fn divergence_of(self, semantics: Semantics, sources: [OperandValue; 3]) -> Option<Divergence> {
        let by = semantics.deviations();
        let inputs @ [a, b, c] = self.separating(Deviations::NONE, by, sources)?;
        let (isa, ptxas) = (self.eval(a, b, c), self.eval_by(by, a, b, c));
        Some(Divergence { form: self, semantics, inputs, isa, ptxas, deviations: self.deciding(by, a, b, c) })
    }

    /// Values of a, b and c for which two sets of deviations give d two values, small ones first; as exact as
    /// [`divergence_of`](Form::divergence_of).
    pub fn separating(self, one: Deviations, other: Deviations, sources: [OperandValue; 3]) -> Option<[u32; 3]> {
        if one.concerning(self) == other.concerning(self) {
            return None;
        }
        let [a, b, c] = self.probes(sources);
        // The sum of the places in the three lists grows.
        for sum in 0..a.len() + b.len() + c.len() - 2 {
            for (i, &a) in a.iter().enumerate().take(sum + 1) {
                for (j, &b) in b.iter().enumerate().take(sum - i + 1) {
                    let Some(&c) = c.get(sum - i - j) else { continue };
                    let inputs @ [a, b, c] = tied(sources, [a, b, c]);
                    if self.eval_by(one, a, b, c) != self.eval_by(other, a, b, c) {
                        return Some(inputs);
                    }
                }
            }
        }
        None
    }

    /// The values that are tried of a, b and c, the smallest first.
    fn probes(self, sources: [OperandValue; 3]) -> [Probes; 3] {
        let shift = matches!(self.mnemonic().operation(), Operation::Shl | Operation::Shr);
        let compares = matches!(self.finish(), Finish::Secondary(Secondary::Min | Secondary::Max));
        let mad = matches!(self.variant(), Variant::Mad(..));
        let source = |selector: Selector, values: &[u32]| {
            let (shift, bits) = selector.place();
            let mut probes = Probes::default();
            for &value in values {
                let value = value & (u32::MAX >> (32 - bits));
                probes.push(value << shift);
            }
            probes
        };
        let c = if compares || mad { VALUES } else { &VALUES[..1] };
        let found = [
            source(self.asel(), VALUES),
            source(self.bsel(), if shift { AMOUNTS } else { VALUES }),
            source(Selector::Word, c),
        ];
        let mut found = found.into_iter().zip(sources).map(|(probes, source)| match source {
            OperandValue::Known(value) => Probes::only(value),
            OperandValue::Free | OperandValue::SameAs { .. } => probes,
        });
        core::array::from_fn(|_| found.next().unwrap_or_default())
    }
}

/// The values that operands have if those proposed for them are tied as their sources say. Where two are one register it
/// has the bits of both: they may be read from different parts of it.
fn tied(sources: [OperandValue; 3], mut values: [u32; 3]) -> [u32; 3] {
    for i in 0..3 {
        if let OperandValue::SameAs { operand, .. } = sources[i] {
            let bits = values[i];
            if let Some(value) = values.get_mut(operand) {
                *value |= bits;
            }
        }
    }
    for i in 0..3 {
        if let OperandValue::SameAs { operand, plus } = sources[i]
            && let Some(&value) = values.get(operand)
        {
            values[i] = value.wrapping_add(plus);
        }
    }
    values
}

impl Instruction<'_> {
    /// What is known of the values of a, b and c.
    pub fn operand_values(&self) -> [OperandValue; 3] {
        let operands = [Some(self.a), Some(self.b), self.c.filter(|_| self.form.uses_c())];
        core::array::from_fn(|i| match operands[i] {
            Some(Operand::Immediate { value, .. }) => OperandValue::Known(value),
            Some(operand) => {
                let same =
                    |other: &Option<Operand<'_>>| other.is_some_and(|other| other.register() == operand.register());
                match (operands[..i].iter().position(same), operand) {
                    (None, _) => OperandValue::Free,
                    (Some(operand), Operand::Sum { addend, .. }) => OperandValue::SameAs { operand, plus: addend },
                    (Some(operand), _) => OperandValue::SameAs { operand, plus: 0 },
                }
            }
            None => OperandValue::Free,
        })
    }

    /// Whether a semantics and the manual's can differ on this instruction, with immediates as they are and operands that
    /// are one register having one value, and an input on which they do.
    ///
    /// ```
    /// use vop::Semantics;
    /// let sum = vop::parse("vsub.s32.s32.s32.sat d.b0, a, b, c").unwrap();
    /// assert!(sum.divergence(Semantics::Ptxas).is_some());
    /// let zero = vop::parse("vsub.s32.s32.s32.sat d.b0, a, a, c").unwrap();
    /// assert!(zero.divergence(Semantics::Ptxas).is_none());
    /// ```
    pub fn divergence(&self, semantics: Semantics) -> Option<Divergence> {
        self.form.divergence_of(semantics, self.operand_values())
    }
}

const VALUES: &[u32] = &[
    0,
    1,
    u32::MAX,
    2,
    0x7f,
    0x80,
    0xff,
    0x100,
    0x7fff,
    0x8000,
    0xffff,
    0x1_0000,
    0x7fff_ffff,
    0x8000_0000,
    0xffff_ff7f,
    0xffff_7fff,
    0x4000_0000,
    0xc000_0000,
    0x8000_0001,
    0xffff_fffe,
];

const AMOUNTS: &[u32] = &[0, 1, 2, 3, 4, 8, 15, 16, 17, 24, 25, 28, 29, 30, 31, 32, 33];

/// A list of distinct values.
#[derive(Default)]
struct Probes {
    values: [u32; VALUES.len()],
    count: usize,
}

impl Probes {
    fn only(value: u32) -> Probes {
        let mut probes = Probes::default();
        probes.push(value);
        probes
    }

    fn push(&mut self, value: u32) {
        if !self.contains(&value) {
            self.values[self.count] = value;
            self.count += 1;
        }
    }
}

impl core::ops::Deref for Probes {
    type Target = [u32];

    fn deref(&self) -> &[u32] {
        &self.values[..self.count]
    }
}

impl Divergence {
    /// Why, in sentences.
    pub fn why(&self) -> String {
        let mut text = String::new();
        for deviation in self.deviations.iter() {
            let gap = if text.is_empty() { "" } else { " " };
            // Writing to a String does not fail.
            let _ = write!(
                text,
                "{gap}At {}, ptxas's code {}; by the manual {}.",
                deviation.stage(),
                deviation.ptxas(),
                deviation.manual()
            );
        }
        text
    }
}

/// The input and both results, in a line.
impl core::fmt::Display for Divergence {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        write!(f, "a = {}", value(self.inputs[0], self.form.atype().is_signed()))?;
        write!(f, ", b = {}", value(self.inputs[1], self.form.btype().is_signed()))?;
        if self.form.uses_c() {
            write!(f, ", c = {}", value(self.inputs[2], self.form.is_signed()))?;
        }
        write!(f, " gives d = {:#010x}, by the manual {:#010x}", self.ptxas, self.isa)
    }
}

/// Small values in decimal, by their sign, others in hexadecimal.
fn value(word: u32, signed: bool) -> String {
    match word as i32 {
        small @ 0..1000 => small.to_string(),
        small @ -999..0 if signed => small.to_string(),
        _ => alloc::format!("{word:#x}"),
    }
}
