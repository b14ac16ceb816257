//! `vop fix`: findings whose help is an edit, mended in the files.

mod equal;

use std::io::Write;
use std::ops::Range;
use std::path::PathBuf;

use serde_json::{Value, json};
use vop::{Code, Semantics, Severity};
use vop_draw::{LineRange, Lines, SourceText};
use vop_ptx::fix::{FixOptions, Fixed, fix};

use crate::changes::{self, Change};
use crate::check::{self, Level, SourceFile};
use crate::output::{self, Format};
use crate::{Failure, Outcome};

/// Change files so that findings of `vop check` are gone.
///
/// Each help that says exactly what to write is applied: spelling, selectors, `"+r"` where an output is read, an operand that is ignored, a
/// `.sat` without effect. The changes are printed as a diff, or with --write are made. After each change the file is judged again: the
/// finding must be gone, no new error or warning be found, and an instruction that was legal must compute the same value.
///
/// With --semantics ptxas an instruction that ptxas compiles to something else than the manual says (V0701) becomes base instructions that
/// compute the manual's value.
///
/// What stays is listed with the reason.
#[derive(clap::Args)]
#[command(after_help = "\
Examples:
  vop fix src/ | less
  vop fix src/ --write
  vop fix kernel.cu --semantics ptxas --write

`vop check --diff` and `vop check --fix` do the same as `vop fix` and `vop fix
--write`. vop.toml and comments that allow findings count as for `vop check`;
blocks for ptxas need --semantics itself.

Exit status: 0 nothing is left, 1 findings are left, 2 misuse, or a file that
cannot be read.")]
pub(crate) struct Args {
    /// Files and folders.
    #[arg(required = true)]
    pub(crate) path: Vec<PathBuf>,
    /// Write the changed files instead of a diff. Nothing is written if one of them cannot be.
    #[arg(long)]
    pub(crate) write: bool,
    /// The compiler that matters: `ptxas` is 13.3 and later; its deviations from the manual are replaced. `isa`: they stay. `ptxas-13.2`: the same for that release.
    #[arg(long)]
    pub(crate) semantics: Option<Semantics>,
    /// The least severe findings that are mended.
    #[arg(long, value_enum, default_value_t)]
    pub(crate) level: Level,
    /// Leave findings with these codes alone, V0702 or V0702,V0703; may be given several times.
    #[arg(long, value_name = "CODE", value_parser = check::lint_code, value_delimiter = ',')]
    pub(crate) allow: Vec<Code>,
    /// `text`, or `json`: an object for each file, one a line.
    #[arg(long, value_enum, default_value_t)]
    pub(crate) format: Format,
}

/// A file and what becomes of it.
struct File {
    change: Change,
    fixed: Fixed,
}

pub(crate) fn run(args: Args) -> Result<Outcome, Failure> {
    let check::SourceFiles { files: sources, notebooks } = check::source_files(&args.path)?;
    let mut files = Vec::new();
    for SourceFile { path, language, mut allow, semantics } in sources {
        allow.extend(&args.allow);
        // What a configuration says hides findings; only the command line asks for other code.
        if args.semantics.is_none() && semantics == Some(Semantics::Ptxas) {
            allow.push(Code::V0709);
        }
        let options = FixOptions::default()
            .semantics(args.semantics.unwrap_or_default())
            .level(Severity::from(args.level))
            .allow(&allow)
            .check(&equal::check);
        let source = changes::read(&path)?;
        let fixed = fix(&source, language, &options);
        let after = fixed.text().to_vec();
        files.push(File { change: Change { path, before: Some(source), after }, fixed });
    }
    let in_notebooks = left_in_notebooks(&notebooks, &args)?;
    if args.write {
        changes::write(files.iter().map(|file| &file.change))?;
    }
    match args.format {
        Format::Json => json_lines(&files)?,
        Format::Text => {
            if !args.write {
                changes::print_diff(files.iter().map(|file| &file.change))?;
            }
            report(&files, in_notebooks, args.write);
        }
    }
    let is_left = in_notebooks > 0 || files.iter().any(|file| !file.fixed.left.is_empty());
    Ok(if is_left { Outcome::Findings } else { Outcome::Fine })
}

/// The number of findings in notebooks, which are not changed.
fn left_in_notebooks(notebooks: &[PathBuf], args: &Args) -> Result<usize, Failure> {
    let options = FixOptions::default().semantics(args.semantics.unwrap_or_default()).level(Severity::from(args.level));
    let options = options.allow(&args.allow);
    let mut all = 0;
    for path in notebooks {
        let bytes = output::read(path)?;
        let cells =
            check::cells(&bytes).map_err(|why| Failure::Misuse(format!("cannot read {}: {why}", path.display())))?;
        let found = cells.iter().map(|(text, language)| {
            let fixed = fix(text.as_bytes(), *language, &options);
            fixed.done.len() + fixed.left.len()
        });
        let found: usize = found.sum();
        if found > 0 {
            let findings = output::plural(found, "finding");
            output::notice(&format!("{}: left as it is: {findings}; {}\n", path.display(), changes::NOTEBOOK));
        }
        all += found;
    }
    Ok(all)
}

/// What was mended and what is left, on standard error: standard output holds the diff.
fn report(files: &[File], in_notebooks: usize, written: bool) {
    let (mut done, mut changed, mut left) = (0, 0, in_notebooks);
    for File { change, fixed } in files {
        let text = String::from_utf8_lossy(change.before.as_deref().unwrap_or_default());
        let (lines, path) = (Lines::new(&text), change.path.display().to_string());
        let at = |span: &Range<usize>| SourceText { lines: &lines, path: Some(&path) }.locate(span);
        changed += usize::from(change.is_change());
        done += fixed.done.len();
        left += fixed.left.len();
        for one in &fixed.left {
            output::notice(&format!("{}: left as it is: {}: {}: {}\n", at(&one.span), one.code, one.message, one.why));
        }
    }
    let verb = if written { "mended" } else { "can be mended" };
    let mut summary = format!("{} {verb} in {}", output::plural(done, "finding"), output::plural(changed, "file"));
    if left > 0 {
        summary.push_str(&format!(", {left} left"));
    }
    output::notice(&format!("{summary}\n"));
}

fn json_lines(files: &[File]) -> Result<(), Failure> {
    let mut out = output::stdout();
    for File { change, fixed } in files.iter().filter(|file| !file.fixed.done.is_empty() || !file.fixed.left.is_empty())
    {
        let text = String::from_utf8_lossy(change.before.as_deref().unwrap_or_default());
        let lines = Lines::new(&text);
        let place = |span: &Range<usize>| {
            let LineRange { line, column, .. } = lines.range(span);
            (line, column)
        };
        let done = fixed.done.iter().map(|one| {
            let (line, column) = place(&one.span);
            json!({ "line": line, "column": column, "code": one.code.name(), "message": one.message, "instruction": one.instruction })
        });
        let left = fixed.left.iter().map(|one| {
            let (line, column) = place(&one.span);
            json!({ "line": line, "column": column, "code": one.code.name(), "message": one.message, "why": one.why })
        });
        let (done, left): (Vec<Value>, Vec<Value>) = (done.collect(), left.collect());
        let object = json!({ "file": change.path.display().to_string(), "fixed": done, "left": left });
        writeln!(out, "{object}")?;
    }
    out.flush()?;
    Ok(())
}
