//! Lossless reader of PTX modules.
