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
    // Far to the right, the lines stand below the beginning of theirs.
    let head = "  __device__ __inline__ unsigned minimum_of_two(unsigned a) { unsigned d; asm(\"";
    let tail = "\" : \"=r\"(d) : \"r\"(a)); return d; }";
    becomes(
        Language::Cuda,
        &format!("{head}vmin.u32.u32.u32 %0, %1, %1;{tail}"),
        &format!(
            "{head}{{ \" /* vmin.u32.u32.u32 %0, %1, %1; */\n          \"min.u32 %0, %1, %1; \"\n          \"}}{tail}"
        ),
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
        "K = f'''\n// {name}\nvoid f() {{ asm(\"vmin.u32.u32.u32 %0, %1, %1;\" : \"=r\"(d) : \"r\"(a)); }}\n'''\n",
        "K = f'''\n// {name}\nvoid f() {{ asm(\"{{ min.u32 %0, %1, %1; }}\" : \"=r\"(d) : \"r\"(a)); }}\n'''\n",
    );
    // What nobody is known to assemble may be anything.
    is_left(Language::Python, "K = \"vmin.u32.u32.u32 d, a, b;\"\n", "it is not known to be the template of an asm");
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

/// The sources of the other tests: whatever they hold, a second run finds nothing to do.
#[test]
fn files_are_rewritten_at_once() {
    let data = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/data");
    let options = RewriteOptions::new("sm_90".parse().unwrap());
    let (mut files, mut replaced, mut left) = (0, 0, 0);
    for folder in ["find", "uses"] {
        for entry in std::fs::read_dir(data.join(folder)).unwrap() {
            let path = entry.unwrap().path();
            let Some(language) = Language::from_path(&path).filter(|language| *language != Language::Ptx) else {
                continue;
            };
            let source = std::fs::read(&path).unwrap();
            let first = rewrite_source(&source, language, &options);
            let after = first.apply(&source);
            let second = rewrite_source(&after, language, &options);
            assert!(second.is_empty(), "{}", path.display());
            let whys = |of: &RewrittenSource| of.left.iter().map(|left| left.why.clone()).collect::<Vec<_>>();
            assert_eq!(whys(&first), whys(&second), "{}", path.display());
            files += 1;
            replaced += first.instructions.iter().filter(|one| one.block.is_some()).count();
            left += first.left.len();
        }
    }
    assert!(files > 50 && replaced > 50, "{files} files, {replaced} replaced, {left} left");
}

/// Braces are doubled where a format reads the string, and the text must show it.
#[test]
fn braces_are_written_as_the_string_has_them() {
    let asm = "asm(\\\"vmin.u32.u32.u32 %0, %1, %1;\\\" : \\\"=r\\\"(d) : \\\"r\\\"(a));";
    let block = |before: &str, open: &str, close: &str| {
        let source = before.replace("ASM", asm);
        becomes(
            Language::Python,
            &source,
            &source.replace("vmin.u32.u32.u32 %0, %1, %1;", &format!("{open} min.u32 %0, %1, %1; {close}")),
        );
    };
    // One that is no format: its braces are those of C++, also where they read as fields.
    block("K = \"void f() { int x[] = {a}; ASM }\"", "{", "}");
    // Formats, by their prefix and by what they hold.
    block("K = f\"void f() {{ int x = {a}; ASM }}\"", "{{", "}}");
    block("K = \"void f() {{ int x = {a}; ASM }}\".format(a=1)", "{{", "}}");
    let unknown = "its string does not show whether braces are doubled in it";
    is_left(Language::Python, &"K = \"ASM\"".replace("ASM", asm), unknown);
    is_left(Language::Python, &"K = \"#define A {a} \\n ASM\"".replace("ASM", asm), unknown);
    is_left(Language::Python, &"K = \"int x[1][1] = {{1}}; ASM\"".replace("ASM", asm), unknown);
}

#[test]
fn arguments_and_operands_are_kept() {
    // printf fills in `%s`, one argument after the other.
    is_left(
        Language::Cuda,
        r#"void f() { snprintf(buf, 999, "asm(\"{.reg .b32 t; mov.u32 t, 1; vavrg4.u32.u32.u32 %%0, %s, %%2, %s;}\" : \"=r\"(d) : \"r\"(a), \"r\"(b)); // %d", "%1", "t", 7); }"#,
        "each of its placeholders takes the next argument",
    );
    is_left(
        Language::Python,
        "K = Template('''void f() { asm(\"vmin.u32.u32.u32 %0, $reg, %2;\" : \"=r\"(d) : \"r\"(a), \"r\"(b)); }''')",
        "a format writes a part of it",
    );
    // rustc refuses an operand that the template does not name.
    let source = r#"asm!("vavrg4.u32.u32.u32 {d}, {a}, {b}, {c};", d = out(reg32) d, a = in(reg32) a, b = in(reg32) b, c = in(reg32) c);"#;
    let (text, rewritten) = rewritten(source, Language::Rust, "sm_90");
    assert_eq!(rewritten.left, []);
    assert!(text.contains("; /* {c} */\n    }}\", d"), "{text}");
}
