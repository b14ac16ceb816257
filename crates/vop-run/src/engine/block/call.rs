//! Calls: frames of functions, and what goes into them and comes back.

use super::super::access::GRANULE;
use super::*;

impl Worker<'_> {
    /// Makes a frame the one that slots are relative to.
    pub(in crate::engine) fn enter(&mut self, frame: u32) -> Result<(), Failure> {
        let lanes = self.reach.lanes;
        let found = self.frames[frame as usize];
        let function = &self.launch.kernel.functions[found.function as usize];
        let mut total = 0;
        for area in 0..3 {
            let bytes = (found.registers[area] + function.registers[area]) as usize * lanes;
            total += bytes;
            if total <= MAX_REGISTERS {
                self.columns[area].grow(bytes);
            }
            let start = found.registers[area] as usize * lanes;
            self.reach.file.bases[area] = self.columns[area].as_mut_ptr().wrapping_add(start);
        }
        if total > MAX_REGISTERS || found.top as usize > self.launch.stack_limit {
            return Err(self.overflow(found.depth));
        }
        self.stack.grow(found.top as usize * lanes);
        self.reach.local = self.stack.as_mut_ptr();
        self.reach.frame = u64::from(found.stack);
        self.reach.top = u64::from(found.top);
        self.frame = frame;
        Ok(())
    }

    /// Zeroes what a function may read of its registers before it writes it.
    pub(in crate::engine) fn clear(&mut self, function: u32) {
        let cleared = &self.launch.kernel.functions[function as usize].cleared;
        if !cleared.is_empty() {
            let mask = self.mask.clone();
            for &(slot, width) in cleared {
                self.set_all(slot, width, 0, &mask);
            }
        }
    }

    /// Makes a frame that there is room for the one that slots are relative to.
    pub(in crate::engine) fn enter_again(&mut self, frame: u32) {
        let entered = if frame == self.frame { Ok(()) } else { self.enter(frame) };
        debug_assert!(entered.is_ok());
    }

    #[cold]
    pub(in crate::engine) fn overflow(&self, depth: u32) -> Failure {
        let message = format!(
            "stack overflow: {depth} calls within one another take more than the {} bytes that a thread has",
            self.launch.stack_limit
        );
        let error = RunError::new(RunErrorKind::StackOverflow, message);
        self.fail(
            error.with_help("a recursion that does not end? `--stack` sets the limit"),
            self.first(&self.mask),
            self.pc,
        )
    }

    pub(in crate::engine) fn call(&mut self, pc: Pc, call: &Call, mask: Vec<u8>, active: u32) -> Result<bool, Failure> {
        let (function, mask, active) = match call.target {
            CallTarget::Function(function) => (function, mask, active),
            CallTarget::Indirect(slot) => {
                let thread = self.first(&mask);
                // SAFETY: the address is a column of doubles.
                let address = unsafe { self.element(slot, Width::Double, thread) };
                let index = usize::try_from(address.wrapping_sub(FUNCTION_BASE) >> 4).ok();
                let found = index.and_then(|index| self.launch.kernel.by_address.get(index).copied().flatten());
                let callee = found.map(|found| &self.launch.kernel.functions[found as usize]);
                let fits = |callee: &FunctionCode| {
                    callee.parameters.len() == call.arguments.len() && callee.results.len() == call.results.len()
                };
                let Some(function) = found.filter(|_| address & 15 == 0 && callee.is_some_and(fits)) else {
                    let message = match callee.filter(|_| address & 15 == 0) {
                        Some(callee) => format!("`{}` is called with other parameters than it has", callee.name),
                        None => format!("a call of address {address:#x}, where no function is"),
                    };
                    return Err(self.fail(RunError::new(RunErrorKind::OutOfBounds, message), thread, pc));
                };
                // Threads that call something else do so on their own.
                let mut same = mask.clone();
                let mut rest = mask;
                for t in 0..same.len() {
                    // SAFETY: as above.
                    if same[t] != 0 && unsafe { self.element(slot, Width::Double, t) } != address {
                        same[t] = 0;
                    } else {
                        rest[t] = 0;
                    }
                }
                let others = count(&rest);
                if others > 0 {
                    self.undo(pc, &rest, others, true);
                    self.take_out(&rest, others);
                    self.park(self.frame, pc, rest, Wait::Ready);
                }
                let active = count(&same);
                (function, same, active)
            }
        };
        if self.take_out(&mask, active) {
            let rest = self.mask.clone();
            self.park(self.frame, self.pc, rest, Wait::Ready);
        }
        let caller = self.frames[self.frame as usize];
        let kernel = self.launch.kernel;
        let callee = &kernel.functions[function as usize];
        let key = (self.frame, pc, function);
        let frame = match self.frame_index.get(&key) {
            Some(frame) => *frame,
            None => {
                let own = &kernel.functions[caller.function as usize];
                let frame = Frame {
                    parent: self.frame,
                    after: pc + 1,
                    call: pc,
                    function,
                    depth: caller.depth + 1,
                    registers: std::array::from_fn(|i| caller.registers[i] + own.registers[i]),
                    stack: caller.top,
                    // What a call itself takes, so that recursion without variables ends as well.
                    top: caller.top.saturating_add(callee.stack).saturating_add(GRANULE as u32),
                    callees: 0,
                    place_in_kernel: self.place_in_kernel(self.frame, pc),
                };
                let index = match self.free_frames.pop() {
                    Some(index) => {
                        self.frames[index as usize] = frame;
                        index
                    }
                    None => {
                        self.frames.push(frame);
                        self.frames.len() as u32 - 1
                    }
                };
                self.frames[self.frame as usize].callees += 1;
                self.frame_index.insert(key, index);
                index
            }
        };
        let values: Vec<Vec<u64>> = call.arguments.iter().map(|a| self.take(a, caller.stack, &mask)).collect();
        self.pc = pc;
        self.mask = mask;
        self.active = active;
        self.enter(frame)?;
        self.clear(function);
        let start = self.frames[frame as usize].stack;
        for (formal, values) in callee.parameters.iter().zip(&values) {
            self.give(formal, start, values);
        }
        self.pc = callee.start;
        Ok(true)
    }

    pub(in crate::engine) fn return_from(&mut self, mask: Vec<u8>, active: u32) -> Result<bool, Failure> {
        let index = self.frame;
        let frame = self.frames[index as usize];
        let kernel = self.launch.kernel;
        let callee = &kernel.functions[frame.function as usize];
        if self.take_out(&mask, active) {
            let rest = self.mask.clone();
            self.park(self.frame, self.pc, rest, Wait::Ready);
        }
        let as_transfer = |formal: &Formal| match *formal {
            Formal::Stack { offset, bytes } => Transfer::Stack { offset, bytes },
            Formal::Register(slot, width) => Transfer::Register(slot, width),
        };
        let values: Vec<Vec<u64>> =
            callee.results.iter().map(|formal| self.take(&as_transfer(formal), frame.stack, &mask)).collect();
        self.mask = mask;
        self.active = active;
        self.enter(frame.parent)?;
        // The last one to leave gives the frame back: a recursion passes through more of them than there is memory.
        if self.frames[index as usize].callees == 0 && self.parked.iter().all(|group| group.frame != index) {
            self.frame_index.remove(&(frame.parent, frame.call, frame.function));
            self.free_frames.push(index);
            self.frames[frame.parent as usize].callees -= 1;
        }
        let start = self.frames[frame.parent as usize].stack;
        if let Op::Call(call) = &self.steps[frame.call as usize].op {
            for (result, values) in call.results.iter().zip(&values) {
                match *result {
                    Transfer::Stack { offset, bytes } => self.give(&Formal::Stack { offset, bytes }, start, values),
                    Transfer::Register(slot, width) => self.give(&Formal::Register(slot, width), start, values),
                    Transfer::Nothing => {}
                }
            }
        }
        self.pc = frame.after;
        Ok(true)
    }

    /// An argument of each active thread, in words of 8 bytes: thread by thread.
    pub(in crate::engine) fn take(&self, transfer: &Transfer, start: u32, mask: &[u8]) -> Vec<u64> {
        let mut words = Vec::new();
        for thread in (0..mask.len()).filter(|t| mask[*t] != 0) {
            match *transfer {
                Transfer::Register(slot, width) => {
                    // SAFETY: the slot was laid out for this width.
                    words.push(unsafe { self.element(slot, width, thread) });
                }
                Transfer::Stack { offset, bytes } => {
                    for at in (0..bytes).step_by(8) {
                        let mut word = [0; 8];
                        for i in 0..(bytes - at).min(8) {
                            word[i as usize] = *self.stack_byte(start + offset + at + i, thread);
                        }
                        words.push(u64::from_le_bytes(word));
                    }
                }
                Transfer::Nothing => {}
            }
        }
        words
    }

    /// Puts what [`Worker::take`] took where the active threads want it.
    pub(in crate::engine) fn give(&mut self, formal: &Formal, start: u32, words: &[u64]) {
        let threads: Vec<usize> = (0..self.mask.len()).filter(|t| self.mask[*t] != 0).collect();
        let each = words.len() / threads.len().max(1);
        for (thread, words) in threads.iter().zip(words.chunks(each.max(1))) {
            match *formal {
                Formal::Register(slot, width) => {
                    // SAFETY: the slot was laid out for this width.
                    unsafe { self.set_element(slot, width, *thread, words[0]) };
                }
                Formal::Stack { offset, bytes } => {
                    let all = words.iter().flat_map(|word| word.to_le_bytes());
                    for (i, byte) in (0..bytes).zip(all) {
                        *self.stack_byte(start + offset + i, *thread) = byte;
                    }
                }
            }
        }
    }

    #[allow(clippy::mut_from_ref, reason = "raw memory behind a pointer")]
    pub(in crate::engine) fn stack_byte(&self, offset: u32, thread: usize) -> &mut u8 {
        // SAFETY: every frame that was entered has its room on the stack, and transfers stay within their frame.
        unsafe { &mut *self.reach.local.add(self.reach.in_stack(offset as usize, thread)) }
    }
}
