//! From a function of one thread's operands to a loop over the threads of a block.
//!
//! [`unary`], [`binary`], [`ternary`] and [`quaternary`] take a closure such as `|a: i32, b: i32| a.min(b)` and return a [`Compute`]: a
//! loop over columns, compiled once for each [`Level`]. The types of the closure's parameters say how each operand is read, so an
//! instruction that only computes needs no other description.

// Loops read and write columns, which are raw memory.
#![allow(unsafe_code, reason = "columns are raw memory")]
#![cfg_attr(test, allow(dead_code, reason = "unit tests have no loops, see `loops`"))]
// A lane's number is an index of several arrays at once.
#![allow(clippy::needless_range_loop)]

use crate::code::Linear;
use crate::column::{Area, Element, File, Loop, Operands, Slot, WARP, Width};
#[cfg(not(target_family = "wasm"))]
use crate::column::{all, blend, none};
use crate::jit::known::Known;
use crate::level::{self, Level};

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

/// What an instruction computes for each active thread, from up to four sources to one result or two.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Compute {
    loops: [Loop; level::COUNT],
    /// The widths of the sources' columns.
    pub(crate) sources: [Width; 4],
    /// The widths of the results' columns.
    pub(crate) results: [Width; 2],
    pub(crate) linear: Linear,
    pub(crate) known: Known,
}

impl Compute {
    /// The computation with what is known of its result.
    pub(crate) fn linear(self, linear: Linear) -> Compute {
        Compute { linear, ..self }
    }

    /// The computation with its template.
    pub(crate) fn known(self, known: Known) -> Compute {
        Compute { known, ..self }
    }

    /// The loop for a level that this CPU has.
    pub(crate) fn at(&self, level: Level) -> Loop {
        self.loops[level::index(level)]
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

/// The loop over warps, where code is loaded over a network and has no vectors: a function of a quarter of the size. What follows is the same.
///
/// # Safety
/// As for the other.
#[cfg(target_family = "wasm")]
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
    // SAFETY: as in the other. The results of a thread are written after its sources are read, and no other thread's element is one of them.
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
        let mut thread = 0;
        while thread < file.warps * WARP {
            if mask.is_null() || *mask.add(thread) != 0 {
                let (warp, i) = (thread / WARP, thread % WARP);
                let (a, b, c, e) = (a.warp(warp), b.warp(warp), c.warp(warp), e.warp(warp));
                let (p, q) = f(A::read((*a)[i]), B::read((*b)[i]), C::read((*c)[i]), E::read((*e)[i])).split();
                (*first.warp(warp))[i] = p.write();
                (*second.warp(warp))[i] = q.write();
            }
            thread += 1;
        }
    }
}

/// The loop over warps. It is written with `while`: an iterator's many small functions would be compiled with each of three thousand loops.
///
/// # Safety
/// The slots must have been laid out for the file and the types; the mask must have a byte for each thread, 0 or 0xff, or be null, which stands
/// for all threads; a value of `F` must exist.
#[cfg(not(target_family = "wasm"))]
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
    // SAFETY: the caller promises columns of these types, a mask for each warp and a value of `F`. Within a warp all sources are read before
    // a result is written.
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
        let mut warp = 0;
        while warp < file.warps {
            let active = mask.wrapping_add(warp * WARP).cast::<[u8; WARP]>();
            let everyone = mask.is_null() || all(&*active);
            if !everyone && none(&*active) {
                warp += 1;
                continue;
            }
            let (a, b, c, e) = (a.warp(warp), b.warp(warp), c.warp(warp), e.warp(warp));
            // Results go through arrays of their own: the compiler then knows that they are none of the sources.
            let mut x = [<<R::First as Lane>::Element>::default(); WARP];
            let mut y = [<<R::Second as Lane>::Element>::default(); WARP];
            let mut i = 0;
            while i < WARP {
                let (p, q) = f(A::read((*a)[i]), B::read((*b)[i]), C::read((*c)[i]), E::read((*e)[i])).split();
                x[i] = p.write();
                y[i] = q.write();
                i += 1;
            }
            let (first, second) = (&mut *first.warp(warp), &mut *second.warp(warp));
            // Asked of each warp, not once: the compiler would make two loops of it, each with the whole computation.
            if everyone {
                *first = x;
                *second = y;
            } else {
                blend(first, &x, &*active);
                blend(second, &y, &*active);
            }
            warp += 1;
        }
    }
}

