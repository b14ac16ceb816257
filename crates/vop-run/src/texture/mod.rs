//! Textures and surfaces: what they are made of, and how a [`Memory`](crate::Memory) knows them.
//!
//! A texture is an [`Image`], which says where texels stand and what they are, and a [`Sampler`], which says how they are read. A kernel
//! takes it as a handle of 64 bits, from [`Memory::create_texture`](crate::Memory::create_texture), or names a reference of its module
//! (`.texref`), to which [`Memory::bind_texture`](crate::Memory::bind_texture) binds it. A [`Surface`] is an image that is read and
//! written by whole coordinates.
//!
//! Texels stand in an ordinary allocation of the memory, row by row: see [`Image`]. Everything in CUDA's `cudaResourceDesc`,
//! `cudaTextureDesc` and `cudaResourceViewDesc` but compressed and video formats has its place here.
//!
//! ```
//! use vop_run::texture::{Format, Image, Sampler, Shape, Texture};
//! use vop_run::{LaunchOptions, Program};
//!
//! let program = Program::read(
//!     ".version 8.0 .target sm_75 .address_size 64
//!      .entry fetch(.param .u64 out, .param .u64 picture, .param .f32 x) {
//!          .reg .f32 %f<6>; .reg .b64 %rd<3>;
//!          ld.param.u64 %rd1, [out];
//!          ld.param.u64 %rd2, [picture];
//!          ld.param.f32 %f1, [x];
//!          tex.1d.v4.f32.f32 {%f2, %f3, %f4, %f5}, [%rd2, {%f1}];
//!          st.global.f32 [%rd1], %f2;
//!      }",
//! );
//! let mut memory = program.memory();
//! let out = memory.allocate("out", [0; 4]);
//! let texels = memory.allocate("texels", [10.0f32, 20.0].map(f32::to_le_bytes).as_flattened());
//! let image = Image::new(memory.address(texels), Format::F32, 1, Shape::D1, [2, 0, 0]);
//! let picture = memory.create_texture(Texture::new(image, Sampler::default().with_linear_filter()))?;
//! let args = [out.into(), picture.into(), 1.0f32.into()];
//! program.kernel("fetch")?.launch([1; 3], [1; 3], &args, &mut memory, &LaunchOptions::default())?;
//! // Halfway between the centres of both texels.
//! assert_eq!(memory.bytes(out), 15.0f32.to_le_bytes());
//! # Ok::<(), vop_run::RunErrors>(())
//! ```

pub(crate) mod fetch;
pub(crate) mod op;
pub(crate) mod table;

/// What a channel of a texel is in memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Format {
    /// Unsigned integers of 8 bits.
    U8,
    /// Signed integers of 8 bits.
    S8,
    /// Unsigned integers of 16 bits.
    U16,
    /// Signed integers of 16 bits.
    S16,
    /// Unsigned integers of 32 bits.
    U32,
    /// Signed integers of 32 bits.
    S32,
    /// Floating point of 16 bits.
    F16,
    /// Floating point of 32 bits.
    F32,
    /// Unsigned integers of 8 bits that are always read as numbers from 0 to 1: `CU_AD_FORMAT_UNORM_INT8X1` and others.
    Unorm8,
    /// Signed integers of 8 bits that are always read as numbers from -1 to 1.
    Snorm8,
    /// Unsigned integers of 16 bits that are always read as numbers from 0 to 1.
    Unorm16,
    /// Signed integers of 16 bits that are always read as numbers from -1 to 1.
    Snorm16,
}

impl Format {
    /// Bytes of a channel.
    pub fn bytes(self) -> u64 {
        match self {
            Format::U8 | Format::S8 | Format::Unorm8 | Format::Snorm8 => 1,
            Format::U16 | Format::S16 | Format::F16 | Format::Unorm16 | Format::Snorm16 => 2,
            Format::U32 | Format::S32 | Format::F32 => 4,
        }
    }

    /// Whether its values are integers that a sampler may make floats of.
    pub fn is_integer(self) -> bool {
        matches!(self, Format::U8 | Format::S8 | Format::U16 | Format::S16 | Format::U32 | Format::S32)
    }

    /// Its name: `u8`, `unorm16`.
    pub fn name(self) -> &'static str {
        match self {
            Format::U8 => "u8",
            Format::S8 => "i8",
            Format::U16 => "u16",
            Format::S16 => "i16",
            Format::U32 => "u32",
            Format::S32 => "i32",
            Format::F16 => "f16",
            Format::F32 => "f32",
            Format::Unorm8 => "unorm8",
            Format::Snorm8 => "snorm8",
            Format::Unorm16 => "unorm16",
            Format::Snorm16 => "snorm16",
        }
    }
}

/// How texels are arranged.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Shape {
    /// Linear memory: a row of any length, read by whole coordinates (`tex1Dfetch`). Beyond its end is zero.
    Linear,
    /// An array of one dimension.
    D1,
    /// An array of two dimensions, or linear memory with a pitch.
    D2,
    /// An array of three dimensions.
    D3,
    /// Layers of one dimension: the depth is their number.
    Layered1D,
    /// Layers of two dimensions: the depth is their number.
    Layered2D,
    /// A cube: the depth is 6, its faces are +x, -x, +y, -y, +z, -z.
    Cube,
    /// Layers of cubes: the depth is 6 times their number.
    LayeredCube,
}

