//! Finds video instructions in source code: in CUDA C++, OpenCL, Python, LLVM IR and Rust.
//!
//! Programs write PTX inside string literals, so the finder goes from the file inwards, a module a step:
//!
//! ```text
//! source ──prefilter──► lex/ ──► Mapped text ──placeholder──► PTX text ──statement──► Found
//!          no mnemonic?  the literals that form one        %% %[x] $0 {x}
//!          then nothing  text, escapes decoded
//! ```
//!
//! Every byte of a text knows the place of the user's file that it came from ([`Found::source_span`]), and text that a
//! macro or a format field fills in later is marked as such, so that what cannot be known is never judged.
//! A string that holds CUDA source itself (a kernel inside a Python string) is read as C++ in turn.

mod cursor;
mod language;
mod lex;
mod mapped;
mod mnemonic;
mod placeholder;
mod prefilter;
mod statement;

use std::fmt;
use std::ops::Range;

pub use language::Language;
pub(crate) use mnemonic::is_meant;
pub use prefilter::may_contain;

use mapped::OffsetMap;
use placeholder::Dialect;

/// A video instruction in a source file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Found {
    /// The instruction as plain PTX, guard included and the final `;` not: escape sequences decoded, adjacent literals
    /// joined, comments dropped, and every operand placeholder (`%0`, `%[x]`, `$0`, `{x}`) written as an identifier
    /// (`%0`, `%x`, `%0`, `%x`). For a [`FoundKind::Fragment`] the mnemonic and its modifiers alone; in a
    /// [`FoundKind::Partial`] what is pasted in stands as `{name}`.
    pub text: String,
    /// How much of the instruction the file holds in one place.
    pub kind: FoundKind,
    map: OffsetMap,
}

/// How much of an instruction the file holds in one place.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum FoundKind {
    /// The whole instruction.
    Statement,
    /// The mnemonic and its modifiers; a macro or a format pastes the operands.
    Fragment,
    /// The mnemonic or the modifiers themselves are not all there, so nothing can be said of the instruction.
    Partial(PartialReason),
}

/// Why a mnemonic or its modifiers are not all in the file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum PartialReason {
    /// The preprocessor or a macro pastes a part: `"vadd4." #T "." #T " %0, …"`.
    Macro,
    /// Formatting fills in a part: `f"vadd4.{t}.{t} …"`, `"vadd.%s.%s …"`.
    Format,
    /// The string ends behind a dot: `"vadd4."`.
    CutShort,
}

impl fmt::Display for PartialReason {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Macro => "a macro pastes a part of the mnemonic or its modifiers",
            Self::Format => "formatting fills in a part of the mnemonic or its modifiers",
            Self::CutShort => "the string ends in the middle of the modifiers",
        })
    }
}

impl Found {
    /// The byte offset in the source file of the byte at `text_offset` of [`Found::text`]; for `text.len()` and
    /// beyond, the offset behind the instruction's last byte.
    #[must_use]
    pub fn source_offset(&self, text_offset: usize) -> usize {
        self.map.source_offset(text_offset)
    }

    /// The bytes of the source file that `text_span` of [`Found::text`] came from. Where the span crosses literals, the
    /// part inside the literal that holds its start.
    #[must_use]
    pub fn source_span(&self, text_span: Range<usize>) -> Range<usize> {
        self.map.source_span(text_span)
    }
}

/// Finds every video instruction in `source`, in the order of the file.
///
/// A use is a string whose text, at a statement's start, holds a mnemonic and then a dot: behind the string's start, `;`,
/// `{`, `}`, a guard, a label or a line break. Comments and ordinary code are not uses. Words that are nearly a mnemonic
/// (`VADD4.u32…`, `varvg2.u32…`) are found too, for a parser to refuse; in strings that are no `asm` template a word must
/// also be followed by what reads as modifiers and operands.
///
/// The source need not be valid UTF-8. Where `#if` and `#else` split an `asm`, each branch is read, and an
/// instruction that differs between them is found once a version.
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

/// A statement of a text, for who looks at the surroundings of a [`Found`].
pub(crate) enum Step {
    /// A video instruction, as [`find`] finds it.
    Video(Found),
    /// Another statement.
    Other(String),
    /// What comes next need not follow what came before: a label, the end of a block, pasted text.
    Break,
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

/// CUDA source inside a string of another program: its literals, with positions taken through both levels. One level is
/// enough, since what such source holds in strings of its own is PTX.
fn nested(outer: &mapped::Mapped) -> Vec<lex::Text> {
    if memchr::memchr(b'"', outer.bytes()).is_none() || !may_contain(outer.bytes()) {
        return Vec::new();
    }
    let texts = lex::texts(outer.bytes(), Language::Cuda).into_iter();
    let decoded = texts.map(|inner| {
        let mapped = placeholder::decode(&inner.mapped.through(outer), inner.dialect);
        lex::Text { mapped, ..inner }
    });
    decoded.collect()
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
