//! Tokens of PTX text: blanks, comments, names, numbers, and the split of an operand list.
//!
//! PTX is written in ASCII; every byte above it belongs to a comment, a string or odd text, and every boundary found here is
//! next to an ASCII byte, so that all ranges can be used to slice the text they came from.

use std::borrow::Cow;
use std::ops::Range;

/// May stand in a name: letters, digits, `_`, `$`, `%`.
const NAME: u8 = 1;
/// May start a name.
const NAME_START: u8 = 2;
/// Separates tokens. Control characters count too: text taken from a binary often ends in a NUL.
const BLANK: u8 = 4;
/// Something that the search for the end of a statement must look at.
const STOP: u8 = 8;

static CLASS: [u8; 256] = classes();

const fn classes() -> [u8; 256] {
    let mut table = [0; 256];
    let mut byte = 0;
    while byte < 256 {
        let b = byte as u8;
        table[byte] = match b {
            b'0'..=b'9' => NAME,
            b'a'..=b'z' | b'A'..=b'Z' | b'_' | b'$' | b'%' => NAME | NAME_START,
            b';' | b'{' | b'}' | b'"' | b'/' => STOP,
            0..=b' ' | 0x7f => BLANK,
            _ => 0,
        };
        byte += 1;
    }
    table
}

fn is(byte: u8, class: u8) -> bool {
    CLASS[byte as usize] & class != 0
}

/// Where the trivia (blanks and comments) that starts at `at` ends. An unterminated comment reaches to the end of the text.
pub fn skip_trivia(text: &str, at: usize) -> usize {
    let mut cursor = Cursor::new(text, at);
    cursor.skip_trivia();
    cursor.at
}

/// The ranges of the operands of a list: it is split at the commas that stand outside `{}`, `[]`, `()`, strings and comments,
/// and trivia around each operand is left out. An empty list has no operand; `a,,b` has an empty one in its middle.
///
/// ```
/// # use vop_ptx::module::lex::split_operands;
/// let text = "{%r1, %r2}, [%rd1+8], 0x10";
/// let operands: Vec<&str> = split_operands(text).map(|range| &text[range]).collect();
/// assert_eq!(operands, ["{%r1, %r2}", "[%rd1+8]", "0x10"]);
/// ```
pub fn split_operands(text: &str) -> Operands<'_> {
    let mut cursor = Cursor::new(text, 0);
    cursor.skip_trivia();
    let done = cursor.at_end();
    Operands { cursor, done }
}

/// The iterator that [`split_operands`] returns.
#[derive(Clone, Debug)]
pub struct Operands<'a> {
    cursor: Cursor<'a>,
    done: bool,
}

impl Iterator for Operands<'_> {
    type Item = Range<usize>;

    fn next(&mut self) -> Option<Range<usize>> {
        if self.done {
            return None;
        }
        let cursor = &mut self.cursor;
        cursor.skip_trivia();
        let start = cursor.at;
        let mut end = start;
        let mut depth = 0usize;
        while !cursor.at_end() {
            match cursor.peek() {
                b',' if depth == 0 => {
                    cursor.at += 1;
                    return Some(start..end);
                }
                b'{' | b'[' | b'(' => depth += 1,
                // More closed than opened is odd; it must not hide the commas that follow.
                b'}' | b']' | b')' => depth = depth.saturating_sub(1),
                _ => {}
            }
            cursor.skip_token();
            end = cursor.at;
            cursor.skip_trivia();
        }
        self.done = true;
        Some(start..end)
    }
}

/// The text without its trivia: an opcode may be written `add /* 32 bits */ .u32`, and this is `add.u32`.
pub fn without_trivia(text: &str) -> Cow<'_, str> {
    // Nearly every opcode is a single word.
    if text.bytes().all(|b| !is(b, BLANK) && b != b'/') {
        return Cow::Borrowed(text);
    }
    let mut kept = String::with_capacity(text.len());
    let mut cursor = Cursor::new(text, 0);
    cursor.skip_trivia();
    while !cursor.at_end() {
        let start = cursor.at;
        cursor.skip_token();
        kept.push_str(&text[start..cursor.at]);
        cursor.skip_trivia();
    }
    Cow::Owned(kept)
}

