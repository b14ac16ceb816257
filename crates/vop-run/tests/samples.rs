//! Values that the engine computes from samples, once a block, against the same kernels where every thread computes them.
//!
//! A launch that is profiled executes each statement for each thread. Random kernels of what addresses are made of, and of edges of
//! it (words that wrap where they become doubles, comparisons that part a warp, vectors, blocks of odd shapes), must leave the same
//! bytes, count the same instructions and fail in the same way without the profile.

#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

mod random;

use std::fmt::Write as _;

use random::Random;
use vop_run::{Arg, LaunchOptions, Level, MachineCode, Program};

fn one(random: &mut Random, list: &[String]) -> String {
    list[random.below(list.len())].clone()
}

const BLOCKS: [[u32; 3]; 17] = [
    [256, 1, 1],
    [32, 8, 1],
    [16, 16, 1],
    [16, 4, 2],
    [64, 2, 2],
    [48, 3, 1],
    [16, 1, 3],
    [8, 8, 1],
    [1, 32, 1],
    [200, 1, 1],
    [24, 1, 1],
    [33, 1, 1],
    [17, 3, 1],
    [7, 1, 1],
    [1, 1, 1],
    [1000, 1, 1],
    [1024, 1, 1],
];
const IN: usize = 1 << 16;

/// The PTX of a kernel, and how many bytes of `out` each thread has.
fn kernel(random: &mut Random) -> (String, usize) {
    let mut words: Vec<String> = [
        "%tid.x",
        "%g0",
        "%g4",
        "%tid.x",
        "%tid.y",
        "%tid.z",
        "%ctaid.x",
        "%ctaid.x",
        "%ctaid.y",
        "%ntid.x",
        "%nctaid.x",
        "%laneid",
        "%warpid",
        "%lanemask_lt",
        "%w0",
    ]
    .map(String::from)
    .to_vec();
    // With these, samples are those of halves of warps, not of whole rows.
    if random.below(2) == 0 {
        words.retain(|word| !["%laneid", "%warpid"].contains(&&word[..]));
    }
    let mut doubles = vec!["%d0".to_owned(), "%d1".to_owned()];
    let mut predicates: Vec<String> = Vec::new();
    let mut body: Vec<String> = Vec::new();
    for i in 1..6 + random.below(18) {
        let guard = match (random.below(12), predicates.is_empty()) {
            (0, false) => format!("@{}{} ", random.pick(&["", "!"]), one(random, &predicates)),
            _ => String::new(),
        };
        let constant =
            random.pick(&["1", "2", "-1", "3", "4", "16", "-4", "0", "0x7ffffff0", "0x80000000", "-20", "1000000"]);
        let (mut a, b) = (one(random, &words), one(random, &words));
        if random.percent(4) {
            // Before it is written, if it ever is.
            a = format!("%w{}", i + random.below(6));
        }
        let b = if random.below(2) == 0 { constant.to_owned() } else { b };
        let (x, y) = (one(random, &doubles), one(random, &doubles));
        let y = if random.below(2) == 0 { constant.to_owned() } else { y };
        let (mut w, d, p) = (format!("%w{i}"), format!("%d{}", i + 1), format!("%p{i}"));
        if random.percent(8) && i > 1 {
            w = format!("%w{}", 1 + random.below(i - 1));
        }
        let text = match random.below(24) {
            0..3 => format!("add.s32 {w}, {a}, {b}"),
            3 => format!("sub.u32 {w}, {a}, {b}"),
            4..6 => format!("mad.lo.s32 {w}, {a}, {b}, {}", one(random, &words)),
            6 => format!("mul.lo.u32 {w}, {b}, {a}"),
            7 => format!("shl.b32 {w}, {a}, {}", random.pick(&["1", "2", "4", "31", "32"])),
            8 => format!("xor.b32 {w}, {a}, {b}"),
            9 => format!("cvt.u32.u64 {w}, {x}"),
            10 => format!("min.s32 {w}, {a}, {b}"),
            11..13 => {
                format!("mul.wide.{} {d}, {a}, {}", random.pick(&["s32", "u32"]), random.pick(&["1", "4", "-4", "12"]))
            }
            13 => format!("mad.wide.{} {d}, {a}, {constant}, {x}", random.pick(&["s32", "u32"])),
            14 => format!("cvt.{} {d}, {a}", random.pick(&["u64.u32", "s64.s32"])),
            15..17 => format!("add.s64 {d}, {x}, {y}"),
            17 => format!("shl.b64 {d}, {x}, {}", random.pick(&["1", "3", "20"])),
            18 => format!("mad.lo.s64 {d}, {x}, {constant}, {}", one(random, &doubles)),
            19 => format!("sub.s64 {d}, {x}, {y}"),
            20 | 21 => format!(
                "setp.{}.{} {p}, {a}, {b}",
                random.pick(&["lt", "le", "gt", "ge", "eq"]),
                random.pick(&["s32", "u32"])
            ),
            22 => format!("setp.{}.{} {p}, {x}, {y}", random.pick(&["lt", "ge"]), random.pick(&["s64", "u64"])),
            _ if predicates.len() > 1 => {
                format!("{}.pred {p}, {}, {}", random.pick(&["or", "and"]), predicates[0], one(random, &predicates))
            }
            _ => continue,
        };
        body.push(format!("    {guard}{text};\n"));
        match text.split(['.', ' ']).find(|part| part.starts_with('%')).unwrap_or("").as_bytes() {
            [b'%', b'w', ..] => words.push(w),
            [b'%', b'd', ..] => doubles.push(d),
            _ => predicates.push(p),
        }
    }
    // Memory: mostly near the middle of `in`, by an index that is mostly a line.
    let mut loads = String::new();
    let mut slots = Vec::new();
    for i in 0..3 {
        let bytes = [1, 2, 4, 8][random.below(4)];
        let known = 2.max(random.below(words.len()));
        let index = one(random, &words[..known]);
        let (scale, count) = (bytes * [1, 1, 1, 2, 4, 0][random.below(6)], ["", "", ".v2", ".v4"][random.below(4)]);
        let (vector, loaded) = match count {
            ".v2" => (format!("{{%x{i}0, %x{i}1}}"), 2),
            ".v4" => (format!("{{%x{i}0, %x{i}1, %x{i}2, %x{i}3}}"), 4),
            _ => (format!("%x{i}0"), 1),
        };
        let scale = if random.below(4) > 0 { bytes * loaded } else { scale };
        let guard = match (random.below(4), predicates.is_empty()) {
            (0, false) => format!("@{} ", one(random, &predicates)),
            _ => String::new(),
        };
        let _ = match random.below(4) {
            0 => writeln!(
                loads,
                "    sub.u32 %i{i}, {index}, {};\n    mad.wide.u32 %a{i}, %i{i}, {scale}, %in;",
                random.below(20)
            ),
            1 => writeln!(loads, "    mad.wide.s32 %a{i}, {index}, -{scale}, %in;"),
            _ => writeln!(loads, "    mad.wide.s32 %a{i}, {index}, {scale}, %in;"),
        };
        let offset = random.pick(&["0", "16", "-16", "-32", "64"]);
        let _ = writeln!(loads, "    {guard}ld.global{count}.u{} {vector}, [%a{i}+{offset}];", 8 * bytes);
        if random.below(3) == 0 {
            let _ = writeln!(loads, "    {guard}st.global{count}.u{} [%a{i}+{offset}], {vector};", 8 * bytes);
        }
        slots.extend((0..loaded).map(|k| format!("%x{i}{k}")));
    }
    let mut stores = String::new();
    let mut at = 0;
    for name in words.iter().filter(|name| name.starts_with("%w")) {
        let _ = writeln!(stores, "    st.global.u32 [%o+{at}], {name};");
        at += 8;
    }
    for name in doubles.iter().chain(&slots) {
        let _ = writeln!(stores, "    st.global.u64 [%o+{at}], {name};");
        at += 8;
    }
    for (i, name) in predicates.iter().enumerate() {
        let _ = writeln!(stores, "    selp.u32 %s{i}, 1, 2, {name};\n    st.global.u32 [%o+{at}], %s{i};");
        at += 8;
    }
    // Lanes that part meet at barriers of their warp, or exchange values by themselves.
    let meeting = match random.below(6) {
        0 => {
            "    mov.u32 %m0, -1; mov.u32 %m1, %laneid; setp.ge.u32 %q, %m1, 16; mov.u32 %m2, %warpid; mov.u64 %b0, sh;
    mad.wide.u32 %b0, %m2, 8, %b0; @%q bra HIGH;
    st.shared.u32 [%b0], %w0; bar.warp.sync %m0; ld.shared.u32 %w39, [%b0+4]; bra MET;
HIGH: st.shared.u32 [%b0+4], 7; bar.warp.sync %m0; ld.shared.u32 %w39, [%b0];
MET:
"
        }
        1 => {
            "    mov.u32 %m0, 0xffff; mov.u32 %m3, 0xffff0000; mov.u32 %m1, %laneid; setp.ge.u32 %q, %m1, 16; @%q bra HIGH;
    shfl.sync.idx.b32 %w39, %m1, 3, 31, %m0; bra MET;
HIGH: shfl.sync.idx.b32 %w39, %m1, 20, 31, %m3;
MET:
"
        }
        _ => "",
    };
    if !meeting.is_empty() {
        words.push("%w39".to_owned());
    }
    // Text that stands in another order than it is executed.
    let pieces = 1 + random.below(3);
    let chunks: Vec<&[String]> = body.chunks(body.len().div_ceil(pieces).max(1)).collect();
    let mut order: Vec<usize> = (0..chunks.len()).collect();
    for i in (1..order.len()).rev() {
        order.swap(i, random.below(i + 1));
    }
    let mut text = "    bra P0;\n".to_owned();
    for i in &order {
        let _ = writeln!(text, "P{i}:\n{}    bra P{};", chunks[*i].concat(), i + 1);
    }
    let body = format!("{text}P{}:\n{meeting}", chunks.len());
    // Some leave early, where a comparison says so.
    let leave = match (random.below(3), predicates.is_empty()) {
        (0, false) => format!("    @{} bra END;\n", one(random, &predicates)),
        _ => String::new(),
    };
    // A line of halves of warps alone, if there are such.
    let lane = if words.iter().any(|word| word == "%laneid") { "%laneid" } else { "%g3" };
    // Without it blocks may run as one.
    let shared = if meeting.contains("sh;") { ".shared .b32 sh[64];" } else { "" };
    let text = format!(
        "
.version 8.0
.target sm_75
.address_size 64
.entry k(.param .u64 in, .param .u64 out, .param .u32 n, .param .u64 m) {{
    .reg .b32 %w<40>, %s<40>, %t<8>, %m<4>, %i<4>; .reg .b64 %d<40>, %a<4>, %x<40>, %in, %o, %b0; .reg .pred %p<40>, %q; .reg .b32 %g<6>;
    {shared}
    mov.u32 %t7, %lanemask_eq; mov.u32 %t7, %lanemask_ge;
    mov.u32 %g1, %ctaid.x; mov.u32 %g2, %ntid.x; mov.u32 %g3, %tid.x; mad.lo.s32 %g0, %g1, %g2, %g3; mad.lo.s32 %g4, %g1, 4, {lane};
    ld.param.u64 %in, [in]; ld.param.u64 %o, [out]; ld.param.u32 %w0, [n]; ld.param.u64 %d0, [m]; ld.param.u64 %d1, [in+16];
    mov.u32 %t0, %tid.x; mov.u32 %t1, %tid.y; mov.u32 %t2, %tid.z;
    mov.u32 %t3, %ntid.x; mov.u32 %t4, %ntid.y; mov.u32 %t5, %ntid.z;
    mad.lo.u32 %t1, %t2, %t4, %t1; mad.lo.u32 %t0, %t1, %t3, %t0;
    mul.lo.u32 %t3, %t3, %t4; mul.lo.u32 %t3, %t3, %t5; mov.u32 %t4, %ctaid.y; mov.u32 %t5, %nctaid.x; mov.u32 %t6, %ctaid.x;
    mad.lo.u32 %t4, %t4, %t5, %t6; mad.lo.u32 %t0, %t4, %t3, %t0;
    mad.wide.u32 %o, %t0, {at}, %o;
{body}{leave}{loads}{stores}END:
    ret;
}}
"
    )
    // A parameter that is read as another's bytes would be an error of its own.
    .replace(" ld.param.u64 %d1, [in+16];", " mov.u64 %d1, %d0;");
    (text, at)
}

