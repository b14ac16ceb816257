//! What is to be proved: that plain operations compute a form, or a base instruction.
//!
//! In the terms, numbers are bit vectors without sign; so nothing overflows. That shifts are below the width is a claim of its own.

use vop::isa::types::Comparison;
use vop::lower::{Claim, Equal, Op as Base, Query, Sequence, Sort as BaseSort, Value};
use vop::smt::{Bits, Script};
use vop::{Form, Intrinsic, Semantics};

use crate::code::{Code, Op, Sort, Width};
use crate::machine::PLAIN;
use crate::translate::translate;

impl Code {
    /// What is to be proved of code that stands for a form: that it gives d for all a, b and c, and that all of its shifts are by less
    /// than the width.
    pub fn query(&self, form: Form, semantics: Semantics) -> Query {
        self.query_of(|script, words| form.smt(semantics.deviations(), script, words))
    }

    /// As [`Code::query`], of code that stands for an intrinsic.
    pub fn query_of_intrinsic(&self, intrinsic: &Intrinsic) -> Query {
        self.query_of(|_, words| intrinsic.smt(words))
    }

    /// As [`Code::query`], of code that stands for a base instruction: for what the manual says of it, where its rows of the table of base
    /// instructions are not just that.
    pub fn query_of_base(&self, base: &crate::Base) -> Query {
        self.query_of(|script, words| match definition(base, words) {
            Some(term) => term,
            None => base_terms(base.sequence(), script, words),
        })
    }

