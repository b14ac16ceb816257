//! Memory as a kernel sees it: flat 64-bit addresses over separate, checked allocations.
//!
//! The address space is cut into regions of 64 GiB. Shared, local and parameter memory have one region each, functions have one
//! for their addresses, every buffer and every module variable has one of its own. What lies between the end of an allocation and
//! the next region is the guard gap, so running off a buffer is always caught, and finding the allocation of an address is one
//! shift. A memory at the host's addresses has its buffers and variables elsewhere, see [`places`]; the rest is the same.
//!
//! Kernels that keep addresses in 32 bits see the same memory through *short* addresses, which are those below 4 GiB: a window of
//! 16 MiB each for shared, local and parameter memory, and behind them the allocations, at least 64 KiB apart.

#![allow(unsafe_code, reason = "memory of the caller's is lent to launches")]

mod bytes;
mod layout;
mod places;

use std::ptr::NonNull;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, OnceLock};

use crate::bits::Bits;
use crate::engine::launch::WORKSPACE;
use crate::engine::shadow::{Checks, Common};
use crate::error::{RunError, RunErrorKind};
use crate::heap::{self, Heap, HeapLog};
use crate::symbol::{self, shown};
use crate::texture::table::Table;

pub(crate) use bytes::Bytes;
pub(crate) use layout::{Fault, Layout, plural};
pub(crate) use places::{OFFSET, Place, Places, REGION_BITS, Region, address_of, place_of, region_index};

/// The name of the allocation that is the heap: a phrase, unlike the names of others.
const HEAP_NAME: &str = "the heap of `malloc`";
/// The name of what the blocks of a cooperative launch wait at.
const WORKSPACE_NAME: &str = "the workspace of the grid";

/// The name of an allocation for a message.
pub(crate) fn shown_allocation(name: &str) -> String {
    if matches!(name, HEAP_NAME | WORKSPACE_NAME) { name.to_owned() } else { shown(name) }
}

/// Where a generic address of shared memory starts.
pub(crate) const SHARED_BASE: u64 = 1 << REGION_BITS;
/// Where a generic address of local memory starts.
pub(crate) const LOCAL_BASE: u64 = 2 << REGION_BITS;
/// Where a generic address of the kernel's parameters starts.
pub(crate) const PARAM_BASE: u64 = 3 << REGION_BITS;
/// Where the addresses of functions start.
pub(crate) const FUNCTION_BASE: u64 = 4 << REGION_BITS;

/// The size of a window of short addresses as a power of two. Shared, local and parameter memory have the windows 1, 2 and 3, as they
/// have these regions.
pub(crate) const SHORT_BITS: u32 = 24;
/// Where the short addresses of functions start.
pub(crate) const SHORT_FUNCTION_BASE: u64 = 1 << 20;
/// The number of functions that have short addresses, at most.
pub(crate) const SHORT_FUNCTIONS: u64 = ((1 << SHORT_BITS) - SHORT_FUNCTION_BASE) / 16;
/// Short addresses of allocations are multiples of this, and this is the least distance between two of them.
const SHORT_STEP: u64 = 1 << 16;

/// Gives allocations their short addresses, in the order of the allocations.
#[derive(Clone, Debug)]
pub(crate) struct ShortAddresses {
    next: u64,
}

impl Default for ShortAddresses {
    fn default() -> Self {
        ShortAddresses { next: 4 << SHORT_BITS }
    }
}

impl ShortAddresses {
    /// The short address of the next allocation; none where 32 bits do not reach it.
    pub(crate) fn place(&mut self, len: u64) -> Option<u32> {
        let end = self.next.checked_add(len).filter(|end| *end <= u64::from(u32::MAX) - SHORT_STEP)?;
        let start = std::mem::replace(&mut self.next, end.next_multiple_of(SHORT_STEP) + SHORT_STEP);
        u32::try_from(start).ok()
    }
}

/// The allocation of the greatest short address that is not beyond this one: its index and its short address. `shorts` is sorted.
#[inline]
pub(crate) fn short_allocation(shorts: &[(u32, u32)], address: u64) -> Option<(usize, u64)> {
    let address = u32::try_from(address).ok()?;
    let behind = shorts.partition_point(|(start, _)| *start <= address);
    let (start, index) = shorts.get(behind.checked_sub(1)?)?;
    Some((*index as usize, u64::from(*start)))
}

