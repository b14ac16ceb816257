//! Which accesses of a block happen before others: vector clocks (Mattern 1989; Flanagan and Freund, "FastTrack", 2009).
//!
//! The accesses of a warp are numbered by a counter that rises whenever something is released. A thread's *clock* says for each thread of
//! the block up to which number its accesses happened before now. What synchronises joins clocks: barriers those of all that meet, an
//! acquire that of the release that it reads from. Copies of `cp.async` are made by a second thread that each thread has, with numbers of
//! their own, as they are ordered only by what waits for them.
//!
//! A barrier of all threads starts a new *generation*: everything before it happened before everything after it, so that all clocks are
//! empty again. Threads that share a clock share its memory.

use std::collections::VecDeque;
use std::rc::Rc;

use crate::code::Scope;
use crate::column::WARP;

/// The barriers of a block.
const BARRIERS: usize = 16;

/// What a thread knows.
#[derive(Clone, Debug)]
pub(super) struct Row {
    /// By thread, then by the thread's copies: the accesses up to this number happened before.
    known: Vec<u32>,
    /// Of other blocks, what the launch's clock showed a lower time for happened before.
    pub(super) until: u32,
}

pub(super) type Clock = Rc<Row>;

/// A clock with the accesses of one thread up to a number.
#[derive(Clone, Debug)]
struct Moment {
    clock: Clock,
    thread: usize,
    counter: u32,
}

impl Moment {
    fn clock(&self) -> Clock {
        let mut row = (*self.clock).clone();
        row.known[self.thread] = row.known[self.thread].max(self.counter);
        Rc::new(row)
    }
}

/// The clocks of a block's threads.
#[derive(Debug)]
pub(super) struct Clocks {
    lanes: usize,
    zero: Clock,
    pub(super) generation: u32,
    /// By warp: the number of its accesses, and of its copies.
    counters: Vec<u32>,
    copies: Vec<u32>,
    known: Vec<Clock>,
    /// By thread: what happened before its last fence, and the fence's scope.
    fences: Vec<Option<(Moment, Scope)>>,
    /// By thread: what its next fence acquires.
    pending: Vec<Option<Clock>>,
    /// By barrier: what the threads that have come to it release.
    gathered: [Option<Clock>; BARRIERS],
    /// What threads that have ended release: barriers do not wait for them.
    ended: Option<Clock>,
    /// By thread: the number of its last copy, and of the last copy of each group that was committed and not waited for.
    last_copy: Vec<u32>,
    groups: Vec<VecDeque<u32>>,
}

impl Clocks {
    /// For a block of this many threads, padded.
    pub(super) fn new(lanes: usize) -> Clocks {
        let zero = Rc::new(Row { known: vec![0; 2 * lanes], until: 0 });
        Clocks {
            lanes,
            generation: 0,
            counters: vec![1; lanes / WARP],
            copies: vec![0; lanes / WARP],
            known: vec![Rc::clone(&zero); lanes],
            fences: vec![None; lanes],
            pending: vec![None; lanes],
            gathered: Default::default(),
            ended: None,
            last_copy: vec![0; lanes],
            groups: vec![VecDeque::new(); lanes],
            zero,
        }
    }

    /// A new block.
    pub(super) fn start(&mut self) {
        self.generation = 0;
        self.counters.fill(1);
        self.copies.fill(0);
        self.known.fill(Rc::clone(&self.zero));
        self.fences.fill(None);
        self.pending.fill(None);
        self.gathered = Default::default();
        self.ended = None;
        self.last_copy.fill(0);
        self.groups.iter_mut().for_each(VecDeque::clear);
    }

    /// The number of a warp's accesses now.
    pub(super) fn counter(&self, warp: usize) -> u32 {
        self.counters[warp]
    }

    /// Time for what was released: later accesses of the warp are not part of it.
    pub(super) fn tick(&mut self, warp: usize) {
        self.counters[warp] = self.counters[warp].saturating_add(1);
    }

    pub(super) fn until(&self, thread: usize) -> u32 {
        self.known[thread].until
    }

    /// The accesses of another thread of the same generation up to a number happened before now, for this thread. Copies of a thread are
    /// those of thread `lanes` + thread.
    pub(super) fn knows(&self, thread: usize, other: usize, counter: u32) -> bool {
        self.known[thread].known[other] >= counter
    }

