//! Templates of accesses: where sixteen threads reach, checked together; and of loads.
//!
//! Every address is checked. Shared memory is checked against its length; of other memory the function is told an allocation, its
//! [`Site`], which the last access at this place of the code reached. Where a thread reaches beyond, or where an address is no multiple of
//! the access's bytes, the function returns before it has changed anything for these threads: the engine executes the steps of the run for
//! them, finds out what is wrong or which allocation it is, and goes on.
//!
//! Addresses that samples give are a row or all the same, which the code knows. Others are compared: threads that read one behind another
//! take a few moves, threads that read the same take a broadcast, and all others are gathered.

use super::assembler::{Code, Condition, General, Length, Mask, Operand};
use super::emit::*;
use crate::code::{Access, Kernel, Load, MemoryWidth, OrderSemantics};
use crate::column::Width;
use crate::memory::Space;

/// What a function knows of the memory that one access reaches.
#[derive(Clone, Copy, Debug, Default)]
#[repr(C)]
pub(crate) struct Site {
    /// The address of the allocation.
    pub(crate) first: u64,
    /// The number of bytes from there at which an access may start.
    pub(crate) starts: u64,
    /// The host's address of the allocation.
    pub(crate) start: u64,
    /// Where the first row of the last execution was, and how far the one before it was from there.
    last: u64,
    ahead: u64,
}

/// Offsets of a site's fields.
const FIRST: i32 = 0;
const STARTS: i32 = 8;
const START: i32 = 16;
const LAST: i32 = 24;
const AHEAD: i32 = 32;

impl Site {
    /// An allocation for accesses of this many bytes. Offsets are signed words for the instruction that gathers.
    pub(crate) fn new(address: u64, start: *mut u8, len: u64, bytes: u64) -> Site {
        let len = len.min(1 << 31);
        // Words around bytes are gathered, so words must be where the allocation's are.
        match len >= bytes && address.is_multiple_of(16) && (start as u64).is_multiple_of(4) {
            true => Site { first: address, starts: len - bytes + 1, start: start as u64, ..Site::default() },
            false => Site::default(),
        }
    }
}

/// How a load finds its bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Base {
    /// One address for all threads.
    Fixed,
    /// Samples of words or doubles: the first thread of each half, and the bytes from one thread to the next.
    Line {
        wide: bool,
        stride: u32,
    },
    Words,
    Doubles,
}

fn base_of(access: &Access) -> Option<Base> {
    let stride = |stride: i32| u32::try_from(stride).ok().filter(|stride| *stride <= 1 << 20);
    Some(match (access.width, access.stride) {
        (Width::None, _) => Base::Fixed,
        (Width::Word, Some(by)) => Base::Line { wide: false, stride: stride(by)? },
        (Width::Double, Some(by)) => Base::Line { wide: true, stride: stride(by)? },
        (Width::Word, None) => Base::Words,
        (Width::Double, None) => Base::Doubles,
        (Width::Predicate, _) => return None,
    })
}

/// Whether there is a template for an access of elements of a width.
pub(super) fn can_access(kernel: &Kernel, access: &Access, memory: MemoryWidth, elements: usize) -> bool {
    let shared = access.space == Space::Shared;
    let global = matches!(access.space, Space::Generic | Space::Global | Space::Const) && !kernel.short;
    let Some(base) = base_of(access) else { return false };
    let fits = match base {
        Base::Fixed => true,
        Base::Words | Base::Line { wide: false, .. } => shared,
        Base::Doubles | Base::Line { wide: true, .. } => global && i32::try_from(access.offset as i64).is_ok(),
    };
    // Rows that do not follow the alignment are left to the engine.
    let even = match base {
        Base::Line { stride, .. } => stride.is_multiple_of(access.bytes),
        _ => true,
    };
    let elements = match memory {
        MemoryWidth::Bits8 | MemoryWidth::Bits16 => elements == 1,
        MemoryWidth::Bits32 => matches!(elements, 1 | 2 | 4),
        MemoryWidth::Bits64 => matches!(elements, 1 | 2),
    };
    (shared || global) && fits && even && elements && !access.in_frame && access.order.semantics == OrderSemantics::Weak
}

