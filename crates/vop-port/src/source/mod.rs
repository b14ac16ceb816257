//! Sources with calls in the place of their `asm` statements.
//!
//! ```text
//! file ──vop_ptx::asm──► statements ──body──► steps ──write──► calls of functions, as edits of the file
//!                                       └── what cannot be carried: left as it is, with the reason
//! ```

mod body;
mod include;
mod write;

use std::ops::Range;

use vop::Semantics;
use vop_ptx::asm::{self, AsmStatement};
use vop_ptx::find::Language;
use vop_ptx::uses;

use crate::{Port, PortError, Target, port, port_base};
use body::{Body, What};

/// How sources are rewritten.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct SourceOptions {
    /// The language of the functions that are called. It must have C's syntax: [`Target::is_c`].
    pub target: Target,
    /// What d is: by the manual, or as ptxas's code computes it.
    pub semantics: Semantics,
}

impl SourceOptions {
    /// The manual's semantics.
    pub const fn new(target: Target) -> SourceOptions {
        SourceOptions { target, semantics: Semantics::Isa }
    }

    /// With another semantics.
    #[must_use]
    pub const fn semantics(self, semantics: Semantics) -> SourceOptions {
        SourceOptions { semantics, ..self }
    }
}

/// What becomes of a source file.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct PortedSource {
    /// The statements that calls stand for now, in the file's order.
    pub carried: Vec<Carried>,
    /// What is left as it is, in the file's order.
    pub left: Vec<Left>,
    /// The functions that are called, each once, in the order of their first calls.
    pub functions: Vec<Port>,
    /// The number of `asm` statements that hold no video instruction and were not carried over: other PTX, or another machine's code.
    pub others: usize,
    edits: Vec<(Range<usize>, String)>,
    include: Option<usize>,
}

/// A statement that was carried over.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Carried {
    /// Where it stood, in bytes of the file.
    pub span: Range<usize>,
    /// The number of its instructions.
    pub instructions: usize,
    /// What a reader should know: `volatile` that was dropped, a macro's parameter that is evaluated twice.
    pub notes: Vec<&'static str>,
}

/// A statement or an instruction that is left.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Left {
    /// Where it stands, in bytes of the file.
    pub span: Range<usize>,
    /// Why: a part of a sentence, without a stop.
    pub why: String,
}

/// Carries the `asm` statements of a file over to calls of functions: those that hold video instructions, and those that hold base
/// instructions alone, if all are known.
///
/// Only files in C's syntax have such statements. In others, and outside of `asm`, each instruction is [left](PortedSource::left).
/// The functions are in [`PortedSource::functions`]; [`crate::file`] writes them.
///
/// ```
/// use vop_port::source::{SourceOptions, port_source};
/// use vop_ptx::find::Language;
///
/// let source = b"    asm volatile(\"vmax4.u32.u32.u32 %0, %1, %2, %1;\" : \"=r\"(best[i]) : \"r\"(x), \"r\"(y + 1));\n";
/// let ported = port_source(source, Language::Cuda, &SourceOptions::new("hip".parse().unwrap()));
/// let text = String::from_utf8(ported.apply(source, "vop_port.h")).unwrap();
/// assert_eq!(text, "#include \"vop_port.h\"\n    best[i] = vmax4_u32_u32_u32(x, y + 1, 0);\n");
/// ```
pub fn port_source(source: &[u8], language: Language, options: &SourceOptions) -> PortedSource {
    let mut ported = PortedSource::default();
    let mut statements = Vec::new();
    if matches!(language, Language::Cuda | Language::OpenCl) && options.target.is_c() {
        statements = asm::statements(source);
    }
    for statement in &statements {
        match carried(source, statement, options) {
            Ok((text, functions, carried)) => {
                ported.edits.push((statement.span.clone(), text));
                for function in functions {
                    if ported.functions.iter().all(|known| known.name() != function.name()) {
                        ported.functions.push(function);
                    }
                }
                ported.carried.push(carried);
            }
            Err(why) if statement.is_video() => ported.left.push(Left { span: statement.span.clone(), why }),
            Err(_) => ported.others += 1,
        }
    }
    leave_others(source, language, &statements, &mut ported);
    ported.left.sort_by_key(|left| left.span.start);
    if let Some((first, _)) = ported.edits.first() {
        let places: Vec<usize> = ported.edits.iter().map(|(span, _)| span.start).collect();
        ported.include = Some(include::place(source, first.start, &places));
    }
    ported
}

