//! The tools that some tests need. Where one is absent its tests are skipped, and say so.

#![allow(dead_code, reason = "each test uses some of them")]

use std::io::Write;

use xtask::divergence::Solver;
use xtask::sass::Toolchain;

/// ptxas and nvdisasm, if they are here.
pub(crate) fn ptxas() -> Option<Toolchain> {
    here(Toolchain::find())
}

/// z3, if it is here.
pub(crate) fn z3() -> Option<Solver> {
    here(Solver::start())
}

fn here<T>(found: Result<T, impl std::fmt::Display>) -> Option<T> {
    match found {
        Ok(tool) => Some(tool),
        Err(why) => {
            // Not by `eprintln!`: what that writes a passing test swallows.
            let _ = writeln!(std::io::stderr(), "skipped: {why}");
            None
        }
    }
}
