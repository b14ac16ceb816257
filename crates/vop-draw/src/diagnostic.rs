//! Draws diagnostics on the text they are about.

use std::borrow::Cow;
use std::cell::Cell;
use std::ops::Range;

use annotate_snippets::{AnnotationKind, Group, Level, Origin, Renderer, Snippet};
use vop::{Diagnostic, Severity};

use crate::wrapped;

/// The columns that are drawn for if nothing else is said.
const COLUMNS: usize = 80;

/// The columns before notes and helps.
const MARGIN: usize = 10;

/// A place more lines away than this is named, not drawn, as the lines between would be drawn too.
const NEAR: usize = 20;

/// Of lines longer than this only a part is drawn, in bytes.
const LONG_LINE: usize = 400;

/// A part of a text by lines and columns, both from 1; columns count characters.
#[derive(Debug, Clone, Copy)]
pub struct LineRange {
    /// The line that it begins in.
    pub line: usize,
    /// The column of its first character.
    pub column: usize,
    /// The line that it ends in.
    pub end_line: usize,
    /// The column behind its last character.
    pub end_column: usize,
}

/// Finds lines and columns of one text.
#[derive(Debug)]
pub struct Lines<'t> {
    text: &'t str,
    starts: Vec<usize>,
    /// The last offset that was looked up, with its line and column: the next is near it, and a line may be long.
    last: Cell<(usize, usize, usize)>,
}

impl<'t> Lines<'t> {
    /// The lines of a text.
    pub fn new(text: &'t str) -> Lines<'t> {
        let starts = std::iter::once(0).chain(text.match_indices('\n').map(|(at, _)| at + 1)).collect();
        Lines { text, starts, last: Cell::new((0, 0, 0)) }
    }

    /// The line of an offset, from 1.
    fn line(&self, offset: usize) -> usize {
        self.starts.partition_point(|&start| start <= offset).max(1)
    }

    /// Where a line begins, and where its last character ends.
    fn extent(&self, line: usize) -> Range<usize> {
        let end = self.starts.get(line).map_or(self.text.len(), |next| next - 1);
        self.starts[line - 1]..end
    }

    fn position(&self, offset: usize) -> (usize, usize) {
        let line = self.line(offset);
        let between = |range: Range<usize>| {
            let text = self.text.get(range).unwrap_or_default();
            text.trim_start_matches('\u{feff}').chars().count()
        };
        let column = match self.last.get() {
            (last, on, column) if on == line && last <= offset => column + between(last..offset),
            (last, on, column) if on == line && last - offset < offset - self.starts[line - 1] => {
                column - between(offset..last)
            }
            _ => 1 + between(self.starts[line - 1]..offset),
        };
        self.last.set((offset, line, column));
        (line, column)
    }

    /// Where a span, in bytes, begins and ends.
    pub fn range(&self, span: &Range<usize>) -> LineRange {
        let ((line, column), (end_line, end_column)) = (self.position(span.start), self.position(span.end));
        LineRange { line, column, end_line, end_column }
    }
}

/// A text that diagnostics are about, with the name of its file, if it has one.
#[derive(Debug, Clone, Copy)]
pub struct SourceText<'a> {
    /// The text.
    pub lines: &'a Lines<'a>,
    /// The name.
    pub path: Option<&'a str>,
}

impl SourceText<'_> {
    /// `path:line:column`.
    pub fn locate(self, span: &Range<usize>) -> String {
        let (line, column) = self.lines.position(span.start);
        match self.path {
            Some(path) => format!("{path}:{line}:{column}"),
            None => format!("{line}:{column}"),
        }
    }
}

/// What is drawn: a title with its code, places in a text, and what to say below.
#[derive(Debug, Clone)]
pub struct Drawing<'a> {
    /// How severe it is.
    pub severity: Severity,
    /// What is wrong.
    pub title: &'a str,
    /// Its code.
    pub code: &'a str,
    /// The text that it is about, if there is one.
    pub source: Option<SourceText<'a>>,
    /// Where it is wrong, and a word that stands there.
    pub primary: (Range<usize>, &'a str),
    /// Other places that have to do with it, and how.
    pub related: Vec<(Range<usize>, &'a str)>,
    /// Why.
    pub notes: Vec<String>,
    /// What to do.
    pub help: Option<&'a str>,
}

impl Drawing<'_> {
    /// The drawing for 80 columns, and an empty line.
    pub fn draw(self) -> String {
        self.draw_within(COLUMNS)
    }

    /// The drawing for a terminal of `columns` columns, and an empty line. Notes and helps are wrapped; of longer lines of the
    /// source a part is shown.
    pub fn draw_within(self, columns: usize) -> String {
        let narrow = columns < COLUMNS;
        // Two more for the numbers of lines.
        let width = if narrow { columns.max(MARGIN + 20) - MARGIN - 2 } else { COLUMNS - MARGIN };
        // The lines of a title stand behind `warning[V0701]: `.
        let head = self.severity.name().len() + self.code.len() + 4;
        let title = if narrow { wrapped(self.title, columns.max(head + 20) - head) } else { self.title.to_owned() };
        let level = match self.severity {
            Severity::Error => Level::ERROR,
            Severity::Warning => Level::WARNING,
            Severity::Note => Level::NOTE,
        };
        let mut report = Group::with_title(level.primary_title(&title).id(self.code));
        let mut notes = self.notes;
        if let Some(source) = self.source {
            let (span, label) = self.primary;
            let near =
                |place: &Range<usize>| source.lines.line(place.start).abs_diff(source.lines.line(span.start)) <= NEAR;
            let all = std::iter::once(&span).chain(self.related.iter().map(|(span, _)| span).filter(|span| near(span)));
            let window = Window::around(source.lines, all).unwrap_or_else(|| Window::within_line(source.lines, &span));
            let (drawn, far): (Vec<_>, Vec<_>) =
                self.related.into_iter().partition(|(span, _)| near(span) && window.holds(span));
            notes.extend(far.iter().map(|(span, label)| format!("{label}: {}", source.locate(span))));
            let related = drawn.iter();
            let related = related.map(|(span, label)| AnnotationKind::Context.span(window.place(span)).label(*label));
            let primary = AnnotationKind::Primary.span(window.place(&span)).label(label);
            let mut snippet = Snippet::source(window.plain()).line_start(window.first_line);
            if window.cut {
                // Columns of the snippet are not the file's.
                let (line, column) = source.lines.position(span.start);
                report = report.element(Origin::path(source.path.unwrap_or_default()).line(line).char_column(column));
            } else {
                snippet = snippet.path(source.path);
            }
            report = report.element(snippet.annotation(primary).annotations(related));
        }
        for note in notes {
            report = report.element(Level::NOTE.message(wrapped(&note, width)));
        }
        if let Some(help) = self.help {
            // A block of instructions stays as it is.
            let help = match help.split_once('\n') {
                Some((first, block)) => format!("{}\n{block}", wrapped(first, width)),
                None => wrapped(help, width),
            };
            report = report.element(Level::HELP.message(help));
        }
        let mut renderer = Renderer::styled();
        if narrow {
            renderer = renderer.term_width(columns);
        }
        let mut text = renderer.render(&[report]);
        text.push_str("\n\n");
        text
    }
}

