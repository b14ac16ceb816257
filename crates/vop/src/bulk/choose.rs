//! Which kernel a form has, at which level.

#![allow(unsafe_code, reason = "kernels take pointers to words, and features of the processor")]

use super::constants::{CLAMP, Factors, Lanes, Mad, Precision, Scalar, reads_in_place, takes_all};
use super::kernels::*;
use super::vector::Vector;
use super::{CHUNK, Level};
use crate::isa::form::{Finish, Form};
use crate::isa::types::{Comparison, Operation, Secondary, Shape};
use crate::semantics::Deviations;

/// A vector that is loaded from memory and stored there.
pub(super) trait Register: Vector {
    /// Reads [`WORDS`](Vector::WORDS) words.
    ///
    /// # Safety
    ///
    /// The words must be there. The processor must have the vector's instructions: the value is the proof of it for all
    /// operations that follow.
    unsafe fn load(words: *const u32) -> Self;

    /// Writes [`WORDS`](Vector::WORDS) words.
    ///
    /// # Safety
    ///
    /// There must be place for the words.
    unsafe fn store(self, words: *mut u32);
}

/// A kernel on `n` chunks: its constants, the words of a, b and c, where those of d go, and `n`.
///
/// # Safety
///
/// `n` chunks must be there at each pointer. d may be one of the sources, but must not begin inside one. The processor must
/// have the level that the kernel was chosen for.
type Run<C> = unsafe fn(&C, *const u32, *const u32, *const u32, *mut u32, usize);

/// A form's constants and the kernel that takes them.
#[derive(Debug, Clone)]
pub(super) enum Compiled {
    Lanes(Lanes, Run<Lanes>),
    Scalar(Scalar, Run<Scalar>),
    Mad(Mad, Run<Mad>),
}

impl Compiled {
    /// # Safety
    ///
    /// As [`Run`] says.
    #[inline]
    pub(super) unsafe fn run(&self, [a, b, c]: [*const u32; 3], d: *mut u32, chunks: usize) {
        // SAFETY: the caller keeps what `Run` asks for, and the kernel is the one that goes with the constants.
        match self {
            Compiled::Lanes(constants, run) => unsafe { run(constants, a, b, c, d, chunks) },
            Compiled::Scalar(constants, run) => unsafe { run(constants, a, b, c, d, chunks) },
            Compiled::Mad(constants, run) => unsafe { run(constants, a, b, c, d, chunks) },
        }
    }

    /// The constants and the kernel of a form. To run it the processor must have the level.
    pub(super) fn new(form: Form, by: Deviations, level: Level) -> Compiled {
        match form.mnemonic().shape() {
            Shape::Scalar if form.mnemonic().operation() == Operation::Mad => {
                let (constants, factors) = Mad::new(form, by);
                Compiled::Mad(constants, products(form, factors, level))
            }
            Shape::Scalar => {
                let (constants, precision) = Scalar::new(form, by);
                Compiled::Scalar(constants, scalar(form, precision, level))
            }
            Shape::Halves => Compiled::Lanes(Lanes::new(form), lanes::<Halves>(form, level)),
            Shape::Bytes => Compiled::Lanes(Lanes::new(form), lanes::<Bytes>(form, level)),
        }
    }
}

/// From this number of chunks on they are not in a near cache: each is prefetched [`AHEAD`] chunks before its turn, as longer
/// kernels leave the processor no room to look so far ahead by itself.
const FAR: usize = 1024;

const AHEAD: usize = 16;

/// A kernel compiled for a level.
fn at<K: Kernel>(level: Level) -> Run<K::Constants> {
    match level {
        #[cfg(target_arch = "x86_64")]
        Level::Sse2 => in_registers::<K, core::arch::x86_64::__m128i>,
        #[cfg(target_arch = "x86_64")]
        Level::Avx2 => avx2::<K>,
        #[cfg(target_arch = "x86_64")]
        Level::Avx512 => avx512::<K>,
        #[cfg(all(target_arch = "aarch64", target_feature = "neon", target_endian = "little"))]
        Level::Neon => in_registers::<K, core::arch::aarch64::uint32x4_t>,
        _ => portable::<K>,
    }
}

