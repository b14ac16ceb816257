//! A search for many short words at once.

use aho_corasick::packed::{self, Searcher};
use aho_corasick::{AhoCorasick, Input, MatchKind};

/// Finds one of many words. Of two words that begin at one place it finds the one that is first in the list.
pub(super) enum Words {
    /// By vector instructions: some gigabytes a second, for up to 64 words.
    Packed(Searcher),
    /// Where the processor has no such instructions.
    Automaton(AhoCorasick),
}

impl Words {
    /// `None` if no search can be built for these words.
    pub(super) fn new(words: &[String]) -> Option<Words> {
        Self::packed(words).or_else(|| Self::automaton(words))
    }

    fn packed(words: &[String]) -> Option<Words> {
        let mut builder = packed::Config::new().match_kind(packed::MatchKind::LeftmostFirst).builder();
        builder.extend(words).build().map(Words::Packed)
    }

    fn automaton(words: &[String]) -> Option<Words> {
        AhoCorasick::builder().match_kind(MatchKind::LeftmostFirst).build(words).ok().map(Words::Automaton)
    }

    /// Where words stand, from the first on. What is found does not overlap.
    pub(super) fn find_iter<'a>(&'a self, bytes: &'a [u8]) -> impl Iterator<Item = aho_corasick::Match> + 'a {
        let mut from = 0;
        std::iter::from_fn(move || {
            let found = match self {
                Words::Packed(searcher) => searcher.find_in(bytes, (from..bytes.len()).into()),
                Words::Automaton(automaton) => automaton.find(Input::new(bytes).range(from..)),
            };
            from = found?.end();
            found
        })
    }

    /// Whether a word stands anywhere.
    pub(super) fn is_in(&self, bytes: &[u8]) -> bool {
        self.find_iter(bytes).next().is_some()
    }
}

#[cfg(test)]
pub(super) mod tests {
    use std::ops::Range;
    use std::path::Path;

    use super::*;

    /// Both searches find the same: in the sources and examples of this project, and in random texts of the words, parts of them
    /// and what may stand around them.
    pub(in super::super) fn assert_same(words: &[String], around: &[&str]) {
        let automaton = Words::automaton(words).expect("the words are fit for an automaton");
        // On a processor without vector instructions there is nothing to compare.
        let Some(packed) = Words::packed(words) else { return };
        let places = |search: &Words, text: &[u8]| -> Vec<(usize, Range<usize>)> {
            search.find_iter(text).map(|found| (found.pattern().as_usize(), found.range())).collect()
        };
        let mut found = 0;
        let mut compare = |text: &[u8]| {
            let expected = places(&automaton, text);
            found += expected.len();
            assert!(places(&packed, text) == expected, "{}", String::from_utf8_lossy(text));
        };
        let mut files = Vec::new();
        let package = Path::new(env!("CARGO_MANIFEST_DIR"));
        for folder in ["src", "tests", "../../examples"] {
            read_folder(&package.join(folder), &mut files);
        }
        files.iter().for_each(|file| compare(file));
        let mut state = 0x2545_f491_4f6c_dd1d_u64;
        let mut random = |below: usize| {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            (state >> 33) as usize % below
        };
        for _ in 0..20_000 {
            let mut text = String::new();
            for _ in 0..random(24) {
                let word = &words[random(words.len())];
                match random(4) {
                    0 => text.push_str(word),
                    1 => text.push_str(&word[..random(word.len())]),
                    2 => text.push_str(&word[random(word.len())..]),
                    _ => text.push_str(around[random(around.len())]),
                }
            }
            compare(text.as_bytes());
        }
        assert!(found > 20_000, "{found} words were found, too few to show anything");
    }

    fn read_folder(folder: &Path, files: &mut Vec<Vec<u8>>) {
        for entry in std::fs::read_dir(folder).into_iter().flatten().flatten() {
            let path = entry.path();
            if path.is_dir() {
                read_folder(&path, files);
            } else if entry.metadata().is_ok_and(|data| data.len() < 1 << 20) {
                files.extend(std::fs::read(&path));
            }
        }
    }
}
