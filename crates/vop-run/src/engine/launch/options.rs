//! What a launch needs to know beyond its shape and its arguments.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64};
use std::time::Duration;

use super::activity::Activity;
use crate::engine::watch::Watch;
use crate::error::ThreadId;

/// Local memory of a thread that the architecture allows.
pub(super) const MAX_STACK: usize = 512 * 1024;

/// The number of blocks that have ended, to be read from another thread while a launch runs.
pub type Progress = Arc<AtomicU64>;

/// Ends a launch that runs, from another thread, when it becomes true.
pub type Stop = Arc<AtomicBool>;

/// A check that is made on request.
///
/// ```
/// use vop_run::{Check, LaunchOptions};
///
/// let options = LaunchOptions::default().with_check(Check::Races).with_check(Check::Warp);
/// assert_eq!(options.checks(), [Check::Races, Check::Warp]);
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Check {
    /// [`LaunchOptions::check_races`]
    Races,
    /// [`LaunchOptions::check_uninitialized`]
    Uninit,
    /// [`LaunchOptions::check_warp`]
    Warp,
    /// [`LaunchOptions::check_heap`]
    Heap,
}

impl Check {
    /// All checks.
    pub const ALL: &'static [Check] = &[Check::Races, Check::Uninit, Check::Warp, Check::Heap];

    /// Its name: `races`, `uninit`, `warp`, `heap`.
    pub fn name(self) -> &'static str {
        match self {
            Check::Races => "races",
            Check::Uninit => "uninit",
            Check::Warp => "warp",
            Check::Heap => "heap",
        }
    }

    /// The checks of a name; all of them for `all`.
    pub fn named(name: &str) -> Option<&'static [Check]> {
        if name == "all" {
            return Some(Check::ALL);
        }
        let index = Check::ALL.iter().position(|check| check.name() == name)?;
        Check::ALL.get(index..=index)
    }
}

/// What a launch needs to know beyond its shape and its arguments.
///
/// ```
/// use vop_run::LaunchOptions;
///
/// let options = LaunchOptions::default().with_dynamic_shared(4096).with_cores(1);
/// ```
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct LaunchOptions {
    /// Thread-instructions of one launch, after which it is taken for a runaway loop. What takes longer than its thread-instructions counts
    /// as more: steps that few threads of a warp take, atomics, calls, what `printf` formats.
    pub instructions: u64,
    /// The time of one launch, after which it fails.
    pub timeout: Option<Duration>,
    /// Ends the launch when it becomes true.
    pub stop: Option<Stop>,
    /// Bytes of memory that one launch may take, with all buffers; `None` stands for [`Memory::limit`](crate::Memory::limit).
    pub memory: Option<u64>,
    /// Bytes of dynamic shared memory for each block.
    pub dynamic_shared: usize,
    /// Launches the grid cooperatively, as `cudaLaunchCooperativeKernel` does: its blocks may wait for one another (`grid.sync()`), so all of
    /// them must be on the device at once. The number of blocks for which there is room: a larger grid is an error.
    pub cooperative: Option<u64>,
    /// What instructions compute: what the manual says, or what the code of ptxas does. They differ for video instructions, and for a few
    /// base instructions.
    pub semantics: vop::Semantics,
    /// How long blocks may all wait for memory to change before the launch fails, where the host may change it: in
    /// [`Kernel::launch_shared`](crate::Kernel::launch_shared). Other launches know at once that nothing will.
    pub patience: Duration,
    /// The number of cores that run blocks; `None` stands for all of the machine.
    pub cores: Option<usize>,
    /// Bytes of the stack of a thread, which holds `.local` variables and what calls take: at most 512 KiB.
    pub stack: usize,
    /// Whether to look for races: two accesses to one byte of shared or global memory, one of which writes, that nothing orders.
    ///
    /// What this check and the others find is in [`Report::findings`](super::Report::findings); the launch goes on.
    pub check_races: bool,
    /// Whether to look for reads of shared memory, of memory from `malloc`, and of buffers of
    /// [`Memory::allocate_uninitialized`](crate::Memory::allocate_uninitialized), that nothing wrote.
    pub check_uninitialized: bool,
    /// Whether to look for errors in what lanes of a warp do together: lanes that are read and do not take part, members of a mask that
    /// never arrive, and `activemask` taken for granted.
    pub check_warp: bool,
    /// Whether to look for uses of memory from `malloc` after `free`, for accesses beyond an allocation, and for leaks.
    pub check_heap: bool,
    /// Whether to count what is executed by statement, into [`Report::profile`](super::Report::profile).
    pub profile: bool,
    /// The thread to follow, statement by statement and value by value, into [`Report::trace`](super::Report::trace).
    pub trace: Option<ThreadId>,
    /// Threads of a block whose statements are recorded with their results, for a table.
    pub watch: Option<Watch>,
    /// Counts the blocks that have ended.
    pub progress: Option<Progress>,
    /// Says what is running.
    pub activity: Option<Activity>,
    /// Whether parts of a kernel are translated to machine code. What they compute, and what is checked, is the same.
    pub machine_code: MachineCode,
}

/// When the engine translates the stretches of a kernel that have no branch, and loops that only compute and load, to machine code of this
/// CPU: on x86-64 with AVX2 or AVX-512, on Unix, and where the system lets a process execute what it wrote. Launches that check or observe are not translated.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum MachineCode {
    /// When the kernel has run for about a millisecond.
    #[default]
    WhenItPays,
    /// Before the first block.
    Always,
    /// Not at all.
    Never,
}

