//! Files to read: looked at before they are opened, and read up to a limit.
//!
//! What is no plain file is refused by its kind: a folder, a device that never ends, a pipe that nobody writes to. Descriptors of the
//! process, such as `/dev/stdin` and bash's `<(…)`, are streams, which [`read_text_file`] reads up to its limit.

use std::fs::{File, FileType, Metadata, OpenOptions};
use std::io::{self, Read};
use std::path::Path;

use crate::{Error, error::Why};

/// Bytes that a file of text may have: a PTX module, a source file, a list of instructions.
pub const MAX_TEXT: u64 = 256 << 20;

/// What a file is, for a message; none of a plain one.
pub(crate) fn kind(ty: FileType) -> Option<&'static str> {
    if ty.is_file() {
        return None;
    }
    if ty.is_dir() {
        return Some("it is a folder");
    }
    #[cfg(unix)]
    {
        use std::os::unix::fs::FileTypeExt;
        if ty.is_fifo() {
            return Some("it is a named pipe");
        }
        if ty.is_socket() {
            return Some("it is a socket");
        }
        if ty.is_char_device() || ty.is_block_device() {
            return Some("it is a device");
        }
    }
    Some("it is no plain file")
}

fn invalid(why: String) -> Why {
    io::Error::new(io::ErrorKind::InvalidInput, why).into()
}

fn check_kind(found: &Metadata) -> Result<(), Why> {
    match kind(found.file_type()) {
        None => Ok(()),
        Some(kind) => Err(invalid(format!("{kind}, not a plain file"))),
    }
}

/// Opens a file without waiting for anybody: a pipe may have taken the place of a plain file since it was looked at.
fn open_at_once(path: &Path) -> io::Result<File> {
    let mut options = OpenOptions::new();
    options.read(true);
    #[cfg(unix)]
    {
        use std::os::unix::fs::OpenOptionsExt;
        options.custom_flags((rustix::fs::OFlags::NONBLOCK | rustix::fs::OFlags::NOCTTY).bits() as i32);
    }
    options.open(path)
}

/// Opens a plain file, and tells its length.
pub(crate) fn open_plain(path: &Path) -> Result<(File, u64), Why> {
    check_kind(&std::fs::metadata(path)?)?;
    let file = open_at_once(path)?;
    let found = file.metadata()?;
    check_kind(&found)?;
    Ok((file, found.len()))
}

/// Reads what is left of a file: at most `limit` bytes, and `expected` by what the system says.
fn rest(file: impl Read, expected: u64, limit: u64) -> Result<Vec<u8>, Why> {
    let mut bytes = Vec::new();
    rest_into(file, expected, limit, &mut bytes)?;
    Ok(bytes)
}

/// As [`rest`], into a buffer, whose content is replaced.
fn rest_into(file: impl Read, expected: u64, limit: u64, bytes: &mut Vec<u8>) -> Result<(), Why> {
    bytes.clear();
    let too_long = |len: String| Why::TooLarge(format!("it has {len} bytes: at most {limit} are read"));
    if expected > limit {
        return Err(too_long(expected.to_string()));
    }
    reserve(bytes, expected)?;
    file.take(limit.saturating_add(1)).read_to_end(bytes)?;
    if bytes.len() as u64 > limit {
        return Err(too_long(format!("more than {limit}")));
    }
    Ok(())
}

/// Room for a number of bytes.
pub(crate) fn room(len: u64) -> Result<Vec<u8>, Why> {
    let mut bytes = Vec::new();
    reserve(&mut bytes, len)?;
    Ok(bytes)
}

fn reserve(bytes: &mut Vec<u8>, len: u64) -> Result<(), Why> {
    let reserved = usize::try_from(len).is_ok_and(|len| bytes.try_reserve_exact(len).is_ok());
    if reserved { Ok(()) } else { Err(format!("there is no memory for its {len} bytes").into()) }
}

/// Reads a plain file of at most `limit` bytes.
///
/// # Errors
/// There is no such file, it is no plain file, or it is longer.
pub fn read_file(path: &Path, limit: u64) -> Result<Vec<u8>, Error> {
    let read = || {
        let (file, len) = open_plain(path)?;
        rest(file, len, limit)
    };
    read().map_err(|why| Error::reading(path, why))
}

/// Reads a file of text, or standard input for `-`, as [`open_text_file`] opens it: at most `limit` bytes.
///
/// # Errors
/// As for [`open_text_file`], and if it is longer.
pub fn read_text_file(path: &Path, limit: u64) -> Result<Vec<u8>, Error> {
    let mut bytes = Vec::new();
    read_text_file_into(path, limit, &mut bytes)?;
    Ok(bytes)
}

