//! The bytes of an allocation: in the process's heap, a mapping of its own with guard pages, or memory that the caller keeps.

#![allow(unsafe_code, reason = "words are seen as bytes, and pages come from the system")]

use std::alloc::{Layout, alloc_zeroed};
#[cfg(unix)]
use std::collections::VecDeque;
use std::ptr::NonNull;
use std::sync::Arc;
#[cfg(unix)]
use std::sync::atomic::{AtomicUsize, Ordering};
#[cfg(unix)]
use std::sync::{Mutex, PoisonError};

use super::refused;
use crate::error::RunError;

/// Bytes that start at a multiple of 16, so that every atomic access of the kernel is an aligned one of the host; those of the heap and of
/// mappings at a multiple of 256, so that rows of words are whole lines of the host's caches.
#[derive(Debug)]
pub(crate) struct Bytes {
    storage: Storage,
    len: usize,
}

#[derive(Debug)]
enum Storage {
    /// No bytes.
    None,
    /// In the process's heap.
    Heap(Arc<Mapping>),
    /// In pages of their own.
    Mapped(Arc<Mapping>),
    /// Memory of somebody else.
    Foreign(NonNull<u8>),
}

// SAFETY: whoever lends memory promises that it may be reached from any thread until it is given back, see `Memory::register`.
unsafe impl Send for Storage {}
// SAFETY: as above; bytes are changed through a mutable reference, or by launches, see `engine::access`.
unsafe impl Sync for Storage {}

impl Default for Bytes {
    fn default() -> Bytes {
        Bytes { storage: Storage::None, len: 0 }
    }
}

/// A copy stands in the process's heap or, of what is mapped or lent, in a mapping; without memory for it, it is empty.
impl Clone for Bytes {
    fn clone(&self) -> Bytes {
        let copy = match &self.storage {
            Storage::None | Storage::Heap(_) => Bytes::try_zeros(self.len),
            Storage::Mapped(_) | Storage::Foreign(_) => Bytes::try_mapped(self.len),
        };
        copy.map_or_else(Bytes::default, |mut copy| {
            copy.as_mut_slice().copy_from_slice(self.as_slice());
            copy
        })
    }
}

impl Bytes {
    /// Zeros, if there is memory for them. Those of a large buffer take none until they are written.
    pub(crate) fn try_zeros(len: usize) -> Option<Bytes> {
        let storage = if len == 0 { Storage::None } else { Storage::Heap(Arc::new(Mapping::on_heap(len)?)) };
        Some(Bytes { storage, len })
    }

    /// Zeros in a mapping of their own, with guard pages on both sides; the start is a multiple of 256. No bytes have a place as well.
    pub(crate) fn try_mapped(len: usize) -> Option<Bytes> {
        Some(Bytes { storage: Storage::Mapped(Arc::new(Mapping::zeros(len)?)), len })
    }

    /// Memory that the caller keeps.
    ///
    /// # Safety
    /// It must be there until the value is dropped and every launch that has seen it has ended.
    pub(crate) unsafe fn foreign(start: NonNull<u8>, len: usize) -> Bytes {
        Bytes { storage: Storage::Foreign(start), len }
    }

    /// What keeps the bytes where they are, if somebody may free them while a launch runs.
    pub(crate) fn keeper(&self) -> Option<Arc<Mapping>> {
        match &self.storage {
            Storage::Heap(mapping) | Storage::Mapped(mapping) => Some(Arc::clone(mapping)),
            Storage::None | Storage::Foreign(_) => None,
        }
    }

    pub(crate) fn len(&self) -> usize {
        self.len
    }

    pub(crate) fn as_ptr(&self) -> *const u8 {
        match &self.storage {
            Storage::None => NonNull::<u128>::dangling().as_ptr().cast_const().cast(),
            Storage::Heap(mapping) | Storage::Mapped(mapping) => mapping.start.as_ptr().cast_const(),
            Storage::Foreign(start) => start.as_ptr().cast_const(),
        }
    }

    pub(crate) fn as_mut_ptr(&mut self) -> *mut u8 {
        self.as_ptr().cast_mut()
    }

    pub(crate) fn as_slice(&self) -> &[u8] {
        // SAFETY: there are at least `len` bytes, which are borrowed for as long as the slice, and any bytes are valid.
        unsafe { std::slice::from_raw_parts(self.as_ptr(), self.len) }
    }

