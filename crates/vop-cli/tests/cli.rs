//! The command as people call it: each `cmd/*.trycmd` holds calls and what they print, and so does the README.
//!
//! `TRYCMD=overwrite cargo test -p vop-cli --test cli` rewrites what is expected.

#[test]
fn cli() {
    trycmd::TestCases::new().case("tests/cmd/*.trycmd").case("tests/cmd/*.toml").run();
    // The README's examples name files of the repository.
    std::env::set_current_dir("../..").expect("tests run in the crate's folder");
    trycmd::TestCases::new().case("README.md").run();
}
