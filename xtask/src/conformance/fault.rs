//! Faults that an evaluator may have, one list for each mnemonic.
//!
//! A fault is one thing that is done otherwise than the manual says. A fault in one mnemonic is a *mutant*: emulators have a
//! function for each mnemonic, so that a slip is in one of them and not in the others.

use vop::isa::table::Axis;
use vop::isa::types::{Comparison, Operation, Part, Secondary, Selector, Shape};
use vop::{Deviation, Mnemonic};

/// The first or the second source operand.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Source {
    /// a
    A,
    /// b
    B,
}

impl Source {
    /// Both.
    pub const BOTH: [Source; 2] = [Source::A, Source::B];

    /// The other one.
    pub fn other(self) -> Source {
        if self == Source::A { Source::B } else { Source::A }
    }
}

/// How a shorter integer is read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Sign {
    /// As an unsigned number.
    Unsigned,
    /// As a signed number.
    Signed,
}

impl Sign {
    const BOTH: [Sign; 2] = [Sign::Unsigned, Sign::Signed];
}

/// The stage of the manual's pseudo code that a fault is in.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Stage {
    /// Which bits are read.
    Select,
    /// How they are read: sign- or zero-extended.
    Extend,
    /// The operation itself.
    Operate,
    /// `.sat`.
    Saturate,
    /// The secondary operation of scalar forms.
    Secondary,
    /// What becomes of the rest of d in scalar forms.
    Merge,
    /// The lanes of d that SIMD forms write.
    Mask,
    /// `.add` of SIMD forms.
    Accumulate,
}

/// Something that an evaluator does wrong. `{:?}` is its name.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[expect(missing_docs, reason = "the evaluator says at the place of each what it does")]
pub enum Fault {
    // Select.
    ExchangesAAndB,
    SelectorOfOther(Source),
    RegisterOfOther(Source),
    ReadsPart(Source, Selector, Selector),
    ReadsDigit(Source, u8, u8),
    ReadsLane(Source, usize, usize),
    ReversesDigits(Source),
    DefaultOfOther(Source),
    // Extend.
    ExtendsAs(Source, Sign),
    ExtendsByType(Source, TypeOf),
    TurnsSign(Source),
    TurnsSignOf(Source, u32),
    TurnsSignInLane(Source, usize),
    // Operate.
    Computes(Operation),
    SubtractsReversed,
    Cuts(u32, Sign),
    AbsoluteOfCut(u32),
    ComparesAs(Sign),
    AverageFloor,
    AverageCeiling,
    AverageToZero,
    AverageWithoutOne,
    ShiftModeExchanged,
    ClampsShiftAt(u32),
    WrapsShiftAt(u32),
    LargeShiftGivesZero,
    KeepsAmountBits(u32),
    ShiftsOneMore,
    ShiftsArithmetically,
    ShiftsLogically,
    Holds(Comparison, Comparison),
    TrueIsAllOnes,
    NegatesOutcome,
    ProductKeepsSign,
    ProductNegatedBy(Source),
    NegatesProductAlways,
    CutsProduct(Sign),
    KeepsSignOfC,
    AddsNegatedC,
    PlusOneMissing,
    PlusOneTwice,
    ComplementsProduct,
    ComplementsC,
    AddendAs(Sign),
    AddendByType(TypeOf),
    ScaleMissing,
    ScalesExchanged,
    ScalesBy(i32),
    ScalesBeforeC,
    ScalesToZero,
    ScalesToNearest,
    ScalesUnsigned,
    // Saturate.
    NeverSaturates,
    AlwaysSaturates,
    UpperEndMoved(i32),
    LowerEndMoved(i32),
    NoUpperEnd,
    NoLowerEnd,
    RangeSignTurned,
    RangeByType(TypeOf),
    RangeOfWord,
    RangeOfBits(u32, u32),
    EndsExchanged,
    SaturatesUnsigned,
    SaturatesAfterSecondary,
    LaneNotSaturated(usize),
    // Secondary.
    SecondaryMissing,
    SecondaryIs(Secondary, Secondary),
    TakesForC(Source),
    ReadsCAs(Sign),
    ReadsCByType(TypeOf),
    CutsBeforeSecondary(Sign),
    ComparesCUnsigned,
    SecondarySaturates(Sign),
    SubtractsC,
    // Merge.
    MergeMissing,
    RestIsZero,
    RestIsSign,
    RestOf(Source),
    MergesAt(Part, Part),
    MergesUpperHalf,
    MergesByOr,
    MergesBits(u32, u32),
    // Mask.
    MaskIgnored,
    MaskComplemented,
    MaskReversed,
    LaneNever(usize),
    LaneAlways(usize),
    LanesRestZero,
    LanesRestOf(Source),
    LanesSaturateInstead,
    // Accumulate.
    AccumulatesNothing,
    CMissing,
    CutsLanes(Sign),
    AccumulatesLanewise,
    AccumulatesAll,
    AccumulatesNever(usize),
    AccumulatesAlways(usize),
    AccumulatesSaturated(Sign),
    AccumulatesNegated,
}

