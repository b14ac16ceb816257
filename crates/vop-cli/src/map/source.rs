//! Where words come from: a value, a file in memory, or a file that is read from its beginning to its end.

use std::fs::File;
use std::path::{Path, PathBuf};

use memmap2::Mmap;

use super::layout::{Element, Layout};
use super::{column, npy, picture};

/// One of a, b and c.
pub(super) enum Source {
    /// The form does not read it.
    None,
    Value(u32),
    Array(Array),
}

pub(super) struct Array {
    pub(super) path: PathBuf,
    pub(super) layout: Layout,
    pub(super) content: Content,
}

pub(super) enum Content {
    /// A file in memory, and where its elements begin; whether they are big-endian.
    Mapped { map: Mmap, start: usize, big_endian: bool },
    /// What must be read in order.
    Stream(Box<dyn Stream>),
}

/// Elements in C order, little-endian.
pub(super) trait Stream: Send {
    /// The next of them, as many bytes as there is room for.
    fn read(&mut self, bytes: &mut [u8]) -> Result<(), String>;
}

/// What a file is, by its name.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Format<'a> {
    Npy,
    Raw,
    Png,
    /// A Parquet file, and a column if one is named.
    Parquet(Option<&'a str>),
}

/// The file that an argument names, and its format; `None` if the name says none.
pub(super) fn format(argument: &str) -> Option<(&Path, Format<'_>)> {
    let lower = argument.to_ascii_lowercase();
    let of = |format| Some((Path::new(argument), format));
    if let Some(at) = lower.find(".parquet:") {
        let (file, column) = argument.split_at(at + ".parquet".len());
        return Some((Path::new(file), Format::Parquet(column.get(1..))));
    }
    match Path::new(&lower).extension()?.to_str()? {
        "npy" => of(Format::Npy),
        "bin" | "raw" => of(Format::Raw),
        "png" => of(Format::Png),
        "parquet" => of(Format::Parquet(None)),
        _ => None,
    }
}

/// What names of files can be.
pub(super) const FORMATS: &str =
    "name it .npy, .png, .raw or .bin (little-endian 32-bit words), or FILE.parquet:COLUMN";

impl Array {
    pub(super) fn open(path: &Path, format: Format<'_>) -> Result<Array, String> {
        let problem = |why: String| format!("cannot read {}: {why}", path.display());
        let file = File::open(path).map_err(|error| problem(error.to_string()))?;
        if !file.metadata().is_ok_and(|file| file.is_file()) {
            return Err(problem("it is no plain file".to_owned()));
        }
        let (layout, content) = match format {
            Format::Npy => map(&file).and_then(npy::open),
            Format::Raw => map(&file).and_then(raw),
            Format::Png => picture::open(file),
            Format::Parquet(column) => column::open(file, column),
        }
        .map_err(problem)?;
        Ok(Array { path: path.to_owned(), layout, content })
    }
}

#[allow(unsafe_code, reason = "a file in memory")]
fn map(file: &File) -> Result<Mmap, String> {
    // SAFETY: the map is read alone. Whoever changes the file meanwhile changes what is computed, and whoever cuts it off ends
    // the program by a signal: docs/map.md says that files must stay as they are.
    let map = unsafe { Mmap::map(file) }.map_err(|error| error.to_string())?;
    // Only advice: without it everything goes the same way.
    #[cfg(unix)]
    let _ = map.advise(memmap2::Advice::Sequential);
    Ok(map)
}

fn raw(map: Mmap) -> Result<(Layout, Content), String> {
    if !map.len().is_multiple_of(4) {
        return Err(format!("it has {} bytes, which is no number of 32-bit words", map.len()));
    }
    Ok((Layout::raw(map.len() as u64 / 4), Content::Mapped { map, start: 0, big_endian: false }))
}

impl Element {
    /// Turns big-endian elements into little-endian ones, or back.
    pub(super) fn swap(self, bytes: &mut [u8]) {
        match self.bytes {
            2 => bytes.as_chunks_mut::<2>().0.iter_mut().for_each(|element| element.reverse()),
            4 => bytes.as_chunks_mut::<4>().0.iter_mut().for_each(|element| element.reverse()),
            _ => {}
        }
    }
}
