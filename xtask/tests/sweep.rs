//! `cargo xtask sass sweep`, on few forms.

use vop::{Semantics, scalar_forms};
use xtask::sweep::{Sweep, simd_forms};

use crate::tools;

#[test]
fn a_sweep_agrees_with_the_right_semantics_alone() {
    let Some(toolchain) = tools::ptxas() else { return };
    let Ok(semantics) = format!("ptxas-{}", toolchain.version()).parse::<Semantics>() else { return };
    let run = |semantics| {
        let sweep = Sweep { target: "sm_80".into(), semantics, inputs: 100, seed: 3 };
        let forms = scalar_forms().step_by(997).chain(simd_forms(1, 30));
        sweep.run(toolchain, forms, |_| {}).unwrap_or_else(|why| panic!("{why}"))
    };
    let right = run(semantics);
    assert_eq!((right.forms, right.agree), (114, 114), "{}", right.disagreements.join("\n"));
    assert!(right.unlike_manual > 10, "{right:?}");
    let wrong = run(Semantics::Isa);
    assert_eq!(wrong.forms - wrong.agree, right.unlike_manual);
    assert!(!wrong.disagreements.is_empty());
}
