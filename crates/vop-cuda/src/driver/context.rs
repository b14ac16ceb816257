//! Contexts.

#![allow(unsafe_code, reason = "callers pass pointers")]

use std::ffi::c_void;
use std::sync::atomic::Ordering;

use super::types::{DeviceNumber, Handle, handle, number, put, put_if_asked};
use crate::abi::api;
use crate::machine::{Context, machine};
use crate::status::{Answer, Status};

/// Flags of a context: how to wait (one of four), mapped memory, local memory, dumps, synchronous copies.
pub(super) fn check_flags(flags: u32) -> Answer {
    if flags & !0xff == 0 && matches!(flags & 7, 0 | 1 | 2 | 4) { Ok(()) } else { Err(Status::INVALID_VALUE) }
}

/// Makes a context, and makes it current.
unsafe fn create(context: *mut Handle, flags: u32, device: DeviceNumber) -> Answer {
    let machine = machine()?;
    let device = machine.device(device)?;
    check_flags(flags)?;
    if context.is_null() {
        return Err(Status::INVALID_VALUE);
    }
    let made = Context::new(machine, device, false, flags);
    Context::push(made);
    // SAFETY: a place for a handle.
    unsafe { put(context, handle(made.handle)) }
}

fn destroy(context: Handle) -> Answer {
    let context = Context::of(number(context))?;
    if context.is_primary {
        return Err(Status::INVALID_CONTEXT);
    }
    context.destroy();
    Ok(())
}

unsafe fn pop(context: *mut Handle) -> Answer {
    machine()?;
    let popped = Context::pop().ok_or(Status::INVALID_CONTEXT)?;
    // SAFETY: a place for a handle, or null.
    unsafe { put_if_asked(context, handle(popped.handle)) };
    Ok(())
}

