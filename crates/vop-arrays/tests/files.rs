//! Arrays through files of every format, and what is left where something goes wrong.

#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

use vop_arrays::*;

const LIMIT: u64 = 1 << 20;

fn array(element: Element, shape: &[u64]) -> Array {
    let description = Description { element, shape: shape.to_vec() };
    let len = description.byte_len().unwrap();
    Array { bytes: (0..len).map(|i| (i * 37 + 11) as u8).collect(), description }
}

/// Reads a file in blocks of a few elements.
fn blocks(name: &str) -> (Option<Description>, Vec<u8>) {
    let opened = Named::parse(name).unwrap().open().unwrap();
    let bytes = match opened.content {
        Content::Mapped(mapped) => mapped.bytes().to_vec(),
        Content::InOrder(mut elements) => {
            let mut bytes = vec![0; opened.description.as_ref().unwrap().byte_len().unwrap() as usize];
            for block in bytes.chunks_mut(8) {
                elements.read(block).unwrap();
            }
            bytes
        }
    };
    (opened.description, bytes)
}

#[test]
fn every_format_gives_back_what_it_took() {
    let folder = tempfile::tempdir().unwrap();
    let mut cases = Vec::new();
    for element in Element::ALL {
        for shape in [&[][..], &[7], &[3, 5], &[2, 3, 4], &[0, 3]] {
            cases.extend([("a.npy", array(element, shape)), ("a.raw", array(element, shape))]);
        }
        for shape in [&[3, 5][..], &[3, 5, 2], &[3, 5, 3], &[3, 5, 4]] {
            cases.push(("a.png", array(element, shape)));
        }
        if cfg!(feature = "parquet") {
            cases.push(("a.parquet:x", array(element, &[70])));
        }
    }
    let mut written = 0;
    for (name, array) in cases {
        let path = folder.path().join(name);
        let named = Named::parse(path.to_str().unwrap()).unwrap();
        let what = format!("{} to {name}", array.description);
        match named.create(&array.description) {
            Err(error) => {
                assert_eq!(named.format.check(&array.description).unwrap_err(), error.reason(), "{what}");
                assert!(!matches!(named.format, Format::Npy | Format::Raw), "{what}: {error}");
                continue;
            }
            Ok(Created { staged, output }) => {
                match output {
                    Output::Anywhere { start, mut file } => {
                        use std::io::{Seek, SeekFrom, Write};
                        file.seek(SeekFrom::Start(start)).unwrap();
                        file.write_all(&array.bytes).unwrap();
                    }
                    Output::InOrder(mut elements) => {
                        array.bytes.chunks(24).for_each(|block| elements.write(block).unwrap());
                        elements.finish().unwrap();
                    }
                }
                assert!(!named.path.exists(), "{what}: it is there before it is committed");
                staged.commit().unwrap();
            }
        }
        written += 1;
        let (description, bytes) = blocks(path.to_str().unwrap());
        let expected = (named.format != Format::Raw).then_some(&array.description);
        assert_eq!((description.as_ref(), &bytes), (expected, &array.bytes), "{what}");
        if named.format != Format::Parquet {
            let Description { element, shape } = &array.description;
            let declared = (named.format == Format::Raw).then_some((*element, &shape[..]));
            let read = Array::read(named.path, declared.map(|(e, _)| e), declared.map(|(_, s)| s), LIMIT).unwrap();
            assert_eq!(read, array, "{what}");
            // Encoded whole, the file holds the same.
            std::fs::write(named.path, array.encode(named.format).unwrap()).unwrap();
            assert_eq!(blocks(path.to_str().unwrap()).1, array.bytes, "{what}");
        }
        std::fs::remove_file(named.path).unwrap();
    }
    assert_eq!(written, 11 * 5 * 2 + 2 * 4 + if cfg!(feature = "parquet") { 6 } else { 0 });
    assert_eq!(folder.path().read_dir().unwrap().count(), 0, "nothing is left");
}

