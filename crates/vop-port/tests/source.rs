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
        "#define ADD(d, a) d = vadd_u32_u32_u32(a, (1, b), 0)\n",
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
    assert_eq!(python.left[0].why, "calls are written into files in C's syntax only");
}

#[test]
fn base_instructions_alone_are_carried_or_counted() {
    becomes(r#"asm("prmt.b32 %0, %1, %2, %3;" : "=r"(d) : "r"(a), "r"(b), "r"(c));"#, "d = ptx_prmt_b32(a, b, c);");
    let source = r#"asm("mov.u32 %0, %lanemask_lt;" : "=r"(r)); asm("addl %1, %0" : "+r"(x) : "r"(y)); asm("nop");"#;
    let ported = ported(source, "hip");
    assert_eq!((ported.carried.len(), ported.left.len(), ported.others), (0, 0, 2));
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
    type Evaluation = Box<dyn Fn(u32, u32, u32) -> u32>;
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
