//! What a pointer points to: allocations of all devices and of the host, by their addresses, which are those of this process.

#![allow(unsafe_code, reason = "memory of the program is registered with the engine")]

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, RwLock, RwLockReadGuard};

use vop_run::{BufferId, Memory};

use super::mapping;
use super::pool::Pool;
use super::settings::MAX_DEVICES;
use super::{Device, Machine};
use crate::status::{Answer, Status};

/// What an allocation is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// Memory of one device.
    Device,
    /// Memory of one device, from a pool.
    Pool,
    /// Memory that all devices and the host reach.
    Managed,
    /// The same, allocated as memory of the host.
    Host,
    /// Memory of the program that it has registered.
    Registered,
    /// Memory of a device that the program has put at addresses which it had reserved.
    Mapped,
    /// A variable of a module.
    Variable,
    /// A variable of a module that the host reaches.
    ManagedVariable,
    /// The texels of an array. No pointer of the program's leads there.
    Array,
}

impl Kind {
    /// Whether the host may use the pointer.
    pub fn is_host(self) -> bool {
        self.is_managed() || matches!(self, Kind::Host | Kind::Registered)
    }

    /// Whether it is managed memory: the host and all devices reach it.
    pub fn is_managed(self) -> bool {
        matches!(self, Kind::Managed | Kind::ManagedVariable)
    }

    /// What it is in a message, and in the report of leaks.
    fn word(self) -> &'static str {
        match self {
            Kind::Device | Kind::Pool => "device memory",
            Kind::Mapped => "mapped device memory",
            Kind::Managed => "managed memory",
            Kind::Host => "host memory",
            Kind::Registered => "registered host memory",
            Kind::Variable => "a variable",
            Kind::ManagedVariable => "a managed variable",
            Kind::Array => "an array",
        }
    }
}

/// Memory that the program has allocated, or that belongs to a module.
#[derive(Debug)]
pub struct Allocation {
    /// Its address.
    pub start: u64,
    /// Its bytes.
    pub len: u64,
    /// What it is.
    pub kind: Kind,
    /// The device that it belongs to.
    pub device: usize,
    /// The context that it was made in.
    pub context: u64,
    /// A number that no other allocation has: `CU_POINTER_ATTRIBUTE_BUFFER_ID`.
    pub number: u64,
    /// What the program asked for, as its interface has it.
    pub flags: u32,
    /// The handle of the pool that it is from, or 0.
    pub pool: u64,
    /// What it is called in messages.
    pub name: String,
    /// The devices whose kernels reach it, with its place in their memory. Variables and arrays are freed by their owners.
    buffers: Mutex<Vec<(usize, BufferId)>>,
    /// Whether the program has freed it, or told a stream to. A graph's memory is there until the graph has gone.
    pub is_leaving: AtomicBool,
    /// Whether it belongs to a graph.
    pub is_of_graph: AtomicBool,
    /// Whether it is there. Copies hold this for reading, so that freeing waits for them.
    is_there: RwLock<bool>,
}

/// An allocation that stays there as long as this does.
pub struct Held<'a>(#[allow(dead_code, reason = "it is held")] RwLockReadGuard<'a, bool>);

impl Allocation {
    /// Keeps it from being freed. Nothing that waits for the program may happen while it is held.
    ///
    /// # Errors
    /// [`Status::INVALID_VALUE`] if another thread has freed it since it was found.
    pub fn hold(&self) -> Answer<Held<'_>> {
        let is_there = self.is_there.read().unwrap_or_else(PoisonError::into_inner);
        if *is_there { Ok(Held(is_there)) } else { Err(Status::INVALID_VALUE) }
    }

    /// Whether it is memory of a device that kernels of others reach once these may reach the device.
    fn is_reached_by_peers(&self, device: &Device) -> bool {
        self.device == device.ordinal && !self.kind.is_host() && self.kind != Kind::Mapped
    }

    /// Whether all of a range is in it.
    pub fn has(&self, address: u64, len: u64) -> bool {
        address >= self.start && address.checked_add(len).is_some_and(|end| end <= self.start + self.len)
    }

    /// Notes that the host, or a copy, has written: for the check of what is read before it is written.
    pub fn mark_written(&self, machine: &Machine, address: u64, len: u64) {
        for (device, buffer) in self.buffers.lock().unwrap_or_else(PoisonError::into_inner).iter() {
            machine.devices[*device].memory().mark_written(*buffer, address - self.start, len);
        }
    }

    /// One line for the report of leaks.
    pub fn described(&self) -> String {
        format!("{} bytes of {} at {:#x} ({}) were not freed", self.len, self.kind.word(), self.start, self.name)
    }
}

