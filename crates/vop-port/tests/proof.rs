//! A sample of what `cargo xtask port-prove` proves.

use std::io::Write;
use std::time::SystemTime;

use vop::lower::Op;
use vop::{Form, Intrinsic, Semantics};
use vop_port::Base;
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

/// Products, and sums of four differences, are left to `cargo xtask port-prove` and to tests by values: a solver does not multiply.
fn multiplies(opcode: &str) -> bool {
    ["mul", "mad", "dp"].iter().any(|name| opcode.starts_with(name))
}

/// A quarter of what there is to prove, another one each day, as the solver takes long; with `VOP_FULL` all.
fn sample<T>(all: impl Iterator<Item = T>) -> impl Iterator<Item = T> {
    let since = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH).expect("the clock is right");
    let day = (since.as_secs() / 86400) as usize;
    let (first, step) = if std::env::var_os("VOP_FULL").is_some() { (0, 1) } else { (day % 4, 4) };
    all.skip(first).step_by(step)
}

#[test]
fn intrinsics_are_what_is_said_of_them() {
    let Some(mut solver) = solver() else { return };
    let mut proved = 0;
    for intrinsic in sample(Intrinsic::all().into_iter()) {
        if intrinsic.name().starts_with("__vsad") || intrinsic.instruction().is_some_and(|opcode| multiplies(&opcode)) {
            continue;
        }
        for has_long in [true, false] {
            let code = vop_port::code_of_intrinsic(&intrinsic, has_long);
            let query = code.query_of_intrinsic(&intrinsic);
            assert_eq!(solver.prove(&query), Ok(Verdict::Proved), "{intrinsic}");
            proved += 1;
        }
    }
    assert!(proved > 40, "{proved}");
}

#[test]
fn base_instructions_are_what_the_manual_says() {
    let Some(mut solver) = solver() else { return };
    let opcodes = Base::opcodes(None).into_iter().filter(|opcode| !multiplies(opcode) && !opcode.starts_with("cvt"));
    let constants =
        ["prmt.b32 d, a, b, 0x9180", "bfi.b32 d, a, b, 8, 4", "bfi.b32 d, a, b, c, 0xff", "cvt.sat.s8.u16 d, a"];
    let all =
        opcodes.filter_map(|opcode| Base::sample(&opcode)).chain(constants.into_iter().filter_map(Base::from_text));
    let mut proved = 0;
    for base in sample(all) {
        for has_long in [true, false] {
            let query = base.code_with(has_long).query_of_base(&base);
            assert_eq!(solver.prove(&query), Ok(Verdict::Proved), "{} {has_long}", base.text());
            proved += 1;
        }
    }
    assert!(proved > 40, "{proved}");
}

#[test]
fn another_base_instruction_is_refuted() {
    let Some(mut solver) = solver() else { return };
    let base = |text: &str| Base::from_text(text).expect("it is known");
    for (given, said) in [
        ("prmt.b32.ecl d, a, b, c", "prmt.b32.ecr d, a, b, c"),
        ("shf.l.wrap.b32 d, a, b, c", "shf.l.clamp.b32 d, a, b, c"),
        ("bfe.u32 d, a, b, c", "bfe.s32 d, a, b, c"),
        ("cvt.sat.u8.s32 d, a", "cvt.u8.s32 d, a"),
    ] {
        let query = base(given).code().query_of_base(&base(said));
        assert!(matches!(solver.prove(&query), Ok(Verdict::Refuted(_))), "{given}");
    }
}
