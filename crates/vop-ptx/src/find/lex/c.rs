//! C, C++, CUDA and OpenCL: literals and what the preprocessor does between them.
//!
//! A string may be spread over adjacent literals, over macro names and stringised parameters between them, over the
//! branches of `#if`, over `+` and `<<`; and a whole instruction may be the argument of a macro that stringises it.

use std::borrow::Cow;
use std::ops::Range;

use super::super::cursor::{Cursor, is_ident, is_space};
use super::super::mapped::{Mapped, Paste};
use super::super::mnemonic::{self, Word};
use super::super::placeholder::Dialect;
use super::escape::{Escapes, decode};
use super::text::Text;

pub(super) fn texts(source: &[u8]) -> Vec<Text> {
    let mut lexer = Lexer {
        cursor: Cursor::new(source, 0),
        texts: Vec::new(),
        at_line_start: true,
        in_directive: false,
        asm: AsmState::Outside,
        pasted_before: None,
    };
    while !lexer.cursor.at_end() {
        lexer.token();
    }
    lexer.texts
}

/// The comments of a file, in order.
pub(super) fn comments(source: &[u8]) -> Vec<Range<usize>> {
    let mut comments = Vec::new();
    let mut cursor = Cursor::new(source, 0);
    while !cursor.at_end() {
        let start = cursor.pos;
        if skip_comment(&mut cursor) {
            comments.push(start..cursor.pos);
            continue;
        }
        match cursor.peek(0) {
            b'\'' => {
                cursor.skip_quoted(b'\'');
                cursor.advance(1);
            }
            b if b.is_ascii_digit() => skip_number(&mut cursor),
            b if is_ident(b) || b == b'"' => {
                if Literal::read(&mut cursor).is_none() && cursor.take_while(is_ident).is_empty() {
                    cursor.advance(1);
                }
            }
            _ => cursor.advance(1),
        }
    }
    comments
}

/// How far `asm volatile ( "template"` has been read.
#[derive(Clone, Copy, PartialEq, Eq)]
enum AsmState {
    Outside,
    Keyword,
    Open,
}

struct Lexer<'a> {
    cursor: Cursor<'a>,
    texts: Vec<Text>,
    at_line_start: bool,
    /// Inside `#define`, where a line break ends everything.
    in_directive: bool,
    asm: AsmState,
    /// A macro's name, or a stringised parameter, that a literal may follow.
    pasted_before: Option<Range<usize>>,
}

impl<'a> Lexer<'a> {
    fn token(&mut self) {
        let at_line_start = std::mem::replace(&mut self.at_line_start, false);
        if self.cursor.eat_continuation() || skip_comment(&mut self.cursor) {
            self.at_line_start = at_line_start;
            return;
        }
        match self.cursor.peek(0) {
            b'\n' => self.line_break(),
            b' ' | b'\t' | b'\r' => {
                self.at_line_start = at_line_start;
                self.cursor.advance(1);
            }
            b'#' if at_line_start && !self.in_directive => self.directive(),
            b'#' => self.pasted_before = stringised(&mut self.cursor),
            b'\'' => {
                self.cursor.skip_quoted(b'\'');
                self.cursor.advance(1);
            }
            b'@' if self.is_guarded_instruction() => self.stringised_instructions(self.cursor.pos),
            b if b.is_ascii_digit() => skip_number(&mut self.cursor),
            b if is_ident(b) || b == b'"' => self.word_or_string(),
            b => self.punctuation(b),
        }
    }

    fn line_break(&mut self) {
        self.cursor.advance(1);
        self.at_line_start = true;
        if self.in_directive {
            self.in_directive = false;
            self.asm = AsmState::Outside;
            self.pasted_before = None;
        }
    }

    fn punctuation(&mut self, byte: u8) {
        self.cursor.advance(1);
        self.pasted_before = None;
        self.asm = match (byte, self.asm) {
            (b'(', AsmState::Keyword) => AsmState::Open,
            (b'(' | b')', state) => state,
            _ => AsmState::Outside,
        };
    }

    fn directive(&mut self) {
        let name = directive_name(&mut self.cursor);
        if name != b"define" {
            self.cursor.skip_logical_line();
            return;
        }
        self.in_directive = true;
        self.asm = AsmState::Outside;
        self.pasted_before = None;
        self.cursor.take_while(|b| matches!(b, b' ' | b'\t'));
        self.cursor.take_while(is_ident);
        self.cursor.skip_brackets_here();
    }

