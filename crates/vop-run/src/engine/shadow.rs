//! Shadow memory: the last accesses of each byte of shared memory, for checks on request: reads of bytes that nothing wrote, and races.
//!
//! Two accesses race if two threads make them on the same byte, one of them writes, not both are atomic, and no barrier stands
//! between them. Any barrier of the block orders all; `bar.warp.sync` and the exchanges of a warp order that warp's threads.

use super::access::{LaneFault, Problem};
use crate::column::WARP;

/// What to check of shared memory.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct SharedChecks {
    pub(crate) races: bool,
    pub(crate) uninitialized: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum AccessKind {
    Read,
    Write,
    Atomic,
}

/// One access as it is remembered.
#[derive(Clone, Copy, Debug, Default)]
struct Past {
    /// The thread, plus one; 0 for none.
    thread: u16,
    atomic: bool,
    statement: u32,
    /// The number of times that the thread's warp had synchronised.
    epoch: u32,
}

#[derive(Clone, Copy, Debug, Default)]
struct Byte {
    written: bool,
    write: Past,
    /// The last read, the last one of another warp, and the last one of another thread of the same warp. If a write
    /// races with any read, it races with one of these.
    reads: [Past; 3],
}

/// A problem that was found.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Finding {
    Uninitialized { offset: usize },
    Race { offset: usize, other: usize, statement: u32, writes: bool },
}

#[derive(Debug)]
pub(crate) struct Shadow {
    checks: SharedChecks,
    bytes: Vec<Byte>,
    /// By warp: the number of times that it has synchronised.
    epochs: Vec<u32>,
    /// The statement that is being executed.
    pub(crate) statement: u32,
}

impl Shadow {
    pub(crate) fn new(checks: SharedChecks, bytes: usize, warps: usize) -> Shadow {
        Shadow { checks, bytes: vec![Byte::default(); bytes], epochs: vec![0; warps], statement: 0 }
    }

    /// A new block: nothing is written, nothing was accessed.
    pub(crate) fn start(&mut self) {
        self.bytes.fill(Byte::default());
        self.epochs.fill(0);
    }

    /// A barrier of the block.
    pub(crate) fn barrier(&mut self) {
        for byte in &mut self.bytes {
            *byte = Byte { written: byte.written, ..Byte::default() };
        }
    }

    /// A barrier of a warp.
    pub(crate) fn warp_barrier(&mut self, warp: usize) {
        self.epochs[warp] += 1;
    }

    /// Looks at a warp's access of `size` bytes a thread. Accesses outside of shared memory are ignored.
    pub(crate) fn observe(
        &mut self,
        shared: usize,
        size: usize,
        warp: usize,
        active: &[u8; WARP],
        pointers: &[usize; WARP],
        kind: AccessKind,
    ) -> Result<(), LaneFault> {
        for i in (0..WARP).filter(|i| active[*i] != 0) {
            let offset = pointers[i].wrapping_sub(shared);
            if offset >= self.bytes.len() {
                continue;
            }
            for offset in offset..(offset + size).min(self.bytes.len()) {
                if let Some(finding) = self.byte(offset, warp * WARP + i, kind) {
                    return Err((i, Problem::Shadow(finding)));
                }
            }
        }
        Ok(())
    }

    fn byte(&mut self, offset: usize, thread: usize, kind: AccessKind) -> Option<Finding> {
        let warp = thread / WARP;
        let now = Past {
            thread: thread as u16 + 1,
            atomic: kind == AccessKind::Atomic,
            statement: self.statement,
            epoch: self.epochs[warp],
        };
        let byte = &mut self.bytes[offset];
        if self.checks.uninitialized && kind != AccessKind::Write && !byte.written {
            return Some(Finding::Uninitialized { offset });
        }
        if self.checks.races {
            let races = |past: &Past| {
                past.thread != 0
                    && past.thread != now.thread
                    && !(past.atomic && now.atomic)
                    && (usize::from(past.thread - 1) / WARP != warp || past.epoch == now.epoch)
            };
            let found = |past: &Past, writes| Finding::Race {
                offset,
                other: usize::from(past.thread - 1),
                statement: past.statement,
                writes,
            };
            if races(&byte.write) {
                return Some(found(&byte.write, true));
            }
            if kind != AccessKind::Read
                && let Some(past) = byte.reads.iter().find(|past| races(past))
            {
                return Some(found(past, false));
            }
        }
        if kind == AccessKind::Read {
            let last = byte.reads[0];
            if last.thread != 0 && last.thread != now.thread {
                if usize::from(last.thread - 1) / WARP == warp {
                    byte.reads[2] = last;
                } else {
                    byte.reads[1] = last;
                    byte.reads[2] = Past::default();
                }
            }
            byte.reads[0] = now;
        } else {
            byte.written = true;
            byte.write = now;
        }
        None
    }
}
