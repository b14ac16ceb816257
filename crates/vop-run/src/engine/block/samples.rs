//! Samples: computed before a block, and whether what its steps rely on holds.
//!
//! The decoder explains them, in `decode/sample.rs`.

#![allow(unsafe_code, reason = "samples stand in columns, which are raw memory")]

use super::groups::{Running, count};
use super::storage::{self, Columns};
use crate::code::{Claim, Guard, Op, Read, Sampled};
use crate::column::{Area, File, HALF, MAX_LANES, Slot, WARP, Width, sample_count, sampled_thread};
use crate::engine::access::{Moves, Reach};
use crate::engine::launch::Launch;
use crate::error::RunError;
use crate::level::leveled;
use crate::special::Special;

/// All samples of a block are computed.
const ALL: [u8; sample_count(MAX_LANES / HALF)] = [0xff; sample_count(MAX_LANES / HALF)];

/// Threads of a row from which on samples of rows pay.
const LEAST_ROW: usize = 4 * HALF;

/// The samples of a worker's blocks.
#[derive(Debug)]
pub(super) struct Samples<'l> {
    sampled: &'l Sampled,
    /// What steps read.
    halves: Rows,
    /// Where rows of a block are longer than half a warp: samples of rows, which give those of halves. A block of 256 threads in one row has two
    /// instead of 32.
    rows: Option<Rows>,
    /// See [`distances`]; empty without rows.
    distances: Vec<u64>,
    /// Blocks for which those were computed, and those where what the steps rely on did not hold for whole rows.
    tried: u64,
    failed: u64,
}

/// Samples of rows of threads.
#[derive(Debug)]
struct Rows {
    #[allow(dead_code, reason = "the file points to its memory")]
    values: Columns,
    /// Samples of the thread's area.
    #[allow(dead_code, reason = "the file points to its memory")]
    thread_area: Columns,
    /// The columns that samples are computed with.
    file: File,
    /// The number of rows, and of the threads of each.
    count: usize,
    threads: usize,
}

impl Rows {
    /// Samples of rows of so many threads. `block_area` is where constants stand.
    fn new(launch: &Launch<'_>, sampled: &Sampled, threads: usize, block_area: *mut u8) -> Result<Rows, RunError> {
        let rows = launch.lanes / threads;
        let count = sample_count(rows);
        let mut values = Columns::new(launch, sampled.bytes as usize * count, "samples")?;
        let mut thread_area = Columns::new(launch, launch.thread_bytes() * count, "samples")?;
        for (special, slot, _) in launch.kernel.specials.iter().filter(|(special, ..)| special.is_of_thread()) {
            let column = &mut thread_area.bytes_mut()[slot.offset() as usize * count..];
            for (sample, word) in column.chunks_exact_mut(4).enumerate().take(count) {
                let value = launch.special_of(*special, sampled_thread(sample, rows, threads));
                word.copy_from_slice(&value.to_le_bytes());
            }
        }
        let mut file = File::of_samples(rows);
        file.bases[Area::Thread as usize] = thread_area.as_mut_ptr();
        file.bases[Area::Block as usize] = block_area;
        file.bases[Area::Samples as usize] = values.as_mut_ptr();
        Ok(Rows { values, thread_area, file, count: rows, threads })
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

    /// Computes what differs between blocks; `ctaid` is the number of the first of those that run as one. Returns whether what the steps rely on
    /// holds.
    fn hold(&self, sampled: &Sampled, launch: &Launch<'_>, ctaid: [u32; 3], reach: &mut Reach, moves: &Moves) -> bool {
        let (base, length) = (self.file.bases[Area::Thread as usize], self.file.scales[Area::Thread as usize]);
        let per_block = self.count / launch.at_once;
        // SAFETY: the thread's area has samples of all that the launch has there: the first ones of all rows, then the last ones.
        unsafe { storage::set_ctaids(launch, ctaid, base, length, &[0, self.count], per_block) }
        self.compute(&sampled.each, reach, moves);
        // SAFETY: the decoder laid the claims' slots out for samples of their widths, and a launch's level is one that this CPU has.
        unsafe { broken(launch.kernel.level)(&self.file, &sampled.claims, self.count, self.threads) == 0 }
    }
}

impl<'l> Samples<'l> {
    /// The samples of a launch that uses them. `block_area` is where constants stand.
    pub(super) fn new(
        launch: &Launch<'l>,
        reach: &mut Reach,
        block_area: *mut u8,
    ) -> Result<Option<Samples<'l>>, RunError> {
        let Some(sampled) = launch.sampled else { return Ok(None) };
        let halves = Rows::new(launch, sampled, HALF, block_area)?;
        reach.file.bases[Area::Samples as usize] = halves.file.bases[Area::Samples as usize];
        let threads = launch.shape.row();
        let has_long_rows =
            threads >= LEAST_ROW && threads.is_multiple_of(HALF) && launch.lanes.is_multiple_of(threads);
        // No lines over more than a warp.
        let of_warps = |special: &Special| matches!(special, Special::Laneid | Special::Warpid);
        let has_other_lines = launch.kernel.specials.iter().any(|(special, ..)| of_warps(special));
        let rows = (has_long_rows && !has_other_lines).then(|| Rows::new(launch, sampled, threads, block_area));
        let halves_of_rows = if rows.is_some() { launch.lanes / HALF } else { 0 };
        let distances = distances(&sampled.read, halves_of_rows);
        Ok(Some(Samples { sampled, halves, rows: rows.transpose()?, distances, tried: 0, failed: 0 }))
    }