    fn word_or_string(&mut self) {
        let mut ahead = self.cursor;
        if let Some(literal) = Literal::read(&mut ahead) {
            self.cursor = ahead;
            self.string(literal);
            return;
        }
        let start = self.cursor.pos;
        let word = self.cursor.take_while(is_ident);
        if mnemonic::classify(word) == Word::Video && begins_with_types(self.cursor) {
            self.stringised_instructions(start);
            return;
        }
        match word {
            b"asm" | b"__asm__" | b"__asm" => self.asm = AsmState::Keyword,
            b"volatile" | b"__volatile__" | b"__volatile" | b"goto" | b"inline" if self.asm == AsmState::Keyword => {}
            b"return" | b"case" | b"else" | b"throw" | b"co_return" | b"co_yield" => self.pasted_before = None,
            _ => self.pasted_before = Some(start..self.cursor.pos),
        }
    }

    /// Whether a guard and an instruction stand here, outside any literal.
    fn is_guarded_instruction(&self) -> bool {
        let mut ahead = self.cursor;
        ahead.take_while(|b| matches!(b, b'@' | b'!' | b'%'));
        ahead.take_while(is_ident);
        ahead.take_while(|b| b == b' ');
        mnemonic::classify(ahead.take_while(is_ident)) == Word::Video && begins_with_types(ahead)
    }

    /// `PTX(vadd4.u32.u32.u32 %0, %1, %2, %3;)`: from the mnemonic to the bracket that closes the argument.
    fn stringised_instructions(&mut self, start: usize) {
        let mut mapped = Mapped::default();
        let mut depth = 0_usize;
        let mut copied = start;
        let mut ahead = self.cursor;
        let end = loop {
            let piece_end = ahead.pos;
            if ahead.eat_continuation() {
                mapped.push_raw(ahead.src, copied..piece_end, piece_end);
                copied = ahead.pos;
                continue;
            }
            match ahead.peek(0) {
                b'(' => depth += 1,
                b')' if depth == 0 => break piece_end,
                b')' => depth -= 1,
                b'\n' if self.in_directive => break piece_end,
                _ if ahead.at_end() => break piece_end,
                _ => {}
            }
            ahead.advance(1);
        };
        mapped.push_raw(ahead.src, copied..end, end);
        self.cursor = ahead;
        self.texts.push(Text { mapped, dialect: Dialect::Free });
    }

    /// The string that begins with `first`, in each version that `#if` gives it.
    fn string(&mut self, first: Literal) {
        let dialect = if self.asm == AsmState::Open { Dialect::GccAsm } else { Dialect::Free };
        let mut pieces = Vec::new();
        if let Some(name) = self.pasted_before.take() {
            pieces.push(Piece::Paste { name: name.clone(), source: name, by: Paste::Macro });
        }
        // In `extern "C" int f()` the names that follow are no paste.
        let is_linkage = matches!(&self.cursor.src[first.content.clone()], b"C" | b"C++");
        pieces.push(Piece::Literal(first));
        while !is_linkage && let Some((more, after)) = self.next_pieces(dialect) {
            pieces.extend(more);
            self.cursor = after;
        }
        self.asm = AsmState::Outside;
        open_conditionals(&mut pieces);
        for version in 0..versions(&pieces) {
            let mapped = join(self.cursor.src, &pieces, version);
            self.texts.push(Text { mapped, dialect });
        }
    }

    /// What continues the string here: conditional directives, then a literal or a paste.
    fn next_pieces(&self, dialect: Dialect) -> Option<(Vec<Piece>, Cursor<'a>)> {
        let mut pieces = Vec::new();
        let mut ahead = self.cursor;
        let behind_quote = ahead.pos;
        let mut joined_by_operator = false;
        loop {
            let new_line = self.skip_trivia(&mut ahead)?;
            if ahead.peek(0) == b'#' && new_line && !self.in_directive {
                pieces.push(conditional(&mut ahead)?);
            } else if dialect == Dialect::Free && !joined_by_operator && eat_joining_operator(&mut ahead) {
                joined_by_operator = true;
            } else {
                break;
            }
        }
        if let Some(literal) = Literal::read(&mut ahead) {
            pieces.push(Piece::Literal(literal));
            return Some((pieces, ahead));
        }
        let attached = ahead.pos == behind_quote;
        let paste = self.paste(&mut ahead, joined_by_operator)?;
        // `"…"_ptx`: a user-defined literal's suffix, unless a string goes on behind it.
        let is_suffix = attached && matches!(ahead.src.get(behind_quote), Some(b'_' | b's')) && {
            let mut beyond = ahead;
            self.skip_trivia(&mut beyond);
            Literal::read(&mut beyond).is_none()
        };
        if !is_suffix {
            pieces.push(paste);
        }
        Some((pieces, ahead))
    }

