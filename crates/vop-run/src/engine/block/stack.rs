//! `alloca`, `stacksave` and `stackrestore`: a function's part of the stack changes while it is executed.
//!
//! Each thread's part ends at a place of its own. What is called starts behind all of them, so that threads which call together share
//! a frame.

#![allow(unsafe_code, reason = "operands stand in columns, which are raw memory")]

use super::groups::threads;
use super::{Failure, Worker};
use crate::code::{GRANULE, Pc, StackChange};
use crate::column::{Slot, Width};
use crate::error::{RunError, RunErrorKind};

impl Worker<'_> {
    pub(super) fn change_stack(&mut self, pc: Pc, change: &StackChange, mask: &[u8]) -> Result<(), Failure> {
        let frame = self.running.frame;
        match *change {
            StackChange::Grow { d, bytes, width, align } => {
                let mut ends = Vec::new();
                for thread in threads(mask) {
                    let bytes = self.element(bytes, width, thread);
                    let top = self.frames.top_of(frame, thread);
                    let start = u64::from(top).next_multiple_of(u64::from(align));
                    let end = start.checked_add(bytes).and_then(|end| end.checked_next_multiple_of(GRANULE as u64));
                    let limit = self.launch.stack_limit as u64;
                    let Some(end) = end.filter(|end| *end <= limit) else {
                        let message = format!(
                            "stack overflow: `alloca` of {bytes} bytes, and {top} of the {limit} bytes of the thread's stack are taken"
                        );
                        let error = RunError::new(RunErrorKind::StackOverflow, message)
                            .with_help("check the number of bytes; `--stack` sets the limit");
                        return Err(self.fail(error, thread, pc));
                    };
                    // SAFETY: the decoder laid the slot out for this width.
                    unsafe { self.reach.file.set_element(d, width, thread, start) };
                    ends.push((thread, end as u32));
                }
                self.frames.set_tops(frame, &ends);
                self.enter(frame)
            }
            StackChange::Save { d, width } => {
                for thread in threads(mask) {
                    let top = self.frames.top_of(frame, thread);
                    // SAFETY: the decoder laid the slot out for this width.
                    unsafe { self.reach.file.set_element(d, width, thread, u64::from(top)) };
                }
                Ok(())
            }
            StackChange::Restore { saved, width } => {
                let least = u64::from(self.frames.least_top(frame));
                let mut ends = Vec::new();
                for thread in threads(mask) {
                    let end = self.element(saved, width, thread);
                    let top = u64::from(self.frames.top_of(frame, thread));
                    // The bytes of all threads are laid out in granules.
                    if !(least..=top).contains(&end) || !end.is_multiple_of(GRANULE as u64) {
                        let message = format!("{end:#x} is no place where the function's part of the stack has ended");
                        let error = RunError::new(RunErrorKind::OutOfBounds, message)
                            .with_help("`stackrestore` takes what `stacksave` gave in the same call of the function");
                        return Err(self.fail(error, thread, pc));
                    }
                    ends.push((thread, end as u32));
                }
                self.frames.set_tops(frame, &ends);
                self.enter(frame)
            }
        }
    }

    fn element(&self, slot: Slot, width: Width, thread: usize) -> u64 {
        // SAFETY: callers pass a slot that the decoder laid out for this width.
        unsafe { self.reach.file.element(slot, width, thread) }
    }
}
