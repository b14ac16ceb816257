//! Memory for columns: aligned to cache lines, so that no vector instruction crosses one.

/// A cache line.
#[derive(Clone, Copy, Debug)]
#[repr(C, align(64))]
struct Line([u8; 64]);

/// Bytes that can grow, at addresses that a vector register of 64 bytes is loaded from in one go.
#[derive(Debug, Default)]
pub(super) struct Columns {
    lines: Vec<Line>,
}

impl Columns {
    /// At least as many bytes, all zero.
    pub(super) fn new(bytes: usize) -> Columns {
        let mut columns = Columns::default();
        columns.grow(bytes);
        columns
    }

    /// Makes room; what is there stays, but may stand elsewhere afterwards.
    pub(super) fn grow(&mut self, bytes: usize) {
        if self.lines.len() * 64 < bytes {
            self.lines.resize(bytes.div_ceil(64), Line([0; 64]));
        }
    }

    pub(super) fn as_mut_ptr(&mut self) -> *mut u8 {
        self.lines.as_mut_ptr().cast()
    }

    pub(super) fn bytes_mut(&mut self) -> &mut [u8] {
        // SAFETY: lines are bytes without padding.
        unsafe { std::slice::from_raw_parts_mut(self.lines.as_mut_ptr().cast(), self.lines.len() * 64) }
    }
}
