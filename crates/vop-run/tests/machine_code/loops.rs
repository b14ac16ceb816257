//! Loops that become one function each: whatever their branches are, threads compute, count and fail as they do step by step.

use std::time::Duration;

use super::*;

/// Writes random loops with branches of all kinds. No more than the registers of `kernel` are used, and those for counters.
struct Maker<'r> {
    random: &'r mut Random,
    instructions: &'r [(String, String)],
    text: String,
    labels: usize,
}

impl Maker<'_> {
    fn label(&mut self) -> usize {
        self.labels += 1;
        self.labels
    }

    fn register(&mut self) -> usize {
        self.random.below(REGISTERS)
    }

    /// `loops` are the labels of the loops around: where the next round starts, and where the loop ends.
    fn statements(&mut self, loops: &[[usize; 2]]) {
        for _ in 0..1 + self.random.below(6) {
            let [x, y] = [self.register(), self.register()];
            let not = if self.random.percent(50) { "!" } else { "" };
            match self.random.below(14) {
                0 => self.global_load(x, y),
                1 => {
                    let line = [
                        format!("and.b32 %t3, %w{x}, 252; add.u32 %t3, %t3, %s; ld.shared.u32 %w{y}, [%t3];"),
                        format!(
                            "and.b32 %t3, %w{x}, 496; add.u32 %t3, %t3, %s; ld.shared.v2.u32 {{%w{y}, %w3}}, [%t3+8];"
                        ),
                        format!("ld.shared.u64 %d{y}, [s+64];"),
                        format!("and.b32 %t3, %w{x}, 255; add.u32 %t3, %t3, %s; ld.shared.s8 %w{y}, [%t3];"),
                    ];
                    self.text += &line[self.random.below(4)];
                }
                2 if loops.len() < 4 => self.branches(not, x, loops),
                3 if loops.len() < 3 => self.loop_of(loops),
                4 if !loops.is_empty() => {
                    let to = loops[self.random.below(loops.len())][self.random.below(2)];
                    writeln!(self.text, "@{not}%p{x} bra L{to};").unwrap();
                }
                5 if self.random.percent(20) => writeln!(self.text, "@{not}%p{x} ret;").unwrap(),
                _ => {
                    let form = &self.instructions[self.random.below(self.instructions.len())];
                    self.text += &instruction(form, self.random);
                }
            }
            self.text.push('\n');
        }
    }

    fn global_load(&mut self, x: usize, y: usize) {
        // Where: of each thread's own, of all the same, and one behind another; and how the address is made.
        let index = ["%t3", "%t0", "%c0"][self.random.below(3)];
        let line = [
            format!("mul.wide.u32 %a3, {index}, 4; add.s64 %a3, %a2, %a3; ld.global.u32 %w{y}, [%a3+40];"),
            format!("mad.wide.s32 %a3, {index}, 8, %a2; ld.global.u64 %d{y}, [%a3];"),
            format!("cvt.u64.u32 %a3, {index}; add.s64 %a3, %a3, %a2; ld.global.u8 %w{y}, [%a3+3];"),
            format!(
                "cvt.s64.s32 %a3, {index}; shl.b64 %a3, %a3, 4; add.s64 %a3, %a2, %a3; ld.global.v2.u64 {{%d{y}, %d3}}, [%a3];"
            ),
            format!(
                "mul.wide.s32 %a3, {index}, 16; add.s64 %a3, %a3, %a2; ld.global.v4.u32 {{%w{y}, %w1, %w2, %w4}}, [%a3];"
            ),
            // Of signed indexes that are negative, whose sum with the rest is not.
            format!(
                "sub.s32 %t3, {index}, 3; mul.wide.s32 %a3, %t3, 4; add.s64 %a3, %a2, %a3; ld.global.s16 %w{y}, [%a3+16];"
            ),
        ];
        let line = &line[self.random.below(6)];
        write!(self.text, "and.b32 %t3, %w{x}, 127; {line}").unwrap();
    }

    fn branches(&mut self, not: &str, x: usize, loops: &[[usize; 2]]) {
        let [other, end] = [self.label(), self.label()];
        writeln!(self.text, "@{not}%p{x} bra L{other};").unwrap();
        self.statements(loops);
        if self.random.percent(60) {
            writeln!(self.text, "bra L{end};\nL{other}:").unwrap();
            self.statements(loops);
            writeln!(self.text, "L{end}:").unwrap();
        } else {
            writeln!(self.text, "L{other}:").unwrap();
        }
    }

    fn loop_of(&mut self, loops: &[[usize; 2]]) {
        let [start, next, end, depth] = [self.label(), self.label(), self.label(), loops.len()];
        let turns = match self.random.below(3) {
            0 => format!("mov.u32 %c{depth}, {};", 1 + self.random.below(5)),
            _ => format!("and.b32 %c{depth}, %w{}, 7; add.u32 %c{depth}, %c{depth}, 1;", self.register()),
        };
        writeln!(self.text, "{turns}\nL{start}:").unwrap();
        let mut inner = loops.to_vec();
        inner.push([next, end]);
        self.statements(&inner);
        writeln!(
            self.text,
            "L{next}: sub.u32 %c{depth}, %c{depth}, 1; setp.ne.u32 %q{depth}, %c{depth}, 0; @%q{depth} bra L{start};\nL{end}:"
        )
        .unwrap();
    }
}

