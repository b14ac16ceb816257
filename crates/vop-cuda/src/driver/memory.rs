//! Memory: of devices, managed, of the host; what pointers are.

#![allow(unsafe_code, reason = "callers pass pointers")]

use std::ffi::c_void;
use std::sync::Arc;
use std::sync::atomic::Ordering;

use super::stream::stream_of;
use super::types::{DeviceNumber, DevicePointer, Handle, handle, number, put};
use crate::abi::api;
use crate::machine::memory::{Allocation, Kind, Wanted};
use crate::machine::pool::Pool;
use crate::machine::work::{Owned, Work};
use crate::machine::{Context, Machine, graph, host, machine};
use crate::status::{Answer, Status};

/// Rows of pitched memory start at multiples of this.
const PITCH: usize = 512;

unsafe fn allocate(to: *mut DevicePointer, len: usize, kind: Kind, flags: u32, by: &str) -> Answer {
    let context = Context::current()?;
    if to.is_null() || len == 0 {
        return Err(Status::INVALID_VALUE);
    }
    let wanted = Wanted { kind, len: len as u64, context: context.handle, flags, pool: 0, by };
    let made = context.machine().allocate(context.device, wanted)?;
    // SAFETY: a place for a pointer.
    unsafe { put(to, made.start) }
}

/// The allocation that starts at an address, if it is of one of these kinds.
fn starts_at(machine: &Machine, address: u64, kinds: &[Kind]) -> Answer<Arc<Allocation>> {
    let found = machine.space.find(address).filter(|found| found.start == address && kinds.contains(&found.kind));
    found.ok_or(Status::INVALID_VALUE)
}

/// Frees memory, when all that was given to the devices is done.
fn free(address: u64, kinds: &[Kind]) -> Answer {
    let machine = machine()?;
    let allocation = starts_at(machine, address, kinds)?;
    if allocation.is_of_graph.load(Ordering::Relaxed) && allocation.is_leaving.load(Ordering::Relaxed) {
        return Err(Status::INVALID_VALUE);
    }
    if let Some(context) = Context::current_any() {
        graph::may_wait()?;
        // Kernels of other devices may use it.
        machine.drain();
        context.check_sticky()?;
    } else {
        machine.drain();
    }
    if allocation.is_of_graph.load(Ordering::Relaxed) {
        // The next launch of the graph allocates it again, at this address.
        allocation.is_leaving.store(true, Ordering::Relaxed);
        return Ok(());
    }
    machine.release(&allocation)
}

const OF_DEVICE: &[Kind] = &[Kind::Device, Kind::Pool, Kind::Managed];

/// `CU_MEMHOSTALLOC_…`: portable, mapped, write-combined.
const HOST_FLAGS: u32 = 7;
/// `CU_MEMHOSTREGISTER_…`: portable, mapped, of a device, read-only.
const REGISTER_FLAGS: u32 = 15;
const READ_ONLY: u32 = 8;

unsafe fn host_pointer(to: *mut DevicePointer, pointer: *const c_void, flags: u32) -> Answer {
    let context = Context::current()?;
    if flags != 0 {
        return Err(Status::INVALID_VALUE);
    }
    let address = pointer.addr() as u64;
    let found = context.machine().space.find(address).filter(|found| found.kind.is_host());
    found.ok_or(Status::INVALID_VALUE)?;
    // SAFETY: a place for a pointer, or null.
    unsafe { put(to, address) }
}

fn register(pointer: *mut c_void, len: usize, flags: u32) -> Answer {
    let context = Context::current()?;
    if pointer.is_null() || len == 0 || flags & !REGISTER_FLAGS != 0 {
        return Err(Status::INVALID_VALUE);
    }
    let address = pointer.expose_provenance() as u64;
    host::check(address, len as u64, host::Access::Read)?;
    let is_read_only = flags & READ_ONLY != 0 || host::check(address, len as u64, host::Access::Write).is_err();
    let wanted = Wanted {
        kind: Kind::Registered,
        len: len as u64,
        context: context.handle,
        flags,
        pool: 0,
        by: "cuMemHostRegister",
    };
    // SAFETY: it is mapped, and the program must keep it so until it unregisters it, as CUDA demands.
    unsafe { context.machine().register(context.device, address, is_read_only, wanted) }.map(|_| ())
}

