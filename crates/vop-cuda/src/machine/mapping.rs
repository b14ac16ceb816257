//! Virtual memory management: addresses that are reserved, memory without an address, and which memory is at which address.
//!
//! Memory is a file of the system without a name, so that it can be at several addresses. What lies side by side in a reservation, with the
//! same access, is one [`Allocation`]: a program may copy across the places where its pieces meet.

#![allow(unsafe_code, reason = "the system maps memory")]

use std::collections::BTreeMap;
use std::os::fd::{AsRawFd, FromRawFd, OwnedFd};
use std::sync::atomic::Ordering;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use super::memory::{Allocation, Kind, Wanted};
use super::{Device, Machine, handles};
use crate::status::{Answer, Status};

/// What sizes and addresses are multiples of.
pub const GRANULARITY: u64 = 2 << 20;

/// Memory without an address: `CUmemGenericAllocationHandle`. It is there until its handle is released and nothing is mapped to it.
pub struct Physical {
    /// Its handle.
    pub handle: u64,
    /// The device that it belongs to.
    pub device: &'static Device,
    /// Its bytes.
    pub len: u64,
    /// `CUmemAllocationCompType`, as the program asked for it; it has no effect.
    pub compression: u8,
    file: OwnedFd,
}

impl Drop for Physical {
    fn drop(&mut self) {
        self.device.physical.fetch_sub(self.len, Ordering::Relaxed);
    }
}

/// Addresses that are reserved.
#[derive(Default)]
pub struct Reservations(Mutex<BTreeMap<u64, Reservation>>);

struct Reservation {
    len: u64,
    /// What is mapped, by the address.
    pieces: BTreeMap<u64, Piece>,
    /// What kernels and copies know, by the address, and what devices may do there.
    known: BTreeMap<u64, (Arc<Allocation>, Access)>,
}

struct Piece {
    memory: Arc<Physical>,
    len: u64,
    access: Access,
}

/// What each device may do: `CUmemAccess_flags`, by the number of the device.
type Access = [u8; super::settings::MAX_DEVICES];

/// `CU_MEM_ACCESS_FLAGS_PROT_READ` and `_READWRITE`.
pub const READ: u8 = 1;
/// See [`READ`].
pub const READ_WRITE: u8 = 3;

/// Whether a number of bytes, or an address, is possible.
fn check(number: u64) -> Answer {
    if number.is_multiple_of(GRANULARITY) { Ok(()) } else { Err(Status::INVALID_VALUE) }
}

fn place(address: u64) -> *mut libc::c_void {
    std::ptr::with_exposed_provenance_mut(address as usize)
}

/// Maps memory that is nobody's at an address that is reserved: what runs still, although it should not, finds zeros and no signal.
///
/// # Safety
/// The range is a reservation's, and nobody has references to it.
unsafe fn map_nothing(address: u64, len: u64) {
    let protection = libc::PROT_READ | libc::PROT_WRITE;
    let flags = libc::MAP_PRIVATE | libc::MAP_ANONYMOUS | libc::MAP_NORESERVE | libc::MAP_FIXED;
    // SAFETY: as the caller says.
    unsafe { libc::mmap(place(address), len as usize, protection, flags, -1, 0) };
}

impl Reservations {
    fn lock(&self) -> MutexGuard<'_, BTreeMap<u64, Reservation>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// The reservation that a range is in.
fn around(all: &mut BTreeMap<u64, Reservation>, address: u64, len: u64) -> Answer<&mut Reservation> {
    check(address)?;
    check(len)?;
    let end = address.checked_add(len).filter(|_| len > 0).ok_or(Status::INVALID_VALUE)?;
    let (start, found) = all.range_mut(..=address).next_back().ok_or(Status::INVALID_VALUE)?;
    if end <= start + found.len { Ok(found) } else { Err(Status::INVALID_VALUE) }
}

impl Reservation {
    /// The addresses of the pieces that a range consists of.
    fn pieces_of(&self, address: u64, len: u64) -> Answer<Vec<u64>> {
        let mut next = address;
        let mut starts = Vec::new();
        for (start, piece) in self.pieces.range(address..address + len) {
            if *start != next {
                return Err(Status::INVALID_VALUE);
            }
            starts.push(*start);
            next += piece.len;
        }
        if next == address + len { Ok(starts) } else { Err(Status::INVALID_VALUE) }
    }

