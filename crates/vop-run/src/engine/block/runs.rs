//! Runs and regions of machine code: what they know of memory, and what happens where a check of theirs fails.

#![allow(unsafe_code, reason = "operands stand in columns, which are raw memory")]

use std::ops::Range;

use super::groups::{Wait, count, subtract, union};
use super::{Failure, Worker};
use crate::code::{Op, Pc, Region, Run};
use crate::column::WARP;
use crate::engine::access::{Reach, WarpFault};
use crate::jit::region::{EXECUTED, FAILED, PARTS, PENDING, RECORD, ROUNDS, TAKEN, WORDS};
use crate::jit::{self, Compiled, Site};
use crate::memory::Space;

/// What a worker knows of the runs of a kernel.
#[derive(Debug, Default)]
pub(super) struct Runs {
    pub(super) sites: Vec<Site>,
    /// See [`Compiled::others`].
    pub(super) others: Vec<Run>,
    /// By run or region with accesses: how often it was executed, and how often a check failed.
    executions: Vec<[u32; 2]>,
    /// What regions are told and tell.
    state: Vec<u64>,
}

/// Whether a region was executed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Entered {
    /// Not at all: its steps are to be.
    No,
    /// The running group goes on, or there is none.
    Yes,
}

impl Runs {
    pub(super) fn start(&mut self, compiled: &Compiled, reach: &Reach) {
        self.sites = vec![Site::default(); compiled.sites];
        // Shared memory is checked against its length in the code.
        self.sites[0].start = reach.shared as u64;
        self.others.clone_from(&compiled.others);
        self.executions = vec![[0; 2]; compiled.loading];
    }

    /// Counts an execution of a run with accesses. Whether the run is to be left to the loops: one in four failed of more than a few. The first
    /// failures find out where accesses reach.
    #[inline(always)]
    pub(super) fn gives_up(&mut self, number: u32) -> bool {
        const FREE: u32 = 64;
        let [executed, failed] = &mut self.executions[number as usize];
        *executed = executed.saturating_add(1);
        *failed > FREE && *failed > *executed / 4
    }
}

