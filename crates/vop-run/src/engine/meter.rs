//! What a launch costs, and what ends it before its end: the limit, the time, and whoever asks for it to stop.
//!
//! The limit is a number of thread-instructions. Where the work of the engine is not proportional to them, it is *overhead* and counts as
//! the number of thread-instructions that take about as long: a step that few threads of a warp take, a byte that `printf` formats, a
//! header that `malloc` passes. The count depends on the kernel and its input alone, not on the machine; but a loop that has become one function
//! of machine code has less overhead, as few threads go through it at a time.

use std::sync::atomic::Ordering;
use std::time::Duration;

use super::block::{Failure, Worker};
use super::launch::Launch;
use crate::error::{RunError, RunErrorKind};

/// What a step costs at least, for each warp of the block: loops work on whole warps.
pub(super) const STEP: u64 = 16;
/// A block costs this beyond what its threads execute.
pub(super) const BLOCK: u64 = 64;
/// Overhead that is not counted, so that the limit of a short launch is its number of thread-instructions. It takes some milliseconds.
const FREE: u64 = 1 << 24;
/// Work between two looks at the clock and at the others: well below a millisecond for most.
const LOOK: u64 = 1 << 17;

/// What setting zeros to memory costs.
pub(super) fn of_zeros(bytes: usize) -> u64 {
    bytes as u64 / 8
}

/// The work of a core that the launch has not been told of.
#[derive(Clone, Debug, Default)]
pub(super) struct Meter {
    /// Thread-instructions of blocks that have ended.
    before: u64,
    /// Those of the running block that the launch knows.
    told: u64,
    /// Overhead.
    pub(super) over: u64,
    /// The sum of the running block's thread-instructions and of `over` at which to look again.
    pub(super) due: u64,
    /// Work from one look to the next.
    stretch: u64,
}

impl Meter {
    pub(super) fn new() -> Meter {
        // The first look finds out how far it is to the limit.
        Meter { stretch: 0, ..Meter::default() }
    }

    /// A block starts, which has executed nothing.
    pub(super) fn start(&mut self) {
        self.told = 0;
        self.due = self.stretch.saturating_sub(self.before);
    }

    /// A block has ended after this number of thread-instructions.
    pub(super) fn end(&mut self, executed: u64) {
        self.before += executed - self.told;
        self.told = 0;
    }

    /// Whether to look between two blocks.
    pub(super) fn is_due_between(&self) -> bool {
        self.before + self.over >= self.stretch
    }

    /// Tells the launch what was done since the last time; `executed` is of the running block. Returns what is wrong with it.
    pub(super) fn look(&mut self, launch: &Launch<'_>, executed: u64) -> Option<RunError> {
        let new = self.before + (executed - self.told);
        let all = launch.executed.fetch_add(new, Ordering::Relaxed) + new;
        let over = launch.overhead.fetch_add(self.over, Ordering::Relaxed) + self.over;
        launch.tell_instructions(new);
        let used = all.saturating_add(over.saturating_sub(FREE));
        let left = launch.limit.saturating_sub(used).saturating_add(1);
        *self = Meter { before: 0, told: executed, over: 0, due: 0, stretch: left.min(LOOK) };
        self.due = executed + self.stretch;
        if used > launch.limit {
            return Some(launch.limit_error(all));
        }
        launch.ended_from_outside()
    }
}

impl Launch<'_> {
    /// The error for a launch that has reached its limit after this number of thread-instructions.
    #[cold]
    fn limit_error(&self, executed: u64) -> RunError {
        let limit = self.limit;
        let mut message = format!("the launch's limit of {} thread-instructions is reached", vop::grouped(limit));
        if executed <= limit {
            message += &format!(": it has executed {}, and what took longer counts as more", vop::grouped(executed));
        }
        let higher = limit.saturating_mul(10);
        let help = format!("check that every loop ends, or raise the limit, as by `--limit {}`", short(higher));
        RunError::new(RunErrorKind::Limit, message).with_help(help)
    }

    /// Whether somebody has asked the launch to stop.
    pub(super) fn is_stopped(&self) -> bool {
        self.stop.as_ref().is_some_and(|stop| stop.load(Ordering::Relaxed))
    }

    /// The error if the time is over or the launch is to stop.
    pub(super) fn ended_from_outside(&self) -> Option<RunError> {
        if self.is_stopped() {
            return Some(RunError::new(RunErrorKind::Stopped, "the launch was stopped"));
        }
        let timeout = self.timeout?;
        if self.start.elapsed() < timeout {
            return None;
        }
        let message = format!("the launch has not ended after {}", seconds(timeout));
        let help = format!("give it more time, as by `--timeout {}`", seconds(timeout.saturating_mul(10)));
        Some(RunError::new(RunErrorKind::Timeout, message).with_help(help))
    }
}

/// A count with a unit if it is a multiple of one: `10G`.
fn short(count: u64) -> String {
    let units = [(1_000_000_000_000, "T"), (1_000_000_000, "G"), (1_000_000, "M"), (1000, "K")];
    match units.into_iter().find(|(unit, _)| count.is_multiple_of(*unit)) {
        Some((unit, name)) if count > 0 => format!("{}{name}", count / unit),
        _ => count.to_string(),
    }
}

/// `90s`, `1.5s`.
pub(super) fn seconds(time: Duration) -> String {
    format!("{}s", time.as_secs_f64())
}

impl Worker<'_> {
    /// The result of the block does not matter any more.
    #[cold]
    pub(super) fn abandon(&mut self) -> Failure {
        self.abandoned = true;
        Box::new(RunError::new(RunErrorKind::Limit, ""))
    }

    /// Counts overhead, and looks whether the launch may go on if much has been done.
    pub(super) fn charge(&mut self, cost: u64) -> Result<(), Failure> {
        self.meter.over += cost;
        self.look_if_due()
    }

    /// Looks whether the launch may go on if much has been done since the last time.
    #[inline(always)]
    pub(super) fn look_if_due(&mut self) -> Result<(), Failure> {
        if self.done.executed + self.meter.over >= self.meter.due { self.look() } else { Ok(()) }
    }

    /// Looks whether the launch may go on.
    #[inline(never)]
    pub(super) fn look(&mut self) -> Result<(), Failure> {
        if self.launch.failed.load(Ordering::Relaxed) < self.index() {
            return Err(self.abandon());
        }
        match self.meter.look(self.launch, self.done.executed) {
            Some(error) => Err(self.ended(error)),
            None => {
                self.choose_steps();
                Ok(())
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn counts_and_times_as_options_take_them() {
        let shown = [0, 10, 1000, 12_000_000, 1_000_000_000_000, 1_000_001].map(short);
        assert_eq!(shown, ["0", "10", "1K", "12M", "1T", "1000001"]);
        assert_eq!([1500, 90_000, 5].map(|n| seconds(Duration::from_millis(n))), ["1.5s", "90s", "0.005s"]);
    }
}
