//! [`Code`]: plain operations on words and long words, which every language has, and those that only some targets have.
//!
//! `Code::push` is the only way to add an operation. It folds constants, drops what has no effect, and finds an equal operation
//! that is there already. To know what has no effect, it keeps for each value the bits that may be one.

use vop::isa::types::Comparison;
use vop::lower::Value;

pub use crate::extra::{Extra, Shift, byte};
use crate::machine::Machine;

/// The width of an operation.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Width {
    /// 32 bits.
    Word,
    /// 64 bits.
    Long,
}

impl Width {
    /// The number of bits.
    pub const fn bits(self) -> u32 {
        match self {
            Width::Word => 32,
            Width::Long => 64,
        }
    }

    /// All bits of this width.
    pub const fn ones(self) -> u64 {
        u64::MAX >> (64 - self.bits())
    }

    /// The highest bit.
    pub(crate) const fn sign(self) -> u64 {
        1 << (self.bits() - 1)
    }
}

/// What a value is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Sort {
    /// True or false.
    Truth,
    /// A number without sign.
    Number(Width),
}

/// An operation. All numbers are without sign; sums, differences and products are modulo 2 to the power of the width.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Op {
    /// x and y, in each bit.
    And(Width),
    /// x or y, in each bit.
    Or(Width),
    /// Either x or y, in each bit.
    Xor(Width),
    /// Not x, in each bit.
    Not(Width),
    /// x + y.
    Add(Width),
    /// x - y.
    Sub(Width),
    /// x · y.
    Mul(Width),
    /// x shifted left by y. y is a word, and less than the width.
    Shl(Width),
    /// x shifted right by y, zeros from above. y is a word, and less than the width.
    Shr(Width),
    /// x shifted right by y, copies of its highest bit from above. y is a word, and less than the width.
    Sar(Width),
    /// Whether x and y compare so, as numbers without sign.
    Compare(Comparison, Width),
    /// Whether x and y compare so, in two's complement.
    CompareSigned(Comparison, Width),
    /// x if the first operand is true, else y.
    Select(Width),
    /// 1 if true, else 0: a word.
    Number,
    /// A word as a long word, zeros above.
    Widen,
    /// A word as a long word, copies of its highest bit above.
    WidenSigned,
    /// The lower word of a long word.
    Narrow,
    /// What only some targets have. It gives a word.
    Extra(Extra),
}

impl Op {
    /// What it gives.
    pub const fn sort(self) -> Sort {
        match self {
            Op::And(width)
            | Op::Or(width)
            | Op::Xor(width)
            | Op::Not(width)
            | Op::Add(width)
            | Op::Sub(width)
            | Op::Mul(width)
            | Op::Shl(width)
            | Op::Shr(width)
            | Op::Sar(width)
            | Op::Select(width) => Sort::Number(width),
            Op::Compare(..) | Op::CompareSigned(..) => Sort::Truth,
            Op::Number | Op::Narrow | Op::Extra(_) => Sort::Number(Width::Word),
            Op::Widen | Op::WidenSigned => Sort::Number(Width::Long),
        }
    }

    /// Whether it only converts between sorts: what [`Code::operations`] does not count.
    pub const fn is_conversion(self) -> bool {
        matches!(self, Op::Number | Op::Widen | Op::WidenSigned | Op::Narrow)
    }

    /// Whether it works on long words.
    pub const fn is_long(self) -> bool {
        matches!(
            self,
            Op::And(Width::Long)
                | Op::Or(Width::Long)
                | Op::Xor(Width::Long)
                | Op::Not(Width::Long)
                | Op::Add(Width::Long)
                | Op::Sub(Width::Long)
                | Op::Mul(Width::Long)
                | Op::Shl(Width::Long)
                | Op::Shr(Width::Long)
                | Op::Sar(Width::Long)
                | Op::Select(Width::Long)
                | Op::Compare(_, Width::Long)
                | Op::CompareSigned(_, Width::Long)
                | Op::Widen
                | Op::WidenSigned
        )
    }

