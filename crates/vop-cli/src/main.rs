//! The `vop` command: one file a subcommand, each thin over the library.

mod check;
mod completions;
mod eval;
mod explain;
mod instruction;
mod json;
mod list;
mod lower;
mod map;
mod output;
mod parse;
mod prove;
mod render;
mod run;

use std::process::ExitCode;

use clap::{Parser, Subcommand};

/// PTX video instructions, exactly: parse, check, explain, evaluate, run and lower them.
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
  vop explain vadd4.s32.s32.u32.sat      what an instruction does
  vop eval vadd.u32.s32.s32.sat -16 5    its value
  vop check src/                         all of them in a source tree
  vop map vmax4.u32.u32.u32 a.png b.png -o d.png    to whole arrays
  vop run examples/motion/motion.toml    a kernel on the CPU
  vop lower kernel.ptx --target sm_90    the same kernel without them, faster

Exit status: 0 fine, 1 findings or failure, 2 misuse.";

#[derive(Subcommand)]
enum Command {
    Parse(parse::Args),
    Eval(eval::Args),
    Explain(explain::Args),
    Check(check::Args),
    List(list::Args),
    Lower(lower::Args),
    Map(map::Args),
    Run(run::Args),
    Prove(prove::Args),
    Completions(completions::Args),
}

/// How a subcommand ends.
enum Outcome {
    /// 0.
    Fine,
    /// 1: what was asked has been done, and something was found wrong.
    Findings,
}

/// Why a subcommand could not do its work.
enum Failure {
    /// 1, with these words.
    Failed(String),
    /// 1, already said.
    Said,
    /// 2: it was called wrongly.
    Misuse(String),
    /// Nobody reads the output any more; not worth a word.
    Closed,
    /// 130, as shells have it: the user has ended it.
    Interrupted,
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
    let outcome = match Cli::parse_from(std::env::args_os().map(negative_hexadecimal)).command {
        Command::Parse(args) => parse::run(args),
        Command::Eval(args) => eval::run(args),
        Command::Explain(args) => explain::run(args),
        Command::Check(args) => check::run(args),
        Command::List(args) => list::run(args),
        Command::Lower(args) => lower::run(args),
        Command::Map(args) => map::run(args),
        Command::Run(args) => run::run(args),
        Command::Prove(args) => prove::run(args),
        Command::Completions(args) => completions::run(args),
    };
    match outcome {
        Ok(Outcome::Fine) | Err(Failure::Closed) => ExitCode::SUCCESS,
        Ok(Outcome::Findings) | Err(Failure::Said) => ExitCode::from(1),
        Err(Failure::Interrupted) => ExitCode::from(130),
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
