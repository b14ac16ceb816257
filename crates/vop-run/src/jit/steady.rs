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

/// Words of the state for each steady access.
pub(crate) const STEADY_WORDS: usize = 5;
/// What is added to the bytes of the index, for the offset in the allocation.
const BASE: usize = 0;
/// The bounds of the offset of the first thread, for this turn: if all threads reach the same, and if they are in a row. Zero until it is known.
const FLAT: usize = 1;
const ROW: usize = 2;
/// What these are where threads are so.
const FLAT_BOUND: usize = 3;
const ROW_BOUND: usize = 4;

/// How far behind its start an allocation's index may begin, and how many bytes it may have, as a power of two: so no index of a row wraps.
const NEAR: u8 = 30;

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
        self.start + ((STEADY_WORDS * number + word) * 8) as i32
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
        for number in 0..self.steady.count() {
            [FLAT, ROW].into_iter().for_each(|word| self.asm.set_at(STATE, self.steady.word(number, word), 0));
        }
    }

    /// What the function finds out before its first turn.
    pub(super) fn prepare_steady(&mut self) {
        for (number, prepared) in std::mem::take(&mut self.steady.prepared).into_iter().enumerate() {
            // Those that are loaded with another one have none.
            let Some(Prepared { base: Operand::Memory(base, distance), offset, site, span, row }) = prepared else {
                continue;
            };
            let [to_base, flat, in_row] = [BASE, FLAT_BOUND, ROW_BOUND].map(|word| self.steady.word(number, word));
            self.asm.load(SCRATCH, base, distance);
            self.asm.add(SCRATCH, offset as i32);
            self.asm.subtract_memory(SCRATCH, SITES, site + FIRST);
            self.asm.keep(SCRATCH, STATE, to_base);
            [flat, in_row].into_iter().for_each(|word| self.asm.set_at(STATE, word, 0));
            self.asm.load(SCRATCH_2, SITES, site + STARTS);
            self.asm.compare(SCRATCH_2, span);
            let mut ends = vec![self.asm.jump_if(Condition::Below)];
            self.asm.add(SCRATCH_2, -(span as i32));
            self.asm.keep(SCRATCH_2, STATE, flat);
            if let Some(row) = row {
                self.asm.compare(SCRATCH_2, row);
                ends.push(self.asm.jump_if(Condition::Below));
                // Offsets are below 2^30, and bytes of the index at most 2^30 more, so that no index is near where it wraps.
                self.asm.copy(SCRATCH_3, SCRATCH_2);
                self.asm.shift_right(SCRATCH_3, NEAR);
                ends.push(self.asm.jump_if(Condition::NotZero));
                self.asm.add(SCRATCH, 1 << NEAR);
                self.asm.shift_right(SCRATCH, NEAR + 3);
                ends.push(self.asm.jump_if(Condition::NotZero));
                self.asm.add(SCRATCH_2, -(row as i32));
                self.asm.keep(SCRATCH_2, STATE, in_row);
            }
            ends.into_iter().for_each(|end| self.asm.land(end));
        }
    }

    /// What [`access`](Self::access) does first, of a steady access: what is done where threads reach the same, or are in a row, and all of
    /// them, active or not, are within the memory. The ends are jumps; all other threads are behind it.
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
        self.steady.prepared[number] = Some(Prepared { base, offset: access.offset, site, span, row });
        let word = [BASE, FLAT, ROW, FLAT_BOUND, ROW_BOUND].map(|word| self.steady.word(number, word));
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
        let known: Vec<_> = shapes
            .iter()
            .map(|(_, bound)| {
                self.asm.compare_memory(SCRATCH, STATE, word[*bound]);
                self.asm.jump_if(Condition::Below)
            })
            .collect();
        // Not known yet, or neither, or not all of them within the memory.
        let counting = self.asm.vector(std::array::from_fn(|i| i as u32));
        let [alike, in_a_row] = self.jumps_if_regular(words, counting);
        let mut others = vec![self.asm.jump()];
        let mut asked = [Some(alike), Some(in_a_row)];
        for (jump, (shape, bound)) in known.into_iter().zip(&shapes) {
            if let Some(asked) = asked[bound - FLAT].take() {
                self.asm.land(asked);
            }
            self.asm.load(SCRATCH_2, STATE, word[bound + FLAT_BOUND - FLAT]);
            self.asm.keep(SCRATCH_2, STATE, word[*bound]);
            self.asm.compare_with(SCRATCH, SCRATCH_2);
            others.push(self.asm.jump_if(Condition::NotBelow));
            self.asm.land(jump);
            if access.bytes > 1 {
                self.asm.test(SCRATCH, access.bytes - 1);
                others.push(self.asm.jump_if(Condition::NotZero));
            }
            self.asm.add_memory(SCRATCH, SITES, site + START);
            let masked = std::mem::replace(&mut self.masked, false);
            body(self, *shape);
            self.masked = masked;
            ends.push(self.asm.jump());
        }
        asked.into_iter().flatten().chain(others).for_each(|jump| self.asm.land(jump));
    }
}
