//! What has to be proved of a candidate and of a sequence, as [`Query`]s for a solver.
//!
//! A query is a script and a claim about it; that the claim's negation is unsatisfiable is the proof. A candidate is proved with
//! the inputs of its positions as free constants `a0` to `a3` and `b0` to `b3`, in scalar forms `a` and `b`: so for all
//! selectors at once, and for all placements, as a sum does not depend on the order of its terms and lanes are put in their
//! places by `resolve.rs`, which has tests of its own. Nothing in a query says from which form it was made, so forms
//! that differ only in what does not matter have equal ones.
//!
//! Multipliers are beyond a solver. Where a candidate of `vmad` multiplies its inputs, as [`Product`] tells, the exact product is
//! a free constant too, of which its interval alone is supposed.
//!
//! Bytes that may be anything ([`Pick::Any`]) are free constants too. Free constants may take values that no selector gives
//! them together (where two lanes are one byte, say): what is proved is more than what is needed.

mod addends;

use alloc::borrow::Cow;
use alloc::format;
use alloc::string::{String, ToString};
use alloc::vec::Vec;
use core::fmt;

use super::base::{Op, Sort};
use super::candidate::{Candidate, Cut, Output, Pick, Step, Value};
use super::sequence::Sequence;
use crate::eval::Exact;
use crate::interval::Interval;
use crate::interval::OperandValue;
use crate::isa::form::{Finish, Form};
use crate::isa::range::Range;
use crate::isa::types::{Operation, Selector, Shape, Type};
use crate::semantics::Deviations;
use crate::smt::{Bits, PRODUCT, Script};
use crate::term::{concat, constant, extended, part};

/// A claim that holds if a solver says `unsat`.
///
/// `Display` prints all of it, as a solver reads it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Query {
    /// What is claimed.
    pub claim: Claim,
    script: Script,
    /// Terms that may be supposed.
    assumptions: Vec<String>,
    /// What is claimed to be equal.
    equal: Vec<Equal>,
}

/// Two terms that are claimed to be equal, and what they are.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Equal {
    /// What people call it: `d`, `lane 2`.
    pub name: String,
    /// What the candidate or the sequence gives.
    pub given: String,
    /// What the form asks for.
    pub wanted: String,
}

/// What a query claims.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Claim {
    /// At every live position of a candidate the lane is the form's result.
    Lanes,
    /// The value of a candidate is d.
    Value,
    /// The value of a candidate is c and, added to it, a sum for each group of positions: that of their results.
    Parts,
    /// At the [`Cut`] of a candidate every live position's result is what the lane says.
    Cut,
    /// From there on the candidate sums the results onto c.
    Sum,
    /// A sequence computes d from a, b and c.
    Sequence,
    /// Two readings of a form are one.
    Readings,
}

impl fmt::Display for Claim {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Claim::Lanes => "the lanes are the form's results",
            Claim::Value => "the value is the form's",
            Claim::Parts => "what the positions add to c are the form's results",
            Claim::Cut => "where the proof is cut, the lanes are the form's results",
            Claim::Sum => "from the cut on, the results are summed onto c",
            Claim::Sequence => "the sequence computes the form from a, b and c",
            Claim::Readings => "the two readings are one",
        })
    }
}

/// Why a candidate means nothing: a fault of the rule that wrote it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Malformed(pub Cow<'static, str>);

impl fmt::Display for Malformed {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl core::error::Error for Malformed {}

impl Query {
    /// A claim that terms of a script are equal.
    pub fn new(claim: Claim, script: Script, equal: Vec<Equal>) -> Query {
        Query { claim, script, assumptions: Vec::new(), equal }
    }

    /// Names and numbers of bits of the free constants.
    pub fn declared(&self) -> &[(String, u32)] {
        self.script.declared()
    }

    /// What is claimed to be equal.
    pub fn equal(&self) -> &[Equal] {
        &self.equal
    }

    /// The commands that ask for a counterexample, without `check-sat`: declarations, definitions and assertions.
    pub fn commands(&self) -> impl Iterator<Item = String> {
        self.script.commands().chain(self.assertions())
    }