/// The width of the columns of what is loaded or stored.
pub(super) fn width(memory: MemoryWidth) -> Width {
    if memory == MemoryWidth::Bits64 { Width::Double } else { Width::Word }
}

/// Bytes of one element in memory.
fn element(load: &Load) -> u32 {
    load.access.bytes / load.d.len() as u32
}

/// How sixteen threads reach memory: where the pointer of the scratch register leads them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Shape {
    /// All to it.
    Flat,
    /// One behind another.
    Row,
    /// To the offsets of `T0` from it.
    Any,
}

impl Writer<'_> {
    pub(super) fn leave_if(&mut self, condition: Condition) {
        let jump = self.asm.jump_if(condition);
        self.leaves.push(jump);
    }

    /// The mask of the active threads.
    pub(super) fn active(&self) -> Mask {
        Mask { register: if self.masked { ACTIVE } else { 0 }, zeroes: self.masked }
    }

    /// Writes a load.
    pub(super) fn load(&mut self, line: &Line<'_>, load: &Load, site: usize) {
        let d: Vec<[u8; 2]> = line.results.clone().into_iter().map(|result| self.give(result)).collect();
        self.access(line, &load.access, load.d.len(), site, &mut |this, shape| match shape {
            Shape::Flat => this.flat(load, &d),
            Shape::Row => this.row(load, &d),
            Shape::Any => this.gather(load, &d),
        });
    }

    /// Writes where an access of a number of elements reaches, checked, and what is done there: once for each shape that it may have. `site` is
    /// the number of its site in the table; shared memory has the one before all.
    pub(super) fn access(
        &mut self,
        line: &Line<'_>,
        access: &Access,
        elements: usize,
        site: usize,
        body: &mut dyn FnMut(&mut Self, Shape),
    ) {
        let shared = access.space == Space::Shared;
        let bytes = access.bytes;
        let site = (site * size_of::<Site>()) as i32;
        // The number of places in shared memory where an access may start.
        let starts = (self.shared_len + 1).saturating_sub(u64::from(bytes));
        let base = base_of(access).unwrap_or(Base::Fixed);
        let mut ends = Vec::new();
        match base {
            Base::Fixed | Base::Line { .. } => {
                let stride = if let Base::Line { stride, .. } = base { stride } else { 0 };
                match base {
                    Base::Line { wide, .. } => {
                        let distance = access.base.offset() as usize * self.scales[access.base.area() as usize];
                        self.asm.load_element(SCRATCH, SAMPLES, HALF, distance as i32, wide);
                        match wide {
                            true => self.asm.add(SCRATCH, access.offset as i32),
                            false => self.asm.add_word(SCRATCH, access.offset as u32),
                        }
                    }
                    _ => self.asm.set(SCRATCH, access.offset),
                }
                let reach = stride * (LANES as u32 - 1);
                if shared {
                    // A fixed address may be beyond 32 bits.
                    let fits = base != Base::Fixed || access.offset < starts;
                    let starts = if fits { starts.saturating_sub(u64::from(reach)) } else { 0 };
                    self.asm.compare(SCRATCH, starts as u32);
                    self.leave_if(Condition::NotBelow);
                    self.leave_if_uneven_scratch(bytes);
                } else {
                    self.check_span(site, reach, bytes);
                }
                if stride == bytes || stride == 0 {
                    self.asm.add_memory(SCRATCH, SITES, site + START);
                    if !shared && stride > 0 {
                        self.prefetch(line, site);
                    }
                    return body(self, if stride == 0 { Shape::Flat } else { Shape::Row });
                }
                // Offsets of all threads.
                self.asm.evex(BROADCAST_GENERAL, Length::Bits512, T0, 0, Operand::Register(SCRATCH as u8), Mask::ALL);
                let ahead = self.asm.vector(std::array::from_fn(|i| i as u32 * stride));
                self.vector(ADD, T0, T0, ahead);
                self.asm.load(SCRATCH, SITES, site + START);
                return body(self, Shape::Any);
            }
            Base::Words => {
                let [from, _] = self.operands(line.sources[0]);
                let offset = self.asm.word(access.offset as u32);
                match from {
                    Operand::Register(from) => self.vector(ADD, T0, from, offset),
                    from => {
                        self.copy(T0, from);
                        self.vector(ADD, T0, T0, offset);
                    }
                }
                let starts = self.asm.word(starts as u32);
                self.vector_by(COMPARE, K0, T0, starts, NOT_BELOW);
                self.leave_if_uneven(bytes);
            }
            Base::Doubles => {
                let from = self.operands(line.sources[0]);
                if !self.masked {
                    // A row first, as most are: it takes a few comparisons, and checks of the first address alone.
                    self.vector(BROADCAST_DOUBLE, T2, 0, from[0]);
                    for (half, from) in from.into_iter().enumerate() {
                        let to = [T0, T1][half];
                        self.minus(SUB_DOUBLES, to, from, Operand::Register(T2));
                        let row = self.asm.vector(std::array::from_fn(|i| {
                            if i % 2 == 0 { (half * 8 + i / 2) as u32 * bytes } else { 0 }
                        }));
                        self.vector_by(COMPARE_DOUBLES, [K0, K1][half], to, row, DIFFERENT);
                    }
                    self.asm.vex(MASK_OR, true, K0, K0, Operand::Register(K1));
                    self.asm.vex(MASK_TEST, false, K0, 0, Operand::Register(K0));
                    let other = self.asm.jump_if(Condition::NotZero);
                    self.asm.evex(
                        MOVE_FIRST_DOUBLE,
                        Length::Bits128,
                        T2,
                        0,
                        Operand::Register(SCRATCH as u8),
                        Mask::ALL,
                    );
                    self.asm.add(SCRATCH, access.offset as i32);
                    self.check_span(site, bytes * (LANES as u32 - 1), bytes);
                    self.asm.add_memory(SCRATCH, SITES, site + START);
                    self.prefetch(line, site);
                    body(self, Shape::Row);
                    ends.push(self.asm.jump());
                    self.asm.land(other);
                }
                let offset = self.asm.constant(access.offset);
                for (half, from) in from.into_iter().enumerate() {
                    let to = [T0, T1][half];
                    match (from, access.offset) {
                        (from, 0) => self.minus(SUB_DOUBLES, to, from, Operand::Broadcast(SITES, site + FIRST)),
                        (from, _) => {
                            self.minus(SUB_DOUBLES, to, from, Operand::Broadcast(SITES, site + FIRST));
                            self.vector(ADD_DOUBLES, to, to, offset);
                        }
                    }
                    self.vector_by(
                        COMPARE_DOUBLES,
                        [K0, K1][half],
                        to,
                        Operand::Broadcast(SITES, site + STARTS),
                        NOT_BELOW,
                    );
                }
                self.asm.vex(MASK_JOIN, true, K0, K1, Operand::Register(K0));
                // What passes is below 2^31.
                self.vector(LOW, T0, 0, Operand::Register(T0));
                self.vector(LOW, T1, 0, Operand::Register(T1));
                self.vector_by(INSERT, T0, T0, Operand::Register(T1), 1);
                self.leave_if_uneven(bytes);
            }
        }
        let row = self.asm.vector(std::array::from_fn(|i| i as u32 * bytes));
        // How far the threads are from the first that is active.
        if self.masked {
            self.asm.evex(COMPRESS, Length::Bits512, T0, 0, Operand::Register(T1), self.active());
            self.vector(BROADCAST_WORD, T1, 0, Operand::Register(T1));
        } else {
            self.vector(BROADCAST_WORD, T1, 0, Operand::Register(T0));
        }
        self.vector(SUB, T2, T0, Operand::Register(T1));
        let active = Mask::keeping(self.active().register);
        self.asm.evex(TEST, Length::Bits512, K0, T2, Operand::Register(T2), active);
        self.asm.vex(MASK_TEST, false, K0, 0, Operand::Register(K0));
        let alike = self.asm.jump_if(Condition::Zero);
        let mut in_a_row = None;
        if self.masked && elements == 1 {
            // Where the first thread would be, if those that are active are in a row.
            self.copy(T2, row);
            self.asm.evex(COMPRESS, Length::Bits512, T2, 0, Operand::Register(T3), active);
            self.vector(BROADCAST_WORD, T3, 0, Operand::Register(T3));
            self.vector(SUB, T1, T1, Operand::Register(T3));
            self.vector(SUB, T2, T0, Operand::Register(T2));
            self.asm.evex(COMPARE, Length::Bits512, K0, T2, Operand::Register(T1), active);
            self.asm.immediate(DIFFERENT);
            self.asm.vex(MASK_TEST, false, K0, 0, Operand::Register(K0));
            in_a_row = Some(self.asm.jump_if(Condition::Zero));
        } else if !self.masked && base == Base::Words {
            self.vector_by(COMPARE, K0, T2, row, DIFFERENT);
            self.asm.vex(MASK_TEST, false, K0, 0, Operand::Register(K0));
            in_a_row = Some(self.asm.jump_if(Condition::Zero));
        }
        self.asm.load(SCRATCH, SITES, site + START);
        body(self, Shape::Any);
        ends.push(self.asm.jump());
        if let Some(in_a_row) = in_a_row {
            self.asm.land(in_a_row);
            self.first_of(site);
            body(self, Shape::Row);
            ends.push(self.asm.jump());
        }
        self.asm.land(alike);
        self.first_of(site);
        body(self, Shape::Flat);
        for end in ends {
            self.asm.land(end);
        }
    }

    /// Asks for the memory that the next execution reaches, if it is as far away as this one from the last: blocks go on by a distance, and
    /// so do the turns of a loop. The next block's loads start only when this block is through, so without this the time for memory would be
    /// added to all other time.
    fn prefetch(&mut self, line: &Line<'_>, site: i32) {
        // The mask's register is free where there is none. Loops with many accesses mostly come back to what they have read.
        if self.masked || self.accesses > 4 {
            return;
        }
        self.asm.test_self(HALF);
        let known = self.asm.jump_if(Condition::NotZero);
        self.asm.copy(General::Rsi, SCRATCH);
        self.asm.subtract_memory(General::Rsi, SITES, site + LAST);
        self.asm.keep(General::Rsi, SITES, site + AHEAD);
        self.asm.keep(SCRATCH, SITES, site + LAST);
        self.asm.land(known);
        self.asm.load(General::Rsi, SITES, site + AHEAD);
        self.asm.prefetch(SCRATCH, General::Rsi, matches!(line.what, What::Store(..)));
    }

    /// `to = a - b`, of an operand that may be in memory.
    fn minus(&mut self, code: Code, to: u8, a: Operand, b: Operand) {
        match a {
            Operand::Register(a) => self.vector(code, to, a, b),
            a => {
                self.copy(to, a);
                self.vector(code, to, to, b);
            }
        }
    }

    /// Makes an offset of the address in the scratch register, and leaves unless all threads' accesses from there on are within the site.
    fn check_span(&mut self, site: i32, reach: u32, bytes: u32) {
        self.asm.subtract_memory(SCRATCH, SITES, site + FIRST);
        self.asm.compare_memory(SCRATCH, SITES, site + STARTS);
        self.leave_if(Condition::NotBelow);
        if reach > 0 {
            self.asm.add(SCRATCH, reach as i32);
            self.asm.compare_memory(SCRATCH, SITES, site + STARTS);
            self.leave_if(Condition::NotBelow);
            self.asm.add(SCRATCH, -(reach as i32));
        }
        self.leave_if_uneven_scratch(bytes);
    }

    fn leave_if_uneven_scratch(&mut self, bytes: u32) {
        if bytes > 1 {
            self.asm.test(SCRATCH, bytes - 1);
            self.leave_if(Condition::NotZero);
        }
    }

    /// The host's address at the offset that `T1` begins with: of the first thread, or where it would be.
    fn first_of(&mut self, site: i32) {
        self.asm.evex(MOVE_FIRST, Length::Bits128, T1, 0, Operand::Register(SCRATCH as u8), Mask::ALL);
        self.asm.extend(SCRATCH);
        self.asm.add_memory(SCRATCH, SITES, site + START);
    }

    /// Leaves if an active thread is in the first mask, or its offset is no multiple of the bytes.
    fn leave_if_uneven(&mut self, bytes: u32) {
        if bytes > 1 {
            let low = self.asm.word(bytes - 1);
            self.vector(TEST, K1, T0, low);
            self.asm.vex(MASK_OR, true, K0, K0, Operand::Register(K1));
        }
        if self.masked {
            self.asm.vex(MASK_AND, true, K0, K0, Operand::Register(ACTIVE));
        }
        self.asm.vex(MASK_TEST, false, K0, 0, Operand::Register(K0));
        self.leave_if(Condition::NotZero);
    }

    /// What all threads read at the scratch register.
    fn flat(&mut self, load: &Load, d: &[[u8; 2]]) {
        let by = element(load) as i32;
        for (k, d) in d.iter().enumerate() {
            let at = Operand::Memory(SCRATCH, k as i32 * by);
            match load.memory {
                MemoryWidth::Bits8 => self.vector(BROADCAST_BYTE, d[0], 0, at),
                MemoryWidth::Bits16 => self.vector(BROADCAST_SHORT, d[0], 0, at),
                MemoryWidth::Bits32 => self.vector(BROADCAST_WORD, d[0], 0, at),
                MemoryWidth::Bits64 => {
                    self.vector(BROADCAST_DOUBLE, d[0], 0, at);
                    self.vector(MOVE_DOUBLES, d[1], 0, Operand::Register(d[0]));
                }
            }
            if let MemoryWidth::Bits8 | MemoryWidth::Bits16 = load.memory {
                let low = self.asm.word((1 << (8 * by)) - 1);
                self.vector(AND, d[0], d[0], low);
            }
        }
        self.extend(load, d);
    }

    /// What threads read one behind another from the scratch register on.
    fn row(&mut self, load: &Load, d: &[[u8; 2]]) {
        let at = |block: i32| Operand::Memory(SCRATCH, block * 64);
        match (load.memory, d) {
            // The bytes of threads that are not active may be no memory, which a mask leaves alone.
            (MemoryWidth::Bits8, _) => self.asm.evex(EXTEND_BYTES, Length::Bits512, d[0][0], 0, at(0), self.active()),
            (MemoryWidth::Bits16, _) => self.asm.evex(EXTEND_SHORTS, Length::Bits512, d[0][0], 0, at(0), self.active()),
            (MemoryWidth::Bits32, [d]) => self.asm.evex(MOVE_WORDS, Length::Bits512, d[0], 0, at(0), self.active()),
            (MemoryWidth::Bits32, [a, b]) => {
                self.copy(T0, at(0));
                self.copy(T1, at(1));
                self.part_words([T0, T1], [a[0], b[0]]);
            }
            (MemoryWidth::Bits32, d) => {
                [T0, T1, T2, T3].into_iter().enumerate().for_each(|(block, to)| self.copy(to, at(block as i32)));
                for (k, d) in d.iter().enumerate() {
                    // The element of eight threads in the lower half.
                    let places = self.asm.vector(std::array::from_fn(|i| (4 * i + k) as u32 & 31));
                    self.copy(T4, places);
                    self.vector(PERMUTE_WORDS, T4, T2, Operand::Register(T3));
                    self.copy(d[0], places);
                    self.vector(PERMUTE_WORDS, d[0], T0, Operand::Register(T1));
                    self.vector_by(INSERT, d[0], d[0], Operand::Register(T4), 1);
                }
            }
            (MemoryWidth::Bits64, [d]) => {
                self.asm.evex(MOVE_DOUBLES, Length::Bits512, d[0], 0, at(0), self.active());
                let mut upper = self.active();
                if self.masked {
                    self.upper(K1, ACTIVE);
                    upper.register = K1;
                }
                self.asm.evex(MOVE_DOUBLES, Length::Bits512, d[1], 0, at(1), upper);
            }
            (MemoryWidth::Bits64, d) => {
                for half in 0..2 {
                    self.copy(T0, at(2 * half as i32));
                    self.copy(T1, at(2 * half as i32 + 1));
                    for (k, d) in d.iter().enumerate() {
                        let places = |i: usize| if i.is_multiple_of(2) { (i + k) as u32 } else { 0 };
                        let places = self.asm.vector(std::array::from_fn(places));
                        self.copy(d[half], places);
                        self.vector(PERMUTE_DOUBLES, d[half], T0, Operand::Register(T1));
                    }
                }
            }
        }
        self.extend(load, d);
    }

    /// The first and the second word of sixteen pairs in two registers.
    fn part_words(&mut self, pairs: [u8; 2], d: [u8; 2]) {
        for (k, d) in d.into_iter().enumerate() {
            let places = self.asm.vector(std::array::from_fn(|i| (2 * i + k) as u32));
            self.copy(d, places);
            self.vector(PERMUTE_WORDS, d, pairs[0], Operand::Register(pairs[1]));
        }
    }

    /// The mask of the active threads, or of those of a half from the first bit on, in a register that gathers may change.
    pub(super) fn whole_mask(&mut self, half: usize) {
        match (self.masked, half) {
            (false, _) => self.asm.vex(MASK_ONES, true, K0, K0, Operand::Register(K0)),
            (true, 0) => self.asm.vex(MASK_MOVE, false, K0, 0, Operand::Register(ACTIVE)),
            (true, _) => self.upper(K0, ACTIVE),
        }
    }

    /// Eight doubles at the offsets of half of the threads, for those that are active.
    fn gather_eight(&mut self, d: u8, offsets: u8, half: usize, distance: i32) {
        self.whole_mask(half);
        let from = Operand::Gathered(SCRATCH, offsets, distance);
        self.asm.evex(GATHER_DOUBLES, Length::Bits512, d, 0, from, Mask::keeping(K0));
    }

    /// What threads read at offsets in `T0` from the scratch register.
    fn gather(&mut self, load: &Load, d: &[[u8; 2]]) {
        match load.memory {
            MemoryWidth::Bits32 if d.len() == 1 => self.gather_words(d[0][0], T0),
            MemoryWidth::Bits32 => {
                self.eight_of(T0, 1, T1);
                for (pair, d) in d.chunks_exact(2).enumerate() {
                    self.gather_eight(T2, T0, 0, pair as i32 * 8);
                    self.gather_eight(T3, T1, 1, pair as i32 * 8);
                    self.part_words([T2, T3], [d[0][0], d[1][0]]);
                }
            }
            MemoryWidth::Bits64 => {
                self.eight_of(T0, 1, T1);
                for (k, d) in d.iter().enumerate() {
                    self.gather_eight(d[0], T0, 0, k as i32 * 8);
                    self.gather_eight(d[1], T1, 1, k as i32 * 8);
                }
            }
            // The word that the bytes are in, moved down.
            MemoryWidth::Bits8 | MemoryWidth::Bits16 => {
                let [three, not_three, low] =
                    [3, !3, (1 << (8 * element(load))) - 1].map(|word: u32| self.asm.word(word));
                const LEFT: u8 = 6;
                self.vector(AND, T1, T0, three);
                self.vector(AND, T0, T0, not_three);
                self.vector_by(SHIFT_BY, LEFT, T1, Operand::Register(T1), 3);
                self.gather_words(d[0][0], T0);
                self.vector(SHIFT_RIGHT, d[0][0], d[0][0], Operand::Register(T1));
                self.vector(AND, d[0][0], d[0][0], low);
            }
        }
        self.extend(load, d);
    }

    fn gather_words(&mut self, d: u8, offsets: u8) {
        self.whole_mask(0);
        let from = Operand::Gathered(SCRATCH, offsets, 0);
        self.asm.evex(GATHER_WORDS, Length::Bits512, d, 0, from, Mask::keeping(K0));
    }

    /// Extends short elements as the load says; they have zeros above them.
    fn extend(&mut self, load: &Load, d: &[[u8; 2]]) {
        if !matches!(load.memory, MemoryWidth::Bits8 | MemoryWidth::Bits16) {
            return;
        }
        let d = d[0][0];
        if load.extension.sign != 0 {
            let sign = self.asm.word(load.extension.sign);
            self.vector(XOR, d, d, sign);
            self.vector(SUB, d, d, sign);
        }
        if load.extension.mask != u32::MAX {
            let mask = self.asm.word(load.extension.mask);
            self.vector(AND, d, d, mask);
        }
    }
}
