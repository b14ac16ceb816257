//! `vop check`.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::io::Write;
use std::ops::Range;
use std::path::{Path, PathBuf};

use serde_json::{Value, json};
use vop::{Code, Diagnostic};
use vop_ptx::find::Language;
use vop_ptx::uses::{self, Use, Verdict};

use crate::{Failure, Outcome, json, output, render};

/// Find every video instruction in files and folders and judge it.
///
/// Reads PTX, CUDA C++ and its headers, OpenCL, Python, LLVM IR and Rust, and there the PTX in string literals. In PTX
/// modules also the registers' types and the module's `.version` and `.target` are judged. In folders, what .gitignore
/// names and hidden files are left out. Exit status 1 if any instruction is illegal.
#[derive(clap::Args)]
#[command(after_help = "\
Examples:
  vop check kernel.ptx src/
  vop check --format sarif src/ > vop.sarif
  nvcc -ptx kernel.cu -o - | vop check --language ptx -")]
pub(crate) struct Args {
    /// Files and folders; `-` is standard input.
    #[arg(required = true)]
    path: Vec<PathBuf>,
    /// How findings are printed.
    #[arg(long, value_enum, default_value_t)]
    format: Format,
    /// Read all files as this language, whatever their names.
    #[arg(long, value_enum)]
    language: Option<LanguageName>,
    /// In folders, also read what .gitignore names and hidden files.
    #[arg(long)]
    no_ignore: bool,
}

#[derive(Clone, Copy, Default, clap::ValueEnum)]
enum Format {
    /// Drawings on standard error, a summary by form on standard output.
    #[default]
    Human,
    /// One object with all instructions found.
    Json,
    /// SARIF 2.1.0, for code scanning.
    Sarif,
    /// Workflow commands of GitHub Actions.
    Github,
}

#[derive(Clone, Copy, clap::ValueEnum)]
enum LanguageName {
    Ptx,
    Cuda,
    Opencl,
    Python,
    Llvm,
    Rust,
}

impl From<LanguageName> for Language {
    fn from(name: LanguageName) -> Language {
        match name {
            LanguageName::Ptx => Language::Ptx,
            LanguageName::Cuda => Language::Cuda,
            LanguageName::Opencl => Language::OpenCl,
            LanguageName::Python => Language::Python,
            LanguageName::Llvm => Language::LlvmIr,
            LanguageName::Rust => Language::Rust,
        }
    }
}

pub(crate) fn run(args: Args) -> Result<Outcome, Failure> {
    let mut report = Report { format: args.format, files: 0, files_with: 0, unread: Vec::new(), seen: Vec::new() };
    let mut buffer = Vec::new();
    for path in &args.path {
        for file in files(path, args.no_ignore) {
            let (file, explicit) = match file {
                Ok(file) => file,
                Err(why) => {
                    report.unread(path, &why);
                    continue;
                }
            };
            if file.as_os_str() != "-" && !file.exists() {
                report.unread(&file, "no such file or folder");
                continue;
            }
            let language = match args.language.map(Language::from).or_else(|| Language::from_path(&file)) {
                Some(language) => language,
                None if explicit => {
                    report.unread(&file, "cannot tell its language from its name; give it with --language");
                    continue;
                }
                None => continue,
            };
            match read(&file, &mut buffer) {
                Ok(()) => report.file(&file, &buffer, uses::uses(&buffer, language)),
                Err(error) => report.unread(&file, &error.to_string()),
            }
        }
    }
    report.finish()
}

type Entry = Result<(PathBuf, bool), String>;

/// The files that a path stands for, in order, and whether it was named itself.
fn files(path: &Path, no_ignore: bool) -> Box<dyn Iterator<Item = Entry>> {
    if !path.is_dir() {
        return Box::new(std::iter::once(Ok((path.to_path_buf(), true))));
    }
    let walk = ignore::WalkBuilder::new(path)
        .standard_filters(!no_ignore)
        .require_git(false)
        .sort_by_file_path(|a, b| a.cmp(b))
        .build();
    Box::new(walk.filter_map(|entry| match entry {
        Ok(entry) if entry.file_type().is_some_and(|kind| kind.is_file()) => Some(Ok((entry.into_path(), false))),
        Ok(_) => None,
        Err(error) => Some(Err(error.to_string())),
    }))
}

/// Reads a file into a buffer that is used again: allocating each anew would cost more than the search.
fn read(path: &Path, buffer: &mut Vec<u8>) -> std::io::Result<()> {
    use std::io::Read;
    buffer.clear();
    if path.as_os_str() == "-" {
        std::io::stdin().lock().read_to_end(buffer)?;
    } else {
        std::fs::File::open(path)?.read_to_end(buffer)?;
    }
    Ok(())
}

/// An instruction, where it is, and its diagnostics with lines and columns.
struct Seen {
    path: String,
    at: Place,
    text: String,
    verdict: Verdict,
    faults: Vec<(Place, Diagnostic)>,
}

