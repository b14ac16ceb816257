//! CUDA source inside a string of another program.

use super::language::Language;
use super::lex;
use super::mapped::Mapped;
use super::placeholder::decode;
use super::prefilter::may_contain;

/// CUDA source inside a string of another program: its literals, with positions taken through both levels. One level is
/// enough, since what such source holds in strings of its own is PTX.
pub(super) fn nested(outer: &Mapped) -> Vec<lex::Text> {
    if memchr::memchr(b'"', outer.bytes()).is_none() || !may_contain(outer.bytes()) {
        return Vec::new();
    }
    let texts = lex::texts(outer.bytes(), Language::Cuda).into_iter();
    let decoded = texts.map(|inner| {
        let mapped = decode(&inner.mapped.through(outer), inner.dialect);
        lex::Text { mapped, ..inner }
    });
    decoded.collect()
}
