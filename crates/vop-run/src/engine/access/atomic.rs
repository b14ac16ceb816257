//! Atomics: a thread after another.

#![allow(unsafe_code, reason = "columns and the kernel's memory are raw memory")]

use std::sync::Mutex;
use std::sync::atomic::{AtomicU16, AtomicU32, AtomicU64, Ordering};

use super::{Reach, WarpFault};
use crate::code::{Atomic, AtomicKind};
use crate::column::{Slot, WARP, Width, none};
use crate::engine::findings::AccessKind;
use crate::engine::shadow::Touch;
use crate::pure::mbarrier;

/// Atomics of 128 bits exclude one another.
static WIDE: Mutex<()> = Mutex::new(());

/// An atomic for all active threads, one after another.
///
/// # Safety
/// The atomic must have been decoded for the file that `reach` has; the mask must have a byte for each thread, 0 or 0xff.
pub(in crate::engine) unsafe fn atomic(reach: &mut Reach, atomic: &Atomic, mask: *const u8) -> Result<(), WarpFault> {
    for warp in 0..reach.file.warps {
        // SAFETY: the mask has a byte for each thread; slots are columns of the atomic's width; `far` has checked the addresses for all
        // bytes of the access, and that they are aligned, as is the memory that they belong to.
        unsafe {
            let active = &*mask.add(warp * WARP).cast::<[u8; WARP]>();
            if none(active) {
                continue;
            }
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
                let order = Ordering::SeqCst;
                let mut new = 0;
                let mut after = |old: u64| {
                    new = next(old);
                    new
                };
                // The address is aligned, and so is what it stands in.
                let old = match atomic.access.bytes {
                    8 => AtomicU64::from_ptr(at.cast())
                        .fetch_update(order, order, |old| Some(after(old)))
                        .unwrap_or_default(),
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
                };
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