/// Lines and columns from 1, columns in characters; the end is behind the last one.
#[derive(Clone, Copy)]
struct Place {
    line: usize,
    column: usize,
    end_line: usize,
    end_column: usize,
}

/// Finds lines and columns for increasing offsets of one text.
struct Lines<'t> {
    text: &'t str,
    starts: Vec<usize>,
}

impl<'t> Lines<'t> {
    fn new(text: &'t str) -> Lines<'t> {
        let starts = std::iter::once(0).chain(text.match_indices('\n').map(|(at, _)| at + 1)).collect();
        Lines { text, starts }
    }

    fn position(&self, offset: usize) -> (usize, usize) {
        let line = self.starts.partition_point(|&start| start <= offset).max(1);
        let before = self.text.get(self.starts[line - 1]..offset).unwrap_or_default();
        (line, before.trim_start_matches('\u{feff}').chars().count() + 1)
    }

    fn place(&self, span: &Range<usize>) -> Place {
        let ((line, column), (end_line, end_column)) = (self.position(span.start), self.position(span.end));
        Place { line, column, end_line, end_column }
    }
}

struct Report {
    format: Format,
    files: usize,
    files_with: usize,
    /// Why files were not read.
    unread: Vec<String>,
    seen: Vec<Seen>,
}

impl Report {
    fn unread(&mut self, path: &Path, why: &str) {
        let why = format!("cannot read {}: {why}", path.display());
        output::error(&why);
        self.unread.push(why);
    }

    fn file(&mut self, path: &Path, source: &[u8], uses: Vec<Use>) {
        self.files += 1;
        if uses.is_empty() {
            return;
        }
        self.files_with += 1;
        let text = uses::text(source);
        let lines = Lines::new(&text);
        let path = match path.strip_prefix(".").unwrap_or(path).display().to_string() {
            path if path == "-" => "stdin".to_owned(),
            path => path,
        };
        for found in uses {
            let faults = match &found.verdict {
                Verdict::Illegal(faults) => faults.clone(),
                _ => Vec::new(),
            };
            if let Format::Human = self.format {
                for fault in &faults {
                    output::notice(&render::diagnostic(fault, &text, Some(&path)));
                }
            }
            let faults = faults.into_iter().map(|fault| (lines.place(&fault.span), fault)).collect();
            let at = lines.place(&found.span);
            self.seen.push(Seen { path: path.clone(), at, text: found.text, verdict: found.verdict, faults });
        }
    }

    fn finish(self) -> Result<Outcome, Failure> {
        let text = match self.format {
            Format::Human => self.human(),
            Format::Json => format!("{:#}\n", self.json()),
            Format::Sarif => format!("{:#}\n", self.sarif()),
            Format::Github => self.github(),
        };
        let mut out = output::stdout();
        out.write_all(text.as_bytes())?;
        out.flush()?;
        let illegal = self.seen.iter().any(|seen| matches!(seen.verdict, Verdict::Illegal(_)));
        Ok(if illegal || !self.unread.is_empty() { Outcome::Findings } else { Outcome::Fine })
    }

    /// By form, the most used first: how often, and where first.
    fn summary(&self) -> Vec<(String, usize, &Seen)> {
        let mut forms: BTreeMap<String, (usize, &Seen)> = BTreeMap::new();
        for seen in &self.seen {
            let name = match &seen.verdict {
                Verdict::Legal(form) => form.to_string(),
                Verdict::LegalFragment(form) => format!("{} …", form.opcode()),
                Verdict::Illegal(_) | Verdict::Unjudged(_) => continue,
            };
            forms.entry(name).or_insert((0, seen)).0 += 1;
        }
        let mut rows: Vec<_> = forms.into_iter().map(|(form, (count, first))| (form, count, first)).collect();
        rows.sort_by_key(|&(_, count, _)| std::cmp::Reverse(count));
        rows
    }

    fn human(&self) -> String {
        let mut text = String::new();
        let summary = self.summary();
        let width = summary.iter().map(|(form, ..)| form.chars().count()).max().unwrap_or(0);
        for (form, count, first) in &summary {
            // Writing to a String does not fail.
            let _ = writeln!(text, "{form:<width$} {count:>6}   {}:{}", first.path, first.at.line);
        }
        for seen in &self.seen {
            if let Verdict::Unjudged(reason) = &seen.verdict {
                let Seen { path, at, text: instruction, .. } = seen;
                let _ = writeln!(text, "not judged: {path}:{}:{}: `{instruction}`: {reason}", at.line, at.column);
            }
        }
        let count = |wanted: fn(&Verdict) -> bool| self.seen.iter().filter(|seen| wanted(&seen.verdict)).count();
        let _ = writeln!(
            text,
            "{} in {}: {} legal, {} illegal, {} not judged",
            plural(self.seen.len(), "video instruction"),
            if self.files == 1 { "1 file".into() } else { format!("{} of {} files", self.files_with, self.files) },
            count(|verdict| matches!(verdict, Verdict::Legal(_) | Verdict::LegalFragment(_))),
            count(|verdict| matches!(verdict, Verdict::Illegal(_))),
            count(|verdict| matches!(verdict, Verdict::Unjudged(_))),
        );
        text
    }

