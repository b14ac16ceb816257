//! A launch: arguments to parameter memory, blocks to cores.
//!
//! Cores take blocks in order. What a block does depends on nothing but memory, so a launch whose blocks do not read what others
//! write gives the same result on any number of cores. Of several failures, that of the first block is reported.

#![allow(unsafe_code, reason = "operands stand in columns, and cores share the kernel's memory, both of which are raw")]

mod activity;
mod arguments;
mod cooperative;
mod crew;
mod options;
mod pool;
mod report;

use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, OnceLock, PoisonError};
use std::time::Duration;

use super::block::Failure;
use super::findings::Findings;
use super::observer::Observer;
use super::plan::Plan;
use super::shadow::{Checks, Common};
use super::texture::Textures;
use super::wait::Standstill;
use super::watch::Watch;
use crate::clock::Instant;
use crate::code::{Kernel, Merged, Sampled, Step, Video};
use crate::column::{File, HALF, WARP, blend};
use crate::error::{RunError, RunErrorKind, RunErrors, ThreadId};
use crate::jit::{self, Compiled};
use crate::memory::{Budget, BufferId, Bytes, Layout, Memory, Places};
use crate::special::{Shape, Special};
use crate::symbol::shown;

pub use activity::{Activity, Now};
pub use arguments::Arg;
pub(crate) use cooperative::WORKSPACE;
use options::MAX_STACK;
pub use options::{Check, LaunchOptions, MachineCode, Progress, Stop};
pub use report::{Finding, Report};

/// Threads of a block, as every target since sm_20 allows.
pub(super) const MAX_THREADS: u64 = 1024;
const MAX_BLOCK: [u32; 3] = [1024, 1024, 64];
const MAX_GRID: [u32; 3] = [0x7fff_ffff, 65535, 65535];
/// The largest target allows 227 KiB of shared memory for a block: no launch can ask for more.
const MAX_SHARED: usize = 227 * 1024;

/// Blocks run as one where at least so many are left of them, so that there are enough for all cores.
const LEAST_MERGED: u64 = 256;

/// More threads than this only wait for memory.
const MAX_CORES: usize = 1024;

/// A launch that is running: what all cores share.
pub(super) struct Launch<'k> {
    pub(super) kernel: &'k Kernel,
    /// The steps that blocks execute instead of the kernel's where no observer and no check needs every step.
    pub(super) sampled: Option<&'k Sampled>,
    /// Whether blocks execute runs as machine code, and the translations: of the kernel's steps, and of those that rely on samples.
    machine_code: MachineCode,
    variants: [usize; 2],
    compiled: [OnceLock<Arc<Compiled>>; 2],
    pub(super) shape: Shape,
    /// The number of blocks that a worker runs as one, and how: see [`Kernel::merged`].
    pub(super) at_once: usize,
    pub(super) merged: Option<&'k Merged>,
    /// The number of threads of these blocks, and with padding.
    pub(super) threads: usize,
    pub(super) lanes: usize,
    /// Aligned as all memory is.
    pub(super) params: Bytes,
    pub(super) places: Arc<Places>,
    /// Short addresses that the kernel may use, with the allocations' indexes.
    pub(super) shorts: Vec<(u32, u32)>,
    pub(super) textures: Textures,
    pub(super) stack_limit: usize,
    pub(super) limit: u64,
    /// What may still be allocated.
    pub(super) memory: Arc<Budget>,
    pub(super) start: Instant,
    pub(super) timeout: Option<Duration>,
    /// How long nothing may change before blocks that wait wait for ever: no time where nobody else changes memory.
    patience: Duration,
    pub(super) stop: Option<Stop>,
    pub(super) checks: Checks,
    /// What the cores know of memory, if that is to be checked.
    pub(super) common: Option<Arc<Common>>,
    profile: bool,
    trace: Option<ThreadId>,
    watch: Option<Watch>,
    /// By form of the kernel's video instructions.
    plans: Vec<Plan>,
    /// Whether base instructions compute what ptxas's code does.
    pub(super) by_ptxas: bool,
    /// The next block to run.
    next: AtomicU64,
    /// The first block that is known to have failed.
    pub(super) failed: AtomicU64,
    /// Thread-instructions that cores have told of, and what counts as such.
    pub(super) executed: AtomicU64,
    pub(super) overhead: AtomicU64,
    standstill: Standstill,
    /// Bytes that blocks have printed.
    printed: AtomicU64,
    progress: Option<Progress>,
    activity: Option<Activity>,
    cooperative: bool,
}

