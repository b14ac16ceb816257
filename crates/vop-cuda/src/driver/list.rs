//! All symbols of the driver API.

/// Calls a macro with the names of all functions: those that have a definition; those of them that also have a symbol with the suffix
/// `_ptsz` or `_ptds`, whose default stream is the thread's own; and those that are not supported.
#[doc(hidden)]
#[macro_export]
macro_rules! driver_functions {
    ($($then:tt)*) => {
        $($then)*! {
            functions {
                cuInit
            }
            ptsz {
            }
            ptds {
            }
            unsupported {
            }
        }
    };
}
