//! A source file with base instructions in the place of the video instructions of its `asm` statements.

use std::collections::BTreeMap;
use std::ops::Range;

use vop::{Code, Diagnostic, Edit, Linter, Parser, Registers, Semantics};

use super::{Directives, Plan, Plans, Rewrite, RewriteError, RewriteOptions, warning};
use crate::edits::{self, Written};
use crate::find::{self, Class, Found, FoundKind, Language};
use crate::uses::{self, Verdict, patch};

/// The changes to a source file, and the result for each video instruction.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct RewrittenSource {
    /// The instructions that are replaced, or that are cheapest as they are, in the file's order.
    pub instructions: Vec<Rewrite>,
    /// What is left as it is because it cannot be rewritten, in the file's order.
    pub left: Vec<LeftInstruction>,
    /// As [`Rewritten::warnings`](super::Rewritten::warnings). Positions are the file's.
    pub warnings: Vec<Diagnostic>,
    edits: Vec<Edit>,
}

/// An instruction that cannot be rewritten.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct LeftInstruction {
    /// Where it stands, in bytes of the file.
    pub span: Range<usize>,
    /// As plain PTX, or as the file writes it.
    pub text: String,
    /// Why: a part of a sentence.
    pub why: String,
}

impl RewrittenSource {
    /// The file with the changes.
    ///
    /// # Panics
    /// If the text is not the one that was given to [`rewrite_source`], and shorter.
    pub fn apply(&self, source: &[u8]) -> Vec<u8> {
        edits::applied(source, &self.edits)
    }

    /// Whether nothing is changed.
    pub fn is_empty(&self) -> bool {
        self.edits.is_empty()
    }
}

/// What is to be written in the place of an instruction.
struct Replacement {
    edit: Edit,
    ptx: String,
    /// Which of the instructions.
    of: usize,
}

/// Replaces each video instruction in the `asm` templates of a file by the cheapest base instructions that compute the same value.
///
/// A block `{ … }` takes the instruction's place in its string. Its last statement alone writes d, so that an operand of an `asm` may
/// share a register with d, and the names of its registers are none of the instruction's. What a macro, a format or another string
/// writes a part of is [left](RewrittenSource::left). Where the file reads the carry flag, no instruction that writes it is used.
///
/// A module's `.version` and `.target` are not known: all that the GPU has is used.
///
/// ```
/// use vop_ptx::find::Language;
/// use vop_ptx::rewrite::{RewriteOptions, rewrite_source};
///
/// let source = br#"asm("vmin.u32.u32.u32 %0, %1, %2;" : "=r"(d) : "r"(a), "r"(b));"#;
/// let rewritten = rewrite_source(source, Language::Cuda, &RewriteOptions::new("sm_90".parse().unwrap()));
/// assert_eq!(
///     String::from_utf8(rewritten.apply(source)).unwrap(),
///     "asm(\"{ \" /* vmin.u32.u32.u32 %0, %1, %2; */\n    \"min.u32 %0, %1, %2; \"\n    \"}\" : \"=r\"(d) : \"r\"(a), \"r\"(b));"
/// );
/// ```
pub fn rewrite_source(source: &[u8], language: Language, options: &RewriteOptions) -> RewrittenSource {
    let mut rewritten = RewrittenSource::default();
    let mut plans = Plans::new(*options, &Directives { version: None, targets: Vec::new() });
    let may_write_carry = !reads_carry(source);
    let modules: Vec<Range<usize>> = find::modules(source, language)
        .iter()
        .map(|module| module.source_offset(0)..module.source_offset(module.text.len()))
        .collect();
    // Versions of a text that differ in an instruction have it at one place.
    let all = if find::may_contain(source) { find::find(source, language) } else { Vec::new() };
    let mut places: BTreeMap<usize, usize> = BTreeMap::new();
    for found in &all {
        *places.entry(found.spelled_offset(0)).or_default() += 1;
    }
    let mut linter = Linter::default();
    let mut replacements: Vec<Replacement> = Vec::new();
    for found in all {
        let span = found.source_span(0..found.text.len());
        if !options.concerns(&span) {
            continue;
        }
        let several = places.get(&found.spelled_offset(0)).is_some_and(|count| *count > 1);
        let (judged, _) = uses::judged(found.clone(), source, &mut linter);
        if judged.verdict == Verdict::Label {
            continue;
        }
        let mut leave = |why: String| {
            let is_known = rewritten.left.iter().any(|left| left.span == span && left.why == why);
            if !is_known {
                rewritten.left.push(LeftInstruction { span: span.clone(), text: judged.text.clone(), why });
            }
        };
        let form = match &judged.verdict {
            Verdict::Legal(form) => *form,
            Verdict::LegalFragment(_) => {
                leave("its operands stand elsewhere".into());
                continue;
            }
            Verdict::Illegal(faults) => {
                let fault = faults.first().map(ToString::to_string).unwrap_or_default();
                leave(format!("it is illegal: {fault}"));
                continue;
            }
            Verdict::Unjudged(reason) => {
                leave(reason.to_string());
                continue;
            }
            Verdict::Label => continue,
        };
        let in_module = modules.iter().any(|module| module.contains(&span.start));
        let Plan { lowering, cheaper } = plans.plan(form, may_write_carry);
        if !lowering.exact {
            let needs = cheaper.map(|(_, needs)| needs);
            leave(RewriteError::NoRule { form, span: span.clone(), needs }.to_string());
            continue;
        }
        let replaced = match &lowering.sequence {
            None => Ok(None),
            Some(_) if in_module => {
                Err("it stands in a module that a string holds; `vop lower` rewrites a module that is a file")
            }
            Some(_) if !found.context().spelling.is_asm => Err("it is not known to be the template of an asm"),
            Some(_) if several => Err("`#if` or a template gives it more than one text"),
            Some(_) => {
                replacement(&found, source, |instruction| lowering.block(instruction, &Registers::default())).map(Some)
            }
        };
        let block = match replaced {
            Ok(None) => None,
            Ok(Some((edit, block))) => {
                replacements.push(Replacement { edit, ptx: block.to_string(), of: rewritten.instructions.len() });
                Some(block)
            }
            Err(why) => {
                leave(why.to_owned());
                continue;
            }
        };
        if options.semantics == Semantics::Isa {
            let differs = |lint: &Diagnostic| matches!(lint.code, Code::V0701 | Code::V0709);
            let warnings = judged.lints.into_iter().filter(differs).map(|lint| warning(lint, block.is_some()));
            rewritten.warnings.extend(warnings);
        }
        let (before, after) = (form.cost(options.target), lowering.cost);
        let needs = lowering.sequence.as_ref().map(|sequence| sequence.needs());
        let rule = lowering.rule;
        rewritten.instructions.push(Rewrite { span, form, block, rule, before, after, needs, cheaper: None });
    }
    keep_readable(source, language, replacements, &mut rewritten);
    rewritten.left.sort_by_key(|left| left.span.start);
    rewritten
}

