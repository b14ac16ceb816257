//! What `fix` makes of files, byte by byte.

#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

use vop::{Code, Instruction, Semantics, Severity};
use vop_ptx::find::Language;
use vop_ptx::fix::{FixOptions, Fixed, fix};

/// Every block is right.
fn trust(_: &Instruction<'_>, _: &str) -> Result<(), String> {
    Ok(())
}

fn options() -> FixOptions<'static> {
    FixOptions::default().level(Severity::Note).check(&trust)
}

fn fixed(source: &str, language: Language, options: &FixOptions<'_>) -> Fixed {
    let fixed = fix(source.as_bytes(), language, options);
    // A second time there is nothing to do.
    let again = fix(fixed.text(), language, options);
    assert_eq!((again.done.as_slice(), again.text()), (&[][..], fixed.text()), "{source}");
    let whys = |fixed: &Fixed| fixed.left.iter().map(|left| (left.code, left.why.clone())).collect::<Vec<_>>();
    assert_eq!(whys(&fixed), whys(&again), "{source}");
    fixed
}

#[track_caller]
fn becomes(language: Language, source: &str, expected: &str, codes: &[Code]) {
    let fixed = fixed(source, language, &options());
    assert_eq!(fixed.left, [], "{source}");
    assert_eq!(String::from_utf8_lossy(fixed.text()), expected);
    let found: Vec<Code> = fixed.done.iter().map(|done| done.code).collect();
    assert_eq!(found, codes, "{source}");
}

#[track_caller]
fn is_left(language: Language, source: &str, options: &FixOptions<'_>, code: Code, why: &str) {
    let fixed = fixed(source, language, options);
    assert_eq!(String::from_utf8_lossy(fixed.text()), source);
    let left: Vec<_> = fixed.left.iter().map(|left| (left.code, left.why.as_str())).collect();
    assert_eq!(left, [(code, why)], "{source}");
}

const ASM: &str = r#" : "=r"(d) : "r"(a), "r"(b), "r"(c));"#;

#[track_caller]
fn in_asm(before: &str, after: &str, codes: &[Code]) {
    let statement = |text: &str| format!("  asm volatile (\"{text}\"{ASM} // why\n");
    becomes(Language::Cuda, &statement(before), &statement(after), codes);
}

#[test]
fn errors_in_an_asm() {
    in_asm("VADD4.u32.U32.u32 %0, %1.B3210, %2, %3;", "vadd4.u32.u32.u32 %0, %1, %2, %3;", &[Code::V0102, Code::V0704]);
    in_asm("varvg4.u32.u32.u32 %0, %1, %2, %3;", "vavrg4.u32.u32.u32 %0, %1, %2, %3;", &[Code::V0102]);
    in_asm("vset4.u32.u32.neq %0, %1, %2, %3;", "vset4.u32.u32.ne %0, %1, %2, %3;", &[Code::V0201]);
    in_asm("vset4.u32.u32.ne.sat %0, %1, %2, %3;", "vset4.u32.u32.ne %0, %1, %2, %3;", &[Code::V0202]);
    in_asm("vmad.u32.u32.u32.add %0, %1, %2, %3;", "vmad.u32.u32.u32 %0, %1, %2, %3;", &[Code::V0202]);
    in_asm("vshl.u32.u32.s32.wrap %0, %1, %2;", "vshl.u32.u32.u32.wrap %0, %1, %2;", &[Code::V0209]);
    in_asm("vadd4.u32.u32.u32 %0, %1, %2;\\n", "vadd4.u32.u32.u32 %0, %1, %2, %1;\\n", &[Code::V0301]);
    // Bytes that are combined are no mistake of the spelling: a selector of four equal digits is only a note.
    in_asm("vmin4.u32.u32.u32 %0.b13, %1, %2, %3;", "vmin4.u32.u32.u32 %0.b31, %1, %2, %3;", &[Code::V0304]);
    in_asm("vmin4.u32.u32.u32 %0, %1, %2, %3.b0;", "vmin4.u32.u32.u32 %0, %1, %2, %3;", &[Code::V0305]);
    in_asm(
        "@!p vmin4.u32.u32.u32 %0, %1.b1024, %2.b4567, %3;",
        "@!p vmin4.u32.u32.u32 %0, %2.b5460, %1.b0123, %3;",
        &[Code::V0311],
    );
}

