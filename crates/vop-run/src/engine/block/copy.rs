//! `cp.async`: made at once, a thread after another.

#![allow(unsafe_code, reason = "columns and the kernel's memory are raw memory")]

use super::groups::threads;
use super::{Failure, Worker};
use crate::code::{Access, AsyncCopy, Pc};
use crate::column::{WARP, Width};
use crate::engine::shadow::AccessKind;
use crate::memory::Fault;

impl Worker<'_> {
    pub(super) fn async_copy(&mut self, pc: Pc, copy: &AsyncCopy, mask: &[u8]) -> Result<(), Failure> {
        for thread in threads(mask) {
            let to = self.copy_one(copy, thread).map_err(|fault| self.faulted(fault, thread, pc))?;
            if let Some(shadow) = &mut self.reach.shadow {
                let (mut active, mut pointers) = ([0; WARP], [0; WARP]);
                (active[thread % WARP], pointers[thread % WARP]) = (0xff, to as usize);
                shadow.statement = self.launch.kernel.steps[pc as usize].statement;
                let (shared, size) = (self.reach.shared as usize, copy.to.bytes as usize);
                let seen = shadow.observe(shared, size, thread / WARP, &active, &pointers, AccessKind::Write);
                seen.map_err(|fault| self.access_failed((thread / WARP, fault), pc))?;
            }
        }
        Ok(())
    }

    /// Copies a thread's bytes; returns where they are now.
    fn copy_one(&self, copy: &AsyncCopy, thread: usize) -> Result<*mut u8, Fault> {
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
        let (to, from, bytes) = (address(&copy.to), address(&copy.from), u64::from(size));
        let to = reach.resolve(copy.to.space, to, bytes, thread, true)?;
        if from & (bytes - 1) != 0 {
            return Err(Fault::Misaligned { address: from, bytes });
        }
        // No more is read than is asked for: the source may end there.
        let mut source = [0u8; 16];
        for i in 0..wanted {
            let byte = reach.resolve(copy.from.space, from + u64::from(i), 1, thread, false)?;
            // SAFETY: `resolve` has checked the byte.
            source[i as usize] = unsafe { byte.read() };
        }
        // SAFETY: `resolve` has checked `size` bytes, which are 16 at most, and `source` is not the kernel's memory.
        unsafe { source.as_ptr().copy_to_nonoverlapping(to, size as usize) };
        Ok(to)
    }
}