/// What a launch leaves: instructions or the error, and all memory.
type Outcome = (Result<u64, String>, Vec<u8>, Vec<u8>);

/// How a launch executes its steps.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Way {
    Profiled,
    Plain,
    /// Blocks that may do so run as one, as machine code for a level.
    AsOne(Level),
}

/// What the launch leaves, of the blocks that have ended if it fails.
fn run(ptx: &str, bytes: usize, grid: [u32; 3], block: [u32; 3], values: (u32, u64), way: Way) -> Outcome {
    let program = Program::read(ptx);
    let level = if let Way::AsOne(level) = way { level } else { Level::best() };
    let kernel = program.kernel_at("k", level).unwrap_or_else(|errors| panic!("{errors:?}\n{ptx}"));
    let mut memory = program.memory();
    let threads: u32 = grid.iter().chain(&block).product();
    let input = memory.allocate("in", (0..IN).map(|i| (i * 7 + i / 256) as u8).collect::<Vec<u8>>());
    // What is reached where addresses leave the buffer must not be what other blocks write.
    for name in ["between", "behind"] {
        memory.allocate(name, vec![0x55; IN]);
    }
    let out = memory.allocate("out", vec![0xee; threads as usize * bytes]);
    // In the middle of the buffer.
    let args: [Arg; 4] =
        [Arg::from(memory.address(input) + IN as u64 / 2), out.into(), values.0.into(), values.1.into()];
    let machine_code = if matches!(way, Way::AsOne(_)) { MachineCode::Always } else { MachineCode::Never };
    let options =
        LaunchOptions::default().with_profile(way == Way::Profiled).with_machine_code(machine_code).with_cores(1);
    let result = kernel.launch(grid, block, &args, &mut memory, &options);
    let ended = result.as_ref().err().and_then(|errors| errors.0[0].thread).map(|thread| {
        let [x, y, z] = thread.block;
        ((z * grid[1] + y) * grid[0] + x) * block.iter().product::<u32>()
    });
    let ended = ended.unwrap_or(threads) as usize;
    let result = result.map(|report| report.instructions).map_err(|errors| format!("{errors:?}"));
    (result, memory.bytes(input).to_vec(), memory.bytes(out)[..ended * bytes].to_vec())
}

