//! `vop check`: reads files and gathers what is found in them.
//!
//! walk.rs says which files, config.rs how they are checked, report.rs what is known at the end; text.rs, json.rs, sarif.rs and
//! github.rs print it, a format each.

mod config;
mod github;
mod json;
mod notebook;
mod report;
mod sarif;
mod text;
mod walk;

use std::collections::HashSet;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex};

use vop::{Code, Diagnostic, Semantics, Severity, Target};
use vop_draw::SourceText;
use vop_ptx::encoding;
use vop_ptx::find::Language;
use vop_ptx::uses::{self, FileUses, Verdict};

use self::config::{Config, Configs};
use self::report::{Document, Report};
use self::walk::Kind;
use crate::progress::Progress;
use crate::{Failure, Outcome, bug, fix, output};

/// Find every video instruction in files and folders and judge it.
///
/// Reads PTX, CUDA C++ and its headers, OpenCL, Python, LLVM IR, MLIR, Rust, Julia, Go, D, Zig and Nim, and there the PTX in
/// string literals; also notebooks, code blocks of Markdown, and Jinja templates of CUDA C++ and PTX. In PTX
/// modules it also judges the registers' types and the module's `.version` and `.target`. It also warns about legal code that
/// is probably a mistake, and about code that ptxas compiles to something else than the manual says.
///
/// In folders, files that .gitignore names and hidden files are left out.
#[derive(clap::Args)]
#[command(after_help = "\
A comment allows findings on its own line, or on the next if it stands alone;
allow-file is for a whole file. A comment that allows nothing is reported.
  asm(\"vmax4.u32.u32.u32.sat …\");   // vop: allow(V0702) why it is fine
  // vop: allow-file(V0701,V0702)

vop.toml, or [tool.vop] in pyproject.toml, in the folder of a file or the
nearest above; options of the command line win, lists are joined:
  targets = [\"sm_90\"]           # costs, as --target
  semantics = \"ptxas\"           # the compiler, as --semantics
  allow = [\"V0704\"]             # as --allow
  exclude = [\"third_party/\"]    # as --exclude; patterns as in .gitignore

Examples:
  vop check kernel.ptx src/
  vop check --target sm_90 kernel.ptx
  vop check --deny warnings --allow V0701 src/
  vop check --format sarif src/ > vop.sarif
  nvcc -ptx kernel.cu -o - | vop check --language ptx -

Exit status: 0 fine, 1 an error that is not allowed (or what --deny names),
2 misuse, or a file or folder that cannot be checked: missing, of an unknown
kind, or a folder without any source file.")]
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
    /// In folders, also read hidden files and files that .gitignore names.
    #[arg(long)]
    no_ignore: bool,
    /// Leave out paths that match this pattern, as in .gitignore. A path that is named is checked all the same.
    #[arg(long, value_name = "PATTERN")]
    exclude: Vec<String>,
    /// Leave out excluded paths even where they are named, as a pre-commit hook does.
    #[arg(long)]
    force_exclude: bool,
    /// Say what each use costs on this GPU, in machine instructions that ptxas 13.5 spends on it by itself; sm_90 or
    /// sm_90,sm_120.
    #[arg(long, value_name = "TARGET", value_delimiter = ',')]
    target: Vec<Target>,
    /// The compiler that matters: `ptxas` is 13.3 and later, and older releases' faults (V0709) are not reported. `isa`: all.
    #[arg(long)]
    semantics: Option<Semantics>,
    /// The least severe findings that are shown. JSON holds all.
    #[arg(long, value_enum, default_value_t)]
    level: Level,
    /// Exit status 1 for these too.
    #[arg(long, value_enum)]
    deny: Option<Deny>,
    /// Do not report these codes, V0702 or V0702,V0703; may be given several times.
    #[arg(long, value_name = "CODE", value_parser = lint_code, value_delimiter = ',')]
    allow: Vec<Code>,
    /// Use this configuration file for all files.
    #[arg(long, value_name = "FILE", conflicts_with = "no_config")]
    config: Option<PathBuf>,
    /// Use no configuration file.
    #[arg(long)]
    no_config: bool,
    /// Print what `vop fix` would change, as a diff.
    #[arg(long, conflicts_with = "fix")]
    diff: bool,
    /// Change the files as `vop fix --write` does.
    #[arg(long)]
    fix: bool,
}

#[derive(Clone, Copy, Default, clap::ValueEnum)]
pub(crate) enum Level {
    /// Illegal instructions.
    Error,
    /// Probable mistakes too.
    #[default]
    Warning,
    /// Also what may well be meant.
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

/// The files that paths stand for, with their languages, as [`run`] finds them: what commands that change sources work on. If one of them
/// cannot be read, all that cannot are named, and nothing is changed.
pub(crate) fn source_files(paths: &[PathBuf]) -> Result<SourceFiles, Failure> {
    let configs = Arc::new(Mutex::new(Configs::upward(&[])?));
    let choice = walk::Choice { kind: None, no_ignore: false, force_exclude: false };
    let found = walk::files(paths, &choice, &configs, &|_| ())?;
    if !found.unread.is_empty() {
        found.unread.iter().for_each(|why| output::error(why));
        return Err(Failure::Impossible);
    }
    let (mut files, mut notebooks) = (Vec::new(), Vec::new());
    // A path may be named twice, or lead to a file that another one leads to: it is changed once.
    let mut seen = HashSet::new();
    for walk::File { path, kind, config } in found.files {
        if std::fs::canonicalize(&path).is_ok_and(|path| !seen.insert(path)) {
            continue;
        }
        match kind {
            Kind::Source(language) => {
                files.push(SourceFile { path, language, allow: config.allow.clone(), semantics: config.semantics });
            }
            Kind::Notebook => notebooks.push(path),
        }
    }
    Ok(SourceFiles { files, notebooks })
}

/// What [`source_files`] finds.
pub(crate) struct SourceFiles {
    pub(crate) files: Vec<SourceFile>,
    /// Notebooks, of which no text is one of the file.
    pub(crate) notebooks: Vec<PathBuf>,
}

/// A file that is read as a text in one language.
pub(crate) struct SourceFile {
    pub(crate) path: PathBuf,
    pub(crate) language: Language,
    /// What its configuration allows.
    pub(crate) allow: Vec<Code>,
    /// The compiler that its configuration names.
    pub(crate) semantics: Option<Semantics>,
}

/// What the configuration of a file says.
pub(crate) struct Configured {
    pub(crate) targets: Vec<Target>,
    pub(crate) semantics: Option<Semantics>,
    pub(crate) allow: Vec<Code>,
    /// Whether [`run`] leaves the file out in a folder.
    pub(crate) is_excluded: bool,
}

/// The configuration of a file, as [`run`] finds it.
pub(crate) fn configured(path: &Path) -> Result<Configured, String> {
    let said = |failure| match failure {
        Failure::Misuse(why) | Failure::Failed(why) => why,
        _ => "the configuration cannot be read".to_owned(),
    };
    let mut configs = Configs::upward(&[]).map_err(said)?;
    let config = configs.of_file(path).map_err(said)?;
    let is_excluded = configs.excludes(path, false, true);
    Ok(Configured {
        targets: config.targets.clone(),
        semantics: config.semantics,
        allow: config.allow.clone(),
        is_excluded,
    })
}

/// The texts of a notebook with their languages.
pub(crate) fn cells(bytes: &[u8]) -> Result<Vec<(String, Language)>, String> {
    Ok(notebook::cells(bytes)?.read.into_iter().map(|cell| (cell.text, cell.language)).collect())
}

/// The code of a lint.
pub(crate) fn lint_code(name: &str) -> Result<Code, String> {
    match Code::from_name(name) {
        Some(code) if code.severity() == Severity::Error => {
            Err(format!("{code} is an error: only a comment at the statement can allow it"))
        }
        Some(code) => Ok(code),
        None => Err(format!("there is no code `{name}`")),
    }
}

#[derive(Clone, Copy, Default, PartialEq, Eq, clap::ValueEnum)]
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
    Mlir,
    Julia,
    Go,
    D,
    Zig,
    Nim,
    Markdown,
    /// A Jinja template of CUDA C++, or of PTX.
    Jinja,
    JinjaPtx,
    /// A Jupyter notebook, each cell in its own language.
    Notebook,
}

impl From<LanguageName> for Kind {
    fn from(name: LanguageName) -> Kind {
        let language = match name {
            LanguageName::Ptx => Language::Ptx,
            LanguageName::Cuda => Language::Cuda,
            LanguageName::Opencl => Language::OpenCl,
            LanguageName::Python => Language::Python,
            LanguageName::Llvm => Language::LlvmIr,
            LanguageName::Rust => Language::Rust,
            LanguageName::Mlir => Language::Mlir,
            LanguageName::Julia => Language::Julia,
            LanguageName::Go => Language::Go,
            LanguageName::D => Language::D,
            LanguageName::Zig => Language::Zig,
            LanguageName::Nim => Language::Nim,
            LanguageName::Markdown => Language::Markdown,
            LanguageName::Jinja => Language::JinjaCuda,
            LanguageName::JinjaPtx => Language::JinjaPtx,
            LanguageName::Notebook => return Kind::Notebook,
        };
        Kind::Source(language)
    }
}

pub(crate) fn run(args: Args) -> Result<Outcome, Failure> {
    if args.fix || args.diff {
        return fixed(args);
    }
    let configs = match (&args.config, args.no_config) {
        (Some(file), _) => Configs::of(file, &args.exclude)?,
        (None, true) => Configs::none(&args.exclude)?,
        (None, false) => Configs::upward(&args.exclude)?,
    };
    let choice = walk::Choice {
        kind: args.language.map(Kind::from),
        no_ignore: args.no_ignore,
        force_exclude: args.force_exclude,
    };
    let walking = Mutex::new(Progress::new(None, "files found"));
    let found = |count: usize| walking.lock().unwrap_or_else(|poisoned| poisoned.into_inner()).at(count);
    let found = walk::files(&args.path, &choice, &Arc::new(Mutex::new(configs)), &found)?;
    let (files, unread) = (found.files, found.unread);
    drop(walking);
    let mut report = Report {
        level: args.level.into(),
        targets: args.target.clone(),
        files: 0,
        files_with: 0,
        unread,
        skipped: found.skipped.iter().map(|path| name(path)).collect(),
        skipped_cells: Vec::new(),
        seen: Vec::new(),
        allowing: Vec::new(),
        about_comments: Vec::new(),
    };
    report.unread.iter().for_each(|why| output::error(why));
    for folder in &found.excluded {
        output::warning(&format!("nothing is checked in {}: what there is is excluded", folder.display()));
    }
    let mut drawer = text::Drawer::default();
    let mut progress = Progress::new(Some(files.len()), "files");
    let mut buffer = Vec::new();
    for (done, file) in files.iter().enumerate() {
        progress.at(done);
        // The buffer is used again: a new allocation for each file would cost more than the search.
        if let Err(error) = vop_arrays::read_text_file_into(&file.path, vop_arrays::MAX_TEXT, &mut buffer) {
            let why = error.to_string();
            progress.suspend(|| output::error(&why));
            report.unread.push(why);
            continue;
        }
        let wide = encoding::decoded(&buffer);
        let bytes = wide.as_deref().map_or(buffer.as_slice(), str::as_bytes);
        let path = name(&file.path);
        let level = report.level;
        let draws = |finding: &Diagnostic| args.format == Format::Human && finding.code.severity() <= level;
        if args.target.is_empty() {
            let missing = file.config.targets.iter().filter(|target| !report.targets.contains(target));
            let missing: Vec<Target> = missing.copied().collect();
            report.targets.extend(missing);
        }
        report.files += 1;
        let before = report.seen.len();
        let checked = bug::caught(&path, || {
            bug::trip(&file.path);
            let mut add = |document: Document<'_>, uses: FileUses| {
                let name = document.name();
                report.add(
                    &document,
                    uses,
                    |finding| reports(finding.code, &args, &file.config),
                    |finding, instruction, lines| {
                        if draws(finding) {
                            let source = SourceText { lines, path: Some(&name) };
                            progress.suspend(|| drawer.draw(finding, instruction, source));
                        }
                    },
                );
            };
            match file.kind {
                Kind::Source(language) => {
                    let text = uses::text(bytes);
                    add(Document { path: &path, text: &text, cell: None }, uses::read(bytes, language));
                }
                Kind::Notebook => {
                    let notebook::Cells { read, skipped } = notebook::cells(bytes)?;
                    for cell in &read {
                        let mut uses = uses::read(cell.text.as_bytes(), cell.language);
                        // A cell is a text of its own, also for the comments in it.
                        for lint in &mut uses.lints {
                            lint.message = lint.message.replace("in this file", "in this cell");
                        }
                        add(Document { path: &path, text: &cell.text, cell: Some(cell) }, uses);
                    }
                    report.skipped_cells.extend(skipped.iter().map(|&number| report::shown(&path, Some(number))));
                }
            }
            Ok(())
        });
        let checked =
            checked.and_then(|read: Result<(), String>| read.map_err(|why| format!("cannot read {path}: {why}")));
        if let Err(why) = checked {
            progress.suspend(|| output::error(&why));
            report.unread.push(why);
        }
        let instructions = report.seen[before..].iter().any(|seen| seen.verdict != Verdict::Label);
        report.files_with += usize::from(instructions);
    }
    drop(progress);
    let text = match args.format {
        Format::Human => text::report(&report),
        Format::Json => format!("{:#}\n", json::report(&report)),
        Format::Sarif => format!("{:#}\n", sarif::report(&report)),
        Format::Github => github::report(&report),
    };
    let mut out = output::stdout();
    out.write_all(text.as_bytes())?;
    out.flush()?;
    let denied = args.deny == Some(Deny::Warnings) && report.count(Severity::Warning) > 0;
    if !report.unread.is_empty() {
        return Err(Failure::Impossible);
    }
    Ok(if report.count(Severity::Error) > 0 || denied { Outcome::Findings } else { Outcome::Fine })
}

/// What `--fix` and `--diff` do.
fn fixed(args: Args) -> Result<Outcome, Failure> {
    let format = match args.format {
        Format::Human => output::Format::Text,
        Format::Json => output::Format::Json,
        Format::Sarif | Format::Github => {
            return Err(Failure::Misuse("--fix and --diff print text, or JSON with --format json".into()));
        }
    };
    let others = args.language.is_some() || args.no_ignore || args.force_exclude || args.no_config;
    if others || args.config.is_some() || !args.exclude.is_empty() {
        return Err(Failure::Misuse("--fix and --diff take --semantics, --level, --allow and --format only".into()));
    }
    let Args { path, fix: write, semantics, level, allow, .. } = args;
    fix::run(fix::Args { path, write, semantics, level, allow, format })
}

/// Whether findings of a code are reported in a file with this configuration.
fn reports(code: Code, args: &Args, config: &Config) -> bool {
    let newest = args.semantics.or(config.semantics) == Some(Semantics::Ptxas);
    let of_older_ptxas = newest && code == Code::V0709;
    !(args.allow.contains(&code) || config.allow.contains(&code) || of_older_ptxas)
}

/// A path as it is printed.
fn name(path: &Path) -> String {
    match path.strip_prefix(".").unwrap_or(path).display().to_string() {
        path if path == "-" => "stdin".to_owned(),
        path => path,
    }
}
