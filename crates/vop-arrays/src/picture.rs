//! `.png` files: elements of 8 or 16 bits, of shape [height, width] or [height, width, channels].

use std::io::{self, BufRead, Seek, Write};
use std::sync::{Arc, Mutex, PoisonError};

use memmap2::MmapMut;

use crate::format::{Description, Opening, ReadElements, WriteElements};
use crate::input::room;
use crate::{Element, error::Why};

fn why(error: impl std::fmt::Display) -> Why {
    Why::Content(error.to_string())
}

/// Bytes that the decoder takes for rows.
const ROW_LIMIT: usize = 64 << 20;

/// Deflate makes at most this number of bytes of one: 258 of two bits.
const MAX_EXPANSION: u128 = 1032;

/// Opens a picture in a file of `file` bytes. Rows are decoded when they are read, except those of an interlaced picture, whose last rows
/// are stored early: it may have `limit` bytes.
pub(crate) fn open<R: BufRead + Seek + Send + 'static>(content: R, file: u64, limit: u64) -> Result<Opening, Why> {
    let mut decoder = png::Decoder::new_with_limits(content, png::Limits { bytes: ROW_LIMIT });
    // Texts and profiles are unpacked otherwise.
    decoder.set_ignore_text_chunk(true);
    decoder.set_ignore_iccp_chunk(true);
    // Palettes and packed pixels become bytes.
    decoder.set_transformations(png::Transformations::EXPAND);
    let (width, height) = decoder.read_header_info().map_err(why)?.size();
    let mut reader = decoder.read_info().map_err(|error| match error {
        png::DecodingError::LimitsExceeded => {
            let limit = ROW_LIMIT >> 20;
            Why::Content(format!(
                "it has {width} x {height} pixels: a row of it takes more than the limit of {limit} MiB"
            ))
        }
        error => why(error),
    })?;
    let (color, depth) = reader.output_color_type();
    let element = if depth == png::BitDepth::Sixteen { Element::U16 } else { Element::U8 };
    let mut shape = vec![u64::from(height), u64::from(width)];
    if color.samples() > 1 {
        shape.push(color.samples() as u64);
    }
    let description = Description { element, shape };
    let pixels = u128::from(width) * u128::from(height);
    if pixels * reader.info().bits_per_pixel() as u128 / 8 > MAX_EXPANSION * u128::from(file) {
        return Err(format!("its {file} bytes are too few for {width} x {height} pixels").into());
    }
    let mut elements = Pixels { reader: None, left: height, element, rest: Vec::new(), whole: None, taken: 0 };
    if reader.info().interlaced {
        let bytes =
            description.byte_len().filter(|bytes| *bytes <= limit).and_then(|bytes| usize::try_from(bytes).ok());
        let Some(bytes) = bytes.filter(|bytes| reader.output_buffer_size() == Some(*bytes)) else {
            return Err(match Why::too_large(&description, limit) {
                Why::TooLarge(why) => Why::TooLarge(format!("it is interlaced, and {why}")),
                why => why,
            });
        };
        // Pages that nothing is written to take no memory: a damaged picture ends early.
        let mut whole = MmapMut::map_anon(bytes).map_err(|_| format!("there is no memory for its {bytes} bytes"))?;
        reader.next_frame(&mut whole).map_err(why)?;
        reader.finish().map_err(why)?;
        element.swap_bytes(&mut whole);
        elements.whole = Some(whole);
    } else {
        elements.reader = Some(reader);
    }
    Ok(Opening { description, elements: Box::new(elements) })
}

struct Pixels<R: BufRead + Seek> {
    /// The decoder of the next rows, if any are left.
    reader: Option<png::Reader<R>>,
    left: u32,
    element: Element,
    /// A decoded row.
    rest: Vec<u8>,
    /// All rows of an interlaced picture.
    whole: Option<MmapMut>,
    /// How many bytes of what is decoded were taken.
    taken: usize,
}

impl<R: BufRead + Seek> Pixels<R> {
    /// What is decoded.
    fn decoded(&self) -> &[u8] {
        self.whole.as_deref().unwrap_or(&self.rest)
    }
}

impl<R: BufRead + Seek + Send> ReadElements for Pixels<R> {
    fn read(&mut self, bytes: &mut [u8]) -> Result<(), String> {
        let mut filled = 0;
        while filled < bytes.len() {
            if self.taken == self.decoded().len() {
                let row = match &mut self.reader {
                    Some(reader) => reader.next_row().map_err(|error| error.to_string())?,
                    None => None,
                };
                self.rest.clear();
                self.rest.extend_from_slice(row.ok_or("it ends before its last row")?.data());
                self.taken = 0;
                // PNG is big-endian.
                self.element.swap_bytes(&mut self.rest);
                self.left = self.left.saturating_sub(1);
                if self.left == 0
                    && let Some(reader) = &mut self.reader
                {
                    // The checksums follow the last row.
                    reader.finish().map_err(|error| error.to_string())?;
                }
            }
            let decoded = &self.decoded()[self.taken..];
            let len = (bytes.len() - filled).min(decoded.len());
            bytes[filled..][..len].copy_from_slice(&decoded[..len]);
            filled += len;
            self.taken += len;
        }
        Ok(())
    }
}

