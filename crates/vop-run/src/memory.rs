//! Memory as a kernel sees it: flat 64-bit addresses over separate, checked allocations.
//!
//! The address space is cut into regions of 64 GiB. Shared, local and parameter memory have one region each, functions have one
//! for their addresses, every buffer and every module variable has one of its own. What lies between the end of an allocation and
//! the next region is the guard gap, so running off a buffer is always caught, and finding the allocation of an address is one
//! shift.
//!
//! Kernels that keep addresses in 32 bits see the same memory through *short* addresses, which are those below 4 GiB: a window of
//! 16 MiB each for shared, local and parameter memory, and behind them the allocations, at least 64 KiB apart.

#![allow(unsafe_code, reason = "words are seen as bytes")]

use std::alloc::{Layout as HeapLayout, alloc_zeroed};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, OnceLock};

use crate::bits::Bits;
use crate::engine::shadow::{Checks, Common};
use crate::error::{RunError, RunErrorKind};
use crate::heap::{self, Heap, HeapLog};
use crate::symbol::{self, shown};
use crate::texture::table::Table;

/// The name of the allocation that is the heap: a phrase, unlike the names of others.
const HEAP_NAME: &str = "the heap of `malloc`";

/// The name of an allocation for a message.
pub(crate) fn shown_allocation(name: &str) -> String {
    if name == HEAP_NAME { name.to_owned() } else { shown(name) }
}

/// A region's size as a power of two.
pub(crate) const REGION_BITS: u32 = 36;
pub(crate) const OFFSET: u64 = (1 << REGION_BITS) - 1;

/// Where a generic address of shared memory starts.
pub(crate) const SHARED_BASE: u64 = 1 << REGION_BITS;
/// Where a generic address of local memory starts.
pub(crate) const LOCAL_BASE: u64 = 2 << REGION_BITS;
/// Where a generic address of the kernel's parameters starts.
pub(crate) const PARAM_BASE: u64 = 3 << REGION_BITS;
/// Where the addresses of functions start.
pub(crate) const FUNCTION_BASE: u64 = 4 << REGION_BITS;
/// The region of the first allocation.
const FIRST_REGION: u64 = 16;

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

/// Bytes in words of 16, so that every atomic access of the kernel is an aligned one of the host.
#[derive(Clone, Debug, Default)]
pub(crate) struct Bytes {
    words: Vec<u128>,
    len: usize,
}

impl Bytes {
    /// Zeros, if there is memory for them. Those of a large buffer take none until they are written.
    pub(crate) fn try_zeros(len: usize) -> Option<Bytes> {
        let count = len.div_ceil(16);
        if count == 0 {
            return Some(Bytes::default());
        }
        let layout = HeapLayout::array::<u128>(count).ok()?;
        // SAFETY: the layout has a size, and is that of a vector of this capacity. Zeros are words.
        let words = unsafe {
            let start = alloc_zeroed(layout).cast::<u128>();
            if start.is_null() {
                return None;
            }
            Vec::from_raw_parts(start, count, count)
        };
        Some(Bytes { words, len })
    }

    pub(crate) fn len(&self) -> usize {
        self.len
    }

    pub(crate) fn as_mut_ptr(&mut self) -> *mut u8 {
        self.words.as_mut_ptr().cast()
    }

    pub(crate) fn as_slice(&self) -> &[u8] {
        // SAFETY: the words hold at least `len` bytes, which are borrowed for as long as the slice, and any bytes are valid.
        unsafe { std::slice::from_raw_parts(self.words.as_ptr().cast(), self.len) }
    }

    pub(crate) fn as_mut_slice(&mut self) -> &mut [u8] {
        // SAFETY: the words hold at least `len` bytes, which are borrowed mutably for as long as the slice, and any bytes are valid.
        unsafe { std::slice::from_raw_parts_mut(self.words.as_mut_ptr().cast(), self.len) }
    }
}

impl TryFrom<&[u8]> for Bytes {
    type Error = RunError;

