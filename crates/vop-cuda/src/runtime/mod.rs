//! The runtime API.

#![allow(non_snake_case, reason = "the names are CUDA's")]
#![allow(unsafe_code, reason = "callers pass pointers")]

mod list;

use crate::abi::api;

api! {
    /// Empties the device; here only to show how a function is declared.
    fn cudaDeviceReset() {
        Ok(())
    }
}