    /// Computes the samples that are the same for all blocks.
    pub(super) fn compute_once(&self, reach: &mut Reach, moves: &Moves) {
        for rows in std::iter::once(&self.halves).chain(&self.rows) {
            rows.compute(&self.sampled.once, reach, moves);
        }
    }

    /// Computes the samples of a block, or of those that run as one from this number on. Returns whether what the steps rely on holds.
    pub(super) fn hold(&mut self, launch: &Launch<'_>, ctaid: [u32; 3], reach: &mut Reach, moves: &Moves) -> bool {
        // Blocks at the end of the data are mostly few. Of a launch where they are not, as the data has short rows, halves are all.
        const FREE: u64 = 8;
        if let Some(rows) = self.rows.as_ref().filter(|_| self.failed <= FREE + self.tried / 4) {
            self.tried += 1;
            if rows.hold(self.sampled, launch, ctaid, reach, moves) {
                // SAFETY: the decoder laid the slots out for samples of their widths, and a launch's level is one that this CPU has.
                unsafe {
                    spread(launch.kernel.level)(
                        &rows.file,
                        &self.halves.file,
                        &self.sampled.read,
                        &self.distances,
                        rows.count,
                    )
                };
                return true;
            }
            self.failed += 1;
        }
        self.halves.hold(self.sampled, launch, ctaid, reach, moves)
    }
}

/// How far the values of so many halves that follow one another are from that of the first thread, for each of what steps read.
fn distances(read: &[Read], halves: usize) -> Vec<u64> {
    let of_read = |read: &Read| {
        let stride = i64::from(read.stride);
        (0..halves).map(move |half| (half * HALF) as u64).map(move |ahead| ahead.wrapping_mul(stride as u64))
    };
    read.iter().flat_map(of_read).collect()
}

leveled! {
    /// Writes samples of halves from those of `count` rows.
    fn spread(rows: &File, halves: &File, read: &[Read], distances: &[u64], count: usize) {
        let of_each = distances.len() / read.len().max(1);
        for (read, distances) in read.iter().zip(distances.chunks_exact(of_each.max(1))) {
            // SAFETY: callers promise the slots.
            unsafe {
                match read.width {
                    Width::Word => spread_column(rows, halves, read, distances, count, |from: u32, ahead| {
                        from.wrapping_add(ahead as u32)
                    }),
                    Width::Double => spread_column(rows, halves, read, distances, count, u64::wrapping_add),
                    _ => spread_column(rows, halves, read, distances, count, |from: u8, _| from),
                }
            }
        }
    }
}

