//! What a memory knows of textures and surfaces: by handle, and by reference.

use std::collections::HashMap;
use std::sync::Arc;

use vop_ptx::module::Scalar;

use super::{Filter, Format, Image, Sampler, Shape, Surface, Texture, View};
use crate::decode::Program;
use crate::error::{RunError, RunErrorKind};
use crate::memory::{BufferId, Memory, plural};
use crate::symbol::shown;

/// Handles start here: no address of any memory is as large, and each is given once.
const TEXTURES: u64 = 0x7e00 << 48;
const SURFACES: u64 = 0x5e00 << 48;
const SAMPLERS: u64 = 0x5a00 << 48;

/// The greatest number of texels on an axis: more than any device has, and coordinates are 32-bit numbers.
const MAX_EXTENT: u64 = 1 << 30;
/// An axis of 2^30 texels has so many mip levels.
const MAX_LEVELS: u32 = 31;

/// Where an image stands: the allocation, and the offset of its first texel in it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Place {
    pub(crate) buffer: BufferId,
    pub(crate) offset: u64,
    /// The address of the first texel.
    pub(crate) address: u64,
    /// Bytes from the first texel to the end of the last.
    pub(crate) len: u64,
    /// Whether its memory was freed: what takes the place of the allocation is another one.
    pub(crate) freed: bool,
}

/// A mip level, of the layers that are seen.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Level {
    /// Bytes from the image's start to the level's.
    pub(crate) start: u64,
    /// Texels on each axis, at least 1; of layers and faces, their number.
    pub(crate) extent: [u32; 3],
    /// Bytes from one row to the next, and from one slice, layer or face to the next.
    pub(crate) row: u64,
    pub(crate) slice: u64,
}

/// Texels of a memory, ready to be reached.
#[derive(Clone, Debug)]
pub(crate) struct Texels {
    pub(crate) place: Place,
    pub(crate) format: Format,
    pub(crate) channels: u32,
    pub(crate) shape: Shape,
    pub(crate) texel_bytes: u32,
    /// Whether it is a mipmapped array.
    pub(crate) mipmapped: bool,
    /// From the most detailed one.
    pub(crate) levels: Vec<Level>,
}

/// A texture, ready to be read.
#[derive(Clone, Debug)]
pub(crate) struct Sampled {
    pub(crate) texels: Texels,
    pub(crate) sampler: Sampler,
    /// What it was made of.
    pub(crate) texture: Texture,
}

/// What a handle or a reference means.
#[derive(Clone, Debug)]
pub(crate) enum Known {
    Texture(Sampled),
    Surface(Texels, Surface),
    Sampler(Sampler),
}

impl Known {
    fn place(&mut self) -> Option<&mut Place> {
        match self {
            Known::Texture(sampled) => Some(&mut sampled.texels.place),
            Known::Surface(texels, _) => Some(&mut texels.place),
            Known::Sampler(_) => None,
        }
    }

    /// What it is, for messages.
    pub(crate) fn name(&self) -> &'static str {
        match self {
            Known::Texture(_) => "a texture",
            Known::Surface(..) => "a surface",
            Known::Sampler(_) => "a sampler",
        }
    }
}

/// Textures, surfaces and samplers of a memory.
#[derive(Clone, Debug, Default)]
pub(crate) struct Table {
    by_handle: HashMap<u64, Arc<Known>>,
    /// By the allocation of a reference.
    bound: HashMap<usize, Arc<Known>>,
    /// The number of handles that have been given.
    given: u64,
}

impl Table {
    fn add(&mut self, first: u64, known: Known) -> u64 {
        self.given += 1;
        let handle = first + self.given;
        self.by_handle.insert(handle, Arc::new(known));
        handle
    }

    /// What a handle means.
    pub(crate) fn by_handle(&self, handle: u64) -> Option<&Arc<Known>> {
        self.by_handle.get(&handle)
    }