// SAFETY: the places' pointers are to memory that is there as long as the launch. Cores write to it at the same time as a GPU's do, see
// `access`; everything else is only read or atomic.
unsafe impl Sync for Launch<'_> {}

impl Launch<'_> {
    /// What looks at the steps of a core, if anything does.
    pub(super) fn observer(&self) -> Option<Observer> {
        let observes = self.profile || self.trace.is_some() || self.watch.is_some();
        let watch = self.watch.as_ref();
        observes.then(|| Observer::new(self.kernel, &self.shape, self.profile, self.trace, watch))
    }

    /// The steps that blocks execute one by one, with or without samples.
    pub(super) fn own_steps(&self, sampled: bool) -> &[Step] {
        match self.sampled {
            Some(found) if sampled => &found.steps,
            _ => self.merged.map_or(&self.kernel.steps, |merged| &merged.steps),
        }
    }

    /// Bytes a thread of the special registers that differ between threads.
    pub(super) fn thread_bytes(&self) -> usize {
        self.merged.map_or(self.kernel.thread_bytes, |merged| merged.thread_bytes) as usize
    }

    /// The value of a special register for a thread of the blocks that a worker runs as one.
    pub(super) fn special_of(&self, special: Special, thread: usize) -> u32 {
        // A block alone may have samples beyond its last thread.
        let of_block = if self.at_once > 1 { thread % self.shape.threads() } else { thread };
        special.of_thread(of_block, &self.shape)
    }

    /// Whether all that can be is executed as machine code, whether it pays or not.
    pub(super) fn always_translates(&self) -> bool {
        self.machine_code == MachineCode::Always
    }

    /// The same steps translated, if that pays by now. `file` is that of a block.
    pub(super) fn compiled(&self, sampled: bool, file: &File) -> Option<&Compiled> {
        // What is behind this is not in a file for machines that need none of it.
        if !jit::IS_SERVED {
            return None;
        }
        let heat = &self.kernel.heat;
        let translates = match self.machine_code {
            MachineCode::Never => false,
            MachineCode::Always => true,
            MachineCode::WhenItPays => {
                self.compiled[usize::from(sampled)].get().is_some()
                    || heat.is_hot(self.executed.load(Ordering::Relaxed))
            }
        };
        let variant = self.variants[usize::from(sampled)];
        let (own, shared_len) = (self.own_steps(sampled), self.shape.shared() as u64);
        let compile = || heat.compiled(self.kernel, own, variant, file, shared_len, self.shape.block);
        translates.then(|| &**self.compiled[usize::from(sampled)].get_or_init(compile))
    }

    /// Names and sizes of the memory that a thread reaches whose stack ends at `top`.
    pub(super) fn layout(&self, top: u64) -> Layout<'_> {
        Layout {
            places: &self.places,
            shorts: &self.shorts,
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
}

