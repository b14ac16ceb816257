//! Where the parts of an instruction stand.

use alloc::vec::Vec;
use core::ops::Range;

use super::lex::{Kind, Span};
use super::operand::Operands;
use super::parse::{Parser, Run};

/// Where the parts of an instruction stand in its text, in bytes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Places {
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
pub struct OperandPlace {
    /// All of it, with minus and selector.
    pub whole: Range<usize>,
    /// Its selector or mask, with the dot.
    pub selector: Option<Range<usize>>,
}

impl Places {
    /// Those of the first instruction of a text; `None` if it holds none. Meant for a text that
    /// [`parse`](crate::parse()) has taken.
    ///
    /// ```
    /// let text = "@p vadd4.u32.u32.u32.sat d.b10, a, b, c;";
    /// let places = vop::Places::of(text).unwrap();
    /// assert_eq!(&text[places.sat.unwrap()], ".sat");
    /// assert_eq!(&text[places.operands[0].selector.clone().unwrap()], ".b10");
    /// ```
    pub fn of(text: &str) -> Option<Places> {
        let parser = Parser::new();
        let mut run = Run::new(&parser, text);
        loop {
            match run.token.kind {
                Kind::End | Kind::OpenComment => return None,
                Kind::Punctuation(b'{' | b'}') => run.advance(),
                _ => match run.head() {
                    Ok(Some((_, mnemonic))) => {
                        let opcode = run.opcode(mnemonic);
                        let mut operands = Operands::default();
                        // What could be read of them counts.
                        let _ = run.operands(&mut operands);
                        return Some(Places {
                            opcode: opcode.mnemonic.span().start..opcode.end.range().end,
                            sat: written(opcode.sat),
                            comparison: written(opcode.comparison),
                            operands: operands.list[..operands.count.min(4)]
                                .iter()
                                .map(|operand| OperandPlace {
                                    whole: operand.span(),
                                    selector: written(operand.selector),
                                })
                                .collect(),
                        });
                    }
                    Ok(None) => {}
                    Err(_) => run.skip_statement(),
                },
            }
        }
    }
}

fn written(span: Span) -> Option<Range<usize>> {
    (!span.is_empty()).then(|| span.range())
}
