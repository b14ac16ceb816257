//! The table of formats, and an array opened, read and written in any of them.

use std::fs::File;
use std::io::{BufReader, BufWriter, Read, Write};
use std::path::Path;

use memmap2::Mmap;

use crate::error::Why;
use crate::input::{open_plain, room};
use crate::{Element, Error, Staged, input, npy, picture};

#[cfg(feature = "parquet")]
use crate::column;

/// A format of files.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Format {
    /// NumPy's `.npy`.
    Npy,
    /// `.png`: u8 or u16, [height, width] or [height, width, channels].
    Png,
    /// Little-endian elements, and nothing that says what they are: `.raw`, `.bin`.
    Raw,
    /// A column of a `.parquet` file: integers of 8, 16 or 32 bits. It needs the feature `parquet`.
    Parquet,
}

/// The suffixes, in lower case, and their formats.
const SUFFIXES: [(&str, Format); 5] = [
    ("npy", Format::Npy),
    ("png", Format::Png),
    ("raw", Format::Raw),
    ("bin", Format::Raw),
    ("parquet", Format::Parquet),
];

impl Format {
    /// The format that a file's suffix names; `None` if it names none.
    pub fn of(path: &Path) -> Option<Format> {
        let suffix = path.extension()?.to_str()?;
        SUFFIXES.iter().find(|(known, _)| known.eq_ignore_ascii_case(suffix)).map(|(_, format)| *format)
    }

    /// Whether a file of this format says the type and the shape of its elements.
    pub fn describes_itself(self) -> bool {
        !matches!(self, Format::Raw)
    }

    /// Says why an array of this type and shape cannot be written in this format.
    ///
    /// # Errors
    /// The reason, as a sentence without the file's name.
    pub fn check(self, description: &Description) -> Result<(), String> {
        match self {
            Format::Npy if description.shape.len() > npy::MAX_AXES => {
                Err(format!("a .npy file has at most {} axes, not {}", npy::MAX_AXES, description.shape.len()))
            }
            Format::Npy | Format::Raw => Ok(()),
            Format::Png => picture::check(description),
            #[cfg(feature = "parquet")]
            Format::Parquet => column::check(description.element),
            #[cfg(not(feature = "parquet"))]
            Format::Parquet => Err(Why::NotBuiltIn.to_string()),
        }
    }
}

/// What an array is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Description {
    /// The type of its elements.
    pub element: Element,
    /// The length of each axis. Elements are in C order: the last axis varies fastest.
    pub shape: Vec<u64>,
}

/// A file, its format, and the column of a Parquet file if one is named.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Named<'a> {
    /// The file.
    pub path: &'a Path,
    /// Its format, by its suffix.
    pub format: Format,
    /// `COLUMN` of `FILE.parquet:COLUMN`.
    pub column: Option<&'a str>,
}

