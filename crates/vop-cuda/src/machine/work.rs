//! What a stream, or a graph, is given to do.

#![allow(unsafe_code, reason = "functions of the program are called")]

use std::ffi::c_void;
use std::sync::{Arc, Condvar, Mutex, OnceLock, PoisonError};
use std::time::Duration;

use super::Machine;
use super::context::Context;
use super::copy::{Copy, Fill};
use super::event::{Event, Mark};
use super::host;
use super::launch::Launch;
use super::memory::Allocation;
use crate::status::{Answer, Status};

/// One thing to do. A copy of it does the same again, as in a graph.
#[derive(Clone)]
pub enum Work {
    /// Nothing: it only waits, or others wait for it.
    Nothing,
    /// Notes the time.
    Pass(Mark),
    /// Runs a kernel.
    Launch(Arc<Launch>),
    /// Copies.
    Copy(Copy),
    /// Copies for somebody who waits for the answer.
    CopyFor(Copy, Arc<OnceLock<Answer>>),
    /// Copies bytes that were taken from the program when it asked for it.
    Put(u64, Arc<[u8]>),
    /// Fills.
    Fill(Fill),
    /// Calls the program.
    Host(HostFunction),
    /// Calls the program, errors or not.
    Callback(Callback),
    /// Frees memory.
    Release(Arc<Allocation>),
    /// Memory of a graph is allocated: it is kept as long as the graph, so that it has the same address in each launch.
    Keep(Arc<Owned>),
    /// Writes a word.
    WriteValue(u64, Value),
    /// Waits for a word.
    WaitValue(u64, Value, Comparison),
    /// Records an event, or waits for one: only in graphs, which ask the event when they are launched.
    Record(Arc<Event>),
    /// See [`Work::Record`].
    Wait(Arc<Event>),
    /// Does all of these, in order.
    All(Arc<[Work]>),
}

/// A word of memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Value {
    /// 32 bits.
    Word(u32),
    /// 64 bits.
    Double(u64),
}

/// When a wait for a word ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Comparison {
    /// The word is not less, where numbers wrap around.
    NotLess,
    /// They are equal.
    Equal,
    /// They have a bit in common.
    And,
    /// One of them has a bit that is 0 in both: not both are all ones together.
    Nor,
}

/// A function of the program: `CUhostFn`.
#[derive(Clone, Copy, Debug)]
pub struct HostFunction {
    /// The function.
    pub function: unsafe extern "C" fn(*mut c_void),
    /// The address of the program's data.
    pub data: usize,
}

impl HostFunction {
    /// Calls it.
    pub fn call(self) {
        // SAFETY: the program gave the function and its data for this.
        super::in_callback(|| unsafe { (self.function)(std::ptr::with_exposed_provenance_mut(self.data)) });
    }
}

/// A function of the program: `CUstreamCallback`.
#[derive(Clone, Copy, Debug)]
pub struct Callback {
    /// The function.
    pub function: unsafe extern "C" fn(*mut c_void, i32, *mut c_void),
    /// The stream that it was given to, as the program named it.
    pub stream: usize,
    /// The address of the program's data.
    pub data: usize,
}

/// Memory that is freed when nobody has it any more.
pub struct Owned {
    allocation: Arc<Allocation>,
}

impl Owned {
    /// An allocation becomes a graph's.
    pub fn new(allocation: &Arc<Allocation>) -> Owned {
        allocation.is_of_graph.store(true, std::sync::atomic::Ordering::Relaxed);
        Owned { allocation: Arc::clone(allocation) }
    }

    /// The graph is launched. The program may have freed the memory since the last time: it is there again.
    pub fn allocate_again(&self) {
        self.allocation.is_leaving.store(false, std::sync::atomic::Ordering::Relaxed);
    }
}

impl Drop for Owned {
    fn drop(&mut self) {
        if let Ok(machine) = super::machine() {
            let _ = machine.release(&self.allocation);
        }
    }
}

impl Work {
    /// Whether it calls a function of the program, or waits for what the program does.
    pub fn calls_back(&self) -> bool {
        match self {
            Work::Host(_) | Work::Callback(_) | Work::WaitValue(..) => true,
            Work::All(all) => all.iter().any(Work::calls_back),
            _ => false,
        }
    }
}

/// What a word is waited for in.
static SOMETHING_CHANGED: (Mutex<()>, Condvar) = (Mutex::new(()), Condvar::new());

/// Reads or writes a word for [`Work::WriteValue`] and [`Work::WaitValue`].
fn word(machine: &Machine, address: u64, len: u64) -> Answer<Arc<Allocation>> {
    let is_aligned = address.is_multiple_of(len);
    machine.space.find_range(address, len)?.filter(|_| is_aligned).ok_or(Status::ILLEGAL_ADDRESS)
}