/// A state space as loads and stores name it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Space {
    Generic,
    Global,
    Const,
    Shared,
    Local,
    /// The kernel's parameters.
    Param,
}

impl Space {
    pub(crate) fn parse(name: &str) -> Option<Space> {
        match name {
            "global" => Some(Space::Global),
            "const" => Some(Space::Const),
            // Without clusters every block is a cluster of its own.
            "shared" | "shared::cta" | "shared::cluster" => Some(Space::Shared),
            "local" => Some(Space::Local),
            "param" | "param::entry" => Some(Space::Param),
            _ => None,
        }
    }

    /// The sum of this and an address of the space is the generic address.
    pub(crate) fn base(self) -> u64 {
        match self {
            Space::Generic | Space::Global | Space::Const => 0,
            Space::Shared => SHARED_BASE,
            Space::Local => LOCAL_BASE,
            Space::Param => PARAM_BASE,
        }
    }

    /// The sum of this and an address of the space is the short generic address.
    pub(crate) fn short_base(self) -> u64 {
        (self.base() >> REGION_BITS) << SHORT_BITS
    }

    pub(crate) fn name(self) -> &'static str {
        match self {
            Space::Generic => "generic",
            Space::Global => "global",
            Space::Const => "constant",
            Space::Shared => "shared",
            Space::Local => "local",
            Space::Param => "parameter",
        }
    }
}

/// Which buffer of a [`Memory`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct BufferId(pub(crate) usize);

impl BufferId {
    /// Its index among the allocations.
    pub(crate) fn index(self) -> usize {
        self.0
    }
}

/// What may be allocated.
#[derive(Debug)]
pub(crate) struct Budget {
    limit: u64,
    left: AtomicU64,
}

impl Budget {
    /// Takes bytes if there are as many.
    pub(crate) fn has(&self, bytes: u64) -> bool {
        self.left.fetch_update(Ordering::Relaxed, Ordering::Relaxed, |left| left.checked_sub(bytes)).is_ok()
    }

    /// Takes bytes; an error if they are too many.
    pub(crate) fn take(&self, bytes: u64, what: &str) -> Result<(), RunError> {
        let taken = self.left.fetch_update(Ordering::Relaxed, Ordering::Relaxed, |left| left.checked_sub(bytes));
        taken.map(|_| ()).map_err(|left| beyond(bytes, what, self.limit, left))
    }
}

/// The error for what goes beyond a limit of memory.
#[cold]
fn beyond(bytes: u64, what: &str, limit: u64, left: u64) -> RunError {
    // What is wanted and what is left must not look the same.
    let (bytes, left, limit) = (size(bytes), rounded(left, false), size(limit));
    let message = format!("{bytes} for {what}: {left} of the limit of {limit} are left");
    RunError::new(RunErrorKind::Memory, message)
        .with_help("`--memory` sets the limit; a part of the machine's memory is the default")
}

/// The error for what the system does not give.
#[cold]
pub(crate) fn refused(bytes: u64, what: &str) -> RunError {
    RunError::new(RunErrorKind::Memory, format!("{} for {what}: the system does not give so much memory", size(bytes)))
}

/// `4 GiB`, `1.5 MiB`, `100 bytes`.
pub(crate) fn size(bytes: u64) -> String {
    rounded(bytes, true)
}

/// As [`size`], rounded up or down to a tenth of the unit.
fn rounded(bytes: u64, up: bool) -> String {
    for (unit, name) in [(1u64 << 30, "GiB"), (1 << 20, "MiB"), (1 << 10, "KiB")] {
        if bytes >= unit {
            let tenths = u128::from(bytes) * 10;
            let tenths = if up { tenths.div_ceil(unit.into()) } else { tenths / u128::from(unit) };
            let fraction = if tenths.is_multiple_of(10) { String::new() } else { format!(".{}", tenths % 10) };
            return format!("{}{fraction} {name}", tenths / 10);
        }
    }
    plural(bytes)
}

