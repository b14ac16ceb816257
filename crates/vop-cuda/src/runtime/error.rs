//! The last error of a thread.

use std::cell::Cell;
use std::ffi::{CStr, c_char};

use super::context;
use crate::abi;
use crate::status::Status;

thread_local! {
    /// The last error that a function of the runtime has returned in this thread, and that nobody has asked for since.
    static LAST: Cell<Status> = const { Cell::new(Status::SUCCESS) };
}

/// Keeps an error as the thread's last one. That work is not done yet is none.
pub(super) fn kept(status: Status) -> Status {
    if status != Status::SUCCESS && status != Status::NOT_READY {
        LAST.set(status);
    }
    status
}

/// The last error. An error of a kernel stays until the device is reset, whoever has asked for it.
fn last() -> Status {
    match LAST.get() {
        Status::SUCCESS => context::sticky().unwrap_or(Status::SUCCESS),
        status => status,
    }
}

/// The last error of this thread, which is forgotten then.
pub unsafe extern "C" fn cudaGetLastError() -> i32 {
    let mut status = Status::SUCCESS;
    abi::guarded("cudaGetLastError", |_| {
        status = last();
        LAST.set(Status::SUCCESS);
        Ok(())
    });
    status.0
}

/// The last error of this thread.
pub unsafe extern "C" fn cudaPeekAtLastError() -> i32 {
    let mut status = Status::SUCCESS;
    abi::guarded("cudaPeekAtLastError", |_| {
        status = last();
        Ok(())
    });
    status.0
}

/// What both functions say to a number that is no error.
const UNRECOGNIZED: &CStr = c"unrecognized error code";

/// The name of an error.
pub unsafe extern "C" fn cudaGetErrorName(error: i32) -> *const c_char {
    Status(error).runtime_name().unwrap_or(UNRECOGNIZED).as_ptr()
}

/// What an error means.
pub unsafe extern "C" fn cudaGetErrorString(error: i32) -> *const c_char {
    Status(error).text().unwrap_or(UNRECOGNIZED).as_ptr()
}
