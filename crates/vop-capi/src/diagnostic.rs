//! Diagnostics of texts, and errors and findings of launches: one type for C.

#![allow(unsafe_code, reason = "the pointers are C's")]

use std::ffi::c_char;
use std::ops::Range;

use vop::{Code, Diagnostic, RunErrorKind, Severity};
use vop_draw::{Drawing, Lines, SourceText};
use vop_run::{Finding, RunError, RunErrors, ThreadId};

use crate::guard::{Failure, ask, free, vop_status};
use crate::text::{Text, plain, produce_text, text_of, view_of, vop_format, vop_str, vop_text};

/// How severe something is.
#[repr(C)]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum vop_severity {
    /// It is wrong.
    VOP_SEVERITY_ERROR = 0,
    /// It is legal, and probably not what was meant.
    VOP_SEVERITY_WARNING = 1,
    /// Something to know.
    VOP_SEVERITY_NOTE = 2,
}

impl From<Severity> for vop_severity {
    fn from(severity: Severity) -> vop_severity {
        match severity {
            Severity::Error => vop_severity::VOP_SEVERITY_ERROR,
            Severity::Warning => vop_severity::VOP_SEVERITY_WARNING,
            Severity::Note => vop_severity::VOP_SEVERITY_NOTE,
        }
    }
}

/// One diagnostic.
pub(crate) struct Item {
    severity: Severity,
    code: Text,
    message: Text,
    label: Option<Text>,
    help: Option<Text>,
    notes: Vec<Text>,
    span: Option<Range<usize>>,
    line: usize,
    column: usize,
    statement: Option<Text>,
    source: Option<(Text, u32)>,
    thread: Option<ThreadId>,
    address: Option<u64>,
    count: u64,
    drawn: Text,
    plain: Text,
}

impl Item {
    /// An error that concerns no text.
    pub(crate) fn plain(message: String, help: Option<String>) -> Item {
        let drawing = Drawing {
            severity: Severity::Error,
            title: &message,
            code: "",
            source: None,
            primary: (0..0, ""),
            related: Vec::new(),
            notes: Vec::new(),
            help: help.as_deref(),
        };
        // An empty code would be drawn as `error[]`.
        let drawn = drawing.draw().replacen("[]", "", 1);
        Item {
            severity: Severity::Error,
            code: Text::new(""),
            label: None,
            help: help.map(Text::new),
            notes: Vec::new(),
            span: None,
            line: 0,
            column: 0,
            statement: None,
            source: None,
            thread: None,
            address: None,
            count: 1,
            plain: Text::new(plain(drawn.trim_end())),
            drawn: Text::new(drawn.trim_end()),
            message: Text::new(message),
        }
    }

    /// A diagnostic of a text.
    pub(crate) fn of_text(of: &Diagnostic, source: SourceText<'_>) -> Item {
        let place = source.lines.range(&of.span);
        let drawn = vop_draw::diagnostic(of, source);
        let drawn = drawn.trim_end();
        Item {
            severity: of.code.severity(),
            code: Text::new(of.code.name()),
            message: Text::new(&*of.message),
            label: Some(Text::new(&*of.label)),
            help: of.help.as_deref().map(Text::new),
            notes: of.notes.iter().map(|note| Text::new(&**note)).collect(),
            span: Some(of.span.clone()),
            line: place.line,
            column: place.column,
            statement: None,
            source: None,
            thread: None,
            address: None,
            count: 1,
            plain: Text::new(plain(drawn)),
            drawn: Text::new(drawn),
        }
    }

    /// An error of a run, in PTX that has these lines.
    pub(crate) fn of_run(of: &RunError, severity: Severity, count: u64, lines: &Lines<'_>) -> Item {
        let place = of.place.as_deref();
        let source = place.and_then(|place| place.source.as_ref());
        let compiled = source.map(|source| format!("compiled from {source}"));
        let often = (count > 1).then(|| format!("{} times at this place", vop::grouped(count)));
        let notes: Vec<String> =
            compiled.into_iter().chain(of.thread.map(|thread| format!("in {thread}"))).chain(often).collect();
        let drawn = Drawing {
            severity,
            title: &of.message,
            code: of.kind.code(),
            source: place.map(|_| SourceText { lines, path: None }),
            primary: (place.map_or(0..0, |place| place.span.clone()), ""),
            related: Vec::new(),
            notes: notes.clone(),
            help: of.help.as_deref(),
        }
        .draw();
        let drawn = drawn.trim_end();
        Item {
            severity,
            code: Text::new(of.kind.code()),
            message: Text::new(&*of.message),
            label: None,
            help: of.help.as_deref().map(Text::new),
            notes: notes.into_iter().map(Text::new).collect(),
            span: place.map(|place| place.span.clone()),
            line: place.map_or(0, |place| place.line),
            column: place.map_or(0, |place| place.column),
            statement: place.map(|place| Text::new(&*place.text)),
            source: source.map(|source| (Text::new(&*source.file), source.line)),
            thread: of.thread,
            address: of.address,
            count,
            plain: Text::new(plain(drawn)),
            drawn: Text::new(drawn),
        }
    }