impl Shape {
    /// Its name, for messages.
    pub fn name(self) -> &'static str {
        match self {
            Shape::Linear => "linear",
            Shape::D1 => "1d",
            Shape::D2 => "2d",
            Shape::D3 => "3d",
            Shape::Layered1D => "layered 1d",
            Shape::Layered2D => "layered 2d",
            Shape::Cube => "cube",
            Shape::LayeredCube => "layered cube",
        }
    }

    /// How many axes of a layer have coordinates: a cube's faces have two.
    pub(crate) fn axes(self) -> usize {
        match self {
            Shape::Linear | Shape::D1 | Shape::Layered1D => 1,
            Shape::D2 | Shape::Layered2D | Shape::Cube | Shape::LayeredCube => 2,
            Shape::D3 => 3,
        }
    }

    /// Whether the depth counts layers or faces.
    pub(crate) fn is_layered(self) -> bool {
        matches!(self, Shape::Layered1D | Shape::Layered2D | Shape::Cube | Shape::LayeredCube)
    }

    pub(crate) fn is_cube(self) -> bool {
        matches!(self, Shape::Cube | Shape::LayeredCube)
    }
}

/// Texels in a memory.
///
/// A texel's channels follow one another, as do the texels of a row. Rows are [`Image::pitch`] bytes apart; if it is 0, they follow one
/// another. Slices of the depth, layers and faces follow one another as well, and so do mip levels: behind all of a level is the next,
/// which has half the width, height and, in three dimensions, depth, rounded down, and at least 1.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Image {
    /// The address of the first texel, in the [`Memory`](crate::Memory) where it is used.
    pub address: u64,
    /// What a channel is.
    pub format: Format,
    /// Channels of a texel: 1, 2 or 4.
    pub channels: u32,
    /// How texels are arranged.
    pub shape: Shape,
    /// Width, height and depth of the first mip level in texels, as CUDA counts them: what the shape does not have is 0 (or 1), and the
    /// depth counts layers and faces.
    pub extent: [u64; 3],
    /// Bytes from the start of a row to that of the next; 0 if rows follow one another. Only with one mip level.
    pub pitch: u64,
    /// The number of mip levels, at least 1.
    pub levels: u32,
    /// Whether it is a mipmapped array. One with a single level is read by `.level` and `.grad` as well.
    pub mipmapped: bool,
}

impl Image {
    /// Texels whose rows follow one another, with one mip level.
    pub fn new(address: u64, format: Format, channels: u32, shape: Shape, extent: [u64; 3]) -> Image {
        Image { address, format, channels, shape, extent, pitch: 0, levels: 1, mipmapped: false }
    }

    /// Sets [`Image::pitch`].
    #[must_use]
    pub fn with_pitch(self, pitch: u64) -> Image {
        Image { pitch, ..self }
    }

    /// With this number of mip levels, which follow one another.
    #[must_use]
    pub fn with_levels(self, levels: u32) -> Image {
        Image { levels, mipmapped: true, ..self }
    }

    /// Bytes of a texel.
    pub fn texel_bytes(&self) -> u64 {
        self.format.bytes() * u64::from(self.channels)
    }

    /// Width, height and depth of a mip level, at least 1 each.
    pub fn level_extent(&self, level: u32) -> [u64; 3] {
        let [width, height, depth] = self.extent.map(|n| n.max(1));
        let half = |n: u64| n.checked_shr(level).unwrap_or(0).max(1);
        match self.shape.axes() {
            1 => [half(width), 1, if self.shape.is_layered() { depth } else { 1 }],
            2 => [half(width), half(height), if self.shape.is_layered() { depth } else { 1 }],
            _ => [half(width), half(height), half(depth)],
        }
    }

    /// Bytes from one row of a mip level to the next.
    pub fn row_bytes(&self, level: u32) -> u64 {
        let [width, ..] = self.level_extent(level);
        if self.pitch != 0 { self.pitch } else { width.saturating_mul(self.texel_bytes()) }
    }

    /// Bytes from one slice, layer or face of a mip level to the next.
    pub fn slice_bytes(&self, level: u32) -> u64 {
        self.row_bytes(level).saturating_mul(self.level_extent(level)[1])
    }

    /// Bytes of a mip level. The last row of an image with a pitch ends with its last texel.
    pub fn level_bytes(&self, level: u32) -> u64 {
        let [width, height, depth] = self.level_extent(level);
        let rows = height.saturating_mul(depth);
        let last = width.saturating_mul(self.texel_bytes());
        self.row_bytes(level).saturating_mul(rows - 1).saturating_add(last)
    }

    /// Where a mip level starts, in bytes behind the first.
    pub fn level_offset(&self, level: u32) -> u64 {
        (0..level).fold(0, |sum, level| sum.saturating_add(self.level_bytes(level)))
    }

    /// Bytes of all mip levels: what an allocation for them must have.
    pub fn byte_len(&self) -> u64 {
        self.level_offset(self.levels)
    }