    fn assertions(&self) -> impl Iterator<Item = String> {
        let mut differ: Vec<String> =
            self.equal.iter().map(|Equal { given, wanted, .. }| format!("(not (= {given} {wanted}))")).collect();
        let some = match differ.len() {
            0 => "false".to_string(),
            1 => differ.remove(0),
            _ => format!("(or {})", differ.join(" ")),
        };
        let assumed = self.assumptions.iter().map(|term| format!("(assert {term})"));
        assumed.chain([format!("(assert {some})")])
    }
}

impl fmt::Display for Query {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "; Proved if unsat: {}.\n(set-logic QF_BV)\n{}", self.claim, self.script)?;
        self.assertions().try_for_each(|line| writeln!(f, "{line}"))?;
        f.write_str("(check-sat)\n")
    }
}

/// Writes the steps of a candidate.
struct Writer<'a> {
    candidate: &'a Candidate,
    form: Form,
    script: Script,
    /// The terms of steps.
    terms: Vec<(String, Sort)>,
    /// Bytes that may be anything.
    free: u32,
    /// What stands for the product of the inputs.
    product: Option<Product>,
}

/// The exact product of the two inputs of a scalar form, as a constant that may be any number of an interval.
///
/// Base instructions give the lower bits of products, and these depend on the lower bits of the factors alone: so where the
/// factors are the inputs in all these bits, they give the lower bits of the exact product.
#[derive(Debug, Clone)]
struct Product {
    /// The constant, of [`PRODUCT`] bits.
    name: String,
    /// The values of the inputs.
    inputs: [Interval; 2],
}

impl Product {
    /// The values of the product.
    fn interval(&self) -> Interval {
        let [x, y] = self.inputs;
        let corners = [x.min * y.min, x.min * y.max, x.max * y.min, x.max * y.max];
        Interval {
            min: corners.into_iter().fold(Exact::MAX, Exact::min),
            max: corners.into_iter().fold(Exact::MIN, Exact::max),
        }
    }

    /// That it is one of them.
    fn assumption(&self) -> String {
        let Interval { min, max } = self.interval();
        let constant = |value: Exact| format!("(_ bv{} {PRODUCT})", value.cast_unsigned() & ((1 << PRODUCT) - 1));
        let name = &self.name;
        format!("(and (bvsle {} {name}) (bvsle {name} {}))", constant(min), constant(max))
    }
}

impl Candidate {
    /// What is to be proved, for all selectors: the candidate computes the form, d being what the deviations make it.
    ///
    /// # Errors
    /// If the candidate is not one that `resolve.rs` could make sense of.
    pub fn queries(&self, form: Form, by: Deviations) -> Result<Vec<Query>, Malformed> {
        self.check(form)?;
        match (&self.output, self.cut) {
            (Output::Value(_), Some(cut)) if matches!(form.finish(), Finish::Accumulate(_)) => {
                Ok(Vec::from([self.cut_query(form, cut)?, self.sum_query(form, cut)?]))
            }
            (Output::Value(value), _) => Ok(Vec::from([self.value_query(form, by, *value)?])),
            (Output::Lanes(_), _) => Ok(Vec::from([self.lanes_query(form)?])),
        }
    }

    /// Whether each lane that counts has one position.
    fn check(&self, form: Form) -> Result<(), Malformed> {
        let shape = form.mnemonic().shape();
        let wanted = |lane: usize| form.mask().map_or(lane == 0, |mask| lane < shape.lanes() && mask.has(lane));
        let once = (0..4).all(|lane| {
            let positions = self.placement.iter().filter(|&&of| of == Some(lane as u8)).count();
            positions == usize::from(wanted(lane))
        });
        let inside = self.placement.iter().skip(shape.lanes()).all(Option::is_none)
            && self.placement.iter().flatten().all(|&lane| lane < 4);
        if !once || !inside {
            return Err(Malformed("its placement does not have each lane that counts once".into()));
        }
        Ok(())
    }

    fn live(&self) -> impl Iterator<Item = u8> {
        (0..4).filter(|&position| self.placement[usize::from(position)].is_some())
    }

