//! Which files are checked, and with which configuration.

use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};

use vop_ptx::find::Language;

use super::config::{Config, Configs};
use crate::Failure;

/// A file to be checked.
pub(super) struct File {
    pub(super) path: PathBuf,
    pub(super) language: Language,
    pub(super) config: Arc<Config>,
}

/// How files are chosen.
pub(super) struct Choice {
    /// The language of all files, whatever their names.
    pub(super) language: Option<Language>,
    /// Hidden files and what .gitignore names are read too.
    pub(super) no_ignore: bool,
    /// Excluded paths are left out even if they are named.
    pub(super) force_exclude: bool,
}

/// The files that paths stand for, in order, and why some cannot be checked.
pub(super) fn files(
    paths: &[PathBuf],
    choice: &Choice,
    configs: &Arc<Mutex<Configs>>,
    found: &dyn Fn(usize),
) -> Result<(Vec<File>, Vec<String>), Failure> {
    let mut walk = Walk { choice, configs, found, files: Vec::new(), unread: Vec::new() };
    for path in paths {
        walk.path(path)?;
    }
    Ok((walk.files, walk.unread))
}

struct Walk<'a> {
    choice: &'a Choice,
    configs: &'a Arc<Mutex<Configs>>,
    /// Told how many files have been found.
    found: &'a dyn Fn(usize),
    files: Vec<File>,
    unread: Vec<String>,
}

impl Walk<'_> {
    fn unread(&mut self, path: &Path, why: &str) {
        self.unread.push(format!("cannot read {}: {why}", path.display()));
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
        match self.language(path) {
            Some(language) => self.add(path.to_owned(), language),
            None => {
                self.unread(path, "cannot tell its language from its name; give it with --language");
                Ok(())
            }
        }
    }

    fn folder(&mut self, path: &Path) -> Result<(), Failure> {
        let before = self.files.len();
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
                    if let Some(language) = self.language(entry.path()) {
                        self.add(entry.into_path(), language)?;
                    }
                }
                Ok(_) => {}
                Err(error) => self.unread(path, &error.to_string()),
            }
        }
        if self.files.len() == before && excluded.load(Ordering::Relaxed) == 0 {
            let hidden = if self.choice.no_ignore { "" } else { " (hidden and ignored ones aside)" };
            self.unread.push(format!("there is no source file in {}{hidden}", path.display()));
        }
        Ok(())
    }

    fn language(&self, path: &Path) -> Option<Language> {
        self.choice.language.or_else(|| Language::from_path(path))
    }

    fn add(&mut self, path: PathBuf, language: Language) -> Result<(), Failure> {
        let config = lock(self.configs).of_file(&path)?;
        self.files.push(File { path, language, config });
        (self.found)(self.files.len());
        Ok(())
    }
}

fn lock(configs: &Mutex<Configs>) -> std::sync::MutexGuard<'_, Configs> {
    // What a panic in another thread leaves is still whole: entries are inserted at once.
    configs.lock().unwrap_or_else(|poisoned| poisoned.into_inner())
}
