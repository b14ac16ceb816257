//! The object of `mbarrier`: counts arrivals of a phase (manual, "mbarrier").
//!
//! ```text
//! bit 63 … 40          39 … 20                        19 … 0
//! phases completed     arrivals that a phase needs    arrivals that are missing
//! ```
//!
//! The manual leaves the object opaque; a phase's state, as `mbarrier.arrive` returns it, is the object before the arrival.

/// Bits of a count: it is from 1 to 2^20 - 1.
const COUNT: u32 = 20;
const COUNTS: u64 = (1 << COUNT) - 1;

/// A new object, whose phases complete after `count` arrivals.
pub(crate) fn new(count: u32) -> u64 {
    let count = u64::from(count) & COUNTS;
    count | count << COUNT
}

/// The object after a number of arrivals, as a fold. More arrivals than are missing complete one phase only; the manual leaves that
/// undefined.
pub(crate) fn arrive(object: u64, count: u64) -> u64 {
    let missing = object & COUNTS;
    if count < missing { object - count } else { next(object) }
}

/// As [`arrive`], and the phases that follow need as many fewer.
pub(crate) fn arrive_drop(object: u64, count: u64) -> u64 {
    let needed = object >> COUNT & COUNTS;
    arrive(object - (count.min(needed) << COUNT), count)
}

/// The next phase.
fn next(object: u64) -> u64 {
    let needed = object >> COUNT & COUNTS;
    (object >> (2 * COUNT)).wrapping_add(1) << (2 * COUNT) | needed << COUNT | needed
}

/// Whether the phase of a state is complete.
pub(crate) fn is_complete(object: u64, state: u64) -> bool {
    object >> (2 * COUNT) != state >> (2 * COUNT)
}

/// Whether the phase of this parity, the current one or the one before, is complete.
pub(crate) fn is_parity_complete(object: u64, parity: u32) -> bool {
    (object >> (2 * COUNT)) as u32 & 1 != parity & 1
}

/// The arrivals that were missing in a state.
pub(crate) fn pending(state: u64) -> u32 {
    (state & COUNTS) as u32
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn phases_follow_one_another() {
        let first = new(3);
        assert!(is_parity_complete(first, 1), "the phase before the first");
        let mut object = arrive(first, 1);
        assert_eq!((pending(first), pending(object)), (3, 2));
        assert!(!is_complete(object, first) && !is_parity_complete(object, 0));
        object = arrive(object, 2);
        assert!(is_complete(object, first) && is_parity_complete(object, 0) && !is_parity_complete(object, 1));
        assert_eq!(pending(object), 3);
        // One leaves: two are enough from the next phase on.
        object = arrive_drop(object, 1);
        assert_eq!(pending(object), 2);
        object = arrive(object, 2);
        assert_eq!(pending(object), 2);
        assert!(is_parity_complete(object, 1));
        // The count of phases wraps without touching the others.
        let last = u64::MAX << (2 * COUNT) | new(1);
        assert_eq!(arrive(last, 1), new(1));
    }
}
