//! From a function of one thread's operands to a loop over the threads of a block.
//!
//! A register is a *column*: one element for each thread of the block, warp after warp, padded to whole warps. [`unary`],
//! [`binary`], [`ternary`] and [`quaternary`] take a closure such as `|a: i32, b: i32| a.min(b)` and return a [`Compute`]: a loop
//! over columns, compiled once for each [`Level`]. The types of the closure's parameters say how each operand is read, so that
//! is all there is to say about an instruction that only computes.

use super::level::Level;

/// Threads of a warp: the unit that loops work on.
pub(crate) const WARP: usize = 32;

/// Where an operand's column stands in a [`File`]: three bits for the area, the others for the place.
///
/// In areas that have a column for each register the place is in bytes a thread, so that it does not depend on the block's size.
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
    /// What every thread has of its own and no instruction writes: `%tid`, `%laneid`.
    Thread,
    /// What all threads of the block share: immediates, `%ctaid`. One warp's elements, read for all warps.
    Block,
    /// Samples: see [`sample_count`]. Where all threads have the same value, any warp may read the first samples as its own.
    Samples,
}

/// How many areas there are.
const AREAS: usize = 6;

/// Threads that a value which samples tell is a straight line over: half a warp, as rows of blocks are often no longer.
pub(crate) const HALF: usize = WARP / 2;

/// How many samples there are for a block of so many threads, padded to whole warps of both: the values of the first threads of all
/// halves, then those of the last.
pub(crate) const fn sample_count(lanes: usize) -> usize {
    (lanes / HALF * 2).next_multiple_of(WARP)
}

/// The thread of the block that a sample is the value of.
pub(crate) fn sampled_thread(sample: usize, lanes: usize) -> usize {
    let halves = lanes / HALF;
    if sample < halves { sample * HALF } else { (sample - halves) * HALF + HALF - 1 }
}

impl Slot {
    const SHIFT: u32 = 29;
    /// Bytes a thread, or in the block's area altogether, that a slot can address.
    pub(crate) const LIMIT: u32 = 1 << Slot::SHIFT;

