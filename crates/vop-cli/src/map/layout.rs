//! Which words an array's elements make.
//!
//! Elements of 4 bytes are words. Smaller elements of a row, the last axis, are packed into words, the first in the lowest bits. If the
//! last word of a row has bits left, they are 0. So a pixel of up to four 8-bit channels is a word, and no word holds parts of two rows.

use std::borrow::Cow;

use vop::isa::form::Finish;
use vop::{Form, isa::types::Shape};
use vop_arrays::{Description, Element};
use zerocopy::{FromBytes, IntoBytes};

/// The elements and the shape of an array, which lie in C order.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Layout {
    pub(super) element: Element,
    /// `None` for raw words, which fit any shape with their number of words.
    pub(super) shape: Option<Vec<u64>>,
    rows: u64,
    /// The bytes of a row.
    row: u64,
}

impl Layout {
    /// The layout of an array. Its elements must be integers of 8, 16 or 32 bits.
    pub(super) fn new(description: Description) -> Result<Layout, String> {
        let Description { element, shape } = description;
        if element.is_float() || element.size() > 4 {
            return Err(format!(
                "it holds elements of type {element}: words and lanes are integers of 8, 16 or 32 bits"
            ));
        }
        let size = element.size() as u64;
        let all = shape.iter().try_fold(size, |product, n| product.checked_mul((*n).max(1)));
        // Padding every row to whole words makes it at most four times as large.
        if all.is_none_or(|all| all >= 1 << 60) {
            return Err(format!("{element} {shape:?} is too large"));
        }
        let (rows, row) = match shape.split_last() {
            // Rows of words need not be told apart.
            Some((last, rows)) if size < 4 => (rows.iter().product(), last * size),
            _ => (1, size * shape.iter().product::<u64>()),
        };
        Ok(Layout { element, shape: Some(shape), rows, row })
    }

    /// The layout of a raw file of 32-bit words.
    pub(super) fn raw(words: u64) -> Layout {
        Layout { element: Element::U32, shape: None, rows: 1, row: 4 * words }
    }

    /// The size of an element in bytes: 1, 2 or 4.
    pub(super) fn size(&self) -> u64 {
        self.element.size() as u64
    }

    /// The type and the shape; a raw file's is that of its words.
    pub(super) fn description(&self) -> Description {
        let shape = self.shape.clone().unwrap_or_else(|| vec![self.words()]);
        Description { element: self.element, shape }
    }

    pub(super) fn words(&self) -> u64 {
        self.rows * self.row.div_ceil(4)
    }

    pub(super) fn elements(&self) -> u64 {
        self.bytes() / self.size()
    }

    /// The bytes of all elements.
    pub(super) fn bytes(&self) -> u64 {
        self.rows * self.row
    }

    /// The offset, in bytes, at which the elements of a word begin.
    pub(super) fn offset(&self, word: u64) -> u64 {
        match self.row.div_ceil(4) {
            0 => 0,
            words => word / words * self.row + (word % words * 4).min(self.row),
        }
    }

    /// Whether the words' bytes are the elements' bytes, without padding.
    fn is_flat(&self) -> bool {
        self.row.is_multiple_of(4)
    }

    /// The shape of the words. A last axis of one word is left out.
    pub(super) fn word_shape(&self) -> Option<Vec<u64>> {
        let mut shape = self.shape.clone()?;
        if self.size() < 4
            && let Some(last) = shape.pop()
        {
            let words = (last * self.size()).div_ceil(4);
            if words != 1 {
                shape.push(words);
            }
        }
        Some(shape)
    }

    /// `u8 [480, 640, 3]`.
    pub(super) fn describe(&self) -> String {
        match &self.shape {
            Some(_) => self.description().to_string(),
            None => format!("{} {}", self.words(), if self.words() == 1 { "word" } else { "words" }),
        }
    }

    /// Packs elements into words. `first` is the first word's index, and `bytes` are the elements of whole words. Without padding, the
    /// words are the bytes themselves; otherwise they are written to `room`.
    pub(super) fn pack<'a>(&self, first: u64, bytes: &'a [u8], room: &'a mut Vec<u32>) -> &'a [u32] {
        if self.is_flat()
            && cfg!(target_endian = "little")
            && let Ok(words) = <[u32]>::ref_from_bytes(bytes)
        {
            return words;
        }
        room.clear();
        for (start, len) in self.pieces(first, bytes.len()) {
            let piece = &bytes[start..start + len];
            let (whole, rest) = piece.as_chunks::<4>();
            room.extend(whole.iter().map(|word| u32::from_le_bytes(*word)));
            if !rest.is_empty() {
                let mut word = [0; 4];
                word[..rest.len()].copy_from_slice(rest);
                room.push(u32::from_le_bytes(word));
            }
        }
        room
    }

