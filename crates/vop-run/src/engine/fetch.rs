//! The fetches of a warp at once: what [`Fetch::at`] and [`Fetch::whole`] compute for one thread, in loops over lanes that become SIMD.
//!
//! Only the commonest fetches are made so: one or two axes, one mip level, no offsets. The steps are the same as for one thread, in the same
//! order and precision, so that the results are the same bits; builds with debug assertions, as of the tests, compare both.

#![allow(unsafe_code, reason = "texels are the kernel's memory")]
// A lane's number is an index of several arrays at once.
#![allow(clippy::needless_range_loop)]

use super::access::peek;
use crate::column::WARP;
use crate::level::{self, leveled};
#[cfg(debug_assertions)]
use crate::texture::fetch::{Coordinates, Lod, Reader, Value};
use crate::texture::fetch::{Fetch, Geometry, SCALE};
use crate::texture::table::Level;
use crate::texture::{AddressMode, Filter, Format};

/// A word for each lane.
pub(crate) type Words = [u32; WARP];

/// The index of a texel that is outside.
const OUTSIDE: i32 = -1;
/// What an axis has at least: texels that a filter reads are then at most one turn away.
const LEAST: u32 = 4;

/// The coordinates of a warp on one axis, in texels: as `Taps`, for each lane.
struct Axis {
    texels: [[i32; WARP]; 2],
    weight: Words,
}

/// Whether fetches can be made a warp at a time.
pub(crate) fn is_possible(fetch: &Fetch<'_>, whole: bool) -> bool {
    let (texels, sampler) = (fetch.texels, fetch.sampler);
    let format = match texels.format {
        Format::F16 => false,
        Format::U8 | Format::Unorm8 => !(fetch.floats && sampler.srgb),
        _ => true,
    };
    let axes = fetch.geometry.axes();
    let is_filtered = sampler.filter == Filter::Linear;
    matches!(fetch.geometry, Geometry::D1 | Geometry::D2)
        && format
        && texels.levels.len() == 1
        && (whole || texels.levels[0].extent[..axes].iter().all(|extent| *extent >= LEAST))
        && (whole || !is_filtered || fetch.floats)
}

leveled! {
    /// Fetches for all lanes: their coordinates are floats, or integers if `whole`. Lanes that take no part may have any.
    ///
    /// # Safety
    /// The CPU has the level; `start` is the image's start; [`is_possible`].
    fn leveled_fetch(
        fetch: &Fetch<'_>,
        whole: bool,
        start: *const u8,
        at: &[Words; 2],
        out: &mut [Words; 4],
    ) {
        // SAFETY: as the caller says.
        unsafe { by_format(fetch, whole, start, at, out) }
    }
}

/// See [`leveled_fetch`].
///
/// # Safety
/// The CPU has the level; `start` is the image's start; [`is_possible`].
pub(crate) unsafe fn fetch(
    level: level::Level,
    fetch: &Fetch<'_>,
    whole: bool,
    start: *const u8,
    at: &[Words; 2],
    out: &mut [Words; 4],
) {
    // SAFETY: as the caller says.
    unsafe { leveled_fetch(level)(fetch, whole, start, at, out) }
}

/// Chooses how many bytes channels have, and how they become words.
#[inline(always)]
unsafe fn by_format(fetch: &Fetch<'_>, whole: bool, start: *const u8, at: &[Words; 2], out: &mut [Words; 4]) {
    let signed = |value: i32, greatest: f32| (value as f32 / greatest).max(-1.0);
    // As `float` and `integer`, one format each.
    // SAFETY: as the caller says.
    unsafe {
        match (fetch.texels.format, fetch.floats) {
            (Format::U8 | Format::Unorm8, true) => {
                run::<1>(fetch, whole, start, at, out, |raw| raw as i32 as f32 / 255.0);
            }
            (Format::U16 | Format::Unorm16, true) => {
                run::<2>(fetch, whole, start, at, out, |raw| raw as i32 as f32 / 65535.0);
            }
            (Format::S8 | Format::Snorm8, true) => {
                run::<1>(fetch, whole, start, at, out, |raw| signed(raw as u8 as i8 as i32, 127.0));
            }
            (Format::S16 | Format::Snorm16, true) => {
                run::<2>(fetch, whole, start, at, out, |raw| signed(raw as u16 as i16 as i32, 32767.0));
            }
            (Format::S8, false) => {
                run::<1>(fetch, whole, start, at, out, |raw| f32::from_bits(raw as u8 as i8 as u32));
            }
            (Format::S16, false) => {
                run::<2>(fetch, whole, start, at, out, |raw| f32::from_bits(raw as u16 as i16 as u32));
            }
            (Format::U8, _) => run::<1>(fetch, whole, start, at, out, f32::from_bits),
            (Format::U16, _) => run::<2>(fetch, whole, start, at, out, f32::from_bits),
            _ => run::<4>(fetch, whole, start, at, out, f32::from_bits),
        }
    }
}

