//! Wrong rules are refuted, by counterexamples that are ones.

mod smt;

use std::io::Write;
use std::time::Duration;

use smt::{Names, vector};
use vop::isa::range::Range;
use vop::isa::types::{Comparison, Type};
use vop::lower::PackedOp;
use vop::lower::{Builder, BytePlace, Candidate, Claim, Cut, LowerOptions, Op, Output, Query, Sequence, Value};
use vop::{Deviations, Form, Semantics, Target};
use vop_prove::{Counterexample, Solver, Verdict};

fn z3() -> Option<Solver> {
    match Solver::start(Duration::from_secs(60)) {
        Ok(solver) => Some(solver),
        Err(why) => {
            let _ = writeln!(std::io::stderr(), "skipped: {why}");
            None
        }
    }
}

fn form(text: &str) -> Form {
    text.parse().expect("legal")
}

/// A candidate for a form whose lanes stand in their positions.
fn written(form: Form, rule: impl FnOnce(&mut Builder) -> Output) -> Candidate {
    let lanes = form.mnemonic().shape().lanes();
    let placement = std::array::from_fn(|i| {
        let counts = form.mask().map_or(i == 0, |mask| i < lanes && mask.has(i));
        counts.then_some(i as u8)
    });
    let mut builder = Builder::new(form, target("sm_120f"), placement);
    let output = rule(&mut builder);
    builder.finish("planted", output)
}

fn target(name: &str) -> Target {
    name.parse().expect("a target")
}

/// What the solver says of all queries of a candidate: the first that does not hold, with the counterexample.
fn refuted(solver: &mut Solver, form: Form, by: Deviations, candidate: &Candidate) -> Option<(Query, Counterexample)> {
    for query in candidate.queries(form, by).expect("it means something") {
        match solver.prove(&query).expect("the solver answers") {
            Verdict::Proved => {}
            Verdict::Refuted(counterexample) => return Some((query, counterexample)),
            Verdict::Unknown(why) => panic!("{form}: {why}"),
        }
    }
    None
}

/// The counterexample is one: the query's own terms say so, and what should have been is what evaluation gives.
fn check(form: Form, by: Deviations, query: &Query, case: &Counterexample) {
    let names: Names =
        case.inputs.iter().map(|(name, bits, value)| (name.clone(), vector(*bits, (*value).into()))).collect();
    assert!(smt::refutes(query, names), "{form}: {case}");
    assert!(!case.differences.is_empty());
    let bits = form.mnemonic().shape().bits();
    let word = |letter: char| {
        if !form.mnemonic().shape().is_simd() {
            return case.input(&letter.to_string()) as u32;
        }
        (0..32 / bits).fold(0, |word, i| word | (case.input(&format!("{letter}{i}")) as u32) << (i * bits))
    };
    let d = form.eval_by(by, word('a'), word('b'), case.input("c") as u32);
    for (name, given, wanted) in &case.differences {
        let wanted_value = u32::from_str_radix(wanted.trim_start_matches("0x"), 16).ok();
        match query.claim {
            Claim::Lanes => {
                let position: u32 = name.rsplit(' ').next().and_then(|n| n.parse().ok()).expect("a position");
                let lane = d >> (position * bits) & (u32::MAX >> (32 - bits));
                assert_eq!(wanted_value, Some(lane), "{form}: {case}");
            }
            Claim::Value => assert_eq!(wanted_value, Some(d), "{form}: {case}"),
            // Of a part of a sum evaluation says nothing.
            _ => {}
        }
        assert_ne!(given, wanted);
    }
    // For people, who see it with `--nocapture`.
    let _ = writeln!(std::io::stdout(), "{form}: {}: {case}", query.claim);
}

fn must_differ(solver: &mut Solver, text: &str, claim: Claim, rule: impl FnOnce(&mut Builder) -> Output) {
    let form = form(text);
    let candidate = written(form, rule);
    let (query, case) =
        refuted(solver, form, Deviations::NONE, &candidate).unwrap_or_else(|| panic!("{form} is proved"));
    assert_eq!(query.claim, claim, "{form}");
    check(form, Deviations::NONE, &query, &case);
}