/// Width, height, colours and depth of a picture; why an array is none.
fn picture_of(description: &Description) -> Result<(u32, u32, png::ColorType, png::BitDepth), String> {
    let (height, width, channels) = match *description.shape {
        [height, width] => (height, width, 1),
        [height, width, channels] => (height, width, channels),
        _ => {
            return Err(format!(
                "a picture has shape [height, width] or [height, width, channels], not {:?}",
                description.shape
            ));
        }
    };
    let depth = match description.element {
        Element::U8 => png::BitDepth::Eight,
        Element::U16 => png::BitDepth::Sixteen,
        other => return Err(format!("a picture holds u8 or u16, not {other}")),
    };
    let color = match channels {
        1 => png::ColorType::Grayscale,
        2 => png::ColorType::GrayscaleAlpha,
        3 => png::ColorType::Rgb,
        4 => png::ColorType::Rgba,
        _ => return Err(format!("a picture has 1 to 4 channels, not {channels}")),
    };
    match (i32::try_from(width), i32::try_from(height)) {
        (Ok(width @ 1..), Ok(height @ 1..)) => Ok((width as u32, height as u32, color, depth)),
        _ => Err(format!("a picture cannot have {width} x {height} pixels: each is 1 to {}", i32::MAX)),
    }
}

pub(crate) fn check(description: &Description) -> Result<(), String> {
    picture_of(description).map(drop)
}

/// A file with everything that precedes the elements.
fn begin<W: Write>(file: W, description: &Description) -> Result<png::Writer<W>, Why> {
    let (width, height, color, depth) = picture_of(description)?;
    let mut encoder = png::Encoder::new(file, width, height);
    encoder.set_color(color);
    encoder.set_depth(depth);
    encoder.write_header().map_err(why)
}

/// Writes a picture in blocks.
pub(crate) fn create<W: Write + Send + 'static>(
    file: W,
    description: &Description,
) -> Result<Box<dyn WriteElements>, Why> {
    let file = Shared(Arc::new(Mutex::new(file)));
    let stream = begin(file.clone(), description)?.into_stream_writer().map_err(why)?;
    Ok(Box::new(Picture { stream, file, element: description.element, swapped: Vec::new() }))
}

/// A file that the encoder writes to and drops, and that is flushed afterwards: errors at the end would be lost in the drop.
struct Shared<W>(Arc<Mutex<W>>);

impl<W> Clone for Shared<W> {
    fn clone(&self) -> Shared<W> {
        Shared(Arc::clone(&self.0))
    }
}

impl<W: Write> Write for Shared<W> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).write(bytes)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).flush()
    }
}

/// The content of a picture's file.
pub(crate) fn encode(description: &Description, elements: &[u8]) -> Result<Vec<u8>, Why> {
    let mut content = Vec::new();
    let mut writer = begin(&mut content, description)?;
    let mut swapped = room(elements.len() as u64)?;
    swapped.extend_from_slice(elements);
    description.element.swap_bytes(&mut swapped);
    writer.write_image_data(&swapped).and_then(|()| writer.finish()).map_err(why)?;
    Ok(content)
}

struct Picture<W: Write + 'static> {
    stream: png::StreamWriter<'static, Shared<W>>,
    file: Shared<W>,
    element: Element,
    swapped: Vec<u8>,
}

impl<W: Write + Send> WriteElements for Picture<W> {
    fn write(&mut self, bytes: &[u8]) -> Result<(), String> {
        self.swapped.clear();
        self.swapped.extend_from_slice(bytes);
        self.element.swap_bytes(&mut self.swapped);
        self.stream.write_all(&self.swapped).map_err(|error| error.to_string())
    }

    fn finish(self: Box<Self>) -> Result<(), String> {
        let Picture { stream, mut file, .. } = *self;
        stream.finish().map_err(|error| error.to_string())?;
        file.flush().map_err(|error| error.to_string())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A disk with room for a number of bytes.
    struct Disk(usize);

    impl Write for Disk {
        fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
            self.0 = self.0.checked_sub(bytes.len()).ok_or(io::ErrorKind::StorageFull)?;
            Ok(bytes.len())
        }

        fn flush(&mut self) -> io::Result<()> {
            Ok(())
        }
    }

    /// Every byte of a picture is on the disk, or there is an error: also the last ones, which wait in a buffer.
    #[test]
    fn a_full_disk_is_noticed_to_the_last_byte() {
        let description = Description { element: Element::U8, shape: vec![8, 8] };
        let whole = encode(&description, &[7; 64]).unwrap_or_default().len();
        let written = |room: usize| -> Result<(), String> {
            let file = io::BufWriter::new(Disk(room));
            let mut picture = create(file, &description).map_err(|why| why.to_string())?;
            picture.write(&[7; 64])?;
            picture.finish()
        };
        assert_eq!(written(4096), Ok(()));
        for room in 0..whole - 16 {
            assert!(written(room).is_err(), "{room} of {whole}");
        }
    }
}