api! {
    /// Bytes of the device's memory, and those that are free.
    fn cuMemGetInfo_v2(free: *mut usize, total: *mut usize) {
        let context = Context::current()?;
        // SAFETY: places for numbers, or null.
        unsafe {
            put(free, context.device.free(context.machine()) as usize)?;
            put(total, context.device.total as usize)
        }
    }

    /// Allocates memory of the device.
    fn cuMemAlloc_v2(to: *mut DevicePointer, len: usize) {
        // SAFETY: a place for a pointer, or null.
        unsafe { allocate(to, len, Kind::Device, 0, "cuMemAlloc") }
    }

    /// Allocates rows that start at good places.
    fn cuMemAllocPitch_v2(to: *mut DevicePointer, pitch: *mut usize, width: usize, height: usize, element: u32) {
        if !matches!(element, 4 | 8 | 16) || pitch.is_null() {
            return Err(Status::INVALID_VALUE);
        }
        let row = width.checked_next_multiple_of(PITCH).ok_or(Status::INVALID_VALUE)?;
        let len = row.checked_mul(height).ok_or(Status::OUT_OF_MEMORY)?;
        // SAFETY: places for a pointer and a number, or null.
        unsafe {
            allocate(to, len, Kind::Device, 0, "cuMemAllocPitch")?;
            put(pitch, row)
        }
    }

    /// Frees memory of the device.
    fn cuMemFree_v2(pointer: DevicePointer) {
        if pointer == 0 {
            Context::current()?;
            return Ok(());
        }
        free(pointer, OF_DEVICE)
    }

    /// The allocation that a pointer is in.
    fn cuMemGetAddressRange_v2(base: *mut DevicePointer, size: *mut usize, pointer: DevicePointer) {
        let context = Context::current()?;
        let found = context.machine().space.find(pointer).ok_or(Status::NOT_FOUND)?;
        // SAFETY: places for a pointer and a number, or null.
        unsafe {
            super::types::put_if_asked(base, found.start);
            super::types::put_if_asked(size, found.len as usize);
        }
        Ok(())
    }

    /// Allocates memory of the host that kernels reach.
    fn cuMemAllocHost_v2(to: *mut *mut c_void, len: usize) {
        // SAFETY: a place for a pointer, or null.
        unsafe { allocate(to.cast(), len, Kind::Host, 2, "cuMemAllocHost") }
    }

    /// Frees memory of the host.
    fn cuMemFreeHost(pointer: *mut c_void) {
        if pointer.is_null() {
            Context::current()?;
            return Ok(());
        }
        free(pointer.addr() as u64, &[Kind::Host])
    }

    /// Allocates memory of the host that kernels reach.
    fn cuMemHostAlloc(to: *mut *mut c_void, len: usize, flags: u32) {
        if flags & !HOST_FLAGS != 0 {
            return Err(Status::INVALID_VALUE);
        }
        // SAFETY: a place for a pointer, or null.
        unsafe { allocate(to.cast(), len, Kind::Host, flags, "cuMemHostAlloc") }
    }

    /// The pointer for kernels, which is the same.
    fn cuMemHostGetDevicePointer_v2(to: *mut DevicePointer, pointer: *mut c_void, flags: u32) {
        // SAFETY: a place for a pointer, or null.
        unsafe { host_pointer(to, pointer, flags) }
    }

    /// The flags that memory of the host was allocated with.
    fn cuMemHostGetFlags(flags: *mut u32, pointer: *mut c_void) {
        let context = Context::current()?;
        let found = context.machine().space.find(pointer.addr() as u64);
        let found = found.filter(|found| found.kind == Kind::Host || found.kind == Kind::Registered);
        // All of it is mapped.
        let is = found.ok_or(Status::INVALID_VALUE)?.flags | 2;
        // SAFETY: a place for a number, or null.
        unsafe { put(flags, is) }
    }

    /// Allocates memory that the host and all devices reach.
    fn cuMemAllocManaged(to: *mut DevicePointer, len: usize, flags: u32) {
        if !matches!(flags, 1 | 2 | 4) {
            return Err(Status::INVALID_VALUE);
        }
        // SAFETY: a place for a pointer, or null.
        unsafe { allocate(to, len, Kind::Managed, flags, "cuMemAllocManaged") }
    }

    /// Lets kernels reach memory of the program.
    fn cuMemHostRegister_v2(pointer: *mut c_void, len: usize, flags: u32) {
        register(pointer, len, flags)
    }

    /// Lets kernels reach memory of the program.
    fn cuMemHostRegister(pointer: *mut c_void, len: usize, flags: u32) {
        register(pointer, len, flags)
    }

    /// Ends what `cuMemHostRegister` began.
    fn cuMemHostUnregister(pointer: *mut c_void) {
        let context = Context::current()?;
        let machine = context.machine();
        let found = starts_at(machine, pointer.addr() as u64, &[Kind::Registered]);
        let found = found.map_err(|_| Status::HOST_MEMORY_NOT_REGISTERED)?;
        machine.drain();
        machine.release(&found)
    }

    /// Allocates memory of the device. A stream may free it.
    fn cuMemAllocAsync(to: *mut DevicePointer, len: usize, stream: Handle) |call| {
        let stream = stream_of(call, stream)?;
        let pool = stream.context.device.pool(stream.context.machine());
        // SAFETY: a place for a pointer, or null.
        unsafe { allocate_from(to, len, &pool, &stream) }
    }

    /// Allocates memory of a pool's device. A stream may free it.
    fn cuMemAllocFromPoolAsync(to: *mut DevicePointer, len: usize, pool: Handle, stream: Handle) |call| {
        let stream = stream_of(call, stream)?;
        let pool = pool_of(pool)?;
        // SAFETY: a place for a pointer, or null.
        unsafe { allocate_from(to, len, &pool, &stream) }
    }

    /// Frees memory when the stream comes by.
    fn cuMemFreeAsync(pointer: DevicePointer, stream: Handle) |call| {
        let stream = stream_of(call, stream)?;
        if pointer == 0 {
            return Ok(());
        }
        let allocation = starts_at(machine()?, pointer, OF_DEVICE)?;
        if stream.is_capturing() {
            return stream.with_capture(|capturing| match capturing {
                Some(capturing) => capturing.add_task(graph::Task::Free(pointer)).map(|_| ()),
                None => Err(Status::ILLEGAL_STATE),
            });
        }
        if allocation.is_leaving.swap(true, Ordering::Relaxed) {
            return Err(Status::INVALID_VALUE);
        }
        if allocation.is_of_graph.load(Ordering::Relaxed) {
            return Ok(());
        }
        stream.give(Work::Release(allocation)).map(|_| ())
    }

    /// What is freed is given back at once.
    fn cuMemPoolTrimTo(pool: Handle, keep: usize) {
        pool_of(pool)?;
        let _ = keep;
        Ok(())
    }

    /// Sets an attribute of a pool.
    fn cuMemPoolSetAttribute(pool: Handle, attribute: i32, value: *const c_void) {
        let pool = pool_of(pool)?;
        // SAFETY: the caller passes a number of the attribute's size, or null.
        let value = unsafe {
            match Pool::is_switch(attribute) {
                true => u64::from(super::types::get(value.cast::<u32>())?),
                false => super::types::get(value.cast::<u64>())?,
            }
        };
        pool.set_attribute(attribute, value)
    }

    /// An attribute of a pool.
    fn cuMemPoolGetAttribute(pool: Handle, attribute: i32, value: *mut c_void) {
        let is = pool_of(pool)?.attribute(attribute)?;
        // SAFETY: the caller passes a place for a number of the attribute's size, or null.
        unsafe {
            match Pool::is_switch(attribute) {
                true => put(value.cast::<u32>(), is as u32),
                false => put(value.cast::<u64>(), is),
            }
        }
    }

    /// Lets devices reach a pool's memory.
    fn cuMemPoolSetAccess(pool: Handle, map: *const AccessOf, count: usize) {
        let pool = pool_of(pool)?;
        let machine = machine()?;
        // SAFETY: the caller passes so many structures, or null.
        for AccessOf { kind, id, access } in unsafe { super::types::list(map, count) }? {
            if kind != LOCATION_DEVICE {
                return Err(Status::INVALID_VALUE);
            }
            let device = machine.device(id)?;
            let is_own = device.ordinal == pool.device.ordinal;
            match access {
                3 if is_own || device.reaches(pool.device.ordinal) => {}
                3 => machine.reach(device, pool.device)?,
                // Who may reach the device's memory for another reason still may.
                0 if !is_own => {}
                _ => return Err(Status::INVALID_VALUE),
            }
        }
        Ok(())
    }

    /// How a device may reach a pool's memory.
    fn cuMemPoolGetAccess(access: *mut i32, pool: Handle, location: *const [i32; 2]) {
        let pool = pool_of(pool)?;
        // SAFETY: the caller passes the structure, or null.
        let [kind, id] = unsafe { super::types::get(location) }?;
        if kind != LOCATION_DEVICE {
            return Err(Status::INVALID_VALUE);
        }
        let device = machine()?.device(id)?;
        let may = device.ordinal == pool.device.ordinal || device.reaches(pool.device.ordinal);
        // SAFETY: a place for a number, or null.
        unsafe { put(access, if may { 3 } else { 0 }) }
    }

    /// Makes a pool.
    fn cuMemPoolCreate(pool: *mut Handle, properties: *const PoolProperties) {
        let machine = machine()?;
        // SAFETY: the caller passes the structure, or null.
        let properties = unsafe { super::types::get(properties) }?;
        if properties.handle_types != 0 {
            return Err(crate::machine::report::not_supported("pools that other processes can open (cuMemPoolCreate)"));
        }
        if properties.allocation != 1 || properties.location != LOCATION_DEVICE {
            return Err(Status::INVALID_VALUE);
        }
        let made = Pool::new(machine, machine.device(properties.id)?, false);
        // SAFETY: a place for a handle, or null.
        unsafe { put(pool, handle(made.handle)) }
    }

    /// Destroys a pool. What was allocated from it stays until it is freed.
    fn cuMemPoolDestroy(pool: Handle) {
        let machine = machine()?;
        let pool = pool_of(pool)?;
        if pool.is_default {
            return Err(Status::INVALID_VALUE);
        }
        if pool.device.pool(machine).handle == pool.handle {
            pool.device.set_pool(pool.device.default_pool(machine));
        }
        machine.handles.remove::<Pool>(pool.handle);
        Ok(())
    }

    /// The pool that a device allocates from.
    fn cuDeviceGetMemPool(pool: *mut Handle, device: DeviceNumber) {
        let machine = machine()?;
        let found = machine.device(device)?.pool(machine);
        // SAFETY: a place for a handle, or null.
        unsafe { put(pool, handle(found.handle)) }
    }

    /// Chooses the pool that a device allocates from.
    fn cuDeviceSetMemPool(device: DeviceNumber, pool: Handle) {
        let device = machine()?.device(device)?;
        let pool = pool_of(pool)?;
        if pool.device.ordinal != device.ordinal {
            return Err(Status::INVALID_VALUE);
        }
        device.set_pool(pool);
        Ok(())
    }

    /// The device's own pool.
    fn cuDeviceGetDefaultMemPool(pool: *mut Handle, device: DeviceNumber) {
        let machine = machine()?;
        let found = machine.device(device)?.default_pool(machine);
        // SAFETY: a place for a handle, or null.
        unsafe { put(pool, handle(found.handle)) }
    }

    /// The own pool of a device.
    fn cuMemGetDefaultMemPool(pool: *mut Handle, location: *const [i32; 2], kind: i32) {
        // SAFETY: the structure, or null.
        let device = unsafe { device_at(location, kind) }?;
        let found = device.default_pool(machine()?);
        // SAFETY: a place for a handle, or null.
        unsafe { put(pool, handle(found.handle)) }
    }

    /// The pool that a device allocates from.
    fn cuMemGetMemPool(pool: *mut Handle, location: *const [i32; 2], kind: i32) {
        // SAFETY: the structure, or null.
        let device = unsafe { device_at(location, kind) }?;
        let found = device.pool(machine()?);
        // SAFETY: a place for a handle, or null.
        unsafe { put(pool, handle(found.handle)) }
    }

    /// Chooses the pool that a device allocates from.
    fn cuMemSetMemPool(location: *const [i32; 2], kind: i32, pool: Handle) {
        // SAFETY: the structure, or null.
        let device = unsafe { device_at(location, kind) }?;
        let pool = pool_of(pool)?;
        if pool.device.ordinal != device.ordinal {
            return Err(Status::INVALID_VALUE);
        }
        device.set_pool(pool);
        Ok(())
    }

    /// One thing about a pointer.
    fn cuPointerGetAttribute(data: *mut c_void, attribute: i32, pointer: DevicePointer) {
        let machine = machine()?;
        let found = machine.space.find(pointer).filter(|found| found.kind != Kind::Array).ok_or(Status::INVALID_VALUE)?;
        // SAFETY: the caller passes a place for what the attribute is.
        unsafe { put_attribute(machine, data, attribute, pointer, Some(&found)) }
    }

    /// Several things about a pointer. If nothing is known of it, they are zeros.
    fn cuPointerGetAttributes(count: u32, attributes: *const i32, data: *const *mut c_void, pointer: DevicePointer) {
        let machine = machine()?;
        let found = machine.space.find(pointer).filter(|found| found.kind != Kind::Array);
        // SAFETY: the caller passes so many numbers, and so many places for what they ask.
        unsafe {
            let attributes = super::types::list(attributes, count as usize)?;
            let data = super::types::list(data, count as usize)?;
            for (attribute, data) in attributes.into_iter().zip(data) {
                put_attribute(machine, data, attribute, pointer, found.as_deref())?;
            }
        }
        Ok(())
    }

    /// Copies are always synchronous to what the program may see, which is all that can be set.
    fn cuPointerSetAttribute(value: *const c_void, attribute: i32, pointer: DevicePointer) {
        let machine = machine()?;
        // SAFETY: the caller passes a number, or null.
        unsafe { super::types::get(value.cast::<u32>()) }?;
        machine.space.find(pointer).ok_or(Status::INVALID_VALUE)?;
        if attribute == 6 { Ok(()) } else { Err(Status::INVALID_VALUE) }
    }

    /// Says where managed memory is used, which has no effect.
    fn cuMemAdvise(pointer: DevicePointer, len: usize, advice: i32, device: DeviceNumber) {
        let _ = device;
        advise(pointer, len, advice)
    }

    /// Says where managed memory is used, which has no effect.
    fn cuMemAdvise_v2(pointer: DevicePointer, len: usize, advice: i32, location: u64) {
        let _ = location;
        advise(pointer, len, advice)
    }

    /// What was said of where managed memory is used: nothing, as it has no effect.
    fn cuMemRangeGetAttribute(data: *mut c_void, size: usize, attribute: i32, pointer: DevicePointer, len: usize) {
        // SAFETY: a place for so many bytes, or null.
        unsafe { put_range(data, size, attribute, pointer, len) }
    }

    /// What was said of where managed memory is used: nothing, as it has no effect.
    fn cuMemRangeGetAttributes(
        data: *const *mut c_void, sizes: *const usize, attributes: *const i32, count: usize, pointer: DevicePointer,
        len: usize
    ) {
        // SAFETY: so many places, sizes and numbers, or null.
        unsafe {
            let (data, sizes) = (super::types::list(data, count)?, super::types::list(sizes, count)?);
            for ((data, size), attribute) in data.into_iter().zip(sizes).zip(super::types::list(attributes, count)?) {
                put_range(data, size, attribute, pointer, len)?;
            }
        }
        Ok(())
    }

    /// Brings managed memory to a device, which has no effect.
    fn cuMemPrefetchAsync(pointer: DevicePointer, len: usize, device: DeviceNumber, stream: Handle) |call| {
        if device != -1 {
            machine()?.device(device)?;
        }
        prefetch(pointer, len, stream_of(call, stream)?)
    }

    /// Brings managed memory to a place, which has no effect. The place is a structure of two numbers, which is passed as one.
    fn cuMemPrefetchAsync_v2(pointer: DevicePointer, len: usize, location: u64, flags: u32, stream: Handle) |call| {
        let _ = location;
        if flags != 0 {
            return Err(Status::INVALID_VALUE);
        }
        prefetch(pointer, len, stream_of(call, stream)?)
    }

    /// Brings ranges of managed memory to places, which has no effect.
    fn cuMemPrefetchBatchAsync(
        pointers: *const DevicePointer, sizes: *const usize, count: usize, locations: *const c_void,
        indexes: *const usize, location_count: usize, flags: u64, stream: Handle
    ) |call| {
        let _ = (locations, indexes, location_count, flags);
        // SAFETY: so many values each, or null.
        unsafe { prefetch_all(&stream_of(call, stream)?, pointers, sizes, count) }
    }

    /// Tells that what managed memory holds is not needed any more, which has no effect.
    fn cuMemDiscardBatchAsync(
        pointers: *const DevicePointer, sizes: *const usize, count: usize, flags: u64, stream: Handle
    ) |call| {
        let _ = flags;
        // SAFETY: so many values each, or null.
        unsafe { prefetch_all(&stream_of(call, stream)?, pointers, sizes, count) }
    }

    /// Both, which have no effect.
    fn cuMemDiscardAndPrefetchBatchAsync(
        pointers: *const DevicePointer, sizes: *const usize, count: usize, locations: *const c_void,
        indexes: *const usize, location_count: usize, flags: u64, stream: Handle
    ) |call| {
        let _ = (locations, indexes, location_count, flags);
        // SAFETY: so many values each, or null.
        unsafe { prefetch_all(&stream_of(call, stream)?, pointers, sizes, count) }
    }

    /// Ties managed memory to a stream, which has no effect.
    fn cuStreamAttachMemAsync(stream: Handle, pointer: DevicePointer, len: usize, flags: u32) |call| {
        let stream = stream_of(call, stream)?;
        let found = machine()?.space.find(pointer).filter(|found| found.kind.is_host());
        found.filter(|_| matches!(flags, 1 | 2 | 4)).ok_or(Status::INVALID_VALUE)?;
        let _ = len;
        stream.give(Work::Nothing).map(|_| ())
    }
}

