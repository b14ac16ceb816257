//! Textures and surfaces: their descriptions, as the driver has them and back.

use std::ffi::c_void;

use super::types::ChannelFormatDesc;
use super::{array, context, driver, put, runtime};
use crate::status::{Answer, Status};

/// `cudaResourceDesc`, as far as CUDA 12 has it.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct ResourceDesc {
    kind: i32,
    of: ResourceOf,
}

/// What a resource is, by its kind.
#[repr(C)]
#[derive(Clone, Copy)]
union ResourceOf {
    array: *mut c_void,
    linear: Linear,
    pitched: Pitched,
}

#[repr(C)]
#[derive(Clone, Copy)]
struct Linear {
    pointer: *mut c_void,
    desc: ChannelFormatDesc,
    size: usize,
}

#[repr(C)]
#[derive(Clone, Copy)]
struct Pitched {
    pointer: *mut c_void,
    desc: ChannelFormatDesc,
    width: usize,
    height: usize,
    pitch: usize,
}

/// `cudaResourceType`.
const ARRAY: i32 = 0;
const MIPMAP: i32 = 1;
const LINEAR: i32 = 2;
const PITCH_2D: i32 = 3;

/// `CUDA_RESOURCE_DESC`.
#[repr(C)]
#[derive(Clone, Copy, Default)]
struct DriverResource {
    kind: i32,
    /// The handle of an array, or an address.
    pointer: u64,
    format: u32,
    channels: u32,
    /// Bytes of linear memory; width, height and pitch of pitched memory.
    sizes: [usize; 3],
    rest: [u64; 11],
    flags: u32,
}

impl DriverResource {
    /// # Safety
    /// The pointer is null or leads to the structure, whose kind says what it holds.
    unsafe fn read(desc: *const ResourceDesc) -> Answer<DriverResource> {
        if desc.is_null() {
            return Err(Status::INVALID_VALUE);
        }
        // SAFETY: as the caller says. The part that the kind does not name is bytes of the structure too.
        let ResourceDesc { kind, of } = unsafe { desc.read_unaligned() };
        let mut found = DriverResource { kind, ..DriverResource::default() };
        // SAFETY: the kind says which part is valid; all of them are plain numbers.
        unsafe {
            match kind {
                ARRAY | MIPMAP => found.pointer = of.array as u64,
                LINEAR => {
                    let Linear { pointer, desc, size } = of.linear;
                    (found.format, found.channels) = array::format(&desc)?;
                    (found.pointer, found.sizes[0]) = (pointer as u64, size);
                }
                PITCH_2D => {
                    let Pitched { pointer, desc, width, height, pitch } = of.pitched;
                    (found.format, found.channels) = array::format(&desc)?;
                    (found.pointer, found.sizes) = (pointer as u64, [width, height, pitch]);
                }
                _ => return Err(Status::INVALID_VALUE),
            }
        }
        Ok(found)
    }

    fn desc(&self) -> Answer<ResourceDesc> {
        let pointer = self.pointer as *mut c_void;
        let channel = || array::channel_desc(self.format, self.channels);
        let [width, height, pitch] = self.sizes;
        let of = match self.kind {
            LINEAR => ResourceOf { linear: Linear { pointer, desc: channel()?, size: width } },
            PITCH_2D => ResourceOf { pitched: Pitched { pointer, desc: channel()?, width, height, pitch } },
            _ => ResourceOf { array: pointer },
        };
        Ok(ResourceDesc { kind: self.kind, of })
    }

    /// The kind of numbers that the elements are, and their bits.
    fn element(&self) -> Answer<ChannelFormatDesc> {
        let mut desc = ChannelFormatDesc::default();
        match self.kind {
            ARRAY => super::answer(unsafe { super::cudaGetChannelDesc(&raw mut desc, self.pointer as *const c_void) })?,
            MIPMAP => {
                let mut level: *mut c_void = std::ptr::null_mut();
                driver!(cuMipmappedArrayGetLevel((&raw mut level).cast(), (self.pointer as *mut c_void).cast(), 0))?;
                super::answer(unsafe { super::cudaGetChannelDesc(&raw mut desc, level) })?;
            }
            _ => desc = array::channel_desc(self.format, self.channels)?,
        }
        Ok(desc)
    }
}

