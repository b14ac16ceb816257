//! Attributes of kernels, and how many of their blocks run at once.

use std::ffi::{c_char, c_void};

use super::types::{DriverLaunchConfig, LaunchConfig};
use super::{context, driver, put, registry, runtime};
use crate::status::{Answer, Status};

/// The function of the current context that an address or a handle stands for.
pub(super) fn function(of: *const c_void) -> Answer<*mut c_void> {
    context::ensure()?;
    let kernel = registry::kernel(of)?;
    let mut function: *mut c_void = std::ptr::null_mut();
    match driver!(cuKernelGetFunction((&raw mut function).cast(), kernel.cast())) {
        Ok(()) => Ok(function),
        // It is the handle of a function already, or none at all, which the call that uses it says.
        Err(Status::INVALID_HANDLE) => Ok(kernel),
        Err(status) => Err(status),
    }
}

/// The host function of a kernel that has been used, or the function itself.
pub(super) fn host_function(function: *mut c_void) -> *mut c_void {
    registry::host_function(function, |kernel| {
        let mut of_kernel: *mut c_void = std::ptr::null_mut();
        let found = driver!(cuKernelGetFunction((&raw mut of_kernel).cast(), kernel.cast()));
        kernel == function || found.is_ok() && of_kernel == function
    })
}

/// What is no function is none of the device.
fn invalid(status: Status) -> Status {
    if status == Status::INVALID_HANDLE { Status::INVALID_DEVICE_FUNCTION } else { status }
}

/// `cudaFuncAttributes`.
#[repr(C)]
#[derive(Default)]
pub struct FuncAttributes {
    shared_size: usize,
    const_size: usize,
    local_size: usize,
    /// maxThreadsPerBlock, numRegs, ptxVersion, binaryVersion, cacheModeCA, maxDynamicSharedSizeBytes, preferredShmemCarveout,
    /// clusterDimMustBeSet, requiredClusterWidth, Height, Depth, clusterSchedulingPolicyPreference, nonPortableClusterSizeAllowed.
    numbers: [i32; 13],
    reserved: [i32; 17],
}

/// The attributes in `FuncAttributes::numbers`, by their number in cuda.h.
const NUMBERS: [i32; 13] = [0, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 15, 14];

