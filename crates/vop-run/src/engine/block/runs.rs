//! Runs of machine code: what they know of memory, and what happens where a check of theirs fails.

#![allow(unsafe_code, reason = "operands stand in columns, which are raw memory")]

use super::groups::{Wait, count, subtract};
use super::{Failure, Worker};
use crate::code::{Op, Pc, Run};
use crate::column::WARP;
use crate::engine::access::Reach;
use crate::jit::{self, Compiled, Site};
use crate::memory::Space;

/// What a worker knows of the runs of a kernel.
#[derive(Debug, Default)]
pub(super) struct Runs {
    pub(super) sites: Vec<Site>,
    /// See [`Compiled::others`].
    pub(super) others: Vec<Run>,
    /// By run with accesses: how often it was executed, and how often a check failed.
    executions: Vec<[u32; 2]>,
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
        let turns = lanes / run.lanes as usize;
        // Those of the phases behind are among the turns that are left.
        let behind = (left - 1) / turns;
        let in_phase = left - behind * turns;
        let all = rest.clone();
        rest[..lanes - in_phase * run.lanes as usize].fill(0);
        let runs = &mut self.runs[usize::from(self.relies_on_samples)];
        if let Some(number) = run.loading {
            let failed = &mut runs.executions[number as usize][1];
            *failed = failed.saturating_add(1);
        }
        let (start, mut site) = (pc as usize, run.site as usize);
        let steps = self.launch.own_steps(self.relies_on_samples);
        let phases = jit::phases(steps, start..start + run.steps as usize);
        let number = phases.len() - 1 - behind;
        let of_phases = phases.into_iter().enumerate().skip(number);
        let mut each = of_phases.flat_map(|(i, places)| places.into_iter().map(move |at| (i, at)));
        let mut execute = |at: usize, rest: &[u8]| match &steps[at].op {
            // SAFETY: the decoder laid the slots out for this file, and the mask has a byte for each of its threads.
            Op::Compute { run, operands, .. } => unsafe {
                run(&self.reach.file, operands, rest.as_ptr());
                Ok(())
            },
            // SAFETY: as above.
            Op::Video(video) => unsafe {
                self.launch.video(&self.reach.file, video, rest.as_ptr());
                Ok(())
            },
            Op::Load(load) => {
                if load.access.space != Space::Shared {
                    // SAFETY: the decoder made the load for this file.
                    runs.sites[site] = unsafe { self.reach.site(&load.access, rest, false) };
                    site += 1;
                }
                // SAFETY: the decoder made the load for this file, and the mask has a byte for each of its threads.
                unsafe { self.moves.load(&mut self.reach, load, rest.as_ptr()) }
            }
            Op::Store(store) => {
                if store.access.space != Space::Shared {
                    // SAFETY: the decoder made the store for this file.
                    runs.sites[site] = unsafe { self.reach.site(&store.access, rest, true) };
                }
                // SAFETY: as for loads.
                unsafe { self.moves.store(&mut self.reach, store, rest.as_ptr()) }
            }
            _ => {
                debug_assert!(false, "a run has no other steps");
                Ok(())
            }
        };
        let failed = each.find_map(|(phase, at)| {
            let fault = execute(at, if phase == number { &rest } else { &all }).err()?;
            Some((fault, at as Pc))
        });
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
}
