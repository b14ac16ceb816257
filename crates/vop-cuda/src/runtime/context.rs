//! The context that calls work in: the current one, or the primary context of the thread's device, which is made when it is first needed.

use std::cell::Cell;
use std::ffi::c_void;
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Mutex, Once, PoisonError};

use super::driver;
use crate::abi;
use crate::status::{Answer, Status};

/// Devices that there may be.
const MAX_DEVICES: usize = 8;

thread_local! {
    /// The device that the thread has chosen.
    static DEVICE: Cell<i32> = const { Cell::new(0) };
}

/// The primary contexts that the runtime holds, by device.
static RETAINED: Mutex<[usize; MAX_DEVICES]> = Mutex::new([0; MAX_DEVICES]);

/// Initialises the driver.
pub(super) fn initialize() -> Answer {
    static ONCE: Once = Once::new();
    static RESULT: AtomicU32 = AtomicU32::new(0);
    ONCE.call_once(|| {
        if let Err(status) = driver!(cuInit(0)) {
            RESULT.store(status.0 as u32, Ordering::Relaxed);
        }
    });
    match RESULT.load(Ordering::Relaxed) {
        0 => Ok(()),
        number => Err(Status(number as i32)),
    }
}

/// How many devices there are.
pub(super) fn count() -> Answer<i32> {
    initialize()?;
    let mut count = 0;
    driver!(cuDeviceGetCount(&raw mut count))?;
    if count == 0 { Err(Status::NO_DEVICE) } else { Ok(count) }
}

/// Checks a device's number.
pub(super) fn checked(device: i32) -> Answer<i32> {
    if (0..count()?).contains(&device) { Ok(device) } else { Err(Status::INVALID_DEVICE) }
}

/// The primary context of a device, held from the first call on.
pub(super) fn primary(device: i32) -> Answer<*mut c_void> {
    checked(device)?;
    let mut retained = RETAINED.lock().unwrap_or_else(PoisonError::into_inner);
    let held = retained.get_mut(device as usize).ok_or(Status::INVALID_DEVICE)?;
    if *held == 0 {
        let mut context: *mut c_void = std::ptr::null_mut();
        driver!(cuDevicePrimaryCtxRetain((&raw mut context).cast(), device))?;
        *held = context as usize;
    }
    Ok(*held as *mut c_void)
}

/// Empties the primary context of a device. What the runtime holds stays valid: it is filled again when it is needed.
pub(super) fn reset(device: i32) -> Answer {
    let mut retained = RETAINED.lock().unwrap_or_else(PoisonError::into_inner);
    let held = retained.get_mut(device as usize).ok_or(Status::INVALID_DEVICE)?;
    if *held != 0 {
        *held = 0;
        drop(retained);
        _ = driver!(cuDevicePrimaryCtxRelease_v2(device));
    } else {
        drop(retained);
    }
    driver!(cuDevicePrimaryCtxReset_v2(device))
}

fn current() -> *mut c_void {
    let mut context: *mut c_void = std::ptr::null_mut();
    match driver!(cuCtxGetCurrent((&raw mut context).cast())) {
        Ok(()) => context,
        Err(_) => std::ptr::null_mut(),
    }
}

/// Makes a context current if there is none.
pub(super) fn ensure() -> Answer {
    initialize()?;
    if current().is_null() {
        let context = primary(DEVICE.get())?;
        driver!(cuCtxSetCurrent(context.cast()))?;
    }
    Ok(())
}

/// The device of the current context, or the one that the thread has chosen.
pub(super) fn device() -> Answer<i32> {
    initialize()?;
    if current().is_null() {
        return checked(DEVICE.get());
    }
    let mut device = 0;
    driver!(cuCtxGetDevice(&raw mut device))?;
    Ok(device)
}

/// Chooses a device, and makes its primary context current.
pub(super) fn choose(device: i32) -> Answer {
    let context = primary(device)?;
    DEVICE.set(device);
    driver!(cuCtxSetCurrent(context.cast()))
}

/// Makes no context current, so that the next call makes the primary one so.
pub(super) fn leave() {
    _ = driver!(cuCtxSetCurrent(std::ptr::null_mut()));
}

/// The error of a kernel that the current context is left with.
pub(super) fn sticky() -> Option<Status> {
    crate::machine::Context::current_any().and_then(|context| context.check_sticky().err())
}

/// The stream that a handle stands for: null is the thread's own default stream after a call through a symbol that says so.
pub(super) fn stream(call: abi::Call, stream: *mut c_void) -> *mut c_void {
    if stream.is_null() && call.per_thread { PER_THREAD_STREAM as *mut c_void } else { stream }
}

/// `cudaStreamPerThread`.
const PER_THREAD_STREAM: usize = 2;

/// Lets the next call of the driver use the default stream that this call uses.
pub(super) fn default_stream(call: abi::Call) {
    if call.per_thread {
        abi::per_thread_default_stream();
    }
}
