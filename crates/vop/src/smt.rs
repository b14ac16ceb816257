//! Forms as terms of SMT-LIB's `QF_BV`, the logic of bit vectors, for a solver.
//!
//! The stages of [`eval`](crate::eval) are written down once more here, as text: a second witness of what a form computes. A
//! [`Script`] collects declarations and definitions; terms are strings that name them.
//!
//! Intermediate values are as exact as the manual's: they stand in more bits than the widest needs. Products are
//! multiplied in 32 or 64 bits, as base instructions multiply them: a solver knows equal terms as equal, and would
//! spend hours on multipliers of two widths.

use alloc::collections::BTreeMap;
use alloc::format;
use alloc::string::{String, ToString};
use alloc::vec::Vec;
use core::fmt;

use crate::deviation::Deviations;
use crate::isa::form::{Finish, Form, MadMode, Variant};
use crate::isa::types::{Comparison, Operation, Secondary, Selector, Shape, ShiftMode};
use crate::term::{concat, constant, extended, part};

/// Constants that a solver may choose, and names for terms over them.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Script {
    /// The name and the number of bits of each.
    declared: Vec<(String, u32)>,
    /// Definitions and comments, a line each.
    lines: Vec<String>,
    /// The names of terms.
    names: BTreeMap<String, String>,
}

/// What a term is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Bits {
    /// `Bool`.
    Bool,
    /// A bit vector of this width.
    Vector(u32),
}

impl fmt::Display for Bits {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Bits::Bool => f.write_str("Bool"),
            Bits::Vector(bits) => write!(f, "(_ BitVec {bits})"),
        }
    }
}

impl Script {
    /// An empty script.
    pub fn new() -> Script {
        Script::default()
    }

    /// Declares a constant of `bits` bits, unless it is declared already; returns its name.
    pub fn declare(&mut self, name: &str, bits: u32) -> String {
        if !self.declared.iter().any(|(known, _)| known == name) {
            self.declared.push((name.to_string(), bits));
        }
        name.to_string()
    }

    /// Gives a term a name, or finds the one that it has.
    pub fn define(&mut self, bits: Bits, term: String) -> String {
        if !term.starts_with('(') {
            return term;
        }
        if let Some(name) = self.names.get(&term) {
            return name.clone();
        }
        let name = format!("t{}", self.names.len());
        self.lines.push(format!("(define-fun {name} () {bits} {term})"));
        self.names.insert(term, name.clone());
        name
    }

    /// Adds a comment.
    pub fn comment(&mut self, text: &str) {
        self.lines.push(format!("; {text}"));
    }

    /// Names and numbers of bits of what is declared.
    pub fn declared(&self) -> &[(String, u32)] {
        &self.declared
    }

    /// The commands in order, without comments: declarations, then definitions.
    pub fn commands(&self) -> impl Iterator<Item = String> {
        let declarations = self.declared.iter().map(|(name, bits)| declaration(name, *bits));
        declarations.chain(self.lines.iter().filter(|line| !line.starts_with(';')).cloned())
    }
}

fn declaration(name: &str, bits: u32) -> String {
    format!("(declare-const {name} {})", Bits::Vector(bits))
}

/// Declarations, then definitions and comments, a line each.
impl fmt::Display for Script {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (name, bits) in &self.declared {
            writeln!(f, "{}", declaration(name, *bits))?;
        }
        self.lines.iter().try_for_each(|line| writeln!(f, "{line}"))
    }
}

