//! Loads, stores and atomics: a warp's addresses to pointers, checked together, then the bytes.
//!
//! A warp's threads mostly reach one allocation, so a warp is checked with a few vector instructions. Where that is not so, or
//! where a check fails, each thread is checked for itself, which also finds the one to blame.
//!
//! Memory that blocks share is reached through raw pointers: a kernel whose blocks race does so here as on a GPU. Every value is
//! plain bytes, for which anything that a race leaves is valid, and no reference to them exists while a launch runs.

use std::sync::Mutex;
use std::sync::atomic::{AtomicU16, AtomicU32, AtomicU64, Ordering};

use super::lanes::{Element, File, HALF, Slot, WARP, Width, all, blend, none};
use super::level::Level;
use super::shadow::{Kind, Shadow};
use crate::code::{Access, Atomic, AtomicKind, Load, Store};
use crate::memory::{Fault, LOCAL_BASE, OFFSET, PARAM_BASE, REGION_BITS, Region, SHARED_BASE, Space, region_index};

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

    /// The memory that an address is of; `None` where there is none that the access may reach.
    #[inline(always)]
    fn home(&self, space: Space, address: u64, write: bool) -> Option<Home> {
        let (start, len, window, on_stack) = match (space, address >> REGION_BITS) {
            (Space::Shared, 0) => (self.shared, self.shared_len, 0, false),
            (Space::Generic, 1) => (self.shared, self.shared_len, SHARED_BASE, false),
            (Space::Local, 0) => (self.local, self.top, 0, true),
            (Space::Generic, 2) => (self.local, self.top, LOCAL_BASE, true),
            (Space::Param, 0) if !write => (self.params, self.params_len, 0, false),
            (Space::Generic | Space::Global | Space::Const, _) => {
                let region = region_index(address).and_then(|index| self.region(index))?;
                if write && region.read_only {
                    return None;
                }
                (region.start, region.len, address & !OFFSET, false)
            }
            _ => return None,
        };
        Some(Home { start, len, window, on_stack })
    }

    /// Where a byte of a thread's stack stands.
    #[inline(always)]
    pub(crate) fn in_stack(&self, offset: usize, thread: usize) -> usize {
        (offset / GRANULE * self.lanes + thread) * GRANULE + offset % GRANULE
    }

    /// Where a warp's threads reach, in the way that finds it out soonest; `None` where [`Reach::far`] must.
    ///
    /// # Safety
    /// As for [`Reach::near`].
    #[inline(always)]
    unsafe fn of_warp<const LEVEL: usize>(
        &self,
        access: &Access,
        warp: usize,
        active: &[u8; WARP],
        write: bool,
        offsets: &mut [u32; WARP],
    ) -> Option<Near> {
        if self.shadow.is_some() {
            return None;
        }
        // SAFETY: the same promise.
        unsafe {
            let span = if all(active) { self.span(access, warp, write, offsets) } else { None };
            if span.is_some() { span } else { self.near::<LEVEL>(access, warp, active, write, offsets) }
        }
    }

    /// Checks a warp's access as a whole. Threads that are not active are taken to reach where one does that is. `None` where they do
    /// not all reach one allocation, or where something is wrong: [`Reach::far`] knows more.
    ///
    /// # Safety
    /// The access must have been decoded for this file.
    #[inline(always)]
    unsafe fn near<const LEVEL: usize>(
        &self,
        access: &Access,
        warp: usize,
        active: &[u8; WARP],
        write: bool,
        offsets: &mut [u32; WARP],
    ) -> Option<Near> {
        let offset = access.offset.wrapping_add(if access.in_frame { self.frame } else { 0 });
        let one = first(active);
        // SAFETY: the caller's promise.
        let any = unsafe {
            match (access.stride, access.width) {
                (Some(_), _) => self.line(access, warp, one),
                // As wide as its register, and wraps as that does.
                (None, Width::Word) => {
                    u64::from((offset as u32).wrapping_add((*self.file.column::<u32>(access.base).warp(warp))[one]))
                }
                (None, Width::Double) => offset.wrapping_add((*self.file.column::<u64>(access.base).warp(warp))[one]),
                (None, _) => offset,
            }
        };
        let Home { start, len, window, on_stack } = self.home(access.space, any, write)?;
        if (any - window) >> 32 != 0 {
            return None;
        }
        let bytes = access.bytes;
        // Behind the last place where an access may start; nothing fits where it is 0.
        let limit = (len + 1).saturating_sub(u64::from(bytes)).min(u64::from(u32::MAX)) as u32;
        let mut check = Check { any: any as u32, limit, bytes, bad: 0, apart: 0, differ: 0 };
        // All is checked in 32 bits: who reaches into more than 4 GiB of an allocation goes the other way, and half as many vector
        // registers are needed.
        // SAFETY: the caller's promise.
        unsafe {
            match (access.stride, access.width) {
                (Some(_), Width::Word) => {
                    check.all(active, offsets, |i| (self.line(access, warp, i) as u32, 0));
                }
                (Some(_), _) => check.all(active, offsets, |i| {
                    let address = self.line(access, warp, i);
                    (address as u32, ((address ^ any) >> 32) as u32)
                }),
                #[cfg(target_arch = "x86_64")]
                (None, Width::Word) if LEVEL == Level::Avx512 as usize => {
                    let base = self.file.column::<u32>(access.base).warp(warp);
                    check.all_avx512(active, offsets, Bases::Words(base.cast()), offset, any);
                }
                (None, Width::Word) => {
                    let base = &*self.file.column::<u32>(access.base).warp(warp);
                    check.all(active, offsets, |i| ((offset as u32).wrapping_add(base[i]), 0));
                }
                #[cfg(target_arch = "x86_64")]
                (None, Width::Double) if LEVEL == Level::Avx512 as usize => {
                    let base = self.file.column::<u64>(access.base).warp(warp);
                    check.all_avx512(active, offsets, Bases::Doubles(base.cast()), offset, any);
                }
                (None, Width::Double) => {
                    let base = &*self.file.column::<u64>(access.base).warp(warp);
                    check.all(active, offsets, |i| {
                        let address = offset.wrapping_add(base[i]);
                        (address as u32, ((address ^ any) >> 32) as u32)
                    });
                }
                (None, _) => check.all(active, offsets, |_| (offset as u32, 0)),
            }
        }
        if check.bad != 0 {
            return None;
        }
        if on_stack {
            for i in 0..WARP {
                offsets[i] = self.in_stack(offsets[i] as usize, warp * WARP + i) as u32;
            }
            return Some(Near { start, halves: [0; 2], adjacent: false, equal: false });
        }
        // Those of adjacent threads, who are all active.
        let halves = [check.any, check.any.wrapping_add(HALF as u32 * bytes)];
        Some(Near { start, halves, adjacent: check.apart == 0, equal: check.differ == 0 })
    }

    /// Where a thread of a warp reaches, of an access whose base is told by samples. It is exact: lines that break are none, see
    /// [`Claim::Straight`](crate::code::Claim::Straight).
    ///
    /// # Safety
    /// As for [`Reach::near`].
    #[inline(always)]
    unsafe fn line(&self, access: &Access, warp: usize, lane: usize) -> u64 {
        let offset = access.offset.wrapping_add(if access.in_frame { self.frame } else { 0 });
        let half = warp * (WARP / HALF) + lane / HALF;
        let ahead = (lane % HALF) as u32 as i32 * access.stride.unwrap_or(0);
        // SAFETY: the caller's promise.
        unsafe {
            match access.width {
                Width::Word => {
                    let base = *self.file.column_of_samples::<u32>(access.base).add(half);
                    u64::from((offset as u32).wrapping_add(base).wrapping_add(ahead as u32))
                }
                _ => {
                    let base = *self.file.column_of_samples::<u64>(access.base).add(half);
                    offset.wrapping_add(base).wrapping_add(i64::from(ahead) as u64)
                }
            }
        }
    }

    /// Where the threads of a warp reach that are all active, by what samples tell. `None` where something is wrong or not simple:
    /// [`Reach::near`] knows more.
    ///
    /// # Safety
    /// As for [`Reach::near`].
    #[inline(always)]
    unsafe fn span(&self, access: &Access, warp: usize, write: bool, offsets: &mut [u32; WARP]) -> Option<Near> {
        // A stride is at most 2^20, and negative ones are rare.
        let stride = u32::try_from(access.stride?).ok()?;
        // SAFETY: the caller's promise.
        let [first, second] = unsafe { [self.line(access, warp, 0), self.line(access, warp, HALF)] };
        let Home { start, len, window, .. } = self.home(access.space, first, write).filter(|home| !home.on_stack)?;
        // One that is in another allocation is beyond every end.
        let (first, second) = (first - window, second.wrapping_sub(window));
        let reach = u64::from(stride) * (HALF as u64 - 1) + u64::from(access.bytes);
        let end = first.max(second).checked_add(reach)?;
        if (first | second | u64::from(stride)) & u64::from(access.bytes - 1) != 0 || end > len || end >> 32 != 0 {
            return None;
        }
        let halves = [first as u32, second as u32];
        let adjacent = stride == access.bytes;
        if !adjacent {
            fill(offsets, halves, stride);
        }
        Some(Near { start, halves, adjacent, equal: stride == 0 && first == second })
    }

    /// The memory of all threads of the block, if all are active and in each half of a warp each reaches just behind the thread before.
    ///
    /// # Safety
    /// As for [`Reach::near`]; the mask must have a byte for each thread.
    #[inline(always)]
    unsafe fn rows(&self, access: &Access, mask: *const u8, write: bool) -> Option<Rows> {
        let bytes = u64::from(access.bytes);
        let alike = access.width == Width::Double && access.stride.is_none_or(|stride| stride as u32 == access.bytes);
        if !alike || access.in_frame || self.shadow.is_some() || !matches!(access.space, Space::Generic | Space::Global)
        {
            return None;
        }
        // SAFETY: the caller's promise.
        let (firsts, first, greatest) = unsafe {
            for warp in 0..self.file.warps {
                if !all(&*mask.add(warp * WARP).cast::<[u8; WARP]>()) {
                    return None;
                }
            }
            if access.stride.is_some() {
                let firsts = self.file.column_of_samples::<u64>(access.base).cast_const();
                let first = (*firsts).wrapping_add(access.offset);
                let (mut greatest, mut others) = (first, 0);
                for half in 0..self.lanes / HALF {
                    let address = (*firsts.add(half)).wrapping_add(access.offset);
                    greatest = greatest.max(address);
                    others |= address ^ first;
                }
                if others >> REGION_BITS != 0 || others & (bytes - 1) != 0 {
                    return None;
                }
                (firsts, first, greatest)
            } else {
                let base = self.file.column::<u64>(access.base);
                let first = (*base.warp(0))[0];
                for warp in 0..self.file.warps {
                    let base = &*base.warp(warp);
                    let start = first.wrapping_add(warp as u64 * WARP as u64 * bytes);
                    let mut broken = 0;
                    for i in 0..WARP {
                        broken |= base[i] ^ start.wrapping_add(i as u64 * bytes);
                    }
                    if broken != 0 {
                        return None;
                    }
                }
                let first = first.wrapping_add(access.offset);
                (std::ptr::null(), first, first.wrapping_add((self.lanes - HALF) as u64 * bytes))
            }
        };
        let region = region_index(first).and_then(|index| self.region(index))?;
        // Where it wraps it is beyond every end.
        let end = greatest.wrapping_sub(first & !OFFSET).checked_add(HALF as u64 * bytes)?;
        if end > region.len || first & (bytes - 1) != 0 || (write && region.read_only) {
            return None;
        }
        Some(Rows {
            start: region.start.wrapping_add((first & OFFSET) as usize),
            firsts,
            half: HALF * access.bytes as usize,
        })
    }

    /// The same thread by thread: pointers, or the first thread that is wrong. Tells the shadow memory, if there is one.
    ///
    /// # Safety
    /// As for [`Reach::near`].
    #[inline(never)]
    unsafe fn far(
        &mut self,
        access: &Access,
        warp: usize,
        active: &[u8; WARP],
        kind: Kind,
    ) -> Result<[*mut u8; WARP], (usize, LaneFault)> {
        // SAFETY: the same promise.
        let at = unsafe { self.addresses(access, warp) };
        let mut pointers = [std::ptr::null_mut(); WARP];
        let mut any = std::ptr::null_mut();
        for i in (0..WARP).filter(|i| active[*i] != 0) {
            let bytes = u64::from(access.bytes);
            let pointer = self.resolve(access.space, at[i], bytes, warp * WARP + i, kind != Kind::Read);
            any = pointer.map_err(|fault| (warp, (i, Problem::Fault(fault))))?;
            pointers[i] = any;
        }
        for i in (0..WARP).filter(|i| active[*i] == 0) {
            pointers[i] = any;
        }
        if let Some(shadow) = &mut self.shadow {
            let at = pointers.map(|pointer| pointer as usize);
            let seen = shadow.observe(self.shared as usize, access.bytes as usize, warp, active, &at, kind);
            seen.map_err(|fault| (warp, fault))?;
        }
        Ok(pointers)
    }

    /// Asks for the memory that each warp's first thread reaches: the loop over warps has few misses in flight by itself.
    ///
    /// # Safety
    /// As for [`Reach::near`].
    #[inline(always)]
    unsafe fn prefetch(&self, access: &Access) {
        #[cfg(target_arch = "x86_64")]
        if access.width == Width::Double && self.file.warps > 1 {
            use std::arch::x86_64::{_MM_HINT_T0, _mm_prefetch};
            // SAFETY: the caller's promise; a prefetch may be of any address.
            unsafe {
                let base = self.file.column::<u64>(access.base);
                for warp in 0..self.file.warps {
                    let first = match access.stride {
                        Some(_) => *self.file.column_of_samples::<u64>(access.base).add(warp * (WARP / HALF)),
                        None => (*base.warp(warp))[0],
                    };
                    let address = first.wrapping_add(access.offset);
                    if let Some(region) = region_index(address).and_then(|index| self.region(index)) {
                        let at = region.start.wrapping_add((address & OFFSET) as usize);
                        _mm_prefetch::<_MM_HINT_T0>(at.cast());
                        _mm_prefetch::<_MM_HINT_T0>(at.wrapping_add(64).cast());
                    }
                }
            }
        }
    }

    /// # Safety
    /// As for [`Reach::near`].
    #[inline(never)]
    unsafe fn addresses(&self, access: &Access, warp: usize) -> [u64; WARP] {
        let offset = access.offset.wrapping_add(if access.in_frame { self.frame } else { 0 });
        // SAFETY: the caller's promise.
        unsafe {
            match access.width {
                _ if access.stride.is_some() => each(|i| self.line(access, warp, i)),
                Width::Double => {
                    let base = &*self.file.column::<u64>(access.base).warp(warp);
                    each(|i| offset.wrapping_add(base[i]))
                }
                Width::Word => {
                    let base = &*self.file.column::<u32>(access.base).warp(warp);
                    each(|i| u64::from((offset as u32).wrapping_add(base[i])))
                }
                _ => [offset; WARP],
            }
        }
    }
}

