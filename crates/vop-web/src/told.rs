//! Diagnostics as data, with places as JavaScript counts them.

use serde_json::{Value, json};
use vop::{Diagnostic, Edit, Patch};
use vop_draw::{LineRange, Lines, SourceText, html};

use crate::places::Places;

/// A text that is told of.
pub(crate) struct Told<'t> {
    pub(crate) places: Places<'t>,
    pub(crate) lines: Lines<'t>,
    name: Option<&'t str>,
    columns: usize,
}

/// The columns that drawings have where a request does not say.
pub(crate) const COLUMNS: usize = 80;

impl<'t> Told<'t> {
    /// A text, the name of its file, if it has one, and the columns that there are for drawings.
    pub(crate) fn new(text: &'t str, name: Option<&'t str>, columns: Option<usize>) -> Told<'t> {
        Told { places: Places::new(text), lines: Lines::new(text), name, columns: columns.unwrap_or(COLUMNS) }
    }

    /// A finding: what it says, where, drawn as the content of a `pre` element, and the edits that do what its help says.
    pub(crate) fn finding(&self, finding: &Diagnostic) -> Value {
        let LineRange { line, column, .. } = self.lines.range(&finding.span);
        let source = SourceText { lines: &self.lines, path: self.name };
        let drawing = html::of_drawing(vop_draw::diagnostic_within(finding, source, self.columns).trim_end());
        let edit = |edit: &Edit| {
            json!({
                "start": self.places.utf16(edit.span.start),
                "end": self.places.utf16(edit.span.end),
                "text": edit.text,
            })
        };
        let edits: Vec<Value> = match &finding.patch {
            Patch::Edits(edits) => edits.iter().map(edit).collect(),
            _ => Vec::new(),
        };
        json!({
            "code": finding.code.name(),
            "severity": finding.code.severity().name(),
            "title": finding.code.title(),
            "message": finding.message,
            "label": finding.label,
            "notes": finding.notes,
            "help": finding.help,
            "edits": edits,
            "start": self.places.utf16(finding.span.start),
            "end": self.places.utf16(finding.span.end.max(finding.span.start)),
            "line": line,
            "column": column,
            "drawing": drawing,
        })
    }
}