/// `cudaTextureDesc`.
#[repr(C)]
#[derive(Clone, Copy, Default)]
pub struct TextureDesc {
    address: [i32; 3],
    filter: i32,
    read: i32,
    srgb: i32,
    border: [f32; 4],
    normalized: i32,
    anisotropy: u32,
    mipmap_filter: i32,
    bias: f32,
    clamp: [f32; 2],
    no_trilinear_optimization: i32,
    seamless: i32,
}

/// `CUDA_TEXTURE_DESC`.
#[repr(C)]
#[derive(Clone, Copy, Default)]
struct DriverTexture {
    address: [i32; 3],
    filter: i32,
    flags: u32,
    anisotropy: u32,
    mipmap_filter: i32,
    bias: f32,
    clamp: [f32; 2],
    border: [f32; 4],
    reserved: [i32; 12],
}

/// `CU_TRSF_…`, and the field that asks for each.
const READ_AS_INTEGER: u32 = 0x01;
const NORMALIZED: u32 = 0x02;
const SRGB: u32 = 0x10;
const NO_TRILINEAR: u32 = 0x20;
const SEAMLESS: u32 = 0x40;

impl DriverTexture {
    fn new(desc: &TextureDesc) -> DriverTexture {
        let flag = |is: bool, flag: u32| if is { flag } else { 0 };
        DriverTexture {
            address: desc.address,
            filter: desc.filter,
            flags: flag(desc.read == 0, READ_AS_INTEGER)
                | flag(desc.normalized != 0, NORMALIZED)
                | flag(desc.srgb != 0, SRGB)
                | flag(desc.no_trilinear_optimization != 0, NO_TRILINEAR)
                | flag(desc.seamless != 0, SEAMLESS),
            anisotropy: desc.anisotropy,
            mipmap_filter: desc.mipmap_filter,
            bias: desc.bias,
            clamp: desc.clamp,
            border: desc.border,
            reserved: [0; 12],
        }
    }

    fn desc(&self) -> TextureDesc {
        let has = |flag: u32| i32::from(self.flags & flag != 0);
        TextureDesc {
            address: self.address,
            filter: self.filter,
            read: 1 - has(READ_AS_INTEGER),
            srgb: has(SRGB),
            border: self.border,
            normalized: has(NORMALIZED),
            anisotropy: self.anisotropy,
            mipmap_filter: self.mipmap_filter,
            bias: self.bias,
            clamp: self.clamp,
            no_trilinear_optimization: has(NO_TRILINEAR),
            seamless: has(SEAMLESS),
        }
    }
}

/// Bytes of `cudaResourceViewDesc` of CUDA 12, which are its fields; that of 13 and the driver's have reserved bytes behind them.
const VIEW: usize = 48;
const DRIVER_VIEW: usize = 112;

