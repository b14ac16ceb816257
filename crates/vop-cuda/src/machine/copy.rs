//! Copies and fills: rectangles of bytes, wherever they are.

#![allow(unsafe_code, reason = "bytes are reached by their addresses")]

use std::sync::Arc;

use super::Machine;
use super::host::{self, Access};
use super::memory::{Allocation, Kind};
use crate::status::{Answer, Status};

/// One side of a copy: the first byte, and how far apart rows and slices are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Side {
    /// The address of the first byte.
    pub address: u64,
    /// Bytes from row to row.
    pub pitch: u64,
    /// Bytes from slice to slice.
    pub slice: u64,
}

impl Side {
    /// One row.
    pub fn row(address: u64) -> Side {
        Side { address, pitch: 0, slice: 0 }
    }
}

/// A copy of `depth` slices of `height` rows of `width` bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Copy {
    /// Where to.
    pub to: Side,
    /// Where from.
    pub from: Side,
    /// Bytes of a row.
    pub width: u64,
    /// Rows of a slice.
    pub height: u64,
    /// Slices.
    pub depth: u64,
}

/// Bytes from the first to the last of a box.
fn extent(side: &Side, [width, height, depth]: [u64; 3]) -> Answer<u64> {
    let rows = (height - 1).checked_mul(side.pitch);
    let slices = (depth - 1).checked_mul(side.slice);
    let sum = rows.zip(slices).and_then(|(rows, slices)| rows.checked_add(slices)?.checked_add(width));
    sum.ok_or(Status::INVALID_VALUE)
}

/// The allocation of a side, if it is one that is known.
fn known(machine: &Machine, side: &Side, size: [u64; 3]) -> Answer<Option<Arc<Allocation>>> {
    machine.space.find_range(side.address, extent(side, size)?)
}

impl Copy {
    /// Bytes in a row.
    pub fn bytes(to: u64, from: u64, width: u64) -> Copy {
        Copy { to: Side::row(to), from: Side::row(from), width, height: 1, depth: 1 }
    }

    fn size(&self) -> [u64; 3] {
        [self.width, self.height, self.depth]
    }

    /// Whether there is nothing to copy.
    pub fn is_empty(&self) -> bool {
        self.size().contains(&0)
    }

    /// Checks that rows do not overlap.
    ///
    /// # Errors
    /// A pitch is less than a row.
    pub fn check(&self) -> Answer {
        let fits = |side: &Side| {
            (self.height <= 1 || side.pitch >= self.width)
                && (self.depth <= 1 || self.height <= 1 || side.slice >= side.pitch.saturating_mul(self.height - 1))
        };
        if self.is_empty() || fits(&self.to) && fits(&self.from) { Ok(()) } else { Err(Status::INVALID_VALUE) }
    }

    /// Where both sides are, before it runs: errors are told at once, and a side that is memory of the program's that nobody knows means
    /// that the copy must not outlive the call.
    ///
    /// # Errors
    /// A known allocation ends before the copy does.
    pub fn sides(&self, machine: &Machine) -> Answer<[Option<Kind>; 2]> {
        if self.is_empty() {
            return Ok([Some(Kind::Device); 2]);
        }
        let kind = |side| known(machine, side, self.size()).map(|found| found.map(|allocation| allocation.kind));
        Ok([kind(&self.to)?, kind(&self.from)?])
    }

    /// Whether a side is memory of another device than this one.
    pub fn is_of_other_devices(&self, machine: &Machine, ordinal: usize) -> bool {
        [&self.to, &self.from].into_iter().any(|side| {
            let found = machine.space.find(side.address);
            found.is_some_and(|allocation| !allocation.kind.is_host() && allocation.device != ordinal)
        })
    }

