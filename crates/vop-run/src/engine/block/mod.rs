//! One block at a time: which threads run what, and when.
//!
//! Threads at the same position form a *group*: a position (a frame and a [`Pc`]) and a mask. One group runs; the others are parked. A
//! branch that not all threads take parts a group in two. They meet again because the group of the lowest rank runs first: a stretch of
//! code has a lower rank than all that is executed after it, and all of a loop has a lower rank than what follows the loop, so the
//! threads that are behind catch up, and groups at one position become one. Where a group waits in a loop for one that is parked (a spin
//! lock), patience ends after some turns and the others have theirs: every thread makes progress.
//!
//! Nothing of this depends on time or on other blocks, so a block does the same in every run.
//!
//! - [`frames`]: functions that are being executed; [`groups`]: groups of threads. Both own their state.
//! - [`storage`]: columns, stack and shared memory; [`samples`]: what is computed before a block.
//! - [`call`], [`copy`], [`failure`]: operations on all of these; barriers, warps and the system's functions have files of their own.

#![allow(unsafe_code, reason = "operands stand in columns, which are raw memory")]
// A lane's number is an index of several arrays at once.
#![allow(clippy::needless_range_loop)]

mod call;
mod copy;
mod failure;
mod frames;
mod groups;
mod regions;
mod runs;
mod samples;
mod stack;
mod storage;

use std::ops::Range;

use super::access::{Moves, Reach};
use super::barrier::Arrivals;
use super::launch::Launch;
use super::meter::{self, Meter};
use super::observer::{Observer, View};
use super::shadow::Shadow;
use super::wait::{Idle, Polls};
use super::warp::WarpWatch;
use crate::code::{Guard, Op, Pc, Region, Step};
use crate::column::{Area, File, Slot, WARP, Width};
use crate::error::{RunError, RunErrorKind};
use crate::level::leveled;

pub(super) use failure::Failure;
use frames::Frames;
pub(super) use groups::{Groups, Wait, count, first, subtract, threads, union};
use groups::{Live, Running};
use regions::{Entered, Regions};
use runs::Runs;
use samples::Samples;
use storage::Storage;

/// What an atomic of one thread takes, in thread-instructions, and a call.
const ATOMIC: u64 = 8;
const CALL: u64 = 128;

/// What runs the blocks that a core takes, one after another.
pub(super) struct Worker<'l> {
    pub(super) launch: &'l Launch<'l>,
    /// The columns and the memory of the running group.
    pub(super) reach: Reach,
    /// The loops of loads and stores.
    moves: Moves,
    storage: Storage,
    samples: Option<Samples<'l>>,
    /// What the block executes, and where operands stand. Places of errors come from the kernel's own steps.
    pub(super) steps: &'l [Step],
    /// Loops of these that are one function.
    regions: &'l [Region],
    /// Whether these rely on samples.
    relies_on_samples: bool,
    /// What runs of machine code know, without and with samples.
    runs: [Runs; 2],
    loops: Regions,
    pub(super) frames: Frames<'l>,
    pub(super) running: Running,
    pub(super) groups: Groups,
    pub(super) live: Live,
    pub(super) barriers: Arrivals,
    /// Of the first block, where several run as one.
    ctaid: [u32; 3],
    block_index: u64,
    /// Where several run as one: the failure of the first block that has failed, and its number. The blocks before it go on.
    failed: Option<(u64, Failure)>,
    /// What the block has done.
    pub(super) done: Done,
    /// What this worker has done that the launch does not know yet.
    pub(super) meter: Meter,
    /// What is known of the block while all its groups wait.
    pub(super) idle: Idle,
    /// Reads in loops since the block started or other blocks ran.
    pub(super) spins: u32,
    /// Whether other blocks should run now, although groups of this one could.
    pub(super) gives_way: bool,
    /// Whether the block ended because the launch or an earlier block failed.
    pub(super) abandoned: bool,
    pub(super) observer: Option<Box<Observer>>,
    /// What is known of the lanes of warps, if what they do together is to be checked.
    pub(super) warp_watch: Option<Box<WarpWatch>>,
}

