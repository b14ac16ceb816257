//! Names that may have been meant.

use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;

/// How many single-character edits (insert, drop, replace, swap neighbours) lie between two names.
fn distance(a: &str, b: &str) -> usize {
    let (a, b) = (a.as_bytes(), b.as_bytes());
    // Optimal string alignment: three rows of the table suffice.
    let mut before = Vec::new();
    let mut above: Vec<usize> = (0..=b.len()).collect();
    for i in 0..a.len() {
        let mut row = alloc::vec![i + 1];
        for j in 0..b.len() {
            let replace = above[j] + usize::from(a[i] != b[j]);
            let mut best = replace.min(above[j + 1] + 1).min(row[j] + 1);
            if i > 0 && j > 0 && a[i] == b[j - 1] && a[i - 1] == b[j] {
                let swap: &Vec<usize> = &before;
                best = best.min(swap[j - 1] + 1);
            }
            row.push(best);
        }
        before = core::mem::replace(&mut above, row);
    }
    above[b.len()]
}

/// The candidate nearest to a name, if it is near enough to be meant: at most a third of the name away, at least one edit.
///
/// Also whether no other can be meant: a letter is missing, too many or in the wrong place, and no other candidate is as near. Another letter
/// may well be another name: `vadc` is not `vadd`.
pub(super) fn nearest<'c>(name: &str, candidates: impl IntoIterator<Item = &'c str>) -> Option<(&'c str, bool)> {
    // A name of any length may stand in a text; a long one is near nothing.
    if name.len() > 24 {
        return None;
    }
    let name = name.to_ascii_lowercase();
    let allowed = (name.len() / 3).max(1);
    let mut best: Option<((usize, bool), &str)> = None;
    let mut is_only = true;
    for candidate in candidates {
        // Of several as near, one with the same end: the digit of `vad4` is meant.
        let ends = candidate.as_bytes().last() == name.as_bytes().last();
        let key = (distance(&name, candidate), !ends);
        match best {
            Some((least, _)) if key > least => {}
            Some((least, _)) if key == least => is_only = false,
            _ if key.0 > allowed => {}
            _ => (best, is_only) = (Some((key, candidate)), true),
        }
    }
    let is_certain = |distance: usize, candidate: &str| {
        let sorted = |text: &str| {
            let mut bytes = text.as_bytes().to_vec();
            bytes.sort_unstable();
            bytes
        };
        is_only && distance <= 1 && (name.len() != candidate.len() || sorted(&name) == sorted(candidate))
    };
    best.map(|((distance, _), candidate)| (candidate, is_certain(distance, candidate)))
}

/// Names separated by blanks, each with a prefix.
pub(super) fn listed(names: impl Iterator<Item = &'static str>, prefix: &str) -> String {
    names.map(|name| format!("{prefix}{name}")).collect::<Vec<_>>().join(" ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn distances() {
        for (a, b, d) in
            [("", "abc", 3), ("varvg2", "vavrg2", 1), ("vadd", "vadd", 0), ("sta", "sat", 1), ("clmp", "clamp", 1)]
        {
            assert_eq!(distance(a, b), d, "{a} {b}");
        }
    }

    #[test]
    fn nearest_or_none() {
        assert_eq!(nearest("varvg2", ["vadd2", "vavrg2"]), Some(("vavrg2", true)));
        assert_eq!(nearest("VADD", ["vadd", "vsub"]), Some(("vadd", true)));
        assert_eq!(nearest("mov", ["vadd", "vsub"]), None);
        assert_eq!(nearest("vad4", ["vadd", "vadd2", "vadd4"]), Some(("vadd4", true)));
        // Another letter, one of two that are as near, and two edits.
        assert_eq!(nearest("vadc", ["vadd", "vsub"]), Some(("vadd", false)));
        assert_eq!(nearest("vsh", ["vshl", "vshr"]), Some(("vshl", false)));
        assert_eq!(nearest("vabdif4", ["vabsdiff4"]), Some(("vabsdiff4", false)));
    }
}
