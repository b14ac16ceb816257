//! Executes kernels on the CPU, exactly: PTX as nvcc and clang write it, with every access to memory checked.
//!
//! ```text
//! PTX text ──► Program ──entry──► Kernel ──launch──► Memory changed, or a RunError that names line, thread and address
//! ```
//!
//! - A [`Program`] is a module with its variables laid out. [`Program::kernel`] decodes an entry and the functions that it may call,
//!   once, for the SIMD instructions of this CPU ([`Level`]). Statements that cannot be run are refused here, before anything runs.
//! - [`Kernel::launch`] runs a grid: a register is a column over the threads of a block, an instruction a loop over columns, and
//!   blocks are divided among cores ([`LaunchOptions::cores`]). Threads that part at a branch meet again where their paths join.
//! - A [`Memory`] holds buffers and the module's variables, from launch to launch. Buffers are far apart, so an access beyond one's
//!   end is an error, as are misaligned accesses, divisions by zero, barriers that are not reached, stacks that overflow and
//!   endless loops. Each [`Check`] of [`LaunchOptions`] looks for more: races, reads of what nothing wrote, warps whose lanes do not
//!   come together, wrong uses of the heap. What they find is in [`Report::findings`].
//! - Long launches run as machine code of this CPU where a kernel has no branches, and in loops that only compute and load
//!   ([`MachineCode`]): nothing else changes.
//! - A [`texture`] is an image in a memory and how it is read; kernels take its handle.
//! - [`run_launch_file`] does all of it for files, and [`job::Job`] is what the command `vop run` does.
//!
//! ```
//! use vop_run::{LaunchOptions, Program};
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
//! let out = memory.allocate("out", [0; 4]);
//! let args = [out.into(), 0x0102_0304u32.into(), 0x0402_0301u32.into()];
//! let counts = kernel.launch([1, 1, 1], [1, 1, 1], &args, &mut memory, &LaunchOptions::default())?;
//! assert_eq!(memory.bytes(out), [6, 0, 0, 0]);
//! assert_eq!((counts.instructions, counts.video), (6, 1));
//! # Ok::<(), vop_run::RunErrors>(())
//! ```
//!
//! # What is the same in every run
//!
//! What a block does depends on nothing but memory. A launch whose blocks do not read what others write gives the same result on any
//! number of cores; [`Report::order_dependent`] names the atomics that may make a difference.
//!
//! # What is refused
//!
//! With the line and the instruction ([`RunErrorKind::Unsupported`]): tensor cores (`mma`, `wgmma`, `tcgen05`), clusters, TMA (`cp.async.bulk`), and modules of 32-bit addresses. Functions that the manual calls approximate are computed in
//! double precision and rounded once.

mod bits;
mod clock;
mod code;
mod column;
mod decode;
mod engine;
mod error;
mod heap;
#[doc(hidden)]
pub mod internals;
mod jit;
pub mod job;
mod lanes;
mod level;
mod memory;
mod opcode;
mod pure;
mod special;
mod symbol;
pub mod texture;
mod types;

pub use code::{Kernel, Parameter};
pub use decode::Program;
pub use engine::launch::{Activity, Arg, Check, Finding, LaunchOptions, MachineCode, Now, Progress, Report, Stop};
pub use engine::{Profile, StatementProfile, Watch, Watched, WatchedResult, WatchedStep};
pub use error::{Place, RunError, RunErrorKind, RunErrors, SourcePlace, ThreadId};
pub use job::{RunOptions, Summary, run_launch_file};
pub use level::Level;
pub use memory::{BufferId, Memory};
pub use symbol::{demangled, demangled_name};
