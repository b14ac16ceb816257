//! The configuration of `vop check`: `vop.toml`, or `[tool.vop]` in `pyproject.toml`.

use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::str::FromStr;
use std::sync::Arc;

use ignore::gitignore::{Gitignore, GitignoreBuilder};
use serde::Deserialize;
use toml::Spanned;
use vop::{Code, Semantics, Target};
use vop_draw::{Lines, SourceText};

use super::lint_code;
use crate::Failure;

/// What configures the check of a file.
#[derive(Default)]
pub(super) struct Config {
    pub(super) targets: Vec<Target>,
    pub(super) semantics: Option<Semantics>,
    pub(super) allow: Vec<Code>,
    /// The paths that are left out.
    exclude: Option<Gitignore>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Keys {
    #[serde(default)]
    targets: Vec<Spanned<String>>,
    semantics: Option<Spanned<String>>,
    #[serde(default)]
    allow: Vec<Spanned<String>>,
    #[serde(default)]
    exclude: Vec<Spanned<String>>,
}

#[derive(Deserialize)]
struct PyProject {
    tool: Option<Tools>,
}

#[derive(Deserialize)]
struct Tools {
    vop: Option<Keys>,
}

/// Bytes that a configuration may have; a `pyproject.toml` holds much more than this command's.
const MAX_BYTES: u64 = 16 << 20;

/// Finds the configuration of each file.
pub(super) struct Configs {
    search: Search,
    /// Patterns of the command line, relative to the current folder.
    exclude: Option<Gitignore>,
    /// What was found for each folder, by its name as it was first met.
    known: HashMap<PathBuf, Result<Folder, String>>,
}

/// Where configurations are looked for.
enum Search {
    /// Nowhere: this one is for all files.
    One(Arc<Config>),
    /// In the folder of each file and those around it; the nearest counts.
    Upward,
}

/// A folder, without symbolic links, and its configuration.
#[derive(Clone)]
struct Folder {
    path: PathBuf,
    config: Arc<Config>,
}

impl Configs {
    /// Looks for configurations from each file upward.
    pub(super) fn upward(exclude: &[String]) -> Result<Configs, Failure> {
        Configs::new(Search::Upward, exclude)
    }

    /// No configuration.
    pub(super) fn none(exclude: &[String]) -> Result<Configs, Failure> {
        Configs::new(Search::One(Arc::default()), exclude)
    }

    /// The one of this file, which need not be called `vop.toml`.
    pub(super) fn of(path: &Path, exclude: &[String]) -> Result<Configs, Failure> {
        let config = read(path).map_err(Failure::Misuse)?;
        let config = config.ok_or_else(|| Failure::Misuse(format!("{} has no table `[tool.vop]`", path.display())))?;
        Configs::new(Search::One(Arc::new(config)), exclude)
    }

    fn new(search: Search, exclude: &[String]) -> Result<Configs, Failure> {
        let exclude = match exclude {
            [] => None,
            patterns => {
                let here = std::env::current_dir()?;
                let mut builder = GitignoreBuilder::new(std::fs::canonicalize(&here).unwrap_or(here));
                for pattern in patterns {
                    closed(pattern).map_err(|why| Failure::Misuse(format!("--exclude: {why}")))?;
                    let line = builder.add_line(None, pattern);
                    line.map_err(|error| Failure::Misuse(format!("--exclude: {}", without_line(&error))))?;
                }
                Some(builder.build().map_err(|error| Failure::Misuse(format!("--exclude: {}", without_line(&error))))?)
            }
        };
        Ok(Configs { search, exclude, known: HashMap::new() })
    }

    /// The configuration of a file; `-` has that of the current folder.
    pub(super) fn of_file(&mut self, path: &Path) -> Result<Arc<Config>, Failure> {
        let folder = self.folder(path.parent().unwrap_or(Path::new("")));
        folder.map(|folder| folder.config).map_err(Failure::Misuse)
    }

    /// Whether a file or folder is excluded; with `parents` also if a folder around it is. What a faulty configuration says is
    /// not known: that is reported when a file is read.
    pub(super) fn excludes(&mut self, path: &Path, is_dir: bool, parents: bool) -> bool {
        let Ok(folder) = self.folder(path.parent().unwrap_or(Path::new(""))) else { return false };
        // `.` and `..` have no name of their own.
        let path = match path.file_name() {
            Some(name) => folder.path.join(name),
            None => folder.path.clone(),
        };
        let exclude = [self.exclude.as_ref(), folder.config.exclude.as_ref()];
        exclude.into_iter().flatten().any(|patterns| {
            let inside = path.starts_with(patterns.path());
            let found = match parents && inside {
                true => patterns.matched_path_or_any_parents(&path, is_dir),
                false => patterns.matched(&path, is_dir),
            };
            inside && found.is_ignore()
        })
    }

    fn folder(&mut self, folder: &Path) -> Result<Folder, String> {
        if let Some(known) = self.known.get(folder) {
            return known.clone();
        }
        let real = if folder.as_os_str().is_empty() { Path::new(".") } else { folder };
        let real = std::fs::canonicalize(real).unwrap_or_else(|_| real.to_owned());
        let config = match &self.search {
            Search::One(config) => Ok(Arc::clone(config)),
            Search::Upward => self.upward_from(&real),
        };
        let found = config.map(|config| Folder { path: real, config });
        self.known.insert(folder.to_owned(), found.clone());
        found
    }

