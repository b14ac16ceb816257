//! The tokens of C, as the preprocessor tells them apart.

use std::ops::Range;
use std::rc::Rc;

use super::super::super::cursor::{Cursor, is_ident};
use super::super::super::mapped::Mapped;
use super::super::escape::{Escapes, decode};

/// A token of the file, or one that the preprocessor has made.
#[derive(Debug, Clone)]
pub(super) struct Token {
    pub(super) kind: Kind,
    /// Where it is spelled, in bytes of the file. For one that the preprocessor has made, the place of its first part.
    pub(super) at: Range<usize>,
    /// Whether white space or a comment stands before it.
    pub(super) blank: bool,
    /// Its text, if the preprocessor has made it: by `#`, by `##`, or because it is not known.
    pub(super) made: Option<Rc<Mapped>>,
    /// The macros whose expansion wrote it, which it does not call again.
    pub(super) hidden: Option<Rc<[u32]>>,
    /// The outermost use of a macro that wrote it, by its number.
    pub(super) site: Option<u32>,
}

/// What a token is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Kind {
    /// A name or a keyword.
    Word,
    /// A number, as the preprocessor reads numbers: `4.u32` is one.
    Number,
    /// A string literal, with the place of its content; `raw` has no escape sequences.
    Text { start: usize, end: usize, raw: bool },
    /// A string that `#` has made.
    Made,
    /// A part of a text that is not known: a parameter of the macro whose body is read.
    Hole,
    /// `'c'`.
    Char,
    /// `##`.
    Join,
    /// Another sign, one byte of it.
    Sign(u8),
    /// `#if`, `#ifdef` or `#ifndef`.
    If,
    /// `#elif`, and `#else` if it is the last.
    Else { last: bool },
    /// `#endif`.
    EndIf,
    /// `#define`, to the end of the directive.
    Define,
    /// `#undef`.
    Undef,
    /// Another directive.
    Directive,
}

impl Token {
    pub(super) fn new(kind: Kind, at: Range<usize>, blank: bool) -> Self {
        Self { kind, at, blank, made: None, hidden: None, site: None }
    }

    /// Its text.
    pub(super) fn bytes<'a>(&'a self, source: &'a [u8]) -> &'a [u8] {
        match &self.made {
            Some(made) => made.bytes(),
            None => &source[self.at.clone()],
        }
    }

    pub(super) fn is(&self, sign: u8) -> bool {
        self.kind == Kind::Sign(sign)
    }

    pub(super) fn is_word(&self, source: &[u8], word: &[u8]) -> bool {
        self.kind == Kind::Word && self.bytes(source) == word
    }

    pub(super) fn is_string(&self) -> bool {
        matches!(self.kind, Kind::Text { .. } | Kind::Made)
    }

    pub(super) fn is_conditional(&self) -> bool {
        matches!(self.kind, Kind::If | Kind::Else { .. } | Kind::EndIf)
    }

    /// Its spelling with its places.
    pub(super) fn spelling(&self, source: &[u8]) -> Mapped {
        match &self.made {
            Some(made) => (**made).clone(),
            None => {
                let mut mapped = Mapped::default();
                mapped.push_raw(source, self.at.clone(), self.at.end);
                mapped
            }
        }
    }

    /// The content of a string, decoded, or the name of what is not known.
    pub(super) fn content(&self, source: &[u8]) -> Mapped {
        match self.kind {
            Kind::Text { start, end, raw } => {
                let mut mapped = Mapped::default();
                decode(&mut mapped, source, start..end, if raw { Escapes::None } else { Escapes::C });
                mapped
            }
            _ => self.spelling(source),
        }
    }
}

/// Reads the tokens of a part of a file one after the other.
#[derive(Clone)]
pub(super) struct Lexer<'a> {
    pub(super) cursor: Cursor<'a>,
    at_line_start: bool,
    /// Inside a macro's body, where `#` is an operator.
    in_body: bool,
}

impl<'a> Lexer<'a> {
    pub(super) fn new(source: &'a [u8]) -> Self {
        Self { cursor: Cursor::new(source, 0), at_line_start: true, in_body: false }
    }

    /// The tokens of a macro's body.
    pub(super) fn of_body(source: &'a [u8], body: Range<usize>) -> Self {
        let source = &source[..body.end];
        Self { cursor: Cursor::new(source, body.start), at_line_start: false, in_body: true }
    }

    fn directive(&mut self, blank: bool) -> Token {
        let start = self.cursor.pos;
        self.cursor.advance(1);
        self.cursor.take_while(|b| matches!(b, b' ' | b'\t'));
        let kind = match self.cursor.take_while(is_ident) {
            b"if" | b"ifdef" | b"ifndef" => Kind::If,
            b"elif" | b"elifdef" | b"elifndef" => Kind::Else { last: false },
            b"else" => Kind::Else { last: true },
            b"endif" => Kind::EndIf,
            b"define" => Kind::Define,
            b"undef" => Kind::Undef,
            _ => Kind::Directive,
        };
        if kind == Kind::Define {
            skip_definition(&mut self.cursor);
        } else {
            self.cursor.skip_logical_line();
        }
        Token::new(kind, start..self.cursor.pos, blank)
    }
}

