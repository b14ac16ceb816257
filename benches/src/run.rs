//! Kernels on the CPU: an arithmetic loop, the motion example against plain Rust, memory against plain Rust, and the time to start.
//!
//! The plain code is compiled for this CPU (`benches/.cargo/config.toml`). It uses all cores if the engine does.

use std::fmt::Write as _;
use std::time::{Duration, Instant};

use vop_run::{Arg, LaunchOptions, Program};

use crate::measure::{level, processor_time};

const SIZE: usize = 16;
const REACH: i32 = 12;
const PRICE: u32 = 32;

fn median(mut run: impl FnMut() -> Duration) -> f64 {
    let mut times: Vec<f64> = (0..7).map(|_| run().as_secs_f64()).collect();
    times.sort_by(f64::total_cmp);
    times[3]
}

fn timed<T>(run: impl FnOnce() -> T) -> Duration {
    let start = Instant::now();
    std::hint::black_box(run());
    start.elapsed()
}

/// The benchmarks, each with the name that selects it.
pub const BENCHES: [(&str, fn()); 4] =
    [("run-arithmetic", arithmetic), ("run-motion", motion), ("run-memory", memory), ("run-startup", beginning)];

fn cores() -> usize {
    std::thread::available_parallelism().map_or(1, usize::from)
}

/// Ten instructions in a loop, without memory accesses.
const LOOP: &str = "
.version 8.0
.target sm_75
.address_size 64
.entry k(.param .u64 out, .param .u32 n) {
    .reg .b32 %r<12>; .reg .b64 %rd<4>; .reg .pred %p<2>;
    ld.param.u64 %rd1, [out];
    ld.param.u32 %r1, [n];
    mov.u32 %r2, %tid.x; mov.u32 %r3, %ctaid.x; mov.u32 %r4, %ntid.x;
    mad.lo.s32 %r5, %r3, %r4, %r2;
    mov.u32 %r6, %r5; mov.u32 %r7, 0; mov.u32 %r8, 12345;
L:
    add.s32 %r6, %r6, %r8;
    xor.b32 %r8, %r6, %r7;
    shl.b32 %r9, %r8, 3;
    add.s32 %r6, %r6, %r9;
    min.s32 %r8, %r6, %r9;
    and.b32 %r10, %r8, %r5;
    sub.s32 %r6, %r6, %r10;
    add.s32 %r7, %r7, 1;
    setp.lt.u32 %p1, %r7, %r1;
    @%p1 bra L;
    mul.wide.u32 %rd2, %r5, 4; add.s64 %rd3, %rd1, %rd2; st.global.u32 [%rd3], %r6;
    ret;
}";

fn arithmetic() {
    let cores = cores();
    println!("\nA loop of ten arithmetic instructions, 1024 blocks of 256 threads, 1000 turns, {:?}", level());
    let program = Program::read(LOOP);
    let kernel = program.kernel_at("k", level()).expect("it is legal");
    for cores in if cores > 1 { vec![1, cores] } else { vec![1] } {
        let mut memory = program.memory();
        let out = memory.allocate("out", vec![0; 4 << 18]);
        let args: [Arg; 2] = [out.into(), 1000u32.into()];
        let mut options = LaunchOptions::default();
        options.cores = Some(cores);
        let mut instructions = 0;
        let time = median(|| {
            timed(|| {
                let report = kernel.launch([1024, 1, 1], [256, 1, 1], &args, &mut memory, &options);
                instructions = report.expect("it runs").instructions;
            })
        });
        println!(
            "  {:<44} {:>10.2} G thread-instructions/s",
            format!("{cores} cores"),
            instructions as f64 / time / 1e9
        );
    }
}

fn read_png(path: &str) -> Vec<u8> {
    let file = std::io::BufReader::new(std::fs::File::open(path).expect("the example's frames"));
    let mut reader = png::Decoder::new(file).read_info().expect("a PNG");
    let mut samples = vec![0; reader.output_buffer_size().expect("a size")];
    let info = reader.next_frame(&mut samples).expect("a frame");
    samples.truncate(info.buffer_size());
    samples
}