    /// A macro's name with its arguments, or `#parameter`; behind an operator any name.
    fn paste(&self, cursor: &mut Cursor<'_>, joined_by_operator: bool) -> Option<Piece> {
        let start = cursor.pos;
        if cursor.peek(0) == b'#' {
            let name = stringised(cursor)?;
            return Some(Piece::Paste { name, source: start..cursor.pos, by: Paste::Macro });
        }
        if cursor.peek(0).is_ascii_digit() || cursor.take_while(is_ident).is_empty() {
            return None;
        }
        let mut name = start..cursor.pos;
        if joined_by_operator {
            cursor.take_while(|b| is_ident(b) || matches!(b, b':' | b'.'));
        }
        if cursor.peek(0) == b'(' {
            let inside = cursor.pos + 1;
            cursor.skip_brackets(256);
            // `STR(T)`, `std::to_string(n)`: the argument says more than the function.
            let argument = Cursor::new(cursor.src, inside).take_while(is_ident);
            if !argument.is_empty() {
                name = inside..inside + argument.len();
            }
        }
        let by = if joined_by_operator { Paste::Field } else { Paste::Macro };
        Some(Piece::Paste { name, source: start..cursor.pos, by })
    }

    /// Steps over blanks and comments. Returns whether a line began; `None` where the end of the line ends the string.
    fn skip_trivia(&self, cursor: &mut Cursor<'_>) -> Option<bool> {
        let mut new_line = false;
        loop {
            cursor.take_while(|b| matches!(b, b' ' | b'\t' | b'\r'));
            if cursor.peek(0) == b'\n' {
                if self.in_directive {
                    return None;
                }
                new_line = true;
                cursor.advance(1);
            } else if !cursor.eat_continuation() && !skip_comment(cursor) {
                return Some(new_line);
            }
        }
    }
}

/// Whether two types stand here, as behind a mnemonic: no expression of C reads like that.
fn begins_with_types(mut cursor: Cursor<'_>) -> bool {
    (0..2).all(|_| cursor.eat(b".") && mnemonic::is_video_type(cursor.take_while(is_ident)))
}

/// A part of a string.
#[derive(Debug, Clone)]
enum Piece {
    Literal(Literal),
    Paste { name: Range<usize>, source: Range<usize>, by: Paste },
    If,
    Else { last: bool },
    EndIf,
}

/// Puts the `#if` in front that a string inside one began behind: `asm(`, `#if A`, `"vmin2"`, `#else` …
fn open_conditionals(pieces: &mut Vec<Piece>) {
    let (mut depth, mut missing) = (0_usize, 0_usize);
    for piece in pieces.iter() {
        match piece {
            Piece::If => depth += 1,
            Piece::Else { .. } if depth == 0 => (depth, missing) = (1, missing + 1),
            Piece::EndIf if depth == 0 => missing += 1,
            Piece::EndIf => depth -= 1,
            _ => {}
        }
    }
    pieces.splice(0..0, std::iter::repeat_n(Piece::If, missing));
}

/// The number of versions of the string that show every branch: the branches of the longest `#if`, with a missing `#else`
/// counted.
fn versions(pieces: &[Piece]) -> usize {
    let mut branches = Vec::new();
    let mut most = 1;
    for piece in pieces {
        match piece {
            Piece::If => branches.push(2),
            Piece::Else { last: false } => branches.iter_mut().next_back().into_iter().for_each(|n| *n += 1),
            Piece::EndIf => most = most.max(branches.pop().unwrap_or(1)),
            _ => {}
        }
    }
    // An `#if` around the string's end, say `#else` and another string's start, is left open.
    most.max(branches.into_iter().max().unwrap_or(1)).min(8)
}

