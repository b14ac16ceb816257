//! `cargo xtask test`.

use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use super::Failure;
use super::process::{cargo, output, root, said as show, succeed};

/// Run all tests: those of the workspace and, where there is a Python, those of the Python package.
///
/// Examples in documentation and the Python package are tested beside the other tests, and what they write follows theirs.
///
/// The package is installed, with what its tests need, into a virtual environment in target/python: as a wheel if it is tested alone,
/// otherwise put together from what the other tests have built. Where there is no Python, or what is needed cannot be installed, a
/// line says that and all else is tested.
#[derive(clap::Args)]
pub(crate) struct Args {
    /// Fail where the Python package cannot be tested.
    #[arg(long)]
    require_python: bool,
    /// Test the Python package alone.
    #[arg(long)]
    only_python: bool,
}

pub(crate) fn run(args: Args) -> Result<(), Failure> {
    let root = &root()?;
    if args.only_python {
        return finish(&args, package(root, install_wheel, &mut io::stderr()));
    }
    // Side by side, since each waits for something or uses one core for much of its time.
    let test = |what: &str| {
        let mut command = Command::new(cargo());
        command.args(["test", "--workspace", "--all-features", "--locked", what]).current_dir(root);
        command
    };
    let (mut examples, mut said) = (Vec::new(), Vec::new());
    let (tested, shown, packaged) = std::thread::scope(|scope| {
        let package = scope.spawn(|| package(root, put_together, &mut said));
        let show = scope.spawn(|| run_and_show(&mut test("--doc"), &mut examples));
        let tested = succeed(&mut test("--tests"));
        let shown = show.join().unwrap_or_else(|_| Err("the thread of the examples panicked".to_owned()));
        let packaged = package.join().unwrap_or_else(|_| Err(Fault::Failed("its thread panicked".to_owned())));
        (tested, shown, packaged)
    });
    io::stderr().write_all(&examples)?;
    io::stderr().write_all(&said)?;
    tested?;
    shown?;
    finish(&args, packaged)
}

/// Why the package was not tested, or how its tests failed.
enum Fault {
    /// Something is not on this machine.
    Missing(String),
    Failed(String),
}

fn finish(args: &Args, tested: Result<(), Fault>) -> Result<(), Failure> {
    match tested {
        Ok(()) => Ok(()),
        Err(Fault::Failed(why)) => Err(why.into()),
        Err(Fault::Missing(why)) if args.require_python => {
            Err(format!("the Python package cannot be tested: {why}").into())
        }
        Err(Fault::Missing(why)) => {
            writeln!(io::stderr(), "skipped: the tests of the Python package, since {why}")?;
            Ok(())
        }
    }
}

/// How the package gets into the environment of this Python.
type Install<W> = fn(&Path, &Path, &mut W) -> Result<(), Failure>;

/// Tests the Python package, and writes what happens.
fn package<W: Write>(root: &Path, install: Install<W>, said: &mut W) -> Result<(), Fault> {
    let python = environment(root, said).map_err(Fault::Missing)?;
    let tested = install(root, &python, said).and_then(|()| {
        tell(said, "testing the package as installed; about a minute");
        let folder = root.join("crates/vop-python");
        Ok(run_and_show(Command::new(&python).args(["-m", "pytest", "--quiet"]).current_dir(folder), said)?)
    });
    tested.map_err(|why| Fault::Failed(why.to_string()))
}

/// What asks a Python whether it is new enough.
const IS_NEW_ENOUGH: &str = "import sys; sys.exit(sys.version_info < (3, 10))";

/// The Python of a virtual environment that has what the tests need; or why there is none.
fn environment(root: &Path, said: &mut impl Write) -> Result<PathBuf, String> {
    let named = std::env::var("PYTHON").ok();
    let names = named.as_deref().map_or(vec!["python3", "python"], |name| vec![name]);
    let is_python = |name: &&str| {
        let ask = Command::new(name).args(["-c", IS_NEW_ENOUGH]).stdout(Stdio::null()).stderr(Stdio::null()).status();
        ask.is_ok_and(|status| status.success())
    };
    let python = names.iter().find(|name| is_python(name)).ok_or_else(|| {
        format!("{} is no Python 3.10 or later (the environment variable PYTHON may name one)", names.join(" or "))
    })?;
    let environment = root.join("target/python");
    tell(said, "installing crates/vop-python/requirements-test.txt in target/python");
    run_and_show(Command::new(python).args(["-m", "venv", "--clear"]).arg(&environment), said)?;
    let python = environment.join(if cfg!(windows) { "Scripts/python.exe" } else { "bin/python" });
    let pip = ["-m", "pip", "install", "--quiet", "--disable-pip-version-check", "--requirement"];
    let requirements = root.join("crates/vop-python/requirements-test.txt");
    run_and_show(Command::new(&python).args(pip).arg(requirements), said)?;
    Ok(python)
}