/// What a [`Token`] is.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum TokenKind {
    /// `// …` or `/* … */`.
    Comment,
    /// A string with its quotes.
    String,
    /// A name: of a register, a label, an instruction.
    Name,
    /// A dot and the name behind it: a directive, a modifier, a type, or a part of a vector.
    Dotted,
    /// A number, `0x1f` or `0f3f800000`. The parts of `1.5` are a number and a [`Dotted`](TokenKind::Dotted).
    Number,
    /// Any other character.
    Sign,
}

/// A token of PTX text.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub struct Token {
    /// What it is.
    pub kind: TokenKind,
    /// Where it stands, in bytes.
    pub range: Range<usize>,
}

/// The tokens of a text, comments among them; blanks are left out.
///
/// ```
/// # use vop_ptx::module::lex::{TokenKind, tokens};
/// let text = "@p add.u32 %r1, %r2, 1; // sum";
/// let words: Vec<&str> = tokens(text).map(|token| &text[token.range]).collect();
/// assert_eq!(words, ["@", "p", "add", ".u32", "%r1", ",", "%r2", ",", "1", ";", "// sum"]);
/// assert_eq!(tokens(text).last().unwrap().kind, TokenKind::Comment);
/// ```
pub fn tokens(text: &str) -> impl Iterator<Item = Token> + '_ {
    let mut cursor = Cursor::new(text, 0);
    std::iter::from_fn(move || {
        cursor.skip_class(BLANK);
        if cursor.at_end() {
            return None;
        }
        let start = cursor.at;
        let kind = match cursor.peek() {
            b'/' if cursor.skip_comment() => TokenKind::Comment,
            b'"' => {
                cursor.skip_string();
                TokenKind::String
            }
            b'.' if is(cursor.peek_at(1), NAME) => {
                cursor.at += 1;
                cursor.skip_class(NAME);
                TokenKind::Dotted
            }
            b if is(b, NAME_START) => {
                cursor.skip_class(NAME);
                TokenKind::Name
            }
            b if is(b, NAME) => {
                cursor.skip_class(NAME);
                TokenKind::Number
            }
            _ => {
                cursor.skip_token();
                TokenKind::Sign
            }
        };
        Some(Token { kind, range: start..cursor.at })
    })
}

/// Reads an integer constant of PTX (section 4.5.1): decimal, `0x`, `0b`, octal with a leading `0`, each with an optional
/// `U` behind. Signs and floating-point constants are refused.
pub fn integer(text: &str) -> Option<u64> {
    let digits = text.strip_suffix(['U', 'u']).unwrap_or(text);
    let (digits, radix) = match digits.as_bytes() {
        [b'0', b'x' | b'X', ..] => (&digits[2..], 16),
        [b'0', b'b' | b'B', ..] => (&digits[2..], 2),
        [b'0', _, ..] => (&digits[1..], 8),
        _ => (digits, 10),
    };
    // `from_str_radix` takes a sign.
    if digits.starts_with(['+', '-']) {
        return None;
    }
    u64::from_str_radix(digits, radix).ok()
}

/// Why the search for the end of a statement stopped.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Ending {
    /// At its `;`.
    Semicolon,
    /// At a brace that cannot belong to the statement, or at the end of the text.
    Odd,
}

/// What [`Cursor::find_end`] found.
pub(super) struct End {
    /// The position of the `;`, or of the first byte that is not part of the statement.
    pub(super) at: usize,
    pub(super) ending: Ending,
    /// Whether a comment was passed on the way.
    pub(super) comments: bool,
}

/// A position in the text, and the steps that move it.
#[derive(Clone, Debug)]
pub(super) struct Cursor<'a> {
    text: &'a str,
    pub(super) at: usize,
}

impl<'a> Cursor<'a> {
    pub(super) fn new(text: &'a str, at: usize) -> Self {
        Cursor { text, at }
    }