/// The lines of a source that hold some places: drawing takes as long as the text that it is given.
struct Window<'a> {
    text: &'a str,
    start: usize,
    first_line: usize,
    /// Whether it begins inside a line.
    cut: bool,
}

impl<'a> Window<'a> {
    /// Whole lines; none if they are long.
    fn around<'s>(lines: &Lines<'a>, places: impl Iterator<Item = &'s Range<usize>>) -> Option<Window<'a>> {
        let (mut start, mut end) = (lines.text.len(), 0);
        for place in places {
            start = start.min(place.start);
            end = end.max(place.end.max(place.start));
        }
        let (first_line, last_line) = (lines.line(start.min(end)), lines.line(end));
        let (start, end) = (lines.extent(first_line).start, lines.extent(last_line).end);
        let text = lines.text.get(start..end)?;
        let short = text.len() <= LONG_LINE * (1 + last_line - first_line);
        short.then_some(Window { text, start, first_line, cut: false })
    }

    /// What stands around the beginning of a place in a long line.
    fn within_line(lines: &Lines<'a>, place: &Range<usize>) -> Window<'a> {
        // Positions may lie in what a lossy reading changed, so inside a character.
        let boundary = |at: usize| (0..=at).rev().find(|&at| lines.text.is_char_boundary(at)).unwrap_or(0);
        let first_line = lines.line(place.start);
        let line = lines.extent(first_line);
        let end = place.end.clamp(place.start, place.start + LONG_LINE / 2);
        let start = boundary(place.start.saturating_sub(LONG_LINE / 8).max(line.start));
        let end = boundary((end + LONG_LINE / 8).min(line.end)).max(start);
        Window { text: lines.text.get(start..end).unwrap_or_default(), start, first_line, cut: start > line.start }
    }

    fn holds(&self, place: &Range<usize>) -> bool {
        self.start <= place.start && place.end <= self.start + self.text.len()
    }

    /// The text as it is drawn: a line ends with a line feed alone, since a carriage return would be drawn as a mark.
    fn plain(&self) -> Cow<'a, str> {
        if self.text.contains('\r') { self.text.replace('\r', "").into() } else { self.text.into() }
    }

    /// A place in the source as one in the window, between characters.
    fn place(&self, range: &Range<usize>) -> Range<usize> {
        let at = |offset: usize| {
            let offset = offset.saturating_sub(self.start).min(self.text.len());
            (0..=offset).rev().find(|&at| self.text.is_char_boundary(at)).unwrap_or(0)
        };
        let start = at(range.start);
        let end = at(range.end).max(start);
        // Those that are not drawn.
        let returns = |end: usize| self.text.as_bytes()[..end].iter().filter(|&&byte| byte == b'\r').count();
        start - returns(start)..end - returns(end)
    }
}

/// One diagnostic under its place in a source, drawn for 80 columns.
pub fn diagnostic(diagnostic: &Diagnostic, source: SourceText<'_>) -> String {
    diagnostic_within(diagnostic, source, COLUMNS)
}

/// [`diagnostic`](diagnostic()) for a terminal of `columns` columns.
pub fn diagnostic_within(diagnostic: &Diagnostic, source: SourceText<'_>, columns: usize) -> String {
    Drawing {
        severity: diagnostic.code.severity(),
        title: &diagnostic.message,
        code: diagnostic.code.name(),
        source: Some(source),
        primary: (diagnostic.span.clone(), &diagnostic.label),
        related: diagnostic.related.iter().map(|(span, label)| (span.clone(), label.as_str())).collect(),
        notes: diagnostic.notes.clone(),
        help: diagnostic.help.as_deref(),
    }
    .draw_within(columns)
}

/// All that is to be said of a text that has no name, one below the other.
pub fn diagnostics(diagnostics: &[Diagnostic], text: &str) -> String {
    let lines = Lines::new(text);
    diagnostics.iter().map(|one| diagnostic(one, SourceText { lines: &lines, path: None })).collect()
}
