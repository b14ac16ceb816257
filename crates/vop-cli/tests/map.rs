//! `vop map` on files: every format in and out, of more than one block, and what is left behind when something goes wrong.

#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

mod common;

use std::fs::File;
use std::path::Path;
use std::process::Command;

use common::*;
use vop_tests::arrays::words;

/// A `.npy` file with a type as NumPy writes it.
fn save_npy(path: &Path, descr: &str, shape: &[u64], data: &[u8]) {
    let tuple: String = shape.iter().map(|n| format!("{n}, ")).collect();
    let text = format!("{{'descr': '{descr}', 'fortran_order': False, 'shape': ({tuple}), }}");
    let padding = 64 - (10 + text.len() + 1) % 64;
    let mut file = b"\x93NUMPY\x01\x00".to_vec();
    file.extend(((text.len() + padding + 1) as u16).to_le_bytes());
    file.extend(text.bytes().chain(std::iter::repeat_n(b' ', padding)).chain(*b"\n"));
    file.extend(data);
    std::fs::write(path, file).unwrap();
}

/// Type, shape and bytes of a file in the layout that NumPy and `vop` write.
fn load_npy(path: &Path) -> (String, Vec<u64>, Vec<u8>) {
    let content = std::fs::read(path).unwrap();
    assert_eq!(content[..8], *b"\x93NUMPY\x01\x00");
    let (header, data) = content[10..].split_at(usize::from(u16::from_le_bytes([content[8], content[9]])));
    let header = std::str::from_utf8(header).unwrap();
    let between =
        |before: &str, after: &str| header.split_once(before).unwrap().1.split_once(after).unwrap().0.to_owned();
    assert_eq!(between("'fortran_order': ", ","), "False");
    let shape = between("'shape': (", ")");
    let shape = shape.split(',').map(str::trim).filter(|n| !n.is_empty()).map(|n| n.parse().unwrap()).collect();
    (between("'descr': '", "'"), shape, data.to_vec())
}

const TYPES: [(&str, usize); 6] = [("|u1", 1), ("|i1", 1), ("<u2", 2), ("<i2", 2), ("<u4", 4), ("<i4", 4)];

#[test]
fn npy_of_every_type_and_shape() {
    let folder = tempfile::tempdir().unwrap();
    let path = |name: &str| folder.path().join(name);
    let last = MANY as u64;
    for (descr, size) in TYPES {
        let ty = if descr.contains('i') { "s32" } else { "u32" };
        let (mnemonic, end) = match size {
            1 => ("vadd4", ".sat"),
            2 => ("vadd2", ".sat"),
            _ => ("vadd", ".sat"),
        };
        let form = form(&format!("{mnemonic}.{ty}.{ty}.{ty}{end}"));
        for shape in [vec![], vec![1], vec![7], vec![last], vec![3, last], vec![90_000, 3], vec![5, 6, 4], vec![0, 3]] {
            let count: u64 = shape.iter().product();
            let row = if size == 4 { 4 } else { shape.last().map_or(size, |last| *last as usize * size) };
            let [a, b] = [1, 2].map(|seed| bytes(seed, count as usize * size));
            save_npy(&path("a.npy"), descr, &shape, &a);
            save_npy(&path("b.npy"), descr, &shape, &b);
            let said = done(&folder, &[&form.to_string(), "a.npy", "b.npy", "-o", "d.npy"]);
            let name = format!("{}{}", &descr[1..2], 8 * size);
            assert_eq!(said, format!("wrote d.npy: {name} {shape:?}\n"));
            let expected = (descr.to_owned(), shape.clone(), expected(form, &a, &b, 0, row));
            assert!(load_npy(&path("d.npy")) == expected, "{descr}, {shape:?}");
        }
    }
}

#[test]
fn big_endian_and_fortran() {
    let folder = tempfile::tempdir().unwrap();
    let path = |name: &str| folder.path().join(name);
    for (descr, size, text) in [(">u4", 4, "vsub.u32.u32.u32"), (">u2", 2, "vsub2.u32.u32.u32")] {
        let [a, b] = [1, 2].map(|seed| bytes(seed, 4 * MANY));
        let swapped: Vec<u8> = a.chunks(size).flat_map(|element| element.iter().rev().copied()).collect();
        let shape = [(4 * MANY / size) as u64];
        save_npy(&path("a.npy"), descr, &shape, &swapped);
        save_npy(&path("b.npy"), &descr.replace('>', "<"), &shape, &b);
        done(&folder, &[text, "a.npy", "b.npy", "-o", "d.npy"]);
        assert!(load_npy(&path("d.npy")).2 == expected(form(text), &a, &b, 0, 4), "{descr}");
    }
    let header = "{'descr': '<u4', 'fortran_order': True, 'shape': (1, 2), }";
    let mut file = b"\x93NUMPY\x01\x00".to_vec();
    file.extend((header.len() as u16).to_le_bytes());
    file.extend(header.bytes().chain([0; 8]));
    std::fs::write(path("f.npy"), file).unwrap();
    refused(
        &folder,
        &["vadd.u32.u32.u32", "f.npy", "1", "-o", "d2.npy"],
        2,
        "cannot read f.npy: it is in Fortran order",
    );
}

