//! The comments of a file that speak to vop, and which lines each is about.
//!
//! Comments stand in the file's own language, and in PTX (or CUDA source) that a string literal holds.

use std::ops::Range;
use std::sync::LazyLock;

use super::language::Language;
use super::lex;
use super::mapped::{Mapped, OffsetMap};
use super::nested::nested;
use super::placeholder::{Dialect, decode};
use super::prefilter::may_contain;
use super::words::Words;

/// `vop:` in all mixtures of upper and lower case.
fn addresses() -> Vec<String> {
    let mixture = |upper: usize| {
        let letters = "vop".chars().enumerate();
        letters.map(|(i, c)| if upper >> i & 1 == 1 { c.to_ascii_uppercase() } else { c }).chain([':']).collect()
    };
    (0..8).map(mixture).collect()
}

static ADDRESS: LazyLock<Option<Words>> = LazyLock::new(|| Words::new(&addresses()));

/// Whether a text holds what a comment that speaks to vop holds: `vop:`, in any case.
fn speaks(text: &[u8]) -> bool {
    ADDRESS.as_ref().is_none_or(|address| address.is_in(text))
}

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
    if !speaks(source) {
        return Vec::new();
    }
    let mut found = Vec::new();
    add(&mut found, &Mapped::whole(source), &lex::comments(source, language));
    if language != Language::Ptx {
        for text in lex::texts(source, language) {
            // What a macro writes stands in its definition.
            if text.macro_name.is_some() {
                continue;
            }
            let bytes = text.mapped.bytes();
            let free = text.dialect == Dialect::Free;
            // A string that is no template and holds no instruction is not PTX.
            if !speaks(bytes) || free && !may_contain(bytes) {
                continue;
            }
            // One that is no template may be CUDA source, which holds strings of its own.
            let comments = lex::comments(bytes, if free { Language::Cuda } else { Language::Ptx });
            add(&mut found, &text.mapped, &comments);
            for inner in if free { nested(&text.mapped, may_contain).1 } else { Vec::new() } {
                let inner = decode(&inner.mapped.through(&text.mapped), inner.dialect);
                add(&mut found, &inner, &lex::comments(inner.bytes(), Language::Ptx));
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
    let mut lines = Lines::new(bytes, comments);
    for comment in comments {
        if !speaks(&bytes[comment.clone()]) {
            continue;
        }
        let lines = lines.about(comment);
        let lines = mapped.source_offset(lines.start)..mapped.source_offset(lines.end);
        let mut text = Mapped::default();
        text.push_slice(mapped, comment.clone());
        let (text, map) = text.into_parts();
        found.push(Comment { text, lines: vec![lines], map });
    }
}

/// Which lines the comments of a text are about, asked in their order. A generated file may have a comment in each of 100,000 lines,
/// or as many in one line: what is the same for neighbours is computed once.
struct Lines<'a> {
    bytes: &'a [u8],
    comments: &'a [Range<usize>],
    /// For each comment, the first byte after it that is neither blank nor in a comment.
    behind: Vec<usize>,
    /// The line that was asked for last, without its end.
    line: Range<usize>,
    /// The last two answers of [`Self::code`], with what was asked.
    known: [(usize, usize); 2],
}

impl<'a> Lines<'a> {
    fn new(bytes: &'a [u8], comments: &'a [Range<usize>]) -> Lines<'a> {
        let mut behind = vec![bytes.len(); comments.len()];
        for i in (0..comments.len()).rev() {
            let at = skip_blanks(bytes, comments[i].end);
            behind[i] = match comments.get(i + 1) {
                Some(next) if next.start == at => behind[i + 1],
                _ => at,
            };
        }
        let none = bytes.len() + 1;
        Lines { bytes, comments, behind, line: none..none, known: [(none, none); 2] }
    }

    /// The lines that a comment is about; empty where nothing but comments follows it.
    fn about(&mut self, comment: &Range<usize>) -> Range<usize> {
        let own = self.line(comment.start).start..self.line(comment.end).end;
        if self.code(own.start) < own.end {
            return own;
        }
        let next = self.code(own.end);
        self.line(next)
    }

    /// The line that a byte is in.
    fn line(&mut self, at: usize) -> Range<usize> {
        if !(self.line.start..=self.line.end).contains(&at) {
            let start = memchr::memrchr(b'\n', &self.bytes[..at]).map_or(0, |before| before + 1);
            let end = memchr::memchr(b'\n', &self.bytes[at..]).map_or(self.bytes.len(), |ahead| at + ahead);
            self.line = start..end;
        }
        self.line.clone()
    }

    /// The first byte from `start` on that is neither blank nor in a comment.
    fn code(&mut self, start: usize) -> usize {
        if let Some((_, code)) = self.known.iter().find(|(asked, _)| *asked == start) {
            return *code;
        }
        let at = skip_blanks(self.bytes, start);
        let next = self.comments.partition_point(|other| other.end <= at);
        let code = match self.comments.get(next) {
            Some(other) if other.start <= at && at < self.bytes.len() => self.behind[next],
            _ => at,
        };
        self.known = [(start, code), self.known[0]];
        code
    }
}

/// The first byte from `at` on that is not blank. A byte order mark is blank.
fn skip_blanks(bytes: &[u8], mut at: usize) -> usize {
    const BOM: &[u8] = "\u{feff}".as_bytes();
    if at == 0 && bytes.starts_with(BOM) {
        at = BOM.len();
    }
    at + bytes[at..].iter().take_while(|b| b.is_ascii_whitespace()).count()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn about(source: &str) -> Vec<&str> {
        let found = comments(source.as_bytes(), Language::Cuda);
        found.iter().map(|comment| &source[comment.lines[0].clone()]).collect()
    }

    #[test]
    fn words_are_searched_by_vectors_as_by_an_automaton() {
        super::super::words::tests::assert_same(
            &addresses(),
            &["//", " ", "v", "o", "p", ":", "allow(V0701)", "\n", "\u{f6}"],
        );
    }

    #[test]
    fn who_speaks_to_vop() {
        for yes in ["vop:", "// VOP: allow(V0701)", "/* vOp:*/", "vvop:", &format!("{}Vop:", "vop ".repeat(100))] {
            assert!(speaks(yes.as_bytes()), "{yes}");
        }
        for no in ["", "vop", "vo:", "op:", "vop :", &"vop ; v: o: p:".repeat(100)] {
            assert!(!speaks(no.as_bytes()), "{no}");
        }
    }

    #[test]
    fn lines_of_comments() {
        assert_eq!(about("a(); // vop: x\nb();"), ["a(); // vop: x"]);
        assert_eq!(about("// vop: x\n\n/* y */ // z\n  b();\nc();"), ["  b();"]);
        assert_eq!(about("\u{feff}// vop: x\na();"), ["a();"]);
        assert_eq!(
            about("/* vop: x */ /* vop: y */\na(); /* vop: z\n */ b();"),
            ["a(); /* vop: z", "a(); /* vop: z", "a(); /* vop: z\n */ b();"]
        );
        assert_eq!(about("a();\n// vop: x\n  \n"), [""]);
    }
}
