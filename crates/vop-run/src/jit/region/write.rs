//! The machine code of regions: both copies of the parts, what is at their ends, and where they leave.

use super::{
    Branch, ENTERED, EXECUTED, FAILED, FIRST_TURN, Goal, PENDING, Part, RECORD, RESUMES, ROUNDS, Region, TAKEN,
};
use super::{exit_word, word_of};
use crate::code::{Pc, Step};
use crate::column::{Area, Slot, Width};
use crate::jit::assembler::{Assembler, Condition, General, Jump, Operand, Place};
use crate::jit::emit::*;
use crate::jit::live::Live;
use crate::jit::places;
use crate::jit::steady::Steady;
use crate::jit::vectors::Vectors;

/// A region's function.
#[derive(Debug)]
pub(in crate::jit) struct Written {
    /// Where it starts.
    pub(in crate::jit) function: usize,
    /// The columns that it writes.
    pub(in crate::jit) columns: Vec<(Slot, Width)>,
    pub(in crate::jit) straight: bool,
    /// The number of its steady accesses.
    pub(in crate::jit) steady: usize,
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
    /// convention. It returns the number of turns that are left, with the one that it is at.
    pub(in crate::jit) fn region(
        &mut self,
        steps: &[Step],
        region: &Region,
        live: &Live,
        sites: usize,
    ) -> Option<Written> {
        let start = self.asm.bytes.len();
        let written = self.region_of(steps, region, live, sites);
        self.homes.clear();
        self.straight = false;
        self.active_words = None;
        self.counters.clear();
        if written.is_none() {
            self.asm.forget(start);
        }
        written
    }

