//! Two readings of every instruction: the manual's pseudo code, and what the machine code that ptxas emits computes.
//!
//! They share all stages ([`eval`](crate::eval)); where they part is [`Deviation`], a short list. How ptxas thinks, in
//! one paragraph: it computes with signed 64-bit registers where the manual has exact integers, and they hold almost every
//! value that occurs. What goes wrong is mostly what it does with them. A saturation looks at too little of the register,
//! at all of it with the wrong sign, or at the wrong destination; before a secondary operation the register is cut to
//! 32 bits, or compared as unsigned though its value is negative; `vmad` and `vset` take a sign from the wrong type. All
//! else is as the manual says: parts of a and b, arithmetic, plain merges since 13.3, and everything in SIMD forms.

use core::fmt;
use core::str::FromStr;

use crate::isa::form::{Finish, Form, Variant};
use crate::isa::types::{Operation, Secondary, ShiftMode};

/// Whose answer is asked for: the manual's, or that of the machine code which a version of ptxas emits.
///
/// It reads and prints as the command's `--semantics` does: `isa`, `ptxas`, and `ptxas-12.4` for any release from 11.7 on.
///
/// ```
/// use vop::{Form, Semantics};
/// let form: Form = "vadd.u32.s32.s32.sat d.b0, a, b, c".parse().unwrap();
/// let [a, b, c] = [-16i32 as u32, 5, 0];
/// assert_eq!(form.eval(a, b, c), 0);
/// assert_eq!(form.eval_as(Semantics::Ptxas, a, b, c), 255);
/// ```
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Semantics {
    /// The pseudo code of the PTX ISA manual.
    #[default]
    Isa,
    /// The code that ptxas 13.3 to 13.5, the newest, emits for sm_75 and later.
    Ptxas,
    /// The code that ptxas 11.7 to 13.2 emits: [`Deviation::MergesWrongHalf`] besides.
    PtxasTo13_2,
}

impl Semantics {
    /// All of them.
    pub const ALL: [Semantics; 3] = [Semantics::Isa, Semantics::Ptxas, Semantics::PtxasTo13_2];

    /// The releases of ptxas whose code it is; `None` for the manual's.
    pub const fn releases(self) -> Option<&'static str> {
        match self {
            Semantics::Isa => None,
            Semantics::Ptxas => Some("13.3 to 13.5"),
            Semantics::PtxasTo13_2 => Some("11.7 to 13.2"),
        }
    }

    /// Where it departs from the manual.
    #[inline]
    pub const fn deviations(self) -> Deviations {
        match self {
            Semantics::Isa => Deviations::NONE,
            Semantics::Ptxas => Deviations::ALL.without(Deviation::MergesWrongHalf),
            Semantics::PtxasTo13_2 => Deviations::ALL,
        }
    }
}

impl fmt::Display for Semantics {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Semantics::Isa => "isa",
            Semantics::Ptxas => "ptxas",
            Semantics::PtxasTo13_2 => "ptxas-13.2",
        })
    }
}

/// What [`Semantics`] says to a name that it does not know.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct UnknownSemantics;

impl fmt::Display for UnknownSemantics {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(
            "write `isa` for the manual's, `ptxas` for the newest ptxas's (13.5), or a release of ptxas from 11.7 to 13.5, \
             such as `ptxas-12.4`",
        )
    }
}

impl core::error::Error for UnknownSemantics {}

impl FromStr for Semantics {
    type Err = UnknownSemantics;

