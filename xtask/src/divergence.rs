//! The proof that [`Form::divergence`] misses no form.
//!
//! Both semantics are written down once more, as terms of bit-vector logic ([`vop::smt`]), and a solver is asked for an input
//! that separates them. Where `Form::separating` finds an input there is nothing to prove (but the terms must give that input the
//! same two values: they are a second witness of the stages, and this is where they are held against the first). Where it finds
//! none the solver must answer `unsat`; a time-out or `unknown` is a failure.

use std::collections::BTreeMap;

use vop::interval::OperandValue;
use vop::lower::{Claim, Equal, Query};
use vop::smt::Script;
use vop::{Deviations, Form, scalar_forms};
use vop_prove::Verdict;

/// What a proof found.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Proved {
    /// Forms that some input separates.
    pub separated: usize,
    /// Forms that no input separates.
    pub equal: usize,
    /// Questions that the solver was asked: one for each class of forms that differ only in where parts lie.
    pub questions: usize,
}

/// Proves, of all scalar forms, which of them two sets of deviations separate.
///
/// # Errors
/// A sentence on the first form that is misjudged or could not be decided, or on why the solver does not run.
pub fn prove(one: Deviations, other: Deviations) -> Result<Proved, String> {
    let mut solver = Solver::start()?;
    let mut proved = Proved::default();
    let mut classes: BTreeMap<String, bool> = BTreeMap::new();
    for form in scalar_forms() {
        let separating = form.separating(one, other, [OperandValue::Free; 3]);
        *if separating.is_some() { &mut proved.separated } else { &mut proved.equal } += 1;
        let class = class(form);
        match classes.get(&class) {
            Some(&separated) if separated == separating.is_some() => continue,
            Some(_) => {
                return Err(format!("{form} is judged otherwise than forms that differ only in where parts lie"));
            }
            None => classes.insert(class, separating.is_some()),
        };
        match separating {
            // Both are the same code on such a form.
            None if one.concerning(form) == other.concerning(form) => continue,
            None => solver.must_be_equal(form, one, other)?,
            Some(inputs) => solver.must_give(form, inputs, [one, other])?,
        }
        proved.questions += 1;
    }
    Ok(proved)
}

/// A name for all forms that read parts of the same sizes and write one of the same size. Where a part lies in its register
/// decides nothing: registers a, b and c are independent, and every value of a part is reached. `d.h1` is kept apart for
/// [`Deviation::MergesWrongHalf`](vop::Deviation::MergesWrongHalf).
pub(crate) fn class(form: Form) -> String {
    let mut text = form.to_string();
    for part in ["b1", "b2", "b3"] {
        text = text.replace(&format!(".{part},"), ".b0,");
    }
    text.replace("a.h1,", "a.h0,").replace("b.h1,", "b.h0,")
}

/// A running solver.
pub struct Solver {
    solver: vop_prove::Solver,
}

impl Solver {
    /// Starts z3.
    ///
    /// # Errors
    /// A sentence that says what to install.
    pub fn start() -> Result<Solver, String> {
        Ok(Solver { solver: vop_prove::Solver::start(vop_prove::Solver::TIMEOUT)? })
    }

    /// Shows that no input separates two sets of deviations on a form.
    ///
    /// # Errors
    /// If some input separates the two, or the solver cannot tell.
    pub fn must_be_equal(&mut self, form: Form, one: Deviations, other: Deviations) -> Result<(), String> {
        let mut script = Script::new();
        let words = ["a", "b", "c"].map(|name| script.declare(name, 32));
        let [given, wanted] = [one, other].map(|by| form.smt(by, &mut script, [&words[0], &words[1], &words[2]]));
        let equal = vec![Equal { name: "d".into(), given, wanted }];
        match self.solver.prove(&Query::new(Claim::Readings, script, equal))? {
            Verdict::Proved => Ok(()),
            Verdict::Refuted(case) => Err(format!("{form}: an input separates the two, and none was found: {case}")),
            Verdict::Unknown(why) => Err(format!("{form}: the solver gives up ({why})")),
        }
    }

    /// Shows that the terms give an input the values that evaluation gives it.
    ///
    /// # Errors
    /// If they do not.
    pub fn must_give(&mut self, form: Form, inputs: [u32; 3], sets: [Deviations; 2]) -> Result<(), String> {
        let [a, b, c] = inputs;
        match self.gives(form, inputs, sets, sets.map(|set| form.eval_by(set, a, b, c)))? {
            true => Ok(()),
            false => Err(format!("{form} on {inputs:#x?}: evaluation and its transcription for the solver differ")),
        }
    }

    /// Whether the terms give an input these values.
    ///
    /// # Errors
    /// If the solver fails.
    pub fn gives(
        &mut self,
        form: Form,
        inputs: [u32; 3],
        sets: [Deviations; 2],
        values: [u32; 2],
    ) -> Result<bool, String> {
        let mut script = Script::new();
        let words = inputs.map(|word| format!("#x{word:08x}"));
        let mut equal = Vec::new();
        for (by, value) in sets.into_iter().zip(values) {
            let given = form.smt(by, &mut script, [&words[0], &words[1], &words[2]]);
            equal.push(Equal { name: "d".into(), given, wanted: format!("#x{value:08x}") });
        }
        match self.solver.prove(&Query::new(Claim::Readings, script, equal))? {
            Verdict::Proved => Ok(true),
            Verdict::Refuted(_) => Ok(false),
            Verdict::Unknown(why) => Err(format!("{form}: the solver gives up ({why})")),
        }
    }
}
