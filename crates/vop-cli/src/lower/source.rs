//! `vop lower` of sources: blocks of base instructions in the strings that hold video instructions, as a diff or written.

use std::io::Write;
use std::ops::Range;
use std::path::Path;

use serde_json::{Value, json};
use vop::lower::Needs;
use vop_draw::{LineRange, Lines, SourceText};
use vop_ptx::find::Language;
use vop_ptx::rewrite::{Rewrite, RewriteOptions, RewrittenSource, rewrite_source};

use super::{Args, named, table, warn_of};
use crate::changes::{self, Change};
use crate::check::{self, SourceFile};
use crate::output::{self, Format};
use crate::{Failure, Outcome};

/// Whether a path is a source or a folder, not a module.
pub(super) fn is_source(path: &Path) -> bool {
    let language = Language::from_path(path);
    let is_notebook = path.extension().is_some_and(|extension| extension.eq_ignore_ascii_case("ipynb"));
    language != Some(Language::Ptx) && (path.is_dir() || is_notebook || language.is_some())
}

/// The PTX of a release of CUDA that not everybody has.
const NEW: (u8, u8) = (9, 0);

/// A file and what becomes of it.
struct File {
    change: Change,
    rewritten: RewrittenSource,
}

pub(super) fn run(args: &Args) -> Result<Outcome, Failure> {
    if args.output.is_some() {
        return Err(Failure::Misuse("sources have no --output: they are changed by --write".into()));
    }
    if args.raise {
        return Err(Failure::Misuse("--raise is for modules: a source has no `.version`".into()));
    }
    let check::SourceFiles { files: sources, notebooks } = check::source_files(&args.files)?;
    let options = RewriteOptions::new(args.target).semantics(args.semantics.semantics);
    let mut files = Vec::new();
    for SourceFile { path, language, .. } in sources {
        if language == Language::Ptx {
            output::notice(&format!("{}: left as it is: a module is lowered by itself\n", path.display()));
            continue;
        }
        let source = changes::read(&path)?;
        let rewritten = rewrite_source(&source, language, &options);
        let after = rewritten.apply(&source);
        files.push(File { change: Change { path, before: Some(source), after }, rewritten });
    }
    for path in &notebooks {
        output::notice(&format!("{}: left as it is: {}\n", path.display(), changes::NOTEBOOK));
    }
    if args.write {
        changes::write(files.iter().map(|file| &file.change))?;
    }
    match args.format {
        Format::Json => json_lines(&files)?,
        Format::Text => {
            if !args.write {
                changes::print_diff(files.iter().map(|file| &file.change))?;
            }
            report(&files, args);
        }
    }
    let is_left = !notebooks.is_empty() || files.iter().any(|file| !file.rewritten.left.is_empty());
    Ok(if is_left { Outcome::Findings } else { Outcome::Fine })
}

/// What is left, and the table of costs, on standard error: standard output holds the diff.
fn report(files: &[File], args: &Args) {
    let mut all: Vec<Rewrite> = Vec::new();
    let mut left = 0;
    for File { change, rewritten } in files {
        let text = vop_ptx::uses::text(change.before.as_deref().unwrap_or_default());
        let (lines, path) = (Lines::new(&text), change.path.display().to_string());
        let source = SourceText { lines: &lines, path: Some(&path) };
        if !args.quiet {
            warn_of(&rewritten.warnings, source);
        }
        for one in &rewritten.left {
            left += 1;
            output::notice(&format!("{}: left as it is: {}\n", source.locate(&one.span), one.why));
        }
        all.extend(rewritten.instructions.iter().cloned());
    }
    if args.quiet {
        return;
    }
    if all.is_empty() {
        let what = if left > 0 { "nothing is replaced" } else { "no video instructions: nothing to do" };
        return output::notice(&format!("{what}\n"));
    }
    output::notice(&table(&all, args.target, output::terminal_of_stderr().unwrap_or(usize::MAX)));
    // What every nvcc of today writes is not worth a word.
    let is_new = |needs: &Needs| {
        needs.version >= NEW || !needs.module_target().to_string().ends_with(|c: char| c.is_ascii_digit())
    };
    let needs = all.iter().filter_map(|one| one.needs).reduce(Needs::and);
    if let Some(needs) = needs.filter(is_new) {
        output::notice(&format!("note: what is written needs {}\n", named(needs)));
    }
    if left > 0 {
        output::notice(&format!("{} left\n", output::plural(left, "instruction")));
    }
}

fn json_lines(files: &[File]) -> Result<(), Failure> {
    let mut out = output::stdout();
    let is_empty = |file: &File| file.rewritten.instructions.is_empty() && file.rewritten.left.is_empty();
    for File { change, rewritten } in files.iter().filter(|file| !is_empty(file)) {
        let text = vop_ptx::uses::text(change.before.as_deref().unwrap_or_default());
        let lines = Lines::new(&text);
        let place = |span: &Range<usize>| {
            let LineRange { line, column, .. } = lines.range(span);
            (line, column)
        };
        let instructions = rewritten.instructions.iter().map(|one| {
            let (line, column) = place(&one.span);
            let block = one.block.as_ref().map(|block| block.one_line());
            json!({
                "line": line, "column": column, "form": one.form.to_string(), "rule": one.rule, "ptx": block,
                "before": one.before, "after": one.after,
            })
        });
        let left = rewritten.left.iter().map(|one| {
            let (line, column) = place(&one.span);
            json!({ "line": line, "column": column, "instruction": one.text, "why": one.why })
        });
        let (instructions, left): (Vec<Value>, Vec<Value>) = (instructions.collect(), left.collect());
        let file = change.path.display().to_string();
        writeln!(out, "{}", json!({ "file": file, "instructions": instructions, "left": left }))?;
    }
    out.flush()?;
    Ok(())
}
