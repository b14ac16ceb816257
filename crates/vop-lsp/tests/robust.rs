//! No text breaks a feature: files of the tests and examples, cut and changed, with every feature at positions all over them.

use std::path::{Path, PathBuf};

use vop::{Semantics, Severity};
use vop_lsp::document::{Document, language};
use vop_lsp::position::Encoding;
use vop_lsp::settings::Settings;
use vop_lsp::{actions, completion, diagnostics, folding, hints, hover, names, signature, symbols, tokens};

/// Numbers that look random, the same in every run.
struct Random(u64);

impl Random {
    fn below(&mut self, end: usize) -> usize {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        ((self.0 >> 33) as usize) % end.max(1)
    }
}

fn sources() -> Vec<PathBuf> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let folders = [
        "examples/motion",
        "crates/vop-ptx/tests/data/find",
        "crates/vop-ptx/tests/data/uses",
        "crates/vop-run/tests/data/run",
    ];
    let mut files: Vec<PathBuf> = Vec::new();
    for folder in folders {
        let mut here: Vec<PathBuf> = std::fs::read_dir(root.join(folder))
            .expect("a folder of the repository")
            .filter_map(|entry| Some(entry.ok()?.path()))
            .filter(|path| language(Some(path), "").is_some())
            .collect();
        here.sort();
        // Of many, some.
        let step = here.len().div_ceil(12).max(1);
        files.extend(here.into_iter().step_by(step));
    }
    files
}

/// Everything at a place, and once of the whole.
fn everything(document: &Document, offsets: &[usize], settings: &Settings) {
    let text = document.text();
    let is_of_text = |span: &std::ops::Range<usize>| span.start <= span.end && text.get(span.clone()).is_some();
    for finding in diagnostics::findings(document, settings) {
        assert!(finding.span.end <= text.len());
        let _ = diagnostics::message(finding);
    }
    for hint in hints::hints(document, &(0..text.len()), settings) {
        assert!(text.is_char_boundary(hint.at));
    }
    let _ = folding::folds(document);
    if let Some(module) = document.module() {
        assert!(tokens::tokens(module).iter().all(|token| is_of_text(&token.span)));
        assert!(
            symbols::symbols(module).iter().all(|symbol| is_of_text(&symbol.span) && is_of_text(&symbol.name_span))
        );
    }
    for &offset in offsets {
        let position = document.lines().position(text, offset, Encoding::Utf16);
        let offset = document.offset(position, Encoding::Utf16);
        if let Some(found) = hover::hover(document, offset, settings) {
            assert!(is_of_text(&found.span));
        }
        if let Some(found) = completion::completion(document, offset) {
            assert!(is_of_text(&found.replaces), "{:?} at {offset}", found.replaces);
        }
        let _ = signature::signature(document, offset);
        for action in actions::actions(document, &(offset..offset), settings) {
            if let Ok(actions::Effect::Edits(edits)) = &action.effect {
                let _ = vop::patched(text, edits);
            }
        }
        if let Some(module) = document.module() {
            assert!(names::definition(module, offset).is_none_or(|span| is_of_text(&span)));
            assert!(names::references(module, offset, true).iter().all(is_of_text));
            if let Ok(edits) = names::rename(module, offset, "renamed_by_a_test") {
                let _ = vop::patched(text, &edits);
            }
        }
    }
}

#[test]
fn no_text_breaks_a_feature() {
    let mut random = Random(7);
    let settings = [
        Settings::default(),
        Settings {
            semantics: Some(Semantics::Ptxas),
            level: Severity::Note,
            target: "sm_120f".parse().ok(),
            ..Settings::default()
        },
    ];
    let pieces = [
        "\"",
        "{",
        "}",
        ";",
        "*/",
        "/*",
        ".",
        "@",
        "%",
        "ä",
        "𝄞",
        "\r",
        "\n",
        "vadd4.",
        "asm(\"",
        "%r<9>",
        "\\",
        "\u{0}",
        ".reg .b32 x;",
        "L:",
    ];
    let files = sources();
    assert!(files.len() > 15, "{files:?}");
    for (number, path) in files.iter().enumerate() {
        let bytes = std::fs::read(path).expect("a file of the repository");
        let whole = String::from_utf8_lossy(&bytes).into_owned();
        // A piece of a long file does as well.
        let whole: String = whole.chars().take(6000).collect();
        let kind = language(Some(path), "").expect("it is known");
        for round in 0..12 {
            let mut text = whole.clone();
            if round > 0 {
                let mut cut = random.below(text.len());
                while !text.is_char_boundary(cut) {
                    cut -= 1;
                }
                match round % 4 {
                    1 => text.truncate(cut),
                    2 => text = text.split_off(cut),
                    _ => text.insert_str(cut, pieces[random.below(pieces.len())]),
                }
                for _ in 0..round % 4 {
                    let mut at = random.below(text.len() + 1);
                    while !text.is_char_boundary(at) {
                        at -= 1;
                    }
                    text.insert_str(at, pieces[random.below(pieces.len())]);
                }
            }
            let end = text.len() + 1;
            let offsets: Vec<usize> = (0..6).map(|_| random.below(end)).chain([0, end - 1]).collect();
            everything(&Document::new(text, kind), &offsets, &settings[(number + round) % 2]);
        }
    }
}

/// Every position of short texts, each cut at every byte.
#[test]
fn every_position_of_every_beginning() {
    let settings = Settings::default();
    let ptx = ".reg .b32 %r<3>;\nL: @!%p vset2.u32.s32.lt %r1.h0, %r2, -%r0.h33, 7; // é\n";
    let cuda = "asm(\"{ vadd4.u32.u32.u32 %0, %1.b𝄞, %2;\\n\\t\" : \"=r\"(d));";
    for (text, kind) in [(ptx, vop_ptx::find::Language::Ptx), (cuda, vop_ptx::find::Language::Cuda)] {
        let ends = text.char_indices().map(|(at, _)| at).chain([text.len()]);
        for end in ends.step_by(3) {
            let document = Document::new(&text[..end], kind);
            let offsets: Vec<usize> = (0..=end).step_by(2).collect();
            everything(&document, &offsets, &settings);
        }
    }
}
