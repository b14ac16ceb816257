//! Tells files that hold no video instruction apart, at the speed of reading them.

use std::sync::LazyLock;

use super::cursor::is_ident;
use super::mnemonic::{NEAR_STEMS, Word, classify, is_modifier, stems};
use super::words::Words;

/// The beginnings of mnemonics and of misspelt ones: their first four bytes in either case, which keep the vectorised search
/// precise. Also the types behind a mnemonic that a macro pastes: no other instruction has one type three times.
fn needles() -> Vec<String> {
    let mut needles: Vec<String> = stems().chain(NEAR_STEMS).map(|stem| stem[..4].to_owned()).collect();
    needles.sort_unstable();
    needles.dedup();
    let upper: Vec<String> = needles.iter().map(|needle| needle.to_ascii_uppercase()).collect();
    needles.extend(upper);
    needles.extend([".u32.u32.u32", ".s32.s32.s32"].map(String::from));
    needles.extend(PIECES.map(String::from));
    needles
}

/// How a macro begins a mnemonic that it puts together, `"v" #op "4…"`, `v##op`, `CAT(v, op)`, and how an operator does, `'v' + op`.
const PIECES: [&str; 5] = ["\"v\"", "'v'", "v##", "v ##", "(v,"];

static SEARCHER: LazyLock<Option<Words>> = LazyLock::new(|| Words::new(&needles()));

/// Whether a file in any of the languages may hold a video instruction: a mnemonic that a modifier, a quote or a
/// placeholder follows, or pieces of one and a macro that may put them together. `false` is certain, except for a mnemonic in
/// pieces of which none is the beginning of one.
#[must_use]
pub fn may_contain(bytes: &[u8]) -> bool {
    // Building the search fails only for unfit needles; then every file is read.
    let Some(searcher) = SEARCHER.as_ref() else { return true };
    let mut pieces = false;
    let mut joined = false;
    for hit in searcher.find_iter(bytes) {
        let found = &bytes[hit.start()..hit.end()];
        let is_piece = PIECES.iter().any(|piece| piece.as_bytes() == found);
        if found[0] == b'.' || (!is_piece && begins(bytes, hit.start()) && goes_on(&bytes[hit.end()..])) {
            return true;
        }
        joined |= matches!(found, b"\"v\"" | b"'v'") && is_joined(&bytes[hit.end()..]);
        pieces |= matches!(found, [b'"' | b'(', ..]) || begins(bytes, hit.start());
    }
    (joined && has_lanes(bytes)) || (pieces && puts_together(bytes))
}

/// Whether a text holds the first letters of a mnemonic, or pieces of one: if not, no part of a video instruction is in it.
pub(super) fn may_begin(bytes: &[u8]) -> bool {
    SEARCHER.as_ref().is_none_or(|searcher| searcher.is_in(bytes))
}

/// Whether an operator that joins strings stands here.
fn is_joined(rest: &[u8]) -> bool {
    matches!(rest.trim_ascii_start(), [b'+' | b'*' | b'~' | b'&', ..] | [b'<', b'<', ..] | [b')', ..])
}

/// Whether a string begins with the number of lanes and a dot: `"4."`.
fn has_lanes(bytes: &[u8]) -> bool {
    let all: [&[u8]; 4] = [b"\"2.", b"\"4.", b"'2.", b"'4."];
    all.into_iter().any(|lanes| memchr::memmem::find(bytes, lanes).is_some())
}

/// Whether a file has macros and what they may make instructions of.
fn puts_together(bytes: &[u8]) -> bool {
    let has = |text: &str| memchr::memmem::find(bytes, text.as_bytes()).is_some();
    (has("define") || has("concat!")) && (has("asm") && has("32") || has(".u32") || has(".s32"))
}

/// Whether a text in any language mentions a video instruction: a mnemonic and a modifier, `vadd4.u32`.
#[must_use]
pub fn mentions(bytes: &[u8]) -> bool {
    let Some(searcher) = SEARCHER.as_ref() else { return false };
    searcher.find_iter(bytes).any(|hit| {
        let len = bytes[hit.start()..].iter().take(16).take_while(|b| b.is_ascii_alphanumeric()).count();
        let end = hit.start() + len;
        let modifier = bytes.get(end).filter(|dot| **dot == b'.').map(|_| &bytes[end + 1..]).unwrap_or_default();
        let modifier = &modifier[..modifier.iter().take(8).take_while(|b| b.is_ascii_alphanumeric()).count()];
        len >= 4
            && begins(bytes, hit.start())
            && classify(&bytes[hit.start()..end]) == Word::Video
            && is_modifier(modifier)
    })
}

/// Whether a word begins at `start`. A letter before it may be the end of an escape sequence: `\n`, `\0A`, `\x09`.
fn begins(bytes: &[u8], start: usize) -> bool {
    let before = &bytes[start.saturating_sub(4)..start];
    before.last().is_none_or(|&b| !is_ident(b)) || memchr::memchr(b'\\', before).is_some()
}

/// Whether what follows the first four letters of a mnemonic may be the rest of it and a modifier.
fn goes_on(rest: &[u8]) -> bool {
    let word = rest.iter().take(8).take_while(|b| b.is_ascii_alphanumeric()).count();
    let rest = rest[word..].trim_ascii_start();
    matches!(rest.first(), Some(b'"' | b'\'' | b'.' | b'%' | b'{' | b'$' | b'\\' | b'/'))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_are_searched_by_vectors_as_by_an_automaton() {
        super::super::words::tests::assert_same(
            &needles(),
            &[
                "\\",
                "\"",
                " ",
                "v",
                "V",
                "#",
                "4.",
                ".u32",
                "ar",
                "_",
                "%d",
                "\n\tdefine",
                "asm",
                "\u{e4}",
                "0123456789abcdef",
            ],
        );
    }
}
