//! `vop check`.

use std::collections::{BTreeMap, HashSet};
use std::fmt::Write as _;
use std::io::Write;
use std::path::{Path, PathBuf};

use serde_json::{Value, json};
use vop::{Code, Diagnostic, Severity, Target};
use vop_draw::{Lines, Place, Source};
use vop_ptx::find::Language;
use vop_ptx::uses::{self, Use, Verdict};

use crate::{Failure, Outcome, json, output};

/// Find every video instruction in files and folders and judge it.
///
/// Reads PTX, CUDA C++ and its headers, OpenCL, Python, LLVM IR and Rust, and there the PTX in string literals. In PTX
/// modules also the registers' types and the module's `.version` and `.target` are judged. Of legal instructions it warns
/// where they hardly do what was meant, or where the code that ptxas emits for them is not what the manual says. In
/// folders, what .gitignore names and hidden files are left out. Exit status 1 if any instruction is illegal.
#[derive(clap::Args)]
#[command(after_help = "\
Examples:
  vop check kernel.ptx src/
  vop check --target sm_90 kernel.ptx
  vop check --deny warnings --allow V0701 src/
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
    /// Say what each use costs on this GPU, in machine instructions that ptxas 13.5 spends on it by itself.
    #[arg(long, value_name = "TARGET")]
    target: Option<Target>,
    /// The least grave findings that are shown. JSON holds all.
    #[arg(long, value_enum, default_value_t)]
    level: Level,
    /// Exit status 1 for these too.
    #[arg(long, value_enum)]
    deny: Option<Deny>,
    /// Say nothing of these codes, V0702 or V0702,V0703; may be given several times.
    #[arg(long, value_name = "CODE", value_parser = lint_code, value_delimiter = ',')]
    allow: Vec<Code>,
}

#[derive(Clone, Copy, Default, clap::ValueEnum)]
enum Level {
    /// What is illegal.
    Error,
    /// What is strange as well.
    #[default]
    Warning,
    /// What may well be meant too.
    Note,
}

impl From<Level> for Severity {
    fn from(level: Level) -> Severity {
        match level {
            Level::Error => Severity::Error,
            Level::Warning => Severity::Warning,
            Level::Note => Severity::Note,
        }
    }
}

#[derive(Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
enum Deny {
    /// Warnings, shown or not.
    Warnings,
}

/// The code of a lint.
fn lint_code(name: &str) -> Result<Code, String> {
    match Code::from_name(name) {
        Some(code) if code.severity() == Severity::Error => {
            Err(format!("what {code} reports is illegal: it cannot be allowed"))
        }
        Some(code) => Ok(code),
        None => Err(format!("there is no code `{name}`")),
    }
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
    let mut report = Report {
        format: args.format,
        level: args.level.into(),
        allowed: args.allow,
        target: args.target,
        files: 0,
        files_with: 0,
        unread: Vec::new(),
        seen: Vec::new(),
        notes: HashSet::new(),
        written_out: HashSet::new(),
    };
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
    report.finish(args.deny == Some(Deny::Warnings))
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
    findings: Vec<Finding>,
}

/// A diagnostic with its lines and columns, and those of the places related to it.
struct Finding {
    place: Place,
    related: Vec<Place>,
    diagnostic: Diagnostic,
}

impl Finding {
    /// What is said beside the message, a line each: the related places, why, and what to do.
    fn remarks(&self, path: &str) -> Vec<String> {
        let related = self.diagnostic.related.iter().zip(&self.related);
        let related = related.map(|((_, label), place)| format!("{label}: {path}:{}:{}", place.line, place.column));
        let notes = self.diagnostic.notes.iter().map(|note| format!("note: {note}"));
        related.chain(notes).chain(self.diagnostic.help.iter().map(|help| format!("help: {help}"))).collect()
    }
}

