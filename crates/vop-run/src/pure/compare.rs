//! Comparison and selection.

use super::float::{Single, by_flag};
use super::half::{Bf16, F16, Half, HalfExt, pair};
use super::{Call, Pure, Ty};
use crate::lanes::Compute;

const OPERATORS: [&str; 18] = [
    "eq", "ne", "lt", "le", "gt", "ge", "lo", "ls", "hi", "hs", "equ", "neu", "ltu", "leu", "gtu", "geu", "num", "nan",
];

/// A macro with the comparison of floats that an operator names. Operators that end in `u` hold if an
/// operand is a NaN, the plain ones do not.
macro_rules! by_operator {
    ($operator:expr, $with:ident) => {
        match $operator {
            "eq" => $with!(|a, b| a == b),
            "ne" => $with!(|a, b| (a < b) | (a > b)),
            "lt" => $with!(|a, b| a < b),
            "le" => $with!(|a, b| a <= b),
            "gt" => $with!(|a, b| a > b),
            "ge" => $with!(|a, b| a >= b),
            "equ" => $with!(|a, b| !((a < b) | (a > b))),
            "neu" => $with!(|a, b| a != b),
            "ltu" => $with!(|a, b| (a < b) | a.is_nan() | b.is_nan()),
            "leu" => $with!(|a, b| (a <= b) | a.is_nan() | b.is_nan()),
            "gtu" => $with!(|a, b| (a > b) | a.is_nan() | b.is_nan()),
            "geu" => $with!(|a, b| (a >= b) | a.is_nan() | b.is_nan()),
            "num" => $with!(|a, b| !(a.is_nan() | b.is_nan())),
            "nan" => $with!(|a, b| a.is_nan() | b.is_nan()),
            _ => return None,
        }
    };
}

/// The steps that compare: to one predicate, or of pairs to one for each half.
fn comparison(operator: &str, ty: Ty, ftz: bool) -> Option<Vec<Compute>> {
    macro_rules! single {
        (|$a:ident, $b:ident| $f:expr) => {
            compute!(|$a: f32, $b: f32| $f)
        };
    }
    macro_rules! flushed {
        (|$a:ident, $b:ident| $f:expr) => {
            compute!(|a: f32, b: f32| {
                let ($a, $b) = (a.flush::<true>(), b.flush::<true>());
                $f
            })
        };
    }
    macro_rules! double {
        (|$a:ident, $b:ident| $f:expr) => {
            compute!(|$a: f64, $b: f64| $f)
        };
    }
    Some(match ty {
        Ty::F32 if ftz => vec![by_operator!(operator, flushed)],
        Ty::F32 => vec![by_operator!(operator, single)],
        Ty::F64 => vec![by_operator!(operator, double)],
        Ty::F16 | Ty::Bf16 => {
            let singles = match (ty, ftz) {
                (Ty::F16, false) => compute!(|a: F16, b: F16| (a.single(), b.single())),
                (Ty::F16, true) => {
                    compute!(|a: F16, b: F16| (a.flush::<true>().single(), b.flush::<true>().single()))
                }
                _ => compute!(|a: Bf16, b: Bf16| (a.single(), b.single())),
            };
            vec![singles, by_operator!(operator, single)]
        }
        Ty::F16x2 | Ty::Bf16x2 => {
            let relations = match (ty, ftz) {
                (Ty::F16x2, false) => compute!(|a: u32, b: u32| relations::<F16, false>(a, b)),
                (Ty::F16x2, true) => compute!(|a: u32, b: u32| relations::<F16, true>(a, b)),
                _ => compute!(|a: u32, b: u32| relations::<Bf16, false>(a, b)),
            };
            vec![relations, among(operator)?]
        }
        _ => vec![integers(operator, ty)?],
    })
}

fn integers(operator: &str, ty: Ty) -> Option<Compute> {
    Some(match operator {
        "eq" => by_width!(ty, compute!(|a: T, b: T| a == b)),
        "ne" => by_width!(ty, compute!(|a: T, b: T| a != b)),
        // These are for unsigned types.
        "lo" | "ls" | "hi" | "hs" if ty.is_signed() => return None,
        "lt" | "lo" => by_integer!(ty, compute!(|a: T, b: T| a < b)),
        "le" | "ls" => by_integer!(ty, compute!(|a: T, b: T| a <= b)),
        "gt" | "hi" => by_integer!(ty, compute!(|a: T, b: T| a > b)),
        "ge" | "hs" => by_integer!(ty, compute!(|a: T, b: T| a >= b)),
        _ => return None,
    })
}

