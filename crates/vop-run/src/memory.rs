//! Memory as a kernel sees it: flat 64-bit addresses over separate, checked allocations.
//!
//! The address space is cut into regions of 64 GiB. Shared, local and parameter memory have one region each, functions have one
//! for their addresses, every buffer and every module variable has one of its own. What lies between the end of an allocation and
//! the next region is the guard gap, so running off a buffer is always caught, and finding the allocation of an address is one
//! shift.

#![allow(unsafe_code, reason = "words are seen as bytes")]

use std::sync::Arc;

use crate::bits::Bits;
use crate::engine::shadow::{Checks, Common};
use crate::error::{RunError, RunErrorKind};
use crate::heap::{Heap, HeapLog};

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
            "shared" | "shared::cta" => Some(Space::Shared),
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
pub struct BufferId(usize);

/// Bytes in words of 16, so that every atomic access of the kernel is an aligned one of the host.
#[derive(Clone, Debug, Default)]
pub(crate) struct Bytes {
    words: Vec<u128>,
    len: usize,
}

impl Bytes {
    pub(crate) fn zeros(len: usize) -> Bytes {
        Bytes { words: vec![0; len.div_ceil(16)], len }
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

impl From<&[u8]> for Bytes {
    fn from(bytes: &[u8]) -> Bytes {
        let mut all = Bytes::zeros(bytes.len());
        all.as_mut_slice().copy_from_slice(bytes);
        all
    }
}

#[derive(Clone, Debug)]
struct Allocation {
    name: String,
    bytes: Bytes,
    read_only: bool,
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
/// Made by [`Program::memory`](super::Program::memory), so that the module's variables are in it.
#[derive(Clone, Debug, Default)]
pub struct Memory {
    allocations: Vec<Allocation>,
    pub(crate) printed: Vec<u8>,
    /// The index of the heap of `malloc`, if there is one, and what is known of it.
    heap: Option<usize>,
    heap_log: HeapLog,
}

impl Memory {
    /// Adds a buffer; its name appears in errors. Its address is a multiple of 256, and nothing is near it.
    pub fn allocate(&mut self, name: &str, bytes: impl AsRef<[u8]>) -> BufferId {
        self.push(name, Bytes::from(bytes.as_ref()), false)
    }

    /// Adds a buffer of zeros that counts as not written: [`Check::Uninit`](crate::Check::Uninit) finds reads of bytes that neither a kernel
    /// nor [`Memory::bytes_mut`] has written. As after `cudaMalloc`.
    pub fn allocate_uninitialized(&mut self, name: &str, bytes: usize) -> BufferId {
        let buffer = self.push(name, Bytes::zeros(bytes), false);
        self.allocations[buffer.0].written.0 = Some(Arc::new(Bits::new(bytes as u64, false)));
        buffer
    }

    /// Adds the heap of `malloc`.
    pub(crate) fn push_heap(&mut self, bytes: Bytes) {
        let len = bytes.len() as u64;
        let BufferId(index) = self.push("the heap of malloc", bytes, false);
        self.allocations[index].written.0 = Some(Arc::new(Bits::new(len, false)));
        self.heap = Some(index);
    }

    /// A launch with these checks starts: what its cores know together, if they look at memory.
    pub(crate) fn start_checks(&mut self, checks: Checks) -> Option<Common> {
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
        Some(Common::new(checks, sizes, written, log))
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

    pub(crate) fn push(&mut self, name: &str, bytes: Bytes, read_only: bool) -> BufferId {
        self.allocations.push(Allocation { name: name.to_owned(), bytes, read_only, written: Written::default() });
        BufferId(self.allocations.len() - 1)
    }

    /// The address of a buffer's first byte, in the global space and as a generic address.
    pub fn address(&self, buffer: BufferId) -> u64 {
        address_of(buffer.0)
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
        String::from_utf8_lossy(&std::mem::take(&mut self.printed)).into_owned()
    }

    /// The allocations as a launch reaches them.
    pub(crate) fn regions(&mut self) -> Vec<Region> {
        self.allocations.iter_mut().map(Allocation::region).collect()
    }

    /// The name of the allocation with this index.
    pub(crate) fn name(&self, index: usize) -> Option<&str> {
        self.allocations.get(index).map(|allocation| allocation.name.as_str())
    }

    /// The names and sizes of the allocations, for errors.
    pub(crate) fn names(&self) -> Vec<(String, u64)> {
        self.allocations.iter().map(|a| (a.name.clone(), a.bytes.len() as u64)).collect()
    }
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

    /// The allocation that an address of global memory falls into.
    fn whereabouts(&self, address: u64) -> String {
        match region_index(address).and_then(|i| self.allocations.get(i)) {
            Some((name, _)) => format!(" (byte {} of `{name}`)", address & OFFSET),
            None => String::new(),
        }
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
                let buffers = buffers.map(|(i, (name, len))| (format!("`{name}`"), address_of(i), *len));
                let nearest = windows.into_iter().chain(buffers).min_by_key(|(_, start, len)| {
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
