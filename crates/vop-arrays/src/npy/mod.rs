//! NumPy's `.npy` files, formats 1.0, 2.0 and 3.0.
//!
//! A file is `\x93NUMPY`, the format's two version bytes, the length of a text (16 bits in format 1.0, else 32, little-endian), that text,
//! and the elements. The text is a Python dictionary: `{'descr': '<f4', 'fortran_order': False, 'shape': (3, 4), }`.

use std::fmt::Write;

use crate::Element;

const MAGIC: &[u8] = b"\x93NUMPY";
/// The elements begin at a multiple of this.
const ALIGNMENT: usize = 64;
/// Characters that NumPy reserves for the first axis, so that a file can grow in place.
const FIRST_AXIS: usize = 21;
/// A header of plain elements has a few hundred bytes at most.
const MAX_TEXT: usize = 1 << 16;
/// A whole header, with what precedes its text, has no more bytes.
pub(crate) const MAX_HEADER: u64 = (MAGIC.len() + 2 + 4 + MAX_TEXT) as u64;
/// NumPy's arrays have no more axes.
pub(crate) const MAX_AXES: usize = 64;

/// What a file says of its elements.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Header {
    pub(crate) element: Element,
    pub(crate) big_endian: bool,
    pub(crate) shape: Vec<u64>,
    /// Where the elements begin.
    pub(crate) start: usize,
}

/// Reads the header of a file of `file` bytes, and compares the number of bytes behind it with the shape. `content` is the whole file, or
/// its first [`MAX_HEADER`] bytes.
pub(crate) fn header(content: &[u8], file: u64) -> Result<Header, String> {
    const SHORT: &str = "it ends within its header";
    let rest = content.strip_prefix(MAGIC).ok_or("it does not begin like a .npy file")?;
    let [major, minor, rest @ ..] = rest else { return Err(SHORT.to_owned()) };
    let (len, rest) = match (major, minor, rest) {
        (1, 0, [a, b, rest @ ..]) => (usize::from(u16::from_le_bytes([*a, *b])), rest),
        (2 | 3, 0, [a, b, c, d, rest @ ..]) => {
            (usize::try_from(u32::from_le_bytes([*a, *b, *c, *d])).unwrap_or(usize::MAX), rest)
        }
        (1..=3, 0, _) => return Err(SHORT.to_owned()),
        _ => return Err(format!("it has the .npy format {major}.{minor}: 1.0, 2.0 and 3.0 can be read")),
    };
    if len > MAX_TEXT {
        return Err(format!("its header has {len} bytes, more than {MAX_TEXT}"));
    }
    let (text, data) = rest.split_at_checked(len).ok_or(SHORT)?;
    let start = content.len() - data.len();
    let data = file.saturating_sub(start as u64);
    // Only names of a structure's fields are not ASCII.
    let (element, big_endian, shape) = Reader { rest: &String::from_utf8_lossy(text) }.dictionary()?;
    if element.byte_len(&shape) != Some(data) {
        return Err(format!("its {data} bytes of data are not {element} {shape:?}"));
    }
    Ok(Header { element, big_endian, shape, start })
}

/// The header that NumPy writes for such an array, of at most [`MAX_AXES`] axes; little-endian elements follow it.
pub(crate) fn header_of(element: Element, shape: &[u64]) -> Vec<u8> {
    let order = if element.size() == 1 { '|' } else { '<' };
    let (kind, size) = (&element.name()[..1], element.size());
    let mut text = format!("{{'descr': '{order}{kind}{size}', 'fortran_order': False, 'shape': (");
    for (axis, n) in shape.iter().enumerate() {
        // Writing to a String does not fail.
        let _ = if axis > 0 { write!(text, ", {n}") } else { write!(text, "{n}") };
    }
    text.push_str(if shape.len() == 1 { ",), }" } else { "), }" });
    if let Some(first) = shape.first() {
        text.extend(std::iter::repeat_n(' ', FIRST_AXIS.saturating_sub(first.to_string().len())));
    }
    // With a line's end, and at least one blank before it where that makes it whole.
    let before = MAGIC.len() + 4;
    let padding = ALIGNMENT - (before + text.len() + 1) % ALIGNMENT;
    text.extend(std::iter::repeat_n(' ', padding));
    text.push('\n');
    // 64 axes of 20 digits take 1,500 bytes.
    let len = text.len() as u16;
    [MAGIC, &[1, 0], &len.to_le_bytes(), text.as_bytes()].concat()
}

/// A piece of a header for a message.
fn printable(text: &str) -> String {
    text.replace(char::is_control, "\u{fffd}")
}

/// Reads Python's literals.
struct Reader<'a> {
    rest: &'a str,
}

