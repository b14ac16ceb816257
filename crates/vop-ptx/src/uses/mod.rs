//! The video instructions of a file, found and judged, and the comments that allow findings: what `vop check` reports.

mod operands;
mod packed;
pub(crate) mod patch;
mod suppression;
mod unwritten;

use std::borrow::Cow;
use std::collections::{HashMap, HashSet};
use std::ops::Range;

use vop::isa::form::Finish;
use vop::isa::types::Type;
use vop::{Code, Diagnostic, Form, Linter, Mnemonic, Parser};

use self::packed::Video;
pub use self::suppression::{AllowedCode, Suppression};
use crate::find::{self, Found, FoundKind, Language, PartialReason};
use crate::module::{FoundRegister, Module, RegistersAt, StatementKind, lex};

/// What a file holds.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct FileUses {
    /// Its video instructions, in order.
    pub uses: Vec<Use>,
    /// The comments that allow findings, in order.
    pub suppressions: Vec<Suppression>,
    /// What is strange about these comments, with positions in the file: V0711 where one allows nothing, V0712 where it
    /// cannot be read.
    pub lints: Vec<Diagnostic>,
}

/// A video instruction of a file.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Use {
    /// The instruction as plain PTX, on one line, without its semicolon; one that is not judged as the file writes it.
    pub text: String,
    /// Where it stands in the file, in bytes.
    pub span: Range<usize>,
    /// Whether it is legal.
    pub verdict: Verdict,
    /// What is strange about it if it is legal, with positions in the file, and is not allowed by a comment.
    pub lints: Vec<Diagnostic>,
    /// The lints and faults that a [`Suppression`] allows.
    pub allowed: Vec<Diagnostic>,
    /// From its first byte to its last; `span` ends with the literal that it begins in.
    extent: Range<usize>,
    /// Where the definition of the macro that writes it spells it.
    definition: Option<Range<usize>>,
    /// The block that a help writes in its place, as PTX.
    block: Option<String>,
}

/// Whether a [`Use`] is legal.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Verdict {
    /// It is legal.
    Legal(Form),
    /// Mnemonic and modifiers are legal; the operands stand elsewhere.
    LegalFragment(Form),
    /// It is not legal: why, with positions in the file. Faults that a [`Suppression`] allows are among them.
    Illegal(Vec<Diagnostic>),
    /// It cannot be judged from the file alone.
    Unjudged(PartialReason),
    /// It is no instruction of a program but a mnemonic with modifiers in a string of its own, which nothing in the file
    /// assembles: a name in a table, a message or a test.
    Label,
}

/// Finds and judges every video instruction of a file, in its order, and applies the comments that allow findings. In PTX
/// the registers in scope and the module's `.version` and `.target` are judged too.
///
/// The source need not be UTF-8: in [`Use::text`] other bytes are `?`.
pub fn uses(source: &[u8], language: Language) -> Vec<Use> {
    read(source, language).uses
}

/// As [`uses`], with the comments that allow findings and what is strange about these.
///
/// ```
/// use vop_ptx::{find::Language, uses};
/// let source = b"asm(\"vabsdiff4.u32.u32.u32.sat d, a, b, c;\"); // vop: allow(V0702)";
/// let file = uses::read(source, Language::Cuda);
/// assert!(file.uses[0].lints.is_empty());
/// assert_eq!(file.uses[0].allowed[0].code, vop::Code::V0702);
/// assert!(file.suppressions[0].codes[0].used && file.lints.is_empty());
/// ```
pub fn read(source: &[u8], language: Language) -> FileUses {
    read_with(source, language, &mut Linter::default())
}

/// As [`read`], with what a linter has found out before: a file that is read again and again is then read faster.
pub fn read_with(source: &[u8], language: Language, linter: &mut Linter) -> FileUses {
    match (find::may_contain(source), language) {
        (false, _) => completed(source, language, Vec::new()),
        (true, Language::Ptx) => read_module(&Module::parse(text(source)), linter),
        (true, _) => completed(source, language, in_source(source, language, linter)),
    }
}

/// As [`read_with`], of a file of PTX that has been read as a module.
pub fn read_module(module: &Module, linter: &mut Linter) -> FileUses {
    let source = module.text().as_bytes();
    let uses = if find::may_contain(source) { in_module_with(module, linter) } else { Vec::new() };
    completed(source, Language::Ptx, uses)
}

/// With the comments of the file.
fn completed(source: &[u8], language: Language, mut uses: Vec<Use>) -> FileUses {
    let (suppressions, lints) = suppression::apply(source, language, &mut uses);
    say_once_of_macros(&mut uses);
    FileUses { uses, suppressions, lints }
}