runtime! {
    /// Makes a texture.
    fn cudaCreateTextureObject(
        texture: *mut u64, resource: *const ResourceDesc, desc: *const TextureDesc, view: *const c_void,
    ) {
        context::ensure()?;
        let mut resource = unsafe { DriverResource::read(resource)? };
        let desc = unsafe { desc.as_ref() }.ok_or(Status::INVALID_VALUE)?;
        let element = resource.element()?;
        // Integers can only be filtered after they have become floats, and those of 32 bits cannot.
        let is_integer = element.kind < 2;
        if is_integer && desc.read == 1 && element.x == 32 {
            return Err(Status::INVALID_NORM_SETTING);
        }
        if is_integer && desc.read == 0 && desc.filter == 1 && resource.kind != LINEAR {
            return Err(Status::INVALID_FILTER_SETTING);
        }
        let mut texture_desc = DriverTexture::new(desc);
        let mut driver_view = [0u64; DRIVER_VIEW / 8];
        let has_view = !view.is_null();
        if has_view {
            unsafe { driver_view.as_mut_ptr().cast::<u8>().copy_from_nonoverlapping(view.cast(), VIEW) };
        }
        let view = if has_view { driver_view.as_mut_ptr().cast::<c_void>() } else { std::ptr::null_mut() };
        let resource = (&raw mut resource).cast::<c_void>();
        let desc = (&raw mut texture_desc).cast::<c_void>();
        driver!(cuTexObjectCreate(texture, resource.cast(), desc.cast(), view.cast()))
    }

    /// Destroys a texture.
    fn cudaDestroyTextureObject(texture: u64) {
        context::ensure()?;
        if texture == 0 { Ok(()) } else { driver!(cuTexObjectDestroy(texture)) }
    }

    /// What a texture is of.
    fn cudaGetTextureObjectResourceDesc(desc: *mut ResourceDesc, texture: u64) {
        context::ensure()?;
        let mut resource = DriverResource::default();
        let to = (&raw mut resource).cast::<c_void>();
        driver!(cuTexObjectGetResourceDesc(to.cast(), texture))?;
        unsafe { put(desc, resource.desc()?) }
    }

    /// How a texture is read.
    fn cudaGetTextureObjectTextureDesc(desc: *mut TextureDesc, texture: u64) {
        context::ensure()?;
        let mut found = DriverTexture::default();
        let to = (&raw mut found).cast::<c_void>();
        driver!(cuTexObjectGetTextureDesc(to.cast(), texture))?;
        unsafe { put(desc, found.desc()) }
    }

    /// How a texture views its resource.
    fn cudaGetTextureObjectResourceViewDesc(desc: *mut [u8; VIEW], texture: u64) {
        context::ensure()?;
        let mut view = [0u64; DRIVER_VIEW / 8];
        let to = view.as_mut_ptr().cast::<c_void>();
        driver!(cuTexObjectGetResourceViewDesc(to.cast(), texture))?;
        unsafe { put(desc, *view.as_ptr().cast::<[u8; VIEW]>()) }
    }

    /// Makes a surface.
    fn cudaCreateSurfaceObject(surface: *mut u64, resource: *const ResourceDesc) {
        context::ensure()?;
        let mut resource = unsafe { DriverResource::read(resource)? };
        let resource = (&raw mut resource).cast::<c_void>();
        driver!(cuSurfObjectCreate(surface, resource.cast()))
    }

    /// Destroys a surface.
    fn cudaDestroySurfaceObject(surface: u64) {
        context::ensure()?;
        if surface == 0 { Ok(()) } else { driver!(cuSurfObjectDestroy(surface)) }
    }

    /// What a surface is of.
    fn cudaGetSurfaceObjectResourceDesc(desc: *mut ResourceDesc, surface: u64) {
        context::ensure()?;
        let mut resource = DriverResource::default();
        let to = (&raw mut resource).cast::<c_void>();
        driver!(cuSurfObjectGetResourceDesc(to.cast(), surface))?;
        unsafe { put(desc, resource.desc()?) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// As C compilers lay them out (driver_types.h, texture_types.h and cuda.h of CUDA 12.9 and 13.5).
    #[test]
    fn sizes_are_those_of_the_headers() {
        assert_eq!((size_of::<ResourceDesc>(), size_of::<DriverResource>()), (64, 144));
        assert_eq!((size_of::<TextureDesc>(), size_of::<DriverTexture>()), (72, 104));
        assert_eq!(std::mem::offset_of!(DriverResource, flags), 136);
    }

    #[test]
    fn descriptions_are_read_back() {
        let desc = TextureDesc {
            address: [0, 1, 3],
            filter: 1,
            read: 1,
            srgb: 1,
            border: [1.0, 2.0, 3.0, 4.0],
            normalized: 1,
            anisotropy: 3,
            mipmap_filter: 1,
            bias: 0.5,
            clamp: [1.0, 2.0],
            no_trilinear_optimization: 1,
            seamless: 1,
        };
        let there = DriverTexture::new(&desc);
        assert_eq!(there.flags, 0x72);
        let back = there.desc();
        assert_eq!((back.read, back.srgb, back.normalized, back.seamless, back.address), (1, 1, 1, 1, [0, 1, 3]));
        assert_eq!(DriverTexture::new(&TextureDesc::default()).flags, READ_AS_INTEGER);
    }
}
