//! Code actions: what the helps of findings ask for, an instruction lowered, and an instruction as a function of another language.

use std::ops::Range;

use vop::{Diagnostic, Edit, Patch, Semantics};
use vop_port::{Base, Request};
use vop_ptx::fix::{FixOptions, fix};
use vop_ptx::module::StatementKind;
use vop_ptx::rewrite::{Rewrite, RewriteOptions, rewrite, rewrite_source};
use vop_ptx::uses::{Use, Verdict};

use crate::document::Document;
use crate::settings::Settings;
use crate::{cost, diagnostics};

/// Something that can be done at a place.
#[derive(Clone, PartialEq, Debug)]
pub struct Action {
    /// What it does, as a command.
    pub title: String,
    /// Its kind in the protocol.
    pub kind: &'static str,
    /// The finding that it mends.
    pub finding: Option<Diagnostic>,
    /// Whether it is the one that is meant at its place.
    pub is_preferred: bool,
    /// What it does, or why it cannot be done.
    pub effect: Result<Effect, String>,
}

/// What an [`Action`] does.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Effect {
    /// It changes the document.
    Edits(Vec<Edit>),
    /// It makes a file beside the document.
    NewFile {
        /// Its name.
        name: String,
        /// Its text.
        text: String,
    },
}

/// A help as an edit.
pub const QUICK_FIX: &str = "quickfix";
/// An instruction as base instructions.
pub const LOWER: &str = "refactor.rewrite.lower";
/// An instruction as a function.
pub const PORT: &str = "refactor.extract.port";
/// All helps of a file.
pub const FIX_ALL: &str = "source.fixAll.vop";

/// What can be done in a part of a document, without [`FIX_ALL`].
pub fn actions(document: &Document, span: &Range<usize>, settings: &Settings) -> Vec<Action> {
    let mut actions = quick_fixes(document, span, settings);
    let meets = |one: &&Use| one.span.start <= span.end && span.start <= one.span.end;
    let legal = |one: &&Use| matches!(one.verdict, Verdict::Legal(_) | Verdict::LegalFragment(_));
    let uses = document.file_uses().uses.iter();
    // What is selected may be a whole file: an action is about one instruction.
    if let Some(one) = uses.filter(meets).find(legal) {
        actions.extend(lower(document, one, settings));
        actions.extend(port(document, &one.text, settings));
    } else if let Some(text) = base_instruction(document, span.start) {
        actions.extend(port(document, text, settings));
    }
    actions
}

fn quick_fixes(document: &Document, span: &Range<usize>, settings: &Settings) -> Vec<Action> {
    let findings = diagnostics::findings(document, settings);
    let meeting = findings.into_iter().filter(|one| one.span.start <= span.end && span.start <= one.span.end);
    let mut fixes: Vec<Action> = Vec::new();
    for finding in meeting {
        let effect = match &finding.patch {
            Patch::Edits(edits) => Ok(Effect::Edits(edits.clone())),
            Patch::OutOfReach(why) => Err((*why).to_owned()),
            _ => continue,
        };
        let title = title(document, finding);
        if fixes.iter().all(|other| other.effect != effect || other.title != title) {
            let finding = Some(finding.clone());
            fixes.push(Action { title, kind: QUICK_FIX, finding, is_preferred: false, effect });
        }
    }
    if let [only] = fixes.as_mut_slice() {
        only.is_preferred = only.effect.is_ok();
    }
    fixes
}

/// What a help says to do, as a command: `Write .b3210 (V0304)`, `Drop .sat (V0702)`.
fn title(document: &Document, finding: &Diagnostic) -> String {
    let help = finding.help.as_deref().unwrap_or(&finding.message);
    let line = help.lines().next().unwrap_or_default();
    // What follows a semicolon says more than is done.
    let line = line.split(';').next().unwrap_or_default().trim_end_matches(':');
    let dropped = format!("drop `{}`", document.slice(&finding.span));
    let line = if line == "drop it" { &dropped } else { line };
    let mut chars = line.chars();
    let first: String = chars.next().map(|c| c.to_uppercase().collect()).unwrap_or_default();
    format!("{first}{} ({})", chars.as_str(), finding.code)
}