/// # Safety
///
/// As [`Run`] says.
unsafe fn portable<K: Kernel>(
    k: &K::Constants,
    a: *const u32,
    b: *const u32,
    c: *const u32,
    d: *mut u32,
    chunks: usize,
) {
    // A loop that the compiler knows to be short it unrolls, and then may not find the vectors any more.
    let words = core::hint::black_box(CHUNK).min(CHUNK);
    for i in 0..chunks {
        // SAFETY: the caller has chunk `i` in all four. The sources are copied, so that the compiler sees that nothing which is written is read.
        let (a, b, c, d) = unsafe {
            (
                a.cast::<[u32; CHUNK]>().add(i).read(),
                b.cast::<[u32; CHUNK]>().add(i).read(),
                c.cast::<[u32; CHUNK]>().add(i).read(),
                &mut *d.cast::<[u32; CHUNK]>().add(i),
            )
        };
        for i in 0..words {
            d[i] = K::step(k, a[i], b[i], c[i]);
        }
    }
}

/// # Safety
///
/// As [`Run`] says; and the processor must have the instructions of `V`.
#[inline(always)]
unsafe fn in_registers<K: Kernel, V: Register>(
    k: &K::Constants,
    a: *const u32,
    b: *const u32,
    c: *const u32,
    d: *mut u32,
    chunks: usize,
) {
    let far = chunks >= FAR;
    for i in 0..chunks {
        if far {
            for source in [a, b, c, d.cast_const()] {
                V::prefetch(source.wrapping_add((i + AHEAD) * CHUNK));
            }
        }
        for j in 0..CHUNK / V::WORDS {
            let at = i * CHUNK + j * V::WORDS;
            // SAFETY: the caller has the chunk in each source, and the instructions. The words are read before any are
            // written in their place.
            let [a, b, c] = unsafe { [V::load(a.add(at)), V::load(b.add(at)), V::load(c.add(at))] };
            let results = K::step(k, a, b, c);
            // SAFETY: the caller has the chunk in d.
            unsafe { results.store(d.add(at)) }
        }
    }
}

/// # Safety
///
/// As [`Run`] says.
#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx2")]
unsafe fn avx2<K: Kernel>(k: &K::Constants, a: *const u32, b: *const u32, c: *const u32, d: *mut u32, chunks: usize) {
    // SAFETY: the caller keeps what `Run` asks for; the level has the instructions of the register.
    unsafe { in_registers::<K, super::avx::Avx2>(k, a, b, c, d, chunks) }
}

/// # Safety
///
/// As [`Run`] says.
#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx2,avx512f,avx512bw,avx512dq,avx512vl")]
unsafe fn avx512<K: Kernel>(k: &K::Constants, a: *const u32, b: *const u32, c: *const u32, d: *mut u32, chunks: usize) {
    // SAFETY: the caller keeps what `Run` asks for; the level has the instructions of the register.
    unsafe { in_registers::<K, super::avx::Avx512>(k, a, b, c, d, chunks) }
}

/// The kernel of a SIMD form.
fn lanes<C: Container>(form: Form, level: Level) -> Run<Lanes> {
    let sums = matches!(form.finish(), Finish::Accumulate(_));
    if let Some(packed) = packed(form) {
        macro_rules! of {
            ($($operation:ident)*) => {
                match packed {
                    // Only this one's sum is so common that it has a kernel of its own.
                    Packed::AbsdiffUnsigned if sums => return at::<InPlace<C, { Packed::AbsdiffUnsigned as u8 }, true>>(level),
                    $(Packed::$operation if !sums => return at::<InPlace<C, { Packed::$operation as u8 }, false>>(level),)*
                    _ => {}
                }
            };
        }
        of! {
            Add Sub AddSigned AddUnsigned SubSigned SubUnsigned MinSigned MinUnsigned MaxSigned MaxUnsigned AvrgUnsigned
            AbsdiffUnsigned Equal
        }
    }
    macro_rules! of {
        ($($operation:ident $number:ident,)*) => {
            match (form.mnemonic().operation(), !reads_in_place(form), sums) {
                $(
                    (Operation::$operation, false, false) => at::<InLanes<C, $number, false, false>>(level),
                    (Operation::$operation, false, true) => at::<InLanes<C, $number, false, true>>(level),
                    (Operation::$operation, true, false) => at::<InLanes<C, $number, true, false>>(level),
                    (Operation::$operation, true, true) => at::<InLanes<C, $number, true, true>>(level),
                )*
                // The others have no SIMD form.
                (Operation::Set | Operation::Shl | Operation::Shr | Operation::Mad, gathers, sums) => {
                    match (gathers, sums) {
                        (false, false) => at::<InLanes<C, SET, false, false>>(level),
                        (false, true) => at::<InLanes<C, SET, false, true>>(level),
                        (true, false) => at::<InLanes<C, SET, true, false>>(level),
                        (true, true) => at::<InLanes<C, SET, true, true>>(level),
                    }
                }
            }
        };
    }
    of! { Add ADD, Sub SUB, Avrg AVRG, Absdiff ABSDIFF, Min MIN, Max MAX, }
}

