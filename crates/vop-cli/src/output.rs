//! Output: results go to standard output, everything else to standard error.

use std::borrow::Cow;
use std::io::{self, BufRead, BufReader, BufWriter, Read, StdoutLock, Write};
use std::path::{Path, PathBuf};

use crate::Failure;

/// For people or for programs.
#[derive(Clone, Copy, Default, clap::ValueEnum)]
pub(crate) enum Format {
    /// For people.
    #[default]
    Text,
    /// For programs.
    Json,
}

/// The byte order mark that some editors write before UTF-8 text.
pub(crate) const BOM: &[u8] = "\u{feff}".as_bytes();

/// Standard output for many lines, locked and buffered. Flush it at the end: otherwise an error is lost.
pub(crate) fn stdout() -> BufWriter<StdoutLock<'static>> {
    BufWriter::with_capacity(1 << 16, io::stdout().lock())
}

/// The columns that results for people are laid out for: 80, or fewer where standard output is a narrower terminal.
pub(crate) fn width() -> usize {
    terminal().map_or(80, |columns| columns.min(80))
}

/// As [`width`], of standard error.
pub(crate) fn width_of_stderr() -> usize {
    terminal_of_stderr().map_or(80, |columns| columns.min(80))
}

/// The columns of standard output if it is a terminal.
pub(crate) fn terminal() -> Option<usize> {
    columns(terminal_size::terminal_size_of(io::stdout()))
}

/// The columns of standard error if it is a terminal.
pub(crate) fn terminal_of_stderr() -> Option<usize> {
    columns(terminal_size::terminal_size_of(io::stderr()))
}

/// None where a terminal does not tell its size; nothing is laid out for less than 30 columns.
fn columns(size: Option<(terminal_size::Width, terminal_size::Height)>) -> Option<usize> {
    size.map(|(width, _)| usize::from(width.0)).filter(|width| *width > 0).map(|width| width.max(30))
}

/// A diagnostic, drawn on standard error.
pub(crate) fn diagnostic(diagnostic: &vop::Diagnostic, source: vop_draw::SourceText<'_>) {
    notice(&vop_draw::diagnostic_within(diagnostic, source, width_of_stderr()));
}

/// Diagnostics of a text without a name, drawn on standard error.
pub(crate) fn diagnostics(diagnostics: &[vop::Diagnostic], text: &str) {
    let lines = vop_draw::Lines::new(text);
    for one in diagnostics {
        diagnostic(one, vop_draw::SourceText { lines: &lines, path: None });
    }
}

/// Prints to standard error; colours are removed where it is no terminal, or `NO_COLOR` is set.
pub(crate) fn notice(text: &str) {
    // Nothing can be done where standard error is closed.
    let _ = anstream::stderr().lock().write_all(text.as_bytes());
}

pub(crate) fn error(why: &str) {
    notice(&format!("\x1b[1;31merror\x1b[0m\x1b[1m: {why}\x1b[0m\n"));
}

pub(crate) fn warning(why: &str) {
    notice(&format!("\x1b[1;33mwarning\x1b[0m\x1b[1m: {why}\x1b[0m\n"));
}

pub(crate) fn note(what: &str) {
    notice(&format!("\x1b[1;32mnote\x1b[0m\x1b[1m: {what}\x1b[0m\n"));
}

/// The whole of a file of text, or of standard input for `-`.
pub(crate) fn read(path: &Path) -> Result<Vec<u8>, Failure> {
    vop_arrays::read_text_file(path, vop_arrays::MAX_TEXT).map_err(|error| Failure::Misuse(error.to_string()))
}

/// Writes a file whole or not at all. Other than plain files, such as `/dev/null`, are written to directly.
pub(crate) fn write(path: &Path, bytes: &[u8]) -> Result<(), Failure> {
    if std::fs::metadata(path).is_ok_and(|file| !file.is_file()) {
        return std::fs::write(path, bytes)
            .map_err(|error| Failure::Misuse(format!("cannot write {}: {error}", path.display())));
    }
    vop_arrays::write_atomically(&[(path, bytes)]).map_err(|error| Failure::Misuse(error.to_string()))
}

/// Bytes of one line of a batch: more is no instruction.
const MAX_LINE: usize = 1 << 20;

/// The lines of a file, or of standard input for `-`, read one after the other.
pub(crate) struct Lines {
    file: BufReader<Box<dyn Read>>,
    path: PathBuf,
    /// How many there are, where that can be told without reading standard input.
    pub(crate) count: Option<usize>,
    line: Vec<u8>,
    first: bool,
}