    fn writer(&self, form: Form) -> Writer<'_> {
        Writer { candidate: self, form, script: Script::new(), terms: Vec::new(), free: 0, product: None }
    }

    fn value_query(&self, form: Form, by: Deviations, value: Value) -> Result<Query, Malformed> {
        if matches!(form.finish(), Finish::Accumulate(_)) {
            let mut writer = self.writer(form);
            writer.steps(None)?;
            writer.word(value)?;
            if let Some(equal) = addends::parts(&mut writer, value)? {
                return Ok(Query::new(Claim::Parts, writer.script, equal));
            }
        }
        let mut writer = self.writer(form);
        writer.product = writer.multiplies_inputs(by);
        let assumptions = writer.product.iter().map(Product::assumption).collect();
        writer.steps(None)?;
        let given = writer.word(value)?;
        let wanted = match form.finish() {
            Finish::Accumulate(_) => {
                let sum = writer.sum_of_results()?;
                writer.script.define(Bits::Vector(32), sum)
            }
            Finish::Lanes(_) => return Err(Malformed("a form with lanes needs them as its output".into())),
            _ => {
                let [a, b] = [false, true].map(|second| writer.input(second, 0));
                let c = writer.script.declare("c", 32);
                match &writer.product {
                    Some(product) => form.smt_of_product(by, &mut writer.script, &product.name, &c),
                    None => form.smt_scalar(by, &mut writer.script, [&a, &b], &c),
                }
            }
        };
        let equal = Vec::from([Equal { name: "d".into(), given, wanted }]);
        Ok(Query { claim: Claim::Value, script: writer.script, assumptions, equal })
    }

    fn lanes_query(&self, form: Form) -> Result<Query, Malformed> {
        let (Output::Lanes(places), Finish::Lanes(_)) = (&self.output, form.finish()) else {
            return Err(Malformed("lanes are its output, and the form has none".into()));
        };
        let bits = form.mnemonic().shape().bits();
        let mut writer = self.writer(form);
        writer.steps(None)?;
        let mut equal = Vec::new();
        for position in self.live() {
            let place = places[usize::from(position)].ok_or(Malformed("a lane that counts has no place".into()))?;
            let word = writer.word(place.value)?;
            let low = u32::from(place.byte) * 8;
            if low + bits > 32 {
                return Err(Malformed("a lane does not stand wholly in its register".into()));
            }
            let result = writer.result(position);
            let (given, wanted) = (part(&word, low, bits), part(&result, 0, bits));
            equal.push(Equal { name: format!("lane at position {position}"), given, wanted });
        }
        Ok(Query::new(Claim::Lanes, writer.script, equal))
    }

    fn cut_query(&self, form: Form, cut: Cut) -> Result<Query, Malformed> {
        let shape = form.mnemonic().shape();
        let mut writer = self.writer(form);
        let Some(last) = cut.value.as_step() else {
            return Err(Malformed("it is cut where no step is".into()));
        };
        writer.steps(Some(last))?;
        let word = writer.word(cut.value)?;
        let mut equal = Vec::new();
        let live: Vec<u8> = self.live().collect();
        for position in 0..shape.lanes() as u8 {
            let lane = part(&word, u32::from(position) * shape.bits(), shape.bits());
            if live.contains(&position) {
                let given = writer.of_cut(cut, &lane);
                let wanted = writer.result(position);
                let range = in_range(form, &wanted);
                equal.push(Equal { name: format!("result at position {position}"), given, wanted });
                // What the sum supposes.
                equal.push(Equal { name: "whether it is one".into(), given: range, wanted: "true".into() });
            } else if cut.others_are_zero {
                let wanted = constant(0, shape.bits());
                equal.push(Equal { name: format!("lane at position {position}"), given: lane, wanted });
            }
        }
        Ok(Query::new(Claim::Cut, writer.script, equal))
    }

    fn sum_query(&self, form: Form, cut: Cut) -> Result<Query, Malformed> {
        let Output::Value(value) = self.output else {
            return Err(Malformed("lanes are its output, and the form has none".into()));
        };
        let shape = form.mnemonic().shape();
        let mut writer = self.writer(form);
        let live: Vec<u8> = self.live().collect();
        let mut lanes = Vec::new();
        let mut results = Vec::new();
        let mut assumptions = Vec::new();
        for position in 0..shape.lanes() as u8 {
            if live.contains(&position) || !cut.others_are_zero {
                let lane = writer.script.declare(&format!("lane{position}"), shape.bits());
                if live.contains(&position) {
                    let result = writer.of_cut(cut, &lane);
                    // Only results that the operation has need be summed.
                    assumptions.push(in_range(form, &result));
                    results.push(result);
                }
                lanes.push(lane);
            } else {
                lanes.push(constant(0, shape.bits()));
            }
        }
        let word = writer.script.define(Bits::Vector(32), concat(lanes.into_iter()));
        writer.steps_after(cut.value, word)?;
        let given = writer.word(value)?;
        let c = writer.script.declare("c", 32);
        let sum = results.iter().fold(c, |sum, result| format!("(bvadd {sum} {result})"));
        let wanted = writer.script.define(Bits::Vector(32), sum);
        let equal = Vec::from([Equal { name: "d".into(), given, wanted }]);
        Ok(Query { claim: Claim::Sum, script: writer.script, assumptions, equal })
    }
}

