//! Workflow commands of GitHub Actions.

use std::fmt::Write as _;

use vop::Severity;

use super::report::{Finding, Report};

pub(super) fn report(report: &Report) -> String {
    // https://docs.github.com/actions/reference/workflow-commands-for-github-actions
    let data = |text: &str| text.replace('%', "%25").replace('\r', "%0D").replace('\n', "%0A");
    let property = |text: &str| data(text).replace(':', "%3A").replace(',', "%2C");
    let mut text = String::new();
    for (path, finding) in report.shown() {
        let remarks = finding.remarks(path).into_iter().map(|remark| format!("\n{remark}")).collect::<String>();
        let Finding { place, diagnostic, .. } = finding;
        let command = match diagnostic.code.severity() {
            Severity::Error => "error",
            Severity::Warning => "warning",
            Severity::Note => "notice",
        };
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
    text
}
