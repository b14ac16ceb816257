//! What a fetch computes (CUDA C++ Programming Guide, "Texture Fetching"): coordinates to texels, and texels to a value.
//!
//! Coordinates are numbers of 24 bits and images have fewer than 2^30 texels on an axis, so their products are exact in double
//! precision. Weights of a linear filter have 8 bits behind the point, as the guide says; the sum of the weighted texels is made in double
//! precision and rounded once. A texel whose weight is zero takes no part, so that a coordinate at the centre of a texel gives that texel,
//! whatever stands beside it.

use std::sync::OnceLock;

use half::f16;

use super::table::{Level, Sampled, Texels};
use super::{AddressMode, Filter, Format, Sampler, Shape};

/// Which coordinates an instruction gives.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Geometry {
    D1,
    D2,
    D3,
    Layered1D,
    Layered2D,
    Cube,
    LayeredCube,
}

impl Geometry {
    pub(crate) fn parse(word: &str) -> Option<Geometry> {
        Some(match word {
            "1d" => Geometry::D1,
            "2d" => Geometry::D2,
            "3d" => Geometry::D3,
            "a1d" => Geometry::Layered1D,
            "a2d" => Geometry::Layered2D,
            "cube" => Geometry::Cube,
            "acube" => Geometry::LayeredCube,
            _ => return None,
        })
    }

    /// Its name, for messages.
    pub(crate) fn name(self) -> &'static str {
        match self {
            Geometry::D1 => Shape::D1,
            Geometry::D2 => Shape::D2,
            Geometry::D3 => Shape::D3,
            Geometry::Layered1D => Shape::Layered1D,
            Geometry::Layered2D => Shape::Layered2D,
            Geometry::Cube => Shape::Cube,
            Geometry::LayeredCube => Shape::LayeredCube,
        }
        .name()
    }

    /// The number of coordinates, without the layer.
    pub(crate) fn axes(self) -> usize {
        match self {
            Geometry::D1 | Geometry::Layered1D => 1,
            Geometry::D2 | Geometry::Layered2D => 2,
            Geometry::D3 | Geometry::Cube | Geometry::LayeredCube => 3,
        }
    }

    /// Whether a layer stands before the coordinates.
    pub(crate) fn has_layer(self) -> bool {
        matches!(self, Geometry::Layered1D | Geometry::Layered2D | Geometry::LayeredCube)
    }

    pub(crate) fn is_cube(self) -> bool {
        matches!(self, Geometry::Cube | Geometry::LayeredCube)
    }

    /// Whether an image of this shape is read so.
    pub(crate) fn fits(self, shape: Shape) -> bool {
        match self {
            Geometry::D1 => matches!(shape, Shape::Linear | Shape::D1),
            Geometry::D2 => shape == Shape::D2,
            Geometry::D3 => shape == Shape::D3,
            Geometry::Layered1D => shape == Shape::Layered1D,
            Geometry::Layered2D => shape == Shape::Layered2D,
            Geometry::Cube => shape == Shape::Cube,
            Geometry::LayeredCube => shape == Shape::LayeredCube,
        }
    }
}

/// Which mip level is read.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Lod {
    /// The most detailed one.
    Base,
    Level(f32),
    /// By the derivatives of the coordinates.
    Gradient([[f32; 3]; 2]),
}

/// Where a thread fetches.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Coordinates {
    pub(crate) layer: u32,
    pub(crate) at: [f32; 3],
    /// Added to the texels' coordinates.
    pub(crate) offset: [i32; 3],
}

/// The channels of a texel: integers, extended to words, or the bits of floats.
pub(crate) type Value = [u32; 4];

/// Reads a texel's channels in memory: `at` is in bytes from the image's start.
pub(crate) trait Reader {
    /// A channel of 1, 2 or 4 bytes.
    fn channel(&mut self, at: u64, bytes: u64) -> u32;
    /// A texel of this number of bytes is about to be read.
    fn texel(&mut self, at: u64, bytes: u64);
}

/// A coordinate in texels of one axis: at most two texels, and the weight of the second in 256ths.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Taps {
    /// `None` is outside: the border, or another face of a seamless cube.
    texels: [Option<u32>; 2],
    /// The index of the first texel, which may be outside.
    first: i64,
    weight: u32,
}

/// Of the products of three weights.
pub(crate) const SCALE: f64 = 1.0 / (1u32 << 24) as f64;

