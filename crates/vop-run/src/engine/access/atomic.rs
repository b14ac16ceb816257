//! Atomics: a thread after another.
//!
//! The addresses of a warp are checked together, as those of loads are. Shared memory belongs to one block, which one core runs, so nobody
//! else sees it: there plain loads and stores do.

#![allow(unsafe_code, reason = "columns and the kernel's memory are raw memory")]
// A lane's number is an index of several arrays at once.
#![allow(clippy::needless_range_loop)]

use std::sync::Mutex;
use std::sync::atomic::{AtomicU16, AtomicU32, AtomicU64, Ordering};

use super::address::{Aligned, Near, fill};
use super::{Reach, WarpFault};
use crate::code::{Atomic, AtomicKind};
use crate::column::{Slot, WARP, Width, all, none};
use crate::engine::findings::AccessKind;
use crate::engine::shadow::Touch;
use crate::level::leveled;
use crate::pure::mbarrier;

/// Atomics of 128 bits exclude one another.
static WIDE: Mutex<()> = Mutex::new(());

/// An atomic of all active threads. The mask has a byte for each thread, 0 or 0xff.
pub(super) type AtomicLoop = unsafe fn(&mut Reach, &Atomic, *const u8) -> Result<(), WarpFault>;

leveled! {
    /// An atomic for all active threads, one after another.
    pub(super) fn atomic_loop(reach: &mut Reach, atomic: &Atomic, mask: *const u8) -> Result<(), WarpFault> {
        // SAFETY: callers of the loops of `Moves` promise what `each_warp` asks for.
        unsafe { each_warp::<LEVEL>(reach, atomic, mask) }
    }
}

/// # Safety
/// The atomic must have been decoded for the file that `reach` has; the mask must have a byte for each thread, 0 or 0xff; the CPU must
/// have the level.
#[inline(always)]
unsafe fn each_warp<const LEVEL: usize>(reach: &mut Reach, atomic: &Atomic, mask: *const u8) -> Result<(), WarpFault> {
    for warp in 0..reach.file.warps {
        // SAFETY: the mask has a byte for each thread; `of_warp` has checked the addresses for all bytes of the access.
        unsafe {
            let active = &*mask.add(warp * WARP).cast::<[u8; WARP]>();
            if none(active) {
                continue;
            }
            if atomic.access.bytes <= 8 {
                let Aligned(offsets) = &mut Aligned([0; WARP]);
                if let Some(near) = reach.of_warp::<LEVEL>(&atomic.access, warp, active, true, offsets) {
                    if near.adjacent && all(active) {
                        fill(offsets, near.halves, atomic.access.bytes);
                    }
                    near_by(reach, atomic, warp, active, &near, offsets);
                    continue;
                }
            }
            far_away(reach, atomic, warp, active)?;
        }
    }
    Ok(())
}

/// The atomics of a warp's active threads, whose addresses have been checked.
///
/// # Safety
/// As for [`each_warp`]; each active thread's offset from the start of `near` must be that of the access's bytes.
#[inline(always)]
unsafe fn near_by(
    reach: &mut Reach,
    atomic: &Atomic,
    warp: usize,
    active: &[u8; WARP],
    near: &Near,
    offsets: &[u32; WARP],
) {
    let file = reach.file;
    let private = near.start == reach.shared;
    let fold = match atomic.kind {
        AtomicKind::Fold(f) => Some(f),
        AtomicKind::FoldByPlace { shared, .. } if private => Some(shared),
        AtomicKind::FoldByPlace { global, .. } => Some(global),
        AtomicKind::Exchange | AtomicKind::CompareAndSwap => None,
    };
    let mut changes = 0;
    // SAFETY: slots are columns of the atomic's width, and the caller promises that the bytes at the offsets may be reached. They are
    // aligned, as is what they stand in.
    unsafe {
        if let (Some(fold), true, 4, Width::Word) = (fold, private, atomic.access.bytes, atomic.width) {
            // As histograms are made.
            let values = *file.column::<u32>(atomic.sources[0][0]).warp(warp);
            let mut found = [0u32; WARP];
            for i in 0..WARP {
                if active[i] != 0 {
                    let at = AtomicU32::from_ptr(near.start.add(offsets[i] as usize).cast());
                    let old = at.load(Ordering::Relaxed);
                    let new = fold(u64::from(old), u64::from(values[i])) as u32;
                    at.store(new, Ordering::Relaxed);
                    changes += u64::from(old != new);
                    found[i] = old;
                }
            }
            if let Some([d, _]) = atomic.d {
                crate::column::blend(&mut *file.column::<u32>(d).warp(warp), &found, active);
            }
        } else {
            for i in (0..WARP).filter(|i| active[*i] != 0) {
                let at = near.start.add(offsets[i] as usize);
                let [b, c] = atomic.sources.map(|[slot, _]| file.element(slot, atomic.width, warp * WARP + i));
                let next = |old: u64| match (fold, atomic.kind) {
                    (Some(fold), _) => fold(old, b),
                    (None, AtomicKind::CompareAndSwap) if old == b => c,
                    (None, AtomicKind::CompareAndSwap) => old,
                    _ => b,
                };
                let (old, new) = if private {
                    privately(at, atomic.access.bytes, next)
                } else {
                    atomically(at, atomic.access.bytes, next)
                };
                let unused = 64 - 8 * atomic.access.bytes;
                changes += u64::from((new ^ old) << unused != 0);
                if let Some([d, _]) = atomic.d {
                    file.set_element(d, atomic.width, warp * WARP + i, old);
                }
            }
        }
    }
    reach.changes += changes;
}