/// Whose type decides a sign, wrongly.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum TypeOf {
    /// The type of d.
    D,
    /// The type of a source operand.
    Source(Source),
}

impl Fault {
    /// The stage that it is in.
    pub fn stage(self) -> Stage {
        use Fault::*;
        match self {
            ExchangesAAndB | SelectorOfOther(_) | RegisterOfOther(_) | ReadsPart(..) | ReadsDigit(..)
            | ReadsLane(..) | ReversesDigits(_) | DefaultOfOther(_) => Stage::Select,
            ExtendsAs(..) | ExtendsByType(..) | TurnsSign(_) | TurnsSignOf(..) | TurnsSignInLane(..) => Stage::Extend,
            NeverSaturates
            | AlwaysSaturates
            | UpperEndMoved(_)
            | LowerEndMoved(_)
            | NoUpperEnd
            | NoLowerEnd
            | RangeSignTurned
            | RangeByType(_)
            | RangeOfWord
            | RangeOfBits(..)
            | EndsExchanged
            | SaturatesUnsigned
            | SaturatesAfterSecondary
            | LaneNotSaturated(_) => Stage::Saturate,
            SecondaryMissing
            | SecondaryIs(..)
            | TakesForC(_)
            | ReadsCAs(_)
            | ReadsCByType(_)
            | CutsBeforeSecondary(_)
            | ComparesCUnsigned
            | SecondarySaturates(_)
            | SubtractsC => Stage::Secondary,
            MergeMissing | RestIsZero | RestIsSign | RestOf(_) | MergesAt(..) | MergesUpperHalf | MergesByOr
            | MergesBits(..) => Stage::Merge,
            MaskIgnored | MaskComplemented | MaskReversed | LaneNever(_) | LaneAlways(_) | LanesRestZero
            | LanesRestOf(_) | LanesSaturateInstead => Stage::Mask,
            AccumulatesNothing
            | CMissing
            | CutsLanes(_)
            | AccumulatesLanewise
            | AccumulatesAll
            | AccumulatesNever(_)
            | AccumulatesAlways(_)
            | AccumulatesSaturated(_)
            | AccumulatesNegated => Stage::Accumulate,
            _ => Stage::Operate,
        }
    }
}

/// The faults that an evaluator of a mnemonic may have.
pub fn faults(mnemonic: Mnemonic) -> Vec<Fault> {
    let mut all = Vec::new();
    select(mnemonic, &mut all);
    extend(mnemonic, &mut all);
    operate(mnemonic, &mut all);
    if mnemonic.allows(Axis::Sat) {
        saturate(mnemonic, &mut all);
    }
    if mnemonic.allows(Axis::Secondary) {
        secondary(mnemonic, &mut all);
    }
    if mnemonic.allows(Axis::Merge) {
        merge(&mut all);
    }
    if mnemonic.allows(Axis::Mask) {
        mask(mnemonic.shape(), &mut all);
        accumulate(mnemonic.shape(), &mut all);
    }
    all
}

