//! `vop port` of sources: calls in the place of `asm` statements, as a diff or written.

use std::io::Write;
use std::ops::Range;
use std::path::{Component, Path, PathBuf};

use serde_json::{Value, json};
use vop_draw::{LineRange, Lines, SourceText};
use vop_port::source::{PortedSource, SourceOptions, port_source};
use vop_port::{Port, Target};
use vop_ptx::find::Language;

use super::Args;
use crate::changes::{self, Change};
use crate::check::{self, SourceFile};
use crate::output::Format;
use crate::{Failure, Outcome, output};

/// Whether an argument is a path: it exists, or reads as the name of a source file.
pub(super) fn is_path(text: &str) -> bool {
    let path = Path::new(text);
    path.exists() || !text.contains(' ') && (text.contains('/') || Language::from_path(path).is_some())
}

/// A file and what becomes of it.
struct File {
    change: Change,
    ported: PortedSource,
}

pub(super) fn run(args: &Args) -> Result<Outcome, Failure> {
    if let Some(form) = args.forms.iter().find(|form| !is_path(form)) {
        return Err(Failure::Misuse(format!("`{form}` is no file; forms and files are ported by two commands")));
    }
    if args.output.is_some() {
        return Err(Failure::Misuse(
            "sources have no --output: they are changed by --write, and --header names the header".into(),
        ));
    }
    let target = args.to;
    if !target.is_called() {
        let names: Vec<&str> = Target::all().filter(|target| target.is_called()).map(Target::name).collect();
        let names = names.join(", ");
        return Err(Failure::Misuse(format!(
            "sources cannot be ported to {target}, only to {names}; `vop port FORM… --to {target}` writes functions"
        )));
    }
    if args.keep_ptx && !target.can_keep_ptx() {
        return Err(Failure::Misuse(format!(
            "functions of {target} cannot hold an asm for GPUs; --keep-ptx is for cuda, hip and opencl"
        )));
    }
    let paths: Vec<PathBuf> = args.forms.iter().map(PathBuf::from).collect();
    let header = header(args, &paths)?;
    let check::SourceFiles { files: sources, .. } = check::source_files(&paths)?;
    let options = SourceOptions::new(target).semantics(args.semantics.semantics).keep_ptx(args.keep_ptx);
    let mut files = Vec::new();
    let mut functions: Vec<Port> = Vec::new();
    for SourceFile { path, language, .. } in sources {
        let source = changes::read(&path)?;
        // What a header keeps of PTX is meant to stay.
        if vop_port::is_written(&source) {
            continue;
        }
        let ported = port_source(&source, language, &options);
        for function in &ported.functions {
            if functions.iter().all(|known| known.name() != function.name()) {
                functions.push(function.clone());
            }
        }
        let text = ported.apply(&source, &relative(&path, &header));
        files.push(File { change: Change { path, before: Some(source), after: text }, ported });
    }
    let header = if functions.is_empty() { None } else { Some(Header::of(header, functions, args)?) };
    let undeclared = header.as_ref().filter(|_| target.is_called_from(Language::Rust));
    let undeclared = undeclared.and_then(|header| declare(&mut files, &header.change.path));
    let changes = || files.iter().map(|file| &file.change).chain(header.iter().map(|header| &header.change));
    if args.write {
        changes::write(changes())?;
    }
    undeclared.iter().for_each(|note| output::note(note));
    match args.format {
        Format::Json => json_lines(&files)?,
        Format::Text => {
            if !args.write {
                changes::print_diff(changes())?;
            }
            report(&files, header.as_ref(), args.write);
        }
    }
    let is_left = files.iter().any(|file| !file.ported.left.is_empty());
    Ok(if is_left { Outcome::Findings } else { Outcome::Fine })
}

/// The header with all functions.
struct Header {
    change: Change,
}

impl Header {
    /// The functions of a header that is there stay: files that were ported before call them.
    fn of(path: PathBuf, functions: Vec<Port>, args: &Args) -> Result<Header, Failure> {
        let target = args.to;
        let before = if path.exists() { Some(output::read(&path)?) } else { None };
        let (mut all, mut keep_ptx) = (Vec::new(), args.keep_ptx);
        if let Some(text) = &before {
            let Some((known, kept)) = vop_port::read_file(&String::from_utf8_lossy(text), target) else {
                return Err(Failure::Misuse(format!(
                    "{} is there and was not written by `vop port --to {target}`; name another file with --header",
                    path.display()
                )));
            };
            keep_ptx |= kept;
            all = known;
        }
        for function in functions {
            if all.iter().all(|known| known.name() != function.name()) {
                all.push(function);
            }
        }
        let text = if keep_ptx { vop_port::file_with_ptx(&all) } else { vop_port::file(&all) };
        Ok(Header { change: Change { path, before, after: text.into_bytes() } })
    }
}

/// The roots of a Rust crate.
const ROOTS: [&str; 2] = ["lib.rs", "main.rs"];

fn header(args: &Args, paths: &[PathBuf]) -> Result<PathBuf, Failure> {
    let is_rust = args.to.is_called_from(Language::Rust);
    if let Some(header) = &args.header {
        if args.to.is_called_from(Language::LlvmIr) {
            return Err(Failure::Misuse(
                "files of LLVM IR hold their functions themselves: they have no --header".into(),
            ));
        }
        if is_rust && header.file_name() != Some("vop_port.rs".as_ref()) {
            return Err(Failure::Misuse("a module of Rust is called vop_port.rs; --header gives its folder".into()));
        }
        return Ok(header.clone());
    }
    let first = paths.first().map_or(Path::new("."), |path| &**path);
    let folder = if first.is_dir() { first } else { first.parent().unwrap_or(Path::new("")) };
    if !is_rust {
        return Ok(folder.join("vop_port.h"));
    }
    // Beside the crate's root, which is here, in src, or above.
    let has_root = |folder: &Path| ROOTS.iter().any(|root| folder.join(root).exists());
    let source = folder.join("src");
    let above = folder.ancestors().find(|folder| has_root(folder));
    let folder = if has_root(&source) { &source } else { above.unwrap_or(folder) };
    Ok(folder.join("vop_port.rs"))
}

