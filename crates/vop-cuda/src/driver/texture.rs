//! Textures and surfaces: objects, and the references of modules.

#![allow(unsafe_code, reason = "callers pass pointers")]

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};

use vop_run::texture::{AddressMode, Filter, Format, Image, Sampler, Shape, Surface, Texture, View};

use super::array::{array_of, mip_map_of};
use super::types::{DevicePointer, Handle, get, handle, number, put};
use crate::abi::api;
use crate::machine::array::channel;
use crate::machine::module::Module;
use crate::machine::{Context, machine, report};
use crate::status::{Answer, Status};

/// `CUDA_RESOURCE_DESC`: what it is, and what each kind has.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct Resource {
    kind: u32,
    padding: u32,
    value: [u64; 16],
    flags: u32,
}

/// The part of [`Resource`] for linear memory, with a pitch or without.
#[repr(C)]
#[derive(Clone, Copy)]
struct Linear {
    pointer: DevicePointer,
    format: u32,
    channels: u32,
    /// Bytes; with a pitch, texels of a row.
    size: usize,
    height: usize,
    pitch: usize,
}

/// `CUDA_TEXTURE_DESC`.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct TextureDescription {
    address: [u32; 3],
    filter: u32,
    flags: u32,
    anisotropy: u32,
    mip_filter: u32,
    mip_bias: f32,
    mip_clamp: [f32; 2],
    border: [f32; 4],
    reserved: [i32; 12],
}

/// `CUDA_RESOURCE_VIEW_DESC`.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct ViewDescription {
    format: u32,
    extent: [usize; 3],
    levels: [u32; 2],
    layers: [u32; 2],
    reserved: [u32; 16],
}

/// `CU_TRSF_…`.
const READ_AS_INTEGER: u32 = 1;
const NORMALIZED_COORDINATES: u32 = 2;
const SRGB: u32 = 0x10;
const SEAMLESS: u32 = 0x40;

/// What an object was made from, for who asks.
struct Object {
    context: &'static Context,
    resource: Resource,
    texture: Option<TextureDescription>,
    view: Option<ViewDescription>,
}

/// Objects by their handles, which the engine gives.
static OBJECTS: Mutex<Option<HashMap<(usize, u64), Object>>> = Mutex::new(None);

fn with_objects<T>(look: impl FnOnce(&mut HashMap<(usize, u64), Object>) -> T) -> T {
    look(OBJECTS.lock().unwrap_or_else(PoisonError::into_inner).get_or_insert_default())
}

/// The texels that a resource has.
fn image(resource: &Resource) -> Answer<Image> {
    let first = handle(resource.value[0]);
    let machine = machine()?;
    let known = |linear: &Linear, bytes: u64| match machine.space.find_range(linear.pointer, bytes)? {
        Some(_) => Ok(()),
        None => Err(Status::INVALID_VALUE),
    };
    match resource.kind {
        0 => array_of(first)?.image(),
        1 => mip_map_of(first)?.image(),
        kind @ (2 | 3) => {
            // SAFETY: the structure is smaller than the union, and all bits are values of it.
            let linear: Linear = unsafe { (&raw const resource.value).cast::<Linear>().read_unaligned() };
            let format = channel(linear.format)?;
            if !matches!(linear.channels, 1 | 2 | 4) {
                return Err(Status::INVALID_VALUE);
            }
            let texel = format.bytes() * u64::from(linear.channels);
            if kind == 2 {
                known(&linear, linear.size as u64)?;
                let extent = [linear.size as u64 / texel, 0, 0];
                return Ok(Image::new(linear.pointer, format, linear.channels, Shape::Linear, extent));
            }
            let extent = [linear.size as u64, linear.height as u64, 0];
            let image = Image::new(linear.pointer, format, linear.channels, Shape::D2, extent);
            let image = image.with_pitch(linear.pitch as u64);
            known(&linear, image.byte_len())?;
            Ok(image)
        }
        _ => Err(Status::INVALID_VALUE),
    }
}

