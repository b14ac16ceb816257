//! The comments of a file that speak to vop, and which lines each is about.
//!
//! Comments stand in the file's own language, and in PTX (or CUDA source) that a string literal holds.

use std::ops::Range;

use super::language::Language;
use super::lex;
use super::mapped::{Mapped, OffsetMap};
use super::nested::nested;
use super::placeholder::Dialect;
use super::prefilter::may_contain;

/// What a comment that speaks to vop holds.
const ADDRESS: &[u8] = b"vop:";

/// A comment.
#[derive(Debug, Clone)]
pub(crate) struct Comment {
    /// Its text with the signs that make it a comment, escape sequences decoded.
    pub(crate) text: String,
    /// What it is about, in bytes of the file: the line or lines that it shares with other text, or, where it shares none,
    /// the next line that holds more than comments. Several where the branches of `#if` go on differently.
    pub(crate) lines: Vec<Range<usize>>,
    map: OffsetMap,
}

impl Comment {
    /// The bytes of the file that a part of [`Self::text`] came from.
    pub(crate) fn source_span(&self, part: Range<usize>) -> Range<usize> {
        self.map.source_span(part)
    }
}

/// The comments of a file that hold `vop:`, in order.
pub(crate) fn comments(source: &[u8], language: Language) -> Vec<Comment> {
    if memchr::memmem::find(source, ADDRESS).is_none() {
        return Vec::new();
    }
    let mut found = Vec::new();
    add(&mut found, &Mapped::whole(source), &lex::comments(source, language));
    if language != Language::Ptx {
        for text in lex::texts(source, language) {
            let bytes = text.mapped.bytes();
            let free = text.dialect == Dialect::Free;
            // A string that is no template and holds no instruction is not PTX.
            if memchr::memmem::find(bytes, ADDRESS).is_none() || free && !may_contain(bytes) {
                continue;
            }
            // One that is no template may be CUDA source, which holds strings of its own.
            let comments = lex::comments(bytes, if free { Language::Cuda } else { Language::Ptx });
            add(&mut found, &text.mapped, &comments);
            for inner in if free { nested(&text.mapped) } else { Vec::new() } {
                add(&mut found, &inner.mapped, &lex::comments(inner.mapped.bytes(), Language::Ptx));
            }
        }
    }
    found.sort_by_key(Comment::start);
    // Each branch of an `#if` is read with the text around it, which then is found once for each.
    found.dedup_by(|again, first| {
        let same = again.start() == first.start();
        if same {
            first.lines.append(&mut again.lines);
        }
        same
    });
    found
}

impl Comment {
    fn start(&self) -> usize {
        self.map.source_offset(0)
    }
}

fn add(found: &mut Vec<Comment>, mapped: &Mapped, comments: &[Range<usize>]) {
    let bytes = mapped.bytes();
    for comment in comments {
        if memchr::memmem::find(&bytes[comment.clone()], ADDRESS).is_none() {
            continue;
        }
        let lines = lines(bytes, comments, comment);
        let lines = mapped.source_offset(lines.start)..mapped.source_offset(lines.end);
        let mut text = Mapped::default();
        text.push_slice(mapped, comment.clone());
        let (text, map) = text.into_parts();
        found.push(Comment { text, lines: vec![lines], map });
    }
}

/// The lines that a comment is about; empty where nothing but comments follows it.
fn lines(bytes: &[u8], comments: &[Range<usize>], comment: &Range<usize>) -> Range<usize> {
    let line_start = |at: usize| memchr::memrchr(b'\n', &bytes[..at]).map_or(0, |before| before + 1);
    let line_end = |at: usize| memchr::memchr(b'\n', &bytes[at..]).map_or(bytes.len(), |ahead| at + ahead);
    // The first byte from `at` on that is neither blank nor in a comment.
    let code = |mut at: usize| loop {
        at += bytes[at..].iter().take_while(|b| b.is_ascii_whitespace()).count();
        let next = comments.partition_point(|other| other.end <= at);
        match comments.get(next) {
            Some(other) if other.start <= at && at < bytes.len() => at = other.end,
            _ => break at,
        }
    };
    let own = line_start(comment.start)..line_end(comment.end);
    if code(own.start) < own.end {
        return own;
    }
    let next = code(own.end);
    line_start(next)..line_end(next)
}
