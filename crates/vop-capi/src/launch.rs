//! Launches: options, arguments and reports.

#![allow(unsafe_code, reason = "the pointers are C's")]

use std::ffi::{c_char, c_void};
use std::num::NonZeroUsize;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use vop_run::{Arg, Check, LaunchOptions, Report};

use crate::diagnostic::{findings, run_failure, vop_diagnostics};
use crate::guard::{Failure, answer, ask, free, object, produce, vop_status};
use crate::memory::lock;
use crate::text::text_of;
use crate::{vop_function, vop_semantics};

/// Three sizes or three indexes.
#[repr(C)]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct vop_dim3 {
    /// Along x.
    pub x: u32,
    /// Along y.
    pub y: u32,
    /// Along z.
    pub z: u32,
}

impl From<[u32; 3]> for vop_dim3 {
    fn from([x, y, z]: [u32; 3]) -> vop_dim3 {
        vop_dim3 { x, y, z }
    }
}

impl From<vop_dim3> for [u32; 3] {
    fn from(dim: vop_dim3) -> [u32; 3] {
        [dim.x, dim.y, dim.z]
    }
}

/// An argument of a launch: the bytes of a parameter. Its size must be that of the parameter. A pointer parameter takes an address, which
/// `vop_memory_allocate` told.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct vop_argument {
    /// The first byte.
    pub data: *const c_void,
    /// The number of bytes.
    pub size: usize,
}

/// What a launch needs to know beside its shape and arguments. Threads may share it for launches; whoever changes it must be the only one who
/// uses it.
pub struct vop_options(LaunchOptions);

/// Ends launches from another thread.
pub struct vop_stop(Arc<AtomicBool>);

/// Makes options: all cores, no check, what the manual says.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn vop_options_new(
    out: *mut *mut vop_options,
    diagnostics: *mut *mut vop_diagnostics,
) -> vop_status {
    // SAFETY: C gives places for answers, or null.
    unsafe { produce(out, diagnostics, || Ok(vop_options(LaunchOptions::default()))) }
}

/// Frees options; null is nothing to free.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn vop_options_free(options: *mut vop_options) {
    // SAFETY: C gives up a handle of this library.
    unsafe { free(options) };
}

/// Changes options.
///
/// # Safety
/// `options` must be null or point at options that nobody else uses meanwhile.
unsafe fn change(options: *mut vop_options, how: impl FnOnce(&mut LaunchOptions) -> Result<(), Failure>) -> vop_status {
    let work = || {
        // SAFETY: the caller promises it.
        let options = unsafe { options.as_mut() }.ok_or_else(|| Failure::null("options"))?;
        how(&mut options.0)
    };
    // SAFETY: no diagnostics are asked for.
    unsafe { answer(std::ptr::null_mut(), work) }
}

/// Sets the number of cores that run blocks; 0 stands for all of the machine.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn vop_options_set_cores(options: *mut vop_options, cores: usize) -> vop_status {
    let set = |options: &mut LaunchOptions| {
        options.cores = NonZeroUsize::new(cores).map(NonZeroUsize::get);
        Ok(())
    };
    // SAFETY: C gives a handle that only this call uses.
    unsafe { change(options, set) }
}

/// Sets the number of bytes of dynamic shared memory of each block.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn vop_options_set_dynamic_shared(options: *mut vop_options, bytes: usize) -> vop_status {
    let set = |options: &mut LaunchOptions| {
        options.dynamic_shared = bytes;
        Ok(())
    };
    // SAFETY: C gives a handle that only this call uses.
    unsafe { change(options, set) }
}

/// Sets what instructions compute: a `vop_semantics`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn vop_options_set_semantics(options: *mut vop_options, semantics: i32) -> vop_status {
    let set = |options: &mut LaunchOptions| {
        options.semantics = vop_semantics::read(semantics)?;
        Ok(())
    };
    // SAFETY: C gives a handle that only this call uses.
    unsafe { change(options, set) }
}

