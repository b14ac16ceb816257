//! What is to be proved: that plain operations compute a form, or a base instruction.
//!
//! In the terms, numbers are bit vectors without sign; so nothing overflows. That shifts are below the width is a claim of its own.

use vop::isa::types::Comparison;
use vop::lower::{Claim, Equal, Op as Base, Query, Sequence, Sort as BaseSort, Value};
use vop::smt::{Bits, Script};
use vop::{Form, Semantics};

use crate::code::{Code, Op, Sort, Width};
use crate::machine::PLAIN;
use crate::translate::translate;

impl Code {
    /// What is to be proved of code that stands for a form: that it gives d for all a, b and c, and that all of its shifts are by less
    /// than the width.
    pub fn query(&self, form: Form, semantics: Semantics) -> Query {
        let mut script = Script::new();
        let words = ["a", "b", "c"].map(|name| script.declare(name, 32));
        let words = [&words[0][..], &words[1], &words[2]];
        let wanted = form.smt(semantics.deviations(), &mut script, words);
        let mut equal = Vec::new();
        let given = self.terms(&mut script, words, &mut equal);
        equal.push(Equal { name: "d".into(), given, wanted });
        Query::new(Claim::Sequence, script, equal)
    }

    /// The term of d over three words, with what must be `true` of its shifts.
    fn terms(&self, script: &mut Script, words: [&str; 3], shifts: &mut Vec<Equal>) -> String {
        let mut terms: Vec<String> = Vec::new();
        let of = |value: Value, terms: &[String]| match value {
            Value::A => words[0].to_string(),
            Value::B => words[1].to_string(),
            Value::C => words[2].to_string(),
            Value::Word(word) => format!("#x{word:08x}"),
            Value::Long(long) => format!("#x{long:016x}"),
            Value::Step(number) => terms[number].clone(),
        };
        for (op, operands) in self.steps() {
            let at: Vec<String> = operands.iter().map(|&operand| of(operand, &terms)).collect();
            if let Op::Shl(width) | Op::Shr(width) | Op::Sar(width) = op
                && !matches!(operands[1], Value::Word(amount) if amount < width.bits())
            {
                shifts.push(Equal {
                    name: "whether a shift is below the width".into(),
                    given: format!("(bvult {} #x{:08x})", at[1], width.bits()),
                    wanted: "true".into(),
                });
            }
            let bits = match op.sort() {
                Sort::Truth => Bits::Bool,
                Sort::Number(width) => Bits::Vector(width.bits()),
            };
            let term = term(*op, &at);
            terms.push(script.define(bits, term));
        }
        of(self.result(), &terms)
    }
}

fn term(op: Op, at: &[String]) -> String {
    let binary = |name: &str| format!("({name} {} {})", at[0], at[1]);
    // Amounts are words, which a long word is shifted by when they are as long.
    let shift = |name: &str, width: Width| match width {
        Width::Word => binary(name),
        Width::Long => format!("({name} {} ((_ zero_extend 32) {}))", at[0], at[1]),
    };
    match op {
        Op::And(_) => binary("bvand"),
        Op::Or(_) => binary("bvor"),
        Op::Xor(_) => binary("bvxor"),
        Op::Not(_) => format!("(bvnot {})", at[0]),
        Op::Add(_) => binary("bvadd"),
        Op::Sub(_) => binary("bvsub"),
        Op::Mul(_) => binary("bvmul"),
        Op::Shl(width) => shift("bvshl", width),
        Op::Shr(width) => shift("bvlshr", width),
        Op::Sar(width) => shift("bvashr", width),
        Op::Compare(comparison, _) => compared(comparison, "u", at),
        Op::CompareSigned(comparison, _) => compared(comparison, "s", at),
        Op::Select(_) => format!("(ite {} {} {})", at[0], at[1], at[2]),
        Op::Number => format!("(ite {} #x00000001 #x00000000)", at[0]),
        Op::Widen => format!("((_ zero_extend 32) {})", at[0]),
        Op::WidenSigned => format!("((_ sign_extend 32) {})", at[0]),
        Op::Narrow => format!("((_ extract 31 0) {})", at[0]),
        Op::Extra(extra) => extra.term(at),
    }
}

