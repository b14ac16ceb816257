//! Streams: work in order, beside the program.
//!
//! A stream is a queue and a thread that works it off. Who waits for a stream works on it as well, so that a launch and the wait for it
//! need no change of threads. Only what calls the program back is left to the stream's thread, as it is on a card: the program may have
//! locked what the function wants.
//!
//! Work has a number in its stream. Other streams wait for a number ([`Ticket`]), and such work was always given before what waits for
//! it, so that nothing waits in a circle.

use std::collections::VecDeque;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use super::context::Context;
use super::graph::Capturing;
use super::launch;
use super::work::Work;
use crate::status::{Answer, Status};

/// What a stream is to the context's default stream.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Role {
    /// The default stream: it waits for all work in blocking streams, and they for it.
    Default,
    /// A stream that does so.
    Blocking,
    /// A stream that has nothing to do with it.
    NonBlocking,
}

/// A stream of a context.
pub struct Stream {
    /// Its handle.
    pub handle: u64,
    /// A number that no other stream of the process has: `cuStreamGetId`.
    pub id: u64,
    /// Its context.
    pub context: &'static Context,
    /// What it is to the default stream.
    pub role: Role,
    /// Its priority, which has no effect.
    pub priority: i32,
    queue: Mutex<Queue>,
    changed: Condvar,
    /// The last number that is done, to be read without the lock.
    done: AtomicU64,
    /// Where its calls go instead, if it is being captured.
    capturing: Mutex<Option<Capturing>>,
    is_capturing: AtomicBool,
}

/// What a stream still has to do.
#[derive(Default)]
struct Queue {
    items: VecDeque<Item>,
    /// The number of the last item that was given.
    given: u64,
    /// Whether somebody works on an item.
    is_running: bool,
    /// How many threads wait for a change.
    waiting: usize,
    /// Whether its thread is there, and whether it sleeps.
    has_thread: bool,
    is_asleep: bool,
    /// Whether its thread is to end when all is done.
    is_closed: bool,
}

struct Item {
    after: Vec<Ticket>,
    work: Work,
}

/// Work of a stream that others wait for.
#[derive(Clone)]
pub struct Ticket {
    stream: Arc<Stream>,
    number: u64,
}

impl Ticket {
    /// Whether it is done.
    pub fn is_done(&self) -> bool {
        self.stream.done.load(Ordering::Acquire) >= self.number
    }

    /// Waits until it is done, and helps.
    pub fn wait(&self) {
        self.stream.work_until(self.number);
    }

    /// Waits until it is done, but not if no kernel has run for so long; false if it is not done then. The stream's own thread does the
    /// work: who helps cannot stop.
    pub fn wait_patiently(&self, patience: Duration) -> bool {
        self.stream.wait_for_thread(self.number, patience)
    }
}

/// Bytes of the stack of a stream's thread, as the program's own threads have: it calls functions of the program.
const STACK: usize = 8 << 20;
/// How much work a stream holds back at most. Who gives it more waits until half of that is done, as on a card.
const MAX_ITEMS: usize = 1024;
/// How long a thread without work stays, once it sleeps.
const PATIENCE: Duration = Duration::from_secs(2);
/// How long, and how often, it only naps before that.
const NAP: Duration = Duration::from_micros(50);
const NAPS: u32 = 20;

impl Stream {
    /// A stream of a context.
    pub fn new(context: &'static Context, handle: u64, role: Role, priority: i32) -> Arc<Stream> {
        static IDS: AtomicU64 = AtomicU64::new(1);
        Arc::new(Stream {
            handle,
            id: IDS.fetch_add(1, Ordering::Relaxed),
            context,
            role,
            priority,
            queue: Mutex::default(),
            changed: Condvar::new(),
            done: AtomicU64::new(0),
            capturing: Mutex::new(None),
            is_capturing: AtomicBool::new(false),
        })
    }

    fn queue(&self) -> MutexGuard<'_, Queue> {
        self.queue.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Whether what is given to it is captured.
    pub fn is_capturing(&self) -> bool {
        self.is_capturing.load(Ordering::Acquire)
    }

    /// Looks at, and changes, where its calls go.
    pub fn with_capture<T>(&self, look: impl FnOnce(&mut Option<Capturing>) -> T) -> T {
        let mut capturing = self.capturing.lock().unwrap_or_else(PoisonError::into_inner);
        let result = look(&mut capturing);
        self.is_capturing.store(capturing.is_some(), Ordering::Release);
        result
    }

