//! Steady accesses: in each round of a loop, the threads' addresses are to each other as in the round before.
//!
//! In a straight region all threads of a turn compute, also those that have left. So where an index is made of registers that go on by what is
//! the same for all threads, as `i + k` is, threads in a row stay in one. The function asks once in a turn; behind that it compares the address
//! of the first thread alone with a bound, which is zero for a shape that the threads are not in.

use std::collections::HashMap;
use std::ops::Range;

use super::assembler::{Condition, Jump, Operand};
use super::each;
use super::emit::*;
use super::known::Known;
use super::load::{FIRST, START, STARTS, Shape};
use crate::code::{Access, Op, Step};
use crate::column::{Area, Slot};

/// Words of the state for each steady access. The first two of all accesses are together, as each turn forgets them.
pub(crate) const STEADY_WORDS: usize = 5;
/// The bounds of the offset of the first thread, for this turn: if all threads reach the same, and if they are in a row. Zero until it is known.
const FLAT: usize = 0;
const ROW: usize = 1;
const OF_TURN: usize = 2;
/// What these are where threads are so.
const FLAT_BOUND: usize = 2;
const ROW_BOUND: usize = 3;
/// What is added to the bytes of the index, for the offset in the allocation, or for the host's address.
const BASE: usize = 4;

/// How far behind its start an allocation's index may begin, and how many bytes it may have, as a power of two: so no index of a row wraps.
const NEAR: u8 = 30;
/// How far behind its start an index may begin that is added to the host's address, as a power of two.
const FAR: u8 = 31;

/// The steady accesses of the region that is written.
#[derive(Debug, Default)]
pub(super) struct Steady {
    /// Registers that the region writes: whether they only go on by what is the same for all threads.
    written: HashMap<Slot, bool>,
    /// Where the words are in the state.
    start: i32,
    /// What the function prepares, by number.
    prepared: Vec<Option<Prepared>>,
    /// The accesses by part and line.
    numbers: HashMap<(usize, usize), usize>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Prepared {
    base: Operand,
    offset: u64,
    site: i32,
    /// Bytes behind the address that accesses with the same index reach, and behind that those of a row; `None` if that is no row.
    span: u32,
    row: Option<u32>,
    /// Whether the words are host addresses instead of offsets, and the bytes of the access: where the index has no sign, and what is added to
    /// it is no less than zero, an address that is below the bound is not below the allocation.
    direct: Option<u32>,
}

impl Steady {
    /// For a region of some steps, whose words of the state are at a distance.
    pub(super) fn of(steps: &[Step], range: Range<usize>, start: i32) -> Steady {
        let mut steady = Steady { start, ..Steady::default() };
        each(steps, range, |_, step| {
            let goes_on = |d: Slot| {
                let Op::Compute { known, operands, .. } = &step.op else { return false };
                let [a, b, ..] = operands.sources;
                let by = match known {
                    Known::Add if b == d => a,
                    Known::Add | Known::Subtract if a == d => b,
                    _ => return false,
                };
                is_shared(by)
            };
            for (slot, _) in step.op.results() {
                let steady = steady.written.entry(slot).or_insert(true);
                *steady &= goes_on(slot);
            }
        });
        steady
    }

    pub(super) fn count(&self) -> usize {
        self.numbers.len()
    }

