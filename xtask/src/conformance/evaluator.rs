//! An evaluator by the manual that can be given one [`Fault`], and that tells the values between its stages.
//!
//! It is written for the conformance suite and shares nothing with `Form::eval` except the form. Without a fault it must agree
//! with the transcription of the manual, which the tests check on all vectors.

use vop::Form;
use vop::isa::form::{Finish, MadMode, Variant};
use vop::isa::types::{Comparison, Mask, Operation, Part, Scale, Secondary, Selector, Shape, ShiftMode, Type};

use super::fault::{Fault, Sign, Source, TypeOf};

/// The values of one evaluation.
#[derive(Debug, Clone, Copy)]
pub struct Trace {
    /// How many lanes count: 1, 2 or 4.
    pub lanes: usize,
    /// a, b, the result and the saturated result of each lane, exact.
    pub a: [i128; 4],
    /// The second inputs.
    pub b: [i128; 4],
    /// What the operation gives.
    pub raw: [i128; 4],
    /// What saturation leaves.
    pub t: [i128; 4],
    /// The least and the greatest value that saturation leaves; none without `.sat`.
    pub range: Option<(i128, i128)>,
    /// c as a number, where it is one.
    pub c: i128,
    /// The result.
    pub d: u32,
}

/// d by an evaluator with a fault.
pub fn evaluate(form: Form, fault: Option<Fault>, inputs: [u32; 3]) -> u32 {
    trace(form, fault, inputs).d
}

/// All values of an evaluation.
pub fn trace(form: Form, fault: Option<Fault>, [mut a, mut b, c]: [u32; 3]) -> Trace {
    if fault == Some(Fault::ExchangesAAndB) {
        (a, b) = (b, a);
    }
    Evaluator { form, fault, a, b, c }.trace()
}

struct Evaluator {
    form: Form,
    fault: Option<Fault>,
    a: u32,
    b: u32,
    c: u32,
}

/// The lower bits of an integer.
pub(super) fn cut(value: i128, bits: u32, sign: Sign) -> i128 {
    let low = value & ((1 << bits) - 1);
    if sign == Sign::Signed && low >> (bits - 1) == 1 { low - (1 << bits) } else { low }
}

/// The least and the greatest integer of a size and sign.
pub(super) fn range(bits: u32, sign: Sign) -> (i128, i128) {
    match sign {
        Sign::Unsigned => (0, (1 << bits) - 1),
        Sign::Signed => (-(1 << (bits - 1)), (1 << (bits - 1)) - 1),
    }
}

fn sign_of(is_signed: bool) -> Sign {
    if is_signed { Sign::Signed } else { Sign::Unsigned }
}

impl Sign {
    fn turned(self) -> Sign {
        sign_of(self == Sign::Unsigned)
    }
}

impl Evaluator {
    fn has(&self, fault: Fault) -> bool {
        self.fault == Some(fault)
    }

    fn trace(&self) -> Trace {
        let shape = self.form.mnemonic().shape();
        let lanes = shape.lanes();
        let [mut a, mut b, mut raw, mut t] = [[0; 4]; 4];
        let range = self.range();
        for lane in 0..lanes {
            a[lane] = self.input(Source::A, lane);
            b[lane] = self.input(Source::B, lane);
            raw[lane] = self.operate(a[lane], b[lane]);
            t[lane] = match range {
                Some(_) if self.has(Fault::LaneNotSaturated(lane)) || self.has(Fault::SaturatesAfterSecondary) => {
                    raw[lane]
                }
                Some(range) => self.saturate(raw[lane], range),
                None => raw[lane],
            };
        }
        let (c, d) = match self.form.finish() {
            Finish::Plain => (self.c.into(), t[0]),
            Finish::Secondary(secondary) => self.secondary(secondary, t[0], range),
            Finish::Merge(part) => (self.c.into(), self.merge(part, t[0])),
            Finish::Lanes(mask) => (self.c.into(), self.lanes(mask, shape, t)),
            Finish::Accumulate(mask) => (self.c.into(), self.accumulate(mask, shape, t)),
        };
        let c = if self.form.mnemonic().operation() == Operation::Mad { self.addend() } else { c };
        Trace { lanes, a, b, raw, t, range, c, d: d as u32 }
    }

    // Select and extend.

