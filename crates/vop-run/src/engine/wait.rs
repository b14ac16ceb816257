//! Loops that wait for memory to change: spin locks, flags, `mbarrier.try_wait`.
//!
//! A group that comes to the same step twice, and finds the same values at the same addresses, without having written anything, waits for
//! others. It sleeps until the memory has changed. If all groups of a block sleep or wait elsewhere, each has a turn again and again, as
//! it may wait for a clock or count its attempts. If a state of the block returns, it goes on only when another block changes memory: it
//! is *stuck*. Its core runs other blocks meanwhile. If all blocks of the launch are stuck, they are stuck forever.

#![allow(unsafe_code, reason = "addresses stand in columns, and the kernel's memory is raw memory")]

use std::hash::{BuildHasher, Hasher};
use std::sync::{Mutex, PoisonError};

use super::access::peek;
use super::block::{Failure, Wait, Worker, first, threads};
use super::launch::Launch;
use crate::code::{Access, Op, Pc};
use crate::column::Width;
use crate::error::{RunError, RunErrorKind};

/// Labels that a loop passes which only waits.
const NEAR: u32 = 4;
/// Addresses that a group is seen to wait for.
const PLACES: usize = 64;
/// States of a block that are compared with the next one.
const STATES: usize = 8;
/// The rounds after which other blocks run, although the block is not stuck.
const ROUNDS: u32 = 128;
/// The reads in loops after which other blocks run, although the block neither sleeps nor is stuck: a loop that waits may count its turns
/// in memory. It takes some hundredths of a second.
const SPINS: u32 = 1 << 18;
/// The turns that groups have without a look at the block's state, at most.
const MAX_TURNS: u32 = 1 << 12;

/// Memory that a group waits for.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Watch {
    /// What it read; nothing if that is not known.
    places: Vec<Place>,
}

/// A place of memory, and what was read there.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Place {
    pointer: *const u8,
    bytes: u8,
    value: u64,
    thread: u16,
    address: u64,
}

impl Place {
    fn has_changed(&self) -> bool {
        // SAFETY: the pointer was resolved for this number of bytes, and it is to shared or global memory, which stays where it is for as
        // long as the launch runs.
        unsafe { peek(self.pointer, u64::from(self.bytes)) != self.value }
    }
}

impl Watch {
    /// Whether nothing is known of what the group waits for.
    pub(super) fn is_blind(&self) -> bool {
        self.places.is_empty()
    }

    /// Whether the group would find something else than it did.
    pub(super) fn has_changed(&self) -> bool {
        self.places.iter().any(Place::has_changed)
    }
}

/// What a group has read lately where loops read what others change.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Polls {
    seen: [Option<Seen>; 4],
    next: u8,
    /// Labels that the group has passed.
    pub(super) joins: u32,
    /// The number of reads that it makes without sleeping.
    pub(super) granted: u32,
    /// Of a running group: the block's changes of memory without its own. Of a parked one: its own.
    pub(super) changes: u64,
}

#[derive(Clone, Copy, Debug)]
struct Seen {
    frame: u32,
    pc: Pc,
    joins: u32,
    /// The group's own changes of memory.
    changes: u64,
    /// The hash of addresses and values, if they have been looked at.
    hash: Option<u64>,
}

impl Polls {
    /// As a parked group keeps them.
    pub(super) fn parked(self, changes: u64) -> Polls {
        Polls { changes: changes.wrapping_sub(self.changes), ..self }
    }

    /// As the running group keeps them.
    pub(super) fn running(self, changes: u64) -> Polls {
        Polls { changes: changes.wrapping_sub(self.changes), ..self }
    }
}

/// The states that a block has been in where nothing but other blocks' memory lets it go on.
#[derive(Clone, Debug, Default)]
pub(super) struct Idle {
    /// The changes of memory that the block had made.
    changes: u64,
    states: Vec<u64>,
    /// How often its groups had a turn since.
    rounds: u32,
    /// Whether they read a clock, so that the state does not return.
    pub(super) clock: bool,
    /// Whether the block is not stuck: it waits, and others should run meanwhile.
    pub(super) lively: bool,
}

