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

/// What HIP's header declares, of which the example uses this.
const HIP_RUNTIME: &str = "\
#pragma once
#define __host__ __attribute__((host))
#define __device__ __attribute__((device))
#define __global__ __attribute__((global))
struct Dim { unsigned x, y, z; };
extern __device__ Dim blockIdx, blockDim, threadIdx;
__device__ unsigned atomicAdd(unsigned *at, unsigned value);
";

#[test]
fn clang_compiles_the_example_for_amds_gpus() {
    let folder = example();
    assert!(vop(folder.path(), &["port", "--to", "hip", "src", "--write"]).status.success());
    if !has("clang") {
        return;
    }
    std::fs::create_dir(folder.path().join("hip")).unwrap();
    std::fs::write(folder.path().join("hip/hip_runtime.h"), HIP_RUNTIME).unwrap();
    let compiled = Command::new("clang")
        .args(["-x", "hip", "--offload-arch=gfx1030", "-nogpuinc", "-nogpulib", "-fsyntax-only", "-I", "."])
        .args(["-D__HIPCC__", "src/kernel.cu"])
        .current_dir(folder.path())
        .output()
        .unwrap();
    assert!(compiled.status.success(), "{}", String::from_utf8_lossy(&compiled.stderr));
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
fn a_header_that_keeps_ptx_stays_as_it_is() {
    let folder = tempfile::tempdir().unwrap();
    std::fs::create_dir(folder.path().join("src")).unwrap();
    let source =
        "void f(unsigned &d, unsigned a) { asm(\"vadd4.u32.u32.u32 %0, %1, %1, %1;\" : \"=r\"(d) : \"r\"(a)); }\n";
    std::fs::write(folder.path().join("src/a.cu"), source).unwrap();
    let port = || vop(folder.path(), &["port", "--to", "cuda", "src", "--write", "--keep-ptx"]);
    assert!(port().status.success());
    let header = read(&folder, "src/vop_port.h");
    assert!(header.contains("asm("), "{header}");
    assert!(port().status.success());
    assert_eq!(read(&folder, "src/vop_port.h"), header);
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
        (
            &["port", "--to", "cpp", "a.cu", "--keep-ptx"],
            "functions of cpp cannot hold an asm for GPUs; --keep-ptx is for cuda, hip and opencl",
        ),
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

/// A crate of Rust: the module stands beside the root, which declares it, and a file of a folder calls its functions.
#[test]
fn a_crate_of_rust_gets_a_module() {
    let folder = tempfile::tempdir().unwrap();
    let path = |name: &str| folder.path().join(name);
    std::fs::create_dir_all(path("src/kernels")).unwrap();
    let root = "//! Sums.\n#![allow(unused_imports, unused_unsafe)]\n\nmod kernels;\n\nfn main() {\n    println!(\"{:x}\", kernels::add(0x7f01_ff80, 0x0102_0380_u32.cast_signed()));\n}\n";
    let kernels = "use core::arch::asm;\n\npub fn add(a: u32, b: i32) -> u32 {\n    let d: u32;\n    // SAFETY: it only computes.\n    unsafe {\n        \
         asm!(\"vadd4.s32.s32.s32.sat {}, {}, {}, {};\", lateout(reg32) d, in(reg32) a, in(reg32) b, const 0);\n    }\n    d\n}\n";
    std::fs::write(path("src/main.rs"), root).unwrap();
    std::fs::write(path("src/kernels/mod.rs"), kernels).unwrap();
    // The root is not among the files: it is said what is missing.
    let output = vop(folder.path(), &["port", "--to", "rust", "src/kernels"]);
    let said = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(output.status.success(), "{said}");
    assert!(said.starts_with("note: calls are of `crate::vop_port`: write `mod vop_port;` in src/main.rs\n"), "{said}");
    let output = vop(folder.path(), &["port", "--to", "rust", ".", "--write"]);
    let said = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(output.status.success(), "{said}");
    assert_eq!(said, "1 statement of 1 instruction carried over in 2 files; the functions are in ./src/vop_port.rs\n");
    assert_eq!(read(&folder, "src/main.rs"), root.replace("\nmod kernels;", "\nmod vop_port;\nmod kernels;"));
    assert!(
        read(&folder, "src/kernels/mod.rs")
            .contains("        d = crate::vop_port::vadd4_s32_s32_s32_sat(a, b.cast_unsigned(), 0);\n")
    );
    // A second time there is nothing to do; another file's functions are added.
    std::fs::write(path("src/more.rs"), kernels.replace("vadd4.s32.s32.s32.sat", "vavrg4.u32.u32.u32")).unwrap();
    assert!(vop(folder.path(), &["port", "--to", "rust", "src", "--write"]).status.success());
    let module = read(&folder, "src/vop_port.rs");
    assert!(module.contains(" fn vadd4_s32_s32_s32_sat(") && module.contains(" fn vavrg4_u32_u32_u32("), "{module}");
    assert_eq!(read(&folder, "src/main.rs").matches("mod vop_port;").count(), 1);
    for (args, words) in [
        (&["port", "--to", "rust", "src", "--header", "src/simd.rs"][..], "a module of Rust is called vop_port.rs"),
        (&["port", "--to", "llvm", "src", "--header", "f.ll"], "files of LLVM IR hold their functions themselves"),
        (&["port", "--to", "rust", "src", "--keep-ptx"], "functions of rust cannot hold an asm"),
    ] {
        let output = vop(folder.path(), args);
        let said = String::from_utf8_lossy(&output.stderr).into_owned();
        assert_eq!(output.status.code(), Some(2), "{args:?}: {said}");
        assert!(said.contains(words), "{args:?}: {said}");
    }
    if !has("rustc") {
        return;
    }
    let compiled = Command::new("rustc")
        .args(["--edition=2021", "-Dwarnings", "-Adead_code", "-o", "main", "src/main.rs"])
        .current_dir(folder.path())
        .output()
        .unwrap();
    assert!(compiled.status.success(), "{}", String::from_utf8_lossy(&compiled.stderr));
    let run = Command::new(path("main")).output().unwrap();
    // 7f + 1 is clamped, 01 + 02, ff + 03, and 80 + 80 is clamped.
    assert_eq!(String::from_utf8_lossy(&run.stdout), "7f030280\n");
}

/// Files that hold their functions themselves: no header is written.
#[test]
fn strings_and_llvm_ir_need_no_header() {
    let folder = tempfile::tempdir().unwrap();
    let path = |name: &str| folder.path().join(name);
    let kernel = "uint f(uint a) {\n    uint d;\n    asm(\"vavrg4.u32.u32.u32 %0, %1, %2, %2;\" : \"=r\"(d) : \"r\"(a), \"r\"(7));\n    return d;\n}\n";
    std::fs::write(path("a.py"), format!("KERNEL = \"\"\"\n{kernel}\"\"\"\n")).unwrap();
    let ir = "define i32 @f(i32 %a) {\n  %d = call i32 asm \"vavrg4.u32.u32.u32 $0, $1, $1, $1;\", \"=r,r\"(i32 %a)\n  ret i32 %d\n}\n";
    std::fs::write(path("a.ll"), ir).unwrap();
    let output = vop(folder.path(), &["port", "--to", "opencl", "a.py", "--write"]);
    let said = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(output.status.success(), "{said}");
    assert_eq!(
        said,
        "1 statement of 1 instruction carried over in 1 file; the functions of strings and LLVM IR are in the files themselves\n"
    );
    let text = read(&folder, "a.py");
    assert!(text.starts_with("KERNEL = \"\"\"\n#ifndef vavrg4_u32_u32_u32_of_vop\n"), "{text}");
    assert!(
        text.contains("\n    d = vavrg4_u32_u32_u32(a, 7, 0);\n") && text.contains("static inline uint vavrg4_"),
        "{text}"
    );
    let json = vop(folder.path(), &["port", "--to", "llvm", "a.ll", "--write", "--format", "json"]);
    assert!(json.status.success());
    let object: serde_json::Value = serde_json::from_slice(&json.stdout).unwrap();
    assert_eq!((&object["carried"][0]["line"], &object["functions"][0]), (&2.into(), &"vavrg4_u32_u32_u32".into()));
    assert!(read(&folder, "a.ll").contains("  %d = call i32 @vavrg4_u32_u32_u32(i32 %a, i32 %a, i32 0)\n"));
    assert!(!path("vop_port.h").exists());
    // Each file is for a target of its own.
    std::fs::write(path("b.ll"), ir).unwrap();
    let output = vop(folder.path(), &["port", "--to", "hip", "b.ll", "--write"]);
    let said = String::from_utf8_lossy(&output.stderr).into_owned();
    assert_eq!(output.status.code(), Some(1), "{said}");
    assert!(said.contains("left as it is: files of this language are ported to llvm, not to hip\n"), "{said}");
    assert_eq!(read(&folder, "b.ll"), ir);
}
