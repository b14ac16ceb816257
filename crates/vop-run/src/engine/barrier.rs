//! `bar` and `barrier`: threads of a block wait for each other.

#![allow(unsafe_code, reason = "operands stand in columns, which are raw memory")]

use super::block::{Failure, Wait, Worker, count, first, subtract, threads, union};
use crate::code::{Barrier, BarrierKind, Pc};
use crate::column::{Area, WARP, Width};
use crate::error::{RunError, RunErrorKind};

/// The number of barriers of a block.
const BARRIERS: usize = 16;

/// Threads that wait at a barrier.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Arrival {
    id: u32,
    /// The number of threads that it waits for; all if it does not say.
    count: Option<u32>,
    kind: BarrierKind,
    /// The threads of partly arrived warps that did not come along though they had not ended; empty if there are none.
    absent: Vec<u8>,
}

impl Arrival {
    /// The message of a deadlock where no thread waits elsewhere.
    pub(super) fn lonely(&self) -> String {
        match self.count {
            Some(count) => {
                format!("this thread waits at barrier {} for {count} threads, and fewer arrive", self.id)
            }
            None => format!("this thread waits at barrier {} for threads that never arrive", self.id),
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
    /// Whether all threads of the block that have not ended are at a barrier, so that nobody waits, as at most barriers: then there is
    /// nothing to do.
    #[inline(always)]
    pub(super) fn all_are_at(&self, barrier: &Barrier, active: u32) -> bool {
        active == self.live.count
            && barrier.kind == BarrierKind::Sync
            && barrier.count.is_none()
            && self.groups.parked.is_empty()
            && self.reach.shadow.is_none()
            && barrier.id.area() == Area::Block
            && self.is_unused(barrier)
    }

    /// Whether no thread has arrived at a barrier whose number is the same for all threads.
    fn is_unused(&self, barrier: &Barrier) -> bool {
        // SAFETY: the decoder laid the number out as a word, and every block has a thread.
        let id = unsafe { self.reach.file.element(barrier.id, Width::Word, 0) };
        self.barriers.threads.get(id as usize).is_some_and(Vec::is_empty)
    }

    /// Threads reach a barrier; false if the running group waits now.
    pub(super) fn barrier(&mut self, pc: Pc, barrier: &Barrier, mask: Vec<u8>) -> Result<bool, Failure> {
        let (first, file) = (first(&mask), self.reach.file);
        // SAFETY: the decoder laid both out as words.
        let of = |thread| unsafe {
            let id = file.element(barrier.id, Width::Word, thread) as u32;
            (id, barrier.count.map(|slot| file.element(slot, Width::Word, thread) as u32))
        };
        let (id, expected) = of(first);
        let wrong = |worker: &Self, message: String| {
            Err(worker.fail(RunError::new(RunErrorKind::Deadlock, message), first, pc))
        };
        if id as usize >= BARRIERS {
            return wrong(self, format!("barrier {id} does not exist: a block has {BARRIERS}, numbered from 0"));
        }
        if let Some(threads) = expected
            && (threads == 0 || threads % WARP as u32 != 0)
        {
            return wrong(
                self,
                format!("a barrier for {threads} threads: the number must be a multiple of {WARP}, and not 0"),
            );
        }
        // Threads that name another barrier go there by themselves.
        let mut same = mask.clone();
        for (t, same) in same.iter_mut().enumerate() {
            if *same != 0 && of(t) != (id, expected) {
                *same = 0;
            }
        }
        if same != mask {
            let mut rest = mask;
            subtract(&mut rest, &same);
            let others = count(&rest);
            self.undo(pc, &rest, others, true);
            self.running.take_out(&rest, others);
            self.groups.park(&self.frames, self.running.frame, pc, rest, Wait::Ready);
        }
        let active = count(&same);
        if barrier.kind == BarrierKind::Arrive {
            let threads = &mut self.barriers.threads[id as usize];
            if threads.is_empty() {
                threads.resize(same.len(), 0);
            }
            union(threads, &same);
            if let Some(shadow) = &mut self.reach.shadow {
                shadow.arrive(id as usize, super::block::threads(&same));
            }
            if !self.release(id)? {
                self.complete_arrivals(id, expected);
            }
            return Ok(true);
        }
        let whole = active == self.live.count && barrier.kind == BarrierKind::Sync && expected.is_none();
        if whole && self.groups.parked.is_empty() && self.barriers.threads[id as usize].is_empty() {
            if let Some(shadow) = &mut self.reach.shadow {
                shadow.barrier(id as usize, threads(&same));
            }
            return Ok(true);
        }
        if let Some(shadow) = &mut self.reach.shadow {
            shadow.arrive(id as usize, threads(&same));
        }
        let absent = if barrier.aligned { self.absent(&same) } else { Vec::new() };
        let arrival = Arrival { id, count: expected, kind: barrier.kind, absent };
        let others = self.running.take_out(&same, active);
        self.groups.park(&self.frames, self.running.frame, pc + 1, same, Wait::Barrier(arrival));
        self.release(id)?;
        Ok(others)
    }

    /// The threads of partly masked warps that are not in the mask and have not ended.
    fn absent(&self, mask: &[u8]) -> Vec<u8> {
        let mut absent = vec![0; mask.len()];
        let mut any = false;
        for warp in (0..mask.len()).step_by(WARP) {
            if mask[warp..warp + WARP].iter().any(|m| *m != 0) {
                for t in warp..warp + WARP {
                    absent[t] = self.live.mask[t] & !mask[t];
                    any |= absent[t] != 0;
                }
            }
        }
        if any { absent } else { Vec::new() }
    }

    /// Lets the threads at a barrier go on if all have come that it waits for; returns whether they go on.
    pub(super) fn release(&mut self, id: u32) -> Result<bool, Failure> {
        let here = |wait: &Wait| matches!(wait, Wait::Barrier(arrival) if arrival.id == id);
        if !self.groups.parked.iter().any(|group| here(&group.wait)) {
            return Ok(false);
        }
        let mut arrived = self.barriers.threads[id as usize].clone();
        arrived.resize(self.live.mask.len(), 0);
        let mut expected = None;
        for group in self.groups.parked.iter().filter(|group| here(&group.wait)) {
            union(&mut arrived, &group.mask);
            if let Wait::Barrier(arrival) = &group.wait {
                expected = arrival.count;
            }
        }
        if !self.are_enough(&arrived, expected) {
            return Ok(false);
        }
        self.check_together(id)?;
        self.reduce(id);
        let mut go_on = vec![0; self.live.mask.len()];
        for group in &mut self.groups.parked {
            if here(&group.wait) {
                group.wait = Wait::Ready;
                union(&mut go_on, &group.mask);
            }
        }
        self.barriers.threads[id as usize].clear();
        if let Some(shadow) = &mut self.reach.shadow {
            let all = go_on == self.live.mask;
            shadow.pass(id as usize, threads(&go_on), all);
        }
        self.groups.rescan(&self.frames);
        Ok(true)
    }

    /// Whether a barrier is complete that these threads have come to.
    fn are_enough(&self, arrived: &[u8], expected: Option<u32>) -> bool {
        match expected {
            None => self.live.mask.iter().zip(arrived).all(|(live, arrived)| live & !arrived == 0),
            // A warp whose threads have all come counts as a whole one, even if some of its threads have ended.
            Some(expected) => {
                let warps = (0..arrived.len()).step_by(WARP).map(|warp| {
                    let (arrived, live) = (&arrived[warp..warp + WARP], &self.live.mask[warp..warp + WARP]);
                    let whole = live.iter().zip(arrived).all(|(live, arrived)| live & !arrived == 0);
                    if count(arrived) > 0 && whole { WARP as u32 } else { count(arrived) }
                });
                warps.sum::<u32>() >= expected
            }
        }
    }

    /// Starts a barrier anew that threads have completed which do not wait at it.
    fn complete_arrivals(&mut self, id: u32, expected: Option<u32>) {
        let here = |wait: &Wait| matches!(wait, Wait::Barrier(arrival) if arrival.id == id);
        let arrived = &self.barriers.threads[id as usize];
        if arrived.is_empty()
            || !self.are_enough(arrived, expected)
            || self.groups.parked.iter().any(|group| here(&group.wait))
        {
            return;
        }
        self.barriers.threads[id as usize].clear();
        if let Some(shadow) = &mut self.reach.shadow {
            shadow.pass(id as usize, std::iter::empty(), false);
        }
    }

    /// `bar` asks that all threads of a warp execute it together: threads that were left behind must have come to the same one since.
    /// Threads that have ended are not missed: compilers turn `if (i < n) { … barrier … }` into a return before the barrier and the
    /// other way, and GPUs take both.
    fn check_together(&self, id: u32) -> Result<(), Failure> {
        for group in &self.groups.parked {
            let Wait::Barrier(arrival) = &group.wait else { continue };
            if arrival.id != id || arrival.absent.is_empty() {
                continue;
            }
            for t in threads(&arrival.absent) {
                let came = self.groups.parked.iter().any(|other| {
                    other.mask[t] != 0 && other.pc == group.pc && matches!(&other.wait, Wait::Barrier(a) if a.id == id)
                });
                if !came && self.live.mask[t] != 0 {
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

    /// `bar.red`: folds the predicates of all threads that wait at a barrier into the destination of each.
    fn reduce(&mut self, id: u32) {
        let kind_of = |worker: &Self, i: usize| worker.groups.arrival(i).filter(|a| a.id == id).map(|a| a.kind);
        let predicate = |kind| match kind {
            BarrierKind::Count { p, .. } | BarrierKind::All { p, .. } | BarrierKind::Any { p, .. } => Some(p),
            _ => None,
        };
        let reducing: Vec<(usize, BarrierKind)> = (0..self.groups.parked.len())
            .filter_map(|i| kind_of(self, i).filter(|kind| predicate(*kind).is_some()).map(|kind| (i, kind)))
            .collect();
        if reducing.is_empty() {
            return;
        }
        let home = self.running.frame;
        let (mut yes, mut all) = (0u64, 0u64);
        for &(i, kind) in &reducing {
            self.enter_again(self.groups.parked[i].frame);
            let Some(p) = predicate(kind) else { continue };
            for t in threads(&self.groups.parked[i].mask) {
                // SAFETY: the decoder laid the slot out as a predicate of the frame that was entered.
                yes += unsafe { self.reach.file.element(p, Width::Predicate, t) };
                all += 1;
            }
        }
        for &(i, kind) in &reducing {
            self.enter_again(self.groups.parked[i].frame);
            let (d, width, value) = match kind {
                BarrierKind::Count { d, .. } => (d, Width::Word, yes),
                BarrierKind::All { d, .. } => (d, Width::Predicate, u64::from(yes == all)),
                BarrierKind::Any { d, .. } => (d, Width::Predicate, u64::from(yes > 0)),
                _ => continue,
            };
            for t in threads(&self.groups.parked[i].mask) {
                // SAFETY: the decoder laid the slot out for this width, in the frame that was entered.
                unsafe { self.reach.file.set_element(d, width, t, value) };
            }
        }
        self.enter_again(home);
    }

    /// Where nothing runs: releases a barrier that waits only for threads that have ended, or warps whose lanes are all there. False if
    /// there is none.
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