    fn drawn(&self, format: i32) -> vop_str {
        if format == vop_format::VOP_FORMAT_ANSI as i32 { self.drawn.view() } else { self.plain.view() }
    }
}

/// The diagnostics of a text, drawn under its lines.
pub(crate) fn items(found: &[Diagnostic], text: &str) -> Vec<Item> {
    let lines = Lines::new(text);
    found.iter().map(|one| Item::of_text(one, SourceText { lines: &lines, path: None })).collect()
}

/// A failure with the diagnostics of a text.
pub(crate) fn faults(status: vop_status, found: &[Diagnostic], text: &str) -> Failure {
    Failure { status, items: items(found, text) }
}

/// A failure with the errors of a run.
pub(crate) fn run_failure(status: vop_status, errors: &RunErrors, ptx: &str) -> Failure {
    let lines = Lines::new(ptx);
    Failure { status, items: errors.0.iter().map(|error| Item::of_run(error, Severity::Error, 1, &lines)).collect() }
}

/// A failure that has no place in a text.
pub(crate) fn placeless(status: vop_status, error: &RunError) -> Failure {
    run_failure(status, &error.clone().into(), "")
}

/// What checks of a launch found.
pub(crate) fn findings(found: &[Finding], ptx: &str) -> vop_diagnostics {
    let lines = Lines::new(ptx);
    let item = |finding: &Finding| Item::of_run(&finding.error, finding.severity, finding.count, &lines);
    vop_diagnostics::new(found.iter().map(item).collect())
}

/// One diagnostic of a list. It belongs to the list.
pub struct vop_diagnostic(Item);

/// A list of diagnostics: faults, warnings and notes of a text, or errors and findings of a launch.
pub struct vop_diagnostics {
    items: Vec<vop_diagnostic>,
    rendered: Text,
    /// Instructions that were found in a source, and those among them that cannot be judged.
    pub(crate) instructions: usize,
    pub(crate) unjudged: usize,
}

impl vop_diagnostics {
    pub(crate) fn new(items: Vec<Item>) -> vop_diagnostics {
        let mut all = String::new();
        for item in &items {
            if !all.is_empty() {
                all.push_str("\n\n");
            }
            all.push_str(item.plain.as_str());
        }
        let rendered = Text::new(all);
        vop_diagnostics {
            items: items.into_iter().map(vop_diagnostic).collect(),
            rendered,
            instructions: 0,
            unjudged: 0,
        }
    }
}

/// The number of diagnostics in the list; 0 for null.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn vop_diagnostics_count(diagnostics: *const vop_diagnostics) -> usize {
    // SAFETY: C gives a handle that is not freed.
    unsafe { ask(diagnostics, 0, |all| all.items.len()) }
}

/// The number of errors in the list, which may also have warnings and notes; 0 for null.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn vop_diagnostics_errors(diagnostics: *const vop_diagnostics) -> usize {
    let errors = |all: &vop_diagnostics| all.items.iter().filter(|one| one.0.severity == Severity::Error).count();
    // SAFETY: C gives a handle that is not freed.
    unsafe { ask(diagnostics, 0, errors) }
}

/// The number of video instructions that `vop_check` found; 0 for other lists.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn vop_diagnostics_instructions(diagnostics: *const vop_diagnostics) -> usize {
    // SAFETY: C gives a handle that is not freed.
    unsafe { ask(diagnostics, 0, |all| all.instructions) }
}

/// The number of video instructions that `vop_check` found and cannot judge, as a part of their text is not in the source.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn vop_diagnostics_unjudged(diagnostics: *const vop_diagnostics) -> usize {
    // SAFETY: C gives a handle that is not freed.
    unsafe { ask(diagnostics, 0, |all| all.unjudged) }
}

