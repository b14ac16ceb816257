//! `Form::divergence` misses no form. A sample of what `cargo xtask divergence` proves is proved here, and the proof can fail.

use vop::interval::OperandValue;
use vop::{Deviations, Form, Semantics};
use xtask::divergence::prove;

use crate::tools;

const PTXAS: Deviations = Semantics::Ptxas.deviations();

#[test]
fn no_form_is_missed() {
    if tools::z3().is_none() {
        return;
    }
    let proved = prove(Deviations::NONE, PTXAS, 4).unwrap_or_else(|why| panic!("{why}"));
    assert_eq!((proved.separated, proved.equal), (17_624, 65_480));
    assert!(proved.questions > 1000, "{proved:?}");
}

#[test]
fn a_missed_form_would_be_found() {
    let Some(mut solver) = tools::z3() else { return };
    for text in
        ["vadd.u32.s32.s32.sat d.b0, a, b, c", "vmad.u32.u32.u32.sat d, a, b, c", "vset.s32.s32.lt.max d, a, b, c"]
    {
        let form: Form = text.parse().expect("legal");
        // Alone, and among forms that are equal.
        let equal: Form = "vadd.u32.u32.u32 d, a, b".parse().expect("legal");
        for forms in [&[form][..], &[equal, form, equal]] {
            let error = solver.must_be_equal(forms, Deviations::NONE, PTXAS).expect_err("they differ");
            assert!(error.starts_with(&form.to_string()), "{error}");
            assert_eq!(solver.must_be_equal(forms, PTXAS, PTXAS), Ok(()), "{form}");
        }
        // A transcription that differs from evaluation is noticed, too.
        let inputs = form.separating(Deviations::NONE, PTXAS, [OperandValue::Free; 3]).expect("they differ");
        let sets = [Deviations::NONE, PTXAS];
        assert_eq!(solver.must_give(&[(equal, [1, 2, 3]), (form, inputs)], sets), Ok(()), "{form}");
        let wrong = solver.gives(&[(equal, [1, 2, 3]), (form, inputs)], sets, &[[3, 3], [0x1234_5678; 2]]);
        assert_eq!(wrong, Ok(false), "{form}");
    }
}
