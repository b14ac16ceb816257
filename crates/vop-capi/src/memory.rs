//! The memory of a device.

#![allow(unsafe_code, reason = "the pointers are C's")]

use std::ffi::{c_char, c_void};
use std::sync::{Arc, Mutex, MutexGuard};

use vop_run::{BufferId, Memory};

use crate::diagnostic::{placeless, vop_diagnostics};
use crate::guard::{Failure, answer, free, object, produce, vop_status};
use crate::text::{produce_text, text_of, vop_text};

/// The memory of a device: buffers, the variables of modules, and what kernels printed. Threads may share it: launches, copies and
/// allocations may go on at once. If a launch uses bytes that a copy changes at the same time, either may see any of the values. Modules and
/// functions keep it alive.
pub struct vop_memory(Shared);

pub(crate) type Shared = Arc<Mutex<Memory>>;

/// The memory for as long as a call needs it.
pub(crate) fn lock(memory: &Mutex<Memory>) -> Result<MutexGuard<'_, Memory>, Failure> {
    memory.lock().map_err(|_| Failure::new(vop_status::VOP_ERROR_BUG, "an earlier call failed within this memory"))
}

impl vop_memory {
    pub(crate) fn shared(&self) -> &Shared {
        &self.0
    }
}

/// Makes an empty memory. Its addresses are its own, and the same in every run; kernels that keep addresses in 32 bits can use it.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn vop_memory_new(
    out: *mut *mut vop_memory,
    diagnostics: *mut *mut vop_diagnostics,
) -> vop_status {
    // SAFETY: C gives places for answers, or null.
    unsafe { produce(out, diagnostics, || Ok(vop_memory(Arc::default()))) }
}

/// Makes an empty memory whose addresses are those of the process: the address of a buffer is a pointer that C may use as well, and
/// `vop_memory_register` adds memory that C has. It is checked as exactly as other memory.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn vop_memory_new_host(
    out: *mut *mut vop_memory,
    diagnostics: *mut *mut vop_diagnostics,
) -> vop_status {
    let work = || Ok(vop_memory(Arc::new(Mutex::new(Memory::at_host_addresses()))));
    // SAFETY: C gives places for answers, or null.
    unsafe { produce(out, diagnostics, work) }
}

/// Frees a memory, when no module and no function of it is left; null is nothing to free.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn vop_memory_free(memory: *mut vop_memory) {
    // SAFETY: C gives up a handle of this library.
    unsafe { free(memory) };
}

/// Sets the number of bytes that all buffers together may have, and what launches take beside them. Without, it is three quarters of the
/// machine's memory.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn vop_memory_set_limit(
    memory: *mut vop_memory,
    bytes: u64,
    diagnostics: *mut *mut vop_diagnostics,
) -> vop_status {
    let work = || {
        // SAFETY: C gives a handle that is not freed.
        let memory = unsafe { object(memory, "memory")? };
        lock(&memory.0)?.set_limit(bytes).map_err(|error| placeless(vop_status::VOP_ERROR_MEMORY, &error))
    };
    // SAFETY: C gives a place for diagnostics, or null.
    unsafe { answer(diagnostics, work) }
}

/// Adds a buffer of `bytes` bytes, and tells its address, which kernels take. Its content counts as not written: the check `uninit` finds
/// kernels that read it. The name stands in errors.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn vop_memory_allocate(
    memory: *mut vop_memory,
    name: *const c_char,
    name_len: usize,
    bytes: u64,
    address: *mut u64,
    diagnostics: *mut *mut vop_diagnostics,
) -> vop_status {
    let work = || {
        // SAFETY: C gives a handle that is not freed, and a text of this length.
        let (memory, name) = unsafe { (object(memory, "memory")?, text_of(name, name_len, "name")?) };
        if address.is_null() {
            return Err(Failure::null("address"));
        }
        if bytes == 0 {
            return Err(Failure::new(vop_status::VOP_ERROR_ARGUMENT, "a buffer of no bytes has no address".to_owned()));
        }
        let mut memory = lock(&memory.0)?;
        let buffer = memory.allocate_uninitialized(name, bytes);
        let buffer = buffer.map_err(|error| placeless(vop_status::VOP_ERROR_MEMORY, &error))?;
        // SAFETY: it is not null, and C gives a place that is valid for a write.
        unsafe { address.write(memory.address(buffer)) };
        Ok(())
    };
    // SAFETY: C gives a place for diagnostics, or null.
    unsafe { answer(diagnostics, work) }
}

/// Adds memory that the caller keeps: to a memory of `vop_memory_new_host`. Kernels may reach these bytes at their own addresses, and no others
/// around them. The bytes must stay until `vop_memory_release`, and until all launches that started before it have ended.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn vop_memory_register(
    memory: *mut vop_memory,
    name: *const c_char,
    name_len: usize,
    data: *mut c_void,
    bytes: u64,
    read_only: bool,
    diagnostics: *mut *mut vop_diagnostics,
) -> vop_status {
    let work = || {
        // SAFETY: C gives a handle that is not freed, and a text of this length.
        let (memory, name) = unsafe { (object(memory, "memory")?, text_of(name, name_len, "name")?) };
        if data.is_null() {
            return Err(Failure::null("data"));
        }
        // SAFETY: C keeps the bytes until they are released, and no Rust reference to them exists.
        let registered = unsafe { lock(&memory.0)?.register(name, data.cast(), bytes, read_only) };
        registered.map(drop).map_err(|error| placeless(vop_status::VOP_ERROR_MEMORY, &error))
    };
    // SAFETY: C gives a place for diagnostics, or null.
    unsafe { answer(diagnostics, work) }
}

