//! Where the parts of an instruction stand.

use alloc::vec::Vec;
use core::ops::Range;

use super::lex::Span;
use super::opcode::Opcode;
use super::operand::Operands;

/// Where the parts of an instruction stand in its text, in bytes: what
/// [`Parser::parse_with_places`](crate::Parser::parse_with_places) returns beside the instruction.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Places {
    /// From the guard or, if there is none, the mnemonic to the last operand.
    pub whole: Range<usize>,
    /// The mnemonic with its modifiers.
    pub opcode: Range<usize>,
    /// `.sat`, the last if there are several.
    pub sat: Option<Range<usize>>,
    /// `.eq` and the like.
    pub comparison: Option<Range<usize>>,
    /// d, a, b and c, as many as are written: none where the text is a mnemonic with modifiers alone.
    pub operands: Vec<OperandPlace>,
}

/// Where an operand stands.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct OperandPlace {
    /// All of it, with minus and selector.
    pub whole: Range<usize>,
    /// Its selector or mask, with the dot.
    pub selector: Option<Range<usize>>,
}

impl Places {
    /// The places of what was read.
    #[cold]
    pub(super) fn new(start: usize, opcode: &Opcode, operands: &Operands) -> Places {
        let opcode_end = opcode.end.range().end;
        let end = operands.end.max(opcode_end);
        let operands = operands.list[..operands.count.min(4)].iter();
        Places {
            whole: start..end,
            opcode: opcode.mnemonic.span().start..opcode_end,
            sat: written(opcode.sat),
            comparison: written(opcode.comparison),
            operands: operands
                .map(|operand| OperandPlace { whole: operand.span(), selector: written(operand.selector) })
                .collect(),
        }
    }
}

fn written(span: Span) -> Option<Range<usize>> {
    (!span.is_empty()).then(|| span.range())
}
