//! Integer constant expressions (PTX ISA 4.5), as ptxas takes them for immediates.

use alloc::format;

use super::lex::{Integer, Token, TokenKind};
use super::reader::{Fault, Reader};
use crate::diagnostic::{Code, Diagnostic};

/// The value of a constant expression.
#[derive(Debug, Clone, Copy)]
pub(super) enum Constant {
    /// Its lower 64 bits, and whether it is of type `.u64`.
    Integer { value: u64, unsigned: bool },
    /// A floating-point number; comparing two gives an integer.
    Float(f64),
}

impl Constant {
    fn truth(value: bool) -> Constant {
        Constant::Integer { value: value.into(), unsigned: false }
    }
}

/// Deeper nesting is refused, so that no text overflows the stack.
const DEPTH: u32 = 400;

/// How tightly an operator binds, as in C; `None` for what is no binary operator.
fn precedence(kind: TokenKind) -> Option<u32> {
    Some(match kind {
        TokenKind::Punctuation(b'*' | b'/' | b'%') => 10,
        TokenKind::Punctuation(b'+' | b'-') => 9,
        TokenKind::Double(b'<' | b'>') => 8,
        TokenKind::Punctuation(b'<' | b'>') | TokenKind::Double(b'l' | b'g') => 7,
        TokenKind::Double(b'=' | b'!') => 6,
        TokenKind::Punctuation(b'&') => 5,
        TokenKind::Punctuation(b'^') => 4,
        TokenKind::Punctuation(b'|') => 3,
        TokenKind::Double(b'&') => 2,
        TokenKind::Double(b'|') => 1,
        TokenKind::Punctuation(b'?') => 0,
        _ => return None,
    })
}

impl Reader<'_, '_> {
    /// Whether a constant expression begins at the current token.
    pub(super) fn at_constant(&self) -> bool {
        match self.token.kind {
            TokenKind::Integer | TokenKind::Float | TokenKind::FloatBits => true,
            TokenKind::Punctuation(b'+' | b'~' | b'(') => true,
            TokenKind::Word => self.slice(self.token) == "WARP_SZ",
            _ => false,
        }
    }

    /// Reads a constant expression, whose minus signs have been counted already.
    pub(super) fn constant(&mut self, minuses: u32) -> Result<Constant, Fault> {
        if self.token.kind == TokenKind::FloatBits && minuses == 0 {
            // It stands alone, never in an expression.
            self.advance();
            return Ok(Constant::Float(0.0));
        }
        let mut left = self.unary(DEPTH)?;
        for _ in 0..minuses & 1 {
            left = negate(left);
        }
        self.binary(left, 0, DEPTH)
    }

    /// Extends `left` by all operators that bind at least as tightly as `least`.
    fn binary(&mut self, mut left: Constant, least: u32, depth: u32) -> Result<Constant, Fault> {
        while let Some(binds) = precedence(self.token.kind).filter(|&binds| binds >= least) {
            let operator = self.token;
            self.advance();
            let depth = self.deeper(depth)?;
            if binds == 0 {
                let first = self.unary(depth)?;
                let yes = self.binary(first, 0, depth)?;
                self.expect(b':')?;
                let first = self.unary(depth)?;
                let no = self.binary(first, 0, depth)?;
                left = match (left, yes, no) {
                    (Constant::Integer { value, .. }, Constant::Integer { .. }, Constant::Integer { .. }) => {
                        if value == 0 { no } else { yes }
                    }
                    _ => self.mixed(operator, "`?:` chooses among integers"),
                };
                continue;
            }
            let first = self.unary(depth)?;
            let right = self.binary(first, binds + 1, depth)?;
            left = self.combine(operator, left, right);
        }
        Ok(left)
    }

