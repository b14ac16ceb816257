//! What instructions compute: pure functions from operand values to a result.
//!
//! Each function takes four slots and uses as many as its instruction has sources; the decoder picks one by opcode and type
//! once, the executor calls it. A slot holds a register's bits zero-extended to 64, and every function returns its result
//! in that same shape.

pub(crate) mod convert;
pub(crate) mod float;
pub(crate) mod integer;

/// A pure instruction: source slots to destination slot.
pub(crate) type Compute = fn(u64, u64, u64, u64) -> u64;

/// The source itself: `mov` and friends.
pub(crate) fn copy(a: u64, _: u64, _: u64, _: u64) -> u64 {
    a
}

/// The second source: `atom.exch`, whose first is the old value.
pub(crate) fn second(_: u64, b: u64, _: u64, _: u64) -> u64 {
    b
}

pub(crate) fn compare_and_swap(old: u64, expected: u64, new: u64, _: u64) -> u64 {
    if old == expected { new } else { old }
}

/// `atom.inc`: counts up to `b`, then starts again.
pub(crate) fn increment(old: u64, b: u64, _: u64, _: u64) -> u64 {
    if old >= b { 0 } else { old + 1 }
}

pub(crate) fn decrement(old: u64, b: u64, _: u64, _: u64) -> u64 {
    if old == 0 || old > b { b } else { old - 1 }
}

pub(crate) fn sum(a: u64, b: u64, _: u64, _: u64) -> u64 {
    a.wrapping_add(b)
}

pub(crate) fn difference(a: u64, b: u64, _: u64, _: u64) -> u64 {
    a.wrapping_sub(b)
}

pub(crate) fn shift_down(a: u64, b: u64, _: u64, _: u64) -> u64 {
    a >> (b & 63)
}

/// Up to four parts of `BITS` bits, the first lowest.
pub(crate) fn pack<const BITS: u32>(a: u64, b: u64, c: u64, d: u64) -> u64 {
    // Two parts fill a 32-bit pack: unused sources are zero.
    let high = if BITS < 32 { c << (2 * BITS) | d << (3 * BITS) } else { 0 };
    a | b << BITS | high
}
