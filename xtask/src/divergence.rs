//! The proof that [`Form::divergence`] misses no form.
//!
//! Both semantics are written down once more, as terms of bit-vector logic, and a solver is asked for an input that
//! separates them. Where `Form::separating` finds an input there is nothing to prove (but the terms must give that input the
//! same two values: they are a second witness of the stages, and this is where they are held against the first). Where it finds
//! none the solver must answer `unsat`; a time-out or `unknown` is a failure.

use std::collections::BTreeMap;
use std::io;

use easy_smt::{Context, ContextBuilder, Response, SExpr};
use vop::divergence::Source;
use vop::isa::form::{Finish, MadMode, Variant};
use vop::isa::types::{Comparison, Operation, Scale, Secondary, Selector, ShiftMode, Type};
use vop::{Deviation, Deviations, Form, scalar_forms};

/// What a proof found.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Proved {
    /// Forms that some input separates.
    pub separated: usize,
    /// Forms that no input separates.
    pub equal: usize,
    /// Questions that the solver was asked: one for each class of forms that differ only in where parts lie.
    pub questions: usize,
}

/// Proves, of all scalar forms, which of them two sets of deviations separate.
///
/// # Errors
/// A sentence on the first form that is misjudged or could not be decided, or on why the solver does not run.
pub fn prove(one: Deviations, other: Deviations) -> Result<Proved, String> {
    let mut solver = Solver::start()?;
    let mut proved = Proved::default();
    let mut classes: BTreeMap<String, bool> = BTreeMap::new();
    for form in scalar_forms() {
        let separating = form.separating(one, other, [Source::Free; 3]);
        *if separating.is_some() { &mut proved.separated } else { &mut proved.equal } += 1;
        let class = class(form);
        match classes.get(&class) {
            Some(&separated) if separated == separating.is_some() => continue,
            Some(_) => {
                return Err(format!("{form} is judged otherwise than forms that differ only in where parts lie"));
            }
            None => classes.insert(class, separating.is_some()),
        };
        match separating {
            // Both are the same code on such a form.
            None if one.concerning(form) == other.concerning(form) => continue,
            None => solver.must_be_equal(form, one, other)?,
            Some(inputs) => solver.must_give(form, inputs, [one, other])?,
        }
        proved.questions += 1;
    }
    Ok(proved)
}

/// A name for all forms that read parts of the same sizes and write one of the same size. Where a part lies in its register
/// decides nothing: registers a, b and c are independent, and every value of a part is reached. `d.h1` is kept apart for
/// [`Deviation::MergesWrongHalf`].
pub(crate) fn class(form: Form) -> String {
    let mut text = form.to_string();
    for part in ["b1", "b2", "b3"] {
        text = text.replace(&format!(".{part},"), ".b0,");
    }
    text.replace("a.h1,", "a.h0,").replace("b.h1,", "b.h0,")
}

/// A running solver in which a, b and c are declared.
pub struct Solver {
    context: Context,
}

impl Solver {
    /// Starts z3.
    ///
    /// # Errors
    /// A sentence that says what to install.
    pub fn start() -> Result<Solver, String> {
        let start = || {
            let mut context = ContextBuilder::new().with_z3_defaults().build()?;
            context.set_logic("QF_BV")?;
            for name in ["a", "b", "c"] {
                let sort = context.bit_vec_sort(context.numeral(32));
                context.declare_const(name, sort)?;
            }
            Ok(Solver { context })
        };
        start().map_err(|error: io::Error| {
            format!("z3 does not run ({error}): install Debian's z3 or PyPI's z3-solver, and have it on the PATH")
        })
    }

    /// Shows that no input separates two sets of deviations on a form.
    ///
    /// # Errors
    /// If some input separates the two, or the solver cannot tell.
    pub fn must_be_equal(&mut self, form: Form, one: Deviations, other: Deviations) -> Result<(), String> {
        match self.ask(form, [one, other], None).map_err(|error| error.to_string())? {
            Response::Unsat => Ok(()),
            Response::Sat => Err(format!("{form}: some input separates the two, and none was found")),
            Response::Unknown => Err(format!("{form}: the solver gives up")),
        }
    }

    /// Shows that the terms give an input the values that evaluation gives it.
    ///
    /// # Errors
    /// If they do not.
    pub fn must_give(&mut self, form: Form, inputs: [u32; 3], sets: [Deviations; 2]) -> Result<(), String> {
        let [a, b, c] = inputs;
        match self.gives(form, inputs, sets, sets.map(|set| form.eval_by(set, a, b, c)))? {
            true => Ok(()),
            false => Err(format!("{form} on {inputs:#x?}: evaluation and its transcription for the solver differ")),
        }
    }

    /// Whether the terms give an input these values.
    ///
    /// # Errors
    /// If the solver fails.
    pub fn gives(
        &mut self,
        form: Form,
        inputs: [u32; 3],
        sets: [Deviations; 2],
        values: [u32; 2],
    ) -> Result<bool, String> {
        let response = self.ask(form, sets, Some((inputs, values))).map_err(|error| error.to_string())?;
        Ok(response == Response::Sat)
    }