#[test]
fn raw_in_and_out() {
    let folder = tempfile::tempdir().unwrap();
    let path = |name: &str| folder.path().join(name);
    let [a, b] = [1, 2].map(|seed| bytes(seed, 4 * MANY));
    std::fs::write(path("a.raw"), &a).unwrap();
    std::fs::write(path("b.bin"), &b).unwrap();
    let text = "vabsdiff4.u32.u32.u32.add";
    assert_eq!(done(&folder, &[text, "a.raw", "b.bin", "-7", "-o", "d.raw"]), format!("wrote d.raw: {MANY} words\n"));
    let d = expected(form(text), &a, &b, 7u32.wrapping_neg(), 4);
    assert!(std::fs::read(path("d.raw")).unwrap() == d);
    // In its own place, and by any number of cores.
    done(&folder, &[text, "a.raw", "b.bin", "-0x7", "-o", "a.raw", "--cores", "7"]);
    assert!(std::fs::read(path("a.raw")).unwrap() == d);
    // Words fit any shape of as many.
    save_npy(&path("a.npy"), "|u1", &[MANY as u64, 4], &a);
    done(&folder, &["vmax4.u32.u32.u32", "a.npy", "b.bin", "-o", "d.npy"]);
    let (descr, shape, d) = load_npy(&path("d.npy"));
    assert_eq!((descr.as_str(), shape.as_slice()), ("|u1", [MANY as u64, 4].as_slice()));
    assert!(d == expected(form("vmax4.u32.u32.u32"), &a, &b, 0, 4));
    std::fs::write(path("odd.raw"), [0; 7]).unwrap();
    refused(&folder, &["vadd.u32.u32.u32", "odd.raw", "1", "-o", "e.raw"], 2, "cannot read odd.raw: it has 7 bytes");
}

fn save_png(path: &Path, (width, height): (u32, u32), color: png::ColorType, depth: png::BitDepth, data: &[u8]) {
    let mut encoder = png::Encoder::new(File::create(path).unwrap(), width, height);
    encoder.set_color(color);
    encoder.set_depth(depth);
    if color == png::ColorType::Indexed {
        encoder.set_palette(bytes(9, 3 * 256));
    }
    encoder.write_header().unwrap().write_image_data(data).unwrap();
}

fn load_png(path: &Path) -> (png::ColorType, png::BitDepth, Vec<u8>) {
    let mut reader = png::Decoder::new(std::io::BufReader::new(File::open(path).unwrap())).read_info().unwrap();
    let mut data = vec![0; reader.output_buffer_size().unwrap()];
    let info = reader.next_frame(&mut data).unwrap();
    (info.color_type, info.bit_depth, data)
}

#[test]
fn pictures_of_every_kind() {
    let folder = tempfile::tempdir().unwrap();
    let path = |name: &str| folder.path().join(name);
    // The second has several blocks.
    for size in [(13u32, 5u32), (701, 400)] {
        for (color, channels) in [
            (png::ColorType::Grayscale, 1),
            (png::ColorType::GrayscaleAlpha, 2),
            (png::ColorType::Rgb, 3),
            (png::ColorType::Rgba, 4),
        ] {
            for (depth, bytes_of, text) in
                [(png::BitDepth::Eight, 1, "vavrg4.u32.u32.u32"), (png::BitDepth::Sixteen, 2, "vavrg2.u32.u32.u32")]
            {
                let count = (size.0 * size.1) as usize * channels * bytes_of;
                let [a, b] = [1, 2].map(|seed| bytes(seed, count));
                save_png(&path("a.png"), size, color, depth, &a);
                save_png(&path("b.png"), size, color, depth, &b);
                let said = done(&folder, &[text, "a.png", "b.png", "-o", "d.png"]);
                let shape = if channels > 1 { format!(", {channels}") } else { String::new() };
                let (width, height) = size;
                assert_eq!(said, format!("wrote d.png: u{} [{height}, {width}{shape}]\n", 8 * bytes_of));
                let swap = |data: &[u8]| -> Vec<u8> {
                    data.chunks(bytes_of).flat_map(|element| element.iter().rev().copied()).collect()
                };
                let row = if channels == 1 { width as usize } else { channels } * bytes_of;
                let d = swap(&expected(form(text), &swap(&a), &swap(&b), 0, row));
                assert!(load_png(&path("d.png")) == (color, depth, d), "{size:?}, {color:?}, {depth:?}");
            }
        }
    }
}

