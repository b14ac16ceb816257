//! `cargo xtask dist`.

use std::ffi::OsString;
use std::fmt::Write as _;
use std::io::{self, Write as _};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use sha2::{Digest, Sha256};

use super::Failure;
use super::graph::Graph;
use super::licences::texts;
use super::process::{archive, cargo, output, root, starts, succeed, write};
use super::sbom::sbom;

/// Build what a release consists of: archives of the command, wheels, a source distribution, bills of materials and checksums.
///
/// Everything is linked by zig, which PyPI has, so that one machine builds for all targets and binaries run with old C libraries. What
/// cannot be built or tried on this machine is named in one line and left out.
#[derive(clap::Args)]
pub(crate) struct Args {
    /// Build for this target alone; may be repeated.
    #[arg(long = "target", value_name = "TARGET", value_parser = target)]
    targets: Vec<&'static Target>,
    /// Build no Python package.
    #[arg(long)]
    no_python: bool,
    /// Build no archive of the command.
    #[arg(long, conflicts_with = "no_python")]
    no_command: bool,
    /// Fail where something cannot be built or tried here.
    #[arg(long)]
    require: bool,
    /// The folder to write to. What it holds is deleted.
    #[arg(long, value_name = "FOLDER", default_value = "target/dist")]
    out: PathBuf,
}

/// What a release is built for.
#[derive(Debug)]
pub(crate) struct Target {
    triple: &'static str,
    /// The oldest glibc that it must run with.
    glibc: Option<&'static str>,
}

/// 2.17 is the oldest glibc that Rust's standard library runs with, and that of `manylinux2014`.
const TARGETS: [Target; 3] = [
    Target { triple: "x86_64-unknown-linux-gnu", glibc: Some("2.17") },
    Target { triple: "x86_64-unknown-linux-musl", glibc: None },
    Target { triple: "aarch64-unknown-linux-gnu", glibc: Some("2.17") },
];

fn target(triple: &str) -> Result<&'static Target, String> {
    let list = || TARGETS.map(|target| target.triple).join(", ");
    TARGETS.iter().find(|target| target.triple == triple).ok_or_else(|| format!("releases are for {}", list()))
}

pub(crate) fn run(args: Args) -> Result<(), Failure> {
    let root = root()?;
    let out = std::path::absolute(root.join(&args.out))?;
    if out.exists() {
        std::fs::remove_dir_all(&out)?;
    }
    std::fs::create_dir_all(&out)?;
    let version = version(&root)?;
    let mut dist = Dist { tools: tools(&root)?, root, out, version, left_out: Vec::new() };
    let targets = if args.targets.is_empty() { TARGETS.iter().collect() } else { args.targets };
    let targets: Vec<&Target> = targets.into_iter().filter(|target| dist.has(target)).collect();
    if !args.no_command {
        dist.archives(&targets)?;
    }
    if !args.no_python {
        dist.python(&targets)?;
    }
    dist.checksums()?;
    match &dist.left_out[..] {
        left_out if args.require && !left_out.is_empty() => Err(format!("not done:\n{}", left_out.join("\n")).into()),
        _ => Ok(()),
    }
}

/// A release in the making.
struct Dist {
    root: PathBuf,
    out: PathBuf,
    /// The folder of the programs of dist-requirements.txt.
    tools: PathBuf,
    version: String,
    /// What could not be done, and why.
    left_out: Vec<String>,
}

impl Dist {
    /// Whether Rust's standard library is here for a target, or can be had.
    fn has(&mut self, target: &Target) -> bool {
        let triple = target.triple;
        let added = Command::new("rustup")
            .args(["target", "add", triple])
            .stderr(Stdio::null())
            .current_dir(&self.root)
            .status();
        let added = added.is_ok_and(|status| status.success());
        if !added {
            self.leave_out(format!("{triple}: `rustup target add {triple}` fails"));
        }
        added
    }

    fn leave_out(&mut self, what: String) {
        say(&format!("left out: {what}"));
        self.left_out.push(what);
    }

