//! The code that ptxas makes of forms, executed by the simulator, is compared with the library and with golden data.

use vop::{Form, Mnemonic, Operand, Semantics, scalar_forms};
use vop_tests::{Random, edge_rows, golden};
use xtask::sass::{Code, Toolchain};
use xtask::sweep::{one_in, simd_forms};

use crate::tools;

const TARGETS: [&str; 3] = ["sm_75", "sm_90", "sm_120"];

/// Compiles forms for a target and compares what their code computes on some inputs.
fn compare(toolchain: &Toolchain, forms: &[Form], target: &str, expected: impl Fn(Form, [u32; 3]) -> u32) {
    let mut random = Random(23);
    let texts: Vec<String> = forms.iter().map(Form::to_string).collect();
    let codes = toolchain.compile(&texts, target).unwrap_or_else(|error| panic!("{error}"));
    for (&form, code) in forms.iter().zip(&codes) {
        for _ in 0..64 {
            let [a, b, c] = [0; 3].map(|_| random.value());
            let d = code.run(a, b, c).unwrap_or_else(|error| panic!("{target} {form}: {error}"));
            assert_eq!(d, expected(form, [a, b, c]), "{target} {form} {a:#010x} {b:#010x} {c:#010x}");
        }
    }
}

#[test]
fn scalar_forms_compute_what_the_library_says_of_ptxas() {
    let Some(toolchain) = tools::ptxas_of_golden_values() else { return };
    let forms: Vec<Form> = scalar_forms().step_by(167).collect();
    assert_eq!(forms.len(), 498);
    for target in TARGETS {
        compare(toolchain, &forms, target, |form, [a, b, c]| form.eval_as(Semantics::Ptxas, a, b, c));
    }
}

#[test]
fn simd_forms_compute_what_the_manual_says() {
    let Some(toolchain) = tools::ptxas_of_golden_values() else { return };
    let simd = Mnemonic::ALL.into_iter().filter(|mnemonic| mnemonic.shape().is_simd());
    let sampled = |mnemonic: Mnemonic| {
        let forms = mnemonic.forms();
        let step = forms.count_left() / 20;
        // A little more than a round number, so that the fast axes do not stand still.
        (0..20).filter_map(move |i| forms.get(i * (step + 1) % forms.count_left()))
    };
    let forms: Vec<Form> = simd.flat_map(sampled).collect();
    assert_eq!(forms.len(), 280);
    for target in TARGETS {
        compare(toolchain, &forms, target, |form, [a, b, c]| form.eval(a, b, c));
    }
}

/// The golden rows of every second form, each on one of the targets; `cargo xtask golden` compares all.
#[test]
fn golden_values_are_what_ptxas_computes() {
    let Some(toolchain) = tools::ptxas_of_golden_values() else { return };
    let rows: Vec<Vec<&str>> = golden::rows(golden::VALUES).map(|(_, row)| row).collect();
    let forms: Vec<&[Vec<&str>]> = rows.chunk_by(|one, next| one[0] == next[0]).collect();
    assert_eq!((rows.len(), forms.len()), (31_290, 6_258));
    for (i, target) in TARGETS.into_iter().enumerate() {
        let forms: Vec<&[Vec<&str>]> = forms.iter().copied().skip(i).step_by(4 * TARGETS.len()).collect();
        let texts: Vec<&str> = forms.iter().map(|rows| rows[0][0]).collect();
        let codes = toolchain.compile(&texts, target).unwrap();
        for (rows, code) in forms.iter().zip(&codes) {
            for row in *rows {
                let [a, b, c, d] = [1, 2, 3, 5].map(|column| golden::value(row[column]));
                assert_eq!(code.run(a, b, c), Ok(d), "{target} {row:?}");
            }
        }
    }
}

