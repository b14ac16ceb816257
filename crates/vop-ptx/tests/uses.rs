//! What is said of the instructions of whole files.
//!
//! `data/uses/NAME` is a file and `data/uses/NAME.lints` what is strange in it, by line and column.
//! `VOP_BLESS=1 cargo test -p vop-ptx --test uses` rewrites the expectations; read the difference before you keep it.

use std::fmt::Write as _;
use std::fs;
use std::ops::Range;
use std::path::{Path, PathBuf};

use vop_ptx::find::Language;
use vop_ptx::uses::{FileUses, Verdict, read};

fn sources() -> Vec<(PathBuf, Vec<u8>, Language)> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/data/uses");
    let mut files: Vec<_> = fs::read_dir(folder)
        .expect("test data is there")
        .map(|entry| entry.expect("the folder can be listed").path())
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
        let expected_path = PathBuf::from(format!("{}.lints", path.display()));
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

/// Places stay inside the file, whatever is cut off.
#[test]
fn every_prefix_is_judged_without_harm() {
    for (_, source, language) in sources() {
        for end in 0..source.len() {
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
        for _ in 0..1000 {
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
