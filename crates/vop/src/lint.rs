//! Warnings and notes about legal instructions: one function for each rule, with the code whose explanation documents it.

use alloc::collections::BTreeMap;
use alloc::format;
use alloc::string::{String, ToString};
use alloc::vec::Vec;
use core::ops::Range;

use crate::diagnostic::{Code, Diagnostic};
use crate::divergence::Divergence;
use crate::interval::Interval;
use crate::interval::OperandValue;
use crate::isa::form::{Finish, Form};
use crate::isa::types::{Mask, Operation, Selector, Shape, Type};
use crate::semantics::{Deviation, Semantics};
use crate::text::{Declarations, Instruction, Operand, Places};

/// What is strange about a legal instruction: warnings and notes, in the order of its text. The instruction and its places
/// are what [`Parser::parse_with_places`](crate::Parser::parse_with_places) has read from the text.
///
/// For a mnemonic with its modifiers alone it tells only what holds for all operands.
///
/// ```
/// let text = "vabsdiff4.u32.u32.u32.sat d, a, b, c;";
/// let (instruction, places) = vop::Parser::new().parse_with_places(text).unwrap();
/// let found = vop::lint(text, &instruction, &places);
/// assert_eq!(found[0].code, vop::Code::V0702);
/// assert_eq!(&text[found[0].span.clone()], ".sat");
/// ```
pub fn lint(text: &str, instruction: &Instruction<'_>, places: &Places) -> Vec<Diagnostic> {
    Linter::default().lint(text, instruction, places)
}

/// [`lint`](lint()) for many instructions: whether ptxas's code differs takes thousands of evaluations to find out. The answer is
/// kept, as it is the same for all instructions of a form whose operands are registers.
#[derive(Debug, Default)]
pub struct Linter {
    known: BTreeMap<(Form, [OperandValue; 3]), Ptxas>,
}

/// What ptxas's code makes of a form.
#[derive(Debug, Clone, Copy, Default)]
struct Ptxas {
    /// How the code of the newest ptxas and, where it does something else, of older ones differs from the manual.
    divergences: [Option<Divergence>; 2],
    /// Whether older ones differ in another way where the newest does.
    older_too: bool,
    /// Where there is a `.sat` that has no effect: whether the code of the newest and of older ones would differ from the
    /// manual without it.
    without_sat: Option<[bool; 2]>,
    /// Whether the code of one of the two would become wrong without it.
    needs_sat: bool,
}

impl Ptxas {
    /// Whether the manual's value is had by dropping `.sat`.
    fn right_without_sat(&self) -> bool {
        self.without_sat == Some([false; 2]) && self.divergences.iter().any(Option::is_some)
    }
}

impl Linter {
    /// The most forms that are kept at once. Files have few; a loop over all forms has more.
    const KEPT: usize = 1 << 14;

    /// What is strange about a legal instruction, as [`lint`](lint()) has it.
    pub fn lint(&mut self, text: &str, instruction: &Instruction<'_>, places: &Places) -> Vec<Diagnostic> {
        self.lint_among(text, instruction, places, None)
    }