/// The example's algorithm in plain Rust: one block's best displacement.
fn search(previous: &[u8], current: &[u8], (width, height): (usize, usize), (left, top): (usize, usize)) -> (i32, i32) {
    let rows = SIZE.min(height - top);
    let mut best = None;
    for dy in -REACH..=REACH {
        for dx in -REACH..=REACH {
            let (x, y) = (left as i32 - dx, top as i32 - dy);
            if x < 0 || y < 0 || x as usize + SIZE > width || y as usize + rows > height {
                continue;
            }
            let mut sad = 0;
            for row in 0..rows {
                let a = &previous[(y as usize + row) * width + x as usize..][..SIZE];
                let b = &current[(top + row) * width + left..][..SIZE];
                for column in 0..SIZE {
                    sad += u32::from(a[column].abs_diff(b[column]));
                }
            }
            let length = dx.unsigned_abs() + dy.unsigned_abs();
            let candidate = (sad + PRICE * length, length, dy, dx);
            if best.is_none_or(|best| candidate < best) {
                best = Some(candidate);
            }
        }
    }
    best.map_or((0, 0), |(.., dy, dx)| (dx, dy))
}

fn motion() {
    println!("\nexamples/motion, two frames of 640 x 360, {:?}, all cores", level());
    let (previous, current) = (read_png("../examples/motion/frame0.png"), read_png("../examples/motion/frame1.png"));
    let program = Program::read(include_str!("../../examples/motion/motion.ptx"));
    let mut memory = program.memory();
    let [before, after] =
        [("previous", &previous), ("current", &current)].map(|(name, frame)| memory.allocate(name, frame));
    let [found, cost] =
        [("motion", 8), ("cost", 4)].map(|(name, bytes)| memory.allocate(name, vec![0; 23 * 40 * bytes]));
    let picture = memory.allocate("picture", vec![0; 720 * 1280 * 3]);
    // What examples/motion/motion.toml launches.
    let (width, height) = (Arg::from(640u32), Arg::from(360u32));
    let cases: [(&str, [u32; 3], Vec<Arg>); 2] = [
        ("motion_search", [64, 1, 1], vec![before.into(), after.into(), found.into(), cost.into()]),
        ("draw", [8, 32, 1], vec![after.into(), found.into(), picture.into()]),
    ];
    let options = LaunchOptions::default();
    let launches = cases.map(|(entry, block, mut args)| {
        args.extend([width.clone(), height.clone()]);
        let kernel = program.kernel_at(entry, level()).expect("it is legal");
        let mut counts = (0, 0);
        let time = median(|| {
            timed(|| {
                let report = kernel.launch([40, 23, 1], block, &args, &mut memory, &options).expect("it runs");
                counts = (report.instructions, report.video);
            })
        });
        (entry, counts.0, counts.1, time)
    });
    let size = (640, 360);
    let blocks: Vec<(usize, usize)> =
        (0..size.1).step_by(SIZE).flat_map(|top| (0..size.0).step_by(SIZE).map(move |left| (left, top))).collect();
    let cores = std::thread::available_parallelism().map_or(1, usize::from);
    let plain = median(|| {
        timed(|| {
            std::thread::scope(|scope| {
                for part in blocks.chunks(blocks.len().div_ceil(cores)) {
                    let (previous, current) = (&previous, &current);
                    scope.spawn(move || {
                        part.iter().map(|at| search(previous, current, size, *at)).fold(0, |sum, (x, y)| sum + x + y)
                    });
                }
            });
        })
    });
    println!("  {:<44} {:>10.2} ms", "plain Rust, -C target-cpu=native: the search", plain * 1e3);
    for (entry, instructions, video, time) in launches {
        println!(
            "  {entry:<44} {:>10.2} ms   {:.2} G thread-instructions/s ({instructions} of them, {:.0} % video){}",
            time * 1e3,
            instructions as f64 / time / 1e9,
            100.0 * video as f64 / instructions as f64,
            if entry == "motion_search" {
                format!(", {:.1} times the plain search", time / plain)
            } else {
                String::new()
            },
        );
    }
}