fn select(mnemonic: Mnemonic, all: &mut Vec<Fault>) {
    let shape = mnemonic.shape();
    all.push(Fault::ExchangesAAndB);
    for source in Source::BOTH {
        all.push(Fault::SelectorOfOther(source));
        match shape {
            Shape::Scalar => {
                all.push(Fault::RegisterOfOther(source));
                let parts: Vec<Selector> =
                    std::iter::once(Selector::Word).chain(Part::ALL.iter().map(|&part| Selector::Part(part))).collect();
                for &from in &parts {
                    let others = parts.iter().filter(|&&to| to != from);
                    all.extend(others.map(|&to| Fault::ReadsPart(source, from, to)));
                }
            }
            Shape::Halves | Shape::Bytes => {
                let digits = 2 * shape.lanes() as u8;
                all.extend([Fault::ReversesDigits(source), Fault::DefaultOfOther(source)]);
                for from in 0..digits {
                    // Another lane, and the same lane of the other register.
                    let others = [1, 2, 4].map(|bit| from ^ bit).into_iter().filter(|&to| to < digits);
                    all.extend(others.map(|to| Fault::ReadsDigit(source, from, to)));
                }
                for lane in 0..shape.lanes() {
                    let others = (0..shape.lanes()).filter(|&other| other != lane);
                    all.extend(others.map(|other| Fault::ReadsLane(source, lane, other)));
                }
            }
        }
    }
}

fn extend(mnemonic: Mnemonic, all: &mut Vec<Fault>) {
    let shape = mnemonic.shape();
    for source in Source::BOTH {
        // The amount of a shift has one type.
        let is_fixed = source == Source::B && !mnemonic.allows(Axis::Btype);
        all.push(Fault::ExtendsAs(source, Sign::Signed));
        if is_fixed {
            all.push(Fault::ExtendsByType(source, TypeOf::Source(Source::A)));
        } else {
            all.push(Fault::ExtendsAs(source, Sign::Unsigned));
            all.push(Fault::TurnsSign(source));
            if mnemonic.allows(Axis::Btype) {
                all.push(Fault::ExtendsByType(source, TypeOf::Source(source.other())));
            }
            if mnemonic.allows(Axis::Dtype) {
                all.push(Fault::ExtendsByType(source, TypeOf::D));
            }
            match shape {
                Shape::Scalar => all.extend([8, 16, 32].map(|bits| Fault::TurnsSignOf(source, bits))),
                _ => all.extend((0..shape.lanes()).map(|lane| Fault::TurnsSignInLane(source, lane))),
            }
        }
    }
}