    /// Whether some input separates two sets, or whether an input has these two values.
    fn ask(&mut self, form: Form, sets: [Deviations; 2], case: Option<([u32; 3], [u32; 2])>) -> io::Result<Response> {
        self.context.push()?;
        let mut terms = Vec::new();
        for (name, set) in ["x", "y"].into_iter().zip(sets) {
            terms.push(Terms { context: &mut self.context, form, by: set, name, count: 0 }.value()?);
        }
        let context = &mut self.context;
        match case {
            None => {
                let differ = context.not(context.eq(terms[0], terms[1]));
                context.assert(differ)?;
            }
            Some((inputs, values)) => {
                let names = ["a", "b", "c"].map(|name| context.atom(name));
                for (term, value) in names.into_iter().chain(terms).zip(inputs.into_iter().chain(values)) {
                    let value = context.binary(32, value);
                    let equal = context.eq(term, value);
                    context.assert(equal)?;
                }
            }
        }
        let response = context.check()?;
        context.pop()?;
        Ok(response)
    }
}

/// The width of intermediate values: more than the 67 bits that the widest needs.
const WIDTH: usize = 72;

/// The stages of a form as terms; each is given a name, so that none is written twice.
struct Terms<'c> {
    context: &'c mut Context,
    form: Form,
    by: Deviations,
    name: &'static str,
    count: usize,
}

