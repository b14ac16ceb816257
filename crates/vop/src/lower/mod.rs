//! Lowering: the same value from base instructions, in fewer machine instructions than ptxas spends.
//!
//! ```text
//! Form ──rules──► Candidates ──resolve──► Sequences of base instructions ──cost──► the cheapest
//!                  proved for all selectors      printed as PTX, evaluated, given to a solver
//! ```
//!
//! - [`base`] is the table of base instructions: what each computes, where there is one, its text and its term.
//! - [`simd`] and [`scalar`] hold the rules. A rule is a function that writes, with a [`Builder`], the steps of one way to
//!   compute a form, or says that it does not apply. Rules know nothing of selectors and merges.
//! - [`resolve`] puts selectors, masks and merges in.
//! - [`cost`] counts the machine instructions that ptxas makes of a sequence.
//!
//! Which instruction is cheapest depends on the target; what it computes never does.

pub mod base;
mod candidate;
mod cost;
mod proof;
mod resolve;
mod scalar;
mod sequence;
mod simd;

use alloc::borrow::ToOwned;
use alloc::collections::BTreeMap;
use alloc::format;
use alloc::string::{String, ToString};
use alloc::vec::Vec;

pub use base::{Needs, Op, Sort};
pub use candidate::Builder;
pub use candidate::{Candidate, Cut, Output, Pick, Place, Placement, Step, Value};
pub use proof::{Claim, Equal, Malformed, Query};
pub use sequence::Sequence;

use crate::cost::Target;
use crate::isa::form::Form;
use crate::semantics::Semantics;
use crate::text::{Instruction, Operand};

/// What a lowering is made for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct LowerOptions {
    /// The GPU.
    pub target: Target,
    /// Whose value of d is to be computed.
    pub semantics: Semantics,
    /// The greatest PTX version that may be used: the module's `.version`, or greater if it may be raised.
    pub version: (u8, u8),
    /// Whether an instruction may stay as it is where ptxas spends no more on it.
    pub may_keep: bool,
}

