//! Workflow commands of GitHub Actions.

use std::fmt::Write as _;

use vop::Severity;

use super::report::{Finding, Report};
use super::sarif::in_cell;

pub(super) fn report(report: &Report) -> String {
    // https://docs.github.com/actions/reference/workflow-commands-for-github-actions
    let data = |text: &str| text.replace('%', "%25").replace('\r', "%0D").replace('\n', "%0A");
    let property = |text: &str| data(text).replace(':', "%3A").replace(',', "%2C");
    let mut text = String::new();
    for (path, finding) in report.shown() {
        let remarks = finding.remarks(path).into_iter().map(|remark| format!("\n{remark}")).collect::<String>();
        let Finding { cell, place, diagnostic, .. } = finding;
        let command = match diagnostic.code.severity() {
            Severity::Error => "error",
            Severity::Warning => "warning",
            Severity::Note => "notice",
        };
        if let Some(cell) = cell {
            let message = format!("{}{}{remarks}", diagnostic.message, in_cell(&finding.cell, place));
            let (path, line, code) = (property(path), cell.file_line, diagnostic.code);
            let _ = writeln!(text, "::{command} file={path},line={line},title={code}::{}", data(&message));
            continue;
        }
        let _ = writeln!(
            text,
            "::{command} file={},line={},endLine={},col={},endColumn={},title={}::{}",
            property(path),
            place.line,
            place.end_line,
            place.column,
            place.end_column,
            diagnostic.code,
            data(&format!("{}{remarks}", diagnostic.message)),
        );
    }
    for (kind, skipped) in [("files", &report.skipped), ("cells", &report.skipped_cells)] {
        if !skipped.is_empty() {
            let names = data(&skipped.join(", "));
            let _ = writeln!(
                text,
                "::notice::{kind} of no known kind mention a video instruction and are not read: {names}"
            );
        }
    }
    text
}
