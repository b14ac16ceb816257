//! Operands as they are written, before the instruction is known to take them.

use alloc::format;
use core::ops::Range;

use super::constant::Constant;
use super::instruction::Operand;
use super::lex::{Span, TokenKind};
use super::reader::{Fault, Reader};
use crate::diagnostic::{Code, Diagnostic};

/// What stands between two commas.
#[derive(Debug, Clone, Copy)]
pub(super) struct Written {
    pub(super) raw: Raw,
    pub(super) at: Span,
    /// The register's name.
    pub(super) name: Span,
    /// `.b0` and the like behind a register; empty if there is none.
    pub(super) selector: Span,
    /// The immediate's value, or the constant of a sum.
    pub(super) value: u32,
    /// The minus before a register.
    pub(super) minus: bool,
    /// `|_` behind a register: ptxas takes this second destination and does nothing with it.
    pub(super) sink: bool,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Raw {
    /// No operand in this place.
    Absent,
    Register,
    /// `c+1`.
    Sum,
    Immediate,
    Float,
    /// `{a, b}`.
    Vector,
    /// `[a]`.
    Address,
    /// `_`.
    Discard,
    /// `!p`.
    Not,
    /// `d|p`.
    Pair,
}

const NOWHERE: Span = Span { start: 0, end: 0 };

const ABSENT: Written =
    Written { raw: Raw::Absent, at: NOWHERE, name: NOWHERE, selector: NOWHERE, value: 0, minus: false, sink: false };

impl Written {
    pub(super) fn span(&self) -> Range<usize> {
        self.at.range()
    }