    /// The value for these operands. Truth is 1 or 0.
    fn eval(self, at: &[u64]) -> u64 {
        let holds = |comparison: Comparison, order| u64::from(comparison.holds(order));
        match self {
            Op::And(_) => at[0] & at[1],
            Op::Or(_) => at[0] | at[1],
            Op::Xor(_) => at[0] ^ at[1],
            Op::Not(width) => !at[0] & width.ones(),
            Op::Add(width) => at[0].wrapping_add(at[1]) & width.ones(),
            Op::Sub(width) => at[0].wrapping_sub(at[1]) & width.ones(),
            Op::Mul(width) => at[0].wrapping_mul(at[1]) & width.ones(),
            Op::Shl(width) => at[0] << at[1] & width.ones(),
            Op::Shr(_) => at[0] >> at[1],
            Op::Sar(width) => (signed(at[0], width) >> at[1]) as u64 & width.ones(),
            Op::Compare(comparison, _) => holds(comparison, at[0].cmp(&at[1])),
            Op::CompareSigned(comparison, width) => holds(comparison, signed(at[0], width).cmp(&signed(at[1], width))),
            Op::Select(_) => at[if at[0] != 0 { 1 } else { 2 }],
            Op::Number | Op::Widen => at[0],
            Op::WidenSigned => signed(at[0], Width::Word) as u64,
            Op::Narrow => at[0] & Width::Word.ones(),
            Op::Extra(extra) => extra.eval(at),
        }
    }

    /// Whether its first two operands may change places.
    fn is_symmetric(self) -> bool {
        match self {
            Op::And(_) | Op::Or(_) | Op::Xor(_) | Op::Add(_) | Op::Mul(_) => true,
            Op::Extra(extra) => extra.is_symmetric(),
            _ => false,
        }
    }
}

/// A number in two's complement.
const fn signed(value: u64, width: Width) -> i64 {
    match width {
        Width::Word => value as u32 as i32 as i64,
        Width::Long => value as i64,
    }
}

/// The comparison that holds where this one does not.
pub(crate) const fn opposite(comparison: Comparison) -> Comparison {
    match comparison {
        Comparison::Eq => Comparison::Ne,
        Comparison::Ne => Comparison::Eq,
        Comparison::Lt => Comparison::Ge,
        Comparison::Ge => Comparison::Lt,
        Comparison::Le => Comparison::Gt,
        Comparison::Gt => Comparison::Le,
    }
}

/// An operation with its operands.
pub(crate) type Step = (Op, Vec<Value>);

/// Operations in order, and which value is the result.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Code {
    steps: Vec<Step>,
    /// For each step, the bits that may be one.
    possible: Vec<u64>,
    result: Option<Value>,
}

const WORD: Width = Width::Word;
const LONG: Width = Width::Long;

impl Code {
    /// The operations, each with its operands. An operand [`Value::Step`] is the result of an earlier one.
    pub fn steps(&self) -> &[(Op, Vec<Value>)] {
        &self.steps
    }

    /// Which value d is; 0 if none was set.
    pub fn result(&self) -> Value {
        self.result.unwrap_or(Value::Word(0))
    }

    /// Makes a value d, and drops the operations that it does not need.
    #[must_use]
    pub fn finish(mut self, result: Value) -> Code {
        self.result = Some(result);
        let mut needed = vec![false; self.steps.len()];
        result.as_step().into_iter().for_each(|number| needed[number] = true);
        for number in (0..self.steps.len()).rev() {
            if needed[number] {
                self.steps[number].1.iter().filter_map(|value| value.as_step()).for_each(|n| needed[n] = true);
            }
        }
        let renumbered = |value: Value| match value {
            Value::Step(number) => Value::Step(needed[..number].iter().filter(|&&needed| needed).count()),
            other => other,
        };
        let mut code = Code { result: Some(renumbered(result)), ..Code::default() };
        for (number, (op, operands)) in self.steps.iter().enumerate().filter(|(number, _)| needed[*number]) {
            code.steps.push((*op, operands.iter().map(|&value| renumbered(value)).collect()));
            code.possible.push(self.possible[number]);
        }
        code
    }

    /// The number of operations. Conversions between widths, and of truth to a number, are not counted: most machines have the
    /// value already.
    pub fn operations(&self) -> usize {
        self.steps.iter().filter(|(op, _)| !op.is_conversion()).count()
    }

    /// What it costs on a machine; `None` if that lacks an operation.
    pub(crate) fn cost(&self, machine: &Machine) -> Option<u32> {
        let costs = self.steps.iter().map(|(op, _)| (machine.cost)(*op)).sum::<Option<u32>>()?;
        Some(costs - self.fused(machine))
    }

