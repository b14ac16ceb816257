//! Files that appear whole or not at all.
//!
//! A file is written beside its place, synced, renamed, and its folder is synced: after a power failure there is the old file or the new
//! one. A process that is killed leaves its temporary file, and the next that writes to the folder removes it: each holds a lock on its
//! own until it ends.

use std::fs::{self, File, Permissions, TryLockError};
use std::io::{self, Write};
use std::path::{Path, PathBuf};

use tempfile::NamedTempFile;

use crate::{Error, error::Why, input};

/// A temporary file beside its place. It is removed when it is dropped, unless [`Staged::commit`] has put it in its place.
#[derive(Debug)]
pub struct Staged {
    file: NamedTempFile,
    /// As it was named.
    path: PathBuf,
    /// Where it goes: behind a symbolic link the file is replaced, not the link.
    target: PathBuf,
    /// Those of the file that it replaces.
    permissions: Option<Permissions>,
    /// The folders that were created for it, which go behind the file if it does.
    made: Made,
}

/// Folders that were created, the innermost first. They are removed when this is dropped, except those that something is in.
#[derive(Debug, Default)]
struct Made(Vec<PathBuf>);

impl Made {
    /// Creates a folder and those above it.
    fn create(folder: &Path) -> io::Result<Made> {
        let missing = folder.ancestors().take_while(|folder| !folder.as_os_str().is_empty() && !folder.exists());
        let made = Made(missing.map(Path::to_owned).collect());
        fs::create_dir_all(folder).map(|()| made)
    }
}

impl Drop for Made {
    fn drop(&mut self) {
        for folder in &self.0 {
            let _ = fs::remove_dir(folder);
        }
    }
}

/// The name of a temporary file is this, [`RANDOM`] letters and digits, and [`SUFFIX`].
const PREFIX: &str = ".vop-";
const RANDOM: usize = 12;
const SUFFIX: &str = ".tmp";

/// The folder of a file.
fn folder_of(path: &Path) -> &Path {
    path.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."))
}

/// Creates a temporary file in a folder, and takes its lock.
fn create_in(folder: &Path) -> io::Result<NamedTempFile> {
    let mut builder = tempfile::Builder::new();
    builder.prefix(PREFIX).rand_bytes(RANDOM).suffix(SUFFIX);
    // The umask clears some bits of a new file's.
    #[cfg(unix)]
    builder.permissions(std::os::unix::fs::PermissionsExt::from_mode(0o666));
    for _ in 0..16 {
        let file = builder.tempfile_in(folder)?;
        // A lock of Windows would keep others of our own handles from writing.
        if cfg!(not(unix)) {
            return Ok(file);
        }
        match file.as_file().try_lock() {
            // Between its creation and its lock another process may have taken it for one that was left.
            Ok(()) if file.path().exists() => return Ok(file),
            Ok(()) | Err(TryLockError::WouldBlock) => {}
            // A file system without locks: then nothing there is removed either.
            Err(TryLockError::Error(_)) => return Ok(file),
        }
    }
    Err(io::Error::other("its temporary files are removed by another process"))
}

/// Removes the temporary files in a folder that killed processes have left. What fails is left to the next run.
fn sweep(folder: &Path) {
    if cfg!(not(unix)) {
        return;
    }
    let Ok(entries) = folder.read_dir() else { return };
    for entry in entries.flatten() {
        let name = entry.file_name();
        let random = name.to_str().and_then(|name| name.strip_prefix(PREFIX)?.strip_suffix(SUFFIX));
        let ours = random
            .is_some_and(|random| random.len() == RANDOM && random.bytes().all(|byte| byte.is_ascii_alphanumeric()));
        if !ours || !entry.file_type().is_ok_and(|ty| ty.is_file()) {
            continue;
        }
        let Ok((file, _)) = input::open_plain(&entry.path()) else { continue };
        if file.try_lock().is_ok() {
            let _ = fs::remove_file(entry.path());
        }
    }
}

impl Staged {
    /// Creates the temporary file, and its folder with those above it. It gets the permissions of the file that it replaces, otherwise
    /// those of a new file. What killed processes have left in the folder is removed.
    ///
    /// # Errors
    /// The folder cannot be created or written to, or the place is taken by something other than a plain file.
    pub fn create(path: &Path) -> Result<Staged, Error> {
        let problem = |why: Why| Error::writing(path, why);
        let replaced = fs::metadata(path).ok();
        if let Some(kind) = replaced.as_ref().and_then(|file| input::kind(file.file_type())) {
            let why = format!("{kind}, not a plain file");
            return Err(problem(io::Error::new(io::ErrorKind::InvalidInput, why).into()));
        }
        let target = fs::canonicalize(path).unwrap_or_else(|_| path.to_owned());
        let folder = folder_of(&target);
        let made = Made::create(folder).map_err(|error| {
            let why = format!("the folder {} cannot be created: {error}", folder.display());
            problem(io::Error::new(error.kind(), why).into())
        })?;
        sweep(folder);
        let file = create_in(folder).map_err(|error| problem(error.into()))?;
        Ok(Staged { file, path: path.to_owned(), target, permissions: replaced.map(|file| file.permissions()), made })
    }

