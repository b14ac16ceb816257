//! `vop exec`.

#[cfg(target_os = "linux")]
mod child;
#[cfg(target_os = "linux")]
mod folder;
#[cfg(target_os = "linux")]
mod inspect;
#[cfg(target_os = "linux")]
mod summary;

use std::ffi::OsString;
use std::num::NonZeroUsize;
use std::path::PathBuf;
use std::time::Duration;

use vop_run::job::{parse_bytes, parse_count, parse_time};

use crate::output::Format;
use crate::{Failure, Outcome, instruction};

const LONG_ABOUT: &str = "\
Run a CUDA program on the CPU, without a GPU

The program is one that was built for a GPU: with the CUDA runtime as a shared
library, and with PTX beside or instead of machine code:

  nvcc -arch=compute_75 -cudart shared app.cu -o app
  vop exec ./app

It finds libcuda.so.1 and libcudart.so of vop in the place of NVIDIA's. Kernels
run on all cores, and every access to memory is checked. A fault in a kernel is
reported with its line, thread and address; the program gets the error that CUDA
gives. When the program has ended, a summary goes to standard error: launches,
thread-instructions and time of each kernel, errors, and the functions that the
program called but vop does not have. docs/exec.md has the details.";

/// Run a CUDA program on the CPU, without a GPU
#[derive(clap::Args)]
#[command(long_about = LONG_ABOUT, after_help = "\
Examples:
  vop exec ./app input.png
  vop exec --check races,uninit,leaks --error-exit-code 1 ./test
  vop exec --device sm_75 --devices 2 ./app
  vop exec --profile ./app
  vop exec python train.py

Exit status: the program's own, or the signal that ended it; with
--error-exit-code, the given one if the program ends with 0 although errors were
found; 2 if it cannot be run.")]
pub(crate) struct Args {
    /// The program and its arguments. Options of vop stand before it.
    #[arg(required = true, trailing_var_arg = true, allow_hyphen_values = true, value_name = "PROGRAM")]
    command: Vec<OsString>,

    /// How many devices the program sees, 1 to 8.
    #[arg(long, value_name = "COUNT", value_parser = clap::value_parser!(u32).range(1..=8), default_value_t = 1,
        help_heading = DEVICES)]
    devices: u32,
    /// What they are: sm_75 … sm_121.
    #[arg(long, value_name = "GPU", value_parser = device, default_value = "sm_90", help_heading = DEVICES)]
    device: String,

    /// Look for more, separated by commas. What is found does not stop the program.
    #[arg(long, value_name = "CHECKS", value_delimiter = ',', help_heading = EXECUTION)]
    check: Vec<CheckName>,
    /// How many cores to use; all of them by default.
    #[arg(long, value_name = "COUNT", value_parser = instruction::cores, help_heading = EXECUTION)]
    cores: Option<NonZeroUsize>,
    /// Stop a launch after this number of thread-instructions, as 1e9, 1_000_000 or 10G. There is no limit by default.
    #[arg(long, value_name = "COUNT", value_parser = parse_count, allow_negative_numbers = true, help_heading = EXECUTION)]
    limit: Option<u64>,
    /// Stop a launch after this time: 90, 1.5s, 500ms, 10m, 2h. There is no limit by default.
    #[arg(long, value_name = "TIME", value_parser = parse_time, allow_hyphen_values = true, help_heading = EXECUTION)]
    timeout: Option<Duration>,
    /// Bytes of memory that each device has, as 4G; three quarters of the machine's memory by default.
    #[arg(long, value_name = "BYTES", value_parser = parse_bytes, allow_hyphen_values = true, help_heading = EXECUTION)]
    memory: Option<u64>,
    #[command(flatten, next_help_heading = EXECUTION)]
    semantics: instruction::SemanticsArg,

    /// Print the most executed opcodes and lines of each kernel.
    #[arg(long, help_heading = RESULTS)]
    profile: bool,
    /// The exit status if the program ends with 0 although errors were found.
    #[arg(long, value_name = "STATUS", value_parser = clap::value_parser!(u8), help_heading = RESULTS)]
    error_exit_code: Option<u8>,
    /// Write the summary to this file instead of standard error.
    #[arg(long, value_name = "FILE", help_heading = RESULTS)]
    log: Option<PathBuf>,
    /// The summary as `text` for people, or as `json` for programs.
    #[arg(long, value_enum, default_value_t, help_heading = RESULTS)]
    format: Format,
}

