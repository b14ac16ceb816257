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
//! part, it goes over to the second one, which has the same homes.
//!
//! In most loops threads that part from the others leave it. In such a *straight* region all threads of the turn that have not left are at one
//! place, so homes need no masks: what a thread had is written to its column when it leaves, and nobody asks what its element becomes then.
//! Addresses of all elements mostly stay a row, or all the same, and are found without waiting for the mask, which would be known last.
//!
//! The function leaves early where a check of an address fails, and after a number of rounds. All threads of the turn are then at the start of a
//! part or at an exit, which the masks tell, and its columns are as there. `engine/block/regions.rs` says what happens then.

use std::collections::HashMap;

use super::assembler::{Condition, General, Jump, Place};
use super::emit::*;
use super::live::Live;
use super::vectors::Vectors;
use super::{Found, MAX_STEPS, each, is_served, places};
use crate::code::{Guard, Kernel, Linear, Op, Pc, RegionPart, Step};
use crate::column::{Area, Slot, Width};
use crate::memory::Space;

/// Parts of one region: their masks are looked at one by one.
const MAX_PARTS: usize = 48;
/// Bytes by which an address may go on with a round of a loop. Threads that read one behind another read a kilobyte together; a region would
/// read as little of it as one vector has, and go on to where the next round reads.
const MAX_STEP: u64 = 64;

