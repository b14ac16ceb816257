//! The memory that a worker keeps from block to block: columns, stack, shared memory.

#![allow(unsafe_code, reason = "cache lines are seen as bytes, special registers are written to columns")]

use super::frames::Frame;
use crate::code::{FunctionCode, GRANULE};
use crate::column::{Area, WARP, Width};
use crate::engine::access::Reach;
use crate::engine::launch::Launch;
use crate::error::RunError;
use crate::level::leveled;
use crate::memory::{Bytes, refused};

/// Bytes of a block's registers, at most: 2 GiB.
const MAX_REGISTERS: usize = 2 << 30;

/// A cache line.
#[derive(Clone, Copy, Debug)]
#[repr(C, align(64))]
struct Line([u8; 64]);

/// Bytes that can grow, aligned to cache lines, so that no vector instruction crosses one.
#[derive(Debug, Default)]
pub(super) struct Columns {
    lines: Vec<Line>,
}

impl Columns {
    /// At least this many bytes, all zero. `what` names them if there is no memory for them.
    pub(super) fn new(launch: &Launch<'_>, bytes: usize, what: &str) -> Result<Columns, RunError> {
        let mut columns = Columns::default();
        columns.grow(launch, bytes, what)?;
        Ok(columns)
    }

    /// Makes room; the content stays, but may stand elsewhere afterwards. Returns the number of new bytes.
    fn grow(&mut self, launch: &Launch<'_>, bytes: usize, what: &str) -> Result<usize, RunError> {
        let (old, new) = (self.lines.len(), bytes.div_ceil(64));
        if new <= old {
            return Ok(0);
        }
        let more = (new - old) * 64;
        launch.memory.take(more as u64, what)?;
        self.lines.try_reserve(new - old).map_err(|_| refused(more as u64, what))?;
        self.lines.resize(new, Line([0; 64]));
        Ok(more)
    }

    pub(super) fn as_mut_ptr(&mut self) -> *mut u8 {
        self.lines.as_mut_ptr().cast()
    }

    pub(super) fn bytes_mut(&mut self) -> &mut [u8] {
        // SAFETY: the lines are 64 bytes each, without padding, and are borrowed for as long as the slice.
        unsafe { std::slice::from_raw_parts_mut(self.lines.as_mut_ptr().cast(), self.lines.len() * 64) }
    }
}

/// Why a frame cannot be entered.
#[derive(Debug)]
pub(super) enum Overflow {
    /// A thread's stack is too small.
    Stack,
    /// There is not enough memory.
    Memory(RunError),
}

/// What operands and addresses of a block stand in. [`Reach`] has pointers to it.
#[derive(Debug)]
pub(super) struct Storage {
    /// Predicates, words, doubles.
    registers: [Columns; 3],
    thread_area: Columns,
    block_area: Columns,
    stack: Columns,
    /// Bytes of the stack that the block has used.
    used: usize,
    shared: Bytes,
}

impl Storage {
    pub(super) fn new(launch: &Launch<'_>, reach: &mut Reach) -> Result<Storage, RunError> {
        let (kernel, lanes) = (launch.kernel, reach.lanes);
        let shared = launch.shape.shared();
        launch.memory.take(shared as u64, "shared memory")?;
        let mut storage = Storage {
            registers: Default::default(),
            thread_area: Columns::new(launch, launch.thread_bytes() * lanes, "special registers")?,
            block_area: Columns::new(launch, kernel.constants.len(), "constants")?,
            stack: Columns::default(),
            used: 0,
            shared: Bytes::try_zeros(shared).ok_or_else(|| refused(shared as u64, "shared memory"))?,
        };
        storage.block_area.bytes_mut()[..kernel.constants.len()].copy_from_slice(&kernel.constants);
        for (special, slot, _) in kernel.specials.iter().filter(|(special, ..)| special.is_of_thread()) {
            let column = &mut storage.thread_area.bytes_mut()[slot.offset() as usize * lanes..];
            for (thread, word) in column.chunks_exact_mut(4).enumerate().take(launch.threads) {
                word.copy_from_slice(&launch.special_of(*special, thread).to_le_bytes());
            }
        }
        reach.shared = storage.shared.as_mut_ptr();
        reach.file.bases[Area::Thread as usize] = storage.thread_area.as_mut_ptr();
        reach.file.bases[Area::Block as usize] = storage.block_area.as_mut_ptr();
        Ok(storage)
    }

    /// The constants and special registers that all threads of a block share.
    pub(super) fn block_area(&mut self) -> *mut u8 {
        self.block_area.as_mut_ptr()
    }

