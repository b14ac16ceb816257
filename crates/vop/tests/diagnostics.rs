//! What is said of faulty texts: each text of `cases/diagnostics.txt` with its diagnostics.
//!
//! `VOP_BLESS=1 cargo test -p vop --test diagnostics` rewrites the expected lines.

mod common;

use std::collections::HashSet;
use std::fmt::Write as _;

use vop::{Code, Parser, Patch, Registers, Severity, patched};

const REGISTERS: &str = ".reg .pred p; .reg .b32 a, b, c, d, %r<9>; .reg .f32 f; .reg .b16 h; .reg .u64 w; .reg .v4 .u32 v; .reg .f16x2 h2;";

/// A text as the file writes it has `\n` for a line feed.
fn unescaped(text: &str) -> String {
    text.replace("\\n", "\n")
}

/// The diagnostics of a text, as the file writes them.
fn described(text: &str) -> String {
    let registers: Registers = REGISTERS.parse().expect("legal");
    let text = unescaped(text);
    let mut lines = String::new();
    match Parser::new().with_registers(&registers).parse(&text) {
        // Writing to a String does not fail.
        Ok(instruction) => {
            let _ = writeln!(lines, "    legal: {instruction}");
        }
        Err(faults) => {
            for fault in faults {
                let part = text[fault.span.clone()].replace('\n', "\\n");
                let _ = writeln!(lines, "    {} at {} `{part}`: {}", fault.code, fault.span.start, fault.message);
                for (span, label) in &fault.related {
                    let _ = writeln!(lines, "        {label}: {} `{}`", span.start, &text[span.clone()]);
                }
                if let Some(help) = &fault.help {
                    // A help may be a block of several lines.
                    let _ = writeln!(lines, "        help: {}", help.replace('\n', "\n            "));
                }
                lines.push_str(&common::after_patch(&text, &fault));
            }
        }
    }
    lines
}

/// What a patch makes has the fault no longer, and no fault that the text had not.
#[test]
fn patches_mend() {
    let registers: Registers = REGISTERS.parse().expect("legal");
    let parser = Parser::new().with_registers(&registers);
    let mut count = 0;
    for text in common::texts("diagnostics.txt") {
        let text = unescaped(&text);
        let faults = parser.parse(&text).err().unwrap_or_default();
        for fault in &faults {
            let Patch::Edits(edits) = &fault.patch else { continue };
            count += 1;
            let after = patched(&text, edits);
            let codes = |faults: &[vop::Diagnostic]| faults.iter().map(|fault| fault.code).collect::<Vec<_>>();
            // A block is a block in the text, not an instruction.
            let left = parser.parse_all(&after).err().unwrap_or_default();
            let (before, after_codes) = (codes(&faults), codes(&left));
            let number = |all: &[Code]| all.iter().filter(|code| **code == fault.code).count();
            if !after.contains('\n') {
                assert!(number(&after_codes) < number(&before), "{text}\n{after}\n{left:?}");
                // Of names nothing is said where capitals may be a mistake.
                let is_old = |code: &Code| before.contains(code) || *code == Code::V0401;
                assert!(after_codes.iter().all(is_old), "{text}\n{after}\n{left:?}");
            }
        }
    }
    assert!(count > 20, "{count} patches");
}

#[test]
fn diagnostics() {
    common::check_cases("diagnostics.txt", described);
}

/// Each code that a text alone can bring about stands in the file, so that its words have been read by somebody.
#[test]
fn every_code_has_a_case() {
    let file = include_str!("cases/diagnostics.txt");
    let seen: HashSet<&str> =
        file.lines().filter_map(|line| line.strip_prefix("    V")).map(|line| &line[..4]).collect();
    // Those of an `asm` and its operands have their cases in whole files.
    let of_asm = [Code::V0406, Code::V0407, Code::V0408, Code::V0409];
    let of_texts =
        |code: &&Code| code.severity() == Severity::Error && !code.name().starts_with("V05") && !of_asm.contains(code);
    let missing: Vec<&Code> =
        Code::ALL.iter().filter(of_texts).filter(|code| !seen.contains(&code.name()[1..])).collect();
    assert!(missing.is_empty(), "no case for {missing:?}");
}

/// A text that is no PTX may be as long as a disk is large: neither its faults nor its blocks are collected without end.
#[test]
fn long_texts_have_a_bounded_number_of_faults() {
    for bit in ["{", "}", ";", "add.u32 a, b, c; ", "vadd2; ", "(", "{ a: ", "}; "] {
        let text = bit.repeat(100_000);
        let faults = Parser::new().parse(&text).expect_err("no instruction");
        assert!((1..=2001).contains(&faults.len()), "{bit:?}: {} faults", faults.len());
        assert!(faults.is_sorted_by_key(|fault| fault.span.start), "{bit:?}");
        let faults = Parser::new().parse_all(&text).expect_err("none is legal");
        assert!((1..=2001).contains(&faults.len()), "{bit:?}: {} faults", faults.len());
    }
    let nested = |depth| format!("{}vadd2.u32.u32.u32 d, a, b, c;{}", "{".repeat(depth), "}".repeat(depth));
    assert!(Parser::new().parse(&nested(1000)).is_ok());
    let faults = Parser::new().parse(&nested(1001)).expect_err("too deep");
    assert!(faults.iter().all(|fault| fault.code == Code::V0105));
}

#[test]
fn codes_are_distinct_and_found_by_name() {
    let names: HashSet<&str> = Code::ALL.iter().map(|code| code.name()).collect();
    assert_eq!(names.len(), Code::ALL.len());
    for &code in Code::ALL {
        assert_eq!(Code::from_name(&code.name().to_lowercase()), Some(code));
        assert!(!code.title().is_empty() && code.explanation().len() > code.title().len(), "{code}");
    }
}