/// What buffers and launches may take if nobody says how much: three quarters of the machine's memory, or of that of its container.
fn default_limit() -> u64 {
    static LIMIT: OnceLock<u64> = OnceLock::new();
    *LIMIT.get_or_init(|| {
        let number = |text: &str| text.trim().parse::<u64>().ok();
        let read = |path: &str| std::fs::read_to_string(path).ok();
        let machine = read("/proc/meminfo").and_then(|text| {
            let line = text.lines().find_map(|line| line.strip_prefix("MemTotal:"))?;
            number(line.trim().strip_suffix("kB")?)?.checked_mul(1024)
        });
        let containers = ["/sys/fs/cgroup/memory.max", "/sys/fs/cgroup/memory/memory.limit_in_bytes"];
        let containers = containers.into_iter().filter_map(|path| number(&read(path)?));
        // Where nothing tells, it is what a small machine has.
        let all = machine.into_iter().chain(containers).min().unwrap_or(16 << 30);
        all / 4 * 3
    })
}

#[derive(Clone, Debug)]
struct Allocation {
    name: String,
    bytes: Bytes,
    read_only: bool,
    short: Option<u32>,
    written: Written,
    /// Whether it was freed: then it has no bytes, and launches do not see it.
    freed: bool,
    /// Whether its bytes are the memory's, which counts them.
    counts: bool,
    /// Whether it is a module's variable, or serves launches: only what made it frees it.
    reserved: bool,
}

impl Allocation {
    fn region(&mut self, address: u64) -> Region {
        Region { start: self.bytes.as_mut_ptr(), len: self.bytes.len() as u64, read_only: self.read_only, address }
    }
}

/// Which bytes have been written, if it is known that not all have: for the check of what is read.
#[derive(Debug, Default)]
struct Written(Option<Arc<Bits>>);

impl Clone for Written {
    fn clone(&self) -> Written {
        Written(self.0.as_deref().map(|bits| Arc::new(bits.clone())))
    }
}

/// A device's memory: a module's variables, the caller's buffers, and what kernels printed.
///
/// Made by [`Program::memory`](super::Program::memory), so that the module's variables are in it, or empty, by `Memory::default()`: then
/// [`Memory::load`] puts modules into it.
#[derive(Debug, Default)]
pub struct Memory {
    allocations: Vec<Allocation>,
    /// Whether addresses are those of the host, and the indexes of freed allocations, which are used again then.
    hosted: bool,
    free: Vec<usize>,
    /// The allocations as launches see them, if nothing has changed since the last one.
    places: Option<Arc<Places>>,
    /// What its allocations take, and may take.
    taken: u64,
    limit: Option<u64>,
    /// Why an allocation has no content.
    refused: Option<Box<RunError>>,
    shorts: ShortAddresses,
    pub(crate) printed: Vec<u8>,
    /// The index of the heap of `malloc`, if there is one, and what is known of it.
    heap: Option<usize>,
    /// The workspaces of cooperative launches that no launch has.
    workspaces: Vec<BufferId>,
    heap_log: HeapLog,
    /// The programs whose variables it holds, and the number of functions in their modules.
    pub(crate) modules: Vec<u64>,
    pub(crate) functions: usize,
    /// Textures and surfaces; a launch keeps them as they were.
    pub(crate) textures: Arc<Table>,
}

/// A clone has the same content. One at the host's addresses has other addresses, so modules must be loaded into it anew, and memory that
/// was lent is copied.
impl Clone for Memory {
    fn clone(&self) -> Memory {
        let mut allocations = self.allocations.clone();
        let mut taken = self.taken;
        for lent in allocations.iter_mut().filter(|allocation| !allocation.counts && !allocation.freed) {
            lent.counts = true;
            taken += lent.bytes.len() as u64;
        }
        Memory {
            allocations,
            hosted: self.hosted,
            free: self.free.clone(),
            places: None,
            taken,
            limit: self.limit,
            refused: self.refused.clone(),
            shorts: self.shorts.clone(),
            printed: self.printed.clone(),
            heap: self.heap,
            workspaces: self.workspaces.clone(),
            heap_log: self.heap_log.clone(),
            modules: if self.hosted { Vec::new() } else { self.modules.clone() },
            functions: self.functions,
            // Textures stand at addresses.
            textures: if self.hosted { Arc::default() } else { Arc::clone(&self.textures) },
        }
    }
}

