//! Arrays: texels in rows, without gaps, in ordinary memory of a device.

use std::sync::Arc;

use vop_run::texture::{Format, Image, Shape};

use super::context::Context;
use super::copy::Side;
use super::handles;
use super::memory::{Allocation, Kind, Wanted};
use super::report;
use crate::status::{Answer, Status};

/// What an array holds: `CUDA_ARRAY3D_DESCRIPTOR`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Layout {
    /// Texels of a row.
    pub width: usize,
    /// Rows; 0 in an array of one dimension.
    pub height: usize,
    /// Slices, or layers; 0 in an array of fewer dimensions.
    pub depth: usize,
    /// `CUarray_format`.
    pub format: u32,
    /// Channels of a texel: 1, 2 or 4.
    pub channels: u32,
    /// `CUDA_ARRAY3D_…`
    pub flags: u32,
}

/// `CUDA_ARRAY3D_LAYERED`: slices are layers.
pub const LAYERED: u32 = 1;
/// `CUDA_ARRAY3D_CUBEMAP`: slices are faces of cubes.
pub const CUBE: u32 = 4;

/// What a channel of a `CUarray_format` is.
///
/// # Errors
/// The format is one of video or of compressed blocks, or there is none of this number.
pub fn channel(format: u32) -> Answer<Format> {
    Ok(match format {
        0x01 => Format::U8,
        0x02 => Format::U16,
        0x03 => Format::U32,
        0x08 => Format::S8,
        0x09 => Format::S16,
        0x0a => Format::S32,
        0x10 => Format::F16,
        0x20 => Format::F32,
        // In 1, 2 and 4 channels.
        0xc0..=0xc2 => Format::Unorm8,
        0xc3..=0xc5 => Format::Unorm16,
        0xc6..=0xc8 => Format::Snorm8,
        0xc9..=0xcb => Format::Snorm16,
        // Planes of video; compressed blocks.
        0x50..=0x5f | 0x91..=0xb5 => return Err(report::not_supported("arrays of video or compressed formats")),
        _ => return Err(Status::INVALID_VALUE),
    })
}

/// An array.
pub struct Array {
    /// Its handle.
    pub handle: u64,
    /// Its context.
    pub context: &'static Context,
    /// What it holds.
    pub layout: Layout,
    /// Its first texel.
    pub address: u64,
    /// Where it is. Levels of a mip map share it.
    pub allocation: Arc<Allocation>,
    /// Whether it is a level of a mip map, which has the memory.
    pub is_level: bool,
}

/// A mip map: arrays that become smaller.
pub struct MipMap {
    /// Its handle.
    pub handle: u64,
    /// Its context.
    pub context: &'static Context,
    /// What the first level holds.
    pub layout: Layout,
    /// The levels.
    pub levels: Vec<Arc<Array>>,
    /// Where they are.
    pub allocation: Arc<Allocation>,
}

impl Layout {
    /// Bytes of a channel.
    ///
    /// # Errors
    /// The format is none that can be read.
    pub fn channel_bytes(&self) -> Answer<usize> {
        Ok(self.channel()?.bytes() as usize)
    }

    /// What a channel is.
    ///
    /// # Errors
    /// As for [`Layout::channel_bytes`].
    pub fn channel(&self) -> Answer<Format> {
        channel(self.format)
    }

    /// How texels are arranged.
    pub fn shape(&self) -> Shape {
        match (self.flags & LAYERED != 0, self.flags & CUBE != 0) {
            (true, true) => Shape::LayeredCube,
            (false, true) => Shape::Cube,
            (true, false) if self.height == 0 => Shape::Layered1D,
            (true, false) => Shape::Layered2D,
            _ if self.depth > 0 => Shape::D3,
            _ if self.height > 0 => Shape::D2,
            _ => Shape::D1,
        }
    }

    /// Bytes of a texel.
    ///
    /// # Errors
    /// As for [`Layout::channel_bytes`], and if there are not 1, 2 or 4 channels.
    pub fn texel(&self) -> Answer<usize> {
        if !matches!(self.channels, 1 | 2 | 4) {
            return Err(Status::INVALID_VALUE);
        }
        Ok(self.channel_bytes()? * self.channels as usize)
    }

    /// Bytes of a row.
    ///
    /// # Errors
    /// As for [`Layout::texel`].
    pub fn row(&self) -> Answer<usize> {
        self.width.checked_mul(self.texel()?).ok_or(Status::INVALID_VALUE)
    }

    /// Bytes of all.
    ///
    /// # Errors
    /// As for [`Layout::texel`].
    pub fn bytes(&self) -> Answer<usize> {
        let rows = self.height.max(1).checked_mul(self.depth.max(1)).ok_or(Status::INVALID_VALUE)?;
        self.row()?.checked_mul(rows).ok_or(Status::INVALID_VALUE)
    }

    /// Texels at an address.
    fn image(&self, address: u64) -> Answer<Image> {
        let extent = [self.width as u64, self.height as u64, self.depth as u64];
        Ok(Image::new(address, self.channel()?, self.channels, self.shape(), extent))
    }

    /// Whether it is one that a device takes.
    fn check(&self) -> Answer {
        self.texel()?;
        let is_layered = self.flags & (LAYERED | CUBE) != 0;
        let is_cube = self.flags & CUBE != 0;
        let wrong = self.width == 0
            || self.depth > 0 && self.height == 0 && !is_layered
            || is_cube && (self.width != self.height || self.depth == 0 || !self.depth.is_multiple_of(6));
        if wrong { Err(Status::INVALID_VALUE) } else { Ok(()) }
    }

