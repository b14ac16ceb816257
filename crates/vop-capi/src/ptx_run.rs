//! `ptx_run`, which programs for gpuocelot's shared library call: a kernel over the memory that the process has.

#![allow(unsafe_code, reason = "the pointers are C's, and kernels reach the memory of the process")]

use std::ffi::{CStr, c_char, c_int, c_void};
use std::fs::File;
use std::io::{BufRead, BufReader, Write};
use std::os::unix::fs::FileExt;
use std::sync::Mutex;
use std::time::Duration;

use vop_run::{Arg, LaunchOptions, Memory, Program};

use crate::diagnostic::run_failure;
use crate::guard::{Failure, answer, vop_status};
use crate::vop_diagnostics;
use crate::{vop_diagnostics_free, vop_diagnostics_rendered};

/// A page of memory: the least that a mapping has.
const PAGE: u64 = 4096;

/// Runs the kernel of a PTX module on memory of the process, as the function of gpuocelot's shared library with this name does.
///
/// `args[i]` is the value of parameter i itself: a pointer, or an integer in the low bits; a parameter of 4 bytes takes the lower 4. (Unlike
/// `cuLaunchKernel`, whose array points at the values.) `lx` to `lz` is the shape of a block, `gx` to `gz` that of the grid, and `shared` the
/// number of bytes of dynamic shared memory. The module must have one kernel, and variables of the module are new in each call.
///
/// It returns 0, or a `vop_status` after it has written to standard error what is wrong, with line, thread and address. What the kernel prints
/// goes to standard output. An address that the process has not mapped, or may not write to, is such an error, never a signal. Bounds within
/// mapped memory are not known here: `vop_memory_register` and `vop_launch` check them. No thread may unmap memory meanwhile.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ptx_run(
    ptx: *const c_char,
    n: c_int,
    args: *mut *mut c_void,
    lx: c_int,
    ly: c_int,
    lz: c_int,
    gx: c_int,
    gy: c_int,
    gz: c_int,
    shared: c_int,
) -> c_int {
    let mut why: *mut vop_diagnostics = std::ptr::null_mut();
    let work = || {
        if ptx.is_null() {
            return Err(Failure::null("ptx"));
        }
        // SAFETY: it is not null, and C gives a text with a zero byte at its end.
        let text = unsafe { CStr::from_ptr(ptx) }.to_str();
        let text = text.map_err(|_| Failure::new(vop_status::VOP_ERROR_UTF8, "`ptx` is not UTF-8"))?;
        let count = usize::try_from(n);
        let count = count.map_err(|_| wrong(format!("{n} is no number of arguments")))?;
        let values = match count {
            0 => &[][..],
            _ if args.is_null() => return Err(Failure::null("args")),
            // SAFETY: it is not null, and C gives this number of values.
            _ => unsafe { std::slice::from_raw_parts(args.cast_const(), count) },
        };
        run(text, values, [gx, gy, gz], [lx, ly, lz], shared)
    };
    // SAFETY: the place is this function's.
    let status = unsafe { answer(&raw mut why, work) };
    if status != vop_status::VOP_OK {
        // SAFETY: the list is of this library, and is freed once.
        unsafe {
            let said = vop_diagnostics_rendered(why);
            let said = std::slice::from_raw_parts(said.data.cast::<u8>(), said.len);
            // Nothing can be done where standard error is closed.
            let _ = std::io::stderr().write_all(&[said, b"\n"].concat());
            vop_diagnostics_free(why);
        }
    }
    status as c_int
}

fn wrong(message: String) -> Failure {
    Failure::new(vop_status::VOP_ERROR_ARGUMENT, message)
}

fn run(ptx: &str, values: &[*mut c_void], grid: [c_int; 3], block: [c_int; 3], shared: c_int) -> Result<(), Failure> {
    let shape = |sizes: [c_int; 3], of: &str| {
        let [x, y, z] = sizes.map(u32::try_from);
        match (x, y, z) {
            (Ok(x), Ok(y), Ok(z)) => Ok([x, y, z]),
            _ => Err(wrong(format!("{sizes:?} is no shape of a {of}"))),
        }
    };
    let (grid, block) = (shape(grid, "grid")?, shape(block, "block")?);
    let shared = usize::try_from(shared).map_err(|_| wrong(format!("{shared} is no number of bytes")))?;
    let module = |errors| run_failure(vop_status::VOP_ERROR_MODULE, &errors, ptx);
    let mut memory = Memory::at_host_addresses();
    let loaded = memory.load(&[&Program::read(ptx)]).map_err(module)?;
    let program = loaded.first().ok_or_else(|| Failure::new(vop_status::VOP_ERROR_BUG, "no program was loaded"))?;
    let entries: Vec<&str> = program.entries().collect();
    let [entry] = entries[..] else {
        let message = format!("`ptx_run` runs the kernel of a module, and the module has {}", entries.len());
        return Err(Failure::with_help(vop_status::VOP_ERROR_MODULE, message, "`vop_launch` runs any of several"));
    };
    let kernel = program.kernel(entry).map_err(module)?;
    let parameters = kernel.parameters();
    if values.len() != parameters.len() {
        return Err(wrong(format!("{} arguments are given for {} parameters", values.len(), parameters.len())));
    }
    let mut arguments = Vec::new();
    for (value, parameter) in values.iter().zip(parameters) {
        let bytes = (*value as u64).to_le_bytes();
        let bytes = bytes.get(..parameter.bytes);
        let bytes = bytes.ok_or_else(|| wrong(format!("parameter {parameter} is larger than a pointer")))?;
        arguments.push(Arg::Bytes(bytes.to_vec()));
    }
    // At the end, when nothing else is mapped any more.
    for (number, mapping) in mappings()?.into_iter().enumerate() {
        let Mapping { start, end, writable } = mapping;
        let name = format!("mapping {number} of the process");
        let first = std::ptr::with_exposed_provenance_mut(start as usize);
        // What overlaps is the memory's own: variables of the module, each between guard pages, so that no other mapping joins them.
        // SAFETY: the process has mapped these pages, and C lets them stay. While the launch runs, this thread holds no reference to what
        // kernels change; C answers for its own pointers.
        let _ = unsafe { memory.register(&name, first, end - start, !writable) };
    }
    let memory = Mutex::new(memory);
    // The caller waits, so nobody changes what blocks wait for.
    let options = LaunchOptions::default().with_dynamic_shared(shared).with_patience(Duration::ZERO);
    let done = kernel.launch_shared(grid, block, &arguments, &memory, &options);
    let printed = memory.lock().map(|mut memory| memory.take_printed()).unwrap_or_default();
    let mut out = std::io::stdout().lock();
    // A kernel's result does not depend on whether somebody reads what it prints.
    let _ = out.write_all(printed.as_bytes()).and_then(|()| out.flush());
    done.map(drop).map_err(|errors| run_failure(vop_status::VOP_ERROR_LAUNCH, &errors, ptx))
}

