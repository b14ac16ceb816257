//! [`Patch`]: a help that is a change of the text.

use alloc::string::{String, ToString};
use alloc::vec::Vec;
use core::ops::Range;

/// What the help of a [`Diagnostic`](super::Diagnostic) asks for, if that is one change of the text.
///
/// ```
/// use vop::Patch;
/// let text = "vadd4.u32.u32.u32 d, a.b0, b, c";
/// let faults = vop::parse(text).unwrap_err();
/// let Patch::Edits(edits) = &faults[0].patch else { panic!() };
/// assert_eq!(vop::patched(text, edits), "vadd4.u32.u32.u32 d, a.b0000, b, c");
/// ```
#[derive(Debug, Clone, Default, PartialEq, Eq)]
#[non_exhaustive]
pub enum Patch {
    /// The help names several ways, or says in words what to do; or there is none.
    #[default]
    Words,
    /// These edits do what the help asks for. They lie apart, in ascending order.
    Edits(Vec<Edit>),
    /// Edits would do it, and cannot be made where the text comes from: why, in a part of a sentence.
    OutOfReach(&'static str),
}

/// A part of a text, and what is to stand in its place.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct Edit {
    /// The part, in bytes. Empty where something is inserted.
    pub span: Range<usize>,
    /// What is to stand there. A text of several lines is a block, `{ … }`, that stands for a whole instruction; its line ends and blanks
    /// have no meaning, and it needs no semicolon behind it.
    pub text: String,
}

impl Edit {
    /// An edit.
    pub fn new(span: Range<usize>, text: impl Into<String>) -> Edit {
        Edit { span, text: text.into() }
    }
}

/// A text after edits that lie apart, in ascending order.
///
/// # Panics
/// If an edit is not of this text.
pub fn patched(text: &str, edits: &[Edit]) -> String {
    let (mut patched, mut copied) = ("".to_string(), 0);
    for Edit { span, text: instead } in edits {
        patched.push_str(&text[copied..span.start]);
        patched.push_str(instead);
        copied = span.end;
    }
    patched.push_str(&text[copied..]);
    patched
}
