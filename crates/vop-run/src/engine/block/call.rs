//! Calls and returns: arguments into a function's frame, results out of it.

#![allow(unsafe_code, reason = "arguments stand in columns, which are raw memory")]

use super::groups::{Wait, count, first, subtract, threads};
use super::{Failure, Worker};
use crate::code::{Actual, Call, CallTarget, Formal, FunctionCode, Op, Pc};
use crate::column::{Slot, Width};
use crate::engine::meter::of_zeros;
use crate::error::{RunError, RunErrorKind};
use crate::memory::FUNCTION_BASE;

impl Worker<'_> {
    /// Makes a frame the one that slots are relative to.
    pub(super) fn enter(&mut self, index: u32) -> Result<(), Failure> {
        let frame = self.frames.get(index);
        let function = &self.launch.kernel.functions[frame.function as usize];
        let entered = self.storage.enter(&mut self.reach, &frame, function, self.launch);
        self.meter.over += of_zeros(entered.map_err(|why| self.overflow(frame.depth, why))?);
        self.running.frame = index;
        Ok(())
    }

    /// [`Worker::enter`] for a frame that was entered before: there is room for it.
    pub(in crate::engine) fn enter_again(&mut self, frame: u32) {
        let entered = if frame == self.running.frame { Ok(()) } else { self.enter(frame) };
        debug_assert!(entered.is_ok());
    }

    /// Zeroes the registers that a function may read before it writes them.
    pub(super) fn clear(&mut self, function: u32) {
        let cleared = &self.launch.kernel.functions[function as usize].cleared;
        for &(slot, width) in cleared {
            self.set_all(slot, width, 0, &self.running.mask);
        }
        self.meter.over += cleared.len() as u64 * self.reach.lanes as u64 * 2;
    }

    /// The function whose address the slot holds for the first thread of a mask. Threads that hold another address are taken out of the
    /// mask and call it by themselves.
    fn callee(&mut self, pc: Pc, call: &Call, address: Slot, mask: &mut [u8]) -> Result<u32, Failure> {
        let file = self.reach.file;
        // SAFETY: the decoder laid the address out as a double.
        let of = |thread| unsafe { file.element(address, Width::Double, thread) };
        let (thread, kernel) = (first(mask), self.launch.kernel);
        let address = of(thread);
        let index = usize::try_from(address.wrapping_sub(FUNCTION_BASE) >> 4).ok();
        let found = index.and_then(|index| kernel.by_address.get(index).copied().flatten());
        let found = found.filter(|_| address & 15 == 0);
        let callee = found.map(|found| &kernel.functions[found as usize]);
        let differs = callee.and_then(|callee| difference(call, callee));
        let Some(function) = found.filter(|_| differs.is_none()) else {
            let error = match differs {
                Some(message) => RunError::new(RunErrorKind::Prototype, message)
                    .with_help("call the function by a pointer of its own type"),
                None => {
                    let message = format!("a call of address {address:#x}, where no function is");
                    RunError::new(RunErrorKind::OutOfBounds, message)
                }
            };
            return Err(self.fail(error, thread, pc));
        };
        let mut rest = vec![0; mask.len()];
        for t in 0..mask.len() {
            if mask[t] != 0 && of(t) != address {
                rest[t] = mask[t];
            }
        }
        let others = count(&rest);
        if others > 0 {
            subtract(mask, &rest);
            self.undo(pc, &rest, others, true);
            self.running.take_out(&rest, others);
            self.groups.park(&self.frames, self.running.frame, pc, rest, Wait::Ready);
        }
        Ok(function)
    }

    pub(super) fn call(&mut self, pc: Pc, call: &Call, mut mask: Vec<u8>) -> Result<bool, Failure> {
        let function = match call.target {
            CallTarget::Function(function) => function,
            CallTarget::Indirect(address) => self.callee(pc, call, address, &mut mask)?,
        };
        let active = count(&mask);
        if let (Some(watch), CallTarget::Indirect(_)) = (&mut self.warp_watch, call.target) {
            watch.part(&mask);
        }
        self.park_others(&mask, active);
        let callee = &self.launch.kernel.functions[function as usize];
        let stack = self.frames.get(self.running.frame).stack;
        let frame = self.frames.call(self.running.frame, pc, function);
        let values: Vec<Vec<u64>> = call.arguments.iter().map(|actual| self.take(actual, stack, &mask)).collect();
        self.meter.over += cost_of(&values);
        (self.running.pc, self.running.mask, self.running.active) = (pc, mask, active);
        self.enter(frame)?;
        self.clear(function);
        self.meter.over += of_structures(&values, active);
        let stack = self.frames.get(frame).stack;
        for (formal, values) in callee.parameters.iter().zip(&values) {
            self.give(&as_actual(formal), stack, values);
        }
        self.running.pc = callee.start;
        Ok(true)
    }

    pub(super) fn return_from(&mut self, mask: Vec<u8>, active: u32) -> Result<bool, Failure> {
        let index = self.running.frame;
        let frame = self.frames.get(index);
        let callee = &self.launch.kernel.functions[frame.function as usize];
        self.park_others(&mask, active);
        let values: Vec<Vec<u64>> =
            callee.results.iter().map(|formal| self.take(&as_actual(formal), frame.stack, &mask)).collect();
        self.meter.over += cost_of(&values);
        self.frames.leave(index, threads(&mask));
        (self.running.mask, self.running.active) = (mask, active);
        self.enter(frame.parent)?;
        self.meter.over += of_structures(&values, active);
        // The last thread to leave gives the frame back.
        if !self.groups.are_in(index) {
            self.frames.release(index);
        }
        let stack = self.frames.get(frame.parent).stack;
        if let Op::Call(call) = &self.steps[frame.call as usize].op {
            for (actual, values) in call.results.iter().zip(&values) {
                self.give(actual, stack, values);
            }
        }
        self.running.pc = frame.call + 1;
        Ok(true)
    }

    /// Parks the threads of the running group that are not in a mask: they go on at the next step.
    fn park_others(&mut self, mask: &[u8], active: u32) {
        if self.running.take_out(mask, active) {
            let (frame, pc, rest) = (self.running.frame, self.running.pc, self.running.mask.clone());
            self.groups.park(&self.frames, frame, pc, rest, Wait::Ready);
        }
    }

    /// An argument of each thread of a mask, in words of 8 bytes: thread by thread.
    pub(in crate::engine) fn take(&self, actual: &Actual, stack: u32, mask: &[u8]) -> Vec<u64> {
        let mut words = Vec::new();
        for thread in threads(mask) {
            match *actual {
                Actual::Register(slot, width) => {
                    // SAFETY: the decoder laid the slot out for this width.
                    words.push(unsafe { self.reach.file.element(slot, width, thread) });
                }
                Actual::Stack { offset, bytes } => {
                    for at in (0..bytes).step_by(8) {
                        let mut word = [0; 8];
                        for i in 0..(bytes - at).min(8) {
                            // SAFETY: the frame was entered, and parameters stand in its part of the stack.
                            word[i as usize] = unsafe { self.reach.stack_byte(stack + offset + at + i, thread).read() };
                        }
                        words.push(u64::from_le_bytes(word));
                    }
                }
                Actual::Nothing => {}
            }
        }
        words
    }

    /// Gives each thread of the running group what [`Worker::take`] took.
    fn give(&self, actual: &Actual, stack: u32, words: &[u64]) {
        let threads: Vec<usize> = threads(&self.running.mask).collect();
        let each = words.len() / threads.len().max(1);
        for (thread, words) in threads.iter().zip(words.chunks(each.max(1))) {
            self.give_one(actual, stack, *thread, words);
        }
    }

    /// Gives one thread an argument or a result, in words of 8 bytes.
    pub(in crate::engine) fn give_one(&self, actual: &Actual, stack: u32, thread: usize, words: &[u64]) {
        match *actual {
            // SAFETY: the decoder laid the slot out for this width.
            Actual::Register(slot, width) => unsafe { self.reach.file.set_element(slot, width, thread, words[0]) },
            Actual::Stack { offset, bytes } => {
                let all = words.iter().flat_map(|word| word.to_le_bytes());
                for (i, byte) in (0..bytes).zip(all) {
                    // SAFETY: the frame was entered, and parameters stand in its part of the stack.
                    unsafe { self.reach.stack_byte(stack + offset + i, thread).write(byte) };
                }
            }
            Actual::Nothing => {}
        }
    }
}