fn must_hold(solver: &mut Solver, text: &str, rule: impl FnOnce(&mut Builder) -> Output) {
    let form = form(text);
    let candidate = written(form, rule);
    let found = refuted(solver, form, Deviations::NONE, &candidate).map(|(_, case)| case.to_string());
    assert_eq!(found, None, "{form}");
}

/// The average, rounded up: (a | b) - (((a ^ b) & 0xfe…) >> 1).
fn average(b: &mut Builder, or: impl Fn(u8, u8) -> u8) -> Output {
    let (x, y) = (b.source(false), b.source(true));
    let one = b.lop2(or, x, y);
    let differ = b.lop3(|x, y, z| (x ^ y) & z, x, y, Value::Word(0xfefe_fefe));
    let half = b.op(Op::Shr(Type::U32), &[differ, Value::Word(1)]);
    let result = b.op(Op::Sub, &[one, half]);
    b.in_positions(result)
}

#[test]
fn a_wrong_table() {
    let Some(mut solver) = z3() else { return };
    let text = "vavrg4.u32.u32.u32 d, a, b, c";
    must_hold(&mut solver, text, |b| average(b, |x, y| x | y));
    must_differ(&mut solver, text, Claim::Lanes, |b| average(b, |x, y| x & y));
    // Rounding is another for negative sums.
    must_differ(&mut solver, "vavrg4.s32.s32.s32 d, a, b, c", Claim::Lanes, |b| average(b, |x, y| x | y));
}

#[test]
fn a_wrong_sign() {
    let Some(mut solver) = z3() else { return };
    let minimum = |signed: bool| {
        move |b: &mut Builder| {
            let (x, y) = (b.source(false), b.source(true));
            let result = b.packed(PackedOp::Min, Range::new(signed, 8), x, y);
            b.in_positions(result)
        }
    };
    let text = "vmin4.s32.s32.s32 d.b310, a, b, c";
    must_hold(&mut solver, text, minimum(true));
    must_differ(&mut solver, text, Claim::Lanes, minimum(false));
}

#[test]
fn a_wrong_lane() {
    let Some(mut solver) = z3() else { return };
    let text = "vadd4.u32.u32.u32 d.b20, a, b, c";
    let sum = |b: &mut Builder| {
        let (x, y) = (b.source(false), b.source(true));
        b.packed(PackedOp::Add, Range::new(false, 8), x, y)
    };
    let places = |value: Value, bytes: [u8; 2]| {
        let [low, high] = bytes.map(|byte| Some(BytePlace { value, byte }));
        Output::Lanes([low, None, high, None])
    };
    must_hold(&mut solver, text, |b| places(sum(b), [0, 2]));
    must_differ(&mut solver, text, Claim::Lanes, |b| places(sum(b), [0, 1]));
    must_differ(&mut solver, text, Claim::Lanes, |b| places(sum(b), [2, 0]));
    // A lane that is missing, or beyond the register, means nothing.
    let form = form(text);
    for output in [[Some(0), None], [Some(0), Some(4)]] {
        let candidate = written(form, |b| {
            let value = sum(b);
            let [low, high] = output.map(|byte| byte.map(|byte| BytePlace { value, byte }));
            Output::Lanes([low, None, high, None])
        });
        assert!(candidate.queries(form, Deviations::NONE).is_err());
    }
    // Whole, it also has the lanes that c should keep.
    let candidate = written(form, |b| Output::Value(sum(b)));
    assert!(candidate.queries(form, Deviations::NONE).is_err());
    let mut candidate = written(form, |b| places(sum(b), [0, 2]));
    candidate.placement = [Some(0), None, Some(0), None];
    assert!(candidate.queries(form, Deviations::NONE).is_err());
}