    /// As [`Linter::lint`], where the types of the registers are known: what a lint says to write instead fits them.
    pub fn lint_among(
        &mut self,
        text: &str,
        instruction: &Instruction<'_>,
        places: &Places,
        registers: Option<&dyn Declarations>,
    ) -> Vec<Diagnostic> {
        let (form, sources) = (instruction.form, instruction.operand_values());
        let ptxas = if places.operands.is_empty() { Ptxas::default() } else { self.ptxas(form, sources) };
        let subject = Subject { text, instruction, form, places, sources, ptxas, registers };
        let rules: &[fn(&Subject<'_>) -> Option<Diagnostic>] = match subject.places.operands.is_empty() {
            // Of a scalar form, a selector on d would change what `.sat` clamps to.
            true if form.mnemonic().shape().is_simd() => &[saturation_without_effect],
            true => &[],
            false => &[
                divergence,
                saturation_without_effect,
                ignored_operand,
                default_selectors,
                operand_left_out,
                constant_comparison,
                kept_lanes,
                repeated_lanes,
            ],
        };
        let mut found: Vec<Diagnostic> = rules.iter().filter_map(|rule| rule(&subject)).collect();
        found.sort_by_key(|lint| lint.span.start);
        found
    }

    fn ptxas(&mut self, form: Form, sources: [OperandValue; 3]) -> Ptxas {
        if let Some(&found) = self.known.get(&(form, sources)) {
            return found;
        }
        if self.known.len() >= Self::KEPT {
            self.known.clear();
        }
        let found = Self::find(form, sources);
        self.known.insert((form, sources), found);
        found
    }

    fn find(form: Form, sources: [OperandValue; 3]) -> Ptxas {
        let both = [Semantics::Ptxas, Semantics::PtxasTo13_2];
        let without_sat = (form.sat() && !form.can_saturate(sources))
            .then(|| both.map(|one| form.without_sat().divergence_of(one, sources).is_some()));
        let [new, old] = both.map(|one| one.deviations().concerning(form));
        let newest = form.divergence_of(Semantics::Ptxas, sources);
        let older = if old == new { None } else { form.divergence_of(Semantics::PtxasTo13_2, sources) };
        let older_too = newest.is_some() && form.separating(new, old, sources).is_some();
        let with_sat = [newest.is_some(), if old == new { newest.is_some() } else { older.is_some() }];
        let needs_sat = without_sat.is_some_and(|without| (0..2).any(|i| without[i] && !with_sat[i]));
        Ptxas { divergences: [newest, older], older_too, without_sat, needs_sat }
    }
}

struct Subject<'i> {
    text: &'i str,
    instruction: &'i Instruction<'i>,
    form: Form,
    places: &'i Places,
    sources: [OperandValue; 3],
    ptxas: Ptxas,
    registers: Option<&'i dyn Declarations>,
}

impl Subject<'_> {
    /// Where an operand stands: 0 is d. The instruction has it.
    fn operand(&self, i: usize) -> Range<usize> {
        self.places.operands.get(i).map_or(self.places.opcode.clone(), |place| place.whole.clone())
    }

    fn selector(&self, i: usize) -> Option<Range<usize>> {
        self.places.operands.get(i)?.selector.clone()
    }

    fn written(&self, span: &Range<usize>) -> &str {
        self.text.get(span.clone()).unwrap_or_default()
    }
}

/// The releases that V0709 is about.
const OLDER: &str = match Semantics::PtxasTo13_2.releases() {
    Some(releases) => releases,
    None => "",
};

/// V0701, and V0709 where only older versions differ.
fn divergence(subject: &Subject<'_>) -> Option<Diagnostic> {
    let (form, Ptxas { divergences, older_too, .. }) = (subject.form, subject.ptxas);
    let span = subject.places.opcode.clone();
    let diagnostic = match divergences[0] {
        Some(divergence) => {
            let message = format!("ptxas's code differs from the manual: {divergence}");
            Diagnostic::new(Code::V0701, span, message).note(divergence.why())
        }
        None => {
            let divergence = divergences[1]?;
            let message = format!("the code of ptxas {OLDER} differs from the manual: {divergence}");
            Diagnostic::new(Code::V0709, span, message).note(divergence.why())
        }
    };
    let diagnostic = if older_too {
        diagnostic.note(format!("The code of ptxas {OLDER} also {}.", Deviation::MergesWrongHalf.ptxas()))
    } else {
        diagnostic
    };
    let diagnostic = diagnostic.label(form.to_string());
    let sat = subject.places.sat.clone().filter(|_| subject.ptxas.right_without_sat());
    Some(match (sat, subject.instruction.in_base_ptx_among(subject.registers)) {
        (Some(sat), _) => diagnostic.help("drop `.sat`: by the manual it has no effect").edit(sat, ""),
        (None, Some(block)) => {
            let whole = subject.places.whole.clone();
            diagnostic.help(format!("as the manual says, in base PTX:\n{block}")).edit(whole, block)
        }
        (None, None) => diagnostic.help("write it in other instructions"),
    })
}

