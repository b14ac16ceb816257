//! Textures and surfaces, against the formulas of CUDA's guide in whole numbers ([`reference`]).

mod reference;

use reference::{Channel, Expected, Fetch, Texels};
use vop_run::texture::{AddressMode, Filter, Format, Image, Sampler, Shape, Surface, Texture, View};
use vop_run::{Check, Kernel, LaunchOptions, Memory, Program, RunErrorKind, RunErrors};

/// A value with other fields.
macro_rules! with {
    ($base:expr; $($field:ident: $value:expr),*) => {{
        let mut value = $base;
        $(value.$field = $value;)*
        value
    }};
}

mod surfaces;

const HEAD: &str = ".version 8.0\n.target sm_90\n.address_size 64\n";

/// Words that a thread takes: the layer, three coordinates, the level, and two gradients of three.
const WORDS: usize = 11;

/// A kernel that executes an instruction for each thread: `$` stands for the destination, `[T` for the texture.
/// Words are in %r0 to %r10, and as floats in %f0 to %f10; results are %r20 to %r23.
fn kernel_of(declarations: &str, instruction: &str) -> Result<(Program, Kernel), RunErrors> {
    let mut text = format!(
        "{HEAD}{declarations}
         .visible .entry k(.param .u64 out, .param .u64 in, .param .u64 texture) {{
         .reg .b32 %r<40>; .reg .f32 %f<40>; .reg .b64 %rd<20>; .reg .b16 %rs<9>; .reg .pred %p<4>;
         ld.param.u64 %rd1, [out];
         ld.param.u64 %rd2, [in];
         ld.param.u64 %rd3, [texture];
         mov.u32 %r30, %tid.x;
         mul.wide.u32 %rd4, %r30, {};
         add.u64 %rd2, %rd2, %rd4;
         mul.wide.u32 %rd4, %r30, 16;
         add.u64 %rd1, %rd1, %rd4;
         mov.b32 %r20, 0; mov.b32 %r21, 0; mov.b32 %r22, 0; mov.b32 %r23, 0;\n",
        4 * WORDS
    );
    for i in 0..WORDS {
        text += &format!("ld.global.u32 %r{i}, [%rd2+{}]; mov.b32 %f{i}, %r{i};\n", 4 * i);
    }
    text += &instruction.replace('$', "{%r20, %r21, %r22, %r23}").replace("[T", "[%rd3");
    text += ";\nst.global.v4.u32 [%rd1], {%r20, %r21, %r22, %r23}; ret; }";
    let program = Program::read(&text);
    let kernel = program.kernel("k")?;
    Ok((program, kernel))
}

fn kernel(instruction: &str) -> Kernel {
    kernel_of("", instruction).unwrap_or_else(|error| panic!("{instruction}: {error}")).1
}

/// What a thread gives: the layer, coordinates, the level, gradients.
#[derive(Clone, Copy, Debug, Default)]
struct Input {
    layer: u32,
    at: [f32; 3],
    level: f32,
    by: [[f32; 3]; 2],
}

impl Input {
    fn words(&self) -> [u32; WORDS] {
        let [x, y, z] = self.at.map(f32::to_bits);
        let [dx, dy] = self.by.map(|by| by.map(f32::to_bits));
        [self.layer, x, y, z, self.level.to_bits(), dx[0], dx[1], dx[2], dy[0], dy[1], dy[2]]
    }
}

/// Whole coordinates.
fn whole(layer: u32, at: [i32; 3]) -> Input {
    Input { layer, at: at.map(|n| f32::from_bits(n as u32)), ..Input::default() }
}

/// Runs a kernel with a thread for each input; each thread's four words.
fn run(kernel: &Kernel, memory: &mut Memory, handle: u64, inputs: &[Input]) -> Result<Vec<[u32; 4]>, RunErrors> {
    run_with(kernel, memory, handle, inputs, &LaunchOptions::default())
}

fn run_with(
    kernel: &Kernel,
    memory: &mut Memory,
    handle: u64,
    inputs: &[Input],
    options: &LaunchOptions,
) -> Result<Vec<[u32; 4]>, RunErrors> {
    let bytes: Vec<u8> = inputs.iter().flat_map(Input::words).flat_map(u32::to_le_bytes).collect();
    let given = memory.allocate("in", bytes);
    let out = memory.allocate("out", vec![0; 16 * inputs.len()]);
    let args = [out.into(), given.into(), handle.into()];
    kernel.launch([1; 3], [inputs.len() as u32, 1, 1], &args, memory, options)?;
    let words: Vec<u32> =
        memory.bytes(out).as_chunks().0.iter().map(|bytes: &[u8; 4]| u32::from_le_bytes(*bytes)).collect();
    Ok(words.as_chunks().0.to_vec())
}

/// Bytes that look random.
fn noise(seed: u64) -> impl FnMut() -> u32 {
    let mut state = seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1;
    move || {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        (state >> 24) as u32
    }
}

/// Texels of a format: of floats, numbers with few digits.
fn texels(format: Format, bytes: u64, seed: u64) -> Vec<u8> {
    let mut next = noise(seed);
    let count = bytes / format.bytes();
    let each = (0..count).flat_map(|_| {
        let quarter = (next() % 801) as f32 * 0.25 - 100.0;
        match format {
            Format::F32 => quarter.to_le_bytes().to_vec(),
            Format::F16 => half_bits(quarter).to_le_bytes().to_vec(),
            _ => next().to_le_bytes()[..format.bytes() as usize].to_vec(),
        }
    });
    each.collect()
}

/// A number with few digits as `.f16`.
fn half_bits(x: f32) -> u16 {
    if x == 0.0 {
        return 0;
    }
    let bits = x.to_bits();
    let exponent = (bits >> 23 & 255) as i32 - 127 + 15;
    assert!((1..31).contains(&exponent) && bits & 0x1fff == 0, "{x} is a half");
    ((bits >> 16 & 0x8000) | (exponent as u32) << 10 | (bits >> 13 & 1023)) as u16
}

fn memory_with(image: &mut Image, bytes: &[u8]) -> Memory {
    let mut memory = Memory::default();
    let texels = memory.allocate("texels", bytes);
    image.address = memory.address(texels);
    memory
}

/// Coordinates around an axis of `n` texels: centres, edges, between, outside on both sides, and far away.
fn places(n: u64, normalized: bool, seed: u64) -> Vec<f32> {
    let mut next = noise(seed);
    let scale = if normalized { 1.0 } else { n as f32 };
    let mut places =
        vec![0.0, -0.0, 0.5, 1.0, 0.25, 0.999_023_44, -0.001_953_125, 1.25, -1.25, 2.5, -7.75, 3.0, -2.0, 1e3];
    places.iter_mut().for_each(|place| *place *= scale);
    // Of the texels' own grid, and of a fine one.
    places.extend((0..12).map(|_| (next() % (16 * n as u32)) as f32 / 16.0 - 2.0));
    places.extend((0..14).map(|_| ((next() % (1 << 16)) as f32 / 16384.0 - 1.5) * scale));
    places
}

/// Inputs that combine places of the axes.
fn inputs(extent: [u64; 3], axes: usize, layers: u64, normalized: bool) -> Vec<Input> {
    let all: [Vec<f32>; 3] = std::array::from_fn(|axis| places(extent[axis].max(1), normalized, axis as u64 + 1));
    (0..128)
        .map(|i| Input {
            // One beyond the last as well.
            layer: (i as u64 % (layers + 1)) as u32,
            at: std::array::from_fn(|axis| {
                let places = &all[axis];
                if axis < axes { places[(i * (axis * 4 + 1) + axis) % places.len()] } else { 0.0 }
            }),
            ..Input::default()
        })
        .collect()
}

const FORMATS: [Format; 12] = [
    Format::U8,
    Format::S8,
    Format::U16,
    Format::S16,
    Format::U32,
    Format::S32,
    Format::F16,
    Format::F32,
    Format::Unorm8,
    Format::Snorm8,
    Format::Unorm16,
    Format::Snorm16,
];
const MODES: [AddressMode; 4] = [AddressMode::Wrap, AddressMode::Clamp, AddressMode::Mirror, AddressMode::Border];

fn check(expected: Expected, got: u32, what: &dyn Fn() -> String) {
    match expected {
        Expected::Bits(bits) => assert_eq!(got, bits, "{}", what()),
        Expected::Number(number, off) => {
            let got = f64::from(f32::from_bits(got));
            assert!((got - number).abs() <= off, "{}: {got} and not {number}", what());
        }
    }
}

/// The instruction of a shape, with the number of its coordinates.
fn instruction(shape: Shape) -> (&'static str, usize) {
    match shape {
        Shape::D1 => ("tex.1d.v4.f32.f32 $, [T, {%f1}]", 1),
        Shape::D2 => ("tex.2d.v4.f32.f32 $, [T, {%f1, %f2}]", 2),
        Shape::D3 => ("tex.3d.v4.f32.f32 $, [T, {%f1, %f2, %f3, %f3}]", 3),
        Shape::Layered1D => ("tex.a1d.v4.f32.f32 $, [T, {%r0, %f1}]", 1),
        _ => ("tex.a2d.v4.f32.f32 $, [T, {%r0, %f1, %f2, %f2}]", 2),
    }
}

/// All formats, numbers of channels, address modes, filters, ways to read, kinds of coordinates and shapes.
#[test]
fn fetches_are_those_of_the_guide() {
    let shapes = [
        (Shape::D1, [7, 0, 0], 0),
        (Shape::D2, [5, 4, 0], 0),
        // A pitch.
        (Shape::D2, [5, 3, 0], 96),
        (Shape::D3, [4, 3, 5], 0),
        (Shape::Layered1D, [6, 0, 3], 0),
        (Shape::Layered2D, [3, 5, 4], 0),
    ];
    let mut fetches = 0;
    for (number, (shape, extent, pitch)) in shapes.into_iter().enumerate() {
        let (instruction, axes) = instruction(shape);
        let kernel = kernel(instruction);
        let layers = if matches!(shape, Shape::Layered1D | Shape::Layered2D) { extent[2] } else { 1 };
        let each = FORMATS.into_iter().flat_map(|format| [1, 2, 4].map(|channels| (format, channels)));
        for (turn, (format, channels)) in each.enumerate() {
            let mut image = Image::new(0, format, channels, shape, extent).with_pitch(pitch);
            let bytes = texels(format, image.byte_len(), (number * 100 + turn) as u64);
            let mut memory = memory_with(&mut image, &bytes);
            for (normalized, filter, normalized_float) in (0..8).map(|i| (i & 1 != 0, i & 2 != 0, i & 4 != 0)) {
                let floats = !format.is_integer() || normalized_float && format.bytes() < 4;
                if filter && !floats {
                    continue;
                }
                let inputs = inputs(extent, axes, layers, normalized);
                for mode in MODES {
                    let mut sampler = Sampler::default();
                    // Each axis has a mode of its own.
                    let at = MODES.iter().position(|other| *other == mode).unwrap_or(0);
                    sampler.address = std::array::from_fn(|axis| MODES[(at + axis * turn) % 4]);
                    sampler.filter = if filter { Filter::Linear } else { Filter::Point };
                    (sampler.normalized_float, sampler.normalized_coordinates) = (normalized_float, normalized);
                    sampler.border = [0.25, -2.0, 3.0, 0.5];
                    let handle = memory.create_texture(Texture::new(image, sampler)).expect("a texture");
                    let results = run(&kernel, &mut memory, handle, &inputs).expect("it runs");
                    memory.destroy_texture(handle).expect("it is there");
                    for (input, result) in inputs.iter().zip(results) {
                        let layer = i128::from(input.layer).min(i128::from(layers) - 1);
                        let texels = Texels { image, bytes: &bytes, floats, srgb: false };
                        let (at, offset) = (input.at, [0; 3]);
                        let fetch = Fetch { texels, sampler, axes, layer, level: 0, at, offset };
                        for (channel, got) in result.into_iter().enumerate() {
                            let what = || format!("{image:?} {sampler:?} {input:?} channel {channel}");
                            check(fetch.expected(channel), got, &what);
                        }
                        fetches += 1;
                    }
                }
            }
        }
    }
    assert!(fetches > 400_000, "{fetches}");
}

/// The bytes of words.
fn bytes_of<T: Copy>(words: &[T], bytes: impl Fn(T) -> [u8; 4]) -> Vec<u8> {
    words.iter().flat_map(|word| bytes(*word)).collect()
}

fn floats(words: &[f32]) -> Vec<u8> {
    bytes_of(words, f32::to_le_bytes)
}

/// A memory with a texture of these texels, and its handle.
fn texture(mut image: Image, bytes: &[u8], sampler: Sampler) -> (Memory, u64) {
    let mut memory = memory_with(&mut image, bytes);
    let handle = memory.create_texture(Texture::new(image, sampler)).unwrap_or_else(|error| panic!("{error}"));
    (memory, handle)
}

fn as_floats(words: [u32; 4]) -> [f32; 4] {
    words.map(f32::from_bits)
}

/// Whole coordinates have no sampler: outside is zero, and a layer beyond the last is the last.
#[test]
fn whole_coordinates_need_no_sampler() {
    let cases: [(&str, Shape, [u64; 3]); 6] = [
        ("tex.1d.v4.u32.s32 $, [T, {%r1}]", Shape::Linear, [5, 0, 0]),
        ("tex.1d.v4.u32.s32 $, [T, {%r1}]", Shape::D1, [5, 0, 0]),
        ("tex.2d.v4.s32.s32 $, [T, {%r1, %r2}]", Shape::D2, [5, 3, 0]),
        ("tex.base.3d.v4.u32.s32 $, [T, {%r1, %r2, %r3, %r3}]", Shape::D3, [5, 3, 2]),
        ("tex.a1d.v4.u32.s32 $, [T, {%r0, %r1}]", Shape::Layered1D, [5, 0, 2]),
        ("tex.level.a2d.v4.u32.s32 $, [T, {%r0, %r1, %r2, %r2}], 0", Shape::Layered2D, [5, 3, 2]),
    ];
    for (instruction, shape, extent) in cases {
        let kernel = kernel(instruction);
        for (format, channels) in [(Format::S8, 2), (Format::U16, 1), (Format::F32, 4)] {
            let image = Image::new(0, format, channels, shape, extent);
            let bytes = texels(format, image.byte_len(), 7);
            // What the sampler says does not matter.
            let (mut memory, handle) = texture(image, &bytes, Sampler::default().with_address(AddressMode::Border));
            let inputs: Vec<Input> = (0..250)
                .map(|i| whole(i % 3, [i as i32 % 7 - 1, i as i32 / 7 % 5 - 1, i as i32 / 35 % 4 - 1]))
                .chain([whole(u32::MAX, [i32::MAX, 0, 0]), whole(0, [i32::MIN, 0, 0])])
                .collect();
            let results = run(&kernel, &mut memory, handle, &inputs).expect("it runs");
            let texels = Texels { image, bytes: &bytes, floats: format == Format::F32, srgb: false };
            let layered = matches!(shape, Shape::Layered1D | Shape::Layered2D);
            for (input, result) in inputs.iter().zip(results) {
                let at = input.at.map(|n| i128::from(n.to_bits() as i32));
                let axes = extent.iter().filter(|n| **n > 0).count() - usize::from(layered);
                let inside = (0..axes.min(2)).all(|axis| at[axis] >= 0 && at[axis] < i128::from(extent[axis]))
                    && (shape != Shape::D3 || (0..2).contains(&at[2]));
                let place = [
                    at[0],
                    if axes > 1 && shape != Shape::Layered1D { at[1] } else { 0 },
                    if layered {
                        i128::from(input.layer.min(1))
                    } else if shape == Shape::D3 {
                        at[2]
                    } else {
                        0
                    },
                ];
                for (channel, got) in result.into_iter().enumerate() {
                    let expected = match (inside, channel < channels as usize) {
                        (false, _) => 0,
                        (true, true) => match texels.channel(0, place, channel) {
                            Channel::Bits(bits) => bits,
                            other => (other.number() as f32).to_bits(),
                        },
                        (true, false) if channel == 3 => {
                            if texels.floats {
                                1f32.to_bits()
                            } else {
                                1
                            }
                        }
                        (true, false) => 0,
                    };
                    assert_eq!(got, expected, "{instruction} {format:?} {input:?}: channel {channel}");
                }
            }
        }
    }
}

/// Offsets move the texels, and turns of repeated images.
#[test]
fn offsets_are_added_to_texels() {
    for (instruction, offset) in [
        ("tex.2d.v4.f32.f32 $, [T, {%f1, %f2}], {3, -2}", [3, -2, 0]),
        ("tex.2d.v4.f32.f32 $, [T, {%f1, %f2}], {-8, 7}", [-8, 7, 0]),
    ] {
        let kernel = kernel(instruction);
        let image = Image::new(0, Format::F32, 1, Shape::D2, [5, 4, 0]);
        let bytes = texels(Format::F32, image.byte_len(), 3);
        for (mode, filter) in MODES.iter().flat_map(|mode| [Filter::Point, Filter::Linear].map(|f| (*mode, f))) {
            let mut sampler = Sampler::default().with_address(mode).with_normalized_coordinates();
            sampler.filter = filter;
            let (mut memory, handle) = texture(image, &bytes, sampler);
            let inputs = inputs(image.extent, 2, 1, true);
            let results = run(&kernel, &mut memory, handle, &inputs).expect("it runs");
            for (input, result) in inputs.iter().zip(results) {
                let texels = Texels { image, bytes: &bytes, floats: true, srgb: false };
                let fetch = Fetch { texels, sampler, axes: 2, layer: 0, level: 0, at: input.at, offset };
                check(fetch.expected(0), result[0], &|| format!("{mode:?} {filter:?} {input:?} {offset:?}"));
            }
        }
    }
}

/// Coordinates that are no numbers, infinite and huge ones, and texels that are.
#[test]
fn special_values() {
    let kernel = kernel("tex.1d.v4.f32.f32 $, [T, {%f1}]");
    let image = Image::new(0, Format::F32, 1, Shape::D1, [4, 0, 0]);
    let bytes = floats(&[1.0, 2.0, 3.0, 4.0]);
    let inputs: Vec<Input> = [f32::NAN, f32::INFINITY, f32::NEG_INFINITY, f32::MAX, f32::MIN, f32::from_bits(1)]
        .map(|x| Input { at: [x, 0.0, 0.0], ..Input::default() })
        .to_vec();
    let got = |sampler: Sampler| {
        let (mut memory, handle) = texture(image, &bytes, sampler);
        let results = run(&kernel, &mut memory, handle, &inputs).expect("it runs");
        results.into_iter().map(|words| as_floats(words)[0]).collect::<Vec<f32>>()
    };
    let border = with!(Sampler::default().with_address(AddressMode::Border); border: [9.0; 4]);
    // A coordinate that is no number is zero.
    assert_eq!(got(Sampler::default()), [1.0, 4.0, 1.0, 4.0, 1.0, 1.0]);
    assert_eq!(got(border), [1.0, 9.0, 9.0, 9.0, 9.0, 1.0]);
    assert_eq!(got(border.with_linear_filter()), [5.0, 9.0, 9.0, 9.0, 9.0, 5.0]);
    let wrap = Sampler::default().with_normalized_coordinates();
    // The greatest float is a whole number, and even.
    assert_eq!(got(wrap), [1.0, 1.0, 1.0, 1.0, 1.0, 1.0]);
    assert_eq!(got(wrap.with_address(AddressMode::Mirror)), [1.0, 1.0, 1.0, 1.0, 1.0, 1.0]);
    assert_eq!(got(wrap.with_linear_filter()), [2.5, 2.5, 2.5, 2.5, 2.5, 2.5]);

    // At its centre a texel is alone; between, what is no number shows.
    let bytes = floats(&[f32::NAN, 2.0, f32::INFINITY, -0.0]);
    let (mut memory, handle) = texture(image, &bytes, Sampler::default().with_linear_filter());
    let inputs = [1.5, 1.501_953_1, 1.75, 1.25, 2.5, 3.5, 3.0].map(|x| Input { at: [x, 0.0, 0.0], ..Input::default() });
    let results = run(&kernel, &mut memory, handle, &inputs).expect("it runs");
    let results: Vec<f32> = results.into_iter().map(|words| as_floats(words)[0]).collect();
    assert_eq!(results[0], 2.0);
    // Half of 1/256 is rounded up.
    assert_eq!(&results[1..3], [f32::INFINITY; 2]);
    assert!(results[3].is_nan());
    assert_eq!(&results[4..], [f32::INFINITY, 0.0, f32::INFINITY]);
}

/// A row of a picture with its gamma, and what sRGB leaves alone.
#[test]
fn srgb_is_converted_before_it_is_filtered() {
    let kernel = kernel("tex.1d.v4.f32.f32 $, [T, {%f1}]");
    let bytes: Vec<u8> = (0..=255u8).flat_map(|n| [n, 255 - n, n / 2, n]).collect();
    let image = Image::new(0, Format::U8, 4, Shape::D1, [256, 0, 0]);
    for filter in [Filter::Point, Filter::Linear] {
        let sampler = with!(Sampler::default().with_normalized_float(); srgb: true, filter: filter);
        let (mut memory, handle) = texture(image, &bytes, sampler);
        let inputs: Vec<Input> =
            (0..256).map(|n| Input { at: [n as f32 + 0.75, 0.0, 0.0], ..Input::default() }).collect();
        let results = run(&kernel, &mut memory, handle, &inputs).expect("it runs");
        for (input, result) in inputs.iter().zip(results) {
            let texels = Texels { image, bytes: &bytes, floats: true, srgb: true };
            let fetch = Fetch { texels, sampler, axes: 1, layer: 0, level: 0, at: input.at, offset: [0; 3] };
            for (channel, got) in result.into_iter().enumerate() {
                check(fetch.expected(channel), got, &|| format!("{filter:?} {input:?} channel {channel}"));
            }
        }
    }
}

/// The faces of a cube and the places on them, by the table of the guide.
#[test]
fn cubes_are_projected() {
    for (instruction, shape, cubes) in [
        ("tex.cube.v4.f32.f32 $, [T, {%f1, %f2, %f3, %f3}]", Shape::Cube, 1u64),
        ("tex.acube.v4.f32.f32 $, [T, {%r0, %f1, %f2, %f3}]", Shape::LayeredCube, 3),
    ] {
        let kernel = kernel(instruction);
        let image = Image::new(0, Format::F32, 2, shape, [4, 4, 6 * cubes]);
        let bytes = texels(Format::F32, image.byte_len(), 11);
        for filter in [Filter::Point, Filter::Linear] {
            let sampler = with!(Sampler::default().with_address(AddressMode::Clamp); filter: filter);
            let (mut memory, handle) = texture(image, &bytes, sampler);
            let mut next = noise(5);
            // The major coordinate is 1 or 2, so that quotients have few digits.
            let inputs: Vec<(Input, u64, [f32; 2])> = (0..240)
                .map(|i| {
                    let face = i % 6;
                    let m = if next() & 1 == 0 { 1.0f32 } else { 2.0 };
                    let [s, t] = [0, 1].map(|_| (next() % 61) as f32 / 32.0 - 0.9375);
                    let (s, t) = (s * m, t * m);
                    let direction = match face {
                        0 => [m, -t, -s],
                        1 => [-m, -t, s],
                        2 => [s, m, t],
                        3 => [s, -m, -t],
                        4 => [s, -t, m],
                        _ => [-s, -t, -m],
                    };
                    let layer = next() % 4;
                    let input = Input { layer, at: direction, ..Input::default() };
                    (input, face, [(s / m + 1.0) / 2.0, (t / m + 1.0) / 2.0])
                })
                .collect();
            let given: Vec<Input> = inputs.iter().map(|(input, ..)| *input).collect();
            let results = run(&kernel, &mut memory, handle, &given).expect("it runs");
            for ((input, face, [s, t]), result) in inputs.iter().zip(results) {
                let texels = Texels { image, bytes: &bytes, floats: true, srgb: false };
                let layer = u64::from(input.layer).min(cubes - 1) * 6 + face;
                // A face is read by normalised coordinates.
                let sampler = sampler.with_normalized_coordinates();
                let (layer, at) = (i128::from(layer), [*s, *t, 0.0]);
                let fetch = Fetch { texels, sampler, axes: 2, layer, level: 0, at, offset: [0; 3] };
                for (channel, got) in result.into_iter().enumerate().take(2) {
                    check(fetch.expected(channel), got, &|| format!("{filter:?} {input:?} face {face}"));
                }
            }
        }
    }
}

/// Of equal magnitudes z goes before y and y before x; the null vector is the middle of a face.
#[test]
fn edges_of_cubes_belong_to_one_face() {
    let kernel = kernel("tex.cube.v4.f32.f32 $, [T, {%f1, %f2, %f3, %f3}]");
    let image = Image::new(0, Format::F32, 1, Shape::Cube, [1, 1, 6]);
    let bytes = floats(&[0.0, 1.0, 2.0, 3.0, 4.0, 5.0]);
    let (mut memory, handle) = texture(image, &bytes, Sampler::default());
    let directions = [[1.0, 1.0, 1.0], [-1.0, -1.0, -1.0], [1.0, -1.0, 0.5], [-2.0, 1.0, 1.0], [0.0, 0.0, 0.0]];
    let inputs = directions.map(|at| Input { at, ..Input::default() });
    let results = run(&kernel, &mut memory, handle, &inputs).expect("it runs");
    assert_eq!(results.into_iter().map(|words| as_floats(words)[0]).collect::<Vec<f32>>(), [4.0, 5.0, 3.0, 1.0, 4.0]);
}

/// Across the edges of a seamless cube the filter reads the neighbouring face, and at its corners the mean of three texels.
#[test]
fn seamless_cubes_have_no_edges() {
    let kernel = kernel("tex.cube.v4.f32.f32 $, [T, {%f1, %f2, %f3, %f3}]");
    let n = 4;
    let image = Image::new(0, Format::F32, 1, Shape::Cube, [n, n, 6]);
    // A texel holds what a function of space gives at its centre: a plane through the middle, by the guide's table of faces.
    let plane = |[x, y, z]: [f64; 3]| 3.0 * x - 2.0 * y + 0.5 * z;
    let mut bytes = Vec::new();
    let at = |face: u64, s: f64, t: f64| match face {
        0 => [1.0, -t, -s],
        1 => [-1.0, -t, s],
        2 => [s, 1.0, t],
        3 => [s, -1.0, -t],
        4 => [s, -t, 1.0],
        _ => [-s, -t, -1.0],
    };
    let centre = |i: u64| (i as f64 + 0.5) / n as f64 * 2.0 - 1.0;
    for face in 0..6 {
        for j in 0..n {
            for i in 0..n {
                bytes.extend((plane(at(face, centre(i), centre(j))) as f32).to_le_bytes());
            }
        }
    }
    let sampler = with!(Sampler::default().with_linear_filter(); seamless_cube: true);
    let (mut memory, handle) = texture(image, &bytes, sampler);
    // On an edge both faces' edge texels have the same share: the place, and what stands on both sides of it.
    let edge = centre(n - 1);
    let mut inputs = Vec::new();
    let mut expected = Vec::new();
    for face in 0..6 {
        for j in 0..n {
            for (s, t, beside) in
                [(1.0, centre(j), true), (-1.0, centre(j), true), (centre(j), 1.0, false), (centre(j), -1.0, false)]
            {
                let place = at(face, s, t);
                // Of the axis that the edge lies along both texels have the same coordinate.
                let own = if beside { at(face, s * edge, t) } else { at(face, s, t * edge) };
                let other: [f64; 3] = std::array::from_fn(|axis| {
                    let major = at(face, 0.0, 0.0)[axis].abs() == 1.0;
                    let crossed =
                        (if beside { at(face, 1.0, 0.0) } else { at(face, 0.0, 1.0) })[axis].abs() == 1.0 && !major;
                    if major {
                        place[axis] * edge
                    } else if crossed {
                        place[axis].signum()
                    } else {
                        place[axis]
                    }
                });
                expected.push((plane(own) + plane(other)) / 2.0);
                inputs.push(Input { at: place.map(|v| v as f32), ..Input::default() });
            }
        }
    }
    // A corner: the mean of the three texels there, with the missing fourth as their mean.
    let corner = [1.0, 1.0, 1.0];
    let around = [[1.0, edge, edge], [edge, 1.0, edge], [edge, edge, 1.0]].map(plane);
    expected.push(around.iter().sum::<f64>() / 3.0);
    inputs.push(Input { at: corner, ..Input::default() });
    let results = run(&kernel, &mut memory, handle, &inputs).expect("it runs");
    for ((input, expected), result) in inputs.iter().zip(expected).zip(results) {
        let got = f64::from(as_floats(result)[0]);
        assert!((got - expected).abs() < 1e-5, "{input:?}: {got} and not {expected}");
    }
}

fn mipmapped(shape: Shape, extent: [u64; 3], levels: u32) -> (Image, Vec<u8>) {
    let image = Image::new(0, Format::F32, 1, shape, extent).with_levels(levels);
    (image, texels(Format::F32, image.byte_len(), 21))
}

#[test]
fn mip_levels_are_chosen_and_mixed() {
    let cases = [
        ("tex.level.1d.v4.f32.f32 $, [T, {%f1}], %f4", Shape::D1, [16, 0, 0], 1),
        ("tex.level.2d.v4.f32.f32 $, [T, {%f1, %f2}], %f4", Shape::D2, [13, 9, 0], 2),
        ("tex.level.3d.v4.f32.f32 $, [T, {%f1, %f2, %f3, %f3}], %f4", Shape::D3, [8, 5, 6], 3),
        ("tex.level.a2d.v4.f32.f32 $, [T, {%r0, %f1, %f2, %f2}], %f4", Shape::Layered2D, [8, 4, 3], 2),
    ];
    for (instruction, shape, extent, axes) in cases {
        let kernel = kernel(instruction);
        let (image, bytes) = mipmapped(shape, extent, 4);
        let layers = if shape == Shape::Layered2D { 3 } else { 1 };
        let levels = [-3.0, 0.0, 0.25, 0.5, 1.0, 1.498_046_9, 1.625, 2.0, 2.75, 3.0, 9.0];
        for (filter, mip_filter, mip_bias, mip_clamp) in [
            (Filter::Point, Filter::Point, 0.0, [0.0, 3.0]),
            (Filter::Linear, Filter::Point, 0.0, [0.0, 99.0]),
            (Filter::Linear, Filter::Linear, 0.0, [0.0, 3.0]),
            (Filter::Point, Filter::Linear, 0.0, [0.0, 3.0]),
            (Filter::Linear, Filter::Linear, 0.75, [0.5, 2.25]),
            (Filter::Linear, Filter::Linear, -1.0, [1.25, 2.0]),
            (Filter::Point, Filter::Point, 0.0, [0.0, 0.0]),
        ] {
            let mode = AddressMode::Mirror;
            let sampler = with!(Sampler::default(); filter: filter, mip_filter: mip_filter, mip_bias: mip_bias, mip_clamp: mip_clamp);
            let sampler = sampler.with_normalized_coordinates().with_address(mode);
            let (mut memory, handle) = texture(image, &bytes, sampler);
            let inputs: Vec<Input> = inputs(extent, axes, layers, true)
                .into_iter()
                .enumerate()
                .map(|(i, input)| Input { level: levels[i % levels.len()], ..input })
                .collect();
            let results = run(&kernel, &mut memory, handle, &inputs).expect("it runs");
            for (input, result) in inputs.iter().zip(results) {
                let layer = i128::from(input.layer).min(i128::from(layers) - 1);
                let number = |level: u32| {
                    let texels = Texels { image, bytes: &bytes, floats: true, srgb: false };
                    let fetch = Fetch { texels, sampler, axes, layer, level, at: input.at, offset: [0; 3] };
                    match fetch.expected(0) {
                        Expected::Bits(bits) => f64::from(f32::from_bits(bits)),
                        Expected::Number(number, _) => number,
                    }
                };
                let lod = f64::from(input.level + mip_bias);
                let lod = lod.clamp(f64::from(mip_clamp[0]), f64::from(mip_clamp[1])).clamp(0.0, 3.0);
                let expected = match mip_filter {
                    Filter::Point => number((lod + 0.5).floor().min(3.0) as u32),
                    Filter::Linear => {
                        // 256ths of the way, to the nearest.
                        let whole = lod.floor();
                        let share = ((lod - whole) * 256.0).round();
                        let (a, b) = (number(whole as u32), number((whole as u32 + 1).min(3)));
                        (a * (256.0 - share) + b * share) / 256.0
                    }
                };
                check(Expected::Number(expected, 1e-4), result[0], &|| format!("{shape:?} {sampler:?} {input:?}"));
            }
        }
        // Without a level, and by `.base`, it is the first, whatever the sampler says.
        for base in [
            instruction.replace(".level", "").replace("], %f4", "]"),
            instruction.replace(".level", ".base").replace("], %f4", "]"),
        ] {
            let sampler = with!(Sampler::default().with_normalized_coordinates(); mip_clamp: [2.0, 3.0]);
            let (mut memory, handle) = texture(image, &bytes, sampler);
            let input = Input { at: [0.375; 3], ..Input::default() };
            let results = run(&self::kernel(&base), &mut memory, handle, &[input]).expect("it runs");
            let texels = Texels { image, bytes: &bytes, floats: true, srgb: false };
            let fetch = Fetch { texels, sampler, axes, layer: 0, level: 0, at: input.at, offset: [0; 3] };
            check(fetch.expected(0), results[0][0], &|| base.clone());
        }
    }
}

/// The level of derivatives: the longer one in texels, as a power of two.
#[test]
fn gradients_choose_a_level() {
    let (image, _) = mipmapped(Shape::D2, [64, 64, 0], 7);
    // Each level has its number.
    let numbers: Vec<f32> =
        (0..7).flat_map(|level| vec![level as f32; (image.level_bytes(level) / 4) as usize]).collect();
    let sampler = with!(Sampler::default().with_normalized_coordinates(); mip_filter: Filter::Linear, filter: Filter::Linear, mip_clamp: [0.0, 6.0]);
    let (mut memory, handle) = texture(image, &floats(&numbers), sampler);
    let by = |dx: [f32; 2], dy: [f32; 2]| Input {
        at: [0.5, 0.5, 0.0],
        by: [[dx[0], dx[1], 0.0], [dy[0], dy[1], 0.0]],
        ..Input::default()
    };
    let texel = 1.0 / 64.0;
    let cases = [
        (by([texel, 0.0], [0.0, texel]), 0.0),
        (by([4.0 * texel, 0.0], [0.0, texel]), 2.0),
        (by([0.0, 0.0], [8.0 * texel, 0.0]), 3.0),
        (by([3.0 * texel, 4.0 * texel], [0.0, 0.0]), 5f64.log2()),
        (by([0.0; 2], [0.0; 2]), 0.0),
        (by([100.0, 0.0], [0.0, 0.0]), 6.0),
        (by([f32::NAN, 0.0], [0.0, 0.0]), 0.0),
    ];
    let inputs: Vec<Input> = cases.iter().map(|(input, _)| *input).collect();
    let kernel = kernel("tex.grad.2d.v4.f32.f32 $, [T, {%f1, %f2}], {%f5, %f6}, {%f8, %f9}");
    let results = run(&kernel, &mut memory, handle, &inputs).expect("it runs");
    for ((input, expected), result) in cases.iter().zip(results) {
        let got = f64::from(as_floats(result)[0]);
        assert!((got - expected).abs() <= 1.0 / 256.0, "{input:?}: {got} and not {expected}");
    }

    // On the face of a cube a step of s by 2/64 is a texel.
    let (image, _) = mipmapped(Shape::Cube, [64, 64, 6], 7);
    let numbers: Vec<f32> =
        (0..7).flat_map(|level| vec![level as f32; (image.level_bytes(level) / 4) as usize]).collect();
    let (mut memory, handle) = texture(image, &floats(&numbers), sampler);
    let kernel = self::kernel(
        "tex.grad.cube.v4.f32.f32 $, [T, {%f1, %f2, %f3, %f3}], {%f5, %f6, %f7, %f7}, {%f8, %f9, %f10, %f10}",
    );
    let by = |dx: [f32; 3], dy: [f32; 3]| Input { at: [2.0, 0.5, 0.25], by: [dx, dy], ..Input::default() };
    let step = 2.0 * 2.0 / 64.0;
    // Along the major axis both coordinates shrink: s = -z/x by 1/16 a unit.
    let cases = [
        (by([0.0, 0.0, step], [0.0; 3]), 0.0),
        (by([0.0; 3], [0.0, 4.0 * step, 0.0]), 2.0),
        (by([1.0, 0.0, 0.0], [0.0; 3]), (64.0 * 0.5 * (0.125f64.powi(2) + 0.0625f64.powi(2)).sqrt()).log2()),
    ];
    let inputs: Vec<Input> = cases.iter().map(|(input, _)| *input).collect();
    let results = run(&kernel, &mut memory, handle, &inputs).expect("it runs");
    for ((input, expected), result) in cases.iter().zip(results) {
        let got = f64::from(as_floats(result)[0]);
        assert!((got - expected).abs() <= 1.0 / 256.0, "{input:?}: {got} and not {expected}");
    }
}

#[test]
fn gathers_are_in_the_manuals_order() {
    for (instruction, shape, layers) in [
        ("tld4.C.2d.v4.f32.f32 $, [T, {%f1, %f2}]", Shape::D2, 1u64),
        ("tld4.C.a2d.v4.u32.f32 $, [T, {%r0, %f1, %f2, %f2}]", Shape::Layered2D, 2),
    ] {
        for (channel, name) in ["r", "g", "b", "a"].into_iter().enumerate() {
            let kernel = kernel(&instruction.replace(".C.", &format!(".{name}.")));
            for (format, mode) in [(Format::S16, AddressMode::Border), (Format::F32, AddressMode::Clamp)] {
                let image = Image::new(0, format, 4, shape, [5, 4, if layers > 1 { layers } else { 0 }]);
                let bytes = texels(format, image.byte_len(), 13);
                let sampler = with!(Sampler::default().with_address(mode); border: [1.0, 2.0, 3.0, 4.0]);
                let (mut memory, handle) = texture(image, &bytes, sampler);
                let inputs = inputs(image.extent, 2, layers, false);
                let results = run(&kernel, &mut memory, handle, &inputs).expect("it runs");
                for (input, result) in inputs.iter().zip(results) {
                    let texels = Texels { image, bytes: &bytes, floats: format == Format::F32, srgb: false };
                    let layer = i128::from(input.layer).min(i128::from(layers) - 1);
                    let fetch = Fetch { texels, sampler, axes: 2, layer, level: 0, at: input.at, offset: [0; 3] };
                    let expected = fetch.gathered(channel).map(|channel| match channel {
                        Channel::Bits(bits) => bits,
                        other => (other.number() as f32).to_bits(),
                    });
                    assert_eq!(result, expected, "{shape:?} {format:?} {name} {input:?}");
                }
            }
        }
    }
}

/// Narrow destinations, the predicate, scalar and long coordinates, a vector of registers, a destination that is not kept.
#[test]
fn operands_take_every_form() {
    let image = Image::new(0, Format::F32, 4, Shape::D1, [2, 0, 0]);
    let bytes = floats(&[1.0, -2.0, 0.1, 65504.0, 3.0, 4.0, 5.0, 6.0]);
    let input = Input { at: [0.5, 0.0, 0.0], ..Input::default() };
    let got = |instruction: &str| {
        let (mut memory, handle) = texture(image, &bytes, Sampler::default());
        run(&kernel(instruction), &mut memory, handle, &[input]).unwrap_or_else(|error| panic!("{error}"))[0]
    };
    let all = [1.0f32, -2.0, 0.1, 65504.0].map(f32::to_bits);
    assert_eq!(got("tex.1d.v4.f32.f32 $, [T, {%f1}]"), all);
    assert_eq!(got("tex.1d.v4.b32.f32 $, [T, %f1]"), all);
    assert_eq!(got("tex.1d.v4.f32.f32 $, [T, {%f1, %f2, %f3, %f3}]"), all);
    assert_eq!(got("tex.1d.v4.f32.f32 $, [T, {0f3f000000}]"), all);
    assert_eq!(got("tex.1d.v4.f32.f32 {_, _, %r20, _}, [T, {%f1}]"), [all[2], 0, 0, 0]);
    assert_eq!(got(".reg .v2 .f32 %v; mov.f32 %v.x, %f1; tex.1d.v4.f32.f32 $, [T, %v]"), all);
    // 0.1 is 0x2e66 as a half.
    assert_eq!(
        got(
            "tex.1d.v4.f16.f32 {%rs1, %rs2, %rs3, %rs4}, [T, {%f1}]; mov.b32 %r20, {%rs1, %rs2}; mov.b32 %r21, {%rs3, %rs4}"
        ),
        [0xc000_3c00, 0x7bff_2e66, 0, 0]
    );
    assert_eq!(got("tex.1d.v2.f16x2.f32 {%r20, %r21}, [T, {%f1}]"), [0xc000_3c00, 0x7bff_2e66, 0, 0]);
    assert_eq!(
        got(
            "setp.ne.u32 %p1, %r20, 0; tex.1d.v4.f32.f32 {%r20, %r21, %r22, %r23}|%p1, [T, {%f1}]; selp.u32 %r20, 1, 0, %p1"
        ),
        [1, all[1], all[2], all[3]]
    );
    // A guard keeps what was there.
    assert_eq!(got("setp.ne.u32 %p1, %r20, 0; @%p1 tex.1d.v4.f32.f32 $, [T, {%f1}]"), [0; 4]);
    // The sampler of another texture.
    assert_eq!(got("tex.1d.v4.f32.f32 $, [T, %rd3, {%f1}]"), all);
}

/// References: by name, by their address, with samplers of their own, and the handles in parameters.
#[test]
fn references_are_bound_by_name() {
    let declarations = ".global .texref ns_t; .tex .u32 old; .global .samplerref smooth; .global .surfref s;\n";
    let image = Image::new(0, Format::F32, 1, Shape::D1, [2, 0, 0]);
    let input = Input { at: [1.0, 0.0, 0.0], ..Input::default() };
    let run_bound = |instruction: &str, bind: bool| {
        let (program, kernel) = kernel_of(declarations, instruction).unwrap_or_else(|error| panic!("{error}"));
        let mut memory = program.memory();
        let texels = memory.allocate("texels", floats(&[2.0, 4.0]));
        let image = with!(image; address: memory.address(texels));
        if bind {
            memory.bind_texture(&program, "ns_t", Texture::new(image, Sampler::default())).expect("bound");
            memory
                .bind_texture(&program, "old", Texture::new(image, Sampler::default().with_linear_filter()))
                .expect("bound");
            memory.bind_sampler(&program, "smooth", Sampler::default().with_linear_filter()).expect("bound");
            memory.bind_surface(&program, "s", Surface::new(image)).expect("bound");
        }
        run(&kernel, &mut memory, 0, &[input])
    };
    for (instruction, expected) in [
        ("tex.1d.v4.f32.f32 $, [ns_t, {%f1}]", 4.0f32),
        ("tex.1d.v4.f32.f32 $, [old, {%f1}]", 3.0),
        ("tex.1d.v4.f32.f32 $, [ns_t, smooth, {%f1}]", 3.0),
        ("mov.u64 %rd9, ns_t; tex.1d.v4.f32.f32 $, [%rd9, {%f1}]", 4.0),
        ("suld.b.1d.b32.trap {%r20}, [s, {4}]", 4.0),
    ] {
        let results = run_bound(instruction, true).unwrap_or_else(|error| panic!("{instruction}: {error}"));
        assert_eq!(as_floats(results[0])[0], expected, "{instruction}");
        let error = run_bound(instruction, false).expect_err("nothing is bound").0.remove(0);
        assert_eq!(error.kind, RunErrorKind::Forbidden, "{instruction}");
        assert!(error.thread.is_some() && error.place.is_some(), "{instruction}: {error}");
    }
    let unbound = run_bound("tex.1d.v4.f32.f32 $, [ns_t, {%f1}]", false).expect_err("nothing is bound").0.remove(0);
    assert_eq!(unbound.message, "nothing is bound to the reference `ns_t`");

    // An old module's texture parameter holds a handle.
    let text = format!(
        "{HEAD}.entry k(.param .u64 out, .param .texref t) {{
         .reg .b64 %rd<3>; .reg .b32 %r<5>; .reg .f32 %f<2>;
         ld.param.u64 %rd1, [out]; mov.f32 %f1, 0f3f800000;
         tex.1d.v4.u32.f32 {{%r1, %r2, %r3, %r4}}, [t, {{%f1}}]; st.global.u32 [%rd1], %r1; }}"
    );
    let (mut memory, handle) = texture(image, &floats(&[2.0, 4.0]), Sampler::default());
    let out = memory.allocate("out", [0; 4]);
    let kernel = Program::read(&text).kernel("k").expect("a kernel");
    kernel
        .launch([1; 3], [1; 3], &[out.into(), handle.into()], &mut memory, &LaunchOptions::default())
        .expect("it runs");
    assert_eq!(memory.bytes(out), 4.0f32.to_le_bytes());

    let (program, _) = kernel_of(declarations, "mov.u32 %r20, 0").expect("a kernel");
    let mut memory = program.memory();
    let texels = memory.allocate("texels", [0; 8]);
    let texture = Texture::new(with!(image; address: memory.address(texels)), Sampler::default());
    for (name, message) in [
        ("missing", "the module has no texture, sampler or surface reference `missing`"),
        ("s", "`s` is declared .surfref, not .texref"),
    ] {
        assert_eq!(memory.bind_texture(&program, name, texture).expect_err(name).message, message);
    }
    let mut other = Memory::default();
    let texels = other.allocate("texels", [0; 8]);
    let texture = Texture::new(with!(image; address: other.address(texels)), Sampler::default());
    let error = other.bind_texture(&program, "ns_t", texture).expect_err("another memory");
    assert_eq!(error.message, "the module of reference `ns_t` is not in this memory");
}

