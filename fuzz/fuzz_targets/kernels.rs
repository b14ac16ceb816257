//! Valid kernels that the fuzzer's bytes choose run as an interpreter of one thread runs them, at each level and on one core and two.
#![no_main]

#[path = "../../crates/vop-run/tests/differential/check.rs"]
mod check;
#[path = "../../crates/vop-run/tests/differential/generator.rs"]
mod generator;
#[path = "../../crates/vop-run/tests/differential/interpreter.rs"]
mod interpreter;
#[path = "../../crates/vop-run/tests/differential/own.rs"]
mod own;
#[path = "../../crates/vop-run/tests/differential/printer.rs"]
mod printer;
#[path = "../../crates/vop-run/tests/differential/program.rs"]
mod program;
mod random;

use libfuzzer_sys::fuzz_target;

fuzz_target!(|bytes: &[u8]| {
    let seed = bytes
        .iter()
        .fold(0xcbf2_9ce4_8422_2325_u64, |hash, &byte| (hash ^ u64::from(byte)).wrapping_mul(0x100_0000_01b3));
    random::feed(bytes);
    if let Err(message) = check::check(seed) {
        panic!("{message}");
    }
});
