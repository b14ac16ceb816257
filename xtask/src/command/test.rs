//! `cargo xtask test`.

use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use super::Failure;
use super::process::{cargo, root, succeed};

/// Run all tests: those of the workspace and, where there is a Python, those of the Python package.
///
/// A wheel is built and installed, with what the tests need, into a virtual environment in target/python. Where there is no
/// Python, or what is needed cannot be installed, a line says that and all else is tested.
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
    if !args.only_python {
        succeed(Command::new(cargo()).args(["test", "--workspace", "--all-features", "--locked"]).current_dir(root))?;
    }
    match environment(root) {
        Ok(python) => test_package(root, &python),
        Err(why) if args.require_python => Err(format!("the Python package cannot be tested: {why}").into()),
        Err(why) => {
            writeln!(io::stderr(), "skipped: the tests of the Python package, since {why}")?;
            Ok(())
        }
    }
}

/// What asks a Python whether it is new enough.
const IS_NEW_ENOUGH: &str = "import sys; sys.exit(sys.version_info < (3, 10))";

/// The Python of a virtual environment that has what the tests need; or why there is none.
fn environment(root: &Path) -> Result<PathBuf, String> {
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
    tell("installing crates/vop-python/requirements-test.txt in target/python");
    succeed(Command::new(python).args(["-m", "venv", "--clear"]).arg(&environment).stdout(Stdio::null()))
        .map_err(|why| why.to_string())?;
    let python = environment.join(if cfg!(windows) { "Scripts/python.exe" } else { "bin/python" });
    let pip = ["-m", "pip", "install", "--quiet", "--disable-pip-version-check", "--requirement"];
    let requirements = root.join("crates/vop-python/requirements-test.txt");
    succeed(Command::new(&python).args(pip).arg(requirements)).map_err(|why| why.to_string())?;
    Ok(python)
}

/// Builds the wheel, installs it and runs its tests.
fn test_package(root: &Path, python: &Path) -> Result<(), Failure> {
    let package = root.join("crates/vop-python");
    let wheels = root.join("target/wheels");
    tell("building the wheel in target/wheels, with what the other tests have built");
    // A wheel of an earlier version would be installed, too.
    if wheels.exists() {
        std::fs::remove_dir_all(&wheels)?;
    }
    // In the profile of the other tests, which have built most of it. `cargo xtask dist` builds and tests the wheel that is released.
    let build = ["-m", "maturin", "build", "--profile", "dev", "--locked", "--out"];
    succeed(Command::new(python).args(build).arg(&wheels).arg("--interpreter").arg(python).current_dir(&package))?;
    let wheels: Result<Vec<_>, _> = std::fs::read_dir(&wheels)?.map(|wheel| wheel.map(|wheel| wheel.path())).collect();
    let install = ["-m", "pip", "install", "--quiet", "--disable-pip-version-check", "--no-deps", "--force-reinstall"];
    succeed(Command::new(python).args(install).args(wheels?))?;
    tell("testing the package as installed; about a minute");
    succeed(Command::new(python).args(["-m", "pytest", "--quiet"]).current_dir(&package))
}

/// Says what happens next, and how long it takes.
fn tell(what: &str) {
    // Nothing can be done where standard error is closed.
    let _ = writeln!(io::stderr(), "{what}");
}