    /// The number of operations that a machine does together with the one that reads their result.
    fn fused(&self, machine: &Machine) -> u32 {
        let Some(fuses) = machine.fuses else { return 0 };
        let mut uses = vec![0usize; self.steps.len()];
        let read = self.steps.iter().flat_map(|(_, operands)| operands).chain(&self.result);
        read.filter_map(|value| value.as_step()).for_each(|number| uses[number] += 1);
        // One that was fused into the next takes in no other.
        let mut is_done = vec![false; self.steps.len()];
        let mut count = 0;
        for (number, outer) in self.steps.iter().enumerate() {
            let inner = outer.1.iter().filter_map(|value| value.as_step());
            let found = inner.clone().find(|&n| uses[n] == 1 && !is_done[n] && fuses(&self.steps[n], outer));
            if let Some(inner) = found {
                is_done[inner] = true;
                is_done[number] = true;
                count += 1;
            }
        }
        count
    }

    /// The same where an operation that the machine lacks costs more than many that it has: for operations that may not be needed.
    pub(crate) fn cost_or_lacking(&self, machine: &Machine) -> u64 {
        let costs: u64 = self.steps.iter().map(|(op, _)| (machine.cost)(*op).map_or(1000, u64::from)).sum();
        costs - u64::from(self.fused(machine))
    }

    /// The number of operations on long words.
    pub fn long_operations(&self) -> usize {
        self.steps.iter().filter(|(op, _)| !op.is_conversion() && op.is_long()).count()
    }

    /// Whether it reads a register.
    pub fn reads(&self, register: Value) -> bool {
        self.steps.iter().flat_map(|(_, operands)| operands).chain(&self.result).any(|&value| value == register)
    }

    /// Its value for these inputs.
    pub fn eval(&self, a: u32, b: u32, c: u32) -> u32 {
        let mut results: Vec<u64> = Vec::with_capacity(self.steps.len());
        let of = |value: Value, results: &[u64]| match value {
            Value::A => a.into(),
            Value::B => b.into(),
            Value::C => c.into(),
            Value::Word(word) => word.into(),
            Value::Long(long) => long,
            Value::Step(number) => results[number],
        };
        for (op, operands) in &self.steps {
            let mut given = [0; 3];
            for (given, &operand) in given.iter_mut().zip(operands) {
                *given = of(operand, &results);
            }
            results.push(op.eval(&given));
        }
        of(self.result(), &results) as u32
    }

    /// The bits of a value that may be one.
    pub(crate) fn possible(&self, value: Value) -> u64 {
        match value {
            Value::A | Value::B | Value::C => WORD.ones(),
            Value::Word(word) => word.into(),
            Value::Long(long) => long,
            Value::Step(number) => self.possible[number],
        }
    }

    /// The operation that a value is the result of.
    pub(crate) fn step(&self, value: Value) -> Option<(Op, &[Value])> {
        value.as_step().map(|number| (self.steps[number].0, &self.steps[number].1[..]))
    }

    /// The same operation on a value and a constant: the value and the constant.
    fn with_constant(&self, value: Value, op: Op) -> Option<(Value, u64)> {
        match self.step(value)? {
            (found, &[x, k]) if found == op => Some((x, constant(k)?)),
            _ => None,
        }
    }

    /// Adds an operation, or finds a value that is equal.
    pub(crate) fn push(&mut self, op: Op, operands: &[Value]) -> Value {
        let mut operands = operands.to_vec();
        if op.is_symmetric() {
            // Constants last.
            operands.sort_by_key(|&value| (constant(value).is_some(), value));
        }
        if let Some(value) = self.folded(op, &operands) {
            return value;
        }
        if let Some(value) = self.simplified(op, &operands) {
            return value;
        }
        if let Some(known) = self.steps.iter().position(|(known, of)| *known == op && *of == operands) {
            return Value::Step(known);
        }
        let possible = self.possible_of(op, &operands);
        if possible == 0 {
            return literal(0, op);
        }
        self.steps.push((op, operands));
        self.possible.push(possible);
        Value::Step(self.steps.len() - 1)
    }

    /// The value of an operation that is there already.
    pub(crate) fn find(&self, op: Op, operands: &[Value]) -> Option<Value> {
        let mut operands = operands.to_vec();
        operands.sort_by_key(|&value| (constant(value).is_some(), value));
        self.steps.iter().position(|(known, of)| *known == op && *of == operands).map(Value::Step)
    }

