//! Launches of kernels.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, OnceLock, PoisonError};
use std::time::Instant;

use vop_run::{Arg, Kernel, RunErrorKind};

use super::context::Context;
use super::module::{Function, SHARED};
use super::report::Caller;
use crate::status::{Answer, Status};

/// The shape of a launch.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Shape {
    /// Blocks: x, y, z.
    pub grid: [u32; 3],
    /// Threads of a block: x, y, z.
    pub block: [u32; 3],
    /// Bytes of dynamic shared memory.
    pub shared: u32,
    /// Whether its blocks may wait for one another.
    pub is_cooperative: bool,
}

/// A launch with its arguments.
pub struct Launch {
    /// The kernel.
    pub function: Arc<Function>,
    /// Its shape.
    pub shape: Shape,
    /// The bytes of each argument.
    pub arguments: Vec<Vec<u8>>,
    kernel: Arc<Kernel>,
    caller: Option<Caller>,
    /// The addresses of the arguments, for `cuGraphKernelNodeGetParams`.
    pointers: OnceLock<Vec<usize>>,
}

/// How many launches run.
static RUNNING: AtomicUsize = AtomicUsize::new(0);

/// Whether a kernel runs in any stream.
pub fn is_any_running() -> bool {
    RUNNING.load(Ordering::Relaxed) > 0
}

impl Launch {
    /// A launch of a kernel. `arguments` gives the bytes of each parameter, by its number, place and size.
    ///
    /// # Errors
    /// The kernel cannot be run, or its shape is not possible.
    pub fn new(
        function: &Arc<Function>,
        shape: Shape,
        arguments: impl FnMut(usize, usize, usize) -> Answer<Vec<u8>>,
    ) -> Answer<Launch> {
        let kernel = function.kernel()?;
        check(function, &kernel, shape)?;
        let mut arguments = arguments;
        let parameters = kernel.parameters().iter().enumerate();
        let arguments = parameters.map(|(number, parameter)| arguments(number, parameter.offset(), parameter.bytes));
        let arguments = arguments.collect::<Answer<Vec<Vec<u8>>>>()?;
        Ok(Launch {
            function: Arc::clone(function),
            shape,
            arguments,
            kernel,
            caller: Caller::now(),
            pointers: OnceLock::new(),
        })
    }

    /// The addresses of the arguments, which stay as long as this.
    pub fn pointers(&self) -> &[usize] {
        self.pointers.get_or_init(|| self.arguments.iter().map(|bytes| bytes.as_ptr().expose_provenance()).collect())
    }

    /// Runs it.
    ///
    /// # Errors
    /// A fault, which is reported.
    pub fn run(&self, context: &Context) -> Answer {
        let machine = context.machine();
        let mut options = machine.settings.launch.clone();
        options.dynamic_shared = self.shape.shared as usize;
        // How many blocks there may be was checked when it was launched.
        options.cooperative = self.shape.is_cooperative.then_some(u64::MAX);
        // A small stack of the card's holds what its compiler has put into registers; here all of it is on the stack.
        options.stack = context.stack().max(STACK);
        let arguments: Vec<Arg> = self.arguments.iter().map(|bytes| Arg::Bytes(bytes.clone())).collect();
        let Shape { grid, block, .. } = self.shape;
        let threads = grid.iter().chain(&block).fold(1, |product: u64, n| product.saturating_mul((*n).into()));
        let last = || self.function.last.lock().unwrap_or_else(PoisonError::into_inner);
        let (last_threads, last_instructions) = *last();
        if last_threads == threads && last_instructions < SMALL {
            options.cores = Some(1);
        }
        if self.shape.is_cooperative {
            // That they fit was checked when the launch was given.
            options.cooperative = Some(grid.iter().map(|n| u64::from(*n)).product());
        }
        RUNNING.fetch_add(1, Ordering::Relaxed);
        let start = Instant::now();
        let result = self.kernel.launch_shared(grid, block, &arguments, context.device.memory_lock(), &options);
        let elapsed = start.elapsed();
        RUNNING.fetch_sub(1, Ordering::Relaxed);
        context.print(&context.device.memory().take_printed());
        match result {
            Ok(report) => {
                *last() = (threads, report.instructions);
                machine.report.launch(machine, &self.function.name, elapsed, &report);
                Ok(())
            }
            Err(errors) => {
                let first = errors.0.first();
                let status = first.map_or(Status::LAUNCH_FAILED, Status::from);
                machine.report.fault(machine, &self.function.name, elapsed, &errors, status, self.caller.as_ref());
                Err(status)
            }
        }
    }
}

/// Thread-instructions that one core executes before others have started: a launch like the last one, which had fewer, stays on one.
const SMALL: u64 = 100_000;

/// Bytes of a stack at least.
const STACK: usize = 64 << 10;

/// Checks that a launch is possible, before the program goes on.
fn check(function: &Function, kernel: &Kernel, shape: Shape) -> Answer {
    let dynamic = function.max_dynamic_shared.load(Ordering::Relaxed);
    let allowed = (SHARED as usize).saturating_sub(kernel.shared_bytes()).max(dynamic as usize);
    if shape.shared as usize > allowed {
        return Err(Status::INVALID_VALUE);
    }
    kernel.check_shape(shape.grid, shape.block, shape.shared as usize).map_err(|error| match error.kind {
        // More threads than the kernel was compiled for.
        RunErrorKind::LaunchShape if is_within_limits(shape) => Status::LAUNCH_OUT_OF_RESOURCES,
        _ => Status::INVALID_VALUE,
    })
}

/// Whether a device could run the shape, whatever the kernel.
fn is_within_limits(shape: Shape) -> bool {
    let threads: u64 = shape.block.iter().map(|n| u64::from(*n)).product();
    let fits = |size: [u32; 3], max: [u32; 3]| size.iter().zip(max).all(|(n, max)| (1..=max).contains(n));
    fits(shape.grid, [0x7fff_ffff, 65535, 65535]) && fits(shape.block, [1024, 1024, 64]) && threads <= 1024
}