/// The packed operation that a SIMD form is in all its lanes, whether they are written or summed; `None` if there is
/// none, or the form has selectors or a mask.
fn packed(form: Form) -> Option<Packed> {
    let sums = matches!(form.finish(), Finish::Accumulate(_));
    if !reads_in_place(form) || !takes_all(form) {
        return None;
    }
    let inputs = (form.atype() == form.btype()).then(|| form.atype().is_signed());
    let result = form.is_signed();
    // Where all three types are the same, results that are an input are in its range, saturated or not.
    let same = inputs == Some(result);
    match (form.mnemonic().operation(), form.sat()) {
        // Modulo the lane's size types do not matter; a sum of lanes takes the exact values.
        (Operation::Add, false) if !sums => Some(Packed::Add),
        (Operation::Sub, false) if !sums => Some(Packed::Sub),
        (Operation::Add, true) if same => Some(if result { Packed::AddSigned } else { Packed::AddUnsigned }),
        (Operation::Sub, true) if same => Some(if result { Packed::SubSigned } else { Packed::SubUnsigned }),
        (Operation::Min, sat) if same || !sat && inputs.is_some() => {
            Some(if inputs == Some(true) { Packed::MinSigned } else { Packed::MinUnsigned })
        }
        (Operation::Max, sat) if same || !sat && inputs.is_some() => {
            Some(if inputs == Some(true) { Packed::MaxSigned } else { Packed::MaxUnsigned })
        }
        (Operation::Avrg, sat) if inputs == Some(false) && (same || !sat) => Some(Packed::AvrgUnsigned),
        (Operation::Absdiff, sat) if inputs == Some(false) && (same || !sat) => Some(Packed::AbsdiffUnsigned),
        (Operation::Set, _) if inputs.is_some() && form.comparison() == Some(Comparison::Eq) => Some(Packed::Equal),
        _ => None,
    }
}

