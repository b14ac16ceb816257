//! Copies and fills.

#![allow(unsafe_code, reason = "callers pass pointers")]

use std::ffi::c_void;
use std::sync::{Arc, OnceLock};

use super::stream::{default_stream, stream_of};
use super::types::{DevicePointer, Handle, get, list, number};
use crate::abi::{Call, api};
use crate::machine::array::Array;
use crate::machine::copy::{Copy, Fill, Side};
use crate::machine::stream::Stream;
use crate::machine::work::Work;
use crate::machine::{Context, host, machine};
use crate::status::{Answer, Status};

/// Bytes of the program's own memory that are kept until the stream comes to their copy. For more, the program waits.
const STAGED: u64 = 64 << 10;

/// Copies, and waits for it.
pub(super) fn now(stream: &Arc<Stream>, copy: Copy) -> Answer {
    copy.check()?;
    let machine = stream.context.machine();
    copy.sides(machine)?;
    if !stream.is_capturing() && copy.is_of_other_devices(machine, stream.context.device.ordinal) {
        // A copy that the program waits for is behind the work of both devices.
        machine.drain();
    }
    let answer = Arc::new(OnceLock::new());
    stream.do_now(Work::CopyFor(copy, Arc::clone(&answer)))?;
    stream.context.flush();
    stream.context.check_sticky()?;
    answer.get().copied().unwrap_or(Err(Status::UNKNOWN))
}

/// Gives a copy to a stream. With memory that is only the program's, the program goes on when that may be used again.
pub(super) fn later(stream: &Arc<Stream>, copy: Copy) -> Answer {
    copy.check()?;
    let machine = stream.context.machine();
    let [to, from] = copy.sides(machine)?;
    if stream.is_capturing() || to.is_some() && from.is_some() {
        return stream.give(Work::Copy(copy)).map(|_| ());
    }
    if to.is_some() && copy.height == 1 && copy.depth == 1 && copy.width <= STAGED {
        let mut bytes = vec![0; copy.width as usize];
        let place = std::ptr::with_exposed_provenance(copy.from.address as usize);
        // SAFETY: the vector is as long.
        unsafe { host::copy(bytes.as_mut_ptr(), true, place, false, bytes.len()) }?;
        return stream.give(Work::Put(copy.to.address, bytes.into())).map(|_| ());
    }
    now(stream, copy)
}

/// Whether an address is of memory that the library knows.
fn known(address: DevicePointer, len: usize) -> Answer {
    if len == 0 {
        return Ok(());
    }
    machine()?.space.find(address).map(|_| ()).ok_or(Status::INVALID_VALUE)
}

fn host_address(pointer: *const c_void) -> u64 {
    pointer.expose_provenance() as u64
}

/// A side of a copy of bytes in an array of one row.
fn in_array(array: Handle, offset: usize, len: usize) -> Answer<Side> {
    let array: Arc<Array> = machine()?.handles.get(number(array)).ok_or(Status::INVALID_HANDLE)?;
    array.side([offset, 0, 0], [len, 1, 1])
}

fn line(to: Side, from: Side, len: usize) -> Copy {
    Copy { to, from, width: len as u64, height: 1, depth: 1 }
}

/// `CUDA_MEMCPY2D`.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct Copy2D {
    from: Corner2D,
    to: Corner2D,
    width: usize,
    height: usize,
}

/// A side of [`Copy2D`].
#[repr(C)]
#[derive(Clone, Copy)]
struct Corner2D {
    x: usize,
    y: usize,
    kind: u32,
    host: *const c_void,
    device: DevicePointer,
    array: Handle,
    pitch: usize,
}

/// `CUDA_MEMCPY3D`. In `CUDA_MEMCPY3D_PEER`, the reserved pointers are contexts.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct Copy3D {
    from: Corner3D,
    to: Corner3D,
    width: usize,
    height: usize,
    depth: usize,
}

/// A side of [`Copy3D`].
#[repr(C)]
#[derive(Clone, Copy)]
struct Corner3D {
    x: usize,
    y: usize,
    z: usize,
    level: usize,
    kind: u32,
    host: *const c_void,
    device: DevicePointer,
    array: Handle,
    reserved: Handle,
    pitch: usize,
    height: usize,
}