#[test]
fn what_is_declared_must_be_what_is_there() {
    let folder = tempfile::tempdir().unwrap();
    let path = |name: &str| folder.path().join(name);
    std::fs::write(path("a.npy"), array(Element::I16, &[2, 3]).encode(Format::Npy).unwrap()).unwrap();
    std::fs::write(path("a.dat"), [0; 12]).unwrap();
    let read = |name, element, shape: Option<&[u64]>| {
        let read = Array::read(&path(name), element, shape, LIMIT);
        read.map(|array| array.description.to_string()).map_err(|error| error.reason())
    };
    assert_eq!(read("a.npy", None, None).unwrap(), "i16 [2, 3]");
    assert_eq!(read("a.npy", Some(Element::I16), Some(&[2, 3])).unwrap(), "i16 [2, 3]");
    let why = "it holds i16 [2, 3], and u16 [2, 3] is declared";
    assert_eq!(read("a.npy", Some(Element::U16), None).unwrap_err(), why);
    assert!(read("a.npy", None, Some(&[3, 2])).unwrap_err().ends_with("i16 [3, 2] is declared"));
    assert_eq!(read("a.dat", Some(Element::F32), None).unwrap(), "f32 [3]");
    assert_eq!(read("a.dat", Some(Element::U8), Some(&[3, 4])).unwrap(), "u8 [3, 4]");
    assert!(read("a.dat", None, None).unwrap_err().contains("a `type` must say"));
    assert!(read("a.dat", Some(Element::U8), Some(&[3, 5])).unwrap_err().contains("12 bytes: that is not u8 [3, 5]"));
    assert!(read("a.dat", Some(Element::F64), None).unwrap_err().contains("no multiple of 8"));
    assert!(Array::read(&path("a.npy"), None, None, 11).unwrap_err().to_string().contains("too large"));
    let missing = Array::read(&path("b.npy"), None, None, LIMIT).unwrap_err();
    assert_eq!((missing.kind(), missing.path()), (ErrorKind::System, path("b.npy").as_path()));
}

#[test]
fn pictures_that_are_none() {
    for (element, shape, why) in [
        (Element::F32, &[2, 2][..], "u8 or u16, not f32"),
        (Element::U32, &[2], "[height, width, channels], not [2]"),
        (Element::U8, &[4], "not [4]"),
        (Element::U8, &[2, 2, 5], "1 to 4 channels, not 5"),
        (Element::U8, &[0, 2], "2 x 0 pixels"),
        (Element::U8, &[2, 1 << 31], "2147483648 x 2 pixels"),
    ] {
        let description = Description { element, shape: shape.to_vec() };
        assert!(Format::Png.check(&description).unwrap_err().contains(why), "{description}");
    }
    let deep = Description { element: Element::U8, shape: vec![1; 65] };
    assert!(Format::Npy.check(&deep).is_err());
}

#[test]
fn names_say_formats() {
    for (name, expected) in [
        ("a.npy", Some((Format::Npy, "a.npy", None))),
        ("b.PNG", Some((Format::Png, "b.PNG", None))),
        ("x.bin", Some((Format::Raw, "x.bin", None))),
        ("t.Parquet:a.b:c", Some((Format::Parquet, "t.Parquet", Some("a.b:c")))),
        ("t.parquet", Some((Format::Parquet, "t.parquet", None))),
        ("npy", None),
        ("a.npz", None),
        ("", None),
    ] {
        let found = Named::parse(name).map(|named| (named.format, named.path.to_str().unwrap(), named.column));
        assert_eq!(found, expected, "{name}");
    }
}

