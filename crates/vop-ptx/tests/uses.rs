//! What is said of the instructions of whole files.
//!
//! `data/uses/NAME` is a file and `data/uses/NAME.lints` what is strange in it, by line and column. The concatenations of
//! `data/find/joined.*` are judged, too, with expectations beside the others.
//! `VOP_BLESS=1 cargo test -p vop-ptx --test uses` rewrites the expectations; read the difference before you keep it.

use std::fmt::Write as _;
use std::fs;
use std::ops::Range;
use std::path::{Path, PathBuf};

use vop_ptx::find::Language;
use vop_ptx::uses::{FileUses, Verdict, read};

fn sources() -> Vec<(PathBuf, Vec<u8>, Language)> {
    let data = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/data");
    let listed = |folder: &str| fs::read_dir(data.join(folder)).expect("test data is there");
    let is_joined = |path: &PathBuf| path.file_stem().is_some_and(|stem| stem == "joined");
    let path = |entry: std::io::Result<fs::DirEntry>| entry.expect("the folder can be listed").path();
    let mut files: Vec<_> = listed("uses")
        .map(path)
        .chain(listed("find").map(path).filter(is_joined))
        .filter_map(|path| Language::from_path(&path).map(|language| (path, language)))
        .map(|(path, language)| (path.clone(), fs::read(path).expect("test data can be read"), language))
        .collect();
    files.sort_by(|a, b| a.0.cmp(&b.0));
    assert!(files.len() >= 3, "the data files are gone");
    files
}

fn report(source: &[u8], language: Language) -> String {
    let at = |span: &Range<usize>| {
        let before = &source[..span.start];
        let line_start = before.iter().rposition(|&b| b == b'\n').map_or(0, |i| i + 1);
        let line = before.iter().filter(|&&b| b == b'\n').count() + 1;
        let text = String::from_utf8_lossy(&source[span.clone()]).replace('\n', "\\n");
        format!("{line}:{} `{text}`", span.start - line_start + 1)
    };
    let mut report = String::new();
    let FileUses { uses, suppressions, lints, .. } = read(source, language);
    // Writing to a String does not fail.
    let mut line = |text: String| _ = writeln!(report, "{text}");
    for found in uses {
        let legal = matches!(found.verdict, Verdict::Legal(_) | Verdict::LegalFragment(_));
        assert!(legal || found.lints.is_empty());
        assert!(!legal || found.faults().next().is_none());
        match &found.verdict {
            Verdict::Unjudged(reason) => line(format!("not judged {} {}: {reason}", at(&found.span), found.text)),
            Verdict::Label => line(format!("label {} {}", at(&found.span), found.text)),
            _ => {}
        }
        for lint in found.faults().chain(&found.lints) {
            line(format!("{} {}: {}", lint.code, at(&lint.span), lint.message));
            let mut places: Vec<_> = lint.related.iter().collect();
            places.sort_by_key(|(span, label)| (span.start, span.end, label));
            assert!(places.windows(2).all(|two| two[0] != two[1]), "a place is named twice: {lint:?}");
            for (span, label) in &lint.related {
                line(format!("    {} {label}", at(span)));
            }
        }
        for allowed in found.allowed {
            line(format!("allowed {} {}", allowed.code, at(&allowed.span)));
        }
    }
    for suppression in suppressions {
        let codes: Vec<String> = suppression.codes.iter().map(|allowed| at(&allowed.span)).collect();
        line(format!("suppression {}: {}", at(&suppression.span), codes.join(", ")));
    }
    for lint in lints {
        line(format!("{} {}: {}", lint.code, at(&lint.span), lint.message));
    }
    report
}

