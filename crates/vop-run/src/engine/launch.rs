//! A launch: arguments to parameter memory, blocks to cores.
//!
//! Cores take blocks in order. What a block does depends on nothing but memory, so a launch whose blocks do not read what others
//! write gives the same on any number of cores, and of several failures the one of the first block is told.

use std::sync::atomic::{AtomicU64, Ordering};

use vop_ptx::module::Scalar;

use super::block::{Done, Failure, Worker, video};
use super::lanes::{File, HALF, WARP};
use super::level::Level;
use super::observer::{Observer, Profile};
use super::shadow::{Finding, SharedChecks};
use crate::code::{Kernel, Parameter, Sampled, Special, Video};
use crate::error::{RunError, RunErrorKind, RunErrors, ThreadId};
use crate::memory::{BufferId, Layout, Memory, Region};
use crate::types::Kind;

/// Threads of a block, as every target since sm_20 allows.
pub(super) const MAX_THREADS: u64 = 1024;
const MAX_BLOCK: [u32; 3] = [1024, 1024, 64];
const MAX_GRID: [u32; 3] = [0x7fff_ffff, 65535, 65535];
/// Shared memory of a block that the largest target allows is 227 KiB; beyond it a launch cannot be meant.
const MAX_SHARED: usize = 227 * 1024;
/// Local memory of a thread that the architecture allows.
const MAX_STACK: usize = 512 * 1024;

/// Bytes that a launch may print.
const MAX_PRINTED: u64 = 256 << 20;
/// More threads than this do nothing but wait for memory.
const MAX_CORES: usize = 1024;

/// One argument of a launch.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub enum Arg {
    /// The address of a buffer, for a 64-bit integer parameter.
    Buffer(BufferId),
    /// A value with its type: the low bits of the word.
    Scalar(Scalar, u64),
    /// The bytes of an array or structure passed by value.
    Bytes(Vec<u8>),
}

impl From<BufferId> for Arg {
    fn from(buffer: BufferId) -> Arg {
        Arg::Buffer(buffer)
    }
}

macro_rules! arg {
    ($($rust:ident $ty:ident $value:ident => $bits:expr;)*) => { $(
        impl From<$rust> for Arg {
            fn from($value: $rust) -> Arg {
                Arg::Scalar(Scalar::$ty, $bits)
            }
        }
    )* };
}
arg! {
    u8 U8 v => u64::from(v);
    u16 U16 v => u64::from(v);
    u32 U32 v => u64::from(v);
    u64 U64 v => v;
    i8 S8 v => u64::from(v as u8);
    i16 S16 v => u64::from(v as u16);
    i32 S32 v => u64::from(v as u32);
    i64 S64 v => v as u64;
    f32 F32 v => u64::from(v.to_bits());
    f64 F64 v => v.to_bits();
}

impl Arg {
    fn describe(&self) -> String {
        match self {
            Arg::Buffer(_) => "a buffer".to_owned(),
            Arg::Scalar(ty, _) => format!("a .{} value", ty.name()),
            Arg::Bytes(bytes) => format!("a list of {} bytes", bytes.len()),
        }
    }

    /// The bytes to store for a parameter, if the argument fits it.
    fn bytes_for(&self, parameter: &Parameter, memory: &Memory) -> Option<Vec<u8>> {
        let scalar = parameter.bytes == parameter.ty.size();
        match self {
            Arg::Buffer(buffer) => (scalar && parameter.ty.width() == 64 && !parameter.ty.is_float())
                .then(|| memory.address(*buffer).to_le_bytes().to_vec()),
            Arg::Scalar(ty, value) => {
                // Compilers declare every integer `.u32` or `.b32`: width and floatness are what a parameter type tells.
                let untyped = matches!(parameter.ty, Scalar::B8 | Scalar::B16 | Scalar::B32 | Scalar::B64);
                let fits = ty.width() == parameter.ty.width() && (untyped || ty.is_float() == parameter.ty.is_float());
                (scalar && fits).then(|| value.to_le_bytes().into_iter().take(ty.size()).collect())
            }
            Arg::Bytes(bytes) => (bytes.len() == parameter.bytes).then(|| bytes.clone()),
        }
    }
}

/// How far a launch is: the blocks that have ended, to be read from another thread.
pub type Progress = std::sync::Arc<AtomicU64>;

