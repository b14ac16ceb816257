//! From a file to the texts that its string literals form, a lexer a language.
//!
//! A text is what the compiler would see as one string: adjacent literals are joined. No lexer fails: what it does not
//! understand it steps over.

mod c;
mod escape;
mod llvm;
mod python;
mod rust;

use super::language::Language;
use super::mapped::Mapped;
use super::placeholder::Dialect;

/// One string of the program.
pub(super) struct Text {
    pub(super) mapped: Mapped,
    pub(super) dialect: Dialect,
}

/// All strings of a file.
pub(super) fn texts(source: &[u8], language: Language) -> Vec<Text> {
    match language {
        Language::Cuda | Language::OpenCl => c::texts(source),
        Language::Python => python::texts(source),
        Language::LlvmIr => llvm::texts(source),
        Language::Rust => rust::texts(source),
        Language::Ptx => vec![Text { mapped: Mapped::whole(source), dialect: Dialect::Ptx }],
    }
}
