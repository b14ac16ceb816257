//! Copies and sets.

use std::ffi::c_void;

use super::types::{
    ARRAY, DEVICE, DriverCopy, DriverOperand, Extent, HOST, Memcpy3DParms, Memcpy3DPeerParms, PitchedPtr, UNIFIED,
};
use super::{array, context, driver, registry, runtime};
use crate::abi::Call;
use crate::status::{Answer, Status};

/// The direction of a copy: `cudaMemcpyKind`.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Kind {
    HostToHost,
    HostToDevice,
    DeviceToHost,
    DeviceToDevice,
    Default,
}

impl Kind {
    pub(super) fn new(number: i32) -> Answer<Kind> {
        Ok(match number {
            0 => Kind::HostToHost,
            1 => Kind::HostToDevice,
            2 => Kind::DeviceToHost,
            3 => Kind::DeviceToDevice,
            4 => Kind::Default,
            _ => return Err(Status::INVALID_MEMCPY_DIRECTION),
        })
    }

    /// The types of memory of the source and of the destination.
    fn types(self) -> (u32, u32) {
        match self {
            Kind::HostToHost => (HOST, HOST),
            Kind::HostToDevice => (HOST, DEVICE),
            Kind::DeviceToHost => (DEVICE, HOST),
            Kind::DeviceToDevice => (DEVICE, DEVICE),
            Kind::Default => (UNIFIED, UNIFIED),
        }
    }
}

/// When a copy is done: before the call returns, or in the order of a stream.
#[derive(Clone, Copy)]
enum When {
    Now(Call),
    In(*mut c_void),
}

/// Copies bytes.
fn copy(dst: *mut c_void, src: *const c_void, size: usize, kind: i32, when: When) -> Answer {
    let kind = Kind::new(kind)?;
    if size == 0 {
        return Ok(());
    }
    if dst.is_null() || src.is_null() {
        return Err(Status::INVALID_VALUE);
    }
    context::ensure()?;
    if kind == Kind::HostToHost {
        let row = |ptr: *mut c_void| PitchedPtr { ptr, pitch: size, xsize: size, ysize: 1 };
        let extent = Extent { width: size, height: 1, depth: 1 };
        return copy_rows(row(dst), row(src.cast_mut()), extent, kind, when);
    }
    match when {
        When::Now(call) => {
            context::default_stream(call);
            match kind {
                Kind::HostToDevice => driver!(cuMemcpyHtoD_v2(dst as u64, src, size)),
                Kind::DeviceToHost => driver!(cuMemcpyDtoH_v2(dst, src as u64, size)),
                Kind::DeviceToDevice => driver!(cuMemcpyDtoD_v2(dst as u64, src as u64, size)),
                _ => driver!(cuMemcpy(dst as u64, src as u64, size)),
            }
        }
        When::In(stream) => match kind {
            Kind::HostToDevice => driver!(cuMemcpyHtoDAsync_v2(dst as u64, src, size, stream.cast())),
            Kind::DeviceToHost => driver!(cuMemcpyDtoHAsync_v2(dst, src as u64, size, stream.cast())),
            Kind::DeviceToDevice => driver!(cuMemcpyDtoDAsync_v2(dst as u64, src as u64, size, stream.cast())),
            _ => driver!(cuMemcpyAsync(dst as u64, src as u64, size, stream.cast())),
        },
    }
}

fn operand(memory_type: u32, at: PitchedPtr) -> DriverOperand {
    DriverOperand {
        x_in_bytes: 0,
        y: 0,
        z: 0,
        lod: 0,
        memory_type,
        host: at.ptr,
        device: at.ptr as u64,
        array: std::ptr::null_mut(),
        context: std::ptr::null_mut(),
        pitch: at.pitch,
        height: at.ysize,
    }
}

