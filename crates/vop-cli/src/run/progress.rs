//! A bar on standard error while work on blocks lasts.

use std::sync::atomic::Ordering;
use std::sync::mpsc::{self, RecvTimeoutError};
use std::time::Duration;

use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};
use vop_run::{Activity, Progress};

use crate::output;

/// Work that is done sooner has no bar.
const PATIENCE: Duration = Duration::from_millis(500);
const BETWEEN: Duration = Duration::from_millis(100);
/// A launch that lasts longer is named.
const LONG: Duration = Duration::from_secs(5);

/// What is watched.
pub(crate) struct Watched {
    /// Counts the blocks that are done.
    pub(crate) done: Progress,
    /// How many blocks there are.
    pub(crate) blocks: u64,
    /// The launches of `vop run`.
    pub(crate) launches: Option<Launches>,
}

/// Launches, and what stops each.
pub(crate) struct Launches {
    pub(crate) activity: Activity,
    pub(crate) count: usize,
    /// The limit of thread-instructions of each, and of its time.
    pub(crate) limit: u64,
    pub(crate) timeout: Option<Duration>,
}

impl Launches {
    /// What is running, if it has been for a while.
    fn running(&self) -> Option<String> {
        let now = self.activity.now().filter(|now| now.elapsed >= LONG)?;
        let which = if self.count > 1 { format!(" (launch {} of {})", now.launch, self.count) } else { String::new() };
        let time = self
            .timeout
            .map_or(String::new(), |timeout| format!(", {} of {} s", now.elapsed.as_secs(), timeout.as_secs_f64()));
        let waiting = now.waiting.map_or(String::new(), |waiting| format!("\n{waiting}"));
        Some(format!(
            "\n`{}`{which}: {} of {} done, {} of at most {} thread-instructions{time}{waiting}",
            now.entry,
            vop::grouped(now.done),
            counted(now.blocks, "block"),
            short(now.instructions),
            short(self.limit),
        ))
    }
}

/// `1 block`, `2,400 blocks`.
pub(crate) fn counted(count: u64, what: &str) -> String {
    format!("{} {what}{}", vop::grouped(count), if count == 1 { "" } else { "s" })
}

/// A large number in words: 12.3 billion.
fn short(number: u64) -> String {
    for (unit, name) in [(1_000_000_000, "billion"), (1_000_000, "million")] {
        if number >= unit {
            let (whole, tenth) = (number / unit, number % unit * 10 / unit);
            let fraction = if tenth == 0 { String::new() } else { format!(".{tenth}") };
            return format!("{}{fraction} {name}", vop::grouped(whole));
        }
    }
    vop::grouped(number)
}

/// Does some work. If it takes long and standard error is a terminal, a bar shows how many of all blocks are done, an estimate of the time
/// left, and the launch that is running if that takes longer still. Print by `suspend` meanwhile.
pub(crate) fn watch<T>(watched: Watched, work: impl FnOnce(&ProgressBar) -> T) -> T {
    let Watched { done, blocks, launches } = watched;
    let bar = ProgressBar::with_draw_target(Some(blocks), ProgressDrawTarget::hidden());
    std::thread::scope(|scope| {
        let (ended, end) = mpsc::channel::<()>();
        let shown = bar.clone();
        scope.spawn(move || {
            let mut wait = PATIENCE;
            while end.recv_timeout(wait) == Err(RecvTimeoutError::Timeout) {
                if wait == PATIENCE {
                    let style = if output::width_of_stderr() >= 80 {
                        "{elapsed_precise} [{bar:24}] {human_pos} of {human_len} blocks, {eta} left{msg}"
                    } else {
                        "{percent} % of {human_len} blocks, {eta} left{msg}"
                    };
                    if let Ok(style) = ProgressStyle::with_template(style) {
                        shown.set_style(style.progress_chars("=> "));
                    }
                    shown.set_draw_target(ProgressDrawTarget::stderr());
                }
                wait = BETWEEN;
                shown.set_position(done.load(Ordering::Relaxed));
                shown.set_message(launches.as_ref().and_then(Launches::running).unwrap_or_default());
                shown.tick();
            }
            shown.finish_and_clear();
        });
        let result = work(&bar);
        drop(ended);
        result
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_in_words() {
        let shown = [0, 1, 999_999, 1_000_000, 12_345_678_901, 100_000_000_000, u64::MAX].map(short);
        let expected = ["0", "1", "999,999", "1 million", "12.3 billion", "100 billion", "18,446,744,073.7 billion"];
        assert_eq!(shown, expected);
        assert_eq!([0, 1, 2400].map(|n| counted(n, "block")), ["0 blocks", "1 block", "2,400 blocks"]);
    }
}