#[inline(always)]
fn each<T: Copy + Default>(f: impl Fn(usize) -> T) -> [T; WARP] {
    let mut all = [T::default(); WARP];
    for i in 0..WARP {
        all[i] = f(i);
    }
    all
}

/// Where the halves of a block's warps reach.
struct Rows {
    start: *mut u8,
    /// The addresses of the first threads of the halves; null where each half reaches just behind the one before.
    firsts: *const u64,
    /// Bytes of a half.
    half: usize,
}

impl Rows {
    /// The memory of both halves of a warp.
    ///
    /// # Safety
    /// There must be such a warp.
    #[inline(always)]
    unsafe fn of(&self, warp: usize) -> [*mut u8; 2] {
        // SAFETY: the caller's promise.
        let at = |half: usize| unsafe {
            let offset = match self.firsts.is_null() {
                true => half * self.half,
                false => (*self.firsts.add(half)).wrapping_sub(*self.firsts) as usize,
            };
            self.start.wrapping_add(offset)
        };
        [at(2 * warp), at(2 * warp + 1)]
    }

    /// Asks for the memory of a later block, whose threads mostly go on where this one's end: of the fourth, as memory takes as long.
    #[inline(always)]
    fn prefetch(&self, warps: usize) {
        #[cfg(target_arch = "x86_64")]
        if self.firsts.is_null() {
            use std::arch::x86_64::{_MM_HINT_T0, _mm_prefetch};
            let bytes = warps * 2 * self.half;
            for line in (0..bytes).step_by(64) {
                // SAFETY: a prefetch may be of any address.
                unsafe { _mm_prefetch::<_MM_HINT_T0>(self.start.wrapping_add(4 * bytes + line).cast()) };
            }
        }
    }
}