/// How a description says that a texture is read.
fn sampler(description: &TextureDescription, format: Format) -> Answer<Sampler> {
    let mode = |mode| {
        Ok(match mode {
            0 => AddressMode::Wrap,
            1 => AddressMode::Clamp,
            2 => AddressMode::Mirror,
            3 => AddressMode::Border,
            _ => return Err(Status::INVALID_VALUE),
        })
    };
    let filter = |filter| match filter {
        0 => Ok(Filter::Point),
        1 => Ok(Filter::Linear),
        _ => Err(Status::INVALID_VALUE),
    };
    let flags = description.flags;
    let [x, y, z] = description.address;
    let mut sampler = Sampler::default();
    sampler.address = [mode(x)?, mode(y)?, mode(z)?];
    sampler.filter = filter(description.filter)?;
    sampler.normalized_float = flags & READ_AS_INTEGER == 0 && format.is_integer() && format.bytes() < 4;
    sampler.normalized_coordinates = flags & NORMALIZED_COORDINATES != 0;
    sampler.srgb = flags & SRGB != 0;
    sampler.border = description.border;
    sampler.mip_filter = filter(description.mip_filter)?;
    sampler.mip_bias = description.mip_bias;
    sampler.mip_clamp = description.mip_clamp;
    sampler.max_anisotropy = description.anisotropy;
    sampler.seamless_cube = flags & SEAMLESS != 0;
    Ok(sampler)
}

/// The part of an image that a description names.
fn view(description: &ViewDescription) -> Answer<View> {
    let channels = |first: u32| 1 << (description.format - first);
    let format = match description.format {
        0 => None,
        1..=3 => Some((Format::U8, channels(1))),
        4..=6 => Some((Format::S8, channels(4))),
        7..=9 => Some((Format::U16, channels(7))),
        10..=12 => Some((Format::S16, channels(10))),
        13..=15 => Some((Format::U32, channels(13))),
        16..=18 => Some((Format::S32, channels(16))),
        19..=21 => Some((Format::F16, channels(19))),
        22..=24 => Some((Format::F32, channels(22))),
        25..=34 => return Err(report::not_supported("textures of compressed formats")),
        _ => return Err(Status::INVALID_VALUE),
    };
    Ok(View::new(format, description.levels, description.layers))
}

fn refused(error: vop_run::RunError) -> Status {
    report::refused(&format!("a texture or surface cannot be made: {error}"));
    Status::INVALID_VALUE
}

fn object<T>(handle: u64, kind: impl FnOnce(&Object) -> Answer<T>) -> Answer<T> {
    let context = Context::current()?;
    let key = (context.device.ordinal, handle);
    with_objects(|objects| kind(objects.get(&key).ok_or(Status::INVALID_VALUE)?))
}

fn forget(handle: u64) -> Answer<&'static Context> {
    let context = Context::current()?;
    let removed = with_objects(|objects| objects.remove(&(context.device.ordinal, handle)));
    let removed = removed.ok_or(Status::INVALID_VALUE)?;
    removed.context.drain();
    Ok(removed.context)
}

/// A texture reference of a module: what has been set, which is bound when the texels are known.
struct Reference {
    module: Arc<Module>,
    name: String,
    set: Mutex<Set>,
}

#[derive(Clone)]
struct Set {
    /// The texels, and the handle of their array.
    image: Option<(Image, u64)>,
    address: DevicePointer,
    format: (u32, u32),
    description: TextureDescription,
}

fn reference_of(reference: Handle) -> Answer<Arc<Reference>> {
    machine()?.handles.get(number(reference)).ok_or(Status::INVALID_HANDLE)
}

impl Reference {
    /// Changes what is set, and binds it.
    fn change(&self, change: impl FnOnce(&mut Set) -> Answer) -> Answer {
        let mut set = self.set.lock().unwrap_or_else(PoisonError::into_inner);
        change(&mut set)?;
        let Some((image, _)) = &set.image else { return Ok(()) };
        let texture = Texture::new(*image, sampler(&set.description, image.format)?);
        self.module.context.drain();
        self.module.bind_texture(&self.name, texture).map_err(refused)
    }

    fn get<T>(&self, look: impl FnOnce(&Set) -> T) -> T {
        look(&self.set.lock().unwrap_or_else(PoisonError::into_inner))
    }
}

/// A surface reference of a module.
struct SurfaceReference {
    module: Arc<Module>,
    name: String,
    array: Mutex<u64>,
}

fn surface_of(reference: Handle) -> Answer<Arc<SurfaceReference>> {
    machine()?.handles.get(number(reference)).ok_or(Status::INVALID_HANDLE)
}