/// Palettes and interlaced rows come as pixels, and words are written as pixels.
#[test]
fn pictures_that_are_otherwise() {
    let folder = tempfile::tempdir().unwrap();
    let path = |name: &str| folder.path().join(name);
    let indices = bytes(3, 30);
    save_png(&path("palette.png"), (6, 5), png::ColorType::Indexed, png::BitDepth::Eight, &indices);
    done(&folder, &["vadd4.u32.u32.u32", "palette.png", "0", "-o", "d.png"]);
    let palette = bytes(9, 3 * 256);
    let pixels: Vec<u8> = indices.iter().flat_map(|i| palette[3 * usize::from(*i)..][..3].to_vec()).collect();
    assert!(load_png(&path("d.png")) == (png::ColorType::Rgb, png::BitDepth::Eight, pixels));

    // Adam7 by hand, uncompressed: (first column, first row, columns apart, rows apart) of each pass.
    let gray = bytes(4, 9 * 11);
    let mut data = Vec::new();
    for (x, y, dx, dy) in
        [(0, 0, 8, 8), (4, 0, 8, 8), (0, 4, 4, 8), (2, 0, 4, 4), (0, 2, 2, 4), (1, 0, 2, 2), (0, 1, 1, 2)]
    {
        for row in (y..11).step_by(dy) {
            data.push(0);
            data.extend((x..9).step_by(dx).map(|column| gray[row * 9 + column]));
        }
    }
    let (mut s1, mut s2) = (1u32, 0u32);
    data.iter().for_each(|byte| {
        s1 = (s1 + u32::from(*byte)) % 65521;
        s2 = (s2 + s1) % 65521;
    });
    let len = data.len() as u16;
    let mut zlib = vec![0x78, 0x01, 0x01];
    zlib.extend(
        len.to_le_bytes().into_iter().chain((!len).to_le_bytes()).chain(data).chain((s2 << 16 | s1).to_be_bytes()),
    );
    let mut info = png::Info::with_size(9, 11);
    (info.color_type, info.interlaced) = (png::ColorType::Grayscale, true);
    let encoder = png::Encoder::with_info(File::create(path("interlaced.png")).unwrap(), info).unwrap();
    encoder.write_header().unwrap().write_chunk(png::chunk::IDAT, &zlib).unwrap();
    done(&folder, &["vadd4.u32.u32.u32", "interlaced.png", "0", "-o", "d.png"]);
    assert!(load_png(&path("d.png")) == (png::ColorType::Grayscale, png::BitDepth::Eight, gray));

    let a = bytes(5, 4 * 30);
    save_npy(&path("a.npy"), "<u4", &[5, 6], &a);
    done(&folder, &["vadd.u32.u32.u32", "a.npy", "0", "-o", "d.png"]);
    assert!(load_png(&path("d.png")) == (png::ColorType::Rgba, png::BitDepth::Eight, a));
    save_npy(&path("flat.npy"), "<u4", &[30], &bytes(5, 4 * 30));
    let why = "cannot write e.png: a picture has shape [height, width]";
    refused(&folder, &["vadd.u32.u32.u32", "flat.npy", "0", "-o", "e.png"], 2, why);
    // What is broken is noticed, be it in the last bytes.
    let mut broken = std::fs::read(path("interlaced.png")).unwrap();
    let at = broken.len() - 20;
    broken[at] ^= 1;
    std::fs::write(path("broken.png"), broken).unwrap();
    refused(&folder, &["vadd4.u32.u32.u32", "broken.png", "0", "-o", "e.png"], 2, "cannot read broken.png");
    // Also while it is read, row by row.
    let mut broken = std::fs::read(path("palette.png")).unwrap();
    let at = broken.len() - 20;
    broken[at] ^= 1;
    std::fs::write(path("broken.png"), broken).unwrap();
    refused(&folder, &["vadd4.u32.u32.u32", "broken.png", "0", "-o", "new/e.png"], 2, "cannot read broken.png");
}

