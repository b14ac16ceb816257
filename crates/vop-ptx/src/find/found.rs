//! What the finder finds: instructions, and the statements around them.

use std::fmt;
use std::ops::Range;

use super::mapped::OffsetMap;

/// A video instruction in a source file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Found {
    /// The instruction as plain PTX, with its guard and without the final `;`: escape sequences decoded, adjacent literals
    /// joined, comments dropped, and every operand placeholder (`%0`, `%[x]`, `$0`, `{x}`) written as an identifier
    /// (`%0`, `%x`, `%0`, `%x`). For a [`FoundKind::Fragment`] the mnemonic and its modifiers alone; in a
    /// [`FoundKind::Partial`] what is pasted in stands as `{name}`.
    pub text: String,
    /// How much of the instruction the file holds in one place.
    pub kind: FoundKind,
    pub(super) map: OffsetMap,
}

/// How much of an instruction the file holds in one place.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum FoundKind {
    /// The whole instruction.
    Statement,
    /// The mnemonic and its modifiers; a macro or a format pastes the operands.
    Fragment,
    /// The mnemonic or the modifiers themselves are not all there, so the instruction cannot be judged.
    Partial(PartialReason),
}

/// Why a mnemonic or its modifiers are not all in the file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum PartialReason {
    /// The preprocessor or a macro pastes a part: `"vadd4." #T "." #T " %0, …"`.
    Macro,
    /// Formatting fills in a part: `f"vadd4.{t}.{t} …"`, `"vadd.%s.%s …"`.
    Format,
    /// The string ends behind a dot: `"vadd4."`.
    CutShort,
}

impl fmt::Display for PartialReason {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Macro => "a macro pastes a part of the mnemonic or its modifiers",
            Self::Format => "formatting fills in a part of the mnemonic or its modifiers",
            Self::CutShort => "the string ends in the middle of the modifiers",
        })
    }
}

impl Found {
    /// The byte offset in the source file of the byte at `text_offset` of [`Found::text`]; for `text.len()` and
    /// beyond, the offset behind the instruction's last byte.
    #[must_use]
    pub fn source_offset(&self, text_offset: usize) -> usize {
        self.map.source_offset(text_offset)
    }

    /// The bytes of the source file that `text_span` of [`Found::text`] came from. Where the span crosses literals, the
    /// part inside the literal that holds its start.
    #[must_use]
    pub fn source_span(&self, text_span: Range<usize>) -> Range<usize> {
        self.map.source_span(text_span)
    }
}

/// A statement of a text, for rules that need the statements around a [`Found`].
pub(crate) enum Step {
    /// A video instruction, as [`find`](super::find) finds it.
    Video(Found),
    /// Another statement.
    Other(String),
    /// A place where control may enter or leave: a label, the end of a block, pasted text.
    Break,
}