    fn region_of(&mut self, steps: &[Step], region: &Region, live: &Live, mut site: usize) -> Option<Written> {
        let start = self.asm.bytes.len();
        self.homes.clear();
        self.steady = Steady::default();
        self.spills = 0;
        self.knows_places = false;
        self.accesses = usize::MAX;
        let mut used = vec![Area::Samples];
        let mut sites = Vec::new();
        let (mut found, mut needed, mut written) = (Vec::new(), 0, Vec::new());
        let (mut region, asked) = (region.clone(), region);
        for (number, part) in asked.parts.iter().enumerate() {
            let (lines, is_negated) = self.part_lines(steps, asked, number, live, site)?;
            if let Some(Branch { guard: Some(guard), .. }) = &mut region.parts[number].branch {
                guard.when ^= is_negated;
            }
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
        let region = &region;
        self.straight = region.is_straight();
        self.find_homes(&found, needed, region, live);
        self.leaving = region.exits.iter().map(|exit| self.homes_at(*exit, live)).collect();
        if self.straight {
            self.steady = Steady::of(steps, region.steps(), exit_word(region, region.exits.len()));
            // How many there are.
            for (number, site) in sites.iter().copied().enumerate() {
                self.part_lines(steps, region, number, live, site)?;
            }
        }
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
        if self.counts_in_register() {
            self.asm.load(MASK, STATE, ROUNDS as i32 * 8);
        }
        self.start_counters();
        let prepare = (self.steady.count() > 0).then(|| self.asm.jump());
        let prepared = self.asm.here();
        let homes = self.homes.clone();
        self.asm.compare_at(STATE, RESUMES as i32 * 8, 0);
        let resumes = self.asm.jump_if(Condition::NotZero);
        let mut stubs = Stubs::default();
        // A turn: which of its threads are there.
        let turn = self.asm.here();
        self.turn_mask(SCRATCH_2);
        self.asm.test_self(SCRATCH_2);
        let skip = self.asm.jump_if(Condition::Zero);
        homes.iter().for_each(|home| self.move_home(home, false));
        self.forget_shapes();
        // With AVX2, masks of straight regions cost no more than what asks whether all threads go the same way.
        let together = !(self.straight && self.vectors == Vectors::Avx2);
        let together = together.then(|| {
            self.compare_with_all(SCRATCH_2);
            self.asm.jump_if(Condition::Zero)
        });
        // With masks.
        let mut labels = Vec::new();
        let mut apart = Apart::default();
        match self.straight {
            true => {
                self.start_apart();
                self.activate_turn();
                self.start_threads(SCRATCH_2, word_of(0, EXECUTED));
            }
            false => self.asm.keep(SCRATCH_2, STATE, word_of(0, PENDING)),
        }
        for (number, site) in sites.iter().copied().enumerate() {
            labels.push(self.asm.here());
            let mut none = None;
            if !self.straight {
                self.asm.compare_at(STATE, word_of(number, PENDING), 0);
                none = Some(self.asm.jump_if(Condition::Zero));
                self.set_active(word_of(number, PENDING));
            }
            apart.land(&mut self.asm, number);
            apart.bodies.push(self.asm.here());
            self.masked = true;
            let guard = self.write_part(steps, region, number, live, site)?;
            let leaves = std::mem::take(&mut self.leaves);
            stubs.failed.extend(leaves.into_iter().map(|jump| (jump, number, false)));
            match self.straight {
                true => self.end_straight(steps, region, number, guard, &mut apart, &mut stubs),
                false => self.end_with_masks(region, number, guard, (&labels, &apart.bodies), &mut stubs),
            }
            none.into_iter().for_each(|jump| self.asm.land(jump));
        }
        // The end of a turn.
        let nobody = self.asm.here();
        let mut stored = None;
        if self.straight {
            std::mem::take(&mut apart.ends).into_iter().for_each(|jump| self.asm.land(jump));
            homes.iter().for_each(|home| self.store_left(home));
            stored = together.is_some().then(|| self.asm.jump());
        }
        let turn_end = self.asm.here();
        if together.is_some() {
            homes.iter().filter(|home| home.written).for_each(|home| self.move_home(home, true));
        }
        stored.into_iter().for_each(|stored| self.asm.land(stored));
        labels.push(turn_end);
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
        self.asm.jump_back_if(Condition::NotZero, turn);
        let ended = self.asm.jump();
        // Without masks.
        if let Some(together) = together {
            self.asm.land(together);
            if self.straight {
                self.asm.add_at(STATE, word_of(0, EXECUTED), self.vectors.lanes() as i32);
            }
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
        }
        self.asm.land(resumes);
        self.asm.set_at(STATE, RESUMES as i32 * 8, 0);
        homes.iter().for_each(|home| self.move_home(home, false));
        if self.straight {
            self.forget_shapes();
            self.start_apart();
            for number in 0..region.parts.len() {
                let pending = word_of(number, PENDING);
                self.asm.compare_at(STATE, pending, 0);
                let none = self.asm.jump_if(Condition::Zero);
                self.activate(pending);
                self.asm.set_at(STATE, pending, 0);
                self.asm.jump_back(apart.bodies[number]);
                self.asm.land(none);
            }
            self.asm.jump_back(nobody);
        } else {
            self.asm.jump_back(labels[0]);
        }
        if let Some(prepare) = prepare {
            self.asm.land(prepare);
            self.prepare_steady();
            self.asm.jump_back(prepared);
        }
        let stored = self.write_stubs(steps, region, &labels, &mut apart, nobody, stubs);
        // Leaves with what homes have.
        homes.iter().filter(|home| home.written).for_each(|home| self.move_home(home, true));
        stored.into_iter().chain([ended]).for_each(|jump| self.asm.land(jump));
        self.end_counters();
        self.asm.copy(General::Rax, General::Rdx);
        let (straight, steady) = (self.straight, self.steady.count());
        let function = self.end(start, frame, &[], saved)?;
        Some(Written { function, columns: written, straight, steady })
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
        let (lines, _) = self.part_lines(steps, region, number, live, site)?;
        self.turn(&lines);
        Some(self.guard_truths(&lines))
    }

    /// The lines of a part, and whether they give the opposite of its guard.
    fn part_lines<'s>(
        &mut self,
        steps: &'s [Step],
        region: &Region,
        number: usize,
        live: &Live,
        site: usize,
    ) -> Option<(Vec<Line<'s>>, bool)> {
        let part = region.parts[number];
        let places = places(steps, part.steps.start..part.steps.end);
        let behind = Behind { steps: &region.after(number), guard: part.guard(), later: &[] };
        let mut lines = self.lines(steps, &places, &behind, live, site)?;
        if self.straight {
            self.find_steady(&mut lines, number);
        }
        let opposite = self.opposite(&lines);
        if let Some((at, known)) = opposite {
            lines[at].what = What::Compute(known);
        }
        Some((lines, opposite.is_some()))
    }

    /// A straight region goes over to the copy with masks, before threads leave.
    fn start_apart(&mut self) {
        for home in self.homes.clone() {
            if let Some(left) = home.left {
                self.copy(left, Operand::Register(home.registers[0]));
            }
        }
    }