/// d = a + b as nvcc writes it: a word a thread, a loop over the grid, four words a thread, and in two dimensions.
const ADD: &str = "
.version 8.0
.target sm_75
.address_size 64
.entry loop(.param .u64 a, .param .u64 b, .param .u64 d, .param .u32 n) {
    .reg .b32 %r<10>; .reg .f32 %f<4>; .reg .b64 %rd<12>; .reg .pred %p<3>;
    ld.param.u64 %rd1, [a]; ld.param.u64 %rd2, [b]; ld.param.u64 %rd3, [d]; ld.param.u32 %r1, [n];
    mov.u32 %r2, %ctaid.x; mov.u32 %r3, %ntid.x; mov.u32 %r4, %tid.x;
    mad.lo.s32 %r9, %r2, %r3, %r4;
    setp.ge.s32 %p1, %r9, %r1;
    @%p1 bra END;
    mov.u32 %r5, %nctaid.x; mul.lo.s32 %r6, %r5, %r3;
    cvta.to.global.u64 %rd4, %rd1; cvta.to.global.u64 %rd5, %rd2; cvta.to.global.u64 %rd6, %rd3;
NEXT:
    mul.wide.s32 %rd7, %r9, 4;
    add.s64 %rd8, %rd4, %rd7; add.s64 %rd9, %rd5, %rd7; add.s64 %rd10, %rd6, %rd7;
    ld.global.f32 %f1, [%rd8]; ld.global.f32 %f2, [%rd9];
    add.f32 %f3, %f1, %f2;
    st.global.f32 [%rd10], %f3;
    add.s32 %r9, %r9, %r6;
    setp.lt.s32 %p2, %r9, %r1;
    @%p2 bra NEXT;
END:
    ret;
}
.entry four(.param .u64 a, .param .u64 b, .param .u64 d, .param .u32 n) {
    .reg .b32 %r<8>; .reg .f32 %f<13>; .reg .b64 %rd<12>; .reg .pred %p<2>;
    ld.param.u64 %rd1, [a]; ld.param.u64 %rd2, [b]; ld.param.u64 %rd3, [d]; ld.param.u32 %r1, [n];
    mov.u32 %r2, %ctaid.x; mov.u32 %r3, %ntid.x; mov.u32 %r4, %tid.x;
    mad.lo.s32 %r5, %r2, %r3, %r4;
    shl.b32 %r6, %r5, 2;
    setp.ge.s32 %p1, %r6, %r1;
    @%p1 bra END;
    cvta.to.global.u64 %rd4, %rd1; cvta.to.global.u64 %rd5, %rd2; cvta.to.global.u64 %rd6, %rd3;
    mul.wide.s32 %rd7, %r5, 16;
    add.s64 %rd8, %rd4, %rd7; add.s64 %rd9, %rd5, %rd7; add.s64 %rd10, %rd6, %rd7;
    ld.global.v4.f32 {%f1, %f2, %f3, %f4}, [%rd8]; ld.global.v4.f32 {%f5, %f6, %f7, %f8}, [%rd9];
    add.f32 %f9, %f1, %f5; add.f32 %f10, %f2, %f6; add.f32 %f11, %f3, %f7; add.f32 %f12, %f4, %f8;
    st.global.v4.f32 [%rd10], {%f9, %f10, %f11, %f12};
END:
    ret;
}
.entry plane(.param .u64 a, .param .u64 b, .param .u64 d, .param .u32 n) {
    .reg .b32 %r<16>; .reg .f32 %f<4>; .reg .b64 %rd<12>; .reg .pred %p<4>;
    ld.param.u64 %rd1, [a]; ld.param.u64 %rd2, [b]; ld.param.u64 %rd3, [d]; ld.param.u32 %r1, [n];
    mov.u32 %r2, %ctaid.x; mov.u32 %r3, %ntid.x; mov.u32 %r4, %tid.x;
    mad.lo.s32 %r5, %r2, %r3, %r4;
    mov.u32 %r6, %ctaid.y; mov.u32 %r7, %ntid.y; mov.u32 %r8, %tid.y;
    mad.lo.s32 %r9, %r6, %r7, %r8;
    mov.u32 %r10, %nctaid.x; mul.lo.s32 %r11, %r10, %r3;
    mad.lo.s32 %r12, %r9, %r11, %r5;
    setp.ge.s32 %p1, %r5, %r11; setp.ge.s32 %p2, %r12, %r1; or.pred %p3, %p1, %p2;
    @%p3 bra END;
    cvta.to.global.u64 %rd4, %rd1; cvta.to.global.u64 %rd5, %rd2; cvta.to.global.u64 %rd6, %rd3;
    mul.wide.s32 %rd7, %r12, 4;
    add.s64 %rd8, %rd4, %rd7; add.s64 %rd9, %rd5, %rd7; add.s64 %rd10, %rd6, %rd7;
    ld.global.f32 %f1, [%rd8]; ld.global.f32 %f2, [%rd9];
    add.f32 %f3, %f1, %f2;
    st.global.f32 [%rd10], %f3;
END:
    ret;
}
.entry words(.param .u64 a, .param .u64 b, .param .u64 d, .param .u32 n) {
    .reg .b32 %r<8>; .reg .f32 %f<4>; .reg .b64 %rd<12>; .reg .pred %p<2>;
    ld.param.u64 %rd1, [a]; ld.param.u64 %rd2, [b]; ld.param.u64 %rd3, [d]; ld.param.u32 %r1, [n];
    mov.u32 %r2, %ctaid.x; mov.u32 %r3, %ntid.x; mov.u32 %r4, %tid.x;
    mad.lo.s32 %r5, %r2, %r3, %r4;
    setp.ge.s32 %p1, %r5, %r1;
    @%p1 bra END;
    cvta.to.global.u64 %rd4, %rd1; cvta.to.global.u64 %rd5, %rd2; cvta.to.global.u64 %rd6, %rd3;
    mul.wide.s32 %rd7, %r5, 4;
    add.s64 %rd8, %rd4, %rd7; add.s64 %rd9, %rd5, %rd7; add.s64 %rd10, %rd6, %rd7;
    ld.global.f32 %f1, [%rd8]; ld.global.f32 %f2, [%rd9];
    add.f32 %f3, %f1, %f2;
    st.global.f32 [%rd10], %f3;
END:
    ret;
}";

