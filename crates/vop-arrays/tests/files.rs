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
    assert_eq!(error.reason(), "it is no plain file");
    assert_eq!(std::fs::read_to_string(path("old")).unwrap(), "old");
    assert_eq!(folder.path().read_dir().unwrap().count(), 2, "no temporary file is left");
    write_atomically(&[(path("old"), "new"), (path("deep/er/file"), "more")]).unwrap();
    assert_eq!(std::fs::read_to_string(path("old")).unwrap(), "new");
    assert_eq!(std::fs::read_to_string(path("deep/er/file")).unwrap(), "more");
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
        let mut staged = Staged::create(&path, Folders::Require).unwrap();
        staged.reopen().unwrap();
        staged.write_all(b"new").unwrap();
        staged.commit().unwrap();
        assert_eq!(std::fs::read(&path).unwrap(), b"new");
        assert_eq!(path.metadata().unwrap().permissions().mode() & 0o777, mode);
        std::fs::remove_file(&path).unwrap();
    }
}
