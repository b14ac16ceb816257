//! What a check has found: data that each format prints.

use std::collections::BTreeMap;

use super::notebook::Cell;
use vop::{Diagnostic, Form, Severity, Target};
use vop_draw::{LineRange, Lines};
use vop_ptx::uses::{FileUses, Suppression, Use, Verdict};

/// An instruction, where it is, and its diagnostics with lines and columns.
pub(super) struct Seen {
    pub(super) path: String,
    /// The cell, if the file is a notebook.
    pub(super) cell: Option<InCell>,
    pub(super) at: LineRange,
    pub(super) text: String,
    pub(super) verdict: Verdict,
    pub(super) findings: Vec<Finding>,
    /// The findings that a comment allows.
    pub(super) allowed: Vec<Finding>,
}

/// The cell of a notebook that something stands in. Its lines and columns are those of the cell.
#[derive(Debug, Clone, Copy)]
pub(super) struct InCell {
    /// Its number, from 1.
    pub(super) number: usize,
    /// The line of the file that holds its first line.
    pub(super) file_line: usize,
}

/// A file, or a cell of a notebook: what is read as one text.
pub(super) struct Document<'a> {
    pub(super) path: &'a str,
    pub(super) text: &'a str,
    pub(super) cell: Option<&'a Cell>,
}

impl Document<'_> {
    /// As it is shown: `a.cu`, `a.ipynb:cell 3`.
    pub(super) fn name(&self) -> String {
        shown(self.path, self.cell.map(|cell| cell.number))
    }

    /// The cell, for what stands on this of its lines.
    fn place(&self, line: usize) -> Option<InCell> {
        let cell = self.cell?;
        let file_line = cell.lines.get(line - 1).or(cell.lines.last()).copied().unwrap_or(1);
        Some(InCell { number: cell.number, file_line })
    }
}

/// A path with the cell of a notebook.
pub(super) fn shown(path: &str, cell: Option<usize>) -> String {
    match cell {
        Some(cell) => format!("{path}:cell {cell}"),
        None => path.to_owned(),
    }
}

/// A diagnostic with its lines and columns, and those of the places related to it.
pub(super) struct Finding {
    pub(super) cell: Option<InCell>,
    pub(super) place: LineRange,
    pub(super) related: Vec<LineRange>,
    pub(super) diagnostic: Diagnostic,
}

impl Finding {
    pub(super) fn new(diagnostic: Diagnostic, document: &Document<'_>, lines: &Lines<'_>) -> Finding {
        let related = diagnostic.related.iter().map(|(span, _)| lines.range(span)).collect();
        let place = lines.range(&diagnostic.span);
        Finding { cell: document.place(place.line), place, related, diagnostic }
    }

    /// What is said beside the message, a line each: the related places, why, and what to do.
    pub(super) fn remarks(&self, path: &str) -> Vec<String> {
        let path = shown(path, self.cell.map(|cell| cell.number));
        let related = self.diagnostic.related.iter().zip(&self.related);
        let related = related.map(|((_, label), place)| format!("{label}: {path}:{}:{}", place.line, place.column));
        let notes = self.diagnostic.notes.iter().map(|note| format!("note: {note}"));
        related.chain(notes).chain(self.diagnostic.help.iter().map(|help| format!("help: {help}"))).collect()
    }
}

/// A comment that allows findings, and where it is.
pub(super) struct Allowing {
    pub(super) path: String,
    pub(super) cell: Option<usize>,
    pub(super) at: LineRange,
    pub(super) suppression: Suppression,
}

/// What a check has found.
pub(super) struct Report {
    /// Less severe findings are not shown.
    pub(super) level: Severity,
    /// The GPUs whose costs are asked for.
    pub(super) targets: Vec<Target>,
    /// The number of files read, and of those that hold an instruction.
    pub(super) files: usize,
    pub(super) files_with: usize,
    /// Why files and folders were not read.
    pub(super) unread: Vec<String>,
    /// Files of folders that are of no known kind, and that mention a video instruction.
    pub(super) skipped: Vec<String>,
    /// Cells of notebooks of which the same is true.
    pub(super) skipped_cells: Vec<String>,
    pub(super) seen: Vec<Seen>,
    pub(super) allowing: Vec<Allowing>,
    /// Findings about comments, with the paths of their files.
    pub(super) about_comments: Vec<(String, Finding)>,
}

