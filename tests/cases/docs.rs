//! The values in docs/interpretation.md are the library's, and comments of the examples allow what their instructions have.

use std::fs;
use std::path::Path;

use vop::{Form, Semantics};
use vop_ptx::find::Language;

const INTERPRETATION: &str = include_str!("../../docs/interpretation.md");

/// Every row of the tables of values: form, a, b, c, d by the manual as we read it, d by ptxas's code.
#[test]
fn values_in_interpretation_md() {
    let mut rows = 0;
    for line in INTERPRETATION.lines().filter(|line| line.starts_with("| `v")) {
        let cells: Vec<&str> = line.trim_matches('|').split('|').map(str::trim).collect();
        let [form, a, b, c, isa, ptxas] = cells[..] else { continue };
        let number = |text: &str| if text == "-" { 0 } else { u32::from_str_radix(text, 16).expect("hexadecimal") };
        let form: Form = form.trim_matches('`').parse().unwrap_or_else(|faults| panic!("{line}: {faults:?}"));
        // ptxas makes no code of a form that it refuses.
        let ptxas = if ptxas == "refused" { isa } else { ptxas };
        for (semantics, d) in [(Semantics::Isa, isa), (Semantics::Ptxas, ptxas)] {
            assert_eq!(form.eval_as(semantics, number(a), number(b), number(c)), number(d), "{semantics}: {line}");
        }
        rows += 1;
    }
    assert_eq!(rows, 54, "the tables have changed: check that all rows are still read");
}

/// Comments in the pages' examples (`vop: allow(…)`) are read, and each allows something.
#[test]
fn comments_in_examples() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).parent().expect("a folder above");
    let mut pages: Vec<_> =
        fs::read_dir(root.join("docs")).expect("the pages").map(|page| page.expect("a page").path()).collect();
    pages.push(root.join("README.md"));
    let mut comments = 0;
    for page in pages.iter().filter(|page| page.extension().is_some_and(|extension| extension == "md")) {
        let found = vop_ptx::uses::read(&fs::read(page).expect("a page"), Language::Markdown);
        let wrong: Vec<String> = found.lints.iter().map(ToString::to_string).collect();
        assert!(wrong.is_empty(), "{}: {wrong:#?}", page.display());
        comments += found.suppressions.len();
    }
    assert!(comments >= 3, "{comments} comments are read");
}
