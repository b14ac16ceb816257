//! Developer tools of vop. Users never need them; `cargo xtask help` lists them, and tests use the library part.

#![forbid(unsafe_code)]

pub mod conformance;
pub mod crates;
mod diagnostics;
pub mod divergence;
pub mod docs;
pub mod fold;
pub mod golden;
pub mod gpu;
pub mod lowering;
pub mod sass;
pub mod search;
pub mod section;
pub mod site;
pub mod sweep;
