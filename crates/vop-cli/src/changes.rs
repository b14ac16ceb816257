//! Sources that a command changes: as a diff, or written.

use std::io::Write;
use std::path::{Path, PathBuf};

use similar::TextDiff;
use vop_ptx::{encoding, find};

use crate::{Failure, output};

/// Why notebooks stay as they are.
pub(crate) const NOTEBOOK: &str = "the cells of a notebook are strings of JSON, which are not edited";

/// A file, and what becomes of it.
pub(crate) struct Change {
    pub(crate) path: PathBuf,
    /// None of a file that is new.
    pub(crate) before: Option<Vec<u8>>,
    pub(crate) after: Vec<u8>,
}

impl Change {
    pub(crate) fn is_change(&self) -> bool {
        self.before.as_deref() != Some(&self.after)
    }
}

/// The bytes of a source that may be changed.
pub(crate) fn read(path: &Path) -> Result<Vec<u8>, Failure> {
    let source = output::read(path)?;
    if encoding::decoded(&source).is_some_and(|text| find::mentions(text.as_bytes())) {
        let why = format!("{} is in UTF-16 or UTF-32, which is not rewritten; convert it to UTF-8", path.display());
        return Err(Failure::Misuse(why));
    }
    Ok(source)
}

/// Writes the files that change: all of them or none.
pub(crate) fn write<'c>(changes: impl IntoIterator<Item = &'c Change>) -> Result<(), Failure> {
    let changes = changes.into_iter().filter(|change| change.is_change());
    let changes: Vec<(&Path, &[u8])> = changes.map(|change| (&*change.path, &change.after[..])).collect();
    vop_arrays::write_atomically(&changes).map_err(|error| Failure::Misuse(error.to_string()))
}

/// Prints what changes as `patch -p1` and `git apply` take it.
pub(crate) fn print_diff<'c>(changes: impl IntoIterator<Item = &'c Change>) -> Result<(), Failure> {
    let mut out = output::stdout();
    for change in changes.into_iter().filter(|change| change.is_change()) {
        let name = change.path.strip_prefix(".").unwrap_or(&change.path).display().to_string();
        let name = name.trim_start_matches('/');
        let from = if change.before.is_some() { format!("a/{name}") } else { "/dev/null".into() };
        // Bytes that are no UTF-8 are shown as such; writing keeps them.
        let before = String::from_utf8_lossy(change.before.as_deref().unwrap_or_default());
        let after = String::from_utf8_lossy(&change.after);
        // Not `from_lines`, to which a lone CR ends a line: to patch and git it does not.
        let before: Vec<&str> = before.split_inclusive('\n').collect();
        let after: Vec<&str> = after.split_inclusive('\n').collect();
        let diff = TextDiff::configure().newline_terminated(true).diff_slices(&before, &after);
        write!(out, "{}", diff.unified_diff().context_radius(3).header(&from, &format!("b/{name}")))?;
    }
    out.flush()?;
    Ok(())
}
