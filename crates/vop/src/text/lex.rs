//! Tokens of PTX text.

use core::ops::Range;

/// A place in a text: 32 bits are enough and let a token fit two registers, in which functions return it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(super) struct Span {
    pub(super) start: u32,
    pub(super) end: u32,
}

impl Span {
    /// Texts are at most [`LONGEST`] bytes long, so that nothing is cut.
    pub(super) const fn new(start: usize, end: usize) -> Span {
        Span { start: start as u32, end: end as u32 }
    }

    pub(super) const fn range(self) -> Range<usize> {
        self.start as usize..self.end as usize
    }

    pub(super) const fn is_empty(self) -> bool {
        self.start == self.end
    }

    /// The place behind it.
    pub(super) const fn behind(self) -> Span {
        Span { start: self.end, end: self.end }
    }
}

/// The longest text that can be read.
pub(super) const LONGEST: usize = u32::MAX as usize;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Token {
    pub(super) kind: TokenKind,
    pub(super) at: Span,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum TokenKind {
    /// The end of the text.
    End,
    /// An identifier, `_` included.
    Word,
    /// A dot and, without a blank between, a name: a modifier or selector.
    Dot,
    /// An integer; [`Integer::read`] has its value.
    Integer,
    /// A decimal floating-point number.
    Float,
    /// `0f3f800000` or `0d3ff0000000000000`: a floating-point number by its bits.
    FloatBits,
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
    pub(super) const fn span(self) -> Range<usize> {
        self.at.range()
    }
}

pub(super) struct Lexer<'t> {
    text: &'t str,
    at: usize,
}

/// Whether a byte may stand inside an identifier.
const fn follows(byte: u8) -> bool {
    CLASSES[byte as usize] & FOLLOWS != 0
}

const FOLLOWS: u8 = 1;
const STARTS: u8 = 2;
const BLANK: u8 = 4;
/// `.`, `%` and `$`, which begin a modifier or a word if more follows.
const LEADS: u8 = 8;
/// `,` and `;`.
const SINGLE: u8 = 16;

/// What each byte can be; a table, since most of a parser's time goes into asking.
const CLASSES: [u8; 256] = {
    let mut classes = [0; 256];
    let mut i = 0;
    while i < 256 {
        let byte = i as u8;
        if byte.is_ascii_alphanumeric() || byte == b'_' || byte == b'$' {
            classes[i] |= FOLLOWS;
        }
        if byte.is_ascii_alphabetic() || byte == b'_' {
            classes[i] |= STARTS;
        }
        if matches!(byte, b'.' | b'%' | b'$') {
            classes[i] |= LEADS;
        }
        if matches!(byte, b',' | b';') {
            classes[i] |= SINGLE;
        }
        // ptxas also takes a Ctrl-Z for a blank.
        if byte.is_ascii_whitespace() || byte == 0x1a {
            classes[i] |= BLANK;
        }
        i += 1;
    }
    classes
};

