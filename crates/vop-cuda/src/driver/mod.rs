//! The driver API: thin layers over [`machine`](crate::machine), in the order of CUDA's manual.
//!
//! A function has the name of its symbol. Pointers are those of the caller: null is an error, and everything else is taken to be what the
//! manual says, but for copies, which check what they are told to read and write.

#![allow(non_snake_case, reason = "the names are CUDA's")]
#![allow(clippy::missing_safety_doc, reason = "CUDA's manual says what pointers must be")]
#![allow(clippy::too_many_arguments, reason = "they are CUDA's")]

mod array;
mod context;
mod copy;
mod device;
mod graph;
mod init;
mod launch;
mod list;
mod mapping;
mod memory;
mod module;
mod names;
mod stream;
mod texture;
mod types;
pub mod unsupported;

pub use array::*;
pub use context::*;
pub use copy::*;
pub use device::*;
pub use graph::*;
pub use init::*;
pub use launch::*;
pub use mapping::*;
pub use memory::*;
pub use module::*;
pub use stream::*;
pub use texture::*;