    pub(crate) fn as_mut_slice(&mut self) -> &mut [u8] {
        // SAFETY: there are at least `len` bytes, which are borrowed mutably for as long as the slice, and any bytes are valid.
        unsafe { std::slice::from_raw_parts_mut(self.as_mut_ptr(), self.len) }
    }
}

impl TryFrom<&[u8]> for Bytes {
    type Error = RunError;

    fn try_from(bytes: &[u8]) -> Result<Bytes, RunError> {
        let mut all = Bytes::try_zeros(bytes.len()).ok_or_else(|| refused(bytes.len() as u64, "a copy of bytes"))?;
        all.as_mut_slice().copy_from_slice(bytes);
        Ok(all)
    }
}

/// Pages of the system, and what surrounds them.
#[derive(Debug)]
pub(crate) struct Mapping {
    /// The first byte for the caller.
    start: NonNull<u8>,
    /// All that is to be given back.
    whole: NonNull<u8>,
    bytes: usize,
    /// Whether it is of the process's heap.
    on_heap: bool,
}

// SAFETY: it owns its pages, which stay where they are.
unsafe impl Send for Mapping {}
// SAFETY: as above.
unsafe impl Sync for Mapping {}

/// What stands on both sides of a mapping and cannot be reached. A slip of a kernel's index is found by the engine; this is for slips of
/// the host's.
#[cfg(unix)]
const GUARD: usize = 1 << 20;
/// Where a large mapping starts: a page of the system that is large, so that it needs few of its tables.
#[cfg(unix)]
const LARGE: usize = 2 << 20;
/// The alignment of every allocation, as `cudaMalloc` has it.
const ALIGNMENT: usize = 256;
const HEAP_ALIGNMENT: usize = 16;

/// Asks the system for large pages where the bytes fill some: the first touch is faster, and so are accesses here and there. What the system
/// answers does not matter.
#[cfg(target_os = "linux")]
fn ask_for_large_pages(start: *mut u8, len: usize) {
    let ahead = start.addr().next_multiple_of(LARGE) - start.addr();
    let whole = len.saturating_sub(ahead) / LARGE * LARGE;
    if whole > 0 {
        // SAFETY: the bytes are the caller's, and their content stays.
        unsafe { libc::madvise(start.wrapping_add(ahead).cast(), whole, libc::MADV_HUGEPAGE) };
    }
}

impl Mapping {
    fn zeros(len: usize) -> Option<Mapping> {
        #[cfg(unix)]
        if let Some(mapping) = Mapping::of_pages(len) {
            return Some(mapping);
        }
        // The system has no pages for it, or no more mappings.
        Mapping::on_heap(len)
    }

    /// Zeros of the process's heap. The layout's alignment is one that every heap has by itself: with a larger one, heaps write the zeros
    /// instead of leaving them to the system, which gives pages of zeros when they are touched.
    fn on_heap(len: usize) -> Option<Mapping> {
        let bytes = len.max(1).checked_add(ALIGNMENT - HEAP_ALIGNMENT)?;
        let layout = Layout::from_size_align(bytes, HEAP_ALIGNMENT).ok()?;
        // SAFETY: the layout has a size.
        let whole = NonNull::new(unsafe { alloc_zeroed(layout) })?;
        let ahead = whole.as_ptr().addr().next_multiple_of(ALIGNMENT) - whole.as_ptr().addr();
        // SAFETY: the start is a multiple of the heap's alignment, so it is at most the bytes more than `len` ahead.
        let start = unsafe { whole.add(ahead) };
        #[cfg(target_os = "linux")]
        if len >= LARGE {
            ask_for_large_pages(start.as_ptr(), len);
        }
        Some(Mapping { start, whole, bytes, on_heap: true })
    }