impl Worker<'_> {
    /// Executes the steps of a run for the threads of the turns that are left, one by one, and finds the memory that its loads reach.
    #[cold]
    #[inline(never)]
    pub(super) fn finish_run(&mut self, pc: Pc, run: &Run, mask: *const u8, left: usize) -> Result<(), Failure> {
        let lanes = self.reach.file.warps * WARP;
        let mut rest = vec![0xffu8; lanes];
        if !mask.is_null() {
            // SAFETY: a mask has a byte for each thread.
            rest.copy_from_slice(unsafe { std::slice::from_raw_parts(mask, lanes) });
        }
        rest[..lanes - left * run.lanes as usize].fill(0);
        self.count_failure(run.loading);
        let failed = self.step_through(pc as usize..(pc + run.steps) as usize, run.site as usize, &rest);
        match failed {
            Some((fault, at)) => {
                self.running.pc = at + 1;
                // The blocks before that which failed go on: some of their threads are through with the run.
                let mut done = self.running.mask.clone();
                subtract(&mut done, &rest);
                let through = count(&done);
                if self.launch.at_once > 1 && through > 0 {
                    self.running.take_out(&done, through);
                    let (frame, end) = (self.running.frame, pc + run.steps);
                    self.groups.park(&self.frames, frame, end, done, Wait::Ready);
                }
                Err(self.access_failed(fault, at))
            }
            None => Ok(()),
        }
    }

    fn count_failure(&mut self, loading: Option<u32>) {
        if let Some(number) = loading {
            let failed = &mut self.runs[usize::from(self.relies_on_samples)].executions[number as usize][1];
            *failed = failed.saturating_add(1);
        }
    }

    /// Executes steps of machine code one by one, and finds out where their accesses reach, whose sites start with `site`. Returns the fault of
    /// the first access that fails, and its step.
    fn step_through(&mut self, range: Range<usize>, mut site: usize, mask: &[u8]) -> Option<(WarpFault, Pc)> {
        let runs = &mut self.runs[usize::from(self.relies_on_samples)];
        let steps = self.launch.own_steps(self.relies_on_samples);
        let mut failed = None;
        jit::each(steps, range, |at, step| match &step.op {
            _ if failed.is_some() => {}
            // SAFETY: the decoder laid the slots out for this file, and the mask has a byte for each of its threads.
            Op::Compute { run, operands, .. } => unsafe { run(&self.reach.file, operands, mask.as_ptr()) },
            // SAFETY: as above.
            Op::Video(video) => unsafe { self.launch.video(&self.reach.file, video, mask.as_ptr()) },
            Op::Load(load) => {
                if load.access.space != Space::Shared {
                    // SAFETY: the decoder made the load for this file.
                    runs.sites[site] = unsafe { self.reach.site(&load.access, mask, false) };
                    site += 1;
                }
                // SAFETY: the decoder made the load for this file, and the mask has a byte for each of its threads.
                let result = unsafe { self.moves.load(&mut self.reach, load, mask.as_ptr()) };
                failed = result.err().map(|fault| (fault, at as Pc));
            }
            Op::Store(store) => {
                if store.access.space != Space::Shared {
                    // SAFETY: the decoder made the store for this file.
                    runs.sites[site] = unsafe { self.reach.site(&store.access, mask, true) };
                }
                // SAFETY: as for loads.
                let result = unsafe { self.moves.store(&mut self.reach, store, mask.as_ptr()) };
                failed = result.err().map(|fault| (fault, at as Pc));
            }
            Op::Join => {}
            _ => debug_assert!(false, "machine code has no other steps"),
        });
        failed
    }

    /// Executes a region for the running group. Threads that come to different steps become groups of their own.
    #[inline(never)]
    pub(super) fn region(&mut self, region: &Region) -> Result<Entered, Failure> {
        let runs = &mut self.runs[usize::from(self.relies_on_samples)];
        if region.loading.is_some_and(|number| runs.gives_up(number)) {
            return Ok(Entered::No);
        }
        let (lanes, exits) = (region.lanes as usize, region.exits.len());
        let turns = self.reach.file.warps * WARP / lanes;
        let words = PARTS + WORDS * region.parts.len() + exits;
        let records = words..words + if exits > 1 { turns * exits } else { 0 };
        runs.state.clear();
        runs.state.resize(records.end, 0);
        // Groups that are parked need not wait for long loops.
        let rounds = if self.groups.any_to_meet() { (region.rounds / 16).max(64) } else { region.rounds };
        let state = runs.state.as_mut_ptr();
        let left = {
            runs.state[ROUNDS] = rounds;
            runs.state[RECORD] = state.wrapping_add(records.start) as u64;
            let (bases, mask) = (self.reach.file.bases.as_ptr(), self.running.mask.as_ptr());
            // SAFETY: the steps were translated for this file and these sites, the mask has a byte for each of its threads, and the state has the
            // words that the region asks for.
            unsafe { (region.function)(bases, mask, turns, runs.sites.as_mut_ptr(), state) }
        };
        // Masks have a bit for each thread, or a byte.
        let ones = if lanes == 8 { 8 } else { 1 };
        for (part, words) in region.parts.iter().zip(runs.state[PARTS..].chunks_exact(WORDS)) {
            let [executed, taken] = [EXECUTED, TAKEN].map(|word| words[word] / ones);
            self.done.executed += executed * (u64::from(part.counts) + u64::from(part.counts_branch));
            self.done.executed += taken * u64::from(part.counts_taken);
            self.done.video += executed * u64::from(part.videos);
        }
        self.meter.over += rounds.wrapping_sub(runs.state[ROUNDS]);
        if left == 0 && exits == 1 {
            self.running.pc = region.exits[0];
            return Ok(Entered::Yes);
        }
        self.regroup(region, turns - left, records, left > 0)
    }

    /// Makes groups of the threads of a region by the steps that they have come to. `turn` is the turn that it has left at, if it did.
    fn regroup(
        &mut self,
        region: &Region,
        turn: usize,
        records: Range<usize>,
        has_left: bool,
    ) -> Result<Entered, Failure> {
        let state = std::mem::take(&mut self.runs[usize::from(self.relies_on_samples)].state);
        let (lanes, exits) = (region.lanes as usize, region.exits.len());
        let entered = std::mem::take(&mut self.running.mask);
        let mut places: Vec<(Pc, Vec<u8>)> = Vec::new();
        let mut put = |pc: Pc, first: usize, bytes: &[u8]| {
            if bytes.iter().all(|byte| *byte == 0) {
                return;
            }
            let at = places.iter().position(|(place, _)| *place == pc).unwrap_or_else(|| {
                places.push((pc, vec![0; entered.len()]));
                places.len() - 1
            });
            union(&mut places[at].1[first..], bytes);
        };
        let bytes_of = |word: u64| -> [u8; 16] {
            std::array::from_fn(|i| match lanes {
                8 if i < 8 => (word >> (8 * i)) as u8,
                8 => 0,
                _ => (word >> i & 1) as u8 * 0xff,
            })
        };
        // Turns before this one have come to the end.
        match exits {
            1 => put(region.exits[0], 0, &entered[..turn * lanes]),
            _ => {
                for (number, exits) in state[records].chunks_exact(exits).enumerate().take(turn) {
                    for (pc, word) in region.exits.iter().zip(exits) {
                        put(*pc, number * lanes, &bytes_of(*word)[..lanes]);
                    }
                }
            }
        }
        let mut failed = None;
        if has_left {
            let first = turn * lanes;
            let mut rest = entered[first..first + lanes].to_vec();
            let (parts, at_exits) = state[PARTS..].split_at(WORDS * region.parts.len());
            for (number, (part, words)) in region.parts.iter().zip(parts.chunks_exact(WORDS)).enumerate() {
                let mask = bytes_of(words[PENDING]);
                subtract(&mut rest, &mask[..lanes]);
                if number as u64 + 1 == state[FAILED] {
                    let mut all = vec![0; entered.len()];
                    all[first..first + lanes].copy_from_slice(&mask[..lanes]);
                    failed = Some((*part, all));
                } else {
                    put(part.start, first, &mask[..lanes]);
                }
            }
            match exits {
                1 => put(region.exits[0], first, &rest),
                _ => {
                    for (pc, word) in region.exits.iter().zip(at_exits) {
                        put(*pc, first, &bytes_of(*word)[..lanes]);
                    }
                }
            }
            put(region.parts[0].start, first + lanes, &entered[first + lanes..]);
        }
        self.runs[usize::from(self.relies_on_samples)].state = state;
        let frame = self.running.frame;
        if let Some((part, mask)) = failed {
            for (pc, mask) in places {
                self.groups.park(&self.frames, frame, pc, mask, Wait::Ready);
            }
            let active = count(&mask);
            (self.running.mask, self.running.active, self.running.pc) = (mask.clone(), active, part.end);
            self.count_failure(region.loading);
            if let Some((fault, at)) = self.step_through(part.start as usize..part.end as usize, part.site as usize, &mask) {
                self.running.pc = at + 1;
                return Err(self.access_failed(fault, at));
            }
            self.done.executed += u64::from(part.counts) * u64::from(active);
            self.done.video += u64::from(part.videos) * u64::from(active);
        } else {
            // The group that is furthest behind goes on.
            let behind = (0..places.len()).min_by(|a, b| {
                self.frames.compare((frame, places[*a].0), (frame, places[*b].0))
            });
            let Some(behind) = behind else {
                (self.running.mask, self.running.active) = (entered, 0);
                return Ok(Entered::Yes);
            };
            let (pc, mask) = places.swap_remove(behind);
            for (pc, mask) in places {
                self.groups.park(&self.frames, frame, pc, mask, Wait::Ready);
            }
            (self.running.active, self.running.pc, self.running.mask) = (count(&mask), pc, mask);
        }
        self.look_if_due()?;
        Ok(Entered::Yes)
    }
}
