//! `vop port`.

mod source;

use std::collections::HashMap;
use std::io::Write;
use std::path::{Path, PathBuf};

use serde_json::{Value, json};
use vop::{Diagnostic, Form, Instruction, Operand, Parser, Semantics};
use vop_port::{Intrinsic, Port, Target};

use crate::output::Format;
use crate::progress::Progress;
use crate::{Failure, Outcome, instruction, output};

/// Write video instructions as functions of another language, and sources with calls of them.
///
/// Each FORM becomes one function of a, b and c, words of 32 bits, which returns d. It is written in the fewest plain operations that
/// the rules know, and its comment says what it does. The result is one file without dependencies: a header or a module.
/// A function computes what the manual says, for every input; with --semantics, what ptxas's code computes.
///
/// A PATH is a file or a folder in whose C, C++, CUDA, HIP and OpenCL sources each `asm` statement of video instructions becomes a call;
/// with --to rust those of Rust, and with --to llvm those of LLVM IR. Source that a string of Python or C++ holds is carried over in it.
/// The changes and the header are printed as a diff, or with --write are made. What cannot be carried over stays, and is reported with
/// the reason.
#[derive(clap::Args)]
#[command(
    arg_required_else_help = true,
    after_help = "\
Examples:
  vop port vadd4.s32.s32.s32.sat --to c
  vop port vmax4.u32.u32.u32 'vset2.s32.s32.lt d.h0, a, b, c' --to rust -o simd.rs
  vop port __vsubss4 __vcmpgtu2 --to opencl
  vop port --to c --batch forms.txt --format json
  vop port --to hip src/ | less
  vop port --to hip src/ --write

Targets:
  c       C99: portable, without undefined behaviour
  cpp     C++17: constexpr functions
  avx2    C with AVX2: functions of eight words (`__m256i`)
  avx512  C with AVX-512BW: functions of sixteen words (`__m512i`)
  neon    C with NEON of AArch64: functions of four words (`uint32x4_t`)
  cuda    CUDA C++: plain operations, for host and device
  hip     HIP C++: plain operations, and on AMD's GPUs built-in functions
  sycl    SYCL: constexpr functions of C++17, which kernels call
  metal   Metal Shading Language
  opencl  OpenCL C 1.2: with its built-in functions on vectors
  rust    Rust: const functions, without the standard library
  llvm    LLVM IR: functions that are inlined
  numpy   Python with NumPy: functions of whole arrays
  julia   Julia: functions of UInt32, for values and by a dot for arrays
  wgsl    WGSL: without integers of 64 bits
  glsl    GLSL: without integers of 64 bits

Sources in C's syntax can be ported to c, cpp, cuda, hip, sycl, metal and
opencl, those in Rust to rust, and LLVM IR to llvm.

Exit status: 0 fine, 1 something is left or cannot be ported, 2 misuse, or a
file that cannot be read."
)]
pub(crate) struct Args {
    /// Instructions, with or without operands, or SIMD intrinsics of CUDA (`vop list --intrinsics`); or files and folders.
    #[arg(value_name = "FORM|PATH", required_unless_present = "batch", conflicts_with = "batch")]
    forms: Vec<String>,
    /// The language: see below.
    #[arg(long, value_name = "TARGET")]
    to: Target,
    #[command(flatten)]
    semantics: instruction::SemanticsArg,
    /// Write the functions to this file instead of standard output (`-`).
    #[arg(short, long, value_name = "OUT", conflicts_with = "batch")]
    output: Option<PathBuf>,
    /// Port the instruction of each line of a file (`-` for standard input), and print for each a function that compiles alone, or
    /// with --format json a line. Exit status 1 if a line cannot be ported.
    #[arg(long, value_name = "FILE")]
    batch: Option<PathBuf>,
    /// Of sources: write the changed files and the header instead of a diff. Nothing is written if one of them cannot be.
    #[arg(long)]
    write: bool,
    /// Of sources: the header, which is made, or gets more functions. Default: vop_port.h in the folder of the first path; for Rust
    /// vop_port.rs beside the crate's root.
    #[arg(long, value_name = "FILE", conflicts_with_all = ["batch", "output"])]
    header: Option<PathBuf>,
    /// Of sources: functions of the header execute the instructions themselves on NVIDIA's GPUs.
    #[arg(long, conflicts_with_all = ["batch", "output"])]
    keep_ptx: bool,
    /// `text`, or `json`: an object with `form`, `name`, `code` and `operations` for each instruction, one a line; of sources an object
    /// for each file.
    #[arg(long, value_enum, default_value_t)]
    format: Format,
}

