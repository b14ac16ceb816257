//! Evaluation against an independent transcription of the manual's pseudo code.

use std::collections::HashSet;

use vop::{Form, Mnemonic, scalar_forms};
use vop_tests::{Random, transcription};

/// The first input on which the library and the transcription disagree, as text.
fn disagreement(
    form: Form,
    text: &str,
    random: &mut Random,
    inputs: usize,
    evaluate: impl Fn(Form, u32, u32, u32) -> u32,
) -> Option<String> {
    (0..inputs).find_map(|_| {
        let [a, b, c] = [0; 3].map(|_| random.value());
        let (ours, theirs) = (evaluate(form, a, b, c), transcription::evaluate(text, a, b, c));
        (ours != theirs)
            .then(|| format!("{text} on {a:#010x} {b:#010x} {c:#010x}: vop {ours:#010x}, transcription {theirs:#010x}"))
    })
}

#[test]
fn every_scalar_form() {
    let mut random = Random(1);
    let mut seen = HashSet::new();
    for text in transcription::all_scalar_forms() {
        let form: Form = text.parse().unwrap_or_else(|faults| panic!("{text}: {faults:?}"));
        assert!(seen.insert(form), "{text} stands for a form of another text");
        let found = disagreement(form, &text, &mut random, 24, Form::eval);
        assert_eq!(found, None);
        let [a, b, c] = [0; 3].map(|_| random.value());
        assert_eq!(form.explain(a, b, c).d, form.eval(a, b, c));
    }
    assert_eq!(seen.len(), 83_104);
    // The library's enumeration finds the forms of the transcription, each once.
    let ours: Vec<Form> = scalar_forms().collect();
    assert_eq!(ours.len(), 83_104);
    assert_eq!(ours.into_iter().collect::<HashSet<_>>(), seen);
}

#[test]
fn a_million_random_simd_forms() {
    let mut random = Random(2);
    for _ in 0..1_000_000 {
        let text = transcription::random_simd_form(&mut || random.next());
        let form: Form = text.parse().unwrap_or_else(|faults| panic!("{text}: {faults:?}"));
        assert_eq!(disagreement(form, &text, &mut random, 1, Form::eval), None);
    }
}

/// A wrong evaluation is found.
#[test]
fn the_comparison_can_fail() {
    let text = "vavrg4.s32.s32.s32 d, a, b, c";
    let form: Form = text.parse().expect("legal");
    let rounds_down = |form: Form, a: u32, b: u32, c: u32| {
        let average = form.explain(a, b, c);
        average.lanes.iter().enumerate().fold(0, |d, (i, lane)| {
            let sum = lane.inputs[0].value + lane.inputs[1].value;
            d | ((sum >> 1) as u32 & 0xff) << (8 * i)
        })
    };
    assert!(disagreement(form, text, &mut Random(3), 100, rounds_down).is_some());
}

#[test]
fn simd_forms_are_counted_and_distinct() {
    for mnemonic in Mnemonic::ALL.into_iter().filter(|mnemonic| mnemonic.shape().is_simd()) {
        let forms = mnemonic.forms();
        let halves = mnemonic.shape().lanes() == 2;
        let expected = match (mnemonic.name().starts_with("vset"), halves) {
            (false, true) => 18_432,
            (true, true) => 36_864,
            (false, false) => 6_039_797_760,
            (true, false) => 12_079_595_520,
        };
        assert_eq!(forms.count_left(), expected, "{mnemonic}");
        // All of a half-word mnemonic; of a byte one a sample, evenly spread.
        let step = if halves { 1 } else { expected / 20_011 };
        let mut seen = HashSet::new();
        for index in (0..expected).step_by(step as usize) {
            let form = forms.get(index).expect("in range");
            assert!(seen.insert(form), "{form} comes twice");
            assert_eq!(form.mnemonic(), mnemonic);
            assert_eq!(form.to_string().parse::<Form>().as_ref(), Ok(&form));
        }
        assert_eq!(forms.get(expected), None);
    }
}