#[test]
fn reductions() {
    let folder = tempfile::tempdir().unwrap();
    let path = |name: &str| folder.path().join(name);
    let a = bytes(1, 4 * MANY);
    std::fs::write(path("a.raw"), &a).unwrap();
    let number = |args: &[&str]| done(&folder, args).trim().parse::<i128>().unwrap();
    let words: Vec<u32> = words(&a, 4);
    let (unsigned, signed) = (|word: &u32| i128::from(*word), |word: &u32| i128::from(*word as i32));
    for cores in ["1", "3"] {
        let of = |ty: &str, reduce: &str| {
            let text = format!("vadd.{ty}.{ty}.{ty}");
            number(&[&text, "a.raw", "0", "--reduce", reduce, "--cores", cores])
        };
        // The sum is beyond 32 bits.
        assert_eq!(of("u32", "add"), words.iter().map(unsigned).sum());
        assert_eq!(of("s32", "add"), words.iter().map(signed).sum());
        assert_eq!(Some(of("u32", "min")), words.iter().map(unsigned).min());
        assert_eq!(Some(of("s32", "min")), words.iter().map(signed).min());
        assert_eq!(Some(of("u32", "max")), words.iter().map(unsigned).max());
        assert_eq!(Some(of("s32", "max")), words.iter().map(signed).max());
    }
    // Of lanes, without what fills up words, and as the instruction reads them.
    save_npy(&path("a.npy"), "|u1", &[MANY as u64, 3], &a[..3 * MANY]);
    let sum = a[..3 * MANY].iter().map(|byte| i128::from(*byte as i8)).sum::<i128>();
    assert_eq!(number(&["vmax4.s32.s32.s32", "a.npy", "a.npy", "--reduce", "add"]), sum);
    save_npy(&path("min.npy"), "<i2", &[1, 1], &5i16.to_le_bytes());
    assert_eq!(number(&["vadd2.s32.s32.s32", "min.npy", "0", "--reduce", "min"]), 5);
    let said = done(&folder, &["vabsdiff4.u32.u32.u32.add", "a.npy", "0", "0", "--reduce", "add", "-o", "d.npy"]);
    let sum: i128 = a[..3 * MANY].iter().map(|byte| i128::from(*byte)).sum();
    assert_eq!(said, format!("wrote d.npy: u32 [{MANY}]\n{sum}\n"));
    std::fs::write(path("none.raw"), []).unwrap();
    assert_eq!(number(&["vadd.u32.u32.u32", "none.raw", "0", "--reduce", "add"]), 0);
    refused(&folder, &["vadd.u32.u32.u32", "none.raw", "0", "--reduce", "max"], 2, "there are no elements");
}

/// Sizes of elements may differ where words agree.
#[test]
fn shapes_that_agree_and_differ() {
    let folder = tempfile::tempdir().unwrap();
    let path = |name: &str| folder.path().join(name);
    let [a, b] = [1, 2].map(|seed| bytes(seed, 60));
    save_npy(&path("pixels.npy"), "|u1", &[4, 5, 3], &a);
    save_npy(&path("sums.npy"), "<u4", &[4, 5], &bytes(3, 80));
    save_npy(&path("other.npy"), "|u1", &[4, 15], &b);
    save_npy(&path("halves.npy"), "<u2", &[4, 5, 3], &bytes(4, 120));
    let text = "vabsdiff4.u32.u32.u32.add";
    done(&folder, &[text, "pixels.npy", "0x010101", "sums.npy", "-o", "sums2.npy"]);
    let (_, shape, d) = load_npy(&path("sums2.npy"));
    assert_eq!(shape, [4, 5]);
    let (pixels, sums) = (words(&a, 3), words(&bytes(3, 80), 4));
    let sum = |i: usize| form(text).eval(pixels[i], 0x01_0101, sums[i]).to_le_bytes();
    assert_eq!(d, (0..20).flat_map(sum).collect::<Vec<u8>>());
    let one = "shapes differ: pixels.npy is u8 [4, 5, 3], other.npy is u8 [4, 15]";
    refused(&folder, &["vadd4.u32.u32.u32", "pixels.npy", "other.npy", "-o", "d.npy"], 2, one);
    let two = "shapes differ: pixels.npy is u8 [4, 5, 3], halves.npy is u16 [4, 5, 3], which makes [4, 5] and [4, 5, 2] words";
    refused(&folder, &["vadd4.u32.u32.u32", "pixels.npy", "halves.npy", "-o", "d.npy"], 2, two);
    // Also of a c that is not read.
    let c = "shapes differ: pixels.npy";
    refused(&folder, &["vadd4.u32.u32.u32", "pixels.npy", "pixels.npy", "other.npy", "-o", "d.npy"], 2, c);
}