struct Report {
    format: Format,
    /// Less grave findings are not shown.
    level: Severity,
    /// The codes that nothing is said of.
    allowed: Vec<Code>,
    /// The GPU whose costs are asked for.
    target: Option<Target>,
    files: usize,
    files_with: usize,
    /// Why files were not read.
    unread: Vec<String>,
    seen: Vec<Seen>,
    /// The notes that have been drawn.
    notes: HashSet<String>,
    /// What has been drawn of what to write instead, but for names.
    written_out: HashSet<String>,
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
            let mut findings = found.lints;
            if let Verdict::Illegal(faults) = &found.verdict {
                findings.extend_from_slice(faults);
            }
            findings.retain(|finding| !self.allowed.contains(&finding.code));
            if let Format::Human = self.format {
                for finding in &findings {
                    if self.shows(finding) {
                        let finding = self.said_once(finding.clone(), &found.text);
                        output::notice(&vop_draw::diagnostic(&finding, Source { lines: &lines, path: Some(&path) }));
                    }
                }
            }
            let findings = findings.into_iter().map(|finding| {
                let related = finding.related.iter().map(|(span, _)| lines.place(span)).collect();
                Finding { place: lines.place(&finding.span), related, diagnostic: finding }
            });
            let findings = findings.collect();
            let at = lines.place(&found.span);
            self.seen.push(Seen { path: path.clone(), at, text: found.text, verdict: found.verdict, findings });
        }
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

    fn shows(&self, finding: &Diagnostic) -> bool {
        finding.code.severity() <= self.level
    }

    /// Each finding that is shown, with what it is about.
    fn shown(&self) -> impl Iterator<Item = (&Seen, &Finding)> {
        let all = self.seen.iter().flat_map(|seen| seen.findings.iter().map(move |found| (seen, found)));
        all.filter(|(_, finding)| self.shows(&finding.diagnostic))
    }

    fn count(&self, severity: Severity) -> usize {
        let findings = self.seen.iter().flat_map(|seen| &seen.findings);
        findings.filter(|finding| finding.diagnostic.code.severity() == severity).count()
    }

    fn finish(self, deny_warnings: bool) -> Result<Outcome, Failure> {
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
        let denied = deny_warnings && self.count(Severity::Warning) > 0;
        Ok(if illegal || denied || !self.unread.is_empty() { Outcome::Findings } else { Outcome::Fine })
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

    /// What an instruction costs, if that is asked for, and its operands are known.
    fn cost(&self, seen: &Seen) -> Option<u32> {
        match (self.target, &seen.verdict) {
            (Some(target), Verdict::Legal(form)) => Some(form.cost(target)),
            _ => None,
        }
    }

    fn human(&self) -> String {
        let mut text = String::new();
        let summary = self.summary();
        let width = summary.iter().map(|(form, ..)| form.chars().count()).max().unwrap_or(0);
        // Writing to a String does not fail.
        if let Some(target) = self.target.filter(|_| !summary.is_empty()) {
            let _ = writeln!(text, "{:<width$} {:>6} {:>8}   first", "", "uses", target.to_string());
        }
        for (form, count, first) in &summary {
            let cost = match (self.target, self.cost(first)) {
                (None, _) => String::new(),
                (_, Some(cost)) => format!(" {cost:>8}"),
                (_, None) => format!(" {:>8}", "?"),
            };
            let _ = writeln!(text, "{form:<width$} {count:>6}{cost}   {}:{}", first.path, first.at.line);
        }
        for seen in &self.seen {
            if let Verdict::Unjudged(reason) = &seen.verdict {
                let Seen { path, at, text: instruction, .. } = seen;
                let _ = writeln!(text, "not judged: {path}:{}:{}: `{instruction}`: {reason}", at.line, at.column);
            }
        }
        let count = |wanted: fn(&Verdict) -> bool| self.seen.iter().filter(|seen| wanted(&seen.verdict)).count();
        let _ = write!(
            text,
            "{} in {}: {} legal, {} illegal, {} not judged",
            plural(self.seen.len(), "video instruction"),
            if self.files == 1 { "1 file".into() } else { format!("{} of {} files", self.files_with, self.files) },
            count(|verdict| matches!(verdict, Verdict::Legal(_) | Verdict::LegalFragment(_))),
            count(|verdict| matches!(verdict, Verdict::Illegal(_))),
            count(|verdict| matches!(verdict, Verdict::Unjudged(_))),
        );
        for severity in [Severity::Warning, Severity::Note] {
            let (count, hidden) = (self.count(severity), severity > self.level);
            if count > 0 {
                let how = if hidden {
                    format!(" (--level {severity} shows {})", if count == 1 { "it" } else { "them" })
                } else {
                    String::new()
                };
                let _ = write!(text, ", {}{how}", plural(count, severity.name()));
            }
        }
        if let Some(target) = self.target {
            let cost = self.seen.iter().filter_map(|seen| self.cost(seen)).map(u64::from).sum::<u64>();
            let _ = write!(text, "; {} on {target}", plural(cost as usize, "machine instruction"));
        }
        text.push('\n');
        text
    }

    fn json(&self) -> Value {
        let instructions = self.seen.iter().map(|seen| {
            let Seen { path, at, text, verdict, findings } = seen;
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
            if let Some(cost) = self.cost(seen) {
                value["cost"] = json!(cost);
            }
            let findings = findings.iter().map(|Finding { place, diagnostic, .. }| {
                let mut value = json::diagnostic(diagnostic);
                value["line"] = json!(place.line);
                value["column"] = json!(place.column);
                value
            });
            value["diagnostics"] = findings.collect();
            value
        });
        let summary = self.summary().into_iter().map(|(form, count, first)| {
            let first_at = format!("{}:{}", first.path, first.at.line);
            let mut value = json!({ "form": form, "count": count, "first": first_at });
            if let Some(cost) = self.cost(first) {
                value["cost"] = json!(cost);
            }
            value
        });
        json!({
            "files": self.files,
            "target": self.target.map(|target| target.to_string()),
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
                "defaultConfiguration": { "level": code.severity().name() },
            })
        });
        let location = |path: &str, place: &Place| {
            json!({
                "artifactLocation": { "uri": uri(path) },
                "region": {
                    "startLine": place.line,
                    "startColumn": place.column,
                    "endLine": place.end_line,
                    "endColumn": place.end_column,
                },
            })
        };
        let results = self.shown().map(|(seen, Finding { place, related, diagnostic })| {
            let notes = diagnostic.notes.iter().map(|note| format!("\n{note}")).collect::<String>();
            let help = diagnostic.help.as_ref().map(|help| format!("; {help}")).unwrap_or_default();
            let mut result = json!({
                "ruleId": diagnostic.code.name(),
                "level": diagnostic.code.severity().name(),
                "message": { "text": format!("{}{help}{notes}", diagnostic.message) },
                "locations": [{ "physicalLocation": location(&seen.path, place) }],
            });
            if !related.is_empty() {
                let related = related.iter().zip(&diagnostic.related).map(|(place, (_, label))| {
                    json!({ "physicalLocation": location(&seen.path, place), "message": { "text": label } })
                });
                result["relatedLocations"] = related.collect();
            }
            result
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
        for (seen, finding) in self.shown() {
            let remarks =
                finding.remarks(&seen.path).into_iter().map(|remark| format!("\n{remark}")).collect::<String>();
            let Finding { place, diagnostic, .. } = finding;
            let command = match diagnostic.code.severity() {
                Severity::Error => "error",
                Severity::Warning => "warning",
                Severity::Note => "notice",
            };
            let _ = writeln!(
                text,
                "::{command} file={},line={},endLine={},col={},endColumn={},title={}::{}",
                property(&seen.path),
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
