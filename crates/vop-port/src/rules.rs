//! Rules of `vop lower` that only plain operations need: a target without packed instructions.
//!
//! They are written with the same [`Builder`] as the others, and proved as these are.
//!
//! Where the highest bits of two lanes and what was carried (or borrowed) into them are known, the exact result's highest bits are:
//! whether a sum is too great, a difference negative, or one lane less than another, whatever the signs. So each question is
//! one function of three bits.

use vop::Form;
use vop::isa::form::Finish;
use vop::isa::range::Range;
use vop::isa::types::{Comparison, Operation, Type};
use vop::lower::{Builder, BytePlace, Candidate, Cut, Op, Output, PackedOp, Placement, Value};

use crate::lanes::splat;

/// A rule: writes the steps of one way to compute a form, or nothing.
type Rule = fn(&mut Builder) -> Option<Output>;

const RULES: [(&str, Rule); 8] = [
    ("bits that either has, without half of the difference", average),
    ("clamped by the highest bits", saturating),
    ("chosen by the highest bits", bound),
    ("difference turned by the highest bits", absdiff),
    ("compared by the highest bits", compare),
    ("compared by a clamped difference", compare_by_difference),
    ("compared by the sign of a clamped difference", compare_by_sign),
    ("clamped difference of one type", sub_clamped),
];

/// What these rules write for a form.
pub(crate) fn candidates(form: Form, target: vop::Target) -> Vec<Candidate> {
    if !form.mnemonic().shape().is_simd() {
        return Vec::new();
    }
    let mut candidates = Vec::new();
    for (name, rule) in RULES {
        let placement: Placement = core::array::from_fn(|i| {
            let counts = i < form.mnemonic().shape().lanes() && form.mask().is_some_and(|mask| mask.has(i));
            counts.then_some(i as u8)
        });
        let mut builder = Builder::new(form, target, placement);
        if let Some(output) = rule(&mut builder) {
            candidates.push(builder.finish(name, output));
        }
    }
    candidates
}

/// The exact result of two lanes' highest bits: of `x`, `y`, and what came into them.
#[derive(Debug, Clone, Copy)]
struct Top {
    /// In units of the highest bit's value. For a difference, what was borrowed is taken off.
    exact: i32,
}

/// A bit's value in its lane's highest place.
fn weight(bit: bool, signed: bool) -> i32 {
    match (bit, signed) {
        (false, _) => 0,
        (true, false) => 1,
        (true, true) => -1,
    }
}

/// The truth table of a question about the highest bits x, y and t.
fn table(question: impl Fn(bool, bool, bool) -> bool) -> u8 {
    (0..8).filter(|row| question(row & 4 != 0, row & 2 != 0, row & 1 != 0)).fold(0, |all, row| all | 1 << row)
}

/// What a rule of lanes knows of its form.
struct Lanes {
    signed: [bool; 2],
    bits: u32,
    x: Value,
    y: Value,
}

impl Lanes {
    fn of(b: &mut Builder) -> Lanes {
        let (x, y) = (b.source(false), b.source(true));
        Lanes { signed: [b.form.atype().is_signed(), b.form.btype().is_signed()], bits: b.bits(), x, y }
    }

    fn highest(&self) -> Value {
        Value::Word(splat(1 << (self.bits - 1), self.bits))
    }

    fn lower(&self) -> Value {
        Value::Word(splat(!(1 << (self.bits - 1)), self.bits))
    }

    /// The sums of the lower bits: in the highest bit, what is carried into it.
    fn carried(&self, b: &mut Builder) -> Value {
        let [x, y] = [self.x, self.y].map(|x| b.lop2(|x, k| x & k, x, self.lower()));
        b.op(Op::Add, &[x, y])
    }

    /// The differences of the lower bits: in the highest bit, a zero if one is borrowed from it.
    fn borrowed(&self, b: &mut Builder) -> Value {
        let x = b.lop2(|x, k| x | k, self.x, self.highest());
        let y = b.lop2(|y, k| y & k, self.y, self.lower());
        b.op(Op::Sub, &[x, y])
    }

    /// The exact result's highest part.
    fn top(&self, sub: bool, [x, y, t]: [bool; 3]) -> Top {
        let (x, y) = (weight(x, self.signed[0]), weight(y, self.signed[1]));
        Top { exact: if sub { x - y - i32::from(!t) } else { x + y + i32::from(t) } }
    }

