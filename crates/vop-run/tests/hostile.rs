//! Broken modules: those of the tests' data with pieces deleted, doubled, swapped and changed. Whatever comes out is decoded and
//! launched on small buffers; nothing may panic, and nothing may run for long.
//!
//! `VOP_SEEDS=0..100000 cargo test --release --test hostile` tries more of them, each on a module that the seed picks.

#![allow(
    clippy::print_stdout,
    clippy::print_stderr,
    clippy::type_complexity,
    reason = "long runs say how far they are"
)]
#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

mod common;
mod random;

use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use random::Random;
use vop_run::{Arg, LaunchOptions, Level, Program, ThreadId};

fn sources() -> Vec<PathBuf> {
    ["kernels", "run"].into_iter().flat_map(|folder| common::data(folder, "ptx")).collect()
}

/// Words, numbers, blanks and single characters, which give the text back when joined.
fn tokens(text: &str) -> Vec<String> {
    let class = |c: char| match c {
        c if c.is_ascii_alphanumeric() || matches!(c, '_' | '$' | '%') => 1,
        c if c.is_whitespace() => 2,
        _ => 0,
    };
    let mut tokens: Vec<String> = Vec::new();
    let mut last = 0;
    for c in text.chars() {
        match (class(c), tokens.last_mut()) {
            (now, Some(token)) if now == last && now != 0 => token.push(c),
            (now, _) => {
                tokens.push(c.to_string());
                last = now;
            }
        }
    }
    tokens
}

const NUMBERS: [&str; 22] = [
    "0",
    "1",
    "2",
    "3",
    "4",
    "7",
    "8",
    "15",
    "16",
    "31",
    "32",
    "33",
    "64",
    "255",
    "4096",
    "32768",
    "1048576",
    "0x7fffffff",
    "0x80000000",
    "0xffffffff",
    "0x7fffffffffffffff",
    "0xffffffffffffffff",
];
const WORDS: [&str; 44] = [
    "b8", "b16", "b32", "b64", "b128", "u8", "s8", "u16", "s16", "u32", "s32", "u64", "s64", "f16", "f32", "f64",
    "pred", "v2", "v4", "v8", "global", "shared", "local", "param", "const", "add", "ld", "st", "atom", "red", "bra",
    "call", "ret", "exit", "bar", "sync", "shfl", "mov", "wide", "cc", "func", "reg", "align", "%tid",
];
const PIECES: [&str; 16] =
    ["{", "}", "(", ")", "[", "]", ";", ",", ".", ":", "@", "!", "|", "-", "@%p1 ", "\n$L__BB0_1:\n"];

/// Changes a few tokens.
fn mutate(text: &str, random: &mut Random) -> String {
    let mut tokens = tokens(text);
    for _ in 0..1 + random.below(4) {
        let at = random.below(tokens.len());
        let other = random.below(tokens.len());
        let is_number = |token: &String| token.starts_with(|c: char| c.is_ascii_digit());
        let is_word =
            |token: &String| token.starts_with(|c: char| c.is_ascii_alphabetic() || matches!(c, '%' | '$' | '_'));
        match random.below(12) {
            0 => drop(tokens.remove(at)),
            1 => tokens.insert(at, tokens[at].clone()),
            2 => tokens.swap(at, other),
            3 => tokens[at] = tokens[other].clone(),
            4 => tokens.insert(at, random.pick(&PIECES).to_owned()),
            5..8 => {
                // The next number.
                if let Some(token) = tokens[at..].iter_mut().find(|token| is_number(token)) {
                    *token = random.pick(&NUMBERS).to_owned();
                }
            }
            8 => {
                if let Some(token) = tokens[at..].iter_mut().find(|token| is_word(token)) {
                    *token = random.pick(&WORDS).to_owned();
                }
            }
            9 => {
                // A register for another one, a label for another one.
                let start: String = tokens[other].chars().take(2).collect();
                let word = tokens[other].clone();
                if is_word(&word)
                    && let Some(token) = tokens[at..].iter_mut().find(|token| token.starts_with(&start))
                {
                    *token = word;
                }
            }
            10 => {
                // A statement goes elsewhere.
                let end = tokens[at..].iter().position(|token| token == ";").map_or(tokens.len(), |end| at + end + 1);
                let statement: Vec<String> = tokens[at..end].to_vec();
                let to =
                    tokens[other..].iter().position(|token| token == ";").map_or(tokens.len(), |end| other + end + 1);
                tokens.splice(to..to, statement);
            }
            _ => {
                let end = (at + random.below(20)).min(tokens.len());
                tokens.drain(at..end);
            }
        }
        if tokens.is_empty() {
            break;
        }
    }
    tokens.concat()
}

