//! [`Form`]: an instruction without its operands, valid by construction.

use alloc::vec::Vec;
use core::fmt::{self, Display};

use super::table::{Axis, AxisSet, Mnemonic};
use super::types::{
    Comparison, Mask, Operation, PLUS_ONE, Part, SAT, Scale, Secondary, Selector, Shape, ShiftMode, Type,
};

/// One legal form of a video instruction: mnemonic, types, selectors and modifiers, all that decides what it computes.
///
/// Two texts that mean the same by their spelling alone have equal forms: a default selector written out equals one
/// left out, modifiers may come in any order. [`Form::new`] is the only way to make one and refuses what PTX refuses,
/// so whoever holds a `Form` need not check it again.
///
/// `Display` prints the canonical text with operands named `d`, `a`, `b` and, where the form uses it, `c`; `FromStr`
/// reads that and any other instruction text, with or without operands:
///
/// ```
/// use vop::Form;
/// let form: Form = "vadd4.sat.u32.s32.s32 r1.b10, r2.b3210, r3, r4".parse().unwrap();
/// assert_eq!(form.to_string(), "vadd4.u32.s32.s32.sat d.b10, a, b, c");
/// assert_eq!("vadd4.u32.s32.s32.sat".parse::<Form>().unwrap().mask().unwrap().bits(), 0b1111);
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Form {
    mnemonic: Mnemonic,
    dtype: Type,
    atype: Type,
    btype: Type,
    sat: bool,
    variant: Variant,
    finish: Finish,
    /// Packed as [`Selector::pack`] does; the mnemonic's shape says how to read them.
    asel: u16,
    bsel: u16,
}

const _: () = assert!(size_of::<Form>() <= 16);

/// What only some operations have.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Variant {
    /// Nothing more.
    None,
    /// `vset`, `vset2`, `vset4`: the comparison.
    Comparison(Comparison),
    /// `vshl`, `vshr`: what large shift amounts mean.
    Shift(ShiftMode),
    /// `vmad`: signs, the added one and the scaling.
    Mad(MadMode, Option<Scale>),
}

/// The signs of `vmad`'s operands and its plus-one mode: the seven combinations that are legal.
///
/// The manual: "`(a*b)` is negated if and only if exactly one of `a` or `b` is negated. PTX allows negation of either
/// `(a*b)` or `c`", and "source operands may not be negated in `.po` mode". Where a text negates both a and b the
/// product keeps its sign.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
#[repr(u8)]
pub enum MadMode {
    /// a·b + c.
    Plain,
    /// `.po`: a·b + c + 1.
    PlusOne,
    /// -a·b + c, the minus written before a.
    NegateA,
    /// -a·b + c, the minus written before b.
    NegateB,
    /// a·b + c, written with both negated.
    NegateAB,
    /// a·b - c.
    NegateC,
    /// a·b - c, written with all three negated.
    NegateABC,
}

impl MadMode {
    /// All of them.
    pub const ALL: [MadMode; 7] = [
        MadMode::Plain,
        MadMode::PlusOne,
        MadMode::NegateA,
        MadMode::NegateB,
        MadMode::NegateAB,
        MadMode::NegateC,
        MadMode::NegateABC,
    ];

    /// Whether the product's sign is turned.
    pub const fn negates_product(self) -> bool {
        matches!(self, MadMode::NegateA | MadMode::NegateB)
    }

    /// Whether c is subtracted.
    pub const fn negates_c(self) -> bool {
        matches!(self, MadMode::NegateC | MadMode::NegateABC)
    }

    /// Which of a, b and c is written with a minus.
    pub const fn minuses(self) -> [bool; 3] {
        use MadMode::*;
        [
            matches!(self, NegateA | NegateAB | NegateABC),
            matches!(self, NegateB | NegateAB | NegateABC),
            matches!(self, NegateC | NegateABC),
        ]
    }
}