#[test]
fn samples_tell_what_threads_compute() {
    let (mut ran, mut failed) = (0, 0);
    // The templates differ between levels, and the first level has none.
    let levels: Vec<Level> = Level::available().filter(|level| *level != Level::Portable).collect();
    let ways: Vec<Way> = [Way::Plain].into_iter().chain(levels.into_iter().map(Way::AsOne)).collect();
    for seed in random::seeds(0..500) {
        let mut random = Random(seed);
        let (ptx, bytes) = kernel(&mut random);
        let block = BLOCKS[random.below(BLOCKS.len())];
        let grid = [[1, 1, 1], [3, 1, 1], [2, 2, 1], [5, 1, 1], [9, 2, 1]][random.below(5)];
        let values = (
            random.pick(&["0", "5", "100", "4294967290", "2147483640"]),
            random.pick(&["0", "40", "18446744073709551600"]),
        );
        let values = (values.0.parse().unwrap(), values.1.parse().unwrap());
        let outcome = |way| run(&ptx, bytes, grid, block, values, way);
        let all = outcome(Way::Profiled);
        for way in ways.iter().copied() {
            let other = outcome(way);
            let differs = |a: &[u8], b: &[u8]| a.iter().zip(b).position(|(a, b)| a != b);
            let at = (differs(&all.1, &other.1), differs(&all.2, &other.2).map(|at| (at / bytes, at % bytes)));
            assert!(
                all == other,
                "seed {seed}, {way:?}, block {block:?}, grid {grid:?}: {:?} but {:?}, first bytes of `in` and of threads: {at:?}\n{ptx}",
                all.0,
                other.0
            );
        }
        *if all.0.is_ok() { &mut ran } else { &mut failed } += 1;
    }
    // Both happen.
    assert!(3 * ran > failed && failed > 0, "{ran} ran, {failed} failed");
}
