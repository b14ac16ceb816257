//! Long words as pairs of words, for targets that have none.

use vop::isa::types::Comparison;
use vop::lower::Value;

use crate::code::{Code, Op, Width};
use crate::lanes::{Lanes, Written};
use crate::machine::Machine;

const WORD: Width = Width::Word;
const LONG: Width = Width::Long;

/// A long word: its lower and its upper word.
type Pair = [Value; 2];

/// The same without operations on long words.
pub(crate) fn without_long(code: &Code, machine: &'static Machine) -> Code {
    let mut words = Code::default();
    let mut writer = Written { code: &mut words, machine };
    // Of what is no long word, both are the value.
    let mut values: Vec<Pair> = Vec::new();
    for (op, operands) in code.steps() {
        let at: Vec<Pair> = operands.iter().map(|&operand| pair(operand, &values)).collect();
        let value = match op {
            op if op.is_long() => writer.long(*op, &at),
            Op::Narrow => at[0],
            op => {
                let at: Vec<Value> = at.iter().map(|pair| pair[0]).collect();
                [writer.code().push(*op, &at); 2]
            }
        };
        values.push(value);
    }
    let result = pair(code.result(), &values)[0];
    words.finish(result)
}

fn pair(value: Value, values: &[Pair]) -> Pair {
    match value {
        Value::Step(number) => values[number],
        Value::Long(long) => [long as u32, (long >> 32) as u32].map(Value::Word),
        word => [word; 2],
    }
}