    /// One mip level, as an image of its own: what `cudaGetMipmappedArrayLevel` returns.
    pub fn level(&self, level: u32) -> Image {
        let address = self.address.wrapping_add(self.level_offset(level));
        let mut extent = self.level_extent(level);
        for (n, whole) in extent.iter_mut().zip(self.extent) {
            if whole == 0 {
                *n = 0;
            }
        }
        Image { address, extent, levels: 1, mipmapped: false, ..*self }
    }
}

/// A part of an image, and another format of it: `cudaResourceViewDesc`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct View {
    /// The format and the number of channels; a texel has as many bytes as in the image.
    pub format: Option<(Format, u32)>,
    /// The mip levels from the first to the last.
    pub levels: [u32; 2],
    /// The layers from the first to the last. Of a layered cube they count faces.
    pub layers: [u32; 2],
}

impl View {
    /// The part of an image with these mip levels and layers, from the first to the last.
    pub fn new(format: Option<(Format, u32)>, levels: [u32; 2], layers: [u32; 2]) -> View {
        View { format, levels, layers }
    }
}

/// What is read outside an image.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum AddressMode {
    /// The image repeats; with coordinates that are not normalised, as [`AddressMode::Clamp`].
    #[default]
    Wrap,
    /// The nearest texel.
    Clamp,
    /// The image repeats, every other time mirrored; with coordinates that are not normalised, as [`AddressMode::Clamp`].
    Mirror,
    /// [`Sampler::border`].
    Border,
}

/// Which texels make a value.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Filter {
    /// The nearest one.
    #[default]
    Point,
    /// Those around, by their distance.
    Linear,
}

/// How a texture is read: `cudaTextureDesc`. The default is that structure filled with zeros.
#[derive(Clone, Copy, Debug, PartialEq)]
#[non_exhaustive]
pub struct Sampler {
    /// By axis.
    pub address: [AddressMode; 3],
    /// Within a mip level.
    pub filter: Filter,
    /// Whether integers of 8 and 16 bits are read as floats from 0 or -1 to 1 (`cudaReadModeNormalizedFloat`). Those of 32 bits never are.
    pub normalized_float: bool,
    /// Whether coordinates go from 0 to 1 over the image. Mipmapped images need it.
    pub normalized_coordinates: bool,
    /// Whether the first three channels of unsigned bytes that are read as floats are converted from sRGB.
    pub srgb: bool,
    /// What [`AddressMode::Border`] reads.
    pub border: [f32; 4],
    /// Between mip levels.
    pub mip_filter: Filter,
    /// What is added to the mip level.
    pub mip_bias: f32,
    /// The least mip level and the greatest.
    pub mip_clamp: [f32; 2],
    /// The maximum anisotropy. It is kept and not used: see docs/run.md.
    pub max_anisotropy: u32,
    /// Whether a cube is filtered across its edges.
    pub seamless_cube: bool,
}

impl Default for Sampler {
    fn default() -> Sampler {
        Sampler {
            address: [AddressMode::Wrap; 3],
            filter: Filter::Point,
            normalized_float: false,
            normalized_coordinates: false,
            srgb: false,
            border: [0.0; 4],
            mip_filter: Filter::Point,
            mip_bias: 0.0,
            mip_clamp: [0.0; 2],
            max_anisotropy: 0,
            seamless_cube: false,
        }
    }
}

impl Sampler {
    /// The same [`Sampler::address`] for all axes.
    #[must_use]
    pub fn with_address(self, mode: AddressMode) -> Sampler {
        Sampler { address: [mode; 3], ..self }
    }

    /// [`Filter::Linear`] within a mip level.
    #[must_use]
    pub fn with_linear_filter(self) -> Sampler {
        Sampler { filter: Filter::Linear, ..self }
    }

    /// Sets [`Sampler::normalized_coordinates`].
    #[must_use]
    pub fn with_normalized_coordinates(self) -> Sampler {
        Sampler { normalized_coordinates: true, ..self }
    }

    /// Sets [`Sampler::normalized_float`].
    #[must_use]
    pub fn with_normalized_float(self) -> Sampler {
        Sampler { normalized_float: true, ..self }
    }
}

/// An image and how it is read.
#[derive(Clone, Copy, Debug, PartialEq)]
#[non_exhaustive]
pub struct Texture {
    /// The texels.
    pub image: Image,
    /// The part of the image that is read; all of it if there is none.
    pub view: Option<View>,
    /// How they are read.
    pub sampler: Sampler,
}

impl Texture {
    /// All of an image.
    pub fn new(image: Image, sampler: Sampler) -> Texture {
        Texture { image, view: None, sampler }
    }

    /// Sets [`Texture::view`].
    #[must_use]
    pub fn with_view(self, view: View) -> Texture {
        Texture { view: Some(view), ..self }
    }
}

/// An image that kernels read and write by whole coordinates: with one mip level, and without sampler.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Surface {
    /// The texels.
    pub image: Image,
}

impl Surface {
    /// A surface of an image.
    pub fn new(image: Image) -> Surface {
        Surface { image }
    }
}
