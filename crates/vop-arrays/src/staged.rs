//! Files that appear whole or not at all.

use std::fs::File;
use std::fs::Permissions;
use std::io::{self, Write};
use std::path::{Path, PathBuf};

use tempfile::NamedTempFile;

use crate::{Error, error::Why};

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
}

/// Whether the folder of an output is created.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Folders {
    /// It is, with those above it.
    Create,
    /// It must be there.
    Require,
}

impl Staged {
    /// Creates the temporary file. It gets the permissions of the file that it replaces, otherwise those of a new file.
    ///
    /// # Errors
    /// There is no such folder or it cannot be written to, or the place is taken by something other than a plain file.
    pub fn create(path: &Path, folders: Folders) -> Result<Staged, Error> {
        let problem = |why: Why| Error::writing(path, why);
        let replaced = std::fs::metadata(path).ok();
        if replaced.as_ref().is_some_and(|file| !file.is_file()) {
            return Err(problem(io::Error::new(io::ErrorKind::InvalidInput, "it is no plain file").into()));
        }
        let target = std::fs::canonicalize(path).unwrap_or_else(|_| path.to_owned());
        let folder = target.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."));
        match folders {
            Folders::Create => std::fs::create_dir_all(folder).map_err(|error| problem(error.into()))?,
            Folders::Require if !folder.is_dir() => {
                let why = format!("no folder {}", folder.display());
                return Err(problem(io::Error::new(io::ErrorKind::NotFound, why).into()));
            }
            Folders::Require => {}
        }
        let mut builder = tempfile::Builder::new();
        builder.prefix(".vop-");
        // The umask clears some bits of a new file's.
        #[cfg(unix)]
        builder.permissions(std::os::unix::fs::PermissionsExt::from_mode(0o666));
        let file = builder.tempfile_in(folder).map_err(|error| problem(error.into()))?;
        Ok(Staged { file, path: path.to_owned(), target, permissions: replaced.map(|file| file.permissions()) })
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

    /// Puts the file in its place.
    ///
    /// # Errors
    /// It cannot be renamed.
    pub fn commit(self) -> Result<(), Error> {
        let path = self.path;
        // Only now, as the file may be one that cannot be written to; and not when it was created, as the umask would clear bits.
        if let Some(permissions) = self.permissions {
            let set = self.file.as_file().set_permissions(permissions);
            set.map_err(|error| Error::writing(&path, error))?;
        }
        self.file.persist(self.target).map(drop).map_err(|error| Error::writing(&path, error.error))
    }
}

/// Writes files so that each appears whole or not at all, and none if one cannot be written: first all of them under temporary names
/// beside their places, then each is renamed. Folders are created.
///
/// # Errors
/// The first file that cannot be written.
pub fn write_atomically<P: AsRef<Path>, B: AsRef<[u8]>>(files: &[(P, B)]) -> Result<(), Error> {
    let mut staged = Vec::with_capacity(files.len());
    for (path, content) in files {
        let mut file = Staged::create(path.as_ref(), Folders::Create)?;
        file.write_all(content.as_ref())?;
        staged.push(file);
    }
    staged.into_iter().try_for_each(Staged::commit)
}