    pub(crate) fn new(area: Area, place: u32) -> Slot {
        debug_assert!(place < Slot::LIMIT);
        Slot((area as u32) << Slot::SHIFT | place)
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

    pub(crate) fn place(self) -> u32 {
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

/// What an operation reads and writes: at most four sources and two results.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Operands {
    pub(crate) sources: [Slot; 4],
    pub(crate) results: [Slot; 2],
}

/// The columns that a block's operations work on: raw, because a result may be one of the sources.
#[derive(Clone, Copy, Debug)]
pub(crate) struct File {
    /// The areas' starts, by [`Area`].
    pub(crate) bases: [*mut u8; AREAS],
    /// What a slot's place is multiplied by: how many elements a column has, or 1 for the block's area.
    pub(crate) scales: [usize; AREAS],
    /// Warps from one warp's elements to the next warp's: 0 where all warps share them. In a table, as a
    /// condition would cost more in every turn of every loop.
    pub(crate) strides: [usize; AREAS],
    /// Warps of the block.
    pub(crate) warps: usize,
}

impl File {
    /// A file of so many warps whose areas are not there yet.
    pub(crate) fn new(warps: usize) -> File {
        let lanes = warps * WARP;
        File {
            bases: [std::ptr::null_mut(); AREAS],
            scales: [lanes, lanes, lanes, lanes, 1, sample_count(lanes)],
            strides: [1, 1, 1, 1, 0, 0],
            warps,
        }
    }

    /// A file for computing the samples of a block of so many threads. Registers are not there.
    pub(crate) fn of_samples(lanes: usize) -> File {
        let count = sample_count(lanes);
        File {
            bases: [std::ptr::null_mut(); AREAS],
            scales: [0, 0, 0, count, 1, count],
            strides: [0, 0, 0, 1, 0, 1],
            warps: count / WARP,
        }
    }

    /// The samples of a slot, one behind another.
    #[inline(always)]
    pub(crate) fn column_of_samples<T>(&self, slot: Slot) -> *mut T {
        debug_assert!(slot.area() == Area::Samples);
        self.bases[Area::Samples as usize]
            .wrapping_add(slot.place() as usize * self.scales[Area::Samples as usize])
            .cast()
    }

    /// The slot's elements of a warp.
    ///
    /// # Safety
    /// The slot must have been laid out for this file and for elements of this type.
    #[inline(always)]
    pub(crate) unsafe fn column<T>(&self, slot: Slot) -> Column<T> {
        let area = (slot.0 >> Slot::SHIFT) as usize;
        // SAFETY: the place lies within the area, as the caller promises, and a slot's area is one of those there are.
        let start =
            unsafe { self.bases.get_unchecked(area).add(slot.place() as usize * *self.scales.get_unchecked(area)) };
        // SAFETY: as above.
        Column { start: start.cast(), stride: unsafe { *self.strides.get_unchecked(area) } }
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
    #[inline(always)]
    pub(crate) fn warp(&self, warp: usize) -> *mut [T; WARP] {
        self.start.wrapping_add(warp * self.stride)
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

/// A type that an operand can be read as or a result written from.
pub(crate) trait Lane: Copy + 'static {
    /// The element of the column that holds it.
    type Element: Element;
    const WIDTH: Width;
    fn read(element: Self::Element) -> Self;
    fn write(self) -> Self::Element;
}

macro_rules! lanes {
    ($($ty:ty, $element:ty, $width:ident, $from:ident => $read:expr, $to:ident => $write:expr;)*) => { $(
        impl Lane for $ty {
            type Element = $element;
            const WIDTH: Width = Width::$width;
            #[inline(always)]
            fn read($from: $element) -> $ty {
                $read
            }
            #[inline(always)]
            fn write(self) -> $element {
                let $to = self;
                $write
            }
        }
    )* };
}

lanes! {
    bool, u8, Predicate, x => x != 0, x => u8::from(x).wrapping_neg();
    u8, u32, Word, x => x as u8, x => u32::from(x);
    i8, u32, Word, x => x as i8, x => u32::from(x as u8);
    u16, u32, Word, x => x as u16, x => u32::from(x);
    i16, u32, Word, x => x as i16, x => u32::from(x as u16);
    u32, u32, Word, x => x, x => x;
    i32, u32, Word, x => x as i32, x => x as u32;
    f32, u32, Word, x => f32::from_bits(x), x => x.to_bits();
    u64, u64, Double, x => x, x => x;
    i64, u64, Double, x => x as i64, x => x as u64;
    f64, u64, Double, x => f64::from_bits(x), x => x.to_bits();
}

/// An operand that is not there.
impl Lane for () {
    type Element = ();
    const WIDTH: Width = Width::None;
    #[inline(always)]
    fn read((): ()) {}
    #[inline(always)]
    fn write(self) {}
}

/// What a closure returns: one result or a pair of them.
pub(crate) trait Results: Copy + 'static {
    type First: Lane;
    type Second: Lane;
    fn split(self) -> (Self::First, Self::Second);
}

impl<T: Lane> Results for T {
    type First = T;
    type Second = ();
    #[inline(always)]
    fn split(self) -> (T, ()) {
        (self, ())
    }
}

impl<T: Lane, U: Lane> Results for (T, U) {
    type First = T;
    type Second = U;
    #[inline(always)]
    fn split(self) -> (T, U) {
        self
    }
}

/// A loop over the warps of a file. `mask` holds a byte for each thread, 0 or 0xff.
pub(crate) type Loop = unsafe fn(file: &File, operands: &Operands, mask: *const u8);

/// What an instruction computes for each active thread, from up to four sources to one result or two.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Compute {
    loops: [Loop; Level::COUNT],
    /// The widths of the sources' columns.
    pub(crate) sources: [Width; 4],
    /// The widths of the results' columns.
    pub(crate) results: [Width; 2],
    pub(crate) linear: Linear,
}

/// What is known of how a result follows from its sources a, b and c, up to multiples of two to the power of its width.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Linear {
    No,
    /// a + b, or a alone: operands that are not there read as zero.
    Sum,
    /// a - b
    Difference,
    /// a * b + c
    Product(Width),
    /// The same of words to doubles, with their signs or without.
    WideProduct {
        signed: bool,
    },
    /// a << b
    Shift,
    /// A double of a word.
    Extension,
    /// The low word of a double.
    Low,
    /// Whether a is on one side of b, by the order of numbers with a sign or without.
    Order {
        width: Width,
        signed: bool,
    },
}

impl Compute {
    /// The same, known to be linear.
    pub(crate) fn linear(self, linear: Linear) -> Compute {
        Compute { linear, ..self }
    }

