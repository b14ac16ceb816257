//! What the CUDA runtime provides to kernels: `vprintf`, `__assertfail`, `malloc` and `free`.

use super::block::{Failure, Worker, threads};
use crate::code::{Pc, System, SystemFunction};
use crate::error::{RunError, RunErrorKind};
use crate::heap::{Heap, HeapFault};
use crate::memory::address_of;

/// Bytes that a block may print, about. The rest is dropped, as a GPU's buffer drops it.
const MAX_PRINTED: usize = 64 << 20;

impl Worker<'_> {
    pub(super) fn system(&mut self, pc: Pc, system: &System, mask: &[u8]) -> Result<(), Failure> {
        let start = self.reach.frame as u32;
        let arguments: Vec<Vec<u64>> = system.arguments.iter().map(|a| self.take(a, start, mask)).collect();
        let threads: Vec<usize> = threads(mask).collect();
        let mut results = Vec::new();
        for (i, thread) in threads.iter().enumerate() {
            let arguments: Vec<u64> = arguments.iter().map(|words| words.get(i).copied().unwrap_or(0)).collect();
            let argument = |i: usize| arguments.get(i).copied().unwrap_or(0);
            match system.function {
                SystemFunction::Vprintf => {
                    let room = MAX_PRINTED.saturating_sub(self.done.printed.len());
                    let printed = self.reach.format(room, argument(0), argument(1), *thread);
                    let (text, taken) = printed.map_err(|fault| self.faulted(fault, *thread, pc))?;
                    results.push(taken);
                    self.done.printed.extend(text);
                }
                SystemFunction::AssertFail => {
                    let text = |worker: &Self, i| {
                        let bytes = worker.reach.string(argument(i), *thread).unwrap_or_default();
                        String::from_utf8_lossy(&bytes).into_owned()
                    };
                    let message = format!(
                        "assertion failed: `{}` in {} ({}:{})",
                        text(self, 0),
                        text(self, 3),
                        text(self, 1),
                        argument(2) as u32
                    );
                    return Err(self.fail(RunError::new(RunErrorKind::Trap, message), *thread, pc));
                }
                SystemFunction::Malloc { heap } => {
                    let found = self.heap(heap).and_then(|found| found.allocate(argument(0)));
                    let offset = found.map_err(|fault| self.heap_failed(fault, heap, 0, *thread, pc))?;
                    results.push(offset.map_or(0, |offset| address_of(heap as usize) + offset));
                }
                SystemFunction::Free { heap } => {
                    let address = argument(0);
                    if address != 0 {
                        let offset = address.wrapping_sub(address_of(heap as usize));
                        self.heap(heap)
                            .and_then(|found| found.release(offset))
                            .map_err(|fault| self.heap_failed(fault, heap, address, *thread, pc))?;
                    }
                }
            }
        }
        for (thread, value) in threads.into_iter().zip(results) {
            self.give_one(&system.result, start, thread, &[value]);
        }
        Ok(())
    }

    fn heap(&self, index: u32) -> Result<Heap, HeapFault> {
        self.launch.regions.get(index as usize).ok_or(HeapFault::Foreign).and_then(|region| Heap::of(*region))
    }

    #[cold]
    fn heap_failed(&self, fault: HeapFault, heap: u32, address: u64, thread: usize, pc: Pc) -> Failure {
        let (address, message) = match fault {
            HeapFault::Foreign => {
                (None, "there is no heap: the memory was not made by the kernel's program".to_owned())
            }
            HeapFault::Corrupt(offset) => (
                Some(address_of(heap as usize) + offset),
                format!("the heap is damaged at its byte {offset}: something wrote beyond the end of its allocation"),
            ),
            HeapFault::NotAllocated => (
                Some(address),
                format!("address {address:#x} is freed, but malloc did not return it, or it was freed before"),
            ),
        };
        self.fail(RunError { address, ..RunError::new(RunErrorKind::Forbidden, message) }, thread, pc)
    }
}
