//! Textures and surfaces, against the formulas of CUDA's guide in whole numbers ([`reference`]).

mod reference;

use reference::{Channel, Expected, Fetch, Texels};
use vop_run::texture::{AddressMode, Filter, Format, Image, Sampler, Shape, Surface, Texture, View};
use vop_run::{Check, Kernel, LaunchOptions, Memory, Program, RunErrorKind, RunErrors};

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
