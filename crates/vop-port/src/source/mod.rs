//! Sources with calls in the place of their `asm` statements.
//!
//! ```text
//! file ──vop_ptx::asm──► statements ──body──► steps ──write──► calls of functions, as edits of the file
//!                    │                  └── what cannot be carried: left as it is, with the reason
//!                    └──► strings that hold source: their statements, with functions in the string
//! ```
//!
//! `notation` is how C and Rust write assignments and blocks; `llvm` writes values that are named once.

mod body;
mod include;
mod llvm;
mod long;
mod notation;
mod strings;
mod write;

use std::ops::Range;

use vop::Semantics;
use vop_ptx::asm::{self, AsmStatement};
use vop_ptx::find::Language;
use vop_ptx::uses;

use crate::{Port, PortError, Target, functions_within, port, port_base};
use body::{Body, What};

/// How sources are rewritten.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct SourceOptions {
    /// The language of the functions that are called, which decides of which files statements are carried over:
    /// [`Target::is_called_from`].
    pub target: Target,
    /// What d is: by the manual, or as ptxas's code computes it.
    pub semantics: Semantics,
    /// Whether functions that are written into strings execute the instructions themselves on NVIDIA's GPUs.
    pub keep_ptx: bool,
}

impl SourceOptions {
    /// The manual's semantics.
    pub const fn new(target: Target) -> SourceOptions {
        SourceOptions { target, semantics: Semantics::Isa, keep_ptx: false }
    }

