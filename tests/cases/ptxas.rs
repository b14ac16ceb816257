//! The semantics of ptxas's code: its deviations, the forms that they touch, and that they touch no others.

use std::collections::BTreeMap;

use vop::interval::OperandValue;
use vop::{Deviation, Deviations, Form, Mnemonic, Operand, Semantics, scalar_forms};
use vop_run::{LaunchOptions, Program};
use vop_tests::{HASHED, Random, edge_rows, fnv1a, golden};

/// Forms on which the newest ptxas and the manual disagree; `cargo xtask divergence` proves that there are no others.
const DIVERGENT: usize = 17_624;

#[test]
fn divergence_finds_what_random_inputs_find() {
    let mut random = Random(7);
    let mut divergent = 0;
    for form in scalar_forms() {
        let divergence = form.divergence();
        if let Some(divergence) = divergence {
            divergent += 1;
            let [a, b, c] = divergence.inputs;
            assert_eq!(divergence.isa, form.eval(a, b, c), "{form}");
            assert_eq!(divergence.ptxas, form.eval_as(Semantics::Ptxas, a, b, c), "{form}");
            assert_ne!(divergence.isa, divergence.ptxas, "{form}");
            assert!(!divergence.deviations.is_empty(), "{form}");
            continue;
        }
        for _ in 0..48 {
            let [a, b, c] = [0; 3].map(|_| random.value());
            assert_eq!(form.eval(a, b, c), form.eval_as(Semantics::Ptxas, a, b, c), "{form} {a:#x} {b:#x} {c:#x}");
        }
    }
    assert_eq!(divergent, DIVERGENT);
}

#[test]
fn only_deviations_that_concern_a_form_change_it() {
    let mut random = Random(11);
    for form in scalar_forms() {
        let [a, b, c] = [0; 3].map(|_| random.value());
        let concerning = Deviations::ALL.concerning(form);
        assert_eq!(form.eval_by(concerning, a, b, c), form.eval_by(Deviations::ALL, a, b, c), "{form}");
    }
}

/// Each deviation is needed: on some form it is the only difference between ptxas's code and the manual.
#[test]
fn every_deviation_decides_some_form_alone() {
    let mut alone: BTreeMap<Deviation, Form> = BTreeMap::new();
    for semantics in [Semantics::Ptxas, Semantics::PtxasTo13_2] {
        for form in scalar_forms().step_by(7) {
            let Some(divergence) = form.divergence_of(semantics, [OperandValue::Free; 3]) else { continue };
            let mut deviations = divergence.deviations.iter();
            if let (Some(deviation), None) = (deviations.next(), deviations.next()) {
                assert!(deviation.concerns(form), "{deviation} {form}");
                alone.entry(deviation).or_insert(form);
            }
        }
    }
    // `unsigned-scale` matters only for what `signed-words` read as negative.
    let missing: Vec<_> = Deviation::ALL.iter().filter(|deviation| !alone.contains_key(deviation)).collect();
    assert_eq!(missing, [&Deviation::ScalesUnsigned]);
}

#[test]
fn simd_forms_are_the_same() {
    let mut random = Random(13);
    for mnemonic in Mnemonic::ALL.into_iter().filter(|mnemonic| mnemonic.shape().is_simd()) {
        let forms = mnemonic.forms();
        for _ in 0..2000 {
            let form = forms.get(random.next() % forms.count_left()).expect("in range");
            let [a, b, c] = [0; 3].map(|_| random.value());
            assert_eq!(form.divergence(), None, "{form}");
            assert_eq!(form.eval_by(Deviations::ALL, a, b, c), form.eval(a, b, c), "{form}");
        }
    }
}

/// Where an operand is known, the input that is found has its value, and no input is found for a use that cannot differ.
#[test]
fn known_operands_are_kept() {
    let form: Form = "vadd.u32.s32.s32.sat d.b0, a, b, c".parse().expect("legal");
    let found = form
        .divergence_of(Semantics::Ptxas, [OperandValue::Known(5), OperandValue::Free, OperandValue::Free])
        .expect("5 + b may be negative");
    assert_eq!(found.inputs[0], 5);
    let unsigned: Form = "vadd.s32.u32.u32.sat.min d, a.b0, b, c".parse().expect("legal");
    assert_eq!(
        unsigned.divergence_of(Semantics::Ptxas, [OperandValue::Free, OperandValue::Known(3), OperandValue::Free]),
        None
    );

    // One register for two operands, and with a constant added.
    for (text, plus) in [("vsub.u32.u32.u32.max d, a.b0, b, a", 0), ("vsub.u32.u32.u32.max d, a.b0, b, a+5", 5)] {
        let instruction = vop::parse(text).expect("legal");
        let [a, _, c] = instruction.divergence(Semantics::Ptxas).expect("they differ").inputs;
        assert_eq!(c, a.wrapping_add(plus), "{text}");
    }
    // A value that refers to no operand must not panic.
    let odd = [OperandValue::Free, OperandValue::Free, OperandValue::SameAs { operand: 7, plus: 0 }];
    assert!(form.divergence_of(Semantics::Ptxas, odd).is_some());
    assert!(form.result_range(odd).contains(-1));
}