/// As [`read_text_file`], into a buffer, whose content is replaced: for many files one allocation is enough.
///
/// # Errors
/// As for [`read_text_file`].
pub fn read_text_file_into(path: &Path, limit: u64, bytes: &mut Vec<u8>) -> Result<(), Error> {
    let mut read = || {
        let (file, len) = open_text(path)?;
        rest_into(file, len.unwrap_or(0), limit, bytes)
    };
    read().map_err(|why| Error::reading(path, why))
}

/// Opens a file of text, or standard input for `-`. Beside plain files it takes descriptors of the process, which are read to their end
/// (`/dev/stdin`, `/dev/fd/63`, and so bash's `<(…)`), and `/dev/null`, which is empty.
///
/// # Errors
/// There is no such file, or it is of another kind, such as a device or a pipe with a name.
pub fn open_text_file(path: &Path) -> Result<Box<dyn Read>, Error> {
    open_text(path).map(|(file, _)| file).map_err(|why| Error::reading(path, why))
}

/// A file of text, and its length if the system tells it.
fn open_text(path: &Path) -> Result<(Box<dyn Read>, Option<u64>), Why> {
    if path.as_os_str() == "-" {
        return Ok((Box::new(io::stdin()), None));
    }
    let found = std::fs::metadata(path)?;
    if found.is_file() {
        let (file, len) = open_plain(path)?;
        return Ok((Box::new(file), Some(len)));
    }
    if is_null(path) {
        return Ok((Box::new(io::empty()), None));
    }
    if !found.is_dir() && is_descriptor(path) {
        return Ok((Box::new(open_descriptor(path)?), None));
    }
    match kind(found.file_type()) {
        Some(kind) if kind.ends_with("pipe") => {
            Err(invalid(format!("{kind}, not a plain file; `- < {}` reads from it", path.display())))
        }
        Some(kind) => Err(invalid(format!("{kind}, not a plain file"))),
        None => Err(invalid("it changes while it is read".to_owned())),
    }
}

/// Reads the elements of a file that has nothing else: at most `limit` bytes. `check` judges the length before they are read, or behind
/// them where a descriptor of the process is read, which does not tell its length.
pub(crate) fn read_elements(path: &Path, limit: u64, check: impl Fn(u64) -> Result<(), Why>) -> Result<Vec<u8>, Why> {
    let found = std::fs::metadata(path)?;
    if !found.is_file() && !found.is_dir() && is_descriptor(path) {
        let bytes = rest(open_descriptor(path)?, 0, limit)?;
        check(bytes.len() as u64)?;
        return Ok(bytes);
    }
    let (file, len) = open_plain(path)?;
    check(len)?;
    let bytes = rest(file, len, limit)?;
    // It may have grown or shrunk meanwhile.
    check(bytes.len() as u64)?;
    Ok(bytes)
}

/// Whether it is the device that is always empty.
fn is_null(path: &Path) -> bool {
    cfg!(unix) && std::fs::canonicalize(path).is_ok_and(|path| path == Path::new("/dev/null"))
}

/// Whether a path is a descriptor of a process, directly or through symbolic links: `/dev/stdin`, `/dev/fd/3`, `/proc/self/fd/3`.
fn is_descriptor(path: &Path) -> bool {
    let mut path = path.to_owned();
    // Linux follows 40 links.
    for _ in 0..40 {
        let Some(parent) = path.parent() else { return false };
        let parent = if parent.as_os_str().is_empty() { Path::new(".") } else { parent };
        let Ok(folder) = std::fs::canonicalize(parent) else { return false };
        let of_process = folder.starts_with("/proc") && folder.file_name().is_some_and(|name| name == "fd");
        if of_process || folder == Path::new("/dev/fd") {
            return true;
        }
        // Where `/dev/stdin` is no link.
        if path.file_name().is_some_and(|name| name == "stdin") && folder == Path::new("/dev") {
            return true;
        }
        match std::fs::read_link(&path) {
            Ok(target) => path = folder.join(target),
            Err(_) => return false,
        }
    }
    false
}

/// Opens a descriptor: a pipe's end that nobody writes to any more is at its end, and one that is written to is waited for.
fn open_descriptor(path: &Path) -> io::Result<File> {
    let file = open_at_once(path)?;
    #[cfg(unix)]
    {
        let flags = rustix::fs::fcntl_getfl(&file)?;
        rustix::fs::fcntl_setfl(&file, flags - rustix::fs::OFlags::NONBLOCK)?;
    }
    Ok(file)
}