fn operate(mnemonic: Mnemonic, all: &mut Vec<Fault>) {
    use Operation::{Absdiff, Add, Avrg, Mad, Max, Min, Set, Shl, Shr, Sub};
    let operation = mnemonic.operation();
    let bits = mnemonic.shape().bits();
    match operation {
        Shl => all.push(Fault::Computes(Shr)),
        Shr => all.push(Fault::Computes(Shl)),
        Mad | Set => {}
        _ => {
            let others = [Add, Sub, Absdiff, Min, Max, Avrg].into_iter().filter(|&other| other != operation);
            all.extend(others.map(Fault::Computes));
        }
    }
    // The exact value in a register that is too small.
    match operation {
        Set => {}
        Mad | Shl => {
            for bits in [32, 33, 64] {
                all.extend(Sign::BOTH.map(|sign| Fault::Cuts(bits, sign)));
            }
        }
        _ => all.extend(Sign::BOTH.map(|sign| Fault::Cuts(bits, sign))),
    }
    match operation {
        Sub => all.push(Fault::SubtractsReversed),
        Absdiff => {
            all.extend([Fault::AbsoluteOfCut(bits), Fault::ComparesAs(Sign::Unsigned), Fault::ComparesAs(Sign::Signed)])
        }
        Min | Max => all.extend(Sign::BOTH.map(Fault::ComparesAs)),
        Avrg => {
            all.extend([Fault::AverageFloor, Fault::AverageCeiling, Fault::AverageToZero, Fault::AverageWithoutOne])
        }
        Shl | Shr => {
            all.extend([Fault::ShiftModeExchanged, Fault::LargeShiftGivesZero, Fault::ShiftsOneMore]);
            all.extend([30, 31, 33].map(Fault::ClampsShiftAt));
            all.extend([15, 30, 63].map(Fault::WrapsShiftAt));
            all.extend([5, 6, 8, 16].map(Fault::KeepsAmountBits));
            if operation == Shr {
                all.extend([Fault::ShiftsArithmetically, Fault::ShiftsLogically]);
            }
        }
        Set => {
            for &from in Comparison::ALL {
                let others = Comparison::ALL.iter().filter(|&&to| to != from);
                all.extend(others.map(|&to| Fault::Holds(from, to)));
            }
            all.extend(Sign::BOTH.map(Fault::ComparesAs));
            all.extend([Fault::TrueIsAllOnes, Fault::NegatesOutcome]);
        }
        Mad => {
            all.extend([
                Fault::ProductKeepsSign,
                Fault::NegatesProductAlways,
                Fault::KeepsSignOfC,
                Fault::AddsNegatedC,
            ]);
            all.extend(Source::BOTH.map(Fault::ProductNegatedBy));
            all.extend(Sign::BOTH.map(Fault::CutsProduct));
            all.extend(Sign::BOTH.map(Fault::AddendAs));
            all.extend([Fault::PlusOneMissing, Fault::PlusOneTwice, Fault::ComplementsProduct, Fault::ComplementsC]);
            all.extend([TypeOf::D, TypeOf::Source(Source::A), TypeOf::Source(Source::B)].map(Fault::AddendByType));
            all.extend([Fault::ScaleMissing, Fault::ScalesExchanged, Fault::ScalesBy(-1), Fault::ScalesBy(1)]);
            all.extend([Fault::ScalesBeforeC, Fault::ScalesToZero, Fault::ScalesToNearest, Fault::ScalesUnsigned]);
        }
        Add => {}
    }
}

fn saturate(mnemonic: Mnemonic, all: &mut Vec<Fault>) {
    all.extend([Fault::NeverSaturates, Fault::AlwaysSaturates, Fault::NoUpperEnd, Fault::NoLowerEnd]);
    all.extend([-1, 1].map(Fault::UpperEndMoved));
    all.extend([-1, 1].map(Fault::LowerEndMoved));
    all.extend([Fault::RangeSignTurned, Fault::EndsExchanged, Fault::SaturatesUnsigned]);
    all.extend(Source::BOTH.map(|source| Fault::RangeByType(TypeOf::Source(source))));
    let shape = mnemonic.shape();
    if shape.is_simd() {
        all.extend((0..shape.lanes()).map(Fault::LaneNotSaturated));
    }
    if mnemonic.operation() == Operation::Mad {
        all.push(Fault::RangeByType(TypeOf::D));
    }
    if mnemonic.allows(Axis::Merge) {
        all.extend([
            Fault::RangeOfWord,
            Fault::RangeOfBits(8, 16),
            Fault::RangeOfBits(16, 8),
            Fault::RangeOfBits(32, 16),
        ]);
    }
    if mnemonic.allows(Axis::Secondary) {
        all.push(Fault::SaturatesAfterSecondary);
    }
}

fn secondary(mnemonic: Mnemonic, all: &mut Vec<Fault>) {
    all.extend([Fault::SecondaryMissing, Fault::ComparesCUnsigned, Fault::SubtractsC]);
    for &from in Secondary::ALL {
        let others = Secondary::ALL.iter().filter(|&&to| to != from);
        all.extend(others.map(|&to| Fault::SecondaryIs(from, to)));
    }
    all.extend(Source::BOTH.map(Fault::TakesForC));
    all.extend(Sign::BOTH.map(Fault::ReadsCAs));
    all.extend(Source::BOTH.map(|source| Fault::ReadsCByType(TypeOf::Source(source))));
    all.extend(Sign::BOTH.map(Fault::CutsBeforeSecondary));
    all.extend(Sign::BOTH.map(Fault::SecondarySaturates));
    if !mnemonic.allows(Axis::Dtype) {
        // Its result is unsigned, and so is c; signed is the only other way.
        all.retain(|&fault| fault != Fault::ReadsCAs(Sign::Unsigned));
    }
}

