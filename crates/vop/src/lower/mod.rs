//! Lowering: the same value from base instructions, in fewer machine instructions than ptxas spends.
//!
//! ```text
//! Form ──rules──► Candidates ──resolve──► Sequences of base instructions ──cost──► the cheapest
//!                  proved for all selectors      printed as PTX, evaluated, given to a solver
//! ```
//!
//! - [`Op`] is the table of base instructions: what each computes, where there is one, its text and its term.
//! - `simd` and `scalar` hold the rules. A rule is a function that writes, with a [`Builder`], the steps of one way to
//!   compute a form, or says that it does not apply. Rules know nothing of selectors and merges.
//! - `resolve` puts selectors, masks and merges in.
//! - `cost` counts the machine instructions that ptxas makes of a sequence.
//!
//! Which instruction is cheapest depends on the target; what it computes never does.

mod base;
mod block;
mod candidate;
mod cost;
mod proof;
mod resolve;
mod scalar;
mod sequence;
mod simd;

use alloc::vec::Vec;

pub use base::{Needs, Op, PackedOp, Sort};
pub use block::Block;
pub use candidate::{Builder, BytePlace, Candidate, Cut, Output, Pick, Placement, Step, Value};
pub use proof::{Claim, Equal, Malformed, Query};
pub use sequence::Sequence;

use crate::isa::form::Form;
use crate::semantics::Semantics;
use crate::target::{ModuleTarget, Target};

/// What a lowering is made for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub struct LowerOptions {
    /// The GPU.
    pub target: Target,
    /// Whose value of d is to be computed.
    pub semantics: Semantics,
    /// The greatest PTX version that may be used: the module's `.version`, or greater if it may be raised.
    pub version: (u8, u8),
    /// The module's `.target`, if it is not to be raised: it must allow what is used.
    pub module: Option<ModuleTarget>,
    /// Whether the carry flag may be written: no instruction behind reads what one before it wrote.
    pub may_write_carry: bool,
    /// Whether an instruction may stay as it is where ptxas spends no more on it.
    pub may_keep: bool,
}

impl LowerOptions {
    /// The manual's semantics, any PTX version and all that the target has, and instructions stay where they are cheapest.
    pub const fn new(target: Target) -> LowerOptions {
        LowerOptions {
            target,
            semantics: Semantics::Isa,
            version: (u8::MAX, u8::MAX),
            module: None,
            may_write_carry: true,
            may_keep: true,
        }
    }

    /// With other semantics.
    #[must_use]
    pub const fn with_semantics(mut self, semantics: Semantics) -> LowerOptions {
        self.semantics = semantics;
        self
    }

    /// With a greatest PTX version.
    #[must_use]
    pub const fn with_version(mut self, version: (u8, u8)) -> LowerOptions {
        self.version = version;
        self
    }

    /// With a module's `.target`, which must allow what is used.
    #[must_use]
    pub const fn with_module(mut self, module: Option<ModuleTarget>) -> LowerOptions {
        self.module = module;
        self
    }

    /// With or without instructions that write the carry flag.
    #[must_use]
    pub const fn with_carry(mut self, may_write_carry: bool) -> LowerOptions {
        self.may_write_carry = may_write_carry;
        self
    }

    /// With or without instructions that stay as they are.
    #[must_use]
    pub const fn with_keeping(mut self, may_keep: bool) -> LowerOptions {
        self.may_keep = may_keep;
        self
    }
}

/// The best way found to compute a form.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Lowering {
    /// The form.
    pub form: Form,
    /// The rule, or `keep`.
    pub rule: &'static str,
    /// The base instructions; `None` if the instruction stays as it is.
    pub sequence: Option<Sequence>,
    /// How many machine instructions ptxas 13.5 makes of it, counted as [`Form::cost`] counts.
    pub cost: u32,
    /// Whether it computes d in the semantics asked for. False only where the instruction stays although ptxas's code computes
    /// something else, as no rule applies under the options.
    pub exact: bool,
}

/// A candidate and the base instructions that it becomes for the form and target that it was asked for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Choice {
    /// The candidate: what is proved.
    pub candidate: Candidate,
    /// What is written.
    pub sequence: Sequence,
    /// How many machine instructions that is.
    pub cost: u32,
}

impl Form {
    /// The cheapest lowering that the rules know.
    ///
    /// ```
    /// use vop::lower::LowerOptions;
    /// let form: vop::Form = "vadd4.s32.s32.s32.sat d, a, b, c".parse().unwrap();
    /// let lowering = form.lower(LowerOptions::new("sm_120f".parse().unwrap()));
    /// assert_eq!((lowering.cost, form.cost("sm_120f".parse().unwrap())), (1, 45));
    /// assert_eq!(lowering.sequence.unwrap().lines(), ["add.sat.s8x4 d, a, b"]);
    /// ```
    pub fn lower(self, options: LowerOptions) -> Lowering {
        let best = self.choices(options).into_iter().min_by_key(|choice| (choice.cost, choice.sequence.steps.len()));
        let (cost, exact) = (self.cost(options.target), self.may_stay(options));
        match best {
            Some(best) if !exact || best.cost < cost || !options.may_keep => {
                let Choice { candidate, sequence, cost } = best;
                Lowering { form: self, rule: candidate.rule, sequence: Some(sequence), cost, exact: true }
            }
            _ => Lowering { form: self, rule: "keep", sequence: None, cost, exact },
        }
    }

    /// Whether the instruction computes what is asked for if it stays as it is: ptxas's code does. Where the manual's result is asked for, the
    /// code of every release must, as the driver of a GPU brings its own (seen on an H200 whose driver was one of CUDA 13.0).
    fn may_stay(self, options: LowerOptions) -> bool {
        let wanted = options.semantics.deviations();
        let releases: &[Semantics] = match options.semantics {
            Semantics::Isa => &[Semantics::Ptxas, Semantics::PtxasTo13_2],
            _ => &[Semantics::Ptxas],
        };
        let free = [crate::interval::OperandValue::Free; 3];
        releases.iter().all(|release| self.separating(wanted, release.deviations(), free).is_none())
    }

    /// All that the rules know for a form, on a target and up to a PTX version.
    pub fn choices(self, options: LowerOptions) -> Vec<Choice> {
        let mut choices: Vec<Choice> = Vec::new();
        for candidate in self.candidates(options) {
            for sequence in resolve::resolve(&candidate, self, options.target) {
                if options.permits(&sequence) && !choices.iter().any(|choice| choice.sequence == sequence) {
                    let cost = sequence.cost(options.target);
                    choices.push(Choice { candidate: candidate.clone(), sequence, cost });
                }
            }
        }
        choices
    }

    /// What the rules write for a form; a candidate may use what the target lacks.
    pub fn candidates(self, options: LowerOptions) -> Vec<Candidate> {
        match self.mnemonic().shape().is_simd() {
            true => simd::candidates(self, options),
            false => scalar::candidates(self, options),
        }
    }
}

impl Candidate {
    /// The sequences that it becomes when the form's selectors, mask and merge are put in. All compute the same. They may hold base
    /// instructions that the target lacks, if the candidate does.
    pub fn sequences(&self, form: Form, target: Target) -> Vec<Sequence> {
        resolve::resolve(self, form, target)
    }
}

/// Whether a target has `vabsdiff4` in one instruction.
pub(crate) fn has_native_absdiff(target: Target) -> bool {
    target.number() < 120
}
