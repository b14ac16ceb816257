//! A place in a source file, and the small steps that all lexers share.

/// Whether `byte` may stand inside an identifier. Bytes of non-ASCII letters count, as most languages allow them.
pub(super) fn is_ident(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || byte == b'_' || byte >= 0x80
}

/// Whether `byte` is white space; a NUL ends PTX strings as a blank would.
pub(super) fn is_space(byte: u8) -> bool {
    matches!(byte, b' ' | b'\t' | b'\n' | b'\r' | 0x0b | 0x0c | 0)
}

/// A position in `src`. Reading beyond the end yields zero bytes, and no step passes the end.
#[derive(Clone, Copy)]
pub(super) struct Cursor<'a> {
    pub(super) src: &'a [u8],
    pub(super) pos: usize,
}

impl<'a> Cursor<'a> {
    pub(super) fn new(src: &'a [u8], pos: usize) -> Self {
        Self { src, pos: pos.min(src.len()) }
    }

    pub(super) fn at_end(&self) -> bool {
        self.pos >= self.src.len()
    }

    /// The byte `ahead` of the position, or 0 beyond the end.
    pub(super) fn peek(&self, ahead: usize) -> u8 {
        self.src.get(self.pos + ahead).copied().unwrap_or(0)
    }

    /// The byte before the position, or 0 at the start.
    pub(super) fn before(&self) -> u8 {
        self.pos.checked_sub(1).map_or(0, |i| self.src[i])
    }

    pub(super) fn rest(&self) -> &'a [u8] {
        &self.src[self.pos..]
    }

    pub(super) fn starts_with(&self, text: &[u8]) -> bool {
        self.rest().starts_with(text)
    }

    pub(super) fn advance(&mut self, by: usize) {
        self.pos = (self.pos + by).min(self.src.len());
    }

    /// Steps over `text` if it stands here.
    pub(super) fn eat(&mut self, text: &[u8]) -> bool {
        let here = self.starts_with(text);
        if here {
            self.pos += text.len();
        }
        here
    }

    /// Steps over the bytes that `keep` accepts and yields them.
    pub(super) fn take_while(&mut self, keep: impl Fn(u8) -> bool) -> &'a [u8] {
        let rest = self.rest();
        let len = rest.iter().position(|&b| !keep(b)).unwrap_or(rest.len());
        self.pos += len;
        &rest[..len]
    }

    /// Goes to the next `byte`, or to the end.
    pub(super) fn skip_to(&mut self, byte: u8) {
        self.advance(memchr::memchr(byte, self.rest()).unwrap_or(self.src.len()));
    }

    /// Goes behind the next `text`; to the end and `false` where there is none.
    pub(super) fn skip_past(&mut self, text: &[u8]) -> bool {
        let at = memchr::memmem::find(self.rest(), text);
        self.advance(at.map_or(self.src.len(), |at| at + text.len()));
        at.is_some()
    }

    /// Steps over a backslash and the line break behind it. Blanks between them are allowed, as compilers allow them.
    pub(super) fn eat_continuation(&mut self) -> bool {
        let mut ahead = *self;
        if !ahead.eat(b"\\") {
            return false;
        }
        ahead.take_while(|b| matches!(b, b' ' | b'\t' | b'\r'));
        let joined = ahead.eat(b"\n");
        if joined {
            *self = ahead;
        }
        joined
    }

    /// Goes to the line break that ends this line; line breaks behind a backslash do not end it.
    pub(super) fn skip_logical_line(&mut self) {
        loop {
            match memchr::memchr2(b'\\', b'\n', self.rest()) {
                None => return self.advance(self.src.len()),
                Some(ahead) => self.advance(ahead),
            }
            if self.peek(0) == b'\n' {
                return;
            }
            if !self.eat_continuation() {
                self.advance(1);
            }
        }
    }

    /// Steps from an opening bracket to behind the one that closes it; brackets inside strings do not count. Returns `false`,
    /// without a step, where none closes it within `limit` bytes.
    pub(super) fn skip_brackets(&mut self, limit: usize) -> bool {
        let mut ahead = *self;
        let mut depth = 0_usize;
        while !ahead.at_end() && ahead.pos - self.pos < limit {
            match ahead.peek(0) {
                b'(' | b'[' | b'{' => depth += 1,
                b')' | b']' | b'}' => depth = depth.saturating_sub(1),
                quote @ (b'"' | b'\'') => ahead.skip_quoted(quote),
                _ => {}
            }
            ahead.advance(1);
            if depth == 0 {
                *self = ahead;
                return true;
            }
        }
        false
    }

    /// Steps from an opening quote to the one that closes it on the same line; does nothing where none does.
    pub(super) fn skip_quoted(&mut self, quote: u8) {
        let mut ahead = *self;
        ahead.advance(1);
        while !ahead.at_end() && ahead.peek(0) != b'\n' {
            match ahead.peek(0) {
                b'\\' => ahead.advance(2),
                b if b == quote => return *self = ahead,
                _ => ahead.advance(1),
            }
        }
    }
}
