//! Regions: loops as one function, each turn of threads from its first step to its last one.
//!
//! A run ends at a branch, so a loop of runs goes over all threads of the block again and again, and as long as the thread that takes
//! longest. In a region each turn of sixteen or eight threads executes the loop by itself: it ends when its own threads have ended, and what
//! they carry from one round of the loop to the next stays in registers, its *homes*.
//!
//! Nothing tells one order of threads from another where they only compute and read. So a region has no stores, no atomics and no step at
//! which threads wait.
//!
//! A region is a row of *parts*, which are steps with a branch at their end, in the order of the code. Each part has a mask of the threads that
//! have come to it and have not executed it, and so has each *exit*, a step behind the region. A part adds its threads to the masks of the
//! parts or exits behind it. Execution goes on with the next part of the code that has threads, or back to where a branch goes to. So no
//! thread is forgotten, whatever the branches are.
//!
//! There are two copies of the code. As long as all threads of a turn go the same way, the first one is executed, without masks. Where they
//! part, it goes over to the second one, which has the same homes. With AVX2, straight regions (see below) have the second one only.
//!
//! In most loops threads that part from the others leave it. In such a *straight* region all threads of the turn that have not left are at one
//! place, so homes need no masks: what a thread had is kept when it leaves, and nobody asks what its element becomes then. The masks are in
//! registers, and of each part only those are counted that go on.
//! Addresses of all elements mostly stay a row, or all the same, and are found without waiting for the mask, which would be known last.
//!
//! The function leaves early where a check of an address fails, and after a number of rounds. All threads of the turn are then at the start of a
//! part or at an exit, which the masks tell, and its columns are as there. `engine/block/regions.rs` says what happens then.
//!
//! This file finds regions; `advance` tells which of them read too far from round to round, and `write` writes their machine code.

mod advance;
mod write;

pub(super) use write::Written;

use std::collections::HashMap;
use std::ops::Range;

use super::{Found, MAX_STEPS, Totals, each, each_place, is_served};
use crate::code::{Guard, Kernel, Op, Pc, RegionPart, Step};
use crate::column::{Area, Slot, Width};
use crate::memory::Space;
use advance::{Advance, Advances};

/// Parts of one region: their masks are looked at one by one.
const MAX_PARTS: usize = 48;
/// Steps of a part that costs less than to ask whether threads are there.
const SHORT: usize = 4;
/// Bytes by which an address may go on with a round of a loop. Threads that read one behind another read a kilobyte together; a region would
/// read as little of it as one vector has, and go on to where the next round reads.
const MAX_STEP: u64 = 64;

/// Steps of a round whose threads part and meet again. In longer ones what groups cost is little beside what runs of more turns gain, as the
/// steps of several turns overlap; motion search took a third more time as regions.
const MAX_APART: usize = 64;

// What a function is told, and tells: words of 64 bits.
/// The rounds that may be executed. A function that counts them in a register only reads it; others count here.
pub(crate) const ROUNDS: usize = 0;
/// The number of the part where a check failed, plus one.
pub(crate) const FAILED: usize = 1;
/// Where the masks of the exits go, of the turn.
pub(crate) const RECORD: usize = 2;
/// Where the mask of the turn is, for AVX2.
pub(super) const ENTERED: usize = 3;
/// The number of the first turn, and whether its threads go on where they are, as their masks tell.
pub(crate) const FIRST_TURN: usize = 4;
pub(crate) const RESUMES: usize = 5;
/// Three words for each part, then one for each exit, then [`STEADY_WORDS`](super::steady::STEADY_WORDS) for each steady access.
pub(crate) const PARTS: usize = 6;
/// The threads that are at a part.
pub(crate) const PENDING: usize = 0;
/// The number of threads that have executed a part. In a straight region, of those that have started there.
pub(crate) const EXECUTED: usize = 1;
/// The number of threads that have taken its branch. In a straight region, of those that have gone on to another part.
pub(crate) const TAKEN: usize = 2;
pub(crate) const WORDS: usize = 3;

/// Where execution goes on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Goal {
    Part(usize),
    Exit(usize),
}

