//! Drawings for terminals: diagnostics under the text that they are about, and the stages of an instruction lane by lane.
//!
//! Drawings are text with ANSI escape sequences for bold, dim and colour. Crates such as `anstream` remove them where they are
//! not wanted. Functions that end in `_within` draw for a given number of columns, the others for 80.
//!
//! ```
//! let text = "vmin4.u32.u32.u32 d.b00, a, b, c";
//! let faults = vop::parse(text).unwrap_err();
//! assert!(vop_draw::diagnostics(&faults, text).contains("vmin4.u32.u32.u32 d.b00, a, b, c"));
//!
//! let form: vop::Form = "vadd4.s32.s32.s32.sat".parse().unwrap();
//! let trace = form.explain(0x7f, 1, 0);
//! assert!(vop_draw::explanation(&trace, [vop::interval::OperandValue::Free; 3]).contains("↓127"));
//! ```
#![deny(unsafe_code)]

mod diagnostic;
mod explanation;

pub use diagnostic::{Drawing, LineRange, Lines, SourceText, diagnostic, diagnostic_within, diagnostics};
pub use explanation::{code, code_within, explanation, explanation_within, stages};

/// A text broken between words into lines of at most `width` characters; a longer word has a line of its own.
pub fn wrapped(text: &str, width: usize) -> String {
    let mut lines = vec![String::new()];
    for word in text.split(' ') {
        let line = lines.last().map_or(0, |line| line.chars().count());
        if line > 0 && line + 1 + word.chars().count() > width {
            lines.push(String::new());
        }
        if let Some(line) = lines.last_mut() {
            if !line.is_empty() {
                line.push(' ');
            }
            line.push_str(word);
        }
    }
    lines.join("\n")
}