#[cfg(not(feature = "parquet"))]
#[test]
fn parquet_says_how_to_get_it() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("t.parquet");
    std::fs::write(&path, "").unwrap();
    let name = format!("{}:x", path.display());
    let named = Named::parse(&name).unwrap();
    let opened = named.open().err().unwrap();
    let created = named.create(&Description { element: Element::U8, shape: vec![1] }).err().unwrap();
    for error in [opened, created] {
        assert_eq!(error.kind(), ErrorKind::NotBuiltIn);
        assert!(error.to_string().contains("cargo install vop-cli --features parquet"), "{error}");
    }
}

#[test]
fn all_files_are_written_or_none() {
    let folder = tempfile::tempdir().unwrap();
    let path = |name: &str| folder.path().join(name);
    std::fs::write(path("old"), "old").unwrap();
    std::fs::create_dir(path("taken")).unwrap();
    let error = write_atomically(&[(path("old"), "new"), (path("taken"), "new")]).unwrap_err();
    assert_eq!(error.reason(), "it is a folder, not a plain file");
    assert_eq!(std::fs::read_to_string(path("old")).unwrap(), "old");
    assert_eq!(folder.path().read_dir().unwrap().count(), 2, "no temporary file is left");
    write_atomically(&[(path("old"), "new"), (path("deep/er/file"), "more")]).unwrap();
    assert_eq!(std::fs::read_to_string(path("old")).unwrap(), "new");
    assert_eq!(std::fs::read_to_string(path("deep/er/file")).unwrap(), "more");
    // Folders that were created for a file that is not written go with it.
    let staged = Staged::create(&path("new/er/file")).unwrap();
    assert!(path("new/er").is_dir());
    drop(staged);
    assert!(!path("new").exists());
    #[cfg(unix)]
    {
        std::os::unix::fs::symlink("old", path("link")).unwrap();
        write_atomically(&[(path("link"), "linked")]).unwrap();
        assert!(path("link").is_symlink());
        assert_eq!(std::fs::read_to_string(path("old")).unwrap(), "linked");
    }
}

/// A file that is replaced keeps its permissions exactly, be they more than the umask gives or such that nobody may write.
#[cfg(unix)]
#[test]
fn permissions_stay() {
    use std::os::unix::fs::PermissionsExt;
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("a.npy");
    for mode in [0o666, 0o600, 0o444] {
        std::fs::write(&path, "old").unwrap();
        std::fs::set_permissions(&path, PermissionsExt::from_mode(mode)).unwrap();
        let mut staged = Staged::create(&path).unwrap();
        staged.reopen().unwrap();
        staged.write_all(b"new").unwrap();
        staged.commit().unwrap();
        assert_eq!(std::fs::read(&path).unwrap(), b"new");
        assert_eq!(path.metadata().unwrap().permissions().mode() & 0o777, mode);
        std::fs::remove_file(&path).unwrap();
    }
}

/// The beginning of a picture whose pixels are whatever `data` unpacks to.
fn picture(width: u32, height: u32, colour: u8, depth: u8, interlaced: bool, data: &[u8]) -> Vec<u8> {
    let mut file = b"\x89PNG\r\n\x1a\n".to_vec();
    let mut chunk = |name: &[u8; 4], content: &[u8]| {
        file.extend((content.len() as u32).to_be_bytes());
        let start = file.len();
        file.extend(name);
        file.extend(content);
        let crc = !file[start..].iter().fold(u32::MAX, |crc, byte| {
            (0..8).fold(crc ^ u32::from(*byte), |crc, _| if crc & 1 == 1 { crc >> 1 ^ 0xedb8_8320 } else { crc >> 1 })
        });
        file.extend(crc.to_be_bytes());
    };
    let header =
        [&width.to_be_bytes()[..], &height.to_be_bytes(), &[depth, colour, 0, 0, u8::from(interlaced)]].concat();
    chunk(b"IHDR", &header);
    chunk(b"IDAT", data);
    chunk(b"IEND", &[]);
    file
}

/// The most memory that this process has had, in bytes.
#[cfg(target_os = "linux")]
fn peak() -> u64 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap();
    let line = status.lines().find(|line| line.starts_with("VmHWM")).unwrap();
    line.split_whitespace().nth(1).unwrap().parse::<u64>().unwrap() << 10
}