#[derive(Clone, Copy, Debug)]
struct Branch {
    guard: Option<Guard>,
    to: Goal,
    /// Whether the step counts, for those that take it.
    counts: bool,
}

/// Steps with a branch at their end, or none.
#[derive(Clone, Copy, Debug)]
struct Part {
    /// Its steps, without the branch.
    steps: Found,
    branch: Option<Branch>,
    /// Where those go on that do not branch.
    next: Goal,
    /// How many rounds of loops are within one another here, as far as the layout tells.
    depth: u32,
}

impl Part {
    fn guard(&self) -> Option<Slot> {
        Some(self.branch?.guard?.slot)
    }

    /// The part that it leads to; in a straight region, it is the only one.
    fn goes_to(&self) -> Option<usize> {
        let taken = self.branch.map(|branch| branch.to);
        let falls = self.branch.is_none_or(|branch| branch.guard.is_some());
        taken.into_iter().chain(falls.then_some(self.next)).find_map(|goal| match goal {
            Goal::Part(part) => Some(part),
            Goal::Exit(_) => None,
        })
    }

    /// Whether it only computes, in few steps, and has threads that part at its end.
    fn is_short(&self, steps: &[Step]) -> bool {
        let (start, end) = (self.steps.start, self.steps.end);
        let mut computes = true;
        each(steps, start..end, |_, step| computes &= !matches!(step.op, Op::Load(_)));
        computes && end - start <= SHORT && self.guard().is_some()
    }
}

/// A loop that can be a function.
#[derive(Clone, Debug)]
pub(super) struct Region {
    parts: Vec<Part>,
    /// Steps behind it.
    pub(super) exits: Vec<Pc>,
}

impl Region {
    /// The largest loops that can be functions, which do not overlap.
    pub(super) fn all(kernel: &Kernel, steps: &[Step]) -> Vec<Region> {
        // How many steps before each place cannot be in a region.
        let mut others = vec![0u32; steps.len() + 1];
        let mut at = 0;
        while at < steps.len() {
            let (step, mut len) = (&steps[at], 1);
            let predicate = step.guard.is_none_or(|guard| guard.slot.area() == Area::Predicates);
            let fits = match &step.op {
                Op::Branch(_) | Op::Return | Op::Exit => predicate,
                Op::Skip { steps, .. } => {
                    len = *steps as usize;
                    true
                }
                Op::Join => true,
                Op::Store(_) => false,
                _ => step.guard.is_none() && is_served(kernel, step),
            };
            for place in at..(at + len).min(steps.len()) {
                others[place + 1] = others[place] + u32::from(!fits);
            }
            at += len;
        }
        // How many parts start before each place.
        let mut leads = vec![false; steps.len() + 1];
        for (at, step) in steps.iter().enumerate() {
            leads[at + 1] |= matches!(step.op, Op::Branch(_) | Op::Return | Op::Exit);
            if let Op::Branch(target) = step.op {
                leads[(target as usize).min(steps.len())] = true;
            }
        }
        let mut parts = vec![0usize; steps.len() + 1];
        for at in 0..steps.len() {
            parts[at + 1] = parts[at] + usize::from(leads[at]);
        }
        // Of the branches that go back to a place, the last that there may be. Others are not looked at, as a kernel may have many.
        let mut last: HashMap<usize, usize> = HashMap::new();
        for (at, step) in steps.iter().enumerate() {
            if let Op::Branch(target) = step.op {
                let (start, end) = (target as usize, at + 1);
                if start < end && others[end] == others[start] && parts[end] - parts[start] <= MAX_PARTS {
                    last.insert(start, end);
                }
            }
        }
        let mut loops: Vec<(usize, usize)> = last.into_iter().collect();
        loops.sort_by_key(|(start, end)| (start.wrapping_sub(*end), *start));
        let mut taken: Vec<(usize, usize)> = Vec::new();
        let mut found = Vec::new();
        for (start, end) in loops {
            if taken.iter().any(|(first, last)| start < *last && *first < end) {
                continue;
            }
            let pays =
                |region: &Region| !region.streams(kernel, steps) && (region.is_straight() || region.len() <= MAX_APART);
            if let Some(region) = Region::of(steps, start..end, &leads).filter(pays) {
                taken.push((start, end));
                found.push(region);
            }
        }
        found
    }

