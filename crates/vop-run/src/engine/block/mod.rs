//! One block at a time: which threads run what, and when.
//!
//! Threads that are at the same place form a *group*: a place (frame and [`Pc`]) and a mask. One group runs; the others are parked.
//! A branch that not all threads take parts a group in two. They meet again because the group at the lowest [rank](super::super::decode)
//! runs first: a block of code has a lower rank than all that is executed after it, and all of a loop has a lower one than what
//! follows the loop, so whoever is behind catches up, and groups that are at one place become one. Where a group waits in a loop
//! for one that is parked (a spin lock), patience ends after some turns and the others have theirs: every thread makes progress.
//!
//! Nothing of this depends on time or on other blocks, so a block does the same in every run.

mod call;
mod groups;
mod sample;

use std::collections::HashMap;
use std::sync::atomic::Ordering;

use super::access::{Reach, atomic};
use super::barrier::Arrivals;
use super::lanes::{Area, File, HALF, Slot, WARP, Width, blend, sample_count, sampled_thread};
use super::launch::{Launch, MAX_THREADS};
use super::level::leveled;
use super::observer::Observer;
use super::shadow::Shadow;
use super::storage::Columns;
use crate::code::{
    Access, Call, CallTarget, Claim, Copy, Formal, FunctionCode, Guard, Op, Pc, Special, Step, Transfer,
};
use crate::error::{RunError, RunErrorKind, ThreadId};
use crate::memory::{Bytes, FUNCTION_BASE, Fault, Space};

pub(super) type Failure = Box<RunError>;

/// Turns of a loop that a group has before others that could run get theirs: at first, and at least.
const PATIENCE: (u32, u32) = (4096, 16);
/// Register memory of a block: 2 GiB.
const MAX_REGISTERS: usize = 2 << 30;

/// A function that is being executed, as threads with the same callers share it.
#[derive(Clone, Copy, Debug)]
pub(super) struct Frame {
    /// Its caller's; its own index for the kernel's.
    parent: u32,
    /// The step after the call.
    after: Pc,
    call: Pc,
    function: u32,
    depth: u32,
    /// Bytes a thread of predicates, words and doubles that the callers take.
    registers: [u32; 3],
    /// Where its part of the stack starts and ends.
    stack: u32,
    top: u32,
    /// Frames that were called from it and are still there.
    callees: u32,
    /// The place in the kernel of the call that led here.
    place_in_kernel: u64,
}

/// Why a group does not run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Wait {
    /// It could.
    Ready,
    /// Behind a barrier's step.
    Barrier(super::barrier::Arrival),
    /// Before a step that other lanes of the warp must come to.
    Warp,
}

/// Threads at one place.
#[derive(Clone, Debug)]
pub(super) struct Group {
    pub(super) frame: u32,
    pub(super) pc: Pc,
    /// A byte for each thread of the padded block.
    pub(super) mask: Vec<u8>,
    pub(super) active: u32,
    pub(super) wait: Wait,
    /// When it was parked.
    stamp: u64,
}

/// What runs the blocks that a core takes, one after another.
pub(super) struct Worker<'l> {
    pub(super) launch: &'l Launch<'l>,
    pub(super) reach: Reach,
    columns: [Columns; 3],
    thread_area: Columns,
    block_area: Columns,
    /// The samples, and those of the thread's area.
    samples: Columns,
    thread_samples: Columns,
    /// The columns that samples are computed with.
    sample_file: File,
    /// What the block executes, and where operands stand: not always those of the kernel, which say where errors are.
    pub(super) steps: &'l [Step],
    shared: Bytes,
    stack: Columns,
    frames: Vec<Frame>,
    frame_index: HashMap<(u32, Pc, u32), u32>,
    /// Indexes of frames that nobody is in any more.
    free_frames: Vec<u32>,
    /// The running group.
    pub(super) frame: u32,
    pub(super) pc: Pc,
    pub(super) mask: Vec<u8>,
    pub(super) active: u32,
    /// The others.
    pub(super) parked: Vec<Group>,
    /// How many of them are ready, and the lowest place in the kernel of those.
    ready: usize,
    lowest: u64,
    stamp: u64,
    turns: u32,
    pub(super) patience: u32,
    /// Turns for which the running group is not made to wait for one that is behind.
    free: u32,
    /// Threads that have not ended.
    pub(super) live: Vec<u8>,
    pub(super) live_count: u32,
    /// All threads of the block.
    everyone: Vec<u8>,
    pub(super) barriers: Arrivals,
    /// Where a guard is true.
    guard: Vec<u8>,
    pub(super) ctaid: [u32; 3],
    block_index: u64,
    pub(super) executed: u64,
    video: u64,
    pub(super) printed: Vec<u8>,
    /// Whether the block ended because one before it failed, or the launch.
    pub(super) abandoned: bool,
    pub(super) observer: Option<Box<Observer>>,
}