impl Memory {
    /// Memory whose addresses are those of this process: what a kernel gets as a pointer is one that the host may use as well. Each
    /// allocation is a mapping of its own between guard pages; kernels are checked against its exact bounds, as ever. Addresses differ
    /// from run to run, which those of `Memory::default()` do not.
    ///
    /// ```
    /// use vop_run::Memory;
    ///
    /// let mut memory = Memory::at_host_addresses();
    /// let buffer = memory.allocate("buffer", [1, 2, 3]);
    /// assert_eq!(memory.address(buffer), memory.bytes(buffer).as_ptr() as u64);
    /// ```
    pub fn at_host_addresses() -> Memory {
        Memory { hosted: true, ..Memory::default() }
    }

    /// Whether addresses are those of the host.
    pub fn is_at_host_addresses(&self) -> bool {
        self.hosted
    }

    /// Adds memory that the caller keeps, at its own address: for a memory at the host's addresses. Kernels may then reach these bytes, and
    /// no others around them. [`Memory::free`] takes it out again.
    ///
    /// # Errors
    /// The addresses of this memory are not the host's, or the range overlaps another one.
    ///
    /// # Safety
    /// The bytes must be there, and may be read (and written, unless they are `read_only`), until the buffer is freed and all launches that
    /// started before have ended. While a launch runs, nobody may hold a reference to them.
    pub unsafe fn register(
        &mut self,
        name: &str,
        start: *mut u8,
        bytes: u64,
        read_only: bool,
    ) -> Result<BufferId, RunError> {
        let wrong = |message: String| Err(RunError::new(RunErrorKind::Argument, message));
        let (Some(start), Ok(len @ 1..)) = (NonNull::new(start), usize::try_from(bytes)) else {
            return wrong(format!("memory at a null pointer, or of {bytes} bytes, cannot be registered"));
        };
        if !self.hosted {
            return wrong("only a memory at the host's addresses can have memory of the caller's".to_owned());
        }
        let address = start.as_ptr() as u64;
        if address.checked_add(bytes).is_none() {
            return wrong(format!("{bytes} bytes at {address:#x} go beyond the end of all addresses"));
        }
        let near = |allocation: &&Allocation| {
            let (first, len) = (allocation.bytes.as_ptr() as u64, allocation.bytes.len() as u64);
            !allocation.freed && first < address + bytes && address < first + len
        };
        // Generic addresses there mean shared, local and parameter memory, and functions.
        let windows = SHARED_BASE..FUNCTION_BASE + (1 << REGION_BITS);
        if address < windows.end && address + bytes > windows.start {
            return wrong(format!(
                "{bytes} bytes at {address:#x} are where kernels have other memory ({:#x} to {:#x})",
                windows.start, windows.end
            ));
        }
        if let Some(other) = self.allocations.iter().find(near) {
            return wrong(format!(
                "{bytes} bytes at {address:#x} overlap {}, which this memory has already",
                shown_allocation(&other.name)
            ));
        }
        // SAFETY: the caller keeps the bytes.
        let bytes = unsafe { Bytes::foreign(start, len) };
        Ok(self.push(name, bytes, read_only, false))
    }

    /// Frees a buffer or a registered range. Launches that run may still reach it; later ones may not. Its bytes go back to the system when
    /// the last of those has ended.
    ///
    /// # Errors
    /// It is not of this memory, or was freed before, or is a variable of a module, which [`Memory::unload`] frees.
    pub fn free(&mut self, buffer: BufferId) -> Result<(), RunError> {
        if let Some(allocation) = self.allocations.get(buffer.0).filter(|allocation| allocation.reserved) {
            let message = format!("{} is no buffer: it is freed with its module", shown_allocation(&allocation.name));
            return Err(RunError::new(RunErrorKind::Free, message));
        }
        self.free_any(buffer)
    }

    /// [`Memory::free`], also of what a module has.
    pub(crate) fn free_any(&mut self, buffer: BufferId) -> Result<(), RunError> {
        let Some(found) = self.allocations.get_mut(buffer.0).filter(|allocation| !allocation.freed) else {
            return Err(RunError::new(RunErrorKind::Free, "the buffer is not of this memory, or was freed before"));
        };
        let len = found.bytes.len() as u64;
        if found.counts {
            self.taken -= len;
        }
        // Its name stays, for errors of kernels that still use its address.
        (found.bytes, found.written, found.freed) = (Bytes::default(), Written::default(), true);
        found.reserved = false;
        if self.hosted {
            found.name.clear();
            self.free.push(buffer.0);
        }
        self.places = None;
        Table::forget(&mut self.textures, buffer);
        Ok(())
    }

