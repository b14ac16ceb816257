//! Rules for forms on half-words and bytes.

mod packed;

use alloc::vec::Vec;

use super::LowerOptions;
use super::candidate::{Builder, Candidate, Placement, Written, in_place};
use crate::isa::form::Form;

/// A rule: writes the steps of one way to compute a form, or says that it does not apply.
type Rule = fn(&mut Builder) -> Written;

/// All of them, by name.
const RULES: [(&str, Rule); 1] = [("packed add", packed::add_sub)];

/// What the rules write for a form.
pub(super) fn candidates(form: Form, _: LowerOptions) -> Vec<Candidate> {
    let mut candidates = Vec::new();
    for placement in placements(form) {
        for (name, rule) in RULES {
            let mut builder = Builder::new(form, placement);
            if let Ok(output) = rule(&mut builder) {
                candidates.push(builder.finish(name, output));
            }
        }
    }
    candidates
}

/// Where lanes may be computed: in place, or where the inputs already stand.
fn placements(form: Form) -> Vec<Placement> {
    Vec::from([in_place(form)])
}
