//! Virtual memory management.

#![allow(unsafe_code, reason = "callers pass pointers")]

use std::sync::Arc;

use super::types::{DeviceNumber, DevicePointer, Handle, get, handle, list, number, put};
use crate::abi::api;
use crate::machine::mapping::{GRANULARITY, Physical, READ_WRITE};
use crate::machine::{Context, machine, report};
use crate::status::{Answer, Status};

/// `CUmemLocation`.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct Location {
    kind: u32,
    id: DeviceNumber,
}

impl Location {
    /// The device that it is: `CU_MEM_LOCATION_TYPE_DEVICE`.
    fn device(self) -> Answer<DeviceNumber> {
        if self.kind == 1 { Ok(self.id) } else { Err(Status::INVALID_VALUE) }
    }
}

/// `CUmemAllocationProp`.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct AllocationProperties {
    /// `CU_MEM_ALLOCATION_TYPE_PINNED`.
    kind: u32,
    /// Handles that other processes can take.
    handle_types: u32,
    location: Location,
    windows: *const std::ffi::c_void,
    /// Compression in the first byte, RDMA and usage, which have no effect.
    flags: [u8; 8],
}

/// `CUmemAccessDesc`.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct AccessDescription {
    location: Location,
    flags: u32,
}

/// The device that properties name, if memory can have them.
///
/// # Safety
/// They are there, or it is null.
unsafe fn device(properties: *const AllocationProperties) -> Answer<DeviceNumber> {
    // SAFETY: as the caller says.
    let properties = unsafe { get(properties) }?;
    if properties.kind != 1 {
        return Err(Status::INVALID_VALUE);
    }
    if properties.handle_types != 0 {
        return Err(report::not_supported("memory for other processes (cuMemCreate with requestedHandleTypes)"));
    }
    properties.location.device()
}

fn physical(memory: u64) -> Answer<Arc<Physical>> {
    machine()?.handles.get(memory).ok_or(Status::INVALID_VALUE)
}

api! {
    /// Reserves addresses. The system chooses where.
    fn cuMemAddressReserve(
        pointer: *mut DevicePointer,
        len: usize,
        alignment: usize,
        wish: DevicePointer,
        flags: u64,
    ) {
        let _ = wish;
        if pointer.is_null() || flags != 0 {
            return Err(Status::INVALID_VALUE);
        }
        // SAFETY: a place for a pointer.
        unsafe { put(pointer, machine()?.reserve(len as u64, alignment as u64)?) }
    }

    /// Gives addresses back.
    fn cuMemAddressFree(pointer: DevicePointer, len: usize) {
        machine()?.reserve_no_more(pointer, len as u64)
    }

    /// Allocates memory without an address.
    fn cuMemCreate(memory: *mut u64, len: usize, properties: *const AllocationProperties, flags: u64) {
        let machine = machine()?;
        if memory.is_null() || flags != 0 {
            return Err(Status::INVALID_VALUE);
        }
        // SAFETY: the caller's arguments.
        unsafe {
            let device = machine.device(device(properties)?)?;
            let [compression, ..] = get(properties)?.flags;
            put(memory, machine.create(device, len as u64, compression)?.handle)
        }
    }

    /// The program holds memory no more. It is there as long as it is mapped.
    fn cuMemRelease(memory: u64) {
        machine()?.handles.remove::<Physical>(memory).map(|_| ()).ok_or(Status::INVALID_VALUE)
    }

    /// Puts memory at addresses.
    fn cuMemMap(pointer: DevicePointer, len: usize, offset: usize, memory: u64, flags: u64) {
        // The manual says that there is no other offset.
        if offset != 0 || flags != 0 {
            return Err(Status::INVALID_VALUE);
        }
        machine()?.map(pointer, len as u64, &physical(memory)?)
    }

    /// Takes memory away from its addresses.
    fn cuMemUnmap(pointer: DevicePointer, len: usize) {
        if Context::current_any().is_some() {
            crate::machine::graph::may_wait()?;
        }
        machine()?.unmap(pointer, len as u64)
    }

    /// Says which devices may use memory.
    fn cuMemSetAccess(pointer: DevicePointer, len: usize, descriptions: *const AccessDescription, count: usize) {
        // SAFETY: so many descriptions, or null.
        let descriptions = unsafe { list(descriptions, count) }?;
        let devices = descriptions.iter().map(|each| {
            let flags = u8::try_from(each.flags).ok().filter(|flags| *flags <= READ_WRITE);
            Ok((each.location.device()?, flags.ok_or(Status::INVALID_VALUE)?))
        });
        machine()?.set_access(pointer, len as u64, &devices.collect::<Answer<Vec<_>>>()?)
    }

    /// What a device may do with memory.
    fn cuMemGetAccess(flags: *mut u64, location: *const Location, pointer: DevicePointer) {
        // SAFETY: the caller's arguments.
        unsafe { put(flags, machine()?.access(pointer, get(location)?.device()?)?.into()) }
    }

    /// What sizes are multiples of.
    fn cuMemGetAllocationGranularity(size: *mut usize, properties: *const AllocationProperties, option: u32) {
        // SAFETY: the caller's arguments.
        unsafe {
            machine()?.device(device(properties)?)?;
            // The least one, and the one that is recommended.
            if option > 1 {
                return Err(Status::INVALID_VALUE);
            }
            put(size, GRANULARITY as usize)
        }
    }

    /// The properties of memory.
    fn cuMemGetAllocationPropertiesFromHandle(properties: *mut AllocationProperties, memory: u64) {
        let memory = physical(memory)?;
        let location = Location { kind: 1, id: memory.device.ordinal as DeviceNumber };
        let mut flags = [0; 8];
        flags[0] = memory.compression;
        let found =
            AllocationProperties { kind: 1, handle_types: 0, location, windows: std::ptr::null(), flags };
        // SAFETY: the caller's argument.
        unsafe { put(properties, found) }
    }

    /// The memory at an address.
    fn cuMemRetainAllocationHandle(memory: *mut Handle, address: Handle) {
        let machine = machine()?;
        let found = machine.physical(number(address))?;
        // The handle is good again if the program has released it.
        machine.handles.set(found.handle, Arc::clone(&found));
        // SAFETY: a place for a handle.
        unsafe { put(memory, handle(found.handle)) }
    }
}
