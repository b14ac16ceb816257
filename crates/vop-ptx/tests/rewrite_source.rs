//! What `rewrite_source` makes of files, byte by byte.

#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

use vop::Code;
use vop_ptx::find::Language;
use vop_ptx::rewrite::{RewriteOptions, RewrittenSource, rewrite_source};

fn rewritten(source: &str, language: Language, target: &str) -> (String, RewrittenSource) {
    let rewritten = rewrite_source(source.as_bytes(), language, &RewriteOptions::new(target.parse().unwrap()));
    (String::from_utf8(rewritten.apply(source.as_bytes())).unwrap(), rewritten)
}

#[track_caller]
fn becomes(language: Language, source: &str, expected: &str) {
    let (text, first) = rewritten(source, language, "sm_90");
    assert_eq!(text, expected);
    assert_eq!(first.left, []);
    // What was written is no video instruction, or is cheapest as it is.
    let (again, second) = rewritten(&text, language, "sm_90");
    assert!(second.is_empty() && second.left.is_empty(), "{again}");
}

#[track_caller]
fn is_left(language: Language, source: &str, why: &str) {
    let (text, rewritten) = rewritten(source, language, "sm_90");
    assert_eq!(text, source);
    let whys: Vec<&str> = rewritten.left.iter().map(|left| left.why.as_str()).collect();
    assert_eq!(whys, [why], "{source}");
}

const ASM: &str = r#" : "=r"(d) : "r"(a), "r"(b), "r"(c));"#;

#[test]
fn literals_of_c_are_divided() {
    // What stands around stays, tabs are kept, and lines end as the file's do.
    becomes(
        Language::Cuda,
        &format!("int x;\r\n\tasm(\"mov.b32 %0, 1; vmin.u32.u32.u32 %0, %1, %2 ;\\n\" \"add.u32 %0, %0, 1;\"{ASM}\r\n"),
        &format!(
            "int x;\r\n\tasm(\"mov.b32 %0, 1; {{ \" /* vmin.u32.u32.u32 %0, %1, %2 ; */\r\n\t    \"min.u32 %0, %1, %2; \"\r\n\t    \
             \"}}\\n\" \"add.u32 %0, %0, 1;\"{ASM}\r\n"
        ),
    );
    // Names, guards and registers of the asm's own.
    becomes(
        Language::OpenCl,
        "asm(\"{ .reg .pred p; @!p vmin.u32.u32.u32 %[d], %%r1, %[a]; }\" : [d] \"+r\"(d) : [a] \"r\"(a));",
        "asm(\"{ .reg .pred p; { \" /* @!p vmin.u32.u32.u32 %[d], %%r1, %[a]; */\n    \"@!p min.u32 %[d], %%r1, %[a]; \"\n    \"} }\" : [d] \
         \"+r\"(d) : [a] \"r\"(a));",
    );
    // In a macro's body the block stands on one line, for all uses.
    becomes(
        Language::Cuda,
        "#define MIN(d, a) \\\n    asm(\"vmin.u32.u32.u32 %0, %1, %1;\" : \"=r\"(d) : \"r\"(a))\nMIN(x, y); MIN(z, w);\n",
        "#define MIN(d, a) \\\n    asm(\"{ min.u32 %0, %1, %1; }\" : \"=r\"(d) : \"r\"(a))\nMIN(x, y); MIN(z, w);\n",
    );
    // A raw string has lines of its own.
    becomes(
        Language::Cuda,
        &format!("asm(R\"(\n  vmin.u32.u32.u32 %0, %1, %2;\n)\"{ASM}"),
        &format!("asm(R\"(\n  {{\n      min.u32 %0, %1, %2;\n  }}\n)\"{ASM}"),
    );
}

#[test]
fn names_of_a_block_hide_no_operand() {
    let (text, _) = rewritten(
        "asm(\"{ .reg .b32 t1, t2; vavrg4.u32.u32.u32 t2, t1, %1, t1; mov.b32 %0, t2; }\" : \"=r\"(d) : \"r\"(a));",
        Language::Cuda,
        "sm_90",
    );
    assert!(text.contains(".reg .b32 v_t<") && text.contains("t1, %1"), "{text}");
    // d is written last, so that it may share a register with an input.
    let block = &text[text.find("/* vavrg4").unwrap()..text.find("mov.b32 %0").unwrap()];
    let writes = block.matches(" t2,").count();
    assert_eq!(writes, 2, "{text}"); // in the comment and in the last line
}

