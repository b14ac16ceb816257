//! `cargo xtask port-test`.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::process::Command;

use vop::{Form, Intrinsic, Mnemonic, Semantics};
use vop_port::{Base, Port, PortError, Target};
use vop_tests::{Random, edge_rows, golden};

use super::Failure;
use super::process::{output, starts};

/// Compile what `vop port` writes, run it, and compare it with the golden rows and with evaluation.
///
/// Each target has its tools: gcc and clang (c), gcc (avx2, avx512), aarch64-linux-gnu-gcc and qemu-aarch64 (neon), g++ (cpp, sycl, and
/// cuda's, hip's and metal's text as host code), nvcc (cuda), clang (hip, opencl, llvm), rustc, python3 with NumPy, with pyopencl and an
/// OpenCL platform, and with tree-sitter-julia, and naga (wgsl, glsl). A tool that is missing is named, and what it would have checked is
/// not. Environment variables name others than those on the PATH: CC, AARCH64_CC, CLANG, CXX, NVCC, RUSTC, PYTHON, NAGA.
#[derive(clap::Args)]
pub(crate) struct Args {
    /// Only these targets.
    #[arg(long, value_delimiter = ',')]
    to: Vec<Target>,
    /// Take each N-th golden form.
    #[arg(long, default_value_t = 1)]
    every: usize,
    /// The number of random rows for each form, beside the golden ones.
    #[arg(long, default_value_t = 24)]
    rows: usize,
    /// The seed of the random rows.
    #[arg(long, default_value_t = 1)]
    seed: u64,
    /// Keep the files in this folder.
    #[arg(long, value_name = "FOLDER")]
    keep: Option<PathBuf>,
}

/// The words a, b and c, and d.
type Row = ([u32; 3], u32);

/// A function, and what it must give.
struct Case {
    port: Port,
    rows: Vec<Row>,
}

pub(crate) fn run(args: Args) -> Result<(), Failure> {
    let temporary = tempfile::tempdir()?;
    let folder = args.keep.as_deref().unwrap_or(temporary.path());
    std::fs::create_dir_all(folder)?;
    // Programs run in their folders.
    let folder = folder.canonicalize()?;
    let targets: Vec<Target> = if args.to.is_empty() { Target::all().collect() } else { args.to.clone() };
    for target in targets {
        let (cases, refused) = cases(target, &args)?;
        let rows: usize = cases.iter().map(|case| case.rows.len()).sum();
        let without = if refused > 0 { format!("; {refused} need more than it has") } else { String::new() };
        say(&format!("{target}: {} functions, {rows} rows{without}", cases.len()))?;
        let folder = folder.join(target.name());
        std::fs::create_dir_all(&folder)?;
        let checked = match target.name() {
            "c" => c(&folder, &cases),
            "avx2" | "avx512" | "neon" => vectors(&folder, &cases, target.name()),
            "cpp" => cpp(&folder, &cases),
            "sycl" => cpp(&folder, &cases),
            "metal" => metal(&folder, &cases),
            "cuda" => cuda(&folder, &cases),
            "hip" => hip(&folder, &cases),
            "opencl" => opencl(&folder, &cases),
            "rust" => rust(&folder, &cases),
            "llvm" => llvm(&folder, &cases),
            "numpy" => numpy(&folder, &cases),
            "julia" => julia(&folder, &cases),
            "wgsl" => wgsl(&folder, &cases),
            "glsl" => glsl(&folder, &cases),
            other => Err(format!("no test for {other}: write one in xtask/src/command/port_test.rs").into()),
        }?;
        for line in checked {
            say(&format!("  {line}"))?;
        }
    }
    Ok(())
}

fn say(line: &str) -> Result<(), Failure> {
    writeln!(std::io::stdout(), "{line}")?;
    Ok(())
}

/// What was checked, a line each, and what was not.
type Checked = Result<Vec<String>, Failure>;

/// The golden forms by the manual and, where it differs, by ptxas's code; for each mnemonic some of the other forms; and all base
/// instructions and intrinsics of CUDA.
fn cases(target: Target, args: &Args) -> Result<(Vec<Case>, usize), Failure> {
    let mut by_form: BTreeMap<(Form, bool), Vec<Row>> = BTreeMap::new();
    let mut last = ("", None);
    let mut number = 0usize;
    for (_, row) in golden::rows(golden::VALUES) {
        if row[0] != last.0 {
            let form: Form = row[0].parse().map_err(|_| format!("{} is not legal", row[0]))?;
            last = (row[0], number.is_multiple_of(args.every.max(1)).then_some(form));
            number += 1;
        }
        let Some(form) = last.1 else { continue };
        let inputs = [1, 2, 3].map(|i| golden::value(row[i]));
        by_form.entry((form, false)).or_default().push((inputs, golden::value(row[4])));
        if form.divergence().is_some() {
            by_form.entry((form, true)).or_default().push((inputs, golden::value(row[5])));
        }
    }
    for mnemonic in Mnemonic::ALL {
        for form in mnemonic.forms_with_default_selectors().step_by(7 * args.every.max(1)) {
            by_form.entry((form, false)).or_default();
        }
    }
    let mut random = Random::of(args.seed);
    let (mut cases, mut refused) = (Vec::new(), 0);
    for ((form, by_ptxas), mut rows) in by_form {
        let semantics = if by_ptxas { Semantics::Ptxas } else { Semantics::Isa };
        for [a, b, c] in edge_rows(&mut random, args.rows) {
            rows.push(([a, b, c], form.eval_as(semantics, a, b, c)));
        }
        match vop_port::port(form, target, semantics) {
            Ok(port) => cases.push(Case { port, rows }),
            Err(PortError::NeedsLong { .. }) => refused += 1,
            Err(error) => return Err(error.to_string().into()),
        }
    }
    // Intrinsics by the lane-by-lane definition, and base instructions by the rows that they are, which the engine of `vop run` checks in
    // tests/cases/port.
    let mut rows = |value: &dyn Fn(u32, u32, u32) -> u32| -> Vec<Row> {
        let all = edge_rows(&mut random, args.rows).into_iter();
        // Amounts and selectors that are small, too.
        let all = all.flat_map(|[a, b, c]| [[a, b, c], [a, b, c % 40]]);
        all.map(|[a, b, c]| ([a, b, c], value(a, b, c))).collect()
    };
    let every = args.every.clamp(1, 3);
    for intrinsic in Intrinsic::all().into_iter().step_by(every) {
        let rows = rows(&|a, b, c| intrinsic.eval(a, b, c));
        cases.push(Case { port: vop_port::port_intrinsic(&intrinsic, target), rows });
    }
    for base in Base::samples().into_iter().step_by(every) {
        let rows = rows(&|a, b, c| base.sequence().eval(a, b, c));
        cases.push(Case { port: vop_port::port_base(&base, target), rows });
    }
    Ok((cases, refused))
}

