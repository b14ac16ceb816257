//! Threads that help with launches: they are kept from one launch to the next, as starting and joining one takes longer than a small launch.
//!
//! The thread that launches works as well, from the start. A helper that has not woken when there is nothing left to do is called off, so
//! a small launch never waits for one.
//!
//! A process that was forked has none of its parent's threads, so it has a pool of its own. Helpers are detached, so they neither keep
//! the process alive nor take part in its end, and they take no signals, which are for the program's own threads.

#![allow(
    unsafe_code,
    reason = "a helper runs what the launching thread has on its stack, and signals are masked by the system's functions"
)]

use std::any::Any;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::sync::atomic::{AtomicBool, AtomicPtr, Ordering};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::thread::Thread;

/// What a helper does: the argument is its number in the launch.
type Task = dyn Fn(usize) + Sync;

/// Turns for which the launching thread looks whether a helper has ended before it sleeps.
const SPINS: u32 = 200;

/// The helpers of one process.
struct Pool {
    process: u32,
    /// Those without a task. The one that was used last is taken first.
    idle: Mutex<Vec<Arc<Helper>>>,
}

static POOL: AtomicPtr<Pool> = AtomicPtr::new(std::ptr::null_mut());

struct Helper {
    inbox: Mutex<Inbox>,
    wakes: Condvar,
}

#[derive(Default)]
struct Inbox {
    call: Option<Arc<Call>>,
    sleeps: bool,
}

/// A task that a helper is asked for.
struct Call {
    task: *const Task,
    index: usize,
    done: AtomicBool,
    caller: Thread,
}

// SAFETY: the task may be called from any thread, and is there until the call is done or was taken back: see `Together`.
unsafe impl Send for Call {}
// SAFETY: as above.
unsafe impl Sync for Call {}

fn locked<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Pool {
    /// The pool of this process.
    fn get() -> &'static Pool {
        let process = std::process::id();
        loop {
            let found = POOL.load(Ordering::Acquire);
            // SAFETY: a pool that was put there stays for ever.
            if let Some(pool) = unsafe { found.as_ref() }
                && pool.process == process
            {
                return pool;
            }
            // None yet, or one of the process that this one was forked from, whose locks may be held by threads that are not here.
            let new = Box::into_raw(Box::new(Pool { process, idle: Mutex::default() }));
            if POOL.compare_exchange(found, new, Ordering::AcqRel, Ordering::Acquire).is_err() {
                // SAFETY: nobody else has seen it.
                drop(unsafe { Box::from_raw(new) });
            }
        }
    }

    /// A helper without a task; `None` if the system refuses a thread.
    fn helper(&'static self) -> Option<Arc<Helper>> {
        if let Some(helper) = locked(&self.idle).pop() {
            return Some(helper);
        }
        let helper = Arc::new(Helper { inbox: Mutex::default(), wakes: Condvar::new() });
        let own = Arc::clone(&helper);
        let start = || std::thread::Builder::new().name("vop-core".to_owned()).spawn(move || own.work(self));
        without_signals(start).ok()?;
        Some(helper)
    }
}

impl Helper {
    /// Works on what it is asked for, until the process ends.
    fn work(self: Arc<Self>, pool: &'static Pool) {
        loop {
            let call = {
                let mut inbox = locked(&self.inbox);
                loop {
                    if let Some(call) = inbox.call.take() {
                        break call;
                    }
                    inbox.sleeps = true;
                    inbox = self.wakes.wait(inbox).unwrap_or_else(PoisonError::into_inner);
                    inbox.sleeps = false;
                }
            };
            // SAFETY: whoever has put the call there waits until it is done, as it was not taken back.
            unsafe { (*call.task)(call.index) };
            // Before the caller goes on, so that its next launch finds this helper.
            locked(&pool.idle).push(Arc::clone(&self));
            call.done.store(true, Ordering::Release);
            call.caller.unpark();
        }
    }

    fn ask(&self, call: Arc<Call>) {
        let mut inbox = locked(&self.inbox);
        inbox.call = Some(call);
        if std::mem::take(&mut inbox.sleeps) {
            drop(inbox);
            self.wakes.notify_one();
        }
    }
}