/// Takes a buffer or registered memory out again. `address` must be its first byte. Launches that run may still use it.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn vop_memory_release(
    memory: *mut vop_memory,
    address: u64,
    diagnostics: *mut *mut vop_diagnostics,
) -> vop_status {
    let work = || {
        // SAFETY: C gives a handle that is not freed.
        let mut memory = lock(&unsafe { object(memory, "memory")? }.0)?;
        let (buffer, range) = part(&memory, address, 0)?;
        if range.start != 0 {
            let message = format!("{address:#x} is not the first byte of its buffer, but byte {}", range.start);
            return Err(Failure::new(vop_status::VOP_ERROR_MEMORY, message));
        }
        memory.free(buffer).map_err(|error| placeless(vop_status::VOP_ERROR_MEMORY, &error))
    };
    // SAFETY: C gives a place for diagnostics, or null.
    unsafe { answer(diagnostics, work) }
}

/// The part of a buffer that an address and a size name.
fn part(memory: &Memory, address: u64, bytes: usize) -> Result<(BufferId, std::ops::Range<usize>), Failure> {
    let wrong = |message: String| Failure::new(vop_status::VOP_ERROR_MEMORY, message);
    let found = memory.locate(address);
    let (buffer, offset) =
        found.ok_or_else(|| wrong(format!("no buffer and no variable has the address {address:#x}")))?;
    let len = usize::try_from(memory.len_of(buffer)).unwrap_or(usize::MAX);
    let start = usize::try_from(offset).unwrap_or(usize::MAX);
    let end = start.checked_add(bytes).filter(|end| *end <= len);
    let end = end.ok_or_else(|| {
        let name = memory.name(buffer).unwrap_or("the buffer");
        wrong(format!("{bytes} bytes from byte {offset} of `{name}` on go beyond its end: it has {len}"))
    })?;
    Ok((buffer, start..end))
}

/// Tells the number of bytes from an address to the end of its buffer or variable.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn vop_memory_size(
    memory: *const vop_memory,
    address: u64,
    bytes: *mut u64,
    diagnostics: *mut *mut vop_diagnostics,
) -> vop_status {
    let work = || {
        // SAFETY: C gives a handle that is not freed.
        let memory = lock(&unsafe { object(memory, "memory")? }.0)?;
        let (buffer, range) = part(&memory, address, 0)?;
        if bytes.is_null() {
            return Err(Failure::null("bytes"));
        }
        // SAFETY: it is not null, and C gives a place that is valid for a write.
        unsafe { bytes.write(memory.len_of(buffer) - range.start as u64) };
        Ok(())
    };
    // SAFETY: C gives a place for diagnostics, or null.
    unsafe { answer(diagnostics, work) }
}

/// Copies bytes into a buffer or a variable. Nothing is copied if not all of them fit.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn vop_memory_write(
    memory: *mut vop_memory,
    address: u64,
    data: *const c_void,
    bytes: usize,
    diagnostics: *mut *mut vop_diagnostics,
) -> vop_status {
    let work = || {
        // SAFETY: C gives a handle that is not freed.
        let mut memory = lock(&unsafe { object(memory, "memory")? }.0)?;
        if bytes == 0 {
            return Ok(());
        }
        let (buffer, range) = part(&memory, address, bytes)?;
        if data.is_null() {
            return Err(Failure::null("data"));
        }
        let to = memory.pointer(buffer).wrapping_add(range.start);
        // SAFETY: it is not null, and C gives this number of bytes; the buffer has them from here on, as `part` has seen. It stays for as
        // long as the memory is locked. No reference to its bytes exists: launches use pointers, too. The two may overlap.
        unsafe { std::ptr::copy(data.cast::<u8>(), to, bytes) };
        memory.mark_written(buffer, range.start as u64, bytes as u64);
        Ok(())
    };
    // SAFETY: C gives a place for diagnostics, or null.
    unsafe { answer(diagnostics, work) }
}

/// Copies bytes out of a buffer or a variable. Nothing is copied if it has fewer.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn vop_memory_read(
    memory: *const vop_memory,
    address: u64,
    data: *mut c_void,
    bytes: usize,
    diagnostics: *mut *mut vop_diagnostics,
) -> vop_status {
    let work = || {
        // SAFETY: C gives a handle that is not freed.
        let mut memory = lock(&unsafe { object(memory, "memory")? }.0)?;
        if bytes == 0 {
            return Ok(());
        }
        let (buffer, range) = part(&memory, address, bytes)?;
        if data.is_null() {
            return Err(Failure::null("data"));
        }
        let from = memory.pointer(buffer).wrapping_add(range.start);
        // SAFETY: as for `vop_memory_write`, in the other direction.
        unsafe { std::ptr::copy(from, data.cast::<u8>(), bytes) };
        Ok(())
    };
    // SAFETY: C gives a place for diagnostics, or null.
    unsafe { answer(diagnostics, work) }
}

/// Takes what kernels printed (`printf`) since the last call. What is not UTF-8 is replaced by U+FFFD.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn vop_memory_take_printed(
    memory: *mut vop_memory,
    out: *mut *mut vop_text,
    diagnostics: *mut *mut vop_diagnostics,
) -> vop_status {
    // SAFETY: C gives a handle that is not freed.
    let work = || Ok(lock(&unsafe { object(memory, "memory")? }.0)?.take_printed());
    // SAFETY: C gives places for answers, or null.
    unsafe { produce_text(out, diagnostics, work) }
}
