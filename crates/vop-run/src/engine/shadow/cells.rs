//! The accesses of each word of memory that a later access may race with.
//!
//! A record is an access of the lanes of one warp together. A later access replaces a record if whatever races with the record races
//! with it as well. A cell keeps a limited number of records, the latest ones: what goes beyond that is forgotten, so a race may be missed,
//! and none is invented.

use super::clocks::Clocks;
use crate::column::WARP;
use crate::engine::findings::AccessKind;
use crate::memory::Budget;

/// Records of a cell.
const MAX_RECORDS: usize = 48;

/// Bytes of a word.
pub(super) const WORD: u64 = 4;

/// An access to one word of memory.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Record {
    pub(super) block: u32,
    pub(super) generation: u32,
    /// The number among the accesses of the warp, or of its copies.
    pub(super) counter: u32,
    /// The time of the launch's clock.
    pub(super) stamp: u32,
    pub(super) statement: u32,
    pub(super) lanes: u32,
    /// The warp; copies are those of the warps behind the block's.
    pub(super) warp: u8,
    /// The bytes of the word that it reaches; 0 where there is no record.
    pub(super) bytes: u8,
    pub(super) writes: bool,
    /// Whether it is a compare-and-swap.
    pub(super) swaps: bool,
    pub(super) strength: Strength,
}

/// Whether accesses race among themselves. Of two of them the lesser counts.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Strength {
    #[default]
    Weak,
    /// Atomic or strong, of the scope of the block.
    Block,
    Device,
}

/// The records of a word of memory.
#[derive(Clone, Debug, Default)]
pub(super) struct Cell {
    records: [Record; 2],
    #[allow(clippy::box_collection, reason = "most cells have no more than two records, and there are many cells")]
    more: Option<Box<Vec<Record>>>,
}

/// A record that races with an access.
#[derive(Clone, Copy, Debug)]
pub(super) struct Conflict {
    pub(super) record: Record,
    /// The thread of the record's block.
    pub(super) thread: usize,
}

impl Record {
    pub(super) fn kind(&self) -> AccessKind {
        match (self.writes, self.strength) {
            (false, _) => AccessKind::Read,
            (true, Strength::Weak) => AccessKind::Write,
            (true, _) => AccessKind::Atomic,
        }
    }

    /// Whether all of an earlier record happened before a thread's access; if not, a thread of which it did not.
    fn happened_before(&self, clocks: &Clocks, now: &Record, thread: usize) -> Result<(), usize> {
        let first = usize::from(self.warp) * WARP;
        if self.block != now.block {
            let lane = self.lanes.trailing_zeros() as usize & 31;
            return if self.stamp < clocks.until(thread) { Ok(()) } else { Err(first + lane) };
        }
        if self.generation != now.generation {
            return Ok(());
        }
        let mut lanes = self.lanes;
        while lanes != 0 {
            let other = first + lanes.trailing_zeros() as usize;
            lanes &= lanes - 1;
            // A thread's own accesses are in order; its copies are not.
            if other != thread && !clocks.knows(thread, other, self.counter) {
                return Err(other);
            }
        }
        Ok(())
    }

    /// Whether the two race unless one happened before the other.
    fn conflicts(&self, now: &Record) -> bool {
        let needed = if self.block == now.block { Strength::Block } else { Strength::Device };
        (self.writes || now.writes) && self.strength.min(now.strength) < needed
    }

    /// Whether what races with the earlier record races with this one, too, if that happened before.
    fn stands_for(&self, earlier: &Record) -> bool {
        (self.writes || !earlier.writes) && self.strength <= earlier.strength
    }
}

impl Cell {
    /// Adds an access of one thread. Returns what it races with: a write before a read.
    /// `is_shared` says that the word is of shared memory: then no other block's access is of the same memory. Where there is no `room`,
    /// an earlier access is forgotten.
    pub(super) fn add(
        &mut self,
        clocks: &Clocks,
        now: Record,
        thread: usize,
        is_shared: bool,
        room: &Budget,
    ) -> Option<Conflict> {
        let mut conflict: Option<Conflict> = None;
        let mut merged = false;
        // Of reads by other blocks two are enough: whatever block writes later, it races with one of them.
        let mut others = 0;
        let all = self.records.iter_mut().chain(self.more.iter_mut().flat_map(|more| more.iter_mut()));
        for record in all.filter(|record| record.bytes != 0) {
            // Everything of an earlier generation of the block happened before.
            let is_other = record.block != now.block;
            if is_other && is_shared || !is_other && record.generation != now.generation {
                record.bytes = 0;
                continue;
            }
            if record.bytes & now.bytes == 0 {
                continue;
            }
            let conflicts = record.conflicts(&now);
            let alike = (record.writes, record.strength) == (now.writes, now.strength);
            let together = (record.block, record.counter, record.warp, record.statement)
                == (now.block, now.counter, now.warp, now.statement);
            if together && alike && !conflicts && record.bytes == now.bytes {
                record.lanes |= now.lanes;
                merged = true;
                continue;
            }
            let before = record.happened_before(clocks, &now, thread);
            let races = conflicts && before.is_err();
            if let (true, Err(thread)) = (races, before)
                && conflict.as_ref().is_none_or(|found| record.writes && !found.record.writes)
            {
                conflict = Some(Conflict { record: *record, thread });
            }
            if record.block != now.block && alike && !conflicts {
                others += 1;
            }
            // A race is reported now; it need not be found again where the later access stands for the earlier one.
            if (before.is_ok() || races) && now.stands_for(record) || others > 2 {
                record.bytes &= !now.bytes;
                others = others.min(2);
            }
        }
        if !merged {
            self.push(now, room);
        }
        conflict
    }

    /// Forgets all accesses: the memory is a new object.
    pub(super) fn clear(&mut self) {
        self.records.iter_mut().for_each(|record| record.bytes = 0);
        if let Some(more) = &mut self.more {
            more.clear();
        }
    }

    fn push(&mut self, record: Record, room: &Budget) {
        if let Some(place) = self.records.iter_mut().find(|record| record.bytes == 0) {
            *place = record;
            return;
        }
        let more = self.more.get_or_insert_default();
        if more.len() >= 8 {
            more.retain(|record| record.bytes != 0);
        }
        if more.len() == more.capacity() {
            let new = (2 * more.len()).clamp(4, MAX_RECORDS) - more.len();
            if new > 0 && room.has((new * size_of::<Record>()) as u64) {
                more.reserve_exact(new);
            } else if more.is_empty() {
                self.records[0] = record;
                return;
            } else {
                more.remove(0);
            }
        }
        more.push(record);
    }
}