/// A header that says more than there is costs what there is.
#[cfg(target_os = "linux")]
#[test]
fn headers_that_lie_take_no_memory() {
    let folder = tempfile::tempdir().unwrap();
    let path = |name: &str| folder.path().join(name);
    let before = peak();
    for (width, height, colour, depth) in [
        (20_000, 20_000, 6, 16),
        (20_000, 20_000, 2, 8),
        (0x7fff_ffff, 1, 6, 16),
        (1, 0x7fff_ffff, 0, 1),
        (30_000, 30_000, 3, 8),
    ] {
        for interlaced in [false, true] {
            // As long as its pixels could make it: the data is damaged.
            for data in [&[][..], &[0x78, 0x9c, 1, 2, 3], &[0; 4 << 20]] {
                std::fs::write(path("a.png"), picture(width, height, colour, depth, interlaced, data)).unwrap();
                let name = path("a.png").display().to_string();
                let read = Array::read(&path("a.png"), None, None, 8 << 30).unwrap_err();
                assert_eq!(read.kind(), ErrorKind::Content, "{read}");
                let opened = Named::parse(&name).unwrap().open();
                let block = opened.map(|opened| match opened.content {
                    Content::InOrder(mut elements) => elements.read(&mut [0; 1 << 10]).is_err(),
                    Content::Mapped(_) => false,
                });
                assert!(block.unwrap_or(true), "{width} x {height}");
            }
        }
    }
    for text in [
        "(1152921504606846976,)",
        "(4294967296, 4294967296)",
        "(4611686018427387904, 4)",
        &format!("({})", "2,".repeat(60)),
    ] {
        let text = format!("{{'descr': '<u4', 'fortran_order': False, 'shape': {text}}}\n");
        let mut file = b"\x93NUMPY\x01\x00".to_vec();
        file.extend((text.len() as u16).to_le_bytes());
        file.extend(text.bytes().chain([0; 64]));
        std::fs::write(path("a.npy"), &file).unwrap();
        assert!(
            Array::read(&path("a.npy"), None, None, u64::MAX).unwrap_err().to_string().contains("64 bytes of data")
        );
    }
    let grown = peak() - before;
    assert!(grown < 200 << 20, "{grown} bytes");
}

/// Rows that would take too much memory.
#[test]
fn a_picture_that_is_too_wide_says_so() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("a.png");
    std::fs::write(&path, picture(100_000_000, 1, 0, 8, false, &[0; 1 << 17])).unwrap();
    let why = Array::read(&path, None, None, 1 << 30).unwrap_err().reason();
    assert_eq!(why, "it has 100000000 x 1 pixels: a row of it takes more than the limit of 64 MiB");
}

/// What the header says is compared with the limit before pixels are decoded: the data is damaged.
#[test]
fn a_picture_that_is_too_large_is_not_decoded() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("a.png");
    for interlaced in [false, true] {
        std::fs::write(&path, picture(4000, 4000, 0, 1, interlaced, &[0; 1 << 12])).unwrap();
        let read = |limit| Array::read(&path, None, None, limit).unwrap_err();
        let too_large = read(1 << 20);
        assert_eq!(too_large.kind(), ErrorKind::TooLarge, "{too_large}");
        let why = "u8 [4000, 4000] is too large: it has 16000000 bytes, and the limit is 1048576 bytes";
        assert!(too_large.reason().ends_with(why), "{too_large}");
        assert_eq!(read(16_000_000).kind(), ErrorKind::Content);
    }
}