fn memory() {
    const LEN: usize = 1 << 25;
    let cores = cores();
    println!("\nd = a + b over three arrays of {} MiB, {:?}, {cores} cores", (LEN * 4) >> 20, level());
    let program = Program::read(ADD);
    let len = LEN as u32;
    let shapes = [
        ("words", "a word a thread, blocks of 256", [len / 256, 1], [256, 1]),
        ("loop", "a loop over 64 words a thread, blocks of 256", [len / 64 / 256, 1], [256, 1]),
        ("four", "four words a thread, blocks of 256", [len / 4 / 256, 1], [256, 1]),
        ("plane", "a word a thread, blocks of 32 x 8", [64, len / 64 / 256], [32, 8]),
        ("plane", "a word a thread, blocks of 16 x 16", [64, len / 64 / 256], [16, 16]),
    ];
    let mut memory = program.memory();
    let [a, b, d] = ["a", "b", "d"].map(|name| memory.allocate(name, vec![0; 4 * LEN]));
    let args: [Arg; 4] = [a.into(), b.into(), d.into(), (LEN as u32).into()];
    let options = LaunchOptions::default();
    let (x, y) = (vec![1f32; LEN], vec![2f32; LEN]);
    let mut z = vec![0f32; LEN];
    let mut plain = || {
        timed(|| {
            std::thread::scope(|scope| {
                let part = LEN.div_ceil(cores);
                for ((x, y), z) in x.chunks(part).zip(y.chunks(part)).zip(z.chunks_mut(part)) {
                    scope.spawn(move || {
                        for ((z, x), y) in z.iter_mut().zip(x).zip(y) {
                            *z = x + y;
                        }
                    });
                }
            });
        })
    };
    let rate = |time: f64| 12.0 * LEN as f64 / time / 1e9;
    for (i, (entry, name, [x, y], [width, height])) in shapes.into_iter().enumerate() {
        let kernel = program.kernel_at(entry, level()).expect("it is legal");
        let mut run =
            || timed(|| kernel.launch([x, y, 1], [width, height, 1], &args, &mut memory, &options).expect("it runs"));
        let (mut plains, mut runs) = (Vec::new(), Vec::new());
        let mut used = [f64::INFINITY; 2];
        for _ in 0..7 {
            let start = processor_time();
            plains.push(plain().as_secs_f64());
            let middle = processor_time();
            runs.push(run().as_secs_f64());
            let times = [middle - start, processor_time() - middle];
            used = std::array::from_fn(|i| used[i].min(times[i].as_secs_f64()));
        }
        plains.sort_by(f64::total_cmp);
        runs.sort_by(f64::total_cmp);
        if i == 0 {
            println!("  {:<44} {:>10.2} GB/s", "plain Rust", rate(plains[3]));
        }
        let (clock, processors) = (plains[3] / runs[3], used[0] / used[1]);
        println!(
            "  {name:<44} {:>10.2} GB/s   x{clock:.2} (x{processors:.2} by the processors' least time)",
            rate(runs[3])
        );
    }
}

