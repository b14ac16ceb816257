//! Finds video instructions in source code: in CUDA C++, OpenCL, Python, LLVM IR, MLIR, Rust, Julia, Go, D, Zig and Nim, in Markdown's
//! code blocks and in templates.
//!
//! Programs write PTX inside string literals, so the finder goes from the file inwards, and each step is a module:
//!
//! ```text
//! source ──prefilter──► lex/ ──► Mapped text ──template──► ──placeholder──► ──fill──► PTX text ──statement──► Found
//!          no mnemonic?  the literals   escapes   branches     %% %[x] $0     values of operands   without those of
//!          then nothing  that form one  decoded   of engines   {x}            that complete words  another machine: foreign
//! ```
//!
//! Every byte of a text knows the place of the user's file that it came from ([`Found::source_span`]), and text that a
//! macro or a format field fills in later is marked as such, so that unknown text is never judged.
//! A string that holds CUDA source itself (a kernel inside a Python string) is read as C++ in turn.

mod comments;
mod cursor;
mod embedded;
mod fill;
mod foreign;
mod found;
mod language;
mod lex;
mod macros;
mod mapped;
mod mnemonic;
mod nested;
mod operand;
mod placeholder;
mod prefilter;
mod source_string;
mod statement;
mod template;
mod words;

pub(crate) use comments::{Comment, comments};
pub(crate) use found::Braces;
pub(crate) use found::Step;
use found::{Context, Spelling};
pub use found::{Found, FoundKind, PartialReason};
pub use language::Language;
pub(crate) use mnemonic::{is_meant, may_be_meant};
pub use operand::{Access, Class};
pub(crate) use operand::{AsmOperand, Scalar};
pub use prefilter::{may_contain, mentions};
pub use source_string::SourceString;
pub(crate) use source_string::source_strings;

use fill::Version;
use macros::Places;
use mapped::{Mapped, Paste};
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
    let mut found = find_all(&prepare(source, language), source, language);
    found.retain(|f| !f.context.repeats);
    found
}

/// The strings of a file as [`find_all`] and [`steps`] read them.
pub(crate) struct Prepared(Vec<(Vec<Version>, Vec<Version>)>);

/// Reads the strings of a file, which takes most of the time.
pub(crate) fn prepare(source: &[u8], language: Language) -> Prepared {
    Prepared(prepared(source, language, may_contain))
}

/// As [`find`], with the uses of macros that hold a whole instruction, which is found in the macro's body too.
pub(crate) fn find_all(prepared: &Prepared, source: &[u8], language: Language) -> Vec<Found> {
    let mut found = Vec::new();
    let mut written = Vec::new();
    for (versions, inner) in &prepared.0 {
        let spelling = Spelling { language: Some(language), ..Spelling::default() };
        // A string inside a string is written as the outer one.
        let outer_braces =
            versions.first().filter(|_| !inner.is_empty()).map(|version| braces(version, source, spelling));
        let within = Spelling { is_nested: true, braces: outer_braces.unwrap_or_default(), ..spelling };
        let mut outer = versions
            .iter()
            .map(|version| statements(version, source, spelling, &mut written))
            .collect::<Vec<_>>()
            .concat();
        // The kernel source inside a string is read first: it knows which of its lines are strings.
        let mut nested = Vec::new();
        for version in inner {
            let mut found_within = statements(version, source, within, &mut written);
            // Prose quotes words as well.
            found_within.retain(|f| version.text.dialect.is_asm() || f.kind == FoundKind::Statement);
            nested.extend(found_within);
        }
        let mut starts: Vec<_> = nested.iter().map(|f| f.source_offset(0)).collect();
        starts.sort_unstable();
        outer.retain(|f| starts.binary_search(&f.source_offset(0)).is_err());
        found.extend(nested);
        found.extend(outer);
    }
    macros::prefer_uses(&mut found, written);
    without_seen(&mut found);
    found.sort_by_key(|f| (f.source_offset(0), f.spelled_offset(0)));
    dedup_versions(&mut found);
    found
}