/// The old value and the new one, of bytes that nobody else reaches.
///
/// # Safety
/// 2, 4 or 8 aligned bytes must be readable and writable.
#[inline(always)]
unsafe fn privately(at: *mut u8, bytes: u32, next: impl Fn(u64) -> u64) -> (u64, u64) {
    macro_rules! replaced {
        ($atomic:ident, $int:ident) => {{
            let at = $atomic::from_ptr(at.cast());
            let old = u64::from(at.load(Ordering::Relaxed));
            let new = next(old);
            at.store(new as $int, Ordering::Relaxed);
            (old, new)
        }};
    }
    // SAFETY: the caller promises aligned bytes.
    unsafe {
        match bytes {
            8 => replaced!(AtomicU64, u64),
            4 => replaced!(AtomicU32, u32),
            _ => replaced!(AtomicU16, u16),
        }
    }
}

/// The old value and the new one, of bytes that other cores may reach.
///
/// # Safety
/// As for [`privately`].
#[inline(always)]
unsafe fn atomically(at: *mut u8, bytes: u32, next: impl Fn(u64) -> u64) -> (u64, u64) {
    let order = Ordering::SeqCst;
    let mut new = 0;
    let mut after = |old: u64| {
        new = next(old);
        new
    };
    // SAFETY: the caller promises aligned bytes.
    let old = unsafe {
        match bytes {
            8 => AtomicU64::from_ptr(at.cast()).fetch_update(order, order, |old| Some(after(old))).unwrap_or_default(),
            4 => u64::from(
                AtomicU32::from_ptr(at.cast())
                    .fetch_update(order, order, |old| Some(after(u64::from(old)) as u32))
                    .unwrap_or_default(),
            ),
            _ => u64::from(
                AtomicU16::from_ptr(at.cast())
                    .fetch_update(order, order, |old| Some(after(u64::from(old)) as u16))
                    .unwrap_or_default(),
            ),
        }
    };
    (old, new)
}

