//! Templates of accesses: where the threads of a turn reach, checked together; and of loads.
//!
//! Every address is checked. Shared memory is checked against its length; of other memory the function is told an allocation, its
//! [`Site`], which the last access at this place of the code reached. Where a thread reaches beyond, or where an address is no multiple of
//! the access's bytes, the function returns before it has changed anything for these threads: the engine executes the steps of the run for
//! them, finds out what is wrong or which allocation it is, and goes on.
//!
//! Addresses that samples give are a row or all the same, which the code knows. Others are compared: threads that read one behind another
//! take a few moves, threads that read the same take a broadcast, and all others are gathered.

use std::rc::Rc;

use super::assembler::{Code, Condition, General, Jump, Operand};
use super::emit::*;
use super::fixed::Turns;
use super::vectors::{LEFT, Vectors};
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
    /// Bits of the host's address that are zero where a store may go past the caches: see [`stream`](super::stream). [`NEVER`] for loads, and for stores that do not.
    pub(super) uncached: u64,
}

/// Of stores that do not go past the caches: no address has none of these bits.
pub(super) const NEVER: u64 = u64::MAX;

/// How far ahead memory is asked for in a row of many turns, in bytes: far enough for it to come, and little enough to stay in the first cache.
const NEAR: u32 = 2048;

/// How far loads that are checked together may be from one another: in bytes, and in lines of the run, as results take registers until they
/// are read.
const MAX_SPAN: i64 = 1 << 14;
const MAX_AHEAD: usize = 64;

/// Offsets of a site's fields.
pub(super) const FIRST: i32 = 0;
pub(super) const STARTS: i32 = 8;
pub(super) const START: i32 = 16;
const LAST: i32 = 24;
const AHEAD: i32 = 32;
pub(super) const UNCACHED: i32 = 40;

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
            true => Site {
                first: address,
                starts: len - bytes + 1,
                start: start as u64,
                uncached: NEVER,
                ..Site::default()
            },
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

/// Whether the addresses of an access are doubles of its threads.
pub(super) fn is_of_doubles(access: &Access) -> bool {
    base_of(access) == Some(Base::Doubles)
}

/// Whether where the threads of an access reach is told by samples.
pub(super) fn has_samples(access: &Access) -> bool {
    matches!(base_of(access), Some(Base::Line { .. }))
}