/// The instructions of a text. What a macro writes without an instruction in it is kept in `written`.
fn statements(version: &Version, source: &[u8], spelling: Spelling, written: &mut Vec<macros::Written>) -> Vec<Found> {
    let mut found = match version.text.unread {
        Some(reason) => vec![unread(&version.text, reason)],
        None => statement::statements(&version.text),
    };
    if (!found.is_empty() || version.text.macro_name.is_some()) && foreign::is_foreign(&version.text) {
        return Vec::new();
    }
    if version.text.dialect == Dialect::Free {
        found.retain(|one| !foreign::is_neon(&one.text));
    }
    if found.is_empty() && version.text.macro_name.is_none() {
        return found;
    }
    let spelling =
        Spelling { is_asm: version.text.dialect.is_asm(), braces: braces(version, source, spelling), ..spelling };
    for one in &mut found {
        one.context = Context { spelling, ..context(version) };
    }
    if version.text.macro_name.is_some() {
        written.extend(macros::Written::of(&version.text, &found));
    }
    found
}

/// How braces are written in a text.
fn braces(version: &Version, source: &[u8], spelling: Spelling) -> Braces {
    let text = &version.text;
    match (text.dialect, spelling.language) {
        _ if spelling.is_nested => spelling.braces,
        (Dialect::RustAsm, _) => Braces::Doubled,
        // No format makes the template of an `asm` of C.
        (Dialect::GccAsm, Some(Language::Cuda | Language::OpenCl)) | (_, Some(Language::LlvmIr)) => Braces::Single,
        _ => text.mapped.map().braces(text.mapped.bytes(), source, text.dialect.is_asm()),
    }
}

/// What is said of a text of which no instruction can be read.
fn unread(text: &lex::Text, reason: PartialReason) -> Found {
    let (text, map) = text.mapped.clone().into_parts();
    Found { text, kind: FoundKind::Partial(reason), map, context: Context::default(), has_semicolon: false }
}

/// Leaves out the parts of templates in which an instruction is found that is not judged either.
fn without_seen(found: &mut Vec<Found>) {
    let is_part = |one: &Found| one.kind == FoundKind::Partial(PartialReason::Branches);
    if !found.iter().any(is_part) {
        return;
    }
    let others = found.iter().filter(|one| !is_part(one) && matches!(one.kind, FoundKind::Partial(_)));
    let seen = Places::new(others.map(|one| one.source_offset(0)..one.source_offset(one.text.len())).collect());
    found.retain(|one| !is_part(one) || !seen.meets(&(one.source_offset(0)..one.source_offset(one.text.len()))));
}

fn context(version: &Version) -> Context {
    Context {
        asm: version.text.asm.clone(),
        filled: version.filled.clone(),
        registers: version.registers.clone(),
        definition: version.text.definition,
        macro_name: version.text.macro_name.clone(),
        repeats: false,
        spelling: Spelling::default(),
    }
}

/// The strings of a file, their placeholders read, in each version that the values of operands give them; and the strings inside
/// each, if it is source and `is_source` takes it for one.
fn prepared(source: &[u8], language: Language, is_source: fn(&[u8]) -> bool) -> Vec<(Vec<Version>, Vec<Version>)> {
    let mut facts = None;
    let mut all = Vec::new();
    for text in lex::texts(source, language).into_iter().flat_map(alternatives) {
        let mut inner = Vec::new();
        if text.dialect == Dialect::Free {
            let mut facts = None;
            let (language, texts) = nested(&text.mapped, is_source);
            for within in texts {
                let mapped = within.mapped.through(&text.mapped);
                let within = lex::Text { mapped: placeholder::decode(&mapped, within.dialect), ..within };
                let place = |place: std::ops::Range<usize>| text.mapped.source_span(place);
                inner.extend(versions(within, text.mapped.bytes(), language, &mut facts, &place));
            }
        }
        let text = lex::Text { mapped: placeholder::decode(&text.mapped, text.dialect), ..text };
        all.push((versions(text, source, language, &mut facts, &|place| place), inner));
    }
    all
}

/// What a string makes: itself, unless it is a template with branches.
fn alternatives(text: lex::Text) -> Vec<lex::Text> {
    let made = if text.dialect == Dialect::Ptx { None } else { template::of_text(&text.mapped) };
    let Some(made) = made else { return vec![text] };
    let unread = made.unread.into_iter().map(|part| lex::Text::of_branches(text.mapped.source_span(part)));
    let versions = made.versions.into_iter().map(|mapped| lex::Text {
        mapped,
        asm: text.asm.clone(),
        macro_name: text.macro_name.clone(),
        ..lex::Text::new(Mapped::default(), text.dialect)
    });
    versions.map(|version| lex::Text { definition: text.definition, ..version }).chain(unread).collect()
}

