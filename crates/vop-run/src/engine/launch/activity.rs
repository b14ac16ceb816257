//! What is running, for those who wait for it.

use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use crate::clock::Instant;

/// What a launch is doing, to be read from another thread while it runs. Clones share their content.
///
/// ```
/// use vop_run::{Activity, LaunchOptions};
///
/// let activity = Activity::default();
/// let options = LaunchOptions::default().with_activity(activity.clone());
/// // Another thread asks, while `Kernel::launch` runs with these options:
/// assert!(activity.now().is_none());
/// ```
#[derive(Clone, Debug, Default)]
pub struct Activity {
    shared: Arc<Shared>,
}

#[derive(Debug, Default)]
struct Shared {
    launch: Mutex<Option<Started>>,
    launches: AtomicU64,
    done: AtomicU64,
    instructions: AtomicU64,
    waiting: Mutex<Option<String>>,
}

#[derive(Clone, Debug)]
struct Started {
    entry: String,
    blocks: u64,
    at: Instant,
}

/// The launch that is running.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Now {
    /// Its number among the launches with this [`Activity`], from 1.
    pub launch: u64,
    /// The entry's name.
    pub entry: String,
    /// The number of its blocks, and of those that have ended.
    pub blocks: u64,
    /// See `blocks`.
    pub done: u64,
    /// Thread-instructions so far: those of running blocks are told a few times a millisecond.
    pub instructions: u64,
    /// The thread that a core waits for whose blocks all wait for others, and where it waits.
    pub waiting: Option<String>,
    /// The time since the launch started.
    pub elapsed: Duration,
}

impl Activity {
    /// What is running; `None` before the first launch and between launches.
    pub fn now(&self) -> Option<Now> {
        let Shared { launch, launches, done, instructions, waiting } = &*self.shared;
        let launch = launch.lock().unwrap_or_else(PoisonError::into_inner);
        let waiting = waiting.lock().unwrap_or_else(PoisonError::into_inner).clone();
        launch.as_ref().map(|started| Now {
            launch: launches.load(Ordering::Relaxed),
            entry: started.entry.clone(),
            blocks: started.blocks,
            done: done.load(Ordering::Relaxed),
            instructions: instructions.load(Ordering::Relaxed),
            elapsed: started.at.elapsed(),
            waiting,
        })
    }

    /// A launch starts; it ends when the result is dropped.
    pub(super) fn start(&self, entry: &str, blocks: u64) -> Ended<'_> {
        let Shared { launch, launches, done, instructions, waiting: _ } = &*self.shared;
        let mut launch = launch.lock().unwrap_or_else(PoisonError::into_inner);
        launches.fetch_add(1, Ordering::Relaxed);
        done.store(0, Ordering::Relaxed);
        instructions.store(0, Ordering::Relaxed);
        *launch = Some(Started { entry: entry.to_owned(), blocks, at: Instant::now() });
        Ended(self)
    }

    /// What all blocks of a core wait for.
    pub(super) fn set_waiting(&self, what: Option<String>) {
        *self.shared.waiting.lock().unwrap_or_else(PoisonError::into_inner) = what;
    }

    /// Blocks have ended, instructions were executed.
    pub(super) fn add(&self, blocks: u64, instructions: u64) {
        self.shared.done.fetch_add(blocks, Ordering::Relaxed);
        self.shared.instructions.fetch_add(instructions, Ordering::Relaxed);
    }
}

/// Ends a launch when it is dropped, whatever the result.
pub(super) struct Ended<'a>(&'a Activity);

impl Drop for Ended<'_> {
    fn drop(&mut self) {
        *self.0.shared.launch.lock().unwrap_or_else(PoisonError::into_inner) = None;
    }
}