impl Worker<'_> {
    /// The running group is before a step that reads memory in a loop, or at a pause. False if it sleeps and no other group could run.
    #[inline(never)]
    pub(super) fn poll(&mut self, pc: Pc, access: Option<&Access>, active: u32) -> bool {
        let whole = active == self.running.active;
        let mask = if whole { &self.running.mask } else { &self.running.guard };
        let thread = first(mask);
        let changes = self.reach.changes.wrapping_sub(self.running.polls.changes);
        let (frame, joins) = (self.running.frame, self.running.polls.joins);
        let near =
            |seen: &Seen| seen.frame == frame && seen.changes == changes && joins.wrapping_sub(seen.joins) <= NEAR;
        let Some(access) = access else {
            // A pause: of a loop that reads something, most likely.
            if let Some(granted) = self.running.polls.granted.checked_sub(1) {
                self.running.polls.granted = granted;
                return true;
            }
            let steps = self.steps;
            let read = self.running.polls.seen.iter().flatten().filter(|seen| near(seen));
            let places = read.filter_map(|seen| match &steps[seen.pc as usize].op {
                Op::Poll(Some(access)) => self.places_of(access, thread),
                _ => None,
            });
            let watch = Watch { places: places.flatten().collect() };
            return self.sleep(pc + 1, watch);
        };
        // Most reads are not of loops that wait: nothing but their place is noted.
        let now = Seen { frame, pc, joins, changes, hash: None };
        let found =
            self.running.polls.seen.iter().position(|seen| seen.is_some_and(|s| (s.frame, s.pc) == (frame, pc)));
        let Some(i) = found else {
            let polls = &mut self.running.polls;
            polls.seen[polls.next as usize % polls.seen.len()] = Some(now);
            polls.next = polls.next.wrapping_add(1);
            return true;
        };
        if self.has_had_its_time(1) {
            return self.let_others_run(pc);
        }
        let before = self.running.polls.seen[i].replace(now);
        let Some(before) = before.filter(|seen| near(seen)) else { return true };
        let mask = if whole { self.running.mask.clone() } else { self.running.guard.clone() };
        let Some((hash, watch)) = self.look_at(access, &mask) else { return true };
        if let Some(seen) = &mut self.running.polls.seen[i] {
            seen.hash = Some(hash);
        }
        if let Some(granted) = self.running.polls.granted.checked_sub(1) {
            self.running.polls.granted = granted;
            return true;
        }
        before.hash != Some(hash) || self.sleep(pc, watch)
    }

    /// Counts reads in loops. Returns whether other blocks should run now, of which there are some.
    fn has_had_its_time(&mut self, reads: u32) -> bool {
        self.spins += reads;
        let is_over = self.spins >= SPINS;
        if is_over {
            self.spins = 0;
            self.idle.lively = self.launch.shape.blocks() > 1;
        }
        is_over && self.idle.lively
    }

    /// The running group goes on at a step when other blocks have run. Returns false: the block does nothing else meanwhile.
    #[cold]
    fn let_others_run(&mut self, pc: Pc) -> bool {
        let (frame, mask) = (self.running.frame, self.running.mask.clone());
        let polls = self.running.polls.parked(self.reach.changes);
        self.groups.park_polling(&self.frames, frame, pc, mask, Wait::Ready, polls);
        self.running.active = 0;
        self.running.mask.fill(0);
        self.gives_way = true;
        false
    }

    /// The running group sleeps, and goes on at a step. False if no other group could run.
    fn sleep(&mut self, pc: Pc, watch: Watch) -> bool {
        let (frame, mask) = (self.running.frame, self.running.mask.clone());
        let polls = self.running.polls.parked(self.reach.changes);
        self.groups.park_polling(&self.frames, frame, pc, mask, Wait::Poll(watch), polls);
        self.running.active = 0;
        self.running.mask.fill(0);
        match self.groups.furthest_behind(&self.frames) {
            Some(group) => {
                self.resume(group);
                true
            }
            None => false,
        }
    }

    /// The places of memory that a thread reads, of eight bytes at most; none if others do not change them.
    fn places_of(&self, access: &Access, thread: usize) -> Option<impl Iterator<Item = Place> + use<>> {
        let base = match access.width {
            // SAFETY: the decoder laid the base out for this width.
            Width::Word | Width::Double => unsafe { self.reach.file.element(access.base, access.width, thread) },
            _ => 0,
        };
        let address = base.wrapping_add(access.offset).wrapping_add(if access.in_frame { self.reach.frame } else { 0 });
        let address = if access.width == Width::Word { u64::from(address as u32) } else { address };
        let pointer = self.reach.resolve(access.space, address, u64::from(access.bytes), thread, false).ok()?;
        // The stack is the thread's own, and it may move.
        if self.reach.is_on_stack(access.space, address) {
            return None;
        }
        let bytes = access.bytes.min(8);
        Some((0..access.bytes / bytes).map(move |i| {
            let pointer = pointer.wrapping_add((i * bytes) as usize);
            // SAFETY: `resolve` has checked the bytes of the access, of which these are a part.
            let value = unsafe { peek(pointer, u64::from(bytes)) };
            Place { pointer, bytes: bytes as u8, value, thread: thread as u16, address: address + u64::from(i * bytes) }
        }))
    }

    /// The hash of what threads would read, and the places; none if a thread would read what others do not change.
    fn look_at(&mut self, access: &Access, mask: &[u8]) -> Option<(u64, Watch)> {
        let mut watch = Watch::default();
        let mut hasher = foldhash::fast::FixedState::default().build_hasher();
        for thread in threads(mask) {
            for place in self.places_of(access, thread)? {
                hasher.write_u64(place.address);
                hasher.write_u64(place.value);
                hasher.write_usize(thread);
                if watch.places.last().is_none_or(|last| last.pointer != place.pointer) && watch.places.len() < PLACES {
                    watch.places.push(place);
                }
            }
        }
        self.meter.over += 16 * mask.len() as u64;
        Some((hasher.finish(), watch))
    }

    /// No group of the block could run, and some wait for memory to change. Returns whether a group could run now; if not, the block is
    /// stuck unless another block changes memory.
    pub(super) fn try_again(&mut self) -> Result<bool, Failure> {
        if self.idle.changes != self.reach.changes {
            self.idle = Idle { changes: self.reach.changes, ..Idle::default() };
        }
        if self.may_go_on() {
            self.groups.wake(&self.frames, false);
            return Ok(true);
        }
        let rounds = self.idle.rounds;
        self.idle.rounds += 1;
        // The state is looked at in rows of rounds: it may return after some of them.
        if (rounds as usize) % (4 * STATES) < STATES {
            let state = self.state();
            if self.idle.states.contains(&state) {
                return Ok(false);
            }
            if self.idle.states.len() >= STATES {
                self.idle.states.clear();
            }
            self.idle.states.push(state);
            self.groups.let_all_try(&self.frames, 1);
        } else {
            self.groups.let_all_try(&self.frames, (rounds / 8).min(MAX_TURNS));
        }
        if rounds > 0 && rounds.is_multiple_of(ROUNDS) && self.launch.shape.blocks() > 1 {
            self.idle.lively = true;
            return Ok(false);
        }
        // Its groups may change memory in every turn, so that the state is never the same.
        if self.has_had_its_time(SPINS / 1024) {
            return Ok(false);
        }
        self.look_if_due()?;
        Ok(true)
    }

    /// Whether a block that is stuck could go on, as memory that it waits for has changed.
    pub(super) fn may_go_on(&mut self) -> bool {
        let changed = |wait: &Wait| matches!(wait, Wait::Poll(watch) if watch.has_changed());
        let any = self.groups.parked.iter().any(|group| changed(&group.wait));
        if any {
            self.forget_states();
        }
        any
    }

    /// A block that is stuck tries again: it may read more than what is known.
    pub(super) fn forget_states(&mut self) {
        self.idle = Idle { changes: self.reach.changes, ..Idle::default() };
    }

    /// The hash of all that decides what the block does, but memory.
    fn state(&mut self) -> u64 {
        let mut hasher = foldhash::fast::FixedState::default().build_hasher();
        let bytes = self.hash_storage(&mut hasher);
        let mut groups: Vec<_> = self.groups.parked.iter().map(|group| (first(&group.mask), group)).collect();
        groups.sort_by_key(|(first, _)| *first);
        for (_, group) in groups {
            hasher.write_u32(group.frame);
            hasher.write_u32(group.pc);
            hasher.write(&group.mask);
        }
        if std::mem::take(&mut self.idle.clock) {
            hasher.write_u64(self.done.executed);
        }
        self.meter.over += bytes as u64 / 8;
        hasher.finish()
    }

    /// The error for a block that waits for memory which no thread changes.
    #[cold]
    pub(super) fn stuck_forever(&self) -> Failure {
        let sleeping = self.groups.parked.iter().filter_map(|group| match &group.wait {
            Wait::Poll(watch) => Some((first(&group.mask), group.pc, watch)),
            _ => None,
        });
        let Some((thread, pc, watch)) = sleeping.min_by_key(|(first, ..)| *first) else { return self.deadlock() };
        let (mut pc, mut thread, mut what) = (pc, thread, "memory".to_owned());
        if let Some(place) = watch.places.first() {
            thread = usize::from(place.thread);
            what = self.launch.at_barrier(place.address, place.value).unwrap_or_else(|| {
                let name = self.launch.name_of(place.address, u64::from(place.bytes));
                format!("{name}, which holds {}", place.value)
            });
        }
        // Behind a pause the step before it is meant.
        if !matches!(self.steps[pc as usize].op, Op::Poll(_)) {
            pc = pc.saturating_sub(1);
        }
        let message = format!("this thread waits in a loop for {what}, and no thread is left that could change it");
        let mut error = RunError::new(RunErrorKind::Deadlock, message);
        let others = self.launch.not_started();
        if others > 0 {
            let help = "a core holds 4096 blocks that wait, and what there is memory for: `--memory`";
            error = error.with_help(format!("{others} blocks have not started; {help}"));
        }
        self.fail(error, thread, pc)
    }

    /// The error for a block that waits when the launch ends before its end.
    #[cold]
    pub(super) fn ended_waiting(&self, error: RunError) -> Failure {
        match self.groups.parked.iter().map(|group| (first(&group.mask), group.pc)).min() {
            Some((thread, pc)) => self.fail(error, thread, pc),
            None => Box::new(error),
        }
    }

    /// What the block waits for, for those who watch the launch.
    pub(super) fn waits_for(&self) -> String {
        let sleeping = self.groups.parked.iter().filter(|group| matches!(group.wait, Wait::Poll(_)));
        let Some(group) = sleeping.min_by_key(|group| first(&group.mask)) else { return String::new() };
        let kernel = self.launch.kernel;
        let place = kernel.place(kernel.steps[group.pc as usize].statement);
        let place = place.map_or(String::new(), |place| format!(" at {}: {}", kernel.line_of(&place), place.text));
        format!("{} waits for memory to change{place}", self.thread_id(first(&group.mask)))
    }
}

