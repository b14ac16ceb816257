//! Pools of memory.

use std::ffi::c_void;

use super::{context, driver, put, runtime};
use crate::status::Status;

runtime! {
    /// The pool that a device begins with.
    fn cudaDeviceGetDefaultMemPool(pool: *mut *mut c_void, device: i32) {
        context::checked(device)?;
        driver!(cuDeviceGetDefaultMemPool(pool.cast(), device))
    }

    /// The pool that `cudaMallocAsync` takes from.
    fn cudaDeviceGetMemPool(pool: *mut *mut c_void, device: i32) {
        context::checked(device)?;
        driver!(cuDeviceGetMemPool(pool.cast(), device))
    }

    /// Sets that pool.
    fn cudaDeviceSetMemPool(device: i32, pool: *mut c_void) {
        context::checked(device)?;
        driver!(cuDeviceSetMemPool(device, pool.cast()))
    }

    /// Makes a pool.
    fn cudaMemPoolCreate(pool: *mut *mut c_void, properties: *const c_void) {
        context::ensure()?;
        driver!(cuMemPoolCreate(pool.cast(), properties.cast()))
    }

    /// Destroys a pool.
    fn cudaMemPoolDestroy(pool: *mut c_void) {
        context::ensure()?;
        driver!(cuMemPoolDestroy(pool.cast()))
    }

    /// Memory of a pool, in the order of a stream.
    fn cudaMallocFromPoolAsync(pointer: *mut *mut c_void, size: usize, pool: *mut c_void, stream: *mut c_void) |call| {
        if pointer.is_null() {
            return Err(Status::INVALID_VALUE);
        }
        context::ensure()?;
        let mut address = 0u64;
        driver!(cuMemAllocFromPoolAsync(&raw mut address, size, pool.cast(), context::stream(call, stream).cast()))?;
        unsafe { put(pointer, address as *mut c_void) }
    }

    /// An attribute of a pool.
    fn cudaMemPoolGetAttribute(pool: *mut c_void, attribute: i32, value: *mut c_void) {
        context::ensure()?;
        driver!(cuMemPoolGetAttribute(pool.cast(), attribute as _, value))
    }

    /// Sets an attribute of a pool.
    fn cudaMemPoolSetAttribute(pool: *mut c_void, attribute: i32, value: *mut c_void) {
        context::ensure()?;
        driver!(cuMemPoolSetAttribute(pool.cast(), attribute as _, value))
    }

    /// Which devices use memory of a pool.
    fn cudaMemPoolGetAccess(flags: *mut i32, pool: *mut c_void, location: *mut c_void) {
        context::ensure()?;
        driver!(cuMemPoolGetAccess(flags.cast(), pool.cast(), location.cast()))
    }

    /// Sets which devices use memory of a pool.
    fn cudaMemPoolSetAccess(pool: *mut c_void, list: *const c_void, count: usize) {
        context::ensure()?;
        driver!(cuMemPoolSetAccess(pool.cast(), list.cast(), count))
    }

    /// Gives memory of a pool back.
    fn cudaMemPoolTrimTo(pool: *mut c_void, keep: usize) {
        context::ensure()?;
        driver!(cuMemPoolTrimTo(pool.cast(), keep))
    }

    /// Memory of graphs.
    fn cudaDeviceGetGraphMemAttribute(device: i32, attribute: i32, value: *mut c_void) {
        context::checked(device)?;
        driver!(cuDeviceGetGraphMemAttribute(device, attribute as _, value))
    }

    /// Memory of graphs.
    fn cudaDeviceSetGraphMemAttribute(device: i32, attribute: i32, value: *mut c_void) {
        context::checked(device)?;
        driver!(cuDeviceSetGraphMemAttribute(device, attribute as _, value))
    }

    /// Gives memory of graphs back.
    fn cudaDeviceGraphMemTrim(device: i32) {
        context::checked(device)?;
        driver!(cuDeviceGraphMemTrim(device))
    }
}