/// The text of a file; a byte that is not UTF-8 becomes a `?`, so that positions stay.
pub fn text(source: &[u8]) -> Cow<'_, str> {
    if let Ok(text) = std::str::from_utf8(source) {
        return text.into();
    }
    let mut text = String::with_capacity(source.len());
    for chunk in source.utf8_chunks() {
        text.push_str(chunk.valid());
        text.extend(chunk.invalid().iter().map(|_| '?'));
    }
    text.into()
}

fn in_source(source: &[u8], language: Language, linter: &mut Linter) -> Vec<Use> {
    let mut uses: Vec<Use> = Vec::new();
    let mut reads_outputs = false;
    let prepared = find::prepare(source, language);
    let found_all = find::find_all(&prepared, source, language);
    let bodies = said_of_bodies(&found_all, source, linter);
    for found in found_all {
        let (repeats, spelled) = (found.context().repeats, found.spelled_offset(0));
        let definition = found.context().definition;
        let (mut found, reads_output) = judged(found, source, linter);
        reads_outputs |= reads_output;
        if repeats {
            // A use of a macro says what the macro's body says, except of its own operands.
            let said = bodies.get(&(spelled, found.text.clone())).map(|body| body.said.as_slice()).unwrap_or_default();
            let Verdict::Illegal(faults) = &mut found.verdict else { continue };
            faults.retain(|fault| !said.contains(&(fault.code, fault.message.clone())));
            if faults.is_empty() {
                continue;
            }
        }
        if let Some(body) = bodies.get(&(spelled, found.text.clone())).filter(|body| definition && body.uses > 1) {
            found.note(&format!("this file uses the macro {} times", body.uses));
        }
        uses.push(found);
    }
    judge_modules(source, language, &mut uses);
    keep_numbers(&prepared, &mut uses);
    if reads_outputs || uses.iter().any(Use::sums_lanes) {
        let texts = find::steps(&prepared);
        lint_packed(source, &texts, &mut uses);
        lint_unwritten(source, &texts, &mut uses);
    }
    say_once(&mut uses);
    uses
}

/// An instruction that stands as a whole in a macro's body.
struct Body {
    /// The codes and messages of its faults.
    said: Vec<(Code, String)>,
    /// The number of uses of the macro that write it.
    uses: usize,
}

/// What is said of the instructions in macros' bodies whose uses say nothing more, by where they are spelled and their text.
fn said_of_bodies(found_all: &[Found], source: &[u8], linter: &mut Linter) -> HashMap<(usize, String), Body> {
    let mut bodies: HashMap<(usize, String), Body> = HashMap::new();
    let mut places = HashSet::new();
    for found in found_all.iter().filter(|found| found.context().repeats) {
        let key = (found.spelled_offset(0), found.text.clone());
        let body = bodies.entry(key).or_insert(Body { said: Vec::new(), uses: 0 });
        body.uses += usize::from(places.insert((found.source_offset(0), found.spelled_offset(0))));
    }
    if bodies.is_empty() {
        return bodies;
    }
    for found in found_all.iter().filter(|found| found.context().definition) {
        if let Some(body) = bodies.get_mut(&(found.spelled_offset(0), found.text.clone()))
            && let (Use { verdict: Verdict::Illegal(faults), .. }, _) = judged(found.clone(), source, linter)
        {
            body.said = faults.into_iter().map(|fault| (fault.code, fault.message)).collect();
        }
    }
    bodies
}

/// Leaves out findings that another instruction at the same place has: what a template's arguments, the branches of `#if` or two
/// instructions of one macro have in common.
fn say_once(uses: &mut [Use]) {
    let mut said: HashSet<(Code, Range<usize>, String)> = HashSet::new();
    for i in 0..uses.len() {
        // Few places hold more than one.
        let shares = |j: usize| uses.get(j).is_some_and(|other: &Use| other.span.start == uses[i].span.start);
        if !(shares(i + 1) || i.checked_sub(1).is_some_and(shares)) {
            continue;
        }
        let mut is_new = |one: &Diagnostic| said.insert((one.code, one.span.clone(), one.message.clone()));
        let one = &mut uses[i];
        one.lints.retain(&mut is_new);
        if let Verdict::Illegal(faults) = &mut one.verdict {
            faults.retain(is_new);
        }
    }
}

/// How a finding says that a macro's definition spells all that it is about.
const WRITTEN: &str = "written by this macro";