    /// The next level of a mip map: layers stay.
    fn halved(&self) -> Layout {
        let half = |size: usize| if size > 1 { size / 2 } else { size };
        let depth = if self.flags & (LAYERED | CUBE) != 0 { self.depth } else { half(self.depth) };
        Layout { width: half(self.width), height: half(self.height), depth, ..*self }
    }
}

impl Array {
    /// Makes an array in the context's device.
    ///
    /// # Errors
    /// The layout is none that a device takes, or there is no memory.
    pub fn new(context: &'static Context, layout: Layout) -> Answer<Arc<Array>> {
        layout.check()?;
        let allocation = allocate(context, layout.bytes()?)?;
        let address = allocation.start;
        let handle = handles::next();
        let array = Arc::new(Array { handle, context, layout, address, allocation, is_level: false });
        context.machine().handles.set(handle, Arc::clone(&array));
        Ok(array)
    }

    /// Frees it.
    ///
    /// # Errors
    /// It is a level of a mip map.
    pub fn destroy(&self) -> Answer {
        if self.is_level {
            return Err(Status::INVALID_VALUE);
        }
        self.context.drain();
        self.context.machine().handles.remove::<Array>(self.handle).ok_or(Status::INVALID_HANDLE)?;
        self.context.machine().release(&self.allocation)
    }

    /// Its texels, for a texture or a surface.
    ///
    /// # Errors
    /// As for [`Layout::texel`].
    pub fn image(&self) -> Answer<Image> {
        self.layout.image(self.address)
    }

    /// A side of a copy that starts `x` bytes, `y` rows and `z` slices from its begin.
    ///
    /// # Errors
    /// The copy, of `size` bytes, rows and slices, does not fit.
    pub fn side(&self, [x, y, z]: [usize; 3], size: [usize; 3]) -> Answer<Side> {
        let (row, height, depth) = (self.layout.row()?, self.layout.height.max(1), self.layout.depth.max(1));
        let texel = self.layout.texel()?;
        let fits = |at: usize, len: usize, all: usize| at.checked_add(len).is_some_and(|end| end <= all);
        let whole = x.is_multiple_of(texel) && size[0].is_multiple_of(texel);
        if !(whole && fits(x, size[0], row) && fits(y, size[1], height) && fits(z, size[2], depth)) {
            return Err(Status::INVALID_VALUE);
        }
        let (row, slice) = (row as u64, (row * height) as u64);
        let address = self.address + z as u64 * slice + y as u64 * row + x as u64;
        Ok(Side { address, pitch: row, slice })
    }
}

impl MipMap {
    /// Makes a mip map with this many levels, or as many as there can be.
    ///
    /// # Errors
    /// As for [`Array::new`].
    pub fn new(context: &'static Context, layout: Layout, levels: u32) -> Answer<Arc<MipMap>> {
        layout.check()?;
        let depth = if layout.flags & (LAYERED | CUBE) != 0 { 0 } else { layout.depth };
        let most = layout.width.max(layout.height).max(depth).ilog2() + 1;
        let count = levels.clamp(1, most);
        let mut layouts = vec![layout];
        while layouts.len() < count as usize {
            layouts.extend(layouts.last().map(Layout::halved));
        }
        // Levels follow one another, as the engine reads them.
        let mut offsets = Vec::new();
        let mut total = 0usize;
        for layout in &layouts {
            offsets.push(total);
            total = total.checked_add(layout.bytes()?).ok_or(Status::INVALID_VALUE)?;
        }
        let allocation = allocate(context, total)?;
        let level = |(layout, offset): (&Layout, usize)| {
            let (handle, allocation) = (handles::next(), Arc::clone(&allocation));
            let address = allocation.start + offset as u64;
            let array = Arc::new(Array { handle, context, layout: *layout, address, allocation, is_level: true });
            context.machine().handles.set(handle, Arc::clone(&array));
            array
        };
        let levels: Vec<Arc<Array>> = layouts.iter().zip(offsets).map(level).collect();
        let map = Arc::new(MipMap { handle: handles::next(), context, layout, levels, allocation });
        context.machine().handles.set(map.handle, Arc::clone(&map));
        Ok(map)
    }

    /// Its texels, for a texture.
    ///
    /// # Errors
    /// As for [`Layout::texel`].
    pub fn image(&self) -> Answer<Image> {
        Ok(self.layout.image(self.allocation.start)?.with_levels(self.levels.len() as u32))
    }

    /// Frees it.
    ///
    /// # Errors
    /// It was freed before.
    pub fn destroy(&self) -> Answer {
        self.context.drain();
        let machine = self.context.machine();
        machine.handles.remove::<MipMap>(self.handle).ok_or(Status::INVALID_HANDLE)?;
        for level in &self.levels {
            machine.handles.remove::<Array>(level.handle);
        }
        machine.release(&self.allocation)
    }
}

fn allocate(context: &'static Context, bytes: usize) -> Answer<Arc<Allocation>> {
    let wanted =
        Wanted { kind: Kind::Array, len: bytes as u64, context: context.handle, flags: 0, pool: 0, by: "array" };
    context.machine().allocate(context.device, wanted)
}
