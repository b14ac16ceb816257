//! `Form::divergence` misses no form: proved, and the proof can fail.

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
    let proved = prove(Deviations::NONE, PTXAS).unwrap_or_else(|why| panic!("{why}"));
    assert_eq!((proved.separated, proved.equal), (17_624, 65_480));
    assert!(proved.questions > 7000, "{proved:?}");
}

#[test]
fn a_missed_form_would_be_found() {
    let Some(mut solver) = tools::z3() else { return };
    for text in
        ["vadd.u32.s32.s32.sat d.b0, a, b, c", "vmad.u32.u32.u32.sat d, a, b, c", "vset.s32.s32.lt.max d, a, b, c"]
    {
        let form: Form = text.parse().expect("legal");
        assert!(solver.must_be_equal(form, Deviations::NONE, PTXAS).is_err(), "{form}");
        assert!(solver.must_be_equal(form, PTXAS, PTXAS).is_ok(), "{form}");
        // A transcription that differs from evaluation is noticed, too.
        let inputs = form.separating(Deviations::NONE, PTXAS, [OperandValue::Free; 3]).expect("they differ");
        assert!(solver.must_give(form, inputs, [Deviations::NONE, PTXAS]).is_ok(), "{form}");
        assert!(
            solver.gives(form, inputs, [Deviations::NONE, PTXAS], [0x1234_5678; 2]).is_ok_and(|gives| !gives),
            "{form}"
        );
    }
}