const DEVICES: &str = "Devices";
const EXECUTION: &str = "Execution";
const RESULTS: &str = "Results";

/// Checks on request.
#[derive(Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
enum CheckName {
    /// Races on shared and global memory.
    Races,
    /// Reads of memory that nothing wrote.
    Uninit,
    /// Lanes of a warp that do not come together: `shfl`, masks, `activemask`.
    Warp,
    /// Uses of `malloc`'s memory in kernels after `free` or beyond its end, and leaks.
    Heap,
    /// Device memory that the program has not freed at its end.
    Leaks,
    /// All of these.
    All,
}

/// The name of a GPU. Which ones there are, the library says.
fn device(text: &str) -> Result<String, String> {
    let number = text.strip_prefix("sm_").and_then(|number| number.parse::<u32>().ok());
    match number.filter(|number| (50..1000).contains(number)) {
        Some(number) => Ok(format!("sm_{number}")),
        None => Err(format!("`{text}` is no GPU: write sm_75, sm_90 or another architecture")),
    }
}

#[cfg(not(target_os = "linux"))]
pub(crate) fn run(_: Args) -> Result<Outcome, Failure> {
    Err(Failure::Misuse(
        "`vop exec` runs programs on Linux only: it replaces shared libraries as Linux loads them".into(),
    ))
}

#[cfg(target_os = "linux")]
pub(crate) fn run(args: Args) -> Result<Outcome, Failure> {
    let program = inspect::find(&args.command[0])?;
    if let Some(file) = &program {
        inspect::refuse_unfit(file)?;
    }
    let folder = folder::Folder::new()?;
    let mut environment: Vec<(&str, OsString)> = vec![
        ("VOP_CUDA_DEVICES", args.devices.to_string().into()),
        ("VOP_CUDA_DEVICE", args.device.clone().into()),
        ("VOP_CUDA_SEMANTICS", args.semantics.semantics.to_string().into()),
    ];
    let mut set = |name, value: Option<String>| {
        if let Some(value) = value {
            environment.push((name, value.into()));
        }
    };
    set("VOP_CUDA_CHECK", (!args.check.is_empty()).then(|| names(&args.check)));
    set("VOP_CUDA_CORES", args.cores.map(|cores| cores.to_string()));
    set("VOP_CUDA_LIMIT", args.limit.map(|limit| limit.to_string()));
    set("VOP_CUDA_TIMEOUT", args.timeout.map(|time| format!("{}ms", time.as_millis().max(1))));
    set("VOP_CUDA_MEMORY", args.memory.map(|bytes| bytes.to_string()));
    set("VOP_CUDA_PROFILE", args.profile.then(|| "1".to_owned()));
    let ended = child::run(&args.command, &folder, &environment)?;
    let found = summary::Summary::read(&args.command[0], folder.reports(), ended);
    drop(folder);
    let text = match args.format {
        Format::Text => found.text(),
        Format::Json => found.json(),
    };
    match &args.log {
        Some(path) => crate::output::write(path, text.as_bytes())?,
        None => crate::output::notice(&text),
    }
    let is_success = ended == child::Ended::Code(0);
    match args.error_exit_code.filter(|_| is_success && found.has_errors()) {
        Some(code) => Err(Failure::Code(code)),
        None => Err(ended.pass_on()),
    }
}

/// The names of checks, separated by commas.
#[cfg(target_os = "linux")]
fn names(checks: &[CheckName]) -> String {
    use clap::ValueEnum;
    let names = checks.iter().filter_map(ValueEnum::to_possible_value);
    names.map(|value| value.get_name().to_owned()).collect::<Vec<_>>().join(",")
}
