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
/// Each target has its tools: gcc and clang (c), g++ (cpp, sycl, and cuda's, hip's and metal's text as host code), nvcc (cuda), clang (hip,
/// opencl), rustc, python3 with NumPy, python3 with pyopencl and an OpenCL platform, and naga (wgsl, glsl). A tool that is missing is named, and what it
/// would have checked is not. Environment variables name others than those on the PATH: CC, CLANG, CXX, NVCC, RUSTC, PYTHON, NAGA.
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
            "cpp" => cpp(&folder, &cases),
            "sycl" => cpp(&folder, &cases),
            "metal" => metal(&folder, &cases),
            "cuda" => cuda(&folder, &cases),
            "hip" => hip(&folder, &cases),
            "opencl" => opencl(&folder, &cases),
            "rust" => rust(&folder, &cases),
            "numpy" => numpy(&folder, &cases),
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
    for intrinsic in Intrinsic::all() {
        let rows = rows(&|a, b, c| intrinsic.eval(a, b, c));
        cases.push(Case { port: vop_port::port_intrinsic(&intrinsic, target), rows });
    }
    for base in Base::samples() {
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
fn write_rows(folder: &Path, cases: &[Case]) -> Result<(), Failure> {
    let mut bytes = Vec::new();
    for (number, case) in cases.iter().enumerate() {
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
fn kernels(cases: &[Case], before: &str, parameters: &str, index: &str) -> String {
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

fn hip(folder: &Path, cases: &[Case]) -> Checked {
    let mut lines = as_host(folder, cases, "port.hip.h")?;
    let clang = tool("CLANG", "clang");
    if !starts(&clang, "--version") {
        lines.push("not by clang, which is missing".into());
        return Ok(lines);
    }
    let kernels = kernels(
        cases,
        "extern \"C\" __attribute__((global))",
        "const unsigned *rows, unsigned *out",
        "const unsigned i = __builtin_amdgcn_workitem_id_x();",
    );
    let macros = "#define __host__ __attribute__((host))\n#define __device__ __attribute__((device))\n";
    std::fs::write(folder.join("port.hip"), format!("{macros}#include \"port.hip.h\"\n{kernels}"))?;
    for model in ["gfx90a", "gfx1030"] {
        let mut command = Command::new(&clang);
        command.current_dir(folder).args(["-x", "hip", "-nogpuinc", "-nogpulib", "--cuda-device-only", "-O1", "-S"]);
        runs(command.arg(format!("--offload-arch={model}")).args(["-o", &format!("{model}.s"), "port.hip"]))?;
    }
    lines.push("compiled by clang to machine code of gfx90a and gfx1030: all functions; not run on a GPU".into());
    Ok(lines)
}

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
    // A platform on the CPU compiles slowly: each chunk is a program of its own.
    for (number, cases) in cases.chunks(100).enumerate() {
        let parameters = "__global const uint *rows, __global uint *out";
        let kernel = kernels(cases, "__kernel", parameters, "const uint i = get_global_id(0);");
        std::fs::write(folder.join(format!("chunk{number}.cl")), format!("{}{kernel}", file(cases)))?;
        let chunk = folder.join(format!("chunk{number}"));
        std::fs::create_dir_all(&chunk)?;
        write_rows(&chunk, cases)?;
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
    let chunks = cases.len().div_ceil(100).to_string();
    let name = output(Command::new(&python).current_dir(folder).args(["run.py", &chunks]))?;
    lines.push(format!("compiled and run by {}: all rows", name.trim()));
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