    /// Runs a program of the tools, with release flags.
    fn tool(&self, name: &str, target: &Target) -> Command {
        let mut command = Command::new(self.tools.join(name));
        let mut path = OsString::from(&self.tools);
        if let Some(old) = std::env::var_os("PATH") {
            path.push(":");
            path.push(old);
        }
        // No binary tells where it was built.
        let home = std::env::var_os("CARGO_HOME").map(PathBuf::from);
        let home = home.or_else(|| Some(PathBuf::from(std::env::var_os("HOME")?).join(".cargo")));
        let folders = [(home, "/cargo"), (Some(self.root.clone()), "/vop")];
        let remap = |(folder, name): (Option<PathBuf>, &str)| {
            folder.map(|folder| format!("--remap-path-prefix={}={name}", folder.display()))
        };
        let flags: Vec<String> = folders.into_iter().filter_map(remap).collect();
        command
            .env("PATH", path)
            .env_remove("RUSTFLAGS")
            .env("CARGO_ENCODED_RUSTFLAGS", flags.join("\x1f"))
            .env("CARGO", cargo());
        // One folder of cargo's for all: its tests' flags are others.
        command.env("CARGO_TARGET_DIR", self.root.join("target/dist-build").join(target.triple));
        command
    }

    /// Builds, tries and packs the command for each target.
    fn archives(&mut self, targets: &[&Target]) -> Result<(), Failure> {
        let mut built = Vec::new();
        for target in targets {
            say(&format!("vop for {}", target.triple));
            let full = target.glibc.map_or(target.triple.to_owned(), |glibc| format!("{}.{glibc}", target.triple));
            let mut build = self.tool("cargo-zigbuild", target);
            build.args([
                "zigbuild",
                "--release",
                "--locked",
                "--all-features",
                "--package",
                "vop-cli",
                "--bin",
                "vop",
                "--target",
                &full,
            ]);
            succeed(build.current_dir(&self.root))?;
            let binary =
                self.root.join("target/dist-build").join(target.triple).join(target.triple).join("release/vop");
            match runner(target) {
                Some(runner) => self.try_command(&runner, &binary)?,
                None => self.leave_out(format!(
                    "trying vop for {}, which needs qemu-aarch64 and libc6-dev-arm64-cross",
                    target.triple
                )),
            }
            built.push((*target, binary));
        }
        let Some((by, documenter)) = built.iter().find_map(|(target, binary)| Some((runner(target)?, binary))) else {
            return if built.is_empty() {
                Ok(())
            } else {
                Err("no binary for this machine was built, which writes man pages and completions".into())
            };
        };
        let documents = tempfile::tempdir()?;
        write_documents(&by, documenter, documents.path())?;
        for (target, binary) in &built {
            self.pack(target, binary, documents.path())?;
        }
        Ok(())
    }

    /// Whether a binary works: a scalar, loops over arrays, a kernel.
    fn try_command(&self, runner: &[OsString], binary: &Path) -> Result<(), Failure> {
        let scratch = tempfile::tempdir()?;
        let check = |arguments: &[&str], expected: &str| -> Result<(), Failure> {
            let found = output(run_by(runner, binary).args(arguments).current_dir(self.root.join("examples")))?;
            if found.trim() == expected {
                Ok(())
            } else {
                Err(format!("{} {arguments:?} says {found:?} and not {expected:?}", binary.display()).into())
            }
        };
        check(&["--version"], &format!("vop {}", self.version))?;
        check(&["eval", "vadd.u32.s32.s32.sat.min d, a.h0, b.h1, c", "-1", "0x50000", "255"], "0x00000004")?;
        let frames = ["motion/frame0.png", "motion/frame1.png"];
        check(&["map", "vabsdiff4.u32.u32.u32.add", frames[0], frames[1], "0", "--reduce", "add"], "1935234")?;
        let mut kernel = run_by(runner, binary);
        kernel.args(["run", "histogram/histogram.ptx", "--entry", "histogram", "--grid", "20", "--block", "256"]);
        kernel.args(["--arg", &format!("image={}", frames[0]), "--arg", "i32=230400"]);
        kernel.args(["--arg", "counts=u32[256]:counts.npy", "--output"]).arg(scratch.path());
        output(kernel.current_dir(self.root.join("examples")))?;
        // All pixels are counted.
        let counts = std::fs::read(scratch.path().join("counts.npy"))?;
        let words = counts.len().checked_sub(1024).map(|start| counts[start..].chunks_exact(4));
        let pixels: u32 =
            words.into_iter().flatten().map(|word| u32::from_le_bytes([word[0], word[1], word[2], word[3]])).sum();
        if pixels != 230_400 {
            return Err(format!("{} counts {pixels} pixels of 230400", binary.display()).into());
        }
        Ok(())
    }

