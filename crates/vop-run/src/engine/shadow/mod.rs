//! Shadow memory: what is known of each byte that kernels reach, for checks on request.
//!
//! - [`clocks`]: which accesses of a block happen before others; [`cells`]: the accesses of each word that later ones may race with.
//! - Of shared memory each core has its own cells. Those of global memory are of the launch: [`Common`].
//!
//! Two accesses race if they reach the same byte, one of them writes, not both are strong with a scope that has both threads, and neither
//! happened before the other (manual, "Memory Consistency Model"). Within a block, happening before is exact. Of other blocks a thread
//! knows a time: when it acquires, at the scope `.gpu` or `.sys`, what another block released, all that other blocks had done until the
//! release counts as having happened before. So between blocks races may be missed where a third block is involved; none is invented.

mod cells;
mod clocks;

use std::collections::HashMap;
use std::sync::atomic::{AtomicBool, AtomicU32, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, OnceLock, PoisonError};

use super::findings::{AccessKind, Findings, Race, Spot, What};
use crate::bits::Bits;
use crate::code::{Fence, MbarrierUse, Order, OrderSemantics, Scope};
use crate::column::WARP;
use crate::heap::HeapLog;
use crate::memory::{Budget, Places};
use cells::{Cell, Conflict, Record, Strength, WORD};
use clocks::{Clock, Clocks, join};

/// What to check.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Checks {
    pub(crate) races: bool,
    pub(crate) uninitialized: bool,
    pub(crate) warp: bool,
    pub(crate) heap: bool,
}

impl Checks {
    /// Whether accesses to memory are looked at.
    pub(crate) fn of_memory(self) -> bool {
        self.races || self.uninitialized || self.heap
    }

    pub(crate) fn any(self) -> bool {
        self.of_memory() || self.warp
    }
}

/// Words of a page of cells.
const PAGE: u64 = 1024;
/// Pages of cells of global memory: those of 64 MiB, which take 1 GiB and more where many accesses of a word are kept.
const MAX_PAGES: usize = 16384;
/// Addresses of which a block keeps what was released there, and a launch. Of others it is kept together: then they order more than they
/// should.
const MAX_RELEASED: usize = 1 << 12;
const MAX_TIMES: usize = 1 << 20;

type Page = Mutex<Box<[Cell]>>;

/// The cells of an allocation of global memory: none until they are needed.
#[derive(Debug, Default)]
struct Pages {
    words: u64,
    pages: OnceLock<Vec<OnceLock<Page>>>,
}

impl Pages {
    fn get(&self, index: usize) -> Option<&OnceLock<Page>> {
        let make = || (0..self.words.div_ceil(PAGE)).map(|_| OnceLock::new()).collect();
        self.pages.get_or_init(make).get(index)
    }
}

/// Times of the launch's clock.
#[derive(Debug, Default)]
struct Times {
    /// By address of global memory: the time of the last release that a read of it acquires.
    by_address: HashMap<u64, u32>,
    /// Of all other addresses.
    others: u32,
}

/// What the cores of a launch know together.
#[derive(Debug)]
pub(crate) struct Common {
    pub(crate) checks: Checks,
    places: Arc<Places>,
    /// By allocation; empty where only reading is possible.
    pages: Vec<Pages>,
    pages_left: AtomicUsize,
    /// Whether more was reached than there are pages.
    pub(crate) exhausted: AtomicBool,
    /// Whether there was no memory for a page.
    pub(crate) starved: AtomicBool,
    /// What pages and records may take.
    room: Arc<Budget>,
    /// Rises with each release to other blocks.
    clock: AtomicU32,
    released: Mutex<Times>,
    /// By allocation: the bytes that have been written, where not all are.
    pub(crate) written: Vec<Option<Arc<Bits>>>,
    /// The heap's index among the allocations, and what has been allocated.
    pub(crate) heap: Option<(usize, Mutex<HeapLog>)>,
}

