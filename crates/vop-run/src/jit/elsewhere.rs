//! Where there are no templates for the machine, or no pages for them.

use crate::code::{RegionLoop, RunLoop};

/// No code.
#[derive(Debug)]
pub(super) enum Executable {}

impl Executable {
    pub(super) fn new(_code: &[u8]) -> Option<Executable> {
        None
    }

    #[allow(unsafe_code, reason = "as the other")]
    pub(super) unsafe fn function(&self, _offset: usize) -> RunLoop {
        match *self {}
    }

    #[allow(unsafe_code, reason = "as the other")]
    pub(super) unsafe fn region(&self, _offset: usize) -> RegionLoop {
        match *self {}
    }
}