/// The edit that writes a block in an instruction's place, and the block.
fn replacement(
    found: &Found,
    source: &[u8],
    block: impl Fn(&vop::Instruction<'_>) -> vop::lower::Block,
) -> Result<(Edit, vop::lower::Block), &'static str> {
    if found.kind != FoundKind::Statement {
        return Err("its operands stand elsewhere");
    }
    let Ok((instruction, places)) = Parser::new().parse_with_places(&found.text) else { return Err("it is not read") };
    for operand in uses::asm_operands(found, source, &places) {
        match operand.map(|operand| operand.class) {
            Some(Class::Word) => {}
            Some(Class::Immediate) => return Err("an operand of the asm is a number in the text"),
            _ => return Err("the constraint of an operand is not known"),
        }
    }
    let block = block(&instruction);
    let edit = patch::block(places.whole, &block.to_string(), found, source)?;
    Ok((edit, block))
}

/// Keeps the replacements that are read back as they are written.
fn keep_readable(
    source: &[u8],
    language: Language,
    mut replacements: Vec<Replacement>,
    rewritten: &mut RewrittenSource,
) {
    replacements.sort_by_key(|one| one.edit.span.start);
    let mut dropped: Vec<(usize, &str)> = Vec::new();
    let mut end = 0;
    replacements.retain(|one| {
        let is_apart = one.edit.span.start >= end;
        end = end.max(one.edit.span.end);
        if !is_apart {
            dropped.push((one.of, "another instruction stands at its place"));
        }
        is_apart
    });
    while !replacements.is_empty() {
        let edits: Vec<Edit> = replacements.iter().map(|one| one.edit.clone()).collect();
        let after = edits::applied(source, &edits);
        let written: Vec<Written<'_>> =
            replacements.iter().map(|one| Written { edit: &one.edit, ptx: &one.ptx }).collect();
        let unread = edits::unread(source, language, &after, &written);
        if unread.is_empty() {
            rewritten.edits = edits;
            break;
        }
        dropped.extend(
            unread.iter().map(|&number| (replacements[number].of, "its block would not be read as it is written")),
        );
        let mut number = 0;
        replacements.retain(|_| {
            number += 1;
            !unread.contains(&(number - 1))
        });
    }
    dropped.sort_unstable();
    for (of, why) in dropped.into_iter().rev() {
        let one = rewritten.instructions.remove(of);
        rewritten.left.push(LeftInstruction { span: one.span, text: one.form.to_string(), why: why.to_owned() });
    }
}

/// Whether an instruction in a file reads the carry flag: `asm` statements of one function share it.
fn reads_carry(source: &[u8]) -> bool {
    let is_read = |name: &str| memchr::memmem::find(source, name.as_bytes()).is_some();
    ["addc", "subc", "madc"].into_iter().any(is_read)
}
