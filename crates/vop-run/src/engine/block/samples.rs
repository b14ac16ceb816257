//! Samples: computed before a block, and whether what its steps rely on holds.
//!
//! The decoder explains them, in `decode/sample.rs`.

#![allow(unsafe_code, reason = "samples stand in columns, which are raw memory")]

use super::groups::{Running, count};
use super::storage::{self, Columns};
use crate::code::{Claim, Guard, Op, Sampled};
use crate::column::{Area, File, HALF, MAX_LANES, Slot, Width, sample_count, sampled_thread};
use crate::engine::access::{Moves, Reach};
use crate::engine::launch::Launch;
use crate::error::RunError;
use crate::level::{Level, leveled};

/// All samples of a block are computed.
const ALL: [u8; sample_count(MAX_LANES)] = [0xff; sample_count(MAX_LANES)];

/// The samples of a worker's blocks.
#[derive(Debug)]
pub(super) struct Samples<'l> {
    sampled: &'l Sampled,
    #[allow(dead_code, reason = "the file points to its memory")]
    values: Columns,
    /// Samples of the thread's area.
    #[allow(dead_code, reason = "the file points to its memory")]
    thread_area: Columns,
    /// The columns that samples are computed with.
    file: File,
}

impl<'l> Samples<'l> {
    /// The samples of a launch that uses them. `block_area` is where constants stand.
    pub(super) fn new(
        launch: &Launch<'l>,
        reach: &mut Reach,
        block_area: *mut u8,
    ) -> Result<Option<Samples<'l>>, RunError> {
        let (kernel, lanes) = (launch.kernel, reach.lanes);
        let Some(sampled) = launch.sampled else { return Ok(None) };
        let count = sample_count(lanes);
        let mut values = Columns::new(launch, sampled.bytes as usize * count, "samples")?;
        let mut thread_area = Columns::new(launch, launch.thread_bytes() * count, "samples")?;
        for (special, slot, _) in kernel.specials.iter().filter(|(special, ..)| special.is_of_thread()) {
            let column = &mut thread_area.bytes_mut()[slot.offset() as usize * count..];
            for (sample, word) in column.chunks_exact_mut(4).enumerate().take(count) {
                let value = launch.special_of(*special, sampled_thread(sample, lanes));
                word.copy_from_slice(&value.to_le_bytes());
            }
        }
        let mut file = File::of_samples(lanes);
        file.bases[Area::Thread as usize] = thread_area.as_mut_ptr();
        file.bases[Area::Block as usize] = block_area;
        file.bases[Area::Samples as usize] = values.as_mut_ptr();
        reach.file.bases[Area::Samples as usize] = values.as_mut_ptr();
        Ok(Some(Samples { sampled, values, thread_area, file }))
    }

    /// Computes the samples that are the same for all blocks.
    pub(super) fn compute_once(&self, reach: &mut Reach, moves: &Moves) {
        self.compute(&self.sampled.once, reach, moves);
    }

    fn compute(&self, ops: &[Op], reach: &mut Reach, moves: &Moves) {
        let file = std::mem::replace(&mut reach.file, self.file);
        for op in ops {
            match op {
                // SAFETY: the slots are those of constants, special registers and samples, for which the file was laid out.
                Op::Compute { run, operands, .. } => unsafe { run(&reach.file, operands, std::ptr::null()) },
                Op::Load(load) => {
                    // SAFETY: the destinations are samples, for which the file was laid out, and no block has more samples than the mask.
                    let loaded = unsafe { moves.load(reach, load, ALL.as_ptr()) };
                    debug_assert!(loaded.is_ok(), "parameters are there");
                }
                _ => debug_assert!(false, "nothing else is computed from samples"),
            }
        }
        reach.file = file;
    }

    /// Writes the numbers of blocks that run as one, from that of the first one on.
    pub(super) fn set_ctaids(&self, launch: &Launch<'_>, first: [u32; 3]) {
        let (base, length) = (self.file.bases[Area::Thread as usize], self.file.scales[Area::Thread as usize]);
        let (halves, per_block) = (launch.lanes / HALF, launch.shape.lanes() / HALF);
        // SAFETY: the thread's area has samples of all that the launch has there: the first ones of all halves, then the last ones.
        unsafe { storage::set_ctaids(launch, first, base, length, &[0, halves], per_block) }
    }

    /// Computes the samples of a block. Returns whether what the steps rely on holds.
    pub(super) fn hold(&self, reach: &mut Reach, moves: &Moves, level: Level) -> bool {
        self.compute(&self.sampled.each, reach, moves);
        // SAFETY: the decoder laid the claims' slots out for samples of their widths, and a launch's level is one that this CPU has.
        unsafe { broken(level)(&self.file, &self.sampled.claims, reach.lanes / HALF) == 0 }
    }
}

