//! `vop lower` and `vop fix` of a CUDA source: what nvcc makes of it before and after computes the same.

#![allow(clippy::unwrap_used, clippy::print_stderr, reason = "a test fails by panicking, and says what it leaves out")]

use std::path::{Path, PathBuf};
use std::process::Command;

use vop_run::{LaunchOptions, Program};

/// Statements as programs have them: outputs that share a register with an input, temporaries, guards, masks, several instructions.
const SOURCE: &str = r#"
extern "C" __global__ void kernel(unsigned *out, const unsigned *in) {
    unsigned i = threadIdx.x, a = in[3 * i], b = in[3 * i + 1], c = in[3 * i + 2], d[8];
    asm("vadd4.s32.s32.s32.sat %0, %1, %2, %1;" : "=r"(d[0]) : "r"(a), "r"(b));
    asm volatile("{ .reg .b32 t1, t2;\n\t"
                 "vavrg4.u32.u32.u32 t1, %1, %2, %2;\n\t"
                 "vabsdiff4.u32.s32.u32.add t2, t1, %1, %3;\n\t"
                 "vmax.s32.s32.s32 %0, t1, t2;\n\t}"
                 : "=r"(d[1]) : "r"(a), "r"(b), "r"(c));
    d[2] = a;
    asm("vset4.s32.u32.gt %0.b20, %0.b3210, %1.b4567, %2;" : "+r"(d[2]) : "r"(b), "r"(c));
    d[3] = b;
    asm("{ .reg .pred p; setp.gt.s32 p, %1, %2; @!p vsub2.u32.s32.u32.sat %0, %1, %2.h21, %3; }"
        : "+r"(d[3]) : "r"(a), "r"(b), "r"(c));
    asm("vmad.s32.s32.u32.shr7 %0, %1.h1, -%2.b2, %3;" : "=r"(d[4]) : "r"(a), "r"(b), "r"(c));
    asm("vadd.u32.u32.s32.sat %0.h0, %1.b3, -5, %2;" : "=r"(d[5]) : "r"(a), "r"(c));
    // Two outputs, of which one is written before an input is read: early, as the author says.
    asm("vmin4.u32.u32.u32 %0, %2, %3, %3; vmax4.s32.s32.s32 %1, %0, %2, %3;" : "=&r"(d[6]), "=r"(d[7]) : "r"(a), "r"(b));
    for (int k = 0; k < 8; k++) out[8 * i + k] = d[k];
}
"#;

const THREADS: u32 = 1024;

fn vop(folder: &Path, args: &[&str]) -> String {
    let output = Command::new(env!("CARGO_BIN_EXE_vop")).current_dir(folder).args(args).output().unwrap();
    let said = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(output.status.success(), "{said}");
    said
}

fn nvcc() -> Option<PathBuf> {
    let bin = std::env::var_os("CUDA_BIN").map(PathBuf::from);
    let nvcc = bin.map_or_else(|| PathBuf::from("nvcc"), |bin| bin.join("nvcc"));
    let is_there = Command::new(&nvcc).arg("--version").output().is_ok_and(|output| output.status.success());
    if !is_there {
        eprintln!("skipped: there is no nvcc (CUDA_BIN)");
    }
    is_there.then_some(nvcc)
}

/// What the kernel computes on the CPU, by the PTX that nvcc makes of a file; ptxas assembles it too.
fn computed(nvcc: &Path, file: &Path, arch: &str) -> Vec<u8> {
    let ptx = file.with_extension("ptx");
    for (flag, out) in [("-ptx", &ptx), ("-cubin", &file.with_extension("cubin"))] {
        let output = Command::new(nvcc).args(["-arch", arch, flag]).arg(file).arg("-o").arg(out).output().unwrap();
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    }
    let text = std::fs::read_to_string(&ptx).unwrap();
    let program = Program::read(&text);
    let kernel = program.kernel("kernel").unwrap();
    let mut memory = program.memory();
    let mut state = 1_u32;
    let words = std::iter::repeat_with(|| {
        state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
        // Edges beside random words.
        if state >> 30 == 0 {
            [0, 0x8000_7fff, 0xff80_7f01, u32::MAX][(state >> 20) as usize % 4]
        } else {
            state ^ state << 9
        }
    });
    let input: Vec<u8> = words.take(3 * THREADS as usize).flat_map(u32::to_le_bytes).collect();
    let input = memory.allocate("in", input);
    let out = memory.allocate("out", vec![0; 8 * 4 * THREADS as usize]);
    kernel
        .launch([1, 1, 1], [THREADS, 1, 1], &[out.into(), input.into()], &mut memory, &LaunchOptions::default())
        .unwrap();
    memory.bytes(out).to_vec()
}