    /// Gives it work. While it is captured, the work becomes a node, and the ticket is that of all work before.
    ///
    /// # Errors
    /// The capture is broken.
    pub fn give(self: &Arc<Self>, work: Work) -> Answer<Ticket> {
        self.give_after(Vec::new(), work)
    }

    /// Gives it work that also waits for others.
    ///
    /// # Errors
    /// The capture is broken.
    pub fn give_after(self: &Arc<Self>, after: Vec<Ticket>, work: Work) -> Answer<Ticket> {
        self.put(after, work, true)
    }

    /// Gives it work, and waits for it: this thread does it, unless the other one is already at work.
    ///
    /// # Errors
    /// The stream is captured.
    pub fn do_now(self: &Arc<Self>, work: Work) -> Answer {
        if self.is_capturing() {
            self.with_capture(|capturing| capturing.iter_mut().for_each(Capturing::invalidate));
            return Err(Status::STREAM_CAPTURE_UNSUPPORTED);
        }
        self.put(Vec::new(), work, false)?.wait();
        Ok(())
    }

    fn put(self: &Arc<Self>, mut after: Vec<Ticket>, work: Work, wake: bool) -> Answer<Ticket> {
        if self.is_capturing() {
            let captured =
                self.with_capture(|capturing| capturing.as_mut().map(|capturing| capturing.add(work.clone())));
            if let Some(result) = captured {
                result?;
                return Ok(self.last());
            }
        }
        self.context.wait_for_default(self, &mut after)?;
        after.retain(|ticket| !ticket.is_done());
        let mut queue = self.queue();
        queue.given += 1;
        let number = queue.given;
        queue.items.push_back(Item { after, work });
        // Who waits at once starts the thread if it needs it.
        let must_start = wake && !queue.has_thread;
        let is_full = queue.items.len() > MAX_ITEMS;
        if must_start {
            queue.has_thread = true;
        } else if wake && queue.is_asleep {
            queue.is_asleep = false;
            self.changed.notify_all();
        }
        drop(queue);
        if must_start {
            self.start();
        }
        if is_full {
            self.work_until(number - (MAX_ITEMS / 2) as u64);
        }
        Ok(Ticket { stream: Arc::clone(self), number })
    }

    fn start(self: &Arc<Self>) {
        let stream = Arc::clone(self);
        let name = format!("vop-stream-{}", self.id);
        let builder = std::thread::Builder::new().name(name).stack_size(STACK);
        if builder.spawn(move || stream.work_off()).is_err() {
            // The system gives no more threads: this one does it.
            self.queue().has_thread = false;
            while self.work_on_one(true, None) {}
        }
    }

    /// What its thread does.
    fn work_off(self: Arc<Self>) {
        let mut naps = 0;
        loop {
            while self.work_on_one(true, None) {
                naps = 0;
            }
            let mut queue = self.queue();
            if !queue.items.is_empty() && !queue.is_running {
                continue;
            }
            if queue.items.is_empty() && queue.is_closed {
                queue.has_thread = false;
                return;
            }
            // At first it looks again and again, so that who gives it work need not wake it, which takes as long as a small launch.
            let is_light = naps < NAPS;
            queue.is_asleep = !is_light;
            let time = if is_light { NAP } else { PATIENCE };
            let (mut queue, timeout) = self.changed.wait_timeout(queue, time).unwrap_or_else(PoisonError::into_inner);
            queue.is_asleep = false;
            naps = if timeout.timed_out() && queue.items.is_empty() { naps + 1 } else { 0 };
            if naps > NAPS && !queue.is_running {
                queue.has_thread = false;
                return;
            }
        }
    }

