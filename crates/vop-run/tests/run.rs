//! Runs kernels and compares with what their files say.
//!
//! `data/run/*.ptx` are whole kernels: comments above say how to launch them, those below, behind `=>`, what must come out.
//! `VOP_BLESS=1 cargo test` writes what came out there; look at the difference before you commit it.
//!
//! ```text
//! // launch grid=2 block=4,2 shared=64 limit=1000      all may be left out; also cooperative=64 (blocks that there is room for) stack=1024 check=races,warp check=all cores=1
//! // buffer in u32 1 2 3                               an argument: a buffer with these elements
//! // buffer out s32 *8                                 an argument: a buffer of eight zeros
//! // empty out s32 8                                   an argument: such a buffer, which counts as not written
//! // value u32 5                                       an argument: a scalar
//! .entry k(…) { … }
//! // =>
//! // out: 1 2 3 4 5 6 7 8                              all buffers that changed, and what was found; or the error
//! ```
//!
//! `data/run/*.tsv` are single instructions: see [`single_instructions`].

#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

mod common;

use std::path::Path;
use std::time::Duration;

use common::{bits, bytes, data, size};
use vop::Semantics;
use vop_ptx::module::Scalar;
use vop_run::{Activity, Arg, BufferId, Check, LaunchOptions, Memory, Program, RunOptions, run_launch_file};

fn numbers(bytes: &[u8], ty: Scalar) -> String {
    let number = |chunk: &[u8]| {
        let mut word = [0; 8];
        word[..chunk.len()].copy_from_slice(chunk);
        let value = u64::from_le_bytes(word);
        match ty {
            Scalar::S8 => (value as i8).to_string(),
            Scalar::S16 => (value as i16).to_string(),
            Scalar::S32 => (value as i32).to_string(),
            Scalar::S64 => (value as i64).to_string(),
            Scalar::F32 => f32::from_bits(value as u32).to_string(),
            Scalar::F64 => f64::from_bits(value).to_string(),
            Scalar::B8 | Scalar::B16 | Scalar::B32 | Scalar::B64 => {
                format!("0x{value:0width$x}", width = 2 * chunk.len())
            }
            _ => value.to_string(),
        }
    };
    bytes.chunks(size(ty)).map(number).collect::<Vec<_>>().join(" ")
}

/// What a case's kernel leaves, or the error.
fn run_case(text: &str) -> String {
    let program = Program::read(text);
    let mut memory: Memory = program.memory();
    let mut buffers: Vec<(String, Scalar, BufferId, Vec<u8>)> = Vec::new();
    let mut args: Vec<Arg> = Vec::new();
    let mut sizes = [[1u32; 3]; 2];
    let mut limits = LaunchOptions::default();
    for line in text.lines().map_while(|line| line.strip_prefix("// ")) {
        let words: Vec<&str> = line.split_whitespace().collect();
        match words[..] {
            ["launch", ..] => {
                for word in &words[1..] {
                    let (key, value) = word.split_once('=').unwrap();
                    match key {
                        "shared" => limits.dynamic_shared = value.parse().unwrap(),
                        "cooperative" => limits.cooperative = Some(value.parse().unwrap()),
                        "limit" => limits.instructions = value.parse().unwrap(),
                        "stack" => limits.stack = value.parse().unwrap(),
                        "check" => {
                            let checks = value.split(',').flat_map(|name| Check::named(name).unwrap());
                            checks.for_each(|check| limits.check(*check));
                        }
                        "cores" => limits.cores = Some(value.parse().unwrap()),
                        _ => {
                            for (axis, number) in value.split(',').enumerate() {
                                sizes[usize::from(key == "block")][axis] = number.parse().unwrap();
                            }
                        }
                    }
                }
            }
            ["buffer", name, ty, ..] => {
                let ty = Scalar::from_name(ty).unwrap();
                let content = match words[3].strip_prefix('*') {
                    Some(count) => vec![0; count.parse::<usize>().unwrap() * size(ty)],
                    None => bytes(words[3..].iter().map(|word| bits(word, ty)), ty),
                };
                let id = memory.allocate(name, content.clone());
                args.push(id.into());
                buffers.push((name.to_owned(), ty, id, content));
            }
            ["empty", name, ty, count] => {
                let ty = Scalar::from_name(ty).unwrap();
                let len = count.parse::<usize>().unwrap() * size(ty);
                let id = memory.allocate_uninitialized(name, len as u64).unwrap();
                args.push(id.into());
                buffers.push((name.to_owned(), ty, id, vec![0; len]));
            }
            ["value", ty, value] => {
                let ty = Scalar::from_name(ty).unwrap();
                args.push(Arg::Scalar(ty, bits(value, ty)));
            }
            _ => {}
        }
    }
    let entry = program.entries().next().unwrap_or("").to_owned();
    let result =
        program.kernel(&entry).and_then(|kernel| kernel.launch(sizes[0], sizes[1], &args, &mut memory, &limits));
    match result {
        Err(errors) => errors.to_string(),
        Ok(report) => {
            let changed = buffers.iter().filter(|(_, _, id, before)| memory.bytes(*id) != before);
            let changed = changed.map(|(name, ty, id, _)| format!("{name}: {}", numbers(memory.bytes(*id), *ty)));
            let found = report
                .findings
                .iter()
                .map(|finding| format!("{}, {} times: {}", finding.severity.name(), finding.count, finding.error));
            changed.chain(found).collect::<Vec<_>>().join("\n")
        }
    }
}

