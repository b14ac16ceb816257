//! The command as people call it: each `cmd/*.trycmd` holds calls and what they print, and so does the README.
//!
//! `TRYCMD=overwrite cargo test -p vop-cli --test cli` rewrites what is expected.

#[test]
fn cli() {
    trycmd::TestCases::new().case("tests/cmd/*.trycmd").case("../../README.md");
}
