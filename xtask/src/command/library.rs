//! `cargo xtask library`.

use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::process::Command;

use super::Failure;
use super::dist::version;
use super::process::{cargo, root, succeed, write};

/// Build the C library, and install it with its header and its file for pkg-config.
///
/// It is for Linux and other systems with ELF files. Elsewhere, `cargo build --release --package vop-capi` builds the libraries, and
/// crates/vop-capi/include has the header.
#[derive(clap::Args)]
pub(crate) struct Args {
    /// The folder to install to: it gets `include`, `lib` and `lib/pkgconfig`.
    #[arg(long, value_name = "FOLDER", default_value = "target/library")]
    prefix: PathBuf,
    /// Where files are written if the prefix is only where they will be, as packagers need it.
    #[arg(long, value_name = "FOLDER", default_value = "/")]
    destdir: PathBuf,
    /// The profile to build with.
    #[arg(long, value_name = "NAME", default_value = "release")]
    profile: String,
}

pub(crate) fn run(args: Args) -> Result<(), Failure> {
    let root = root()?;
    let prefix = root.join(&args.prefix);
    if prefix.to_str().is_none_or(|prefix| prefix.contains(char::is_whitespace)) {
        return Err(format!("{}: pkg-config takes no blanks in a prefix", prefix.display()).into());
    }
    let target = root.join("target");
    let build = ["build", "--locked", "--package", "vop-capi", "--profile", &args.profile, "--target-dir"];
    succeed(Command::new(cargo()).args(build).arg(&target).current_dir(&root))?;
    let built = target.join(if args.profile == "dev" { "debug" } else { &args.profile });
    let package = root.join("crates/vop-capi");
    let version = version(&root)?;
    let folder = args.destdir.join(prefix.strip_prefix("/").unwrap_or(&prefix));
    let libraries = folder.join("lib");
    std::fs::create_dir_all(folder.join("include"))?;
    std::fs::create_dir_all(libraries.join("pkgconfig"))?;
    copy(&package.join("include/vop.h"), &folder.join("include/vop.h"))?;
    copy(&built.join("libvop_capi.a"), &libraries.join("libvop.a"))?;
    let shared = format!("libvop.so.{version}");
    copy(&built.join("libvop_capi.so"), &libraries.join(&shared))?;
    // The name in the library (crates/vop-capi/build.rs), and that for `-lvop`.
    link(&shared, &libraries.join("libvop.so.0"))?;
    link("libvop.so.0", &libraries.join("libvop.so"))?;
    let template = std::fs::read_to_string(package.join("vop.pc.in"))?;
    let filled = template.replace("@prefix@", &prefix.to_string_lossy()).replace("@version@", &version);
    write(&libraries.join("pkgconfig/vop.pc"), filled)?;
    writeln!(io::stdout(), "the library is in {}", folder.display())?;
    Ok(())
}

/// Copies a file beside its place and renames it: a program may use the old one.
fn copy(from: &Path, to: &Path) -> Result<(), Failure> {
    let bytes = std::fs::read(from).map_err(|error| format!("cannot read {}: {error}", from.display()))?;
    write(to, bytes)
}

#[cfg(unix)]
fn link(to: &str, at: &Path) -> Result<(), Failure> {
    match std::fs::remove_file(at) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(error.into()),
        _ => {}
    }
    std::os::unix::fs::symlink(to, at).map_err(|error| format!("cannot write {}: {error}", at.display()).into())
}

#[cfg(not(unix))]
fn link(_to: &str, _at: &Path) -> Result<(), Failure> {
    Err("links need a system with ELF files".into())
}