impl Common {
    pub(crate) fn new(
        checks: Checks,
        room: &Arc<Budget>,
        places: Arc<Places>,
        written: Vec<Option<Arc<Bits>>>,
        heap: Option<(usize, HeapLog)>,
    ) -> Common {
        // What may only be read needs none.
        let sizes = places.regions.iter().map(|region| if region.read_only { 0 } else { region.len });
        let pages = sizes.map(|bytes| Pages { words: bytes.div_ceil(WORD), pages: OnceLock::new() });
        Common {
            checks,
            pages: if checks.races { pages.collect() } else { Vec::new() },
            places,
            pages_left: AtomicUsize::new(MAX_PAGES),
            exhausted: AtomicBool::new(false),
            starved: AtomicBool::new(false),
            room: Arc::clone(room),
            clock: AtomicU32::new(0),
            released: Mutex::default(),
            written,
            heap: heap.map(|(index, log)| (index, Mutex::new(log))),
        }
    }

    fn now(&self) -> u32 {
        self.clock.load(Ordering::Relaxed)
    }

    /// Adds an access of one word of an allocation.
    fn add(&self, allocation: usize, word: u64, clocks: &Clocks, now: Record, thread: usize) -> Option<Conflict> {
        let place = self.pages.get(allocation)?.get((word / PAGE) as usize)?;
        if place.get().is_none() {
            let left = self.pages_left.fetch_update(Ordering::Relaxed, Ordering::Relaxed, |left| left.checked_sub(1));
            if left.is_err() {
                self.exhausted.store(true, Ordering::Relaxed);
                return None;
            }
            if !self.room.has(PAGE * size_of::<Cell>() as u64) {
                self.starved.store(true, Ordering::Relaxed);
                return None;
            }
        }
        let page = place.get_or_init(|| Mutex::new(vec![Cell::default(); PAGE as usize].into()));
        let mut page = page.lock().unwrap_or_else(PoisonError::into_inner);
        page[(word % PAGE) as usize].add(clocks, now, thread, false, &self.room)
    }

    /// Bytes of an allocation are a new object: earlier accesses were of another one.
    fn renew(&self, allocation: usize, offset: u64, bytes: u64) {
        let pages = self.pages.get(allocation).and_then(|pages| pages.pages.get());
        let (first, end) = (offset / WORD, offset.saturating_add(bytes).div_ceil(WORD));
        let mut word = first;
        while let Some(pages) = pages
            && word < end
        {
            let next = ((word / PAGE + 1) * PAGE).min(end);
            if let Some(page) = pages.get((word / PAGE) as usize).and_then(OnceLock::get) {
                let mut page = page.lock().unwrap_or_else(PoisonError::into_inner);
                let start = (word / PAGE) * PAGE;
                page[(word - start) as usize..(next - start) as usize].iter_mut().for_each(Cell::clear);
            }
            word = next;
        }
    }

    fn released(&self, address: u64) -> u32 {
        let released = self.released.lock().unwrap_or_else(PoisonError::into_inner);
        released.by_address.get(&address).copied().unwrap_or(released.others)
    }

    /// A thread releases to other blocks what has been done until now.
    fn release(&self, address: u64) {
        let mut released = self.released.lock().unwrap_or_else(PoisonError::into_inner);
        let time = self.clock.fetch_update(Ordering::Relaxed, Ordering::Relaxed, |time| time.checked_add(1));
        let time = time.map_or(u32::MAX, |time| time + 1);
        if released.by_address.len() < MAX_TIMES || released.by_address.contains_key(&address) {
            released.by_address.insert(address, time);
        } else {
            released.others = time;
        }
    }

    /// A write to an address that releases nothing.
    fn forget(&self, address: u64) {
        self.released.lock().unwrap_or_else(PoisonError::into_inner).by_address.remove(&address);
    }
}

/// What a read of an address synchronises with, within the block.
#[derive(Clone, Debug, Default)]
struct Released {
    /// The thread of the last store.
    writer: usize,
    clock: Option<Clock>,
    /// Of an object of `mbarrier`: what has arrived in the current phase. `clock` is of the phases that are complete.
    gathering: Option<Clock>,
}

