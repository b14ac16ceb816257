//! One block at a time: which threads run what, and when.
//!
//! Threads that are at the same place form a *group*: a place (frame and [`Pc`]) and a mask. One group runs; the others are parked.
//! A branch that not all threads take parts a group in two. They meet again because the group at the lowest [rank](super::super::decode)
//! runs first: a block of code has a lower rank than all that is executed after it, and all of a loop has a lower one than what
//! follows the loop, so whoever is behind catches up, and groups that are at one place become one. Where a group waits in a loop
//! for one that is parked (a spin lock), patience ends after some turns and the others have theirs: every thread makes progress.
//!
//! Nothing of this depends on time or on other blocks, so a block does the same in every run.

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
use crate::run::code::{
    Access, Call, CallTarget, Claim, Copy, Formal, FunctionCode, Guard, Op, Pc, Special, Step, Transfer,
};
use crate::run::error::{RunError, RunErrorKind, ThreadId};
use crate::run::memory::{Bytes, FUNCTION_BASE, Fault, Space};

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
    /// What the block executes.
    steps: &'l [Step],
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
            thread_samples: Columns::new(kernel.thread_bytes as usize * samples),
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
            observer: launch.observe.then(|| Box::new(Observer::new(launch))),
        };
        worker.reach.file.bases[Area::Thread as usize] = worker.thread_area.as_mut_ptr();
        worker.reach.file.bases[Area::Block as usize] = worker.block_area.as_mut_ptr();
        for (special, slot, _) in kernel.specials.iter().filter(|(special, ..)| special.is_of_thread()) {
            let column = &mut worker.thread_area.bytes_mut()[slot.place() as usize * lanes..];
            for (t, word) in column.chunks_exact_mut(4).enumerate().take(launch.threads) {
                word.copy_from_slice(&worker.launch.special_of(*special, t).to_le_bytes());
            }
            let column = &mut worker.thread_samples.bytes_mut()[slot.place() as usize * samples..];
            for (sample, word) in column.chunks_exact_mut(4).enumerate().take(samples) {
                let value = worker.launch.special_of(*special, sampled_thread(sample, lanes));
                word.copy_from_slice(&value.to_le_bytes());
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

    /// Executes operations with samples for threads.
    fn compute_samples(&mut self, ops: &[Op]) {
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
    fn sample(&mut self) -> &'l [Step] {
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

    /// Makes a frame the one that slots are relative to.
    fn enter(&mut self, frame: u32) -> Result<(), Failure> {
        let lanes = self.reach.lanes;
        let found = self.frames[frame as usize];
        let function = &self.launch.kernel.functions[found.function as usize];
        let mut total = 0;
        for area in 0..3 {
            let bytes = (found.registers[area] + function.registers[area]) as usize * lanes;
            total += bytes;
            if total <= MAX_REGISTERS {
                self.columns[area].grow(bytes);
            }
            let start = found.registers[area] as usize * lanes;
            self.reach.file.bases[area] = self.columns[area].as_mut_ptr().wrapping_add(start);
        }
        if total > MAX_REGISTERS || found.top as usize > self.launch.stack_limit {
            return Err(self.overflow(found.depth));
        }
        self.stack.grow(found.top as usize * lanes);
        self.reach.local = self.stack.as_mut_ptr();
        self.reach.frame = u64::from(found.stack);
        self.reach.top = u64::from(found.top);
        self.frame = frame;
        Ok(())
    }

    /// Zeroes what a function may read of its registers before it writes it.
    fn clear(&mut self, function: u32) {
        let cleared = &self.launch.kernel.functions[function as usize].cleared;
        if !cleared.is_empty() {
            let mask = self.mask.clone();
            for &(slot, width) in cleared {
                self.set_all(slot, width, 0, &mask);
            }
        }
    }

    /// Makes a frame that there is room for the one that slots are relative to.
    pub(super) fn enter_again(&mut self, frame: u32) {
        let entered = if frame == self.frame { Ok(()) } else { self.enter(frame) };
        debug_assert!(entered.is_ok());
    }

    #[cold]
    fn overflow(&self, depth: u32) -> Failure {
        let message = format!(
            "stack overflow: {depth} calls within one another take more than the {} bytes that a thread has",
            self.launch.stack_limit
        );
        let error = RunError::new(RunErrorKind::StackOverflow, message);
        self.fail(
            error.with_help("a recursion that does not end? `--stack` sets the limit"),
            self.first(&self.mask),
            self.pc,
        )
    }

    /// The place in the kernel that frame and step stand for: where the kernel is, or where it called from.
    fn place_in_kernel(&self, frame: u32, pc: Pc) -> u64 {
        let frame = &self.frames[frame as usize];
        if frame.depth == 0 { self.place(pc) } else { frame.place_in_kernel }
    }

    /// What orders the places of one function.
    #[inline(always)]
    fn place(&self, pc: Pc) -> u64 {
        u64::from(self.launch.kernel.ranks[pc as usize]) << 32 | u64::from(pc)
    }

    /// Which of two places is behind: by the kernel's own places first, then by those of the functions called there.
    fn compare(&self, a: (u32, Pc), b: (u32, Pc)) -> std::cmp::Ordering {
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
    pub(super) fn park(&mut self, frame: u32, pc: Pc, mask: Vec<u8>, wait: Wait) {
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
    pub(super) fn rescan(&mut self) {
        let ready = self.parked.iter().filter(|group| group.wait == Wait::Ready);
        self.ready = ready.clone().count();
        self.lowest = ready.map(|group| self.place_in_kernel(group.frame, group.pc)).min().unwrap_or(u64::MAX);
    }

    /// Lets the parked group that is furthest behind run; false if none can.
    fn resume(&mut self) -> bool {
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

    fn resume_group(&mut self, index: usize) {
        let group = self.parked.swap_remove(index);
        self.pc = group.pc;
        self.mask.copy_from_slice(&group.mask);
        self.active = group.active;
        self.enter_again(group.frame);
        self.merge();
        self.rescan();
    }

    /// Takes in the parked groups that are where the running one is.
    fn merge(&mut self) {
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
    fn meet(&mut self) {
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

    /// The same of a predicate that samples tell.
    #[inline(never)]
    fn guarded_by_samples(&mut self, slot: Slot, flip: u8) -> u32 {
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

    fn check_limits(&self) -> Result<(), Failure> {
        if self.executed > self.launch.limit {
            return Err(self.limit_reached());
        }
        if self.launch.failed.load(Ordering::Relaxed) < self.block_index {
            // A block before this one failed: nobody will look at this one.
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

    /// Parts the running group: those whose guard is true go to `target`. Whoever is behind goes on.
    #[inline(never)]
    fn part(&mut self, target: Pc) {
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
    pub(super) fn take_out(&mut self, mask: &[u8], active: u32) -> bool {
        for (own, gone) in self.mask.iter_mut().zip(mask) {
            *own &= !gone;
        }
        self.active -= active;
        self.active > 0
    }

    /// The end of threads; true if the running group has others.
    fn end(&mut self, mask: Vec<u8>, active: u32) -> Result<bool, Failure> {
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

    fn branch_indexed(&mut self, pc: Pc, index: Slot, targets: &[Pc], mask: Vec<u8>) -> Result<bool, Failure> {
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

    fn call(&mut self, pc: Pc, call: &Call, mask: Vec<u8>, active: u32) -> Result<bool, Failure> {
        let (function, mask, active) = match call.target {
            CallTarget::Function(function) => (function, mask, active),
            CallTarget::Indirect(slot) => {
                let thread = self.first(&mask);
                // SAFETY: the address is a column of doubles.
                let address = unsafe { self.element(slot, Width::Double, thread) };
                let index = usize::try_from(address.wrapping_sub(FUNCTION_BASE) >> 4).ok();
                let found = index.and_then(|index| self.launch.kernel.by_address.get(index).copied().flatten());
                let callee = found.map(|found| &self.launch.kernel.functions[found as usize]);
                let fits = |callee: &FunctionCode| {
                    callee.parameters.len() == call.arguments.len() && callee.results.len() == call.results.len()
                };
                let Some(function) = found.filter(|_| address & 15 == 0 && callee.is_some_and(fits)) else {
                    let message = match callee.filter(|_| address & 15 == 0) {
                        Some(callee) => format!("`{}` is called with other parameters than it has", callee.name),
                        None => format!("a call of address {address:#x}, where no function is"),
                    };
                    return Err(self.fail(RunError::new(RunErrorKind::OutOfBounds, message), thread, pc));
                };
                // Threads that call something else do so on their own.
                let mut same = mask.clone();
                let mut rest = mask;
                for t in 0..same.len() {
                    // SAFETY: as above.
                    if same[t] != 0 && unsafe { self.element(slot, Width::Double, t) } != address {
                        same[t] = 0;
                    } else {
                        rest[t] = 0;
                    }
                }
                let others = count(&rest);
                if others > 0 {
                    self.undo(pc, &rest, others, true);
                    self.take_out(&rest, others);
                    self.park(self.frame, pc, rest, Wait::Ready);
                }
                let active = count(&same);
                (function, same, active)
            }
        };
        if self.take_out(&mask, active) {
            let rest = self.mask.clone();
            self.park(self.frame, self.pc, rest, Wait::Ready);
        }
        let caller = self.frames[self.frame as usize];
        let kernel = self.launch.kernel;
        let callee = &kernel.functions[function as usize];
        let key = (self.frame, pc, function);
        let frame = match self.frame_index.get(&key) {
            Some(frame) => *frame,
            None => {
                let own = &kernel.functions[caller.function as usize];
                let frame = Frame {
                    parent: self.frame,
                    after: pc + 1,
                    call: pc,
                    function,
                    depth: caller.depth + 1,
                    registers: std::array::from_fn(|i| caller.registers[i] + own.registers[i]),
                    stack: caller.top,
                    // What a call itself takes, so that recursion without variables ends as well.
                    top: caller.top.saturating_add(callee.stack).saturating_add(super::access::GRANULE as u32),
                    callees: 0,
                    place_in_kernel: self.place_in_kernel(self.frame, pc),
                };
                let index = match self.free_frames.pop() {
                    Some(index) => {
                        self.frames[index as usize] = frame;
                        index
                    }
                    None => {
                        self.frames.push(frame);
                        self.frames.len() as u32 - 1
                    }
                };
                self.frames[self.frame as usize].callees += 1;
                self.frame_index.insert(key, index);
                index
            }
        };
        let values: Vec<Vec<u64>> = call.arguments.iter().map(|a| self.take(a, caller.stack, &mask)).collect();
        self.pc = pc;
        self.mask = mask;
        self.active = active;
        self.enter(frame)?;
        self.clear(function);
        let start = self.frames[frame as usize].stack;
        for (formal, values) in callee.parameters.iter().zip(&values) {
            self.give(formal, start, values);
        }
        self.pc = callee.start;
        Ok(true)
    }

    fn return_from(&mut self, mask: Vec<u8>, active: u32) -> Result<bool, Failure> {
        let index = self.frame;
        let frame = self.frames[index as usize];
        let kernel = self.launch.kernel;
        let callee = &kernel.functions[frame.function as usize];
        if self.take_out(&mask, active) {
            let rest = self.mask.clone();
            self.park(self.frame, self.pc, rest, Wait::Ready);
        }
        let as_transfer = |formal: &Formal| match *formal {
            Formal::Stack { offset, bytes } => Transfer::Stack { offset, bytes },
            Formal::Register(slot, width) => Transfer::Register(slot, width),
        };
        let values: Vec<Vec<u64>> =
            callee.results.iter().map(|formal| self.take(&as_transfer(formal), frame.stack, &mask)).collect();
        self.mask = mask;
        self.active = active;
        self.enter(frame.parent)?;
        // The last one to leave gives the frame back: a recursion passes through more of them than there is memory.
        if self.frames[index as usize].callees == 0 && self.parked.iter().all(|group| group.frame != index) {
            self.frame_index.remove(&(frame.parent, frame.call, frame.function));
            self.free_frames.push(index);
            self.frames[frame.parent as usize].callees -= 1;
        }
        let start = self.frames[frame.parent as usize].stack;
        if let Op::Call(call) = &kernel.steps[frame.call as usize].op {
            for (result, values) in call.results.iter().zip(&values) {
                match *result {
                    Transfer::Stack { offset, bytes } => self.give(&Formal::Stack { offset, bytes }, start, values),
                    Transfer::Register(slot, width) => self.give(&Formal::Register(slot, width), start, values),
                    Transfer::Nothing => {}
                }
            }
        }
        self.pc = frame.after;
        Ok(true)
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

    /// An argument of each active thread, in words of 8 bytes: thread by thread.
    pub(super) fn take(&self, transfer: &Transfer, start: u32, mask: &[u8]) -> Vec<u64> {
        let mut words = Vec::new();
        for thread in (0..mask.len()).filter(|t| mask[*t] != 0) {
            match *transfer {
                Transfer::Register(slot, width) => {
                    // SAFETY: the slot was laid out for this width.
                    words.push(unsafe { self.element(slot, width, thread) });
                }
                Transfer::Stack { offset, bytes } => {
                    for at in (0..bytes).step_by(8) {
                        let mut word = [0; 8];
                        for i in 0..(bytes - at).min(8) {
                            word[i as usize] = *self.stack_byte(start + offset + at + i, thread);
                        }
                        words.push(u64::from_le_bytes(word));
                    }
                }
                Transfer::Nothing => {}
            }
        }
        words
    }

    /// Puts what [`Worker::take`] took where the active threads want it.
    fn give(&mut self, formal: &Formal, start: u32, words: &[u64]) {
        let threads: Vec<usize> = (0..self.mask.len()).filter(|t| self.mask[*t] != 0).collect();
        let each = words.len() / threads.len().max(1);
        for (thread, words) in threads.iter().zip(words.chunks(each.max(1))) {
            match *formal {
                Formal::Register(slot, width) => {
                    // SAFETY: the slot was laid out for this width.
                    unsafe { self.set_element(slot, width, *thread, words[0]) };
                }
                Formal::Stack { offset, bytes } => {
                    let all = words.iter().flat_map(|word| word.to_le_bytes());
                    for (i, byte) in (0..bytes).zip(all) {
                        *self.stack_byte(start + offset + i, *thread) = byte;
                    }
                }
            }
        }
    }

    #[allow(clippy::mut_from_ref, reason = "raw memory behind a pointer")]
    pub(super) fn stack_byte(&self, offset: u32, thread: usize) -> &mut u8 {
        // SAFETY: every frame that was entered has its room on the stack, and transfers stay within their frame.
        unsafe { &mut *self.reach.local.add(self.reach.in_stack(offset as usize, thread)) }
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