/// The greatest whole number that is not above a number, of numbers that fit: without a call, which `f64::floor` is on CPUs without SSE4.1.
#[inline(always)]
fn floor(t: f64) -> i64 {
    let toward_zero = t as i64;
    toward_zero - i64::from(toward_zero as f64 > t)
}

/// A fraction from 0 to 1 in 256ths, to the nearest.
#[inline]
fn weight(fraction: f64) -> u32 {
    (fraction * 256.0 + 0.5) as u32
}

/// The place of a coordinate on an axis of `n` texels, in texels, after the remapping of its address mode.
#[inline]
fn remap(x: f32, offset: i32, n: u32, mode: AddressMode, normalized: bool) -> f64 {
    let size = f64::from(n);
    let mut t = if normalized { f64::from(x) * size } else { f64::from(x) };
    t += f64::from(offset);
    let is_inside = t >= 0.0 && t < size;
    if normalized && !is_inside && matches!(mode, AddressMode::Wrap | AddressMode::Mirror) {
        let mut turns = (t / size).floor();
        let mut ahead = t - turns * size;
        // A quotient that was rounded up to the next turn.
        if ahead < 0.0 {
            turns -= 1.0;
            ahead = t - turns * size;
        }
        let is_odd = (turns * 0.5).floor() * 2.0 != turns;
        t = if mode == AddressMode::Mirror && is_odd { size - ahead } else { ahead };
    }
    // A coordinate that is no number is taken for zero, as a turn of an infinite one is.
    if t.is_nan() { 0.0 } else { t.clamp(-2.0, size + 2.0) }
}

/// The texel of an index that may be outside.
#[inline]
fn resolve(index: i64, n: u32, mode: AddressMode, normalized: bool) -> Option<u32> {
    let last = i64::from(n) - 1;
    if (0..=last).contains(&index) {
        return Some(index as u32);
    }
    match mode {
        AddressMode::Border => None,
        AddressMode::Wrap if normalized => Some(index.rem_euclid(last + 1) as u32),
        _ => Some(index.clamp(0, last) as u32),
    }
}

#[inline]
fn taps(x: f32, offset: i32, n: u32, mode: AddressMode, normalized: bool, filter: Filter) -> Taps {
    let t = remap(x, offset, n, mode, normalized);
    match filter {
        Filter::Point => {
            let mut index = floor(t);
            // The remapping gives numbers up to the size, and at the size there is no texel.
            if normalized && matches!(mode, AddressMode::Wrap | AddressMode::Mirror) {
                index = index.min(i64::from(n) - 1);
            }
            Taps { texels: [resolve(index, n, mode, normalized), None], first: index, weight: 0 }
        }
        Filter::Linear => {
            let t = t - 0.5;
            let first = floor(t);
            let texels = [0, 1].map(|ahead| resolve(first + ahead, n, mode, normalized));
            Taps { texels, first, weight: weight(t - first as f64) }
        }
    }
}

/// The face of a cube, and the coordinates on it from 0 to 1 with what they divide by (guide, "Cubemap Textures"): of equal magnitudes z
/// goes before y, and y before x.
fn project([x, y, z]: [f32; 3]) -> Projection {
    let [ax, ay, az] = [x, y, z].map(f32::abs);
    let (axis, sign) = if az >= ax && az >= ay {
        (2, z)
    } else if ay >= ax {
        (1, y)
    } else {
        (0, x)
    };
    let negative = sign < 0.0;
    Projection { face: axis as u32 * 2 + u32::from(negative), axis, negative }
}

/// How a direction meets a face.
#[derive(Clone, Copy, Debug)]
struct Projection {
    face: u32,
    axis: usize,
    negative: bool,
}

impl Projection {
    /// The major coordinate and both others, with their signs on the face.
    fn turn(self, [x, y, z]: [f64; 3]) -> [f64; 3] {
        let flip = |v: f64| if self.negative { -v } else { v };
        match self.axis {
            0 => [flip(x), flip(-z), -y],
            1 => [flip(y), x, flip(z)],
            _ => [flip(z), flip(x), -y],
        }
    }

    /// The coordinates on the face, from 0 to 1.
    fn on_face(self, at: [f32; 3]) -> [f32; 2] {
        let [m, s, t] = self.turn(at.map(f64::from));
        // Of the null vector no face is meant.
        let on = |v: f64| if m == 0.0 { 0.5 } else { ((v / m + 1.0) * 0.5) as f32 };
        [on(s), on(t)]
    }

