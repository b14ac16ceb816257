//! Templates of accesses: where the threads of a turn reach, checked together; and of loads.
//!
//! Every address is checked. Shared memory is checked against its length; of other memory the function is told an allocation, its
//! [`Site`], which the last access at this place of the code reached. Where a thread reaches beyond, or where an address is no multiple of
//! the access's bytes, the function returns before it has changed anything for these threads: the engine executes the steps of the run for
//! them, finds out what is wrong or which allocation it is, and goes on.
//!
//! Addresses that samples give are a row or all the same, which the code knows. Others are compared: threads that read one behind another
//! take a few moves, threads that read the same take a broadcast, and all others are gathered.

use super::assembler::{Code, Condition, General, Jump, Operand};
use super::emit::*;
use super::vectors::LEFT;
use crate::code::{Access, Kernel, Load, MemoryWidth, OrderSemantics};
use crate::column::{Area, HALF, Width};
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

/// How far ahead memory is asked for in a row of many turns, in bytes: far enough for it to come, and little enough to stay in the first cache.
const NEAR: u32 = 2048;

/// Offsets of a site's fields.
pub(super) const FIRST: i32 = 0;
const STARTS: i32 = 8;
const START: i32 = 16;
const LAST: i32 = 24;
const AHEAD: i32 = 32;