#[test]
fn other_languages() {
    becomes(
        Language::Python,
        "asm = \"vmin.u32.u32.u32 $0, $1, $2;\", \"=r,r,r\"\n",
        "asm = \"{ min.u32 $0, $1, $2; }\", \"=r,r,r\"\n",
    );
    becomes(
        Language::Python,
        "K = '''\n__device__ void f() {\n    asm(\"vmin.u32.u32.u32 %0, %1, %1;\" : \"=r\"(d) : \"r\"(a));\n}\n'''\n",
        "K = '''\n__device__ void f() {\n    asm(\"{ min.u32 %0, %1, %1; }\" : \"=r\"(d) : \"r\"(a));\n}\n'''\n",
    );
    // A format string has doubled braces.
    becomes(
        Language::Python,
        "K = f'''\n  // {name}\n  {{ vmin.u32.u32.u32 d, a, b; }}\n'''\n",
        "K = f'''\n  // {name}\n  {{ {{ min.u32 d, a, b; }} }}\n'''\n",
    );
    becomes(
        Language::Rust,
        "    asm!(\"vmin.u32.u32.u32 {d}, {a}, {a};\", d = out(reg32) d, a = in(reg32) a);\n",
        "    asm!(\"{{\n            min.u32 {d}, {a}, {a};\n        }}\", d = out(reg32) d, a = in(reg32) a);\n",
    );
    becomes(
        Language::LlvmIr,
        "%d = call i32 asm \"vmin.u32.u32.u32 $0, $1, $2;\", \"=r,r,r\"(i32 %a, i32 %b)",
        "%d = call i32 asm \"{ min.u32 $0, $1, $2; }\", \"=r,r,r\"(i32 %a, i32 %b)",
    );
}

#[test]
fn what_cannot_be_written_is_left() {
    let cuda = |source: &str, why: &str| is_left(Language::Cuda, source, why);
    cuda(
        "#define OP(o) asm(\"v\" #o \".u32.u32.u32 %0, %1, %1;\" : \"=r\"(d) : \"r\"(a))\nOP(min);",
        "a macro writes it; the macro's definition has it once for all uses",
    );
    cuda(
        &format!("asm(\"vmin.u32.u32.u32 %0, \" \"%1, %2;\"{ASM}"),
        "it does not stand in one piece in one string literal",
    );
    // Behind a block it is an error.
    cuda(
        &format!("asm(\"vmin.u32.u32.u32 %0, %1, %2\" \";\"{ASM}"),
        "its semicolon does not stand behind it in its literal",
    );
    cuda(
        &format!("asm(\"vmin.u32.u32.u32 %0, %1, %2 /* ; */;\"{ASM}"),
        "its semicolon does not stand behind it in its literal",
    );
    cuda(
        "asm(\"vmin.u32.u32.u32 %0, %1, %2;\" : \"=r\"(d) : \"r\"(a), \"n\"(5));",
        "an operand of the asm is a number in the text",
    );
    cuda("asm(\"vmin.u32.u32.u32 %0, %1, %1;\" : \"=r\"(d) : \"rm\"(a));", "the constraint of an operand is not known");
    cuda(
        "asm(\"vmin.u32.u32.u32 %0, %1, %1.b9;\" : \"=r\"(d) : \"r\"(a));",
        "it is illegal: V0303: unknown selector `.b9`",
    );
    cuda(
        "asm(\"vmin.u32.u32.u32 %0, %1, %1\"\n#ifdef S\n\".b0\"\n#endif\n\";\" : \"=r\"(d) : \"r\"(a));",
        "`#if` or a template gives it more than one text",
    );
    is_left(Language::Python, "s = f\"vmin.u32.u32.u32 {d}, {a}, {b};\"", "a format writes a part of it");
    is_left(
        Language::Rust,
        "asm!(\"vmin.u32.u32.u32 {}, {}, {};\", out(reg32) d, in(reg32) a, in(reg32) b);",
        "each of its placeholders takes the next argument",
    );
    is_left(
        Language::Zig,
        "asm (\"vmin.u32.u32.u32 %[d], %[a], %[a];\" : [d] \"=r\" (-> u32) : [a] \"r\" (a));",
        "blocks are written into PTX, CUDA C++, OpenCL, Python, Rust and LLVM IR only",
    );
    is_left(
        Language::Python,
        "m = \".version 8.0\\n.target sm_75\\n.entry k() { .reg .b32 a; vmin.u32.u32.u32 a, a, a; }\"",
        "it stands in a module that a string holds; `vop lower` rewrites a module that is a file",
    );
}

#[test]
fn the_carry_flag_is_kept_where_it_is_read() {
    let source = |other: &str| format!("asm(\"vadd.u32.u32.u32.sat %0, %1, %2; {other}\"{ASM}");
    let carries = |text: &str| text.contains("add.cc") || text.contains("addc");
    let mut writes = false;
    for target in ["sm_75", "sm_90", "sm_120f"] {
        let (text, _) = rewritten(&source(""), Language::Cuda, target);
        writes |= carries(&text);
        let reader = "addc.u32 %0, %0, 0;";
        let (text, _) = rewritten(&source(reader), Language::Cuda, target);
        assert!(!carries(&text.replace(reader, "")), "{text}");
    }
    // Otherwise this shows nothing.
    assert!(writes);
}

#[test]
fn where_ptxas_differs_it_is_said() {
    let (_, rewritten) =
        rewritten(&format!("asm(\"vadd.u32.s32.s32.sat %0.b0, %1, %2, %3;\"{ASM}"), Language::Cuda, "sm_90");
    let codes: Vec<Code> = rewritten.warnings.iter().map(|warning| warning.code).collect();
    assert_eq!(codes, [Code::V0701]);
    assert_eq!((rewritten.instructions[0].before, rewritten.instructions[0].after), (10, 6));
}
