//! Calls of `vop map`, and what they are compared with.

use std::process::{Command, Output};

use tempfile::TempDir;
use vop::Form;
use vop_tests::arrays;
pub(crate) use vop_tests::arrays::bytes;

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

pub(crate) fn form(text: &str) -> Form {
    text.parse().expect("legal")
}

/// What a form makes of arrays, in their own layout; c is a value.
pub(crate) fn expected(form: Form, a: &[u8], b: &[u8], c: u32, row: usize) -> Vec<u8> {
    arrays::results(a, b, row, &|a, b| form.eval(a, b, c))
}
