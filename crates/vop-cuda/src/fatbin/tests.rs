//! Containers that nvcc made (tests/data/fatbin), and damaged ones.

use super::*;

macro_rules! data {
    ($name:literal) => {
        include_bytes!(concat!(env!("CARGO_MANIFEST_DIR"), "/tests/data/fatbin/", $name))
    };
}

const ALL: [&[u8]; 7] = [
    data!("zstd.fatbin"),
    data!("lz4.fatbin"),
    data!("plain.fatbin"),
    data!("concatenated.fatbin"),
    data!("several.fatbin"),
    data!("machine_code.fatbin"),
    data!("lto.fatbin"),
];

fn target(image: &[u8], device: u32) -> String {
    Target::of_ptx(&ptx(image, device).expect("it holds PTX")).expect("it has a target").to_string()
}

#[test]
fn each_compression_gives_the_same_text() {
    let plain = ptx(data!("plain.fatbin"), 90).expect("PTX");
    assert!(plain.contains(".visible .entry scale("), "{plain}");
    assert!(plain.trim_end().ends_with('}') && !plain.contains('\0'));
    for image in [&data!("zstd.fatbin")[..], data!("lz4.fatbin"), data!("concatenated.fatbin"), data!("several.fatbin")]
    {
        assert_eq!(ptx(image, 80).expect("PTX"), plain);
    }
}

#[test]
fn the_best_text_is_taken() {
    let several = data!("several.fatbin");
    let found = [75, 89, 90, 99, 100, 103, 110].map(|device| target(several, device));
    assert_eq!(found, ["sm_75", "sm_75", "sm_90a", "sm_90", "sm_100f", "sm_100f", "sm_90"]);
    let concatenated = data!("concatenated.fatbin");
    assert_eq!([75, 90].map(|device| target(concatenated, device)), ["sm_75", "sm_90"]);
}

#[test]
fn what_holds_no_ptx_names_the_flag() {
    let error = |image: &[u8], device| ptx(image, device).expect_err("no PTX").to_string();
    assert_eq!(
        error(data!("machine_code.fatbin"), 90),
        "it holds machine code for sm_75, and no PTX: vop runs PTX only; compile with `-arch=compute_75`, or add \
         `-gencode arch=compute_75,code=compute_75`"
    );
    assert!(error(data!("scale.cubin"), 90).starts_with("it holds machine code (a cubin), and no PTX"));
    assert!(error(data!("lto.fatbin"), 90).starts_with("it holds code for link-time optimisation, and no PTX"));
    assert!(
        error(data!("several.fatbin"), 70).starts_with("its PTX is for sm_75, sm_90, sm_100, which sm_70 does not")
    );
    assert!(error(&container(&[]), 90).starts_with("the fat binary is empty"));
    assert!(error(&container(&[".version 8.0\n.target sm_90a\n"]), 100).starts_with("its PTX is for sm_90a, which"));
}

#[test]
fn other_forms() {
    assert_eq!(ptx(b".version 8.0\n", 90).expect("text"), ".version 8.0\n");
    assert_eq!(ptx(b".version 8.0\n\0garbage\x01", 90).expect("text"), ".version 8.0\n");
    for bad in [&b""[..], b"\0", b" \n", b"\x01\x02", b"\x7fELF", &[0x7f, b'E', b'L', b'F', 0, 0, 0, 0]] {
        assert_eq!(ptx(bad, 90).expect_err("no module").kind, ErrorKind::Invalid, "{bad:?}");
    }
}

#[test]
fn names_and_targets_are_read() {
    let found = Target::of_ptx("// .target sm_10\n/* .version */ .version 9.1\n.target sm_90a, texmode_independent\n");
    assert_eq!(found, Some(Target { arch: 90, suffix: Some(Suffix::Specific) }));
    for bad in
        ["", ".version", ".version 9.1", "x .target sm_90", ".version 9.1 .target sm_", "/*", "//", ".target sm_+9"]
    {
        assert_eq!(Target::of_ptx(bad), None, "{bad}");
    }
}

#[test]
fn what_is_written_is_read() {
    let texts = [".version 8.3\n.target sm_75\n", "// a comment\n.version 9.1\n.target sm_90a\n.address_size 64\n"];
    let made = container(&texts);
    let entries = entries(&made).expect("a container");
    assert_eq!(entries.iter().map(|entry| entry.arch).collect::<Vec<_>>(), [75, 90]);
    for (entry, text) in entries.iter().zip(texts) {
        assert_eq!(entry.text().expect("text"), text);
    }
}

#[test]
fn memory_is_read_as_far_as_its_headers_say() {
    let image = data!("zstd.fatbin");
    let mut longer = image.to_vec();
    longer.extend([0xff; 9]);
    // SAFETY: each pointer leads to what its function asks for, which lives until the end.
    unsafe {
        assert_eq!(in_memory(longer.as_ptr()).expect("a container"), [&image[..]]);
        assert_eq!(in_memory(c".v".as_ptr().cast()).expect("a text"), [b".v"]);
        assert_eq!(in_memory(data!("scale.cubin").as_ptr()).expect("an ELF header"), [&data!("scale.cubin")[..]]);
        assert!(in_memory(std::ptr::null()).is_err());
        let linked = [data!("lz4.fatbin").as_ptr(), data!("plain.fatbin").as_ptr(), std::ptr::null()];
        let wrapper = |version| Wrapper { magic: WRAPPER, version, data: image.as_ptr(), linked: linked.as_ptr() };
        let found = |wrapper: &Wrapper| in_memory((&raw const *wrapper).cast()).map(|images: Vec<&[u8]>| images.len());
        assert_eq!((found(&wrapper(1)), found(&wrapper(2))), (Ok(1), Ok(3)));
        let mut claims = image[..CONTAINER_HEADER].to_vec();
        claims[8..].fill(0xff);
        assert!(in_memory(claims.as_ptr()).is_err());
    }
}

/// Each word of each container becomes each of a few numbers, and each container ends early. Everything ends, with a result or an error,
/// and nothing becomes large.
#[test]
fn damage_is_found() {
    let all = |image: &[u8]| {
        if let Ok(entries) = entries(image) {
            for entry in &entries {
                _ = entry.bytes();
            }
            _ = best(&entries, 90);
        }
    };
    for image in ALL {
        for length in 0..image.len() {
            assert!(entries(&image[..length]).is_err());
        }
        let mut image = image.to_vec();
        for at in 0..image.len() {
            // Of long payloads some bytes will do.
            if at > 0x200 && at % 8 != 0 {
                continue;
            }
            let old = image[at];
            for new in [old ^ 1, old ^ 0x80, 0xff] {
                image[at] = new;
                all(&image);
            }
            image[at] = old;
            if at % 4 == 0 && at < 0x100 && at + 8 <= image.len() {
                let old: [u8; 8] = image[at..at + 8].try_into().expect("8 bytes");
                for new in [u64::MAX, u64::MAX >> 1, 1 << 32, 1 << 27] {
                    image[at..at + 8].copy_from_slice(&new.to_le_bytes());
                    all(&image);
                }
                image[at..at + 8].copy_from_slice(&old);
            }
        }
    }
}