/// V0702.
fn saturation_without_effect(subject: &Subject<'_>) -> Option<Diagnostic> {
    let (form, ptxas) = (subject.form, &subject.ptxas);
    let saturation = form.saturation()?;
    // Where dropping `.sat` makes ptxas's code right, V0701 says so. Before `.min` and `.max`, which make c of what is clamped,
    // some forms need it for ptxas's code to be right.
    if form.can_saturate(subject.sources) || ptxas.right_without_sat() || ptxas.needs_sat {
        return None;
    }
    let (results, clamp) = (form.result_range(subject.sources), Interval::from(saturation));
    let message = match form.finish() {
        Finish::Secondary(secondary) if !clamp.holds(results) => format!(
            "`.sat` has no effect: it clamps to {clamp}, all results are {}, and for those outside it `{secondary}` gives c",
            within(results)
        ),
        _ if results == clamp => format!("`.sat` has no effect: it clamps to {clamp}, and all results lie there"),
        _ => format!("`.sat` has no effect: it clamps to {clamp}, and all results are {}", within(results)),
    };
    let help = match ptxas.without_sat.unwrap_or_default() {
        [true, _] => "drop it; ptxas's code is wrong with and without it (V0701)".to_string(),
        [false, true] if ptxas.divergences[0].is_some() => {
            format!(
                "drop it: then the newest ptxas's code is right; that of ptxas {OLDER} is wrong with and without it"
            )
        }
        [false, true] => format!("drop it; the code of ptxas {OLDER} is wrong with and without it (V0709)"),
        [false, false] => "drop it".to_string(),
    };
    let span = subject.places.sat.clone()?;
    Some(Diagnostic::new(Code::V0702, span.clone(), message).label("clamps nothing").help(help).edit(span, ""))
}

/// "in 0…7", or "5".
fn within(interval: Interval) -> String {
    format!("{}{interval}", if interval.max > interval.min { "in " } else { "" })
}

/// V0703.
fn ignored_operand(subject: &Subject<'_>) -> Option<Diagnostic> {
    if subject.form.uses_c() || subject.places.operands.len() < 4 {
        return None;
    }
    let span = subject.operand(3);
    let (mnemonic, c) = (subject.form.mnemonic(), subject.written(&span));
    let message = format!("`{mnemonic}` without a secondary operation ignores its fourth operand, `{c}`");
    let help = format!("drop it, or write `.add`, `.min` or `.max` for the result to be combined with `{c}`");
    // With the comma before it.
    let dropped = subject.operand(2).end..span.end;
    Some(Diagnostic::new(Code::V0703, span, message).label("ignored").help(help).edit(dropped, ""))
}

/// V0704.
fn default_selectors(subject: &Subject<'_>) -> Option<Diagnostic> {
    let form = subject.form;
    let shape = form.mnemonic().shape();
    let mask = form.mask()?;
    let defaults = [
        mask == Mask::full(shape),
        form.asel() == Selector::default_for(shape, false),
        form.bsel() == Selector::default_for(shape, true),
    ];
    // Whose selectors make a strange pair, V0706 speaks of those.
    let marked: Vec<Range<usize>> = operand_left_out(subject)
        .map(|lint| lint.related.into_iter().map(|(span, _)| span).chain([lint.span]).collect())
        .unwrap_or_default();
    let spans = (0..3).filter(|&i| defaults[i]).filter_map(|i| subject.selector(i));
    let mut spans = spans.filter(|span| !marked.contains(span));
    let first = spans.next()?;
    let message = format!("`{}` is what no selector means", subject.written(&first));
    let lint = Diagnostic::new(Code::V0704, first.clone(), message).help("leave it out").edit(first, "");
    Some(spans.fold(lint, |lint, span| lint.related(span.clone(), "this too").edit(span, "")))
}

