//! Which files are checked, and with which configuration.

use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};

use vop_ptx::encoding;
use vop_ptx::find::{Language, mentions};

use super::config::{Config, Configs};
use crate::Failure;

/// A file to be checked.
pub(super) struct File {
    pub(super) path: PathBuf,
    pub(super) kind: Kind,
    pub(super) config: Arc<Config>,
}

/// How a file is read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Kind {
    Source(Language),
    /// A Jupyter notebook.
    Notebook,
}

impl Kind {
    fn from_path(path: &Path) -> Option<Kind> {
        let is_notebook = path.extension().is_some_and(|extension| extension.eq_ignore_ascii_case("ipynb"));
        if is_notebook { Some(Kind::Notebook) } else { Language::from_path(path).map(Kind::Source) }
    }
}

/// What was found on the way.
pub(super) struct Found {
    /// The files, in order.
    pub(super) files: Vec<File>,
    /// Why some cannot be checked.
    pub(super) unread: Vec<String>,
    /// Files of folders that no language is known of, and that mention a video instruction.
    pub(super) skipped: Vec<PathBuf>,
    /// Folders all of whose files are excluded.
    pub(super) excluded: Vec<PathBuf>,
}

/// How files are chosen.
pub(super) struct Choice {
    /// The language of all files, whatever their names.
    pub(super) kind: Option<Kind>,
    /// Hidden files and what .gitignore names are read too.
    pub(super) no_ignore: bool,
    /// Excluded paths are left out even if they are named.
    pub(super) force_exclude: bool,
}

/// The files that paths stand for.
pub(super) fn files(
    paths: &[PathBuf],
    choice: &Choice,
    configs: &Arc<Mutex<Configs>>,
    found: &dyn Fn(usize),
) -> Result<Found, Failure> {
    let result = Found { files: Vec::new(), unread: Vec::new(), skipped: Vec::new(), excluded: Vec::new() };
    let mut walk = Walk { choice, configs, found, result };
    for path in paths {
        walk.path(path)?;
    }
    Ok(walk.result)
}

struct Walk<'a> {
    choice: &'a Choice,
    configs: &'a Arc<Mutex<Configs>>,
    /// Told how many files have been found.
    found: &'a dyn Fn(usize),
    result: Found,
}

impl Walk<'_> {
    fn unread(&mut self, path: &Path, why: &str) {
        self.result.unread.push(format!("cannot read {}: {why}", path.display()));
    }

    fn path(&mut self, path: &Path) -> Result<(), Failure> {
        let stdin = path.as_os_str() == "-";
        if !stdin && !path.exists() {
            self.unread(path, "no such file or folder");
            return Ok(());
        }
        if self.choice.force_exclude && !stdin && lock(self.configs).excludes(path, path.is_dir(), true) {
            return Ok(());
        }
        if !stdin && path.is_dir() {
            return self.folder(path);
        }
        match self.kind(path) {
            Some(kind) => self.add(path.to_owned(), kind),
            None => {
                self.unread(path, "cannot tell its language from its name; give it with --language");
                Ok(())
            }
        }
    }

    fn folder(&mut self, path: &Path) -> Result<(), Failure> {
        let before = self.result.files.len();
        let excluded = Arc::new(AtomicUsize::new(0));
        let (configs, counted) = (Arc::clone(self.configs), Arc::clone(&excluded));
        let walk = ignore::WalkBuilder::new(path)
            .standard_filters(!self.choice.no_ignore)
            .require_git(false)
            .sort_by_file_path(|a, b| a.cmp(b))
            .filter_entry(move |entry| {
                let is_dir = entry.file_type().is_some_and(|kind| kind.is_dir());
                // The folder that is walked has been named.
                let keep = entry.depth() == 0 || !lock(&configs).excludes(entry.path(), is_dir, false);
                counted.fetch_add(usize::from(!keep), Ordering::Relaxed);
                keep
            })
            .build();
        for entry in walk {
            match entry {
                Ok(entry) if entry.file_type().is_some_and(|kind| kind.is_file()) => {
                    if let Some(kind) = self.kind(entry.path()) {
                        self.add(entry.into_path(), kind)?;
                    } else if mentions_instructions(entry.path()).unwrap_or(false) {
                        self.result.skipped.push(entry.into_path());
                    }
                }
                Ok(_) => {}
                Err(error) => self.unread(path, &error.to_string()),
            }
        }
        if self.result.files.len() == before && excluded.load(Ordering::Relaxed) > 0 {
            self.result.excluded.push(path.to_owned());
        } else if self.result.files.len() == before {
            let hidden = if self.choice.no_ignore { "" } else { " (hidden and ignored ones aside)" };
            self.result.unread.push(format!("there is no source file in {}{hidden}", path.display()));
        }
        Ok(())
    }

    fn kind(&self, path: &Path) -> Option<Kind> {
        self.choice.kind.or_else(|| Kind::from_path(path))
    }

    fn add(&mut self, path: PathBuf, kind: Kind) -> Result<(), Failure> {
        let config = lock(self.configs).of_file(&path)?;
        self.result.files.push(File { path, kind, config });
        (self.found)(self.result.files.len());
        Ok(())
    }
}

/// Whether a file of no known kind mentions a video instruction. Of a large file the beginning is read, and nothing of one that is
/// no text.
fn mentions_instructions(path: &Path) -> std::io::Result<bool> {
    use std::io::Read;
    const LOOK: u64 = 4096;
    const MOST: u64 = 1 << 20;
    let mut file = std::fs::File::open(path)?;
    let mut bytes = Vec::new();
    file.by_ref().take(LOOK).read_to_end(&mut bytes)?;
    let is_wide = encoding::decoded(&bytes).is_some();
    if bytes.contains(&0) && !is_wide {
        return Ok(false);
    }
    file.take(MOST - LOOK).read_to_end(&mut bytes)?;
    let wide = encoding::decoded(&bytes).filter(|_| is_wide);
    Ok(mentions(wide.as_deref().map_or(bytes.as_slice(), str::as_bytes)))
}

fn lock(configs: &Mutex<Configs>) -> std::sync::MutexGuard<'_, Configs> {
    // What a panic in another thread leaves is still whole: entries are inserted at once.
    configs.lock().unwrap_or_else(|poisoned| poisoned.into_inner())
}