    fn selector(&self, source: Source) -> Selector {
        let own = if source == Source::A { self.form.asel() } else { self.form.bsel() };
        match self.fault {
            Some(Fault::SelectorOfOther(wrong)) if wrong == source => {
                if source == Source::A {
                    self.form.bsel()
                } else {
                    self.form.asel()
                }
            }
            Some(Fault::ReadsPart(wrong, from, to)) if wrong == source && own == from => to,
            Some(Fault::DefaultOfOther(wrong)) if wrong == source => {
                let shape = self.form.mnemonic().shape();
                let default = |source| Selector::default_for(shape, source == Source::B);
                if own == default(source) { default(source.other()) } else { own }
            }
            _ => own,
        }
    }

    fn type_of(&self, source: Source) -> Sign {
        let ty = if source == Source::A { self.form.atype() } else { self.form.btype() };
        sign_of(ty.is_signed())
    }

    fn sign_of_result(&self) -> Sign {
        sign_of(self.form.dtype().is_some_and(Type::is_signed))
    }

    fn by_type(&self, of: TypeOf) -> Sign {
        match of {
            TypeOf::D => self.sign_of_result(),
            TypeOf::Source(source) => self.type_of(source),
        }
    }

    /// How a source is extended, where its part has these bits.
    fn sign(&self, source: Source, lane: usize, bits: u32) -> Sign {
        let own = self.type_of(source);
        match self.fault {
            Some(Fault::ExtendsAs(wrong, sign)) if wrong == source => sign,
            Some(Fault::ExtendsByType(wrong, of)) if wrong == source => self.by_type(of),
            Some(Fault::TurnsSign(wrong)) if wrong == source => own.turned(),
            Some(Fault::TurnsSignOf(wrong, of)) if wrong == source && of == bits => own.turned(),
            Some(Fault::TurnsSignInLane(wrong, of)) if wrong == source && of == lane => own.turned(),
            _ => own,
        }
    }

    fn input(&self, source: Source, lane: usize) -> i128 {
        let (word, shift, bits) = match self.selector(source) {
            Selector::Word => (self.register(source), 0, 32),
            Selector::Part(part) => (self.register(source), part.shift(), part.bits()),
            Selector::Halves(digits) => self.lane(source, &digits, lane, 16),
            Selector::Bytes(digits) => self.lane(source, &digits, lane, 8),
        };
        cut(i128::from(word) >> shift, bits, self.sign(source, lane, bits))
    }

    /// The register of a scalar source.
    fn register(&self, source: Source) -> u32 {
        let other = matches!(self.fault, Some(Fault::RegisterOfOther(wrong)) if wrong == source);
        if (source == Source::A) != other { self.a } else { self.b }
    }

    /// The word, position and width of a SIMD source's lane.
    fn lane(&self, source: Source, digits: &[u8], lane: usize, bits: u32) -> (u32, u32, u32) {
        let lanes = digits.len();
        let lane = match self.fault {
            Some(Fault::ReadsLane(wrong, of, other)) if wrong == source && of == lane => other,
            Some(Fault::ReversesDigits(wrong)) if wrong == source => lanes - 1 - lane,
            _ => lane,
        };
        let digit = match self.fault {
            Some(Fault::ReadsDigit(wrong, from, to)) if wrong == source && digits[lane] == from => to,
            _ => digits[lane],
        };
        let word = if usize::from(digit) < lanes { self.a } else { self.b };
        (word, (u32::from(digit) % lanes as u32) * bits, bits)
    }

    // Operate.

    fn operate(&self, a: i128, b: i128) -> i128 {
        use Operation::{Absdiff, Add, Avrg, Mad, Max, Min, Set, Shl, Shr, Sub};
        let bits = self.form.mnemonic().shape().bits();
        let operation = match self.fault {
            Some(Fault::Computes(other)) => other,
            _ => self.form.mnemonic().operation(),
        };
        // As a comparison with the wrong sign sees them.
        let [seen_a, seen_b] = match self.fault {
            Some(Fault::ComparesAs(sign)) => [a, b].map(|x| cut(x, bits, sign)),
            _ => [a, b],
        };
        let t = match operation {
            Add => a + b,
            Sub if self.has(Fault::SubtractsReversed) => b - a,
            Sub => a - b,
            Absdiff => match self.fault {
                Some(Fault::AbsoluteOfCut(bits)) => cut(a - b, bits, Sign::Signed).abs(),
                _ => (seen_a - seen_b).abs(),
            },
            Min => {
                if seen_a <= seen_b {
                    a
                } else {
                    b
                }
            }
            Max => {
                if seen_a >= seen_b {
                    a
                } else {
                    b
                }
            }
            Avrg => self.average(a + b),
            Shl => a << self.amount(b),
            Shr => self.shift_right(a, b),
            Set => self.set(seen_a, seen_b),
            Mad => self.mad(a, b),
        };
        let t = match self.fault {
            Some(Fault::LargeShiftGivesZero) if self.amount(b) >= 32 => 0,
            _ => t,
        };
        match self.fault {
            Some(Fault::Cuts(bits, sign)) => cut(t, bits, sign),
            _ => t,
        }
    }