/// Leaves out findings that the first use of a macro has: those about text that the macro itself spells, in instructions with the
/// same modifiers. Those that a comment allows at a use have no part in this.
fn say_once_of_macros(uses: &mut [Use]) {
    /// Its code, its place in the definition, what it says, and the modifiers of its instruction.
    type Said = (Code, Range<usize>, String, String);
    // The first instruction that has it, and how many have it.
    let mut said: HashMap<Said, (usize, usize)> = HashMap::new();
    for (i, one) in uses.iter_mut().enumerate() {
        let (text, allowed) = (&one.text, &one.allowed);
        let mut is_new = |finding: &Diagnostic| {
            let place = finding.related.iter().find(|(_, label)| label == WRITTEN).map(|(place, _)| place.clone());
            let Some(place) = place.filter(|_| !allowed.contains(finding)) else { return true };
            let opcode = text.split_whitespace().find(|word| !word.starts_with('@')).unwrap_or_default();
            let (_, count) = said
                .entry((finding.code, place, finding.message.clone(), opcode.to_owned()))
                .and_modify(|(_, count)| *count += 1)
                .or_insert((i, 1));
            *count == 1
        };
        one.lints.retain(&mut is_new);
        if let Verdict::Illegal(faults) = &mut one.verdict {
            faults.retain(is_new);
        }
    }
    for ((code, place, message, _), (first, count)) in said {
        let one = &mut uses[first];
        let faults = match &mut one.verdict {
            Verdict::Illegal(faults) => faults.as_mut_slice(),
            _ => &mut [],
        };
        let is_it = |finding: &&mut Diagnostic| {
            finding.code == code && finding.message == message && finding.related.iter().any(|(at, _)| *at == place)
        };
        if let Some(finding) = one.lints.iter_mut().chain(faults).find(is_it).filter(|_| count > 1) {
            finding.notes.push(format!("{count} uses of the macro in this file write it"));
        }
    }
}

/// Judges the strings that are whole modules as files of PTX are judged: with the registers that they declare.
fn judge_modules(source: &[u8], language: Language, uses: &mut Vec<Use>) {
    let texts = find::modules(source, language);
    if texts.is_empty() {
        return;
    }
    let mut modules: Vec<(&Found, Range<usize>, Module)> = Vec::new();
    // The versions of a template begin at one place, and are modules all or none.
    let mut open = HashSet::new();
    for text in &texts {
        let place = text.source_offset(0)..text.source_offset(text.text.len());
        let module = Module::parse(text.text.as_str());
        if is_whole(&module) {
            modules.push((text, place, module));
        } else {
            open.insert(place.start);
        }
    }
    modules.retain(|(_, place, _)| !open.contains(&place.start));
    modules.sort_by_key(|(_, place, _)| place.start);
    uses.retain(|found| {
        let begun = modules.partition_point(|(_, place, _)| place.start <= found.span.start);
        begun == 0 || found.span.start >= modules[begun - 1].1.end
    });
    let mut seen = HashSet::new();
    for (text, _, module) in &modules {
        let all = |diagnostics: Vec<Diagnostic>| -> Vec<Diagnostic> {
            let in_file = |mut diagnostic: Diagnostic| {
                let patch = patch::in_string(std::mem::take(&mut diagnostic.patch), text, source);
                let mut moved = diagnostic.moved(|span| text.source_span(span));
                moved.patch = patch;
                moved
            };
            diagnostics.into_iter().map(in_file).collect()
        };
        for found in in_module(module) {
            let end = text.source_offset(found.extent.end.saturating_sub(1)) + 1;
            let span = text.source_span(found.span);
            if !seen.insert((span.start, found.text.clone())) {
                continue;
            }
            uses.push(Use {
                text: found.text,
                verdict: match found.verdict {
                    Verdict::Illegal(faults) => Verdict::Illegal(all(faults)),
                    other => other,
                },
                lints: all(found.lints),
                allowed: Vec::new(),
                extent: span.start..end.max(span.end),
                span,
                definition: None,
                block: found.block,
            });
        }
    }
    uses.sort_by_key(|found| found.span.start);
}

/// Whether a text is a module from its beginning to its end: it says its version first, and all braces are closed.
fn is_whole(module: &Module) -> bool {
    let begins = module.statements().first().is_some_and(|first| match &first.kind {
        StatementKind::Directive { name, .. } => module.slice(name) == ".version",
        _ => false,
    });
    let text = module.text();
    begins
        && module.functions().iter().any(|function| function.body.is_some())
        && module.scopes().iter().skip(1).all(|scope| text[scope.span.clone()].ends_with('}'))
}