    /// The value of an operation on constants.
    fn folded(&self, op: Op, operands: &[Value]) -> Option<Value> {
        // A truth value is no constant: what decides one is folded where it is selected.
        if op.sort() == Sort::Truth {
            return None;
        }
        let mut at = [0; 3];
        for (at, &operand) in at.iter_mut().zip(operands) {
            *at = constant(operand)?;
        }
        Some(literal(op.eval(&at), op))
    }

    /// A comparison whose truth is known.
    fn decided(&self, value: Value) -> Option<bool> {
        let (op, operands) = self.step(value)?;
        let (comparison, width, signed) = match op {
            Op::Compare(comparison, width) => (comparison, width, false),
            Op::CompareSigned(comparison, width) => (comparison, width, true),
            _ => return None,
        };
        if operands[0] == operands[1] {
            return Some(comparison.holds(core::cmp::Ordering::Equal));
        }
        if let (Some(x), Some(y)) = (constant(operands[0]), constant(operands[1])) {
            let op = if signed { Op::CompareSigned(comparison, width) } else { Op::Compare(comparison, width) };
            return Some(op.eval(&[x, y]) != 0);
        }
        if signed {
            return None;
        }
        let (most, k) = (self.possible(operands[0]), constant(operands[1])?);
        match comparison {
            Comparison::Lt if most < k => Some(true),
            Comparison::Le if most <= k => Some(true),
            Comparison::Gt if most <= k => Some(false),
            Comparison::Ge if most < k => Some(false),
            Comparison::Lt if k == 0 => Some(false),
            Comparison::Ge if k == 0 => Some(true),
            Comparison::Eq if k & !most != 0 => Some(false),
            Comparison::Ne if k & !most != 0 => Some(true),
            _ => None,
        }
    }