impl Iterator for Lexer<'_> {
    type Item = Token;

    fn next(&mut self) -> Option<Token> {
        let mut blank = false;
        loop {
            match self.cursor.peek(0) {
                _ if self.cursor.at_end() => return None,
                b'\n' => {
                    self.at_line_start = true;
                    self.cursor.advance(1);
                }
                b' ' | b'\t' | b'\r' | 0x0b | 0x0c => self.cursor.advance(1),
                b'\\' if self.cursor.eat_continuation() => {}
                b'/' if skip_comment(&mut self.cursor) => {}
                _ => break,
            }
            blank = true;
        }
        let at_line_start = std::mem::replace(&mut self.at_line_start, false) && !self.in_body;
        let start = self.cursor.pos;
        let kind = match self.cursor.peek(0) {
            b'#' if at_line_start => return Some(self.directive(blank)),
            b'#' if self.cursor.peek(1) == b'#' => {
                self.cursor.advance(2);
                Kind::Join
            }
            b'\'' => {
                self.cursor.skip_quoted(b'\'');
                self.cursor.advance(1);
                Kind::Char
            }
            b if b.is_ascii_digit() => {
                skip_number(&mut self.cursor);
                Kind::Number
            }
            b if is_ident(b) || b == b'"' => match string(&mut self.cursor) {
                Some(kind) => kind,
                None => {
                    if self.cursor.take_while(is_ident).is_empty() {
                        self.cursor.advance(1);
                    }
                    Kind::Word
                }
            },
            b => {
                self.cursor.advance(1);
                Kind::Sign(b)
            }
        };
        Some(Token::new(kind, start..self.cursor.pos, blank))
    }
}

/// Goes to the end of a `#define`: to the line break outside comments and literals.
fn skip_definition(cursor: &mut Cursor<'_>) {
    while let Some(ahead) = cursor.rest().iter().position(|b| matches!(b, b'\n' | b'\\' | b'/' | b'"' | b'\'')) {
        cursor.advance(ahead);
        match cursor.peek(0) {
            b'\n' => return,
            b'\\' if cursor.eat_continuation() => {}
            b'/' if skip_comment(cursor) => {}
            b'"' => _ = content(cursor),
            b'\'' => {
                cursor.skip_quoted(b'\'');
                cursor.advance(1);
            }
            _ => cursor.advance(1),
        }
    }
    cursor.advance(cursor.src.len());
}

/// Steps over a comment, if one stands here. A backslash at the end of its line continues a `//` comment.
pub(super) fn skip_comment(cursor: &mut Cursor<'_>) -> bool {
    if cursor.starts_with(b"//") {
        cursor.skip_logical_line();
        return true;
    }
    let block = cursor.eat(b"/*");
    if block {
        cursor.skip_past(b"*/");
    }
    block
}

/// Steps over a number, so that the quotes in `1'000` open nothing.
pub(super) fn skip_number(cursor: &mut Cursor<'_>) {
    loop {
        cursor.take_while(|b| is_ident(b) || b == b'.');
        if cursor.peek(0) != b'\'' || !cursor.peek(1).is_ascii_hexdigit() {
            return;
        }
        cursor.advance(1);
    }
}

/// Steps over the literal here, its prefix included; stays where there is none.
pub(super) fn string(cursor: &mut Cursor<'_>) -> Option<Kind> {
    let mut ahead = *cursor;
    let prefix = ahead.take_while(is_ident);
    let (encoding, raw) = prefix.strip_suffix(b"R").map_or((prefix, false), |encoding| (encoding, true));
    if !matches!(encoding, b"" | b"u8" | b"u" | b"U" | b"L") || ahead.peek(0) != b'"' {
        return None;
    }
    let content = if raw {
        ahead.advance(1);
        raw_content(&mut ahead)?
    } else {
        content(&mut ahead)
    };
    *cursor = ahead;
    Some(Kind::Text { start: content.start, end: content.end, raw })
}

/// From the opening quote to behind the closing one, or to the end of the line, where a literal ends at the latest.
fn content(cursor: &mut Cursor<'_>) -> Range<usize> {
    cursor.advance(1);
    let start = cursor.pos;
    while let Some(ahead) = memchr::memchr3(b'\\', b'"', b'\n', cursor.rest()) {
        cursor.advance(ahead);
        let end = cursor.pos;
        match cursor.peek(0) {
            b'\n' => return start..end,
            b'"' => {
                cursor.advance(1);
                return start..end;
            }
            _ if cursor.eat_continuation() => {}
            _ => cursor.advance(2),
        }
    }
    cursor.advance(cursor.src.len());
    start..cursor.pos
}

/// `R"` has been read: to behind `)delimiter"`.
fn raw_content(cursor: &mut Cursor<'_>) -> Option<Range<usize>> {
    let delimiter = cursor.take_while(|b| !matches!(b, b'(' | b')' | b'\\' | b'"' | b' ' | b'\n'));
    if delimiter.len() > 16 || !cursor.eat(b"(") {
        return None;
    }
    let start = cursor.pos;
    let close = [b")", delimiter, b"\""].concat();
    let closed = cursor.skip_past(&close);
    Some(start..if closed { cursor.pos - close.len() } else { cursor.pos })
}
