//! Arrays for textures and surfaces.

use std::ffi::c_void;

use super::types::{ChannelFormatDesc, DriverArray, Extent};
use super::{context, driver, put, runtime};
use crate::status::{Answer, Status};

/// A format of elements: `CUarray_format` with the bits and the kind of each channel.
const FORMATS: [(u32, i32, i32); 8] = [
    (0x01, 8, UNSIGNED),
    (0x02, 16, UNSIGNED),
    (0x03, 32, UNSIGNED),
    (0x08, 8, SIGNED),
    (0x09, 16, SIGNED),
    (0x0a, 32, SIGNED),
    (0x10, 16, FLOAT),
    (0x20, 32, FLOAT),
];

/// `cudaChannelFormatKind`.
const SIGNED: i32 = 0;
const UNSIGNED: i32 = 1;
const FLOAT: i32 = 2;
/// The first of kinds that name format and channels together: 1, 2 and 4 channels of unsigned and signed bytes, then of 16 bits each.
const NORMALIZED: i32 = 5;
/// `CU_AD_FORMAT_UNORM_INT8X1`; the others follow.
const NORMALIZED_FORMAT: u32 = 0xc0;
/// The order in which the formats follow: by sign after width; the kinds are in the same order.
const NORMALIZED_KINDS: i32 = 12;

/// The driver's format of elements, and how many channels they have.
pub(super) fn format(desc: &ChannelFormatDesc) -> Answer<(u32, u32)> {
    let ChannelFormatDesc { x, y, z, w, kind } = *desc;
    let bits = [x, y, z, w];
    let channels = bits.iter().take_while(|bits| **bits > 0).count();
    let is_even = bits[..channels].iter().all(|bits| *bits == x) && bits[channels..].iter().all(|bits| *bits == 0);
    if !is_even || !matches!(channels, 1 | 2 | 4) {
        return Err(Status::INVALID_CHANNEL_DESCRIPTOR);
    }
    if (NORMALIZED..NORMALIZED + NORMALIZED_KINDS).contains(&kind) {
        return Ok((NORMALIZED_FORMAT + (kind - NORMALIZED) as u32, channels as u32));
    }
    let found = FORMATS.iter().find(|(_, width, of)| *width == x && *of == kind);
    found.map(|(format, ..)| (*format, channels as u32)).ok_or(Status::INVALID_CHANNEL_DESCRIPTOR)
}

/// What [`format`] was made of.
pub(super) fn channel_desc(format: u32, channels: u32) -> Answer<ChannelFormatDesc> {
    let (width, kind) = match FORMATS.iter().find(|(number, ..)| *number == format) {
        Some((_, width, kind)) => (*width, *kind),
        None => {
            let kind = format.checked_sub(NORMALIZED_FORMAT).filter(|kind| *kind < NORMALIZED_KINDS as u32);
            let kind = kind.ok_or(Status::INVALID_CHANNEL_DESCRIPTOR)? as i32;
            (if kind % 6 < 3 { 8 } else { 16 }, NORMALIZED + kind)
        }
    };
    let of = |channel| if channel < channels { width } else { 0 };
    Ok(ChannelFormatDesc { x: of(0), y: of(1), z: of(2), w: of(3), kind })
}

fn descriptor(array: *const c_void) -> Answer<DriverArray> {
    let mut descriptor = DriverArray::default();
    let to = (&raw mut descriptor).cast::<c_void>();
    driver!(cuArray3DGetDescriptor_v2(to.cast(), array.cast_mut().cast()))?;
    Ok(descriptor)
}

/// Bytes of an element.
pub(super) fn element_size(array: *const c_void) -> Answer<usize> {
    let DriverArray { format, channels, .. } = descriptor(array)?;
    let desc = channel_desc(format, channels)?;
    Ok((desc.x + desc.y + desc.z + desc.w) as usize / 8)
}

/// Bytes of a row.
pub(super) fn row_size(array: *const c_void) -> Answer<usize> {
    Ok(descriptor(array)?.width * element_size(array)?)
}

fn described(desc: *const ChannelFormatDesc, extent: Extent, flags: u32) -> Answer<DriverArray> {
    // SAFETY: the caller's.
    let desc = unsafe { desc.as_ref() }.ok_or(Status::INVALID_VALUE)?;
    let (format, channels) = format(desc)?;
    let Extent { width, height, depth } = extent;
    Ok(DriverArray { width, height, depth, format, channels, flags })
}

fn create(array: *mut *mut c_void, mut descriptor: DriverArray) -> Answer {
    if array.is_null() {
        return Err(Status::INVALID_VALUE);
    }
    context::ensure()?;
    let descriptor = (&raw mut descriptor).cast::<c_void>();
    driver!(cuArray3DCreate_v2(array.cast(), descriptor.cast()))
}