    /// The loop for a level that this CPU has.
    pub(crate) fn at(&self, level: Level) -> Loop {
        self.loops[level as usize]
    }
}

/// Makes a value of a type that has only one.
///
/// # Safety
/// A value of the type must exist.
#[inline(always)]
unsafe fn conjure<F: Copy>() -> F {
    const { assert!(size_of::<F>() == 0, "an operation captures nothing") }
    // SAFETY: the type has no bytes, so there is nothing to read, and the caller has seen a value.
    unsafe { std::ptr::NonNull::<F>::dangling().as_ptr().read() }
}

/// Whether no thread of a warp is active.
#[inline(always)]
pub(crate) fn none(mask: &[u8; WARP]) -> bool {
    words(mask).fold(0, |any, m| any | m) == 0
}

/// # Safety
/// The slots must be columns of the types' widths; a value of `F` must exist.
#[inline(always)]
unsafe fn body<A, B, C, E, R, F>(file: &File, operands: &Operands, mask: *const u8)
where
    A: Lane,
    B: Lane,
    C: Lane,
    E: Lane,
    R: Results,
    F: Fn(A, B, C, E) -> R + Copy,
{
    let [a, b, c, e] = operands.sources;
    let [first, second] = operands.results;
    // SAFETY: the caller's promise. Within a warp all sources are read before a result is written.
    unsafe {
        let f = conjure::<F>();
        let (a, b, c, e) = (
            file.column::<A::Element>(a),
            file.column::<B::Element>(b),
            file.column::<C::Element>(c),
            file.column::<E::Element>(e),
        );
        let first = file.column::<<R::First as Lane>::Element>(first);
        let second = file.column::<<R::Second as Lane>::Element>(second);
        for warp in 0..file.warps {
            let active = &*mask.add(warp * WARP).cast::<[u8; WARP]>();
            if none(active) {
                continue;
            }
            let (a, b, c, e) = (a.warp(warp), b.warp(warp), c.warp(warp), e.warp(warp));
            // Results go through arrays of their own: the compiler then knows that they are none of the sources.
            let mut x = [<<R::First as Lane>::Element>::default(); WARP];
            let mut y = [<<R::Second as Lane>::Element>::default(); WARP];
            for i in 0..WARP {
                let (p, q) = f(A::read((*a)[i]), B::read((*b)[i]), C::read((*c)[i]), E::read((*e)[i])).split();
                x[i] = p.write();
                y[i] = q.write();
            }
            let (first, second) = (&mut *first.warp(warp), &mut *second.warp(warp));
            // Asked of each warp, not once: the compiler would make two loops of it, each with the whole computation.
            if all(active) {
                *first = x;
                *second = y;
            } else {
                blend(first, &x, active);
                blend(second, &y, active);
            }
        }
    }
}

/// Whether all threads of a warp are active.
#[inline(always)]
pub(crate) fn all(active: &[u8; WARP]) -> bool {
    words(active).fold(u64::MAX, |every, m| every & m) == u64::MAX
}

/// A warp's mask, eight threads at a time.
#[inline(always)]
fn words(active: &[u8; WARP]) -> impl Iterator<Item = u64> {
    active.as_chunks().0.iter().map(|eight| u64::from_ne_bytes(*eight))
}

/// Takes a warp's results where it is active.
#[inline(always)]
pub(crate) fn blend<T: Element>(to: &mut [T; WARP], values: &[T; WARP], active: &[u8; WARP]) {
    for i in 0..WARP {
        to[i] = to[i].blend(values[i], active[i]);
    }
}

macro_rules! levels {
    ($($(#[$feature:meta])* $name:ident;)*) => { $(
        $(#[$feature])*
        unsafe fn $name<A, B, C, E, R, F>(file: &File, operands: &Operands, mask: *const u8)
        where
            A: Lane,
            B: Lane,
            C: Lane,
            E: Lane,
            R: Results,
            F: Fn(A, B, C, E) -> R + Copy,
        {
            // SAFETY: the same promise.
            unsafe { body::<A, B, C, E, R, F>(file, operands, mask) }
        }
    )* };
}

#[cfg(target_arch = "x86_64")]
levels! {
    portable;
    #[target_feature(enable = "avx2,fma,bmi1,bmi2,lzcnt,popcnt,f16c")] avx2;
    #[target_feature(enable = "avx512f,avx512bw,avx512cd,avx512dq,avx512vl,avx2,fma,bmi1,bmi2,lzcnt,popcnt,f16c")] avx512;
}

#[cfg(not(target_arch = "x86_64"))]
levels! {
    portable;
    avx2;
    avx512;
}

/// A computation of four sources; see the [module](self). The closure must capture nothing and must not panic: it runs for
/// threads that are not active as well, whose results are dropped.
pub(crate) fn quaternary<A, B, C, E, R, F>(_: F) -> Compute
where
    A: Lane,
    B: Lane,
    C: Lane,
    E: Lane,
    R: Results,
    F: Fn(A, B, C, E) -> R + Copy,
{
    Compute {
        loops: [portable::<A, B, C, E, R, F>, avx2::<A, B, C, E, R, F>, avx512::<A, B, C, E, R, F>],
        sources: [A::WIDTH, B::WIDTH, C::WIDTH, E::WIDTH],
        results: [<R::First as Lane>::WIDTH, <R::Second as Lane>::WIDTH],
        linear: Linear::No,
    }
}

/// A computation of three sources.
pub(crate) fn ternary<A, B, C, R, F>(f: F) -> Compute
where
    A: Lane,
    B: Lane,
    C: Lane,
    R: Results,
    F: Fn(A, B, C) -> R + Copy,
{
    quaternary(
        #[inline(always)]
        move |a: A, b: B, c: C, (): ()| f(a, b, c),
    )
}

/// A computation of two sources.
pub(crate) fn binary<A: Lane, B: Lane, R: Results, F: Fn(A, B) -> R + Copy>(f: F) -> Compute {
    quaternary(
        #[inline(always)]
        move |a: A, b: B, (): (), (): ()| f(a, b),
    )
}

/// A computation of one source.
pub(crate) fn unary<A: Lane, R: Results, F: Fn(A) -> R + Copy>(f: F) -> Compute {
    quaternary(
        #[inline(always)]
        move |a: A, (): (), (): (), (): ()| f(a),
    )
}

#[cfg(test)]
impl Compute {
    /// What it computes for one thread, from bits to bits.
    pub(crate) fn once(&self, level: Level, sources: [u64; 4]) -> [u64; 2] {
        // A warp's worth of doubles for each operand.
        let mut columns = [[0u64; WARP]; 6];
        for (column, (value, width)) in columns.iter_mut().zip(sources.iter().zip(self.sources)) {
            // Every lane gets the value, in elements of the width.
            for lane in 0..WARP {
                let element = match width {
                    Width::Predicate => u64::from(*value != 0).wrapping_neg() & 0xff,
                    _ => *value,
                };
                put(column, lane, width, element);
            }
        }
        let place = |i: usize| Slot::new(Area::Thread, (i * size_of::<u64>()) as u32);
        let operands = Operands { sources: [place(0), place(1), place(2), place(3)], results: [place(4), place(5)] };
        let base = columns.as_mut_ptr().cast::<u8>();
        let file = File { bases: [base; AREAS], scales: [WARP; AREAS], strides: [1; AREAS], warps: 1 };
        // SAFETY: six columns of the widest elements, one for each operand.
        unsafe { self.at(level)(&file, &operands, [0xff; WARP].as_ptr()) };
        [0, 1].map(|i| match self.results[i] {
            Width::None => 0,
            Width::Predicate => columns[4 + i][0] & 1,
            Width::Word => columns[4 + i][0] & 0xffff_ffff,
            Width::Double => columns[4 + i][0],
        })
    }
}

/// Sets a lane of a column that is kept in doubles.
#[cfg(test)]
fn put(column: &mut [u64; WARP], lane: usize, width: Width, element: u64) {
    let bytes = width.bytes() as usize;
    if bytes == 0 {
        return;
    }
    let (word, shift) = (lane * bytes / 8, lane * bytes % 8 * 8);
    let mask = if bytes == 8 { u64::MAX } else { (1 << (bytes * 8)) - 1 };
    column[word] = column[word] & !(mask << shift) | (element & mask) << shift;
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_level_computes() {
        let min = binary(|a: i32, b: i32| a.min(b));
        let wide = ternary(|a: i32, b: i32, c: i64| (i64::from(a) * i64::from(b)).wrapping_add(c));
        let compare = ternary(|a: f32, b: f32, c: bool| (a < b && c, a >= b));
        let select = ternary(|a: i16, b: i16, p: bool| if p { a } else { b });
        for level in Level::available() {
            assert_eq!(min.once(level, [1, 0xffff_ffff, 0, 0]), [0xffff_ffff, 0]);
            assert_eq!(wide.once(level, [0xffff_ffff, 5, 3, 0]), [-2i64 as u64, 0]);
            assert_eq!(compare.once(level, [0, 0x3f80_0000, 1, 0]), [1, 0]);
            assert_eq!(compare.once(level, [0x3f80_0000, 0, 1, 0]), [0, 1]);
            assert_eq!(select.once(level, [0x8000, 2, 1, 0]), [0x8000, 0]);
        }
    }
}
