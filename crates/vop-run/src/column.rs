//! Columns: where operands stand while a kernel runs.
//!
//! A register is a *column*: one element for each thread of the block, warp after warp, padded to whole warps. A [`Slot`] names a
//! column, a [`File`] holds them. The decoder gives slots to operands and the engine finds columns by them, so both stand above this
//! module, which imports nothing.

// Elements are read and written through raw pointers, as a result may be one of the sources.
#![allow(unsafe_code, reason = "columns are raw memory")]
// A lane's number is an index of several arrays at once.
#![allow(clippy::needless_range_loop)]

/// Threads of a warp: the unit that loops work on.
pub(crate) const WARP: usize = 32;

/// Threads over which a sampled value is a straight line: half a warp, as rows of blocks are often no longer.
pub(crate) const HALF: usize = WARP / 2;

/// Threads, with padding, that are run at once: those of the largest block, or of some small ones that run as one.
pub(crate) const MAX_LANES: usize = 2048;

/// The number of samples of threads in so many rows, padded to whole warps of samples. The first threads of all rows come first, then the last
/// threads of all rows. Steps read samples of halves of warps.
pub(crate) const fn sample_count(rows: usize) -> usize {
    (rows * 2).next_multiple_of(WARP)
}

/// The thread of the block whose value a sample is, of rows of so many threads.
pub(crate) fn sampled_thread(sample: usize, rows: usize, threads: usize) -> usize {
    if sample < rows { sample * threads } else { (sample - rows) * threads + threads - 1 }
}

/// Where an operand's column stands in a [`File`]: three bits for the area, the others for the offset in it.
///
/// In areas that have a column for each register the offset is in bytes of one thread, so that it does not depend on the block's
/// size.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) struct Slot(u32);

/// A part of a [`File`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Area {
    // The running function's registers by width. A column never holds elements of two widths: threads that are at different places
    // of the code share columns, each its own elements.
    Predicates,
    Words,
    Doubles,
    /// Values that differ between threads and that no instruction writes: `%tid`, `%laneid`.
    Thread,
    /// Values that all threads of the block share: immediates, `%ctaid`. One warp's elements, read for all warps.
    Block,
    /// Samples: see [`sample_count`]. Where all threads have the same value, any warp may read the first samples as its own.
    Samples,
}

/// The number of areas.
const AREAS: usize = 6;

impl Area {
    /// All of them, in the order of [`File::bases`].
    pub(crate) const ALL: [Area; AREAS] =
        [Area::Predicates, Area::Words, Area::Doubles, Area::Thread, Area::Block, Area::Samples];

    /// Bytes of a thread's element in a column of the area; 0 where threads have no elements of their own.
    pub(crate) const fn bytes(self) -> usize {
        match self {
            Area::Predicates => 1,
            Area::Words | Area::Thread => 4,
            Area::Doubles => 8,
            Area::Block | Area::Samples => 0,
        }
    }
}

impl Slot {
    const SHIFT: u32 = 29;
    /// The bytes of one thread that a slot can address; in the block's area, the bytes of the whole area.
    pub(crate) const LIMIT: u32 = 1 << Slot::SHIFT;

    pub(crate) fn new(area: Area, offset: u32) -> Slot {
        debug_assert!(offset < Slot::LIMIT);
        Slot((area as u32) << Slot::SHIFT | offset)
    }

    pub(crate) fn area(self) -> Area {
        match self.0 >> Slot::SHIFT {
            0 => Area::Predicates,
            1 => Area::Words,
            2 => Area::Doubles,
            3 => Area::Thread,
            4 => Area::Block,
            _ => Area::Samples,
        }
    }

    /// Where the column starts in its area; before registers have columns, the register's number.
    pub(crate) fn offset(self) -> u32 {
        self.0 & (Slot::LIMIT - 1)
    }

    /// The width of its elements, if it is a register.
    pub(crate) fn register_width(self) -> Option<Width> {
        match self.area() {
            Area::Predicates => Some(Width::Predicate),
            Area::Words => Some(Width::Word),
            Area::Doubles => Some(Width::Double),
            Area::Thread | Area::Block | Area::Samples => None,
        }
    }
}