/// Whether an access is to be asked how its threads' addresses are to each other.
pub(super) fn has_shapes(access: &Access) -> bool {
    matches!(base_of(access), Some(Base::Words | Base::Doubles))
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

/// Whether what is loaded has zeros above its bytes.
pub(super) fn has_zeros_above(load: &Load) -> bool {
    matches!(load.memory, MemoryWidth::Bits8 | MemoryWidth::Bits16) && load.extension.sign == 0
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

/// Whether two accesses have bases that are known, and the same ones, or neither has.
fn same_turns(a: &Option<Rc<Turns>>, b: &Option<Rc<Turns>>) -> bool {
    match (a, b) {
        (Some(a), Some(b)) => Rc::ptr_eq(a, b),
        (None, None) => true,
        _ => false,
    }
}

impl Writer<'_> {
    pub(super) fn leave_if(&mut self, condition: Condition) {
        let jump = self.asm.jump_if(condition);
        self.leaves.push(jump);
    }

    /// The lines of the loads that are written with one, as their addresses differ from its by constants: they are checked together.
    pub(super) fn group(&self, lines: &[Line<'_>], at: usize) -> Vec<usize> {
        let What::Load(load, _) = lines[at].what else { return Vec::new() };
        let mut group = Vec::new();
        if !matches!(load.memory, MemoryWidth::Bits32 | MemoryWidth::Bits64) {
            return group;
        }
        let registers = |load: &Load| load.d.len() * if load.memory == MemoryWidth::Bits64 { 2 } else { 1 };
        let mut left = match self.vectors {
            Vectors::Avx2 => 4,
            Vectors::Avx512 => 12,
        };
        // Homes leave few registers to others.
        if !self.homes.is_empty() {
            left -= left * 2 / 3;
        }
        left -= registers(load).min(left);
        let (mut lowest, mut highest) = (0, 0);
        for (other, line) in lines.iter().enumerate().skip(at + 1).take(MAX_AHEAD) {
            let What::Load(other_load, _) = line.what else { continue };
            let (a, b) = (&load.access, &other_load.access);
            let alike = (load.memory, load.d.len(), a.space, a.width, a.base, a.stride)
                == (other_load.memory, other_load.d.len(), b.space, b.width, b.base, b.stride)
                && (&lines[at].sources, lines[at].index) == (&line.sources, line.index)
                && same_turns(&lines[at].turns, &line.turns);
            let ahead = b.offset.wrapping_sub(a.offset) as i64;
            let (low, high) = (ahead.min(lowest), ahead.max(highest));
            let near = ahead % i64::from(a.bytes) == 0 && high.checked_sub(low).is_some_and(|span| span <= MAX_SPAN);
            if alike && near && registers(load) <= left {
                left -= registers(load);
                (lowest, highest) = (low, high);
                group.push(other);
            }
        }
        group
    }

    /// Writes a load, and others of its [`group`](Self::group).
    pub(super) fn load(&mut self, line: &Line<'_>, load: &Load, site: usize, others: &[&Line<'_>]) {
        let mut loads = Vec::new();
        for line in [line].iter().chain(others) {
            let What::Load(other, _) = line.what else { continue };
            let d: Vec<[u8; 2]> = line.results.clone().into_iter().map(|result| self.give(result)).collect();
            loads.push((other, other.access.offset.wrapping_sub(load.access.offset) as i64, d));
        }
        if let Some(turns) = &line.turns {
            let loads: Vec<(&Load, i32, Vec<[u8; 2]>)> =
                loads.into_iter().map(|(load, _, d)| (load, load.access.offset as i32, d)).collect();
            return self.load_known(turns, &loads);
        }
        let lowest = loads.iter().map(|(_, ahead, _)| *ahead).min().unwrap_or(0);
        let span = loads.iter().map(|(_, ahead, _)| *ahead - lowest).max().unwrap_or(0);
        let access = Access { offset: load.access.offset.wrapping_add_signed(lowest), ..load.access };
        self.access(line, &access, span as u32, load.d.len(), site, &mut |this, shape| {
            for (load, ahead, d) in &loads {
                this.load_shaped(load, d, (*ahead - lowest) as i32, shape);
            }
        });
    }

    /// What threads read from a distance behind where the scratch register leads them.
    pub(super) fn load_shaped(&mut self, load: &Load, d: &[[u8; 2]], ahead: i32, shape: Shape) {
        match shape {
            Shape::Flat => self.flat(load, d, ahead),
            Shape::Row => self.row(load, d, ahead),
            Shape::Any => self.gather(load, d, ahead),
        }
    }

    /// Writes where an access of a number of elements reaches, checked, and what is done there: once for each shape that it may have. Other
    /// accesses may go with it, up to `span` bytes behind it. `site` is the number of its site in the table; shared memory has the one before
    /// all.
    pub(super) fn access(
        &mut self,
        line: &Line<'_>,
        access: &Access,
        span: u32,
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
        let seldom = self.asm.writes_seldom;
        let mut ends = Vec::new();
        match base {
            Base::Fixed | Base::Line { .. } => {
                let stride = if let Base::Line { stride, .. } = base { stride } else { 0 };
                match base {
                    Base::Line { wide, .. } => {
                        let distance = access.base.offset() as usize * self.scales[access.base.area() as usize];
                        self.sample(distance as i32, wide, stride);
                        match wide {
                            _ if access.offset == 0 => {}
                            true => self.asm.add(SCRATCH, access.offset as i32),
                            false => self.asm.add_word(SCRATCH, access.offset as u32),
                        }
                    }
                    _ => self.asm.set(SCRATCH, access.offset),
                }
                let lanes = self.vectors.lanes() as u32;
                let reach = stride * if self.of_pair == OfPair::First { 2 * lanes - 1 } else { lanes - 1 };
                // What is in shared memory needs no check if the code knows its address.
                let ends = access.offset.checked_add(u64::from(bytes + span));
                let is_there = base == Base::Fixed
                    && ends.is_some_and(|end| end <= self.shared_len)
                    && access.offset.is_multiple_of(bytes.into());
                if self.of_pair == OfPair::Second && base != Base::Fixed {
                    // The first one has asked for both.
                    if !shared {
                        self.asm.subtract_memory(SCRATCH, SITES, site + FIRST);
                    }
                } else if shared && !is_there {
                    // A fixed address may be beyond 32 bits.
                    let fits = base != Base::Fixed || access.offset < starts;
                    let starts = if fits { starts.saturating_sub(u64::from(reach + span)) } else { 0 };
                    self.asm.compare(SCRATCH, starts as u32);
                    self.leave_if(Condition::NotBelow);
                    self.leave_if_uneven_scratch(bytes);
                } else if !shared {
                    self.check_span(site, reach + span, bytes);
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
                self.regular(access, span, site, &mut ends, body);
                let starts = self.asm.word(starts.saturating_sub(u64::from(span)) as u32);
                let beyond = self.not_below(starts);
                self.leave_if_uneven(beyond, bytes);
            }
            Base::Doubles if line.index.is_some() => {
                self.settle(line.sources[0]);
                if let Some(number) = line.steady {
                    self.steady_access(line, access, span, (site, number), &mut ends, body);
                }
                let beyond = self.access_by_index(line, access, span, site, &mut ends, body);
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
                    self.row_from_scratch(line, access, span, site, body);
                    ends.push(self.asm.jump());
                    self.asm.land(other);
                }
                let beyond = self.offsets(access, from, site);
                if span > 0 {
                    self.or_ahead_beyond(beyond, span, (SITES, site + STARTS));
                }
                self.leave_if_uneven(beyond, bytes);
            }
        }
        let alike = self.jump_if_alike();
        let asks = if self.masked { elements == 1 && self.has_masked_rows(bytes) } else { base == Base::Words };
        let row = self.asm.vector(std::array::from_fn(|i| i as u32 * bytes));
        let in_a_row = asks.then(|| self.jump_if_in_a_row(row));
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
        if self.asm.writes_seldom != seldom {
            ends.push(self.asm.jump());
            self.asm.writes_seldom = seldom;
        }
        for end in ends {
            self.asm.land(end);
        }
    }

    /// In a straight region, where offsets of all threads are a row or all the same, active or not, and all in the memory: what is done there.
    /// So neither the address nor what is read waits for the mask, which the next round would wait for.
    fn regular(
        &mut self,
        access: &Access,
        span: u32,
        site: i32,
        ends: &mut Vec<Jump>,
        body: &mut dyn FnMut(&mut Self, Shape),
    ) {
        if !(self.straight && self.masked) {
            return;
        }
        let bytes = access.bytes;
        let row = self.asm.vector(std::array::from_fn(|i| i as u32 * bytes));
        let jumps = self.jumps_if_regular(T0, row);
        let other = self.asm.jump();
        let mut others = vec![other];
        let reach = bytes * (self.vectors.lanes() as u32 - 1);
        for (jump, (shape, reach)) in jumps.into_iter().zip([(Shape::Flat, span), (Shape::Row, reach + span)]) {
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

    /// The access of a row whose first address is in the scratch register, checked.
    fn row_from_scratch(
        &mut self,
        line: &Line<'_>,
        access: &Access,
        span: u32,
        site: i32,
        body: &mut dyn FnMut(&mut Self, Shape),
    ) {
        if access.offset != 0 {
            self.asm.add(SCRATCH, access.offset as i32);
        }
        self.check_span(site, access.bytes * (self.vectors.lanes() as u32 - 1) + span, access.bytes);
        self.asm.add_memory(SCRATCH, SITES, site + START);
        self.prefetch(line, site, access.bytes);
        body(self, Shape::Row);
    }

    /// Makes offsets of addresses, as words in `T0`; where they are beyond the site.
    fn offsets(&mut self, access: &Access, from: [Operand; 2], site: i32) -> u8 {
        let offset = self.asm.constant(access.offset);
        let first = self.repeated(SITES, site + FIRST, T2);
        for (half, from) in from.into_iter().enumerate() {
            let to = [T0, T1][half];
            self.minus(SUB_DOUBLES, to, from, first);
            if access.offset != 0 {
                self.vector(ADD_DOUBLES, to, to, offset);
            }
        }
        self.words_below((SITES, site + STARTS))
    }

    /// What [`access`](Self::access) does first, of addresses that are indexes: the access of a row, whose end is a jump, and offsets of all
    /// others as words in `T0`. Where these are beyond the site.
    fn access_by_index(
        &mut self,
        line: &Line<'_>,
        access: &Access,
        span: u32,
        site: i32,
        ends: &mut Vec<Jump>,
        body: &mut dyn FnMut(&mut Self, Shape),
    ) -> u8 {
        let [words, _] = self.read(line.sources[0]);
        let (Some(index), Operand::Memory(base, distance)) = (line.index, self.memory(line.sources[1], 0)) else {
            unreachable!("an address of the block is in memory")
        };
        if !self.masked && line.steady.is_none() && 1 << index.shift == access.bytes {
            let other = self.jump_unless_counting(words);
            self.first_to_general(MOVE_FIRST, SCRATCH, T1);
            // The words must not wrap within the row.
            let least = if index.signed { 1 << 31 } else { 0 };
            if index.signed {
                self.asm.add_word(SCRATCH, least);
            }
            self.asm.compare(SCRATCH, (self.vectors.lanes() as u32 - 1).wrapping_neg());
            let wraps = self.asm.jump_if(Condition::NotBelow);
            if index.signed {
                self.asm.add_word(SCRATCH, least);
                self.asm.extend(SCRATCH);
            }
            self.asm.shift_left(SCRATCH, index.shift);
            self.asm.add_memory(SCRATCH, base, distance);
            self.row_from_scratch(line, access, span, site, body);
            ends.push(self.asm.jump());
            self.asm.land(other);
            self.asm.land(wraps);
        }
        // Words suffice if the address of the block is within 2 GiB of the site's start, and the words' bytes are not more: a sum below zero
        // is then beyond every site.
        self.asm.load(SCRATCH, base, distance);
        self.asm.add(SCRATCH, access.offset as i32);
        self.asm.subtract_memory(SCRATCH, SITES, site + FIRST);
        self.asm.copy(SCRATCH_2, SCRATCH);
        self.asm.extend(SCRATCH_2);
        self.asm.compare_with(SCRATCH_2, SCRATCH);
        let far = self.asm.jump_if(Condition::NotZero);
        let large = self.jump_if_any_bits(words, !(u32::MAX >> 1 >> index.shift));
        self.broadcast_general(T1, SCRATCH);
        self.shift_by(SHIFT_BY, LEFT, T0, Operand::Register(words), index.shift);
        self.vector(ADD, T0, T0, Operand::Register(T1));
        if line.steady.is_none() {
            self.regular(access, span, site, ends, body);
        }
        let beyond = self.not_below_memory((SITES, site + STARTS));
        let end = self.asm.jump();
        self.asm.land(far);
        self.asm.land(large);
        for (half, to) in [T0, T1].into_iter().enumerate() {
            let extend = if index.signed { EXTEND_SIGNED } else { EXTEND };
            let word = self.half_of(words, half, T1);
            self.vector(extend, to, 0, word);
            self.shift_by(SHIFT_DOUBLES_BY, LEFT, to, Operand::Register(to), index.shift);
            self.vector(ADD_DOUBLES, to, to, Operand::Memory(base, distance));
        }
        self.offsets(access, [T0, T1].map(Operand::Register), site);
        self.asm.land(end);
        if span > 0 {
            self.or_ahead_beyond(beyond, span, (SITES, site + STARTS));
        }
        beyond
    }

    /// The sample of the turn's first thread to the scratch register. A sample is that of half a warp, which may be two turns.
    fn sample(&mut self, distance: i32, wide: bool, stride: u32) {
        let lanes = self.vectors.lanes();
        let bytes = if wide { 8 } else { 4 };
        if lanes == HALF {
            return self.asm.load_element(SCRATCH, SAMPLES, TURN, bytes, distance, wide);
        }
        if self.of_pair != OfPair::Alone {
            let second = self.of_pair == OfPair::Second;
            let back = if second { bytes as i32 / 2 } else { 0 };
            self.asm.load_element(SCRATCH, SAMPLES, TURN, bytes / 2, distance - back, wide);
            let ahead = if second { stride * lanes as u32 } else { 0 };
            return match wide {
                _ if ahead == 0 => {}
                true => self.asm.add(SCRATCH, ahead as i32),
                false => self.asm.add_word(SCRATCH, ahead),
            };
        }
        self.asm.copy(SCRATCH, TURN);
        self.asm.shift_right(SCRATCH, (HALF / self.vectors.lanes()).trailing_zeros() as u8);
        self.asm.load_element(SCRATCH, SAMPLES, SCRATCH, bytes, distance, wide);
        let ahead = stride * lanes as u32;
        if ahead.is_power_of_two() {
            // Without a jump, which would go another way in each turn.
            self.asm.copy(SCRATCH_2, TURN);
            self.asm.and(SCRATCH_2, 1);
            self.asm.shift_left(SCRATCH_2, ahead.trailing_zeros() as u8);
            self.asm.add_general(SCRATCH, SCRATCH_2, wide);
        } else if ahead > 0 {
            self.asm.test(TURN, 1);
            let first = self.asm.jump_if(Condition::Zero);
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
        if self.masked || self.keeps_mask || self.accesses > 4 || self.of_pair == OfPair::Second {
            return;
        }
        let write = matches!(line.what, What::Store(..));
        let streamed = (write && self.streams).then(|| {
            self.asm.compare_at(SITES, site + UNCACHED, NEVER as i32);
            self.asm.jump_if(Condition::NotZero)
        });
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
        self.asm.prefetch(SCRATCH, General::Rsi, write);
        if let Some(streamed) = streamed {
            self.asm.land(streamed);
        }
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
        // No site has places from 2^31 on, so one question is whether the offset is below that and a multiple of the bytes, and the other one
        // whether the last access is within the site: it does not wrap then.
        self.asm.test_signed(SCRATCH, i32::MIN | (bytes - 1) as i32);
        self.leave_if(Condition::NotZero);
        let mut last = SCRATCH;
        if reach > 0 {
            last = SCRATCH_2;
            self.asm.address(last, SCRATCH, reach as i32);
        }
        self.asm.compare_memory(last, SITES, site + STARTS);
        self.leave_if(Condition::NotBelow);
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

    /// What all threads read at a distance from the scratch register.
    fn flat(&mut self, load: &Load, d: &[[u8; 2]], ahead: i32) {
        let by = element(load) as i32;
        for (k, d) in d.iter().enumerate() {
            let at = Operand::Memory(SCRATCH, k as i32 * by + ahead);
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

    /// What threads read one behind another from a distance behind the scratch register on.
    fn row(&mut self, load: &Load, d: &[[u8; 2]], ahead: i32) {
        let bytes = self.vectors.bytes() as i32;
        let at = |block: i32| Operand::Memory(SCRATCH, block * bytes + ahead);
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
            (MemoryWidth::Bits32, d) => self.part_row_of_four(std::array::from_fn(|k| d[k][0]), ahead),
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

    /// What threads read at offsets in `T0` from a distance behind the scratch register.
    pub(super) fn gather(&mut self, load: &Load, d: &[[u8; 2]], ahead: i32) {
        match load.memory {
            MemoryWidth::Bits32 if d.len() == 1 => self.gathered(None, d[0][0], T0, ahead),
            MemoryWidth::Bits32 => {
                self.half_of(T0, 1, T1);
                for (pair, d) in d.chunks_exact(2).enumerate() {
                    self.gathered(Some(0), T2, T0, pair as i32 * 8 + ahead);
                    self.gathered(Some(1), T3, T1, pair as i32 * 8 + ahead);
                    self.part_words([T2, T3], [d[0][0], d[1][0]]);
                }
            }
            MemoryWidth::Bits64 => {
                self.half_of(T0, 1, T1);
                for (k, d) in d.iter().enumerate() {
                    self.gathered(Some(0), d[0], T0, k as i32 * 8 + ahead);
                    self.gathered(Some(1), d[1], T1, k as i32 * 8 + ahead);
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
