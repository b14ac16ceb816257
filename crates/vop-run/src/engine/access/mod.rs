//! Loads, stores and atomics: a warp's addresses to pointers, checked together, then the bytes.
//!
//! - [`address`]: where the threads of a warp or a block reach, checked.
//! - [`bytes`]: loads and stores; [`atomic`]: atomics.
//!
//! A warp's threads mostly reach one allocation, so a warp is checked with a few vector instructions. Where they do not, or where a
//! check fails, each thread is checked by itself, which also finds the thread to blame.
//!
//! Memory that blocks share is reached through raw pointers, by atomics and by moves that the compiler does not see: a kernel whose blocks
//! race does so here as on a GPU, and it is no data race of Rust. Every value is plain bytes, for which anything that a race leaves is
//! valid, and no reference to them exists while a launch runs.

#![allow(unsafe_code, reason = "the kernel's memory is raw memory")]

mod address;
mod atomic;
mod bytes;

use std::cell::Cell;
use std::sync::atomic::{AtomicU8, AtomicU16, AtomicU32, AtomicU64, Ordering};

use super::findings::{AccessKind, Findings, Spot};
use super::launch::Launch;
use super::shadow::{Shadow, Touch};
use crate::code::{Access, GRANULE};
use crate::column::{File, WARP};
use crate::memory::{
    Fault, LOCAL_BASE, OFFSET, PARAM_BASE, Place, REGION_BITS, Region, SHARED_BASE, SHORT_BITS, Space, place_of,
    region_index, short_allocation,
};

pub(super) use bytes::Moves;

/// Places of allocations that a core remembers.
const HINTS: usize = 32;

/// The columns and the memory that the running group reaches.
#[derive(Debug)]
pub(crate) struct Reach {
    pub(crate) file: File,
    pub(crate) regions: *const Region,
    pub(crate) region_count: usize,
    /// Where allocations are at the host's addresses; null where addresses are the memory's own.
    hosted: *const Place,
    hosted_count: usize,
    /// What was found last among them, by a part of the address. In a box, as cells in here would tell the compiler that all of it may
    /// change behind a shared reference.
    hints: Box<[Cell<u32>; HINTS]>,
    /// Short addresses, see [`Memory::shorts`](crate::memory::Memory::shorts).
    shorts: *const (u32, u32),
    short_count: usize,
    /// Whether shared and local memory have short generic addresses.
    short_windows: bool,
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
    /// How often the block has changed shared or global memory, about: never twice the same after a change.
    pub(crate) changes: u64,
    /// What is known of each byte of memory, if that is to be checked.
    pub(crate) shadow: Option<Box<Shadow>>,
    pub(crate) findings: Findings,
}

/// A thread of a warp, and what is wrong with its access.
pub(crate) type LaneFault = (usize, Fault);

/// The error of an access of all active threads: the warp, and its fault.
pub(crate) type WarpFault = (usize, LaneFault);

/// A value of 1, 2, 4 or 8 bytes.
///
/// # Safety
/// The bytes must be readable, and the pointer a multiple of their number.
pub(crate) unsafe fn peek(pointer: *const u8, bytes: u64) -> u64 {
    let pointer = pointer.cast_mut();
    // SAFETY: the caller promises aligned bytes. The kernel's memory may change at any time, and is reached by atomics here.
    unsafe {
        match bytes {
            1 => u64::from(AtomicU8::from_ptr(pointer).load(Ordering::Relaxed)),
            2 => u64::from(AtomicU16::from_ptr(pointer.cast()).load(Ordering::Relaxed)),
            4 => u64::from(AtomicU32::from_ptr(pointer.cast()).load(Ordering::Relaxed)),
            _ => AtomicU64::from_ptr(pointer.cast()).load(Ordering::Relaxed),
        }
    }
}

