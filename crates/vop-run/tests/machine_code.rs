//! Runs of steps as machine code compute what their loops do: every template on its own, random runs that need more registers than there
//! are, and runs that some threads of a block execute.

#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]
#![allow(clippy::print_stderr, reason = "a test says why it does nothing")]
#![allow(clippy::needless_range_loop, reason = "kernels are made by the number of a row of a table")]

#[path = "machine_code/loops.rs"]
mod loops;
#[path = "random/mod.rs"]
mod random;

use std::fmt::Write;

use random::Random;
use random::export::Case;
use vop_run::{Arg, LaunchOptions, Level, MachineCode, Program, internals};

/// Threads of the blocks: whole warps, which take no mask, and half a warp less.
const SHAPES: [u32; 2] = [96, 80];
/// Threads of the largest.
const BLOCK: u32 = SHAPES[0];
const BLOCKS: u32 = 5;
const THREADS: usize = (BLOCK * BLOCKS) as usize;
/// Doubles that a thread reads, and those behind them, for loads from anywhere.
const INPUTS: usize = 6;
const BEHIND: usize = 2000;
/// Bytes of them all.
const INPUT: usize = (THREADS * INPUTS + BEHIND) * 8;

/// What has a template: an opcode, and the types of its result and its sources by a letter: a word, a double, a predicate, and constants of a
/// distance, of a table and of selectors.
const INSTRUCTIONS: &str = "
    mov.b32 ww|mov.f32 ww|mov.b64 dd|mov.pred pp|add.u32 www|sub.s32 www|mul.lo.u32 www|mad.lo.s32 wwww|and.b32 www|or.b32 www
    xor.b32 www|not.b32 ww|shl.b32 www|shl.b32 wwc|shr.u32 www|shr.u32 wwc|shr.s32 www|shr.s32 wwc|min.u32 www|max.u32 www|min.s32 www
    max.s32 www|neg.s32 ww|lop3.b32 wwwwt|shf.l.wrap.b32 wwwc|shf.r.wrap.b32 wwwc|add.u64 ddd|sub.s64 ddd|mul.lo.u64 ddd|mad.lo.s64 dddd
    and.b64 ddd|or.b64 ddd|xor.b64 ddd|not.b64 dd|shl.b64 ddc|shr.u64 ddc|mul.wide.u32 dww|mul.wide.s32 dww|mad.wide.u32 dwwd
    mad.wide.s32 dwwd|cvt.u64.u32 dw|cvt.s64.s32 dw|cvt.u64.s32 dw|cvt.u32.u64 wd|cvt.s32.s64 wd|add.f32 www|sub.rn.f32 www|mul.f32 www
    fma.rn.f32 wwww|neg.f32 ww|abs.f32 ww|min.f32 www|max.f32 www|rsqrt.approx.f32 ww|cvt.rn.f32.s32 ww|cvt.rn.f32.u32 ww|add.f64 ddd
    sub.f64 ddd|mul.rn.f64 ddd|fma.rn.f64 dddd|neg.f64 dd|selp.b32 wwwp|selp.f32 wwwp|selp.b64 dddp|selp.f64 dddp|and.pred ppp|or.pred ppp
    xor.pred ppp|not.pred pp|shf.l.wrap.b32 wwww|shf.r.wrap.b32 wwww|abs.s32 ww|mul.hi.u32 www|mul.hi.s32 www|prmt.b32 wwws|bfe.u32 wwcc|bfe.s32 wwcc|bfi.b32 wwwcc|vabsdiff4.u32.u32.u32 wvvv|vabsdiff4.u32.u32.u32.add wvvv";

/// Video instructions of lanes that CPUs have, by the mnemonic and the types.
const VIDEO: &str = "vadd4.u32.u32.u32 vadd4.s32.s32.s32 vadd4.u32.u32.u32.sat vadd4.s32.s32.s32.sat vsub4.u32.u32.u32 vsub4.s32.s32.s32
    vsub4.u32.u32.u32.sat vsub4.s32.s32.s32.sat vavrg4.u32.u32.u32 vmin4.u32.u32.u32 vmax4.u32.u32.u32 vadd2.u32.u32.u32
    vadd2.s32.s32.s32 vadd2.u32.u32.u32.sat vadd2.s32.s32.s32.sat vsub2.u32.u32.u32 vsub2.s32.s32.s32 vsub2.u32.u32.u32.sat
    vsub2.s32.s32.s32.sat vavrg2.u32.u32.u32 vmin2.s32.s32.s32 vmax2.s32.s32.s32 vmin4.s32.s32.s32 vmax4.s32.s32.s32
    vmin2.u32.u32.u32 vmax2.u32.u32.u32 vabsdiff4.u32.s32.s32 vabsdiff4.s32.s32.s32 vabsdiff2.u32.u32.u32 vabsdiff2.u32.s32.s32
    vabsdiff2.s32.s32.s32 vmad.u32.u32.u32 vmad.s32.s32.u32";

/// Scalar video instructions on words; each also with a sum, and those that take the least or the greatest with that of three.
const SCALARS: &str = "vadd.u32.u32.u32 vadd.s32.u32.s32 vsub.s32.s32.s32 vmin.u32.u32.u32 vmin.s32.s32.s32 vmax.u32.u32.u32 vmax.s32.s32.s32
    vmax.u32.s32.s32 vmin.s32.u32.u32 vabsdiff.u32.u32.u32 vabsdiff.u32.s32.s32 vabsdiff.s32.s32.s32 vshl.u32.u32.u32.clamp vshl.s32.s32.u32.wrap vshr.u32.u32.u32.clamp
    vshr.s32.s32.u32.clamp vshr.s32.s32.u32.wrap vshr.u32.u32.u32.wrap";

fn instructions() -> Vec<(String, String)> {
    let mut all: Vec<(String, String)> = INSTRUCTIONS
        .split(['|', '\n'])
        .filter_map(|text| text.trim().split_once(' '))
        .map(|(opcode, kinds)| (opcode.to_owned(), kinds.to_owned()))
        .collect();
    all.extend(VIDEO.split_whitespace().map(|opcode| (opcode.to_owned(), "wvvv".to_owned())));
    for opcode in SCALARS.split_whitespace() {
        all.push((opcode.to_owned(), "www".to_owned()));
        let of_three = matches!(opcode.split_at(4), ("vmin" | "vmax", ".u32.u32.u32" | ".s32.s32.s32"));
        let second = if of_three { vec!["add", "min", "max"] } else { vec!["add"] };
        all.extend(second.into_iter().map(|second| (format!("{opcode}.{second}"), "wwww".to_owned())));
    }
    for (types, letter, operators) in [
        ("b32 u32 s32", 'w', "eq ne"),
        ("u32 s32", 'w', "lt le gt ge"),
        ("u64 s64", 'd', "eq ne lt le gt ge"),
        ("f32", 'w', "eq ne lt le gt ge equ neu ltu leu gtu geu num nan"),
        ("f64", 'd', "eq ne lt le gt ge equ neu ltu leu gtu geu num nan"),
    ] {
        for ty in types.split(' ') {
            let of = |operator| (format!("setp.{operator}.{ty}"), format!("p{letter}{letter}"));
            all.extend(operators.split(' ').map(of));
        }
    }
    all
}

/// Registers of each kind that a kernel has.
const REGISTERS: usize = 40;
/// Bytes of the results, and of what is behind them for stores to anywhere.
const RESULTS: usize = THREADS * REGISTERS * 16;
const OUT: usize = RESULTS + 40_000;

/// A random operand of a kind.
fn operand(kind: char, random: &mut Random) -> String {
    match kind {
        // Immediates take other places than registers.
        'w' if random.percent(8) => format!("{:#x}", random.next() as u32),
        'd' if random.percent(8) => format!("{:#x}", random.next()),
        'c' => format!("{}", random.below(70)),
        't' => format!("{:#x}", random.below(256)),
        's' => format!("{:#x}", random.below(1 << 16) & 0x7777),
        'w' | 'v' => format!("%w{}", random.below(REGISTERS)),
        'd' => format!("%d{}", random.below(REGISTERS)),
        _ => format!("%p{}", random.below(REGISTERS)),
    }
}

