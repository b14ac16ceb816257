//! The heap that kernels have from `malloc` and `free`: one of the launch's regions, so what is allocated outlives the launch.
//!
//! ```text
//! SEAL, cursor │ size and use, check │ bytes … │ size and use, check │ bytes … │ … to the region's end
//! ```
//!
//! Blocks follow one another, each behind a header of two words. The search for a free one starts where the last one ended and joins
//! free neighbours on its way. A kernel that writes beyond what it allocated damages a header, which its check shows.

#![allow(unsafe_code, reason = "the heap is the kernel's memory, which is raw")]

use std::collections::{BTreeMap, HashMap, VecDeque};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use crate::engine::findings::Near;
use crate::error::ThreadId;
use crate::memory::Region;

/// Bytes of a heap. CUDA gives 8 MiB unless the host asks for more (`cudaLimitMallocHeapSize`), and pages that are never touched cost
/// nothing.
pub(crate) const HEAP: usize = 64 << 20;

/// A header's size; also what every size and address is a multiple of.
const HEADER: u64 = 16;
const SEAL: u64 = 0x7061_6568_2070_6f76;
const USED: u64 = 1;

/// One search or release at a time, in all launches together: heaps are small and this is rare.
static ONE: Mutex<()> = Mutex::new(());

/// Writes an empty heap over the bytes, which are zeros.
pub(crate) fn seal(bytes: &mut [u8]) {
    let first = (bytes.len() as u64).saturating_sub(HEADER) & !(HEADER - 1);
    for (chunk, word) in bytes.chunks_exact_mut(8).zip([SEAL, HEADER, first, check(HEADER, first)]) {
        chunk.copy_from_slice(&word.to_le_bytes());
    }
}

fn check(at: u64, word: u64) -> u64 {
    word ^ SEAL ^ at.rotate_left(32)
}

/// What is wrong with a heap, or with an address that is to be freed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum HeapFault {
    /// The region is no heap.
    Foreign,
    /// The header at this offset has been overwritten.
    Corrupt(u64),
    /// No allocation starts there.
    NotAllocated,
}

pub(crate) struct Heap {
    region: Region,
    end: u64,
}

impl Heap {
    pub(crate) fn of(region: Region) -> Result<Heap, HeapFault> {
        let heap = Heap { region, end: region.len & !(HEADER - 1) };
        if heap.end < 2 * HEADER || heap.word(0) != SEAL { Err(HeapFault::Foreign) } else { Ok(heap) }
    }

    fn at(&self, offset: u64) -> &AtomicU64 {
        debug_assert!(offset + 8 <= self.end && offset.is_multiple_of(8));
        // SAFETY: callers pass multiples of 8 below the region's end, and its start is a multiple of 16. The launch keeps the region; cores
        // reach it at the same time only through atomics here, and as raw bytes in kernels.
        unsafe { AtomicU64::from_ptr(self.region.start.wrapping_add(offset as usize).cast()) }
    }

    fn word(&self, offset: u64) -> u64 {
        self.at(offset).load(Ordering::Relaxed)
    }

    fn set(&self, offset: u64, word: u64) {
        self.at(offset).store(word, Ordering::Relaxed);
    }

    /// The size of the block at an offset, header included, and whether it is allocated.
    fn block(&self, at: u64) -> Result<(u64, bool), HeapFault> {
        let word = self.word(at);
        let size = word & !(HEADER - 1);
        let sound = self.word(at + 8) == check(at, word) && size >= HEADER && size <= self.end - at;
        if sound { Ok((size, word & USED != 0)) } else { Err(HeapFault::Corrupt(at)) }
    }

    fn set_block(&self, at: u64, size: u64, used: bool) {
        let word = size | if used { USED } else { 0 };
        self.set(at, word);
        self.set(at + 8, check(at, word));
    }

    /// Allocates bytes: their offset, a multiple of 16; none if there is no room. Adds the headers that the search passes to `passed`.
    pub(crate) fn allocate(&self, bytes: u64, passed: &mut u64) -> Result<Option<u64>, HeapFault> {
        let _one = ONE.lock().unwrap_or_else(PoisonError::into_inner);
        let Some(need) = bytes.max(1).checked_add(2 * HEADER - 1).map(|n| n & !(HEADER - 1)) else { return Ok(None) };
        let start = self.word(8);
        if start < HEADER || start >= self.end || !start.is_multiple_of(HEADER) {
            return Err(HeapFault::Corrupt(0));
        }
        let (mut at, mut wrapped) = (start, false);
        while !(wrapped && at >= start) {
            if at == self.end {
                (at, wrapped) = (HEADER, true);
                continue;
            }
            *passed += 1;
            let (mut size, used) = self.block(at)?;
            if !used {
                while at + size < self.end
                    && let (next, false) = self.block(at + size)?
                {
                    *passed += 1;
                    size += next;
                }
                if size >= need {
                    self.set_block(at, need, true);
                    if size > need {
                        self.set_block(at + need, size - need, false);
                    }
                    let after = at + need;
                    self.set(8, if after == self.end { HEADER } else { after });
                    return Ok(Some(at + HEADER));
                }
                self.set_block(at, size, false);
            }
            at += size;
        }
        // The block that the search started from may have been joined to one before it.
        self.set(8, HEADER);
        Ok(None)
    }

