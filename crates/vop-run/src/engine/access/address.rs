//! Where the threads of a warp or a block reach, checked.

#![allow(unsafe_code, reason = "addresses stand in columns, which are raw memory")]
// A lane's number is an index of several arrays at once.
#![allow(clippy::needless_range_loop)]

use super::{LaneFault, Reach};
use crate::code::Access;
use crate::column::{HALF, WARP, Width, all};
use crate::engine::findings::AccessKind;
use crate::engine::shadow::Touch;
#[cfg(target_arch = "x86_64")]
use crate::level::AVX512;
use crate::memory::{LOCAL_BASE, REGION_BITS, SHARED_BASE, Space};

/// What the address of an allocation must be a multiple of, so that offsets in it are aligned as addresses are. All are but for what a
/// caller has registered.
const ALIGNED: u64 = 16;

impl Reach {
    /// The memory that an address belongs to; `None` where there is none that the access may reach.
    #[inline(always)]
    fn window(&self, space: Space, address: u64, write: bool) -> Option<Window> {
        let (start, len, first, on_stack) = match (space, address >> REGION_BITS) {
            (Space::Shared, 0) => (self.shared, self.shared_len, 0, false),
            (Space::Generic, 1) => (self.shared, self.shared_len, SHARED_BASE, false),
            (Space::Local, 0) => (self.local, self.top, 0, true),
            (Space::Generic, 2) => (self.local, self.top, LOCAL_BASE, true),
            (Space::Param, 0) if !write => (self.params, self.params_len, 0, false),
            (Space::Generic | Space::Global | Space::Const, _) => match self.find(address) {
                Some((index, first)) => {
                    let region = self.region(index)?;
                    // Alignment is that of offsets.
                    if write && region.read_only || first % ALIGNED != 0 {
                        return None;
                    }
                    (region.start, region.len, first, false)
                }
                None => return self.short_window(space, address, write),
            },
            _ => return None,
        };
        Some(Window { start, len, first, on_stack })
    }

    /// [`Reach::window`] for a short address.
    #[cold]
    #[inline(never)]
    fn short_window(&self, space: Space, address: u64, write: bool) -> Option<Window> {
        let (start, len, first, on_stack) = match (space, self.short_space(address)) {
            (Space::Generic, Some(found @ Space::Shared)) => (self.shared, self.shared_len, found.short_base(), false),
            (Space::Generic, Some(found @ Space::Local)) => (self.local, self.top, found.short_base(), true),
            (_, Some(_)) => return None,
            (_, None) => {
                let (index, first) = self.short_allocation(address)?;
                let region = self.region(index).filter(|region| !write || !region.read_only)?;
                (region.start, region.len, first, false)
            }
        };
        Some(Window { start, len, first, on_stack })
    }

    /// Where a warp's threads reach, by the fastest check that can tell; `None` where only [`Reach::far`] can.
    ///
    /// # Safety
    /// As for [`Reach::near`].
    #[inline(always)]
    pub(super) unsafe fn of_warp<const LEVEL: usize>(
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
        // SAFETY: this function asks for what both others ask for.
        unsafe {
            let span = if all(active) { self.span(access, warp, write, offsets) } else { None };
            if span.is_some() { span } else { self.near::<LEVEL>(access, warp, active, write, offsets) }
        }
    }

