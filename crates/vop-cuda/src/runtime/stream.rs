//! Streams.

use std::ffi::c_void;

use super::{context, driver, runtime};
use crate::status::{Answer, Status};

/// A stream of a call, in a context.
fn of(call: crate::abi::Call, stream: *mut c_void) -> Answer<*mut c_void> {
    context::ensure()?;
    Ok(context::stream(call, stream))
}

runtime! {
    /// Makes a stream.
    fn cudaStreamCreate(stream: *mut *mut c_void) {
        context::ensure()?;
        driver!(cuStreamCreate(stream.cast(), 0))
    }

    /// Makes a stream that waits for the legacy default stream, or does not.
    fn cudaStreamCreateWithFlags(stream: *mut *mut c_void, flags: u32) {
        context::ensure()?;
        driver!(cuStreamCreate(stream.cast(), flags))
    }

    /// Makes a stream with a priority.
    fn cudaStreamCreateWithPriority(stream: *mut *mut c_void, flags: u32, priority: i32) {
        context::ensure()?;
        driver!(cuStreamCreateWithPriority(stream.cast(), flags, priority))
    }

    /// Destroys a stream.
    fn cudaStreamDestroy(stream: *mut c_void) {
        context::ensure()?;
        driver!(cuStreamDestroy_v2(stream.cast()))
    }

    /// Waits for a stream.
    fn cudaStreamSynchronize(stream: *mut c_void) |call| {
        driver!(cuStreamSynchronize(of(call, stream)?.cast()))
    }

    /// Whether a stream has done everything.
    fn cudaStreamQuery(stream: *mut c_void) |call| {
        driver!(cuStreamQuery(of(call, stream)?.cast()))
    }

    /// Lets a stream wait for an event.
    fn cudaStreamWaitEvent(stream: *mut c_void, event: *mut c_void, flags: u32) |call| {
        driver!(cuStreamWaitEvent(of(call, stream)?.cast(), event.cast(), flags))
    }

    /// Calls a function of the host in the order of a stream.
    fn cudaStreamAddCallback(stream: *mut c_void, callback: *mut c_void, data: *mut c_void, flags: u32) |call| {
        if callback.is_null() || flags != 0 {
            return Err(Status::INVALID_VALUE);
        }
        let stream = of(call, stream)?;
        // SAFETY: it is a function of this type, which the manual says.
        let callback: unsafe extern "C" fn(*mut c_void, i32, *mut c_void) = unsafe { std::mem::transmute(callback) };
        driver!(cuStreamAddCallback(stream.cast(), Some(callback), data, flags))
    }

    /// Attaches managed memory to a stream.
    fn cudaStreamAttachMemAsync(stream: *mut c_void, pointer: *mut c_void, length: usize, flags: u32) |call| {
        driver!(cuStreamAttachMemAsync(of(call, stream)?.cast(), pointer as u64, length, flags))
    }

    /// The flags of a stream.
    fn cudaStreamGetFlags(stream: *mut c_void, flags: *mut u32) |call| {
        driver!(cuStreamGetFlags(of(call, stream)?.cast(), flags))
    }

    /// The priority of a stream.
    fn cudaStreamGetPriority(stream: *mut c_void, priority: *mut i32) |call| {
        driver!(cuStreamGetPriority(of(call, stream)?.cast(), priority))
    }

    /// The number of a stream.
    fn cudaStreamGetId(stream: *mut c_void, id: *mut u64) |call| {
        driver!(cuStreamGetId(of(call, stream)?.cast(), id))
    }

    /// The device of a stream.
    fn cudaStreamGetDevice(stream: *mut c_void, device: *mut i32) |call| {
        driver!(cuStreamGetDevice(of(call, stream)?.cast(), device))
    }

    /// An attribute of a stream.
    fn cudaStreamGetAttribute(stream: *mut c_void, attribute: i32, value: *mut c_void) |call| {
        driver!(cuStreamGetAttribute(of(call, stream)?.cast(), attribute as _, value.cast()))
    }

    /// Sets an attribute of a stream.
    fn cudaStreamSetAttribute(stream: *mut c_void, attribute: i32, value: *const c_void) |call| {
        driver!(cuStreamSetAttribute(of(call, stream)?.cast(), attribute as _, value.cast_mut().cast()))
    }

    /// Copies the attributes of a stream.
    fn cudaStreamCopyAttributes(to: *mut c_void, from: *mut c_void) |call| {
        driver!(cuStreamCopyAttributes(of(call, to)?.cast(), of(call, from)?.cast()))
    }

    /// Begins to capture the work of a stream as a graph.
    fn cudaStreamBeginCapture(stream: *mut c_void, mode: i32) |call| {
        driver!(cuStreamBeginCapture_v2(of(call, stream)?.cast(), mode as _))
    }

    /// Begins to capture the work of a stream into a graph.
    fn cudaStreamBeginCaptureToGraph(
        stream: *mut c_void, graph: *mut c_void, dependencies: *const *mut c_void, edges: *const c_void,
        count: usize, mode: i32,
    ) |call| {
        let stream = of(call, stream)?;
        driver!(cuStreamBeginCaptureToGraph(
            stream.cast(), graph.cast(), dependencies.cast(), edges.cast(), count, mode as _
        ))
    }

    /// Ends a capture.
    fn cudaStreamEndCapture(stream: *mut c_void, graph: *mut *mut c_void) |call| {
        driver!(cuStreamEndCapture(of(call, stream)?.cast(), graph.cast()))
    }

    /// Whether a stream is captured.
    fn cudaStreamIsCapturing(stream: *mut c_void, status: *mut i32) |call| {
        driver!(cuStreamIsCapturing(of(call, stream)?.cast(), status.cast()))
    }

    /// The state of a capture.
    fn cudaStreamGetCaptureInfo(
        stream: *mut c_void, status: *mut i32, id: *mut u64, graph: *mut *mut c_void,
        dependencies: *mut *const *mut c_void,
        edges: *mut *const c_void, count: *mut usize,
    ) |call| {
        let stream = of(call, stream)?;
        driver!(cuStreamGetCaptureInfo_v3(
            stream.cast(), status.cast(), id, graph.cast(), dependencies.cast(), edges.cast(), count
        ))
    }

    /// The state of a capture, as CUDA 12 has it.
    fn cudaStreamGetCaptureInfo_v2(
        stream: *mut c_void, status: *mut i32, id: *mut u64, graph: *mut *mut c_void,
        dependencies: *mut *const *mut c_void,
        count: *mut usize,
    ) |call| {
        let (stream, none) = (of(call, stream)?, std::ptr::null_mut::<*const c_void>());
        driver!(cuStreamGetCaptureInfo_v3(
            stream.cast(), status.cast(), id, graph.cast(), dependencies.cast(), none.cast(), count
        ))
    }

    /// The state of a capture, as CUDA 11 has it.
    fn cudaStreamGetCaptureInfo_v1(stream: *mut c_void, status: *mut i32, id: *mut u64) |call| {
        let (stream, none) = (of(call, stream)?, std::ptr::null_mut::<c_void>());
        driver!(cuStreamGetCaptureInfo_v3(
            stream.cast(), status.cast(), id, none.cast(), none.cast(), none.cast(), none.cast()
        ))
    }

    /// Changes what the next node of a capture depends on.
    fn cudaStreamUpdateCaptureDependencies(
        stream: *mut c_void, dependencies: *mut *mut c_void, edges: *const c_void, count: usize, flags: u32,
    ) |call| {
        let stream = of(call, stream)?;
        driver!(cuStreamUpdateCaptureDependencies_v2(stream.cast(), dependencies.cast(), edges.cast(), count, flags))
    }

    /// Changes what the next node of a capture depends on, as CUDA 12 has it.
    fn cudaStreamUpdateCaptureDependencies_v1(
        stream: *mut c_void, dependencies: *mut *mut c_void, count: usize, flags: u32,
    ) |call| {
        let (stream, none) = (of(call, stream)?, std::ptr::null::<c_void>());
        driver!(cuStreamUpdateCaptureDependencies_v2(stream.cast(), dependencies.cast(), none.cast(), count, flags))
    }

    /// Exchanges how this thread captures.
    fn cudaThreadExchangeStreamCaptureMode(mode: *mut i32) {
        context::ensure()?;
        driver!(cuThreadExchangeStreamCaptureMode(mode.cast()))
    }
}
