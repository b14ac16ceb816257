//! Findings for people: drawings as they are found, then a summary by form.

use std::collections::HashSet;
use std::fmt::Write as _;

use vop::{Diagnostic, Severity, Target};
use vop_draw::SourceText;
use vop_ptx::uses::Verdict;

use super::report::{Report, Seen};
use crate::output::{self, plural, terminal};

/// Draws findings, and leaves out what it has drawn before.
#[derive(Default)]
pub(super) struct Drawer {
    /// The notes that have been drawn.
    notes: HashSet<String>,
    /// The long helps that have been drawn, with numbers for names.
    written_out: HashSet<String>,
}

impl Drawer {
    /// Draws a finding about an instruction on standard error.
    pub(super) fn draw(&mut self, finding: &Diagnostic, instruction: &str, source: SourceText<'_>) {
        let finding = self.said_once(finding.clone(), instruction);
        output::diagnostic(&finding, source);
    }

    /// A finding without what has been said before: the reasons, and a long text to write instead, which is the same but
    /// for names.
    fn said_once(&mut self, mut finding: Diagnostic, instruction: &str) -> Diagnostic {
        finding.notes.retain(|note| self.notes.insert(note.clone()));
        // Guards and immediates stay: what is to be written depends on them.
        let long = finding.help.as_ref().filter(|help| help.contains('\n'));
        // The label is the form.
        let key = long.map(|help| format!("{}\n{}", finding.label, without_names(help, instruction)));
        if key.is_some_and(|key| !self.written_out.insert(key)) {
            finding.help = None;
        }
        finding
    }
}

pub(super) fn report(report: &Report) -> String {
    let mut text = String::new();
    let summary = report.summary();
    let width = summary.iter().map(|(form, ..)| form.chars().count()).max().unwrap_or(0);
    // Writing to a String does not fail.
    let first_at = |first: &Seen| format!("{}:{}", first.name(), first.at.line);
    let longest = summary.iter().map(|(.., first)| first_at(first).chars().count()).max().unwrap_or(0);
    // Where rows are too long for the terminal, forms stand above the numbers.
    let stacked = terminal().is_some_and(|columns| width + 7 + 9 * report.targets.len() + 3 + longest > columns);
    let (width, end) = if stacked { (0, "\n") } else { (width, "") };
    if !report.targets.is_empty() && !summary.is_empty() {
        let targets: String = report.targets.iter().map(|target| format!(" {:>8}", target.to_string())).collect();
        let _ = writeln!(text, "{:<width$} {:>6}{targets}   first", "", "uses");
    }
    for (form, count, first) in &summary {
        let cost = |target: &Target| match first.form() {
            Some(form) => format!(" {:>8}", form.cost(*target)),
            None => format!(" {:>8}", "?"),
        };
        let costs: String = report.targets.iter().map(cost).collect();
        let _ = writeln!(text, "{form:<width$}{end} {count:>6}{costs}   {}", first_at(first));
    }
    for seen in &report.seen {
        if let Verdict::Unjudged(reason) = &seen.verdict {
            let Seen { at, text: instruction, .. } = seen;
            let path = seen.name();
            let _ = writeln!(text, "not judged: {path}:{}:{}: `{instruction}`: {reason}", at.line, at.column);
        }
    }
    for (kind, skipped) in [("file", &report.skipped), ("cell", &report.skipped_cells)] {
        if let [first, rest @ ..] = skipped.as_slice() {
            let names = if rest.is_empty() { first.clone() } else { format!("{first} and {} more", rest.len()) };
            let verb = if rest.is_empty() { "mentions a mnemonic and is" } else { "mention a mnemonic and are" };
            let _ =
                writeln!(text, "skipped: {} of no known kind {verb} not read: {names}", plural(skipped.len(), kind));
        }
    }
    let rows = text.len();
    let labels = report.labels();
    let count = |wanted: fn(&Verdict) -> bool| report.seen.iter().filter(|seen| wanted(&seen.verdict)).count();
    let _ = write!(
        text,
        "{} in {}: {} legal, {} illegal, {} not judged",
        plural(report.seen.len() - labels, "video instruction"),
        if report.files == 1 { "1 file".into() } else { format!("{} of {} files", report.files_with, report.files) },
        count(|verdict| matches!(verdict, Verdict::Legal(_) | Verdict::LegalFragment(_))),
        count(|verdict| matches!(verdict, Verdict::Illegal(_))),
        count(|verdict| matches!(verdict, Verdict::Unjudged(_))),
    );
    if labels > 0 {
        let _ = write!(text, ", {} that nothing here assembles", plural(labels, "name"));
    }
    for severity in [Severity::Warning, Severity::Note] {
        let (count, hidden) = (report.count(severity), severity > report.level);
        if count > 0 {
            let how = if hidden {
                format!(" (--level {severity} shows {})", if count == 1 { "it" } else { "them" })
            } else {
                String::new()
            };
            let _ = write!(text, ", {}{how}", plural(count, severity.name()));
        }
    }
    let allowed: usize = report.seen.iter().map(|seen| seen.allowed.len()).sum();
    if allowed > 0 {
        let _ = write!(text, ", {} allowed by comments", plural(allowed, "finding"));
    }
    for (i, target) in report.targets.iter().enumerate() {
        let costs = report.seen.iter().filter_map(|seen| Some(u64::from(seen.form()?.cost(*target))));
        let _ = match i {
            0 => write!(text, "; {} on {target}", plural(costs.sum::<u64>() as usize, "machine instruction")),
            _ => write!(text, ", {} on {target}", costs.sum::<u64>()),
        };
    }
    if let Some(columns) = terminal() {
        let sentence = vop_draw::wrapped(&text[rows..], columns);
        text.replace_range(rows.., &sentence);
    }
    text.push('\n');
    text
}

/// A text about an instruction with numbers for the names in it, so that two that differ in names alone are equal.
fn without_names(text: &str, instruction: &str) -> String {
    let is_name = |c: char| c.is_alphanumeric() || matches!(c, '_' | '$' | '%');
    let begins_name = |word: &&str| word.starts_with(|c: char| is_name(c) && !c.is_ascii_digit());
    // The mnemonic and the modifiers are among them, and the same in both.
    let mut names: Vec<&str> = instruction.split(|c| !is_name(c)).filter(begins_name).collect();
    let mut seen = HashSet::new();
    names.retain(|name| seen.insert(*name));
    // The file may write `{c}` for `%c`.
    let bare = |name: &str| name.trim_start_matches(['%', '$']).to_owned();
    let names: Vec<String> = names.into_iter().map(bare).collect();
    let mut renamed = String::new();
    for part in text.split_inclusive(|c| !is_name(c)) {
        let word = part.trim_end_matches(|c| !is_name(c));
        // Writing to a String does not fail.
        let _ = match names.iter().position(|name| *name == bare(word)) {
            Some(number) => write!(renamed, "<{number}>{}", &part[word.len()..]),
            None => write!(renamed, "{part}"),
        };
    }
    renamed
}
