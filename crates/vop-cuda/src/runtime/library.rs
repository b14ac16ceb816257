//! Libraries of device code, and the entry points of the driver.

use std::ffi::{c_char, c_void};

use super::{context, driver, put, runtime};
use crate::status::Status;

runtime! {
    /// Loads a library from memory.
    fn cudaLibraryLoadData(
        library: *mut *mut c_void, code: *const c_void, jit_options: *mut i32, jit_values: *mut *mut c_void,
        jit_count: u32,
        options: *mut i32, values: *mut *mut c_void, count: u32,
    ) {
        context::ensure()?;
        driver!(cuLibraryLoadData(
            library.cast(), code.cast(), jit_options.cast(), jit_values, jit_count, options.cast(), values, count
        ))
    }

    /// Loads a library from a file.
    fn cudaLibraryLoadFromFile(
        library: *mut *mut c_void, file: *const c_char, jit_options: *mut i32, jit_values: *mut *mut c_void,
        jit_count: u32,
        options: *mut i32, values: *mut *mut c_void, count: u32,
    ) {
        context::ensure()?;
        driver!(cuLibraryLoadFromFile(
            library.cast(), file, jit_options.cast(), jit_values, jit_count, options.cast(), values, count
        ))
    }

    /// Unloads a library.
    fn cudaLibraryUnload(library: *mut c_void) {
        context::ensure()?;
        driver!(cuLibraryUnload(library.cast()))
    }

    /// A kernel of a library.
    fn cudaLibraryGetKernel(kernel: *mut *mut c_void, library: *mut c_void, name: *const c_char) {
        context::ensure()?;
        driver!(cuLibraryGetKernel(kernel.cast(), library.cast(), name))
    }

    /// How many kernels a library has.
    fn cudaLibraryGetKernelCount(count: *mut u32, library: *mut c_void) {
        context::ensure()?;
        driver!(cuLibraryGetKernelCount(count, library.cast()))
    }

    /// The kernels of a library.
    fn cudaLibraryEnumerateKernels(kernels: *mut *mut c_void, count: u32, library: *mut c_void) {
        context::ensure()?;
        driver!(cuLibraryEnumerateKernels(kernels.cast(), count, library.cast()))
    }

    /// A variable of a library.
    fn cudaLibraryGetGlobal(pointer: *mut *mut c_void, size: *mut usize, library: *mut c_void, name: *const c_char) {
        context::ensure()?;
        let mut address = 0u64;
        driver!(cuLibraryGetGlobal(&raw mut address, size, library.cast(), name))?;
        if pointer.is_null() { Ok(()) } else { unsafe { put(pointer, address as *mut c_void) } }
    }

    /// A managed variable of a library.
    fn cudaLibraryGetManaged(pointer: *mut *mut c_void, size: *mut usize, library: *mut c_void, name: *const c_char) {
        context::ensure()?;
        let mut address = 0u64;
        driver!(cuLibraryGetManaged(&raw mut address, size, library.cast(), name))?;
        if pointer.is_null() { Ok(()) } else { unsafe { put(pointer, address as *mut c_void) } }
    }

    /// A function of the driver, by its name.
    fn cudaGetDriverEntryPoint(symbol: *const c_char, function: *mut *mut c_void, flags: u64, status: *mut i32) |call| {
        entry_point(symbol, function, 13000, flags, status, call.per_thread)
    }

    /// A function of the driver, by its name, as a version has it.
    fn cudaGetDriverEntryPointByVersion(
        symbol: *const c_char, function: *mut *mut c_void, version: u32, flags: u64, status: *mut i32,
    ) |call| {
        entry_point(symbol, function, version as i32, flags, status, call.per_thread)
    }

    /// Tables of functions that are not public: there is none.
    fn cudaGetExportTable(table: *mut *const c_void, _id: *const c_void) |call| {
        super::unsupported::count(call.name);
        if !table.is_null() {
            unsafe { put(table, std::ptr::null())? };
        }
        Err(Status::NOT_SUPPORTED)
    }
}

fn entry_point(
    symbol: *const c_char,
    function: *mut *mut c_void,
    version: i32,
    flags: u64,
    status: *mut i32,
    per_thread: bool,
) -> crate::status::Answer {
    if symbol.is_null() || function.is_null() || flags > 2 {
        return Err(Status::INVALID_VALUE);
    }
    context::initialize()?;
    // Without a wish it is the default stream of the caller.
    let flags = if flags == 0 && per_thread { 2 } else { flags };
    let mut found = 0i32;
    let result = driver!(cuGetProcAddress_v2(symbol, function, version, flags, (&raw mut found).cast()));
    if !status.is_null() {
        // SAFETY: the caller's.
        unsafe { put(status, found)? };
        // The status tells what was not found.
        return if found == 0 { result } else { Ok(()) };
    }
    result
}