    /// Packs a binary with what belongs to it.
    fn pack(&self, target: &Target, binary: &Path, documents: &Path) -> Result<(), Failure> {
        let name = format!("vop-{}-{}", self.version, target.triple);
        let staging = tempfile::tempdir()?;
        let folder = staging.path().join(&name);
        copy(documents, &folder)?;
        std::fs::copy(binary, folder.join("vop"))?;
        std::fs::copy(self.root.join("crates/vop-cli/README.md"), folder.join("README.md"))?;
        for file in ["LICENSE-MIT", "LICENSE-APACHE", "CHANGELOG.md"] {
            std::fs::copy(self.root.join(file), folder.join(file))?;
        }
        write(&folder.join("LICENSE-THIRD-PARTY"), texts(&self.root, "vop-cli", target.triple)?)?;
        let bom = sbom(&self.root, "vop-cli", target.triple)?;
        write(&folder.join("vop.cdx.json"), &bom)?;
        write(&self.out.join(format!("{name}.cdx.json")), &bom)?;
        archive(&self.out.join(format!("{name}.tar.gz")), staging.path(), &name)
    }

    /// Builds the wheels and the source distribution, and tests the wheel that this machine can load.
    fn python(&mut self, targets: &[&Target]) -> Result<(), Failure> {
        let package = self.root.join("crates/vop-python");
        let wheels = self.out.join("python");
        // The licence files of pyproject.toml are found by a pattern that takes this one in.
        let third_party = package.join("LICENSE-THIRD-PARTY");
        for target in targets.iter().filter(|target| target.glibc.is_some()) {
            say(&format!("wheel for {}", target.triple));
            write(&third_party, texts(&self.root, "vop-python", target.triple)?)?;
            let mut build = self.tool("maturin", target);
            build.args([
                "build",
                "--release",
                "--locked",
                "--zig",
                "--compatibility",
                "manylinux2014",
                "--target",
                target.triple,
                "--out",
            ]);
            let done = succeed(build.arg(&wheels).current_dir(&package));
            std::fs::remove_file(&third_party)?;
            done?;
            if is_native(target) {
                self.test_wheel(&package, &wheels)?;
            } else {
                self.leave_out(format!("trying the wheel for {}, which needs a Python there", target.triple));
            }
        }
        if let Some(target) = targets.first() {
            succeed(self.tool("maturin", target).args(["sdist", "--out"]).arg(&wheels).current_dir(&package))?;
        }
        Ok(())
    }

    /// Installs the wheel for this machine in an environment that holds nothing else, and runs the package's tests.
    fn test_wheel(&self, package: &Path, wheels: &Path) -> Result<(), Failure> {
        let environment = tempfile::tempdir()?;
        succeed(Command::new("python3").args(["-m", "venv"]).arg(environment.path()))?;
        let python = environment.path().join("bin/python");
        let pip = |arguments: &[&str]| {
            let mut command = Command::new(&python);
            command.args(["-m", "pip", "install", "--quiet", "--disable-pip-version-check"]).args(arguments);
            command
        };
        // From its name, as users install it: pip takes the wheel of this machine.
        succeed(pip(&["--pre", "vop", "--no-index", "--no-deps", "--find-links"]).arg(wheels))?;
        succeed(pip(&["--requirement", "requirements-test.txt"]).current_dir(package))?;
        succeed(Command::new(&python).args(["-m", "pip", "check"]).stdout(Stdio::null()))?;
        succeed(Command::new(&python).args(["-m", "pytest", "--quiet", "-p", "no:cacheprovider"]).current_dir(package))
    }

    /// Writes SHA256SUMS, as `sha256sum --check` reads it, and lists the files.
    fn checksums(&self) -> Result<(), Failure> {
        let mut files = Vec::new();
        for folder in [self.out.clone(), self.out.join("python")] {
            if folder.exists() {
                for entry in std::fs::read_dir(folder)? {
                    files.push(entry?.path());
                }
            }
        }
        files.retain(|file| file.is_file());
        files.sort();
        let mut sums = String::new();
        let mut out = io::stdout().lock();
        for file in files {
            let bytes = std::fs::read(&file)?;
            let name = file.strip_prefix(&self.out).unwrap_or(&file).display();
            writeln!(sums, "{}  {name}", hexadecimal(&bytes))?;
            writeln!(out, "{:>12} {name}", bytes.len())?;
        }
        write(&self.out.join("SHA256SUMS"), sums)?;
        writeln!(out, "in {}, with SHA256SUMS", self.out.display())?;
        Ok(())
    }
}