    /// The direction of a place on a face, of which both coordinates go from -1 to 1, and further beyond its edges.
    fn direction(face: u32, [s, t]: [f64; 2]) -> [f32; 3] {
        let negative = face % 2 == 1;
        let flip = |v: f64| if negative { -v } else { v };
        let direction = match face / 2 {
            0 => [flip(1.0), -t, flip(-s)],
            1 => [s, flip(1.0), flip(t)],
            _ => [flip(s), -t, flip(1.0)],
        };
        direction.map(|v| v as f32)
    }

    /// How the coordinates on the face change with the direction.
    fn derivative(self, at: [f32; 3], by: [f32; 3]) -> [f64; 2] {
        let ([m, s, t], [dm, ds, dt]) = (self.turn(at.map(f64::from)), self.turn(by.map(f64::from)));
        [(s, ds), (t, dt)].map(|(v, dv)| (dv * m - v * dm) / (m * m) * 0.5)
    }
}

/// The value of a channel in memory: an integer extended to a word, or the bits of a float.
#[inline]
fn integer(format: Format, raw: u32) -> u32 {
    match format {
        Format::S8 => raw as u8 as i8 as u32,
        Format::S16 => raw as u16 as i16 as u32,
        _ => raw,
    }
}

/// A byte of sRGB as a number from 0 to 1 (IEC 61966-2-1).
fn from_srgb(raw: u32) -> f32 {
    static TABLE: OnceLock<[f32; 256]> = OnceLock::new();
    let table = TABLE.get_or_init(|| {
        std::array::from_fn(|byte| {
            let c = byte as f64 / 255.0;
            (if c <= 0.04045 { c / 12.92 } else { ((c + 0.055) / 1.055).powf(2.4) }) as f32
        })
    });
    table[(raw & 255) as usize]
}

/// The value of a channel as a float.
#[inline]
fn float(format: Format, raw: u32, srgb: bool) -> f32 {
    let signed = |value: i32, greatest: f32| (value as f32 / greatest).max(-1.0);
    match format {
        Format::U8 | Format::Unorm8 if srgb => from_srgb(raw),
        Format::U8 | Format::Unorm8 => raw as f32 / 255.0,
        Format::U16 | Format::Unorm16 => raw as f32 / 65535.0,
        Format::S8 | Format::Snorm8 => signed(raw as u8 as i8 as i32, 127.0),
        Format::S16 | Format::Snorm16 => signed(raw as u16 as i16 as i32, 32767.0),
        Format::F16 => f16::from_bits(raw as u16).to_f32(),
        // Integers of 32 bits are never read as floats.
        Format::F32 | Format::U32 | Format::S32 => f32::from_bits(raw),
    }
}

impl Texels {
    /// Where a texel stands, in bytes from the image's start.
    #[inline]
    fn at(&self, level: &Level, [x, y, z]: [u32; 3]) -> u64 {
        level.start + u64::from(z) * level.slice + u64::from(y) * level.row + u64::from(x) * u64::from(self.texel_bytes)
    }
}

/// What a fetch knows of its texture: the sampler may be another than the texture's.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Fetch<'s> {
    pub(crate) texels: &'s Texels,
    pub(crate) sampler: &'s Sampler,
    pub(crate) geometry: Geometry,
    /// Whether channels are read as floats.
    pub(crate) floats: bool,
}

