//! Instructions that only compute: from an opcode to a loop over columns.
//!
//! ```text
//! mad.wide.s32 ──pure──► Pure { compute: |a: i32, b: i32, c: i64| …, results: [s64], sources: [s32, s32, s64] }
//! ```
//!
//! [`pure`] takes the modifiers that it knows from an opcode; a modifier that it leaves is none of the instruction. Each family of
//! instructions has a file, and each instruction there is a closure over Rust's types: unsigned and signed integers, `f32`, `f64`, and
//! the half precisions of [`half`].
//!
//! All closures are total. They run for inactive threads too, whose operands may be anything.

/// Compiles a closure of one to four operands into a loop.
macro_rules! compute {
    (|$a:ident: $A:ty| $f:expr) => {
        $crate::lanes::unary(
            #[inline(always)]
            |$a: $A| $f,
        )
    };
    (|$a:ident: $A:ty, $b:ident: $B:ty| $f:expr) => {
        $crate::lanes::binary(
            #[inline(always)]
            |$a: $A, $b: $B| $f,
        )
    };
    (|$a:ident: $A:ty, $b:ident: $B:ty, $c:ident: $C:ty| $f:expr) => {
        $crate::lanes::ternary(
            #[inline(always)]
            |$a: $A, $b: $B, $c: $C| $f,
        )
    };
    (|$a:ident: $A:ty, $b:ident: $B:ty, $c:ident: $C:ty, $d:ident: $D:ty| $f:expr) => {
        $crate::lanes::quaternary(
            #[inline(always)]
            |$a: $A, $b: $B, $c: $C, $d: $D| $f,
        )
    };
}

/// The expression with `T` for the Rust integer of a PTX type of 16, 32 or 64 bits; any other type ends the function with `None`.
macro_rules! by_integer {
    ($ty:expr, $compute:expr) => {
        match $ty {
            Ty::U16 => {
                type T = u16;
                $compute
            }
            Ty::S16 => {
                type T = i16;
                $compute
            }
            _ => by_wide_integer!($ty, $compute),
        }
    };
}

/// As [`by_integer`], for 32 and 64 bits.
macro_rules! by_wide_integer {
    ($ty:expr, $compute:expr) => {
        match $ty {
            Ty::U32 => {
                type T = u32;
                $compute
            }
            Ty::S32 => {
                type T = i32;
                $compute
            }
            Ty::U64 => {
                type T = u64;
                $compute
            }
            Ty::S64 => {
                type T = i64;
                $compute
            }
            _ => return None,
        }
    };
}

/// The expression with `T` for the unsigned integer of 16, 32 or 64 bits that is as wide as the type. One loop then serves all types of
/// a width, where signedness does not matter.
macro_rules! by_width {
    ($ty:expr, $compute:expr) => {
        match $ty {
            Ty::B16 | Ty::U16 | Ty::S16 => {
                type T = u16;
                $compute
            }
            _ => by_wide_width!($ty, $compute),
        }
    };
}

/// As [`by_width`], for 32 and 64 bits.
macro_rules! by_wide_width {
    ($ty:expr, $compute:expr) => {
        match $ty {
            Ty::B32 | Ty::U32 | Ty::S32 => {
                type T = u32;
                $compute
            }
            Ty::B64 | Ty::U64 | Ty::S64 => {
                type T = u64;
                $compute
            }
            _ => return None,
        }
    };
}

mod approx;
mod bits;
mod compare;
mod convert;
mod float;
pub(crate) mod fold;
mod half;
mod integer;
mod logic;
pub(crate) mod mbarrier;
mod packed;
mod round;
mod small;

use vop_ptx::module::Scalar;

use crate::code::Linear;
use crate::column::Width;
use crate::jit::known::{Known, known};
use crate::lanes::Compute;
use crate::opcode::Opcode;

