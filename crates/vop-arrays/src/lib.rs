//! Arrays in files: NumPy's `.npy`, `.png`, raw bytes and, with the feature `parquet`, columns of Parquet files.
//!
//! ```text
//! Array::read, encode      an array whole
//! Named::open ──► Opened   elements in memory (.npy, raw), or from the first to the last (.png, Parquet)
//! Named::create ──► Created, Staged::commit    the other way
//! ```
//!
//! A format gives and takes elements as little-endian bytes in C order. [`Format`] is the table of them, and each has a module of its own
//! below it. Files are looked at before they are opened ([`read_file`]), and written under a temporary name, synced and renamed
//! ([`Staged`], [`write_atomically`]).

#[cfg(feature = "parquet")]
mod column;
mod element;
mod error;
mod format;
mod input;
mod npy;
mod picture;
mod staged;

pub use element::{Element, UnknownElement};
pub use error::{Error, ErrorKind};
pub use format::{
    Array, Content, Created, Description, Format, Mapped, Named, Opened, Output, ReadElements, WriteElements, raw_len,
};
pub use input::{MAX_TEXT, open_text_file, read_file, read_text_file, read_text_file_into};
/// Tests write their files with it. It is no part of the interface.
#[cfg(feature = "parquet")]
#[doc(hidden)]
pub use parquet;
pub use staged::{Staged, write_atomically};