    #[cfg(unix)]
    fn of_pages(len: usize) -> Option<Mapping> {
        // Of any system: no page is larger.
        const PAGE: usize = 1 << 16;
        let inner = len.max(1).checked_next_multiple_of(PAGE)?;
        let align = if inner >= LARGE { LARGE } else { PAGE };
        let bytes = inner.checked_add(2 * GUARD + align)?;
        if PAGED.load(Ordering::Relaxed) >= MAX_PAGED {
            return None;
        }
        let whole = reserve(bytes).or_else(|| {
            RESTING.lock().unwrap_or_else(PoisonError::into_inner).give_back(0, 0);
            reserve(bytes)
        })?;
        let ahead = (whole.as_ptr() as usize + GUARD).next_multiple_of(align) - whole.as_ptr() as usize;
        let mapping = Mapping {
            // SAFETY: there are `align` bytes more than both guards and the inner part take.
            start: unsafe { whole.add(ahead) },
            whole,
            bytes,
            on_heap: false,
        };
        PAGED.fetch_add(1, Ordering::Relaxed);
        // SAFETY: the pages are the mapping's own.
        unsafe {
            if libc::mprotect(mapping.start.as_ptr().cast(), inner, libc::PROT_READ | libc::PROT_WRITE) != 0 {
                return None;
            }
        }
        #[cfg(target_os = "linux")]
        if inner >= LARGE {
            ask_for_large_pages(mapping.start.as_ptr(), inner);
        }
        Some(mapping)
    }
}

impl Drop for Mapping {
    fn drop(&mut self) {
        if self.on_heap {
            if let Ok(layout) = Layout::from_size_align(self.bytes, HEAP_ALIGNMENT) {
                // SAFETY: it was allocated with this layout, and nothing refers to it any more.
                unsafe { std::alloc::dealloc(self.whole.as_ptr(), layout) };
            }
            return;
        }
        #[cfg(unix)]
        PAGED.fetch_sub(1, Ordering::Relaxed);
        #[cfg(unix)]
        RESTING.lock().unwrap_or_else(PoisonError::into_inner).take(self.whole, self.bytes);
    }
}

/// Pages without access and without memory behind them, at a place that the system chooses.
#[cfg(unix)]
fn reserve(bytes: usize) -> Option<NonNull<u8>> {
    // SAFETY: the pages are new, so nothing refers to them.
    let whole = unsafe { libc::mmap(std::ptr::null_mut(), bytes, libc::PROT_NONE, RESERVED, -1, 0) };
    if whole == libc::MAP_FAILED { None } else { NonNull::new(whole.cast()) }
}

/// Mappings that are there. Each makes three of the system's, which allows 65,530 in all, for all of the process.
#[cfg(unix)]
static PAGED: AtomicUsize = AtomicUsize::new(0);
#[cfg(unix)]
const MAX_PAGED: usize = 1 << 13;

#[cfg(unix)]
const RESERVED: i32 = libc::MAP_PRIVATE | libc::MAP_ANONYMOUS | libc::MAP_NORESERVE;

/// Addresses of mappings that were freed. They stay reserved for a while, without memory behind them, so that a pointer to what was freed
/// does not point into what is allocated next.
#[cfg(unix)]
static RESTING: Mutex<Resting> = Mutex::new(Resting { ranges: VecDeque::new(), bytes: 0 });

#[cfg(unix)]
struct Resting {
    /// Starts and sizes, the oldest first.
    ranges: VecDeque<(usize, usize)>,
    bytes: usize,
}

#[cfg(unix)]
impl Resting {
    /// How many ranges rest, and how many bytes of addresses, at most.
    const RANGES: usize = 1 << 12;
    const BYTES: usize = 1 << 38;

    fn take(&mut self, start: NonNull<u8>, bytes: usize) {
        // SAFETY: the pages are of a mapping that nothing refers to any more. What was written goes back to the system.
        let kept = unsafe {
            let flags = RESERVED | libc::MAP_FIXED;
            libc::mmap(start.as_ptr().cast(), bytes, libc::PROT_NONE, flags, -1, 0) != libc::MAP_FAILED
        };
        self.ranges.push_back((start.as_ptr().expose_provenance(), bytes));
        self.bytes += bytes;
        match kept {
            true => self.give_back(Resting::RANGES, Resting::BYTES),
            false => self.give_back(0, 0),
        }
    }

    /// Gives the oldest ranges back to the system, until there are no more than these.
    fn give_back(&mut self, ranges: usize, bytes: usize) {
        while self.ranges.len() > ranges || self.bytes > bytes {
            let Some((start, bytes)) = self.ranges.pop_front() else { break };
            self.bytes -= bytes;
            // SAFETY: nothing refers to the pages.
            unsafe { libc::munmap(std::ptr::with_exposed_provenance_mut(start), bytes) };
        }
    }
}