    /// What threads have left a straight region with to its column: of all threads, as others had the same before.
    fn store_left(&mut self, home: &Home) {
        if let Some(left) = home.left {
            self.move_home(&Home { registers: [left; 2], ..*home }, true);
        }
    }

    /// Whether something is to be done where threads of a straight region leave.
    fn tells_of_leaving(&self, region: &Region, exit: usize) -> bool {
        region.exits.len() > 1 || self.leaving[exit].iter().any(|home| !home.follows)
    }

    /// Threads of a straight region leave: what they have is kept, and the mask of the exit has them.
    fn leave(&mut self, region: &Region, exit: usize, truths: u8) {
        if region.exits.len() > 1 {
            self.or_truths(truths, exit_word(region, exit));
        }
        let homes = self.leaving[exit].clone();
        homes.iter().filter(|home| !home.follows).for_each(|home| self.copy_to_left(home, truths));
        if homes.iter().any(|home| home.left.is_none()) {
            self.with_active(truths, &mut |this| {
                homes.iter().filter(|home| home.left.is_none()).for_each(|home| this.store_home(home));
            });
        }
    }

    /// The end of a part of a straight region, for the active threads.
    fn end_straight(
        &mut self,
        steps: &[Step],
        region: &Region,
        number: usize,
        guard: Option<u8>,
        apart: &mut Apart,
        stubs: &mut Stubs,
    ) {
        let Part { branch, next, .. } = region.parts[number];
        let flow = word_of(number, TAKEN);
        let active = self.active_register();
        let Some((truths, Branch { to, guard: Some(guard), .. })) = guard.zip(branch) else {
            match branch.map_or(next, |branch| branch.to) {
                Goal::Part(part) => {
                    self.add_active(flow);
                    self.go_straight(number, part, apart, stubs);
                }
                Goal::Exit(exit) => {
                    self.leave(region, exit, active);
                    apart.ends.push(self.asm.jump());
                }
            }
            return;
        };
        let (exit, part, when) = match (to, next) {
            (Goal::Exit(exit), Goal::Part(part)) => (exit, part, guard.when),
            (Goal::Part(part), Goal::Exit(exit)) => (exit, part, !guard.when),
            _ => unreachable!("in a straight region, threads that part leave"),
        };
        if self.tells_of_leaving(region, exit) {
            let leaving = self.part_from_active(truths, when);
            self.leave(region, exit, leaving);
        } else {
            self.keep_active_unless(truths, when);
        }
        // A short part that only computes is executed also if nobody is left. Its end, or that of another such part behind it, asks.
        match part > number && region.parts[part].is_short(steps) {
            true => self.add_active(flow),
            false => apart.ends.push(self.add_active_or_jump(flow)),
        }
        self.go_straight(number, part, apart, stubs);
    }

    /// The active threads of a straight region go on.
    fn go_straight(&mut self, number: usize, part: usize, apart: &mut Apart, stubs: &mut Stubs) {
        match apart.bodies.get(part) {
            Some(body) if part <= number => self.go_back(stubs, part, false, *body),
            Some(body) => self.asm.jump_back(*body),
            None if part == number + 1 => {}
            None => {
                let jump = self.asm.jump();
                apart.ahead.push((jump, part));
            }
        }
    }

    /// Adds the threads of a mask to a goal. `once` says whether nobody else can be there.
    fn deliver(&mut self, region: &Region, goal: Goal, mask: General, once: bool) {
        match goal {
            Goal::Part(part) if once => self.asm.keep(mask, STATE, word_of(part, PENDING)),
            Goal::Part(part) => self.asm.or_to(mask, STATE, word_of(part, PENDING)),
            // With one exit, it has all that are nowhere else.
            Goal::Exit(_) if region.exits.len() == 1 => {}
            Goal::Exit(exit) if once => self.asm.keep(mask, STATE, exit_word(region, exit)),
            Goal::Exit(exit) => self.asm.or_to(mask, STATE, exit_word(region, exit)),
        }
    }

    /// The homes that must be in their columns at an exit.
    fn homes_at(&self, exit: Pc, live: &Live) -> Vec<Home> {
        let needed = |home: &&Home| home.written && live.at(exit as usize, home.slot);
        self.homes.iter().filter(needed).copied().collect()
    }