/// Time from PTX to the first instruction.
fn beginning() {
    println!("\nFrom 1 MB of PTX to the first instruction");
    let mut one = String::from(
        ".version 8.0\n.target sm_75\n.address_size 64\n.entry k(.param .u64 out) {\n.reg .b32 %r<20000>;\n",
    );
    let mut many = String::from(".version 8.0\n.target sm_75\n.address_size 64\n");
    let mut body = String::new();
    for i in 1..18000 {
        let line = match i % 4 {
            0 => format!("\tadd.s32 \t%r{i}, %r{}, %r{};\n", i - 1, i / 2),
            1 => format!("\tmad.lo.s32 \t%r{i}, %r{}, %r{}, {i};\n", i - 1, i / 3),
            2 => format!("\txor.b32 \t%r{i}, %r{}, %r{};\n", i - 1, i / 2),
            _ => format!("\tvadd4.u32.u32.u32 \t%r{i}, %r{}, %r{}, %r{};\n", i - 1, i / 2, i / 4),
        };
        body.push_str(&line);
    }
    while one.len() + body.len() < 1 << 20 {
        body.push_str("\txor.b32 \t%r1, %r17000, %r2;\n");
    }
    one.push_str(&body);
    one.push_str("ret;\n}\n");
    let mut kernels = 0;
    while many.len() < 1 << 20 {
        let _ = writeln!(many, ".entry k{kernels}(.param .u64 out) {{\n.reg .b32 %r<300>;");
        for i in 1..200 {
            let _ = writeln!(many, "\tmad.lo.s32 \t%r{i}, %r{}, %r{}, {i};", i - 1, i / 3);
        }
        many.push_str("ret;\n}\n");
        kernels += 1;
    }
    for (name, ptx, entry) in [("one kernel", &one, "k"), ("one of many kernels", &many, "k7")] {
        let time = median(|| {
            timed(|| {
                let program = Program::read(ptx);
                let kernel = program.kernel(entry).expect("it is legal");
                let mut memory = program.memory();
                let out = memory.allocate("out", [0; 4]);
                let _ = kernel.launch([1; 3], [32, 1, 1], &[out.into()], &mut memory, &LaunchOptions::default());
            })
        });
        println!("  {name:<44} {:>10.2} ms ({} bytes)", time * 1e3, ptx.len());
    }
}