fn tool(variable: &str, default: &str) -> String {
    std::env::var(variable).unwrap_or_else(|_| default.into())
}

fn file(cases: &[Case]) -> String {
    let ports: Vec<Port> = cases.iter().map(|case| case.port.clone()).collect();
    vop_port::file(&ports)
}

/// The rows as words of the machine's order: number of the function, a, b, c, d.
fn write_rows<'a>(folder: &Path, cases: impl IntoIterator<Item = &'a Case>) -> Result<(), Failure> {
    let mut bytes = Vec::new();
    for (number, case) in cases.into_iter().enumerate() {
        for ([a, b, c], d) in &case.rows {
            for word in [number as u32, *a, *b, *c, *d] {
                bytes.extend(word.to_ne_bytes());
            }
        }
    }
    std::fs::write(folder.join("rows.bin"), bytes)?;
    Ok(())
}

/// A program in C or C++ that reads the rows and calls the functions.
fn main_of_c(include: &str, cases: &[Case]) -> String {
    let mut text =
        format!("{include}\n#include <stdio.h>\n\ntypedef unsigned (*function)(unsigned, unsigned, unsigned);\n");
    let names: String = cases.iter().map(|case| format!("    {},\n", case.port.name())).collect();
    let words: String = cases.iter().map(|case| format!("    \"{}\",\n", case.port.name())).collect();
    let _ = write!(
        text,
        "static const function functions[] = {{\n{names}}};\nstatic const char *const names[] = {{\n{words}}};\n\n\
         int main(void)\n{{\n    unsigned row[5];\n    long count = 0, wrong = 0;\n    FILE *file = fopen(\"rows.bin\", \"rb\");\n    \
         if (!file) return 2;\n    while (fread(row, sizeof row[0], 5, file) == 5) {{\n        \
         const unsigned d = functions[row[0]](row[1], row[2], row[3]);\n        count++;\n        if (d != row[4] && wrong++ < 20)\n            \
         printf(\"%s(%#x, %#x, %#x) = %#x, not %#x\\n\", names[row[0]], row[1], row[2], row[3], d, row[4]);\n    }}\n    \
         fclose(file);\n    if (wrong || !count) {{\n        printf(\"%ld of %ld rows are wrong\\n\", wrong, count);\n        return 1;\n    }}\n    return 0;\n}}\n"
    );
    text
}

/// Runs a program that must succeed; its output is the reason if it does not.
fn runs(command: &mut Command) -> Result<(), Failure> {
    let output = command.output().map_err(|error| format!("cannot run {command:?}: {error}"))?;
    if output.status.success() {
        return Ok(());
    }
    let text = [output.stdout, output.stderr].concat();
    let text = String::from_utf8_lossy(&text);
    let lines: Vec<&str> = text.lines().take(30).collect();
    Err(format!("{command:?} failed ({}):\n{}", output.status, lines.join("\n")).into())
}

/// What is undefined stops the program, which needs no library.
const SANITIZED: [&str; 2] = ["-fsanitize=undefined", "-fsanitize-undefined-trap-on-error"];
const WARNINGS: [&str; 5] = ["-Wall", "-Wextra", "-Wconversion", "-Werror", "-pedantic-errors"];

/// Compiles with warnings as errors and the sanitizer, and runs.
fn compile_and_run(folder: &Path, compiler: &str, standard: &str, source: &str, program: &str) -> Result<(), Failure> {
    let mut command = Command::new(compiler);
    command.current_dir(folder).args([standard, "-O1"]).args(WARNINGS).args(SANITIZED);
    runs(command.args(["-o", program, source]))?;
    runs(Command::new(folder.join(program)).current_dir(folder))
}

fn c(folder: &Path, cases: &[Case]) -> Checked {
    std::fs::write(folder.join("port.h"), file(cases))?;
    std::fs::write(folder.join("main.c"), main_of_c("#include \"port.h\"", cases))?;
    // What --batch gives: each function with all that it needs.
    let alone: String = cases.iter().map(|case| case.port.text()).collect();
    std::fs::write(folder.join("alone.c"), alone)?;
    write_rows(folder, cases)?;
    let mut lines = Vec::new();
    for (variable, default) in [("CC", "gcc"), ("CLANG", "clang")] {
        let compiler = tool(variable, default);
        if !starts(&compiler, "--version") {
            lines.push(format!("not by {default}, which is missing"));
            continue;
        }
        compile_and_run(folder, &compiler, "-std=c99", "main.c", &format!("main-{default}"))?;
        let mut command = Command::new(&compiler);
        command.current_dir(folder).args(["-std=c99", "-fsyntax-only"]).args(WARNINGS);
        runs(command.arg("alone.c"))?;
        lines.push(format!("compiled by {default} with the sanitizer of undefined behaviour, run: all rows"));
    }
    Ok(lines)
}