    fn simplified(&mut self, op: Op, operands: &[Value]) -> Option<Value> {
        match (op, operands) {
            (Op::Extra(Extra::Bytes(places)), &[x]) => self.bytes_of_bytes(places, x),
            (Op::And(width), &[x, y]) => {
                if x == y {
                    return Some(x);
                }
                let k = constant(y)?;
                if self.possible(x) & !k == 0 {
                    return Some(x);
                }
                if self.possible(x) & k == 0 {
                    return Some(literal(0, op));
                }
                if let Some((x, inner)) = self.with_constant(x, op) {
                    return Some(self.push(op, &[x, literal(k & inner, op)]));
                }
                if let Some((Op::Extra(Extra::Bytes(places)), of)) = self.step(x)
                    && let Some(kept) = whole_bytes(k)
                {
                    let cut = core::array::from_fn(|i| if kept[i] { places[i] } else { byte::ZERO });
                    let of = of.to_vec();
                    return Some(self.push_bytes(cut, &of));
                }
                // What is turned outside of the bits that are kept.
                if let Some((inner, turned)) = self.with_constant(x, Op::Xor(width))
                    && turned & k == 0
                {
                    return Some(self.push(op, &[inner, y]));
                }
                if let Some((inner, set)) = self.with_constant(x, Op::Or(width))
                    && set & k == 0
                {
                    return Some(self.push(op, &[inner, y]));
                }
                // Of two values of which one has none but bits that are kept, the other's need not be cut.
                if let Some((Op::And(_), &[u, v])) = self.step(x)
                    && let Some((only, other)) = [(u, v), (v, u)].into_iter().find(|(u, _)| self.possible(*u) & !k == 0)
                {
                    return Some(self.push(Op::And(width), &[only, other]));
                }
                None
            }
            (Op::Or(width), &[x, y]) => match constant(y) {
                _ if x == y => Some(x),
                Some(0) => Some(x),
                Some(k) if k == width.ones() => Some(y),
                Some(k) => {
                    let (x, inner) = self.with_constant(x, op)?;
                    Some(self.push(op, &[x, literal(k | inner, op)]))
                }
                None => None,
            },
            (Op::Xor(width), &[x, y]) => match constant(y) {
                _ if x == y => Some(literal(0, op)),
                Some(0) => Some(x),
                Some(k) if k == width.ones() => Some(self.push(Op::Not(width), &[x])),
                Some(k) => {
                    if let Some((Op::Not(_), &[x])) = self.step(x) {
                        return Some(self.push(op, &[x, literal(!k & width.ones(), op)]));
                    }
                    let (x, inner) = self.with_constant(x, op)?;
                    Some(self.push(op, &[x, literal(k ^ inner, op)]))
                }
                None => {
                    // The complement of one of them is that of the whole, which may go away further on.
                    let turned = |value| match self.step(value) {
                        Some((Op::Not(_), &[x])) => Some(x),
                        _ => None,
                    };
                    match (turned(x), turned(y)) {
                        (Some(x), Some(y)) => Some(self.push(op, &[x, y])),
                        (Some(x), None) => {
                            let value = self.push(op, &[x, y]);
                            Some(self.push(Op::Not(width), &[value]))
                        }
                        (None, Some(y)) => {
                            let value = self.push(op, &[x, y]);
                            Some(self.push(Op::Not(width), &[value]))
                        }
                        (None, None) => None,
                    }
                }
            },
            (Op::Not(width), &[x]) => match self.step(x)? {
                (Op::Not(_), &[x]) => Some(x),
                (Op::Xor(_), &[x, k]) => {
                    let k = constant(k)?;
                    Some(self.push(Op::Xor(width), &[x, literal(!k & width.ones(), op)]))
                }
                _ => None,
            },
            (Op::Add(WORD), &[x, y]) if self.is_sad_alone(x) || self.is_sad_alone(y) => {
                let (sad, other) = if self.is_sad_alone(x) { (x, y) } else { (y, x) };
                let (op, of) = self.step(sad)?;
                let of = [of[0], of[1], other];
                Some(self.push(op, &of))
            }
            (Op::Add(_), &[x, y]) => match constant(y)? {
                0 => Some(x),
                k => {
                    if let Some((x, inner)) = self.with_constant(x, op) {
                        return Some(self.push(op, &[x, literal(op.eval(&[k, inner]), op)]));
                    }
                    None
                }
            },
            (Op::Sub(width), &[x, y]) => match constant(y) {
                _ if x == y => Some(literal(0, op)),
                Some(k) => Some(self.push(Op::Add(width), &[x, literal(Op::Sub(width).eval(&[0, k]), op)])),
                None => None,
            },
            (Op::Mul(width), &[x, y]) => match constant(y)? {
                0 => Some(literal(0, op)),
                1 => Some(x),
                k if k.is_power_of_two() => Some(self.push(Op::Shl(width), &[x, Value::Word(k.trailing_zeros())])),
                _ => None,
            },
            (Op::Shl(width) | Op::Shr(width) | Op::Sar(width), &[x, amount]) => {
                let n = constant(amount)?;
                if n == 0 {
                    return Some(x);
                }
                if matches!(op, Op::Sar(_)) && self.possible(x) & width.sign() == 0 {
                    return Some(self.push(Op::Shr(width), &[x, amount]));
                }
                if let Some((inner, m)) = self.with_constant(x, op) {
                    return Some(match (op, n + m < u64::from(width.bits())) {
                        (_, true) => self.push(op, &[inner, Value::Word((n + m) as u32)]),
                        (Op::Sar(_), false) => self.push(op, &[inner, Value::Word(width.bits() - 1)]),
                        (_, false) => literal(0, op),
                    });
                }
                match op {
                    Op::Shr(_) => {
                        let (inner, m) = self.with_constant(x, Op::Shl(width))?;
                        if m == n {
                            return Some(self.push(Op::And(width), &[inner, literal(width.ones() >> n, op)]));
                        }
                        // What is shifted out above was zero.
                        if self.possible(inner) & !(width.ones() >> m) == 0 {
                            return Some(if m > n {
                                self.push(Op::Shl(width), &[inner, Value::Word((m - n) as u32)])
                            } else {
                                self.push(Op::Shr(width), &[inner, Value::Word((n - m) as u32)])
                            });
                        }
                        None
                    }
                    Op::Shl(_) => {
                        let (inner, m) = self.with_constant(x, Op::Shr(width))?;
                        (m == n)
                            .then(|| self.push(Op::And(width), &[inner, literal(width.ones() << n & width.ones(), op)]))
                    }
                    _ => None,
                }
            }
            (Op::CompareSigned(comparison, width), &[x, y]) => {
                // Fields that were extended from the top are compared there.
                let top = |value: Value| match self.step(value) {
                    Some((Op::Sar(_), &[field, Value::Word(n)]))
                        if self.possible(field).trailing_zeros() >= n && self.possible(field) != 0 =>
                    {
                        Some((field, n))
                    }
                    _ => None,
                };
                if let (Some((p, m)), Some((q, n))) = (top(x), top(y))
                    && m == n
                {
                    return Some(self.push(op, &[p, q]));
                }
                let all = self.possible(x) | self.possible(y);
                (all & width.sign() == 0 || matches!(comparison, Comparison::Eq | Comparison::Ne))
                    .then(|| self.push(Op::Compare(comparison, width), &[x, y]))
            }
            (Op::Compare(comparison @ (Comparison::Eq | Comparison::Ne), _), &[x, Value::Word(0)]) => {
                let (Op::Number, &[truth]) = self.step(x)? else { return None };
                if comparison == Comparison::Ne {
                    return Some(truth);
                }
                let (op, operands) = self.step(truth)?;
                let op = match op {
                    Op::Compare(inner, width) => Op::Compare(opposite(inner), width),
                    Op::CompareSigned(inner, width) => Op::CompareSigned(opposite(inner), width),
                    _ => return None,
                };
                let operands = operands.to_vec();
                Some(self.push(op, &operands))
            }
            (Op::Select(_), &[truth, x, y]) => {
                if x == y {
                    return Some(x);
                }
                if let Some(holds) = self.decided(truth) {
                    return Some(if holds { x } else { y });
                }
                match (op, x, y) {
                    (Op::Select(WORD), Value::Word(1), Value::Word(0)) => Some(self.push(Op::Number, &[truth])),
                    (Op::Select(LONG), Value::Long(1), Value::Long(0)) => {
                        let number = self.push(Op::Number, &[truth]);
                        Some(self.push(Op::Widen, &[number]))
                    }
                    _ => None,
                }
            }
            (Op::Number, &[truth]) => self.decided(truth).map(|holds| Value::Word(holds.into())),
            (Op::WidenSigned, &[x]) => (self.possible(x) & WORD.sign() == 0).then(|| self.push(Op::Widen, &[x])),
            (Op::Narrow, &[x]) => self.narrowed(x, 4),
            _ => None,
        }
    }

