//! Groups of threads: the one that runs, and those that are parked.

use super::frames::Frames;
use crate::code::Pc;
use crate::engine::access::Reach;
use crate::engine::barrier::Arrival;
use crate::engine::wait::{Polls, Watch};

/// The turns of a loop that a group has before others that could run have theirs: at first, and at least.
const PATIENCE: (u32, u32) = (4096, 16);
/// The turns after which memory that groups wait for is looked at, even if this block has changed none.
const LOOK: u32 = 64;

/// Why a group does not run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(in crate::engine) enum Wait {
    /// It could run.
    Ready,
    /// It is behind a barrier's step.
    Barrier(Arrival),
    /// It is before a step that other lanes of the warp must come to.
    Warp,
    /// It is in a loop that waits for memory to change, before the step that reads it or behind a pause.
    Poll(Watch),
}

/// Threads at one position that are parked.
#[derive(Clone, Debug)]
pub(in crate::engine) struct Group {
    pub(in crate::engine) frame: u32,
    pub(in crate::engine) pc: Pc,
    /// A byte for each thread of the padded block.
    pub(in crate::engine) mask: Vec<u8>,
    pub(in crate::engine) active: u32,
    pub(in crate::engine) wait: Wait,
    /// What it read in loops.
    pub(in crate::engine) polls: Polls,
    /// When it was parked.
    stamp: u64,
}

/// The threads that run.
#[derive(Clone, Debug)]
pub(in crate::engine) struct Running {
    pub(in crate::engine) frame: u32,
    pub(in crate::engine) pc: Pc,
    /// A byte for each thread of the padded block.
    pub(in crate::engine) mask: Vec<u8>,
    pub(in crate::engine) active: u32,
    /// Where the guard of the current step is true.
    pub(in crate::engine) guard: Vec<u8>,
    /// What it read in loops.
    pub(in crate::engine) polls: Polls,
}

impl Running {
    /// Of a block of `lanes` threads, with padding.
    pub(super) fn new(lanes: usize) -> Running {
        Running { frame: 0, pc: 0, mask: vec![0; lanes], active: 0, guard: vec![0; lanes], polls: Polls::default() }
    }

    /// Takes threads out; true if some are left.
    pub(in crate::engine) fn take_out(&mut self, mask: &[u8], active: u32) -> bool {
        subtract(&mut self.mask, mask);
        self.active -= active;
        self.active > 0
    }
}

/// The threads of a block that have not ended.
#[derive(Clone, Debug)]
pub(in crate::engine) struct Live {
    pub(in crate::engine) mask: Vec<u8>,
    pub(in crate::engine) count: u32,
    /// The number of threads of a new block that has this mask, or 0 if no new block has it. Where all threads of a block end at once, nothing
    /// reads the mask, and it stays for the next block.
    fresh: usize,
}

impl Live {
    /// The first `threads` of `lanes`.
    pub(super) fn new(threads: usize, lanes: usize) -> Live {
        Live {
            mask: (0..lanes).map(|t| if t < threads { 0xff } else { 0 }).collect(),
            count: threads as u32,
            fresh: threads,
        }
    }

    /// All `threads` of a new block.
    pub(super) fn start(&mut self, threads: usize) {
        if self.fresh != threads {
            self.mask[..threads].fill(0xff);
            self.mask[threads..].fill(0);
        }
        (self.count, self.fresh) = (threads as u32, threads);
    }

    /// Threads end.
    pub(super) fn end(&mut self, mask: &[u8], active: u32) {
        self.count -= active;
        if self.count > 0 || active as usize != self.fresh {
            subtract(&mut self.mask, mask);
            self.fresh = 0;
        }
    }

    /// The threads from this one on end.
    pub(super) fn end_from(&mut self, thread: usize) {
        self.mask[thread..].fill(0);
        (self.count, self.fresh) = (count(&self.mask), 0);
    }
}

/// The parked groups of a block.
#[derive(Debug, Default)]
pub(in crate::engine) struct Groups {
    pub(in crate::engine) parked: Vec<Group>,
    /// The number of parked groups that are ready, and the lowest order in the kernel among those.
    ready: usize,
    lowest: u64,
    /// The number of groups that wait for memory to change.
    pub(in crate::engine) sleeping: usize,
    /// The changes of memory by this block when their memory was looked at, and the turns since.
    looked: (u64, u32),
    /// What looking through parked groups has cost.
    pub(in crate::engine) cost: u64,
    stamp: u64,
    turns: u32,
    patience: u32,
    /// Turns for which the running group need not wait for a group that is behind.
    free: u32,
}