    fn json(&self) -> Value {
        let instructions = self.seen.iter().map(|seen| {
            let Seen { path, at, text, verdict, faults } = seen;
            let mut value = json!({ "path": path, "line": at.line, "column": at.column, "text": text });
            match verdict {
                Verdict::Legal(form) => {
                    value["verdict"] = json!("legal");
                    value["form"] = json!(form.to_string());
                }
                Verdict::LegalFragment(form) => {
                    value["verdict"] = json!("legal fragment");
                    value["form"] = json!(form.opcode().to_string());
                }
                Verdict::Illegal(_) => value["verdict"] = json!("illegal"),
                Verdict::Unjudged(reason) => {
                    value["verdict"] = json!("not judged");
                    value["reason"] = json!(reason.to_string());
                }
            }
            let faults = faults.iter().map(|(place, fault)| {
                let mut value = json::diagnostic(fault);
                value["line"] = json!(place.line);
                value["column"] = json!(place.column);
                value
            });
            value["diagnostics"] = faults.collect();
            value
        });
        let summary = self.summary().into_iter().map(|(form, count, first)| {
            json!({ "form": form, "count": count, "first": format!("{}:{}", first.path, first.at.line) })
        });
        json!({
            "files": self.files,
            "unread": self.unread,
            "instructions": instructions.collect::<Vec<_>>(),
            "forms": summary.collect::<Vec<_>>(),
        })
    }

    fn sarif(&self) -> Value {
        let rules = Code::ALL.iter().map(|code| {
            json!({
                "id": code.name(),
                "shortDescription": { "text": code.title() },
                "fullDescription": { "text": code.explanation() },
                "defaultConfiguration": { "level": "error" },
            })
        });
        let results = self.seen.iter().flat_map(|seen| seen.faults.iter().map(move |fault| (seen, fault)));
        let results = results.map(|(seen, (place, fault))| {
            let text = match &fault.help {
                Some(help) => format!("{}; {help}", fault.message),
                None => fault.message.clone(),
            };
            json!({
                "ruleId": fault.code.name(),
                "level": "error",
                "message": { "text": text },
                "locations": [{
                    "physicalLocation": {
                        "artifactLocation": { "uri": uri(&seen.path) },
                        "region": {
                            "startLine": place.line,
                            "startColumn": place.column,
                            "endLine": place.end_line,
                            "endColumn": place.end_column,
                        },
                    },
                }],
            })
        });
        let notifications = self.unread.iter().map(|why| json!({ "level": "error", "message": { "text": why } }));
        json!({
            "$schema": "https://json.schemastore.org/sarif-2.1.0.json",
            "version": "2.1.0",
            "runs": [{
                "tool": { "driver": {
                    "name": "vop",
                    "version": env!("CARGO_PKG_VERSION"),
                    "rules": rules.collect::<Vec<_>>(),
                } },
                "columnKind": "unicodeCodePoints",
                "invocations": [{
                    "executionSuccessful": self.unread.is_empty(),
                    "toolExecutionNotifications": notifications.collect::<Vec<_>>(),
                }],
                "results": results.collect::<Vec<_>>(),
            }],
        })
    }

    fn github(&self) -> String {
        // https://docs.github.com/actions/reference/workflow-commands-for-github-actions
        let data = |text: &str| text.replace('%', "%25").replace('\r', "%0D").replace('\n', "%0A");
        let property = |text: &str| data(text).replace(':', "%3A").replace(',', "%2C");
        let mut text = String::new();
        for seen in &self.seen {
            for (place, fault) in &seen.faults {
                let help = fault.help.as_ref().map(|help| format!("\nhelp: {help}")).unwrap_or_default();
                let _ = writeln!(
                    text,
                    "::error file={},line={},endLine={},col={},endColumn={},title={}::{}",
                    property(&seen.path),
                    place.line,
                    place.end_line,
                    place.column,
                    place.end_column,
                    fault.code,
                    data(&format!("{}{help}", fault.message)),
                );
            }
        }
        text
    }
}

/// A path as a URI reference: relative, or `file://` and absolute.
fn uri(path: &str) -> String {
    let mut uri = String::from(if path.starts_with('/') { "file://" } else { "" });
    for byte in path.replace('\\', "/").bytes() {
        if byte.is_ascii_alphanumeric() || b"-._~/".contains(&byte) {
            uri.push(byte.into());
        } else {
            let _ = write!(uri, "%{byte:02X}");
        }
    }
    uri
}

fn plural(count: usize, noun: &str) -> String {
    if count == 1 { format!("1 {noun}") } else { format!("{count} {noun}s") }
}
