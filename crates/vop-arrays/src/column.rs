//! Columns of Parquet files: integers of 8, 16 or 32 bits, all of which Parquet keeps as `INT32`.

use std::fs::File;
use std::io::{BufReader, Read, Seek, SeekFrom, Take};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use parquet::basic::{Compression, ConvertedType, Encoding, LogicalType, Repetition, Type as Physical};
use parquet::column::page::{Page, PageMetadata, PageReader};
use parquet::column::reader::ColumnReaderImpl;
use parquet::data_type::Int32Type;
use parquet::errors::ParquetError;
use parquet::file::properties::WriterProperties;
use parquet::file::reader::{ChunkReader, FileReader, Length, SerializedFileReader};
use parquet::file::writer::SerializedFileWriter;
use parquet::schema::types::{ColumnDescPtr, ColumnDescriptor, Type};

use crate::format::{Description, Opening, ReadElements, WriteElements};
use crate::{Element, error::Why};

/// How many rows a group has: they are written together.
const GROUP: usize = 1 << 20;

/// A reason without Parquet's own names of kinds.
fn text(error: ParquetError) -> String {
    match error {
        ParquetError::General(why) | ParquetError::EOF(why) => why,
        error => error.to_string(),
    }
}

/// The integers that a column holds.
fn element(column: &ColumnDescriptor) -> Option<Element> {
    if column.physical_type() != Physical::INT32 || column.max_rep_level() > 0 {
        return None;
    }
    let of = |bits: i8, signed| Element::integer(usize::try_from(bits).ok()? / 8, signed).filter(|_| bits % 8 == 0);
    match (column.logical_type_ref(), column.converted_type()) {
        (Some(LogicalType::Integer(int)), _) => of(int.bit_width, int.is_signed),
        (None, ConvertedType::NONE | ConvertedType::INT_32) => of(32, true),
        (None, ConvertedType::INT_8) => of(8, true),
        (None, ConvertedType::INT_16) => of(16, true),
        (None, ConvertedType::UINT_8) => of(8, false),
        (None, ConvertedType::UINT_16) => of(16, false),
        (None, ConvertedType::UINT_32) => of(32, false),
        _ => None,
    }
}

/// Bytes of a page, unpacked: writers make pages of 1 MiB. A file of a few bytes may ask for 2 GiB.
const MAX_PAGE: u64 = 256 << 20;

/// Reads from a damaged file, at which the library may panic.
fn careful<T>(read: impl FnOnce() -> Result<T, String>) -> Result<T, String> {
    catch_unwind(AssertUnwindSafe(read)).unwrap_or_else(|_| Err("it is damaged".to_owned()))
}

/// A file that gives no more than it has, whatever its metadata says.
struct Bounded {
    file: File,
    len: u64,
    /// Whether pages are read, whose headers are looked at first.
    pages: Arc<AtomicBool>,
}

impl Bounded {
    fn at(&self, start: u64) -> Result<File, ParquetError> {
        let mut file = self.file.try_clone()?;
        file.seek(SeekFrom::Start(start))?;
        Ok(file)
    }
}

impl Length for Bounded {
    fn len(&self) -> u64 {
        self.len
    }
}

impl ChunkReader for Bounded {
    type T = BufReader<Take<File>>;

    fn get_read(&self, start: u64) -> Result<Self::T, ParquetError> {
        let left = self.len.checked_sub(start).ok_or_else(|| ParquetError::EOF("it ends before a page".to_owned()))?;
        if self.pages.load(Ordering::Relaxed) {
            let mut header = Vec::new();
            self.at(start)?.take(32).read_to_end(&mut header)?;
            if let Some(bytes) = page_bytes(&header).filter(|bytes| *bytes > MAX_PAGE) {
                let message = format!("a page of it has {bytes} bytes, more than {MAX_PAGE}");
                return Err(ParquetError::General(message));
            }
        }
        Ok(BufReader::new(self.at(start)?.take(left)))
    }

    fn get_bytes(&self, start: u64, length: usize) -> Result<bytes::Bytes, ParquetError> {
        if start.checked_add(length as u64).is_none_or(|end| end > self.len) {
            return Err(ParquetError::EOF("it ends within a page".to_owned()));
        }
        let mut bytes = Vec::with_capacity(length);
        self.at(start)?.take(length as u64).read_to_end(&mut bytes)?;
        match bytes.len() == length {
            true => Ok(bytes.into()),
            false => Err(ParquetError::EOF("it ends within a page".to_owned())),
        }
    }
}

