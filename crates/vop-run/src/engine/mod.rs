//! The engine: columns, loops over them, and who runs when.
//!
//! - [`lanes`]: from a function of one thread to a loop over all; [`level`]: for which instructions of the host.
//! - [`access`]: loads, stores, atomics; [`shadow`]: what is known of shared memory's bytes.
//! - [`block`]: groups of threads, branches, calls; [`barrier`] and [`warp`]: where they wait for each other.
//! - [`system`]: `printf`, `assert`, `malloc` and `free`, the latter from the [`heap`]; [`observer`]: profile and trace.
//! - [`launch`]: arguments in, blocks to cores, reports out.

// Loops over raw columns and raw memory; what is safe about each is said there.
#![allow(unsafe_code)]
// A lane's number is an index of many arrays at once.
#![allow(clippy::needless_range_loop)]

pub(crate) mod access;
mod barrier;
mod block;
mod decimal;
pub(crate) mod heap;
pub(crate) mod lanes;
pub(crate) mod launch;
pub(crate) mod level;
mod observer;
pub(crate) mod shadow;
mod storage;
mod system;
mod warp;

pub use level::Level;
pub use observer::{Profile, StatementProfile};