/// Adds a check: `races`, `uninit`, `warp`, `heap`, or `all`. What checks find is in the report, and the launch goes on.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn vop_options_add_check(
    options: *mut vop_options,
    name: *const c_char,
    name_len: usize,
) -> vop_status {
    let set = |options: &mut LaunchOptions| {
        // SAFETY: C gives a text of this length.
        let name = unsafe { text_of(name, name_len, "name")? };
        let none = || Failure::new(vop_status::VOP_ERROR_ARGUMENT, format!("there is no check `{name}`"));
        Check::named(name).ok_or_else(none)?.iter().for_each(|check| options.check(*check));
        Ok(())
    };
    // SAFETY: C gives a handle that only this call uses.
    unsafe { change(options, set) }
}

/// Sets the number of thread-instructions after which a launch is taken for a runaway loop, and fails.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn vop_options_set_instructions(options: *mut vop_options, instructions: u64) -> vop_status {
    let set = |options: &mut LaunchOptions| {
        options.instructions = instructions;
        Ok(())
    };
    // SAFETY: C gives a handle that only this call uses.
    unsafe { change(options, set) }
}

/// Sets the time after which a launch fails, in milliseconds; 0 stands for no limit.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn vop_options_set_timeout(options: *mut vop_options, milliseconds: u64) -> vop_status {
    let set = |options: &mut LaunchOptions| {
        options.timeout = (milliseconds > 0).then(|| Duration::from_millis(milliseconds));
        Ok(())
    };
    // SAFETY: C gives a handle that only this call uses.
    unsafe { change(options, set) }
}

/// Sets how long blocks may all wait for memory to change before the launch fails, in milliseconds: another thread of the host may change it.
/// The default is 10 seconds; 0 finds kernels that wait for each other at once.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn vop_options_set_patience(options: *mut vop_options, milliseconds: u64) -> vop_status {
    let set = |options: &mut LaunchOptions| {
        options.patience = Duration::from_millis(milliseconds);
        Ok(())
    };
    // SAFETY: C gives a handle that only this call uses.
    unsafe { change(options, set) }
}

/// Sets the number of bytes that a launch may take, with all buffers; 0 stands for the limit of the memory.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn vop_options_set_memory(options: *mut vop_options, bytes: u64) -> vop_status {
    let set = |options: &mut LaunchOptions| {
        options.memory = (bytes > 0).then_some(bytes);
        Ok(())
    };
    // SAFETY: C gives a handle that only this call uses.
    unsafe { change(options, set) }
}

/// Sets the number of bytes of the stack of a thread: 512 KiB at most, which is also the default.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn vop_options_set_stack(options: *mut vop_options, bytes: usize) -> vop_status {
    let set = |options: &mut LaunchOptions| {
        options.stack = bytes;
        Ok(())
    };
    // SAFETY: C gives a handle that only this call uses.
    unsafe { change(options, set) }
}

/// Lets a `vop_stop` end launches with these options. It may be freed afterwards; null takes it away.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn vop_options_set_stop(options: *mut vop_options, stop: *const vop_stop) -> vop_status {
    let set = |options: &mut LaunchOptions| {
        // SAFETY: C gives a handle that is not freed, or null.
        options.stop = unsafe { stop.as_ref() }.map(|stop| Arc::clone(&stop.0));
        Ok(())
    };
    // SAFETY: C gives a handle that only this call uses.
    unsafe { change(options, set) }
}

/// Makes something that ends launches. Threads may share it.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn vop_stop_new(out: *mut *mut vop_stop, diagnostics: *mut *mut vop_diagnostics) -> vop_status {
    // SAFETY: C gives places for answers, or null.
    unsafe { produce(out, diagnostics, || Ok(vop_stop(Arc::default()))) }
}

/// Ends the launches that run with it, and every later one. It takes no lock, so a signal handler may call it.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn vop_stop_request(stop: *const vop_stop) {
    // SAFETY: C gives a handle that is not freed, or null.
    if let Some(stop) = unsafe { stop.as_ref() } {
        stop.0.store(true, Ordering::Relaxed);
    }
}

/// Frees it; null is nothing to free. Launches that run with it go on.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn vop_stop_free(stop: *mut vop_stop) {
    // SAFETY: C gives up a handle of this library.
    unsafe { free(stop) };
}

/// What a launch did.
pub struct vop_report {
    report: Report,
    findings: vop_diagnostics,
}