impl<'a> Named<'a> {
    /// Reads `FILE` or `FILE.parquet:COLUMN`; `None` if the suffix names no format.
    pub fn parse(argument: &'a str) -> Option<Named<'a>> {
        const PARQUET: &str = ".parquet:";
        if let Some(at) = argument.to_ascii_lowercase().find(PARQUET) {
            let (file, column) = argument.split_at(at + PARQUET.len() - 1);
            return Some(Named { path: Path::new(file), format: Format::Parquet, column: column.get(1..) });
        }
        let path = Path::new(argument);
        Some(Named { path, format: Format::of(path)?, column: None })
    }

    /// The error of an array that this file cannot take, for a reason as a sentence without the file's name.
    pub fn cannot_write(self, why: String) -> Error {
        Error::writing(self.path, why)
    }

    /// The error of a file that cannot be read, for a reason as a sentence without the file's name.
    pub fn cannot_read(self, why: String) -> Error {
        Error::reading(self.path, why)
    }

    /// Opens the file for reading in blocks.
    ///
    /// # Errors
    /// The file cannot be read, it is damaged, or it holds an array of another type than those of [`Element`].
    pub fn open(self) -> Result<Opened, Error> {
        self.open_any().map_err(|why| Error::reading(self.path, why))
    }

    fn open_any(self) -> Result<Opened, Why> {
        let (file, len) = open_plain(self.path)?;
        let opening = match self.format {
            Format::Npy => {
                let map = map(&file)?;
                let npy::Header { element, big_endian, shape, start } = npy::header(&map, map.len() as u64)?;
                let description = Some(Description { element, shape });
                return Ok(Opened { description, content: Content::Mapped(Mapped { map, start, big_endian }) });
            }
            Format::Raw => {
                let mapped = Mapped { map: map(&file)?, start: 0, big_endian: false };
                return Ok(Opened { description: None, content: Content::Mapped(mapped) });
            }
            Format::Png => picture::open(BufReader::new(file), len, MAX_INTERLACED)?,
            #[cfg(feature = "parquet")]
            Format::Parquet => column::open(file, len, self.column)?,
            #[cfg(not(feature = "parquet"))]
            Format::Parquet => return Err(Why::NotBuiltIn),
        };
        let Opening { description, elements } = opening;
        Ok(Opened { description: Some(description), content: Content::InOrder(elements) })
    }

    /// Creates the file for an array, beside its place. Its folder is created.
    ///
    /// # Errors
    /// The format has no such arrays, or the file cannot be created.
    pub fn create(self, description: &Description) -> Result<Created, Error> {
        let problem = |why: Why| Error::writing(self.path, why);
        #[cfg(not(feature = "parquet"))]
        if self.format == Format::Parquet {
            return Err(problem(Why::NotBuiltIn));
        }
        self.format.check(description).map_err(|why| problem(why.into()))?;
        let staged = Staged::create(self.path)?;
        let mut file = staged.reopen()?;
        let output = match self.format {
            Format::Npy => {
                let header = npy::header_of(description.element, &description.shape);
                file.write_all(&header).map_err(|error| problem(error.into()))?;
                Output::Anywhere { start: header.len() as u64, file }
            }
            Format::Raw => Output::Anywhere { start: 0, file },
            Format::Png => Output::InOrder(picture::create(BufWriter::new(file), description).map_err(problem)?),
            #[cfg(feature = "parquet")]
            Format::Parquet => {
                let name = self.column.unwrap_or("d");
                Output::InOrder(column::create(file, name, description.element).map_err(problem)?)
            }
            #[cfg(not(feature = "parquet"))]
            Format::Parquet => return Err(problem(Why::NotBuiltIn)),
        };
        Ok(Created { staged, output })
    }
}

/// A file that is open for reading.
pub struct Opened {
    /// What the file says that it holds; a raw file does not say it.
    pub description: Option<Description>,
    /// The elements.
    pub content: Content,
}

/// The elements of a file that is open for reading.
pub enum Content {
    /// All of them, in memory.
    Mapped(Mapped),
    /// From the first to the last.
    InOrder(Box<dyn ReadElements>),
}

/// A file in memory.
///
/// Whoever changes the file meanwhile changes what is read, and whoever truncates it ends the program by a signal.
#[derive(Debug)]
pub struct Mapped {
    map: Mmap,
    start: usize,
    big_endian: bool,
}

impl Mapped {
    /// The elements' bytes.
    pub fn bytes(&self) -> &[u8] {
        &self.map[self.start..]
    }

    /// Whether elements are big-endian.
    pub fn is_big_endian(&self) -> bool {
        self.big_endian
    }
}

/// Gives elements from the first to the last, as little-endian bytes in C order.
pub trait ReadElements: Send {
    /// Fills `bytes` with the next elements.
    ///
    /// # Errors
    /// The reason, as a sentence without the file's name: the file is damaged, or has no more elements.
    fn read(&mut self, bytes: &mut [u8]) -> Result<(), String>;
}

/// Takes elements from the first to the last, as little-endian bytes in C order.
pub trait WriteElements: Send {
    /// Writes the next elements.
    ///
    /// # Errors
    /// The reason, as a sentence without the file's name.
    fn write(&mut self, bytes: &[u8]) -> Result<(), String>;

