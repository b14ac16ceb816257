//! Runs kernels on the CPU.
