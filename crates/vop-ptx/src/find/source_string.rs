//! Strings that hold source in C's syntax, and how other text is written into them.

use std::ops::Range;

use super::language::Language;
use super::lex;
use super::mapped::{Mapped, OffsetMap};
use super::placeholder::Dialect;

/// A string of a program that holds source in C's syntax: OpenCL or CUDA that is compiled when the program runs.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SourceString {
    text: Vec<u8>,
    map: OffsetMap,
    way: Way,
}

/// How the literals of a string are written.
#[derive(Debug, Clone, PartialEq, Eq)]
enum Way {
    /// As they are, up to this: raw literals of C++, and Python's with three quotes.
    Verbatim(Vec<u8>),
    /// C's, each on a line: `"…\n"`.
    Lines,
    /// In another way, in which they cannot be changed.
    Unfit(&'static str),
}

/// The strings of a file that hold an `asm` and read as source, in their order. A string that a macro's use makes is not among them.
pub(crate) fn source_strings(source: &[u8], language: Language) -> Vec<SourceString> {
    let has_strings = matches!(language, Language::Cuda | Language::OpenCl | Language::Python);
    if !has_strings || memchr::memmem::find(source, b"asm").is_none() {
        return Vec::new();
    }
    let mut all: Vec<(Range<usize>, SourceString)> = Vec::new();
    for text in lex::texts(source, language) {
        let is_source = text.dialect == Dialect::Free
            && text.macro_name.is_none()
            && text.unread.is_none()
            && memchr::memmem::find(text.mapped.bytes(), b"asm").is_some();
        if !is_source {
            continue;
        }
        let Some(span) = text.mapped.map().written_span() else { continue };
        let way = if text.definition {
            Way::Unfit("it stands in a string of a macro's body, where no functions can be put")
        } else {
            way(source, language, &text.mapped)
        };
        let (map, text) = (text.mapped.map().clone(), text.mapped.bytes().to_vec());
        all.push((span, SourceString { text, map, way }));
    }
    all.sort_by_key(|(span, _)| span.start);
    all.dedup_by(|(after, second), (before, first)| after == before && first.text == second.text);
    // The versions that `#if` gives one string.
    for i in 1..all.len() {
        let [(before, first), (after, second)] = &mut all[i - 1..=i] else { continue };
        if after.start < before.end {
            for string in [first, second] {
                string.way = Way::Unfit("`#if` gives its string more than one text");
            }
            after.end = after.end.max(before.end);
        }
    }
    all.into_iter().map(|(_, string)| string).collect()
}

/// How the literals of a text are written: all in one way.
fn way(source: &[u8], language: Language, text: &Mapped) -> Way {
    if text.has_pastes() {
        return Way::Unfit("another text is a part of its string");
    }
    let mut ends = text.map().literal_ends();
    let of = |end: usize| {
        let behind = source.get(end..).unwrap_or_default();
        let triple = behind.get(..3).filter(|quotes| [&b"\"\"\""[..], b"'''"].contains(quotes));
        match (language, triple, behind.first()) {
            (Language::Python, Some(quotes), _) => Way::Verbatim(quotes.to_vec()),
            (Language::Python, ..) => {
                Way::Unfit("functions do not fit into a string of one line; write it with three quotes")
            }
            (_, _, Some(b')')) => match memchr::memchr(b'"', behind) {
                Some(quote) => Way::Verbatim(behind[..=quote].to_vec()),
                None => Way::Unfit("its string does not end"),
            },
            (_, _, Some(b'"')) => Way::Lines,
            _ => Way::Unfit("its string does not end"),
        }
    };
    let Some(&first) = ends.first() else { return Way::Unfit("its string is empty") };
    let way = of(first);
    if ends.iter().any(|&end| of(end) != way) {
        return Way::Unfit("its string consists of literals of several kinds");
    }
    let last = ends.pop().unwrap_or(first);
    let bytes = text.bytes();
    let has = |part: &[u8]| memchr::memmem::find(bytes, part).is_some();
    // What formatting doubles; a function of C has braces that stand alone.
    let doubled = |sign: u8| {
        let mut runs = bytes.split(|&b| b != sign).map(<[u8]>::len).filter(|&len| len > 0).peekable();
        runs.peek().is_some() && runs.all(|len| len % 2 == 0)
    };
    let is_formatted =
        doubled(b'{') || has(b"%%[") || bytes.windows(3).any(|w| &w[..2] == b"%%" && w[2].is_ascii_digit());
    if is_formatted || language == Language::Python && (text.has_doubled_braces(source) || is_changed(source, last)) {
        return Way::Unfit("its string is formatted or changed before it is compiled");
    }
    way
}

/// Whether a method or an operator makes another text of the string of Python that ends here.
fn is_changed(source: &[u8], end: usize) -> bool {
    let mut rest = source.get(end..).unwrap_or_default();
    while let [b'"' | b'\'' | b')' | b' ' | b'\t', behind @ ..] = rest {
        rest = behind;
    }
    let harmless: [&[u8]; 5] = [b".strip()", b".lstrip()", b".rstrip()", b".encode(", b".splitlines("];
    match rest.first() {
        Some(b'.') => !harmless.iter().any(|method| rest.starts_with(method)),
        Some(b'%') => true,
        _ => false,
    }
}

impl SourceString {
    /// The text that the program compiles: escape sequences decoded, adjacent literals joined.
    #[must_use]
    pub fn text(&self) -> &[u8] {
        &self.text
    }

    /// Why nothing can be written into it, if that is so: a part of a sentence.
    #[must_use]
    pub fn unfit(&self) -> Option<&'static str> {
        match self.way {
            Way::Unfit(why) => Some(why),
            _ => None,
        }
    }

    /// The place in the file of a part of the text, for messages.
    #[must_use]
    pub fn source_span(&self, span: Range<usize>) -> Range<usize> {
        self.map.source_span(span)
    }

    /// The bytes of the file that a text is written in the place of, which `span` of the text stands for; for an empty span, where it is
    /// inserted. `None` if something else than the ends of literals stands between.
    #[must_use]
    pub fn editable(&self, source: &[u8], span: Range<usize>) -> Option<Range<usize>> {
        let start = self.map.source_offset(span.start);
        if span.is_empty() {
            return Some(start..start);
        }
        let between = self.map.gaps(span.clone());
        let is_end = |gap: &Range<usize>| {
            let text = source.get(gap.clone()).unwrap_or_default();
            let inner = text.strip_prefix(b"\"").and_then(|text| text.strip_suffix(b"\""));
            inner.is_some_and(|inner| inner.iter().all(u8::is_ascii_whitespace))
        };
        let joins = between.iter().all(is_end) && (between.is_empty() || self.way == Way::Lines);
        let end = self.map.source_offset(span.end - 1).max(start);
        let end = self.map.source_span(span.end - 1..span.end).end.max(end);
        joins.then_some(start..end)
    }

    /// A text as the string's literals hold it, if they can. `indent` stands before each literal that begins a line.
    #[must_use]
    pub fn written(&self, text: &str, indent: &str) -> Option<String> {
        match &self.way {
            Way::Verbatim(close) => {
                let fits = !text.contains('\\') && memchr::memmem::find(text.as_bytes(), close).is_none();
                fits.then(|| text.to_string())
            }
            Way::Lines => {
                let escaped = text.replace('\\', "\\\\").replace('"', "\\\"");
                Some(escaped.replace('\n', &format!("\\n\"\n{indent}\"")))
            }
            Way::Unfit(_) => None,
        }
    }
}
