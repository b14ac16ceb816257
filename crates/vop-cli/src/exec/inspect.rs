//! Looks at a program before it runs: what cannot work is said first, with what to do.

use std::ffi::OsStr;
use std::fs::File;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::FileExt;
use std::path::{Path, PathBuf};

use super::folder;
use crate::{Failure, output};

/// The file that the system would run; none if it does not find one, which it then says itself.
pub(super) fn find(program: &OsStr) -> Result<Option<PathBuf>, Failure> {
    if program.is_empty() {
        return Err(Failure::Misuse("the program's name is empty".into()));
    }
    if program.as_bytes().contains(&b'/') {
        return Ok(Some(PathBuf::from(program)));
    }
    Ok(folder::in_path(program))
}

/// What an ELF file says about the libraries that it needs.
#[derive(Debug, Default, PartialEq, Eq)]
struct Program {
    /// Libraries that it is linked with.
    needed: Vec<String>,
    /// Where it looks for them before `LD_LIBRARY_PATH`.
    rpath: Option<String>,
    /// Whether it holds device code.
    has_device_code: bool,
    /// Whether it has the text that the static runtime finds the driver's private tables by.
    finds_driver: bool,
    /// Whether it takes the functions that register device code from a library.
    asks_runtime: bool,
}

/// Libraries of NVIDIA that hold machine code: they are found or not, but what they launch cannot run.
const MACHINE_CODE: [&str; 10] = [
    "libcublas",
    "libcudnn",
    "libcufft",
    "libcurand",
    "libcusolver",
    "libcusparse",
    "libcutensor",
    "libnccl",
    "libnpp",
    "libnvjpeg",
];

/// Bytes of a section that is read: a damaged header must not fill the memory.
const MAX_SECTION: u64 = 64 << 20;
/// Sections of a file.
const MAX_SECTIONS: u16 = 4096;

/// Says why a program cannot run here.
///
/// # Errors
/// If it has the CUDA runtime in itself, or needs one that vop does not have.
pub(super) fn refuse_unfit(path: &Path) -> Result<(), Failure> {
    // What is no ELF file is a script, whose interpreter runs.
    let Some(program) = read(path) else { return Ok(()) };
    let name = path.display();
    let runtime = |name: &&String| name.starts_with("libcudart.so.");
    if let Some(other) = program
        .needed
        .iter()
        .find(|name| runtime(name) && !["libcudart.so.12", "libcudart.so.13"].contains(&name.as_str()))
    {
        return Err(Failure::Misuse(format!(
            "{name} needs {other}, and vop has libcudart.so.12 and libcudart.so.13; build it with CUDA 12 or 13"
        )));
    }
    // nvcc puts device code into programs of the driver API, too, which have no runtime: often only a header.
    let has_own_runtime = program.has_device_code && program.finds_driver;
    if has_own_runtime && !program.asks_runtime && !program.needed.iter().any(|name| runtime(&name)) {
        return Err(Failure::Misuse(format!(
            "{name} has the CUDA runtime linked statically, and that asks the driver by tables that are not public; link it with \
             `nvcc -cudart shared` (CMake: CUDA_RUNTIME_LIBRARY Shared)"
        )));
    }
    for library in program.needed.iter().filter(|name| MACHINE_CODE.iter().any(|library| name.starts_with(library))) {
        output::warning(&format!("{name} needs {library}, a library of machine code: its kernels cannot run here"));
    }
    if let Some(rpath) = program.rpath.filter(|rpath| {
        let folders = rpath.split(':').map(|folder| folder.replace("$ORIGIN", &origin(path)));
        let mut files = folders.flat_map(|folder| program.needed.iter().map(move |name| Path::new(&folder).join(name)));
        files.any(|file| is_cuda(&file) && file.is_file())
    }) {
        output::warning(&format!(
            "{name} has an RPATH, {rpath}, which comes before what vop sets: it may find NVIDIA's library there; link it with \
             `-Wl,--enable-new-dtags`"
        ));
    }
    Ok(())
}

fn origin(path: &Path) -> String {
    path.parent().map(|folder| folder.display().to_string()).unwrap_or_default()
}

fn is_cuda(file: &Path) -> bool {
    let name = file.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default();
    name.starts_with("libcudart.so") || name.starts_with("libcuda.so")
}

/// A section of an ELF file.
struct Section {
    name: usize,
    kind: u32,
    offset: u64,
    size: u64,
    link: u32,
}