/// What becomes of the intermediate result.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Finish {
    /// Scalar: its lower 32 bits are d.
    Plain,
    /// Scalar: a secondary operation with c.
    Secondary(Secondary),
    /// Scalar: its lower bits replace a part of c.
    Merge(Part),
    /// SIMD: the lanes in the mask are d's, the others come from c.
    Lanes(Mask),
    /// SIMD `.add`: the lanes in the mask are summed onto c.
    Accumulate(Mask),
}

/// A selector written on the destination.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum DestinationSelector {
    /// `.b0` to `.h1`.
    Part(Part),
    /// `.b3210`, `.h10` and their subsets.
    Mask(Mask),
}

/// What a text asks for, before it is judged; [`Form::new`] judges it.
///
/// `None` means not written. `Default` is a text that says nothing but its mnemonic.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Modifiers<'a> {
    /// The types in the order written.
    pub types: &'a [Type],
    /// `.sat`.
    pub sat: bool,
    /// `.add`, `.min` or `.max`: the scalar secondary operation or the SIMD accumulation.
    pub secondary: Option<Secondary>,
    /// `.eq` and the like.
    pub comparison: Option<Comparison>,
    /// `.clamp` or `.wrap`.
    pub shift_mode: Option<ShiftMode>,
    /// `.shr7` or `.shr15`.
    pub scale: Option<Scale>,
    /// `.po`.
    pub plus_one: bool,
    /// Minus signs before a, b and c.
    pub minuses: [bool; 3],
    /// On d.
    pub dsel: Option<DestinationSelector>,
    /// On a.
    pub asel: Option<Selector>,
    /// On b.
    pub bsel: Option<Selector>,
}

impl Modifiers<'_> {
    /// The axes that are the same in scalar and SIMD forms and are asked for here.
    fn axes(&self) -> AxisSet {
        AxisSet::EMPTY
            .with(Axis::Sat, self.sat)
            .with(Axis::Comparison, self.comparison.is_some())
            .with(Axis::ShiftMode, self.shift_mode.is_some())
            .with(Axis::Scale, self.scale.is_some())
            .with(Axis::PlusOne, self.plus_one)
            .with(Axis::Negation, self.minuses != [false; 3])
    }
}

/// Why [`Form::new`] refuses.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum Violation {
    /// `expected` types are needed, and `found` are there.
    TypeCount {
        /// How many the instruction has.
        expected: usize,
        /// How many were given.
        found: usize,
    },
    /// The shift amount of `vshl` and `vshr` is `.u32`.
    SignedShiftAmount,
    /// The instruction has no such modifier.
    NotAllowed(Axis),
    /// The instruction must have a comparison, or a shift mode.
    Missing(Axis),
    /// SIMD forms have `.add` alone.
    SimdSecondary(Secondary),
    /// `.sat` with `.add` in a SIMD form.
    SaturatedAccumulate,
    /// A selector on d with a secondary operation.
    MergeWithSecondary,
    /// A selector that this instruction's a (`false`) or b (`true`) cannot have.
    SourceSelector {
        /// Whether it stands on b.
        second: bool,
    },
    /// A selector or mask that this instruction's d cannot have.
    DestinationSelector,
    /// The product and c are both negated.
    NegatedProductAndC,
    /// `.po` with a negated product or c.
    PlusOneNegation,
}