    /// Where its minus stands, if it has one.
    pub(super) fn minus_span(&self) -> Range<usize> {
        let start = self.at.start as usize;
        start..start + 1
    }
}

/// An instruction's operands. More than four are counted, not kept.
pub(super) struct Operands {
    pub(super) list: [Written; 4],
    pub(super) count: usize,
    /// Whether the list was read to its end: else its count means nothing.
    pub(super) complete: bool,
    /// Where the fifth operand begins, if there is one.
    pub(super) fifth: usize,
    /// Where the list ends.
    pub(super) end: usize,
    /// Whether all are registers, with a selector or without, and nothing else is to be said of them.
    pub(super) plain: bool,
}

impl Default for Operands {
    fn default() -> Self {
        Operands { list: [ABSENT; 4], count: 0, complete: false, fifth: 0, end: 0, plain: true }
    }
}

impl<'t> Reader<'t, '_> {
    /// An operand as a source; anything but a register or an immediate is none.
    pub(super) fn source(&self, operand: &Written) -> Option<Operand<'t>> {
        match operand.raw {
            Raw::Register => Some(Operand::Register(self.text_of(operand.name))),
            Raw::Sum => Some(Operand::Sum { register: self.text_of(operand.name), addend: operand.value }),
            Raw::Immediate => Some(Operand::Immediate { value: operand.value, text: self.text_of(operand.at) }),
            _ => None,
        }
    }

    /// Reads operands up to and with the semicolon, which may be missing at the end of the text alone.
    pub(super) fn operands(&mut self, operands: &mut Operands) -> Result<(), Fault> {
        operands.end = self.last_end();
        if self.ends_statement() {
            return Ok(());
        }
        loop {
            let start = self.token.at.start;
            let mut beyond = ABSENT;
            if operands.count == 4 {
                operands.fifth = start as usize;
            }
            let place = operands.list.get_mut(operands.count).unwrap_or(&mut beyond);
            self.operand(place)?;
            if self.token.kind == TokenKind::Punctuation(b'+') && operands.count == 3 {
                self.sum(place)?;
            }
            operands.end = self.last_end();
            place.at = Span { start, end: operands.end as u32 };
            operands.plain &= place.raw == Raw::Register && !place.minus && !place.sink;
            operands.count += 1;
            if self.ends_statement() {
                return Ok(());
            }
            if self.token.kind != TokenKind::Punctuation(b',') {
                let closed = self.token.kind == TokenKind::Punctuation(b'}');
                return Err(self.unexpected(if closed { "`;` before the end of the block" } else { "`,` or `;`" }));
            }
            self.advance();
        }
    }

    /// Whether the statement ends here; its semicolon is read.
    fn ends_statement(&mut self) -> bool {
        match self.token.kind {
            TokenKind::Punctuation(b';') => {
                self.advance();
                true
            }
            TokenKind::End => true,
            _ => false,
        }
    }

    #[inline]
    fn operand(&mut self, place: &mut Written) -> Result<(), Fault> {
        // Nearly all operands are plain registers. `_` and `WARP_SZ` are not.
        if self.token.kind == TokenKind::Word && !matches!(self.first_byte(), b'_' | b'W') {
            self.register(place);
            return Ok(());
        }
        self.rare_operand(place)
    }

    fn rare_operand(&mut self, place: &mut Written) -> Result<(), Fault> {
        let mut minuses = 0;
        while self.token.kind == TokenKind::Punctuation(b'-') {
            minuses += 1;
            self.advance();
        }
        let negated_not = minuses > 0 && self.token.kind == TokenKind::Punctuation(b'!');
        if self.at_constant() || negated_not {
            return self.immediate(place, minuses);
        }
        match self.token.kind {
            TokenKind::Word if self.slice(self.token) == "_" && minuses == 0 => {
                self.advance();
                place.raw = Raw::Discard;
                Ok(())
            }
            TokenKind::Word if minuses < 2 => {
                place.minus = minuses == 1;
                self.register(place);
                Ok(())
            }
            TokenKind::Punctuation(b'!') => self.not(place),
            TokenKind::Punctuation(b'{') if minuses == 0 => self.bracketed(place, b'}', Raw::Vector),
            TokenKind::Punctuation(b'[') if minuses == 0 => self.bracketed(place, b']', Raw::Address),
            _ => Err(self.unexpected(if minuses > 0 { "a number" } else { "an operand" })),
        }
    }

    fn immediate(&mut self, place: &mut Written, minuses: u32) -> Result<(), Fault> {
        match self.constant(minuses)? {
            Constant::Integer { value, .. } => {
                place.raw = Raw::Immediate;
                place.value = value as u32;
            }
            Constant::Float(_) => place.raw = Raw::Float,
        }
        Ok(())
    }

    #[inline]
    fn register(&mut self, place: &mut Written) {
        place.raw = Raw::Register;
        place.name = self.token.at;
        self.advance();
        if self.token.kind == TokenKind::Dot {
            place.selector = self.token.at;
            self.advance();
        }
        if self.token.kind == TokenKind::Punctuation(b'|') {
            self.pair(place);
        }
    }

    /// The rest of `d|_` or `d|p`.
    #[cold]
    fn pair(&mut self, place: &mut Written) {
        self.advance();
        let discards = self.token.kind == TokenKind::Word && self.slice(self.token) == "_";
        if discards && !place.minus && place.selector.is_empty() {
            place.sink = true;
        } else {
            place.raw = Raw::Pair;
        }
        if self.token.kind == TokenKind::Word {
            self.advance();
        }
    }

    /// The rest of `c+1`: ptxas takes a constant added to a plain register in the place of c, and of c alone.
    #[cold]
    fn sum(&mut self, place: &mut Written) -> Result<(), Fault> {
        if place.raw != Raw::Register || place.minus || place.sink || !place.selector.is_empty() {
            return Ok(());
        }
        let plus = self.token;
        self.advance();
        match self.constant(0)? {
            Constant::Integer { value, .. } => {
                place.raw = Raw::Sum;
                place.value = value as u32;
                Ok(())
            }
            Constant::Float(_) => {
                let fault = Diagnostic::new(Code::V0104, plus.span(), "only an integer can be added to operand c");
                self.fault(fault.help("write an integer"));
                Err(Fault)
            }
        }
    }

    /// `!p`, or `!5`, which is a constant expression.
    fn not(&mut self, place: &mut Written) -> Result<(), Fault> {
        let behind =
            self.rest().trim_start_matches(|c: char| matches!(c, '!' | '-' | '~' | '+') || c.is_ascii_whitespace());
        if behind.starts_with(|c: char| c.is_ascii_digit() || c == '(') || behind.starts_with("WARP_SZ") {
            return self.immediate(place, 0);
        }
        self.advance();
        if self.token.kind != TokenKind::Word {
            return Err(self.unexpected("an operand"));
        }
        self.advance();
        place.raw = Raw::Not;
        Ok(())
    }

    /// Skips to the closing bracket: no video instruction takes what is inside.
    fn bracketed(&mut self, place: &mut Written, close: u8, raw: Raw) -> Result<(), Fault> {
        let open = self.token;
        loop {
            self.advance();
            match self.token.kind {
                TokenKind::Punctuation(byte) if byte == close => break,
                TokenKind::End | TokenKind::OpenComment | TokenKind::Punctuation(b';') => {
                    let fault = self.unexpected(&format!("`{}`", close as char));
                    if let Some(last) = self.faults.last_mut() {
                        last.related.push((open.span(), "opened here".into()));
                    }
                    return Err(fault);
                }
                _ => {}
            }
        }
        self.advance();
        place.raw = raw;
        Ok(())
    }
}
