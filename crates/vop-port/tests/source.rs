//! Sources with calls in the place of their `asm` statements: their text, and what they compute when gcc compiles them.

#![allow(clippy::unwrap_used, clippy::print_stderr, reason = "a test fails by panicking, and says what it leaves out")]

use std::fmt::Write as _;
use std::process::Command;

use vop::{Form, Mnemonic};
use vop_port::source::{PortedSource, SourceOptions, port_source};
use vop_ptx::find::Language;

fn ported(source: &str, target: &str) -> PortedSource {
    port_source(source.as_bytes(), Language::Cuda, &SourceOptions::new(target.parse().unwrap()))
}

/// The text after `port`, without the `#include`.
#[track_caller]
fn becomes(source: &str, expected: &str) {
    let ported = ported(source, "hip");
    assert_eq!(ported.left, [], "{source}");
    let text = String::from_utf8(ported.apply(source.as_bytes(), "vop_port.h")).unwrap();
    let text = text.replacen("#include \"vop_port.h\"\n", "", 1);
    assert_eq!(text, expected);
    // Nothing is left to do.
    assert_eq!(self::ported(&text, "hip"), PortedSource::default());
}

#[track_caller]
fn is_left(source: &str, why: &str) {
    let ported = ported(source, "hip");
    assert!(ported.carried.is_empty(), "{source}");
    let found: Vec<&str> = ported.left.iter().map(|left| &left.why[..]).collect();
    assert_eq!(found, [why], "{source}");
    assert_eq!(ported.others, 0, "{source}");
    assert_eq!(ported.apply(source.as_bytes(), "vop_port.h"), source.as_bytes());
}

#[test]
fn one_instruction_becomes_an_assignment() {
    becomes(
        r#"    asm("vadd4.u32.u32.u32 %0, %1, %2, %3;" : "=r"(d) : "r"(a), "r"(b), "r"(0));"#,
        "    d = vadd4_u32_u32_u32(a, b, 0);",
    );
    // Names, selectors, a constant, a tied and an updated operand.
    becomes(
        r#"asm volatile ("vmad.u32.u32.u32 %[d], %[a].b1, %[b].b0, %[d];" : [d] "+r"(sum.x) : [a] "r"(p[i]), [b] "r"(q));"#,
        "sum.x = vmad_u32_u32_u32_a_b1_b_b0(p[i], q, sum.x);",
    );
    becomes(
        r#"asm("vabsdiff4.u32.u32.u32.add %0, %1, %1, %0;" : "=r"(d) : "r"(a[i] + 1), "0"(c));"#,
        "d = vabsdiff4_u32_u32_u32_add(a[i] + 1, a[i] + 1, c);",
    );
    becomes(
        r#"asm("vset.u32.u32.gt %0, %1, 127;" : "=r"(d) : "r"((int)a), "n"(5));"#,
        "d = vset_u32_u32_gt((int)a, 127u, 0);",
    );
    // A comment would hide what follows.
    becomes(
        "asm(\"vadd4.u32.u32.u32 %0, %1, %2, %2;\" : \"=r\"(d /* sum */) : \"r\"(a // first, of two\n), \"r\"(b));",
        "d = vadd4_u32_u32_u32(a, b, 0);",
    );
    becomes(
        "#define ADD(d, a) asm(\"vadd.u32.u32.u32 %0, %1, %2;\" : \\\n    \"=r\"(d) : \"r\"(a), \"r\"(1, b))\n",
        "#define ADD(d, a) (d) = vadd_u32_u32_u32(a, (1, b), 0)\n",
    );
}

#[test]
fn several_instructions_become_a_block() {
    becomes(
        "\tasm(\"{.reg .u32 t; vadd4.u32.u32.u32 t, %1, %2, %2; shr.u32 t, t, 1; // half\\n\"\n\t\t\"min.s32 %0, t, %2;}\"\n\t\t: \"=r\"(d) : \"r\"(a), \"r\"(b));\n",
        "\tdo {\n\t\tunsigned vop_0;\n\t\tconst unsigned vop_1 = (unsigned)a;\n\t\tconst unsigned vop_2 = (unsigned)b;\n\
         \t\tunsigned vop_t;\n\t\tvop_t = vadd4_u32_u32_u32(vop_1, vop_2, 0);\n\t\tvop_t = vop_t >> 1;\n\
         \t\tvop_0 = ptx_min_s32(vop_t, vop_2, 0);\n\t\td = vop_0;\n\t} while (0);\n",
    );
    // A guard, and expressions that must be evaluated once.
    becomes(
        r#"asm("{ .reg .pred p; setp.ne.u32 p, %1, 0; @!p vmax.s32.s32.s32 %0, %1, %1; }" : "+r"(d) : "r"(next++));"#,
        "do {\n    unsigned vop_0 = (unsigned)d;\n    const unsigned vop_1 = (unsigned)(next++);\n    unsigned vop_p;\n    \
         vop_p = ptx_setp_ne_u32(vop_1, 0, 0);\n    if (!vop_p) vop_0 = vmax_s32_s32_s32(vop_1, vop_1, 0);\n    d = vop_0;\n} while (0);",
    );
    becomes(
        r#"asm("vsub4.u32.u32.u32 %0, %1, %2, %2;" : "=r"(d) : "r"(a++), "r"(b), "r"(g()));"#,
        "do {\n    unsigned vop_0;\n    const unsigned vop_1 = (unsigned)(a++);\n    const unsigned vop_2 = (unsigned)b;\n    \
         (void)(g());\n    vop_0 = vsub4_u32_u32_u32(vop_1, vop_2, 0);\n    d = vop_0;\n} while (0);",
    );
}