/// How wide a column's elements are. Registers of 8 and 16 bits live in words, zero-extended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Width {
    /// No operand.
    None,
    /// A predicate: a byte that is 0 or 0xff.
    Predicate,
    Word,
    Double,
}

impl Width {
    pub(crate) const fn bytes(self) -> u32 {
        match self {
            Width::None => 0,
            Width::Predicate => 1,
            Width::Word => 4,
            Width::Double => 8,
        }
    }
}

/// The slots of a computation: at most four sources and two results.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Operands {
    pub(crate) sources: [Slot; 4],
    pub(crate) results: [Slot; 2],
}

/// A loop over the warps of a file. The mask has a byte for each thread, 0 or 0xff, or is null, which stands for all threads.
pub(crate) type Loop = unsafe fn(file: &File, operands: &Operands, mask: *const u8);

/// The columns that a block's operations work on: raw pointers, because a result may be one of the sources.
#[derive(Clone, Copy, Debug)]
pub(crate) struct File {
    /// The areas' starts, by [`Area`].
    pub(crate) bases: [*mut u8; AREAS],
    /// What a slot's offset is multiplied by: the number of elements of a column, or 1 for the block's area.
    pub(crate) scales: [usize; AREAS],
    /// The number of warps from one warp's elements to the next warp's: 0 where all warps share them. In a table, as a condition
    /// would cost more in every turn of every loop.
    pub(crate) strides: [usize; AREAS],
    /// The number of warps of the block.
    pub(crate) warps: usize,
}

impl File {
    /// A file for `warps` warps, without memory: the caller sets [`File::bases`].
    pub(crate) fn new(warps: usize) -> File {
        let lanes = warps * WARP;
        File {
            bases: [std::ptr::null_mut(); AREAS],
            scales: [lanes, lanes, lanes, lanes, 1, sample_count(lanes / HALF)],
            strides: [1, 1, 1, 1, 0, 0],
            warps,
        }
    }

    /// A file for computing the samples of rows of threads. It has no registers.
    pub(crate) fn of_samples(rows: usize) -> File {
        let count = sample_count(rows);
        File {
            bases: [std::ptr::null_mut(); AREAS],
            scales: [0, 0, 0, count, 1, count],
            strides: [0, 0, 0, 1, 0, 1],
            warps: count / WARP,
        }
    }

    /// A file of one warp whose areas all start at the same place.
    pub(crate) fn of_warp(base: *mut u8) -> File {
        File { bases: [base; AREAS], scales: [WARP; AREAS], strides: [1; AREAS], warps: 1 }
    }

    /// The samples of a slot, one behind another.
    #[inline(always)]
    pub(crate) fn column_of_samples<T>(&self, slot: Slot) -> *mut T {
        debug_assert!(slot.area() == Area::Samples);
        self.bases[Area::Samples as usize]
            .wrapping_add(slot.offset() as usize * self.scales[Area::Samples as usize])
            .cast()
    }

    /// The column that a slot names.
    ///
    /// # Safety
    /// The slot must have been laid out for this file and for elements of this type.
    #[inline(always)]
    pub(crate) unsafe fn column<T>(&self, slot: Slot) -> Column<T> {
        if cfg!(target_family = "wasm") {
            // No elements: no column is needed.
            if size_of::<T>() == 0 {
                return Column { start: std::ptr::NonNull::dangling().as_ptr(), stride: 0 };
            }
            // SAFETY: the caller promises the same.
            let Column { start, stride } = unsafe { self.column_of_bytes(slot) };
            return Column { start: start.cast(), stride };
        }
        // SAFETY: the caller promises the same.
        unsafe { self.find_column(slot) }
    }

    /// The column that a slot names, where code is loaded over a network: a thousand loops with up to six columns each share this one.
    ///
    /// # Safety
    /// As for [`File::column`].
    #[inline(never)]
    unsafe fn column_of_bytes(&self, slot: Slot) -> Column<u8> {
        // SAFETY: the caller promises the same.
        unsafe { self.find_column(slot) }
    }