/// Samplers of OpenCL's kernels are declared with their content.
#[test]
fn samplers_have_initialisers() {
    let declared = |fields: &str| {
        let declarations = format!(".global .samplerref s = {{ {fields} }};\n");
        let (program, kernel) = kernel_of(&declarations, "tex.1d.v4.f32.f32 $, [T, s, {%f1}]")?;
        let mut memory = program.memory();
        let texels = memory.allocate("texels", floats(&[2.0, 4.0, 8.0]));
        let image = Image::new(memory.address(texels), Format::F32, 1, Shape::D1, [3, 0, 0]);
        let handle = memory.create_texture(Texture::new(image, Sampler::default()))?;
        let input = Input { at: [3.5, 0.0, 0.0], ..Input::default() };
        run(&kernel, &mut memory, handle, &[input]).map(|results| as_floats(results[0])[0])
    };
    for (fields, expected) in [
        ("addr_mode_0 = clamp_to_edge, filter_mode = nearest, force_unnormalized_coords = 1", 8.0),
        ("addr_mode_0 = clamp_to_border, force_unnormalized_coords = 1", 0.0),
        ("filter_mode = linear, addr_mode_0 = clamp_to_border, addr_mode_1 = wrap, force_unnormalized_coords = 1", 0.0),
        // Three turns and a half, of which the fourth is mirrored.
        ("addr_mode_0 = mirror", 4.0),
        ("addr_mode_0 = wrap", 4.0),
    ] {
        assert_eq!(declared(fields).unwrap_or_else(|error| panic!("{fields}: {error}")), expected, "{fields}");
    }
    let error = declared("filter_mode = cubic").expect_err("no filter").0.remove(0);
    assert_eq!(
        error.message,
        "variable `s` has an initialiser that vop run does not understand: `{ filter_mode = cubic }`"
    );
}

