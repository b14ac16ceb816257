//! Launches, and what kernels say of themselves.

#![allow(unsafe_code, reason = "callers pass pointers")]

use std::ffi::{CString, c_char, c_void};
use std::sync::atomic::Ordering;
use std::sync::{Arc, Mutex, PoisonError};

use super::module::function_of;
use super::stream::stream_of;
use super::types::{Handle, get, handle, put};
use crate::abi::api;
use crate::machine::launch::{Launch, Shape};
use crate::machine::module::{Function, SHARED};
use crate::machine::stream::Stream;
use crate::machine::work::Work;
use crate::machine::{Context, Machine, attributes, machine, report};
use crate::status::{Answer, Status};

/// `CU_LAUNCH_PARAM_BUFFER_POINTER` and `_SIZE`, and the end of the list.
const BUFFER_POINTER: usize = 1;
const BUFFER_SIZE: usize = 2;

/// A launch with the arguments that `parameters` or `extra` lead to.
///
/// # Safety
/// `parameters` is null, or has a pointer for each of the kernel's parameters; `extra` is null, or a list as CUDA describes it.
pub(super) unsafe fn launch(
    function: &Arc<Function>,
    shape: Shape,
    parameters: *const *const c_void,
    extra: *const *const c_void,
) -> Answer<Launch> {
    let mut buffer: Option<(*const u8, usize)> = None;
    if !extra.is_null() {
        if !parameters.is_null() {
            return Err(Status::INVALID_VALUE);
        }
        let (mut pointer, mut size, mut at) = (std::ptr::null::<u8>(), 0, 0);
        loop {
            // SAFETY: the list has pairs until its end.
            let (key, value) = unsafe {
                let key = extra.add(at).read_unaligned().addr();
                if key == 0 {
                    break;
                }
                (key, extra.add(at + 1).read_unaligned())
            };
            match key {
                BUFFER_POINTER => pointer = value.cast(),
                // SAFETY: the value is a pointer to a number.
                BUFFER_SIZE => size = unsafe { get(value.cast::<usize>()) }?,
                _ => return Err(Status::INVALID_VALUE),
            }
            at += 2;
        }
        if !pointer.is_null() {
            buffer = Some((pointer, size));
        }
    }
    Launch::new(function, shape, |number, offset, bytes| {
        let from = match buffer {
            Some((pointer, size)) => {
                if offset + bytes > size {
                    return Err(Status::INVALID_VALUE);
                }
                pointer.wrapping_add(offset)
            }
            None if parameters.is_null() => return Err(Status::INVALID_VALUE),
            // SAFETY: there is a pointer for each parameter.
            None => unsafe { parameters.add(number).read_unaligned() }.cast(),
        };
        if from.is_null() {
            return Err(Status::INVALID_VALUE);
        }
        // SAFETY: the caller passes as many bytes as the parameter has.
        Ok(unsafe { std::slice::from_raw_parts(from, bytes) }.to_vec())
    })
}

/// `CUlaunchConfig`.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct LaunchConfig {
    grid: [u32; 3],
    block: [u32; 3],
    shared: u32,
    stream: Handle,
    attributes: *const LaunchAttribute,
    count: u32,
}

/// `CUlaunchAttribute`.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct LaunchAttribute {
    id: u32,
    padding: u32,
    value: [u32; 16],
}

/// What attributes say of a launch. Those that only make it faster have no effect.
///
/// # Safety
/// The configuration's list is as long as it says.
unsafe fn shape_of(config: &LaunchConfig) -> Answer<Shape> {
    let mut is_cooperative = false;
    // SAFETY: as the caller says.
    for attribute in unsafe { super::types::list(config.attributes, config.count as usize) }? {
        is_cooperative = cooperative(attribute.id, &attribute.value)?.unwrap_or(is_cooperative);
    }
    Ok(Shape { grid: config.grid, block: config.block, shared: config.shared, is_cooperative })
}

/// What an attribute says of whether blocks may wait for one another. Those that only make a launch faster say nothing.
///
/// # Errors
/// It asks for what is not there.
pub(super) fn cooperative(id: u32, value: &[u32; 16]) -> Answer<Option<bool>> {
    let [first, second, third, ..] = *value;
    match id {
        // Nothing; the cache; how to wait; programmatic order, which is kept; priority; domains; the carve-out.
        0 | 1 | 3 | 5 | 6 | 8..=10 | 14..=16 => Ok(None),
        COOPERATIVE => Ok(Some(first != 0)),
        // Clusters of one block are none.
        4 | 11 if [first, second, third] == [1, 1, 1] => Ok(None),
        4 | 11 => Err(report::not_supported("launches with clusters")),
        _ => Err(report::not_supported(&format!("launches with the attribute {id}"))),
    }
}

