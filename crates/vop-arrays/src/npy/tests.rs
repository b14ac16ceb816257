use super::*;

#[path = "numpy.rs"]
mod numpy;

/// A file of format 1.0 with this text.
fn file(text: &str, data: &[u8]) -> Vec<u8> {
    [MAGIC, &[1, 0], &(text.len() as u16).to_le_bytes(), text.as_bytes(), data].concat()
}

/// The header of a whole file; of its beginning alone it is the same.
fn whole(content: &[u8]) -> Result<Header, String> {
    let found = header(content, content.len() as u64);
    let beginning = &content[..content.len().min(MAX_HEADER as usize)];
    assert_eq!(header(beginning, content.len() as u64), found);
    found
}

#[test]
fn what_numpy_writes_is_read_and_written_alike() {
    for (element, big_endian, shape, start, content) in numpy::SAVED {
        let expected = Header { element: *element, big_endian: *big_endian, shape: shape.to_vec(), start: *start };
        assert_eq!(whole(content), Ok(expected), "{element} {shape:?}");
        let same = !big_endian && content[6] == 1 && !content.starts_with(b"\x93NUMPY\x01\x00v\x00{'descr': '|b1'");
        if same {
            assert_eq!(header_of(*element, shape), &content[..*start], "{element} {shape:?}");
        }
    }
    for (why, content) in numpy::REFUSED {
        assert_eq!(whole(content).map_err(|found| found.contains(why)), Err(true), "{why}: {:?}", whole(content));
    }
}

#[test]
fn headers_are_read_back() {
    let shapes: [&[u64]; 6] = [&[], &[0], &[12345678901], &[1; MAX_AXES], &[2; 5], &[0, u64::MAX, u64::MAX]];
    for element in Element::ALL {
        for shape in shapes {
            let mut content = header_of(element, shape);
            let start = content.len();
            assert!(start.is_multiple_of(ALIGNMENT));
            let len = element.byte_len(shape).unwrap();
            if len > 1 << 20 {
                assert!(whole(&content).unwrap_err().contains("0 bytes of data are not"));
                continue;
            }
            content.resize(start + len as usize, 0);
            assert_eq!(whole(&content), Ok(Header { element, big_endian: false, shape: shape.to_vec(), start }));
            content.push(0);
            assert!(whole(&content).is_err(), "a byte too many");
            content.truncate(start + len as usize - usize::from(len > 0));
            assert_eq!(whole(&content).is_err(), len > 0, "a byte too few");
        }
    }
}

#[test]
fn texts_that_others_write() {
    for text in [
        "{'shape': (2,), 'fortran_order': False, 'descr': '<u2'}",
        "{\"descr\": \"<u2\",\"fortran_order\":False,\"shape\":(2,)}\n",
        "  {  'descr'  : '<u2' , 'fortran_order' : True , 'shape' : ( 2L , ) , }  ",
    ] {
        let found = whole(&file(text, &[0; 4])).unwrap();
        assert_eq!((found.element, found.shape), (Element::U16, vec![2]), "{text}");
    }
}