    fn from_str(text: &str) -> Result<Semantics, UnknownSemantics> {
        let release = match text {
            "isa" => return Ok(Semantics::Isa),
            "ptxas" => return Ok(Semantics::Ptxas),
            _ => text.strip_prefix("ptxas-").and_then(|release| release.split_once('.')).ok_or(UnknownSemantics)?,
        };
        // 13.2.86 is a build of 13.2.
        let release = match release.1.split_once('.') {
            Some((minor, build)) if !build.is_empty() && build.bytes().all(|byte| byte.is_ascii_digit()) => {
                (release.0, minor)
            }
            _ => release,
        };
        let number = |digits: &str| digits.parse::<u8>().ok().filter(|number| digits == alloc::format!("{number}"));
        match (number(release.0), number(release.1)) {
            (Some(11), Some(7..=8)) | (Some(12), Some(0..=6 | 8..=9)) | (Some(13), Some(0..=2)) => {
                Ok(Semantics::PtxasTo13_2)
            }
            (Some(13), Some(3..=5)) => Ok(Semantics::Ptxas),
            _ => Err(UnknownSemantics),
        }
    }
}

macro_rules! deviations {
    ($($name:ident $id:literal $stage:literal $where:literal $ptxas:literal $manual:literal;)*) => {
        /// One thing that ptxas does otherwise than the manual, at one stage.
        #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
        #[repr(u8)]
        pub enum Deviation {
            $(#[doc = concat!($stage, ", ", $where, ": ", $ptxas, ". The manual: ", $manual, ".")] $name,)*
        }

        impl Deviation {
            /// All of them, in the order of the stages.
            pub const ALL: &'static [Deviation] = &[$(Deviation::$name),*];

            /// A short name, `sign-only`.
            pub const fn name(self) -> &'static str {
                match self { $(Deviation::$name => $id,)* }
            }

            /// The stage that it belongs to.
            pub const fn stage(self) -> &'static str {
                match self { $(Deviation::$name => $stage,)* }
            }

            /// Which forms have it.
            pub const fn scope(self) -> &'static str {
                match self { $(Deviation::$name => $where,)* }
            }

            /// What ptxas's code does, in words that follow "ptxas's code …".
            pub const fn ptxas(self) -> &'static str {
                match self { $(Deviation::$name => $ptxas,)* }
            }

            /// What the manual says there.
            pub const fn manual(self) -> &'static str {
                match self { $(Deviation::$name => $manual,)* }
            }
        }
    };
}

deviations! {
    ReadsWordsSigned "signed-words" "select" "`vmad`"
        "reads a, b and c as signed where they are whole words, whatever their types"
        "a and b are read as their types say, c by the sign of the result";
    ScalesUnsigned "unsigned-scale" "operate" "`vmad` with `.sat`, `.shr7` or `.shr15`, and an unsigned result"
        "shifts the sum right as an unsigned 64-bit value, though it may be negative, as a, b and c were read as signed"
        "the exact sum, which is not negative, is shifted";
    ShiftsIn64 "low-64-bits" "operate" "`vshl` with `.clamp`"
        "shifts in a signed 64-bit register, where an unsigned a of 2^31 or more becomes negative when it is shifted by 32"
        "the exact product of a and a power of two is the result";
    KeepsLow34 "low-34-bits" "saturate" "`vshl` and `vshr` with `.sat`"
        "keeps the lower 34 bits of the shifted value, as signed, and saturates those"
        "the exact value is saturated";
    SaturatesShiftToWord "shift-to-word" "saturate" "`vshl` and `vshr` with `.sat` and a selector on d"
        "saturates to 32 bits, whatever part of d is written"
        "saturation is to the size and sign of that part";
    SaturatesPartUnsigned "unsigned-part" "saturate" "`vadd`, `vsub`, `vabsdiff`, `vmin` and `vmax` with `.sat` and a selector on d"
        "saturates to the part from an unsigned 64-bit value: negative values become the greatest, and nothing becomes the least"
        "the signed value is saturated at both ends";
    SaturatesBySign "sign-only" "saturate" "`vadd`, `vsub`, `vabsdiff`, `vmin` and `vmax` with `.sat` and a whole `.u32` d"
        "makes negative values 0 and does not saturate at the upper end"
        "values over 0xffffffff become 0xffffffff";
    CutsTo32 "low-32-bits" "secondary operation" "`.min` and `.max` of `vadd` and `vsub`, and of `vshl` and `vshr` with `.sat`"
        "compares the lower 32 bits of the result, extended by their sign bit"
        "the exact value, or the saturated one, is compared";
    ComparesUnsigned "unsigned-compare" "secondary operation" "`.min` and `.max` with dtype `.u32`"
        "compares 64-bit values as unsigned, so that a negative one is greater than every c"
        "the value is compared by its sign";
    SignsCByA "c-signed-as-a" "secondary operation" "`.min` and `.max` of `vset`"
        "reads c by the type of a"
        "the result of `vset` and c with it are unsigned";
    MergesWrongHalf "wrong-half" "merge" "a scalar form with `.h1` on d, to 13.2"
        "inserts bits 31 to 16 of the result"
        "bits 15 to 0 of the result are inserted";
}