    /// What a thread releases now.
    pub(super) fn release(&self, thread: usize) -> Clock {
        self.moment(thread).clock()
    }

    fn moment(&self, thread: usize) -> Moment {
        Moment { clock: Rc::clone(&self.known[thread]), thread, counter: self.counters[thread / WARP] }
    }

    /// What a strong write releases that is no release itself: what happened before the thread's last fence. With the fence's scope.
    pub(super) fn released_by_fence(&self, thread: usize) -> Option<(Clock, Scope)> {
        self.fences[thread].as_ref().map(|(moment, scope)| (moment.clock(), *scope))
    }

    pub(super) fn acquire(&mut self, thread: usize, clock: &Clock) {
        self.known[thread] = join(&self.known[thread], clock);
    }

    /// A thread knows of other blocks up to this time.
    pub(super) fn acquire_until(&mut self, thread: usize, until: u32) {
        if self.known[thread].until < until {
            Rc::make_mut(&mut self.known[thread]).until = until;
        }
    }

    /// A strong read: a later fence acquires.
    pub(super) fn will_acquire(&mut self, thread: usize, clock: Option<&Clock>, until: u32) {
        let pending = self.pending[thread].take();
        let mut pending = match (pending, clock) {
            (Some(pending), Some(clock)) => join(&pending, clock),
            (Some(pending), None) => pending,
            (None, Some(clock)) => Rc::clone(clock),
            (None, None) if until == 0 => return,
            (None, None) => Rc::clone(&self.zero),
        };
        if pending.until < until {
            Rc::make_mut(&mut pending).until = until;
        }
        self.pending[thread] = Some(pending);
    }

    pub(super) fn fence(&mut self, thread: usize, scope: Scope) {
        if let Some(pending) = self.pending[thread].take() {
            let until = self.known[thread].until;
            self.acquire(thread, &pending);
            // A fence of the block does not order what other blocks did.
            if scope == Scope::Block && self.known[thread].until != until {
                Rc::make_mut(&mut self.known[thread]).until = until;
                let mut rest = (*self.zero).clone();
                rest.until = pending.until;
                self.pending[thread] = Some(Rc::new(rest));
            }
        }
        // A wider fence before stays one.
        let wide = matches!(self.fences[thread], Some((_, Scope::Device)));
        let scope = if wide { Scope::Device } else { scope };
        self.fences[thread] = Some((self.moment(thread), scope));
    }

    /// What these threads release together.
    fn gather(&self, threads: impl Iterator<Item = usize> + Clone) -> Clock {
        let mut distinct: Vec<&Clock> = Vec::new();
        for thread in threads.clone() {
            let clock = &self.known[thread];
            if !distinct.iter().rev().any(|other| Rc::ptr_eq(other, clock)) {
                distinct.push(clock);
            }
        }
        let mut row = distinct.first().map_or_else(|| (*self.zero).clone(), |first| (***first).clone());
        for other in distinct.iter().skip(1) {
            row.join(other);
        }
        for thread in threads {
            let counter = self.counters[thread / WARP];
            row.known[thread] = row.known[thread].max(counter);
        }
        Rc::new(row)
    }

    fn tick_all(&mut self, threads: impl Iterator<Item = usize>) {
        let mut last = None;
        for thread in threads {
            if last != Some(thread / WARP) {
                last = Some(thread / WARP);
                self.tick(thread / WARP);
            }
        }
    }

    /// Threads wait for each other.
    pub(super) fn meet(&mut self, threads: impl Iterator<Item = usize> + Clone) {
        let clock = self.gather(threads.clone());
        self.tick_all(threads.clone());
        threads.for_each(|thread| self.known[thread] = Rc::clone(&clock));
    }

    /// Threads come to a barrier.
    pub(super) fn arrive(&mut self, barrier: usize, threads: impl Iterator<Item = usize> + Clone) {
        let clock = self.gather(threads.clone());
        self.tick_all(threads);
        let gathered = &mut self.gathered[barrier];
        *gathered = Some(gathered.take().map_or_else(|| Rc::clone(&clock), |other| join(&other, &clock)));
    }

    /// All threads that have not ended meet at a barrier for all; returns whether a generation starts.
    pub(super) fn meet_all(&mut self, barrier: usize, threads: impl Iterator<Item = usize> + Clone) -> bool {
        if !self.copies_are_open() {
            self.gathered[barrier] = None;
            self.next_generation();
            return true;
        }
        self.arrive(barrier, threads.clone());
        self.pass(barrier, threads, false)
    }

