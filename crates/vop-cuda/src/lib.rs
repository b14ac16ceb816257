//! CUDA's driver API and runtime API on the CPU, for programs that were built for a GPU.
//!
//! ```text
//! program ──cu*, cuda*──► driver/, runtime/ ──► core (devices, memory, streams, modules, …) ──► vop_run::Kernel
//! ```
//!
//! The functions of both interfaces are `extern "C"` functions of this library under the names that CUDA gives them. They are not exported
//! from here: a test that links this library has no symbol `cuInit`. The target `vop-cuda` of the package `vop-cli` calls [`export!`],
//! which makes a symbol of each.
//!
//! # One shared object
//!
//! The file `vop-cuda` is at once libcuda.so.1, libcudart.so.12 and libcudart.so.13: `vop exec` links it under these names into a folder
//! for `LD_LIBRARY_PATH`. glibc loads a file once, whatever its names, so there is one state for both interfaces. Symbols of the runtime
//! have the versions `libcudart.so.12` and `libcudart.so.13`, as the originals have; a function that changed between the two has two
//! definitions.
//!
//! Cargo cannot make a `cdylib` of it: rustc passes a version script without names, which the linker does not combine with one that has
//! names. So the target is a program in cargo's eyes, which is linked with `-shared` (`build.rs` of `vop-cli`). It is built by
//! `cargo build` and `cargo install` with no step beside them. Executed, it says what it is.

#![cfg(target_os = "linux")]

mod abi;
pub mod driver;
mod export;
pub mod fatbin;
pub mod machine;
pub mod runtime;
mod status;

#[doc(hidden)]
pub use abi::per_thread_default_stream;
pub use status::{Answer, Status};

/// What the shared object does if it is executed as a program: says what it is.
#[doc(hidden)]
pub extern "C" fn executed() -> ! {
    use std::io::Write;
    let text = "This is the CUDA library of vop, for programs that use libcuda.so.1 or libcudart.so: `vop exec PROGRAM` \
                runs them.\n";
    let written = std::io::stdout().write_all(text.as_bytes());
    std::process::exit(i32::from(written.is_err()))
}
