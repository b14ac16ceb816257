//! What checks find while a launch runs: collected by place, and counted. The report turns them into words.

use std::collections::HashMap;
use std::sync::Arc;

use crate::heap::Site;

/// Places of one core that are kept: what a launch reports is less.
const MAX_PLACES: usize = 1000;

/// Where an access reaches.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) enum Spot {
    /// A byte of the block's shared memory.
    Shared(u64),
    /// An address of global memory.
    Global(u64),
}

/// How an access touches memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum AccessKind {
    Read,
    Write,
    Atomic,
}

/// Two accesses that nothing orders: the one that found it, and an earlier one.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Race {
    pub(crate) spot: Spot,
    /// The earlier access: its block, its thread there, its statement, and how it touched the byte.
    pub(crate) block: u64,
    pub(crate) thread: usize,
    pub(crate) statement: u32,
    pub(crate) kind: AccessKind,
    /// Whether it was a copy of `cp.async` that was not waited for.
    pub(crate) is_copy: bool,
    /// Whether both wrote the same value.
    pub(crate) same_value: bool,
    /// Whether a plain read races with a compare-and-swap: mostly it is the guess that a loop starts with.
    pub(crate) guess: bool,
    /// Whether both are atomic or strong, and only their scopes are too narrow.
    pub(crate) narrow: bool,
}

/// Why a lane that a mask names does not take part.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Absence {
    /// It has ended.
    Ended,
    /// It came with another mask.
    OtherMask,
    /// It executes the instruction itself, and its mask does not name it.
    NotNamed,
}

/// What was found.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum What {
    Race(Race),
    /// A read of what nothing has written.
    Uninitialized(Spot),
    /// `shfl` reads a lane that does not take part.
    MissingLane(usize),
    Member(usize, Absence),
    /// `shfl` reads this lane by the mask that `activemask` gave, though the lane's number does not depend on the mask.
    TakenForGranted(usize),
    /// A mask that `activemask` gave names lanes that had parted and met again, without anything that makes them meet.
    /// Nothing else is done with the mask. It is no error where the lanes only ask each other something.
    MetByLuck {
        is_error: bool,
    },
    /// An access to heap memory that was given back, or that `malloc` did not return: what is known of the nearest allocation.
    Heap {
        address: u64,
        near: Option<Near>,
    },
    /// The second `free` of an allocation.
    DoubleFree {
        address: u64,
        near: Near,
    },
}

/// An allocation of the heap near an address.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Near {
    /// The address's distance from its start.
    pub(crate) offset: u64,
    pub(crate) size: u64,
    pub(crate) allocated: Option<Arc<Site>>,
    /// Where it was given back, if it was.
    pub(crate) freed: Option<Arc<Site>>,
}

/// What was found at one place.
#[derive(Clone, Debug)]
pub(crate) struct Found {
    pub(crate) what: What,
    /// Where it was found first: the statement, the block and the thread there.
    pub(crate) statement: u32,
    pub(crate) block: u64,
    pub(crate) thread: usize,
    /// How often it was found.
    pub(crate) count: u64,
}

/// What is one place: the kind of finding, and the statements of it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(crate) struct Key(u8, u32, u32);

impl Key {
    pub(crate) fn of(what: &What, statement: u32) -> Key {
        match what {
            // The same two statements, whichever came first.
            What::Race(race) => {
                let kind = if race.same_value || race.guess { 1 } else { 0 };
                Key(kind, statement.min(race.statement), statement.max(race.statement))
            }
            What::Uninitialized(Spot::Shared(_)) => Key(2, statement, 0),
            What::Uninitialized(Spot::Global(_)) => Key(3, statement, 0),
            What::MissingLane(_) => Key(4, statement, 0),
            What::Member(_, absence) => Key(5, statement, *absence as u32),
            What::TakenForGranted(_) => Key(6, statement, 0),
            What::MetByLuck { .. } => Key(7, statement, 0),
            What::Heap { near, .. } => Key(8, statement, u32::from(near.as_ref().is_some_and(|n| n.freed.is_some()))),
            What::DoubleFree { .. } => Key(9, statement, 0),
        }
    }
}

/// The findings of one core.
#[derive(Debug, Default)]
pub(crate) struct Findings {
    /// The block that runs.
    pub(crate) block: u64,
    found: HashMap<Key, Found>,
    /// Findings at places beyond those that are kept.
    left_out: u64,
}

impl Findings {
    /// Something was found at a statement of a thread.
    #[cold]
    pub(crate) fn add(&mut self, statement: u32, thread: usize, what: What) {
        let key = Key::of(&what, statement);
        let full = self.found.len() >= MAX_PLACES;
        match self.found.entry(key) {
            std::collections::hash_map::Entry::Occupied(mut found) => found.get_mut().count += 1,
            std::collections::hash_map::Entry::Vacant(_) if full => self.left_out += 1,
            std::collections::hash_map::Entry::Vacant(place) => {
                place.insert(Found { what, statement, block: self.block, thread, count: 1 });
            }
        }
    }

    /// The findings of several cores: by the first block that had each, then by statement. And the number of findings at other places.
    pub(crate) fn merge(all: impl Iterator<Item = Findings>) -> (Vec<Found>, u64) {
        let mut merged: HashMap<Key, Found> = HashMap::new();
        let mut left_out = 0;
        for findings in all {
            left_out += findings.left_out;
            for (key, found) in findings.found {
                match merged.entry(key) {
                    std::collections::hash_map::Entry::Vacant(place) => {
                        place.insert(found);
                    }
                    std::collections::hash_map::Entry::Occupied(mut place) => {
                        let count = place.get().count + found.count;
                        if found.block < place.get().block {
                            place.insert(found);
                        }
                        place.get_mut().count = count;
                    }
                }
            }
        }
        let mut merged: Vec<(Key, Found)> = merged.into_iter().collect();
        merged.sort_by_key(|(key, found)| (found.block, found.statement, *key));
        (merged.into_iter().map(|(_, found)| found).collect(), left_out)
    }
}