/// Judges an instruction. Also says whether it reads an operand that the `asm` is only to write.
pub(crate) fn judged(found: Found, source: &[u8], linter: &mut Linter) -> (Use, bool) {
    let (whole, bare) = (Parser::new(), Parser::new().allow_bare());
    let mut block = None;
    let mut in_file = |diagnostics: Vec<Diagnostic>| -> Vec<Diagnostic> {
        block = block.take().or_else(|| patch::block_of(&diagnostics));
        let mut all: Vec<Diagnostic> = Vec::new();
        for diagnostic in diagnostics.into_iter().map(|diagnostic| placed(diagnostic, &found, source)) {
            // A use of a macro may have one fault in several places of its definition.
            let is_same = |other: &Diagnostic| {
                (other.code, &other.span, &other.message) == (diagnostic.code, &diagnostic.span, &diagnostic.message)
            };
            if !all.iter().any(is_same) {
                all.push(diagnostic);
            }
        }
        all
    };
    let (text, minuses) = without_minuses(&found, source);
    let special = operands::special(&found, source);
    let registers = special.as_ref().map(|special| special as &dyn vop::Declarations);
    let whole = registers.map_or(whole, |registers| whole.with_registers(registers));
    let (parsed, fragment) = match found.kind {
        FoundKind::Statement => (Ok(whole.parse_with_places(&text)), false),
        FoundKind::Fragment => (Ok(bare.parse_with_places(&text)), true),
        FoundKind::Partial(reason) => (Err(Verdict::Unjudged(reason)), false),
        FoundKind::Label => (Err(Verdict::Label), false),
    };
    let mut reads_output = false;
    let (verdict, lints) = match parsed {
        Ok(Ok((instruction, places))) => {
            let faults = if fragment { Vec::new() } else { operands::faults(&found, source, &instruction, &places) };
            if faults.is_empty() {
                reads_output = operands::reads_output(&found, source, &instruction, &places);
                let verdict = if fragment { Verdict::LegalFragment } else { Verdict::Legal };
                let mut lints = linter.lint(&text, &instruction, &places);
                lints.iter_mut().for_each(|lint| as_file_writes(lint, &found, source));
                let mut lints = in_file(lints);
                if !fragment {
                    lints.extend(operands::lints(&found, source, &instruction, &places));
                }
                (verdict(instruction.form), lints)
            } else {
                (Verdict::Illegal(faults), Vec::new())
            }
        }
        Ok(Err(faults)) if fragment && is_cut_short(&faults, &found.text) => {
            (Verdict::Unjudged(PartialReason::CutShort), Vec::new())
        }
        Ok(Err(mut faults)) => {
            faults.iter_mut().for_each(|fault| with_minuses(fault, &minuses));
            faults.iter_mut().for_each(|fault| as_file_writes(fault, &found, source));
            (Verdict::Illegal(in_file(faults)), Vec::new())
        }
        Err(Verdict::Unjudged(reason)) if reason != PartialReason::CutShort => {
            (operands::incomplete(&found, source, reason), Vec::new())
        }
        Err(verdict) => (verdict, Vec::new()),
    };
    let span = found.source_span(0..found.text.len());
    let extent = found.source_offset(0)..found.source_offset(found.text.len()).max(span.end);
    let definition = found.definition_span(0..found.text.len());
    let text = match verdict {
        Verdict::Unjudged(_) => found.as_written(source),
        _ => found.text,
    };
    (Use { text, span, verdict, lints, allowed: Vec::new(), extent, definition, block }, reads_output)
}

/// The operands of an instruction that are operands of its `asm`: those that the `asm` has.
pub(crate) fn asm_operands<'f>(
    found: &'f Found,
    source: &[u8],
    places: &vop::Places,
) -> impl Iterator<Item = Option<&'f find::AsmOperand>> + use<'f> {
    operands::used(found, source, places).into_iter().map(|used| used.operand)
}

/// The text of an instruction, a `_` for the minus of each negative number that completes a word of it, `.b%4` with -1: so it is one word
/// and one fault. Also these words, as they are in the text and with a minus.
fn without_minuses<'f>(found: &'f Found, source: &[u8]) -> (Cow<'f, str>, Vec<(String, String)>) {
    let text = found.text.as_str();
    if found.context().filled.is_empty() {
        return (text.into(), Vec::new());
    }
    let is_filled = |at: usize| {
        text[..at].ends_with(|c: char| is_name(c) || c == '.')
            && source.get(found.spelled_offset(at)).is_some_and(|byte| *byte != b'-')
    };
    let minuses: Vec<usize> = text.match_indices('-').map(|(at, _)| at).filter(|&at| is_filled(at)).collect();
    let mut changed = text.to_owned();
    minuses.iter().for_each(|&at| changed.replace_range(at..=at, "_"));
    let words = minuses.iter().map(|&at| {
        let start = changed[..at].rfind(|c: char| !is_name(c)).map_or(0, |before| before + 1);
        let end = changed[at..].find(|c: char| !is_name(c)).map_or(changed.len(), |len| at + len);
        (changed[start..end].to_owned(), text[start..end].to_owned())
    });
    let words = words.collect();
    (changed.into(), words)
}