#[test]
fn damaged_texts_are_refused() {
    for (text, why) in [
        ("", "its header is damaged at ``"),
        ("{}", "its header has no `descr`"),
        ("{'descr': '<u2', 'shape': (2,), }", "its header has no `fortran_order`"),
        ("{'descr': '<u2', 'fortran_order': False, }", "its header has no `shape`"),
        ("{'descr': '<u2', 'fortran_order': None, 'shape': (2,), }", "its header is damaged at ` None, 'shape': (2,)`"),
        ("{'descr': '<u2', 'fortran_order': False, 'shape': (-2,), }", "its header is damaged at `-2,), }`"),
        ("{'descr': '<u2', 'fortran_order': False, 'shape': [2], }", "its header is damaged at `[2], }`"),
        ("{'descr': '<u2', 'fortran_order': False, 'shape': (2 3), }", "its header is damaged at `3), }`"),
        ("{'descr': '<u2', 'fortran_order': False, 'shape': (2,), } x", "its header is damaged at ` x`"),
        ("{'descr': '<u2', 'fortran_order': False, 'shape': (2,), 'more': 1}", "its header is damaged at `'more': 1}`"),
        (
            "{'descr': '<u2', 'descr': '<u2', 'fortran_order': False, 'shape': (2,)}",
            "its header is damaged at `'descr': '<u2', 'for`",
        ),
        (
            "{'descr': '<u2', 'fortran_order': False, 'shape': (18446744073709551616,)}",
            "its header is damaged at `18446744073709551616`",
        ),
        (
            "{'descr': '<u2', 'fortran_order': False, 'shape': (4294967296, 4294967296)}",
            "its 4 bytes of data are not u16 [4294967296, 4294967296]",
        ),
        ("{'descr': '|u2', 'fortran_order': False, 'shape': (2,)}", "it holds elements of type '|u2'"),
        ("{'descr': '<f1', 'fortran_order': False, 'shape': (2,)}", "it holds elements of type '<f1'"),
        ("{'descr': '<u04', 'fortran_order': False, 'shape': (1,)}", "it holds elements of type '<u04'"),
        ("{'descr': '', 'fortran_order': False, 'shape': (1,)}", "it holds elements of type ''"),
        ("{'descr': 'ü', 'fortran_order': False, 'shape': (1,)}", "it holds elements of type"),
    ] {
        let found = whole(&file(text, &[0; 4]));
        assert!(found.as_ref().is_err_and(|found| found.contains(why)), "{text}: {found:?}, not {why}");
    }
    let axes = format!("{{'descr': '|u1', 'fortran_order': False, 'shape': ({})}}", "1,".repeat(MAX_AXES + 1));
    assert_eq!(whole(&file(&axes, &[0])), Err("it has more than 64 axes".to_owned()));
    for (content, why) in [
        (&b""[..], "it does not begin like a .npy file"),
        (b"\x93NUMPX\x01\x00", "it does not begin like a .npy file"),
        (b"\x93NUMPY\x01", "it ends within its header"),
        (b"\x93NUMPY\x01\x00\x05", "it ends within its header"),
        (b"\x93NUMPY\x01\x00\x05\x00{'de", "it ends within its header"),
        (b"\x93NUMPY\x02\x00\x05\x00\x00", "it ends within its header"),
        (b"\x93NUMPY\x04\x00\x05\x00", "it has the .npy format 4.0"),
        (b"\x93NUMPY\x01\x01\x05\x00", "it has the .npy format 1.1"),
        (b"\x93NUMPY\x02\x00\xff\xff\xff\xff{}", "its header has 4294967295 bytes, more than 65536"),
    ] {
        assert!(whole(content).unwrap_err().contains(why), "{content:?}");
    }
}

/// Whatever bytes change, the answer is an error, or a header that agrees with the file's length.
#[test]
fn random_damage_is_noticed_or_harmless() {
    let mut state = 1u64;
    let mut random = |below: usize| {
        state ^= state >> 12;
        state ^= state << 25;
        state ^= state >> 27;
        (state.wrapping_mul(0x2545_f491_4f6c_dd1d) >> 33) as usize % below
    };
    let interesting = b"{}()[]'\":,L<>|-0189 \\\nuifb\x00\x93\xff";
    let (mut good, mut bad) = (0, 0);
    for (element, big_endian, shape, start, content) in numpy::SAVED {
        for len in 0..content.len() {
            assert!(whole(&content[..len]).is_err(), "{element}: {len} bytes of {}", content.len());
        }
        for _ in 0..2_000 {
            let mut damaged = content.to_vec();
            for _ in 0..=random(3) {
                let at = random(*start - 4);
                match random(4) {
                    0 => damaged[at] ^= 1 << random(8),
                    1 => damaged[at] = interesting[random(interesting.len())],
                    2 => damaged.insert(at, interesting[random(interesting.len())]),
                    _ => drop(damaged.remove(at)),
                }
            }
            match whole(&damaged) {
                Ok(found) => {
                    good += 1;
                    let len = found.element.byte_len(&found.shape).unwrap();
                    assert_eq!(found.start as u64 + len, damaged.len() as u64, "{:?}", (found, big_endian, shape));
                }
                Err(why) => {
                    bad += 1;
                    assert!(!why.is_empty());
                }
            }
        }
    }
    assert!(good > 100 && bad > 10_000, "{good} and {bad}: the damage is not of both kinds");
}

/// A header takes time that grows with its length, however deep its brackets are.
#[test]
fn brackets_are_not_followed() {
    for open in ["[", "(", "{", "[(", "('a', [", "{'a': "] {
        for len in [118, 60_000] {
            let text = open.repeat(len / open.len());
            for text in [text.clone(), format!("{{'descr': {text}"), format!("{{'shape': {text}")] {
                assert!(whole(&file(&text, &[])).is_err(), "{open}");
            }
        }
    }
}
