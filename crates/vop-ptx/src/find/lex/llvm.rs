//! LLVM IR: `call i32 asm sideeffect "vadd4… $0, $1;", "=r,r"(…)`, `module asm "…"`, `c"…\00"`.

use std::ops::Range;
use std::sync::Arc;

use super::super::cursor::{Cursor, is_ident};
use super::super::mapped::Mapped;
use super::super::operand::{Access, Asm, AsmOperand, Lexeme, LexemeKind, Scalar, class_of};
use super::super::placeholder::Dialect;
use super::escape::{Escapes, decode};
use super::text::Text;

pub(super) fn texts(source: &[u8]) -> Vec<Text> {
    let mut texts = Vec::new();
    let mut cursor = Cursor::new(source, 0);
    // Where the `asm` stands that a template follows.
    let mut after_asm = None;
    while !cursor.at_end() {
        match cursor.peek(0) {
            b';' => cursor.skip_to(b'\n'),
            b'"' => {
                // `@"name"`, `%"name"`, `$"name"` and `!"metadata"` are no text of the program.
                let is_name = matches!(cursor.before(), b'@' | b'%' | b'$' | b'!');
                let mapped = literal(&mut cursor);
                if !is_name {
                    let dialect = if after_asm.is_some() { Dialect::LlvmAsm } else { Dialect::Free };
                    let asm = after_asm.and_then(|at| Some(Asm { at, ..operands(cursor)? }));
                    texts.push(Text { asm: asm.map(Arc::new), ..Text::new(mapped, dialect) });
                }
                after_asm = None;
            }
            b if is_ident(b) => {
                let start = cursor.pos;
                match cursor.take_while(is_ident) {
                    b"asm" => after_asm = Some(start),
                    b"sideeffect" | b"alignstack" | b"inteldialect" | b"unwind" => {}
                    _ => after_asm = None,
                }
            }
            _ => cursor.advance(1),
        }
    }
    texts
}

/// The comments of a file, in order.
pub(super) fn comments(source: &[u8]) -> Vec<Range<usize>> {
    let mut comments = Vec::new();
    let mut cursor = Cursor::new(source, 0);
    while let Some(ahead) = memchr::memchr2(b';', b'"', cursor.rest()) {
        cursor.advance(ahead);
        let start = cursor.pos;
        if cursor.peek(0) == b';' {
            cursor.skip_to(b'\n');
            comments.push(start..cursor.pos);
        } else {
            cursor.advance(1);
            cursor.skip_to(b'"');
            cursor.advance(1);
        }
    }
    comments
}

/// The bytes of an argument list.
const LONGEST_LIST: usize = 1 << 16;

/// The operands behind a template: `, "=r,r,r"(i32 %a, i32 %b)`.
pub(super) fn operands(mut cursor: Cursor<'_>) -> Option<Asm> {
    let at = cursor.pos;
    skip_blanks(&mut cursor);
    if !cursor.eat(b",") {
        return None;
    }
    skip_blanks(&mut cursor);
    if !cursor.eat(b"\"") {
        return None;
    }
    let start = cursor.pos;
    cursor.skip_to(b'"');
    let constraints = start..cursor.pos;
    cursor.advance(1);
    skip_blanks(&mut cursor);
    let open = cursor.pos;
    let has_list = cursor.peek(0) == b'(' && cursor.skip_brackets(LONGEST_LIST);
    let arguments = if has_list { split(cursor.src, open + 1..cursor.pos - 1) } else { Vec::new() };
    Some(Asm { end: has_list.then_some(cursor.pos), ..listed(cursor.src, constraints, arguments, at) })
}

/// Whether a string is a list of LLVM's constraints, `=r,r,r`.
pub(super) fn is_constraints(text: &[u8]) -> bool {
    text.starts_with(b"=")
        && text
            .iter()
            .all(|&b| b.is_ascii_alphanumeric() || matches!(b, b'=' | b'&' | b',' | b'~' | b'{' | b'}' | b' ' | b'*'))
}

