//! What the lanes of a warp do together: `shfl`, `vote`, `match`, `redux`, `elect`, `activemask`, `bar.warp.sync`.
//!
//! A lane makes such an operation when all lanes that its mask names have come to it; lanes that have ended are not waited for. The
//! lanes of a group mostly come together, and then none waits. A lane that `shfl` reads and that does not take part gives 0: the manual
//! leaves it undefined, and programs that pass on GPUs count on it.
//!
//! [`WarpWatch`] knows what the check of all this needs: which lanes have parted since they last had to meet, and what `activemask` gave.

#![allow(unsafe_code, reason = "operands stand in columns, which are raw memory")]

use super::block::{Failure, Wait, Worker, count, union};
use super::findings::{Absence, What};
use crate::code::{Collective, CollectiveKind, FromActive, Op, Pc};
use crate::column::{Area, File, Slot, WARP, Width, all, none};
use crate::level::leveled;
#[cfg(target_arch = "x86_64")]
use crate::level::{AVX2, AVX512};

/// What lanes of a block's warps did, for the check of what they do together.
#[derive(Debug)]
pub(super) struct WarpWatch {
    /// By thread: which way it went. Lanes of a warp with one number have not parted since something made them meet.
    ways: Vec<u32>,
    next: u32,
    /// By thread: what `activemask` gave it last, and whether the lanes of that had parted before. No lanes where it gave nothing.
    active: Vec<(u32, bool)>,
}

impl WarpWatch {
    /// For a block of this many threads, padded.
    pub(super) fn new(lanes: usize) -> WarpWatch {
        WarpWatch { ways: vec![0; lanes], next: 0, active: vec![(0, false); lanes] }
    }

    /// A new block.
    pub(super) fn start(&mut self) {
        self.ways.fill(0);
        self.next = 0;
        self.active.fill((0, false));
    }

    /// Threads go another way than those that they were with.
    pub(super) fn part(&mut self, mask: &[u8]) {
        self.next = self.next.wrapping_add(1);
        for (way, _) in self.ways.iter_mut().zip(mask).filter(|(_, m)| **m != 0) {
            *way = self.next;
        }
    }

    /// Lanes of a warp had to meet.
    fn meet(&mut self, warp: usize, lanes: u32) {
        self.next = self.next.wrapping_add(1);
        for lane in (0..WARP).filter(|lane| lanes >> lane & 1 != 0) {
            self.ways[warp * WARP + lane] = self.next;
        }
    }

    /// `activemask` gives lanes to themselves.
    fn is_active(&mut self, warp: usize, lanes: u32) {
        let mut ways = (0..WARP).filter(|lane| lanes >> lane & 1 != 0).map(|lane| self.ways[warp * WARP + lane]);
        let first = ways.next();
        let parted = ways.any(|way| Some(way) != first);
        for lane in (0..WARP).filter(|lane| lanes >> lane & 1 != 0) {
            self.active[warp * WARP + lane] = (lanes, parted);
        }
    }
}