fn instruction((opcode, kinds): &(String, String), random: &mut Random) -> String {
    let mut kinds = kinds.chars();
    let result = format!("%{}{}", kinds.next().unwrap(), random.below(REGISTERS));
    let operands: Vec<String> = kinds
        .map(|kind| {
            let text = operand(kind, random);
            match (opcode.rsplit('.').next().unwrap(), text.strip_prefix("0x")) {
                // Floats are written as bits.
                ("f32", Some(bits)) if kind == 'w' => format!("0f{bits:0>8}"),
                ("f64", Some(bits)) if kind == 'd' => format!("0d{bits:0>16}"),
                _ => text,
            }
        })
        .collect();
    format!("{opcode} {result}, {};", operands.join(", "))
}

/// Whether a text names a register.
fn names(text: &str, register: &str) -> bool {
    let ends = |(at, _): (usize, &str)| !text[at + register.len()..].starts_with(|c: char| c.is_ascii_digit());
    text.match_indices(register).any(ends)
}

/// A kernel that fills its registers from its thread's input, runs a body, and stores them: those that the body names, as the others would be
/// copies of the input whatever the body is. Translating them for each kernel would take most of the time. Random runs and loops name nearly all.
fn kernel(body: &str) -> String {
    let mut text = format!(
        ".version 8.0\n.target sm_80\n.address_size 64\n.entry k(.param .u64 in, .param .u64 out) {{\n
         .reg .b32 %w<{REGISTERS}>, %t<4>; .reg .b64 %d<{REGISTERS}>, %a<4>; .reg .pred %p<{REGISTERS}>, %part;\n
         mov.u32 %t0, %ctaid.x; mov.u32 %t1, %ntid.x; mov.u32 %t2, %tid.x; mad.lo.s32 %t0, %t0, %t1, %t2;\n
         ld.param.u64 %a0, [in]; mul.wide.u32 %a1, %t0, {}; add.s64 %a0, %a0, %a1;\n",
        INPUTS * 8
    );
    let named = |kind: char| -> Vec<usize> {
        (0..REGISTERS).filter(|register| names(body, &format!("%{kind}{register}"))).collect()
    };
    let [words, doubles, predicates] = ['w', 'd', 'p'].map(named);
    for register in 0..REGISTERS {
        let (double, half) = (register % INPUTS, register % 2);
        // The predicate is of the word.
        if words.contains(&register) || predicates.contains(&register) {
            writeln!(text, "ld.global.u32 %w{register}, [%a0+{}];", double * 8 + half * 4).unwrap();
        }
        if doubles.contains(&register) {
            writeln!(text, "ld.global.u64 %d{register}, [%a0+{}];", double * 8).unwrap();
        }
        if predicates.contains(&register) {
            let limit = 0x1000_0000u32.wrapping_mul(register as u32);
            writeln!(text, "setp.lt.u32 %p{register}, %w{register}, {limit:#x};").unwrap();
        }
    }
    text += body;
    let each = REGISTERS * 16;
    writeln!(text, "ld.param.u64 %a0, [out]; mul.wide.u32 %a1, %t0, {each}; add.s64 %a0, %a0, %a1;").unwrap();
    for register in 0..REGISTERS {
        if doubles.contains(&register) {
            writeln!(text, "st.global.u64 [%a0+{}], %d{register};", register * 16).unwrap();
        }
        if words.contains(&register) {
            writeln!(text, "st.global.u32 [%a0+{}], %w{register};", register * 16 + 8).unwrap();
        }
        if predicates.contains(&register) {
            writeln!(text, "selp.u32 %w{register}, 1, 0, %p{register};").unwrap();
            writeln!(text, "st.global.u32 [%a0+{}], %w{register};", register * 16 + 12).unwrap();
        }
    }
    text + "ret;\n}\n"
}

/// Numbers at which instructions change what they do, and others.
fn input(random: &mut Random) -> Vec<u8> {
    const WORDS: [u32; 24] = [
        0,
        1,
        2,
        31,
        32,
        33,
        63,
        64,
        255,
        0xffff,
        0x8000,
        0x7fff_ffff,
        0x8000_0000,
        0x8000_0001,
        u32::MAX,
        0x3f80_0000,
        0xbf80_0000,
        0x7f80_0000,
        0xff80_0000,
        0x7fc0_0001,
        0xffc1_2345,
        0x7f80_0001,
        0x0000_0001,
        0x0080_0000,
    ];
    const DOUBLES: [u64; 14] = [
        0,
        1,
        1 << 31,
        1 << 32,
        u64::MAX,
        1 << 63,
        0x3ff0_0000_0000_0000,
        0x7ff0_0000_0000_0000,
        0xfff0_0000_0000_0000,
        0x7ff8_0000_0000_0001,
        0xfff8_0000_0000_0002,
        0x7ff0_0000_0000_0003,
        0xfff4_0000_0000_0004,
        0x8000_0000_0000_0000,
    ];
    let mut bytes = Vec::new();
    for _ in 0..THREADS * INPUTS + BEHIND {
        let double = match random.below(4) {
            0 => random.pick(&DOUBLES),
            1 => u64::from(random.pick(&WORDS)) << 32 | u64::from(random.pick(&WORDS)),
            // A float near one.
            2 => {
                u64::from(0x3f00_0000 | random.next() as u32 >> 7) << 32
                    | u64::from(0x3e80_0000 | random.next() as u32 >> 7)
            }
            _ => random.next(),
        };
        bytes.extend(double.to_le_bytes());
    }
    bytes
}

/// What a kernel stores, how many instructions it counts, and how many steps and loops are machine code.
fn run(
    text: &str,
    program: &Program,
    input: &[u8],
    machine_code: MachineCode,
    level: Level,
    block: u32,
) -> (Vec<u8>, u64, [usize; 2]) {
    let kernel = program.kernel_at("k", level).unwrap_or_else(|errors| panic!("{errors}\n{text}"));
    let mut memory = program.memory();
    let input = memory.allocate("in", input);
    let out = memory.allocate("out", vec![0; OUT]);
    // Blocks may write to the same places.
    let options = LaunchOptions::default().with_machine_code(machine_code).with_cores(1);
    let args: [Arg; 2] = [input.into(), out.into()];
    let report = kernel.launch([BLOCKS, 1, 1], [block, 1, 1], &args, &mut memory, &options).unwrap();
    (memory.bytes(out).to_vec(), report.instructions, [internals::runs(&kernel).1, internals::loops(&kernel)])
}

/// The levels that have templates.
const TRANSLATED: [Level; 2] = [Level::Avx2, Level::Avx512];

/// Those that this machine executes.
fn levels() -> Vec<Level> {
    Level::available().filter(|level| TRANSLATED.contains(level)).collect()
}

/// These, with each shape of blocks.
fn ways() -> Vec<(Level, u32)> {
    levels().into_iter().flat_map(|level| SHAPES.map(|block| (level, block))).collect()
}

/// As [`ways`], for one kernel of many that are alike: each level with one of the shapes in turn, unless `VOP_FULL` is set.
fn ways_of(turn: usize) -> Vec<(Level, u32)> {
    if std::env::var_os("VOP_FULL").is_some() {
        return ways();
    }
    let of = |(i, level)| (level, SHAPES[(turn + i) % SHAPES.len()]);
    levels().into_iter().enumerate().map(of).collect()
}

/// Steps one by one and machine code in all ways: the number of steps in runs, at the level that has the fewest.
fn compare(name: &str, text: &str, random: &mut Random) -> usize {
    compare_in(&ways(), name, text, random)[0]
}

