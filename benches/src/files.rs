//! Whole files: skipping source without instructions, finding instructions, and reading modules. The bound is a copy of the bytes.

use vop_ptx::find::Language;
use vop_ptx::module::Module;
use vop_ptx::rewrite::{RewriteOptions, rewrite};
use vop_ptx::uses::uses;

use crate::measure::{Subject, compare};

/// The unit of the sizes, so that rates are in MB/s.
const MEGABYTE: usize = 1_000_000;

pub fn bench() {
    // Source code that everybody has: this project's, and the C headers of the system where there are any.
    let mut files = Vec::new();
    for folder in ["../crates", "/usr/include"] {
        collect(std::path::Path::new(folder), &mut files);
    }
    // Each file is asked for itself, as `vop check` does: what two files hold together may be an instruction.
    let source = files.concat();
    let mut copy = vec![0u8; source.len()];
    compare(
        &format!("Skipping {} files of source that hold no instruction, {} MB", files.len(), source.len() / MEGABYTE),
        "bytes",
        &mut [
            Subject::new("copying the bytes", source.len(), || {
                copy.copy_from_slice(&source);
                copy.last().copied().map_or(0, u64::from)
            }),
            Subject::new("memchr::memmem for one word", source.len(), || {
                memchr::memmem::find_iter(&source, b"vabsdiff4.").count() as u64
            }),
            Subject::new("uses", source.len(), || {
                files.iter().map(|file| uses(file, Language::Cuda).len() as u64).sum()
            }),
        ],
    );

    let ptx = include_str!("../../examples/motion/motion.ptx");
    let module = ptx.repeat(8 * MEGABYTE / ptx.len());
    let mut copy = vec![0u8; module.len()];
    compare(
        &format!("Reading a PTX module of {} MB", module.len() / MEGABYTE),
        "bytes",
        &mut [
            Subject::new("copying the bytes", module.len(), || {
                copy.copy_from_slice(module.as_bytes());
                copy.last().copied().map_or(0, u64::from)
            }),
            Subject::new("Module::parse", module.len(), || Module::parse(module.as_str()).statements().len() as u64),
            Subject::new("uses: found and judged", module.len(), || {
                uses(module.as_bytes(), Language::Ptx).len() as u64
            }),
        ],
    );

    // What `vop lower` and `vop check` do with one file after another: modules, and sources with instructions in `asm` statements.
    let options = RewriteOptions::new("sm_90".parse().expect("it is a target"));
    let statement =
        "    asm(\"vabsdiff4.u32.u32.u32.add %0, %1, %2, %3;\" : \"=r\"(d) : \"r\"(a), \"r\"(b), \"r\"(c));\n";
    let filler =
        "    // A line of a function that has nothing to do with video instructions, as most lines of most files.\n";
    let function = format!(
        "__device__ unsigned f(unsigned a, unsigned b, unsigned c) {{ unsigned d;\n{statement}{}}}\n",
        filler.repeat(60)
    );
    let cuda = function.repeat(8 * MEGABYTE / function.len());
    let mut copy = vec![0u8; cuda.len()];
    compare(
        "Files with instructions: lowered, and checked",
        "bytes",
        &mut [
            Subject::new("copying the bytes", cuda.len(), || {
                copy.copy_from_slice(cuda.as_bytes());
                copy.last().copied().map_or(0, u64::from)
            }),
            Subject::new("rewrite: motion.ptx lowered for sm_90", ptx.len(), || {
                rewrite(&Module::parse(ptx), &options).map_or(0, |rewritten| rewritten.instructions.len() as u64)
            }),
            Subject::new("uses: 8 MB of CUDA, an instruction in 61 lines", cuda.len(), || {
                uses(cuda.as_bytes(), Language::Cuda).len() as u64
            }),
        ],
    );
}

/// Appends C and Rust sources below a folder that hold no video instruction, up to 64 MB of them.
fn collect(folder: &std::path::Path, files: &mut Vec<Vec<u8>>) {
    let Ok(entries) = std::fs::read_dir(folder) else { return };
    for entry in entries.flatten() {
        let path = entry.path();
        if path.is_dir() && !path.is_symlink() {
            collect(&path, files);
        } else if path.extension().is_some_and(|extension| ["h", "hpp", "rs"].iter().any(|known| extension == *known))
            && let Ok(bytes) = std::fs::read(&path)
            && uses(&bytes, Language::Cuda).is_empty()
            && !vop_ptx::find::may_contain(&bytes)
        {
            let length: usize = files.iter().map(Vec::len).sum();
            if length + bytes.len() <= 64 * MEGABYTE {
                files.push(bytes);
            }
        }
    }
}