impl Worker<'_> {
    /// Lanes reach a collective; false if the running group has nothing else to do.
    pub(super) fn collective(&mut self, pc: Pc, collective: &Collective, mask: Vec<u8>) -> Result<bool, Failure> {
        let mut waiting = vec![0; mask.len()];
        for warp in 0..self.reach.file.warps {
            let lanes = bits(&mask[warp * WARP..]);
            if lanes == 0 {
                continue;
            }
            let ready = self.complete(collective, warp, lanes, lanes);
            // Lanes that name other lanes make it among themselves.
            let mut left = ready;
            while left != 0 {
                let first = self.named(collective, warp, left.trailing_zeros() as usize);
                let same =
                    (0..WARP).filter(|lane| left >> lane & 1 != 0 && self.named(collective, warp, *lane) == first);
                let together = same.fold(0, |bits, lane| bits | 1 << lane);
                self.perform(pc, collective, warp, together);
                self.performed(pc, collective, warp, together, ready, first);
                left &= !together;
            }
            set(&mut waiting[warp * WARP..], lanes & !ready);
        }
        let active = count(&waiting);
        if active == 0 {
            return Ok(true);
        }
        // They will execute it when the others have come.
        self.undo(pc, &waiting, active, !matches!(collective.kind, CollectiveKind::Sync));
        let others = self.running.take_out(&waiting, active);
        self.groups.park(&self.frames, self.running.frame, pc, waiting, Wait::Warp);
        self.gather_warps();
        Ok(others)
    }

    /// Makes an operation that is a `shfl`, a vote or a barrier, if in each warp all lanes come to it, or none, and those of a warp name the
    /// same lanes: then nobody waits. Returns whether it has.
    ///
    /// # Safety
    /// The operation must have been decoded for the block's file; the mask must have a byte for each of its threads, or be null, which stands
    /// for all.
    pub(super) unsafe fn whole_warps(&mut self, collective: &Collective, mask: *const u8) -> bool {
        use CollectiveKind::{All, Any, Ballot, ShuffleButterfly, ShuffleDown, ShuffleIndex, ShuffleUp, Sync, Uniform};
        let (kind, file) = (collective.kind, self.reach.file);
        let shuffles = matches!(kind, ShuffleUp | ShuffleDown | ShuffleButterfly | ShuffleIndex);
        if !shuffles && !matches!(kind, All | Any | Uniform | Ballot | Sync)
            || self.warp_watch.is_some()
            || self.reach.shadow.is_some()
        {
            return false;
        }
        // SAFETY: the caller promises the mask.
        let active = |warp: usize| (!mask.is_null()).then(|| unsafe { &*mask.add(warp * WARP).cast::<[u8; WARP]>() });
        let is_whole = |warp: usize| active(warp).is_none_or(all);
        let alike = |warp: usize| match collective.members {
            Some(slot) if !is_shared(slot) => {
                // SAFETY: the decoder laid the lanes out as words.
                let members = unsafe { &*file.column::<u32>(slot).warp(warp) };
                members.iter().fold(0, |differ, lanes| differ | (lanes ^ members[0])) == 0
            }
            _ => true,
        };
        let names_alike = collective.members.is_none_or(is_shared);
        let all_alike = || (0..file.warps).all(|warp| active(warp).is_some_and(none) || is_whole(warp) && alike(warp));
        let is_known = mask.is_null() && names_alike;
        if !is_known && !all_alike() {
            return false;
        }
        if shuffles {
            // SAFETY: the decoder laid the operands out as `shfl` takes them, and decoded for a level that this CPU has.
            unsafe { shuffle(self.launch.kernel.level)(&file, collective, mask) };
            return true;
        }
        for warp in (0..file.warps).filter(|warp| is_whole(*warp)) {
            // SAFETY: the decoder laid the operands out for the widths that this kind takes.
            unsafe {
                let votes = || bits(&*file.column::<u8>(collective.sources[0]).warp(warp));
                let predicate = |value: bool| {
                    *file.column::<u8>(collective.d).warp(warp) = [u8::from(value).wrapping_neg(); WARP];
                };
                match kind {
                    All => predicate(votes() == u32::MAX),
                    Any => predicate(votes() != 0),
                    Uniform => predicate(matches!(votes(), 0 | u32::MAX)),
                    Ballot => *file.column::<u32>(collective.d).warp(warp) = [votes(); WARP],
                    _ => {}
                }
            }
        }
        true
    }

    /// The lanes that a lane names; none where the instruction takes those that are there.
    fn named(&self, collective: &Collective, warp: usize, lane: usize) -> u32 {
        // SAFETY: the decoder laid the slot out as a word.
        let element = |slot| unsafe { self.reach.file.element(slot, Width::Word, warp * WARP + lane) as u32 };
        collective.members.map_or(0, element)
    }

    /// The lanes of `lanes` that name only lanes that are `there` or have ended.
    fn complete(&self, collective: &Collective, warp: usize, lanes: u32, there: u32) -> u32 {
        let missing = bits(&self.live.mask[warp * WARP..]) & !there;
        let complete = |lane: &usize| lanes >> lane & 1 != 0 && self.named(collective, warp, *lane) & missing == 0;
        (0..WARP).filter(complete).fold(0, |bits, lane| bits | 1 << lane)
    }

    /// Lets those lanes go on that wait for each other and are all there; returns whether there are any.
    pub(super) fn gather_warps(&mut self) -> bool {
        // Lanes that came to one step by different ways are together now.
        self.groups.merge_warps();
        let steps = self.steps;
        let home = self.running.frame;
        let collective_at = |pc: Pc| match &steps[pc as usize].op {
            Op::Warp(collective) => Some(collective),
            _ => None,
        };
        let is_sync = |pc: Pc| collective_at(pc).is_some_and(|c| matches!(c.kind, CollectiveKind::Sync));
        // `bar.warp.sync` may be met at different places.
        let mut at_sync = vec![0; self.live.mask.len()];
        for group in self.groups.parked.iter().filter(|group| group.wait == Wait::Warp && is_sync(group.pc)) {
            union(&mut at_sync, &group.mask);
        }
        // The lanes that can go on are found for all groups before one goes.
        let mut released = Vec::new();
        // Of those at a `bar.warp.sync`: the step of one, the warp, the mask that they name, and the lanes. Only checks ask.
        let mut met: Vec<(Pc, usize, u32, u32)> = Vec::new();
        let checks = self.reach.shadow.is_some() || self.warp_watch.is_some();
        for i in 0..self.groups.parked.len() {
            let group = &self.groups.parked[i];
            let (frame, pc) = (group.frame, group.pc);
            let (true, Some(collective)) = (group.wait == Wait::Warp, collective_at(pc)) else { continue };
            self.enter_again(frame);
            let mut ready = vec![0; self.live.mask.len()];
            for warp in 0..self.reach.file.warps {
                let lanes = bits(&self.groups.parked[i].mask[warp * WARP..]);
                let there = if is_sync(pc) { bits(&at_sync[warp * WARP..]) } else { lanes };
                let complete = self.complete(collective, warp, lanes, there);
                set(&mut ready[warp * WARP..], complete);
                if checks && is_sync(pc) {
                    for lane in (0..WARP).filter(|lane| complete >> lane & 1 != 0) {
                        let named = self.named(collective, warp, lane);
                        match met.iter_mut().find(|(_, of, mask, _)| (*of, *mask) == (warp, named)) {
                            Some((.., lanes)) => *lanes |= 1 << lane,
                            None => met.push((pc, warp, named, 1 << lane)),
                        }
                    }
                }
            }
            if count(&ready) > 0 {
                released.push((i, ready));
            }
        }
        self.enter_again(home);
        for (pc, warp, named, lanes) in met {
            if let Some(collective) = collective_at(pc) {
                let there = bits(&at_sync[warp * WARP..]);
                self.performed(pc, collective, warp, lanes, there, named);
            }
        }
        let any = !released.is_empty();
        for (i, ready) in released {
            let mut pc = self.groups.parked[i].pc;
            if is_sync(pc) {
                // Lanes at different steps do not see each other there. A `bar.warp.sync` has nothing else to do, so it is done.
                if steps[pc as usize].counts {
                    self.done.executed += u64::from(count(&ready));
                }
                pc += 1;
            }
            self.groups.let_go(&self.frames, i, pc, ready);
        }
        if any {
            self.groups.parked.retain(|group| group.active > 0);
            self.groups.rescan(&self.frames);
        }
        any
    }

    /// Lanes of a warp that name the lanes `named` have made an operation together; `there` had come to it. For checks.
    fn performed(&mut self, pc: Pc, collective: &Collective, warp: usize, lanes: u32, there: u32, named: u32) {
        if let (Some(shadow), CollectiveKind::Sync) = (&mut self.reach.shadow, collective.kind) {
            shadow.warp_barrier(warp, lanes);
        }
        if self.warp_watch.is_some() {
            self.watch(pc, collective, warp, lanes, there, named);
        }
    }

    /// The check of what lanes do together.
    #[cold]
    fn watch(&mut self, pc: Pc, collective: &Collective, warp: usize, lanes: u32, there: u32, named: u32) {
        let statement = self.steps[pc as usize].statement;
        let Some(watch) = &mut self.warp_watch else { return };
        let findings = &mut self.reach.findings;
        if matches!(collective.kind, CollectiveKind::Active) {
            watch.is_active(warp, lanes);
        }
        if collective.members.is_none() {
            return;
        }
        let first = lanes.trailing_zeros() as usize & 31;
        let thread = warp * WARP + first;
        let mut add = |thread, what| findings.add(statement, thread, what);
        let strangers = lanes & !named;
        if strangers != 0 {
            let lane = strangers.trailing_zeros() as usize;
            add(warp * WARP + lane, What::Member(lane, Absence::NotNamed));
        }
        let others = named & there & !lanes;
        if others != 0 {
            add(thread, What::Member(others.trailing_zeros() as usize, Absence::OtherMask));
        }
        // Lanes beyond the block's end never were.
        let of_block = (0..WARP).filter(|lane| warp * WARP + lane < self.launch.threads).fold(0, |all, l| all | 1 << l);
        let ended = named & of_block & !bits(&self.live.mask[warp * WARP..]) & !there;
        if ended != 0 {
            add(thread, What::Member(ended.trailing_zeros() as usize, Absence::Ended));
        }
        // What `vote.ballot` and `match` give tells which lanes took part.
        let tells = matches!(
            collective.kind,
            CollectiveKind::Ballot | CollectiveKind::MatchAny(_) | CollectiveKind::MatchAll(_)
        );
        let FromActive { mask: true, only: true, .. } = collective.from_active else {
            watch.meet(warp, lanes);
            return;
        };
        let (active, parted) = watch.active[thread];
        if parted && active == named && !tells {
            let only_asks =
                matches!(collective.kind, CollectiveKind::All | CollectiveKind::Any | CollectiveKind::Uniform);
            add(thread, What::MetByLuck { is_error: !only_asks });
        }
        watch.meet(warp, lanes);
    }

    /// Lanes of a warp make a `shfl` together, and one of them reads a lane that does not take part, or all is checked.
    #[cold]
    fn shuffled(&mut self, pc: Pc, collective: &Collective, warp: usize, lanes: u32) {
        let statement = self.steps[pc as usize].statement;
        let file = self.reach.file;
        // SAFETY: the decoder laid out `shfl`'s operands as words.
        let value = |slot, lane: usize| unsafe { file.element(slot, Width::Word, warp * WARP + lane) };
        let [_, b, c] = collective.sources;
        for lane in (0..WARP).filter(|lane| lanes >> lane & 1 != 0) {
            let thread = warp * WARP + lane;
            let (from, _) =
                source_lane(collective.kind, lane as u32, value(b, lane) as u32 & 31, value(c, lane) as u32);
            let from = from as usize;
            if lanes >> from & 1 == 0 {
                self.reach.findings.add(statement, thread, What::MissingLane(from));
            }
            if let (Some(watch), FromActive { mask: true, lane_is_free: true, .. }) =
                (&self.warp_watch, collective.from_active)
                && from != lane
                && watch.active[thread].0 == self.named(collective, warp, lane)
            {
                self.reach.findings.add(statement, thread, What::TakenForGranted(from));
            }
        }
    }

    /// Makes the operation for lanes of a warp.
    fn perform(&mut self, pc: Pc, collective: &Collective, warp: usize, lanes: u32) {
        let on = |lane: usize| lanes >> lane & 1 != 0;
        let file = self.reach.file;
        // SAFETY: the decoder laid the slots out for the widths that this kind of collective takes.
        let value = |slot, width, lane: usize| unsafe { file.element(slot, width, warp * WARP + lane) };
        let [a, b, c] = collective.sources;
        let width = match collective.kind {
            CollectiveKind::All | CollectiveKind::Any | CollectiveKind::Uniform | CollectiveKind::Ballot => {
                Width::Predicate
            }
            CollectiveKind::MatchAny(width) | CollectiveKind::MatchAll(width) => width,
            CollectiveKind::Sync | CollectiveKind::Active | CollectiveKind::Elect => Width::None,
            _ => Width::Word,
        };
        let values: [u64; WARP] = std::array::from_fn(|lane| value(a, width, lane));
        let votes = (0..WARP).filter(|l| on(*l) && values[*l] != 0).fold(0u32, |bits, lane| bits | 1 << lane);
        let first = lanes.trailing_zeros() as usize & 31;
        let mut d = [0u64; WARP];
        let mut p = [false; WARP];
        // The widths of the results.
        let (mut dw, mut pw) = (Width::Word, Width::None);
        match collective.kind {
            CollectiveKind::Sync => return,
            CollectiveKind::All => (dw, d) = (Width::Predicate, [u64::from(votes == lanes); WARP]),
            CollectiveKind::Any => (dw, d) = (Width::Predicate, [u64::from(votes != 0); WARP]),
            CollectiveKind::Uniform => (dw, d) = (Width::Predicate, [u64::from(votes == 0 || votes == lanes); WARP]),
            CollectiveKind::Ballot => d = [u64::from(votes); WARP],
            CollectiveKind::Active => d = [u64::from(lanes); WARP],
            CollectiveKind::MatchAny(_) => {
                for lane in (0..WARP).filter(|l| on(*l)) {
                    let same = (0..WARP).filter(|l| on(*l) && values[*l] == values[lane]);
                    d[lane] = same.fold(0, |bits, lane| bits | 1 << lane);
                }
            }
            CollectiveKind::MatchAll(_) => {
                let all = (0..WARP).filter(|l| on(*l)).all(|lane| values[lane] == values[first]);
                (d, p, pw) = ([if all { u64::from(lanes) } else { 0 }; WARP], [all; WARP], Width::Predicate);
            }
            CollectiveKind::Reduce(f) => {
                let all = (0..WARP).filter(|l| on(*l)).map(|lane| values[lane]);
                d = [all.reduce(f).unwrap_or(0); WARP];
            }
            CollectiveKind::Elect => {
                d = [first as u64; WARP];
                p[first] = true;
                pw = Width::Predicate;
            }
            kind => {
                pw = Width::Predicate;
                let mut missing = 0;
                for lane in 0..WARP {
                    let [b, c] = [b, c].map(|slot| value(slot, Width::Word, lane) as u32);
                    let (from, inside) = source_lane(kind, lane as u32, b & 31, c);
                    let from = from as usize;
                    d[lane] = if on(from) { values[from] } else { 0 };
                    p[lane] = inside;
                    missing |= u32::from(!on(from)) << lane;
                }
                if missing & lanes != 0 || self.warp_watch.is_some() {
                    self.shuffled(pc, collective, warp, lanes);
                }
            }
        }
        for lane in (0..WARP).filter(|l| on(*l)) {
            // SAFETY: the decoder laid both destinations out for the widths of this kind's results.
            unsafe {
                file.set_element(collective.d, dw, warp * WARP + lane, d[lane]);
                file.set_element(collective.p, pw, warp * WARP + lane, u64::from(p[lane]));
            }
        }
    }
}