    /// Gives back what starts at an offset.
    pub(crate) fn release(&self, offset: u64) -> Result<(), HeapFault> {
        let _one = ONE.lock().unwrap_or_else(PoisonError::into_inner);
        let at = offset.wrapping_sub(HEADER);
        if at < HEADER || at >= self.end || !at.is_multiple_of(HEADER) {
            return Err(HeapFault::NotAllocated);
        }
        match self.block(at) {
            Ok((size, true)) => {
                self.set_block(at, size, false);
                Ok(())
            }
            _ => Err(HeapFault::NotAllocated),
        }
    }
}

impl Heap {
    /// The offsets of what is allocated, and the bytes that it has.
    fn allocations(&self) -> Vec<(u64, u64)> {
        let _one = ONE.lock().unwrap_or_else(PoisonError::into_inner);
        let mut all = Vec::new();
        let mut at = HEADER;
        while at < self.end
            && let Ok((size, used)) = self.block(at)
        {
            if used {
                all.push((at + HEADER, size - HEADER));
            }
            at += size;
        }
        all
    }
}

/// A place in a kernel where a thread allocated something, or gave it back.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Site {
    pub(crate) kernel: String,
    /// The line of the PTX in words, with the column if other statements stand on the line.
    pub(crate) line: String,
    /// The file and line that it was compiled from.
    pub(crate) source: Option<String>,
    pub(crate) thread: ThreadId,
}

/// What is known of an allocation.
#[derive(Clone, Debug)]
struct Logged {
    size: u64,
    allocated: Option<Arc<Site>>,
    /// Whether it was given back, and where.
    freed: Option<Arc<Site>>,
}

/// What has been allocated from a heap, and given back: for the check of the heap.
///
/// What is given back is not allocated again before the heap is full or the launch ends, so that uses of it are noticed.
#[derive(Clone, Debug, Default)]
pub(crate) struct HeapLog {
    by_offset: BTreeMap<u64, Logged>,
    /// Offsets of what was given back and is still allocated in the heap, the oldest first.
    held: VecDeque<u64>,
    /// Texts of statements of the launch that runs.
    lines: HashMap<u32, Site>,
}

impl HeapLog {
    /// A launch starts. Launches without the check may have allocated and given back.
    pub(crate) fn start(&mut self, heap: &Heap) {
        self.lines.clear();
        let now: BTreeMap<u64, u64> = heap.allocations().into_iter().collect();
        self.by_offset.retain(|offset, logged| logged.freed.is_some() || now.contains_key(offset));
        for (offset, size) in now {
            let known = self.by_offset.get(&offset).is_some_and(|logged| logged.freed.is_none());
            if !known {
                self.forget(offset, size);
                self.by_offset.insert(offset, Logged { size, allocated: None, freed: None });
            }
        }
    }

    /// Forgets what stood in a range.
    fn forget(&mut self, offset: u64, size: u64) {
        let first = self.by_offset.range(..offset).next_back();
        let before = first.filter(|(at, logged)| *at + logged.size > offset).map(|(at, _)| *at);
        let inside = self.by_offset.range(offset..offset + size).map(|(at, _)| *at);
        for at in before.into_iter().chain(inside).collect::<Vec<_>>() {
            self.by_offset.remove(&at);
        }
    }

    /// A statement, as a site of a thread; `make` is asked once for each statement.
    pub(crate) fn site(&mut self, statement: u32, thread: ThreadId, make: impl FnOnce() -> Site) -> Arc<Site> {
        let site = self.lines.entry(statement).or_insert_with(make);
        Arc::new(Site { thread, ..site.clone() })
    }

    pub(crate) fn allocate(
        &mut self,
        heap: &Heap,
        bytes: u64,
        site: Arc<Site>,
        passed: &mut u64,
    ) -> Result<Option<u64>, HeapFault> {
        let mut offset = heap.allocate(bytes, passed)?;
        while offset.is_none() && !self.held.is_empty() {
            // All at once: a full heap is searched from end to end.
            self.release_held(heap)?;
            offset = heap.allocate(bytes, passed)?;
        }
        if let Some(offset) = offset {
            self.forget(offset, bytes.max(1));
            self.by_offset.insert(offset, Logged { size: bytes, allocated: Some(site), freed: None });
        }
        Ok(offset)
    }