/// `CU_MEM_LOCATION_TYPE_DEVICE`.
const LOCATION_DEVICE: i32 = 1;

/// `CUmemAccessDesc`.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct AccessOf {
    kind: i32,
    id: i32,
    access: i32,
}

/// `CUmemPoolProps`.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct PoolProperties {
    allocation: i32,
    handle_types: i32,
    location: i32,
    id: i32,
    security: *mut c_void,
    max_size: usize,
    usage: u16,
    reserved: [u8; 54],
}

impl PoolProperties {
    /// Those of a device's memory.
    pub(super) fn of(id: DeviceNumber) -> PoolProperties {
        PoolProperties {
            allocation: 1,
            handle_types: 0,
            location: LOCATION_DEVICE,
            id,
            security: std::ptr::null_mut(),
            max_size: 0,
            usage: 0,
            reserved: [0; 54],
        }
    }

    /// The device that they name.
    pub(super) fn device(&self) -> Answer<DeviceNumber> {
        if self.location == LOCATION_DEVICE { Ok(self.id) } else { Err(Status::INVALID_VALUE) }
    }
}

fn pool_of(pool: Handle) -> Answer<Arc<Pool>> {
    machine()?.handles.get(number(pool)).ok_or(Status::INVALID_VALUE)
}

