//! A random kernel, run both ways.

use super::generator::generate;
use super::interpreter::Machine;
use super::printer::ptx;
use super::program::{Ins, OUT};
use vop_run::{Arg, Check, LaunchOptions, Level, MachineCode, Program, RunErrorKind};

/// Far more than a case executes, with what counts as more: a launch ends.
const LIMIT: u64 = 1 << 30;

/// Runs a case both ways; false if it takes too long to be worth it.
pub(crate) fn check(seed: u64) -> Result<bool, String> {
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
        heap: Vec::new(),
        printed: Vec::new(),
        executed: 0,
    };
    if machine.run().is_err() {
        return Ok(false);
    }
    machine.printed.sort();
    for level in Level::available() {
        let kernel = program.kernel_at("k", level).map_err(|errors| format!("{errors}\n{text}"))?;
        for cores in [1, 2] {
            let mut memory = program.memory();
            let input = memory.allocate("input", &case.input);
            let out = memory.allocate("out", vec![0; out_len]);
            let mut options = LaunchOptions::default()
                .with_cores(cores)
                .with_instructions(LIMIT)
                .with_machine_code(if cores == 1 { MachineCode::Always } else { MachineCode::Never })
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
                let place = match at.checked_sub(64) {
                    None => format!("byte {at} of the sums"),
                    Some(at) => format!("byte {} of thread {}", at % OUT, at / OUT),
                };
                return Err(format!(
                    "{level:?}, {cores} cores, grid {:?}, block {:?}: {place} is {:#x}, not {:#x}\n{text}",
                    case.grid, case.block, found[at], expected[at]
                ));
            }
            // A thread's lines are in order, but which thread goes on first is the engine's business.
            let printed = memory.take_printed();
            let mut lines: Vec<&str> = printed.lines().collect();
            lines.sort();
            if lines != machine.printed {
                return Err(format!("{lines:?} printed, not {:?}\n{text}", machine.printed));
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