    /// Whether a value is a sum of absolute differences that nothing was added to.
    fn is_sad_alone(&self, value: Value) -> bool {
        matches!(self.step(value), Some((Op::Extra(Extra::Sad(_)), &[_, _, Value::Word(0)])))
    }

    /// Bytes of one word that are its own, or bytes of its operands.
    fn bytes_of_bytes(&mut self, places: [u8; 4], x: Value) -> Option<Value> {
        if places == [0, 1, 2, 3] {
            return Some(x);
        }
        let (Op::Extra(Extra::Bytes(inner)), of) = self.step(x)? else { return None };
        let of = of.to_vec();
        if places.iter().any(|place| (byte::SIGN..byte::ZERO).contains(place)) {
            return None;
        }
        let through = places.map(|place| if place < 4 { inner[usize::from(place)] } else { place });
        Some(self.push_bytes(through, &of))
    }

    /// Bytes of words. A word that gives no byte is no operand, and bytes in their places are what is left of a word.
    pub(crate) fn push_bytes(&mut self, mut places: [u8; 4], of: &[Value]) -> Value {
        let is_taken = |places: &[u8; 4], number: u8| places.iter().any(|p| *p < byte::ZERO && p >> 2 & 1 == number);
        let [first, second] = [0, 1].map(|number| is_taken(&places, number));
        let operands: Vec<Value> = match (first, second) {
            (true, true) if of[0] != of[1] => of.to_vec(),
            (true, false) => vec![of[0]],
            (false, false) => {
                let word = places.map(|place| if place == byte::ONES { 0xff } else { 0 });
                return Value::Word(u32::from_le_bytes(word));
            }
            _ => {
                places = places.map(|place| if place < byte::ZERO { place & !4 } else { place });
                vec![of[of.len() - 1]]
            }
        };
        if let &[x] = &operands[..]
            && (0..4).all(|i| places[usize::from(i)] == i || places[usize::from(i)] == byte::ZERO)
        {
            let mask = places.map(|place| if place == byte::ZERO { 0 } else { 0xff });
            return self.push(Op::And(WORD), &[x, Value::Word(u32::from_le_bytes(mask))]);
        }
        self.push(Op::Extra(Extra::Bytes(places)), &operands)
    }