/// The block that computes the same, in an instruction's place.
fn lower(document: &Document, one: &Use, settings: &Settings) -> Option<Action> {
    let target = cost::target(document, settings);
    let options = RewriteOptions::new(target).semantics(settings.semantics()).only(one.span.start);
    let text = document.text();
    let (rewritten, after): (Result<Option<Rewrite>, String>, Vec<u8>) = match document.module() {
        Some(module) => match rewrite(module, &options) {
            Ok(rewritten) => (Ok(rewritten.instructions.first().cloned()), rewritten.apply(text.as_bytes())),
            Err(why) => (Err(why.to_string()), Vec::new()),
        },
        None => {
            let rewritten = rewrite_source(text.as_bytes(), document.language(), &options);
            let left = rewritten.left.first().map(|left| Err(left.why.clone()));
            (left.unwrap_or_else(|| Ok(rewritten.instructions.first().cloned())), rewritten.apply(text.as_bytes()))
        }
    };
    let action = |title: String, effect| Action { title, kind: LOWER, finding: None, is_preferred: false, effect };
    match rewritten {
        Ok(Some(Rewrite { block: Some(_), before, after: cost, .. })) => {
            let after = String::from_utf8(after).ok()?;
            let title = format!("Lower this instruction for {target}: {cost} instead of {before} machine instructions");
            Some(action(title, Ok(Effect::Edits(vec![changed(text, &after)?]))))
        }
        Ok(Some(_)) => Some(action(
            format!("Lower this instruction for {target}"),
            Err(format!("it is the cheapest as it is on {target}")),
        )),
        Ok(None) => None,
        Err(why) => Some(action(format!("Lower this instruction for {target}"), Err(why))),
    }
}

/// The part in which two texts differ, as an edit of the first.
fn changed(before: &str, after: &str) -> Option<Edit> {
    if before == after {
        return None;
    }
    let same = |(a, b): &(u8, u8)| a == b;
    let mut start = before.bytes().zip(after.bytes()).take_while(same).count();
    while !(before.is_char_boundary(start) && after.is_char_boundary(start)) {
        start -= 1;
    }
    let most = before.len().min(after.len()) - start;
    let mut behind = before.bytes().rev().zip(after.bytes().rev()).take(most).take_while(same).count();
    while !(before.is_char_boundary(before.len() - behind) && after.is_char_boundary(after.len() - behind)) {
        behind -= 1;
    }
    Some(Edit::new(start..before.len() - behind, &after[start..after.len() - behind]))
}

/// The text of the base instruction that a position is in, if functions can be made of its mnemonic.
fn base_instruction(document: &Document, offset: usize) -> Option<&str> {
    let module = document.module()?;
    let statements = module.statements();
    let before = statements.partition_point(|statement| statement.span.start <= offset);
    let statement = statements.get(before.checked_sub(1)?)?;
    let StatementKind::Instruction { opcode, operands, .. } = &statement.kind else { return None };
    let is_known = Base::is_mnemonic(module.slice(opcode).split('.').next()?);
    let end = operands.end.max(opcode.end);
    (is_known && offset <= statement.span.end).then(|| document.slice(&(opcode.start..end)))
}

fn port(document: &Document, text: &str, settings: &Settings) -> Vec<Action> {
    let targets = settings.port_targets(document.language());
    let actions = targets.into_iter().filter_map(|target| {
        let file = function(text, target, settings.semantics()).ok()?;
        let (name, text) = file;
        let title = format!("Port this instruction to {target}: {name}");
        let effect = Ok(Effect::NewFile { name, text });
        Some(Action { title, kind: PORT, finding: None, is_preferred: false, effect })
    });
    actions.collect()
}

/// A file with the function that an instruction is in a language, and a name for it.
///
/// # Errors
/// Why there is none.
pub fn function(text: &str, target: vop_port::Target, semantics: Semantics) -> Result<(String, String), String> {
    let request = Request::read(text, semantics).map_err(|why| why.to_string())?;
    let port = request.port(target).map_err(|why| why.to_string())?;
    let name = format!("{}.{}", port.name(), extension(target));
    Ok((name, vop_port::file(&[port])))
}

/// The extension of files in a language.
fn extension(target: vop_port::Target) -> &'static str {
    match target.name() {
        "cpp" | "sycl" | "hip" => "hpp",
        "cuda" => "cuh",
        "metal" => "metal",
        "opencl" => "cl",
        "rust" => "rs",
        "llvm" => "ll",
        "numpy" => "py",
        "julia" => "jl",
        "wgsl" => "wgsl",
        "glsl" => "glsl",
        // C, with and without vectors.
        _ => "h",
    }
}

/// All findings of a document mended, as `vop fix` does.
pub fn fix_all(document: &Document, settings: &Settings) -> Option<Action> {
    let options = FixOptions::default().semantics(settings.semantics()).level(settings.level).allow(&settings.allow);
    let fixed = fix(document.text().as_bytes(), document.language(), &options);
    let after = std::str::from_utf8(fixed.text()).ok()?;
    let edit = changed(document.text(), after)?;
    Some(Action {
        title: format!("Mend {} finding{} of vop", fixed.done.len(), if fixed.done.len() == 1 { "" } else { "s" }),
        kind: FIX_ALL,
        finding: None,
        is_preferred: false,
        effect: Ok(Effect::Edits(vec![edit])),
    })
}

