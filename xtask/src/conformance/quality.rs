//! How good a set of vectors is: how many mutants it kills.

use vop::isa::types::Type;
use vop::{Deviation, Form, Mnemonic, Semantics};

use super::evaluator::evaluate;
use super::fault::{Fault, Stage, equivalent, faults, without_effect};
use super::vectors::Row;

/// An evaluator that is wrong in one thing.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Mutant {
    /// By the manual, with a fault.
    Manual(Fault),
    /// By the manual, with a fault in the forms of one scope.
    Narrow(Fault, Scope),
    /// By what ptxas's code computes, without a deviation: the second or third of [`Semantics::ALL`].
    Ptxas(Semantics, Deviation),
}

/// Forms with these types, with or without `.sat`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Scope {
    dtype: Option<Type>,
    atype: Type,
    btype: Type,
    sat: bool,
}

impl Scope {
    fn of(form: Form) -> Scope {
        Scope { dtype: form.dtype(), atype: form.atype(), btype: form.btype(), sat: form.sat() }
    }

    /// The scopes that the forms of a mnemonic are in.
    fn all(mnemonic: Mnemonic) -> Vec<Scope> {
        let mut all = Vec::new();
        for scope in mnemonic.forms_with_default_selectors().map(Scope::of) {
            if !all.contains(&scope) {
                all.push(scope);
            }
        }
        all
    }
}

impl Mutant {
    /// The mutants of a mnemonic: each fault, and each deviation of ptxas's code that is missing.
    pub fn all(mnemonic: Mnemonic) -> Vec<Mutant> {
        let manual = faults(mnemonic).into_iter().map(Mutant::Manual);
        let deviations = Deviation::ALL
            .iter()
            .copied()
            .filter(|deviation| mnemonic.forms_with_default_selectors().any(|form| deviation.concerns(form)));
        let ptxas = deviations.map(|deviation| {
            // Those that only earlier releases have are missing in those.
            let is_new = Semantics::Ptxas.deviations().has(deviation);
            Mutant::Ptxas(if is_new { Semantics::Ptxas } else { Semantics::PtxasTo13_2 }, deviation)
        });
        manual.chain(ptxas).collect()
    }

    /// The mutants that are wrong in the forms of one scope only.
    pub fn narrow(mnemonic: Mnemonic) -> Vec<Mutant> {
        let scopes = Scope::all(mnemonic);
        let of = |fault| scopes.iter().map(move |&scope| Mutant::Narrow(fault, scope));
        faults(mnemonic).into_iter().flat_map(of).collect()
    }

    /// Whether a row tells it from the right evaluator.
    pub fn is_killed_by(self, row: &Row) -> bool {
        let [a, b, c] = row.inputs;
        match self {
            Mutant::Narrow(_, scope) if Scope::of(row.form) != scope => false,
            Mutant::Manual(fault) | Mutant::Narrow(fault, _) => evaluate(row.form, Some(fault), row.inputs) != row.d[0],
            Mutant::Ptxas(semantics, deviation) => {
                let column = Semantics::ALL.iter().position(|&other| other == semantics).unwrap_or_default();
                row.form.eval_by(semantics.deviations().without(deviation), a, b, c) != row.d[column]
            }
        }
    }

    /// Whether one of these rows of its mnemonic kills it.
    pub fn is_killed(self, rows: &[Row]) -> bool {
        rows.iter().any(|row| self.is_killed_by(row))
    }

    /// Why no input can tell it from the right evaluator, if that has been shown.
    pub fn why_equivalent(self, mnemonic: Mnemonic) -> Option<&'static str> {
        match self {
            Mutant::Manual(fault) | Mutant::Narrow(fault, _) => equivalent(mnemonic, fault),
            Mutant::Ptxas(_, deviation) => without_effect(mnemonic, deviation),
        }
    }

    /// The stage of the manual that it is wrong in; none for one of ptxas's code.
    pub fn stage(self) -> Option<Stage> {
        match self {
            Mutant::Manual(fault) | Mutant::Narrow(fault, _) => Some(fault.stage()),
            Mutant::Ptxas(..) => None,
        }
    }
}
