//! What a run did, as JSON.

use serde_json::{Value, json};
use vop_run::job::{Comparison, LaunchSummary};
use vop_run::{Finding, Profile, RunError, ThreadId};

use super::Ran;

/// `{"launches": […], "printed", "files": […], "comparisons": […], "errors": […]}`; after an error the lists before it are empty.
pub(super) fn run(result: &Ran, printed: &str) -> Value {
    let (summary, errors) = match result {
        Ok((summary, _)) => (Some(summary), &[][..]),
        Err(errors) => (None, &errors.0[..]),
    };
    json!({
        "launches": summary.map_or(Vec::new(), |summary| summary.launches.iter().map(launch).collect()),
        "printed": printed,
        "files": summary.map_or(&[][..], |summary| &summary.files),
        "comparisons": summary.map_or(Vec::new(), |summary| summary.comparisons.iter().map(comparison).collect()),
        "errors": errors.iter().map(error).collect::<Vec<_>>(),
    })
}

fn launch(launch: &LaunchSummary) -> Value {
    let report = &launch.report;
    let mut value = json!({
        "entry": launch.entry,
        "grid": launch.grid,
        "block": launch.block,
        "thread_instructions": report.instructions,
        "video": report.video,
        "seconds": launch.time.as_secs_f64(),
        "order_dependent": report.order_dependent,
        "checks": launch.checks.iter().map(|check| check.name()).collect::<Vec<_>>(),
        "findings": report.findings.iter().map(finding).collect::<Vec<_>>(),
        "findings_left_out": report.findings_left_out,
    });
    let name = vop_run::demangled(&launch.entry);
    if name != launch.entry {
        value["name"] = json!(name);
    }
    if !launch.round.is_empty() {
        let numbers = launch.round.iter().map(|(name, number)| (name.clone(), json!(number.parse::<f64>().ok())));
        value["for"] = Value::Object(numbers.collect());
    }
    if !report.trace.is_empty() {
        value["trace"] = json!(report.trace);
    }
    if let Some(found) = &report.profile {
        value["profile"] = profile(found);
    }
    value
}

/// As an error, with `severity` and `count`.
fn finding(finding: &Finding) -> Value {
    let mut value = error(&finding.error);
    value["severity"] = json!(finding.severity.name());
    value["count"] = json!(finding.count);
    value
}

/// A statement each, in the order of the PTX.
fn profile(profile: &Profile) -> Value {
    let statements = profile.statements.iter().map(|statement| {
        let mut value = json!({
            "line": statement.line,
            "column": statement.column,
            "opcode": statement.opcode,
            "text": statement.text,
            "threads": statement.threads,
            "warps": statement.warps,
            "parted": statement.parted,
            "bytes": statement.bytes,
        });
        if let Some((file, line)) = &statement.source {
            value["source"] = json!({ "file": file, "line": line });
        }
        value
    });
    statements.collect()
}

fn comparison(comparison: &Comparison) -> Value {
    let mut value = json!({
        "buffer": comparison.buffer,
        "file": comparison.file,
        "elements": comparison.elements,
        "differing": comparison.differing,
        "greatest": comparison.greatest,
    });
    if let Some(first) = &comparison.first {
        value["first"] = json!({ "index": first.index, "found": first.found, "expected": first.expected });
    }
    value
}

fn error(error: &RunError) -> Value {
    let mut value = json!({ "code": error.kind.code(), "message": error.message });
    if let Some(place) = &error.place {
        value["file"] = json!(place.file);
        value["line"] = json!(place.line);
        value["column"] = json!(place.column);
        value["text"] = json!(place.text);
        if let Some(source) = &place.source {
            value["source"] = json!({ "file": source.file, "line": source.line });
        }
    }
    if let Some(ThreadId { block, thread }) = error.thread {
        value["block"] = json!(block);
        value["thread"] = json!(thread);
    }
    if let Some(address) = error.address {
        value["address"] = json!(address);
    }
    if let Some(help) = &error.help {
        value["help"] = json!(help);
    }
    value
}