    /// Whether all loops are in regions that load: others are mostly long, and faster while threads stay together, which fewer do for longer.
    pub(super) fn cover(kernel: &Kernel, steps: &[Step]) -> bool {
        if steps.len() > MAX_STEPS {
            return false;
        }
        let mut all = Region::all(kernel, steps);
        all.retain(|region| region.loads(steps));
        let goes_back =
            |(at, step): (usize, &Step)| matches!(step.op, Op::Branch(to) if to as usize <= at).then_some(at);
        let mut back = steps.iter().enumerate().filter_map(goes_back);
        // A branch at the end is behind the steps of its part.
        back.all(|at| all.iter().any(|region| region.steps().contains(&at) || region.steps().end == at))
    }

    /// Its steps, but a branch at the end.
    fn steps(&self) -> Range<usize> {
        self.parts[0].steps.start..self.parts.last().map_or(0, |part| part.steps.end)
    }

    /// Whether it loads anything.
    pub(super) fn loads(&self, steps: &[Step]) -> bool {
        let mut loads = false;
        each(steps, self.steps(), |_, step| loads |= matches!(step.op, Op::Load(_)));
        loads
    }

    /// Where the engine calls the function: behind the join at the start, so that threads meet there.
    pub(super) fn entry(&self, steps: &[Step]) -> usize {
        let start = self.parts[0].steps.start;
        start + usize::from(matches!(steps[start].op, Op::Join))
    }

    /// `leads` are the steps where parts start.
    fn of(steps: &[Step], Range { start, end }: Range<usize>, leads: &[bool]) -> Option<Region> {
        let starts: Vec<usize> = (start..end).filter(|at| leads[*at]).collect();
        let mut exits: Vec<Pc> = Vec::new();
        let mut exit = |to: usize| {
            Goal::Exit(exits.iter().position(|exit| *exit as usize == to).unwrap_or_else(|| {
                exits.push(to as Pc);
                exits.len() - 1
            }))
        };
        let mut parts = Vec::new();
        for (number, first) in starts.iter().copied().enumerate() {
            let behind = starts.get(number + 1).copied().unwrap_or(end);
            let step = &steps[behind - 1];
            let mut goal = |to: usize| starts.binary_search(&to).map_or_else(|_| exit(to), Goal::Part);
            let next = goal(behind);
            let (last, to) = match step.op {
                Op::Branch(to) => (behind - 1, Some((goal(to as usize), step.counts))),
                // The engine executes these, and counts them.
                Op::Return | Op::Exit => (behind - 1, Some((exit(behind - 1), false))),
                _ => (behind, None),
            };
            let branch = to.map(|(to, counts)| Branch { guard: step.guard, to, counts });
            let depth = loops_at(steps, start, end, first);
            parts.push(Part { steps: Found { start: first, end: last }, branch, next, depth });
        }
        // A step that is both skipped and the start of a part would be executed twice.
        let whole = parts.iter().all(|part| {
            let mut end = part.steps.start;
            each_place(steps, part.steps.start..part.steps.end, |_, behind| end = behind);
            end == part.steps.end
        });
        let region = Region { parts, exits };
        // Threads would come from an exit to the region again.
        let leads_in = region.exits.contains(&(region.entry(steps) as Pc));
        (whole && !region.exits.is_empty() && !leads_in).then_some(region)
    }

    /// Whether a load of global memory goes on by many bytes with each round of a loop: see [`MAX_STEP`].
    fn streams(&self, kernel: &Kernel, steps: &[Step]) -> bool {
        let advances = Advances::of(kernel, steps, self.steps());
        let mut streams = false;
        each(steps, self.steps(), |_, step| {
            if let Op::Load(load) = &step.op
                && load.access.space != Space::Shared
                && load.access.stride.is_none()
                && load.access.width != Width::None
            {
                streams |= match advances.of_slot(load.access.base) {
                    Advance::By(bytes) => bytes.unsigned_abs() > MAX_STEP,
                    Advance::Unknown => true,
                    Advance::Anyhow => false,
                };
            }
        });
        streams
    }