/// What a block did.
#[derive(Clone, Debug, Default)]
pub(super) struct Done {
    pub(super) executed: u64,
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
    pub(super) fn new(launch: &'l Launch<'l>) -> Worker<'l> {
        let (lanes, kernel) = (launch.lanes(), launch.kernel);
        let samples = sample_count(lanes);
        let mut shared = Bytes::zeros(launch.shared_len);
        let mut block_area = Columns::new(kernel.constants.len());
        block_area.bytes_mut()[..kernel.constants.len()].copy_from_slice(&kernel.constants);
        let everyone: Vec<u8> = (0..lanes).map(|t| if t < launch.threads { 0xff } else { 0 }).collect();
        let mut worker = Worker {
            reach: Reach {
                file: File::new(lanes / WARP),
                regions: launch.regions.as_ptr(),
                region_count: launch.regions.len(),
                shared: shared.as_mut_ptr(),
                shared_len: launch.shared_len as u64,
                local: std::ptr::null_mut(),
                lanes,
                frame: 0,
                top: 0,
                params: launch.params.as_ptr().cast_mut(),
                params_len: launch.params.len() as u64,
                shadow: launch.checks.map(|checks| Box::new(Shadow::new(checks, launch.shared_len, lanes / WARP))),
            },
            launch,
            columns: Default::default(),
            thread_area: Columns::new(kernel.thread_bytes as usize * lanes),
            block_area,
            samples: Columns::new(launch.sampled.map_or(0, |sampled| sampled.bytes as usize) * samples),
            thread_samples: Columns::new(launch.sampled.map_or(0, |_| kernel.thread_bytes as usize) * samples),
            sample_file: File::of_samples(lanes),
            steps: &kernel.steps,
            shared,
            stack: Columns::default(),
            frames: Vec::new(),
            frame_index: HashMap::new(),
            free_frames: Vec::new(),
            frame: 0,
            pc: 0,
            mask: everyone.clone(),
            active: launch.threads as u32,
            parked: Vec::new(),
            ready: 0,
            lowest: u64::MAX,
            stamp: 0,
            turns: 0,
            patience: 0,
            free: 0,
            live: everyone.clone(),
            everyone,
            live_count: launch.threads as u32,
            barriers: Arrivals::default(),
            guard: vec![0; lanes],
            ctaid: [0; 3],
            block_index: 0,
            executed: 0,
            video: 0,
            printed: Vec::new(),
            abandoned: false,
            observer: launch.observe.then(|| Box::new(Observer::new(launch))),
        };
        worker.reach.file.bases[Area::Thread as usize] = worker.thread_area.as_mut_ptr();
        worker.reach.file.bases[Area::Block as usize] = worker.block_area.as_mut_ptr();
        for (special, slot, _) in kernel.specials.iter().filter(|(special, ..)| special.is_of_thread()) {
            let column = &mut worker.thread_area.bytes_mut()[slot.place() as usize * lanes..];
            for (t, word) in column.chunks_exact_mut(4).enumerate().take(launch.threads) {
                word.copy_from_slice(&worker.launch.special_of(*special, t).to_le_bytes());
            }
            if launch.sampled.is_some() {
                let column = &mut worker.thread_samples.bytes_mut()[slot.place() as usize * samples..];
                for (sample, word) in column.chunks_exact_mut(4).enumerate().take(samples) {
                    let value = worker.launch.special_of(*special, sampled_thread(sample, lanes));
                    word.copy_from_slice(&value.to_le_bytes());
                }
            }
        }
        worker.set_block_specials(false);
        if let Some(sampled) = launch.sampled {
            let bases = &mut worker.sample_file.bases;
            bases[Area::Thread as usize] = worker.thread_samples.as_mut_ptr();
            bases[Area::Block as usize] = worker.block_area.as_mut_ptr();
            bases[Area::Samples as usize] = worker.samples.as_mut_ptr();
            worker.reach.file.bases[Area::Samples as usize] = worker.samples.as_mut_ptr();
            worker.compute_samples(&sampled.once);
        }
        worker
    }

    /// `%ctaid` and the like: those that differ between blocks, or the others.
    fn set_block_specials(&mut self, each: bool) {
        let launch = self.launch;
        let is_meant = |special: Special| !special.is_of_thread() && special.is_of_block() == each;
        for &(special, slot, width) in launch.kernel.specials.iter().filter(|(special, ..)| is_meant(*special)) {
            let value = match special {
                Special::Ntid(axis) => launch.block[axis],
                Special::Ctaid(axis) => self.ctaid[axis],
                Special::Nctaid(axis) => launch.grid[axis],
                Special::Nwarpid => self.launch.threads.div_ceil(WARP) as u32,
                Special::DynamicShared => launch.kernel.shared_bytes as u32,
                Special::DynamicSharedSize => launch.dynamic_shared as u32,
                Special::TotalSharedSize => launch.shared_len as u32,
                Special::One => 1,
                _ => 0,
            };
            // SAFETY: the slot was laid out for this width, for one warp's elements.
            unsafe {
                match width {
                    Width::Double => {
                        *self.reach.file.column::<u64>(slot).warp(0) = [u64::from(value); WARP];
                    }
                    _ => *self.reach.file.column::<u32>(slot).warp(0) = [value; WARP],
                }
            }
        }
    }

    /// Runs a block to its end.
    pub(super) fn run(&mut self, index: u64, ctaid: [u32; 3]) -> Result<Done, Failure> {
        (self.block_index, self.ctaid) = (index, ctaid);
        (self.executed, self.video) = (0, 0);
        if self.launch.shared_len > 0 {
            self.shared.as_mut_slice().fill(0);
        }
        self.stack.bytes_mut().fill(0);
        if let Some(shadow) = &mut self.reach.shadow {
            shadow.start();
        }
        self.set_block_specials(true);
        self.steps = self.sample();
        self.parked.clear();
        self.rescan();
        (self.stamp, self.turns, self.free, self.patience) = (0, 0, 0, PATIENCE.0);
        self.live.copy_from_slice(&self.everyone);
        self.mask.copy_from_slice(&self.everyone);
        self.live_count = self.launch.threads as u32;
        self.active = self.live_count;
        self.barriers.clear();
        self.frames.clear();
        self.frame_index.clear();
        self.free_frames.clear();
        let kernel = &self.launch.kernel.functions[0];
        self.frames.push(Frame {
            parent: 0,
            after: 0,
            call: 0,
            function: 0,
            depth: 0,
            registers: [0; 3],
            stack: 0,
            top: kernel.stack,
            callees: 0,
            place_in_kernel: 0,
        });
        self.pc = kernel.start;
        self.enter(0)?;
        self.clear(0);
        let result = self.run_all();
        let printed = std::mem::take(&mut self.printed);
        match result {
            Ok(()) => Ok(Done { executed: self.executed, video: self.video, printed }),
            Err(error) => {
                self.printed = printed;
                Err(error)
            }
        }
    }

    fn run_all(&mut self) -> Result<(), Failure> {
        let execute = if self.observer.is_some() { execute_observed } else { execute };
        let execute = execute(self.launch.level);
        loop {
            // SAFETY: the level is one that this CPU has.
            unsafe { execute(self)? };
            if self.parked.is_empty() {
                return Ok(());
            }
            loop {
                if self.resume() {
                    break;
                }
                if !self.release_waiting()? {
                    return Err(self.deadlock());
                }
            }
        }
    }

    /// Runs the running group until it waits or ends.
    #[inline(always)]
    fn execute_here<const OBSERVED: bool>(&mut self) -> Result<(), Failure> {
        let launch = self.launch;
        let steps = self.steps;
        loop {
            let pc = self.pc;
            let step = &steps[pc as usize];
            let (mut mask, mut active) = (self.mask.as_ptr(), self.active);
            if let Some(guard) = step.guard {
                active = self.guarded(guard);
                if active == 0 {
                    self.pc = pc + 1;
                    continue;
                }
                if active != self.active {
                    mask = self.guard.as_ptr();
                }
            }
            if step.counts {
                self.executed += u64::from(active);
            }
            if OBSERVED {
                self.observe_before(pc, mask, active);
            }
            self.pc = pc + 1;
            match &step.op {
                // SAFETY: slots were laid out for this file, and the masks have a byte for each of its threads.
                Op::Compute { run, operands, .. } => unsafe {
                    run(&self.reach.file, operands, mask);
                },
                Op::Skip { steps, counts } => {
                    self.executed += u64::from(*counts) * u64::from(active);
                    self.pc = pc + steps;
                }
                Op::Join => {
                    if self.ready != 0 {
                        self.pc = pc;
                        self.meet();
                        if self.pc == pc {
                            self.pc = pc + 1;
                        }
                    }
                    self.check_limits()?;
                }
                Op::Branch(target) => {
                    if active == self.active {
                        self.pc = *target;
                    } else {
                        self.part(*target);
                    }
                }
                Op::Load(load) => {
                    self.tell_shadow(step.statement);
                    // SAFETY: as above.
                    let result = unsafe { (load.gather)(&mut self.reach, load, mask) };
                    if let Err(fault) = result {
                        return Err(self.access_failed(fault, pc));
                    }
                }
                Op::Store(store) => {
                    self.tell_shadow(step.statement);
                    // SAFETY: as above.
                    let result = unsafe { (store.scatter)(&mut self.reach, store, mask) };
                    if let Err(fault) = result {
                        return Err(self.access_failed(fault, pc));
                    }
                }
                Op::Atomic(a) => {
                    self.tell_shadow(step.statement);
                    // SAFETY: as above.
                    let result = unsafe { atomic(&mut self.reach, a, mask) };
                    if let Err(fault) = result {
                        return Err(self.access_failed(fault, pc));
                    }
                }
                Op::Video(video) => {
                    self.video += u64::from(active);
                    // SAFETY: as above.
                    unsafe { launch.video(&self.reach.file, video, mask) };
                }
                Op::Return | Op::Exit if active == self.active && self.parked.is_empty() && self.frame == 0 => {
                    // The end of all that run, as most blocks end.
                    for (live, gone) in self.live.iter_mut().zip(&self.mask) {
                        *live &= !gone;
                    }
                    self.live_count -= active;
                    (self.active, self.pc) = (0, pc + 1);
                    if OBSERVED {
                        self.observe_after(pc);
                    }
                    return Ok(());
                }
                _ => {
                    let mask = if active == self.active { self.mask.clone() } else { self.guard.clone() };
                    if !self.other(pc, &step.op, mask, active)? {
                        return Ok(());
                    }
                }
            }
            if OBSERVED {
                self.observe_after(pc);
            }
        }
    }

    /// Operations that are rare or slow in themselves; false if the running group waits or has ended.
    #[inline(never)]
    fn other(&mut self, pc: Pc, op: &Op, mask: Vec<u8>, active: u32) -> Result<bool, Failure> {
        match op {
            Op::Divisor(slot, width) => {
                // SAFETY: the slot was laid out for this width.
                let zero =
                    (0..self.reach.lanes).find(|t| mask[*t] != 0 && unsafe { self.element(*slot, *width, *t) } == 0);
                match zero {
                    None => Ok(true),
                    Some(thread) => {
                        let error = RunError::new(RunErrorKind::DivisionByZero, "division by zero");
                        Err(self.fail(error, thread, pc))
                    }
                }
            }
            Op::BranchIndexed { index, targets } => self.branch_indexed(pc, *index, targets, mask),
            Op::StackAddress { d, width, offset } => {
                let address = self.reach.frame.wrapping_add(*offset);
                self.set_all(*d, *width, address, &mask);
                Ok(true)
            }
            Op::Call(call) => self.call(pc, call, mask, active),
            Op::Return => {
                if self.frames[self.frame as usize].depth == 0 {
                    self.end(mask, active)
                } else {
                    self.return_from(mask, active)
                }
            }
            Op::Exit => self.end(mask, active),
            Op::Barrier(barrier) => self.barrier(pc, barrier, mask),
            Op::Warp(collective) => self.collective(pc, collective, mask),
            Op::Clock { d, width, high } => {
                let value = if *high { self.executed >> 32 } else { self.executed };
                self.set_all(*d, *width, value, &mask);
                Ok(true)
            }
            Op::Copy(copy) => self.copy(pc, copy, &mask).map(|()| true),
            Op::System(system) => self.system(pc, system, &mask).map(|()| true),
            Op::Nothing => Ok(true),
            Op::Trap(name) => {
                let message = format!("the kernel executed {name}");
                Err(self.fail(RunError::new(RunErrorKind::Trap, message), self.first(&mask), pc))
            }
            _ => Ok(true),
        }
    }

    #[inline(always)]
    fn tell_shadow(&mut self, statement: u32) {
        if let Some(shadow) = &mut self.reach.shadow {
            shadow.statement = statement;
        }
    }

    /// Where a guard is true, in `self.guard`; how many threads that are.
    #[inline(always)]
    fn guarded(&mut self, guard: Guard) -> u32 {
        let flip = if guard.when { 0 } else { 0xff };
        if guard.slot.area() == Area::Samples {
            return self.guarded_by_samples(guard.slot, flip);
        }
        let mut active = 0;
        for warp in 0..self.reach.file.warps {
            // SAFETY: a guard is a column of predicates.
            let p = unsafe { &*self.reach.file.column::<u8>(guard.slot).warp(warp) };
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

    fn check_limits(&mut self) -> Result<(), Failure> {
        if self.executed > self.launch.limit {
            return Err(self.limit_reached());
        }
        if self.launch.failed.load(Ordering::Relaxed) < self.block_index {
            // What this one would do does not matter any more.
            self.abandoned = true;
            return Err(Box::new(RunError::new(RunErrorKind::Limit, "")));
        }
        Ok(())
    }

    #[cold]
    fn limit_reached(&self) -> Failure {
        let message = format!("the launch's limit of {} thread-instructions is reached", self.launch.limit);
        let error =
            RunError::new(RunErrorKind::Limit, message).with_help("if this is no runaway loop, raise the limit");
        // The step behind the join is one of the loop.
        let pc =
            (self.pc..).take(64).find(|pc| self.launch.kernel.steps.get(*pc as usize).is_none_or(|step| step.counts));
        self.fail(error, self.first(&self.mask), pc.unwrap_or(self.pc))
    }

    fn copy(&mut self, pc: Pc, copy: &Copy, mask: &[u8]) -> Result<(), Failure> {
        for thread in (0..mask.len()).filter(|t| mask[*t] != 0) {
            let address = |access: &Access| {
                let base = match access.width {
                    // SAFETY: the base was laid out for this width.
                    Width::Word | Width::Double => unsafe { self.element(access.base, access.width, thread) },
                    _ => 0,
                };
                base.wrapping_add(access.offset).wrapping_add(if access.in_frame { self.reach.frame } else { 0 })
            };
            let size = copy.to.bytes;
            // SAFETY: it is a column of words.
            let wanted = copy.source_bytes.map(|slot| unsafe { self.element(slot, Width::Word, thread) } as u32);
            let wanted = wanted.unwrap_or(size).min(size);
            let (to, from) = (address(&copy.to), address(&copy.from));
            let resolved = self.reach.resolve(copy.to.space, to, u64::from(size), thread, true).and_then(|to| {
                let bytes = u64::from(size);
                if from & (bytes - 1) != 0 {
                    return Err(Fault::Misaligned { address: from, bytes });
                }
                // No more is read than is asked for: the source may end there.
                let mut source = [0u8; 16];
                for i in 0..wanted {
                    let byte = self.reach.resolve(copy.from.space, from + u64::from(i), 1, thread, false)?;
                    // SAFETY: checked.
                    source[i as usize] = unsafe { byte.read() };
                }
                // SAFETY: checked for the copy's size, which is at most 16.
                unsafe { source.as_ptr().copy_to_nonoverlapping(to, size as usize) };
                Ok(to)
            });
            let to = resolved.map_err(|fault| self.faulted(fault, thread, pc))?;
            if let Some(shadow) = &mut self.reach.shadow {
                let (mut active, mut pointers) = ([0; WARP], [0; WARP]);
                (active[thread % WARP], pointers[thread % WARP]) = (0xff, to as usize);
                shadow.statement = self.launch.kernel.steps[pc as usize].statement;
                let (shared, kind) = (self.reach.shared as usize, super::shadow::Kind::Write);
                let seen = shadow.observe(shared, size as usize, thread / WARP, &active, &pointers, kind);
                seen.map_err(|fault| self.access_failed((thread / WARP, fault), pc))?;
            }
        }
        Ok(())
    }

    /// One thread's element of a column.
    ///
    /// # Safety
    /// The slot must have been laid out for this width.
    pub(super) unsafe fn element(&self, slot: Slot, width: Width, thread: usize) -> u64 {
        let (file, warp, lane) = (&self.reach.file, thread / WARP, thread % WARP);
        // SAFETY: the caller's promise.
        unsafe {
            match width {
                Width::None => 0,
                Width::Predicate => u64::from((*file.column::<u8>(slot).warp(warp))[lane] & 1),
                Width::Word => u64::from((*file.column::<u32>(slot).warp(warp))[lane]),
                Width::Double => (*file.column::<u64>(slot).warp(warp))[lane],
            }
        }
    }

    /// # Safety
    /// As for [`Worker::element`].
    pub(super) unsafe fn set_element(&mut self, slot: Slot, width: Width, thread: usize, value: u64) {
        let (file, warp, lane) = (&self.reach.file, thread / WARP, thread % WARP);
        // SAFETY: the caller's promise.
        unsafe {
            match width {
                Width::None => {}
                Width::Predicate => (*file.column::<u8>(slot).warp(warp))[lane] = u8::from(value != 0).wrapping_neg(),
                Width::Word => (*file.column::<u32>(slot).warp(warp))[lane] = value as u32,
                Width::Double => (*file.column::<u64>(slot).warp(warp))[lane] = value,
            }
        }
    }

    /// The same value for all threads of a mask.
    fn set_all(&mut self, slot: Slot, width: Width, value: u64, mask: &[u8]) {
        for thread in (0..mask.len()).filter(|t| mask[*t] != 0) {
            // SAFETY: the slot was laid out for this width.
            unsafe { self.set_element(slot, width, thread, value) };
        }
    }

    /// The first thread of a mask.
    pub(super) fn first(&self, mask: &[u8]) -> usize {
        mask.iter().position(|m| *m != 0).unwrap_or(0)
    }

    pub(super) fn thread_id(&self, thread: usize) -> ThreadId {
        let [x, y, _] = self.launch.block.map(|n| n as usize);
        let at = [thread % x, thread / x % y, thread / (x * y)];
        ThreadId { block: self.ctaid, thread: at.map(|n| n as u32) }
    }

    /// Says on an error which thread failed where.
    #[cold]
    pub(super) fn fail(&self, error: RunError, thread: usize, pc: Pc) -> Failure {
        let error = RunError { thread: Some(self.thread_id(thread)), ..error };
        Box::new(self.launch.kernel.locate(error, pc))
    }

    #[cold]
    fn access_failed(&self, (warp, (lane, problem)): (usize, super::access::LaneFault), pc: Pc) -> Failure {
        use super::access::Problem;
        let thread = warp * WARP + lane;
        let error = match problem {
            Problem::Fault(fault) => self.launch.layout(self.reach.top).explain(fault),
            Problem::Shadow(finding) => self.launch.explain_shadow(finding, |other| self.thread_id(other)),
        };
        self.fail(error, thread, pc)
    }

    /// The error of a fault that an operation met for one thread.
    #[cold]
    pub(super) fn faulted(&self, fault: Fault, thread: usize, pc: Pc) -> Failure {
        self.fail(self.launch.layout(self.reach.top).explain(fault), thread, pc)
    }

    /// The error where no thread can go on: told of the first that waits, and of one that waits elsewhere.
    #[cold]
    fn deadlock(&self) -> Failure {
        let waiting = |group: &Group| self.first(&group.mask);
        let Some(first) = self.parked.iter().min_by_key(|group| waiting(group)) else {
            return Box::new(RunError::new(RunErrorKind::Deadlock, "threads wait for each other"));
        };
        let step_of = |group: &Group| match group.wait {
            Wait::Barrier(_) => group.pc - 1,
            _ => group.pc,
        };
        let message =
            match self.parked.iter().find(|group| step_of(group) != step_of(first) || group.wait != first.wait) {
                Some(other) => {
                    let line = self.launch.kernel.place(self.launch.kernel.steps[step_of(other) as usize].statement);
                    let line = line.map_or(String::new(), |place| format!(" (line {}: `{}`)", place.line, place.text));
                    format!(
                        "this thread and {} wait for each other at different places{line}",
                        self.thread_id(waiting(other))
                    )
                }
                None => match &first.wait {
                    Wait::Barrier(arrival) => arrival.lonely(),
                    _ => "this thread waits for lanes of its warp that do not come".to_owned(),
                },
            };
        self.fail(RunError::new(RunErrorKind::Deadlock, message), waiting(first), step_of(first))
    }

    /// Bytes of memory that one thread names.
    pub(super) fn read(&self, space: Space, address: u64, bytes: u64, thread: usize) -> Result<u64, Fault> {
        let pointer = self.reach.resolve(space, address, bytes, thread, false)?;
        // SAFETY: checked for as many bytes.
        Ok(unsafe {
            match bytes {
                1 => u64::from(pointer.read()),
                2 => u64::from(pointer.cast::<u16>().read_unaligned()),
                4 => u64::from(pointer.cast::<u32>().read_unaligned()),
                _ => pointer.cast::<u64>().read_unaligned(),
            }
        })
    }

    #[inline(never)]
    fn observe_before(&mut self, pc: Pc, mask: *const u8, active: u32) {
        if let Some(mut observer) = self.observer.take() {
            // SAFETY: masks have a byte for each thread of the padded block.
            let mask = unsafe { std::slice::from_raw_parts(mask, self.reach.lanes) }.to_vec();
            observer.before(self, pc, &mask, active);
            self.observer = Some(observer);
        }
    }

    #[inline(never)]
    fn observe_after(&mut self, pc: Pc) {
        if let Some(mut observer) = self.observer.take() {
            observer.after(self, pc);
            self.observer = Some(observer);
        }
    }
}

/// How many threads a mask has.
pub(super) fn count(mask: &[u8]) -> u32 {
    mask.iter().map(|m| u32::from(m & 1)).sum()
}

pub(super) fn union(to: &mut [u8], mask: &[u8]) {
    for (to, m) in to.iter_mut().zip(mask) {
        *to |= m;
    }
}

/// # Safety
/// The slots must have been laid out for this file, and the mask must have a byte for each of its threads.
#[inline(always)]
pub(super) unsafe fn video(
    file: &File,
    slots: [Slot; 4],
    mask: *const u8,
    run: impl Fn(&[u32; WARP], &[u32; WARP], &[u32; WARP], &mut [u32; WARP]),
) {
    let [d, a, b, c] = slots;
    // SAFETY: the caller's promise.
    unsafe {
        let (d, a, b, c) = (file.column::<u32>(d), file.column::<u32>(a), file.column::<u32>(b), file.column::<u32>(c));
        for warp in 0..file.warps {
            let active = &*mask.add(warp * WARP).cast::<[u8; WARP]>();
            let mut values = [0; WARP];
            run(&*a.warp(warp), &*b.warp(warp), &*c.warp(warp), &mut values);
            blend(&mut *d.warp(warp), &values, active);
        }
    }
}