/// Offsets of threads that are so far from one another in each half.
#[inline(always)]
fn fill(offsets: &mut [u32; WARP], halves: [u32; 2], stride: u32) {
    for i in 0..HALF {
        offsets[i] = halves[0] + i as u32 * stride;
        offsets[HALF + i] = halves[1] + i as u32 * stride;
    }
}

/// What vectors of 64 bytes are stored to and loaded from again: across two cache lines it takes a dozen cycles more.
#[repr(C, align(64))]
struct Aligned<T>([T; WARP]);

/// Memory that addresses name: where it starts, its bytes, the address of the first of them, and whether it is the threads' stack, each
/// of which has its own.
struct Home {
    start: *mut u8,
    len: u64,
    window: u64,
    on_stack: bool,
}

/// Where a warp's threads reach.
struct Near {
    /// What their offsets count from.
    start: *mut u8,
    /// The offsets of the first threads of both halves.
    halves: [u32; 2],
    /// Whether in each half each reaches just behind the thread before.
    adjacent: bool,
    /// Whether all reach one place.
    equal: bool,
}

/// What a warp's offsets are held against, and what was found: bits, not truth values, of which the compiler would make 32
/// comparisons. In one loop, as vectors of offsets that were stored in halves could not be read again for a dozen cycles.
struct Check {
    /// The low word of an address that an active thread reaches.
    any: u32,
    limit: u32,
    bytes: u32,
    bad: u32,
    apart: u32,
    differ: u32,
}

