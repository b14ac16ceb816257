//! CUDA source or LLVM IR inside a string of another program.

use super::cursor::{Cursor, is_ident};
use super::language::Language;
use super::lex;
use super::mapped::Mapped;

/// CUDA source or LLVM IR inside a string of another program: its strings, with places in the outer one, and its language. One level
/// is enough, since what such source holds in strings of its own is PTX.
pub(super) fn nested(outer: &Mapped, is_source: fn(&[u8]) -> bool) -> (Language, Vec<lex::Text>) {
    if memchr::memchr(b'"', outer.bytes()).is_none() || !is_source(outer.bytes()) {
        return (Language::Cuda, Vec::new());
    }
    let language = if is_llvm(outer.bytes()) { Language::LlvmIr } else { Language::Cuda };
    (language, lex::texts(outer.bytes(), language))
}

/// The bytes between `call` and `asm`: attributes and a type.
const LONGEST_CALL: usize = 256;

/// Whether a text calls an `asm` as LLVM IR does: `call i32 asm sideeffect "…"`, without a bracket before the template.
fn is_llvm(text: &[u8]) -> bool {
    memchr::memmem::find_iter(text, b" asm ").any(|at| {
        let before = &text[at.saturating_sub(LONGEST_CALL)..at];
        let line = memchr::memrchr(b'\n', before).map_or(0, |end| end + 1);
        if memchr::memmem::find(&before[line..], b"call ").is_none() {
            return false;
        }
        let mut cursor = Cursor::new(text, at + b" asm ".len());
        loop {
            cursor.take_while(|b| b.is_ascii_whitespace());
            match cursor.take_while(is_ident) {
                b"sideeffect" | b"alignstack" | b"inteldialect" | b"unwind" => {}
                _ => return cursor.peek(0) == b'"',
            }
        }
    })
}