pub(crate) fn run(args: Args) -> Result<Outcome, Failure> {
    let mut porter = Porter { target: args.to, semantics: args.semantics.semantics, known: HashMap::new() };
    match &args.batch {
        Some(path) => batch(output::Lines::open(path)?, &mut porter, args.format),
        None if args.forms.iter().any(|form| source::is_path(form)) => source::run(&args),
        None if args.write || args.header.is_some() || args.keep_ptx => {
            let flag = if args.write {
                "--write"
            } else if args.keep_ptx {
                "--keep-ptx"
            } else {
                "--header"
            };
            Err(Failure::Misuse(format!("{flag} is for sources: give files or folders, or use --output for functions")))
        }
        None => some(&args, &mut porter),
    }
}

/// Why a line of a batch is not ported.
struct Refusal {
    why: String,
    /// The column of the line, from 1.
    column: Option<usize>,
    help: Option<String>,
}

impl From<String> for Refusal {
    fn from(why: String) -> Refusal {
        Refusal { why, column: None, help: None }
    }
}

impl Refusal {
    /// The first fault of a line.
    fn of(line: &str, faults: &[Diagnostic]) -> Refusal {
        let Some(first) = faults.first() else { return "not an instruction".to_owned().into() };
        let column = line.get(..first.span.start).map(|before| before.chars().count() + 1);
        Refusal { why: first.to_string(), column, help: first.help.clone() }
    }

    fn row(&self) -> Value {
        let mut row = json!({ "error": self.why });
        if let Some(column) = self.column {
            row["column"] = json!(column);
        }
        if let Some(help) = &self.help {
            row["help"] = json!(help);
        }
        row
    }

    /// As a line for people.
    fn text(&self, line: usize) -> String {
        let column = self.column.map(|column| format!(", column {column}")).unwrap_or_default();
        // A block of instructions is of no use beside others.
        let help = self.help.as_ref().filter(|help| !help.contains('\n'));
        let help = help.map(|help| format!("; {help}")).unwrap_or_default();
        format!("line {line}{column}: {}{help}", self.why)
    }
}

/// What is wrong with a name that reads as one of CUDA's SIMD intrinsics, `__vfoo4`, and is none that is known.
fn unknown_intrinsic(text: &str) -> Option<String> {
    let name = text.trim();
    let is_name = name.starts_with("__v") && name.chars().all(|c| c.is_ascii_alphanumeric() || c == '_');
    is_name.then(|| {
        format!("`{name}` is none of the SIMD intrinsics of CUDA that are known; `vop list --intrinsics` lists them")
    })
}

/// Ports instructions, each form once.
struct Porter {
    target: Target,
    semantics: Semantics,
    known: HashMap<Form, Port>,
}

/// More than this is not kept: a list of all forms would take gigabytes.
const KEPT: usize = 1 << 14;

impl Porter {
    /// The intrinsic of CUDA that a text names.
    fn intrinsic(&self, text: &str) -> Option<Port> {
        Intrinsic::from_name(text.trim()).map(|intrinsic| vop_port::port_intrinsic(&intrinsic, self.target))
    }

    fn port(&mut self, form: Form) -> Result<Port, String> {
        if let Some(port) = self.known.get(&form) {
            return Ok(port.clone());
        }
        let port = vop_port::port(form, self.target, self.semantics).map_err(|error| error.to_string())?;
        if self.known.len() >= KEPT {
            self.known.clear();
        }
        self.known.insert(form, port.clone());
        Ok(port)
    }
}

fn row(port: &Port, notes: &[String]) -> Value {
    let mut row = json!({
        "form": port.original(),
        "name": port.name(),
        "code": port.text(),
        "operations": port.operations(),
    });
    if !notes.is_empty() {
        row["notes"] = json!(notes);
    }
    row
}

