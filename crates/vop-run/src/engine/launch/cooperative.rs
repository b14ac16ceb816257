//! Cooperative launches: blocks that wait for one another at a barrier of the grid.
//!
//! Compilers take the address of the grid's *workspace* from `%envreg1` and `%envreg2`. Its second word counts the blocks that have come to
//! the barrier: the first block adds 2^31 less the number of the others, the others add one each, so that the highest bit changes when all
//! have come (`cooperative_groups/details/sync.h` of CUDA).

use super::{Launch, LaunchOptions};
use crate::code::Kernel;
use crate::error::{RunError, RunErrorKind};
use crate::memory::{BufferId, Memory};
use crate::special::Special;

/// What an H100 has (CUDA Programming Guide, "Technical Specifications per Compute Capability"): multiprocessors, and of each the threads,
/// the blocks and the bytes of shared memory, of which the system takes some for each block.
const MULTIPROCESSORS: u64 = 132;
const THREADS: u64 = 2048;
const BLOCKS: u64 = 32;
const SHARED: u64 = 228 * 1024;
const SHARED_OF_SYSTEM: u64 = 1024;
/// Shared memory is given in multiples of this.
const SHARED_STEP: u64 = 128;
const WARP: u64 = 32;

/// Bytes of the workspace: its size and the barrier, a word each.
pub(crate) const WORKSPACE: usize = 8;
/// Where the barrier stands in it.
const BARRIER: u64 = 4;

impl Kernel {
    /// The number of blocks of this shape that an H100 holds at once. The registers that machine code takes may make it smaller.
    pub fn resident_blocks(&self, block: [u32; 3], dynamic_shared: usize) -> u64 {
        let threads = block.iter().map(|n| u64::from(*n)).product::<u64>().max(1);
        let shared = (self.shared_bytes.saturating_add(dynamic_shared) as u64).next_multiple_of(SHARED_STEP);
        let by_threads = THREADS / threads.next_multiple_of(WARP);
        MULTIPROCESSORS * BLOCKS.min(by_threads).min(SHARED / (shared + SHARED_OF_SYSTEM))
    }

    /// An error if not all blocks of a cooperative grid are on the device at once.
    pub(crate) fn check_cooperative(&self, grid: [u32; 3], resident: u64) -> Result<(), RunError> {
        let blocks = grid.iter().fold(1u64, |product, n| product.saturating_mul(u64::from(*n)));
        if blocks <= resident {
            return Ok(());
        }
        let message = format!("a cooperative grid of {blocks} blocks: the device holds {resident} of them at once");
        let help = "a smaller grid, whose blocks take more work each, or smaller blocks";
        Err(RunError::new(RunErrorKind::Argument, message).with_help(help))
    }

    /// The workspace for a launch, if it needs one.
    pub(super) fn take_workspace(
        &self,
        memory: &mut Memory,
        options: &LaunchOptions,
    ) -> Result<Option<BufferId>, RunError> {
        let needs = options.cooperative.is_some() && self.reads_workspace();
        needs.then(|| memory.take_workspace()).transpose()
    }

    /// Whether it asks for the workspace of the grid.
    fn reads_workspace(&self) -> bool {
        self.specials.iter().any(|(special, ..)| matches!(special, Special::Workspace { .. }))
    }
}

impl Launch<'_> {
    /// What a block waits for that waits at the barrier of the grid.
    pub(in crate::engine) fn at_barrier(&self, address: u64, value: u64) -> Option<String> {
        let barrier = self.shape.workspace.checked_add(BARRIER).filter(|_| self.shape.workspace != 0)?;
        if address != barrier {
            return None;
        }
        let (blocks, count) = (self.shape.blocks(), value & 0x7fff_ffff);
        // Whether the first block has come.
        let missing = if count > 1 << 30 { (1 << 31) - count } else { blocks.saturating_sub(count) };
        Some(format!(
            "the barrier of the grid (`grid.sync()`), to which {missing} of the {blocks} blocks have not come"
        ))
    }

    /// The help for a kernel that traps because there is no workspace.
    pub(in crate::engine) fn lacks_workspace(&self) -> bool {
        self.shape.workspace == 0 && self.kernel.reads_workspace()
    }
}