const LESS: u16 = 1;
const EQUAL: u16 = 2;
const GREATER: u16 = 4;
const MISSING: u16 = 8;

/// How the halves of two pairs compare.
#[inline(always)]
fn relations<H: Half, const FTZ: bool>(a: u32, b: u32) -> u32 {
    let relation = |a: H, b: H| {
        let (a, b) = (a.flush::<FTZ>().single(), b.flush::<FTZ>().single());
        if a < b {
            LESS
        } else if a == b {
            EQUAL
        } else if a > b {
            GREATER
        } else {
            MISSING
        }
    };
    let ([a0, a1], [b0, b1]) = (pair(a), pair(b));
    super::packed::from_halves([relation(a0, b0), relation(a1, b1)])
}

/// Whether each of two relations is among those that an operator names.
fn among(operator: &str) -> Option<Compute> {
    macro_rules! relations {
        ($($names:pat => $relations:expr,)*) => {
            match operator {
                $($names => compute!(|relations: u32| {
                    let [low, high] = super::packed::halves(relations);
                    (low & ($relations) != 0, high & ($relations) != 0)
                }),)*
                _ => return None,
            }
        };
    }
    Some(relations! {
        "eq" => EQUAL,
        "ne" => LESS | GREATER,
        "lt" => LESS,
        "le" => LESS | EQUAL,
        "gt" => GREATER,
        "ge" => GREATER | EQUAL,
        "equ" => EQUAL | MISSING,
        "neu" => LESS | GREATER | MISSING,
        "ltu" => LESS | MISSING,
        "leu" => LESS | EQUAL | MISSING,
        "gtu" => GREATER | MISSING,
        "geu" => GREATER | EQUAL | MISSING,
        "num" => LESS | EQUAL | GREATER,
        "nan" => MISSING,
    })
}

/// An instruction that compares, then does something with the predicates.
fn compared(steps: Vec<Compute>, then: Option<Compute>, results: &[Ty], sources: &[Ty]) -> Option<Pure> {
    let mut steps = steps.into_iter().chain(then);
    let first = Pure::new(steps.next()?, results, sources);
    Some(steps.fold(first, Pure::then))
}

/// Whether the instruction flushes subnormals of its sources.
fn flushes(ty: Ty, call: &mut Call<'_, '_>) -> bool {
    match ty {
        Ty::F32 => call.flushes(),
        Ty::F16 | Ty::F16x2 => call.take("ftz"),
        _ => false,
    }
}

/// `setp`: the comparison, its opposite as the second predicate, both combined with a third. Of pairs the second predicate is the
/// other comparison.
pub(super) fn setp(mut call: Call<'_, '_>) -> Option<Pure> {
    let ty = call.ty;
    let operator = call.opcode.take_of(&OPERATORS)?;
    let combine = call.opcode.take_of(&["and", "or", "xor"]);
    let ftz = flushes(ty, &mut call);
    let steps = comparison(operator, ty, ftz)?;
    let sources = if combine.is_some() { vec![ty, ty, Ty::Pred] } else { vec![ty; 2] };
    let two = call.operands == sources.len() + 2;
    let of_pairs = matches!(ty, Ty::F16x2 | Ty::Bf16x2);
    let then = match (combine, two, of_pairs) {
        (None, false, false) | (None, true, true) => None,
        (None, true, false) => Some(compute!(|t: bool| (t, !t))),
        (None, false, true) => Some(compute!(|t: bool, _u: bool| t)),
        (Some("and"), false, false) => Some(compute!(|t: bool, c: bool| t & c)),
        (Some("or"), false, false) => Some(compute!(|t: bool, c: bool| t | c)),
        (Some(_), false, false) => Some(compute!(|t: bool, c: bool| t ^ c)),
        (Some("and"), true, false) => Some(compute!(|t: bool, c: bool| (t & c, !t & c))),
        (Some("or"), true, false) => Some(compute!(|t: bool, c: bool| (t | c, !t | c))),
        (Some(_), true, false) => Some(compute!(|t: bool, c: bool| (t ^ c, !t ^ c))),
        (Some("and"), false, true) => Some(compute!(|t: bool, _u: bool, c: bool| t & c)),
        (Some("or"), false, true) => Some(compute!(|t: bool, _u: bool, c: bool| t | c)),
        (Some(_), false, true) => Some(compute!(|t: bool, _u: bool, c: bool| t ^ c)),
        (Some("and"), true, true) => Some(compute!(|t: bool, u: bool, c: bool| (t & c, u & c))),
        (Some("or"), true, true) => Some(compute!(|t: bool, u: bool, c: bool| (t | c, u | c))),
        (Some(_), true, true) => Some(compute!(|t: bool, u: bool, c: bool| (t ^ c, u ^ c))),
    };
    let results: &[Ty] = if two { &[Ty::Pred; 2] } else { &[Ty::Pred] };
    compared(steps, then, results, &sources)
}