impl Report {
    /// Adds what a file, or a cell of one, holds. `reports` says which findings count; `found` is told each that does, with its instruction.
    pub(super) fn add(
        &mut self,
        document: &Document<'_>,
        file: FileUses,
        reports: impl Fn(&Diagnostic) -> bool,
        mut found: impl FnMut(&Diagnostic, &str, &Lines<'_>),
    ) {
        if file.uses.is_empty() && file.suppressions.is_empty() && file.lints.is_empty() {
            return;
        }
        let path = document.path;
        let lines = Lines::new(document.text);
        for one in file.uses {
            let findings: Vec<Diagnostic> =
                one.lints.iter().chain(one.faults()).filter(|finding| reports(finding)).cloned().collect();
            findings.iter().for_each(|finding| found(finding, &one.text, &lines));
            let placed =
                |all: Vec<Diagnostic>| all.into_iter().map(|one| Finding::new(one, document, &lines)).collect();
            let at = lines.range(&one.span);
            let Use { text, verdict, allowed, .. } = one;
            let (findings, allowed) = (placed(findings), placed(allowed));
            let cell = document.place(at.line);
            self.seen.push(Seen { path: path.to_owned(), cell, at, text, verdict, findings, allowed });
        }
        for lint in file.lints.into_iter().filter(|lint| reports(lint)) {
            found(&lint, "", &lines);
            self.about_comments.push((path.to_owned(), Finding::new(lint, document, &lines)));
        }
        self.allowing.extend(file.suppressions.into_iter().map(|suppression| {
            let at = lines.range(&suppression.span);
            Allowing { path: path.to_owned(), cell: document.cell.map(|cell| cell.number), at, suppression }
        }));
    }

    /// The number of mnemonics that are strings by themselves, and no instructions.
    pub(super) fn labels(&self) -> usize {
        self.seen.iter().filter(|seen| seen.verdict == Verdict::Label).count()
    }

    pub(super) fn shows(&self, finding: &Diagnostic) -> bool {
        finding.code.severity() <= self.level
    }

    /// All findings with the paths of their files: those about instructions in order, then those about comments.
    fn findings(&self) -> impl Iterator<Item = (&str, &Finding)> {
        let of_uses = self.seen.iter().flat_map(|seen| seen.findings.iter().map(|one| (seen.path.as_str(), one)));
        of_uses.chain(self.about_comments.iter().map(|(path, one)| (path.as_str(), one)))
    }

    /// The findings that are shown, with the paths of their files.
    pub(super) fn shown(&self) -> impl Iterator<Item = (&str, &Finding)> {
        self.findings().filter(|(_, finding)| self.shows(&finding.diagnostic))
    }

    pub(super) fn count(&self, severity: Severity) -> usize {
        self.findings().filter(|(_, finding)| finding.diagnostic.code.severity() == severity).count()
    }

    /// By form, the most used first: how often, and where first.
    pub(super) fn summary(&self) -> Vec<(String, usize, &Seen)> {
        let mut forms: BTreeMap<String, (usize, &Seen)> = BTreeMap::new();
        for seen in &self.seen {
            let name = match &seen.verdict {
                Verdict::Legal(form) => form.to_string(),
                Verdict::LegalFragment(form) => format!("{} …", form.opcode()),
                Verdict::Illegal(_) | Verdict::Unjudged(_) | Verdict::Label => continue,
            };
            forms.entry(name).or_insert((0, seen)).0 += 1;
        }
        let mut rows: Vec<_> = forms.into_iter().map(|(form, (count, first))| (form, count, first)).collect();
        rows.sort_by_key(|&(_, count, _)| std::cmp::Reverse(count));
        rows
    }
}

impl Seen {
    /// Its file, with the cell.
    pub(super) fn name(&self) -> String {
        shown(&self.path, self.cell.map(|cell| cell.number))
    }

    /// Its form, if its operands are known.
    pub(super) fn form(&self) -> Option<Form> {
        match self.verdict {
            Verdict::Legal(form) => Some(form),
            _ => None,
        }
    }
}
