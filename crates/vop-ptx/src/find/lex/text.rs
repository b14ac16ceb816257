//! One string of a program.

use super::super::mapped::Mapped;
use super::super::placeholder::Dialect;

/// One string of the program: what the compiler sees as one, so adjacent literals are joined.
pub(in super::super) struct Text {
    pub(in super::super) mapped: Mapped,
    pub(in super::super) dialect: Dialect,
}
