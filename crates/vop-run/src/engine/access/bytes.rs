//! Loads and stores: bytes between memory and columns.

#![allow(unsafe_code, reason = "columns and the kernel's memory are raw memory")]
// A lane's number is an index of several arrays at once.
#![allow(clippy::needless_range_loop)]

use super::address::{Aligned, Near, each, fill};
use super::{Reach, WarpFault};
use crate::code::{Load, MemoryWidth, Store};
use crate::column::{Element, File, HALF, Slot, WARP, all, blend, none};
use crate::engine::findings::AccessKind;
use crate::engine::shadow::Touch;
#[cfg(target_arch = "x86_64")]
use crate::level::AVX512;
use crate::level::{Level, leveled};

/// An element of memory: bytes for which any value is valid.
trait Raw: Copy + Default + PartialEq {
    /// The elements at offsets from a start.
    ///
    /// # Safety
    /// The bytes must be readable at every offset, and the CPU must have the level.
    #[inline(always)]
    unsafe fn gather<const LEVEL: usize>(start: *const u8, offsets: &[u32; WARP], to: &mut [Self; WARP]) {
        for i in 0..WARP {
            // SAFETY: the caller promises that an element can be read at every offset.
            to[i] = unsafe { start.add(offsets[i] as usize).cast::<Self>().read_unaligned() };
        }
    }
}

impl Raw for u8 {}
impl Raw for u16 {}

impl Raw for u32 {
    #[inline(always)]
    unsafe fn gather<const LEVEL: usize>(start: *const u8, offsets: &[u32; WARP], to: &mut [u32; WARP]) {
        #[cfg(target_arch = "x86_64")]
        if LEVEL == AVX512 {
            // SAFETY: the caller promises the level and the bytes; both halves of the offsets and of `to` have sixteen elements.
            unsafe {
                gather_16(start, offsets.as_ptr(), to.as_mut_ptr());
                gather_16(start, offsets.as_ptr().add(16), to.as_mut_ptr().add(16));
            }
            return;
        }
        for i in 0..WARP {
            // SAFETY: the caller promises that an element can be read at every offset.
            to[i] = unsafe { start.add(offsets[i] as usize).cast::<u32>().read_unaligned() };
        }
    }
}

impl Raw for u64 {}

