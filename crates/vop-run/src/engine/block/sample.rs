//! Samples: computed before a block, and whether what its steps rely on holds. See [`decode::sample`](crate::decode::sample).

use super::*;

impl<'l> Worker<'l> {
    /// Executes operations with samples for threads.
    pub(in crate::engine) fn compute_samples(&mut self, ops: &[Op]) {
        const ALL: [u8; sample_count(MAX_THREADS as usize)] = [0xff; sample_count(MAX_THREADS as usize)];
        let file = std::mem::replace(&mut self.reach.file, self.sample_file);
        for op in ops {
            match op {
                // SAFETY: slots are those of constants, special registers and samples, for which the file was laid out.
                Op::Compute { run, operands, .. } => unsafe { run(&self.reach.file, operands, ALL.as_ptr()) },
                Op::Load(load) => {
                    // SAFETY: as above.
                    let loaded = unsafe { (load.gather)(&mut self.reach, load, ALL.as_ptr()) };
                    debug_assert!(loaded.is_ok(), "parameters are there");
                }
                _ => debug_assert!(false, "nothing else is computed from samples"),
            }
        }
        self.reach.file = file;
    }

    /// The steps for this block: those that rely on samples, if they may.
    pub(in crate::engine) fn sample(&mut self) -> &'l [Step] {
        let launch = self.launch;
        let Some(sampled) = launch.sampled else { return &launch.kernel.steps };
        self.compute_samples(&sampled.each);
        let halves = self.reach.lanes / HALF;
        // SAFETY: the slots were laid out for samples of these widths.
        let broken = sampled.claims.iter().fold(0, |broken, claim| unsafe {
            let file = &self.sample_file;
            broken
                | match *claim {
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
        });
        if broken == 0 { &sampled.steps } else { &launch.kernel.steps }
    }

    /// [`Worker::guarded`] where samples tell the predicate.
    #[inline(never)]
    pub(in crate::engine) fn guarded_by_samples(&mut self, slot: Slot, flip: u8) -> u32 {
        let halves = self.reach.lanes / HALF;
        // SAFETY: the slot was laid out for samples of predicates.
        let firsts = unsafe {
            let column = self.reach.file.column_of_samples::<u8>(slot);
            std::slice::from_raw_parts(column, halves)
        };
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

/// All bits of what `f` makes of the first and the last sample of each half.
///
/// # Safety
/// The slot must have been laid out for samples of this type.
#[inline(always)]
unsafe fn fold_halves<T: std::marker::Copy>(file: &File, slot: Slot, halves: usize, f: impl Fn(T, T) -> u64) -> u64 {
    let column = file.column_of_samples::<T>(slot);
    // SAFETY: the caller's promise.
    let [firsts, lasts] = unsafe { [0, halves].map(|at| std::slice::from_raw_parts(column.add(at), halves)) };
    firsts.iter().zip(lasts).fold(0, |all, (first, last)| all | f(*first, *last))
}
