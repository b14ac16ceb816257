//! The `vop` command: one file a subcommand, each thin over the library.

mod bug;
mod changes;
mod check;
mod completions;
mod eval;
mod exec;
mod explain;
mod fix;
mod instruction;
mod json;
mod list;
mod lower;
mod lsp;
mod man;
mod map;
mod output;
mod parse;
mod port;
mod progress;
#[cfg(feature = "prove")]
mod prove;
#[cfg(not(feature = "prove"))]
#[path = "no_prove.rs"]
mod prove;
mod render;
mod run;

use std::path::{Path, PathBuf};
use std::process::ExitCode;

use clap::{Parser, Subcommand};

/// Parse, check, mend, explain, evaluate, run, lower and port PTX's video instructions, bit for bit.
///
/// The instructions are vadd vsub vabsdiff vmin vmax vshl vshr vmad vset, and the SIMD ones vadd2 … vset2 on
/// half-words and vadd4 … vset4 on bytes (PTX ISA manual, section 9.7.18).
#[derive(Parser)]
#[command(name = "vop", version, arg_required_else_help = true, after_help = EXAMPLES)]
struct Cli {
    #[command(subcommand)]
    command: Command,
}

const EXAMPLES: &str = "\
Examples:
  vop explain vadd4.s32.s32.u32.sat      show what an instruction does
  vop eval vadd.u32.s32.s32.sat -16 5    compute its value
  vop check src/                         judge all in a source tree
  vop fix src/ --write                   change what is found and can be mended
  vop map vmax4.u32.u32.u32 a.png b.png -o d.png    apply one to whole arrays
  vop run examples/motion/motion.toml    run a kernel on the CPU
  vop exec ./app                         run a CUDA program on the CPU
  vop lower kernel.ptx --target sm_90    rewrite them as faster, ordinary PTX
  vop port vmax4.u32.u32.u32 --to c      write one as a function of another language

Exit status: 0 fine, 1 findings or a failure, 2 misuse, or something that cannot
be done: a file that is missing, damaged or of an unknown kind; 101 a bug in vop.";

#[derive(Subcommand)]
enum Command {
    Parse(parse::Args),
    Eval(eval::Args),
    Explain(explain::Args),
    Check(check::Args),
    Fix(fix::Args),
    List(list::Args),
    Lower(lower::Args),
    Lsp(lsp::Args),
    Map(map::Args),
    Run(Box<run::Args>),
    Exec(Box<exec::Args>),
    Port(port::Args),
    Prove(prove::Args),
    Completions(completions::Args),
    Man(man::Args),
}

impl Command {
    /// The one file that the work is about, if there is one.
    fn file(&self) -> Option<PathBuf> {
        match self {
            Command::Lower(args) => args.input().map(Path::to_owned),
            Command::Run(args) => Some(args.input().to_owned()),
            _ => None,
        }
    }
}

/// How a subcommand ends that could do its work.
enum Outcome {
    /// 0.
    Fine,
    /// 1: the work is done, and something wrong was found.
    Findings,
}

/// Why a subcommand could not do its work.
enum Failure {
    /// 1, with these words.
    Failed(String),
    /// 1, already said.
    Said,
    /// 2, already said: something that was asked for cannot be done.
    Impossible,
    /// 2, with these words: it was called wrongly, or a file that it needs is not there.
    Misuse(String),
    /// 0: nobody reads the output any more.
    Closed,
    /// 130, as in shells: the user has stopped it.
    Interrupted,
    /// This status, already said: it is that of a program that was run.
    #[cfg_attr(not(target_os = "linux"), allow(dead_code, reason = "programs are run on Linux"))]
    Code(u8),
}

impl From<std::io::Error> for Failure {
    fn from(error: std::io::Error) -> Failure {
        match error.kind() {
            std::io::ErrorKind::BrokenPipe => Failure::Closed,
            _ => Failure::Failed(error.to_string()),
        }
    }
}

/// clap takes `-5` for a value and `-0x5` for an option: the latter reaches it as the same 32 bits without a sign.
fn negative_hexadecimal(argument: std::ffi::OsString) -> std::ffi::OsString {
    let value = argument.to_str().filter(|text| {
        let prefix = text.get(..3).unwrap_or_default().to_ascii_lowercase();
        prefix == "-0x" || prefix == "-0b"
    });
    match value.map(instruction::value) {
        Some(Ok(value)) => format!("{value:#x}").into(),
        _ => argument,
    }
}

fn main() -> ExitCode {
    bug::keep_panics();
    // The arguments of a program that is run are its own.
    let is_exec = std::env::args_os().nth(1).is_some_and(|name| name == "exec");
    let arguments = std::env::args_os().map(|argument| if is_exec { argument } else { negative_hexadecimal(argument) });
    let command = Cli::parse_from(arguments).command;
    let file = command.file();
    let name = file.as_ref().map_or_else(|| "vop".to_owned(), |file| file.display().to_string());
    let work = || {
        file.iter().for_each(|file| bug::trip(file));
        execute(command)
    };
    match bug::caught(&name, work) {
        Ok(code) => code,
        Err(why) => {
            output::error(&why);
            // As Rust's own.
            ExitCode::from(101)
        }
    }
}

fn execute(command: Command) -> ExitCode {
    let outcome = match command {
        Command::Parse(args) => parse::run(args),
        Command::Eval(args) => eval::run(args),
        Command::Explain(args) => explain::run(args),
        Command::Check(args) => check::run(args),
        Command::Fix(args) => fix::run(args),
        Command::List(args) => list::run(args),
        Command::Lower(args) => lower::run(args),
        Command::Lsp(args) => lsp::run(args),
        Command::Map(args) => map::run(args),
        Command::Run(args) => run::run(*args),
        Command::Exec(args) => exec::run(*args),
        Command::Port(args) => port::run(args),
        Command::Prove(args) => prove::run(args),
        Command::Completions(args) => completions::run(args),
        Command::Man(args) => man::run(args),
    };
    match outcome {
        Ok(Outcome::Fine) | Err(Failure::Closed) => ExitCode::SUCCESS,
        Ok(Outcome::Findings) | Err(Failure::Said) => ExitCode::from(1),
        Err(Failure::Impossible) => ExitCode::from(2),
        Err(Failure::Interrupted) => ExitCode::from(130),
        Err(Failure::Code(code)) => ExitCode::from(code),
        Err(Failure::Failed(why)) => {
            output::error(&why);
            ExitCode::from(1)
        }
        Err(Failure::Misuse(why)) => {
            output::error(&why);
            ExitCode::from(2)
        }
    }
}