    /// A new block: stack and shared memory are zero. Returns the number of bytes that were set.
    pub(super) fn start(&mut self, launch: &Launch<'_>) -> usize {
        if self.shared.len() > 0 {
            self.shared.as_mut_slice().fill(0);
        }
        let used = std::mem::take(&mut self.used);
        if used > 0 {
            // A large stack takes long enough to be interrupted.
            let used = used.min(self.stack.lines.len() * 64);
            for chunk in self.stack.bytes_mut()[..used].chunks_mut(8 << 20) {
                if launch.is_stopped() {
                    break;
                }
                chunk.fill(0);
            }
        }
        self.shared.len() + used
    }

    /// Hashes registers, stack and shared memory; returns the number of bytes.
    pub(super) fn hash(&mut self, hasher: &mut impl std::hash::Hasher) -> usize {
        let used = self.used.min(self.stack.lines.len() * 64);
        let mut bytes = used + self.shared.len();
        for columns in &mut self.registers {
            let columns = columns.bytes_mut();
            bytes += columns.len();
            hasher.write(columns);
        }
        hasher.write(&self.stack.bytes_mut()[..used]);
        hasher.write(self.shared.as_slice());
        bytes
    }

    /// Makes a frame the one that slots and the stack are relative to. Columns of callers stay. Returns the number of bytes that are new.
    pub(super) fn enter(
        &mut self,
        reach: &mut Reach,
        frame: &Frame,
        function: &FunctionCode,
        launch: &Launch<'_>,
    ) -> Result<usize, Overflow> {
        let lanes = reach.lanes;
        let (mut total, mut new) = (0, 0);
        for area in 0..3 {
            let bytes = (frame.registers[area] + function.registers[area]) as usize * lanes;
            total += bytes;
            if total <= MAX_REGISTERS {
                new += self.registers[area].grow(launch, bytes, "registers").map_err(Overflow::Memory)?;
            }
            let start = frame.registers[area] as usize * lanes;
            reach.file.bases[area] = self.registers[area].as_mut_ptr().wrapping_add(start);
        }
        if total > MAX_REGISTERS || frame.top as usize > launch.stack_limit {
            return Err(Overflow::Stack);
        }
        let top = (frame.top as usize).next_multiple_of(GRANULE) * lanes;
        new += self.stack.grow(launch, top, "stacks").map_err(Overflow::Memory)?;
        self.used = self.used.max(top);
        reach.local = self.stack.as_mut_ptr();
        reach.frame = u64::from(frame.stack);
        reach.top = u64::from(frame.top);
        Ok(new)
    }
}

/// Writes the special registers that all threads of a block share: those that differ between blocks, or the others.
pub(super) fn set_block_specials(launch: &Launch<'_>, reach: &Reach, ctaid: [u32; 3], that_differ: bool) {
    let specials = launch.kernel.specials.iter();
    let wanted = specials.filter(|(special, ..)| !special.is_of_thread() && special.is_of_block() == that_differ);
    for &(special, slot, width) in wanted {
        let value = special.of_block(ctaid, &launch.shape);
        // SAFETY: the decoder laid the slot out in the block's area for one warp's elements of this width.
        unsafe {
            match width {
                Width::Double => *reach.file.column::<u64>(slot).warp(0) = [u64::from(value); WARP],
                _ => *reach.file.column::<u32>(slot).warp(0) = [value; WARP],
            }
        }
    }
}

/// Writes the blocks' numbers for blocks that run as one: `per_block` elements of a column for each block from `index` on, at every start.
///
/// # Safety
/// There must be a column for each place of `%ctaid` that the launch has, of `length` words, at the bases. The starts are elements of it.
pub(super) unsafe fn set_ctaids(
    launch: &Launch<'_>,
    first: [u32; 3],
    base: *mut u8,
    length: usize,
    starts: &[usize],
    per_block: usize,
) {
    // SAFETY: the caller promises the column, and a launch's level is one that this CPU has.
    unsafe { fill_ctaids(launch.kernel.level)(launch, first, base, length, starts, per_block) }
}

leveled! {
    /// What [`set_ctaids`] does.
    fn fill_ctaids(
        launch: &Launch<'_>,
        first: [u32; 3],
        base: *mut u8,
        length: usize,
        starts: &[usize],
        per_block: usize,
    ) {
        let Some(merged) = launch.merged else { return };
        let mut ctaid = first;
        for block in 0..launch.at_once {
            for &(axis, slot) in &merged.ctaids {
                for start in starts {
                    let at = slot.offset() as usize / 4 * length + start + block * per_block;
                    // SAFETY: the caller promises the column; each block has its part of it.
                    unsafe {
                        let first = base.cast::<u32>().add(at);
                        match per_block {
                            1 => first.write(ctaid[axis]),
                            _ => std::slice::from_raw_parts_mut(first, per_block).fill(ctaid[axis]),
                        }
                    }
                }
            }
            ctaid = launch.shape.next_ctaid(ctaid);
        }
    }
}
