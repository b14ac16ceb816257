//! Arrays in files: `.npy`, `.png`, and raw little-endian bytes under any other name.

use std::ffi::OsStr;
use std::io::{Cursor, Write};
use std::path::{Path, PathBuf};

use half::f16;
use npyz::WriterBuilder;
use vop_ptx::module::Scalar;

use super::types::Kind;

/// An array as a buffer holds it: elements in C order, little-endian.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Array {
    pub(crate) ty: Scalar,
    pub(crate) shape: Vec<usize>,
    pub(crate) bytes: Vec<u8>,
}

/// Bytes that one buffer may have.
const MAX_BYTES: usize = 4 << 30;

/// Element types as launch files name them.
const ELEMENTS: [(&str, Scalar); 11] = [
    ("u8", Scalar::U8),
    ("i8", Scalar::S8),
    ("u16", Scalar::U16),
    ("i16", Scalar::S16),
    ("u32", Scalar::U32),
    ("i32", Scalar::S32),
    ("u64", Scalar::U64),
    ("i64", Scalar::S64),
    ("f16", Scalar::F16),
    ("f32", Scalar::F32),
    ("f64", Scalar::F64),
];

pub(crate) fn element(name: &str) -> Option<Scalar> {
    ELEMENTS.iter().find(|(text, _)| *text == name).map(|(_, ty)| *ty)
}

pub(crate) fn element_name(ty: Scalar) -> &'static str {
    ELEMENTS.iter().find(|(_, element)| *element == ty).map_or("bytes", |(name, _)| name)
}

pub(crate) fn element_names() -> String {
    ELEMENTS.map(|(name, _)| name).join(", ")
}

/// How many bytes an array takes, if that is not too many.
pub(crate) fn byte_len(ty: Scalar, shape: &[usize]) -> Option<usize> {
    let bytes = shape.iter().try_fold(ty.size(), |product, n| product.checked_mul(*n));
    bytes.filter(|bytes| *bytes <= MAX_BYTES)
}

fn extension(path: &Path) -> Option<String> {
    path.extension().and_then(OsStr::to_str).map(str::to_ascii_lowercase)
}

/// Whether a file of this name is bytes that do not say what they are.
pub(crate) fn is_raw(path: &Path) -> bool {
    !matches!(extension(path).as_deref(), Some("npy" | "png"))
}

/// Reads an array. What a file says of itself must agree with `ty` and `shape`; a raw file needs `ty`.
pub(crate) fn read(path: &Path, ty: Option<Scalar>, shape: Option<&[usize]>) -> Result<Array, String> {
    let content = std::fs::read(path).map_err(|error| format!("`{}` cannot be read: {error}", path.display()))?;
    let problem = |error: &dyn std::fmt::Display| format!("`{}` cannot be read: {error}", path.display());
    let array = match extension(path).as_deref() {
        Some("npy") => read_npy(&content).map_err(|error| problem(&error))?,
        Some("png") => read_png(&content).map_err(|error| problem(&error))?,
        _ => {
            let ty =
                ty.ok_or_else(|| format!("`{}` is a raw file: a `type` must say what it holds", path.display()))?;
            if content.len() % ty.size() != 0 {
                let (len, size) = (content.len(), ty.size());
                return Err(format!(
                    "`{}` has {len} bytes, which is no number of {size}-byte elements",
                    path.display()
                ));
            }
            let shape = shape.map_or_else(|| vec![content.len() / ty.size()], <[usize]>::to_vec);
            if byte_len(ty, &shape) != Some(content.len()) {
                let (len, name) = (content.len(), element_name(ty));
                return Err(format!("`{}` has {len} bytes: that is not {name} {shape:?}", path.display()));
            }
            Array { ty, shape, bytes: content }
        }
    };
    let declared = (ty.unwrap_or(array.ty), shape.unwrap_or(&array.shape));
    if declared != (array.ty, array.shape.as_slice()) {
        let (path, found, wanted) = (path.display(), element_name(array.ty), element_name(declared.0));
        return Err(format!("`{path}` holds {found} {:?}, and {wanted} {:?} is declared", array.shape, declared.1));
    }
    Ok(array)
}