impl Check {
    /// Takes each thread's address: its low word, and in what it differs from the others above.
    #[inline(always)]
    fn all(&mut self, active: &[u8; WARP], offsets: &mut [u32; WARP], address: impl Fn(usize) -> (u32, u32)) {
        let Check { any, limit, bytes, .. } = *self;
        let (mut bad, mut apart, mut differ) = (0, 0, 0);
        for i in 0..WARP {
            let (low, high) = address(i);
            let mask = active[i] as i8 as u32;
            let offset = any ^ (any ^ low) & mask;
            bad |= u32::from(offset >= limit) | offset & (bytes - 1) | high & mask;
            apart |= offset ^ any.wrapping_add(i as u32 * bytes);
            differ |= offset ^ any;
            offsets[i] = offset;
        }
        (self.bad, self.apart, self.differ) = (bad, apart, differ);
    }

    /// The same with AVX-512, of which the compiler makes vectors of four and truth values in vectors.
    ///
    /// # Safety
    /// The CPU must have AVX-512 F, BW and VL; the bases must be those of a warp.
    #[cfg(target_arch = "x86_64")]
    #[target_feature(enable = "avx512f,avx512bw,avx512vl")]
    #[inline]
    unsafe fn all_avx512(
        &mut self,
        active: &[u8; WARP],
        offsets: &mut [u32; WARP],
        bases: Bases,
        offset: u64,
        address: u64,
    ) {
        use std::arch::x86_64::*;
        // SAFETY: each half reads and writes its sixteen elements.
        unsafe {
            let (any, limit) = (_mm512_set1_epi32(self.any as i32), _mm512_set1_epi32(self.limit as i32));
            let odd = _mm512_set1_epi32(self.bytes as i32 - 1);
            let ramp = _mm512_setr_epi32(0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15);
            let bytes = _mm512_set1_epi32(self.bytes as i32);
            let mut line = _mm512_add_epi32(any, _mm512_mullo_epi32(ramp, bytes));
            for half in 0..2 {
                let at = half * HALF;
                let mask = _mm_movepi8_mask(_mm_loadu_si128(active.as_ptr().add(at).cast()));
                let (low, far) = match bases {
                    Bases::Words(base) => {
                        let base = _mm512_loadu_si512(base.add(at).cast());
                        (_mm512_add_epi32(base, _mm512_set1_epi32(offset as i32)), 0)
                    }
                    Bases::Doubles(base) => {
                        let (offset, address) = (_mm512_set1_epi64(offset as i64), _mm512_set1_epi64(address as i64));
                        let high = _mm512_set1_epi64(!0xffff_ffff);
                        let a = _mm512_add_epi64(_mm512_loadu_si512(base.add(at).cast()), offset);
                        let b = _mm512_add_epi64(_mm512_loadu_si512(base.add(at + 8).cast()), offset);
                        let far_a = _mm512_mask_test_epi64_mask(mask as u8, _mm512_xor_si512(a, address), high);
                        let far_b = _mm512_mask_test_epi64_mask((mask >> 8) as u8, _mm512_xor_si512(b, address), high);
                        let (a, b) = (_mm512_cvtepi64_epi32(a), _mm512_cvtepi64_epi32(b));
                        (_mm512_inserti64x4::<1>(_mm512_castsi256_si512(a), b), u32::from(far_a | far_b))
                    }
                };
                let low = _mm512_mask_mov_epi32(any, mask, low);
                let beyond = _mm512_cmpge_epu32_mask(low, limit) | _mm512_test_epi32_mask(low, odd);
                self.bad |= u32::from(beyond) | far;
                self.apart |= u32::from(_mm512_cmpneq_epi32_mask(low, line));
                self.differ |= u32::from(_mm512_cmpneq_epi32_mask(low, any));
                _mm512_storeu_si512(offsets.as_mut_ptr().add(at).cast(), low);
                line = _mm512_add_epi32(line, _mm512_slli_epi32::<4>(bytes));
            }
        }
    }
}