    /// What the engine needs of each part.
    pub(super) fn describe(&self, steps: &[Step], mut site: usize, straight: bool) -> Vec<RegionPart> {
        let mut parts = Vec::new();
        for part in &self.parts {
            let Totals { counts, videos, .. } = part.steps.totals(steps);
            let branch = part.branch.filter(|branch| branch.counts);
            let goes_to = part.goes_to().filter(|_| straight);
            parts.push(RegionPart {
                start: part.steps.start as Pc,
                end: part.steps.end as Pc,
                counts,
                videos,
                // A branch without a guard is taken by all.
                counts_branch: branch.is_some_and(|branch| branch.guard.is_none()),
                counts_taken: branch.is_some_and(|branch| branch.guard.is_some()),
                goes_to: goes_to.map(|part| part as u32),
                others_take: goes_to.is_some_and(|to| part.branch.is_some_and(|branch| branch.to != Goal::Part(to))),
                site: site as u32,
            });
            site += part.steps.sites(steps);
        }
        parts
    }

    pub(super) fn sites(&self, steps: &[Step]) -> usize {
        self.parts.iter().map(|part| part.steps.sites(steps)).sum()
    }

    /// Steps of one round, about.
    pub(super) fn len(&self) -> usize {
        self.parts.iter().map(|part| part.steps.end - part.steps.start + 1).sum()
    }

    fn pc(&self, goal: Goal) -> usize {
        match goal {
            Goal::Part(part) => self.parts[part].steps.start,
            Goal::Exit(exit) => self.exits[exit] as usize,
        }
    }

    /// The steps that may follow a part.
    fn after(&self, part: usize) -> Vec<usize> {
        let Part { branch, next, .. } = self.parts[part];
        let falls = branch.is_none_or(|branch| branch.guard.is_some());
        branch.map(|branch| branch.to).into_iter().chain(falls.then_some(next)).map(|goal| self.pc(goal)).collect()
    }

    /// The steps behind the region to which a part leads.
    fn exits_of(&self, part: usize) -> impl Iterator<Item = Pc> {
        let steps = self.after(part).into_iter().map(|step| step as Pc);
        steps.filter(|step| self.exits.contains(step))
    }

    /// Whether threads that part from the others leave the region.
    fn is_straight(&self) -> bool {
        self.parts.iter().all(|part| match part.branch {
            Some(Branch { guard: Some(_), to, .. }) => {
                matches!((to, part.next), (Goal::Exit(_), Goal::Part(_)) | (Goal::Part(_), Goal::Exit(_)))
            }
            _ => true,
        })
    }

    /// Whether a part leads back to a goal that no other part leads to: then nobody else is there, as it was executed before.
    fn comes_back_alone(&self, goal: Goal, from: usize) -> bool {
        let leads = |part: &Part| {
            let falls = part.branch.is_none_or(|branch| branch.guard.is_some());
            part.branch.is_some_and(|branch| branch.to == goal) || falls && part.next == goal
        };
        let mut others = self.parts.iter().enumerate().filter(|(number, part)| *number != from && leads(part));
        matches!(goal, Goal::Part(part) if part <= from) && others.next().is_none()
    }
}

/// The number of loops of a range that a step is in.
fn loops_at(steps: &[Step], start: usize, end: usize, at: usize) -> u32 {
    let around = |(place, step): (usize, &Step)| match step.op {
        Op::Branch(target) => (start..=at).contains(&(target as usize)) && place >= at,
        _ => false,
    };
    steps.iter().enumerate().take(end).skip(start).map(|step| u32::from(around(step))).sum()
}

/// The place of a word of a part.
fn word_of(part: usize, word: usize) -> i32 {
    ((PARTS + WORDS * part + word) * 8) as i32
}

/// The place of an exit's mask.
fn exit_word(region: &Region, exit: usize) -> i32 {
    ((PARTS + WORDS * region.parts.len() + exit) * 8) as i32
}
