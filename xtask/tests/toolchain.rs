//! What ptxas makes of forms, executed by the simulator, against what the library and golden data say. Where there is no
//! ptxas nothing is tested, and a line says so.

mod tools;

use std::io::Write;
use std::sync::LazyLock;

use vop::{Form, Mnemonic, Semantics, scalar_forms};
use vop_tests::{Random, golden};
use xtask::sass::{Code, Toolchain};

const TARGETS: [&str; 3] = ["sm_75", "sm_90", "sm_120"];

/// The tools, if they are here, and of a release that computes what the golden data say.
fn toolchain() -> Option<&'static Toolchain> {
    static FOUND: LazyLock<Option<Toolchain>> = LazyLock::new(|| {
        let found = tools::ptxas()?;
        if format!("ptxas-{}", found.version()).parse() == Ok(Semantics::Ptxas) {
            return Some(found);
        }
        let _ = writeln!(std::io::stderr(), "skipped: ptxas is of {}, golden data of 13.3 to 13.5", found.version());
        None
    });
    FOUND.as_ref()
}

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
    let Some(toolchain) = toolchain() else { return };
    let forms: Vec<Form> = scalar_forms().step_by(167).collect();
    assert_eq!(forms.len(), 498);
    for target in TARGETS {
        compare(toolchain, &forms, target, |form, [a, b, c]| form.eval_as(Semantics::Ptxas, a, b, c));
    }
}

#[test]
fn simd_forms_compute_what_the_manual_says() {
    let Some(toolchain) = toolchain() else { return };
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

/// All golden rows, each form on one of the targets.
#[test]
fn golden_values_are_what_ptxas_computes() {
    let Some(toolchain) = toolchain() else { return };
    let rows: Vec<Vec<&str>> = golden::rows(golden::VALUES).map(|(_, row)| row).collect();
    let forms: Vec<&[Vec<&str>]> = rows.chunk_by(|one, next| one[0] == next[0]).collect();
    assert_eq!((rows.len(), forms.len()), (31_290, 6_258));
    for (i, target) in TARGETS.into_iter().enumerate() {
        let forms: Vec<&[Vec<&str>]> = forms.iter().copied().skip(i).step_by(TARGETS.len()).collect();
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
    let Some(toolchain) = toolchain() else { return };
    let costs = |target| toolchain.costs(&["vadd4.u32.u32.u32 d, a, b, c", "vabsdiff4.u32.u32.u32 d, a, b, c"], target);
    assert_eq!(costs("sm_90").unwrap(), [5, 1]);
    assert_eq!(costs("sm_120").unwrap(), [5, 3]);
    // A block gets all that the target has.
    assert_eq!(toolchain.costs(&["{ add.u16x2 d, a, b; }"], "sm_90").unwrap(), [1]);

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
