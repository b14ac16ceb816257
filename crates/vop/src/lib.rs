//! PTX video instructions. (being written)
#![no_std]
#![forbid(unsafe_code)]
extern crate alloc;