/// The term of a comparison; the sign is `s` or `u`.
pub(crate) fn compared(comparison: Comparison, sign: &str, at: &[String]) -> String {
    let relation = match comparison {
        Comparison::Eq => return format!("(= {} {})", at[0], at[1]),
        Comparison::Ne => return format!("(not (= {} {}))", at[0], at[1]),
        Comparison::Lt => "lt",
        Comparison::Le => "le",
        Comparison::Gt => "gt",
        Comparison::Ge => "ge",
    };
    format!("(bv{sign}{relation} {} {})", at[0], at[1])
}

/// What is to be proved of a base instruction: that the plain operations for it compute what its row of the table says, for operands that
/// are any words.
///
/// `constant` is put in the place of the second operand, if the instruction's operations depend on it. Long operands and results,
/// and predicates, are made of words and compared as words. `None` if the instruction has no such operand.
pub fn query_of_base(op: Base, constant: Option<u32>) -> Option<Query> {
    let registers = [Value::A, Value::B, Value::C];
    let mut sequence = Sequence::default();
    let mut operands = Vec::new();
    for (i, sort) in op.operands().iter().enumerate() {
        let register = match constant {
            Some(constant) if i == 1 => Value::Word(constant),
            _ => *registers.get(i)?,
        };
        operands.push(match sort {
            BaseSort::Word => register,
            // Both halves from registers, so that any long word occurs.
            BaseSort::Long => sequence.push(Base::Join, &[register, registers[(i + 1) % 3]]),
            BaseSort::Predicate => {
                sequence.push(Base::Setp(Comparison::Ne, vop::isa::types::Type::U32), &[register, Value::Word(0)])
            }
            BaseSort::Half => return None,
        });
    }
    let result = sequence.push(op, &operands);
    let mut equal = Vec::new();
    let mut script = Script::new();
    let words = ["a", "b", "c"].map(|name| script.declare(name, 32));
    let words = [&words[0][..], &words[1], &words[2]];
    let mut claim = |sequence: &mut Sequence, name: &str, result: Value| {
        sequence.set_result(result);
        let wanted = base_terms(sequence, &mut script, words);
        let given = translate(sequence, &PLAIN).terms(&mut script, words, &mut equal);
        equal.push(Equal { name: name.into(), given, wanted });
    };
    match op.sort() {
        BaseSort::Word => claim(&mut sequence, "d", result),
        BaseSort::Long => {
            let low = sequence.push(Base::Low, &[result]);
            claim(&mut sequence, "the lower word", low);
            let high = sequence.push(Base::High, &[result]);
            claim(&mut sequence, "the upper word", high);
        }
        BaseSort::Predicate => {
            let number = sequence.push(Base::Selp, &[Value::Word(1), Value::Word(0), result]);
            claim(&mut sequence, "d", number);
        }
        BaseSort::Half => return None,
    }
    Some(Query::new(Claim::Sequence, script, equal))
}

/// The term of a sequence's result by the table of base instructions.
fn base_terms(sequence: &Sequence, script: &mut Script, words: [&str; 3]) -> String {
    let mut terms: Vec<String> = Vec::new();
    let of = |value: Value, terms: &[String]| match value {
        Value::A => words[0].to_string(),
        Value::B => words[1].to_string(),
        Value::C => words[2].to_string(),
        Value::Word(word) => format!("#x{word:08x}"),
        Value::Long(long) => format!("#x{long:016x}"),
        Value::Step(number) => terms[number].clone(),
    };
    for (op, operands) in sequence.steps() {
        let at: Vec<String> = operands.iter().map(|&operand| of(operand, &terms)).collect();
        let at: Vec<&str> = at.iter().map(String::as_str).collect();
        let bits = match op.sort() {
            BaseSort::Predicate => Bits::Bool,
            BaseSort::Half => Bits::Vector(16),
            BaseSort::Word => Bits::Vector(32),
            BaseSort::Long => Bits::Vector(64),
        };
        let term = op.smt(&at);
        terms.push(script.define(bits, term));
    }
    of(sequence.result().unwrap_or(Value::Word(0)), &terms)
}