#[test]
fn lints_of_files() {
    let mut wrong = Vec::new();
    for (path, source, language) in sources() {
        let name = path.file_name().expect("a file has a name").to_string_lossy();
        let expected_path = Path::new(env!("CARGO_MANIFEST_DIR")).join(format!("tests/data/uses/{name}.lints"));
        let actual = report(&source, language);
        if std::env::var_os("VOP_BLESS").is_some() {
            fs::write(&expected_path, &actual).expect("the file can be written");
        }
        let expected = fs::read_to_string(&expected_path).unwrap_or_default();
        if actual != expected {
            wrong.push(format!("{}\nexpected:\n{expected}\nfound:\n{actual}", path.display()));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n\n"));
}

/// One number where `VOP_FULL` is set, as before a release, and otherwise another.
fn full_or(full: usize, otherwise: usize) -> usize {
    if std::env::var_os("VOP_FULL").is_some() { full } else { otherwise }
}

/// Places stay inside the file, whatever is cut off.
#[test]
fn every_prefix_is_judged_without_harm() {
    for (_, source, language) in sources() {
        for end in (0..source.len()).step_by(full_or(1, 17)) {
            report(&source[..end], language);
        }
    }
}

/// Nor does it matter what is spliced in.
#[test]
fn damaged_files_are_judged_without_harm() {
    const SPLICES: [&[u8]; 16] = [
        b"\"",
        b"'",
        b"\\",
        b"\n",
        b"{",
        b"}",
        b";",
        b":",
        b"%",
        b".add",
        b".sat",
        b"/*",
        b"//",
        b"\xff",
        b"@p ",
        b"\xc3\xa9",
    ];
    // xorshift64, the same every time.
    let mut state = 0x9e37_79b9_7f4a_7c15_u64;
    let mut below = |end: usize| {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        state as usize % end
    };
    for (_, source, language) in sources() {
        for _ in 0..full_or(300, 60) {
            let mut damaged = source.clone();
            for _ in 0..=below(6) {
                let at = below(damaged.len());
                let end = (at + below(12)).min(damaged.len());
                damaged.splice(at..end, SPLICES[below(SPLICES.len())].iter().copied());
            }
            report(&damaged, language);
        }
    }
}

/// What suppressions allow is what is reported without them, and those that allow nothing are reported.
#[test]
fn unused_suppressions_allow_nothing() {
    for (path, source, language) in sources() {
        let text = String::from_utf8(source).expect("test data is UTF-8");
        let without = read(text.replace("vop: allow", "xyz: allow").as_bytes(), language);
        let with = read(text.as_bytes(), language);
        assert_eq!(without.uses.len(), with.uses.len(), "{}", path.display());
        assert!(without.suppressions.is_empty() && without.uses.iter().all(|found| found.allowed.is_empty()));
        let mut used = Vec::new();
        for (plain, found) in without.uses.iter().zip(&with.uses) {
            let reported: Vec<_> = found.faults().chain(&found.lints).chain(&found.allowed).collect();
            let all: Vec<_> = plain.faults().chain(&plain.lints).collect();
            assert_eq!(reported.len(), all.len(), "{}: {}", path.display(), found.text);
            assert!(all.iter().all(|finding| reported.contains(finding)), "{}: {}", path.display(), found.text);
            used.extend(found.allowed.iter().map(|allowed| allowed.code));
        }
        for allowed in with.suppressions.iter().flat_map(|suppression| &suppression.codes) {
            assert!(!allowed.used || used.contains(&allowed.code));
            let reported = with.lints.iter().any(|lint| lint.span == allowed.span);
            assert_eq!(reported, !allowed.used, "{}", path.display());
        }
    }
}

/// Where a file's macros expand to more than is read, the uses behind that are counted as not judged.
#[test]
fn uses_beyond_the_limit_are_not_judged() {
    let mut source = String::from("#define T1(a) a a a a a a a a a a\n");
    for i in 2..=7 {
        let inner = format!(" T{}(a)", i - 1).repeat(10);
        source.push_str(&format!("#define T{i}(a){inner}\n"));
    }
    source.push_str(
        "#define V(op, d) asm(\"v\" #op \"4.u32.u32.u32 %0, %0, %0, %0;\" : \"+r\"(d))\n\
         #define OUTER(op, d) do { V(op, d); } while (0)\n\
         #define OTHER(d) asm(\"mov.u32 %0, 0;\" : \"=r\"(d))\n\
         void f(unsigned x) { V(mul, x); }\n\
         const char *s = T7(\"x\");\n\
         void g(unsigned x) { V(add, x); OUTER(mul, x); OTHER(x); }\n\
         void h(unsigned x) { asm(\"vadd4.u32.u32.u32.bad %0, %0, %0, %0;\" : \"+r\"(x)); }\n\
         #define LATE(d) asm(\"vmin4.u32.u32.u32.bad %0, %0, %0, %0;\" : \"+r\"(d))\n",
    );
    let found = report(source.as_bytes(), Language::Cuda);
    let lines: Vec<&str> = found.lines().collect();
    let limit = "this use of a macro is not expanded: the file's macros expand to more text than is read";
    let expected = [
        "V0102 11:22 `V(mul, x)`: `vmul4` is not a video instruction".to_owned(),
        "    8:23 `v` partly written by this macro".to_owned(),
        format!("not judged 13:22 `V(add, x)` {{V}}: {limit}"),
        format!("not judged 13:33 `OUTER(mul, x)` {{OUTER}}: {limit}"),
        "V0201 14:44 `.bad`: unknown modifier `.bad`".to_owned(),
        "V0201 15:39 `.bad`: unknown modifier `.bad`".to_owned(),
    ];
    assert_eq!(lines, expected, "{found}");
}

/// The branches of a template beyond the number that is read are counted as not judged.
#[test]
fn many_branches_are_not_judged() {
    let branches = |count: usize| {
        let arms: String = (1..count).map(|i| format!("{{% elif x == {i} %}}vmul4.u32.u32.u32 d, a, b, c;")).collect();
        let source = format!("T = \"{{% if x == 0 %}}vadd4.u32.u32.u32 d, a, b, c;{arms}{{% endif %}}\"");
        read(source.as_bytes(), Language::Python).uses
    };
    let few = branches(20);
    assert_eq!(few.len(), 20);
    assert!(few[1..].iter().all(|one| matches!(one.verdict, Verdict::Illegal(_))), "{few:?}");
    let many = branches(60);
    assert!(matches!(many.as_slice(), [one] if matches!(one.verdict, Verdict::Unjudged(_))), "{many:?}");
}

/// A name may be defined again and again: each use has the definition before it.
#[test]
fn the_definition_before_a_use_counts() {
    let mut source = String::new();
    for i in 0..40 {
        let op = if i % 2 == 0 { "mul" } else { "add" };
        source.push_str(&format!(
            "#define OP \"v{op}4\"\nvoid f{i}() {{ asm(OP \".u32.u32.u32 %0, %0, %0, %0;\" : \"+r\"(d)); }}\n#undef OP\n"
        ));
    }
    let legal: Vec<bool> = read(source.as_bytes(), Language::Cuda)
        .uses
        .iter()
        .map(|one| matches!(one.verdict, Verdict::Legal(_)))
        .collect();
    assert_eq!(legal, (0..40).map(|i| i % 2 == 1).collect::<Vec<_>>());
}

/// What a comment allows at one use of a macro is still reported at the others, once.
#[test]
fn a_comment_at_a_use_is_for_that_use() {
    let uses = "USE(%r1); // vop: allow(V0201)\nUSE(%r2);\nUSE(%r3);\n";
    let source = format!("#define USE(d) asm(\"vsub4.u32.u32.u32.bad \" #d \", a, b, c;\")\nvoid f() {{\n{uses}}}\n");
    let found = read(source.as_bytes(), Language::Cuda);
    let faults: Vec<usize> = found.uses.iter().map(|one| one.faults().count()).collect();
    let allowed: Vec<usize> = found.uses.iter().map(|one| one.allowed.len()).collect();
    assert_eq!((faults, allowed), (vec![0, 1, 0], vec![1, 0, 0]), "{found:?}");
    let note = "2 uses of the macro in this file write it".to_owned();
    assert!(found.uses[1].faults().all(|fault| fault.notes.contains(&note)), "{found:?}");
    assert!(found.uses.iter().all(|one| matches!(one.verdict, Verdict::Illegal(_))));
    assert!(found.lints.is_empty(), "{found:?}");
}
