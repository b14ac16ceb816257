//! A sample of each golden file is what the tools say now, and a wrong row of each is found. `cargo xtask golden` checks all rows.

use vop_tests::golden;
use xtask::golden::{Answer, Difference, File, Report, check, disagreement, draw};
use xtask::sass::Toolchain;

use crate::tools;

fn checked(file: File, text: &str, toolchain: Option<&Toolchain>, sample: Option<(usize, u64)>) -> Report {
    check(file, text, toolchain, sample, &|_, _| {}).unwrap_or_else(|why| panic!("{file}: {why}"))
}

fn text_of(file: File) -> String {
    std::fs::read_to_string(file.path()).expect("golden files can be read")
}

/// `count` rows of a file are as the tools say. Of each pair of words the first row that has the first word is added with the second
/// instead, and these rows alone differ.
fn sample_is_right(file: File, toolchain: &Toolchain, count: usize, pairs: &[(&str, &str)]) {
    let text = text_of(file);
    let (headings, rows): (Vec<&str>, Vec<&str>) =
        text.lines().partition(|line| line.starts_with("form\t") || line.starts_with("intrinsic\t"));
    let step = (rows.len() / count).max(1);
    let mut right: Vec<&str> = headings.into_iter().chain(rows.iter().copied().step_by(step)).collect();
    let mut broken: Vec<String> = right.iter().map(|line| (*line).to_owned()).collect();
    let mut expected = Vec::new();
    for (word, other) in pairs {
        let row = rows.iter().find(|row| row.contains(word)).expect("some row has the word");
        right.push(row);
        broken.push(row.replacen(word, other, 1));
        expected.push(Difference {
            line: Some(broken.len()),
            committed: row.replacen(word, other, 1),
            answer: Answer::Row((*row).to_owned()),
        });
    }
    let report = checked(file, &broken.join("\n"), Some(toolchain), None);
    assert_eq!(report.differences, expected, "{file}");
    assert_eq!(report.text, right.join("\n") + "\n", "{file}");
}

#[test]
fn values() {
    let Some(toolchain) = tools::ptxas_of_golden_values() else { return };
    let pairs =
        [("0x8000001f\t0x8000001f", "0x8000001f\t0x8000001e"), ("0x8000001f\t0x8000001f", "0x8000001d\t0x8000001f")];
    sample_is_right(File::Values, toolchain, 300, &pairs);
    sample_is_right(File::Device, toolchain, 60, &[("\t0x00000007\t", "\t0x00000006\t")]);
}

#[test]
fn verdicts() {
    let Some(toolchain) = tools::ptxas_of_golden_costs() else { return };
    let pairs = [("OK\t", "REJ\t"), ("REJ\t", "OK\t"), ("Illegal modifier", "Unknown modifier")];
    sample_is_right(File::Accept, toolchain, 1000, &pairs);
    sample_is_right(File::SyntaxForms, toolchain, 110, &[("\tREJ\t", "\tok\t"), ("Arguments", "Argument")]);
}

#[test]
fn costs() {
    let Some(toolchain) = tools::ptxas_of_golden_costs() else { return };
    sample_is_right(File::PtxasCost, toolchain, 50, &[("\t11\t13", "\t11\t12")]);
    sample_is_right(File::CostMore, toolchain, 10, &[("\t9\t10", "\t8\t10")]);
}

/// The file must have every opcode: one that it lacks is asked for.
#[test]
fn hashes() {
    let Some(toolchain) = tools::ptxas_of_golden_values() else { return };
    let text = text_of(File::PtxasHashes);
    let lacks = |opcode: &str| text.lines().filter(|line| !line.starts_with(opcode)).collect::<Vec<_>>().join("\n");
    let report = checked(File::PtxasHashes, &lacks("vadd.s32.u32.s32.sat.max\t"), Some(toolchain), Some((1, 1)));
    assert_eq!((report.rows, report.asked, report.differences.len()), (639, 2, 1));
    let Difference { line: None, answer: Answer::Row(row), .. } = &report.differences[0] else { panic!("{report:?}") };
    assert!(text.lines().any(|line| line == row), "{row}");
}