/// What a launch needs to know beyond its shape and its arguments.
///
/// ```
/// use vop_run::LaunchOptions;
///
/// let mut options = LaunchOptions::default();
/// options.dynamic_shared = 4096;
/// options.check_races = true;
/// ```
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct LaunchOptions {
    /// Thread-instructions of one launch, after which it is taken for a runaway loop.
    pub instructions: u64,
    /// Bytes of dynamic shared memory for each block.
    pub dynamic_shared: usize,
    /// What video instructions compute: what the manual says, or what the code of ptxas does.
    pub semantics: vop::Semantics,
    /// How many cores run blocks; all of the machine if there is none.
    pub cores: Option<usize>,
    /// Bytes of the stack of a thread, which holds `.local` variables and what calls take: at most 512 KiB.
    pub stack: usize,
    /// Whether two accesses to one byte of shared memory, of which one writes, without a barrier between them are an error.
    pub check_races: bool,
    /// Whether a read of shared memory that nothing wrote is an error.
    pub check_uninitialized: bool,
    /// Whether to count what is executed by statement, into [`Report::profile`].
    pub profile: bool,
    /// The thread whose statements and values to write down, into [`Report::trace`].
    pub trace: Option<ThreadId>,
    /// Told of each block that ends.
    pub progress: Option<Progress>,
}

impl Default for LaunchOptions {
    fn default() -> LaunchOptions {
        LaunchOptions {
            instructions: 100_000_000_000,
            dynamic_shared: 0,
            semantics: vop::Semantics::Isa,
            cores: None,
            stack: MAX_STACK,
            check_races: false,
            check_uninitialized: false,
            profile: false,
            trace: None,
            progress: None,
        }
    }
}

/// What a launch did.
#[derive(Clone, Debug, Default)]
#[non_exhaustive]
pub struct Report {
    /// Statements executed, one for each thread that executed it. A statement whose guard was false is not counted.
    pub instructions: u64,
    /// Video instructions among them.
    pub video: u64,
    /// Blocks that ran.
    pub blocks: u64,
    /// Lines of the PTX whose atomics may make results depend on the order of blocks, which differs from run to run on more than
    /// one core: sums of floating point, `exch` and `cas`, and those whose old value is used. Empty where there is one block or one
    /// core.
    pub order_dependent: Vec<usize>,
    /// What was executed by statement, if [`LaunchOptions::profile`] asked for it.
    pub profile: Option<Profile>,
    /// What the thread of [`LaunchOptions::trace`] executed, a line for each statement.
    pub trace: Vec<String>,
}

/// A launch that is running: what all cores share.
pub(super) struct Launch<'k> {
    pub(super) kernel: &'k Kernel,
    /// What its blocks may execute instead where nobody watches.
    pub(super) sampled: Option<&'k Sampled>,
    pub(super) level: Level,
    pub(super) grid: [u32; 3],
    pub(super) block: [u32; 3],
    /// Threads of a block.
    pub(super) threads: usize,
    pub(super) params: Vec<u8>,
    pub(super) regions: Vec<Region>,
    names: Vec<(String, u64)>,
    pub(super) shared_len: usize,
    pub(super) dynamic_shared: usize,
    pub(super) stack_limit: usize,
    pub(super) limit: u64,
    pub(super) checks: Option<SharedChecks>,
    pub(super) observe: bool,
    pub(super) profile: bool,
    pub(super) trace: Option<ThreadId>,
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
}

// SAFETY: the regions' pointers are to memory that is borrowed for the launch. Cores write to it at the same time as a GPU's do, see
// `access`; everything else is only read or atomic.
unsafe impl Sync for Launch<'_> {}