fn write_value(machine: &Machine, address: u64, value: Value) -> Answer {
    let len = if matches!(value, Value::Word(_)) { 4 } else { 8 };
    let allocation = word(machine, address, len)?;
    let held = allocation.hold()?;
    let place: *mut u8 = std::ptr::with_exposed_provenance_mut(address as usize);
    // SAFETY: the word is aligned, in an allocation that is held. Others may read it at the same time.
    unsafe {
        match value {
            Value::Word(value) => {
                std::sync::atomic::AtomicU32::from_ptr(place.cast()).store(value, std::sync::atomic::Ordering::Release);
            }
            Value::Double(value) => {
                std::sync::atomic::AtomicU64::from_ptr(place.cast()).store(value, std::sync::atomic::Ordering::Release);
            }
        }
    }
    drop(held);
    SOMETHING_CHANGED.1.notify_all();
    Ok(())
}

fn wait_value(context: &Context, address: u64, value: Value, comparison: Comparison) -> Answer {
    let machine = context.machine();
    let len = if matches!(value, Value::Word(_)) { 4 } else { 8 };
    loop {
        if context.is_over() {
            return Ok(());
        }
        let allocation = word(machine, address, len)?;
        let held = allocation.hold()?;
        let place: *mut u8 = std::ptr::with_exposed_provenance_mut(address as usize);
        // SAFETY: as in `write_value`.
        let (is, difference, wanted, mask) = unsafe {
            match value {
                Value::Word(wanted) => {
                    let is = std::sync::atomic::AtomicU32::from_ptr(place.cast());
                    let is = is.load(std::sync::atomic::Ordering::Acquire);
                    (u64::from(is), i64::from(is.wrapping_sub(wanted) as i32), u64::from(wanted), u64::from(u32::MAX))
                }
                Value::Double(wanted) => {
                    let is = std::sync::atomic::AtomicU64::from_ptr(place.cast());
                    let is = is.load(std::sync::atomic::Ordering::Acquire);
                    (is, is.wrapping_sub(wanted) as i64, wanted, u64::MAX)
                }
            }
        };
        drop(held);
        let is_over = match comparison {
            Comparison::NotLess => difference >= 0,
            Comparison::Equal => is == wanted,
            Comparison::And => is & wanted != 0,
            Comparison::Nor => !(is | wanted) & mask != 0,
        };
        if is_over {
            return Ok(());
        }
        let lock = SOMETHING_CHANGED.0.lock().unwrap_or_else(PoisonError::into_inner);
        // The host may write it without a word to the library.
        let _ = SOMETHING_CHANGED.1.wait_timeout(lock, Duration::from_micros(200));
    }
}

impl Context {
    /// Does a piece of work. After a fault of a kernel, most work is left out, as on a card.
    pub fn run(&self, work: Work) {
        let machine = self.machine();
        let is_over = self.is_over();
        let result = match work {
            Work::Nothing | Work::Record(_) | Work::Wait(_) | Work::Keep(_) => Ok(()),
            Work::Pass(mark) => {
                mark.pass();
                Ok(())
            }
            Work::Release(allocation) => machine.release(&allocation),
            Work::Callback(Callback { function, stream, data }) => {
                let status = self.check().err().unwrap_or(Status::SUCCESS);
                let stream = std::ptr::with_exposed_provenance_mut(stream);
                let data = std::ptr::with_exposed_provenance_mut(data);
                // SAFETY: the program gave the function and its data for this.
                super::in_callback(|| unsafe { function(stream, status.0, data) });
                Ok(())
            }
            Work::CopyFor(copy, answer) => {
                let result = if is_over { self.check() } else { copy.run(machine) };
                let _ = answer.set(result);
                Ok(())
            }
            Work::All(all) => {
                all.iter().cloned().for_each(|work| self.run(work));
                Ok(())
            }
            _ if is_over => Ok(()),
            Work::Launch(launch) => launch.run(self),
            Work::Copy(copy) => copy.run(machine),
            Work::Put(to, bytes) => match machine.space.find_range(to, bytes.len() as u64) {
                Ok(Some(_)) => {
                    Copy::bytes(to, bytes.as_ptr().expose_provenance() as u64, bytes.len() as u64).run(machine)
                }
                _ => {
                    let place = std::ptr::with_exposed_provenance_mut(to as usize);
                    // SAFETY: the bytes are there as long as the work.
                    unsafe { host::copy(place, false, bytes.as_ptr(), true, bytes.len()) }
                }
            },
            Work::Fill(fill) => fill.run(machine),
            Work::Host(function) => {
                function.call();
                Ok(())
            }
            Work::WriteValue(address, value) => write_value(machine, address, value),
            Work::WaitValue(address, value, comparison) => wait_value(self, address, value, comparison),
        };
        if let Err(status) = result {
            self.fail(status);
        }
    }
}
