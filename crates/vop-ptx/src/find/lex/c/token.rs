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

/// Reads the tokens of a part of a file one after the other. What `#if 0` leaves out is no token, and a conditional whose branch is
/// known is none either.
#[derive(Clone)]
pub(super) struct Lexer<'a> {
    pub(super) cursor: Cursor<'a>,
    at_line_start: bool,
    /// Inside a macro's body, where `#` is an operator.
    in_body: bool,
    conditions: Conditions,
    /// Whether all branches are read.
    all_branches: bool,
    /// The part that the last step left out because it is never compiled.
    left_out: (usize, usize),
}

/// The conditionals that are open.
#[derive(Clone, Copy, Default)]
struct Conditions {
    depth: u32,
    /// A bit for each of the outer 64: whether its directives are no tokens, because one of its branches is always taken.
    known: u64,
    /// And whether that branch has begun: those behind it are never compiled.
    decided: u64,
}

impl Conditions {
    /// The bit of the innermost conditional; none outside of all, and too far inside.
    fn bit(self) -> u64 {
        match self.depth {
            0 => 0,
            depth => 1_u64.checked_shl(depth - 1).unwrap_or(0),
        }
    }

    fn open(&mut self, known: bool) {
        self.depth += 1;
        let bit = self.bit();
        (self.known, self.decided) = (self.known & !bit, self.decided & !bit);
        if known {
            (self.known, self.decided) = (self.known | bit, self.decided | bit);
        }
    }
}

impl<'a> Lexer<'a> {
    pub(super) fn new(source: &'a [u8]) -> Self {
        Self::at(Cursor::new(source, 0), false)
    }

    fn at(cursor: Cursor<'a>, in_body: bool) -> Self {
        Self {
            cursor,
            at_line_start: !in_body,
            in_body,
            conditions: Conditions::default(),
            all_branches: false,
            left_out: (0, 0),
        }
    }

    /// The tokens of a macro's body.
    pub(super) fn of_body(source: &'a [u8], body: Range<usize>) -> Self {
        let source = &source[..body.end];
        Self::at(Cursor::new(source, body.start), true)
    }

    /// The parts of a file that are never compiled.
    pub(super) fn left_out(source: &'a [u8]) -> Vec<Range<usize>> {
        let mut all: Vec<Range<usize>> = Vec::new();
        let mut lexer = Self::new(source);
        while lexer.next().is_some() || lexer.left_out.0 < lexer.left_out.1 {
            let (start, end) = std::mem::take(&mut lexer.left_out);
            if start < end {
                all.push(start..end);
            }
        }
        all
    }

    /// Reads a directive; `None` for a conditional whose branch is known.
    fn directive(&mut self, blank: bool) -> Option<Token> {
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
        let token = Token::new(kind, start..self.cursor.pos, blank);
        if self.all_branches || !token.is_conditional() { Some(token) } else { self.conditional(token) }
    }

    /// The token that a conditional is: itself where nothing is known of its condition. Of one that has a branch that is always
    /// taken no directive is a token. A branch that is never compiled is stepped over.
    fn conditional(&mut self, directive: Token) -> Option<Token> {
        let mut token = directive;
        loop {
            let bit = self.conditions.bit();
            match token.kind {
                Kind::If => match condition(self.cursor.src, &token.at).filter(|_| self.conditions.depth < 64) {
                    None => {
                        self.conditions.open(false);
                        return Some(token);
                    }
                    Some(true) => {
                        self.conditions.open(true);
                        return None;
                    }
                    Some(false) => {
                        token = self.leave_out()?;
                        match token.kind {
                            Kind::EndIf => return None,
                            // `#if 0`, `#elif A` is `#if A`.
                            Kind::Else { last: false } => token.kind = Kind::If,
                            _ => {
                                self.conditions.open(true);
                                return None;
                            }
                        }
                    }
                },
                // Of a file that begins inside a conditional, or too far inside to be known.
                Kind::Else { .. } if bit == 0 => return Some(token),
                Kind::Else { .. } if self.conditions.decided & bit != 0 => {
                    while token.kind != Kind::EndIf {
                        token = self.leave_out()?;
                    }
                }
                Kind::Else { last: false } => match condition(self.cursor.src, &token.at) {
                    Some(false) => token = self.leave_out()?,
                    Some(true) => {
                        self.conditions.decided |= bit;
                        token.kind = Kind::Else { last: true };
                        return Some(token);
                    }
                    None => return Some(token),
                },
                Kind::EndIf => {
                    let known = self.conditions.known & bit != 0;
                    self.conditions.depth = self.conditions.depth.saturating_sub(1);
                    return (!known).then_some(token);
                }
                _ => return Some(token),
            }
        }
    }

    /// Steps over a branch that is never compiled, and over the directive that ends it; yields that.
    fn leave_out(&mut self) -> Option<Token> {
        let begin = self.cursor.pos;
        let mut inside = Lexer { all_branches: true, at_line_start: false, ..self.clone() };
        let mut depth = 0_usize;
        let ends = loop {
            let Some(token) = inside.next() else { break None };
            match token.kind {
                Kind::If => depth += 1,
                Kind::Else { .. } | Kind::EndIf if depth == 0 => break Some(token),
                Kind::EndIf => depth -= 1,
                _ => {}
            }
        };
        self.cursor = inside.cursor;
        if self.left_out.0 == self.left_out.1 {
            self.left_out.0 = begin;
        }
        self.left_out.1 = ends.as_ref().map_or(self.cursor.pos, |token| token.at.start);
        ends
    }
}