    /// With the instructions kept for NVIDIA's GPUs.
    #[must_use]
    pub const fn keep_ptx(self, keep_ptx: bool) -> SourceOptions {
        SourceOptions { keep_ptx, ..self }
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
    /// The functions of another file that are called, each once, in the order of their first calls: of the header, or the module.
    pub functions: Vec<Port>,
    /// The functions that are written into the file itself: into its strings, or into LLVM IR.
    pub within: Vec<Port>,
    /// The number of `asm` statements that hold no video instruction and were not carried over: other PTX, or another machine's code.
    pub others: usize,
    edits: Vec<(Range<usize>, String)>,
    include: Option<usize>,
    /// The lines that include something where all calls see it.
    included: Vec<Vec<u8>>,
    /// What is included in the header's place, if no function is called.
    prelude: Option<&'static str>,
    /// The statements that were looked at.
    seen: Vec<Range<usize>>,
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
/// Files in C's syntax, Rust and LLVM IR have such statements, and so have strings that hold source in C's syntax. In others, and outside of
/// `asm`, each instruction is [left](PortedSource::left). The functions are in [`PortedSource::functions`]; [`crate::file`] writes them.
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
    if options.target.is_called_from(language) {
        statements = asm::statements(source, language);
    }
    for statement in &statements {
        ported.seen.push(statement.span.clone());
        if is_kept(source, statement.span.start) {
            continue;
        }
        match carry(source, statement, options, language) {
            Ok(written) => {
                ported.edits.push((written.span, written.text));
                ported.add(written.functions, written.carried);
            }
            Err(why) if statement.is_video() => ported.left.push(Left { span: statement.span.clone(), why }),
            Err(_) => ported.others += 1,
        }
    }
    if language == Language::LlvmIr {
        ported.within = core::mem::take(&mut ported.functions);
        let known = |port: &&Port| !has(source, &format!(" @{}(i32 ", port.name()));
        let new: Vec<Port> = ported.within.iter().filter(known).cloned().collect();
        if !new.is_empty() {
            ported.edits.push((source.len()..source.len(), functions_within(&new, false)));
        }
    } else if language != Language::Rust
        && let Some((first, _)) = ported.edits.first()
    {
        let places: Vec<usize> = ported.edits.iter().map(|(span, _)| span.start).collect();
        let include::Place { at, visible } = include::place(source, first.start, &places);
        ported.include = Some(at);
        ported.included = visible.into_iter().map(|line| source[line].trim_ascii().to_vec()).collect();
        // Without functions there is no header; its types are needed all the same.
        ported.prelude = Some(options.target.syntax().prelude()).filter(|_| ported.functions.is_empty());
    }
    if options.target.is_c() {
        strings::port(source, language, options, &mut ported);
    }
    leave_others(source, language, options.target, &statements, &mut ported);
    ported.edits.sort_by_key(|(span, _)| span.start);
    ported.carried.sort_by_key(|carried| carried.span.start);
    ported.left.sort_by_key(|left| left.span.start);
    ported
}

/// Whether a place is in a function of this crate that holds the instruction for NVIDIA's GPUs, between its guard and the next `#endif`.
fn is_kept(source: &[u8], at: usize) -> bool {
    let before = &source[..at];
    let mut lines = before.rsplit(|b| *b == b'\n').map(<[u8]>::trim_ascii);
    let directive = lines.find(|line| line.starts_with(b"#endif") || line.starts_with(b"#ifndef"));
    directive.is_some_and(|line| line.starts_with(b"#ifndef") && line.ends_with(b"_of_vop"))
}

fn has(source: &[u8], text: &str) -> bool {
    source.windows(text.len()).any(|window| window == text.as_bytes())
}

/// The targets that files of a language can be ported to, in words.
fn targets(language: Language) -> String {
    let names: Vec<&str> = Target::all().filter(|target| target.is_called_from(language)).map(Target::name).collect();
    names.join(", ")
}

/// Instructions that stand in no statement that was looked at.
fn leave_others(
    source: &[u8],
    language: Language,
    target: Target,
    statements: &[AsmStatement],
    ported: &mut PortedSource,
) {
    let why = match language {
        Language::Ptx => "it is PTX; `vop lower` rewrites modules".to_string(),
        Language::Cuda | Language::OpenCl | Language::Rust | Language::LlvmIr if target.is_called_from(language) => {
            "it is not the text of an asm statement".to_string()
        }
        Language::Cuda | Language::OpenCl | Language::Rust | Language::LlvmIr => {
            format!("files of this language are ported to {}, not to {target}", targets(language))
        }
        Language::Python => "it is not the text of an asm statement in source that a string holds".to_string(),
        _ => "calls are written into files in C's syntax, Rust, LLVM IR, and strings that hold source in C's syntax"
            .to_string(),
    };
    for found in uses::uses(source, language) {
        let is_within =
            |span: &Range<usize>| span.start <= found.span.start && found.span.start < span.end.max(span.start + 1);
        if found.verdict == uses::Verdict::Label || ported.seen.iter().any(is_within) {
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
            ported.left.push(Left { span: found.span, why: why.clone() });
        }
    }
}

/// What stands for a statement.
struct Written {
    /// The bytes that it replaces.
    span: Range<usize>,
    text: String,
    functions: Vec<Port>,
    carried: Carried,
}

fn carry(
    source: &[u8],
    statement: &AsmStatement,
    options: &SourceOptions,
    language: Language,
) -> Result<Written, String> {
    if let Some(why) = statement.unknown {
        return Err(why.to_string());
    }
    let target = options.target;
    let c = target.syntax().types().map(|types| notation::C { syntax: target.syntax(), types });
    let body = Body::read(statement, c.is_some())?;
    let mut functions = Vec::new();
    for step in &body.steps {
        functions.push(match &step.what {
            What::Form(form) => {
                Some(port(*form, target, options.semantics).map_err(|error: PortError| error.to_string())?)
            }
            What::Base(base) => Some(port_base(base, target)),
            What::Expression(_) => None,
        });
    }
    let carried = |notes| Carried { span: statement.span.clone(), instructions: body.instructions, notes };
    if language == Language::LlvmIr {
        let functions: Vec<Port> = functions.into_iter().flatten().collect();
        let llvm::Written { span, text, functions, notes } =
            llvm::statement(source, statement, &body, &functions, target)?;
        return Ok(Written { span, text, functions, carried: carried(notes) });
    }
    let notation: &dyn notation::Notation = match &c {
        Some(c) => c,
        None => &notation::Rust,
    };
    let (text, called, notes) = write::statement(source, statement, &body, &functions, notation)?;
    let functions =
        functions.into_iter().zip(called).filter(|(_, called)| *called).filter_map(|(function, _)| function);
    Ok(Written { span: statement.span.clone(), text, functions: functions.collect(), carried: carried(notes) })
}

impl PortedSource {
    fn add(&mut self, functions: Vec<Port>, carried: Carried) {
        for function in functions {
            if self.functions.iter().all(|known| known.name() != function.name()) {
                self.functions.push(function);
            }
        }
        self.carried.push(carried);
    }

