//! `.png` files: elements of 8 or 16 bits, of shape [height, width] or [height, width, channels].

use std::fs::File;
use std::io::{BufReader, BufWriter, Write};

use super::layout::{Element, Layout};
use super::sink::Writer;
use super::source::{Content, Stream};

/// The picture's rows are read as they are wanted, but for an interlaced one, of which the last rows come early.
pub(super) fn open(file: File) -> Result<(Layout, Content), String> {
    let mut decoder = png::Decoder::new(BufReader::new(file));
    // Palettes and packed pixels become bytes.
    decoder.set_transformations(png::Transformations::EXPAND);
    let mut reader = decoder.read_info().map_err(|error| error.to_string())?;
    let (color, depth) = reader.output_color_type();
    let element = Element { bytes: if depth == png::BitDepth::Sixteen { 2 } else { 1 }, signed: false };
    let mut shape = vec![u64::from(reader.info().height), u64::from(reader.info().width)];
    if color.samples() > 1 {
        shape.push(color.samples() as u64);
    }
    let layout = Layout::new(element, shape).ok_or("the picture is too large")?;
    let mut pixels = Pixels { reader: None, left: reader.info().height, element, rest: Vec::new(), at: 0 };
    if reader.info().interlaced {
        let size = reader.output_buffer_size().ok_or("the picture is too large")?;
        pixels.rest.try_reserve_exact(size).map_err(|_| "the picture is too large")?;
        pixels.rest.resize(size, 0);
        reader.next_frame(&mut pixels.rest).map_err(|error| error.to_string())?;
        reader.finish().map_err(|error| error.to_string())?;
        element.swap(&mut pixels.rest);
    } else {
        pixels.reader = Some(reader);
    }
    Ok((layout, Content::Stream(Box::new(pixels))))
}

struct Pixels {
    /// What gives the next rows, if any are left.
    reader: Option<png::Reader<BufReader<File>>>,
    left: u32,
    element: Element,
    /// Rows that were read, and how much of them was taken.
    rest: Vec<u8>,
    at: usize,
}

impl Stream for Pixels {
    fn read(&mut self, bytes: &mut [u8]) -> Result<(), String> {
        let mut filled = 0;
        while filled < bytes.len() {
            if self.at == self.rest.len() {
                let row = match &mut self.reader {
                    Some(reader) => reader.next_row().map_err(|error| error.to_string())?,
                    None => None,
                };
                self.rest.clear();
                self.rest.extend_from_slice(row.ok_or("it ends before its last row")?.data());
                self.at = 0;
                // PNG is big-endian.
                self.element.swap(&mut self.rest);
                self.left = self.left.saturating_sub(1);
                if self.left == 0
                    && let Some(reader) = &mut self.reader
                {
                    // The check sums are behind the last row.
                    reader.finish().map_err(|error| error.to_string())?;
                }
            }
            let len = (bytes.len() - filled).min(self.rest.len() - self.at);
            bytes[filled..][..len].copy_from_slice(&self.rest[self.at..][..len]);
            filled += len;
            self.at += len;
        }
        Ok(())
    }
}

/// How a result is written as a picture: words are pixels of four channels.
pub(super) fn layout(result: &Layout) -> Result<Layout, String> {
    let shape = result.shape.as_deref().unwrap_or_default();
    let refuse = || {
        let layout = result.describe();
        Err(format!("a picture has shape [height, width] or [height, width, channels], and the result is {layout}"))
    };
    let shape = match (result.element.bytes, shape) {
        (4, [height, width]) => vec![*height, *width, 4],
        (1 | 2, [_, _] | [_, _, 1..=4]) => shape.to_vec(),
        _ => return refuse(),
    };
    if shape[..2].iter().any(|n| !(1..=u64::from(i32::MAX as u32)).contains(n)) {
        return refuse();
    }
    let element = if result.element.bytes == 4 { Element { bytes: 1, signed: false } } else { result.element };
    Layout::new(element, shape).ok_or_else(|| "the picture is too large".to_owned())
}

/// Writes a picture of what [`layout`] has given.
pub(super) fn write(file: File, layout: &Layout) -> Result<Box<dyn Writer>, String> {
    let (height, width, samples) = match layout.shape.as_deref() {
        Some(&[height, width]) => (height, width, 1),
        Some(&[height, width, samples]) => (height, width, samples),
        _ => return Err("it is no picture".to_owned()),
    };
    let mut encoder = png::Encoder::new(BufWriter::new(file), width as u32, height as u32);
    encoder.set_color(match samples {
        1 => png::ColorType::Grayscale,
        2 => png::ColorType::GrayscaleAlpha,
        3 => png::ColorType::Rgb,
        _ => png::ColorType::Rgba,
    });
    encoder.set_depth(if layout.element.bytes == 2 { png::BitDepth::Sixteen } else { png::BitDepth::Eight });
    let stream = encoder.write_header().and_then(png::Writer::into_stream_writer);
    let stream = stream.map_err(|error| error.to_string())?;
    Ok(Box::new(Picture { stream, element: layout.element, room: Vec::new() }))
}

struct Picture {
    stream: png::StreamWriter<'static, BufWriter<File>>,
    element: Element,
    room: Vec<u8>,
}

impl Writer for Picture {
    fn write(&mut self, bytes: &[u8]) -> Result<(), String> {
        self.room.clear();
        self.room.extend_from_slice(bytes);
        self.element.swap(&mut self.room);
        self.stream.write_all(&self.room).map_err(|error| error.to_string())
    }

    fn finish(self: Box<Self>) -> Result<(), String> {
        self.stream.finish().map_err(|error| error.to_string())
    }
}