impl Groups {
    /// A new block: nothing is parked.
    pub(super) fn start(&mut self) {
        let parked = std::mem::take(&mut self.parked);
        *self = Groups { parked, lowest: u64::MAX, patience: PATIENCE.0, ..Groups::default() };
        self.parked.clear();
    }

    /// Whether a parked group could run, or could if memory had changed.
    #[inline(always)]
    pub(super) fn any_to_meet(&self) -> bool {
        self.ready + self.sleeping != 0
    }

    /// Whether a parked group waits for something.
    pub(super) fn any_waiting(&self) -> bool {
        self.parked.len() > self.ready
    }

    /// Parks threads.
    pub(in crate::engine) fn park(&mut self, frames: &Frames<'_>, frame: u32, pc: Pc, mask: Vec<u8>, wait: Wait) {
        self.park_polling(frames, frame, pc, mask, wait, Polls::default());
    }

    /// Parks threads that keep what they have read in loops.
    pub(in crate::engine) fn park_polling(
        &mut self,
        frames: &Frames<'_>,
        frame: u32,
        pc: Pc,
        mask: Vec<u8>,
        wait: Wait,
        polls: Polls,
    ) {
        let active = count(&mask);
        debug_assert!(active > 0);
        self.stamp += 1;
        self.cost += mask.len() as u64 / 4;
        match wait {
            Wait::Ready => {
                self.ready += 1;
                self.lowest = self.lowest.min(frames.order_in_kernel(frame, pc));
            }
            Wait::Poll(_) => self.sleeping += 1,
            _ => {}
        }
        self.parked.push(Group { frame, pc, mask, active, wait, polls, stamp: self.stamp });
    }

    /// Counts the groups that are ready again, after some were changed.
    pub(in crate::engine) fn rescan(&mut self, frames: &Frames<'_>) {
        let ready = self.parked.iter().filter(|group| group.wait == Wait::Ready);
        self.ready = ready.clone().count();
        self.sleeping = self.parked.iter().filter(|group| matches!(group.wait, Wait::Poll(_))).count();
        self.cost += self.parked.len() as u64 * 4;
        self.lowest = ready.map(|group| frames.order_in_kernel(group.frame, group.pc)).min().unwrap_or(u64::MAX);
    }

    /// Only the first threads stay.
    pub(super) fn keep(&mut self, frames: &Frames<'_>, threads: usize) {
        for group in &mut self.parked {
            group.mask[threads..].fill(0);
            group.active = count(&group.mask);
        }
        self.parked.retain(|group| group.active > 0);
        self.rescan(frames);
    }

    fn ready(&self) -> impl Iterator<Item = usize> {
        (0..self.parked.len()).filter(|i| self.parked[*i].wait == Wait::Ready)
    }

    /// Lets groups run again whose memory has changed, and perhaps those of which it is not known what they wait for; returns whether
    /// there are any.
    pub(in crate::engine) fn wake(&mut self, frames: &Frames<'_>, blind: bool) -> bool {
        self.cost += self.parked.len() as u64 * 8;
        let mut any = false;
        for group in &mut self.parked {
            if let Wait::Poll(watch) = &group.wait
                && (watch.has_changed() || blind && watch.is_blind())
            {
                group.wait = Wait::Ready;
                any = true;
            }
        }
        if any {
            self.rescan(frames);
        }
        any
    }

    /// Lets all groups that wait for memory run for a number of turns, although it has not changed.
    pub(in crate::engine) fn let_all_try(&mut self, frames: &Frames<'_>, turns: u32) {
        for group in &mut self.parked {
            if matches!(group.wait, Wait::Poll(_)) {
                group.wait = Wait::Ready;
                group.polls.granted = turns;
            }
        }
        self.rescan(frames);
    }

    /// The index of the group that is furthest behind of those that could run.
    pub(in crate::engine) fn furthest_behind(&mut self, frames: &Frames<'_>) -> Option<usize> {
        self.cost += self.parked.len() as u64 * 16;
        let at = |i: usize| (self.parked[i].frame, self.parked[i].pc);
        let stamp = |i: usize| self.parked[i].stamp;
        self.ready().min_by(|a, b| frames.compare(at(*a), at(*b)).then(stamp(*a).cmp(&stamp(*b))))
    }

