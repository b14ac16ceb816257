//! Runs whole kernels as compilers write them, and compares with what the same sources compute on a host.
//!
//! `data/kernels/NAME.cu` is a kernel, `NAME.ptx` and `NAME.*.ptx` are what compilers made of it, and `NAME.case` says how to launch
//! it and what must come out. `data/kernels/make.py` made the latter two, without any executor of PTX; its first lines describe
//! both formats.

#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

mod common;

use std::collections::BTreeMap;

use common::{bits, bytes, data, size};
use vop::Severity;
use vop_ptx::module::Scalar;
use vop_run::{Arg, BufferId, Check, Finding, LaunchOptions, Memory, Program, RunErrorKind};

fn is_float(ty: Scalar) -> bool {
    matches!(ty, Scalar::F32 | Scalar::F64)
}

fn is_signed(ty: Scalar) -> bool {
    matches!(ty, Scalar::S8 | Scalar::S16 | Scalar::S32 | Scalar::S64)
}

/// The element types that cases use.
fn scalar(name: &str) -> Option<Scalar> {
    let unsigned = |ty| matches!(ty, Scalar::U8 | Scalar::U16 | Scalar::U32 | Scalar::U64);
    Scalar::from_name(name).filter(|ty| is_float(*ty) || is_signed(*ty) || unsigned(*ty))
}

/// The elements that `@lcg COUNT seed SEED [range LOW HIGH]` stands for.
fn random(words: &[&str], ty: Scalar) -> Vec<u64> {
    let mut state: u64 = words[2].parse().unwrap();
    let mut step = || {
        state = state.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
        state >> 32
    };
    let wide = size(ty) == 8;
    let element = |_| {
        let bits = if wide { step() << 32 | step() } else { step() };
        match words.get(4..6) {
            Some([low, high]) if is_float(ty) => {
                let (low, high): (f64, f64) = (low.parse().unwrap(), high.parse().unwrap());
                let fraction =
                    if wide { (bits >> 11) as f64 / (1u64 << 53) as f64 } else { (bits >> 8) as f64 / 16777216.0 };
                let value = low + fraction * (high - low);
                if wide { value.to_bits() } else { u64::from((value as f32).to_bits()) }
            }
            Some([low, high]) => {
                let [low, high] = [low, high].map(|limit| limit.parse::<i128>().unwrap());
                (low + i128::from(bits) % (high - low + 1)) as u64
            }
            _ => bits,
        }
    };
    (0..words[0].parse::<usize>().unwrap()).map(element).collect()
}

fn content(words: &[&str], ty: Scalar) -> Vec<u8> {
    let elements: Vec<u64> = if words[0] == "@lcg" {
        random(&words[1..], ty)
    } else if let Some(count) = words[0].strip_prefix('*') {
        vec![words.get(1).map_or(0, |value| bits(value, ty)); count.parse().unwrap()]
    } else {
        words.iter().map(|word| bits(word, ty)).collect()
    };
    bytes(elements, ty)
}

/// A structure as C lays it out: `u8 1 f32 0.5 2.5`.
fn structure(words: &[&str]) -> Vec<u8> {
    let mut bytes: Vec<u8> = Vec::new();
    let (mut ty, mut align) = (Scalar::U8, 1);
    for word in words {
        if let Some(next) = scalar(word) {
            ty = next;
            continue;
        }
        align = align.max(size(ty));
        bytes.resize(bytes.len().next_multiple_of(size(ty)), 0);
        bytes.extend(&bits(word, ty).to_le_bytes()[..size(ty)]);
    }
    bytes.resize(bytes.len().next_multiple_of(align), 0);
    bytes
}

struct Launch {
    entry: String,
    grid: [u32; 3],
    block: [u32; 3],
    options: LaunchOptions,
    args: Vec<CaseArg>,
}

enum CaseArg {
    Buffer(String),
    Other(Arg),
}

/// Buffers by name: their elements' type, and what they hold at first.
type Buffers = BTreeMap<String, (Scalar, Vec<u8>)>;

