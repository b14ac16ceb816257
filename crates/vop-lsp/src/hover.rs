//! Hover: what an instruction computes, drawn; a sentence on everything else.

use std::ops::Range;

use vop::{Form, Instruction, Intrinsic, Mnemonic, Parser};
use vop_ptx::module::lex::{self, TokenKind};
use vop_ptx::module::{Module, StatementKind};
use vop_ptx::uses::{Use, Verdict};

use crate::document::Document;
use crate::names;
use crate::reference::{self, Row};
use crate::settings::Settings;
use crate::{cost, statement};

/// The columns of drawings.
const WIDTH: usize = 80;

/// What is said about a place.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Hover {
    /// In Markdown.
    pub markdown: String,
    /// What it is about.
    pub span: Range<usize>,
}

/// What there is to say about the text at a position.
pub fn hover(document: &Document, offset: usize, settings: &Settings) -> Option<Hover> {
    // Names say more about themselves than the instruction that they stand in.
    let name = document.module().and_then(|module| of_name(module, offset));
    let video = || {
        let one = document.use_at(offset)?;
        let span = trimmed(document, &one.span);
        let markdown = of_use(document, one, settings)?;
        span.contains(&offset).then_some(Hover { markdown, span })
    };
    name.or_else(video).or_else(|| of_opcode(document, offset)).or_else(|| of_dotted(document.module()?, offset))
}

/// A span without the blanks at its ends.
fn trimmed(document: &Document, span: &Range<usize>) -> Range<usize> {
    let text = document.slice(span);
    let start = span.start + (text.len() - text.trim_start().len());
    start..start + text.trim().len()
}

fn of_use(document: &Document, one: &Use, settings: &Settings) -> Option<String> {
    let text = match one.verdict {
        Verdict::Legal(_) | Verdict::LegalFragment(_) => Some(one.text.as_str()),
        _ => None,
    };
    let instruction = text.and_then(|text| Parser::new().allow_bare().parse(text).ok());
    match instruction {
        Some(instruction) => Some(of_instruction(document, &instruction, settings)),
        // Of one that is not legal, what its mnemonic has.
        None => {
            let word = one.text.split_whitespace().find(|word| !word.starts_with('@'))?;
            Some(of_mnemonic(Mnemonic::from_name(word.split('.').next()?)?))
        }
    }
}

fn of_instruction(document: &Document, instruction: &Instruction<'_>, settings: &Settings) -> String {
    let semantics = settings.semantics();
    let [a, b, c] = instruction.telling_inputs(semantics);
    let trace = instruction.form.explain_as(semantics, a, b, c);
    let drawing = vop_draw::plain(&vop_draw::explanation_within(&trace, instruction.operand_values(), WIDTH));
    let mut text = format!("```text\n{}\n```\n", drawing.trim_end());
    let target = cost::target(document, settings);
    text.push_str(&format!("{}.", cost::sentence(instruction.form, target, settings)));
    if let Some(intrinsics) = intrinsics(instruction.form) {
        text.push_str(&format!(" {intrinsics}"));
    }
    text
}

/// The intrinsics that compute a form.
fn intrinsics(form: Form) -> Option<String> {
    let all = Intrinsic::of_form(form);
    let names: Vec<String> = all.iter().map(|one| format!("`{one}`")).collect();
    let with = if all.iter().any(|one| one.difference().is_some()) { ", if c is 0" } else { "" };
    (!names.is_empty()).then(|| format!("CUDA C has {} for it{with}.", names.join(" and ")))
}

fn of_mnemonic(mnemonic: Mnemonic) -> String {
    let row = mnemonic.row();
    let mut text = format!("**{}**: {}\n\n```text\n{}{}\n```\n", row.name, row.summary, row.name, row.syntax);
    for slot in vop_draw::mnemonic::modifiers(mnemonic) {
        let values = slot.values.iter().map(|(spelling, meaning)| match slot.name == spelling {
            true => meaning.clone(),
            false => format!("`{spelling}` {meaning}"),
        });
        text.push_str(&format!("- `{}`: {}\n", slot.name, values.collect::<Vec<_>>().join("; ")));
    }
    text.push_str(&format!("\nPTX ISA {}", row.section));
    text
}

/// A row of the reference.
fn of_row(row: &Row) -> String {
    format!("**{}** ({}): {}\n\nPTX ISA {}", row.name, row.kind.words(), row.sentence, row.sections())
}

/// An opcode: that of a base instruction, or of a video instruction that is not read as one.
fn of_opcode(document: &Document, offset: usize) -> Option<Hover> {
    let span = match document.module() {
        Some(module) => match &statement_at(module, offset)?.kind {
            StatementKind::Instruction { opcode, .. } if opcode.start <= offset && offset < opcode.end => {
                opcode.clone()
            }
            _ => return None,
        },
        None => statement::opcode_at(document, offset)?,
    };
    let opcode = lex::without_trivia(document.slice(&span)).into_owned();
    let mnemonic = opcode.split('.').next()?;
    if let Some(video) = Mnemonic::from_name(mnemonic) {
        return Some(Hover { markdown: of_mnemonic(video), span });
    }
    let row = reference::instruction(&opcode)?;
    // A string of words may begin with the name of an instruction.
    let has_type = || opcode.split('.').skip(1).any(|word| reference::dotted(&format!(".{word}")).is_some());
    if document.module().is_none() && !has_type() && !row.name.contains('.') && !ends_statement(document, span.end) {
        return None;
    }
    let mut markdown = of_row(row);
    // What vop knows exactly of some of them.
    if let Some(base) = vop_port::Base::sample(&opcode) {
        markdown = markdown.replacen("\n\n", &format!("\n\n`{}`: {}\n\n", base.text(), base.describe()), 1);
    }
    // The type under the cursor.
    let text = document.slice(&span);
    let at = offset - span.start;
    let word = text.get(..at + 1).and_then(|before| before.rfind('.')).map(|start| {
        let end = text[start + 1..].find('.').map_or(text.len(), |end| start + 1 + end);
        &text[start..end]
    });
    if let Some(row) = word.and_then(reference::dotted).filter(|row| row.kind == reference::Kind::Type) {
        markdown.push_str(&format!("\n\n`{}`: {}", row.name, row.sentence));
    }
    Some(Hover { markdown, span })
}

