//! [`Sequence`]: base instructions that compute d from a, b and c.

use alloc::format;
use alloc::string::{String, ToString};
use alloc::vec::Vec;

use super::base::{Needs, Op, Sort};
use super::candidate::Value;

/// Base instructions in order, and which value is d.
///
/// Operands of [`Value::A`], [`Value::B`] and [`Value::C`] are the registers as they are.
#[derive(Debug, Clone, Default, PartialEq, Eq, Hash)]
pub struct Sequence {
    /// Each instruction with its operands; a step reads only earlier ones.
    pub(super) steps: Vec<(Op, Vec<Value>)>,
    /// What d becomes: `None` before the end is written.
    pub(super) result: Option<Value>,
}

impl Sequence {
    /// The instructions in order, each with its operands; an operand [`Value::Step`] is the result of an earlier one.
    pub fn steps(&self) -> &[(Op, Vec<Value>)] {
        &self.steps
    }

    /// Which value d becomes: `None` before [`set_result`](Sequence::set_result) has said it.
    pub fn result(&self) -> Option<Value> {
        self.result
    }

    /// Makes a value d.
    pub fn set_result(&mut self, result: Value) {
        self.result = Some(result);
    }

    /// The sequence with another instruction in the place of one.
    ///
    /// # Panics
    /// If there are not as many instructions.
    #[must_use]
    pub fn with_step(mut self, number: usize, op: Op, operands: Vec<Value>) -> Sequence {
        self.steps[number] = (op, operands);
        self
    }

    /// Appends an instruction, or finds the one that is equal.
    pub fn push(&mut self, op: Op, operands: &[Value]) -> Value {
        let known = self.steps.iter().position(|(known, of)| *known == op && of == operands);
        Value::Step(known.unwrap_or_else(|| {
            self.steps.push((op, operands.to_vec()));
            self.steps.len() - 1
        }))
    }

    /// The sort of a value.
    pub fn sort(&self, value: Value) -> Sort {
        match value {
            Value::A | Value::B | Value::C | Value::Word(_) => Sort::Word,
            Value::Long(_) => Sort::Long,
            Value::Step(number) => self.steps[number].0.sort(),
        }
    }

    /// What it needs.
    pub fn needs(&self) -> Needs {
        self.steps.iter().fold(Needs::NOTHING, |needs, (op, _)| needs.and(op.needs()))
    }

    /// Whether it writes the carry flag.
    pub fn writes_carry(&self) -> bool {
        self.steps.iter().any(|(op, _)| op.writes_carry())
    }

    /// The value of d.
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
            results.push(op.eval(&given[..operands.len()]));
        }
        self.result.map_or(0, |result| of(result, &results) as u32)
    }

    /// Whether it reads a register.
    pub fn reads(&self, register: Value) -> bool {
        self.steps.iter().flat_map(|(_, operands)| operands).chain(&self.result).any(|&value| value == register)
    }

    /// Puts a constant in the place of a register.
    #[must_use]
    pub fn with(mut self, register: Value, constant: u32) -> Sequence {
        let values = self.steps.iter_mut().flat_map(|(_, operands)| operands).chain(&mut self.result);
        values.filter(|value| **value == register).for_each(|value| *value = Value::Word(constant));
        self
    }

    /// The instructions as lines of PTX without semicolons; the last alone writes d. `names` are those of d, a, b and c;
    /// `fresh` names new registers.
    pub fn ptx(&self, names: [&str; 4], mut fresh: impl FnMut(Sort) -> String) -> Vec<String> {
        let mut lines = Vec::new();
        let mut results: Vec<String> = Vec::new();
        let text = |value: Value, results: &[String]| match value {
            Value::A => names[1].to_string(),
            Value::B => names[2].to_string(),
            Value::C => names[3].to_string(),
            Value::Word(word) if word < 1024 => word.to_string(),
            Value::Word(word) => format!("{word:#010x}"),
            Value::Long(long) => (long as i64).to_string(),
            Value::Step(number) => results[number].clone(),
        };
        for (number, (op, operands)) in self.steps.iter().enumerate() {
            let mut given = Vec::new();
            for &operand in operands {
                let mut name = text(operand, &results);
                if let (Value::Word(_), false) = (operand, op.takes_immediates()) {
                    let register = fresh(Sort::Word);
                    lines.push(format!("mov.b32 {register}, {name}"));
                    name = register;
                }
                given.push(name);
            }
            let is_last = self.result == Some(Value::Step(number)) && number + 1 == self.steps.len();
            let to = if is_last { names[0].to_string() } else { fresh(op.sort()) };
            let given: Vec<&str> = given.iter().map(String::as_str).collect();
            lines.extend(op.ptx(&to, &given, &mut fresh));
            results.push(to);
        }
        match self.result {
            Some(Value::Step(number)) if number + 1 == self.steps.len() => {}
            Some(result) => lines.push(format!("mov.b32 {}, {}", names[0], text(result, &results))),
            None => {}
        }
        lines
    }
}