    fn query_of(&self, wanted: impl FnOnce(&mut Script, [&str; 3]) -> String) -> Query {
        let mut script = Script::new();
        let words = ["a", "b", "c"].map(|name| script.declare(name, 32));
        let words = [&words[0][..], &words[1], &words[2]];
        let wanted = wanted(&mut script, words);
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

/// What the manual says of an instruction of 16 bits. The registers are the lower halves of words; a result of 16 bits has zeros above.
fn definition_of_halves(name: &str, modifiers: &[&str], signed: bool, [a, b, c]: [&str; 3]) -> Option<String> {
    let [x, y, z] = [a, b, c].map(|word| format!("((_ extract 15 0) {word})"));
    let extend = |x: &str| format!("((_ {} 16) {x})", if signed { "sign_extend" } else { "zero_extend" });
    let sign = if signed { "s" } else { "u" };
    let is_inside = format!("(bvult {b} #x00000010)");
    let of_half = match (name, modifiers) {
        ("mul", ["wide"]) => return Some(format!("(bvmul {} {})", extend(&x), extend(&y))),
        ("mad", ["wide"]) => return Some(format!("(bvadd (bvmul {} {}) {c})", extend(&x), extend(&y))),
        ("setp", [by]) => {
            let holds = match *by {
                "eq" => format!("(= {x} {y})"),
                "ne" => format!("(distinct {x} {y})"),
                "lt" | "lo" => format!("(bv{sign}lt {x} {y})"),
                "le" | "ls" => format!("(bv{sign}le {x} {y})"),
                "gt" | "hi" => format!("(bv{sign}gt {x} {y})"),
                "ge" | "hs" => format!("(bv{sign}ge {x} {y})"),
                _ => return None,
            };
            return Some(format!("(ite {holds} #x00000001 #x00000000)"));
        }
        ("mov", []) => x,
        ("add", []) => format!("(bvadd {x} {y})"),
        ("sub", []) => format!("(bvsub {x} {y})"),
        ("mul", ["lo"]) => format!("(bvmul {x} {y})"),
        ("mad", ["lo"]) => format!("(bvadd (bvmul {x} {y}) {z})"),
        ("min", []) => format!("(ite (bv{sign}lt {x} {y}) {x} {y})"),
        ("max", []) => format!("(ite (bv{sign}gt {x} {y}) {x} {y})"),
        ("abs", []) => format!("(ite (bvslt {x} #x0000) (bvneg {x}) {x})"),
        ("neg", []) => format!("(bvneg {x})"),
        ("and" | "or" | "xor", []) => format!("(bv{name} {x} {y})"),
        ("not", []) => format!("(bvnot {x})"),
        ("selp", []) => format!("(ite (= {c} #x00000000) {y} {x})"),
        ("shl", []) => format!("(ite {is_inside} (bvshl {x} {y}) #x0000)"),
        ("shr", []) if signed => format!("(bvashr {x} (ite {is_inside} {y} #x000f))"),
        ("shr", []) => format!("(ite {is_inside} (bvlshr {x} {y}) #x0000)"),
        _ => return None,
    };
    Some(format!("((_ zero_extend 16) {of_half})"))
}

/// What the manual says that a base instruction computes, as a term. `None` where it is one row of the table of base instructions, whose
/// term says it.
fn definition(base: &crate::Base, words: [&str; 3]) -> Option<String> {
    // The operands: registers in their order, and constants.
    let mut registers = words.into_iter();
    let operands: Vec<String> = (0..base.arity())
        .map(|i| {
            base.constant(i).map_or_else(|| registers.next().unwrap_or_default().to_string(), |k| format!("#x{k:08x}"))
        })
        .collect();
    let [a, b, c, e] = core::array::from_fn(|i| operands.get(i).map_or("#x00000000", String::as_str));
    let opcode = base.opcode();
    let parts: Vec<&str> = opcode.split('.').collect();
    if parts[0] != "cvt"
        && let [name, modifiers @ .., ty @ ("u16" | "s16" | "b16")] = &parts[..]
    {
        return definition_of_halves(name, modifiers, *ty == "s16", [a, b, c]);
    }
    let bits = |x: &str, low: u32, count: u32| format!("((_ extract {} {low}) {x})", low + count - 1);
    let zeros = |x: &str, more: u32| format!("((_ zero_extend {more}) {x})");
    // Where an intrinsic of CUDA is the same, its term says it: those of shf, popc, clz, brev, products and dot products.
    if let Some(intrinsic) = Intrinsic::of_opcode(opcode).first() {
        return Some(intrinsic.smt([a, b, c]));
    }
    // Byte `k` of a and b, and its sign in eight bits.
    let byte = |k: u32| bits(if k < 4 { a } else { b }, 8 * (k % 4), 8);
    let concat = |mut of: Vec<String>| {
        of.reverse();
        format!("(concat {})", of.join(" "))
    };
    Some(match (parts[0], &parts[1..]) {
        ("prmt", [_]) => concat(
            (0..4)
                .map(|i| {
                    let digit = bits(c, 4 * i, 3);
                    let chosen =
                        (0..7).rev().fold(byte(7), |rest, k| format!("(ite (= {digit} #b{k:03b}) {} {rest})", byte(k)));
                    let sign = bits(c, 4 * i + 3, 1);
                    format!("(let ((byte {chosen})) (ite (= {sign} #b1) (bvashr byte #x07) byte))")
                })
                .collect(),
        ),
        ("prmt", [_, mode]) => {
            let of = |selector: u16| concat((0..4).map(|i| byte(u32::from(selector >> (4 * i) & 7))).collect());
            let selectors = crate::base::selectors_of(mode)?;
            (0..3).rev().fold(of(selectors[3]), |rest, k| {
                format!("(ite (= {} #b{k:02b}) {} {rest})", bits(c, 0, 2), of(selectors[k]))
            })
        }
        ("bfe", [ty]) => {
            // The manual's loop: bit i is that of a at b + i, or the sign.
            let [at, count] = [b, c].map(|x| zeros(&bits(x, 0, 8), 24));
            let bit = |at: &str| bits(&format!("(bvlshr {a} {at})"), 0, 1);
            let last = format!("(bvsub (bvadd {at} {count}) #x00000001)");
            let last = format!("(ite (bvult {last} #x0000001f) {last} #x0000001f)");
            let sign = match *ty {
                "u32" => "#b0".to_string(),
                _ => format!("(ite (= {count} #x00000000) #b0 {})", bit(&last)),
            };
            let bits = (0..32).map(|i| {
                let place = format!("(bvadd {at} #x{i:08x})");
                let inside = format!("(and (bvult #x{i:08x} {count}) (bvult {place} #x00000020))");
                format!("(ite {inside} {} {sign})", bit(&place))
            });
            concat(bits.collect())
        }
        ("bfi", _) => {
            // The manual's loop: bits of a from bit c on, e of them.
            let [at, count] = [c, e].map(|x| zeros(&bits(x, 0, 8), 24));
            let of = (0..32).map(|i| {
                let place = format!("(bvsub #x{i:08x} {at})");
                let inside = format!("(and (bvule {at} #x{i:08x}) (bvult {place} {count}))");
                format!("(ite {inside} {} {})", bits(&format!("(bvlshr {a} {place})"), 0, 1), bits(b, i, 1))
            });
            concat(of.collect())
        }
        ("slct", _) => format!("(ite (bvsge {c} #x00000000) {a} {b})"),
        ("selp", _) => format!("(ite (= {c} #x00000000) {b} {a})"),
        ("set" | "setp", [by, .., ty]) => {
            let sign = if *ty == "s32" { "s" } else { "u" };
            let holds = match *by {
                "eq" => format!("(= {a} {b})"),
                "ne" => format!("(distinct {a} {b})"),
                "lt" | "lo" => format!("(bv{sign}lt {a} {b})"),
                "le" | "ls" => format!("(bv{sign}le {a} {b})"),
                "gt" | "hi" => format!("(bv{sign}gt {a} {b})"),
                _ => format!("(bv{sign}ge {a} {b})"),
            };
            let yes = if parts[0] == "set" { "#xffffffff" } else { "#x00000001" };
            format!("(ite {holds} {yes} #x00000000)")
        }
        ("mad", ["hi", ty]) => {
            let extend = if *ty == "s32" { "sign_extend" } else { "zero_extend" };
            let product = format!("(bvmul ((_ {extend} 32) {a}) ((_ {extend} 32) {b}))");
            format!("(bvadd {} {c})", bits(&product, 32, 32))
        }
        ("mad24", [_, ty]) => {
            let extend = if *ty == "s32" { "sign_extend" } else { "zero_extend" };
            let [x, y] = [a, b].map(|x| format!("((_ {extend} 8) {})", bits(x, 0, 24)));
            format!("(bvadd (bvmul {x} {y}) {c})")
        }
        ("min" | "max", ["relu", "s32"]) => {
            let [x, y] = if parts[0] == "min" { [a, b] } else { [b, a] };
            format!("(let ((of (ite (bvslt {a} {b}) {x} {y}))) (ite (bvslt of #x00000000) #x00000000 of))")
        }
        ("bfind", _) => {
            let none = "#xffffffff".to_string();
            (0..32).fold(none, |rest, k| format!("(ite (= {} #b1) #x{k:08x} {rest})", bits(a, k, 1)))
        }
        ("cvt", [rest @ .., to, from]) if !rest.contains(&"pack") => {
            // In 34 bits, in which every value of every type is itself.
            let wide = |name: &str, x: &str, count: u32| {
                let extend = if name.starts_with('s') { "sign_extend" } else { "zero_extend" };
                format!("((_ {extend} {}) {})", 34 - count, bits(x, 0, count))
            };
            let width = |name: &str| name[1..].parse::<u32>().ok();
            let value = wide(from, a, width(from)?);
            let range = crate::base::range_of(to)?;
            let of = |k: i64| format!("(_ bv{} 34)", k as u64 & 0x3_ffff_ffff);
            let (least, most) = (of(range.min()), of(range.max()));
            let value = match rest {
                [] => value,
                _ => format!("(let ((of {value})) (ite (bvslt of {least}) {least} (ite (bvsgt of {most}) {most} of)))"),
            };
            let narrow = bits(&value, 0, range.bits);
            match range.bits {
                32 => narrow,
                count => {
                    let extend = if range.signed { "sign_extend" } else { "zero_extend" };
                    format!("((_ {extend} {}) {narrow})", 32 - count)
                }
            }
        }
        _ => return None,
    })
}
