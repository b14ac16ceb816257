//! The names of functions.

use vop::Form;
use vop::Semantics;

/// A name that tells the form: `vadd4_u32_s32_s32_sat_d_b10` for `vadd4.u32.s32.s32.sat d.b10, a, b, c`.
///
/// It is an identifier in every language: letters, digits and single underscores. Two forms have two names, and so have two
/// semantics of one form.
pub fn name(form: Form, semantics: Semantics) -> String {
    let text = form.to_string();
    let (opcode, operands) = text.split_once(' ').unwrap_or((&text, ""));
    let mut name = opcode.replace('.', "_");
    for operand in operands.split(", ") {
        let (minus, operand) = match operand.strip_prefix('-') {
            Some(operand) => (true, operand),
            None => (false, operand),
        };
        let (register, selector) = operand.split_once('.').map_or((operand, None), |(of, part)| (of, Some(part)));
        if minus {
            name.push_str("_minus");
        }
        if minus || selector.is_some() {
            name.push('_');
            name.push_str(register);
        }
        if let Some(selector) = selector {
            name.push('_');
            name.push_str(selector);
        }
    }
    match semantics {
        Semantics::Isa => {}
        other => {
            name.push('_');
            name.extend(other.to_string().chars().map(|c| if c.is_ascii_alphanumeric() { c } else { '_' }));
        }
    }
    name
}