#[cfg(test)]
mod tests {
    use vop_ptx::find::Language;

    use super::*;

    const PTX: &str = ".version 8.0\n.target sm_90\n.entry k()\n{\n    .reg .b32 a, b, c, d;\n    \
                       vadd4.u32.u32.u32 d, a.b0, b, c;\n    vmin.u32.u32.u32 d, a, b;\n}\n";

    fn at(document: &Document, needle: &str) -> Vec<Action> {
        let offset = document.text().find(needle).expect("it is there");
        actions(document, &(offset..offset), &Settings::default())
    }

    fn applied(document: &Document, action: &Action) -> String {
        match &action.effect {
            Ok(Effect::Edits(edits)) => vop::patched(document.text(), edits),
            other => panic!("{other:?}"),
        }
    }

    #[test]
    fn helps() {
        let document = Document::new(PTX, Language::Ptx);
        let actions = at(&document, "b0, b, c");
        let fix = &actions[0];
        assert!(fix.is_preferred && fix.kind == QUICK_FIX && fix.title.starts_with("Write "), "{actions:?}");
        assert!(applied(&document, fix).contains("d, a.b0000, b, c;"));
        // An illegal instruction is neither lowered nor ported.
        assert_eq!(actions.len(), 1);
        let all = fix_all(&document, &Settings::default()).expect("it can be mended");
        assert!(applied(&document, &all).contains("a.b0000") && all.title == "Mend 1 finding of vop");
    }

    #[test]
    fn lowered_and_ported() {
        let document = Document::new(PTX, Language::Ptx);
        let actions = at(&document, "vmin");
        let lower = actions.iter().find(|action| action.kind == LOWER).expect("it can be lowered");
        // The other instruction is illegal, and nobody asked for it.
        let text = applied(&document, lower);
        assert!(text.contains("// vmin.u32.u32.u32 d, a, b;\n    {\n        min.u32 d, a, b;\n    }\n}"), "{text}");
        let port = actions.iter().find(|action| action.kind == PORT).expect("it can be ported");
        let Ok(Effect::NewFile { name, text }) = &port.effect else { panic!("{port:?}") };
        assert!(name.ends_with(".hpp") && text.contains(name.trim_end_matches(".hpp")), "{name}");
    }

    #[test]
    fn in_sources() {
        let source = "// ä\nasm(\"vmin.u32.u32.u32 %0, %1, %2;\" : \"=r\"(d) : \"r\"(a), \"r\"(b));\n\
                      asm(\"vmax.u32.u32.u32 %0, %1, %2;\" : \"=r\"(d) : \"r\"(a), \"r\"(b));\n";
        let document = Document::new(source, Language::Cuda);
        let actions = at(&document, "vmax");
        let lower = actions.iter().find(|action| action.kind == LOWER).expect("it can be lowered");
        let text = applied(&document, lower);
        assert!(text.contains("max.u32 %0, %1, %2;") && text.contains("(\"vmin.u32.u32.u32 %0"), "{text}");
        assert!(actions.iter().any(|action| action.kind == PORT));
    }

    #[test]
    fn why_not() {
        let text = ".version 8.0\n.target sm_90\n.entry k() { .reg .b32 a, b, c; vset.u32.u32.lt a, b, c; }";
        let document = Document::new(text, Language::Ptx);
        let settings = Settings { target: "sm_75".parse().ok(), ..Settings::default() };
        let offset = text.find("vset").expect("it is there");
        let actions = actions(&document, &(offset..offset), &settings);
        let lower = actions.iter().find(|action| action.kind == LOWER).expect("an action");
        assert!(lower.effect.as_ref().is_err_and(|why| why.contains("does not run on sm_75")), "{lower:?}");
    }

    #[test]
    fn base_instructions() {
        let document = Document::new("{ prmt.b32 d, a, b, c; ret; }", Language::Ptx);
        assert!(at(&document, "prmt").iter().any(|action| action.kind == PORT));
        assert_eq!(at(&document, "ret"), []);
    }

    #[test]
    fn differences() {
        for (before, after) in [("aäb", "aöb"), ("aa", "aaa"), ("", "x"), ("x", ""), ("aé", "aè"), ("éé", "é")] {
            let edit = changed(before, after).expect("they differ");
            assert_eq!(vop::patched(before, &[edit]), after);
        }
        assert_eq!(changed("x", "x"), None);
    }
}
