//! Sources inside a file of another kind: the code blocks of Markdown, and the source that a Jinja template makes.

use std::ops::Range;

use super::cursor::Cursor;
use super::language::Language;
use super::lex::{self, Text};
use super::mapped::Mapped;
use super::placeholder::Dialect;
use super::template;

/// The texts of all sources in a file, with places in the file.
pub(super) fn texts(source: &[u8], language: Language) -> Vec<Text> {
    let mut texts = Vec::new();
    let (sources, unread) = sources(source, language);
    texts.extend(unread.into_iter().map(Text::of_branches));
    for (outer, inner) in sources {
        if inner == Language::Ptx {
            texts.push(Text::new(outer, Dialect::Ptx));
            continue;
        }
        let all = lex::texts(outer.bytes(), inner).into_iter();
        texts.extend(all.map(|text| text.through(&outer)));
    }
    texts
}

/// Their comments, in bytes of the file.
pub(super) fn comments(source: &[u8], language: Language) -> Vec<Range<usize>> {
    let mut comments = Vec::new();
    for (outer, inner) in sources(source, language).0 {
        let all = lex::comments(outer.bytes(), inner).into_iter();
        comments.extend(all.map(|comment| outer.source_offset(comment.start)..outer.source_offset(comment.end)));
    }
    // The versions of a template have most of them in common.
    comments.sort_unstable_by_key(|comment| (comment.start, comment.end));
    comments.dedup_by_key(|comment| comment.start);
    comments
}

/// The sources in a file, and the parts of a template that are in none of its versions.
fn sources(source: &[u8], language: Language) -> (Vec<(Mapped, Language)>, Vec<Range<usize>>) {
    let made = match language {
        Language::Markdown => return (blocks(source), Vec::new()),
        _ => template::of_file(source),
    };
    let language = if language == Language::JinjaPtx { Language::Ptx } else { Language::Cuda };
    (made.versions.into_iter().map(|version| (version, language)).collect(), made.unread)
}

/// The fenced code blocks whose languages are read.
fn blocks(source: &[u8]) -> Vec<(Mapped, Language)> {
    let mut blocks = Vec::new();
    let mut cursor = Cursor::new(source, 0);
    while !cursor.at_end() {
        let line = line(&mut cursor);
        let quotes = quote_marks(&source[line.clone()]);
        let Some(fence) = Fence::read(&source[line.start + quotes..line.end]) else { continue };
        let mut content = Vec::new();
        while !cursor.at_end() {
            let line = self::line(&mut cursor);
            // A block in a quotation ends with it.
            let marks = quote_marks(&source[line.clone()]);
            if quotes > 0 && marks == 0 {
                break;
            }
            let start = line.start + if quotes > 0 { marks } else { 0 };
            if fence.is_closed_by(&source[start..line.end]) {
                break;
            }
            content.push(start..line.end);
        }
        let Some(language) = fence.language else { continue };
        let end = content.last().map_or(line.end, |last| last.end);
        let mut mapped = Mapped::default();
        content.into_iter().for_each(|line| mapped.push_raw(source, line, end));
        blocks.push((mapped, language));
    }
    blocks
}

/// Steps over a line, with its line break.
fn line(cursor: &mut Cursor<'_>) -> Range<usize> {
    let start = cursor.pos;
    cursor.skip_to(b'\n');
    cursor.advance(1);
    start..cursor.pos
}

/// How many bytes at the start of a line say that it is in a quotation, `> `.
fn quote_marks(line: &[u8]) -> usize {
    let mut len = 0;
    loop {
        let blanks = line[len..].iter().take_while(|&&b| b == b' ').count();
        if blanks > 3 || line.get(len + blanks) != Some(&b'>') {
            return len;
        }
        len += blanks + 1;
        len += usize::from(line.get(len) == Some(&b' '));
    }
}

/// The line that opens a code block.
struct Fence {
    sign: u8,
    len: usize,
    language: Option<Language>,
}

impl Fence {
    fn read(line: &[u8]) -> Option<Fence> {
        let text = line.trim_ascii_start();
        // Blocks in lists are indented.
        let text = text.strip_prefix(b"- ").or_else(|| text.strip_prefix(b"* ")).unwrap_or(text).trim_ascii();
        let sign = *text.first().filter(|sign| matches!(sign, b'`' | b'~'))?;
        let len = text.iter().take_while(|&&b| b == sign).count();
        let info = &text[len..];
        // What has another backtick is code within a line.
        if len < 3 || (sign == b'`' && info.contains(&b'`')) {
            return None;
        }
        Some(Fence { sign, len, language: std::str::from_utf8(info).ok().and_then(Language::from_fence) })
    }

    fn is_closed_by(&self, line: &[u8]) -> bool {
        let text = line.trim_ascii();
        text.len() >= self.len && text.iter().all(|&b| b == self.sign)
    }
}