fn cpp(folder: &Path, cases: &[Case]) -> Checked {
    std::fs::write(folder.join("port.hpp"), file(cases))?;
    let mut main = main_of_c("#include \"port.hpp\"", cases);
    for case in cases {
        if let Some(([a, b, c], d)) = case.rows.first() {
            let name = case.port.name();
            let _ = writeln!(main, "static_assert({name}({a:#x}u, {b:#x}u, {c:#x}u) == {d:#x}u, \"{name}\");");
        }
    }
    std::fs::write(folder.join("main.cpp"), main)?;
    write_rows(folder, cases)?;
    let compiler = tool("CXX", "g++");
    if !starts(&compiler, "--version") {
        return Ok(vec!["not by g++, which is missing".into()]);
    }
    compile_and_run(folder, &compiler, "-std=c++17", "main.cpp", "main")?;
    Ok(vec!["compiled by g++ with a static_assert for each function and the sanitizer, run: all rows".into()])
}

/// What runs a target of vectors.
struct Machine {
    /// The variable that names the compiler, and the compiler.
    compiler: (&'static str, &'static str),
    flags: &'static [&'static str],
    vector: &'static str,
    /// An emulator of the machine, if it is not this one.
    emulator: Option<&'static str>,
    /// Whether this machine, or its emulator, can run it.
    runs: fn() -> bool,
}

fn machine(target: &str) -> Machine {
    #[cfg(target_arch = "x86_64")]
    let [has_avx2, has_avx512]: [fn() -> bool; 2] = [
        || std::arch::is_x86_feature_detected!("avx2"),
        || std::arch::is_x86_feature_detected!("avx512f") && std::arch::is_x86_feature_detected!("avx512bw"),
    ];
    #[cfg(not(target_arch = "x86_64"))]
    let [has_avx2, has_avx512]: [fn() -> bool; 2] = [|| false, || false];
    match target {
        "avx2" => {
            Machine { compiler: ("CC", "gcc"), flags: &["-mavx2"], vector: "__m256i", emulator: None, runs: has_avx2 }
        }
        "avx512" => Machine {
            compiler: ("CC", "gcc"),
            // The compiler's own header reads what it did not write.
            flags: &["-mavx512f", "-mavx512bw", "-Wno-uninitialized", "-Wno-maybe-uninitialized"],
            vector: "__m512i",
            emulator: None,
            runs: has_avx512,
        },
        _ => Machine {
            compiler: ("AARCH64_CC", "aarch64-linux-gnu-gcc"),
            flags: &["-static"],
            vector: "uint32x4_t",
            emulator: Some("qemu-aarch64"),
            runs: || starts("qemu-aarch64", "--version"),
        },
    }
}

/// Each vector holds rows of one function: as many as there are, and then the last one again.
fn vectors(folder: &Path, cases: &[Case], target: &str) -> Checked {
    let Machine { compiler: (variable, default), flags, vector, emulator, runs: can_run } = machine(target);
    std::fs::write(folder.join("port.h"), file(cases))?;
    let names: String = cases.iter().map(|case| format!("    {{{0}, \"{0}\"}},\n", case.port.name())).collect();
    let rows: usize = cases.iter().map(|case| case.rows.len()).sum();
    let main = format!(
        "#include \"port.h\"\n#include <stdio.h>\n#include <string.h>\n\n\
         typedef {vector} vector;\nenum {{ LANES = sizeof(vector) / sizeof(unsigned), ROWS = {rows} }};\n\
         static const struct {{ vector (*function)(vector, vector, vector); const char *name; }} functions[] = {{\n{names}}};\n\
         static unsigned rows[ROWS][5];\n\nint main(void)\n{{\n    \
         FILE *file = fopen(\"rows.bin\", \"rb\");\n    \
         if (!file || fread(rows, sizeof rows[0], ROWS, file) != ROWS) return 2;\n    fclose(file);\n    int wrong = 0;\n    \
         for (int first = 0; first < ROWS;) {{\n        const unsigned number = rows[first][0];\n        \
         unsigned words[4][LANES];\n        vector given[3], d;\n        int count = 0;\n        \
         for (int lane = 0; lane < LANES; lane++) {{\n            \
         if (first + lane < ROWS && rows[first + lane][0] == number) count = lane + 1;\n            \
         for (int i = 0; i < 4; i++) words[i][lane] = rows[first + count - 1][i + 1];\n        }}\n        \
         memcpy(given, words, sizeof given);\n        \
         d = functions[number].function(given[0], given[1], given[2]);\n        \
         unsigned results[LANES];\n        memcpy(results, &d, sizeof results);\n        \
         for (int lane = 0; lane < LANES; lane++)\n            \
         if (results[lane] != words[3][lane] && wrong++ < 20)\n                \
         printf(\"%s(%#x, %#x, %#x) = %#x, not %#x\\n\", functions[number].name, words[0][lane], words[1][lane], words[2][lane], \
         results[lane], words[3][lane]);\n        first += count;\n    }}\n    return wrong != 0;\n}}\n"
    );
    std::fs::write(folder.join("main.c"), main)?;
    let alone: String = cases.iter().map(|case| case.port.text()).collect();
    std::fs::write(folder.join("alone.c"), alone)?;
    write_rows(folder, cases)?;
    let compiler = tool(variable, default);
    if !starts(&compiler, "--version") {
        return Ok(vec![format!("not by {default}, which is missing")]);
    }
    let mut command = Command::new(&compiler);
    command.current_dir(folder).args(["-std=c99", "-O1"]).args(WARNINGS).args(SANITIZED).args(flags);
    runs(command.args(["-o", "main", "main.c"]))?;
    let mut command = Command::new(&compiler);
    command.current_dir(folder).args(["-std=c99", "-fsyntax-only"]).args(WARNINGS).args(flags);
    runs(command.arg("alone.c"))?;
    let mut lines = vec![format!("compiled by {default} with the sanitizer of undefined behaviour")];
    if !can_run() {
        lines.push("not run: this machine does not have the instructions, or their emulator is missing".into());
        return Ok(lines);
    }
    let program = folder.join("main");
    let mut command = match emulator {
        Some(emulator) => {
            let mut command = Command::new(emulator);
            command.arg(&program);
            command
        }
        None => Command::new(&program),
    };
    runs(command.current_dir(folder))?;
    let by = emulator.map(|emulator| format!(" by {emulator}")).unwrap_or_default();
    lines.push(format!("run{by}: all rows, in vectors of {vector}"));
    Ok(lines)
}

