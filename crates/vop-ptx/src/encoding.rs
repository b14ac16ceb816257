//! Files in UTF-16 and UTF-32, as some editors write them; everything else here reads UTF-8.

/// The code units that show UTF-16 without a byte order mark.
const SAMPLE: usize = 16;

/// The text of a file that begins with the byte order mark of UTF-16 or UTF-32, or whose first characters are ASCII in UTF-16; `None`
/// for every other file. What is no character becomes one that says so.
pub fn decoded(bytes: &[u8]) -> Option<String> {
    let wide = |bytes: &[u8], read: fn([u8; 4]) -> u32| -> String {
        let units = bytes.chunks(4).map(|unit| <[u8; 4]>::try_from(unit).ok().map(read).and_then(char::from_u32));
        units.map(|unit| unit.unwrap_or(char::REPLACEMENT_CHARACTER)).collect()
    };
    let narrow = |bytes: &[u8], read: fn([u8; 2]) -> u16| -> String {
        let units = bytes.chunks(2).map(|unit| <[u8; 2]>::try_from(unit).map_or(0xfffd, read));
        char::decode_utf16(units).map(|unit| unit.unwrap_or(char::REPLACEMENT_CHARACTER)).collect()
    };
    Some(match bytes {
        [0xff, 0xfe, 0, 0, rest @ ..] => wide(rest, u32::from_le_bytes),
        [0, 0, 0xfe, 0xff, rest @ ..] => wide(rest, u32::from_be_bytes),
        [0xff, 0xfe, rest @ ..] => narrow(rest, u16::from_le_bytes),
        [0xfe, 0xff, rest @ ..] => narrow(rest, u16::from_be_bytes),
        _ => {
            let sample = bytes.get(..2 * SAMPLE)?;
            let ascii = |byte: u8| byte.is_ascii() && byte != 0;
            if sample.chunks(2).all(|unit| ascii(unit[0]) && unit[1] == 0) {
                narrow(bytes, u16::from_le_bytes)
            } else if sample.chunks(2).all(|unit| unit[0] == 0 && ascii(unit[1])) {
                narrow(bytes, u16::from_be_bytes)
            } else {
                return None;
            }
        }
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn wide_characters_are_decoded() {
        let text = "asm(\"vadd4.u32\"); // é 😀";
        let le: Vec<u8> = text.encode_utf16().flat_map(u16::to_le_bytes).collect();
        let be: Vec<u8> = text.encode_utf16().flat_map(u16::to_be_bytes).collect();
        let le32: Vec<u8> = text.chars().flat_map(|c| u32::from(c).to_le_bytes()).collect();
        let be32: Vec<u8> = text.chars().flat_map(|c| u32::from(c).to_be_bytes()).collect();
        let marked = |mark: &[u8], bytes: &[u8]| decoded(&[mark, bytes].concat());
        assert_eq!(marked(&[0xff, 0xfe], &le).as_deref(), Some(text));
        assert_eq!(marked(&[0xfe, 0xff], &be).as_deref(), Some(text));
        assert_eq!(marked(&[0xff, 0xfe, 0, 0], &le32).as_deref(), Some(text));
        assert_eq!(marked(&[0, 0, 0xfe, 0xff], &be32).as_deref(), Some(text));
        assert_eq!((decoded(&le).as_deref(), decoded(&be).as_deref()), (Some(text), Some(text)));
        // A unit that is cut off, and half of a pair.
        assert_eq!(decoded(&[0xff, 0xfe, b'a', 0, 0x3d, 0xd8, b'b']).as_deref(), Some("a\u{fffd}\u{fffd}"));
        assert_eq!((decoded(text.as_bytes()), decoded(b""), decoded(&[0; 64])), (None, None, None));
    }
}
