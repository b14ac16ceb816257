//! The deviations of the code that ptxas emits from the manual: one row each, with the forms that have it.
//!
//! The condition in a row is written nowhere else. It is a question to [`Form`], named in the row: `form.merges_wrong_half(by)`
//! asks whether the form has the deviation and whether it is one of the set `by`. Evaluation (`eval.rs`), bulk evaluation
//! (`bulk/constants.rs`), lowering (`lower/scalar/`) and the terms for a solver (`smt.rs`) all ask it, each at the stage
//! where the deviation happens. [`Deviation::concerns`] asks it, too.

use core::fmt;

use crate::isa::form::{Finish, Form, Variant};
use crate::isa::types::{Operation, Part, Secondary, ShiftMode};

macro_rules! deviations {
    ($($name:ident $question:ident $id:literal $stage:literal $where:literal $ptxas:literal $manual:literal |$form:ident| $condition:expr;)*) => {
        /// One thing that the code of ptxas does differently from the manual, at one stage.
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

            /// Whether the form can meet the deviation at all. Whether it then changes d is another question, which
            /// [`Form::divergence`] answers.
            pub fn concerns(self, form: Form) -> bool {
                match self { $(Deviation::$name => form.$question(Deviations::ALL),)* }
            }
        }

        impl Form {
            $(
                #[doc = concat!("Whether the form has [`Deviation::", stringify!($name), "`], and it is one of `by`.")]
                #[inline(always)]
                pub(crate) fn $question(self, by: Deviations) -> bool {
                    let $form = self;
                    by.has(Deviation::$name) && $condition
                }
            )*
        }
    };
}

deviations! {
    ReadsWordsSigned reads_words_signed "signed-words" "select" "`vmad`"
        "reads a, b and c as signed where they are whole words, whatever their types"
        "a and b are read as their types say, c by the sign of the result"
        |form| form.mnemonic().operation() == Operation::Mad;
    ScalesUnsigned scales_unsigned "unsigned-scale" "operate" "`vmad` with `.sat`, `.shr7` or `.shr15`, and an unsigned result"
        "shifts the sum right as an unsigned 64-bit value, though it may be negative, as a, b and c were read as signed"
        "the exact sum, which is not negative, is shifted"
        |form| matches!(form.variant(), Variant::Mad(_, Some(_))) && form.sat() && !form.is_signed();
    ShiftsIn64 shifts_in_64_bits "low-64-bits" "operate" "`vshl` with `.clamp`"
        "shifts in a signed 64-bit register, where an unsigned a of 2^31 or more becomes negative when it is shifted by 32"
        "the exact product of a and a power of two is the result"
        |form| form.mnemonic().operation() == Operation::Shl && form.variant() == Variant::Shift(ShiftMode::Clamp);
    KeepsLow34 keeps_low_34_bits "low-34-bits" "saturate" "`vshl` and `vshr` with `.sat`"
        "keeps the lower 34 bits of the shifted value, as signed, and saturates those"
        "the exact value is saturated"
        |form| form.shifts() && form.sat();
    SaturatesShiftToWord saturates_shift_to_word "shift-to-word" "saturate" "`vshl` and `vshr` with `.sat` and a selector on d"
        "saturates to 32 bits, whatever part of d is written"
        "saturation is to the size and sign of that part"
        |form| form.shifts() && form.sat() && merges(form);
    SaturatesPartUnsigned saturates_part_unsigned "unsigned-part" "saturate" "`vadd`, `vsub`, `vabsdiff`, `vmin` and `vmax` with `.sat` and a selector on d"
        "saturates to the part from an unsigned 64-bit value: negative values become the greatest, and nothing becomes the least"
        "the signed value is saturated at both ends"
        |form| sums_or_chooses(form) && form.sat() && merges(form);
    SaturatesBySign saturates_by_sign "sign-only" "saturate" "`vadd`, `vsub`, `vabsdiff`, `vmin` and `vmax` with `.sat` and a whole `.u32` d"
        "makes negative values 0 and does not saturate at the upper end"
        "values over 0xffffffff become 0xffffffff"
        |form| sums_or_chooses(form) && form.sat() && !merges(form) && !form.is_signed();
    CutsTo32 cuts_to_32_bits "low-32-bits" "secondary operation" "`.min` and `.max` of `vadd` and `vsub`, and of `vshl` and `vshr` with `.sat`"
        "compares the lower 32 bits of the result, extended by their sign bit"
        "the exact value, or the saturated one, is compared"
        |form| compares_with_c(form)
            && (matches!(form.mnemonic().operation(), Operation::Add | Operation::Sub) || form.shifts() && form.sat());
    ComparesUnsigned compares_unsigned "unsigned-compare" "secondary operation" "`.min` and `.max` with dtype `.u32`"
        "compares 64-bit values as unsigned, so that a negative one is greater than every c"
        "the value is compared by its sign"
        |form| compares_with_c(form) && !form.is_signed() && form.mnemonic().operation() != Operation::Set;
    SignsCByA signs_c_by_a "c-signed-as-a" "secondary operation" "`.min` and `.max` of `vset`"
        "reads c by the type of a"
        "the result of `vset` and c with it are unsigned"
        |form| compares_with_c(form) && form.mnemonic().operation() == Operation::Set;
    MergesWrongHalf merges_wrong_half "wrong-half" "merge" "a scalar form with `.h1` on d, to 13.2"
        "inserts bits 31 to 16 of the result"
        "bits 15 to 0 of the result are inserted"
        |form| matches!(form.finish(), Finish::Merge(Part::H1));
}

/// Whether a form writes a part of d and takes the rest from c.
#[inline(always)]
fn merges(form: Form) -> bool {
    matches!(form.finish(), Finish::Merge(_))
}

/// Whether a form takes the lesser or the greater of its result and c.
#[inline(always)]
fn compares_with_c(form: Form) -> bool {
    matches!(form.finish(), Finish::Secondary(Secondary::Min | Secondary::Max))
}

/// Whether it is a scalar form of `vadd`, `vsub`, `vabsdiff`, `vmin` or `vmax`.
#[inline(always)]
fn sums_or_chooses(form: Form) -> bool {
    use Operation::{Absdiff, Add, Max, Min, Sub};
    matches!(form.mnemonic().operation(), Add | Sub | Absdiff | Min | Max)
        && matches!(form.finish(), Finish::Plain | Finish::Secondary(_) | Finish::Merge(_))
}

impl Deviation {
    const fn bit(self) -> u16 {
        1 << self as u8
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
