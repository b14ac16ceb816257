//! Twelve kernels in CUDA, run by the engine, beside the same in OpenCL, compiled by PoCL: the time, and whether they compute the same.
//!
//! `pocl.sh` says what to install. Without PoCL the figures are those of the engine alone.

use std::time::Instant;

use vop_run::{Arg, Kernel, LaunchOptions, Level, MachineCode, Program};

use crate::measure::{level, processor_time};
use crate::opencl::{self, Device};

/// The module that nvcc has made of `kernels.cu`, so that benches need no nvcc.
const PTX: &str = include_str!("../kernels/kernels.ptx");
const OPENCL: &str = include_str!("../kernels/kernels.cl");

/// Runs of each kernel by each side, in turn, after one that warms up.
const ROUNDS: usize = 9;

/// A launch, the same for both sides: buffers, then words, are its arguments.
struct Case {
    name: &'static str,
    what: &'static str,
    grid: [u32; 3],
    block: [u32; 3],
    buffers: Vec<Vec<u8>>,
    words: Vec<u32>,
    /// Which buffer has the result.
    result: usize,
    /// Whether the result is added to, so that each run needs zeros there.
    adds: bool,
    /// The relative difference of floats that may be; 0 where all bits must be the same.
    tolerance: f32,
}

/// Numbers that look random, the same in every run.
struct Random(u64);

impl Random {
    fn word(&mut self) -> u32 {
        self.0 = self.0.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
        (self.0 >> 33) as u32 ^ (self.0 >> 61) as u32
    }

    fn float(&mut self) -> f32 {
        (self.word() >> 7) as f32 / (1 << 24) as f32
    }
}

fn bytes<const N: usize>(values: impl Iterator<Item = [u8; N]>) -> Vec<u8> {
    values.flatten().collect()
}

fn words(values: impl IntoIterator<Item = u32>) -> Vec<u8> {
    bytes(values.into_iter().map(u32::to_le_bytes))
}

fn floats(count: usize, random: &mut Random) -> Vec<u8> {
    bytes((0..count).map(|_| random.float().to_le_bytes()))
}

/// A tree of random keys in the order of their insertion: key, left, right, value. `None` is the number behind the last.
fn search_tree(nodes: usize, random: &mut Random) -> Vec<[u32; 4]> {
    let none = nodes as u32;
    let mut tree: Vec<[u32; 4]> = vec![[random.word(), none, none, random.word()]];
    while tree.len() < nodes {
        let (key, value, new) = (random.word(), random.word(), tree.len() as u32);
        let mut at = 0;
        loop {
            let node = &mut tree[at];
            if key == node[0] {
                break;
            }
            let next = &mut node[if key < node[0] { 1 } else { 2 }];
            if *next == none {
                *next = new;
                tree.push([key, none, none, value]);
                break;
            }
            at = *next as usize;
        }
    }
    tree
}