/// The string that takes the branch `version` of every `#if`, or its last one.
fn join(source: &[u8], pieces: &[Piece], version: usize) -> Mapped {
    let mut mapped = Mapped::default();
    let mut open: Vec<Branch> = Vec::new();
    for piece in pieces {
        match piece {
            Piece::If => open.push(Branch { number: 0, taken: version == 0 }),
            Piece::Else { last } => {
                if let Some(branch) = open.last_mut() {
                    branch.number += 1;
                    branch.taken = version == branch.number || (*last && version > branch.number);
                }
            }
            Piece::EndIf => _ = open.pop(),
            _ if open.iter().any(|branch| !branch.taken) => {}
            Piece::Literal(literal) => decode(&mut mapped, source, literal.content.clone(), literal.escapes()),
            Piece::Paste { name, source: from, by } => {
                // `REG(a)` and `REG(b)`, `x.lo` and `x.hi` are not one register.
                let lone = source.get(name.end..from.end).is_some_and(|rest| rest.iter().all(|&b| is_space(b)));
                let name = &source[name.clone()];
                let name = if lone { name.into() } else { Cow::from(mapped.distinct(name)) };
                mapped.push_paste(&name, from.clone(), from.end, *by);
            }
        }
    }
    mapped
}

struct Branch {
    number: usize,
    taken: bool,
}

/// Steps over a conditional directive; `None` at any other.
fn conditional(cursor: &mut Cursor<'_>) -> Option<Piece> {
    let piece = match directive_name(cursor) {
        b"if" | b"ifdef" | b"ifndef" => Piece::If,
        b"elif" | b"elifdef" | b"elifndef" => Piece::Else { last: false },
        b"else" => Piece::Else { last: true },
        b"endif" => Piece::EndIf,
        _ => return None,
    };
    cursor.skip_logical_line();
    Some(piece)
}

/// Steps over `#` and the directive's name.
fn directive_name<'a>(cursor: &mut Cursor<'a>) -> &'a [u8] {
    cursor.advance(1);
    cursor.take_while(|b| matches!(b, b' ' | b'\t'));
    cursor.take_while(is_ident)
}

/// `+`, `<<`, and either behind the bracket of `std::string("…")`.
fn eat_joining_operator(cursor: &mut Cursor<'_>) -> bool {
    let mut ahead = *cursor;
    if ahead.eat(b")") {
        ahead.take_while(|b| matches!(b, b' ' | b'\t' | b'\r' | b'\n'));
    }
    let joins = (ahead.peek(1) != b'=' && ahead.eat(b"+")) || ahead.eat(b"<<");
    if joins {
        *cursor = ahead;
    }
    joins
}

/// Steps over `#name`, a macro's stringised parameter, and yields the name; over `#` or `##` alone otherwise.
fn stringised(cursor: &mut Cursor<'_>) -> Option<Range<usize>> {
    cursor.take_while(|b| b == b'#');
    let mut ahead = *cursor;
    ahead.take_while(|b| matches!(b, b' ' | b'\t'));
    let start = ahead.pos;
    if ahead.take_while(is_ident).is_empty() {
        return None;
    }
    *cursor = ahead;
    Some(start..ahead.pos)
}

/// Steps over a comment, if one stands here. A backslash at the end of its line continues a `//` comment.
fn skip_comment(cursor: &mut Cursor<'_>) -> bool {
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
fn skip_number(cursor: &mut Cursor<'_>) {
    loop {
        cursor.take_while(|b| is_ident(b) || b == b'.');
        if cursor.peek(0) != b'\'' || !cursor.peek(1).is_ascii_hexdigit() {
            return;
        }
        cursor.advance(1);
    }
}

impl Cursor<'_> {
    /// Steps over a macro's parameters, which follow its name at once.
    fn skip_brackets_here(&mut self) {
        if self.peek(0) == b'(' {
            self.skip_brackets(4096);
        }
    }
}

/// A literal's content and how to read it.
#[derive(Debug, Clone)]
struct Literal {
    content: Range<usize>,
    raw: bool,
}

impl Literal {
    /// Steps over the literal here, its prefix included.
    fn read(cursor: &mut Cursor<'_>) -> Option<Self> {
        let mut ahead = *cursor;
        let prefix = ahead.take_while(is_ident);
        let (encoding, raw) = prefix.strip_suffix(b"R").map_or((prefix, false), |encoding| (encoding, true));
        if !matches!(encoding, b"" | b"u8" | b"u" | b"U" | b"L") || !ahead.eat(b"\"") {
            return None;
        }
        let content = if raw { raw_content(&mut ahead)? } else { content(&mut ahead) };
        *cursor = ahead;
        Some(Self { content, raw })
    }

    fn escapes(&self) -> Escapes {
        if self.raw { Escapes::None } else { Escapes::C }
    }
}

/// To behind the closing quote, or to the end of the line, where a literal ends at the latest.
fn content(cursor: &mut Cursor<'_>) -> Range<usize> {
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

/// `R"delimiter(` has been read up to the quote: to behind `)delimiter"`.
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