/// `set`: all ones or 1.0 where the comparison, combined with a predicate, holds. Of pairs each half has its own.
pub(super) fn set(mut call: Call<'_, '_>) -> Option<Pure> {
    let (to, from) = (call.ty, call.take_type()?);
    let operator = call.opcode.take_of(&OPERATORS)?;
    let combine = call.opcode.take_of(&["and", "or", "xor"]);
    let ftz = flushes(from, &mut call);
    let steps = comparison(operator, from, ftz)?;
    /// The result of a comparison, combined with a predicate or not.
    macro_rules! truth {
        ($yes:expr) => {
            match combine {
                None => compute!(|t: bool| if t { $yes } else { 0 }),
                Some("and") => compute!(|t: bool, c: bool| if t & c { $yes } else { 0 }),
                Some("or") => compute!(|t: bool, c: bool| if t | c { $yes } else { 0 }),
                Some(_) => compute!(|t: bool, c: bool| if t ^ c { $yes } else { 0 }),
            }
        };
    }
    macro_rules! truths {
        ($yes:expr) => {
            match combine {
                None => compute!(|t: bool, u: bool| both(t, u, $yes)),
                Some("and") => compute!(|t: bool, u: bool, c: bool| both(t & c, u & c, $yes)),
                Some("or") => compute!(|t: bool, u: bool, c: bool| both(t | c, u | c, $yes)),
                Some(_) => compute!(|t: bool, u: bool, c: bool| both(t ^ c, u ^ c, $yes)),
            }
        };
    }
    const ONE: u32 = 0x3f80_0000;
    const ONE_F16: u16 = 0x3c00;
    const ONE_BF16: u16 = 0x3f80;
    let then = match (to, from) {
        (Ty::U32 | Ty::S32, Ty::F16x2 | Ty::Bf16x2) => truths!(u16::MAX),
        (Ty::F16x2, Ty::F16x2) => truths!(ONE_F16),
        (Ty::Bf16x2, Ty::Bf16x2) => truths!(ONE_BF16),
        (_, Ty::F16x2 | Ty::Bf16x2) => return None,
        (Ty::U32 | Ty::S32, _) => truth!(u32::MAX),
        (Ty::U16 | Ty::S16, Ty::F16 | Ty::Bf16) => truth!(u16::MAX),
        (Ty::F32, _) if !from.is_half() => truth!(ONE),
        (Ty::F16, _) if from != Ty::Bf16 => truth!(ONE_F16),
        (Ty::Bf16, _) => truth!(ONE_BF16),
        _ => return None,
    };
    let sources = if combine.is_some() { vec![from, from, Ty::Pred] } else { vec![from; 2] };
    compared(steps, Some(then), &[to], &sources)
}

#[inline(always)]
fn both(low: bool, high: bool, yes: u16) -> u32 {
    super::packed::from_halves([low, high].map(|truth| if truth { yes } else { 0 }))
}

pub(super) fn select(name: &str, mut call: Call<'_, '_>) -> Option<Pure> {
    let ty = call.ty;
    let width = match ty {
        Ty::F32 => Ty::B32,
        Ty::F64 => Ty::B64,
        _ => ty,
    };
    if name == "selp" {
        let compute = by_width!(width, compute!(|a: T, b: T, p: bool| if p { a } else { b }));
        return Pure::of(compute, ty, &[ty, ty, Ty::Pred]);
    }
    let by = call.take_type()?;
    let ftz = flushes(by, &mut call);
    let compute = match by {
        Ty::S32 => by_width!(width, compute!(|a: T, b: T, c: i32| if c >= 0 { a } else { b })),
        Ty::F32 => {
            by_flag!(
                ftz,
                FTZ,
                by_width!(width, compute!(|a: T, b: T, c: f32| if c.flush::<FTZ>() >= 0.0 { a } else { b }))
            )
        }
        _ => return None,
    };
    Pure::of(compute, ty, &[ty, ty, by])
}