/// Who uses a form cannot be checked. The library must take the forms that ptxas takes.
#[test]
fn spellings_of_projects() {
    let Some(toolchain) = tools::ptxas_of_golden_costs() else { return };
    let report = checked(File::Uses, &text_of(File::Uses), Some(toolchain), None);
    assert_eq!((report.asked, report.differences), (176, vec![]));
    // A row that does not say what for is a fault.
    let report = checked(File::Uses, "vadd.u32.u32.u32 d, a, b, c\tsomebody\t\n", Some(toolchain), None);
    assert!(matches!(report.differences[0].answer, Answer::Fault(_)), "{report:?}");
}

#[test]
fn costs_of_intrinsics() {
    let Some(toolchain) = tools::nvcc() else { return };
    sample_is_right(File::IntrinsicsCost, toolchain, 52, &[("\t9\t6\t6\t6", "\t9\t6\t6\t7")]);
}

/// A hash that the file lacks is proved and put in its place, and one that nothing asks is taken out.
#[test]
fn proofs() {
    if tools::z3().is_none() {
        return;
    }
    let text = text_of(File::Proofs);
    let (absent, obsolete) = (text.lines().nth(9).expect("a hash"), "7000000000000001");
    let broken = text.replace(&format!("{absent}\n"), "") + obsolete + "\n";
    let report = checked(File::Proofs, &broken, None, Some((20, 3)));
    assert_eq!((report.rows, report.asked), (text.lines().count() - 2, 22));
    let answers: Vec<&Answer> = report.differences.iter().map(|difference| &difference.answer).collect();
    assert_eq!(answers, [&Answer::Obsolete, &Answer::Row(absent.to_owned())]);
    assert!(report.text == text, "the file is not written as it was");
}

/// The library agrees with the tools about new rows.
#[test]
fn new_rows_are_drawn_and_the_library_agrees() {
    let Some(toolchain) = tools::ptxas_of_golden_costs() else { return };
    for (file, count, text) in [
        (File::Values, 20, golden::VALUES),
        (File::Accept, 100, golden::ACCEPT),
        (File::PtxasCost, 10, golden::PTXAS_COST),
        (File::CostMore, 10, golden::COST_MORE),
    ] {
        let of =
            |seed| draw(file, text, toolchain, (count, seed), &|_, _| {}).unwrap_or_else(|why| panic!("{file}: {why}"));
        let rows = of(2);
        assert_eq!(rows.len(), count, "{file}");
        let first: Vec<&String> = rows.iter().take(10).collect();
        assert_ne!(first, of(3).iter().take(10).collect::<Vec<_>>(), "{file}");
        let wrong: Vec<String> = rows.iter().filter_map(|row| disagreement(file, text, row).expect("a row")).collect();
        assert_eq!(wrong, <[String; 0]>::default(), "{file}");
    }
    let none = |file: File| draw(file, "", toolchain, (1, 1), &|_, _| {}).is_err();
    assert!(none(File::Uses) && none(File::Proofs));
}

/// A disagreement of the library with the tools is found.
#[test]
fn the_comparison_with_the_library_can_fail() {
    for (file, text, row) in [
        (File::Values, "", "vadd.u32.u32.u32 d, a, b\t0x00000001\t0x00000002\t-\t0x00000003\t0x00000004"),
        (File::Values, "", "vadd.u32.u32.u32 d, a, b\t0x00000001\t0x00000002\t-\t0x00000004\t0x00000003"),
        (File::Accept, "", "REJ\tvadd.u32.u32.u32 d, a, b\twords"),
        (File::Accept, "", "OK\tvadd.u32.u32 d, a, b\t"),
        (File::PtxasCost, "form\tsm_90\tsm_86", "vabsdiff4.u32.u32.u32.add d, a, b, c\t1\t2"),
    ] {
        assert!(disagreement(file, text, row).expect("a row").is_some(), "{row}");
    }
    let right = "vabsdiff4.u32.u32.u32.add d, a, b, c\t1\t1";
    assert_eq!(disagreement(File::PtxasCost, "form\tsm_90\tsm_86", right), Ok(None));
}
