//! Initialisation, versions, errors, and functions by name.

#![allow(unsafe_code, reason = "callers pass pointers")]

use std::ffi::{CStr, CString, c_char, c_void};

use super::names;
use super::types::{get, put, put_if_asked};
use crate::abi::api;
use crate::machine::{self, report};
use crate::status::Status;

/// `CUDA_VERSION` of the header that this was written from.
const VERSION: i32 = 13_050;

api! {
    /// Makes the library ready.
    fn cuInit(flags: u32) {
        if flags != 0 {
            return Err(Status::INVALID_VALUE);
        }
        machine::start()?;
        Ok(())
    }

    /// The version of CUDA that the library offers.
    fn cuDriverGetVersion(version: *mut i32) {
        // SAFETY: the caller passes a place for a number, or null.
        unsafe { put(version, VERSION) }
    }

    /// What an error means.
    fn cuGetErrorString(error: i32, text: *mut *const c_char) {
        let found = Status(error).text().filter(|_| Status(error).driver_name().is_some());
        // SAFETY: the caller passes a place for a pointer, or null.
        unsafe { put(text, found.map_or(std::ptr::null(), CStr::as_ptr)) }?;
        found.map(|_| ()).ok_or(Status::INVALID_VALUE)
    }

    /// The name of an error.
    fn cuGetErrorName(error: i32, text: *mut *const c_char) {
        let found = Status(error).driver_name();
        // SAFETY: the caller passes a place for a pointer, or null.
        unsafe { put(text, found.map_or(std::ptr::null(), CStr::as_ptr)) }?;
        found.map(|_| ()).ok_or(Status::INVALID_VALUE)
    }

    /// A function by its name, as the header of a version means it.
    fn cuGetProcAddress_v2(
        symbol: *const c_char, function: *mut *mut c_void, version: i32, flags: u64, found: *mut i32
    ) {
        // SAFETY: the caller passes a name and places for the results, or null.
        unsafe {
            let name = super::types::text(symbol)?;
            put(function, std::ptr::null_mut())?;
            if flags > 2 {
                return Err(Status::INVALID_VALUE);
            }
            match names::find(name, version, flags == 2) {
                names::Found::Symbol(symbol) => {
                    let address = address_of(&symbol);
                    put(function, address)?;
                    put_if_asked(found, if address.is_null() { NOT_FOUND } else { 0 });
                    if address.is_null() { Err(Status::NOT_FOUND) } else { Ok(()) }
                }
                names::Found::Newer => {
                    put_if_asked(found, TOO_OLD);
                    Err(Status::NOT_FOUND)
                }
                names::Found::Nothing => {
                    put_if_asked(found, NOT_FOUND);
                    Err(Status::NOT_FOUND)
                }
            }
        }
    }

    /// As `cuGetProcAddress_v2`, without saying why nothing was found.
    fn cuGetProcAddress(symbol: *const c_char, function: *mut *mut c_void, version: i32, flags: u64) {
        // SAFETY: the caller's arguments.
        match unsafe { cuGetProcAddress_v2(symbol, function, version, flags, std::ptr::null_mut()) } {
            0 => Ok(()),
            number => Err(Status(number)),
        }
    }

    /// Tables of functions that are documented nowhere: there is none. A runtime that was linked statically asks for them.
    fn cuGetExportTable(table: *mut *const c_void, id: *const [u8; 16]) {
        // SAFETY: the caller passes a place for a pointer, and an identifier.
        unsafe {
            get(id)?;
            put(table, std::ptr::null())?;
        }
        static ONCE: std::sync::Once = std::sync::Once::new();
        ONCE.call_once(|| report::say(
            "vop: error: the program asks for private tables of NVIDIA's driver (cuGetExportTable), as the static CUDA \
             runtime does\n  help: link the shared runtime, `nvcc -cudart shared`\n"
        ));
        Err(report::not_supported("cuGetExportTable"))
    }

    /// Does nothing: there is no profiler that could be started. `vop exec --profile` counts what is executed.
    fn cuProfilerStart() {
        machine::Context::current()?;
        Ok(())
    }

    /// Does nothing, as `cuProfilerStart`.
    fn cuProfilerStop() {
        machine::Context::current()?;
        Ok(())
    }
}

/// `CU_GET_PROC_ADDRESS_SYMBOL_NOT_FOUND` and `_VERSION_NOT_SUFFICIENT`.
const NOT_FOUND: i32 = 1;
const TOO_OLD: i32 = 2;

/// The symbol of this name in this shared object; null if there is none.
fn address_of(symbol: &str) -> *mut c_void {
    let Ok(symbol) = CString::new(symbol) else { return std::ptr::null_mut() };
    // SAFETY: the structure is filled by the call; the names are texts. The library is loaded, so that opening it again loads nothing.
    unsafe {
        let mut info: libc::Dl_info = std::mem::zeroed();
        let here = address_of as fn(&str) -> *mut c_void as *const c_void;
        if libc::dladdr(here, &raw mut info) == 0 || info.dli_fname.is_null() {
            return std::ptr::null_mut();
        }
        let library = libc::dlopen(info.dli_fname, libc::RTLD_NOW | libc::RTLD_NOLOAD);
        if library.is_null() {
            return std::ptr::null_mut();
        }
        let address = libc::dlsym(library, symbol.as_ptr());
        libc::dlclose(library);
        address
    }
}