    /// The end of a part with masks.
    fn end_with_masks(
        &mut self,
        region: &Region,
        number: usize,
        guard: Option<u8>,
        (labels, bodies): (&[Place], &[Place]),
        stubs: &mut Stubs,
    ) {
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
                self.go_back(stubs, part, false, labels[part]);
            }
            return;
        };
        let when = branch.guard.is_some_and(|guard| guard.when);
        let kept = self.divide(truths, when, own);
        self.asm.set_at(STATE, own, 0);
        if branch.counts {
            self.asm.count_ones(SCRATCH, SCRATCH_3);
            self.asm.add_to(SCRATCH, STATE, word_of(number, TAKEN));
        }
        let alone = region.comes_back_alone(branch.to, number);
        self.deliver(region, branch.to, SCRATCH_3, alone && matches!(branch.to, Goal::Part(_)));
        self.deliver(region, next, SCRATCH_2, false);
        if let Goal::Part(part) = branch.to
            && part <= number
        {
            self.asm.test_self(SCRATCH_3);
            let none = self.asm.jump_if(Condition::Zero);
            let to = match kept {
                // Its mask need not come from memory.
                Some(taken) if alone => {
                    self.copy_truths(ACTIVE, taken);
                    bodies[part]
                }
                _ => labels[part],
            };
            self.go_back(stubs, part, false, to);
            self.asm.land(none);
        }
    }

    /// Whether the rounds that are left are in the register of the mask: with AVX2, straight regions have that of the active threads elsewhere.
    fn counts_in_register(&self) -> bool {
        self.active_words.is_some()
    }

    /// Goes back to a part, with one round less; leaves if none is left.
    fn go_back(&mut self, stubs: &mut Stubs, part: usize, all: bool, to: Place) {
        match self.counts_in_register() {
            true => self.asm.decrement(MASK),
            false => self.asm.decrement_at(STATE, ROUNDS as i32 * 8),
        }
        // Processors do not take a subtraction and a question for its sign as one, as they do for the borrow.
        self.asm.jump_back_if(Condition::NotBelow, to);
        stubs.over.push((self.asm.jump(), part, all));
    }

    /// The end of a part where all threads of the turn are together.
    fn end_together(&mut self, number: usize, guard: Option<u8>, together: &mut Together<'_>, stubs: &mut Stubs) {
        let Part { branch, next, .. } = together.region.parts[number];
        let all = self.ones_of_all();
        if !self.straight {
            self.asm.add_at(STATE, word_of(number, EXECUTED), all);
        }
        let Some((truths, branch)) = guard.zip(branch) else {
            return self.go_together(number, branch.map_or(next, |branch| branch.to), true, together, stubs);
        };
        let when = branch.guard.is_some_and(|guard| guard.when);
        // Loops mostly go on: what leaves them is written elsewhere.
        let leaves = matches!(branch.to, Goal::Exit(_));
        let often = when != leaves;
        let other = self.jump_unless_truths(truths, often);
        let mut goes = |this: &mut Self, taken: bool, last: bool| {
            if taken && branch.counts && !this.straight {
                this.asm.add_at(STATE, word_of(number, TAKEN), all);
            }
            this.go_together(number, if taken { branch.to } else { next }, last, together, stubs);
        };
        goes(self, often == when, true);
        self.asm.writes_seldom = true;
        self.asm.land(other);
        let some = self.jump_if_some_truths(often);
        goes(self, often != when, false);
        self.asm.writes_seldom = false;
        stubs.parted.push((some, number, truths));
    }

    /// All threads go on. `last` says whether nothing of the part is written behind this.
    fn go_together(&mut self, number: usize, goal: Goal, last: bool, together: &mut Together<'_>, stubs: &mut Stubs) {
        if self.straight && matches!(goal, Goal::Part(_)) {
            self.asm.add_at(STATE, word_of(number, TAKEN), self.vectors.lanes() as i32);
        }
        match goal {
            Goal::Exit(exit) => {
                if together.region.exits.len() > 1 {
                    self.set_all_at(exit_word(together.region, exit));
                }
                self.asm.jump_back(together.turn_end);
            }
            Goal::Part(part) if part <= number => {
                self.go_back(stubs, part, true, together.starts[part]);
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
    fn write_stubs(
        &mut self,
        steps: &[Step],
        region: &Region,
        labels: &[Place],
        apart: &mut Apart,
        nobody: Place,
        mut stubs: Stubs,
    ) -> Vec<Jump> {
        self.masked = true;
        for (jump, number, truths) in std::mem::take(&mut stubs.parted) {
            self.asm.land(jump);
            if self.straight {
                self.activate_all();
                for home in self.homes.clone().iter().filter(|home| home.follows) {
                    self.copy(home.left.unwrap_or(home.registers[0]), Operand::Register(home.registers[0]));
                }
                self.end_straight(steps, region, number, Some(truths), apart, &mut stubs);
                std::mem::take(&mut apart.ends).into_iter().for_each(|jump| self.asm.land(jump));
                self.asm.jump_back(nobody);
                continue;
            }
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
                this.active_to_general(SCRATCH_2);
                this.asm.keep(SCRATCH_2, STATE, word_of(part, PENDING));
                let active = this.active_register();
                for home in this.homes.clone().iter().filter(|home| home.written) {
                    match home.left {
                        Some(_) => {
                            this.copy_to_left(home, active);
                            this.store_left(home);
                        }
                        None => this.store_home(home),
                    }
                }
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
        let mut free = Registers { next: self.vectors.values(), left: self.vectors.homes(needed) };
        if !self.straight {
            all.iter().for_each(|crossing| self.add_home(crossing, &mut free));
            return;
        }
        let narrow = self.vectors == Vectors::Avx2;
        if narrow {
            self.active_words = free.take(1);
        }
        // What the region only reads comes last where registers are few: instructions read it from its column as well.
        let (written, read): (Vec<_>, Vec<_>) = all.into_iter().partition(|crossing| crossing.written || !narrow);
        for crossing in &written {
            self.add_home(crossing, &mut free);
            let Some(home) = self.homes.last_mut().filter(|home| home.slot == crossing.slot) else { continue };
            if !home.written || home.width != Width::Word {
                continue;
            }
            // How many parts write it, and at how many others leave that need it.
            let writes = |crossing: &Crossing| crossing.slot == home.slot && crossing.written;
            let writes = found.iter().filter(|crossings| crossings.iter().any(writes)).count();
            let needs = |part: &usize| region.exits_of(*part).any(|exit| live.at(exit as usize, home.slot));
            let leaves = (0..region.parts.len()).filter(needs).count();
            if leaves > 0 {
                home.left = free.take(1);
                home.follows = home.left.is_some() && writes < leaves;
            }
        }
        let count = |this: &mut Self, word: i32, free: &mut Registers| {
            this.counters.extend(free.take(1).map(|register| (word, register)));
        };
        let parts = region.parts.iter().enumerate().filter(|(_, part)| narrow && part.goes_to().is_some());
        parts.for_each(|(number, _)| count(self, word_of(number, TAKEN), &mut free));
        read.iter().for_each(|crossing| self.add_home(crossing, &mut free));
        if narrow {
            // Once in a turn.
            count(self, word_of(0, EXECUTED), &mut free);
        }
    }

    /// Gives a register a home, if there is room.
    fn add_home(&mut self, crossing: &Crossing, free: &mut Registers) {
        let Crossing { slot, width, written, .. } = *crossing;
        let needed = 1 + u8::from(width == Width::Double);
        if let Some(first) = free.take(needed) {
            let registers = [first, first + needed - 1];
            self.homes.push(Home { slot, width, registers, written, left: None, follows: false });
        }
    }
}

/// Vector registers from the last one down.
struct Registers {
    next: u8,
    left: usize,
}

impl Registers {
    /// The first of some registers, unless there are fewer.
    fn take(&mut self, count: u8) -> Option<u8> {
        self.left = self.left.checked_sub(count.into())?;
        self.next -= count;
        Some(self.next)
    }
}

/// The parts of a straight region in its copy with masks.
#[derive(Default)]
struct Apart {
    /// Where they start, of those that are written.
    bodies: Vec<Place>,
    /// Jumps to others.
    ahead: Vec<(Jump, usize)>,
    /// Jumps where nobody is left.
    ends: Vec<Jump>,
}

impl Apart {
    /// Jumps to a part come here.
    fn land(&mut self, asm: &mut Assembler, number: usize) {
        let (here, behind): (Vec<_>, Vec<_>) =
            std::mem::take(&mut self.ahead).into_iter().partition(|(_, part)| *part == number);
        self.ahead = behind;
        here.into_iter().for_each(|(jump, _)| asm.land(jump));
    }
}

/// Where the parts of a turn whose threads are together go on.
struct Together<'r> {
    region: &'r Region,
    turn_end: Place,
    starts: &'r [Place],
    /// Jumps to parts that are not written yet.
    ahead: &'r mut Vec<(Jump, usize)>,
}