/// All allocations.
#[derive(Default)]
pub struct Space {
    by_address: RwLock<BTreeMap<u64, Arc<Allocation>>>,
    /// The number of the next one.
    numbers: AtomicU64,
}

/// What to allocate.
#[derive(Clone, Copy, Debug)]
pub struct Wanted<'a> {
    /// What it is.
    pub kind: Kind,
    /// Its bytes.
    pub len: u64,
    /// The context that it is made in.
    pub context: u64,
    /// What the program asked for.
    pub flags: u32,
    /// The handle of a pool, or 0.
    pub pool: u64,
    /// The function that the program called.
    pub by: &'a str,
}

impl Space {
    /// The allocation that an address is in.
    pub fn find(&self, address: u64) -> Option<Arc<Allocation>> {
        let all = self.by_address.read().unwrap_or_else(PoisonError::into_inner);
        let (_, found) = all.range(..=address).next_back()?;
        (address - found.start < found.len).then(|| Arc::clone(found))
    }

    /// The allocation of a range.
    ///
    /// # Errors
    /// [`Status::INVALID_VALUE`] if part of the range is beyond it.
    pub fn find_range(&self, address: u64, len: u64) -> Answer<Option<Arc<Allocation>>> {
        let all = self.by_address.read().unwrap_or_else(PoisonError::into_inner);
        let end = address.checked_add(len).ok_or(Status::INVALID_VALUE)?;
        // The last one that starts before the end: what starts within the range must not begin with memory that nobody knows.
        let Some((_, found)) = all.range(..end.max(address + 1)).next_back() else { return Ok(None) };
        if found.start + found.len <= address {
            return Ok(None);
        }
        if found.has(address, len) { Ok(Some(Arc::clone(found))) } else { Err(Status::INVALID_VALUE) }
    }

    /// All allocations for which something holds.
    pub fn filtered(&self, is_wanted: impl Fn(&Allocation) -> bool) -> Vec<Arc<Allocation>> {
        let all = self.by_address.read().unwrap_or_else(PoisonError::into_inner);
        all.values().filter(|allocation| is_wanted(allocation)).map(Arc::clone).collect()
    }

    fn add(
        &self,
        wanted: Wanted<'_>,
        start: u64,
        device: usize,
        name: String,
        buffers: Vec<(usize, BufferId)>,
    ) -> Arc<Allocation> {
        let Wanted { kind, len, context, flags, pool, .. } = wanted;
        let number = self.numbers.fetch_add(1, Ordering::Relaxed) + 1;
        let made = Arc::new(Allocation {
            start,
            len,
            kind,
            device,
            context,
            number,
            flags,
            pool,
            name,
            buffers: Mutex::new(buffers),
            is_leaving: AtomicBool::new(false),
            is_of_graph: AtomicBool::new(false),
            is_there: RwLock::new(true),
        });
        self.by_address.write().unwrap_or_else(PoisonError::into_inner).insert(start, Arc::clone(&made));
        made
    }

    fn name(&self, wanted: &Wanted<'_>) -> String {
        format!("{}#{}", wanted.by, self.numbers.load(Ordering::Relaxed) + 1)
    }
}