/// A diagnostic of the list, from 0; null if there is none. It is valid until the list is freed.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn vop_diagnostics_at(
    diagnostics: *const vop_diagnostics,
    index: usize,
) -> *const vop_diagnostic {
    // SAFETY: C gives a handle that is not freed.
    unsafe {
        ask(diagnostics, std::ptr::null(), |all| all.items.get(index).map_or(std::ptr::null(), |one| &raw const *one))
    }
}

/// All diagnostics of the list as plain text for people.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn vop_diagnostics_rendered(diagnostics: *const vop_diagnostics) -> vop_str {
    // SAFETY: C gives a handle that is not freed.
    unsafe { ask(diagnostics, vop_str::EMPTY, |all| all.rendered.view()) }
}

/// Frees a list, with its diagnostics; null is nothing to free.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn vop_diagnostics_free(diagnostics: *mut vop_diagnostics) {
    // SAFETY: C gives up a handle of this library.
    unsafe { free(diagnostics) };
}

/// The stable code, such as `V0207`; empty if the diagnostic has none. `vop_explain_code` says what it means.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn vop_diagnostic_code(diagnostic: *const vop_diagnostic) -> vop_str {
    // SAFETY: C gives a handle that is not freed.
    unsafe { ask(diagnostic, vop_str::EMPTY, |one| one.0.code.view()) }
}

/// How severe it is.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn vop_diagnostic_severity(diagnostic: *const vop_diagnostic) -> vop_severity {
    // SAFETY: C gives a handle that is not freed.
    unsafe { ask(diagnostic, vop_severity::VOP_SEVERITY_ERROR, |one| one.0.severity.into()) }
}

/// What is wrong, in a sentence.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn vop_diagnostic_message(diagnostic: *const vop_diagnostic) -> vop_str {
    // SAFETY: C gives a handle that is not freed.
    unsafe { ask(diagnostic, vop_str::EMPTY, |one| one.0.message.view()) }
}

/// A few words about the place itself.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn vop_diagnostic_label(diagnostic: *const vop_diagnostic) -> vop_str {
    // SAFETY: C gives a handle that is not freed.
    unsafe { ask(diagnostic, vop_str::EMPTY, |one| view_of(one.0.label.as_ref())) }
}

/// What to write or do instead.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn vop_diagnostic_help(diagnostic: *const vop_diagnostic) -> vop_str {
    // SAFETY: C gives a handle that is not freed.
    unsafe { ask(diagnostic, vop_str::EMPTY, |one| view_of(one.0.help.as_ref())) }
}

/// The number of notes.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn vop_diagnostic_notes(diagnostic: *const vop_diagnostic) -> usize {
    // SAFETY: C gives a handle that is not freed.
    unsafe { ask(diagnostic, 0, |one| one.0.notes.len()) }
}

/// A note, from 0.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn vop_diagnostic_note(diagnostic: *const vop_diagnostic, index: usize) -> vop_str {
    // SAFETY: C gives a handle that is not freed.
    unsafe { ask(diagnostic, vop_str::EMPTY, |one| view_of(one.0.notes.get(index))) }
}

/// Where it is in the text: the offsets of its first byte and of the byte behind its last. False, and nothing is written, if it has no place.
/// Either pointer may be null.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn vop_diagnostic_span(
    diagnostic: *const vop_diagnostic,
    start: *mut usize,
    end: *mut usize,
) -> bool {
    // SAFETY: C gives a handle that is not freed, and pointers that are null or valid for a write.
    unsafe {
        let Some(span) = ask(diagnostic, None, |one| one.0.span.clone()) else { return false };
        write(start, span.start);
        write(end, span.end);
    }
    true
}

/// Its line in the text, from 1; 0 if it has no place.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn vop_diagnostic_line(diagnostic: *const vop_diagnostic) -> usize {
    // SAFETY: C gives a handle that is not freed.
    unsafe { ask(diagnostic, 0, |one| one.0.line) }
}

/// Its column, in characters from 1; 0 if it has no place.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn vop_diagnostic_column(diagnostic: *const vop_diagnostic) -> usize {
    // SAFETY: C gives a handle that is not freed.
    unsafe { ask(diagnostic, 0, |one| one.0.column) }
}

