//! What the finder finds: instructions, and the statements around them.

use std::fmt;
use std::ops::Range;
use std::sync::Arc;

use super::fill::Filled;
use super::language::Language;
use super::mapped::{OffsetMap, Paste};
use super::operand::Asm;

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
    pub(super) context: Context,
    /// Whether a `;` ends it, or what is filled in later stands where one may be.
    pub(super) has_semicolon: bool,
}

/// The bytes of a placeholder that is shown as the file writes it: a field may hold a whole expression.
const LONGEST_PLACEHOLDER: usize = 40;

/// What is known of the text that holds an instruction.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Context {
    /// The operands of the `asm`.
    pub(crate) asm: Option<Arc<Asm>>,
    /// The values of operands that its text has.
    pub(crate) filled: Vec<Filled>,
    /// The operands that complete a word of the text though they are registers.
    pub(crate) registers: Vec<usize>,
    /// Whether it stands in a macro's body, whose parameters are not known there.
    pub(crate) definition: bool,
    /// The name, in its definition, of the macro that writes it.
    pub(crate) macro_name: Option<Range<usize>>,
    /// Whether it is a use of a macro whose body holds the whole instruction, which is found there too.
    pub(crate) repeats: bool,
    /// How its text is written.
    pub(crate) spelling: Spelling,
}

/// How braces are written in a string.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) enum Braces {
    /// As they are.
    #[default]
    Single,
    /// Doubled, as formats read them.
    Doubled,
    /// It may be a format or not.
    Unknown,
}

/// How a text is written in its file.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct Spelling {
    /// Whether the text is known to be assembly language: the template of an `asm`.
    pub(crate) is_asm: bool,
    /// Whether it stands in a string of another source, which stands in a string of the file.
    pub(crate) is_nested: bool,
    pub(crate) braces: Braces,
    /// The language of its file.
    pub(crate) language: Option<Language>,
}

/// How much of an instruction the file holds in one place.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum FoundKind {
    /// The whole instruction.
    Statement,
    /// The mnemonic and its modifiers; a macro or a format pastes the operands.
    Fragment,
    /// A mnemonic and its modifiers that are a string by themselves, which nothing in the file assembles: a name in a table, a
    /// message or a test.
    Label,
    /// The mnemonic, the modifiers or a selector are not all there, so the instruction cannot be judged.
    Partial(PartialReason),
}

/// Why a mnemonic, its modifiers or a selector are not all in the file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum PartialReason {
    /// The preprocessor or a macro pastes a part: `"vadd4." #T "." #T " %0, …"`.
    Macro,
    /// Formatting fills in a part: `f"vadd4.{t}.{t} …"`, `"vadd.%s.%s …"`, `f"… %1.b{i} …"`.
    Format,
    /// The string ends behind a dot, or in a selector: `"vadd4."`, `"vadd.u32.u32.u32 %0, %1.b"`.
    CutShort,
    /// An operand of the `asm` fills in a part, and the file does not say its value: `%1.b%2` with `"n"(I)`.
    Operand,
    /// A macro may write an instruction here, and the file's macros expand to more than is read.
    Limit,
    /// An instruction stands in the branches of a template, `{% if … %}`, that cannot be read one by one.
    Branches,
}

impl fmt::Display for PartialReason {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Macro => "a macro pastes a part of the mnemonic, a modifier or a selector",
            Self::Format => "formatting fills in a part of the mnemonic, a modifier or a selector",
            Self::CutShort => "the string ends in the middle of the modifiers or of a selector",
            Self::Operand => {
                "an operand fills in a part of a modifier, a selector or a number, and its value is not known here"
            }
            Self::Limit => "this use of a macro is not expanded: the file's macros expand to more text than is read",
            Self::Branches => "it depends on several conditions of the template, or on one with many branches",
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

    /// The instruction on one line as the file writes it: what is filled in later is its placeholder, `%[x]`, `{i}`, `$1`, or `{name}`
    /// where a macro or an operator of the language pastes a text.
    pub(crate) fn as_written(&self, source: &[u8]) -> String {
        let mut written = String::new();
        for piece in self.map.pieces() {
            let text = self.text.get(piece.text.clone()).unwrap_or_default();
            let in_file = source.get(piece.source.clone()).unwrap_or_default();
            // Julia writes `\$0`.
            let in_file = in_file.strip_prefix(b"\\").filter(|behind| behind.starts_with(b"$")).unwrap_or(in_file);
            let is_placeholder = piece.paste != Some(Paste::Macro)
                && in_file.len() <= LONGEST_PLACEHOLDER
                && matches!(in_file.first(), Some(b'%' | b'$' | b'{' | b'`'))
                && !in_file.contains(&b'\n');
            let is_unit = piece.paste.is_some() || text.len() > 1;
            let as_it_is = piece.paste.is_none() && text.len() == in_file.len();
            if as_it_is || is_unit && is_placeholder {
                written.push_str(&String::from_utf8_lossy(in_file));
            } else if piece.paste.is_some() {
                let name = text.trim_start_matches(['%', '{']).trim_end_matches('}');
                let name = name.split('$').next().unwrap_or_default();
                written.push_str(&format!("{{{name}}}"));
            } else {
                written.push_str(text);
            }
        }
        written.split_whitespace().collect::<Vec<_>>().join(" ")
    }

    /// What is known of the text around it.
    pub(crate) fn context(&self) -> &Context {
        &self.context
    }

    /// Where the byte at `text_offset` is spelled: as [`Self::source_offset`], except that it is in the macro's definition if a
    /// macro writes it.
    pub(crate) fn spelled_offset(&self, text_offset: usize) -> usize {
        self.map.spelled_offset(text_offset)
    }

    /// Whether a byte of a part of [`Found::text`] is the name of what is filled in later.
    pub(crate) fn is_pasted(&self, text_span: Range<usize>) -> bool {
        self.map.is_pasted(text_span)
    }

    /// Whether macros' definitions spell all of a part of [`Found::text`].
    pub(crate) fn is_of_macros(&self, text_span: Range<usize>) -> bool {
        self.map.is_of_macros(text_span)
    }

    /// The place in a macro's definition that spells `text_span` or a part of it, if a macro writes it. Then
    /// [`Self::source_span`] is the place of the macro's use.
    #[must_use]
    pub fn definition_span(&self, text_span: Range<usize>) -> Option<Range<usize>> {
        self.map.origin(text_span)
    }

    /// The bytes of the file that an edit of `text_span` replaces.
    ///
    /// # Errors
    /// Why the file cannot be edited there, in a part of a sentence.
    pub(crate) fn edit_place(&self, text_span: Range<usize>, source: &[u8]) -> Result<Range<usize>, &'static str> {
        let Spelling { language, is_asm, .. } = self.context.spelling;
        self.map.edit_place(text_span, source, is_asm && language == Some(Language::Rust))
    }

    /// Whether a `;` stands behind it, or may.
    pub(crate) fn has_semicolon(&self) -> bool {
        self.has_semicolon
    }

    /// Where the literal ends that holds a byte.
    pub(crate) fn literal_end(&self, text_offset: usize) -> Option<usize> {
        self.map.literal_end(text_offset)
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
    /// A place where control may enter or leave: a label, the end of a block.
    Break,
    /// Pasted text, which may do anything.
    Unknown,
}
