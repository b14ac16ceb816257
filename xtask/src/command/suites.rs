//! `cargo xtask suites`.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use vop_ptx::module::{FunctionKind, Module};

use super::Failure;
use super::process::{cargo, root, succeed};

/// Run the PTX modules of a public project's tests through `vop run`.
///
/// Each entry of each .ptx file below FOLDER is read and decoded: the table says how many can be run, and why the others are refused.
/// Where a test file of ZLUDA (`test_ptx!(name, [input], [output])`) stands beside the modules, each of its rows is run and its output
/// compared, bit by bit.
#[derive(clap::Args)]
#[command(after_help = "\
Example:
  git clone https://github.com/vosen/ZLUDA
  cargo xtask suites ZLUDA/ptx/src/test")]
pub(crate) struct Args {
    /// The folder of the suite.
    folder: PathBuf,
    /// The command to try [default: target/release/vop, built before].
    #[arg(long, value_name = "PATH")]
    vop: Option<PathBuf>,
    /// Print each entry that is refused and each row that differs.
    #[arg(long)]
    verbose: bool,
}

/// What became of entries or rows, by outcome.
#[derive(Default)]
struct Tally {
    outcomes: BTreeMap<String, Vec<String>>,
}

impl Tally {
    fn add(&mut self, outcome: impl Into<String>, what: String) {
        self.outcomes.entry(outcome.into()).or_default().push(what);
    }

    fn write(&self, heading: &str, verbose: bool) -> String {
        let mut text = format!("\n| {heading} | count |\n| --- | ---: |\n");
        let mut rows: Vec<_> = self.outcomes.iter().collect();
        rows.sort_by_key(|(_, places)| std::cmp::Reverse(places.len()));
        for (outcome, places) in &rows {
            // Writing to a String cannot fail.
            let _ = writeln!(text, "| {outcome} | {} |", places.len());
        }
        for (outcome, places) in rows.iter().filter(|(outcome, _)| verbose && !outcome.starts_with(GOOD)) {
            let _ = writeln!(text, "\n{outcome}:");
            for place in *places {
                let _ = writeln!(text, "  {place}");
            }
        }
        text
    }
}

/// How outcomes begin that need no list.
const GOOD: &str = "ok:";

pub(crate) fn run(args: Args) -> Result<(), Failure> {
    let vop = match args.vop {
        Some(vop) => vop.canonicalize().map_err(|error| format!("{}: {error}", vop.display()))?,
        None => {
            succeed(Command::new(cargo()).current_dir(root()?).args([
                "build",
                "--release",
                "--locked",
                "-p",
                "vop-cli",
            ]))?;
            root()?.join("target/release/vop")
        }
    };
    let mut files = Vec::new();
    collect(&args.folder, &mut files)?;
    files.sort();
    let (mut entries, mut rows) = (Tally::default(), Tally::default());
    for file in &files {
        match file.extension().and_then(|extension| extension.to_str()) {
            Some("ptx") => decode(&vop, file, &mut entries)?,
            _ => values(&vop, file, &mut rows)?,
        }
    }
    let mut out = std::io::stdout().lock();
    write!(out, "{}", entries.write("entry", args.verbose))?;
    if !rows.outcomes.is_empty() {
        write!(out, "{}", rows.write("row of values", args.verbose))?;
    }
    Ok(())
}

/// The .ptx and .rs files below a folder.
fn collect(folder: &Path, files: &mut Vec<PathBuf>) -> Result<(), Failure> {
    for entry in std::fs::read_dir(folder).map_err(|error| format!("{}: {error}", folder.display()))? {
        let path = entry?.path();
        if path.is_symlink() {
            continue;
        } else if path.is_dir() {
            collect(&path, files)?;
        } else if path.extension().is_some_and(|extension| extension == "ptx" || extension == "rs") {
            files.push(path);
        }
    }
    Ok(())
}

