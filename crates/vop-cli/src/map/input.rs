//! The operands a, b and c: a value, a file in memory, or a file that is read from its beginning to its end.

use std::path::PathBuf;

use vop_arrays::{Content, Element, Error, Named, raw_len};

use super::layout::Layout;

/// What is given for an operand.
pub(super) enum Input {
    /// The form does not read the operand.
    None,
    Value(u32),
    Array(Array),
}

pub(super) struct Array {
    pub(super) path: PathBuf,
    pub(super) layout: Layout,
    pub(super) content: Content,
}

/// What names of files can be.
pub(super) const FORMATS: &str =
    "name it .npy, .png, .raw or .bin (little-endian 32-bit words), or FILE.parquet:COLUMN";

impl Array {
    pub(super) fn open(file: Named<'_>) -> Result<Array, Error> {
        let opened = file.open()?;
        let layout = match (opened.description, &opened.content) {
            (Some(description), _) => Layout::new(description),
            (None, Content::Mapped(mapped)) => raw_len(Element::U32, mapped.bytes().len() as u64).map(Layout::raw),
            (None, Content::InOrder(_)) => Err("it does not say what it holds".to_owned()),
        };
        let layout = layout.map_err(|why| file.cannot_read(why))?;
        Ok(Array { path: file.path.to_owned(), layout, content: opened.content })
    }
}
