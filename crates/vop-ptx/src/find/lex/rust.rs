//! Rust: `asm!`'s templates, `concat!`, and any other string.

use std::cell::OnceCell;
use std::collections::HashMap;
use std::ops::Range;
use std::sync::Arc;

use super::super::cursor::{Cursor, is_ident};
use super::super::mapped::{Mapped, Paste};
use super::super::operand::{Access, Asm, AsmOperand, Class, Lexeme, LexemeKind};
use super::super::placeholder::Dialect;
use super::escape::{Escapes, decode};
use super::text::Text;

/// The depth to which `concat!` inside `concat!` is followed.
const CONCAT_LIMIT: usize = 8;

pub(super) fn texts(source: &[u8]) -> Vec<Text> {
    let mut cursor = Cursor::new(source, 0);
    let mut texts = Vec::new();
    let constants = Constants { source, read: OnceCell::new() };
    while !cursor.at_end() {
        if skip_comment(&mut cursor) {
            continue;
        }
        match cursor.peek(0) {
            b'\'' => skip_char_or_lifetime(&mut cursor),
            b if is_ident(b) || b == b'"' => {
                let start = cursor.pos;
                if let Some(text) = asm(&mut cursor) {
                    // Without any operand it is the beginning of one, or an example.
                    let asm = Asm { at: start, end: end(source, start), ..operands(cursor, &constants) };
                    let asm = Some(asm).filter(|asm| !asm.operands.is_empty()).map(Arc::new);
                    texts.push(Text { asm, ..Text::new(text, Dialect::RustAsm) });
                    continue;
                }
                let mut mapped = Mapped::default();
                if string(&mut cursor, &mut mapped, 0) {
                    texts.push(Text::new(mapped, Dialect::Free));
                } else {
                    cursor.take_while(is_ident);
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
    while !cursor.at_end() {
        let start = cursor.pos;
        if skip_comment(&mut cursor) {
            comments.push(start..cursor.pos);
            continue;
        }
        match cursor.peek(0) {
            b'\'' => skip_char_or_lifetime(&mut cursor),
            b if is_ident(b) || b == b'"' => {
                if literal(&mut cursor).is_none() && cursor.take_while(is_ident).is_empty() {
                    cursor.advance(1);
                }
            }
            _ => cursor.advance(1),
        }
    }
    comments
}

/// The template of an `asm!`: its leading arguments, each a line.
fn asm(cursor: &mut Cursor<'_>) -> Option<Mapped> {
    let mut ahead = *cursor;
    if !matches!(ahead.take_while(is_ident), b"asm" | b"global_asm" | b"naked_asm") {
        return None;
    }
    skip_trivia(&mut ahead);
    if !ahead.eat(b"!") {
        return None;
    }
    skip_trivia(&mut ahead);
    if !matches!(ahead.peek(0), b'(' | b'[' | b'{') {
        return None;
    }
    ahead.advance(1);
    *cursor = ahead;
    let mut mapped = Mapped::default();
    loop {
        skip_trivia(&mut ahead);
        if !string(&mut ahead, &mut mapped, 0) {
            return Some(mapped);
        }
        *cursor = ahead;
        skip_trivia(&mut ahead);
        let comma = ahead.pos;
        if !ahead.eat(b",") {
            return Some(mapped);
        }
        mapped.push_unit(b"\n", comma..ahead.pos, ahead.pos);
    }
}

/// The bytes of an `asm!`.
const LONGEST_ASM: usize = 1 << 16;

/// Behind the bracket that closes an `asm!`.
fn end(source: &[u8], start: usize) -> Option<usize> {
    let mut cursor = Cursor::new(source, start);
    cursor.take_while(is_ident);
    skip_trivia(&mut cursor);
    cursor.eat(b"!");
    skip_trivia(&mut cursor);
    cursor.skip_brackets(LONGEST_ASM).then_some(cursor.pos)
}

/// The bytes of an operand's expression.
const LONGEST_EXPRESSION: usize = 1 << 12;

/// The operands behind a template: `, out(reg32) d, x = in(reg32) a, const 5)`. The compiler numbers those without a name.
fn operands(mut cursor: Cursor<'_>, constants: &Constants<'_>) -> Asm {
    let mut asm = Asm { at: cursor.pos, end: None, operands: Vec::new(), uncounted: 0, complete: true, numbered: true };
    loop {
        skip_trivia(&mut cursor);
        if cursor.eat(b",") {
            continue;
        }
        let start = cursor.pos;
        let mut word = cursor.take_while(is_ident);
        if word.is_empty() {
            // The closing bracket ends the list; what else may stand here is not read.
            asm.complete = matches!(cursor.peek(0), b')' | b']' | b'}');
            return asm;
        }
        skip_trivia(&mut cursor);
        let mut name = None;
        if cursor.peek(0) == b'=' {
            name = Some(String::from_utf8_lossy(word).into_owned());
            cursor.advance(1);
            skip_trivia(&mut cursor);
            word = cursor.take_while(is_ident);
            skip_trivia(&mut cursor);
        }
        let access = match word {
            b"in" | b"const" | b"sym" => Access::In,
            b"out" | b"lateout" => Access::Out,
            b"inout" | b"inlateout" => Access::InOut,
            b"options" | b"clobber_abi" if cursor.peek(0) == b'(' && cursor.skip_brackets(LONGEST_EXPRESSION) => {
                continue;
            }
            _ => {
                asm.complete = false;
                return asm;
            }
        };
        let mut class = if word == b"const" { Class::Immediate } else { Class::Unknown };
        let mut end = cursor.pos;
        if cursor.peek(0) == b'(' && !matches!(word, b"const" | b"sym") {
            let inside = cursor.pos + 1;
            if !cursor.skip_brackets(LONGEST_EXPRESSION) {
                asm.complete = false;
                return asm;
            }
            end = cursor.pos;
            class = match cursor.src[inside..end - 1].trim_ascii() {
                b"reg32" => Class::Word,
                b"reg16" => Class::Other("a 16-bit register"),
                b"reg64" => Class::Other("a 64-bit register"),
                _ => Class::Unknown,
            };
        }
        let written = String::from_utf8_lossy(&cursor.src[start..end]).into_owned();
        skip_expression(&mut cursor);
        let whole = start..cursor.pos.max(end);
        let value = cursor.src.get(end..whole.end).filter(|_| class == Class::Immediate);
        let value = value.and_then(|expression| constants.value(expression));
        let expression =
            value.map(|value| Lexeme { text: value.to_string().into_bytes(), at: end, kind: LexemeKind::Number });
        asm.operands.push(AsmOperand {
            name,
            written,
            place: start..end,
            class,
            access,
            expression: expression.into_iter().collect(),
            expression_place: trimmed(cursor.src, end..whole.end),
            whole,
            scalar: None,
        });
    }
}

/// A place without the blanks at its ends.
fn trimmed(source: &[u8], place: Range<usize>) -> Range<usize> {
    let text = source.get(place.clone()).unwrap_or_default();
    let start = place.start + text.len() - text.trim_ascii_start().len();
    start..start + text.trim_ascii().len()
}

/// The integers that a file calls `const NAME: TYPE = 5;`.
struct Constants<'a> {
    source: &'a [u8],
    /// Read when the first is asked for. A name that is declared several times, also as a parameter, has no value.
    read: OnceCell<HashMap<&'a [u8], Option<i128>>>,
}

impl Constants<'_> {
    /// The value of an expression that is a number or the name of a constant, in brackets or without.
    fn value(&self, expression: &[u8]) -> Option<i128> {
        let mut text = expression.trim_ascii();
        while let [b'(', inside @ .., b')'] | [b'{', inside @ .., b'}'] = text {
            text = inside.trim_ascii();
        }
        if let Some(value) = integer(text) {
            return Some(value);
        }
        *self.read.get_or_init(|| constants(self.source)).get(text)?
    }
}

fn constants(source: &[u8]) -> HashMap<&[u8], Option<i128>> {
    let mut all = HashMap::new();
    let mut cursor = Cursor::new(source, 0);
    while !cursor.at_end() {
        if skip_comment(&mut cursor) || literal(&mut cursor).is_some() {
            continue;
        }
        match cursor.peek(0) {
            b'\'' => skip_char_or_lifetime(&mut cursor),
            b if is_ident(b) => {
                let word = cursor.take_while(is_ident);
                let mut ahead = cursor;
                skip_trivia(&mut ahead);
                let name = ahead.take_while(is_ident);
                skip_trivia(&mut ahead);
                let declares = match word {
                    // An operand of an `asm!` has no type.
                    b"const" => ahead.peek(0) == b':',
                    // Another thing of a constant's name may hide it.
                    b"let" | b"mut" | b"static" => true,
                    _ => false,
                };
                if declares && !name.is_empty() {
                    let value = declared(ahead);
                    all.entry(name).and_modify(|other| *other = None).or_insert(value);
                }
            }
            _ => cursor.advance(1),
        }
    }
    all
}

/// The value behind a name: `: u32 = 5;`.
fn declared(mut cursor: Cursor<'_>) -> Option<i128> {
    if !cursor.eat(b":") {
        return None;
    }
    skip_trivia(&mut cursor);
    let ty = cursor.take_while(is_ident);
    skip_trivia(&mut cursor);
    if ty.is_empty() || !cursor.eat(b"=") {
        return None;
    }
    let start = cursor.pos;
    cursor.take_while(|b| is_ident(b) || matches!(b, b'-' | b' '));
    let value = integer(cursor.src[start..cursor.pos].trim_ascii())?;
    (cursor.peek(0) == b';').then_some(value)
}

/// An integer literal of Rust: `5`, `-1i32`, `0x1_f`.
fn integer(text: &[u8]) -> Option<i128> {
    let text = std::str::from_utf8(text).ok()?.replace('_', "");
    let (negative, digits) =
        text.strip_prefix('-').map_or((false, text.as_str()), |digits| (true, digits.trim_start()));
    let (digits, radix) = match digits.get(..2) {
        Some("0x") => (&digits[2..], 16),
        Some("0o") => (&digits[2..], 8),
        Some("0b") => (&digits[2..], 2),
        _ => (digits, 10),
    };
    let types = ["u8", "u16", "u32", "u64", "u128", "usize", "i8", "i16", "i32", "i64", "i128", "isize"];
    let digits = types.iter().find_map(|ty| digits.strip_suffix(ty)).unwrap_or(digits);
    if !digits.starts_with(|c: char| c.is_ascii_hexdigit()) {
        return None;
    }
    let value = i128::from_str_radix(digits, radix).ok()?;
    Some(if negative { -value } else { value })
}

/// Goes to the comma or the bracket that ends an expression.
fn skip_expression(cursor: &mut Cursor<'_>) {
    while !cursor.at_end() && !matches!(cursor.peek(0), b',' | b')' | b']' | b'}') {
        let stays = match cursor.peek(0) {
            b'(' | b'[' | b'{' => !cursor.skip_brackets(LONGEST_EXPRESSION),
            _ => true,
        };
        if stays {
            cursor.advance(1);
        }
    }
}

/// Steps over a literal or a `concat!` and adds its text; stays and yields `false` where there is neither.
fn string(cursor: &mut Cursor<'_>, out: &mut Mapped, depth: usize) -> bool {
    if let Some((content, escapes)) = literal(cursor) {
        decode(out, cursor.src, content, escapes);
        return true;
    }
    concat(cursor, out, depth)
}

/// `concat!("vadd4.", $t, " …")`: literals joined, anything else pasted.
fn concat(cursor: &mut Cursor<'_>, out: &mut Mapped, depth: usize) -> bool {
    let mut ahead = *cursor;
    if depth > CONCAT_LIMIT
        || ahead.take_while(is_ident) != b"concat"
        || !ahead.eat(b"!")
        || !matches!(ahead.peek(0), b'(' | b'[' | b'{')
    {
        return false;
    }
    ahead.advance(1);
    while !ahead.at_end() {
        skip_trivia(&mut ahead);
        match ahead.peek(0) {
            b')' | b']' | b'}' => {
                ahead.advance(1);
                break;
            }
            b',' => ahead.advance(1),
            _ if string(&mut ahead, out, depth + 1) => {}
            _ => paste_argument(&mut ahead, out),
        }
    }
    *cursor = ahead;
    true
}

/// `$t`, `stringify!($t)`, `32`: up to the comma.
fn paste_argument(cursor: &mut Cursor<'_>, out: &mut Mapped) {
    let start = cursor.pos;
    let mut name = b"".as_slice();
    while !cursor.at_end() && !matches!(cursor.peek(0), b',' | b')' | b']' | b'}') {
        let word = cursor.take_while(is_ident);
        if !word.is_empty() && (name.is_empty() || name == b"stringify") {
            name = word;
        }
        if word.is_empty() && !(cursor.peek(0) == b'(' && read_stringify(cursor, &mut name)) {
            cursor.advance(1);
        }
    }
    let name = if name.is_empty() { b"argument" } else { name };
    out.push_paste(name, start..cursor.pos, cursor.pos, Paste::Macro);
}

/// The brackets of `stringify!($t)`, whose name tells more than the macro's.
fn read_stringify<'a>(cursor: &mut Cursor<'a>, name: &mut &'a [u8]) -> bool {
    let start = cursor.pos;
    if !cursor.skip_brackets(256) {
        return false;
    }
    let mut inside = Cursor::new(&cursor.src[..cursor.pos], start + 1);
    inside.take_while(|b| !is_ident(b));
    let inner = inside.take_while(is_ident);
    if *name == b"stringify" && !inner.is_empty() {
        *name = inner;
    }
    true
}

/// Steps over a string literal of any kind.
fn literal(cursor: &mut Cursor<'_>) -> Option<(Range<usize>, Escapes)> {
    let mut ahead = *cursor;
    let prefix = ahead.take_while(is_ident);
    let raw = match prefix {
        b"" | b"b" | b"c" => false,
        b"r" | b"br" | b"cr" => true,
        _ => return None,
    };
    let hashes = if raw { ahead.take_while(|b| b == b'#') } else { b"" };
    if !ahead.eat(b"\"") {
        return None;
    }
    let start = ahead.pos;
    let end = if raw {
        let close = [b"\"", hashes].concat();
        let closed = ahead.skip_past(&close);
        if closed { ahead.pos - close.len() } else { ahead.pos }
    } else {
        skip_escaped(&mut ahead)
    };
    *cursor = ahead;
    Some((start..end, if raw { Escapes::None } else { Escapes::Rust }))
}

/// Steps behind the closing quote and yields where the content ends.
fn skip_escaped(cursor: &mut Cursor<'_>) -> usize {
    while let Some(ahead) = memchr::memchr2(b'\\', b'"', cursor.rest()) {
        cursor.advance(ahead);
        if cursor.eat(b"\"") {
            return cursor.pos - 1;
        }
        cursor.advance(2);
    }
    cursor.advance(cursor.src.len());
    cursor.pos
}

/// `'a'`, `'\''` and `'"'`, or the quote alone of a lifetime.
fn skip_char_or_lifetime(cursor: &mut Cursor<'_>) {
    cursor.advance(1);
    if cursor.peek(0) == b'\\' {
        cursor.advance(2);
        cursor.take_while(|b| is_ident(b) || matches!(b, b'{' | b'}'));
        cursor.eat(b"'");
    } else if cursor.peek(1) == b'\'' {
        cursor.advance(2);
    }
}

fn skip_trivia(cursor: &mut Cursor<'_>) {
    loop {
        cursor.take_while(|b| b.is_ascii_whitespace());
        if !skip_comment(cursor) && !skip_attribute(cursor) {
            return;
        }
    }
}

/// `#[cfg(…)]` before a line of a template.
fn skip_attribute(cursor: &mut Cursor<'_>) -> bool {
    let mut ahead = *cursor;
    let skipped = ahead.eat(b"#") && ahead.peek(0) == b'[' && ahead.skip_brackets(1024);
    if skipped {
        *cursor = ahead;
    }
    skipped
}

/// Block comments nest.
fn skip_comment(cursor: &mut Cursor<'_>) -> bool {
    if cursor.starts_with(b"//") {
        cursor.skip_to(b'\n');
        return true;
    }
    if !cursor.eat(b"/*") {
        return false;
    }
    let mut depth = 1_usize;
    while depth > 0 && !cursor.at_end() {
        let ahead = memchr::memchr2(b'/', b'*', cursor.rest()).unwrap_or(cursor.src.len());
        cursor.advance(ahead);
        if cursor.eat(b"/*") {
            depth += 1;
        } else if cursor.eat(b"*/") {
            depth -= 1;
        } else {
            cursor.advance(1);
        }
    }
    true
}