#[test]
fn warnings_in_an_asm() {
    in_asm("vabsdiff4.u32.u32.u32.sat %0, %1, %2, %3;", "vabsdiff4.u32.u32.u32 %0, %1, %2, %3;", &[Code::V0702]);
    in_asm("vadd.u32.u32.u32 %0, %1, %2, %3;", "vadd.u32.u32.u32 %0, %1, %2;", &[Code::V0703]);
    in_asm("vmax4.u32.u32.u32 %0.b3210, %1.b3210, %2.b7654, %3;", "vmax4.u32.u32.u32 %0, %1, %2, %3;", &[Code::V0704]);
    // Two instructions, and two findings of one.
    in_asm(
        "{ .reg .b32 t; vadd.u32.u32.u32 t, %1, %2, %3;\\n\\tvmax4.u32.u32.u32.sat %0.b3210, t, %2, %3; }",
        "{ .reg .b32 t; vadd.u32.u32.u32 t, %1, %2;\\n\\tvmax4.u32.u32.u32 %0, t, %2, %3; }",
        &[Code::V0703, Code::V0702, Code::V0704],
    );
    // Less severe ones stay if they are not asked for, and what is allowed stays.
    let noted = format!("asm(\"vmax4.u32.u32.u32 %0.b3210, %1, %2, %3;\"{ASM}");
    let none = fixed(&noted, Language::Cuda, &FixOptions::default());
    assert_eq!((none.done.len(), none.left.len()), (0, 0));
    let allowed = format!("asm(\"vadd.u32.u32.u32 %0, %1, %2, %3;\"{ASM} // vop: allow(V0703)");
    assert_eq!(fixed(&allowed, Language::Cuda, &options()).done, []);
    let warned = format!("asm(\"vadd.u32.u32.u32 %0, %1, %2, %3;\"{ASM}");
    assert_eq!(fixed(&warned, Language::Cuda, &options().allow(&[Code::V0703])).done, []);
}

#[test]
fn constraints() {
    becomes(
        Language::Cuda,
        r#"asm("vabsdiff4.u32.u32.u32.add %0, %1, %2, %0;" : "=r"(d) : "r"(a), "r"(b));"#,
        r#"asm("vabsdiff4.u32.u32.u32.add %0, %1, %2, %0;" : "+r"(d) : "r"(a), "r"(b));"#,
        &[Code::V0713],
    );
    // What is written early stays apart from the inputs.
    becomes(
        Language::Cuda,
        r#"asm("vadd4.u32.u32.u32.add %[s], %1, %2, %[s];" : [s] "=&r"(d) : "r"(a), "r"(b));"#,
        r#"asm("vadd4.u32.u32.u32.add %[s], %1, %2, %[s];" : [s] "+&r"(d) : "r"(a), "r"(b));"#,
        &[Code::V0713],
    );
    becomes(
        Language::Rust,
        r#"asm!("vadd4.u32.u32.u32.add {d}, {a}, {a}, {d};", d = out(reg32) d, a = in(reg32) a);"#,
        r#"asm!("vadd4.u32.u32.u32.add {d}, {a}, {a}, {d};", d = inout(reg32) d, a = in(reg32) a);"#,
        &[Code::V0713],
    );
    becomes(
        Language::Cuda,
        r#"asm("vadd4.u32.u32.u32 %0, %1, %2, %1;" : "=r"(d) : "r"(a), "n"(1));"#,
        r#"asm("vadd4.u32.u32.u32 %0, %1, %2, %1;" : "=r"(d) : "r"(a), "r"(1));"#,
        &[Code::V0408],
    );
    is_left(
        Language::Cuda,
        "#define OUT \"=r\"\nasm(\"vadd4.u32.u32.u32.add %0, %1, %1, %0;\" : OUT(d) : \"r\"(a));",
        &options(),
        Code::V0713,
        "the constraint is not written in one piece there",
    );
}