    fn combine(&mut self, operator: Token, left: Constant, right: Constant) -> Constant {
        let (x, ux, y, uy) = match (left, right) {
            (Constant::Integer { value: x, unsigned: ux }, Constant::Integer { value: y, unsigned: uy }) => {
                (x, ux, y, uy)
            }
            (Constant::Float(x), Constant::Float(y)) => return self.combine_floats(operator, x, y),
            _ => return self.mixed(operator, "an integer and a floating-point number cannot be combined"),
        };
        let unsigned = ux || uy;
        let (sx, sy) = (x as i64, y as i64);
        let less = if unsigned { x < y } else { sx < sy };
        let value = match operator.kind {
            TokenKind::Punctuation(b'*') => x.wrapping_mul(y),
            TokenKind::Punctuation(b'/' | b'%') if y == 0 => {
                self.divides_by_zero(operator);
                0
            }
            TokenKind::Punctuation(b'/') if unsigned => x / y,
            TokenKind::Punctuation(b'/') => match sx.checked_div(sy) {
                Some(quotient) => quotient as u64,
                None => {
                    let fault = Diagnostic::new(Code::V0104, operator.span(), "the quotient does not fit 64 bits");
                    self.fault(fault.help("ptxas itself fails on this division; write the value"));
                    0
                }
            },
            // ptxas takes the remainder of the bits, and of type `.u64`, whatever the signs.
            TokenKind::Punctuation(b'%') => return Constant::Integer { value: x % y, unsigned: true },
            TokenKind::Punctuation(b'+') => x.wrapping_add(y),
            TokenKind::Punctuation(b'-') => x.wrapping_sub(y),
            TokenKind::Double(b'<') => return Constant::Integer { value: x.wrapping_shl(y as u32), unsigned: ux },
            TokenKind::Double(b'>') if ux => {
                return Constant::Integer { value: x.wrapping_shr(y as u32), unsigned: true };
            }
            TokenKind::Double(b'>') => {
                return Constant::Integer { value: sx.wrapping_shr(y as u32) as u64, unsigned: false };
            }
            TokenKind::Punctuation(b'<') => return Constant::truth(less),
            TokenKind::Punctuation(b'>') => return Constant::truth(!less && x != y),
            TokenKind::Double(b'l') => return Constant::truth(less || x == y),
            TokenKind::Double(b'g') => return Constant::truth(!less),
            TokenKind::Double(b'=') => return Constant::truth(x == y),
            TokenKind::Double(b'!') => return Constant::truth(x != y),
            TokenKind::Punctuation(b'&') => x & y,
            TokenKind::Punctuation(b'^') => x ^ y,
            TokenKind::Punctuation(b'|') => x | y,
            TokenKind::Double(b'&') => return Constant::truth(x != 0 && y != 0),
            // `||` is left: `precedence` lets nothing else through.
            _ => return Constant::truth(x != 0 || y != 0),
        };
        Constant::Integer { value, unsigned }
    }

    fn combine_floats(&mut self, operator: Token, x: f64, y: f64) -> Constant {
        match operator.kind {
            TokenKind::Punctuation(b'*') => Constant::Float(x * y),
            TokenKind::Punctuation(b'+') => Constant::Float(x + y),
            TokenKind::Punctuation(b'-') => Constant::Float(x - y),
            TokenKind::Punctuation(b'/') if y == 0.0 => {
                self.divides_by_zero(operator);
                Constant::Float(0.0)
            }
            TokenKind::Punctuation(b'/') => Constant::Float(x / y),
            TokenKind::Punctuation(b'<') => Constant::truth(x < y),
            TokenKind::Punctuation(b'>') => Constant::truth(x > y),
            TokenKind::Double(b'l') => Constant::truth(x <= y),
            TokenKind::Double(b'g') => Constant::truth(x >= y),
            TokenKind::Double(b'=') => Constant::truth(x == y),
            TokenKind::Double(b'!') => Constant::truth(x != y),
            _ => self.mixed(operator, "the operator takes integers alone"),
        }
    }