/// Random loops between what fills and what stores all registers.
fn random_loops(random: &mut Random, instructions: &[(String, String)]) -> String {
    let mut maker = Maker { random, instructions, text: String::new(), labels: 0 };
    for _ in 0..2 {
        maker.loop_of(&[]);
        maker.statements(&[]);
    }
    let body = format!(
        ".reg .b32 %c<4>, %s; .reg .pred %q<4>; .shared .align 16 .b8 s[2048];\n
         mov.u32 %s, s; and.b32 %t3, %t2, 127; mad.lo.u32 %t3, %t3, 16, %s; st.shared.v4.u32 [%t3], {{%w1, %w2, %w3, %w4}};\n
         bar.sync 0; ld.param.u64 %a2, [in]; add.s64 %a2, %a2, 64; mov.u32 %c0, 1;\n{}",
        maker.text
    );
    kernel(&body)
}

#[test]
fn random_loops_compute_what_their_steps_do() {
    if !translates() {
        return;
    }
    let all = instructions();
    let mut loops = 0;
    for seed in random::seeds(0..80) {
        let random = &mut Random(seed);
        let text = random_loops(random, &all);
        loops += compare_in(&ways_of(seed as usize), &format!("loop-{seed}"), &text, random)[1];
    }
    // Some of them only: others have an access that no template serves.
    assert!(loops > 40, "{loops}");
}

