//! [`Form`] from text.

use alloc::vec::Vec;
use core::str::FromStr;

use super::parse::Parser;
use crate::diagnostic::Diagnostic;
use crate::isa::form::Form;

/// Reads an instruction text, with or without operands; their names do not matter.
impl FromStr for Form {
    type Err = Vec<Diagnostic>;

    fn from_str(text: &str) -> Result<Form, Vec<Diagnostic>> {
        Parser::for_forms().parse(text).map(|instruction| instruction.form)
    }
}
