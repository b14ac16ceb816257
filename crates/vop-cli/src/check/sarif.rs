//! SARIF 2.1.0, for code scanning.

use std::fmt::Write as _;

use serde_json::{Value, json};
use vop::Code;
use vop_draw::LineRange;

use super::report::{Finding, InCell, Report};

pub(super) fn report(report: &Report) -> Value {
    let rules = Code::ALL.iter().map(|code| {
        json!({
            "id": code.name(),
            "shortDescription": { "text": code.title() },
            "fullDescription": { "text": code.explanation() },
            "defaultConfiguration": { "level": code.severity().name() },
        })
    });
    let location = |path: &str, place: &LineRange| {
        json!({
            "artifactLocation": { "uri": uri(path) },
            "region": {
                "startLine": place.line,
                "startColumn": place.column,
                "endLine": place.end_line,
                "endColumn": place.end_column,
            },
        })
    };
    // Places in a cell of a notebook are lines of the cell; code scanning shows the file's.
    let located = |path: &str, cell: &Option<InCell>, place: &LineRange| match cell {
        Some(cell) => json!({
            "artifactLocation": { "uri": uri(path) },
            "region": { "startLine": cell.file_line },
        }),
        None => location(path, place),
    };
    let result = |path: &str, Finding { cell, place, related, diagnostic }: &Finding| {
        let notes = diagnostic.notes.iter().map(|note| format!("\n{note}")).collect::<String>();
        let help = diagnostic.help.as_ref().map(|help| format!("; {help}")).unwrap_or_default();
        let mut result = json!({
            "ruleId": diagnostic.code.name(),
            "level": diagnostic.code.severity().name(),
            "message": { "text": format!("{}{}{help}{notes}", diagnostic.message, in_cell(cell, place)) },
            "locations": [{ "physicalLocation": located(path, cell, place) }],
        });
        if !related.is_empty() {
            let related = related.iter().zip(&diagnostic.related).map(|(place, (_, label))| {
                json!({ "physicalLocation": located(path, cell, place), "message": { "text": format!("{label}{}", in_cell(cell, place)) } })
            });
            result["relatedLocations"] = related.collect();
        }
        result
    };
    let shown = report.shown().map(|(path, finding)| result(path, finding));
    // What comments allow is told as suppressed.
    let allowed = report.seen.iter().flat_map(|seen| {
        seen.allowed.iter().filter(|finding| report.shows(&finding.diagnostic)).map(|finding| {
            let mut result = result(&seen.path, finding);
            result["suppressions"] = json!([{ "kind": "inSource" }]);
            result
        })
    });
    let results = shown.chain(allowed);
    let unread = report.unread.iter().map(|why| json!({ "level": "error", "message": { "text": why } }));
    let skipped = report.skipped.iter().map(|path| {
        json!({ "level": "note", "message": { "text": format!("{path} mentions a video instruction and is of no known kind") } })
    });
    let notifications = unread.chain(skipped);
    json!({
        "$schema": "https://json.schemastore.org/sarif-2.1.0.json",
        "version": "2.1.0",
        "runs": [{
            "tool": { "driver": {
                "name": "vop",
                "version": env!("CARGO_PKG_VERSION"),
                "rules": rules.collect::<Vec<_>>(),
            } },
            "columnKind": "unicodeCodePoints",
            "invocations": [{
                "executionSuccessful": report.unread.is_empty(),
                "toolExecutionNotifications": notifications.collect::<Vec<_>>(),
            }],
            "results": results.collect::<Vec<_>>(),
        }],
    })
}

/// Where something stands in a cell, for messages.
pub(super) fn in_cell(cell: &Option<InCell>, place: &LineRange) -> String {
    cell.map_or(String::new(), |cell| format!(" (cell {}, line {}, column {})", cell.number, place.line, place.column))
}

/// A path as a URI reference: relative, or `file://` and absolute.
fn uri(path: &str) -> String {
    let mut uri = String::from(if path.starts_with('/') { "file://" } else { "" });
    for byte in path.replace('\\', "/").bytes() {
        if byte.is_ascii_alphanumeric() || b"-._~/".contains(&byte) {
            uri.push(byte.into());
        } else {
            let _ = write!(uri, "%{byte:02X}");
        }
    }
    uri
}