/// As [`compare`], in some ways: the numbers of steps in runs, and of loops that are functions.
fn compare_in(ways: &[(Level, u32)], name: &str, text: &str, random: &mut Random) -> [usize; 2] {
    let input = input(random);
    let program = Program::read(text);
    let mut translated = [usize::MAX; 2];
    for (number, &(level, block)) in ways.iter().enumerate() {
        let (expected, counted, none) = run(text, &program, &input, MachineCode::Never, level, block);
        assert_eq!(none, [0, 0]);
        // Blocks that write to the same places do so in any order on a GPU.
        if number == 0 && !name.starts_with("st-") {
            Case {
                name: name.replace(['.', ' ', '%', ';', ','], "_"),
                ptx: text,
                grid: [BLOCKS, 1, 1],
                block: [block, 1, 1],
                buffers: vec![(&input, &input), (&vec![0; OUT], &expected)],
                words: vec![],
            }
            .export();
        }
        let (found, counted_too, some) = run(text, &program, &input, MachineCode::Always, level, block);
        if let Some(at) = (0..found.len()).find(|at| found[*at] != expected[*at]) {
            assert!(
                at < RESULTS,
                "{level:?}, {block} threads: byte {} behind the results differs\n{text}",
                at - RESULTS
            );
            let (thread, at) = (at / (REGISTERS * 16), at % (REGISTERS * 16));
            let what = ["the double", "the double", "the word", "the predicate"][at % 16 / 4];
            panic!("{level:?}, {block} threads: thread {thread}: {what} {} differs\n{text}", at / 16);
        }
        assert_eq!(counted, counted_too, "instructions that count\n{text}");
        translated = std::array::from_fn(|i| translated[i].min(some[i]));
    }
    translated
}

/// Whether this machine translates anything.
fn translates() -> bool {
    let serves = cfg!(all(unix, target_arch = "x86_64")) && !levels().is_empty();
    if !serves {
        eprintln!("skipped: there is no machine code for this CPU");
    }
    serves
}

#[test]
fn every_template_computes_what_its_loop_does() {
    if !translates() {
        return;
    }
    let random = &mut Random(1);
    for (turn, form) in instructions().into_iter().enumerate() {
        // Several of it, so that operands are read from columns and from registers.
        let body: Vec<String> = (0..24).map(|_| instruction(&form, random)).collect();
        let [steps, _] = compare_in(&ways_of(turn), &form.0, &kernel(&body.join("\n")), random);
        assert!(steps >= 24, "{} has no template: {steps}", form.0);
    }
}

#[test]
fn comparisons_of_short_words_do() {
    if !translates() {
        return;
    }
    let random = &mut Random(2);
    for operator in ["eq", "ne", "lt", "le", "gt", "ge"] {
        for ty in ["u16", "s16"] {
            let mut body = String::from(".reg .b16 %s<8>;\n");
            (0..8).for_each(|i| writeln!(body, "cvt.u16.u32 %s{i}, %w{};", 3 * i + 1).unwrap());
            (0..30).for_each(|i| {
                let operand = |random: &mut Random| format!("%s{}", random.below(8));
                let other = if i % 3 == 0 { format!("{}", random.below(300) as i32 - 150) } else { operand(random) };
                writeln!(body, "setp.{operator}.{ty} %p{i}, {}, {other};", operand(random)).unwrap();
            });
            assert!(compare(&format!("setp.{operator}.{ty}"), &kernel(&body), random) >= 38);
        }
    }
}

#[test]
fn all_tables_do() {
    if !translates() {
        return;
    }
    let random = &mut Random(6);
    for tables in (0..256).collect::<Vec<u32>>().chunks(30) {
        let mut body = String::new();
        for (register, table) in (10..).zip(tables) {
            let [a, b, c] = [0; 3].map(|_: u32| random.below(10));
            writeln!(body, "lop3.b32 %w{register}, %w{a}, %w{b}, %w{c}, {table};").unwrap();
        }
        let name = format!("tables from {} on", tables[0]);
        assert!(compare(&name, &kernel(&body), random) >= tables.len());
    }
}

#[test]
fn random_runs_do() {
    if !translates() {
        return;
    }
    let all = instructions();
    let mut steps = 0;
    for seed in random::seeds(0..40) {
        let random = &mut Random(seed);
        let mut body = String::new();
        for part in 0..3 {
            // Some threads only, in every other one.
            if part % 2 == 1 {
                writeln!(
                    body,
                    "and.b32 %t3, %t0, {}; setp.eq.u32 %part, %t3, 0; @%part bra L{part};",
                    1 + random.below(70)
                )
                .unwrap();
            }
            for _ in 0..random.below(120) {
                let form = &all[random.below(all.len())];
                writeln!(body, "{}", instruction(form, random)).unwrap();
            }
            writeln!(body, "L{part}:").unwrap();
        }
        steps += compare(&format!("run-{seed}"), &kernel(&body), random);
    }
    assert!(steps > 1000, "{steps}");
}

/// A type in memory, how many elements, and the registers of the result.
const LOADS: [(&str, u32, char); 13] = [
    ("u8", 1, 'w'),
    ("s8", 1, 'w'),
    ("u16", 2, 'w'),
    ("s16", 2, 'w'),
    ("u32", 4, 'w'),
    ("f32", 4, 'w'),
    ("u64", 8, 'd'),
    ("f64", 8, 'd'),
    ("v2.u32", 8, 'w'),
    ("v4.u32", 16, 'w'),
    ("v2.u64", 16, 'd'),
    ("u8", 1, 'd'),
    ("s32", 4, 'd'),
];

/// `shfl` of whole warps is the same at all levels and lane by lane, of constants and of what differs between warps and between lanes.
#[test]
fn shuffles_of_all_levels_do_the_same() {
    let random = &mut Random(11);
    let input = input(random);
    let lanes = ["3", "%t3", "%w2", "17", "%u0", "%u1"];
    // Some operands are registers that all threads share.
    let mut body = String::from(
        "shr.u32 %t3, %t2, 5; add.u32 %t3, %t3, 2;\n.reg .b32 %u<5>; mov.u32 %u0, 8; mov.u32 %u1, 1; mov.u32 %u2, -1;\n",
    );
    for (i, kind) in ["up", "down", "bfly", "idx"].into_iter().enumerate() {
        let clamp = if kind == "up" { 0 } else { 31 };
        for (k, lane) in lanes.into_iter().enumerate() {
            let (d, a) = (4 * i + k % 4 + 6, (4 * i + k) % 6);
            for segment in [clamp, clamp | 0x1800] {
                let members = if k % 2 == 0 { "%u2" } else { "-1" };
                let segment = if k == 4 { format!("%s{i}_{segment}") } else { segment.to_string() };
                if let Some(clamp) = segment.strip_prefix('%').and_then(|name| name.split_once('_')) {
                    writeln!(body, ".reg .b32 {segment}; mov.u32 {segment}, {};", clamp.1).unwrap();
                }
                writeln!(
                    body,
                    "shfl.sync.{kind}.b32 %w{d}|%p{d}, %w{a}, {lane}, {segment}, {members}; @!%p{d} add.u32 %w{d}, %w{d}, 1;"
                )
                .unwrap();
                writeln!(body, "xor.b32 %w30, %w30, %w{d};").unwrap();
            }
        }
    }
    let text = kernel(&body);
    let program = Program::read(&text);
    for block in SHAPES {
        let all = Level::available().map(|level| (level, program.kernel_at("k", level).unwrap()));
        let mut results = Vec::new();
        for (level, kernel) in all {
            // The check of what warps do takes another way.
            for checks in [true, false] {
                let mut memory = program.memory();
                let input = memory.allocate("in", &input);
                let out = memory.allocate("out", vec![0; OUT]);
                let mut options = LaunchOptions::default().with_machine_code(MachineCode::Never);
                options.check_warp = checks;
                let args: [Arg; 2] = [input.into(), out.into()];
                kernel.launch([BLOCKS, 1, 1], [block, 1, 1], &args, &mut memory, &options).unwrap();
                results.push((level, checks, memory.bytes(out).to_vec()));
            }
        }
        for (level, checks, bytes) in &results {
            assert!(*bytes == results[0].2, "{level:?}, {block} threads, checks: {checks}");
        }
    }
}

/// How threads find an element: samples tell the first ones, the others are computed.
const INDEXES: [&str; 9] = [
    // Rows, the same, every third, backwards: of all blocks, and of this one.
    "mov.u32 %t1, %t2;",
    "mov.u32 %t1, %ctaid.x;",
    "mul.lo.u32 %t1, %t2, 3;",
    "sub.u32 %t1, 100, %t2;",
    // From a register that is written twice.
    "mov.u32 %t1, %t0; add.u32 %t1, %t1, 5;",
    "mov.u32 %t1, 7; and.b32 %t1, %t1, 6;",
    "mov.u32 %t1, %t0; mul.lo.u32 %t1, %t1, 5;",
    "mov.u32 %t1, %w3; and.b32 %t1, %t1, 1023;",
    // Rows with a step in the middle.
    "setp.lt.u32 %part, %t2, 24; selp.u32 %t1, 500, 3, %part; add.u32 %t1, %t1, %t2;",
];