#[test]
fn kernels() {
    let bless = std::env::var_os("VOP_BLESS").is_some();
    let mut failures = String::new();
    for path in data("run", "ptx") {
        let text = std::fs::read_to_string(&path).unwrap();
        let (case, expected) = text.split_once("// =>\n").expect("a case ends with what comes out");
        let found: String = run_case(&text).lines().map(|line| format!("// {line}\n")).collect();
        if found == expected {
            continue;
        }
        if bless {
            std::fs::write(&path, format!("{case}// =>\n{found}")).unwrap();
        } else {
            failures += &format!("{}:\n{found}\n", path.display());
        }
    }
    assert!(failures.is_empty(), "these kernels gave something else than their files say:\n{failures}");
}

/// Rows of `opcode <tab> types <tab> sources <tab> result`: types are the destination's and the sources' registers, values are hex
/// (decimal with a point for floats). A fifth column is the result by ptxas's code, where that is another. Each row becomes a kernel of its
/// own.
#[test]
fn single_instructions() {
    let mut failures = String::new();
    let mut rows = 0;
    for path in data("run", "tsv") {
        let text = std::fs::read_to_string(&path).unwrap();
        for line in text.lines().filter(|line| !line.is_empty() && !line.starts_with('#')) {
            let row: Vec<&str> = line.split('\t').collect();
            let ([opcode, types, sources, result] | [opcode, types, sources, result, _]) = row[..] else {
                panic!("{line}")
            };
            let types: Vec<&str> = types.split(' ').collect();
            let sources: Vec<&str> = sources.split(' ').collect();
            rows += 1;
            let mut check = |semantics, expected: &str| {
                let found = instruction(opcode, &types, &sources, semantics);
                if found != expected && as_bits(&found, types[0]) != expected {
                    failures += &format!("{opcode} {sources:?}: {found}, expected {expected} ({semantics})\n");
                }
            };
            check(Semantics::Isa, result);
            if let Some(by_ptxas) = row.get(4) {
                check(Semantics::Ptxas, by_ptxas);
            }
        }
    }
    assert!(rows > 5000, "{rows}");
    assert!(failures.is_empty(), "{failures}");
}

/// A float's bits, as a row may have them instead of the number.
fn as_bits(number: &str, ty: &str) -> String {
    let single = || number.parse::<f32>().ok().filter(|_| ty == "f32").map(|number| u64::from(number.to_bits()));
    let double = || number.parse::<f64>().ok().filter(|_| ty == "f64").map(f64::to_bits);
    single().or_else(double).map_or_else(String::new, |bits| format!("{bits:x}"))
}

fn instruction(opcode: &str, types: &[&str], sources: &[&str], semantics: Semantics) -> String {
    let memory_type = |ty: &str| if ty == "pred" { Scalar::U32 } else { Scalar::from_name(ty).unwrap() };
    let mut parameters = ".param .u64 out".to_owned();
    let mut body = ".reg .b64 %out; .reg .b32 %t; ld.param.u64 %out, [out];\n".to_owned();
    let results: Vec<&str> = types[0].split('|').collect();
    let names: Vec<String> = (0..results.len()).map(|i| format!("%d{i}")).collect();
    let mut operands = names.join("|");
    let mut args = Vec::new();
    for (i, (ty, source)) in types[1..].iter().zip(sources).enumerate() {
        // A source with a `#` stands in the instruction itself.
        if let Some(immediate) = source.strip_prefix('#') {
            operands += &format!(", {immediate}");
            continue;
        }
        let in_memory = memory_type(ty);
        parameters += &format!(", .param .{} p{i}", in_memory.name());
        body += &format!(".reg .{ty} %s{i};\n");
        body += &if *ty == "pred" {
            format!("ld.param.u32 %t, [p{i}]; setp.ne.u32 %s{i}, %t, 0;\n")
        } else {
            format!("ld.param.{ty} %s{i}, [p{i}];\n")
        };
        operands += &format!(", %s{i}");
        let hex = |text: &str| u64::from_str_radix(text, 16).unwrap();
        let is_value = source.contains('.') || source.ends_with("inf");
        let value = if is_value { bits(source, in_memory) } else { hex(source) };
        args.push(Arg::Scalar(in_memory, value));
    }
    let mut store = String::new();
    for (i, ty) in results.iter().enumerate() {
        body += &format!(".reg .{ty} %d{i};\n");
        store += &match *ty {
            "pred" => format!("selp.u32 %t, 1, 0, %d{i}; st.global.u32 [%out+{}], %t;", 8 * i),
            ty => format!("st.global.{ty} [%out+{}], %d{i};", 8 * i),
        };
    }
    let ptx = format!(".entry k({parameters}) {{ {body} {opcode} {operands};\n{store} }}");
    let program = Program::read(&ptx);
    let mut memory = program.memory();
    let out = memory.allocate("out", vec![0; 16]);
    args.insert(0, out.into());
    let kernel = match program.kernel("k") {
        Ok(kernel) => kernel,
        Err(errors) => return format!("refused: {}", errors.0[0].message),
    };
    let options = LaunchOptions::default().with_semantics(semantics);
    kernel.launch([1; 3], [1; 3], &args, &mut memory, &options).unwrap();
    let written = results.iter().zip(memory.bytes(out).as_chunks().0).map(|(ty, bytes)| {
        let value = u64::from_le_bytes(*bytes);
        match memory_type(ty) {
            Scalar::F32 if !f32::from_bits(value as u32).is_nan() => format!("{:?}", f32::from_bits(value as u32)),
            Scalar::F64 if !f64::from_bits(value).is_nan() => format!("{:?}", f64::from_bits(value)),
            _ => format!("{value:x}"),
        }
    });
    written.collect::<Vec<_>>().join("|")
}

