//! `bar` and `barrier`: threads of a block wait for each other.

use super::block::{Failure, Wait, Worker, count, union};
use super::lanes::{WARP, Width};
use crate::code::{Barrier, BarrierKind, Pc};
use crate::error::{RunError, RunErrorKind};

/// Barriers of a block.
const BARRIERS: usize = 16;

/// Threads that wait at a barrier.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Arrival {
    id: u32,
    /// How many threads it waits for; all if it does not say.
    count: Option<u32>,
    kind: BarrierKind,
    /// Of warps that came in part, the threads that did not come along though they had not ended; empty if there are none.
    absent: Vec<u8>,
}

impl Arrival {
    /// What there is to say where nobody waits elsewhere.
    pub(super) fn lonely(&self) -> String {
        match self.count {
            Some(count) => {
                format!("this thread waits at barrier {} for {count} threads, and not as many come", self.id)
            }
            None => format!("this thread waits at barrier {} for threads that do not come", self.id),
        }
    }
}

/// Threads that arrived at a barrier without waiting (`bar.arrive`), by barrier.
#[derive(Clone, Debug, Default)]
pub(super) struct Arrivals {
    threads: [Vec<u8>; BARRIERS],
}

impl Arrivals {
    /// Before a block starts.
    pub(super) fn clear(&mut self) {
        self.threads.iter_mut().for_each(Vec::clear);
    }
}

