//! Two readings of every instruction: the manual's pseudo code, and what the machine code that ptxas emits computes.
//!
//! They share all stages ([`eval`](crate::eval)). Where they differ is a short list: [`Deviation`]. How ptxas thinks, in
//! one paragraph: it computes with signed 64-bit registers where the manual has exact integers, and they hold almost every
//! value that occurs. What goes wrong is mostly what it does with them. A saturation looks at too little of the register,
//! at all of it with the wrong sign, or at the wrong destination; before a secondary operation the register is cut to
//! 32 bits, or compared as unsigned though its value is negative; `vmad` and `vset` take a sign from the wrong type. All
//! else is as the manual says: parts of a and b, arithmetic, plain merges since 13.3, and everything in SIMD forms.

use core::fmt;
use core::str::FromStr;

pub use crate::deviation::{Deviation, Deviations};

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