impl Corner3D {
    fn side(&self, size: [usize; 3]) -> Answer<Side> {
        let base = match self.kind {
            1 => host_address(self.host),
            2 => {
                if !size.contains(&0) {
                    known(self.device, 1)?;
                }
                self.device
            }
            3 => {
                let array: Arc<Array> = machine()?.handles.get(number(self.array)).ok_or(Status::INVALID_HANDLE)?;
                return array.side([self.x, self.y, self.z], size);
            }
            // Unified: any pointer.
            4 => self.device,
            _ => return Err(Status::INVALID_VALUE),
        };
        if self.level != 0 {
            return Err(Status::INVALID_VALUE);
        }
        let pitch = if self.pitch == 0 { size[0] } else { self.pitch };
        let height = if self.height == 0 { size[1] } else { self.height };
        let slice = pitch.checked_mul(height).ok_or(Status::INVALID_VALUE)?;
        let offset = self.z.checked_mul(slice).zip(self.y.checked_mul(pitch));
        let offset = offset.and_then(|(slices, rows)| slices.checked_add(rows)?.checked_add(self.x));
        let address = base.checked_add(offset.ok_or(Status::INVALID_VALUE)? as u64).ok_or(Status::INVALID_VALUE)?;
        Ok(Side { address, pitch: pitch as u64, slice: slice as u64 })
    }
}

impl Copy3D {
    /// A copy, between addresses.
    pub(super) fn of(copy: &Copy) -> Copy3D {
        let corner = |side: &Side| Corner3D {
            x: 0,
            y: 0,
            z: 0,
            level: 0,
            kind: 4,
            host: std::ptr::null(),
            device: side.address,
            array: std::ptr::null_mut(),
            reserved: std::ptr::null_mut(),
            pitch: side.pitch as usize,
            height: side.slice.checked_div(side.pitch).unwrap_or(0) as usize,
        };
        Copy3D {
            from: corner(&copy.from),
            to: corner(&copy.to),
            width: copy.width as usize,
            height: copy.height as usize,
            depth: copy.depth as usize,
        }
    }

    /// As a copy.
    pub(super) fn copy(&self) -> Answer<Copy> {
        let size = [self.width, self.height, self.depth];
        let (to, from) = (self.to.side(size)?, self.from.side(size)?);
        Ok(Copy { to, from, width: self.width as u64, height: self.height as u64, depth: self.depth as u64 })
    }
}

impl From<Copy2D> for Copy3D {
    fn from(copy: Copy2D) -> Copy3D {
        let corner = |corner: Corner2D| {
            let Corner2D { x, y, kind, host, device, array, pitch } = corner;
            let reserved = std::ptr::null_mut();
            Corner3D { x, y, z: 0, level: 0, kind, host, device, array, reserved, pitch, height: 0 }
        };
        let (from, to) = (corner(copy.from), corner(copy.to));
        Copy3D { from, to, width: copy.width, height: copy.height, depth: 1 }
    }
}

unsafe fn copy_2d(copy: *const Copy2D) -> Answer<Copy> {
    // SAFETY: the caller passes the structure, or null.
    Copy3D::from(unsafe { get(copy) }?).copy()
}

unsafe fn copy_3d(copy: *const Copy3D) -> Answer<Copy> {
    // SAFETY: the caller passes the structure, or null.
    unsafe { get(copy) }?.copy()
}

/// A fill of rows.
fn fill(to: u64, pitch: usize, value: u32, bytes: u64, width: usize, height: usize) -> Answer<Fill> {
    let slice = (pitch as u64).checked_mul(height as u64).ok_or(Status::INVALID_VALUE)?;
    let to = Side { address: to, pitch: pitch as u64, slice };
    Ok(Fill { to, value, bytes, width: width as u64, height: height as u64, depth: 1 })
}

/// # Safety
/// So many values each, or null, and a place for a number, or null.
unsafe fn copy_all(
    stream: &Arc<Stream>,
    to: *const DevicePointer,
    from: *const DevicePointer,
    sizes: *const usize,
    count: usize,
    wrong: *mut usize,
) -> Answer {
    // SAFETY: as the caller says.
    let (to, from, sizes) = unsafe { (list(to, count)?, list(from, count)?, list(sizes, count)?) };
    for (i, ((to, from), len)) in to.into_iter().zip(from).zip(sizes).enumerate() {
        if let Err(status) = later(stream, Copy::bytes(to, from, len as u64)) {
            // SAFETY: as the caller says.
            unsafe { super::types::put_if_asked(wrong, i) };
            return Err(status);
        }
    }
    Ok(())
}