/// An access of one thread.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Touch {
    pub(crate) spot: Spot,
    pub(crate) bytes: u64,
    /// Bytes of an element, if it is of a vector: each is an operation of its own (manual, "Vector Data-types").
    pub(crate) element: u64,
    pub(crate) thread: usize,
    pub(crate) kind: AccessKind,
    pub(crate) order: Order,
    /// Whether it is a copy of `cp.async`, of this number.
    pub(crate) copy: Option<u32>,
    /// Whether a write leaves what was there before.
    pub(crate) same_value: bool,
    /// Whether it is a compare-and-swap.
    pub(crate) swaps: bool,
}

impl Touch {
    /// The accesses of the elements.
    fn elements(self) -> impl Iterator<Item = Touch> {
        let of = move |ahead| {
            let spot = match self.spot {
                Spot::Shared(offset) => Spot::Shared(offset + ahead),
                Spot::Global(address) => Spot::Global(address + ahead),
            };
            Touch { spot, bytes: self.element, ..self }
        };
        (0..self.bytes).step_by(self.element.max(1) as usize).map(of)
    }
}

/// What one core knows of the block that it runs.
#[derive(Debug)]
pub(crate) struct Shadow {
    common: Arc<Common>,
    block: u32,
    lanes: usize,
    clocks: Clocks,
    cells: Vec<Cell>,
    /// Which bytes of shared memory have been written.
    written: Bits,
    shared_bytes: u64,
    released: HashMap<Spot, Released>,
    /// What was released elsewhere, if that is known: see [`MAX_RELEASED`].
    released_elsewhere: Option<Clock>,
    /// The statement that is being executed.
    pub(crate) statement: u32,
}

impl Shadow {
    pub(crate) fn new(common: Arc<Common>, shared_bytes: usize, lanes: usize) -> Shadow {
        let words = if common.checks.races { shared_bytes.div_ceil(WORD as usize) } else { 0 };
        Shadow {
            common,
            block: 0,
            lanes,
            clocks: Clocks::new(lanes),
            cells: vec![Cell::default(); words],
            written: Bits::new(shared_bytes as u64, false),
            shared_bytes: shared_bytes as u64,
            released: HashMap::new(),
            released_elsewhere: None,
            statement: 0,
        }
    }

    /// Bytes that a core's cells take.
    pub(crate) fn bytes(common: &Common, shared_bytes: usize) -> u64 {
        let words = if common.checks.races { shared_bytes.div_ceil(WORD as usize) } else { 0 };
        (words * size_of::<Cell>()) as u64
    }

    /// Nothing that was released matters any more.
    fn forget_released(&mut self) {
        self.released.clear();
        self.released_elsewhere = None;
    }

    /// What is known of a place where something is released; none if it is kept with that of others.
    fn released_at(&mut self, spot: Spot) -> Option<&mut Released> {
        let is_full = self.released_elsewhere.is_some() || self.released.len() >= MAX_RELEASED;
        if is_full { self.released.get_mut(&spot) } else { Some(self.released.entry(spot).or_default()) }
    }

    fn release_elsewhere(&mut self, clock: Clock) {
        let before = self.released_elsewhere.take();
        self.released_elsewhere = Some(before.map_or_else(|| clock.clone(), |before| join(&before, &clock)));
    }

    /// A new block.
    pub(crate) fn start(&mut self, block: u64) {
        // Blocks beyond 2^32 are taken for others: a launch does not have as many.
        self.block = block as u32;
        self.clocks.start();
        self.forget_released();
        if self.common.checks.uninitialized {
            self.written.clear(0, self.shared_bytes);
        }
    }

    /// Looks at an access of one thread.
    pub(crate) fn observe(&mut self, findings: &mut Findings, touch: &Touch) {
        let checks = self.common.checks;
        if checks.heap
            && let Spot::Global(address) = touch.spot
        {
            self.look_at_heap(findings, address, touch);
        }
        if checks.uninitialized {
            self.look_at_content(findings, touch);
        }
        if checks.races {
            self.look_at_order(findings, touch);
        }
    }

    fn look_at_heap(&self, findings: &mut Findings, address: u64, touch: &Touch) {
        if let Some((heap, log)) = &self.common.heap
            && let Some((allocation, offset)) = self.common.places.locate(address)
            && allocation == *heap
        {
            let log = log.lock().unwrap_or_else(PoisonError::into_inner);
            if let Err(near) = log.access(offset, touch.bytes) {
                findings.add(self.statement, touch.thread, What::Heap { address, near });
            }
        }
    }