/// A random loop that threads leave by several exits, and that others stay in together; its loads are of indexes that go on in all ways.
fn loop_that_threads_leave(random: &mut Random) -> String {
    let exits = 1 + random.below(3);
    let some_stay_away = ["", "setp.gt.u32 %q, %t2, 41; @%q bra X0;"][random.below(2)];
    let pick = |random: &mut Random, list: &[&str]| list[random.below(list.len())].to_owned();
    let of_thread = pick(random, &["%t0", "%t2", "%t1", "0", "7", "%t3", "%t4", "%t5", "%t8", "%t9"]);
    let counter = pick(random, &["0", "3", "%t6", "%ntid.x", "%t5"]);
    let rounds = pick(random, &["25", "9", "1", "%t7"]);
    let mut text = format!(
        ".version 8.0\n.target sm_80\n.address_size 64\n.entry k(.param .u64 table, .param .u64 other, .param .u64 out) {{\n
         .reg .b32 %w<12>, %t<12>, %i, %k, %j, %n, %x, %rounds; .reg .b64 %d<4>, %a<8>; .reg .pred %p<8>, %q; .reg .b16 %h<3>;\n
         mov.u16 %h1, 1; mov.u16 %h2, 1; mov.u32 %t0, %ctaid.x; mov.u32 %t1, %ntid.x; mov.u32 %t2, %tid.x; mad.lo.u32 %t0, %t0, %t1, %t2;\n
         ld.param.u64 %a0, [table]; ld.param.u64 %a1, [other]; ld.param.u64 %a2, [out]; mul.wide.u32 %a3, %t0, 8; add.s64 %a2, %a2, %a3;\n
         mul.lo.u32 %t3, %t0, 3; and.b32 %t4, %t0, 3; xor.b32 %t5, %t2, 1; ld.global.u32 %t6, [%a0]; and.b32 %t6, %t6, 15; and.b32 %t7, %t2, 7;\n
         add.u32 %t7, %t7, 2; setp.lt.u32 %q, %t2, 40;\n
         selp.u32 %t8, %t0, %t3, %q; selp.u32 %t9, 5, %t2, %q; sub.s64 %a5, %a0, 4294967200; sub.s64 %a6, %a0, 17179868800; mov.u32 %i, {of_thread}; mov.u32 %k, {counter}; mov.u32 %j, 0; mov.u32 %n, 0; mov.u32 %rounds, {rounds};\n
         mov.u32 %w0, 0; mov.u32 %w1, 1; mov.u32 %w2, 2; mov.u64 %d0, 0; mov.u64 %d1, 1; setp.eq.u32 %p3, %t4, 2;\n{some_stay_away}\nL:\n"
    );
    let mut parts = 0;
    for _ in 0..2 + random.below(7) {
        match random.below(10) {
            0..4 => text += &load_of_loop(random),
            4..7 => {
                let setp = [
                    format!("setp.{}.u32 %p0, %w1, %w2;", pick(random, &["eq", "lt", "ge", "gt"])),
                    format!("setp.{}.s32 %p0, %w1, {};", pick(random, &["lt", "le", "ge", "eq"]), random.below(90)),
                    format!("setp.{}.s16 %p0, %h1, %h2;", pick(random, &["eq", "ne", "lt", "gt"])),
                    format!("setp.{}.u16 %p0, %h1, %h2;", pick(random, &["eq", "ne", "le"])),
                    format!("setp.{}.u64 %p0, %d1, {};", pick(random, &["eq", "le", "lt"]), random.below(1 << 30)),
                    // Of all threads, and of one, at last.
                    "setp.gt.u32 %p0, %n, 13;".to_owned(),
                    "mul.lo.u32 %x, %n, 5; and.b32 %x, %x, 63; setp.eq.u32 %p0, %x, %t2;".to_owned(),
                    // A predicate that comes from before the loop, or from the last round.
                    "and.pred %p0, %p3, %p3; setp.gt.u32 %p3, %w0, 0x70000000;".to_owned(),
                ];
                let branch = ["@%p0 bra", "@%p0 bra", "@%p0 bra", "not.pred %p1, %p0; @!%p1 bra"][random.below(4)];
                text += &format!("{} {branch} X{};", setp[random.below(setp.len())], random.below(exits));
                parts += 1;
            }
            7 => {
                text += &pick(
                    random,
                    &[
                        "add.u32 %k, %k, 1;",
                        "add.u32 %k, 1, %k;",
                        "sub.u32 %j, %j, 1;",
                        "add.u32 %i, %i, 2;",
                        "xor.b32 %k, %k, 1;",
                        "mov.u32 %j, %w1;",
                        "shl.b32 %j, %k, 1;",
                    ],
                );
            }
            8 => {
                text += &pick(
                    random,
                    &[
                        "mad.lo.u32 %w0, %w0, 7, %w1;",
                        "add.u64 %d0, %d0, %d1;",
                        "xor.b32 %w0, %w0, %k;",
                        "add.u32 %w2, %w2, %i;",
                        "cvt.u32.u16 %w1, %h1; add.u32 %w0, %w0, %w1;",
                    ],
                );
            }
            _ => {
                text += &format!("bra P{parts};\nP{parts}:");
                parts += 1;
            }
        }
        text.push('\n');
    }
    text += &load_of_loop(random);
    text += "mad.lo.u32 %w0, %w0, 3, %w1; add.u32 %k, %k, 1; add.u32 %n, %n, 1; setp.lt.u32 %p2, %n, %rounds; @%p2 bra L;\nbra X0;\n";
    for exit in 0..exits {
        text += &format!("X{exit}: add.u32 %w0, %w0, {exit}; bra END;\n");
    }
    text + "END: cvt.u32.u64 %w3, %d0; mad.lo.u32 %w0, %n, 0x10001, %w0; add.u32 %w0, %w0, %j; cvt.u32.u16 %w4, %h1; add.u32 %w0, %w0, %w4; mad.lo.u32 %w3, %k, 0x101, %w3;\n
        add.u32 %w3, %w3, %w2; st.global.u32 [%a2], %w0; st.global.u32 [%a2+4], %w3; ret;\n}\n"
}