/// Starts each entry of a module without arguments: `vop run` decodes an entry before it looks at them.
fn decode(vop: &Path, file: &Path, entries: &mut Tally) -> Result<(), Failure> {
    let text = String::from_utf8_lossy(&std::fs::read(file)?).into_owned();
    let module = Module::parse(text);
    for function in
        module.functions().iter().filter(|function| function.kind == FunctionKind::Entry && function.body.is_some())
    {
        let name = module.slice(&function.name);
        let place = format!("{} {name}", file.display());
        let mut command = Command::new(vop);
        command.arg("run").arg(file).args(["--entry", name, "--grid", "1", "--block", "1", "--limit", "1e6"]);
        let said = Said::of(&mut command)?;
        match said.first {
            None => entries.add("ok: ran without arguments", place),
            // Faults of arguments that are not there, or of what the kernel does without its host: it was decoded.
            Some((code, _)) if matches!(&*code, "V0604" | "V0605" | "V0606" | "V0609" | "V0611") => {
                entries.add("ok: decoded, and needs arguments", place);
            }
            Some((code, message)) => entries.add(kind(&code, &message), place),
        }
    }
    Ok(())
}

/// A message without the names in it, so that messages of a kind are counted together.
fn kind(code: &str, message: &str) -> String {
    let message = message.split_once(" (nor ").map_or(message, |(message, _)| message);
    let parts: Vec<&str> = message.split('`').collect();
    let shown = parts.iter().enumerate().map(|(index, part)| match index % 2 {
        // Of an instruction, the mnemonic says what is missing.
        1 => part
            .split('.')
            .next()
            .filter(|word| part.contains('.') && word.chars().all(char::is_alphanumeric))
            .unwrap_or("…"),
        _ => part,
    });
    format!("{code}: {}", shown.collect::<Vec<_>>().join("`"))
}

/// What a command said.
struct Said {
    /// The code and the message of the first error.
    first: Option<(String, String)>,
    succeeded: bool,
}

impl Said {
    fn of(command: &mut Command) -> Result<Said, Failure> {
        let output = command.stdin(Stdio::null()).output().map_err(|error| format!("cannot run vop: {error}"))?;
        let text = String::from_utf8_lossy(&output.stderr).into_owned();
        let first = text.lines().find_map(|line| {
            let (code, message) = line.strip_prefix("error[")?.split_once("]: ")?;
            Some((code.to_owned(), message.to_owned()))
        });
        let unknown = || Some(("exit".to_owned(), text.lines().next().unwrap_or_default().to_owned()));
        let succeeded = output.status.success();
        Ok(Said { first: if succeeded { first } else { first.or_else(unknown) }, succeeded })
    }
}

/// The calls of `test_ptx!` and its kin in a Rust file.
fn calls(text: &str) -> Vec<&str> {
    let mut calls = Vec::new();
    let mut rest = text;
    while let Some(at) = rest.find("\ntest_ptx") {
        let call = &rest[at + 1..];
        let Some(end) = call.find(");") else { break };
        calls.push(&call[..end + 2]);
        rest = &call[end..];
    }
    calls
}

/// The program that writes the arrays of a suite's rows: the rows are Rust, so rustc reads them.
const PROGRAM: &str = r#"
use std::fs;

/// The bytes of an array as a .npy file.
fn file<T: Copy>(name: &str, what: &str, array: &[T]) {
    // SAFETY: the elements are integers and floats, all of whose bytes are written.
    let bytes = unsafe { std::slice::from_raw_parts(array.as_ptr().cast::<u8>(), std::mem::size_of_val(array)) };
    let mut header = format!("{{'descr': '|u1', 'fortran_order': False, 'shape': ({},), }}", bytes.len());
    while (10 + header.len() + 1) % 64 != 0 {
        header.push(' ');
    }
    header.push('\n');
    let mut all = b"\x93NUMPY\x01\x00".to_vec();
    all.extend_from_slice(&(header.len() as u16).to_le_bytes());
    all.extend_from_slice(header.as_bytes());
    all.extend_from_slice(bytes);
    fs::write(format!("{name}.{what}.npy"), all).unwrap();
}