/// What a block did.
#[derive(Clone, Debug, Default)]
pub(super) struct Done {
    /// Statements, one for each thread that executed it.
    pub(super) executed: u64,
    /// Video instructions among them.
    pub(super) video: u64,
    pub(super) printed: Vec<u8>,
}

leveled! {
    fn execute(worker: &mut Worker<'_>) -> Result<(), Failure> {
        worker.execute_here::<false>()
    }
}

leveled! {
    fn execute_observed(worker: &mut Worker<'_>) -> Result<(), Failure> {
        worker.execute_here::<true>()
    }
}

impl<'l> Worker<'l> {
    /// A worker; an error if there is no memory for it.
    pub(super) fn new(launch: &'l Launch<'l>) -> Result<Worker<'l>, RunError> {
        if let Some(common) = &launch.common {
            launch.memory.take(Shadow::bytes(common, launch.shape.shared()), "the checks of shared memory")?;
        }
        let mut reach = Reach::new(launch);
        let moves = Moves::at(launch.kernel.level);
        let mut storage = Storage::new(launch, &mut reach)?;
        storage::set_block_specials(launch, &reach, [0; 3], false);
        let samples = Samples::new(launch, &mut reach, storage.block_area())?;
        if let Some(samples) = &samples {
            samples.compute_once(&mut reach, &moves);
        }
        let lanes = reach.lanes;
        Ok(Worker {
            launch,
            reach,
            moves,
            storage,
            samples,
            steps: launch.own_steps(false),
            regions: &[],
            relies_on_samples: false,
            runs: Default::default(),
            loops: Regions::default(),
            frames: Frames::new(launch.kernel),
            running: Running::new(lanes),
            groups: Groups::default(),
            live: Live::new(launch.threads, lanes),
            barriers: Arrivals::default(),
            ctaid: [0; 3],
            block_index: 0,
            failed: None,
            done: Done::default(),
            meter: Meter::new(),
            idle: Idle::default(),
            spins: 0,
            gives_way: false,
            abandoned: false,
            observer: launch.observer().map(Box::new),
            warp_watch: launch.checks.warp.then(|| Box::new(WarpWatch::new(lanes))),
        })
    }

    /// The number of the block, or of the first one of several; after a failure, of that which failed.
    pub(super) fn index(&self) -> u64 {
        self.block_index
    }

    /// Starts some blocks, one in most kernels, and runs them as [`Worker::advance`] does.
    pub(super) fn run(&mut self, blocks: Range<u64>) -> Result<bool, Failure> {
        let (index, count) = (blocks.start, (blocks.end - blocks.start) as usize);
        (self.block_index, self.ctaid) = (index, self.launch.shape.ctaid(index));
        self.done = Done::default();
        self.meter.start();
        self.idle = Idle::default();
        self.spins = 0;
        self.meter.over += meter::BLOCK * count as u64 + meter::of_zeros(self.storage.start(self.launch));
        self.reach.findings.block = index;
        if let Some(shadow) = &mut self.reach.shadow {
            shadow.start(index);
        }
        if let Some(watch) = &mut self.warp_watch {
            watch.start();
        }
        if self.launch.merged.is_none() {
            storage::set_block_specials(self.launch, &self.reach, self.ctaid, true);
        }
        let (launch, ctaid) = (self.launch, self.ctaid);
        self.relies_on_samples =
            self.samples.as_mut().is_some_and(|samples| samples.hold(launch, ctaid, &mut self.reach, &self.moves));
        self.set_ctaids();
        self.choose_steps();
        self.loops.start();
        self.frames.start();
        self.groups.start();
        self.live.start(self.launch.shape.threads() * count);
        self.barriers.clear();
        self.running.mask.copy_from_slice(&self.live.mask);
        (self.running.active, self.running.pc) = (self.live.count, self.launch.kernel.functions[0].start);
        self.running.polls = Polls::default().running(self.reach.changes);
        self.enter(0)?;
        self.clear(0);
        self.advance()
    }

    /// Takes the steps as machine code, once that pays.
    pub(super) fn choose_steps(&mut self) {
        let sampled = self.relies_on_samples;
        let Some(compiled) = self.launch.compiled(sampled, &self.reach.file) else {
            self.steps = self.launch.own_steps(sampled);
            return;
        };
        (self.steps, self.regions) = (&compiled.steps, &compiled.regions);
        let runs = &mut self.runs[usize::from(sampled)];
        if runs.sites.is_empty() {
            runs.start(compiled, &self.reach);
        }
    }

    /// Writes the numbers of blocks that run as one, if steps read them.
    fn set_ctaids(&mut self) {
        let (launch, file) = (self.launch, &self.reach.file);
        if launch.merged.is_none_or(|merged| self.relies_on_samples && !merged.needs_ctaids) {
            return;
        }
        let (base, length) = (file.bases[Area::Thread as usize], file.scales[Area::Thread as usize]);
        // SAFETY: the thread's area has a column for each, of all threads.
        unsafe { storage::set_ctaids(launch, self.ctaid, base, length, &[0], launch.shape.lanes()) }
    }

    /// Runs the block to its end. What it did is left in `done`. Returns false if it has not ended, as it waits for other blocks.
    pub(super) fn advance(&mut self) -> Result<bool, Failure> {
        loop {
            match self.advance_all() {
                Err(failure) if self.launch.at_once > 1 => self.leave_from(failure)?,
                result => {
                    let Some((index, failure)) = self.failed.take() else { return result };
                    self.block_index = index;
                    return Err(failure);
                }
            }
        }
    }

    /// [`Worker::advance`] up to the first failure.
    fn advance_all(&mut self) -> Result<bool, Failure> {
        let execute = if self.observer.is_some() { execute_observed } else { execute };
        let execute = execute(self.launch.kernel.level);
        loop {
            if self.running.active > 0 {
                // SAFETY: a kernel is decoded only for a level that this CPU has.
                unsafe { execute(self)? };
            }
            if std::mem::take(&mut self.gives_way) {
                return Ok(false);
            }
            if self.groups.parked.is_empty() {
                self.meter.end(self.done.executed);
                return Ok(true);
            }
            loop {
                if let Some(group) = self.groups.furthest_behind(&self.frames) {
                    self.resume(group);
                    break;
                }
                if self.release_waiting()? {
                    continue;
                }
                if self.groups.sleeping == 0 {
                    return Err(self.deadlock());
                }
                if !self.try_again()? {
                    return Ok(false);
                }
            }
        }
    }

    /// Runs the running group until it waits or ends.
    #[inline(always)]
    fn execute_here<const OBSERVED: bool>(&mut self) -> Result<(), Failure> {
        let launch = self.launch;
        let mut steps = self.steps;
        // Loops work on whole warps, whatever threads of them take a step.
        let least = meter::STEP * self.reach.file.warps as u64;
        let mut over = 0;
        loop {
            let pc = self.running.pc;
            let mut step = &steps[pc as usize];
            if let Op::Region(number) = step.op {
                let region = &self.regions[number as usize];
                if (self.loops.pays(number) || launch.always_translates()) && self.region(region)? == Entered::Yes {
                    continue;
                }
                step = &region.instead;
            }
            let (mut mask, mut active) = (self.running.mask.as_ptr(), self.running.active);
            if let Some(guard) = step.guard {
                active = self.running.guarded(&self.reach.file, guard);
                if active == 0 {
                    over += least;
                    self.running.pc = pc + 1;
                    continue;
                }
                if active != self.running.active {
                    mask = self.running.guard.as_ptr();
                }
            }
            if step.counts {
                self.done.executed += u64::from(active);
            }
            over += least.saturating_sub(u64::from(active));
            if OBSERVED {
                self.observe_before(pc, active);
            }
            self.running.pc = pc + 1;
            match &step.op {
                // SAFETY: the decoder laid the slots out for this file, and a mask has a byte for each of its threads.
                Op::Compute { run, operands, .. } => unsafe {
                    run(&self.reach.file, operands, self.or_all(mask, active));
                },
                Op::Skip { steps, counts } => {
                    self.done.executed += u64::from(*counts) * u64::from(active);
                    self.running.pc = pc + steps;
                }
                Op::Run(run) => {
                    let of_all = active as usize == self.reach.lanes;
                    let turns = self.reach.file.warps * (WARP >> run.lanes.trailing_zeros());
                    let runs = &mut self.runs[usize::from(self.relies_on_samples)];
                    let mut run = *run;
                    let mut gives_up = run.loading.is_some_and(|number| runs.gives_up(number));
                    if gives_up && let Some(other) = run.otherwise {
                        run = runs.others[other as usize];
                        gives_up = run.loading.is_some_and(|number| runs.gives_up(number));
                    }
                    self.reach.changes += u64::from(run.stores);
                    let ((function, phases), mask) =
                        if of_all { (run.all, std::ptr::null()) } else { (run.some, mask) };
                    let left = match gives_up {
                        true => turns * phases as usize,
                        // SAFETY: the steps were translated for this file and these sites, and a mask has a byte for each of its threads.
                        false => unsafe {
                            function(self.reach.file.bases.as_ptr(), mask, turns, runs.sites.as_mut_ptr())
                        },
                    };
                    if left > 0 {
                        self.finish_run(pc, &run, mask, phases, left)?;
                    }
                    self.done.executed += u64::from(run.counts) * u64::from(active);
                    self.done.video += u64::from(run.videos) * u64::from(active);
                    over += u64::from(run.executed - 1) * least.saturating_sub(u64::from(active));
                    self.running.pc = pc + run.steps;
                }
                Op::Join => {
                    self.running.polls.joins = self.running.polls.joins.wrapping_add(1);
                    if self.groups.any_to_meet() {
                        self.running.pc = pc;
                        self.meet();
                        if self.running.pc == pc {
                            self.running.pc = pc + 1;
                        }
                    }
                    self.meter.over += std::mem::take(&mut over);
                    self.look_if_due()?;
                    steps = self.steps;
                }
                Op::Poll(access) => {
                    if !self.poll(pc, access.as_deref(), active) {
                        self.meter.over += over;
                        return Ok(());
                    }
                }
                Op::Branch(target) => {
                    if active == self.running.active {
                        self.running.pc = *target;
                    } else {
                        self.part(*target);
                    }
                }
                Op::Load(load) => {
                    self.reach.tell_shadow(step.statement);
                    // SAFETY: the decoder made the load for this file, and a mask has a byte for each of its threads.
                    let result = unsafe { self.moves.load(&mut self.reach, load, mask) };
                    if let Err(fault) = result {
                        return Err(self.access_failed(fault, pc));
                    }
                }
                Op::Store(store) => {
                    self.reach.changes += 1;
                    self.reach.tell_shadow(step.statement);
                    // SAFETY: the decoder made the store for this file, and a mask has a byte for each of its threads.
                    let result = unsafe { self.moves.store(&mut self.reach, store, mask) };
                    if let Err(fault) = result {
                        return Err(self.access_failed(fault, pc));
                    }
                }
                Op::Atomic(a) => {
                    over += u64::from(active) * ATOMIC;
                    self.reach.tell_shadow(step.statement);
                    // SAFETY: the decoder made the atomic for this file, and a mask has a byte for each of its threads.
                    let result = unsafe { self.moves.atomic(&mut self.reach, a, mask) };
                    if let Err(fault) = result {
                        return Err(self.access_failed(fault, pc));
                    }
                }
                Op::Video(video) => {
                    self.done.video += u64::from(active);
                    // SAFETY: the decoder laid the slots out as words of this file, and a mask has a byte for each of its threads.
                    unsafe { launch.video(&self.reach.file, video, mask) };
                }
                Op::Barrier(barrier) if self.all_are_at(barrier, active) => {
                    self.reach.changes += 1;
                    self.meter.over += std::mem::take(&mut over) + self.reach.lanes as u64 * 2;
                    self.look_if_due()?;
                }
                // SAFETY: the decoder laid the operation out for this file, and a mask has a byte for each of its threads.
                Op::Warp(collective) if unsafe { self.whole_warps(collective, self.or_all(mask, active)) } => {
                    let (lanes, groups) = (self.reach.lanes as u64, self.groups.parked.len() as u64);
                    self.meter.over += std::mem::take(&mut over) + 8 * lanes + lanes * (groups / 4);
                    self.look_if_due()?;
                }
                Op::Return | Op::Exit
                    if active == self.running.active && self.groups.parked.is_empty() && self.running.frame == 0 =>
                {
                    // The end of all that run, as most blocks end.
                    self.live.end(&self.running.mask, active);
                    (self.running.active, self.running.pc) = (0, pc + 1);
                    if OBSERVED {
                        self.observe_after(pc);
                    }
                    self.meter.over += over;
                    return Ok(());
                }
                _ => {
                    let whole = active == self.running.active;
                    let mask = if whole { self.running.mask.clone() } else { self.running.guard.clone() };
                    self.meter.over += std::mem::take(&mut over);
                    let goes_on = self.other(pc, &step.op, mask, active)?;
                    self.look_if_due()?;
                    if !goes_on {
                        return Ok(());
                    }
                }
            }
            if OBSERVED {
                self.observe_after(pc);
            }
        }
    }

    /// A mask, or null, if it is of all threads.
    #[inline(always)]
    fn or_all(&self, mask: *const u8, active: u32) -> *const u8 {
        if active as usize == self.reach.lanes { std::ptr::null() } else { mask }
    }

    /// Operations that are rare or slow in themselves; false if the running group waits or has ended.
    #[inline(never)]
    fn other(&mut self, pc: Pc, op: &Op, mask: Vec<u8>, active: u32) -> Result<bool, Failure> {
        let (lanes, groups) = (mask.len() as u64, self.groups.parked.len() as u64);
        self.meter.over += match op {
            Op::Call(_) | Op::Return => 2 * lanes + CALL,
            // Each group that waits is looked at.
            Op::Barrier(_) => lanes * (2 + groups / 4),
            Op::Warp(_) => 8 * lanes + lanes * (groups / 4),
            // Each byte of the source is looked up.
            Op::AsyncCopy(copy) => (32 + 10 * u64::from(copy.to.bytes)) * u64::from(active),
            Op::BranchIndexed { targets, .. } => lanes * (targets.len() as u64).min(u64::from(active)) / 4,
            Op::System(_) => lanes,
            Op::Texture(op) => op.cost() * u64::from(active),
            _ => 0,
        };
        match op {
            Op::Divisor(slot, width) => {
                let file = &self.reach.file;
                // SAFETY: the decoder laid the slot out for this width.
                let zero = threads(&mask).find(|thread| unsafe { file.element(*slot, *width, *thread) } == 0);
                match zero {
                    None => Ok(true),
                    Some(thread) => {
                        let error = RunError::new(RunErrorKind::DivisionByZero, "division by zero");
                        Err(self.fail(error, thread, pc))
                    }
                }
            }
            Op::ComputeEither(compute) => {
                let run = if self.launch.by_ptxas { compute.ptxas } else { compute.manual };
                // SAFETY: the decoder laid the slots out for this file, and a mask has a byte for each of its threads.
                unsafe { run(&self.reach.file, &compute.operands, mask.as_ptr()) };
                Ok(true)
            }
            Op::BranchIndexed { index, targets } => self.branch_indexed(pc, *index, targets, mask),
            Op::StackAddress { d, width, offset } => {
                self.set_all(*d, *width, self.reach.frame.wrapping_add(*offset), &mask);
                Ok(true)
            }
            Op::Stack(change) => self.change_stack(pc, change, &mask).map(|()| true),
            Op::Call(call) => self.call(pc, call, mask),
            Op::Return if self.frames.get(self.running.frame).depth > 0 => self.return_from(mask, active),
            Op::Return | Op::Exit => self.end(mask, active),
            Op::Barrier(barrier) => {
                self.reach.changes += 1;
                self.barrier(pc, barrier, mask)
            }
            Op::Warp(collective) => self.collective(pc, collective, mask),
            Op::Clock { d, width, high } => {
                self.idle.clock = true;
                let value = if *high { self.done.executed >> 32 } else { self.done.executed };
                self.set_all(*d, *width, value, &mask);
                Ok(true)
            }
            Op::Fence(fence) => {
                if let Some(shadow) = &mut self.reach.shadow {
                    shadow.fence(threads(&mask), *fence);
                }
                Ok(true)
            }
            Op::AsyncCopy(copy) => {
                self.reach.changes += 1;
                self.async_copy(pc, copy, &mask).map(|()| true)
            }
            Op::Texture(op) => {
                self.reach.changes += u64::from(op.writes());
                self.texture(pc, op, &mask).map(|()| true)
            }
            Op::System(system) => {
                self.reach.changes += 1;
                self.system(pc, system, &mask).map(|()| true)
            }
            Op::Trap(name) => {
                let mut error = RunError::new(RunErrorKind::Trap, format!("the kernel executed {name}"));
                if self.launch.lacks_workspace() {
                    error = error.with_help(
                        "`grid.sync()` traps where the launch is not cooperative: `cooperative = true` or `--cooperative`",
                    );
                }
                Err(self.fail(error, first(&mask), pc))
            }
            _ => Ok(true),
        }
    }

    /// Hashes what the block knows but memory that others reach; returns the number of bytes.
    pub(super) fn hash_storage(&mut self, hasher: &mut impl std::hash::Hasher) -> usize {
        self.storage.hash(hasher)
    }

    /// Lets a parked group run.
    pub(super) fn resume(&mut self, index: usize) {
        let group = self.groups.parked.swap_remove(index);
        self.running.polls = group.polls.running(self.reach.changes);
        self.meter.over += std::mem::take(&mut self.groups.cost) + self.reach.lanes as u64 / 2;
        self.running.pc = group.pc;
        self.running.mask.copy_from_slice(&group.mask);
        self.running.active = group.active;
        self.enter_again(group.frame);
        self.groups.merge(&mut self.running);
        self.groups.rescan(&self.frames);
    }

    /// At a join, where other groups could run: meets those that are here, and lets those run that are behind.
    #[inline(never)]
    fn meet(&mut self) {
        if let Some(other) = self.groups.meet(&self.frames, &mut self.running, &self.reach) {
            let (frame, pc, mask) = (self.running.frame, self.running.pc, self.running.mask.clone());
            let polls = self.running.polls.parked(self.reach.changes);
            self.groups.park_polling(&self.frames, frame, pc, mask, Wait::Ready, polls);
            self.resume(other);
        }
        self.meter.over += std::mem::take(&mut self.groups.cost);
    }

    /// Parts the running group: threads whose guard is true go to `target`. The part that is behind goes on.
    #[inline(never)]
    fn part(&mut self, target: Pc) {
        self.loops.parted += 1;
        let taken = self.running.guard.clone();
        let mut rest = self.running.mask.clone();
        subtract(&mut rest, &taken);
        let (frame, pc) = (self.running.frame, self.running.pc);
        if let Some(observer) = &mut self.observer {
            observer.parted(pc - 1);
        }
        if let Some(watch) = &mut self.warp_watch {
            watch.part(&taken);
        }
        let (stay, park) = if self.frames.compare((frame, pc), (frame, target)).is_lt() {
            ((pc, rest), (target, taken))
        } else {
            ((target, taken), (pc, rest))
        };
        let polls = self.running.polls.parked(self.reach.changes);
        self.groups.park_polling(&self.frames, frame, park.0, park.1, Wait::Ready, polls);
        self.running.active = count(&stay.1);
        (self.running.pc, self.running.mask) = stay;
    }

    /// The end of threads; true if the running group has others.
    fn end(&mut self, mask: Vec<u8>, active: u32) -> Result<bool, Failure> {
        if let Some(shadow) = &mut self.reach.shadow {
            shadow.end(threads(&mask));
        }
        self.live.end(&mask, active);
        // Whoever waits for these threads may go on now.
        self.reach.changes += 1;
        let others = self.running.take_out(&mask, active);
        // Threads that waited only for these need not wait until nothing else can run.
        if self.groups.any_waiting() {
            self.release_waiting()?;
        }
        Ok(others)
    }

    fn branch_indexed(&mut self, pc: Pc, index: Slot, targets: &[Pc], mask: Vec<u8>) -> Result<bool, Failure> {
        let (mut left, frame) = (mask, self.running.frame);
        if self.running.take_out(&left, count(&left)) {
            let (pc, rest) = (self.running.pc, self.running.mask.clone());
            self.groups.park(&self.frames, frame, pc, rest, Wait::Ready);
        }
        let file = self.reach.file;
        // SAFETY: the decoder laid the index out as a word.
        let value_of = |thread| unsafe { file.element(index, Width::Word, thread) };
        while count(&left) > 0 {
            let thread = first(&left);
            let value = value_of(thread);
            let Some(target) = usize::try_from(value).ok().and_then(|i| targets.get(i)) else {
                let message = format!("index {value} of a list of {} targets", targets.len());
                return Err(self.fail(RunError::new(RunErrorKind::OutOfBounds, message), thread, pc));
            };
            let mut taken = vec![0; left.len()];
            for t in 0..left.len() {
                if left[t] != 0 && value_of(t) == value {
                    (taken[t], left[t]) = (0xff, 0);
                }
            }
            if let Some(watch) = &mut self.warp_watch {
                watch.part(&taken);
            }
            self.groups.park(&self.frames, frame, *target, taken, Wait::Ready);
        }
        Ok(false)
    }

    /// Threads have come to a step that they will execute later. `observed` says whether the observer saw them before it.
    pub(super) fn undo(&mut self, pc: Pc, mask: &[u8], active: u32, observed: bool) {
        let counts = self.steps[pc as usize].counts;
        if counts {
            self.done.executed -= u64::from(active);
        }
        if let (Some(observer), true) = (&mut self.observer, observed) {
            observer.undo(pc, mask, counts);
        }
    }

    /// Writes the same value for all threads of a mask.
    fn set_all(&self, slot: Slot, width: Width, value: u64, mask: &[u8]) {
        for thread in threads(mask) {
            // SAFETY: callers pass a slot that the decoder laid out for this width.
            unsafe { self.reach.file.set_element(slot, width, thread, value) };
        }
    }

    #[inline(never)]
    fn observe_before(&mut self, pc: Pc, active: u32) {
        if let Some(observer) = &mut self.observer {
            let whole = active == self.running.active;
            let mask = if whole { &self.running.mask } else { &self.running.guard };
            observer.before(
                &View { kernel: self.launch.kernel, ctaid: self.ctaid, file: &self.reach.file },
                pc,
                mask,
                active,
            );
        }
    }

    #[inline(never)]
    fn observe_after(&mut self, pc: Pc) {
        if let Some(observer) = &mut self.observer {
            observer.after(&View { kernel: self.launch.kernel, ctaid: self.ctaid, file: &self.reach.file }, pc);
        }
    }
}

impl Running {
    /// Where a guard is true, in `guard`; returns the number of threads.
    #[inline(always)]
    fn guarded(&mut self, file: &File, guard: Guard) -> u32 {
        if guard.slot.area() == Area::Samples {
            return self.guarded_by_samples(file, guard);
        }
        let flip = if guard.when { 0 } else { 0xff };
        let mut active = 0;
        for warp in 0..file.warps {
            // SAFETY: the decoder laid a guard's slot out as predicates.
            let p = unsafe { &*file.column::<u8>(guard.slot).warp(warp) };
            let mask = &self.mask[warp * WARP..][..WARP];
            let to = &mut self.guard[warp * WARP..][..WARP];
            let mut sum = 0u8;
            for i in 0..WARP {
                to[i] = (p[i] ^ flip) & mask[i];
                sum += to[i] & 1;
            }
            active += u32::from(sum);
        }
        active
    }
}