fn read_npy(content: &[u8]) -> Result<Array, String> {
    let mut rest = content;
    let header = npyz::NpyHeader::from_reader(&mut rest).map_err(|error| error.to_string())?;
    let npyz::DType::Plain(dtype) = header.dtype() else { return Err("it holds structures".to_owned()) };
    let ty = match (dtype.type_char(), dtype.size_field()) {
        (npyz::TypeChar::Bool, 1) | (npyz::TypeChar::Uint, 1) => Scalar::U8,
        (npyz::TypeChar::Int, 1) => Scalar::S8,
        (npyz::TypeChar::Uint, 2) => Scalar::U16,
        (npyz::TypeChar::Int, 2) => Scalar::S16,
        (npyz::TypeChar::Uint, 4) => Scalar::U32,
        (npyz::TypeChar::Int, 4) => Scalar::S32,
        (npyz::TypeChar::Uint, 8) => Scalar::U64,
        (npyz::TypeChar::Int, 8) => Scalar::S64,
        (npyz::TypeChar::Float, 2) => Scalar::F16,
        (npyz::TypeChar::Float, 4) => Scalar::F32,
        (npyz::TypeChar::Float, 8) => Scalar::F64,
        _ => return Err(format!("it holds elements of type {}", header.dtype().descr())),
    };
    let shape: Vec<usize> = header.shape().iter().map(|n| usize::try_from(*n).unwrap_or(usize::MAX)).collect();
    if header.order() == npyz::Order::Fortran && shape.len() > 1 {
        return Err("it is in Fortran order: save it with numpy.ascontiguousarray".to_owned());
    }
    if byte_len(ty, &shape) != Some(rest.len()) {
        return Err(format!("its {} bytes of data are not {} {shape:?}", rest.len(), element_name(ty)));
    }
    let mut bytes = rest.to_vec();
    if dtype.endianness() == npyz::Endianness::Big {
        bytes.chunks_exact_mut(ty.size()).for_each(<[u8]>::reverse);
    }
    Ok(Array { ty, shape, bytes })
}

fn read_png(content: &[u8]) -> Result<Array, String> {
    let mut decoder = png::Decoder::new(Cursor::new(content));
    // Palettes and packed pixels become bytes.
    decoder.set_transformations(png::Transformations::EXPAND);
    let mut reader = decoder.read_info().map_err(|error| error.to_string())?;
    let size = reader.output_buffer_size().filter(|size| *size <= MAX_BYTES).ok_or("the picture is too large")?;
    let mut bytes = vec![0; size];
    let info = reader.next_frame(&mut bytes).map_err(|error| error.to_string())?;
    bytes.truncate(info.buffer_size());
    let mut shape = vec![info.height as usize, info.width as usize];
    if info.color_type.samples() > 1 {
        shape.push(info.color_type.samples());
    }
    let ty = if info.bit_depth == png::BitDepth::Sixteen { Scalar::U16 } else { Scalar::U8 };
    // PNG is big-endian.
    bytes.chunks_exact_mut(ty.size()).for_each(<[u8]>::reverse);
    Ok(Array { ty, shape, bytes })
}

/// Whether an array of this type and shape can be saved under this name.
pub(crate) fn check_save(path: &Path, ty: Scalar, shape: &[usize]) -> Result<(), String> {
    if path.is_dir() {
        return Err(format!("`{}` is a folder", path.display()));
    }
    match extension(path).as_deref() {
        Some("png") => png_layout(ty, shape).map(drop),
        Some("npy") => Ok(()),
        _ => Err(format!("`{}` cannot be saved: output is written to .npy and .png", path.display())),
    }
}

/// Width, height, colours and depth of a picture.
fn png_layout(ty: Scalar, shape: &[usize]) -> Result<(u32, u32, png::ColorType, png::BitDepth), String> {
    let (height, width, samples) = match *shape {
        [height, width] => (height, width, 1),
        [height, width, samples] => (height, width, samples),
        _ => return Err("a picture has shape [height, width] or [height, width, channels]".to_owned()),
    };
    let color = match samples {
        1 => png::ColorType::Grayscale,
        2 => png::ColorType::GrayscaleAlpha,
        3 => png::ColorType::Rgb,
        4 => png::ColorType::Rgba,
        _ => return Err(format!("a picture has 1 to 4 channels, not {samples}")),
    };
    let depth = match ty {
        Scalar::U8 => png::BitDepth::Eight,
        Scalar::U16 => png::BitDepth::Sixteen,
        _ => return Err(format!("a picture is of u8 or u16, not {}", element_name(ty))),
    };
    match (u32::try_from(width), u32::try_from(height)) {
        (Ok(width @ 1..), Ok(height @ 1..)) => Ok((width, height, color, depth)),
        _ => Err(format!("a picture cannot be {width} x {height} pixels")),
    }
}

