//! Places of a text in units of UTF-16, which JavaScript's strings count.

/// The bytes from one mark to the next.
const STRIDE: usize = 256;

/// A text's bytes and their offsets in units of UTF-16.
pub(crate) struct Places<'t> {
    text: &'t str,
    /// The units before each multiple of [`STRIDE`].
    marks: Vec<usize>,
}

/// The units of the characters that begin in these bytes.
fn units(bytes: &[u8]) -> usize {
    let of_byte = |byte: &u8| match byte {
        0x80..=0xbf => 0,
        0xf0.. => 2,
        _ => 1,
    };
    bytes.iter().map(of_byte).sum()
}

impl<'t> Places<'t> {
    /// Those of a text.
    pub(crate) fn new(text: &'t str) -> Places<'t> {
        let mut before = 0;
        let mut marks = vec![0];
        if !text.is_ascii() {
            marks.extend(text.as_bytes().chunks(STRIDE).map(|chunk| {
                before += units(chunk);
                before
            }));
        }
        Places { text, marks }
    }

    /// The offset of a byte.
    pub(crate) fn utf16(&self, byte: usize) -> usize {
        let byte = byte.min(self.text.len());
        // Of ASCII there is no mark but the first.
        if self.marks.len() == 1 {
            return byte;
        }
        let mark = byte / STRIDE;
        self.marks[mark] + units(&self.text.as_bytes()[mark * STRIDE..byte])
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_byte_has_its_offset() {
        for text in ["", "plain", &"aé€𝄞".repeat(200), &"𝄞".repeat(64), &"x".repeat(STRIDE * 2), &"é".repeat(STRIDE)]
        {
            let places = Places::new(text);
            let mut expected = 0;
            for (at, c) in text.char_indices() {
                assert_eq!(places.utf16(at), expected, "byte {at} of {text}");
                expected += c.len_utf16();
            }
            assert_eq!(places.utf16(text.len()), expected);
            assert_eq!(places.utf16(text.len() + 9), expected);
        }
    }
}