    fn look_at_content(&self, findings: &mut Findings, touch: &Touch) {
        let (bits, offset) = match touch.spot {
            Spot::Shared(offset) => (Some(&self.written), offset),
            Spot::Global(address) => {
                let Some((allocation, offset)) = self.common.places.locate(address) else { return };
                (self.common.written.get(allocation).and_then(|bits| bits.as_deref()), offset)
            }
        };
        let Some(bits) = bits else { return };
        if touch.kind != AccessKind::Write
            && let Some(byte) = bits.first_unwritten(offset, touch.bytes)
        {
            let spot = match touch.spot {
                Spot::Shared(_) => Spot::Shared(byte),
                Spot::Global(address) => Spot::Global(address - offset + byte),
            };
            findings.add(self.statement, touch.thread, What::Uninitialized(spot));
        }
        if touch.kind != AccessKind::Read {
            bits.set(offset, touch.bytes);
        }
    }

    fn look_at_order(&mut self, findings: &mut Findings, touch: &Touch) {
        let warp = touch.thread / WARP;
        let strength = match (touch.order.semantics, touch.order.scope) {
            (OrderSemantics::Weak, _) => Strength::Weak,
            (_, Scope::Block) => Strength::Block,
            (_, Scope::Device) => Strength::Device,
        };
        let mut now = Record {
            block: self.block,
            generation: self.clocks.generation,
            counter: touch.copy.unwrap_or_else(|| self.clocks.counter(warp)),
            stamp: 0,
            statement: self.statement,
            lanes: 1 << (touch.thread % WARP),
            warp: (warp + if touch.copy.is_some() { self.lanes / WARP } else { 0 }) as u8,
            bytes: 0,
            writes: touch.kind != AccessKind::Read,
            swaps: touch.swaps,
            strength,
        };
        let (allocation, offset) = match touch.spot {
            Spot::Shared(offset) => (None, offset),
            Spot::Global(address) => {
                now.stamp = self.common.now();
                let Some((allocation, offset)) = self.common.places.locate(address) else { return };
                (Some(allocation), offset)
            }
        };
        let end = offset.saturating_add(touch.bytes);
        let mut first: Option<(u64, Conflict)> = None;
        let mut at = offset;
        while at < end {
            let (word, start) = (at / WORD, at % WORD);
            let count = (WORD - start).min(end - at);
            now.bytes = (((1u32 << count) - 1) << start) as u8;
            let conflict = match allocation {
                None => self
                    .cells
                    .get_mut(word as usize)
                    .and_then(|cell| cell.add(&self.clocks, now, touch.thread, true, &self.common.room)),
                Some(allocation) => self.common.add(allocation, word, &self.clocks, now, touch.thread),
            };
            if let (Some(conflict), None) = (conflict, &first) {
                let byte = u64::from((conflict.record.bytes & now.bytes).trailing_zeros());
                first = Some((word * WORD + byte, conflict));
            }
            at += count;
        }
        let Some((byte, Conflict { record, thread })) = first else { return };
        let spot = match touch.spot {
            Spot::Shared(_) => Spot::Shared(byte),
            Spot::Global(address) => Spot::Global(address - offset + byte),
        };
        let race = Race {
            spot,
            block: u64::from(record.block),
            thread: thread % self.lanes,
            statement: record.statement,
            kind: record.kind(),
            is_copy: thread >= self.lanes,
            same_value: touch.same_value && record.writes,
            guess: touch.swaps && !record.writes || record.swaps && touch.kind == AccessKind::Read,
            narrow: record.strength.min(strength) > Strength::Weak,
        };
        findings.add(self.statement, touch.thread, What::Race(race));
    }

    /// A strong read of one thread has been made, or the read of an atomic.
    pub(crate) fn has_read(&mut self, touch: &Touch) {
        if touch.order.semantics == OrderSemantics::Weak || !self.common.checks.races {
            return;
        }
        touch.elements().for_each(|element| self.has_read_element(&element));
    }

