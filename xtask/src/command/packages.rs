//! `cargo xtask packages`.

use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::process::Command;

use super::Failure;
use super::graph::{Graph, Package};
use super::process::{cargo, output, root, succeed, write};

/// Pack the crates that are published, and compile what the packages hold.
///
/// `cargo package` compiles each package from nothing. This checks them in a workspace of their own, in the folder that the project
/// is built in, so that their dependencies are those that are built already: without features, and with each. It also says what each package
/// weighs.
#[derive(clap::Args)]
pub(crate) struct Args {
    /// Pack files that are not committed, too.
    #[arg(long)]
    allow_dirty: bool,
}

/// What a package may weigh, compressed: a quarter more than the largest, so that data that slipped in is seen.
const LIMIT: u64 = 450_000;

pub(crate) fn run(args: Args) -> Result<(), Failure> {
    let root = root()?;
    let graph = Graph::read(&root, "x86_64-unknown-linux-gnu")?;
    let published = graph.published();
    let mut pack = Command::new(cargo());
    pack.args(["package", "--quiet", "--no-verify", "--locked", "--target-dir", "target"])
        .args(args.allow_dirty.then_some("--allow-dirty"));
    for package in &published {
        pack.args(["--package", &package.name]);
    }
    succeed(pack.current_dir(&root))?;

    let folder = root.join("target/packages");
    if folder.exists() {
        std::fs::remove_dir_all(&folder)?;
    }
    std::fs::create_dir_all(&folder)?;
    let mut out = io::stdout().lock();
    writeln!(out, "{:<12} {:>10} {:>6}", "package", "bytes", "files")?;
    for package in &published {
        let file = root.join("target/package").join(format!("{}-{}.crate", package.name, package.version));
        let size = std::fs::metadata(&file).map_err(|error| format!("{}: {error}", file.display()))?.len();
        let list = output(
            Command::new("tar")
                .arg("--extract")
                .arg("--gzip")
                .arg("--verbose")
                .arg("--file")
                .arg(&file)
                .arg("--directory")
                .arg(&folder),
        )?;
        writeln!(out, "{:<12} {size:>10} {:>6}", package.name, list.lines().count())?;
        complete(package, &folder)?;
        if size > LIMIT {
            return Err(format!(
                "{} weighs {size} bytes, more than {LIMIT}: `include` in its Cargo.toml says what it holds",
                package.name
            )
            .into());
        }
    }
    out.flush()?;
    drop(out);

    write(&folder.join("Cargo.toml"), manifest(&root, &published)?)?;
    std::fs::copy(root.join("Cargo.lock"), folder.join("Cargo.lock"))?;
    let check = |packages: &[&str]| {
        let mut check = Command::new(cargo());
        check.arg("check").args(packages).env("CARGO_TARGET_DIR", root.join("target"));
        succeed(check.current_dir(&folder))
    };
    // As who builds from a registry does, and with each feature.
    check(&["--workspace"])?;
    for package in &published {
        for feature in features(&unpacked(package, &folder))? {
            check(&["--package", &package.name, "--features", &feature])?;
        }
    }
    Ok(())
}

/// The folder of an unpacked package.
fn unpacked(package: &Package, folder: &Path) -> PathBuf {
    folder.join(format!("{}-{}", package.name, package.version))
}

/// The manifest of an unpacked package.
fn manifest_of(unpacked: &Path) -> Result<toml::Table, Failure> {
    let path = unpacked.join("Cargo.toml");
    let text = std::fs::read_to_string(&path)?;
    text.parse().map_err(|error| format!("{}: {error}", path.display()).into())
}

/// The features of an unpacked package that change its code. One that only chooses features of other packages does not; with it, all that
/// depends on these would be read again.
fn features(unpacked: &Path) -> Result<Vec<String>, Failure> {
    let manifest = manifest_of(unpacked)?;
    let all = manifest.get("features").and_then(toml::Value::as_table).into_iter().flatten();
    let others = |value: &toml::Value| value.as_str().is_some_and(|choice| choice.contains('/'));
    let is_own = |value: &toml::Value| value.as_array().is_none_or(|all| all.is_empty() || !all.iter().all(others));
    Ok(all.filter(|(name, value)| *name != "default" && is_own(value)).map(|(name, _)| name.clone()).collect())
}

/// Whether a package has all that a registry shows.
fn complete(package: &Package, folder: &Path) -> Result<(), Failure> {
    let unpacked = unpacked(package, folder);
    for file in ["README.md", "LICENSE-MIT", "LICENSE-APACHE", "Cargo.toml"] {
        if !unpacked.join(file).is_file() {
            return Err(format!("the package {} holds no {file}", package.name).into());
        }
    }
    let manifest = manifest_of(&unpacked)?;
    for key in ["description", "license", "keywords", "categories", "readme", "rust-version"] {
        if manifest.get("package").and_then(|table| table.get(key)).is_none() {
            return Err(format!("the Cargo.toml of {} has no {key}", package.name).into());
        }
    }
    Ok(())
}

/// The manifest of a workspace of unpacked packages, with the profiles of the project.
fn manifest(root: &Path, packages: &[&Package]) -> Result<String, Failure> {
    let text = std::fs::read_to_string(root.join("Cargo.toml"))?;
    let mut project: toml::Table = text.parse().map_err(|error| format!("Cargo.toml: {error}"))?;
    let folder = |package: &Package| format!("{}-{}", package.name, package.version);
    let members = packages.iter().map(|package| folder(package).into()).collect::<Vec<toml::Value>>();
    let patches = packages
        .iter()
        .map(|package| (package.name.clone(), table([("path", folder(package).into())])))
        .collect::<toml::Table>();
    let mut manifest = toml::Table::new();
    manifest.insert("workspace".to_owned(), table([("resolver", "3".into()), ("members", members.into())]));
    manifest.insert("patch".to_owned(), table([("crates-io", patches.into())]));
    manifest.extend(project.remove("profile").map(|profile| ("profile".to_owned(), profile)));
    Ok(manifest.to_string())
}

fn table<const N: usize>(rows: [(&str, toml::Value); N]) -> toml::Value {
    toml::Table::from_iter(rows.map(|(key, value)| (key.to_owned(), value))).into()
}