/// What it costs to take arguments or results and to give them: each word byte by byte.
fn cost_of(values: &[Vec<u64>]) -> u64 {
    values.iter().map(|words| 16 * words.len() as u64).sum()
}

/// In what a call by address differs from the function that it reaches; nothing if they fit.
fn difference(call: &Call, callee: &FunctionCode) -> Option<String> {
    let bytes_of = |width: Width| match width {
        Width::Double => 8,
        Width::Word => 4,
        Width::Predicate | Width::None => 1,
    };
    let lists = [("parameter", &call.arguments, &callee.parameters), ("result", &call.results, &callee.results)];
    for (what, actuals, formals) in lists {
        if actuals.len() != formals.len() {
            return Some(format!(
                "`{}` has {} {what}s, and the call has {}: its prototype is that of another function",
                callee.name,
                formals.len(),
                actuals.len()
            ));
        }
        for (i, (actual, formal)) in actuals.iter().zip(formals).enumerate() {
            let given = match *actual {
                Actual::Stack { bytes, .. } => bytes,
                Actual::Register(_, width) => bytes_of(width),
                Actual::Nothing => continue,
            };
            let (fits, wanted) = match *formal {
                // A list of a variable number of arguments has no size.
                Formal::Stack { bytes: 0, .. } => (true, 0),
                // A register of 8 or 16 bits is a word.
                Formal::Stack { bytes, .. } if matches!(actual, Actual::Register(..)) => {
                    (bytes.max(4) == given.max(4), bytes)
                }
                Formal::Stack { bytes, .. } => (bytes == given, bytes),
                Formal::Register(_, width) => {
                    let wanted = bytes_of(width);
                    let fits = if matches!(actual, Actual::Register(..)) {
                        wanted == given
                    } else {
                        wanted.max(4) == given.max(4)
                    };
                    (fits, wanted)
                }
            };
            if !fits {
                return Some(format!(
                    "{what} {} of `{}` has {wanted} bytes, and the call's has {given}: its prototype is that of another function",
                    i + 1,
                    callee.name
                ));
            }
        }
    }
    None
}

/// What passing arguments or results of all threads costs beyond their first words, which count with the call.
fn of_structures(values: &[Vec<u64>], active: u32) -> u64 {
    const WORD: u64 = 16;
    values.iter().map(|words| (words.len() as u64).saturating_sub(active.into()) * WORD).sum()
}

/// A parameter or result, seen from inside of the function.
fn as_actual(formal: &Formal) -> Actual {
    match *formal {
        Formal::Stack { offset, bytes } => Actual::Stack { offset, bytes },
        Formal::Register(slot, width) => Actual::Register(slot, width),
    }
}