    /// Half of a sum, rounded to the nearest integer, and halves away from zero.
    fn average(&self, sum: i128) -> i128 {
        match self.fault {
            Some(Fault::AverageFloor) => sum >> 1,
            Some(Fault::AverageCeiling) => (sum + 1) >> 1,
            Some(Fault::AverageToZero) => sum / 2,
            Some(Fault::AverageWithoutOne) if sum >= 0 => sum >> 1,
            _ if sum >= 0 => (sum + 1) >> 1,
            _ => sum >> 1,
        }
    }

    fn amount(&self, b: i128) -> u32 {
        let mut wraps = self.form.variant() == Variant::Shift(ShiftMode::Wrap);
        if self.has(Fault::ShiftModeExchanged) {
            wraps = !wraps;
        }
        let b = match self.fault {
            Some(Fault::KeepsAmountBits(bits)) => cut(b, bits, Sign::Unsigned),
            Some(Fault::ShiftsOneMore) => b + 1,
            _ => b,
        };
        let amount = match self.fault {
            Some(Fault::WrapsShiftAt(mask)) if wraps => b & i128::from(mask),
            Some(Fault::ClampsShiftAt(most)) if !wraps => b.clamp(0, most.into()),
            _ if wraps => b & 31,
            _ => b.clamp(0, 32),
        };
        // 63 at most: a value of 33 bits, shifted left, still fits.
        amount as u32
    }

    fn shift_right(&self, a: i128, b: i128) -> i128 {
        let a = match self.fault {
            Some(Fault::ShiftsArithmetically) => cut(a, 32, Sign::Signed),
            Some(Fault::ShiftsLogically) => cut(a, 32, Sign::Unsigned),
            _ => a,
        };
        a >> self.amount(b)
    }

    fn set(&self, a: i128, b: i128) -> i128 {
        let Variant::Comparison(own) = self.form.variant() else { return 0 };
        let comparison = match self.fault {
            Some(Fault::Holds(from, to)) if from == own => to,
            _ => own,
        };
        let holds = match comparison {
            Comparison::Eq => a == b,
            Comparison::Ne => a != b,
            Comparison::Lt => a < b,
            Comparison::Le => a <= b,
            Comparison::Gt => a > b,
            Comparison::Ge => a >= b,
        };
        match (self.fault, holds) {
            (Some(Fault::TrueIsAllOnes), true) => -1,
            (Some(Fault::NegatesOutcome), _) => (!holds).into(),
            _ => holds.into(),
        }
    }

    fn mad_mode(&self) -> (MadMode, Option<Scale>) {
        match self.form.variant() {
            Variant::Mad(mode, scale) => (mode, scale),
            _ => (MadMode::Plain, None),
        }
    }

    /// Whether the result of `vmad` is signed.
    fn mad_sign(&self) -> Sign {
        let (mode, _) = self.mad_mode();
        let types = [Source::A, Source::B].map(|source| self.type_of(source) == Sign::Signed);
        sign_of(types[0] || types[1] || mode.negates_product() || mode.negates_c())
    }

    /// c of `vmad`, as it is added: with its own sign.
    fn addend(&self) -> i128 {
        let (mode, _) = self.mad_mode();
        let own = self.mad_sign();
        let sign = match self.fault {
            Some(Fault::AddendAs(sign)) => sign,
            Some(Fault::AddendByType(of)) => self.by_type(of),
            _ => own,
        };
        let negates = mode.negates_c() && !self.has(Fault::KeepsSignOfC);
        if negates {
            // The manual complements the register and adds one.
            let one = i128::from(!self.has(Fault::ComplementsC));
            cut(i128::from(!self.c), 32, sign) + one
        } else {
            cut(self.c.into(), 32, sign)
        }
    }