/// Writes the minuses in a diagnostic again.
fn with_minuses(fault: &mut Diagnostic, words: &[(String, String)]) {
    for (without, with) in words {
        let texts = [&mut fault.message, &mut fault.label].into_iter().chain(&mut fault.help);
        texts.for_each(|text| *text = text.replace(without, with));
    }
}

/// A diagnostic of a text with its places in the file: at the use, with the places that a macro's definition and the values of
/// operands have in it.
fn placed(mut diagnostic: Diagnostic, found: &Found, source: &[u8]) -> Diagnostic {
    let patch = patch::in_file(std::mem::take(&mut diagnostic.patch), found, source);
    let definition = found.definition_span(diagnostic.span.clone());
    let whole = found.is_of_macros(diagnostic.span.clone());
    let mut placed = diagnostic.moved(|span| found.source_span(span));
    placed.patch = patch;
    let context = found.context();
    let name = context.macro_name.clone().filter(|_| !context.definition);
    if let Some(place) = definition {
        placed = placed.related(place, if whole { WRITTEN } else { "partly written by this macro" });
    } else if let Some(place) = name {
        placed = placed.related(place, "in this macro");
    }
    for filled in &context.filled {
        placed = placed.related(filled.place.clone(), filled.says.clone());
    }
    match expanded(found) {
        Some(text) => placed.note(text),
        None => placed,
    }
}

/// The instruction that a use of a macro writes, which the file does not show there.
fn expanded(found: &Found) -> Option<String> {
    let is_use = !found.context().definition && found.definition_span(0..found.text.len()).is_some();
    is_use.then(|| format!("with macros expanded: `{}`", one_line(&found.text)))
}

/// Writes the names of registers in a diagnostic as the file writes them: `{c}`, not `%c`.
fn as_file_writes(lint: &mut Diagnostic, found: &Found, source: &[u8]) {
    let names = names_in_file(found, source);
    if names.is_empty() {
        return;
    }
    let renamed = |text: &str, braces: bool| {
        let mut all = String::new();
        for part in text.split_inclusive(|c| !is_name(c)) {
            let word = part.trim_end_matches(|c| !is_name(c));
            let in_file = names.iter().find(|(name, _)| *name == word).map_or(word, |(_, in_file)| in_file);
            let behind = &part[word.len()..];
            all.push_str(in_file);
            all.push_str(behind);
            if braces && matches!(behind, "{" | "}") {
                all.push_str(behind);
            }
        }
        all
    };
    lint.message = renamed(&lint.message, false);
    lint.related.iter_mut().for_each(|(_, label)| *label = renamed(label, false));
    let Some(help) = &mut lint.help else { return };
    let is_block = help.contains('\n');
    if is_block && names.iter().any(|(name, in_file)| name.contains('$') && !in_file.contains('$')) {
        // Each of those takes the next argument, and a block names registers several times.
        *help = match lint.code {
            Code::V0701 | Code::V0709 => format!("write it in base PTX: `vop explain {}` says more", lint.code),
            _ => help.split_once(":\n").map_or(help.as_str(), |(what, _)| what).to_owned(),
        };
    } else {
        // Where braces hold names, those of a block are doubled.
        *help = renamed(
            help,
            is_block
                && names.iter().any(|(_, in_file)| {
                    // Not those of JavaScript's, MLIR's and Jinja's operands.
                    in_file.contains('{') && !["${", "{$", "{{"].iter().any(|other| in_file.contains(other))
                }),
        );
    }
}

/// The names of an instruction that the file spells in another way, and how.
fn names_in_file(found: &Found, source: &[u8]) -> Vec<(String, String)> {
    let mut names = Vec::new();
    let mut at = 0;
    for part in found.text.split_inclusive(|c| !is_name(c)) {
        let word = part.trim_end_matches(|c| !is_name(c));
        let place = at..at + word.len();
        let spelled = found.definition_span(place.clone()).unwrap_or_else(|| found.source_span(place));
        let in_file = source.get(spelled).map(String::from_utf8_lossy);
        at += part.len();
        // What macros and operators paste stands outside the string.
        let in_file = in_file.filter(|text| text.starts_with(['%', '$', '{', '`', '\\']) && *text != word);
        if let (Some(in_file), true) = (in_file, word.starts_with('%')) {
            names.push((word.to_owned(), in_file.into_owned()));
        }
    }
    names
}

fn is_name(c: char) -> bool {
    c.is_alphanumeric() || matches!(c, '_' | '$' | '%')
}

/// The statements of a string. Registers of one name are taken for one.
struct InText<'t>(&'t [find::Step]);

