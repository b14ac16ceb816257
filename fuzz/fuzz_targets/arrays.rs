//! No array file makes the readers panic or take memory beyond their limit, and what is read is written and read back as it is.
#![no_main]

use std::path::PathBuf;
use std::sync::LazyLock;

use libfuzzer_sys::fuzz_target;
use vop_arrays::{Array, Element, Format};

const LIMIT: u64 = 1 << 20;

static FOLDER: LazyLock<PathBuf> = LazyLock::new(|| {
    let folder = std::env::temp_dir().join(format!("vop-fuzz-arrays-{}", std::process::id()));
    std::fs::create_dir_all(&folder).expect("a folder");
    folder
});

fuzz_target!(|input: (u8, &[u8])| {
    let (kind, bytes) = input;
    let (name, element) = match kind % 4 {
        0 | 1 => ("a.npy", None),
        2 => ("a.png", None),
        _ => ("a.raw", Some(Element::ALL[usize::from(kind / 4) % Element::ALL.len()])),
    };
    let path = FOLDER.join(name);
    // Fuzzers rarely find what a file of a format begins with.
    let magic: &[u8] = match name {
        "a.npy" if kind & 1 == 1 => b"\x93NUMPY\x01\x00",
        "a.png" => b"\x89PNG\r\n\x1a\n",
        _ => b"",
    };
    std::fs::write(&path, [magic, bytes].concat()).expect("a file");
    let Ok(array) = Array::read(&path, element, None, LIMIT) else { return };
    assert_eq!(array.description.byte_len(), Some(array.bytes.len() as u64));
    assert!(array.bytes.len() as u64 <= LIMIT);
    for (format, name) in [(Format::Npy, "b.npy"), (Format::Png, "b.png")] {
        let Ok(encoded) = array.encode(format) else { continue };
        let path = FOLDER.join(name);
        std::fs::write(&path, encoded).expect("a file");
        let again = Array::read(&path, None, None, LIMIT).expect("what was written");
        assert_eq!(again, array);
    }
});