#[test]
fn operands_keep_their_places_and_values() {
    // An output that an input is tied to by its name has a value.
    becomes(
        Language::Cuda,
        r#"asm("vadd4.u32.u32.u32.add %[d], %1, %2, %[d];" : [d]"=r"(d) : "r"(a), "r"(b), "[d]"(d));"#,
        r#"asm("vadd4.u32.u32.u32.add %[d], %1, %2, %[d];" : [d]"=r"(d) : "r"(a), "r"(b), "[d]"(d));"#,
        &[],
    );
    is_left(
        Language::Cuda,
        r#"asm("shl.b32 %0, %1, %2; vadd4.u32.u32.u32 %0, %1, %2, %1;" : "=r"(d) : "r"(a), "n"(1));"#,
        &options(),
        Code::V0408,
        "another instruction takes the number",
    );
    is_left(
        Language::Rust,
        r#"asm!("vadd4.u32.u32.u32.add {d}, {a}, {a}, {d};", d = out(reg32) _, a = in(reg32) a);"#,
        &options(),
        Code::V0713,
        "`_` has no value that it could begin as",
    );
    is_left(
        Language::Rust,
        r#"asm!("vadd.u32.u32.u32 {d}, {a}, {b}, {c};", d = out(reg32) d, a = in(reg32) a, b = in(reg32) b, c = in(reg32) c);"#,
        &options(),
        Code::V0703,
        "rustc wants each operand named in the template",
    );
    is_left(
        Language::Cuda,
        r#"int f() { return printf("vadd.u32.u32.u32 %s, %s, %s, %s; mov.u32 %s, %s;\n", d, a, b, c, e, f); }"#,
        &options(),
        Code::V0703,
        "each of its placeholders takes the next argument",
    );
    // Nothing shows whether a format doubles the braces.
    is_left(
        Language::Rust,
        r#"fn f() { println!("vmin4.u32.u32.u32 d, a, 5, c;"); }"#,
        &options(),
        Code::V0302,
        "its string does not show whether braces are doubled in it",
    );
    // A template engine reads two braces.
    becomes(
        Language::Python,
        "s = '''{vmin4.u32.u32.u32 d, a, 5, c;}'''",
        "s = '''{ { .reg .b32 t; mov.b32 t, 0x5; vmin4.u32.u32.u32 d, a, t, c; } }'''",
        &[Code::V0302],
    );
}

#[test]
fn other_languages() {
    becomes(
        Language::OpenCl,
        "asm(\"vadd4.u32.u32.u32 %0.b13, %1, %2, %1;\" : \"=r\"(d) : \"r\"(a), \"r\"(b));",
        "asm(\"vadd4.u32.u32.u32 %0.b31, %1, %2, %1;\" : \"=r\"(d) : \"r\"(a), \"r\"(b));",
        &[Code::V0304],
    );
    becomes(
        Language::Python,
        "d = inline_asm_elementwise(\"vadd4.u32.u32.u32 $0, $1, $2;\", \"=r,r,r\", [a, b])",
        "d = inline_asm_elementwise(\"vadd4.u32.u32.u32 $0, $1, $2, $1;\", \"=r,r,r\", [a, b])",
        &[Code::V0301],
    );
    becomes(
        Language::Python,
        "K = '''\nasm(\"vadd4.u32.u32.u32 %0, %1, %2;\" : \"=r\"(d) : \"r\"(a), \"r\"(b));\n'''",
        "K = '''\nasm(\"vadd4.u32.u32.u32 %0, %1, %2, %1;\" : \"=r\"(d) : \"r\"(a), \"r\"(b));\n'''",
        &[Code::V0301],
    );
    becomes(
        Language::Rust,
        "asm!(\"vmax4.u32.u32.u32.sat {d}, {a}, {0}, {a:};\", in(reg32) b, d = out(reg32) d, a = in(reg32) a);",
        "asm!(\"vmax4.u32.u32.u32 {d}, {a}, {0}, {a:};\", in(reg32) b, d = out(reg32) d, a = in(reg32) a);",
        &[Code::V0702],
    );
    becomes(
        Language::LlvmIr,
        "%d = call i32 asm \"vabsdiff4.u32.u32.u32.sat $0, $1, $2, $1;\", \"=r,r,r\"(i32 %a, i32 %b)",
        "%d = call i32 asm \"vabsdiff4.u32.u32.u32 $0, $1, $2, $1;\", \"=r,r,r\"(i32 %a, i32 %b)",
        &[Code::V0702],
    );
    becomes(
        Language::Markdown,
        "```cuda\nasm(\"vabsdiff4.u32.u32.u32.sat %0, %1, %2, %1;\" : \"=r\"(d) : \"r\"(a), \"r\"(b));\n```\n",
        "```cuda\nasm(\"vabsdiff4.u32.u32.u32 %0, %1, %2, %1;\" : \"=r\"(d) : \"r\"(a), \"r\"(b));\n```\n",
        &[Code::V0702],
    );
}