    fn mad(&self, a: i128, b: i128) -> i128 {
        let (mode, scale) = self.mad_mode();
        let [minus_a, minus_b, minus_c] = mode.minuses();
        let negates = match self.fault {
            Some(Fault::ProductKeepsSign) => false,
            Some(Fault::ProductNegatedBy(Source::A)) => minus_a,
            Some(Fault::ProductNegatedBy(Source::B)) => minus_b,
            Some(Fault::NegatesProductAlways) => minus_a || minus_b || minus_c,
            _ => mode.negates_product(),
        };
        let mut product = a * b;
        if let Some(Fault::CutsProduct(sign)) = self.fault {
            product = cut(product, 32, sign);
        }
        if negates {
            product = if self.has(Fault::ComplementsProduct) { !product } else { -product };
        }
        let mut c = self.addend();
        if self.has(Fault::AddsNegatedC) && mode.negates_product() {
            c = -c;
        }
        let one = match self.fault {
            Some(Fault::PlusOneMissing) => 0,
            Some(Fault::PlusOneTwice) => 2,
            _ => 1,
        };
        let one = if mode == MadMode::PlusOne { one } else { 0 };
        let Some(scale) = scale else { return product + c + one };
        let bits = match self.fault {
            Some(Fault::ScaleMissing) => 0,
            Some(Fault::ScalesExchanged) => {
                Scale::ALL.iter().find(|&&other| other != scale).map_or(0, |other| other.bits())
            }
            Some(Fault::ScalesBy(more)) => scale.bits().saturating_add_signed(more),
            _ => scale.bits(),
        };
        let sum = product + c + one;
        match self.fault {
            Some(Fault::ScalesBeforeC) => (product >> bits) + c + one,
            Some(Fault::ScalesToZero) => sum / (1 << bits),
            Some(Fault::ScalesToNearest) => (sum + (1 << (bits - 1))) >> bits,
            Some(Fault::ScalesUnsigned) => cut(sum, 64, Sign::Unsigned) >> bits,
            _ => sum >> bits,
        }
    }

    // Saturate.

    fn range(&self) -> Option<(i128, i128)> {
        let shape = self.form.mnemonic().shape();
        let sat = self.form.sat() || self.has(Fault::AlwaysSaturates);
        if !sat || self.has(Fault::NeverSaturates) {
            return None;
        }
        let bits = match self.form.finish() {
            Finish::Merge(_) if self.has(Fault::RangeOfWord) => 32,
            Finish::Merge(part) => part.bits(),
            _ => shape.bits(),
        };
        let bits = match self.fault {
            Some(Fault::RangeOfBits(from, to)) if from == bits => to,
            _ => bits,
        };
        let own =
            if self.form.mnemonic().operation() == Operation::Mad { self.mad_sign() } else { self.sign_of_result() };
        let sign = match self.fault {
            Some(Fault::RangeSignTurned) => own.turned(),
            Some(Fault::RangeByType(of)) => self.by_type(of),
            _ => own,
        };
        let (least, greatest) = range(bits, sign);
        Some(match self.fault {
            Some(Fault::UpperEndMoved(by)) => (least, greatest + i128::from(by)),
            Some(Fault::LowerEndMoved(by)) => (least + i128::from(by), greatest),
            _ => (least, greatest),
        })
    }

    fn saturate(&self, t: i128, (least, greatest): (i128, i128)) -> i128 {
        match self.fault {
            Some(Fault::NoUpperEnd) => t.max(least),
            Some(Fault::NoLowerEnd) => t.min(greatest),
            Some(Fault::EndsExchanged) if t < least => greatest,
            Some(Fault::EndsExchanged) if t > greatest => least,
            Some(Fault::SaturatesUnsigned) if t < 0 => greatest,
            _ => t.clamp(least, greatest),
        }
    }

    // Secondary operation.

    fn secondary(&self, secondary: Secondary, t: i128, range: Option<(i128, i128)>) -> (i128, i128) {
        let register = match self.fault {
            Some(Fault::TakesForC(Source::A)) => self.a,
            Some(Fault::TakesForC(Source::B)) => self.b,
            _ => self.c,
        };
        let own = self.sign_of_result();
        let sign = match self.fault {
            Some(Fault::ReadsCAs(sign)) => sign,
            Some(Fault::ReadsCByType(of)) => self.by_type(of),
            _ => own,
        };
        let c = cut(register.into(), 32, sign);
        let t = match self.fault {
            Some(Fault::CutsBeforeSecondary(sign)) => cut(t, 32, sign),
            _ => t,
        };
        let operation = match self.fault {
            Some(Fault::SecondaryMissing) => return (c, t),
            Some(Fault::SecondaryIs(from, to)) if from == secondary => to,
            _ => secondary,
        };
        let is_less = match self.fault {
            Some(Fault::ComparesCUnsigned) => cut(t, 64, Sign::Unsigned) < cut(c, 64, Sign::Unsigned),
            _ => t < c,
        };
        let d = match operation {
            Secondary::Add if self.has(Fault::SubtractsC) => t - c,
            Secondary::Add => t + c,
            Secondary::Min => {
                if is_less {
                    t
                } else {
                    c
                }
            }
            Secondary::Max => {
                if is_less {
                    c
                } else {
                    t
                }
            }
        };
        let d = match (self.fault, range) {
            (Some(Fault::SecondarySaturates(sign)), _) if operation == Secondary::Add => {
                let (least, greatest) = self::range(32, sign);
                d.clamp(least, greatest)
            }
            (Some(Fault::SaturatesAfterSecondary), Some((least, greatest))) => d.clamp(least, greatest),
            _ => d,
        };
        (c, d)
    }