fn array_operand(array: *const c_void, x_in_bytes: usize, y: usize) -> DriverOperand {
    let nowhere = PitchedPtr { ptr: std::ptr::null_mut(), pitch: 0, xsize: 0, ysize: 0 };
    DriverOperand { x_in_bytes, y, array: array.cast_mut(), ..operand(ARRAY, nowhere) }
}

/// Copies layers of rows.
fn copy_rows(dst: PitchedPtr, src: PitchedPtr, extent: Extent, kind: Kind, when: When) -> Answer {
    let (from, to) = kind.types();
    copy_described(
        &DriverCopy {
            src: operand(from, src),
            dst: operand(to, dst),
            width_in_bytes: extent.width,
            height: extent.height,
            depth: extent.depth,
        },
        when,
    )
}

fn copy_described(copy: &DriverCopy, when: When) -> Answer {
    if copy.width_in_bytes == 0 || copy.height == 0 || copy.depth == 0 {
        return Ok(());
    }
    context::ensure()?;
    let copy = (&raw const *copy).cast_mut();
    match when {
        When::Now(call) => {
            context::default_stream(call);
            driver!(cuMemcpy3D_v2(copy.cast()))
        }
        When::In(stream) => driver!(cuMemcpy3DAsync_v2(copy.cast(), stream.cast())),
    }
}

/// Copies rows of two dimensions.
#[allow(clippy::too_many_arguments, reason = "the function of CUDA has as many")]
fn copy_2d(
    dst: *mut c_void,
    dst_pitch: usize,
    src: *const c_void,
    src_pitch: usize,
    width: usize,
    height: usize,
    kind: i32,
    when: When,
) -> Answer {
    let kind = Kind::new(kind)?;
    if width > dst_pitch || width > src_pitch {
        return Err(if width == 0 || height == 0 { Status::INVALID_VALUE } else { Status::INVALID_PITCH_VALUE });
    }
    let row = |ptr: *mut c_void, pitch| PitchedPtr { ptr, pitch, xsize: width, ysize: height };
    let extent = Extent { width, height, depth: 1 };
    copy_rows(row(dst, dst_pitch), row(src.cast_mut(), src_pitch), extent, kind, when)
}

/// A copy that `cudaMemcpy3DParms` describes: positions and the extent count elements of an array, if there is one.
pub(super) fn described(parameters: &Memcpy3DParms) -> Answer<DriverCopy> {
    let kind = Kind::new(parameters.kind)?;
    let (from, to) = kind.types();
    let Memcpy3DParms { src_array, src_pos, src_ptr, dst_array, dst_pos, dst_ptr, extent, .. } = *parameters;
    let side =
        |array: *mut c_void, pos: super::types::Pos, ptr: PitchedPtr, memory| -> Answer<(DriverOperand, usize)> {
            if !array.is_null() && !ptr.ptr.is_null() || array.is_null() && ptr.ptr.is_null() {
                return Err(Status::INVALID_VALUE);
            }
            let (operand, element) = if array.is_null() {
                (operand(memory, ptr), 1)
            } else {
                (array_operand(array, 0, 0), array::element_size(array)?)
            };
            let x_in_bytes = pos.x.checked_mul(element).ok_or(Status::INVALID_VALUE)?;
            Ok((DriverOperand { x_in_bytes, y: pos.y, z: pos.z, ..operand }, element))
        };
    let (src, src_element) = side(src_array, src_pos, src_ptr, from)?;
    let (dst, dst_element) = side(dst_array, dst_pos, dst_ptr, to)?;
    if !src_array.is_null() && !dst_array.is_null() && src_element != dst_element {
        return Err(Status::INVALID_VALUE);
    }
    let element = src_element.max(dst_element);
    let width_in_bytes = extent.width.checked_mul(element).ok_or(Status::INVALID_VALUE)?;
    Ok(DriverCopy { src, dst, width_in_bytes, height: extent.height, depth: extent.depth })
}