    /// Says that an allocation is not the caller's to free.
    pub(crate) fn reserve(&mut self, buffer: BufferId) {
        if let Some(allocation) = self.allocations.get_mut(buffer.0) {
            allocation.reserved = true;
        }
    }

    /// The first byte of a buffer; null if it has none. As long as launches or others may use the buffer as well, its content is reached by
    /// this pointer, and not by [`Memory::bytes`].
    pub fn pointer(&mut self, buffer: BufferId) -> *mut u8 {
        let found = self.allocations.get_mut(buffer.0).filter(|allocation| !allocation.freed);
        found.map_or(std::ptr::null_mut(), |allocation| allocation.bytes.as_mut_ptr())
    }

    /// The number of bytes of a buffer; 0 if it is of another memory.
    pub fn len_of(&self, buffer: BufferId) -> u64 {
        self.allocations.get(buffer.0).map_or(0, |allocation| allocation.bytes.len() as u64)
    }

    /// Tells that bytes of a buffer have been written through [`Memory::pointer`]: for [`Check::Uninit`](crate::Check::Uninit).
    pub fn mark_written(&mut self, buffer: BufferId, offset: u64, bytes: u64) {
        if let Some(bits) = self.allocations.get(buffer.0).and_then(|allocation| allocation.written.0.as_ref()) {
            bits.set(offset, bytes);
        }
    }

    /// Adds an allocation.
    fn push(&mut self, name: &str, bytes: Bytes, read_only: bool, counts: bool) -> BufferId {
        // The host's addresses have 64 bits.
        let short = if self.hosted { None } else { self.shorts.place(bytes.len() as u64) };
        let (name, written) = (name.to_owned(), Written::default());
        let allocation = Allocation { name, bytes, read_only, short, written, freed: false, counts, reserved: false };
        self.places = None;
        match self.free.pop() {
            Some(index) => {
                self.allocations[index] = allocation;
                BufferId(index)
            }
            None => {
                self.allocations.push(allocation);
                BufferId(self.allocations.len() - 1)
            }
        }
    }

    /// Zeros where this memory has its bytes.
    fn zeros(&self, len: usize) -> Option<Bytes> {
        if self.hosted { Bytes::try_mapped(len) } else { Bytes::try_zeros(len) }
    }

    /// Adds a buffer; its name appears in errors. Its address is a multiple of 256, and nothing is near it.
    ///
    /// If there is no memory for it, it is empty, and every launch on this memory fails: see [`Memory::try_allocate`].
    pub fn allocate(&mut self, name: &str, bytes: impl AsRef<[u8]>) -> BufferId {
        let made = self.try_allocate(name, bytes);
        self.or_empty(name, made, false)
    }

    /// Adds a buffer as [`Memory::allocate`].
    ///
    /// # Errors
    /// It goes beyond [`Memory::limit`], or the system does not give the memory.
    pub fn try_allocate(&mut self, name: &str, bytes: impl AsRef<[u8]>) -> Result<BufferId, RunError> {
        let bytes = bytes.as_ref();
        let buffer = self.allocate_zeros(name, bytes.len() as u64)?;
        self.bytes_mut(buffer).copy_from_slice(bytes);
        Ok(buffer)
    }

    /// Adds a buffer of zeros. Pages of it that nothing writes take no memory.
    ///
    /// # Errors
    /// As for [`Memory::try_allocate`].
    pub fn allocate_zeros(&mut self, name: &str, bytes: u64) -> Result<BufferId, RunError> {
        self.push_zeros(name, bytes, false)
    }

    /// Bytes that all buffers together may have, and what launches take beside them. Three quarters of the machine's memory if nobody has
    /// set it.
    pub fn limit(&self) -> u64 {
        self.limit.unwrap_or_else(default_limit)
    }

    /// What is left of [`Memory::limit`].
    pub(crate) fn left(&self) -> u64 {
        self.limit().saturating_sub(self.taken)
    }

