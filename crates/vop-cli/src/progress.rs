//! A bar on standard error while work lasts.

use std::io::IsTerminal;
use std::time::{Duration, Instant};

use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};

use crate::output;

/// Work that is done sooner shows nothing.
const PATIENCE: Duration = Duration::from_secs(1);

/// How far work has come: shown after a second where standard error is a terminal, and removed at the end.
pub(crate) struct Progress {
    bar: ProgressBar,
    start: Instant,
    /// Whether it is shown, or is not to be.
    shown: bool,
    unit: &'static str,
}

impl Progress {
    /// Of work on `total` things, or on an unknown number of them.
    pub(crate) fn new(total: Option<usize>, unit: &'static str) -> Progress {
        let bar = ProgressBar::with_draw_target(total.map(|total| total as u64), ProgressDrawTarget::hidden());
        Progress { bar, start: Instant::now(), shown: !std::io::stderr().is_terminal(), unit }
    }

    /// As [`Progress::new`], of work that prints results as it goes: nothing is shown where these go to a terminal.
    pub(crate) fn beside_output(total: Option<usize>, unit: &'static str) -> Progress {
        let mut progress = Progress::new(total, unit);
        progress.shown |= std::io::stdout().is_terminal();
        progress
    }

    /// Shown at once, for work whose first step may take long.
    #[cfg(feature = "prove")]
    pub(crate) fn at_once(mut self) -> Progress {
        self.show();
        self
    }

    /// `done` things are done.
    pub(crate) fn at(&mut self, done: usize) {
        if self.start.elapsed() >= PATIENCE {
            self.show();
        }
        self.bar.set_position(done as u64);
    }

    fn show(&mut self) {
        if std::mem::replace(&mut self.shown, true) {
            return;
        }
        if let Ok(style) = ProgressStyle::with_template(&self.template()) {
            self.bar.set_style(style.progress_chars("=> "));
        }
        self.bar.set_draw_target(ProgressDrawTarget::stderr());
        self.bar.enable_steady_tick(Duration::from_millis(200));
    }

    /// A word behind the numbers.
    #[cfg(feature = "prove")]
    pub(crate) fn remark(&self, text: String) {
        self.bar.set_message(text);
    }

    /// Prints while the bar is out of the way.
    pub(crate) fn suspend<T>(&self, print: impl FnOnce() -> T) -> T {
        self.bar.suspend(print)
    }

    fn template(&self) -> String {
        let unit = self.unit;
        let width = output::width_of_stderr();
        match (self.bar.length(), width >= 80) {
            (Some(_), true) => {
                format!("{{elapsed_precise}} [{{bar:24}}] {{human_pos}} of {{human_len}} {unit}, {{eta}} left{{msg}}")
            }
            (Some(_), false) => format!("{{percent}} % of {{human_len}} {unit}, {{eta}} left{{msg}}"),
            (None, _) => format!("{{elapsed}} {{human_pos}} {unit}{{msg}}"),
        }
    }
}

impl Drop for Progress {
    fn drop(&mut self) {
        self.bar.finish_and_clear();
    }
}