/// The versions of a decoded text. `place` takes places of `source` to those of the file.
fn versions<'a>(
    text: lex::Text,
    source: &'a [u8],
    language: Language,
    facts: &mut Option<lex::Facts<'a>>,
    place: &dyn Fn(std::ops::Range<usize>) -> std::ops::Range<usize>,
) -> Vec<Version> {
    let is_c = matches!(language, Language::Cuda | Language::OpenCl);
    let mut versions = fill::versions(text, || is_c.then(|| &*facts.get_or_insert_with(|| lex::Facts::read(source))));
    for version in &mut versions {
        let Some(asm) = version.text.asm.take() else { continue };
        if !may_contain(version.text.mapped.bytes()) {
            continue;
        }
        let mut asm = (*asm).clone();
        for operand in &mut asm.operands {
            if operand.class == Class::Word && operand.scalar.is_none() && !version.text.definition {
                let facts = is_c.then(|| &*facts.get_or_insert_with(|| lex::Facts::read(source)));
                operand.scalar = facts.and_then(|facts| facts.scalar(&operand.expression));
            }
            operand.moved(place);
        }
        for filled in &mut version.filled {
            filled.place = place(filled.place.clone());
        }
        version.text.macro_name = version.text.macro_name.take().map(place);
        version.text.asm = Some(std::sync::Arc::new(asm));
    }
    versions
}

/// The strings of a file that may be whole modules: texts without holes that have a `.version` and a function.
pub(crate) fn modules(source: &[u8], language: Language) -> Vec<Found> {
    let has = |text: &[u8], word: &[u8]| memchr::memmem::find(text, word).is_some();
    if !has(source, b".version") {
        return Vec::new();
    }
    let mut modules = Vec::new();
    for text in lex::texts(source, language) {
        let bytes = text.mapped.bytes();
        let is_candidate = matches!(text.dialect, Dialect::Free | Dialect::Ptx)
            && !text.definition
            && text.macro_name.is_none()
            && has(bytes, b".version")
            && (has(bytes, b".entry") || has(bytes, b".func"))
            && may_contain(bytes)
            && template::of_text(&text.mapped).is_none();
        if !is_candidate {
            continue;
        }
        // What stands for another text is a hole; signs that formatting doubles are not.
        let decoded = placeholder::decode(&text.mapped, text.dialect);
        if decoded.has_pastes() || !same_but_for_doubled(bytes, decoded.bytes()) {
            continue;
        }
        let (text, map) = decoded.into_parts();
        let (kind, context) = (FoundKind::Statement, Context::default());
        modules.push(Found { text, kind, map, context, has_semicolon: false });
    }
    modules
}

/// Whether two texts differ in nothing but `%%` for `%`.
fn same_but_for_doubled(mut before: &[u8], mut after: &[u8]) -> bool {
    while let (Some((first, rest)), Some((now, left))) = (before.split_first(), after.split_first()) {
        if first != now {
            return false;
        }
        let more = if *first == b'%' { rest.iter().take_while(|&&b| b == b'%').count() } else { 0 };
        (before, after) = (&rest[more..], left);
    }
    before.is_empty() && after.is_empty()
}

/// The statements of each text that [`find`] finds something in, texts inside texts too.
pub(crate) fn steps(prepared: &Prepared) -> Vec<Vec<Step>> {
    let mut all = Vec::new();
    for (versions, inner) in &prepared.0 {
        all.extend(inner.iter().chain(versions).filter_map(steps_of));
    }
    all.retain(|steps| steps.iter().any(|step| matches!(step, Step::Video(_))));
    all
}

/// The statements of each string, of whatever it holds; of a string that is source with `asm` statements, those of its strings.
pub(crate) fn all_steps(source: &[u8], language: Language) -> Vec<Vec<Step>> {
    let mut all = Vec::new();
    for (text, inner) in prepared(source, language, |_| true) {
        if inner.iter().any(|version| version.text.dialect.is_asm()) {
            all.extend(inner.iter().filter_map(steps_of));
        } else {
            all.extend(text.iter().filter_map(steps_of));
        }
    }
    all
}

