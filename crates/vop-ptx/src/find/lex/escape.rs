//! Escape sequences, which every language writes a little differently.

use std::ops::Range;

use super::super::cursor::Cursor;
use super::super::mapped::Mapped;

/// Whose escape sequences a literal holds.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Escapes {
    /// A raw string's: none.
    None,
    C,
    Python,
    Rust,
    Llvm,
    Mlir,
}

/// Adds the content of a literal, decoded, to `out`. The literal ends where `content` does.
pub(super) fn decode(out: &mut Mapped, source: &[u8], content: Range<usize>, escapes: Escapes) {
    decode_part(out, source, content.clone(), content.end, escapes);
}

/// Adds a part of a literal's content; the literal goes on to `literal_end`.
pub(super) fn decode_part(out: &mut Mapped, source: &[u8], part: Range<usize>, literal_end: usize, escapes: Escapes) {
    let literal = &source[..part.end];
    let mut cursor = Cursor::new(literal, part.start);
    while !cursor.at_end() {
        let start = cursor.pos;
        if escapes == Escapes::None {
            cursor.advance(part.len());
        } else {
            cursor.skip_to(b'\\');
        }
        out.push_raw(source, start..cursor.pos, literal_end);
        if !cursor.at_end() {
            let start = cursor.pos;
            match sequence(&mut cursor, escapes) {
                Meaning::Char(char) => {
                    out.push_unit(char.encode_utf8(&mut [0; 4]).as_bytes(), start..cursor.pos, literal_end);
                }
                Meaning::Verbatim(from) => out.push_unit(&literal[from..cursor.pos], start..cursor.pos, literal_end),
                Meaning::Nothing => {}
            }
        }
    }
}

/// What an escape sequence stands for.
enum Meaning {
    Char(char),
    /// Its own text, from this offset.
    Verbatim(usize),
    Nothing,
}

/// Steps over the sequence at a backslash.
fn sequence(cursor: &mut Cursor<'_>, escapes: Escapes) -> Meaning {
    if escapes == Escapes::Llvm {
        return llvm_sequence(cursor);
    }
    if cursor.eat_continuation() {
        if escapes == Escapes::Rust {
            cursor.take_while(|b| b.is_ascii_whitespace());
        }
        return Meaning::Nothing;
    }
    let start = cursor.pos;
    cursor.advance(1);
    let letter = cursor.peek(0);
    if escapes == Escapes::Mlir && letter.is_ascii_hexdigit() && cursor.peek(1).is_ascii_hexdigit() {
        return character(number(cursor, 16, 2));
    }
    if matches!(letter, b'0'..b'8') {
        return character(number(cursor, 8, 3));
    }
    cursor.advance(1);
    match letter {
        b'n' => Meaning::Char('\n'),
        b't' => Meaning::Char('\t'),
        b'r' => Meaning::Char('\r'),
        // Control characters that PTX has no use for.
        b'a' | b'b' | b'f' | b'v' => Meaning::Char(' '),
        b'x' => character(braced_number(cursor, 2)),
        b'u' => character(braced_number(cursor, 4)),
        b'U' => character(braced_number(cursor, 8)),
        b'\\' | b'"' | b'\'' => Meaning::Verbatim(start + 1),
        // Python keeps the backslash before a letter that means nothing; C drops it with a warning.
        _ if escapes == Escapes::Python => Meaning::Verbatim(start),
        _ => Meaning::Verbatim((start + 1).min(cursor.pos)),
    }
}

/// `\0A` for any byte and `\\`.
fn llvm_sequence(cursor: &mut Cursor<'_>) -> Meaning {
    let start = cursor.pos;
    cursor.advance(1);
    if cursor.peek(0).is_ascii_hexdigit() && cursor.peek(1).is_ascii_hexdigit() {
        return character(number(cursor, 16, 2));
    }
    if cursor.eat(b"\\") { Meaning::Char('\\') } else { Meaning::Verbatim(start) }
}

fn braced_number(cursor: &mut Cursor<'_>, digits: usize) -> u32 {
    let braced = cursor.eat(b"{");
    let value = number(cursor, 16, if braced { 8 } else { digits });
    if braced {
        cursor.eat(b"}");
    }
    value
}

fn number(cursor: &mut Cursor<'_>, radix: u32, digits: usize) -> u32 {
    let mut value = 0_u32;
    for _ in 0..digits {
        let Some(digit) = char::from(cursor.peek(0)).to_digit(radix) else { break };
        value = value.wrapping_mul(radix).wrapping_add(digit);
        cursor.advance(1);
    }
    value
}

fn character(value: u32) -> Meaning {
    Meaning::Char(char::from_u32(value).unwrap_or('?'))
}