/// Which threads reach memory.
const CONDITIONS: [&str; 3] =
    ["", "and.b32 %t1, %w2, 1; setp.eq.u32 %part, %t1, 0; @%part bra L;", "setp.gt.u32 %part, %t2, 37; @%part bra L;"];

/// The registers that an access takes or gives.
fn registers(ty: &str, kind: char) -> &'static str {
    match (ty.split_once('.').map_or("v1", |(vector, _)| vector), kind) {
        ("v2", 'w') => "{%w5, %w6}",
        ("v4", 'w') => "{%w5, %w6, %w7, %w8}",
        ("v2", _) => "{%d5, %d6}",
        (_, 'w') => "%w5",
        _ => "%d5",
    }
}

/// How an address `%a3` is made of the one of all threads `%a2` and an element's number `%t1`: in ways that the code knows as an index, and as
/// something else.
fn address(way: usize, bytes: u32) -> String {
    match way % 4 {
        0 => format!("mul.wide.u32 %a3, %t1, {bytes}; add.s64 %a3, %a2, %a3"),
        1 => format!("mul.wide.s32 %a3, %t1, {bytes}; add.s64 %a3, %a3, %a2"),
        2 => format!("mad.wide.u32 %a3, %t1, {bytes}, %a2"),
        _ => {
            format!("mul.wide.u32 %a3, %t1, {bytes}; sub.s64 %a3, %a3, -9; add.s64 %a3, %a2, %a3; sub.s64 %a3, %a3, 9")
        }
    }
}

/// A kernel that loads in one way, from global and from shared memory, some threads only if there is a condition.
fn loads(load: usize, index: &str, condition: &str, beyond: u32) -> String {
    let (ty, bytes, kind) = LOADS[load];
    let d = registers(ty, kind);
    // Results of narrow types go to 16 bits as well.
    let body = format!(
        ".reg .b16 %h; .shared .align 16 .b8 s[{}];\n
         mov.u32 %t3, s; mad.lo.u32 %t3, %t2, 16, %t3; st.shared.v4.u32 [%t3], {{%w1, %w2, %w3, %w4}}; bar.sync 0;\n
         ld.param.u64 %a2, [in];\n{condition}\n{index}\n
         {}; add.u32 %w9, %w9, 1;\n
         ld.global.{ty} {d}, [%a3+{}]; add.u32 %w10, %w5, %w9; add.u64 %d10, %d5, 1;\n
         and.b32 %t1, %t1, 31; mul.lo.u32 %t1, %t1, {bytes}; mov.u32 %t3, s; add.u32 %t3, %t3, %t1; add.u32 %w11, %w9, %w10;\n
         ld.shared.{ty} {d}, [%t3+{}]; add.u32 %w12, %w5, %w11; add.u64 %d12, %d5, 1; xor.b32 %w13, %w12, %w6;\n
         ld.shared.{ty} {d}, [s+16]; add.u32 %w14, %w5, %w11; add.u64 %d14, %d5, 1;\nL:\n",
        BLOCK * 16,
        address(load, bytes),
        bytes * 16 + beyond,
        bytes * 32,
    );
    kernel(&body)
}

#[test]
fn loads_read_what_their_loops_do() {
    if !translates() {
        return;
    }
    let random = &mut Random(3);
    for load in 0..LOADS.len() {
        for (i, index) in INDEXES.iter().enumerate() {
            let name = format!("ld-{load}-{i}");
            let text = loads(load, index, CONDITIONS[(load + i) % 3], 0);
            let [steps, _] = compare_in(&ways_of(load + i), &name, &text, random);
            assert!(steps >= 12, "{} {index}: {steps}", LOADS[load].0);
        }
    }
}

/// A kernel that loads several times from addresses that differ by constants, in one run, from global and from shared memory. Of some loads the
/// highest are `beyond` their memory in the last block, where the lowest are not: of none, of global memory, of shared memory by a register,
/// or by a constant. The blocks before find out where the runs reach.
fn groups(load: usize, index: &str, condition: &str, beyond: u32) -> String {
    let (ty, bytes, kind) = LOADS[load];
    let shared = BLOCK * 16;
    let of_global = if beyond == 1 { INPUT as u32 / bytes - 64 } else { 0 };
    let of_shared = if beyond == 2 { shared - 24 * bytes } else { 0 };
    let fixed = if beyond == 3 { shared - 16 } else { 16 };
    let mut body = format!(
        ".reg .b32 %last; .reg .pred %not; .shared .align 16 .b8 s[{shared}];\n
         mov.u32 %t3, s; mad.lo.u32 %t3, %t2, 16, %t3; st.shared.v4.u32 [%t3], {{%w1, %w2, %w3, %w4}}; bar.sync 0;\n
         ld.param.u64 %a2, [in];\n{condition}\n{index}\n
         mov.u32 %last, %ctaid.x; shr.u32 %last, %last, 2; mad.lo.u32 %t1, %last, {of_global}, %t1;\n
         {};\n",
        address(load + index.len(), bytes)
    );
    // The first is neither the lowest nor the highest, and the results are in use up to the end.
    let results = |k: usize| {
        let of = |i: usize| format!("%{kind}{}", 4 * k + i);
        match ty.split('.').next() {
            Some("v4") => format!("{{{}, {}, {}, {}}}", of(0), of(1), of(2), of(3)),
            Some("v2") => format!("{{{}, {}}}", of(0), of(1)),
            _ => of(0),
        }
    };
    for (k, at) in [20u32, 16, 23, 17, 40].into_iter().enumerate() {
        writeln!(body, "ld.global.{ty} {}, [%a3+{}]; add.u32 %w30, %w30, %w{};", results(k), at * bytes, 4 * k)
            .unwrap();
    }
    writeln!(body, "and.b32 %t1, %t1, 15; mul.lo.u32 %t1, %t1, {bytes}; mov.u32 %t3, s; add.u32 %t3, %t3, %t1;")
        .unwrap();
    writeln!(body, "mad.lo.u32 %t3, %last, {of_shared}, %t3;").unwrap();
    for (k, at) in [9u32, 6, 15].into_iter().enumerate() {
        let (to, of) = (results(5 + k), 4 * (5 + k));
        writeln!(body, "ld.shared.{ty} {to}, [%t3+{}]; xor.b32 %w31, %w31, %w{of};", at * bytes).unwrap();
    }
    let [first, second] = [results(8), results(9)];
    writeln!(body, "setp.eq.u32 %not, %last, 0; @%not bra L; add.u32 %w30, %w30, %w31;").unwrap();
    writeln!(body, "ld.shared.{ty} {first}, [s+{fixed}]; ld.shared.{ty} {second}, [s+{}];\nL:", fixed + 16).unwrap();
    kernel(&body)
}

#[test]
fn loads_that_differ_by_constants_read_what_their_loops_do() {
    if !translates() {
        return;
    }
    let random = &mut Random(8);
    for load in 0..LOADS.len() {
        for (i, index) in INDEXES.iter().enumerate().filter(|(i, _)| (load + i) % 3 == 0) {
            let text = groups(load, index, CONDITIONS[i % 3], 0);
            assert!(compare(&format!("group-{load}-{i}"), &text, random) >= 12, "{text}");
        }
    }
}