/// Counts greater lanes: minus one in each lane that is greater, squared.
fn count(b: &mut Builder, cut: Cut, others: Value) -> Output {
    let (x, y) = (b.source_with(false, |_| vop::lower::Pick::Zero), b.source_with(true, |_| vop::lower::Pick::Zero));
    let most = b.packed(PackedOp::Max, Range::new(false, 8), x, y);
    let differ = b.lop2(|x, y| x ^ y, most, y);
    let one = b.packed(PackedOp::Min, Range::new(false, 8), differ, others);
    b.cut = Some(Cut { value: one, ..cut });
    Output::Value(b.op(Op::Dp4a(Type::U32, Type::U32), &[one, one, Value::C]))
}

#[test]
fn a_wrong_cut() {
    let Some(mut solver) = z3() else { return };
    let text = "vset4.u32.u32.gt.add d.b310, a, b, c";
    let cut = Cut { value: Value::C, signed: false, factor: 1, offset: 0, others_are_zero: true };
    let ones = Value::Word(0x0101_0101);
    must_hold(&mut solver, text, |b| count(b, cut, ones));
    must_differ(&mut solver, text, Claim::Cut, |b| count(b, Cut { factor: -1, ..cut }, ones));
    must_differ(&mut solver, text, Claim::Cut, |b| count(b, Cut { offset: 1, ..cut }, ones));
    // Without saying that the others are zero the sum does not follow.
    must_differ(&mut solver, text, Claim::Sum, |b| count(b, Cut { others_are_zero: false, ..cut }, ones));
    // The square of two is no two.
    must_differ(&mut solver, text, Claim::Cut, |b| count(b, cut, Value::Word(0x0101_0201)));
    must_differ(&mut solver, "vadd4.u32.u32.u32.add d, a, b, c", Claim::Parts, |b| {
        Output::Value(b.sum(Value::C, [[1; 4], [1, 1, 1, -1]]))
    });
}

#[test]
fn a_wrong_scalar() {
    let Some(mut solver) = z3() else { return };
    let clamped = |comparison: bool| {
        move |b: &mut Builder| {
            let (x, y) = (b.word(false, 0), b.word(true, 0));
            let sum = b.op(Op::Add, &[x, y]);
            let greatest = Value::Word(0x7fff_ffff);
            Output::Value(match comparison {
                true => b.choose(Comparison::Gt, Type::U32, [sum, greatest], [greatest, sum]),
                false => sum,
            })
        }
    };
    must_hold(&mut solver, "vadd.s32.u32.u32 d, a.h1, b", clamped(false));
    must_hold(&mut solver, "vadd.s32.u32.u32.sat d, a.h1, b.b2", clamped(true));
    must_differ(&mut solver, "vadd.s32.u32.u32.sat d, a.h1, b", Claim::Value, clamped(true));
    must_differ(&mut solver, "vadd.s32.u32.s32 d, a.h1, b.b0", Claim::Value, |b| {
        let (x, y) = (b.word(false, 0), b.word(true, 0));
        Output::Value(b.op(Op::Sub, &[x, y]))
    });
    // What is right by the manual is wrong for ptxas.
    let form = form("vadd.u32.u32.u32.sat d, a, b");
    let candidate = written(form, |b| Output::Value(b.op(Op::AddSatUnsigned, &[Value::A, Value::B])));
    assert_eq!(refuted(&mut solver, form, Deviations::NONE, &candidate), None);
    let by = Semantics::Ptxas.deviations().concerning(form);
    let (query, case) = refuted(&mut solver, form, by, &candidate).expect("ptxas wraps");
    check(form, by, &query, &case);
}