/// A warp's part of a mask, as bits.
fn bits(mask: &[u8]) -> u32 {
    let eights = mask[..WARP].chunks_exact(8).enumerate();
    eights.fold(0, |bits, (i, eight)| {
        let eight = eight.iter().enumerate().fold(0, |word, (k, m)| word | u64::from(*m) << (8 * k));
        // The multiplication moves the lowest bits of eight bytes to the highest byte.
        let eight = (eight & 0x0101_0101_0101_0101).wrapping_mul(0x0102_0408_1020_4080) >> 56;
        bits | (eight as u32) << (8 * i)
    })
}

/// Writes a warp's part of a mask from bits.
fn set(mask: &mut [u8], bits: u32) {
    for (lane, m) in mask[..WARP].iter_mut().enumerate() {
        *m = ((bits >> lane & 1) as u8).wrapping_neg();
    }
}

/// The lane that `shfl` reads, and whether it is within the segment (manual, "shfl.sync"). `b` is a lane.
#[inline(always)]
fn source_lane(kind: CollectiveKind, lane: u32, b: u32, c: u32) -> (u32, bool) {
    let (clamp, segment) = (c & 31, c >> 8 & 31);
    let max_lane = (lane & segment) | (clamp & !segment);
    let (from, inside) = match kind {
        CollectiveKind::ShuffleUp => (lane.wrapping_sub(b), lane as i32 - b as i32 >= max_lane as i32),
        CollectiveKind::ShuffleDown => (lane + b, lane + b <= max_lane),
        CollectiveKind::ShuffleButterfly => (lane ^ b, lane ^ b <= max_lane),
        _ => {
            let from = (lane & segment) | (b & !segment);
            (from, from <= max_lane)
        }
    };
    ((if inside { from } else { lane }) & 31, inside)
}

