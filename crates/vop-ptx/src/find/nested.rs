//! CUDA source inside a string of another program.

use super::language::Language;
use super::lex;
use super::mapped::Mapped;
use super::prefilter::may_contain;

/// CUDA source inside a string of another program: its strings, with places in the outer one. One level is enough, since what
/// such source holds in strings of its own is PTX.
pub(super) fn nested(outer: &Mapped) -> Vec<lex::Text> {
    if memchr::memchr(b'"', outer.bytes()).is_none() || !may_contain(outer.bytes()) {
        return Vec::new();
    }
    lex::texts(outer.bytes(), Language::Cuda)
}