#[test]
fn a_lowered_source_computes_the_same() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("kernel.cu");
    std::fs::write(&path, SOURCE).unwrap();
    let said = vop(folder.path(), &["lower", "kernel.cu", "--target", "sm_90", "--write"]);
    let lowered = std::fs::read_to_string(&path).unwrap();
    assert!(said.contains("sum") && !said.contains("left as it is"), "{said}");
    // What is kept is as cheap as it is: of ten instructions most are replaced.
    assert!(lowered.matches("\"{ \" /* v").count() >= 8, "{lowered}");
    // A second time there is nothing to do.
    vop(folder.path(), &["lower", "kernel.cu", "--target", "sm_90", "--write"]);
    assert_eq!(std::fs::read_to_string(&path).unwrap(), lowered);
    let Some(nvcc) = nvcc() else { return };
    let before = folder.path().join("before.cu");
    std::fs::write(&before, SOURCE).unwrap();
    assert_eq!(computed(&nvcc, &path, "sm_90"), computed(&nvcc, &before, "sm_90"));
}

#[test]
fn a_mended_source_computes_the_same() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("kernel.cu");
    std::fs::write(&path, SOURCE).unwrap();
    // ptxas computes another value of the sixth statement: a block takes its place, which computes the manual's.
    let said = vop(folder.path(), &["fix", "kernel.cu", "--semantics", "ptxas", "--write"]);
    assert_eq!(said, "1 finding mended in 1 file\n");
    let mended = std::fs::read_to_string(&path).unwrap();
    assert_eq!(
        vop(folder.path(), &["fix", "kernel.cu", "--semantics", "ptxas", "--write"]),
        "0 findings mended in 0 files\n"
    );
    assert_eq!(std::fs::read_to_string(&path).unwrap(), mended);
    let Some(nvcc) = nvcc() else { return };
    let before = folder.path().join("before.cu");
    std::fs::write(&before, SOURCE).unwrap();
    assert_eq!(computed(&nvcc, &path, "sm_90"), computed(&nvcc, &before, "sm_90"));
}

/// Each compiler that is here takes the blocks as they are written for it: braces, placeholders, line ends.
#[test]
fn clang_reads_opencl_and_llvm_ir() {
    if !Command::new("clang").arg("--version").output().is_ok_and(|output| output.status.success()) {
        return eprintln!("skipped: there is no clang");
    }
    let folder = tempfile::tempdir().unwrap();
    let (opencl, ir) = (folder.path().join("average.cl"), folder.path().join("average.ll"));
    let average = "vavrg4.u32.u32.u32";
    let text = format!(
        "kernel void f(global unsigned *p) {{\n    unsigned d, a = p[0], b = p[1];\n    __asm__(\"{average} %0, %1, %2, %1;\" : \
         \"=r\"(d) : \"r\"(a), \"r\"(b));\n    p[2] = d;\n}}\n"
    );
    std::fs::write(&opencl, text).unwrap();
    let text = format!(
        "target triple = \"nvptx64-nvidia-cuda\"\ndefine i32 @f(i32 %a, i32 %b) {{\n  %d = call i32 asm \"{average} $0, $1, $2, $1;\", \
         \"=r,r,r\"(i32 %a, i32 %b)\n  ret i32 %d\n}}\n"
    );
    std::fs::write(&ir, text).unwrap();
    vop(folder.path(), &["lower", "average.cl", "average.ll", "--target", "sm_75", "--write"]);
    let compiled = |language: &str, file: &Path| {
        let ptx = file.with_extension("ptx");
        let command = ["--target=nvptx64-nvidia-cuda", "-S", "-x", language];
        let output = Command::new("clang").args(command).arg(file).arg("-o").arg(&ptx).output().unwrap();
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
        let text = std::fs::read_to_string(&ptx).unwrap();
        assert!(!text.contains(average) && text.contains("lop3.b32 t1, %r"), "{text}");
        text
    };
    compiled("ir", &ir);
    let program = Program::read(&compiled("cl", &opencl));
    let kernel = program.kernel("f").unwrap();
    let mut memory = program.memory();
    let [a, b] = [0x00ff_1001_u32, 0x01fe_2180];
    let buffer = memory.allocate("p", [a, b, 0].map(u32::to_le_bytes).concat());
    kernel.launch([1, 1, 1], [1, 1, 1], &[buffer.into()], &mut memory, &LaunchOptions::default()).unwrap();
    assert_eq!(memory.bytes(buffer)[8..], 0x01ff_1941_u32.to_le_bytes());
}
