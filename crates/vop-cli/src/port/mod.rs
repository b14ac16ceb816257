//! `vop port`.

mod source;

use std::collections::HashMap;
use std::io::Write;
use std::path::{Path, PathBuf};

use serde_json::{Value, json};
use vop::{Form, Semantics};
use vop_port::{Port, Request, RequestError, Source, Target};

use crate::output::Format;
use crate::progress::Progress;
use crate::{Failure, Outcome, instruction, output};

/// Write video instructions as functions of another language, or put calls of these into sources.
///
/// Each FORM becomes one function of a, b and c, words of 32 bits, which returns d. Beside video instructions it may be a base instruction
/// of 32-bit integers, such as prmt, lop3, bfe, shf and dp4a, or an intrinsic of CUDA. It is written in the fewest plain operations that
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
  vop port __vsubss4 __byte_perm '__dp4a(char4, char4, int)' --to opencl
  vop port prmt.b32.rc8 'lop3.b32 d, a, b, c, 0x96' --to wgsl
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
    /// Instructions, with or without operands, or intrinsics of CUDA (`vop list --intrinsics`); or files and folders.
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
    /// Of sources: functions of the header execute the instructions themselves on NVIDIA's GPUs (cuda, hip, opencl).
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
    fn of(line: &str, error: &RequestError) -> Refusal {
        let before = error.span().and_then(|span| line.get(..span.start));
        let column = before.map(|before| before.chars().count() + 1);
        Refusal { why: error.to_string(), column, help: error.help().map(str::to_owned) }
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

/// Ports instructions, each form once.
struct Porter {
    target: Target,
    semantics: Semantics,
    known: HashMap<Form, Port>,
}

/// More than this is not kept: a list of all forms would take gigabytes.
const KEPT: usize = 1 << 14;

impl Porter {
    fn port(&mut self, request: &Request) -> Result<Port, String> {
        match request.source {
            Source::Form(form, _) => self.form(form),
            _ => request.port(self.target).map_err(|error| error.to_string()),
        }
    }

    fn form(&mut self, form: Form) -> Result<Port, String> {
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

/// Ports the given forms into one file. Nothing is written if one of them is illegal.
fn some(args: &Args, porter: &mut Porter) -> Result<Outcome, Failure> {
    let mut ports = Vec::new();
    let mut refused = false;
    for text in &args.forms {
        match Request::read(text, args.semantics.semantics) {
            Ok(request) => match porter.port(&request) {
                Ok(port) => ports.push((port, request.notes)),
                Err(why) => {
                    refused = true;
                    output::error(&why);
                }
            },
            Err(error) => {
                refused = true;
                instruction::say_refused(&error, text);
            }
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
    let mut progress = Progress::beside_output(lines.count, "lines");
    let mut done = 0;
    while let Some(line) = lines.next()? {
        progress.at(done);
        done += 1;
        let ported = line.map_err(Refusal::from).and_then(|line| {
            let request = Request::read(line, porter.semantics).map_err(|error| Refusal::of(line, &error))?;
            Ok((porter.port(&request)?, request.notes))
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