/// CUDA's and HIP's text as code of the host, without their keywords.
fn as_host(folder: &Path, cases: &[Case], header: &str) -> Checked {
    std::fs::write(folder.join(header), file(cases))?;
    let include = format!(
        "#define __host__\n#define __device__\n#define __forceinline__ inline\n#include \"{header}\"\n#undef __host__\n\
         #undef __device__\n#undef __forceinline__"
    );
    std::fs::write(folder.join("host.cpp"), main_of_c(&include, cases))?;
    write_rows(folder, cases)?;
    let compiler = tool("CXX", "g++");
    if !starts(&compiler, "--version") {
        return Ok(vec!["not by g++, which is missing".into()]);
    }
    runs(
        Command::new(&compiler)
            .current_dir(folder)
            .args(["-std=c++17", "-O1"])
            .args(SANITIZED)
            .args(["-o", "host", "host.cpp"]),
    )?;
    runs(Command::new(folder.join("host")).current_dir(folder))?;
    Ok(vec!["compiled by g++ as code of the host, run: all rows".into()])
}

/// Metal's text as C++, with a header of Metal's types in the place of its library.
fn metal(folder: &Path, cases: &[Case]) -> Checked {
    let types = "#pragma once\n#include <stdint.h>\n#define uint uint32_t\n#define ulong uint64_t\n";
    std::fs::write(folder.join("metal_stdlib"), types)?;
    std::fs::write(folder.join("port.metal.h"), file(cases))?;
    // The library of C has names of its own that these macros are not to change.
    let include = "#include <stdio.h>\n#include \"port.metal.h\"\n#undef uint\n#undef ulong";
    std::fs::write(folder.join("host.cpp"), main_of_c(include, cases))?;
    write_rows(folder, cases)?;
    let compiler = tool("CXX", "g++");
    if !starts(&compiler, "--version") {
        return Ok(vec!["not by g++, which is missing".into()]);
    }
    let mut command = Command::new(&compiler);
    command.current_dir(folder).args(["-std=c++17", "-O1", "-I."]).args(SANITIZED);
    runs(command.args(["-o", "host", "host.cpp"]))?;
    runs(Command::new(folder.join("host")).current_dir(folder))?;
    Ok(vec!["compiled by g++ as C++ with Metal's types, run: all rows; not by a compiler of Metal".into()])
}

/// A kernel for every number of functions, so that no compiler gets one that is too long.
fn kernels<'a>(cases: impl IntoIterator<Item = &'a Case>, before: &str, parameters: &str, index: &str) -> String {
    let cases: Vec<&Case> = cases.into_iter().collect();
    let mut text = String::new();
    for (number, cases) in cases.chunks(100).enumerate() {
        let _ =
            write!(text, "{before} void kernel{number}({parameters})\n{{\n    {index}\n    switch (rows[5 * i]) {{\n");
        for (case, port) in cases.iter().enumerate() {
            let name = port.port.name();
            let _ = writeln!(
                text,
                "    case {}u: out[i] = {name}(rows[5 * i + 1], rows[5 * i + 2], rows[5 * i + 3]); break;",
                100 * number + case
            );
        }
        text.push_str("    }\n}\n");
    }
    text
}

fn cuda(folder: &Path, cases: &[Case]) -> Checked {
    let mut lines = as_host(folder, cases, "port.cuh")?;
    let default = std::env::var("CUDA_BIN").map_or_else(|_| "nvcc".into(), |bin| format!("{bin}/nvcc"));
    let nvcc = tool("NVCC", &default);
    if !starts(&nvcc, "--version") {
        lines.push("not by nvcc, which is missing (CUDA_BIN)".into());
        return Ok(lines);
    }
    let parameters = "const unsigned *rows, unsigned *out";
    let index = "const unsigned i = blockIdx.x * blockDim.x + threadIdx.x;";
    let kernels = kernels(cases, "extern \"C\" __global__", parameters, index);
    std::fs::write(folder.join("port.cu"), format!("#include \"port.cuh\"\n{kernels}"))?;
    let mut command = Command::new(&nvcc);
    runs(command.current_dir(folder).args(["-std=c++17", "-arch=sm_90", "-ptx", "-o", "port.ptx", "port.cu"]))?;
    lines.push("compiled to PTX by nvcc: all functions; not run on a GPU".into());
    Ok(lines)
}