impl Form {
    /// Judges what a text asks for: the form, or everything that is wrong with it.
    pub fn new(mnemonic: Mnemonic, wanted: &Modifiers<'_>) -> Result<Form, Vec<Violation>> {
        let mut wrong = Vec::new();
        let shape = mnemonic.shape();

        let (dtype, atype, btype) = match *wanted.types {
            [d, a, b] if mnemonic.allows(Axis::Dtype) => (d, a, b),
            [a, b] if !mnemonic.allows(Axis::Dtype) => (Type::U32, a, b),
            _ => {
                wrong.push(Violation::TypeCount { expected: mnemonic.types(), found: wanted.types.len() });
                (Type::U32, Type::U32, Type::U32)
            }
        };
        if btype.is_signed() && !mnemonic.allows(Axis::Btype) {
            wrong.push(Violation::SignedShiftAmount);
        }
        let given = wanted.axes();
        let (strange, missing) =
            (given.without(mnemonic.axes()), mnemonic.axes().and(AxisSet::REQUIRED).without(given));
        if !strange.is_empty() {
            wrong.extend(strange.iter().map(Violation::NotAllowed));
        }
        if !missing.is_empty() {
            wrong.extend(missing.iter().map(Violation::Missing));
        }

        let finish = finish(mnemonic, wanted, &mut wrong);
        let mad = if mnemonic.allows(Axis::Negation) { mad_mode(wanted, &mut wrong) } else { MadMode::Plain };
        let variant = match (wanted.comparison, wanted.shift_mode) {
            (Some(comparison), _) if mnemonic.allows(Axis::Comparison) => Variant::Comparison(comparison),
            (_, Some(mode)) if mnemonic.allows(Axis::ShiftMode) => Variant::Shift(mode),
            _ if mnemonic.allows(Axis::Scale) => Variant::Mad(mad, wanted.scale),
            _ => Variant::None,
        };
        let asel = source_selector(shape, wanted.asel, false, &mut wrong);
        let bsel = source_selector(shape, wanted.bsel, true, &mut wrong);

        if wrong.is_empty() {
            Ok(Form { mnemonic, dtype, atype, btype, sat: wanted.sat, variant, finish, asel, bsel })
        } else {
            Err(wrong)
        }
    }

    /// The mnemonic.
    pub const fn mnemonic(self) -> Mnemonic {
        self.mnemonic
    }

    /// The type of the result; `None` for `vset`, `vset2` and `vset4`, whose result is unsigned.
    pub const fn dtype(self) -> Option<Type> {
        if self.mnemonic.allows(Axis::Dtype) { Some(self.dtype) } else { None }
    }

    /// How a is read.
    pub const fn atype(self) -> Type {
        self.atype
    }

    /// How b is read.
    pub const fn btype(self) -> Type {
        self.btype
    }

    /// Whether the result saturates.
    pub const fn sat(self) -> bool {
        self.sat
    }

    /// The form without `.sat`, which no form must have.
    #[must_use]
    pub const fn without_sat(self) -> Form {
        Form { sat: false, ..self }
    }

    /// The form with default selectors on a and b: those of a text that writes none.
    #[must_use]
    pub const fn with_default_selectors(self) -> Form {
        let shape = self.mnemonic.shape();
        let [asel, bsel] = [Selector::default_for(shape, false).pack(), Selector::default_for(shape, true).pack()];
        Form { asel, bsel, ..self }
    }

    /// What only some operations have.
    pub const fn variant(self) -> Variant {
        self.variant
    }

    /// What becomes of the intermediate result.
    pub const fn finish(self) -> Finish {
        self.finish
    }

    /// The part of a, or for each lane the part of a and b, that the first input takes.
    pub const fn asel(self) -> Selector {
        Selector::unpack(self.asel, self.mnemonic.shape())
    }

    /// The part of b, or for each lane the part of a and b, that the second input takes.
    pub const fn bsel(self) -> Selector {
        Selector::unpack(self.bsel, self.mnemonic.shape())
    }

    pub(crate) const fn packed_asel(self) -> u16 {
        self.asel
    }

    pub(crate) const fn packed_bsel(self) -> u16 {
        self.bsel
    }

    /// Whether the result, and c with it, is signed: as dtype says. The result of `vmad` is signed if a or b is signed or if it
    /// negates something, whatever its dtype. `vset`, `vset2` and `vset4` have no dtype and are unsigned.
    pub fn is_signed(self) -> bool {
        match self.variant() {
            Variant::Mad(mode, _) => {
                self.atype().is_signed() || self.btype().is_signed() || mode.negates_product() || mode.negates_c()
            }
            _ => self.dtype().is_some_and(Type::is_signed),
        }
    }

