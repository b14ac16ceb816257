//! The video instructions of a file, found and judged: what `vop check` reports.

use std::borrow::Cow;
use std::ops::Range;

use vop::isa::types::Type;
use vop::{Code, Diagnostic, Form, Mnemonic, Parser};

use crate::find::{self, FoundKind, Language, PartialReason};
use crate::module::{Module, RegistersAt, StatementKind, lex};

/// A video instruction of a file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Use {
    /// The instruction as plain PTX, on one line, without its semicolon.
    pub text: String,
    /// Where it stands in the file, in bytes.
    pub span: Range<usize>,
    /// What is to be said of it.
    pub verdict: Verdict,
}

/// What is to be said of a [`Use`].
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Verdict {
    /// It is legal.
    Legal(Form),
    /// Mnemonic and modifiers are legal; the operands stand elsewhere.
    LegalFragment(Form),
    /// It is not legal: why, with positions in the file.
    Illegal(Vec<Diagnostic>),
    /// It cannot be judged from the file alone.
    Unjudged(PartialReason),
}

/// Finds and judges every video instruction of a file, in its order. In PTX the registers in scope and the module's
/// `.version` and `.target` are judged too.
///
/// Bytes that are not UTF-8 are no obstacle; in [`Use::text`] they show as `?`.
pub fn uses(source: &[u8], language: Language) -> Vec<Use> {
    if !find::may_contain(source) {
        return Vec::new();
    }
    match language {
        Language::Ptx => in_module(&Module::parse(text(source))),
        _ => in_source(source, language),
    }
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

fn in_source(source: &[u8], language: Language) -> Vec<Use> {
    let whole = Parser::new();
    let bare = Parser::new().allow_bare();
    find::find(source, language)
        .into_iter()
        .map(|found| {
            let (parsed, fragment) = match found.kind {
                FoundKind::Statement => (whole.parse(&found.text), false),
                FoundKind::Fragment => (bare.parse(&found.text), true),
                FoundKind::Partial(reason) => {
                    let span = found.source_span(0..found.text.len());
                    return Use { span, text: found.text, verdict: Verdict::Unjudged(reason) };
                }
            };
            let verdict = match parsed {
                Ok(instruction) if fragment => Verdict::LegalFragment(instruction.form),
                Ok(instruction) => Verdict::Legal(instruction.form),
                Err(faults) if fragment && is_cut_short(&faults, &found.text) => {
                    Verdict::Unjudged(PartialReason::CutShort)
                }
                Err(faults) => Verdict::Illegal(
                    faults.into_iter().map(|fault| moved(fault, |span| found.source_span(span))).collect(),
                ),
            };
            Use { span: found.source_span(0..found.text.len()), text: found.text, verdict }
        })
        .collect()
}

/// Whether a mnemonic with modifiers lacks some that may be pasted behind them, and is right so far.
fn is_cut_short(faults: &[Diagnostic], text: &str) -> bool {
    let mnemonic = text.split('.').next().and_then(|name| Mnemonic::from_name(name.trim()));
    let types = text.split('.').filter(|word| Type::from_name(word.trim()).is_some()).count();
    faults.iter().all(|fault| matches!(fault.code, Code::V0203 | Code::V0206))
        && mnemonic.is_some_and(|mnemonic| types <= mnemonic.types())
}

/// A diagnostic with its positions translated.
fn moved(fault: Diagnostic, translate: impl Fn(Range<usize>) -> Range<usize>) -> Diagnostic {
    Diagnostic {
        span: translate(fault.span),
        related: fault.related.into_iter().map(|(span, label)| (translate(span), label)).collect(),
        ..fault
    }
}

/// The video instructions of a module.
pub fn in_module(module: &Module) -> Vec<Use> {
    let mut uses = Vec::new();
    for statement in module.statements() {
        let text = module.slice(&statement.span);
        let (opcode, unfinished) = match &statement.kind {
            StatementKind::Instruction { opcode, .. } => (opcode.clone(), false),
            // What has no end is no instruction to the reader, and yet may have been meant as one.
            StatementKind::Other => (statement.span.start + opcode_start(text)..statement.span.end, true),
            _ => continue,
        };
        if !find::is_meant(&lex::without_trivia(module.slice(&opcode))) {
            continue;
        }
        let registers = RegistersAt { module, scope: statement.scope, at: statement.span.start };
        let parsed = Parser::new().with_registers(&registers).parse(text);
        let start = statement.span.start;
        let mut faults = match &parsed {
            Ok(_) => Vec::new(),
            Err(faults) => {
                faults.iter().cloned().map(|fault| moved(fault, |span| start + span.start..start + span.end)).collect()
            }
        };
        if unfinished && faults.is_empty() {
            faults.push(unfinished_statement(statement.span.end));
        }
        let name = lex::without_trivia(module.slice(&opcode)).split('.').next().unwrap_or_default().to_owned();
        if let Some(mnemonic) = Mnemonic::from_name(&name) {
            faults.extend(too_old(module, mnemonic, opcode.start..opcode.start + mnemonic.name().len()));
        }
        let verdict = match parsed {
            Ok(instruction) if faults.is_empty() => Verdict::Legal(instruction.form),
            _ => Verdict::Illegal(faults),
        };
        let text = one_line(text);
        uses.push(Use { text, span: statement.span.clone(), verdict });
    }
    uses
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
    let mut line = String::new();
    let mut at = 0;
    while at < text.len() {
        let next = lex::skip_trivia(text, at);
        if next > at {
            at = next;
            if !line.is_empty() {
                line.push(' ');
            }
        } else if let Some(c) = text[at..].chars().next() {
            line.push(c);
            at += c.len_utf8();
        }
    }
    line.trim_end_matches(';').trim_end().to_owned()
}

fn unfinished_statement(end: usize) -> Diagnostic {
    Diagnostic {
        code: Code::V0101,
        span: end..end,
        message: "the instruction has no end".to_owned(),
        label: "expected `;`".to_owned(),
        related: Vec::new(),
        help: Some("write `;`".to_owned()),
    }
}

/// What the module's `.version` and `.target` say against an instruction.
fn too_old(module: &Module, mnemonic: Mnemonic, span: Range<usize>) -> Vec<Diagnostic> {
    let mut faults = Vec::new();
    let mut fault = |code, message: String, directive: &str, help: String| {
        faults.push(Diagnostic {
            code,
            span: span.clone(),
            message,
            label: String::new(),
            related: directive_span(module, directive).map(|span| (span, "set here".to_owned())).into_iter().collect(),
            help: Some(help),
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