#[test]
fn names_of_semantics() {
    for semantics in Semantics::ALL {
        assert_eq!(semantics.to_string().parse(), Ok(semantics));
    }
    for (text, semantics) in [
        ("ptxas-11.7", Some(Semantics::PtxasTo13_2)),
        ("ptxas-11.8", Some(Semantics::PtxasTo13_2)),
        ("ptxas-12.4", Some(Semantics::PtxasTo13_2)),
        ("ptxas-13.3", Some(Semantics::Ptxas)),
        ("ptxas-13.5", Some(Semantics::Ptxas)),
        ("ptxas-13.2.86", Some(Semantics::PtxasTo13_2)),
        ("ptxas-13.5.", None),
        ("ptxas-13.5.x", None),
        ("ptxas-11.6", None),
        ("ptxas-12.7", None),
        ("ptxas-13.6", None),
        ("ptxas-013.5", None),
        ("ptxas-13", None),
        ("ptxas-", None),
        ("PTXAS", None),
        ("", None),
    ] {
        assert_eq!(text.parse().ok(), semantics, "{text}");
    }
}

/// The base PTX that replaces an instruction computes the manual's value: it is run, on registers and on immediates.
#[test]
fn base_ptx_computes_what_the_manual_says() {
    const INPUTS: usize = 64;
    let mut random = Random(17);
    let mut instructions = Vec::new();
    for form in scalar_forms().step_by(23) {
        let mut text = form.to_string();
        let known = [0; 3].map(|_| random.next().is_multiple_of(8).then(|| random.value()));
        for (name, known) in ["a", "b", "c"].into_iter().zip(known) {
            // A part of an immediate cannot be written.
            if let Some(value) = known
                && !text.contains(&format!("{name}."))
            {
                text = text.replace(&format!(", {name}"), &format!(", {value:#x}"));
                text = text.replace(&format!(", -{name}"), &format!(", -{value:#x}"));
            }
        }
        if vop::parse(&text).is_ok() {
            instructions.push(text);
        }
    }
    assert!(instructions.len() > 3000, "{}", instructions.len());

    for chunk in instructions.chunks(250) {
        let kernels = chunk.iter().enumerate().map(|(i, text)| {
            let block = vop::parse(text).expect("legal").in_base_ptx().expect("scalar");
            format!(
                ".visible .entry k{i}(.param .u64 p)\n{{\n.reg .u64 %rd<4>; .reg .b32 a, b, c, d, tid;\n\
                 ld.param.u64 %rd1, [p]; mov.u32 tid, %tid.x; mul.wide.u32 %rd2, tid, 16; add.u64 %rd3, %rd1, %rd2;\n\
                 ld.global.b32 a, [%rd3]; ld.global.b32 b, [%rd3+4]; ld.global.b32 c, [%rd3+8];\n{block}\n\
                 st.global.b32 [%rd3+12], d; ret;\n}}\n"
            )
        });
        let module: String =
            [".version 7.8\n.target sm_75\n.address_size 64\n".to_owned()].into_iter().chain(kernels).collect();
        let program = Program::read(&module);
        for (i, text) in chunk.iter().enumerate() {
            let instruction = vop::parse(text).expect("legal");
            let rows: Vec<[u32; 3]> = (0..INPUTS).map(|_| [0; 3].map(|_| random.value())).collect();
            let mut memory = program.memory();
            let bytes: Vec<u8> = rows.iter().flat_map(|&[a, b, c]| [a, b, c, 0]).flat_map(u32::to_le_bytes).collect();
            let buffer = memory.allocate("rows", bytes);
            let kernel = program.kernel(&format!("k{i}")).unwrap_or_else(|errors| panic!("{errors}"));
            kernel
                .launch([1; 3], [INPUTS as u32, 1, 1], &[buffer.into()], &mut memory, &LaunchOptions::default())
                .unwrap_or_else(|errors| panic!("{text}: {errors}"));
            for (row, out) in rows.iter().zip(memory.bytes(buffer).chunks_exact(16)) {
                let operands = [Some(instruction.a), Some(instruction.b), instruction.c];
                let [a, b, c] = std::array::from_fn(|j| match operands[j] {
                    Some(Operand::Immediate { value, .. }) => value,
                    _ => row[j],
                });
                let d = u32::from_le_bytes(out[12..].try_into().expect("four bytes"));
                let expected = instruction.form.eval(a, b, c);
                assert_eq!(d, expected, "{text} on {a:#x} {b:#x} {c:#x}:\n{}", instruction.in_base_ptx().unwrap());
            }
        }
    }
}

/// The code that ptxas 13.5 emits for sm_90, executed on 200 rows of inputs for each of the 83,104 scalar forms, gave these
/// hashes (`cargo xtask sass sweep --write-hashes`).
#[test]
fn every_scalar_form_as_the_code_computes_it() {
    let (seed, count) = HASHED;
    let rows = edge_rows(&mut Random(seed), count);
    let mut by_opcode: BTreeMap<String, Vec<Form>> = BTreeMap::new();
    for form in scalar_forms() {
        by_opcode.entry(form.opcode().to_string()).or_default().push(form);
    }
    let mut opcodes = 0;
    for (line, row) in golden::rows(golden::PTXAS_HASHES) {
        let forms = &by_opcode[row[0]];
        assert_eq!(row[1], forms.len().to_string(), "line {line}");
        let hash = |semantics| {
            let results =
                forms.iter().flat_map(|form| rows.iter().map(move |&[a, b, c]| form.eval_as(semantics, a, b, c)));
            format!("{:016x}", fnv1a(results))
        };
        assert_eq!(hash(Semantics::Ptxas), row[2], "line {line}: {}", row[0]);
        let divergent = forms.iter().any(|form| form.divergence().is_some());
        assert!(divergent || hash(Semantics::Isa) == row[2], "line {line}: {}", row[0]);
        opcodes += 1;
    }
    assert_eq!(opcodes, by_opcode.len());
}