/// What an instruction says that its function does not: the values of operands, and the guard.
fn notes(instruction: &Instruction<'_>) -> Vec<String> {
    let mut notes = Vec::new();
    for (name, operand) in [("a", Some(instruction.a)), ("b", Some(instruction.b)), ("c", instruction.c)] {
        let value = match operand {
            Some(Operand::Immediate { text, .. }) => text.to_owned(),
            Some(Operand::Sum { register, addend }) => format!("{register} + {addend:#x}"),
            Some(Operand::Register(_)) | None => continue,
        };
        notes.push(format!(
            "operand {name} is `{value}`, and the function has a parameter for it: call it with {name} = {value}"
        ));
    }
    if let Some(guard) = instruction.guard {
        notes.push(format!("the guard `{guard}` is no part of the function: call it under this condition"));
    }
    notes
}

/// Ports the given forms into one file. Nothing is written if one of them is illegal.
fn some(args: &Args, porter: &mut Porter) -> Result<Outcome, Failure> {
    let mut ports = Vec::new();
    let mut refused = false;
    for text in &args.forms {
        if let Some(port) = porter.intrinsic(text) {
            ports.push((port, Vec::new()));
            continue;
        }
        if let Some(why) = unknown_intrinsic(text) {
            refused = true;
            output::error(&why);
            continue;
        }
        match instruction::read(text) {
            Ok(instruction) => match porter.port(instruction.form) {
                Ok(port) => ports.push((port, notes(&instruction))),
                Err(why) => {
                    refused = true;
                    output::error(&why);
                }
            },
            Err(Failure::Said) => refused = true,
            Err(other) => return Err(other),
        }
    }
    if refused {
        return Err(Failure::Said);
    }
    let text = match args.format {
        Format::Text => vop_port::file(&ports.iter().map(|(port, _)| port.clone()).collect::<Vec<_>>()),
        Format::Json => ports.iter().map(|(port, notes)| format!("{}\n", row(port, notes))).collect(),
    };
    if let Format::Text = args.format {
        for (port, notes) in &ports {
            notes.iter().for_each(|note| output::note(&format!("{}: {note}", port.name())));
        }
    }
    write(args.output.as_deref(), &text)?;
    Ok(Outcome::Fine)
}

fn write(to: Option<&Path>, text: &str) -> Result<(), Failure> {
    match to.filter(|to| to.as_os_str() != "-") {
        Some(to) => output::write(to, text.as_bytes()),
        None => {
            let mut out = output::stdout();
            out.write_all(text.as_bytes())?;
            out.flush()?;
            Ok(())
        }
    }
}

fn batch(mut lines: output::Lines, porter: &mut Porter, format: Format) -> Result<Outcome, Failure> {
    let mut out = output::stdout();
    let mut outcome = Outcome::Fine;
    let parser = Parser::new().allow_bare();
    let mut progress = Progress::beside_output(lines.count, "lines");
    let mut done = 0;
    while let Some(line) = lines.next()? {
        progress.at(done);
        done += 1;
        let ported = line.map_err(Refusal::from).and_then(|line| {
            if let Some(port) = porter.intrinsic(line) {
                return Ok((port, Vec::new()));
            }
            if let Some(why) = unknown_intrinsic(line) {
                return Err(why.into());
            }
            let instruction = parser.parse(line).map_err(|faults| Refusal::of(line, &faults))?;
            Ok((porter.port(instruction.form)?, notes(&instruction)))
        });
        match (ported, format) {
            (Ok((port, notes)), Format::Json) => writeln!(out, "{}", row(&port, &notes))?,
            (Ok((port, notes)), Format::Text) => {
                notes.iter().for_each(|note| output::note(&format!("line {done}: {note}")));
                writeln!(out, "{}", port.text())?;
            }
            (Err(why), format) => {
                outcome = Outcome::Findings;
                match format {
                    Format::Json => writeln!(out, "{}", why.row())?,
                    // Standard output holds nothing but functions.
                    Format::Text => output::error(&why.text(done)),
                }
            }
        }
    }
    out.flush()?;
    Ok(outcome)
}