impl Form {
    /// The value of d as a term of 32 bits, by [`eval_by`](Form::eval_by); `words` are terms for registers a, b and c.
    ///
    /// ```
    /// use vop::smt::Script;
    /// let form: vop::Form = "vmax.u32.u32.u32 d.b0, a, b, c".parse().unwrap();
    /// let mut script = Script::new();
    /// let words = ["a", "b", "c"].map(|name| script.declare(name, 32));
    /// let d = form.smt(vop::Deviations::NONE, &mut script, [&words[0], &words[1], &words[2]]);
    /// assert!(script.to_string().contains(&format!("(define-fun {d} () (_ BitVec 32)")));
    /// ```
    pub fn smt(self, by: Deviations, script: &mut Script, words: [&str; 3]) -> String {
        let shape = self.mnemonic().shape();
        let input = |second: bool, lane: usize| {
            let selector = if second { self.bsel() } else { self.asel() };
            let of = |number: u8| (words[usize::from(usize::from(number) >= shape.lanes())], u32::from(number));
            let (word, low) = match selector {
                Selector::Word | Selector::Part(_) => (words[usize::from(second)], selector.place().0),
                Selector::Halves(lanes) => (of(lanes[lane]).0, of(lanes[lane]).1 % 2 * 16),
                Selector::Bytes(lanes) => (of(lanes[lane]).0, of(lanes[lane]).1 % 4 * 8),
            };
            match self.input_bits(second) {
                32 => word.to_string(),
                bits => part(word, low, bits),
            }
        };
        let (mask, accumulates) = match self.finish() {
            Finish::Lanes(mask) => (mask, false),
            Finish::Accumulate(mask) => (mask, true),
            _ => return self.smt_scalar(by, script, [&input(false, 0), &input(true, 0)], words[2]),
        };
        let mut results = Vec::new();
        for lane in (0..shape.lanes()).filter(|&lane| mask.has(lane)) {
            let inputs = [false, true].map(|second| script.define(Bits::Vector(shape.bits()), input(second, lane)));
            results.push((lane, self.smt_lane(script, [&inputs[0], &inputs[1]])));
        }
        if accumulates {
            let sum = results.iter().fold(words[2].to_string(), |sum, (_, result)| format!("(bvadd {sum} {result})"));
            return script.define(Bits::Vector(32), sum);
        }
        let lanes = (0..shape.lanes()).map(|lane| {
            let result = results.iter().find(|(of, _)| *of == lane);
            match result {
                Some((_, result)) => part(result, 0, shape.bits()),
                None => part(words[2], lane as u32 * shape.bits(), shape.bits()),
            }
        });
        let d = concat(lanes);
        script.define(Bits::Vector(32), d)
    }

    /// The width of what the first or second input takes.
    pub(crate) fn input_bits(self, second: bool) -> u32 {
        match self.mnemonic().shape() {
            Shape::Scalar => if second { self.bsel() } else { self.asel() }.place().1,
            shape => shape.bits(),
        }
    }

    /// The value of d of a scalar form. The inputs are terms as wide as the parts that the form takes.
    pub(crate) fn smt_scalar(self, by: Deviations, script: &mut Script, inputs: [&str; 2], c: &str) -> String {
        self.stages(by, script).scalar(inputs, None, c)
    }

    /// The value of d of a `vmad` whose exact product is a term of [`PRODUCT`] bits.
    pub(crate) fn smt_of_product(self, by: Deviations, script: &mut Script, product: &str, c: &str) -> String {
        self.stages(by, script).scalar(["", ""], Some(product), c)
    }

    fn stages(self, by: Deviations, script: &mut Script) -> Stages<'_> {
        let width = match self.mnemonic().operation() {
            // A product of two 33-bit values, and c; a 33-bit value shifted by 32.
            Operation::Mad | Operation::Shl => PRODUCT,
            // A sum of three 33-bit values.
            _ => 36,
        };
        Stages { script, form: self, by, width }
    }

    /// The exact result of a lane of a SIMD form, saturated, as a signed term of 32 bits: what is inserted or accumulated. The
    /// inputs are terms as wide as a lane.
    pub(crate) fn smt_lane(self, script: &mut Script, inputs: [&str; 2]) -> String {
        let by = Deviations::NONE;
        let mut stages = Stages { script, form: self, by, width: 32 };
        let [a, b] = [0, 1].map(|i| stages.source(inputs[i], i == 1));
        let t = stages.operated(a, b);
        stages.saturated(t)
    }
}

/// The width of the terms of `vmad`'s stages.
pub(crate) const PRODUCT: u32 = 72;

/// The stages of a form as terms of one width; each is given a name, so that none is written twice.
struct Stages<'s> {
    script: &'s mut Script,
    form: Form,
    by: Deviations,
    width: u32,
}