/// A load of such a loop, with its address.
fn load_of_loop(random: &mut Random) -> String {
    // Indexes that wrap where the addresses do not.
    if random.percent(5) {
        let line = [
            "cvt.u64.u32 %a4, %x; add.s64 %a4, %a4, %a5; ld.global.u8 %h1, [%a4];",
            "mad.wide.u32 %a4, %x, 4, %a6; ld.global.u32 %w1, [%a4];",
        ];
        return format!("add.u32 %x, %i, %k; add.u32 %x, %x, 4294967200; {}", line[random.below(2)]);
    }
    let forms = [
        "ld.global.u8 %w1",
        "ld.global.u8 %h1",
        "ld.global.u8 %h2",
        "ld.global.s8 %h1",
        "ld.global.u16 %h2",
        "ld.global.s16 %h1",
        "ld.global.u16 %w2",
    ];
    let wide = ["ld.global.u32 %w1", "ld.global.u64 %d1", "ld.global.v2.u32 {%w1, %w2}", "ld.global.v2.u64 {%d1, %d2}"];
    let (form, bytes) = match random.below(11) {
        form @ 0..7 => (forms[form], if form < 4 { 1 } else { 2 }),
        form => (wide[form - 7], [4, 8, 8, 16][form - 7]),
    };
    let index = [
        "add.u32 %x, %i, %k;",
        "add.u32 %x, %k, %i;",
        "mov.u32 %x, %k;",
        "mov.u32 %x, %i;",
        "sub.u32 %x, %i, %j; add.u32 %x, %x, %k;",
        "mad.lo.u32 %x, %k, 3, %i;",
        "shl.b32 %x, %k, 1; add.u32 %x, %x, %i;",
        "sub.u32 %x, %k, 2;",
        "and.b32 %x, %w1, 63; add.u32 %x, %x, %k;",
        "mul.lo.u32 %x, %i, %k; and.b32 %x, %x, 127;",
    ];
    let index = index[random.below(index.len())];
    let base = ["%a0", "%a0", "%a1"][random.below(3)];
    // Some are no multiples of their bytes.
    let offset = if random.percent(4) { 1 } else { [0, 0, 16, -16, 32][random.below(5)] };
    // Mostly elements one behind another; others become uneven, or leave gaps.
    let factor = if random.percent(75) { bytes } else { [1, bytes.max(4), 16][random.below(3)] };
    let address = match random.below(4) {
        0 if factor == 1 => format!("cvt.u64.u32 %a4, %x; add.s64 %a4, %a4, {base};"),
        1 if factor == 1 => format!("cvt.s64.s32 %a4, %x; add.s64 %a4, {base}, %a4;"),
        0 | 1 => format!("mad.wide.s32 %a4, %x, {factor}, {base};"),
        2 => format!("mul.wide.s32 %a4, %x, {factor}; add.s64 %a4, %a4, {base};"),
        _ => format!("mul.wide.u32 %a4, %x, {factor}; add.s64 %a4, {base}, %a4;"),
    };
    let more = match form {
        "ld.global.u32 %w1" => format!("ld.global.u32 %w2, [%a4+{}];", offset + 64),
        "ld.global.u64 %d1" => format!("ld.global.u64 %d2, [%a4+{}];", offset - 64),
        _ => String::new(),
    };
    format!("{index} {address} {form}, [%a4+{offset}]; {more}")
}

#[test]
fn random_loops_that_threads_leave_compute_what_their_steps_do() {
    if !translates() {
        return;
    }
    let mut counts = [0; 3];
    let seeds = random::seeds(0..600);
    let number = seeds.end - seeds.start;
    for seed in seeds {
        let random = &mut Random(seed);
        let text = loop_that_threads_leave(random);
        // Bytes that are often the same; tables that all threads reach, or only some of them.
        let most = [4, 64, 1 << 16][random.below(3)];
        let words = [100, 600, 2000, 9000][random.below(4)];
        let table: Vec<u32> = (0..words).map(|_| random.below(most) as u32 * 0x0101).collect();
        let ways = ways_of(seed as usize);
        for (way, count) in compare_walks_in(&ways, &text, &table).into_iter().enumerate() {
            counts[way] += count;
        }
    }
    let [failed, ran, regions] = counts.map(|count| count as u64);
    // Some loops read too far from round to round.
    let enough = failed > number / 3 && ran > number / 2 && regions > number;
    assert!(enough, "{failed} failed, {ran} ran, {regions} as functions, of {number} loops at two levels");
}

/// A kernel whose threads go through a table from entry to entry, as the entries say: some for longer than others, and some beyond its end.
const WALK: &str = ".version 8.0\n.target sm_80\n.address_size 64\n.entry k(.param .u64 table, .param .u64 other, .param .u64 out) {\n
     .reg .b32 %w<12>, %t<8>; .reg .b64 %a<8>; .reg .pred %p<4>;\n
     mov.u32 %t0, %ctaid.x; mov.u32 %t1, %ntid.x; mov.u32 %t2, %tid.x; mad.lo.u32 %t0, %t0, %t1, %t2;\n
     ld.param.u64 %a0, [table]; ld.param.u64 %a1, [other]; ld.param.u64 %a2, [out]; mul.wide.u32 %a3, %t0, 8; add.s64 %a2, %a2, %a3;\n
     and.b32 %w0, %t0, 255; mov.u32 %w1, 0; mov.u32 %w2, 0; st.global.u32 [%a2+4], 77;\n
L: mul.wide.u32 %a4, %w0, 4; PICK add.s64 %a4, %a4, %a5; ld.global.u32 %w3, [%a4]; add.u32 %w1, %w1, %w3; add.u32 %w2, %w2, 1;\n
     and.b32 %w4, %w3, 15; setp.eq.u32 %p0, %w4, 0; @%p0 bra END; shr.u32 %w0, %w3, 4; setp.lt.u32 %p1, %w2, 40; @%p1 bra L;\n
     add.u32 %w1, %w1, 1000;\n
END: mad.lo.u32 %w1, %w2, 65536, %w1; st.global.u32 [%a2], %w1; ret;\n}\n";

