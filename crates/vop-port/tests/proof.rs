//! A sample of what `cargo xtask port-prove` proves.

use std::io::Write;

use vop::lower::Op;
use vop::{Form, Semantics};
use vop_prove::{Solver, Verdict};

/// z3, if it is here.
fn solver() -> Option<Solver> {
    match Solver::start(Solver::TIMEOUT) {
        Ok(solver) => Some(solver),
        Err(why) => {
            // Shown by `--nocapture`.
            let _ = writeln!(std::io::stderr(), "skipped: {why}");
            None
        }
    }
}

fn form(text: &str) -> Form {
    text.parse().expect("the form is legal")
}

#[test]
fn functions_are_forms() {
    let Some(mut solver) = solver() else { return };
    for text in [
        "vadd4.s32.s32.s32.sat",
        "vsub2.u32.s32.u32.sat",
        "vmax4.u32.s32.u32.sat d.b20, a.b7531, b, c",
        "vabsdiff2.s32.u32.s32.sat",
        "vset4.s32.u32.le",
        "vavrg4.s32.s32.s32",
        "vshr.s32.s32.u32.clamp.max d, a.h1, b.b2, c",
    ] {
        let form = form(text);
        for semantics in Semantics::ALL {
            let codes = vop_port::codes(form, semantics);
            assert!(!codes.is_empty(), "there are rules for every form");
            for code in codes {
                let verdict = solver.prove(&code.query(form, semantics)).expect("z3 answers");
                assert_eq!(verdict, Verdict::Proved, "{form} as {semantics}: {code:#x?}");
            }
        }
    }
}

#[test]
fn another_form_is_refuted() {
    let Some(mut solver) = solver() else { return };
    let code = vop_port::code(form("vadd4.u32.u32.u32.sat"), Semantics::Isa, true).expect("there are rules");
    let query = code.query(form("vadd4.u32.u32.u32"), Semantics::Isa);
    assert!(matches!(solver.prove(&query), Ok(Verdict::Refuted(_))));
}

#[test]
fn base_instructions_are_plain_operations() {
    use vop::isa::types::Type;
    let Some(mut solver) = solver() else { return };
    for (op, constant) in [
        (Op::Prmt(0x9970), None),
        (Op::Lop3(0xe8), None),
        (Op::Absdiff4(Type::S32), None),
        (Op::Dp4a(Type::S32, Type::S32), Some(0x0101_0101)),
        (Op::AddSat, None),
        (Op::ShlLong, None),
    ] {
        let query = vop_port::query_of_base(op, constant).expect("its operands are words");
        assert_eq!(solver.prove(&query), Ok(Verdict::Proved), "{op:?}");
    }
}