    /// A bit for each lane, in its highest place: a question about the highest bits of x, y and `t`.
    fn ask(&self, b: &mut Builder, t: Value, question: impl Fn(bool, bool, bool) -> bool) -> Value {
        b.op(Op::Lop3(table(question)), &[self.x, self.y, t])
    }

    /// Every lane's highest bit in all its bits.
    fn spread(&self, b: &mut Builder, x: Value) -> Value {
        let bytes = if self.bits == 8 { [8, 9, 10, 11] } else { [9, 9, 11, 11] };
        b.prmt(x, Value::Word(0), bytes)
    }

    /// The result clamped, where `over` and `under` say of the highest bits whether it is too great or too small.
    fn clamp(
        &self,
        b: &mut Builder,
        result: Value,
        to_signed: bool,
        t: Value,
        over: impl Fn(bool, bool, bool) -> bool,
        under: impl Fn(bool, bool, bool) -> bool,
    ) -> Value {
        let occurs = |question: &dyn Fn(bool, bool, bool) -> bool| table(question) != 0;
        let (is_over, is_under) = (occurs(&over), occurs(&under));
        if !to_signed {
            let mut result = result;
            if is_over {
                let bit = self.ask(b, t, &over);
                let mask = self.spread(b, bit);
                result = b.lop2(|r, m| r | m, result, mask);
            }
            if is_under {
                let bit = self.ask(b, t, |x, y, t| !under(x, y, t));
                let mask = self.spread(b, bit);
                result = b.lop2(|r, m| r & m, result, mask);
            }
            return result;
        }
        if !is_over && !is_under {
            return result;
        }
        let bit = self.ask(b, t, |x, y, t| over(x, y, t) || under(x, y, t));
        let bit = b.lop2(|o, k| o & k, bit, self.highest());
        let mask = self.spread(b, bit);
        let all = b.lop2(|r, m| r | m, result, mask);
        let turn = match (is_over, is_under) {
            (true, false) => bit,
            (_, _) => {
                // To the greatest the highest bit is turned, to the least all others.
                let down = if is_over { self.ask(b, t, &under) } else { bit };
                let down = b.lop2(|o, d| o & d, bit, down);
                let one = b.op(Op::Shr(Type::U32), &[down, Value::Word(self.bits - 1)]);
                b.op(Op::Sub, &[bit, one])
            }
        };
        b.lop2(|r, m| r ^ m, all, turn)
    }
}

/// Whether results are clamped, and to signed lanes.
fn clamps_to(b: &Builder) -> Option<bool> {
    (b.form.sat() && !b.accumulates()).then(|| b.form.dtype().is_some_and(Type::is_signed))
}

/// All lanes in one register, or their sum and c.
fn end(b: &mut Builder, lanes: Value, signed: bool) -> Output {
    if let Finish::Accumulate(_) = b.form.finish() {
        // A solver proves the lanes, and then the sum of any lanes.
        b.cut = Some(Cut { value: lanes, signed, factor: 1, offset: 0, others_are_zero: false });
        let weights = b.live().iter().fold(0, |word, p| word | 1 << (8 * p));
        let x = if signed { Type::S32 } else { Type::U32 };
        let op = match b.bits() {
            16 => Op::Dp2a { high: false, x, y: Type::S32 },
            _ => Op::Dp4a(x, Type::S32),
        };
        return Output::Value(b.op(op, &[lanes, Value::Word(weights), Value::C]));
    }
    let bytes = (b.bits() / 8) as u8;
    Output::Lanes(core::array::from_fn(|p| b.placement[p].map(|_| BytePlace { value: lanes, byte: p as u8 * bytes })))
}

/// Clamped sums and differences of all types.
fn saturating(b: &mut Builder) -> Option<Output> {
    let to_signed = clamps_to(b)?;
    let sub = match b.form.mnemonic().operation() {
        Operation::Add => false,
        Operation::Sub => true,
        _ => return None,
    };
    let lanes = Lanes::of(b);
    let t = if sub { lanes.borrowed(b) } else { lanes.carried(b) };
    let differ = b.lop2(|x, y| x ^ y, lanes.x, lanes.y);
    let turn = match sub {
        true => b.lop2(|f, k| !f & k, differ, lanes.highest()),
        false => b.lop2(|f, k| f & k, differ, lanes.highest()),
    };
    let result = b.lop2(|t, k| t ^ k, t, turn);
    // In units of the highest bit: unsigned lanes hold 0 and 1, signed ones -1 and 0.
    let [least, most] = if to_signed { [-1, 0] } else { [0, 1] };
    let over = |x, y, t| lanes.top(sub, [x, y, t]).exact > most;
    let under = |x, y, t| lanes.top(sub, [x, y, t]).exact < least;
    let clamped = lanes.clamp(b, result, to_signed, t, over, under);
    Some(end(b, clamped, to_signed))
}

