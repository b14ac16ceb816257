//! The drop-in libraries libcuda and libcudart in one shared object: `build.rs` has how it is linked.

#![cfg_attr(vop_cuda, no_main)]
#![cfg_attr(vop_cuda, allow(unsafe_code, reason = "symbols are defined in assembly"))]

#[cfg(vop_cuda)]
vop_cuda::export!();

#[cfg(not(vop_cuda))]
fn main() -> std::process::ExitCode {
    use std::io::Write;
    let text = "vop's CUDA libraries are for Linux with glibc, on x86-64 and AArch64: on this system there is nothing in them\n";
    let _ = std::io::stderr().write_all(text.as_bytes());
    std::process::ExitCode::FAILURE
}