impl Machine {
    /// Allocates memory in a device, for all devices that may reach it.
    ///
    /// # Errors
    /// [`Status::OUT_OF_MEMORY`].
    pub fn allocate(&self, device: &Device, wanted: Wanted<'_>) -> Answer<Arc<Allocation>> {
        if wanted.len == 0 {
            return Err(Status::INVALID_VALUE);
        }
        let name = self.space.name(&wanted);
        let (start, buffer) = {
            let mut memory = device.memory();
            let made = match wanted.kind {
                // The host writes to managed memory without a copy, so nothing is known of that.
                Kind::Device | Kind::Pool | Kind::Array if self.settings.launch.check_uninitialized => {
                    memory.allocate_uninitialized(&name, wanted.len)
                }
                _ => memory.allocate_zeros(&name, wanted.len),
            };
            let buffer = made.map_err(|_| Status::OUT_OF_MEMORY)?;
            (memory.pointer(buffer), buffer)
        };
        let mut buffers = vec![(device.ordinal, buffer)];
        for other in self.devices.iter().filter(|other| other.ordinal != device.ordinal) {
            if wanted.kind.is_host() || other.reaches(device.ordinal) {
                // SAFETY: `device` keeps the bytes until `release` frees them, which is after they are taken from the others.
                let added = unsafe { other.memory().register(&name, start, wanted.len, false) };
                match added {
                    Ok(added) => buffers.push((other.ordinal, added)),
                    Err(_) => {
                        free_all(self, &buffers);
                        return Err(Status::OUT_OF_MEMORY);
                    }
                }
            }
        }
        let made = self.space.add(wanted, start as u64, device.ordinal, name, buffers);
        if let Some(pool) = self.pool_of(&made) {
            pool.take(made.len);
        }
        Ok(made)
    }

    /// The pool that an allocation is from, if it is still there.
    fn pool_of(&self, allocation: &Allocation) -> Option<Arc<Pool>> {
        if allocation.pool == 0 { None } else { self.handles.get(allocation.pool) }
    }

    /// Makes memory of the program known to all devices.
    ///
    /// # Errors
    /// [`Status::HOST_MEMORY_ALREADY_REGISTERED`] if part of it is known.
    ///
    /// # Safety
    /// The program keeps it mapped until [`Machine::release`].
    pub unsafe fn register(
        &self,
        device: &Device,
        start: u64,
        read_only: bool,
        wanted: Wanted<'_>,
    ) -> Answer<Arc<Allocation>> {
        let end = start.checked_add(wanted.len).ok_or(Status::INVALID_VALUE)?;
        let overlaps = self.space.filtered(|other| other.start < end && start < other.start + other.len);
        if !overlaps.is_empty() {
            return Err(Status::HOST_MEMORY_ALREADY_REGISTERED);
        }
        let access = if read_only { mapping::READ } else { mapping::READ_WRITE };
        // SAFETY: as the caller says.
        unsafe { self.take_up(device, start, &[access; MAX_DEVICES], wanted) }
    }

    /// Makes memory known that another owns, to the devices that may read it, or read and write it.
    ///
    /// # Errors
    /// [`Status::INVALID_VALUE`] if the engine cannot take it up.
    ///
    /// # Safety
    /// It stays mapped until [`Machine::release`].
    pub unsafe fn take_up(
        &self,
        device: &Device,
        start: u64,
        access: &[u8; MAX_DEVICES],
        wanted: Wanted<'_>,
    ) -> Answer<Arc<Allocation>> {
        let name = self.space.name(&wanted);
        let mut buffers = Vec::new();
        for each in self.devices.iter().filter(|each| access[each.ordinal] != 0) {
            let pointer = std::ptr::with_exposed_provenance_mut(start as usize);
            let read_only = access[each.ordinal] == mapping::READ;
            // SAFETY: as the caller says.
            match unsafe { each.memory().register(&name, pointer, wanted.len, read_only) } {
                Ok(added) => buffers.push((each.ordinal, added)),
                Err(_) => {
                    free_all(self, &buffers);
                    return Err(Status::INVALID_VALUE);
                }
            }
        }
        Ok(self.space.add(wanted, start, device.ordinal, name, buffers))
    }

