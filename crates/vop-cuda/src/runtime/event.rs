//! Events.

use std::ffi::c_void;

use super::{context, driver, runtime};

runtime! {
    /// Makes an event.
    fn cudaEventCreate(event: *mut *mut c_void) {
        context::ensure()?;
        driver!(cuEventCreate(event.cast(), 0))
    }

    /// Makes an event.
    fn cudaEventCreateWithFlags(event: *mut *mut c_void, flags: u32) {
        context::ensure()?;
        driver!(cuEventCreate(event.cast(), flags))
    }

    /// Destroys an event.
    fn cudaEventDestroy(event: *mut c_void) {
        context::ensure()?;
        driver!(cuEventDestroy_v2(event.cast()))
    }

    /// Puts an event into a stream.
    fn cudaEventRecord(event: *mut c_void, stream: *mut c_void) |call| {
        context::ensure()?;
        driver!(cuEventRecord(event.cast(), context::stream(call, stream).cast()))
    }

    /// Puts an event into a stream.
    fn cudaEventRecordWithFlags(event: *mut c_void, stream: *mut c_void, flags: u32) |call| {
        context::ensure()?;
        driver!(cuEventRecordWithFlags(event.cast(), context::stream(call, stream).cast(), flags))
    }

    /// Whether an event has been reached.
    fn cudaEventQuery(event: *mut c_void) {
        context::ensure()?;
        driver!(cuEventQuery(event.cast()))
    }

    /// Waits for an event.
    fn cudaEventSynchronize(event: *mut c_void) {
        context::ensure()?;
        driver!(cuEventSynchronize(event.cast()))
    }

    /// The time between two events, in milliseconds.
    fn cudaEventElapsedTime(milliseconds: *mut f32, start: *mut c_void, end: *mut c_void) {
        context::ensure()?;
        driver!(cuEventElapsedTime_v2(milliseconds, start.cast(), end.cast()))
    }
}