impl Site {
    /// Whether accesses are checked against the same allocation.
    pub(crate) fn is_of_same(&self, other: &Site) -> bool {
        (self.first, self.starts, self.start) == (other.first, other.starts, other.start)
    }

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
    /// An address that all threads share, and a word.
    Indexed(Indexed),
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
        Base::Doubles | Base::Indexed(_) | Base::Line { wide: true, .. } => {
            global && i32::try_from(access.offset as i64).is_ok()
        }
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

/// How the threads of a turn reach memory: where the pointer of the scratch register leads them.
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
        let base = line.indexed.map_or_else(|| base_of(access).unwrap_or(Base::Fixed), Base::Indexed);
        let mut ends = Vec::new();
        match base {
            Base::Fixed | Base::Line { .. } => {
                let stride = if let Base::Line { stride, .. } = base { stride } else { 0 };
                match base {
                    Base::Line { wide, .. } => {
                        let distance = access.base.offset() as usize * self.scales[access.base.area() as usize];
                        self.sample(distance as i32, wide, stride);
                        match wide {
                            true => self.asm.add(SCRATCH, access.offset as i32),
                            false => self.asm.add_word(SCRATCH, access.offset as u32),
                        }
                    }
                    _ => self.asm.set(SCRATCH, access.offset),
                }
                let reach = stride * (self.vectors.lanes() as u32 - 1);
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
                        self.prefetch(line, site, stride);
                    }
                    return body(self, if stride == 0 { Shape::Flat } else { Shape::Row });
                }
                // Offsets of all threads.
                self.broadcast_general(T0, SCRATCH);
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
                self.regular(access, site, &mut ends, body);
                let starts = self.asm.word(starts as u32);
                let beyond = self.not_below(starts);
                self.leave_if_uneven(beyond, bytes);
            }
            Base::Doubles => {
                let from = self.operands(line.sources[0]);
                if !self.masked {
                    // A row first, as most are: it takes a few comparisons, and checks of the first address alone.
                    let lanes = self.vectors.lanes();
                    self.broadcast_double(T2, from[0]);
                    for (half, from) in from.into_iter().enumerate() {
                        self.minus(SUB_DOUBLES, [T0, T1][half], from, Operand::Register(T2));
                    }
                    let row = [0, lanes / 2].map(|first| {
                        let distance = |i: usize| if i.is_multiple_of(2) { (first + i / 2) as u32 * bytes } else { 0 };
                        self.asm.vector(std::array::from_fn(distance))
                    });
                    let other = self.jump_unless_doubles(row);
                    self.first_to_general(MOVE_FIRST_DOUBLE, SCRATCH, T2);
                    self.asm.add(SCRATCH, access.offset as i32);
                    self.check_span(site, bytes * (lanes as u32 - 1), bytes);
                    self.asm.add_memory(SCRATCH, SITES, site + START);
                    self.prefetch(line, site, bytes);
                    body(self, Shape::Row);
                    ends.push(self.asm.jump());
                    self.asm.land(other);
                }
                let offset = self.asm.constant(access.offset);
                let first = self.repeated(SITES, site + FIRST, T2);
                for (half, from) in from.into_iter().enumerate() {
                    let to = [T0, T1][half];
                    self.minus(SUB_DOUBLES, to, from, first);
                    if access.offset != 0 {
                        self.vector(ADD_DOUBLES, to, to, offset);
                    }
                }
                let beyond = self.words_below((SITES, site + STARTS));
                self.leave_if_uneven(beyond, bytes);
            }
            Base::Indexed(indexed) => {
                self.offsets_of(line.sources[0], indexed, access.offset as i32, site);
                self.regular(access, site, &mut ends, body);
                let beyond = self.not_below_memory((SITES, site + STARTS));
                self.leave_if_uneven(beyond, bytes);
            }
        }
        let alike = self.jump_if_alike();
        let asks = match base {
            _ if self.masked => elements == 1 && self.has_masked_rows(bytes),
            base => matches!(base, Base::Words | Base::Indexed(_)),
        };
        let row = self.asm.vector(std::array::from_fn(|i| i as u32 * bytes));
        let in_a_row = asks.then(|| self.jump_if_in_a_row(row));
        self.asm.load(SCRATCH, SITES, site + START);
        body(self, Shape::Any);
        ends.push(self.asm.jump());
        if let Some(in_a_row) = in_a_row {
            self.asm.land(in_a_row);
            self.first_of(site);
            if !shared {
                self.prefetch(line, site, bytes);
            }
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

    /// In a straight region, where offsets of all threads are a row or all the same, active or not, and all in the memory: what is done there.
    /// So neither the address nor what is read waits for the mask, which the next round would wait for.
    fn regular(&mut self, access: &Access, site: i32, ends: &mut Vec<Jump>, body: &mut dyn FnMut(&mut Self, Shape)) {
        if !(self.straight && self.masked) {
            return;
        }
        let bytes = access.bytes;
        let row = self.asm.vector(std::array::from_fn(|i| i as u32 * bytes));
        let jumps = self.jumps_if_regular(row);
        let other = self.asm.jump();
        let mut others = vec![other];
        let reach = bytes * (self.vectors.lanes() as u32 - 1);
        for (jump, (shape, reach)) in jumps.into_iter().zip([(Shape::Flat, 0), (Shape::Row, reach)]) {
            self.asm.land(jump);
            self.first_to_general(MOVE_FIRST, SCRATCH, T1);
            if access.space == Space::Shared {
                let starts = (self.shared_len + 1).saturating_sub(u64::from(bytes) + u64::from(reach));
                self.asm.compare(SCRATCH, starts as u32);
                others.push(self.asm.jump_if(Condition::NotBelow));
            } else {
                self.asm.compare_memory(SCRATCH, SITES, site + STARTS);
                others.push(self.asm.jump_if(Condition::NotBelow));
                if reach > 0 {
                    self.asm.add(SCRATCH, reach as i32);
                    self.asm.compare_memory(SCRATCH, SITES, site + STARTS);
                    others.push(self.asm.jump_if(Condition::NotBelow));
                    self.asm.add(SCRATCH, -(reach as i32));
                }
            }
            if bytes > 1 {
                self.asm.test(SCRATCH, bytes - 1);
                others.push(self.asm.jump_if(Condition::NotZero));
            }
            self.asm.add_memory(SCRATCH, SITES, site + START);
            self.masked = false;
            body(self, shape);
            self.masked = true;
            ends.push(self.asm.jump());
        }
        others.into_iter().for_each(|jump| self.asm.land(jump));
    }

    /// Offsets of an address that is a sum, in `T0`: words, whose sums are exact. Leaves where they may not be.
    ///
    /// The shared part is within the site, so at most 2^31 from its start. What is added to it is from -2^31 to 2^31. Sums of both that are
    /// negative, or 2^31 and more, are words that are not below 2^31, and so not below the bound.
    fn offsets_of(&mut self, word: usize, indexed: Indexed, offset: i32, site: i32) {
        let Indexed { shared, signed, shift } = indexed;
        let (base, distance) = self.shared_at(shared);
        self.asm.load(SCRATCH, base, distance);
        if offset != 0 {
            self.asm.add(SCRATCH, offset);
        }
        self.asm.subtract_memory(SCRATCH, SITES, site + FIRST);
        self.asm.compare_memory(SCRATCH, SITES, site + STARTS);
        self.leave_if(Condition::NotBelow);
        let [word, _] = self.read(word);
        // The bits that words may not have: of signed ones, after half of the range was added.
        let from = 31 - u32::from(shift) + u32::from(signed);
        if from < 32 {
            let mut tested = word;
            if signed {
                let half = self.asm.word(1 << (from - 1));
                self.vector(ADD, T1, word, half);
                tested = T1;
            }
            self.leave_if_bits(tested, from);
        }
        let mut from = word;
        if shift > 0 {
            self.shift_by(SHIFT_BY, LEFT, T1, Operand::Register(word), shift);
            from = T1;
        }
        self.broadcast_general(T0, SCRATCH);
        self.vector(ADD, T0, T0, Operand::Register(from));
    }

    /// The sample of the turn's first thread to the scratch register. A sample is that of half a warp, which may be two turns.
    fn sample(&mut self, distance: i32, wide: bool, stride: u32) {
        if self.vectors.lanes() == HALF {
            return self.asm.load_element(SCRATCH, SAMPLES, TURN, distance, wide);
        }
        self.asm.copy(SCRATCH, TURN);
        self.asm.shift_right(SCRATCH, (HALF / self.vectors.lanes()).trailing_zeros() as u8);
        self.asm.load_element(SCRATCH, SAMPLES, SCRATCH, distance, wide);
        if stride > 0 {
            self.asm.test(TURN, 1);
            let first = self.asm.jump_if(Condition::Zero);
            let ahead = stride * self.vectors.lanes() as u32;
            match wide {
                true => self.asm.add(SCRATCH, ahead as i32),
                false => self.asm.add_word(SCRATCH, ahead),
            }
            self.asm.land(first);
        }
    }

    /// Asks for the memory that the next execution reaches, if it is as far away as this one from the last: blocks go on by a distance, and
    /// so do the turns of a loop. The next block's loads start only when this block is through, so without this the time for memory would be
    /// added to all other time.
    fn prefetch(&mut self, line: &Line<'_>, site: i32, stride: u32) {
        // The mask's register is free where there is none. Loops with many accesses mostly come back to what they have read.
        if self.masked || self.accesses > 4 {
            return;
        }
        self.asm.test_self(TURN);
        let known = self.asm.jump_if(Condition::NotZero);
        self.asm.copy(General::Rsi, SCRATCH);
        self.asm.subtract_memory(General::Rsi, SITES, site + LAST);
        // Where the next one goes on behind this one, the turns come there by themselves.
        let whole = self.scales[Area::Words as usize] as u32 * stride;
        if whole > NEAR {
            self.asm.compare(General::Rsi, whole);
            let elsewhere = self.asm.jump_if(Condition::NotZero);
            self.asm.set(General::Rsi, NEAR.into());
            self.asm.land(elsewhere);
        }
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
        self.first_to_general(MOVE_FIRST, SCRATCH, T1);
        self.asm.extend(SCRATCH);
        self.asm.add_memory(SCRATCH, SITES, site + START);
    }

    /// Leaves if there is a truth for an active thread, or its offset is no multiple of the bytes.
    fn leave_if_uneven(&mut self, truths: u8, bytes: u32) {
        self.test_active(truths, bytes - 1);
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
                    self.broadcast_double(d[0], at);
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
        let bytes = self.vectors.bytes() as i32;
        let at = |block: i32| Operand::Memory(SCRATCH, block * bytes);
        match (load.memory, d) {
            // The bytes of threads that are not active may be no memory, which a mask leaves alone.
            (MemoryWidth::Bits8, _) => self.read_short_row(EXTEND_BYTES, d[0][0], at(0)),
            (MemoryWidth::Bits16, _) => self.read_short_row(EXTEND_SHORTS, d[0][0], at(0)),
            (MemoryWidth::Bits32, [d]) => self.read_row(None, d[0], at(0)),
            (MemoryWidth::Bits32, [a, b]) => {
                self.copy(T0, at(0));
                self.copy(T1, at(1));
                self.part_words([T0, T1], [a[0], b[0]]);
            }
            (MemoryWidth::Bits32, d) => self.part_row_of_four(std::array::from_fn(|k| d[k][0])),
            (MemoryWidth::Bits64, [d]) => {
                self.read_row(Some(0), d[0], at(0));
                self.read_row(Some(1), d[1], at(1));
            }
            (MemoryWidth::Bits64, d) => {
                for half in 0..2 {
                    self.copy(T0, at(2 * half as i32));
                    self.copy(T1, at(2 * half as i32 + 1));
                    d.iter().enumerate().for_each(|(k, d)| self.doubles_of_pairs(k, d[half]));
                }
            }
        }
        self.extend(load, d);
    }

    /// What threads read at offsets in `T0` from the scratch register.
    fn gather(&mut self, load: &Load, d: &[[u8; 2]]) {
        match load.memory {
            MemoryWidth::Bits32 if d.len() == 1 => self.gathered(None, d[0][0], T0, 0),
            MemoryWidth::Bits32 => {
                self.half_of(T0, 1, T1);
                for (pair, d) in d.chunks_exact(2).enumerate() {
                    self.gathered(Some(0), T2, T0, pair as i32 * 8);
                    self.gathered(Some(1), T3, T1, pair as i32 * 8);
                    self.part_words([T2, T3], [d[0][0], d[1][0]]);
                }
            }
            MemoryWidth::Bits64 => {
                self.half_of(T0, 1, T1);
                for (k, d) in d.iter().enumerate() {
                    self.gathered(Some(0), d[0], T0, k as i32 * 8);
                    self.gathered(Some(1), d[1], T1, k as i32 * 8);
                }
            }
            // The word that the bytes are in, moved down.
            MemoryWidth::Bits8 | MemoryWidth::Bits16 => {
                let [three, not_three, low] =
                    [3, !3, (1 << (8 * element(load))) - 1].map(|word: u32| self.asm.word(word));
                self.vector(AND, T1, T0, three);
                self.vector(AND, T0, T0, not_three);
                self.shift_by(SHIFT_BY, LEFT, T1, Operand::Register(T1), 3);
                self.gathered(None, d[0][0], T0, 0);
                self.vector(SHIFT_RIGHT, d[0][0], d[0][0], Operand::Register(T1));
                self.vector(AND, d[0][0], d[0][0], low);
            }
        }
        self.extend(load, d);
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
        // Zeros are above the elements already.
        if load.extension.sign != 0 && load.extension.mask != u32::MAX {
            let mask = self.asm.word(load.extension.mask);
            self.vector(AND, d, d, mask);
        }
    }
}