/// The content of a file that holds the array, in the format of its name.
pub(crate) fn encode(path: &Path, array: &Array) -> Result<Vec<u8>, String> {
    match extension(path).as_deref() {
        Some("npy") => write_npy(array).map_err(|error| error.to_string()),
        Some("png") => write_png(array),
        _ => Ok(array.bytes.clone()),
    }
}

fn write_npy(array: &Array) -> std::io::Result<Vec<u8>> {
    fn write<T: npyz::AutoSerialize, const N: usize>(
        array: &Array,
        element: fn([u8; N]) -> T,
    ) -> std::io::Result<Vec<u8>> {
        let mut out = Vec::new();
        let shape: Vec<u64> = array.shape.iter().map(|n| *n as u64).collect();
        let mut writer = npyz::WriteOptions::<T>::new().default_dtype().shape(&shape).writer(&mut out).begin_nd()?;
        writer.extend(array.bytes.as_chunks::<N>().0.iter().map(|chunk| element(*chunk)))?;
        writer.finish()?;
        Ok(out)
    }
    match array.ty {
        Scalar::S8 => write(array, i8::from_le_bytes),
        Scalar::U16 => write(array, u16::from_le_bytes),
        Scalar::S16 => write(array, i16::from_le_bytes),
        Scalar::U32 => write(array, u32::from_le_bytes),
        Scalar::S32 => write(array, i32::from_le_bytes),
        Scalar::U64 => write(array, u64::from_le_bytes),
        Scalar::S64 => write(array, i64::from_le_bytes),
        Scalar::F16 => write(array, f16::from_le_bytes),
        Scalar::F32 => write(array, f32::from_le_bytes),
        Scalar::F64 => write(array, f64::from_le_bytes),
        _ => write(array, u8::from_le_bytes),
    }
}

fn write_png(array: &Array) -> Result<Vec<u8>, String> {
    let (width, height, color, depth) = png_layout(array.ty, &array.shape)?;
    let mut out = Vec::new();
    let mut encoder = png::Encoder::new(&mut out, width, height);
    encoder.set_color(color);
    encoder.set_depth(depth);
    encoder.set_compression(png::Compression::Balanced);
    let write = |mut encoder: png::Encoder<'_, &mut Vec<u8>>, bytes: &[u8]| {
        encoder.set_filter(png::Filter::Adaptive);
        let mut writer = encoder.write_header()?;
        writer.write_image_data(bytes)?;
        writer.finish()
    };
    let mut bytes = array.bytes.clone();
    bytes.chunks_exact_mut(array.ty.size()).for_each(<[u8]>::reverse);
    write(encoder, &bytes).map_err(|error| error.to_string())?;
    Ok(out)
}

/// Writes files so that each appears whole or not at all, and none if one cannot be written: first all under temporary names
/// beside them, then each is renamed.
///
/// # Errors
/// Which cannot be written, and why.
pub fn write_atomically(files: &[(PathBuf, Vec<u8>)]) -> Result<(), String> {
    let problem =
        |path: &Path, error: &dyn std::fmt::Display| format!("`{}` cannot be written: {error}", path.display());
    let mut staged = Vec::with_capacity(files.len());
    for (path, content) in files {
        let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."));
        let mut builder = tempfile::Builder::new();
        builder.prefix(".vop-");
        #[cfg(unix)]
        {
            use std::os::unix::fs::PermissionsExt;
            // Those of the file that is replaced; or of a usual new file, of which the umask takes its share.
            let replaced = std::fs::metadata(path).map(|file| file.permissions());
            builder.permissions(replaced.unwrap_or(std::fs::Permissions::from_mode(0o666)));
        }
        std::fs::create_dir_all(folder).map_err(|error| problem(folder, &error))?;
        let mut file = builder.tempfile_in(folder).map_err(|error| problem(path, &error))?;
        file.write_all(content).map_err(|error| problem(path, &error))?;
        staged.push((file, path));
    }
    for (file, path) in staged {
        file.persist(path).map_err(|error| problem(path, &error.error))?;
    }
    Ok(())
}
