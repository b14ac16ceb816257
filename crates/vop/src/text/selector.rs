//! Selectors and masks, as they are spelt in texts.

use crate::isa::types::{Mask, Shape};

/// The digits of `.hxy` or `.bxyzw`, by lane: the last digit is that of lane 0.
pub(super) fn digits<const N: usize>(name: &str, letter: char, highest: u8) -> Option<[u8; N]> {
    let digits: &[u8; N] = name.strip_prefix(letter)?.as_bytes().try_into().ok()?;
    let mut lanes = [0; N];
    for (lane, digit) in lanes.iter_mut().zip(digits.iter().rev()) {
        *lane = digit.wrapping_sub(b'0');
        if *lane > highest {
            return None;
        }
    }
    Some(lanes)
}

/// The mask of `.b310`: digits from the highest down, each once.
pub(super) fn mask(name: &str, shape: Shape) -> Option<Mask> {
    let mut bits = 0u8;
    let mut below = shape.lanes() as u8;
    for digit in name.strip_prefix(shape.letter())?.bytes() {
        let lane = digit.wrapping_sub(b'0');
        if lane >= below {
            return None;
        }
        below = lane;
        bits |= 1 << lane;
    }
    Mask::new(bits, shape)
}