/// Indexes that are negative or wrap: what follows in a row as words does not as addresses.
#[test]
fn indexes_that_wrap_are_those_of_the_loops() {
    if !translates() {
        return;
    }
    let random = &mut Random(10);
    let input = input(random);
    let mut kinds = [0; 2];
    let large = 1u32 << 30;
    for (wide, base, before, last, by) in [
        // Within a row the words wrap.
        ("u32", 1200 - 4 * 0xffff_fff9, 0xffff_fff9 - 200, 0xffff_fff9, 1),
        ("s32", 1200 - 4 * 0x7fff_fff9, 0x7fff_fff9 - 200, 0x7fff_fff9, 1),
        // They do not.
        ("s32", 4000, (-300i32).cast_unsigned(), (-7i32).cast_unsigned(), 1),
        ("s32", 4000, (-300i32).cast_unsigned(), (-7i32).cast_unsigned(), 3),
        // What is far from the start of the allocation by 4 GiB: the address of all threads, and the bytes of a word.
        ("u32", -1 << 32, large, 0, 3),
        ("u32", 0i64, 0, large, 3),
        ("s32", 0, 0, large, 3),
    ] {
        for condition in CONDITIONS {
            // The code does not know that a word is 0. The last block goes where the others do not.
            let text = kernel(&format!(
                ".shared .b32 s; .reg .b64 %u<2>; ld.param.u64 %u0, [in]; add.s64 %u1, %u0, {base}; and.b32 %t3, %w3, 0; {condition}\n
                 mov.u32 %t1, %ctaid.x; setp.lt.u32 %part, %t1, {}; selp.u32 %t1, {before}, {last}, %part;\n
                 mad.lo.u32 %t1, %t2, {by}, %t1; add.u32 %t1, %t1, %t3;\n
                 mul.wide.{wide} %a3, %t1, 4; add.s64 %a3, %a3, %u1; add.u32 %w10, %w5, %w9;\n
                 ld.global.u32 %w5, [%a3]; ld.global.u32 %w6, [%a3+8]; add.u32 %w7, %w6, %w5;\nL:\n",
                BLOCKS - 1
            ));
            for (level, block) in ways() {
                let both = [MachineCode::Never, MachineCode::Always];
                let [never, always] = both.map(|way| outcome(&text, &input, way, level, block));
                let same = always == never;
                assert!(same, "{level:?}, {block} threads, {:?}, {:?}\n{text}", always.err(), never.err());
                kinds[usize::from(never.is_ok())] += 1;
            }
        }
    }
    assert!(kinds.iter().all(|count| *count > 20), "{kinds:?}");
}

/// A kernel that writes to shared memory which it has read before, at places that other threads have read as well, by several stores with
/// computations between them.
fn phases(load: usize, index: &str, condition: &str, beyond: u32) -> String {
    let (ty, bytes, kind) = LOADS[load];
    let d = registers(ty, kind);
    // What only the stores read.
    let words = "mov.u32 %w5, 1; mov.u32 %w6, 2; mov.u32 %w7, 3; mov.u32 %w8, 4; mov.b64 %d5, 5; mov.b64 %d6, 6;";
    let moves = format!("mov.u32 %w25, %t3; add.u32 %t3, %t3, {bytes}; mov.u32 %w26, %t3;");
    // Or what ends the run, as a store has read it.
    let (moves, changes, after) = match load % 2 {
        0 => ("", "", words),
        _ => (&*moves, "add.u32 %w5, %w5, %w27; add.u64 %d5, %d5, 9;", ""),
    };
    let body = format!(
        ".shared .align 16 .b8 s[{}];\n
         mov.u32 %t3, s; mad.lo.u32 %t3, %t2, 16, %t3; st.shared.v4.u32 [%t3], {{%w1, %w2, %w3, %w4}}; bar.sync 0;\n
         {condition}\n{index}\n
         and.b32 %t1, %t1, 31; mul.lo.u32 %t1, %t1, {bytes}; mov.u32 %t3, s; add.u32 %t3, %t3, %t1; add.u32 %w11, %w9, %w10;\n
         ld.shared.{ty} {d}, [%t3+{}]; add.u32 %w12, %w5, %w11; add.u64 %d12, %d5, 1;\n
         add.f32 %w20, %w5, %w6; add.u64 %d5, %d5, %d12; add.u32 %w5, %w5, 7;\n
         st.shared.{ty} [%t3+{}], {d}; add.f32 %w22, %w20, %w7; sub.u32 %w23, %w22, %w5; xor.b64 %d23, %d12, %d6;\n
         st.shared.{ty} [%t3+{}], {d}; add.u32 %w24, %w23, %w22; {moves}\n
         st.shared.{ty} [%t3], {d}; add.u32 %w27, %w24, 1; {changes}\n
         st.shared.{ty} [s+16], {d}; add.u32 %w14, %w12, %w11;\nL: {after}\n
         bar.sync 0; mov.u32 %t3, s; mad.lo.u32 %t3, %t2, 16, %t3; ld.shared.v4.u32 {{%w1, %w2, %w3, %w4}}, [%t3];\n",
        BLOCK * 16,
        bytes * 20,
        bytes * 20,
        bytes * 24 + beyond,
    );
    kernel(&body)
}

#[test]
fn stores_behind_loads_of_shared_memory_write_what_their_loops_do() {
    if !translates() {
        return;
    }
    let random = &mut Random(9);
    for load in 0..LOADS.len() {
        for (i, index) in INDEXES.iter().enumerate().filter(|(i, _)| (load + i) % 3 == 0) {
            let text = phases(load, index, CONDITIONS[i % 3], 0);
            assert!(compare(&format!("phase-{load}-{i}"), &text, random) >= 16, "{text}");
        }
    }
}

/// Elements of shared memory by the thread's place alone, `%k0`, which the code knows: pieces of rows of 1, 2, 4 and 8, in reverse order of
/// bits, as a table with rows and columns changed, threads at one place in several orders, all at one, another for each turn, by the lane.
/// The last ones it does not know: where threads part, the register may be what it was.
const PLACES: [&str; 14] = [
    "mov.u32 %k0, %t2;",
    "shl.b32 %k0, %t2, 1;",
    "shl.b32 %k1, %t2, 1; and.b32 %k2, %t2, 1; sub.u32 %k0, %k1, %k2;",
    "shl.b32 %k1, %t2, 1; and.b32 %k2, %t2, 3; sub.u32 %k0, %k1, %k2;",
    "shl.b32 %k1, %t2, 1; and.b32 %k2, %t2, 7; sub.u32 %k0, %k1, %k2;",
    "brev.b32 %k1, %t2; shr.u32 %k2, %k1, 25; add.u32 %k0, %k2, 2;",
    "and.b32 %k1, %t2, 7; shr.u32 %k2, %t2, 3; mad.lo.u32 %k0, %k1, 12, %k2;",
    "shr.u32 %k0, %t2, 1;",
    "and.b32 %k0, %t2, 0;",
    "mul.lo.u32 %k1, %t2, %t2; and.b32 %k0, %k1, 63;",
    "mov.u32 %k1, %laneid; mov.u32 %k2, %warpid; mad.lo.u32 %k0, %k2, 32, %k1;",
    "and.b32 %k1, %t2, 7; xor.b32 %k2, %k1, 7; min.u32 %k8, %k1, %k2; sub.u32 %k9, %t2, %k1; add.u32 %k0, %k8, %k9;",
    "setp.gt.u32 %part, %t2, 20; @%part bra M; add.u32 %k0, %t2, 3;\nM:",
    "mov.u32 %k0, %t2; setp.gt.u32 %part, %t2, 20; @%part bra M; add.u32 %k0, %t2, 3;\nM:",
];