impl Deviation {
    const fn bit(self) -> u16 {
        1 << self as u8
    }

    /// Whether a form's way through the stages comes by it at all; whether it then matters is another question, that
    /// [`Form::divergence`] answers.
    pub fn concerns(self, form: Form) -> bool {
        use Operation::*;
        let operation = form.mnemonic().operation();
        let scalar = !form.mnemonic().shape().is_simd();
        let shift = matches!(operation, Shl | Shr);
        let merges = matches!(form.finish(), Finish::Merge(_));
        let compares = matches!(form.finish(), Finish::Secondary(Secondary::Min | Secondary::Max));
        let wide = matches!(operation, Add | Sub | Absdiff | Min | Max);
        scalar
            && match self {
                Deviation::ReadsWordsSigned => operation == Mad,
                Deviation::ScalesUnsigned => {
                    matches!(form.variant(), Variant::Mad(_, Some(_))) && form.sat() && !form.is_signed()
                }
                Deviation::ShiftsIn64 => operation == Shl && form.variant() == Variant::Shift(ShiftMode::Clamp),
                Deviation::KeepsLow34 => shift && form.sat(),
                Deviation::SaturatesShiftToWord => shift && form.sat() && merges,
                Deviation::SaturatesPartUnsigned => wide && form.sat() && merges,
                Deviation::SaturatesBySign => wide && form.sat() && !merges && !form.is_signed(),
                Deviation::CutsTo32 => compares && (matches!(operation, Add | Sub) || shift && form.sat()),
                Deviation::ComparesUnsigned => compares && !form.is_signed() && operation != Set,
                Deviation::SignsCByA => compares && operation == Set,
                Deviation::MergesWrongHalf => {
                    matches!(form.finish(), Finish::Merge(part) if part.shift() == 16 && part.bits() == 16)
                }
            }
    }
}

impl fmt::Display for Deviation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// A set of deviations.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash)]
pub struct Deviations(u16);

impl Deviations {
    /// None: the manual's semantics.
    pub const NONE: Deviations = Deviations(0);
    /// Every one there is.
    pub const ALL: Deviations = Deviations((1 << Deviation::ALL.len()) - 1);

    /// Those of it that concern a form.
    pub fn concerning(self, form: Form) -> Deviations {
        self.iter().filter(|deviation| deviation.concerns(form)).fold(Deviations::NONE, Deviations::with)
    }

    /// With one more.
    #[must_use]
    pub const fn with(self, deviation: Deviation) -> Deviations {
        Deviations(self.0 | deviation.bit())
    }

    /// Without one.
    #[must_use]
    pub const fn without(self, deviation: Deviation) -> Deviations {
        Deviations(self.0 & !deviation.bit())
    }

    /// Whether it is in it.
    #[inline(always)]
    pub const fn has(self, deviation: Deviation) -> bool {
        self.0 & deviation.bit() != 0
    }

    /// Whether there is none.
    pub const fn is_empty(self) -> bool {
        self.0 == 0
    }

    /// Those in it, in the order of the stages.
    pub fn iter(self) -> impl Iterator<Item = Deviation> {
        Deviation::ALL.iter().copied().filter(move |&deviation| self.has(deviation))
    }
}
