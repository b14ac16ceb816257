//! Python: every string, since no syntax tells which ones hold PTX or CUDA source.
//!
//! Literals side by side are one string, and so are literals around a `+`, where what stands between them is pasted.

use std::borrow::Cow;
use std::ops::Range;
use std::sync::Arc;

use super::super::cursor::{Cursor, is_ident};
use super::super::mapped::{Mapped, Paste};
use super::super::operand::Asm;
use super::super::placeholder::Dialect;
use super::escape::{Escapes, decode_part};
use super::joined::{self, Inside, Literals, Rest};
use super::llvm;
use super::text::Text;

/// The bytes within which a formatted string's field must close; a stray brace is no field.
const FIELD_LIMIT: usize = 512;

pub(super) fn texts(source: &[u8]) -> Vec<Text> {
    let mut texts = Vec::new();
    let mut inside = Vec::new();
    Lexer { cursor: Cursor::new(source, 0), depth: 0 }.texts(None, &mut texts, &mut inside);
    while let Some(Inside { range, rest }) = inside.pop() {
        let cursor = Cursor::new(&source[..range.end], range.start);
        Lexer { cursor, depth: 1 }.texts(rest.as_ref(), &mut texts, &mut inside);
    }
    texts
}

/// The comments of a file, in order.
pub(super) fn comments(source: &[u8]) -> Vec<Range<usize>> {
    let mut comments = Vec::new();
    let mut cursor = Cursor::new(source, 0);
    while !cursor.at_end() {
        let start = cursor.pos;
        match cursor.peek(0) {
            b'#' => {
                cursor.skip_to(b'\n');
                comments.push(start..cursor.pos);
            }
            b if is_ident(b) || matches!(b, b'"' | b'\'') => {
                if Literal::read(&mut cursor).is_none() {
                    cursor.take_while(is_ident);
                }
            }
            _ => cursor.advance(1),
        }
    }
    comments
}

struct Lexer<'a> {
    cursor: Cursor<'a>,
    /// Open brackets, inside which a line break means nothing.
    depth: usize,
}

impl Lexer<'_> {
    /// The strings from here to the end. `rest` is what may follow one inside an unknown operand, whose own operands are put into `inside`.
    fn texts(mut self, rest: Option<&Rest>, texts: &mut Vec<Text>, inside: &mut Vec<Inside>) {
        while !self.cursor.at_end() {
            match self.cursor.peek(0) {
                b'#' => self.cursor.skip_to(b'\n'),
                b if is_ident(b) || matches!(b, b'"' | b'\'') => match Literal::read(&mut self.cursor) {
                    Some(literal) => {
                        let mut mapped = self.text(&literal, inside);
                        if let Some(rest) = rest {
                            rest.push(&mut mapped);
                        }
                        let asm = self.constraints().map(Arc::new);
                        // `inline_asm_elementwise("vadd4… $0, $1;", "=r,r", …)`
                        let dialect = if asm.is_some() { Dialect::LlvmAsm } else { Dialect::Free };
                        texts.push(Text { asm, ..Text::new(mapped, dialect) });
                    }
                    None => _ = self.cursor.take_while(is_ident),
                },
                b => {
                    self.count_bracket(b);
                    self.cursor.advance(1);
                }
            }
        }
    }

    fn count_bracket(&mut self, byte: u8) {
        match byte {
            b'(' | b'[' | b'{' => self.depth += 1,
            b')' | b']' | b'}' => self.depth = self.depth.saturating_sub(1),
            _ => {}
        }
    }

    /// The operands, if the string is followed by a list of LLVM's constraints: `, "=r,r"`, `, constraints="=r,r"`.
    fn constraints(&self) -> Option<Asm> {
        let mut ahead = self.cursor;
        skip_trivia(&mut ahead, self.depth > 0);
        if !ahead.eat(b",") {
            return None;
        }
        skip_trivia(&mut ahead, self.depth > 0);
        let mut named = ahead;
        named.take_while(is_ident);
        skip_trivia(&mut named, self.depth > 0);
        if named.eat(b"=") {
            skip_trivia(&mut named, self.depth > 0);
            named.eat(b"(");
            skip_trivia(&mut named, self.depth > 0);
            ahead = named;
        }
        let literal = Literal::read(&mut ahead).filter(|literal| !literal.formatted)?;
        let list = literal.content;
        llvm::is_constraints(&ahead.src[list.clone()])
            .then(|| llvm::listed(ahead.src, list.clone(), Vec::new(), list.start))
    }

    /// The string that begins with `first`.
    fn text(&mut self, first: &Literal, inside: &mut Vec<Inside>) -> Mapped {
        let across_lines = self.depth > 0;
        let mut mapped = Mapped::default();
        first.decode(&mut mapped, self.cursor.src);
        loop {
            let mut ahead = self.cursor;
            skip_trivia(&mut ahead, across_lines);
            let plus = eat_plus(&mut ahead);
            if plus {
                skip_trivia(&mut ahead, across_lines);
            }
            let start = ahead.pos;
            if let Some(literal) = Literal::read(&mut ahead) {
                // A method of the literals side by side makes another text of them.
                match plus.then(|| behind_literals(ahead, across_lines)).filter(|behind| joined::is_trailer(*behind)) {
                    Some(behind) => {
                        ahead = behind;
                        joined::paste(&mut ahead, start, &mut mapped, &Python { across_lines }, inside);
                    }
                    None => literal.decode(&mut mapped, ahead.src),
                }
            } else if !plus || !joined::paste(&mut ahead, start, &mut mapped, &Python { across_lines }, inside) {
                return mapped;
            }
            self.cursor = ahead;
        }
    }
}