macro_rules! test_ptx {
    ($name:ident, $input:expr, $output:expr) => {
        file(stringify!($name), "in", &$input);
        file(stringify!($name), "out", &$output);
    };
    ($name:ident) => {};
}
macro_rules! test_ptx_with_32 {
    ($($row:tt)*) => { test_ptx!($($row)*); };
}
macro_rules! test_ptx_warp {
    ($name:ident, $output:expr) => {
        file(stringify!($name), "warp", &$output);
    };
}

fn main() {
"#;

/// Runs the rows of a file of tests.
fn values(vop: &Path, tests: &Path, rows: &mut Tally) -> Result<(), Failure> {
    let text = String::from_utf8_lossy(&std::fs::read(tests)?).into_owned();
    let calls = calls(&text);
    if calls.is_empty() {
        return Ok(());
    }
    let folder = tempfile::tempdir()?;
    let program = format!("{PROGRAM}{}\n}}\n", calls.join("\n"));
    std::fs::create_dir(folder.path().join("src"))?;
    std::fs::write(folder.path().join("src/main.rs"), program)?;
    let manifest = "[package]\nname = \"rows\"\nedition = \"2021\"\n[dependencies]\nhalf = \"2\"\n[workspace]\n";
    std::fs::write(folder.path().join("Cargo.toml"), manifest)?;
    succeed(Command::new(cargo()).args(["run", "--quiet"]).current_dir(folder.path()))?;

    let beside = tests.parent().ok_or("a test file lies in no folder")?;
    let mut written: Vec<_> =
        std::fs::read_dir(folder.path())?.map(|entry| Ok(entry?.path())).collect::<Result<_, Failure>>()?;
    written.sort();
    for output in written {
        let name = output.file_name().unwrap_or_default().to_string_lossy().into_owned();
        let Some((kernel, what @ ("out.npy" | "warp.npy"))) = name.split_once('.') else { continue };
        for (width, module) in [("", format!("{kernel}.ptx")), (" with 32-bit addresses", format!("32/{kernel}.ptx"))] {
            let module = beside.join(module);
            if !module.exists() {
                continue;
            }
            let bytes = std::fs::metadata(&output)?.len() - header(&output)?;
            let warp = what == "warp.npy";
            let mut command = Command::new(vop);
            command.arg("run").arg(&module).args(["--entry", kernel, "--grid", "1", "--shared", "1024"]);
            command.args(["--block", if warp { "64" } else { "1" }, "--limit", "1e8"]);
            if !warp {
                command.arg("--arg").arg(format!("in={}", folder.path().join(format!("{kernel}.in.npy")).display()));
            }
            command.arg("--arg").arg(format!("out=u8[{bytes}]"));
            // Rows without an input give the output to both parameters, where there are two.
            if warp && parameters(&module, kernel)? == 2 {
                command.args(["--arg", "out"]);
            }
            command.arg("--compare").arg(format!("out={}", output.display()));
            let said = Said::of(&mut command)?;
            let place = module.display().to_string();
            match said.first {
                _ if said.succeeded => rows.add(format!("{GOOD} equal{width}"), place),
                Some((code, message)) if code != "exit" => rows.add(kind(&code, &message), place),
                _ => rows.add(format!("differs{width}"), place),
            }
        }
    }
    Ok(())
}

/// The number of parameters of an entry.
fn parameters(module: &Path, entry: &str) -> Result<usize, Failure> {
    let module = Module::parse(String::from_utf8_lossy(&std::fs::read(module)?));
    Ok(module.function(entry).map_or(0, |function| function.parameters.len()))
}

/// The length of a .npy file's header.
fn header(path: &Path) -> Result<u64, Failure> {
    let file = std::fs::read(path)?;
    let length = file.get(8..10).and_then(|length| length.try_into().ok()).map(u16::from_le_bytes);
    Ok(10 + u64::from(length.ok_or("a .npy file without a header")?))
}