    /// Whether it is a form of `vshl` or `vshr`.
    #[inline]
    pub(crate) const fn shifts(self) -> bool {
        matches!(self.mnemonic.operation(), Operation::Shl | Operation::Shr)
    }

    /// The SIMD mask; `None` for scalar forms.
    pub const fn mask(self) -> Option<Mask> {
        match self.finish {
            Finish::Lanes(mask) | Finish::Accumulate(mask) => Some(mask),
            _ => None,
        }
    }

    /// The comparison of `vset`, `vset2` and `vset4`.
    pub const fn comparison(self) -> Option<Comparison> {
        match self.variant {
            Variant::Comparison(comparison) => Some(comparison),
            _ => None,
        }
    }

    /// Whether the instruction has an operand c that counts. The only forms without are the plain scalar ones; a
    /// fourth operand written on one of those is legal and ignored.
    pub const fn uses_c(self) -> bool {
        !matches!(self.finish, Finish::Plain) || matches!(self.variant, Variant::Mad(..))
    }

    /// Whether d depends on c: c is a summand or a bound, or some of its bits are kept. A SIMD form that writes all its lanes
    /// [has](Form::uses_c) an operand c, and d does not depend on it.
    pub fn reads_c(self) -> bool {
        self.uses_c() && self.finish() != Finish::Lanes(Mask::full(self.mnemonic().shape()))
    }

    /// Prints the instruction with these operands in place of `d`, `a`, `b` and `c`.
    pub(crate) fn print(self, f: &mut fmt::Formatter<'_>, [d, a, b, c]: [&dyn Display; 4]) -> fmt::Result {
        self.print_opcode(f)?;
        let [minus_a, minus_b, minus_c] = match self.variant {
            Variant::Mad(mode, _) => mode.minuses(),
            _ => [false; 3],
        }
        .map(|minus| if minus { "-" } else { "" });
        let shape = self.mnemonic.shape();
        // Written piece by piece: `write!` would cost as much again as reading the instruction did.
        f.write_str(" ")?;
        d.fmt(f)?;
        match self.finish {
            Finish::Merge(part) => part.fmt(f)?,
            Finish::Lanes(mask) | Finish::Accumulate(mask) if mask != Mask::full(shape) => {
                write!(f, ".{}", shape.letter())?;
                for i in (0..shape.lanes()).rev().filter(|&i| mask.has(i)) {
                    write!(f, "{i}")?;
                }
            }
            _ => {}
        }
        for (minus, operand, selector, second) in [(minus_a, a, self.asel(), false), (minus_b, b, self.bsel(), true)] {
            f.write_str(", ")?;
            f.write_str(minus)?;
            operand.fmt(f)?;
            if selector != Selector::default_for(shape, second) {
                selector.fmt(f)?;
            }
        }
        if self.uses_c() {
            f.write_str(", ")?;
            f.write_str(minus_c)?;
            c.fmt(f)?;
        }
        Ok(())
    }

    /// Prints mnemonic and modifiers alone, in the manual's order.
    fn print_opcode(self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.mnemonic.name())?;
        if let Some(dtype) = self.dtype() {
            dtype.fmt(f)?;
        }
        self.atype.fmt(f)?;
        self.btype.fmt(f)?;
        if let Variant::Mad(MadMode::PlusOne, _) = self.variant {
            write!(f, ".{PLUS_ONE}")?;
        }
        if self.sat {
            write!(f, ".{SAT}")?;
        }
        match self.variant {
            Variant::Comparison(comparison) => comparison.fmt(f)?,
            Variant::Shift(mode) => mode.fmt(f)?,
            Variant::Mad(_, Some(scale)) => scale.fmt(f)?,
            Variant::Mad(_, None) | Variant::None => {}
        }
        match self.finish {
            Finish::Secondary(secondary) => secondary.fmt(f),
            Finish::Accumulate(_) => Secondary::Add.fmt(f),
            Finish::Plain | Finish::Merge(_) | Finish::Lanes(_) => Ok(()),
        }
    }

    /// Mnemonic and modifiers alone: `vadd4.s32.s32.s32.sat`.
    pub fn opcode(self) -> impl Display {
        struct Opcode(Form);
        impl Display for Opcode {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                self.0.print_opcode(f)
            }
        }
        Opcode(self)
    }
}

