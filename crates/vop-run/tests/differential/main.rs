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

mod generator;
mod interpreter;
mod printer;
mod program;
#[path = "../random/mod.rs"]
mod random;

use generator::generate;
use interpreter::{MAX_EXECUTED, Machine};
use printer::ptx;
use program::{Ins, OUT};
use vop_run::{Arg, Check, LaunchOptions, Level, Program, RunErrorKind};

/// Runs a case both ways; false if it takes too long to be worth it.
fn check(seed: u64) -> Result<bool, String> {
    let case = generate(seed);
    let text = ptx(&case);
    let program = Program::read(&text);
    let threads: u32 = case.grid.iter().chain(&case.block).product();
    let out_len = 64 + OUT * threads as usize;
    let mut memory = program.memory();
    let input = memory.allocate("input", &case.input);
    let out = memory.allocate("out", vec![0; out_len]);
    let labels = case.functions.iter().map(|function| {
        let labels = function.body.iter().enumerate();
        labels.filter_map(|(i, ins)| if let Ins::Label(label) = ins { Some((*label, i)) } else { None }).collect()
    });
    let mut machine = Machine {
        case: &case,
        labels: labels.collect(),
        buffers: [(memory.address(input), case.input.clone()), (memory.address(out), vec![0; out_len])],
        shared: Vec::new(),
        executed: 0,
    };
    if machine.run().is_err() {
        return Ok(false);
    }
    for level in Level::available() {
        let kernel = program.kernel_at("k", level).map_err(|errors| format!("{errors}\n{text}"))?;
        for cores in [1, 2] {
            let mut memory = program.memory();
            let input = memory.allocate("input", &case.input);
            let out = memory.allocate("out", vec![0; out_len]);
            let mut options = LaunchOptions::default()
                .with_cores(cores)
                .with_instructions(10 * MAX_EXECUTED)
                .with_profile(seed.is_multiple_of(4));
            // Checks change nothing. Threads of these kernels meet in atomics only.
            if cores == 2 && seed.is_multiple_of(3) {
                Check::ALL.iter().for_each(|check| options.check(*check));
            }
            let args = [input.into(), out.into(), Arg::from(case.elements)];
            let report = kernel
                .launch(case.grid, case.block, &args, &mut memory, &options)
                .map_err(|errors| format!("{errors}\n{text}"))?;
            if let Some(finding) = report.findings.iter().find(|finding| finding.error.kind == RunErrorKind::Race) {
                return Err(format!("{}\n{text}", finding.error));
            }
            let (found, expected) = (memory.bytes(out), &machine.buffers[1].1);
            if let Some(at) = (0..out_len).find(|i| found[*i] != expected[*i]) {
                let (thread, byte) = match at.checked_sub(64) {
                    None => (0, at),
                    Some(at) => (at / OUT, at % OUT),
                };
                return Err(format!(
                    "{level:?}, {cores} cores, grid {:?}, block {:?}: byte {byte} of thread {thread} is {:#x}, not {:#x}\n{text}",
                    case.grid, case.block, found[at], expected[at]
                ));
            }
            if let Some(profile) = report.profile {
                let threads: u64 = profile.statements.iter().map(|statement| statement.threads).sum();
                if threads != machine.executed {
                    return Err(format!(
                        "{threads} instructions in the profile, {} executed\n{text}",
                        machine.executed
                    ));
                }
            }
            if report.instructions != machine.executed {
                return Err(format!(
                    "{} instructions counted, {} executed\n{text}",
                    report.instructions, machine.executed
                ));
            }
        }
    }
    Ok(true)
}

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