leveled! {
    /// A `shfl` of the lanes of those warps that a mask has as a whole. The operation must have been laid out for the file, and the mask have
    /// a byte for each of its threads, or be null, which stands for all.
    fn shuffle(file: &File, collective: &Collective, mask: *const u8) {
        // SAFETY: callers promise an operation that was laid out for the file.
        unsafe {
            match collective.kind {
                CollectiveKind::ShuffleUp => shuffle_as::<0, LEVEL>(file, collective, mask),
                CollectiveKind::ShuffleDown => shuffle_as::<1, LEVEL>(file, collective, mask),
                CollectiveKind::ShuffleButterfly => shuffle_as::<2, LEVEL>(file, collective, mask),
                _ => shuffle_as::<3, LEVEL>(file, collective, mask),
            }
        }
    }
}

/// A `shfl` of one kind, of whole warps.
///
/// # Safety
/// The operation must have been laid out for the file, whose threads each have a byte of the mask, unless it is null; the CPU must have the
/// level.
#[inline(always)]
unsafe fn shuffle_as<const KIND: usize, const LEVEL: usize>(file: &File, collective: &Collective, mask: *const u8) {
    let kind = const {
        match KIND {
            0 => CollectiveKind::ShuffleUp,
            1 => CollectiveKind::ShuffleDown,
            2 => CollectiveKind::ShuffleButterfly,
            _ => CollectiveKind::ShuffleIndex,
        }
    };
    let [a, b, c] = collective.sources;
    // What all threads share is the same for all warps.
    let once = is_shared(b) && is_shared(c);
    let (mut from, mut p, mut known) = ([0u32; WARP], [0u8; WARP], false);
    let mut ways = [Way::Gather; WARP / EIGHT];
    for warp in 0..file.warps {
        // SAFETY: the caller promises the mask. The decoder laid `shfl`'s sources and first result out as words, and its second result as
        // predicates.
        unsafe {
            if !mask.is_null() && !all(&*mask.add(warp * WARP).cast()) {
                continue;
            }
            if !known {
                let [b, c] = [b, c].map(|slot| &*file.column::<u32>(slot).warp(warp));
                let mut lane = 0;
                while lane < WARP {
                    let (source, inside) = source_lane(kind, lane as u32, b[lane] & 31, c[lane]);
                    (from[lane], p[lane]) = (source, u8::from(inside).wrapping_neg());
                    lane += 1;
                }
                if once {
                    (known, ways) = (true, std::array::from_fn(|eight| Way::of(&from, eight)));
                }
            }
            // The result may be in place of the source.
            let [a, d] = [a, collective.d].map(|slot| file.column::<u32>(slot).warp(warp));
            permute::<LEVEL>(a, &from, &ways, d);
            *file.column::<u8>(collective.p).warp(warp) = p;
        }
    }
}