impl<'t> packed::Statements<'t> for InText<'t> {
    type Register = &'t str;

    fn effect(&self, statement: usize) -> packed::Effect<'t> {
        match &self.0[statement] {
            find::Step::Other(text) => packed::effect(text),
            find::Step::Video(_) | find::Step::Break | find::Step::Unknown => packed::Effect::Break,
        }
    }

    fn register(&self, _: usize, name: &'t str) -> &'t str {
        name
    }
}

/// Adds the lints that depend on the statements around an instruction.
fn lint_packed(source: &[u8], texts: &[Vec<find::Step>], uses: &mut [Use]) {
    for steps in texts {
        let whole = steps.iter().enumerate().filter_map(|(i, step)| match step {
            find::Step::Video(found) if found.kind == FoundKind::Statement => Some((i, found)),
            _ => None,
        });
        // Those that are legal, and what each was found as.
        let (found, videos): (Vec<&Found>, Vec<Video<'_>>) =
            whole.filter_map(|(i, found)| Some((found, Video::read(i, &found.text)?))).unzip();
        for mistaken in packed::find(&videos, &InText(steps)) {
            let (sum, other) = (found[mistaken.sum], found[mistaken.other]);
            let mut lint = mistaken.diagnostic(&videos, |span| sum.source_span(span), |span| other.source_span(span));
            lint.iter_mut().for_each(|lint| as_file_writes(lint, sum, source));
            if let (Some(lint), Some(found)) = (lint, use_of(uses, sum)) {
                found.add_lint(lint);
            }
        }
    }
}

/// Takes back the patches that make a register of a number (V0408) which another statement of the template takes too.
fn keep_numbers(prepared: &find::Prepared, uses: &mut [Use]) {
    let is_made = |fault: &Diagnostic| fault.code == Code::V0408 && matches!(fault.patch, vop::Patch::Edits(_));
    if !uses.iter().any(|one| one.all_faults().iter().any(is_made)) {
        return;
    }
    for steps in find::steps(prepared) {
        let others: HashSet<&str> = steps
            .iter()
            .filter_map(|step| match step {
                find::Step::Other(text) => Some(text.split(|c| !is_name(c))),
                _ => None,
            })
            .flatten()
            .filter(|word| word.starts_with('%') || word.starts_with('$'))
            .collect();
        for step in &steps {
            let find::Step::Video(found) = step else { continue };
            let Some(asm) = &found.context().asm else { continue };
            let named: Vec<&find::AsmOperand> = others
                .iter()
                .filter_map(|word| asm.index(&word[1..]))
                .filter_map(|index| asm.operands.get(index))
                .collect();
            let Some(Verdict::Illegal(faults)) = use_of(uses, found).map(|one| &mut one.verdict) else { continue };
            for fault in faults.iter_mut().filter(|fault| is_made(fault)) {
                if named.iter().any(|operand| operand.whole == fault.span) {
                    fault.patch = vop::Patch::OutOfReach("another instruction takes the number");
                }
            }
        }
    }
}

/// Adds the lints about operands that are read before they are written.
fn lint_unwritten(source: &[u8], texts: &[Vec<find::Step>], uses: &mut [Use]) {
    for steps in texts {
        for (found, lint) in unwritten::find(steps, source) {
            if let Some(of) = use_of(uses, found) {
                of.add_lint(lint);
            }
        }
    }
}

/// The use that an instruction of a text is.
fn use_of<'u>(uses: &'u mut [Use], found: &Found) -> Option<&'u mut Use> {
    let start = found.source_offset(0);
    // They are sorted; versions of a text, and what a macro writes, may have several in one place.
    let first = uses.partition_point(|found| found.span.start < start);
    let here = uses[first..].iter_mut().take_while(|found| found.span.start == start);
    here.into_iter().find(|one| one.text == found.text)
}

impl Use {
    /// Where the definition of the macro that writes the instruction spells it, if one does: then [`Use::span`] is the macro's use.
    pub fn written_at(&self) -> Option<Range<usize>> {
        self.definition.clone()
    }

    /// The block that edits write in its place, as PTX, if they do.
    pub(crate) fn block(&self, edits: &[vop::Edit]) -> Option<&str> {
        self.block.as_deref().filter(|_| matches!(edits, [edit] if patch::is_block(&edit.text)))
    }

    /// Why it is not legal, as far as no comment allows that; empty where it is legal.
    pub fn faults(&self) -> impl Iterator<Item = &Diagnostic> {
        self.all_faults().iter().filter(|fault| !self.allowed.contains(fault))
    }

    fn all_faults(&self) -> &[Diagnostic] {
        match &self.verdict {
            Verdict::Illegal(faults) => faults,
            _ => &[],
        }
    }

