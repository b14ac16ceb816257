//! The machine that programs see: devices, their memory, contexts, streams, modules. Rust without types of C; `driver` is a thin layer
//! over it, and `runtime` one over `driver`.
//!
//! - [`machine`] gives the one [`Machine`] of the process, after [`start`]. A process that was forked from one that uses it has none.
//! - A [`Context`] belongs to a [`Device`], and has [streams](stream), modules and the error that stays.
//! - [`Space`] knows what each address is: an address of a device is an address of this process.
//! - A stream is given [`Work`](work::Work). Whoever waits for it works as well.
//!
//! No lock is held while functions of the program run, nor while something waits for a stream.

pub mod array;
pub mod attributes;
pub mod context;
pub mod copy;
pub mod event;
pub mod graph;
pub mod handles;
pub mod host;
mod join;
pub mod launch;
pub mod mapping;
pub mod memory;
pub mod module;
pub mod pool;
pub mod report;
pub mod settings;
pub mod stream;
#[cfg(test)]
mod tests;
pub mod work;

use std::cell::Cell;
use std::sync::atomic::{AtomicBool, AtomicU32, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, Once, OnceLock, PoisonError};
use std::time::Duration;

pub use context::Context;
use handles::Handles;
use mapping::Reservations;
use memory::Space;
use pool::Pool;
use report::Report;
use settings::Settings;
use vop_run::Memory;

use crate::status::{Answer, Status};

/// All that there is in this process.
pub struct Machine {
    /// What the environment says.
    pub settings: Settings,
    /// The devices.
    pub devices: Vec<Device>,
    /// What addresses are.
    pub space: Space,
    /// Addresses that are reserved, and what is mapped there.
    pub reservations: Reservations,
    /// What handles are.
    pub handles: Handles,
    /// What is told at the end.
    pub report: Report,
    contexts: Mutex<Vec<&'static Context>>,
}

/// A device.
pub struct Device {
    /// Its number.
    pub ordinal: usize,
    /// Bytes of its memory.
    pub total: u64,
    memory: Mutex<Memory>,
    /// Bytes of memory without an address.
    physical: AtomicU64,
    /// The devices whose memory its kernels reach: a bit each.
    reaches: AtomicU32,
    primary: Mutex<Primary>,
    default_pool: OnceLock<Arc<Pool>>,
    /// The pool that the program has chosen.
    pool: Mutex<Option<Arc<Pool>>>,
}

#[derive(Default)]
struct Primary {
    context: Option<&'static Context>,
    /// How often it is held.
    count: usize,
    flags: u32,
}

static MACHINE: OnceLock<Result<Machine, Status>> = OnceLock::new();
/// Whether this process was forked from one that has a machine.
static IS_FORKED: AtomicBool = AtomicBool::new(false);

/// Makes the machine, if there is none yet.
///
/// # Errors
/// The environment cannot be read; or the process was forked from one that has a machine.
pub fn start() -> Answer<&'static Machine> {
    if IS_FORKED.load(Ordering::Relaxed) {
        return Err(Status::NOT_INITIALIZED);
    }
    let made = MACHINE.get_or_init(|| match Settings::from_environment() {
        Ok(settings) => {
            report::at_exit(|| IS_FORKED.store(true, Ordering::Relaxed));
            Ok(Machine::new(settings))
        }
        Err(message) => {
            report::say(&format!("vop: error: {message}\n"));
            Err(Status::INVALID_VALUE)
        }
    });
    let machine = made.as_ref().map_err(|status| *status)?;
    // A process that is killed has used CUDA all the same.
    static FIRST: Once = Once::new();
    FIRST.call_once(|| machine.report.save(machine));
    Ok(machine)
}

/// The machine, at the end of the process: whoever ends it.
fn machine_at_end() -> Option<&'static Machine> {
    MACHINE.get()?.as_ref().ok().filter(|_| !IS_FORKED.load(Ordering::Relaxed))
}

thread_local! {
    /// Whether the thread is in a function of the program that a stream calls. It may not call CUDA: it might wait for itself.
    static IN_CALLBACK: Cell<bool> = const { Cell::new(false) };
}

/// Calls a function of the program for a stream.
pub(crate) fn in_callback(call: impl FnOnce()) {
    let before = IN_CALLBACK.replace(true);
    call();
    IN_CALLBACK.set(before);
}

/// The machine.
///
/// # Errors
/// [`Status::NOT_INITIALIZED`] before [`start`], and in a process that was forked from one that has a machine.
/// [`Status::NOT_PERMITTED`] in functions that streams call.
pub fn machine() -> Answer<&'static Machine> {
    if IN_CALLBACK.get() {
        return Err(Status::NOT_PERMITTED);
    }
    if IS_FORKED.load(Ordering::Relaxed) {
        return Err(Status::NOT_INITIALIZED);
    }
    match MACHINE.get() {
        Some(made) => made.as_ref().map_err(|status| *status),
        None => Err(Status::NOT_INITIALIZED),
    }
}

