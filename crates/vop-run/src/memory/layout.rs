//! Faults of accesses, put into words.

use super::{LOCAL_BASE, OFFSET, Places, SHARED_BASE, SHORT_STEP, Space, short_allocation, shown_allocation};
use crate::error::{RunError, RunErrorKind};

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
    pub(crate) places: &'m Places,
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
        let (name, offset) = match self.places.locate(address) {
            Some((index, offset)) => (self.shown(index).unwrap_or("memory".to_owned()), offset),
            None => ("shared memory".to_owned(), address & OFFSET),
        };
        match bytes {
            1 => format!("byte {offset} of {name}"),
            _ => format!("bytes {offset} to {} of {name}", offset + bytes - 1),
        }
    }

    /// The name of the allocation with this index.
    fn shown(&self, index: usize) -> Option<String> {
        self.places.names.get(index).map(|name| shown_allocation(name))
    }

    /// The allocation that an address of global memory falls into.
    fn whereabouts(&self, address: u64) -> String {
        let short = || short_allocation(self.shorts, address).map(|(index, start)| (index, address - start));
        match self.places.locate(address).or_else(short).and_then(|(index, byte)| Some((self.shown(index)?, byte))) {
            Some((name, byte)) => format!(" (byte {byte} of {name})"),
            None => String::new(),
        }
    }

    /// Names, short addresses and sizes of what stands near a short address.
    fn near_short(&self, address: u64) -> Vec<(String, u64, u64)> {
        let windows = [(Space::Shared, self.shared), (Space::Local, self.local)];
        let windows = windows.map(|(space, len)| (format!("{} memory", space.name()), space.short_base(), len));
        let allocations = self.shorts.iter().filter_map(|(start, index)| {
            let region = self.places.regions.get(*index as usize)?;
            Some((self.shown(*index as usize)?, u64::from(*start), region.len))
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
                let buffers = self.places.regions.iter().enumerate();
                // Those at the host's addresses have no address once they are freed.
                let buffers = buffers.filter(|(_, region)| region.len > 0 || self.places.hosted.is_none());
                let buffers = buffers.filter_map(|(i, region)| Some((self.shown(i)?, region.address, region.len)));
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