    /// Notes that an allocation was freed: images may stand in it, and a reference may be there.
    pub(crate) fn forget(this: &mut Arc<Table>, buffer: BufferId) {
        if this.bound.contains_key(&buffer.0) {
            Arc::make_mut(this).bound.remove(&buffer.0);
        }
        let stands_there = |known: &Arc<Known>| match &**known {
            Known::Texture(sampled) => sampled.texels.place.buffer == buffer,
            Known::Surface(texels, _) => texels.place.buffer == buffer,
            Known::Sampler(_) => false,
        };
        if !this.by_handle.values().chain(this.bound.values()).any(stands_there) {
            return;
        }
        let table = Arc::make_mut(this);
        for known in table.by_handle.values_mut().chain(table.bound.values_mut()).filter(|known| stands_there(known)) {
            if let Some(place) = Arc::make_mut(known).place() {
                place.freed = true;
            }
        }
    }

    /// What is bound to references, by their allocations.
    pub(crate) fn bound(&self) -> impl Iterator<Item = (BufferId, &Arc<Known>)> {
        self.bound.iter().map(|(index, known)| (BufferId(*index), known))
    }
}

/// Whether a number was given as a handle once, or looks like one.
pub(crate) fn is_handle(handle: u64) -> bool {
    [TEXTURES, SURFACES, SAMPLERS].contains(&(handle >> 48 << 48))
}

fn wrong(message: String) -> RunError {
    RunError::new(RunErrorKind::Argument, message)
}

/// Checks what an image says of itself.
fn check(image: &Image) -> Result<(), RunError> {
    let shape = image.shape;
    if !matches!(image.channels, 1 | 2 | 4) {
        return Err(wrong(format!("an image of {} channels: a texel has 1, 2 or 4", image.channels)));
    }
    let [width, height, depth] = image.extent;
    let axes = if shape.is_layered() { shape.axes().max(1) } else { shape.axes() };
    let wanted = [true, axes >= 2, axes >= 3 || shape.is_layered()];
    for ((axis, n), wanted) in ["width", "height", "depth"].iter().zip(image.extent).zip(wanted) {
        if wanted && n == 0 || n > MAX_EXTENT || !wanted && n > 1 {
            let most = if wanted { format!("1 to {MAX_EXTENT}") } else { "0 or 1".to_owned() };
            return Err(wrong(format!("a {} image whose {axis} is {n}: it must be {most}", shape.name())));
        }
    }
    let faces = match shape {
        Shape::Cube => depth == 6,
        Shape::LayeredCube => depth % 6 == 0,
        _ => true,
    };
    if !faces || shape.is_cube() && width != height {
        let message = format!("a {} image of {width} x {height} x {depth} texels", shape.name());
        return Err(wrong(message).with_help("a cube has faces as wide as high, and a depth of 6 for each"));
    }
    let most = if shape == Shape::Linear || image.pitch != 0 { 1 } else { MAX_LEVELS };
    if image.levels == 0 || image.levels > most {
        return Err(wrong(format!("an image of {} mip levels: this one may have 1 to {most}", image.levels)));
    }
    let texel = image.texel_bytes();
    if image.pitch != 0 && image.pitch < width * texel {
        let message = format!("a pitch of {}: rows of {width} texels have {}", plural(image.pitch), width * texel);
        return Err(wrong(message).with_help("a pitch is at least as long as a row"));
    }
    Ok(())
}