    fn try_from(bytes: &[u8]) -> Result<Bytes, RunError> {
        let mut all = Bytes::try_zeros(bytes.len()).ok_or_else(|| refused(bytes.len() as u64, "a copy of bytes"))?;
        all.as_mut_slice().copy_from_slice(bytes);
        Ok(all)
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
}

impl Allocation {
    fn region(&mut self) -> Region {
        Region { start: self.bytes.as_mut_ptr(), len: self.bytes.len() as u64, read_only: self.read_only }
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
#[derive(Clone, Debug, Default)]
pub struct Memory {
    allocations: Vec<Allocation>,
    /// What its allocations take, and may take.
    taken: u64,
    limit: Option<u64>,
    /// Why an allocation has no content.
    refused: Option<Box<RunError>>,
    shorts: ShortAddresses,
    pub(crate) printed: Vec<u8>,
    /// The index of the heap of `malloc`, if there is one, and what is known of it.
    heap: Option<usize>,
    heap_log: HeapLog,
    /// The programs whose variables it holds, and the number of functions in their modules.
    pub(crate) modules: Vec<u64>,
    pub(crate) functions: usize,
    /// Textures and surfaces; a launch keeps them as they were.
    pub(crate) textures: Arc<Table>,
}

impl Memory {
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
        let made = usize::try_from(bytes).ok().filter(|len| *len as u64 <= OFFSET).and_then(Bytes::try_zeros);
        let made = made.ok_or_else(|| refused(bytes, &what))?;
        self.taken += bytes;
        let (short, written) = (self.shorts.place(bytes), Written::default());
        self.allocations.push(Allocation { name: name.to_owned(), bytes: made, read_only, short, written });
        Ok(BufferId(self.allocations.len() - 1))
    }

    /// The allocation; an empty one, and no launch, if it could not be made.
    pub(crate) fn or_empty(&mut self, name: &str, made: Result<BufferId, RunError>, read_only: bool) -> BufferId {
        made.unwrap_or_else(|error| {
            self.refused.get_or_insert(Box::new(error));
            let (short, written) = (self.shorts.place(0), Written::default());
            self.allocations.push(Allocation {
                name: name.to_owned(),
                bytes: Bytes::default(),
                read_only,
                short,
                written,
            });
            BufferId(self.allocations.len() - 1)
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
        let (short, name) = (self.shorts.place(heap::HEAP as u64), HEAP_NAME.to_owned());
        let (bytes, written) = (Bytes::default(), Written::default());
        self.heap = Some(self.allocations.len());
        self.allocations.push(Allocation { name, bytes, read_only: false, short, written });
    }

    /// Gives the heap of `malloc` its bytes, if it has a place and none yet: a kernel that uses it is launched. `limit` replaces that of the
    /// memory.
    pub(crate) fn make_heap(&mut self, limit: Option<u64>) -> Result<(), RunError> {
        let Some(heap) = self.heap.and_then(|index| self.allocations.get_mut(index)).filter(|a| a.bytes.len() == 0)
        else {
            return Ok(());
        };
        let bytes = heap::HEAP as u64;
        let limit = limit.or(self.limit).unwrap_or_else(default_limit);
        let left = limit.saturating_sub(self.taken);
        if bytes > left {
            return Err(beyond(bytes, HEAP_NAME, limit, left));
        }
        heap.bytes = Bytes::try_zeros(heap::HEAP).ok_or_else(|| refused(bytes, HEAP_NAME))?;
        heap::seal(heap.bytes.as_mut_slice());
        heap.written.0 = Some(Arc::new(Bits::new(bytes, false)));
        self.taken += bytes;
        Ok(())
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
        {
            let region = allocation.region();
            if let Ok(heap) = Heap::of(region) {
                let mut heap_log = std::mem::take(&mut self.heap_log);
                heap_log.start(&heap);
                log = Some((index, heap_log));
            }
        }
        if let (Some(index), true) = (self.heap, checks.uninitialized) {
            // What was allocated before, and by launches without the check, has been written.
            let heap = &mut self.allocations[index];
            heap.written.0.get_or_insert_with(|| Arc::new(Bits::new(heap.bytes.len() as u64, true)));
        }
        let sizes = self.allocations.iter().map(|a| if a.read_only { 0 } else { a.bytes.len() as u64 });
        let written = self.allocations.iter().map(|a| a.written.0.clone()).collect();
        Some(Common::new(checks, room, sizes, written, log))
    }

    /// The launch has ended.
    pub(crate) fn end_checks(&mut self, common: Common) {
        if let Some((index, log)) = common.heap {
            let mut log = log.into_inner().unwrap_or_else(std::sync::PoisonError::into_inner);
            if let Some(Ok(heap)) = self.allocations.get_mut(index).map(|allocation| Heap::of(allocation.region())) {
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
        address_of(buffer.0)
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
    pub(crate) fn regions(&mut self) -> Vec<Region> {
        self.allocations.iter_mut().map(Allocation::region).collect()
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
        let index = region_index(address)?;
        let offset = address & OFFSET;
        let inside = self.allocations.get(index).is_some_and(|allocation| offset < allocation.bytes.len() as u64);
        inside.then_some((BufferId(index), offset))
    }

    /// The name of a buffer or a variable, as PTX has it; `None` if it is of another memory.
    pub fn name(&self, buffer: BufferId) -> Option<&str> {
        self.name_at(buffer.0)
    }

    /// The number of allocations.
    pub(crate) fn count(&self) -> usize {
        self.allocations.len()
    }

    /// The index of the heap of `malloc`.
    pub(crate) fn heap_index(&self) -> Option<usize> {
        self.heap
    }

    /// The short addresses that are left.
    pub(crate) fn shorts_left(&self) -> ShortAddresses {
        self.shorts.clone()
    }

    /// What is needed to take modules out again that could not be loaded.
    pub(crate) fn mark(&self) -> Mark {
        let Memory { allocations, shorts, taken, heap, modules, functions, .. } = self;
        Mark {
            allocations: allocations.len(),
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

    /// The names and sizes of the allocations, for errors.
    pub(crate) fn names(&self) -> Vec<(String, u64)> {
        self.allocations.iter().map(|a| (a.name.clone(), a.bytes.len() as u64)).collect()
    }
}

/// What a memory had before modules were loaded.
pub(crate) struct Mark {
    allocations: usize,
    shorts: ShortAddresses,
    taken: u64,
    heap: Option<usize>,
    modules: usize,
    functions: usize,
    /// Whether there was no memory for something already.
    pub(crate) refused: bool,
}

/// An allocation while a launch runs.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Region {
    pub(crate) start: *mut u8,
    pub(crate) len: u64,
    pub(crate) read_only: bool,
}

/// The index of the allocation that an address belongs to, if it is one of an allocation's region.
#[inline(always)]
pub(crate) fn region_index(address: u64) -> Option<usize> {
    (address >> REGION_BITS).checked_sub(FIRST_REGION).map(|index| index as usize)
}

/// The address of the allocation with this index.
pub(crate) fn address_of(index: usize) -> u64 {
    (FIRST_REGION + index as u64) << REGION_BITS
}

/// An access that cannot be made; [`Layout::explain`] describes it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Fault {
    Misaligned { address: u64, bytes: u64 },
    OutOfBounds { space: Space, address: u64, bytes: u64 },
    ReadOnly { address: u64 },
    WrongSpace { space: Space, address: u64 },
}

/// `4 bytes`, `1 byte`.
pub(crate) fn plural(bytes: u64) -> String {
    format!("{bytes} byte{}", if bytes == 1 { "" } else { "s" })
}

/// Names and sizes of all memory that a thread can reach, to explain faults.
pub(crate) struct Layout<'m> {
    /// The allocations' names and sizes.
    pub(crate) allocations: &'m [(String, u64)],
    /// Their short addresses, with their indexes.
    pub(crate) shorts: &'m [(u32, u32)],
    pub(crate) shared: u64,
    /// Bytes of the thread's stack that are in use.
    pub(crate) local: u64,
    pub(crate) params: u64,
}

impl Layout<'_> {
    /// The error for a fault, without place and thread.
    #[cold]
    pub(crate) fn explain(&self, fault: Fault) -> RunError {
        let (kind, address, message) = match fault {
            Fault::Misaligned { address, bytes } => (
                RunErrorKind::Misaligned,
                address,
                format!(
                    "address {address:#x} is not a multiple of the access's {bytes} bytes{}",
                    self.whereabouts(address)
                ),
            ),
            Fault::ReadOnly { address } => (
                RunErrorKind::Forbidden,
                address,
                format!("address {address:#x} may only be read{}", self.whereabouts(address)),
            ),
            Fault::WrongSpace { space, address } => (
                RunErrorKind::Forbidden,
                address,
                format!(
                    "address {address:#x} is a generic address of another state space, not {} memory",
                    space.name()
                ),
            ),
            Fault::OutOfBounds { space, address, bytes } => {
                (RunErrorKind::OutOfBounds, address, self.out_of_bounds(space, address, bytes))
            }
        };
        RunError { address: Some(address), ..RunError::new(kind, message) }
    }

    /// A place of memory: `byte 4 of `flag``.
    pub(crate) fn name_of(&self, address: u64, bytes: u64) -> String {
        let name = match region_index(address) {
            Some(index) => self.allocations.get(index).map_or("memory".to_owned(), |(name, _)| shown_allocation(name)),
            None => "shared memory".to_owned(),
        };
        let offset = address & OFFSET;
        match bytes {
            1 => format!("byte {offset} of {name}"),
            _ => format!("bytes {offset} to {} of {name}", offset + bytes - 1),
        }
    }

    /// The allocation that an address of global memory falls into.
    fn whereabouts(&self, address: u64) -> String {
        let whole = || Some((region_index(address)?, address & OFFSET));
        let short = || short_allocation(self.shorts, address).map(|(index, start)| (index, address - start));
        match whole().or_else(short).and_then(|(index, byte)| Some((self.allocations.get(index)?, byte))) {
            Some(((name, _), byte)) => format!(" (byte {byte} of {})", shown_allocation(name)),
            None => String::new(),
        }
    }

    /// Names, short addresses and sizes of what stands near a short address.
    fn near_short(&self, address: u64) -> Vec<(String, u64, u64)> {
        let windows = [(Space::Shared, self.shared), (Space::Local, self.local)];
        let windows = windows.map(|(space, len)| (format!("{} memory", space.name()), space.short_base(), len));
        let allocations = self.shorts.iter().filter_map(|(start, index)| {
            let (name, len) = self.allocations.get(*index as usize)?;
            Some((shown_allocation(name), u64::from(*start), *len))
        });
        let near = |(_, start, len): &(String, u64, u64)| {
            address < start.saturating_add(*len).saturating_add(SHORT_STEP)
                && address >= start.saturating_sub(SHORT_STEP)
        };
        if self.shorts.is_empty() { Vec::new() } else { windows.into_iter().chain(allocations).filter(near).collect() }
    }

    fn out_of_bounds(&self, space: Space, address: u64, bytes: u64) -> String {
        let access = plural(bytes);
        let (name, start, len) = match space {
            Space::Shared => ("shared memory".to_owned(), 0, self.shared),
            Space::Local => ("local memory".to_owned(), 0, self.local),
            Space::Param => ("the kernel's parameters".to_owned(), 0, self.params),
            Space::Generic | Space::Global | Space::Const => {
                let windows = [
                    ("shared memory".to_owned(), SHARED_BASE, self.shared),
                    ("local memory".to_owned(), LOCAL_BASE, self.local),
                ];
                let buffers = self.allocations.iter().enumerate();
                let buffers = buffers.map(|(i, (name, len))| (shown_allocation(name), address_of(i), *len));
                let near = self.near_short(address);
                let all = windows.into_iter().chain(buffers).filter(|_| near.is_empty());
                let nearest = all.chain(near.iter().cloned()).min_by_key(|(_, start, len)| {
                    let last = start + len.saturating_sub(1);
                    if address < *start { start - address } else { address.saturating_sub(last) }
                });
                match nearest {
                    Some(nearest) => nearest,
                    None => return format!("an access of {access} at address {address:#x}, where nothing is"),
                }
            }
        };
        if address < start {
            return match start - address {
                // Too far to be a slip of an index: most likely a null or a truncated pointer.
                gap if gap >> 32 != 0 => {
                    format!("an access of {access} at address {address:#x}, far from every buffer")
                }
                gap => {
                    format!("an access of {access} at address {address:#x}, {} before the start of {name}", plural(gap))
                }
            };
        }
        let offset = address - start;
        match offset.saturating_add(bytes).saturating_sub(len) {
            gap if gap >> 32 != 0 => format!("an access of {access} at address {address:#x}, far from every buffer"),
            gap => format!(
                "an access of {access} at byte {offset} of {name} goes {} beyond its end: it has {len} (address {address:#x})",
                plural(gap)
            ),
        }
    }
}
