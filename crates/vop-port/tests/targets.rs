//! Texts of all targets.

use vop::{Form, Mnemonic, Semantics};
use vop_port::Target;

fn form(text: &str) -> Form {
    text.parse().expect("the form is legal")
}

fn text(form: Form, target: &str) -> String {
    let target: Target = target.parse().expect("there is this target");
    vop_port::port(form, target, Semantics::Isa).expect("every target has every form").text()
}

/// A printer that does not know an operation of its machine would leave a hole.
#[test]
fn no_operation_is_left_out() {
    for target in Target::all() {
        for mnemonic in Mnemonic::ALL {
            for form in mnemonic.forms_with_default_selectors().step_by(11) {
                let port = vop_port::port(form, target, Semantics::Isa).expect("every target has every form");
                let text = port.text();
                let code = text.lines().filter(|line| !line.trim_start().starts_with(['#', '/', '"']));
                for line in code {
                    for hole in ["(, ", ", ,", ", )", "= ;", "return ;", "Extra", "Base("] {
                        assert!(!line.contains(hole), "{target}: {line}");
                    }
                }
                let count = |c: char| text.chars().filter(|&of| of == c).count();
                assert_eq!(count('('), count(')'), "{target}: {text}");
            }
        }
    }
}

#[test]
fn machines_compute_in_few_instructions() {
    for (what, target, call) in [
        ("vadd4.s32.s32.s32.sat", "avx2", "    return _mm256_adds_epi8(a, b);"),
        ("vsub2.u32.u32.u32.sat", "avx512", "    return _mm512_subs_epu16(a, b);"),
        ("vavrg4.u32.u32.u32", "avx2", "    return _mm256_avg_epu8(a, b);"),
        (
            "vset2.s32.s32.gt",
            "avx2",
            "    return _mm256_and_si256(_mm256_cmpgt_epi16(a, b), _mm256_set1_epi32((int)0x10001u));",
        ),
        (
            "vabsdiff4.u32.u32.u32",
            "neon",
            "    return vreinterpretq_u32_u8(vabdq_u8(vreinterpretq_u8_u32(a), vreinterpretq_u8_u32(b)));",
        ),
        ("vabsdiff4.u32.u32.u32.add", "hip", "    return __builtin_amdgcn_sad_u8(a, b, c);"),
        ("vsub2.s32.s32.s32.sat", "hip", "    return vop_sub_sat_s16x2(a, b);"),
        ("vsub4.u32.u32.u32.sat", "opencl", "    return as_uint(sub_sat(as_uchar4(a), as_uchar4(b)));"),
    ] {
        let text = text(form(what), target);
        assert!(text.lines().any(|line| line == call), "{what} for {target}:\n{text}");
    }
}

/// The host and other GPUs take the operations of C.
#[test]
fn hip_has_plain_operations_beside_those_of_amd() {
    let text = text(form("vabsdiff4.u32.u32.u32.add"), "hip");
    let (_, after) = text.split_once("#ifdef VOP_PORT_AMDGCN\n").expect("there is a choice");
    let (device, host) = after.split_once("#else\n").expect("there is another body");
    assert!(device.contains("__builtin_amdgcn_") && !host.contains("__builtin_"), "{text}");
    // Where both are as cheap, there is one body.
    let text = self::text(form("vadd.u32.u32.u32"), "hip");
    assert!(!text.contains("VOP_PORT_AMDGCN"), "{text}");
}