/// An `asm` evaluates its inputs from left to right; C does not say in which order a call evaluates its arguments.
#[test]
fn expressions_are_evaluated_in_the_order_of_the_asm() {
    becomes(
        r#"asm("vsub4.u32.u32.u32 %0, %1, %2, %1;" : "=r"(d) : "r"(*p++), "r"(*p++));"#,
        "do {\n    unsigned vop_0;\n    const unsigned vop_1 = (unsigned)(*p++);\n    const unsigned vop_2 = (unsigned)(*p++);\n    \
         vop_0 = vsub4_u32_u32_u32(vop_1, vop_2, 0);\n    d = vop_0;\n} while (0);",
    );
    becomes(
        r#"asm("vsub4.u32.u32.u32 %0, %1, %2, %1;" : "=r"(d) : "r"(n++), "r"(n));"#,
        "do {\n    unsigned vop_0;\n    const unsigned vop_1 = (unsigned)(n++);\n    const unsigned vop_2 = (unsigned)n;\n    \
         vop_0 = vsub4_u32_u32_u32(vop_1, vop_2, 0);\n    d = vop_0;\n} while (0);",
    );
    // Once, however often the instruction reads it.
    becomes(
        r#"asm("vmax.u32.u32.u32.add %0, %1, %1, %1;" : "=r"(d) : "r"(n++));"#,
        "do {\n    unsigned vop_0;\n    const unsigned vop_1 = (unsigned)(n++);\n    \
         vop_0 = vmax_u32_u32_u32_add(vop_1, vop_1, vop_1);\n    d = vop_0;\n} while (0);",
    );
    becomes(
        r#"asm("vadd.u32.u32.u32 %0, %1, %2;" : "=r"(d) : "r"(next(s)), "n"(5));"#,
        "d = vadd_u32_u32_u32(next(s), 5, 0);",
    );
    is_left(
        r#"asm("vmax4.u32.u32.u32 %0, %1, %2, %2;" : "=r"(arr[i]) : "r"(a + i++), "r"(b));"#,
        "evaluating operand `%1` may change which place operand `%0` is",
    );
    is_left(
        r#"asm("vmax4.u32.u32.u32 %0, %1, %2, %2;" : "=r"(*out++) : "r"(a), "r"(b));"#,
        "evaluating operand `%0`, which is written, may change something",
    );
    is_left(
        r#"asm("vmax4.u32.u32.u32 %0, %2, %2, %2; mov.u32 %1, %2;" : "=r"(i), "=r"(arr[i]) : "r"(a));"#,
        "operand `%0` may change which place operand `%1` is",
    );
    for outputs in [r#""=r"(s.i), "=r"(t[s.i])"#, r#""=r"(*p), "=r"(t[*p])"#, r#""=r"(p[0]), "=r"(p[p[0]])"#] {
        is_left(
            &format!(r#"asm("vmax4.u32.u32.u32 %0, %2, %2, %2; mov.u32 %1, %2;" : {outputs} : "r"(a));"#),
            "operand `%0` may change which place operand `%1` is",
        );
    }
    // Neighbours do not.
    for outputs in [r#""=r"(d[i]), "=r"(d[i + 1])"#, r#""=r"(s.x), "=r"(s.v[0])"#] {
        let source = format!(r#"asm("vmax4.u32.u32.u32 %0, %2, %2, %2; mov.u32 %1, %2;" : {outputs} : "r"(a));"#);
        assert_eq!(ported(&source, "hip").left, [], "{source}");
    }
}

/// What a macro's use puts in the place of a parameter may be any expression, and is evaluated once, as by the `asm`.
#[test]
fn parameters_of_macros_are_evaluated_once() {
    becomes(
        "#define DOUBLE(d, a) asm(\"vadd.u32.u32.u32 %0, %1, %1;\" : \"=r\"(d) : \"r\"(a))\n",
        "#define DOUBLE(d, a) do { unsigned vop_0; const unsigned vop_1 = (unsigned)(a); \
         vop_0 = vadd_u32_u32_u32(vop_1, vop_1, 0); (d) = vop_0; } while (0)\n",
    );
    becomes(
        "#define FIRST(d, a, b) asm(\"vadd.u32.u32.u32 %0, %1, 1;\" : \"=r\"(d) : \"r\"(a), \"r\"(b))\n",
        "#define FIRST(d, a, b) do { unsigned vop_0; const unsigned vop_1 = (unsigned)(a); (void)(b); \
         vop_0 = vadd_u32_u32_u32(vop_1, 1, 0); (d) = vop_0; } while (0)\n",
    );
    // The name of a macro, and a call through a pointer.
    becomes(
        r#"asm("vadd.u32.u32.u32 %0, %1, %2; min.s32 %0, %0, %1;" : "=r"(d) : "r"(SHIFTED), "r"((*f)(3)));"#,
        "do {\n    unsigned vop_0;\n    const unsigned vop_1 = (unsigned)(SHIFTED);\n    const unsigned vop_2 = (unsigned)((*f)(3));\n    \
         vop_0 = vadd_u32_u32_u32(vop_1, vop_2, 0);\n    vop_0 = ptx_min_s32(vop_0, vop_1, 0);\n    d = vop_0;\n} while (0);",
    );
}

/// An operand c that nothing depends on may be an output; the names of operands are not those of registers.
#[test]
fn operands_that_are_not_read_need_no_value() {
    becomes(
        r#"asm("vadd4.u32.u32.u32 %0, %1, %2, %0;" : "=r"(d) : "r"(a), "r"(b));"#,
        "d = vadd4_u32_u32_u32(a, b, 0);",
    );
    is_left(
        r#"asm("{ .reg .u32 %%x; mov.u32 %%x, 5; vadd.u32.u32.u32 %0, %[x], %%x; }" : "=r"(d) : [x] "r"(x));"#,
        "register `%x` has the name of an operand",
    );
    is_left(
        r#"asm("vavg4.u32.u32.u32 %0, %1, %1, %1;" : "=r"(d) : "r"(a));"#,
        "`vavg4.u32.u32.u32 %0, %1, %1, %1` is illegal: V0102: `vavg4` is not a video instruction",
    );
}

/// A header that keeps PTX, pasted or written into a string, is not carried over.
#[test]
fn what_is_kept_is_not_carried_over() {
    let source =
        b"void f(unsigned &d, unsigned a) { asm(\"vadd4.u32.u32.u32 %0, %1, %1, %1;\" : \"=r\"(d) : \"r\"(a)); }\n";
    let once = ported(std::str::from_utf8(source).unwrap(), "cuda");
    let header = vop_port::file_with_ptx(&once.functions);
    assert!(header.contains("asm(") && vop_port::is_written(header.as_bytes()));
    let string = format!("const char *s = R\"(\n{}\n)\";\n", std::str::from_utf8(source).unwrap());
    let options = SourceOptions::new("cuda".parse().unwrap()).keep_ptx(true);
    let once = port_source(string.as_bytes(), Language::Cuda, &options).apply(string.as_bytes(), "");
    assert!(std::str::from_utf8(&once).unwrap().contains("asm("));
    let twice = port_source(&once, Language::Cuda, &options).apply(&once, "");
    assert_eq!(std::str::from_utf8(&twice).unwrap(), std::str::from_utf8(&once).unwrap());
}

/// Roots of crates, with comments and marks before the code.
#[test]
fn modules_are_declared_outside_of_comments() {
    let declared =
        |source: &str| vop_port::source::with_module(source.as_bytes()).map(|text| String::from_utf8(text).unwrap());
    assert_eq!(declared("/* a */ use b;\nfn f() {}\n").unwrap(), "mod vop_port;\n/* a */ use b;\nfn f() {}\n");
    assert_eq!(declared("/* a\n b */ use c;\n").unwrap(), "mod vop_port;\n/* a\n b */ use c;\n");
    assert_eq!(declared("\u{feff}use b;\n").unwrap(), "\u{feff}mod vop_port;\nuse b;\n");
    assert_eq!(declared("mod k; mod vop_port; // functions\n"), None);
    assert_eq!(declared("// mod vop_port;\nuse b;\n").unwrap(), "// mod vop_port;\nmod vop_port;\nuse b;\n");
}

/// An operand that completes a word is filled in where the file says its value.
#[test]
fn operands_that_complete_a_word_have_values() {
    becomes(
        r#"asm("vmad.u32.u32.u32.shr%3 %0, %1.b%4, %2.b1, %1;" : "=r"(d) : "r"(a), "r"(b), "n"(7), "n"(2));"#,
        "d = vmad_u32_u32_u32_shr7_a_b2_b_b1(a, b, a);",
    );
    is_left(
        r#"asm("vadd.u32.u32.u32 %0, %1.b%3, %2;" : "=r"(d) : "r"(a), "r"(b), "n"(UNKNOWN));"#,
        "a macro, a format or an operand writes a part of the instruction or of the operands",
    );
}

/// A macro whose argument is the mnemonic.
#[test]
fn a_macro_that_gets_the_mnemonic_is_left() {
    is_left(
        "#define S(x) #x\n#define XS(x) S(x)\n#define BIN(n, ins) unsigned n(unsigned a) { unsigned d; asm(XS(ins) \" %0, %1, %1, %1;\" : \
         \"=r\"(d) : \"r\"(a)); return d; }\nBIN(f, vadd4.u32.u32.u32)\n",
        "a macro, a format or an operand writes a part of the instruction or of the operands",
    );
}

#[test]
fn what_cannot_be_carried_is_left() {
    is_left(
        r#"asm("vadd4.u32.u32 %0, %1, %2, %3;" : "=r"(d) : "r"(a), "r"(b), "r"(c));"#,
        "`vadd4.u32.u32 %0, %1, %2, %3` is illegal: V0203: `vadd4` has three types, of d, a and b; here are 2",
    );
    is_left(
        r#"asm("ld.global.u32 %0, [%1]; vadd4.u32.u32.u32 %0, %0, %0, %0;" : "=r"(d) : "l"(p));"#,
        "`ld.global.u32 %0, [%1]` has no plain equivalent here",
    );
    is_left(r#"asm("vadd4.u32.u32.u32 %0, %1, %1, %1;" : "=r"(d) : "l"(p));"#, "operand `%1` is a 64-bit register");
    is_left(
        r#"asm("vadd4.u32.u32.u32.add %0, %1, %1, %0;" : "=r"(d) : "r"(p));"#,
        "operand `%0` is read before it is written; write `\"+r\"`",
    );
    is_left(
        r#"asm("{.reg .u32 t; mov.u32 t, %1; vadd.u32.u32.u32.add %0, t, t, %0;}" : "=r"(d) : "r"(p));"#,
        "operand `%0` is read before it is written; write `\"+r\"`",
    );
    is_left(
        r#"asm("{.reg .pred q; L: vadd4.u32.u32.u32 %0, %1, %1, %0; @q bra L;}" : "+r"(d) : "r"(p));"#,
        "it has a label, `L: vadd4.u32.u32.u32 %0, %1, %1, %0`",
    );
    is_left(
        r#"asm("vadd4.u32.u32.u32 %0, %1, %1, %2;" : "=r"(d) : "r"(p));"#,
        "`%2` is no operand and no register that the asm declares",
    );
    is_left(
        "#define V(op) asm(\"v\" #op \"4.u32.u32.u32 %0, %1, %1, %1;\" : \"=r\"(d) : \"r\"(p));",
        "a macro, a format or an operand writes a part of the instruction or of the operands",
    );
    is_left(
        "asm(\n#if A\n\"vadd4.u32.u32.u32 %0, %1, %1, %1;\"\n#else\n\"vsub4.u32.u32.u32 %0, %1, %1, %1;\"\n#endif\n: \"=r\"(d) : \"r\"(p));",
        "`#if` or two definitions of a macro give the statement more than one text",
    );
    is_left("const char* s = \"vadd4.u32.u32.u32 d, a, b, c;\";", "it is not the text of an asm statement");
    let python = port_source(
        b"asm('vadd4.u32.u32.u32 d, a, b, c;')",
        Language::Python,
        &SourceOptions::new("c".parse().unwrap()),
    );
    assert_eq!(python.left[0].why, "it is not the text of an asm statement in source that a string holds");
}

#[test]
fn base_instructions_alone_are_carried_or_counted() {
    becomes(r#"asm("prmt.b32 %0, %1, %2, %3;" : "=r"(d) : "r"(a), "r"(b), "r"(c));"#, "d = ptx_prmt_b32(a, b, c);");
    let source = r#"asm("mov.u32 %0, %lanemask_lt;" : "=r"(r)); asm("addl %1, %0" : "+r"(x) : "r"(y)); asm("nop");"#;
    let ported = ported(source, "hip");
    assert_eq!((ported.carried.len(), ported.left.len(), ported.others), (0, 0, 2));
}

#[test]
fn registers_of_other_widths_are_variables_of_other_types() {
    becomes(
        r#"asm("{ .reg .u32 lo, hi; mov.b64 {lo, hi}, %1; vadd4.u32.u32.u32 lo, lo, hi, hi; mul.wide.u32 %0, lo, 5; }" : "=l"(d) : "l"(p[i]));"#,
        "do {\n    unsigned long long vop_0;\n    const unsigned long long vop_1 = (unsigned long long)p[i];\n    \
         unsigned vop_lo;\n    unsigned vop_hi;\n    vop_lo = (unsigned)vop_1;\n    vop_hi = (unsigned)(vop_1 >> 32);\n    \
         vop_lo = vadd4_u32_u32_u32(vop_lo, vop_hi, 0);\n    vop_0 = (unsigned long long)vop_lo * 5;\n    d = vop_0;\n} while (0);",
    );
    becomes(r#"asm("min.s16 %0, %1, %2;" : "=h"(d) : "h"(a), "h"(b));"#, "d = ptx_min_s16(a, b, 0);");
    becomes(r#"asm("cvt.sat.s16.s32 %0, %1;" : "=h"(d) : "r"(a));"#, "d = ptx_cvt_sat_s16_s32(a, 0, 0);");
    for (template, operands, why) in [
        ("vadd.u32.u32.u32 %0, %1, %1;", "\"=r\"(d) : \"h\"(a)", "operand `%1` is a 16-bit register"),
        (
            "add.u64 %0, %1, %1; vadd.u32.u32.u32 %0, %1, %1;",
            "\"=r\"(d) : \"r\"(a)",
            "`add.u64 %0, %1, %1` has no plain equivalent here",
        ),
        (
            "mov.b64 {%1, %0}, %1; vadd.u32.u32.u32 %0, %0, %0;",
            "\"=r\"(d), \"+l\"(a)",
            "`mov.b64 {%1, %0}, %1` has no plain equivalent here",
        ),
        ("mov.b32 %0, %1; vadd.u32.u32.u32 %0, %0, %0;", "\"=r\"(d) : \"f\"(a)", "operand `%1` is an `.f32` register"),
        (
            "mul.hi.u64 %1, %1, %1; vadd.u32.u32.u32 %0, %0, %0;",
            "\"=r\"(d), \"+l\"(a)",
            "`mul.hi.u64 %1, %1, %1` has no plain equivalent here",
        ),
    ] {
        is_left(&format!("asm(\"{template}\" : {operands});"), why);
    }
    // Without a function there is no header.
    let source = r#"asm("add.u64 %0, %1, %1;" : "=l"(d) : "l"(a));"#;
    let text = |target| String::from_utf8(ported(source, target).apply(source.as_bytes(), "vop_port.h")).unwrap();
    assert!(ported(source, "c").functions.is_empty());
    assert!(text("c").starts_with("#include <stdint.h>\ndo {\n    uint64_t vop_0;\n"), "{}", text("c"));
    assert!(text("hip").starts_with("do {\n    unsigned long long vop_0;\n"), "{}", text("hip"));
}

/// Values of 64 bits (x, y), 16 bits (h, k) and 32 bits (a, b), and what an instruction computes of them.
type OfWidths = (&'static str, fn(u64, u64, u16, u16, u32, u32) -> u64);

/// `R` is the result, of 64 bits; `H` that of 16, and `W` that of 32.
#[rustfmt::skip]
const WIDTHS: &[OfWidths] = &[
    ("add.u64 R, x, y;", |x, y, _, _, _, _| x.wrapping_add(y)),
    ("sub.s64 R, x, 0x123456789abcdef0;", |x, _, _, _, _, _| x.wrapping_sub(0x1234_5678_9abc_def0)),
    ("mul.lo.s64 R, x, -3;", |x, _, _, _, _, _| x.wrapping_mul(3).wrapping_neg()),
    ("mad.lo.u64 R, x, y, x;", |x, y, _, _, _, _| x.wrapping_mul(y).wrapping_add(x)),
    ("and.b64 R, x, y;", |x, y, _, _, _, _| x & y),
    ("or.b64 R, x, y;", |x, y, _, _, _, _| x | y),
    ("xor.b64 R, x, -1;", |x, _, _, _, _, _| !x),
    ("not.b64 R, x;", |x, _, _, _, _, _| !x),
    ("neg.s64 R, x;", |x, _, _, _, _, _| x.wrapping_neg()),
    ("min.u64 R, x, y;", |x, y, _, _, _, _| x.min(y)),
    ("max.s64 R, x, y;", |x, y, _, _, _, _| (x as i64).max(y as i64) as u64),
    ("min.s64 R, x, y;", |x, y, _, _, _, _| (x as i64).min(y as i64) as u64),
    ("shl.b64 R, x, a;", |x, _, _, _, a, _| x.checked_shl(a).unwrap_or(0)),
    ("shl.b64 R, x, 13;", |x, _, _, _, _, _| x << 13),
    ("shl.b64 R, x, 64;", |_, _, _, _, _, _| 0),
    ("shr.u64 R, x, b;", |x, _, _, _, _, b| x.checked_shr(b).unwrap_or(0)),
    ("shr.s64 R, x, a;", |x, _, _, _, a, _| (x as i64 >> a.min(63)) as u64),
    ("shr.s64 R, x, 70;", |x, _, _, _, _, _| (x as i64 >> 63) as u64),
    ("mul.wide.u32 R, a, b;", |_, _, _, _, a, b| u64::from(a) * u64::from(b)),
    ("mul.wide.s32 R, a, b;", |_, _, _, _, a, b| (i64::from(a as i32) * i64::from(b as i32)) as u64),
    ("mad.wide.s32 R, a, -7, y;", |_, y, _, _, a, _| ((i64::from(a as i32) * -7) as u64).wrapping_add(y)),
    ("mad.wide.u32 R, a, b, y;", |_, y, _, _, a, b| (u64::from(a) * u64::from(b)).wrapping_add(y)),
    ("cvt.u64.u32 R, a;", |_, _, _, _, a, _| a.into()),
    ("cvt.s64.s32 R, a;", |_, _, _, _, a, _| i64::from(a as i32) as u64),
    ("cvt.u64.s16 R, h;", |_, _, h, _, _, _| i64::from(h as i16) as u64),
    ("cvt.s64.u16 R, h;", |_, _, h, _, _, _| h.into()),
    ("cvt.u64.s8 R, a;", |_, _, _, _, a, _| i64::from(a as i8) as u64),
    ("cvt.u32.u64 W, x;", |x, _, _, _, _, _| u64::from(x as u32)),
    ("cvt.u16.u64 H, x;", |x, _, _, _, _, _| u64::from(x as u16)),
    ("cvt.s16.s32 H, a;", |_, _, _, _, a, _| u64::from(a as u16)),
    ("cvt.sat.s16.s32 H, a;", |_, _, _, _, a, _| u64::from((a as i32).clamp(-32768, 32767) as u16)),
    ("cvt.s32.s16 W, h;", |_, _, h, _, _, _| u64::from(i32::from(h as i16) as u32)),
    ("add.u16 H, h, k;", |_, _, h, k, _, _| h.wrapping_add(k).into()),
    ("not.b16 H, h;", |_, _, h, _, _, _| (!h).into()),
    ("{.reg .b16 %s; mov.b16 %s, -2; or.b16 %s, %s, -32768; mov.b32 W, {%s, k}; }", |_, _, _, k, _, _| u64::from(k) << 16 | 0xfffe),
    ("mov.u16 H, -2;", |_, _, _, _, _, _| 0xfffe),
    ("shr.s16 H, h, a;", |_, _, h, _, a, _| ((i32::from(h as i16) >> a.min(31)) as u16).into()),
    ("min.s16 H, h, k;", |_, _, h, k, _, _| ((h as i16).min(k as i16) as u16).into()),
    ("mad.wide.s16 W, h, k, a;", |_, _, h, k, a, _| u64::from(((i32::from(h as i16) * i32::from(k as i16)) as u32).wrapping_add(a))),
    ("mov.b64 R, {a, b};", |_, _, _, _, a, b| u64::from(b) << 32 | u64::from(a)),
    ("mov.b64 {%w, W}, x; xor.b32 W, W, %w;", |x, _, _, _, _, _| u64::from(x as u32 ^ (x >> 32) as u32)),
    ("mov.b32 W, {h, k};", |_, _, h, k, _, _| u64::from(k) << 16 | u64::from(h)),
    ("mov.b32 {_, H}, a;", |_, _, _, _, a, _| (a >> 16).into()),
    ("mov.b64 R, {h, k, h, h};", |_, _, h, k, _, _| (u64::from(h) * 0x1_0001_0000_0001) | (u64::from(k) << 16)),
    ("setp.lt.s64 %p, x, y; selp.b64 R, x, y, %p;", |x, y, _, _, _, _| (x as i64).min(y as i64) as u64),
    ("setp.hi.s64 %p, x, y; @%p mov.b64 R, y; @!%p mov.b64 R, 5;", |x, y, _, _, _, _| if x > y { y } else { 5 }),
    ("setp.ge.s16 %p, h, k; selp.b16 H, h, k, %p;", |_, _, h, k, _, _| ((h as i16).max(k as i16) as u16).into()),
    ("{.reg .b64 %q; .reg .b16 %s; cvt.s64.s32 %q, a; mov.b64 {%s, _, _, _}, %q; mul.wide.u16 W, %s, %s; }", |_, _, _, _, a, _| u64::from(a as u16) * u64::from(a as u16)),
];

/// A file of another language after `port`, of which nothing is left.
#[track_caller]
fn of_language(source: &str, language: Language, target: &str) -> String {
    let options = SourceOptions::new(target.parse().unwrap());
    let ported = port_source(source.as_bytes(), language, &options);
    assert_eq!(ported.left, [], "{source}");
    let text = String::from_utf8(ported.apply(source.as_bytes(), "vop_port.h")).unwrap();
    assert_eq!(port_source(text.as_bytes(), language, &options).carried, [], "{text}");
    text
}

#[track_caller]
fn is_left_of(source: &str, language: Language, target: &str, why: &str) {
    let ported = port_source(source.as_bytes(), language, &SourceOptions::new(target.parse().unwrap()));
    let found: Vec<&str> = ported.left.iter().map(|left| &left.why[..]).collect();
    assert_eq!(found, [why], "{source}");
    assert!(ported.carried.is_empty());
    assert_eq!(ported.apply(source.as_bytes(), "vop_port.h"), source.as_bytes());
}

#[test]
fn rust_calls_the_functions_of_a_module() {
    let becomes = |source: &str, expected: &str| assert_eq!(of_language(source, Language::Rust, "rust"), expected);
    // Named and positional operands, a template of several strings, options.
    becomes(
        "fn f(a: u32, b: u32) -> u32 { let d: u32; unsafe { asm!(\"vadd4.u32.u32.u32 {d}, {a},\", \"{0}, {};\", in(reg32) b + 1, d = out(reg32) d, a = in(reg32) a, options(pure, nomem)) }; d }",
        "fn f(a: u32, b: u32) -> u32 { let d: u32; unsafe { d = crate::vop_port::vadd4_u32_u32_u32(a, b + 1, 0) }; d }",
    );
    // The types of variables decide how they become words.
    becomes(
        "fn f(a: i32, b: &mut [f32], d: &mut i32) { unsafe { core::arch::asm!(\"vmin.s32.s32.s32 {}, {}, {};\", lateout(reg32) *d, in(reg32) a, in(reg32) b[0]) } }",
        "fn f(a: i32, b: &mut [f32], d: &mut i32) { unsafe { *d = crate::vop_port::vmin_s32_s32_s32(a.cast_unsigned(), (b[0]).to_bits(), 0).cast_signed() } }",
    );
    // What is read and written, one place or two; constants.
    becomes(
        "unsafe { asm!(\"vadd.u32.u32.u32.add {0}, {1}, {2}, {0};\", inout(reg32) sum, in(reg32) x, const 5); }",
        "unsafe { sum = crate::vop_port::vadd_u32_u32_u32_add(x, 5, sum); }",
    );
    becomes(
        "unsafe { asm!(\"vsub4.u32.u32.u32 {0}, {0}, {1}, {1};\", inlateout(reg32) x => y, const K); }",
        "unsafe { y = crate::vop_port::vsub4_u32_u32_u32(x, (K) as u32, 0); }",
    );
    // A block, with a guard, a register and an output that is dropped.
    becomes(
        "    asm!(\n        \"{{ .reg .pred p; .reg .b32 %t;\",\n        \"setp.lt.s32 p, {a}, 3;\",\n        \"mov.b32 %t, {a};\",\n        \"@!p vmax4.u32.u32.u32 {d}, %t, {a}, {a}; }}\",\n        d = inout(reg32) d,\n        a = in(reg32) next(),\n        out(reg32) _,\n    );\n",
        "    {\n        let mut vop_d: u32 = d;\n        let vop_a: u32 = next();\n        let vop_p: u32;\n        let vop_t: u32;\n        \
         vop_p = crate::vop_port::ptx_setp_lt_s32(vop_a, 3, 0);\n        vop_t = vop_a;\n        \
         if vop_p == 0 { vop_d = crate::vop_port::vmax4_u32_u32_u32(vop_t, vop_a, 0); }\n        d = vop_d;\n    };\n",
    );
    for (operands, why) in [
        ("out(reg64) d, in(reg32) a", "operand `%0` is a 64-bit register"),
        ("out(\"r0\") d, in(reg32) a", "the constraint of operand `%0`, out(\"r0\"), is not known"),
        ("out(reg32) d[next()], in(reg32) a", "evaluating operand `%0`, which is written, may change something"),
        ("out(reg32) d, in(reg32) a, options(raw)", "its options say `raw` or `noreturn`"),
        ("out(reg32) d, in(reg32) a, label {}", "it has an operand that is not known"),
    ] {
        is_left_of(
            &format!("asm!(\"vadd4.u32.u32.u32 {{0}}, {{1}}, {{1}}, {{1}};\", {operands});"),
            Language::Rust,
            "rust",
            why,
        );
    }
    is_left_of(
        "asm!(concat!(\"vadd4.\", $t, \" {0}, {1}, {1}, {1};\"), out(reg32) d, in(reg32) a);",
        Language::Rust,
        "rust",
        "a macro, a format or an operand writes a part of the instruction or of the operands",
    );
    is_left_of(
        "asm!(\"vadd4.u32.u32.u32 {0}, {1}, {1}, {1};\", out(reg32) d, in(reg32) a);",
        Language::Rust,
        "hip",
        "files of this language are ported to rust, not to hip",
    );
}

#[test]
fn llvm_ir_calls_functions_that_it_holds() {
    let text = of_language(
        "define i32 @f(i32 %a, i32 %b) {\n  %d = tail call i32 asm sideeffect \"vadd4.u32.u32.u32 $0, $1, $2, $3;\", \"=r,r,r,0\"(i32 %a, i32 noundef %b, i32 -1) #0, !srcloc !1\n  ret i32 %d\n}\n",
        Language::LlvmIr,
        "llvm",
    );
    let (before, functions) = text.split_once("\n\n").unwrap();
    assert_eq!(
        before,
        "define i32 @f(i32 %a, i32 %b) {\n  %d = tail call i32 @vadd4_u32_u32_u32(i32 %a, i32 %b, i32 0) #0, !srcloc !1\n  ret i32 %d\n}"
    );
    assert!(
        functions.contains("define internal i32 @vadd4_u32_u32_u32(i32 %a, i32 %b, i32 %c) nounwind alwaysinline {\n")
    );
    // Several instructions and a guard: every value has a name of its own.
    let text = of_language(
        "  %5 = call i32 asm \"{ .reg .pred p; setp.lt.u32 p, $1, $2; vmax4.u32.u32.u32 $0, $1, $2, $2; @p vsub4.u32.u32.u32 $0, $0, $1, $1; }\", \"=&r,r,r\"(i32 %1, i32 7)\n",
        Language::LlvmIr,
        "llvm",
    );
    assert!(
        text.starts_with(
            "  %vop.16.1 = call i32 @ptx_setp_lt_u32(i32 %1, i32 7, i32 0)\n  %vop.16.2 = call i32 @vmax4_u32_u32_u32(i32 %1, i32 7, i32 0)\n  \
             %vop.16.3 = call i32 @vsub4_u32_u32_u32(i32 %vop.16.2, i32 %1, i32 0)\n  %5 = call i32 @ptx_selp_b32(i32 %vop.16.3, i32 %vop.16.2, i32 %vop.16.1)\n"
        ),
        "{text}"
    );
    for (call, why) in [
        (
            "call { i32, i32 } asm \"vadd4.u32.u32.u32 $0, $2, $2, $2; mov.b32 $1, $2;\", \"=r,=r,r\"(i32 %a)",
            "its result is `{ i32, i32 }`, and not `i32`",
        ),
        ("call i64 asm \"vadd4.u32.u32.u32 $0, $1, $1, $1;\", \"=l,r\"(i32 %a)", "operand `%0` is a 64-bit register"),
        (
            "call i32 asm \"vadd4.u32.u32.u32 $0, $1, $1, $1;\", \"=r,r\"(float %a)",
            "operand `$1` is `float %a`, and not an `i32`",
        ),
        ("call void asm \"vadd4.u32.u32.u32 $0, $1, $1, $1;\", \"=*r,r\"(ptr %p, i32 %a)", "operand `%0` is in memory"),
        (
            "invoke i32 asm \"vadd4.u32.u32.u32 $0, $1, $1, $1;\", \"=r,r\"(i32 %a)",
            "it is not called by `call` in one line",
        ),
    ] {
        is_left_of(&format!("  %d = {call}\n"), Language::LlvmIr, "llvm", why);
    }
}

const KERNEL: &str = "uint f(uint a) { uint d; asm(\"vavrg4.u32.u32.u32 %0, %1, %2, %2;\" : \"=r\"(d) : \"r\"(a), \"r\"(7)); return d; }";

/// Source in strings gets its functions there, in which nothing else is included.
#[test]
fn strings_that_hold_source_hold_the_functions() {
    let call = "d = vavrg4_u32_u32_u32(a, 7, 0); return d; }";
    let text = of_language(&format!("K = r\"\"\"\n#include <x>\n{KERNEL}\n\"\"\"\n"), Language::Python, "opencl");
    assert!(text.starts_with("K = r\"\"\"\n#include <x>\n#ifndef vavrg4_u32_u32_u32_of_vop\n#define vavrg4_u32_u32_u32_of_vop\n/* vavrg4.u32.u32.u32 d, a, b, c\n"), "{text}");
    assert!(text.ends_with(&format!("#endif\nuint f(uint a) {{ uint d; {call}\n\"\"\"\n")), "{text}");
    let text = of_language(&format!("const char* k = R\"cl({KERNEL})cl\";\n"), Language::Cuda, "opencl");
    assert!(text.starts_with("const char* k = R\"cl(#ifndef") && text.ends_with(&format!("{call})cl\";\n")), "{text}");
    // A line break behind the quotes stays there.
    let text = of_language(&format!("K = \"\"\"\n{KERNEL}\n\"\"\"\n"), Language::Python, "opencl");
    assert!(text.starts_with("K = \"\"\"\n#ifndef"), "{text}");
    // Lines of C, of which one statement may be several.
    let lines = KERNEL.replace('"', "\\\"").replace(" : \\\"=r", "\\n\"\n  \" : \\\"=r");
    let text = of_language(&format!("const char* k =\n  \"{lines}\\n\";\n"), Language::Cuda, "opencl");
    assert!(text.starts_with("const char* k =\n  \"#ifndef vavrg4_u32_u32_u32_of_vop\\n\"\n  \"#define"), "{text}");
    assert!(text.ends_with(&format!("  \"uint f(uint a) {{ uint d; {call}\\n\";\n")), "{text}");
    // A file's own statement includes the header, and a string's does not.
    let both = format!(
        "const char* k = R\"({KERNEL})\";\nvoid g() {{ asm(\"vmin.u32.u32.u32 %0, %1, %1;\" : \"=r\"(d) : \"r\"(a)); }}\n"
    );
    let ported = port_source(both.as_bytes(), Language::Cuda, &SourceOptions::new("cuda".parse().unwrap()));
    assert_eq!((ported.functions.len(), ported.within.len()), (1, 1));
    let text = String::from_utf8(ported.apply(both.as_bytes(), "vop_port.h")).unwrap();
    assert!(text.starts_with("#include \"vop_port.h\"\nconst char* k = R\"(#ifndef"), "{text}");
    assert!(text.ends_with("d = vmin_u32_u32_u32(a, a, 0); }\n"), "{text}");
    for (source, why) in [
        (
            format!("K = f\"\"\"{}\"\"\"", KERNEL.replace('{', "{{").replace('}', "}}")),
            "its string is formatted or changed before it is compiled",
        ),
        (
            format!("K = \"\"\"{}\"\"\"", KERNEL.replace('{', "{{").replace('}', "}}")),
            "its string is formatted or changed before it is compiled",
        ),
        (
            format!("K = \"\"\"{}\"\"\" % n", KERNEL.replace("%", "%%")),
            "its string is formatted or changed before it is compiled",
        ),
        (
            format!("K = (\"\"\"{KERNEL}\"\"\").replace('f', 'g')"),
            "its string is formatted or changed before it is compiled",
        ),
        (format!("K = \"\"\"{KERNEL}\"\"\" + more"), "another text is a part of its string"),
        (format!("K = '{}'", KERNEL), "functions do not fit into a string of one line; write it with three quotes"),
        (
            format!("K = \"\"\"{}\"\"\"", KERNEL.split_once("d; ").unwrap().1.trim_end_matches(" return d; }")),
            "its string begins inside a function, so that there is no place for other functions",
        ),
    ] {
        is_left_of(&source, Language::Python, "opencl", why);
    }
    is_left_of(
        &format!("#define K R\"({KERNEL})\"\n"),
        Language::Cuda,
        "opencl",
        "it stands in a string of a macro's body, where no functions can be put",
    );
    is_left_of(
        "d = tl.inline_asm_elementwise(\"vadd4.u32.u32.u32 $0, $1, $2, $3;\", \"=r,r,r,r\", [a, b, c])",
        Language::Python,
        "cuda",
        "it is not the text of an asm statement in source that a string holds",
    );
}

/// A small generator.
struct Random(u64);

impl Random {
    fn next(&mut self) -> u32 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        (self.0 >> 16) as u32
    }

    fn form(&mut self) -> Form {
        let mnemonic = Mnemonic::ALL[self.next() as usize % Mnemonic::ALL.len()];
        let forms = mnemonic.forms();
        let count = forms.count_left();
        forms
            .get((u64::from(self.next()) << 32 | u64::from(self.next())) % count)
            .expect("the index is less than the count")
    }
}

/// An instruction of a form with these registers.
fn instruction(form: Form, [d, a, b, c]: [&str; 4]) -> String {
    let text = form.to_string();
    let (opcode, operands) = text.split_once(' ').expect("a form has operands");
    let names = [("d", d), ("a", a), ("b", b), ("c", c)];
    let renamed = operands.split(", ").map(|operand| {
        let (minus, operand) = operand.strip_prefix('-').map_or(("", operand), |rest| ("-", rest));
        let (register, selector) = operand.split_at(operand.find('.').unwrap_or(operand.len()));
        let name = names.iter().find(|(from, _)| *from == register).map_or(register, |(_, to)| to);
        format!("{minus}{name}{selector}")
    });
    format!("{opcode} {};", renamed.collect::<Vec<_>>().join(", "))
}

/// Statements of random forms, alone and with base instructions, guards and registers, computed by the program that gcc makes of the
/// ported text, and by evaluation.
#[test]
fn the_ported_text_computes_what_the_asm_does() {
    if Command::new("gcc").arg("--version").output().is_err() {
        eprintln!("skipped: there is no gcc");
        return;
    }
    let mut random = Random(0x1234_5678_9abc_def1);
    let mut source = String::from("#include <stdint.h>\n#include <stdio.h>\n");
    let mut evaluations: Vec<Evaluation> = Vec::new();
    for number in 0..240 {
        let (f, g) = (random.form(), random.form());
        let eval = |form: Form| move |a: u32, b: u32, c: u32| form.eval(a, b, c);
        let (f_of, g_of) = (eval(f), eval(g));
        let (asm, evaluation): (String, Evaluation) = match number % 4 {
            0 => (
                format!("\"{}\" : \"=r\"(d) : \"r\"(a), \"r\"(b), \"r\"(c)", instruction(f, ["%0", "%1", "%2", "%3"])),
                Box::new(f_of),
            ),
            // Into itself, with a register of its own.
            1 => (
                format!(
                    "\"{{ .reg .u32 t; {} {} }}\" : \"+r\"(d) : \"r\"(a), \"r\"(b)",
                    instruction(f, ["t", "%1", "%2", "%0"]),
                    instruction(g, ["%0", "t", "%1", "%0"]),
                ),
                Box::new(move |a, b, c| g_of(f_of(a, b, c), a, c)),
            ),
            2 => (
                format!(
                    "\"{{ .reg .pred p; setp.lt.s32 p, %1, %2; @p {} @!p sub.s32 %0, %0, %1; }}\" : \"=r\"(d) : \"r\"(a), \"r\"(b), \"0\"(c)",
                    instruction(f, ["%0", "%1", "%2", "%0"]),
                ),
                Box::new(move |a, b, c| if (a as i32) < b as i32 { f_of(a, b, c) } else { c.wrapping_sub(a) }),
            ),
            _ => (
                format!(
                    "\"{{ .reg .b32 t<2>; bfe.s32 t0, %[x], 5, 9; prmt.b32 t1, t0, %[y], 0x2a61; \" \"{} }}\" \
                     : [r] \"=&r\"(d) : [x] \"r\"(a), [y] \"r\"(b), [z] \"r\"(c)",
                    instruction(f, ["%[r]", "t0", "t1", "%[z]"]),
                ),
                Box::new(move |a, b, c| {
                    let t0 = ((a << 18) as i32 >> 23) as u32;
                    let bytes: Vec<u8> = t0.to_le_bytes().into_iter().chain(b.to_le_bytes()).collect();
                    let t1 =
                        u32::from_le_bytes([bytes[1], bytes[6], if bytes[2] & 0x80 != 0 { 0xff } else { 0 }, bytes[2]]);
                    f_of(t0, t1, c)
                }),
            ),
        };
        writeln!(
            source,
            "uint32_t f{number}(uint32_t a, uint32_t b, uint32_t c) {{ uint32_t d = c; asm({asm}); return d; }}"
        )
        .unwrap();
        evaluations.push(evaluation);
    }
    let count = evaluations.len();
    let list: Vec<String> = (0..count).map(|i| format!("f{i}")).collect();
    let edges = [0, 1, 0x7f, 0x80, 0xff, 0x7fff, 0x8000, 0xffff, 0x7fff_ffff, 0x8000_0000, 0xffff_ffff, 0x80ff_7f01];
    let mut inputs: Vec<[u32; 3]> = (0..40).map(|_| [random.next(), random.next(), random.next()]).collect();
    inputs.extend((0..40).map(|_| std::array::from_fn(|_| edges[random.next() as usize % edges.len()])));
    let rows: Vec<String> = inputs.iter().map(|[a, b, c]| format!("{{{a}u, {b}u, {c}u}}")).collect();
    writeln!(
        source,
        "static const uint32_t in[][3] = {{{}}};\nstatic uint32_t (*const all[])(uint32_t, uint32_t, uint32_t) = {{{}}};\n\
         int main(void) {{ for (int f = 0; f < {count}; f++) for (int i = 0; i < {}; i++) \
         printf(\"%x\\n\", (unsigned)all[f](in[i][0], in[i][1], in[i][2])); return 0; }}",
        rows.join(", "),
        list.join(", "),
        inputs.len(),
    )
    .unwrap();
    let ported = ported(&source, "c");
    assert_eq!(ported.left, []);
    assert_eq!(ported.carried.len(), count);
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(folder.path().join("ported.c"), ported.apply(source.as_bytes(), "vop_port.h")).unwrap();
    std::fs::write(folder.path().join("vop_port.h"), vop_port::file(&ported.functions)).unwrap();
    let gcc = Command::new("gcc")
        .args([
            "-std=gnu99",
            "-O1",
            "-Wall",
            "-Wextra",
            "-Werror",
            "-Wno-unused",
            "-Wno-unused-parameter",
            "-fsanitize=undefined",
        ])
        .args(["-fno-sanitize-recover=all", "ported.c", "-o", "ported"])
        .current_dir(folder.path())
        .output()
        .unwrap();
    assert!(gcc.status.success(), "{}", String::from_utf8_lossy(&gcc.stderr));
    let run = Command::new(folder.path().join("ported")).output().unwrap();
    assert!(run.status.success(), "{}", String::from_utf8_lossy(&run.stderr));
    let text = String::from_utf8(run.stdout).unwrap();
    let mut values = text.lines();
    for (number, evaluation) in evaluations.iter().enumerate() {
        for &[a, b, c] in &inputs {
            let wanted = format!("{:x}", evaluation(a, b, c));
            assert_eq!(values.next(), Some(&wanted[..]), "f{number} of {a:#x}, {b:#x}, {c:#x}");
        }
    }
    assert_eq!(values.next(), None);
}

/// Instructions of 64-bit and 16-bit integers, in C and C++, compared with what Rust computes.
#[test]
fn registers_of_other_widths_compute_what_the_asm_does() {
    if !has("gcc") || !has("g++") {
        return;
    }
    let mut source = String::from("#include <stdint.h>\n#include <stdio.h>\n");
    for (number, (template, _)) in WIDTHS.iter().enumerate() {
        let mut template = format!("{{.reg .pred %p; .reg .b32 %w; {template}}}");
        for (name, operand) in [
            ("R", "%0"),
            ("H", "%1"),
            ("W", "%2"),
            ("x", "%3"),
            ("y", "%4"),
            ("h", "%5"),
            ("k", "%6"),
            ("a", "%7"),
            ("b", "%8"),
        ] {
            for before in [" ", "{", "!"] {
                for behind in [",", ";", "}"] {
                    template =
                        template.replace(&format!("{before}{name}{behind}"), &format!("{before}{operand}{behind}"));
                }
            }
        }
        writeln!(
            source,
            "uint64_t f{number}(uint64_t x, uint64_t y, uint16_t h, int16_t k, uint32_t a, int32_t b) {{\n    uint64_t r = 0;\n    int16_t s = 0;\n    \
             int32_t w = 0;\n    asm(\"{template}\" : \"+l\"(r), \"+h\"(s), \"+r\"(w) : \"l\"(x), \"l\"(y), \"h\"(h), \"h\"(k), \"r\"(a), \"r\"(b));\n    \
             return r | (uint16_t)s | (uint32_t)w;\n}}"
        )
        .unwrap();
    }
    let mut random = Random(0x7777_1234_5678_9abc);
    let mut inputs: Vec<(u64, u64, u16, u16, u32, u32)> = Vec::new();
    for i in 0..60 {
        let edge = |n: u32| {
            [0, 1, 7, 15, 16, 31, 32, 33, 63, 64, 0x7fff, 0x8000, 0xffff, 0x7fff_ffff, 0x8000_0000, u32::MAX]
                [n as usize % 16]
        };
        let mut next = || if i % 2 == 0 { random.next() } else { edge(random.next()) };
        let mut long = || u64::from(next()) << 32 | u64::from(next());
        let (x, y) = (long(), long());
        inputs.push((x, y, next() as u16, next() as u16, next(), next()));
    }
    let rows: String =
        inputs.iter().map(|(x, y, h, k, a, b)| format!("{{{x}ull, {y}ull, {h}, {k}, {a}, {b}}}, ")).collect();
    let list: Vec<String> = (0..WIDTHS.len()).map(|i| format!("f{i}")).collect();
    writeln!(
        source,
        "static const uint64_t in[][6] = {{{rows}}};\nstatic uint64_t (*const all[])(uint64_t, uint64_t, uint16_t, int16_t, uint32_t, int32_t) = {{{}}};\n\
         int main(void) {{ for (int f = 0; f < {}; f++) for (int i = 0; i < {}; i++) printf(\"%llx\\n\", (unsigned long long)all[f](in[i][0], \
         in[i][1], (uint16_t)in[i][2], (int16_t)in[i][3], (uint32_t)in[i][4], (int32_t)in[i][5])); return 0; }}",
        list.join(", "),
        list.len(),
        inputs.len(),
    )
    .unwrap();
    for (target, compiler, file) in
        [("c", "gcc", "ported.c"), ("cpp", "g++", "ported.cpp"), ("hip", "g++", "ported.hip.cpp")]
    {
        let ported = ported(&source, target);
        assert_eq!((&ported.left[..], ported.carried.len(), ported.others), (&[][..], WIDTHS.len(), 0));
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path();
        std::fs::write(path.join(file), ported.apply(source.as_bytes(), "vop_port.h")).unwrap();
        std::fs::write(path.join("vop_port.h"), vop_port::file(&ported.functions)).unwrap();
        let args = [
            "-O1",
            "-Wall",
            "-Wextra",
            "-Werror",
            "-Wno-unused",
            "-D__host__=",
            "-D__device__=",
            "-fsanitize=undefined",
            "-fsanitize-undefined-trap-on-error",
            "-o",
            "ported",
            file,
        ];
        output(path, compiler, &args);
        let text = output(path, path.join("ported").to_str().unwrap(), &[]);
        let mut values = text.lines();
        for (template, evaluation) in WIDTHS {
            for &(x, y, h, k, a, b) in &inputs {
                let wanted = format!("{:x}", evaluation(x, y, h, k, a, b));
                assert_eq!(
                    values.next(),
                    Some(&wanted[..]),
                    "{target}: {template} {x:#x} {y:#x} {h:#x} {k:#x} {a:#x} {b:#x}"
                );
            }
        }
    }
}

fn has(tool: &str) -> bool {
    let found = Command::new(tool).arg("--version").output().is_ok();
    if !found {
        eprintln!("skipped: there is no {tool}");
    }
    found
}

/// Runs a command in a folder; what it prints.
#[track_caller]
fn output(folder: &std::path::Path, program: &str, args: &[&str]) -> String {
    let output = Command::new(program).args(args).current_dir(folder).output().unwrap();
    assert!(output.status.success(), "{program}: {}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8(output.stdout).unwrap()
}

type Evaluation = Box<dyn Fn(u32, u32, u32) -> u32>;

/// Random forms in statements of Rust or LLVM IR: one instruction, or several with a register and a guard. `write` gets the number of the
/// function, the template with operands as in C, and whether d is read before.
fn random_statements(count: usize, mut write: impl FnMut(usize, &str, bool)) -> Vec<Evaluation> {
    let mut random = Random(0x0fed_cba9_8765_4321);
    let mut all: Vec<Evaluation> = Vec::new();
    for number in 0..count {
        let f = random.form();
        if number % 2 == 0 {
            write(number, &instruction(f, ["%0", "%1", "%2", "%3"]), false);
            all.push(Box::new(move |a, b, c| f.eval(a, b, c)));
            continue;
        }
        let template = format!(
            "{{ .reg .pred p; .reg .b32 t; setp.lt.s32 p, %1, %2; xor.b32 t, %2, 0x55; @!p {} @p mov.b32 %0, t; }}",
            instruction(f, ["%0", "%1", "t", "%0"]),
        );
        write(number, &template, true);
        all.push(Box::new(move |a, b, c| if (a as i32) < b as i32 { b ^ 0x55 } else { f.eval(a, b ^ 0x55, c) }));
    }
    all
}

const INPUTS: [[u32; 3]; 10] = [
    [0, 0, 0],
    [1, 2, 3],
    [0xffff_ffff, 1, 0x8000_0000],
    [0x7fff_ffff, 0x8000_0000, 0xffff_ffff],
    [0x80ff_7f01, 0x017f_ff80, 0x1234_5678],
    [0xdead_beef, 0x0bad_f00d, 0x7f80_0001],
    [0x0102_0304, 0xfffe_fdfc, 0xffc0_0000],
    [0x8000_8000, 0x7fff_7fff, 0x0001_0001],
    [31, 33, 0x0001_0000],
    [0x5555_5555, 0xaaaa_aaaa, 0x0f0f_0f0f],
];

#[track_caller]
fn compare(printed: &str, evaluations: &[Evaluation]) {
    let mut values = printed.lines();
    for (number, evaluation) in evaluations.iter().enumerate() {
        for [a, b, c] in INPUTS {
            let wanted = format!("{:x}", evaluation(a, b, c));
            assert_eq!(values.next(), Some(&wanted[..]), "f{number} of {a:#x}, {b:#x}, {c:#x}");
        }
    }
    assert_eq!(values.next(), None);
}

/// The parameters are an unsigned word, a signed one and a float.
#[test]
fn ported_rust_computes_what_the_asm_does() {
    if !has("rustc") {
        return;
    }
    let mut source = String::from("use core::arch::asm;\n");
    let evaluations = random_statements(120, |number, template, updates| {
        let template = template.replace("{ .reg", "{{ .reg").replace("; }", "; }}");
        let template = template.replace("%0", "{d}").replace("%1", "{0}").replace("%2", "{}").replace("%3", "{c}");
        // Positional operands stand before named ones.
        let template = template.replace("{}", "{1}");
        let (d, c) = if updates { ("inout", "c = const 1") } else { ("out", "c = in(reg32) c") };
        writeln!(
            source,
            "fn f{number}(a: u32, b: i32, c: f32) -> u32 {{\n    let mut d: u32 = c.to_bits();\n    unsafe {{ asm!(\"{template}\", in(reg32) a, \
             in(reg32) b, d = {d}(reg32) d, {c}); }}\n    d\n}}"
        )
        .unwrap();
    });
    let list: Vec<String> = (0..evaluations.len()).map(|i| format!("f{i}")).collect();
    writeln!(
        source,
        "fn main() {{ let all: &[fn(u32, i32, f32) -> u32] = &[{}]; for f in all {{ for [a, b, c] in {INPUTS:?} {{ \
         let (a, b, c): (u32, u32, u32) = (a, b, c); println!(\"{{:x}}\", f(a, b.cast_signed(), f32::from_bits(c))); }} }} }}",
        list.join(", ")
    )
    .unwrap();
    let options = SourceOptions::new("rust".parse().unwrap());
    let ported = port_source(source.as_bytes(), Language::Rust, &options);
    assert_eq!((&ported.left[..], ported.carried.len()), (&[][..], evaluations.len()));
    let folder = tempfile::tempdir().unwrap();
    let text = vop_port::source::with_module(&ported.apply(source.as_bytes(), "")).unwrap();
    let allowed = "#![allow(unused_imports, unused_unsafe, unused_assignments, unused_variables, unused_mut)]\n";
    std::fs::write(folder.path().join("main.rs"), [allowed.as_bytes(), &text].concat()).unwrap();
    std::fs::write(folder.path().join("vop_port.rs"), vop_port::file(&ported.functions)).unwrap();
    let args = ["--edition=2021", "-Dwarnings", "-Coverflow-checks=on", "-o", "main", "main.rs"];
    output(folder.path(), "rustc", &args);
    compare(&output(folder.path(), folder.path().join("main").to_str().unwrap(), &[]), &evaluations);
}

#[test]
fn ported_llvm_ir_computes_what_the_asm_does() {
    if !has("clang") {
        return;
    }
    let mut source = String::new();
    let evaluations = random_statements(120, |number, template, updates| {
        let template = template.replace('%', "$");
        let last = if updates { "0" } else { "r" };
        writeln!(
            source,
            "define i32 @f{number}(i32 %a, i32 %b, i32 %c) {{\n  %d = call i32 asm \"{template}\", \"=r,r,r,{last}\"(i32 %a, i32 %b, i32 %c)\n  \
             ret i32 %d\n}}"
        )
        .unwrap();
    });
    let list: Vec<String> = (0..evaluations.len()).map(|i| format!("f{i}")).collect();
    let main = format!(
        "#include <stdio.h>\nunsigned {}(unsigned, unsigned, unsigned);\nstatic const unsigned in[][3] = {{{}}};\n\
         static unsigned (*const all[])(unsigned, unsigned, unsigned) = {{{}}};\nint main(void) {{ for (int f = 0; f < {}; f++) \
         for (int i = 0; i < {}; i++) printf(\"%x\\n\", all[f](in[i][0], in[i][1], in[i][2])); return 0; }}\n",
        list.join("(unsigned, unsigned, unsigned), "),
        INPUTS.map(|[a, b, c]| format!("{{{a}u, {b}u, {c}u}}")).join(", "),
        list.join(", "),
        list.len(),
        INPUTS.len(),
    );
    let text = of_language(&source, Language::LlvmIr, "llvm");
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(folder.path().join("ported.ll"), text).unwrap();
    std::fs::write(folder.path().join("main.c"), main).unwrap();
    output(folder.path(), "clang", &["-Wno-override-module", "-O1", "-o", "main", "main.c", "ported.ll"]);
    compare(&output(folder.path(), folder.path().join("main").to_str().unwrap(), &[]), &evaluations);
}

/// A program of C++ prints the source that its strings hold; the source is compiled and run.
#[test]
fn ported_strings_compute_what_the_asm_does() {
    if !has("g++") || !has("python3") {
        return;
    }
    let mut kernels = String::new();
    let evaluations = random_statements(40, |number, template, updates| {
        let last = if updates { "\"0\"(c)" } else { "\"r\"(c)" };
        writeln!(
            kernels,
            "static uint32_t f{number}(uint32_t a, uint32_t b, uint32_t c) {{\n    uint32_t d;\n    asm(\"{template}\"\n        : \"=r\"(d) : \
             \"r\"(a), \"r\"(b), {last});\n    return d;\n}}"
        )
        .unwrap();
    });
    let list: Vec<String> = (0..evaluations.len()).map(|i| format!("f{i}")).collect();
    let main = format!(
        "#include <stdio.h>\nstatic const unsigned in[][3] = {{{}}};\nstatic uint32_t (*const all[])(uint32_t, uint32_t, uint32_t) = {{{}}};\n\
         int main(void) {{ for (int f = 0; f < {}; f++) for (int i = 0; i < {}; i++) printf(\"%x\\n\", (unsigned)all[f](in[i][0], \
         in[i][1], in[i][2])); return 0; }}\n",
        INPUTS.map(|[a, b, c]| format!("{{{a}u, {b}u, {c}u}}")).join(", "),
        list.join(", "),
        list.len(),
        INPUTS.len(),
    );
    let lines: String = kernels
        .lines()
        .map(|line| format!("    \"{}\\n\"\n", line.replace('\\', "\\\\").replace('"', "\\\"")))
        .collect();
    let program = |literal: &str| {
        format!("#include <cstdio>\nstatic const char* text =\n{literal};\nint main() {{ fputs(text, stdout); }}\n")
    };
    let strings = [
        (program(&lines), Language::Cuda),
        (program(&format!("R\"k({kernels})k\"")), Language::Cuda),
        (format!("text = \"\"\"\\\n{kernels}\"\"\"\nprint(text)\n"), Language::Python),
    ];
    for (source, language) in strings {
        let text = of_language(&source, language, "c");
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path();
        let kernels = if language == Language::Python {
            std::fs::write(path.join("text.py"), text).unwrap();
            output(path, "python3", &["text.py"])
        } else {
            std::fs::write(path.join("text.cpp"), text).unwrap();
            output(path, "g++", &["-o", "text", "text.cpp"]);
            output(path, path.join("text").to_str().unwrap(), &[])
        };
        std::fs::write(path.join("kernels.c"), kernels + &main).unwrap();
        let args = [
            "-O1",
            "-x",
            "c",
            "-fsanitize=undefined",
            "-fsanitize-undefined-trap-on-error",
            "-o",
            "kernels",
            "kernels.c",
        ];
        output(path, "gcc", &args);
        compare(&output(path, path.join("kernels").to_str().unwrap(), &[]), &evaluations);
    }
}

/// Several calls stand before their line, so the line must begin with the statement.
#[test]
fn llvm_ir_with_a_label_or_two_statements_in_a_line_is_left() {
    let one = "call i32 asm \"vadd4.u32.u32.u32 $0, $1, $1, $1;\", \"=r,r\"(i32 %a)";
    let two = "call i32 asm \"vadd4.u32.u32.u32 $0, $1, $1, $1; vsub4.u32.u32.u32 $0, $0, $1, $1;\", \"=r,r\"(i32 %x)";
    for line in [format!("  %x = {one} %y = {two}\n"), format!("bb: %y = {two}\n")] {
        let ported = port_source(line.as_bytes(), Language::LlvmIr, &SourceOptions::new("llvm".parse().unwrap()));
        let found: Vec<&str> = ported.left.iter().map(|left| &left.why[..]).collect();
        assert_eq!(found, ["a label or another instruction stands before it in its line"], "{line}");
    }
}
