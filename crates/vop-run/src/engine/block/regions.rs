//! Regions of machine code: loops that each turn of threads executes by itself.
//!
//! A region is executed as a whole or not at all, so that a block does the same as without machine code. Where a check fails, columns become
//! again what they were before: if the address reaches an allocation that the region did not know, it starts again, and if it reaches none,
//! all threads execute the loop step by step, so that the error is that of the thread which fails first.

#![allow(unsafe_code, reason = "columns are raw memory")]

use super::groups::{Wait, count, subtract, union};
use super::{Failure, Worker};
use crate::code::{Pc, Region};
use crate::column::{Area, Slot, WARP, Width};
use crate::jit;
use crate::jit::region::{EXECUTED, FAILED, FIRST_TURN, PARTS, PENDING, RECORD, RESUMES, ROUNDS, TAKEN, WORDS};
use crate::jit::steady::STEADY_WORDS;

/// How often a region starts again for allocations that it did not know.
const MAX_TRIES: usize = 8;

/// Whether a region was executed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Entered {
    /// Not at all: its steps are to be.
    No,
    Yes,
}

/// What regions of a worker need.
#[derive(Debug, Default)]
pub(super) struct Regions {
    /// What they are told and tell.
    state: Vec<u64>,
    /// The columns that they write, as they were before.
    columns: Vec<u8>,
    /// Whether the block executes all loops step by step.
    are_left: bool,
    /// The region that the block came by last, and how often threads had parted by then.
    passed: (u32, u64),
    /// The rounds since it came to this region.
    rounds: u32,
    /// How often threads have parted.
    pub(super) parted: u64,
    /// Regions in whose first round threads have parted in some block.
    part_early: Vec<bool>,
}

impl Regions {
    /// A new block.
    pub(super) fn start(&mut self) {
        (self.are_left, self.passed) = (false, (u32::MAX, 0));
    }

    /// Whether a region pays, that a block comes to. It does where threads part in its loop: each round would make groups, and go over all
    /// threads for the few that are still there. While they stay together, runs are faster, as the steps of several turns overlap.
    #[inline(always)]
    pub(super) fn pays(&mut self, number: u32) -> bool {
        if self.passed == (number, self.parted) {
            self.rounds += 1;
            return false;
        }
        self.pays_now(number)
    }

    /// The same where the block did not come by since threads parted.
    #[inline(never)]
    fn pays_now(&mut self, number: u32) -> bool {
        let at = number as usize;
        if self.part_early.len() <= at {
            self.part_early.resize(at + 1, false);
        }
        let parts = self.passed.0 == number;
        self.part_early[at] |= parts && self.rounds == 1;
        self.rounds = if parts { self.rounds + 1 } else { 1 };
        self.passed = (number, self.parted);
        parts || self.part_early[at]
    }
}

