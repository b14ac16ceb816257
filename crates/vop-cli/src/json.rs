//! Diagnostics as JSON.

use serde_json::{Value, json};
use vop::Diagnostic;

/// `{"code", "severity", "message", "span": [start, end], "label"?, "help"?, "notes"?, "related"?}`; spans are in bytes of the text.
pub(crate) fn diagnostic(diagnostic: &Diagnostic) -> Value {
    let mut value = json!({
        "code": diagnostic.code.name(),
        "severity": diagnostic.code.severity().name(),
        "message": diagnostic.message,
        "span": [diagnostic.span.start, diagnostic.span.end],
    });
    if !diagnostic.label.is_empty() {
        value["label"] = json!(diagnostic.label);
    }
    if let Some(help) = &diagnostic.help {
        value["help"] = json!(help);
    }
    if !diagnostic.notes.is_empty() {
        value["notes"] = json!(diagnostic.notes);
    }
    if !diagnostic.related.is_empty() {
        let related = diagnostic.related.iter();
        value["related"] =
            related.map(|(span, label)| json!({ "span": [span.start, span.end], "label": label })).collect();
    }
    value
}
