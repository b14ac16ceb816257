//! Draws diagnostics on the text they are about.

use annotate_snippets::{AnnotationKind, Level, Renderer, Snippet};
use vop::Diagnostic;

/// One diagnostic under its place in a source. The diagnostic's positions are moved by `place` to the source's.
pub(crate) fn diagnostic(
    diagnostic: &Diagnostic,
    source: &str,
    path: Option<&str>,
    place: impl Fn(std::ops::Range<usize>) -> std::ops::Range<usize>,
) -> String {
    let clamp = |range: std::ops::Range<usize>| {
        let range = place(range);
        let start = range.start.min(source.len());
        start..range.end.clamp(start, source.len())
    };
    let primary = AnnotationKind::Primary.span(clamp(diagnostic.span.clone())).label(&*diagnostic.label);
    let related = diagnostic.related.iter();
    let related = related.map(|(span, label)| AnnotationKind::Context.span(clamp(span.clone())).label(&**label));
    let snippet = Snippet::source(source).path(path).annotation(primary).annotations(related);
    let mut report = Level::ERROR.primary_title(&*diagnostic.message).id(diagnostic.code.name()).element(snippet);
    if let Some(help) = &diagnostic.help {
        report = report.element(Level::HELP.message(&**help));
    }
    let mut text = Renderer::styled().render(&[report]);
    text.push_str("\n\n");
    text
}

/// All faults of a text that the command line gave.
pub(crate) fn all(faults: &[Diagnostic], text: &str) -> String {
    faults.iter().map(|fault| diagnostic(fault, text, None, |range| range)).collect()
}