/// The first of a warp's bases.
#[cfg(target_arch = "x86_64")]
#[derive(Clone, Copy)]
enum Bases {
    Words(*const u32),
    Doubles(*const u64),
}

/// The first active lane.
#[inline(always)]
fn first(active: &[u8; WARP]) -> usize {
    if active[0] != 0 { 0 } else { active.iter().position(|m| *m != 0).unwrap_or(0) }
}

/// An element of memory: bytes that any value will do for.
trait Memory: Copy + Default {
    /// The elements at offsets from a start.
    ///
    /// # Safety
    /// The bytes must be there.
    #[inline(always)]
    unsafe fn gather<const LEVEL: usize>(start: *const u8, offsets: &[u32; WARP], to: &mut [Self; WARP]) {
        for i in 0..WARP {
            // SAFETY: the caller's promise.
            to[i] = unsafe { start.add(offsets[i] as usize).cast::<Self>().read_unaligned() };
        }
    }
}

impl Memory for u8 {}
impl Memory for u16 {}

impl Memory for u32 {
    #[inline(always)]
    unsafe fn gather<const LEVEL: usize>(start: *const u8, offsets: &[u32; WARP], to: &mut [u32; WARP]) {
        #[cfg(target_arch = "x86_64")]
        if LEVEL == Level::Avx512 as usize {
            // SAFETY: the CPU has the level, and the bytes are there.
            unsafe {
                gather_16(start, offsets.as_ptr(), to.as_mut_ptr());
                gather_16(start, offsets.as_ptr().add(16), to.as_mut_ptr().add(16));
            }
            return;
        }
        for i in 0..WARP {
            // SAFETY: the caller's promise.
            to[i] = unsafe { start.add(offsets[i] as usize).cast::<u32>().read_unaligned() };
        }
    }
}