    /// Unpacks words into the bytes of their elements. `first` is the first word's index.
    pub(super) fn unpack<'a>(&self, first: u64, words: &'a [u32]) -> Cow<'a, [u8]> {
        if self.is_flat() && cfg!(target_endian = "little") {
            return Cow::Borrowed(words.as_bytes());
        }
        let len = self.offset(first + words.len() as u64) - self.offset(first);
        let mut bytes = Vec::with_capacity(4 * words.len());
        let mut words = words.iter();
        for (_, len) in self.pieces(first, len as usize) {
            let end = bytes.len() + len;
            bytes.extend(words.by_ref().take(len.div_ceil(4)).flat_map(|word| word.to_le_bytes()));
            bytes.truncate(end);
        }
        Cow::Owned(bytes)
    }

    /// Divides the given number of bytes, the first of which belongs to word `first`, into rows and parts of rows: the offset and the
    /// length of each.
    fn pieces(&self, first: u64, bytes: usize) -> impl Iterator<Item = (usize, usize)> {
        let row = self.row as usize;
        let begun = if row == 0 { 0 } else { (self.offset(first) % self.row) as usize };
        let mut start = 0;
        std::iter::from_fn(move || {
            let len = (if start == 0 { row - begun } else { row }).min(bytes - start);
            let piece = (start, len);
            start += len;
            (len > 0).then_some(piece)
        })
    }

    /// The layout of a form's result: lanes if the form writes lanes and the elements of a source are such lanes, otherwise a 32-bit
    /// element for each word.
    pub(super) fn of_result(form: Form, sources: &[&Layout]) -> Layout {
        let signed = form.is_signed();
        let lanes = match form.finish() {
            Finish::Lanes(_) => form.mnemonic().shape().bits() as usize / 8,
            _ => Shape::Scalar.bits() as usize / 8,
        };
        // Lanes have 1, 2 or 4 bytes.
        let element = |size| Element::integer(size, signed).unwrap_or(Element::U32);
        if let Some(source) = sources.iter().find(|source| source.element.size() == lanes && lanes < 4) {
            return Layout { element: element(lanes), ..(*source).clone() };
        }
        // All sources with a shape have the same one.
        let shaped = sources.iter().find(|source| source.shape.is_some()).or(sources.first());
        let words = element(4);
        match shaped.map(|source| (source.word_shape(), source.words())) {
            Some((Some(shape), count)) => Layout { element: words, shape: Some(shape), rows: 1, row: 4 * count },
            Some((None, count)) => Layout { element: words, shape: Some(vec![count]), rows: 1, row: 4 * count },
            None => Layout::raw(0),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn new(bytes: usize, shape: &[u64]) -> Result<Layout, String> {
        let element = Element::integer(bytes, false).unwrap();
        Layout::new(Description { element, shape: shape.to_vec() })
    }

    fn layout(bytes: usize, shape: &[u64]) -> Layout {
        new(bytes, shape).unwrap()
    }

    #[test]
    fn words_of_shapes() {
        for (bytes, shape, words, word_shape) in [
            (4, vec![3, 5], 15, vec![3, 5]),
            (4, vec![], 1, vec![]),
            (1, vec![], 1, vec![]),
            (1, vec![8], 2, vec![2]),
            (1, vec![9], 3, vec![3]),
            (1, vec![2, 5], 4, vec![2, 2]),
            (1, vec![2, 5, 3], 10, vec![2, 5]),
            (2, vec![2, 5, 3], 20, vec![2, 5, 2]),
            (1, vec![0], 0, vec![0]),
            (1, vec![3, 0], 0, vec![3, 0]),
            (1, vec![0, 3], 0, vec![0]),
        ] {
            let layout = layout(bytes, &shape);
            assert_eq!(layout.words(), words, "{shape:?} of {bytes}");
            assert_eq!(layout.word_shape(), Some(word_shape), "{shape:?} of {bytes}");
            assert_eq!(layout.elements(), shape.iter().product::<u64>(), "{shape:?} of {bytes}");
            assert_eq!(layout.offset(words), layout.bytes(), "{shape:?} of {bytes}");
        }
        assert!(new(1, &[1 << 40, 1 << 40]).is_err());
        assert!(new(1, &[0, 1 << 40, 1 << 40]).is_err());
        assert!(new(8, &[1]).unwrap_err().contains("u64"));
    }

    /// Blocks of every size at every offset have the words of the whole array, and unpack to its bytes.
    #[test]
    fn packed_in_blocks() {
        for shape in [vec![1, 7], vec![3, 5], vec![4, 3], vec![5, 8], vec![2, 2, 3], vec![13]] {
            for size in [1, 2, 4] {
                let layout = layout(size, &shape);
                let bytes: Vec<u8> = (1..=layout.bytes() as u8).collect();
                let mut expected = Vec::new();
                for row in bytes.chunks(if size == 4 { bytes.len() } else { layout.row as usize }) {
                    for word in row.chunks(4) {
                        expected.push(word.iter().rev().fold(0, |word, byte| word << 8 | u32::from(*byte)));
                    }
                }
                let words = layout.words();
                for block in 1..=words {
                    for first in 0..=words - block {
                        let [from, to] = [first, first + block].map(|word| layout.offset(word) as usize);
                        let mut room = Vec::new();
                        let packed = layout.pack(first, &bytes[from..to], &mut room);
                        assert_eq!(packed, &expected[first as usize..][..block as usize], "{shape:?}, {size}, {first}");
                        assert_eq!(layout.unpack(first, packed), &bytes[from..to], "{shape:?}, {size}, {first}");
                    }
                }
            }
        }
    }
}
