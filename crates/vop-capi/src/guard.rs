//! What every function does first and last: it checks pointers, and lets no panic through.

#![allow(unsafe_code, reason = "the pointers are C's")]

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::ptr;

use crate::diagnostic::{Item, vop_diagnostics};

/// What a function answers. Every status but `VOP_OK` is an error.
#[repr(C)]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum vop_status {
    /// It did what was asked for.
    VOP_OK = 0,
    /// A pointer is null where one is needed.
    VOP_ERROR_NULL = 1,
    /// A text is not UTF-8.
    VOP_ERROR_UTF8 = 2,
    /// A text is no legal instruction, or no list of declarations. There is a diagnostic for each fault.
    VOP_ERROR_PARSE = 3,
    /// A value, a name or a size is not one that the function takes.
    VOP_ERROR_ARGUMENT = 4,
    /// An instruction or a module cannot be rewritten as asked for.
    VOP_ERROR_LOWER = 5,
    /// A module cannot be loaded, or a kernel cannot be run. Nothing has run.
    VOP_ERROR_MODULE = 6,
    /// There is no memory for something, or an address is not in the memory.
    VOP_ERROR_MEMORY = 7,
    /// A launch failed. The diagnostics say where, in which thread and why.
    VOP_ERROR_LAUNCH = 8,
    /// A fault of the library. What the call worked on must not be used except to be freed.
    VOP_ERROR_BUG = 9,
}

/// Why a function does not do what was asked for.
pub(crate) struct Failure {
    pub(crate) status: vop_status,
    pub(crate) items: Vec<Item>,
}

impl Failure {
    /// A failure that concerns no text.
    pub(crate) fn new(status: vop_status, message: impl Into<String>) -> Failure {
        Failure { status, items: vec![Item::plain(message.into(), None)] }
    }

    pub(crate) fn with_help(status: vop_status, message: impl Into<String>, help: impl Into<String>) -> Failure {
        Failure { status, items: vec![Item::plain(message.into(), Some(help.into()))] }
    }

    pub(crate) fn null(what: &str) -> Failure {
        Failure::new(vop_status::VOP_ERROR_NULL, format!("`{what}` is null"))
    }
}

/// Where C has a place for an answer, which may be null.
///
/// # Safety
/// `place` must be null or valid for a write.
unsafe fn put<T>(place: *mut *mut T, object: *mut T) {
    if !place.is_null() {
        // SAFETY: it is not null, and the caller promises the rest.
        unsafe { place.write(object) };
    }
}

/// Does the work of a function that answers with a status alone.
///
/// # Safety
/// `diagnostics` must be null or valid for a write.
pub(crate) unsafe fn answer(
    diagnostics: *mut *mut vop_diagnostics,
    work: impl FnOnce() -> Result<(), Failure>,
) -> vop_status {
    // SAFETY: the caller promises it.
    unsafe { put(diagnostics, ptr::null_mut()) };
    // What a panic leaves behind is not used: `VOP_ERROR_BUG` says so, and locks are poisoned.
    let done = catch_unwind(AssertUnwindSafe(work)).unwrap_or_else(|panic| {
        let words = panic.downcast_ref::<String>().map(String::as_str).or(panic.downcast_ref::<&str>().copied());
        let message = format!("a fault of the library: {}", words.unwrap_or("it panicked"));
        let help = "please report it, with what was called";
        Err(Failure::with_help(vop_status::VOP_ERROR_BUG, message, help))
    });
    match done {
        Ok(()) => vop_status::VOP_OK,
        Err(Failure { status, items }) => {
            if !diagnostics.is_null() {
                let made = catch_unwind(|| Box::into_raw(Box::new(vop_diagnostics::new(items))));
                // SAFETY: the caller promises it.
                unsafe { put(diagnostics, made.unwrap_or(ptr::null_mut())) };
            }
            status
        }
    }
}

