//! Whole PTX modules and source files.
#![forbid(unsafe_code)]

pub mod find;
pub mod module;
pub mod run;
pub mod uses;