/// A kernel that loads from such places, and from places of other threads, computes, and stores to them, with a load of global memory between
/// them that reaches another allocation from some thread on. What is `beyond` is so for the last threads.
fn places(load: usize, place: &str, ahead: u32, other: bool, condition: &str, [beyond, fixed]: [u32; 2]) -> String {
    let (ty, bytes, kind) = LOADS[load];
    let d = registers(ty, kind);
    let ahead = ahead * bytes;
    // Where the second store goes: to what this thread has loaded, or to what the one beside it has.
    let second = if other { "%k5" } else { "%k4" };
    let text = kernel(&format!(
        ".reg .b32 %k<10>; .shared .align 16 .b8 s[{}];\n
         mov.u32 %k6, s; mad.lo.u32 %k7, %t2, 16, %k6; st.shared.v4.u32 [%k7], {{%w1, %w2, %w3, %w4}};\n
         st.shared.v4.u32 [%k7+{}], {{%w2, %w3, %w4, %w1}}; bar.sync 0;\n
         {condition}\n{place}\n
         mul.lo.u32 %k3, %k0, {bytes}; add.u32 %k4, %k6, %k3; add.u32 %k5, %k4, {bytes};\n
         mul.wide.u32 %a1, %t2, 4; mov.u64 %a2, g; add.s64 %a2, %a2, %a1; setp.lt.u32 %part, %t2, 40; selp.b64 %a2, %a2, %a0, %part;\n
         ld.shared.{ty} {d}, [%k4+{ahead}]; add.u32 %w11, %w5, %w6; add.u64 %d11, %d5, %d6; neg.f32 %w12, %w11; fma.rn.f32 %w13, %w12, %w5, %w6;\n
         ld.shared.{ty} {d}, [%k4]; mul.f32 %w14, %w5, %w13; neg.f32 %w15, %w14; add.f32 %w16, %w15, %w6; abs.f32 %w17, %w14;\n
         ld.shared.{ty} {d}, [s+{fixed}]; xor.b32 %w23, %w5, %w6; xor.b64 %d23, %d5, %d6;\n
         ld.global.u32 %w18, [%a2]; add.u32 %w19, %w18, %w11; add.u64 %d5, %d5, %d11; add.f32 %w5, %w5, %w16;\n
         st.shared.{ty} [%k4+{ahead}], {d}; add.u32 %w6, %w6, %w19; add.u64 %d5, %d5, 3; xor.b32 %w5, %w5, %w6;\n
         st.shared.{ty} [{second}+{beyond}], {d}; selp.b32 %w20, 0, %w5, %p3; selp.b32 %w21, %w6, 0, %p4; add.u32 %w22, %w20, %w21;\nL:\n
         bar.sync 0; ld.shared.v4.u32 {{%w1, %w2, %w3, %w4}}, [%k7]; ld.shared.v4.u32 {{%w7, %w8, %w9, %w10}}, [%k7+{}];\n",
        BLOCK * 32,
        BLOCK * 16,
        BLOCK * 16,
    ));
    let table: Vec<String> = (0..BLOCK).map(|i| (i * 0x0101_1357).to_string()).collect();
    text.replace(".entry", &format!(".global .align 4 .u32 g[{BLOCK}] = {{{}}};\n.entry", table.join(", ")))
}

#[test]
fn places_that_are_known_are_those_of_the_loops() {
    if !translates() {
        return;
    }
    let random = &mut Random(12);
    for load in 0..LOADS.len() {
        // Of pieces of eight bytes all, of others some.
        let every = if LOADS[load].1 == 8 { 1 } else { 4 };
        for (i, place) in PLACES.iter().enumerate().filter(|(i, _)| (load + i).is_multiple_of(every)) {
            let ahead = if (2..5).contains(&i) { 1 << (i - 2) } else { [1, 2, 4, 8][(load / 2 + i) % 4] };
            let whole: Vec<(Level, u32)> = levels().into_iter().map(|level| (level, BLOCK)).collect();
            let text = places(load, place, ahead, i % 3 == 0, CONDITIONS[0], [0, 16]);
            let [steps, _] = compare_in(&whole, &format!("place-{load}-{i}"), &text, random);
            assert!(steps >= 16, "{place}: {steps}");
            let text = places(load, place, ahead, i % 3 != 0, CONDITIONS[(load + i) % 3], [0, 32]);
            compare_in(&ways_of(load + i), &format!("place-{load}-{i}-some"), &text, random);
        }
    }
}

/// The last threads reach behind shared memory, or none reaches an even address, or all do so at one that is written in the code.
#[test]
fn faults_at_places_that_are_known_are_those_of_the_loops() {
    if !translates() {
        return;
    }
    let random = &mut Random(13);
    let input = input(random);
    let mut kinds = [0; 2];
    for load in 0..LOADS.len() {
        for (i, place) in PLACES.iter().enumerate().filter(|(i, _)| (load + i) % 3 == 0) {
            let bytes = LOADS[load].1;
            let wrong = match (load + i) / 3 % 4 {
                0 => [BLOCK * 32 - 8 * bytes, 16],
                1 => [1, 16],
                2 => [0, 17],
                _ => [0, BLOCK * 32 - bytes / 2],
            };
            let text = places(load, place, 1, false, CONDITIONS[0], wrong);
            for level in levels() {
                let [never, always] =
                    [MachineCode::Never, MachineCode::Always].map(|way| outcome(&text, &input, way, level, BLOCK));
                assert!(never == always, "{level:?}, {:?}, {:?}\n{text}", never.err(), always.err());
                kinds[usize::from(never.is_ok())] += 1;
            }
        }
    }
    assert!(kinds.iter().all(|count| *count > 2), "{kinds:?}");
}

/// Blocks of one number of threads in several shapes: `%tid` and `%ntid` are others.
#[test]
fn places_are_those_of_the_block() {
    if !translates() {
        return;
    }
    let random = &mut Random(14);
    let text = kernel(
        ".reg .b32 %k<8>; .shared .align 16 .b8 s[768];\n
         mov.u32 %k0, %tid.y; mov.u32 %k1, %ntid.y; xor.b32 %k3, %t2, 3; mul.lo.u32 %k2, %k3, %k1; add.u32 %k4, %k2, %k0;\n
         shl.b32 %k5, %k4, 3; mov.u32 %k6, s; add.u32 %k7, %k6, %k5; st.shared.v2.u32 [%k7], {%w1, %w2}; bar.sync 0;\n
         ld.shared.v2.u32 {%w3, %w4}, [%k7]; add.u32 %w4, %w4, %w5; st.shared.v2.u32 [%k7], {%w4, %w3}; add.u32 %w6, %w6, %k4;\n
         bar.sync 0; ld.shared.v2.u32 {%w7, %w8}, [s+16];\n",
    );
    let input = input(random);
    let program = Program::read(&text);
    for level in levels() {
        let kernel = program.kernel_at("k", level).unwrap();
        for block in [[96, 1, 1], [32, 3, 1], [8, 12, 1], [96, 1, 1], [48, 2, 1]] {
            let results = [MachineCode::Never, MachineCode::Always].map(|way| {
                let mut memory = program.memory();
                let (input, out) = (memory.allocate("in", &input), memory.allocate("out", vec![0; OUT]));
                let options = LaunchOptions::default().with_machine_code(way).with_cores(1);
                let args: [Arg; 2] = [input.into(), out.into()];
                let report = kernel.launch([BLOCKS, 1, 1], block, &args, &mut memory, &options).unwrap();
                (memory.bytes(out).to_vec(), report.instructions)
            });
            assert!(results[0] == results[1], "{level:?}, {block:?}");
        }
        assert!(internals::runs(&kernel).1 > 8);
    }
}

/// What a launch leaves in memory, or its error in words.
fn outcome(text: &str, input: &[u8], machine_code: MachineCode, level: Level, block: u32) -> Result<Vec<u8>, String> {
    let program = Program::read(text);
    let kernel = program.kernel_at("k", level).unwrap_or_else(|errors| panic!("{errors}\n{text}"));
    let mut memory = program.memory();
    let input = memory.allocate("in", input);
    let out = memory.allocate("out", vec![0; OUT]);
    let options = LaunchOptions::default().with_machine_code(machine_code).with_cores(1);
    let args: [Arg; 2] = [input.into(), out.into()];
    let result = kernel.launch([BLOCKS, 1, 1], [block, 1, 1], &args, &mut memory, &options);
    result.map(|_| memory.bytes(out).to_vec()).map_err(|errors| errors.to_string())
}

/// The error of a launch, in words.
fn error(text: &str, input: &[u8], machine_code: MachineCode, level: Level, block: u32) -> String {
    outcome(text, input, machine_code, level, block).err().unwrap_or_default()
}

#[test]
fn faults_are_those_of_the_loops() {
    if !translates() {
        return;
    }
    let random = &mut Random(4);
    let input = input(random);
    let mut kinds = [0; 2];
    for load in 0..LOADS.len() {
        for (i, index) in INDEXES.iter().enumerate() {
            let end = input.len() as u32 - LOADS[load].1 * 40;
            let beyond = [1, end, input.len() as u32, u32::MAX / 4][(load + i) % 4];
            // Of the longer ones every second.
            let condition = CONDITIONS[i % 3];
            let other = match (load + i) % 2 {
                0 => groups(load, index, condition, 1 + ((load + i) / 2 % 3) as u32),
                _ => phases(load, index, condition, beyond),
            };
            let texts = [loads(load, index, condition, beyond), stores(load, index, condition, beyond), other];
            for (turn, text) in texts.into_iter().enumerate() {
                for (level, block) in ways_of(load + i + turn) {
                    let expected = error(&text, &input, MachineCode::Never, level, block);
                    let found = error(&text, &input, MachineCode::Always, level, block);
                    assert_eq!(found, expected, "{level:?}, {block} threads\n{text}");
                    kinds[0] += usize::from(expected.contains("aligned") || expected.contains("multiple"));
                    kinds[1] += usize::from(expected.contains("beyond") || expected.contains("outside"));
                }
            }
        }
    }
    assert!(kinds.iter().all(|count| *count > 15), "{kinds:?}");
}