    /// Makes a variable of a module known, whose memory is the module's.
    pub fn add_variable(
        &self,
        device: &Device,
        name: &str,
        start: u64,
        len: u64,
        context: u64,
        is_managed: bool,
    ) -> Arc<Allocation> {
        let kind = if is_managed { Kind::ManagedVariable } else { Kind::Variable };
        let wanted = Wanted { kind, len, context, flags: 0, pool: 0, by: name };
        self.space.add(wanted, start, device.ordinal, name.to_owned(), Vec::new())
    }

    /// Frees an allocation, or forgets one that another owns. What runs in streams must not need it any more.
    ///
    /// # Errors
    /// It was freed before.
    pub fn release(&self, allocation: &Allocation) -> Answer {
        let removed = {
            let mut all = self.space.by_address.write().unwrap_or_else(PoisonError::into_inner);
            match all.get(&allocation.start) {
                Some(found) if found.number == allocation.number => all.remove(&allocation.start),
                _ => None,
            }
        };
        let removed = removed.ok_or(Status::INVALID_VALUE)?;
        // Copies that are running end first.
        let mut is_there = removed.is_there.write().unwrap_or_else(PoisonError::into_inner);
        *is_there = false;
        if let Some(pool) = self.pool_of(&removed) {
            pool.give_back(removed.len);
        }
        let mut buffers = removed.buffers.lock().unwrap_or_else(PoisonError::into_inner);
        free_all(self, &buffers);
        buffers.clear();
        Ok(())
    }

    /// Lets kernels of a device reach the memory of another one.
    ///
    /// # Errors
    /// [`Status::OUT_OF_MEMORY`] if the engine cannot take it up.
    pub fn reach(&self, device: &Device, other: &Device) -> Answer {
        device.set_reaches(other.ordinal, true);
        for allocation in self.space.filtered(|allocation| allocation.is_reached_by_peers(other)) {
            let mut buffers = allocation.buffers.lock().unwrap_or_else(PoisonError::into_inner);
            if buffers.is_empty() || buffers.iter().any(|(known, _)| *known == device.ordinal) {
                continue;
            }
            let pointer = std::ptr::with_exposed_provenance_mut(allocation.start as usize);
            // SAFETY: the other device keeps the bytes until they are freed, which takes them from this one as well.
            let added = unsafe { device.memory().register(&allocation.name, pointer, allocation.len, false) };
            buffers.push((device.ordinal, added.map_err(|_| Status::OUT_OF_MEMORY)?));
        }
        Ok(())
    }

    /// Ends what [`Machine::reach`] began.
    pub fn reach_no_more(&self, device: &Device, other: &Device) {
        device.set_reaches(other.ordinal, false);
        for allocation in self.space.filtered(|allocation| allocation.is_reached_by_peers(other)) {
            let mut buffers = allocation.buffers.lock().unwrap_or_else(PoisonError::into_inner);
            let (gone, left) = buffers.iter().partition(|(known, _)| *known == device.ordinal);
            *buffers = left;
            free_all(self, &gone);
        }
    }
}

fn free_all(machine: &Machine, buffers: &[(usize, BufferId)]) {
    // The one that has the bytes is the first.
    for (device, buffer) in buffers.iter().rev() {
        // A buffer is freed once: the list is emptied.
        let _ = machine.devices[*device].memory().free(*buffer);
    }
}

impl Device {
    /// Its memory. Nothing that waits for the program may happen while it is locked.
    pub fn memory(&self) -> MutexGuard<'_, Memory> {
        self.memory.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Its memory, for a launch.
    pub fn memory_lock(&self) -> &Mutex<Memory> {
        &self.memory
    }
}
