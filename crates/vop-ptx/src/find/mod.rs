//! Finds video instructions in source code: in CUDA C++, OpenCL, Python, LLVM IR, MLIR, Rust, Julia, Go, D, Zig and Nim, in Markdown's
//! code blocks and in templates.
//!
//! Programs write PTX inside string literals, so the finder goes from the file inwards, and each step is a module:
//!
//! ```text
//! source ──prefilter──► lex/ ──► Mapped text ──placeholder──► PTX text ──statement──► Found
//!          no mnemonic?  the literals that form one        %% %[x] $0 {x}
//!          then nothing  text, escapes decoded
//! ```
//!
//! Every byte of a text knows the place of the user's file that it came from ([`Found::source_span`]), and text that a
//! macro or a format field fills in later is marked as such, so that unknown text is never judged.
//! A string that holds CUDA source itself (a kernel inside a Python string) is read as C++ in turn.

mod comments;
mod cursor;
mod embedded;
mod found;
mod language;
mod lex;
mod mapped;
mod mnemonic;
mod nested;
mod placeholder;
mod prefilter;
mod statement;

pub(crate) use comments::{Comment, comments};
pub(crate) use found::Step;
pub use found::{Found, FoundKind, PartialReason};
pub use language::Language;
pub(crate) use mnemonic::is_meant;
pub use prefilter::may_contain;

use nested::nested;
use placeholder::Dialect;

/// Finds every video instruction in `source`, in the order of the file.
///
/// A use is a string whose text, at a statement's start, holds a mnemonic and then a dot: behind the string's start, `;`,
/// `{`, `}`, a guard, a label or a line break. Comments and ordinary code are not uses. Words that are nearly a mnemonic
/// (`VADD4.u32…`, `varvg2.u32…`) are found too, for a parser to refuse; in strings that are no `asm` template a word must
/// also be followed by what reads as modifiers and operands.
///
/// The source need not be valid UTF-8. Where `#if` and `#else` split an `asm`, each branch is read, and an
/// instruction that differs between them is found once for each version.
///
/// [`Language::Ptx`] reads the text as it stands; [`crate::module`] knows PTX better.
#[must_use]
pub fn find(source: &[u8], language: Language) -> Vec<Found> {
    if may_contain(source) { find_unfiltered(source, language) } else { Vec::new() }
}

fn find_unfiltered(source: &[u8], language: Language) -> Vec<Found> {
    let mut found = Vec::new();
    for text in lex::texts(source, language) {
        // The kernel source inside a string is read first: it knows which of its lines are strings.
        let inner = if text.dialect == Dialect::Free { find_nested(&text.mapped) } else { Vec::new() };
        let text = lex::Text { mapped: placeholder::decode(&text.mapped, text.dialect), ..text };
        let mut outer = statement::statements(&text);
        let mut starts: Vec<_> = inner.iter().map(|f| f.source_offset(0)).collect();
        starts.sort_unstable();
        outer.retain(|f| starts.binary_search(&f.source_offset(0)).is_err());
        found.extend(inner);
        found.extend(outer);
    }
    found.sort_by_key(|f| f.source_offset(0));
    dedup_versions(&mut found);
    found
}

/// The statements of each text that [`find`] finds something in, texts inside texts too.
pub(crate) fn steps(source: &[u8], language: Language) -> Vec<Vec<Step>> {
    let mut all = Vec::new();
    for text in lex::texts(source, language) {
        let inner = if text.dialect == Dialect::Free { nested(&text.mapped) } else { Vec::new() };
        all.extend(inner.iter().map(statement::steps));
        let mapped = placeholder::decode(&text.mapped, text.dialect);
        all.push(statement::steps(&lex::Text { mapped, ..text }));
    }
    all.retain(|steps| steps.iter().any(|step| matches!(step, Step::Video(_))));
    all
}

fn find_nested(outer: &mapped::Mapped) -> Vec<Found> {
    let texts = nested(outer);
    let found = texts.iter().flat_map(|inner| {
        let mut found = statement::statements(inner);
        // Prose quotes words as well.
        found.retain(|f| inner.dialect.is_asm() || f.kind == FoundKind::Statement);
        found
    });
    found.collect()
}

/// A text without the numbers that tell placeholders apart: another branch before it counts on from another.
fn without_ordinals(text: &str) -> impl Iterator<Item = char> {
    let mut in_ordinal = false;
    text.chars().filter(move |&c| {
        in_ordinal = c == '$' || (in_ordinal && c.is_ascii_digit());
        !in_ordinal
    })
}

/// Branches of `#if` share most of their text: what reads the same from the same place is one instruction.
fn dedup_versions(found: &mut Vec<Found>) {
    let mut kept: Vec<Found> = Vec::with_capacity(found.len());
    for f in found.drain(..) {
        let at = f.source_offset(0);
        let seen = kept.iter().rev().take_while(|k| k.source_offset(0) == at).any(|k| {
            k.text == f.text || k.text.contains('$') && without_ordinals(&k.text).eq(without_ordinals(&f.text))
        });
        if !seen {
            kept.push(f);
        }
    }
    *found = kept;
}