impl Machine {
    fn new(settings: Settings) -> Machine {
        let devices = (0..settings.devices).map(|ordinal| Device::new(ordinal, &settings)).collect();
        Machine {
            settings,
            devices,
            space: Space::default(),
            reservations: Reservations::default(),
            handles: Handles::default(),
            report: Report::default(),
            contexts: Mutex::default(),
        }
    }

    /// Waits for all that was given to any device until now.
    pub fn drain(&self) {
        self.contexts().iter().for_each(|context| context.drain());
    }

    /// Waits for all that was given to any device until now, but not if no kernel has run for so long; false if something is not done
    /// then: it waits for a function of the program, or for a word that nobody writes.
    pub fn drain_patiently(&self, patience: Duration) -> bool {
        self.contexts().iter().all(|context| context.drain_patiently(patience))
    }

    fn contexts(&self) -> Vec<&'static Context> {
        self.contexts.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// A device by its number.
    ///
    /// # Errors
    /// There is none.
    pub fn device(&'static self, ordinal: i32) -> Answer<&'static Device> {
        usize::try_from(ordinal).ok().and_then(|ordinal| self.devices.get(ordinal)).ok_or(Status::INVALID_DEVICE)
    }
}

impl Device {
    fn new(ordinal: usize, settings: &Settings) -> Device {
        let mut memory = Memory::at_host_addresses();
        // What the machine has is shared out.
        let total = settings.memory.unwrap_or_else(|| memory.limit() / settings.devices as u64);
        // It is empty, so that no limit is too small.
        let _ = memory.set_limit(total);
        let primary = Mutex::default();
        Device {
            ordinal,
            total,
            memory: Mutex::new(memory),
            physical: AtomicU64::new(0),
            reaches: AtomicU32::new(0),
            primary,
            default_pool: OnceLock::new(),
            pool: Mutex::new(None),
        }
    }

    /// Whether its kernels reach the memory of another device.
    pub fn reaches(&self, other: usize) -> bool {
        self.reaches.load(Ordering::Relaxed) & (1 << other) != 0
    }

    fn set_reaches(&self, other: usize, reaches: bool) {
        match reaches {
            true => self.reaches.fetch_or(1 << other, Ordering::Relaxed),
            false => self.reaches.fetch_and(!(1 << other), Ordering::Relaxed),
        };
    }

    fn primary(&self) -> std::sync::MutexGuard<'_, Primary> {
        self.primary.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Holds the primary context.
    pub fn retain_primary(&'static self, machine: &'static Machine) -> &'static Context {
        let mut primary = self.primary();
        primary.count += 1;
        let flags = primary.flags;
        let context = *primary.context.get_or_insert_with(|| Context::new(machine, self, true, flags));
        context.flags.store(flags, Ordering::Relaxed);
        context
    }

    /// Holds the primary context no more. When nobody does, it is emptied.
    ///
    /// # Errors
    /// Nobody holds it.
    pub fn release_primary(&self) -> Answer {
        let mut primary = self.primary();
        primary.count = primary.count.checked_sub(1).ok_or(Status::INVALID_CONTEXT)?;
        let context = primary.context.filter(|_| primary.count == 0);
        drop(primary);
        if let Some(context) = context {
            context.empty();
        }
        Ok(())
    }

    /// Empties the primary context.
    pub fn reset_primary(&self) {
        let context = self.primary().context;
        if let Some(context) = context {
            context.empty();
        }
    }

    /// The flags of the primary context, and whether somebody holds it.
    pub fn primary_state(&self) -> (u32, bool) {
        let primary = self.primary();
        (primary.flags, primary.count > 0)
    }

    /// Sets the flags of the primary context.
    pub fn set_primary_flags(&self, flags: u32) {
        let mut primary = self.primary();
        primary.flags = flags;
        if let Some(context) = primary.context {
            context.flags.store(flags, Ordering::Relaxed);
        }
    }

    /// Bytes of its memory that are free.
    pub fn free(&self, machine: &Machine) -> u64 {
        // What is mapped is counted once, however often it is.
        let is_taken = |kind: memory::Kind| !kind.is_host() && kind != memory::Kind::Mapped;
        let taken = machine.space.filtered(|allocation| allocation.device == self.ordinal && is_taken(allocation.kind));
        let taken: u64 = taken.iter().map(|allocation| allocation.len).sum();
        self.total.saturating_sub(taken + self.physical.load(Ordering::Relaxed))
    }
}