impl Writer<'_> {
    /// The constant that stands for an input of a position.
    fn input(&mut self, second: bool, position: u8) -> String {
        let letter = if second { 'b' } else { 'a' };
        let name = match self.form.mnemonic().shape() {
            Shape::Scalar => letter.to_string(),
            _ => format!("{letter}{position}"),
        };
        self.script.declare(&name, self.form.input_bits(second))
    }

    /// The product of the inputs, if the form is `vmad` and no step of the candidate multiplies anything else.
    fn multiplies_inputs(&mut self, by: Deviations) -> Option<Product> {
        if self.form.mnemonic().operation() != Operation::Mad {
            return None;
        }
        let inputs = [0, 1].map(|i| Interval::from(self.form.input_range(by, i == 1)));
        let product = Product { name: "product".into(), inputs };
        let steps = self.candidate.steps.iter();
        let all = steps.filter_map(|step| match step {
            Step::Base(op, operands) if multiplies(*op) => Some((*op, operands)),
            _ => None,
        });
        for (op, operands) in all {
            self.lower_of_product(&product, op, operands)?;
        }
        let name = self.script.declare(&product.name, PRODUCT);
        Some(Product { name, ..product })
    }

    /// Of how many bits an instruction gives the product of the inputs; `None` if it does not.
    fn lower_of_product(&self, product: &Product, op: Op, operands: &[Value]) -> Option<u32> {
        let held = |ty: Type, i: usize| Interval::from(Range::new(ty.is_signed(), 32)).holds(product.inputs[i]);
        match op {
            Op::Mul | Op::Mad | Op::MulWide(_) => {
                let wide = match op {
                    Op::MulWide(ty) => held(ty, 0) && held(ty, 1),
                    _ => true,
                };
                let words = [0, 1].into_iter().all(|i| self.is_input(operands.get(i).copied(), i == 1));
                (wide && words).then_some(if matches!(op, Op::MulWide(_)) { 64 } else { 32 })
            }
            Op::MulLong => {
                let extended = |i: usize| match self.candidate.steps.get(operands.get(i)?.as_step()?)? {
                    Step::Base(Op::Extend(ty), of) if held(*ty, i) => Some(self.is_input(of.first().copied(), i == 1)),
                    _ => None,
                };
                (extended(0)? && extended(1)?).then_some(64)
            }
            _ => None,
        }
    }

    /// Whether a value is an input as a word, extended by its type.
    fn is_input(&self, value: Option<Value>, second: bool) -> bool {
        let bits = self.form.input_bits(second);
        let register = if second { Value::B } else { Value::A };
        if bits == 32 {
            return value == Some(register);
        }
        let Some(Step::Pick(picks)) = value.and_then(Value::as_step).and_then(|n| self.candidate.steps.get(n)) else {
            return false;
        };
        let ty = if second { self.form.btype() } else { self.form.atype() };
        let bytes = (bits / 8) as u8;
        (0..).zip(picks).all(|(i, &pick)| {
            pick == match i {
                byte if byte < bytes => Pick::Byte { second, position: 0, byte },
                _ if ty.is_signed() => Pick::Sign { second, position: 0, byte: bytes - 1 },
                _ => Pick::Zero,
            }
        })
    }

    /// The exact result at a position, in 32 bits.
    fn result(&mut self, position: u8) -> String {
        let [a, b] = [false, true].map(|second| self.input(second, position));
        self.form.smt_lane(&mut self.script, [&a, &b])
    }

    /// c and the results of all live positions.
    fn sum_of_results(&mut self) -> Result<String, Malformed> {
        let c = self.script.declare("c", 32);
        let results: Vec<String> = self.candidate.live().map(|position| self.result(position)).collect();
        Ok(results.iter().fold(c, |sum, result| format!("(bvadd {sum} {result})")))
    }

    /// The result that a lane at the cut stands for, in 32 bits.
    fn of_cut(&mut self, cut: Cut, lane: &str) -> String {
        let bits = self.form.mnemonic().shape().bits();
        let lane = self.script.define(Bits::Vector(32), extended(lane, 32 - bits, cut.signed));
        let product = match cut.factor {
            1 => lane,
            -1 => format!("(bvneg {lane})"),
            factor => format!("(bvmul {} {lane})", constant(factor as u64, 32)),
        };
        let product = self.script.define(Bits::Vector(32), product);
        if cut.offset == 0 {
            return product;
        }
        self.script.define(Bits::Vector(32), format!("(bvadd {product} {})", constant(cut.offset as u64, 32)))
    }

    /// The terms of all steps, or of those up to one.
    fn steps(&mut self, last: Option<usize>) -> Result<(), Malformed> {
        let candidate = self.candidate;
        let count = last.map_or(candidate.steps.len(), |last| (last + 1).min(candidate.steps.len()));
        for step in &candidate.steps[..count] {
            self.step(step)?;
        }
        Ok(())
    }

    /// The terms of the steps that the output needs if a value is known.
    fn steps_after(&mut self, known: Value, word: String) -> Result<(), Malformed> {
        let candidate = self.candidate;
        let mut needed = alloc::vec![false; candidate.steps.len()];
        let need = |value: Value, needed: &mut Vec<bool>| {
            if let Some(number) = value.as_step().filter(|_| value != known)
                && let Some(needed) = needed.get_mut(number)
            {
                *needed = true;
            }
        };
        candidate.output.operands().into_iter().for_each(|value| need(value, &mut needed));
        for number in (0..candidate.steps.len()).rev().filter(|&number| known.as_step() != Some(number)) {
            if needed[number] {
                candidate.steps[number].operands().iter().for_each(|&value| need(value, &mut needed));
            }
        }
        for (number, step) in candidate.steps.iter().enumerate() {
            match needed[number] {
                true => self.step(step)?,
                // What is not needed is not asked for: the word, where it is known, is.
                false => self.terms.push((word.clone(), Sort::Word)),
            }
        }
        Ok(())
    }

    fn step(&mut self, step: &Step) -> Result<(), Malformed> {
        let term = match step {
            Step::Base(op, operands) => {
                self.script.comment(&op.opcode());
                let sorts = op.operands();
                let terms: Vec<(String, Sort)> =
                    operands.iter().map(|&operand| self.value(operand)).collect::<Result<_, _>>()?;
                if sorts.len() != terms.len() || sorts.iter().zip(&terms).any(|(sort, term)| *sort != term.1) {
                    return Err(Malformed(format!("{} does not take such operands", op.opcode()).into()));
                }
                let terms: Vec<&str> = terms.iter().map(|(term, _)| term.as_str()).collect();
                let product = self.product.as_ref().filter(|_| multiplies(*op));
                let lower = product.and_then(|product| {
                    let bits = self.lower_of_product(product, *op, operands)?;
                    Some(part(&product.name, 0, bits))
                });
                let term = match (lower, op) {
                    (Some(lower), Op::Mad) => format!("(bvadd {lower} {})", terms[2]),
                    (Some(lower), _) => lower,
                    (None, _) => op.smt(&terms),
                };
                let term = self.script.define(bits(op.sort()), term);
                (term, op.sort())
            }
            Step::Pick(picks) => {
                self.script.comment("picked bytes");
                let term = self.picked(picks);
                (self.script.define(Bits::Vector(32), term), Sort::Word)
            }
            Step::Sum { addend, weights } => {
                self.script.comment("weighted sum");
                let term = self.summed(*addend, weights)?;
                (self.script.define(Bits::Vector(32), term), Sort::Word)
            }
        };
        self.terms.push(term);
        Ok(())
    }

    fn value(&mut self, value: Value) -> Result<(String, Sort), Malformed> {
        Ok(match value {
            // A word that is no input may be anything.
            Value::A => (self.register(false), Sort::Word),
            Value::B => (self.register(true), Sort::Word),
            Value::C => (self.script.declare("c", 32), Sort::Word),
            Value::Word(word) => (constant(word.into(), 32), Sort::Word),
            Value::Long(long) => (constant(long, 64), Sort::Long),
            Value::Step(number) => {
                self.terms.get(number).cloned().ok_or(Malformed("a step reads one that is not before it".into()))?
            }
        })
    }

    fn register(&mut self, second: bool) -> String {
        if (if second { self.form.bsel() } else { self.form.asel() }) == Selector::Word {
            return self.input(second, 0);
        }
        self.script.declare(if second { "register_b" } else { "register_a" }, 32)
    }

    fn word(&mut self, value: Value) -> Result<String, Malformed> {
        match self.value(value)? {
            (term, Sort::Word) => Ok(term),
            _ => Err(Malformed("its output is no word".into())),
        }
    }

    /// Picked bytes. Inputs that are whole, or extended, are written so: a solver sees at once what they are.
    fn picked(&mut self, picks: &[Pick; 4]) -> String {
        let mut terms: Vec<String> = Vec::new();
        let mut i = 0;
        while i < 4 {
            let Pick::Byte { second, position, byte: 0 } = picks[i] else {
                terms.push(self.byte(picks[i]));
                i += 1;
                continue;
            };
            let bits = self.form.input_bits(second);
            let bytes = bits as usize / 8;
            let whole = (0..bytes).all(|k| picks.get(i + k) == Some(&Pick::Byte { second, position, byte: k as u8 }));
            if !whole {
                terms.push(self.byte(picks[i]));
                i += 1;
                continue;
            }
            let input = self.input(second, position);
            i += bytes;
            let fills = [(true, Pick::Sign { second, position, byte: bytes as u8 - 1 }), (false, Pick::Zero)];
            let fill = fills.into_iter().find(|(_, fill)| picks.get(i) == Some(fill));
            let Some((signed, fill)) = fill else {
                terms.push(input);
                continue;
            };
            let more = picks[i..].iter().take_while(|&&pick| pick == fill).count();
            terms.push(extended(&input, 8 * more as u32, signed));
            i += more;
        }
        match &terms[..] {
            [only] => only.clone(),
            _ => concat(terms.into_iter()),
        }
    }

    fn byte(&mut self, pick: Pick) -> String {
        let mut byte_of = |second: bool, position: u8, byte: u8| {
            let bits = self.form.input_bits(second);
            // Beyond an input stands what only the selectors know.
            if u32::from(byte) * 8 >= bits {
                let letter = if second { 'b' } else { 'a' };
                return self.script.declare(&format!("beyond_{letter}{position}_{byte}"), 8);
            }
            let input = self.input(second, position);
            if bits == 8 { input } else { part(&input, u32::from(byte) * 8, 8) }
        };
        match pick {
            Pick::Byte { second, position, byte } => byte_of(second, position, byte),
            Pick::Sign { second, position, byte } => format!("(bvashr {} #x07)", byte_of(second, position, byte)),
            Pick::Zero => constant(0, 8),
            Pick::Any => {
                self.free += 1;
                self.script.declare(&format!("any{}", self.free), 8)
            }
            Pick::Same(number) => self.script.declare(&format!("same{number}"), 8),
        }
    }

    fn summed(&mut self, addend: Value, weights: &[[i8; 4]; 2]) -> Result<String, Malformed> {
        let mut sum = self.word(addend)?;
        for (second, weights) in [false, true].into_iter().zip(weights) {
            let ty = if second { self.form.btype() } else { self.form.atype() };
            for (position, &weight) in (0..).zip(weights).filter(|&(_, &weight)| weight != 0) {
                let operation = match weight {
                    1 => "bvadd",
                    -1 => "bvsub",
                    _ => return Err(Malformed("a weight is none of -1, 0 and 1".into())),
                };
                if self.candidate.placement[usize::from(position)].is_none() {
                    return Err(Malformed("a position that stands for no lane is summed".into()));
                }
                let input = self.input(second, position);
                let term = extended(&input, 32 - self.form.input_bits(second), ty.is_signed());
                let term = self.script.define(Bits::Vector(32), term);
                sum = format!("({operation} {sum} {term})");
            }
        }
        Ok(sum)
    }
}