impl Launch<'_> {
    /// Threads of the block, padded to whole warps.
    pub(super) fn lanes(&self) -> usize {
        self.threads.next_multiple_of(WARP)
    }

    /// `%tid` and the like of one thread.
    pub(super) fn special_of(&self, special: Special, t: usize) -> u32 {
        let [x, y, _] = self.block.map(|n| n as usize);
        let lane = (t % WARP) as u32;
        match special {
            // In blocks of one row samples may be of threads beyond the last, which go on as the row does.
            Special::Tid(0) if self.threads == x => t as u32,
            Special::Tid(_) if self.threads == x => 0,
            Special::Tid(0) => (t % x) as u32,
            Special::Tid(1) => (t / x % y) as u32,
            Special::Tid(_) => (t / (x * y)) as u32,
            Special::Laneid => lane,
            Special::Warpid => (t / WARP) as u32,
            Special::LaneMaskEq => 1 << lane,
            Special::LaneMaskLt => (1 << lane) - 1,
            Special::LaneMaskLe => (1 << lane) | ((1 << lane) - 1),
            Special::LaneMaskGe => !((1 << lane) - 1),
            _ => !((1 << lane) | ((1 << lane) - 1)),
        }
    }

    pub(super) fn layout(&self, top: u64) -> Layout<'_> {
        Layout {
            allocations: &self.names,
            shared: self.shared_len as u64,
            local: top,
            params: self.params.len() as u64,
        }
    }

    /// # Safety
    /// As for [`video`].
    #[inline(always)]
    pub(super) unsafe fn video(&self, file: &File, op: &Video, mask: *const u8) {
        let plan = &self.plans[op.form as usize];
        let [a, b, c] = op.sources;
        // SAFETY: the same promise.
        unsafe { video(file, [op.d, a, b, c], mask, |a, b, c, d| plan.run_chunk(a, b, c, d)) }
    }

    #[cold]
    pub(super) fn explain_shadow(&self, finding: Finding, thread: impl Fn(usize) -> ThreadId) -> RunError {
        match finding {
            Finding::Uninitialized { offset } => {
                let message = format!("byte {offset} of shared memory is read, and nothing has written it");
                RunError { address: Some(offset as u64), ..RunError::new(RunErrorKind::Uninitialized, message) }
            }
            Finding::Race { offset, other, statement, writes } => {
                let place = self.kernel.place(statement);
                let place = place.map_or(String::new(), |place| format!(" at line {}: `{}`", place.line, place.text));
                let verb = if writes { "wrote" } else { "read" };
                let message = format!(
                    "a race on byte {offset} of shared memory: {} {verb} it{place}, and no barrier stands between",
                    thread(other)
                );
                let error = RunError::new(RunErrorKind::Race, message)
                    .with_help("a barrier (`__syncthreads()`) between the two orders them");
                RunError { address: Some(offset as u64), ..error }
            }
        }
    }

    fn blocks(&self) -> u64 {
        self.grid.iter().map(|n| u64::from(*n)).product()
    }

    /// Runs blocks until there are none, or one failed.
    fn work(&self) -> Work {
        let mut work = Work::default();
        let mut worker = Worker::new(self);
        // Some blocks in a row, which mostly reach memory in a row: the host's caches look ahead. And cores tell one another what they
        // did only after each turn, as small blocks take no longer than that.
        let share = (self.blocks() / 1024).clamp(1, 32);
        'turns: loop {
            let start = self.next.fetch_add(share, Ordering::Relaxed);
            let turn = start..(start + share).min(self.blocks());
            if turn.is_empty() {
                break;
            }
            let mut sum = 0;
            for index in turn.clone() {
                if index > self.failed.load(Ordering::Relaxed) {
                    break 'turns;
                }
                let [x, y, _] = self.grid.map(u64::from);
                let ctaid = [index % x, index / x % y, index / (x * y)].map(|n| n as u32);
                match worker.run(index, ctaid) {
                    Ok(Done { executed, video, printed }) => {
                        sum += executed;
                        work.video += video;
                        if sum > self.limit {
                            break;
                        }
                        if printed.is_empty() {
                            continue;
                        }
                        // Of what goes beyond the limit nothing is kept: which blocks that is does not depend on the cores, as the
                        // launch fails.
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
                        if !worker.printed.is_empty() {
                            work.printed.push((index, std::mem::take(&mut worker.printed)));
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
            if self.executed.fetch_add(sum, Ordering::Relaxed) + sum > self.limit {
                let message = format!("the launch's limit of {} thread-instructions is reached", self.limit);
                let help = "if this is no runaway loop, raise the limit";
                work.fail_behind_all(RunError::new(RunErrorKind::Limit, message).with_help(help));
                self.failed.fetch_min(turn.end - 1, Ordering::Relaxed);
                break;
            }
        }
        if let Some(observer) = &mut worker.observer {
            observer.finish(self.kernel);
        }
        work.observer = worker.observer.take();
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
}

impl Work {
    /// A failure that is no block's: one that is goes before it.
    fn fail_behind_all(&mut self, error: RunError) {
        self.failure = Some((u64::MAX - 1, Box::new(error)));
    }
}

impl Kernel {
    /// What is wrong with these arguments, each error with the argument's index: too few or too many, or one of the wrong size or
    /// kind.
    pub fn argument_errors(&self, args: &[Arg], memory: &Memory) -> Vec<(usize, RunError)> {
        let mut errors = Vec::new();
        let mut report = |i, message: String| errors.push((i, RunError::new(RunErrorKind::Argument, message)));
        for (i, parameter) in self.parameters.iter().enumerate() {
            let wanted = format!("parameter {} of `{}`: {parameter}", i + 1, self.name);
            match args.get(i) {
                None => report(i, format!("there is no argument for {wanted}")),
                Some(arg) if arg.bytes_for(parameter, memory).is_none() => {
                    report(i, format!("{} does not fit {wanted}", arg.describe()));
                }
                Some(_) => {}
            }
        }
        for i in self.parameters.len()..args.len() {
            report(
                i,
                format!("argument {} is one too many: `{}` has {} parameters", i + 1, self.name, self.parameters.len()),
            );
        }
        errors
    }

    /// Lays arguments out in parameter memory.
    fn pack(&self, args: &[Arg], memory: &Memory) -> Result<Vec<u8>, RunErrors> {
        let errors = self.argument_errors(args, memory);
        if !errors.is_empty() {
            return Err(RunErrors(errors.into_iter().map(|(_, error)| error).collect()));
        }
        let mut bytes = vec![0; self.parameter_bytes];
        for (parameter, arg) in self.parameters.iter().zip(args) {
            let value = arg.bytes_for(parameter, memory).unwrap_or_default();
            if let Some(place) = bytes.get_mut(parameter.offset..parameter.offset + value.len()) {
                place.copy_from_slice(&value);
            }
        }
        Ok(bytes)
    }

    /// Whether a launch of this shape is possible, without running anything.
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
            return fail(format!("a block of {threads} threads: `{}` may have {max}", self.name));
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
    /// `grid` and `block` are x, y, z. On an error memory holds what had been written until then.
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
        let checks = SharedChecks { races: options.check_races, uninitialized: options.check_uninitialized };
        let checks = (checks != SharedChecks::default()).then_some(checks);
        let observe = options.profile || options.trace.is_some();
        // Whether the threads of half a warp follow one another in a row of the block.
        let lines = (block[0] as usize).is_multiple_of(HALF) || block[1] == 1 && block[2] == 1;
        let launch = Launch {
            kernel: self,
            sampled: if observe || checks.is_some() { None } else { self.sampled(lines) },
            level: self.level,
            grid,
            block,
            threads: block.iter().map(|n| *n as usize).product(),
            params,
            names: memory.names(),
            regions: memory.regions(),
            shared_len: self.shared_bytes + options.dynamic_shared,
            dynamic_shared: options.dynamic_shared,
            stack_limit: options.stack.min(MAX_STACK),
            limit: options.instructions,
            checks,
            observe,
            profile: options.profile,
            trace: options.trace,
            plans: self.videos.iter().map(|form| self.level.plan(*form, options.semantics)).collect(),
            next: AtomicU64::new(0),
            failed: AtomicU64::new(u64::MAX),
            executed: AtomicU64::new(0),
            printed: AtomicU64::new(0),
            progress: options.progress.clone(),
        };
        let cores = options.cores.unwrap_or_else(|| std::thread::available_parallelism().map_or(1, usize::from));
        let cores = cores.min(usize::try_from(launch.blocks()).unwrap_or(usize::MAX)).max(1);
        let work: Vec<Work> = if cores == 1 {
            vec![launch.work()]
        } else {
            std::thread::scope(|scope| {
                // Those that the system refuses are not missed: the blocks go to the others.
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
        let mut report = Report { blocks: launch.blocks(), ..Report::default() };
        if cores > 1 {
            let lines = self.ordered.iter().filter_map(|statement| Some(self.place(*statement)?.line));
            report.order_dependent = lines.collect();
        }
        drop(launch);
        let mut printed = Vec::new();
        let mut failure: Option<(u64, Failure)> = None;
        let mut observers = Vec::new();
        for work in work {
            report.instructions += work.executed;
            report.video += work.video;
            printed.extend(work.printed);
            observers.extend(work.observer);
            if let Some(found) = work.failure
                && failure.as_ref().is_none_or(|(index, _)| found.0 < *index)
            {
                failure = Some(found);
            }
        }
        printed.sort_by_key(|(index, _)| *index);
        let last = failure.as_ref().map_or(u64::MAX, |(index, _)| *index);
        memory.printed.extend(printed.into_iter().filter(|(index, _)| *index <= last).flat_map(|(_, text)| text));
        let mut trace: Vec<String> = Vec::new();
        if options.profile && failure.is_none() {
            report.profile = Some(Profile::new(self, &observers));
        }
        for observer in observers {
            trace.extend(observer.into_trace());
        }
        if let Some((_, mut error)) = failure {
            error.trace = trace.into();
            return Err((*error).into());
        }
        report.trace = trace;
        Ok(report)
    }
}