/// Minimum and maximum of all types.
fn bound(b: &mut Builder) -> Option<Output> {
    let greater = match b.form.mnemonic().operation() {
        Operation::Min => false,
        Operation::Max => true,
        _ => return None,
    };
    let lanes = Lanes::of(b);
    let t = lanes.borrowed(b);
    let differ = b.lop2(|x, y| x ^ y, lanes.x, lanes.y);
    let at_least = |x, y, t| lanes.top(true, [x, y, t]).exact >= 0;
    let bit = lanes.ask(b, t, at_least);
    let mask = lanes.spread(b, bit);
    let turned = b.lop2(|f, m| f & m, differ, mask);
    let chosen = b.lop2(|f, x| f ^ x, turned, if greater { lanes.y } else { lanes.x });
    // What is chosen is signed if it is one of two signed lanes, or the lesser of one; else it is not negative.
    let [x_signed, y_signed] = lanes.signed;
    let signed = if greater { x_signed && y_signed } else { x_signed || y_signed };
    let Some(to_signed) = clamps_to(b) else { return Some(end(b, chosen, signed)) };
    // The first lane is chosen if it is the greater, or not.
    let takes_first = |x, y, t| at_least(x, y, t) == greater;
    let top = |x, y, t| if takes_first(x, y, t) { weight(x, x_signed) } else { weight(y, y_signed) };
    let [least, most] = if to_signed { [-1, 0] } else { [0, 1] };
    let clamped = lanes.clamp(b, chosen, to_signed, t, |x, y, t| top(x, y, t) > most, |x, y, t| top(x, y, t) < least);
    Some(end(b, clamped, to_signed))
}

/// Absolute differences of all types: x - y, and turned where that is negative.
fn absdiff(b: &mut Builder) -> Option<Output> {
    if b.form.mnemonic().operation() != Operation::Absdiff {
        return None;
    }
    let mut lanes = Lanes::of(b);
    let is_mixed = lanes.signed[0] != lanes.signed[1];
    if is_mixed && b.accumulates() {
        return None;
    }
    if lanes.signed == [true, false] {
        // With the signed lane second, no negative difference is a multiple of what a lane can hold.
        lanes = Lanes { signed: [false, true], x: lanes.y, y: lanes.x, ..lanes };
    }
    let t = lanes.borrowed(b);
    let differ = b.lop2(|x, y| x ^ y, lanes.x, lanes.y);
    let turn = b.lop2(|f, k| !f & k, differ, lanes.highest());
    let result = b.lop2(|t, k| t ^ k, t, turn);
    let less = lanes.ask(b, t, |x, y, t| lanes.top(true, [x, y, t]).exact < 0);
    let mask = lanes.spread(b, less);
    let turned = b.lop2(|r, m| r ^ m, result, mask);
    let one = b.lop2(|m, k| m & k, mask, Value::Word(splat(1, lanes.bits)));
    let size = b.op(Op::Add, &[turned, one]);
    let Some(to_signed) = clamps_to(b) else { return Some(end(b, size, false)) };
    let beyond = |x, y, t| lanes.top(true, [x, y, t]).exact > 1;
    let mut size = size;
    if is_mixed {
        let bit = lanes.ask(b, t, beyond);
        let mask = lanes.spread(b, bit);
        size = b.lop2(|r, m| r | m, size, mask);
    }
    if to_signed {
        let mask = lanes.spread(b, size);
        size = b.lop3(|r, m, k| (r | m) & k, size, mask, lanes.lower());
    }
    Some(end(b, size, false))
}

/// Averages of unsigned lanes: all bits that either has, without half of those in which they differ.
fn average(b: &mut Builder) -> Option<Output> {
    if b.form.mnemonic().operation() != Operation::Avrg {
        return None;
    }
    let lanes = Lanes::of(b);
    if lanes.signed != [false, false] {
        return None;
    }
    let either = b.lop2(|x, y| x | y, lanes.x, lanes.y);
    let differ = b.lop2(|x, y| x ^ y, lanes.x, lanes.y);
    let upper = b.lop2(|f, k| f & k, differ, Value::Word(splat(!1, lanes.bits)));
    let half = b.op(Op::Shr(Type::U32), &[upper, Value::Word(1)]);
    let mut average = b.op(Op::Sub, &[either, half]);
    if clamps_to(b) == Some(true) {
        let mask = lanes.spread(b, average);
        average = b.lop3(|r, m, k| (r | m) & k, average, mask, lanes.lower());
    }
    Some(end(b, average, false))
}