/// Whether all threads of a block share what a slot names.
fn is_shared(slot: Slot) -> bool {
    matches!(slot.area(), Area::Block | Area::Samples)
}

/// Lanes of a vector of AVX2.
const EIGHT: usize = 8;

/// How eight lanes that follow one another find the lanes that they read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Way {
    /// At a distance, except for lanes that read themselves.
    Apart(i32),
    /// All in eight lanes that follow one another, of this number.
    Within(u32),
    Gather,
}

impl Way {
    fn of(from: &[u32; WARP], eight: usize) -> Way {
        let first = eight * EIGHT;
        let lanes = &from[first..first + EIGHT];
        let mut apart =
            lanes.iter().enumerate().map(|(i, lane)| *lane as i32 - (first + i) as i32).filter(|by| *by != 0);
        let distance = apart.next().unwrap_or(0);
        let number = lanes[0] / EIGHT as u32;
        if apart.all(|by| by == distance) {
            Way::Apart(distance)
        } else if lanes.iter().all(|lane| lane / EIGHT as u32 == number) {
            Way::Within(number)
        } else {
            Way::Gather
        }
    }
}

/// The values of the lanes that `from` names, each below 32; `ways` tell how each eight find them.
///
/// # Safety
/// The CPU must have the level; `a` and `d` must point to words of a warp, perhaps the same.
#[inline(always)]
unsafe fn permute<const LEVEL: usize>(
    a: *const [u32; WARP],
    from: &[u32; WARP],
    ways: &[Way; WARP / EIGHT],
    d: *mut [u32; WARP],
) {
    #[cfg(target_arch = "x86_64")]
    match LEVEL {
        // SAFETY: the caller promises the level and the words.
        AVX512 => return unsafe { permute_avx512(a.cast(), from, d.cast()) },
        // SAFETY: as above.
        AVX2 => return unsafe { permute_avx2(a.cast(), from, ways, d.cast()) },
        _ => {}
    }
    // Only AVX2 asks.
    let _ = ways;
    // SAFETY: the caller promises the words.
    let a = unsafe { *a };
    let values = std::array::from_fn(|lane| a[from[lane] as usize % WARP]);
    // SAFETY: as above.
    unsafe { *d = values };
}