/// Instructions that stand in no statement that was looked at.
fn leave_others(source: &[u8], language: Language, statements: &[AsmStatement], ported: &mut PortedSource) {
    let why = match language {
        Language::Cuda | Language::OpenCl => "it is not the text of an asm statement",
        Language::Ptx => "it is PTX; `vop lower` rewrites modules",
        _ => "calls are written into files in C's syntax only",
    };
    for found in uses::uses(source, language) {
        let is_within = |statement: &AsmStatement| {
            statement.span.start <= found.span.start
                && found.span.start < statement.span.end.max(statement.span.start + 1)
        };
        if found.verdict == uses::Verdict::Label || statements.iter().any(is_within) {
            continue;
        }
        // The use of a macro whose body was looked at: the body is left, if it was not carried over.
        let body = found.written_at();
        let of =
            body.and_then(|body| statements.iter().find(|s| s.span.start <= body.start && body.start < s.span.end));
        if let Some(statement) = of {
            let is_done = ported.carried.iter().any(|carried| carried.span == statement.span)
                || ported.left.iter().any(|left| left.span == statement.span);
            if let (false, Some(why)) = (is_done, statement.unknown) {
                ported.left.push(Left { span: statement.span.clone(), why: why.to_string() });
                ported.others -= 1;
            }
            continue;
        }
        let is_known = ported.left.iter().any(|left| left.span.start == found.span.start);
        if !is_known {
            ported.left.push(Left { span: found.span, why: why.to_string() });
        }
    }
}

type Written = (String, Vec<Port>, Carried);

fn carried(source: &[u8], statement: &AsmStatement, options: &SourceOptions) -> Result<Written, String> {
    if let Some(why) = statement.unknown {
        return Err(why.to_string());
    }
    let body = Body::read(statement)?;
    let mut functions = Vec::new();
    for step in &body.steps {
        functions.push(match &step.what {
            What::Form(form) => {
                port(*form, options.target, options.semantics).map_err(|error: PortError| error.to_string())?
            }
            What::Base(base) => port_base(base, options.target),
        });
    }
    let (text, called, notes) = write::statement(source, statement, &body, &functions, options.target)?;
    let functions = functions.into_iter().zip(called).filter(|(_, called)| *called).map(|(function, _)| function);
    let carried = Carried { span: statement.span.clone(), instructions: body.steps.len(), notes };
    Ok((text, functions.collect(), carried))
}

impl PortedSource {
    /// The file with calls. `header` is what its `#include "…"` says; the line is written unless the file has it already.
    ///
    /// `source` is the text that was given to [`port_source`].
    pub fn apply(&self, source: &[u8], header: &str) -> Vec<u8> {
        let mut text = Vec::with_capacity(source.len());
        let mut copied = 0;
        let line = format!("#include \"{header}\"");
        let has_line = source.split(|b| *b == b'\n').any(|of| of.trim_ascii() == line.as_bytes());
        if let Some(place) = self.include.filter(|_| !has_line) {
            text.extend_from_slice(&source[..place]);
            text.extend_from_slice(line.as_bytes());
            text.extend_from_slice(if include::has_crlf(source) { b"\r\n" } else { b"\n" });
            copied = place;
        }
        for (span, call) in &self.edits {
            text.extend_from_slice(&source[copied..span.start]);
            text.extend_from_slice(call.as_bytes());
            copied = span.end;
        }
        text.extend_from_slice(&source[copied..]);
        text
    }
}