/// Comparisons of all types.
fn compare(b: &mut Builder) -> Option<Output> {
    let comparison = b.form.comparison()?;
    let lanes = Lanes::of(b);
    if matches!(comparison, Comparison::Eq | Comparison::Ne) {
        return None;
    }
    // x > y is y < x.
    let swaps = matches!(comparison, Comparison::Gt | Comparison::Le);
    let lanes = match swaps {
        true => Lanes { signed: [lanes.signed[1], lanes.signed[0]], x: lanes.y, y: lanes.x, ..lanes },
        false => lanes,
    };
    let less = matches!(comparison, Comparison::Lt | Comparison::Gt);
    let t = lanes.borrowed(b);
    let bit = lanes.ask(b, t, |x, y, t| (lanes.top(true, [x, y, t]).exact < 0) == less);
    let down = b.op(Op::Shr(Type::U32), &[bit, Value::Word(lanes.bits - 1)]);
    let places = match b.accumulates() {
        true => b.live().iter().fold(0, |word, p| word | 1 << (u32::from(*p) * lanes.bits)),
        false => splat(1, lanes.bits),
    };
    let ones = b.lop2(|x, k| x & k, down, Value::Word(places));
    Some(end(b, ones, false))
}

/// Comparisons of one type, where there are packed instructions: a difference that is no less than 0, and no more than 1.
fn compare_by_difference(b: &mut Builder) -> Option<Output> {
    let comparison = b.form.comparison()?;
    let Lanes { signed: [signed, y_signed], bits, x, y } = Lanes::of(b);
    if signed != y_signed {
        return None;
    }
    let one = Value::Word(splat(1, bits));
    let unsigned = Range::new(false, bits);
    let (difference, is_set) = match comparison {
        Comparison::Eq | Comparison::Ne => (b.lop2(|x, y| x ^ y, x, y), comparison == Comparison::Ne),
        _ => {
            let (least, most) = if matches!(comparison, Comparison::Lt | Comparison::Ge) { (x, y) } else { (y, x) };
            let mut difference = b.op(Op::Packed(PackedOp::SubSat, Range::new(signed, bits)), &[most, least]);
            if signed {
                difference = b.op(Op::Packed(PackedOp::Max, Range::new(true, bits)), &[difference, Value::Word(0)]);
            }
            (difference, matches!(comparison, Comparison::Lt | Comparison::Gt))
        }
    };
    let ones = match is_set {
        true => b.op(Op::Packed(PackedOp::Min, unsigned), &[difference, one]),
        false => b.op(Op::Packed(PackedOp::SubSat, unsigned), &[one, difference]),
    };
    Some(end(b, ones, false))
}

/// Comparisons of signed lanes, where there are packed instructions: the sign of a difference, which clamping keeps.
fn compare_by_sign(b: &mut Builder) -> Option<Output> {
    let comparison = b.form.comparison()?;
    let Lanes { signed, bits, x, y } = Lanes::of(b);
    if signed != [true, true] || matches!(comparison, Comparison::Eq | Comparison::Ne) {
        return None;
    }
    let lanes = Range::new(true, bits);
    let (x, y) = if matches!(comparison, Comparison::Lt | Comparison::Ge) { (x, y) } else { (y, x) };
    let difference = if matches!(comparison, Comparison::Lt | Comparison::Gt) {
        b.op(Op::Packed(PackedOp::SubSat, lanes), &[x, y])
    } else {
        // y is at most x where y - x - 1 is negative.
        let complement = b.lop2(|x, _| !x, x, x);
        b.op(Op::Packed(PackedOp::AddSat, lanes), &[y, complement])
    };
    let down = b.op(Op::Shr(Type::U32), &[difference, Value::Word(bits - 1)]);
    let ones = b.lop2(|x, k| x & k, down, Value::Word(splat(1, bits)));
    Some(end(b, ones, false))
}

/// Clamped differences of one type, where one instruction computes them.
fn sub_clamped(b: &mut Builder) -> Option<Output> {
    let to_signed = clamps_to(b)?;
    let Lanes { signed, bits, x, y } = Lanes::of(b);
    if b.form.mnemonic().operation() != Operation::Sub || signed != [to_signed; 2] {
        return None;
    }
    let lanes = b.op(Op::Packed(PackedOp::SubSat, Range::new(to_signed, bits)), &[x, y]);
    Some(end(b, lanes, to_signed))
}