/// `CU_LAUNCH_ATTRIBUTE_COOPERATIVE`.
pub(super) const COOPERATIVE: u32 = 2;

fn give(stream: &Arc<Stream>, function: &Arc<Function>, launch: Launch) -> Answer {
    if !std::ptr::eq(function.context.device, stream.context.device) {
        return Err(Status::INVALID_HANDLE);
    }
    if launch.shape.is_cooperative {
        fits_together(stream.context, function, launch.shape)?;
    }
    stream.give(Work::Launch(Arc::new(launch))).map(|_| ())
}

/// Whether all blocks of a cooperative launch are on the device at once.
pub(super) fn fits_together(context: &Context, function: &Arc<Function>, shape: Shape) -> Answer {
    let threads = shape.block.iter().product::<u32>();
    let each = blocks_of_multiprocessor(context.machine(), function, threads as i32, shape.shared as usize)?;
    let blocks: u64 = shape.grid.iter().map(|n| u64::from(*n)).product();
    if blocks > each as u64 * attributes::multiprocessors() as u64 {
        return Err(Status::COOPERATIVE_LAUNCH_TOO_LARGE);
    }
    Ok(())
}

/// How many blocks a multiprocessor holds: as many as its threads, its blocks and its shared memory allow.
fn blocks_of_multiprocessor(machine: &Machine, function: &Function, threads: i32, dynamic: usize) -> Answer<i32> {
    let kernel = function.kernel()?;
    let most = kernel.max_threads().map_or(1024, |most| most.min(1024));
    if threads <= 0 {
        return Err(Status::INVALID_VALUE);
    }
    if threads as u64 > most {
        return Ok(0);
    }
    let (all, blocks) = attributes::residents(machine);
    // Threads come in warps of 32.
    let by_threads = all / ((threads + 31) / 32 * 32);
    let shared = kernel.shared_bytes() + dynamic;
    if shared > attributes::shared_by_request(machine) as usize {
        return Ok(0);
    }
    // A block takes what the system keeps as well, in steps of 128 bytes.
    let by_shared = attributes::shared_of_multiprocessor(machine) / ((shared + 1024).next_multiple_of(128) as i32);
    Ok(by_threads.min(blocks).min(by_shared))
}

unsafe fn potential(
    grid: *mut i32,
    block: *mut i32,
    function: Handle,
    dynamic: Option<unsafe extern "C" fn(i32) -> usize>,
    shared: usize,
    limit: i32,
) -> Answer {
    let machine = machine()?;
    let function = function_of(function)?;
    let most = function.kernel()?.max_threads().map_or(1024, |most| most.min(1024)) as i32;
    let most = if limit > 0 { most.min(limit) } else { most };
    let (mut best, mut best_threads, mut best_blocks) = (0, 0, 0);
    let mut threads = most / 32 * 32;
    if threads == 0 {
        threads = most;
    }
    while threads > 0 {
        let bytes = match dynamic {
            // SAFETY: the program gave the function for this.
            Some(dynamic) => unsafe { dynamic(threads) },
            None => shared,
        };
        let blocks = blocks_of_multiprocessor(machine, &function, threads, bytes)?;
        // The largest of equal blocks, as the first one found.
        if blocks * threads > best {
            (best, best_threads, best_blocks) = (blocks * threads, threads, blocks);
        }
        threads -= 32;
    }
    // SAFETY: places for numbers, or null.
    unsafe {
        put(grid, best_blocks * attributes::multiprocessors())?;
        put(block, best_threads)
    }
}

/// A `CUfunction_attribute` of a kernel.
pub(super) fn attribute_of(function: &Function, attribute: i32) -> Answer<i32> {
    let kernel = function.kernel()?;
    let architecture = machine()?.settings.architecture as i32;
    Ok(match attribute {
        0 => kernel.max_threads().map_or(1024, |most| most.min(1024)) as i32,
        1 => kernel.shared_bytes() as i32,
        // Constants, local memory and registers are what a compiler for a card would decide.
        2 | 3 => 0,
        4 => REGISTERS,
        // What the code was compiled for, and what it was made into on the device.
        5 => function.architecture().map_or(architecture, |number| number as i32),
        6 => architecture,
        7 => 0,
        8 => {
            let set = function.max_dynamic_shared.load(Ordering::Relaxed);
            set.max(SHARED.saturating_sub(kernel.shared_bytes() as u32)) as i32
        }
        9 => function.carveout.load(Ordering::Relaxed),
        // Clusters: none is needed.
        10..=15 => 0,
        _ => return Err(Status::INVALID_VALUE),
    })
}

