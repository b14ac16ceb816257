//! Files of cases: a text a line, and indented below it what is said of it.

use std::path::Path;

/// Compares a file in `tests/cases` with what is said now, or writes that where VOP_BLESS is set. `described` gives the
/// indented lines of a text; empty lines and comments (`#`) are kept.
pub(crate) fn check_cases(name: &str, described: impl Fn(&str) -> String) {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/cases").join(name);
    let expected = std::fs::read_to_string(&path).expect("the file is there");
    let mut found = String::new();
    for line in expected.lines().filter(|line| !line.starts_with(' ')) {
        found.push_str(line);
        found.push('\n');
        if !line.is_empty() && !line.starts_with('#') {
            found.push_str(&described(line));
        }
    }
    if std::env::var_os("VOP_BLESS").is_some() {
        std::fs::write(&path, &found).expect("the file can be written");
    } else {
        for (i, (found, expected)) in found.lines().zip(expected.lines()).enumerate() {
            assert_eq!(found, expected, "line {} of {}", i + 1, path.display());
        }
        assert_eq!(found, expected);
    }
}
