//! Loads, stores and atomics: a warp's addresses to pointers, checked together, then the bytes.
//!
//! - [`address`]: where the threads of a warp or a block reach, checked.
//! - [`bytes`]: loads and stores; [`atomic`]: atomics.
//!
//! A warp's threads mostly reach one allocation, so a warp is checked with a few vector instructions. Where they do not, or where a
//! check fails, each thread is checked by itself, which also finds the thread to blame.
//!
//! Memory that blocks share is reached through raw pointers: a kernel whose blocks race does so here as on a GPU. Every value is
//! plain bytes, for which anything that a race leaves is valid, and no reference to them exists while a launch runs.

#![allow(unsafe_code, reason = "the kernel's memory is raw memory")]

mod address;
mod atomic;
mod bytes;

use super::launch::Launch;
use super::findings::{AccessKind, Findings, Spot};
use super::shadow::{Shadow, Touch};
use crate::code::{Access, GRANULE};
use crate::column::{File, WARP};
use crate::memory::{
    Fault, LOCAL_BASE, OFFSET, PARAM_BASE, REGION_BITS, Region, SHARED_BASE, Space, region_index,
};

pub(super) use atomic::atomic;
pub(super) use bytes::Moves;

/// The columns and the memory that the running group reaches.
#[derive(Debug)]
pub(crate) struct Reach {
    pub(crate) file: File,
    pub(crate) regions: *const Region,
    pub(crate) region_count: usize,
    pub(crate) shared: *mut u8,
    pub(crate) shared_len: u64,
    pub(crate) local: *mut u8,
    /// Threads of the padded block.
    pub(crate) lanes: usize,
    /// Where the running function's part of the stack starts and ends.
    pub(crate) frame: u64,
    pub(crate) top: u64,
    pub(crate) params: *mut u8,
    pub(crate) params_len: u64,
    /// What is known of each byte of memory, if that is to be checked.
    pub(crate) shadow: Option<Box<Shadow>>,
    pub(crate) findings: Findings,
}

/// A thread of a warp, and what is wrong with its access.
pub(crate) type LaneFault = (usize, Fault);

/// The error of an access of all active threads: the warp, and its fault.
pub(crate) type WarpFault = (usize, LaneFault);

impl Reach {
    /// What a launch's blocks reach; a worker's own memory is not there yet.
    pub(super) fn new(launch: &Launch<'_>) -> Reach {
        let (lanes, shared) = (launch.shape.lanes(), launch.shape.shared());
        Reach {
            file: File::new(lanes / WARP),
            regions: launch.regions.as_ptr(),
            region_count: launch.regions.len(),
            shared: std::ptr::null_mut(),
            shared_len: shared as u64,
            local: std::ptr::null_mut(),
            lanes,
            frame: 0,
            top: 0,
            params: launch.params.as_ptr().cast_mut(),
            params_len: launch.params.len() as u64,
            shadow: launch.common.as_ref().map(|common| Box::new(Shadow::new(common.clone(), shared, lanes))),
            findings: Findings::default(),
        }
    }

    /// Names the statement that accesses are made for, to the shadow memory.
    #[inline(always)]
    pub(super) fn tell_shadow(&mut self, statement: u32) {
        if let Some(shadow) = &mut self.shadow {
            shadow.statement = statement;
        }
    }

    /// Where an address reaches, if it is memory that the shadow memory knows.
    fn spot(space: Space, address: u64) -> Option<Spot> {
        match (space, address >> REGION_BITS) {
            (Space::Shared, _) => Some(Spot::Shared(address)),
            (Space::Generic, 1) => Some(Spot::Shared(address - SHARED_BASE)),
            (Space::Generic | Space::Global | Space::Const, _) => {
                region_index(address).is_some().then_some(Spot::Global(address))
            }
            _ => None,
        }
    }

    /// The access of a thread as the shadow memory sees it. `same_value` says whether a write leaves what was there.
    pub(in crate::engine) fn touch(access: &Access, address: u64, thread: usize, kind: AccessKind) -> Option<Touch> {
        let spot = Reach::spot(access.space, address)?;
        let bytes = u64::from(access.bytes);
        Some(Touch { spot, bytes, thread, kind, order: access.order, copy: None, same_value: false })
    }

    /// Tells the shadow memory of a thread's access.
    pub(super) fn observe(&mut self, touch: &Touch) {
        if let Some(shadow) = &mut self.shadow {
            shadow.observe(&mut self.findings, touch);
        }
    }

    /// Where a byte of a thread's stack stands. It is there if a frame with this offset was entered.
    pub(super) fn stack_byte(&self, offset: u32, thread: usize) -> *mut u8 {
        self.local.wrapping_add(self.in_stack(offset as usize, thread))
    }

    /// A value of 1, 2, 4 or 8 bytes that one thread reads.
    pub(super) fn read(&self, space: Space, address: u64, bytes: u64, thread: usize) -> Result<u64, Fault> {
        let pointer = self.resolve(space, address, bytes, thread, false)?;
        // SAFETY: `resolve` has checked this number of bytes.
        Ok(unsafe {
            match bytes {
                1 => u64::from(pointer.read()),
                2 => u64::from(pointer.cast::<u16>().read_unaligned()),
                4 => u64::from(pointer.cast::<u32>().read_unaligned()),
                _ => pointer.cast::<u64>().read_unaligned(),
            }
        })
    }

    fn region(&self, index: usize) -> Option<Region> {
        // SAFETY: the launch keeps this many regions for as long as it runs, and workers do not outlive it.
        (index < self.region_count).then(|| unsafe { *self.regions.add(index) })
    }

    /// The bytes that an address of one thread names.
    #[inline(never)]
    pub(crate) fn resolve(
        &self,
        space: Space,
        address: u64,
        bytes: u64,
        thread: usize,
        write: bool,
    ) -> Result<*mut u8, Fault> {
        if address & (bytes - 1) != 0 {
            return Err(Fault::Misaligned { address, bytes });
        }
        let outside = Fault::OutOfBounds { space, address, bytes };
        let within = |offset: u64, len: u64| {
            if bytes <= len && offset <= len - bytes { Ok(offset as usize) } else { Err(outside) }
        };
        let (found, offset) = match space {
            Space::Generic => match address >> 36 {
                1 => (Space::Shared, address - SHARED_BASE),
                2 => (Space::Local, address - LOCAL_BASE),
                3 => (Space::Param, address - PARAM_BASE),
                _ => (Space::Global, address),
            },
            _ => (space, address),
        };
        match found {
            Space::Shared => Ok(self.shared.wrapping_add(within(offset, self.shared_len)?)),
            Space::Local => Ok(self.local.wrapping_add(self.in_stack(within(offset, self.top)?, thread))),
            Space::Param if write => Err(Fault::ReadOnly { address }),
            Space::Param => Ok(self.params.wrapping_add(within(offset, self.params_len)?)),
            _ => {
                if matches!(address >> 36, 1..=3) {
                    return Err(Fault::WrongSpace { space, address });
                }
                let region = region_index(address).and_then(|index| self.region(index)).ok_or(outside)?;
                let offset = within(address & OFFSET, region.len)?;
                if write && region.read_only {
                    return Err(Fault::ReadOnly { address });
                }
                Ok(region.start.wrapping_add(offset))
            }
        }
    }

    /// Where a byte of a thread's stack stands.
    #[inline(always)]
    pub(crate) fn in_stack(&self, offset: usize, thread: usize) -> usize {
        (offset / GRANULE * self.lanes + thread) * GRANULE + offset % GRANULE
    }
}
