//! What stands for operands in templates, written as PTX: `%%r1`, `%[x]`, `$0`, `${0:b}`, `{x}`, `%(x)s`.

use std::borrow::Cow;
use std::ops::Range;

use super::cursor::{Cursor, is_ident};
use super::mapped::{Mapped, Paste};

/// How a text spells its placeholders.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Dialect {
    /// The template of a C `asm`: `%0`, `%[x]`, `%%`.
    GccAsm,
    /// The template of LLVM's `asm`: `$0`, `${0}`, `${0:b}`, `$$`.
    LlvmAsm,
    /// The template of Rust's `asm!`: `{0}`, `{x:e}`, `{{`.
    RustAsm,
    /// The text of MLIR's `nvvm.inline_ptx`: `{$w0}`, `{$r0}`, `{$rw0}`.
    MlirPtx,
    /// PTX as a file holds it.
    Ptx,
    /// Any other string, which may become a template or PTX by any of these ways, or by formatting.
    Free,
}

impl Dialect {
    /// Whether the text is known to be assembly language.
    pub(super) fn is_asm(self) -> bool {
        self != Self::Free
    }
}

/// Reads the placeholders: those for operands become `%name`, those for any text are marked as pasted.
///
/// Two that may stand for different texts get different names, `%s$1` and `%s$2`.
pub(super) fn decode(text: &Mapped, dialect: Dialect) -> Mapped {
    let mut out = Mapped::from_pieces_of(text);
    let mut cursor = Cursor::new(text.bytes(), 0);
    let mut copied = 0;
    // Rust numbers `{}` by themselves.
    let mut unnamed = 0;
    while !cursor.at_end() {
        let sign = match dialect {
            Dialect::RustAsm => memchr::memchr2(b'{', b'}', cursor.rest()),
            _ => memchr::memchr3(b'%', b'$', b'{', cursor.rest()),
        };
        let Some(ahead) = sign else { break };
        cursor.advance(ahead);
        if text.paste_at(cursor.pos).is_some() {
            cursor.advance(1);
            continue;
        }
        match read(cursor, dialect) {
            Some(placeholder) => {
                let source = cursor.pos..cursor.pos + placeholder.len;
                out.push_slice(text, copied..source.start);
                let name = placeholder.name;
                let name = match (placeholder.named, dialect) {
                    (true, _) => name.into(),
                    (false, Dialect::RustAsm) => {
                        unnamed += 1;
                        Cow::from(format!("field${unnamed}").into_bytes())
                    }
                    (false, _) => Cow::from(out.distinct(name)),
                };
                // `"%[" #x "]"` where the name is not known.
                let pasted = source.clone().find_map(|i| text.paste_at(i)).map(|(by, _)| by);
                match pasted.filter(|_| matches!(placeholder.meaning, Meaning::Operand)) {
                    Some(by) => out.push_instead(&[b"%", &*name].concat(), text, source.clone(), Some(by)),
                    None => push(&mut out, text, source.clone(), placeholder.meaning, &name),
                }
                cursor.advance(placeholder.len);
                copied = source.end;
            }
            None => cursor.advance(1),
        }
    }
    out.push_slice(text, copied..text.bytes().len());
    out
}

struct Placeholder<'a> {
    len: usize,
    meaning: Meaning,
    name: &'a [u8],
    /// Whether the same name means the same text, as of `{x}`; not of `{}`, `%s` and `{x[0]}`.
    named: bool,
}

enum Meaning {
    /// These bytes.
    Plain,
    /// An operand of this name, whose offset in the text is known.
    Operand,
    /// Any text, called so.
    Any,
}

fn push(out: &mut Mapped, text: &Mapped, source: Range<usize>, meaning: Meaning, name: &[u8]) {
    match meaning {
        Meaning::Plain => out.push_instead(name, text, source, None),
        Meaning::Operand => out.push_instead(&[b"%", name].concat(), text, source, None),
        Meaning::Any => out.push_instead(name, text, source, Some(Paste::Field)),
    }
}