/// Tells what takes its time.
fn say(what: &str) {
    // Nothing can be done where standard error is closed.
    let _ = writeln!(io::stderr(), "{what}");
}

/// The version that is released, which is that of all packages.
pub(crate) fn version(root: &Path) -> Result<String, Failure> {
    let graph = Graph::read(root, TARGETS[0].triple)?;
    let versions: std::collections::BTreeSet<&str> =
        graph.published().iter().map(|package| package.version.as_str()).collect();
    match Vec::from_iter(versions)[..] {
        [version] => Ok(version.to_owned()),
        ref several => Err(format!("the packages have several versions: {}", several.join(", ")).into()),
    }
}

/// The folder of the programs of dist-requirements.txt, in a virtual environment.
fn tools(root: &Path) -> Result<PathBuf, Failure> {
    let environment = root.join("target/dist-tools");
    let python = environment.join("bin/python");
    if !python.exists() {
        succeed(Command::new("python3").args(["-m", "venv"]).arg(&environment))?;
    }
    let pip = ["-m", "pip", "install", "--quiet", "--disable-pip-version-check", "--requirement"];
    succeed(Command::new(&python).args(pip).arg(root.join("xtask/dist-requirements.txt")))?;
    Ok(environment.join("bin"))
}

fn is_native(target: &Target) -> bool {
    cfg!(target_os = "linux") && target.triple.starts_with(std::env::consts::ARCH)
}

/// What a binary for a target is run by here: nothing, an emulator, or `None` where it cannot be run.
fn runner(target: &Target) -> Option<Vec<OsString>> {
    if is_native(target) {
        return Some(Vec::new());
    }
    let architecture = target.triple.split('-').next()?;
    let emulator = format!("qemu-{architecture}");
    let libraries = format!("/usr/{architecture}-linux-gnu");
    (starts(&emulator, "--version") && Path::new(&libraries).exists())
        .then(|| vec![emulator.into(), "-L".into(), libraries.into()])
}

fn run_by(runner: &[OsString], binary: &Path) -> Command {
    match runner {
        [] => Command::new(binary),
        [program, arguments @ ..] => {
            let mut command = Command::new(program);
            command.args(arguments).arg(binary);
            command
        }
    }
}

/// Man pages and completions, which the command itself writes.
fn write_documents(runner: &[OsString], binary: &Path, folder: &Path) -> Result<(), Failure> {
    let manual = folder.join("man");
    std::fs::create_dir_all(&manual)?;
    succeed(run_by(runner, binary).args(["man", "--output"]).arg(&manual))?;
    if !manual.join("vop.1").exists() {
        return Err("`vop man` wrote no vop.1".into());
    }
    let completions = folder.join("completions");
    std::fs::create_dir_all(&completions)?;
    for (shell, file) in
        [("bash", "vop"), ("zsh", "_vop"), ("fish", "vop.fish"), ("elvish", "vop.elv"), ("powershell", "_vop.ps1")]
    {
        write(&completions.join(file), output(run_by(runner, binary).args(["completions", shell]))?)?;
    }
    Ok(())
}

/// Copies a folder.
fn copy(from: &Path, to: &Path) -> Result<(), Failure> {
    std::fs::create_dir_all(to)?;
    for entry in std::fs::read_dir(from)? {
        let entry = entry?;
        let target = to.join(entry.file_name());
        if entry.file_type()?.is_dir() {
            copy(&entry.path(), &target)?;
        } else {
            std::fs::copy(entry.path(), target)?;
        }
    }
    Ok(())
}

fn hexadecimal(bytes: &[u8]) -> String {
    Sha256::digest(bytes).iter().map(|byte| format!("{byte:02x}")).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sums_are_those_of_sha256sum() {
        assert_eq!(hexadecimal(b"abc"), "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
    }

    #[test]
    fn targets_are_named() {
        assert!(target("x86_64-unknown-linux-musl").is_ok_and(|target| target.glibc.is_none()));
        assert!(target("riscv64gc-unknown-linux-gnu").is_err_and(|error| error.contains("aarch64-unknown-linux-gnu")));
    }

    #[test]
    fn licences_are_checked_for_every_target() {
        let rules = std::fs::read_to_string(root().unwrap_or_else(|error| panic!("{error}")).join("deny.toml"))
            .expect("deny.toml");
        for target in TARGETS {
            assert!(rules.contains(&format!("\"{}\"", target.triple)), "{}", target.triple);
        }
    }
}
