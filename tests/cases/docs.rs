//! The values in docs/interpretation.md are the library's.

use vop::{Form, Semantics};

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