api! {
    /// Makes a texture.
    fn cuTexObjectCreate(
        texture: *mut u64, resource: *const Resource, description: *const TextureDescription,
        part: *const ViewDescription
    ) {
        let context = Context::current()?;
        // SAFETY: the structures, or null.
        let (resource, description) = unsafe { (get(resource)?, get(description)?) };
        // SAFETY: the structure, or null.
        let part = if part.is_null() { None } else { Some(unsafe { get(part) }?) };
        if texture.is_null() || resource.flags != 0 {
            return Err(Status::INVALID_VALUE);
        }
        let image = image(&resource)?;
        let mut made = Texture::new(image, sampler(&description, image.format)?);
        if let Some(part) = &part {
            made = made.with_view(view(part)?);
        }
        let handle = context.device.memory().create_texture(made).map_err(refused)?;
        let object = Object { context, resource, texture: Some(description), view: part };
        with_objects(|objects| objects.insert((context.device.ordinal, handle), object));
        // SAFETY: a place for a number.
        unsafe { put(texture, handle) }
    }

    /// Destroys a texture.
    fn cuTexObjectDestroy(texture: u64) {
        object(texture, |found| found.texture.ok_or(Status::INVALID_VALUE))?;
        forget(texture)?.device.memory().destroy_texture(texture).map_err(|_| Status::INVALID_VALUE)
    }

    /// What a texture was made from.
    fn cuTexObjectGetResourceDesc(resource: *mut Resource, texture: u64) {
        let found = object(texture, |found| found.texture.map(|_| found.resource).ok_or(Status::INVALID_VALUE))?;
        // SAFETY: a place for the structure, or null.
        unsafe { put(resource, found) }
    }

    /// How a texture is read.
    fn cuTexObjectGetTextureDesc(description: *mut TextureDescription, texture: u64) {
        let found = object(texture, |found| found.texture.ok_or(Status::INVALID_VALUE))?;
        // SAFETY: a place for the structure, or null.
        unsafe { put(description, found) }
    }

    /// The part of the texels that a texture reads.
    fn cuTexObjectGetResourceViewDesc(part: *mut ViewDescription, texture: u64) {
        let found = object(texture, |found| found.view.ok_or(Status::INVALID_VALUE))?;
        // SAFETY: a place for the structure, or null.
        unsafe { put(part, found) }
    }

    /// Makes a surface.
    fn cuSurfObjectCreate(surface: *mut u64, resource: *const Resource) {
        let context = Context::current()?;
        // SAFETY: the structure, or null.
        let resource = unsafe { get(resource) }?;
        if surface.is_null() || resource.kind != 0 || resource.flags != 0 {
            return Err(Status::INVALID_VALUE);
        }
        let made = Surface::new(image(&resource)?);
        let handle = context.device.memory().create_surface(made).map_err(refused)?;
        let object = Object { context, resource, texture: None, view: None };
        with_objects(|objects| objects.insert((context.device.ordinal, handle), object));
        // SAFETY: a place for a number.
        unsafe { put(surface, handle) }
    }

    /// Destroys a surface.
    fn cuSurfObjectDestroy(surface: u64) {
        object(surface, |found| if found.texture.is_none() { Ok(()) } else { Err(Status::INVALID_VALUE) })?;
        forget(surface)?.device.memory().destroy_surface(surface).map_err(|_| Status::INVALID_VALUE)
    }

    /// What a surface was made from.
    fn cuSurfObjectGetResourceDesc(resource: *mut Resource, surface: u64) {
        let found = object(surface, |found| {
            if found.texture.is_none() { Ok(found.resource) } else { Err(Status::INVALID_VALUE) }
        })?;
        // SAFETY: a place for the structure, or null.
        unsafe { put(resource, found) }
    }

    /// A texture reference of a module.
    fn cuModuleGetTexRef(reference: *mut Handle, module: Handle, name: *const std::ffi::c_char) {
        let machine = machine()?;
        let module: Arc<Module> = machine.handles.get(number(module)).ok_or(Status::INVALID_HANDLE)?;
        // SAFETY: a text, or null.
        let name = unsafe { super::types::text(name) }?.to_owned();
        // Until it is told, the texels are floats, and what is read outside is the nearest one.
        let description = TextureDescription {
            address: [1; 3],
            filter: 0,
            flags: 0,
            anisotropy: 0,
            mip_filter: 0,
            mip_bias: 0.0,
            mip_clamp: [0.0; 2],
            border: [0.0; 4],
            reserved: [0; 12],
        };
        let make = || {
            let set = Mutex::new(Set { image: None, address: 0, format: (0x20, 1), description });
            machine.handles.add(Arc::new(Reference { module: Arc::clone(&module), name: name.clone(), set }))
        };
        let found = module.reference(&name, make)?;
        // SAFETY: a place for a handle, or null.
        unsafe { put(reference, handle(found)) }
    }

    /// Binds an array.
    fn cuTexRefSetArray(reference: Handle, array: Handle, flags: u32) {
        let found = array_of(array)?;
        if flags & !1 != 0 {
            return Err(Status::INVALID_VALUE);
        }
        let image = found.image()?;
        reference_of(reference)?.change(|set| {
            set.image = Some((image, number(array)));
            // `CU_TRSA_OVERRIDE_FORMAT`, which must be set.
            set.format = (found.layout.format, found.layout.channels);
            Ok(())
        })
    }

    /// Binds a mip map.
    fn cuTexRefSetMipmappedArray(reference: Handle, map: Handle, flags: u32) {
        let image = mip_map_of(map)?.image()?;
        if flags & !1 != 0 {
            return Err(Status::INVALID_VALUE);
        }
        reference_of(reference)?.change(|set| {
            set.image = Some((image, number(map)));
            Ok(())
        })
    }

    /// Binds linear memory.
    fn cuTexRefSetAddress_v2(offset: *mut usize, reference: Handle, pointer: DevicePointer, len: usize) {
        let found = machine()?.space.find_range(pointer, len as u64)?;
        found.ok_or(Status::INVALID_VALUE)?;
        reference_of(reference)?.change(|set| {
            let (format, channels) = set.format;
            let format = channel(format)?;
            let texels = len as u64 / (format.bytes() * u64::from(channels));
            let image = Image::new(pointer, format, channels, Shape::Linear, [texels, 0, 0]);
            (set.image, set.address) = (Some((image, 0)), pointer);
            Ok(())
        })?;
        // SAFETY: a place for a number, or null.
        unsafe { super::types::put_if_asked(offset, 0) };
        Ok(())
    }

    /// Binds rows of linear memory.
    fn cuTexRefSetAddress2D_v3(reference: Handle, descriptor: *const [usize; 3], pointer: DevicePointer, pitch: usize) {
        // SAFETY: the structure, or null: width and height, and behind them format and channels of 32 bits each.
        let [width, height, kind] = unsafe { get(descriptor) }?;
        let (format, channels) = (kind as u32, (kind >> 32) as u32);
        let image = Image::new(pointer, channel(format)?, channels, Shape::D2, [width as u64, height as u64, 0]);
        let image = image.with_pitch(pitch as u64);
        let found = machine()?.space.find_range(pointer, image.byte_len())?;
        found.ok_or(Status::INVALID_VALUE)?;
        reference_of(reference)?.change(|set| {
            (set.image, set.address, set.format) = (Some((image, 0)), pointer, (format, channels));
            Ok(())
        })
    }

    /// The format of linear memory that is bound later.
    fn cuTexRefSetFormat(reference: Handle, format: u32, channels: i32) {
        channel(format)?;
        if !matches!(channels, 1 | 2 | 4) {
            return Err(Status::INVALID_VALUE);
        }
        reference_of(reference)?.change(|set| {
            set.format = (format, channels as u32);
            Ok(())
        })
    }

    /// What is read outside, along an axis.
    fn cuTexRefSetAddressMode(reference: Handle, axis: i32, mode: u32) {
        if mode > 3 {
            return Err(Status::INVALID_VALUE);
        }
        reference_of(reference)?.change(|set| {
            let place = usize::try_from(axis).ok().and_then(|axis| set.description.address.get_mut(axis));
            *place.ok_or(Status::INVALID_VALUE)? = mode;
            Ok(())
        })
    }

    /// Which texels make a value.
    fn cuTexRefSetFilterMode(reference: Handle, filter: u32) {
        if filter > 1 {
            return Err(Status::INVALID_VALUE);
        }
        reference_of(reference)?.change(|set| {
            set.description.filter = filter;
            Ok(())
        })
    }

    /// Which levels make a value.
    fn cuTexRefSetMipmapFilterMode(reference: Handle, filter: u32) {
        if filter > 1 {
            return Err(Status::INVALID_VALUE);
        }
        reference_of(reference)?.change(|set| {
            set.description.mip_filter = filter;
            Ok(())
        })
    }

    /// What is added to the level.
    fn cuTexRefSetMipmapLevelBias(reference: Handle, bias: f32) {
        reference_of(reference)?.change(|set| {
            set.description.mip_bias = bias;
            Ok(())
        })
    }

    /// The least level and the greatest.
    fn cuTexRefSetMipmapLevelClamp(reference: Handle, least: f32, greatest: f32) {
        reference_of(reference)?.change(|set| {
            set.description.mip_clamp = [least, greatest];
            Ok(())
        })
    }

    /// The maximum anisotropy.
    fn cuTexRefSetMaxAnisotropy(reference: Handle, anisotropy: u32) {
        reference_of(reference)?.change(|set| {
            set.description.anisotropy = anisotropy;
            Ok(())
        })
    }

    /// What is read outside.
    fn cuTexRefSetBorderColor(reference: Handle, color: *const [f32; 4]) {
        // SAFETY: four numbers, or null.
        let color = unsafe { get(color) }?;
        reference_of(reference)?.change(|set| {
            set.description.border = color;
            Ok(())
        })
    }

    /// Integers as they are; normalised coordinates; sRGB.
    fn cuTexRefSetFlags(reference: Handle, flags: u32) {
        if flags & !(READ_AS_INTEGER | NORMALIZED_COORDINATES | SRGB | 0x20 | SEAMLESS) != 0 {
            return Err(Status::INVALID_VALUE);
        }
        reference_of(reference)?.change(|set| {
            set.description.flags = flags;
            Ok(())
        })
    }

    /// The linear memory that is bound.
    fn cuTexRefGetAddress_v2(pointer: *mut DevicePointer, reference: Handle) {
        let found = reference_of(reference)?.get(|set| set.address);
        if found == 0 {
            return Err(Status::INVALID_VALUE);
        }
        // SAFETY: a place for a pointer, or null.
        unsafe { put(pointer, found) }
    }

    /// The array that is bound.
    fn cuTexRefGetArray(array: *mut Handle, reference: Handle) {
        let found = reference_of(reference)?.get(|set| set.image.map(|(_, array)| array));
        let found = found.map(handle).filter(|array| array_of(*array).is_ok()).ok_or(Status::INVALID_VALUE)?;
        // SAFETY: a place for a handle, or null.
        unsafe { put(array, found) }
    }

    /// What is read outside, along an axis.
    fn cuTexRefGetAddressMode(mode: *mut u32, reference: Handle, axis: i32) {
        let all = reference_of(reference)?.get(|set| set.description.address);
        let found = usize::try_from(axis).ok().and_then(|axis| all.get(axis).copied()).ok_or(Status::INVALID_VALUE)?;
        // SAFETY: a place for a number, or null.
        unsafe { put(mode, found) }
    }

    /// Which texels make a value.
    fn cuTexRefGetFilterMode(filter: *mut u32, reference: Handle) {
        let found = reference_of(reference)?.get(|set| set.description.filter);
        // SAFETY: a place for a number, or null.
        unsafe { put(filter, found) }
    }

    /// The format of the texels.
    fn cuTexRefGetFormat(format: *mut u32, channels: *mut i32, reference: Handle) {
        let (found, count) = reference_of(reference)?.get(|set| set.format);
        // SAFETY: places for numbers, or null.
        unsafe {
            put(format, found)?;
            put(channels, count as i32)
        }
    }

    /// The flags.
    fn cuTexRefGetFlags(flags: *mut u32, reference: Handle) {
        let found = reference_of(reference)?.get(|set| set.description.flags);
        // SAFETY: a place for a number, or null.
        unsafe { put(flags, found) }
    }

    /// A surface reference of a module.
    fn cuModuleGetSurfRef(reference: *mut Handle, module: Handle, name: *const std::ffi::c_char) {
        let machine = machine()?;
        let module: Arc<Module> = machine.handles.get(number(module)).ok_or(Status::INVALID_HANDLE)?;
        // SAFETY: a text, or null.
        let name = unsafe { super::types::text(name) }?.to_owned();
        let make = || {
            let made = SurfaceReference { module: Arc::clone(&module), name: name.clone(), array: Mutex::new(0) };
            machine.handles.add(Arc::new(made))
        };
        let found = module.reference(&name, make)?;
        // SAFETY: a place for a handle, or null.
        unsafe { put(reference, handle(found)) }
    }

    /// Binds an array.
    fn cuSurfRefSetArray(reference: Handle, array: Handle, flags: u32) {
        let found = surface_of(reference)?;
        if flags != 0 {
            return Err(Status::INVALID_VALUE);
        }
        let surface = Surface::new(array_of(array)?.image()?);
        found.module.context.drain();
        found.module.bind_surface(&found.name, surface).map_err(refused)?;
        *found.array.lock().unwrap_or_else(PoisonError::into_inner) = number(array);
        Ok(())
    }

    /// The array that is bound.
    fn cuSurfRefGetArray(array: *mut Handle, reference: Handle) {
        let found = *surface_of(reference)?.array.lock().unwrap_or_else(PoisonError::into_inner);
        if found == 0 {
            return Err(Status::INVALID_VALUE);
        }
        // SAFETY: a place for a handle, or null.
        unsafe { put(array, handle(found)) }
    }
}