/// An output that cannot be written leaves what was there.
#[test]
fn an_old_output_stays() {
    let folder = tempfile::tempdir().unwrap();
    let path = |name: &str| folder.path().join(name);
    std::fs::write(path("a.raw"), [0; 8]).unwrap();
    std::fs::write(path("b.raw"), [0; 12]).unwrap();
    std::fs::write(path("d.npy"), "old").unwrap();
    refused(&folder, &["vadd.u32.u32.u32", "a.raw", "b.raw", "-o", "d.npy"], 2, "a.raw is 2 words, b.raw is 3 words");
    assert_eq!(std::fs::read(path("d.npy")).unwrap(), b"old");
    std::fs::create_dir(path("folder.raw")).unwrap();
    refused(&folder, &["vadd.u32.u32.u32", "a.raw", "1", "-o", "folder.raw"], 2, "it is a folder, not a plain file");
    refused(&folder, &["vadd.u32.u32.u32", "folder.raw", "1", "-o", "d.raw"], 2, "it is a folder, not a plain file");
    refused(&folder, &["vadd.u32.u32.u32", "a.raw", "1", "-o", "a.raw/d.raw"], 2, "the folder a.raw cannot be created");
    // Folders are created, and go again where nothing is written.
    refused(&folder, &["vadd.u32.u32.u32", "a.raw", "1", "-o", "made/for/d.jpg"], 2, "no format is known");
    done(&folder, &["vadd.u32.u32.u32", "a.raw", "1", "-o", "made/for/d.raw"]);
    assert_eq!(std::fs::read(path("made/for/d.raw")).unwrap(), [1, 0, 0, 0, 1, 0, 0, 0]);
    #[cfg(unix)]
    {
        use std::os::unix::fs::{PermissionsExt, symlink};
        // Behind a link the file is replaced, and keeps who may read it.
        std::fs::set_permissions(path("d.npy"), PermissionsExt::from_mode(0o640)).unwrap();
        symlink("d.npy", path("link.npy")).unwrap();
        done(&folder, &["vadd.u32.u32.u32", "a.raw", "1", "-o", "link.npy"]);
        assert!(path("link.npy").is_symlink());
        assert_eq!(load_npy(&path("d.npy")).2, [1, 0, 0, 0, 1, 0, 0, 0]);
        assert_eq!(path("d.npy").metadata().unwrap().permissions().mode() & 0o777, 0o640);
    }
}

/// Ctrl-C ends it at once, with nothing left. The file is sparse, and of a size that takes a minute.
#[cfg(unix)]
#[test]
fn interrupted() {
    let folder = tempfile::tempdir().unwrap();
    File::create(folder.path().join("a.raw")).unwrap().set_len(64 << 30).unwrap();
    let mut child = Command::new(env!("CARGO_BIN_EXE_vop"))
        .args(["map", "vadd.u32.u32.u32", "a.raw", "1", "-o", "d.npy"])
        .current_dir(&folder)
        .spawn()
        .unwrap();
    let names = || folder.path().read_dir().unwrap().count();
    while names() < 2 {
        assert!(child.try_wait().unwrap().is_none(), "it ended before it wrote anything");
        std::thread::yield_now();
    }
    let killed = Command::new("kill").args(["-INT", &child.id().to_string()]).status().unwrap();
    assert!(killed.success());
    assert_eq!(child.wait().unwrap().code(), Some(130));
    assert_eq!(names(), 1, "the input alone");
}

/// The file that NumPy saves for the same array, byte for byte.
#[test]
fn headers() {
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(folder.path().join("a.raw"), [0; 8]).unwrap();
    done(&folder, &["vadd.u32.u32.u32", "a.raw", "0", "-o", "d.npy"]);
    let mut expected = b"\x93NUMPY\x01\x00v\x00{'descr': '<u4', 'fortran_order': False, 'shape': (2,), }".to_vec();
    expected.resize(127, b' ');
    expected.extend(*b"\n\0\0\0\0\0\0\0\0");
    assert_eq!(std::fs::read(folder.path().join("d.npy")).unwrap(), expected);
}