impl Reach {
    /// What a launch's blocks reach; a worker's own memory is not there yet.
    pub(super) fn new(launch: &Launch<'_>) -> Reach {
        let (lanes, shared) = (launch.lanes, launch.shape.shared());
        Reach {
            file: File::new(lanes / WARP),
            regions: launch.places.regions.as_ptr(),
            region_count: launch.places.regions.len(),
            hosted: launch.places.hosted.as_ref().map_or(std::ptr::null(), |places| places.as_ptr()),
            hosted_count: launch.places.hosted.as_ref().map_or(0, Vec::len),
            hints: Box::default(),
            shorts: launch.shorts.as_ptr(),
            short_count: launch.shorts.len(),
            short_windows: launch.kernel.short,
            shared: std::ptr::null_mut(),
            shared_len: shared as u64,
            local: std::ptr::null_mut(),
            lanes,
            frame: 0,
            top: 0,
            params: launch.params.as_slice().as_ptr().cast_mut(),
            params_len: launch.params.len() as u64,
            changes: 0,
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

    /// The allocation whose region an address of 64 bits falls into: its index, and its address. The address may be beyond its end.
    #[inline(always)]
    pub(in crate::engine) fn find(&self, address: u64) -> Option<(usize, u64)> {
        match self.hosted.is_null() {
            true => region_index(address).map(|index| (index, address & !OFFSET)),
            false => self.find_hosted(address),
        }
    }

    /// [`Reach::find`] at the host's addresses.
    #[inline(never)]
    fn find_hosted(&self, address: u64) -> Option<(usize, u64)> {
        // SAFETY: the launch keeps this many places for as long as it runs, and workers do not outlive it.
        let places = unsafe { std::slice::from_raw_parts(self.hosted, self.hosted_count) };
        // Allocations are 2 MiB and more apart, mostly.
        let hint = &self.hints[((address >> 21) ^ (address >> 30)) as usize % HINTS];
        let found = places.get(hint.get() as usize).filter(|place| address.wrapping_sub(place.address) < place.len);
        let found = found.or_else(|| {
            let found = place_of(places, address)?;
            // SAFETY: both are of the same slice.
            hint.set(unsafe { std::ptr::from_ref(found).offset_from(self.hosted) } as u32);
            Some(found)
        });
        found.map(|place| (place.index as usize, place.address))
    }

    /// The allocation of an address, which may be a short one: its index, and its address as it is counted here.
    fn allocation(&self, address: u64) -> Option<(usize, u64)> {
        let found = if address >> REGION_BITS != 0 || !self.hosted.is_null() { self.find(address) } else { None };
        found.or_else(|| self.short_allocation(address))
    }

    /// Where an address reaches, if it is memory that the shadow memory knows.
    fn spot(&self, space: Space, address: u64) -> Option<Spot> {
        match (space, address >> REGION_BITS) {
            (Space::Shared, _) => Some(Spot::Shared(address)),
            (Space::Generic, 1) => Some(Spot::Shared(address - SHARED_BASE)),
            (Space::Generic | Space::Global | Space::Const, 2 | 3) => None,
            (Space::Generic | Space::Global | Space::Const, _) => match self.short_space(address) {
                Some(Space::Shared) => Some(Spot::Shared(address - Space::Shared.short_base())),
                Some(_) => None,
                None => {
                    let (allocation, first) = self.allocation(address)?;
                    Some(Spot::Global(self.region(allocation)?.address + (address - first)))
                }
            },
            _ => None,
        }
    }

    /// The access of a thread as the shadow memory sees it, of a scalar.
    pub(in crate::engine) fn touch(
        &self,
        access: &Access,
        address: u64,
        thread: usize,
        kind: AccessKind,
    ) -> Option<Touch> {
        let spot = self.spot(access.space, address)?;
        let bytes = u64::from(access.bytes);
        let (order, element) = (access.order, bytes);
        Some(Touch { spot, bytes, element, thread, kind, order, copy: None, same_value: false, swaps: false })
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
        // SAFETY: `resolve` has checked this number of bytes, and the alignment.
        Ok(unsafe { peek(pointer, bytes) })
    }

    /// Whether an address is of a thread's stack.
    pub(crate) fn is_on_stack(&self, space: Space, address: u64) -> bool {
        space == Space::Local || space == Space::Generic && address >> REGION_BITS == LOCAL_BASE >> REGION_BITS
    }

    pub(in crate::engine) fn region(&self, index: usize) -> Option<Region> {
        // SAFETY: the launch keeps this many regions for as long as it runs, and workers do not outlive it.
        (index < self.region_count).then(|| unsafe { *self.regions.add(index) })
    }

    /// The allocation that a short address may belong to: its index, and where it starts.
    fn short_allocation(&self, address: u64) -> Option<(usize, u64)> {
        // SAFETY: the launch keeps this many pairs for as long as it runs, and workers do not outlive it.
        let shorts = unsafe { std::slice::from_raw_parts(self.shorts, self.short_count) };
        short_allocation(shorts, address)
    }

    /// The space whose window of short generic addresses an address is in.
    fn short_space(&self, address: u64) -> Option<Space> {
        let space = match address >> SHORT_BITS {
            1 => Space::Shared,
            2 => Space::Local,
            3 => Space::Param,
            _ => return None,
        };
        Some(space).filter(|_| self.short_windows)
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
                _ => match self.short_space(address) {
                    Some(space) => (space, address - space.short_base()),
                    None => (Space::Global, address),
                },
            },
            _ => (space, address),
        };
        match found {
            Space::Shared => Ok(self.shared.wrapping_add(within(offset, self.shared_len)?)),
            Space::Local => Ok(self.local.wrapping_add(self.in_stack(within(offset, self.top)?, thread))),
            Space::Param if write => Err(Fault::ReadOnly { address }),
            Space::Param => Ok(self.params.wrapping_add(within(offset, self.params_len)?)),
            _ => {
                if matches!(address >> 36, 1..=3) || self.short_space(address).is_some() {
                    return Err(Fault::WrongSpace { space, address });
                }
                let (index, first) = self.allocation(address).ok_or(outside)?;
                let region = self.region(index).ok_or(outside)?;
                let offset = within(address - first, region.len)?;
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
