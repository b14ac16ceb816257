//! Sources inside a file of another kind: the code blocks of Markdown, and the source that a Jinja template makes.

use std::ops::Range;

use super::cursor::{Cursor, is_ident};
use super::language::Language;
use super::lex::{self, Text};
use super::mapped::{Mapped, Paste};
use super::placeholder::Dialect;

/// The texts of all sources in a file, with places in the file.
pub(super) fn texts(source: &[u8], language: Language) -> Vec<Text> {
    let mut texts = Vec::new();
    for (outer, inner) in sources(source, language) {
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
    for (outer, inner) in sources(source, language) {
        let all = lex::comments(outer.bytes(), inner).into_iter();
        comments.extend(all.map(|comment| outer.source_offset(comment.start)..outer.source_offset(comment.end)));
    }
    comments
}

fn sources(source: &[u8], language: Language) -> Vec<(Mapped, Language)> {
    match language {
        Language::Markdown => blocks(source),
        Language::JinjaPtx => vec![(made(source), Language::Ptx)],
        _ => vec![(made(source), Language::Cuda)],
    }
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

/// What a template makes: comments and statements are gone, and an expression is a text that is filled in.
fn made(source: &[u8]) -> Mapped {
    let mut mapped = Mapped::default();
    let mut cursor = Cursor::new(source, 0);
    let mut copied = 0;
    while let Some(ahead) = memchr::memchr(b'{', cursor.rest()) {
        cursor.advance(ahead);
        let start = cursor.pos;
        let close: &[u8] = match cursor.peek(1) {
            b'{' => b"}}",
            b'%' => b"%}",
            b'#' => b"#}",
            _ => {
                cursor.advance(1);
                continue;
            }
        };
        let is_expression = close == b"}}";
        let mut end = cursor;
        let closes = end.skip_past(close);
        // Two braces of the language itself hold lines or semicolons.
        let inside = &source[start + 2..end.pos.saturating_sub(2).max(start + 2)];
        let expression = inside.trim_ascii_start();
        let is_field = expression.first().is_some_and(|&b| is_ident(b) || matches!(b, b'(' | b'"' | b'\'' | b'-'));
        if !closes || (is_expression && (!is_field || inside.iter().any(|b| matches!(b, b';' | b'\n')))) {
            cursor.advance(2);
            continue;
        }
        mapped.push_raw(source, copied..start, source.len());
        if is_expression {
            let expression = expression.strip_prefix(b"-").unwrap_or(expression).trim_ascii_start();
            let len = expression.iter().take_while(|&&b| is_ident(b)).count();
            let lone = len > 0 && expression[len..].trim_ascii_end().iter().all(|&b| b == b'-');
            let name = if len > 0 { &expression[..len] } else { b"field" };
            let name = if lone { name.to_vec() } else { mapped.distinct(name) };
            mapped.push_paste(&name, start..end.pos, end.pos, Paste::Field);
        } else {
            mapped.push_unit(b" ", start..end.pos, end.pos);
        }
        cursor = end;
        copied = end.pos;
    }
    mapped.push_raw(source, copied..source.len(), source.len());
    mapped
}