/// What an ELF file of 64 bits says; none of other files, and of damaged ones, which the system refuses.
fn read(path: &Path) -> Option<Program> {
    if !path.is_file() {
        return None;
    }
    let file = File::open(path).ok()?;
    let bytes = |offset: u64, size: u64| {
        let mut bytes = vec![0; usize::try_from(size).ok().filter(|_| size <= MAX_SECTION)?];
        file.read_exact_at(&mut bytes, offset).ok()?;
        Some(bytes)
    };
    let header = bytes(0, 64)?;
    // 64 bits, little endian.
    if !header.starts_with(b"\x7fELF\x02\x01") {
        return None;
    }
    let (size, count, names) = (u16_at(&header, 58)?, u16_at(&header, 60)?, u16_at(&header, 62)?);
    if size < 64 || count > MAX_SECTIONS {
        return None;
    }
    let table = bytes(u64_at(&header, 40)?, u64::from(size) * u64::from(count))?;
    let sections: Option<Vec<Section>> = table
        .chunks_exact(size.into())
        .map(|row| {
            Some(Section {
                name: u32_at(row, 0)? as usize,
                kind: u32_at(row, 4)?,
                offset: u64_at(row, 24)?,
                size: u64_at(row, 32)?,
                link: u32_at(row, 40)?,
            })
        })
        .collect();
    let sections = sections?;
    let content = |section: &Section| bytes(section.offset, section.size);
    let strings = |section: &Section| content(sections.get(section.link as usize)?);
    let names = content(sections.get(usize::from(names))?)?;
    let mut program = Program::default();
    for section in &sections {
        match section.kind {
            DYNAMIC => {
                let strings = strings(section)?;
                for entry in content(section)?.chunks_exact(16) {
                    let value = u64_at(entry, 8).and_then(|value| string(&strings, value as usize));
                    match u64_at(entry, 0)? {
                        0 => break,
                        DT_NEEDED => program.needed.extend(value),
                        DT_RPATH => program.rpath = value,
                        _ => {}
                    }
                }
            }
            DYNAMIC_SYMBOLS => {
                let strings = strings(section)?;
                let content = content(section)?;
                // Those of no section are taken from a library.
                let mut undefined = content.chunks_exact(24).filter(|symbol| u16_at(symbol, 6) == Some(0));
                program.asks_runtime = undefined.any(|symbol| {
                    let name = u32_at(symbol, 0).and_then(|name| string(&strings, name as usize));
                    name.is_some_and(|name| name == "__cudaRegisterFatBinary")
                });
            }
            _ => match string(&names, section.name).as_deref() {
                Some(".nv_fatbin") => program.has_device_code = section.size > FATBIN_HEADER,
                Some(".rodata") => {
                    let text = b"cuGetExportTable\0";
                    let content = content(section).unwrap_or_default();
                    program.finds_driver = content.windows(text.len()).any(|bytes| bytes == text);
                }
                _ => {}
            },
        }
    }
    Some(program)
}

const DYNAMIC: u32 = 6;
const DYNAMIC_SYMBOLS: u32 = 11;
const DT_NEEDED: u64 = 1;
const DT_RPATH: u64 = 15;
/// Bytes of the header of a fat binary, behind which its entries stand.
const FATBIN_HEADER: u64 = 16;

fn number<const N: usize>(bytes: &[u8], offset: usize) -> Option<[u8; N]> {
    bytes.get(offset..)?.first_chunk().copied()
}

fn u16_at(bytes: &[u8], offset: usize) -> Option<u16> {
    number(bytes, offset).map(u16::from_le_bytes)
}

fn u32_at(bytes: &[u8], offset: usize) -> Option<u32> {
    number(bytes, offset).map(u32::from_le_bytes)
}

fn u64_at(bytes: &[u8], offset: usize) -> Option<u64> {
    number(bytes, offset).map(u64::from_le_bytes)
}

/// A string of a table.
fn string(table: &[u8], offset: usize) -> Option<String> {
    let rest = table.get(offset..)?;
    let end = rest.iter().position(|byte| *byte == 0)?;
    Some(String::from_utf8_lossy(&rest[..end]).into_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn this_test_is_a_program_without_device_code() {
        let program = std::env::current_exe().ok().and_then(|path| read(&path)).expect("an ELF file");
        assert!(program.needed.iter().any(|name| name.starts_with("libc.so")), "{program:?}");
        assert!(!program.has_device_code && !program.asks_runtime);
        assert_eq!(read(Path::new(file!())), None);
    }
}