/// What AMD's instructions compute, as their manual says, in C++: what clang's built-in functions are named after.
const AMDGCN: &str = "\
static unsigned vop_byte(unsigned x, unsigned i) { return x >> 8 * i & 0xff; }
// V_PERM_B32: bytes of the second operand are 0 to 3, of the first 4 to 7.
static unsigned __builtin_amdgcn_perm(unsigned s0, unsigned s1, unsigned selector)
{
    const unsigned long long in = (unsigned long long)s0 << 32 | s1;
    unsigned d = 0;
    for (int i = 0; i < 4; i++) {
        const unsigned n = vop_byte(selector, i);
        unsigned byte;
        if (n >= 13) byte = 0xff;
        else if (n == 12) byte = 0;
        else if (n >= 8) byte = in >> (16 * (n - 8) + 15) & 1 ? 0xff : 0;
        else byte = in >> 8 * n & 0xff;
        d |= byte << 8 * i;
    }
    return d;
}
// V_LERP_U8: bit 0 of each byte of the third operand says how a half is rounded.
static unsigned __builtin_amdgcn_lerp(unsigned s0, unsigned s1, unsigned s2)
{
    unsigned d = 0;
    for (int i = 0; i < 4; i++) d |= ((vop_byte(s0, i) + vop_byte(s1, i) + (vop_byte(s2, i) & 1)) >> 1) << 8 * i;
    return d;
}
// V_SAD_U8, V_SAD_U16
static unsigned __builtin_amdgcn_sad_u8(unsigned s0, unsigned s1, unsigned s2)
{
    for (int i = 0; i < 4; i++) {
        const unsigned x = vop_byte(s0, i), y = vop_byte(s1, i);
        s2 += x > y ? x - y : y - x;
    }
    return s2;
}
static unsigned __builtin_amdgcn_sad_u16(unsigned s0, unsigned s1, unsigned s2)
{
    for (int i = 0; i < 2; i++) {
        const unsigned x = s0 >> 16 * i & 0xffff, y = s1 >> 16 * i & 0xffff;
        s2 += x > y ? x - y : y - x;
    }
    return s2;
}
// V_DOT4: products of bytes, and a sum that wraps.
static unsigned vop_dot4(bool x_signed, unsigned s0, bool y_signed, unsigned s1, unsigned s2)
{
    for (int i = 0; i < 4; i++) {
        const int x = x_signed ? (signed char)vop_byte(s0, i) : (int)vop_byte(s0, i);
        const int y = y_signed ? (signed char)vop_byte(s1, i) : (int)vop_byte(s1, i);
        s2 += (unsigned)(x * y);
    }
    return s2;
}
static int __builtin_amdgcn_sdot4(int s0, int s1, int s2, bool) { return (int)vop_dot4(true, s0, true, s1, s2); }
static unsigned __builtin_amdgcn_udot4(unsigned s0, unsigned s1, unsigned s2, bool) { return vop_dot4(false, s0, false, s1, s2); }
static int __builtin_amdgcn_sudot4(bool x_signed, int s0, bool y_signed, int s1, int s2, bool)
{
    return (int)vop_dot4(x_signed, s0, y_signed, s1, s2);
}
";

/// A clang that is new enough for the built-in functions that HIP's text asks for.
pub(crate) fn new_clang() -> Option<String> {
    let known = ["clang-22", "clang-21", "clang-20", "clang-19", "clang-18", "clang-17", "clang-16"];
    let all = std::env::var("CLANG").into_iter().chain(known.map(String::from)).chain(["clang".to_string()]);
    let is_new = |clang: &String| {
        let program = "#if !__has_builtin(__builtin_elementwise_add_sat)\n#error\n#endif\n";
        let Ok(folder) = tempfile::tempdir() else { return false };
        let file = folder.path().join("has.c");
        let written = std::fs::write(&file, program).is_ok();
        written
            && Command::new(clang).arg("-fsyntax-only").arg(&file).output().is_ok_and(|output| output.status.success())
    };
    all.into_iter().find(is_new)
}

fn hip(folder: &Path, cases: &[Case]) -> Checked {
    let mut lines = as_host(folder, cases, "port.hip.h")?;
    let kernels = kernels(
        cases,
        "extern \"C\" __attribute__((global))",
        "const unsigned *rows, unsigned *out",
        "const unsigned i = __builtin_amdgcn_workitem_id_x();",
    );
    let macros = "#define __host__ __attribute__((host))\n#define __device__ __attribute__((device))\n";
    std::fs::write(folder.join("port.hip"), format!("{macros}#include \"port.hip.h\"\n{kernels}"))?;
    let clang = tool("CLANG", "clang");
    let compile = |clang: &str, models: &[&str]| -> Result<(), Failure> {
        for model in models {
            let mut command = Command::new(clang);
            command.current_dir(folder).args([
                "-x",
                "hip",
                "-nogpuinc",
                "-nogpulib",
                "--cuda-device-only",
                "-O1",
                "-S",
            ]);
            runs(command.arg(format!("--offload-arch={model}")).args(["-o", &format!("{model}.s"), "port.hip"]))?;
        }
        Ok(())
    };
    let many = cases.iter().filter(|case| case.port.device_code().is_some()).count();
    if !starts(&clang, "--version") {
        lines.push("not by clang, which is missing".into());
    } else {
        compile(&clang, &["gfx90a", "gfx1030"])?;
        lines.push("compiled by clang to machine code of gfx90a and gfx1030: all functions; not run on a GPU".into());
    }
    let Some(clang) = new_clang() else {
        lines.push("built-in functions not by clang 16 or later, which is missing".into());
        return Ok(lines);
    };
    let models = ["gfx90a", "gfx942", "gfx1010", "gfx1030", "gfx1100", "gfx1200"];
    compile(&clang, &models)?;
    lines.push(format!(
        "compiled by {clang} to machine code of {}: all functions, {many} with built-in functions",
        models.join(", ")
    ));
    // The device's text on the host, where the device's built-in functions are what their manual says.
    let include = format!(
        "#define __host__\n#define __device__\n#define __HIP_DEVICE_COMPILE__ 1\n#define __AMDGCN__ 1\n{AMDGCN}#include \"port.hip.h\"\n\
         #ifndef VOP_PORT_AMDGCN\n#error no built-in functions\n#endif\n#undef __host__\n#undef __device__"
    );
    std::fs::write(folder.join("device.cpp"), main_of_c(&include, cases))?;
    // Dot products are written in three ways.
    for model in ["__gfx900__", "__gfx90a__", "__GFX11__"] {
        let mut command = Command::new(&clang);
        command.current_dir(folder).args(["-std=c++17", "-O1"]).args(SANITIZED);
        runs(command.arg(format!("-D{model}")).args(["-o", "device", "device.cpp"]))?;
        runs(Command::new(folder.join("device")).current_dir(folder))?;
    }
    lines.push("the text for AMD's GPUs compiled for the host with what AMD's manual says of the built-in functions, run: all rows".into());
    Ok(lines)
}

