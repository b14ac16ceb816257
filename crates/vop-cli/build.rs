//! How `vop-cuda` is linked: it is a shared object, not a program.
//!
//! `vop_cuda` (the crate) says why. Elsewhere than on Linux with glibc it is a program that says that it is for Linux.

use std::path::PathBuf;

/// Symbols of the runtime have the versions of both releases: that of 12 is given where they are defined. Those of the driver have none.
/// What Rust defines is not exported.
const VERSIONS: &str = "libcudart.so.12 { };
libcudart.so.13 { global: cuda*; __cuda*; local: _R*; _ZN*; __rust*; rust_*; vop_12_*; };
";

fn main() {
    println!("cargo:rerun-if-changed=build.rs");
    println!("cargo:rustc-check-cfg=cfg(vop_cuda)");
    let is = |name: &str, values: &[&str]| std::env::var(name).is_ok_and(|value| values.contains(&&*value));
    if !is("CARGO_CFG_TARGET_OS", &["linux"])
        || !is("CARGO_CFG_TARGET_ENV", &["gnu"])
        || !is("CARGO_CFG_TARGET_ARCH", &["x86_64", "aarch64"])
    {
        return;
    }
    println!("cargo:rustc-cfg=vop_cuda");
    let folder = std::env::var_os("OUT_DIR").map(PathBuf::from).expect("cargo sets it");
    let versions = folder.join("vop-cuda.map");
    std::fs::write(&versions, VERSIONS).expect("the folder is cargo's, for this script");
    let script = format!("-Wl,--version-script={}", versions.display());
    let arguments = [
        "-shared",
        // A program's start code calls `main`.
        "-nostartfiles",
        "-Wl,-soname,libvop-cuda.so",
        // Only the symbols of the target itself.
        "-Wl,--exclude-libs,ALL",
        // Its threads do not end when the program unloads it.
        "-Wl,-z,nodelete",
        "-Wl,-e,vop_cuda_executed",
        &script,
    ];
    for argument in arguments {
        println!("cargo:rustc-link-arg-bin=vop-cuda={argument}");
    }
}