impl Written<'_> {
    fn long(&mut self, op: Op, at: &[Pair]) -> Pair {
        let zero = Value::Word(0);
        match op {
            Op::And(_) | Op::Or(_) | Op::Xor(_) | Op::Not(_) => {
                let op = match op {
                    Op::And(_) => Op::And(WORD),
                    Op::Or(_) => Op::Or(WORD),
                    Op::Xor(_) => Op::Xor(WORD),
                    _ => Op::Not(WORD),
                };
                [0, 1].map(|half| {
                    let at: Vec<Value> = at.iter().map(|pair| pair[half]).collect();
                    self.code().push(op, &at)
                })
            }
            Op::Add(_) => self.add_long(at[0], at[1]),
            Op::Sub(_) => {
                let low = self.word(Op::Sub, at[0][0], at[1][0]);
                let borrowed = self.number(Comparison::Lt, at[0][0], at[1][0]);
                let high = self.word(Op::Sub, at[0][1], at[1][1]);
                [low, self.word(Op::Sub, high, borrowed)]
            }
            Op::Mul(_) => {
                let [low, mut high] = self.product(at[0][0], at[1][0]);
                for (x, y) in [(at[0][0], at[1][1]), (at[0][1], at[1][0])] {
                    let more = self.word(Op::Mul, x, y);
                    high = self.word(Op::Add, high, more);
                }
                [low, high]
            }
            Op::Shl(_) | Op::Shr(_) | Op::Sar(_) => match at[1][0] {
                Value::Word(amount) => self.shifted_by(op, at[0], amount),
                amount => self.shifted_by_value(op, at[0], amount),
            },
            Op::Compare(comparison, _) => [self.compared(comparison, false, at[0], at[1]); 2],
            Op::CompareSigned(comparison, _) => [self.compared(comparison, true, at[0], at[1]); 2],
            Op::Select(_) => [0, 1].map(|half| self.select(WORD, at[0][0], at[1][half], at[2][half])),
            Op::Widen => [at[0][0], zero],
            _ => [at[0][0], self.sar(at[0][0], 31)],
        }
    }

    /// 1 if two words compare so without sign, else 0.
    fn number(&mut self, comparison: Comparison, x: Value, y: Value) -> Value {
        let truth = self.compare(comparison, WORD, false, x, y);
        self.code().push(Op::Number, &[truth])
    }

    fn add_long(&mut self, x: Pair, y: Pair) -> Pair {
        let low = self.word(Op::Add, x[0], y[0]);
        let high = self.word(Op::Add, x[1], y[1]);
        // Of a sum with 0, nothing is carried.
        if x[0] == Value::Word(0) || y[0] == Value::Word(0) {
            return [low, high];
        }
        let carried = self.number(Comparison::Lt, low, x[0]);
        [low, self.word(Op::Add, high, carried)]
    }

    /// The long product of two words, from products of half-words.
    fn product(&mut self, x: Value, y: Value) -> Pair {
        let low = self.word(Op::Mul, x, y);
        let [[x_low, x_high], [y_low, y_high]] = [x, y].map(|x| [self.and(x, 0xffff), self.shr(x, 16)]);
        let lowest = self.word(Op::Mul, x_low, y_low);
        let inner = [self.word(Op::Mul, x_low, y_high), self.word(Op::Mul, x_high, y_low)];
        let mut high = self.word(Op::Mul, x_high, y_high);
        let mut middle = self.shr(lowest, 16);
        for product in inner {
            let below = self.and(product, 0xffff);
            middle = self.word(Op::Add, middle, below);
            let above = self.shr(product, 16);
            high = self.word(Op::Add, high, above);
        }
        let carried = self.shr(middle, 16);
        [low, self.word(Op::Add, high, carried)]
    }

    /// Shifted by a constant below 64.
    fn shifted_by(&mut self, op: Op, [low, high]: Pair, amount: u32) -> Pair {
        let zero = Value::Word(0);
        let above = if op == Op::Sar(LONG) { self.sar(high, 31) } else { zero };
        let down = |w: &mut Self, x: Value, n: u32| if op == Op::Sar(LONG) { w.sar(x, n) } else { w.shr(x, n) };
        match (op, amount) {
            (_, 0) => [low, high],
            (Op::Shl(_), 32..) => [zero, self.shl(low, amount - 32)],
            (Op::Shl(_), _) => {
                let (up, over) = (self.shl(high, amount), self.shr(low, 32 - amount));
                [self.shl(low, amount), self.word(Op::Or, up, over)]
            }
            (_, 32..) => [down(self, high, amount - 32), above],
            (_, _) => {
                let (lower, over) = (self.shr(low, amount), self.shl(high, 32 - amount));
                [self.word(Op::Or, lower, over), down(self, high, amount)]
            }
        }
    }

    /// Shifted by a value below 64.
    fn shifted_by_value(&mut self, op: Op, [low, high]: Pair, amount: Value) -> Pair {
        let zero = Value::Word(0);
        let within = self.and(amount, 31);
        let rest = self.word(Op::Xor, within, Value::Word(31));
        let is_small = self.compare(Comparison::Lt, WORD, false, amount, Value::Word(32));
        if let Op::Shl(_) = op {
            let (up, more) = (self.word(Op::Shl, high, within), self.shr(low, 1));
            let over = self.word(Op::Shr, more, rest);
            let both = self.word(Op::Or, up, over);
            let lower = self.word(Op::Shl, low, within);
            return [self.select(WORD, is_small, lower, zero), self.select(WORD, is_small, both, lower)];
        }
        let signed = op == Op::Sar(LONG);
        let upper = self.word(if signed { Op::Sar } else { Op::Shr }, high, within);
        let (down, more) = (self.word(Op::Shr, low, within), self.shl(high, 1));
        let over = self.word(Op::Shl, more, rest);
        let both = self.word(Op::Or, down, over);
        let above = if signed { self.sar(high, 31) } else { zero };
        [self.select(WORD, is_small, both, upper), self.select(WORD, is_small, upper, above)]
    }

    /// Whether two long words compare so: their upper words, or if these are equal the lower ones.
    fn compared(&mut self, comparison: Comparison, signed: bool, x: Pair, y: Pair) -> Value {
        let strict = match comparison {
            Comparison::Eq | Comparison::Ne => {
                let [low, high] = [0, 1].map(|half| self.word(Op::Xor, x[half], y[half]));
                let differ = self.word(Op::Or, low, high);
                return self.compare(comparison, WORD, false, differ, Value::Word(0));
            }
            Comparison::Lt | Comparison::Le => Comparison::Lt,
            Comparison::Gt | Comparison::Ge => Comparison::Gt,
        };
        let are_equal = self.compare(Comparison::Eq, WORD, false, x[1], y[1]);
        let lower = self.number(comparison, x[0], y[0]);
        let upper = self.compare(strict, WORD, signed, x[1], y[1]);
        let upper = self.code().push(Op::Number, &[upper]);
        let holds = self.select(WORD, are_equal, lower, upper);
        self.compare(Comparison::Ne, WORD, false, holds, Value::Word(0))
    }
}
