//! Streams and events.

#![allow(unsafe_code, reason = "callers pass pointers and functions")]

use std::ffi::c_void;
use std::sync::Arc;

use super::context::GREATEST_PRIORITY;
use super::types::{DeviceNumber, DevicePointer, Handle, handle, number, put, put_if_asked};
use crate::abi::{Call, api};
use crate::machine::event::Event;
use crate::machine::graph::{Capture, Graph, Mode, THREAD_MODE};
use crate::machine::stream::{Role, Stream};
use crate::machine::work::{Callback, Comparison, HostFunction, Value, Work};
use crate::machine::{Context, handles, machine};
use crate::status::{Answer, Status};

/// `CU_STREAM_LEGACY` and `CU_STREAM_PER_THREAD`.
const LEGACY: usize = 1;
const PER_THREAD: usize = 2;
/// `CU_EVENT_RECORD_EXTERNAL` and `CU_EVENT_WAIT_EXTERNAL`: in a capture, a node, and nothing of the capture's.
const EXTERNAL: u32 = 1;
/// `CU_STREAM_NON_BLOCKING`.
const NON_BLOCKING: u32 = 1;

/// The stream of a handle.
pub(super) fn stream_of(call: Call, stream: Handle) -> Answer<Arc<Stream>> {
    match stream.addr() {
        0 => default_stream(call),
        LEGACY => Ok(Arc::clone(Context::current()?.default_stream())),
        PER_THREAD => Ok(Context::current()?.own_stream()),
        _ => {
            let found: Arc<Stream> = machine()?.handles.get(number(stream)).ok_or(Status::INVALID_HANDLE)?;
            found.context.check_sticky()?;
            Ok(found)
        }
    }
}

/// The stream that functions without one use.
pub(super) fn default_stream(call: Call) -> Answer<Arc<Stream>> {
    let context = Context::current()?;
    Ok(if call.per_thread { context.own_stream() } else { Arc::clone(context.default_stream()) })
}

/// The event of a handle.
pub(super) fn event_of(event: Handle) -> Answer<Arc<Event>> {
    let found: Arc<Event> = machine()?.handles.get(number(event)).ok_or(Status::INVALID_HANDLE)?;
    found.context.check_sticky()?;
    Ok(found)
}

unsafe fn create(stream: *mut Handle, flags: u32, priority: i32) -> Answer {
    let context = Context::current()?;
    if stream.is_null() || flags & !NON_BLOCKING != 0 {
        return Err(Status::INVALID_VALUE);
    }
    let role = if flags & NON_BLOCKING != 0 { Role::NonBlocking } else { Role::Blocking };
    let made = context.make_stream(role, priority.clamp(GREATEST_PRIORITY, 0));
    // SAFETY: a place for a handle.
    unsafe { put(stream, handle(made.handle)) }
}

fn destroy_stream(stream: Handle) -> Answer {
    let found: Arc<Stream> = machine()?.handles.remove(number(stream)).ok_or(Status::INVALID_HANDLE)?;
    found.abandon_capture();
    found.context.remove_stream(&found);
    Ok(())
}

fn destroy_event(event: Handle) -> Answer {
    machine()?.handles.remove::<Event>(number(event)).map(|_| ()).ok_or(Status::INVALID_HANDLE)
}

fn write(stream: Arc<Stream>, address: DevicePointer, value: Value) -> Answer {
    stream.give(Work::WriteValue(address, value)).map(|_| ())
}

/// # Safety
/// So many structures, or null.
unsafe fn batch(stream: &Arc<Stream>, count: u32, operations: *const BatchOperation) -> Answer {
    // SAFETY: as the caller says.
    for each in unsafe { super::types::list(operations, count as usize) }? {
        let (word, double) = (Value::Word(each.value as u32), Value::Double(each.value));
        let stream = Arc::clone(stream);
        match each.operation {
            1 => wait(stream, each.address, word, each.flags)?,
            4 => wait(stream, each.address, double, each.flags)?,
            2 => write(stream, each.address, word)?,
            5 => write(stream, each.address, double)?,
            // Flushes and barriers have nothing to do.
            3 | 6 => {}
            _ => return Err(Status::INVALID_VALUE),
        }
    }
    Ok(())
}