/// A kernel that stores in one way, to global and to shared memory, some threads only if there is a condition.
fn stores(store: usize, index: &str, condition: &str, beyond: u32) -> String {
    let (ty, bytes, kind) = LOADS[store];
    let sources = registers(ty, kind);
    let body = format!(
        ".shared .align 16 .b8 s[{}];\n
         ld.param.u64 %a2, [out];\n{condition}\n{index}\n
         add.u32 %w5, %w5, %w9; add.u64 %d5, %d5, 3; {}; add.u32 %w9, %w9, 1;\n
         st.global.{ty} [%a3+{}], {sources}; add.u32 %w10, %w5, %w9;\n
         and.b32 %t1, %t1, 31; mul.lo.u32 %t1, %t1, {bytes}; mov.u32 %t3, s; add.u32 %t3, %t3, %t1; add.u32 %w11, %w9, %w10;\n
         st.shared.{ty} [%t3+{}], {sources}; add.u32 %w12, %w5, %w11;\n
         st.shared.{ty} [s+16], {sources}; add.u32 %w14, %w5, %w11;\nL:\n
         bar.sync 0; mov.u32 %t3, s; mad.lo.u32 %t3, %t2, 16, %t3; ld.shared.v4.u32 {{%w1, %w2, %w3, %w4}}, [%t3];\n",
        BLOCK * 16,
        address(store, bytes),
        RESULTS as u32 + bytes * 16 + beyond,
        bytes * 32,
    );
    kernel(&body)
}

#[test]
fn stores_write_what_their_loops_do() {
    if !translates() {
        return;
    }
    let random = &mut Random(5);
    for store in 0..LOADS.len() {
        for (i, index) in INDEXES.iter().enumerate() {
            let name = format!("st-{store}-{i}");
            let text = stores(store, index, CONDITIONS[(store + i) % 3], 0);
            let [steps, _] = compare_in(&ways_of(store + i), &name, &text, random);
            assert!(steps >= 12, "{} {index}: {steps}", LOADS[store].0);
        }
    }
}

/// Targets below sm_20 flush subnormals in all instructions of floats, which say nothing of it.
#[test]
fn floats_of_old_targets_do() {
    if !translates() {
        return;
    }
    let random = &mut Random(6);
    for form in instructions().iter().filter(|(opcode, _)| opcode.ends_with(".f32") && !opcode.starts_with("fma")) {
        let body: Vec<String> = (0..24).map(|_| instruction(form, random)).collect();
        let text = kernel(&body.join("\n")).replace(".version 8.0\n.target sm_80", ".version 2.3\n.target sm_13");
        let (input, program) = (input(random), Program::read(&text));
        for (level, block) in ways() {
            let both = [MachineCode::Never, MachineCode::Always];
            let [never, always] = both.map(|way| run(&text, &program, &input, way, level, block));
            assert!(never.0 == always.0, "{level:?}: {}\n{text}", form.0);
        }
    }
}

/// More values at once than a page of the stack can hold.
#[test]
fn runs_that_do_not_fit_do() {
    if !translates() {
        return;
    }
    let random = &mut Random(7);
    let mut body =
        String::from(".reg .b32 %x<480>; ld.param.u64 %a2, [in]; mul.wide.u32 %a3, %t0, 4; add.s64 %a3, %a2, %a3;\n");
    for vector in 0..120 {
        let registers: Vec<String> = (0..4).map(|k| format!("%x{}", vector * 4 + k)).collect();
        let registers = registers.join(", ");
        writeln!(body, "ld.global.v4.u32 {{{registers}}}, [%a2+{}];", vector * 16).unwrap();
    }
    for register in 0..480 {
        writeln!(body, "mad.lo.u32 %w5, %w5, 31, %x{register}; ld.global.u32 %w6, [%a3+{}];", register * 4).unwrap();
        writeln!(body, "xor.b32 %w7, %w7, %w6;").unwrap();
    }
    assert!(compare("large", &kernel(&body), random) > 500);
}

/// A kernel that changes what it reads by one index and writes it by the same, some threads only if there is a condition. Shared memory keeps
/// blocks alone, in order.
fn changes(load: usize, index: &str, condition: &str, alone: bool) -> String {
    let (ty, bytes, kind) = LOADS[load];
    let registers = registers(ty, kind);
    let shared = if alone { ".shared .b32 s;" } else { "" };
    format!(
        ".version 8.0\n.target sm_80\n.address_size 64\n.entry k(.param .u64 from, .param .u64 to) {{\n
         .reg .b32 %w<12>, %t<4>; .reg .b64 %d<12>, %a<4>; .reg .pred %part; {shared}\n
         mov.u32 %t0, %ctaid.x; mov.u32 %t1, %ntid.x; mov.u32 %t2, %tid.x; mad.lo.s32 %t0, %t0, %t1, %t2;\n
         mov.u32 %w2, %t2; mul.lo.u32 %w3, %t0, 3; ld.param.u64 %a0, [from]; ld.param.u64 %a1, [to];\n{condition}\n{index}\n
         mul.wide.u32 %a2, %t1, {bytes}; add.s64 %a0, %a0, %a2; add.s64 %a1, %a1, %a2;\n
         ld.global.{ty} {registers}, [%a0+64]; add.u32 %w5, %w5, 3; add.u64 %d5, %d5, 5; st.global.{ty} [%a1+64], {registers};\n
         add.u32 %t0, %t0, 1;\nL: ret;\n}}\n"
    )
}

/// Where such a kernel writes: to another buffer, or so many bytes behind what it reads.
#[derive(Clone, Copy, Debug)]
enum To {
    Other,
    Same(u64),
    /// Another buffer from a byte on, as large as those that stores reach past the caches.
    Large(u64),
}

/// Blocks of launches to such a buffer, so many that they do not all run as one: the first execution of a store finds out where it reaches.
const MANY: u32 = 40;

/// What a launch of such a kernel leaves of what it has read and where it has written, what it has counted, and its steps in runs.
fn changed(
    text: &str,
    to: To,
    blocks: u32,
    block: u32,
    machine_code: MachineCode,
    level: Level,
) -> (Vec<u8>, Vec<u8>, u64, usize) {
    let program = Program::read(text);
    let kernel = program.kernel_at("k", level).unwrap_or_else(|errors| panic!("{errors}\n{text}"));
    let mut memory = program.memory();
    let length = 12_000 * blocks.min(MANY) as usize;
    let bytes: Vec<u8> = (0..length as u32).map(|i| (i * 7 + i / 251) as u8).collect();
    let from = memory.allocate("from", &bytes);
    let other = memory.allocate_zeros("to", if matches!(to, To::Large(_)) { 33 << 20 } else { length as u64 }).unwrap();
    let address = match to {
        To::Other => memory.address(other),
        To::Same(by) => memory.address(from) + by,
        To::Large(by) => memory.address(other) + by,
    };
    let args: [Arg; 2] = [from.into(), address.into()];
    let options = LaunchOptions::default().with_machine_code(machine_code).with_cores(1);
    let executed = kernel.launch([blocks, 1, 1], [block, 1, 1], &args, &mut memory, &options).unwrap().instructions;
    (memory.bytes(from).to_vec(), memory.bytes(other)[..length].to_vec(), executed, internals::runs(&kernel).1)
}

#[test]
fn stores_behind_loads_write_what_their_loops_do() {
    if !translates() {
        return;
    }
    for load in 0..LOADS.len() {
        for (i, index) in INDEXES.iter().enumerate() {
            let by = u64::from(LOADS[load].1);
            // The first execution finds out where a run reaches. One of the distances in turn, and another allocation.
            for to in [To::Other, To::Same([0, by, by * 16][(load + i / 3) % 3])] {
                let text = changes(load, index, CONDITIONS[(load + i) % 3], matches!(to, To::Same(_)));
                for (level, block) in ways() {
                    let both = [MachineCode::Never, MachineCode::Always];
                    let [never, always] = both.map(|way| changed(&text, to, BLOCKS, block, way, level));
                    let same = (&never.0, &never.1, never.2) == (&always.0, &always.1, always.2);
                    assert!(same, "{level:?}, {block} threads, {to:?}\n{text}");
                    // The load, what changes it, and the store.
                    assert!(always.3 >= 4, "{}\n{text}", always.3);
                }
            }
        }
    }
}