/// # Safety
/// The pointer is null or leads to the structure.
unsafe fn copy_3d(parameters: *const Memcpy3DParms, when: When) -> Answer {
    // SAFETY: as the caller says.
    let parameters = unsafe { parameters.as_ref() }.ok_or(Status::INVALID_VALUE)?;
    context::ensure()?;
    copy_described(&described(parameters)?, when)
}

/// # Safety
/// The pointer is null or leads to the structure.
unsafe fn copy_3d_peer(parameters: *const Memcpy3DPeerParms, when: When) -> Answer {
    // SAFETY: as the caller says.
    let p = unsafe { parameters.as_ref() }.ok_or(Status::INVALID_VALUE)?;
    context::ensure()?;
    context::checked(p.src_device)?;
    context::checked(p.dst_device)?;
    // Addresses are one space, so that they say where the memory is.
    let same = Memcpy3DParms {
        src_array: p.src_array,
        src_pos: p.src_pos,
        src_ptr: p.src_ptr,
        dst_array: p.dst_array,
        dst_pos: p.dst_pos,
        dst_ptr: p.dst_ptr,
        extent: p.extent,
        kind: 4,
    };
    copy_described(&described(&same)?, when)
}

/// Copies between arrays and rows.
fn copy_array(dst: DriverOperand, src: DriverOperand, width: usize, height: usize, when: When) -> Answer {
    copy_described(&DriverCopy { src, dst, width_in_bytes: width, height, depth: 1 }, when)
}

fn rows(memory: u32, ptr: *const c_void, pitch: usize, height: usize) -> DriverOperand {
    operand(memory, PitchedPtr { ptr: ptr.cast_mut(), pitch, xsize: pitch, ysize: height })
}

/// Copies bytes between an array, row after row, and linear memory.
fn copy_linear(
    array: *const c_void,
    (mut x, mut y): (usize, usize),
    linear: *const c_void,
    count: usize,
    kind: i32,
    to_array: bool,
    when: When,
) -> Answer {
    let (from, to) = Kind::new(kind)?.types();
    context::ensure()?;
    let width = array::row_size(array)?;
    let mut done = 0;
    while done < count {
        let space = width.checked_sub(x).filter(|space| *space > 0).ok_or(Status::INVALID_VALUE)?;
        // A part of a row, or as many whole rows as there are.
        let (bytes, height) =
            if x > 0 || count - done < width { (space.min(count - done), 1) } else { (width, (count - done) / width) };
        let part = linear.wrapping_byte_add(done);
        let at = array_operand(array, x, y);
        if to_array {
            copy_array(at, rows(from, part, bytes, height), bytes, height, when)?;
        } else {
            copy_array(rows(to, part, bytes, height), at, bytes, height, when)?;
        }
        done += bytes * height;
        (x, y) = (0, y + height);
    }
    Ok(())
}

fn symbol(symbol: *const c_void, offset: usize, count: usize) -> Answer<*mut c_void> {
    context::ensure()?;
    let (address, size) = registry::variable(symbol)?;
    if offset.checked_add(count).is_none_or(|end| end > size) {
        return Err(Status::INVALID_VALUE);
    }
    Ok((address as usize + offset) as *mut c_void)
}

/// A place in a variable, and the direction of a copy to it; for copies of nodes.
pub(super) fn to_symbol(of: *const c_void, offset: usize, count: usize, kind: i32) -> Answer<*mut c_void> {
    if !matches!(Kind::new(kind)?, Kind::HostToDevice | Kind::DeviceToDevice | Kind::Default) {
        return Err(Status::INVALID_MEMCPY_DIRECTION);
    }
    symbol(of, offset, count)
}

/// A place in a variable, and the direction of a copy from it.
pub(super) fn from_symbol(of: *const c_void, offset: usize, count: usize, kind: i32) -> Answer<*mut c_void> {
    if !matches!(Kind::new(kind)?, Kind::DeviceToHost | Kind::DeviceToDevice | Kind::Default) {
        return Err(Status::INVALID_MEMCPY_DIRECTION);
    }
    symbol(of, offset, count)
}