    /// Sets [`Memory::limit`].
    ///
    /// # Errors
    /// There are more already.
    pub fn set_limit(&mut self, bytes: u64) -> Result<(), RunError> {
        if self.taken > bytes {
            return Err(beyond(self.taken, "the module's variables and buffers", bytes, bytes));
        }
        self.limit = Some(bytes);
        Ok(())
    }

    /// Adds zeros, for a buffer or a variable.
    pub(crate) fn push_zeros(&mut self, name: &str, bytes: u64, read_only: bool) -> Result<BufferId, RunError> {
        let what = format!("`{name}`");
        let left = self.left();
        if bytes > left {
            return Err(beyond(bytes, &what, self.limit(), left));
        }
        let len = usize::try_from(bytes).ok().filter(|len| *len as u64 <= OFFSET);
        let made = len.and_then(|len| self.zeros(len)).ok_or_else(|| refused(bytes, &what))?;
        self.taken += bytes;
        Ok(self.push(name, made, read_only, true))
    }

    /// The allocation; an empty one, and no launch, if it could not be made.
    pub(crate) fn or_empty(&mut self, name: &str, made: Result<BufferId, RunError>, read_only: bool) -> BufferId {
        made.unwrap_or_else(|error| {
            self.refused.get_or_insert(Box::new(error));
            self.push(name, Bytes::default(), read_only, true)
        })
    }

    /// Why an allocation has no content.
    pub(crate) fn refused(&self) -> Option<RunError> {
        self.refused.as_deref().cloned()
    }

    /// Adds a buffer of zeros that counts as not written: [`Check::Uninit`](crate::Check::Uninit) finds reads of bytes that neither a kernel
    /// nor [`Memory::bytes_mut`] has written. As after `cudaMalloc`.
    ///
    /// # Errors
    /// As for [`Memory::try_allocate`].
    pub fn allocate_uninitialized(&mut self, name: &str, bytes: u64) -> Result<BufferId, RunError> {
        let buffer = self.push_zeros(name, bytes, false)?;
        self.allocations[buffer.0].written.0 = Some(Arc::new(Bits::new(bytes, false)));
        Ok(buffer)
    }

    /// Adds the place of the heap of `malloc`, without its bytes.
    pub(crate) fn push_heap(&mut self) {
        let shorts = self.shorts.clone();
        let heap = self.push(HEAP_NAME, Bytes::default(), false, true);
        if !self.hosted {
            self.shorts = shorts;
            self.allocations[heap.0].short = self.shorts.place(heap::HEAP as u64);
        }
        self.reserve(heap);
        self.heap = Some(heap.0);
    }

    /// Gives the heap of `malloc` its bytes, if it has a place and none yet: a kernel that uses it is launched. `limit` replaces that of the
    /// memory.
    pub(crate) fn make_heap(&mut self, limit: Option<u64>) -> Result<(), RunError> {
        let Some(heap) = self.heap.filter(|index| self.allocations.get(*index).is_some_and(|a| a.bytes.len() == 0))
        else {
            return Ok(());
        };
        let bytes = heap::HEAP as u64;
        let limit = limit.or(self.limit).unwrap_or_else(default_limit);
        let left = limit.saturating_sub(self.taken);
        if bytes > left {
            return Err(beyond(bytes, HEAP_NAME, limit, left));
        }
        let made = self.zeros(heap::HEAP).ok_or_else(|| refused(bytes, HEAP_NAME))?;
        self.places = None;
        let heap = &mut self.allocations[heap];
        heap.bytes = made;
        heap::seal(heap.bytes.as_mut_slice());
        heap.written.0 = Some(Arc::new(Bits::new(bytes, false)));
        self.taken += bytes;
        Ok(())
    }

    /// A workspace for a cooperative launch, which gives it back.
    pub(crate) fn take_workspace(&mut self) -> Result<BufferId, RunError> {
        let workspace = match self.workspaces.pop() {
            Some(workspace) => workspace,
            None => self.push_zeros(WORKSPACE_NAME, WORKSPACE as u64, false)?,
        };
        self.reserve(workspace);
        let bytes = self.bytes_mut(workspace);
        bytes.fill(0);
        bytes[..4].copy_from_slice(&(WORKSPACE as u32).to_le_bytes());
        Ok(workspace)
    }