    /// Gives back what starts at an offset. `Err` if it was given back before.
    pub(crate) fn free(&mut self, offset: u64, site: Arc<Site>) -> Result<Result<(), Near>, HeapFault> {
        match self.by_offset.get_mut(&offset) {
            Some(logged) if logged.freed.is_none() => {
                logged.freed = Some(site);
                self.held.push_back(offset);
                Ok(Ok(()))
            }
            Some(logged) => Ok(Err(near(offset, offset, logged))),
            None => Err(HeapFault::NotAllocated),
        }
    }

    fn release_held(&mut self, heap: &Heap) -> Result<(), HeapFault> {
        std::mem::take(&mut self.held).into_iter().try_for_each(|offset| heap.release(offset))
    }

    /// The launch ends: what was given back may be allocated again.
    pub(crate) fn end(&mut self, heap: &Heap) {
        // A heap that is damaged has been reported.
        let _ = self.release_held(heap);
    }

    /// Whether an access stays within an allocation; if not, what is near.
    pub(crate) fn access(&self, offset: u64, bytes: u64) -> Result<(), Option<Near>> {
        let Some((at, logged)) = self.by_offset.range(..=offset).next_back() else { return Err(None) };
        let inside = offset - at + bytes <= logged.size;
        if inside && logged.freed.is_none() { Ok(()) } else { Err(Some(near(offset, *at, logged))) }
    }

    /// What is still allocated, by the statement that allocated it: the first site, the number of allocations, and their bytes.
    pub(crate) fn leaks(&self) -> Vec<(Arc<Site>, u64, u64)> {
        let mut leaks: Vec<(Arc<Site>, u64, u64)> = Vec::new();
        let mut index: HashMap<(&str, &str), usize> = HashMap::new();
        for logged in self.by_offset.values().filter(|logged| logged.freed.is_none()) {
            let Some(site) = &logged.allocated else { continue };
            let at = *index.entry((&site.kernel, &site.line)).or_insert_with(|| {
                leaks.push((Arc::clone(site), 0, 0));
                leaks.len() - 1
            });
            let leak = &mut leaks[at];
            leak.1 += 1;
            leak.2 += logged.size;
            let first = |site: &Site| (site.thread.block, site.thread.thread);
            if first(site) < first(&leak.0) {
                leak.0 = Arc::clone(site);
            }
        }
        leaks
    }
}

fn near(offset: u64, at: u64, logged: &Logged) -> Near {
    Near { offset: offset - at, size: logged.size, allocated: logged.allocated.clone(), freed: logged.freed.clone() }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::memory::Bytes;

    fn with_heap(bytes: usize, test: impl Fn(&Heap)) {
        let mut memory = Bytes::try_zeros(bytes).expect("memory");
        seal(memory.as_mut_slice());
        let region = Region { start: memory.as_mut_ptr(), len: bytes as u64, read_only: false, address: 0 };
        test(&Heap::of(region).expect("a heap"));
    }

    #[test]
    fn allocations_are_apart_and_come_back() {
        with_heap(4096, |heap| {
            let mut taken = Vec::new();
            while let Ok(Some(at)) = heap.allocate(40, &mut 0) {
                assert!(at.is_multiple_of(16) && at + 40 <= 4096);
                assert!(taken.iter().all(|other: &u64| other.abs_diff(at) >= 40 + HEADER));
                taken.push(at);
            }
            // 48 bytes and a header each.
            assert_eq!(taken.len(), 4080 / 64);
            for at in &taken {
                assert_eq!(heap.release(*at), Ok(()));
                assert_eq!(heap.release(*at), Err(HeapFault::NotAllocated));
            }
            // All are one again.
            let all = heap.allocate(4096 - 2 * HEADER, &mut 0).expect("sound");
            assert_eq!(all, Some(2 * HEADER));
            assert_eq!(heap.allocate(0, &mut 0), Ok(None));
            assert_eq!(heap.allocate(u64::MAX, &mut 0), Ok(None));
        });
    }

    #[test]
    fn what_is_no_allocation_is_not_freed() {
        with_heap(1024, |heap| {
            let at = heap.allocate(100, &mut 0).expect("sound").expect("room");
            for wrong in [0, 8, 16, at + 16, at + 8, at - 16, 1024, 4096, u64::MAX] {
                assert_eq!(heap.release(wrong), Err(HeapFault::NotAllocated), "{wrong}");
            }
            assert_eq!(heap.release(at), Ok(()));
        });
    }

    #[test]
    fn an_overwritten_header_is_noticed() {
        with_heap(1024, |heap| {
            let at = heap.allocate(32, &mut 0).expect("sound").expect("room");
            heap.set(at + 32, 0);
            assert_eq!(heap.allocate(8, &mut 0), Err(HeapFault::Corrupt(at + 32)));
        });
        let mut memory = Bytes::try_zeros(64).expect("memory");
        assert!(Heap::of(Region { start: memory.as_mut_ptr(), len: 64, read_only: false, address: 0 }).is_err());
    }
}
