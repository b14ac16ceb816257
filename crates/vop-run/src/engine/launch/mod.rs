//! A launch: arguments to parameter memory, blocks to cores.
//!
//! Cores take blocks in order. What a block does depends on nothing but memory, so a launch whose blocks do not read what others
//! write gives the same result on any number of cores. Of several failures, that of the first block is reported.

#![allow(unsafe_code, reason = "operands stand in columns, and cores share the kernel's memory, both of which are raw")]

mod activity;
mod arguments;
mod options;
mod report;

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use super::block::{Done, Failure, Worker};
use super::observer::Observer;
use super::findings::Findings;
use super::shadow::{Checks, Common};
use crate::code::{Kernel, Sampled, Video};
use crate::column::{File, HALF, WARP, blend};
use crate::error::{RunError, RunErrorKind, RunErrors, ThreadId};
use crate::memory::{Layout, Memory, Region};
use crate::special::Shape;

pub use activity::{Activity, Now};
pub use arguments::Arg;
use options::MAX_STACK;
pub use options::{Check, LaunchOptions, Progress};
pub use report::{Finding, Report};

/// Threads of a block, as every target since sm_20 allows.
pub(super) const MAX_THREADS: u64 = 1024;
const MAX_BLOCK: [u32; 3] = [1024, 1024, 64];
const MAX_GRID: [u32; 3] = [0x7fff_ffff, 65535, 65535];
/// The largest target allows 227 KiB of shared memory for a block: no launch can ask for more.
const MAX_SHARED: usize = 227 * 1024;

/// Bytes that a launch may print.
const MAX_PRINTED: u64 = 256 << 20;
/// More threads than this only wait for memory.
const MAX_CORES: usize = 1024;

/// A launch that is running: what all cores share.
pub(super) struct Launch<'k> {
    pub(super) kernel: &'k Kernel,
    /// The steps that blocks execute instead of the kernel's where no observer and no check needs every step.
    pub(super) sampled: Option<&'k Sampled>,
    pub(super) shape: Shape,
    /// The number of threads of a block.
    pub(super) threads: usize,
    pub(super) params: Vec<u8>,
    pub(super) regions: Vec<Region>,
    names: Vec<(String, u64)>,
    pub(super) stack_limit: usize,
    pub(super) limit: u64,
    pub(super) checks: Checks,
    /// What the cores know of memory, if that is to be checked.
    pub(super) common: Option<Arc<Common>>,
    profile: bool,
    trace: Option<ThreadId>,
    /// By form of the kernel's video instructions.
    plans: Vec<vop::bulk::Plan>,
    /// The next block to run.
    next: AtomicU64,
    /// The first block that is known to have failed.
    pub(super) failed: AtomicU64,
    /// Thread-instructions of the blocks that have ended.
    executed: AtomicU64,
    /// Bytes that blocks have printed.
    printed: AtomicU64,
    progress: Option<Progress>,
    activity: Option<Activity>,
}

// SAFETY: the regions' pointers are to memory that is borrowed for the launch. Cores write to it at the same time as a GPU's do, see
// `access`; everything else is only read or atomic.
unsafe impl Sync for Launch<'_> {}

