//! Julia, Go, D, Zig and Nim: every string, since no syntax tells which ones hold PTX or a kernel's source. Their literals and
//! comments differ; what joins literals is an operator between them.
//!
//! Operands are read behind the template of Zig's and D's `asm`, and in a list of LLVM's constraints behind a string of Julia or D.

use std::borrow::Cow;
use std::ops::Range;
use std::sync::Arc;

use super::super::cursor::{Cursor, is_ident};
use super::super::mapped::{Mapped, Paste};
use super::super::operand::{self, Access, AsmOperand, Class, Lexeme, LexemeKind, class_of};
use super::super::placeholder::Dialect;
use super::escape::{Escapes, decode_part};
use super::joined::{self, Inside, Literals, Rest};
use super::llvm;
use super::text::Text;

/// Whose literals and comments are read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Kind {
    Julia,
    Go,
    D,
    Zig,
    Nim,
}

/// The bytes within which an interpolated expression must close.
const FIELD_LIMIT: usize = 512;

pub(super) fn texts(source: &[u8], kind: Kind) -> Vec<Text> {
    let mut texts = Vec::new();
    let mut inside = Vec::new();
    add_texts(Cursor::new(source, 0), kind, None, &mut texts, &mut inside);
    while let Some(Inside { range, rest }) = inside.pop() {
        add_texts(Cursor::new(&source[..range.end], range.start), kind, rest.as_ref(), &mut texts, &mut inside);
    }
    texts
}

/// The strings from here to the end. `rest` is what may follow one inside an unknown operand, whose own operands are put into `inside`.
fn add_texts(mut cursor: Cursor<'_>, kind: Kind, rest: Option<&Rest>, texts: &mut Vec<Text>, inside: &mut Vec<Inside>) {
    let mut asm = Asm::Outside;
    while !cursor.at_end() {
        if skip_comment(&mut cursor, kind) {
            continue;
        }
        if kind == Kind::D && cursor.starts_with(b"q{") && !is_ident(cursor.before()) {
            // Its literals and comments are read as those of the program.
            let mapped = token_string(cursor);
            texts.push(Text::new(mapped, Dialect::Free));
            cursor.advance(2);
            asm = Asm::Outside;
            continue;
        }
        if let Some(literal) = literal(&mut cursor, kind) {
            let mut mapped = joined(&mut cursor, &literal, kind, inside);
            if let Some(rest) = rest {
                rest.push(&mut mapped);
            }
            let (dialect, operands) = match constraints(cursor, kind) {
                _ if asm == Asm::Open => (Dialect::GccAsm, operands(cursor, kind)),
                Some(operands) => (Dialect::LlvmAsm, Some(operands)),
                None => (Dialect::Free, None),
            };
            texts.push(Text { asm: operands.map(Arc::new), ..Text::new(mapped, dialect) });
            asm = Asm::Outside;
            continue;
        }
        match cursor.peek(0) {
            b'\'' => skip_character(&mut cursor, kind),
            b if is_ident(b) => {
                asm = match (cursor.take_while(is_ident), asm) {
                    (b"asm", _) if matches!(kind, Kind::Zig | Kind::D) => Asm::Keyword,
                    (b"volatile" | b"pure" | b"nothrow" | b"nogc" | b"trusted" | b"safe" | b"system", Asm::Keyword) => {
                        Asm::Keyword
                    }
                    _ => Asm::Outside,
                };
            }
            b => {
                if !b.is_ascii_whitespace() {
                    let open = if kind == Kind::D { b'{' } else { b'(' };
                    asm = match b {
                        _ if asm == Asm::Keyword && b == open => Asm::Open,
                        b'@' if asm == Asm::Keyword && kind == Kind::D => Asm::Keyword,
                        _ => Asm::Outside,
                    };
                }
                cursor.advance(1);
            }
        }
    }
}

/// The comments of a file, in order.
pub(super) fn comments(source: &[u8], kind: Kind) -> Vec<Range<usize>> {
    let mut comments = Vec::new();
    let mut cursor = Cursor::new(source, 0);
    while !cursor.at_end() {
        let start = cursor.pos;
        if skip_comment(&mut cursor, kind) {
            comments.push(start..cursor.pos);
        } else if literal(&mut cursor, kind).is_none() {
            match cursor.peek(0) {
                b'\'' => skip_character(&mut cursor, kind),
                b if is_ident(b) => _ = cursor.take_while(is_ident),
                _ => cursor.advance(1),
            }
        }
    }
    comments
}