    /// The file under its name, as it was given.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Another handle of the temporary file, with a position of its own.
    ///
    /// # Errors
    /// The system gives none.
    pub fn reopen(&self) -> Result<File, Error> {
        self.file.reopen().map_err(|error| Error::writing(&self.path, error))
    }

    /// Writes to the temporary file.
    ///
    /// # Errors
    /// The system refuses: the disk is full, for example.
    pub fn write_all(&mut self, bytes: &[u8]) -> Result<(), Error> {
        self.file.write_all(bytes).map_err(|error| Error::writing(&self.path, error))
    }

    /// Puts the file in its place, and waits until it is on the disk there.
    ///
    /// # Errors
    /// It cannot be written to the disk or renamed.
    pub fn commit(self) -> Result<(), Error> {
        commit_all(vec![self])
    }

    /// Sets the permissions, and waits until all of the content is on the disk.
    fn sync(&self) -> Result<(), Error> {
        let sync = || {
            let file = self.file.as_file();
            // Only now, as the file may be one that cannot be written to; and not when it was created, as the umask would clear bits.
            if let Some(permissions) = &self.permissions {
                file.set_permissions(permissions.clone())?;
            }
            file.sync_all()
        };
        sync().map_err(|error| Error::writing(&self.path, error))
    }
}

/// Puts files in their places. None is renamed before all are on the disk.
fn commit_all(files: Vec<Staged>) -> Result<(), Error> {
    files.iter().try_for_each(Staged::sync)?;
    let mut folders: Vec<(PathBuf, PathBuf)> = Vec::new();
    for Staged { file, path, target, mut made, .. } in files {
        let folder = folder_of(&target).to_owned();
        file.persist(target).map_err(|error| Error::writing(&path, error.error))?;
        made.0.clear();
        if folders.iter().all(|(known, _)| *known != folder) {
            folders.push((folder, path));
        }
    }
    folders.iter().try_for_each(|(folder, path)| sync_folder(folder).map_err(|error| Error::writing(path, error)))
}

/// Waits until the names in a folder are on the disk. File systems that have no such call need none.
fn sync_folder(folder: &Path) -> io::Result<()> {
    if cfg!(not(unix)) {
        return Ok(());
    }
    // A folder that may be written to and not read cannot be opened.
    let Ok(folder) = File::open(folder) else { return Ok(()) };
    match folder.sync_all() {
        Err(error) if matches!(error.kind(), io::ErrorKind::InvalidInput | io::ErrorKind::Unsupported) => Ok(()),
        synced => synced,
    }
}

/// Writes files so that each appears whole or not at all, and none if one cannot be written: first all of them under temporary names
/// beside their places, then, when all are on the disk, each is renamed. Folders are created.
///
/// # Errors
/// The first file that cannot be written.
pub fn write_atomically<P: AsRef<Path>, B: AsRef<[u8]>>(files: &[(P, B)]) -> Result<(), Error> {
    let mut staged = Vec::with_capacity(files.len());
    for (path, content) in files {
        let mut file = Staged::create(path.as_ref())?;
        file.write_all(content.as_ref())?;
        staged.push(file);
    }
    commit_all(staged)
}

#[cfg(all(test, unix))]
mod tests {
    use super::*;

    /// What a killed process has left is removed; what a running one writes, and what is not ours, is not.
    #[test]
    fn temporary_files_of_killed_processes_are_swept_up() {
        let folder = tempfile::tempdir().expect("a folder");
        let path = |name: &str| folder.path().join(name);
        let running = Staged::create(&path("running.npy")).expect("a file");
        // A process that ends without removing it gives up the lock alone.
        let killed = create_in(folder.path()).expect("a file");
        let (file, killed) = killed.keep().expect("a file that stays");
        let second = Staged::create(&path("second.npy")).expect("a file");
        assert!(killed.exists(), "its process runs");
        drop(file);
        let others = [".vop-abc.tmp", ".vop-abcdefghijkl.txt", ".vop-abcdefgh_jkl.tmp", "vop-abcdefghijkl.tmp"];
        for other in others {
            fs::write(path(other), "").expect("a file");
        }
        fs::create_dir(path(".vop-abcdefghijkl.tmp")).expect("a folder");
        let made = std::process::Command::new("mkfifo").arg(path(".vop-bbcdefghijkl.tmp")).status();
        assert!(made.expect("mkfifo").success());
        write_atomically(&[(path("a.npy"), "new")]).expect("written");
        assert!(!killed.exists(), "nobody needs it");
        for stays in others.into_iter().chain([".vop-abcdefghijkl.tmp", ".vop-bbcdefghijkl.tmp", "a.npy"]) {
            assert!(path(stays).exists(), "{stays}");
        }
        for running in [running, second] {
            let target = running.path().to_owned();
            running.commit().expect("committed");
            assert!(target.exists());
        }
    }
}
