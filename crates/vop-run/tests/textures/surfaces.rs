//! Surfaces: bytes by whole coordinates, what is outside, formats, reductions, and what checks see.

use super::*;

/// A surface, its buffer, and its handle.
fn surface(mut image: Image, bytes: &[u8]) -> (Memory, vop_run::BufferId, u64) {
    let mut memory = Memory::default();
    let buffer = memory.allocate("texels", bytes);
    image.address += memory.address(buffer);
    let handle = memory.create_surface(Surface::new(image)).unwrap_or_else(|error| panic!("{error}"));
    (memory, buffer, handle)
}

/// The bytes of a row that a clamped access reaches.
fn clamped(at: [i64; 3], sizes: [i64; 3]) -> [i64; 3] {
    std::array::from_fn(|axis| at[axis].clamp(0, sizes[axis]))
}

#[test]
fn loads_and_stores_reach_their_bytes() {
    let shapes: [(&str, Shape, [u64; 3]); 6] = [
        ("1d.V {A}, [T, {%r1}]", Shape::D1, [8, 0, 0]),
        ("2d.V {A}, [T, {%r1, %r2}]", Shape::D2, [8, 3, 0]),
        ("3d.V {A}, [T, {%r1, %r2, %r3, %r3}]", Shape::D3, [8, 3, 2]),
        ("a1d.V {A}, [T, {%r0, %r1}]", Shape::Layered1D, [8, 0, 4]),
        ("a2d.V {A}, [T, {%r0, %r1, %r2, %r2}]", Shape::Layered2D, [8, 3, 4]),
        ("a2d.V {A}, [T, {%r0, %r1, %r2, %r2}]", Shape::Cube, [3, 3, 6]),
    ];
    let mut next = noise(9);
    for (form, shape, extent) in shapes {
        let layered = matches!(shape, Shape::Layered1D | Shape::Layered2D | Shape::Cube);
        let image = Image::new(0, Format::U32, 2, shape, extent);
        let bytes: Vec<u8> = (0..image.byte_len()).map(|_| next() as u8).collect();
        for (vector, size) in
            [("b8", 1), ("b16", 2), ("b32", 4), ("b64", 8), ("v2.b32", 8), ("v4.b8", 4), ("v2.b64", 16)]
        {
            if extent[0] == 3 && size == 16 {
                continue;
            }
            let sizes = [extent[0] as i64 * 8 - size, extent[1].max(1) as i64 - 1, extent[2].max(1) as i64 - 1];
            // Bytes of a row at multiples of the access, outside as well.
            let inputs: Vec<Input> = (0..200)
                .map(|i: i32| {
                    let x = (i % 14 - 3) * size as i32;
                    whole((i as u32 / 5) % (extent[2] as u32 + 2), [x, i / 14 % 5 - 1, i / 40 % 4 - 1])
                })
                .collect();
            let place = |input: &Input| -> [i64; 3] {
                let [x, y, z] = input.at.map(|n| i64::from(n.to_bits() as i32));
                let y = if matches!(shape, Shape::D1 | Shape::Layered1D) { 0 } else { y };
                let z = if layered {
                    i64::from(input.layer)
                } else if shape == Shape::D3 {
                    z
                } else {
                    0
                };
                [x, y, z]
            };
            let row = extent[0] as i64 * 8;
            let offset = |[x, y, z]: [i64; 3]| ((z * extent[1].max(1) as i64 + y) * row + x) as usize;
            for mode in ["clamp", "zero", "trap"] {
                let registers = match vector {
                    "b8" => "%rs1",
                    "b16" => "%rs1",
                    "b32" => "%r20",
                    "b64" => "%rd10",
                    "v2.b32" => "%r20, %r21",
                    "v4.b8" => "%rs1, %rs2, %rs3, %rs4",
                    _ => "%rd10, %rd11",
                };
                let after = match vector {
                    "b8" | "b16" => "; cvt.u32.u16 %r20, %rs1",
                    "b64" => "; mov.b64 {%r20, %r21}, %rd10",
                    "v4.b8" => {
                        "; cvt.u32.u16 %r20, %rs1; cvt.u32.u16 %r21, %rs2; cvt.u32.u16 %r22, %rs3; cvt.u32.u16 %r23, %rs4"
                    }
                    "v2.b64" => "; mov.b64 {%r20, %r21}, %rd10; mov.b64 {%r22, %r23}, %rd11",
                    _ => "",
                };
                let load = format!(
                    "suld.b.{}.{mode}{}",
                    &form[..form.find(".V").unwrap_or(0)],
                    &form[form.find(".V").unwrap_or(0)..]
                );
                let load = load
                    .replace(&format!(".{mode}.V"), &format!(".{vector}.{mode}"))
                    .replace("{A}", &format!("{{{registers}}}"));
                let kernel = kernel(&(load.clone() + after));
                let is_inside = |at: [i64; 3]| (0..3).all(|axis| (0..=sizes[axis]).contains(&at[axis]));
                let inputs: Vec<Input> =
                    inputs.iter().copied().filter(|input| mode != "trap" || is_inside(place(input))).collect();
                let (mut memory, _, handle) = surface(image, &bytes);
                let results =
                    run(&kernel, &mut memory, handle, &inputs).unwrap_or_else(|error| panic!("{load}: {error}"));
                for (input, result) in inputs.iter().zip(results) {
                    let at = place(input);
                    let found = match (is_inside(at), mode) {
                        (false, "zero") => vec![0; size as usize],
                        _ => {
                            let mut at = clamped(at, sizes);
                            at[0] -= at[0] % size;
                            bytes[offset(at)..][..size as usize].to_vec()
                        }
                    };
                    let each = if vector == "v4.b8" { 1 } else { 4 };
                    for (word, chunk) in result.into_iter().zip(found.chunks(each)) {
                        let expected = chunk.iter().rev().fold(0, |word, byte| word << 8 | u32::from(*byte));
                        assert_eq!(word, expected, "{load} {shape:?} {input:?}");
                    }
                }
            }
            // A store by one thread after another, so that it is known what comes last.
            for (mode, input) in
                ["clamp", "zero"].into_iter().flat_map(|mode| inputs.iter().step_by(23).map(move |i| (mode, i)))
            {
                let values = match vector {
                    "b8" | "b16" => "%rs1",
                    "b32" => "%r20",
                    "b64" => "%rd10",
                    "v2.b32" => "%r20, %r21",
                    "v4.b8" => "%rs1, %rs1, %rs1, %rs1",
                    _ => "%rd10, %rd10",
                };
                let (dimension, rest) = form.split_once(".V {A}, ").unwrap_or_default();
                let store = format!("sust.b.{dimension}.{vector}.{mode} {rest}, {{{values}}}");
                let set = "mov.u16 %rs1, 0x5a5a; mov.u32 %r20, 0x5a5a5a5a; mov.u32 %r21, 0x5a5a5a5a; mov.u64 %rd10, 0x5a5a5a5a5a5a5a5a; ";
                let kernel = kernel(&(set.to_owned() + &store));
                let (mut memory, buffer, handle) = surface(image, &bytes);
                run(&kernel, &mut memory, handle, std::slice::from_ref(input))
                    .unwrap_or_else(|error| panic!("{store}: {error}"));
                let at = place(input);
                let is_inside = (0..3).all(|axis| (0..=sizes[axis]).contains(&at[axis]));
                let mut expected = bytes.clone();
                if is_inside || mode == "clamp" {
                    let mut at = clamped(at, sizes);
                    at[0] -= at[0] % size;
                    expected[offset(at)..][..size as usize].fill(0x5a);
                }
                assert_eq!(memory.bytes(buffer), expected, "{store} {input:?}");
            }
        }
    }
}