impl Launch<'_> {
    /// What looks at the steps of a core, if anything does.
    pub(super) fn observer(&self) -> Option<Observer> {
        let observes = self.profile || self.trace.is_some();
        observes.then(|| Observer::new(self.kernel, &self.shape, self.profile, self.trace))
    }

    /// Names and sizes of the memory that a thread reaches whose stack ends at `top`.
    pub(super) fn layout(&self, top: u64) -> Layout<'_> {
        Layout {
            allocations: &self.names,
            shared: self.shape.shared() as u64,
            local: top,
            params: self.params.len() as u64,
        }
    }

    /// Executes a video instruction for all active threads.
    ///
    /// # Safety
    /// The slots must have been laid out as words of this file, and the mask must have a byte for each of its threads.
    #[inline(always)]
    pub(super) unsafe fn video(&self, file: &File, op: &Video, mask: *const u8) {
        let plan = &self.plans[op.form as usize];
        let [a, b, c] = op.sources;
        // SAFETY: the caller promises columns of words and a mask for each warp. All sources are read before the result is written.
        unsafe {
            let [d, a, b, c] = [op.d, a, b, c].map(|slot| file.column::<u32>(slot));
            for warp in 0..file.warps {
                let active = &*mask.add(warp * WARP).cast::<[u8; WARP]>();
                let mut values = [0; WARP];
                plan.run_chunk(&*a.warp(warp), &*b.warp(warp), &*c.warp(warp), &mut values);
                blend(&mut *d.warp(warp), &values, active);
            }
        }
    }

    /// Runs blocks until none is left, or one fails.
    fn work(&self) -> Work {
        let mut work = Work::default();
        let mut worker = Worker::new(self);
        // A core takes some blocks in a row, which mostly reach memory in a row: the host's caches look ahead. Cores tell one another
        // what they did only after each turn, as that takes as long as a small block.
        let share = (self.shape.blocks() / 1024).clamp(1, 32);
        'turns: loop {
            let start = self.next.fetch_add(share, Ordering::Relaxed);
            let turn = start..(start + share).min(self.shape.blocks());
            if turn.is_empty() {
                break;
            }
            let mut sum = 0;
            for index in turn.clone() {
                if index > self.failed.load(Ordering::Relaxed) {
                    break 'turns;
                }
                match worker.run(index) {
                    Ok(Done { executed, video, printed }) => {
                        sum += executed;
                        work.video += video;
                        if sum > self.limit {
                            break;
                        }
                        if printed.is_empty() {
                            continue;
                        }
                        // Nothing is kept of what goes beyond the limit. The launch fails, so the number of cores does not matter.
                        let length = printed.len() as u64;
                        if self.printed.fetch_add(length, Ordering::Relaxed) + length > MAX_PRINTED {
                            let message = format!("the launch prints more than {MAX_PRINTED} bytes");
                            work.fail_behind_all(RunError::new(RunErrorKind::Limit, message));
                            self.failed.fetch_min(index, Ordering::Relaxed);
                            break 'turns;
                        }
                        work.printed.push((index, printed));
                    }
                    Err(_) if worker.abandoned => break 'turns,
                    Err(error) => {
                        if !worker.done.printed.is_empty() {
                            work.printed.push((index, std::mem::take(&mut worker.done.printed)));
                        }
                        work.failure = Some((index, error));
                        self.failed.fetch_min(index, Ordering::Relaxed);
                        break 'turns;
                    }
                }
            }
            work.executed += sum;
            if let Some(progress) = &self.progress {
                progress.fetch_add(turn.end - turn.start, Ordering::Relaxed);
            }
            if let Some(activity) = &self.activity {
                activity.add(turn.end - turn.start, sum);
            }
            if self.executed.fetch_add(sum, Ordering::Relaxed) + sum > self.limit {
                let message = format!("the launch's limit of {} thread-instructions is reached", self.limit);
                let help = "check that every loop ends, or raise the limit";
                work.fail_behind_all(RunError::new(RunErrorKind::Limit, message).with_help(help));
                self.failed.fetch_min(turn.end - 1, Ordering::Relaxed);
                break;
            }
        }
        if let Some(observer) = &mut worker.observer {
            observer.finish(self.kernel);
        }
        work.observer = worker.observer.take();
        work.findings = std::mem::take(&mut worker.reach.findings);
        work
    }
}

/// What a core did.
#[derive(Default)]
struct Work {
    executed: u64,
    video: u64,
    printed: Vec<(u64, Vec<u8>)>,
    failure: Option<(u64, Failure)>,
    observer: Option<Box<Observer>>,
    findings: Findings,
}

impl Work {
    /// A failure that is no block's: any block's failure goes before it.
    fn fail_behind_all(&mut self, error: RunError) {
        self.failure = Some((u64::MAX - 1, Box::new(error)));
    }
}

impl Kernel {
    /// Checks that a launch of this shape is possible; nothing runs.
    pub fn check_shape(&self, grid: [u32; 3], block: [u32; 3], dynamic_shared: usize) -> Result<(), RunError> {
        let fail = |message: String| Err(RunError::new(RunErrorKind::LaunchShape, message));
        for (what, size, max) in [("grid", grid, MAX_GRID), ("block", block, MAX_BLOCK)] {
            for (axis, (n, max)) in ["x", "y", "z"].iter().zip(size.into_iter().zip(max)) {
                if n == 0 || n > max {
                    return fail(format!("the {what}'s {axis} is {n}: it must be 1 to {max}"));
                }
            }
        }
        let threads: u64 = block.iter().map(|n| u64::from(*n)).product();
        let max = self.max_threads.unwrap_or(MAX_THREADS).min(MAX_THREADS);
        if threads > max {
            return fail(format!("a block of {threads} threads: `{}` allows {max}", self.name));
        }
        if let Some(required) = self.required_block
            && required != block
        {
            return fail(format!("`{}` requires (.reqntid) a block of {required:?}, not {block:?}", self.name));
        }
        let shared = self.shared_bytes.saturating_add(dynamic_shared);
        if shared > MAX_SHARED {
            return fail(format!("{shared} bytes of shared memory: a block may have {MAX_SHARED}"));
        }
        Ok(())
    }

