//! Calls of `vop map`, and what they are compared with.

use std::process::{Command, Output};

use tempfile::TempDir;
use vop::Form;

/// More than two blocks of 2^16 words, and no whole number of anything.
pub(crate) const MANY: usize = 150_001;

pub(crate) fn run(folder: &TempDir, args: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_vop")).arg("map").args(args).current_dir(folder).output().expect("vop runs")
}

#[track_caller]
pub(crate) fn done(folder: &TempDir, args: &[&str]) -> String {
    let output = run(folder, args);
    let said = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{args:?}: {said}");
    assert_eq!(said, "", "{args:?}");
    String::from_utf8(output.stdout).expect("UTF-8")
}

/// Fails with the words, and leaves neither the output nor anything else that was not there.
#[track_caller]
pub(crate) fn refused(folder: &TempDir, args: &[&str], code: i32, words: &str) {
    let names = || {
        let mut names: Vec<_> = folder.path().read_dir().unwrap().map(|file| file.unwrap().file_name()).collect();
        names.sort();
        names
    };
    let before = names();
    let output = run(folder, args);
    let said = String::from_utf8_lossy(&output.stderr);
    assert!(said.contains(words), "{args:?}: {said}");
    assert!(!said.contains("panicked"), "{args:?}: {said}");
    assert_eq!(output.status.code(), Some(code), "{args:?}: {said}");
    assert_eq!(names(), before, "{args:?}");
}

/// xorshift64*, the same numbers every time.
pub(crate) fn bytes(seed: u64, count: usize) -> Vec<u8> {
    let mut state = seed;
    (0..count)
        .map(|_| {
            state ^= state >> 12;
            state ^= state << 25;
            state ^= state >> 27;
            (state.wrapping_mul(0x2545_f491_4f6c_dd1d) >> 56) as u8
        })
        .collect()
}

pub(crate) fn form(text: &str) -> Form {
    text.parse().expect("legal")
}

/// The words of rows of `row` bytes.
pub(crate) fn words(bytes: &[u8], row: usize) -> Vec<u32> {
    let word = |part: &[u8]| part.iter().rev().fold(0, |word, byte| word << 8 | u32::from(*byte));
    bytes.chunks(row).flat_map(|row| row.chunks(4).map(word).collect::<Vec<_>>()).collect()
}

/// What a form makes of arrays, in their own layout; c is a value.
pub(crate) fn expected(form: Form, a: &[u8], b: &[u8], c: u32, row: usize) -> Vec<u8> {
    let (a, b) = (words(a, row), words(b, row));
    let d: Vec<u32> = a.iter().zip(&b).map(|(a, b)| form.eval(*a, *b, c)).collect();
    let per_row = row.div_ceil(4);
    d.chunks(per_row)
        .flat_map(|words| words.iter().flat_map(|word| word.to_le_bytes()).take(row).collect::<Vec<_>>())
        .collect()
}