leveled! {
    /// Bits that are all zero if some claims hold. Their slots must have been laid out for samples of their widths in this file, which has two
    /// for each half.
    fn broken(file: &File, claims: &[Claim], halves: usize) -> u64 {
        // SAFETY: callers promise the slots.
        claims.iter().fold(0, |broken, claim| broken | unsafe { broken_of(file, *claim, halves) })
    }
}

/// The bits of one claim.
///
/// # Safety
/// As for the claims of [`broken`].
#[inline(always)]
unsafe fn broken_of(file: &File, claim: Claim, halves: usize) -> u64 {
    // SAFETY: the caller promises the slot.
    unsafe {
        match claim {
            Claim::Straight(slot, stride) => {
                let length = (i64::from(stride) * (HALF as i64 - 1)) as u64;
                fold_halves::<u64>(file, slot, halves, |first, last| last.wrapping_sub(first) ^ length)
            }
            Claim::Ordered { slot, width: Width::Word, signed, falls } => {
                let flip = u32::from(signed) << 31 ^ if falls { u32::MAX } else { 0 };
                fold_halves::<u32>(file, slot, halves, |first, last| u64::from(first ^ flip > last ^ flip))
            }
            Claim::Ordered { slot, signed, falls, .. } => {
                let flip = u64::from(signed) << 63 ^ if falls { u64::MAX } else { 0 };
                fold_halves::<u64>(file, slot, halves, |first, last| u64::from(first ^ flip > last ^ flip))
            }
            Claim::Flat(slot) => fold_halves::<u8>(file, slot, halves, |first, last| u64::from(first ^ last)),
        }
    }
}

/// All bits of what `f` makes of the first and the last sample of each half.
///
/// # Safety
/// The slot must have been laid out for samples of this type.
#[inline(always)]
unsafe fn fold_halves<T: Copy>(file: &File, slot: Slot, halves: usize, f: impl Fn(T, T) -> u64) -> u64 {
    let column = file.column_of_samples::<T>(slot);
    // SAFETY: the caller promises a column of this type, which has two samples for each half: the first ones, then the last ones.
    let [firsts, lasts] = unsafe { [0, halves].map(|at| std::slice::from_raw_parts(column.add(at), halves)) };
    firsts.iter().zip(lasts).fold(0, |all, (first, last)| all | f(*first, *last))
}

impl Running {
    /// Where a guard is true whose predicate samples give, in `guard`; returns the number of threads.
    #[inline(never)]
    pub(super) fn guarded_by_samples(&mut self, file: &File, guard: Guard) -> u32 {
        let flip = if guard.when { 0 } else { 0xff };
        let halves = self.mask.len() / HALF;
        // SAFETY: the decoder laid the slot out for samples of predicates, of which there is one for each half.
        let firsts = unsafe { std::slice::from_raw_parts(file.column_of_samples::<u8>(guard.slot), halves) };
        let differ = firsts.iter().fold(0, |differ, p| differ | (p ^ firsts[0]));
        if differ == 0 {
            return if firsts[0] == flip { 0 } else { self.active };
        }
        let of_halves = self.guard.chunks_exact_mut(HALF).zip(self.mask.chunks_exact(HALF));
        for ((guard, mask), p) in of_halves.zip(firsts) {
            for (guard, mask) in guard.iter_mut().zip(mask) {
                *guard = (p ^ flip) & mask;
            }
        }
        count(&self.guard)
    }
}
