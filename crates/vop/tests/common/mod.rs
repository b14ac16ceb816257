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

/// The texts of `cases/NAME`.
#[allow(dead_code, reason = "one of the tests needs it")]
pub(crate) fn texts(name: &str) -> Vec<String> {
    let path = format!("{}/tests/cases/{name}", env!("CARGO_MANIFEST_DIR"));
    let lines = std::fs::read_to_string(path).expect("cases/*.txt is there");
    lines.lines().filter(|line| !line.is_empty() && !line.starts_with([' ', '#'])).map(str::to_owned).collect()
}

/// The text after a diagnostic's patch, as the files write it.
pub(crate) fn after_patch(text: &str, diagnostic: &vop::Diagnostic) -> String {
    match &diagnostic.patch {
        vop::Patch::Edits(edits) => {
            let after = vop::patched(text, edits).replace('\n', "\\n");
            // A block stands in the help.
            if edits.iter().any(|edit| edit.text.contains('\n')) {
                String::new()
            } else {
                format!("        makes: {after}\n")
            }
        }
        _ => String::new(),
    }
}