impl Memory {
    /// Finds an image's texels, and those of a view of it.
    fn texels(&self, image: &Image, view: Option<&View>) -> Result<Texels, RunError> {
        check(image)?;
        let len = image.byte_len();
        let found = self.locate(image.address);
        let Some((buffer, offset)) = found else {
            let message = format!("an image of {} at address {:#x}, where nothing is", plural(len), image.address);
            return Err(RunError::new(RunErrorKind::OutOfBounds, message));
        };
        let there = self.len_of(buffer);
        if len > there - offset {
            let name = crate::memory::shown_allocation(self.name(buffer).unwrap_or_default());
            let message = format!("an image of {} at byte {offset} of {name}, which has {there}", plural(len));
            return Err(RunError::new(RunErrorKind::OutOfBounds, message));
        }
        let texel = image.texel_bytes();
        let (format, channels) = view.and_then(|view| view.format).unwrap_or((image.format, image.channels));
        if format.bytes() * u64::from(channels) != texel || !matches!(channels, 1 | 2 | 4) {
            return Err(wrong(format!(
                "a view as {channels} channels of {} of an image whose texels have {texel} bytes",
                format.name()
            )));
        }
        let channel = format.bytes().max(image.format.bytes());
        if (image.address | image.pitch) & (channel - 1) != 0 {
            let message = format!(
                "an image at address {:#x} with a pitch of {}: channels have {}",
                image.address,
                plural(image.pitch),
                plural(channel)
            );
            return Err(RunError::new(RunErrorKind::Misaligned, message));
        }
        let layers = image.level_extent(0)[2];
        let layered = image.shape.is_layered();
        let all = View { format: None, levels: [0, image.levels - 1], layers: [0, (layers - 1) as u32] };
        let view = view.unwrap_or(&all);
        let [first, last] = view.levels;
        if first > last || last >= image.levels {
            let message = format!("a view of the mip levels {first} to {last} of an image that has {}", image.levels);
            return Err(wrong(message));
        }
        let [from, to] = if layered { view.layers } else { [0, 0] };
        let of_faces = match image.shape {
            Shape::Cube => (from, to) == (0, 5),
            Shape::LayeredCube => from % 6 == 0 && to % 6 == 5,
            _ => true,
        };
        if from > to || layered && u64::from(to) >= layers || !of_faces {
            return Err(wrong(format!("a view of the layers {from} to {to} of an image that has {layers}")));
        }
        let level = |level: u32| {
            let mut extent = image.level_extent(level).map(|n| n as u32);
            if layered {
                extent[2] = to - from + 1;
            }
            let (row, slice) = (image.row_bytes(level), image.slice_bytes(level));
            Level { start: image.level_offset(level) + u64::from(from) * slice, extent, row, slice }
        };
        Ok(Texels {
            place: Place { buffer, offset, address: image.address, len, freed: false },
            format,
            channels,
            shape: image.shape,
            texel_bytes: texel as u32,
            mipmapped: image.mipmapped,
            levels: (first..=last).map(level).collect(),
        })
    }

    fn sampled(&self, texture: &Texture) -> Result<Known, RunError> {
        let texels = self.texels(&texture.image, texture.view.as_ref())?;
        let sampler = texture.sampler;
        let whole = texels.format.is_integer() && (!sampler.normalized_float || texels.format.bytes() == 4);
        let filtered = sampler.filter == Filter::Linear || texels.mipmapped && sampler.mip_filter == Filter::Linear;
        if whole && texels.shape != Shape::Linear && filtered {
            let message = format!("a linear filter of {} texels, which are read as integers", texels.format.name());
            let help = "read integers of 8 or 16 bits as normalised floats, or use the point filter";
            return Err(wrong(message).with_help(help));
        }
        if texels.mipmapped && !sampler.normalized_coordinates {
            let message = "a mipmapped texture whose coordinates are not normalised".to_owned();
            return Err(wrong(message).with_help("CUDA asks for normalised coordinates with mip levels"));
        }
        Ok(Known::Texture(Sampled { texels, sampler, texture: *texture }))
    }

    /// Adds a texture; returns the handle that kernels take: a `.u64`, as `cudaTextureObject_t` is. A handle is given once.
    ///
    /// # Errors
    /// The image is not within an allocation of this memory, or what is said of it or of the sampler does not fit together.
    pub fn create_texture(&mut self, texture: Texture) -> Result<u64, RunError> {
        let known = self.sampled(&texture)?;
        Ok(Arc::make_mut(&mut self.textures).add(TEXTURES, known))
    }

    /// Adds a surface, as [`Memory::create_texture`] a texture: the handle is a `cudaSurfaceObject_t`.
    ///
    /// # Errors
    /// As for [`Memory::create_texture`], and if the image has more than one mip level.
    pub fn create_surface(&mut self, surface: Surface) -> Result<u64, RunError> {
        let known = self.written(&surface)?;
        Ok(Arc::make_mut(&mut self.textures).add(SURFACES, known))
    }

    fn written(&self, surface: &Surface) -> Result<Known, RunError> {
        if surface.image.levels > 1 {
            let message = format!("a surface of {} mip levels: it has one", surface.image.levels);
            return Err(wrong(message).with_help("`Image::level` is one level of an image"));
        }
        Ok(Known::Surface(self.texels(&surface.image, None)?, *surface))
    }

    /// Adds a sampler of its own, for instructions that name texture and sampler; returns its handle.
    pub fn create_sampler(&mut self, sampler: Sampler) -> u64 {
        Arc::make_mut(&mut self.textures).add(SAMPLERS, Known::Sampler(sampler))
    }

