//! `vop port` of sources: examples/port, carried over by the command, compiled and run.

#![allow(clippy::unwrap_used, clippy::print_stderr, reason = "a test fails by panicking, and says what it leaves out")]

use std::path::Path;
use std::process::{Command, Output};

use tempfile::TempDir;

const FILES: [&str; 3] = ["pixels.h", "kernel.cu", "main.cpp"];

fn vop(folder: &Path, args: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_vop")).current_dir(folder).args(args).output().unwrap()
}

/// The example in a folder of its own, below `src`.
fn example() -> TempDir {
    let folder = tempfile::tempdir().unwrap();
    std::fs::create_dir(folder.path().join("src")).unwrap();
    let from = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples/port");
    for name in FILES {
        std::fs::copy(from.join(name), folder.path().join("src").join(name)).unwrap();
    }
    folder
}

fn read(folder: &TempDir, name: &str) -> String {
    std::fs::read_to_string(folder.path().join(name)).unwrap()
}

fn has(tool: &str) -> bool {
    let found = Command::new(tool).arg("--version").output().is_ok_and(|output| output.status.success());
    if !found {
        eprintln!("skipped: there is no {tool}");
    }
    found
}

/// What the CPU computes without the command: the manual's sentences, written by hand.
fn expected() -> String {
    let (mut sums, mut mixed, mut state) = (0_u32, 0_u32, 1_u32);
    let by_lane = |a: u32, b: u32, f: &dyn Fn(u32, u32) -> u32| {
        (0..4).fold(0, |d, i| d | f(a >> (8 * i) & 255, b >> (8 * i) & 255) << (8 * i))
    };
    for _ in 0..1_000_000 {
        state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
        let (a, b) = (state, state ^ (state << 7));
        let sum: u32 = (0..4).map(|i| (a >> (8 * i) & 255).abs_diff(b >> (8 * i) & 255)).sum();
        let half = ((a & 255) + (b >> 16 & 255)) / 2 + sum;
        sums = sums.wrapping_add(half);
        let bright = by_lane(a, 0, &|a, _| (a + 16).min(255));
        let mask = by_lane(bright, b, &|a, b| if (a + b + 1) >> 1 > 100 { 255 } else { 0 });
        mixed = mixed.wrapping_mul(31).wrapping_add(mask);
    }
    format!("{sums} {mixed}\n")
}

#[test]
fn the_example_computes_the_same_on_the_cpu() {
    let folder = example();
    let output = vop(folder.path(), &["port", "--to", "cpp", "src", "--write"]);
    let said = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(output.status.success() && output.stdout.is_empty(), "{said}");
    assert!(
        said.ends_with("4 statements of 8 instructions carried over in 1 file; the functions are in src/vop_port.h\n"),
        "{said}"
    );
    // What has no asm stays as it is, byte for byte.
    for name in ["kernel.cu", "main.cpp"] {
        let original = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples/port").join(name);
        assert_eq!(read(&folder, &format!("src/{name}")), std::fs::read_to_string(original).unwrap());
    }
    // A second time there is nothing to do, and the header stays.
    let (pixels, header) = (read(&folder, "src/pixels.h"), read(&folder, "src/vop_port.h"));
    assert!(vop(folder.path(), &["port", "--to", "cpp", "src", "--write"]).status.success());
    assert_eq!((read(&folder, "src/pixels.h"), read(&folder, "src/vop_port.h")), (pixels, header));
    if !has("g++") {
        return;
    }
    let compiled = Command::new("g++")
        .args(["-std=c++17", "-O2", "-Wall", "-Wextra", "-Werror", "-fsanitize=undefined", "-fno-sanitize-recover=all"])
        .args(["main.cpp", "-o", "main"])
        .current_dir(folder.path().join("src"))
        .output()
        .unwrap();
    assert!(compiled.status.success(), "{}", String::from_utf8_lossy(&compiled.stderr));
    let run = Command::new(folder.path().join("src/main")).output().unwrap();
    assert_eq!(String::from_utf8_lossy(&run.stdout), expected());
}

#[test]
fn the_diff_is_what_write_makes() {
    let folder = example();
    let diff = vop(folder.path(), &["port", "--to", "hip", "src"]);
    assert!(diff.status.success());
    assert!(!folder.path().join("src/vop_port.h").exists());
    let other = example();
    assert!(vop(other.path(), &["port", "--to", "hip", "src", "--write"]).status.success());
    if !has("patch") {
        return;
    }
    let patch = folder.path().join("port.diff");
    std::fs::write(&patch, &diff.stdout).unwrap();
    let applied = Command::new("patch").args(["-p1", "-i", "port.diff"]).current_dir(folder.path()).output().unwrap();
    assert!(applied.status.success(), "{}", String::from_utf8_lossy(&applied.stdout));
    for name in ["src/pixels.h", "src/kernel.cu", "src/vop_port.h"] {
        assert_eq!(read(&folder, name), read(&other, name), "{name}");
    }
}

