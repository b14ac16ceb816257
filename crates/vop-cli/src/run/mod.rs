//! `vop run`.

mod json;
pub(crate) mod profile;
pub(crate) mod progress;

use std::io::Write;
use std::num::NonZeroUsize;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Duration;

use vop::Severity;
use vop_run::job::{CommandLine, Comparison, Job, LaunchSummary, RunOptions, Summary, Tolerance};
use vop_run::job::{parse_bytes, parse_count, parse_time};
use vop_run::{Activity, Check, Finding, Report, RunErrorKind, RunErrors, Stop, ThreadId};

use crate::output::Format;
use crate::{Failure, Outcome, instruction, output, render};
use progress::{Launches, Watched, counted};

const LONG_ABOUT: &str = "\
Run kernels on the CPU, exactly, with every access to memory checked

One launch is described by options:

  vop run k.ptx --entry k --grid 40,23 --block 16,8 \\
      --arg in=a.npy --arg u32=640 --arg out=i32[920,2]:motion.npy

Each --arg is an argument of the kernel, in order:

  in=a.npy                  a buffer from a .npy or .png file
  in=u8[100]@a.raw          one from a raw file; the shape may be left out
  out=i32[920,2]            a buffer of zeros, which counts as not written
  out=i32[920,2]=0          one whose elements have this value
  out=i32[920,2]:out.npy    such a buffer, saved after the run; also in=a.npy:b.npy
  out                       the buffer `out` of an earlier argument, or a variable
                            that --variable names
  out+64                    its address and 64 bytes
  u32=640                   a number
  f32=0.5,1                 an array or structure passed by value

Each --variable is a variable of the module, by its name in PTX or C++:

  ns::table=a.npy           filled from a file before the launch
  table=f32:0.5,1           filled with values
  counter=u32:9:c.npy       filled, and saved after the run; also table=a.npy:b.npy
  counter=:counter.npy      saved after the run