    /// The texture of a handle.
    pub fn texture(&self, handle: u64) -> Option<&Texture> {
        match &**self.textures.by_handle(handle)? {
            Known::Texture(sampled) => Some(&sampled.texture),
            _ => None,
        }
    }

    /// The surface of a handle.
    pub fn surface(&self, handle: u64) -> Option<&Surface> {
        match &**self.textures.by_handle(handle)? {
            Known::Surface(_, surface) => Some(surface),
            _ => None,
        }
    }

    /// Takes a texture out. Kernels that use its handle later fail.
    ///
    /// # Errors
    /// The handle is not that of a texture of this memory.
    pub fn destroy_texture(&mut self, handle: u64) -> Result<(), RunError> {
        let found = self.texture(handle).is_some();
        self.destroy(handle, found, "a texture")
    }

    /// Takes a surface out, as [`Memory::destroy_texture`].
    ///
    /// # Errors
    /// The handle is not that of a surface of this memory.
    pub fn destroy_surface(&mut self, handle: u64) -> Result<(), RunError> {
        let found = self.surface(handle).is_some();
        self.destroy(handle, found, "a surface")
    }

    fn destroy(&mut self, handle: u64, found: bool, what: &str) -> Result<(), RunError> {
        if !found {
            return Err(wrong(format!("handle {handle:#x} is not that of {what}")));
        }
        Arc::make_mut(&mut self.textures).by_handle.remove(&handle);
        Ok(())
    }

    /// Binds a texture to a reference of a module: `.global .texref`, or `.tex` of old modules. The name is that of PTX or of C++. What was
    /// bound before is not any more.
    ///
    /// # Errors
    /// The program has no such reference or is not loaded into this memory, or as for [`Memory::create_texture`].
    pub fn bind_texture(&mut self, program: &Program, name: &str, texture: Texture) -> Result<(), RunError> {
        let reference = self.reference(program, name, &["texref", "tex"])?;
        let known = self.sampled(&texture)?;
        self.bind(reference, known);
        Ok(())
    }

    /// Binds a surface to a reference of a module, `.global .surfref`, as [`Memory::bind_texture`].
    ///
    /// # Errors
    /// As for [`Memory::bind_texture`].
    pub fn bind_surface(&mut self, program: &Program, name: &str, surface: Surface) -> Result<(), RunError> {
        let reference = self.reference(program, name, &["surfref"])?;
        let known = self.written(&surface)?;
        self.bind(reference, known);
        Ok(())
    }

    /// Binds a sampler to a reference of a module, `.global .samplerref`, as [`Memory::bind_texture`].
    ///
    /// # Errors
    /// The program has no such reference or is not loaded into this memory.
    pub fn bind_sampler(&mut self, program: &Program, name: &str, sampler: Sampler) -> Result<(), RunError> {
        let reference = self.reference(program, name, &["samplerref"])?;
        self.bind(reference, Known::Sampler(sampler));
        Ok(())
    }

    /// Binds to the reference that stands at an allocation.
    pub(crate) fn bind(&mut self, reference: BufferId, known: Known) {
        Arc::make_mut(&mut self.textures).bound.insert(reference.0, Arc::new(known));
    }

    fn reference(&self, program: &Program, name: &str, kinds: &[&str]) -> Result<BufferId, RunError> {
        let found = program.find_references(name);
        let [(symbol, id, kind)] = found[..] else {
            let message = match found.len() {
                0 => format!("the module has no texture, sampler or surface reference {}", shown(name)),
                count => format!("{} may be any of {count} references", shown(name)),
            };
            return Err(wrong(message));
        };
        if !kinds.contains(&kind) {
            return Err(wrong(format!("{} is declared .{kind}, not .{}", shown(symbol), kinds[0])));
        }
        if !program.is_in(self) {
            let message = format!("the module of reference {} is not in this memory", shown(symbol));
            return Err(wrong(message));
        }
        Ok(id)
    }
}

/// The kind of a reference by the type of its variable.
pub(crate) fn reference_kind(scalar: Scalar) -> Option<&'static str> {
    ["texref", "samplerref", "surfref"].into_iter().find(|name| *name == scalar.name())
}
