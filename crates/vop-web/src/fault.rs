//! What is wrong with a kernel, or went wrong in it, as JSON.

use serde_json::{Value, json};
use vop::Severity;
use vop_draw::{Drawing, Lines, SourceText, html};
use vop_run::{Finding, RunError, RunErrorKind, RunErrors};

use crate::places::Places;
use crate::told::COLUMNS;

/// Puts faults on a PTX text.
pub(crate) struct Faults<'t> {
    lines: Lines<'t>,
    places: Places<'t>,
    columns: usize,
}

impl<'t> Faults<'t> {
    /// `columns` are those of drawings.
    pub(crate) fn new(text: &'t str, columns: Option<usize>) -> Faults<'t> {
        Faults { lines: Lines::new(text), places: Places::new(text), columns: columns.unwrap_or(COLUMNS) }
    }

    pub(crate) fn places(&self) -> &Places<'t> {
        &self.places
    }

    /// All of a list.
    pub(crate) fn all(&self, errors: &RunErrors) -> Vec<Value> {
        errors.0.iter().map(|error| self.one(error)).collect()
    }

    pub(crate) fn one(&self, error: &RunError) -> Value {
        self.told(error, Severity::Error, None)
    }

    /// What a launch found while it ran on.
    pub(crate) fn finding(&self, finding: &Finding) -> Value {
        let often = (finding.count > 1).then(|| format!("{} times at this place", vop::grouped(finding.count)));
        let mut value = self.told(&finding.error, finding.severity, often);
        value["count"] = json!(finding.count);
        value
    }

    fn told(&self, error: &RunError, severity: Severity, often: Option<String>) -> Value {
        let place = error.place.as_deref();
        // These helps name options of the command.
        let is_limit = matches!(error.kind, RunErrorKind::Limit | RunErrorKind::Memory | RunErrorKind::Timeout);
        let help = error.help.as_deref().filter(|_| !is_limit);
        let source = place.and_then(|place| place.source.as_ref());
        let compiled = source.map(|source| format!("compiled from {source}"));
        let thread = error.thread.map(|thread| format!("in {thread}"));
        let drawing = Drawing {
            severity,
            title: &error.message,
            code: error.kind.code(),
            source: place.map(|_| SourceText { lines: &self.lines, path: None }),
            primary: (place.map_or(0..0, |place| place.span.clone()), ""),
            related: Vec::new(),
            notes: compiled.into_iter().chain(thread).chain(often).collect(),
            help,
        };
        json!({
            "code": error.kind.code(),
            "severity": severity.name(),
            "title": error.kind.title(),
            "message": error.message,
            "help": help,
            "start": place.map(|place| self.places.utf16(place.span.start)),
            "end": place.map(|place| self.places.utf16(place.span.end)),
            "line": place.map(|place| place.line),
            "column": place.map(|place| place.column),
            "text": place.map(|place| place.text.as_str()),
            "source": source.map(ToString::to_string),
            "block": error.thread.map(|thread| thread.block),
            "thread": error.thread.map(|thread| thread.thread),
            "address": error.address.map(|address| format!("{address:#x}")),
            "drawing": html::of_drawing(drawing.draw_within(self.columns).trim_end()),
        })
    }
}