runtime! {
    /// Makes an array of one or two dimensions.
    fn cudaMallocArray(
        array: *mut *mut c_void, desc: *const ChannelFormatDesc, width: usize, height: usize, flags: u32,
    ) {
        create(array, described(desc, Extent { width, height, depth: 0 }, flags)?)
    }

    /// Makes an array of up to three dimensions, of layers, or of a cube.
    fn cudaMalloc3DArray(array: *mut *mut c_void, desc: *const ChannelFormatDesc, extent: Extent, flags: u32) {
        create(array, described(desc, extent, flags)?)
    }

    /// Makes an array for each level of a mip map.
    fn cudaMallocMipmappedArray(
        array: *mut *mut c_void, desc: *const ChannelFormatDesc, extent: Extent, levels: u32, flags: u32,
    ) {
        if array.is_null() {
            return Err(Status::INVALID_VALUE);
        }
        let mut descriptor = described(desc, extent, flags)?;
        context::ensure()?;
        let descriptor = (&raw mut descriptor).cast::<c_void>();
        driver!(cuMipmappedArrayCreate(array.cast(), descriptor.cast(), levels))
    }

    /// Destroys an array.
    fn cudaFreeArray(array: *mut c_void) {
        context::ensure()?;
        if array.is_null() { Ok(()) } else { driver!(cuArrayDestroy(array.cast())) }
    }

    /// Destroys a mip map.
    fn cudaFreeMipmappedArray(array: *mut c_void) {
        context::ensure()?;
        if array.is_null() { Ok(()) } else { driver!(cuMipmappedArrayDestroy(array.cast())) }
    }

    /// The array of a level of a mip map.
    fn cudaGetMipmappedArrayLevel(array: *mut *mut c_void, mipmap: *const c_void, level: u32) {
        context::ensure()?;
        driver!(cuMipmappedArrayGetLevel(array.cast(), mipmap.cast_mut().cast(), level))
    }

    /// What an array is.
    fn cudaArrayGetInfo(desc: *mut ChannelFormatDesc, extent: *mut Extent, flags: *mut u32, array: *mut c_void) {
        context::ensure()?;
        let found = descriptor(array)?;
        unsafe {
            if !desc.is_null() {
                put(desc, channel_desc(found.format, found.channels)?)?;
            }
            if !extent.is_null() {
                put(extent, Extent { width: found.width, height: found.height, depth: found.depth })?;
            }
            if !flags.is_null() {
                put(flags, found.flags)?;
            }
        }
        Ok(())
    }

    /// The format of an array's elements.
    fn cudaGetChannelDesc(desc: *mut ChannelFormatDesc, array: *const c_void) {
        context::ensure()?;
        let found = descriptor(array)?;
        unsafe { put(desc, channel_desc(found.format, found.channels)?) }
    }

    /// The array of a plane of an array of several formats.
    fn cudaArrayGetPlane(plane: *mut *mut c_void, array: *mut c_void, index: u32) {
        context::ensure()?;
        driver!(cuArrayGetPlane(plane.cast(), array.cast(), index))
    }

    /// How much memory an array takes.
    fn cudaArrayGetMemoryRequirements(requirements: *mut c_void, array: *mut c_void, device: i32) {
        context::ensure()?;
        driver!(cuArrayGetMemoryRequirements(requirements.cast(), array.cast(), context::checked(device)?))
    }
}

/// A format of elements.
pub unsafe extern "C" fn cudaCreateChannelDesc(x: i32, y: i32, z: i32, w: i32, kind: i32) -> ChannelFormatDesc {
    ChannelFormatDesc { x, y, z, w, kind }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn formats_are_read_back() {
        let mut count = 0;
        for channels in [1, 2, 4] {
            for (width, kind) in [(8, UNSIGNED), (16, SIGNED), (32, FLOAT), (16, FLOAT), (32, UNSIGNED)] {
                let of = |channel| if channel < channels { width } else { 0 };
                let desc = ChannelFormatDesc { x: of(0), y: of(1), z: of(2), w: of(3), kind };
                let (format, number) = format(&desc).expect("a format");
                assert_eq!((channel_desc(format, number), number), (Ok(desc), channels));
                count += 1;
            }
        }
        assert_eq!(count, 15);
        for (x, y, z, kind) in
            [(8, 8, 8, UNSIGNED), (8, 16, 0, UNSIGNED), (0, 8, 0, UNSIGNED), (8, 0, 0, FLOAT), (64, 0, 0, 0)]
        {
            assert_eq!(format(&ChannelFormatDesc { x, y, z, w: 0, kind }), Err(Status::INVALID_CHANNEL_DESCRIPTOR));
        }
    }
}