    // Merge.

    fn merge(&self, part: Part, t: i128) -> i128 {
        if self.has(Fault::MergeMissing) {
            return t;
        }
        let mut rest = i128::from(self.c);
        let (place, mut bits) = match self.fault {
            Some(Fault::MergesAt(from, to)) if from == part => (to.shift(), to.bits()),
            _ => (part.shift(), part.bits()),
        };
        match self.fault {
            Some(Fault::RestIsZero) => rest = 0,
            Some(Fault::RestIsSign) => rest = if cut(t, bits, Sign::Signed) < 0 { -1 } else { 0 },
            Some(Fault::RestOf(Source::A)) => rest = self.a.into(),
            Some(Fault::RestOf(Source::B)) => rest = self.b.into(),
            Some(Fault::MergesBits(from, to)) if from == bits => bits = to,
            _ => {}
        }
        let t = if self.has(Fault::MergesUpperHalf) { t >> 16 } else { t };
        let written = ((1 << bits) - 1) << place;
        let inserted = (t << place) & written;
        if self.has(Fault::MergesByOr) { rest | inserted } else { rest & !written | inserted }
    }

    // The lanes of SIMD forms.

    fn writes(&self, mask: Mask, shape: Shape, lane: usize) -> bool {
        let lanes = shape.lanes();
        match self.fault {
            Some(Fault::MaskIgnored) => true,
            Some(Fault::MaskComplemented) => !mask.has(lane),
            Some(Fault::MaskReversed) => mask.has(lanes - 1 - lane),
            Some(Fault::LaneNever(other)) if other == lane => false,
            Some(Fault::LaneAlways(other)) if other == lane => true,
            _ => mask.has(lane),
        }
    }

    fn lanes(&self, mask: Mask, shape: Shape, t: [i128; 4]) -> i128 {
        let bits = shape.bits();
        let rest = match self.fault {
            Some(Fault::LanesRestZero) => 0,
            Some(Fault::LanesRestOf(Source::A)) => self.a,
            Some(Fault::LanesRestOf(Source::B)) => self.b,
            _ => self.c,
        };
        (0..shape.lanes()).fold(0, |d, lane| {
            let place = lane as u32 * bits;
            let mut value = t[lane];
            if self.has(Fault::LanesSaturateInstead) {
                // As wide stores of packing instructions do.
                let (least, greatest) = range(bits, self.sign_of_result());
                value = value.clamp(least, greatest);
            }
            let lane = if self.writes(mask, shape, lane) { value } else { i128::from(rest) >> place };
            d | cut(lane, bits, Sign::Unsigned) << place
        })
    }

    fn accumulates(&self, mask: Mask, lane: usize) -> bool {
        match self.fault {
            Some(Fault::AccumulatesAll) => true,
            Some(Fault::AccumulatesNever(other)) if other == lane => false,
            Some(Fault::AccumulatesAlways(other)) if other == lane => true,
            _ => mask.has(lane),
        }
    }

    fn accumulate(&self, mask: Mask, shape: Shape, t: [i128; 4]) -> i128 {
        let bits = shape.bits();
        let c = if self.has(Fault::CMissing) { 0 } else { i128::from(self.c) };
        let lanes = (0..shape.lanes()).filter(|&lane| self.accumulates(mask, lane));
        match self.fault {
            Some(Fault::AccumulatesNothing) => self.lanes(mask, shape, t),
            Some(Fault::AccumulatesLanewise) => lanes.fold(c, |d, lane| {
                let place = lane as u32 * bits;
                let sum = cut((d >> place) + t[lane], bits, Sign::Unsigned);
                d & !(((1 << bits) - 1) << place) | sum << place
            }),
            Some(Fault::CutsLanes(sign)) => lanes.fold(c, |d, lane| d + cut(t[lane], bits, sign)),
            Some(Fault::AccumulatesNegated) => lanes.fold(c, |d, lane| d - t[lane]),
            Some(Fault::AccumulatesSaturated(sign)) => {
                let (least, greatest) = range(32, sign);
                lanes.fold(cut(c, 32, sign), |d, lane| d + t[lane]).clamp(least, greatest)
            }
            _ => lanes.fold(c, |d, lane| d + t[lane]),
        }
    }
}