/// [`permute`] in two instructions.
///
/// # Safety
/// As for [`permute`], of AVX-512 F.
#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx512f")]
#[inline]
unsafe fn permute_avx512(a: *const u32, from: &[u32; WARP], d: *mut u32) {
    use std::arch::x86_64::{_mm512_loadu_si512, _mm512_permutex2var_epi32, _mm512_storeu_si512};
    // SAFETY: each array has two vectors of sixteen words.
    unsafe {
        let halves = |of: *const u32| [0, WARP / 2].map(|at| _mm512_loadu_si512(of.add(at).cast()));
        let [low, high] = halves(a);
        for (i, from) in halves(from.as_ptr()).into_iter().enumerate() {
            let values = _mm512_permutex2var_epi32(low, from, high);
            _mm512_storeu_si512(d.add(i * WARP / 2).cast(), values);
        }
    }
}

/// [`permute`] in as few instructions as the ways take.
///
/// # Safety
/// As for [`permute`], of AVX2.
#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx2")]
#[inline]
unsafe fn permute_avx2(a: *const u32, from: &[u32; WARP], ways: &[Way; WARP / EIGHT], d: *mut u32) {
    use std::arch::x86_64::{
        __m256i, _mm256_add_epi32, _mm256_and_si256, _mm256_blendv_epi8, _mm256_cmpeq_epi32, _mm256_i32gather_epi32,
        _mm256_loadu_si256, _mm256_maskload_epi32, _mm256_permutevar8x32_epi32, _mm256_set1_epi32, _mm256_setr_epi32,
        _mm256_storeu_si256, _mm256_xor_si256,
    };
    // SAFETY: each array has four vectors of eight words, and `from` names words of the first. Where lanes are at a distance, those that read
    // themselves do not load there.
    unsafe {
        let values: [__m256i; WARP / EIGHT] = std::array::from_fn(|eight| {
            let at = eight * EIGHT;
            let lanes = _mm256_loadu_si256(from.as_ptr().add(at).cast());
            match ways[eight] {
                Way::Apart(distance) => {
                    let own = _mm256_loadu_si256(a.add(at).cast());
                    let first = _mm256_set1_epi32(at as i32);
                    let themselves = _mm256_add_epi32(first, _mm256_setr_epi32(0, 1, 2, 3, 4, 5, 6, 7));
                    let stay = _mm256_cmpeq_epi32(lanes, themselves);
                    let others = _mm256_xor_si256(stay, _mm256_set1_epi32(-1));
                    let values =
                        _mm256_maskload_epi32(a.cast::<i32>().wrapping_offset(at as isize + distance as isize), others);
                    _mm256_blendv_epi8(values, own, stay)
                }
                Way::Within(number) => {
                    let eight = _mm256_loadu_si256(a.add(number as usize * EIGHT).cast());
                    _mm256_permutevar8x32_epi32(eight, _mm256_and_si256(lanes, _mm256_set1_epi32(7)))
                }
                Way::Gather => _mm256_i32gather_epi32::<4>(a.cast(), lanes),
            }
        });
        for (i, values) in values.into_iter().enumerate() {
            _mm256_storeu_si256(d.add(EIGHT * i).cast(), values);
        }
    }
}