#[inline(always)]
unsafe fn run<const BYTES: u64>(
    fetch: &Fetch<'_>,
    whole: bool,
    start: *const u8,
    at: &[Words; 2],
    out: &mut [Words; 4],
    convert: impl Fn(u32) -> f32 + Copy,
) {
    let (texels, sampler) = (fetch.texels, fetch.sampler);
    let level = &texels.levels[0];
    let channels = texels.channels as usize;
    let linear = !whole && sampler.filter == Filter::Linear;
    let only = || Axis { texels: [[0; WARP]; 2], weight: [0; WARP] };
    let mut axes = [only(), only()];
    for i in 0..fetch.geometry.axes() {
        let extent = level.extent[i];
        if whole {
            for (texel, at) in axes[i].texels[0].iter_mut().zip(&at[i]) {
                *texel = if *at < extent { *at as i32 } else { OUTSIDE };
            }
        } else {
            place(&at[i], extent, sampler.address[i], sampler.normalized_coordinates, linear, &mut axes[i]);
        }
    }
    let [x, y] = &axes;
    let absent = fetch.absent();
    // Outside there is the border; of whole coordinates nothing, not even the fourth channel's 1.
    let border = if whole { [0.0; 4] } else { sampler.border };
    if !linear {
        let mut place = [0; WARP];
        offsets(level, texels.texel_bytes, &x.texels[0], &y.texels[0], &mut place);
        for channel in 0..channels {
            for lane in 0..WARP {
                // SAFETY: the offset is that of a texel of the image.
                let raw = unsafe { read::<BYTES>(start, place[lane], channel) };
                let is_outside = (x.texels[0][lane] | y.texels[0][lane]) < 0;
                let bits = if is_outside { border[channel].to_bits() } else { convert(raw).to_bits() };
                out[channel][lane] = bits;
            }
        }
        if whole {
            for channel in channels..4 {
                for lane in 0..WARP {
                    let is_outside = (x.texels[0][lane] | y.texels[0][lane]) < 0;
                    out[channel][lane] = if is_outside { 0 } else { absent[channel] };
                }
            }
            return;
        }
    } else {
        let mut sums = [[0.0f64; WARP]; 4];
        let rows = fetch.geometry.axes();
        for j in 0..rows {
            for i in 0..2 {
                let mut place = [0; WARP];
                offsets(level, texels.texel_bytes, &x.texels[i], &y.texels[j], &mut place);
                let mut weights = [0.0f64; WARP];
                for lane in 0..WARP {
                    let of = |axis: &Axis, which: usize| {
                        let weight = axis.weight[lane] as i32;
                        if which == 0 { 256 - weight } else { weight }
                    };
                    weights[lane] = f64::from(256 * of(y, j) * of(x, i));
                }
                for channel in 0..channels {
                    let mut raw = [0; WARP];
                    for lane in 0..WARP {
                        // SAFETY: the offset is that of a texel of the image.
                        raw[lane] = unsafe { read::<BYTES>(start, place[lane], channel) };
                    }
                    let sums = &mut sums[channel];
                    for lane in 0..WARP {
                        let is_outside = (x.texels[i][lane] | y.texels[j][lane]) < 0;
                        let texel = if is_outside { border[channel] } else { convert(raw[lane]) };
                        let product = weights[lane] * f64::from(texel);
                        // A texel without weight takes no part, even if it is infinite.
                        sums[lane] += if weights[lane] == 0.0 { 0.0 } else { product };
                    }
                }
            }
        }
        for channel in 0..channels {
            for lane in 0..WARP {
                out[channel][lane] = ((sums[channel][lane] * SCALE) as f32).to_bits();
            }
        }
    }
    for channel in channels..4 {
        out[channel] = [absent[channel]; WARP];
    }
}