    /// Ranges that lie side by side and have the same access: start, length, the device of the first, access.
    fn ranges(&self) -> Vec<(u64, u64, usize, Access)> {
        let mut all: Vec<(u64, u64, usize, Access)> = Vec::new();
        for (start, piece) in self.pieces.iter().filter(|(_, piece)| piece.access != Access::default()) {
            match all.last_mut() {
                Some((before, len, device, access))
                    if *before + *len == *start
                        && *access == piece.access
                        && *device == piece.memory.device.ordinal =>
                {
                    *len += piece.len;
                }
                _ => all.push((*start, piece.len, piece.memory.device.ordinal, piece.access)),
            }
        }
        all
    }
}

impl Machine {
    /// Reserves addresses.
    ///
    /// # Errors
    /// The size or the alignment is not possible; or the system has no room.
    pub fn reserve(&self, len: u64, alignment: u64) -> Answer<u64> {
        check(len)?;
        if len == 0 || alignment != 0 && !alignment.is_power_of_two() {
            return Err(Status::INVALID_VALUE);
        }
        let alignment = alignment.max(GRANULARITY);
        let whole = len.checked_add(alignment).ok_or(Status::OUT_OF_MEMORY)?;
        let flags = libc::MAP_PRIVATE | libc::MAP_ANONYMOUS | libc::MAP_NORESERVE;
        // SAFETY: the system chooses an address that is free.
        let start = unsafe { libc::mmap(std::ptr::null_mut(), whole as usize, libc::PROT_NONE, flags, -1, 0) };
        if start == libc::MAP_FAILED {
            return Err(Status::OUT_OF_MEMORY);
        }
        let start = start.expose_provenance() as u64;
        let aligned = start.next_multiple_of(alignment);
        // SAFETY: both are parts of what was mapped just now.
        unsafe {
            for (from, to) in [(start, aligned), (aligned + len, start + whole)] {
                if from < to {
                    libc::munmap(place(from), (to - from) as usize);
                }
            }
        }
        let reservation = Reservation { len, pieces: BTreeMap::new(), known: BTreeMap::new() };
        self.reservations.lock().insert(aligned, reservation);
        Ok(aligned)
    }

    /// Gives addresses back.
    ///
    /// # Errors
    /// They are no reservation, or something is mapped there.
    pub fn reserve_no_more(&self, address: u64, len: u64) -> Answer {
        let mut all = self.reservations.lock();
        let is_free = all.get(&address).is_some_and(|found| found.len == len && found.pieces.is_empty());
        if !is_free {
            return Err(Status::INVALID_VALUE);
        }
        all.remove(&address);
        // SAFETY: the addresses were reserved, and nothing is there any more.
        unsafe { libc::munmap(place(address), len as usize) };
        Ok(())
    }

    /// Allocates memory without an address.
    ///
    /// # Errors
    /// The size is not possible; or the device has not so much.
    pub fn create(&self, device: &'static Device, len: u64, compression: u8) -> Answer<Arc<Physical>> {
        check(len)?;
        if len == 0 {
            return Err(Status::INVALID_VALUE);
        }
        if len > device.free(self) {
            return Err(Status::OUT_OF_MEMORY);
        }
        // SAFETY: the name is a text.
        let file = unsafe { libc::memfd_create(c"vop".as_ptr(), libc::MFD_CLOEXEC) };
        if file < 0 {
            return Err(Status::OUT_OF_MEMORY);
        }
        // SAFETY: the file was made just now.
        let file = unsafe { OwnedFd::from_raw_fd(file) };
        let size = i64::try_from(len).map_err(|_| Status::OUT_OF_MEMORY)?;
        // SAFETY: the file is open.
        if unsafe { libc::ftruncate(file.as_raw_fd(), size) } != 0 {
            return Err(Status::OUT_OF_MEMORY);
        }
        device.physical.fetch_add(len, Ordering::Relaxed);
        let made = Arc::new(Physical { handle: handles::next(), device, len, compression, file });
        self.handles.set(made.handle, Arc::clone(&made));
        Ok(made)
    }

    /// Puts memory at addresses that are reserved and free. No device may use them yet.
    ///
    /// # Errors
    /// They are not; or the memory is not so large.
    pub fn map(&self, address: u64, len: u64, memory: &Arc<Physical>) -> Answer {
        if len > memory.len {
            return Err(Status::INVALID_VALUE);
        }
        let mut all = self.reservations.lock();
        let reservation = around(&mut all, address, len)?;
        let is_taken = |(start, piece): (&u64, &Piece)| *start < address + len && address < start + piece.len;
        if reservation.pieces.iter().any(is_taken) {
            return Err(Status::INVALID_VALUE);
        }
        let protection = libc::PROT_READ | libc::PROT_WRITE;
        let flags = libc::MAP_SHARED | libc::MAP_FIXED;
        // SAFETY: the addresses are reserved, and nothing is there.
        let mapped = unsafe { libc::mmap(place(address), len as usize, protection, flags, memory.file.as_raw_fd(), 0) };
        if mapped == libc::MAP_FAILED {
            return Err(Status::OUT_OF_MEMORY);
        }
        mapped.expose_provenance();
        let piece = Piece { memory: Arc::clone(memory), len, access: Access::default() };
        reservation.pieces.insert(address, piece);
        Ok(())
    }

