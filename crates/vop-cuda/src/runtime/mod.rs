//! The runtime API, over the driver API.
//!
//! ```text
//! __cudaRegister…  ──► registry: what the program's fat binaries hold, by the addresses of the host's symbols
//! cuda…            ──► the current context (context.rs) ──► cu… of `driver`
//! ```
//!
//! The runtime adds to the driver API: device code that is registered when the program starts and loaded when it is first used, a context
//! that is made when it is first needed, and the last error of a thread. A handle of the one interface is a handle of the other.

#![allow(non_snake_case, reason = "the names are CUDA's")]
#![allow(unsafe_code, reason = "callers pass pointers")]
#![allow(clippy::missing_safety_doc, reason = "CUDA's manual says what pointers must be")]

mod array;
mod context;
mod copy;
mod device;
mod error;
mod event;
mod function;
mod graph;
mod launch;
mod library;
mod list;
mod memory;
mod pool;
mod registry;
mod stream;
mod texture;
mod types;
pub mod unsupported;

pub use array::*;
pub use copy::*;
pub use device::*;
pub use error::*;
pub use event::*;
pub use function::*;
pub use graph::*;
pub use launch::*;
pub use library::*;
pub use memory::*;
pub use pool::*;
pub use registry::*;
pub use stream::*;
pub use texture::*;

/// Declares functions of the runtime: as `api!`, and an error becomes the thread's last one.
macro_rules! runtime {
    ($($(#[$meta:meta])* fn $name:ident($($arg:ident: $ty:ty),* $(,)?) $(|$call:ident|)? $body:block)*) => { $(
        $(#[$meta])*
        pub unsafe extern "C" fn $name($($arg: $ty),*) -> i32 {
            let status = $crate::abi::guarded(stringify!($name), move |_call| { $(let $call = _call;)? $body });
            $crate::runtime::error::kept(status).0
        }
    )* };
}
pub(crate) use runtime;

/// Calls a function of the driver API, which answers with a number.
macro_rules! driver {
    ($name:ident($($arg:expr),* $(,)?)) => {
        // SAFETY: the pointers are the caller's, or of values that live until the call ends.
        match unsafe { $crate::driver::$name($($arg),*) } {
            0 => Ok(()),
            number => Err($crate::Status(number)),
        }
    };
}
pub(crate) use driver;

/// Writes a result where the caller asks for it.
///
/// # Safety
/// The pointer is null, or a value can be written there.
unsafe fn put<T>(to: *mut T, value: T) -> crate::status::Answer {
    if to.is_null() {
        return Err(crate::Status::INVALID_VALUE);
    }
    // SAFETY: as the caller says.
    unsafe { to.write_unaligned(value) };
    Ok(())
}

/// What a function has answered, as an answer of a function of Rust.
fn answer(number: i32) -> crate::status::Answer {
    if number == 0 { Ok(()) } else { Err(crate::Status(number)) }
}