impl LowerOptions {
    /// The manual's semantics, any PTX version, and instructions stay where they are cheapest.
    pub const fn new(target: Target) -> LowerOptions {
        LowerOptions { target, semantics: Semantics::Isa, version: (u8::MAX, u8::MAX), may_keep: true }
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
    /// assert_eq!(lowering.lines(["d", "a", "b", "c"]), ["add.sat.s8x4 d, a, b"]);
    /// ```
    pub fn lower(self, options: LowerOptions) -> Lowering {
        let best = self.choices(options).into_iter().min_by_key(|choice| (choice.cost, choice.sequence.steps.len()));
        let kept = Lowering { form: self, rule: "keep", sequence: None, cost: self.cost(options.target) };
        match best {
            Some(best) if !self.may_stay(options) || best.cost < kept.cost => {
                Lowering { form: self, rule: best.candidate.rule, sequence: Some(best.sequence), cost: best.cost }
            }
            _ => kept,
        }
    }

    /// Whether the instruction may stay as it is: ptxas's code computes what is asked for.
    fn may_stay(self, options: LowerOptions) -> bool {
        let wanted = options.semantics.deviations();
        let computed = Semantics::Ptxas.deviations();
        options.may_keep && self.separating(wanted, computed, [crate::divergence::Source::Free; 3]).is_none()
    }

    /// All that the rules know for a form, on a target and up to a PTX version.
    pub fn choices(self, options: LowerOptions) -> Vec<Choice> {
        let mut choices: Vec<Choice> = Vec::new();
        for candidate in self.candidates(options) {
            for sequence in resolve::resolve(&candidate, self, options.target) {
                let needs = sequence.needs();
                if needs.met_by(options.target)
                    && needs.version <= options.version
                    && !choices.iter().any(|choice| choice.sequence == sequence)
                {
                    let cost = cost::cost(&sequence, options.target);
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

/// Whether a target has `vabsdiff4` in one instruction.
pub(crate) fn has_native_absdiff(target: Target) -> bool {
    target.number() < 107
}

impl Lowering {
    /// The instructions as lines without semicolons, for registers of these names for d, a, b and c, and new ones named `t1`,
    /// `q1`, `p1`, `h1` and so on by their sort. If the instruction stays, it alone.
    pub fn lines(&self, names: [&str; 4]) -> Vec<String> {
        match &self.sequence {
            Some(sequence) => sequence.ptx(names, Names::default().fresh("")),
            None => Vec::from([self.form.to_string()]),
        }
    }

    /// The instruction written as a block that declares the registers it needs and uses the operands that the instruction
    /// names: `{ .reg .b32 t<3>; …; }`. `None` if it stays as it is.
    ///
    /// A guard stands before the one line that writes d. The block is many lines without indentation or a newline at its end.
    pub fn block(&self, instruction: &Instruction<'_>) -> Option<String> {
        let mut sequence = self.sequence.clone()?;
        let guard = instruction.guard.map(|guard| guard.predicate);
        let outer: Vec<&str> = [
            Some(instruction.d),
            instruction.a.register(),
            instruction.b.register(),
            instruction.c.and_then(Operand::register),
            guard,
        ]
        .into_iter()
        .flatten()
        .collect();
        // In a block a name may be declared again, and would then hide an operand.
        let hides = |prefix: &str| {
            outer.iter().any(|name| {
                let rest = name.strip_prefix(prefix).and_then(|name| name.strip_prefix(['t', 'q', 'p', 'h']));
                rest.is_some_and(|number| number.bytes().all(|byte| byte.is_ascii_digit()))
            })
        };
        let mut prefix = String::new();
        while hides(&prefix) {
            prefix.push_str("v_");
        }
        let mut names = Names::default();
        let mut lines: Vec<String> = Vec::new();
        let mut words = ["".to_string(), "".to_string(), "".to_string()];
        let operands = [Some(instruction.a), Some(instruction.b), instruction.c];
        for ((word, operand), value) in words.iter_mut().zip(operands).zip([Value::A, Value::B, Value::C]) {
            match operand {
                Some(Operand::Register(name)) => *word = name.to_owned(),
                Some(Operand::Immediate { value: constant, .. }) => sequence = sequence.with(value, constant),
                Some(Operand::Sum { register, addend }) if sequence.reads(value) => {
                    *word = names.fresh(&prefix)(Sort::Word);
                    lines.push(format!("add.u32 {word}, {register}, {addend}"));
                }
                Some(Operand::Sum { .. }) | None => {}
            }
        }
        let [a, b, c] = &words;
        lines.extend(sequence.ptx([instruction.d, a, b, c], names.fresh(&prefix)));
        if let (Some(guard), Some(last)) = (instruction.guard, lines.last_mut()) {
            *last = format!("{guard} {last}");
        }
        let mut text = String::from("{\n");
        for (sort, count) in &names.counts {
            text.push_str(&format!(".reg {} {prefix}{}<{}>;\n", sort.register_type(), letter(*sort), count + 1));
        }
        for line in &lines {
            text.push_str(line);
            text.push_str(";\n");
        }
        text.push('}');
        Some(text)
    }
}

/// The numbers of registers given away, by sort.
#[derive(Debug, Default)]
struct Names {
    counts: BTreeMap<Sort, u32>,
}

impl Names {
    fn fresh(&mut self, prefix: &str) -> impl FnMut(Sort) -> String {
        move |sort| {
            let count = self.counts.entry(sort).or_default();
            *count += 1;
            format!("{prefix}{}{count}", letter(sort))
        }
    }
}

/// What the names of registers of a sort begin with.
fn letter(sort: Sort) -> char {
    match sort {
        Sort::Predicate => 'p',
        Sort::Half => 'h',
        Sort::Word => 't',
        Sort::Long => 'q',
    }
}
