//! Lowering of scalar forms: every choice computes what evaluation does, by each semantics.

use std::collections::HashMap;

use vop::lower::{Choice, LowerOptions};
use vop::{Form, Semantics, scalar_forms};
use vop_tests::{Random, edge_rows, golden};

fn choices(form: Form, semantics: Semantics, target: &str) -> Vec<Choice> {
    let target = target.parse().expect("a target");
    let choices = form.choices(LowerOptions::new(target).with_semantics(semantics).with_keeping(false));
    assert!(!choices.is_empty(), "{form} has no choice on {target} for {semantics}");
    choices
}

fn check(form: Form, semantics: Semantics, target: &str, rows: &[[u32; 3]]) {
    for Choice { candidate, sequence, .. } in choices(form, semantics, target) {
        for &[a, b, c] in rows {
            let (ours, wanted) = (sequence.eval(a, b, c), form.eval_as(semantics, a, b, c));
            assert!(
                ours == wanted,
                "{form} for {semantics}, {rule}: {ours:#010x} on {a:#010x} {b:#010x} {c:#010x} and not {wanted:#010x}\n{sequence:?}",
                rule = candidate.rule
            );
        }
    }
}

/// What a choice computes does not depend on the target, only whether there is one; a target that has all instructions
/// shows them all.
const RICHEST: &str = "sm_120f";

#[test]
fn golden_values() {
    let mut rows: HashMap<&str, Vec<[u32; 5]>> = HashMap::new();
    for (_, row) in golden::rows(golden::VALUES) {
        rows.entry(row[0]).or_default().push([1, 2, 3, 4, 5].map(|i| golden::value(row[i])));
    }
    let mut seen = 0;
    for (text, rows) in rows {
        let form: Form = text.parse().expect("a form");
        if form.mnemonic().shape().is_simd() {
            continue;
        }
        seen += 1;
        for target in ["sm_75", "sm_90", "sm_120"] {
            for (column, semantics) in [(3, Semantics::Isa), (4, Semantics::Ptxas)] {
                for choice in choices(form, semantics, target) {
                    for row in &rows {
                        let ours = choice.sequence.eval(row[0], row[1], row[2]);
                        assert_eq!(ours, row[column], "{form} for {semantics} on {row:x?}: {choice:?}");
                    }
                }
            }
        }
    }
    assert_eq!(seen, 3150);
}

/// A prime step meets every value of every axis.
#[test]
fn some_forms() {
    let rows = edge_rows(&mut Random(7), 40);
    for form in scalar_forms().step_by(29) {
        Semantics::ALL.into_iter().for_each(|semantics| check(form, semantics, RICHEST, &rows));
    }
}

/// Where a module must keep its old target and the carry flag is taken, there is still a choice.
#[test]
fn old_modules() {
    for form in scalar_forms().step_by(7) {
        let options = LowerOptions::new("sm_75".parse().expect("a target"))
            .with_module("sm_20".parse().ok())
            .with_version((2, 0))
            .with_carry(false)
            .with_keeping(false);
        for semantics in Semantics::ALL {
            assert!(!form.choices(options.with_semantics(semantics)).is_empty(), "{form} for {semantics}");
        }
    }
}

#[test]
#[ignore = "takes a minute"]
fn every_form() {
    let rows = edge_rows(&mut Random(8), 60);
    for form in scalar_forms() {
        Semantics::ALL.into_iter().for_each(|semantics| check(form, semantics, RICHEST, &rows));
    }
}
