//! Loads, stores and atomics: a warp's addresses to pointers, checked together, then the bytes.
//!
//! A warp's threads mostly reach one allocation, so a warp is checked with a few vector instructions. Where that is not so, or
//! where a check fails, each thread is checked for itself, which also finds the one to blame.
//!
//! Memory that blocks share is reached through raw pointers: a kernel whose blocks race does so here as on a GPU. Every value is
//! plain bytes, for which anything that a race leaves is valid, and no reference to them exists while a launch runs.

use std::sync::Mutex;
use std::sync::atomic::{AtomicU16, AtomicU32, AtomicU64, Ordering};

use super::lanes::{Element, File, Slot, Width, WARP, all, blend, none};
use super::level::Level;
use super::shadow::Shadow;
use crate::run::code::{Access, Atomic, AtomicKind, Load, Store};
use crate::run::memory::{Fault, LOCAL_BASE, OFFSET, PARAM_BASE, Region, SHARED_BASE, Space, region_index};

/// Bytes of a thread's stack that stand together; no access is wider or crosses from one to the next. Those of all threads follow
/// one another, so that the stack can grow and threads that work at the same depth are near each other.
pub(crate) const GRANULE: usize = 32;

/// What the running group reaches.
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
    /// What is known of each byte of shared memory, if that is to be checked.
    pub(crate) shadow: Option<Box<Shadow>>,
}

/// A thread of a warp, and what is wrong with its access.
pub(crate) type LaneFault = (usize, Problem);

/// Why an access fails.
#[derive(Debug)]
pub(crate) enum Problem {
    Fault(Fault),
    /// What the shadow memory knows.
    Shadow(super::shadow::Finding),
}

/// Loads for all active threads. The mask has a byte for each thread, 0 or 0xff.
pub(crate) type Gather = unsafe fn(&mut Reach, &Load, *const u8) -> Result<(), (usize, LaneFault)>;
/// Stores for all active threads.
pub(crate) type Scatter = unsafe fn(&mut Reach, &Store, *const u8) -> Result<(), (usize, LaneFault)>;

