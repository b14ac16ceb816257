//! Stores that go past the caches.
//!
//! A store to a line that no cache has reads the line first. A kernel that writes a large buffer once so moves a third more than it should, or
//! half. Where a turn writes whole rows, these are parts of lines at their multiples, and an instruction writes such without reading
//! (`vmovntdq`): c = a + b over 128 MiB took 10 ms instead of 15. What is written so is in no cache, so it is for large allocations only,
//! and not for those that the kernel also reads: their lines are there.
//!
//! Other processors may see such stores late, until a fence. So there are none in kernels where a thread of another block, on another core, may
//! wait for what is written ([`Kernel::keeps_apart`](crate::code::Kernel::keeps_apart)); and each core ends its part of a launch with a fence, see [`settle`]. The core itself sees all of its stores in
//! their order.

use super::assembler::Condition;
use super::emit::{SCRATCH, SITES, Writer};
use super::load::{NEVER, Site, UNCACHED};
use crate::code::Access;
use crate::memory::Space;

/// Bytes of an allocation, less a few, from which on stores go past the caches. With less, what reads it next may find it in a cache: measured on a
/// machine with 2 MiB of cache a core and 260 MiB for all, writing and reading back took 0.9 of the time at 16 MiB, 1.3 at 4 MiB, and 0.7 from
/// 32 MiB on.
const LEAST: u64 = (32 << 20) - 64;

/// Makes this core's stores seen by all others.
pub(crate) fn settle() {
    #[cfg(target_arch = "x86_64")]
    // SAFETY: every processor of this architecture has it.
    unsafe {
        std::arch::x86_64::_mm_sfence();
    }
}

/// Writes what is known of an access to its place in a table, where a turn has `row` bytes of words.
pub(crate) fn put(sites: &mut [Site], at: usize, mut site: Site, write: bool, row: u64) {
    // Before it is compared with the others: it may have been of another allocation.
    sites[at] = Site::default();
    let mut others = sites.iter_mut().filter(|other| other.starts > 0 && other.first == site.first);
    if !write {
        others.for_each(|other| other.uncached = NEVER);
    } else if site.starts >= LEAST && others.all(|other| other.uncached != NEVER) {
        site.uncached = row - 1;
    }
    sites[at] = site;
}

impl Writer<'_> {
    /// Writes the store of a row at the scratch register, as `write` does: with instructions that go past the caches, where it is told so, and
    /// with others.
    pub(super) fn write_past_caches(&mut self, access: &Access, site: usize, mut write: impl FnMut(&mut Self, bool)) {
        if !self.streams || self.masked || access.space == Space::Shared {
            return write(self, false);
        }
        self.asm.test_memory(SCRATCH, SITES, (site * size_of::<Site>()) as i32 + UNCACHED);
        let fits = self.asm.jump_if(Condition::Zero);
        write(self, false);
        let end = self.asm.jump();
        self.asm.land(fits);
        write(self, true);
        self.asm.land(end);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_large_allocations_that_are_not_read_are_written_past_the_caches() {
        const ROW: u64 = 64;
        let site = |address: u64, len: u64| Site::new(address, std::ptr::without_provenance_mut(1 << 20), len, 4);
        let (first, second) = (site(1 << 30, 32 << 20), site(1 << 40, 32 << 20));
        let mut sites = vec![Site::default(); 4];
        put(&mut sites, 1, first, true, ROW);
        put(&mut sites, 2, second, false, ROW);
        put(&mut sites, 3, site(1 << 50, (32 << 20) - 128), true, ROW);
        assert_eq!([1, 2, 3].map(|at| sites[at].uncached), [ROW - 1, NEVER, NEVER]);
        // One that is read: before, or from now on.
        put(&mut sites, 3, second, true, ROW);
        assert_eq!(sites[3].uncached, NEVER);
        put(&mut sites, 2, first, false, ROW);
        assert_eq!([1, 2].map(|at| sites[at].uncached), [NEVER, NEVER]);
        // The load reaches another one now.
        put(&mut sites, 2, second, false, ROW);
        put(&mut sites, 1, first, true, ROW);
        assert_eq!(sites[1].uncached, ROW - 1);
    }
}
