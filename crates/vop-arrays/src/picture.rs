//! `.png` files: elements of 8 or 16 bits, of shape [height, width] or [height, width, channels].

use std::io::{BufRead, Seek, Write};

use crate::format::{Description, Opening, ReadElements, WriteElements};
use crate::{Element, error::Why};

const TOO_LARGE: &str = "the picture is too large";

fn why(error: impl std::fmt::Display) -> Why {
    Why::Content(error.to_string())
}

/// Opens a picture. Rows are decoded when they are read, except those of an interlaced picture, whose last rows are stored early.
pub(crate) fn open<R: BufRead + Seek + Send + 'static>(file: R) -> Result<Opening, Why> {
    let mut decoder = png::Decoder::new(file);
    // Palettes and packed pixels become bytes.
    decoder.set_transformations(png::Transformations::EXPAND);
    let mut reader = decoder.read_info().map_err(why)?;
    let (color, depth) = reader.output_color_type();
    let element = if depth == png::BitDepth::Sixteen { Element::U16 } else { Element::U8 };
    let mut shape = vec![u64::from(reader.info().height), u64::from(reader.info().width)];
    if color.samples() > 1 {
        shape.push(color.samples() as u64);
    }
    let mut pixels = Pixels { reader: None, left: reader.info().height, element, rest: Vec::new(), taken: 0 };
    if reader.info().interlaced {
        let size = reader.output_buffer_size().ok_or(TOO_LARGE)?;
        pixels.rest.try_reserve_exact(size).map_err(|_| TOO_LARGE)?;
        pixels.rest.resize(size, 0);
        reader.next_frame(&mut pixels.rest).map_err(why)?;
        reader.finish().map_err(why)?;
        element.swap_bytes(&mut pixels.rest);
    } else {
        pixels.reader = Some(reader);
    }
    Ok(Opening { description: Description { element, shape }, elements: Box::new(pixels) })
}

struct Pixels<R: BufRead + Seek> {
    /// The decoder of the next rows, if any are left.
    reader: Option<png::Reader<R>>,
    left: u32,
    element: Element,
    /// Decoded rows, and how many of their bytes were taken.
    rest: Vec<u8>,
    taken: usize,
}

impl<R: BufRead + Seek + Send> ReadElements for Pixels<R> {
    fn read(&mut self, bytes: &mut [u8]) -> Result<(), String> {
        let mut filled = 0;
        while filled < bytes.len() {
            if self.taken == self.rest.len() {
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
            let len = (bytes.len() - filled).min(self.rest.len() - self.taken);
            bytes[filled..][..len].copy_from_slice(&self.rest[self.taken..][..len]);
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
        _ => Err(format!("a picture cannot have {width} x {height} pixels")),
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
    let stream = begin(file, description)?.into_stream_writer().map_err(why)?;
    Ok(Box::new(Picture { stream, element: description.element, swapped: Vec::new() }))
}

/// The content of a picture's file.
pub(crate) fn encode(description: &Description, elements: &[u8]) -> Result<Vec<u8>, Why> {
    let mut content = Vec::new();
    let mut writer = begin(&mut content, description)?;
    let mut swapped = elements.to_vec();
    description.element.swap_bytes(&mut swapped);
    writer.write_image_data(&swapped).and_then(|()| writer.finish()).map_err(why)?;
    Ok(content)
}

struct Picture<W: Write + 'static> {
    stream: png::StreamWriter<'static, W>,
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
        self.stream.finish().map_err(|error| error.to_string())
    }
}
