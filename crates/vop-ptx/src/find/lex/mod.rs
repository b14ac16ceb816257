//! From a file to the texts that its string literals form, and to its comments: a lexer for each language.
//!
//! No lexer fails. What it does not understand it steps over.

mod c;
mod escape;
mod joined;
mod llvm;
mod mlir;
mod others;
pub(super) mod ptx;
mod python;
mod rust;
mod text;

use std::ops::Range;

use super::embedded;
use super::language::Language;
use super::mapped::Mapped;
use super::placeholder::Dialect;
pub(super) use c::{Arguments, Facts};
use others::Kind;
pub(super) use text::Text;

/// All strings of a file.
pub(super) fn texts(source: &[u8], language: Language) -> Vec<Text> {
    match language {
        Language::Cuda | Language::OpenCl => c::texts(source),
        Language::Python => python::texts(source),
        Language::LlvmIr => llvm::texts(source),
        Language::Rust => rust::texts(source),
        Language::Mlir => mlir::texts(source),
        Language::Julia => others::texts(source, Kind::Julia),
        Language::Go => others::texts(source, Kind::Go),
        Language::D => others::texts(source, Kind::D),
        Language::Zig => others::texts(source, Kind::Zig),
        Language::Nim => others::texts(source, Kind::Nim),
        Language::Markdown | Language::JinjaCuda | Language::JinjaPtx => embedded::texts(source, language),
        Language::Ptx => vec![Text::new(Mapped::whole(source), Dialect::Ptx)],
    }
}

/// The comments of a file, in order, by their bytes. Comments inside string literals are not among them.
pub(super) fn comments(source: &[u8], language: Language) -> Vec<Range<usize>> {
    match language {
        Language::Cuda | Language::OpenCl => c::comments(source),
        Language::Python => python::comments(source),
        Language::LlvmIr => llvm::comments(source),
        Language::Rust => rust::comments(source),
        Language::Mlir => mlir::comments(source),
        Language::Julia => others::comments(source, Kind::Julia),
        Language::Go => others::comments(source, Kind::Go),
        Language::D => others::comments(source, Kind::D),
        Language::Zig => others::comments(source, Kind::Zig),
        Language::Nim => others::comments(source, Kind::Nim),
        Language::Markdown | Language::JinjaCuda | Language::JinjaPtx => embedded::comments(source, language),
        Language::Ptx => ptx::comments(source),
    }
}