/// The number of bytes, unpacked, that the header of a page gives: a structure of Thrift's compact protocol, whose first fields are the
/// type of the page, this number, and the number of bytes packed, each a 32-bit integer.
fn page_bytes(header: &[u8]) -> Option<u64> {
    const NEXT_I32: u8 = 0x15;
    let mut bytes = header.iter().copied();
    let mut field = || {
        if bytes.next()? != NEXT_I32 {
            return None;
        }
        let mut value = 0u64;
        for shift in (0..35).step_by(7) {
            let byte = bytes.next()?;
            value |= u64::from(byte & 0x7f) << shift;
            if byte < 0x80 {
                // Zigzag: the sign is the lowest bit.
                return Some((value >> 1, value & 1 == 1));
            }
        }
        None
    };
    let (_kind, (bytes, negative)) = (field()?, field()?);
    (!negative).then_some(bytes)
}

/// Gives pages whose numbers agree with their bytes.
struct Pages(Box<dyn PageReader>);

impl PageReader for Pages {
    fn get_next_page(&mut self) -> Result<Option<Page>, ParquetError> {
        let page = self.0.get_next_page()?;
        if let Some(Page::DictionaryPage { buf, num_values, encoding, .. }) = &page {
            let plain = matches!(encoding, Encoding::PLAIN | Encoding::PLAIN_DICTIONARY);
            if !plain || u64::from(*num_values) * 4 > buf.len() as u64 {
                return Err(ParquetError::General("its dictionary is damaged".to_owned()));
            }
        }
        Ok(page)
    }

    fn peek_next_page(&mut self) -> Result<Option<PageMetadata>, ParquetError> {
        self.0.peek_next_page()
    }

    fn skip_next_page(&mut self) -> Result<(), ParquetError> {
        self.0.skip_next_page()
    }
}

impl Iterator for Pages {
    type Item = Result<Page, ParquetError>;

    fn next(&mut self) -> Option<Self::Item> {
        self.get_next_page().transpose()
    }
}

/// Opens a column by its name. The name may be left out if one column fits.
pub(crate) fn open(file: File, len: u64, name: Option<&str>) -> Result<Opening, Why> {
    Ok(careful(|| open_column(file, len, name))?)
}

fn open_column(file: File, len: u64, name: Option<&str>) -> Result<Opening, String> {
    let pages = Arc::new(AtomicBool::new(false));
    let reader = SerializedFileReader::new(Bounded { file, len, pages: Arc::clone(&pages) }).map_err(text)?;
    pages.store(true, Ordering::Relaxed);
    let metadata = reader.metadata();
    let columns = metadata.file_metadata().schema_descr().columns();
    let listed = |columns: &[&str]| columns.join(", ");
    let names: Vec<String> = columns.iter().map(|column| column.path().string()).collect();
    let fit: Vec<&str> = columns.iter().zip(&names).filter_map(|(c, name)| element(c).map(|_| name.as_str())).collect();
    let column = match name {
        Some(name) => names.iter().position(|column| column == name).ok_or_else(|| {
            format!("it has no column `{name}`; its columns of 8, 16 or 32-bit integers: {}", listed(&fit))
        })?,
        None => match fit.as_slice() {
            [only] => names.iter().position(|name| name == only).unwrap_or(0),
            [] => return Err("it has no column of 8, 16 or 32-bit integers".into()),
            _ => return Err(format!("it has several columns, write FILE.parquet:COLUMN: {}", listed(&fit))),
        },
    };
    let Some(element) = element(&columns[column]) else {
        let (name, column) = (&names[column], &columns[column]);
        let kind = match (column.max_rep_level(), column.logical_type_ref()) {
            (1.., _) => "lists".to_owned(),
            (_, Some(logical)) => format!("{} as {logical:?}", column.physical_type()),
            (_, None) => column.physical_type().to_string(),
        };
        return Err(format!("column `{name}` holds {kind}: words and lanes are integers of 8, 16 or 32 bits"));
    };
    let rows = metadata.row_groups().iter().map(|group| u64::try_from(group.num_rows()).ok());
    let rows = rows.sum::<Option<u64>>().ok_or("its metadata has a negative number of rows")?;
    let column = Column {
        name: columns[column].path().string(),
        nullable: columns[column].max_def_level(),
        description: Arc::clone(&columns[column]),
        reader,
        column,
        element,
        group: 0,
        rows: None,
        done: 0,
    };
    Ok(Opening { description: Description { element, shape: vec![rows] }, elements: Box::new(column) })
}

struct Column {
    reader: SerializedFileReader<Bounded>,
    column: usize,
    description: ColumnDescPtr,
    name: String,
    element: Element,
    /// The definition level of a value that is not null.
    nullable: i16,
    /// The next group of rows, and the reader of the one before.
    group: usize,
    rows: Option<ColumnReaderImpl<Int32Type>>,
    /// How many values were read.
    done: u64,
}