/// What is outside is an error that says where, and so is what is not aligned.
#[test]
fn traps_are_errors_with_their_place() {
    let image = Image::new(0, Format::U32, 1, Shape::D2, [32, 4, 0]);
    for (instruction, input, kind, message) in [
        (
            "suld.b.2d.b32.trap {%r20}, [T, {%r1, %r2}]",
            whole(0, [128, 1, 0]),
            RunErrorKind::OutOfBounds,
            "a surface access of 4 bytes at byte 128 of row 1: the surface has 32 x 4 texels of 4 bytes",
        ),
        (
            "suld.b.2d.b32.trap {%r20}, [T, {%r1, %r2}]",
            whole(0, [0, -1, 0]),
            RunErrorKind::OutOfBounds,
            "a surface access of 4 bytes at byte 0 of row -1: the surface has 32 x 4 texels of 4 bytes",
        ),
        (
            "sust.p.2d.b32.trap [T, {%r1, %r2}], {%r20}",
            whole(0, [32, 0, 0]),
            RunErrorKind::OutOfBounds,
            "a surface access of 4 bytes at texel 32 of row 0: the surface has 32 x 4 texels of 4 bytes",
        ),
        (
            "sust.b.2d.b32 [T, {%r1, %r2}], {%r20}",
            whole(0, [6, 0, 0]),
            RunErrorKind::Misaligned,
            "a surface access of 4 bytes at byte 6 of a row",
        ),
    ] {
        let (mut memory, _, handle) = surface(image, &[0; 512]);
        let inputs = [whole(0, [0, 0, 0]), whole(0, [4, 0, 0]), input];
        let error = run(&kernel(instruction), &mut memory, handle, &inputs).expect_err(instruction).0.remove(0);
        assert_eq!((error.kind, &*error.message), (kind, message), "{instruction}");
        assert_eq!(error.thread.map(|id| id.thread), Some([2, 0, 0]));
        assert!(error.place.is_some_and(|place| place.text.starts_with(&instruction[..6])));
    }
}

