//! What `rewrite` makes of modules, byte by byte.

#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

use vop::{Code, Semantics};
use vop_ptx::module::Module;
use vop_ptx::rewrite::{Raised, RewriteError, RewriteOptions, Rewritten, rewrite};

fn options(target: &str) -> RewriteOptions {
    RewriteOptions::new(target.parse().unwrap())
}

fn rewritten(source: &str, options: RewriteOptions) -> (String, Rewritten) {
    let rewritten = rewrite(&Module::parse(source), &options).unwrap();
    (String::from_utf8(rewritten.apply(source.as_bytes())).unwrap(), rewritten)
}

/// A module with these directives and this body.
fn module(version: &str, target: &str, body: &str) -> String {
    format!(
        ".version {version}\n.target {target}\n.address_size 64\n.entry k()\n{{\n\t.reg .pred %p<2>;\n\t\
         .reg .b32 %r<9>;\n\t.reg .s32 %s<9>;\n{body}\n\tret;\n}}\n"
    )
}

/// What a body becomes on sm_120f.
fn body(body: &str) -> String {
    let source = module("9.2", "sm_120f", body);
    let (text, _) = rewritten(&source, options("sm_120f"));
    let (start, end) = (source.find(body).unwrap(), source.len() - source.find(body).unwrap() - body.len());
    assert_eq!(text[..start], source[..start]);
    assert_eq!(text[text.len() - end..], source[source.len() - end..]);
    text[start..text.len() - end].to_owned()
}

#[test]
fn instructions_become_comments_with_blocks_behind() {
    assert_eq!(
        body("\tvadd4.s32.s32.s32.sat %r1, %r2, %r3, %r1;"),
        "\t// vadd4.s32.s32.s32.sat %r1, %r2, %r3, %r1;\n\t{\n\t\tadd.sat.s8x4 %r1, %r2, %r3;\n\t}"
    );
    // Labels, guards and what stands around on the line.
    assert_eq!(
        body("  L: @!%p1 vadd4.s32.s32.s32.sat %r1, %r1, %r1, %r1; add.u32 %r2, %r2, 1; // one"),
        "  L: // @!%p1 vadd4.s32.s32.s32.sat %r1, %r1, %r1, %r1;\n  {\n      @!%p1 add.sat.s8x4 %r1, %r1, %r1;\n  } \
         add.u32 %r2, %r2, 1; // one"
    );
    // Comments inside, on several lines, one of them empty.
    assert_eq!(
        body("vadd4.s32.s32.s32.sat // why\n\n\t%r1, /* \\ */\n %r2, %r3, %r1;/**/"),
        "// vadd4.s32.s32.s32.sat // why\n//\n\t// %r1, /* \\ */\n // %r2, %r3, %r1;\n{\n    \
         add.sat.s8x4 %r1, %r2, %r3;\n}/**/"
    );
    // Types that the packed instruction does not take, and names in an inner scope.
    assert_eq!(
        body("{ .reg .s32 %r1; .reg .b32 t1; vadd4.s32.s32.s32.sat %r1, %s1, t1, %r3; }"),
        "{ .reg .s32 %r1; .reg .b32 t1; // vadd4.s32.s32.s32.sat %r1, %s1, t1, %r3;\n{\n    .reg .b32 v_t<3>;\n    \
         mov.b32 v_t1, %s1;\n    add.sat.s8x4 v_t2, v_t1, t1;\n    mov.b32 %r1, v_t2;\n} }"
    );
}

#[test]
fn lines_end_as_they_do_in_the_file() {
    let source = module("9.2", "sm_120f", "\tvadd4.s32.s32.s32.sat %r1,\n %r2, %r3, %r1;").replace('\n', "\r\n");
    let (text, _) = rewritten(&source, options("sm_120f"));
    assert_eq!(text.matches('\n').count(), text.matches("\r\n").count());
    assert!(text.contains("\t// vadd4.s32.s32.s32.sat %r1,\r\n // %r2, %r3, %r1;\r\n\t{\r\n\t\tadd"), "{text}");
}

#[test]
fn nothing_else_changes() {
    for source in ["", "\u{feff}", "vadd4", module("8.0", "sm_75", "add.u32 %r1, %r1, 1;").as_str()] {
        let found = rewrite(&Module::parse(source), &options("sm_90"));
        if let Ok(rewritten) = found {
            assert!(rewritten.is_empty() && rewritten.apply(source.as_bytes()) == source.as_bytes(), "{source}");
        } else {
            assert_eq!(source, "vadd4");
        }
    }
    // Bytes that are no text stay.
    let source = module("9.2", "sm_120f", "// ?\n\tvadd4.s32.s32.s32.sat /* ? */ %r1, %r2, %r3, %r1;");
    let bytes: Vec<u8> = source.bytes().map(|byte| if byte == b'?' { 0xe9 } else { byte }).collect();
    let module = Module::parse(vop_ptx::uses::text(&bytes));
    let found = rewrite(&module, &options("sm_120f")).unwrap().apply(&bytes);
    assert_eq!(found.iter().filter(|&&byte| byte == 0xe9).count(), 2);
    assert!(!found.contains(&b'?'));
}

