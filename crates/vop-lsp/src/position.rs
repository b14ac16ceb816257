//! Positions: bytes of a text, and the lines and characters of the protocol.

use std::ops::Range;

use gen_lsp_types::{Position, PositionEncodingKind, Range as LspRange};

/// What the protocol's characters count.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum Encoding {
    /// Bytes.
    Utf8,
    /// Units of UTF-16, which every client knows.
    #[default]
    Utf16,
    /// Characters.
    Utf32,
}

impl Encoding {
    /// The best of those that a client offers.
    pub fn of_client(offered: &[PositionEncodingKind]) -> Encoding {
        let offers = |kind| offered.contains(&kind);
        if offers(PositionEncodingKind::UTF8) {
            Encoding::Utf8
        } else if offers(PositionEncodingKind::UTF32) {
            Encoding::Utf32
        } else {
            Encoding::Utf16
        }
    }

    /// Its name in the protocol.
    pub fn kind(self) -> PositionEncodingKind {
        match self {
            Encoding::Utf8 => PositionEncodingKind::UTF8,
            Encoding::Utf16 => PositionEncodingKind::UTF16,
            Encoding::Utf32 => PositionEncodingKind::UTF32,
        }
    }

    /// The units of a text.
    pub fn length(self, text: &str) -> usize {
        match self {
            Encoding::Utf8 => text.len(),
            _ if text.is_ascii() => text.len(),
            Encoding::Utf16 => text.chars().map(char::len_utf16).sum(),
            Encoding::Utf32 => text.chars().count(),
        }
    }

    /// The byte before which `units` units of a text stand: the beginning of a character, and at most the end of the text.
    fn byte(self, text: &str, units: usize) -> usize {
        if text.is_ascii() {
            return units.min(text.len());
        }
        let mut before = 0;
        for (at, c) in text.char_indices() {
            let length = match self {
                Encoding::Utf8 => c.len_utf8(),
                Encoding::Utf16 => c.len_utf16(),
                Encoding::Utf32 => 1,
            };
            if before + length > units {
                return at;
            }
            before += length;
        }
        text.len()
    }
}

/// Where the lines of a text begin. A line ends with `\n`, `\r\n` or `\r`.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Lines {
    starts: Vec<usize>,
}

impl Lines {
    /// The lines of a text.
    pub fn new(text: &str) -> Lines {
        let bytes = text.as_bytes();
        let ends = memchr::memchr2_iter(b'\n', b'\r', bytes);
        // `\r\n` is one end.
        let ends = ends.filter(|&at| bytes[at] == b'\n' || bytes.get(at + 1) != Some(&b'\n'));
        Lines { starts: std::iter::once(0).chain(ends.map(|at| at + 1)).collect() }
    }

    /// The number of a byte's line, from 0.
    pub fn line(&self, offset: usize) -> usize {
        self.starts.partition_point(|&start| start <= offset) - 1
    }

    /// The bytes of a line without its end; empty behind the last line.
    pub fn span(&self, text: &str, line: usize) -> Range<usize> {
        let Some(&start) = self.starts.get(line) else { return text.len()..text.len() };
        let end = self.starts.get(line + 1).copied().unwrap_or(text.len());
        let whole = text.get(start..end).unwrap_or_default();
        start..start + whole.trim_end_matches(['\n', '\r']).len()
    }

    /// The byte of a position. One behind its line is the line's end, one behind the text the text's.
    pub fn offset(&self, text: &str, position: Position, encoding: Encoding) -> usize {
        let span = self.span(text, position.line as usize);
        span.start + encoding.byte(text.get(span.clone()).unwrap_or_default(), position.character as usize)
    }

    /// The position of a byte; that of its character, if it is inside of one.
    pub fn position(&self, text: &str, offset: usize, encoding: Encoding) -> Position {
        let mut offset = offset.min(text.len());
        while !text.is_char_boundary(offset) {
            offset -= 1;
        }
        let line = self.line(offset);
        let before = text.get(self.starts[line]..offset).unwrap_or_default();
        Position { line: line as u32, character: encoding.length(before) as u32 }
    }

    /// The range of bytes.
    pub fn range(&self, text: &str, span: &Range<usize>, encoding: Encoding) -> LspRange {
        LspRange {
            start: self.position(text, span.start, encoding),
            end: self.position(text, span.end.max(span.start), encoding),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn position(line: u32, character: u32) -> Position {
        Position { line, character }
    }

    #[test]
    fn units() {
        // One, two, three and four bytes; one, one, one and two units of UTF-16.
        let text = "aé€𝄞b\r\nc\rd\n";
        let lines = Lines::new(text);
        for (encoding, b) in [(Encoding::Utf8, 10), (Encoding::Utf16, 5), (Encoding::Utf32, 4)] {
            assert_eq!(lines.position(text, 10, encoding), position(0, b));
            assert_eq!(lines.offset(text, position(0, b), encoding), 10);
            // Behind the line's end, and behind the text.
            assert_eq!(lines.offset(text, position(0, 99), encoding), 11);
            assert_eq!(lines.offset(text, position(9, 1), encoding), text.len());
        }
        // Inside of a character.
        assert_eq!(lines.offset(text, position(0, 4), Encoding::Utf16), 6);
        assert_eq!(lines.position(text, 8, Encoding::Utf16), position(0, 3));
        assert_eq!(lines.position(text, 13, Encoding::Utf16), position(1, 0));
        assert_eq!(lines.position(text, 15, Encoding::Utf16), position(2, 0));
        assert_eq!(lines.position(text, text.len(), Encoding::Utf16), position(3, 0));
    }

    #[test]
    fn every_byte_returns() {
        let text = "ä\n\r\r\n\n😀x";
        let lines = Lines::new(text);
        for encoding in [Encoding::Utf8, Encoding::Utf16, Encoding::Utf32] {
            for (at, c) in text.char_indices() {
                // The middle of `\r\n` is the end of its line.
                if c != '\n' || !text[..at].ends_with('\r') {
                    assert_eq!(
                        lines.offset(text, lines.position(text, at, encoding), encoding),
                        at,
                        "{encoding:?} {at}"
                    );
                }
            }
        }
    }
}