    pub(crate) fn give_workspace(&mut self, workspace: Option<BufferId>) {
        self.workspaces.extend(workspace);
    }

    /// A launch with these checks starts: what its cores know together, if they look at memory. They keep it where there is room.
    pub(crate) fn start_checks(&mut self, checks: Checks, room: &Arc<Budget>) -> Option<Common> {
        if !checks.uninitialized {
            // Nobody notes what the launch writes: it may be everything.
            for allocation in &mut self.allocations {
                allocation.written.0 = None;
            }
        }
        if !checks.of_memory() {
            return None;
        }
        let mut log = None;
        if let (Some(index), true) = (self.heap, checks.heap)
            && let Some(allocation) = self.allocations.get_mut(index)
            && let Ok(heap) = Heap::of(allocation.region(0))
        {
            let mut heap_log = std::mem::take(&mut self.heap_log);
            heap_log.start(&heap);
            log = Some((index, heap_log));
        }
        if let (Some(index), true) = (self.heap, checks.uninitialized) {
            // What was allocated before, and by launches without the check, has been written.
            let heap = &mut self.allocations[index];
            heap.written.0.get_or_insert_with(|| Arc::new(Bits::new(heap.bytes.len() as u64, true)));
        }
        let places = self.places();
        let written = self.allocations.iter().map(|a| a.written.0.clone()).collect();
        Some(Common::new(checks, room, places, written, log))
    }

    /// The launch has ended.
    pub(crate) fn end_checks(&mut self, common: Common) {
        if let Some((index, log)) = common.heap {
            let mut log = log.into_inner().unwrap_or_else(std::sync::PoisonError::into_inner);
            if let Some(Ok(heap)) = self.allocations.get_mut(index).map(|allocation| Heap::of(allocation.region(0))) {
                log.end(&heap);
            }
            self.heap_log = log;
        }
    }

    /// What a launch may allocate.
    pub(crate) fn budget(&self, limit: Option<u64>) -> Budget {
        let limit = limit.unwrap_or_else(|| self.limit());
        Budget { limit, left: AtomicU64::new(limit.saturating_sub(self.taken)) }
    }

    /// The address of a buffer's first byte, in the global space and as a generic address.
    pub fn address(&self, buffer: BufferId) -> u64 {
        match self.allocations.get(buffer.0) {
            Some(allocation) if self.hosted => allocation.bytes.as_ptr() as u64,
            _ => address_of(buffer.0),
        }
    }

    /// The address of a buffer's first byte in 32 bits, for kernels that keep addresses so; none if all buffers before it take more than
    /// 32 bits reach.
    pub fn short_address(&self, buffer: BufferId) -> Option<u32> {
        self.allocations.get(buffer.0)?.short
    }

    /// A buffer's content; empty if the buffer is of another memory.
    pub fn bytes(&self, buffer: BufferId) -> &[u8] {
        self.allocations.get(buffer.0).map_or(&[], |allocation| allocation.bytes.as_slice())
    }

    /// A buffer's content, to change.
    pub fn bytes_mut(&mut self, buffer: BufferId) -> &mut [u8] {
        self.allocations.get_mut(buffer.0).map_or(&mut [], |allocation| {
            allocation.written.0 = None;
            allocation.bytes.as_mut_slice()
        })
    }

    /// Takes what kernels printed with `printf` since the last call: that of a launch's blocks in the order of the blocks, and of
    /// a block in the order of execution. What a failed launch printed is there as well.
    pub fn take_printed(&mut self) -> String {
        let printed = String::from_utf8(std::mem::take(&mut self.printed));
        printed.unwrap_or_else(|error| String::from_utf8_lossy(error.as_bytes()).into_owned())
    }

