//! What the repository says of its dependencies is current, and their licences are allowed.

use std::process::Command;

fn xtask(arguments: &[&str]) {
    let output = Command::new(env!("CARGO_BIN_EXE_xtask")).args(arguments).output().expect("xtask runs");
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
}

#[test]
fn default_builds_compile_nothing_unlisted() {
    xtask(&["dependencies"]);
}

#[test]
fn licences_are_allowed() {
    xtask(&["licences"]);
}
