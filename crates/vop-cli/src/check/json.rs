//! Findings for programs: one object.

use serde_json::{Value, json};
use vop_ptx::uses::Verdict;

use super::report::{Allowing, Finding, Report, Seen};
use crate::json;

pub(super) fn report(report: &Report) -> Value {
    let instructions = report.seen.iter().map(|seen| {
        let Seen { path, cell, at, text, verdict, findings, allowed } = seen;
        let mut value = json!({ "path": path, "line": at.line, "column": at.column, "text": text });
        if let Some(cell) = cell {
            value["cell"] = json!(cell.number);
        }
        match verdict {
            Verdict::Legal(form) => {
                value["verdict"] = json!("legal");
                value["form"] = json!(form.to_string());
            }
            Verdict::LegalFragment(form) => {
                value["verdict"] = json!("legal fragment");
                value["form"] = json!(form.opcode().to_string());
            }
            Verdict::Illegal(_) => value["verdict"] = json!("illegal"),
            Verdict::Unjudged(reason) => {
                value["verdict"] = json!("not judged");
                value["reason"] = json!(reason.to_string());
            }
            Verdict::Label => value["verdict"] = json!("label"),
        }
        if let Some(costs) = costs(report, seen) {
            value["costs"] = costs;
        }
        value["diagnostics"] = findings.iter().map(finding).collect();
        value["allowed"] = allowed.iter().map(finding).collect();
        value
    });
    let summary = report.summary().into_iter().map(|(form, count, first)| {
        let first_at = format!("{}:{}", first.name(), first.at.line);
        let mut value = json!({ "form": form, "count": count, "first": first_at });
        if let Some(costs) = costs(report, first) {
            value["costs"] = costs;
        }
        value
    });
    let suppressions = report.allowing.iter().map(|Allowing { path, cell, at, suppression }| {
        let codes = suppression.codes.iter();
        let codes: Vec<_> = codes.map(|one| json!({ "code": one.code.name(), "used": one.used })).collect();
        let mut value = json!({
            "path": path,
            "line": at.line,
            "column": at.column,
            "scope": if suppression.whole_file { "file" } else { "line" },
            "codes": codes,
        });
        if let Some(cell) = cell {
            value["cell"] = json!(cell);
        }
        value
    });
    let about_comments = report.about_comments.iter().map(|(path, one)| {
        let mut value = finding(one);
        value["path"] = json!(path);
        if let Some(cell) = one.cell {
            value["cell"] = json!(cell.number);
        }
        value
    });
    json!({
        "files": report.files,
        "targets": report.targets.iter().map(ToString::to_string).collect::<Vec<_>>(),
        "unread": report.unread,
        "skipped": report.skipped.iter().chain(&report.skipped_cells).collect::<Vec<_>>(),
        "instructions": instructions.collect::<Vec<_>>(),
        "forms": summary.collect::<Vec<_>>(),
        "suppressions": suppressions.collect::<Vec<_>>(),
        "diagnostics": about_comments.collect::<Vec<_>>(),
    })
}

fn finding(Finding { place, diagnostic, .. }: &Finding) -> Value {
    let mut value = json::diagnostic(diagnostic);
    value["line"] = json!(place.line);
    value["column"] = json!(place.column);
    value
}

/// What an instruction costs on each GPU that is asked for; none where none is, or where its operands are not known.
fn costs(report: &Report, seen: &Seen) -> Option<Value> {
    let form = seen.form().filter(|_| !report.targets.is_empty())?;
    let costs = report.targets.iter().map(|target| (target.to_string(), json!(form.cost(*target))));
    Some(Value::Object(costs.collect()))
}