Several launches on the same buffers are described by a launch file (TOML):

  ptx = \"motion.ptx\"

  [buffers]
  frame  = { file = \"frame.png\" }
  motion = { type = \"i32\", shape = [23, 40, 2], save = \"motion.npy\" }

  [[launch]]
  entry = \"search\"
  grid  = [40, 23]
  block = 64
  args  = [\"frame\", \"motion\", { i32 = 640 }]

Types are u8 i8 u16 i16 u32 i32 u64 i64 f16 f32 f64. Output is saved to .npy and
.png, after every launch has succeeded. What kernels print goes to standard
output. `vop explain V0612` shows all keys of launch files. docs/run.md has the
details.";

/// Run kernels on the CPU, exactly, with every access to memory checked
#[derive(clap::Args)]
#[command(long_about = LONG_ABOUT, after_help = "\
Examples:
  vop run examples/motion/motion.toml
  vop run k.ptx --grid 4 --block 64 --arg out=u32[256]:out.npy --arg u32=256
  vop run test.toml --compare out=expected.npy --check races,uninit
  vop run test.toml --check all
  vop run k.toml --profile
  vop run k.toml --trace 5,0,0:1,0,0

Exit status: 0 fine, 1 a failure or a difference, 2 what cannot be done: wrong
options, a missing file, an unknown kernel.")]
pub(crate) struct Args {
    /// A launch file (.toml), or a PTX file (.ptx) and the launch as options.
    file: PathBuf,

    /// The kernel, by its name in PTX or C++: `scale`, 'ns::scale<int>(int*)', or the end of that; may be left out if the module has one kernel.
    #[arg(long, visible_alias = "kernel", help_heading = LAUNCH)]
    entry: Option<String>,
    /// Blocks.
    #[arg(long, value_name = "X,Y,Z", help_heading = LAUNCH)]
    grid: Option<String>,
    /// Threads of a block.
    #[arg(long, value_name = "X,Y,Z", help_heading = LAUNCH)]
    block: Option<String>,
    /// An argument of the kernel, in order: NAME=FILE, NAME=TYPE[SHAPE]:SAVE, TYPE=VALUE (see --help).
    #[arg(long = "arg", value_name = "ARG", help_heading = LAUNCH)]
    args: Vec<String>,
    /// Fill or save a variable of the module: NAME=FILE, NAME=TYPE:VALUE,VALUE, NAME=:SAVE, NAME=TYPE:VALUE:SAVE (see --help).
    #[arg(long = "variable", value_name = "VARIABLE", help_heading = LAUNCH)]
    variables: Vec<String>,
    /// Bytes of dynamic shared memory: 49152, 48K.
    #[arg(long, value_name = "BYTES", value_parser = bytes, help_heading = LAUNCH)]
    shared: Option<usize>,
    /// Launch cooperatively, for kernels whose blocks wait for one another (`grid.sync()`).
    #[arg(long, help_heading = LAUNCH)]
    cooperative: bool,

    /// Save output below this folder instead of the launch file's.
    #[arg(long, value_name = "FOLDER", help_heading = RESULTS)]
    output: Option<PathBuf>,
    /// Compare a buffer with a file after the run, and fail if they differ. NAME may be left out if one buffer is saved.
    #[arg(long, value_name = "[NAME=]FILE", help_heading = RESULTS)]
    compare: Vec<String>,
    /// The absolute difference up to which elements are equal.
    #[arg(long, value_name = "NUMBER", value_parser = tolerance, default_value = "0", help_heading = RESULTS)]
    tolerance: f64,
    /// The difference in units in the last place up to which floats are equal.
    #[arg(long, value_name = "COUNT", default_value_t = 0, help_heading = RESULTS)]
    ulps: u64,

    /// Look for more, separated by commas. What is found does not stop the kernel, and the exit status is 1.
    #[arg(long, value_name = "CHECKS", value_delimiter = ',', help_heading = EXECUTION)]
    check: Vec<CheckName>,
    /// How many cores to use; all of them by default.
    #[arg(long, value_name = "COUNT", value_parser = instruction::cores, help_heading = EXECUTION)]
    cores: Option<NonZeroUsize>,
    /// Stop a launch after this number of thread-instructions, as 1e9, 1_000_000 or 10G; 100 billion by default, which take about a minute.
    #[arg(long, value_name = "COUNT", value_parser = parse_count, allow_negative_numbers = true, help_heading = EXECUTION)]
    limit: Option<u64>,
    /// Stop a launch after this time: 90, 1.5s, 500ms, 10m, 2h. There is none by default.
    #[arg(long, value_name = "TIME", value_parser = parse_time, allow_hyphen_values = true, help_heading = EXECUTION)]
    timeout: Option<Duration>,
    /// Bytes that buffers and a launch may take together, as 4G; three quarters of the machine's memory by default.
    #[arg(long, value_name = "BYTES", value_parser = parse_bytes, allow_hyphen_values = true, help_heading = EXECUTION)]
    memory: Option<u64>,
    /// Bytes of a thread's stack, as 65536 or 64K; 512K by default, which is the maximum.
    #[arg(long, value_name = "BYTES", value_parser = bytes, help_heading = EXECUTION)]
    stack: Option<usize>,
    #[command(flatten, next_help_heading = EXECUTION)]
    semantics: instruction::SemanticsArg,

    /// Print what one thread executes, with results. Its block is 0,0,0 by default.
    #[arg(long, value_name = "X,Y,Z[:BX,BY,BZ]", value_parser = thread, help_heading = INSIGHT)]
    trace: Option<ThreadId>,
    /// Print the most executed opcodes and lines.
    #[arg(long, help_heading = INSIGHT)]
    profile: bool,
    /// `text` for people, `json` for programs.
    #[arg(long, value_enum, default_value_t, help_heading = INSIGHT)]
    format: Format,
}

impl Args {
    /// The file that is run.
    pub(crate) fn input(&self) -> &Path {
        &self.file
    }
}

const LAUNCH: &str = "Launch of a PTX file";
const RESULTS: &str = "Results";
const EXECUTION: &str = "Execution";
const INSIGHT: &str = "Insight";

/// Checks on request.
#[derive(Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
enum CheckName {
    /// Races on shared and global memory.
    Races,
    /// Reads of shared memory, `malloc`'s memory and buffers without contents that nothing wrote.
    Uninit,
    /// Lanes of a warp that do not come together: `shfl`, masks, `activemask`.
    Warp,
    /// Uses of `malloc`'s memory after `free` or beyond its end, and leaks.
    Heap,
    /// All of these.
    All,
}

impl CheckName {
    fn checks(self) -> &'static [Check] {
        match self {
            CheckName::Races => &[Check::Races],
            CheckName::Uninit => &[Check::Uninit],
            CheckName::Warp => &[Check::Warp],
            CheckName::Heap => &[Check::Heap],
            CheckName::All => Check::ALL,
        }
    }
}

fn bytes(text: &str) -> Result<usize, String> {
    usize::try_from(parse_bytes(text)?).map_err(|_| format!("`{text}` does not fit the address space"))
}

fn tolerance(text: &str) -> Result<f64, String> {
    let number = text.parse().ok().filter(|number: &f64| *number >= 0.0);
    number.ok_or_else(|| "a tolerance is a number from 0".to_owned())
}

/// `X,Y,Z` or `X,Y,Z:BX,BY,BZ`; axes may be left out from the end, and are 0.
fn thread(text: &str) -> Result<ThreadId, String> {
    let place = |text: &str| {
        let numbers = text.split(',').map(|number| number.trim().parse().ok());
        let numbers = numbers.collect::<Option<Vec<u32>>>().filter(|numbers| numbers.len() <= 3);
        let numbers = numbers.ok_or("write a thread as x,y,z, and its block behind a colon: 5,0,0:1,0,0")?;
        Ok::<[u32; 3], &str>([0, 1, 2].map(|axis| numbers.get(axis).copied().unwrap_or(0)))
    };
    let (thread, block) = text.split_once(':').unwrap_or((text, "0"));
    Ok(ThreadId { thread: place(thread)?, block: place(block)? })
}

pub(crate) fn run(args: Args) -> Result<Outcome, Failure> {
    let mut command_line = String::new();
    let (result, printed) = match job(&args, &mut command_line)? {
        Ok(job) => execute(&job, &args)?,
        Err(errors) => (Err(errors), String::new()),
    };
    let mut out = output::stdout();
    if let Format::Json = args.format {
        let text = json::run(&result, &printed);
        writeln!(out, "{text:#}")?;
        out.flush()?;
    }
    let summary = match result {
        Ok((summary, ptx)) => {
            if let Format::Text = args.format {
                out.write_all(describe(&summary, &ptx).as_bytes())?;
                out.flush()?;
                order_notes(&summary, &ptx);
                findings(&summary);
            }
            summary
        }
        Err(errors) => {
            if let Format::Text = args.format {
                for error in &errors.0 {
                    if !error.trace.is_empty() {
                        writeln!(out, "{}", error.trace.join("\n"))?;
                        out.flush()?;
                    }
                    output::notice(&render::run_error(error, &command_line));
                }
            }
            return Err(if errors.0.iter().any(|error| error.kind == RunErrorKind::Stopped) {
                Failure::Interrupted
            } else if cannot_be_done(&errors) {
                Failure::Impossible
            } else {
                Failure::Said
            });
        }
    };
    let different: Vec<&Comparison> = summary.comparisons.iter().filter(|c| c.differing > 0).collect();
    if let Format::Text = args.format {
        different.iter().for_each(|comparison| output::error(&difference(comparison)));
    }
    let is_fine = different.is_empty() && !summary.launches.iter().any(|launch| launch.report.has_errors());
    Ok(if is_fine { Outcome::Fine } else { Outcome::Findings })
}

/// Whether the call is wrong, rather than the kernel: what it names is missing, or does not fit.
fn cannot_be_done(errors: &RunErrors) -> bool {
    use RunErrorKind::{Argument, CommandLine, File, LaunchFile, LaunchShape, UnknownEntry};
    let of_call = [Argument, CommandLine, File, LaunchFile, LaunchShape, UnknownEntry];
    errors.0.iter().all(|error| of_call.contains(&error.kind))
}

/// The results of a run with the path of its PTX, or its errors.
type Ran = Result<(Summary, PathBuf), RunErrors>;

/// The job that the arguments describe, or the errors in its description. Errors without a file point into `command_line`.
fn job(args: &Args, command_line: &mut String) -> Result<Result<Job, RunErrors>, Failure> {
    let extension = args.file.extension().and_then(|extension| extension.to_str()).map(str::to_ascii_lowercase);
    let job = match extension.as_deref() {
        Some("toml") => {
            let given = [
                ("--entry", args.entry.is_some()),
                ("--grid", args.grid.is_some()),
                ("--block", args.block.is_some()),
                ("--arg", !args.args.is_empty()),
                ("--variable", !args.variables.is_empty()),
                ("--shared", args.shared.is_some()),
                ("--cooperative", args.cooperative),
            ];
            if let Some((option, _)) = given.iter().find(|(_, given)| *given) {
                let file = args.file.display();
                return Err(Failure::Misuse(format!("`{option}` goes with a .ptx file: {file} says it itself")));
            }
            Job::read(&args.file)
        }
        Some("ptx") => {
            if let Err(error) = std::fs::metadata(&args.file) {
                return Err(Failure::Misuse(format!("cannot read {}: {error}", args.file.display())));
            }
            let (Some(grid), Some(block)) = (&args.grid, &args.block) else {
                return Err(Failure::Misuse(
                    "a .ptx file needs `--grid` and `--block`: --grid 40,23 --block 64".to_owned(),
                ));
            };
            let line = CommandLine {
                ptx: args.file.clone(),
                entry: args.entry.clone(),
                grid: grid.clone(),
                block: block.clone(),
                shared: args.shared.unwrap_or(0),
                cooperative: args.cooperative,
                args: args.args.clone(),
                variables: args.variables.clone(),
            };
            *command_line = line.text();
            line.job()
        }
        _ => {
            let file = args.file.display();
            return Err(Failure::Misuse(format!("{file} is neither a launch file (.toml) nor PTX (.ptx)")));
        }
    };
    let mut job = match job {
        Ok(job) => job,
        Err(errors) => return Ok(Err(errors)),
    };
    for comparison in &args.compare {
        if let Err(error) = job.expect(comparison) {
            return Ok(Err(error.into()));
        }
    }
    for (option, given) in [("--tolerance", args.tolerance > 0.0), ("--ulps", args.ulps > 0)] {
        if given && !job.compares() {
            let why = "nothing is compared: `--compare` names a file, and so does `expect` in a launch file";
            return Err(Failure::Misuse(format!("`{option}` has no effect: {why}")));
        }
    }
    if let Some(thread) = args.trace.filter(|thread| !job.has_thread(*thread)) {
        return Err(Failure::Misuse(format!("no launch has {thread}")));
    }
    Ok(Ok(job))
}

/// Runs a job. What kernels print goes to standard output at once, or is returned if the output is for programs.
fn execute(job: &Job, args: &Args) -> Result<(Ran, String), Failure> {
    let mut options = RunOptions::default();
    options.output = args.output.clone();
    options.tolerance = Tolerance { absolute: args.tolerance, ulps: args.ulps };
    let launch = &mut options.launch;
    launch.instructions = args.limit.unwrap_or(launch.instructions);
    launch.timeout = args.timeout;
    launch.memory = args.memory;
    let stop = Stop::default();
    launch.stop = Some(Arc::clone(&stop));
    launch.stack = args.stack.unwrap_or(launch.stack);
    launch.cores = args.cores.map(NonZeroUsize::get);
    launch.semantics = args.semantics.semantics;
    args.check.iter().flat_map(|name| name.checks()).for_each(|check| launch.check(*check));
    launch.profile = args.profile;
    launch.trace = args.trace;
    let done = Arc::default();
    launch.progress = Some(Arc::clone(&done));
    let activity = Activity::default();
    launch.activity = Some(activity.clone());
    end_on_interrupt(stop, activity.clone())?;
    let launches = Launches { activity, count: job.launches(), limit: launch.instructions, timeout: launch.timeout };
    let watched = Watched { done, blocks: job.blocks(), launches: Some(launches) };
    let mut held = String::new();
    let mut line_open = false;
    let mut written = Ok(());
    let result = progress::watch(watched, |bar| {
        job.run(&options, &mut |text| match args.format {
            Format::Json => held.push_str(text),
            Format::Text if written.is_ok() => {
                written = bar.suspend(|| print(text));
                line_open = !text.ends_with('\n');
            }
            Format::Text => {}
        })
    });
    written?;
    if line_open {
        print("\n")?;
    }
    Ok((result.map(|summary| (summary, job.ptx().to_owned())), held))
}

/// Ends a launch that runs when the user interrupts it, within a fraction of a second. Between launches, and the second time, the process
/// ends at once: nothing is lost, as files are written under other names first.
fn end_on_interrupt(stop: Stop, activity: Activity) -> Result<(), Failure> {
    let interrupt = move || {
        if stop.swap(true, Ordering::Relaxed) || activity.now().is_none() {
            std::process::exit(130);
        }
    };
    ctrlc::set_handler(interrupt).map_err(|error| Failure::Failed(error.to_string()))
}

fn print(text: &str) -> std::io::Result<()> {
    let mut out = output::stdout();
    out.write_all(text.as_bytes())?;
    out.flush()
}

/// `40x23` for 40, 23, 1.
fn size(size: [u32; 3]) -> String {
    let axes = size.iter().rposition(|n| *n != 1).map_or(1, |last| last + 1);
    size.iter().take(axes).map(u32::to_string).collect::<Vec<_>>().join("x")
}

fn describe(summary: &Summary, ptx: &Path) -> String {
    let mut text = String::new();
    for launch in &summary.launches {
        text.push_str(&trace(launch));
    }
    text.push_str(&launches(&summary.launches, output::width()));
    for file in &summary.files {
        text.push_str(&format!("wrote {}\n", file.display()));
    }
    for comparison in summary.comparisons.iter().filter(|comparison| comparison.differing == 0) {
        let bounds = if comparison.greatest == 0.0 { "" } else { " within the tolerance" };
        text.push_str(&format!("`{}` equals {}{bounds}\n", comparison.buffer, comparison.file.display()));
    }
    for launch in &summary.launches {
        if let Some(found) = &launch.report.profile {
            text.push_str(&profile::tables(
                &vop_run::demangled_name(&launch.entry),
                found.statements.iter().map(Into::into),
                ptx,
            ));
        }
    }
    text
}

/// One row of the table: a launch, or all repetitions of one.
struct Row {
    kernel: String,
    grid: String,
    block: String,
    instructions: u64,
    video: u64,
    seconds: f64,
}

/// The rows of launches: those that `for` repeats are one.
fn rows(launches: &[LaunchSummary]) -> Vec<Row> {
    let together = launches.chunk_by(|a, b| a.index == b.index && !a.round.is_empty());
    let row = |launches: &[LaunchSummary]| {
        let first = launches.first()?;
        let name = vop_run::demangled_name(&first.entry);
        let kernel = if launches.len() > 1 { format!("{name} x{}", launches.len()) } else { name.into_owned() };
        let sizes = |of: fn(&LaunchSummary) -> [u32; 3]| match launches.iter().all(|launch| of(launch) == of(first)) {
            true => size(of(first)),
            false => "various".to_owned(),
        };
        Some(Row {
            kernel,
            grid: sizes(|launch| launch.grid),
            block: sizes(|launch| launch.block),
            instructions: launches.iter().map(|launch| launch.report.instructions).sum(),
            video: launches.iter().map(|launch| launch.report.video).sum(),
            seconds: launches.iter().map(|launch| launch.time.as_secs_f64()).sum(),
        })
    };
    together.filter_map(row).collect()
}

/// A table of launches; in a terminal that is too narrow for it, two lines for each.
fn launches(launches: &[LaunchSummary], width: usize) -> String {
    let rows = rows(launches);
    let name = rows.iter().map(|row| row.kernel.chars().count()).max().unwrap_or(0).max(6);
    let header = format!(
        "{:<name$} {:>10} {:>9} {:>20} {:>15} {:>8}\n",
        "kernel", "blocks", "threads", "thread-instructions", "video", "seconds"
    );
    // 80 columns are also what is assumed where there is no terminal, and long names make lines longer.
    let is_table = width >= 80 || header.chars().count() <= width;
    let mut text = if is_table { header } else { String::new() };
    for Row { kernel, grid, block, instructions, video, seconds } in rows {
        let (instructions, video) = (vop::grouped(instructions), vop::grouped(video));
        text.push_str(&if is_table {
            format!("{kernel:<name$} {grid:>10} {block:>9} {instructions:>20} {video:>15} {seconds:>8.2}\n")
        } else {
            let plural = |size: &str| if size == "1" { "" } else { "s" };
            let (blocks, threads) = (plural(&grid), plural(&block));
            format!(
                "{kernel}: {grid} block{blocks} of {block} thread{threads}\n  {instructions} thread-instructions, {video} video\n  {seconds:.2} s\n"
            )
        });
    }
    text
}

fn trace(launch: &LaunchSummary) -> String {
    let Report { trace, .. } = &launch.report;
    if trace.is_empty() {
        return String::new();
    }
    let round: Vec<String> = launch.round.iter().map(|(name, value)| format!("{name} = {value}")).collect();
    let round = if round.is_empty() { String::new() } else { format!(" with {}", round.join(", ")) };
    format!("trace of `{}`{round}:\n{}\n\n", vop_run::demangled_name(&launch.entry), trace.join("\n"))
}

fn difference(comparison: &Comparison) -> String {
    let mut text = format!(
        "`{}` differs from {} in {} of {}",
        comparison.buffer,
        comparison.file.display(),
        vop::grouped(comparison.differing as u64),
        counted(comparison.elements as u64, "element"),
    );
    if let Some(first) = &comparison.first {
        text.push_str(&format!("; first at {:?}: {}, expected {}", first.index, first.found, first.expected));
    }
    if comparison.differing > 1 {
        text.push_str(&format!("; the greatest difference is {}", comparison.greatest));
    }
    text
}

/// What was found while the launches ran on.
fn findings(summary: &Summary) {
    // Launches of one kernel mostly find the same at the same statements.
    let mut all: Vec<(&str, Finding)> = Vec::new();
    for LaunchSummary { entry, report, .. } in &summary.launches {
        for found in &report.findings {
            let alike = |(of, other): &&mut (&str, Finding)| *of == entry && other.is_like(found);
            match all.iter_mut().find(alike) {
                Some((_, other)) => other.count += found.count,
                None => all.push((entry, found.clone())),
            }
        }
        if report.findings_left_out > 0 {
            let count = counted(report.findings_left_out, "finding");
            output::notice(&format!("\x1b[1;32mnote\x1b[0m: `{entry}` has {count} at other places\n"));
        }
    }
    // Without the check one note for each kernel says that lanes are read that do not take part.
    let is_unasked =
        |finding: &Finding| finding.error.kind == RunErrorKind::MissingLane && finding.severity == Severity::Note;
    let mut said: Vec<&str> = Vec::new();
    for (entry, finding) in &all {
        if !is_unasked(finding) {
            output::notice(&render::finding(finding, None));
        } else if !said.contains(entry) {
            said.push(entry);
            let same = all.iter().filter(|(other, finding)| other == entry && is_unasked(finding));
            let (places, count) = same.fold((0, 0), |(places, count), (_, found)| (places + 1, count + found.count));
            let more = format!(
                "{} at {} in `{entry}`; `--check warp` makes them errors and shows all",
                counted(count, "such read"),
                counted(places, "place"),
            );
            output::notice(&render::finding(finding, Some(more)));
        }
    }
}

/// Names the launches whose result may depend on the order of blocks.
fn order_notes(summary: &Summary, ptx: &Path) {
    let mut said: Vec<&str> = Vec::new();
    for LaunchSummary { entry, report, .. } in &summary.launches {
        let lines: Vec<String> = report.order_dependent.iter().map(usize::to_string).collect();
        let (Some((last, first)), false) = (lines.split_last(), said.contains(&entry.as_str())) else { continue };
        said.push(entry);
        let lines =
            if first.is_empty() { format!("line {last}") } else { format!("lines {} and {last}", first.join(", ")) };
        output::notice(&format!(
            "\x1b[1;32mnote\x1b[0m: the order of blocks may show in the result of `{}`: atomics at {lines} of {}; `--cores 1` fixes it\n",
            vop_run::demangled_name(entry),
            ptx.display()
        ));
    }
}