    /// The threads that wait at a barrier go on. If they are all that have not ended, a generation starts; returns whether it does.
    pub(super) fn pass(&mut self, barrier: usize, threads: impl Iterator<Item = usize> + Clone, all: bool) -> bool {
        let gathered = self.gathered[barrier].take();
        if all && !self.copies_are_open() {
            self.next_generation();
            return true;
        }
        let Some(mut clock) = gathered else { return false };
        if let Some(ended) = &self.ended {
            clock = join(&clock, ended);
        }
        threads.for_each(|thread| self.known[thread] = Rc::clone(&clock));
        false
    }

    fn next_generation(&mut self) {
        let until = self.known.iter().map(|clock| clock.until).max().unwrap_or(0);
        let mut zero = (*self.zero).clone();
        zero.until = until;
        let zero = Rc::new(zero);
        self.generation = self.generation.saturating_add(1);
        self.known.fill(Rc::clone(&zero));
        for fence in self.fences.iter_mut().flatten() {
            fence.0 = Moment { clock: Rc::clone(&zero), thread: 0, counter: 0 };
        }
        for pending in self.pending.iter_mut().flatten() {
            let mut rest = (*self.zero).clone();
            rest.until = pending.until;
            *pending = Rc::new(rest);
        }
        // What has arrived at a barrier happened before; the barrier still has it.
        for gathered in self.gathered.iter_mut().flatten() {
            *gathered = Rc::clone(&zero);
        }
        self.ended = None;
        // All copies have been waited for.
        self.last_copy.fill(0);
        self.groups.iter_mut().flatten().for_each(|number| *number = 0);
    }

    /// Threads end.
    pub(super) fn end(&mut self, threads: impl Iterator<Item = usize> + Clone) {
        let clock = self.gather(threads.clone());
        self.tick_all(threads);
        self.ended = Some(self.ended.take().map_or_else(|| Rc::clone(&clock), |other| join(&other, &clock)));
    }

    /// A thread starts a copy: the first of its warp to do so, or together with the lane before it. Returns the copy's number.
    pub(super) fn copy(&mut self, thread: usize, is_first: bool) -> u32 {
        let number = &mut self.copies[thread / WARP];
        *number = number.saturating_add(u32::from(is_first));
        self.last_copy[thread] = *number;
        *number
    }

    pub(super) fn commit_copies(&mut self, thread: usize) {
        let last = self.last_copy[thread];
        self.groups[thread].push_back(last);
        // Nobody waits for a number of groups that is greater than this.
        if self.groups[thread].len() > 4096 {
            self.groups[thread].pop_front();
        }
    }

    /// A thread waits until at most `pending` of its groups are left, or for all its copies.
    pub(super) fn wait_copies(&mut self, thread: usize, pending: u32, all: bool) {
        let groups = &mut self.groups[thread];
        let done = groups.len().saturating_sub(pending as usize);
        let committed = groups.drain(..done).next_back();
        let number = if all { Some(self.last_copy[thread]) } else { committed };
        if let Some(number) = number
            && self.known[thread].known[self.lanes + thread] < number
        {
            Rc::make_mut(&mut self.known[thread]).known[self.lanes + thread] = number;
        }
    }

    /// What a thread's copies release when they have been made, with what happened before they were started.
    pub(super) fn release_copies(&self, thread: usize) -> Clock {
        let mut clock = self.release(thread);
        let entry = &mut Rc::make_mut(&mut clock).known[self.lanes + thread];
        *entry = (*entry).max(self.last_copy[thread]);
        clock
    }

    /// Whether a copy has been started that its thread has not waited for.
    fn copies_are_open(&self) -> bool {
        (0..self.lanes).any(|t| self.last_copy[t] > self.known[t].known[self.lanes + t])
    }
}

impl Row {
    fn join(&mut self, other: &Row) {
        for (a, b) in self.known.iter_mut().zip(&other.known) {
            *a = (*a).max(*b);
        }
        self.until = self.until.max(other.until);
    }
}

/// What either of two clocks knows.
pub(super) fn join(a: &Clock, b: &Clock) -> Clock {
    if Rc::ptr_eq(a, b) {
        return Rc::clone(a);
    }
    let mut row = (**a).clone();
    row.join(b);
    Rc::new(row)
}