/// An integer's value.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Integer {
    /// Its lower 64 bits.
    pub(super) value: u64,
    /// Whether it is of type `.u64`.
    pub(super) unsigned: bool,
    /// Whether ptxas calls it too large.
    pub(super) overflow: bool,
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
    #[inline(always)]
    fn run(&self, from: usize, condition: impl Fn(u8) -> bool) -> usize {
        let bytes = self.text.as_bytes();
        let mut at = from;
        while at < bytes.len() && condition(bytes[at]) {
            at += 1;
        }
        at
    }

    /// Skips comments, and the line markers that a preprocessor leaves.
    #[cold]
    fn skip_comments(&mut self) -> Option<usize> {
        loop {
            let start = self.at;
            match (self.byte(start), self.byte(start + 1)) {
                (b'/', b'/') => self.at = self.run(start, |byte| byte != b'\n'),
                (b'/', b'*') => match self.text[start + 2..].find("*/") {
                    Some(length) => self.at += length + 4,
                    None => return Some(start),
                },
                (b'#', _) if self.is_line_marker(start) => self.at = self.run(start, |byte| byte != b'\n'),
                _ => return None,
            }
            // ptxas stops at a NUL, also in a comment: what follows would be lost.
            if let Some(nul) = self.text[start..self.at].find('\0') {
                self.at = start + nul;
                return None;
            }
            self.at = self.run(self.at, |byte| CLASSES[byte as usize] & BLANK != 0);
        }
    }

    /// Whether `# 12 "file.ptx"` stands here.
    fn is_line_marker(&self, start: usize) -> bool {
        let blank = |byte| byte == b' ' || byte == b'\t';
        let number = self.run(start + 1, blank);
        let behind = self.run(number, |byte| byte.is_ascii_digit());
        let quote = self.run(behind, blank);
        behind > number
            && quote > behind
            && self.byte(quote) == b'"'
            && self.run(start, |byte| byte != b'\n') < self.text.len()
    }

    /// The next token. Words, modifiers, commas and semicolons are nearly all there is: they are read here, in few
    /// instructions, and all else elsewhere.
    #[inline(always)]
    pub(super) fn next(&mut self) -> Token {
        let bytes = self.text.as_bytes();
        let start = self.run(self.at, |byte| CLASSES[byte as usize] & BLANK != 0);
        let class = if start < bytes.len() { CLASSES[bytes[start] as usize] } else { 0 };
        if class & (STARTS | LEADS) != 0 {
            let end = self.run(start + 1, follows);
            let kind = if class & STARTS != 0 || bytes[start] != b'.' { TokenKind::Word } else { TokenKind::Dot };
            // A dot, `%` or `$` alone is none, and `.5` may be a number.
            if class & STARTS != 0
                || (end > start + 1 && !(kind == TokenKind::Dot && bytes[start + 1].is_ascii_digit()))
            {
                self.at = end;
                return Token { kind, at: Span::new(start, end) };
            }
        } else if class & SINGLE != 0 {
            self.at = start + 1;
            return Token { kind: TokenKind::Punctuation(bytes[start]), at: Span::new(start, start + 1) };
        }
        self.rare_token(start)
    }

    #[inline(never)]
    fn behind_comments(&mut self) -> Token {
        self.next()
    }

    #[inline(never)]
    fn rare_token(&mut self, start: usize) -> Token {
        let bytes = self.text.as_bytes();
        if let Some(b'/' | b'#') = bytes.get(start) {
            self.at = start;
            if let Some(open) = self.skip_comments() {
                self.at = bytes.len();
                return Token { kind: TokenKind::OpenComment, at: Span::new(open, open + 2) };
            }
            if self.at > start {
                return self.behind_comments();
            }
        }
        let Some(&first) = bytes.get(start) else {
            self.at = start;
            return Token { kind: TokenKind::End, at: Span::new(start, start) };
        };
        let (kind, end) = if first == b'.' && self.byte(start + 1).is_ascii_digit() {
            self.dot_digit(start)
        } else {
            self.rare(start, first)
        };
        self.at = end;
        Token { kind, at: Span::new(start, end) }
    }

    /// A number such as `.5`; what else begins so is taken for a modifier.
    fn dot_digit(&self, start: usize) -> (TokenKind, usize) {
        let end = self.run(start + 2, follows);
        match self.float_end(start) {
            Some(float) if float >= end => (TokenKind::Float, float),
            _ => (TokenKind::Dot, end),
        }
    }

    /// What is neither a word nor a modifier nor a comma.
    fn rare(&self, start: usize, first: u8) -> (TokenKind, usize) {
        let second = self.byte(start + 1);
        match first {
            b'0'..=b'9' => self.number(start),
            b'<' | b'>' | b'&' | b'|' if second == first => (TokenKind::Double(first), start + 2),
            // `<=` must differ from `<<`: the table of operators knows it and `>=` as `l` and `g`.
            b'<' if second == b'=' => (TokenKind::Double(b'l'), start + 2),
            b'>' if second == b'=' => (TokenKind::Double(b'g'), start + 2),
            b'=' | b'!' if second == b'=' => (TokenKind::Double(first), start + 2),
            b'"' => {
                // The byte behind the string is a quote or a line feed, if there is one.
                let close = self.run(start + 1, |byte| byte != b'"' && byte != b'\n');
                (TokenKind::Unknown, (close + 1).min(self.text.len()))
            }
            b'!'..=b'~' if first != b'\'' => (TokenKind::Punctuation(first), start + 1),
            _ => (TokenKind::Unknown, start + self.text[start..].chars().next().map_or(1, char::len_utf8)),
        }
    }

    fn number(&self, start: usize) -> (TokenKind, usize) {
        let (base, digits) = match (self.byte(start), self.byte(start + 1) | 0x20) {
            (b'0', b'f') => return self.float_bits(start, 8),
            (b'0', b'd') => return self.float_bits(start, 16),
            (b'0', b'x') if self.byte(start + 2).is_ascii_hexdigit() => (16, start + 2),
            (b'0', b'b') if matches!(self.byte(start + 2), b'0' | b'1') => (2, start + 2),
            (b'0', _) => (8, start),
            _ => (10, start),
        };
        if matches!(base, 8 | 10)
            && let Some(end) = self.float_end(start)
        {
            return (TokenKind::Float, end);
        }
        let end = self.run(digits, |byte| (byte as char).is_digit(base));
        (TokenKind::Integer, end + usize::from(self.byte(end) == b'U'))
    }

    /// `0f3f800000`, `0d3ff0000000000000`.
    fn float_bits(&self, start: usize, digits: usize) -> (TokenKind, usize) {
        let end = self.run(start + 2, |byte| byte.is_ascii_hexdigit());
        if end - start == digits + 2 { (TokenKind::FloatBits, end) } else { (TokenKind::Integer, start + 1) }
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

impl Integer {
    /// The value of an integer token's text.
    pub(super) fn read(text: &str) -> Integer {
        let (text, suffix) = match text.strip_suffix('U') {
            Some(text) => (text, true),
            None => (text, false),
        };
        let (base, digits) = match text.as_bytes() {
            [b'0', b'x' | b'X', ..] => (16, &text[2..]),
            [b'0', b'b' | b'B', ..] => (2, &text[2..]),
            [b'0', ..] => (8, text),
            _ => (10, text),
        };
        let (mut value, mut overflow) = (0u64, false);
        for digit in digits.chars().filter_map(|digit| digit.to_digit(base)) {
            // What ptxas calls "Constant overflow": a digit more once bit 63 is set, and nothing else.
            overflow |= value >> 63 != 0;
            value = value.wrapping_mul(base.into()).wrapping_add(digit.into());
        }
        Integer { value, unsigned: suffix || value >> 63 != 0, overflow }
    }
}