unsafe fn allocate_from(
    to: *mut DevicePointer,
    len: usize,
    pool: &Pool,
    stream: &Arc<crate::machine::stream::Stream>,
) -> Answer {
    let machine = machine()?;
    if to.is_null() || len == 0 {
        return Err(Status::INVALID_VALUE);
    }
    let wanted = Wanted {
        kind: Kind::Pool,
        len: len as u64,
        context: stream.context.handle,
        flags: 0,
        pool: pool.handle,
        by: "cuMemAllocAsync",
    };
    let made = machine.allocate(pool.device, wanted)?;
    if stream.is_capturing() {
        let address = made.start;
        let owned = Arc::new(Owned::new(&made));
        stream.with_capture(|capturing| match capturing {
            Some(capturing) => capturing.add_task(graph::Task::Allocate(address, Work::Keep(owned))).map(|_| ()),
            None => Err(Status::ILLEGAL_STATE),
        })?;
    }
    // SAFETY: a place for a pointer.
    unsafe { put(to, made.start) }
}

fn advise(pointer: DevicePointer, len: usize, advice: i32) -> Answer {
    Context::current()?;
    let found = machine()?.space.find_range(pointer, len as u64)?;
    let is_known = found.is_some_and(|found| found.kind.is_managed());
    if is_known && (1..=6).contains(&advice) { Ok(()) } else { Err(Status::INVALID_VALUE) }
}

