//! PTX itself: its comments.

use std::ops::Range;

use super::super::cursor::Cursor;

/// The comments of PTX text, in order.
pub(super) fn comments(source: &[u8]) -> Vec<Range<usize>> {
    let mut comments = Vec::new();
    let mut cursor = Cursor::new(source, 0);
    while let Some(ahead) = memchr::memchr2(b'/', b'"', cursor.rest()) {
        cursor.advance(ahead);
        let start = cursor.pos;
        if skip_comment(&mut cursor) {
            comments.push(start..cursor.pos);
            continue;
        }
        if cursor.peek(0) == b'"' {
            cursor.skip_quoted(b'"');
        }
        cursor.advance(1);
    }
    comments
}

/// Steps over a comment; `false`, without a step, where there is none.
pub(in super::super) fn skip_comment(cursor: &mut Cursor<'_>) -> bool {
    if cursor.starts_with(b"//") {
        cursor.skip_to(b'\n');
        return true;
    }
    let block = cursor.eat(b"/*");
    if block {
        cursor.skip_past(b"*/");
    }
    block
}
