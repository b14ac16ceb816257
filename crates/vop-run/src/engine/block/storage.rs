//! The memory that a worker keeps from block to block: columns, stack, shared memory.

#![allow(unsafe_code, reason = "cache lines are seen as bytes, special registers are written to columns")]

use super::frames::Frame;
use crate::code::FunctionCode;
use crate::column::{Area, WARP, Width};
use crate::engine::access::Reach;
use crate::engine::launch::Launch;
use crate::memory::Bytes;

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
    /// At least this many bytes, all zero.
    pub(super) fn new(bytes: usize) -> Columns {
        let mut columns = Columns::default();
        columns.grow(bytes);
        columns
    }

    /// Makes room; the content stays, but may stand elsewhere afterwards.
    fn grow(&mut self, bytes: usize) {
        if self.lines.len() * 64 < bytes {
            self.lines.resize(bytes.div_ceil(64), Line([0; 64]));
        }
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
#[derive(Clone, Copy, Debug)]
pub(super) struct Overflow;

/// What operands and addresses of a block stand in. [`Reach`] has pointers to it.
#[derive(Debug)]
pub(super) struct Storage {
    /// Predicates, words, doubles.
    registers: [Columns; 3],
    thread_area: Columns,
    block_area: Columns,
    stack: Columns,
    shared: Bytes,
}

impl Storage {
    pub(super) fn new(launch: &Launch<'_>, reach: &mut Reach) -> Storage {
        let (kernel, lanes) = (launch.kernel, reach.lanes);
        let mut storage = Storage {
            registers: Default::default(),
            thread_area: Columns::new(kernel.thread_bytes as usize * lanes),
            block_area: Columns::new(kernel.constants.len()),
            stack: Columns::default(),
            shared: Bytes::zeros(launch.shape.shared()),
        };
        storage.block_area.bytes_mut()[..kernel.constants.len()].copy_from_slice(&kernel.constants);
        for (special, slot, _) in kernel.specials.iter().filter(|(special, ..)| special.is_of_thread()) {
            let column = &mut storage.thread_area.bytes_mut()[slot.offset() as usize * lanes..];
            for (thread, word) in column.chunks_exact_mut(4).enumerate().take(launch.threads) {
                word.copy_from_slice(&special.of_thread(thread, &launch.shape).to_le_bytes());
            }
        }
        reach.shared = storage.shared.as_mut_ptr();
        reach.file.bases[Area::Thread as usize] = storage.thread_area.as_mut_ptr();
        reach.file.bases[Area::Block as usize] = storage.block_area.as_mut_ptr();
        storage
    }

    /// The constants and special registers that all threads of a block share.
    pub(super) fn block_area(&mut self) -> *mut u8 {
        self.block_area.as_mut_ptr()
    }

    /// A new block: stack and shared memory are zero.
    pub(super) fn start(&mut self) {
        if self.shared.len() > 0 {
            self.shared.as_mut_slice().fill(0);
        }
        self.stack.bytes_mut().fill(0);
    }

    /// Makes a frame the one that slots and the stack are relative to. Columns of callers stay.
    pub(super) fn enter(
        &mut self,
        reach: &mut Reach,
        frame: &Frame,
        function: &FunctionCode,
        stack_limit: usize,
    ) -> Result<(), Overflow> {
        let lanes = reach.lanes;
        let mut total = 0;
        for area in 0..3 {
            let bytes = (frame.registers[area] + function.registers[area]) as usize * lanes;
            total += bytes;
            if total <= MAX_REGISTERS {
                self.registers[area].grow(bytes);
            }
            let start = frame.registers[area] as usize * lanes;
            reach.file.bases[area] = self.registers[area].as_mut_ptr().wrapping_add(start);
        }
        if total > MAX_REGISTERS || frame.top as usize > stack_limit {
            return Err(Overflow);
        }
        self.stack.grow(frame.top as usize * lanes);
        reach.local = self.stack.as_mut_ptr();
        reach.frame = u64::from(frame.stack);
        reach.top = u64::from(frame.top);
        Ok(())
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
