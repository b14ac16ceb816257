//! No kernel makes the executor panic, write where it must not (AddressSanitizer sees that), or run for long.
#![no_main]

use libfuzzer_sys::fuzz_target;
use vop_run::{Arg, LaunchOptions, Program};

fuzz_target!(|input: (u8, u8, &str)| {
    let (threads, choices, text) = input;
    let program = Program::read(text);
    let entries: Vec<String> = program.entries().map(str::to_owned).collect();
    for entry in entries.iter().take(4) {
        let Ok(kernel) = program.kernel(entry) else { continue };
        let mut memory = program.memory();
        let mut args = Vec::new();
        for parameter in kernel.parameters() {
            args.push(match parameter.bytes {
                8 => Arg::Buffer(memory.allocate("buffer", [1; 300])),
                bytes => Arg::Bytes(vec![3; bytes]),
            });
        }
        let mut options = LaunchOptions::default();
        options.instructions = 100_000;
        options.dynamic_shared = 64;
        options.cores = Some(1 + usize::from(choices & 1));
        options.check_races = choices & 2 != 0;
        options.check_uninitialized = choices & 4 != 0;
        options.profile = choices & 8 != 0;
        options.stack = if choices & 16 != 0 { 1024 } else { 512 * 1024 };
        let block = [1 + u32::from(threads) % 100, 1, 1];
        let _ = kernel.launch([2, 1, 1], block, &args, &mut memory, &options);
    }
});