    fn sums_lanes(&self) -> bool {
        matches!(self.verdict, Verdict::Legal(form) if matches!(form.finish(), Finish::Accumulate(_)))
    }

    /// Adds a note to each of its findings.
    fn note(&mut self, note: &str) {
        let faults = match &mut self.verdict {
            Verdict::Illegal(faults) => faults.as_mut_slice(),
            _ => &mut [],
        };
        for finding in self.lints.iter_mut().chain(faults) {
            finding.notes.push(note.to_owned());
        }
    }

    /// Adds a lint if it is legal and has none with its code: a text that is read in several versions may show it in each.
    fn add_lint(&mut self, lint: Diagnostic) {
        if matches!(self.verdict, Verdict::Legal(_)) && self.lints.iter().all(|other| other.code != lint.code) {
            self.lints.push(lint);
            self.lints.sort_by_key(|lint| lint.span.start);
        }
    }
}

/// Whether the only faults of a mnemonic with modifiers are missing ones, which may be pasted behind them.
fn is_cut_short(faults: &[Diagnostic], text: &str) -> bool {
    let mnemonic = text.split('.').next().and_then(|name| Mnemonic::from_name(name.trim()));
    let types = text.split('.').filter(|word| Type::from_name(word.trim()).is_some()).count();
    faults.iter().all(|fault| matches!(fault.code, Code::V0203 | Code::V0206))
        && mnemonic.is_some_and(|mnemonic| types <= mnemonic.types())
}

/// The video instructions of a module; comments that allow findings are not looked at.
pub fn in_module(module: &Module) -> Vec<Use> {
    in_module_with(module, &mut Linter::default())
}

fn in_module_with(module: &Module, linter: &mut Linter) -> Vec<Use> {
    let mut uses = Vec::new();
    // Which statement each use is, and those that are legal.
    let (mut indexes, mut videos) = (Vec::new(), Vec::new());
    for (index, statement) in module.statements().iter().enumerate() {
        let text = module.slice(&statement.span);
        let (opcode, unfinished) = match &statement.kind {
            StatementKind::Instruction { opcode, .. } if find::may_be_meant(module.slice(opcode)) => {
                (opcode.clone(), false)
            }
            // The reader takes text without an end for no instruction, but it may have been meant as one.
            StatementKind::Other => (statement.span.start + opcode_start(text)..statement.span.end, true),
            _ => continue,
        };
        let written = lex::without_trivia(module.slice(&opcode));
        if !find::is_meant(&written) {
            continue;
        }
        let registers = RegistersAt { module, scope: statement.scope, at: statement.span.start };
        let parsed = Parser::new().with_registers(&registers).parse_with_places(text);
        let start = statement.span.start;
        let in_file = |diagnostic: Diagnostic| {
            patch::in_module(diagnostic.moved(|span| start + span.start..start + span.end), module)
        };
        let mut faults: Vec<Diagnostic> = match &parsed {
            Ok(_) => Vec::new(),
            Err(faults) => faults.iter().cloned().map(in_file).collect(),
        };
        if unfinished && faults.is_empty() {
            faults.push(unfinished_statement(statement.span.end));
        }
        if let Some(mnemonic) = written.split('.').next().and_then(Mnemonic::from_name) {
            faults.extend(too_old(module, mnemonic, opcode.start..opcode.start + mnemonic.name().len()));
        }
        let (verdict, lints) = match parsed {
            Ok((instruction, places)) if faults.is_empty() => {
                let lints =
                    linter.lint_among(text, &instruction, &places, Some(&registers)).into_iter().map(in_file).collect();
                videos.push(Video::new(index, text, instruction, places));
                (Verdict::Legal(instruction.form), lints)
            }
            _ => (Verdict::Illegal(faults), Vec::new()),
        };
        let text = one_line(text);
        let (span, extent) = (statement.span.clone(), statement.span.clone());
        let block = match &verdict {
            Verdict::Illegal(faults) => patch::block_of(faults),
            _ => patch::block_of(&lints),
        };
        uses.push(Use { text, span, verdict, lints, allowed: Vec::new(), extent, definition: None, block });
        indexes.push(index);
    }
    lint_packed_in_module(module, &mut uses, &indexes, &videos);
    uses
}

/// The statements of a module, and which of them are uses.
struct InModule<'m> {
    module: &'m Module,
    uses: &'m [usize],
}

/// A register as a module declares it, or a name that it does not declare.
#[derive(PartialEq)]
enum Named<'m> {
    Declared(FoundRegister),
    Other(&'m str),
}