impl Worker<'_> {
    /// Threads reach a barrier; false if the running group waits now.
    pub(super) fn barrier(&mut self, pc: Pc, barrier: &Barrier, mask: Vec<u8>) -> Result<bool, Failure> {
        let first = self.first(&mask);
        // SAFETY: both are columns of words.
        let of = |worker: &Self, thread| unsafe {
            let id = worker.element(barrier.id, Width::Word, thread) as u32;
            (id, barrier.count.map(|slot| worker.element(slot, Width::Word, thread) as u32))
        };
        let (id, threads) = of(self, first);
        let wrong = |worker: &Self, message: String| {
            Err(worker.fail(RunError::new(RunErrorKind::Deadlock, message), first, pc))
        };
        if id as usize >= BARRIERS {
            return wrong(self, format!("barrier {id}: a block has {BARRIERS}, numbered from 0"));
        }
        if let Some(threads) = threads
            && (threads == 0 || threads % WARP as u32 != 0)
        {
            return wrong(self, format!("a barrier for {threads} threads: it must be a multiple of {WARP}, and not 0"));
        }
        // Threads that name another barrier go there on their own.
        let mut same = mask.clone();
        for (t, same) in same.iter_mut().enumerate() {
            if *same != 0 && of(self, t) != (id, threads) {
                *same = 0;
            }
        }
        if same != mask {
            let mut rest = mask;
            for (rest, same) in rest.iter_mut().zip(&same) {
                *rest &= !same;
            }
            let others = count(&rest);
            self.undo(pc, &rest, others, true);
            self.take_out(&rest, others);
            self.park(self.frame, pc, rest, Wait::Ready);
        }
        let active = count(&same);
        if barrier.kind == BarrierKind::Arrive {
            let threads = &mut self.barriers.threads[id as usize];
            if threads.is_empty() {
                threads.resize(same.len(), 0);
            }
            union(threads, &same);
            self.release(id)?;
            return Ok(true);
        }
        let whole = active == self.live_count && barrier.kind == BarrierKind::Sync && threads.is_none();
        if whole && self.parked.is_empty() && self.barriers.threads[id as usize].is_empty() {
            if let Some(shadow) = &mut self.reach.shadow {
                shadow.barrier();
            }
            return Ok(true);
        }
        let absent = if barrier.aligned { self.absent(&same) } else { Vec::new() };
        let arrival = Arrival { id, count: threads, kind: barrier.kind, absent };
        let others = self.take_out(&same, active);
        self.park(self.frame, pc + 1, same, Wait::Barrier(arrival));
        self.release(id)?;
        Ok(others)
    }

    /// Of the warps that a mask has in part: the threads that are not in it and have not ended.
    fn absent(&self, mask: &[u8]) -> Vec<u8> {
        let mut absent = vec![0; mask.len()];
        let mut any = false;
        for warp in (0..mask.len()).step_by(WARP) {
            if mask[warp..warp + WARP].iter().any(|m| *m != 0) {
                for t in warp..warp + WARP {
                    absent[t] = self.live[t] & !mask[t];
                    any |= absent[t] != 0;
                }
            }
        }
        if any { absent } else { Vec::new() }
    }

    /// Lets the threads at a barrier go on if all have come that it waits for; whether that is so.
    pub(super) fn release(&mut self, id: u32) -> Result<bool, Failure> {
        let here = |wait: &Wait| matches!(wait, Wait::Barrier(arrival) if arrival.id == id);
        if !self.parked.iter().any(|group| here(&group.wait)) {
            return Ok(false);
        }
        let mut arrived = self.barriers.threads[id as usize].clone();
        arrived.resize(self.live.len(), 0);
        let mut expected = None;
        for group in self.parked.iter().filter(|group| here(&group.wait)) {
            union(&mut arrived, &group.mask);
            if let Wait::Barrier(arrival) = &group.wait {
                expected = arrival.count;
            }
        }
        let complete = match expected {
            None => self.live.iter().zip(&arrived).all(|(live, arrived)| live & !arrived == 0),
            // A warp that has come as a whole counts as one, whatever has ended of it.
            Some(expected) => {
                let warps = (0..arrived.len()).step_by(WARP).map(|warp| {
                    let (arrived, live) = (&arrived[warp..warp + WARP], &self.live[warp..warp + WARP]);
                    let whole = live.iter().zip(arrived).all(|(live, arrived)| live & !arrived == 0);
                    if count(arrived) > 0 && whole { WARP as u32 } else { count(arrived) }
                });
                warps.sum::<u32>() >= expected
            }
        };
        if !complete {
            return Ok(false);
        }
        self.check_together(id)?;
        self.reduce(id);
        for group in &mut self.parked {
            if here(&group.wait) {
                group.wait = Wait::Ready;
            }
        }
        self.barriers.threads[id as usize].clear();
        if let Some(shadow) = &mut self.reach.shadow {
            shadow.barrier();
        }
        self.rescan();
        Ok(true)
    }

    /// `bar` asks that all threads of a warp execute it together: whoever was left behind must have come to the same one since. Threads
    /// that have ended are not missed: compilers make one of `if (i < n) { … barrier … }` and of a return before the barrier, and GPUs
    /// take both.
    fn check_together(&self, id: u32) -> Result<(), Failure> {
        for group in &self.parked {
            let Wait::Barrier(arrival) = &group.wait else { continue };
            if arrival.id != id || arrival.absent.is_empty() {
                continue;
            }
            for t in (0..arrival.absent.len()).filter(|t| arrival.absent[*t] != 0) {
                let came = self.parked.iter().any(|other| {
                    other.mask[t] != 0 && other.pc == group.pc && matches!(&other.wait, Wait::Barrier(a) if a.id == id)
                });
                if !came && self.live[t] != 0 {
                    let message = format!(
                        "a barrier in divergent code: this thread waits at it, and {} of the same warp went another way",
                        self.thread_id(t)
                    );
                    let error = RunError::new(RunErrorKind::DivergentBarrier, message);
                    let help =
                        "move the barrier out of the condition, or make the condition the same for the whole warp";
                    let together = group.mask.iter().enumerate().skip(t / WARP * WARP).find(|(_, m)| **m != 0);
                    let thread = together.map_or(0, |(thread, _)| thread);
                    return Err(self.fail(error.with_help(help), thread, group.pc - 1));
                }
            }
        }
        Ok(())
    }

    /// `bar.red`: the predicates of all that wait at a barrier, into each one's destination.
    fn reduce(&mut self, id: u32) {
        let waiting: Vec<usize> = (0..self.parked.len())
            .filter(|i| matches!(&self.parked[*i].wait, Wait::Barrier(arrival) if arrival.id == id))
            .collect();
        let predicate = |kind| match kind {
            BarrierKind::Count { p, .. } | BarrierKind::All { p, .. } | BarrierKind::Any { p, .. } => Some(p),
            _ => None,
        };
        let kind_of = |worker: &Self, i: usize| match &worker.parked[i].wait {
            Wait::Barrier(arrival) => arrival.kind,
            _ => BarrierKind::Sync,
        };
        if waiting.iter().all(|i| predicate(kind_of(self, *i)).is_none()) {
            return;
        }
        let home = self.frame;
        let (mut yes, mut all) = (0u64, 0u64);
        for &i in &waiting {
            let (frame, mask) = (self.parked[i].frame, self.parked[i].mask.clone());
            self.enter_again(frame);
            if let Some(p) = predicate(kind_of(self, i)) {
                for t in (0..mask.len()).filter(|t| mask[*t] != 0) {
                    // SAFETY: it is a column of predicates.
                    yes += unsafe { self.element(p, Width::Predicate, t) };
                    all += 1;
                }
            }
        }
        for &i in &waiting {
            let (frame, mask) = (self.parked[i].frame, self.parked[i].mask.clone());
            self.enter_again(frame);
            let (d, width, value) = match kind_of(self, i) {
                BarrierKind::Count { d, .. } => (d, Width::Word, yes),
                BarrierKind::All { d, .. } => (d, Width::Predicate, u64::from(yes == all)),
                BarrierKind::Any { d, .. } => (d, Width::Predicate, u64::from(yes > 0)),
                _ => continue,
            };
            for t in (0..mask.len()).filter(|t| mask[*t] != 0) {
                // SAFETY: it was laid out for this width.
                unsafe { self.set_element(d, width, t, value) };
            }
        }
        self.enter_again(home);
    }

    /// Where nothing runs: barriers that wait only for threads that have ended, and warps whose lanes are all there.
    pub(super) fn release_waiting(&mut self) -> Result<bool, Failure> {
        if self.gather_warps() {
            return Ok(true);
        }
        for id in 0..BARRIERS as u32 {
            if self.release(id)? {
                return Ok(true);
            }
        }
        Ok(false)
    }
}