/// The atomics of a warp's active threads, each checked by itself.
///
/// # Safety
/// As for [`each_warp`].
#[inline(never)]
unsafe fn far_away(reach: &mut Reach, atomic: &Atomic, warp: usize, active: &[u8; WARP]) -> Result<(), WarpFault> {
    {
        // SAFETY: the mask has a byte for each thread; slots are columns of the atomic's width; `far` has checked the addresses for all
        // bytes of the access, and that they are aligned, as is the memory that they belong to.
        unsafe {
            let pointers = reach.far(&atomic.access, warp, active, AccessKind::Atomic)?;
            let seen = reach.shadow.is_some().then(|| reach.addresses(&atomic.access, warp));
            let mut releases = false;
            for i in (0..WARP).filter(|i| active[*i] != 0) {
                let at = pointers[i];
                let touch = seen
                    .as_ref()
                    .and_then(|seen| reach.touch(&atomic.access, seen[i], warp * WARP + i, AccessKind::Atomic))
                    .map(|touch| Touch { swaps: matches!(atomic.kind, AtomicKind::CompareAndSwap), ..touch });
                if let Some(touch) = &touch {
                    reach.observe(touch);
                    if let (Some(shadow), None) = (&mut reach.shadow, atomic.mbarrier) {
                        shadow.will_write(touch);
                    }
                    releases |= touch.order.semantics.releases();
                }
                if atomic.access.bytes == 16 {
                    wide(reach, atomic, warp, i, at);
                    if let (Some(shadow), Some(touch)) = (&mut reach.shadow, &touch) {
                        shadow.has_read(touch);
                        shadow.has_written(touch);
                    }
                    continue;
                }
                let element = |slot| match atomic.width {
                    Width::Double => (*reach.file.column::<u64>(slot).warp(warp))[i],
                    _ => u64::from((*reach.file.column::<u32>(slot).warp(warp))[i]),
                };
                let [b, c] = atomic.sources.map(|[slot, _]| element(slot));
                let (start, shared_len) = (reach.shared, reach.shared_len);
                let next = |old: u64| match atomic.kind {
                    AtomicKind::Fold(f) => f(old, b),
                    AtomicKind::FoldByPlace { shared, global } => {
                        let offset = (at as usize).wrapping_sub(start as usize) as u64;
                        if offset < shared_len { shared(old, b) } else { global(old, b) }
                    }
                    AtomicKind::Exchange => b,
                    AtomicKind::CompareAndSwap => {
                        if old == b {
                            c
                        } else {
                            old
                        }
                    }
                };
                let (old, new) = atomically(at, atomic.access.bytes, next);
                let unused = 64 - 8 * atomic.access.bytes;
                reach.changes += u64::from((new ^ old) << unused != 0);
                if let (Some(shadow), Some(touch)) = (&mut reach.shadow, &touch) {
                    match atomic.mbarrier {
                        Some(usage) => shadow.mbarrier(touch, usage, mbarrier::is_complete(next(old), old)),
                        None => {
                            shadow.has_read(touch);
                            shadow.has_written(touch);
                        }
                    }
                }
                if let Some([d, _]) = atomic.d {
                    match atomic.width {
                        Width::Double => (*reach.file.column::<u64>(d).warp(warp))[i] = old,
                        _ => (*reach.file.column::<u32>(d).warp(warp))[i] = old as u32,
                    }
                }
            }
            if let (Some(shadow), true) = (&mut reach.shadow, releases) {
                shadow.tick(warp);
            }
        }
    }
    Ok(())
}

/// `atom.cas.b128` and `atom.exch.b128`: registers of two doubles each.
///
/// # Safety
/// As for [`atomic`]; `at` must have been checked for 16 bytes.
unsafe fn wide(reach: &mut Reach, atomic: &Atomic, warp: usize, lane: usize, at: *mut u8) {
    let _one = WIDE.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
    // SAFETY: slots of an atomic of 128 bits are columns of doubles, and the caller has checked 16 bytes. Cores that make such an atomic
    // exclude one another by the lock.
    unsafe {
        let half = |slot| &mut (*reach.file.column::<u64>(slot).warp(warp))[lane];
        let value = |[low, high]: [Slot; 2]| u128::from(*half(low)) | u128::from(*half(high)) << 64;
        let [b, c] = atomic.sources.map(value);
        // Other accesses to the same bytes are relaxed ones of eight bytes at most.
        let halves = [0, 8].map(|offset| AtomicU64::from_ptr(at.add(offset).cast()));
        let [low, high] = halves.map(|half| u128::from(half.load(Ordering::Relaxed)));
        let old = low | high << 64;
        let new = match atomic.kind {
            AtomicKind::CompareAndSwap if old == b => c,
            AtomicKind::CompareAndSwap => old,
            _ => b,
        };
        halves[0].store(new as u64, Ordering::Relaxed);
        halves[1].store((new >> 64) as u64, Ordering::Relaxed);
        reach.changes += u64::from(new != old);
        if let Some([low, high]) = atomic.d {
            *half(low) = old as u64;
            *half(high) = (old >> 64) as u64;
        }
    }
}