/// Steps over a `+`, if one stands here.
fn eat_plus(cursor: &mut Cursor<'_>) -> bool {
    cursor.peek(1) != b'=' && cursor.eat(b"+")
}

/// Behind the literals that stand side by side here, of which the first has been read.
fn behind_literals(mut cursor: Cursor<'_>, across_lines: bool) -> Cursor<'_> {
    loop {
        let mut ahead = cursor;
        skip_trivia(&mut ahead, across_lines);
        if joined::is_trailer(ahead) {
            return ahead;
        }
        if Literal::read(&mut ahead).is_none() {
            return cursor;
        }
        cursor = ahead;
    }
}

/// How the operands of a concatenation are read.
struct Python {
    across_lines: bool,
}

impl Literals for Python {
    fn skip(&self, cursor: &mut Cursor<'_>) -> bool {
        match cursor.peek(0) {
            b'#' => cursor.skip_to(b'\n'),
            b if is_ident(b) || matches!(b, b'"' | b'\'') => {
                if Literal::read(cursor).is_none() && cursor.take_while(is_ident).is_empty() {
                    return false;
                }
            }
            _ => return false,
        }
        true
    }

    fn content(&self, mut cursor: Cursor<'_>) -> Option<Range<usize>> {
        Literal::read(&mut cursor).map(|literal| literal.content)
    }

    fn goes_on(&self, mut cursor: Cursor<'_>) -> bool {
        skip_trivia(&mut cursor, self.across_lines);
        eat_plus(&mut cursor)
    }
}

fn skip_trivia(cursor: &mut Cursor<'_>, across_lines: bool) {
    loop {
        cursor.take_while(|b| matches!(b, b' ' | b'\t' | b'\r' | 0x0c) || (across_lines && b == b'\n'));
        if across_lines && cursor.peek(0) == b'#' {
            cursor.skip_to(b'\n');
        } else if !cursor.eat_continuation() {
            return;
        }
    }
}

/// A literal's content and how to read it.
struct Literal {
    content: Range<usize>,
    raw: bool,
    formatted: bool,
}

impl Literal {
    /// Steps over the literal here, its prefix included; stays where there is none.
    fn read(cursor: &mut Cursor<'_>) -> Option<Self> {
        let mut ahead = *cursor;
        let prefix = ahead.take_while(|b| b.is_ascii_alphabetic());
        let known = prefix.len() <= 2 && prefix.iter().all(|b| b"rbuft".contains(&b.to_ascii_lowercase()));
        let quote = ahead.peek(0);
        if !known || !matches!(quote, b'"' | b'\'') {
            return None;
        }
        let has = |letter: u8| prefix.iter().any(|b| b.eq_ignore_ascii_case(&letter));
        let formatted = has(b'f') || has(b't');
        let content = skip_content(&mut ahead, quote, formatted);
        *cursor = ahead;
        Some(Self { content, raw: has(b'r'), formatted })
    }

    fn escapes(&self) -> Escapes {
        if self.raw { Escapes::None } else { Escapes::Python }
    }

    fn decode(&self, out: &mut Mapped, source: &[u8]) {
        let Range { start, end } = self.content;
        if !self.formatted {
            return decode_part(out, source, start..end, end, self.escapes());
        }
        let mut cursor = Cursor::new(&source[..end], start);
        let mut copied = start;
        while let Some(ahead) = memchr::memchr2(b'{', b'}', cursor.rest()) {
            cursor.advance(ahead);
            decode_part(out, source, copied..cursor.pos, end, self.escapes());
            let brace = cursor.pos;
            if cursor.peek(1) == cursor.peek(0) {
                cursor.advance(2);
                out.push_unit(&source[brace..=brace], brace..cursor.pos, end);
            } else if cursor.peek(0) == b'{' && cursor.skip_brackets(FIELD_LIMIT) {
                let expression = Cursor::new(source, brace + 1).take_while(|b| b == b' ').len() + brace + 1;
                let name = Cursor::new(source, expression).take_while(is_ident);
                let behind = Cursor::new(source, expression + name.len());
                let lone = !name.is_empty() && matches!(behind.peek(0), b'}' | b':' | b'!');
                let name = if name.is_empty() { b"field" } else { name };
                let name = if lone { name.into() } else { Cow::from(out.distinct(name)) };
                out.push_paste(&name, brace..cursor.pos, end, Paste::Field);
            } else {
                cursor.advance(1);
                out.push_raw(source, brace..cursor.pos, end);
            }
            copied = cursor.pos;
        }
        decode_part(out, source, copied..end, end, self.escapes());
    }
}

/// From the opening quote to behind the closing one; yields what is between. A string that one quote opens ends with its
/// line at the latest. A field of a formatted string may hold quotes of its own.
fn skip_content(cursor: &mut Cursor<'_>, quote: u8, formatted: bool) -> Range<usize> {
    let triple = [quote; 3];
    let delimiter = if cursor.starts_with(&triple) { triple.as_slice() } else { &triple[..1] };
    cursor.advance(delimiter.len());
    let start = cursor.pos;
    while !cursor.at_end() {
        if cursor.starts_with(delimiter) {
            let content = start..cursor.pos;
            cursor.advance(delimiter.len());
            return content;
        }
        match cursor.peek(0) {
            b'\\' => {
                if !cursor.eat_continuation() {
                    cursor.advance(2);
                }
            }
            b'\n' if delimiter.len() == 1 => break,
            b'{' if formatted && cursor.peek(1) == b'{' => cursor.advance(2),
            b'{' if formatted && delimiter.len() == 1 => {
                let near = &cursor.rest()[..cursor.rest().len().min(FIELD_LIMIT)];
                let line_end = memchr::memchr(b'\n', near).unwrap_or(near.len());
                let mut field = Cursor::new(&near[..line_end], 0);
                cursor.advance(if field.skip_brackets(FIELD_LIMIT) { field.pos } else { 1 });
            }
            _ => cursor.advance(1),
        }
    }
    start..cursor.pos
}