runtime! {
    /// Copies bytes.
    fn cudaMemcpy(dst: *mut c_void, src: *const c_void, count: usize, kind: i32) |call| {
        copy(dst, src, count, kind, When::Now(call))
    }

    /// Copies bytes in the order of a stream.
    fn cudaMemcpyAsync(dst: *mut c_void, src: *const c_void, count: usize, kind: i32, stream: *mut c_void) |call| {
        copy(dst, src, count, kind, When::In(context::stream(call, stream)))
    }

    /// Copies bytes between devices.
    fn cudaMemcpyPeer(dst: *mut c_void, dst_device: i32, src: *const c_void, src_device: i32, count: usize) |call| {
        context::checked(dst_device)?;
        context::checked(src_device)?;
        copy(dst, src, count, 4, When::Now(call))
    }

    /// Copies bytes between devices in the order of a stream.
    fn cudaMemcpyPeerAsync(
        dst: *mut c_void, dst_device: i32, src: *const c_void, src_device: i32, count: usize, stream: *mut c_void,
    ) |call| {
        context::checked(dst_device)?;
        context::checked(src_device)?;
        copy(dst, src, count, 4, When::In(context::stream(call, stream)))
    }

    /// Copies rows.
    fn cudaMemcpy2D(
        dst: *mut c_void, dst_pitch: usize, src: *const c_void, src_pitch: usize, width: usize, height: usize,
        kind: i32,
    ) |call| {
        copy_2d(dst, dst_pitch, src, src_pitch, width, height, kind, When::Now(call))
    }

    /// Copies rows in the order of a stream.
    fn cudaMemcpy2DAsync(
        dst: *mut c_void, dst_pitch: usize, src: *const c_void, src_pitch: usize, width: usize, height: usize,
        kind: i32,
        stream: *mut c_void,
    ) |call| {
        copy_2d(dst, dst_pitch, src, src_pitch, width, height, kind, When::In(context::stream(call, stream)))
    }

    /// Copies layers of rows.
    fn cudaMemcpy3D(parameters: *const Memcpy3DParms) |call| {
        unsafe { copy_3d(parameters, When::Now(call)) }
    }

    /// Copies layers of rows in the order of a stream.
    fn cudaMemcpy3DAsync(parameters: *const Memcpy3DParms, stream: *mut c_void) |call| {
        unsafe { copy_3d(parameters, When::In(context::stream(call, stream))) }
    }

    /// Copies layers of rows between devices.
    fn cudaMemcpy3DPeer(parameters: *const Memcpy3DPeerParms) |call| {
        unsafe { copy_3d_peer(parameters, When::Now(call)) }
    }

    /// Copies layers of rows between devices in the order of a stream.
    fn cudaMemcpy3DPeerAsync(parameters: *const Memcpy3DPeerParms, stream: *mut c_void) |call| {
        unsafe { copy_3d_peer(parameters, When::In(context::stream(call, stream))) }
    }

    /// Copies into a variable.
    fn cudaMemcpyToSymbol(to: *const c_void, src: *const c_void, count: usize, offset: usize, kind: i32) |call| {
        copy(to_symbol(to, offset, count, kind)?, src, count, kind, When::Now(call))
    }

    /// Copies into a variable in the order of a stream.
    fn cudaMemcpyToSymbolAsync(
        to: *const c_void, src: *const c_void, count: usize, offset: usize, kind: i32, stream: *mut c_void,
    ) |call| {
        copy(to_symbol(to, offset, count, kind)?, src, count, kind, When::In(context::stream(call, stream)))
    }

    /// Copies from a variable.
    fn cudaMemcpyFromSymbol(dst: *mut c_void, of: *const c_void, count: usize, offset: usize, kind: i32) |call| {
        copy(dst, from_symbol(of, offset, count, kind)?, count, kind, When::Now(call))
    }

    /// Copies from a variable in the order of a stream.
    fn cudaMemcpyFromSymbolAsync(
        dst: *mut c_void, of: *const c_void, count: usize, offset: usize, kind: i32, stream: *mut c_void,
    ) |call| {
        copy(dst, from_symbol(of, offset, count, kind)?, count, kind, When::In(context::stream(call, stream)))
    }

    /// Copies bytes into an array.
    fn cudaMemcpyToArray(dst: *mut c_void, x: usize, y: usize, src: *const c_void, count: usize, kind: i32) |call| {
        copy_linear(dst, (x, y), src, count, kind, true, When::Now(call))
    }

    /// Copies bytes into an array in the order of a stream.
    fn cudaMemcpyToArrayAsync(
        dst: *mut c_void, x: usize, y: usize, src: *const c_void, count: usize, kind: i32, stream: *mut c_void,
    ) |call| {
        copy_linear(dst, (x, y), src, count, kind, true, When::In(context::stream(call, stream)))
    }

    /// Copies bytes from an array.
    fn cudaMemcpyFromArray(dst: *mut c_void, src: *const c_void, x: usize, y: usize, count: usize, kind: i32) |call| {
        copy_linear(src, (x, y), dst, count, kind, false, When::Now(call))
    }

    /// Copies bytes from an array in the order of a stream.
    fn cudaMemcpyFromArrayAsync(
        dst: *mut c_void, src: *const c_void, x: usize, y: usize, count: usize, kind: i32, stream: *mut c_void,
    ) |call| {
        copy_linear(src, (x, y), dst, count, kind, false, When::In(context::stream(call, stream)))
    }

    /// Copies rows into an array.
    fn cudaMemcpy2DToArray(
        dst: *mut c_void, x: usize, y: usize, src: *const c_void, pitch: usize, width: usize, height: usize, kind: i32,
    ) |call| {
        let (from, _) = Kind::new(kind)?.types();
        copy_array(array_operand(dst, x, y), rows(from, src, pitch, height), width, height, When::Now(call))
    }

    /// Copies rows into an array in the order of a stream.
    fn cudaMemcpy2DToArrayAsync(
        dst: *mut c_void, x: usize, y: usize, src: *const c_void, pitch: usize, width: usize, height: usize, kind: i32,
        stream: *mut c_void,
    ) |call| {
        let (from, _) = Kind::new(kind)?.types();
        let when = When::In(context::stream(call, stream));
        copy_array(array_operand(dst, x, y), rows(from, src, pitch, height), width, height, when)
    }

    /// Copies rows from an array.
    fn cudaMemcpy2DFromArray(
        dst: *mut c_void, pitch: usize, src: *const c_void, x: usize, y: usize, width: usize, height: usize, kind: i32,
    ) |call| {
        let (_, to) = Kind::new(kind)?.types();
        copy_array(rows(to, dst, pitch, height), array_operand(src, x, y), width, height, When::Now(call))
    }

    /// Copies rows from an array in the order of a stream.
    fn cudaMemcpy2DFromArrayAsync(
        dst: *mut c_void, pitch: usize, src: *const c_void, x: usize, y: usize, width: usize, height: usize, kind: i32,
        stream: *mut c_void,
    ) |call| {
        let (_, to) = Kind::new(kind)?.types();
        let when = When::In(context::stream(call, stream));
        copy_array(rows(to, dst, pitch, height), array_operand(src, x, y), width, height, when)
    }

    /// Copies rows between arrays.
    fn cudaMemcpy2DArrayToArray(
        dst: *mut c_void, dst_x: usize, dst_y: usize, src: *const c_void, src_x: usize, src_y: usize, width: usize,
        height: usize, kind: i32,
    ) |call| {
        Kind::new(kind)?;
        let (to, from) = (array_operand(dst, dst_x, dst_y), array_operand(src, src_x, src_y));
        copy_array(to, from, width, height, When::Now(call))
    }

    /// Copies bytes between arrays: of one row.
    fn cudaMemcpyArrayToArray(
        dst: *mut c_void, dst_x: usize, dst_y: usize, src: *const c_void, src_x: usize, src_y: usize, count: usize,
        kind: i32,
    ) |call| {
        Kind::new(kind)?;
        context::ensure()?;
        // What does not fit a row of either would have to be cut twice.
        if src_x + count > array::row_size(src)? || dst_x + count > array::row_size(dst)? {
            return Err(Status::NOT_SUPPORTED);
        }
        let (to, from) = (array_operand(dst, dst_x, dst_y), array_operand(src, src_x, src_y));
        copy_array(to, from, count, 1, When::Now(call))
    }

    /// Sets bytes.
    fn cudaMemset(dst: *mut c_void, value: i32, count: usize) |call| {
        if count == 0 {
            return Ok(());
        }
        context::ensure()?;
        context::default_stream(call);
        driver!(cuMemsetD8_v2(dst as u64, value as u8, count))
    }

    /// Sets bytes in the order of a stream.
    fn cudaMemsetAsync(dst: *mut c_void, value: i32, count: usize, stream: *mut c_void) |call| {
        if count == 0 {
            return Ok(());
        }
        context::ensure()?;
        driver!(cuMemsetD8Async(dst as u64, value as u8, count, context::stream(call, stream).cast()))
    }

    /// Sets rows.
    fn cudaMemset2D(dst: *mut c_void, pitch: usize, value: i32, width: usize, height: usize) |call| {
        set_rows(dst, pitch, value, width, height, When::Now(call))
    }

    /// Sets rows in the order of a stream.
    fn cudaMemset2DAsync(
        dst: *mut c_void, pitch: usize, value: i32, width: usize, height: usize, stream: *mut c_void,
    ) |call| {
        set_rows(dst, pitch, value, width, height, When::In(context::stream(call, stream)))
    }

    /// Sets layers of rows.
    fn cudaMemset3D(dst: PitchedPtr, value: i32, extent: Extent) |call| {
        set_layers(dst, value, extent, When::Now(call))
    }

    /// Sets layers of rows in the order of a stream.
    fn cudaMemset3DAsync(dst: PitchedPtr, value: i32, extent: Extent, stream: *mut c_void) |call| {
        set_layers(dst, value, extent, When::In(context::stream(call, stream)))
    }
}

