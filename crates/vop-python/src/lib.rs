//! The native half of the Python package `vop`: NumPy's ufuncs, and the library's answers as plain Python values.
//!
//! What users see is in python/vop/, which makes classes of these values. Errors are raised as the package's own.

use pyo3::prelude::*;

mod answers;
#[allow(unsafe_code, reason = "pointers to words that NumPy names")]
mod strided;
#[allow(unsafe_code, reason = "NumPy's C interface")]
mod ufunc;

/// The native half of the package.
#[pymodule]
mod _vop {
    /// The version of the package.
    #[pymodule_export]
    #[allow(non_upper_case_globals, reason = "it is Python's name for it")]
    const __version__: &str = env!("CARGO_PKG_VERSION");
    #[pymodule_export]
    use super::answers::{check, cost, eval, explain, explain_code, lower, lower_module, mnemonics, parse};
    #[pymodule_export]
    use super::answers::{ufunc, ufunc_form, ufunc_key};
}
