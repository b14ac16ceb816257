//! `cargo xtask`: developer tools. One file a command, each thin over the library.

mod command;

use std::process::ExitCode;

use clap::{Parser, Subcommand};

/// Developer tools of vop.
#[derive(Parser)]
#[command(name = "cargo xtask", arg_required_else_help = true)]
struct Cli {
    #[command(subcommand)]
    command: Command,
}

#[derive(Subcommand)]
enum Command {
    /// What ptxas makes of an instruction; no GPU is needed.
    ///
    /// A FORM is an instruction text, alone (`vadd4.u32.u32.u32.sat`) or with operands d, a, b and c, or a block
    /// `{ … }` of PTX on these registers. ptxas and nvdisasm are taken from the folder that the environment variable
    /// CUDA_BIN names, or from the PATH.
    #[command(subcommand)]
    Sass(command::Sass),
    Divergence(command::divergence::Args),
    Docs(command::docs::Args),
    Gpu(command::gpu::Args),
    Search(command::search::Args),
    Test(command::test::Args),
}

fn main() -> ExitCode {
    let done = match Cli::parse().command {
        Command::Sass(command) => command.run(),
        Command::Divergence(args) => command::divergence::run(args),
        Command::Docs(args) => command::docs::run(args),
        Command::Gpu(args) => command::gpu::run(args),
        Command::Search(args) => command::search::run(args),
        Command::Test(args) => command::test::run(args),
    };
    match done {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => error.report(),
    }
}