// What a function is told, and tells: words of 64 bits.
/// The rounds that are left.
pub(crate) const ROUNDS: usize = 0;
/// The number of the part where a check failed, plus one.
pub(crate) const FAILED: usize = 1;
/// Where the masks of the exits go, of the turn.
pub(crate) const RECORD: usize = 2;
/// Where the mask of the turn is, for AVX2.
const ENTERED: usize = 3;
/// The number of the first turn, and whether its threads go on where they are, as their masks tell.
pub(crate) const FIRST_TURN: usize = 4;
pub(crate) const RESUMES: usize = 5;
/// Threads that leave, for AVX2.
const LEAVING: usize = 6;
/// Three words for each part, then one for each exit.
pub(crate) const PARTS: usize = 7;
/// The threads that are at a part, and the numbers of those that have executed it and have taken its branch.
pub(crate) const PENDING: usize = 0;
pub(crate) const EXECUTED: usize = 1;
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
                if start < end && others[end] == others[start] && parts[end] - parts[start] < MAX_PARTS {
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
            if let Some(region) = Region::of(steps, start, end).filter(|region| !region.streams(kernel, steps)) {
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
        let loads =
            |part: &Part| steps[part.steps.start..part.steps.end].iter().any(|step| matches!(step.op, Op::Load(_)));
        all.retain(|region| region.parts.iter().any(loads));
        let within = |at: usize| {
            let covers = |region: &Region| {
                let end = region.parts.last().map_or(0, |part| part.steps.end);
                (region.parts[0].steps.start..=end).contains(&at)
            };
            all.iter().any(covers)
        };
        let goes_back = |(at, step): (usize, &Step)| match step.op {
            Op::Branch(target) => target as usize <= at,
            _ => false,
        };
        steps.iter().enumerate().filter(|step| goes_back(*step)).all(|(at, _)| within(at))
    }

    /// Where the engine calls the function: behind the join at the start, so that threads meet there.
    pub(super) fn entry(&self, steps: &[Step]) -> usize {
        let start = self.parts[0].steps.start;
        start + usize::from(matches!(steps[start].op, Op::Join))
    }

    fn of(steps: &[Step], start: usize, end: usize) -> Option<Region> {
        let mut leads = vec![false; end - start + 1];
        leads[0] = true;
        for (at, step) in steps.iter().enumerate().take(end).skip(start) {
            match step.op {
                Op::Branch(target) => {
                    leads[at + 1 - start] = true;
                    if (start..end).contains(&(target as usize)) {
                        leads[target as usize - start] = true;
                    }
                }
                Op::Return | Op::Exit => leads[at + 1 - start] = true,
                // Nothing goes to what is left out.
                _ => {}
            }
        }
        let starts: Vec<usize> = (start..end).filter(|at| leads[at - start]).collect();
        if starts.len() > MAX_PARTS {
            return None;
        }
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
            each_place(steps, part.steps, |_, behind| end = behind);
            end == part.steps.end
        });
        let region = Region { parts, exits };
        // Threads would come from an exit to the region again.
        let leads_in = region.exits.contains(&(region.entry(steps) as Pc));
        (whole && !region.exits.is_empty() && !leads_in).then_some(region)
    }

    /// Whether a load of global memory goes on by many bytes with each round of a loop: see [`MAX_STEP`].
    fn streams(&self, kernel: &Kernel, steps: &[Step]) -> bool {
        let range = self.parts[0].steps.start..self.parts.last().map_or(0, |part| part.steps.end);
        let advances = Advances::of(kernel, steps, range.clone());
        let mut streams = false;
        each(steps, range, |_, step| {
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
    pub(super) fn describe(&self, steps: &[Step], mut site: usize) -> Vec<RegionPart> {
        let mut parts = Vec::new();
        for part in &self.parts {
            let (mut counts, mut videos) = (0, 0);
            each_place(steps, part.steps, |at, _| {
                counts += u32::from(steps[at].counts);
                videos += u32::from(matches!(steps[at].op, Op::Video(_)));
                if let Op::Skip { counts: skipped, .. } = steps[at].op {
                    counts += skipped;
                }
            });
            let branch = part.branch.filter(|branch| branch.counts);
            parts.push(RegionPart {
                start: part.steps.start as Pc,
                end: part.steps.end as Pc,
                counts,
                videos,
                // A branch without a guard is taken by all.
                counts_branch: branch.is_some_and(|branch| branch.guard.is_none()),
                counts_taken: branch.is_some_and(|branch| branch.guard.is_some()),
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

    /// Whether threads that part from the others leave the region.
    fn is_straight(&self) -> bool {
        self.parts.iter().all(|part| match part.branch {
            Some(Branch { guard: Some(_), to, .. }) => [to, part.next].iter().any(|goal| matches!(goal, Goal::Exit(_))),
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

/// All steps of a part, also those that say what is left out; and where each leads to.
fn each_place(steps: &[Step], part: Found, mut see: impl FnMut(usize, usize)) {
    let mut at = part.start;
    while at < part.end {
        let behind = match steps[at].op {
            Op::Skip { steps, .. } => at + steps as usize,
            _ => at + 1,
        };
        see(at, behind);
        at = behind;
    }
}

/// How a value changes from one round of a loop to the next.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Advance {
    /// By a number; not at all, if that is zero.
    By(i64),
    /// By something that is the same in each round.
    Unknown,
    /// It depends on what was read, or on more than sums and products.
    Anyhow,
}

impl Advance {
    fn plus(self, other: Advance) -> Advance {
        match (self, other) {
            (Advance::Anyhow, _) | (_, Advance::Anyhow) => Advance::Anyhow,
            (Advance::By(a), Advance::By(b)) => Advance::By(a.wrapping_add(b)),
            _ => Advance::Unknown,
        }
    }
}

/// How the registers of a region change.
struct Advances<'k> {
    kernel: &'k Kernel,
    slots: Vec<(Slot, Advance)>,
}

impl Advances<'_> {
    /// First, each register that the range writes is one that nothing is known of; then what a register has added to itself, at one place, is
    /// known, and last what follows from these.
    fn of<'k>(kernel: &'k Kernel, steps: &[Step], range: std::ops::Range<usize>) -> Advances<'k> {
        let mut written: Vec<(Slot, u32)> = Vec::new();
        let mut advances = Advances { kernel, slots: Vec::new() };
        each(steps, range.clone(), |_, step| {
            for (slot, _) in step.op.results() {
                match written.iter_mut().find(|(other, _)| *other == slot) {
                    Some((_, times)) => *times += 1,
                    None => written.push((slot, 1)),
                }
            }
        });
        advances.slots.extend(written.iter().map(|(slot, _)| (*slot, Advance::Anyhow)));
        each(steps, range.clone(), |_, step| {
            let Op::Compute { linear: Linear::Sum, operands, .. } = &step.op else { return };
            let [a, b, ..] = operands.sources;
            let d = operands.results[0];
            let by = if a == d { b } else { a };
            if (a == d || b == d) && written.contains(&(d, 1)) && advances.of_slot(by) == Advance::By(0) {
                let width = d.register_width().unwrap_or(Width::Word);
                advances.set(d, advances.immediate(by, width).map_or(Advance::Unknown, Advance::By));
            }
        });
        // Each pass carries what is known over at least one step.
        for _ in 0..4 {
            each(steps, range.clone(), |_, step| {
                let Op::Compute { linear, operands, .. } = &step.op else { return };
                let d = operands.results[0];
                if advances.of_slot(d) == Advance::Anyhow && written.contains(&(d, 1)) {
                    advances.set(d, advances.result(*linear, operands.sources));
                }
            });
        }
        advances
    }

    fn set(&mut self, slot: Slot, advance: Advance) {
        if let Some((_, old)) = self.slots.iter_mut().find(|(other, _)| *other == slot) {
            *old = advance;
        }
    }

    fn of_slot(&self, slot: Slot) -> Advance {
        self.slots.iter().find(|(other, _)| *other == slot).map_or(Advance::By(0), |(_, advance)| *advance)
    }

    fn immediate(&self, slot: Slot, width: Width) -> Option<i64> {
        let low = immediate(self.kernel, slot)?;
        let bytes = self.kernel.constants.get(slot.offset() as usize..)?;
        match width {
            Width::Double => Some(i64::from_le_bytes(*bytes.first_chunk()?)),
            _ => Some(i64::from(low as i32)),
        }
    }

    fn result(&self, linear: Linear, sources: [Slot; 4]) -> Advance {
        let [a, b, c, _] = sources.map(|slot| self.of_slot(slot));
        let scaled = |value: Advance, factor: Slot, width| match (value, self.immediate(factor, width)) {
            (Advance::By(0), _) => Advance::By(0),
            (Advance::By(by), Some(factor)) => Advance::By(by.wrapping_mul(factor)),
            (Advance::Anyhow, _) => Advance::Anyhow,
            _ => Advance::Unknown,
        };
        let product = |width| match (a, b) {
            (_, Advance::By(0)) => scaled(a, sources[1], width),
            (Advance::By(0), _) => scaled(b, sources[0], width),
            _ => Advance::Anyhow,
        };
        match linear {
            Linear::No | Linear::Order { .. } => Advance::Anyhow,
            Linear::Sum => a.plus(b),
            Linear::Difference => match b {
                Advance::By(by) => a.plus(Advance::By(by.wrapping_neg())),
                other => a.plus(other),
            },
            Linear::Product(width) => product(width).plus(c),
            Linear::WideProduct { .. } => product(Width::Word).plus(c),
            Linear::Shift => match (a, self.immediate(sources[1], Width::Word)) {
                (Advance::By(by), Some(shift @ 0..32)) => Advance::By(by.wrapping_shl(shift as u32)),
                (Advance::By(0), _) => Advance::By(0),
                (Advance::Anyhow, _) => Advance::Anyhow,
                _ => Advance::Unknown,
            },
            Linear::Extension | Linear::Low => a,
        }
    }
}

/// The place of a word of a part.
fn word_of(part: usize, word: usize) -> i32 {
    ((PARTS + WORDS * part + word) * 8) as i32
}

/// What is written behind the code of a region: where it leaves, and where threads part.
#[derive(Default)]
struct Stubs {
    /// Jumps from failed checks of a part, and whether its threads are all of the turn.
    failed: Vec<(Jump, usize, bool)>,
    /// Jumps where no rounds are left, with the part that threads come to, and whether these are all of the turn.
    over: Vec<(Jump, usize, bool)>,
    /// Where threads part: the jump, the part, and the truths of its guard.
    parted: Vec<(Jump, usize, u8)>,
}

impl Writer<'_> {
    /// A region as a function; where it starts. `None` if something is too far away or too much. `sites` is the number of its first site.
    ///
    /// The function takes the starts of the areas, the mask of the block, the number of turns, the table of sites and the state, by the System V
    /// convention. It returns the number of turns that are left, with the one that it is at. Beside it are the columns that it writes.
    pub(super) fn region(
        &mut self,
        steps: &[Step],
        region: &Region,
        live: &Live,
        sites: usize,
    ) -> Option<(usize, Vec<(Slot, Width)>)> {
        let start = self.asm.bytes.len();
        let written = self.region_of(steps, region, live, sites);
        self.homes.clear();
        self.straight = false;
        if written.is_none() {
            self.asm.forget(start);
        }
        written
    }

    fn region_of(
        &mut self,
        steps: &[Step],
        region: &Region,
        live: &Live,
        mut site: usize,
    ) -> Option<(usize, Vec<(Slot, Width)>)> {
        let start = self.asm.bytes.len();
        self.homes.clear();
        self.spills = 0;
        self.accesses = usize::MAX;
        let mut used = vec![Area::Samples];
        let mut sites = Vec::new();
        let (mut found, mut needed, mut written) = (Vec::new(), 0, Vec::new());
        for (number, part) in region.parts.iter().enumerate() {
            let lines = self.part_lines(steps, region, number, live, site)?;
            self.areas().into_iter().for_each(|area| {
                if !used.contains(&area) {
                    used.push(area);
                }
            });
            found.push(self.crossings(part.depth));
            self.add_stored(&mut written);
            needed = needed.max(self.most_registers(&lines));
            sites.push(site);
            site += part.steps.sites(steps);
        }
        self.find_homes(&found, needed, region, live);
        self.straight = region.is_straight();
        self.leaving = region.exits.iter().map(|exit| self.homes_at(*exit, live)).collect();
        let saved = &[General::Rbx, General::Rbp, TURN, SCRATCH_2, SCRATCH_3, STATE];
        saved.iter().for_each(|register| self.asm.push(*register));
        self.asm.copy(STATE, General::R8);
        self.asm.copy(SITES, General::Rcx);
        let frame = self.frame();
        self.asm.load(TURN, STATE, FIRST_TURN as i32 * 8);
        self.load_areas(&used);
        if self.vectors == Vectors::Avx2 {
            self.asm.keep(MASK, STATE, ENTERED as i32 * 8);
        }
        let homes = self.homes.clone();
        self.asm.compare_at(STATE, RESUMES as i32 * 8, 0);
        let resumes = self.asm.jump_if(Condition::NotZero);
        let mut stubs = Stubs::default();
        // A turn: which of its threads are there.
        let turn = self.asm.here();
        if self.vectors == Vectors::Avx2 {
            self.asm.load(MASK, STATE, ENTERED as i32 * 8);
        }
        self.turn_mask(SCRATCH_2);
        self.asm.test_self(SCRATCH_2);
        let skip = self.asm.jump_if(Condition::Zero);
        homes.iter().for_each(|home| self.move_home(home, false));
        self.compare_with_all(SCRATCH_2);
        let together = self.asm.jump_if(Condition::Zero);
        self.asm.keep(SCRATCH_2, STATE, word_of(0, PENDING));
        // With masks.
        let mut labels = Vec::new();
        let mut bodies = Vec::new();
        let mut passes = Passes::default();
        for (number, site) in sites.iter().copied().enumerate() {
            labels.push(self.asm.here());
            self.asm.compare_at(STATE, word_of(number, PENDING), 0);
            let none = self.asm.jump_if(Condition::Zero);
            self.set_active(word_of(number, PENDING));
            if let Some(jump) = passes.goes_on.take() {
                self.asm.land(jump);
            }
            bodies.push(self.asm.here());
            self.masked = true;
            let nobody = passes.nobody.take();
            let guard = self.write_part(steps, region, number, live, site)?;
            let leaves = std::mem::take(&mut self.leaves);
            stubs.failed.extend(leaves.into_iter().map(|jump| (jump, number, false)));
            passes = self.end_with_masks(region, number, guard, &labels, &bodies, &mut stubs);
            nobody.into_iter().chain([none]).for_each(|jump| self.asm.land(jump));
        }
        // The end of a turn.
        let stored = self.straight.then(|| self.asm.jump());
        let turn_end = self.asm.here();
        homes.iter().filter(|home| home.written).for_each(|home| self.move_home(home, true));
        if let Some(stored) = stored {
            self.asm.land(stored);
        }
        labels.push(if self.straight { self.asm.here() } else { turn_end });
        self.asm.land(skip);
        if region.exits.len() > 1 {
            self.asm.load(SCRATCH, STATE, RECORD as i32 * 8);
            for exit in 0..region.exits.len() {
                let at = exit_word(region, exit);
                self.asm.load(SCRATCH_2, STATE, at);
                self.asm.keep(SCRATCH_2, SCRATCH, exit as i32 * 8);
                self.asm.set_at(STATE, at, 0);
            }
            self.asm.add_at(STATE, RECORD as i32 * 8, region.exits.len() as i32 * 8);
        }
        match self.vectors {
            Vectors::Avx512 => self.asm.add(MASK, self.vectors.lanes() as i32),
            Vectors::Avx2 => self.asm.add_at(STATE, ENTERED as i32 * 8, self.vectors.lanes() as i32),
        }
        self.next_turn(&used);
        self.asm.add(TURN, 1);
        self.asm.decrement(General::Rdx);
        self.asm.jump_back_unless_zero(turn);
        let ended = self.asm.jump();
        // Without masks.
        self.asm.land(together);
        self.masked = false;
        let mut starts: Vec<Place> = Vec::new();
        let mut ahead: Vec<(Jump, usize)> = Vec::new();
        for (number, site) in sites.iter().copied().enumerate() {
            let (here, behind): (Vec<_>, Vec<_>) = ahead.into_iter().partition(|(_, part)| *part == number);
            ahead = behind;
            here.into_iter().for_each(|(jump, _)| self.asm.land(jump));
            starts.push(self.asm.here());
            let guard = self.write_part(steps, region, number, live, site)?;
            let leaves = std::mem::take(&mut self.leaves);
            stubs.failed.extend(leaves.into_iter().map(|jump| (jump, number, true)));
            let mut together = Together { region, turn_end, starts: &starts, ahead: &mut ahead };
            self.end_together(number, guard, &mut together, &mut stubs);
        }
        self.asm.land(resumes);
        self.asm.set_at(STATE, RESUMES as i32 * 8, 0);
        homes.iter().for_each(|home| self.move_home(home, false));
        self.asm.jump_back(labels[0]);
        let stored = self.write_stubs(region, &labels, stubs);
        // Leaves with what homes have.
        homes.iter().filter(|home| home.written).for_each(|home| self.move_home(home, true));
        stored.into_iter().chain([ended]).for_each(|jump| self.asm.land(jump));
        self.asm.copy(General::Rax, General::Rdx);
        Some((self.end(start, frame, &[], saved)?, written))
    }

    /// Writes the lines of a part; the truths of its guard, if its branch has one.
    fn write_part(
        &mut self,
        steps: &[Step],
        region: &Region,
        number: usize,
        live: &Live,
        site: usize,
    ) -> Option<Option<u8>> {
        let lines = self.part_lines(steps, region, number, live, site)?;
        self.turn(&lines);
        Some(self.guard_truths(&lines))
    }

    fn part_lines<'s>(
        &mut self,
        steps: &'s [Step],
        region: &Region,
        number: usize,
        live: &Live,
        site: usize,
    ) -> Option<Vec<Line<'s>>> {
        let part = region.parts[number];
        let places = places(steps, part.steps.start..part.steps.end);
        let behind = Behind { steps: &region.after(number), guard: part.guard(), later: &[] };
        self.lines(steps, &places, &behind, live, site)
    }

    /// Adds the threads of a mask to a goal. `once` says whether nobody else can be there.
    fn deliver(&mut self, region: &Region, goal: Goal, mask: General, once: bool) {
        match goal {
            Goal::Part(part) if once => self.asm.keep(mask, STATE, word_of(part, PENDING)),
            Goal::Part(part) => self.asm.or_to(mask, STATE, word_of(part, PENDING)),
            Goal::Exit(exit) => {
                if self.straight {
                    self.store_leaving(exit, mask);
                }
                match once {
                    // With one exit, it has all that are nowhere else.
                    _ if region.exits.len() == 1 => {}
                    true => self.asm.keep(mask, STATE, exit_word(region, exit)),
                    false => self.asm.or_to(mask, STATE, exit_word(region, exit)),
                }
            }
        }
    }

    /// The homes that must be in their columns at an exit.
    fn homes_at(&self, exit: Pc, live: &Live) -> Vec<Home> {
        let needed = |home: &&Home| home.written && live.at(exit as usize, home.slot);
        self.homes.iter().filter(needed).copied().collect()
    }

    /// Writes what threads of a straight region leave with to their columns.
    fn store_leaving(&mut self, exit: usize, mask: General) {
        let homes = self.leaving[exit].clone();
        if homes.is_empty() {
            return;
        }
        // Without a jump where the instruction writes nothing then; threads leave unpredictably.
        let skip = (self.vectors == Vectors::Avx2).then(|| {
            self.asm.test_self(mask);
            self.asm.jump_if(Condition::Zero)
        });
        self.set_active_from(mask, LEAVING as i32 * 8);
        homes.iter().for_each(|home| self.store_home(home));
        if let Some(skip) = skip {
            self.asm.land(skip);
        }
    }

    /// The end of a part with masks.
    fn end_with_masks(
        &mut self,
        region: &Region,
        number: usize,
        guard: Option<u8>,
        labels: &[Place],
        bodies: &[Place],
        stubs: &mut Stubs,
    ) -> Passes {
        let Part { branch, next, .. } = region.parts[number];
        let own = word_of(number, PENDING);
        self.asm.count_ones_at(SCRATCH, STATE, own);
        self.asm.add_to(SCRATCH, STATE, word_of(number, EXECUTED));
        let Some((truths, branch)) = guard.zip(branch) else {
            self.asm.load(SCRATCH_3, STATE, own);
            self.asm.set_at(STATE, own, 0);
            let goal = branch.map_or(next, |branch| branch.to);
            self.deliver(region, goal, SCRATCH_3, region.comes_back_alone(goal, number));
            if let Goal::Part(part) = goal
                && part <= number
            {
                self.count_round(stubs, part, false);
                self.asm.jump_back(labels[part]);
            }
            return Passes::default();
        };
        let when = branch.guard.is_some_and(|guard| guard.when);
        let kept = self.divide(truths, when, own);
        self.asm.set_at(STATE, own, 0);
        if branch.counts {
            self.asm.count_ones(SCRATCH, SCRATCH_3);
            self.asm.add_to(SCRATCH, STATE, word_of(number, TAKEN));
        }
        let alone = self.straight || region.comes_back_alone(branch.to, number);
        self.deliver(region, branch.to, SCRATCH_3, alone && matches!(branch.to, Goal::Part(_)));
        self.deliver(region, next, SCRATCH_2, self.straight && matches!(next, Goal::Part(_)));
        if let Goal::Part(part) = branch.to
            && part <= number
        {
            self.asm.test_self(SCRATCH_3);
            let none = self.asm.jump_if(Condition::Zero);
            self.count_round(stubs, part, false);
            match kept {
                // Its mask need not come from memory.
                Some([taken, _]) if alone => {
                    self.copy_truths(ACTIVE, taken);
                    self.asm.jump_back(bodies[part]);
                }
                _ => self.asm.jump_back(labels[part]),
            }
            self.asm.land(none);
        }
        match kept {
            Some([_, rest]) if self.straight && next == Goal::Part(number + 1) => {
                self.asm.test_self(SCRATCH_2);
                let nobody = Some(self.asm.jump_if(Condition::Zero));
                self.copy_truths(ACTIVE, rest);
                Passes { nobody, goes_on: Some(self.asm.jump()) }
            }
            _ => Passes::default(),
        }
    }

    /// One round less; leaves if none is left.
    fn count_round(&mut self, stubs: &mut Stubs, part: usize, all: bool) {
        self.asm.add_at(STATE, ROUNDS as i32 * 8, -1);
        let over = self.asm.jump_if(Condition::Sign);
        stubs.over.push((over, part, all));
    }

    /// The end of a part where all threads of the turn are together.
    fn end_together(&mut self, number: usize, guard: Option<u8>, together: &mut Together<'_>, stubs: &mut Stubs) {
        let Part { branch, next, .. } = together.region.parts[number];
        let all = self.ones_of_all();
        self.asm.add_at(STATE, word_of(number, EXECUTED), all);
        let Some((truths, branch)) = guard.zip(branch) else {
            return self.go_together(number, branch.map_or(next, |branch| branch.to), true, together, stubs);
        };
        let when = branch.guard.is_some_and(|guard| guard.when);
        let [none, some] = self.jumps_by_truths(truths);
        stubs.parted.push((some, number, truths));
        let mut taken = |this: &mut Self| {
            if branch.counts {
                this.asm.add_at(STATE, word_of(number, TAKEN), all);
            }
            this.go_together(number, branch.to, false, together, stubs);
        };
        // Here all are true.
        if when {
            taken(self);
            self.asm.land(none);
            self.go_together(number, next, true, together, stubs);
        } else {
            let over_taken = self.asm.jump();
            self.asm.land(none);
            taken(self);
            self.asm.land(over_taken);
            self.go_together(number, next, true, together, stubs);
        }
    }

    /// All threads go on. `last` says whether nothing of the part is written behind this.
    fn go_together(&mut self, number: usize, goal: Goal, last: bool, together: &mut Together<'_>, stubs: &mut Stubs) {
        match goal {
            Goal::Exit(exit) => {
                if together.region.exits.len() > 1 {
                    self.set_all_at(exit_word(together.region, exit));
                }
                self.asm.jump_back(together.turn_end);
            }
            Goal::Part(part) if part <= number => {
                self.count_round(stubs, part, true);
                self.asm.jump_back(together.starts[part]);
            }
            Goal::Part(part) if last && part == number + 1 => {}
            Goal::Part(part) => {
                let jump = self.asm.jump();
                together.ahead.push((jump, part));
            }
        }
    }

    /// What is told before the function leaves, and where threads part. The last of it goes on where homes are stored; jumps are returned that
    /// need not.
    fn write_stubs(&mut self, region: &Region, labels: &[Place], stubs: Stubs) -> Vec<Jump> {
        self.masked = true;
        for (jump, number, truths) in stubs.parted {
            self.asm.land(jump);
            let Part { branch: Some(branch), next, .. } = region.parts[number] else { continue };
            let when = branch.guard.is_some_and(|guard| guard.when);
            self.divide_all(truths, when);
            if branch.counts {
                self.asm.count_ones(SCRATCH, SCRATCH_3);
                self.asm.add_to(SCRATCH, STATE, word_of(number, TAKEN));
            }
            self.deliver(region, branch.to, SCRATCH_3, true);
            self.deliver(region, next, SCRATCH_2, branch.to != next);
            match branch.to {
                Goal::Part(part) if part <= number => self.asm.jump_back(labels[part]),
                _ => self.asm.jump_back(labels[number + 1]),
            }
        }
        let (mut ends, mut stored) = (Vec::new(), Vec::new());
        let mut end = |this: &mut Self, part: usize, all: bool| {
            if all {
                this.set_all_at(word_of(part, PENDING));
            } else if this.straight {
                this.set_active(word_of(part, PENDING));
                let homes = this.homes.clone();
                homes.iter().filter(|home| home.written).for_each(|home| this.store_home(home));
                return stored.push(this.asm.jump());
            }
            ends.push(this.asm.jump());
        };
        for (jump, part, all) in stubs.over {
            self.asm.land(jump);
            end(self, part, all);
        }
        let mut failed = stubs.failed;
        while let Some(&(_, number, all)) = failed.last() {
            let (these, others): (Vec<_>, Vec<_>) =
                failed.into_iter().partition(|(_, part, of_all)| (*part, *of_all) == (number, all));
            failed = others;
            these.into_iter().for_each(|(jump, ..)| self.asm.land(jump));
            self.asm.set_at(STATE, FAILED as i32 * 8, number as i32 + 1);
            end(self, number, all);
        }
        ends.into_iter().for_each(|end| self.asm.land(end));
        stored
    }

    /// Which registers get homes: those that parts hand over most often.
    fn find_homes(&mut self, found: &[Vec<Crossing>], needed: usize, region: &Region, live: &Live) {
        let mut all: Vec<Crossing> = Vec::new();
        for (number, crossings) in found.iter().enumerate() {
            let start = region.parts[number].steps.start;
            let after = region.after(number);
            for crossing in crossings {
                let lives = |step: &usize| live.at(*step, crossing.slot);
                // Special registers live everywhere.
                let crosses = crossing.slot.area() == Area::Thread
                    || lives(&start)
                    || crossing.written && after.iter().any(lives);
                match all.iter_mut().find(|other| other.slot == crossing.slot) {
                    Some(other) => {
                        other.weight = other.weight.saturating_add(crossing.weight);
                        other.written |= crossing.written;
                        other.crosses |= crosses;
                    }
                    None => all.push(Crossing { crosses, ..*crossing }),
                }
            }
        }
        all.retain(|crossing| crossing.crosses);
        all.sort_by_key(|crossing| std::cmp::Reverse(crossing.weight));
        let mut left = self.vectors.homes(needed);
        let mut next = self.vectors.values();
        for crossing in all {
            let needed = 1 + usize::from(crossing.width == Width::Double);
            if needed <= left {
                left -= needed;
                next -= needed as u8;
                let registers = [next, next + needed as u8 - 1];
                let Crossing { slot, width, written, .. } = crossing;
                self.homes.push(Home { slot, width, registers, written });
            }
        }
    }
}

/// Jumps from the end of a part with masks: over the next part, and to it with the mask where it must be.
#[derive(Default)]
struct Passes {
    nobody: Option<Jump>,
    goes_on: Option<Jump>,
}

/// Where the parts of a turn whose threads are together go on.
struct Together<'r> {
    region: &'r Region,
    turn_end: Place,
    starts: &'r [Place],
    /// Jumps to parts that are not written yet.
    ahead: &'r mut Vec<(Jump, usize)>,
}

/// A register that a part reads or writes.
#[derive(Clone, Copy, Debug)]
pub(super) struct Crossing {
    pub(super) slot: Slot,
    pub(super) width: Width,
    pub(super) written: bool,
    pub(super) weight: u64,
    pub(super) crosses: bool,
}

/// The place of an exit's mask.
fn exit_word(region: &Region, exit: usize) -> i32 {
    ((PARTS + WORDS * region.parts.len() + exit) * 8) as i32
}