/// Formatted stores take the nearest value of the format, and formatted loads are reads of the format.
#[test]
fn formatted_accesses_convert() {
    let f = f32::to_bits;
    let cases: [(Format, [u32; 4], &[u8]); 10] = [
        (Format::U8, [0, 255, 256, u32::MAX], &[0, 255, 255, 255]),
        (Format::S8, [127, 128, -128i32 as u32, -129i32 as u32], &[127, 127, 128, 128]),
        (Format::U16, [1, 65535, 65536, 7], &[1, 0, 255, 255, 255, 255, 7, 0]),
        (Format::S16, [32768, -32769i32 as u32, 5, -1i32 as u32], &[255, 127, 0, 128, 5, 0, 255, 255]),
        (Format::F16, [f(1.0), f(-2.0), f(65519.0), f(65520.0)], &[0, 0x3c, 0, 0xc0, 0xff, 0x7b, 0, 0x7c]),
        (Format::Unorm8, [f(0.0), f(1.0), f(-3.0), f(0.5)], &[0, 255, 0, 128]),
        (Format::Snorm8, [f(-1.0), f(1.0), f(-3.0), f(f32::NAN)], &[129, 127, 129, 0]),
        (Format::Unorm16, [f(2.0), f(0.25), f(0.0), f(1.0)], &[255, 255, 0, 64, 0, 0, 255, 255]),
        (Format::Snorm16, [f(-1.0), f(0.5), f(0.0), f(1.0)], &[1, 128, 0, 64, 0, 0, 255, 127]),
        (Format::F32, [1, 2, 3, f(4.5)], &[1, 0, 0, 0, 2, 0, 0, 0, 3, 0, 0, 0, 0, 0, 0x90, 0x40]),
    ];
    for (format, words, expected) in cases {
        let image = Image::new(0, format, 4, Shape::D1, [3, 0, 0]);
        let (mut memory, buffer, handle) = surface(image, &vec![0; image.byte_len() as usize]);
        let [a, b, c, d] = words;
        let store = format!("sust.p.1d.v4.b32.zero [T, {{1}}], {{{a}, {b}, {c}, {d}}}");
        run(&kernel(&store), &mut memory, handle, &[Input::default()]).unwrap_or_else(|error| panic!("{error}"));
        let texel = expected.len();
        assert_eq!(&memory.bytes(buffer)[texel..2 * texel], expected, "{format:?}");
        assert!(memory.bytes(buffer)[..texel].iter().chain(&memory.bytes(buffer)[2 * texel..]).all(|byte| *byte == 0));
        let load = kernel("suld.p.1d.v4.b32.zero {%r20, %r21, %r22, %r23}, [T, {1}]");
        let results = run(&load, &mut memory, handle, &[Input::default()]).unwrap_or_else(|error| panic!("{error}"));
        for (channel, got) in results[0].into_iter().enumerate() {
            let bytes = &expected[channel * texel / 4..][..texel / 4];
            if format == Format::F16 && channel == 3 {
                assert_eq!(f32::from_bits(got), f32::INFINITY);
                continue;
            }
            let expected = match reference::channel(format, bytes, false, false) {
                Channel::Bits(bits) => bits,
                other => (other.number() as f32).to_bits(),
            };
            assert_eq!(got, expected, "{format:?} channel {channel}");
        }
        // Channels that the source does not have are zero.
        let store = kernel(&format!("sust.p.1d.v2.b32.trap [T, {{1}}], {{{a}, {b}}}"));
        run(&store, &mut memory, handle, &[Input::default()]).expect("it runs");
        assert_eq!(&memory.bytes(buffer)[texel..texel * 3 / 2], &expected[..texel / 2]);
        assert!(memory.bytes(buffer)[texel * 3 / 2..].iter().all(|byte| *byte == 0), "{format:?}");
    }
}