/// Whether an instruction multiplies its first two operands.
const fn multiplies(op: Op) -> bool {
    matches!(op, Op::Mul | Op::Mad | Op::MulWide(_) | Op::MulLong)
}

/// Whether a term of 32 bits is a result that the operation of a SIMD form has.
fn in_range(form: Form, result: &str) -> String {
    let Interval { min, max } = form.with_default_selectors().result_range([OperandValue::Free; 3]);
    let [min, max] = [min, max].map(|end| constant(end as u64, 32));
    format!("(and (bvsle {min} {result}) (bvsle {result} {max}))")
}

fn bits(sort: Sort) -> Bits {
    match sort {
        Sort::Predicate => Bits::Bool,
        Sort::Half => Bits::Vector(16),
        Sort::Word => Bits::Vector(32),
        Sort::Long => Bits::Vector(64),
    }
}

impl Sequence {
    /// That it computes a form from the words a, b and c, d being what the deviations make it.
    ///
    /// # Errors
    /// If the sequence has no result, or an instruction has operands that it does not take.
    pub fn query(&self, form: Form, by: Deviations) -> Result<Query, Malformed> {
        let mut script = Script::new();
        let words = ["a", "b", "c"].map(|name| script.declare(name, 32));
        let mut terms: Vec<(String, Sort)> = Vec::new();
        let term = |value: Value, terms: &[(String, Sort)]| match value {
            Value::A => Some((words[0].clone(), Sort::Word)),
            Value::B => Some((words[1].clone(), Sort::Word)),
            Value::C => Some((words[2].clone(), Sort::Word)),
            Value::Word(word) => Some((constant(word.into(), 32), Sort::Word)),
            Value::Long(long) => Some((constant(long, 64), Sort::Long)),
            Value::Step(number) => terms.get(number).cloned(),
        };
        for (op, operands) in &self.steps {
            let given: Vec<_> = operands.iter().filter_map(|&operand| term(operand, &terms)).collect();
            if !given.iter().map(|(_, sort)| sort).eq(op.operands()) {
                return Err(Malformed(format!("{} does not take such operands", op.opcode()).into()));
            }
            script.comment(&op.opcode());
            let given: Vec<&str> = given.iter().map(|(term, _)| term.as_str()).collect();
            let name = script.define(bits(op.sort()), op.smt(&given));
            terms.push((name, op.sort()));
        }
        let given = match self.result.and_then(|result| term(result, &terms)) {
            Some((given, Sort::Word)) => given,
            _ => return Err(Malformed("its result is no word".into())),
        };
        script.comment(&form.to_string());
        let wanted = form.smt(by, &mut script, [&words[0], &words[1], &words[2]]);
        let equal = Vec::from([Equal { name: "d".into(), given, wanted }]);
        Ok(Query::new(Claim::Sequence, script, equal))
    }
}
