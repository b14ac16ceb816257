//! The proof that [`Form::divergence`] misses no form.
//!
//! Both semantics are written a second time as terms of bit-vector logic ([`vop::smt`]), and a solver is asked for an input that
//! separates them. Where `Form::separating` finds no input, the solver must answer `unsat`; a time-out or `unknown` is a failure.
//! Where it finds an input, nothing is left to prove, but the terms must have the two values on it that evaluation has: this compares
//! the terms with the stages of evaluation.

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
    /// Claims that the solver was asked about: one for each class of forms that differ only in the position of parts.
    pub questions: usize,
}

/// Proves, of all scalar forms, which of them two sets of deviations separate. The solver is asked about one in `every` of the classes that
/// it decides; 1 is a proof, and more a sample.
///
/// # Errors
/// A sentence on the first form that is misjudged or could not be decided, or on why the solver does not run.
pub fn prove(one: Deviations, other: Deviations, every: usize) -> Result<Proved, String> {
    let mut solver = Solver::start()?;
    let mut proved = Proved::default();
    let mut classes: BTreeMap<String, bool> = BTreeMap::new();
    let mut equal: Vec<Form> = Vec::new();
    let mut given: Vec<(Form, [u32; 3])> = Vec::new();
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
            None => equal.push(form),
            Some(inputs) => given.push((form, inputs)),
        }
    }
    let equal: Vec<Form> = equal.into_iter().step_by(every).collect();
    proved.questions = equal.len() + given.len();
    equal.chunks(EQUAL_AT_ONCE).try_for_each(|forms| solver.must_be_equal(forms, one, other))?;
    given.chunks(GIVEN_AT_ONCE).try_for_each(|cases| solver.must_give(cases, [one, other]))?;
    Ok(proved)
}

/// Forms of one query. Claims for all inputs are asked one by one, since z3 takes longer for several at once. Claims about constants
/// take no solving: what costs time is to hand a query over.
const EQUAL_AT_ONCE: usize = 1;
const GIVEN_AT_ONCE: usize = 64;

/// A name for all forms that read parts of the same sizes and write a part of the same size. The position of a part in its register
/// makes no difference: registers a, b and c are independent, and every value of a part is reached. `d.h1` is kept apart for
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

    /// Shows that no input separates two sets of deviations on some forms.
    ///
    /// # Errors
    /// If some input separates the two on one of them, or the solver cannot tell.
    pub fn must_be_equal(&mut self, forms: &[Form], one: Deviations, other: Deviations) -> Result<(), String> {
        let mut script = Script::new();
        let words = ["a", "b", "c"].map(|name| script.declare(name, 32));
        let mut equal = Vec::with_capacity(forms.len());
        for form in forms {
            let [given, wanted] = [one, other].map(|by| form.smt(by, &mut script, [&words[0], &words[1], &words[2]]));
            equal.push(Equal { name: "d".into(), given, wanted });
        }
        match (self.solver.prove(&Query::new(Claim::Readings, script, equal))?, forms) {
            (Verdict::Proved, _) => Ok(()),
            (Verdict::Refuted(case), [form]) => {
                Err(format!("{form}: an input separates the two, and none was found: {case}"))
            }
            (Verdict::Unknown(why), [form]) => Err(format!("{form}: the solver gives up ({why})")),
            // Each alone, to see which it is, or because together they take too long.
            _ => forms.iter().try_for_each(|&form| self.must_be_equal(&[form], one, other)),
        }
    }

    /// Shows that the terms give inputs of forms the values that evaluation gives them.
    ///
    /// # Errors
    /// If they do not.
    pub fn must_give(&mut self, cases: &[(Form, [u32; 3])], sets: [Deviations; 2]) -> Result<(), String> {
        let evaluated = |&(form, [a, b, c]): &(Form, [u32; 3])| sets.map(|set| form.eval_by(set, a, b, c));
        let values: Vec<[u32; 2]> = cases.iter().map(evaluated).collect();
        match (self.gives(cases, sets, &values)?, cases) {
            (true, _) => Ok(()),
            (false, [(form, inputs)]) => {
                Err(format!("{form} on {inputs:#x?}: evaluation and its transcription for the solver differ"))
            }
            (false, _) => cases.iter().try_for_each(|&case| self.must_give(&[case], sets)),
        }
    }

    /// Whether the terms give inputs of forms these values, one for each set of deviations.
    ///
    /// # Errors
    /// If the solver fails.
    pub fn gives(
        &mut self,
        cases: &[(Form, [u32; 3])],
        sets: [Deviations; 2],
        values: &[[u32; 2]],
    ) -> Result<bool, String> {
        let mut script = Script::new();
        let mut equal = Vec::new();
        for ((form, inputs), values) in cases.iter().zip(values) {
            let words = inputs.map(|word| format!("#x{word:08x}"));
            for (by, value) in sets.into_iter().zip(values) {
                let given = form.smt(by, &mut script, [&words[0], &words[1], &words[2]]);
                equal.push(Equal { name: "d".into(), given, wanted: format!("#x{value:08x}") });
            }
        }
        match self.solver.prove(&Query::new(Claim::Readings, script, equal))? {
            Verdict::Proved => Ok(true),
            Verdict::Refuted(_) => Ok(false),
            Verdict::Unknown(why) => Err(format!("the solver gives up on constants ({why})")),
        }
    }
}