#[test]
fn reductions_fold_into_surfaces() {
    let cases = [
        ("sured.b.add.2d.u32.trap [T, {4, 1}], %r0", Format::U32, 100, 100 + (0..64).sum::<u32>()),
        ("sured.b.max.2d.s32.trap [T, {4, 1}], %r0", Format::S32, -5i32 as u32, 63),
        ("sured.b.max.2d.u32.trap [T, {4, 1}], %r0", Format::S32, -5i32 as u32, -5i32 as u32),
        ("sured.b.min.2d.s32.trap [T, {4, 1}], %r0", Format::U32, 3, 0),
        ("sured.b.or.2d.b32.clamp [T, {4, 1}], %r0", Format::U32, 1 << 20, 1 << 20 | 63),
        ("sured.b.and.2d.b32.zero [T, {4, 1}], {%r0}", Format::U32, u32::MAX, 0),
        // The surface's format tells the sign.
        ("sured.p.max.2d.b32.trap [T, {1, 1}], %r0", Format::S32, -5i32 as u32, 63),
        ("sured.p.max.2d.b32.trap [T, {1, 1}], %r0", Format::U32, -5i32 as u32, -5i32 as u32),
        ("sured.b.add.2d.u32.zero [T, {4, 2}], %r0", Format::U32, 7, 7),
    ];
    for (instruction, format, before, after) in cases {
        let image = Image::new(0, format, 1, Shape::D2, [2, 2, 0]);
        let mut bytes = vec![0; 16];
        bytes[12..].copy_from_slice(&before.to_le_bytes());
        let (mut memory, buffer, handle) = surface(image, &bytes);
        let inputs: Vec<Input> = (0..64).map(|i| whole(i, [0; 3])).collect();
        run(&kernel(instruction), &mut memory, handle, &inputs).unwrap_or_else(|error| panic!("{error}"));
        bytes[12..].copy_from_slice(&after.to_le_bytes());
        assert_eq!(memory.bytes(buffer), bytes, "{instruction}");
    }
}

/// What a kernel has not written shows where a texture or a surface reads it; threads that reach one texel race.
#[test]
fn checks_see_texels() {
    let options = |check: Check| {
        let mut options = LaunchOptions::default();
        options.check(check);
        options
    };
    let image = |memory: &Memory, buffer| Image::new(memory.address(buffer), Format::U32, 1, Shape::D1, [64, 0, 0]);
    let findings = |instruction: &str, texture: bool, check: Check| {
        let mut memory = Memory::default();
        let texels = memory.allocate_uninitialized("texels", 256).expect("memory");
        let image = image(&memory, texels);
        let handle = if texture {
            memory.create_texture(Texture::new(image, Sampler::default()))
        } else {
            memory.create_surface(Surface::new(image))
        };
        let given = memory.allocate("in", vec![0; 4 * WORDS * 64]);
        let out = memory.allocate("out", vec![0; 16 * 64]);
        let args = [out.into(), given.into(), handle.expect("a handle").into()];
        let report =
            kernel(instruction).launch([1; 3], [64, 1, 1], &args, &mut memory, &options(check)).expect("it runs");
        report.findings.iter().map(|finding| finding.error.kind).collect::<Vec<_>>()
    };
    let mine = "shl.b32 %r31, %r30, 2;";
    let store = format!("{mine} sust.b.1d.b32.trap [T, {{%r31}}], {{%r30}}");
    let fetch = "tex.1d.v4.u32.s32 $, [T, {%r30}]";
    assert_eq!(findings(fetch, true, Check::Uninit), [RunErrorKind::Uninitialized]);
    assert_eq!(findings(&format!("{store}; suld.b.1d.b32.trap {{%r20}}, [T, {{%r31}}]"), false, Check::Uninit), []);
    assert_eq!(
        findings(&format!("{store}; suld.b.1d.b32.clamp {{%r20}}, [T, {{252}}]"), false, Check::Races),
        [RunErrorKind::Race]
    );
    assert_eq!(findings(&store, false, Check::Races), []);
    assert_eq!(findings("sust.b.1d.b32.trap [T, {4}], {%r30}", false, Check::Races), [RunErrorKind::Race]);
    assert_eq!(findings("sured.b.add.1d.u32.trap [T, {4}], %r30", false, Check::Races), []);
}