/// How far Zig's `asm volatile (` or D's `asm {` has been read.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Asm {
    Outside,
    Keyword,
    Open,
}

/// The bytes of an operand's expression.
const LONGEST_EXPRESSION: usize = 1 << 12;

/// The operands behind a string of Julia or D, if a list of LLVM's constraints follows it: `, "=r,r,r"`.
fn constraints(mut cursor: Cursor<'_>, kind: Kind) -> Option<operand::Asm> {
    skip_trivia(&mut cursor, kind);
    if !matches!(kind, Kind::Julia | Kind::D) || !cursor.eat(b",") {
        return None;
    }
    skip_trivia(&mut cursor, kind);
    let list = literal(&mut cursor, kind)?;
    let [list] = list.content.as_slice() else { return None };
    llvm::is_constraints(&cursor.src[list.clone()])
        .then(|| llvm::listed(cursor.src, list.clone(), Vec::new(), list.start))
}

/// The operands behind a template of GCC's syntax: `: [d] "=r" (-> u32), : [a] "r" (a)`; `None` where there is no colon.
fn operands(mut cursor: Cursor<'_>, kind: Kind) -> Option<operand::Asm> {
    skip_trivia(&mut cursor, kind);
    if cursor.peek(0) != b':' {
        return None;
    }
    let numbered = kind != Kind::Zig;
    let mut asm =
        operand::Asm { at: cursor.pos, end: None, operands: Vec::new(), uncounted: 0, complete: true, numbered };
    let mut ties = Vec::new();
    let mut section = 0;
    loop {
        skip_trivia(&mut cursor, kind);
        match cursor.peek(0) {
            b':' => section += 1,
            b',' => {}
            b')' | b'}' | b';' => break,
            _ => match operand(&mut cursor, kind, section == 1, &mut ties) {
                Some(operand) => {
                    asm.operands.push(operand);
                    continue;
                }
                None => {
                    asm.complete = false;
                    break;
                }
            },
        }
        // What else there is are clobbers.
        if section > 2 {
            break;
        }
        cursor.advance(1);
    }
    asm.tie(&ties);
    Some(asm)
}

/// Steps over `[name] "r" (expression)`.
fn operand(cursor: &mut Cursor<'_>, kind: Kind, output: bool, ties: &mut Vec<usize>) -> Option<AsmOperand> {
    let whole = cursor.pos;
    let mut name = None;
    if cursor.eat(b"[") {
        skip_trivia(cursor, kind);
        name = Some(String::from_utf8_lossy(cursor.take_while(is_ident)).into_owned());
        skip_trivia(cursor, kind);
        if !cursor.eat(b"]") {
            return None;
        }
        skip_trivia(cursor, kind);
    }
    let start = cursor.pos;
    let constraint = literal(cursor, kind)?;
    let place = start..cursor.pos;
    let [constraint] = constraint.content.as_slice() else { return None };
    skip_trivia(cursor, kind);
    let open = cursor.pos;
    if cursor.peek(0) != b'(' || !cursor.skip_brackets(LONGEST_EXPRESSION) {
        return None;
    }
    let text = String::from_utf8_lossy(&cursor.src[constraint.clone()]).replace(' ', "");
    let (mut class, tied) = class_of(&text);
    match tied {
        Some(tied) if !output => ties.push(tied),
        Some(_) => class = Class::Unknown,
        None => {}
    }
    let access = match (output, text.starts_with('=')) {
        (true, true) => Access::Out,
        (true, false) => Access::InOut,
        (false, _) => Access::In,
    };
    let expression_place = open + 1..cursor.pos - 1;
    let value = std::str::from_utf8(cursor.src[expression_place.clone()].trim_ascii()).ok();
    let number = value.and_then(|value| value.parse::<i64>().ok());
    let expression =
        number.map(|number| Lexeme { text: number.to_string().into_bytes(), at: open, kind: LexemeKind::Number });
    Some(AsmOperand {
        name,
        written: format!("\"{text}\""),
        place,
        class,
        access,
        expression: expression.into_iter().collect(),
        expression_place,
        whole: whole..cursor.pos,
        scalar: None,
    })
}

