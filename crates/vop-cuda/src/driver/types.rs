//! Types of cuda.h. Handles are numbers that look like pointers, so all of them are one type.
#![allow(unsafe_code, reason = "callers pass pointers")]

use std::ffi::{CStr, c_char, c_void};

use crate::status::{Answer, Status};

/// Any handle.
pub(super) type Handle = *mut c_void;
/// `CUdeviceptr`.
pub(super) type DevicePointer = u64;
/// `CUdevice`.
pub(super) type DeviceNumber = i32;

/// The number of a handle.
pub(super) fn number(handle: Handle) -> u64 {
    handle.addr() as u64
}

/// The handle of a number.
pub(super) fn handle(number: u64) -> Handle {
    std::ptr::without_provenance_mut(number as usize)
}

/// Writes a result where the caller asks for it.
///
/// # Errors
/// The pointer is null.
///
/// # Safety
/// It is null, or a value can be written there.
pub(super) unsafe fn put<T>(to: *mut T, value: T) -> Answer {
    if to.is_null() {
        return Err(Status::INVALID_VALUE);
    }
    // SAFETY: as the caller says.
    unsafe { to.write_unaligned(value) };
    Ok(())
}

/// Writes a result where the caller asks for it, if it does.
///
/// # Safety
/// As for [`put`].
pub(super) unsafe fn put_if_asked<T>(to: *mut T, value: T) {
    // SAFETY: as the caller says.
    let _ = unsafe { put(to, value) };
}

/// Reads what the caller passes.
///
/// # Errors
/// The pointer is null.
///
/// # Safety
/// It is null, or a value can be read there.
pub(super) unsafe fn get<T: Copy>(from: *const T) -> Answer<T> {
    if from.is_null() {
        return Err(Status::INVALID_VALUE);
    }
    // SAFETY: as the caller says.
    Ok(unsafe { from.read_unaligned() })
}

/// Reads an array that the caller passes.
///
/// # Errors
/// The pointer is null, and there is something to read.
///
/// # Safety
/// It is null, or `len` values can be read there.
pub(super) unsafe fn list<T: Copy>(from: *const T, len: usize) -> Answer<Vec<T>> {
    if len == 0 {
        return Ok(Vec::new());
    }
    if from.is_null() {
        return Err(Status::INVALID_VALUE);
    }
    // SAFETY: as the caller says.
    Ok((0..len).map(|i| unsafe { from.add(i).read_unaligned() }).collect())
}

/// Reads a text that the caller passes.
///
/// # Errors
/// The pointer is null, or the text is no UTF-8.
///
/// # Safety
/// It is null, or points to a text that ends with a zero, which stays until the answer is used.
pub(super) unsafe fn text<'a>(from: *const c_char) -> Answer<&'a str> {
    if from.is_null() {
        return Err(Status::INVALID_VALUE);
    }
    // SAFETY: as the caller says.
    unsafe { CStr::from_ptr(from) }.to_str().map_err(|_| Status::INVALID_VALUE)
}

/// Writes a text, as much as there is room for with a zero behind it.
///
/// # Errors
/// The pointer is null, or there is no room at all.
///
/// # Safety
/// It is null, or `len` bytes can be written there.
pub(super) unsafe fn put_text(to: *mut c_char, len: usize, text: &str) -> Answer {
    if to.is_null() || len == 0 {
        return Err(Status::INVALID_VALUE);
    }
    let count = text.len().min(len - 1);
    // SAFETY: as the caller says.
    unsafe {
        std::ptr::copy_nonoverlapping(text.as_ptr().cast(), to, count);
        to.add(count).write(0);
    }
    Ok(())
}
