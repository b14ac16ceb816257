//! What the CUDA runtime provides to kernels: `vprintf`, `__assertfail`, `malloc` and `free`.

use std::sync::Arc;
use std::sync::atomic::Ordering;

use super::access::Reach;
use super::block::{Failure, Worker, threads};
use super::findings::What;
use super::printf::{Charge, Halt};
use crate::code::{Pc, System, SystemFunction};
use crate::error::{RunError, RunErrorKind};
use crate::heap::{Heap, HeapFault, HeapLog, Site};
use crate::memory::refused;

/// What a call costs for each thread, and each header of the heap that a search passes, in thread-instructions.
const CALL: u64 = 64;
const HEADER: u64 = 8;

/// Bytes that a block may print, about. The rest is dropped, as a GPU's buffer drops it.
const MAX_PRINTED: usize = 64 << 20;

impl Worker<'_> {
    pub(super) fn system(&mut self, pc: Pc, system: &System, mask: &[u8]) -> Result<(), Failure> {
        let start = self.reach.frame as u32;
        let arguments: Vec<Vec<u64>> = system.arguments.iter().map(|a| self.take(a, start, mask)).collect();
        let threads: Vec<usize> = threads(mask).collect();
        let mut results = Vec::new();
        for (i, thread) in threads.iter().enumerate() {
            self.charge(CALL)?;
            let arguments: Vec<u64> = arguments.iter().map(|words| words.get(i).copied().unwrap_or(0)).collect();
            let argument = |i: usize| arguments.get(i).copied().unwrap_or(0);
            match system.function {
                SystemFunction::Vprintf => {
                    let room = MAX_PRINTED.saturating_sub(self.done.printed.len());
                    let (text, taken) = self.making_text(*thread, pc, |reach, charge| {
                        reach.format(room, argument(0), argument(1), *thread, charge)
                    })?;
                    results.push(taken);
                    self.print(&text).map_err(|error| self.fail(error, *thread, pc))?;
                }
                SystemFunction::AssertFail => {
                    let [condition, function, file] = [0, 3, 1].map(|i| {
                        let free = &mut |_| Ok(());
                        let bytes = self.reach.string(argument(i), None, *thread, free).unwrap_or_default();
                        String::from_utf8_lossy(&bytes).into_owned()
                    });
                    let line = argument(2) as u32;
                    let message = format!("assertion failed: `{condition}` in {function} ({file}:{line})");
                    return Err(self.fail(RunError::new(RunErrorKind::Trap, message), *thread, pc));
                }
                SystemFunction::Malloc { heap } => {
                    let bytes = argument(0);
                    let mut passed = 0;
                    let found = self.heap(heap).and_then(|found| {
                        if let Some(mut log) = self.reach.shadow.as_ref().and_then(|shadow| shadow.heap()) {
                            let site = self.site(&mut log, *thread, pc);
                            log.allocate(&found, bytes, site, &mut passed)
                        } else {
                            found.allocate(bytes, &mut passed)
                        }
                    });
                    let offset = found.map_err(|fault| self.heap_failed(fault, heap, 0, *thread, pc))?;
                    let mut cost = passed * HEADER;
                    if let (Some(shadow), Some(offset)) = (&self.reach.shadow, offset) {
                        shadow.allocated(heap as usize, offset, bytes);
                        cost += bytes / 8;
                    }
                    self.charge(cost)?;
                    results.push(offset.map_or(0, |offset| self.heap_address(heap) + offset));
                }
                SystemFunction::Free { heap } => {
                    let address = argument(0);
                    if address != 0 {
                        let offset = address.wrapping_sub(self.heap_address(heap));
                        let freed = self.heap(heap).and_then(|found| {
                            if let Some(mut log) = self.reach.shadow.as_ref().and_then(|shadow| shadow.heap()) {
                                let site = self.site(&mut log, *thread, pc);
                                log.free(offset, site)
                            } else {
                                found.release(offset).map(Ok)
                            }
                        });
                        let freed = freed.map_err(|fault| self.heap_failed(fault, heap, address, *thread, pc))?;
                        if let Err(near) = freed {
                            let statement = self.steps[pc as usize].statement;
                            self.reach.findings.add(statement, *thread, What::DoubleFree { address, near });
                        }
                    }
                }
            }
        }
        for (thread, value) in threads.into_iter().zip(results) {
            self.give_one(&system.result, start, thread, &[value]);
        }
        Ok(())
    }

    /// Makes a text of the kernel's memory, and counts what that costs.
    fn making_text<T>(
        &mut self,
        thread: usize,
        pc: Pc,
        make: impl FnOnce(&Reach, Charge<'_>) -> Result<T, Halt>,
    ) -> Result<T, Failure> {
        let (launch, index) = (self.launch, self.index());
        let Worker { reach, meter, done, .. } = self;
        let made = make(reach, &mut |cost| {
            meter.over += cost;
            if done.executed + meter.over < meter.due {
                return Ok(());
            }
            if launch.failed.load(Ordering::Relaxed) < index {
                return Err(Halt::Ended(None));
            }
            meter.look(launch, done.executed).map_or(Ok(()), |error| Err(Halt::Ended(Some(error))))
        });
        made.map_err(|halt| match halt {
            Halt::Fault(fault) => {
                let error = *self.faulted(fault, thread, pc);
                let help =
                    "`printf` reads its format, its list of arguments and each `%s` at the addresses that it is given";
                Box::new(error.with_help(help))
            }
            Halt::Ended(Some(error)) => self.fail(error, thread, pc),
            Halt::Ended(None) => self.abandon(),
        })
    }

    /// Adds to what the block has printed.
    fn print(&mut self, text: &[u8]) -> Result<(), RunError> {
        let what = "what the kernel prints";
        self.launch.memory.take(text.len() as u64, what)?;
        let printed = &mut self.done.printed;
        printed.try_reserve(text.len()).map_err(|_| refused(text.len() as u64, what))?;
        printed.extend_from_slice(text);
        Ok(())
    }

    /// A place of a thread, for the heap's log.
    fn site(&self, log: &mut HeapLog, thread: usize, pc: Pc) -> Arc<Site> {
        let (kernel, thread) = (self.launch.kernel, self.thread_id(thread));
        let statement = self.steps[pc as usize].statement;
        log.site(statement, thread, || {
            let place = kernel.place(statement);
            Site {
                kernel: kernel.name.clone(),
                line: place.as_ref().map_or(String::new(), |place| kernel.line_of(place)),
                source: place.and_then(|place| place.source).map(|source| source.to_string()),
                thread,
            }
        })
    }

    fn heap_address(&self, index: u32) -> u64 {
        self.launch.places.regions.get(index as usize).map_or(0, |region| region.address)
    }

    fn heap(&self, index: u32) -> Result<Heap, HeapFault> {
        self.launch.places.regions.get(index as usize).ok_or(HeapFault::Foreign).and_then(|region| Heap::of(*region))
    }

    #[cold]
    fn heap_failed(&self, fault: HeapFault, heap: u32, address: u64, thread: usize, pc: Pc) -> Failure {
        let (address, message) = match fault {
            HeapFault::Foreign => {
                (None, "there is no heap: the memory was not made by the kernel's program".to_owned())
            }
            HeapFault::Corrupt(offset) => (
                Some(self.heap_address(heap) + offset),
                format!("the heap is damaged at its byte {offset}: something wrote beyond the end of its allocation"),
            ),
            HeapFault::NotAllocated => (
                Some(address),
                format!("address {address:#x} is freed, but malloc did not return it, or it was freed before"),
            ),
        };
        let kind = match fault {
            HeapFault::NotAllocated => RunErrorKind::Free,
            HeapFault::Foreign | HeapFault::Corrupt(_) => RunErrorKind::Forbidden,
        };
        self.fail(RunError { address, ..RunError::new(kind, message) }, thread, pc)
    }
}