/// A source's selector, packed.
#[inline]
fn source_selector(shape: Shape, wanted: Option<Selector>, second: bool, wrong: &mut Vec<Violation>) -> u16 {
    let Some(selector) = wanted else {
        return Selector::default_for(shape, second).pack();
    };
    let fits = match selector {
        Selector::Word | Selector::Part(_) => shape == Shape::Scalar,
        Selector::Halves(lanes) => shape == Shape::Halves && lanes.iter().all(|&lane| lane < 4),
        Selector::Bytes(lanes) => shape == Shape::Bytes && lanes.iter().all(|&lane| lane < 8),
    };
    if !fits {
        wrong.push(Violation::SourceSelector { second });
    }
    selector.pack()
}

fn finish(mnemonic: Mnemonic, wanted: &Modifiers<'_>, wrong: &mut Vec<Violation>) -> Finish {
    let shape = mnemonic.shape();
    if shape.is_simd() {
        let mask = match wanted.dsel {
            None => Mask::full(shape),
            // A mask made for another shape may name lanes that this one lacks, or look right and not be.
            Some(DestinationSelector::Mask(mask)) if Mask::new(mask.bits(), shape).is_some() => mask,
            Some(_) => {
                wrong.push(Violation::DestinationSelector);
                Mask::full(shape)
            }
        };
        match wanted.secondary {
            None => return Finish::Lanes(mask),
            Some(Secondary::Add) if wanted.sat && mnemonic.allows(Axis::Sat) => {
                wrong.push(Violation::SaturatedAccumulate)
            }
            Some(Secondary::Add) => {}
            Some(other) => wrong.push(Violation::SimdSecondary(other)),
        }
        return Finish::Accumulate(mask);
    }
    if wanted.secondary.is_some() && !mnemonic.allows(Axis::Secondary) {
        wrong.push(Violation::NotAllowed(Axis::Secondary));
    }
    match (wanted.dsel, wanted.secondary) {
        (None, None) => Finish::Plain,
        (None, Some(secondary)) => Finish::Secondary(secondary),
        (Some(DestinationSelector::Part(part)), secondary) if mnemonic.allows(Axis::Merge) => {
            if secondary.is_some() {
                wrong.push(Violation::MergeWithSecondary);
            }
            Finish::Merge(part)
        }
        (Some(_), _) => {
            wrong.push(Violation::DestinationSelector);
            Finish::Plain
        }
    }
}

fn mad_mode(wanted: &Modifiers<'_>, wrong: &mut Vec<Violation>) -> MadMode {
    let [a, b, c] = wanted.minuses;
    if (a ^ b) && c {
        wrong.push(Violation::NegatedProductAndC);
    }
    if wanted.plus_one {
        if (a ^ b) || c {
            wrong.push(Violation::PlusOneNegation);
        }
        // Two minuses cancel: ptxas takes them although the manual's syntax has none with `.po`.
        return MadMode::PlusOne;
    }
    match (a, b, c) {
        (false, false, false) => MadMode::Plain,
        (true, false, _) => MadMode::NegateA,
        (false, true, _) => MadMode::NegateB,
        (true, true, false) => MadMode::NegateAB,
        (false, false, true) => MadMode::NegateC,
        (true, true, true) => MadMode::NegateABC,
    }
}

/// The canonical text, with operands named `d`, `a`, `b` and, where the form uses it, `c`.
impl Display for Form {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.print(f, [&"d", &"a", &"b", &"c"])
    }
}
