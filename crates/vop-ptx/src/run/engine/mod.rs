//! The engine: columns, loops over them, and who runs when.

#[allow(unsafe_code, reason = "SIMD kernels")]
pub(crate) mod lanes;
pub(crate) mod level;