/// Declares a Rust module in the roots of the crate that are among the files. Otherwise says what is to be done.
fn declare(files: &mut [File], module: &Path) -> Option<String> {
    let folder = absolute(module);
    let mut declared = false;
    for file in files.iter_mut() {
        let is_root = file.change.path.file_name().is_some_and(|name| ROOTS.iter().any(|root| name == *root));
        if is_root && absolute(&file.change.path) == folder {
            declared = true;
            if let Some(text) = vop_port::source::with_module(&file.change.after) {
                file.change.after = text;
            }
        }
    }
    if declared {
        return None;
    }
    let folder = module.parent().unwrap_or(Path::new(""));
    let is_declared = |root: &Path| output::read(root).is_ok_and(|text| vop_port::source::with_module(&text).is_none());
    match ROOTS.iter().map(|root| folder.join(root)).find(|root| root.exists()) {
        Some(root) if is_declared(&root) => None,
        Some(root) => Some(format!("calls are of `crate::vop_port`: write `mod vop_port;` in {}", root.display())),
        None => Some(format!(
            "calls are of `crate::vop_port`: move {} beside the crate's root, and write `mod vop_port;` there",
            module.display()
        )),
    }
}

/// The folder of a file, as the system knows it.
fn absolute(path: &Path) -> PathBuf {
    let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."));
    std::fs::canonicalize(folder).unwrap_or_else(|_| folder.to_path_buf())
}

/// A path as an `#include` in a file names it: from the folder of the file.
fn relative(file: &Path, header: &Path) -> String {
    let (from, to) = (absolute(file), absolute(header));
    let (from, to): (Vec<Component<'_>>, Vec<Component<'_>>) = (from.components().collect(), to.components().collect());
    let shared = from.iter().zip(&to).take_while(|(a, b)| a == b).count();
    let up = from[shared..].iter().map(|_| "..".to_string());
    let down = to[shared..].iter().map(|part| part.as_os_str().to_string_lossy().into_owned());
    let name = header.file_name().unwrap_or_default().to_string_lossy().into_owned();
    up.chain(down).chain([name]).collect::<Vec<_>>().join("/")
}

/// What was carried over and what is left, on standard error: standard output holds the diff.
fn report(files: &[File], header: Option<&Header>, written: bool) {
    let (mut statements, mut instructions, mut changed, mut left) = (0, 0, 0, 0);
    for file in files {
        let text = String::from_utf8_lossy(file.change.before.as_deref().unwrap_or_default());
        let (lines, path) = (Lines::new(&text), file.change.path.display().to_string());
        let at = |span: &Range<usize>| SourceText { lines: &lines, path: Some(&path) }.locate(span);
        changed += usize::from(file.change.is_change());
        for carried in &file.ported.carried {
            statements += 1;
            instructions += carried.instructions;
            for note in &carried.notes {
                output::notice(&format!("{}: note: {note}\n", at(&carried.span)));
            }
        }
        for one in &file.ported.left {
            left += 1;
            output::notice(&format!("{}: left as it is: {}\n", at(&one.span), one.why));
        }
    }
    let verb = if written { "carried over" } else { "can be carried over" };
    let statements = output::plural(statements, "statement");
    let instructions = output::plural(instructions, "instruction");
    let mut summary = format!("{statements} of {instructions} {verb} in {}", output::plural(changed, "file"));
    if left > 0 {
        summary.push_str(&format!(", {left} left"));
    }
    let others: usize = files.iter().map(|file| file.ported.others).sum();
    if others > 0 {
        summary.push_str(&format!(", and {others} asm without video instructions"));
    }
    if let Some(header) = header {
        summary.push_str(&format!(
            "; the functions {} in {}",
            if written { "are" } else { "would be" },
            header.change.path.display()
        ));
    }
    if files.iter().any(|file| !file.ported.within.is_empty()) {
        let verb = if written { "are" } else { "would be" };
        summary.push_str(&format!("; the functions of strings and LLVM IR {verb} in the files themselves"));
    }
    output::notice(&format!("{summary}\n"));
}

fn json_lines(files: &[File]) -> Result<(), Failure> {
    let mut out = output::stdout();
    for file in files.iter().filter(|file| !file.ported.carried.is_empty() || !file.ported.left.is_empty()) {
        let text = String::from_utf8_lossy(file.change.before.as_deref().unwrap_or_default());
        let lines = Lines::new(&text);
        let carried: Vec<Value> = file
            .ported
            .carried
            .iter()
            .map(|carried| {
                let LineRange { line, column, .. } = lines.range(&carried.span);
                json!({ "line": line, "column": column, "instructions": carried.instructions, "notes": carried.notes })
            })
            .collect();
        let left: Vec<Value> = file
            .ported
            .left
            .iter()
            .map(|left| {
                let LineRange { line, column, .. } = lines.range(&left.span);
                json!({ "line": line, "column": column, "why": left.why })
            })
            .collect();
        let functions = file.ported.functions.iter().chain(&file.ported.within);
        let functions: Vec<&str> = functions.map(Port::name).collect();
        let object = json!({ "file": file.change.path.display().to_string(), "carried": carried, "left": left, "functions": functions, "others": file.ported.others });
        writeln!(out, "{object}")?;
    }
    out.flush()?;
    Ok(())
}