/// What a launch of such a kernel leaves, or its error.
fn walk(text: &str, table: &[u32], machine_code: MachineCode, level: Level, block: u32) -> (String, Vec<u8>, usize) {
    let program = Program::read(text);
    let kernel = program.kernel_at("k", level).unwrap_or_else(|errors| panic!("{errors}\n{text}"));
    let mut memory = program.memory();
    let bytes: Vec<u8> = table.iter().flat_map(|word| word.to_le_bytes()).collect();
    let (one, other) = (memory.allocate("table", &bytes), memory.allocate("other", &bytes));
    let out = memory.allocate("out", vec![0; THREADS * 8]);
    let options = LaunchOptions::default().with_machine_code(machine_code).with_cores(1);
    let args: [Arg; 3] = [one.into(), other.into(), out.into()];
    let result = kernel.launch([BLOCKS, 1, 1], [block, 1, 1], &args, &mut memory, &options);
    let result = result.map_or_else(|errors| errors.to_string(), |report| format!("{} executed", report.instructions));
    (result, memory.bytes(out).to_vec(), internals::loops(&kernel))
}

/// Launches such a kernel in all ways, step by step and with its loops as functions; how many of these launches fail, and how many do not.
fn compare_walks(text: &str, table: &[u32]) -> [usize; 2] {
    let [failed, ran, regions] = compare_walks_in(&ways(), text, table);
    assert_eq!(regions, failed + ran);
    [failed, ran]
}

/// The same in some ways; also how many have functions.
fn compare_walks_in(ways: &[(Level, u32)], text: &str, table: &[u32]) -> [usize; 3] {
    let mut counts = [0; 3];
    for &(level, block) in ways {
        let both = [MachineCode::Never, MachineCode::Always];
        let [never, always] = both.map(|way| walk(text, table, way, level, block));
        assert_eq!(never.0, always.0, "{level:?}, {block} threads\n{text}");
        // Blocks behind one that fails may have run with it.
        let ends = never.0.ends_with("executed");
        assert!(!ends || never.1 == always.1, "{level:?}, {block} threads\n{text}");
        assert_eq!(never.2, 0);
        counts[2] += always.2.min(1);
        counts[usize::from(ends)] += 1;
    }
    counts
}

#[test]
fn loops_fail_as_their_steps_do() {
    if !translates() {
        return;
    }
    let random = &mut Random(11);
    let (mut failed, mut ran) = (0, 0);
    // One table, or one of two by the data: the second is another allocation, which the function does not know.
    for pick in ["mov.u64 %a5, %a0;", "and.b32 %w5, %w0, 1; setp.eq.u32 %p2, %w5, 0; selp.b64 %a5, %a0, %a1, %p2;"] {
        let text = WALK.replace("PICK", pick);
        for round in 0..40 {
            // Entries end a walk by their low bits; some lead beyond the table.
            let mut table: Vec<u32> = (0..1024).map(|_| (random.below(1024) << 4 | random.below(12)) as u32).collect();
            for _ in 0..round % 4 {
                table[random.below(1024)] = [1 << 28 | 5, u32::MAX, 1025 << 4 | 3][random.below(3)];
            }
            let counts = compare_walks(&text, &table);
            (failed, ran) = (failed + counts[0], ran + counts[1]);
        }
    }
    assert!(failed > 60 && ran > 60, "{failed} failed, {ran} ran");
}

/// A kernel whose threads read one behind another, and go on by an element in each round, until they read a zero: in global memory, and in
/// shared memory if that is asked for. Each also reads the element that is so many ahead, if that is not zero. With each block they start so
/// many elements further back. Indexes have a sign if that is said.
fn march(ty: &str, bytes: u32, shared: bool, ahead: i32, back: u32, signed: bool) -> String {
    let first = if shared { "S" } else { "X" };
    let (to, zero) = if bytes == 8 { ("%d", "u64") } else { ("%w", "u32") };
    let (far, bits) = if bytes == 8 { ("%d0", 64) } else { ("%w7", 32) };
    let wide = if signed { "s32" } else { "u32" };
    let ahead = match ahead * bytes as i32 {
        0 => String::new(),
        ahead => format!("ld.global.{ty} {far}, [%a4+{ahead}]; and.b{bits} {to}2, {to}2, {far};"),
    };
    format!(
        ".version 8.0\n.target sm_80\n.address_size 64\n.entry k(.param .u64 table, .param .u64 other, .param .u64 out) {{\n
         .reg .b32 %w<12>, %t<8>; .reg .b64 %d<4>, %a<8>; .reg .pred %p<4>; .shared .align 16 .b8 s[{}];\n
         mov.u32 %t0, %ctaid.x; mov.u32 %t1, %ntid.x; mov.u32 %t2, %tid.x; mad.lo.u32 %t0, %t0, %t1, %t2;\n
         ld.param.u64 %a0, [table]; ld.param.u64 %a2, [out]; mul.wide.u32 %a3, %t0, 8; add.s64 %a2, %a2, %a3;\n
         mul.wide.u32 %a3, %t2, {bytes}; add.s64 %a3, %a0, %a3; ld.global.{ty} {to}1, [%a3]; mov.u32 %t3, s;\n
         mad.lo.u32 %t3, %t2, {bytes}, %t3; st.shared.{ty} [%t3], {to}1; bar.sync 0; mov.u32 %w0, 0;\n
         mov.u32 %t5, %ctaid.x; mad.lo.u32 %t5, %t5, {back}, -2;\n
L: add.u32 %t4, %t0, %w0; sub.u32 %t4, %t4, %t5; mul.wide.{wide} %a4, %t4, {bytes}; add.s64 %a4, %a0, %a4; ld.global.{ty} {to}2, [%a4]; {ahead}\n
         mul.wide.u32 %a5, %w0, {bytes}; add.s64 %a5, %a0, %a5; ld.global.{ty} {to}3, [%a5];\n
         setp.eq.{zero} %p0, {to}2, 0; @%p0 bra E; add.u32 %w0, %w0, 1; setp.lt.u32 %p1, %w0, 600; @%p1 bra L;\n
E: mov.u32 %w4, 0; bra {first};\n
S: ld.shared.{ty} {to}1, [%t3]; setp.eq.{zero} %p2, {to}1, 0; @%p2 bra X; add.u32 %t3, %t3, {bytes}; add.u32 %w4, %w4, 1;\n
         setp.lt.u32 %p3, %w4, %w0; @%p3 bra S;\n
X: mad.lo.u32 %w0, %w4, 1024, %w0; st.global.u32 [%a2], %w0; ret;\n}}\n",
        BLOCK * bytes
    )
}