/// What a case asks for, before `=>`.
fn read_launches(text: &str) -> (Vec<Launch>, Buffers) {
    let (mut launches, mut buffers) = (Vec::<Launch>::new(), Buffers::new());
    for line in text.lines().filter(|line| !line.starts_with('#')) {
        let words: Vec<&str> = line.split_whitespace().collect();
        let arg = match words[..] {
            ["launch", entry, ref rest @ ..] => {
                let mut sizes = [[1u32; 3]; 2];
                let mut options = LaunchOptions::default();
                for word in rest {
                    let (key, value) = word.split_once('=').unwrap();
                    match key {
                        "shared" => options.dynamic_shared = value.parse().unwrap(),
                        "cooperative" => options.cooperative = Some(value.parse().unwrap()),
                        "limit" => options.instructions = value.parse().unwrap(),
                        "grid" | "block" => {
                            for (axis, number) in value.split(',').enumerate() {
                                sizes[usize::from(key == "block")][axis] = number.parse().unwrap();
                            }
                        }
                        _ => panic!("{line}"),
                    }
                }
                let [grid, block] = sizes;
                launches.push(Launch { entry: entry.to_owned(), grid, block, options, args: Vec::new() });
                continue;
            }
            ["buffer", name, ref rest @ ..] => {
                if let [ty, rest @ ..] = rest {
                    let ty = scalar(ty).unwrap();
                    assert!(buffers.insert(name.to_owned(), (ty, content(rest, ty))).is_none(), "{line}");
                }
                CaseArg::Buffer(name.to_owned())
            }
            ["value", ty, value] => {
                let ty = scalar(ty).unwrap();
                CaseArg::Other(Arg::Scalar(ty, bits(value, ty)))
            }
            ["struct", ref rest @ ..] => CaseArg::Other(Arg::Bytes(structure(rest))),
            _ => panic!("{line}"),
        };
        launches.last_mut().unwrap().args.push(arg);
    }
    (launches, buffers)
}

fn words(bytes: &[u8], ty: Scalar) -> impl Iterator<Item = u64> {
    let word = |chunk: &[u8]| chunk.iter().rev().fold(0, |word, byte| word << 8 | u64::from(*byte));
    bytes.chunks(size(ty)).map(word)
}

fn shown(word: u64, ty: Scalar) -> String {
    match ty {
        Scalar::F32 => format!("{:?} ({word:#x})", f32::from_bits(word as u32)),
        Scalar::F64 => format!("{:?} ({word:#x})", f64::from_bits(word)),
        _ if is_signed(ty) => {
            format!("{} ({word:#x})", (word << (64 - 8 * size(ty)) as u32) as i64 >> (64 - 8 * size(ty)))
        }
        _ => format!("{word} ({word:#x})"),
    }
}

/// Whether two floats lie within `4ulp`, `1e-6` (absolute) or `4ulp|1e-6` (either) of each other; what is no number equals itself.
fn close(a: u64, b: u64, ty: Scalar, tolerance: &str) -> bool {
    let value =
        |bits: u64| if ty == Scalar::F32 { f64::from(f32::from_bits(bits as u32)) } else { f64::from_bits(bits) };
    // Floats in order, as integers: a step is an ulp.
    let rank = |bits: u64| {
        let magnitude = (bits & (u64::MAX >> (65 - 8 * size(ty)))) as i128;
        if value(bits).is_sign_negative() { -magnitude } else { magnitude }
    };
    let (x, y) = (value(a), value(b));
    if x.is_nan() || y.is_nan() {
        return x.is_nan() && y.is_nan();
    }
    tolerance.split('|').any(|limit| match limit.strip_suffix("ulp") {
        Some(ulps) => (rank(a) - rank(b)).abs() <= ulps.parse().unwrap(),
        None => (x - y).abs() <= limit.parse().unwrap(),
    })
}

/// What is wrong with a buffer, if something is: `expected` is the case's line without the buffer's name.
fn difference(found: &[u8], ty: Scalar, expected: &str) -> Option<String> {
    let (head, list) = expected.split_once(':').unwrap();
    let list: Vec<&str> = list.split_whitespace().collect();
    let count = found.len() / size(ty);
    if let ["fnv1a", hash, "of", elements] = list[..] {
        assert_eq!(elements.parse(), Ok(count), "the length of a buffer");
        let found = found
            .iter()
            .fold(0xcbf2_9ce4_8422_2325u64, |hash, byte| (hash ^ u64::from(*byte)).wrapping_mul(0x0100_0000_01b3));
        return (found != bits(hash, Scalar::U64)).then(|| format!("hash {found:#018x}, expected {hash}"));
    }
    assert_eq!(list.len(), count, "the length of a buffer");
    let tolerance = head.strip_prefix(" within ");
    for (i, (word, text)) in words(found, ty).zip(&list).enumerate() {
        let mask = u64::MAX >> (64 - 8 * size(ty));
        let wanted = bits(text, ty) & mask;
        let fits = match tolerance {
            Some(tolerance) => close(word, wanted, ty, tolerance),
            None => word == wanted,
        };
        if !fits {
            return Some(format!("element {i} is {}, expected {}", shown(word, ty), shown(wanted, ty)));
        }
    }
    None
}