impl Lines {
    pub(crate) fn open(path: &Path) -> Result<Lines, Failure> {
        let open = || vop_arrays::open_text_file(path).map_err(|error| Failure::Misuse(error.to_string()));
        let mut count = None;
        if path.is_file() {
            let mut file = BufReader::with_capacity(1 << 16, open()?);
            let (mut ends, mut open_line) = (0, false);
            loop {
                let bytes = file.fill_buf().map_err(|error| cannot_read(path, &error))?;
                let (Some(last), len) = (bytes.last(), bytes.len()) else { break };
                ends += bytes.iter().filter(|byte| **byte == b'\n').count();
                open_line = *last != b'\n';
                file.consume(len);
            }
            count = Some(ends + usize::from(open_line));
        }
        let file = BufReader::with_capacity(1 << 16, open()?);
        Ok(Lines { file, path: path.to_owned(), count, line: Vec::new(), first: true })
    }

    /// The bytes of the next line, without its end; why it cannot be taken.
    pub(crate) fn next_bytes(&mut self) -> Result<Option<Result<&[u8], String>>, Failure> {
        self.line.clear();
        let mut read = (&mut self.file).take(MAX_LINE as u64 + 1);
        let len = read.read_until(b'\n', &mut self.line).map_err(|error| cannot_read(&self.path, &error))?;
        if len == 0 {
            return Ok(None);
        }
        if len > MAX_LINE && !self.line.ends_with(b"\n") {
            loop {
                let bytes = self.file.fill_buf().map_err(|error| cannot_read(&self.path, &error))?;
                let end = bytes.iter().position(|byte| *byte == b'\n');
                let len = end.map_or(bytes.len(), |end| end + 1);
                self.file.consume(len);
                if end.is_some() || len == 0 {
                    break;
                }
            }
            self.first = false;
            return Ok(Some(Err(format!("the line has more than {MAX_LINE} bytes"))));
        }
        if std::mem::take(&mut self.first) && self.line.starts_with(BOM) {
            self.line.drain(..BOM.len());
            if self.line.is_empty() {
                return Ok(None);
            }
        }
        Ok(Some(Ok(self.line.strip_suffix(b"\n").unwrap_or(&self.line))))
    }

    /// The text of the next line, without its end; why it cannot be taken.
    pub(crate) fn next(&mut self) -> Result<Option<Result<&str, String>>, Failure> {
        Ok(self.next_bytes()?.map(|line| match std::str::from_utf8(line?) {
            Ok(line) => Ok(line.trim_end_matches('\r')),
            Err(_) => Err("the line is not UTF-8".into()),
        }))
    }
}

fn cannot_read(path: &Path, error: &io::Error) -> Failure {
    Failure::Misuse(format!("cannot read {}: {error}", path.display()))
}

/// Bytes of a message in a line, about: a message may quote a name of a megabyte.
const MAX_FIELD: usize = 1000;

/// A message as a field of a line: tabs and line ends in it become blanks, and a long one is cut off.
pub(crate) fn field(text: &str) -> Cow<'_, str> {
    const ENDS: [char; 3] = ['\t', '\n', '\r'];
    if text.len() > MAX_FIELD {
        let end = (0..=MAX_FIELD).rev().find(|end| text.is_char_boundary(*end)).unwrap_or(0);
        return format!("{}…", text[..end].replace(ENDS, " ")).into();
    }
    if text.contains(ENDS) { text.replace(ENDS, " ").into() } else { text.into() }
}

/// `1 file`, `2 files`.
pub(crate) fn plural(count: usize, noun: &str) -> String {
    if count == 1 { format!("1 {noun}") } else { format!("{} {noun}s", vop::grouped(count as u64)) }
}

/// Rows of a batch that were refused one after the other: a file that holds no rows at all may be long.
#[derive(Default)]
pub(crate) struct Refused(usize);

impl Refused {
    /// More than any mistake in a file of rows makes.
    const MOST: usize = 100_000;

    /// Counts a row.
    ///
    /// # Errors
    /// If it is the last of too many that were refused.
    pub(crate) fn count(&mut self, is_refused: bool) -> Result<(), Failure> {
        self.0 = if is_refused { self.0 + 1 } else { 0 };
        if self.0 < Self::MOST {
            return Ok(());
        }
        let most = vop::grouped(Self::MOST as u64);
        Err(Failure::Misuse(format!("{most} rows in succession are no instructions: the rest was not read")))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_are_refused_in_succession() {
        let mut refused = Refused::default();
        assert!((1..Refused::MOST).all(|_| refused.count(true).is_ok()));
        // A row that is read starts a new succession.
        assert!(refused.count(false).is_ok());
        assert!((1..Refused::MOST).all(|_| refused.count(true).is_ok()));
        assert!(refused.count(true).is_err());
    }

    #[test]
    fn long_messages_are_cut_between_characters() {
        assert_eq!(field("a\tb\nc"), "a b c");
        let cut = field(&"é".repeat(1000)).into_owned();
        assert!(cut.ends_with("é…") && cut.len() <= MAX_FIELD + 3);
    }
}