impl Default for LaunchOptions {
    fn default() -> LaunchOptions {
        LaunchOptions {
            instructions: 100_000_000_000,
            timeout: None,
            stop: None,
            memory: None,
            dynamic_shared: 0,
            cooperative: None,
            semantics: vop::Semantics::Isa,
            patience: Duration::from_secs(10),
            cores: None,
            stack: MAX_STACK,
            check_races: false,
            check_uninitialized: false,
            check_warp: false,
            check_heap: false,
            profile: false,
            trace: None,
            watch: None,
            progress: None,
            activity: None,
            machine_code: MachineCode::default(),
        }
    }
}

impl LaunchOptions {
    /// Sets [`LaunchOptions::instructions`].
    #[must_use]
    pub fn with_instructions(self, instructions: u64) -> LaunchOptions {
        LaunchOptions { instructions, ..self }
    }

    /// Sets [`LaunchOptions::timeout`].
    #[must_use]
    pub fn with_timeout(self, timeout: Duration) -> LaunchOptions {
        LaunchOptions { timeout: Some(timeout), ..self }
    }

    /// Sets [`LaunchOptions::stop`].
    #[must_use]
    pub fn with_stop(self, stop: Stop) -> LaunchOptions {
        LaunchOptions { stop: Some(stop), ..self }
    }

    /// Sets [`LaunchOptions::memory`].
    #[must_use]
    pub fn with_memory(self, bytes: u64) -> LaunchOptions {
        LaunchOptions { memory: Some(bytes), ..self }
    }

    /// Sets [`LaunchOptions::dynamic_shared`].
    #[must_use]
    pub fn with_dynamic_shared(self, dynamic_shared: usize) -> LaunchOptions {
        LaunchOptions { dynamic_shared, ..self }
    }

    /// Sets [`LaunchOptions::cooperative`]. [`Kernel::resident_blocks`](crate::Kernel::resident_blocks) is the number for one device.
    #[must_use]
    pub fn with_cooperative(self, blocks: u64) -> LaunchOptions {
        LaunchOptions { cooperative: Some(blocks), ..self }
    }

    /// Sets [`LaunchOptions::semantics`].
    #[must_use]
    pub fn with_semantics(self, semantics: vop::Semantics) -> LaunchOptions {
        LaunchOptions { semantics, ..self }
    }

    /// Sets [`LaunchOptions::patience`].
    #[must_use]
    pub fn with_patience(self, patience: Duration) -> LaunchOptions {
        LaunchOptions { patience, ..self }
    }

    /// Sets [`LaunchOptions::cores`].
    #[must_use]
    pub fn with_cores(self, cores: usize) -> LaunchOptions {
        LaunchOptions { cores: Some(cores), ..self }
    }

    /// Sets [`LaunchOptions::stack`].
    #[must_use]
    pub fn with_stack(self, stack: usize) -> LaunchOptions {
        LaunchOptions { stack, ..self }
    }

    /// Sets [`LaunchOptions::check_races`] and [`LaunchOptions::check_uninitialized`].
    #[must_use]
    pub fn with_checks(self, races: bool, uninitialized: bool) -> LaunchOptions {
        LaunchOptions { check_races: races, check_uninitialized: uninitialized, ..self }
    }

    /// Makes a check; those that were asked for before stay.
    #[must_use]
    pub fn with_check(mut self, check: Check) -> LaunchOptions {
        self.check(check);
        self
    }

    /// Makes a check.
    pub fn check(&mut self, check: Check) {
        match check {
            Check::Races => self.check_races = true,
            Check::Uninit => self.check_uninitialized = true,
            Check::Warp => self.check_warp = true,
            Check::Heap => self.check_heap = true,
        }
    }

    /// The checks that are made.
    pub fn checks(&self) -> Vec<Check> {
        let on = |check: &Check| match check {
            Check::Races => self.check_races,
            Check::Uninit => self.check_uninitialized,
            Check::Warp => self.check_warp,
            Check::Heap => self.check_heap,
        };
        Check::ALL.iter().copied().filter(on).collect()
    }

    /// Sets [`LaunchOptions::profile`].
    #[must_use]
    pub fn with_profile(self, profile: bool) -> LaunchOptions {
        LaunchOptions { profile, ..self }
    }

    /// Sets [`LaunchOptions::machine_code`].
    #[must_use]
    pub fn with_machine_code(self, machine_code: MachineCode) -> LaunchOptions {
        LaunchOptions { machine_code, ..self }
    }

    /// Sets [`LaunchOptions::trace`].
    #[must_use]
    pub fn with_trace(self, thread: ThreadId) -> LaunchOptions {
        LaunchOptions { trace: Some(thread), ..self }
    }

    /// Sets [`LaunchOptions::watch`].
    #[must_use]
    pub fn with_watch(self, watch: Watch) -> LaunchOptions {
        LaunchOptions { watch: Some(watch), ..self }
    }

    /// Sets [`LaunchOptions::activity`].
    #[must_use]
    pub fn with_activity(self, activity: Activity) -> LaunchOptions {
        LaunchOptions { activity: Some(activity), ..self }
    }

    /// Sets [`LaunchOptions::progress`].
    #[must_use]
    pub fn with_progress(self, progress: Progress) -> LaunchOptions {
        LaunchOptions { progress: Some(progress), ..self }
    }
}
