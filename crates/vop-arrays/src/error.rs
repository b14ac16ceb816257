//! Why a file was not read or written.

use std::fmt;
use std::io;
use std::path::{Path, PathBuf};

use crate::Description;

/// Why a file was not read or written.
#[derive(Debug)]
pub struct Error {
    path: PathBuf,
    writing: bool,
    why: Why,
}

/// The reason, without the file.
#[derive(Debug)]
pub(crate) enum Why {
    /// The system refused.
    System(io::Error),
    /// The content, the type or the shape.
    Content(String),
    /// There is more of it than the caller takes.
    TooLarge(String),
    /// The format is known and was not compiled in.
    #[cfg_attr(feature = "parquet", expect(dead_code, reason = "all formats are built in"))]
    NotBuiltIn,
}

/// What kind of an [`Error`] it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum ErrorKind {
    /// The system refused: there is no such file, or it may not be read or written.
    System,
    /// The file is damaged, or the format has no such arrays.
    Content,
    /// The format needs a Cargo feature that is off.
    NotBuiltIn,
    /// The file has more bytes, or bytes of elements, than the caller takes.
    TooLarge,
}

impl Why {
    /// An array has more bytes than the caller takes.
    pub(crate) fn too_large(description: &Description, limit: u64) -> Why {
        let has =
            description.byte_len().map_or("more bytes than 64 bits count".to_owned(), |len| format!("{len} bytes"));
        Why::TooLarge(format!("{description} is too large: it has {has}, and the limit is {limit} bytes"))
    }
}

impl From<io::Error> for Why {
    fn from(error: io::Error) -> Why {
        Why::System(error)
    }
}

impl From<String> for Why {
    fn from(why: String) -> Why {
        Why::Content(why)
    }
}

impl From<&str> for Why {
    fn from(why: &str) -> Why {
        Why::Content(why.to_owned())
    }
}

impl Error {
    pub(crate) fn reading(path: &Path, why: impl Into<Why>) -> Error {
        Error { path: path.to_owned(), writing: false, why: why.into() }
    }

    pub(crate) fn writing(path: &Path, why: impl Into<Why>) -> Error {
        Error { path: path.to_owned(), writing: true, why: why.into() }
    }

    /// The file.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// What kind of an error it is.
    pub fn kind(&self) -> ErrorKind {
        match self.why {
            Why::System(_) => ErrorKind::System,
            Why::Content(_) => ErrorKind::Content,
            Why::TooLarge(_) => ErrorKind::TooLarge,
            Why::NotBuiltIn => ErrorKind::NotBuiltIn,
        }
    }

    /// The reason alone, without the file.
    pub fn reason(&self) -> String {
        self.why.to_string()
    }
}

impl fmt::Display for Why {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Why::System(error) => error.fmt(f),
            Why::Content(why) | Why::TooLarge(why) => why.fmt(f),
            Why::NotBuiltIn => f.write_str(
                "this `vop` was built without Parquet: `cargo install vop-cli --features parquet` builds one with it",
            ),
        }
    }
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let verb = if self.writing { "write" } else { "read" };
        write!(f, "cannot {verb} {}: {}", self.path.display(), self.why)
    }
}

impl std::error::Error for Error {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        match &self.why {
            Why::System(error) => Some(error),
            Why::Content(_) | Why::TooLarge(_) | Why::NotBuiltIn => None,
        }
    }
}