/// A file is judged by its length before it is read.
#[cfg(unix)]
#[test]
fn what_is_too_long_is_not_read() {
    let folder = tempfile::tempdir().unwrap();
    let path = |name: &str| folder.path().join(name);
    for name in ["a.npy", "a.raw", "a.txt"] {
        // A file of holes.
        std::fs::File::create(path(name)).unwrap().set_len(8 << 40).unwrap();
    }
    let reason = |read: Result<Vec<u8>, Error>| read.unwrap_err().reason();
    assert_eq!(
        reason(read_file(&path("a.txt"), LIMIT)),
        format!("it has 8796093022208 bytes: at most {LIMIT} are read")
    );
    assert_eq!(
        reason(read_text_file(&path("a.txt"), MAX_TEXT)),
        "it has 8796093022208 bytes: at most 268435456 are read"
    );
    let large = Array::read(&path("a.raw"), Some(Element::U8), None, LIMIT).unwrap_err();
    assert_eq!(large.kind(), ErrorKind::TooLarge);
    let array = |name: &str, shape: Option<&[u64]>| {
        Array::read(&path(name), Some(Element::U8), shape, LIMIT).map(|read| read.bytes).map_err(|error| error.reason())
    };
    assert!(array("a.raw", None).unwrap_err().contains("at most"));
    assert!(array("a.raw", Some(&[1 << 40])).unwrap_err().contains("too large"));
    assert!(array("a.npy", None).unwrap_err().contains("does not begin like"));
    std::fs::write(path("a.txt"), [7; 100]).unwrap();
    assert_eq!(read_file(&path("a.txt"), 100).unwrap(), [7; 100]);
    assert!(read_file(&path("a.txt"), 99).is_err());
}

/// What is no plain file is refused at once, by its kind.
#[cfg(unix)]
#[test]
fn other_kinds_of_files_are_not_opened() {
    let folder = tempfile::tempdir().unwrap();
    let path = |name: &str| folder.path().join(name);
    let made = std::process::Command::new("mkfifo").arg(path("pipe")).status().unwrap();
    assert!(made.success());
    let _socket = std::os::unix::net::UnixListener::bind(path("socket")).unwrap();
    std::fs::create_dir(path("folder")).unwrap();
    std::os::unix::fs::symlink("/dev/zero", path("device")).unwrap();
    for (name, kind) in
        [("pipe", "a named pipe"), ("socket", "a socket"), ("folder", "a folder"), ("device", "a device")]
    {
        for suffix in ["npy", "png", "raw", "parquet", "txt"] {
            let file = path(&format!("{name}.{suffix}"));
            std::os::unix::fs::symlink(path(name), &file).unwrap();
            let mut found = vec![
                Array::read(&file, Some(Element::U8), None, LIMIT).unwrap_err(),
                read_file(&file, LIMIT).unwrap_err(),
                read_text_file(&file, LIMIT).unwrap_err(),
                Staged::create(&file).unwrap_err(),
            ];
            if let Some(named) = Named::parse(file.to_str().unwrap()) {
                found.extend(named.open().err());
                found.extend(named.create(&Description { element: Element::U8, shape: vec![2, 2] }).err());
            }
            for error in found {
                let (kind_found, reason) = (error.kind(), error.reason());
                let not_built_in =
                    kind_found == ErrorKind::NotBuiltIn || suffix == "parquet" && reason.contains("column");
                assert!(
                    not_built_in || kind_found == ErrorKind::System && reason.contains(kind),
                    "{name}.{suffix}: {reason}"
                );
            }
        }
    }
}