    /// Runs the kernel to its end.
    ///
    /// `grid` and `block` are x, y, z.
    ///
    /// # Errors
    /// If the arguments or the shape do not fit the kernel, nothing runs. If a block fails, memory holds what had been written until then.
    pub fn launch(
        &self,
        grid: [u32; 3],
        block: [u32; 3],
        args: &[Arg],
        memory: &mut Memory,
        options: &LaunchOptions,
    ) -> Result<Report, RunErrors> {
        self.check_shape(grid, block, options.dynamic_shared)?;
        // Threads that execute nothing take time as well.
        let all = grid.iter().chain(&block).fold(1u64, |product, n| product.saturating_mul(u64::from(*n)));
        if all > options.instructions {
            let message =
                format!("the launch has more threads than its limit of {} instructions", options.instructions);
            return Err(RunError::new(RunErrorKind::Limit, message).into());
        }
        let params = self.pack(args, memory)?;
        let (static_shared, dynamic_shared) = (self.shared_bytes, options.dynamic_shared);
        let shape = Shape { grid, block, static_shared, dynamic_shared };
        let checks = Checks {
            races: options.check_races,
            uninitialized: options.check_uninitialized,
            warp: options.check_warp,
            heap: options.check_heap,
        };
        let common = memory.start_checks(checks).map(Arc::new);
        let observe = options.profile || options.trace.is_some();
        // Whether the threads of half a warp follow one another in a row of the block.
        let lines = (block[0] as usize).is_multiple_of(HALF) || block[1] == 1 && block[2] == 1;
        let plan = |form: &vop::Form| {
            let plan = vop::bulk::Plan::with_level(*form, options.semantics, self.level);
            plan.unwrap_or_else(|| vop::bulk::Plan::new(*form, options.semantics))
        };
        let launch = Launch {
            kernel: self,
            sampled: if observe || checks.any() { None } else { self.sampled(lines) },
            shape,
            threads: shape.threads(),
            params,
            names: memory.names(),
            regions: memory.regions(),
            stack_limit: options.stack.min(MAX_STACK),
            limit: options.instructions,
            checks,
            common: common.clone(),
            profile: options.profile,
            trace: options.trace,
            plans: self.videos.iter().map(plan).collect(),
            next: AtomicU64::new(0),
            failed: AtomicU64::new(u64::MAX),
            executed: AtomicU64::new(0),
            printed: AtomicU64::new(0),
            progress: options.progress.clone(),
            activity: options.activity.clone(),
        };
        let _running = options.activity.as_ref().map(|activity| activity.start(&self.name, shape.blocks()));
        let cores = options.cores.unwrap_or_else(|| std::thread::available_parallelism().map_or(1, usize::from));
        let cores = cores.min(usize::try_from(launch.shape.blocks()).unwrap_or(usize::MAX)).max(1);
        let work: Vec<Work> = if cores == 1 {
            vec![launch.work()]
        } else {
            std::thread::scope(|scope| {
                // If the system refuses a thread, its blocks go to the others.
                let spawn = |_| std::thread::Builder::new().spawn_scoped(scope, || launch.work()).ok();
                let others: Vec<_> = (1..cores.min(MAX_CORES)).map_while(spawn).collect();
                let own = launch.work();
                let others = others.into_iter().map(|other| match other.join() {
                    Ok(work) => work,
                    Err(panic) => std::panic::resume_unwind(panic),
                });
                std::iter::once(own).chain(others).collect()
            })
        };
        drop(launch);
        let common = common.and_then(Arc::into_inner);
        let result = Report::new(self, options, &shape, work, memory, common.as_ref());
        if let Some(common) = common {
            memory.end_checks(common);
        }
        result
    }
}
