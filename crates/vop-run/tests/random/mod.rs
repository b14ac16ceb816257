//! Random numbers, the same in every run, and the seeds to take.

#![allow(dead_code, reason = "each test takes what it needs")]

pub(crate) mod export;

use std::ops::Range;

/// SplitMix64 (Steele, Lea, Flood, 2014).
pub(crate) struct Random(pub(crate) u64);

impl Random {
    pub(crate) fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ z >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ z >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ z >> 31
    }

    /// Below `n`; 0 if that is 0.
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

/// `VOP_SEEDS=1000..200000`, or these.
pub(crate) fn seeds(few: Range<u64>) -> Range<u64> {
    let Ok(range) = std::env::var("VOP_SEEDS") else { return few };
    let (first, end) = range.split_once("..").expect("VOP_SEEDS is a range");
    first.parse().expect("a number")..end.parse().expect("a number")
}