/// Whether a statement that a word begins ends on its line: `ret;`, `bar.sync 0;`.
fn ends_statement(document: &Document, end: usize) -> bool {
    let line = document.lines().span(document.text(), document.lines().line(end));
    let rest = document.slice(&(end..line.end.max(end)));
    rest.split('"').next().is_some_and(|rest| rest.contains(';'))
}

fn statement_at(module: &Module, offset: usize) -> Option<&vop_ptx::module::Statement> {
    let statements = module.statements();
    let before = statements.partition_point(|statement| statement.span.start <= offset);
    let statement = statements.get(before.checked_sub(1)?)?;
    (offset < statement.span.end).then_some(statement)
}

/// A register, a label, a variable or a function: where it is declared, and as what.
fn of_name(module: &Module, offset: usize) -> Option<Hover> {
    let word = names::word_at(module, offset)?;
    if let Some(declared) = names::described(module, &word) {
        return Some(Hover { markdown: declared, span: word });
    }
    let row = reference::register(module.slice(&word))?;
    Some(Hover { markdown: of_row(row), span: word })
}

/// A directive, a state space or a type outside of an opcode.
fn of_dotted(module: &Module, offset: usize) -> Option<Hover> {
    let statement = statement_at(module, offset)?;
    let text = module.slice(&statement.span);
    let at = offset - statement.span.start;
    let token = lex::tokens(text).find(|token| token.range.contains(&at))?;
    let row = (token.kind == TokenKind::Dotted).then(|| reference::dotted(&text[token.range.clone()]))??;
    let span = statement.span.start + token.range.start..statement.span.start + token.range.end;
    Some(Hover { markdown: of_row(row), span })
}

#[cfg(test)]
mod tests {
    use vop_ptx::find::Language;

    use super::*;

    fn at(text: &str, language: Language) -> Option<String> {
        let offset = text.find('|').expect("a position");
        let document = Document::new(text.replacen('|', "", 1), language);
        let hover = hover(&document, offset, &Settings::default())?;
        assert!(hover.span.contains(&offset), "{hover:?}");
        Some(hover.markdown)
    }

    #[test]
    fn instructions() {
        let text = at(
            "asm(\"va|dd4.s32.s32.s32.sat %0, %1, %2, %3;\" : \"=r\"(d) : \"r\"(a), \"r\"(b), \"r\"(c));",
            Language::Cuda,
        );
        let text = text.expect("a hover");
        assert!(text.starts_with("```text\nvadd4.s32.s32.s32.sat d, a, b, c\n"), "{text}");
        assert!(
            text.contains("40 machine instructions on sm_90, 9 if it is lowered.")
                && text.contains("PTX ISA 9.7.18.2.3"),
            "{text}"
        );
        assert!(text.contains("`__vaddss4` for it") && !text.contains('\x1b'), "{text}");
        // The constants of the text are drawn.
        let text = at(".reg .b32 d, a; vadd.u32.u32.u32.|sat d, a, 77;", Language::Ptx).expect("a hover");
        assert!(text.contains("77"), "{text}");
        // One that is wrong.
        let text = at("vadd4.u32.|f32.u32 d, a, b, c;", Language::Ptx).expect("a hover");
        assert!(text.starts_with("**vadd4**: quad byte SIMD addition"), "{text}");
    }

    #[test]
    fn base() {
        let first = |text, language| at(text, language).map(|text| text.lines().next().unwrap_or_default().to_owned());
        let ptx = |text| first(text, Language::Ptx).unwrap_or_default();
        assert_eq!(ptx("ex|it;"), "**exit** (instruction): Ends the thread.");
        assert!(ptx("@p ld.glo|bal.u32 %r1, [a];").starts_with("**ld** (instruction)"));
        assert!(ptx(".ver|sion 8.0").starts_with("**.version** (directive)"));
        assert!(ptx(".reg .b3|2 %r1;").starts_with("**.b32** (type)"));
        assert!(ptx("mov.u32 %r1, %ti|d.x;").starts_with("**%tid** (special register)"));
        assert!(ptx(".visible .en|try k() { ret; }").starts_with("**.entry** (directive)"));
        assert!(ptx(".entry k(.param .u|64 x) { ret; }").starts_with("**.u64** (type)"));
        assert!(ptx(".reg .b32 %r<3>; add.u32 %r|1, 1, 2;").contains("`%r1`"));
        let prmt = at("asm(\"prm|t.b32 %0, %1, %2, %3;\");", Language::Cuda).expect("a hover");
        assert!(prmt.contains("9.7.9 Data Movement"), "{prmt}");
        assert_eq!(first("\"a|dd water\"", Language::Cuda), None);
        assert_eq!(first("\"mi|n.height\"", Language::Python), None);
        assert!(first("asm(\"ba|r.sync 0;\");", Language::Cuda).is_some_and(|text| text.starts_with("**bar**")));
        assert_eq!(first("int a|dd;", Language::Cuda), None);
        assert!(at("add.u3|2 a, b, c;", Language::Ptx).expect("a hover").contains("`.u32`: An unsigned integer"));
    }
}