impl Stages<'_> {
    fn named(&mut self, term: String) -> String {
        self.script.define(Bits::Vector(self.width), term)
    }

    fn constant(&self, value: i64) -> String {
        wide_constant(value, self.width)
    }

    /// Extends the lower bits of a term.
    fn extended(&self, term: &str, bits: u32, signed: bool) -> String {
        extended(&part(term, 0, bits), self.width - bits, signed)
    }

    fn is_signed(&self, second: bool) -> bool {
        self.form.input_range(self.by, second).signed
    }

    /// Select: an input as a number.
    fn source(&mut self, input: &str, second: bool) -> String {
        let term = extended(input, self.width - self.form.input_bits(second), self.is_signed(second));
        self.named(term)
    }

    /// c as a number.
    fn c(&mut self, c: &str) -> String {
        let term = extended(c, self.width - 32, self.form.c_type(self.by).is_signed());
        self.named(term)
    }

    /// Operate, for all operations but `vmad`'s.
    fn operated(&mut self, a: String, b: String) -> String {
        let form = self.form;
        let operation = form.mnemonic().operation();
        let term = match (operation, form.variant()) {
            (Operation::Add, _) => format!("(bvadd {a} {b})"),
            (Operation::Sub, _) => format!("(bvsub {a} {b})"),
            (Operation::Absdiff, _) => format!("(ite (bvslt {a} {b}) (bvsub {b} {a}) (bvsub {a} {b}))"),
            (Operation::Min, _) => min(&a, &b),
            (Operation::Max, _) => max(&a, &b),
            (Operation::Avrg, _) => {
                let sum = self.named(format!("(bvadd {a} {b})"));
                let [zero, one] = [0, 1].map(|value| self.constant(value));
                let more = format!("(ite (bvslt {sum} {zero}) {zero} {one})");
                format!("(bvashr (bvadd {sum} {more}) {one})")
            }
            (_, Variant::Comparison(comparison)) => {
                let holds = match comparison {
                    Comparison::Eq => format!("(= {a} {b})"),
                    Comparison::Ne => format!("(not (= {a} {b}))"),
                    Comparison::Lt => format!("(bvslt {a} {b})"),
                    Comparison::Le => format!("(bvsle {a} {b})"),
                    Comparison::Gt => format!("(bvsgt {a} {b})"),
                    Comparison::Ge => format!("(bvsge {a} {b})"),
                };
                format!("(ite {holds} {} {})", self.constant(1), self.constant(0))
            }
            (_, Variant::Shift(mode)) => {
                let amount = match mode {
                    ShiftMode::Wrap => format!("(bvand {b} {})", self.constant(31)),
                    ShiftMode::Clamp => min(&b, &self.constant(32)),
                };
                let amount = self.named(amount);
                if operation == Operation::Shr {
                    format!("(bvashr {a} {amount})")
                } else {
                    let t = self.named(format!("(bvshl {a} {amount})"));
                    if form.shifts_in_64_bits(self.by) { self.extended(&t, 64, true) } else { t }
                }
            }
            // No form has such an operation without the modifier that goes with it.
            (Operation::Set | Operation::Shl | Operation::Shr | Operation::Mad, _) => self.constant(0),
        };
        self.named(term)
    }

    /// The exact product of `vmad`'s inputs.
    fn product(&mut self, inputs: [&str; 2]) -> String {
        let form = self.form;
        let [(x, x_signed), (y, y_signed)] = [0, 1].map(|i| {
            let bits = form.input_bits(i == 1);
            ((inputs[i], bits), self.is_signed(i == 1))
        });
        let bits = if x.1 + y.1 <= 32 { 32 } else { 64 };
        let [x, y] = [(x, x_signed), (y, y_signed)].map(|((x, from), signed)| {
            let term = extended(x, bits - from, signed);
            self.script.define(Bits::Vector(bits), term)
        });
        let product = self.script.define(Bits::Vector(bits), format!("(bvmul {x} {y})"));
        self.named(extended(&product, self.width - bits, x_signed || y_signed))
    }

    /// Operate, for `vmad`, from its product on: c, and the scaling.
    fn mad(&mut self, product: String, c: &str, mode: MadMode, scaled: Option<u32>) -> String {
        let c = self.c(c);
        let sum = match mode {
            MadMode::Plain | MadMode::NegateAB => format!("(bvadd {product} {c})"),
            MadMode::PlusOne => format!("(bvadd {product} {c} {})", self.constant(1)),
            MadMode::NegateA | MadMode::NegateB => format!("(bvsub {c} {product})"),
            MadMode::NegateC | MadMode::NegateABC => format!("(bvsub {product} {c})"),
        };
        let sum = self.named(sum);
        let Some(amount) = scaled else { return sum };
        let amount = self.constant(amount.into());
        let term = if self.form.scales_unsigned(self.by) {
            format!("(bvlshr {} {amount})", self.extended(&sum, 64, false))
        } else {
            format!("(bvashr {sum} {amount})")
        };
        self.named(term)
    }

    /// Saturate.
    fn saturated(&mut self, mut t: String) -> String {
        let form = self.form;
        let Some(range) = form.saturation_by(self.by) else { return t };
        let [least, greatest] = [range.min(), range.max()].map(|value| self.constant(value));
        if form.keeps_low_34_bits(self.by) {
            let term = self.extended(&t, 34, true);
            t = self.named(term);
        }
        let term = if form.saturates_part_unsigned(self.by) {
            format!("(ite {} {greatest} {})", self.negative(&t), min(&t, &greatest))
        } else if form.saturates_by_sign(self.by) {
            max(&t, &self.constant(0))
        } else {
            let t = self.named(min(&t, &greatest));
            max(&t, &least)
        };
        self.named(term)
    }

    fn negative(&self, t: &str) -> String {
        format!("(bvslt {t} {})", self.constant(0))
    }

    /// All stages of a scalar form; of `vmad`, if its product is given, those behind it.
    fn scalar(mut self, inputs: [&str; 2], product: Option<&str>, c: &str) -> String {
        let form = self.form;
        let t = match form.variant() {
            Variant::Mad(mode, scale) => {
                let product = product.map_or_else(|| self.product(inputs), ToString::to_string);
                self.mad(product, c, mode, scale.map(|scale| scale.bits()))
            }
            _ => {
                let [a, b] = [0, 1].map(|i| self.source(inputs[i], i == 1));
                self.operated(a, b)
            }
        };
        let mut t = self.saturated(t);
        let d = match form.finish() {
            Finish::Secondary(secondary) => {
                if form.cuts_to_32_bits(self.by) {
                    let term = self.extended(&t, 32, true);
                    t = self.named(term);
                }
                let c = self.c(c);
                let beyond = match form.compares_unsigned(self.by) {
                    true => self.negative(&t),
                    false => "false".to_string(),
                };
                match secondary {
                    Secondary::Add => format!("(bvadd {t} {c})"),
                    Secondary::Min => format!("(ite {beyond} {c} {})", min(&t, &c)),
                    Secondary::Max => format!("(ite {beyond} {t} {})", max(&t, &c)),
                }
            }
            Finish::Merge(to) => {
                let low = if form.merges_wrong_half(self.by) { 16 } else { 0 };
                let (below, above) = (to.shift(), to.shift() + to.bits());
                let parts = [
                    (below > 0).then(|| part(c, 0, below)),
                    Some(part(&t, low, to.bits())),
                    (above < 32).then(|| part(c, above, 32 - above)),
                ];
                let d = concat(parts.into_iter().flatten());
                return self.script.define(Bits::Vector(32), d);
            }
            _ => t,
        };
        let d = self.named(d);
        self.script.define(Bits::Vector(32), part(&d, 0, 32))
    }
}

/// A signed constant of `bits` bits, a multiple of four.
fn wide_constant(value: i64, bits: u32) -> String {
    let fill = if value < 0 { "f" } else { "0" };
    match bits.checked_sub(64) {
        None => constant(value as u64, bits),
        Some(more) => format!("#x{}{:016x}", fill.repeat(more as usize / 4), value),
    }
}

fn min(x: &str, y: &str) -> String {
    format!("(ite (bvsle {x} {y}) {x} {y})")
}

fn max(x: &str, y: &str) -> String {
    format!("(ite (bvsle {x} {y}) {y} {x})")
}