fn cases() -> Vec<Case> {
    let mut random = Random(1);
    let random = &mut random;
    let case = |name, what, grid, block, buffers: Vec<Vec<u8>>, words: Vec<u32>| Case {
        name,
        what,
        grid,
        block,
        result: buffers.len() - 1,
        buffers,
        words,
        adds: false,
        tolerance: 0.0,
    };
    let line = |threads: usize, block: u32| ([threads as u32 / block, 1, 1], [block, 1, 1]);
    let mut cases = Vec::new();

    let n = 1 << 18;
    let (grid, block) = line(n, 256);
    cases.push(case(
        "hash",
        "1000 rounds of integer hashing, 2^18 threads",
        grid,
        block,
        vec![vec![0; 4 * n]],
        vec![1000],
    ));

    let what = "Mandelbrot, 1024 x 1024, 500 turns";
    cases.push(case("mandelbrot", what, [64, 64, 1], [16, 16, 1], vec![vec![0; 4 << 20]], vec![1024, 500]));

    let n = 1 << 25;
    let (grid, block) = line(n, 256);
    let buffers = vec![floats(n, random), floats(n, random), vec![0; 4 * n]];
    cases.push(case("add", "c = a + b, 2^25 floats", grid, block, buffers, vec![n as u32]));

    let n = 512;
    let buffers = vec![floats(n * n, random), floats(n * n, random), vec![0; 4 * n * n]];
    let what = "tiled matrix product in shared memory, 512";
    cases.push(case("matmul", what, [n as u32 / 16, n as u32 / 16, 1], [16, 16, 1], buffers, vec![n as u32]));

    let n = 8192;
    let (grid, block) = line(n, 256);
    let buffers = vec![floats(4 * n, random), vec![0; 16 * n]];
    let what = "all pairs of 8192 bodies, rsqrt";
    cases.push(Case { tolerance: 1e-3, ..case("nbody", what, grid, block, buffers, vec![n as u32]) });

    let n = 1 << 24;
    let buffers = vec![words((0..n).map(|_| random.word())), vec![0; 1024]];
    let what = "histogram of 2^26 bytes by shared atomics";
    let histogram = case("histogram", what, [256, 1, 1], [256, 1, 1], buffers, vec![n as u32]);
    cases.push(Case { adds: true, ..histogram });

    let (n, nodes) = (1 << 20, 1 << 16);
    let (grid, block) = line(n, 256);
    let tree = search_tree(nodes, random);
    let queries: Vec<u32> =
        (0..n).map(|i| if i % 2 == 0 { random.word() } else { tree[random.word() as usize % nodes][0] }).collect();
    let buffers = vec![words(tree.into_iter().flatten()), words(queries), vec![0; 4 * n]];
    cases.push(case("tree", "2^20 searches in a tree of 2^16 nodes", grid, block, buffers, vec![nodes as u32]));

    let (n, length) = (1 << 23, 32);
    let (grid, block) = line(n, 256);
    let mut byte = || if random.word() % 4 == 0 { b'b' } else { b'a' };
    let text: Vec<u8> = (0..n + length).map(|_| byte()).collect();
    let pattern = text[n / 2..][..length].to_vec();
    let what = "a pattern of 32 bytes at 2^23 places of a text";
    cases.push(case("match", what, grid, block, vec![text, pattern, vec![0; n]], vec![length as u32]));

    let n = 1 << 21;
    let roots = (0..256).map(|k| -std::f64::consts::TAU * f64::from(k) / 512.0);
    let roots = bytes(roots.flat_map(|angle| [angle.cos() as f32, angle.sin() as f32]).map(f32::to_le_bytes));
    let what = "4096 transforms (FFT) of 512 points in shared memory";
    let buffers = vec![floats(2 * n, random), roots, vec![0; 8 * n]];
    cases.push(case("fft", what, [4096, 1, 1], [256, 1, 1], buffers, vec![]));

    let n = 160;
    let what = "seven points of doubles, a cube of 160";
    let points = bytes((0..n * n * n).map(|_| f64::from(random.float()).to_le_bytes()));
    let buffers = vec![points, vec![0; 8 * n * n * n]];
    cases.push(case("stencil", what, [n as u32 / 32, n as u32 / 8, 1], [32, 8, 1], buffers, vec![n as u32]));

    let n = 1 << 23;
    let (grid, block) = line(n, 256);
    let buffers = vec![words((0..n).map(|_| random.word())), vec![0; 4 * n]];
    cases.push(case("scan", "prefix sums of 2^15 blocks of 256 words, by shuffles", grid, block, buffers, vec![]));

    let n = 1 << 17;
    let (grid, block) = line(n, 256);
    let buffers = vec![words((0..16 * n).map(|_| random.word())), vec![0; 32 * n]];
    cases.push(case("sha256", "SHA-256 of 2^17 messages of 64 bytes", grid, block, buffers, vec![n as u32]));
    cases
}

/// The least times of several runs: by the clock, and of all processors.
#[derive(Clone, Copy)]
struct Least([f64; 2]);

impl Least {
    fn time(&mut self, run: impl FnOnce()) {
        let (start, used) = (Instant::now(), processor_time());
        run();
        let times = [start.elapsed(), processor_time() - used];
        self.0 = std::array::from_fn(|i| self.0[i].min(times[i].as_secs_f64()));
    }
}

/// Whether two results are the same, floats up to a relative difference; otherwise what differs first.
fn difference(a: &[u8], b: &[u8], tolerance: f32) -> Option<String> {
    let at = a.chunks(4).zip(b.chunks(4)).position(|(a, b)| {
        if tolerance == 0.0 {
            return a != b;
        }
        let [a, b] = [a, b].map(|x| f32::from_le_bytes([x[0], x[1], x[2], x[3]]));
        // As in any false comparison, what is no number differs.
        !((a - b).abs() <= tolerance * a.abs().max(b.abs()).max(1.0))
    });
    at.map(|i| format!("{:02x?} and {:02x?} at byte {}", &a[4 * i..][..4], &b[4 * i..][..4], 4 * i))
}

/// Names of kernels that `BENCH_KERNELS` has, separated by commas: all if there is none.
fn wanted() -> Option<Vec<String>> {
    let names = std::env::var("BENCH_KERNELS").ok()?;
    Some(names.split(',').map(str::to_owned).collect())
}

