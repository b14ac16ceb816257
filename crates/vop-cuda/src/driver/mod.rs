//! The driver API.

#![allow(non_snake_case, reason = "the names are CUDA's")]
#![allow(unsafe_code, reason = "callers pass pointers")]

mod list;
pub mod unsupported;

use crate::abi::api;

api! {
    /// Initialises the library.
    fn cuInit(flags: u32) {
        if flags != 0 {
            return Err(crate::Status::INVALID_VALUE);
        }
        Ok(())
    }
}