fn steps_of(version: &Version) -> Option<Vec<Step>> {
    if version.text.unread.is_some() || foreign::is_foreign(&version.text) {
        return None;
    }
    let mut steps = statement::steps(&version.text);
    for step in &mut steps {
        if let Step::Video(found) = step {
            found.context = context(version);
        }
    }
    Some(steps)
}

/// The statements of a text of PTX.
pub(crate) fn steps_of_ptx(text: &str) -> Vec<Step> {
    statement::steps(&lex::Text::new(Mapped::whole(text.as_bytes()), Dialect::Ptx))
}

/// The `asm` statements of a file in C's syntax, Rust or LLVM IR that the file itself holds, not a string of it or the use of a macro:
/// for each its template, placeholders read as `%name`, in each version that `#if` gives it.
pub(crate) fn asm_texts(source: &[u8], language: Language) -> Vec<AsmText> {
    let dialect = match language {
        Language::Cuda | Language::OpenCl => Dialect::GccAsm,
        Language::Rust => Dialect::RustAsm,
        Language::LlvmIr => Dialect::LlvmAsm,
        _ => return Vec::new(),
    };
    if memchr::memmem::find(source, b"asm").is_none() {
        return Vec::new();
    }
    let is_c = dialect == Dialect::GccAsm;
    let mut facts = None;
    let mut all: Vec<AsmText> = Vec::new();
    for text in lex::texts(source, language) {
        if text.dialect != dialect || text.macro_name.is_some() || text.asm.is_none() {
            continue;
        }
        let text = lex::Text { mapped: placeholder::decode(&text.mapped, text.dialect), ..text };
        if foreign::is_foreign(&text) {
            continue;
        }
        // With the values of operands that complete a word, where the file says them.
        for version in fill::versions(text, || is_c.then(|| &*facts.get_or_insert_with(|| lex::Facts::read(source)))) {
            let text = version.text;
            let Some(asm) = text.asm else { continue };
            // Fields are what Rust's operands are.
            let unknown = match dialect {
                Dialect::RustAsm => [Paste::Macro, Paste::Call, Paste::Operand]
                    .into_iter()
                    .any(|by| !text.mapped.pasted_by(by).is_empty()),
                _ => text.mapped.has_pastes(),
            };
            let is_whole = asm.complete && text.unread.is_none() && !unknown;
            let template = String::from_utf8_lossy(&with_operands(&text.mapped, dialect)).into_owned();
            all.push(AsmText { asm, template, is_whole, in_macro: text.definition });
        }
    }
    all
}

/// A template in which each of Rust's fields is an operand: `%name`, or `%0` for the first `{}`.
fn with_operands(text: &Mapped, dialect: Dialect) -> Vec<u8> {
    let bytes = text.bytes();
    let mut out = Vec::new();
    let mut copied = 0;
    for field in if dialect == Dialect::RustAsm { text.pasted_by(Paste::Field) } else { Vec::new() } {
        out.extend(&bytes[copied..field.start]);
        let name = String::from_utf8_lossy(&bytes[field.clone()]);
        let next = name.strip_prefix("field$").and_then(|number| number.parse::<usize>().ok()?.checked_sub(1));
        out.extend(format!("%{}", next.map_or(name.into_owned(), |number| number.to_string())).bytes());
        copied = field.end;
    }
    out.extend(&bytes[copied..]);
    out
}

/// What [`asm_texts`] yields.
pub(crate) struct AsmText {
    pub(crate) asm: std::sync::Arc<operand::Asm>,
    pub(crate) template: String,
    /// Whether all of the template and the operands is known.
    pub(crate) is_whole: bool,
    /// Whether it stands in a macro's body.
    pub(crate) in_macro: bool,
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
        let spelled = f.spelled_offset(0);
        let same_place = |k: &&Found| k.source_offset(0) == at && k.spelled_offset(0) == spelled;
        let seen = kept.iter().rev().take_while(same_place).any(|k| {
            k.text == f.text || k.text.contains('$') && without_ordinals(&k.text).eq(without_ordinals(&f.text))
        });
        if !seen {
            kept.push(f);
        }
    }
    *found = kept;
}