/// Steps over a comment, if one stands here.
fn skip_comment(cursor: &mut Cursor<'_>, kind: Kind) -> bool {
    let line: &[u8] = if matches!(kind, Kind::Julia | Kind::Nim) { b"#" } else { b"//" };
    let blocks: &[(&[u8], &[u8], bool)] = match kind {
        Kind::Julia => &[(b"#=", b"=#", true)],
        Kind::Nim => &[(b"##[", b"]##", true), (b"#[", b"]#", true)],
        Kind::Go => &[(b"/*", b"*/", false)],
        Kind::D => &[(b"/*", b"*/", false), (b"/+", b"+/", true)],
        Kind::Zig => &[],
    };
    if let Some(&(open, close, nests)) = blocks.iter().find(|(open, ..)| cursor.starts_with(open)) {
        let mut depth = 0_usize;
        loop {
            if cursor.at_end() {
                return true;
            } else if (depth == 0 || nests) && cursor.eat(open) {
                depth += 1;
            } else if cursor.eat(close) {
                depth -= 1;
                if depth == 0 {
                    return true;
                }
            } else {
                cursor.advance(1);
            }
        }
    }
    let begins = cursor.starts_with(line);
    if begins {
        cursor.skip_to(b'\n');
    }
    begins
}

/// Steps over `'x'`. In Julia the quote is an operator behind a value, and in Nim part of a number.
fn skip_character(cursor: &mut Cursor<'_>, kind: Kind) {
    let before = cursor.before();
    let behind_value = is_ident(before) || matches!(before, b')' | b']' | b'}' | b'\'' | b'.');
    if !(matches!(kind, Kind::Julia | Kind::Nim) && behind_value) {
        cursor.skip_quoted(b'\'');
    }
    cursor.advance(1);
}

/// A literal.
struct Literal {
    /// What is between the quotes. Of Zig's lines several, each without its `\\`.
    content: Vec<Range<usize>>,
    escapes: Escapes,
    /// Julia's `$name` and `$(…)`.
    interpolates: bool,
    /// Names between backticks are the program's, as in Nim's `asm`.
    backticks: bool,
}

impl Literal {
    fn raw(content: Range<usize>) -> Literal {
        Literal { content: vec![content], escapes: Escapes::None, interpolates: false, backticks: false }
    }

    fn escaped(content: Range<usize>) -> Literal {
        Literal { escapes: Escapes::C, ..Literal::raw(content) }
    }
}

