//! Where the threads of a warp or a block reach, checked.

#![allow(unsafe_code, reason = "addresses stand in columns, which are raw memory")]
// A lane's number is an index of several arrays at once.
#![allow(clippy::needless_range_loop)]

use std::mem::MaybeUninit;
use std::ops::{BitOrAssign, BitXor};

use super::{LaneFault, Reach};
use crate::code::Access;
use crate::column::{HALF, MAX_LANES, WARP, Width, all};
use crate::engine::findings::AccessKind;
use crate::engine::shadow::Touch;
use crate::jit::Site;
#[cfg(target_arch = "x86_64")]
use crate::level::AVX512;
use crate::memory::{LOCAL_BASE, REGION_BITS, Region, SHARED_BASE, Space};

/// What the address of an allocation must be a multiple of, so that offsets in it are aligned as addresses are. All are but for what a
/// caller has registered.
const ALIGNED: u64 = 16;
/// Halves of warps of a block, at most.
pub(super) const HALVES: usize = MAX_LANES / HALF;

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

    /// The memory that the first active thread reaches, for machine code.
    ///
    /// # Safety
    /// The access must have been decoded for this file.
    pub(in crate::engine) unsafe fn site(&self, access: &Access, mask: &[u8], write: bool) -> Site {
        let Some(thread) = mask.iter().position(|active| *active != 0) else { return Site::default() };
        // SAFETY: the caller promises a decoded access.
        let address = unsafe { self.addresses(access, thread / WARP) }[thread % WARP];
        let found = self.find(address).and_then(|(index, first)| Some((first, self.region(index)?)));
        let found = found.filter(|(_, region)| !write || !region.read_only);
        let site = |(first, region): (u64, Region)| Site::new(first, region.start, region.len, u64::from(access.bytes));
        found.map(site).unwrap_or_default()
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
        let ones = firsts(active);
        // SAFETY: the caller promises that the base is a column of the access's width in this file.
        let address = |one: usize| unsafe {
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
        let (any, second) = (address(ones[0]), address(ones[1]));
        let Window { start, len, first, on_stack } = self.window(access.space, any, write)?;
        let (any, second) = (any - first, second.wrapping_sub(first));
        if (any | second) >> 32 != 0 || first & u64::from(access.bytes - 1) != 0 {
            return None;
        }
        // From here on, everything is relative to the first byte.
        let offset = offset.wrapping_sub(first);
        let bytes = access.bytes;
        // Behind the last place where an access may start; nothing fits where it is 0.
        let limit = (len + 1).saturating_sub(u64::from(bytes)).min(u64::from(u32::MAX)) as u32;
        let any = [any as u32, second as u32];
        // Where the first threads of both halves would reach if the threads' bytes follow one another.
        let before = |half: usize| (ones[half] % HALF) as u32 * bytes;
        let lines = [any[0].wrapping_sub(before(0)), any[1].wrapping_sub(before(1))];
        let mut check = Check { any, lines, limit, bytes, bad: 0, apart: 0, differ: 0 };
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
        // The offsets of the first threads of both halves: of a whole row, if the active threads reach their places in it, or of what all reach.
        let fits = |half: usize| {
            let end = u64::from(lines[half]) + u64::from(bytes) * (HALF as u64 - 1);
            lines[half] <= any[half] && end < u64::from(limit)
        };
        let flat = check.differ == 0;
        let adjacent = check.apart == 0 && !flat && fits(0) && fits(1);
        Some(Near { start, halves: if flat { any } else { lines }, adjacent, flat })
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
    /// before it. `own` is for the addresses of the halves, where samples do not have them.
    ///
    /// # Safety
    /// As for [`Reach::near`]; the mask must have a byte for each thread.
    #[inline(always)]
    pub(super) unsafe fn rows<'a>(
        &'a self,
        access: &Access,
        mask: *const u8,
        write: bool,
        own: &'a mut MaybeUninit<[u64; HALVES]>,
    ) -> Option<Rows<'a>> {
        let bytes = u64::from(access.bytes);
        let alike = access.width == Width::Double && access.stride.is_none_or(|stride| stride as u32 == access.bytes);
        if !alike || access.in_frame || self.shadow.is_some() || !matches!(access.space, Space::Generic | Space::Global)
        {
            return None;
        }
        let halves = self.lanes / HALF;
        // SAFETY: the caller promises a mask for each warp; the base is a column of doubles or of samples of doubles, as checked above. A block
        // has no more halves than `own`.
        let firsts = unsafe {
            let everyone = |warp: usize| all(&*mask.add(warp * WARP).cast::<[u8; WARP]>());
            if access.stride.is_some() {
                if !(0..self.file.warps).all(everyone) {
                    return None;
                }
                std::slice::from_raw_parts(self.file.column_of_samples::<u64>(access.base).cast_const(), halves)
            } else {
                let base = self.file.column::<u64>(access.base);
                let own = own.as_mut_ptr().cast::<u64>();
                for warp in 0..self.file.warps {
                    let base = &*base.warp(warp);
                    let mut broken = 0;
                    for half in 0..WARP / HALF {
                        let first = base[half * HALF];
                        own.add(warp * (WARP / HALF) + half).write(first);
                        for i in 0..HALF {
                            broken |= base[half * HALF + i] ^ first.wrapping_add(i as u64 * bytes);
                        }
                    }
                    if broken != 0 || !everyone(warp) {
                        return None;
                    }
                }
                std::slice::from_raw_parts(own.cast_const(), halves)
            }
        };
        let (index, start) = self.find(firsts[0].wrapping_add(access.offset))?;
        let region = self.region(index)?;
        let from_start = |first: u64| first.wrapping_add(access.offset).wrapping_sub(start);
        let (mut greatest, mut all, mut broken) = (0, 0, 0);
        for (half, first) in firsts.iter().enumerate() {
            // What is before the start is beyond every end.
            greatest = greatest.max(from_start(*first));
            all |= from_start(*first);
            broken |= first.wrapping_sub(firsts[0]) ^ (half as u64 * HALF as u64 * bytes);
        }
        let end = greatest.checked_add(HALF as u64 * bytes)?;
        let odd = (all | start) & (bytes - 1) != 0 || start % ALIGNED != 0;
        if end > region.len || odd || (write && region.read_only) {
            return None;
        }
        let start = region.start.wrapping_add(from_start(firsts[0]) as usize);
        Some(Rows { start, firsts, bytes: access.bytes as usize, is_one: broken == 0 })
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

    /// The bytes that all threads reach, where all are active and all addresses are the same; nothing of the stack.
    ///
    /// # Safety
    /// As for [`Reach::near`]; the mask must have a byte for each thread.
    #[inline(always)]
    pub(super) unsafe fn same(&self, access: &Access, mask: *const u8, write: bool) -> Option<*mut u8> {
        if access.stride.is_some() || access.in_frame || self.shadow.is_some() {
            return None;
        }
        // SAFETY: the caller promises a mask for each warp, and that the base is a column of the access's width in this file.
        let address = unsafe {
            match access.width {
                Width::Word => {
                    let base = self.file.column::<u32>(access.base);
                    self.all_equal(|warp| base.warp(warp), mask)?.wrapping_add(access.offset as u32).into()
                }
                Width::Double => {
                    let base = self.file.column::<u64>(access.base);
                    self.all_equal(|warp| base.warp(warp), mask)?.wrapping_add(access.offset)
                }
                _ => return None,
            }
        };
        self.bytes_at(access, address, write)
    }

    /// The value of all threads of a block, if all are active and have the same.
    ///
    /// # Safety
    /// The column and the mask must have an element for each thread.
    #[inline(always)]
    unsafe fn all_equal<T: Copy + Default + PartialEq + BitXor<Output = T> + BitOrAssign>(
        &self,
        column: impl Fn(usize) -> *mut [T; WARP],
        mask: *const u8,
    ) -> Option<T> {
        // SAFETY: the caller promises elements for each warp.
        unsafe {
            let of = |warp: usize| &*column(warp);
            let first = of(0)[0];
            // Most that differ do so here.
            if of(0)[1] != first || of(self.file.warps - 1)[WARP - 1] != first {
                return None;
            }
            for warp in 0..self.file.warps {
                let mut differ = T::default();
                for value in of(warp) {
                    differ |= *value ^ first;
                }
                if differ != T::default() || !all(&*mask.add(warp * WARP).cast::<[u8; WARP]>()) {
                    return None;
                }
            }
            Some(first)
        }
    }

    /// The bytes that all threads reach, where the address is a constant; nothing of the stack.
    #[inline(always)]
    pub(super) fn constant(&self, access: &Access, write: bool) -> Option<*mut u8> {
        if access.width != Width::None || access.in_frame || self.shadow.is_some() {
            return None;
        }
        self.bytes_at(access, access.offset, write)
    }

    /// The bytes at an address that all threads reach; nothing of the stack.
    #[inline(always)]
    fn bytes_at(&self, access: &Access, address: u64, write: bool) -> Option<*mut u8> {
        let Window { start, len, first, on_stack } = self.window(access.space, address, write)?;
        let (at, bytes) = (address - first, u64::from(access.bytes));
        let fits = !on_stack && bytes <= len && at <= len - bytes && address & (bytes - 1) == 0;
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
        if access.width == Width::Double && self.file.warps > 1 && access.bytes >= 4 {
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
#[cfg_attr(not(target_arch = "x86_64"), allow(dead_code, reason = "x86-64 alone asks for memory ahead"))]
pub(super) struct Rows<'a> {
    start: *mut u8,
    /// For each half, what its first thread's address follows from.
    firsts: &'a [u64],
    /// Bytes of a thread.
    bytes: usize,
    /// Whether each half reaches just behind the one before.
    is_one: bool,
}

impl Rows<'_> {
    /// The memory of both halves of a warp, which must be there.
    #[inline(always)]
    pub(super) fn of(&self, warp: usize) -> [*mut u8; 2] {
        let at = |half: usize| self.start.wrapping_add(self.firsts[half].wrapping_sub(self.firsts[0]) as usize);
        [at(2 * warp), at(2 * warp + 1)]
    }

    /// Asks for the memory of a later block, whose threads mostly go on where this one's end. It is the fourth, as memory takes about as
    /// long as four blocks.
    #[inline(always)]
    #[cfg_attr(not(target_arch = "x86_64"), allow(unused_variables, reason = "x86-64 alone asks for memory ahead"))]
    pub(super) fn prefetch(&self) {
        #[cfg(target_arch = "x86_64")]
        if self.is_one {
            use std::arch::x86_64::{_MM_HINT_T0, _mm_prefetch};
            let bytes = self.firsts.len() * HALF * self.bytes;
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
        let of = |half: usize| unsafe { *self.firsts.add(2 * warp + half) }.wrapping_add(self.offset);
        [of(0), of(1)]
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
    /// Whether in each half each active thread reaches its place in a row, which may be reached as a whole.
    pub(super) adjacent: bool,
    /// Whether in each half all reach the same bytes.
    pub(super) flat: bool,
}

/// What a warp's offsets are compared with, and what was found. The findings are bits: of truth values the compiler would make 32
/// comparisons. All is found in one loop, as vectors of offsets that were stored in halves could not be read again for a dozen cycles.
struct Check {
    /// The offsets of an active thread of each half.
    any: [u32; 2],
    /// Those of the halves' first threads, if the threads' bytes follow one another.
    lines: [u32; 2],
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
        let Check { limit, bytes, .. } = *self;
        let (mut bad, mut apart, mut differ) = (0, 0, 0);
        for half in 0..WARP / HALF {
            let (any, line) = (self.any[half], self.lines[half]);
            for k in 0..HALF {
                let i = half * HALF + k;
                let (low, high) = address(i);
                let mask = active[i] as i8 as u32;
                let offset = any ^ (any ^ low) & mask;
                bad |= u32::from(offset >= limit) | offset & (bytes - 1) | high & mask;
                apart |= (low ^ line.wrapping_add(k as u32 * bytes)) & mask;
                differ |= offset ^ any;
                offsets[i] = offset;
            }
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
            let limit = _mm512_set1_epi32(self.limit as i32);
            let odd = _mm512_set1_epi32(self.bytes as i32 - 1);
            let ramp = _mm512_setr_epi32(0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15);
            // The number of bytes is a power of two.
            let ramp = _mm512_sll_epi32(ramp, _mm_cvtsi32_si128(self.bytes.trailing_zeros() as i32));
            for half in 0..2 {
                let at = half * HALF;
                let any = _mm512_set1_epi32(self.any[half] as i32);
                let line = _mm512_add_epi32(_mm512_set1_epi32(self.lines[half] as i32), ramp);
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
                self.apart |= u32::from(_mm512_mask_cmpneq_epi32_mask(mask, low, line));
                let low = _mm512_mask_mov_epi32(any, mask, low);
                let beyond = _mm512_cmpge_epu32_mask(low, limit) | _mm512_test_epi32_mask(low, odd);
                self.bad |= u32::from(beyond) | far;
                self.differ |= u32::from(_mm512_cmpneq_epi32_mask(low, any));
                _mm512_storeu_si512(offsets.as_mut_ptr().add(at).cast(), low);
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

/// The first active lane of each half, or of the other half where one has none.
#[inline(always)]
fn firsts(active: &[u8; WARP]) -> [usize; 2] {
    if active[0] & active[HALF] != 0 {
        return [0, HALF];
    }
    let (first, second) = (first_of(active, 0), first_of(active, HALF));
    if first == WARP { [second; 2] } else { [first, if second == WARP { first } else { second }] }
}

/// The first active lane of the half that starts at a lane; [`WARP`] if there is none.
#[inline(always)]
fn first_of(active: &[u8; WARP], start: usize) -> usize {
    let mut bits = 0u128;
    let mut lane = 0;
    while lane < HALF {
        bits |= u128::from(active[start + lane]) << (8 * lane);
        lane += 1;
    }
    if bits == 0 { WARP } else { start + bits.trailing_zeros() as usize / 8 }
}
