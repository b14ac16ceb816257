//! Draws errors of a run under the text that they are about.

use std::path::Path;

use vop::Severity;
use vop_draw::{Drawing, Lines, SourceText};
use vop_run::{Finding, RunError};

/// An error of a run, under its place in the PTX, in the launch file, or in the text that the command line makes.
pub(crate) fn run_error(error: &RunError, command_line: &str) -> String {
    run(error, Severity::Error, None, command_line)
}

/// What a launch found while it ran on, and how often, or what is said instead.
pub(crate) fn finding(finding: &Finding, instead: Option<String>) -> String {
    let often = || format!("{} times at this place", vop::grouped(finding.count));
    let often = instead.or_else(|| (finding.count > 1).then(often));
    run(&finding.error, finding.severity, often, "")
}

fn run(error: &RunError, severity: Severity, often: Option<String>, command_line: &str) -> String {
    let place = error.place.as_deref();
    let file = place.and_then(|place| place.file.as_deref());
    let source = match file {
        Some(file) => {
            let bytes = vop_arrays::read_file(file, vop_arrays::MAX_TEXT).ok();
            bytes.map(|bytes| vop_ptx::uses::text(&bytes).into_owned())
        }
        None => place.map(|_| command_line.to_owned()),
    };
    let path = file.map(Path::to_string_lossy);
    let lines = source.as_deref().map(Lines::new);
    let compiled = place.and_then(|place| place.source.as_ref());
    let compiled = compiled.map(|source| format!("compiled from {source}"));
    Drawing {
        severity,
        title: &error.message,
        code: error.kind.code(),
        source: lines.as_ref().map(|lines| SourceText { lines, path: path.as_deref() }),
        primary: (place.map_or(0..0, |place| place.span.clone()), ""),
        related: Vec::new(),
        notes: compiled.into_iter().chain(error.thread.map(|thread| format!("in {thread}"))).chain(often).collect(),
        help: error.help.as_deref(),
    }
    .draw_within(crate::output::width_of_stderr())
}