fn wait(stream: Arc<Stream>, address: DevicePointer, value: Value, flags: u32) -> Answer {
    let comparison = match flags & 3 {
        0 => Comparison::NotLess,
        1 => Comparison::Equal,
        2 => Comparison::And,
        _ => Comparison::Nor,
    };
    // `CU_STREAM_WAIT_VALUE_FLUSH` has nothing to do.
    if flags & !(3 | 1 << 30) != 0 {
        return Err(Status::INVALID_VALUE);
    }
    stream.give(Work::WaitValue(address, value, comparison)).map(|_| ())
}

fn mode(mode: u32) -> Answer<Mode> {
    match mode {
        0 => Ok(Mode::Global),
        1 => Ok(Mode::ThreadLocal),
        2 => Ok(Mode::Relaxed),
        _ => Err(Status::INVALID_VALUE),
    }
}

fn begin(stream: &Arc<Stream>, capture_mode: u32, into: Option<(Arc<Graph>, Vec<u64>)>) -> Answer {
    let mode = mode(capture_mode)?;
    if stream.role == Role::Default {
        return Err(Status::STREAM_CAPTURE_UNSUPPORTED);
    }
    Capture::begin(stream, mode, into)
}

/// What `cuStreamGetCaptureInfo` tells: status, number, graph, and what the next node comes after.
fn capture_info(stream: &Arc<Stream>) -> (i32, u64, u64, Vec<u64>) {
    stream.with_capture(|capturing| match capturing {
        None => (0, 0, 0, Vec::new()),
        Some(found) => {
            let status = if found.capture.is_broken() { 2 } else { 1 };
            (status, found.capture.id, found.capture.graph.handle, found.last.clone())
        }
    })
}

unsafe fn put_capture_info(
    stream: Arc<Stream>,
    status: *mut i32,
    id: *mut u64,
    graph: *mut Handle,
    nodes: *mut *const Handle,
    edges: *mut *const c_void,
    count: *mut usize,
) -> Answer {
    // The list stays until the thread asks again.
    thread_local! {
        static NODES: std::cell::RefCell<Vec<usize>> = const { std::cell::RefCell::new(Vec::new()) };
    }
    let (is, number, of, last) = capture_info(&stream);
    // SAFETY: places for the results, or null.
    unsafe {
        put(status, is)?;
        put_if_asked(id, number);
        put_if_asked(graph, handle(of));
        put_if_asked(edges, std::ptr::null());
        put_if_asked(count, last.len());
        if !nodes.is_null() {
            NODES.with_borrow_mut(|kept| {
                *kept = last.iter().map(|node| *node as usize).collect();
                put_if_asked(nodes, kept.as_ptr().cast());
            });
        }
    }
    Ok(())
}

unsafe fn update_capture(stream: Arc<Stream>, nodes: *const Handle, count: usize, flags: u32) -> Answer {
    // SAFETY: so many handles, or null.
    let nodes: Vec<u64> = unsafe { super::types::list(nodes, count) }?.into_iter().map(number).collect();
    stream.with_capture(|capturing| {
        let found = capturing.as_mut().ok_or(Status::ILLEGAL_STATE)?;
        if nodes.iter().any(|node| !found.capture.graph.nodes().contains_key(node)) {
            return Err(Status::INVALID_VALUE);
        }
        match flags {
            0 => {
                let new: Vec<u64> = nodes.iter().filter(|node| !found.last.contains(node)).copied().collect();
                found.last.extend(new);
            }
            1 => found.last = nodes,
            _ => return Err(Status::INVALID_VALUE),
        }
        Ok(())
    })
}

/// `CUstreamBatchMemOpParams`: 48 bytes, of which the first says what it is.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct BatchOperation {
    operation: u32,
    address: DevicePointer,
    value: u64,
    flags: u32,
    alias: DevicePointer,
    padding: u64,
}

