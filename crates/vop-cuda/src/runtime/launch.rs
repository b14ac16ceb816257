//! Launches, and what the host's code of `kernel<<<…>>>` calls.

use std::cell::RefCell;
use std::ffi::c_void;

use super::device::has_threads;
use super::function::driver_config;
use super::types::{Dim3, LaunchConfig};
use super::{context, driver, put, registry, runtime};
use crate::abi::Call;
use crate::status::{Answer, Status};

/// What stands between `<<<` and `>>>`.
#[derive(Clone, Copy)]
struct Configuration {
    grid: Dim3,
    block: Dim3,
    shared: usize,
    stream: *mut c_void,
}

thread_local! {
    /// Configurations whose launch has not come yet: arguments of one launch may launch something themselves.
    static PENDING: RefCell<Vec<Configuration>> = const { RefCell::new(Vec::new()) };
}

/// Keeps the configuration of a launch. 0 means that the launch comes.
pub unsafe extern "C" fn __cudaPushCallConfiguration(
    grid: Dim3,
    block: Dim3,
    shared: usize,
    stream: *mut c_void,
) -> u32 {
    let status = crate::abi::guarded("__cudaPushCallConfiguration", |_| {
        PENDING.with_borrow_mut(|pending| pending.push(Configuration { grid, block, shared, stream }));
        Ok(())
    });
    u32::from(status != Status::SUCCESS)
}

runtime! {
    /// Gives the configuration back that was kept last.
    fn __cudaPopCallConfiguration(grid: *mut Dim3, block: *mut Dim3, shared: *mut usize, stream: *mut c_void) {
        let Configuration { grid: g, block: b, shared: s, stream: to } =
            PENDING.with_borrow_mut(Vec::pop).ok_or(Status::MISSING_CONFIGURATION)?;
        unsafe {
            put(grid, g)?;
            put(block, b)?;
            put(shared, s)?;
            put(stream.cast(), to)
        }
    }

    /// The kernel of a host function, for [`__cudaLaunchKernel`].
    fn __cudaGetKernel(kernel: *mut *mut c_void, func: *const c_void) {
        // The generated code asks once, and launches with what it gets, whatever the answer was. So a kernel that cannot be had now
        // is asked for again by its launch, which then gets the reason.
        unsafe { put(kernel, func.cast_mut())? };
        Ok(())
    }

    /// Launches a kernel.
    fn __cudaLaunchKernel(
        kernel: *mut c_void, grid: Dim3, block: Dim3, arguments: *mut *mut c_void, shared: usize, stream: *mut c_void,
    ) |call| {
        launch(call, kernel, grid, block, arguments, shared, stream, false)
    }

    /// Launches a kernel.
    fn cudaLaunchKernel(
        func: *const c_void, grid: Dim3, block: Dim3, arguments: *mut *mut c_void, shared: usize, stream: *mut c_void,
    ) |call| {
        launch(call, func, grid, block, arguments, shared, stream, false)
    }

    /// Launches a kernel whose blocks may wait for each other.
    fn cudaLaunchCooperativeKernel(
        func: *const c_void, grid: Dim3, block: Dim3, arguments: *mut *mut c_void, shared: usize, stream: *mut c_void,
    ) |call| {
        launch(call, func, grid, block, arguments, shared, stream, true)
    }

    /// Launches a kernel with attributes.
    fn cudaLaunchKernelExC(config: *const LaunchConfig, func: *const c_void, arguments: *mut *mut c_void) |call| {
        let mut config = unsafe { driver_config(config)? };
        context::ensure()?;
        let kernel = registry::kernel(func)?;
        fits(config.grid, config.block)?;
        config.stream = context::stream(call, config.stream);
        let config = (&raw const config).cast_mut();
        let launched = driver!(cuLaunchKernelEx(config.cast(), kernel.cast(), arguments.cast(), std::ptr::null_mut()));
        launched.map_err(no_function)
    }

    /// Calls a function of the host in the order of a stream.
    fn cudaLaunchHostFunc(stream: *mut c_void, function: *mut c_void, data: *mut c_void) |call| {
        if function.is_null() {
            return Err(Status::INVALID_VALUE);
        }
        context::ensure()?;
        // SAFETY: it is a function of this type, which the manual says.
        let function: unsafe extern "C" fn(*mut c_void) = unsafe { std::mem::transmute(function) };
        driver!(cuLaunchHostFunc(context::stream(call, stream).cast(), Some(function), data))
    }

    /// Calls a function of the host in the order of a stream. How the device waits makes no difference here.
    fn cudaLaunchHostFunc_v2(stream: *mut c_void, function: *mut c_void, data: *mut c_void, mode: u32) |call| {
        if function.is_null() || mode > 1 {
            return Err(Status::INVALID_VALUE);
        }
        context::ensure()?;
        // SAFETY: it is a function of this type, which the manual says.
        let function: unsafe extern "C" fn(*mut c_void) = unsafe { std::mem::transmute(function) };
        driver!(cuLaunchHostFunc(context::stream(call, stream).cast(), Some(function), data))
    }
}

#[allow(clippy::too_many_arguments, reason = "the function of CUDA has as many")]
fn launch(
    call: Call,
    function: *const c_void,
    grid: Dim3,
    block: Dim3,
    arguments: *mut *mut c_void,
    shared: usize,
    stream: *mut c_void,
    is_cooperative: bool,
) -> Answer {
    context::ensure()?;
    let kernel = registry::kernel(function)?;
    fits(grid, block)?;
    let shared = u32::try_from(shared).map_err(|_| Status::INVALID_VALUE)?;
    let (g, b) = (grid, block);
    let stream = context::stream(call, stream);
    let launched = if is_cooperative {
        driver!(cuLaunchCooperativeKernel(
            kernel.cast(),
            g.x,
            g.y,
            g.z,
            b.x,
            b.y,
            b.z,
            shared,
            stream.cast(),
            arguments.cast()
        ))
    } else {
        let none = std::ptr::null_mut();
        driver!(cuLaunchKernel(
            kernel.cast(),
            g.x,
            g.y,
            g.z,
            b.x,
            b.y,
            b.z,
            shared,
            stream.cast(),
            arguments.cast(),
            none
        ))
    };
    launched.map_err(no_function)
}

/// A handle that the driver does not know is no kernel.
fn no_function(status: Status) -> Status {
    if status == Status::INVALID_HANDLE { Status::INVALID_DEVICE_FUNCTION } else { status }
}

/// Checks a launch against what each device allows. The driver says only that a value is invalid.
fn fits(grid: Dim3, block: Dim3) -> Answer {
    let threads = u64::from(block.x) * u64::from(block.y) * u64::from(block.z);
    let is_small = threads <= 1024 && block.z <= 64 && grid.x <= i32::MAX as u32 && grid.y <= 65535 && grid.z <= 65535;
    if has_threads(grid, block) && is_small { Ok(()) } else { Err(Status::INVALID_CONFIGURATION) }
}
