//! Texts between C and Rust, and the names that functions take.

#![allow(unsafe_code, reason = "the pointers are C's")]

use std::ffi::{CStr, c_char};

use crate::guard::{Failure, free, produce, vop_status};
use crate::{vop_diagnostics, vop_semantics};

/// A length that says: the text ends at its first zero byte. cbindgen.toml has it for the header.
pub const VOP_NUL_TERMINATED: usize = usize::MAX;

/// The number of this interface; `vop_abi_version` tells that of the library. It changes when programs must be compiled again.
pub const VOP_ABI_VERSION: u32 = 1;

/// A text of the library: `len` bytes of UTF-8, with a zero byte behind them. It belongs to the object that was asked for it, and is valid
/// until that is freed. `data` is never null; where there is nothing to say, the text is empty.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct vop_str {
    /// The first byte.
    pub data: *const c_char,
    /// The number of bytes, without the zero byte.
    pub len: usize,
}

impl vop_str {
    pub(crate) const EMPTY: vop_str = vop_str { data: c"".as_ptr(), len: 0 };
}

/// A text with a zero byte behind it.
#[derive(Debug)]
pub(crate) struct Text(Box<str>);

impl Text {
    pub(crate) fn new(text: impl Into<String>) -> Text {
        let mut text = text.into();
        text.push('\0');
        Text(text.into())
    }

    pub(crate) fn as_str(&self) -> &str {
        self.0.strip_suffix('\0').unwrap_or(&self.0)
    }

    pub(crate) fn view(&self) -> vop_str {
        vop_str { data: self.0.as_ptr().cast(), len: self.0.len() - 1 }
    }
}

/// The text, or an empty one.
pub(crate) fn view_of(text: Option<&Text>) -> vop_str {
    text.map_or(vop_str::EMPTY, Text::view)
}

/// How a text is written.
#[repr(C)]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum vop_format {
    /// Plain text.
    VOP_FORMAT_TEXT = 0,
    /// Text with ANSI escapes for bold, dim and colour.
    VOP_FORMAT_ANSI = 1,
    /// JSON.
    VOP_FORMAT_JSON = 2,
}

impl vop_format {
    pub(crate) fn read(number: i32) -> Result<vop_format, Failure> {
        use vop_format::{VOP_FORMAT_ANSI, VOP_FORMAT_JSON, VOP_FORMAT_TEXT};
        let all = [VOP_FORMAT_TEXT, VOP_FORMAT_ANSI, VOP_FORMAT_JSON];
        all.into_iter().find(|format| *format as i32 == number).ok_or_else(|| no_value("vop_format", number))
    }

    /// What is drawn with ANSI escapes, in a format that is not JSON.
    pub(crate) fn drawn(self, drawing: &str) -> String {
        if self == vop_format::VOP_FORMAT_ANSI { drawing.to_owned() } else { plain(drawing) }
    }
}

/// A drawing without ANSI escapes.
pub(crate) fn plain(drawing: &str) -> String {
    anstream::adapter::strip_str(drawing).to_string()
}

pub(crate) fn no_value(of: &str, number: i32) -> Failure {
    Failure::new(vop_status::VOP_ERROR_ARGUMENT, format!("{number} is no value of `{of}`"))
}

/// A text that the caller frees.
pub struct vop_text(Text);

impl vop_text {
    pub(crate) fn new(text: impl Into<String>) -> vop_text {
        vop_text(Text::new(text))
    }
}

/// What the text is. It is valid until the text is freed.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn vop_text_get(text: *const vop_text) -> vop_str {
    // SAFETY: C gives a handle that is not freed.
    unsafe { text.as_ref() }.map_or(vop_str::EMPTY, |text| text.0.view())
}

/// Frees a text; null is nothing to free.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn vop_text_free(text: *mut vop_text) {
    // SAFETY: C gives up a handle of this library.
    unsafe { free(text) };
}

/// The version of the library, such as `0.1.0`.
#[unsafe(no_mangle)]
pub extern "C" fn vop_version() -> vop_str {
    const VERSION: &str = concat!(env!("CARGO_PKG_VERSION"), "\0");
    vop_str { data: VERSION.as_ptr().cast(), len: VERSION.len() - 1 }
}

/// The number of the interface that the library has. A program compares it with `VOP_ABI_VERSION` of its header.
#[unsafe(no_mangle)]
pub extern "C" fn vop_abi_version() -> u32 {
    VOP_ABI_VERSION
}

/// A text that C gives.
///
/// # Safety
/// `data` must be null, or valid for reads of `len` bytes; of all up to a zero byte, if that is [`VOP_NUL_TERMINATED`]. The bytes must
/// not change for as long as the text is used.
pub(crate) unsafe fn bytes_of<'t>(data: *const c_char, len: usize, name: &str) -> Result<&'t [u8], Failure> {
    if data.is_null() {
        return Err(Failure::null(name));
    }
    if len == VOP_NUL_TERMINATED {
        // SAFETY: the caller promises it.
        return Ok(unsafe { CStr::from_ptr(data) }.to_bytes());
    }
    if isize::try_from(len).is_err() {
        return Err(Failure::new(
            vop_status::VOP_ERROR_ARGUMENT,
            format!("the length of `{name}` is too large: {len}"),
        ));
    }
    // SAFETY: the caller promises it.
    Ok(unsafe { std::slice::from_raw_parts(data.cast(), len) })
}

/// A text that C gives.
///
/// # Safety
/// As for [`bytes_of`].
pub(crate) unsafe fn text_of<'t>(data: *const c_char, len: usize, name: &str) -> Result<&'t str, Failure> {
    // SAFETY: the caller promises it.
    let bytes = unsafe { bytes_of(data, len, name)? };
    std::str::from_utf8(bytes).map_err(|error| {
        let message = format!("`{name}` is not UTF-8 at byte {}", error.valid_up_to());
        Failure::new(vop_status::VOP_ERROR_UTF8, message)
    })
}

/// The target of a name that C gives.
///
/// # Safety
/// As for [`bytes_of`].
pub(crate) unsafe fn target_of(data: *const c_char, len: usize) -> Result<vop::Target, Failure> {
    // SAFETY: the caller promises it.
    let name = unsafe { text_of(data, len, "target")? };
    name.parse().map_err(|why: vop::target::UnknownTarget| {
        let message = format!("there is no target `{name}`");
        Failure::with_help(vop_status::VOP_ERROR_ARGUMENT, message, why.to_string())
    })
}

impl vop_semantics {
    pub(crate) fn read(number: i32) -> Result<vop::Semantics, Failure> {
        use vop_semantics::{VOP_SEMANTICS_ISA, VOP_SEMANTICS_PTXAS, VOP_SEMANTICS_PTXAS_TO_13_2};
        match number {
            _ if number == VOP_SEMANTICS_ISA as i32 => Ok(vop::Semantics::Isa),
            _ if number == VOP_SEMANTICS_PTXAS as i32 => Ok(vop::Semantics::Ptxas),
            _ if number == VOP_SEMANTICS_PTXAS_TO_13_2 as i32 => Ok(vop::Semantics::PtxasTo13_2),
            _ => Err(no_value("vop_semantics", number)),
        }
    }
}

/// Does the work of a function that gives C a text.
///
/// # Safety
/// As for [`produce`].
pub(crate) unsafe fn produce_text(
    out: *mut *mut vop_text,
    diagnostics: *mut *mut vop_diagnostics,
    work: impl FnOnce() -> Result<String, Failure>,
) -> vop_status {
    // SAFETY: the caller promises it.
    unsafe { produce(out, diagnostics, || work().map(vop_text::new)) }
}
