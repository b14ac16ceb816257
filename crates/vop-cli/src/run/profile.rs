//! Tables of what a launch executed.

use std::collections::{BTreeMap, HashMap};
use std::io::IsTerminal;
use std::path::Path;

use vop_run::StatementProfile;

/// Rows of a table, at most.
const ROWS: usize = 20;

/// What statements together did.
#[derive(Clone, Copy, Default)]
struct Sum {
    threads: u64,
    warps: u64,
    parted: u64,
    bytes: u64,
}

impl Sum {
    fn add(&mut self, other: Sum) {
        self.threads += other.threads;
        self.warps += other.warps;
        self.parted += other.parted;
        self.bytes += other.bytes;
    }

    /// Threads of a warp that were active, on average.
    fn lanes(self) -> f64 {
        self.threads as f64 / self.warps.max(1) as f64
    }
}

/// What was executed of a statement.
#[derive(Clone, Copy)]
pub(crate) struct Statement<'a> {
    pub(crate) line: usize,
    /// The file and line of the source code.
    pub(crate) source: Option<(&'a str, u32)>,
    pub(crate) opcode: &'a str,
    pub(crate) text: &'a str,
    pub(crate) threads: u64,
    pub(crate) warps: u64,
    pub(crate) parted: u64,
    pub(crate) bytes: u64,
}

impl<'a> From<&'a StatementProfile> for Statement<'a> {
    fn from(statement: &'a StatementProfile) -> Statement<'a> {
        Statement {
            line: statement.line,
            source: statement.source.as_ref().map(|(file, line)| (file.as_str(), *line)),
            opcode: &statement.opcode,
            text: &statement.text,
            threads: statement.threads,
            warps: statement.warps,
            parted: statement.parted,
            bytes: statement.bytes,
        }
    }
}

/// The most executed opcodes and lines of a launch.
pub(crate) fn tables<'a>(entry: &str, statements: impl Iterator<Item = Statement<'a>>, ptx: &Path) -> String {
    let mut total = Sum::default();
    let mut opcodes: BTreeMap<&str, Sum> = BTreeMap::new();
    // With the text of a statement there.
    let mut lines: BTreeMap<Line<'_>, (Sum, &str)> = BTreeMap::new();
    for statement in statements {
        let sum = Sum {
            threads: statement.threads,
            warps: statement.warps,
            parted: statement.parted,
            bytes: statement.bytes,
        };
        total.add(sum);
        opcodes.entry(statement.opcode).or_default().add(sum);
        let line = match statement.source {
            Some((file, line)) => Line { file: Some(file), line: line as usize },
            None => Line { file: None, line: statement.line },
        };
        lines.entry(line).or_insert((Sum::default(), statement.text)).0.add(sum);
    }
    let mut text =
        format!("\nprofile of `{entry}`: {:.1} of 32 lanes active, {} moved\n\n", total.lanes(), bytes(total.bytes));
    let rows = opcodes.into_iter().map(|(opcode, sum)| (opcode.to_owned(), sum, String::new()));
    text.push_str(&table("opcode", rows.collect(), total));
    text.push('\n');
    let mut sources = Sources { ptx, files: HashMap::new() };
    let rows = lines.into_iter().map(|(line, (sum, text))| {
        let text = line.file.map_or_else(|| text.to_owned(), |file| sources.line(file, line.line));
        (line.name(ptx), sum, text)
    });
    text.push_str(&table("line", rows.collect(), total));
    text
}

/// A line of the source code, or of the PTX.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
struct Line<'a> {
    file: Option<&'a str>,
    line: usize,
}

impl Line<'_> {
    fn name(self, ptx: &Path) -> String {
        let file = self.file.map_or(ptx, Path::new);
        format!("{}:{}", file.file_name().unwrap_or_default().to_string_lossy(), self.line)
    }
}

/// Source files, read when a line is asked for.
struct Sources<'a> {
    ptx: &'a Path,
    files: HashMap<String, Vec<String>>,
}