/// Steps over the literal here; stays where there is none.
fn literal(cursor: &mut Cursor<'_>, kind: Kind) -> Option<Literal> {
    let mut ahead = *cursor;
    let prefix = ahead.take_while(is_ident);
    let quote = ahead.peek(0);
    // Only the start of a word can be a prefix.
    if !prefix.is_empty() && (is_ident(cursor.before()) || !matches!(quote, b'"' | b'`')) {
        return None;
    }
    let found = match (kind, prefix, quote) {
        (Kind::Julia, b"", b'"' | b'`') => {
            let content = quoted(&mut ahead, quote, true, true);
            Literal { interpolates: true, ..Literal::escaped(content) }
        }
        // A macro's string: `raw"…"`, `asm"…"`.
        (Kind::Julia, _, b'"') => Literal::raw(quoted(&mut ahead, quote, true, true)),
        (Kind::Go, b"", b'`') => Literal::raw(until(&mut ahead, 1, b"`")),
        (Kind::Go, b"", b'"') => Literal::escaped(quoted(&mut ahead, quote, false, false)),
        (Kind::D, b"" | b"r", b'`' | b'"') if quote == b'`' || prefix == b"r" => {
            let close = [quote];
            Literal::raw(until(&mut ahead, 1, &close))
        }
        (Kind::D, b"", b'"') => Literal::escaped(quoted(&mut ahead, quote, true, false)),
        (Kind::D, b"q", b'"') => Literal::raw(delimited(&mut ahead)),
        (Kind::D, b"x", b'"') => {
            quoted(&mut ahead, quote, true, false);
            Literal::raw(ahead.pos..ahead.pos)
        }
        (Kind::Zig, b"", b'"') => Literal::escaped(quoted(&mut ahead, quote, false, false)),
        (Kind::Zig, b"", b'\\') if ahead.starts_with(br"\\") => lines(&mut ahead),
        (Kind::Nim, _, b'"') if ahead.starts_with(br#"""""#) => {
            let start = ahead.pos + 3;
            let mut end = Cursor::new(ahead.src, start);
            end.skip_past(br#"""""#);
            // Quotes before the closing ones are the string's.
            end.take_while(|b| b == b'"');
            let closed = end.pos >= start + 3 && end.src[..end.pos].ends_with(br#"""""#);
            let content = start..if closed { end.pos - 3 } else { end.pos };
            ahead = end;
            Literal { backticks: true, ..Literal::raw(content) }
        }
        (Kind::Nim, b"", b'"') => Literal::escaped(quoted(&mut ahead, quote, false, false)),
        (Kind::Nim, _, b'"') => Literal::raw(doubled(&mut ahead)),
        _ => return None,
    };
    *cursor = ahead;
    Some(found)
}

/// From an opening quote to behind the closing one; yields what is between. `triple` quotes may hold single ones; a string that may
/// not hold line breaks ends with its line at the latest.
fn quoted(cursor: &mut Cursor<'_>, quote: u8, across_lines: bool, triple: bool) -> Range<usize> {
    let three = [quote; 3];
    let close = if triple && cursor.starts_with(&three) { &three[..] } else { &three[..1] };
    cursor.advance(close.len());
    let start = cursor.pos;
    while !cursor.at_end() {
        if cursor.starts_with(close) {
            let content = start..cursor.pos;
            cursor.advance(close.len());
            return content;
        }
        match cursor.peek(0) {
            b'\\' => cursor.advance(2),
            b'\n' if !across_lines => break,
            _ => cursor.advance(1),
        }
    }
    start..cursor.pos
}

/// Steps over `open` bytes and to behind `close`.
fn until(cursor: &mut Cursor<'_>, open: usize, close: &[u8]) -> Range<usize> {
    cursor.advance(open);
    let start = cursor.pos;
    let closed = cursor.skip_past(close);
    start..if closed { cursor.pos - close.len() } else { cursor.pos }
}

/// Nim's `r"a ""quoted"" word"`, to the end of its line at the latest.
fn doubled(cursor: &mut Cursor<'_>) -> Range<usize> {
    cursor.advance(1);
    let start = cursor.pos;
    while !cursor.at_end() && cursor.peek(0) != b'\n' {
        if cursor.eat(br#""""#) {
            continue;
        }
        if cursor.peek(0) == b'"' {
            let content = start..cursor.pos;
            cursor.advance(1);
            return content;
        }
        cursor.advance(1);
    }
    start..cursor.pos
}

/// D's `q"(…)"` and `q"END … END"`, from the quote.
fn delimited(cursor: &mut Cursor<'_>) -> Range<usize> {
    cursor.advance(1);
    let name = cursor.take_while(is_ident);
    if !name.is_empty() {
        let close = [b"\n", name, b"\""].concat();
        cursor.skip_to(b'\n');
        let start = (cursor.pos + 1).min(cursor.src.len());
        let closed = cursor.skip_past(&close);
        // The name stands at the start of a line.
        return start.min(cursor.pos)..if closed { (cursor.pos - close.len() + 1).max(start) } else { cursor.pos };
    }
    let close = match cursor.peek(0) {
        b'(' => b')',
        b'[' => b']',
        b'{' => b'}',
        b'<' => b'>',
        other => other,
    };
    until(cursor, 1, &[close, b'"'])
}

/// What stands between D's `q{` and the brace that closes it, without the literals and comments in it.
fn token_string(mut cursor: Cursor<'_>) -> Mapped {
    let source = cursor.src;
    cursor.advance(2);
    let mut mapped = Mapped::default();
    let (mut depth, mut copied) = (1_usize, cursor.pos);
    while !cursor.at_end() {
        let at = cursor.pos;
        if skip_comment(&mut cursor, Kind::D) || literal(&mut cursor, Kind::D).is_some() {
            mapped.push_raw(source, copied..at, at);
            mapped.push_unit(b" ", at..cursor.pos, cursor.pos);
            copied = cursor.pos;
            continue;
        }
        match cursor.peek(0) {
            b'{' => depth += 1,
            b'}' => depth -= 1,
            b'\'' => skip_character(&mut cursor, Kind::D),
            _ => {}
        }
        if depth == 0 {
            break;
        }
        if cursor.pos == at && cursor.take_while(is_ident).is_empty() {
            cursor.advance(1);
        }
    }
    mapped.push_raw(source, copied..cursor.pos.max(copied), cursor.pos.max(copied));
    mapped
}

/// Zig's lines behind `\\`, each a line of one string.
fn lines(cursor: &mut Cursor<'_>) -> Literal {
    let mut content = Vec::new();
    loop {
        cursor.advance(2);
        let start = cursor.pos;
        cursor.skip_to(b'\n');
        cursor.advance(1);
        // With its line break.
        content.push(start..cursor.pos);
        let mut ahead = *cursor;
        ahead.take_while(|b| b.is_ascii_whitespace());
        if !ahead.starts_with(br"\\") {
            return Literal { content, escapes: Escapes::None, interpolates: false, backticks: false };
        }
        *cursor = ahead;
    }
}

/// The string that begins with a literal that has been read, with what is joined to it.
fn joined(cursor: &mut Cursor<'_>, first: &Literal, kind: Kind, inside: &mut Vec<Inside>) -> Mapped {
    let mut mapped = Mapped::default();
    decode(&mut mapped, cursor.src, first);
    loop {
        let mut ahead = *cursor;
        if !eat_operator(&mut ahead, kind) {
            return mapped;
        }
        let start = ahead.pos;
        match literal(&mut ahead, kind) {
            Some(more) if !joined::is_trailer(ahead) => decode(&mut mapped, ahead.src, &more),
            _ if joined::paste(&mut ahead, start, &mut mapped, &kind, inside) => {}
            _ => return mapped,
        }
        *cursor = ahead;
    }
}

/// Steps over the operator that joins strings and the blanks around it, if it stands here.
fn eat_operator(cursor: &mut Cursor<'_>, kind: Kind) -> bool {
    let operator: &[u8] = match kind {
        Kind::Julia => b"*",
        Kind::Go => b"+",
        Kind::D => b"~",
        Kind::Zig => b"++",
        Kind::Nim => b"&",
    };
    skip_trivia(cursor, kind);
    let joins = cursor.eat(operator) && cursor.peek(0) != b'=';
    skip_trivia(cursor, kind);
    joins
}

impl Literals for Kind {
    fn skip(&self, cursor: &mut Cursor<'_>) -> bool {
        let start = cursor.pos;
        if skip_comment(cursor, *self) || literal(cursor, *self).is_some() {
            return true;
        }
        match cursor.peek(0) {
            b'\'' => skip_character(cursor, *self),
            b if is_ident(b) => _ = cursor.take_while(is_ident),
            _ => {}
        }
        cursor.pos > start
    }

    fn content(&self, mut cursor: Cursor<'_>) -> Option<Range<usize>> {
        literal(&mut cursor, *self)?.content.first().cloned()
    }

    fn goes_on(&self, mut cursor: Cursor<'_>) -> bool {
        eat_operator(&mut cursor, *self)
    }
}

fn skip_trivia(cursor: &mut Cursor<'_>, kind: Kind) {
    loop {
        cursor.take_while(|b| b.is_ascii_whitespace());
        if !skip_comment(cursor, kind) {
            return;
        }
    }
}

fn decode(out: &mut Mapped, source: &[u8], literal: &Literal) {
    for content in &literal.content {
        let end = content.end;
        let sign = match (literal.interpolates, literal.backticks) {
            (true, _) => b'$',
            (_, true) => b'`',
            _ => {
                decode_part(out, source, content.clone(), end, literal.escapes);
                continue;
            }
        };
        let mut cursor = Cursor::new(&source[..end], content.start);
        let mut copied = content.start;
        while let Some(ahead) = memchr::memchr2(b'\\', sign, cursor.rest()) {
            cursor.advance(ahead);
            if cursor.peek(0) == b'\\' && sign == b'$' {
                cursor.advance(2);
                continue;
            }
            let start = cursor.pos;
            let Some((name, lone)) = field(&mut cursor, sign) else {
                cursor.advance(1);
                continue;
            };
            decode_part(out, source, copied..start, end, literal.escapes);
            if sign == b'`' {
                // A register that the compiler names.
                out.push_unit(&[b"%", name].concat(), start..cursor.pos, end);
            } else {
                let name = if lone { name.into() } else { Cow::from(out.distinct(name)) };
                out.push_paste(&name, start..cursor.pos, end, Paste::Field);
            }
            copied = cursor.pos;
        }
        decode_part(out, source, copied..end, end, literal.escapes);
    }
}

/// Steps over `$name`, `$(…)` or `` `name` ``: its name, and whether it is all of it.
fn field<'a>(cursor: &mut Cursor<'a>, sign: u8) -> Option<(&'a [u8], bool)> {
    let mut ahead = *cursor;
    ahead.advance(1);
    let is_name = |b: u8| is_ident(b) && b != b'$';
    let found = if sign == b'$' && ahead.peek(0) == b'(' {
        let inside = Cursor::new(ahead.src, ahead.pos + 1).take_while(is_name);
        if !ahead.skip_brackets(FIELD_LIMIT) {
            return None;
        }
        (if inside.is_empty() { b"field" } else { inside }, false)
    } else {
        let name = ahead.take_while(is_name);
        if name.is_empty() || name[0].is_ascii_digit() || (sign == b'`' && !ahead.eat(b"`")) {
            return None;
        }
        (name, true)
    };
    *cursor = ahead;
    Some(found)
}
