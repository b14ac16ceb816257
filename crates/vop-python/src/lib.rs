//! The native half of the Python package `vop`: NumPy's ufuncs, and the library's answers as plain Python values.
//!
//! The folder python/vop/ holds what users see, and makes objects of these values. Errors are exceptions of its classes.

use pyo3::prelude::*;

mod answers;
mod run;
mod ufunc;

/// The native half of the package.
#[pymodule]
mod _vop {
    /// The version of the package.
    #[pymodule_export]
    #[allow(non_upper_case_globals, reason = "Python spells it so")]
    const __version__: &str = env!("CARGO_PKG_VERSION");
    #[pymodule_export]
    use super::answers::{
        check, cost, eval, explain, explain_code, language_of, lower, lower_module, mnemonics, parse, port,
        port_targets,
    };
    #[pymodule_export]
    use super::answers::{ufunc, ufunc_form, ufunc_key};
    #[pymodule_export]
    use super::run::{LoadedKernel, LoadedModule, load, run};
}