impl<'a> Reader<'a> {
    fn damaged<T>(&self) -> Result<T, String> {
        let near: String = self.rest.chars().take(20).collect();
        Err(format!("its header is damaged at `{}`", printable(near.trim_end())))
    }

    /// Takes a character if it is the next one behind blanks.
    fn take(&mut self, c: char) -> bool {
        self.rest = self.rest.trim_ascii_start();
        match self.rest.strip_prefix(c) {
            Some(rest) => {
                self.rest = rest;
                true
            }
            None => false,
        }
    }

    fn expect(&mut self, c: char) -> Result<(), String> {
        if self.take(c) { Ok(()) } else { self.damaged() }
    }

    fn string(&mut self) -> Result<&'a str, String> {
        let quote = match () {
            () if self.take('\'') => '\'',
            () if self.take('"') => '"',
            () => return self.damaged(),
        };
        match self.rest.split_once(quote) {
            Some((text, rest)) if !text.contains(['\\', '\n']) => {
                self.rest = rest;
                Ok(text)
            }
            _ => self.damaged(),
        }
    }

    fn word(&mut self) -> &'a str {
        self.rest = self.rest.trim_ascii_start();
        let end = self.rest.find(|c: char| !c.is_ascii_alphanumeric()).unwrap_or(self.rest.len());
        let (word, rest) = self.rest.split_at(end);
        self.rest = rest;
        word
    }

    /// The lengths of the axes.
    fn shape(&mut self) -> Result<Vec<u64>, String> {
        self.expect('(')?;
        let mut shape = Vec::new();
        while !self.take(')') {
            let at = self.rest;
            let word = self.word();
            // Python 2 wrote `3L`.
            let digits = word.strip_suffix('L').unwrap_or(word);
            match digits.parse() {
                Ok(n) if shape.len() < MAX_AXES => shape.push(n),
                Ok(_) => return Err(format!("it has more than {MAX_AXES} axes")),
                Err(_) => {
                    self.rest = at;
                    return self.damaged();
                }
            }
            if !self.take(',') {
                self.expect(')')?;
                break;
            }
        }
        Ok(shape)
    }

    fn dictionary(mut self) -> Result<(Element, bool, Vec<u64>), String> {
        let (mut ty, mut fortran, mut shape) = (None, None, None);
        self.expect('{')?;
        while !self.take('}') {
            let at = self.rest;
            let again = match self.string()? {
                "descr" => {
                    self.expect(':')?;
                    self.rest = self.rest.trim_ascii_start();
                    if self.rest.starts_with(['[', '(', '{']) {
                        return Err("it holds structures: save each field by itself".to_owned());
                    }
                    ty.replace(self.string()?).is_some()
                }
                "fortran_order" => {
                    self.expect(':')?;
                    let at = self.rest;
                    match self.word() {
                        "True" => fortran.replace(true).is_some(),
                        "False" => fortran.replace(false).is_some(),
                        _ => {
                            self.rest = at;
                            return self.damaged();
                        }
                    }
                }
                "shape" => {
                    self.expect(':')?;
                    shape.replace(self.shape()?).is_some()
                }
                _ => {
                    self.rest = at;
                    return self.damaged();
                }
            };
            if again {
                self.rest = at;
                return self.damaged();
            }
            if !self.take(',') {
                self.expect('}')?;
                break;
            }
        }
        if !self.rest.trim_ascii().is_empty() {
            return self.damaged();
        }
        let missing = |key| format!("its header has no `{key}`");
        let ty = ty.ok_or_else(|| missing("descr"))?;
        let fortran = fortran.ok_or_else(|| missing("fortran_order"))?;
        let shape = shape.ok_or_else(|| missing("shape"))?;
        let (element, big_endian) =
            element(ty).ok_or_else(|| format!("it holds elements of type '{}'", printable(ty)))?;
        if fortran && shape.len() > 1 {
            return Err("it is in Fortran order: save it with numpy.ascontiguousarray".to_owned());
        }
        Ok((element, big_endian, shape))
    }
}

/// The type that `descr` names, and whether it is big-endian: `<f4`, `>u2`, `|b1`.
fn element(descr: &str) -> Option<(Element, bool)> {
    let (order, name) = descr.split_at_checked(1)?;
    if let "b1" | "u1" | "i1" = name {
        let element = if name == "i1" { Element::I8 } else { Element::U8 };
        return matches!(order, "<" | ">" | "|" | "=").then_some((element, false));
    }
    let big_endian = match order {
        "<" => false,
        ">" => true,
        _ => return None,
    };
    let (kind, size) = name.split_at_checked(1)?;
    let of = |element: &Element| element.name().starts_with(kind) && element.size().to_string() == size;
    let found = Element::ALL.into_iter().find(of)?;
    Some((found, big_endian))
}

#[cfg(test)]
mod tests;