pub fn bench() {
    let (level, cores) = (level(), std::thread::available_parallelism().map_or(1, usize::from));
    println!("\nKernels on the CPU, {level:?}, {cores} cores: least of {ROUNDS} runs in turn");
    let rival = Device::find("Portable Computing Language");
    match &rival {
        Some(device) => println!("  PoCL: {}", device.name),
        None => println!("  PoCL is not there: `pocl.sh` says what to install"),
    }
    let compiled = rival.as_ref().map(|device| device.program(OPENCL));
    println!("  {:<54}{:>20}{:>20}{:>16}", "", "vop, ms (CPU)", "PoCL, ms (CPU)", "ratio (CPU)");
    let program = Program::read(PTX);
    let (mut product, mut count) = ([1.0; 2], 0);
    let wanted = wanted();
    for case in
        cases().into_iter().filter(|case| wanted.as_ref().is_none_or(|names| names.iter().any(|n| n == case.name)))
    {
        let kernel = program.kernel_at(case.name, level).expect("it is legal");
        let [own, other] = time(&case, &program, &kernel, rival.as_ref().zip(compiled));
        let shown = |Least([clock, processors]): Least| format!("{:.1} ({:.1})", clock * 1e3, processors * 1e3);
        print!("  {:<54}{:>20}", format!("{}: {}", case.name, case.what), shown(own));
        if rival.is_some() {
            let ratio = [0, 1].map(|i| other.0[i] / own.0[i]);
            product = [0, 1].map(|i| product[i] * ratio[i]);
            count += 1;
            print!("{:>20}{:>16}", shown(other), format!("x{:.2} ({:.2})", ratio[0], ratio[1]));
        }
        println!();
    }
    if count > 0 {
        let [clock, processors] = product.map(|product: f64| product.powf(1.0 / f64::from(count)));
        println!("  {:<94}{:>16}", "geometric mean", format!("x{clock:.2} ({processors:.2})"));
    }
    launches(level);
}

/// Times a case on both sides, in turn, and compares what they computed.
fn time(
    case: &Case,
    program: &Program,
    kernel: &Kernel,
    rival: Option<(&Device, *mut std::ffi::c_void)>,
) -> [Least; 2] {
    let mut memory = program.memory();
    let ids: Vec<_> = case.buffers.iter().map(|bytes| memory.allocate("buffer", bytes)).collect();
    let mut args: Vec<Arg> = ids.iter().map(|id| (*id).into()).collect();
    args.extend(case.words.iter().map(|word| Arg::from(*word)));
    let never = std::env::var_os("BENCH_LOOPS").is_some();
    let options =
        LaunchOptions::default().with_machine_code(if never { MachineCode::Never } else { MachineCode::WhenItPays });
    let rival = rival.map(|(device, compiled)| {
        let buffers: Vec<opencl::Buffer> = case.buffers.iter().map(|bytes| device.buffer(bytes)).collect();
        let kernel = device.kernel(compiled, case.name, case.grid, case.block, &buffers, &case.words);
        (device, buffers, kernel)
    });
    let mut least = [Least([f64::INFINITY; 2]); 2];
    for round in 0..=ROUNDS {
        if round == 1 {
            // The first one warmed up.
            least = [Least([f64::INFINITY; 2]); 2];
        }
        if case.adds {
            memory.bytes_mut(ids[case.result]).fill(0);
        }
        least[0].time(|| {
            kernel.launch(case.grid, case.block, &args, &mut memory, &options).expect("it runs");
        });
        if let Some((device, buffers, kernel)) = &rival {
            if case.adds {
                device.write(&buffers[case.result], &case.buffers[case.result]);
            }
            least[1].time(|| device.run(kernel));
        }
    }
    if let Some((device, buffers, _)) = &rival {
        let own = memory.bytes(ids[case.result]);
        let mut other = vec![0; own.len()];
        device.read(&buffers[case.result], &mut other);
        if let Some(difference) = difference(own, &other, case.tolerance) {
            panic!("{}: the results differ: {difference}", case.name);
        }
    }
    least
}

/// Launches of nothing: what a launch costs.
fn launches(level: Level) {
    let ptx = ".version 8.0\n.target sm_75\n.address_size 64\n.entry k() { ret; }";
    let program = Program::read(ptx);
    let kernel = program.kernel_at("k", level).expect("it is legal");
    let mut memory = program.memory();
    let options = LaunchOptions::default();
    println!("\nLaunches that do nothing, 256 threads a block: least and median of 200");
    for blocks in [1, 2, 8, 64, 1024] {
        let mut times: Vec<f64> = (0..200)
            .map(|_| {
                let start = Instant::now();
                kernel.launch([blocks, 1, 1], [256, 1, 1], &[], &mut memory, &options).expect("it runs");
                start.elapsed().as_secs_f64() * 1e6
            })
            .collect();
        times.sort_by(f64::total_cmp);
        println!("  {:<44} {:>10.1} {:>10.1} µs", format!("{blocks} blocks"), times[0], times[times.len() / 2]);
    }
}
