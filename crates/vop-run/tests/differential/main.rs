//! Random kernels, run by the engine and by an interpreter: one thread at a time, straight from the manual.
//!
//! A generator makes kernels of everything that parts threads and brings them together again: conditions, loops with trip counts
//! from data, `break`, `continue`, switches, jumps without structure, functions with parameters of both kinds, recursion, calls by
//! address, guards, barriers, exchanges between the lanes of a warp, early exits. It makes a [`program`], of which the [`printer`] makes
//! PTX and which the [`interpreter`] runs, without anything of the engine.
//!
//! Every kernel runs at every SIMD level and on one core and two, and must leave the same bytes and count the same instructions.
//! `VOP_SEEDS=1000..200000 cargo test --release --test differential` runs more of them.

#![allow(clippy::print_stdout, clippy::print_stderr, reason = "long runs say how far they are")]
#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

mod check;
mod generator;
mod interpreter;
mod own;
mod printer;
mod program;
#[path = "../random/mod.rs"]
mod random;

use check::check;

#[test]
fn random_kernels_do_what_an_interpreter_of_one_thread_does() {
    let (mut ran, mut failures) = (0, 0);
    let seeds = random::seeds(0..300);
    for seed in seeds.clone() {
        match check(seed) {
            Ok(worthy) => ran += u64::from(worthy),
            Err(message) => {
                failures += 1;
                eprintln!("seed {seed}: {message}");
                if failures == 5 {
                    break;
                }
            }
        }
    }
    assert_eq!(failures, 0, "see above");
    assert!(ran * 10 > (seeds.end - seeds.start) * 8, "only {ran} of {seeds:?} ran");
}
