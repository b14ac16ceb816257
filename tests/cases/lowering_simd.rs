//! Lowering of SIMD forms: every choice computes its form, on every kind of target.

use std::collections::BTreeMap;

use vop::lower::{Choice, LowerOptions, Op, Sequence, Value};
use vop::{Form, Mnemonic, Target};
use vop_tests::{Random, edge_rows, golden};

/// Targets that differ in what rules may use: nothing packed; half-words; those without a native difference; bytes.
const TARGETS: [&str; 4] = ["sm_75", "sm_90", "sm_120", "sm_120f"];

/// The choices for a form on all those targets, each sequence once.
fn choices(form: Form) -> Vec<Choice> {
    let mut all: Vec<Choice> = Vec::new();
    for target in TARGETS {
        let target: Target = target.parse().expect("a known target");
        let choices = form.choices(LowerOptions::new(target));
        assert!(!choices.is_empty(), "nothing for {form} on {target}");
        for choice in choices {
            if !all.iter().any(|known| known.sequence == choice.sequence) {
                all.push(choice);
            }
        }
    }
    all
}

/// A sentence on the first row of a, b, c and d for which a choice computes another d.
fn fault(form: Form, choice: &Choice, rows: impl IntoIterator<Item = [u32; 4]>) -> Option<String> {
    let computed = |[a, b, c, _]: [u32; 4]| choice.sequence.eval(a, b, c);
    let row = rows.into_iter().find(|&row| computed(row) != row[3])?;
    Some(format!("{form} by `{}` of {row:08x?} is {:08x}: {:?}", choice.candidate.rule, computed(row), choice.sequence))
}

/// Inputs with the values that the library has for them.
fn evaluated(form: Form, random: &mut Random, count: usize) -> Vec<[u32; 4]> {
    edge_rows(random, count).into_iter().map(|[a, b, c]| [a, b, c, form.eval(a, b, c)]).collect()
}

#[test]
fn golden_values_of_simd_forms() {
    let mut rows: BTreeMap<Form, Vec<[u32; 4]>> = BTreeMap::new();
    for (_, row) in golden::rows(golden::VALUES) {
        let form: Form = row[0].parse().expect("golden forms are legal");
        if form.mnemonic().shape().is_simd() {
            rows.entry(form).or_default().push([1, 2, 3, 4].map(|i| golden::value(row[i])));
        }
    }
    assert_eq!(rows.len(), 3005);
    let mut random = Random(11);
    let mut faults = Vec::new();
    for (form, mut rows) in rows {
        rows.extend(evaluated(form, &mut random, 20));
        faults.extend(choices(form).iter().filter_map(|choice| fault(form, choice, rows.iter().copied())));
    }
    assert_eq!(faults, <[String; 0]>::default());
}

/// Any selectors and masks.
#[test]
fn random_simd_forms() {
    let mut random = Random(12);
    let mut faults = Vec::new();
    for mnemonic in Mnemonic::ALL.into_iter().filter(|mnemonic| mnemonic.shape().is_simd()) {
        let forms = mnemonic.forms();
        for _ in 0..150 {
            let form = forms.get(random.next() % forms.count_left()).expect("below the count");
            let rows = evaluated(form, &mut random, 30);
            faults.extend(choices(form).iter().filter_map(|choice| fault(form, choice, rows.iter().copied())));
        }
    }
    assert_eq!(faults, <[String; 0]>::default());
}

/// A sequence that computes something else is found.
#[test]
fn the_comparison_can_fail() {
    let form: Form = "vadd4.u32.u32.u32 d, a, b, c".parse().expect("a legal form");
    let rows = evaluated(form, &mut Random(13), 20);
    let mut choice = choices(form).remove(0);
    assert_eq!(fault(form, &choice, rows.iter().copied()), None);
    choice.sequence = Sequence::default();
    let sum = choice.sequence.push(Op::Add, &[Value::A, Value::B]);
    choice.sequence.set_result(sum);
    assert!(fault(form, &choice, rows).is_some());
}
