//! MLIR: `llvm.inline_asm "vadd4… $0, $1;", "=r,r" …`, `nvvm.inline_ptx "vadd4… {$w0}, {$r0};" …`, in either spelling, and PTX that
//! an attribute holds.

use std::ops::Range;
use std::sync::Arc;

use super::super::cursor::{Cursor, is_ident};
use super::super::mapped::Mapped;
use super::super::placeholder::Dialect;
use super::escape::{Escapes, decode};
use super::llvm;
use super::text::Text;

pub(super) fn texts(source: &[u8]) -> Vec<Text> {
    let mut texts = Vec::new();
    let mut cursor = Cursor::new(source, 0);
    let mut dialect = Dialect::Free;
    while !cursor.at_end() {
        match cursor.peek(0) {
            b'/' if cursor.peek(1) == b'/' => cursor.skip_to(b'\n'),
            b'"' => {
                // `@"name"` and `#"name"` are no text of the program.
                let is_name = matches!(cursor.before(), b'@' | b'#' | b'!');
                let content = quoted(&mut cursor);
                let mut mapped = Mapped::default();
                decode(&mut mapped, source, content, Escapes::Mlir);
                if !is_name {
                    // The constraints are those of LLVM.
                    let asm = if dialect == Dialect::LlvmAsm { llvm::operands(cursor) } else { None };
                    texts.push(Text { asm: asm.map(Arc::new), ..Text::new(mapped, dialect) });
                }
                dialect = Dialect::Free;
            }
            b if is_ident(b) => match cursor.take_while(is_ident) {
                // The names of the operations, and of their attributes in the generic spelling.
                b"inline_asm" | b"asm_string" => dialect = Dialect::LlvmAsm,
                b"inline_ptx" | b"ptxCode" => dialect = Dialect::MlirPtx,
                _ => {}
            },
            // The operands of an operation follow its text.
            b'%' => {
                dialect = Dialect::Free;
                cursor.advance(1);
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
    while let Some(ahead) = memchr::memchr2(b'/', b'"', cursor.rest()) {
        cursor.advance(ahead);
        let start = cursor.pos;
        if cursor.starts_with(b"//") {
            cursor.skip_to(b'\n');
            comments.push(start..cursor.pos);
        } else if cursor.peek(0) == b'"' {
            quoted(&mut cursor);
        } else {
            cursor.advance(1);
        }
    }
    comments
}

/// Steps over a string; yields what is between its quotes.
fn quoted(cursor: &mut Cursor<'_>) -> Range<usize> {
    cursor.advance(1);
    let start = cursor.pos;
    while let Some(ahead) = memchr::memchr2(b'\\', b'"', cursor.rest()) {
        cursor.advance(ahead);
        if cursor.peek(0) == b'"' {
            let content = start..cursor.pos;
            cursor.advance(1);
            return content;
        }
        cursor.advance(2);
    }
    cursor.advance(cursor.src.len());
    start..cursor.pos
}
