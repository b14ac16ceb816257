//! A bar while work lasts.

use std::sync::atomic::Ordering;
use std::sync::mpsc::{self, RecvTimeoutError};
use std::time::Duration;

use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};
use vop_run::Progress;

/// Work that is done sooner has no bar.
const PATIENCE: Duration = Duration::from_millis(500);
const BETWEEN: Duration = Duration::from_millis(100);

/// Does some work; if it takes long and standard error is a terminal, a bar shows how many of all blocks are done. Whoever prints
/// meanwhile suspends the bar.
pub(crate) fn watch<T>(done: Progress, blocks: u64, work: impl FnOnce(&ProgressBar) -> T) -> T {
    let bar = ProgressBar::with_draw_target(Some(blocks), ProgressDrawTarget::hidden());
    std::thread::scope(|scope| {
        let (ended, end) = mpsc::channel::<()>();
        let shown = bar.clone();
        scope.spawn(move || {
            let mut wait = PATIENCE;
            while end.recv_timeout(wait) == Err(RecvTimeoutError::Timeout) {
                if wait == PATIENCE {
                    let style = "{elapsed_precise} [{bar:32}] {human_pos} of {human_len} blocks, {eta} left";
                    if let Ok(style) = ProgressStyle::with_template(style) {
                        shown.set_style(style.progress_chars("=> "));
                    }
                    shown.set_draw_target(ProgressDrawTarget::stderr());
                }
                wait = BETWEEN;
                shown.set_position(done.load(Ordering::Relaxed));
                shown.tick();
            }
            shown.finish_and_clear();
        });
        let result = work(&bar);
        drop(ended);
        result
    })
}