/// What the extension `cl_khr_integer_dot_product` says of its functions.
const DOTS: &str = "\
#define __opencl_c_integer_dot_product_input_4x8bit_packed 1
#define DOT(name, result, first, second) \\
    static result name(uint x, uint y) \\
    { \\
        result sum = 0; \\
        for (uint i = 0; i < 32; i += 8) sum += (result)(first)(x >> i) * (result)(second)(y >> i); \\
        return sum; \\
    }
DOT(dot_4x8packed_uu_uint, uint, uchar, uchar)
DOT(dot_4x8packed_ss_int, int, char, char)
DOT(dot_4x8packed_us_int, int, uchar, char)
DOT(dot_4x8packed_su_int, int, char, uchar)
";

fn opencl(folder: &Path, cases: &[Case]) -> Checked {
    let mut lines = Vec::new();
    let parameters = "__global const uint *rows, __global uint *out";
    let text = format!("{}{}", file(cases), kernels(cases, "__kernel", parameters, "const uint i = get_global_id(0);"));
    std::fs::write(folder.join("port.cl"), &text)?;
    let clang = tool("CLANG", "clang");
    if starts(&clang, "--version") {
        let mut command = Command::new(&clang);
        command.current_dir(folder).args(["-x", "cl", "-cl-std=CL1.2", "-fsyntax-only", "-Wall", "-Wextra", "-Werror"]);
        runs(command.arg("port.cl"))?;
        lines.push("read by clang as OpenCL C 1.2: all functions".into());
    } else {
        lines.push("not by clang, which is missing".into());
    }
    let python = tool("PYTHON", "python3");
    let probe = Command::new(&python).args(["-c", "import pyopencl, numpy; pyopencl.get_platforms()[0]"]).output();
    if !probe.is_ok_and(|output| output.status.success()) {
        lines.push("not run: python3 with pyopencl and a platform is missing (PyPI's `pyopencl[pocl]`)".into());
        return Ok(lines);
    }
    // A platform on the CPU compiles slowly: each chunk is a program of its own. Functions with dot products are there again, with what the
    // extension says of them, as the platform may not have it.
    let with_dots: Vec<&Case> = cases.iter().filter(|case| case.port.device_code().is_some()).collect();
    let chunks = cases.chunks(100).map(|cases| (String::new(), cases.iter().collect::<Vec<_>>()));
    let chunks = chunks.chain(with_dots.chunks(100).map(|cases| (DOTS.to_string(), cases.to_vec())));
    let mut count = 0;
    for (before, cases) in chunks {
        let parameters = "__global const uint *rows, __global uint *out";
        let kernel = kernels(cases.iter().copied(), "__kernel", parameters, "const uint i = get_global_id(0);");
        let ports: Vec<Port> = cases.iter().map(|case| case.port.clone()).collect();
        std::fs::write(folder.join(format!("chunk{count}.cl")), format!("{before}{}{kernel}", vop_port::file(&ports)))?;
        let chunk = folder.join(format!("chunk{count}"));
        std::fs::create_dir_all(&chunk)?;
        write_rows(&chunk, cases.iter().copied())?;
        count += 1;
    }
    let script = "\
import sys
import numpy as np
import pyopencl as cl

platform = cl.get_platforms()[0]
context = cl.Context(platform.get_devices()[:1])
queue = cl.CommandQueue(context)
count = 0
for number in range(int(sys.argv[1])):
    with open(f'chunk{number}.cl') as file:
        program = cl.Program(context, file.read()).build()
    rows = np.fromfile(f'chunk{number}/rows.bin', np.uint32)
    out = np.zeros(len(rows) // 5, np.uint32)
    flags = cl.mem_flags
    given = cl.Buffer(context, flags.READ_ONLY | flags.COPY_HOST_PTR, hostbuf=rows)
    taken = cl.Buffer(context, flags.WRITE_ONLY, out.nbytes)
    program.kernel0(queue, out.shape, None, given, taken)
    cl.enqueue_copy(queue, out, taken).wait()
    wrong = np.flatnonzero(out != rows[4::5])
    if len(wrong):
        print(number, [hex(x) for x in rows[5 * wrong[0]:5 * wrong[0] + 5]], hex(out[wrong[0]]))
        sys.exit(1)
    count += len(out)
assert count > 0
print(platform.name)
";
    std::fs::write(folder.join("run.py"), script)?;
    let name = output(Command::new(&python).current_dir(folder).args(["run.py", &count.to_string()]))?;
    let dots = with_dots.len();
    lines.push(format!(
        "compiled and run by {}: all rows, and {dots} functions again with the extension's dot products written down",
        name.trim()
    ));
    Ok(lines)
}

fn rust(folder: &Path, cases: &[Case]) -> Checked {
    let rustc = tool("RUSTC", "rustc");
    if !starts(&rustc, "--version") {
        return Ok(vec!["not by rustc, which is missing".into()]);
    }
    std::fs::write(folder.join("port.rs"), file(cases))?;
    let mut main = String::from("#![deny(warnings)]\nmod port;\n\ntype Function = fn(u32, u32, u32) -> u32;\n");
    let names: String = cases.iter().map(|case| format!("    port::{},\n", case.port.name())).collect();
    let _ = write!(main, "static FUNCTIONS: [Function; {}] = [\n{names}];\n", cases.len());
    for case in cases {
        if let Some(([a, b, c], d)) = case.rows.first() {
            let _ = writeln!(main, "const _: () = assert!(port::{}({a}, {b}, {c}) == {d});", case.port.name());
        }
    }
    main.push_str(
        "\nfn main() {\n    let bytes = std::fs::read(\"rows.bin\").unwrap();\n    \
         let words: Vec<u32> = bytes.chunks_exact(4).map(|word| u32::from_ne_bytes(word.try_into().unwrap())).collect();\n    \
         assert!(!words.is_empty());\n    for row in words.chunks_exact(5) {\n        \
         let d = FUNCTIONS[row[0] as usize](row[1], row[2], row[3]);\n        assert_eq!(d, row[4], \"{row:x?}\");\n    }\n}\n",
    );
    std::fs::write(folder.join("main.rs"), main)?;
    write_rows(folder, cases)?;
    let mut library = Command::new(&rustc);
    library.current_dir(folder).args(["--edition=2021", "--crate-type=lib", "--emit=metadata", "-D", "warnings"]);
    std::fs::write(folder.join("alone.rs"), "#![no_std]\npub mod port;\n")?;
    runs(library.args(["-o", "alone.rmeta", "alone.rs"]))?;
    let mut program = Command::new(&rustc);
    program.current_dir(folder).args(["--edition=2021", "-C", "overflow-checks=on", "-C", "debug-assertions=on"]);
    runs(program.args(["-o", "main", "main.rs"]))?;
    runs(Command::new(folder.join("main")).current_dir(folder))?;
    Ok(vec!["compiled by rustc without std and with a constant assertion for each function, run: all rows".into()])
}

fn llvm(folder: &Path, cases: &[Case]) -> Checked {
    let clang = tool("CLANG", "clang");
    if !starts(&clang, "--version") {
        return Ok(vec!["not by clang, which is missing".into()]);
    }
    // Functions as files hold them, and as --batch gives them, which are visible outside.
    std::fs::write(folder.join("port.ll"), file(cases))?;
    let alone: String = cases.iter().map(|case| case.port.text()).collect();
    std::fs::write(folder.join("alone.ll"), alone)?;
    let declared: String = cases
        .iter()
        .map(|case| format!("unsigned {}(unsigned a, unsigned b, unsigned c);\n", case.port.name()))
        .collect();
    std::fs::write(folder.join("main.c"), main_of_c(&declared, cases))?;
    write_rows(folder, cases)?;
    let clang = || {
        let mut command = Command::new(&clang);
        command.current_dir(folder).args(["-O1", "-Wno-override-module"]);
        command
    };
    runs(clang().args(["-c", "-o", "port.o", "port.ll"]))?;
    runs(clang().args(["-o", "main", "main.c", "alone.ll"]))?;
    runs(Command::new(folder.join("main")).current_dir(folder))?;
    let device = ["--target=amdgcn-amd-amdhsa", "-mcpu=gfx90a", "-nogpulib", "-S", "-o", "gfx90a.s", "alone.ll"];
    runs(clang().args(device))?;
    Ok(vec!["compiled by clang, run: all rows; compiled to machine code of gfx90a, not run on a GPU".into()])
}

fn numpy(folder: &Path, cases: &[Case]) -> Checked {
    let python = tool("PYTHON", "python3");
    if !starts(&python, "-cimport numpy") {
        return Ok(vec!["not run: python3 with NumPy is missing".into()]);
    }
    std::fs::write(folder.join("port.py"), file(cases))?;
    write_rows(folder, cases)?;
    let names: String = cases.iter().map(|case| format!("    \"{}\",\n", case.port.name())).collect();
    let script = format!(
        "import warnings\nimport numpy as np\nimport port\n\nwarnings.simplefilter('error')\nnames = [\n{names}]\n\
         rows = np.fromfile('rows.bin', np.uint32).reshape(-1, 5)\nassert len(rows)\nedges = np.searchsorted(rows[:, 0], np.arange(len(names) + 1))\n\
         for number, name in enumerate(names):\n    function = getattr(port, name)\n    part = rows[edges[number]:edges[number + 1]]\n    \
         d = function(part[:, 1], part[:, 2], part[:, 3])\n    assert d.dtype == np.uint32, name\n    \
         assert (d == part[:, 4]).all(), (name, part[d != part[:, 4]][0])\n    \
         # One value, and no overflow that is warned of.\n    one = function(int(part[0, 1]), int(part[0, 2]), int(part[0, 3]))\n    \
         assert int(one) == int(part[0, 4]), name\nprint(np.__version__)\n"
    );
    std::fs::write(folder.join("run.py"), script)?;
    let version = output(Command::new(&python).current_dir(folder).arg("run.py"))?;
    Ok(vec![format!("run by NumPy {}: all rows, in arrays and one value each", version.trim())])
}

/// Julia's integers as Python's classes: what the operators and functions of Julia's manual do that the text uses. Python's operators have
/// another precedence, but the text has parentheses around each operand that is an operation.
const JULIA: &str = r"
import re
import struct
import sys

import numpy as np


class Integer:
    def __init__(self, value):
        value = int(value) % 2**self.bits
        self.value = value - 2**self.bits if self.signed and value >= 2**(self.bits - 1) else value

    def __int__(self):
        return self.value

    def same(self, other):
        assert type(other) is type(self), (self, other)
        return other.value

    def __and__(self, other): return type(self)(self.value & self.same(other))
    def __or__(self, other): return type(self)(self.value | self.same(other))
    def __invert__(self): return type(self)(~self.value)
    def __add__(self, other): return type(self)(self.value + self.same(other))
    def __sub__(self, other): return type(self)(self.value - self.same(other))
    def __mul__(self, other): return type(self)(self.value * self.same(other))
    def __lshift__(self, amount): return type(self)(self.value << int(amount))
    def __rshift__(self, amount): return type(self)(self.value >> int(amount))
    def __mod__(self, kind): return kind(self.value)
    def __lt__(self, other): return self.value < self.same(other)
    def __le__(self, other): return self.value <= self.same(other)
    def __gt__(self, other): return self.value > self.same(other)
    def __ge__(self, other): return self.value >= self.same(other)
    def __eq__(self, other): return self.value == self.same(other)
    def __ne__(self, other): return self.value != self.same(other)


def kind(name, signed, bits):
    return type(name, (Integer,), {'signed': signed, 'bits': bits})


UInt32, Int32 = kind('UInt32', False, 32), kind('Int32', True, 32)
UInt64, Int64 = kind('UInt64', False, 64), kind('Int64', True, 64)


def xor(x, y):
    return type(x)(x.value ^ x.same(y))


def ifelse(truth, x, y):
    assert type(truth) is bool and type(x) is type(y)
    return x if truth else y


def reinterpret(to, x):
    assert to.bits == x.bits
    return to(x.value)


text = open('port.jl').read()
text = re.sub(r'(?ms)^\x22{3}.*?^\x22{3}$', '', text)
text = re.sub(r'0x([0-9a-f]+)', lambda m: f'UInt{4 * len(m[1])}({m[0]})', text)
text = re.sub(r'::UInt32', '', text.replace('@inline function ', 'def ')).replace('\nend\n', '\n')
text = re.sub(r'(?m)^(def .*)$', r'\1:', text)
exec(text)
names = open('names.txt').read().split()
rows = np.fromfile('rows.bin', np.uint32).reshape(-1, 5)
assert len(rows)
for number, a, b, c, d in rows.tolist():
    given = globals()[names[number]](UInt32(a), UInt32(b), UInt32(c))
    assert type(given) is UInt32 and given.value == d, (names[number], hex(a), hex(b), hex(c), hex(given.value), hex(d))
";

/// What reads Julia's text as Julia: the grammar of tree-sitter.
const READS_JULIA: &str = "\
import tree_sitter
import tree_sitter_julia

parser = tree_sitter.Parser(tree_sitter.Language(tree_sitter_julia.language()))
tree = parser.parse(open('port.jl', 'rb').read())
assert not tree.root_node.has_error
kinds = [node.type for node in tree.root_node.children]
assert kinds.count('macrocall_expression') == len(open('names.txt').read().split())
";

fn julia(folder: &Path, cases: &[Case]) -> Checked {
    std::fs::write(folder.join("port.jl"), file(cases))?;
    write_rows(folder, cases)?;
    let names: String = cases.iter().map(|case| format!("{}\n", case.port.name())).collect();
    std::fs::write(folder.join("names.txt"), names)?;
    let mut lines = Vec::new();
    let python = tool("PYTHON", "python3");
    std::fs::write(folder.join("read.py"), READS_JULIA)?;
    if starts(&python, "-cimport tree_sitter, tree_sitter_julia") {
        runs(Command::new(&python).current_dir(folder).arg("read.py"))?;
        lines.push("read by tree-sitter's grammar of Julia: all functions".into());
    } else {
        lines.push("not read: python3 with tree-sitter and tree-sitter-julia is missing".into());
    }
    std::fs::write(folder.join("run.py"), JULIA)?;
    if starts(&python, "-cimport numpy") {
        runs(Command::new(&python).current_dir(folder).arg("run.py"))?;
        lines.push("run with Julia's integers written down in Python: all rows; not by Julia".into());
    } else {
        lines.push("not run: python3 with NumPy is missing".into());
    }
    Ok(lines)
}

fn wgsl(folder: &Path, cases: &[Case]) -> Checked {
    let naga = tool("NAGA", "naga");
    if !starts(&naga, "--version") {
        return Ok(vec!["not by naga, which is missing".into()]);
    }
    std::fs::write(folder.join("port.wgsl"), file(cases))?;
    runs(Command::new(&naga).current_dir(folder).arg("port.wgsl"))?;
    Ok(vec!["validated by naga: all functions; not run".into()])
}

fn glsl(folder: &Path, cases: &[Case]) -> Checked {
    let naga = tool("NAGA", "naga");
    if !starts(&naga, "--version") {
        return Ok(vec!["not by naga, which is missing".into()]);
    }
    let shader = format!("#version 450\nlayout(local_size_x = 1) in;\n{}\nvoid main()\n{{\n}}\n", file(cases));
    std::fs::write(folder.join("port.comp"), shader)?;
    let kind = ["--input-kind", "glsl", "--shader-stage", "compute"];
    runs(Command::new(&naga).current_dir(folder).args(kind).arg("port.comp"))?;
    Ok(vec!["validated by naga: all functions; not run".into()])
}