/// The register that a SIMD selector's lane takes, and which of its bytes or half-words.
fn lanes(form: Form, second: bool) -> Vec<(usize, u8)> {
    let selector = if second { form.bsel() } else { form.asel() };
    let lanes: &[u8] = match &selector {
        Selector::Bytes(lanes) => lanes,
        Selector::Halves(lanes) => lanes,
        Selector::Word | Selector::Part(_) => &[],
    };
    let own = lanes.len() as u8;
    let counted = lanes.iter().enumerate().filter(|&(i, _)| form.mask().is_none_or(|mask| mask.has(i)));
    counted.map(|(_, &lane)| (usize::from(lane >= own), lane % own.max(1))).collect()
}

fn unit(shape: Shape) -> &'static str {
    if shape == Shape::Halves { "half-word" } else { "byte" }
}

/// V0706.
fn operand_left_out(subject: &Subject<'_>) -> Option<Diagnostic> {
    let (form, Instruction { a, b, .. }) = (subject.form, subject.instruction);
    let selects = subject.selector(1).is_some() || subject.selector(2).is_some();
    if a == b || !selects {
        return None;
    }
    let shape = form.mnemonic().shape();
    let (first, second) = (lanes(form, false), lanes(form, true));
    let names = [a, b].map(Operand::to_string);
    for (i, other) in [(0, 1), (1, 0)] {
        if first.iter().chain(&second).any(|&(register, _)| register == i) || first.is_empty() {
            continue;
        }
        let (name, other) = (&names[i], &names[other]);
        let message = format!("`{name}` is not read: both selectors pick from `{other}`");
        let span = subject.selector(i + 1)?;
        let own = if i == 0 { form.asel() } else { form.bsel() }.of_other_register();
        let write = match own == Selector::default_for(shape, i == 1) {
            true => format!("leave `{}` out for all of `{name}`'s {}s", subject.written(&span), unit(shape)),
            false => format!("write `{own}` for `{name}`'s {}s", unit(shape)),
        };
        let digits = match shape {
            Shape::Halves => "0 and 1 are a's, 2 and 3 b's",
            _ => "0 to 3 are a's, 4 to 7 b's",
        };
        let both = format!("to combine those of `{other}` alone, name it twice");
        let lint = Diagnostic::new(Code::V0706, span, message).label(format!("picks from `{other}`"));
        return Some(lint.note(format!("Digits {digits}, on either operand.")).help(format!("{write}; {both}")));
    }
    let twice = first.iter().zip(&second).find(|(first, second)| first == second);
    let (&(register, lane), _) = twice?;
    let span = subject.selector(2).or_else(|| subject.selector(1))?;
    let unit = unit(shape);
    let message = format!("{unit} {lane} of `{}` is combined with itself", names[register]);
    let mut lint = Diagnostic::new(Code::V0706, span.clone(), message);
    lint = match (form.mnemonic().operation(), form.finish(), form.asel()) {
        // The least of a value and itself is that value.
        (Operation::Min | Operation::Max, Finish::Lanes(mask), Selector::Bytes([w, z, y, x]))
            if mask == Mask::full(shape) && !form.sat() && first == second =>
        {
            let prmt = format!(
                "{}prmt.b32 {}, {a}, {b}, {:#06x}",
                subject.instruction.guard.map(|guard| format!("{guard} ")).unwrap_or_default(),
                subject.instruction.d,
                [x, y, z, w].map(u32::from).into_iter().fold(0, |word, digit| word << 4 | digit)
            );
            lint.help(format!("to permute bytes, write `{prmt}`"))
        }
        _ => lint.help(format!("select another {unit} for one of the two")),
    };
    if let Some(other) = subject.selector(1).filter(|other| *other != span) {
        lint = lint.related(other, "and here");
    }
    Some(lint)
}

