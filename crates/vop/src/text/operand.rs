//! Operands as they are written, before the instruction is known to take them.

use alloc::format;

use super::constant::Constant;
use super::lex::{Kind, Token};
use super::parse::{Fault, Operand, Run};
use crate::diagnostic::{Code, Diagnostic};

use core::ops::Range;

/// What stands between two commas.
#[derive(Debug, Clone, Copy)]
pub(super) struct Written<'t> {
    pub(super) raw: Raw<'t>,
    pub(super) start: usize,
    pub(super) end: usize,
    /// The minus before a register.
    pub(super) minus: bool,
    /// `.b0` and the like behind a register.
    pub(super) selector: Option<Token>,
    /// `|_` behind a register: ptxas takes this second destination and does nothing with it.
    pub(super) sink: bool,
}

#[derive(Debug, Clone, Copy)]
pub(super) enum Raw<'t> {
    /// No operand in this place.
    Absent,
    Register(&'t str),
    /// `c+1`.
    Sum {
        register: &'t str,
        addend: u32,
    },
    Immediate {
        value: u32,
        text: &'t str,
    },
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

const ABSENT: Written<'static> =
    Written { raw: Raw::Absent, start: 0, end: 0, minus: false, selector: None, sink: false };

impl<'t> Written<'t> {
    pub(super) fn span(&self) -> Range<usize> {
        self.start..self.end
    }

    /// As a source operand; anything but a register or an immediate is none.
    pub(super) fn source(&self) -> Option<Operand<'t>> {
        match self.raw {
            Raw::Register(name) => Some(Operand::Register(name)),
            Raw::Sum { register, addend } => Some(Operand::Sum { register, addend }),
            Raw::Immediate { value, text } => Some(Operand::Immediate { value, text }),
            _ => None,
        }
    }
}

/// An instruction's operands. More than four are counted, not kept.
pub(super) struct Operands<'t> {
    pub(super) list: [Written<'t>; 4],
    pub(super) count: usize,
    /// Whether the list was read to its end: else its count means nothing.
    pub(super) complete: bool,
    /// Where the fifth operand begins, if there is one.
    pub(super) fifth: usize,
    /// Where the list ends.
    pub(super) end: usize,
}

impl Default for Operands<'_> {
    fn default() -> Self {
        Operands { list: [ABSENT; 4], count: 0, complete: false, fifth: 0, end: 0 }
    }
}

