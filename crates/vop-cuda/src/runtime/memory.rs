//! Memory of devices and hosts.

use std::ffi::c_void;

use super::types::{Extent, MemLocation, PitchedPtr};
use super::{context, driver, put, runtime};
use crate::status::{Answer, Status};

/// `cudaHostAlloc…`.
const HOST_FLAGS: u32 = 7;

runtime! {
    /// Allocates memory of the device.
    fn cudaMalloc(pointer: *mut *mut c_void, size: usize) {
        if pointer.is_null() {
            return Err(Status::INVALID_VALUE);
        }
        context::ensure()?;
        unsafe { put(pointer, allocate(size)?) }
    }

    /// Frees it.
    fn cudaFree(pointer: *mut c_void) {
        // `cudaFree(0)` is what programs call to make the context.
        context::ensure()?;
        if pointer.is_null() { Ok(()) } else { driver!(cuMemFree_v2(pointer as u64)) }
    }

    /// Allocates rows, each of which begins at a good address.
    fn cudaMallocPitch(pointer: *mut *mut c_void, pitch: *mut usize, width: usize, height: usize) {
        if pointer.is_null() || pitch.is_null() {
            return Err(Status::INVALID_VALUE);
        }
        context::ensure()?;
        let (address, row) = pitched(width, height)?;
        unsafe {
            put(pitch, row)?;
            put(pointer, address)
        }
    }

    /// Allocates layers of rows.
    fn cudaMalloc3D(pointer: *mut PitchedPtr, extent: Extent) {
        if pointer.is_null() {
            return Err(Status::INVALID_VALUE);
        }
        context::ensure()?;
        let rows = extent.height.checked_mul(extent.depth).ok_or(Status::OUT_OF_MEMORY)?;
        let (ptr, pitch) = pitched(extent.width, rows)?;
        unsafe { put(pointer, PitchedPtr { ptr, pitch, xsize: extent.width, ysize: extent.height }) }
    }

    /// Allocates memory that hosts and devices use together.
    fn cudaMallocManaged(pointer: *mut *mut c_void, size: usize, flags: u32) {
        if pointer.is_null() || size == 0 {
            return Err(Status::INVALID_VALUE);
        }
        context::ensure()?;
        let mut address = 0u64;
        driver!(cuMemAllocManaged(&raw mut address, size, flags))?;
        unsafe { put(pointer, address as *mut c_void) }
    }

    /// Allocates memory of the host that devices can use.
    fn cudaMallocHost(pointer: *mut *mut c_void, size: usize) {
        host(pointer, size, 0)
    }

    /// Allocates memory of the host that devices can use.
    fn cudaHostAlloc(pointer: *mut *mut c_void, size: usize, flags: u32) {
        if flags & !HOST_FLAGS != 0 {
            return Err(Status::INVALID_VALUE);
        }
        host(pointer, size, flags)
    }

    /// Frees it.
    fn cudaFreeHost(pointer: *mut c_void) {
        context::ensure()?;
        if pointer.is_null() { Ok(()) } else { driver!(cuMemFreeHost(pointer)) }
    }

    /// Lets devices use memory of the program.
    fn cudaHostRegister(pointer: *mut c_void, size: usize, flags: u32) {
        context::ensure()?;
        driver!(cuMemHostRegister_v2(pointer, size, flags))
    }

    /// Ends that.
    fn cudaHostUnregister(pointer: *mut c_void) {
        context::ensure()?;
        driver!(cuMemHostUnregister(pointer))
    }

    /// The address by which devices know memory of the host.
    fn cudaHostGetDevicePointer(device: *mut *mut c_void, host: *mut c_void, flags: u32) {
        context::ensure()?;
        let mut address = 0u64;
        driver!(cuMemHostGetDevicePointer_v2(&raw mut address, host, flags))?;
        unsafe { put(device, address as *mut c_void) }
    }

    /// The flags with which memory of the host was allocated.
    fn cudaHostGetFlags(flags: *mut u32, host: *mut c_void) {
        context::ensure()?;
        driver!(cuMemHostGetFlags(flags, host))
    }

    /// How much memory the device has.
    fn cudaMemGetInfo(free: *mut usize, total: *mut usize) {
        context::ensure()?;
        driver!(cuMemGetInfo_v2(free, total))
    }

    /// Memory of the device, in the order of a stream.
    fn cudaMallocAsync(pointer: *mut *mut c_void, size: usize, stream: *mut c_void) |call| {
        if pointer.is_null() {
            return Err(Status::INVALID_VALUE);
        }
        context::ensure()?;
        let mut address = 0u64;
        driver!(cuMemAllocAsync(&raw mut address, size, context::stream(call, stream).cast()))?;
        unsafe { put(pointer, address as *mut c_void) }
    }

    /// Frees it, in the order of a stream.
    fn cudaFreeAsync(pointer: *mut c_void, stream: *mut c_void) |call| {
        context::ensure()?;
        driver!(cuMemFreeAsync(pointer as u64, context::stream(call, stream).cast()))
    }

    /// Where managed memory should be, which makes no difference here.
    fn cudaMemAdvise(pointer: *const c_void, size: usize, advice: i32, location: MemLocation) {
        managed(pointer, size)?;
        if !(1..=6).contains(&advice) {
            return Err(Status::INVALID_VALUE);
        }
        at(location)
    }

    /// Where managed memory should be, as CUDA 12 has it.
    fn cudaMemAdvise_v1(pointer: *const c_void, size: usize, advice: i32, device: i32) {
        managed(pointer, size)?;
        if !(1..=6).contains(&advice) {
            return Err(Status::INVALID_VALUE);
        }
        at(location(device))
    }

    /// Brings managed memory somewhere: it is already there.
    fn cudaMemPrefetchAsync(
        pointer: *const c_void, size: usize, location: MemLocation, flags: u32, _stream: *mut c_void,
    ) {
        if flags != 0 {
            return Err(Status::INVALID_VALUE);
        }
        managed(pointer, size)?;
        at(location)
    }

    /// Brings managed memory somewhere, as CUDA 12 has it.
    fn cudaMemPrefetchAsync_v1(pointer: *const c_void, size: usize, device: i32, _stream: *mut c_void) {
        managed(pointer, size)?;
        at(location(device))
    }

    /// What was advised about managed memory.
    fn cudaMemRangeGetAttribute(data: *mut c_void, size: usize, attribute: i32, pointer: *const c_void, count: usize) {
        context::ensure()?;
        driver!(cuMemRangeGetAttribute(data, size, attribute as _, pointer as u64, count))
    }

    /// What was advised about managed memory.
    fn cudaMemRangeGetAttributes(
        data: *mut *mut c_void, sizes: *mut usize, attributes: *mut i32, count: usize, pointer: *const c_void,
        size: usize,
    ) {
        context::ensure()?;
        driver!(cuMemRangeGetAttributes(data, sizes, attributes.cast(), count, pointer as u64, size))
    }

    /// What a pointer is.
    fn cudaPointerGetAttributes(attributes: *mut c_void, pointer: *const c_void) {
        let found = PointerAttributes::of(pointer)?;
        unsafe {
            put(attributes.cast(), found)?;
            // localityDomainOrdinal, which nothing here has, and reserved fields.
            let mut rest = [0u64; 8];
            rest[0] = u64::from(u32::MAX);
            put(attributes.cast::<PointerAttributes>().add(1).cast(), rest)
        }
    }

    /// What a pointer is, as CUDA 12 has it.
    fn cudaPointerGetAttributes_v1(attributes: *mut PointerAttributes, pointer: *const c_void) {
        unsafe { put(attributes, PointerAttributes::of(pointer)?) }
    }
}