/// V0707.
fn constant_comparison(subject: &Subject<'_>) -> Option<Diagnostic> {
    let form = subject.form;
    if form.mnemonic().operation() != Operation::Set {
        return None;
    }
    let results = form.result_range(subject.sources);
    // Of selectors that pair a lane with itself V0706 speaks.
    if results.min < results.max || operand_left_out(subject).is_some() {
        return None;
    }
    let always = if results.min == 0 { "always false" } else { "always true" };
    let Instruction { a, b, .. } = subject.instruction;
    let span = subject.places.comparison.clone()?;
    let same = subject.sources[1] == OperandValue::SameAs { operand: 0, plus: 0 };
    let [first, second] = form.input_ranges(subject.sources);
    let sides = [(1, a, first), (2, b, second)].into_iter().filter_map(|(i, operand, interval)| match operand {
        // A number that stands for itself.
        Operand::Immediate { text, .. } if *text == interval.to_string() => None,
        _ => Some(format!("`{}` is {}", subject.written(&subject.operand(i)), within(interval))),
    });
    let sides = if same { alloc::vec![format!("both sides come from `{a}`")] } else { sides.collect() };
    let gap = if sides.is_empty() { "" } else { ": " };
    let message = format!("this comparison is {always}{gap}{}", sides.join(", "));
    // What lies below 0 is looked for in a register that has none.
    let unsigned = |ty: Type, operand: &Operand<'_>, other: Interval| {
        ty == Type::U32 && matches!(operand, Operand::Register(_)) && other.max <= 0
    };
    let unsigned = unsigned(form.atype(), a, second) || unsigned(form.btype(), b, first);
    let help = if unsigned && !same {
        "compare with another value; a register that may be negative has type `.s32`"
    } else {
        "compare with something else"
    };
    Some(Diagnostic::new(Code::V0707, span, message).label(always).help(help))
}

/// V0708.
fn kept_lanes(subject: &Subject<'_>) -> Option<Diagnostic> {
    let form = subject.form;
    let Finish::Lanes(mask) = form.finish() else { return None };
    let d = subject.instruction.d;
    let shape = form.mnemonic().shape();
    if mask == Mask::full(shape) || subject.instruction.c != Some(Operand::Register(d)) {
        return None;
    }
    let message = format!("the lanes outside the mask keep `{d}`'s old value");
    let help = format!("if you mean that, keep it; in inline assembly declare `{d}` as read and written (`\"+r\"`)");
    let lint = Diagnostic::new(Code::V0708, subject.operand(3), message).help(help);
    Some(match subject.selector(0) {
        Some(mask) => lint.related(mask, "the mask"),
        None => lint,
    })
}

/// V0710.
fn repeated_lanes(subject: &Subject<'_>) -> Option<Diagnostic> {
    let selects = subject.selector(1).is_some() || subject.selector(2).is_some();
    if !selects || operand_left_out(subject).is_some() {
        return None;
    }
    let form = subject.form;
    let names = [subject.instruction.a, subject.instruction.b];
    let mut found = [false, true].into_iter().filter_map(|second| {
        let lanes = lanes(form, second);
        let repeated = lanes.iter().enumerate().find(|(i, lane)| lanes[..*i].contains(lane));
        let (_, &(register, lane)) = repeated?;
        Some((subject.selector(1 + usize::from(second))?, names[register], lane))
    });
    let (span, name, lane) = found.next()?;
    let unit = unit(form.mnemonic().shape());
    let message = format!("`{}` picks {unit} {lane} of `{name}` more than once", subject.written(&span));
    let lint = Diagnostic::new(Code::V0710, span, message).help("if you mean to broadcast it, keep it");
    Some(found.fold(lint, |lint, (span, ..)| lint.related(span, "this repeats one too")))
}
