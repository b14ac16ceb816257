//! The blocks of a core: those that it runs, and those that wait for others.

use std::ops::Range;
use std::sync::atomic::Ordering;
use std::time::Duration;

use super::{Launch, Work};
use crate::clock::{self, Instant};
use crate::engine::block::{Done, Failure, Worker};
use crate::error::{RunError, RunErrorKind};
use crate::jit;

/// Bytes that a launch may print.
const MAX_PRINTED: u64 = 256 << 20;
/// Blocks that a core takes together, at most: where blocks may wait for others, and where they cannot.
const MAX_TURN: (u64, u64) = (32, 256);
/// Blocks of a core that may wait for others while it runs the next one.
const MAX_WAITING: usize = 1 << 12;
/// How long a core sleeps whose blocks all wait: at first, and at most.
const NAP: (Duration, Duration) = (Duration::from_micros(20), Duration::from_millis(1));

/// The blocks of a core.
#[allow(clippy::vec_box, reason = "a worker is large, and moves from list to list for each block")]
struct Crew<'l> {
    launch: &'l Launch<'l>,
    /// Blocks that the core has taken and not started, and how many it took together.
    turn: Range<u64>,
    taken: u64,
    /// Blocks that wait for others.
    waiting: Vec<Box<Worker<'l>>>,
    /// Workers without a block.
    spare: Vec<Box<Worker<'l>>>,
    /// Whether no more blocks can be started while others wait: there is no memory for one.
    is_full: bool,
    work: Work,
}

/// A core stops before all blocks have run.
struct Over;

impl Launch<'_> {
    /// What is executed, to those who watch.
    pub(in crate::engine) fn tell_instructions(&self, instructions: u64) {
        if let Some(activity) = &self.activity {
            activity.add(0, instructions);
        }
    }

    /// The number of blocks that no core has taken.
    pub(in crate::engine) fn not_started(&self) -> u64 {
        self.shape.blocks().saturating_sub(self.next.load(Ordering::Relaxed))
    }

    /// Runs blocks until none is left, or one fails.
    pub(super) fn work(&self) -> Work {
        let mut crew = Crew {
            launch: self,
            turn: 0..0,
            taken: 0,
            waiting: Vec::new(),
            spare: Vec::new(),
            is_full: false,
            work: Work::default(),
        };
        // What stopped it is in its work, or in another core's.
        let _ = crew.run();
        jit::settle();
        self.standstill.leave();
        for mut worker in crew.spare.into_iter().chain(crew.waiting) {
            // Of a block that waits for ever.
            let printed = std::mem::take(&mut worker.done.printed);
            if !printed.is_empty() {
                crew.work.printed.push((worker.index(), printed));
            }
            if let Some(observer) = &mut worker.observer {
                observer.finish(self.kernel);
            }
            crew.work.observers.extend(worker.observer.take());
            crew.work.findings.push(std::mem::take(&mut worker.reach.findings));
        }
        crew.work
    }
}

impl<'l> Crew<'l> {
    fn run(&mut self) -> Result<(), Over> {
        loop {
            // A block that waited goes first: others may wait for it.
            if let Some(i) = self.waiting.iter_mut().position(|worker| worker.may_go_on()) {
                let mut worker = self.waiting.remove(i);
                let result = worker.advance();
                self.came(worker, result)?;
                continue;
            }
            if (self.waiting.len() < MAX_WAITING || self.launch.cooperative)
                && !self.is_full
                && let Some(blocks) = self.next_blocks()
            {
                let index = blocks.start;
                if index > self.launch.failed.load(Ordering::Relaxed) {
                    return Err(Over);
                }
                let worker = match self.spare.pop() {
                    Some(worker) => Ok(worker),
                    None => Worker::new(self.launch).map(Box::new),
                };
                match worker {
                    Ok(mut worker) => {
                        let result = worker.run(blocks);
                        self.came(worker, result)?;
                    }
                    // The blocks that wait may go on without this one.
                    Err(_) if !self.waiting.is_empty() => {
                        self.turn.start = index;
                        self.is_full = true;
                    }
                    Err(error) => return Err(self.failed(index, Box::new(error))),
                }
                continue;
            }
            if self.waiting.is_empty() {
                return Ok(());
            }
            match self.waiting.iter().position(|worker| worker.idle.lively) {
                Some(i) => {
                    let mut worker = self.waiting.remove(i);
                    worker.idle.lively = false;
                    let result = worker.advance();
                    self.came(worker, result)?;
                }
                None => self.stand_still()?,
            }
        }
    }

    /// Takes the next block, or some that run as one. A core takes some blocks in a row, which mostly reach memory in a row: the host's caches look ahead. Cores
    /// tell one another what they did only after each turn, as that takes as long as a small block.
    fn next_blocks(&mut self) -> Option<Range<u64>> {
        let at_once = self.launch.at_once as u64;
        if self.turn.is_empty() {
            self.end_turn();
            let blocks = self.launch.shape.blocks();
            let share = match blocks / 1024 {
                // Blocks that others wait for are started one by one, and of those that may come to that, not too many.
                _ if !self.waiting.is_empty() => 1,
                many if many > MAX_TURN.0 && !self.launch.kernel.keeps_apart() => MAX_TURN.0,
                share => share.clamp(1, MAX_TURN.1),
            };
            let share = share.next_multiple_of(at_once);
            let start = self.launch.next.fetch_add(share, Ordering::Relaxed);
            self.turn = start..(start.saturating_add(share)).min(blocks);
            if self.turn.is_empty() {
                return None;
            }
            self.taken = self.turn.end - start;
        }
        let start = self.turn.start;
        self.turn.start = self.turn.end.min(start + at_once);
        Some(start..self.turn.start)
    }