/// Sixteen words at offsets from a start. In assembly, as the compiler makes sixteen loads of the intrinsic, three instructions each.
///
/// # Safety
/// The CPU must have AVX-512 F; sixteen offsets must be readable, a word at each of them, and sixteen words must be writable at `to`.
#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx512f")]
unsafe fn gather_16(start: *const u8, offsets: *const u32, to: *mut u32) {
    // SAFETY: the instructions read sixteen offsets and the words at them and write sixteen words, all of which the caller promises to
    // exist, and change only registers that are declared. Offsets count from the middle of 4 GiB, as the instruction takes them for
    // signed.
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

/// Loads for all active threads.
///
/// # Safety
/// The load must have been decoded for the file that `reach` has, and for elements of these types; the CPU must have the level; the mask
/// must have a byte for each thread, 0 or 0xff.
#[inline(always)]
unsafe fn load<M: Raw, E: Element, F: Fn(M) -> E + Copy, const LEVEL: usize>(
    reach: &mut Reach,
    load: &Load,
    mask: *const u8,
    f: F,
) -> Result<(), WarpFault> {
    // SAFETY: the caller promises what `rows` asks for, and `rows` checks the memory of all warps.
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
        // SAFETY: the mask has a byte for each thread; `of_warp` and `far` have checked the addresses for all bytes of the access, and the
        // elements of `d` together are these bytes.
        unsafe {
            let active = &*mask.add(warp * WARP).cast::<[u8; WARP]>();
            if none(active) {
                continue;
            }
            let everyone = all(active);
            let Aligned(offsets) = &mut Aligned([0; WARP]);
            let near = reach.of_warp::<LEVEL>(&load.access, warp, active, false, offsets);
            let Some(Near { start, halves, adjacent, equal }) = near else {
                let pointers = reach.far(&load.access, warp, active, AccessKind::Read)?;
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

/// Loads a warp's vectors that stand one behind another in each half; false if they are of another length than one, two or four.
///
/// # Safety
/// The memory of sixteen vectors must be readable behind both pointers, and the slots must be columns of the type.
#[inline(always)]
unsafe fn take<M: Raw, E: Element, F: Fn(M) -> E + Copy>(
    file: &File,
    d: &[Slot],
    warp: usize,
    halves: [*const M; 2],
    f: F,
) -> bool {
    #[inline(always)]
    unsafe fn vectors<M: Raw, E: Element, const N: usize>(
        file: &File,
        d: &[Slot; N],
        warp: usize,
        halves: [*const M; 2],
        f: impl Fn(M) -> E,
    ) {
        let mut values = [[E::default(); WARP]; N];
        // SAFETY: `take` asks for the memory of sixteen vectors behind both pointers, and for columns of this type.
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
    // SAFETY: the caller promises what `vectors` asks for.
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

/// Stores a warp's vectors one behind another in each half: in the order of threads, should the halves overlap. False if they are of
/// another length than one, two or four.
///
/// # Safety
/// The memory of sixteen vectors must be writable behind both pointers, and the slots must be columns of the type.
#[inline(always)]
unsafe fn put<M: Raw, E: Element, F: Fn(E) -> M + Copy>(
    file: &File,
    sources: &[Slot],
    warp: usize,
    halves: [*mut M; 2],
    f: F,
) -> bool {
    #[inline(always)]
    unsafe fn vectors<M: Raw, E: Element, const N: usize>(
        file: &File,
        sources: &[Slot; N],
        warp: usize,
        halves: [*mut M; 2],
        f: impl Fn(E) -> M,
    ) {
        // SAFETY: `put` asks for the memory of sixteen vectors behind both pointers, and for columns of this type.
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
    // SAFETY: the caller promises what `vectors` asks for.
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

/// Stores for all active threads.
///
/// # Safety
/// As for [`load`], of the store.
#[inline(always)]
unsafe fn store<M: Raw, E: Element, F: Fn(E) -> M + Copy, const LEVEL: usize>(
    reach: &mut Reach,
    store: &Store,
    mask: *const u8,
    f: F,
) -> Result<(), WarpFault> {
    // SAFETY: the caller promises what `rows` asks for, and `rows` checks the memory of all warps.
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
        // SAFETY: the mask has a byte for each thread; `of_warp` and `far` have checked the addresses for all bytes of the access, and the
        // elements of the sources together are these bytes.
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
                None => {
                    let pointers = reach.far(&store.access, warp, active, AccessKind::Write)?;
                    if reach.shadow.is_some() {
                        store_seen::<M, E, F>(reach, store, warp, active, &pointers, f);
                        continue;
                    }
                    pointers.map(|pointer| pointer as usize)
                }
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

/// Stores of a warp's active threads, one after another, each shown to the shadow memory.
///
/// # Safety
/// As for [`store`]; the pointers must be those of the active threads, checked for all bytes of the access.
#[inline(never)]
unsafe fn store_seen<M: Raw, E: Element, F: Fn(E) -> M + Copy>(
    reach: &mut Reach,
    store: &Store,
    warp: usize,
    active: &[u8; WARP],
    pointers: &[*mut u8; WARP],
    f: F,
) {
    let mut releases = false;
    // SAFETY: the caller promises a decoded store.
    let addresses = unsafe { reach.addresses(&store.access, warp) };
    for i in (0..WARP).filter(|i| active[*i] != 0) {
        // SAFETY: the caller promises a decoded store, and memory for all of its elements behind the pointer.
        let touch = unsafe {
            let place = |k: usize| pointers[i].add(k * size_of::<M>()).cast::<M>();
            let value = |k: usize| f((*reach.file.column::<E>(store.sources[k]).warp(warp))[i]);
            let mut same_value = true;
            for k in 0..store.sources.len() {
                same_value &= place(k).read_unaligned() == value(k);
            }
            let touch = Reach::touch(&store.access, addresses[i], warp * WARP + i, AccessKind::Write);
            let touch = touch.map(|touch| Touch { same_value, ..touch });
            if let Some(touch) = &touch {
                reach.observe(touch);
            }
            for k in 0..store.sources.len() {
                let value = f((*reach.file.column::<E>(store.sources[k]).warp(warp))[i]);
                pointers[i].add(k * size_of::<M>()).cast::<M>().write_unaligned(value);
            }
            touch
        };
        if let (Some(shadow), Some(touch)) = (&mut reach.shadow, touch) {
            shadow.has_written(&touch);
            releases |= touch.order.semantics.releases();
        }
    }
    if let (Some(shadow), true) = (&mut reach.shadow, releases) {
        shadow.tick(warp);
    }
}

/// A load of all active threads, and a store. The mask has a byte for each thread, 0 or 0xff.
type LoadLoop = unsafe fn(&mut Reach, &Load, *const u8) -> Result<(), WarpFault>;
type StoreLoop = unsafe fn(&mut Reach, &Store, *const u8) -> Result<(), WarpFault>;

/// The loops that move bytes, for the SIMD instructions of one level: by the width in memory.
#[derive(Clone, Copy, Debug)]
pub(in crate::engine) struct Moves {
    loads: [LoadLoop; MemoryWidth::COUNT],
    stores: [StoreLoop; MemoryWidth::COUNT],
}

impl Moves {
    /// The loops for a level that this CPU has.
    pub(in crate::engine) fn at(level: Level) -> Moves {
        Moves {
            loads: [load_8(level), load_16(level), load_32(level), load_64(level)],
            stores: [store_8(level), store_16(level), store_32(level), store_64(level)],
        }
    }

    /// Loads for all active threads.
    ///
    /// # Safety
    /// The load must have been decoded for the file that `reach` has; the mask must have a byte for each of its threads.
    #[inline(always)]
    pub(in crate::engine) unsafe fn load(
        &self,
        reach: &mut Reach,
        load: &Load,
        mask: *const u8,
    ) -> Result<(), WarpFault> {
        // SAFETY: the caller's promise is the loop's.
        unsafe { self.loads[load.memory as usize](reach, load, mask) }
    }

    /// Stores for all active threads.
    ///
    /// # Safety
    /// As for [`Moves::load`].
    #[inline(always)]
    pub(in crate::engine) unsafe fn store(
        &self,
        reach: &mut Reach,
        store: &Store,
        mask: *const u8,
    ) -> Result<(), WarpFault> {
        // SAFETY: the caller's promise is the loop's.
        unsafe { self.stores[store.memory as usize](reach, store, mask) }
    }
}

/// A load loop and a store loop for each width in memory: the types of memory's element and of the column's, and what becomes of
/// an element on its way.
macro_rules! moves {
    ($($load:ident $store:ident: $memory:ty, $element:ty, |$l:ident, $x:ident| $widened:expr, |$y:ident| $narrowed:expr;)*) => { $(
        leveled! {
            fn $load(reach: &mut Reach, $l: &Load, mask: *const u8) -> Result<(), WarpFault> {
                // SAFETY: callers of the loops of `Moves` promise what `load` asks for.
                unsafe {
                    load::<$memory, $element, _, LEVEL>(reach, $l, mask, #[inline(always)] |$x| $widened)
                }
            }
        }
        leveled! {
            fn $store(reach: &mut Reach, s: &Store, mask: *const u8) -> Result<(), WarpFault> {
                // SAFETY: callers of the loops of `Moves` promise what `store` asks for.
                unsafe {
                    store::<$memory, $element, _, LEVEL>(reach, s, mask, #[inline(always)] |$y| $narrowed)
                }
            }
        }
    )* };
}

moves! {
    load_8 store_8: u8, u32, |l, x| l.extension.of(u32::from(x)), |x| x as u8;
    load_16 store_16: u16, u32, |l, x| l.extension.of(u32::from(x)), |x| x as u16;
    load_32 store_32: u32, u32, |_l, x| x, |x| x;
    load_64 store_64: u64, u64, |_l, x| x, |x| x;
}
