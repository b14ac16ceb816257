//! `.npy` files.

use memmap2::Mmap;
use npyz::WriterBuilder;

use super::layout::{Element, Layout};
use super::source::Content;

pub(super) fn open(map: Mmap) -> Result<(Layout, Content), String> {
    let mut rest = &map[..];
    let header = npyz::NpyHeader::from_reader(&mut rest).map_err(|error| error.to_string())?;
    let start = map.len() - rest.len();
    let npyz::DType::Plain(dtype) = header.dtype() else { return Err("it holds structures".to_owned()) };
    let signed = match dtype.type_char() {
        npyz::TypeChar::Bool | npyz::TypeChar::Uint => Some(false),
        npyz::TypeChar::Int => Some(true),
        _ => None,
    };
    let (Some(signed), bytes @ (1 | 2 | 4)) = (signed, dtype.size_field()) else {
        let descr = header.dtype().descr();
        return Err(format!("it holds elements of type {descr}: words and lanes are integers of 8, 16 or 32 bits"));
    };
    let shape = header.shape().to_vec();
    if header.order() == npyz::Order::Fortran && shape.len() > 1 {
        return Err("it is in Fortran order: save it with numpy.ascontiguousarray".to_owned());
    }
    let element = Element { bytes, signed };
    let layout = Layout::new(element, shape.clone()).filter(|layout| layout.bytes() == rest.len() as u64);
    let layout =
        layout.ok_or_else(|| format!("its {} bytes of data are not {} {shape:?}", rest.len(), element.name()))?;
    let big_endian = dtype.endianness() == npyz::Endianness::Big;
    Ok((layout, Content::Mapped { map, start, big_endian }))
}

/// What stands before the elements.
pub(super) fn header(layout: &Layout) -> Result<Vec<u8>, String> {
    fn of<T: npyz::AutoSerialize>(shape: &[u64]) -> std::io::Result<Vec<u8>> {
        let mut header = Vec::new();
        // The elements are written elsewhere.
        drop(npyz::WriteOptions::<T>::new().default_dtype().shape(shape).writer(&mut header).begin_nd()?);
        Ok(header)
    }
    let shape = layout.shape.clone().unwrap_or_else(|| vec![layout.words()]);
    let header = match (layout.element.bytes, layout.element.signed) {
        (1, false) => of::<u8>(&shape),
        (1, true) => of::<i8>(&shape),
        (2, false) => of::<u16>(&shape),
        (2, true) => of::<i16>(&shape),
        (_, false) => of::<u32>(&shape),
        (_, true) => of::<i32>(&shape),
    };
    header.map_err(|error| error.to_string())
}