/// Where texels stand, in bytes from the image's start; the first texel's place for those that are outside.
#[inline(always)]
fn offsets(level: &Level, texel_bytes: u32, x: &[i32; WARP], y: &[i32; WARP], out: &mut [u64; WARP]) {
    for lane in 0..WARP {
        let is_outside = (x[lane] | y[lane]) < 0;
        let at = u64::from(y[lane] as u32) * level.row + u64::from(x[lane] as u32) * u64::from(texel_bytes);
        out[lane] = level.start + if is_outside { 0 } else { at };
    }
}

/// A channel in memory.
///
/// # Safety
/// The texel is one of the image.
#[inline(always)]
unsafe fn read<const BYTES: u64>(start: *const u8, at: u64, channel: usize) -> u32 {
    // SAFETY: images are at multiples of a channel's bytes; as the caller says.
    unsafe { peek(start.add(at as usize + channel * BYTES as usize), BYTES) as u32 }
}

/// The places of coordinates on an axis: `remap` and `resolve` for each lane.
#[inline(always)]
fn place(at: &Words, n: u32, mode: AddressMode, normalized: bool, linear: bool, axis: &mut Axis) {
    let (size, last) = (f64::from(n), n as i32 - 1);
    let scale = if normalized { size } else { 1.0 };
    let is_inside = move |t: f64| t >= 0.0 && t < size;
    let turned = move |t: f64, mirror: bool| {
        let turns = (t / size).floor();
        let ahead = t - turns * size;
        // A quotient that was rounded up to the next turn.
        let is_negative = ahead < 0.0;
        let turns = if is_negative { turns - 1.0 } else { turns };
        let again = t - turns * size;
        let ahead = if is_negative { again } else { ahead };
        let is_odd = (turns * 0.5).floor() * 2.0 != turns;
        let turned = if mirror && is_odd { size - ahead } else { ahead };
        if is_inside(t) { t } else { turned }
    };
    let clamped = move |i: i32| i.clamp(0, last);
    match mode {
        AddressMode::Wrap if normalized => {
            let around = move |i: i32| if i < 0 { i + n as i32 } else { i };
            let around = move |i: i32| if i > last { i - n as i32 } else { around(i) };
            each(at, scale, size, linear, Some(last), axis, |t| turned(t, false), around);
        }
        AddressMode::Mirror if normalized => {
            each(at, scale, size, linear, Some(last), axis, |t| turned(t, true), clamped);
        }
        AddressMode::Border => {
            let inside = move |i: i32| if i >= 0 && i <= last { i } else { OUTSIDE };
            each(at, scale, size, linear, None, axis, |t| t, inside);
        }
        _ => each(at, scale, size, linear, None, axis, |t| t, clamped),
    }
}

/// See [`place`]: `most` is the greatest index of a point filter after turns.
#[allow(clippy::too_many_arguments, reason = "they are constants of a loop")]
#[inline(always)]
fn each(
    at: &Words,
    scale: f64,
    size: f64,
    linear: bool,
    most: Option<i32>,
    axis: &mut Axis,
    turn: impl Fn(f64) -> f64 + Copy,
    resolve: impl Fn(i32) -> i32 + Copy,
) {
    let remap = move |bits: u32| {
        let t = turn(f64::from(f32::from_bits(bits)) * scale);
        let t = if t.is_nan() { 0.0 } else { t };
        t.max(-2.0).min(size + 2.0)
    };
    // SAFETY: the numbers go from -3 to 2^30 + 2.
    let whole = move |t: f64| unsafe { t.to_int_unchecked::<i32>() };
    if linear {
        for lane in 0..WARP {
            let t = remap(at[lane]) - 0.5;
            let first = t.floor();
            axis.texels[0][lane] = resolve(whole(first));
            axis.texels[1][lane] = resolve(whole(first) + 1);
            axis.weight[lane] = whole((t - first) * 256.0 + 0.5) as u32;
        }
    } else {
        let most = most.unwrap_or(i32::MAX);
        for lane in 0..WARP {
            axis.texels[0][lane] = resolve(whole(remap(at[lane]).floor()).min(most));
        }
    }
}

/// The fetch of one lane by the way of one thread, for the comparison of both.
#[cfg(debug_assertions)]
pub(crate) fn one(fetch: &Fetch<'_>, whole: bool, reader: &mut impl Reader, at: [u32; 2]) -> Value {
    if whole {
        fetch.whole(reader, 0, [at[0] as i32, at[1] as i32, 0], 0)
    } else {
        let [x, y] = at.map(f32::from_bits);
        fetch.at(reader, &Coordinates { layer: 0, at: [x, y, 0.0], offset: [0; 3] }, Lod::Base)
    }
}
