//! `cargo xtask build-times`.

use std::io::{self, Write as _};
use std::path::{Path, PathBuf};
use std::process::Command;

use xtask::section;

use super::Failure;
use super::process::{cargo, output, root, starts, succeed, write};

/// Measure what builds from nothing cost, and print the table of docs/performance.md.
///
/// It takes the sum of all builds, tens of minutes; nothing else should run on the machine. Packages are downloaded before, and that is not
/// counted.
#[derive(clap::Args)]
pub(crate) struct Args {
    /// Measure the builds alone whose names contain this.
    #[arg(long, value_name = "TEXT")]
    only: Option<String>,
    /// Write the table into docs/performance.md.
    #[arg(long, conflicts_with = "only")]
    write: bool,
}

/// What is built.
enum Build {
    /// A cargo command in the repository.
    Here(&'static [&'static str]),
    /// A project with one line of code that depends on a crate of the repository, in release.
    Project(&'static str, &'static [&'static str]),
    /// The wheel of the Python package.
    Wheel,
}

/// Name, build, what it took before builds were made smaller (November 2026), and what it may take: seconds of the clock on two cores.
const BUILDS: [(&str, Build, Option<u32>, Option<u32>); 9] = [
    (
        "the command, as the README builds it",
        Build::Here(&["build", "--release", "--package", "vop-cli"]),
        Some(346),
        Some(180),
    ),
    (
        "the command with all features",
        Build::Here(&["build", "--release", "--package", "vop-cli", "--all-features"]),
        Some(346),
        None,
    ),
    ("a project on vop", Build::Project("vop", &[]), None, Some(15)),
    ("a project on vop with `bulk`", Build::Project("vop", &["bulk"]), None, None),
    ("a project on vop-ptx", Build::Project("vop-ptx", &[]), None, None),
    ("a project on vop-run", Build::Project("vop-run", &[]), Some(346), None),
    ("the Python wheel", Build::Wheel, Some(660), Some(150)),
    ("the tests, not run", Build::Here(&["test", "--workspace", "--all-features", "--no-run"]), None, None),
    ("xtask", Build::Here(&["build", "--package", "xtask"]), None, None),
];

pub(crate) fn run(args: Args) -> Result<(), Failure> {
    let root = root()?;
    succeed(Command::new(cargo()).args(["fetch", "--quiet", "--locked"]).current_dir(&root))?;
    let mut table = "\
| build from nothing | clock, s | CPU, s | limit, s | before, s |
| --- | --- | --- | --- | --- |
"
    .to_owned();
    io::stdout().write_all(table.as_bytes())?;
    for (name, build, before, limit) in BUILDS {
        if args.only.as_ref().is_some_and(|only| !name.contains(only)) {
            continue;
        }
        let [limit, before] = [limit, before].map(|limit| limit.map(|limit| limit.to_string()).unwrap_or_default());
        let row = match measure(&root, &build)? {
            Some([clock, cpu]) => format!("| {name} | {clock:.0} | {cpu:.0} | {limit} | {before} |\n"),
            None => {
                writeln!(io::stderr(), "skipped: {name}, since maturin is neither on the PATH nor in target/python")?;
                continue;
            }
        };
        io::stdout().write_all(row.as_bytes())?;
        table.push_str(&row);
    }
    if args.write {
        let path = root.join("docs/performance.md");
        let page = std::fs::read_to_string(&path)?;
        write(&path, section::replaced(&page, "build times", &measured(&root, &table)?)?)?;
    }
    Ok(())
}

/// The seconds of the clock and of all processors that a build from nothing takes; `None` where its tool is not here.
fn measure(root: &Path, build: &Build) -> Result<Option<[f64; 2]>, Failure> {
    let scratch = tempfile::Builder::new().prefix("build-times").tempdir_in(root.join("target"))?;
    let target = scratch.path().join("target");
    match build {
        Build::Here(arguments) => time(Command::new(cargo()).args(*arguments).arg("--locked"), root, &target),
        Build::Project(package, features) => {
            let folder = scratch.path().join("project");
            project(root, &folder, package, features)?;
            time(Command::new(cargo()).args(["build", "--release", "--offline"]), &folder, &target)
        }
        Build::Wheel => {
            let here = root.join("target/python/bin/maturin");
            let maturin = if here.exists() { here } else { PathBuf::from("maturin") };
            if !starts(&maturin, "--version") {
                return Ok(None);
            }
            let mut command = Command::new(maturin);
            command.args(["build", "--release", "--locked", "--out"]).arg(scratch.path().join("wheels"));
            time(&mut command, &root.join("crates/vop-python"), &target)
        }
    }
    .map(Some)
}

/// A project that depends on one crate, with the versions of Cargo.lock.
fn project(root: &Path, folder: &Path, package: &str, features: &[&str]) -> Result<(), Failure> {
    std::fs::create_dir_all(folder.join("src"))?;
    let path = root.join("crates").join(package);
    let manifest = format!(
        "[workspace]\n[package]\nname = \"project\"\nversion = \"0.0.0\"\nedition = \"2024\"\n\n[dependencies]\n{package} = {{ path = {path:?}, features = {features:?} }}\n",
    );
    write(&folder.join("Cargo.toml"), manifest)?;
    write(&folder.join("src/main.rs"), format!("use {} as _;\n\nfn main() {{}}\n", package.replace('-', "_")))?;
    std::fs::copy(root.join("Cargo.lock"), folder.join("Cargo.lock"))?;
    Ok(())
}

/// Runs a build, whose messages go where ours go, and times it with bash.
fn time(command: &mut Command, folder: &Path, target: &Path) -> Result<[f64; 2], Failure> {
    let report = target.with_extension("time");
    let mut bash = Command::new("bash");
    bash.args(["-c", "TIMEFORMAT='%R %U %S'; report=$1; shift; { time \"$@\" 2>&3; } 3>&2 2>\"$report\"", "bash"])
        .arg(&report);
    bash.arg(command.get_program()).args(command.get_args()).current_dir(folder);
    bash.env("CARGO_TARGET_DIR", target).env_remove("RUSTFLAGS").env_remove("CARGO_INCREMENTAL");
    succeed(&mut bash)?;
    let text = std::fs::read_to_string(&report)?;
    let numbers: Result<Vec<f64>, _> = text.split_whitespace().map(str::parse).collect();
    match numbers.as_deref() {
        Ok([clock, user, system]) => Ok([*clock, user + system]),
        _ => Err(format!("bash says {text:?} instead of three times").into()),
    }
}

/// The table, and what it was measured on.
fn measured(root: &Path, table: &str) -> Result<String, Failure> {
    let rust = output(Command::new("rustc").arg("--version").current_dir(root))?;
    let date = output(Command::new("date").args(["--utc", "+%Y-%m-%d"]))?;
    let processors = std::fs::read_to_string("/proc/cpuinfo").unwrap_or_default();
    let processor = processors.lines().find_map(|line| line.strip_prefix("model name")?.split_once(": "));
    let processor = processor.map_or("A processor", |(_, name)| name);
    let cores = std::thread::available_parallelism()?;
    Ok(format!("{table}\n{processor}, {cores} cores, {}, {}.\n", rust.trim(), date.trim()))
}
