//! Random numbers out of what the fuzzer writes, so that a changed byte changes one choice; then numbers of a generator.

use std::cell::RefCell;

thread_local! {
    /// What is left of the fuzzer's bytes.
    static BYTES: RefCell<Vec<u8>> = const { RefCell::new(Vec::new()) };
}

/// Numbers that are taken from these bytes first.
pub(crate) fn feed(bytes: &[u8]) {
    BYTES.with_borrow_mut(|left| {
        left.clear();
        left.extend(bytes.iter().rev());
    });
}

/// As the tests' generator of this name; its number is the state behind the bytes.
pub(crate) struct Random(pub(crate) u64);

#[allow(dead_code)]
impl Random {
    pub(crate) fn next(&mut self) -> u64 {
        // Two bytes decide each choice: numbers are taken from the upper half.
        let byte = || BYTES.with_borrow_mut(Vec::pop);
        if let Some(byte_1) = byte() {
            let byte_2 = byte().unwrap_or(0);
            let value = u64::from(byte_1) | u64::from(byte_2) << 8;
            return value << 33 | value.wrapping_mul(0x9e37_79b1) & 0xffff_ffff;
        }
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ z >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ z >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ z >> 31
    }

    pub(crate) fn below(&mut self, n: usize) -> usize {
        (self.next() >> 33) as usize % n.max(1)
    }

    pub(crate) fn percent(&mut self, n: usize) -> bool {
        self.below(100) < n
    }

    pub(crate) fn pick<T: Copy>(&mut self, list: &[T]) -> T {
        list[self.below(list.len())]
    }
}