    /// The allocations as a launch reaches them.
    pub(crate) fn places(&mut self) -> Arc<Places> {
        if let Some(places) = &self.places {
            return Arc::clone(places);
        }
        let (mut regions, mut keepers) = (Vec::with_capacity(self.allocations.len()), Vec::new());
        for (index, allocation) in self.allocations.iter_mut().enumerate() {
            let address = if self.hosted { allocation.bytes.as_ptr() as u64 } else { address_of(index) };
            regions.push(allocation.region(address));
            keepers.extend(allocation.bytes.keeper());
        }
        let hosted = self.hosted.then(|| {
            let all = (0..).zip(self.allocations.iter().zip(&regions));
            let there = all.filter(|(_, (allocation, region))| !allocation.freed && region.len > 0);
            let mut places: Vec<Place> =
                there.map(|(index, (_, region))| Place { address: region.address, len: region.len, index }).collect();
            places.sort_unstable_by_key(|place| place.address);
            places
        });
        let names = self.allocations.iter().map(|allocation| allocation.name.clone()).collect();
        let places = Arc::new(Places { regions, hosted, names, keepers });
        self.places = Some(Arc::clone(&places));
        places
    }

    /// The first buffer or variable of this name. A variable is found by its name in PTX, and by that of C++: `ns::table`, or its last part
    /// if no other has it. [`Program::variable`](crate::Program::variable) finds that of one module where several have the name.
    pub fn find(&self, name: &str) -> Option<BufferId> {
        if name.is_empty() {
            return None;
        }
        let names = self.allocations.iter().map(|allocation| allocation.name.as_str());
        let mut found = symbol::find(name, names.clone());
        // Several modules may have it.
        found.dedup();
        let [symbol] = found[..] else { return None };
        names.into_iter().position(|name| name == symbol).map(BufferId)
    }

    /// The buffer or variable that an address points into, and the number of bytes before that place.
    pub fn locate(&self, address: u64) -> Option<(BufferId, u64)> {
        let inside = |index: usize| {
            let offset = address.checked_sub(self.address(BufferId(index)))?;
            let allocation = self.allocations.get(index).filter(|allocation| !allocation.freed)?;
            (offset < allocation.bytes.len() as u64).then_some((BufferId(index), offset))
        };
        match (&self.places, self.hosted) {
            (_, false) => inside(region_index(address)?),
            (Some(places), true) => inside(places.find(address)?),
            (None, true) => (0..self.allocations.len()).find_map(inside),
        }
    }

    /// The name of a buffer or a variable, as PTX has it; `None` if it is of another memory.
    pub fn name(&self, buffer: BufferId) -> Option<&str> {
        self.name_at(buffer.0)
    }

    /// The index of the heap of `malloc`.
    pub(crate) fn heap_index(&self) -> Option<usize> {
        self.heap
    }

    /// What is needed to take modules out again that could not be loaded.
    pub(crate) fn mark(&self) -> Mark {
        let Memory { allocations, free, shorts, taken, heap, modules, functions, .. } = self;
        Mark {
            allocations: allocations.len(),
            free: free.clone(),
            shorts: shorts.clone(),
            taken: *taken,
            heap: *heap,
            modules: modules.len(),
            functions: *functions,
            refused: self.refused.is_some(),
        }
    }

    pub(crate) fn undo(&mut self, mark: Mark) {
        self.allocations.truncate(mark.allocations);
        for index in &mark.free {
            let allocation = &mut self.allocations[*index];
            (allocation.bytes, allocation.written, allocation.freed) = (Bytes::default(), Written::default(), true);
            allocation.name.clear();
        }
        self.free = mark.free;
        self.places = None;
        self.modules.truncate(mark.modules);
        (self.shorts, self.taken, self.heap, self.functions) = (mark.shorts, mark.taken, mark.heap, mark.functions);
        if !mark.refused {
            self.refused = None;
        }
    }

    /// The name of the allocation with this index.
    pub(crate) fn name_at(&self, index: usize) -> Option<&str> {
        self.allocations.get(index).map(|allocation| allocation.name.as_str())
    }

    /// The short addresses that a launch may use, with the allocations' indexes: all of them, or those of constants alone.
    pub(crate) fn shorts(&self, all: bool) -> Vec<(u32, u32)> {
        let allocations = (0..).zip(&self.allocations).filter(|(_, allocation)| all || allocation.read_only);
        allocations.filter_map(|(index, allocation)| Some((allocation.short?, index))).collect()
    }
}

/// What a memory had before modules were loaded.
pub(crate) struct Mark {
    allocations: usize,
    free: Vec<usize>,
    shorts: ShortAddresses,
    taken: u64,
    heap: Option<usize>,
    modules: usize,
    functions: usize,
    /// Whether there was no memory for something already.
    pub(crate) refused: bool,
}