/// Stores to large buffers go past the caches where rows are whole lines, and must not where they are not. In some launches threads read
/// back what their block has written.
#[test]
fn stores_past_caches_write_what_their_loops_do() {
    if !translates() {
        return;
    }
    for load in 0..LOADS.len() {
        // Rows of all blocks, others, rows from a register, rows with a step in the middle.
        let again = "mov.u32 %t1, %t0; add.u32 %t1, %t1, 16;";
        for (i, index) in ["mov.u32 %t1, %t0;", INDEXES[2], again, INDEXES[8]].into_iter().enumerate() {
            for (k, from) in [0, 1, 8, 16].into_iter().enumerate() {
                let condition = if i == 2 && k > 1 { CONDITIONS[1] } else { "" };
                // Blocks that run as one may read what others of them write there.
                let reads_back = (i + k) % 3 == 2;
                let mut text = changes(load, index, condition, reads_back);
                if reads_back {
                    let back = "ld.global.u8 %w6, [%a1+64]; add.u32 %w6, %w6, 1; st.global.u8 [%a0+64], %w6;\nL: ret;";
                    text = text.replace("L: ret;", back);
                }
                let by = from * u64::from(LOADS[load].1);
                for (level, block) in ways_of(i) {
                    let both = [MachineCode::Never, MachineCode::Always];
                    let [never, always] = both.map(|way| changed(&text, To::Large(by), MANY, block, way, level));
                    let same = (&never.0, &never.1, never.2) == (&always.0, &always.1, always.2);
                    assert!(same, "{level:?}, {block} threads, from byte {by} on\n{text}");
                    assert!(always.3 >= 4, "{}\n{text}", always.3);
                }
            }
        }
    }
}

/// Runs that give up for a load and a store of one allocation go on without the store.
#[test]
fn stores_to_what_was_loaded_leave_their_runs() {
    if !translates() {
        return;
    }
    for (level, block) in ways() {
        let text = changes(4, INDEXES[4], "", true);
        let both = [MachineCode::Never, MachineCode::Always];
        // Each thread writes what only it has read.
        let [never, always] = both.map(|way| changed(&text, To::Same(0), 100, block, way, level));
        assert!(never.0 == always.0 && never.2 == always.2, "{level:?}, {block} threads");
    }
}

/// A kernel whose threads read words by indexes that are data, and divide and trap by data.
const FAULTS: &str = ".version 8.0\n.target sm_80\n.address_size 64\n.entry k(.param .u64 in, .param .u64 table, .param .u64 out) {\n
     .reg .b32 %w<12>, %t<8>; .reg .b64 %a<4>, %in, %out, %table; .reg .pred %p<4>;\n
     mov.u32 %t0, %ctaid.z; mov.u32 %t1, %nctaid.y; mov.u32 %t2, %ctaid.y; mad.lo.u32 %t0, %t0, %t1, %t2;\n
     mov.u32 %t1, %nctaid.x; mov.u32 %t2, %ctaid.x; mad.lo.u32 %t0, %t0, %t1, %t2; mov.u32 %t1, %ntid.x; mov.u32 %t2, %tid.x;\n
     mad.lo.u32 %t0, %t0, %t1, %t2; ld.param.u64 %in, [in]; ld.param.u64 %table, [table]; ld.param.u64 %out, [out];\n
     mul.wide.u32 %a0, %t0, 16; add.s64 %in, %in, %a0; add.s64 %out, %out, %a0;\n
     ld.global.v4.u32 {%w0, %w1, %w2, %w3}, [%in]; st.global.u32 [%out], 1;\n
     mul.wide.u32 %a1, %w0, 4; add.s64 %a1, %table, %a1; add.u32 %w4, %w0, 1; ld.global.u32 %w5, [%a1]; add.u32 %w5, %w5, %w4;\n
     st.global.u32 [%out+4], %w5; and.b32 %w6, %t2, 1; setp.eq.u32 %p0, %w6, 0; @%p0 bra EVEN;\n
     mul.wide.u32 %a1, %w1, 4; add.s64 %a1, %table, %a1; add.u32 %w7, %w1, %w5; ld.global.u32 %w8, [%a1]; add.u32 %w8, %w8, %w7;\n
     st.global.u32 [%out+8], %w8; bra MET;\n
EVEN: div.u32 %w8, 1000, %w2; st.global.u32 [%out+8], %w8;\n
MET: setp.eq.u32 %p1, %w3, 7; @%p1 trap; st.global.u32 [%out+12], %w8; ret;\n}\n";

/// Blocks that run as one fail as they do one after another: the error is that of the first block, and those before it have ended.
#[test]
fn faults_of_blocks_that_run_as_one_do() {
    const GRID: [u32; 3] = [5, 2, 3];
    let random = &mut Random(8);
    let (mut failed, mut ran) = (0, 0);
    for round in 0..60 {
        let block = [32, 64, 96, 256][round % 4];
        let threads = 30 * block as usize;
        let mut input: Vec<u32> = (0..4 * threads).map(|i| 1 + i as u32 % 5).collect();
        for _ in 0..round % 5 {
            let (thread, what) = (random.below(threads), random.below(4));
            input[4 * thread + what] = [1 << 20, 1 << 30, 0, 7][what];
        }
        for level in Level::available() {
            let launch = |machine_code| {
                let program = Program::read(FAULTS);
                let kernel = program.kernel_at("k", level).unwrap();
                let mut memory = program.memory();
                let bytes: Vec<u8> = input.iter().flat_map(|word| word.to_le_bytes()).collect();
                let table = memory.allocate("table", vec![9; 64]);
                let (input, out) = (memory.allocate("in", bytes), memory.allocate("out", vec![0; 16 * threads]));
                let options = LaunchOptions::default().with_machine_code(machine_code).with_cores(1);
                let args: [Arg; 3] = [input.into(), table.into(), out.into()];
                let result = kernel.launch(GRID, [block, 1, 1], &args, &mut memory, &options);
                (result.map(|report| report.instructions), memory.bytes(out).to_vec())
            };
            let [alone, as_one] = [MachineCode::Never, MachineCode::Always].map(launch);
            let through = match &alone.0 {
                Ok(_) => threads,
                Err(errors) => {
                    let [x, y, z] = errors.0[0].thread.unwrap().block;
                    ((z * GRID[1] + y) * GRID[0] + x) as usize * block as usize
                }
            };
            *if alone.0.is_ok() { &mut ran } else { &mut failed } += 1;
            assert_eq!(alone.0, as_one.0, "{level:?}, round {round}");
            assert!(alone.1[..16 * through] == as_one.1[..16 * through], "{level:?}, round {round}");
        }
    }
    assert!(failed > 20 && ran > 10, "{failed} failed, {ran} ran");
}

/// Loads without a space may reach shared memory that a run stores to: those of later turns read what was there before.
#[test]
fn stores_behind_loads_without_a_space_write_what_their_loops_do() {
    if !translates() {
        return;
    }
    let random = &mut Random(77);
    let body = "
        .reg .b32 %k<8>; .reg .b64 %g<4>; .shared .align 16 .b8 s[512];
        mov.u32 %k1, s; mad.lo.u32 %k0, %t2, 4, %k1; st.shared.u32 [%k0], %w1; bar.sync 0;
        mov.u64 %g0, s; cvta.shared.u64 %g0, %g0; mul.wide.u32 %g1, %t2, 4; add.s64 %g0, %g0, %g1; add.s64 %g0, %g0, -64;
        setp.lt.u32 %part, %t2, 16; selp.b64 %g0, %a0, %g0, %part; bar.sync 0;
        ld.shared.u32 %w2, [%k0]; ld.u32 %w3, [%g0]; add.u32 %w4, %w2, %w3; st.shared.u32 [%k0], %w4;
        bar.sync 0; ld.shared.u32 %w5, [%k0];\n";
    // Threads of one warp race, so no GPU needs to do the same.
    compare("st-generic", &kernel(body), random);
}
