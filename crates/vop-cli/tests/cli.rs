//! The command as people call it: each `cmd/*.trycmd` holds calls and what they print. So do the `console` blocks of the README
//! and of the pages in docs/.
//!
//! `TRYCMD=overwrite cargo test -p vop-cli --test cli` rewrites what is expected.

#[test]
fn cli() {
    trycmd::TestCases::new().case("tests/cmd/*.trycmd").case("tests/cmd/*.toml").run();
    // The examples of these pages name files of the repository.
    std::env::set_current_dir("../..").expect("tests run in the crate's folder");
    trycmd::TestCases::new().case("README.md").case("docs/*.md").run();
}