/// Threads that have left may be beyond the end of the memory, and others must not be.
#[test]
fn rows_that_march_to_the_end_of_memory_do() {
    if !translates() {
        return;
    }
    let random = &mut Random(13);
    let (mut failed, mut ran) = (0, 0);
    for (ty, bytes) in [("u8", 1), ("u32", 4), ("u64", 8)] {
        for round in 0..40 {
            // The first block knows where the table is before others reach below its start.
            let ahead = if round % 5 > 2 { random.below(7) as i32 - 1 } else { 0 };
            let back =
                if round % 4 == 3 { [SHAPES[1], SHAPES[0]][random.below(2)] + random.below(12) as u32 } else { 0 };
            let text = march(ty, bytes, round % 4 < 2, ahead, back, round % 3 == 0);
            // As many elements as threads, or a few more, with some zeros; without one at the end, threads march beyond it.
            let elements = THREADS + random.below(20);
            let mut table = vec![1u8; elements * bytes as usize];
            let zeros = if round % 2 == 0 { vec![elements - 1 - random.below(3), elements - 1] } else { Vec::new() };
            let some = (0..elements / 5).map(|_| random.below(elements - 4)).collect::<Vec<_>>();
            for zero in zeros.into_iter().chain(some) {
                table[zero * bytes as usize..][..bytes as usize].fill(0);
            }
            table.resize(table.len().next_multiple_of(4), 0);
            let table: Vec<u32> =
                table.chunks_exact(4).map(|word| u32::from_le_bytes(word.try_into().unwrap())).collect();
            let counts = compare_walks(&text, &table);
            (failed, ran) = (failed + counts[0], ran + counts[1]);
        }
    }
    assert!(failed > 30 && ran > 30, "{failed} failed, {ran} ran");
}

/// Where the last threads reach beyond the memory, a check that serves sixteen threads finds it for the second eight of them, too.
#[test]
fn rows_that_end_beyond_the_memory_fail() {
    if !translates() {
        return;
    }
    for (ty, register, bytes) in [("u8", "%w1", 1), ("u16", "%w1", 2), ("u32", "%w1", 4), ("u64", "%d1", 8)] {
        let text = format!(
            ".version 8.0\n.target sm_80\n.address_size 64\n.entry k(.param .u64 table, .param .u64 other, .param .u64 out) {{\n
             .reg .b32 %w<4>, %t<4>; .reg .b64 %d<4>, %a<8>;\n
             mov.u32 %t0, %ctaid.x; mov.u32 %t1, %ntid.x; mov.u32 %t2, %tid.x; mad.lo.u32 %t3, %t0, %t1, %t2;\n
             ld.param.u64 %a0, [table]; ld.param.u64 %a1, [out]; mul.wide.u32 %a2, %t3, {bytes}; add.s64 %a3, %a0, %a2;\n
             add.s64 %a4, %a1, %a2; ld.global.{ty} {register}, [%a3]; st.global.{ty} [%a4], {register}; ret;\n}}\n"
        );
        // Blocks that run as one find out together where the table is, so there are more than that. They fill all lanes: other code is for fewer.
        let (blocks, block) = (96, 128);
        for level in levels() {
            let launch = |missing: usize, way: MachineCode| {
                let program = Program::read(&text);
                let kernel = program.kernel_at("k", level).unwrap();
                let mut memory = program.memory();
                let threads = (blocks * block) as usize;
                let table: Vec<u8> = (0..(threads - missing) * bytes).map(|i| i as u8).collect();
                let [one, other] = ["table", "other"].map(|name| memory.allocate(name, &table));
                let out = memory.allocate("out", vec![0; threads * bytes]);
                let args: [Arg; 3] = [one.into(), other.into(), out.into()];
                let options = LaunchOptions::default().with_machine_code(way).with_cores(1);
                let result = kernel.launch([blocks, 1, 1], [block, 1, 1], &args, &mut memory, &options);
                result.map(|_| memory.bytes(out).to_vec()).map_err(|errors| errors.to_string())
            };
            for missing in [0, 1, 3, 7, 8, 12, 17] {
                let [never, always] = [MachineCode::Never, MachineCode::Always].map(|way| launch(missing, way));
                assert_eq!(never.is_err(), missing > 0);
                assert!(never == always, "{ty}, {missing} missing, {level:?}: {:?} {:?}", never.err(), always.err());
            }
        }
    }
}