#[test]
fn attributes_are_told() {
    let cases = [
        ("txq.width.b32 %r20, [T]", 13),
        ("txq.height.b32 %r20, [T]", 9),
        ("txq.depth.b32 %r20, [T]", 0),
        ("txq.level.width.b32 %r20, [T], 2", 3),
        ("txq.level.height.b32 %r20, [T], %r0", 9),
        ("txq.channel_data_type.b32 %r20, [T]", 0x10de),
        ("txq.channel_order.b32 %r20, [T]", 0x10b2),
        ("txq.normalized_coords.b32 %r20, [T]", 1),
        ("txq.force_unnormalized_coords.b32 %r20, [T]", 0),
        ("txq.filter_mode.b32 %r20, [T]", 1),
        ("txq.addr_mode_0.b32 %r20, [T]", 1),
        ("txq.addr_mode_2.b32 %r20, [T]", 4),
        ("txq.array_size.b32 %r20, [T]", 0),
        ("txq.num_mipmap_levels.b32 %r20, [T]", 3),
        ("txq.num_samples.b32 %r20, [T]", 0),
        ("istypep.texref %p1, %rd3; selp.u32 %r20, 1, 0, %p1", 1),
        ("istypep.surfref %p1, %rd3; selp.u32 %r20, 1, 0, %p1", 0),
        ("istypep.samplerref %p1, %rd1; selp.u32 %r20, 1, 0, %p1", 0),
    ];
    let image = Image::new(0, Format::F32, 2, Shape::D2, [13, 9, 0]).with_levels(3);
    let bytes = texels(Format::F32, image.byte_len(), 1);
    let mut sampler = Sampler::default().with_linear_filter().with_normalized_coordinates();
    sampler.address = [AddressMode::Mirror, AddressMode::Clamp, AddressMode::Border];
    for (instruction, expected) in cases {
        let (mut memory, handle) = texture(image, &bytes, sampler);
        let results = run(&kernel(instruction), &mut memory, handle, &[Input::default()]).expect("it runs");
        assert_eq!(results[0][0], expected, "{instruction}");
    }
    let (mut memory, handle) = texture(image, &bytes, sampler);
    let error = run(&kernel("txq.level.width.b32 %r20, [T], 3"), &mut memory, handle, &[Input::default()]);
    assert_eq!(error.expect_err("no such level").0[0].message, "mip level 3 is not there");

    let mut image = Image::new(0, Format::U8, 1, Shape::Layered2D, [5, 4, 3]);
    let mut memory = memory_with(&mut image, &[0; 60]);
    let handle = memory.create_surface(Surface::new(image)).expect("a surface");
    for (instruction, expected) in [
        ("suq.width.b32 %r20, [T]", 5),
        ("suq.height.b32 %r20, [T]", 4),
        ("suq.array_size.b32 %r20, [T]", 3),
        ("suq.memory_layout.b32 %r20, [T]", 0),
        ("suq.channel_data_type.b32 %r20, [T]", 0x10da),
        ("suq.channel_order.b32 %r20, [T]", 0x10b0),
        ("istypep.surfref %p1, %rd3; selp.u32 %r20, 1, 0, %p1", 1),
    ] {
        let results = run(&kernel(instruction), &mut memory, handle, &[Input::default()]).expect("it runs");
        assert_eq!(results[0][0], expected, "{instruction}");
    }
}