fn set_rows(dst: *mut c_void, pitch: usize, value: i32, width: usize, height: usize, when: When) -> Answer {
    if width == 0 || height == 0 {
        return Ok(());
    }
    if height > 1 && width > pitch {
        return Err(Status::INVALID_PITCH_VALUE);
    }
    context::ensure()?;
    match when {
        When::Now(call) => {
            context::default_stream(call);
            driver!(cuMemsetD2D8_v2(dst as u64, pitch, value as u8, width, height))
        }
        When::In(stream) => driver!(cuMemsetD2D8Async(dst as u64, pitch, value as u8, width, height, stream.cast())),
    }
}

fn set_layers(dst: PitchedPtr, value: i32, extent: Extent, when: When) -> Answer {
    // Where the rows of a layer are all set, the layers are one after the other.
    if extent.height == dst.ysize {
        let rows = extent.height.checked_mul(extent.depth).ok_or(Status::INVALID_VALUE)?;
        return set_rows(dst.ptr, dst.pitch, value, extent.width, rows, when);
    }
    let layer = dst.pitch.checked_mul(dst.ysize).ok_or(Status::INVALID_VALUE)?;
    for z in 0..extent.depth {
        let at = dst.ptr.wrapping_byte_add(z.checked_mul(layer).ok_or(Status::INVALID_VALUE)?);
        set_rows(at, dst.pitch, value, extent.width, extent.height, when)?;
    }
    Ok(())
}
