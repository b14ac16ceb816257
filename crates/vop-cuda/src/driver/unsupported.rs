//! Functions that answer `CUDA_ERROR_NOT_SUPPORTED`, and are counted for the list at the end of the process.

#![allow(missing_docs, reason = "each does the same")]

use crate::abi::guarded;
use crate::machine::report;

macro_rules! unsupported {
    (functions { $($name:ident)* } ptsz { $($z:ident)* } ptds { $($d:ident)* } unsupported { $($no:ident)* }) => { $(
        pub extern "C" fn $no() -> i32 {
            guarded(stringify!($no), |call| Err(report::not_supported(call.name))).0
        }
    )* };
}

crate::driver_functions!(unsupported);