    /// The lower word of a long value without long operations, if it is made of words by operations of which the lower bits depend
    /// on lower bits alone.
    fn narrowed(&mut self, value: Value, depth: u32) -> Option<Value> {
        if let Value::Long(long) = value {
            return Some(Value::Word(long as u32));
        }
        let (op, operands) = self.step(value)?;
        let operands = operands.to_vec();
        let op = match op {
            Op::Widen | Op::WidenSigned => return Some(operands[0]),
            Op::And(_) => Op::And(WORD),
            Op::Or(_) => Op::Or(WORD),
            Op::Xor(_) => Op::Xor(WORD),
            Op::Not(_) => Op::Not(WORD),
            Op::Add(_) => Op::Add(WORD),
            Op::Sub(_) => Op::Sub(WORD),
            Op::Mul(_) => Op::Mul(WORD),
            _ => return None,
        };
        if depth == 0 {
            return None;
        }
        let mut words = Vec::new();
        for operand in operands {
            words.push(self.narrowed(operand, depth - 1)?);
        }
        Some(self.push(op, &words))
    }

    /// The bits of a result that may be one.
    fn possible_of(&self, op: Op, operands: &[Value]) -> u64 {
        let at = |i: usize| self.possible(operands[i]);
        let by = |i: usize| operands.get(i).and_then(|&value| constant(value));
        match op {
            Op::And(_) => at(0) & at(1),
            Op::Or(_) | Op::Xor(_) => at(0) | at(1),
            Op::Not(width) => width.ones(),
            Op::Add(width) => sum(at(0), at(1)) & width.ones(),
            Op::Sub(width) => {
                let low = (at(0) | at(1)).trailing_zeros().min(63);
                width.ones() >> low << low
            }
            Op::Mul(width) => match by(1) {
                Some(k) => {
                    let bits = (0..width.bits()).filter(|bit| k >> bit & 1 != 0);
                    bits.fold(0, |all, bit| sum(all, at(0) << bit & width.ones())) & width.ones()
                }
                None => {
                    let length = u64::BITS - at(0).leading_zeros() + u64::BITS - at(1).leading_zeros();
                    u64::MAX.checked_shr(u64::BITS.saturating_sub(length)).unwrap_or(0) & width.ones()
                }
            },
            Op::Shl(width) => by(1).map_or(width.ones(), |n| at(0) << n & width.ones()),
            Op::Shr(width) => by(1).map_or(width.ones() & below(at(0)), |n| at(0) >> n),
            Op::Sar(width) => by(1).map_or(width.ones(), |n| (signed(at(0), width) >> n) as u64 & width.ones()),
            Op::Compare(..) | Op::CompareSigned(..) | Op::Number => 1,
            Op::Select(_) => at(1) | at(2),
            Op::Widen => at(0),
            Op::WidenSigned => signed(at(0), WORD) as u64,
            Op::Narrow => at(0) & WORD.ones(),
            Op::Extra(extra) => {
                let possible: Vec<u64> = (0..operands.len()).map(at).collect();
                extra.possible(&possible)
            }
        }
    }
}

/// Which bytes of a mask of whole bytes are kept.
fn whole_bytes(mask: u64) -> Option<[bool; 4]> {
    let bytes = (mask as u32).to_le_bytes();
    bytes.iter().all(|byte| matches!(byte, 0 | 0xff)).then(|| bytes.map(|byte| byte != 0))
}

/// All bits from the highest that is set.
const fn below(bits: u64) -> u64 {
    match bits.leading_zeros() {
        64 => 0,
        zeros => u64::MAX >> zeros,
    }
}

/// The bits that may be one in a sum of numbers whose bits may be one where `x` and `y` say so.
fn sum(x: u64, y: u64) -> u64 {
    let (mut all, mut carry) = (0, 0);
    for bit in 0..u64::BITS {
        let (p, q) = (x >> bit & 1, y >> bit & 1);
        all |= (p | q | carry) << bit;
        carry = u64::from(p + q + carry >= 2);
    }
    all
}

/// The number that a constant is.
pub(crate) const fn constant(value: Value) -> Option<u64> {
    match value {
        Value::Word(word) => Some(word as u64),
        Value::Long(long) => Some(long),
        _ => None,
    }
}

/// A constant of the sort that an operation gives.
fn literal(value: u64, op: Op) -> Value {
    match op.sort() {
        Sort::Number(Width::Long) => Value::Long(value),
        _ => Value::Word(value as u32),
    }
}
