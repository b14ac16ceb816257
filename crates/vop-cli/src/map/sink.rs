//! Where results go: a file that appears when it is whole.

use std::fs::File;
use std::io::{Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};
use std::sync::{Condvar, Mutex, PoisonError};

use tempfile::NamedTempFile;

use super::layout::Layout;
use super::source::Format;
use super::{column, npy, picture};

/// What must be written in order: the bytes of elements.
pub(super) trait Writer: Send {
    fn write(&mut self, bytes: &[u8]) -> Result<(), String>;
    fn finish(self: Box<Self>) -> Result<(), String>;
}

pub(super) struct Sink {
    /// The file beside its place.
    file: NamedTempFile,
    path: PathBuf,
    /// How elements lie in the file.
    pub(super) layout: Layout,
    kind: Kind,
}

enum Kind {
    /// Elements have their places behind a header. Writes of several threads at once are slower than one after the other, as
    /// the system keeps them apart.
    Anywhere(u64, Mutex<File>),
    /// The block whose turn it is, and what writes it.
    InOrder(Mutex<(u64, Box<dyn Writer>)>, Condvar),
}

impl Sink {
    /// A file for a result.
    pub(super) fn create(path: &Path, format: Format<'_>, result: &Layout) -> Result<Sink, String> {
        let problem = |why: String| format!("cannot write {}: {why}", path.display());
        let replaced = std::fs::metadata(path).ok();
        if replaced.as_ref().is_some_and(|file| !file.is_file()) {
            return Err(problem("it is no plain file".to_owned()));
        }
        let layout = match format {
            Format::Png => picture::layout(result).map_err(problem)?,
            Format::Raw => Layout::raw(result.words()),
            Format::Npy | Format::Parquet(_) => result.clone(),
        };
        // The file that a link leads to is replaced, not the link.
        let path = std::fs::canonicalize(path).unwrap_or_else(|_| path.to_owned());
        let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."));
        if !folder.is_dir() {
            return Err(problem(format!("no folder {}", folder.display())));
        }
        let mut builder = tempfile::Builder::new();
        builder.prefix(".vop-");
        #[cfg(unix)]
        {
            use std::os::unix::fs::PermissionsExt;
            // Those of the file that is replaced; or of a usual new file, of which the umask takes its share.
            let usual = || std::fs::Permissions::from_mode(0o666);
            builder.permissions(replaced.map_or_else(usual, |file| file.permissions()));
        }
        let file = builder.tempfile_in(folder).map_err(|error| problem(error.to_string()))?;
        let reopened = || file.reopen().map_err(|error| error.to_string());
        let in_order = |writer| Kind::InOrder(Mutex::new((0, writer)), Condvar::new());
        let kind = match format {
            Format::Npy => npy::header(&layout).and_then(|header| {
                let mut file = reopened()?;
                file.write_all(&header).map_err(|error| error.to_string())?;
                Ok(Kind::Anywhere(header.len() as u64, Mutex::new(file)))
            }),
            Format::Raw => reopened().map(|file| Kind::Anywhere(0, Mutex::new(file))),
            Format::Parquet(name) => {
                reopened().and_then(|file| column::write(file, name.unwrap_or("d"), layout.element)).map(in_order)
            }
            Format::Png => reopened().and_then(|file| picture::write(file, &layout)).map(in_order),
        }
        .map_err(problem)?;
        Ok(Sink { file, path, layout, kind })
    }

    /// Wakes those that wait for their turn, which may not come any more.
    pub(super) fn wake(&self) {
        if let Kind::InOrder(turn, changed) = &self.kind {
            // Nobody is between having looked and waiting while the lock is held.
            drop(turn.lock().unwrap_or_else(PoisonError::into_inner));
            changed.notify_all();
        }
    }

    /// Puts the file in its place.
    pub(super) fn finish(self) -> Result<(), String> {
        let problem = |why: String| format!("cannot write {}: {why}", self.path.display());
        if let Kind::InOrder(turn, _) = self.kind {
            turn.into_inner().unwrap_or_else(PoisonError::into_inner).1.finish().map_err(problem)?;
        }
        self.file.persist(&self.path).map(drop).map_err(|error| problem(error.error.to_string()))
    }

    /// Writes a block's words, the first of which has this number. `stop` says that nothing needs to be written any more.
    pub(super) fn write(&self, block: u64, first: u64, words: &[u32], stop: impl Fn() -> bool) -> Result<(), String> {
        let bytes = self.layout.unpack(first, words);
        let result = match &self.kind {
            Kind::Anywhere(start, file) => {
                let mut file = file.lock().unwrap_or_else(PoisonError::into_inner);
                let place = file.seek(SeekFrom::Start(start + self.layout.offset(first)));
                place.and_then(|_| file.write_all(&bytes)).map_err(|error| error.to_string())
            }
            Kind::InOrder(turn, changed) => {
                let turn = turn.lock().unwrap_or_else(PoisonError::into_inner);
                let waiting = |(next, _): &mut (u64, Box<dyn Writer>)| *next != block && !stop();
                let mut turn = changed.wait_while(turn, waiting).unwrap_or_else(PoisonError::into_inner);
                if turn.0 != block {
                    return Ok(());
                }
                let result = turn.1.write(&bytes);
                turn.0 += 1;
                changed.notify_all();
                result
            }
        };
        result.map_err(|why| format!("cannot write {}: {why}", self.path.display()))
    }
}
