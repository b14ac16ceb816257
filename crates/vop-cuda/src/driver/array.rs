//! Arrays and mip maps.

#![allow(unsafe_code, reason = "callers pass pointers")]

use std::ffi::c_void;
use std::sync::Arc;

use super::types::{DeviceNumber, Handle, get, handle, number, put};
use crate::abi::api;
use crate::machine::array::{Array, CUBE, LAYERED, Layout, MipMap};
use crate::machine::{Context, machine, report};
use crate::status::{Answer, Status};

/// `CUDA_ARRAY_DESCRIPTOR`.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct ArrayDescriptor {
    width: usize,
    height: usize,
    format: u32,
    channels: u32,
}

/// `CUDA_ARRAY3D_DESCRIPTOR`.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct Array3DDescriptor {
    width: usize,
    height: usize,
    depth: usize,
    format: u32,
    channels: u32,
    flags: u32,
}

/// `CUDA_ARRAY_MEMORY_REQUIREMENTS`.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct MemoryRequirements {
    size: usize,
    alignment: usize,
    reserved: [u32; 4],
}

/// Layers, surfaces, cubes, gathering, depth and colour attachments make no difference here. Sparse arrays, and arrays without memory, are
/// not there.
const KNOWN_FLAGS: u32 = LAYERED | 2 | CUBE | 8 | 0x10 | 0x20;

impl From<ArrayDescriptor> for Layout {
    fn from(from: ArrayDescriptor) -> Layout {
        let ArrayDescriptor { width, height, format, channels } = from;
        Layout { width, height, depth: 0, format, channels, flags: 0 }
    }
}

impl TryFrom<Array3DDescriptor> for Layout {
    type Error = Status;

    fn try_from(from: Array3DDescriptor) -> Answer<Layout> {
        let Array3DDescriptor { width, height, depth, format, channels, flags } = from;
        if flags & !KNOWN_FLAGS != 0 {
            return Err(report::not_supported("sparse arrays and arrays without memory"));
        }
        Ok(Layout { width, height, depth, format, channels, flags })
    }
}

/// The array of a handle.
pub(super) fn array_of(array: Handle) -> Answer<Arc<Array>> {
    machine()?.handles.get(number(array)).ok_or(Status::INVALID_HANDLE)
}

/// The mip map of a handle.
pub(super) fn mip_map_of(map: Handle) -> Answer<Arc<MipMap>> {
    machine()?.handles.get(number(map)).ok_or(Status::INVALID_HANDLE)
}

unsafe fn create(array: *mut Handle, layout: Layout) -> Answer {
    let context = Context::current()?;
    if array.is_null() {
        return Err(Status::INVALID_VALUE);
    }
    // SAFETY: a place for a handle.
    unsafe { put(array, handle(Array::new(context, layout)?.handle)) }
}

api! {
    /// Makes an array of one or two dimensions.
    fn cuArrayCreate_v2(array: *mut Handle, descriptor: *const ArrayDescriptor) {
        // SAFETY: the caller's arguments.
        unsafe { create(array, get(descriptor)?.into()) }
    }

    /// Makes an array.
    fn cuArray3DCreate_v2(array: *mut Handle, descriptor: *const Array3DDescriptor) {
        // SAFETY: the caller's arguments.
        unsafe { create(array, get(descriptor)?.try_into()?) }
    }

    /// What an array holds.
    fn cuArrayGetDescriptor_v2(descriptor: *mut ArrayDescriptor, array: Handle) {
        let Layout { width, height, format, channels, .. } = array_of(array)?.layout;
        // SAFETY: a place for the structure, or null.
        unsafe { put(descriptor, ArrayDescriptor { width, height, format, channels }) }
    }

    /// What an array holds.
    fn cuArray3DGetDescriptor_v2(descriptor: *mut Array3DDescriptor, array: Handle) {
        let Layout { width, height, depth, format, channels, flags } = array_of(array)?.layout;
        // SAFETY: a place for the structure, or null.
        unsafe { put(descriptor, Array3DDescriptor { width, height, depth, format, channels, flags }) }
    }

    /// Frees an array.
    fn cuArrayDestroy(array: Handle) {
        array_of(array)?.destroy()
    }

    /// A plane of an array: only those of video formats have several.
    fn cuArrayGetPlane(plane: *mut Handle, array: Handle, index: u32) {
        let _ = (plane, index);
        array_of(array)?;
        Err(Status::INVALID_VALUE)
    }

    /// What an array takes.
    fn cuArrayGetMemoryRequirements(requirements: *mut MemoryRequirements, array: Handle, device: DeviceNumber) {
        machine()?.device(device)?;
        let size = array_of(array)?.layout.bytes()?;
        // SAFETY: a place for the structure, or null.
        unsafe { put(requirements, MemoryRequirements { size, alignment: 512, reserved: [0; 4] }) }
    }

    /// No array is sparse.
    fn cuArrayGetSparseProperties(properties: *mut c_void, array: Handle) {
        let _ = properties;
        array_of(array)?;
        Err(Status::INVALID_VALUE)
    }

    /// Makes a mip map.
    fn cuMipmappedArrayCreate(map: *mut Handle, descriptor: *const Array3DDescriptor, levels: u32) {
        let context = Context::current()?;
        // SAFETY: the structure, or null.
        let layout = unsafe { get(descriptor) }?.try_into()?;
        if map.is_null() {
            return Err(Status::INVALID_VALUE);
        }
        // SAFETY: a place for a handle.
        unsafe { put(map, handle(MipMap::new(context, layout, levels)?.handle)) }
    }

    /// A level of a mip map, as an array.
    fn cuMipmappedArrayGetLevel(array: *mut Handle, map: Handle, level: u32) {
        let map = mip_map_of(map)?;
        let found = map.levels.get(level as usize).ok_or(Status::INVALID_VALUE)?;
        // SAFETY: a place for a handle, or null.
        unsafe { put(array, handle(found.handle)) }
    }

    /// Frees a mip map.
    fn cuMipmappedArrayDestroy(map: Handle) {
        mip_map_of(map)?.destroy()
    }

    /// What a mip map takes.
    fn cuMipmappedArrayGetMemoryRequirements(requirements: *mut MemoryRequirements, map: Handle, device: DeviceNumber) {
        machine()?.device(device)?;
        let size = mip_map_of(map)?.allocation.len as usize;
        // SAFETY: a place for the structure, or null.
        unsafe { put(requirements, MemoryRequirements { size, alignment: 512, reserved: [0; 4] }) }
    }

    /// No mip map is sparse.
    fn cuMipmappedArrayGetSparseProperties(properties: *mut c_void, map: Handle) {
        let _ = properties;
        mip_map_of(map)?;
        Err(Status::INVALID_VALUE)
    }
}