/// Does the work of a function that gives C an object. The object's place is null if there is none.
///
/// # Safety
/// `out` and `diagnostics` must be null or valid for a write.
pub(crate) unsafe fn produce<T>(
    out: *mut *mut T,
    diagnostics: *mut *mut vop_diagnostics,
    work: impl FnOnce() -> Result<T, Failure>,
) -> vop_status {
    // SAFETY: the caller promises it.
    unsafe { put(out, ptr::null_mut()) };
    let work = || {
        if out.is_null() {
            return Err(Failure::null("out"));
        }
        let made = Box::into_raw(Box::new(work()?));
        // SAFETY: it is not null, and the caller promises the rest.
        unsafe { out.write(made) };
        Ok(())
    };
    // SAFETY: the caller promises it.
    unsafe { answer(diagnostics, work) }
}

/// What an accessor gives; `otherwise` for a null handle.
///
/// # Safety
/// `handle` must be null or point at an object that C has not freed.
pub(crate) unsafe fn ask<'h, T: 'h, A>(handle: *const T, otherwise: A, question: impl FnOnce(&'h T) -> A) -> A {
    // SAFETY: the caller promises it.
    match unsafe { handle.as_ref() } {
        None => otherwise,
        Some(object) => catch_unwind(AssertUnwindSafe(|| question(object))).unwrap_or(otherwise),
    }
}

/// The object of a handle.
///
/// # Safety
/// `handle` must be null or point at an object that C does not free for as long as it is used.
pub(crate) unsafe fn object<'h, T>(handle: *const T, name: &str) -> Result<&'h T, Failure> {
    // SAFETY: the caller promises it.
    unsafe { handle.as_ref() }.ok_or_else(|| Failure::null(name))
}

/// Frees an object.
///
/// # Safety
/// `handle` must be null or come from [`produce`], and must not be used afterwards.
pub(crate) unsafe fn free<T>(handle: *mut T) {
    if !handle.is_null() {
        // SAFETY: `produce` made it of a box, and the caller gives it up.
        let object = unsafe { Box::from_raw(handle) };
        // Nothing is left to say it to.
        let _ = catch_unwind(AssertUnwindSafe(|| drop(object)));
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{vop_diagnostics_free, vop_diagnostics_rendered, vop_memory, vop_memory_new, vop_memory_take_printed};

    #[test]
    fn panics_become_a_status() {
        let (mut out, mut why) = (ptr::dangling_mut::<u8>(), ptr::null_mut());
        // SAFETY: both places are this function's, and the diagnostics are freed once.
        unsafe {
            let status = produce(&raw mut out, &raw mut why, || panic!("by intention"));
            assert_eq!(status, vop_status::VOP_ERROR_BUG);
            assert!(out.is_null());
            let said = vop_diagnostics_rendered(why);
            let said = std::slice::from_raw_parts(said.data.cast::<u8>(), said.len);
            assert!(String::from_utf8_lossy(said).contains("by intention"));
            vop_diagnostics_free(why);
            assert_eq!(ask(&raw const said, 7, |_| panic!("by intention")), 7);
        }
    }

    #[test]
    fn memory_of_a_call_that_panicked_is_not_used() {
        let (mut memory, mut text) = (ptr::null_mut::<vop_memory>(), ptr::null_mut());
        // SAFETY: the places are this function's, and the memory is freed once.
        unsafe {
            assert_eq!(vop_memory_new(&raw mut memory, ptr::null_mut()), vop_status::VOP_OK);
            let status = answer(ptr::null_mut(), || {
                let _held = crate::memory::lock((*memory).shared())?;
                panic!("by intention")
            });
            assert_eq!(status, vop_status::VOP_ERROR_BUG);
            let status = vop_memory_take_printed(memory, &raw mut text, ptr::null_mut());
            assert_eq!(status, vop_status::VOP_ERROR_BUG);
            free(memory);
        }
    }
}