impl ReadElements for Column {
    fn read(&mut self, bytes: &mut [u8]) -> Result<(), String> {
        careful(|| self.read_some(bytes))
    }
}

impl Column {
    fn read_some(&mut self, bytes: &mut [u8]) -> Result<(), String> {
        let wanted = bytes.len() / self.element.size();
        let mut values = Vec::with_capacity(wanted);
        let mut levels = Vec::new();
        while values.len() < wanted {
            let rows = match &mut self.rows {
                Some(rows) => rows,
                None if self.group < self.reader.num_row_groups() => {
                    let group = self.reader.get_row_group(self.group).map_err(text)?;
                    self.group += 1;
                    let pages = Pages(group.get_column_page_reader(self.column).map_err(text)?);
                    self.rows.insert(ColumnReaderImpl::new(Arc::clone(&self.description), Box::new(pages)))
                }
                None => return Err(format!("column `{}` ends before its last row", self.name)),
            };
            levels.clear();
            let (read, there, _) =
                rows.read_records(wanted - values.len(), Some(&mut levels), None, &mut values).map_err(text)?;
            if there < read {
                let null = levels.iter().position(|level| *level < self.nullable).unwrap_or(0) as u64;
                let row = self.done + null;
                return Err(format!("column `{}` has no value in row {row}: fill nulls first", self.name));
            }
            self.done += read as u64;
            if read == 0 {
                self.rows = None;
            }
        }
        match self.element.size() {
            1 => bytes.iter_mut().zip(&values).for_each(|(byte, value)| *byte = *value as u8),
            2 => {
                let places = bytes.as_chunks_mut().0.iter_mut();
                places.zip(&values).for_each(|(place, value)| *place = (*value as u16).to_le_bytes());
            }
            _ => {
                let places = bytes.as_chunks_mut().0.iter_mut();
                places.zip(&values).for_each(|(place, value)| *place = value.to_le_bytes());
            }
        }
        Ok(())
    }
}

pub(crate) fn check(element: Element) -> Result<(), String> {
    let fits = !element.is_float() && element.size() <= 4;
    if fits { Ok(()) } else { Err(format!("a column holds integers of 8, 16 or 32 bits, not {element}")) }
}

/// Writes a file of one column.
pub(crate) fn create(file: File, name: &str, element: Element) -> Result<Box<dyn WriteElements>, Why> {
    check(element)?;
    let logical = LogicalType::integer(8 * element.size() as i8, element.is_signed());
    let column = Type::primitive_type_builder(name, Physical::INT32)
        .with_repetition(Repetition::REQUIRED)
        .with_logical_type(Some(logical))
        .build()
        .map_err(text)?;
    let schema = Type::group_type_builder("schema").with_fields(vec![Arc::new(column)]).build().map_err(text)?;
    let properties = WriterProperties::builder()
        .set_created_by(concat!("vop ", env!("CARGO_PKG_VERSION")).to_owned())
        .set_compression(Compression::SNAPPY)
        .build();
    let writer = SerializedFileWriter::new(file, Arc::new(schema), Arc::new(properties)).map_err(text)?;
    Ok(Box::new(OneColumn { writer, element, values: Vec::new() }))
}

struct OneColumn {
    writer: SerializedFileWriter<File>,
    element: Element,
    /// Values of the next group.
    values: Vec<i32>,
}

impl OneColumn {
    fn write_group(&mut self) -> Result<(), String> {
        let mut group = self.writer.next_row_group().map_err(text)?;
        if let Some(mut column) = group.next_column().map_err(text)? {
            column.typed::<Int32Type>().write_batch(&self.values, None, None).map_err(text)?;
            column.close().map_err(text)?;
        }
        group.close().map_err(text)?;
        self.values.clear();
        Ok(())
    }
}

impl WriteElements for OneColumn {
    fn write(&mut self, bytes: &[u8]) -> Result<(), String> {
        let values = &mut self.values;
        match (self.element.size(), self.element.is_signed()) {
            (1, false) => values.extend(bytes.iter().map(|byte| i32::from(*byte))),
            (1, true) => values.extend(bytes.iter().map(|byte| i32::from(*byte as i8))),
            (2, false) => values.extend(bytes.as_chunks().0.iter().map(|two| i32::from(u16::from_le_bytes(*two)))),
            (2, true) => values.extend(bytes.as_chunks().0.iter().map(|two| i32::from(i16::from_le_bytes(*two)))),
            _ => values.extend(bytes.as_chunks().0.iter().map(|four| i32::from_le_bytes(*four))),
        }
        if self.values.len() >= GROUP { self.write_group() } else { Ok(()) }
    }

    fn finish(mut self: Box<Self>) -> Result<(), String> {
        if !self.values.is_empty() {
            self.write_group()?;
        }
        self.writer.close().map_err(text).map(drop)
    }
}