impl Worker<'_> {
    /// Executes a region for the running group.
    #[inline(never)]
    pub(super) fn region(&mut self, region: &Region) -> Result<Entered, Failure> {
        let sampled = usize::from(self.relies_on_samples);
        if self.loops.are_left || region.loading.is_some_and(|number| self.runs[sampled].gives_up(number)) {
            return Ok(Entered::No);
        }
        let (lanes, exits) = (region.lanes as usize, region.exits.len());
        let turns = self.reach.file.warps * WARP / lanes;
        let words = PARTS + WORDS * region.parts.len() + exits + STEADY_WORDS * region.steady as usize;
        let records = words..words + if exits > 1 { turns * exits } else { 0 };
        if region.loading.is_some() {
            self.keep_columns(region);
        }
        let mut state = std::mem::take(&mut self.loops.state);
        let reset = |state: &mut Vec<u64>| {
            state.clear();
            state.resize(records.end, 0);
            state[RECORD] = state.as_mut_ptr().wrapping_add(records.start) as u64;
        };
        reset(&mut state);
        let (mut left, mut tries, mut counted) = (turns, 0, (0, 0));
        // Where a long loop was looked at last: the state, and how many turns were left.
        let mut seen: Option<(Vec<u64>, usize)> = None;
        let result = loop {
            state[ROUNDS] = region.rounds;
            left = self.call_region(region, &mut state, turns - left, left);
            if left == 0 || state[FAILED] == 0 {
                let all = executed(region, &state);
                self.done.executed += all.0 - counted.0;
                self.done.video += all.1 - counted.1;
                counted = all;
                if left == 0 {
                    break Ok(Entered::Yes);
                }
                self.meter.over += turns as u64;
                if let Err(failure) = self.look() {
                    break Err(failure);
                }
                state[RESUMES] = 1;
                seen = Some((state.clone(), left));
                if region.loading.is_some() {
                    self.keep_columns(region);
                    // Threads that are parked may be those that the loop waits for.
                    if self.groups.any_to_meet() {
                        self.loops.are_left = true;
                        break Ok(Entered::Yes);
                    }
                }
                continue;
            }
            tries += 1;
            let known = tries < MAX_TRIES && self.finds_site(region, &state, turns - left);
            self.restore_columns(region);
            match &seen {
                Some((at, turns)) => {
                    state.copy_from_slice(at);
                    left = *turns;
                }
                None => {
                    reset(&mut state);
                    left = turns;
                }
            }
            if !known {
                self.loops.are_left = true;
                break Ok(if seen.is_none() { Entered::No } else { Entered::Yes });
            }
        };
        if matches!(result, Ok(Entered::Yes)) {
            match (left, exits) {
                (0, 1) => self.running.pc = region.exits[0],
                _ => self.regroup(region, &state, &state[records.clone()], turns - left),
            }
        }
        self.loops.state = state;
        result
    }

    /// Calls the function for the turns from `first` on; returns how many are left.
    fn call_region(&mut self, region: &Region, state: &mut [u64], first: usize, turns: usize) -> usize {
        let thread = first * region.lanes as usize;
        let mut bases = self.reach.file.bases;
        // Samples are found by the number of the turn, and the block's area is the same for all.
        for area in Area::ALL {
            let base = &mut bases[area as usize];
            *base = base.wrapping_add(thread * area.bytes());
        }
        state[FIRST_TURN] = first as u64;
        let mask = self.running.mask[thread..].as_ptr();
        let sites = &mut self.runs[usize::from(self.relies_on_samples)].sites;
        // SAFETY: the steps were translated for this file and these sites, the mask has a byte for each of its threads, and the state has the
        // words that the region asks for.
        unsafe { (region.function)(bases.as_ptr(), mask, turns, sites.as_mut_ptr(), state.as_mut_ptr()) }
    }

    /// A check of a part has failed for a turn: finds out where it reaches. Returns whether that is memory that the region did not know.
    #[cold]
    fn finds_site(&mut self, region: &Region, state: &[u64], turn: usize) -> bool {
        self.count_failure(region.loading);
        let number = state[FAILED] as usize - 1;
        let (part, lanes) = (region.parts[number], region.lanes as usize);
        let mut mask = vec![0; self.reach.lanes];
        let pending = state[PARTS + WORDS * number + PENDING];
        mask[turn * lanes..][..lanes].copy_from_slice(&bytes_of(pending, lanes)[..lanes]);
        let sampled = usize::from(self.relies_on_samples);
        let before = self.runs[sampled].sites.clone();
        let steps = self.launch.own_steps(self.relies_on_samples);
        let places = jit::places(steps, part.start as usize..part.end as usize);
        let fault = self.step_through(&places, &mut (part.site as usize), &mask);
        let changed = self.runs[sampled].sites.iter().zip(&before).any(|(new, old)| !new.is_of_same(old));
        fault.is_none() && changed
    }

    /// Makes groups of the threads of a region by the steps that they have come to: those of the turns before `turn` are at exits, those of this
    /// one where the state tells, and the others at the start. The group that is furthest behind goes on.
    fn regroup(&mut self, region: &Region, state: &[u64], records: &[u64], turn: usize) {
        let (lanes, exits) = (region.lanes as usize, region.exits.len());
        let entered = std::mem::take(&mut self.running.mask);
        let mut places: Vec<(Pc, Vec<u8>)> = Vec::new();
        let mut put = |pc: Pc, first: usize, bytes: &[u8]| {
            if bytes.iter().all(|byte| *byte == 0) {
                return;
            }
            let at = places.iter().position(|(place, _)| *place == pc).unwrap_or_else(|| {
                places.push((pc, vec![0; entered.len()]));
                places.len() - 1
            });
            union(&mut places[at].1[first..], bytes);
        };
        // With one exit there are no records, and its word is zero: see below.
        let (parts, at_exits) = state[PARTS..].split_at(WORDS * region.parts.len());
        let at_exits = [at_exits[..exits].to_vec()];
        let before = records.chunks_exact(exits).take(turn).map(<[u64]>::to_vec);
        let is_left = turn * lanes < entered.len();
        for (number, words) in before.chain(at_exits.into_iter().filter(|_| is_left)).enumerate() {
            for (pc, word) in region.exits.iter().zip(words) {
                put(*pc, number * lanes, &bytes_of(word, lanes)[..lanes]);
            }
        }
        // One exit has all that are nowhere else, and no mask.
        let end = (turn * lanes + lanes).min(entered.len());
        let mut rest = entered[..end].to_vec();
        if is_left {
            let first = turn * lanes;
            for (part, words) in region.parts.iter().zip(parts.chunks_exact(WORDS)) {
                let mask = bytes_of(words[PENDING], lanes);
                put(part.start, first, &mask[..lanes]);
                subtract(&mut rest[first..], &mask[..lanes]);
            }
            put(region.parts[0].start, end, &entered[end..]);
        }
        if let [exit] = region.exits[..] {
            put(exit, 0, &rest);
        }
        let frame = self.running.frame;
        places.sort_by(|(a, _), (b, _)| self.frames.compare((frame, *a), (frame, *b)));
        let mut places = places.into_iter();
        if let Some((pc, mask)) = places.next() {
            (self.running.active, self.running.pc, self.running.mask) = (count(&mask), pc, mask);
        }
        for (pc, mask) in places {
            self.groups.park(&self.frames, frame, pc, mask, Wait::Ready);
        }
    }

    /// The bytes of a column.
    fn column(&self, slot: Slot, width: Width) -> (*mut u8, usize) {
        let file = &self.reach.file;
        let area = slot.area() as usize;
        let start = file.bases[area].wrapping_add(slot.offset() as usize * file.scales[area]);
        (start, width.bytes() as usize * self.reach.lanes)
    }

    fn keep_columns(&mut self, region: &Region) {
        let mut kept = std::mem::take(&mut self.loops.columns);
        kept.clear();
        for (slot, width) in &region.written {
            let (start, bytes) = self.column(*slot, *width);
            // SAFETY: the decoder laid the column out for this file.
            kept.extend_from_slice(unsafe { std::slice::from_raw_parts(start, bytes) });
        }
        self.loops.columns = kept;
    }

    #[cold]
    fn restore_columns(&mut self, region: &Region) {
        let mut from = 0;
        for (slot, width) in &region.written {
            let (start, bytes) = self.column(*slot, *width);
            let kept = &self.loops.columns[from..from + bytes];
            // SAFETY: the decoder laid the column out for this file, and nothing else refers to it.
            unsafe { start.copy_from_nonoverlapping(kept.as_ptr(), bytes) };
            from += bytes;
        }
    }
}

