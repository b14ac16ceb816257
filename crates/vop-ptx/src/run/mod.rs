//! Runs kernels on the CPU, exactly: every video instruction and as much of the base instruction set as kernels around them
//! use.
//!
//! ```text
//! PTX text ──► Program ──entry──► Kernel ──launch──► Memory changed, or a RunError that names line, thread and address
//! ```
//!
//! - A [`Program`] is a module with its variables laid out. [`Program::kernel`] decodes an entry once: opcodes become function
//!   pointers, registers and immediates slots, labels step numbers. What cannot be run is refused here, before anything runs.
//! - [`Kernel::launch`] runs a grid in order, one thread at a time, so a launch is deterministic. Every access to memory is
//!   checked for bounds and alignment.
//! - [`run_launch_file`] does all of it for files: what the command `vop run` does.
//!
//! ```
//! use vop_ptx::run::{LaunchOptions, Program};
//!
//! let program = Program::read(
//!     ".version 8.0 .target sm_75 .address_size 64
//!      .entry sad(.param .u64 out, .param .u32 a, .param .u32 b) {
//!          .reg .b32 %r<4>; .reg .b64 %rd<2>;
//!          ld.param.u64 %rd1, [out];
//!          ld.param.u32 %r1, [a];
//!          ld.param.u32 %r2, [b];
//!          mov.b32 %r3, 0;
//!          vabsdiff4.u32.u32.u32.add %r3, %r1, %r2, %r3;
//!          st.global.u32 [%rd1], %r3;
//!      }",
//! );
//! let kernel = program.kernel("sad")?;
//! let mut memory = program.memory();
//! let out = memory.allocate("out", vec![0; 4]);
//! let args = [out.into(), 0x0102_0304u32.into(), 0x0402_0301u32.into()];
//! let counts = kernel.launch([1, 1, 1], [1, 1, 1], &args, &mut memory, &LaunchOptions::default())?;
//! assert_eq!(memory.bytes(out), [6, 0, 0, 0]);
//! assert_eq!((counts.instructions, counts.video), (6, 1));
//! # Ok::<(), vop_ptx::run::RunErrors>(())
//! ```
//!
//! What it does not know, it refuses with the line and the instruction: calls, textures and surfaces, matrix and asynchronous
//! instructions, half precision, approximate floating point, clusters.

mod array;
mod compute;
mod decode;
mod engine;
mod error;
mod exec;
mod kernel;
pub mod launch;
mod memory;
mod pure;
mod types;

pub use array::write_atomically;
pub use decode::Program;
pub use error::{Place, RunError, RunErrorKind, RunErrors, ThreadId};
pub use exec::{Arg, Counts, LaunchOptions};
pub use kernel::{Kernel, Parameter};
pub use launch::{RunOptions, Summary, run_launch_file};
pub use memory::{BufferId, Memory};
