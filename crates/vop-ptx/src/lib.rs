//! Whole PTX modules and source files, and the video instructions in them.
//!
//! - [`module`] reads PTX without losing a byte;
//! - [`find`] finds the instructions that CUDA C++, OpenCL, Python, LLVM IR and Rust hold in their string literals;
//! - [`asm`] reads the `asm` statements of C with their operands;
//! - [`uses`](mod@uses) joins the two: every video instruction of a file, judged, and the comments that allow findings;
//! - [`encoding`] decodes files in UTF-16 before that;
//! - [`rewrite`](mod@rewrite) replaces the video instructions of a module by base instructions;
//! - [`fix`](mod@fix) applies the helps of what is found, where they are edits.
//!
//! Kernels are executed by the crate `vop-run`.

pub mod asm;
mod edits;
pub mod encoding;
pub mod find;
pub mod fix;
pub mod module;
pub mod rewrite;
pub mod uses;