    /// Copies.
    ///
    /// # Errors
    /// [`Status::INVALID_VALUE`] if part of it is no memory. What was copied until then stays.
    pub fn run(&self, machine: &Machine) -> Answer {
        if self.is_empty() {
            return Ok(());
        }
        self.check()?;
        let size = self.size();
        let (to, from) = (known(machine, &self.to, size)?, known(machine, &self.from, size)?);
        let (to, from) = (to.as_deref(), from.as_deref());
        // In the order of their addresses, and once where both are the same: who frees waits for one of them only.
        let mut held: Vec<&Allocation> = to.into_iter().chain(from).collect();
        held.sort_by_key(|allocation| allocation.start);
        held.dedup_by_key(|allocation| allocation.start);
        let _held = held.into_iter().map(Allocation::hold).collect::<Answer<Vec<_>>>()?;
        let (mut rows, mut width) = (self.height, self.width);
        // Rows without gaps are one.
        if rows > 1 && self.to.pitch == width && self.from.pitch == width {
            (width, rows) = (width * rows, 1);
        }
        let several = rows > 1 || self.depth > 1;
        // The program may have unmapped what it registered, or may only read it.
        let is_good = |side: Option<&Allocation>| side.is_some_and(|allocation| allocation.kind != Kind::Registered);
        let (mut to_good, mut from_good) = (is_good(to), is_good(from));
        if several {
            // The list of mappings is read once, and not for each row.
            for (side, good, access) in
                [(&self.to, &mut to_good, Access::Write), (&self.from, &mut from_good, Access::Read)]
            {
                if !*good {
                    host::check(side.address, extent(side, size)?, access)?;
                    *good = true;
                }
            }
        }
        let len = usize::try_from(width).map_err(|_| Status::INVALID_VALUE)?;
        for z in 0..self.depth {
            for y in 0..rows {
                let at = |side: &Side| side.address + z * side.slice + y * side.pitch;
                let to = std::ptr::with_exposed_provenance_mut(at(&self.to) as usize);
                let from = std::ptr::with_exposed_provenance(at(&self.from) as usize);
                // SAFETY: a side that is good is in an allocation that is held, or was found in the list of mappings just now; a
                // program that unmaps it meanwhile would fail in its own copy as well.
                unsafe { host::copy(to, to_good, from, from_good, len) }?;
            }
        }
        if let Some(allocation) = to.filter(|_| machine.settings.launch.check_uninitialized) {
            for z in 0..self.depth {
                for y in 0..rows {
                    allocation.mark_written(machine, self.to.address + z * self.to.slice + y * self.to.pitch, width);
                }
            }
        }
        Ok(())
    }
}

/// A fill of `depth` slices of `height` rows of `width` elements.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Fill {
    /// Where to.
    pub to: Side,
    /// The element.
    pub value: u32,
    /// Bytes of an element: 1, 2 or 4.
    pub bytes: u64,
    /// Elements of a row.
    pub width: u64,
    /// Rows of a slice.
    pub height: u64,
    /// Slices.
    pub depth: u64,
}

impl Fill {
    fn size(&self) -> Answer<[u64; 3]> {
        Ok([self.width.checked_mul(self.bytes).ok_or(Status::INVALID_VALUE)?, self.height, self.depth])
    }

    /// Where it writes to, before it runs.
    ///
    /// # Errors
    /// It is no memory that a device reaches, or not all of it, or is misaligned.
    pub fn check(&self, machine: &Machine) -> Answer {
        let size = self.size()?;
        if size.contains(&0) {
            return Ok(());
        }
        let is_aligned = self.to.address.is_multiple_of(self.bytes)
            && (self.height == 1 || self.to.pitch.is_multiple_of(self.bytes) && self.to.pitch >= size[0]);
        known(machine, &self.to, size)?.filter(|_| is_aligned).map(|_| ()).ok_or(Status::INVALID_VALUE)
    }

    /// Fills.
    ///
    /// # Errors
    /// As for [`Fill::check`].
    pub fn run(&self, machine: &Machine) -> Answer {
        self.check(machine)?;
        let size = self.size()?;
        if size.contains(&0) {
            return Ok(());
        }
        let allocation = known(machine, &self.to, size)?.ok_or(Status::INVALID_VALUE)?;
        let _held = allocation.hold()?;
        if allocation.kind == Kind::Registered {
            host::check(self.to.address, extent(&self.to, size)?, Access::Write)?;
        }
        let len = usize::try_from(size[0]).map_err(|_| Status::INVALID_VALUE)?;
        for z in 0..self.depth {
            for y in 0..self.height {
                let address = self.to.address + z * self.to.slice + y * self.to.pitch;
                let row: *mut u8 = std::ptr::with_exposed_provenance_mut(address as usize);
                let [value @ .., _, _] = self.value.to_le_bytes();
                // SAFETY: the row is in an allocation that is held, and aligned for its elements. Kernels may write to it at the same
                // time, as on a card: raw pointers promise nothing to anybody.
                unsafe {
                    match self.bytes {
                        1 => std::ptr::write_bytes(row, value[0], len),
                        2 => {
                            let row = row.cast::<u16>();
                            (0..len / 2).for_each(|i| row.add(i).write(u16::from_le_bytes(value)));
                        }
                        _ => {
                            let row = row.cast::<u32>();
                            (0..len / 4).for_each(|i| row.add(i).write(self.value));
                        }
                    }
                }
                if machine.settings.launch.check_uninitialized {
                    allocation.mark_written(machine, address, size[0]);
                }
            }
        }
        Ok(())
    }
}