    #[cold]
    fn divides_by_zero(&mut self, operator: Token) {
        let fault = Diagnostic::new(Code::V0104, operator.span(), "division by zero in a constant expression");
        self.fault(fault.label("divides by zero"));
    }

    #[cold]
    fn mixed(&mut self, at: Token, why: &str) -> Constant {
        let fault = Diagnostic::new(Code::V0104, at.span(), format!("{why} in a constant expression"));
        self.fault(fault.help("write an integer"));
        Constant::Integer { value: 0, unsigned: false }
    }

    fn unary(&mut self, depth: u32) -> Result<Constant, Fault> {
        let token = self.token;
        match token.kind {
            TokenKind::Integer => {
                let Integer { value, unsigned, overflow } = Integer::read(self.slice(token));
                self.advance();
                if overflow {
                    self.fault(
                        Diagnostic::new(
                            Code::V0104,
                            token.span(),
                            format!("`{}` does not fit 64 bits", self.slice(token)),
                        )
                        .label("too large")
                        .help("operands are 32 bits wide: write a number up to 0xffffffff"),
                    );
                }
                Ok(Constant::Integer { value, unsigned })
            }
            TokenKind::Float => {
                self.advance();
                let value: f64 = self.slice(token).parse().unwrap_or(0.0);
                if value.is_infinite() {
                    let message = format!("`{}` does not fit 64 bits", self.slice(token));
                    self.fault(Diagnostic::new(Code::V0104, token.span(), message).label("too large"));
                }
                Ok(Constant::Float(value))
            }
            TokenKind::Word if self.slice(token) == "WARP_SZ" => {
                self.advance();
                Ok(Constant::Integer { value: 32, unsigned: false })
            }
            TokenKind::Punctuation(operator @ (b'-' | b'+' | b'~' | b'!')) => {
                self.advance();
                let depth = self.deeper(depth)?;
                let inner = self.unary(depth)?;
                Ok(match (operator, inner) {
                    (b'-', inner) => negate(inner),
                    (b'~', Constant::Integer { value, .. }) => Constant::Integer { value: !value, unsigned: true },
                    (b'!', Constant::Integer { value, .. }) => Constant::truth(value == 0),
                    (b'~' | b'!', Constant::Float(_)) => self.mixed(token, "the operator takes integers alone"),
                    (_, inner) => inner,
                })
            }
            TokenKind::Punctuation(b'(') => {
                self.advance();
                let depth = self.deeper(depth)?;
                if self.token.kind == TokenKind::Dot {
                    return self.cast(depth);
                }
                let first = self.unary(depth)?;
                let inner = self.binary(first, 0, depth)?;
                self.expect(b')')?;
                Ok(inner)
            }
            _ => Err(self.unexpected("a number")),
        }
    }

    /// `(.s64)` or `(.u64)` before a number.
    fn cast(&mut self, depth: u32) -> Result<Constant, Fault> {
        let unsigned = match self.slice(self.token) {
            ".u64" => true,
            ".s64" => false,
            _ => return Err(self.unexpected("`.s64` or `.u64`")),
        };
        self.advance();
        self.expect(b')')?;
        let at = self.token;
        Ok(match self.unary(depth)? {
            Constant::Integer { value, .. } => Constant::Integer { value, unsigned },
            Constant::Float(_) => self.mixed(at, "the cast takes integers alone"),
        })
    }

    fn deeper(&mut self, depth: u32) -> Result<u32, Fault> {
        depth.checked_sub(1).ok_or_else(|| {
            self.fault(
                Diagnostic::new(Code::V0104, self.token.span(), "the constant expression is nested too deeply")
                    .help("write its value"),
            );
            Fault
        })
    }
}

fn negate(constant: Constant) -> Constant {
    match constant {
        Constant::Integer { value, unsigned } => Constant::Integer { value: value.wrapping_neg(), unsigned },
        Constant::Float(value) => Constant::Float(-value),
    }
}
