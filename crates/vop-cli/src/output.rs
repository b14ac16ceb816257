//! Output: results go to standard output, everything else to standard error.

use std::borrow::Cow;
use std::io::{self, BufWriter, Read, StdoutLock, Write};
use std::path::Path;

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

/// The whole of a file, or of standard input for `-`.
pub(crate) fn read(path: &Path) -> Result<Vec<u8>, Failure> {
    if path.as_os_str() == "-" {
        let mut bytes = Vec::new();
        io::stdin().lock().read_to_end(&mut bytes)?;
        return Ok(bytes);
    }
    std::fs::read(path).map_err(|error| Failure::Misuse(format!("cannot read {}: {error}", path.display())))
}

/// Writes a file whole or not at all. Other than plain files, such as `/dev/null`, are written to directly.
pub(crate) fn write(path: &Path, bytes: &[u8]) -> Result<(), Failure> {
    if std::fs::metadata(path).is_ok_and(|file| !file.is_file()) {
        return std::fs::write(path, bytes)
            .map_err(|error| Failure::Misuse(format!("cannot write {}: {error}", path.display())));
    }
    let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty());
    if let Some(folder) = folder.filter(|folder| !folder.is_dir()) {
        return Err(Failure::Misuse(format!("cannot write {}: no folder {}", path.display(), folder.display())));
    }
    vop_arrays::write_atomically(&[(path, bytes)]).map_err(|error| Failure::Misuse(error.to_string()))
}

/// The lines of what [`read`] returned, without their ends; why one cannot be taken.
pub(crate) fn lines(bytes: &[u8]) -> impl Iterator<Item = Result<&str, String>> {
    let bytes = bytes.strip_prefix(BOM).unwrap_or(bytes);
    let ended = bytes.strip_suffix(b"\n").unwrap_or(bytes);
    let lines = (!bytes.is_empty()).then(|| ended.split(|&byte| byte == b'\n'));
    lines.into_iter().flatten().map(|line| match std::str::from_utf8(line) {
        Ok(line) => Ok(line.trim_end_matches('\r')),
        Err(_) => Err("the line is not UTF-8".into()),
    })
}

/// A field of a line: tabs and line ends in it become blanks.
pub(crate) fn field(text: &str) -> Cow<'_, str> {
    const ENDS: [char; 3] = ['\t', '\n', '\r'];
    if text.contains(ENDS) { text.replace(ENDS, " ").into() } else { text.into() }
}

/// `1 file`, `2 files`.
pub(crate) fn plural(count: usize, noun: &str) -> String {
    if count == 1 { format!("1 {noun}") } else { format!("{} {noun}s", grouped(count as u64)) }
}

/// 6039797760 as 6,039,797,760.
pub(crate) fn grouped(number: u64) -> String {
    let digits = number.to_string();
    let mut text = String::new();
    for (i, digit) in digits.chars().enumerate() {
        if i > 0 && (digits.len() - i).is_multiple_of(3) {
            text.push(',');
        }
        text.push(digit);
    }
    text
}
