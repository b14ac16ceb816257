//! The operands of a concatenation whose text is not known: a name, a call, a subscript, a method of a literal.
//!
//! Each is pasted into the string. The literals inside its brackets are strings of their own.

use std::borrow::Cow;
use std::ops::Range;

use super::super::cursor::{Cursor, is_ident};
use super::super::mapped::{Mapped, Paste};
use super::super::mnemonic::is_modifier;

/// The bytes of an operand's brackets. Literals inside longer ones are read, but the string ends before the brackets.
const LONGEST_BRACKETS: usize = 1024;
/// The depth of brackets in them.
const DEEPEST: usize = 16;

/// A part of an operand that is read for strings of its own.
pub(super) struct Inside {
    pub(super) range: Range<usize>,
    pub(super) rest: Option<Rest>,
}

/// The unknown operand that strings are inside of, where the concatenation goes on behind it: they may be cut off.
#[derive(Clone)]
pub(super) struct Rest {
    pub(super) name: Vec<u8>,
    /// Where the operand ends.
    pub(super) at: Range<usize>,
}

impl Rest {
    /// What may follow a string that ends inside the operand; nothing behind a statement's end.
    pub(super) fn paste(&self, behind: &Mapped) -> Option<Mapped> {
        if behind.bytes().is_empty() || behind.bytes().trim_ascii_end().ends_with(b";") {
            return None;
        }
        let mut paste = Mapped::from_pieces_of(behind);
        // Behind a dot the name stays, as no register is named there.
        let ends_in_dot = behind.bytes().ends_with(b".");
        let name = if ends_in_dot { self.name.clone() } else { [&*self.name, b"$rest"].concat() };
        paste.push_paste(&name, self.at.clone(), self.at.end, Paste::Field);
        Some(paste)
    }

    pub(super) fn push(&self, mapped: &mut Mapped) {
        if let Some(paste) = self.paste(mapped) {
            mapped.push_written(&paste, None);
        }
    }
}

/// How an operand of a string is pasted whose first literal is this: whether the literal goes on with modifiers of what stands before it.
pub(super) fn paste_of(before: &Mapped, literal: &[u8]) -> Paste {
    let word = match literal.strip_prefix(b".") {
        Some(word) => word,
        None if before.bytes().ends_with(b".") => literal,
        None => return Paste::Field,
    };
    let len = word.iter().take_while(|&&b| is_ident(b)).count();
    if is_modifier(&word[..len]) { Paste::Call } else { Paste::Field }
}

/// The literals of a language.
pub(super) trait Literals {
    /// Steps over a literal, a comment or a word, if one stands here.
    fn skip(&self, cursor: &mut Cursor<'_>) -> bool;

    /// The content of the literal here.
    fn content(&self, cursor: Cursor<'_>) -> Option<Range<usize>>;

    /// Whether the concatenation goes on here.
    fn goes_on(&self, cursor: Cursor<'_>) -> bool;
}

/// Whether a method or a subscript of a literal stands here, other than one that fills in its placeholders.
pub(super) fn is_trailer(cursor: Cursor<'_>) -> bool {
    match cursor.peek(0) {
        b'[' => true,
        b'.' => {
            let method = Cursor::new(cursor.src, cursor.pos + 1).take_while(is_ident);
            method.first().is_some_and(|b| !b.is_ascii_digit()) && !matches!(method, b"format" | b"format_map")
        }
        _ => false,
    }
}

/// Steps over the operand that begins at `start` and marks its place. `cursor` is there, or behind the literals that begin it.
pub(super) fn paste(
    cursor: &mut Cursor<'_>,
    start: usize,
    mapped: &mut Mapped,
    literals: &impl Literals,
    inside: &mut Vec<Inside>,
) -> bool {
    let source = cursor.src;
    let mut ranges = Vec::new();
    let mut name = cursor.take_while(is_ident);
    let word = name.len();
    if cursor.pos == start {
        return false;
    }
    if word == 0 {
        ranges.push(start..cursor.pos);
    }
    loop {
        let at = cursor.pos;
        match cursor.peek(0) {
            b'(' | b'[' if skip_brackets(cursor, literals) => ranges.push(at + 1..cursor.pos - 1),
            b'.' => {
                cursor.advance(1);
                let member = cursor.take_while(is_ident);
                if name.is_empty() {
                    name = member;
                }
            }
            _ => break,
        }
    }
    let lone = word > 0 && word == cursor.pos - start;
    let name = if name.is_empty() { b"field" } else { name };
    let rest = literals.goes_on(*cursor).then(|| Rest { name: name.to_vec(), at: cursor.pos - 1..cursor.pos });
    let first = ranges.first().and_then(|range| {
        let mut first = Cursor::new(&source[..range.end], range.start);
        first.take_while(|b| b.is_ascii_whitespace());
        literals.content(first)
    });
    let by = first.map_or(Paste::Field, |first| paste_of(mapped, &source[first]));
    let name = if lone { name.into() } else { Cow::from(mapped.distinct(name)) };
    mapped.push_paste(&name, start..cursor.pos, cursor.pos, by);
    inside.extend(ranges.into_iter().map(|range| Inside { range, rest: rest.clone() }));
    true
}

/// Steps to behind the bracket that closes the one here; `false`, without a step, where none is near.
fn skip_brackets(cursor: &mut Cursor<'_>, literals: &impl Literals) -> bool {
    let mut ahead = *cursor;
    let mut depth = 0_usize;
    while !ahead.at_end() && ahead.pos - cursor.pos < LONGEST_BRACKETS && depth <= DEEPEST {
        if literals.skip(&mut ahead) {
            continue;
        }
        match ahead.peek(0) {
            b'(' | b'[' | b'{' => depth += 1,
            b')' | b']' | b'}' => depth = depth.saturating_sub(1),
            _ => {}
        }
        ahead.advance(1);
        if depth == 0 {
            *cursor = ahead;
            return true;
        }
    }
    false
}
