//! The list of all queries.

use std::collections::{HashMap, HashSet};

use vop::isa::types::{Part, Selector};
use vop::lower::{Candidate, LowerOptions, Malformed, Query};
use vop::{Deviations, Form, Mnemonic, Semantics, Target, scalar_forms};

use crate::Hash;

/// The targets that lowering is made for.
pub const TARGETS: [&str; 9] = ["sm_75", "sm_80", "sm_86", "sm_89", "sm_90", "sm_100", "sm_103", "sm_120", "sm_120f"];

/// A query, and the form and rule that it comes from first.
#[derive(Debug, Clone)]
pub struct Item {
    /// The form.
    pub form: Form,
    /// Whether d is that of the manual or of ptxas's code.
    pub semantics: Semantics,
    /// The rule that wrote the candidate.
    pub rule: &'static str,
    /// The query's hash.
    pub hash: Hash,
    /// The query.
    pub query: Query,
}

/// Queries that are collected, each once.
#[derive(Default)]
struct Collected {
    /// Candidates whose queries have been collected, with the form and the deviations that also decide the query.
    seen: HashSet<(Form, Deviations, Candidate)>,
    hashes: HashMap<Hash, usize>,
    items: Vec<Item>,
}

impl Collected {
    fn add(&mut self, form: Form, semantics: Semantics, target: Target) -> Result<(), String> {
        let by = semantics.deviations().concerning(form);
        let options = LowerOptions::new(target).with_semantics(semantics);
        for candidate in form.candidates(options) {
            if !self.seen.insert((form, by, candidate.clone())) {
                continue;
            }
            let queries = candidate.queries(form, by).map_err(|Malformed(why)| {
                format!("the rule `{}` wrote for {form} on {target} what means nothing: {why}", candidate.rule)
            })?;
            for query in queries {
                let hash = Hash::of(&query);
                self.hashes.entry(hash).or_insert_with(|| {
                    self.items.push(Item { form, semantics, rule: candidate.rule, hash, query });
                    self.items.len() - 1
                });
            }
        }
        Ok(())
    }
}

/// All queries of all candidates, on all targets and in all semantics, each once. SIMD forms have default selectors, on which
/// queries do not depend; scalar forms have one part of each size.
///
/// # Errors
/// A sentence that names a rule whose candidate is malformed.
pub fn everything() -> Result<Vec<Item>, String> {
    let targets: Vec<Target> = TARGETS.iter().filter_map(|name| name.parse().ok()).collect();
    let mut collected = Collected::default();
    let simd = Mnemonic::ALL.into_iter().filter(|mnemonic| mnemonic.shape().is_simd());
    let first = |selector| matches!(selector, Selector::Word | Selector::Part(Part::B0 | Part::H0));
    let scalar = scalar_forms().filter(|form| first(form.asel()) && first(form.bsel()));
    for form in scalar.chain(simd.flat_map(Mnemonic::forms_with_default_selectors)) {
        let mut known: Vec<Deviations> = Vec::new();
        for semantics in Semantics::ALL {
            // Where two semantics agree, the rules write the same.
            let by = semantics.deviations().concerning(form);
            if known.contains(&by) {
                continue;
            }
            known.push(by);
            for &target in &targets {
                collected.add(form, semantics, target)?;
            }
        }
    }
    Ok(collected.items)
}

/// The queries of all candidates of one form.
///
/// # Errors
/// The errors of [`everything`].
pub fn of_form(form: Form, semantics: Semantics, target: Target) -> Result<Vec<Item>, String> {
    let mut collected = Collected::default();
    collected.add(form, semantics, target)?;
    Ok(collected.items)
}