    /// Checks a warp's access as a whole. For threads that are not active, the address of one that is stands in. `None` where the threads
    /// do not all reach one allocation, or where something is wrong: [`Reach::far`] finds out what.
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
        // SAFETY: the caller promises that the base is a column of the access's width in this file.
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
        let Window { start, len, first, on_stack } = self.window(access.space, any, write)?;
        let any = any - first;
        if any >> 32 != 0 || first & u64::from(access.bytes - 1) != 0 {
            return None;
        }
        // From here on, everything is relative to the first byte.
        let offset = offset.wrapping_sub(first);
        let bytes = access.bytes;
        // Behind the last place where an access may start; nothing fits where it is 0.
        let limit = (len + 1).saturating_sub(u64::from(bytes)).min(u64::from(u32::MAX)) as u32;
        let mut check = Check { any: any as u32, limit, bytes, bad: 0, apart: 0, differ: 0 };
        // All is checked in 32 bits, which needs half as many vector registers. A warp that reaches beyond 4 GiB of an allocation is
        // left to `far`.
        // SAFETY: the caller promises that the base is a column of the access's width in this file, and that the CPU has the level.
        unsafe {
            match (access.stride, access.width) {
                (Some(_), Width::Word) => {
                    check.all(active, offsets, |i| ((self.line(access, warp, i) as u32).wrapping_sub(first as u32), 0));
                }
                (Some(_), _) => check.all(active, offsets, |i| {
                    let from_first = self.line(access, warp, i).wrapping_sub(first);
                    (from_first as u32, (from_first >> 32) as u32)
                }),
                #[cfg(target_arch = "x86_64")]
                (None, Width::Word) if LEVEL == AVX512 => {
                    let base = self.file.column::<u32>(access.base).warp(warp);
                    check.all_avx512(active, offsets, Bases::Words(base.cast()), offset);
                }
                (None, Width::Word) => {
                    let base = &*self.file.column::<u32>(access.base).warp(warp);
                    check.all(active, offsets, |i| ((offset as u32).wrapping_add(base[i]), 0));
                }
                #[cfg(target_arch = "x86_64")]
                (None, Width::Double) if LEVEL == AVX512 => {
                    let base = self.file.column::<u64>(access.base).warp(warp);
                    check.all_avx512(active, offsets, Bases::Doubles(base.cast()), offset);
                }
                (None, Width::Double) => {
                    let base = &*self.file.column::<u64>(access.base).warp(warp);
                    check.all(active, offsets, |i| {
                        let from_first = offset.wrapping_add(base[i]);
                        (from_first as u32, (from_first >> 32) as u32)
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
            return Some(Near { start, halves: [0; 2], adjacent: false, flat: false });
        }
        // The offsets of the first threads of both halves: if adjacent threads reach adjacent bytes and all are active, or all reach the same.
        let flat = check.differ == 0;
        let halves = [check.any, if flat { check.any } else { check.any.wrapping_add(HALF as u32 * bytes) }];
        Some(Near { start, halves, adjacent: check.apart == 0, flat })
    }

    /// The address of a thread of a warp, where samples give the base. It is exact: the block's samples have been checked for lines that
    /// break, see [`Claim::Straight`](crate::code::Claim::Straight).
    ///
    /// # Safety
    /// As for [`Reach::near`].
    #[inline(always)]
    pub(super) unsafe fn line(&self, access: &Access, warp: usize, lane: usize) -> u64 {
        let offset = access.offset.wrapping_add(if access.in_frame { self.frame } else { 0 });
        let half = warp * (WARP / HALF) + lane / HALF;
        let ahead = (lane % HALF) as u32 as i32 * access.stride.unwrap_or(0);
        // SAFETY: the base is a slot of samples of the access's width, and there is a sample for each half of a warp.
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

    /// Where the threads of a warp reach, if all are active and samples give the base. `None` where something is wrong or not simple:
    /// [`Reach::near`] checks these.
    ///
    /// # Safety
    /// As for [`Reach::near`].
    #[inline(always)]
    unsafe fn span(&self, access: &Access, warp: usize, write: bool, offsets: &mut [u32; WARP]) -> Option<Near> {
        // A stride is at most 2^20, and negative ones are rare.
        let stride = u32::try_from(access.stride?).ok()?;
        // SAFETY: an access with a stride has a base of samples, and the caller promises that the file has them.
        let [first, second] = unsafe { [self.line(access, warp, 0), self.line(access, warp, HALF)] };
        let window = self.window(access.space, first, write).filter(|window| !window.on_stack)?;
        let Window { start, len, .. } = window;
        // An address in another allocation is beyond every end.
        let (first, second) = (first - window.first, second.wrapping_sub(window.first));
        let reach = u64::from(stride) * (HALF as u64 - 1) + u64::from(access.bytes);
        let end = first.max(second).checked_add(reach)?;
        if (first | second | u64::from(stride) | window.first) & u64::from(access.bytes - 1) != 0
            || end > len
            || end >> 32 != 0
        {
            return None;
        }
        let halves = [first as u32, second as u32];
        let adjacent = stride == access.bytes;
        if !adjacent {
            fill(offsets, halves, stride);
        }
        Some(Near { start, halves, adjacent, flat: stride == 0 })
    }

    /// The memory of all threads of the block, if all are active and in each half of a warp each thread reaches just behind the one
    /// before it.
    ///
    /// # Safety
    /// As for [`Reach::near`]; the mask must have a byte for each thread.
    #[inline(always)]
    pub(super) unsafe fn rows(&self, access: &Access, mask: *const u8, write: bool) -> Option<Rows> {
        let bytes = u64::from(access.bytes);
        let alike = access.width == Width::Double && access.stride.is_none_or(|stride| stride as u32 == access.bytes);
        if !alike || access.in_frame || self.shadow.is_some() || !matches!(access.space, Space::Generic | Space::Global)
        {
            return None;
        }
        // SAFETY: the caller promises a mask for each warp; the base is a column of doubles or of samples of doubles, as checked above.
        let (firsts, first) = unsafe {
            for warp in 0..self.file.warps {
                if !all(&*mask.add(warp * WARP).cast::<[u8; WARP]>()) {
                    return None;
                }
            }
            if access.stride.is_some() {
                let firsts = self.file.column_of_samples::<u64>(access.base).cast_const();
                (firsts, (*firsts).wrapping_add(access.offset))
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
                (std::ptr::null(), first.wrapping_add(access.offset))
            }
        };
        let (index, start) = self.find(first)?;
        let region = self.region(index)?;
        let from_start = first - start;
        let (mut greatest, mut all) = (from_start, from_start);
        if firsts.is_null() {
            greatest = from_start.wrapping_add((self.lanes - HALF) as u64 * bytes);
        } else {
            for half in 0..self.lanes / HALF {
                // SAFETY: there is a sample for each half.
                let address = unsafe { *firsts.add(half) }.wrapping_add(access.offset);
                // What is before the start is beyond every end.
                greatest = greatest.max(address.wrapping_sub(start));
                all |= address.wrapping_sub(start);
            }
        }
        let end = greatest.checked_add(HALF as u64 * bytes)?;
        let odd = (all | start) & (bytes - 1) != 0 || start % ALIGNED != 0;
        if end > region.len || odd || (write && region.read_only) {
            return None;
        }
        Some(Rows { start: region.start.wrapping_add(from_start as usize), firsts, half: HALF * access.bytes as usize })
    }

    /// The shared memory of all threads of the block, if all are active and samples give the base. All is checked at once: a step that
    /// reads shared memory takes little more than the moves.
    ///
    /// # Safety
    /// As for [`Reach::near`]; the mask must have a byte for each thread.
    #[inline(always)]
    pub(super) unsafe fn shared_rows(&self, access: &Access, mask: *const u8) -> Option<SharedRows> {
        // A stride is at most 2^20, and negative ones are rare.
        let stride = u32::try_from(access.stride?).ok()?;
        if access.space != Space::Shared || access.width != Width::Word || access.in_frame || self.shadow.is_some() {
            return None;
        }
        let (halves, offset) = (self.lanes / HALF, access.offset as u32);
        // SAFETY: the caller promises a mask for each warp; there is a sample of a word for each half.
        let (firsts, everyone) = unsafe {
            let firsts = self.file.column_of_samples::<u32>(access.base).cast_const();
            let everyone = (0..self.file.warps).all(|warp| all(&*mask.add(warp * WARP).cast::<[u8; WARP]>()));
            (std::slice::from_raw_parts(firsts, halves), everyone)
        };
        let (mut greatest, mut any) = (0, stride);
        for first in firsts {
            let at = first.wrapping_add(offset);
            greatest = greatest.max(at);
            any |= at;
        }
        let end = u64::from(greatest) + u64::from(stride) * (HALF as u64 - 1) + u64::from(access.bytes);
        let fits = everyone && end <= self.shared_len && any & (access.bytes - 1) == 0;
        fits.then_some(SharedRows { start: self.shared, firsts: firsts.as_ptr(), offset, stride })
    }

    /// The bytes that all threads reach, where the address is a constant; nothing of the stack.
    #[inline(always)]
    pub(super) fn constant(&self, access: &Access, write: bool) -> Option<*mut u8> {
        if access.width != Width::None || access.in_frame || self.shadow.is_some() {
            return None;
        }
        let Window { start, len, first, on_stack } = self.window(access.space, access.offset, write)?;
        let (at, bytes) = (access.offset - first, u64::from(access.bytes));
        let fits = !on_stack && bytes <= len && at <= len - bytes && access.offset & (bytes - 1) == 0;
        fits.then(|| start.wrapping_add(at as usize))
    }

    /// Checks a warp's access thread by thread: pointers, or the first thread whose access fails. Tells the shadow memory, if there is one,
    /// of reads; of what writes, the caller tells it.
    ///
    /// # Safety
    /// As for [`Reach::near`].
    #[inline(never)]
    pub(super) unsafe fn far(
        &mut self,
        access: &Access,
        warp: usize,
        active: &[u8; WARP],
        kind: AccessKind,
    ) -> Result<[*mut u8; WARP], (usize, LaneFault)> {
        // SAFETY: both functions ask for the same.
        let at = unsafe { self.addresses(access, warp) };
        let mut pointers = [std::ptr::null_mut(); WARP];
        let mut any = std::ptr::null_mut();
        for i in (0..WARP).filter(|i| active[*i] != 0) {
            let bytes = u64::from(access.bytes);
            let pointer = self.resolve(access.space, at[i], bytes, warp * WARP + i, kind != AccessKind::Read);
            any = pointer.map_err(|fault| (warp, (i, fault)))?;
            pointers[i] = any;
        }
        for i in (0..WARP).filter(|i| active[*i] == 0) {
            pointers[i] = any;
        }
        if self.shadow.is_some() && kind == AccessKind::Read {
            for i in (0..WARP).filter(|i| active[*i] != 0) {
                if let Some(touch) = self.touch(access, at[i], warp * WARP + i, kind) {
                    self.observe(&touch);
                }
            }
        }
        Ok(pointers)
    }

    /// Tells the shadow memory of the strong reads of a warp, which have been made: another core publishes what it releases before it
    /// writes. `at` has the addresses, `element` the bytes of a vector's element.
    #[cold]
    pub(super) fn have_read(
        &mut self,
        access: &Access,
        element: usize,
        warp: usize,
        active: &[u8; WARP],
        at: &[u64; WARP],
    ) {
        for i in (0..WARP).filter(|i| active[*i] != 0) {
            let touch = self.touch(access, at[i], warp * WARP + i, AccessKind::Read);
            if let (Some(touch), Some(shadow)) = (touch, &mut self.shadow) {
                shadow.has_read(&Touch { element: element as u64, ..touch });
            }
        }
    }

    /// Asks for the memory that each warp's first thread reaches: the loop over warps has few misses in flight by itself.
    ///
    /// # Safety
    /// As for [`Reach::near`].
    #[inline(always)]
    #[cfg_attr(not(target_arch = "x86_64"), allow(unused_variables, reason = "x86-64 alone asks for memory ahead"))]
    pub(super) unsafe fn prefetch(&self, access: &Access) {
        #[cfg(target_arch = "x86_64")]
        if access.width == Width::Double && self.file.warps > 1 {
            use std::arch::x86_64::{_MM_HINT_T0, _mm_prefetch};
            // SAFETY: the caller promises that the base is a column of this width in this file, or of samples; a prefetch may be of any
            // address.
            unsafe {
                let base = self.file.column::<u64>(access.base);
                for warp in 0..self.file.warps {
                    let first = match access.stride {
                        Some(_) => *self.file.column_of_samples::<u64>(access.base).add(warp * (WARP / HALF)),
                        None => (*base.warp(warp))[0],
                    };
                    let address = first.wrapping_add(access.offset);
                    if let Some((index, start)) = self.find(address)
                        && let Some(region) = self.region(index)
                    {
                        let at = region.start.wrapping_add((address - start) as usize);
                        _mm_prefetch::<_MM_HINT_T0>(at.cast());
                        _mm_prefetch::<_MM_HINT_T0>(at.wrapping_add(64).cast());
                    }
                }
            }
        }
    }

    /// The addresses of a warp's threads.
    ///
    /// # Safety
    /// As for [`Reach::near`].
    #[inline(never)]
    pub(super) unsafe fn addresses(&self, access: &Access, warp: usize) -> [u64; WARP] {
        let offset = access.offset.wrapping_add(if access.in_frame { self.frame } else { 0 });
        // SAFETY: the caller promises that the base is a column of the access's width in this file, or of samples.
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
pub(super) fn each<T: Copy + Default>(f: impl Fn(usize) -> T) -> [T; WARP] {
    let mut all = [T::default(); WARP];
    for i in 0..WARP {
        all[i] = f(i);
    }
    all
}

/// Where the halves of a block's warps reach.
pub(super) struct Rows {
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
    pub(super) unsafe fn of(&self, warp: usize) -> [*mut u8; 2] {
        // SAFETY: where `firsts` is not null it points to a sample for each half, and the caller promises that the warp exists.
        let at = |half: usize| unsafe {
            let offset = match self.firsts.is_null() {
                true => half * self.half,
                false => (*self.firsts.add(half)).wrapping_sub(*self.firsts) as usize,
            };
            self.start.wrapping_add(offset)
        };
        [at(2 * warp), at(2 * warp + 1)]
    }

    /// Asks for the memory of a later block, whose threads mostly go on where this one's end. It is the fourth, as memory takes about as
    /// long as four blocks.
    #[inline(always)]
    #[cfg_attr(not(target_arch = "x86_64"), allow(unused_variables, reason = "x86-64 alone asks for memory ahead"))]
    pub(super) fn prefetch(&self, warps: usize) {
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

/// Where the halves of a block's warps reach in shared memory.
pub(super) struct SharedRows {
    start: *mut u8,
    /// For each half, what its first thread's address follows from.
    firsts: *const u32,
    offset: u32,
    /// Bytes from one thread of a half to the next.
    pub(super) stride: u32,
}

impl SharedRows {
    /// The offsets of the first threads of both halves of a warp.
    ///
    /// # Safety
    /// There must be such a warp.
    #[inline(always)]
    pub(super) unsafe fn offsets(&self, warp: usize) -> [u32; 2] {
        // SAFETY: the caller promises that the warp exists, and there is a sample for each half.
        [0, 1].map(|half| unsafe { *self.firsts.add(2 * warp + half) }.wrapping_add(self.offset))
    }

    /// What offsets count from.
    pub(super) fn start(&self) -> *mut u8 {
        self.start
    }
}

/// The offsets of threads that are `stride` bytes apart in each half.
#[inline(always)]
pub(super) fn fill(offsets: &mut [u32; WARP], halves: [u32; 2], stride: u32) {
    for i in 0..HALF {
        offsets[i] = halves[0] + i as u32 * stride;
        offsets[HALF + i] = halves[1] + i as u32 * stride;
    }
}

/// An array that vectors of 64 bytes are stored to and loaded from again: across two cache lines that takes a dozen cycles more.
#[repr(C, align(64))]
pub(super) struct Aligned<T>(pub(super) [T; WARP]);

/// Memory that addresses name.
struct Window {
    start: *mut u8,
    len: u64,
    /// The address of its first byte.
    first: u64,
    /// Whether it is the stack, of which each thread has its own.
    on_stack: bool,
}

/// Where a warp's threads reach.
pub(super) struct Near {
    /// What their offsets count from.
    pub(super) start: *mut u8,
    /// The offsets of the first threads of both halves.
    pub(super) halves: [u32; 2],
    /// Whether in each half each thread reaches just behind the one before it.
    pub(super) adjacent: bool,
    /// Whether in each half all reach the same bytes.
    pub(super) flat: bool,
}

/// What a warp's offsets are compared with, and what was found. The findings are bits: of truth values the compiler would make 32
/// comparisons. All is found in one loop, as vectors of offsets that were stored in halves could not be read again for a dozen cycles.
struct Check {
    /// The offset of an active thread.
    any: u32,
    limit: u32,
    bytes: u32,
    bad: u32,
    apart: u32,
    differ: u32,
}

impl Check {
    /// Checks all threads. `address` gives a thread's offset: its low word, and the bits above, which must be zero.
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

    /// [`Check::all`] in intrinsics of AVX-512: the compiler would make vectors of four, and truth values in vectors.
    ///
    /// # Safety
    /// The CPU must have AVX-512 F, BW and VL; the bases must be those of a warp.
    #[cfg(target_arch = "x86_64")]
    #[target_feature(enable = "avx512f,avx512bw,avx512vl")]
    #[inline]
    unsafe fn all_avx512(&mut self, active: &[u8; WARP], offsets: &mut [u32; WARP], bases: Bases, offset: u64) {
        use std::arch::x86_64::*;
        // SAFETY: a half reads sixteen of the 32 elements of the mask and of the bases, and writes sixteen of the offsets.
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
                        let offset = _mm512_set1_epi64(offset as i64);
                        let high = _mm512_set1_epi64(!0xffff_ffff);
                        let a = _mm512_add_epi64(_mm512_loadu_si512(base.add(at).cast()), offset);
                        let b = _mm512_add_epi64(_mm512_loadu_si512(base.add(at + 8).cast()), offset);
                        let far_a = _mm512_mask_test_epi64_mask(mask as u8, a, high);
                        let far_b = _mm512_mask_test_epi64_mask((mask >> 8) as u8, b, high);
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