api! {
    /// Makes a context, and makes it current.
    fn cuCtxCreate_v2(context: *mut Handle, flags: u32, device: DeviceNumber) {
        // SAFETY: a place for a handle, or null.
        unsafe { create(context, flags, device) }
    }

    /// Makes a context, and makes it current.
    fn cuCtxCreate(context: *mut Handle, flags: u32, device: DeviceNumber) {
        // SAFETY: a place for a handle, or null.
        unsafe { create(context, flags, device) }
    }

    /// Makes a context, and makes it current. A part of a device cannot be asked for.
    fn cuCtxCreate_v3(context: *mut Handle, affinity: *const c_void, count: i32, flags: u32, device: DeviceNumber) {
        if count != 0 || !affinity.is_null() {
            return Err(Status::UNSUPPORTED_EXEC_AFFINITY);
        }
        // SAFETY: a place for a handle, or null.
        unsafe { create(context, flags, device) }
    }

    /// Makes a context, and makes it current. A part of a device, or work with a graphics interface, cannot be asked for.
    fn cuCtxCreate_v4(context: *mut Handle, parameters: *const [usize; 3], flags: u32, device: DeviceNumber) {
        // SAFETY: null, or the structure: a pointer to parameters of affinity, their number, and a pointer to parameters of graphics.
        if !parameters.is_null() && unsafe { parameters.read_unaligned() } != [0; 3] {
            return Err(Status::UNSUPPORTED_EXEC_AFFINITY);
        }
        // SAFETY: a place for a handle, or null.
        unsafe { create(context, flags, device) }
    }

    /// Destroys a context.
    fn cuCtxDestroy_v2(context: Handle) {
        destroy(context)
    }

    /// Destroys a context.
    fn cuCtxDestroy(context: Handle) {
        destroy(context)
    }

    /// Makes a context current until it is popped.
    fn cuCtxPushCurrent_v2(context: Handle) {
        Context::push(Context::of(number(context))?);
        Ok(())
    }

    /// Makes a context current until it is popped.
    fn cuCtxPushCurrent(context: Handle) {
        Context::push(Context::of(number(context))?);
        Ok(())
    }

    /// Makes the context current that was so before.
    fn cuCtxPopCurrent_v2(context: *mut Handle) {
        // SAFETY: a place for a handle, or null.
        unsafe { pop(context) }
    }

    /// Makes the context current that was so before.
    fn cuCtxPopCurrent(context: *mut Handle) {
        // SAFETY: a place for a handle, or null.
        unsafe { pop(context) }
    }

    /// Makes a context current, or none.
    fn cuCtxSetCurrent(context: Handle) {
        machine()?;
        let context = if context.is_null() { None } else { Some(Context::of(number(context))?) };
        Context::set_current(context);
        Ok(())
    }

    /// The current context, or null.
    fn cuCtxGetCurrent(context: *mut Handle) {
        machine()?;
        let current = Context::current_any().map_or(0, |context| context.handle);
        // SAFETY: a place for a handle, or null.
        unsafe { put(context, handle(current)) }
    }

    /// The device of the current context.
    fn cuCtxGetDevice(device: *mut DeviceNumber) {
        machine()?;
        let context = Context::current_any().ok_or(Status::INVALID_CONTEXT)?;
        // SAFETY: a place for a number, or null.
        unsafe { put(device, context.device.ordinal as i32) }
    }

    /// The device of a context.
    fn cuCtxGetDevice_v2(device: *mut DeviceNumber, context: Handle) {
        let context = or_current(context)?;
        // SAFETY: a place for a number, or null.
        unsafe { put(device, context.device.ordinal as i32) }
    }

    /// The flags of the current context.
    fn cuCtxGetFlags(flags: *mut u32) {
        let is = Context::current()?.flags.load(Ordering::Relaxed);
        // SAFETY: a place for a number, or null.
        unsafe { put(flags, is) }
    }

    /// Sets the flags of the current context.
    fn cuCtxSetFlags(flags: u32) {
        let context = Context::current()?;
        check_flags(flags)?;
        context.flags.store(flags, Ordering::Relaxed);
        Ok(())
    }

    /// A number that no other context has.
    fn cuCtxGetId(context: Handle, id: *mut u64) {
        let context = or_current(context)?;
        // SAFETY: a place for a number, or null.
        unsafe { put(id, context.id) }
    }

    /// Waits for all that was given to the current context.
    fn cuCtxSynchronize() {
        Context::current()?.synchronize()
    }

    /// Waits for all that was given to a context.
    fn cuCtxSynchronize_v2(context: Handle) {
        or_current(context)?.synchronize()
    }

    /// Sets a limit.
    fn cuCtxSetLimit(limit: u32, value: usize) {
        Context::current()?.set_limit(limit, value)
    }

    /// A limit.
    fn cuCtxGetLimit(value: *mut usize, limit: u32) {
        let is = Context::current()?.limit(limit)?;
        // SAFETY: a place for a number, or null.
        unsafe { put(value, is) }
    }

    /// Whether shared memory or the cache is preferred, which has no effect.
    fn cuCtxGetCacheConfig(config: *mut i32) {
        let is = Context::current()?.cache.load(Ordering::Relaxed);
        // SAFETY: a place for a number, or null.
        unsafe { put(config, is) }
    }

    /// Prefers shared memory or the cache, which has no effect.
    fn cuCtxSetCacheConfig(config: i32) {
        let context = Context::current()?;
        if !(0..=3).contains(&config) {
            return Err(Status::INVALID_VALUE);
        }
        context.cache.store(config, Ordering::Relaxed);
        Ok(())
    }

    /// The width of the banks of shared memory, which has no effect.
    fn cuCtxGetSharedMemConfig(config: *mut i32) {
        let is = Context::current()?.banks.load(Ordering::Relaxed);
        // SAFETY: a place for a number, or null.
        unsafe { put(config, is) }
    }

    /// Sets the width of the banks of shared memory, which has no effect.
    fn cuCtxSetSharedMemConfig(config: i32) {
        let context = Context::current()?;
        if !(0..=2).contains(&config) {
            return Err(Status::INVALID_VALUE);
        }
        context.banks.store(config, Ordering::Relaxed);
        Ok(())
    }

    /// The version of the interface that made the context.
    fn cuCtxGetApiVersion(context: Handle, version: *mut u32) {
        or_current(context)?;
        // SAFETY: a place for a number, or null.
        unsafe { put(version, 3020) }
    }

    /// Priorities of streams: there are some, and they have no effect.
    fn cuCtxGetStreamPriorityRange(least: *mut i32, greatest: *mut i32) {
        Context::current()?;
        // SAFETY: places for numbers, or null.
        unsafe {
            put_if_asked(least, 0);
            put_if_asked(greatest, GREATEST_PRIORITY);
        }
        Ok(())
    }

    /// There is no cache to reset.
    fn cuCtxResetPersistingL2Cache() {
        Context::current()?;
        Ok(())
    }

    /// Holds a context; as in CUDA, only the current one.
    fn cuCtxAttach(context: *mut Handle, flags: u32) {
        let current = Context::current()?;
        if flags != 0 {
            return Err(Status::INVALID_VALUE);
        }
        // SAFETY: a place for a handle, or null.
        unsafe { put(context, handle(current.handle)) }
    }

    /// Destroys the current context.
    fn cuCtxDetach(context: Handle) {
        destroy(context)
    }
}

/// The greatest priority of a stream: a lower number is a higher priority.
pub(super) const GREATEST_PRIORITY: i32 = -5;

/// A context; the current one for null.
fn or_current(context: Handle) -> Answer<&'static Context> {
    if context.is_null() {
        return Context::current();
    }
    let context = Context::of(number(context))?;
    context.check_sticky()?;
    Ok(context)
}