impl<'m> packed::Statements<'m> for InModule<'m> {
    type Register = Named<'m>;

    fn effect(&self, index: usize) -> packed::Effect<'m> {
        let statement = &self.module.statements()[index];
        match &statement.kind {
            // An instruction that is not legal may do anything.
            StatementKind::Instruction { .. } if self.uses.binary_search(&index).is_ok() => packed::Effect::Break,
            StatementKind::Instruction { .. } => packed::effect(self.module.slice(&statement.span)),
            StatementKind::Label { .. } | StatementKind::FunctionHeader | StatementKind::Other => packed::Effect::Break,
            _ => packed::Effect::Writes(""),
        }
    }

    fn register(&self, index: usize, name: &'m str) -> Named<'m> {
        let statement = &self.module.statements()[index];
        let found = self.module.find_register(statement.scope, name, statement.span.start);
        found.map_or(Named::Other(name), Named::Declared)
    }
}

/// Adds the lints that depend on the statements around an instruction. `indexes` are the statements that the uses are, `videos` those
/// that are legal.
fn lint_packed_in_module(module: &Module, uses: &mut [Use], indexes: &[usize], videos: &[Video<'_>]) {
    for mistaken in packed::find(videos, &InModule { module, uses: indexes }) {
        let at = |video: usize| {
            let start = module.statements()[videos[video].statement].span.start;
            move |span: Range<usize>| start + span.start..start + span.end
        };
        let lint = mistaken.diagnostic(videos, at(mistaken.sum), at(mistaken.other));
        let found = indexes.binary_search(&videos[mistaken.sum].statement).ok().and_then(|i| uses.get_mut(i));
        if let (Some(lint), Some(found)) = (lint, found) {
            found.add_lint(lint);
        }
    }
}

/// Where the opcode of an instruction begins: behind its guard, if it has one.
fn opcode_start(text: &str) -> usize {
    let Some(guard) = text.strip_prefix('@') else { return 0 };
    let name = guard.trim_start_matches(|c: char| c == '!' || c.is_whitespace());
    let behind = name.trim_start_matches(|c: char| c.is_alphanumeric() || matches!(c, '_' | '$' | '%')).trim_start();
    text.len() - behind.len()
}

/// An instruction without comments, line breaks and semicolon.
fn one_line(text: &str) -> String {
    let may_begin_trivia = |byte: &u8| byte.is_ascii_control() || matches!(byte, b' ' | b'/');
    let mut line = String::with_capacity(text.len());
    let mut at = 0;
    while at < text.len() {
        let next = lex::skip_trivia(text, at);
        if next > at {
            at = next;
            if !line.is_empty() {
                line.push(' ');
            }
        } else {
            let rest = &text.as_bytes()[at + 1..];
            let end = at + 1 + rest.iter().position(may_begin_trivia).unwrap_or(rest.len());
            line.push_str(&text[at..end]);
            at = end;
        }
    }
    line.truncate(line.trim_end_matches(';').trim_end().len());
    line
}

fn unfinished_statement(end: usize) -> Diagnostic {
    let fault = Diagnostic::new(Code::V0101, end..end, "the instruction has no end");
    fault.label("expected `;`").help("write `;`").edit(end..end, ";")
}

/// Faults of an instruction that the module's `.version` or `.target` is too old for.
fn too_old(module: &Module, mnemonic: Mnemonic, span: Range<usize>) -> Vec<Diagnostic> {
    let mut faults = Vec::new();
    let mut fault = |code, message: String, directive: &str, help: String| {
        let fault = Diagnostic::new(code, span.clone(), message).help(help);
        faults.push(match directive_span(module, directive) {
            Some(span) => fault.related(span, "set here"),
            None => fault,
        });
    };
    let (major, minor) = mnemonic.row().version;
    if let Some((has_major, has_minor)) = module.version().filter(|&version| version < (major, minor)) {
        let message =
            format!("`{mnemonic}` needs PTX {major}.{minor}, and the module's `.version` is {has_major}.{has_minor}");
        fault(Code::V0501, message, ".version", format!("write `.version {major}.{minor}` or higher"));
    }
    let number =
        |target: &str| target.strip_prefix("sm_")?.trim_end_matches(|c: char| c.is_ascii_alphabetic()).parse().ok();
    let needed = mnemonic.row().target;
    if let Some(target) = module.target().filter(|target| number(target).is_some_and(|number: u32| number < needed)) {
        let message = format!("`{mnemonic}` needs target sm_{needed}, and the module's `.target` is {target}");
        fault(Code::V0502, message, ".target", format!("write `.target sm_{needed}` or higher"));
    }
    faults
}

fn directive_span(module: &Module, wanted: &str) -> Option<Range<usize>> {
    module.statements().iter().find_map(|statement| match &statement.kind {
        StatementKind::Directive { name, .. } if module.slice(name) == wanted => Some(statement.span.clone()),
        _ => None,
    })
}
