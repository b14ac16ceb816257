//! The command as people call it: each `cmd/*.trycmd` holds calls and what they print. So do the `console` blocks of the README
//! and of the pages in docs/.
//! Folders `with-FEATURE` and `without-FEATURE` hold calls of a command that was built so.
//!
//! `TRYCMD=overwrite cargo test -p vop-cli --test cli` rewrites what is expected.

const PROVE: bool = cfg!(feature = "prove");
const PARQUET: bool = cfg!(feature = "parquet");

#[test]
fn cli() {
    let cases = trycmd::TestCases::new();
    cases.case("tests/cmd/*.trycmd").case("tests/cmd/*.toml");
    for (feature, on) in [("prove", PROVE), ("parquet", PARQUET)] {
        let folder = format!("tests/cmd/{}-{feature}", if on { "with" } else { "without" });
        cases.case(format!("{folder}/*.trycmd")).case(format!("{folder}/*.toml"));
    }
    cases.run();
    // The examples of these pages name files of the repository.
    std::env::set_current_dir("../..").expect("tests run in the crate's folder");
    let pages = trycmd::TestCases::new();
    pages.case("README.md").case("docs/*.md");
    if !PROVE {
        // It shows `vop prove`.
        pages.skip("docs/lower.md");
    }
    pages.run();
}
