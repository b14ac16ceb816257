//! What several tests need: files of test data, and numbers as their cases write them.

#![allow(dead_code, reason = "each test takes what it needs")]

use std::path::{Path, PathBuf};

use vop_ptx::module::Scalar;

/// The files of a folder of `tests/data` with this extension, in order.
pub(crate) fn data(folder: &str, extension: &str) -> Vec<PathBuf> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/data").join(folder);
    let entries = std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path());
    let mut files: Vec<PathBuf> = entries.filter(|path| path.extension().is_some_and(|e| e == extension)).collect();
    files.sort();
    assert!(!files.is_empty());
    files
}

/// Bytes of an element.
pub(crate) fn size(ty: Scalar) -> usize {
    ty.bits().unwrap() as usize / 8
}

/// The bits of a number as a case writes it.
pub(crate) fn bits(text: &str, ty: Scalar) -> u64 {
    match ty {
        Scalar::F32 => u64::from(text.parse::<f32>().unwrap().to_bits()),
        Scalar::F64 => text.parse::<f64>().unwrap().to_bits(),
        _ => match text.strip_prefix("0x") {
            Some(digits) => u64::from_str_radix(digits, 16).unwrap(),
            None => text.parse::<i128>().unwrap() as u64,
        },
    }
}

/// The bytes of elements, the first first.
pub(crate) fn bytes(elements: impl IntoIterator<Item = u64>, ty: Scalar) -> Vec<u8> {
    elements.into_iter().flat_map(|bits| bits.to_le_bytes().into_iter().take(size(ty))).collect()
}
