//! Draws diagnostics on the text they are about.

use std::ops::Range;
use std::path::Path;

use annotate_snippets::{AnnotationKind, Group, Level, Renderer, Snippet};
use vop::{Diagnostic, Severity};
use vop_ptx::run::RunError;

use crate::output;

/// What is drawn: a title with its code, places in a text, and what to say below.
struct Drawing<'a> {
    severity: Severity,
    title: &'a str,
    code: &'a str,
    source: Option<(&'a str, Option<&'a str>)>,
    primary: (Range<usize>, &'a str),
    related: Vec<(Range<usize>, &'a str)>,
    notes: Vec<String>,
    help: Option<&'a str>,
}

impl Drawing<'_> {
    fn draw(self) -> String {
        let level = match self.severity {
            Severity::Error => Level::ERROR,
            Severity::Warning => Level::WARNING,
            Severity::Note => Level::NOTE,
        };
        let mut report = Group::with_title(level.primary_title(self.title).id(self.code));
        if let Some((source, path)) = self.source {
            let (span, label) = self.primary;
            let all = std::iter::once(&span).chain(self.related.iter().map(|(span, _)| span));
            let window = Window::around(source, all);
            let related = self.related.iter();
            let related = related.map(|(span, label)| AnnotationKind::Context.span(window.place(span)).label(*label));
            let primary = AnnotationKind::Primary.span(window.place(&span)).label(label);
            let snippet = Snippet::source(window.text).line_start(window.first_line).path(path);
            report = report.element(snippet.annotation(primary).annotations(related));
        }
        for note in self.notes {
            report = report.element(Level::NOTE.message(note));
        }
        if let Some(help) = self.help {
            report = report.element(Level::HELP.message(help));
        }
        let mut text = Renderer::styled().render(&[report]);
        text.push_str("\n\n");
        text
    }
}

/// The lines of a source that hold some places: drawing takes as long as the text that it is given.
struct Window<'a> {
    text: &'a str,
    start: usize,
    first_line: usize,
}

impl<'a> Window<'a> {
    fn around<'s>(source: &'a str, places: impl Iterator<Item = &'s Range<usize>>) -> Window<'a> {
        let (mut start, mut end) = (source.len(), 0);
        for place in places {
            start = start.min(place.start);
            end = end.max(place.end.max(place.start));
        }
        // Positions may lie in what a lossy reading changed: lines begin and end between characters in any case.
        let bytes = source.as_bytes();
        let end = end.min(bytes.len());
        let before = &bytes[..start.min(end)];
        let start = before.iter().rposition(|&byte| byte == b'\n').map_or(0, |at| at + 1);
        let end = bytes[end..].iter().position(|&byte| byte == b'\n').map_or(bytes.len(), |at| end + at);
        let first_line = 1 + bytes[..start].iter().filter(|&&byte| byte == b'\n').count();
        Window { text: source.get(start..end).unwrap_or_default(), start, first_line }
    }

    /// A place in the source as one in the window, between characters.
    fn place(&self, range: &Range<usize>) -> Range<usize> {
        let at = |offset: usize| {
            let offset = offset.saturating_sub(self.start).min(self.text.len());
            (0..=offset).rev().find(|&at| self.text.is_char_boundary(at)).unwrap_or(0)
        };
        let start = at(range.start);
        start..at(range.end).max(start)
    }
}

/// One diagnostic under its place in a source.
pub(crate) fn diagnostic(diagnostic: &Diagnostic, source: &str, path: Option<&str>) -> String {
    Drawing {
        severity: diagnostic.code.severity(),
        title: &diagnostic.message,
        code: diagnostic.code.name(),
        source: Some((source, path)),
        primary: (diagnostic.span.clone(), &diagnostic.label),
        related: diagnostic.related.iter().map(|(span, label)| (span.clone(), label.as_str())).collect(),
        notes: diagnostic.notes.iter().map(|note| output::wrapped(note, 90)).collect(),
        help: diagnostic.help.as_deref(),
    }
    .draw()
}

/// All faults of a text that the command line gave.
pub(crate) fn all(faults: &[Diagnostic], text: &str) -> String {
    faults.iter().map(|fault| diagnostic(fault, text, None)).collect()
}

/// An error of a run, under its place in the PTX or the launch file.
pub(crate) fn run_error(error: &RunError) -> String {
    let file = error.place.as_ref().and_then(|place| place.file.as_deref());
    let source = file.and_then(|file| std::fs::read(file).ok()).map(|bytes| vop_ptx::uses::text(&bytes).into_owned());
    let path = file.map(Path::to_string_lossy);
    Drawing {
        severity: Severity::Error,
        title: &error.message,
        code: error.kind.code(),
        source: source.as_deref().map(|source| (source, path.as_deref())),
        primary: (error.place.as_ref().map_or(0..0, |place| place.span.clone()), ""),
        related: Vec::new(),
        notes: error.thread.iter().map(|thread| format!("in {thread}")).collect(),
        help: error.help.as_deref(),
    }
    .draw()
}