/// What is wrong with what a module did, and what checks found.
fn run(ptx: &str, case: &str, checks: &[Check]) -> (Vec<String>, Vec<Finding>) {
    let (before, expected) = case.split_once("=>\n").expect("a case has `=>`");
    let (launches, buffers) = read_launches(before);
    let program = Program::read(ptx);
    let mut memory: Memory = program.memory();
    let ids: BTreeMap<&str, BufferId> =
        buffers.iter().map(|(name, (_, bytes))| (name.as_str(), memory.allocate(name, bytes.clone()))).collect();

    let mut output = String::new();
    let mut failure = None;
    let mut findings = Vec::new();
    for Launch { entry, grid, block, mut options, args } in launches {
        checks.iter().for_each(|check| options.check(*check));
        let arg = |arg| match arg {
            CaseArg::Buffer(name) => Arg::Buffer(ids[name.as_str()]),
            CaseArg::Other(arg) => arg,
        };
        let args: Vec<Arg> = args.into_iter().map(arg).collect();
        let result = program.kernel(&entry).and_then(|kernel| kernel.launch(grid, block, &args, &mut memory, &options));
        output += &memory.take_printed();
        match result {
            Ok(report) => findings.extend(report.findings),
            Err(errors) => {
                failure = Some(errors.0.iter().take(3).map(ToString::to_string).collect::<Vec<_>>().join("\n    "));
                break;
            }
        }
    }

    let mut problems = Vec::new();
    let mut untouched: Vec<&str> = buffers.keys().map(String::as_str).collect();
    let mut lines = expected.lines();
    while let Some(line) = lines.next() {
        if let Some(wanted) = line.strip_prefix("fails: ") {
            match failure.take() {
                Some(failure) if failure.contains(wanted) => untouched.clear(),
                Some(failure) => problems.push(format!("failed otherwise: {failure}")),
                None => problems.push("it did not fail".to_owned()),
            }
        } else if line.starts_with("printed") {
            let mut wanted: Vec<&str> = lines.by_ref().map(|line| line.strip_prefix('|').unwrap()).collect();
            wanted.iter_mut().for_each(|line| *line = line.strip_prefix(' ').unwrap_or(line));
            let mut found: Vec<&str> = output.lines().collect();
            if line == "printed in any order:" {
                wanted.sort_unstable();
                found.sort_unstable();
            }
            if wanted != found {
                let at = wanted.iter().zip(&found).position(|(wanted, found)| wanted != found);
                let at = at.unwrap_or(wanted.len().min(found.len()));
                problems.push(format!("line {} printed is {:?}, expected {:?}", at + 1, found.get(at), wanted.get(at)));
            }
        } else if failure.is_none() {
            let (name, _) = line.split_once([':', ' ']).unwrap();
            untouched.retain(|other| *other != name);
            let found = difference(memory.bytes(ids[name]), buffers[name].0, &line[name.len()..]);
            problems.extend(found.map(|problem| format!("{name}: {problem}")));
        }
    }
    if let Some(failure) = failure {
        return (vec![failure], findings);
    }
    let changed = untouched.iter().filter(|name| memory.bytes(ids[*name]) != buffers[**name].1);
    problems.extend(changed.map(|name| format!("{name} changed")));
    (problems, findings)
}

#[test]
fn kernels_compute_what_their_sources_do_on_a_host() {
    let files = data("kernels", "ptx");
    let only = std::env::var("VOP_KERNEL").unwrap_or_default();
    let (mut cases, mut failures) = (BTreeMap::new(), String::new());
    for path in files.iter().filter(|path| path.to_string_lossy().contains(&only)) {
        let file = path.file_name().unwrap().to_str().unwrap();
        let name = file.split('.').next().unwrap();
        let case = std::fs::read_to_string(path.with_file_name(format!("{name}.case"))).unwrap();
        let (problems, _) = run(&std::fs::read_to_string(path).unwrap(), &case, &[]);
        *cases.entry(name.to_owned()).or_insert(0) += 1;
        if !problems.is_empty() {
            failures += &format!("{file}: {}\n", problems.join("\n    "));
        }
    }
    assert!(!only.is_empty() || cases.len() >= 36, "{} kernels", cases.len());
    assert!(
        failures.is_empty(),
        "of {} modules, these did something else than their cases say:\n{failures}",
        files.len()
    );
}

/// Checks change no result, and find nothing in kernels that are right.
#[test]
fn checks_find_nothing_in_these_kernels() {
    let only = std::env::var("VOP_KERNEL").unwrap_or_default();
    let mut failures = String::new();
    for path in data("kernels", "ptx").iter().filter(|path| path.to_string_lossy().contains(&only)) {
        let file = path.file_name().unwrap().to_str().unwrap();
        let name = file.split('.').next().unwrap();
        let case = std::fs::read_to_string(path.with_file_name(format!("{name}.case"))).unwrap();
        let (problems, findings) = run(&std::fs::read_to_string(path).unwrap(), &case, Check::ALL);
        for problem in problems {
            failures += &format!("{file}: {problem}\n");
        }
        for finding in findings.iter().filter(|finding| finding.severity == Severity::Error) {
            // The last lane of a warp that is not full reads the next one, and its source says so.
            if name == "shuffles" && finding.error.kind == RunErrorKind::MissingLane {
                continue;
            }
            failures += &format!("{file}: {} times: {}\n", finding.count, finding.error);
        }
    }
    assert!(failures.is_empty(), "{failures}");
}