/// The kernel of a scalar form.
fn scalar(form: Form, precision: Precision, level: Level) -> Run<Scalar> {
    let end = match form.finish() {
        Finish::Plain => end::PLAIN,
        Finish::Secondary(Secondary::Add) => end::ADD,
        Finish::Secondary(Secondary::Min) => end::MIN,
        Finish::Secondary(Secondary::Max) => end::MAX,
        Finish::Merge(_) | Finish::Lanes(_) | Finish::Accumulate(_) => end::LOWER,
    };
    let read = match (reads_in_place(form), form.atype() == form.btype(), form.is_signed() == form.atype().is_signed())
    {
        (false, ..) => read::PARTS,
        (true, true, true) if form.is_signed() => read::SIGNED,
        (true, true, true) => read::UNSIGNED,
        (true, ..) => read::WORDS,
    };
    // Of the least and the greatest, types that are all the same have kernels of their own.
    macro_rules! ordered {
        ($number:ident) => {
            match (read, end) {
                (read::SIGNED, end::PLAIN) => return at::<InWords<$number, { read::SIGNED }, { end::PLAIN }>>(level),
                (read::SIGNED, end::ADD) => return at::<InWords<$number, { read::SIGNED }, { end::ADD }>>(level),
                (read::SIGNED, end::MIN) => return at::<InWords<$number, { read::SIGNED }, { end::MIN }>>(level),
                (read::SIGNED, end::MAX) => return at::<InWords<$number, { read::SIGNED }, { end::MAX }>>(level),
                (read::UNSIGNED, end::PLAIN) => {
                    return at::<InWords<$number, { read::UNSIGNED }, { end::PLAIN }>>(level)
                }
                (read::UNSIGNED, end::ADD) => return at::<InWords<$number, { read::UNSIGNED }, { end::ADD }>>(level),
                (read::UNSIGNED, end::MIN) => return at::<InWords<$number, { read::UNSIGNED }, { end::MIN }>>(level),
                (read::UNSIGNED, end::MAX) => return at::<InWords<$number, { read::UNSIGNED }, { end::MAX }>>(level),
                _ => {}
            }
        };
    }
    match (precision, form.mnemonic().operation()) {
        (Precision::Words, Operation::Min) => ordered!(MIN),
        (Precision::Words, Operation::Max) => ordered!(MAX),
        (Precision::Words, Operation::Shl) if read != read::PARTS && form.variant() == CLAMP => match end {
            end::PLAIN => return at::<InWords<SHL, { read::CLAMPED }, { end::PLAIN }>>(level),
            end::ADD => return at::<InWords<SHL, { read::CLAMPED }, { end::ADD }>>(level),
            _ => {}
        },
        _ => {}
    }
    macro_rules! in_words {
        ($number:ident) => {
            match (reads_in_place(form), end) {
                (true, end::PLAIN) => at::<InWords<$number, { read::WORDS }, { end::PLAIN }>>(level),
                (true, end::ADD) => at::<InWords<$number, { read::WORDS }, { end::ADD }>>(level),
                (true, end::MIN) => at::<InWords<$number, { read::WORDS }, { end::MIN }>>(level),
                (true, end::MAX) => at::<InWords<$number, { read::WORDS }, { end::MAX }>>(level),
                (_, end::MIN) => at::<InWords<$number, { read::PARTS }, { end::MIN }>>(level),
                (_, end::MAX) => at::<InWords<$number, { read::PARTS }, { end::MAX }>>(level),
                (..) => at::<InWords<$number, { read::PARTS }, { end::LOWER }>>(level),
            }
        };
    }
    macro_rules! exactly {
        ($number:ident, $stages:ident) => {
            match end {
                end::MIN => at::<Exactly<$number, { stages::$stages }, { end::MIN }>>(level),
                end::MAX => at::<Exactly<$number, { stages::$stages }, { end::MAX }>>(level),
                _ => at::<Exactly<$number, { stages::$stages }, { end::LOWER }>>(level),
            }
        };
    }
    macro_rules! of {
        ($($operation:ident $number:ident,)*) => {
            match (form.mnemonic().operation(), precision) {
                $(
                    (Operation::$operation, Precision::Words) => in_words!($number),
                    (Operation::$operation, Precision::Exact) => exactly!($number, EXACT),
                    (Operation::$operation, Precision::Saturated) => exactly!($number, SATURATED),
                    (Operation::$operation, Precision::Deviating) => exactly!($number, DEVIATING),
                )*
                // `vmad` has kernels of its own, and no scalar form averages.
                (Operation::Set | Operation::Mad | Operation::Avrg, Precision::Words) => in_words!(SET),
                (Operation::Set | Operation::Mad | Operation::Avrg, Precision::Exact) => exactly!(SET, EXACT),
                (Operation::Set | Operation::Mad | Operation::Avrg, Precision::Saturated) => exactly!(SET, SATURATED),
                (Operation::Set | Operation::Mad | Operation::Avrg, Precision::Deviating) => exactly!(SET, DEVIATING),
            }
        };
    }
    of! { Add ADD, Sub SUB, Absdiff ABSDIFF, Min MIN, Max MAX, Shl SHL, Shr SHR, }
}

/// The kernel of a `vmad`.
fn products(form: Form, factors: Factors, level: Level) -> Run<Mad> {
    macro_rules! of {
        ($($factors:ident $number:ident,)*) => {
            match (factors, reads_in_place(form), form.sat()) {
                (Factors::Any, true, _) => at::<Products<{ factors::ANY }, false, false>>(level),
                (Factors::Any, false, _) => at::<Products<{ factors::ANY }, true, false>>(level),
                $(
                    (Factors::$factors, true, false) => at::<Products<{ factors::$number }, false, false>>(level),
                    (Factors::$factors, true, true) => at::<Products<{ factors::$number }, false, true>>(level),
                    (Factors::$factors, false, false) => at::<Products<{ factors::$number }, true, false>>(level),
                    (Factors::$factors, false, true) => at::<Products<{ factors::$number }, true, true>>(level),
                )*
            }
        };
    }
    of! { Signed SIGNED, Unsigned UNSIGNED, Mixed MIXED, }
}