#[test]
fn costs_and_refusals() {
    let Some(toolchain) = tools::ptxas_of_golden_values() else { return };
    let costs = |target| toolchain.costs(&["vadd4.u32.u32.u32 d, a, b, c", "vabsdiff4.u32.u32.u32 d, a, b, c"], target);
    assert_eq!(costs("sm_90").unwrap(), [5, 1]);
    assert_eq!(costs("sm_120").unwrap(), [5, 3]);
    // A block gets all that the target has.
    assert_eq!(toolchain.costs(&["{ add.u16x2 d, a, b; }"], "sm_90").unwrap(), [1]);
    // What is read from the file itself is what nvdisasm prints.
    let texts: Vec<String> = one_in(39, 1500).chain(simd_forms(39, 30)).map(|form| form.to_string()).collect();
    assert!(texts.len() > 60, "{}", texts.len());
    for target in TARGETS {
        let codes = toolchain.compile(&[&["mov.b32 d, a".to_owned()], &texts[..]].concat(), target).unwrap();
        let sizes: Vec<i64> = codes.iter().map(|code| code.size() as i64).collect();
        let differences: Vec<i64> = sizes[1..].iter().map(|size| size - sizes[0]).collect();
        assert_eq!(toolchain.costs(&texts, target).unwrap(), differences, "{target}");
    }

    let error =
        |texts: &[&str], target| toolchain.compile(texts, target).map(|codes: Vec<Code>| codes.len()).unwrap_err();
    let refused = error(&["mov.b32 d, a", "{ add.u32 d, a, b;\n add.u32 d, a; }", "mov.b32 d, b"], "sm_90");
    assert_eq!(
        refused.to_string(),
        "ptxas refuses `{ add.u32 d, a, b;\n add.u32 d, a; }`: Arguments mismatch for instruction 'add'"
    );
    let unknown = error(&["mov.b32 d, a"], "sm_1").to_string();
    assert!(unknown.contains("ptxas fails: ") && unknown.contains("sm_1"), "{unknown}");
}

/// With immediates in place of registers ptxas emits other code, which computes the same values.
#[test]
fn immediates_change_nothing() {
    let Some(toolchain) = tools::ptxas_of_golden_values() else { return };
    let mut random = Random(31);
    let mut texts = Vec::new();
    for form in one_in(5, 250) {
        let text = form.to_string();
        for name in ["a", "b", "c"] {
            let immediate = text.replace(&format!(", {name}"), &format!(", {}", random.value() as i32));
            // A part of an immediate cannot be written, nor can one be negated.
            texts.extend(vop::parse(&immediate).is_ok_and(|_| immediate != text).then_some(immediate));
        }
    }
    assert!(texts.len() > 300, "{}", texts.len());
    let mut unknown = 0;
    for target in TARGETS {
        for (text, code) in texts.iter().zip(toolchain.compile(&texts, target).unwrap()) {
            let instruction = vop::parse(text).unwrap();
            let operands = [Some(instruction.a), Some(instruction.b), instruction.c];
            for _ in 0..16 {
                let registers = [0; 3].map(|_| random.value());
                let [a, b, c] = std::array::from_fn(|i| match operands[i] {
                    Some(Operand::Immediate { value, .. }) => value,
                    _ => registers[i],
                });
                let d = instruction.form.eval_as(Semantics::Ptxas, a, b, c);
                let [a, b, c] = registers;
                // A constant of 64 bits is not printed in full.
                let Ok(found) = code.run(a, b, c) else {
                    unknown += 1;
                    break;
                };
                assert_eq!(found, d, "{target} {text} {a:#010x} {b:#010x} {c:#010x}");
            }
        }
    }
    assert!(unknown < 40, "{unknown}");
}

/// The base PTX that replaces an instruction assembles, and the code that ptxas makes of it computes the manual's value.
#[test]
fn base_ptx_assembles_and_computes_what_the_manual_says() {
    let Some(toolchain) = tools::ptxas_of_golden_values() else { return };
    let forms: Vec<Form> = one_in(7, 150).collect();
    let block = |form: &Form| vop::parse(&form.to_string()).unwrap().in_base_ptx().unwrap();
    let blocks: Vec<String> = forms.iter().map(block).collect();
    let codes = toolchain.compile(&blocks, "sm_90").unwrap();
    let (mut random, mut executed) = (Random(37), 0);
    for (form, code) in forms.iter().zip(&codes) {
        for [a, b, c] in edge_rows(&mut random, 40) {
            // Some of what they become the simulator does not know.
            let Ok(d) = code.run(a, b, c) else { break };
            assert_eq!(d, form.eval(a, b, c), "{form} {a:#010x} {b:#010x} {c:#010x}");
            executed += 1;
        }
    }
    assert!(executed > 5000, "{executed}");
}

/// The table of costs, on random forms; `cargo xtask sass cost-table --check` asks more.
#[test]
fn costs_are_as_in_the_table() {
    let Some(toolchain) = tools::ptxas_of_golden_costs() else { return };
    let share = if tools::full() { 1 } else { 3 };
    for (i, target) in ["sm_75", "sm_80", "sm_90", "sm_107", "sm_120"].into_iter().enumerate() {
        let forms = one_in(40 + i as u64, 700).chain(simd_forms(50 + i as u64, 150));
        let forms: Vec<Form> = forms.skip(i % share).step_by(share).collect();
        let texts: Vec<String> = forms.iter().map(Form::to_string).collect();
        let costs = toolchain.costs(&texts, target).unwrap();
        for (form, cost) in forms.iter().zip(costs) {
            assert_eq!(i64::from(form.cost(target.parse().unwrap())), cost, "{target} {form}");
        }
    }
}
