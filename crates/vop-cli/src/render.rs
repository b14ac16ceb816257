//! Draws diagnostics on the text they are about.

use std::ops::Range;
use std::path::Path;

use annotate_snippets::{AnnotationKind, Group, Level, Renderer, Snippet};
use vop::Diagnostic;
use vop_ptx::run::RunError;

/// What is drawn: a title with its code, places in a text, and what to say below.
struct Drawing<'a> {
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
        let mut report = Group::with_title(Level::ERROR.primary_title(self.title).id(self.code));
        if let Some((source, path)) = self.source {
            // Positions may lie in what a lossy reading changed: they must at least lie in the text, between characters.
            let within = |range: Range<usize>| {
                let at = |offset: usize| (0..=offset.min(source.len())).rev().find(|&at| source.is_char_boundary(at));
                let start = at(range.start).unwrap_or(0);
                start..at(range.end).unwrap_or(0).max(start)
            };
            let (span, label) = self.primary;
            let related = self.related.into_iter();
            let related = related.map(|(span, label)| AnnotationKind::Context.span(within(span)).label(label));
            let primary = AnnotationKind::Primary.span(within(span)).label(label);
            report = report.element(Snippet::source(source).path(path).annotation(primary).annotations(related));
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

/// One diagnostic under its place in a source.
pub(crate) fn diagnostic(diagnostic: &Diagnostic, source: &str, path: Option<&str>) -> String {
    Drawing {
        title: &diagnostic.message,
        code: diagnostic.code.name(),
        source: Some((source, path)),
        primary: (diagnostic.span.clone(), &diagnostic.label),
        related: diagnostic.related.iter().map(|(span, label)| (span.clone(), label.as_str())).collect(),
        notes: Vec::new(),
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
