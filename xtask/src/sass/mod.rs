//! What NVIDIA's compiler makes of an instruction, without a GPU: ptxas compiles it, nvdisasm prints the machine code
//! (SASS), and a simulator of the few dozen machine instructions that occur there executes it.
//!
//! ```text
//! texts ──ptxas, nvdisasm──► listings ──decode──► Code ──run──► d
//!          (toolchain)                  (decode)       (operation)
//! ```
//!
//! How much code a text costs `cubin.rs` reads from what ptxas wrote, without nvdisasm.
//!
//! [`Toolchain`] compiles many texts at once, [`Code`] is the machine code of one. What the simulator does not know for
//! sure is [`Unsupported`], by name: no guess may end up as a fact about ptxas.
//!
//! To add a machine instruction: a variant of `Operation` (`operation.rs`), an arm of the table (`decode.rs`), and a
//! listing with values from elsewhere in `tests/listings.txt`.

mod code;
mod cubin;
mod cuda;
mod decode;
mod judge;
mod operation;
mod toolchain;

pub use code::{Code, Unsupported};
pub use judge::{Setting, Verdict};
pub use toolchain::{Toolchain, ToolchainError};