    /// # Safety
    /// As for [`File::column`].
    #[inline(always)]
    unsafe fn find_column<T>(&self, slot: Slot) -> Column<T> {
        let area = (slot.0 >> Slot::SHIFT) as usize;
        // SAFETY: `Slot::new` makes slots of the six areas only, so the index is within the tables; the caller promises that the
        // slot's offset lies within the memory of its area.
        unsafe {
            let offset = slot.offset() as usize * *self.scales.get_unchecked(area);
            let start = self.bases.get_unchecked(area).add(offset);
            Column { start: start.cast(), stride: *self.strides.get_unchecked(area) }
        }
    }

    /// One thread's element of a column; of a predicate, 0 or 1.
    ///
    /// # Safety
    /// The slot must have been laid out for this file and this width, and the file must have the thread.
    pub(crate) unsafe fn element(&self, slot: Slot, width: Width, thread: usize) -> u64 {
        let (warp, lane) = (thread / WARP, thread % WARP);
        // SAFETY: the caller promises that the column has elements of this width for the thread's warp.
        unsafe {
            match width {
                Width::None => 0,
                Width::Predicate => u64::from((*self.column::<u8>(slot).warp(warp))[lane] & 1),
                Width::Word => u64::from((*self.column::<u32>(slot).warp(warp))[lane]),
                Width::Double => (*self.column::<u64>(slot).warp(warp))[lane],
            }
        }
    }

    /// Writes one thread's element of a column.
    ///
    /// # Safety
    /// As for [`File::element`].
    pub(crate) unsafe fn set_element(&self, slot: Slot, width: Width, thread: usize, value: u64) {
        let (warp, lane) = (thread / WARP, thread % WARP);
        // SAFETY: the caller promises that the column has elements of this width for the thread's warp.
        unsafe {
            match width {
                Width::None => {}
                Width::Predicate => (*self.column::<u8>(slot).warp(warp))[lane] = u8::from(value != 0).wrapping_neg(),
                Width::Word => (*self.column::<u32>(slot).warp(warp))[lane] = value as u32,
                Width::Double => (*self.column::<u64>(slot).warp(warp))[lane] = value,
            }
        }
    }
}

/// One operand's elements.
#[derive(Clone, Copy)]
pub(crate) struct Column<T> {
    start: *mut [T; WARP],
    /// See [`File::strides`].
    stride: usize,
}

impl<T> Column<T> {
    /// The elements of a warp.
    #[inline(always)]
    pub(crate) fn warp(&self, warp: usize) -> *mut [T; WARP] {
        self.start.wrapping_add(warp * self.stride)
    }
}

/// An element of a column.
pub(crate) trait Element: Copy + Default + 'static {
    /// `new` where the mask is 0xff, `self` where it is 0. In arithmetic, which becomes SIMD where a condition would become jumps.
    fn blend(self, new: Self, mask: u8) -> Self;
}

macro_rules! elements {
    ($($ty:ident)*) => { $(
        impl Element for $ty {
            #[inline(always)]
            fn blend(self, new: $ty, mask: u8) -> $ty {
                self ^ (self ^ new) & mask as i8 as $ty
            }
        }
    )* };
}
elements! { u8 u32 u64 }

impl Element for () {
    #[inline(always)]
    fn blend(self, (): (), _: u8) {}
}

/// A warp's mask, eight threads a word.
#[inline(always)]
fn words(active: &[u8; WARP]) -> [u64; 4] {
    // SAFETY: both types have 32 bytes, and any bytes are four words.
    unsafe { std::mem::transmute::<[u8; WARP], [u64; 4]>(*active) }
}

/// Whether no thread of a warp is active.
#[inline(always)]
pub(crate) fn none(active: &[u8; WARP]) -> bool {
    let [a, b, c, d] = words(active);
    a | b | c | d == 0
}

/// Whether all threads of a warp are active.
#[inline(always)]
pub(crate) fn all(active: &[u8; WARP]) -> bool {
    let [a, b, c, d] = words(active);
    a & b & c & d == u64::MAX
}

/// Takes a warp's results where it is active.
#[inline(always)]
pub(crate) fn blend<T: Element>(to: &mut [T; WARP], values: &[T; WARP], active: &[u8; WARP]) {
    let mut i = 0;
    while i < WARP {
        to[i] = to[i].blend(values[i], active[i]);
        i += 1;
    }
}
