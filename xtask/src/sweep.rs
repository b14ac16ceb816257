//! Compares the code that ptxas emits with the library, on many forms and inputs.

use std::collections::BTreeMap;
use std::fmt::Write;

use vop::{Form, Mnemonic, Semantics, scalar_forms};
use vop_tests::{HASHED, Random, edge_rows};

use crate::sass::Toolchain;

/// What is compared.
#[derive(Debug, Clone)]
pub struct Sweep {
    /// The GPU that machine code is made for.
    pub target: String,
    /// The semantics that the code is compared with.
    pub semantics: Semantics,
    /// Rows of inputs for each form.
    pub inputs: usize,
    /// Chooses the inputs, and the SIMD forms.
    pub seed: u64,
}

/// The counts and the first disagreements of a sweep.
#[derive(Debug, Clone, Default)]
pub struct Outcome {
    /// Forms that were compiled and run.
    pub forms: usize,
    /// Those that agree on every row.
    pub agree: usize,
    /// Forms whose code disagrees with the manual on some row.
    pub unlike_manual: usize,
    /// The first disagreements, each in a line.
    pub disagreements: Vec<String>,
}

/// Forms of one call of ptxas.
const BATCH: usize = 1000;

impl Sweep {
    /// Compiles and runs forms and compares them; `progress` is told the number done after each batch.
    ///
    /// # Errors
    /// If ptxas refuses a form, or its code has an instruction that the simulator does not know.
    pub fn run(
        &self,
        toolchain: &Toolchain,
        forms: impl Iterator<Item = Form>,
        mut progress: impl FnMut(usize),
    ) -> Result<Outcome, String> {
        let rows = edge_rows(&mut Random(self.seed), self.inputs);
        let mut outcome = Outcome::default();
        results(toolchain, &self.target, forms, &rows, |form, results| {
            let expected = rows.iter().map(|&[a, b, c]| form.eval_as(self.semantics, a, b, c));
            let difference = rows.iter().zip(expected).zip(results).find(|((_, expected), result)| expected != *result);
            match difference {
                None => outcome.agree += 1,
                Some(((row, expected), result)) if outcome.disagreements.len() < 20 => outcome.disagreements.push(
                    format!("{form} on {row:#x?}: the code gives {result:#010x}, {} {expected:#010x}", self.semantics),
                ),
                Some(_) => {}
            }
            let manual = rows.iter().map(|&[a, b, c]| form.eval(a, b, c));
            outcome.unlike_manual += usize::from(manual.ne(results.iter().copied()));
            outcome.forms += 1;
            if outcome.forms.is_multiple_of(BATCH) {
                progress(outcome.forms);
            }
        })?;
        Ok(outcome)
    }
}

/// Scalar forms, each taken with a chance of one in `count`.
pub fn one_in(seed: u64, count: u64) -> impl Iterator<Item = Form> {
    // Each operand has seven selectors: a stride would take some of them more often.
    let mut random = Random(seed);
    scalar_forms().filter(move |_| random.next().is_multiple_of(count))
}

/// Random SIMD forms, the same number of each mnemonic. Forms with the selector that ptxas cannot read are left out.
pub fn simd_forms(seed: u64, count: usize) -> Vec<Form> {
    let mut random = Random(seed);
    let mnemonics: Vec<Mnemonic> = Mnemonic::ALL.into_iter().filter(|mnemonic| mnemonic.shape().is_simd()).collect();
    let mut forms = Vec::with_capacity(count);
    while forms.len() < count {
        let all = mnemonics[forms.len() % mnemonics.len()].forms();
        let form = all.get(random.next() % all.count_left());
        forms.extend(form.filter(|form| vop::parse(&form.to_string()).is_ok()));
    }
    forms
}

/// The lines of `tests/golden/ptxas-hashes.tsv`: for each opcode of scalar forms, with all its selectors, a hash of what the
/// code computes.
///
/// # Errors
/// As [`Sweep::run`].
pub fn hashes(toolchain: &Toolchain, target: &str, mut progress: impl FnMut(usize)) -> Result<String, String> {
    let (seed, count) = HASHED;
    let rows = edge_rows(&mut Random(seed), count);
    let mut by_opcode: BTreeMap<String, Vec<u32>> = BTreeMap::new();
    let mut done = 0;
    results(toolchain, target, scalar_forms(), &rows, |form, results| {
        by_opcode.entry(form.opcode().to_string()).or_default().extend(results);
        done += 1;
        if done % BATCH == 0 {
            progress(done);
        }
    })?;
    let mut text = String::from("opcode\tforms\thash\n");
    for (opcode, results) in by_opcode {
        // Writing to a String does not fail.
        let _ = writeln!(text, "{opcode}\t{}\t{:016x}", results.len() / count, vop_tests::fnv1a(results));
    }
    Ok(text)
}

/// Gives each form the results of its code on all rows.
fn results(
    toolchain: &Toolchain,
    target: &str,
    forms: impl Iterator<Item = Form>,
    rows: &[[u32; 3]],
    mut sink: impl FnMut(Form, &[u32]),
) -> Result<(), String> {
    let mut forms = forms.peekable();
    while forms.peek().is_some() {
        let batch: Vec<Form> = forms.by_ref().take(BATCH).collect();
        let texts: Vec<String> = batch.iter().map(Form::to_string).collect();
        let codes = toolchain.compile(&texts, target).map_err(|error| error.to_string())?;
        for (form, code) in batch.into_iter().zip(codes) {
            let results: Result<Vec<u32>, _> = rows.iter().map(|&[a, b, c]| code.run(a, b, c)).collect();
            sink(form, &results.map_err(|error| format!("{form}: {error}"))?);
        }
    }
    Ok(())
}