    /// Takes memory away from its addresses, when all that was given to the devices is done.
    ///
    /// # Errors
    /// The range does not consist of what was mapped.
    pub fn unmap(&self, address: u64, len: u64) -> Answer {
        around(&mut self.reservations.lock(), address, len)?.pieces_of(address, len)?;
        self.drain();
        let mut all = self.reservations.lock();
        let reservation = around(&mut all, address, len)?;
        for start in reservation.pieces_of(address, len)? {
            reservation.pieces.remove(&start);
        }
        let known = self.know(reservation);
        // SAFETY: the range is the reservation's, and no allocation is there any more.
        unsafe { map_nothing(address, len) };
        known
    }

    /// Says what devices may do: each with its number.
    ///
    /// # Errors
    /// The range does not consist of what was mapped; or there is no such device or access.
    pub fn set_access(&self, address: u64, len: u64, devices: &[(i32, u8)]) -> Answer {
        for (device, access) in devices {
            self.device_number(*device)?;
            if ![0, READ, READ_WRITE].contains(access) {
                return Err(Status::INVALID_VALUE);
            }
        }
        let mut all = self.reservations.lock();
        let reservation = around(&mut all, address, len)?;
        for start in reservation.pieces_of(address, len)? {
            let piece = reservation.pieces.get_mut(&start).ok_or(Status::INVALID_VALUE)?;
            devices.iter().for_each(|(device, access)| piece.access[*device as usize] = *access);
        }
        self.know(reservation)
    }

    /// What a device may do at an address.
    ///
    /// # Errors
    /// Nothing is mapped there.
    pub fn access(&self, address: u64, device: i32) -> Answer<u8> {
        let device = self.device_number(device)?;
        self.piece(address, |piece| piece.access[device])
    }

    /// The memory at an address.
    ///
    /// # Errors
    /// Nothing is mapped there.
    pub fn physical(&self, address: u64) -> Answer<Arc<Physical>> {
        self.piece(address, |piece| Arc::clone(&piece.memory))
    }

    fn device_number(&self, device: i32) -> Answer<usize> {
        let number = usize::try_from(device).map_err(|_| Status::INVALID_DEVICE)?;
        if number < self.devices.len() { Ok(number) } else { Err(Status::INVALID_DEVICE) }
    }

    fn piece<T>(&self, address: u64, look: impl FnOnce(&Piece) -> T) -> Answer<T> {
        let all = self.reservations.lock();
        let (_, reservation) = all.range(..=address).next_back().ok_or(Status::INVALID_VALUE)?;
        let (start, piece) = reservation.pieces.range(..=address).next_back().ok_or(Status::INVALID_VALUE)?;
        if address - start < piece.len { Ok(look(piece)) } else { Err(Status::INVALID_VALUE) }
    }

    /// Makes kernels and copies know what a reservation has now.
    fn know(&self, reservation: &mut Reservation) -> Answer {
        let ranges = reservation.ranges();
        let is_same = |(allocation, access): &(Arc<Allocation>, Access)| {
            let known = (allocation.start, allocation.len, *access);
            ranges.iter().any(|(start, len, _, access)| (*start, *len, *access) == known)
        };
        let gone: Vec<u64> =
            reservation.known.iter().filter(|(_, known)| !is_same(known)).map(|(start, _)| *start).collect();
        for start in gone {
            if let Some((allocation, _)) = reservation.known.remove(&start) {
                self.release(&allocation)?;
            }
        }
        for (start, len, device, access) in ranges {
            if reservation.known.contains_key(&start) {
                continue;
            }
            let wanted = Wanted { kind: Kind::Mapped, len, context: 0, flags: 0, pool: 0, by: "cuMemMap" };
            // SAFETY: the range stays mapped: `unmap` releases the allocation, and only then puts other memory there.
            let made = unsafe { self.take_up(&self.devices[device], start, &access, wanted) }?;
            reservation.known.insert(start, (made, access));
        }
        Ok(())
    }
}
