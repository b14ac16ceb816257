//! Tokens of PTX text.

use core::ops::Range;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Token {
    pub(super) kind: Kind,
    pub(super) start: usize,
    pub(super) end: usize,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Kind {
    /// The end of the text.
    End,
    /// An identifier, `_` included.
    Word,
    /// A dot and, without a blank between, a name: a modifier or selector.
    Dot,
    /// An integer, as the lower 64 bits of its value, whether it is unsigned, and whether ptxas calls it too large.
    Integer { value: u64, unsigned: bool, overflow: bool },
    /// A floating-point number.
    Float,
    /// Two-character operators are the parser's business, except shifts and comparisons.
    Punctuation(u8),
    /// `<<`, `>>`, `<=`, `>=`, `==`, `!=`, `&&`, `||`, as the first character.
    Double(u8),
    /// A comment without an end.
    OpenComment,
    /// A character that PTX has no use for, or a string.
    Unknown,
}

impl Token {
    pub(super) fn span(self) -> Range<usize> {
        self.start..self.end
    }
}

pub(super) struct Lexer<'t> {
    text: &'t str,
    at: usize,
}

/// Whether a byte may stand inside an identifier.
const fn follows(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || byte == b'_' || byte == b'$'
}

impl<'t> Lexer<'t> {
    pub(super) fn new(text: &'t str) -> Lexer<'t> {
        Lexer { text, at: 0 }
    }

    pub(super) fn text(&self) -> &'t str {
        self.text
    }

    fn byte(&self, at: usize) -> u8 {
        self.text.as_bytes().get(at).copied().unwrap_or(0)
    }

    /// The position behind the run of bytes that satisfy a condition.
    fn run(&self, from: usize, condition: impl Fn(u8) -> bool) -> usize {
        let rest = self.text.as_bytes().get(from..).unwrap_or_default();
        from + rest.iter().position(|&byte| !condition(byte)).unwrap_or(rest.len())
    }

    /// Skips blanks and comments; the place of a comment without an end.
    fn skip(&mut self) -> Option<usize> {
        loop {
            self.at = self.run(self.at, |byte| byte.is_ascii_whitespace() || byte == 0x0b);
            if self.byte(self.at) != b'/' {
                return None;
            }
            match self.byte(self.at + 1) {
                b'/' => self.at = self.run(self.at, |byte| byte != b'\n'),
                b'*' => match self.text[self.at + 2..].find("*/") {
                    Some(length) => self.at += length + 4,
                    None => return Some(self.at),
                },
                _ => return None,
            }
        }
    }

    pub(super) fn next(&mut self) -> Token {
        if let Some(start) = self.skip() {
            self.at = self.text.len();
            return Token { kind: Kind::OpenComment, start, end: start + 2 };
        }
        let start = self.at;
        let first = self.byte(start);
        let (kind, end) = match first {
            _ if start >= self.text.len() => (Kind::End, start),
            b'a'..=b'z' | b'A'..=b'Z' | b'_' | b'$' => (Kind::Word, self.run(start + 1, follows)),
            b'%' if follows(self.byte(start + 1)) => (Kind::Word, self.run(start + 1, follows)),
            b'.' if follows(self.byte(start + 1)) => (Kind::Dot, self.run(start + 1, follows)),
            b'0'..=b'9' => self.number(start),
            b'<' | b'>' if self.byte(start + 1) == first => (Kind::Double(first), start + 2),
            b'&' | b'|' if self.byte(start + 1) == first => (Kind::Double(first), start + 2),
            b'<' | b'>' | b'=' | b'!' if self.byte(start + 1) == b'=' => {
                // `<=` must differ from `<<`: the table of operators knows them as `l` and `g`.
                let name = match first {
                    b'<' => b'l',
                    b'>' => b'g',
                    other => other,
                };
                (Kind::Double(name), start + 2)
            }
            b'!'..=b'~' if first != b'"' && first != b'\'' => (Kind::Punctuation(first), start + 1),
            b'"' => {
                let close = self.run(start + 1, |byte| byte != b'"' && byte != b'\n');
                (Kind::Unknown, (close + 1).min(self.text.len()))
            }
            _ => (Kind::Unknown, start + self.text[start..].chars().next().map_or(1, char::len_utf8)),
        };
        // A string that runs to the end of a line may end before a multi-byte character, never inside one.
        self.at = end;
        Token { kind, start, end }
    }

    fn number(&self, start: usize) -> (Kind, usize) {
        let (base, digits) = match (self.byte(start), self.byte(start + 1) | 0x20) {
            (b'0', b'f') => return self.float_bits(start, 8),
            (b'0', b'd') => return self.float_bits(start, 16),
            (b'0', b'x') if self.byte(start + 2).is_ascii_hexdigit() => (16, start + 2),
            (b'0', b'b') if matches!(self.byte(start + 2), b'0' | b'1') => (2, start + 2),
            (b'0', _) => (8, start),
            _ => (10, start),
        };
        let end = self.run(digits, |byte| (byte as char).is_digit(base));
        if matches!(base, 8 | 10)
            && let Some(end) = self.float_end(start)
        {
            return (Kind::Float, end);
        }
        let (mut value, mut overflow) = (0u64, false);
        for digit in self.text.as_bytes()[digits..end].iter().filter_map(|&byte| (byte as char).to_digit(base)) {
            // What ptxas calls "Constant overflow": a digit more once bit 63 is set, and nothing else.
            overflow |= value >> 63 != 0;
            value = value.wrapping_mul(base.into()).wrapping_add(digit.into());
        }
        let unsigned = self.byte(end) == b'U';
        (Kind::Integer { value, unsigned: unsigned || value >> 63 != 0, overflow }, end + usize::from(unsigned))
    }

    /// `0f3f800000`, `0d3ff0000000000000`.
    fn float_bits(&self, start: usize, digits: usize) -> (Kind, usize) {
        let end = self.run(start + 2, |byte| byte.is_ascii_hexdigit());
        if end - start == digits + 2 {
            (Kind::Float, end)
        } else {
            (Kind::Integer { value: 0, unsigned: false, overflow: false }, start + 1)
        }
    }

    /// Where a decimal floating-point number ends, if it is one: a point or an exponent after the digits.
    fn float_end(&self, start: usize) -> Option<usize> {
        let digit = |byte: u8| byte.is_ascii_digit();
        let mut end = self.run(start, digit);
        let point = self.byte(end) == b'.';
        if point {
            end = self.run(end + 1, digit);
        }
        if self.byte(end) | 0x20 == b'e' {
            let sign = usize::from(matches!(self.byte(end + 1), b'+' | b'-'));
            if digit(self.byte(end + 1 + sign)) {
                return Some(self.run(end + 1 + sign, digit));
            }
        }
        point.then_some(end)
    }
}
