//! docs/lowering-cost.md has all its rows, and a sample of its numbers is measured again.

use vop::{Form, Mnemonic};
use xtask::lowering::{HAND_WRITTEN, TARGETS, golden_forms, intrinsics, measure};

use crate::tools;

fn page() -> String {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../docs/lowering-cost.md");
    std::fs::read_to_string(path).expect("docs/ can be read")
}

/// The cells of the row that begins with this one.
fn row<'a>(page: &'a str, first: &str) -> Vec<&'a str> {
    let start = format!("| {first} |");
    let line = page.lines().find(|line| line.starts_with(&start)).unwrap_or_else(|| panic!("no row `{first}`"));
    line.trim_matches('|').split('|').map(str::trim).collect()
}

#[test]
fn the_page_has_all_mnemonics_intrinsics_and_targets() {
    let page = page();
    assert!(page.contains(HAND_WRITTEN));
    let heading = format!("| | {} |", TARGETS.join(" | "));
    assert!(page.contains(&heading), "{heading}");
    for mnemonic in Mnemonic::ALL {
        assert_eq!(row(&page, &format!("`{mnemonic}`")).len(), 2 + TARGETS.len());
    }
    for intrinsic in intrinsics() {
        let cells = row(&page, &format!("`{}`", intrinsic.name));
        assert_eq!(cells.len(), 2 + TARGETS.len());
        for (cell, count) in cells[2..].iter().zip(&intrinsic.counts) {
            assert_eq!(cell.split(" / ").nth(1), Some(count.to_string().as_str()), "{}", intrinsic.name);
        }
    }
    // The means are numbers, and the goals stand beneath.
    let means = row(&page, "mean of SIMD forms");
    assert!(means[1..].iter().all(|mean| mean.parse::<f64>().is_ok_and(|mean| mean > 0.0 && mean < 1.0)), "{means:?}");
}

/// A sample, measured: no lowered form is more expensive than ptxas's code, the model of costs predicts nearly all, and
/// intrinsics cost what the page says.
#[test]
fn a_sample_costs_what_was_promised() {
    let Some(toolchain) = tools::ptxas_of_golden_costs() else { return };
    let page = page();
    let forms: Vec<Form> = golden_forms().into_iter().step_by(97).collect();
    let equal: Vec<Form> = intrinsics().into_iter().map(|intrinsic| intrinsic.form).collect();
    for target in ["sm_75", "sm_90", "sm_120f"] {
        let measured = measure(toolchain, &forms, target).unwrap_or_else(|error| panic!("{error}"));
        assert_eq!(measured.rows.len(), forms.len());
        assert!(measured.wrong.is_empty(), "{target}: {:?}", measured.wrong);
        for row in measured.rows.iter().filter(|row| row.same) {
            assert!(row.ours <= row.ptxas, "{target} {}: {} and {} by ptxas", row.form, row.ours, row.ptxas);
        }
        let judged: usize = measured.model.values().map(|all| all.exact + all.below + all.above).sum();
        let wrong = measured.misjudged.len();
        assert!(judged > 15 && wrong * 20 <= judged, "{target}: {wrong} of {judged}: {:#?}", measured.misjudged);

        let column = TARGETS.iter().position(|name| *name == target).expect("a target of the page");
        let measured = measure(toolchain, &equal, target).unwrap_or_else(|error| panic!("{error}"));
        for (row_of_form, intrinsic) in measured.rows.iter().zip(intrinsics()) {
            let cells = row(&page, &format!("`{}`", intrinsic.name));
            let ours = cells[2 + column].split(" / ").next().unwrap_or_default();
            assert_eq!(
                ours,
                row_of_form.ours.to_string(),
                "{target} {}: run `cargo xtask sass lowering --write`",
                intrinsic.name
            );
            assert!(row_of_form.ours <= intrinsic.counts[column], "{target} {}", intrinsic.name);
        }
    }
}