impl<'t> Run<'t, '_> {
    /// Reads operands up to and with the semicolon, which may be missing at the end of the text alone.
    pub(super) fn operands(&mut self, operands: &mut Operands<'t>) -> Result<(), Fault> {
        operands.end = self.last_end();
        if self.ends_statement() {
            return Ok(());
        }
        loop {
            let start = self.token.start;
            let mut operand = self.operand()?;
            if self.token.kind == Kind::Punctuation(b'+') && operands.count == 3 {
                self.sum(&mut operand)?;
            }
            operand.start = start;
            operand.end = self.last_end();
            match operands.list.get_mut(operands.count) {
                Some(place) => *place = operand,
                None if operands.count == 4 => operands.fifth = start,
                None => {}
            }
            operands.count += 1;
            operands.end = self.last_end();
            if self.ends_statement() {
                return Ok(());
            }
            if self.token.kind != Kind::Punctuation(b',') {
                let closed = self.token.kind == Kind::Punctuation(b'}');
                return Err(self.unexpected(if closed { "`;` before the end of the block" } else { "`,` or `;`" }));
            }
            self.advance();
        }
    }

    /// Whether the statement ends here; its semicolon is read.
    fn ends_statement(&mut self) -> bool {
        match self.token.kind {
            Kind::Punctuation(b';') => {
                self.advance();
                true
            }
            Kind::End => true,
            _ => false,
        }
    }

    #[inline]
    fn operand(&mut self) -> Result<Written<'t>, Fault> {
        // Nearly all operands are plain registers. `_` and `WARP_SZ` are not.
        if self.token.kind == Kind::Word && !matches!(self.text().as_bytes()[self.token.start], b'_' | b'W') {
            return Ok(self.register(false));
        }
        self.rare_operand()
    }

    fn rare_operand(&mut self) -> Result<Written<'t>, Fault> {
        let start = self.token.start;
        let mut minuses = 0;
        while self.token.kind == Kind::Punctuation(b'-') {
            minuses += 1;
            self.advance();
        }
        let negated_not = minuses > 0 && self.token.kind == Kind::Punctuation(b'!');
        if self.at_constant() || negated_not {
            let raw = match self.constant(minuses)? {
                Constant::Integer { value, .. } => Raw::Immediate { value: value as u32, text: self.since(start) },
                Constant::Float(_) => Raw::Float,
            };
            return Ok(Written { raw, ..ABSENT });
        }
        match self.token.kind {
            Kind::Word if self.slice(self.token) == "_" && minuses == 0 => {
                self.advance();
                Ok(Written { raw: Raw::Discard, ..ABSENT })
            }
            Kind::Word if minuses < 2 => Ok(self.register(minuses == 1)),
            Kind::Punctuation(b'!') => self.not(),
            Kind::Punctuation(b'{') if minuses == 0 => self.bracketed(b'}', Raw::Vector),
            Kind::Punctuation(b'[') if minuses == 0 => self.bracketed(b']', Raw::Address),
            _ => Err(self.unexpected(if minuses > 0 { "a number" } else { "an operand" })),
        }
    }

    #[inline]
    fn register(&mut self, minus: bool) -> Written<'t> {
        let raw = Raw::Register(self.slice(self.token));
        self.advance();
        let selector = (self.token.kind == Kind::Dot).then_some(self.token);
        if selector.is_some() {
            self.advance();
        }
        let mut sink = false;
        if self.token.kind == Kind::Punctuation(b'|') {
            self.advance();
            sink = self.token.kind == Kind::Word && self.slice(self.token) == "_" && !minus && selector.is_none();
            if self.token.kind == Kind::Word {
                self.advance();
            }
            if !sink {
                return Written { raw: Raw::Pair, ..ABSENT };
            }
        }
        Written { raw, minus, selector, sink, ..ABSENT }
    }

    /// The rest of `c+1`: ptxas takes a constant added to a plain register in the place of c, and of c alone.
    #[cold]
    fn sum(&mut self, operand: &mut Written<'t>) -> Result<(), Fault> {
        let Written { raw: Raw::Register(register), minus: false, selector: None, sink: false, .. } = *operand else {
            return Ok(());
        };
        let plus = self.token;
        self.advance();
        operand.raw = match self.constant(0)? {
            Constant::Integer { value, .. } => Raw::Sum { register, addend: value as u32 },
            Constant::Float(_) => {
                let fault = Diagnostic::new(Code::V0104, plus.span(), "only an integer can be added to operand c");
                self.fault(fault.help("write an integer"));
                return Err(Fault);
            }
        };
        Ok(())
    }

    /// `!p`, or `!5`, which is a constant expression.
    fn not(&mut self) -> Result<Written<'t>, Fault> {
        let start = self.token.start;
        let mut ahead = Run::new(self.parser, &self.rest()[1..]);
        while ahead.token.kind == Kind::Punctuation(b'!') || ahead.token.kind == Kind::Punctuation(b'-') {
            ahead.advance();
        }
        if ahead.at_constant() {
            let raw = match self.constant(0)? {
                Constant::Integer { value, .. } => Raw::Immediate { value: value as u32, text: self.since(start) },
                Constant::Float(_) => Raw::Float,
            };
            return Ok(Written { raw, ..ABSENT });
        }
        self.advance();
        if self.token.kind != Kind::Word {
            return Err(self.unexpected("an operand"));
        }
        self.advance();
        Ok(Written { raw: Raw::Not, ..ABSENT })
    }

    /// Skips to the closing bracket: no video instruction takes what is inside.
    fn bracketed(&mut self, close: u8, raw: Raw<'t>) -> Result<Written<'t>, Fault> {
        let open = self.token;
        loop {
            self.advance();
            match self.token.kind {
                Kind::Punctuation(byte) if byte == close => break,
                Kind::End | Kind::OpenComment | Kind::Punctuation(b';') => {
                    let fault = self.unexpected(&format!("`{}`", close as char));
                    if let Some(last) = self.faults.last_mut() {
                        let last: &mut Diagnostic = last;
                        last.related.push((open.span(), "opened here".into()));
                    }
                    return Err(fault);
                }
                _ => {}
            }
        }
        self.advance();
        Ok(Written { raw, ..ABSENT })
    }
}
