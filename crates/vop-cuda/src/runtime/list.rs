//! All symbols of the runtime API.

/// Calls a macro with the names of all functions: those that both versions have; those of them that also have a symbol with the suffix
/// `_ptsz` or `_ptds`, whose default stream is the thread's own; those of version 13; and those of version 12 (`symbol = function`), which
/// version 13 does not have or has with other parameters.
#[doc(hidden)]
#[macro_export]
macro_rules! runtime_functions {
    ($($then:tt)*) => {
        $($then)*! {
            both {
                cudaDeviceReset
            }
            both_ptsz {
            }
            both_ptds {
            }
            only_13 {
            }
            only_12 {
            }
        }
    };
}