    /// The file with calls. `header` is what its `#include "…"` says; the line is written unless the file has it already.
    ///
    /// `source` is the text that was given to [`port_source`].
    pub fn apply(&self, source: &[u8], header: &str) -> Vec<u8> {
        let line = match self.prelude {
            Some(prelude) => prelude.trim_end().to_string(),
            None => format!("#include \"{header}\""),
        };
        let has_line = line.is_empty() || self.included.iter().any(|of| of == line.as_bytes());
        let include = self.include.filter(|_| !has_line).map(|place| (place..place, line + line_end(source)));
        let mut edits: Vec<&(Range<usize>, String)> = include.iter().chain(&self.edits).collect();
        edits.sort_by_key(|(span, _)| span.start);
        let mut text = Vec::with_capacity(source.len());
        let mut copied = 0;
        for (span, call) in edits {
            text.extend_from_slice(&source[copied..span.start]);
            text.extend_from_slice(call.as_bytes());
            copied = span.end;
        }
        text.extend_from_slice(&source[copied..]);
        text
    }
}

/// What some editors put before the text of a file.
const BYTE_ORDER_MARK: &[u8] = b"\xef\xbb\xbf";

fn line_end(source: &[u8]) -> &'static str {
    if include::has_crlf(source) { "\r\n" } else { "\n" }
}

/// A root of a Rust crate with the declaration of the module `vop_port`, `None` if it has one. It stands behind what begins the file: inner
/// attributes and the words about the crate.
///
/// ```
/// use vop_port::source::with_module;
/// assert_eq!(with_module(b"//! Kernels.\n#![no_std]\n\nuse a::b;\n").unwrap(), b"//! Kernels.\n#![no_std]\n\nmod vop_port;\nuse a::b;\n");
/// assert_eq!(with_module(b"use a::b;\npub mod vop_port;\n"), None);
/// ```
pub fn with_module(source: &[u8]) -> Option<Vec<u8>> {
    let is_declared = |line: &[u8]| {
        let text = String::from_utf8_lossy(line);
        let code = text.split("//").next().unwrap_or_default();
        code.split("mod vop_port").skip(1).any(|behind| behind.trim_start().starts_with([';', '{']))
    };
    if source.split(|b| *b == b'\n').any(is_declared) {
        return None;
    }
    let (mut place, mut depth, mut in_comment) = (0, 0_i32, false);
    // Where a comment of several lines begins: code may stand behind its end.
    let mut comment = 0;
    for line in source.split_inclusive(|b| *b == b'\n') {
        let text = line.trim_ascii();
        let is_head = depth > 0
            || in_comment
            || text.is_empty()
            || text.starts_with(b"#!")
            || text.starts_with(b"//") && !text.starts_with(b"///")
            || text.starts_with(b"/*");
        let ends = text.windows(2).any(|two| two == b"*/");
        let is_comment = in_comment || text.starts_with(b"/*");
        if !is_head || is_comment && ends && !text.ends_with(b"*/") {
            break;
        }
        if is_comment {
            if !in_comment {
                comment = place;
            }
            in_comment = !ends;
        } else if depth > 0 || text.starts_with(b"#!") {
            // An attribute of several lines.
            let count = |sign: u8| text.iter().filter(|b| **b == sign).count() as i32;
            depth += count(b'[') - count(b']');
        }
        place += line.len();
    }
    if in_comment {
        place = comment;
    }
    if source.starts_with(BYTE_ORDER_MARK) {
        place = place.max(BYTE_ORDER_MARK.len());
    }
    Some([&source[..place], b"mod vop_port;", line_end(source).as_bytes(), &source[place..]].concat())
}