unsafe fn put_range(data: *mut c_void, size: usize, attribute: i32, pointer: DevicePointer, len: usize) -> Answer {
    /// `CU_DEVICE_INVALID`.
    const NOWHERE: i32 = -2;
    let found = machine()?.space.find_range(pointer, len as u64)?;
    found.filter(|found| found.kind.is_managed()).ok_or(Status::INVALID_VALUE)?;
    let value = match attribute {
        // Whether it is mostly read; kinds of places.
        1 | 5 | 7 => 0,
        2..=4 | 6 | 8 => NOWHERE,
        _ => return Err(Status::INVALID_VALUE),
    };
    if data.is_null() || size == 0 || !size.is_multiple_of(4) || attribute != 3 && size != 4 {
        return Err(Status::INVALID_VALUE);
    }
    for i in 0..size / 4 {
        // SAFETY: the caller passes a place for so many numbers.
        unsafe { data.cast::<i32>().add(i).write_unaligned(value) };
    }
    Ok(())
}

/// # Safety
/// So many values each, or null.
unsafe fn prefetch_all(
    stream: &Arc<crate::machine::stream::Stream>,
    pointers: *const DevicePointer,
    sizes: *const usize,
    count: usize,
) -> Answer {
    // SAFETY: as the caller says.
    let (pointers, sizes) = unsafe { (super::types::list(pointers, count)?, super::types::list(sizes, count)?) };
    pointers.into_iter().zip(sizes).try_for_each(|(pointer, len)| prefetch(pointer, len, Arc::clone(stream)))
}

