//! What the library reported of each process, together.

use std::collections::BTreeMap;
use std::ffi::OsStr;
use std::path::{Path, PathBuf};

use serde::Deserialize;
use serde_json::{Value, json};

use super::child::Ended;
use crate::output;
use crate::run::profile;
use crate::run::progress::counted;

/// Bytes of one process's report.
const MAX_REPORT: u64 = 1 << 30;

/// What one process did, as the library writes it when the process ends.
#[derive(Default, Deserialize)]
#[serde(default)]
struct Process {
    /// Its number.
    process: u32,
    /// Whether it came to its end in order, so that nothing is missing.
    complete: bool,
    kernels: Vec<Kernel>,
    /// Faults of kernels.
    errors: Vec<Value>,
    errors_left_out: u64,
    /// What checks found.
    findings: Vec<Value>,
    findings_left_out: u64,
    /// What was not freed.
    leaks: Vec<Value>,
    leaks_left_out: u64,
    /// How often functions were called that are not there.
    unsupported: BTreeMap<String, u64>,
}

/// All launches of one kernel.
#[derive(Clone, Default, Deserialize)]
#[serde(default)]
struct Kernel {
    name: String,
    launches: u64,
    thread_instructions: u64,
    seconds: f64,
    profile: Vec<Statement>,
}

/// A statement of a profile.
#[derive(Clone, Default, Deserialize)]
#[serde(default)]
struct Statement {
    line: usize,
    opcode: String,
    text: String,
    source: Option<Source>,
    threads: u64,
    warps: u64,
    parted: u64,
    bytes: u64,
}

#[derive(Clone, Default, Deserialize)]
#[serde(default)]
struct Source {
    file: String,
    line: u32,
}

impl Statement {
    fn profile(&self) -> profile::Statement<'_> {
        profile::Statement {
            line: self.line,
            source: self.source.as_ref().map(|source| (source.file.as_str(), source.line)),
            opcode: &self.opcode,
            text: &self.text,
            threads: self.threads,
            warps: self.warps,
            parted: self.parted,
            bytes: self.bytes,
        }
    }
}

/// The reports of all processes of a run.
pub(super) struct Summary {
    program: String,
    ended: Ended,
    /// As they were written.
    reports: Vec<Value>,
    processes: Vec<Process>,
    /// Why a report could not be read.
    unread: Vec<String>,
}

impl Summary {
    /// Reads the reports that are in a folder.
    pub(super) fn read(program: &OsStr, folder: PathBuf, ended: Ended) -> Summary {
        let program = program.to_string_lossy().into_owned();
        let mut summary = Summary { program, ended, reports: Vec::new(), processes: Vec::new(), unread: Vec::new() };
        let mut files: Vec<PathBuf> = match std::fs::read_dir(&folder) {
            Ok(entries) => entries.filter_map(|entry| entry.ok().map(|entry| entry.path())).collect(),
            Err(error) => {
                summary.unread.push(error.to_string());
                Vec::new()
            }
        };
        files.retain(|file| file.extension().is_some_and(|extension| extension == "json"));
        files.sort();
        for file in files {
            match report(&file) {
                Ok((value, process)) => {
                    summary.reports.push(value);
                    summary.processes.push(process);
                }
                Err(why) => summary.unread.push(why),
            }
        }
        summary
    }

    fn count(&self, of: impl Fn(&Process) -> (usize, u64)) -> u64 {
        self.processes.iter().map(of).map(|(there, left_out)| there as u64 + left_out).sum()
    }

    fn errors(&self) -> u64 {
        self.count(|process| (process.errors.len(), process.errors_left_out))
    }

    fn findings(&self) -> u64 {
        self.count(|process| {
            // Notes and warnings are no errors.
            let errors = process.findings.iter().filter(|finding| finding["severity"] == "error").count();
            (errors, process.findings_left_out)
        })
    }

    fn leaks(&self) -> u64 {
        self.count(|process| (process.leaks.len(), process.leaks_left_out))
    }

    /// Whether a kernel failed, or a check found something.
    pub(super) fn has_errors(&self) -> bool {
        self.errors() + self.findings() + self.leaks() > 0 || !self.unread.is_empty()
    }

    /// Functions that are not there, with the number of their calls.
    fn unsupported(&self) -> BTreeMap<&str, u64> {
        let mut all = BTreeMap::new();
        for (name, count) in self.processes.iter().flat_map(|process| &process.unsupported) {
            *all.entry(name.as_str()).or_default() += count;
        }
        all
    }

    /// The kernels of all processes, those that took longest first.
    fn kernels(&self) -> Vec<Kernel> {
        let mut all: BTreeMap<&str, Kernel> = BTreeMap::new();
        for kernel in self.processes.iter().flat_map(|process| &process.kernels) {
            let sum = all.entry(&kernel.name).or_default();
            sum.launches += kernel.launches;
            sum.thread_instructions += kernel.thread_instructions;
            sum.seconds += kernel.seconds;
            // Each process loads its modules; statements of one place add up in the tables.
            sum.profile.extend(kernel.profile.iter().cloned());
        }
        let mut kernels: Vec<Kernel> =
            all.into_iter().map(|(name, kernel)| Kernel { name: name.to_owned(), ..kernel }).collect();
        kernels.sort_by(|a, b| b.seconds.total_cmp(&a.seconds));
        kernels
    }