/// What [`spread`] does with a slot: `plus` gives the value at a distance from another.
///
/// # Safety
/// The slot must have been laid out for samples of this type.
#[inline(always)]
unsafe fn spread_column<T: Copy + PartialEq>(
    rows: &File,
    halves: &File,
    read: &Read,
    distances: &[u64],
    count: usize,
    plus: impl Fn(T, u64) -> T,
) {
    // SAFETY: the caller promises columns of this type, which have a sample for each row and for each half, and at least a warp of samples.
    let (from, to) = unsafe {
        let from = std::slice::from_raw_parts(rows.column_of_samples::<T>(read.slot).cast_const(), count);
        let to = halves.column_of_samples::<T>(read.slot);
        (from, std::slice::from_raw_parts_mut(to, distances.len().max(WARP)))
    };
    let per_row = distances.len() / count;
    if read.uniform {
        // Any warp may read these as its own.
        return to.fill(from[0]);
    }
    // Mostly the rows follow one another as the halves of each do: one loop for all of them is faster than one for each.
    let first = from[0];
    let expected = distances.iter().step_by(per_row).map(|distance| plus(first, *distance));
    if from.iter().zip(expected).all(|(from, expected)| *from == expected) {
        for (to, distance) in to.iter_mut().zip(distances) {
            *to = plus(first, *distance);
        }
        return;
    }
    for (from, to) in from.iter().zip(to.chunks_exact_mut(per_row)) {
        for (to, distance) in to.iter_mut().zip(distances) {
            *to = plus(*from, *distance);
        }
    }
}

leveled! {
    /// Bits that are all zero if some claims hold. Their slots must have been laid out for samples of their widths in this file, which has two
    /// for each of `count` rows of so many threads.
    fn broken(file: &File, claims: &[Claim], count: usize, threads: usize) -> u64 {
        // SAFETY: callers promise the slots.
        claims.iter().fold(0, |broken, claim| broken | unsafe { broken_of(file, *claim, count, threads) })
    }
}

/// The bits of one claim.
///
/// # Safety
/// As for the claims of [`broken`].
#[inline(always)]
unsafe fn broken_of(file: &File, claim: Claim, count: usize, threads: usize) -> u64 {
    // SAFETY: the caller promises the slot.
    unsafe {
        match claim {
            Claim::Straight(slot, stride) => {
                let length = (i64::from(stride) * (threads as i64 - 1)) as u64;
                fold_rows::<u64>(file, slot, count, |first, last| last.wrapping_sub(first) ^ length)
            }
            Claim::Ordered { slot, width: Width::Word, signed, falls } => {
                let flip = u32::from(signed) << 31 ^ if falls { u32::MAX } else { 0 };
                fold_rows::<u32>(file, slot, count, |first, last| u64::from(first ^ flip > last ^ flip))
            }
            Claim::Ordered { slot, signed, falls, .. } => {
                let flip = u64::from(signed) << 63 ^ if falls { u64::MAX } else { 0 };
                fold_rows::<u64>(file, slot, count, |first, last| u64::from(first ^ flip > last ^ flip))
            }
            Claim::Flat(slot) => fold_rows::<u8>(file, slot, count, |first, last| u64::from(first ^ last)),
        }
    }
}

/// All bits of what `f` makes of the first and the last sample of each row.
///
/// # Safety
/// The slot must have been laid out for samples of this type.
#[inline(always)]
unsafe fn fold_rows<T: Copy>(file: &File, slot: Slot, count: usize, f: impl Fn(T, T) -> u64) -> u64 {
    let column = file.column_of_samples::<T>(slot);
    // SAFETY: the caller promises a column of this type, which has two samples for each row: the first ones, then the last ones.
    let [firsts, lasts] = unsafe { [0, count].map(|at| std::slice::from_raw_parts(column.add(at), count)) };
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