/// A folder with a launch file, a kernel and what else is given.
fn launch_folder(toml: &str) -> tempfile::TempDir {
    const PTX: &str = ".entry scale(.param .u64 to, .param .u64 from, .param .u32 factor, .param .align 2 .b8 pair[4])
        {
            .reg .b16 %h<3>;
            .reg .b32 %r<4>;
            .reg .b64 %rd<5>;
            ld.param.u64 %rd1, [to];
            ld.param.u64 %rd2, [from];
            ld.param.u32 %r1, [factor];
            ld.param.v2.u16 {%h1, %h2}, [pair];
            cvt.u64.u32 %rd3, %tid.x;
            add.u64 %rd2, %rd2, %rd3;
            ld.global.u8 %r2, [%rd2];
            mad.lo.u32 %r2, %r2, %r1, %ctaid.x;
            cvt.u32.u16 %r3, %h2;
            add.u32 %r2, %r2, %r3;
            shl.b64 %rd4, %rd3, 2;
            add.u64 %rd1, %rd1, %rd4;
            st.global.u32 [%rd1], %r2;
        }
        .entry unknown() { .reg .b32 %r1; mapa.u32 %r1, %r1, 0; }";
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(folder.path().join("k.ptx"), PTX).unwrap();
    std::fs::write(folder.path().join("in.raw"), [1, 2, 3]).unwrap();
    std::fs::write(folder.path().join("launch.toml"), toml).unwrap();
    folder
}

fn files(folder: &Path) -> Vec<String> {
    let names = std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().file_name().into_string().unwrap());
    let mut names: Vec<String> = names.collect();
    names.sort();
    names
}

