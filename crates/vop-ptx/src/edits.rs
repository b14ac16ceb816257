//! Edits of a file: applied, followed from one text to the next, and read back.

use std::ops::Range;

use vop::Edit;

use crate::find::{self, Language, Step};

/// A file after edits that lie apart, in ascending order.
pub(crate) fn applied(source: &[u8], edits: &[Edit]) -> Vec<u8> {
    let mut text = Vec::with_capacity(source.len());
    let mut copied = 0;
    for edit in edits {
        text.extend_from_slice(&source[copied..edit.span.start]);
        text.extend_from_slice(edit.text.as_bytes());
        copied = edit.span.end;
    }
    text.extend_from_slice(&source[copied..]);
    text
}

/// How lines end; the first decides.
pub(crate) fn newline(source: &[u8]) -> &'static str {
    let is_dos = source.iter().position(|byte| *byte == b'\n').is_some_and(|end| source[..end].ends_with(b"\r"));
    if is_dos { "\r\n" } else { "\n" }
}

/// Where a place of the text after the edits was before. What they have written was at the start of what it stands for.
pub(crate) fn before(edits: &[Edit], place: usize) -> usize {
    let mut moved = 0_isize;
    for edit in edits {
        let start = edit.span.start.wrapping_add_signed(moved);
        if place < start {
            break;
        }
        if place < start + edit.text.len() {
            return edit.span.start;
        }
        moved += edit.text.len() as isize - edit.span.len() as isize;
    }
    place.wrapping_add_signed(-moved)
}

/// Whether two places share a byte, or one is an insertion in the other or at the same place.
pub(crate) fn meet(one: &Range<usize>, other: &Range<usize>) -> bool {
    one.start < other.end && other.start < one.end || one.start == other.start
}

/// A block that was written in the place of an instruction.
pub(crate) struct Written<'a> {
    /// The edit that wrote it.
    pub(crate) edit: &'a Edit,
    /// The block as PTX, with the names that the instruction's text has.
    pub(crate) ptx: &'a str,
}

/// Which of the blocks the finder does not read back as they were written, in the text after the edits, as if each stood in the template
/// where its instruction did.
///
/// All are named where something else in the file reads differently than before.
pub(crate) fn unread(source: &[u8], language: Language, after: &[u8], blocks: &[Written<'_>]) -> Vec<usize> {
    let all = || (0..blocks.len()).collect();
    let (old, new) = (find::all_steps(source, language), find::all_steps(after, language));
    if old.len() != new.len() {
        return all();
    }
    let mut unread = Vec::new();
    let mut read = vec![false; blocks.len()];
    for (old, new) in old.iter().zip(&new) {
        let mut here = Vec::new();
        let mut expected: Vec<String> = Vec::new();
        for step in old {
            let block = match step {
                Step::Video(found) => {
                    // What a macro's body spells is written for all uses.
                    let place = found.spelled_offset(0);
                    let is_it = |block: &Written<'_>| place == block.edit.span.start;
                    blocks.iter().position(is_it)
                }
                _ => None,
            };
            match block {
                Some(number) => {
                    here.push(number);
                    expected.extend(find::steps_of_ptx(blocks[number].ptx).iter().filter_map(plain));
                }
                None => expected.extend(plain(step)),
            }
        }
        let found: Vec<String> = new.iter().filter_map(plain).collect();
        if found == expected {
            here.iter().for_each(|&number| read[number] = true);
        } else if here.is_empty() {
            return all();
        } else {
            unread.extend(here);
        }
    }
    unread.extend((0..blocks.len()).filter(|&number| !read[number]));
    unread.sort_unstable();
    unread.dedup();
    unread
}

/// What a step does, on one line; none where it only joins or parts others.
fn plain(step: &Step) -> Option<String> {
    let text = match step {
        Step::Video(found) => &found.text,
        Step::Other(text) => text,
        Step::Unknown => return Some("?".to_owned()),
        Step::Break => return None,
    };
    Some(text.split_whitespace().collect::<Vec<_>>().join(" "))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn places_are_followed_back() {
        let edits = [Edit::new(2..2, "xx"), Edit::new(4..6, ""), Edit::new(8..9, "abc")];
        assert_eq!(applied(b"0123456789", &edits), b"01xx2367abc9");
        let places = [0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11];
        assert_eq!(places.map(|place| before(&edits, place)), [0, 1, 2, 2, 2, 3, 6, 7, 8, 8, 8, 9]);
        assert!(meet(&(2..2), &(2..4)) && meet(&(3..3), &(2..4)) && !meet(&(4..4), &(2..4)) && !meet(&(0..2), &(2..4)));
    }
}