/// A loop of as many rounds as its thread's input says, and one that ends by what other threads of the block do.
const LONG: &str = ".version 8.0\n.target sm_80\n.address_size 64\n.entry k(.param .u64 in, .param .u64 out) {\n
     .reg .b32 %w<12>, %t<8>; .reg .b64 %a<8>; .reg .pred %p<4>; .shared .b32 s;\n
     mov.u32 %t0, %tid.x; ld.param.u64 %a0, [in]; ld.param.u64 %a1, [out]; mul.wide.u32 %a2, %t0, 4;\n
     add.s64 %a0, %a0, %a2; add.s64 %a1, %a1, %a2; ld.global.u32 %w0, [%a0]; mov.u32 %w1, 0; st.shared.u32 [s], 0; bar.sync 0;\n
L: mad.lo.u32 %w1, %w1, 5, %t0; sub.u32 %w0, %w0, 1; setp.ne.u32 %p0, %w0, 0; @%p0 bra L;\n
     and.b32 %w2, %t0, 3; setp.eq.u32 %p1, %w2, 1; @%p1 bra SET;\n
W: ld.shared.u32 %w3, [s]; add.u32 %w4, %w4, 1; setp.eq.u32 %p2, %w3, 0; @%p2 bra W; bra END;\n
SET: st.shared.u32 [s], %w2; mov.u32 %w3, 9;\n
END: add.u32 %w1, %w1, %w3; st.global.u32 [%a1], %w1; ret;\n}\n";

fn long(rounds: &[u32], machine_code: MachineCode, level: Level, options: &LaunchOptions) -> (String, Vec<u8>) {
    let (result, out, _) = long_of(LONG, rounds, machine_code, level, options);
    (result, out)
}

/// The same of another kernel, with the number of thread-instructions.
fn long_of(
    text: &str,
    rounds: &[u32],
    machine_code: MachineCode,
    level: Level,
    options: &LaunchOptions,
) -> (String, Vec<u8>, u64) {
    let program = Program::read(text);
    let kernel = program.kernel_at("k", level).unwrap();
    let mut memory = program.memory();
    let bytes: Vec<u8> = rounds.iter().flat_map(|word| word.to_le_bytes()).collect();
    let (input, out) = (memory.allocate("in", &bytes), memory.allocate("out", vec![0; bytes.len()]));
    let options = options.clone().with_machine_code(machine_code).with_cores(1);
    let result = kernel.launch([1; 3], [rounds.len() as u32, 1, 1], &[input.into(), out.into()], &mut memory, &options);
    let instructions = result.as_ref().map_or(0, |report| report.instructions);
    (result.map_or_else(|errors| errors.to_string(), |_| String::new()), memory.bytes(out).to_vec(), instructions)
}

/// Threads that wait for others by weak loads leave their loop, as the others have their turn.
#[test]
fn long_loops_and_loops_that_wait_end() {
    if !translates() {
        return;
    }
    let random = &mut Random(12);
    for level in levels() {
        for most in [1, 300, 90_000] {
            let rounds: Vec<u32> = (0..96).map(|_| 1 + random.below(most) as u32).collect();
            let both = [MachineCode::Never, MachineCode::Always];
            let [never, always] = both.map(|way| long(&rounds, way, level, &LaunchOptions::default()));
            assert_eq!(never.0, "");
            assert!(never == always, "{level:?}: {}", always.0);
        }
    }
}