/// Pages that the process may read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Mapping {
    start: u64,
    end: u64,
    writable: bool,
}

/// The memory of the process, without what the system's kernel maps for itself.
fn mappings() -> Result<Vec<Mapping>, Failure> {
    let failed = |error: std::io::Error| {
        Failure::new(vop_status::VOP_ERROR_MEMORY, format!("/proc/self/maps, which says what is mapped: {error}"))
    };
    let memory = File::open("/proc/self/mem").map_err(failed)?;
    let mut all: Vec<Mapping> = Vec::with_capacity(1024);
    // In small pieces: a large buffer would be a mapping itself, and be unmapped at once.
    // A name of a file need not be UTF-8.
    for line in BufReader::new(File::open("/proc/self/maps").map_err(failed)?).split(b'\n') {
        let line = line.map_err(failed)?;
        let Some((mut mapping, is_file)) = read(&String::from_utf8_lossy(&line)) else { continue };
        if is_file {
            mapping.end = mapping.start + there(&memory, mapping) * PAGE;
        }
        match all.last_mut() {
            Some(last) if last.end == mapping.start && last.writable == mapping.writable => last.end = mapping.end,
            _ if mapping.start < mapping.end => all.push(mapping),
            _ => {}
        }
    }
    Ok(all)
}

/// A line of /proc/self/maps, `START-END rwxp OFFSET DEVICE INODE NAME`, and whether a file is behind it. None for what holds no data.
fn read(line: &str) -> Option<(Mapping, bool)> {
    let mut words = line.split_ascii_whitespace();
    let (start, end) = words.next()?.split_once('-')?;
    let rights = words.next()?.as_bytes();
    let (inode, name) = (words.nth(2)?, words.next().unwrap_or_default());
    let number = |text| u64::from_str_radix(text, 16).ok();
    // Programs keep constants beside their code.
    let is_data = rights.first() == Some(&b'r') && !name.starts_with("[v");
    let mapping = Mapping { start: number(start)?, end: number(end)?, writable: rights.get(1) == Some(&b'w') };
    is_data.then_some((mapping, inode != "0"))
}

/// The number of pages that the file behind a mapping has: an access to those beyond its end is a signal.
fn there(memory: &File, mapping: Mapping) -> u64 {
    let is_there = |page: u64| memory.read_at(&mut [0], mapping.start + page * PAGE).is_ok_and(|read| read == 1);
    let (mut there, mut not) = (0, (mapping.end - mapping.start) / PAGE);
    if not > 0 && is_there(not - 1) {
        return not;
    }
    while there < not {
        let middle = there + (not - there) / 2;
        if is_there(middle) { there = middle + 1 } else { not = middle }
    }
    there
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_of_maps_are_read() {
        let data = Mapping { start: 0x7f00_0000_0000, end: 0x7f00_0000_2000, writable: true };
        let line = "7f0000000000-7f0000002000 rw-p 00000000 00:00 0 ";
        assert_eq!(read(line), Some((data, false)));
        let line = "7f0000000000-7f0000002000 r--s 00001000 103:02 4711      /a file with blanks (deleted)";
        assert_eq!(read(line), Some((Mapping { writable: false, ..data }, true)));
        for none in [
            "7f0000000000-7f0000002000 ---p 00000000 00:00 0",
            "7f0000000000-7f0000002000 --xp 00000000 00:00 0",
            "7f0000000000-7f0000002000 r--p 00000000 00:00 0     [vvar]",
            "",
            "what",
        ] {
            assert_eq!(read(none), None, "{none}");
        }
    }

    #[test]
    fn own_memory_is_found() {
        let on_the_stack = 1u32;
        let on_the_heap = vec![1u8; 1 << 20];
        let all = mappings().unwrap_or_else(|_| panic!("the system says what is mapped"));
        let has = |address: u64| all.iter().any(|one| one.start <= address && address < one.end && one.writable);
        assert!(has(&raw const on_the_stack as u64));
        assert!(has(on_the_heap.as_ptr() as u64) && has(on_the_heap.as_ptr() as u64 + (1 << 20) - 1));
        // Code is there, and may not be written to.
        assert!(!has(8) && !has(mappings as *const () as u64));
    }
}