/// The device of a place. Only pools of devices are there.
///
/// # Safety
/// The structure, or null.
unsafe fn device_at(location: *const [i32; 2], kind: i32) -> Answer<&'static crate::machine::Device> {
    // SAFETY: as the caller says.
    let [place, id] = unsafe { super::types::get(location) }?;
    if place != LOCATION_DEVICE || kind != 1 {
        return Err(crate::machine::report::not_supported("pools of other places than devices"));
    }
    machine()?.device(id)
}

fn prefetch(pointer: DevicePointer, len: usize, stream: Arc<crate::machine::stream::Stream>) -> Answer {
    let found = machine()?.space.find_range(pointer, len as u64)?;
    found.filter(|found| found.kind.is_managed()).ok_or(Status::INVALID_VALUE)?;
    stream.give(Work::Nothing).map(|_| ())
}

unsafe fn put_attribute(
    machine: &Machine,
    data: *mut c_void,
    attribute: i32,
    pointer: u64,
    found: Option<&Allocation>,
) -> Answer {
    /// `CU_MEMORYTYPE_HOST` and `_DEVICE`.
    const HOST: u32 = 1;
    const DEVICE: u32 = 2;
    let number = |of: fn(&Allocation) -> u64| found.map_or(0, of);
    // SAFETY: the caller passes a place for what the attribute is.
    unsafe {
        match attribute {
            // The context; the kind; the pointer for kernels, and for the host.
            1 => put(data.cast::<u64>(), number(|found| found.context)),
            2 => {
                let kind = found.map_or(0, |found| match found.kind {
                    Kind::Host | Kind::Registered => HOST,
                    _ => DEVICE,
                });
                put(data.cast::<u32>(), kind)
            }
            3 => put(data.cast::<u64>(), if found.is_some() { pointer } else { 0 }),
            4 => put(data.cast::<u64>(), if found.is_some_and(|found| found.kind.is_host()) { pointer } else { 0 }),
            // Whether copies are synchronous; a number of the allocation; managed; the device.
            6 => put(data.cast::<u32>(), 0),
            7 => put(data.cast::<u64>(), number(|found| found.number)),
            8 => put(data.cast::<u32>(), u32::from(found.is_some_and(|found| found.kind.is_managed()))),
            9 => put(data.cast::<i32>(), found.map_or(-2, |found| found.device as i32)),
            10 | 15 | 21 => put(data.cast::<u32>(), 0),
            11 | 19 => put(data.cast::<u64>(), number(|found| found.start)),
            12 | 18 => put(data.cast::<u64>(), number(|found| found.len)),
            13 => put(data.cast::<u32>(), u32::from(found.is_some())),
            14 => put(data.cast::<u64>(), 0),
            16 => put(data.cast::<u32>(), if found.is_some() { 3 } else { 0 }),
            17 => {
                let pool = number(|found| found.pool);
                let pool = if machine.handles.get::<Pool>(pool).is_some() { pool } else { 0 };
                put(data.cast::<u64>(), pool)
            }
            20 => put(data.cast::<u64>(), number(|found| found.number)),
            _ => Err(Status::INVALID_VALUE),
        }
    }
}