/// Registers of a thread, as kernels say it: so many that they limit nothing.
const REGISTERS: i32 = 32;

/// Sets a `CUfunction_attribute` of a kernel.
pub(super) fn set_attribute_of(function: &Function, attribute: i32, value: i32) -> Answer {
    match attribute {
        8 => {
            let most = attributes::shared_by_request(machine()?) as usize;
            let kernel = function.kernel()?;
            let value = u32::try_from(value).map_err(|_| Status::INVALID_VALUE)?;
            if value as usize + kernel.shared_bytes() > most {
                return Err(Status::INVALID_VALUE);
            }
            function.max_dynamic_shared.store(value, Ordering::Relaxed);
        }
        9 if (-1..=100).contains(&value) => function.carveout.store(value, Ordering::Relaxed),
        _ => return Err(Status::INVALID_VALUE),
    }
    Ok(())
}

/// A text that stays for ever: names of kernels are few.
pub(super) fn kept_text(text: &str) -> Answer<*const c_char> {
    static KEPT: Mutex<Vec<CString>> = Mutex::new(Vec::new());
    let mut kept = KEPT.lock().unwrap_or_else(PoisonError::into_inner);
    if let Some(known) = kept.iter().find(|known| known.to_bytes() == text.as_bytes()) {
        return Ok(known.as_ptr());
    }
    let new = CString::new(text).map_err(|_| Status::INVALID_VALUE)?;
    kept.push(new);
    kept.last().map(|new| new.as_ptr()).ok_or(Status::UNKNOWN)
}