/// What a module's `.version` and `.target` say about instructions.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Dialect {
    /// Targets below sm_20: every instruction of `.f32` has `.ftz`.
    flushes: bool,
    /// Those, and versions up to 3.1: `mad.f32` needs no rounding mode.
    rounds_mad: bool,
    /// Versions below 1.4, which do not know `.approx`: what has no rounding mode is approximate in `.f32`, and rounds to the nearest in
    /// `.f64`.
    approximates: bool,
}

impl Dialect {
    pub(crate) fn new(version: Option<(u32, u32)>, target: Option<&str>) -> Dialect {
        let digits = |target: &str| -> Option<u32> {
            let digits = target.strip_prefix("sm_").or(target.strip_prefix("compute_"))?;
            digits.trim_end_matches(|c: char| c.is_ascii_lowercase()).parse().ok()
        };
        let old = target.and_then(digits).is_some_and(|target| target < 20);
        let up_to = |limit| version.is_some_and(|version| version <= limit);
        Dialect { flushes: old, rounds_mad: old || up_to((3, 1)), approximates: up_to((1, 3)) }
    }
}

pub(crate) use convert::{extend, low_word};

/// An instruction that only computes.
#[derive(Clone, Debug)]
pub(crate) struct Pure {
    pub(crate) compute: Compute,
    /// The types that registers of the results must fit: `p|q` are two.
    pub(crate) results: Vec<Scalar>,
    /// The types that registers of the sources must fit, as they are written. The carry flag is not among them.
    pub(crate) sources: Vec<Scalar>,
    /// Whether registers may be wider than the types: a source gives its low bits ([`low_word`]), a result is extended by its
    /// type ([`extend`]).
    pub(crate) wide: bool,
    /// Whether `CC.CF` is one more source, after the others.
    pub(crate) carry_in: bool,
    /// Whether `CC.CF` is one more result.
    pub(crate) carry_out: bool,
    /// The source that must not be zero.
    pub(crate) divisor: Option<usize>,
    /// Steps after `compute`, for combinations that would be too many loops otherwise. `compute` takes the first sources, as many
    /// as it has; each step takes the results before it, then the sources that are next. The last step's results are the
    /// instruction's.
    pub(crate) then: Vec<Compute>,
    /// Whether the loop was chosen by the values of immediates, so that it is not that of every instruction of this opcode.
    pub(crate) by_immediates: bool,
    /// Instead of `compute`, what ptxas's code computes, where that is not what the manual says. It has columns of the same widths.
    pub(crate) by_ptxas: Option<Compute>,
}

impl Pure {
    fn new(compute: Compute, results: &[Ty], sources: &[Ty]) -> Pure {
        let scalars = |types: &[Ty]| types.iter().map(|ty| ty.register()).collect();
        Pure {
            compute,
            results: scalars(results),
            sources: scalars(sources),
            wide: false,
            carry_in: false,
            carry_out: false,
            divisor: None,
            then: Vec::new(),
            by_immediates: false,
            by_ptxas: None,
        }
    }

    /// With what ptxas's code computes in the first step.
    fn but_by_ptxas(self, compute: Compute) -> Pure {
        Pure { by_ptxas: Some(compute), ..self }
    }

    /// With one more step.
    fn then(mut self, step: Compute) -> Pure {
        self.then.push(step);
        self
    }

    /// An instruction of one result.
    fn of(compute: Compute, result: Ty, sources: &[Ty]) -> Option<Pure> {
        Some(Pure::new(compute, &[result], sources))
    }
}