#[test]
fn what_the_module_does_not_allow_is_not_used() {
    let add = "vadd4.s32.s32.s32.sat %r1, %r2, %r3, %r1;";
    for (version, target) in [("9.1", "sm_120f"), ("9.2", "sm_75"), ("6.5", "sm_75"), ("9.2", "sm_120")] {
        let source = module(version, target, add);
        let (text, left) = rewritten(&source, options("sm_120f"));
        assert!(!text.contains("add.sat.s8x4") && left.raised.is_empty(), "{text}");
        let one = &left.instructions[0];
        let (cost, needs) = one.cheaper.unwrap();
        assert_eq!((one.before, cost, needs.version), (45, 1, (9, 2)));
        assert_eq!(needs.module_target().to_string(), "sm_120f");

        let (text, raised) = rewritten(&source, options("sm_120f").may_raise(true));
        let mut expected = Vec::new();
        for (directive, from, to) in [(".version", version, "9.2"), (".target", target, "sm_120f")] {
            assert!(
                text.contains(&format!("\n{directive} {to}\n")) || text.starts_with(&format!("{directive} {to}\n"))
            );
            if from != to {
                expected.push(Raised { directive, from: from.into(), to: to.into() });
            }
        }
        assert_eq!(raised.raised, expected);
        assert_eq!((raised.instructions[0].after, raised.instructions[0].cheaper), (1, None));
    }
    // What does not need it does not raise, and the rest of `.target` stays.
    let source = module("8.0", "sm_75, debug", "vabsdiff4.u32.u32.u32 %r1, %r2, %r3, %r1;");
    let (text, kept) = rewritten(&source, options("sm_90").may_raise(true));
    assert_eq!((text, kept.instructions[0].rule), (source, "keep"));
    let source = module("8.0", "sm_75, debug", add);
    let (text, _) = rewritten(&source, options("sm_120f").may_raise(true));
    assert!(text.starts_with(".version 9.2\n.target sm_120f, debug\n"), "{text}");
}

#[test]
fn a_module_for_newer_gpus_is_refused() {
    for (module_target, target) in [("sm_90", "sm_80"), ("sm_90a", "sm_100"), ("sm_120f", "sm_103")] {
        let source = module("9.2", module_target, "");
        let error = rewrite(&Module::parse(source.as_str()), &options(target)).unwrap_err();
        let RewriteError::Target { span, .. } = &error else { panic!("{error}") };
        assert_eq!(&source[span.clone()], module_target);
        assert!(error.to_string().contains(module_target), "{error}");
    }
}

#[test]
fn illegal_instructions_are_refused() {
    let source = module("8.0", "sm_75", "vadd4.s32.s32 %r1, %r2, %r3, %r1; vadd.u32.u32.u32 %r1, %p1, %r2;");
    let error = rewrite(&Module::parse(source), &options("sm_90")).unwrap_err();
    let RewriteError::Illegal(faults) = &error else { panic!("{error}") };
    assert_eq!(faults.len(), 2);
}

/// The carry flag is a register that no instruction names.
#[test]
fn the_carry_flag_is_respected() {
    // The sum of two words clamped to a word is an idiom with the carry where that is cheapest.
    let add = "vadd.u32.u32.u32.sat %r1, %r2, %r3;";
    let writes = |body: &str| {
        let (text, _) = rewritten(&module("8.0", "sm_75", body), options("sm_75"));
        text.matches("add.cc").count()
    };
    let reads = format!("add.cc.u32 %r4, %r5, %r6;\n{add}\naddc.u32 %r4, %r5, %r6;");
    assert_eq!(writes(&reads), 1);
    assert!(writes(add) <= 1);
}

#[test]
fn where_semantics_differ_it_says_so() {
    let source =
        module("8.0", "sm_75", "\tvadd.u32.s32.s32.sat %r1.b0, %r2, %r3, %r4;\n\tvmin.u32.u32.u32 %r1, %r2, 1;");
    let (isa, found) = rewritten(&source, options("sm_90"));
    assert_eq!(found.warnings.iter().map(|warning| warning.code).collect::<Vec<_>>(), [Code::V0701]);
    assert_eq!(&source[found.warnings[0].span.clone()], "vadd.u32.s32.s32.sat");
    assert!(found.warnings[0].help.as_ref().unwrap().contains("--semantics ptxas"));
    let (ptxas, found) = rewritten(&source, options("sm_90").semantics(Semantics::Ptxas));
    assert!(found.warnings.is_empty());
    assert_ne!(isa, ptxas);
    // What an old module allows is enough.
    let old = module("3.0", "sm_30", "vadd.u32.s32.s32.sat %r1.b0, %r2, %r3, %r4;");
    let (_, found) = rewritten(&old, options("sm_90"));
    assert!(found.instructions[0].block.is_some() && found.raised.is_empty());
}
