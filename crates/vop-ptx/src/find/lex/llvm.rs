//! LLVM IR: `call i32 asm sideeffect "vadd4… $0, $1;", "=r,r"(…)`, `module asm "…"`, `c"…\00"`.

use std::ops::Range;

use super::super::cursor::{Cursor, is_ident};
use super::super::mapped::Mapped;
use super::super::placeholder::Dialect;
use super::escape::{Escapes, decode};
use super::text::Text;

pub(super) fn texts(source: &[u8]) -> Vec<Text> {
    let mut texts = Vec::new();
    let mut cursor = Cursor::new(source, 0);
    let mut after_asm = false;
    while !cursor.at_end() {
        match cursor.peek(0) {
            b';' => cursor.skip_to(b'\n'),
            b'"' => {
                // `@"name"`, `%"name"`, `$"name"` and `!"metadata"` are no text of the program.
                let is_name = matches!(cursor.before(), b'@' | b'%' | b'$' | b'!');
                let mapped = literal(&mut cursor);
                if !is_name {
                    let dialect = if after_asm { Dialect::LlvmAsm } else { Dialect::Free };
                    texts.push(Text::new(mapped, dialect));
                }
                after_asm = false;
            }
            b if is_ident(b) => match cursor.take_while(is_ident) {
                b"asm" => after_asm = true,
                b"sideeffect" | b"alignstack" | b"inteldialect" | b"unwind" => {}
                _ => after_asm = false,
            },
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
