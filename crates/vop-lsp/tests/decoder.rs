//! What the decoder of `vop run` knows has a row in the reference, and what the grammar of VS Code knows is what has one.
//!
//! The decoder's names are the patterns of its `match`es, which are read from its source.

use std::collections::BTreeSet;
use std::path::Path;

use vop_lsp::reference::{self, Kind};

fn read(path: &str) -> String {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..").join(path);
    std::fs::read_to_string(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
}

/// The part of a text between two others.
fn between<'t>(text: &'t str, start: &str, end: &str) -> &'t str {
    let (_, rest) = text.split_once(start).unwrap_or_else(|| panic!("there is no `{start}`"));
    rest.split_once(end).unwrap_or_else(|| panic!("there is no `{end}`")).0
}

/// The strings in the patterns of a `match`: `"add" | "sub" if … =>`.
fn patterns(arms: &str) -> BTreeSet<String> {
    let mut names = BTreeSet::new();
    let mut pattern = String::new();
    for line in arms.lines() {
        pattern.push_str(line);
        pattern.push(' ');
        let is_pattern = line.trim_start().starts_with(['"', '|']);
        if let Some((names_of, _)) = pattern.split_once("=>").filter(|_| is_pattern) {
            let before_guard = names_of.split(" if ").next().unwrap_or_default();
            names.extend(before_guard.split('"').skip(1).step_by(2).map(str::to_owned));
        }
        if !is_pattern || line.contains("=>") {
            pattern.clear();
        }
    }
    names
}

#[test]
fn every_instruction_of_the_decoder_has_a_row() {
    let pure = read("crates/vop-run/src/pure/mod.rs");
    let decode = read("crates/vop-run/src/decode/instruction.rs");
    let mut names = patterns(between(&pure, "let pure = match name {", "_ => None,"));
    names.extend(patterns(between(&decode, "match opcode.name {", "_ => self.pure(")));
    names.extend(patterns(between(&decode, "let kind = match name {", "_ => {")));
    assert!(
        names.len() > 100 && names.contains("bfe") && names.contains("sust") && names.contains("tcgen05"),
        "{names:?}"
    );
    let known: BTreeSet<&str> = reference::mnemonics().map(|row| row.name).collect();
    let missing: Vec<&String> = names.iter().filter(|name| !known.contains(name.as_str())).collect();
    assert!(missing.is_empty(), "no row in reference.tsv: {missing:?}");
}

#[test]
fn every_special_register_of_the_engine_has_a_row() {
    let special = read("crates/vop-run/src/special.rs");
    let names = patterns(between(&special, "Some(Named::Special(match name {", "_ => return None"));
    assert!(names.contains("laneid") && names.len() > 20, "{names:?}");
    for name in names.iter().map(String::as_str).chain(["tid", "ntid", "cluster_ctaid", "envreg31", "pm7", "pm0_64"]) {
        assert!(reference::register(&format!("%{name}")).is_some(), "no row in reference.tsv: %{name}");
    }
}

/// The alternatives of the grammar's patterns, taken apart.
#[test]
fn the_grammar_has_every_word() {
    let grammar = read("editors/vscode/syntaxes/ptx.tmLanguage.json");
    let words: BTreeSet<&str> = grammar.split(|c: char| !(c.is_ascii_alphanumeric() || c == '_')).collect();
    let video = vop::Mnemonic::ALL.iter().map(|mnemonic| mnemonic.name());
    let rows = reference::rows().iter().filter(|row| row.kind != Kind::Instruction || !row.name.contains('.'));
    let numbered = ["%envreg0", "%pm0", "%pm0_64"];
    let words_of_rows = rows.map(|row| row.name).filter(|name| !numbered.contains(name));
    let missing: Vec<&str> =
        video.chain(words_of_rows).filter(|name| !words.contains(name.trim_start_matches(['.', '%', '@']))).collect();
    assert!(missing.is_empty(), "not in the grammar: {missing:?}");
}

/// The extension is released with the command.
#[test]
fn the_extension_has_the_version_of_the_workspace() {
    let package: serde_json::Value = serde_json::from_str(&read("editors/vscode/package.json")).expect("JSON");
    assert_eq!(package["version"], env!("CARGO_PKG_VERSION"));
    let lock: serde_json::Value = serde_json::from_str(&read("editors/vscode/package-lock.json")).expect("JSON");
    assert_eq!(lock["version"], env!("CARGO_PKG_VERSION"));
    let targets = &package["contributes"]["configuration"]["properties"]["vop.portTo"]["items"]["enum"];
    let names: Vec<&str> = vop_port::Target::all().map(vop_port::Target::name).collect();
    assert_eq!(*targets, serde_json::json!(names));
}
