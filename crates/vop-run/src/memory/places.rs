//! Where allocations are: what a launch sees of a memory.
//!
//! A [`Memory`](super::Memory) has addresses of its own, or those of the host. Its own are cut into regions of 64 GiB, one for each
//! allocation, so that finding the allocation of an address is one shift, and every run has the same addresses. At the host's addresses
//! an allocation is found by bisection; each core remembers what it found last.

use std::sync::Arc;

use super::bytes::Mapping;

/// A region's size as a power of two.
pub(crate) const REGION_BITS: u32 = 36;
pub(crate) const OFFSET: u64 = (1 << REGION_BITS) - 1;
/// The region of the first allocation.
const FIRST_REGION: u64 = 16;

/// An allocation while a launch runs.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Region {
    pub(crate) start: *mut u8,
    pub(crate) len: u64,
    pub(crate) read_only: bool,
    /// The address of the first byte.
    pub(crate) address: u64,
}

/// Where an allocation of the host's addresses is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Place {
    pub(crate) address: u64,
    pub(crate) len: u64,
    /// The allocation's index.
    pub(crate) index: u32,
}

/// The allocations of a memory, as launches that start now see them.
#[derive(Debug, Default)]
pub(crate) struct Places {
    pub(crate) regions: Vec<Region>,
    /// Sorted by address; none where addresses are the memory's own.
    pub(crate) hosted: Option<Vec<Place>>,
    /// The names of the allocations, for errors.
    pub(crate) names: Vec<String>,
    /// What must not be freed before the launches have ended.
    #[allow(dead_code, reason = "it is kept, and never looked at")]
    pub(crate) keepers: Vec<Arc<Mapping>>,
}

// SAFETY: the pointers are to memory that the launches may reach from any thread, see `engine::access`.
unsafe impl Send for Places {}
// SAFETY: as above.
unsafe impl Sync for Places {}

impl Places {
    /// The index of the allocation whose region an address falls into: that of the greatest address which is not beyond it. The offset
    /// may be beyond its end.
    pub(crate) fn find(&self, address: u64) -> Option<usize> {
        match &self.hosted {
            None => region_index(address),
            Some(places) => place_of(places, address).map(|place| place.index as usize),
        }
    }

    /// The allocation of an address, and the number of bytes before it. At the host's addresses it is not beyond the end.
    pub(crate) fn locate(&self, address: u64) -> Option<(usize, u64)> {
        let index = self.find(address)?;
        let region = self.regions.get(index)?;
        let offset = address - region.address;
        (self.hosted.is_none() || offset < region.len).then_some((index, offset))
    }
}

/// The place of the greatest address that is not beyond this one.
pub(crate) fn place_of(places: &[Place], address: u64) -> Option<&Place> {
    places.get(places.partition_point(|place| place.address <= address).checked_sub(1)?)
}

/// The index of the allocation that an address belongs to, if it is one of an allocation's region.
#[inline(always)]
pub(crate) fn region_index(address: u64) -> Option<usize> {
    (address >> REGION_BITS).checked_sub(FIRST_REGION).map(|index| index as usize)
}

/// The address of the allocation with this index, where addresses are the memory's own.
pub(crate) fn address_of(index: usize) -> u64 {
    (FIRST_REGION + index as u64) << REGION_BITS
}