#[cfg(not(test))]
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
            // SAFETY: a loop's caller promises what `body` asks for, and `quaternary` has seen a value of `F`.
            unsafe { body::<A, B, C, E, R, F>(file, operands, mask) }
        }
    )* };
}

#[cfg(all(target_arch = "x86_64", not(any(test, debug_assertions))))]
levels! {
    portable;
    #[target_feature(enable = "avx2,fma,bmi1,bmi2,lzcnt,popcnt,f16c")] avx2;
    #[target_feature(enable = "avx512f,avx512bw,avx512cd,avx512dq,avx512vl,avx2,fma,bmi1,bmi2,lzcnt,popcnt,f16c")] avx512;
}

// Other machines have no further levels, and builds with debug assertions are those of tests, at a level where the compiler makes no vector instructions of loops: all levels would be the
// same code, three times. (A build script that asks for the level itself would make cargo build the crate again and again in CI.)
#[cfg(all(any(not(target_arch = "x86_64"), debug_assertions), not(test)))]
levels! {
    portable;
}

/// The loops of a closure, by level.
#[cfg(not(test))]
#[inline(always)]
fn loops<A, B, C, E, R, F>() -> [Loop; level::COUNT]
where
    A: Lane,
    B: Lane,
    C: Lane,
    E: Lane,
    R: Results,
    F: Fn(A, B, C, E) -> R + Copy,
{
    #[cfg(any(not(target_arch = "x86_64"), debug_assertions))]
    return [portable::<A, B, C, E, R, F>; level::COUNT];
    #[cfg(all(target_arch = "x86_64", not(debug_assertions)))]
    [portable::<A, B, C, E, R, F>, avx2::<A, B, C, E, R, F>, avx512::<A, B, C, E, R, F>]
}

/// The library is compiled a second time for its unit tests, which decode but do not run: without the loops that takes a quarter of the
/// time. Tests that run kernels or instructions are in `tests/`.
#[cfg(test)]
#[allow(clippy::extra_unused_type_parameters, reason = "as the other")]
fn loops<A, B, C, E, R, F>() -> [Loop; level::COUNT] {
    unsafe fn none(_: &File, _: &Operands, _: *const u8) {
        unimplemented!("unit tests have no loops: kernels run in the tests of tests/");
    }
    [none; level::COUNT]
}

/// A computation of four sources; see the [module](self). The closure must capture nothing and must not panic: it runs for
/// inactive threads too, whose results are dropped.
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
        loops: loops::<A, B, C, E, R, F>(),
        sources: [A::WIDTH, B::WIDTH, C::WIDTH, E::WIDTH],
        results: [<R::First as Lane>::WIDTH, <R::Second as Lane>::WIDTH],
        linear: Linear::No,
        known: Known::No,
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

impl Compute {
    /// What it computes for one thread, from bits to bits.
    pub(crate) fn once(&self, level: Level, sources: [u64; 4]) -> [u64; 2] {
        // A warp's worth of doubles for each operand.
        let mut columns = [[0u64; WARP]; 6];
        let slot = |i: usize| Slot::new(Area::Thread, (i * size_of::<u64>()) as u32);
        let operands = Operands { sources: std::array::from_fn(slot), results: [slot(4), slot(5)] };
        let file = File::of_warp(columns.as_mut_ptr().cast());
        for ((slot, width), value) in operands.sources.into_iter().zip(self.sources).zip(sources) {
            for lane in 0..WARP {
                // SAFETY: each slot has a column of the widest elements, for one warp.
                unsafe { file.set_element(slot, width, lane, value) };
            }
        }
        // SAFETY: each slot has a column of the widest elements, for one warp, and the mask has a byte for each of its threads.
        unsafe { self.at(level)(&file, &operands, [0xff; WARP].as_ptr()) };
        // SAFETY: each slot has a column of the widest elements, for one warp.
        [0, 1].map(|i| unsafe { file.element(operands.results[i], self.results[i], 0) })
    }
}