/// Handles of nothing, of what was destroyed, of another kind, and images that instructions do not read.
#[test]
fn wrong_handles_are_errors() {
    let image = Image::new(0, Format::F32, 1, Shape::D2, [2, 2, 0]);
    let fetch = "tex.2d.v4.f32.f32 $, [T, {%f1, %f2}]";
    let setup = || {
        let mut memory = Memory::default();
        let texels = memory.allocate("texels", [0; 16]);
        let image = with!(image; address: memory.address(texels));
        let texture = memory.create_texture(Texture::new(image, Sampler::default())).expect("a texture");
        let surface = memory.create_surface(Surface::new(image)).expect("a surface");
        (memory, texture, surface)
    };
    let failed = |instruction: &str, memory: &mut Memory, handle: u64| {
        let error = run(&kernel(instruction), memory, handle, &[Input::default()]).expect_err(instruction).0.remove(0);
        assert!(error.thread.is_some() && error.place.is_some());
        (error.kind, error.message)
    };
    let forbidden = |message: String| (RunErrorKind::Forbidden, message);
    let (mut memory, texture, surface) = setup();
    assert_eq!(failed(fetch, &mut memory, 0), forbidden("handle 0x0 is not that of a texture".to_owned()));
    assert_eq!(
        failed(fetch, &mut memory, surface),
        forbidden(format!("handle {surface:#x} is a surface, and the instruction takes a texture"))
    );
    assert_eq!(
        failed("suld.b.2d.b32.trap {%r20}, [T, {%r1, %r2}]", &mut memory, texture),
        forbidden(format!("handle {texture:#x} is a texture, and the instruction takes a surface"))
    );
    assert_eq!(
        failed("tex.1d.v4.f32.f32 $, [T, {%f1}]", &mut memory, texture),
        forbidden("a 2d texture is read as 1d".to_owned())
    );
    assert_eq!(
        failed("suld.b.3d.b32.trap {%r20}, [T, {%r1, %r2, %r3, %r3}]", &mut memory, surface),
        forbidden("a 2d surface is read as 3d".to_owned())
    );
    memory.destroy_texture(texture).expect("it is there");
    assert_eq!(
        failed(fetch, &mut memory, texture),
        forbidden(format!("handle {texture:#x} is not that of a texture any more, or of another memory"))
    );
    assert!(memory.destroy_texture(texture).is_err() && memory.destroy_texture(surface).is_err());
    // A handle is given once.
    let (mut memory, first, _) = setup();
    let image = with!(image; address: memory.texture(first).expect("it is there").image.address);
    memory.destroy_texture(first).expect("it is there");
    let second = memory.create_texture(Texture::new(image, Sampler::default())).expect("a texture");
    assert_ne!(first, second);
    assert!(memory.texture(first).is_none() && memory.surface(second).is_none());

    // Linear memory has no floats for coordinates, and integers no halves.
    let linear = with!(image; shape: Shape::Linear, extent: [4, 0, 0]);
    let handle = memory.create_texture(Texture::new(linear, Sampler::default())).expect("a texture");
    let (kind, message) = failed("tex.1d.v4.f32.f32 $, [T, {%f1}]", &mut memory, handle);
    assert_eq!(
        (kind, &*message),
        (RunErrorKind::Forbidden, "a texture of linear memory is read by coordinates that are floats")
    );
    let integers = with!(image; format: Format::U32);
    let handle = memory.create_texture(Texture::new(integers, Sampler::default())).expect("a texture");
    let (kind, message) = failed("tex.2d.v2.f16x2.f32 {%r20, %r21}, [T, {%f1, %f2}]", &mut memory, handle);
    assert_eq!((kind, &*message), (RunErrorKind::Forbidden, "a texture of integers is read as .f16"));
}