/// Builds the wheel and installs it.
fn install_wheel(root: &Path, python: &Path, said: &mut impl Write) -> Result<(), Failure> {
    let package = root.join("crates/vop-python");
    let wheels = root.join("target/wheels");
    tell(said, "building the wheel in target/wheels");
    // A wheel of an earlier version would be installed, too.
    if wheels.exists() {
        std::fs::remove_dir_all(&wheels)?;
    }
    // In the profile of the other tests. `cargo xtask dist` builds and tests the wheel that is released.
    let build = ["-m", "maturin", "build", "--profile", "dev", "--locked", "--out"];
    let mut build_wheel = Command::new(python);
    run_and_show(build_wheel.args(build).arg(&wheels).arg("--interpreter").arg(python).current_dir(&package), said)?;
    let wheels: Result<Vec<_>, _> = std::fs::read_dir(&wheels)?.map(|wheel| wheel.map(|wheel| wheel.path())).collect();
    let install = ["-m", "pip", "install", "--quiet", "--disable-pip-version-check", "--no-deps", "--force-reinstall"];
    Ok(run_and_show(Command::new(python).args(install).args(wheels?), said)?)
}

/// Puts the package together where an installed wheel has its files.
///
/// maturin would build the engine of kernels again, which takes a minute: crates that are built for one package have other features than
/// those that are built for all.
fn put_together(root: &Path, python: &Path, said: &mut impl Write) -> Result<(), Failure> {
    tell(said, "putting the package together in target/python, with what the other tests have built");
    // With the tests, whose dependencies have other features.
    let build = ["build", "--workspace", "--lib", "--bins", "--tests", "--all-features", "--locked"];
    run_and_show(Command::new(cargo()).args(build).current_dir(root), said)?;
    let ask = ["-c", "import sysconfig; print(sysconfig.get_path('platlib'), end='')"];
    let folder = PathBuf::from(output(Command::new(python).args(ask))?).join("vop");
    copy_folder(&root.join("crates/vop-python/python/vop"), &folder)?;
    let target = std::env::var_os("CARGO_TARGET_DIR").map_or_else(|| root.join("target"), |target| root.join(target));
    let (prefix, suffix) = (std::env::consts::DLL_PREFIX, std::env::consts::DLL_SUFFIX);
    let built = target.join("debug").join(format!("{prefix}_vop{suffix}"));
    let name = if cfg!(windows) { "_vop.pyd" } else { "_vop.abi3.so" };
    std::fs::copy(&built, folder.join(name)).map_err(|error| format!("cannot copy {}: {error}", built.display()))?;
    Ok(())
}

/// Copies the files of a folder, which has no others in it.
fn copy_folder(from: &Path, to: &Path) -> Result<(), Failure> {
    std::fs::create_dir_all(to)?;
    for entry in std::fs::read_dir(from)? {
        let entry = entry?;
        if entry.file_type()?.is_file() {
            std::fs::copy(entry.path(), to.join(entry.file_name()))?;
        }
    }
    Ok(())
}

/// Runs a command that must succeed, and writes what it wrote.
fn run_and_show(command: &mut Command, said: &mut impl Write) -> Result<(), String> {
    let output =
        command.stdin(Stdio::null()).output().map_err(|error| format!("cannot run {}: {error}", show(command)))?;
    // Nothing can be done where standard error is closed.
    let _ = said.write_all(&output.stdout).and_then(|()| said.write_all(&output.stderr));
    if output.status.success() { Ok(()) } else { Err(format!("{} failed ({})", show(command), output.status)) }
}

/// Says what happens next, and how long it takes.
fn tell(said: &mut impl Write, what: &str) {
    let _ = writeln!(said, "{what}");
}