/// What a core did.
#[derive(Default)]
struct Work {
    executed: u64,
    video: u64,
    printed: Vec<(u64, Vec<u8>)>,
    failure: Option<(u64, Failure)>,
    #[allow(clippy::vec_box, reason = "as workers have them")]
    observers: Vec<Box<Observer>>,
    findings: Vec<Findings>,
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
            return fail(format!("a block of {threads} threads: {} allows {max}", shown(&self.name)));
        }
        if let Some(required) = self.required_block
            && required != block
        {
            return fail(format!("{} requires (.reqntid) a block of {required:?}, not {block:?}", shown(&self.name)));
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
        let workspace = self.take_workspace(memory, options)?;
        let done = self.prepare(grid, block, args, memory, workspace, options).and_then(Ready::run);
        let result = done.and_then(|done| done.finish(memory));
        memory.give_workspace(workspace);
        result
    }

    /// Runs the kernel to its end on a memory that others use at the same time: it is locked before the blocks run, and after. The launch
    /// sees the allocations that were there when it started. What is freed while it runs stays there until it ends.
    ///
    /// Launches that check the heap of `malloc` run one after another.
    ///
    /// # Errors
    /// As for [`Kernel::launch`].
    pub fn launch_shared(
        &self,
        grid: [u32; 3],
        block: [u32; 3],
        args: &[Arg],
        memory: &Mutex<Memory>,
        options: &LaunchOptions,
    ) -> Result<Report, RunErrors> {
        static HEAP: Mutex<()> = Mutex::new(());
        let lock = || memory.lock().unwrap_or_else(PoisonError::into_inner);
        let _alone = options.check_heap.then(|| HEAP.lock().unwrap_or_else(PoisonError::into_inner));
        let workspace = self.take_workspace(&mut lock(), options)?;
        let ready = self.prepare(grid, block, args, &mut lock(), workspace, options);
        let done = ready.and_then(|mut ready| {
            ready.launch.patience = options.patience;
            ready.run()
        });
        let memory = &mut lock();
        let result = done.and_then(|done| done.finish(memory));
        memory.give_workspace(workspace);
        result
    }

    /// How many blocks of a shape run as one, and their steps, if the kernel has such. The number does not depend on the machine.
    fn blocks_at_once(&self, shape: &Shape, lines: bool, machine_code: MachineCode) -> Option<(usize, &Merged)> {
        let (blocks, threads) = (shape.blocks(), shape.threads());
        let most = match machine_code {
            MachineCode::WhenItPays => blocks / LEAST_MERGED,
            MachineCode::Always => blocks,
            MachineCode::Never => 1,
        };
        // Before the kernel is looked at, which takes longer than a small launch.
        if most < 2 || !threads.is_multiple_of(WARP) || shape.shared() > 0 {
            return None;
        }
        let merged = self.merged(lines)?;
        let at_once = (merged.lanes / threads).min(usize::try_from(most).unwrap_or(usize::MAX));
        (at_once > 1).then_some((at_once, merged))
    }

    /// All that a launch needs of the memory before it runs.
    fn prepare<'k>(
        &'k self,
        grid: [u32; 3],
        block: [u32; 3],
        args: &[Arg],
        memory: &mut Memory,
        workspace: Option<BufferId>,
        options: &'k LaunchOptions,
    ) -> Result<Ready<'k>, RunErrors> {
        self.check_shape(grid, block, options.dynamic_shared)?;
        if let Some(resident) = options.cooperative {
            self.check_cooperative(grid, resident)?;
        }
        if self.home.is_some_and(|home| !memory.modules.contains(&home)) {
            let error = RunError::new(RunErrorKind::Argument, "the variables of the module are not in this memory");
            let help = "use the memory of `Program::memory`, or the program that `Memory::load` returned for this one";
            return Err(error.with_help(help).into());
        }
        // Threads that execute nothing take time as well.
        let all = grid.iter().chain(&block).fold(1u64, |product, n| product.saturating_mul(u64::from(*n)));
        if all > options.instructions {
            let limit = vop::grouped(options.instructions);
            let message = format!("the launch has more threads than its limit of {limit} thread-instructions");
            let help = "a smaller grid, or a higher limit (`--limit`)";
            return Err(RunError::new(RunErrorKind::Limit, message).with_help(help).into());
        }
        if let Some(error) = memory.refused() {
            return Err(error.into());
        }
        if self.uses_heap {
            memory.make_heap(options.memory)?;
        }
        let params = Bytes::try_from(&self.pack(args, memory)?[..])?;
        let (static_shared, dynamic_shared) = (self.shared_bytes, options.dynamic_shared);
        let shape = Shape {
            grid,
            block,
            static_shared,
            dynamic_shared,
            workspace: workspace.map_or(0, |id| memory.address(id)),
        };
        let checks = Checks {
            races: options.check_races,
            uninitialized: options.check_uninitialized,
            warp: options.check_warp,
            heap: options.check_heap,
        };
        let budget = Arc::new(memory.budget(options.memory));
        let common = memory.start_checks(checks, &budget).map(Arc::new);
        let observe = options.profile || options.trace.is_some() || options.watch.is_some();
        // Whether the threads of half a warp follow one another in a row of the block.
        let lines = (block[0] as usize).is_multiple_of(HALF) || block[1] == 1 && block[2] == 1;
        let plan = |form: &vop::Form| {
            let plan = Plan::with_level(*form, options.semantics, self.level);
            plan.unwrap_or_else(|| Plan::new(*form, options.semantics))
        };
        let alone = observe || checks.any() || options.cooperative.is_some();
        let (at_once, merged) = match self.blocks_at_once(&shape, lines, options.machine_code).filter(|_| !alone) {
            Some((at_once, merged)) => (at_once, Some(merged)),
            None => (1, None),
        };
        let sampled = match merged {
            Some(merged) => merged.sampled.as_ref(),
            None if observe || checks.any() => None,
            None => self.sampled(lines),
        };
        let launch = Launch {
            kernel: self,
            sampled,
            machine_code: match options.machine_code {
                _ if observe || checks.any() || !jit::serves(self.level) => MachineCode::Never,
                wanted => wanted,
            },
            variants: [0, 1 + usize::from(lines)].map(|variant| variant + if merged.is_some() { 3 } else { 0 }),
            compiled: Default::default(),
            shape,
            at_once,
            merged,
            threads: shape.threads() * at_once,
            lanes: shape.lanes() * at_once,
            params,
            shorts: memory.shorts(self.short),
            textures: Textures::of(memory),
            places: memory.places(),
            stack_limit: options.stack.min(MAX_STACK),
            limit: options.instructions,
            memory: budget,
            start: Instant::now(),
            timeout: options.timeout,
            patience: Duration::ZERO,
            stop: options.stop.clone(),
            checks,
            common: common.clone(),
            profile: options.profile,
            trace: options.trace,
            watch: options.watch.clone(),
            plans: self.videos.iter().map(plan).collect(),
            by_ptxas: options.semantics != vop::Semantics::Isa,
            next: AtomicU64::new(0),
            failed: AtomicU64::new(u64::MAX),
            executed: AtomicU64::new(0),
            overhead: AtomicU64::new(0),
            standstill: Standstill::default(),
            printed: AtomicU64::new(0),
            progress: options.progress.clone(),
            activity: options.activity.clone(),
            cooperative: options.cooperative.is_some(),
        };
        Ok(Ready { launch, options, common })
    }
}

