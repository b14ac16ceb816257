//! `cp.async`: made at once, a thread after another.

#![allow(unsafe_code, reason = "columns and the kernel's memory are raw memory")]

use std::sync::atomic::{AtomicU32, Ordering};

use super::groups::threads;
use super::{Failure, Worker};
use crate::code::{Access, AsyncCopy, Order, Pc};
use crate::column::{WARP, Width};
use crate::engine::access::peek;
use crate::engine::findings::AccessKind;
use crate::engine::shadow::Touch;
use crate::memory::Fault;

impl Worker<'_> {
    pub(super) fn async_copy(&mut self, pc: Pc, copy: &AsyncCopy, mask: &[u8]) -> Result<(), Failure> {
        self.reach.tell_shadow(self.launch.kernel.steps[pc as usize].statement);
        let mut last = None;
        for thread in threads(mask) {
            let copied = self.copy_one(copy, thread).map_err(|fault| self.faulted(fault, thread, pc))?;
            let reach = &mut self.reach;
            let read = reach.touch(&copy.from, copied.from, thread, AccessKind::Read);
            let written = reach.touch(&copy.to, copied.to, thread, AccessKind::Write);
            let Some(shadow) = &mut reach.shadow else { continue };
            // Lanes of a warp copy together.
            let is_new = last.replace(thread / WARP) != Some(thread / WARP);
            let number = shadow.copy(thread, is_new);
            let of =
                |touch, bytes| Touch { bytes, element: bytes, copy: Some(number), order: Order::default(), ..touch };
            let read = read.map(|touch| of(touch, copied.read));
            let written = written.map(|touch| of(touch, u64::from(copy.to.bytes)));
            for touch in read.into_iter().filter(|touch| touch.bytes > 0).chain(written) {
                shadow.observe(&mut reach.findings, &touch);
            }
        }
        Ok(())
    }

    /// Copies a thread's bytes; returns the addresses.
    fn copy_one(&self, copy: &AsyncCopy, thread: usize) -> Result<Copied, Fault> {
        let reach = &self.reach;
        let address = |access: &Access| {
            let base = match access.width {
                // SAFETY: the decoder laid the base out for this width.
                Width::Word | Width::Double => unsafe { reach.file.element(access.base, access.width, thread) },
                _ => 0,
            };
            base.wrapping_add(access.offset).wrapping_add(if access.in_frame { reach.frame } else { 0 })
        };
        let size = copy.to.bytes;
        // SAFETY: the decoder laid the number of bytes out as a word.
        let wanted = copy.source_bytes.map(|slot| unsafe { reach.file.element(slot, Width::Word, thread) } as u32);
        let wanted = wanted.unwrap_or(size).min(size);
        let (to_address, from, bytes) = (address(&copy.to), address(&copy.from), u64::from(size));
        let to = reach.resolve(copy.to.space, to_address, bytes, thread, true)?;
        if from & (bytes - 1) != 0 {
            return Err(Fault::Misaligned { address: from, bytes });
        }
        // No more is read than is asked for: the source may end there.
        let mut source = [0u8; 16];
        for i in 0..wanted {
            let byte = reach.resolve(copy.from.space, from + u64::from(i), 1, thread, false)?;
            // SAFETY: `resolve` has checked the byte.
            source[i as usize] = unsafe { peek(byte, 1) } as u8;
        }
        for (i, word) in source[..size as usize].as_chunks().0.iter().enumerate() {
            // SAFETY: `resolve` has checked `size` bytes, a multiple of four as the pointer is.
            unsafe { AtomicU32::from_ptr(to.cast::<u32>().add(i)) }.store(u32::from_le_bytes(*word), Ordering::Relaxed);
        }
        Ok(Copied { from, read: u64::from(wanted), to: to_address })
    }
}

/// What a thread copied: the addresses, and how many bytes it read.
struct Copied {
    from: u64,
    read: u64,
    to: u64,
}