impl Memory for u64 {}

/// Sixteen words at offsets from a start. In assembly, as the compiler takes the intrinsic apart into sixteen loads, and each of them
/// into three instructions.
///
/// # Safety
/// The CPU must have AVX-512 F; the bytes, the offsets and the room for the words must be there.
#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx512f")]
unsafe fn gather_16(start: *const u8, offsets: *const u32, to: *mut u32) {
    // SAFETY: the caller's promise. Offsets count from the middle of 4 GiB, as the instruction takes them for signed.
    unsafe {
        std::arch::asm!(
            "vpbroadcastd {index}, {sign:e}",
            "vpxord {index}, {index}, [{offsets}]",
            "kxnorw {mask}, {mask}, {mask}",
            "vpxord {values}, {values}, {values}",
            "vpgatherdd {values}{{{mask}}}, [{middle} + {index}]",
            "vmovdqu32 [{to}], {values}",
            index = out(zmm_reg) _,
            values = out(zmm_reg) _,
            mask = out(kreg) _,
            sign = in(reg) 1u32 << 31,
            offsets = in(reg) offsets,
            middle = in(reg) start.wrapping_add(1 << 31),
            to = in(reg) to,
            options(nostack),
        );
    }
}

/// # Safety
/// The load must have been decoded for the file that `reach` has, and for elements of these types.
#[inline(always)]
unsafe fn load<M: Memory, E: Element, F: Fn(M) -> E + Copy, const LEVEL: usize>(
    reach: &mut Reach,
    load: &Load,
    mask: *const u8,
    f: F,
) -> Result<(), (usize, LaneFault)> {
    // SAFETY: the same promise.
    unsafe {
        if let Some(rows) = reach.rows(&load.access, mask, false) {
            rows.prefetch(reach.file.warps);
            let all = (0..reach.file.warps).all(|warp| {
                let from = rows.of(warp).map(|from| from.cast::<M>().cast_const());
                take::<M, E, F>(&reach.file, &load.d, warp, from, f)
            });
            if all {
                return Ok(());
            }
        }
        reach.prefetch(&load.access);
    }
    for warp in 0..reach.file.warps {
        // SAFETY: the mask has a byte for each thread; places are checked for as many bytes as are read.
        unsafe {
            let active = &*mask.add(warp * WARP).cast::<[u8; WARP]>();
            if none(active) {
                continue;
            }
            let everyone = all(active);
            let Aligned(offsets) = &mut Aligned([0; WARP]);
            let near = reach.of_warp::<LEVEL>(&load.access, warp, active, false, offsets);
            let Some(Near { start, halves, adjacent, equal }) = near else {
                let pointers = reach.far(&load.access, warp, active, Kind::Read)?;
                for (k, slot) in load.d.iter().enumerate() {
                    let values = each(|i| f(pointers[i].add(k * size_of::<M>()).cast::<M>().read_unaligned()));
                    blend(&mut *reach.file.column::<E>(*slot).warp(warp), &values, active);
                }
                continue;
            };
            if everyone && adjacent {
                let from = halves.map(|offset| start.add(offset as usize).cast::<M>().cast_const());
                if take::<M, E, F>(&reach.file, &load.d, warp, from, f) {
                    continue;
                }
                fill(offsets, halves, load.access.bytes);
            }
            for (k, slot) in load.d.iter().enumerate() {
                let start = start.add(k * size_of::<M>());
                let Aligned(found) = &mut Aligned([M::default(); WARP]);
                if equal {
                    *found = [start.add(halves[0] as usize).cast::<M>().read_unaligned(); WARP];
                } else {
                    M::gather::<LEVEL>(start, offsets, found);
                }
                let values = each(|i| f(found[i]));
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

/// Takes a warp's vectors that stand one behind another in each half; false if they are of a length that this does not know.
///
/// # Safety
/// There must be that much memory, and the slots must be columns of the type.
#[inline(always)]
unsafe fn take<M: Memory, E: Element, F: Fn(M) -> E + Copy>(
    file: &File,
    d: &[Slot],
    warp: usize,
    halves: [*const M; 2],
    f: F,
) -> bool {
    #[inline(always)]
    unsafe fn vectors<M: Memory, E: Element, const N: usize>(
        file: &File,
        d: &[Slot; N],
        warp: usize,
        halves: [*const M; 2],
        f: impl Fn(M) -> E,
    ) {
        let mut values = [[E::default(); WARP]; N];
        // SAFETY: the caller's promise.
        unsafe {
            for (half, from) in halves.into_iter().enumerate() {
                let from = from.cast::<[[M; N]; HALF]>().read_unaligned();
                for i in 0..HALF {
                    for k in 0..N {
                        values[k][half * HALF + i] = f(from[i][k]);
                    }
                }
            }
            for k in 0..N {
                *file.column::<E>(d[k]).warp(warp) = values[k];
            }
        }
    }
    // SAFETY: the caller's promise.
    unsafe {
        match *d {
            [a] => vectors(file, &[a], warp, halves, f),
            [a, b] => vectors(file, &[a, b], warp, halves, f),
            [a, b, c, d] => vectors(file, &[a, b, c, d], warp, halves, f),
            _ => return false,
        }
    }
    true
}

/// Puts a warp's vectors one behind another in each half: in the order of threads, should the halves overlap. False if they are of a
/// length that this does not know.
///
/// # Safety
/// As for [`take`].
#[inline(always)]
unsafe fn put<M: Memory, E: Element, F: Fn(E) -> M + Copy>(
    file: &File,
    sources: &[Slot],
    warp: usize,
    halves: [*mut M; 2],
    f: F,
) -> bool {
    #[inline(always)]
    unsafe fn vectors<M: Memory, E: Element, const N: usize>(
        file: &File,
        sources: &[Slot; N],
        warp: usize,
        halves: [*mut M; 2],
        f: impl Fn(E) -> M,
    ) {
        // SAFETY: the caller's promise.
        unsafe {
            for (half, to) in halves.into_iter().enumerate() {
                let mut values = [[M::default(); N]; HALF];
                for k in 0..N {
                    let from = &*file.column::<E>(sources[k]).warp(warp);
                    for i in 0..HALF {
                        values[i][k] = f(from[half * HALF + i]);
                    }
                }
                to.cast::<[[M; N]; HALF]>().write_unaligned(values);
            }
        }
    }
    // SAFETY: the caller's promise.
    unsafe {
        match *sources {
            [a] => vectors(file, &[a], warp, halves, f),
            [a, b] => vectors(file, &[a, b], warp, halves, f),
            [a, b, c, d] => vectors(file, &[a, b, c, d], warp, halves, f),
            _ => return false,
        }
    }
    true
}

/// # Safety
/// As for [`load`].
#[inline(always)]
unsafe fn store<M: Memory, E: Element, F: Fn(E) -> M + Copy, const LEVEL: usize>(
    reach: &mut Reach,
    store: &Store,
    mask: *const u8,
    f: F,
) -> Result<(), (usize, LaneFault)> {
    // SAFETY: the same promise.
    unsafe {
        if let Some(rows) = reach.rows(&store.access, mask, true) {
            rows.prefetch(reach.file.warps);
            let all = (0..reach.file.warps).all(|warp| {
                let to = rows.of(warp).map(|to| to.cast::<M>());
                put::<M, E, F>(&reach.file, &store.sources, warp, to, f)
            });
            if all {
                return Ok(());
            }
        }
        reach.prefetch(&store.access);
    }
    for warp in 0..reach.file.warps {
        // SAFETY: as in `load`.
        unsafe {
            let active = &*mask.add(warp * WARP).cast::<[u8; WARP]>();
            if none(active) {
                continue;
            }
            let everyone = all(active);
            let Aligned(offsets) = &mut Aligned([0; WARP]);
            let near = reach.of_warp::<LEVEL>(&store.access, warp, active, true, offsets);
            if let Some(Near { start, halves, adjacent: true, .. }) = near
                && everyone
            {
                let to = halves.map(|offset| start.add(offset as usize).cast::<M>());
                if put::<M, E, F>(&reach.file, &store.sources, warp, to, f) {
                    continue;
                }
                fill(offsets, halves, store.access.bytes);
            }
            let pointers = match near {
                Some(near) => each(|i| near.start.add(offsets[i] as usize) as usize),
                None => reach.far(&store.access, warp, active, Kind::Write)?.map(|pointer| pointer as usize),
            };
            // In the order of threads: of several that write to one place the last one stays.
            for i in 0..WARP {
                if active[i] != 0 {
                    for (k, slot) in store.sources.iter().enumerate() {
                        let from = &*reach.file.column::<E>(*slot).warp(warp);
                        let to = (pointers[i] as *mut u8).add(k * size_of::<M>());
                        to.cast::<M>().write_unaligned(f(from[i]));
                    }
                }
            }
        }
    }
    Ok(())
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
                    $crate::engine::level::leveled! {
                        fn gather(reach: &mut Reach, l: &Load, mask: *const u8) -> Result<(), (usize, LaneFault)> {
                            // SAFETY: the same promise.
                            unsafe {
                                load::<$memory, $element, _, { LEVEL as usize }>(reach, l, mask, #[inline(always)] |x: $memory| $load(x))
                            }
                        }
                    }
                    gather(level)
                })* }
            }

            pub(crate) fn scatter(self, level: Level) -> Scatter {
                match self { $(Transfer::$name => {
                    $crate::engine::level::leveled! {
                        fn scatter(reach: &mut Reach, s: &Store, mask: *const u8) -> Result<(), (usize, LaneFault)> {
                            // SAFETY: the same promise.
                            unsafe { store::<$memory, $element, _, { LEVEL as usize }>(reach, s, mask, #[inline(always)] |x: $element| $store(x)) }
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
            let pointers = reach.far(&atomic.access, warp, active, Kind::Atomic)?;
            for i in (0..WARP).filter(|i| active[*i] != 0) {
                let at = pointers[i];
                if atomic.access.bytes == 16 {
                    wide(reach, atomic, warp, i, at);
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
                    8 => AtomicU64::from_ptr(at.cast())
                        .fetch_update(order, order, |old| Some(next(old)))
                        .unwrap_or_default(),
                    4 => u64::from(
                        AtomicU32::from_ptr(at.cast())
                            .fetch_update(order, order, |old| Some(next(u64::from(old)) as u32))
                            .unwrap_or_default(),
                    ),
                    _ => u64::from(
                        AtomicU16::from_ptr(at.cast())
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
unsafe fn wide(reach: &Reach, atomic: &Atomic, warp: usize, lane: usize, at: *mut u8) {
    let _one = WIDE.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
    // SAFETY: the caller's promise.
    unsafe {
        let half = |slot| &mut (*reach.file.column::<u64>(slot).warp(warp))[lane];
        let value = |[low, high]: [Slot; 2]| u128::from(*half(low)) | u128::from(*half(high)) << 64;
        let [b, c] = atomic.sources.map(value);
        let old = at.cast::<u128>().read_unaligned();
        let new = match atomic.kind {
            AtomicKind::CompareAndSwap if old == b => c,
            AtomicKind::CompareAndSwap => old,
            _ => b,
        };
        at.cast::<u128>().write_unaligned(new);
        if let Some([low, high]) = atomic.d {
            *half(low) = old as u64;
            *half(high) = (old >> 64) as u64;
        }
    }
}
