//! The engine: which threads run when, on columns and memory.
//!
//! - [`launch`]: arguments in, blocks to cores, reports out.
//! - [`block`]: groups of threads, branches, calls; [`barrier`] and [`warp`]: where threads wait for each other; [`wait`]: loops that
//!   wait for memory to change.
//! - [`meter`]: what a launch costs, and what ends it early.
//! - [`access`]: loads, stores, atomics; [`shadow`]: what is known of memory's bytes; [`findings`]: what checks find.
//! - [`system`]: `printf` ([`printf`], [`decimal`]), `assert`, `malloc` and `free`; [`observer`]: profile and trace; [`watch`]: what
//!   several threads execute.
//! - [`texture`]: textures and surfaces.

mod access;
mod barrier;
mod block;
pub(crate) mod decimal;
mod fetch;
pub(crate) mod findings;
pub(crate) mod launch;
mod meter;
mod observer;
mod printf;
pub(crate) mod shadow;
mod system;
mod texture;
mod wait;
mod warp;
mod watch;

pub use observer::{Profile, StatementProfile};
pub use watch::{Watch, Watched, WatchedResult, WatchedStep};