    /// The configuration of a folder without symbolic links: its own or that of the nearest folder around it.
    fn upward_from(&mut self, folder: &Path) -> Result<Arc<Config>, String> {
        if let Some(known) = self.known.get(folder) {
            return known.clone().map(|folder| folder.config);
        }
        let mut config = None;
        for name in ["vop.toml", "pyproject.toml"] {
            let file = folder.join(name);
            if config.is_none() && file.is_file() {
                config = read(&shown(&file))?;
            }
        }
        let config = match (config, folder.parent()) {
            (Some(config), _) => Arc::new(config),
            (None, Some(parent)) => self.upward_from(parent)?,
            (None, None) => Arc::default(),
        };
        let found = Folder { path: folder.to_owned(), config: Arc::clone(&config) };
        self.known.insert(folder.to_owned(), Ok(found));
        Ok(config)
    }
}

/// A path as it is printed: relative to the current folder where it is below.
fn shown(path: &Path) -> PathBuf {
    let here = std::env::current_dir().and_then(std::fs::canonicalize);
    let below = here.ok().and_then(|here| path.strip_prefix(here).ok().map(Path::to_owned));
    below.unwrap_or_else(|| path.to_owned())
}

/// Reads a configuration; none where a `pyproject.toml` has no `[tool.vop]`.
fn read(path: &Path) -> Result<Option<Config>, String> {
    let bytes = vop_arrays::read_text_file(path, MAX_BYTES).map_err(|error| error.to_string())?;
    let text = String::from_utf8(bytes).map_err(|_| format!("cannot read {}: it is not UTF-8", path.display()))?;
    let lines = Lines::new(&text);
    let name = path.display().to_string();
    let source = SourceText { lines: &lines, path: Some(&name) };
    let wrong = |span: std::ops::Range<usize>, why: &str| format!("{}: {why}", source.locate(&span));
    let faulty = |error: toml::de::Error| {
        let why = in_words(error.message().trim());
        wrong(error.span().unwrap_or(0..0), &why)
    };
    let keys = if path.file_name().is_some_and(|name| name == "pyproject.toml") {
        // The file is another tool's as well: a fault in it is told only if it says something to this one.
        if !text.contains("vop") {
            return Ok(None);
        }
        toml::from_str::<PyProject>(&text).map_err(faulty)?.tool.and_then(|tools| tools.vop)
    } else {
        Some(toml::from_str::<Keys>(&text).map_err(faulty)?)
    };
    let Some(keys) = keys else { return Ok(None) };
    fn value<T>(
        item: &Spanned<String>,
        read: impl Fn(&str) -> Result<T, String>,
        wrong: &dyn Fn(std::ops::Range<usize>, &str) -> String,
    ) -> Result<T, String> {
        read(item.get_ref()).map_err(|why| wrong(item.span(), &format!("`{}`: {why}", item.get_ref())))
    }
    let target = |text: &str| Target::from_str(text).map_err(|error| error.to_string());
    let semantics = |text: &str| Semantics::from_str(text).map_err(|error| error.to_string());
    let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."));
    let folder = std::fs::canonicalize(folder).unwrap_or_else(|_| folder.to_owned());
    let mut patterns = GitignoreBuilder::new(folder);
    for pattern in &keys.exclude {
        closed(pattern.get_ref()).map_err(|why| wrong(pattern.span(), &why))?;
        patterns.add_line(None, pattern.get_ref()).map_err(|error| wrong(pattern.span(), &without_line(&error)))?;
    }
    let exclude = patterns.build().map_err(|error| format!("{name}: {}", without_line(&error)))?;
    Ok(Some(Config {
        targets: keys.targets.iter().map(|item| value(item, target, &wrong)).collect::<Result<_, _>>()?,
        semantics: keys.semantics.as_ref().map(|item| value(item, semantics, &wrong)).transpose()?,
        allow: keys.allow.iter().map(|item| value(item, lint_code, &wrong)).collect::<Result<_, _>>()?,
        exclude: Some(exclude).filter(|exclude| !exclude.is_empty()),
    }))
}

/// The words of the reader of TOML, as users of the file say it.
fn in_words(message: &str) -> String {
    let mut words = message.replace("unknown field", "unknown key");
    for (theirs, ours) in [
        ("invalid type: ", "wrong type: "),
        ("expected a sequence", "expected a list of strings"),
        ("expected a borrowed string", "expected a string"),
        ("expected struct Keys", "expected a table"),
        ("expected struct Tools", "expected a table"),
        ("expected struct PyProject", "expected a table"),
        ("floating point `", "the number `"),
        ("integer `", "the number `"),
        ("boolean `", "`"),
        ("string \"", "the string \""),
        ("sequence, expected", "a list, expected"),
        ("map, expected", "a table, expected"),
    ] {
        words = words.replace(theirs, ours);
    }
    words
}

/// Refuses a `[` that no `]` closes, which would stand for itself.
fn closed(pattern: &str) -> Result<(), String> {
    let mut rest = pattern;
    while let Some(at) = rest.find(['[', '\\']) {
        if rest[at..].starts_with('\\') {
            let skipped = rest[at + 1..].chars().next().map_or(0, char::len_utf8);
            rest = &rest[at + 1 + skipped..];
            continue;
        }
        // A `]` right behind the bracket, or behind its `!`, is one of the characters.
        let class = rest[at + 1..].trim_start_matches(['!', '^']);
        let first = class.chars().next().map_or(0, char::len_utf8);
        let Some(end) = class[first..].find(']') else {
            return Err(format!("faulty pattern `{pattern}`: `[` has no `]`; for the character itself write `\\[`"));
        };
        rest = &class[first + end + 1..];
    }
    Ok(())
}

/// What is wrong with a pattern, without a number of a line, which would count patterns.
fn without_line(error: &ignore::Error) -> String {
    match error {
        ignore::Error::WithLineNumber { err, .. } | ignore::Error::WithPath { err, .. } => without_line(err),
        ignore::Error::Glob { glob: Some(glob), err } => format!("faulty pattern `{glob}`: {err}"),
        other => other.to_string(),
    }
}
