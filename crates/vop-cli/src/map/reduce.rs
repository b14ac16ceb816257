//! Reduces all elements of a result to one number.

use vop_arrays::Element;

#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
pub(super) enum Reduce {
    /// The sum.
    Add,
    /// The least.
    Min,
    /// The greatest.
    Max,
}

impl Reduce {
    pub(super) fn name(self) -> &'static str {
        match self {
            Reduce::Add => "add",
            Reduce::Min => "min",
            Reduce::Max => "max",
        }
    }

    /// Reduces some elements; `None` if there are none.
    pub(super) fn of(self, element: Element, bytes: &[u8]) -> Option<i128> {
        match (element.size(), element.is_signed()) {
            (1, false) => self.fold(bytes.iter().map(|byte| i64::from(*byte))),
            (1, true) => self.fold(bytes.iter().map(|byte| i64::from(*byte as i8))),
            (2, false) => self.fold(bytes.as_chunks().0.iter().map(|two| i64::from(u16::from_le_bytes(*two)))),
            (2, true) => self.fold(bytes.as_chunks().0.iter().map(|two| i64::from(i16::from_le_bytes(*two)))),
            (_, false) => self.fold(bytes.as_chunks().0.iter().map(|four| i64::from(u32::from_le_bytes(*four)))),
            (_, true) => self.fold(bytes.as_chunks().0.iter().map(|four| i64::from(i32::from_le_bytes(*four)))),
        }
    }

    /// A block has too few elements for its sum to leave 64 bits.
    fn fold(self, mut elements: impl Iterator<Item = i64>) -> Option<i128> {
        let first = elements.next()?;
        let value = match self {
            Reduce::Add => elements.fold(first, |sum, element| sum.wrapping_add(element)),
            Reduce::Min => elements.fold(first, i64::min),
            Reduce::Max => elements.fold(first, i64::max),
        };
        Some(value.into())
    }

    /// Combines two results.
    pub(super) fn both(self, a: Option<i128>, b: Option<i128>) -> Option<i128> {
        let (Some(one), Some(other)) = (a, b) else { return a.or(b) };
        Some(match self {
            // 2^62 elements of 32 bits do not leave 128.
            Reduce::Add => one.saturating_add(other),
            Reduce::Min => one.min(other),
            Reduce::Max => one.max(other),
        })
    }
}
