//! One string of a program.

use std::ops::Range;
use std::sync::Arc;

use super::super::found::PartialReason;
use super::super::mapped::{Mapped, Paste};
use super::super::operand::Asm;
use super::super::placeholder::Dialect;

/// One string of the program: what the compiler sees as one, so adjacent literals are joined.
pub(in super::super) struct Text {
    pub(in super::super) mapped: Mapped,
    pub(in super::super) dialect: Dialect,
    /// The operands that its placeholders stand for, if it is the template of an `asm` that has operands.
    pub(in super::super) asm: Option<Arc<Asm>>,
    /// Whether it stands in a macro's body, whose parameters are not known there.
    pub(in super::super) definition: bool,
    /// The name, in its definition, of the macro that writes all of it.
    pub(in super::super) macro_name: Option<Range<usize>>,
    /// Why no instruction can be read of it, though one may be there. The text is then the name of what is to be said of it.
    pub(in super::super) unread: Option<PartialReason>,
}

impl Text {
    /// A text of which no more is known.
    pub(in super::super) fn new(mapped: Mapped, dialect: Dialect) -> Self {
        Self { mapped, dialect, asm: None, definition: false, macro_name: None, unread: None }
    }

    /// The use of a macro that is not expanded because of a limit.
    pub(in super::super) fn unread(name: &[u8], place: Range<usize>, definition: Range<usize>) -> Self {
        let mut mapped = Mapped::default();
        let end = place.end;
        mapped.push_paste(&[b"{", name, b"}"].concat(), place, end, Paste::Macro);
        let unread = Some(PartialReason::Limit);
        Self { macro_name: Some(definition), unread, ..Self::new(mapped, Dialect::GccAsm) }
    }

    /// A part of a template that is not read because of its conditions.
    pub(in super::super) fn of_branches(place: Range<usize>) -> Self {
        let mut mapped = Mapped::default();
        let end = place.end;
        mapped.push_paste(b"{condition}", place, end, Paste::Field);
        Self { unread: Some(PartialReason::Branches), ..Self::new(mapped, Dialect::GccAsm) }
    }

    /// The same text with its places, which are offsets of the text of `outer`, replaced by the places that `outer` has for them.
    pub(in super::super) fn through(self, outer: &Mapped) -> Self {
        let place = |place: Range<usize>| outer.source_span(place);
        let asm = self.asm.map(|asm| {
            let mut asm = Arc::unwrap_or_clone(asm);
            asm.at = outer.source_offset(asm.at);
            asm.end = None;
            asm.operands.iter_mut().for_each(|operand| operand.moved(place));
            Arc::new(asm)
        });
        Self { mapped: self.mapped.through(outer), asm, macro_name: self.macro_name.map(place), ..self }
    }
}