api! {
    /// Makes a stream.
    fn cuStreamCreate(stream: *mut Handle, flags: u32) {
        // SAFETY: a place for a handle, or null.
        unsafe { create(stream, flags, 0) }
    }

    /// Makes a stream with a priority, which has no effect.
    fn cuStreamCreateWithPriority(stream: *mut Handle, flags: u32, priority: i32) {
        // SAFETY: a place for a handle, or null.
        unsafe { create(stream, flags, priority) }
    }

    /// Destroys a stream. What it has to do is done.
    fn cuStreamDestroy_v2(stream: Handle) {
        destroy_stream(stream)
    }

    /// Destroys a stream. What it has to do is done.
    fn cuStreamDestroy(stream: Handle) {
        destroy_stream(stream)
    }

    /// The priority of a stream.
    fn cuStreamGetPriority(stream: Handle, priority: *mut i32) |call| {
        let is = stream_of(call, stream)?.priority;
        // SAFETY: a place for a number, or null.
        unsafe { put(priority, is) }
    }

    /// The flags of a stream.
    fn cuStreamGetFlags(stream: Handle, flags: *mut u32) |call| {
        let is = u32::from(stream_of(call, stream)?.role == Role::NonBlocking);
        // SAFETY: a place for a number, or null.
        unsafe { put(flags, is) }
    }

    /// A number that no other stream has.
    fn cuStreamGetId(stream: Handle, id: *mut u64) |call| {
        let is = stream_of(call, stream)?.id;
        // SAFETY: a place for a number, or null.
        unsafe { put(id, is) }
    }

    /// The context of a stream.
    fn cuStreamGetCtx(stream: Handle, context: *mut Handle) |call| {
        let is = stream_of(call, stream)?.context.handle;
        // SAFETY: a place for a handle, or null.
        unsafe { put(context, handle(is)) }
    }

    /// The context of a stream. None is a part of a device.
    fn cuStreamGetCtx_v2(stream: Handle, context: *mut Handle, green: *mut Handle) |call| {
        let is = stream_of(call, stream)?.context.handle;
        // SAFETY: places for handles, or null.
        unsafe {
            put_if_asked(green, std::ptr::null_mut());
            put(context, handle(is))
        }
    }

    /// The device of a stream.
    fn cuStreamGetDevice(stream: Handle, device: *mut DeviceNumber) |call| {
        let is = stream_of(call, stream)?.context.device.ordinal;
        // SAFETY: a place for a number, or null.
        unsafe { put(device, is as i32) }
    }

    /// Lets a stream wait for an event.
    fn cuStreamWaitEvent(stream: Handle, event: Handle, flags: u32) |call| {
        let stream = stream_of(call, stream)?;
        let event = event_of(event)?;
        if flags & !1 != 0 {
            return Err(Status::INVALID_VALUE);
        }
        if flags & EXTERNAL != 0 && stream.is_capturing() {
            return stream.give(Work::Wait(event)).map(|_| ());
        }
        event.let_wait(&stream)
    }

    /// Calls a function of the program when the stream comes by, errors or not.
    fn cuStreamAddCallback(
        stream: Handle, callback: Option<unsafe extern "C" fn(*mut c_void, i32, *mut c_void)>, data: *mut c_void,
        flags: u32
    ) |call| {
        let found = stream_of(call, stream)?;
        let function = callback.filter(|_| flags == 0).ok_or(Status::INVALID_VALUE)?;
        if found.is_capturing() {
            return Err(Status::STREAM_CAPTURE_UNSUPPORTED);
        }
        let callback = Callback { function, stream: stream.addr(), data: data.expose_provenance() };
        found.give(Work::Callback(callback)).map(|_| ())
    }

    /// Calls a function of the program when the stream comes by.
    fn cuLaunchHostFunc(stream: Handle, function: Option<unsafe extern "C" fn(*mut c_void)>, data: *mut c_void) |call| {
        let stream = stream_of(call, stream)?;
        let function = function.ok_or(Status::INVALID_VALUE)?;
        stream.give(Work::Host(HostFunction { function, data: data.expose_provenance() })).map(|_| ())
    }

    /// Calls a function of the program when the stream comes by. How it is waited for makes no difference.
    fn cuLaunchHostFunc_v2(
        stream: Handle, function: Option<unsafe extern "C" fn(*mut c_void)>, data: *mut c_void, mode: u32
    ) |call| {
        let _ = mode;
        let stream = stream_of(call, stream)?;
        let function = function.ok_or(Status::INVALID_VALUE)?;
        stream.give(Work::Host(HostFunction { function, data: data.expose_provenance() })).map(|_| ())
    }

    /// Whether a stream has nothing to do.
    fn cuStreamQuery(stream: Handle) |call| {
        let stream = stream_of(call, stream)?;
        if stream.is_capturing() {
            stream.with_capture(|capturing| capturing.iter_mut().for_each(|capturing| capturing.invalidate()));
            return Err(Status::STREAM_CAPTURE_UNSUPPORTED);
        }
        if !stream.is_idle() {
            return Err(Status::NOT_READY);
        }
        stream.context.flush();
        stream.context.check()
    }

    /// Waits for a stream.
    fn cuStreamSynchronize(stream: Handle) |call| {
        let stream = stream_of(call, stream)?;
        if stream.role == Role::Default {
            crate::machine::graph::may_wait()?;
        }
        stream.synchronize()
    }

    /// Attributes of streams have no effect; they are kept nowhere.
    fn cuStreamCopyAttributes(to: Handle, from: Handle) |call| {
        stream_of(call, to)?;
        stream_of(call, from)?;
        Ok(())
    }

    /// An attribute of a stream: its priority, or zeros.
    fn cuStreamGetAttribute(stream: Handle, attribute: u32, value: *mut [u32; 16]) |call| {
        let stream = stream_of(call, stream)?;
        let mut found = [0; 16];
        match attribute {
            // The cache; how to wait; domains.
            1 | 3 | 9 | 10 => {}
            8 => found[0] = stream.priority as u32,
            _ => return Err(Status::INVALID_VALUE),
        }
        // SAFETY: a place for the union, or null.
        unsafe { put(value, found) }
    }

    /// Attributes of streams only make them faster: they have no effect.
    fn cuStreamSetAttribute(stream: Handle, attribute: u32, value: *const [u32; 16]) |call| {
        stream_of(call, stream)?;
        // SAFETY: the union, or null.
        unsafe { super::types::get(value) }?;
        if matches!(attribute, 1 | 3 | 8..=10) { Ok(()) } else { Err(Status::INVALID_VALUE) }
    }

    /// Writes a word when the stream comes by.
    fn cuStreamWriteValue32_v2(stream: Handle, address: DevicePointer, value: u32, flags: u32) |call| {
        let _ = flags;
        write(stream_of(call, stream)?, address, Value::Word(value))
    }

    /// Writes a word when the stream comes by.
    fn cuStreamWriteValue64_v2(stream: Handle, address: DevicePointer, value: u64, flags: u32) |call| {
        let _ = flags;
        write(stream_of(call, stream)?, address, Value::Double(value))
    }

    /// Lets a stream wait for a word.
    fn cuStreamWaitValue32_v2(stream: Handle, address: DevicePointer, value: u32, flags: u32) |call| {
        wait(stream_of(call, stream)?, address, Value::Word(value), flags)
    }

    /// Lets a stream wait for a word.
    fn cuStreamWaitValue64_v2(stream: Handle, address: DevicePointer, value: u64, flags: u32) |call| {
        wait(stream_of(call, stream)?, address, Value::Double(value), flags)
    }

    /// Writes words, and waits for some, in a stream.
    fn cuStreamBatchMemOp_v2(stream: Handle, count: u32, operations: *const BatchOperation, flags: u32) |call| {
        let _ = flags;
        // SAFETY: so many structures, or null.
        unsafe { batch(&stream_of(call, stream)?, count, operations) }
    }

    /// Writes words, and waits for some, in a stream.
    fn cuStreamBatchMemOp(stream: Handle, count: u32, operations: *const BatchOperation, flags: u32) |call| {
        let _ = flags;
        // SAFETY: so many structures, or null.
        unsafe { batch(&stream_of(call, stream)?, count, operations) }
    }

    /// Writes a word when the stream comes by.
    fn cuStreamWriteValue32(stream: Handle, address: DevicePointer, value: u32, flags: u32) |call| {
        let _ = flags;
        write(stream_of(call, stream)?, address, Value::Word(value))
    }

    /// Writes a word when the stream comes by.
    fn cuStreamWriteValue64(stream: Handle, address: DevicePointer, value: u64, flags: u32) |call| {
        let _ = flags;
        write(stream_of(call, stream)?, address, Value::Double(value))
    }

    /// Lets a stream wait for a word.
    fn cuStreamWaitValue32(stream: Handle, address: DevicePointer, value: u32, flags: u32) |call| {
        wait(stream_of(call, stream)?, address, Value::Word(value), flags)
    }

    /// Lets a stream wait for a word.
    fn cuStreamWaitValue64(stream: Handle, address: DevicePointer, value: u64, flags: u32) |call| {
        wait(stream_of(call, stream)?, address, Value::Double(value), flags)
    }

    /// What there is to know of a stream's capture.
    fn cuStreamGetCaptureInfo(stream: Handle, status: *mut i32, id: *mut u64) |call| {
        let stream = stream_of(call, stream)?;
        let (graph, nodes, edges, count) =
            (std::ptr::null_mut(), std::ptr::null_mut(), std::ptr::null_mut(), std::ptr::null_mut());
        // SAFETY: places for the results, or null.
        unsafe { put_capture_info(stream, status, id, graph, nodes, edges, count) }
    }

    /// From now on, what is given to a stream becomes a graph.
    fn cuStreamBeginCapture_v2(stream: Handle, mode: u32) |call| {
        begin(&stream_of(call, stream)?, mode, None)
    }

    /// From now on, what is given to a stream becomes a graph.
    fn cuStreamBeginCapture(stream: Handle) |call| {
        begin(&stream_of(call, stream)?, 0, None)
    }

    /// From now on, what is given to a stream becomes part of a graph.
    fn cuStreamBeginCaptureToGraph(
        stream: Handle, graph: Handle, nodes: *const Handle, edges: *const c_void, count: usize, mode: u32
    ) |call| {
        let stream = stream_of(call, stream)?;
        let graph: Arc<Graph> = machine()?.handles.get(number(graph)).ok_or(Status::INVALID_VALUE)?;
        let _ = edges;
        // SAFETY: so many handles, or null.
        let nodes: Vec<u64> = unsafe { super::types::list(nodes, count) }?.into_iter().map(number).collect();
        if nodes.iter().any(|node| !graph.nodes().contains_key(node)) {
            return Err(Status::INVALID_VALUE);
        }
        begin(&stream, mode, Some((graph, nodes)))
    }

    /// The graph that a stream's capture has made.
    fn cuStreamEndCapture(stream: Handle, graph: *mut Handle) |call| {
        let stream = stream_of(call, stream)?;
        if graph.is_null() {
            return Err(Status::INVALID_VALUE);
        }
        let made = Capture::end(&stream);
        // SAFETY: a place for a handle.
        unsafe { put(graph, made.as_ref().map_or(std::ptr::null_mut(), |made| handle(made.handle)))? };
        made.map(|_| ())
    }

    /// Whether a stream is captured: 1, or 2 if the capture is broken.
    fn cuStreamIsCapturing(stream: Handle, status: *mut i32) |call| {
        let (is, ..) = capture_info(&stream_of(call, stream)?);
        // SAFETY: a place for a number, or null.
        unsafe { put(status, is) }
    }

    /// What there is to know of a stream's capture.
    fn cuStreamGetCaptureInfo_v2(
        stream: Handle, status: *mut i32, id: *mut u64, graph: *mut Handle, nodes: *mut *const Handle, count: *mut usize
    ) |call| {
        let stream = stream_of(call, stream)?;
        // SAFETY: places for the results, or null.
        unsafe { put_capture_info(stream, status, id, graph, nodes, std::ptr::null_mut(), count) }
    }

    /// What there is to know of a stream's capture. No edge has data.
    fn cuStreamGetCaptureInfo_v3(
        stream: Handle, status: *mut i32, id: *mut u64, graph: *mut Handle, nodes: *mut *const Handle,
        edges: *mut *const c_void, count: *mut usize
    ) |call| {
        let stream = stream_of(call, stream)?;
        // SAFETY: places for the results, or null.
        unsafe { put_capture_info(stream, status, id, graph, nodes, edges, count) }
    }

    /// Changes what the next node of a capture comes after.
    fn cuStreamUpdateCaptureDependencies(stream: Handle, nodes: *const Handle, count: usize, flags: u32) |call| {
        // SAFETY: so many handles, or null.
        unsafe { update_capture(stream_of(call, stream)?, nodes, count, flags) }
    }

    /// Changes what the next node of a capture comes after.
    fn cuStreamUpdateCaptureDependencies_v2(
        stream: Handle, nodes: *const Handle, edges: *const c_void, count: usize, flags: u32
    ) |call| {
        let _ = edges;
        // SAFETY: so many handles, or null.
        unsafe { update_capture(stream_of(call, stream)?, nodes, count, flags) }
    }

    /// Says which calls captures forbid to this thread.
    fn cuThreadExchangeStreamCaptureMode(exchanged: *mut u32) {
        // SAFETY: a number, or null.
        let new = unsafe { super::types::get(exchanged) }?;
        mode(new)?;
        // SAFETY: a place for a number.
        unsafe { put(exchanged, THREAD_MODE.replace(new)) }
    }

    /// Makes an event.
    fn cuEventCreate(event: *mut Handle, flags: u32) {
        let context = Context::current()?;
        // Blocking waits; no times; for other processes, which is refused.
        if flags & 4 != 0 {
            return Err(crate::machine::report::not_supported("events for other processes (CU_EVENT_INTERPROCESS)"));
        }
        if event.is_null() || flags & !3 != 0 {
            return Err(Status::INVALID_VALUE);
        }
        let number = handles::next();
        context.machine().handles.set(number, Arc::new(Event::new(context, number, flags)));
        // SAFETY: a place for a handle.
        unsafe { put(event, handle(number)) }
    }

    /// Notes what a stream has been given.
    fn cuEventRecord(event: Handle, stream: Handle) |call| {
        event_of(event)?.record(&stream_of(call, stream)?)
    }

    /// Notes what a stream has been given.
    fn cuEventRecordWithFlags(event: Handle, stream: Handle, flags: u32) |call| {
        if flags & !1 != 0 {
            return Err(Status::INVALID_VALUE);
        }
        let (event, stream) = (event_of(event)?, stream_of(call, stream)?);
        if flags & EXTERNAL != 0 && stream.is_capturing() {
            return stream.give(Work::Record(event)).map(|_| ());
        }
        event.record(&stream)
    }

    /// Whether all that was noted is done.
    fn cuEventQuery(event: Handle) {
        let event = event_of(event)?;
        event.query()?;
        event.context.check_sticky()
    }

    /// Waits for all that was noted.
    fn cuEventSynchronize(event: Handle) {
        event_of(event)?.synchronize()
    }

    /// Destroys an event.
    fn cuEventDestroy_v2(event: Handle) {
        destroy_event(event)
    }

    /// Destroys an event.
    fn cuEventDestroy(event: Handle) {
        destroy_event(event)
    }

    /// Milliseconds between two events.
    fn cuEventElapsedTime_v2(milliseconds: *mut f32, start: Handle, end: Handle) {
        let time = event_of(end)?.since(&*event_of(start)?)?;
        // SAFETY: a place for a number, or null.
        unsafe { put(milliseconds, time) }
    }

    /// Milliseconds between two events.
    fn cuEventElapsedTime(milliseconds: *mut f32, start: Handle, end: Handle) {
        let time = event_of(end)?.since(&*event_of(start)?)?;
        // SAFETY: a place for a number, or null.
        unsafe { put(milliseconds, time) }
    }
}