macro_rules! types {
    ($($(#[$doc:meta])* $ty:ident = $name:literal: $register:ident,)*) => {
        /// A type that an instruction computes with: those of registers, and packed and alternate
        /// formats, which live in registers of bits.
        #[derive(Clone, Copy, Debug, PartialEq, Eq)]
        enum Ty { $($ty,)* }

        impl Ty {
            fn parse(name: &str) -> Option<Ty> {
                match name { $($name => Some(Ty::$ty),)* _ => None }
            }

            /// The type that a register of such a value must fit.
            fn register(self) -> Scalar {
                match self { $(Ty::$ty => Scalar::$register,)* }
            }
        }
    };
}

types! {
    Pred = "pred": Pred,
    B8 = "b8": B8,
    B16 = "b16": B16,
    B32 = "b32": B32,
    B64 = "b64": B64,
    U8 = "u8": U8,
    U16 = "u16": U16,
    U32 = "u32": U32,
    U64 = "u64": U64,
    S8 = "s8": S8,
    S16 = "s16": S16,
    S32 = "s32": S32,
    S64 = "s64": S64,
    F16 = "f16": F16,
    F16x2 = "f16x2": F16x2,
    Bf16 = "bf16": B16,
    Bf16x2 = "bf16x2": B32,
    Tf32 = "tf32": B32,
    F32 = "f32": F32,
    F32x2 = "f32x2": B64,
    F64 = "f64": F64,
    U16x2 = "u16x2": B32,
    S16x2 = "s16x2": B32,
    U8x4 = "u8x4": B32,
    S8x4 = "s8x4": B32,
    E4m3x2 = "e4m3x2": B16,
    E5m2x2 = "e5m2x2": B16,
    E2m3x2 = "e2m3x2": B16,
    E3m2x2 = "e3m2x2": B16,
    E2m1x2 = "e2m1x2": B8,
    Ue8m0x2 = "ue8m0x2": B16,
}

impl Ty {
    fn is_signed(self) -> bool {
        matches!(self, Ty::S8 | Ty::S16 | Ty::S32 | Ty::S64)
    }

    /// A number: what integer arithmetic takes.
    fn is_integer(self) -> bool {
        matches!(self, Ty::U8 | Ty::U16 | Ty::U32 | Ty::U64) || self.is_signed()
    }

    /// Bits that are no number.
    fn is_bits(self) -> bool {
        matches!(self, Ty::B8 | Ty::B16 | Ty::B32 | Ty::B64)
    }

    /// `f16`, `bf16` and pairs of them.
    fn is_half(self) -> bool {
        matches!(self, Ty::F16 | Ty::F16x2 | Ty::Bf16 | Ty::Bf16x2)
    }

    fn is_float(self) -> bool {
        self.is_half() || matches!(self, Ty::F32 | Ty::F32x2 | Ty::F64)
    }

    /// Integers of several lanes.
    fn is_packed(self) -> bool {
        matches!(self, Ty::U16x2 | Ty::S16x2 | Ty::U8x4 | Ty::S8x4)
    }

    fn bits(self) -> u32 {
        self.register().bits().unwrap_or(0)
    }
}

/// An instruction whose first type has been taken from its opcode.
struct Call<'o, 'a> {
    opcode: &'o mut Opcode<'a>,
    /// Of an instruction that names several, the first.
    ty: Ty,
    operands: usize,
    immediates: &'o [Option<u64>],
    dialect: Dialect,
    /// Whether the value of an immediate was asked for.
    looked_at: &'o std::cell::Cell<bool>,
}

impl Call<'_, '_> {
    fn take(&mut self, modifier: &str) -> bool {
        self.opcode.take(modifier)
    }

    /// Whether the instruction, of single precision, flushes subnormals.
    fn flushes(&mut self) -> bool {
        self.take("ftz") || self.dialect.flushes
    }

    fn take_type(&mut self) -> Option<Ty> {
        self.opcode.take_if(Ty::parse)
    }

    /// The integer constant at a place counted from the last operand.
    fn immediate_from_end(&self, place: usize) -> Option<u64> {
        self.looked_at.set(true);
        self.immediates.iter().rev().nth(place).copied().flatten()
    }
}

/// The instruction of an opcode with `operands` operands, `p|q` counted as two.
///
/// `immediates` has an element for each operand: its value where it is an integer constant. `None` means that the
/// instruction is none of these, or is not legal. The caller must check the number of operands, and that nothing is left of the opcode.
pub(crate) fn pure(
    opcode: &mut Opcode<'_>,
    operands: usize,
    immediates: &[Option<u64>],
    dialect: Dialect,
) -> Option<Pure> {
    let name = opcode.name;
    // Templates of floats keep subnormals.
    let known = Some(known(opcode)).filter(|known| !(dialect.flushes && known.is_single())).unwrap_or(Known::No);
    let linear = linear(opcode);
    let ty = opcode.take_if(Ty::parse)?;
    let looked_at = std::cell::Cell::new(false);
    let call = Call { opcode, ty, operands, immediates, dialect, looked_at: &looked_at };
    let pure = match name {
        "add" | "sub" | "mul" | "mad" | "fma" | "abs" | "neg" | "min" | "max" | "div" if ty.is_float() => {
            if ty.is_half() { half::arithmetic(name, call) } else { float::arithmetic(name, call) }
        }
        "rcp" | "sqrt" | "copysign" | "testp" => float::arithmetic(name, call),
        "rsqrt" | "sin" | "cos" | "lg2" | "ex2" | "tanh" => approx::function(name, call),
        "add" | "sub" | "neg" | "abs" | "min" | "max" if ty.is_packed() => packed::arithmetic(name, call),
        "add" | "sub" | "mul" | "mad" | "addc" | "subc" | "madc" | "mul24" | "mad24" | "sad" | "div" | "rem"
        | "abs" | "neg" | "min" | "max" | "dp4a" | "dp2a" => integer::arithmetic(name, call),
        "popc" | "clz" | "bfind" | "fns" | "brev" | "bfe" | "bfi" | "szext" | "bmsk" | "shl" | "shr" | "shf"
        | "prmt" => bits::manipulation(name, call),
        "and" | "or" | "xor" | "not" | "cnot" | "lop3" | "mov" => logic::logic(name, call),
        "set" => compare::set(call),
        "setp" => compare::setp(call),
        "selp" | "slct" => compare::select(name, call),
        "cvt" => convert::convert(call),
        _ => None,
    };
    let mut pure = pure?;
    // A property of one closure: of several, none is the whole instruction.
    if pure.then.is_empty() {
        pure.compute = pure.compute.linear(linear).known(known);
    }
    Some(Pure { by_immediates: looked_at.get(), ..pure })
}

/// Whether the instruction's result is a sum or product of its sources; the modifiers must be exactly these.
fn linear(opcode: &Opcode<'_>) -> Linear {
    let is_word = |ty: &str| matches!(ty, "b32" | "u32" | "s32");
    let is_double = |ty: &str| matches!(ty, "b64" | "u64" | "s64");
    match (opcode.name, opcode.modifiers()) {
        ("add" | "mov", [ty]) if is_word(ty) || is_double(ty) => Linear::Sum,
        ("sub", [ty]) if is_word(ty) || is_double(ty) => Linear::Difference,
        ("mul" | "mad", ["lo", ty]) if is_word(ty) => Linear::Product(Width::Word),
        ("mul" | "mad", ["lo", ty]) if is_double(ty) => Linear::Product(Width::Double),
        ("mul" | "mad", ["wide", "s32"]) => Linear::WideProduct { signed: true },
        ("mul" | "mad", ["wide", "u32"]) => Linear::WideProduct { signed: false },
        ("shl", ["b32" | "b64"]) => Linear::Shift,
        ("cvt", [to, from]) if is_double(to) && is_word(from) => Linear::Extension,
        ("cvt", [to, from]) if is_word(to) && is_double(from) => Linear::Low,
        ("setp", ["lt" | "le" | "gt" | "ge" | "lo" | "ls" | "hi" | "hs", ty @ ("s32" | "u32" | "s64" | "u64")]) => {
            Linear::Order { width: if is_word(ty) { Width::Word } else { Width::Double }, signed: ty.starts_with('s') }
        }
        _ => Linear::No,
    }
}