/// The value of the condition of `#if` or `#elif` where it needs no macro; of `defined` and of names nothing is known.
fn condition(source: &[u8], directive: &Range<usize>) -> Option<bool> {
    let mut cursor = Cursor::new(&source[..directive.end], directive.start + 1);
    cursor.take_while(|b| matches!(b, b' ' | b'\t'));
    if !matches!(cursor.take_while(is_ident), b"if" | b"elif") {
        return None;
    }
    let tokens: Vec<Token> = Lexer::of_body(source, cursor.pos..directive.end).take(LONGEST_CONDITION + 1).collect();
    if tokens.is_empty() || tokens.len() > LONGEST_CONDITION {
        return None;
    }
    let mut reader = Condition { source, tokens: &tokens, at: 0 };
    let value = reader.any();
    value.filter(|_| reader.at == tokens.len())
}

/// The tokens that a condition may have to be looked at.
const LONGEST_CONDITION: usize = 64;

/// Reads a condition; what is not known has no value.
struct Condition<'a> {
    source: &'a [u8],
    tokens: &'a [Token],
    at: usize,
}

impl Condition<'_> {
    fn eat(&mut self, sign: u8, times: usize) -> bool {
        let here = (0..times).all(|i| self.tokens.get(self.at + i).is_some_and(|token| token.is(sign)));
        self.at += if here { times } else { 0 };
        here
    }

    /// `a || b`
    fn any(&mut self) -> Option<bool> {
        let mut value = self.all();
        while self.eat(b'|', 2) {
            value = match (value, self.all()) {
                (Some(true), _) | (_, Some(true)) => Some(true),
                (Some(false), Some(false)) => Some(false),
                _ => None,
            };
        }
        value
    }

    /// `a && b`
    fn all(&mut self) -> Option<bool> {
        let mut value = self.one();
        while self.eat(b'&', 2) {
            value = match (value, self.one()) {
                (Some(false), _) | (_, Some(false)) => Some(false),
                (Some(true), Some(true)) => Some(true),
                _ => None,
            };
        }
        value
    }

    /// What stands between `&&` and `||`.
    fn one(&mut self) -> Option<bool> {
        if self.tokens.get(self.at).is_some_and(|token| token.is(b'!'))
            && !self.tokens.get(self.at + 1).is_some_and(|token| token.is(b'='))
        {
            self.at += 1;
            return self.one().map(|value| !value);
        }
        let start = self.at;
        let value = match self.tokens.get(self.at) {
            Some(token) if token.is(b'(') => {
                self.at += 1;
                let value = self.any();
                if self.eat(b')', 1) { value } else { None }
            }
            // `true` is a name that is not defined, in C before C23.
            Some(token) if token.is_word(self.source, b"false") => {
                self.at += 1;
                Some(false)
            }
            Some(token) if token.kind == Kind::Number => {
                self.at += 1;
                is_not_zero(token.bytes(self.source))
            }
            _ => None,
        };
        if self.ends() {
            return value;
        }
        // Another operator: to the end of what it is an operand of.
        self.at = start;
        let mut depth = 0_usize;
        while !(depth == 0 && self.ends()) {
            match self.tokens[self.at].kind {
                Kind::Sign(b'(') => depth += 1,
                Kind::Sign(b')') => depth -= 1,
                // Its operators bind less than `||` and `&&`.
                Kind::Sign(b'?') if depth == 0 => {
                    self.at = self.tokens.len() + 1;
                    return None;
                }
                _ => {}
            }
            self.at += 1;
            if self.at >= self.tokens.len() {
                break;
            }
        }
        None
    }

    /// Whether an operand of `&&` or `||` ends here.
    fn ends(&self) -> bool {
        let twice = |sign: u8| (0..2).all(|i| self.tokens.get(self.at + i).is_some_and(|token| token.is(sign)));
        self.tokens.get(self.at).is_none_or(|token| token.is(b')')) || twice(b'&') || twice(b'|')
    }
}

fn is_not_zero(number: &[u8]) -> Option<bool> {
    let digits = number.trim_ascii_end();
    let suffix = digits.iter().rev().take_while(|b| matches!(b, b'u' | b'U' | b'l' | b'L' | b'z' | b'Z')).count();
    let digits = &digits[..digits.len() - suffix];
    let digits = match digits {
        [b'0', b'x' | b'X' | b'b' | b'B', digits @ ..] => digits,
        digits => digits,
    };
    let all = !digits.is_empty() && digits.iter().all(|b| b.is_ascii_hexdigit() || *b == b'\'');
    all.then(|| digits.iter().any(|b| !matches!(b, b'0' | b'\'')))
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
                b => {
                    let at_line_start = std::mem::replace(&mut self.at_line_start, false) && !self.in_body;
                    if b != b'#' || !at_line_start {
                        break;
                    }
                    if let Some(token) = self.directive(blank) {
                        return Some(token);
                    }
                }
            }
            blank = true;
        }
        let start = self.cursor.pos;
        let kind = match self.cursor.peek(0) {
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
