//! Functions that answer `CUDA_ERROR_NOT_SUPPORTED`.