/// Starts a thread that takes no signals but those of its own faults.
#[cfg(unix)]
fn without_signals<T>(start: impl FnOnce() -> T) -> T {
    // SAFETY: the sets are initialised before they are read, and the thread's mask is what it was afterwards.
    unsafe {
        let (mut all, mut old) = (std::mem::zeroed::<libc::sigset_t>(), std::mem::zeroed::<libc::sigset_t>());
        libc::sigfillset(&mut all);
        for fault in [libc::SIGSEGV, libc::SIGBUS, libc::SIGFPE, libc::SIGILL, libc::SIGTRAP] {
            libc::sigdelset(&mut all, fault);
        }
        let masked = libc::pthread_sigmask(libc::SIG_SETMASK, &all, &mut old) == 0;
        let result = start();
        if masked {
            libc::pthread_sigmask(libc::SIG_SETMASK, &old, std::ptr::null_mut());
        }
        result
    }
}

#[cfg(not(unix))]
fn without_signals<T>(start: impl FnOnce() -> T) -> T {
    start()
}

/// The helpers of a launch. Nothing of the launch is left with them when it is dropped.
struct Together {
    pool: &'static Pool,
    calls: Vec<(Arc<Helper>, Arc<Call>)>,
}

impl Together {
    /// Takes back what has not been started; returns how many calls that were.
    fn call_off(&mut self) -> usize {
        let before = self.calls.len();
        self.calls.retain(|(helper, _)| {
            let is_started = locked(&helper.inbox).call.take().is_none();
            if !is_started {
                locked(&self.pool.idle).push(Arc::clone(helper));
            }
            is_started
        });
        before - self.calls.len()
    }

    /// Waits for what was started.
    fn wait(&mut self) {
        for (_, call) in self.calls.drain(..) {
            for _ in 0..SPINS {
                if call.done.load(Ordering::Acquire) {
                    break;
                }
                std::hint::spin_loop();
            }
            while !call.done.load(Ordering::Acquire) {
                std::thread::park();
            }
        }
    }
}

impl Drop for Together {
    fn drop(&mut self) {
        self.call_off();
        self.wait();
    }
}

/// Does the same work on this thread and on up to `helpers` others; returns all results, this thread's first. `absent` is told how many
/// others did not come.
pub(super) fn together<T: Send>(helpers: usize, work: impl Fn() -> T + Sync, absent: impl Fn(usize)) -> Vec<T> {
    type Slot<T> = Mutex<Option<Result<T, Box<dyn Any + Send>>>>;
    let slots: Vec<Slot<T>> = (0..helpers).map(|_| Mutex::new(None)).collect();
    let task = |index: usize| {
        let result = catch_unwind(AssertUnwindSafe(&work));
        *locked(&slots[index]) = Some(result);
    };
    let task: *const (dyn Fn(usize) + Sync + '_) = &task;
    // SAFETY: only the lifetime differs. `Together` outlives no call of the task: it ends before `task`, also if `work` panics.
    let task: *const Task = unsafe { std::mem::transmute(task) };
    let pool = Pool::get();
    let mut others = Together { pool, calls: Vec::with_capacity(helpers) };
    let caller = std::thread::current();
    for index in 0..helpers {
        // If the system refuses a thread, its work goes to the others.
        let Some(helper) = pool.helper() else { break };
        let call = Arc::new(Call { task, index, done: AtomicBool::new(false), caller: caller.clone() });
        others.calls.push((Arc::clone(&helper), Arc::clone(&call)));
        helper.ask(call);
    }
    let refused = helpers - others.calls.len();
    if refused > 0 {
        absent(refused);
    }
    let own = work();
    // Those that came may be waiting to hear that the others will not.
    let called_off = others.call_off();
    if called_off > 0 {
        absent(called_off);
    }
    others.wait();
    let results = slots.into_iter().filter_map(|slot| slot.into_inner().unwrap_or_else(PoisonError::into_inner));
    let results = results.map(|result| result.unwrap_or_else(|panic| resume_unwind(panic)));
    std::iter::once(own).chain(results).collect()
}