/// Each lane may have a texture of its own.
#[test]
fn handles_may_differ_from_lane_to_lane() {
    let mut memory = Memory::default();
    let handles: Vec<u64> = (0..3)
        .map(|i| {
            let texels = memory.allocate("texels", floats(&[i as f32]));
            let image = Image::new(memory.address(texels), Format::F32, 1, Shape::D1, [1, 0, 0]);
            memory.create_texture(Texture::new(image, Sampler::default())).expect("a texture")
        })
        .collect();
    let table: Vec<u8> = (0..64).flat_map(|i| handles[i * 7 % 3].to_le_bytes()).collect();
    let table = memory.allocate("handles", table);
    let kernel = kernel(
        "mul.wide.u32 %rd5, %r30, 8; add.u64 %rd5, %rd5, %rd3; ld.global.u64 %rd6, [%rd5]; \
         tex.1d.v4.f32.f32 $, [%rd6, {%f1}]",
    );
    let address = memory.address(table);
    let results = run(&kernel, &mut memory, address, &[Input::default(); 64]).expect("it runs");
    for (i, result) in results.into_iter().enumerate() {
        assert_eq!(as_floats(result)[0], (i * 7 % 3) as f32);
    }
}

/// What does not fit together is an error when a texture is made.
#[test]
fn descriptions_are_checked() {
    let mut memory = Memory::default();
    let texels = memory.allocate("texels", [0; 4096]);
    let start = memory.address(texels);
    let image = Image::new(start, Format::U8, 4, Shape::D2, [8, 8, 0]);
    let sampler = Sampler::default();
    let mut wrong = |image: Image, sampler: Sampler, view: Option<View>, message: &str| {
        let texture = Texture::new(image, sampler);
        let texture = view.map_or(texture, |view| texture.with_view(view));
        let error = memory.create_texture(texture).expect_err(message);
        assert_eq!(error.message, message);
    };
    let change = |change: &dyn Fn(&mut Image)| {
        let mut image = image;
        change(&mut image);
        image
    };
    wrong(change(&|i| i.channels = 3), sampler, None, "an image of 3 channels: a texel has 1, 2 or 4");
    wrong(change(&|i| i.extent = [0, 8, 0]), sampler, None, "a 2d image whose width is 0: it must be 1 to 1073741824");
    wrong(change(&|i| i.extent = [8, 8, 5]), sampler, None, "a 2d image whose depth is 5: it must be 0 or 1");
    wrong(
        change(&|i| i.extent = [8, u64::MAX, 0]),
        sampler,
        None,
        "a 2d image whose height is 18446744073709551615: it must be 1 to 1073741824",
    );
    wrong(
        change(&|i| (i.shape, i.extent) = (Shape::Cube, [8, 8, 5])),
        sampler,
        None,
        "a cube image of 8 x 8 x 5 texels",
    );
    wrong(
        change(&|i| (i.shape, i.extent) = (Shape::LayeredCube, [8, 4, 6])),
        sampler,
        None,
        "a layered cube image of 8 x 4 x 6 texels",
    );
    wrong(change(&|i| i.pitch = 31), sampler, None, "a pitch of 31 bytes: rows of 8 texels have 32");
    wrong(
        change(&|i| i.address = start - 1),
        sampler,
        None,
        &format!("an image of 256 bytes at address {:#x}, where nothing is", start - 1),
    );
    wrong(
        change(&|i| i.address = start + 3841),
        sampler,
        None,
        "an image of 256 bytes at byte 3841 of `texels`, which has 4096",
    );
    wrong(
        change(&|i| i.extent = [1 << 30, 1 << 30, 0]),
        sampler,
        None,
        "an image of 4611686018427387904 bytes at byte 0 of `texels`, which has 4096",
    );
    wrong(
        change(&|i| (i.format, i.address, i.extent) = (Format::U32, start + 2, [2, 2, 0])),
        sampler,
        None,
        &format!("an image at address {:#x} with a pitch of 0 bytes: channels have 4 bytes", start + 2),
    );
    wrong(
        image.with_levels(40),
        sampler.with_normalized_coordinates(),
        None,
        "an image of 40 mip levels: this one may have 1 to 31",
    );
    wrong(image.with_levels(2), sampler, None, "a mipmapped texture whose coordinates are not normalised");
    wrong(image, sampler.with_linear_filter(), None, "a linear filter of u8 texels, which are read as integers");
    wrong(
        change(&|i| (i.format, i.channels) = (Format::U32, 1)),
        sampler.with_linear_filter().with_normalized_float(),
        None,
        "a linear filter of u32 texels, which are read as integers",
    );
    wrong(
        image,
        sampler,
        Some(View::new(Some((Format::U16, 4)), [0, 0], [0, 0])),
        "a view as 4 channels of u16 of an image whose texels have 4 bytes",
    );
    wrong(
        image,
        sampler,
        Some(View::new(None, [0, 1], [0, 0])),
        "a view of the mip levels 0 to 1 of an image that has 1",
    );
    wrong(
        change(&|i| (i.shape, i.extent) = (Shape::Layered2D, [2, 2, 3])),
        sampler,
        Some(View::new(None, [0, 0], [1, 3])),
        "a view of the layers 1 to 3 of an image that has 3",
    );
    let levels = Surface::new(image.with_levels(2));
    assert_eq!(memory.create_surface(levels).expect_err("levels").message, "a surface of 2 mip levels: it has one");
}