runtime! {
    /// The attributes of a kernel.
    fn cudaFuncGetAttributes(attributes: *mut FuncAttributes, func: *const c_void) {
        if attributes.is_null() {
            return Err(Status::INVALID_VALUE);
        }
        let function = function(func)?;
        let get = |attribute: i32| -> Answer<i32> {
            let mut value = 0i32;
            driver!(cuFuncGetAttribute(&raw mut value, attribute as _, function.cast())).map_err(invalid)?;
            Ok(value)
        };
        let mut found = FuncAttributes {
            shared_size: get(1)?.max(0) as usize,
            const_size: get(2)?.max(0) as usize,
            local_size: get(3)?.max(0) as usize,
            ..FuncAttributes::default()
        };
        for (to, number) in found.numbers.iter_mut().zip(NUMBERS) {
            // Those of clusters may be unknown.
            *to = if number < 10 { get(number)? } else { get(number).unwrap_or(0) };
        }
        unsafe { put(attributes, found) }
    }

    /// Sets an attribute of a kernel.
    fn cudaFuncSetAttribute(func: *const c_void, attribute: i32, value: i32) {
        driver!(cuFuncSetAttribute(function(func)?.cast(), attribute as _, value)).map_err(invalid)
    }

    /// How a kernel wants memory and L1 cache to be divided, which makes no difference here.
    fn cudaFuncSetCacheConfig(func: *const c_void, config: i32) {
        driver!(cuFuncSetCacheConfig(function(func)?.cast(), config as _)).map_err(invalid)
    }

    /// The width of banks of shared memory, which makes no difference here.
    fn cudaFuncSetSharedMemConfig(func: *const c_void, config: i32) {
        driver!(cuFuncSetSharedMemConfig(function(func)?.cast(), config as _)).map_err(invalid)
    }

    /// The name of a kernel.
    fn cudaFuncGetName(name: *mut *const c_char, func: *const c_void) {
        driver!(cuFuncGetName(name, function(func)?.cast())).map_err(invalid)
    }

    /// Where a parameter of a kernel is.
    fn cudaFuncGetParamInfo(func: *const c_void, index: usize, offset: *mut usize, size: *mut usize) {
        driver!(cuFuncGetParamInfo(function(func)?.cast(), index, offset, size)).map_err(invalid)
    }

    /// How many parameters a kernel has.
    fn cudaFuncGetParamCount(func: *const c_void, count: *mut usize) {
        driver!(cuFuncGetParamCount(function(func)?.cast(), count)).map_err(invalid)
    }

    /// The handle of a kernel, for the driver API.
    fn cudaGetFuncBySymbol(function_: *mut *mut c_void, symbol: *const c_void) {
        unsafe { put(function_, function(symbol)?) }
    }

    /// The handle of a kernel that no context has.
    fn cudaGetKernel(kernel: *mut *mut c_void, func: *const c_void) {
        context::ensure()?;
        unsafe { put(kernel, registry::kernel(func)?) }
    }

    /// Sets an attribute of a kernel for a device.
    fn cudaKernelSetAttributeForDevice(kernel: *mut c_void, attribute: i32, value: i32, device: i32) {
        context::ensure()?;
        driver!(cuKernelSetAttribute(attribute as _, value, kernel.cast(), context::checked(device)?))
    }

    /// How many blocks of a kernel a multiprocessor runs at once.
    fn cudaOccupancyMaxActiveBlocksPerMultiprocessor(count: *mut i32, func: *const c_void, block: i32, shared: usize) {
        let function = function(func)?;
        driver!(cuOccupancyMaxActiveBlocksPerMultiprocessor(count, function.cast(), block, shared)).map_err(invalid)
    }

    /// How many blocks of a kernel a multiprocessor runs at once.
    fn cudaOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(
        count: *mut i32, func: *const c_void, block: i32, shared: usize, flags: u32,
    ) {
        let function = function(func)?;
        driver!(cuOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(count, function.cast(), block, shared, flags))
            .map_err(invalid)
    }

    /// How much dynamic shared memory each of several blocks may have.
    fn cudaOccupancyAvailableDynamicSMemPerBlock(size: *mut usize, func: *const c_void, blocks: i32, block: i32) {
        let function = function(func)?;
        driver!(cuOccupancyAvailableDynamicSMemPerBlock(size, function.cast(), blocks, block)).map_err(invalid)
    }

    /// How many clusters of a kernel run at once.
    fn cudaOccupancyMaxActiveClusters(count: *mut i32, func: *const c_void, config: *const LaunchConfig) {
        let config = unsafe { driver_config(config)? };
        driver!(cuOccupancyMaxActiveClusters(count, function(func)?.cast(), (&raw const config).cast_mut().cast()))
    }

    /// The largest cluster of a kernel.
    fn cudaOccupancyMaxPotentialClusterSize(size: *mut i32, func: *const c_void, config: *const LaunchConfig) {
        let config = unsafe { driver_config(config)? };
        driver!(cuOccupancyMaxPotentialClusterSize(size, function(func)?.cast(), (&raw const config).cast_mut().cast()))
    }
}

/// A launch's description, as the driver has it.
///
/// # Safety
/// The pointer is null or leads to the structure.
pub(super) unsafe fn driver_config(config: *const LaunchConfig) -> Answer<DriverLaunchConfig> {
    // SAFETY: as the caller says.
    let config = unsafe { config.as_ref() }.ok_or(Status::INVALID_VALUE)?;
    Ok(DriverLaunchConfig {
        grid: config.grid,
        block: config.block,
        shared: u32::try_from(config.shared).map_err(|_| Status::INVALID_VALUE)?,
        stream: config.stream,
        attributes: config.attributes,
        count: config.count,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    /// As C compilers lay it out (driver_types.h of CUDA 12.9 and 13.5).
    #[test]
    fn attributes_are_as_long_as_in_the_header() {
        assert_eq!((size_of::<FuncAttributes>(), std::mem::offset_of!(FuncAttributes, reserved)), (144, 76));
    }
}
