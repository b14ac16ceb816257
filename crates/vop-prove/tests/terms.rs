//! Terms for the solver mean what evaluation computes.

mod smt;

use std::collections::HashSet;
use std::mem::discriminant;

use smt::{Names, Value, value, vector};
use vop::isa::range::Range;
use vop::isa::types::{Comparison, Type};
use vop::lower::PackedOp;
use vop::lower::{LowerOptions, Op, Sort, Step};
use vop::smt::Script;
use vop::{Deviations, Form, Mnemonic, Semantics, scalar_forms};

/// The rows of the table of base instructions, with all that their columns can be; of the selectors of `prmt` some.
fn ops() -> Vec<Op> {
    let types = [Type::U32, Type::S32];
    let pairs = || types.into_iter().flat_map(move |x| types.map(|y| (x, y)));
    let ranges = [(false, 8), (true, 8), (false, 16), (true, 16)].map(|(signed, bits)| Range::new(signed, bits));
    let packed = [
        PackedOp::Add,
        PackedOp::AddSat,
        PackedOp::Sub,
        PackedOp::SubSat,
        PackedOp::Min,
        PackedOp::Max,
        PackedOp::MinRelu,
        PackedOp::MaxRelu,
    ];
    let mut ops = vec![
        Op::Add,
        Op::Sub,
        Op::Shl,
        Op::Mul,
        Op::Mad,
        Op::AddSat,
        Op::SubSat,
        Op::AddSatUnsigned,
        Op::Negate16x2,
        Op::Selp,
        Op::AddIf,
        Op::Low,
        Op::High,
        Op::Join,
        Op::Abs,
        Op::MadHigh,
        Op::AddLong,
        Op::SubLong,
        Op::ShlLong,
        Op::MulLong,
        Op::SelpLong,
    ];
    ops.extend((0..=255).map(Op::Lop3));
    let mut random = Random(1);
    ops.extend((0..500).map(|_| Op::Prmt(random.next() as u16)));
    for ty in types {
        let typed = [Op::Min, Op::Max, Op::Shr, Op::Sad, Op::Absdiff4, Op::Absdiff4Add, Op::Extend, Op::MinLong];
        ops.extend(typed.map(|op| op(ty)));
        ops.extend([Op::MaxLong(ty), Op::ShrLong(ty), Op::MulWide(ty)]);
        for &comparison in Comparison::ALL {
            ops.extend([Op::Setp(comparison, ty), Op::SetpLong(comparison, ty)]);
        }
    }
    for (x, y) in pairs() {
        ops.push(Op::Dp4a(x, y));
        ops.extend([false, true].map(|high| Op::Dp2a { high, x, y }));
    }
    ops.extend(ranges.map(|to| Op::Pack { to }));
    for (op, lanes) in packed.into_iter().flat_map(|op| ranges.map(|lanes| (op, lanes))) {
        // There is `.relu` of signed lanes alone.
        if lanes.signed || !matches!(op, PackedOp::MinRelu | PackedOp::MaxRelu) {
            ops.push(Op::Packed(op, lanes));
        }
    }
    ops
}

/// SplitMix64.
struct Random(u64);