api! {
    /// Launches a kernel.
    fn cuLaunchKernel(
        function: Handle, grid_x: u32, grid_y: u32, grid_z: u32, block_x: u32, block_y: u32, block_z: u32, shared: u32,
        stream: Handle, parameters: *mut *mut c_void, extra: *mut *mut c_void
    ) |call| {
        let stream = stream_of(call, stream)?;
        let function = function_of(function)?;
        let shape =
            Shape { grid: [grid_x, grid_y, grid_z], block: [block_x, block_y, block_z], shared, is_cooperative: false };
        // SAFETY: the caller's arguments.
        let launch = unsafe { launch(&function, shape, parameters.cast(), extra.cast()) }?;
        give(&stream, &function, launch)
    }

    /// Launches a kernel with attributes.
    fn cuLaunchKernelEx(
        config: *const LaunchConfig, function: Handle, parameters: *mut *mut c_void, extra: *mut *mut c_void
    ) |call| {
        // SAFETY: the structure, or null.
        let config = unsafe { get(config) }?;
        let stream = stream_of(call, config.stream)?;
        let function = function_of(function)?;
        // SAFETY: the caller's arguments.
        let launch = unsafe { launch(&function, shape_of(&config)?, parameters.cast(), extra.cast()) }?;
        give(&stream, &function, launch)
    }

    /// Launches a kernel whose blocks may wait for one another.
    fn cuLaunchCooperativeKernel(
        function: Handle, grid_x: u32, grid_y: u32, grid_z: u32, block_x: u32, block_y: u32, block_z: u32, shared: u32,
        stream: Handle, parameters: *mut *mut c_void
    ) |call| {
        let stream = stream_of(call, stream)?;
        let function = function_of(function)?;
        let shape =
            Shape { grid: [grid_x, grid_y, grid_z], block: [block_x, block_y, block_z], shared, is_cooperative: true };
        // SAFETY: the caller's arguments.
        let launch = unsafe { launch(&function, shape, parameters.cast(), std::ptr::null()) }?;
        give(&stream, &function, launch)
    }

    /// What a kernel says of itself.
    fn cuFuncGetAttribute(value: *mut i32, attribute: i32, function: Handle) {
        let is = attribute_of(&*function_of(function)?, attribute)?;
        // SAFETY: a place for a number, or null.
        unsafe { put(value, is) }
    }

    /// Sets what a kernel may use.
    fn cuFuncSetAttribute(function: Handle, attribute: i32, value: i32) {
        set_attribute_of(&*function_of(function)?, attribute, value)
    }

    /// Prefers shared memory or the cache, which has no effect.
    fn cuFuncSetCacheConfig(function: Handle, config: i32) {
        function_of(function)?;
        if (0..=3).contains(&config) { Ok(()) } else { Err(Status::INVALID_VALUE) }
    }

    /// Sets the width of the banks of shared memory, which has no effect.
    fn cuFuncSetSharedMemConfig(function: Handle, config: i32) {
        function_of(function)?;
        if (0..=2).contains(&config) { Ok(()) } else { Err(Status::INVALID_VALUE) }
    }

    /// The module of a kernel.
    fn cuFuncGetModule(module: *mut Handle, function: Handle) {
        let is = function_of(function)?.module;
        // SAFETY: a place for a handle, or null.
        unsafe { put(module, handle(is)) }
    }

    /// The name of a kernel.
    fn cuFuncGetName(name: *mut *const c_char, function: Handle) {
        let text = kept_text(&function_of(function)?.name)?;
        // SAFETY: a place for a pointer, or null.
        unsafe { put(name, text) }
    }

    /// The place and size of a parameter.
    fn cuFuncGetParamInfo(function: Handle, index: usize, offset: *mut usize, size: *mut usize) {
        let kernel = function_of(function)?.kernel()?;
        let parameter = kernel.parameters().get(index).ok_or(Status::INVALID_VALUE)?;
        // SAFETY: places for numbers, or null.
        unsafe {
            put(offset, parameter.offset())?;
            super::types::put_if_asked(size, parameter.bytes);
        }
        Ok(())
    }

    /// The number of parameters.
    fn cuFuncGetParamCount(function: Handle, count: *mut usize) {
        let kernel = function_of(function)?.kernel()?;
        // SAFETY: a place for a number, or null.
        unsafe { put(count, kernel.parameters().len()) }
    }

    /// Whether a kernel has been read.
    fn cuFuncIsLoaded(state: *mut i32, function: Handle) {
        function_of(function)?;
        // SAFETY: a place for a number, or null.
        unsafe { put(state, 1) }
    }

    /// Reads a kernel.
    fn cuFuncLoad(function: Handle) {
        function_of(function)?.kernel().map(|_| ())
    }

    /// How many blocks of a kernel a multiprocessor holds.
    fn cuOccupancyMaxActiveBlocksPerMultiprocessor(count: *mut i32, function: Handle, threads: i32, dynamic: usize) {
        let found = blocks_of_multiprocessor(machine()?, &*function_of(function)?, threads, dynamic)?;
        // SAFETY: a place for a number, or null.
        unsafe { put(count, found) }
    }

    /// How many blocks of a kernel a multiprocessor holds.
    fn cuOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(
        count: *mut i32, function: Handle, threads: i32, dynamic: usize, flags: u32
    ) {
        if flags & !1 != 0 {
            return Err(Status::INVALID_VALUE);
        }
        let found = blocks_of_multiprocessor(machine()?, &*function_of(function)?, threads, dynamic)?;
        // SAFETY: a place for a number, or null.
        unsafe { put(count, found) }
    }

    /// The block that fills a multiprocessor best, and the grid that fills the device.
    fn cuOccupancyMaxPotentialBlockSize(
        grid: *mut i32, block: *mut i32, function: Handle, dynamic: Option<unsafe extern "C" fn(i32) -> usize>,
        shared: usize, limit: i32
    ) {
        // SAFETY: the caller's arguments.
        unsafe { potential(grid, block, function, dynamic, shared, limit) }
    }

    /// The block that fills a multiprocessor best, and the grid that fills the device.
    fn cuOccupancyMaxPotentialBlockSizeWithFlags(
        grid: *mut i32, block: *mut i32, function: Handle, dynamic: Option<unsafe extern "C" fn(i32) -> usize>,
        shared: usize, limit: i32, flags: u32
    ) {
        if flags & !1 != 0 {
            return Err(Status::INVALID_VALUE);
        }
        // SAFETY: the caller's arguments.
        unsafe { potential(grid, block, function, dynamic, shared, limit) }
    }

    /// There are no clusters.
    fn cuOccupancyMaxPotentialClusterSize(size: *mut i32, function: Handle, config: *const LaunchConfig) {
        let _ = (size, function, config);
        Err(report::not_supported("cuOccupancyMaxPotentialClusterSize"))
    }

    /// There are no clusters.
    fn cuOccupancyMaxActiveClusters(count: *mut i32, function: Handle, config: *const LaunchConfig) {
        let _ = (count, function, config);
        Err(report::not_supported("cuOccupancyMaxActiveClusters"))
    }

    /// The dynamic shared memory that so many blocks leave to each.
    fn cuOccupancyAvailableDynamicSMemPerBlock(bytes: *mut usize, function: Handle, blocks: i32, threads: i32) {
        let machine = machine()?;
        let function = function_of(function)?;
        if blocks <= 0 || blocks > blocks_of_multiprocessor(machine, &function, threads, 0)? {
            return Err(Status::INVALID_VALUE);
        }
        let each = attributes::shared_of_multiprocessor(machine) / blocks / 128 * 128 - 1024;
        let most = each.min(attributes::shared_by_request(machine)) - function.kernel()?.shared_bytes() as i32;
        // SAFETY: a place for a number, or null.
        unsafe { put(bytes, most.max(0) as usize) }
    }
}