#[test]
fn what_others_write_is_left() {
    let left = |source: &str, why: &str| is_left(Language::Cuda, source, &options(), Code::V0702, why);
    left(
        "#define S \".sat\"\nasm(\"vabsdiff4.u32.u32.u32\" S \" %0, %1, %1, %1;\" : \"=r\"(d) : \"r\"(a));",
        "a macro writes it; the macro's definition has it once for all uses",
    );
    left(
        "#define ABS(sat) asm(\"vabsdiff4.u32.u32.u32\" #sat \" %0, %1, %1, %1;\" : \"=r\"(d) : \"r\"(a))\nABS(.sat);",
        "it does not stand in one piece in one string literal",
    );
    left(
        "asm(\"vabsdiff4.u32.u32.u32.s\" \"at %0, %1, %1, %1;\" : \"=r\"(d) : \"r\"(a));",
        "it does not stand in one piece in one string literal",
    );
    is_left(
        Language::Cuda,
        "asm(\"vadd.u32.u32.u32 %0, %1, %2 /* why */, %1;\" : \"=r\"(d) : \"r\"(a), \"r\"(b));",
        &options(),
        Code::V0703,
        "a comment stands in it",
    );
    // What is said in words.
    is_left(
        Language::Cuda,
        "asm(\"vadd4.u32.u32.u32.sat.add %0, %1, %1, %1;\" : \"=r\"(d) : \"r\"(a));",
        &options(),
        Code::V0207,
        "its help leaves a choice, or is more than one change of the text",
    );
    // A body of a macro is mended once.
    becomes(
        Language::Cuda,
        "#define ABS(x) asm(\"vabsdiff4.u32.u32.u32.sat %0, %1, %1, %1;\" : \"=r\"(d) : \"r\"(x))\nABS(a);\nABS(b);\n",
        "#define ABS(x) asm(\"vabsdiff4.u32.u32.u32 %0, %1, %1, %1;\" : \"=r\"(d) : \"r\"(x))\nABS(a);\nABS(b);\n",
        &[Code::V0702],
    );
}

const MODULE: &str =
    ".version 8.0\n.target sm_75\n.address_size 64\n.entry k()\n{\n\t.reg .b32 a, b, c, d;\n\t.reg .f32 f;\n";

#[track_caller]
fn in_module(before: &str, after: &str, codes: &[Code]) {
    let module = |text: &str| format!("{MODULE}{text}\n\tret;\n}}\n");
    becomes(Language::Ptx, &module(before), &module(after), codes);
}

#[test]
fn modules() {
    in_module("\tvadd.u32.u32.u32 d, a, b, c; // why", "\tvadd.u32.u32.u32 d, a, b; // why", &[Code::V0703]);
    in_module("\tvadd4.u32.u32.u32 d, a, b ;", "\tvadd4.u32.u32.u32 d, a, b, a ;", &[Code::V0301]);
}

#[test]
fn blocks_stand_for_what_has_no_form() {
    in_module(
        "\tvmin4.u32.u32.u32 d, a, 5, c;",
        "\t{\n\t    .reg .b32 t;\n\t    mov.b32 t, 0x5;\n\t    vmin4.u32.u32.u32 d, a, t, c;\n\t}",
        &[Code::V0302],
    );
    becomes(
        Language::Cuda,
        &format!("    asm(\"vmin4.u32.u32.u32 %0, %1, 5, %3;\\n\"{ASM}"),
        &format!(
            "    asm(\"{{ \" /* vmin4.u32.u32.u32 %0, %1, 5, %3; */\n        \".reg .b32 t; \"\n        \"mov.b32 t, 0x5; \"\n        \
             \"vmin4.u32.u32.u32 %0, %1, t, %3; \"\n        \"}}\\n\"{ASM}"
        ),
        &[Code::V0302],
    );
    becomes(
        Language::Cuda,
        &format!("asm(\"vmaxu4.u32 %0, %1, %2;\"{ASM}"),
        &format!("asm(\"vmax4.u32.u32.u32 %0, %1, %2, %1;\"{ASM}"),
        &[Code::V0102],
    );
}

const DIFFERS: &str = "vadd.u32.s32.s32.sat %0.b0, %1, %2, %3;";

