//! What the CUDA C++ Programming Guide says of texture fetches, in whole numbers: coordinates are multiples of 2^-40, weights of 2^-8,
//! and sums are fractions. Nothing of it is the engine's.

use vop_run::texture::{AddressMode, Filter, Format, Image, Sampler};

/// A coordinate of 1.
const ONE: i128 = 1 << 40;

/// A coordinate as a whole number of 2^-40.
fn fixed(x: f32) -> i128 {
    let scaled = f64::from(x) * ONE as f64;
    assert_eq!(scaled.fract(), 0.0, "{x} is no multiple of 2^-40");
    scaled as i128
}

/// The texels of one axis with their weights in 256ths; none is the border.
fn axis(
    x: f32,
    offset: i32,
    n: i128,
    mode: AddressMode,
    normalized: bool,
    filter: Filter,
) -> Vec<(Option<i128>, i128)> {
    let mut t = fixed(x) * if normalized { n } else { 1 } + i128::from(offset) * ONE;
    let period = n * ONE;
    let repeats = normalized && matches!(mode, AddressMode::Wrap | AddressMode::Mirror);
    if repeats {
        let (turn, ahead) = (t.div_euclid(period), t.rem_euclid(period));
        t = if mode == AddressMode::Mirror && turn.rem_euclid(2) == 1 { period - ahead } else { ahead };
    }
    let texel = |i: i128| match mode {
        _ if i >= 0 && i < n => Some(i),
        AddressMode::Border => None,
        AddressMode::Wrap if normalized && filter == Filter::Linear => Some((i + n) % n),
        _ if i < 0 => Some(0),
        _ => Some(n - 1),
    };
    if filter == Filter::Point {
        return vec![(texel(t.div_euclid(ONE)), 256)];
    }
    let centred = t - ONE / 2;
    let (i, fraction) = (centred.div_euclid(ONE), centred.rem_euclid(ONE));
    // To the nearest of 2^-8.
    let weight = (fraction * 512 + ONE) / (2 * ONE);
    vec![(texel(i), 256 - weight), (texel(i + 1), weight)]
}

/// A texel's channel: a fraction, or the bits of an integer.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Channel {
    Bits(u32),
    /// Numerator and denominator; the numerator may be a number with a fraction that doubles hold exactly.
    Ratio(f64, f64),
    Srgb(u8),
}

impl Channel {
    pub(crate) fn number(self) -> f64 {
        match self {
            Channel::Bits(bits) => f64::from(f32::from_bits(bits)),
            Channel::Ratio(numerator, denominator) => numerator / denominator,
            Channel::Srgb(byte) => {
                let c = f64::from(byte) / 255.0;
                if byte <= 10 { c / 12.92 } else { ((200.0 * c + 11.0) / 211.0).powf(2.4) }
            }
        }
    }
}

/// What a channel's bytes mean.
pub(crate) fn channel(format: Format, bytes: &[u8], floats: bool, srgb: bool) -> Channel {
    let bits = bytes.iter().rev().fold(0u32, |bits, byte| bits << 8 | u32::from(*byte));
    let signed = i64::from(bits) - if bytes[bytes.len() - 1] > 127 { 1i64 << (8 * bytes.len()) } else { 0 };
    let normalized = floats || !format.is_integer();
    match format {
        Format::U8 | Format::Unorm8 if normalized && srgb => Channel::Srgb(bits as u8),
        Format::U8 | Format::Unorm8 if normalized => Channel::Ratio(f64::from(bits), 255.0),
        Format::U16 | Format::Unorm16 if normalized => Channel::Ratio(f64::from(bits), 65535.0),
        Format::S8 | Format::Snorm8 if normalized => Channel::Ratio(signed.max(-127) as f64, 127.0),
        Format::S16 | Format::Snorm16 if normalized => Channel::Ratio(signed.max(-32767) as f64, 32767.0),
        Format::F32 => Channel::Bits(bits),
        Format::F16 => {
            let (sign, exponent, mantissa) = (bits >> 15, bits >> 10 & 31, f64::from(bits & 1023));
            assert!(exponent < 31, "the test has finite numbers");
            let size = if exponent == 0 {
                mantissa * 0.5f64.powi(24)
            } else {
                (mantissa + 1024.0) * 2f64.powi(exponent as i32 - 25)
            };
            Channel::Ratio(if sign == 1 { -size } else { size }, 1.0)
        }
        // Integers.
        _ => Channel::Bits(signed_bits(format, bits, signed)),
    }
}

fn signed_bits(format: Format, bits: u32, signed: i64) -> u32 {
    match format {
        Format::S8 | Format::S16 => signed as u32,
        _ => bits,
    }
}

