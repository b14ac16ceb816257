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
    Api(command::api::Args),
    BuildTimes(command::build_times::Args),
    Conformance(command::conformance::Args),
    Dependencies(command::dependencies::Args),
    Dist(command::dist::Args),
    Divergence(command::divergence::Args),
    Docs(command::docs::Args),
    Fold(command::fold::Args),
    Golden(command::golden::Args),
    Gpu(command::gpu::Args),
    Library(command::library::Args),
    Licences(command::licences::Args),
    Packages(command::packages::Args),
    PortCost(command::port_cost::Args),
    PortProve(command::port_prove::Args),
    PortTest(command::port_test::Args),
    Programs(command::programs::Args),
    Search(command::search::Args),
    Site(command::site::Args),
    Suites(command::suites::Args),
    Test(command::test::Args),
}

fn main() -> ExitCode {
    let done = match Cli::parse().command {
        Command::Sass(command) => command.run(),
        Command::Api(args) => command::api::run(args),
        Command::BuildTimes(args) => command::build_times::run(args),
        Command::Conformance(args) => command::conformance::run(args),
        Command::Dependencies(args) => command::dependencies::run(args),
        Command::Dist(args) => command::dist::run(args),
        Command::Divergence(args) => command::divergence::run(args),
        Command::Docs(args) => command::docs::run(args),
        Command::Fold(args) => command::fold::run(args),
        Command::Golden(args) => command::golden::run(args),
        Command::Gpu(args) => command::gpu::run(args),
        Command::Library(args) => command::library::run(args),
        Command::Licences(args) => command::licences::run(args),
        Command::Packages(args) => command::packages::run(args),
        Command::PortCost(args) => command::port_cost::run(args),
        Command::PortProve(args) => command::port_prove::run(args),
        Command::PortTest(args) => command::port_test::run(args),
        Command::Programs(args) => command::programs::run(args),
        Command::Search(args) => command::search::run(args),
        Command::Site(args) => command::site::run(args),
        Command::Suites(args) => command::suites::run(args),
        Command::Test(args) => command::test::run(args),
    };
    match done {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => error.report(),
    }
}
