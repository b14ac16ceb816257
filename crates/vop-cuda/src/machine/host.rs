//! Memory of the host that nobody has told the library of: it may be anything that a program passes to a copy.
//!
//! A bad address must be an error, not a signal. Small copies are made by the system (`process_vm_readv` on the own process), which checks
//! each page. For larger ones the list of what the process has mapped is read first.

#![allow(unsafe_code, reason = "addresses are a caller's")]

use std::fs::File;
use std::io::{BufRead, BufReader};
use std::os::fd::AsRawFd;

use crate::status::{Answer, Status};

/// Copies of at most so many bytes are left to the system: a call takes half a microsecond, and a look into the list several.
const SMALL: usize = 64 << 10;

/// What an access does.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Access {
    /// It reads.
    Read,
    /// It writes.
    Write,
}

/// Copies bytes of the process to the process. The places may overlap only if both are equal.
///
/// Both addresses may be any: `from` or `to` is known to be good where `from_known` or `to_known` says so.
///
/// # Errors
/// [`Status::INVALID_VALUE`] if a byte is not mapped, or may not be read or written.
///
/// # Safety
/// A side that is known is mapped for `len` bytes, and stays so. Nobody has a reference to what is written.
pub unsafe fn copy(to: *mut u8, to_known: bool, from: *const u8, from_known: bool, len: usize) -> Answer {
    if len == 0 {
        return Ok(());
    }
    if !(to_known && from_known) {
        if len <= SMALL && system_copy(to, from, len)? {
            return Ok(());
        }
        if !from_known {
            check(from as u64, len as u64, Access::Read)?;
        }
        if !to_known {
            check(to as u64, len as u64, Access::Write)?;
        }
    }
    // SAFETY: both are mapped for `len` bytes. `copy` allows that they overlap.
    unsafe { std::ptr::copy(from, to, len) };
    Ok(())
}

/// Copies by a call of the system; false if the system has no such call.
fn system_copy(to: *mut u8, from: *const u8, len: usize) -> Answer<bool> {
    let local = libc::iovec { iov_base: to.cast(), iov_len: len };
    let remote = libc::iovec { iov_base: from.cast_mut().cast(), iov_len: len };
    // SAFETY: the system checks both addresses.
    let copied = unsafe { libc::process_vm_readv(libc::getpid(), &raw const local, 1, &raw const remote, 1, 0) };
    if usize::try_from(copied) == Ok(len) {
        return Ok(true);
    }
    // Part of it is there: the rest is not.
    if copied >= 0 || std::io::Error::last_os_error().raw_os_error() == Some(libc::EFAULT) {
        return Err(Status::INVALID_VALUE);
    }
    Ok(false)
}

/// Checks that the process has mapped a range so that it can be read or written.
///
/// # Errors
/// [`Status::INVALID_VALUE`] if not.
pub fn check(address: u64, len: u64, access: Access) -> Answer {
    let end = address.checked_add(len).ok_or(Status::INVALID_VALUE)?;
    let file = File::open("/proc/self/maps");
    // Without the list nothing can be told, and a copy must not fail for that.
    let Ok(file) = file else { return Ok(()) };
    match by_query(&file, address, end, access) {
        Some(true) => Ok(()),
        Some(false) => Err(Status::INVALID_VALUE),
        None => by_list(BufReader::new(file), address, end, access),
    }
}

/// `struct procmap_query` of linux/fs.h.
#[repr(C)]
#[derive(Default)]
struct Query {
    size: u64,
    query_flags: u64,
    query_addr: u64,
    vma_start: u64,
    vma_end: u64,
    vma_flags: u64,
    vma_page_size: u64,
    vma_offset: u64,
    inode: u64,
    dev_major: u32,
    dev_minor: u32,
    vma_name_size: u32,
    build_id_size: u32,
    vma_name_addr: u64,
    build_id_addr: u64,
}

/// `PROCMAP_QUERY`: `_IOWR('f', 17, struct procmap_query)`.
const PROCMAP_QUERY: libc::Ioctl = ((3 << 30) | ((size_of::<Query>() as u32) << 16) | (0x66 << 8) | 17) as libc::Ioctl;
/// `PROCMAP_QUERY_VMA_READABLE` and `_WRITABLE`.
const READABLE: u64 = 1;
const WRITABLE: u64 = 2;

/// Asks the system (Linux 6.11 and later) for one mapping after another; none if it cannot be asked.
fn by_query(file: &File, address: u64, end: u64, access: Access) -> Option<bool> {
    let wanted = match access {
        Access::Read => READABLE,
        Access::Write => WRITABLE,
    };
    let mut next = address;
    while next < end {
        let mut query = Query { size: size_of::<Query>() as u64, query_addr: next, ..Query::default() };
        // SAFETY: the structure is as large as it says, and has no buffers.
        let result = unsafe { libc::ioctl(file.as_raw_fd(), PROCMAP_QUERY, &raw mut query) };
        if result != 0 {
            let is_missing = std::io::Error::last_os_error().raw_os_error() == Some(libc::ENOENT);
            return is_missing.then_some(false);
        }
        if query.vma_flags & wanted == 0 || query.vma_end <= next {
            return Some(false);
        }
        next = query.vma_end;
    }
    Some(true)
}

