//! Which group runs: they part, wait, and meet again.

use super::*;

impl Worker<'_> {
    /// The place in the kernel that frame and step stand for: where the kernel is, or where it called from.
    pub(in crate::engine) fn place_in_kernel(&self, frame: u32, pc: Pc) -> u64 {
        let frame = &self.frames[frame as usize];
        if frame.depth == 0 { self.place(pc) } else { frame.place_in_kernel }
    }

    /// What orders the places of one function.
    #[inline(always)]
    pub(in crate::engine) fn place(&self, pc: Pc) -> u64 {
        u64::from(self.launch.kernel.ranks[pc as usize]) << 32 | u64::from(pc)
    }

    /// Which of two places is behind: by the kernel's own places first, then by those of the functions called there.
    pub(in crate::engine) fn compare(&self, a: (u32, Pc), b: (u32, Pc)) -> std::cmp::Ordering {
        let depth = |frame: u32| self.frames[frame as usize].depth;
        let caller = |(frame, _): (u32, Pc)| {
            let frame = &self.frames[frame as usize];
            (frame.parent, frame.call)
        };
        // Up to the frame that both have in common; there they are at different steps, or one is in the call that the other is at.
        let (mut x, mut y) = (a, b);
        while x.0 != y.0 {
            if depth(x.0) >= depth(y.0) {
                let shallower = depth(x.0) > depth(y.0);
                x = caller(x);
                if shallower {
                    continue;
                }
            }
            y = caller(y);
        }
        self.place(x.1).cmp(&self.place(y.1)).then(depth(a.0).cmp(&depth(b.0)))
    }

    /// Parks threads.
    pub(in crate::engine) fn park(&mut self, frame: u32, pc: Pc, mask: Vec<u8>, wait: Wait) {
        let active = count(&mask);
        debug_assert!(active > 0);
        self.stamp += 1;
        if wait == Wait::Ready {
            self.ready += 1;
            self.lowest = self.lowest.min(self.place_in_kernel(frame, pc));
        }
        self.parked.push(Group { frame, pc, mask, active, wait, stamp: self.stamp });
    }

    /// What is kept about parked groups, from scratch.
    pub(in crate::engine) fn rescan(&mut self) {
        let ready = self.parked.iter().filter(|group| group.wait == Wait::Ready);
        self.ready = ready.clone().count();
        self.lowest = ready.map(|group| self.place_in_kernel(group.frame, group.pc)).min().unwrap_or(u64::MAX);
    }

    /// Lets the parked group that is furthest behind run; false if none can.
    pub(in crate::engine) fn resume(&mut self) -> bool {
        if self.ready == 0 {
            return false;
        }
        let ready = (0..self.parked.len()).filter(|i| self.parked[*i].wait == Wait::Ready);
        let at = |i: usize| (self.parked[i].frame, self.parked[i].pc);
        match ready.min_by(|a, b| self.compare(at(*a), at(*b)).then(self.parked[*a].stamp.cmp(&self.parked[*b].stamp)))
        {
            Some(i) => {
                self.resume_group(i);
                true
            }
            None => false,
        }
    }

    pub(in crate::engine) fn resume_group(&mut self, index: usize) {
        let group = self.parked.swap_remove(index);
        self.pc = group.pc;
        self.mask.copy_from_slice(&group.mask);
        self.active = group.active;
        self.enter_again(group.frame);
        self.merge();
        self.rescan();
    }

    /// Takes in the parked groups that are where the running one is.
    pub(in crate::engine) fn merge(&mut self) {
        let (frame, pc) = (self.frame, self.pc);
        let mut i = 0;
        while i < self.parked.len() {
            let group = &self.parked[i];
            if group.wait == Wait::Ready && group.frame == frame && group.pc == pc {
                let group = self.parked.swap_remove(i);
                union(&mut self.mask, &group.mask);
                self.active += group.active;
            } else {
                i += 1;
            }
        }
    }

    /// At a join, with other groups that could run: meets those that are here, and lets those run that are behind.
    #[inline(never)]
    pub(in crate::engine) fn meet(&mut self) {
        self.turns += 1;
        if self.turns > self.patience {
            self.turns = 0;
            // Where it is needed it is needed often: a lock is taken by one thread after the other.
            self.patience = (self.patience / 2).max(PATIENCE.1);
            // The others in the order in which they were parked.
            let ready = (0..self.parked.len()).filter(|i| self.parked[*i].wait == Wait::Ready);
            if let Some(oldest) = ready.min_by_key(|i| self.parked[*i].stamp) {
                self.park(self.frame, self.pc, self.mask.clone(), Wait::Ready);
                self.resume_group(oldest);
                self.free = self.patience;
                return;
            }
        }
        if self.place_in_kernel(self.frame, self.pc) < self.lowest {
            return;
        }
        let before = self.parked.len();
        self.merge();
        if self.parked.len() != before {
            self.rescan();
        }
        if self.free > 0 {
            self.free -= 1;
            return;
        }
        let here = (self.frame, self.pc);
        let behind = self.parked.iter().any(|group| {
            group.wait == Wait::Ready && self.compare((group.frame, group.pc), here) == std::cmp::Ordering::Less
        });
        if behind {
            self.park(self.frame, self.pc, self.mask.clone(), Wait::Ready);
            self.resume();
        }
    }

    /// Parts the running group: those whose guard is true go to `target`. Whoever is behind goes on.
    #[inline(never)]
    pub(in crate::engine) fn part(&mut self, target: Pc) {
        let taken = self.guard.clone();
        let mut rest = self.mask.clone();
        for (rest, taken) in rest.iter_mut().zip(&taken) {
            *rest &= !taken;
        }
        if let Some(observer) = &mut self.observer {
            observer.parted(self.pc - 1);
        }
        let (here, there) = ((self.frame, self.pc), (self.frame, target));
        let (stay, park) = if self.compare(here, there).is_lt() {
            ((here.1, rest), (there.1, taken))
        } else {
            ((there.1, taken), (here.1, rest))
        };
        self.park(self.frame, park.0, park.1, Wait::Ready);
        self.pc = stay.0;
        self.active = count(&stay.1);
        self.mask = stay.1;
    }

    /// Takes threads out of the running group; true if some are left.
    pub(in crate::engine) fn take_out(&mut self, mask: &[u8], active: u32) -> bool {
        for (own, gone) in self.mask.iter_mut().zip(mask) {
            *own &= !gone;
        }
        self.active -= active;
        self.active > 0
    }

    /// The end of threads; true if the running group has others.
    pub(in crate::engine) fn end(&mut self, mask: Vec<u8>, active: u32) -> Result<bool, Failure> {
        for (live, gone) in self.live.iter_mut().zip(&mask) {
            *live &= !gone;
        }
        self.live_count -= active;
        let others = self.take_out(&mask, active);
        // Whoever waited only for these need not wait until nothing else can run.
        if self.parked.len() > self.ready {
            self.release_waiting()?;
        }
        Ok(others)
    }

    pub(in crate::engine) fn branch_indexed(
        &mut self,
        pc: Pc,
        index: Slot,
        targets: &[Pc],
        mask: Vec<u8>,
    ) -> Result<bool, Failure> {
        let mut left = mask.clone();
        let gone = count(&mask);
        let others = self.take_out(&mask, gone);
        if others {
            let (frame, pc, mask) = (self.frame, self.pc, self.mask.clone());
            self.park(frame, pc, mask, Wait::Ready);
        }
        while let Some(thread) = left.iter().position(|m| *m != 0) {
            // SAFETY: the index is a column of words.
            let value = unsafe { self.element(index, Width::Word, thread) };
            let Some(target) = usize::try_from(value).ok().and_then(|i| targets.get(i)) else {
                let message = format!("index {value} of a list of {} targets", targets.len());
                return Err(self.fail(RunError::new(RunErrorKind::OutOfBounds, message), thread, pc));
            };
            let mut taken = vec![0; left.len()];
            for t in 0..left.len() {
                // SAFETY: as above.
                if left[t] != 0 && unsafe { self.element(index, Width::Word, t) } == value {
                    (taken[t], left[t]) = (0xff, 0);
                }
            }
            self.park(self.frame, *target, taken, Wait::Ready);
        }
        Ok(false)
    }
}