impl Random {
    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mixed = (self.0 ^ self.0 >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let mixed = (mixed ^ mixed >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
        mixed ^ mixed >> 31
    }

    /// A long word whose bytes are mostly the ends of ranges, or whose halves are, or that is small.
    fn edgy(&mut self) -> u64 {
        const BYTES: [u64; 9] = [0, 1, 2, 0x7f, 0x80, 0x81, 0xfe, 0xff, 0x40];
        match self.next() % 8 {
            0 => self.next(),
            1 => self.next() % 70,
            2 => (self.next() % 70).wrapping_neg(),
            3 => self.next() as u32 as u64,
            4 => 1u64.wrapping_shl(self.next() as u32).wrapping_sub(self.next() % 3),
            _ => (0..8).fold(0, |all, _| all << 8 | BYTES[(self.next() % 9) as usize]),
        }
    }
}

#[test]
fn base_instructions() {
    let mut random = Random(2);
    for op in ops() {
        let names = ["x", "y", "z"];
        let term = op.smt(&names[..op.operands().len()]);
        for round in 0..if matches!(op, Op::Lop3(_) | Op::Prmt(_)) { 20 } else { 300 } {
            let mut operands = Vec::new();
            let mut given = Names::new();
            for (sort, name) in op.operands().iter().zip(names) {
                let (number, value) = match sort {
                    Sort::Predicate => {
                        let number = random.next() & 1;
                        (number, Value::Bool(number != 0))
                    }
                    Sort::Half => panic!("{op:?} takes half a word"),
                    Sort::Word => (random.edgy() & 0xffff_ffff, Value::Bool(false)),
                    Sort::Long => (random.edgy(), Value::Bool(false)),
                };
                let value = match sort {
                    Sort::Predicate => value,
                    Sort::Long => vector(64, number.into()),
                    _ => vector(32, number.into()),
                };
                operands.push(number);
                given.insert(name.into(), value);
            }
            // Where the second word is a constant, the term may be another.
            let constant = format!("#x{:08x}", operands.get(1).copied().unwrap_or_default() as u32);
            let term = match (round % 2, op.operands()) {
                (1, [_, Sort::Word, ..]) => {
                    let names = [names[0], &constant, names[2]];
                    op.smt(&names[..op.operands().len()])
                }
                _ => term.clone(),
            };
            let expected = op.eval(&operands);
            let expected = match op.sort() {
                Sort::Predicate => Value::Bool(expected != 0),
                Sort::Long => vector(64, expected.into()),
                _ => vector(32, expected.into()),
            };
            assert_eq!(value(&term, &given), expected, "{op:?} of {operands:#x?}: {term}");
        }
    }
}

/// The list above has every row that a rule uses.
#[test]
fn no_row_is_forgotten() {
    let known: HashSet<_> = ops().iter().map(discriminant).collect();
    let packed: HashSet<Op> = ops().into_iter().filter(|op| matches!(op, Op::Packed(..))).collect();
    let simd = Mnemonic::ALL.into_iter().filter(|mnemonic| mnemonic.shape().is_simd());
    let forms = simd.flat_map(Mnemonic::forms_with_default_selectors).chain(scalar_forms().step_by(7));
    for form in forms {
        for target in ["sm_75", "sm_90", "sm_120f"] {
            let options = LowerOptions::new(target.parse().expect("a target"));
            for candidate in form.candidates(options) {
                for step in &candidate.steps {
                    let Step::Base(op, _) = step else { continue };
                    assert!(known.contains(&discriminant(op)), "{op:?}");
                    assert!(packed.contains(op) || !matches!(op, Op::Packed(..)), "{op:?}");
                }
            }
        }
    }
}

fn holds(form: Form, by: Deviations, random: &mut Random, times: usize) {
    let mut script = Script::new();
    let words = ["a", "b", "c"].map(|name| script.declare(name, 32));
    let d = form.smt(by, &mut script, [&words[0], &words[1], &words[2]]);
    let defined: Vec<String> = script.commands().skip(3).collect();
    for _ in 0..times {
        let [a, b, c] = [random.edgy() as u32, random.edgy() as u32, random.edgy() as u32];
        let mut names = Names::new();
        for (name, word) in ["a", "b", "c"].into_iter().zip([a, b, c]) {
            names.insert(name.into(), vector(32, word.into()));
        }
        for line in &defined {
            // `(define-fun NAME () SORT TERM)`.
            let text = line.strip_prefix("(define-fun ").and_then(|text| text.strip_suffix(')')).expect("a definition");
            let (name, text) = text.split_once(" () ").expect("a name");
            let term = match text.strip_prefix("Bool ") {
                Some(term) => term,
                None => text.split_once(") ").expect("a sort").1,
            };
            let value = value(term, &names);
            names.insert(name.into(), value);
        }
        let expected = form.eval_by(by, a, b, c);
        assert_eq!(value(&d, &names), vector(32, expected.into()), "{form} by {by:?} of {a:#x}, {b:#x}, {c:#x}");
    }
}

#[test]
fn forms_of_lanes() {
    let mut random = Random(3);
    for mnemonic in Mnemonic::ALL.into_iter().filter(|mnemonic| mnemonic.shape().is_simd()) {
        for form in mnemonic.forms_with_default_selectors() {
            holds(form, Deviations::NONE, &mut random, 4);
        }
        let forms = mnemonic.forms();
        for _ in 0..500 {
            let form = forms.get(random.next() % forms.count_left()).expect("the index is below the count");
            holds(form, Deviations::NONE, &mut random, 2);
        }
    }
}

#[test]
fn scalar_forms_in_all_semantics() {
    let mut random = Random(4);
    for form in scalar_forms() {
        if !random.next().is_multiple_of(4) {
            continue;
        }
        let sets: HashSet<Deviations> =
            Semantics::ALL.iter().map(|semantics| semantics.deviations().concerning(form)).collect();
        for by in sets {
            holds(form, by, &mut random, 4);
        }
    }
}