#[test]
fn a_launch_file_runs_and_saves() {
    let folder = launch_folder(
        r#"
        ptx = "k.ptx"
        buffers.from = { file = "in.raw", type = "u8" }
        buffers.to = { type = "u32", shape = [3], save = "out.npy" }
        buffers.same = { file = "in.raw", type = "u8", shape = [1, 3], save = "same.png" }
        [[launch]]
        entry = "scale"
        grid = [2]
        block = 3
        args = ["to", "from", { i32 = -2 }, { u16 = [0, 100] }]
        [[launch]]
        entry = "scale"
        grid = 1
        block = [3, 1]
        args = ["to", "same", { u32 = 10 }, { u8 = [0, 0, 1, 0] }]
        "#,
    );
    let path = folder.path().join("launch.toml");
    let summary = run_launch_file(&path, &RunOptions::default()).unwrap();
    assert_eq!(summary.launches.iter().map(|launch| launch.report.instructions).collect::<Vec<_>>(), [78, 39]);
    assert_eq!(files(folder.path()), ["in.raw", "k.ptx", "launch.toml", "out.npy", "same.png"]);
    let npy = std::fs::read(folder.path().join("out.npy")).unwrap();
    assert_eq!(npy[npy.len() - 12..], [11, 0, 0, 0, 21, 0, 0, 0, 31, 0, 0, 0]);

    // What was written can be read: by type and shape, and refused where they differ.
    let again = |buffer: &str| {
        let toml = format!(
            r#"
            ptx = "k.ptx"
            buffers.from = {{ {buffer} }}
            buffers.to = {{ type = "u32", shape = [3] }}
            launch = [{{ entry = "scale", grid = 1, block = 1, args = ["to", "from", {{ u32 = 1 }}, {{ u8 = [0, 0, 0, 0] }}] }}]
            "#
        );
        std::fs::write(&path, toml).unwrap();
        run_launch_file(&path, &RunOptions::default())
            .map(|_| ())
            .map_err(|errors| errors.0[0].message.replace(folder.path().to_str().unwrap(), "."))
    };
    assert_eq!(again(r#"file = "out.npy""#), Ok(()));
    assert_eq!(again(r#"file = "same.png", shape = [1, 3]"#), Ok(()));
    assert_eq!(
        again(r#"file = "same.png", shape = [3]"#).unwrap_err(),
        "cannot read ./same.png: it holds u8 [1, 3], and u8 [3] is declared"
    );
    assert_eq!(
        again(r#"file = "out.npy", type = "i32""#).unwrap_err(),
        "cannot read ./out.npy: it holds u32 [3], and i32 [3] is declared"
    );
    assert_eq!(
        again(r#"file = "in.raw", type = "u16""#).unwrap_err(),
        "cannot read ./in.raw: it has 3 bytes, which is no multiple of 2, the size of a u16"
    );
    assert_eq!(
        again(r#"file = "in.raw""#).unwrap_err(),
        "cannot read ./in.raw: it is a raw file: a `type` must say what it holds"
    );
}

#[test]
fn a_launch_has_the_semantics_asked_for() {
    let program = Program::read(
        ".version 8.0 .target sm_75 .address_size 64
        .entry k(.param .u64 out) {
            .reg .b32 %a, %b, %d; .reg .b64 %rd1;
            ld.param.u64 %rd1, [out];
            mov.b32 %a, -16;
            mov.b32 %b, 5;
            vadd.u32.s32.s32.sat %d.h1, %a, %b, 7;
            st.global.u32 [%rd1], %d;
        }",
    );
    let kernel = program.kernel("k").unwrap();
    for (semantics, d) in [(Semantics::Isa, 7), (Semantics::Ptxas, 0xffff_0007), (Semantics::PtxasTo13_2, 7)] {
        let mut memory = program.memory();
        let out = memory.allocate("out", vec![0; 4]);
        let options = LaunchOptions::default().with_semantics(semantics);
        kernel.launch([1; 3], [1; 3], &[out.into()], &mut memory, &options).unwrap();
        assert_eq!(memory.bytes(out), u32::to_le_bytes(d), "{semantics}");
    }
}

/// A region of OpenACC as GCC compiles it: its one argument is a table of pointers, and threads of a warp join by shuffles.
#[test]
fn a_kernel_of_gcc_runs() {
    const N: usize = 1000;
    let source = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/data/gcc/openacc.ptx");
    let folder = tempfile::tempdir().unwrap();
    let write = |name: &str, bytes: Vec<u8>| std::fs::write(folder.path().join(name), bytes).unwrap();
    let x = |i: usize| i as f32 * 0.5;
    let y = |i: usize| (N - i) as f32;
    write("x.raw", (0..N).flat_map(|i| x(i).to_le_bytes()).collect());
    write("y.raw", (0..N).flat_map(|i| y(i).to_le_bytes()).collect());
    let collatz = |mut n: u32| {
        let mut steps = 0;
        while n != 1 {
            n = if n & 1 == 1 { 3 * n + 1 } else { n / 2 };
            steps += 1;
        }
        steps
    };
    let hash = |i: usize| {
        (0..8).fold(i as u64, |z, _| {
            let z = (z ^ z >> 7).wrapping_mul(0x9e37_79b9_7f4a_7c15);
            z.wrapping_add(z % 1_000_003)
        })
    };
    write("y-after.raw", (0..N).flat_map(|i| 2.5f32.mul_add(x(i), y(i)).to_le_bytes()).collect());
    write("k-after.raw", (0..N).flat_map(|i| i32::to_le_bytes(collatz(i as u32 + 1))).collect());
    write("h-after.raw", (0..N).flat_map(|i| hash(i).to_le_bytes()).collect());
    // All sums on the way are exact, in whatever order.
    let sum: f32 = (0..N).map(|i| 2.5f32.mul_add(x(i), y(i))).sum();
    write("s-after.raw", sum.to_le_bytes().to_vec());
    let launch = format!(
        r#"
ptx = {source:?}
[buffers]
x = {{ file = "x.raw", type = "f32" }}
y = {{ file = "y.raw", type = "f32", expect = "y-after.raw" }}
k = {{ type = "i32", shape = [1000], expect = "k-after.raw" }}
h = {{ type = "u64", shape = [1000], expect = "h-after.raw" }}
s = {{ type = "f32", shape = [1], expect = "s-after.raw" }}
all = {{ addresses = ["x", "y", "k", "h", "s"] }}
[[launch]]
grid = 3
block = 32
args = ["all"]
"#
    );
    let path = folder.path().join("launch.toml");
    std::fs::write(&path, launch).unwrap();
    let summary = run_launch_file(&path, &RunOptions::default()).unwrap();
    assert!(summary.comparisons.len() == 4 && summary.comparisons.iter().all(|comparison| comparison.differing == 0));
}

/// A structure passed by value holds what C puts there, addresses too.
#[test]
fn a_structure_is_laid_out_as_in_c() {
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(
        folder.path().join("k.ptx"),
        ".version 8.0 .target sm_75 .address_size 64
        .entry k(.param .align 8 .b8 s[32]) {
            .reg .b32 %r<4>; .reg .b64 %rd<3>; .reg .b16 %h;
            ld.param.u64 %rd1, [s+8];
            ld.param.u8 %r0, [s]; ld.param.u32 %r1, [s+20]; ld.param.u32 %r2, [s+24]; ld.param.u16 %h, [s+28];
            st.global.u32 [%rd1], %r0; st.global.u32 [%rd1+4], %r1; st.global.u32 [%rd1+8], %r2; st.global.u16 [%rd1+12], %h;
        }",
    )
    .unwrap();
    let path = folder.path().join("launch.toml");
    // struct { char a; unsigned *b; char c; struct { int x[2]; } d; short e; }
    let launch = r#"
ptx = "k.ptx"
buffers = { out = { type = "u32", shape = [4], expect = "expected.raw" } }
[[launch]]
grid = 1
block = 1
args = [[{ u8 = 200 }, "out", { u8 = 1 }, [{ i32 = [-7, 9] }], { u16 = 77 }]]
"#;
    std::fs::write(&path, launch).unwrap();
    std::fs::write(folder.path().join("expected.raw"), [200, -7, 9, 77].map(i32::to_le_bytes).concat()).unwrap();
    let summary = run_launch_file(&path, &RunOptions::default()).unwrap();
    assert_eq!(summary.comparisons[0].differing, 0, "{:?}", summary.comparisons[0].first);
}

/// Each launch file with what is wrong with it; none leaves an output.
#[test]
fn a_wrong_launch_file_says_where() {
    let cases = [
        // The entry, the arguments.
        (
            r#"entry = "scal", grid = 1, block = 1, args = []"#,
            "1: the module has no entry `scal` [V0603]\n  at `\"scal\"`\n  help: it has `scale`, `unknown`",
        ),
        (
            r#"entry = "unknown", grid = 1, block = 1, args = []"#,
            "20: instruction `mapa.u32` is not supported by vop run: clusters are not [V0601]\n  at `mapa.u32 %r1, %r1, 0;`",
        ),
        (
            r#"entry = "scale", grid = 1, block = 1, args = ["to", "from", { f32 = 1 }, { u8 = [1] }, "to"]"#,
            "1: a .f32 value does not fit parameter 3 of `scale`: `factor` (.u32) [V0604]\n  at `{ f32 = 1 }`\n\
             1: a list of 1 bytes does not fit parameter 4 of `scale`: `pair` (4 bytes) [V0604]\n  at `{ u8 = [1] }`\n\
             1: argument 5 is one too many: `scale` has 4 parameters [V0604]\n  at `\"to\"`",
        ),
        (
            r#"entry = "scale", grid = 1, block = 1, args = ["too", { u8 = 256 }, { s32 = 1 }, 5]"#,
            "1: there is no buffer `too` [V0612]\n  at `\"too\"`\n  help: the buffers are `from`, `to`; { address = \"NAME\" } is the address of a variable of the module\n\
             1: 256 is no u8 [V0612]\n  at `{ u8 = 256 }`\n\
             1: `s32` is no type of an argument: they are u8, i8, u16, i16, u32, i32, u64, i64, f16, f32, f64 [V0612]\n  at `{ s32 = 1 }`\n\
             1: an argument is the name of a buffer, `{ address = \"NAME\", offset = 4 }`, a value with its type, \
             `{ i32 = 640 }`, or a structure of such, in brackets [V0612]\n  at `5`",
        ),
        (
            r#"entry = "scale", grid = 1, block = 1, args = ["to", ["from", "two"], [[]], []]"#,
            "1: there is no buffer `two` [V0612]\n  at `[\"from\", \"two\"]`\n  help: the buffers are `from`, `to`; { address = \"NAME\" } is the address of a variable of the module\n\
             1: an argument is the name of a buffer, `{ address = \"NAME\", offset = 4 }`, a value with its type, \
             `{ i32 = 640 }`, or a structure of such, in brackets [V0612]\n  at `[[]]`\n\
             1: an argument is the name of a buffer, `{ address = \"NAME\", offset = 4 }`, a value with its type, \
             `{ i32 = 640 }`, or a structure of such, in brackets [V0612]\n  at `[]`",
        ),
        // The shape, the keys.
        (
            r#"entry = "scale", grid = [0, 1], block = 1, args = []"#,
            "1: the grid's x is 0: it must be 1 to 2147483647 [V0605]\n  at `[0, 1]`",
        ),
        (
            r#"entry = "scale", grid = [65, 65], block = 1, cooperative = true, args = []"#,
            "1: a cooperative grid of 4225 blocks: the device holds 4224 of them at once [V0604]\n  at `[65, 65]`\n  \
             help: a smaller grid, whose blocks take more work each, or smaller blocks",
        ),
        (
            r#"entry = "scale", grid = "x", block = 1, args = []"#,
            "1: a size is a number or a list of one to three: x, y, z [V0612]\n  at `\"x\"`\n  \
             help: a name stands for a number if `for` of the launch has it: for = { x = [1, 2, 4] }",
        ),
        (
            r#"entry = "scale", gird = 1, block = 1, args = []"#,
            "1: unknown field `gird`, expected one of `entry`, `grid`, `block`, `shared`, `cooperative`, `args`, `for`, `check`, `timeout` [V0612]\n  at `gird`",
        ),
        // The run itself: the second thread reads behind the end.
        (
            r#"entry = "scale", grid = 1, block = 4, args = ["to", "from", { u32 = 1 }, { u16 = [0, 0] }]"#,
            "12: an access of 1 byte at byte 3 of `from` goes 1 byte beyond its end: it has 3 (address 0x10000000003) [V0606]\n  at `ld.global.u8 %r2, [%rd2];`\n  in thread (3, 0, 0) of block (0, 0, 0)",
        ),
    ];
    for (launch, expected) in cases {
        let buffers =
            r#"from = { file = "in.raw", type = "u8" }, to = { type = "u32", shape = [3], save = "out.npy" }"#;
        let folder = launch_folder(&format!("launch = [{{ {launch} }}]\nptx = 'k.ptx'\nbuffers = {{ {buffers} }}"));
        let errors = run_launch_file(&folder.path().join("launch.toml"), &RunOptions::default()).unwrap_err();
        // Paths and columns aside.
        let found = errors.0.iter().map(|error| {
            let text = error.to_string();
            let place = error.place.as_ref().unwrap();
            let prefix = format!("{}:{}:{}: ", place.file.as_ref().unwrap().display(), place.line, place.column);
            format!("{}: {}", place.line, text.strip_prefix(&prefix).unwrap())
        });
        assert_eq!(found.collect::<Vec<_>>().join("\n"), expected, "{launch}");
        assert_eq!(files(folder.path()), ["in.raw", "k.ptx", "launch.toml"]);
    }
}

#[test]
fn an_atomic_depends_on_the_order_of_blocks_if_its_old_value_is_read() {
    let lines = |instructions: &str| {
        let program = Program::read(&format!(
            ".entry k(.param .u64 out) {{ .reg .b32 %r<3>; .reg .f32 %f<3>; .reg .b64 %rd<3>; .reg .pred p;
            ld.param.u64 %rd1, [out];\n{instructions} }}"
        ));
        let mut memory = program.memory();
        let out = memory.allocate("out", [0; 8]);
        let options = LaunchOptions::default().with_cores(2);
        let kernel = program.kernel("k").unwrap();
        kernel.launch([2, 1, 1], [1, 1, 1], &[out.into()], &mut memory, &options).unwrap().order_dependent
    };
    let none: [usize; 0] = [];
    assert_eq!(lines("red.global.add.u32 [%rd1], 1;"), none);
    // As compilers leave it.
    assert_eq!(lines("atom.global.add.u32 %r1, [%rd1], 1;"), none);
    assert_eq!(lines("atom.global.add.u32 %r1, [%rd1], 1;\nst.global.u32 [%rd1+4], %r1;"), [3]);
    assert_eq!(lines("atom.global.add.u32 %r1, [%rd1], 1;\nsetp.eq.u32 p, %r1, 0;"), [3]);
    assert_eq!(lines("atom.global.add.f32 %f1, [%rd1], 0f3F800000;"), [3]);
    assert_eq!(lines("atom.global.exch.b32 %r1, [%rd1], 1;"), [3]);
}

/// What another thread sees of a launch that runs, and that it sees nothing afterwards.
#[test]
fn a_launch_says_what_is_running() {
    let program = Program::read(
        ".entry spin(.param .u64 n) {
            .reg .b64 %rd<2>; .reg .pred p;
            ld.param.u64 %rd1, [n];
        AGAIN:
            sub.s64 %rd1, %rd1, 1; setp.ne.s64 p, %rd1, 0; @p bra AGAIN;
        }",
    );
    let kernel = program.kernel("spin").unwrap();
    let activity = Activity::default();
    let options = LaunchOptions::default().with_activity(activity.clone()).with_cores(1);
    let seen = std::thread::scope(|scope| {
        let launch = scope.spawn(|| {
            let mut memory = program.memory();
            kernel.launch([50, 1, 1], [32, 1, 1], &[50_000u64.into()], &mut memory, &options).unwrap();
        });
        let mut seen = Vec::new();
        while !launch.is_finished() {
            seen.extend(activity.now());
            std::thread::sleep(Duration::from_millis(1));
        }
        seen
    });
    let last = seen.last().expect("the launch takes longer than a look at it");
    assert_eq!((last.launch, last.entry.as_str(), last.blocks), (1, "spin", 50));
    // Each thread executes 1 + 3 * 50,000 statements.
    assert!(seen.iter().all(|now| now.done <= 50 && now.instructions <= 50 * 32 * 150_001), "{last:?}");
    assert!(seen.is_sorted_by_key(|now| now.done) && last.done > 0, "{last:?}");
    assert_eq!(activity.now(), None);
}

const ALLOCATES: &str = ".extern .func (.param .b64 result) malloc (.param .b64 bytes);
    .extern .func free (.param .b64 pointer);
    .global .b64 kept;
    .entry take(.param .u64 scratch) {
        .reg .b64 %rd<3>; .reg .b32 %r<3>;
        .param .b64 bytes; .param .b64 result;
        st.param.b64 [bytes], 40;
        call.uni (result), malloc, (bytes);
        ld.param.b64 %rd1, [result];
        st.global.u64 [kept], %rd1;
        ld.param.u64 %rd2, [scratch];
        st.global.u32 [%rd2], 1;
    }
    .entry give(.param .u64 scratch) {
        .reg .b64 %rd<3>; .reg .b32 %r<3>;
        .param .b64 pointer;
        ld.param.u64 %rd2, [scratch];
        ld.global.u32 %r1, [%rd2];
        ld.global.u64 %rd1, [kept];
        st.param.b64 [pointer], %rd1;
        call.uni free, (pointer);
    }
    .entry use(.param .u64 scratch) {
        .reg .b64 %rd<3>; .reg .b32 %r<3>;
        ld.param.u64 %rd2, [scratch];
        ld.global.u32 %r1, [%rd2+4];
        ld.global.u64 %rd1, [kept];
        st.u32 [%rd1], 1;
    }
    .entry fail(.param .u64 scratch) { trap; }";

/// The codes that each launch of a launch file finds, or the errors.
fn found_by(check: &str, entries: &[&str]) -> Result<Vec<Vec<&'static str>>, String> {
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(folder.path().join("k.ptx"), ALLOCATES).unwrap();
    let mut toml = "ptx = \"k.ptx\"\n[buffers]\nscratch = { type = \"u32\", shape = [2] }\n".to_owned();
    for entry in entries {
        let (entry, check) = entry.split_once('!').map_or((*entry, check), |(entry, _)| (entry, "[]"));
        toml +=
            &format!("[[launch]]\nentry = \"{entry}\"\ngrid = 1\nblock = 1\nargs = [\"scratch\"]\ncheck = {check}\n");
    }
    let path = folder.path().join("launch.toml");
    std::fs::write(&path, toml).unwrap();
    let summary = run_launch_file(&path, &RunOptions::default());
    let summary = summary.map_err(|errors| {
        let codes: Vec<String> =
            errors.0.iter().map(|error| format!("{} {}", error.kind.code(), error.message)).collect();
        codes.join("; ")
    })?;
    let codes = |launch: &vop_run::job::LaunchSummary| {
        launch.report.findings.iter().map(|finding| finding.error.kind.code()).collect::<Vec<_>>()
    };
    Ok(summary.launches.iter().map(codes).collect())
}

#[test]
fn checks_know_what_earlier_launches_did() {
    // What is freed later is no leak, and what an earlier launch wrote is written.
    assert_eq!(found_by("\"all\"", &["take", "give"]), Ok(vec![vec![], vec![]]));
    assert_eq!(found_by("\"all\"", &["take"]), Ok(vec![vec!["V0625"]]));
    assert_eq!(found_by("\"all\"", &["take", "give", "use"]), Ok(vec![vec![], vec![], vec!["V0618", "V0623"]]));
    assert_eq!(found_by("[\"heap\"]", &["take", "give", "use"]), Ok(vec![vec![], vec![], vec!["V0623"]]));
    assert_eq!(found_by("[\"heap\"]", &["take", "give", "give"]), Ok(vec![vec![], vec![], vec!["V0624"]]));
    assert_eq!(found_by("\"races, uninit\"", &["take", "use"]), Ok(vec![vec![], vec!["V0618"]]));
    // A launch without the check may have written everything, and allocates without being seen.
    assert_eq!(found_by("\"all\"", &["take!", "use", "give"]), Ok(vec![vec![], vec![], vec![]]));
    assert_eq!(found_by("\"all\"", &["take", "give!", "use"]), Ok(vec![vec![], vec![], vec!["V0623"]]));
    // The errors that were found stand behind the failure.
    let failure = found_by("\"uninit\"", &["take", "use", "fail"]).unwrap_err();
    assert!(failure.starts_with("V0611") && failure.contains("; V0618"), "{failure}");
    let wrong = found_by("[\"race\"]", &["take"]).unwrap_err();
    assert!(wrong.contains("there is no check `race`") && wrong.contains("`heap` and `all`"), "{wrong}");
}

/// Blocks on several cores that hand a value on by release and acquire: never a race, though cores see each other's writes at any time.
#[test]
fn blocks_that_release_and_acquire_do_not_race() {
    let kernel = |release: &str, acquire: &str| {
        format!(
            ".entry k(.param .u64 data) {{
                .reg .pred w; .reg .b32 %r<6>; .reg .b64 %rd<6>;
                ld.param.u64 %rd1, [data];
                mov.u32 %r1, %ctaid.x;
            wait:
                {acquire} %r2, [%rd1+4];
                setp.ne.u32 w, %r2, %r1;
                @w bra wait;
                ld.global.u32 %r3, [%rd1];
                add.u32 %r3, %r3, 5;
                st.global.u32 [%rd1], %r3;
                add.u32 %r4, %r1, 1;
                {release} [%rd1+4], %r4;
            }}"
        )
    };
    let run = |ptx: &str| {
        let program = Program::read(ptx);
        let mut memory = program.memory();
        let data = memory.allocate("data", [0; 8]);
        let options = LaunchOptions::default().with_check(Check::Races).with_cores(4);
        let report = program.kernel("k").unwrap().launch([200, 1, 1], [1; 3], &[data.into()], &mut memory, &options);
        let report = report.unwrap();
        assert_eq!(memory.bytes(data)[..4], 1000u32.to_le_bytes());
        report
    };
    let right = kernel("st.release.gpu.global.u32", "ld.acquire.gpu.global.u32");
    for _ in 0..5 {
        assert!(run(&right).findings.is_empty());
    }
    for (release, acquire) in [
        ("st.relaxed.gpu.global.u32", "ld.acquire.gpu.global.u32"),
        ("st.release.gpu.global.u32", "ld.relaxed.gpu.global.u32"),
        ("st.release.cta.global.u32", "ld.acquire.cta.global.u32"),
    ] {
        assert!(run(&kernel(release, acquire)).has_errors(), "{release} {acquire}");
    }
}

/// Were functions looked up by going through all of them, this would take minutes.
#[test]
fn tens_of_thousands_of_functions() {
    const COUNT: u32 = 30_000;
    let mut ptx = String::from(".version 8.0\n.target sm_90\n.address_size 64\n");
    let mut calls = String::new();
    for i in 0..COUNT {
        ptx += &format!(".func (.reg .b32 d) f{i}(.reg .b32 a) {{ add.u32 d, a, {i}; ret; }}\n");
        calls += &format!("call (r), f{i}, (r);\n");
    }
    ptx += &format!(
        ".entry k(.param .u64 out) {{ .reg .b64 p; .reg .b32 r; ld.param.u64 p, [out]; mov.u32 r, 0;\n{calls}st.global.u32 [p], r; }}"
    );
    let program = Program::read(&ptx);
    let mut memory = program.memory();
    let out = memory.allocate("out", [0; 4]);
    let kernel = program.kernel("k").unwrap();
    kernel.launch([1; 3], [1; 3], &[out.into()], &mut memory, &LaunchOptions::default()).unwrap();
    let sum = (0..COUNT).fold(0, u32::wrapping_add);
    assert_eq!(memory.bytes(out), sum.to_le_bytes());
}

/// A buffer is no argument of 32 bits unless the kernel keeps addresses so.
#[test]
fn buffers_as_arguments_of_32_bits() {
    let of = |size: u32| {
        let ptx = format!(".version 4.0\n.target sm_30\n.address_size {size}\n.entry k(.param .u32 n) {{ ret; }}");
        let program = Program::read(&ptx);
        let mut memory = program.memory();
        let buffer = memory.allocate("buffer", [0; 4]);
        assert!(memory.short_address(buffer).is_some_and(|address| address.is_multiple_of(256)));
        program.kernel("k").unwrap().argument_errors(&[buffer.into()], &memory).len()
    };
    assert_eq!((of(64), of(32)), (1, 0));
}

/// A buffer that is larger than its own short address: where threads reach counts from its start.
#[test]
fn short_addresses_of_a_large_buffer() {
    let ptx = ".version 4.0 .target sm_30 .address_size 32
        .entry k(.param .u32 a) { .reg .b32 p, t, r; ld.param.u32 p, [a]; mov.u32 t, %tid.x; mad.lo.u32 p, t, 4, p;
        ld.global.u32 r, [p]; add.u32 r, r, t; st.global.u32 [p], r; }";
    let program = Program::read(ptx);
    let mut memory = program.memory();
    let a = memory.allocate_zeros("a", 80 << 20).unwrap();
    assert!(u64::from(memory.short_address(a).unwrap()) + 4 * 32 < 80 << 20);
    memory.bytes_mut(a)[..128].fill(1);
    let kernel = program.kernel("k").unwrap();
    kernel.launch([1; 3], [32, 1, 1], &[a.into()], &mut memory, &LaunchOptions::default()).unwrap();
    let words = memory.bytes(a).as_chunks().0.iter().map(|word| u32::from_le_bytes(*word));
    assert!(words.clone().take(32).eq((0..32).map(|t| 0x0101_0101 + t)));
    assert!(words.skip(32).all(|word| word == 0));
}
