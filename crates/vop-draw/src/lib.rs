//! Drawings for terminals: diagnostics under the text that they are about, and the stages of an instruction lane by lane.
//!
//! Drawings are text with ANSI escape sequences for bold, dim and colour. [`plain`] removes them, as do crates such as
//! `anstream`. Functions that end in `_within` draw for a given number of columns, the others for 80.
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
pub mod html;
pub mod mnemonic;
mod rows;

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

/// A drawing without its escape sequences, for places that show text as it is.
///
/// ```
/// assert_eq!(vop_draw::plain("\x1b[1mvadd4\x1b[0m d, a, b, c"), "vadd4 d, a, b, c");
/// ```
pub fn plain(drawing: &str) -> String {
    let mut text = String::with_capacity(drawing.len());
    let mut parts = drawing.split("\x1b[");
    text.extend(parts.next());
    for part in parts {
        // Parameters, then the letter that ends the sequence.
        let end = part.find(|c: char| c.is_ascii_alphabetic()).map_or(part.len(), |letter| letter + 1);
        text.push_str(&part[end..]);
    }
    text
}