/// The operands of a list of constraints, with the places of their arguments.
pub(super) fn listed(source: &[u8], constraints: Range<usize>, arguments: Vec<Range<usize>>, at: usize) -> Asm {
    let mut arguments = arguments.into_iter();
    let mut asm = Asm { at, end: None, operands: Vec::new(), uncounted: 0, complete: true, numbered: true };
    let mut ties = Vec::new();
    for place in split(source, constraints) {
        let text = String::from_utf8_lossy(&source[place.clone()]).into_owned();
        if text.starts_with('~') || text.is_empty() {
            continue;
        }
        let (class, tied) = class_of(&text);
        ties.extend(tied);
        let is_output = text.starts_with('=');
        // A place in memory to write to is an argument.
        let argument = if is_output && !text.contains('*') { None } else { arguments.next() };
        let (scalar, expression) = argument.clone().map_or((None, Vec::new()), |place| argument_of(source, place));
        let access = if is_output { Access::Out } else { Access::In };
        let expression_place = argument.unwrap_or(place.clone());
        asm.operands.push(AsmOperand {
            name: None,
            written: format!("\"{text}\""),
            whole: place.clone(),
            place,
            class,
            access,
            expression,
            expression_place,
            scalar,
        });
    }
    asm.tie(&ties);
    asm
}

/// The parts of a list between commas outside brackets, without blanks around.
fn split(source: &[u8], list: Range<usize>) -> Vec<Range<usize>> {
    let mut parts = Vec::new();
    let (mut depth, mut start) = (0_usize, list.start);
    let mut add = |start: usize, end: usize| {
        let part = &source[start..end];
        let begin = start + part.len() - part.trim_ascii_start().len();
        let part = part.trim_ascii();
        if !part.is_empty() {
            parts.push(begin..begin + part.len());
        }
    };
    for at in list.clone() {
        match source[at] {
            b'(' | b'[' | b'{' | b'<' => depth += 1,
            b')' | b']' | b'}' | b'>' => depth = depth.saturating_sub(1),
            b',' if depth == 0 => {
                add(start, at);
                start = at + 1;
            }
            _ => {}
        }
    }
    add(start, list.end);
    parts
}

/// The type and the value of an argument, `i32 noundef %a` or `i32 5`.
fn argument_of(source: &[u8], place: Range<usize>) -> (Option<Scalar>, Vec<Lexeme>) {
    let text = &source[place.clone()];
    let mut words = text.split(u8::is_ascii_whitespace);
    let scalar = match words.next().unwrap_or_default() {
        b"i8" => Some(Scalar::Integer(1)),
        b"i16" => Some(Scalar::Integer(2)),
        b"i32" => Some(Scalar::Integer(4)),
        _ => None,
    };
    let value = words.next_back().unwrap_or_default();
    let is_number = value.strip_prefix(b"-").unwrap_or(value).iter().all(u8::is_ascii_digit) && !value.is_empty();
    let lexeme = Lexeme { text: value.to_vec(), at: place.start, kind: LexemeKind::Number };
    // LLVM widens and splits other types as it sees fit; only 32 bits are known to be right.
    (scalar.filter(|scalar| scalar.size() == 4), if is_number { vec![lexeme] } else { Vec::new() })
}

fn skip_blanks(cursor: &mut Cursor<'_>) {
    cursor.take_while(|b| b.is_ascii_whitespace());
}

/// Steps over a literal; a quote inside one is always written as `\22`.
fn literal(cursor: &mut Cursor<'_>) -> Mapped {
    cursor.advance(1);
    let start = cursor.pos;
    cursor.skip_to(b'"');
    let mut mapped = Mapped::default();
    decode(&mut mapped, cursor.src, start..cursor.pos, Escapes::Llvm);
    cursor.advance(1);
    mapped
}