    fn has_read_element(&mut self, touch: &Touch) {
        let thread = touch.thread;
        // Programs count on an atomic to acquire without a fence behind it, as where the last block to come sums up.
        let is_atomic = touch.kind == AccessKind::Atomic;
        let until = match touch.spot {
            Spot::Global(address) if touch.order.scope == Scope::Device => self.common.released(address),
            _ => 0,
        };
        let clock = match self.released.get(&touch.spot) {
            Some(released) => released.clock.clone(),
            None => self.released_elsewhere.clone(),
        };
        if touch.order.semantics.acquires() {
            if let Some(clock) = &clock {
                let before = self.clocks.until(thread);
                self.clocks.acquire(thread, clock);
                debug_assert!(self.clocks.until(thread) >= before);
            }
            self.clocks.acquire_until(thread, until);
            return;
        }
        if is_atomic && until != 0 {
            self.clocks.acquire_until(thread, until);
        }
        self.clocks.will_acquire(thread, clock.as_ref(), until);
    }

    /// One thread has written, or made an atomic. What was released before ends with it, unless [`Shadow::will_write`] went on.
    pub(crate) fn has_written(&mut self, touch: &Touch) {
        if self.common.checks.races && touch.kind != AccessKind::Atomic {
            touch.elements().for_each(|element| self.has_written_element(&element));
        }
    }

    fn has_written_element(&mut self, touch: &Touch) {
        let order = touch.order;
        if order.semantics == OrderSemantics::Weak {
            // What is no strong write releases nothing.
            if self.released.remove(&touch.spot).is_some()
                && let Spot::Global(address) = touch.spot
            {
                self.common.forget(address);
            }
            return;
        }
        if let Spot::Global(address) = touch.spot {
            let scope = if order.semantics.releases() {
                Some(order.scope)
            } else {
                self.clocks.released_by_fence(touch.thread).map(|(_, scope)| scope)
            };
            if (order.scope, scope) != (Scope::Device, Some(Scope::Device)) {
                self.common.forget(address);
            }
        }
    }

    /// One thread is about to write, or to make an atomic: what it releases is known before another core can read what it writes.
    pub(crate) fn will_write(&mut self, touch: &Touch) {
        if !self.common.checks.races || touch.order.semantics == OrderSemantics::Weak {
            return;
        }
        touch.elements().for_each(|element| self.will_write_element(&element));
    }

    fn will_write_element(&mut self, touch: &Touch) {
        let (thread, order) = (touch.thread, touch.order);
        let is_atomic = touch.kind == AccessKind::Atomic;
        let (clock, scope) = if order.semantics.releases() {
            (Some(self.clocks.release(thread)), Some(order.scope))
        } else {
            match self.clocks.released_by_fence(thread) {
                Some((clock, scope)) => (Some(clock), Some(scope)),
                None => (None, None),
            }
        };
        if let (Spot::Global(address), Scope::Device, Some(Scope::Device)) = (touch.spot, order.scope, scope) {
            self.common.release(address);
        }
        if clock.is_none() && !self.released.contains_key(&touch.spot) {
            return;
        }
        let Some(released) = self.released_at(touch.spot) else {
            if let Some(clock) = clock {
                self.release_elsewhere(clock);
            }
            return;
        };
        // Atomics continue what was released before, and so do later writes of the same thread.
        let goes_on = is_atomic || released.writer == thread;
        released.clock = match (released.clock.take().filter(|_| goes_on), clock) {
            (Some(before), Some(clock)) => Some(join(&before, &clock)),
            (before, clock) => before.or(clock),
        };
        released.writer = thread;
    }

