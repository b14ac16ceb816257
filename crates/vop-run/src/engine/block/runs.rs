//! Runs of machine code: what they know of memory, and what happens where a check of theirs fails.

#![allow(unsafe_code, reason = "operands stand in columns, which are raw memory")]

use super::groups::{Wait, count, subtract};
use super::{Failure, Worker};
use crate::code::{Op, Pc, Run};
use crate::column::WARP;
use crate::engine::access::{Reach, WarpFault};
use crate::jit::{self, Compiled, Site};
use crate::memory::Space;

/// What a worker knows of the runs of a kernel.
#[derive(Debug, Default)]
pub(super) struct Runs {
    pub(super) sites: Vec<Site>,
    /// See [`Compiled::others`].
    pub(super) others: Vec<Run>,
    /// Bytes of the words of a turn.
    row: u64,
    /// By run or region with accesses: how often it was executed, and how often a check failed.
    executions: Vec<[u32; 2]>,
}

impl Runs {
    pub(super) fn start(&mut self, compiled: &Compiled, reach: &Reach) {
        self.sites = vec![Site::default(); compiled.sites];
        // Shared memory is checked against its length in the code.
        self.sites[0].start = reach.shared as u64;
        self.others.clone_from(&compiled.others);
        self.row = compiled.row;
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
    /// Executes the steps of a run for the threads of the turns that are left of a function with some phases, one by one, and finds the memory
    /// that its loads reach.
    #[cold]
    #[inline(never)]
    pub(super) fn finish_run(
        &mut self,
        pc: Pc,
        run: &Run,
        mask: *const u8,
        phases: u32,
        left: usize,
    ) -> Result<(), Failure> {
        let lanes = self.reach.file.warps * WARP;
        let mut rest = vec![0xffu8; lanes];
        if !mask.is_null() {
            // SAFETY: a mask has a byte for each thread.
            rest.copy_from_slice(unsafe { std::slice::from_raw_parts(mask, lanes) });
        }
        let turns = lanes / run.lanes as usize;
        // Those of the phases behind are among the turns that are left.
        let behind = (left - 1) / turns;
        let in_phase = left - behind * turns;
        let all = rest.clone();
        rest[..lanes - in_phase * run.lanes as usize].fill(0);
        self.count_failure(run.loading);
        let steps = self.launch.own_steps(self.relies_on_samples);
        let range = pc as usize..(pc + run.steps) as usize;
        let phases = if phases == 1 { vec![jit::places(steps, range)] } else { jit::phases(steps, range) };
        let first = phases.len() - 1 - behind;
        let mut site = run.site as usize;
        let mut failed = None;
        for (number, places) in phases.into_iter().enumerate().skip(first) {
            failed = self.step_through(&places, &mut site, if number == first { &rest } else { &all });
            if failed.is_some() {
                break;
            }
        }
        match failed {
            Some((fault, at)) => {
                self.running.pc = at + 1;
                // Blocks that run as one have no shared memory, and so no phases.
                debug_assert!(
                    self.launch.at_once == 1 || run.all.1 == 1 && run.some.1 == 1,
                    "threads through with a phase are through with the run"
                );
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

    pub(super) fn count_failure(&mut self, loading: Option<u32>) {
        if let Some(number) = loading {
            let failed = &mut self.runs[usize::from(self.relies_on_samples)].executions[number as usize][1];
            *failed = failed.saturating_add(1);
        }
    }

    /// Executes steps of machine code one by one, and finds out where their accesses reach, whose sites start with `site`. Returns the fault of
    /// the first access that fails, and its step.
    pub(super) fn step_through(&mut self, places: &[usize], site: &mut usize, mask: &[u8]) -> Option<(WarpFault, Pc)> {
        let runs = &mut self.runs[usize::from(self.relies_on_samples)];
        let steps = self.launch.own_steps(self.relies_on_samples);
        let mut execute = |at: usize| match &steps[at].op {
            // SAFETY: the decoder laid the slots out for this file, and the mask has a byte for each of its threads.
            Op::Compute { run, operands, .. } => unsafe {
                run(&self.reach.file, operands, mask.as_ptr());
                Ok(())
            },
            // SAFETY: as above.
            Op::Video(video) => unsafe {
                self.launch.video(&self.reach.file, video, mask.as_ptr());
                Ok(())
            },
            Op::Load(load) => {
                if load.access.space != Space::Shared {
                    // SAFETY: the decoder made the load for this file.
                    let found = unsafe { self.reach.site(&load.access, mask, false) };
                    jit::put(&mut runs.sites, *site, found, false, runs.row);
                    *site += 1;
                }
                // SAFETY: the decoder made the load for this file, and the mask has a byte for each of its threads.
                unsafe { self.moves.load(&mut self.reach, load, mask.as_ptr()) }
            }
            Op::Store(store) => {
                if store.access.space != Space::Shared {
                    // SAFETY: the decoder made the store for this file.
                    let found = unsafe { self.reach.site(&store.access, mask, true) };
                    jit::put(&mut runs.sites, *site, found, true, runs.row);
                    *site += 1;
                }
                // SAFETY: as for loads.
                unsafe { self.moves.store(&mut self.reach, store, mask.as_ptr()) }
            }
            Op::Join => Ok(()),
            _ => {
                debug_assert!(false, "machine code has no other steps");
                Ok(())
            }
        };
        places.iter().find_map(|at| Some((execute(*at).err()?, *at as Pc)))
    }
}