    /// Writes what follows the last element.
    ///
    /// # Errors
    /// The reason, as a sentence without the file's name: some elements are missing, for example.
    fn finish(self: Box<Self>) -> Result<(), String>;
}

/// A file that is being written.
pub struct Created {
    /// The temporary file.
    pub staged: Staged,
    /// Where elements go.
    pub output: Output,
}

/// Where the elements of a file go.
pub enum Output {
    /// To their places behind a header.
    Anywhere {
        /// The header's length.
        start: u64,
        /// The file.
        file: File,
    },
    /// From the first to the last.
    InOrder(Box<dyn WriteElements>),
}

/// What a format that is read in order opens.
pub(crate) struct Opening {
    pub(crate) description: Description,
    pub(crate) elements: Box<dyn ReadElements>,
}

/// Bytes of an interlaced picture that is opened: it is decoded as a whole.
const MAX_INTERLACED: u64 = 1 << 30;

#[allow(unsafe_code, reason = "a file in memory")]
fn map(file: &File) -> Result<Mmap, Why> {
    // SAFETY: nothing here writes to the map, and its bytes are read as u8, of which every value is valid. What other processes do to
    // the file meanwhile cannot be prevented: `Mapped` and docs/map.md say what happens then.
    let map = unsafe { Mmap::map(file) }?;
    // Advice for the system's read-ahead. Without it the result is the same.
    #[cfg(unix)]
    let _ = map.advise(memmap2::Advice::Sequential);
    Ok(map)
}

/// An array in memory: little-endian elements in C order.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Array {
    /// The type of its elements, and its shape.
    pub description: Description,
    /// The elements.
    pub bytes: Vec<u8>,
}

impl Array {
    /// Reads a whole file of at most `limit` bytes of elements. A file that does not say what it holds is of type `element`, and of
    /// `shape` if that is given, otherwise of one axis.
    ///
    /// # Errors
    /// The file cannot be read, is damaged or too large, or `element` and `shape` are not what it holds.
    pub fn read(path: &Path, element: Option<Element>, shape: Option<&[u64]>, limit: u64) -> Result<Array, Error> {
        let problem = |why: Why| Error::reading(path, why);
        let format = Format::of(path).filter(|format| matches!(format, Format::Npy | Format::Png));
        let array = match format {
            Some(format) => whole(path, format, limit),
            None => raw(path, element, shape, limit),
        };
        let array = array.map_err(problem)?;
        let found = &array.description;
        let declared =
            Description { element: element.unwrap_or(found.element), shape: shape.unwrap_or(&found.shape).to_vec() };
        if declared != *found {
            return Err(problem(format!("it holds {found}, and {declared} is declared").into()));
        }
        Ok(array)
    }

    /// The content of a file of this format, which [`Format::check`] allows.
    ///
    /// # Errors
    /// The format has no such arrays, or cannot be written whole (Parquet).
    pub fn encode(&self, format: Format) -> Result<Vec<u8>, String> {
        format.check(&self.description)?;
        let Description { element, shape } = &self.description;
        match format {
            Format::Npy => joined(&npy::header_of(*element, shape), &self.bytes).map_err(|why| why.to_string()),
            Format::Png => picture::encode(&self.description, &self.bytes).map_err(|why| why.to_string()),
            Format::Raw => joined(&[], &self.bytes).map_err(|why| why.to_string()),
            Format::Parquet => Err("a Parquet file is written in blocks".to_owned()),
        }
    }
}

/// A header and elements, which may be too many for the machine's memory.
fn joined(header: &[u8], elements: &[u8]) -> Result<Vec<u8>, Why> {
    let mut content = room((header.len() + elements.len()) as u64)?;
    content.extend_from_slice(header);
    content.extend_from_slice(elements);
    Ok(content)
}