    /// One thread has used an object of `mbarrier`; `completes` says whether this completed a phase.
    pub(crate) fn mbarrier(&mut self, touch: &Touch, usage: MbarrierUse, completes: bool) {
        if !self.common.checks.races {
            return;
        }
        let thread = touch.thread;
        let clock = match usage {
            MbarrierUse::Wait => {
                let clock = match self.released.get(&touch.spot) {
                    Some(released) => released.clock.as_ref(),
                    None => self.released_elsewhere.as_ref(),
                };
                match clock {
                    Some(clock) if touch.order.semantics.acquires() => self.clocks.acquire(thread, clock),
                    Some(clock) => self.clocks.will_acquire(thread, Some(clock), 0),
                    None => {}
                }
                return;
            }
            MbarrierUse::Arrive if touch.order.semantics.releases() => Some(self.clocks.release(thread)),
            MbarrierUse::Arrive => self.clocks.released_by_fence(thread).map(|(clock, _)| clock),
            MbarrierUse::CopiesArrive => Some(self.clocks.release_copies(thread)),
        };
        let Some(released) = self.released_at(touch.spot) else {
            if let Some(clock) = clock {
                self.release_elsewhere(clock);
            }
            return;
        };
        if let Some(clock) = clock {
            let gathering = released.gathering.take();
            released.gathering = Some(gathering.map_or_else(|| clock.clone(), |before| join(&before, &clock)));
        }
        if completes && let Some(gathered) = released.gathering.take() {
            released.clock = Some(released.clock.take().map_or_else(|| gathered.clone(), |c| join(&c, &gathered)));
        }
    }

    /// A thread starts a copy of `cp.async`; see [`Clocks::copy`].
    pub(crate) fn copy(&mut self, thread: usize, is_first: bool) -> u32 {
        self.clocks.copy(thread, is_first)
    }

    /// A step of a warp has released something: later accesses are not part of it.
    pub(crate) fn tick(&mut self, warp: usize) {
        self.clocks.tick(warp);
    }

    /// Threads execute a fence.
    pub(crate) fn fence(&mut self, threads: impl Iterator<Item = usize> + Clone, fence: Fence) {
        if !self.common.checks.races {
            return;
        }
        for thread in threads.clone() {
            match fence {
                Fence::Memory(scope) => self.clocks.fence(thread, scope),
                Fence::CommitGroup => self.clocks.commit_copies(thread),
                Fence::WaitGroup { pending, all } => self.clocks.wait_copies(thread, pending, all),
            }
        }
        if matches!(fence, Fence::Memory(_)) {
            (0..self.lanes / WARP)
                .filter(|warp| threads.clone().any(|thread| thread / WARP == *warp))
                .for_each(|warp| self.clocks.tick(warp));
        }
    }

    /// All threads of the block that have not ended meet at a barrier.
    pub(crate) fn barrier(&mut self, id: usize, threads: impl Iterator<Item = usize> + Clone) {
        if self.common.checks.races && self.clocks.meet_all(id, threads) {
            self.forget_released();
        }
    }

    /// Threads come to a barrier.
    pub(crate) fn arrive(&mut self, id: usize, threads: impl Iterator<Item = usize> + Clone) {
        if self.common.checks.races {
            self.clocks.arrive(id, threads);
        }
    }

    /// The threads that wait at a barrier go on; `all` says whether they are all that have not ended.
    pub(crate) fn pass(&mut self, id: usize, threads: impl Iterator<Item = usize> + Clone, all: bool) {
        if self.common.checks.races && self.clocks.pass(id, threads, all) {
            self.forget_released();
        }
    }

    /// Lanes of a warp wait for each other: `bar.warp.sync`.
    pub(crate) fn warp_barrier(&mut self, warp: usize, lanes: u32) {
        if self.common.checks.races && lanes != 0 {
            let threads = (0..WARP).filter(|lane| lanes >> lane & 1 != 0).map(|lane| warp * WARP + lane);
            self.clocks.meet(threads);
        }
    }

    /// Threads end.
    pub(crate) fn end(&mut self, threads: impl Iterator<Item = usize> + Clone) {
        if self.common.checks.races {
            self.clocks.end(threads);
        }
    }

    /// The heap's log, if it is kept.
    pub(crate) fn heap(&self) -> Option<std::sync::MutexGuard<'_, HeapLog>> {
        let (_, log) = self.common.heap.as_ref()?;
        Some(log.lock().unwrap_or_else(PoisonError::into_inner))
    }

    /// An allocation of the heap is new, its content undefined. Whoever had these bytes before gave them back.
    pub(crate) fn allocated(&self, heap: usize, offset: u64, bytes: u64) {
        self.common.renew(heap, offset, bytes);
        if let Some(bits) = self.common.written.get(heap).and_then(Option::as_deref) {
            bits.clear(offset, bytes);
        }
    }
}
