//! Pools: memory that streams allocate and free. Here each allocation is one of the device's; a pool only counts.

use std::collections::HashMap;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use super::{Device, Machine, handles};
use crate::status::{Answer, Status};

/// A pool of a device.
pub struct Pool {
    /// Its handle.
    pub handle: u64,
    /// Its device.
    pub device: &'static Device,
    /// Whether it is the device's own, which cannot be destroyed.
    pub is_default: bool,
    /// Attributes that the program sets, which have no effect.
    set: Mutex<HashMap<i32, u64>>,
    /// Bytes that are in use.
    used: AtomicU64,
    /// The most bytes that were in use since this was reset.
    high: AtomicU64,
}

/// `CU_MEMPOOL_ATTR_…`: reuse (three switches), the threshold of giving back, and counts of bytes.
const REUSE: std::ops::RangeInclusive<i32> = 1..=3;
const THRESHOLD: i32 = 4;
const RESERVED_CURRENT: i32 = 5;
const RESERVED_HIGH: i32 = 6;
const USED_CURRENT: i32 = 7;
const USED_HIGH: i32 = 8;

impl Pool {
    /// A pool of a device.
    pub fn new(machine: &Machine, device: &'static Device, is_default: bool) -> Arc<Pool> {
        let handle = handles::next();
        let (set, used, high) = (Mutex::default(), AtomicU64::new(0), AtomicU64::new(0));
        let pool = Arc::new(Pool { handle, device, is_default, set, used, high });
        machine.handles.set(handle, Arc::clone(&pool));
        pool
    }

    /// So many bytes were allocated.
    pub fn take(&self, len: u64) {
        let used = self.used.fetch_add(len, Ordering::Relaxed) + len;
        self.high.fetch_max(used, Ordering::Relaxed);
    }

    /// So many bytes were freed.
    pub fn give_back(&self, len: u64) {
        self.used.fetch_sub(len, Ordering::Relaxed);
    }

    fn set(&self) -> MutexGuard<'_, HashMap<i32, u64>> {
        self.set.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The size of an attribute: switches are 32 bits, counts 64.
    pub fn is_switch(attribute: i32) -> bool {
        REUSE.contains(&attribute)
    }

    /// An attribute.
    ///
    /// # Errors
    /// There is none of this number.
    pub fn attribute(&self, attribute: i32) -> Answer<u64> {
        Ok(match attribute {
            _ if REUSE.contains(&attribute) => self.set().get(&attribute).copied().unwrap_or(1),
            THRESHOLD => self.set().get(&attribute).copied().unwrap_or(0),
            // What is freed is given back at once.
            RESERVED_CURRENT | USED_CURRENT => self.used.load(Ordering::Relaxed),
            RESERVED_HIGH | USED_HIGH => self.high.load(Ordering::Relaxed),
            _ => return Err(Status::INVALID_VALUE),
        })
    }

    /// Sets an attribute. The highest count can only be set to 0: it starts again.
    ///
    /// # Errors
    /// There is none of this number, or it cannot be set.
    pub fn set_attribute(&self, attribute: i32, value: u64) -> Answer {
        match attribute {
            _ if REUSE.contains(&attribute) || attribute == THRESHOLD => _ = self.set().insert(attribute, value),
            RESERVED_HIGH | USED_HIGH if value == 0 => {
                self.high.store(self.used.load(Ordering::Relaxed), Ordering::Relaxed);
            }
            _ => return Err(Status::INVALID_VALUE),
        }
        Ok(())
    }
}

impl Device {
    /// The device's own pool.
    pub fn default_pool(&'static self, machine: &Machine) -> Arc<Pool> {
        Arc::clone(self.default_pool.get_or_init(|| Pool::new(machine, self, true)))
    }

    /// The pool that allocations without one come from.
    pub fn pool(&'static self, machine: &Machine) -> Arc<Pool> {
        let chosen = self.pool.lock().unwrap_or_else(PoisonError::into_inner).clone();
        chosen.unwrap_or_else(|| self.default_pool(machine))
    }

    /// Chooses that pool.
    pub fn set_pool(&self, pool: Arc<Pool>) {
        *self.pool.lock().unwrap_or_else(PoisonError::into_inner) = Some(pool);
    }
}