impl<'s> Fetch<'s> {
    pub(crate) fn new(sampled: &'s Sampled, sampler: &'s Sampler, geometry: Geometry) -> Fetch<'s> {
        let texels = &sampled.texels;
        let format = texels.format;
        // How integers are read belongs to the texture.
        let floats = !format.is_integer() || sampled.sampler.normalized_float && format.bytes() < 4;
        Fetch { texels, sampler, geometry, floats }
    }

    /// The channels of a texel.
    #[inline]
    pub(crate) fn texel(&self, reader: &mut impl Reader, at: u64) -> Value {
        let Texels { format, channels, texel_bytes, .. } = *self.texels;
        reader.texel(at, u64::from(texel_bytes));
        let mut value = self.absent();
        let bytes = format.bytes();
        for (channel, value) in value.iter_mut().enumerate().take(channels as usize) {
            let raw = reader.channel(at + channel as u64 * bytes, bytes);
            *value = if self.floats {
                float(format, raw, self.sampler.srgb && channel < 3).to_bits()
            } else {
                integer(format, raw)
            };
        }
        value
    }

    /// What channels hold that a texel has not: 0, and the fourth 1.
    #[inline]
    pub(crate) fn absent(&self) -> Value {
        [0, 0, 0, if self.floats { 1f32.to_bits() } else { 1 }]
    }

    /// A texel, or the border's colour, of which integers take the bits.
    #[inline]
    fn texel_or_border(&self, reader: &mut impl Reader, level: &Level, at: [Option<u32>; 3]) -> Value {
        match at {
            [Some(x), Some(y), Some(z)] => self.texel(reader, self.texels.at(level, [x, y, z])),
            _ => {
                let mut value = self.absent();
                let border = self.sampler.border.iter().take(self.texels.channels as usize);
                value.iter_mut().zip(border).for_each(|(value, border)| *value = border.to_bits());
                value
            }
        }
    }

    /// A texel by whole coordinates, without the sampler: zeros where there is none.
    pub(crate) fn whole(&self, reader: &mut impl Reader, layer: u32, at: [i32; 3], level: i32) -> Value {
        let Some(level) = usize::try_from(level).ok().and_then(|level| self.texels.levels.get(level)) else {
            return [0; 4];
        };
        let mut place = [0; 3];
        for axis in 0..self.geometry.axes() {
            match u32::try_from(at[axis]) {
                Ok(index) if index < level.extent[axis] => place[axis] = index,
                _ => return [0; 4],
            }
        }
        if self.geometry.has_layer() {
            place[2] = layer.min(level.extent[2] - 1);
        }
        self.texel(reader, self.texels.at(level, place))
    }

    /// The face or layer, and the coordinates in it.
    #[inline]
    fn in_layer(&self, c: &Coordinates) -> (u32, [f32; 3], AddressModes) {
        let layers = self.texels.levels[0].extent[2];
        let modes = self.sampler.address;
        if !self.geometry.is_cube() {
            let modes = AddressModes { modes, normalized: self.sampler.normalized_coordinates, seamless: false };
            return (c.layer.min(layers - 1), c.at, modes);
        }
        let projection = project(c.at);
        let [s, t] = projection.on_face(c.at);
        let cube = c.layer.min(layers / 6 - 1);
        let seamless = self.sampler.seamless_cube;
        // With a point filter, seamless cubes are clamped; with a linear one, other faces stand outside.
        let modes = match (seamless, self.sampler.filter) {
            (false, _) => modes,
            (true, Filter::Point) => [AddressMode::Clamp; 3],
            (true, Filter::Linear) => [AddressMode::Border; 3],
        };
        (cube * 6 + projection.face, [s, t, 0.0], AddressModes { modes, normalized: true, seamless })
    }

    /// A fetch by coordinates.
    #[inline]
    pub(crate) fn at(&self, reader: &mut impl Reader, c: &Coordinates, lod: Lod) -> Value {
        let (layer, at, modes) = self.in_layer(c);
        let levels = &self.texels.levels;
        if let ([only], _) | ([only, ..], Lod::Base) = (&levels[..], lod) {
            return self.in_level(reader, only, layer, at, c.offset, modes);
        }
        let lod = self.lod(c, lod);
        let top = (levels.len() - 1) as f32;
        match self.sampler.mip_filter {
            Filter::Linear if lod > 0.0 && lod < top => {
                let first = lod.floor();
                let share = weight(f64::from(lod - first));
                let [a, b] = [0, 1].map(|ahead| &levels[(first as usize + ahead).min(levels.len() - 1)]);
                if share == 0 {
                    return self.in_level(reader, a, layer, at, c.offset, modes);
                }
                if share == 256 {
                    return self.in_level(reader, b, layer, at, c.offset, modes);
                }
                let [a, b] = [a, b].map(|level| self.sums(reader, level, layer, at, c.offset, modes));
                let share = f64::from(share) / 256.0;
                self.rounded(std::array::from_fn(|i| a[i] * (1.0 - share) + b[i] * share))
            }
            _ => {
                let index = ((lod + 0.5).floor() as usize).min(levels.len() - 1);
                self.in_level(reader, &levels[index], layer, at, c.offset, modes)
            }
        }
    }

    /// The mip level that is read, within those that there are.
    fn lod(&self, c: &Coordinates, lod: Lod) -> f32 {
        let top = (self.texels.levels.len() - 1) as f32;
        let calculated = match lod {
            Lod::Base => return 0.0,
            Lod::Level(level) => level,
            Lod::Gradient(by) => self.steepest(c, by),
        };
        let [least, greatest] = self.sampler.mip_clamp;
        let lod = calculated + self.sampler.mip_bias;
        // A level that is no number is the first.
        let lod = if lod.is_nan() { 0.0 } else { lod };
        lod.min(greatest).max(least).min(top).max(0.0)
    }

    /// The level by derivatives: the logarithm of the longer of both, in texels.
    fn steepest(&self, c: &Coordinates, by: [[f32; 3]; 2]) -> f32 {
        let extent = self.texels.levels[0].extent.map(f64::from);
        let squares = by.map(|by| {
            let by = if self.geometry.is_cube() {
                let [s, t] = project(c.at).derivative(c.at, by);
                [s, t, 0.0]
            } else {
                by.map(f64::from)
            };
            let scale = |axis: usize| {
                let normalized = self.geometry.is_cube() || self.sampler.normalized_coordinates;
                if normalized { extent[axis] } else { 1.0 }
            };
            let axes = if self.geometry.is_cube() { 2 } else { self.geometry.axes() };
            (0..axes).map(|axis| (by[axis] * scale(axis)).powi(2)).sum::<f64>()
        });
        (squares[0].max(squares[1]).log2() * 0.5) as f32
    }

    #[inline]
    fn taps(&self, level: &Level, layer: u32, at: [f32; 3], offset: [i32; 3], modes: AddressModes) -> [Taps; 3] {
        let only = |texel: u32| Taps { texels: [Some(texel), None], first: texel.into(), weight: 0 };
        let axes = if self.geometry.is_cube() { 2 } else { self.geometry.axes() };
        std::array::from_fn(|axis| {
            if axis < axes {
                let mode = modes.modes[axis];
                taps(at[axis], offset[axis], level.extent[axis], mode, modes.normalized, self.sampler.filter)
            } else if axis == 2 && self.texels.shape.is_layered() {
                only(layer)
            } else {
                only(0)
            }
        })
    }

    /// The value in one mip level.
    #[inline]
    fn in_level(
        &self,
        reader: &mut impl Reader,
        level: &Level,
        layer: u32,
        at: [f32; 3],
        offset: [i32; 3],
        modes: AddressModes,
    ) -> Value {
        if self.sampler.filter == Filter::Point {
            let taps = self.taps(level, layer, at, offset, modes);
            return self.texel_or_border(reader, level, taps.map(|taps| taps.texels[0]));
        }
        self.rounded(self.sums(reader, level, layer, at, offset, modes))
    }

    /// Sums of the channels that there are, as floats.
    #[inline]
    fn rounded(&self, sums: [f64; 4]) -> Value {
        let mut value = self.absent();
        let sums = sums.iter().take(self.texels.channels as usize);
        value.iter_mut().zip(sums).for_each(|(value, sum)| *value = (*sum as f32).to_bits());
        value
    }

    /// A texel of a seamless cube, whose place may be beyond an edge of its face; none at a corner of the cube, where three faces meet.
    fn on_cube(&self, reader: &mut impl Reader, level: &Level, layer: u32, at: [i64; 2]) -> Option<Value> {
        let n = level.extent[0];
        let inside = at.map(|index| (0..i64::from(n)).contains(&index));
        let [x, y] = at.map(|index| index as u32);
        match inside {
            [true, true] => Some(self.texel(reader, self.texels.at(level, [x, y, layer]))),
            [false, false] => None,
            _ => {
                // The centre of the texel that would stand there, seen from the middle of the cube.
                let centre = at.map(|index| (index as f64 + 0.5) / f64::from(n) * 2.0 - 1.0);
                let direction = Projection::direction(layer % 6, centre);
                let projection = project(direction);
                let on_face = projection.on_face(direction);
                let [x, y] = on_face.map(|v| ((f64::from(v) * f64::from(n)) as u32).min(n - 1));
                Some(self.texel(reader, self.texels.at(level, [x, y, layer / 6 * 6 + projection.face])))
            }
        }
    }

    /// The value at a corner of what a linear filter reads from a seamless cube: at a corner of the cube, the mean of the three others.
    fn seamless(
        &self,
        reader: &mut impl Reader,
        level: &Level,
        layer: u32,
        [x, y]: [&Taps; 2],
        i: i64,
        j: i64,
    ) -> [f64; 4] {
        let floats = |value: Value| value.map(|bits| f64::from(f32::from_bits(bits)));
        if let Some(value) = self.on_cube(reader, level, layer, [x.first + i, y.first + j]) {
            return floats(value);
        }
        let others = [(1 - i, j), (i, 1 - j), (1 - i, 1 - j)];
        let mut sums = [0.0; 4];
        for (i, j) in others {
            let value = self.on_cube(reader, level, layer, [x.first + i, y.first + j]).unwrap_or_default();
            sums.iter_mut().zip(floats(value)).for_each(|(sum, value)| *sum += value);
        }
        sums.map(|sum| sum / 3.0)
    }

    /// Adds a texel's channels, or the border's, by their weight.
    #[inline]
    fn add(&self, reader: &mut impl Reader, level: &Level, at: [Option<u32>; 3], weight: f64, sums: &mut [f64; 4]) {
        let Texels { format, channels, texel_bytes, .. } = *self.texels;
        let sums = &mut sums[..channels as usize];
        let [Some(x), Some(y), Some(z)] = at else {
            return sums.iter_mut().zip(self.sampler.border).for_each(|(sum, v)| *sum += weight * f64::from(v));
        };
        let at = self.texels.at(level, [x, y, z]);
        reader.texel(at, u64::from(texel_bytes));
        let bytes = format.bytes();
        for (channel, sum) in sums.iter_mut().enumerate() {
            let raw = reader.channel(at + channel as u64 * bytes, bytes);
            *sum += weight * f64::from(float(format, raw, self.sampler.srgb && channel < 3));
        }
    }

    /// The weighted sums of the texels around.
    #[inline]
    fn sums(
        &self,
        reader: &mut impl Reader,
        level: &Level,
        layer: u32,
        at: [f32; 3],
        offset: [i32; 3],
        modes: AddressModes,
    ) -> [f64; 4] {
        let [x, y, z] = self.taps(level, layer, at, offset, modes);
        let of = |taps: &Taps, which: usize| if which == 0 { 256 - taps.weight } else { taps.weight };
        let mut sums = [0.0; 4];
        for k in 0..2 {
            let weight_z = of(&z, k);
            if weight_z == 0 {
                continue;
            }
            for j in 0..2 {
                let weight_y = weight_z * of(&y, j);
                if weight_y == 0 {
                    continue;
                }
                for i in 0..2 {
                    let weight = f64::from(weight_y * of(&x, i));
                    if weight == 0.0 {
                        continue;
                    }
                    if modes.seamless {
                        let value = self.seamless(reader, level, layer, [&x, &y], i as i64, j as i64);
                        sums.iter_mut().zip(value).for_each(|(sum, value)| *sum += weight * value);
                        continue;
                    }
                    self.add(reader, level, [x.texels[i], y.texels[j], z.texels[k]], weight, &mut sums);
                }
            }
        }
        sums.map(|sum| sum * SCALE)
    }

    /// `tld4`: a channel of the four texels that a linear filter would read, counter-clockwise from the lower left.
    pub(crate) fn gather(&self, reader: &mut impl Reader, c: &Coordinates, channel: usize) -> Value {
        let (layer, at, mut modes) = self.in_layer(c);
        if modes.seamless {
            modes.modes = [AddressMode::Clamp; 3];
        }
        let level = &self.texels.levels[0];
        // Four texels of one face.
        let linear = Sampler { filter: Filter::Linear, ..*self.sampler };
        let linear = Fetch { sampler: &linear, ..*self };
        let [x, y, z] = linear.taps(level, layer, at, c.offset, modes);
        [(0, 1), (1, 1), (1, 0), (0, 0)].map(|(i, j)| {
            let place = [x.texels[i], y.texels[j], z.texels[0]];
            self.texel_or_border(reader, level, place)[channel]
        })
    }
}

/// How the coordinates of a fetch are taken.
#[derive(Clone, Copy, Debug)]
struct AddressModes {
    modes: [AddressMode; 3],
    normalized: bool,
    /// Whether other faces of a cube stand outside one.
    seamless: bool,
}