/// An image's texels.
pub(crate) struct Texels<'t> {
    pub(crate) image: Image,
    pub(crate) bytes: &'t [u8],
    pub(crate) floats: bool,
    pub(crate) srgb: bool,
}

impl Texels<'_> {
    /// A channel of a texel of a mip level, counted from the start of the bytes.
    pub(crate) fn channel(&self, level: u32, [x, y, z]: [i128; 3], channel: usize) -> Channel {
        let image = &self.image;
        // All of the levels before stand before.
        let size = |level: u32, axis: usize| -> i128 {
            let layered = axis == 2 && image.shape.name() != "3d";
            let n = i128::from(image.extent[axis].max(1));
            if layered { n } else { (n >> level).max(1) }
        };
        let texel = i128::from(image.format.bytes()) * i128::from(image.channels);
        let before: i128 = (0..level).map(|level| size(level, 0) * size(level, 1) * size(level, 2) * texel).sum();
        let row = if image.pitch == 0 { size(level, 0) * texel } else { i128::from(image.pitch) };
        let at =
            before + (z * size(level, 1) + y) * row + x * texel + channel as i128 * i128::from(image.format.bytes());
        let bytes = &self.bytes[at as usize..][..image.format.bytes() as usize];
        self::channel(image.format, bytes, self.floats, self.srgb && channel < 3)
    }
}

/// A fetch.
pub(crate) struct Fetch<'t> {
    pub(crate) texels: Texels<'t>,
    pub(crate) sampler: Sampler,
    /// Axes with coordinates.
    pub(crate) axes: usize,
    /// The slice of an image of layers.
    pub(crate) layer: i128,
    pub(crate) level: u32,
    pub(crate) at: [f32; 3],
    pub(crate) offset: [i32; 3],
}

/// What a fetch gives for a channel: bits, or a number and how far the result may be off.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Expected {
    Bits(u32),
    Number(f64, f64),
}

impl Fetch<'_> {
    fn taps(&self, filter: Filter) -> [Vec<(Option<i128>, i128)>; 3] {
        std::array::from_fn(|i| {
            if i >= self.axes {
                return vec![(Some(if i == 2 { self.layer } else { 0 }), 256)];
            }
            let image = &self.texels.image;
            let n = (i128::from(image.extent[i]) >> self.level).max(1);
            let sampler = &self.sampler;
            axis(self.at[i], self.offset[i], n, sampler.address[i], sampler.normalized_coordinates, filter)
        })
    }

    pub(crate) fn expected(&self, channel: usize) -> Expected {
        let [xs, ys, zs] = self.taps(self.sampler.filter);
        let image = &self.texels.image;
        let one = if self.texels.floats { 1f32.to_bits() } else { 1 };
        let value = |x: Option<i128>, y: Option<i128>, z: Option<i128>| match (x, y, z) {
            (Some(x), Some(y), Some(z)) if channel < image.channels as usize => {
                self.texels.channel(self.level, [x, y, z], channel)
            }
            _ if channel >= image.channels as usize => Channel::Bits(if channel == 3 { one } else { 0 }),
            _ => Channel::Bits(self.sampler.border[channel].to_bits()),
        };
        if self.sampler.filter == Filter::Point {
            let value = value(xs[0].0, ys[0].0, zs[0].0);
            return match value {
                Channel::Bits(bits) => Expected::Bits(bits),
                // The nearest float.
                Channel::Ratio(..) => Expected::Bits((value.number() as f32).to_bits()),
                Channel::Srgb(_) => Expected::Number(value.number(), 1e-7),
            };
        }
        let (mut sum, mut greatest) = (0.0, 0f64);
        for (x, wx) in &xs {
            for (y, wy) in &ys {
                for (z, wz) in &zs {
                    let number = value(*x, *y, *z).number();
                    let weight = (wx * wy * wz) as f64;
                    greatest = greatest.max(number.abs());
                    sum += weight * number;
                }
            }
        }
        Expected::Number(sum / f64::from(1 << 24), greatest * 2f64.powi(-22))
    }

    /// The texels of `tld4` in its order.
    pub(crate) fn gathered(&self, channel: usize) -> [Channel; 4] {
        let [xs, ys, _] = self.taps(Filter::Linear);
        let at = |x: usize, y: usize| match (xs[x].0, ys[y].0) {
            (Some(x), Some(y)) => self.texels.channel(0, [x, y, self.layer], channel),
            _ => Channel::Bits(self.sampler.border[channel].to_bits()),
        };
        [at(0, 1), at(1, 1), at(1, 0), at(0, 0)]
    }
}