/// Reads a file that says what it holds.
fn whole(path: &Path, format: Format, limit: u64) -> Result<Array, Why> {
    let too_large = |description: &Description| Why::too_large(description, limit);
    let (file, len) = open_plain(path)?;
    if format == Format::Npy {
        let mut start = Vec::new();
        (&file).take(npy::MAX_HEADER).read_to_end(&mut start)?;
        let npy::Header { element, big_endian, shape, start: header } = npy::header(&start, len)?;
        let description = Description { element, shape };
        let Some(len) = description.byte_len().filter(|len| *len <= limit) else { return Err(too_large(&description)) };
        let mut bytes = room(len)?;
        bytes.extend_from_slice(start.get(header..).unwrap_or_default());
        file.take(len.saturating_sub(bytes.len() as u64)).read_to_end(&mut bytes)?;
        if bytes.len() as u64 != len {
            return Err("it became shorter while it was read".into());
        }
        if big_endian {
            element.swap_bytes(&mut bytes);
        }
        return Ok(Array { description, bytes });
    }
    let Opening { description, elements } = picture::open(BufReader::new(file), len, limit)?;
    let Some(len) = description.byte_len().filter(|len| *len <= limit) else { return Err(too_large(&description)) };
    let bytes = all(elements, len)?;
    Ok(Array { description, bytes })
}

/// All elements of a stream. Memory grows with what is there, not with what is said to be.
fn all(mut elements: Box<dyn ReadElements>, len: u64) -> Result<Vec<u8>, Why> {
    const STEP: usize = 1 << 20;
    let mut bytes = room(len)?;
    while (bytes.len() as u64) < len {
        let start = bytes.len();
        let step = usize::try_from(len - start as u64).map_or(STEP, |left| left.min(STEP));
        bytes.resize(start + step, 0);
        elements.read(&mut bytes[start..])?;
    }
    Ok(bytes)
}

/// Reads a file that does not say what it holds, or a descriptor of the process.
fn raw(path: &Path, element: Option<Element>, shape: Option<&[u64]>, limit: u64) -> Result<Array, Why> {
    // That there is none goes first.
    std::fs::metadata(path)?;
    let element = element.ok_or("it is a raw file: a `type` must say what it holds")?;
    let wanted = shape.map(|shape| Description { element, shape: shape.to_vec() });
    let of_other_length =
        |len: u64, wanted: &Description| Why::Content(format!("it has {len} bytes: that is not {wanted}"));
    if let Some(wanted) = &wanted
        && wanted.byte_len().is_none_or(|len| len > limit)
    {
        return Err(Why::too_large(wanted, limit));
    }
    let bytes = input::read_elements(path, limit, |len| match &wanted {
        Some(wanted) if wanted.byte_len() != Some(len) => Err(of_other_length(len, wanted)),
        _ => Ok(raw_len(element, len).map(drop)?),
    })?;
    let description = match wanted {
        Some(wanted) => wanted,
        None => Description { element, shape: vec![raw_len(element, bytes.len() as u64)?] },
    };
    Ok(Array { description, bytes })
}

/// How many elements a raw file of this length has.
///
/// # Errors
/// The length is no multiple of an element's.
pub fn raw_len(element: Element, bytes: u64) -> Result<u64, String> {
    let size = element.size() as u64;
    if bytes.is_multiple_of(size) {
        return Ok(bytes / size);
    }
    Err(format!("it has {bytes} bytes, which is no multiple of {size}, the size of a {element}"))
}

impl Description {
    /// How many bytes the elements have; `None` if the number does not fit 64 bits.
    pub fn byte_len(&self) -> Option<u64> {
        self.element.byte_len(&self.shape)
    }
}

impl std::fmt::Display for Description {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{} {:?}", self.element, self.shape)
    }
}