    fn bytes(&self) -> &'a [u8] {
        self.text.as_bytes()
    }

    pub(super) fn at_end(&self) -> bool {
        self.at >= self.text.len()
    }

    /// The next byte; 0, which no token starts with, at the end.
    pub(super) fn peek(&self) -> u8 {
        self.peek_at(0)
    }

    pub(super) fn peek_at(&self, ahead: usize) -> u8 {
        self.bytes().get(self.at + ahead).copied().unwrap_or(0)
    }

    pub(super) fn starts_name(&self) -> bool {
        is(self.peek(), NAME_START)
    }

    fn skip_class(&mut self, class: u8) {
        let rest = &self.bytes()[self.at..];
        self.at += rest.iter().position(|&b| !is(b, class)).unwrap_or(rest.len());
    }

    /// To the line feed that ends the line, or to the end of the text.
    pub(super) fn skip_line(&mut self) {
        let rest = &self.bytes()[self.at..];
        self.at += rest.iter().position(|&b| b == b'\n').unwrap_or(rest.len());
    }

    pub(super) fn skip_trivia(&mut self) {
        loop {
            self.skip_class(BLANK);
            if !self.skip_comment() {
                return;
            }
        }
    }

    fn skip_comment(&mut self) -> bool {
        if self.peek() != b'/' {
            return false;
        }
        match self.peek_at(1) {
            b'/' => self.skip_line(),
            b'*' => {
                self.at += 2;
                let rest = &self.bytes()[self.at..];
                self.at += rest.windows(2).position(|pair| pair == b"*/").map_or(rest.len(), |end| end + 2);
            }
            _ => return false,
        }
        true
    }

    /// A string with its quotes. `\` keeps the byte behind it from closing the string. An unterminated string ends with its
    /// line, and the answer is false: one lost quote must not swallow the rest of the file.
    fn skip_string(&mut self) -> bool {
        self.at += 1;
        while !self.at_end() {
            match self.peek() {
                b'"' => {
                    self.at += 1;
                    return true;
                }
                b'\n' => return false,
                b'\\' if !matches!(self.peek_at(1), b'\n' | 0) => self.at += 2,
                _ => self.at += 1,
            }
        }
        false
    }

    /// One token: a string, a name or number, or a single byte (a whole character outside ASCII).
    pub(super) fn skip_token(&mut self) {
        match self.peek() {
            b'"' => {
                self.skip_string();
            }
            b if is(b, NAME) => self.skip_class(NAME),
            _ => {
                let rest = self.text[self.at..].chars();
                self.at += rest.map(char::len_utf8).next().unwrap_or(0);
            }
        }
    }

    /// Skips trivia, then takes `byte` if it is next.
    pub(super) fn eat(&mut self, byte: u8) -> bool {
        self.skip_trivia();
        let found = !self.at_end() && self.peek() == byte;
        self.at += usize::from(found);
        found
    }

    /// Skips trivia, then takes a name.
    pub(super) fn name(&mut self) -> Option<Range<usize>> {
        self.skip_trivia();
        let start = self.at;
        if !self.starts_name() {
            return None;
        }
        self.skip_class(NAME);
        Some(start..self.at)
    }

    /// Skips trivia, then takes `.name` and gives the part behind the dot.
    pub(super) fn dot_name(&mut self) -> Option<&'a str> {
        self.skip_trivia();
        if self.peek() != b'.' {
            return None;
        }
        let start = self.at + 1;
        self.at = start;
        self.skip_class(NAME);
        Some(&self.text[start..self.at])
    }

    /// Skips trivia, then takes an integer constant.
    pub(super) fn integer(&mut self) -> Option<u64> {
        self.skip_trivia();
        let start = self.at;
        if !self.peek().is_ascii_digit() {
            return None;
        }
        self.skip_class(NAME);
        integer(&self.text[start..self.at])
    }

    /// Skips trivia, then takes a string; the range is that of its content.
    pub(super) fn string(&mut self) -> Option<Range<usize>> {
        self.skip_trivia();
        if self.peek() != b'"' {
            return None;
        }
        let start = self.at + 1;
        self.skip_string().then(|| start..self.at - 1)
    }

    /// An opcode with its modifiers, `ld.global.L1::evict_last.v4.u32`, which may be blanks apart. The cursor stays behind the
    /// last modifier.
    pub(super) fn skip_opcode(&mut self) {
        loop {
            self.skip_class(NAME);
            match (self.peek(), self.peek_at(1)) {
                (b'.', _) => self.at += 1,
                (b':', b':') => self.at += 2,
                (b, _) if is(b, BLANK) || b == b'/' => {
                    let end = self.at;
                    self.skip_trivia();
                    // An operand never starts with a dot and a letter.
                    if self.peek() != b'.' || !is(self.peek_at(1), NAME_START) {
                        self.at = end;
                        return;
                    }
                }
                _ => return,
            }
        }
    }

    /// Skips trivia, then takes `(…)` with all that it holds, nested ones too; false if it does not close before a `;`.
    pub(super) fn skip_parentheses(&mut self) -> bool {
        self.skip_trivia();
        let mut depth = 0usize;
        while !self.at_end() {
            match self.peek() {
                b'(' => depth += 1,
                b')' => depth = depth.saturating_sub(1),
                b';' => return false,
                _ => {}
            }
            self.skip_token();
            if depth == 0 {
                return true;
            }
            self.skip_trivia();
        }
        false
    }

    /// The block `{…}` that the cursor is at, with all that it holds, blocks too; false if it does not close before a `;`.
    /// Blocks of debug information are most of what a compiler prints for `-G`, so tokens that do not matter are skipped.
    pub(super) fn skip_block(&mut self) -> bool {
        let mut depth = 0usize;
        while self.skip_to_stop() {
            match self.peek() {
                b'"' => {
                    self.skip_string();
                    continue;
                }
                b'/' if self.skip_comment() => continue,
                b'{' => depth += 1,
                b'}' => depth -= 1,
                b';' => return false,
                _ => {}
            }
            self.at += 1;
            if depth == 0 {
                return true;
            }
        }
        false
    }

    /// To the next byte that may end a statement or hides such bytes; false, and the end, if there is none.
    fn skip_to_stop(&mut self) -> bool {
        let rest = &self.bytes()[self.at..];
        let step = rest.iter().position(|&b| is(b, STOP));
        self.at += step.unwrap_or(rest.len());
        step.is_some()
    }

    /// Looks for the end of the statement that the cursor is in, and stays where it is.
    ///
    /// Braces around a vector operand belong to the statement. They hold neither `;` nor another `{`, so where one of these
    /// appears the brace opened a scope and a `;` is missing before it. This also bounds how often a byte is read.
    pub(super) fn find_end(&self) -> End {
        let mut cursor = self.clone();
        let mut open = None;
        let mut comments = false;
        while cursor.skip_to_stop() {
            match cursor.peek() {
                b'"' => {
                    cursor.skip_string();
                    continue;
                }
                b'/' if cursor.skip_comment() => {
                    comments = true;
                    continue;
                }
                b'/' => {}
                b'{' if open.is_none() => open = Some(cursor.at),
                b'}' if open.is_some() => open = None,
                b';' if open.is_none() => return End { at: cursor.at, ending: Ending::Semicolon, comments },
                _ => return End { at: open.unwrap_or(cursor.at), ending: Ending::Odd, comments },
            }
            cursor.at += 1;
        }
        End { at: open.unwrap_or(cursor.at), ending: Ending::Odd, comments }
    }

    /// The end of the last token in `self.at..end`. Where there are no comments only blanks have to be left out.
    pub(super) fn trim_end(&self, end: usize, comments: bool) -> usize {
        let end = if comments { self.last_token_end(end) } else { end };
        let blanks = self.bytes()[self.at..end].iter().rev().take_while(|&&b| is(b, BLANK)).count();
        end - blanks
    }

    fn last_token_end(&self, end: usize) -> usize {
        let mut cursor = Cursor::new(&self.text[..end], self.at);
        let mut last = cursor.at;
        cursor.skip_trivia();
        while !cursor.at_end() {
            cursor.skip_token();
            last = cursor.at;
            cursor.skip_trivia();
        }
        last
    }
}