fn merge(all: &mut Vec<Fault>) {
    all.extend([Fault::MergeMissing, Fault::RestIsZero, Fault::RestIsSign, Fault::MergesUpperHalf, Fault::MergesByOr]);
    all.extend(Source::BOTH.map(Fault::RestOf));
    all.extend([Fault::MergesBits(8, 16), Fault::MergesBits(16, 8)]);
    for &from in Part::ALL {
        let others = Part::ALL.iter().filter(|&&to| to != from);
        all.extend(others.map(|&to| Fault::MergesAt(from, to)));
    }
}

fn mask(shape: Shape, all: &mut Vec<Fault>) {
    all.extend([Fault::MaskIgnored, Fault::MaskComplemented, Fault::MaskReversed, Fault::LanesRestZero]);
    all.extend(Source::BOTH.map(Fault::LanesRestOf));
    for lane in 0..shape.lanes() {
        all.extend([Fault::LaneNever(lane), Fault::LaneAlways(lane)]);
    }
    all.push(Fault::LanesSaturateInstead);
}

fn accumulate(shape: Shape, all: &mut Vec<Fault>) {
    all.extend([Fault::AccumulatesNothing, Fault::CMissing, Fault::AccumulatesLanewise, Fault::AccumulatesAll]);
    all.extend(Sign::BOTH.map(Fault::CutsLanes));
    all.extend(Sign::BOTH.map(Fault::AccumulatesSaturated));
    all.push(Fault::AccumulatesNegated);
    for lane in 0..shape.lanes() {
        all.extend([Fault::AccumulatesNever(lane), Fault::AccumulatesAlways(lane)]);
    }
}

/// Why no input can tell a mutant from the right evaluator; `None` if one can, or if nobody has shown that none can.
pub fn equivalent(mnemonic: Mnemonic, fault: Fault) -> Option<&'static str> {
    use Operation::{Absdiff, Set, Shl, Shr};
    Some(match (mnemonic.operation(), fault) {
        (Absdiff, Fault::NoLowerEnd | Fault::LowerEndMoved(-1) | Fault::SaturatesUnsigned) => {
            "an absolute value is never less than 0, and so never at the lower end"
        }
        (Shl, Fault::ClampsShiftAt(33)) => {
            "the lower 32 bits of a shifted by 32 or by 33 are 0; unless a is 0, both values are outside of every range, and on the \
             same side of every c"
        }
        (Shr, Fault::ClampsShiftAt(33)) => "a has 32 bits: shifted by 32 or by 33, only its sign is left",
        (Set, Fault::ComparesCUnsigned) => "the result is 0 or 1, and c is unsigned",
        (Set, Fault::CutsBeforeSecondary(_) | Fault::CutsLanes(_) | Fault::LanesSaturateInstead) => {
            "the result is 0 or 1, which every size and every range holds"
        }
        _ => return None,
    })
}

/// Why a deviation of ptxas's code changes no result of a mnemonic.
pub fn without_effect(mnemonic: Mnemonic, deviation: Deviation) -> Option<&'static str> {
    use Operation::{Absdiff, Max, Min, Shr};
    Some(match (mnemonic.operation(), deviation) {
        (Absdiff, Deviation::SaturatesPartUnsigned | Deviation::ComparesUnsigned) => {
            "an absolute value is never negative"
        }
        (Min | Max, Deviation::SaturatesBySign) => {
            "the result is one of the inputs, none of which is greater than 0xffffffff"
        }
        (Shr, Deviation::KeepsLow34) => "a value of 32 bits and its sign, shifted right, has no more than 33 bits",
        _ => return None,
    })
}