/// Which cores of a launch have only blocks that are stuck.
#[derive(Debug, Default)]
pub(super) struct Standstill {
    state: Mutex<State>,
}

#[derive(Debug, Default)]
struct State {
    /// Cores that still work on blocks.
    cores: usize,
    /// Those of them whose blocks are all stuck.
    idle: usize,
    /// Changes when a core finds something to do.
    generation: u64,
    /// Cores that have found nothing to do since all were idle.
    votes: usize,
    /// Whether nothing ever changes.
    over: bool,
}

impl Standstill {
    fn with<T>(&self, f: impl FnOnce(&mut State) -> T) -> T {
        f(&mut self.state.lock().unwrap_or_else(PoisonError::into_inner))
    }

    /// The number of cores that start.
    pub(super) fn start(&self, cores: usize) {
        self.with(|state| state.cores = cores);
    }

    /// A core leaves: it has no block left.
    pub(super) fn leave(&self) {
        self.with(|state| {
            state.cores -= 1;
            state.generation += 1;
            state.votes = 0;
        });
    }

    /// All blocks of a core are stuck.
    pub(super) fn enter(&self) {
        self.with(|state| state.idle += 1);
    }

    /// A core has found something to do.
    pub(super) fn resume(&self) {
        self.with(|state| {
            state.idle -= 1;
            state.generation += 1;
            state.votes = 0;
        });
    }

    /// Whether nothing ever changes.
    pub(super) fn is_over(&self) -> bool {
        self.with(|state| state.over)
    }

    /// The generation in which all cores are idle, if they are.
    pub(super) fn all_idle(&self) -> Option<u64> {
        self.with(|state| (state.over || state.idle == state.cores).then_some(state.generation))
    }

    /// A core has found nothing to do since all were idle in a generation. Returns whether this is so of all cores: then nothing ever
    /// changes.
    pub(super) fn vote(&self, generation: u64, voted: &mut Option<u64>) -> bool {
        self.with(|state| {
            if !state.over && state.generation == generation && state.idle == state.cores {
                if *voted != Some(generation) {
                    *voted = Some(generation);
                    state.votes += 1;
                }
                state.over = state.votes == state.cores;
            }
            state.over
        })
    }
}

impl Launch<'_> {
    /// `byte 4 of `flag``.
    fn name_of(&self, address: u64, bytes: u64) -> String {
        self.layout(0).name_of(address, bytes)
    }
}