/// A view has some levels and layers, and another format.
#[test]
fn views_are_parts_of_images() {
    let mut image = Image::new(0, Format::U8, 4, Shape::Layered2D, [4, 4, 3]).with_levels(3);
    let bytes: Vec<u8> = (0..image.byte_len()).map(|i| (i * 7 % 251) as u8).collect();
    let mut memory = memory_with(&mut image, &bytes);
    let view = View::new(Some((Format::U32, 1)), [1, 2], [1, 2]);
    let sampler = with!(Sampler::default().with_normalized_coordinates(); mip_clamp: [0.0, 9.0]);
    let handle = memory.create_texture(Texture::new(image, sampler).with_view(view)).expect("a texture");
    let kernel = kernel("tex.level.a2d.v4.u32.f32 $, [T, {%r0, %f1, %f2, %f2}], %f4");
    let inputs: Vec<Input> = (0..16)
        .map(|i| Input { layer: i % 3, at: [0.3, 0.9, 0.0], level: (i / 3) as f32, ..Input::default() })
        .collect();
    let results = run(&kernel, &mut memory, handle, &inputs).expect("it runs");
    for (input, result) in inputs.iter().zip(results) {
        // Level 1 has 2 x 2 texels behind 48 of level 0, level 2 has one behind 12 more.
        let layer = input.layer.min(1) + 1;
        let texel = if input.level < 0.5 { 48 + layer * 4 + 2 } else { 48 + 12 + layer } as usize;
        let bytes: [u8; 4] = bytes[4 * texel..][..4].try_into().expect("four bytes");
        assert_eq!(result, [u32::from_le_bytes(bytes), 0, 0, 1], "{input:?}");
    }
    // A level as an image of its own.
    let level = image.level(2);
    assert_eq!((level.extent, level.levels, level.byte_len()), ([1, 1, 3], 1, 12));
    let handle = memory.create_surface(Surface::new(level)).expect("a surface");
    let kernel = self::kernel("suld.b.a2d.b32.trap {%r20}, [T, {2, 0, 0, 0}]");
    let results = run(&kernel, &mut memory, handle, &[Input::default()]).expect("it runs");
    assert_eq!(results[0][0].to_le_bytes(), bytes[4 * 62..][..4]);
}