    fn end_turn(&mut self) {
        let ended = std::mem::take(&mut self.taken);
        if ended > 0 {
            if let Some(progress) = &self.launch.progress {
                progress.fetch_add(ended, Ordering::Relaxed);
            }
            if let Some(activity) = &self.launch.activity {
                activity.add(ended, 0);
            }
        }
    }

    /// A block has ended, or waits, or has failed.
    fn came(&mut self, mut worker: Box<Worker<'l>>, result: Result<bool, Failure>) -> Result<(), Over> {
        let index = worker.index();
        match result {
            Ok(false) => {
                self.waiting.push(worker);
                return Ok(());
            }
            Ok(true) => {}
            Err(_) if worker.abandoned => return Err(Over),
            Err(error) => return Err(self.ended(worker, error)),
        }
        self.is_full = false;
        let Done { executed, video, printed } = std::mem::take(&mut worker.done);
        self.work.executed += executed;
        self.work.video += video;
        let due = worker.meter.is_due_between() || self.turn.is_empty();
        let ended = if due { worker.meter.look(self.launch, 0) } else { None };
        self.spare.push(worker);
        if let Some(error) = ended {
            return Err(self.failed_behind_all(index, error));
        }
        if !printed.is_empty() {
            // Nothing is kept of what goes beyond the limit. The launch fails, so the number of cores does not matter.
            let length = printed.len() as u64;
            if self.launch.printed.fetch_add(length, Ordering::Relaxed) + length > MAX_PRINTED {
                let message = format!("the launch prints more than {MAX_PRINTED} bytes");
                return Err(self.failed_behind_all(index, RunError::new(RunErrorKind::Limit, message)));
            }
            self.work.printed.push((index, printed));
        }
        Ok(())
    }

    /// A block has failed. What it printed stays, and so does what was found and observed.
    fn ended(&mut self, mut worker: Box<Worker<'l>>, error: Failure) -> Over {
        let (index, printed) = (worker.index(), std::mem::take(&mut worker.done.printed));
        if !printed.is_empty() {
            self.work.printed.push((index, printed));
        }
        self.spare.push(worker);
        self.failed(index, error)
    }

    fn failed(&mut self, index: u64, error: Failure) -> Over {
        self.work.failure = Some((index, error));
        self.launch.failed.fetch_min(index, Ordering::Relaxed);
        Over
    }

    /// A failure that is no block's: any block's failure goes before it.
    fn failed_behind_all(&mut self, index: u64, error: RunError) -> Over {
        self.work.failure = Some((u64::MAX - 1, Box::new(error)));
        self.launch.failed.fetch_min(index, Ordering::Relaxed);
        Over
    }

    /// All blocks of the core wait for others. Returns when one can go on, or a block can be started.
    fn stand_still(&mut self) -> Result<(), Over> {
        let standstill = &self.launch.standstill;
        standstill.enter();
        let watched = self.launch.activity.as_ref();
        if let (Some(activity), Some(worker)) = (watched, self.waiting.first()) {
            activity.set_waiting(Some(worker.waits_for()));
        }
        let (mut nap, mut voted, since) = (NAP.0, None, Instant::now());
        let result = loop {
            if let Some(error) = self.launch.ended_from_outside() {
                let worker = self.waiting.swap_remove(0);
                let error = worker.ended_waiting(error);
                break Err(self.ended(worker, error));
            }
            let all_idle = standstill.all_idle();
            if self.waiting.iter_mut().any(|worker| worker.may_go_on()) {
                break Ok(());
            }
            // They may read more than what is known.
            if (nap == NAP.1 || all_idle.is_some())
                && let Some(result) = self.try_all()
            {
                break result;
            }
            let is_certain = self.launch.patience.is_zero() || since.elapsed() >= self.launch.patience;
            if let Some(generation) = all_idle
                && is_certain
                && standstill.vote(generation, &mut voted)
            {
                let first = (0..self.waiting.len()).min_by_key(|i| self.waiting[*i].index()).unwrap_or(0);
                let worker = self.waiting.swap_remove(first);
                let error = worker.stuck_forever();
                break Err(self.ended(worker, error));
            }
            if self.launch.failed.load(Ordering::Relaxed) != u64::MAX && !standstill.is_over() {
                break Err(Over);
            }
            if all_idle.is_none() || voted.is_some() || !is_certain {
                clock::sleep(nap);
                nap = (nap * 2).min(NAP.1);
            }
        };
        standstill.resume();
        if let Some(activity) = watched {
            activity.set_waiting(None);
        }
        result
    }

    /// Lets each block try again that waits; returns what came of it if one does not wait any more, or has changed memory, for which
    /// others may wait that have found nothing to do.
    fn try_all(&mut self) -> Option<Result<(), Over>> {
        for _ in 0..self.waiting.len() {
            let mut worker = self.waiting.remove(0);
            worker.forget_states();
            let changes = worker.reach.changes;
            match worker.advance() {
                // Behind the others, which keeps their order.
                Ok(false) if !worker.idle.lively && worker.reach.changes == changes => self.waiting.push(worker),
                result => return Some(self.came(worker, result)),
            }
        }
        None
    }
}