/// Every change of one instruction.
fn mutants(sequence: &Sequence) -> Vec<Sequence> {
    let turned = |ty: Type| if ty.is_signed() { Type::U32 } else { Type::S32 };
    let mut all = Vec::new();
    for (i, (op, operands)) in sequence.steps().iter().enumerate() {
        let changed: Vec<Op> = match *op {
            Op::Lop3(table) => [0, 3, 6].map(|bit| Op::Lop3(table ^ 1 << bit)).into(),
            Op::Prmt(selector) => [0, 7, 12].map(|bit| Op::Prmt(selector ^ 1 << bit)).into(),
            Op::Add => vec![Op::Sub],
            Op::Sub => vec![Op::Add],
            Op::Min(ty) => vec![Op::Max(ty), Op::Min(turned(ty))],
            Op::Max(ty) => vec![Op::Min(ty), Op::Max(turned(ty))],
            Op::Shr(ty) => vec![Op::Shr(turned(ty)), Op::Shl],
            Op::Setp(comparison, ty) => vec![Op::Setp(comparison, turned(ty)), Op::Setp(Comparison::Ne, ty)],
            Op::Absdiff4(ty) => vec![Op::Absdiff4(turned(ty))],
            Op::Packed(op, lanes) => vec![Op::Packed(op, Range::new(!lanes.signed, lanes.bits))],
            Op::Extend(ty) => vec![Op::Extend(turned(ty))],
            _ => Vec::new(),
        };
        for op in changed {
            all.push(sequence.clone().with_step(i, op, operands.clone()));
        }
        for k in 0..operands.len() {
            if let Value::Word(word) = operands[k] {
                let mut changed = operands.clone();
                changed[k] = Value::Word(word ^ 1);
                all.push(sequence.clone().with_step(i, *op, changed));
            }
        }
    }
    all
}

#[test]
fn changed_sequences() {
    let Some(mut solver) = z3() else { return };
    let (mut wrong, mut right) = (0, 0);
    for (text, target_name) in [
        ("vadd4.s32.s32.s32.sat d, a, b, c", "sm_75"),
        ("vavrg2.u32.u32.u32 d.h1, a, b, c", "sm_75"),
        ("vset4.u32.u32.lt d, a, b, c", "sm_80"),
        ("vmin4.s32.s32.u32 d.b210, a.b0123, b, c", "sm_90"),
        ("vabsdiff4.u32.u32.s32 d, a, b, c", "sm_89"),
        ("vsub2.s32.s32.s32.sat d, a, b, c", "sm_90"),
        ("vadd.s32.u32.s32.sat d.h1, a.b1, b.h0, c", "sm_75"),
        ("vsub.u32.u32.u32.sat.max d, a.h0, b.h1, c", "sm_120"),
    ] {
        let form = form(text);
        let options = LowerOptions::new(target(target_name));
        let Some(choice) = vop_prove::chosen(form, options) else { panic!("{form} is not lowered") };
        assert_eq!(
            solver.prove(&choice.sequence.query(form, Deviations::NONE).expect("it has a meaning")),
            Ok(Verdict::Proved),
            "{form}"
        );
        for mutant in mutants(&choice.sequence) {
            let query = mutant.query(form, Deviations::NONE).expect("it has a meaning");
            match solver.prove(&query).expect("the solver answers") {
                Verdict::Proved => {
                    right += 1;
                    for i in 0..2000u32 {
                        let [a, b, c] =
                            [0x9e37_79b9, 0x85eb_ca6b, 0xc2b2_ae35].map(|odd: u32| odd.wrapping_mul(i) ^ i << 19);
                        assert_eq!(mutant.eval(a, b, c), form.eval(a, b, c), "{form}: {mutant:?}");
                    }
                }
                Verdict::Unknown(why) => panic!("{form}: {why}"),
                Verdict::Refuted(case) => {
                    wrong += 1;
                    let [a, b, c] = ["a", "b", "c"].map(|name| case.input(name) as u32);
                    assert_ne!(mutant.eval(a, b, c), form.eval(a, b, c), "{form}: {case}: {mutant:?}");
                }
            }
        }
    }
    // Some changes change nothing, such as that of a byte which nobody reads.
    assert!(wrong > 60 && right < wrong / 2, "{wrong} wrong, {right} right");
}