/// The PTX statement of an error or finding of a launch.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn vop_diagnostic_statement(diagnostic: *const vop_diagnostic) -> vop_str {
    // SAFETY: C gives a handle that is not freed.
    unsafe { ask(diagnostic, vop_str::EMPTY, |one| view_of(one.0.statement.as_ref())) }
}

/// The source file that the PTX statement was compiled from, if the PTX says so (`.loc`).
#[unsafe(no_mangle)]
pub unsafe extern "C" fn vop_diagnostic_source_file(diagnostic: *const vop_diagnostic) -> vop_str {
    // SAFETY: C gives a handle that is not freed.
    unsafe { ask(diagnostic, vop_str::EMPTY, |one| view_of(one.0.source.as_ref().map(|(file, _)| file))) }
}

/// The line in that source file, from 1; 0 if it is not known.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn vop_diagnostic_source_line(diagnostic: *const vop_diagnostic) -> u32 {
    // SAFETY: C gives a handle that is not freed.
    unsafe { ask(diagnostic, 0, |one| one.0.source.as_ref().map_or(0, |(_, line)| *line)) }
}

/// The thread that failed: `%ctaid` and `%tid`. False, and nothing is written, if no thread did. Either pointer may be null.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn vop_diagnostic_thread(
    diagnostic: *const vop_diagnostic,
    block: *mut crate::vop_dim3,
    thread: *mut crate::vop_dim3,
) -> bool {
    // SAFETY: C gives a handle that is not freed, and pointers that are null or valid for a write.
    unsafe {
        let Some(id) = ask(diagnostic, None, |one| one.0.thread) else { return false };
        write(block, id.block.into());
        write(thread, id.thread.into());
    }
    true
}

/// The address that an access failed at. False, and nothing is written, if no access did.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn vop_diagnostic_address(diagnostic: *const vop_diagnostic, address: *mut u64) -> bool {
    // SAFETY: C gives a handle that is not freed, and a pointer that is null or valid for a write.
    unsafe {
        let Some(at) = ask(diagnostic, None, |one| one.0.address) else { return false };
        write(address, at);
    }
    true
}

/// How often a launch found it at this place; 1 for everything else.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn vop_diagnostic_count(diagnostic: *const vop_diagnostic) -> u64 {
    // SAFETY: C gives a handle that is not freed.
    unsafe { ask(diagnostic, 0, |one| one.0.count) }
}

/// The diagnostic as text for people, under the lines that it is about. `format` is `VOP_FORMAT_ANSI`, or anything else for plain text.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn vop_diagnostic_rendered(diagnostic: *const vop_diagnostic, format: i32) -> vop_str {
    // SAFETY: C gives a handle that is not freed.
    unsafe { ask(diagnostic, vop_str::EMPTY, |one| one.0.drawn(format)) }
}

/// What the code of a diagnostic means, as plain text or with ANSI escapes.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn vop_explain_code(
    code: *const c_char,
    code_len: usize,
    format: i32,
    out: *mut *mut vop_text,
    diagnostics: *mut *mut vop_diagnostics,
) -> vop_status {
    let work = || {
        // SAFETY: C gives a text of this length.
        let name = unsafe { text_of(code, code_len, "code")? };
        let format = vop_format::read(format)?;
        if format == vop_format::VOP_FORMAT_JSON {
            return Err(Failure::new(vop_status::VOP_ERROR_ARGUMENT, "the meaning of a code is not written as JSON"));
        }
        let of_text = Code::from_name(name)
            .map(|code| vop_draw::code(code.name(), code.severity(), code.title(), code.explanation()));
        let of_run = || {
            let kind = RunErrorKind::from_code(name)?;
            Some(vop_draw::code(kind.code(), Severity::Error, kind.title(), kind.explanation()))
        };
        let drawn = of_text.or_else(of_run);
        let none = || Failure::new(vop_status::VOP_ERROR_ARGUMENT, format!("there is no code `{name}`"));
        Ok(format.drawn(&drawn.ok_or_else(none)?))
    };
    // SAFETY: C gives places for answers, or null.
    unsafe { produce_text(out, diagnostics, work) }
}

/// Writes to a place that may be null.
///
/// # Safety
/// `place` must be null or valid for a write.
pub(crate) unsafe fn write<T>(place: *mut T, value: T) {
    if !place.is_null() {
        // SAFETY: it is not null, and the caller promises the rest.
        unsafe { place.write(value) };
    }
}