    /// Takes the next item and does it; false if there is none, or another thread has to do it, or that of the number `until` is done.
    ///
    /// Who waits for an item must not take one behind it: that one may wait for what this thread is in the middle of.
    fn work_on_one(&self, is_own_thread: bool, until: Option<u64>) -> bool {
        let mut queue = self.queue();
        // The number changes under the lock only.
        if queue.is_running || until.is_some_and(|number| self.done.load(Ordering::Acquire) >= number) {
            return false;
        }
        match queue.items.front() {
            Some(item) if is_own_thread || !item.work.calls_back() => {}
            _ => return false,
        }
        let Some(item) = queue.items.pop_front() else { return false };
        queue.is_running = true;
        drop(queue);
        item.after.iter().for_each(Ticket::wait);
        let context = self.context;
        let done = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| context.run(item.work)));
        if done.is_err() {
            // Whoever waits for the stream must not wait for ever.
            crate::abi::report_bug("work of a stream");
            context.fail(Status::UNKNOWN);
        }
        let mut queue = self.queue();
        queue.is_running = false;
        self.done.fetch_add(1, Ordering::Release);
        let others = queue.waiting > 0 || queue.is_asleep && !queue.items.is_empty();
        drop(queue);
        if others {
            self.changed.notify_all();
        }
        true
    }

    /// Works until the item of this number is done.
    fn work_until(self: &Arc<Self>, number: u64) {
        while self.done.load(Ordering::Acquire) < number {
            if self.work_on_one(false, Some(number)) {
                continue;
            }
            let mut queue = self.queue();
            if self.done.load(Ordering::Acquire) >= number {
                return;
            }
            let is_for_thread = queue.items.front().is_some_and(|item| item.work.calls_back());
            if !queue.is_running && !is_for_thread {
                continue;
            }
            if is_for_thread && !queue.has_thread {
                queue.has_thread = true;
                drop(queue);
                self.start();
                continue;
            }
            if queue.is_asleep {
                queue.is_asleep = false;
                self.changed.notify_all();
            }
            queue.waiting += 1;
            let mut queue = self.changed.wait(queue).unwrap_or_else(PoisonError::into_inner);
            queue.waiting -= 1;
        }
    }

    /// Lets the stream's thread work until the item of this number is done, or no kernel has run for so long; false if it is not done.
    fn wait_for_thread(self: &Arc<Self>, number: u64, patience: Duration) -> bool {
        /// How often it looks whether a kernel runs.
        const LOOK: Duration = Duration::from_millis(100);
        let mut since = Instant::now();
        let mut queue = self.queue();
        while self.done.load(Ordering::Acquire) < number {
            if launch::is_any_running() {
                since = Instant::now();
            }
            if since.elapsed() > patience {
                return false;
            }
            if !queue.has_thread {
                queue.has_thread = true;
                drop(queue);
                self.start();
                queue = self.queue();
                continue;
            }
            if queue.is_asleep {
                queue.is_asleep = false;
                self.changed.notify_all();
            }
            queue.waiting += 1;
            queue = self.changed.wait_timeout(queue, LOOK).unwrap_or_else(PoisonError::into_inner).0;
            queue.waiting -= 1;
        }
        true
    }

    /// The ticket of all work that was given until now.
    pub fn last(self: &Arc<Self>) -> Ticket {
        let number = self.queue().given;
        Ticket { stream: Arc::clone(self), number }
    }

    /// Whether all work is done that [`Stream::synchronize`] waits for.
    pub fn is_idle(self: &Arc<Self>) -> bool {
        self.context.all_of(self).iter().all(Ticket::is_done)
    }

    /// Whether it gets no more work, and has none.
    pub fn is_over(&self) -> bool {
        let queue = self.queue();
        queue.is_closed && self.done.load(Ordering::Acquire) == queue.given
    }

    /// Whether it takes no more work.
    pub fn is_closed(&self) -> bool {
        self.queue().is_closed
    }

    /// Waits until all work is done that was given until now: for the default stream also that of the streams that it waits for.
    ///
    /// # Errors
    /// A kernel in the context has failed; or the stream is being captured.
    pub fn synchronize(self: &Arc<Self>) -> Answer {
        if self.is_capturing() {
            self.with_capture(|capturing| capturing.iter_mut().for_each(Capturing::invalidate));
            return Err(Status::STREAM_CAPTURE_UNSUPPORTED);
        }
        self.context.all_of(self).iter().for_each(Ticket::wait);
        self.context.flush();
        self.context.check()
    }

    /// The stream is destroyed, or its device is reset: a capture that began here is over, and breaks no calls any more.
    pub fn abandon_capture(&self) {
        if let Some(mut capturing) = self.with_capture(Option::take) {
            capturing.abandon(self.handle);
        }
    }

    /// The stream will get no more work. What it has is done.
    pub fn close(&self) {
        let mut queue = self.queue();
        queue.is_closed = true;
        let has_thread = queue.has_thread;
        drop(queue);
        if has_thread {
            self.changed.notify_all();
        }
    }
}