fn read(cursor: Cursor<'_>, dialect: Dialect) -> Option<Placeholder<'_>> {
    match (cursor.peek(0), dialect) {
        (_, Dialect::Ptx) => None,
        // A template may itself be inside a Python string that is formatted, in ways that no template of C reads.
        // A number that no other `asm` has.
        (b'%', Dialect::GccAsm) if cursor.peek(1) == b'=' => {
            Some(Placeholder { len: 2, meaning: Meaning::Plain, name: b"0", named: true })
        }
        (b'%', Dialect::GccAsm) => {
            let formatted = cursor.before() == b'.' || cursor.peek(1) == b'(';
            percent(cursor).or_else(|| printf_field(cursor).filter(|_| formatted))
        }
        (b'{', Dialect::GccAsm) if cursor.peek(1) != b'}' => doubly_braced(cursor).or_else(|| brace_field(cursor, 1)),
        (b'$', Dialect::GccAsm) if cursor.peek(1) == b'{' => {
            template_field(cursor).or_else(|| expression(cursor, b"${", b"}"))
        }
        (b'%', Dialect::Free) => percent(cursor).or_else(|| printf_field(cursor)),
        (b'$', Dialect::LlvmAsm) => dollar(cursor),
        (b'{', Dialect::MlirPtx) => mlir_operand(cursor),
        (b'$', Dialect::Free) => {
            dollar(cursor).or_else(|| template_field(cursor)).or_else(|| expression(cursor, b"${", b"}"))
        }
        (b'{' | b'}', Dialect::RustAsm) => doubled_brace(cursor).or_else(|| brace_field(cursor, 1)),
        (b'{', Dialect::Free) => doubly_braced(cursor).or_else(|| brace_field(cursor, 1)),
        _ => None,
    }
}

/// `%%` and `%[name]`.
fn percent(mut cursor: Cursor<'_>) -> Option<Placeholder<'_>> {
    let start = cursor.pos;
    cursor.advance(1);
    if cursor.peek(0) == b'%' {
        // Each level of formatting doubles the sign, and PTX never does.
        let more = cursor.take_while(|b| b == b'%').len();
        return Some(Placeholder { len: 1 + more, meaning: Meaning::Plain, name: b"%", named: true });
    }
    if !cursor.eat(b"[") {
        return None;
    }
    let name = cursor.take_while(is_ident);
    (!name.is_empty() && cursor.eat(b"]")).then_some(Placeholder {
        len: cursor.pos - start,
        meaning: Meaning::Operand,
        name,
        named: true,
    })
}

/// `%(name)s`, and `%s` or `%d`: where it is no part of a word it reads as the identifier that it may well be.
fn printf_field(mut cursor: Cursor<'_>) -> Option<Placeholder<'_>> {
    let start = cursor.pos;
    let before = cursor.before();
    let inside_word = is_ident(before) || before == b'.';
    cursor.advance(1);
    let name = if cursor.eat(b"(") {
        let name = cursor.take_while(is_ident);
        cursor.eat(b")").then_some(name)?
    } else {
        b"".as_slice()
    };
    let named = !name.is_empty();
    cursor.take_while(|b| b.is_ascii_digit() || b == b'-');
    let length = cursor.take_while(|b| matches!(b, b'l' | b'z' | b'h')).len();
    if !matches!(cursor.peek(0), b's' | b'd' | b'i' | b'u' | b'x' | b'X' | b'c')
        || (length > 0 && cursor.peek(0) == b's')
    {
        return None;
    }
    cursor.advance(1);
    let name = if named { name } else { &cursor.src[cursor.pos - 1..cursor.pos] };
    let meaning = match named || inside_word {
        true => Meaning::Any,
        false if is_ident(cursor.peek(0)) || matches!(before, b'@' | b'!') => return None,
        false => Meaning::Operand,
    };
    Some(Placeholder { len: cursor.pos - start, meaning, name, named })
}

/// `$$`, `$0`, `${0}` and `${0:modifier}`.
fn dollar(mut cursor: Cursor<'_>) -> Option<Placeholder<'_>> {
    let start = cursor.pos;
    cursor.advance(1);
    if cursor.eat(b"$") {
        return Some(Placeholder { len: 2, meaning: Meaning::Plain, name: b"$", named: true });
    }
    let braced = cursor.eat(b"{");
    let number = cursor.take_while(|b| b.is_ascii_digit());
    if braced {
        cursor.take_while(|b| b == b':' || b.is_ascii_alphanumeric());
    }
    let closed = !braced || cursor.eat(b"}");
    let len = cursor.pos - start;
    (closed && !number.is_empty()).then_some(Placeholder { len, meaning: Meaning::Operand, name: number, named: true })
}

/// `{$w0}`, `{$r0}` and `{$rw0}`: an operand that is written, read, or both.
fn mlir_operand(mut cursor: Cursor<'_>) -> Option<Placeholder<'_>> {
    let start = cursor.pos;
    if !cursor.eat(b"{$") {
        return None;
    }
    let name = cursor.take_while(|b| b.is_ascii_alphanumeric());
    let closed = cursor.eat(b"}");
    let len = cursor.pos - start;
    (closed && !name.is_empty()).then_some(Placeholder { len, meaning: Meaning::Operand, name, named: true })
}

/// `${name}`, and `$name` behind a dot, where no PTX identifier can be.
fn template_field(mut cursor: Cursor<'_>) -> Option<Placeholder<'_>> {
    let start = cursor.pos;
    let behind_dot = cursor.before() == b'.';
    cursor.advance(1);
    let braced = cursor.eat(b"{");
    let name = cursor.take_while(is_ident);
    let whole = if braced { cursor.eat(b"}") } else { behind_dot };
    let len = cursor.pos - start;
    (whole && !name.is_empty()).then_some(Placeholder { len, meaning: Meaning::Any, name, named: true })
}

/// `{{ x }}` and `{{ x | upper }}`.
fn doubly_braced(cursor: Cursor<'_>) -> Option<Placeholder<'_>> {
    brace_field(cursor, 2).or_else(|| expression(cursor, b"{{", b"}}"))
}

/// `${a + 1}` and `{{ a | upper }}`: an expression of a template. The braces of a block, and those of a vector, are none.
fn expression<'a>(mut cursor: Cursor<'a>, open: &[u8], close: &[u8]) -> Option<Placeholder<'a>> {
    const LONGEST: usize = 200;
    let start = cursor.pos;
    if !cursor.eat(open) {
        return None;
    }
    let inside = &cursor.rest()[..cursor.rest().len().min(LONGEST)];
    let inside = &inside[..memchr::memmem::find(inside, close)?];
    let text = inside.strip_prefix(b"-").unwrap_or(inside).trim_ascii_start();
    let begins = text.first().is_some_and(|&b| is_ident(b) || matches!(b, b'(' | b'"' | b'\'' | b'.' | b'$'));
    let mut depth = 0_usize;
    let lists = text.iter().any(|b| {
        match b {
            b'(' | b'[' => depth += 1,
            b')' | b']' => depth = depth.saturating_sub(1),
            _ => {}
        }
        matches!(b, b';' | b'\n' | b'{') || (*b == b',' && depth == 0)
    });
    if !begins || lists {
        return None;
    }
    let len = text.iter().take_while(|&&b| is_ident(b)).count();
    let name = if len == 0 { b"field".as_slice() } else { &text[..len] };
    cursor.advance(inside.len() + close.len());
    Some(Placeholder { len: cursor.pos - start, meaning: Meaning::Any, name, named: false })
}

/// `{{` and `}}`.
fn doubled_brace(cursor: Cursor<'_>) -> Option<Placeholder<'_>> {
    let name: &[u8] = match cursor.rest() {
        [b'{', b'{', ..] => b"{",
        [b'}', b'}', ..] => b"}",
        _ => return None,
    };
    Some(Placeholder { len: 2, meaning: Meaning::Plain, name, named: true })
}

/// `{}`, `{0}`, `{name.part[0]!r:>8}`; with two braces `{{ name }}`. A block of PTX never reads so.
fn brace_field(mut cursor: Cursor<'_>, braces: usize) -> Option<Placeholder<'_>> {
    let start = cursor.pos;
    let (open, close) = (&b"{{"[..braces], &b"}}"[..braces]);
    if !cursor.eat(open) {
        return None;
    }
    if braces == 2 {
        cursor.take_while(|b| b == b' ');
    }
    let path = cursor.take_while(|b| is_ident(b) || matches!(b, b'.' | b'[' | b']'));
    if cursor.peek(0) == b'!' && is_ident(cursor.peek(1)) {
        cursor.advance(2);
    }
    if cursor.peek(0) == b':' {
        cursor.take_while(|b| !matches!(b, b'{' | b'}' | b'\n' | b';' | b'%' | b'"'));
    }
    if braces == 2 {
        cursor.take_while(|b| b == b' ');
    }
    let name_len = path.iter().position(|&b| !is_ident(b)).unwrap_or(path.len());
    let name = if name_len == 0 { b"field".as_slice() } else { &path[..name_len] };
    let named = name_len > 0 && name_len == path.len();
    cursor.eat(close).then_some(Placeholder { len: cursor.pos - start, meaning: Meaning::Any, name, named })
}