impl Sources<'_> {
    /// A line's text; empty where the file cannot be read.
    fn line(&mut self, file: &str, line: usize) -> String {
        let lines = self.files.entry(file.to_owned()).or_insert_with(|| {
            // Compilers name files absolutely, or relative to where they ran: often where the PTX is.
            let beside = self.ptx.parent().unwrap_or(Path::new("")).join(file);
            let read = |path: &Path| vop_arrays::read_file(path, vop_arrays::MAX_TEXT);
            let bytes = read(&beside).or_else(|_| read(file.as_ref())).unwrap_or_default();
            String::from_utf8_lossy(&bytes).lines().map(|line| line.trim().to_owned()).collect()
        });
        line.checked_sub(1).and_then(|index| lines.get(index)).cloned().unwrap_or_default()
    }
}

/// Rows of a name, what it did, and a text; the most executed first, and of equals as they come.
fn table(heading: &str, mut rows: Vec<(String, Sum, String)>, total: Sum) -> String {
    rows.sort_by_key(|(_, sum, _)| std::cmp::Reverse(sum.threads));
    let more = rows.len().saturating_sub(ROWS);
    rows.truncate(ROWS);
    let width = rows.iter().map(|(name, ..)| name.chars().count()).max().unwrap_or(0).max(heading.len());
    // The longest name, and 47 columns of numbers. A narrow terminal gets fewer of them.
    let narrow = std::io::stdout().is_terminal() && width + 47 > crate::output::width();
    let mut text = if narrow {
        format!("{heading:<width$} executed  share\n")
    } else {
        format!("{heading:<width$} executed  share   warps lanes parted    bytes\n")
    };
    for (name, sum, remark) in rows {
        let share = 100.0 * sum.threads as f64 / total.threads.max(1) as f64;
        let mut row = format!("{name:<width$} {:>8} {share:>5.1}%", short(sum.threads));
        if !narrow {
            let (warps, parted) = (short(sum.warps), short(sum.parted));
            row.push_str(&format!(" {warps:>7} {:>5.1} {parted:>6} {:>8}", sum.lanes(), bytes(sum.bytes)));
        }
        row.push_str("  ");
        row.push_str(&remark);
        text.push_str(fitted(&row).trim_end());
        text.push('\n');
    }
    if more > 0 {
        text.push_str(&format!("and {more} more\n"));
    }
    text
}

/// A line, cut to the terminal's width if there is one.
fn fitted(line: &str) -> String {
    match terminal_size::terminal_size() {
        Some((width, _)) if std::io::stdout().is_terminal() => line.chars().take(width.0.into()).collect(),
        _ => line.to_owned(),
    }
}

/// In four digits: 205.3M.
fn short(number: u64) -> String {
    if number < 10_000 {
        return number.to_string();
    }
    let (value, unit) = scaled(number as f64, 1000.0, &["", "K", "M", "G", "T", "P", "E"]);
    format!("{value}{unit}")
}

/// In decimal units: 12.4 MB.
fn bytes(number: u64) -> String {
    match number {
        0 => "0".to_owned(),
        1..1000 => format!("{number} B"),
        _ => {
            let (value, unit) = scaled(number as f64, 1000.0, &["B", "KB", "MB", "GB", "TB", "PB", "EB"]);
            format!("{value} {unit}")
        }
    }
}

fn scaled(mut value: f64, step: f64, units: &[&'static str]) -> (String, &'static str) {
    let mut units = units.iter();
    let mut unit = units.next().copied().unwrap_or_default();
    // What would round to a step belongs to the next unit.
    for next in units {
        if value < step - 0.05 {
            break;
        }
        value /= step;
        unit = next;
    }
    (format!("{value:.1}"), unit)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_short_and_not_wrong() {
        let shown = [0, 9_999, 10_000, 999_949, 999_950, 205_347_676, u64::MAX].map(short);
        assert_eq!(shown, ["0", "9999", "10.0K", "999.9K", "1.0M", "205.3M", "18.4E"]);
        let shown = [0, 1, 999, 1000, 12_400_000].map(bytes);
        assert_eq!(shown, ["0", "1 B", "999 B", "1.0 KB", "12.4 MB"]);
    }
}
