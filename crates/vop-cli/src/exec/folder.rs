//! The folder in which a program finds vop's library under the names of NVIDIA's.

use std::ffi::{OsStr, OsString};
use std::path::{Path, PathBuf};

use crate::Failure;

/// What programs ask for: the driver by its name at run time and the one for linkers, and the runtime of two releases.
const NAMES: [&str; 5] = ["libcuda.so.1", "libcuda.so", "libcudart.so.12", "libcudart.so.13", "libcudart.so"];

/// The library's file name, beside the command's.
const LIBRARY: &str = "vop-cuda";

/// A folder for one run. It is removed when this is dropped.
pub(super) struct Folder {
    folder: tempfile::TempDir,
}

impl Folder {
    /// Makes the folder.
    pub(super) fn new() -> Result<Folder, Failure> {
        let library = library()?;
        let failed = |error: std::io::Error| {
            let temporary = std::env::temp_dir();
            Failure::Misuse(format!(
                "cannot make a folder in {}: {error}; TMPDIR names another place",
                temporary.display()
            ))
        };
        // Nobody else can write into it: it has a random name and the mode 700.
        let folder = tempfile::Builder::new().prefix("vop-exec-").tempdir().map_err(failed)?;
        let libraries = folder.path().join("lib");
        for path in [&libraries, &folder.path().join("reports")] {
            std::fs::create_dir(path).map_err(failed)?;
        }
        for name in NAMES {
            std::os::unix::fs::symlink(&library, libraries.join(name)).map_err(failed)?;
        }
        Ok(Folder { folder })
    }

    /// Where the library writes what a process did.
    pub(super) fn reports(&self) -> PathBuf {
        self.folder.path().join("reports")
    }

    /// The value of `LD_LIBRARY_PATH`: this folder is before what is there.
    pub(super) fn search_path(&self) -> OsString {
        let mut path = self.folder.path().join("lib").into_os_string();
        if let Some(rest) = std::env::var_os("LD_LIBRARY_PATH").filter(|rest| !rest.is_empty()) {
            path.push(":");
            path.push(rest);
        }
        path
    }
}

/// Where the library is: `VOP_CUDA_LIBRARY` names it; otherwise it is beside the command, or in `../lib/vop`.
fn library() -> Result<PathBuf, Failure> {
    if let Some(path) = std::env::var_os("VOP_CUDA_LIBRARY").filter(|path| !path.is_empty()) {
        return std::path::absolute(&path)
            .ok()
            .filter(|path| path.is_file())
            .ok_or_else(|| Failure::Misuse(format!("VOP_CUDA_LIBRARY is no file: {}", Path::new(&path).display())));
    }
    let command = std::env::current_exe().and_then(std::fs::canonicalize);
    let beside = command.ok().and_then(|command| command.parent().map(Path::to_owned)).unwrap_or_default();
    let places = [beside.join(LIBRARY), beside.join("../lib/vop").join(LIBRARY)];
    // A test of cargo is one folder below the programs.
    let found = places.iter().find(|path| path.is_file()).cloned();
    found.ok_or_else(|| {
        let places = places.map(|path| path.display().to_string()).join(" nor ");
        Failure::Misuse(format!(
            "the CUDA library of vop is missing: neither {places} is there; install vop again, or name the file in VOP_CUDA_LIBRARY"
        ))
    })
}

/// A name that `PATH` leads to, as the system looks for it; none if it is not there.
pub(super) fn in_path(name: &OsStr) -> Option<PathBuf> {
    let path = std::env::var_os("PATH")?;
    std::env::split_paths(&path).map(|folder| folder.join(name)).find(|file| file.is_file())
}