impl Reach {
    fn region(&self, index: usize) -> Option<Region> {
        // SAFETY: the launch keeps the regions for as long as it runs.
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
        let (home, offset) = match space {
            Space::Generic => match address >> 36 {
                1 => (Space::Shared, address - SHARED_BASE),
                2 => (Space::Local, address - LOCAL_BASE),
                3 => (Space::Param, address - PARAM_BASE),
                _ => (Space::Global, address),
            },
            _ => (space, address),
        };
        match home {
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

    /// The pointers of a warp's threads; those that are not active have that of one that is.
    ///
    /// # Safety
    /// The access must have been decoded for this file.
    #[inline(always)]
    unsafe fn pointers(
        &self,
        access: &Access,
        warp: usize,
        active: &[u8; WARP],
        write: bool,
    ) -> Result<[usize; WARP], LaneFault> {
        // SAFETY: the caller's promise.
        let at = unsafe { self.addresses(access, warp, active) };
        let bytes = u64::from(access.bytes);
        let any = at[0];
        // Everything but the offset within a region: the same for all, or this is not the way to check.
        let apart = at.iter().fold(0, |bits, a| bits | (a ^ any)) >> 36;
        let unaligned = at.iter().fold(0, |bits, a| bits | a) & (bytes - 1);
        let generic = matches!(access.space, Space::Generic | Space::Global | Space::Const);
        let (start, len, bias) = match (access.space, any >> 36) {
            (Space::Shared, _) => (self.shared, self.shared_len, 0),
            (Space::Param, _) if !write => (self.params, self.params_len, 0),
            (Space::Generic, 1) => (self.shared, self.shared_len, SHARED_BASE),
            (Space::Generic | Space::Global | Space::Const, _) => {
                match region_index(any).and_then(|index| self.region(index)) {
                    Some(region) if !(write && region.read_only) => (region.start, region.len, any & !OFFSET),
                    _ => (self.shared, 0, 0),
                }
            }
            _ => (self.shared, 0, 0),
        };
        let last = at.iter().fold(0, |last, a| last.max(a.wrapping_sub(bias)));
        if unaligned == 0 && (!generic || apart == 0) && bytes <= len && last <= len - bytes {
            let start = (start as usize).wrapping_sub(bias as usize);
            let mut pointers = [0; WARP];
            for i in 0..WARP {
                pointers[i] = start.wrapping_add(at[i] as usize);
            }
            return Ok(pointers);
        }
        self.each(access.space, &at, bytes, warp, active, write)
    }

    /// # Safety
    /// As for [`Reach::pointers`].
    #[inline(always)]
    unsafe fn addresses(&self, access: &Access, warp: usize, active: &[u8; WARP]) -> [u64; WARP] {
        let offset = access.offset.wrapping_add(if access.in_frame { self.frame } else { 0 });
        let mut at = [offset; WARP];
        // SAFETY: the caller's promise.
        unsafe {
            match access.width {
                Width::Double => {
                    let base = &*self.file.column::<u64>(access.base).warp(warp);
                    for i in 0..WARP {
                        at[i] = offset.wrapping_add(base[i]);
                    }
                }
                Width::Word => {
                    // As wide as its register, and wraps as that does.
                    let base = &*self.file.column::<u32>(access.base).warp(warp);
                    for i in 0..WARP {
                        at[i] = u64::from((offset as u32).wrapping_add(base[i]));
                    }
                }
                _ => {}
            }
        }
        let first = active.iter().position(|m| *m != 0).unwrap_or(0);
        let any = at[first];
        for i in 0..WARP {
            at[i] = any.blend(at[i], active[i]);
        }
        at
    }

    /// Every thread for itself.
    #[inline(never)]
    fn each(
        &self,
        space: Space,
        at: &[u64; WARP],
        bytes: u64,
        warp: usize,
        active: &[u8; WARP],
        write: bool,
    ) -> Result<[usize; WARP], LaneFault> {
        let mut pointers = [0; WARP];
        let mut any = 0;
        for i in (0..WARP).filter(|i| active[*i] != 0) {
            let pointer = self
                .resolve(space, at[i], bytes, warp * WARP + i, write)
                .map_err(|fault| (i, Problem::Fault(fault)))?;
            pointers[i] = pointer as usize;
            any = pointers[i];
        }
        for i in 0..WARP {
            if active[i] == 0 {
                pointers[i] = any;
            }
        }
        Ok(pointers)
    }

    /// Tells the shadow memory, if there is one, of a warp's access.
    ///
    /// # Safety
    /// As for [`Reach::pointers`].
    #[inline(always)]
    unsafe fn observe(
        &mut self,
        access: &Access,
        warp: usize,
        active: &[u8; WARP],
        pointers: &[usize; WARP],
        kind: super::shadow::Kind,
    ) -> Result<(), LaneFault> {
        match &mut self.shadow {
            None => Ok(()),
            Some(shadow) => {
                shadow.observe(self.shared as usize, access.bytes as usize, warp, active, pointers, kind)
            }
        }
    }
}

/// # Safety
/// The load must have been decoded for the file that `reach` has, and for elements of these types.
#[inline(always)]
unsafe fn load<M: Copy, E: Element, F: Fn(M) -> E + Copy>(
    reach: &mut Reach,
    load: &Load,
    mask: *const u8,
    f: F,
) -> Result<(), (usize, LaneFault)> {
    for warp in 0..reach.file.warps {
        // SAFETY: the mask has a byte for each thread; the pointers are checked for as many bytes as are read.
        unsafe {
            let active = &*mask.add(warp * WARP).cast::<[u8; WARP]>();
            if none(active) {
                continue;
            }
            let at = reach.pointers(&load.access, warp, active, false).map_err(|fault| (warp, fault))?;
            reach
                .observe(&load.access, warp, active, &at, super::shadow::Kind::Read)
                .map_err(|fault| (warp, fault))?;
            let everyone = all(active);
            if load.d.len() == 1 && everyone && adjacent(&at, size_of::<M>()) {
                let values = (at[0] as *const [M; WARP]).read_unaligned();
                let to = &mut *reach.file.column::<E>(load.d[0]).warp(warp);
                for i in 0..WARP {
                    to[i] = f(values[i]);
                }
                continue;
            }
            for (k, slot) in load.d.iter().enumerate() {
                let skip = k * size_of::<M>();
                let mut values = [E::default(); WARP];
                for i in 0..WARP {
                    values[i] = f(((at[i] + skip) as *const M).read_unaligned());
                }
                let to = &mut *reach.file.column::<E>(*slot).warp(warp);
                if everyone {
                    *to = values;
                } else {
                    blend(to, &values, active);
                }
            }
        }
    }
    Ok(())
}

/// # Safety
/// As for [`load`].
#[inline(always)]
unsafe fn store<M: Copy, E: Element, F: Fn(E) -> M + Copy>(
    reach: &mut Reach,
    store: &Store,
    mask: *const u8,
    f: F,
) -> Result<(), (usize, LaneFault)> {
    for warp in 0..reach.file.warps {
        // SAFETY: as in `load`.
        unsafe {
            let active = &*mask.add(warp * WARP).cast::<[u8; WARP]>();
            if none(active) {
                continue;
            }
            let at = reach.pointers(&store.access, warp, active, true).map_err(|fault| (warp, fault))?;
            reach
                .observe(&store.access, warp, active, &at, super::shadow::Kind::Write)
                .map_err(|fault| (warp, fault))?;
            if store.sources.len() == 1 && all(active) && adjacent(&at, size_of::<M>()) {
                let from = &*reach.file.column::<E>(store.sources[0]).warp(warp);
                let values: [M; WARP] = std::array::from_fn(|i| f(from[i]));
                (at[0] as *mut [M; WARP]).write_unaligned(values);
                continue;
            }
            // In the order of threads: of several that write to one place the last one stays.
            for i in 0..WARP {
                if active[i] != 0 {
                    for (k, slot) in store.sources.iter().enumerate() {
                        let from = &*reach.file.column::<E>(*slot).warp(warp);
                        ((at[i] + k * size_of::<M>()) as *mut M).write_unaligned(f(from[i]));
                    }
                }
            }
        }
    }
    Ok(())
}

/// Whether each thread's bytes follow those of the thread before.
#[inline(always)]
fn adjacent(at: &[usize; WARP], size: usize) -> bool {
    let mut apart = 0;
    for i in 0..WARP {
        apart |= at[i] ^ (at[0].wrapping_add(i * size));
    }
    apart == 0
}

macro_rules! accesses {
    ($($name:ident, $memory:ty, $element:ty, $load:expr, $store:expr;)*) => {
        /// What a load or store makes of an element of memory and of a register.
        #[derive(Clone, Copy, Debug, PartialEq, Eq)]
        #[allow(non_camel_case_types, reason = "memory's type, then the register's")]
        pub(crate) enum Transfer { $($name,)* }

        impl Transfer {
            /// The width of the register's column.
            pub(crate) fn width(self) -> Width {
                match self { $(Transfer::$name => if size_of::<$element>() == 8 { Width::Double } else { Width::Word },)* }
            }

            pub(crate) fn gather(self, level: Level) -> Gather {
                match self { $(Transfer::$name => {
                    $crate::run::engine::level::leveled! {
                        fn gather(reach: &mut Reach, l: &Load, mask: *const u8) -> Result<(), (usize, LaneFault)> {
                            // SAFETY: the same promise.
                            unsafe { load::<$memory, $element, _>(reach, l, mask, #[inline(always)] |x: $memory| $load(x)) }
                        }
                    }
                    gather(level)
                })* }
            }

            pub(crate) fn scatter(self, level: Level) -> Scatter {
                match self { $(Transfer::$name => {
                    $crate::run::engine::level::leveled! {
                        fn scatter(reach: &mut Reach, s: &Store, mask: *const u8) -> Result<(), (usize, LaneFault)> {
                            // SAFETY: the same promise.
                            unsafe { store::<$memory, $element, _>(reach, s, mask, #[inline(always)] |x: $element| $store(x)) }
                        }
                    }
                    scatter(level)
                })* }
            }
        }
    };
}

accesses! {
    U8_W, u8, u32, |x: u8| u32::from(x), |x: u32| x as u8;
    // Into a register of 16 bits, which its word holds zero-extended.
    S8_H, u8, u32, |x: u8| u32::from(x as i8 as u16), |x: u32| x as u8;
    S8_W, u8, u32, |x: u8| x as i8 as u32, |x: u32| x as u8;
    U16_W, u16, u32, |x: u16| u32::from(x), |x: u32| x as u16;
    S16_W, u16, u32, |x: u16| x as i16 as u32, |x: u32| x as u16;
    U32_W, u32, u32, |x: u32| x, |x: u32| x;
    U8_D, u8, u64, |x: u8| u64::from(x), |x: u64| x as u8;
    S8_D, u8, u64, |x: u8| x as i8 as u64, |x: u64| x as u8;
    U16_D, u16, u64, |x: u16| u64::from(x), |x: u64| x as u16;
    S16_D, u16, u64, |x: u16| x as i16 as u64, |x: u64| x as u16;
    U32_D, u32, u64, |x: u32| u64::from(x), |x: u64| x as u32;
    S32_D, u32, u64, |x: u32| x as i32 as u64, |x: u64| x as u32;
    U64_D, u64, u64, |x: u64| x, |x: u64| x;
}

/// Atomics of 128 bits exclude one another.
static WIDE: Mutex<()> = Mutex::new(());

/// An atomic for all active threads, one after another.
///
/// # Safety
/// As for [`load`].
pub(crate) unsafe fn atomic(reach: &mut Reach, atomic: &Atomic, mask: *const u8) -> Result<(), (usize, LaneFault)> {
    for warp in 0..reach.file.warps {
        // SAFETY: as in `load`.
        unsafe {
            let active = &*mask.add(warp * WARP).cast::<[u8; WARP]>();
            if none(active) {
                continue;
            }
            let at = reach.pointers(&atomic.access, warp, active, true).map_err(|fault| (warp, fault))?;
            reach
                .observe(&atomic.access, warp, active, &at, super::shadow::Kind::Atomic)
                .map_err(|fault| (warp, fault))?;
            for i in (0..WARP).filter(|i| active[*i] != 0) {
                if atomic.access.bytes == 16 {
                    wide(reach, atomic, warp, i, at[i]);
                    continue;
                }
                let element = |slot| match atomic.width {
                    Width::Double => (*reach.file.column::<u64>(slot).warp(warp))[i],
                    _ => u64::from((*reach.file.column::<u32>(slot).warp(warp))[i]),
                };
                let [b, c] = atomic.sources.map(|[slot, _]| element(slot));
                let next = |old: u64| match atomic.kind {
                    AtomicKind::Fold(f) => f(old, b),
                    AtomicKind::Exchange => b,
                    AtomicKind::CompareAndSwap => {
                        if old == b {
                            c
                        } else {
                            old
                        }
                    }
                };
                let order = Ordering::SeqCst;
                // The address is aligned, and so is what it stands in.
                let old = match atomic.access.bytes {
                    8 => AtomicU64::from_ptr(at[i] as *mut u64)
                        .fetch_update(order, order, |old| Some(next(old)))
                        .unwrap_or_default(),
                    4 => u64::from(
                        AtomicU32::from_ptr(at[i] as *mut u32)
                            .fetch_update(order, order, |old| Some(next(u64::from(old)) as u32))
                            .unwrap_or_default(),
                    ),
                    _ => u64::from(
                        AtomicU16::from_ptr(at[i] as *mut u16)
                            .fetch_update(order, order, |old| Some(next(u64::from(old)) as u16))
                            .unwrap_or_default(),
                    ),
                };
                if let Some([d, _]) = atomic.d {
                    match atomic.width {
                        Width::Double => (*reach.file.column::<u64>(d).warp(warp))[i] = old,
                        _ => (*reach.file.column::<u32>(d).warp(warp))[i] = old as u32,
                    }
                }
            }
        }
    }
    Ok(())
}

/// `atom.cas.b128` and `atom.exch.b128`: registers of two doubles each.
///
/// # Safety
/// As for [`load`]; `at` must be checked for 16 bytes.
unsafe fn wide(reach: &Reach, atomic: &Atomic, warp: usize, lane: usize, at: usize) {
    let _one = WIDE.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
    // SAFETY: the caller's promise.
    unsafe {
        let half = |slot| &mut (*reach.file.column::<u64>(slot).warp(warp))[lane];
        let value = |[low, high]: [Slot; 2]| u128::from(*half(low)) | u128::from(*half(high)) << 64;
        let [b, c] = atomic.sources.map(value);
        let old = (at as *const u128).read_unaligned();
        let new = match atomic.kind {
            AtomicKind::CompareAndSwap if old == b => c,
            AtomicKind::CompareAndSwap => old,
            _ => b,
        };
        (at as *mut u128).write_unaligned(new);
        if let Some([low, high]) = atomic.d {
            *half(low) = old as u64;
            *half(high) = (old >> 64) as u64;
        }
    }
}
