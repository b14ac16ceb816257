//! What is said of legal texts: each text of `cases/lints.txt` with its lints.
//!
//! `VOP_BLESS=1 cargo test -p vop --test lints` rewrites the expected lines.

mod common;

use std::collections::HashSet;
use std::fmt::Write as _;

use vop::{Code, Parser, Severity};

/// The lints of a text, as the file writes them.
fn described(text: &str) -> String {
    let text = text.replace("\\n", "\n");
    let mut lines = String::new();
    let read = Parser::new().allow_bare().parse_with_places(&text);
    let (instruction, places) = read.unwrap_or_else(|faults| panic!("{text}: {faults:?}"));
    let at = |span: &std::ops::Range<usize>| format!("{} `{}`", span.start, text[span.clone()].replace('\n', "\\n"));
    for lint in vop::lint(&text, &instruction, &places) {
        // Writing to a String does not fail.
        let _ = writeln!(lines, "    {} {} at {}: {}", lint.code.severity(), lint.code, at(&lint.span), lint.message);
        for (span, label) in &lint.related {
            let _ = writeln!(lines, "        {label}: {}", at(span));
        }
        for note in &lint.notes {
            let _ = writeln!(lines, "        note: {note}");
        }
        if let Some(help) = &lint.help {
            let _ = writeln!(lines, "        help: {}", help.replace('\n', "\n            "));
        }
        lines.push_str(&common::after_patch(&text, &lint));
    }
    if lines.is_empty() { "    nothing\n".to_owned() } else { lines }
}

#[test]
fn lints() {
    common::check_cases("lints.txt", described);
}

/// Each lint that one instruction can bring about stands in the file.
#[test]
fn every_lint_has_a_case() {
    let file = include_str!("cases/lints.txt");
    let seen: HashSet<&str> = file
        .lines()
        .filter_map(|line| line.strip_prefix("    warning ").or_else(|| line.strip_prefix("    note ")))
        .map(|line| &line[..5])
        .collect();
    let lints = Code::ALL.iter().filter(|code| code.severity() != Severity::Error);
    // V0705 and V0713 are about several instructions, V0711 and V0712 about comments, V0714 about an `asm`: their cases
    // are those of whole files.
    let of_files = [Code::V0705, Code::V0711, Code::V0712, Code::V0713, Code::V0714];
    let missing: Vec<&Code> = lints.filter(|code| !of_files.contains(code) && !seen.contains(code.name())).collect();
    assert!(missing.is_empty(), "no case for {missing:?}");
}

#[test]
fn explanations_have_three_headings() {
    for code in Code::ALL {
        let headings = ["What it does\n\n", "\n\nWhy it matters\n\n", "\n\nExample\n\n"];
        let places = headings.map(|heading| code.explanation().find(heading));
        if code.severity() == Severity::Error {
            assert_eq!(places, [None; 3], "{code}");
        } else {
            assert!(places.iter().all(Option::is_some) && places.is_sorted(), "{code}: {places:?}");
        }
        assert_eq!(code.severity() != Severity::Error, code.name().starts_with("V07"), "{code}");
    }
}

/// Nothing that a text holds besides its instruction makes the spans wrong.
#[test]
fn spans_survive_what_stands_around() {
    let plain = "vabsdiff4.u32.u32.u32.sat d.b3210, a, b, c;";
    for text in [
        "{ .reg .b32 vabsdiff4; vabsdiff4.u32.u32.u32.sat d.b3210, a, b, c; }",
        "vabsdiff4: vabsdiff4.u32.u32.u32.sat d.b3210, a, b, c;",
        "/* .sat d.b3210 */ @!vmin4 vabsdiff4 .u32 /* .sat */ .u32.u32 .sat d // .b3210\n .b3210, a, b, c",
        "# 12 \"vadd4.u32\"\n\\vabsdiff4.u32.u32.u32.sat.sat d.b3210, a, b, c",
    ] {
        let spans = |text: &str| {
            let (instruction, places) = Parser::new().parse_with_places(text).expect("legal");
            let lints = vop::lint(text, &instruction, &places);
            lints.into_iter().map(|lint| (lint.code, text[lint.span].to_owned())).collect::<Vec<_>>()
        };
        assert_eq!(spans(text), spans(plain), "{text}");
        assert_eq!(spans(plain).len(), 2);
    }
}

/// Where `.sat` is said to be without effect, the code of no ptxas becomes wrong without it. Of the others that have none by
/// the manual some need it, and of some V0701 says that it is to be dropped.
#[test]
fn saturation_without_effect_and_ptxas() {
    let mut linter = vop::Linter::default();
    let both = [vop::Semantics::Ptxas, vop::Semantics::PtxasTo13_2];
    let free = [vop::interval::OperandValue::Free; 3];
    let (mut reported, mut mended, mut needed) = (0, 0, 0);
    for form in vop::scalar_forms().filter(|form| form.sat() && !form.can_saturate(free)) {
        let wrong = |form: vop::Form| both.map(|semantics| form.divergence_of(semantics, free).is_some());
        let (with, without) = (wrong(form), wrong(form.without_sat()));
        let text = form.to_string();
        let (instruction, places) = Parser::new().parse_with_places(&text).expect("legal");
        let lints = linter.lint(&text, &instruction, &places);
        if lints.iter().any(|lint| lint.code == Code::V0702) {
            assert!(with[0] || !without[0], "{text}");
            assert!(with[1] || !without[1], "{text}");
            reported += 1;
        } else if (0..2).any(|i| without[i] && !with[i]) {
            needed += 1;
        } else {
            let help =
                |lint: &vop::Diagnostic| lint.help.as_deref().is_some_and(|help| help.starts_with("drop `.sat`"));
            assert!(without == [false; 2] && lints.iter().any(help), "{text}");
            mended += 1;
        }
    }
    assert_eq!([reported, mended, needed], [13_187, 837, 642]);
}