/// The first fields of `cudaPointerAttributes`: all that CUDA 12 has.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct PointerAttributes {
    kind: i32,
    device: i32,
    device_pointer: *mut c_void,
    host_pointer: *mut c_void,
}

impl PointerAttributes {
    fn of(pointer: *const c_void) -> Answer<PointerAttributes> {
        context::ensure()?;
        let (mut memory_type, mut device, mut managed) = (0u32, -2i32, 0u32);
        let (mut on_device, mut on_host) = (0u64, std::ptr::null_mut::<c_void>());
        let address = pointer as u64;
        let known = driver!(cuPointerGetAttribute((&raw mut memory_type).cast(), 2 as _, address)).is_ok();
        if !known {
            // The host's own memory is nobody's.
            let host_pointer = pointer.cast_mut();
            return Ok(PointerAttributes { kind: 0, device: -2, device_pointer: std::ptr::null_mut(), host_pointer });
        }
        driver!(cuPointerGetAttribute((&raw mut device).cast(), 9 as _, address))?;
        // Each has none of what it does not have.
        _ = driver!(cuPointerGetAttribute((&raw mut managed).cast(), 8 as _, address));
        _ = driver!(cuPointerGetAttribute((&raw mut on_device).cast(), 3 as _, address));
        _ = driver!(cuPointerGetAttribute((&raw mut on_host).cast(), 4 as _, address));
        // CU_MEMORYTYPE_HOST and _DEVICE have the numbers of cudaMemoryTypeHost and Device.
        let kind = if managed & 1 != 0 { 3 } else { memory_type as i32 };
        Ok(PointerAttributes { kind, device, device_pointer: on_device as *mut c_void, host_pointer: on_host })
    }
}

/// Memory of the device; none for no bytes.
fn allocate(size: usize) -> Answer<*mut c_void> {
    if size == 0 {
        return Ok(std::ptr::null_mut());
    }
    let mut address = 0u64;
    driver!(cuMemAlloc_v2(&raw mut address, size))?;
    Ok(address as *mut c_void)
}

fn pitched(width: usize, height: usize) -> Answer<(*mut c_void, usize)> {
    if width == 0 || height == 0 {
        return Ok((std::ptr::null_mut(), width.next_multiple_of(512)));
    }
    let (mut address, mut pitch) = (0u64, 0);
    driver!(cuMemAllocPitch_v2(&raw mut address, &raw mut pitch, width, height, 4))?;
    Ok((address as *mut c_void, pitch))
}

fn host(pointer: *mut *mut c_void, size: usize, flags: u32) -> Answer {
    if pointer.is_null() {
        return Err(Status::INVALID_VALUE);
    }
    context::ensure()?;
    let mut address = std::ptr::null_mut();
    if size > 0 {
        driver!(cuMemHostAlloc(&raw mut address, size, flags))?;
    }
    // SAFETY: the caller's.
    unsafe { put(pointer, address) }
}

/// Checks that a range is managed memory.
fn managed(pointer: *const c_void, size: usize) -> Answer {
    context::ensure()?;
    let mut managed = 0u32;
    _ = driver!(cuPointerGetAttribute((&raw mut managed).cast(), 8 as _, pointer as u64));
    if managed & 1 == 0 || size == 0 { Err(Status::INVALID_VALUE) } else { Ok(()) }
}

/// `cudaMemLocationTypeDevice` and `Host`.
fn location(device: i32) -> MemLocation {
    if device < 0 { MemLocation { kind: 2, id: 0 } } else { MemLocation { kind: 1, id: device } }
}

/// Checks a location.
fn at(location: MemLocation) -> Answer {
    match location.kind {
        1 => context::checked(location.id).map(|_| ()),
        // The host, and its NUMA nodes.
        2..=4 => Ok(()),
        _ => Err(Status::INVALID_VALUE),
    }
}
