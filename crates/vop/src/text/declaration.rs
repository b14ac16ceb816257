//! Register declarations.

use alloc::vec::Vec;
use core::ops::Bound;

use super::lex::{Integer, TokenKind};
use super::reader::{Fault, Reader, Scope, Settings};
use super::registers::{Declarations, RegisterType, Registers};
use crate::diagnostic::{Code, Diagnostic};
use crate::isa::scalar::ScalarType;

/// Reads declarations: `.reg .pred p; .reg .b32 a, b, %r<10>;`.
impl core::str::FromStr for Registers {
    type Err = Vec<Diagnostic>;

    fn from_str(text: &str) -> Result<Registers, Vec<Diagnostic>> {
        let mut reader = Reader::new(Settings::default(), text);
        let mut scope = Scope::default();
        while reader.token.kind != TokenKind::End {
            let read = match reader.token.kind {
                TokenKind::Dot if reader.slice(reader.token) == ".reg" => reader.reg(&mut scope),
                _ => Err(reader.unexpected("`.reg`")),
            };
            if read.is_err() {
                reader.skip_statement();
                // Where it stops without a semicolon it has not moved on.
                if matches!(reader.token.kind, TokenKind::Punctuation(b'}') | TokenKind::OpenComment) {
                    reader.advance();
                }
            }
        }
        if reader.faults.is_empty() { Ok(scope.registers) } else { Err(reader.faults) }
    }
}

impl<'t> Reader<'t, '_> {
    /// Reads one `.reg` declaration with its semicolon (which may be left out at the end of the text).
    pub(super) fn reg(&mut self, scope: &mut Scope<'t>) -> Result<(), Fault> {
        self.advance();
        if self.token.kind == TokenKind::Dot && self.slice(self.token) == ".align" {
            self.advance();
            let token = self.token;
            if !self.count()?.is_power_of_two() {
                let fault = Diagnostic::new(Code::V0405, token.span(), "an alignment is a power of two");
                self.fault(fault.help("leave `.align` out: it has no effect on registers"));
            }
        }
        let mut lanes = 1;
        if self.token.kind == TokenKind::Dot
            && let ".v2" | ".v4" = self.slice(self.token)
        {
            lanes = if self.slice(self.token) == ".v2" { 2 } else { 4 };
            self.advance();
        }
        if self.token.kind != TokenKind::Dot {
            return Err(self.unexpected("a type such as `.b32`"));
        }
        let ty = self.register_type_here(lanes)?;
        self.advance();
        if self.token.kind == TokenKind::Punctuation(b';') {
            self.advance();
            return Ok(());
        }
        loop {
            if self.token.kind != TokenKind::Word {
                return Err(self.unexpected("a register name"));
            }
            let token = self.token;
            let name = self.slice(token);
            self.name(token)?;
            self.advance();
            if self.token.kind == TokenKind::Punctuation(b'<') {
                self.advance();
                let count = self.count()?;
                self.expect(b'>')?;
                // One of the range that has been declared by itself comes to ptxas as the same name twice.
                let after = scope.registers.names.range::<str, _>((Bound::Included(name), Bound::Unbounded));
                let named = after.take_while(|(known, _)| known.starts_with(name));
                let named = named.map(|(known, _)| &known[name.len()..]).any(|digits| is_counted(digits, count));
                if scope.registers.ranges.contains_key(name) || named {
                    self.twice(token);
                }
                scope.registers.declare_range(name, count, ty);
            } else {
                if scope.registers.register(name).is_some() || scope.declares_label(name) {
                    self.twice(token);
                }
                scope.registers.declare(name, ty);
            }
            match self.token.kind {
                TokenKind::Punctuation(b',') => self.advance(),
                TokenKind::Punctuation(b';') => {
                    self.advance();
                    return Ok(());
                }
                TokenKind::End => return Ok(()),
                _ => return Err(self.unexpected("`,` or `;`")),
            }
        }
    }

    /// The type at the current token; `lanes` is 1, or that of a vector declaration.
    fn register_type_here(&mut self, lanes: u32) -> Result<RegisterType, Fault> {
        let span = self.token.span();
        let name = &self.slice(self.token)[1..];
        let fault = match RegisterType::from_name(name) {
            Some(ty) if lanes == 1 => return Ok(ty),
            Some(RegisterType::Scalar(ScalarType::Pred)) => {
                Diagnostic::new(Code::V0405, span, "there are no vectors of predicates")
                    .help("declare the predicates one by one")
            }
            Some(RegisterType::Scalar(ty)) if ty.bits().is_none_or(|bits| lanes * bits > 128) => Diagnostic::new(
                Code::V0405,
                span,
                alloc::format!("a vector of {lanes} `.{name}` has more than 128 bits"),
            )
            .help("declare the registers one by one"),
            Some(_) => return Ok(RegisterType::Vector),
            None => Diagnostic::new(Code::V0405, span, alloc::format!("`.{name}` is not a type of registers"))
                .help("write `.b32`, `.u32`, `.s32`, `.pred` or another type of PTX ISA 5.2"),
        };
        self.fault(fault);
        Err(Fault)
    }

    /// A plain number below 2^32.
    fn count(&mut self) -> Result<u64, Fault> {
        if self.token.kind != TokenKind::Integer {
            return Err(self.unexpected("a number"));
        }
        let token = self.token;
        let Integer { value, overflow, .. } = Integer::read(self.slice(token));
        self.advance();
        if overflow || value > u32::MAX.into() {
            let fault =
                Diagnostic::new(Code::V0104, token.span(), alloc::format!("`{}` is too large", self.slice(token)));
            self.fault(fault.help("write a number below 2^32"));
            return Err(Fault);
        }
        Ok(value)
    }
}

/// Whether the digits of a name are a number below `count`, without leading zeros.
fn is_counted(digits: &str, count: u64) -> bool {
    (digits == "0" || !digits.starts_with('0')) && digits.parse().is_ok_and(|number: u64| number < count)
}
