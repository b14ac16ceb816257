//! Memory as a kernel sees it: flat 64-bit addresses over separate, checked allocations.
//!
//! The address space is cut into regions of 64 GiB. Shared, local and parameter memory have one region each, every buffer and
//! every module variable has one of its own. What lies between the end of an allocation and the next region is the guard gap,
//! so running off a buffer is always caught, and finding the allocation of an address is one shift.

use super::error::{RunError, RunErrorKind};

/// A region's size as a power of two.
const REGION_BITS: u32 = 36;
const OFFSET: u64 = (1 << REGION_BITS) - 1;

/// Where a generic address of shared memory starts.
pub(crate) const SHARED_BASE: u64 = 1 << REGION_BITS;
/// Where a generic address of local memory starts.
pub(crate) const LOCAL_BASE: u64 = 2 << REGION_BITS;
/// Where a generic address of the kernel's parameters starts.
pub(crate) const PARAM_BASE: u64 = 3 << REGION_BITS;
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
    Param,
}

impl Space {
    pub(crate) fn parse(name: &str) -> Option<Space> {
        match name {
            "global" => Some(Space::Global),
            "const" => Some(Space::Const),
            "shared" => Some(Space::Shared),
            "local" => Some(Space::Local),
            "param" => Some(Space::Param),
            _ => None,
        }
    }

    /// What turns an address of this space into a generic one when added.
    pub(crate) fn base(self) -> u64 {
        match self {
            Space::Generic | Space::Global | Space::Const => 0,
            Space::Shared => SHARED_BASE,
            Space::Local => LOCAL_BASE,
            Space::Param => PARAM_BASE,
        }
    }

    fn name(self) -> &'static str {
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

#[derive(Clone, Debug)]
struct Allocation {
    name: String,
    bytes: Vec<u8>,
    read_only: bool,
}

/// A device's global and constant memory: a module's variables and the caller's buffers.
///
/// Made by [`Program::memory`](super::Program::memory), so that the module's variables are in it.
#[derive(Clone, Debug, Default)]
pub struct Memory {
    allocations: Vec<Allocation>,
}

impl Memory {
    /// Adds a buffer; its name appears in errors. Its address is a multiple of 256, and nothing is near it.
    pub fn allocate(&mut self, name: &str, bytes: Vec<u8>) -> BufferId {
        self.push(name, bytes, false)
    }

    pub(crate) fn push(&mut self, name: &str, bytes: Vec<u8>, read_only: bool) -> BufferId {
        self.allocations.push(Allocation { name: name.to_owned(), bytes, read_only });
        BufferId(self.allocations.len() - 1)
    }

    /// The address of a buffer's first byte, in the global space and as a generic address.
    pub fn address(&self, buffer: BufferId) -> u64 {
        address_of(buffer.0)
    }

    /// A buffer's content; empty if the buffer is of another memory.
    pub fn bytes(&self, buffer: BufferId) -> &[u8] {
        self.allocations.get(buffer.0).map_or(&[], |allocation| &allocation.bytes)
    }

    /// A buffer's content, to change.
    pub fn bytes_mut(&mut self, buffer: BufferId) -> &mut [u8] {
        self.allocations.get_mut(buffer.0).map_or(&mut [], |allocation| &mut allocation.bytes)
    }
}

/// The address of the allocation with this index.
pub(crate) fn address_of(index: usize) -> u64 {
    (FIRST_REGION + index as u64) << REGION_BITS
}

/// An access that cannot be made; [`View::explain`] puts it in words.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Fault {
    Misaligned { address: u64, bytes: u64 },
    OutOfBounds { space: Space, address: u64, bytes: u64 },
    ReadOnly { address: u64 },
    WrongSpace { space: Space, address: u64 },
}

/// `4 bytes`, `1 byte`.
fn plural(bytes: u64) -> String {
    format!("{bytes} byte{}", if bytes == 1 { "" } else { "s" })
}

/// All memory that one thread can reach.
pub(crate) struct View<'m> {
    pub(crate) memory: &'m mut Memory,
    pub(crate) shared: &'m mut [u8],
    pub(crate) local: &'m mut [u8],
    pub(crate) params: &'m mut [u8],
}

impl View<'_> {
    /// The bytes of an access; `size` is a power of two times a vector's length, and aligns it.
    #[inline]
    pub(crate) fn access(&mut self, space: Space, address: u64, size: usize, write: bool) -> Result<&mut [u8], Fault> {
        let bytes = size as u64;
        if address & (bytes - 1) != 0 {
            return Err(Fault::Misaligned { address, bytes });
        }
        let (found, offset) = match space {
            Space::Generic | Space::Global | Space::Const => match address >> REGION_BITS {
                region @ 1..=3 => {
                    if space != Space::Generic {
                        return Err(Fault::WrongSpace { space, address });
                    }
                    let allocation = match region {
                        1 => &mut *self.shared,
                        2 => &mut *self.local,
                        _ if write => return Err(Fault::ReadOnly { address }),
                        _ => &mut *self.params,
                    };
                    (allocation, address & OFFSET)
                }
                region => {
                    let index = usize::try_from(region.wrapping_sub(FIRST_REGION)).unwrap_or(usize::MAX);
                    let Some(allocation) = self.memory.allocations.get_mut(index) else {
                        return Err(Fault::OutOfBounds { space, address, bytes });
                    };
                    if write && (allocation.read_only || space == Space::Const) {
                        return Err(Fault::ReadOnly { address });
                    }
                    (allocation.bytes.as_mut_slice(), address & OFFSET)
                }
            },
            Space::Shared => (&mut *self.shared, address),
            Space::Local => (&mut *self.local, address),
            Space::Param if write => return Err(Fault::ReadOnly { address }),
            Space::Param => (&mut *self.params, address),
        };
        let range = usize::try_from(offset).ok().and_then(|start| Some(start..start.checked_add(size)?));
        range.and_then(|range| found.get_mut(range)).ok_or(Fault::OutOfBounds { space, address, bytes })
    }

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
        let index = (address >> REGION_BITS).checked_sub(FIRST_REGION).and_then(|i| usize::try_from(i).ok());
        match index.and_then(|i| self.memory.allocations.get(i)) {
            Some(allocation) => format!(" (byte {} of `{}`)", address & OFFSET, allocation.name),
            None => String::new(),
        }
    }

    fn out_of_bounds(&self, space: Space, address: u64, bytes: u64) -> String {
        let access = plural(bytes);
        let (name, start, len) = match space {
            Space::Shared => ("shared memory".to_owned(), 0, self.shared.len()),
            Space::Local => ("local memory".to_owned(), 0, self.local.len()),
            Space::Param => ("the kernel's parameters".to_owned(), 0, self.params.len()),
            Space::Generic | Space::Global | Space::Const => {
                let windows = [
                    ("shared memory".to_owned(), SHARED_BASE, self.shared.len()),
                    ("local memory".to_owned(), LOCAL_BASE, self.local.len()),
                ];
                let buffers = self.memory.allocations.iter().enumerate();
                let buffers = buffers.map(|(i, a)| (format!("`{}`", a.name), address_of(i), a.bytes.len()));
                let nearest = windows.into_iter().chain(buffers).min_by_key(|(_, start, len)| {
                    let last = start + (*len as u64).saturating_sub(1);
                    if address < *start { start - address } else { address.saturating_sub(last) }
                });
                match nearest {
                    Some(nearest) => nearest,
                    None => return format!("an access of {access} at address {address:#x}, where nothing is"),
                }
            }
        };
        let len = len as u64;
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