    /// For people.
    pub(super) fn text(&self) -> String {
        let mut text = String::new();
        let kernels = self.kernels();
        for kernel in kernels.iter().filter(|kernel| !kernel.profile.is_empty()) {
            let statements = kernel.profile.iter().map(Statement::profile);
            text.push_str(&profile::tables(&vop_run::demangled_name(&kernel.name), statements, Path::new("PTX")));
        }
        text.push_str(&format!("\nsummary of `{}`", self.program));
        match self.processes.len() {
            0 => text.push_str(": it has not used CUDA\n"),
            1 => text.push('\n'),
            count => text.push_str(&format!(", {count} processes\n")),
        }
        text.push_str(&table(&kernels));
        for leak in self.processes.iter().flat_map(|process| &process.leaks) {
            text.push_str(&format!("leak: {}\n", leak["message"].as_str().unwrap_or("memory was not freed")));
        }
        for (name, count) in self.unsupported() {
            text.push_str(&format!("not supported: {name}, called {}\n", counted(count, "time")));
        }
        for why in &self.unread {
            text.push_str(&format!("a report cannot be read: {why}\n"));
        }
        for process in self.processes.iter().filter(|process| !process.complete) {
            text.push_str(&format!(
                "process {} ended at once (by a signal, `_exit` or exec): what it did last may be missing\n",
                process.process
            ));
        }
        if let Ended::Signal(signal) = self.ended {
            text.push_str(&format!("ended by signal {signal}{}\n", name(signal)));
        }
        if !self.processes.is_empty() {
            let counts = [(self.errors(), "error"), (self.findings(), "finding"), (self.leaks(), "leak")];
            let counts: Vec<String> =
                counts.iter().filter(|(count, _)| *count > 0).map(|(count, what)| counted(*count, what)).collect();
            text.push_str(&if counts.is_empty() {
                "no errors\n".to_owned()
            } else {
                format!("{}\n", counts.join(", "))
            });
        }
        text
    }

    /// For programs: one line.
    pub(super) fn json(&self) -> String {
        let kernels = self.kernels();
        let (code, signal) = match self.ended {
            Ended::Code(code) => (Some(code), None),
            Ended::Signal(signal) => (None, Some(signal)),
        };
        let value = json!({
            "program": self.program,
            "status": code,
            "signal": signal,
            "launches": kernels.iter().map(|kernel| kernel.launches).sum::<u64>(),
            "thread_instructions": kernels.iter().map(|kernel| kernel.thread_instructions).sum::<u64>(),
            "seconds": kernels.iter().map(|kernel| kernel.seconds).sum::<f64>(),
            "kernels": kernels.iter().map(|kernel| json!({
                "name": kernel.name,
                "demangled": vop_run::demangled(&kernel.name),
                "launches": kernel.launches,
                "thread_instructions": kernel.thread_instructions,
                "seconds": kernel.seconds,
            })).collect::<Vec<_>>(),
            "errors": self.errors(),
            "findings": self.findings(),
            "leaks": self.leaks(),
            "unsupported": self.unsupported(),
            "processes": self.reports,
            "unread": self.unread,
        });
        format!("{value}\n")
    }
}

/// A row for each kernel, and the sums.
fn table(kernels: &[Kernel]) -> String {
    if kernels.is_empty() {
        return "no launches\n".to_owned();
    }
    let row = |name: String, kernel: &Kernel| {
        [
            name,
            vop::grouped(kernel.launches),
            vop::grouped(kernel.thread_instructions),
            format!("{:.3}", kernel.seconds),
        ]
    };
    let mut total = Kernel::default();
    for kernel in kernels {
        total.launches += kernel.launches;
        total.thread_instructions += kernel.thread_instructions;
        total.seconds += kernel.seconds;
    }
    let mut rows = vec![["kernel", "launches", "thread-instructions", "seconds"].map(str::to_owned)];
    rows.extend(kernels.iter().map(|kernel| row(vop_run::demangled_name(&kernel.name).into_owned(), kernel)));
    if kernels.len() > 1 {
        rows.push(row("all".to_owned(), &total));
    }
    let width = |column: usize| rows.iter().map(|row| row[column].chars().count()).max().unwrap_or(0);
    let numbers = [1, 2, 3].map(width);
    // What the numbers leave of a line; longer names make it longer.
    let space = output::width_of_stderr().saturating_sub(numbers.iter().map(|width| width + 2).sum());
    let first = width(0).min(space.max(20));
    let mut text = String::new();
    for [name, launches, instructions, seconds] in rows {
        let numbers = format!(
            "  {launches:>a$}  {instructions:>b$}  {seconds:>c$}\n",
            a = numbers[0],
            b = numbers[1],
            c = numbers[2]
        );
        if name.chars().count() > first {
            text.push_str(&format!("{name}\n{:first$}{numbers}", ""));
        } else {
            text.push_str(&format!("{name:<first$}{numbers}"));
        }
    }
    text
}

fn report(file: &Path) -> Result<(Value, Process), String> {
    let bytes = vop_arrays::read_file(file, MAX_REPORT).map_err(|error| error.to_string())?;
    let read = |error: serde_json::Error| format!("{}: {error}", file.display());
    let value: Value = serde_json::from_slice(&bytes).map_err(read)?;
    let process = Process::deserialize(&value).map_err(read)?;
    Ok((value, process))
}

/// The name of a signal that ends programs.
fn name(signal: i32) -> &'static str {
    match signal {
        libc::SIGABRT => " (SIGABRT: the program aborted itself)",
        libc::SIGSEGV => " (SIGSEGV: the program's host code used a bad address)",
        libc::SIGBUS => " (SIGBUS)",
        libc::SIGFPE => " (SIGFPE)",
        libc::SIGILL => " (SIGILL)",
        libc::SIGINT => " (SIGINT)",
        libc::SIGKILL => " (SIGKILL)",
        libc::SIGTERM => " (SIGTERM)",
        _ => "",
    }
}