/// What has no meaning, and what is not supported, is refused before anything runs.
#[test]
fn wrong_instructions_are_refused() {
    for (instruction, message) in [
        ("tex.2d.v4.f32.f32 $, [T, {%f1}]", "`{%f1}` has 1 elements, the instruction takes 2"),
        ("tex.2d.v4.f32.f32 {%r20, %r21}, [T, {%f1, %f2}]", "`{%r20, %r21}` has 2 elements, the instruction takes 4"),
        ("tex.2d.v4.f32.f32 $, T", "`T` is no texture with coordinates: write [texture, {x, y}]"),
        (
            "tex.2d.v4.f32.f32 $, [T, {%f1, %f2}], %f3",
            "operand `%f3` is not supported by vop run: depth comparisons of textures are not",
        ),
        (
            "tex.2dms.v4.f32.s32 $, [T, {%r1, %r1, %r2, %r2}]",
            "instruction `tex` is not supported by vop run: multi-sample textures are not",
        ),
        ("tex.cube.v4.f32.f32 $, [T, {%f1, %f2, %f3, %f3}], {1, 1}", "`{1, 1}`: a cube has no offset"),
        (
            "tex.cube.v4.f32.s32 $, [T, {%r1, %r2, %r3, %r3}]",
            "instruction `tex.cube.v4.f32.s32` is not supported by vop run",
        ),
        (
            "tex.2d.v2.f32.f32 {%r20, %r21}, [T, {%f1, %f2}]",
            "instruction `tex.2d.v2.f32.f32` is not supported by vop run",
        ),
        ("tex.2d.v4.f32.f32 $, [out, {%f1, %f2}]", ""),
        (
            "suld.b.2d.b32.trap {%r20}, [T, %r1, %r2]",
            "`[%rd3, %r1, %r2]` is no surface with coordinates: write [surface, {x, y}]",
        ),
        (
            "sust.b.2d.v4.b64.trap [T, {%r1, %r2}], {%rd1, %rd1, %rd1, %rd1}",
            "instruction `sust.b.2d.v4.b64.trap` is not supported by vop run",
        ),
        (
            "sured.b.xor.2d.b32.trap [T, {%r1, %r2}], %r1",
            "instruction `sured.b.xor.2d.b32.trap` is not supported by vop run",
        ),
        ("txq.size.b32 %r20, [T]", "instruction `txq.size.b32` is not supported by vop run"),
        (
            "txq.level.filter_mode.b32 %r20, [T], 0",
            "instruction `txq.level.filter_mode.b32` is not supported by vop run",
        ),
        ("tex.2d.v4.f32.f32 $, [k, {%f1, %f2}]", ""),
    ] {
        match kernel_of("", instruction) {
            Err(errors) => {
                let found = &errors.0[0].message;
                assert!(message.is_empty() || found == message, "{instruction}: {found}");
                assert_eq!(
                    errors.0[0].place.as_ref().map(|place| place.text.split('.').next().unwrap_or_default().to_owned()),
                    Some(instruction.split('.').next().unwrap_or_default().to_owned())
                );
            }
            Ok(_) => assert!(message.is_empty(), "{instruction} was taken"),
        }
    }
}

/// At the host's addresses it is the same; and memory that was freed is not read, whatever takes its place.
#[test]
fn textures_stand_at_the_hosts_addresses() {
    let declarations = ".global .texref named;\n";
    let input = Input { at: [1.0, 0.0, 0.0], ..Input::default() };
    let mut memory = Memory::at_host_addresses();
    let fetch = |instruction: &str, memory: &mut Memory| {
        let (program, _) = kernel_of(declarations, instruction).unwrap_or_else(|error| panic!("{error}"));
        let loaded = memory.load(&[&program]).expect("loaded").remove(0);
        let kernel = loaded.kernel("k").expect("a kernel");
        (loaded, kernel)
    };
    let texels = memory.allocate("texels", floats(&[2.0, 4.0]));
    let image = Image::new(memory.address(texels), Format::F32, 1, Shape::D1, [2, 0, 0]);
    let texture = Texture::new(image, Sampler::default().with_linear_filter());
    let (program, by_name) = fetch("tex.1d.v4.f32.f32 $, [named, {%f1}]", &mut memory);
    memory.bind_texture(&program, "named", texture).expect("bound");
    let results = run(&by_name, &mut memory, 0, &[input]).expect("it runs");
    assert_eq!(as_floats(results[0])[0], 3.0);
    let (_, by_handle) = fetch("tex.1d.v4.f32.f32 $, [T, {%f1}]", &mut memory);
    let handle = memory.create_texture(texture).expect("a texture");
    let results = run(&by_handle, &mut memory, handle, &[input]).expect("it runs");
    assert_eq!(as_floats(results[0])[0], 3.0);
    let (_, store) = fetch("sust.b.1d.b32.trap [T, {4}], {%r1}", &mut memory);
    let surface = memory.create_surface(Surface::new(image)).expect("a surface");
    run(&store, &mut memory, surface, &[input]).expect("it runs");
    assert_eq!(memory.bytes(texels)[4..], 1.0f32.to_le_bytes());

    memory.free(texels).expect("it is there");
    for _ in 0..2 {
        let error = run(&by_handle, &mut memory, handle, &[input]).expect_err("it was freed").0.remove(0);
        assert_eq!(
            (error.kind, &*error.message),
            (RunErrorKind::OutOfBounds, "the 8 bytes of an image are not there any more")
        );
        // What takes the allocation's place stands elsewhere.
        memory.allocate("other", vec![0; 1 << 20]);
    }
}