#[test]
fn the_header_keeps_what_earlier_files_call() {
    let folder = tempfile::tempdir().unwrap();
    let path = |name: &str| folder.path().join(name);
    let asm = |mnemonic: &str| {
        format!(
            "void f(unsigned &d, unsigned a) {{ asm(\"{mnemonic}.u32.u32.u32 %0, %1, %1, %1;\" : \"=r\"(d) : \"r\"(a)); }}\n"
        )
    };
    std::fs::create_dir(path("sub")).unwrap();
    std::fs::write(path("a.cu"), asm("vadd4")).unwrap();
    std::fs::write(path("sub/b.cu"), asm("vsub4")).unwrap();
    assert!(vop(folder.path(), &["port", "--to", "cuda", "a.cu", "--write", "--keep-ptx"]).status.success());
    assert!(
        vop(folder.path(), &["port", "--to", "cuda", "sub/b.cu", "--write", "--header", "vop_port.h"]).status.success()
    );
    let header = read(&folder, "vop_port.h");
    assert!(header.contains(" vadd4_u32_u32_u32(") && header.contains(" vsub4_u32_u32_u32("), "{header}");
    assert!(
        header.contains("    asm(\"vsub4.u32.u32.u32 %0, %1, %2, %3;\" : \"=r\"(d) : \"r\"(a), \"r\"(b), \"r\"(c));\n"),
        "{header}"
    );
    assert!(read(&folder, "sub/b.cu").starts_with("#include \"../vop_port.h\"\n"));
    // Another file is not overwritten.
    std::fs::write(path("own.h"), "int mine;\n").unwrap();
    std::fs::write(path("c.cu"), asm("vmax4")).unwrap();
    let refused = vop(folder.path(), &["port", "--to", "cuda", "c.cu", "--write", "--header", "own.h"]);
    let said = String::from_utf8_lossy(&refused.stderr).into_owned();
    assert_eq!(refused.status.code(), Some(2), "{said}");
    assert!(said.contains("own.h is there and was not written by `vop port --to cuda`"), "{said}");
    assert_eq!((read(&folder, "own.h"), read(&folder, "c.cu")), ("int mine;\n".into(), asm("vmax4")));
}

#[test]
fn what_is_left_is_reported() {
    let folder = tempfile::tempdir().unwrap();
    let source = "void f(unsigned &d, unsigned long p) {\n    asm(\"vadd4.u32.u32.u32 %0, %1, %1, %1;\" : \"=r\"(d) : \"l\"(p));\n}\n";
    std::fs::write(folder.path().join("a.cu"), source).unwrap();
    let output = vop(folder.path(), &["port", "--to", "hip", "a.cu", "--write"]);
    assert_eq!(output.status.code(), Some(1));
    let said = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(said.starts_with("a.cu:2:5: left as it is: operand `%1` is a 64-bit register\n"), "{said}");
    assert_eq!(std::fs::read_to_string(folder.path().join("a.cu")).unwrap(), source);
    assert!(!folder.path().join("vop_port.h").exists());
    let json = vop(folder.path(), &["port", "--to", "hip", "a.cu", "--format", "json"]);
    let object: serde_json::Value = serde_json::from_slice(&json.stdout).unwrap();
    assert_eq!(object["left"][0]["line"], 2);
    let wide: Vec<u8> = source.encode_utf16().flat_map(u16::to_le_bytes).collect();
    std::fs::write(folder.path().join("wide.cu"), wide).unwrap();
    for (args, words) in [
        (
            &["port", "--to", "numpy", "a.cu"][..],
            "sources cannot be ported to numpy, only to c, cpp, cuda, hip, sycl, metal, opencl, rust, llvm",
        ),
        (&["port", "--to", "cpp", "a.cu", "--keep-ptx"], "functions of cpp cannot hold an asm"),
        (&["port", "--to", "c", "vadd4.u32.u32.u32", "--write"], "--write is for sources"),
        (&["port", "--to", "c", "vadd4.u32.u32.u32", "a.cu"], "`vadd4.u32.u32.u32` is no file"),
        (&["port", "--to", "c", "missing.cu"], "cannot read missing.cu"),
        (
            &["port", "--to", "c", "wide.cu"],
            "wide.cu is in UTF-16 or UTF-32, which is not rewritten; convert it to UTF-8",
        ),
    ] {
        let output = vop(folder.path(), args);
        let said = String::from_utf8_lossy(&output.stderr).into_owned();
        assert_eq!(output.status.code(), Some(2), "{args:?}: {said}");
        assert!(said.contains(words), "{args:?}: {said}");
    }
}