    fn word(&self, number: usize, word: usize) -> i32 {
        let at = match word < OF_TURN {
            true => OF_TURN * number + word,
            false => OF_TURN * self.count() + (STEADY_WORDS - OF_TURN) * number + word - OF_TURN,
        };
        self.start + (at * 8) as i32
    }
}

/// Whether all threads of the block share a register.
fn is_shared(slot: Slot) -> bool {
    matches!(slot.area(), Area::Block | Area::Samples)
}

impl Writer<'_> {
    /// Finds the steady accesses of a part of a straight region whose homes are known.
    pub(super) fn find_steady(&mut self, lines: &mut [Line<'_>], part: usize) {
        // What threads that have left have is known of homes, and of what the region does not write.
        let stays = |slot: Slot| {
            let at_home = self.homes.iter().any(|home| home.slot == slot);
            self.steady.written.get(&slot).is_none_or(|steady| *steady && at_home)
        };
        let mut steady: Vec<bool> = self.values.iter().map(|value| stays(value.slot)).collect();
        for (at, line) in lines.iter_mut().enumerate() {
            let shared = |source: usize| is_of_block(&self.values[line.sources[source]]);
            let keeps = match line.what {
                What::Compute(Known::Move | Known::Add | Known::Subtract) => true,
                What::Compute(Known::Multiply | Known::MultiplyAdd) => shared(0) || shared(1),
                What::Compute(Known::ShiftLeft) => shared(1),
                _ => false,
            };
            let keeps = keeps && line.sources.iter().all(|source| steady[*source]);
            line.results.iter().for_each(|result| steady[*result] = keeps);
            if line.index.is_some() && steady[line.sources[0]] {
                let next = self.steady.numbers.len();
                line.steady = Some(*self.steady.numbers.entry((part, at)).or_insert(next));
            }
        }
        self.steady.prepared.resize(self.steady.numbers.len(), None);
    }

    /// A new turn: nothing is known of its threads.
    pub(super) fn forget_shapes(&mut self) {
        self.zero_pairs(STATE, self.steady.start, self.steady.count() * OF_TURN / 2);
    }

    /// What the function finds out before its first turn.
    pub(super) fn prepare_steady(&mut self) {
        for (number, prepared) in std::mem::take(&mut self.steady.prepared).into_iter().enumerate() {
            // Those that are loaded with another one have none.
            let Some(Prepared { base: Operand::Memory(base, distance), offset, site, span, row, direct }) = prepared
            else {
                continue;
            };
            let [to_base, flat, in_row] = [BASE, FLAT_BOUND, ROW_BOUND].map(|word| self.steady.word(number, word));
            [flat, in_row].into_iter().for_each(|word| self.asm.set_at(STATE, word, 0));
            let mut ends = Vec::new();
            self.asm.load(SCRATCH, base, distance);
            self.asm.add(SCRATCH, offset as i32);
            self.asm.subtract_memory(SCRATCH, SITES, site + FIRST);
            if let Some(bytes) = direct {
                // What is added to the index is no less than zero. Host addresses are multiples where offsets are.
                self.asm.copy(SCRATCH_2, SCRATCH);
                self.asm.shift_right(SCRATCH_2, FAR);
                ends.push(self.asm.jump_if(Condition::NotZero));
                self.asm.load(SCRATCH_2, SITES, site + START);
                self.asm.test(SCRATCH_2, bytes - 1);
                ends.push(self.asm.jump_if(Condition::NotZero));
                self.asm.add_memory(SCRATCH, SITES, site + START);
            }
            self.asm.keep(SCRATCH, STATE, to_base);
            self.asm.load(SCRATCH_2, SITES, site + STARTS);
            self.asm.compare(SCRATCH_2, span);
            ends.push(self.asm.jump_if(Condition::Below));
            self.asm.add(SCRATCH_2, -(span as i32));
            self.asm.copy(SCRATCH_3, SCRATCH_2);
            let keep = |this: &mut Self, word| {
                if direct.is_some() {
                    this.asm.add_memory(SCRATCH_2, SITES, site + START);
                }
                this.asm.keep(SCRATCH_2, STATE, word);
            };
            keep(self, flat);
            if let Some(row) = row {
                self.asm.copy(SCRATCH_2, SCRATCH_3);
                self.asm.compare(SCRATCH_2, row);
                ends.push(self.asm.jump_if(Condition::Below));
                if direct.is_none() {
                    // Offsets are below 2^30, and bytes of the index at most 2^30 more, so that no index is near where it wraps. One without a
                    // sign wraps beyond all allocations.
                    self.asm.shift_right(SCRATCH_3, NEAR);
                    ends.push(self.asm.jump_if(Condition::NotZero));
                    self.asm.add(SCRATCH, 1 << NEAR);
                    self.asm.shift_right(SCRATCH, NEAR + 3);
                    ends.push(self.asm.jump_if(Condition::NotZero));
                }
                self.asm.add(SCRATCH_2, -(row as i32));
                keep(self, in_row);
            }
            ends.into_iter().for_each(|end| self.asm.land(end));
        }
    }

    /// What [`access`](Self::access) does first, of a steady access: what is done where threads reach the same, or are in a row, and all of
    /// them, active or not, are within the memory. The ends are jumps, or fall through; all other threads are behind it, in code that is
    /// seldom executed.
    pub(super) fn steady_access(
        &mut self,
        line: &Line<'_>,
        access: &Access,
        span: u32,
        (site, number): (i32, usize),
        ends: &mut Vec<Jump>,
        body: &mut dyn FnMut(&mut Self, Shape),
    ) {
        let Some(index) = line.index else { return };
        let [words, _] = self.read(line.sources[0]);
        let reach = access.bytes * (self.vectors.lanes() as u32 - 1);
        let row = (1 << index.shift == access.bytes).then_some(reach);
        let base = self.memory(line.sources[1], 0);
        let direct = (!index.signed && access.offset as i64 >= 0).then_some(access.bytes);
        self.steady.prepared[number] = Some(Prepared { base, offset: access.offset, site, span, row, direct });
        let word = [FLAT, ROW, FLAT_BOUND, ROW_BOUND, BASE].map(|word| self.steady.word(number, word));
        self.first_to_general(MOVE_FIRST, SCRATCH, words);
        if index.signed {
            self.asm.extend(SCRATCH);
        }
        if index.shift > 0 {
            self.asm.shift_left(SCRATCH, index.shift);
        }
        self.asm.add_memory(SCRATCH, STATE, word[BASE]);
        // A register that goes on by itself is mostly a counter that all threads share; others are more often in a row.
        let mut shapes = vec![(Shape::Flat, FLAT)];
        if row.is_some() {
            shapes.insert(usize::from(self.values[line.sources[0]].at_home), (Shape::Row, ROW));
        }
        let mut done = |this: &mut Self, shape, others: &mut Vec<Jump>| {
            if access.bytes > 1 {
                this.asm.test(SCRATCH, access.bytes - 1);
                others.push(this.asm.jump_if(Condition::NotZero));
            }
            if direct.is_none() {
                this.asm.add_memory(SCRATCH, SITES, site + START);
            }
            let masked = std::mem::replace(&mut this.masked, false);
            body(this, shape);
            this.masked = masked;
        };
        // What threads are mostly in is written without jumps.
        let mut others = Vec::new();
        let mut known: Vec<Jump> = Vec::new();
        let first = shapes.remove(0);
        self.asm.compare_memory(SCRATCH, STATE, word[first.1]);
        let not_known = self.asm.jump_if(Condition::NotBelow);
        let as_first = self.asm.here();
        done(self, first.0, &mut others);
        self.asm.writes_seldom = true;
        self.asm.land(not_known);
        for (_, bound) in &shapes {
            self.asm.compare_memory(SCRATCH, STATE, word[*bound]);
            known.push(self.asm.jump_if(Condition::Below));
        }
        // Not known yet, or neither, or not all of them within the memory.
        let counting = self.asm.vector(std::array::from_fn(|i| i as u32));
        let [alike, in_a_row] = self.jumps_if_regular(words, counting);
        others.push(self.asm.jump());
        let mut asked = [Some(alike), Some(in_a_row)];
        let mut ask = |this: &mut Self, bound: usize, others: &mut Vec<Jump>| {
            if let Some(asked) = asked[bound - FLAT].take() {
                this.asm.land(asked);
            }
            this.asm.load(SCRATCH_2, STATE, word[bound + FLAT_BOUND - FLAT]);
            this.asm.keep(SCRATCH_2, STATE, word[bound]);
            this.asm.compare_with(SCRATCH, SCRATCH_2);
            others.push(this.asm.jump_if(Condition::NotBelow));
        };
        ask(self, first.1, &mut others);
        self.asm.jump_back(as_first);
        for (jump, (shape, bound)) in known.into_iter().zip(shapes) {
            ask(self, bound, &mut others);
            self.asm.land(jump);
            done(self, shape, &mut others);
            ends.push(self.asm.jump());
        }
        asked.into_iter().flatten().chain(others).for_each(|jump| self.asm.land(jump));
    }
}
