//! Functions that are being executed, and which of two positions in the code is behind.

use std::cmp::Ordering;
use std::collections::HashMap;

use crate::code::{GRANULE, Kernel, Pc};

/// A function that is being executed, as threads with the same callers share it.
#[derive(Clone, Copy, Debug)]
pub(in crate::engine) struct Frame {
    /// The caller's frame; of the kernel's frame, its own index.
    pub(super) parent: u32,
    /// The step of the call.
    pub(super) call: Pc,
    pub(super) function: u32,
    pub(super) depth: u32,
    /// The bytes of one thread that the callers' predicates, words and doubles take.
    pub(super) registers: [u32; 3],
    /// Where its part of the stack starts and ends.
    pub(super) stack: u32,
    pub(super) top: u32,
    /// The number of frames that were called from it and are still there.
    callees: u32,
    /// The order of the call in the kernel that led here.
    order_in_kernel: u64,
}

/// All frames of a block.
#[derive(Debug)]
pub(in crate::engine) struct Frames<'l> {
    kernel: &'l Kernel,
    all: Vec<Frame>,
    /// By caller's frame, step of the call, function, and where its part of the stack starts, which `alloca` in the caller changes.
    index: HashMap<(u32, Pc, u32, u32), u32>,
    /// Indexes of frames that no thread is in any more.
    unused: Vec<u32>,
    /// Of frames in which a thread executed `alloca`: where each thread's part of the stack ends.
    tops: HashMap<u32, Vec<u32>>,
}

impl<'l> Frames<'l> {
    pub(super) fn new(kernel: &'l Kernel) -> Frames<'l> {
        Frames { kernel, all: Vec::new(), index: HashMap::new(), unused: Vec::new(), tops: HashMap::new() }
    }

    /// A new block: there is the kernel's frame, 0, and no other.
    pub(super) fn start(&mut self) {
        self.all.clear();
        self.index.clear();
        self.unused.clear();
        self.tops.clear();
        self.all.push(Frame {
            parent: 0,
            call: 0,
            function: 0,
            depth: 0,
            registers: [0; 3],
            stack: 0,
            top: self.kernel.functions[0].stack,
            callees: 0,
            order_in_kernel: 0,
        });
    }

    pub(super) fn get(&self, frame: u32) -> Frame {
        self.all[frame as usize]
    }

    /// The frame of a call from this frame and step: one that is there already, or a new one.
    pub(super) fn call(&mut self, parent: u32, call: Pc, function: u32) -> u32 {
        let caller = self.get(parent);
        let key = (parent, call, function, caller.top);
        if let Some(frame) = self.index.get(&key) {
            return *frame;
        }
        let own = &self.kernel.functions[caller.function as usize];
        let frame = Frame {
            parent,
            call,
            function,
            depth: caller.depth + 1,
            registers: std::array::from_fn(|i| caller.registers[i] + own.registers[i]),
            stack: caller.top,
            top: 0,
            callees: 0,
            order_in_kernel: self.order_in_kernel(parent, call),
        };
        let index = match self.unused.pop() {
            Some(index) => {
                self.all[index as usize] = frame;
                index
            }
            None => {
                self.all.push(frame);
                self.all.len() as u32 - 1
            }
        };
        self.all[index as usize].top = self.least_top(index);
        self.all[parent as usize].callees += 1;
        self.index.insert(key, index);
        index
    }

    /// Where a frame's part of the stack ends without what `alloca` has added.
    pub(super) fn least_top(&self, frame: u32) -> u32 {
        let Frame { depth, stack, function, .. } = self.get(frame);
        let own = stack.saturating_add(self.kernel.functions[function as usize].stack);
        // A call itself takes some bytes, so that recursion without variables ends as well.
        if depth == 0 { own } else { own.saturating_add(GRANULE as u32) }
    }

    /// Where a thread's part of the stack ends, in a frame that it is in.
    pub(super) fn top_of(&self, frame: u32, thread: usize) -> u32 {
        let found = self.tops.get(&frame).and_then(|tops| tops.get(thread)).copied();
        found.unwrap_or_else(|| self.least_top(frame))
    }

    /// Changes where threads' parts of the stack end. The frame's part ends behind all of them.
    pub(super) fn set_tops(&mut self, frame: u32, ends: &[(usize, u32)]) {
        let least = self.least_top(frame);
        let tops = self.tops.entry(frame).or_default();
        for &(thread, end) in ends {
            if tops.len() <= thread {
                tops.resize(thread + 1, least);
            }
            tops[thread] = end;
        }
        self.all[frame as usize].top = tops.iter().copied().fold(least, u32::max);
    }

    /// Threads leave a frame.
    pub(super) fn leave(&mut self, frame: u32, leaving: impl Iterator<Item = usize>) {
        if self.tops.contains_key(&frame) {
            let least = self.least_top(frame);
            let ends: Vec<_> = leaving.map(|thread| (thread, least)).collect();
            self.set_tops(frame, &ends);
        }
    }

    /// Gives a frame back that no thread is in, unless frames that it called are still there. A recursion passes through more
    /// frames than there is memory for.
    pub(super) fn release(&mut self, index: u32) {
        let frame = self.get(index);
        if frame.callees == 0 {
            self.index.remove(&(frame.parent, frame.call, frame.function, frame.stack));
            self.unused.push(index);
            self.tops.remove(&index);
            self.all[frame.parent as usize].callees -= 1;
        }
    }

    /// What orders the steps of one function: a lower number is behind.
    #[inline(always)]
    fn order(&self, pc: Pc) -> u64 {
        u64::from(self.kernel.ranks[pc as usize]) << 32 | u64::from(pc)
    }

    /// The order of a frame's step among the kernel's own steps: that of the step, or of the call in the kernel that led there.
    pub(super) fn order_in_kernel(&self, frame: u32, pc: Pc) -> u64 {
        let frame = &self.all[frame as usize];
        if frame.depth == 0 { self.order(pc) } else { frame.order_in_kernel }
    }

    /// Which of two positions is behind: by the kernel's own steps first, then by those of the functions called there.
    pub(super) fn compare(&self, a: (u32, Pc), b: (u32, Pc)) -> Ordering {
        let depth = |frame: u32| self.all[frame as usize].depth;
        let caller = |(frame, _): (u32, Pc)| {
            let frame = &self.all[frame as usize];
            (frame.parent, frame.call)
        };
        // Up to the frame that both have in common. There they are at different steps, or one is in the call that the other is at.
        let (mut x, mut y) = (a, b);
        while x.0 != y.0 {
            if depth(x.0) >= depth(y.0) {
                let shallower = depth(x.0) > depth(y.0);
                x = caller(x);
                if shallower {
                    continue;
                }
            }
            y = caller(y);
        }
        self.order(x.1).cmp(&self.order(y.1)).then(depth(a.0).cmp(&depth(b.0)))
    }
}