/// A loop of more rounds than a call of its function makes, while other threads wait behind it: each round counts once.
#[test]
fn long_loops_that_others_wait_for_count_once() {
    if !translates() {
        return;
    }
    let aside = "and.b32 %w2, %t0, 3; setp.eq.u32 %p1, %w2, 1; @%p1 bra SET;\nL:";
    let text = LONG
        .replace("\nL:", &format!("\n{aside}"))
        .replace("@%p2 bra W; ", "")
        .replace("ld.shared.u32 %w3, [s];", "mov.u32 %w3, 5;");
    let random = &mut Random(15);
    for level in levels() {
        for loads in ["", "ld.global.u32 %w3, [%a0]; add.u32 %w1, %w1, %w3; "] {
            let text = text.replace("L: ", &format!("L: {loads}"));
            let rounds: Vec<u32> = (0..96).map(|_| 30_000 + random.below(4000) as u32).collect();
            let both = [MachineCode::Never, MachineCode::Always];
            let [never, always] = both.map(|way| long_of(&text, &rounds, way, level, &LaunchOptions::default()));
            assert_eq!(never.0, "");
            assert!(never == always, "{level:?}: {}, {} instructions, not {}", always.0, always.2, never.2);
        }
    }
}

/// A loop without an end is ended from outside, whatever it does.
#[test]
fn loops_without_an_end_are_ended() {
    if !translates() {
        return;
    }
    for level in levels() {
        let rounds = [vec![1; 32], vec![0; 64]].concat();
        let timeout = LaunchOptions::default().with_timeout(Duration::from_millis(30));
        let error = long(&rounds, MachineCode::Always, level, &timeout).0;
        assert!(error.contains("has not ended after 0.03s"), "{error}");
        let limit = LaunchOptions::default().with_instructions(10_000_000);
        let [never, always] = [MachineCode::Never, MachineCode::Always].map(|way| long(&rounds, way, level, &limit).0);
        assert!(never.contains("limit of 10,000,000 thread-instructions"), "{never}");
        assert!(always.contains("limit of 10,000,000 thread-instructions"), "{always}");
    }
}

/// Loops that are searched for in code that no compiler writes: steps of half of all numbers, and many branches to one place.
#[test]
fn loops_of_strange_code_do() {
    if !translates() {
        return;
    }
    let random = &mut Random(14);
    let far = "ld.param.u64 %a2, [in]; mov.u32 %t3, 0;\nL: add.s64 %a2, %a2, 0x8000000000000000; add.s64 %a3, %a2, 8;
        add.s64 %a3, %a3, 0x8000000000000000; ld.global.u32 %w2, [%a3]; add.s64 %a2, %a2, 0x8000000000000000; add.u32 %t3, %t3, 1;
        setp.lt.u32 %part, %t3, 5; @%part bra L;\n";
    compare("loop-far", &kernel(far), random);
    let reads = "add.u32 %w1, %w1, %w2;".repeat(2000);
    let branches = "setp.lt.u32 %part, %t3, 3; @%part bra L;\n".repeat(7);
    let many = format!(
        "mov.u32 %t3, 0;\nL: add.u32 %t3, %t3, 1;\n{branches}{reads}setp.lt.u32 %part, %t3, 9; @%part bra L;\n"
    );
    compare("loop-many", &kernel(&many), random);
    let endless = "setp.eq.u32 %part, %t3, 77; @%part bra L;\n".repeat(8000);
    compare("loop-endless", &kernel(&format!("mov.u32 %t3, 0;\nL: add.u32 %t3, %t3, 1;\n{endless}")), random);
}

/// What a loop computes and reads again when other values have taken its registers, from its words and from halves of them.
#[test]
fn loops_of_more_values_than_registers_do() {
    if !translates() {
        return;
    }
    let random = &mut Random(15);
    for words in [4, 8, 12] {
        let each = |text: &dyn Fn(usize) -> String| (0..words).map(text).collect::<String>();
        let body = format!(
            "mov.u32 %t3, 0;\nL: {}{}{}{} add.u32 %t3, %t3, 1; setp.lt.u32 %part, %t3, 9; @%part bra L;\n",
            each(&|k| format!("xor.b32 %w{k}, %w{}, %t3; shl.b32 %w{}, %w{k}, 1;\n", k + 13, k + 26)),
            each(&|k| format!(
                "mad.lo.s64 %d{k}, %d{}, 5, %d{k}; add.s64 %d{}, %d{k}, %d{};\n",
                k + 13,
                k + 26,
                k + 14
            )),
            each(&|k| format!("mad.wide.u32 %d{}, %w{k}, 77, %d{k}; cvt.u64.u32 %d{k}, %w{k};\n", k + 13)),
            each(&|k| format!("add.u32 %w{}, %w{}, %w{k}; sub.s64 %d{k}, %d{}, %d{k};\n", k + 13, k + 26, k + 13)),
        );
        let [_, loops] = compare_in(&ways(), "loop-full", &kernel(&body), random);
        assert_eq!(loops, 1, "{body}");
    }
}