impl Terms<'_> {
    fn named(&mut self, term: SExpr) -> io::Result<SExpr> {
        self.count += 1;
        let sort = self.context.bit_vec_sort(self.context.numeral(WIDTH));
        self.context.define_const(format!("{}{}", self.name, self.count), sort, term)
    }

    fn constant(&self, value: i128) -> SExpr {
        self.context.binary(WIDTH, value as u128 & ((1 << WIDTH) - 1))
    }

    /// Extends the lower bits of a term `from` bits wide.
    fn extended(&self, term: SExpr, low: u32, bits: u32, signed: bool) -> SExpr {
        let part = self.context.extract((low + bits - 1) as i32, low as i32, term);
        let name = self.context.atom(if signed { "sign_extend" } else { "zero_extend" });
        let count = self.context.numeral(WIDTH as u32 - bits);
        let extend = self.context.list(vec![self.context.atom("_"), name, count]);
        self.context.list(vec![extend, part])
    }

    fn source(&mut self, name: &str, selector: Selector, ty: Type) -> io::Result<SExpr> {
        let (low, bits) = selector.place();
        let mad = self.form.mnemonic().operation() == Operation::Mad;
        let signed = ty == Type::S32 || mad && bits == 32 && self.by.has(Deviation::ReadsWordsSigned);
        let word = self.context.atom(name);
        self.named(self.extended(word, low, bits, signed))
    }

    fn c(&mut self, signed: bool) -> io::Result<SExpr> {
        let word = self.context.atom("c");
        self.named(self.extended(word, 0, 32, signed))
    }

    fn min(&self, x: SExpr, y: SExpr) -> SExpr {
        self.context.ite(self.context.bvsle(x, y), x, y)
    }

    fn max(&self, x: SExpr, y: SExpr) -> SExpr {
        self.context.ite(self.context.bvsle(x, y), y, x)
    }

    fn negative(&self, x: SExpr) -> SExpr {
        self.context.bvslt(x, self.constant(0))
    }

    /// The operate stage.
    fn operated(&mut self) -> io::Result<SExpr> {
        let form = self.form;
        let a = self.source("a", form.asel(), form.atype())?;
        let b = self.source("b", form.bsel(), form.btype())?;
        let operation = form.mnemonic().operation();
        let term = match (operation, form.variant()) {
            (Operation::Add, _) => self.context.bvadd(a, b),
            (Operation::Sub, _) => self.context.bvsub(a, b),
            (Operation::Absdiff, _) => {
                let difference = self.named(self.context.bvsub(a, b))?;
                self.context.ite(self.negative(difference), self.context.bvneg(difference), difference)
            }
            (Operation::Min, _) => self.min(a, b),
            (Operation::Max, _) => self.max(a, b),
            (Operation::Set, Variant::Comparison(comparison)) => {
                let context = &self.context;
                let holds = match comparison {
                    Comparison::Eq => context.eq(a, b),
                    Comparison::Ne => context.not(context.eq(a, b)),
                    Comparison::Lt => context.bvslt(a, b),
                    Comparison::Le => context.bvsle(a, b),
                    Comparison::Gt => context.bvsgt(a, b),
                    Comparison::Ge => context.bvsge(a, b),
                };
                self.context.ite(holds, self.constant(1), self.constant(0))
            }
            (Operation::Shl | Operation::Shr, Variant::Shift(mode)) => {
                let amount = match mode {
                    ShiftMode::Wrap => self.context.bvand(b, self.constant(31)),
                    ShiftMode::Clamp => self.min(b, self.constant(32)),
                };
                let amount = self.named(amount)?;
                if operation == Operation::Shr {
                    self.context.bvashr(a, amount)
                } else {
                    let t = self.named(self.context.bvshl(a, amount))?;
                    if self.by.has(Deviation::ShiftsIn64) { self.extended(t, 0, 64, true) } else { t }
                }
            }
            (Operation::Mad, Variant::Mad(mode, scale)) => return self.mad(a, b, mode, scale),
            (operation, variant) => unreachable!("no scalar form has {operation:?} and {variant:?}"),
        };
        self.named(term)
    }

    fn mad(&mut self, a: SExpr, b: SExpr, mode: MadMode, scale: Option<Scale>) -> io::Result<SExpr> {
        let signed = self.form.is_signed();
        let c = self.c(signed || self.by.has(Deviation::ReadsWordsSigned))?;
        let product = self.named(self.context.bvmul(a, b))?;
        let sum = match mode {
            MadMode::Plain | MadMode::NegateAB => self.context.bvadd(product, c),
            MadMode::PlusOne => self.context.bvadd(self.context.bvadd(product, c), self.constant(1)),
            MadMode::NegateA | MadMode::NegateB => self.context.bvsub(c, product),
            MadMode::NegateC | MadMode::NegateABC => self.context.bvsub(product, c),
        };
        let sum = self.named(sum)?;
        let amount = match scale {
            None => return Ok(sum),
            Some(Scale::Shr7) => self.constant(7),
            Some(Scale::Shr15) => self.constant(15),
        };
        let scaled = if self.by.has(Deviation::ScalesUnsigned) && !signed {
            self.context.bvlshr(self.extended(sum, 0, 64, false), amount)
        } else {
            self.context.bvashr(sum, amount)
        };
        self.named(scaled)
    }

    /// The saturate stage.
    fn saturated(&mut self, mut t: SExpr) -> io::Result<SExpr> {
        let form = self.form;
        if !form.sat() {
            return Ok(t);
        }
        let operation = form.mnemonic().operation();
        let shift = matches!(operation, Operation::Shl | Operation::Shr);
        let bits = match form.finish() {
            Finish::Merge(_) if shift && self.by.has(Deviation::SaturatesShiftToWord) => 32,
            Finish::Merge(part) => part.bits(),
            _ => 32,
        };
        let signed = form.is_signed();
        let greatest = self.constant((1 << (bits - u32::from(signed))) - 1);
        let least = self.constant(if signed { -(1 << (bits - 1)) } else { 0 });
        if shift && self.by.has(Deviation::KeepsLow34) {
            t = self.named(self.extended(t, 0, 34, true))?;
        }
        let sums = !shift && operation != Operation::Mad;
        let term = if sums && bits < 32 && self.by.has(Deviation::SaturatesPartUnsigned) {
            self.context.ite(self.negative(t), greatest, self.min(t, greatest))
        } else if sums && bits == 32 && !signed && self.by.has(Deviation::SaturatesBySign) {
            self.max(t, self.constant(0))
        } else {
            let t = self.named(self.min(t, greatest))?;
            self.max(t, least)
        };
        self.named(term)
    }

    /// The value of d.
    fn value(mut self) -> io::Result<SExpr> {
        let form = self.form;
        let operation = form.mnemonic().operation();
        let shift = matches!(operation, Operation::Shl | Operation::Shr);
        let signed = form.is_signed();
        let t = self.operated()?;
        let mut t = self.saturated(t)?;
        let d = match form.finish() {
            Finish::Secondary(secondary) => {
                let cut = matches!(operation, Operation::Add | Operation::Sub) || shift && form.sat();
                if cut && self.by.has(Deviation::CutsTo32) {
                    t = self.named(self.extended(t, 0, 32, true))?;
                }
                let c = match operation {
                    Operation::Set if self.by.has(Deviation::SignsCByA) => self.c(form.atype() == Type::S32)?,
                    _ => self.c(signed)?,
                };
                let beyond = match self.by.has(Deviation::ComparesUnsigned) && !signed {
                    true => self.negative(t),
                    false => self.context.false_(),
                };
                match secondary {
                    Secondary::Add => self.context.bvadd(t, c),
                    Secondary::Min => self.context.ite(beyond, c, self.min(t, c)),
                    Secondary::Max => self.context.ite(beyond, t, self.max(t, c)),
                }
            }
            Finish::Merge(part) => {
                if self.by.has(Deviation::MergesWrongHalf) && (part.shift(), part.bits()) == (16, 16) {
                    t = self.named(self.context.bvashr(t, self.constant(16)))?;
                }
                let c = self.c(false)?;
                let place = ((1i128 << part.bits()) - 1) << part.shift();
                let moved = self.context.bvshl(t, self.constant(part.shift().into()));
                let inserted = self.context.bvand(moved, self.constant(place));
                self.context.bvor(inserted, self.context.bvand(c, self.constant(!place)))
            }
            _ => t,
        };
        let d = self.named(d)?;
        Ok(self.context.extract(31, 0, d))
    }
}
