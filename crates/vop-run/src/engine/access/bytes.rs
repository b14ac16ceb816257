//! Loads and stores: bytes between memory and columns.

#![allow(unsafe_code, reason = "columns and the kernel's memory are raw memory")]
// A lane's number is an index of several arrays at once.
#![allow(clippy::needless_range_loop)]

use std::mem::MaybeUninit;
use std::sync::atomic::{AtomicU8, AtomicU16, AtomicU32, AtomicU64, Ordering};

use super::address::{Aligned, Near, each, fill};
use super::atomic::{AtomicLoop, atomic_loop};
use super::{Reach, WarpFault};
use crate::code::{Atomic, Load, MemoryWidth, OrderSemantics, Store};
use crate::column::{Element, File, HALF, Slot, WARP, all, blend, none};
use crate::engine::findings::AccessKind;
use crate::engine::shadow::Touch;
#[cfg(target_arch = "x86_64")]
use crate::level::{AVX512, BASELINE};
use crate::level::{Level, leveled};

/// An element of memory: bytes for which any value is valid.
///
/// Blocks that run on other cores may write what one reads, and read what it writes: a kernel decides that. So memory is reached by relaxed
/// atomics, of one element each, which compile to plain moves; and where elements follow one another by vector moves in assembly
/// ([`fetch_row`], [`put_row`]), of which the compiler knows no more than that they may reach any memory. Relaxed atomics would be sixteen
/// moves there.
trait Raw: Copy + Default + PartialEq {
    /// Whether loads and stores of such elements leave them as they are, where the column's elements are as wide.
    const STAYS: bool;

    /// Reads an element.
    ///
    /// # Safety
    /// It must be readable, and the pointer a multiple of its size.
    unsafe fn fetch(from: *const Self) -> Self;

    /// Writes an element.
    ///
    /// # Safety
    /// It must be writable, and the pointer a multiple of its size.
    unsafe fn put(self, to: *mut Self);

    /// The elements at offsets from a start.
    ///
    /// # Safety
    /// The elements must be readable at every offset, at multiples of their size, and the CPU must have the level.
    #[inline(always)]
    unsafe fn gather<const LEVEL: usize>(start: *const u8, offsets: &[u32; WARP], to: &mut [Self; WARP]) {
        for i in 0..WARP {
            // SAFETY: the caller promises that an element can be read at every offset.
            to[i] = unsafe { Self::fetch(start.add(offsets[i] as usize).cast()) };
        }
    }
}

/// Reading and writing by relaxed atomics.
macro_rules! raw {
    ($atomic:ident, $stays:literal) => {
        const STAYS: bool = $stays;

        #[inline(always)]
        unsafe fn fetch(from: *const Self) -> Self {
            // SAFETY: the caller promises an aligned element of the kernel's memory, to which no reference exists.
            unsafe { $atomic::from_ptr(from.cast_mut()).load(Ordering::Relaxed) }
        }

        #[inline(always)]
        unsafe fn put(self, to: *mut Self) {
            // SAFETY: the caller promises an aligned element of the kernel's memory, to which no reference exists.
            unsafe { $atomic::from_ptr(to).store(self, Ordering::Relaxed) }
        }
    };
}

impl Raw for u8 {
    raw!(AtomicU8, false);
}

impl Raw for u16 {
    raw!(AtomicU16, false);
}

impl Raw for u64 {
    raw!(AtomicU64, true);
}

impl Raw for u32 {
    raw!(AtomicU32, true);

    #[inline(always)]
    unsafe fn gather<const LEVEL: usize>(start: *const u8, offsets: &[u32; WARP], to: &mut [u32; WARP]) {
        #[cfg(target_arch = "x86_64")]
        if LEVEL == AVX512 {
            // SAFETY: the caller promises the level and the bytes; both halves of the offsets and of `to` have sixteen elements.
            unsafe {
                offsets.iter().for_each(|offset| show_to_sanitizers(start.add(*offset as usize), size_of::<u32>()));
                gather_16(start, offsets.as_ptr(), to.as_mut_ptr());
                gather_16(start, offsets.as_ptr().add(16), to.as_mut_ptr().add(16));
            }
            return;
        }
        for i in 0..WARP {
            // SAFETY: the caller promises that an element can be read at every offset.
            to[i] = unsafe { u32::fetch(start.add(offsets[i] as usize).cast()) };
        }
    }
}

