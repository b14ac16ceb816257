//! A language server for PTX: files of PTX, and the PTX inside CUDA C++, OpenCL, Python, Rust and LLVM IR. `vop lsp` starts it.
//!
//! Each feature is a module with a function from a [`Document`](document::Document) to an answer in bytes of its text, which knows nothing
//! of the protocol. [`serve`] speaks the protocol over a connection, [`stdio`] over standard input and output.
//!
//! ```
//! use vop_lsp::document::Document;
//! use vop_lsp::settings::Settings;
//! use vop_ptx::find::Language;
//!
//! let document = Document::new("asm(\"vadd4.u32.u32.u32 %0, %1.b0, %2, %3;\" : …);", Language::Cuda);
//! let findings = vop_lsp::diagnostics::findings(&document, &Settings::default());
//! assert_eq!(document.slice(&findings[0].span), ".b0");
//! ```
#![deny(unsafe_code)]

pub mod actions;
pub mod completion;
pub mod cost;
pub mod diagnostics;
pub mod document;
pub mod folding;
pub mod hints;
pub mod hover;
pub mod names;
pub mod position;
pub mod reference;
mod server;
pub mod settings;
pub mod signature;
mod statement;
mod stdio;
pub mod symbols;
pub mod tokens;

pub use server::{Configuration, serve};
pub use stdio::stdio;
