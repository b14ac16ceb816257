//! Programs that commands run.

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use super::Failure;

/// The folder of the workspace.
pub(crate) fn root() -> Result<PathBuf, Failure> {
    Ok(Path::new(env!("CARGO_MANIFEST_DIR")).parent().ok_or("xtask lies in no folder")?.to_path_buf())
}

/// The cargo that started this command, otherwise that of the `PATH`.
pub(crate) fn cargo() -> std::ffi::OsString {
    std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into())
}

/// Runs a command that must succeed.
///
/// # Errors
///
/// If it cannot be started, or fails.
pub(crate) fn succeed(command: &mut Command) -> Result<(), Failure> {
    match command.status() {
        Ok(status) if status.success() => Ok(()),
        Ok(status) => Err(format!("{} failed ({status})", said(command)).into()),
        Err(error) => Err(format!("cannot run {}: {error}", said(command)).into()),
    }
}

/// Runs a command that must succeed, and takes what it writes to standard output.
///
/// # Errors
///
/// If it cannot be started, or fails; the error holds what it wrote to standard error.
pub(crate) fn output(command: &mut Command) -> Result<String, Failure> {
    let output = command
        .stdin(Stdio::null())
        .stderr(Stdio::piped())
        .output()
        .map_err(|error| format!("cannot run {}: {error}", said(command)))?;
    if !output.status.success() {
        let why = String::from_utf8_lossy(&output.stderr);
        return Err(format!("{} failed ({}):\n{}", said(command), output.status, why.trim_end()).into());
    }
    String::from_utf8(output.stdout).map_err(|_| format!("{} wrote bytes that are not UTF-8", said(command)).into())
}

/// Whether a program is on the `PATH` and starts.
pub(crate) fn starts(program: impl AsRef<std::ffi::OsStr>, argument: &str) -> bool {
    let status =
        Command::new(program).arg(argument).stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null()).status();
    status.is_ok_and(|status| status.success())
}

/// A command as a message shows it.
pub(crate) fn said(command: &Command) -> String {
    let program = Path::new(command.get_program()).file_name().unwrap_or_default();
    let words = std::iter::once(program).chain(command.get_args());
    let words: Vec<_> = words.map(|word| word.to_string_lossy()).collect();
    format!("`{}`", words.join(" "))
}

/// Packs a folder, beside the archive's place, and renames it.
///
/// # Errors
///
/// If tar or gzip fails, or the file cannot be written.
pub(crate) fn archive(path: &Path, parent: &Path, folder: &str) -> Result<(), Failure> {
    let packed = tempfile::Builder::new().prefix(".archive").tempdir_in(beside(path))?;
    let file = packed.path().join("archive");
    // The same files give the same bytes, on any day and by any user.
    let mut tar = Command::new("tar");
    tar.args([
        "--create",
        "--sort=name",
        "--mtime=@0",
        "--owner=0",
        "--group=0",
        "--numeric-owner",
        "--mode=u+w,go=rX",
    ]);
    tar.args(["--use-compress-program=gzip --no-name --best", "--file"]).arg(&file);
    succeed(tar.arg("--directory").arg(parent).arg(folder))?;
    std::fs::rename(&file, path).map_err(|error| format!("cannot write {}: {error}", path.display()).into())
}

/// The folder that a path is in.
fn beside(path: &Path) -> &Path {
    path.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."))
}

/// Writes a file beside its place and renames it.
///
/// # Errors
///
/// If it cannot be written.
pub(crate) fn write(path: &Path, text: impl AsRef<[u8]>) -> Result<(), Failure> {
    use std::io::Write;
    let failed = |error: std::io::Error| format!("cannot write {}: {error}", path.display());
    let mut file = tempfile::NamedTempFile::new_in(beside(path)).map_err(failed)?;
    file.write_all(text.as_ref()).map_err(failed)?;
    // A temporary file is for its owner alone.
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt;
        file.as_file().set_permissions(std::fs::Permissions::from_mode(0o644)).map_err(failed)?;
    }
    file.persist(path).map_err(|error| failed(error.error))?;
    Ok(())
}