/// Elements that were read, or are to be written: as [`Aligned`].
#[repr(C, align(64))]
struct Row<M, const N: usize>([[M; N]; HALF]);

/// Sanitizers see nothing of what assembly reaches. Builds for fuzzing (`--cfg fuzzing`) touch the kernel's memory before.
///
/// # Safety
/// The bytes, one at least, must be readable.
#[cfg(target_arch = "x86_64")]
#[allow(unexpected_cfgs, reason = "cargo-fuzz sets it")]
#[inline(always)]
unsafe fn show_to_sanitizers(at: *const u8, bytes: usize) {
    if cfg!(fuzzing) {
        // A sanitizer of addresses knows eight bytes at once, of which the first ones may be part of an object.
        for offset in (0..bytes).step_by(8).chain([bytes - 1]) {
            // SAFETY: the caller promises the bytes.
            std::hint::black_box(unsafe { u8::fetch(at.add(offset)) });
        }
    }
}

/// Copies bytes between the kernel's memory and others with vectors of a register class.
#[cfg(target_arch = "x86_64")]
macro_rules! vector_copy {
    ($(#[$feature:meta])* $name:ident, $bytes:literal, $class:ident, $load:literal, $store:literal) => {
        /// Copies vectors, each with one load and one store.
        ///
        /// # Safety
        /// The CPU must have the instructions; the bytes must be readable and writable; they do not overlap.
        $(#[$feature])*
        #[inline]
        unsafe fn $name(from: *const u8, to: *mut u8, vectors: usize) {
            for i in 0..vectors {
                // SAFETY: the instructions read and write a vector each, which the caller promises to exist, and change one register, which is
                // declared. On the side of the kernel's memory they are no more than relaxed accesses to its bytes.
                unsafe {
                    std::arch::asm!(
                        $load,
                        $store,
                        from = in(reg) from.add(i * $bytes),
                        to = in(reg) to.add(i * $bytes),
                        vector = out($class) _,
                        options(nostack, preserves_flags),
                    );
                }
            }
        }
    };
}
#[cfg(target_arch = "x86_64")]
vector_copy!(copy_16, 16, xmm_reg, "movdqu {vector}, [{from}]", "movdqu [{to}], {vector}");
#[cfg(target_arch = "x86_64")]
vector_copy!(
    #[target_feature(enable = "avx2")]
    copy_16_avx,
    16,
    xmm_reg,
    "vmovdqu {vector}, [{from}]",
    "vmovdqu [{to}], {vector}"
);
#[cfg(target_arch = "x86_64")]
vector_copy!(
    #[target_feature(enable = "avx2")]
    copy_32,
    32,
    ymm_reg,
    "vmovdqu {vector}, [{from}]",
    "vmovdqu [{to}], {vector}"
);
#[cfg(target_arch = "x86_64")]
vector_copy!(
    #[target_feature(enable = "avx512f")]
    copy_64,
    64,
    zmm_reg,
    "vmovdqu64 {vector}, [{from}]",
    "vmovdqu64 [{to}], {vector}"
);

/// Copies a row of bytes with the longest vectors of a level that it is a multiple of.
///
/// # Safety
/// The CPU must have the level; the bytes, a multiple of 16, must be readable and writable; they do not overlap.
#[cfg(target_arch = "x86_64")]
#[inline(always)]
unsafe fn copy_row<const LEVEL: usize>(from: *const u8, to: *mut u8, bytes: usize) {
    // SAFETY: the caller promises the level and the bytes.
    unsafe {
        if LEVEL == AVX512 && bytes.is_multiple_of(64) {
            copy_64(from, to, bytes / 64);
        } else if LEVEL != BASELINE && bytes.is_multiple_of(32) {
            copy_32(from, to, bytes / 32);
        } else if LEVEL != BASELINE {
            // Between instructions of AVX, those of SSE wait for the upper halves of registers.
            copy_16_avx(from, to, bytes / 16);
        } else {
            copy_16(from, to, bytes / 16);
        }
    }
}

/// Reads vectors of elements that follow one another in the kernel's memory.
///
/// # Safety
/// They must be readable, at a multiple of an element's size, and writable at `to`; the CPU must have the level.
#[inline(always)]
unsafe fn fetch_row<M: Raw, const N: usize, const LEVEL: usize>(from: *const M, to: *mut [[M; N]; HALF]) {
    // SAFETY: the caller promises the elements; `to` is not the kernel's memory, so they do not overlap.
    unsafe {
        #[cfg(target_arch = "x86_64")]
        {
            show_to_sanitizers(from.cast(), size_of::<[[M; N]; HALF]>());
            copy_row::<LEVEL>(from.cast(), to.cast(), size_of::<[[M; N]; HALF]>());
        }
        #[cfg(not(target_arch = "x86_64"))]
        for i in 0..HALF * N {
            to.cast::<M>().add(i).write(M::fetch(from.add(i)));
        }
    }
}

/// Writes vectors of elements one behind another to the kernel's memory.
///
/// # Safety
/// They must be writable, at a multiple of an element's size, and readable at `from`; the CPU must have the level.
#[inline(always)]
unsafe fn put_row<M: Raw, const N: usize, const LEVEL: usize>(from: *const [[M; N]; HALF], to: *mut M) {
    // SAFETY: the caller promises the elements; `from` is not the kernel's memory, so they do not overlap.
    unsafe {
        #[cfg(target_arch = "x86_64")]
        {
            show_to_sanitizers(to.cast_const().cast(), size_of::<[[M; N]; HALF]>());
            copy_row::<LEVEL>(from.cast(), to.cast(), size_of::<[[M; N]; HALF]>());
        }
        #[cfg(not(target_arch = "x86_64"))]
        for i in 0..HALF * N {
            from.cast::<M>().add(i).read().put(to.add(i));
        }
    }
}

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
    // SAFETY: the caller promises what `rows` and the others ask for, and they check the memory of all warps.
    unsafe {
        if let Some(rows) = reach.shared_rows(&load.access, mask) {
            let start = rows.start();
            for warp in 0..reach.file.warps {
                let halves = rows.offsets(warp);
                if rows.stride == load.access.bytes {
                    let from = halves.map(|offset| start.add(offset as usize).cast::<M>().cast_const());
                    if take::<M, E, F, LEVEL>(&reach.file, &load.d, warp, from, f) {
                        continue;
                    }
                }
                if rows.stride == 0 {
                    spread::<M, E, F>(&reach.file, &load.d, warp, start, halves, f);
                    continue;
                }
                let Aligned(offsets) = &mut Aligned([0; WARP]);
                fill(offsets, halves, rows.stride);
                gathered::<M, E, F, LEVEL>(&reach.file, &load.d, warp, start, offsets, f);
            }
            return Ok(());
        }
        if let Some(at) = reach.constant(&load.access, false) {
            for (k, slot) in load.d.iter().enumerate() {
                let value = f(M::fetch(at.add(k * size_of::<M>()).cast()));
                for warp in 0..reach.file.warps {
                    let active = &*mask.add(warp * WARP).cast::<[u8; WARP]>();
                    blend(&mut *reach.file.column::<E>(*slot).warp(warp), &[value; WARP], active);
                }
            }
            return Ok(());
        }
        if let Some(rows) = reach.rows(&load.access, mask, false) {
            rows.prefetch(reach.file.warps);
            let all = (0..reach.file.warps).all(|warp| {
                let from = rows.of(warp).map(|from| from.cast::<M>().cast_const());
                take::<M, E, F, LEVEL>(&reach.file, &load.d, warp, from, f)
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
            let Some(Near { start, halves, adjacent, flat }) = near else {
                let strong = reach.shadow.is_some() && load.access.order.semantics != OrderSemantics::Weak;
                // The base may be the destination.
                let seen = if strong { reach.addresses(&load.access, warp) } else { [0; WARP] };
                let pointers = reach.far(&load.access, warp, active, AccessKind::Read)?;
                for (k, slot) in load.d.iter().enumerate() {
                    let values = each(|i| f(M::fetch(pointers[i].add(k * size_of::<M>()).cast())));
                    blend(&mut *reach.file.column::<E>(*slot).warp(warp), &values, active);
                }
                if strong {
                    reach.have_read(&load.access, size_of::<M>(), warp, active, &seen);
                }
                continue;
            };
            if everyone && adjacent {
                let from = halves.map(|offset| start.add(offset as usize).cast::<M>().cast_const());
                if take::<M, E, F, LEVEL>(&reach.file, &load.d, warp, from, f) {
                    continue;
                }
                fill(offsets, halves, load.access.bytes);
            }
            if everyone && flat {
                spread::<M, E, F>(&reach.file, &load.d, warp, start, halves, f);
                continue;
            }
            if everyone {
                gathered::<M, E, F, LEVEL>(&reach.file, &load.d, warp, start, offsets, f);
                continue;
            }
            for (k, slot) in load.d.iter().enumerate() {
                let start = start.add(k * size_of::<M>());
                let Aligned(found) = &mut Aligned([M::default(); WARP]);
                if flat {
                    *found = [M::fetch(start.add(halves[0] as usize).cast()); WARP];
                } else {
                    M::gather::<LEVEL>(start, offsets, found);
                }
                let values = each(|i| f(found[i]));
                blend(&mut *reach.file.column::<E>(*slot).warp(warp), &values, active);
            }
        }
    }
    Ok(())
}

/// Loads what all threads of each half of a warp reach.
///
/// # Safety
/// The memory at both offsets must be readable, aligned, for all elements; the slots must be columns of the type.
#[inline(always)]
unsafe fn spread<M: Raw, E: Element, F: Fn(M) -> E + Copy>(
    file: &File,
    d: &[Slot],
    warp: usize,
    start: *const u8,
    halves: [u32; 2],
    f: F,
) {
    for (k, slot) in d.iter().enumerate() {
        // SAFETY: the caller promises the memory and the columns.
        unsafe {
            let [first, second] = halves.map(|at| f(M::fetch(start.add(at as usize + k * size_of::<M>()).cast())));
            let to = file.column::<E>(*slot).warp(warp).cast::<[E; HALF]>();
            to.write([first; HALF]);
            to.add(1).write([second; HALF]);
        }
    }
}

/// Loads what the threads of a warp reach at offsets.
///
/// # Safety
/// The memory at all offsets must be readable, aligned, for all elements; the slots must be columns of the type; the CPU must have the
/// level.
#[inline(always)]
unsafe fn gathered<M: Raw, E: Element, F: Fn(M) -> E + Copy, const LEVEL: usize>(
    file: &File,
    d: &[Slot],
    warp: usize,
    start: *const u8,
    offsets: &[u32; WARP],
    f: F,
) {
    for (k, slot) in d.iter().enumerate() {
        let Aligned(found) = &mut Aligned([M::default(); WARP]);
        // SAFETY: the caller promises the memory, the columns and the level.
        unsafe {
            M::gather::<LEVEL>(start.add(k * size_of::<M>()), offsets, found);
            *file.column::<E>(*slot).warp(warp) = each(|i| f(found[i]));
        }
    }
}

/// Loads a warp's vectors that stand one behind another in each half; false if they are of another length than one, two or four.
///
/// # Safety
/// The memory of sixteen vectors must be readable behind both pointers, which are multiples of the elements' size; the slots must be
/// columns of the type, and the CPU must have the level.
#[inline(always)]
unsafe fn take<M: Raw, E: Element, F: Fn(M) -> E + Copy, const LEVEL: usize>(
    file: &File,
    d: &[Slot],
    warp: usize,
    halves: [*const M; 2],
    f: F,
) -> bool {
    #[inline(always)]
    unsafe fn vectors<M: Raw, E: Element, const N: usize, const LEVEL: usize>(
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
                // Elements that stay as they are go to the column at once.
                if N == 1 && M::STAYS && size_of::<M>() == size_of::<E>() {
                    let to = file.column::<E>(d[0]).warp(warp).cast::<E>().add(half * HALF);
                    fetch_row::<M, 1, LEVEL>(from, to.cast());
                    continue;
                }
                let mut row = MaybeUninit::<Row<M, N>>::uninit();
                fetch_row::<M, N, LEVEL>(from, row.as_mut_ptr().cast());
                let Row(from) = row.assume_init_ref();
                for i in 0..HALF {
                    for k in 0..N {
                        values[k][half * HALF + i] = f(from[i][k]);
                    }
                }
            }
            if N == 1 && M::STAYS && size_of::<M>() == size_of::<E>() {
                return;
            }
            for k in 0..N {
                *file.column::<E>(d[k]).warp(warp) = values[k];
            }
        }
    }
    // SAFETY: the caller promises what `vectors` asks for.
    unsafe {
        match *d {
            [a] => vectors::<M, E, 1, LEVEL>(file, &[a], warp, halves, f),
            [a, b] => vectors::<M, E, 2, LEVEL>(file, &[a, b], warp, halves, f),
            [a, b, c, d] => vectors::<M, E, 4, LEVEL>(file, &[a, b, c, d], warp, halves, f),
            _ => return false,
        }
    }
    true
}

/// Stores a warp's vectors one behind another in each half: in the order of threads, should the halves overlap. False if they are of
/// another length than one, two or four.
///
/// # Safety
/// The memory of sixteen vectors must be writable behind both pointers, which are multiples of the elements' size; the slots must be
/// columns of the type, and the CPU must have the level.
#[inline(always)]
unsafe fn put<M: Raw, E: Element, F: Fn(E) -> M + Copy, const LEVEL: usize>(
    file: &File,
    sources: &[Slot],
    warp: usize,
    halves: [*mut M; 2],
    f: F,
) -> bool {
    #[inline(always)]
    unsafe fn vectors<M: Raw, E: Element, const N: usize, const LEVEL: usize>(
        file: &File,
        sources: &[Slot; N],
        warp: usize,
        halves: [*mut M; 2],
        f: impl Fn(E) -> M,
    ) {
        // SAFETY: `put` asks for the memory of sixteen vectors behind both pointers, and for columns of this type.
        unsafe {
            for (half, to) in halves.into_iter().enumerate() {
                if N == 1 && M::STAYS && size_of::<M>() == size_of::<E>() {
                    let from = file.column::<E>(sources[0]).warp(warp).cast::<E>().add(half * HALF);
                    put_row::<M, 1, LEVEL>(from.cast(), to);
                    continue;
                }
                let Row(values) = &mut Row([[M::default(); N]; HALF]);
                for k in 0..N {
                    let from = &*file.column::<E>(sources[k]).warp(warp);
                    for i in 0..HALF {
                        values[i][k] = f(from[half * HALF + i]);
                    }
                }
                put_row::<M, N, LEVEL>(values, to);
            }
        }
    }
    // SAFETY: the caller promises what `vectors` asks for.
    unsafe {
        match *sources {
            [a] => vectors::<M, E, 1, LEVEL>(file, &[a], warp, halves, f),
            [a, b] => vectors::<M, E, 2, LEVEL>(file, &[a, b], warp, halves, f),
            [a, b, c, d] => vectors::<M, E, 4, LEVEL>(file, &[a, b, c, d], warp, halves, f),
            _ => return false,
        }
    }
    true
}

/// Stores what all threads of a warp write at offsets. Vectors either are the same bytes or have none in common, so the last thread's stays
/// although elements are written one after another.
///
/// # Safety
/// The memory at all offsets must be writable, aligned, for all elements; the slots must be columns of the type.
#[inline(always)]
unsafe fn scattered<M: Raw, E: Element, F: Fn(E) -> M + Copy>(
    file: &File,
    sources: &[Slot],
    warp: usize,
    start: *mut u8,
    offsets: &[u32; WARP],
    f: F,
) {
    for (k, slot) in sources.iter().enumerate() {
        // SAFETY: the caller promises the memory and the columns.
        unsafe {
            let from = &*file.column::<E>(*slot).warp(warp);
            let start = start.add(k * size_of::<M>());
            for i in 0..WARP {
                f(from[i]).put(start.add(offsets[i] as usize).cast());
            }
        }
    }
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
    // SAFETY: the caller promises what `rows` and `shared_rows` ask for, and they check the memory of all warps.
    unsafe {
        if let Some(rows) = reach.shared_rows(&store.access, mask) {
            for warp in 0..reach.file.warps {
                let halves = rows.offsets(warp);
                if rows.stride == store.access.bytes {
                    let to = halves.map(|offset| rows.start().add(offset as usize).cast::<M>());
                    if put::<M, E, F, LEVEL>(&reach.file, &store.sources, warp, to, f) {
                        continue;
                    }
                }
                let Aligned(offsets) = &mut Aligned([0; WARP]);
                fill(offsets, halves, rows.stride);
                scattered::<M, E, F>(&reach.file, &store.sources, warp, rows.start(), offsets, f);
            }
            return Ok(());
        }
        if let Some(rows) = reach.rows(&store.access, mask, true) {
            rows.prefetch(reach.file.warps);
            let all = (0..reach.file.warps).all(|warp| {
                let to = rows.of(warp).map(|to| to.cast::<M>());
                put::<M, E, F, LEVEL>(&reach.file, &store.sources, warp, to, f)
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
                if put::<M, E, F, LEVEL>(&reach.file, &store.sources, warp, to, f) {
                    continue;
                }
                fill(offsets, halves, store.access.bytes);
            }
            let pointers = match near {
                Some(near) if everyone => {
                    scattered::<M, E, F>(&reach.file, &store.sources, warp, near.start, offsets, f);
                    continue;
                }
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
                        f(from[i]).put(to.cast());
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
                same_value &= M::fetch(place(k)) == value(k);
            }
            let touch = reach.touch(&store.access, addresses[i], warp * WARP + i, AccessKind::Write);
            let touch = touch.map(|touch| Touch { same_value, element: size_of::<M>() as u64, ..touch });
            if let Some(touch) = &touch {
                reach.observe(touch);
                if let Some(shadow) = &mut reach.shadow {
                    shadow.will_write(touch);
                }
            }
            for k in 0..store.sources.len() {
                let value = f((*reach.file.column::<E>(store.sources[k]).warp(warp))[i]);
                value.put(pointers[i].add(k * size_of::<M>()).cast());
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
    atomics: AtomicLoop,
}

impl Moves {
    /// The loops for a level that this CPU has.
    pub(in crate::engine) fn at(level: Level) -> Moves {
        Moves {
            loads: [load_8(level), load_16(level), load_32(level), load_64(level)],
            stores: [store_8(level), store_16(level), store_32(level), store_64(level)],
            atomics: atomic_loop(level),
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

    /// An atomic for all active threads.
    ///
    /// # Safety
    /// As for [`Moves::load`].
    #[inline(always)]
    pub(in crate::engine) unsafe fn atomic(
        &self,
        reach: &mut Reach,
        atomic: &Atomic,
        mask: *const u8,
    ) -> Result<(), WarpFault> {
        // SAFETY: the caller's promise is the loop's.
        unsafe { (self.atomics)(reach, atomic, mask) }
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