/// A byte for each thread of a mask, which has a bit for each, or a byte.
fn bytes_of(word: u64, lanes: usize) -> [u8; 16] {
    std::array::from_fn(|i| match lanes {
        8 if i < 8 => (word >> (8 * i)) as u8,
        8 => 0,
        _ => (word >> i & 1) as u8 * 0xff,
    })
}

/// What a region has executed: instructions that count, and video instructions.
fn executed(region: &Region, state: &[u64]) -> (u64, u64) {
    let words = || state[PARTS..].chunks_exact(WORDS).take(region.parts.len());
    // Masks of eight threads have a byte for each.
    let ones = if region.lanes == 8 { 8 } else { 1 };
    let mut numbers: Vec<[u64; 2]> = match region.straight {
        false => words().map(|words| [EXECUTED, TAKEN].map(|word| words[word] / ones)).collect(),
        // Those that have come to a part, but for those that are still there.
        true => words()
            .map(|words| [words[EXECUTED].wrapping_sub(u64::from(words[PENDING].count_ones()) / ones), words[TAKEN]])
            .collect(),
    };
    for (number, part) in region.parts.iter().enumerate() {
        if let Some(to) = part.goes_to {
            numbers[to as usize][0] = numbers[to as usize][0].wrapping_add(numbers[number][1]);
        }
    }
    let (mut all, mut videos) = (0, 0);
    for (part, [executed, went]) in region.parts.iter().zip(numbers) {
        all += executed * (u64::from(part.counts) + u64::from(part.counts_branch));
        let taken = if part.others_take { executed - went } else { went };
        all += taken * u64::from(part.counts_taken);
        videos += executed * u64::from(part.videos);
    }
    (all, videos)
}