/// A descriptor of the process is read to its end, and `/dev/null` is empty.
#[cfg(target_os = "linux")]
#[test]
fn descriptors_are_read() {
    use std::io::{Seek, Write};
    use std::os::fd::AsRawFd;
    let (reader, mut writer) = std::io::pipe().unwrap();
    let name = format!("/dev/fd/{}", reader.as_raw_fd());
    let write = std::thread::spawn(move || {
        for _ in 0..1000 {
            writer.write_all(&[5; 1000]).unwrap();
        }
    });
    assert_eq!(read_text_file(name.as_ref(), 1_000_000).unwrap(), vec![5; 1_000_000]);
    write.join().unwrap();
    let (reader, mut writer) = std::io::pipe().unwrap();
    let name = format!("/proc/self/fd/{}", reader.as_raw_fd());
    let write = std::thread::spawn(move || {
        let written = writer.write_all(&[5; 1 << 20]);
        assert!(written.is_err(), "nobody reads the rest");
    });
    let error = read_text_file(name.as_ref(), 1000).unwrap_err();
    assert_eq!(error.reason(), "it has more than 1000 bytes: at most 1000 are read");
    drop(reader);
    write.join().unwrap();
    let mut file = tempfile::tempfile().unwrap();
    file.write_all(b"abcdefgh").unwrap();
    file.rewind().unwrap();
    let name = format!("/dev/fd/{}", file.as_raw_fd());
    assert_eq!(read_text_file(name.as_ref(), LIMIT).unwrap(), b"abcdefgh");
    let array = Array::read(name.as_ref(), Some(Element::U32), None, LIMIT).unwrap();
    assert_eq!((array.description.shape, array.bytes), (vec![2], b"abcdefgh".to_vec()));
    assert_eq!(read_text_file("/dev/null".as_ref(), LIMIT).unwrap(), b"");
    assert!(read_text_file("/dev/zero".as_ref(), LIMIT).unwrap_err().reason().contains("a device"));
    // A file that does not tell its length.
    assert!(read_file("/proc/self/status".as_ref(), LIMIT).unwrap().starts_with(b"Name:"));
}

/// A Parquet file whose bytes are changed at random is refused or read, and takes no memory that its size does not explain.
#[cfg(all(feature = "parquet", target_os = "linux"))]
#[test]
fn damaged_columns() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("a.parquet");
    let name = format!("{}:x", path.display());
    let named = Named::parse(&name).unwrap();
    let array = array(Element::I16, &[3000]);
    let Created { staged, output: Output::InOrder(mut elements) } = named.create(&array.description).unwrap() else {
        panic!()
    };
    elements.write(&array.bytes).unwrap();
    elements.finish().unwrap();
    staged.commit().unwrap();
    let good = std::fs::read(&path).unwrap();
    let before = peak();
    let mut state = 1u64;
    let mut random = |below: usize| {
        state ^= state >> 12;
        state ^= state << 25;
        state ^= state >> 27;
        (state.wrapping_mul(0x2545_f491_4f6c_dd1d) >> 33) as usize % below
    };
    let hook = std::panic::take_hook();
    std::panic::set_hook(Box::new(|_| ()));
    let (mut read, mut refused) = (0, 0);
    for round in 0..800 {
        let mut damaged = good.clone();
        for _ in 0..=random(3) {
            // Headers of pages are at the start, the metadata at the end.
            let at = match random(3) {
                0 => random(60),
                1 => good.len() - 1 - random(400.min(good.len() - 1)),
                _ => random(good.len()),
            };
            match random(3) {
                0 => damaged[at] ^= 1 << random(8),
                1 => damaged[at] = [0, 0xff, 0x7f, 0x80][random(4)],
                _ => damaged.insert(at, [0, 0xff, 0x7f, 0x80][random(4)]),
            }
        }
        if round % 7 == 0 {
            damaged.truncate(random(damaged.len()));
        }
        std::fs::write(&path, damaged).unwrap();
        match named.open() {
            Err(_) => refused += 1,
            Ok(Opened { content: Content::InOrder(mut elements), .. }) => {
                let mut bytes = vec![0; 6000];
                if elements.read(&mut bytes).is_ok() { read += 1 } else { refused += 1 }
            }
            Ok(_) => panic!("no column"),
        }
    }
    std::panic::set_hook(hook);
    assert!(read > 10 && refused > 100, "{read} and {refused}: the damage is not of both kinds");
    let grown = peak() - before;
    assert!(grown < 600 << 20, "{grown} bytes");
}