    /// The running group is at a join. Returns the index of a group that must run before it goes on.
    ///
    /// Groups at the same position become one with it. A group that is behind runs first; and after some turns of a loop, the group that has
    /// been parked for the longest time.
    pub(super) fn meet(&mut self, frames: &Frames<'_>, running: &mut Running, reach: &Reach) -> Option<usize> {
        if self.sleeping > 0 {
            self.looked.1 += 1;
            let blind = self.looked.1 > LOOK;
            if self.looked.0 != reach.changes || blind {
                self.looked = (reach.changes, if blind { 0 } else { self.looked.1 });
                self.wake(frames, blind);
            }
        }
        self.turns += 1;
        let patience = if self.ready > 0 { self.patience } else { PATIENCE.0 };
        if self.turns > patience {
            self.turns = 0;
            if self.ready > 0 {
                // Where it is needed it is needed often: threads take a lock one after the other.
                self.patience = (self.patience / 2).max(PATIENCE.1);
            }
            let could = |wait: &Wait| matches!(wait, Wait::Ready | Wait::Poll(_));
            let parked = self.parked.iter().enumerate().filter(|(_, group)| could(&group.wait));
            if let Some((oldest, _)) = parked.min_by_key(|(_, group)| group.stamp) {
                if let Wait::Poll(_) = self.parked[oldest].wait {
                    self.parked[oldest].wait = Wait::Ready;
                    self.parked[oldest].polls.granted = 1;
                    self.rescan(frames);
                }
                self.free = self.patience;
                return Some(oldest);
            }
        }
        if frames.order_in_kernel(running.frame, running.pc) < self.lowest {
            return None;
        }
        let before = self.parked.len();
        self.merge(running);
        if self.parked.len() != before {
            self.rescan(frames);
        }
        if self.free > 0 {
            self.free -= 1;
            return None;
        }
        let here = (running.frame, running.pc);
        let behind = self.furthest_behind(frames)?;
        let group = &self.parked[behind];
        frames.compare((group.frame, group.pc), here).is_lt().then_some(behind)
    }

    /// Makes one group of the running one and of those that are ready at the same position.
    pub(super) fn merge(&mut self, running: &mut Running) {
        let mut i = 0;
        while i < self.parked.len() {
            let group = &self.parked[i];
            if group.wait == Wait::Ready && group.frame == running.frame && group.pc == running.pc {
                let group = self.parked.swap_remove(i);
                union(&mut running.mask, &group.mask);
                running.active += group.active;
                running.polls.granted = running.polls.granted.max(group.polls.granted);
            } else {
                i += 1;
            }
        }
    }

    /// Makes one group of those that wait before the same step for lanes of their warps.
    pub(in crate::engine) fn merge_warps(&mut self) {
        let mut i = 0;
        while i < self.parked.len() {
            let mut j = i + 1;
            while j < self.parked.len() {
                let (a, b) = (&self.parked[i], &self.parked[j]);
                if a.wait == Wait::Warp && b.wait == Wait::Warp && (a.frame, a.pc) == (b.frame, b.pc) {
                    let group = self.parked.swap_remove(j);
                    union(&mut self.parked[i].mask, &group.mask);
                    self.parked[i].active += group.active;
                } else {
                    j += 1;
                }
            }
            i += 1;
        }
    }

    /// Lets threads of a parked group go on at a step. The caller removes groups that have become empty.
    pub(in crate::engine) fn let_go(&mut self, frames: &Frames<'_>, index: usize, pc: Pc, mask: Vec<u8>) {
        let group = &mut self.parked[index];
        subtract(&mut group.mask, &mask);
        group.active -= count(&mask);
        let frame = group.frame;
        self.park(frames, frame, pc, mask, Wait::Ready);
    }

    /// The barrier that a parked group waits at.
    pub(in crate::engine) fn arrival(&self, index: usize) -> Option<&Arrival> {
        match &self.parked[index].wait {
            Wait::Barrier(arrival) => Some(arrival),
            _ => None,
        }
    }

    /// Whether a parked group is in a frame.
    pub(super) fn are_in(&self, frame: u32) -> bool {
        self.parked.iter().any(|group| group.frame == frame)
    }
}

/// The number of threads of a mask.
pub(in crate::engine) fn count(mask: &[u8]) -> u32 {
    mask.iter().map(|m| u32::from(m & 1)).sum()
}

/// The first thread of a mask.
pub(in crate::engine) fn first(mask: &[u8]) -> usize {
    mask.iter().position(|m| *m != 0).unwrap_or(0)
}

/// The threads of a mask.
pub(in crate::engine) fn threads(mask: &[u8]) -> impl Iterator<Item = usize> + Clone {
    (0..mask.len()).filter(|t| mask[*t] != 0)
}

/// Adds the threads of a mask.
pub(in crate::engine) fn union(to: &mut [u8], mask: &[u8]) {
    for (to, m) in to.iter_mut().zip(mask) {
        *to |= m;
    }
}

/// Takes the threads of a mask away.
pub(in crate::engine) fn subtract(from: &mut [u8], mask: &[u8]) {
    for (from, m) in from.iter_mut().zip(mask) {
        *from &= !m;
    }
}
