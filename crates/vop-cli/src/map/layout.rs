//! Which words an array's elements make.
//!
//! Elements of 4 bytes are words. Of smaller ones those of a row, the last axis, make words, the first in the lowest bits; what
//! is left of a row's last word is 0. So a pixel of up to four 8-bit channels is a word, and no word holds parts of two rows.

use std::borrow::Cow;

use vop::isa::form::Finish;
use vop::{Form, isa::types::Shape};
use zerocopy::{FromBytes, IntoBytes};

/// A type of elements: integers of 1, 2 or 4 bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Element {
    pub(super) bytes: u64,
    pub(super) signed: bool,
}

impl Element {
    pub(super) fn name(self) -> String {
        format!("{}{}", if self.signed { 'i' } else { 'u' }, 8 * self.bytes)
    }
}

/// The elements and the shape of an array, which lie in C order.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Layout {
    pub(super) element: Element,
    /// `None` for raw words, which fit any shape of as many words.
    pub(super) shape: Option<Vec<u64>>,
    rows: u64,
    /// The bytes of a row.
    row: u64,
}

impl Layout {
    /// `None` if it has more than 2^62 bytes.
    pub(super) fn new(element: Element, shape: Vec<u64>) -> Option<Layout> {
        let all = shape.iter().try_fold(element.bytes, |product, n| product.checked_mul((*n).max(1)))?;
        let (rows, row) = match shape.split_last() {
            // Rows of words need not be told apart.
            Some((last, rows)) if element.bytes < 4 => (rows.iter().product(), last * element.bytes),
            _ => (1, element.bytes * shape.iter().product::<u64>()),
        };
        // Filling up words takes four times as much at most.
        (all < 1 << 60).then_some(Layout { element, shape: Some(shape), rows, row })
    }

    pub(super) fn raw(words: u64) -> Layout {
        Layout { element: Element { bytes: 4, signed: false }, shape: None, rows: 1, row: 4 * words }
    }

    pub(super) fn words(&self) -> u64 {
        self.rows * self.row.div_ceil(4)
    }

    pub(super) fn elements(&self) -> u64 {
        self.bytes() / self.element.bytes
    }

    /// The bytes of all elements.
    pub(super) fn bytes(&self) -> u64 {
        self.rows * self.row
    }

    /// Where the elements of a word, and all behind them, begin.
    pub(super) fn offset(&self, word: u64) -> u64 {
        match self.row.div_ceil(4) {
            0 => 0,
            words => word / words * self.row + (word % words * 4).min(self.row),
        }
    }

    /// Whether words lie as elements do.
    fn is_flat(&self) -> bool {
        self.row.is_multiple_of(4)
    }

    /// The shape of the words; an axis that comes to one word is left out.
    pub(super) fn word_shape(&self) -> Option<Vec<u64>> {
        let mut shape = self.shape.clone()?;
        if self.element.bytes < 4
            && let Some(last) = shape.pop()
        {
            let words = (last * self.element.bytes).div_ceil(4);
            if words != 1 {
                shape.push(words);
            }
        }
        Some(shape)
    }

    /// `u8 [480, 640, 3]`.
    pub(super) fn describe(&self) -> String {
        match &self.shape {
            Some(shape) => format!("{} {shape:?}", self.element.name()),
            None => format!("{} words", self.words()),
        }
    }

    /// The words that begin at one, from the bytes of their elements; where they are what the bytes are already, the bytes.
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

    /// The bytes of the elements of the words that begin at one.
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

    /// The rows, or parts of rows, in so many bytes behind the beginning of a word: where each is, and its length.
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

    /// What a form makes of arrays: lanes where the form writes lanes and elements are such lanes, else a word of each word.
    pub(super) fn of_result(form: Form, sources: &[&Layout]) -> Layout {
        let signed = form.is_signed();
        let lanes = match form.finish() {
            Finish::Lanes(_) => u64::from(form.mnemonic().shape().bits()) / 8,
            _ => Shape::Scalar.bits().into(),
        };
        let like = |source: &Layout| Layout { element: Element { signed, ..source.element }, ..source.clone() };
        if let Some(source) = sources.iter().find(|source| source.element.bytes == lanes && lanes < 4) {
            return like(source);
        }
        // Those that say a shape say the same one.
        let shaped = sources.iter().find(|source| source.shape.is_some()).or(sources.first());
        let words = Element { bytes: 4, signed };
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

    fn layout(bytes: u64, shape: &[u64]) -> Layout {
        Layout::new(Element { bytes, signed: false }, shape.to_vec()).unwrap()
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
        assert_eq!(Layout::new(Element { bytes: 1, signed: false }, vec![1 << 40, 1 << 40]), None);
        assert_eq!(Layout::new(Element { bytes: 1, signed: false }, vec![0, 1 << 40, 1 << 40]), None);
    }

    /// Blocks of every size from every place are the words of the whole, and go back to its bytes.
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
