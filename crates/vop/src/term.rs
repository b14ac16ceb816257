//! Terms of SMT-LIB's `QF_BV`, the logic of bit vectors, as text: what [`smt`](crate::smt) and the table of base instructions
//! write theirs with.

use alloc::format;
use alloc::string::{String, ToString};
use alloc::vec::Vec;

use crate::isa::range::Range;
use crate::isa::types::Type;

/// A bit-vector constant.
pub(crate) fn constant(value: u64, bits: u32) -> String {
    let value = value & (u64::MAX >> (64 - bits));
    if bits.is_multiple_of(4) {
        format!("#x{value:0width$x}", width = bits as usize / 4)
    } else {
        format!("#b{value:0width$b}", width = bits as usize)
    }
}

/// Bits of a term.
pub(crate) fn part(term: &str, low: u32, bits: u32) -> String {
    format!("((_ extract {} {low}) {term})", low + bits - 1)
}

/// A term extended by `more` bits.
pub(crate) fn extended(term: &str, more: u32, signed: bool) -> String {
    format!("((_ {}_extend {more}) {term})", if signed { "sign" } else { "zero" })
}

/// The concatenation of terms; the first has the lowest bits.
pub(crate) fn concat(terms: impl Iterator<Item = String>) -> String {
    let mut terms: Vec<String> = terms.collect();
    terms.reverse();
    format!("(concat {})", terms.join(" "))
}

/// The sum of terms modulo 2 to the power of their width.
pub(crate) fn sum(first: &str, terms: impl Iterator<Item = String>) -> String {
    terms.fold(first.to_string(), |sum, term| format!("(bvadd {sum} {term})"))
}

/// |x - y|, both as typed.
pub(crate) fn difference(x: &str, y: &str, ty: Type) -> String {
    let less = if ty.is_signed() { "bvslt" } else { "bvult" };
    format!("(ite ({less} {x} {y}) (bvsub {y} {x}) (bvsub {x} {y}))")
}

/// The product of a lane and byte `k` of a word, as a word: multiplied in no more bits than it needs. Where the byte is
/// constant there is no multiplication at all, which makes a solver much faster.
pub(crate) fn product(x: &str, x_type: Type, bits: u32, word: &str, k: u32, y_type: Type) -> String {
    let digits = word.strip_prefix("#x").filter(|digits| digits.len() == 8);
    if let Some(Ok(word)) = digits.map(|digits| u32::from_str_radix(digits, 16)) {
        let lane = extended(x, 32 - bits, x_type.is_signed());
        return match Range::new(y_type.is_signed(), 8).value_of(word >> (8 * k)) {
            0 => constant(0, 32),
            1 => lane,
            -1 => format!("(bvneg {lane})"),
            weight => format!("(bvmul {} {lane})", constant(weight as u64, 32)),
        };
    }
    let (x, y) = (extended(x, 10, x_type.is_signed()), extended(&part(word, 8 * k, 8), bits + 2, y_type.is_signed()));
    extended(&format!("(bvmul {x} {y})"), 32 - 10 - bits, true)
}

/// A signed term of `bits` bits, clamped to a range, in as many bits as the range has.
pub(crate) fn clamped(term: &str, bits: u32, to: Range) -> String {
    let (least, greatest) = (constant(to.min() as u64, bits), constant(to.max() as u64, bits));
    let t = part("t", 0, to.bits);
    let (low, high) = (part(&least, 0, to.bits), part(&greatest, 0, to.bits));
    format!("(let ((t {term})) (ite (bvslt t {least}) {low} (ite (bvsgt t {greatest}) {high} {t})))")
}

/// `lop3` with its truth table.
pub(crate) fn lop3(table: u8, [x, y, z]: [&str; 3]) -> String {
    // The common ones are written as people would, which also helps a solver.
    let simple = match table {
        0xc0 => Some(format!("(bvand {x} {y})")),
        0xfc => Some(format!("(bvor {x} {y})")),
        0x3c => Some(format!("(bvxor {x} {y})")),
        0x0f => Some(format!("(bvnot {x})")),
        0x96 => Some(format!("(bvxor {x} (bvxor {y} {z}))")),
        _ => None,
    };
    simple.unwrap_or_else(|| {
        let take = |bit: u8, mask: u8, x: &str| if bit & mask != 0 { x.to_string() } else { format!("(bvnot {x})") };
        let minterms = (0..8u8)
            .filter(|bit| table >> bit & 1 != 0)
            .map(|bit| format!("(bvand {} {} {})", take(bit, 4, x), take(bit, 2, y), take(bit, 1, z)));
        minterms.reduce(|all, minterm| format!("(bvor {all} {minterm})")).unwrap_or_else(|| constant(0, 32))
    })
}