pub(super) fn fill_later(stream: &Arc<Stream>, fill: Fill) -> Answer {
    fill.check(stream.context.machine())?;
    stream.give(Work::Fill(fill)).map(|_| ())
}

fn fill_now(call: Call, fill: Fill) -> Answer {
    let stream = default_stream(call)?;
    fill.check(stream.context.machine())?;
    stream.do_now(Work::Fill(fill))?;
    stream.context.check()
}

api! {
    /// Copies from and to any memory.
    fn cuMemcpy(to: DevicePointer, from: DevicePointer, len: usize) |call| {
        now(&default_stream(call)?, Copy::bytes(to, from, len as u64))
    }

    /// Copies between devices.
    fn cuMemcpyPeer(
        to: DevicePointer, to_context: Handle, from: DevicePointer, from_context: Handle, len: usize
    ) |call| {
        Context::of(number(to_context))?;
        Context::of(number(from_context))?;
        known(to, len)?;
        known(from, len)?;
        now(&default_stream(call)?, Copy::bytes(to, from, len as u64))
    }

    /// Copies to the device.
    fn cuMemcpyHtoD_v2(to: DevicePointer, from: *const c_void, len: usize) |call| {
        let stream = default_stream(call)?;
        known(to, len)?;
        now(&stream, Copy::bytes(to, host_address(from), len as u64))
    }

    /// Copies to the host.
    fn cuMemcpyDtoH_v2(to: *mut c_void, from: DevicePointer, len: usize) |call| {
        let stream = default_stream(call)?;
        known(from, len)?;
        now(&stream, Copy::bytes(host_address(to), from, len as u64))
    }

    /// Copies in the device.
    fn cuMemcpyDtoD_v2(to: DevicePointer, from: DevicePointer, len: usize) |call| {
        let stream = default_stream(call)?;
        known(to, len)?;
        known(from, len)?;
        now(&stream, Copy::bytes(to, from, len as u64))
    }

    /// Copies to an array.
    fn cuMemcpyDtoA_v2(to: Handle, offset: usize, from: DevicePointer, len: usize) |call| {
        known(from, len)?;
        now(&default_stream(call)?, line(in_array(to, offset, len)?, Side::row(from), len))
    }

    /// Copies from an array.
    fn cuMemcpyAtoD_v2(to: DevicePointer, from: Handle, offset: usize, len: usize) |call| {
        known(to, len)?;
        now(&default_stream(call)?, line(Side::row(to), in_array(from, offset, len)?, len))
    }

    /// Copies to an array.
    fn cuMemcpyHtoA_v2(to: Handle, offset: usize, from: *const c_void, len: usize) |call| {
        now(&default_stream(call)?, line(in_array(to, offset, len)?, Side::row(host_address(from)), len))
    }

    /// Copies from an array.
    fn cuMemcpyAtoH_v2(to: *mut c_void, from: Handle, offset: usize, len: usize) |call| {
        now(&default_stream(call)?, line(Side::row(host_address(to)), in_array(from, offset, len)?, len))
    }

    /// Copies between arrays.
    fn cuMemcpyAtoA_v2(to: Handle, to_offset: usize, from: Handle, from_offset: usize, len: usize) |call| {
        now(&default_stream(call)?, line(in_array(to, to_offset, len)?, in_array(from, from_offset, len)?, len))
    }

    /// Copies rows.
    fn cuMemcpy2D_v2(copy: *const Copy2D) |call| {
        // SAFETY: the structure, or null.
        now(&default_stream(call)?, unsafe { copy_2d(copy) }?)
    }

    /// Copies rows; here no pitch is too odd for the other functions.
    fn cuMemcpy2DUnaligned_v2(copy: *const Copy2D) |call| {
        // SAFETY: the structure, or null.
        now(&default_stream(call)?, unsafe { copy_2d(copy) }?)
    }

    /// Copies slices.
    fn cuMemcpy3D_v2(copy: *const Copy3D) |call| {
        // SAFETY: the structure, or null.
        now(&default_stream(call)?, unsafe { copy_3d(copy) }?)
    }

    /// Copies slices between devices.
    fn cuMemcpy3DPeer(copy: *const Copy3D) |call| {
        // SAFETY: the structure, or null.
        now(&default_stream(call)?, unsafe { copy_3d(copy) }?)
    }

    /// Copies from and to any memory, in a stream.
    fn cuMemcpyAsync(to: DevicePointer, from: DevicePointer, len: usize, stream: Handle) |call| {
        later(&stream_of(call, stream)?, Copy::bytes(to, from, len as u64))
    }

    /// Copies between devices, in a stream.
    fn cuMemcpyPeerAsync(
        to: DevicePointer, to_context: Handle, from: DevicePointer, from_context: Handle, len: usize, stream: Handle
    ) |call| {
        Context::of(number(to_context))?;
        Context::of(number(from_context))?;
        known(to, len)?;
        known(from, len)?;
        later(&stream_of(call, stream)?, Copy::bytes(to, from, len as u64))
    }

    /// Copies to the device, in a stream.
    fn cuMemcpyHtoDAsync_v2(to: DevicePointer, from: *const c_void, len: usize, stream: Handle) |call| {
        let stream = stream_of(call, stream)?;
        known(to, len)?;
        later(&stream, Copy::bytes(to, host_address(from), len as u64))
    }

    /// Copies to the host, in a stream.
    fn cuMemcpyDtoHAsync_v2(to: *mut c_void, from: DevicePointer, len: usize, stream: Handle) |call| {
        let stream = stream_of(call, stream)?;
        known(from, len)?;
        later(&stream, Copy::bytes(host_address(to), from, len as u64))
    }

    /// Copies in the device, in a stream.
    fn cuMemcpyDtoDAsync_v2(to: DevicePointer, from: DevicePointer, len: usize, stream: Handle) |call| {
        let stream = stream_of(call, stream)?;
        known(to, len)?;
        known(from, len)?;
        later(&stream, Copy::bytes(to, from, len as u64))
    }

    /// Copies to an array, in a stream.
    fn cuMemcpyHtoAAsync_v2(to: Handle, offset: usize, from: *const c_void, len: usize, stream: Handle) |call| {
        later(&stream_of(call, stream)?, line(in_array(to, offset, len)?, Side::row(host_address(from)), len))
    }

    /// Copies from an array, in a stream.
    fn cuMemcpyAtoHAsync_v2(to: *mut c_void, from: Handle, offset: usize, len: usize, stream: Handle) |call| {
        later(&stream_of(call, stream)?, line(Side::row(host_address(to)), in_array(from, offset, len)?, len))
    }

    /// Copies rows, in a stream.
    fn cuMemcpy2DAsync_v2(copy: *const Copy2D, stream: Handle) |call| {
        // SAFETY: the structure, or null.
        later(&stream_of(call, stream)?, unsafe { copy_2d(copy) }?)
    }

    /// Copies slices, in a stream.
    fn cuMemcpy3DAsync_v2(copy: *const Copy3D, stream: Handle) |call| {
        // SAFETY: the structure, or null.
        later(&stream_of(call, stream)?, unsafe { copy_3d(copy) }?)
    }

    /// Copies slices between devices, in a stream.
    fn cuMemcpy3DPeerAsync(copy: *const Copy3D, stream: Handle) |call| {
        // SAFETY: the structure, or null.
        later(&stream_of(call, stream)?, unsafe { copy_3d(copy) }?)
    }

    /// Several copies, in a stream. What they say of when sources are read holds: none is read later than a copy in the stream would.
    fn cuMemcpyBatchAsync_v2(
        to: *const DevicePointer, from: *const DevicePointer, sizes: *const usize, count: usize,
        attributes: *const c_void, indexes: *const usize, attribute_count: usize, stream: Handle
    ) |call| {
        let _ = (attributes, indexes, attribute_count);
        // SAFETY: so many values each, or null.
        unsafe { copy_all(&stream_of(call, stream)?, to, from, sizes, count, std::ptr::null_mut()) }
    }

    /// As `cuMemcpyBatchAsync_v2`, and tells which copy was wrong.
    fn cuMemcpyBatchAsync(
        to: *const DevicePointer, from: *const DevicePointer, sizes: *const usize, count: usize,
        attributes: *const c_void, indexes: *const usize, attribute_count: usize, wrong: *mut usize, stream: Handle
    ) |call| {
        let _ = (attributes, indexes, attribute_count);
        // SAFETY: so many values each, or null, and a place for a number, or null.
        unsafe { copy_all(&stream_of(call, stream)?, to, from, sizes, count, wrong) }
    }

    /// A copy with attributes, in a stream.
    fn cuMemcpyWithAttributesAsync(
        to: DevicePointer, from: DevicePointer, len: usize, attributes: *const c_void, stream: Handle
    ) |call| {
        let _ = attributes;
        later(&stream_of(call, stream)?, Copy::bytes(to, from, len as u64))
    }

    /// Fills with bytes.
    fn cuMemsetD8_v2(to: DevicePointer, value: u8, count: usize) |call| {
        fill_now(call, fill(to, 0, value.into(), 1, count, 1)?)
    }

    /// Fills with numbers of 16 bits.
    fn cuMemsetD16_v2(to: DevicePointer, value: u16, count: usize) |call| {
        fill_now(call, fill(to, 0, value.into(), 2, count, 1)?)
    }

    /// Fills with numbers of 32 bits.
    fn cuMemsetD32_v2(to: DevicePointer, value: u32, count: usize) |call| {
        fill_now(call, fill(to, 0, value, 4, count, 1)?)
    }

    /// Fills rows with bytes.
    fn cuMemsetD2D8_v2(to: DevicePointer, pitch: usize, value: u8, width: usize, height: usize) |call| {
        fill_now(call, fill(to, pitch, value.into(), 1, width, height)?)
    }

    /// Fills rows with numbers of 16 bits.
    fn cuMemsetD2D16_v2(to: DevicePointer, pitch: usize, value: u16, width: usize, height: usize) |call| {
        fill_now(call, fill(to, pitch, value.into(), 2, width, height)?)
    }

    /// Fills rows with numbers of 32 bits.
    fn cuMemsetD2D32_v2(to: DevicePointer, pitch: usize, value: u32, width: usize, height: usize) |call| {
        fill_now(call, fill(to, pitch, value, 4, width, height)?)
    }

    /// Fills with bytes, in a stream.
    fn cuMemsetD8Async(to: DevicePointer, value: u8, count: usize, stream: Handle) |call| {
        fill_later(&stream_of(call, stream)?, fill(to, 0, value.into(), 1, count, 1)?)
    }

    /// Fills with numbers of 16 bits, in a stream.
    fn cuMemsetD16Async(to: DevicePointer, value: u16, count: usize, stream: Handle) |call| {
        fill_later(&stream_of(call, stream)?, fill(to, 0, value.into(), 2, count, 1)?)
    }

    /// Fills with numbers of 32 bits, in a stream.
    fn cuMemsetD32Async(to: DevicePointer, value: u32, count: usize, stream: Handle) |call| {
        fill_later(&stream_of(call, stream)?, fill(to, 0, value, 4, count, 1)?)
    }

    /// Fills rows with bytes, in a stream.
    fn cuMemsetD2D8Async(
        to: DevicePointer, pitch: usize, value: u8, width: usize, height: usize, stream: Handle
    ) |call| {
        fill_later(&stream_of(call, stream)?, fill(to, pitch, value.into(), 1, width, height)?)
    }

    /// Fills rows with numbers of 16 bits, in a stream.
    fn cuMemsetD2D16Async(
        to: DevicePointer, pitch: usize, value: u16, width: usize, height: usize, stream: Handle
    ) |call| {
        fill_later(&stream_of(call, stream)?, fill(to, pitch, value.into(), 2, width, height)?)
    }

    /// Fills rows with numbers of 32 bits, in a stream.
    fn cuMemsetD2D32Async(
        to: DevicePointer, pitch: usize, value: u32, width: usize, height: usize, stream: Handle
    ) |call| {
        fill_later(&stream_of(call, stream)?, fill(to, pitch, value, 4, width, height)?)
    }
}