#[test]
fn what_ptxas_computes_is_replaced_where_that_is_asked_for() {
    let source = format!("asm(\"{DIFFERS}\"{ASM}");
    is_left(Language::Cuda, &source, &options(), Code::V0701, "`--semantics ptxas` replaces it");
    let ptxas = options().semantics(Semantics::Ptxas);
    let after = fixed(&source, Language::Cuda, &ptxas);
    let text = String::from_utf8_lossy(after.text()).into_owned();
    assert!(
        text.starts_with("asm(\"{ \" /* vadd.u32.s32.s32.sat %0.b0, %1, %2, %3; */\n    \".reg .b64 t, va, vb; \"\n"),
        "{text}"
    );
    assert!(text.ends_with(&format!("    \"bfi.b32 %0, r, %3, 0, 8; \"\n    \"}}\"{ASM}")), "{text}");
    assert_eq!((after.done.len(), after.left.len()), (1, 0));
    // A block that is wrong is not written, nor one that nothing compares.
    let doubt = |_: &Instruction<'_>, _: &str| Err("it is not equal".to_owned());
    let options = FixOptions::default().semantics(Semantics::Ptxas);
    is_left(Language::Cuda, &source, &options.check(&doubt), Code::V0701, "it is not equal");
    is_left(Language::Cuda, &source, &options, Code::V0701, "nothing here compares what it computes");
    // In Rust braces are doubled, in a file of PTX the block is indented.
    let rust = "asm!(\"vadd.u32.s32.s32.sat {d}.b0, {a}, {a}, {a};\", d = out(reg32) d, a = in(reg32) a);";
    let text = fixed(rust, Language::Rust, &ptxas);
    let text = String::from_utf8_lossy(text.text()).into_owned();
    assert!(
        text.starts_with("asm!(\"{{\n        .reg .b64 t, va, vb;\n") && text.contains("\n    }}\", d = out"),
        "{text}"
    );
    assert!(text.contains("bfi.b32 {d}, r, {a}, 0, 8;"), "{text}");
    // Each placeholder without a name takes the next operand.
    is_left(
        Language::Rust,
        "asm!(\"vadd.u32.s32.s32.sat {}.b0, {}, {}, {};\", out(reg32) d, in(reg32) a, in(reg32) b, in(reg32) c);",
        &ptxas,
        Code::V0701,
        "each of its placeholders takes the next argument",
    );
    // A format string has doubled braces, and an operand that it fills in is left.
    is_left(
        Language::Python,
        "s = f\"vadd.u32.s32.s32.sat {d}.b0, {a}, {b}, {c};\"",
        &ptxas,
        Code::V0701,
        "a format writes a part of it",
    );
    let python = "s = f'''// {head}\n{{ vadd.u32.s32.s32.sat d.b0, a, b, c; }}'''";
    let text = fixed(python, Language::Python, &ptxas);
    assert_eq!(text.left, []);
    let text = String::from_utf8_lossy(text.text()).into_owned();
    assert!(
        text.contains("{{ {{ .reg .b64 t, va, vb; .reg .b32 r;") && text.contains("bfi.b32 d, r, c, 0, 8; }} }}'''"),
        "{text}"
    );
}

#[test]
fn places_are_those_of_the_first_text() {
    let source = format!("asm(\"vadd4.u32.u32.u32 %0, %1, %2;\"{ASM}\nasm(\"vadd.u32.u32.u32 %0, %1, %2, %3;\"{ASM}\n");
    let both = fixed(&source, Language::Cuda, &options());
    let places: Vec<&str> = both.done.iter().map(|done| &source[done.span.clone()]).collect();
    assert_eq!(places, ["", "%3"]);
    assert_eq!(both.done[0].instruction, "vadd4.u32.u32.u32 %0, %1, %2");
}

/// The sources of the other tests: whatever they hold, a second run finds nothing to do, and what is no part of an edit stays.
#[test]
fn files_are_mended_at_once() {
    let data = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/data");
    let ptxas = options().semantics(Semantics::Ptxas);
    let (mut files, mut done, mut left) = (0, 0, 0);
    for folder in ["find", "uses"] {
        for entry in std::fs::read_dir(data.join(folder)).unwrap() {
            let path = entry.unwrap().path();
            let Some(language) = Language::from_path(&path) else { continue };
            let source = std::fs::read(&path).unwrap();
            let first = fix(&source, language, &ptxas);
            let second = fix(first.text(), language, &ptxas);
            assert!(second.done.is_empty() && second.text() == first.text(), "{}: {:?}", path.display(), second.done);
            // Nothing is found that was not there.
            let errors = |text: &[u8]| {
                let uses = vop_ptx::uses::uses(text, language);
                uses.iter().map(|one| one.faults().count()).sum::<usize>()
            };
            assert!(errors(first.text()) <= errors(&source), "{}", path.display());
            (files, done, left) = (files + 1, done + first.done.len(), left + first.left.len());
        }
    }
    assert!(files > 50 && done > 40, "{files} files, {done} mended, {left} left");
}
