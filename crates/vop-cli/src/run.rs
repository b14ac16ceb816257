//! `vop run`.

use std::io::Write;
use std::path::PathBuf;

use vop_ptx::run::{RunOptions, Summary, run_launch_file};

use crate::{Failure, Outcome, instruction, output, render};

const LONG_ABOUT: &str = "\
Run kernels on the CPU, as a launch file says

A launch file (TOML) names the PTX, its buffers and its launches:

  ptx = \"motion.ptx\"

  [buffers]
  frame  = { file = \"frame.png\" }
  motion = { type = \"i32\", shape = [23, 40, 2], save = \"motion.npy\" }

  [[launch]]
  entry = \"search\"
  grid  = [40, 23]
  block = 64
  args  = [\"frame\", \"motion\", { i32 = 640 }]

Input is read from .npy, .png and, where type and shape are given, raw files.
Output is saved to .npy and .png, and only if everything ran.
Every access to memory is checked. `vop explain V0612` shows all keys.";

/// Run kernels on the CPU, as a launch file says
#[derive(clap::Args)]
#[command(long_about = LONG_ABOUT, after_help = "\
Example:
  vop run examples/motion/motion.toml")]
pub(crate) struct Args {
    /// The launch file.
    launch: PathBuf,
    /// Save output below this folder instead of the launch file's.
    #[arg(long, value_name = "FOLDER")]
    output: Option<PathBuf>,
    /// Stop a launch after this many thread-instructions; 100 billion if not given.
    #[arg(long, value_name = "COUNT")]
    limit: Option<u64>,
    #[command(flatten)]
    semantics: instruction::SemanticsArg,
}

pub(crate) fn run(args: Args) -> Result<Outcome, Failure> {
    let options = RunOptions { output: args.output, instructions: args.limit, semantics: args.semantics.semantics };
    match run_launch_file(&args.launch, &options) {
        Ok(summary) => {
            let mut out = output::stdout();
            out.write_all(describe(&summary).as_bytes())?;
            out.flush()?;
            Ok(Outcome::Fine)
        }
        Err(errors) => {
            for error in &errors.0 {
                output::notice(&render::run_error(error));
            }
            Err(Failure::Said)
        }
    }
}

fn describe(summary: &Summary) -> String {
    let mut text = String::new();
    for launch in &summary.launches {
        let [x, y, z] = launch.grid;
        let [bx, by, bz] = launch.block;
        text.push_str(&format!(
            "{:<16} grid {:<12} block {:<10} {:>14} thread-instructions, {} of them video, in {:.2} s\n",
            launch.entry,
            format!("{x}x{y}x{z}"),
            format!("{bx}x{by}x{bz}"),
            output::grouped(launch.report.instructions),
            output::grouped(launch.report.video),
            launch.time.as_secs_f64(),
        ));
    }
    for file in &summary.files {
        text.push_str(&format!("wrote {}\n", file.display()));
    }
    text
}