/// The arguments of a launch, as bytes.
///
/// # Safety
/// `arguments` must be valid for reads of `count` arguments, or null if that is 0, and each argument for reads of its bytes.
unsafe fn arguments_of(arguments: *const vop_argument, count: usize, parameters: usize) -> Result<Vec<Arg>, Failure> {
    // Before a wrong count is believed.
    if count != parameters {
        let message = format!("{count} arguments are given for {parameters} parameters");
        return Err(Failure::new(vop_status::VOP_ERROR_ARGUMENT, message));
    }
    if count > 0 && arguments.is_null() {
        return Err(Failure::null("arguments"));
    }
    let mut all = Vec::with_capacity(count);
    for i in 0..count {
        // SAFETY: the caller promises this number of arguments.
        let argument = unsafe { arguments.add(i).read() };
        if argument.data.is_null() {
            return Err(Failure::null(&format!("arguments[{i}].data")));
        }
        // A parameter has a few KiB at most.
        if argument.size > 1 << 20 {
            let message = format!("argument {} has {} bytes, more than any parameter", i + 1, argument.size);
            return Err(Failure::new(vop_status::VOP_ERROR_ARGUMENT, message));
        }
        // SAFETY: it is not null, and the caller promises the rest.
        let bytes = unsafe { std::slice::from_raw_parts(argument.data.cast::<u8>(), argument.size) };
        all.push(Arg::Bytes(bytes.to_vec()));
    }
    Ok(all)
}

/// Runs a kernel on a grid of blocks, and returns when it has ended. `options` may be null, for the defaults.
///
/// The status is `VOP_OK` if every thread ran to its end, also if checks found errors: `vop_report_findings(*out)` has them.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn vop_launch(
    function: *const vop_function,
    grid: vop_dim3,
    block: vop_dim3,
    arguments: *const vop_argument,
    count: usize,
    options: *const vop_options,
    out: *mut *mut vop_report,
    diagnostics: *mut *mut vop_diagnostics,
) -> vop_status {
    let work = || {
        // SAFETY: C gives handles that are not freed, and this number of arguments.
        let (function, options, arguments) = unsafe {
            let function = object(function, "function")?;
            let arguments = arguments_of(arguments, count, function.kernel.parameters().len())?;
            (function, options.as_ref(), arguments)
        };
        let default = LaunchOptions::default();
        let options = options.map_or(&default, |options| &options.0);
        let (memory, ptx) = (&function.loaded.memory, function.loaded.ptx());
        // A fault of an earlier call is seen here: the launch does not look.
        drop(lock(memory)?);
        let done = function.kernel.launch_shared(grid.into(), block.into(), &arguments, memory, options);
        let report = done.map_err(|errors| run_failure(vop_status::VOP_ERROR_LAUNCH, &errors, ptx))?;
        let findings = findings(&report.findings, ptx);
        Ok(vop_report { report, findings })
    };
    // SAFETY: C gives places for answers, or null.
    unsafe { produce(out, diagnostics, work) }
}

/// Frees a report, with its findings; null is nothing to free.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn vop_report_free(report: *mut vop_report) {
    // SAFETY: C gives up a handle of this library.
    unsafe { free(report) };
}

/// The number of statements that were executed, one for each thread that executed it.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn vop_report_instructions(report: *const vop_report) -> u64 {
    // SAFETY: C gives a handle that is not freed.
    unsafe { ask(report, 0, |report| report.report.instructions) }
}

/// The number of video instructions among them.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn vop_report_video(report: *const vop_report) -> u64 {
    // SAFETY: C gives a handle that is not freed.
    unsafe { ask(report, 0, |report| report.report.video) }
}

/// The number of blocks that ran.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn vop_report_blocks(report: *const vop_report) -> u64 {
    // SAFETY: C gives a handle that is not freed.
    unsafe { ask(report, 0, |report| report.report.blocks) }
}

/// What checks found. It belongs to the report: it is valid until that is freed, and is not freed itself.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn vop_report_findings(report: *const vop_report) -> *const vop_diagnostics {
    // SAFETY: C gives a handle that is not freed.
    unsafe { ask(report, std::ptr::null(), |report| &raw const report.findings) }
}

/// The number of findings that are not in the list, as they are at too many places.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn vop_report_left_out(report: *const vop_report) -> u64 {
    // SAFETY: C gives a handle that is not freed.
    unsafe { ask(report, 0, |report| report.report.findings_left_out) }
}