/// Reads the list, which is sorted.
fn by_list(lines: impl BufRead, address: u64, end: u64, access: Access) -> Answer {
    let mut next = address;
    for line in lines.split(b'\n') {
        let Ok(line) = line else { return Ok(()) };
        let line = String::from_utf8_lossy(&line);
        let mut words = line.split(' ');
        let hex = |text: &str| u64::from_str_radix(text, 16).ok();
        let Some((from, to)) = words.next().and_then(|word| word.split_once('-')) else { continue };
        let (Some(from), Some(to)) = (hex(from), hex(to)) else { continue };
        if to <= next {
            continue;
        }
        let allowed = words.next().is_some_and(|word| {
            word.contains(match access {
                Access::Read => 'r',
                Access::Write => 'w',
            })
        });
        if from > next || !allowed {
            return Err(Status::INVALID_VALUE);
        }
        next = to;
        if next >= end {
            return Ok(());
        }
    }
    Err(Status::INVALID_VALUE)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Pages with a gap that may not be touched behind them.
    struct Pages(*mut u8);

    const LEN: usize = 1 << 20;

    impl Pages {
        fn new() -> Pages {
            // SAFETY: a new mapping.
            let start = unsafe {
                libc::mmap(
                    std::ptr::null_mut(),
                    2 * LEN,
                    libc::PROT_NONE,
                    libc::MAP_PRIVATE | libc::MAP_ANONYMOUS,
                    -1,
                    0,
                )
            };
            assert_ne!(start, libc::MAP_FAILED);
            // SAFETY: it is this mapping.
            assert_eq!(unsafe { libc::mprotect(start, LEN, libc::PROT_READ | libc::PROT_WRITE) }, 0);
            Pages(start.cast())
        }
    }

    impl Drop for Pages {
        fn drop(&mut self) {
            // SAFETY: it is this mapping.
            unsafe { libc::munmap(self.0.cast(), 2 * LEN) };
        }
    }

    /// A copy of which nothing is known.
    fn copied(to: *mut u8, from: *const u8, len: usize) -> Answer {
        // SAFETY: no side is said to be known.
        unsafe { copy(to, false, from, false, len) }
    }

    #[test]
    fn what_is_mapped_is_copied() {
        let pages = Pages::new();
        let from = vec![7u8; LEN];
        for len in [1, 4096, LEN] {
            assert_eq!(copied(pages.0, from.as_ptr(), len), Ok(()));
            // SAFETY: so much is mapped.
            assert!(unsafe { std::slice::from_raw_parts(pages.0, len) }.iter().all(|byte| *byte == 7));
        }
    }

    #[test]
    fn what_is_not_is_an_error() {
        let pages = Pages::new();
        let mut other = vec![0u8; 2 * LEN];
        for (offset, len) in [(LEN - 8, 16), (LEN, 1), (0, LEN + 1), (0, 2 * LEN)] {
            let place = pages.0.wrapping_add(offset);
            assert_eq!(copied(other.as_mut_ptr(), place, len), Err(Status::INVALID_VALUE), "{offset} {len}");
            assert_eq!(copied(place, other.as_ptr(), len), Err(Status::INVALID_VALUE), "{offset} {len}");
        }
        assert_eq!(copied(other.as_mut_ptr(), std::ptr::null(), 1), Err(Status::INVALID_VALUE));
        let far = std::ptr::without_provenance(usize::MAX - 3);
        assert_eq!(copied(other.as_mut_ptr(), far, 100_000), Err(Status::INVALID_VALUE));
    }

    #[test]
    fn what_may_only_be_read_is_not_written() {
        static CONSTANT: [u8; 100_000] = [3; 100_000];
        let from = vec![1u8; CONSTANT.len()];
        for len in [10, CONSTANT.len()] {
            let to = (&raw const CONSTANT).cast_mut().cast();
            assert_eq!(copied(to, from.as_ptr(), len), Err(Status::INVALID_VALUE));
        }
    }

    #[test]
    fn the_list_says_the_same_as_the_system() {
        let list = b"1000-3000 r--p 0 0:0 0 a\n3000-4000 rw-p 0 0:0 0\n6000-7000 ---p 0 0:0 0\n";
        let ask = |from, end, access| by_list(&list[..], from, end, access).is_ok();
        assert!(ask(0x1000, 0x4000, Access::Read));
        assert!(ask(0x3800, 0x4000, Access::Write));
        assert!(!ask(0x2fff, 0x3001, Access::Write));
        assert!(!ask(0xfff, 0x1001, Access::Read));
        assert!(!ask(0x3fff, 0x4001, Access::Read));
        assert!(!ask(0x6000, 0x6001, Access::Read));
    }
}