/// The number of cores of the machine, or of its container. To ask takes as long as an empty launch, as the system answers with files.
fn machine_cores() -> usize {
    static CORES: OnceLock<usize> = OnceLock::new();
    *CORES.get_or_init(|| std::thread::available_parallelism().map_or(1, usize::from))
}

/// A launch that is about to run.
struct Ready<'k> {
    launch: Launch<'k>,
    options: &'k LaunchOptions,
    common: Option<Arc<Common>>,
}

/// What the cores did.
struct Ended<'k> {
    /// How many cores were to share the blocks.
    cores: usize,
    kernel: &'k Kernel,
    options: &'k LaunchOptions,
    shape: Shape,
    places: Arc<Places>,
    work: Vec<Work>,
    common: Option<Common>,
}

impl<'k> Ready<'k> {
    /// Runs the blocks.
    fn run(self) -> Result<Ended<'k>, RunErrors> {
        let Ready { launch, options, common } = self;
        let kernel = launch.kernel;
        let _running = options.activity.as_ref().map(|activity| activity.start(&kernel.name, launch.shape.blocks()));
        let cores = options.cores.unwrap_or_else(machine_cores);
        let cores = cores.min(usize::try_from(launch.shape.blocks()).unwrap_or(usize::MAX)).max(1);
        if let Some(error) = launch.ended_from_outside() {
            return Err(error.into());
        }
        let cores = cores.min(MAX_CORES);
        launch.standstill.start(cores);
        let work = match cores {
            1 => vec![launch.work()],
            _ => {
                let absent = |others| (0..others).for_each(|_| launch.standstill.leave());
                let mut work = pool::together(cores - 1, || launch.work(), absent);
                // A report does not depend on who has come.
                work.resize_with(cores, Work::default);
                work
            }
        };
        kernel.heat.add(work.iter().map(|work| work.executed).sum());
        let (shape, places) = (launch.shape, Arc::clone(&launch.places));
        drop(launch);
        Ok(Ended { kernel, options, cores, shape, places, work, common: common.and_then(Arc::into_inner) })
    }
}

impl Ended<'_> {
    /// What the launch did, in words; and what it knows of memory, for the next one.
    fn finish(self, memory: &mut Memory) -> Result<Report, RunErrors> {
        let Ended { kernel, options, cores, shape, places, work, common } = self;
        let mut result = Report::new(kernel, options, &shape, work, &places, memory, common.as_ref());
        if cores > 1
            && let Ok(report) = &mut result
        {
            report.note_order(kernel);
        }
        if let Some(common) = common {
            memory.end_checks(common);
        }
        result
    }
}