/// Decodes every entry and launches it with arguments that fit.
fn run(text: &str, random: &mut Random) -> (usize, usize) {
    let program = Program::read(text);
    let names: Vec<String> = program.entries().map(str::to_owned).collect();
    let (mut launched, mut succeeded) = (0, 0);
    for name in names.iter().take(4) {
        let levels: Vec<Level> = Level::available().collect();
        let Ok(kernel) = program.kernel_at(name, levels[random.below(levels.len())]) else { continue };
        let mut memory = program.memory();
        let mut args = Vec::new();
        for parameter in kernel.parameters() {
            let is_pointer = parameter.bytes == 8;
            args.push(if is_pointer && random.below(10) != 0 {
                let bytes: Vec<u8> = (0..random.below(600)).map(|i| (i % 7) as u8).collect();
                Arg::Buffer(memory.allocate("buffer", bytes))
            } else {
                Arg::Bytes((0..parameter.bytes).map(|_| [0, 1, 7, 255][random.below(4)]).collect())
            });
        }
        let mut options = LaunchOptions::default();
        options.instructions = 200_000;
        options.cores = Some(1 + random.below(2));
        options.dynamic_shared = [0, 64, 1000][random.below(3)];
        options.stack = [512 * 1024, 4096, 100][random.below(3)];
        options.check_races = random.below(4) == 0;
        options.check_uninitialized = random.below(4) == 0;
        options.check_warp = random.below(4) == 0;
        options.check_heap = random.below(4) == 0;
        options.profile = random.below(4) == 0;
        options.trace =
            (random.below(4) == 0).then_some(ThreadId { block: [0; 3], thread: [random.below(40) as u32, 0, 0] });
        let block = [[1, 1, 1], [32, 1, 1], [33, 2, 1], [3, 5, 4]][random.below(4)];
        launched += 1;
        let result = kernel.launch([1 + random.below(3) as u32, 1, 1], block, &args, &mut memory, &options);
        match result {
            Ok(_) => succeeded += 1,
            Err(errors) => assert!(!errors.to_string().is_empty()),
        }
    }
    (launched, succeeded)
}

#[test]
fn broken_modules_are_refused_or_run() {
    let sources: Vec<(PathBuf, String)> =
        sources().into_iter().map(|path| (path.clone(), std::fs::read_to_string(path).unwrap())).collect();
    let seeds = random::seeds(0..1500);
    let count = (seeds.end - seeds.start) as usize;
    let (mut launched, mut succeeded) = (0, 0);
    let mut longest = (Duration::ZERO, 0);
    for seed in seeds {
        let mut random = Random(seed);
        let (path, source) = &sources[random.below(sources.len())];
        let text = mutate(source, &mut random);
        // What a panic leaves behind.
        let report = Report(seed, path, &text);
        let start = Instant::now();
        let counts = run(&text, &mut random);
        longest = longest.max((start.elapsed(), seed));
        std::mem::forget(report);
        (launched, succeeded) = (launched + counts.0, succeeded + counts.1);
    }
    println!(
        "{launched} launches of {count} modules, {succeeded} ended well; the longest, {}, took {:?}",
        longest.1, longest.0
    );
    // Broken in a way that does not show, often enough.
    assert!(launched * 10 > count && succeeded * 50 > count, "{launched} {succeeded}");
}

/// Says on the way out of a panic what it was about.
struct Report<'a>(u64, &'a Path, &'a str);

impl Drop for Report<'_> {
    fn drop(&mut self) {
        eprintln!("seed {} ({}):\n{}", self.0, self.1.display(), self.2);
    }
}

/// What grows with the square of the text, or with a number in it, would not come back from these.
#[test]
fn large_modules_are_decoded() {
    let module = |declarations: &str, body: &str| {
        format!(
            ".version 8.0 .target sm_75 .address_size 64\n{declarations}\n.entry k() {{\n.reg .b32 %r<20000>; .reg .pred %p; {body}\n}}"
        )
    };
    let lines = |f: &dyn Fn(usize) -> String| (0..10_000).map(f).collect::<String>();
    let inner_first = lines(&|i| format!("@%p bra L{};\n", 9_999 - i));
    let cases = [
        // Loops within one another, and each going back into the one before.
        module("", &(lines(&|i| format!("L{i}:\n")) + &inner_first)),
        module("", &lines(&|i| format!("L{i}:\n@%p bra L{};\n", i.saturating_sub(1)))),
        // Everything lives everywhere.
        module(
            "",
            &(lines(&|i| format!("mov.u32 %r{i}, {i};\n"))
                + &lines(&|i| format!("L{i}:\n"))
                + &lines(&|i| format!("add.u32 %r0, %r0, %r{i};\n"))),
        ),
        module(".global .b8 x[4294967295];", "ret;"),
    ];
    for (i, text) in cases.iter().enumerate() {
        let program = Program::read(text);
        let kernel = program.kernel("k").unwrap_or_else(|errors| panic!("case {i}: {errors}"));
        let mut memory = program.memory();
        kernel.launch([1; 3], [33, 1, 1], &[], &mut memory, &LaunchOptions::default()).unwrap();
    }
}
