//! Memory that holds machine code: written first, then executed, never both at once.

#![allow(unsafe_code, reason = "pages of the system")]

use std::ptr::NonNull;

use crate::code::{RegionLoop, RunLoop};

/// Pages of machine code.
#[derive(Debug)]
pub(super) struct Executable {
    start: NonNull<u8>,
    len: usize,
}

// SAFETY: nothing writes to the pages once they are made.
unsafe impl Send for Executable {}
// SAFETY: as above.
unsafe impl Sync for Executable {}

impl Executable {
    /// Pages with this code; `None` if the system gives none, as some that are hardened.
    pub(super) fn new(code: &[u8]) -> Option<Executable> {
        let len = code.len().next_multiple_of(4096);
        if code.is_empty() {
            return None;
        }
        // SAFETY: new pages, which nothing else knows.
        let start = unsafe {
            let (read, write) = (libc::PROT_READ, libc::PROT_WRITE);
            libc::mmap(std::ptr::null_mut(), len, read | write, libc::MAP_PRIVATE | libc::MAP_ANONYMOUS, -1, 0)
        };
        if start == libc::MAP_FAILED {
            return None;
        }
        let pages = Executable { start: NonNull::new(start.cast())?, len };
        // SAFETY: the pages are at least as long as the code, and nobody executes them yet.
        unsafe {
            pages.start.as_ptr().copy_from_nonoverlapping(code.as_ptr(), code.len());
            if libc::mprotect(start, len, libc::PROT_READ | libc::PROT_EXEC) != 0 {
                return None;
            }
        }
        Some(pages)
    }

    /// The function at an offset.
    ///
    /// # Safety
    /// A function of this type must start there.
    pub(super) unsafe fn function(&self, offset: usize) -> RunLoop {
        // SAFETY: the caller promises the function, and the pages can be executed as long as this value is there.
        unsafe { std::mem::transmute::<*mut u8, RunLoop>(self.address(offset)) }
    }

    /// The region at an offset.
    ///
    /// # Safety
    /// As for [`Executable::function`].
    pub(super) unsafe fn region(&self, offset: usize) -> RegionLoop {
        // SAFETY: as above.
        unsafe { std::mem::transmute::<*mut u8, RegionLoop>(self.address(offset)) }
    }

    fn address(&self, offset: usize) -> *mut u8 {
        debug_assert!(offset < self.len);
        self.start.as_ptr().wrapping_add(offset)
    }
}

impl Drop for Executable {
    fn drop(&mut self) {
        // SAFETY: the pages are this value's own, and whoever has an address of them has this value as well.
        unsafe {
            libc::munmap(self.start.as_ptr().cast(), self.len);
        }
    }
}
