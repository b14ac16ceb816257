//! Rules for scalar forms.

use alloc::vec::Vec;

use super::LowerOptions;
use super::candidate::Candidate;
use crate::isa::form::Form;

/// What the rules write for a form.
pub(super) fn candidates(_: Form, _: LowerOptions) -> Vec<Candidate> {
    Vec::new()
}
