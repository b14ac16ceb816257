//! Which bytes of an allocation have been written: a bit for each.

use std::sync::OnceLock;
use std::sync::atomic::{AtomicU64, Ordering};

/// Bytes that a chunk of bits stands for.
const CHUNK: u64 = 64 * 512;

type Chunk = Box<[AtomicU64]>;

/// A bit for each byte, in chunks that exist where they differ from what all bits are at the start.
#[derive(Debug)]
pub(crate) struct Bits {
    len: u64,
    /// What a bit of a chunk is that does not exist.
    rest: bool,
    chunks: Vec<OnceLock<Chunk>>,
}

impl Clone for Bits {
    fn clone(&self) -> Bits {
        let copy = |chunk: &OnceLock<Chunk>| match chunk.get() {
            None => OnceLock::new(),
            Some(words) => {
                let words = words.iter().map(|word| AtomicU64::new(word.load(Ordering::Relaxed)));
                OnceLock::from(words.collect::<Chunk>())
            }
        };
        Bits { len: self.len, rest: self.rest, chunks: self.chunks.iter().map(copy).collect() }
    }
}

impl Bits {
    /// Of an allocation of this many bytes: all are written, or none is.
    pub(crate) fn new(len: u64, written: bool) -> Bits {
        let chunks = (0..len.div_ceil(CHUNK)).map(|_| OnceLock::new()).collect();
        Bits { len, rest: written, chunks }
    }

    fn chunk(&self, index: usize) -> Option<&Chunk> {
        let all = if self.rest { u64::MAX } else { 0 };
        let chunk = self.chunks.get(index)?;
        Some(chunk.get_or_init(|| (0..CHUNK / 64).map(|_| AtomicU64::new(all)).collect()))
    }

    /// Calls `f` with the words of a range and the bits in them, until it returns false.
    fn words(&self, offset: u64, bytes: u64, mut f: impl FnMut(&AtomicU64, u64, u64) -> bool) {
        let end = offset.saturating_add(bytes).min(self.len);
        let mut at = offset;
        while at < end {
            let start = at & !63;
            let next = (start + 64).min(end);
            let count = next - at;
            let mask = if count == 64 { u64::MAX } else { ((1 << count) - 1) << (at - start) };
            let Some(chunk) = self.chunk((at / CHUNK) as usize) else { return };
            if !f(&chunk[(at % CHUNK / 64) as usize], mask, start) {
                return;
            }
            at = next;
        }
    }

    /// Bytes are written.
    pub(crate) fn set(&self, offset: u64, bytes: u64) {
        self.words(offset, bytes, |word, mask, _| {
            word.fetch_or(mask, Ordering::Relaxed);
            true
        });
    }

    /// Bytes are new: nothing has written them.
    pub(crate) fn clear(&self, offset: u64, bytes: u64) {
        self.words(offset, bytes, |word, mask, _| {
            word.fetch_and(!mask, Ordering::Relaxed);
            true
        });
    }

    /// The first byte of a range that nothing has written.
    pub(crate) fn first_unwritten(&self, offset: u64, bytes: u64) -> Option<u64> {
        let mut found = None;
        self.words(offset, bytes, |word, mask, start| {
            let missing = mask & !word.load(Ordering::Relaxed);
            if missing != 0 {
                found = Some(start + u64::from(missing.trailing_zeros()));
            }
            missing == 0
        });
        found
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bits_of_ranges() {
        for len in [1, 63, 64, 65, 40_000, 100_000] {
            let bits = Bits::new(len, false);
            assert_eq!(bits.first_unwritten(0, len), Some(0));
            bits.set(0, len);
            assert_eq!(bits.first_unwritten(0, len), None);
            let full = Bits::new(len, true);
            assert_eq!(full.first_unwritten(0, len), None);
            full.clear(len - 1, 1);
            assert_eq!(full.first_unwritten(0, len), Some(len - 1));
            assert_eq!(full.clone().first_unwritten(0, len), Some(len - 1));
        }
        let bits = Bits::new(100_000, false);
        bits.set(10, 60_000);
        assert_eq!((bits.first_unwritten(0, 20), bits.first_unwritten(10, 60_000)), (Some(0), None));
        assert_eq!(bits.first_unwritten(10, 60_001), Some(60_010));
        bits.clear(32_000, 3);
        assert_eq!(bits.first_unwritten(10, 60_000), Some(32_000));
        // Beyond the end there is nothing.
        assert_eq!(bits.first_unwritten(100_000, 50), None);
    }
}
