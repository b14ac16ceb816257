//! The text that stands for an `asm` statement.

use std::collections::HashSet;
use std::ops::Range;

use vop::lower::Value;
use vop_ptx::asm::{Access, AsmOperand, AsmStatement};

use super::body::{Body, Kind, Place, Source, comment};
use super::notation::Notation;
use crate::Port;

/// What a function's parameters are called in its code.
pub(super) const PARAMETERS: [Value; 3] = [Value::A, Value::B, Value::C];

/// The text, which of the functions it calls, and notes for the reader.
pub(super) type Text = (String, Vec<bool>, Vec<&'static str>);

/// Writes what stands for a statement, without the `;`.
///
/// One instruction becomes an assignment. Several become a block, in which each input is evaluated once, before all else, and each
/// output is assigned at the end: as an `asm` does it.
pub(super) fn statement(
    source: &[u8],
    statement: &AsmStatement,
    body: &Body,
    functions: &[Option<Port>],
    notation: &dyn Notation,
) -> Result<Text, String> {
    let of = |place: &Range<usize>| {
        let text = without_comments(&String::from_utf8_lossy(&source[place.clone()]));
        Expression { in_macro: statement.in_macro, ..Expression::new(text, notation) }
    };
    let expressions: Vec<Expression> = statement.operands.iter().map(|operand| of(&operand.expression)).collect();
    let places: Vec<Expression> =
        statement.operands.iter().map(|operand| of(operand.result.as_ref().unwrap_or(&operand.expression))).collect();
    if let Some(empty) = expressions.iter().position(|expression| expression.text.is_empty()) {
        return Err(format!("operand `%{empty}` is empty"));
    }
    let mut notes = Vec::new();
    let head = String::from_utf8_lossy(&source[statement.span.clone()]);
    let keyword = if notation.is_c() { head.split(['(', '"']).next().unwrap_or_default() } else { "" };
    if keyword.contains("volatile") {
        notes.push("`volatile` is dropped");
    }
    if keyword.contains("goto") {
        return Err("it may jump: asm goto".into());
    }
    if notation.is_c() && head.contains("\"memory\"") {
        notes.push("the clobber `\"memory\"` is dropped: the call does not order accesses to memory");
    }
    if let Some(why) = unordered(statement, &expressions, &places) {
        return Err(why);
    }
    let writer = Writer { source, statement, body, functions, notation, expressions: &expressions, places: &places };
    let (text, called) = match writer.assignment() {
        Some(text) => (text, vec![true]),
        None => writer.block()?,
    };
    let is_twice = |operand: &AsmOperand| operand.access == Access::InOut && operand.result.is_none();
    if statement.in_macro && statement.operands.iter().any(is_twice) {
        notes.push("the macro's parameter that is read and written is evaluated twice");
    }
    Ok((text, called, notes))
}

/// Why the order in which an `asm` evaluates its operands cannot be had: the places of outputs first, then the inputs, from left to right.
/// Assignments evaluate the place last.
fn unordered(statement: &AsmStatement, expressions: &[Expression], places: &[Expression]) -> Option<String> {
    let outputs = || statement.operands.iter().zip(places).enumerate().filter(|(_, (of, _))| of.access != Access::In);
    let mut inputs = statement.operands.iter().zip(expressions).enumerate();
    let is_input = |operand: &AsmOperand| operand.access == Access::In || operand.result.is_some();
    let changes = inputs.find(|(_, (operand, of))| is_input(operand) && !of.is_pure);
    for (number, (_, place)) in outputs() {
        if !place.is_pure {
            return Some(format!("evaluating operand `%{number}`, which is written, may change something"));
        }
        if let Some((other, _)) = changes.filter(|_| !place.is_name()) {
            return Some(format!("evaluating operand `%{other}` may change which place operand `%{number}` is"));
        }
        // What is assigned before may be what this place depends on: a variable, or the `s` of `s.i` in `t[s.i]`.
        let root = |of: &Expression| words(&of.text).find(|word| !word.is_empty()).map(str::to_string);
        let changed = |of: &Expression| root(of).is_some_and(|root| depends(&place.text).any(|word| word == root));
        let is_in_place = |name: &str| !place.is_name() && words(&place.text).any(|word| word == name);
        let first = outputs().find(|(other, (_, of))| {
            *other != number && of.is_name() && is_in_place(&of.text)
                || *other < number && !place.is_name() && changed(of)
        });
        if let Some((other, _)) = first {
            return Some(format!("operand `%{other}` may change which place operand `%{number}` is"));
        }
    }
    None
}

/// An expression on its own: a comment in it would hide what is written behind it.
fn without_comments(expression: &str) -> String {
    // `//` may stand in a literal.
    if expression.contains(['"', '\'']) || !expression.contains('/') {
        return expression.to_string();
    }
    let (mut text, mut rest) = (String::new(), expression);
    while let Some(c) = rest.chars().next() {
        let (shown, length) = comment(rest).map_or((c, c.len_utf8()), |length| (' ', length));
        text.push(shown);
        rest = &rest[length..];
    }
    text.trim().to_string()
}

/// The words that decide which place an expression is: those in brackets, and all where a pointer is followed.
fn depends(place: &str) -> impl Iterator<Item = &str> {
    let follows = place.contains('*') || place.contains("->");
    let mut depth = 0_i32;
    let inner = place.split(move |c: char| {
        depth += i32::from(c == '[') - i32::from(c == ']');
        !(c.is_ascii_alphanumeric() || c == '_') || !follows && depth == 0
    });
    inner.filter(|word| word.starts_with(|c: char| c.is_ascii_alphabetic() || c == '_'))
}

/// The words of an expression.
fn words(text: &str) -> impl Iterator<Item = &str> {
    text.split(|c: char| !(c.is_ascii_alphanumeric() || c == '_'))
}

/// The text of an operand's expression.
pub(super) struct Expression {
    pub(super) text: String,
    /// Whether evaluating it changes nothing, as far as its text tells.
    is_pure: bool,
    /// Whether it stands in a macro's body, where a name is what the macro's use puts there: any expression.
    in_macro: bool,
}

impl Expression {
    fn new(text: String, notation: &dyn Notation) -> Expression {
        let bytes = text.as_bytes();
        let mut is_pure = !text.contains("++") && !text.contains("--") && !notation.changes(&text);
        for (i, &b) in bytes.iter().enumerate() {
            let before = bytes[..i].trim_ascii_end().last().copied().unwrap_or(b' ');
            match b {
                // An assignment; not a comparison.
                b'=' => {
                    let after = bytes.get(i + 1) == Some(&b'=');
                    is_pure &= after
                        || matches!(before, b'=' | b'!' | b'<' | b'>') && bytes.get(i.wrapping_sub(2)) != Some(&before);
                }
                // A call, or a conversion that reads as one.
                b'(' if before.is_ascii_alphanumeric() || matches!(before, b'_' | b'>' | b']' | b')') => {
                    is_pure &= before == b')' && is_cast(&text[..i]) || is_conversion(&text[..i]);
                }
                b'"' | b'\\' => is_pure = false,
                _ => {}
            }
        }
        Expression { text, is_pure, in_macro: false }
    }

    /// Whether it names a place that no evaluation changes: `d`, `sum.x`, `ns::d`.
    pub(super) fn is_name(&self) -> bool {
        self.text.bytes().all(|b| b.is_ascii_alphanumeric() || matches!(b, b'_' | b'.' | b':'))
    }

    /// Whether an operator before it takes all of it: a name that no macro replaces, or an element. Names of macros have capitals alone.
    pub(super) fn is_bare(&self) -> bool {
        let is_simple = self.text.bytes().all(|b| b.is_ascii_alphanumeric() || matches!(b, b'_' | b'[' | b']' | b'.'));
        is_simple && (self.is_number() || !self.in_macro && self.text.bytes().any(|b| b.is_ascii_lowercase()))
    }

    /// Whether it may be evaluated twice, or not at all.
    fn may_repeat(&self) -> bool {
        self.is_pure && (!self.in_macro || self.is_number())
    }

    /// Whether it is a number.
    fn is_number(&self) -> bool {
        self.text.starts_with(|c: char| c.is_ascii_digit()) && self.is_name()
    }

    /// As an argument of a call, or the value of an assignment.
    pub(super) fn argument(&self) -> String {
        if has_outside_brackets(&self.text, b",") { format!("({})", self.text) } else { self.text.clone() }
    }

    /// As what is assigned to.
    pub(super) fn place(&self) -> String {
        if self.in_macro || has_outside_brackets(&self.text, b",?") {
            format!("({})", self.text)
        } else {
            self.text.clone()
        }
    }
}

/// Whether a text ends with a type in parentheses, such as `(int)`.
fn is_cast(text: &str) -> bool {
    let Some(inner) = text.trim_end().strip_suffix(')').and_then(|text| text.rsplit('(').next()) else { return false };
    // `(*f)(3)` is a call.
    !inner.is_empty()
        && !inner.trim_start().starts_with('*')
        && inner.chars().all(|c| c.is_ascii_alphanumeric() || matches!(c, '_' | ' ' | '*' | ':'))
}

/// Whether a text ends with the name of a conversion: `int`, `unsigned`, `static_cast<…>`, `sizeof`.
fn is_conversion(text: &str) -> bool {
    let text = text.trim_end();
    let word = text.rsplit(|c: char| !(c.is_ascii_alphanumeric() || c == '_')).next().unwrap_or_default();
    matches!(
        word,
        "int" | "unsigned" | "uint" | "uint32_t" | "int32_t" | "sizeof" | "uint8_t" | "uint16_t" | "char" | "short"
    ) || text.ends_with('>') && (text.contains("static_cast<") || text.contains("reinterpret_cast<"))
}

fn has_outside_brackets(text: &str, signs: &[u8]) -> bool {
    let mut depth = 0_i32;
    text.bytes().any(|b| {
        match b {
            b'(' | b'[' | b'{' => depth += 1,
            b')' | b']' | b'}' => depth -= 1,
            _ => {}
        }
        depth == 0 && signs.contains(&b)
    })
}

struct Writer<'a> {
    source: &'a [u8],
    statement: &'a AsmStatement,
    body: &'a Body,
    /// The function of each step that has one.
    functions: &'a [Option<Port>],
    notation: &'a dyn Notation,
    /// What operands begin as.
    expressions: &'a [Expression],
    /// What gets the outputs.
    places: &'a [Expression],
}

impl Writer<'_> {
    /// `d = function(a, b, c)`, if that evaluates what the `asm` does: one instruction, every expression at most once.
    fn assignment(&self) -> Option<String> {
        let [step] = &self.body.steps[..] else { return None };
        let (None, Place::Operand(to)) = (step.guard, step.to) else { return None };
        // An operator needs words without sign, which the block makes.
        let function = self.functions[0].as_ref()?;
        let names = vec![String::new(); step.from.len()];
        if self.notation.plain(step, &names).is_some() {
            return None;
        }
        let operands = &self.statement.operands;
        // Another output would have to get a value, too.
        let is_output = |operand: &AsmOperand| operand.access != Access::In;
        if operands.iter().enumerate().any(|(i, operand)| i != to && is_output(operand)) {
            return None;
        }
        let mut read = vec![0; operands.len()];
        let mut arguments = Vec::new();
        for (i, source) in step.from.iter().enumerate() {
            arguments.push(match source {
                _ if !function.code().reads(PARAMETERS[i]) => self.notation.number(0),
                Source::Constant(value) => self.notation.number(*value),
                Source::Long(_) => return None,
                // A tied output begins as the input.
                Source::Place(Place::Operand(operand)) => {
                    let operand = self.given(*operand);
                    read[operand] += 1;
                    self.notation.argument(&self.expressions[operand], &operands[operand], self.before())
                }
                Source::Place(Place::Local(_)) => return None,
            });
        }
        // C leaves open in which order arguments are evaluated; so one that may change something stands alone.
        let is_input = |i: usize| operands[i].access == Access::In || operands[i].result.is_some();
        let inputs = || self.expressions.iter().enumerate().filter(|(i, of)| is_input(*i) && !of.is_number());
        if inputs().any(|(_, expression)| !expression.is_pure) && inputs().count() > 1 {
            return None;
        }
        for (i, expression) in self.expressions.iter().enumerate() {
            let times = read[i] + usize::from(i == to && operands[i].result.is_none());
            // Of a macro's parameter that is read and written a note says that it is evaluated twice.
            let is_fine = if i == to { expression.is_pure } else { expression.may_repeat() };
            if times != 1 && !is_fine {
                return None;
            }
        }
        let call = self.notation.call(function.name(), &three(&arguments));
        Some(self.notation.assigned(&self.places[to], &call, self.before()))
    }

    /// The file before the statement.
    fn before(&self) -> &str {
        let text = &self.source[..self.statement.span.start];
        std::str::from_utf8(text).unwrap_or_default()
    }

    /// The operand whose expression gives the value that an operand begins with.
    fn given(&self, operand: usize) -> usize {
        if self.statement.operands[operand].access == Access::In {
            return operand;
        }
        self.statement.operands.iter().position(|of| of.tied_to == Some(operand)).unwrap_or(operand)
    }

    /// A block that names every value.
    fn block(&self) -> Result<(String, Vec<bool>), String> {
        let operands = &self.statement.operands;
        let (notation, before) = (self.notation, self.before());
        let names = self.names();
        let mut lines = Vec::new();
        // Evaluated in their order. An input that is nowhere read is evaluated if that may have an effect.
        let is_read = |number: usize| {
            let place = Place::Operand(number);
            self.body.steps.iter().any(|step| {
                step.to == place
                    || step.from.contains(&Source::Place(place))
                    || step.guard.is_some_and(|(_, of)| of == place)
            })
        };
        for (number, operand) in operands.iter().enumerate() {
            let (name, expression) = (&names.operands[number], &self.expressions[number]);
            let value = |number: usize| notation.word(&self.expressions[number], &operands[number], before);
            match operand.access {
                Access::In if operand.tied_to.is_some() && !is_read(number) => {}
                Access::In if operand.tied_to.is_some() && !expression.is_pure => {
                    return Err(format!(
                        "operand `%{number}` is tied to an output and read itself, and evaluating it twice may change something"
                    ));
                }
                Access::In if is_read(number) => lines.push(notation.constant(name, Kind::of(operand), &value(number))),
                Access::In if !expression.may_repeat() => lines.push(notation.discarded(expression)),
                Access::In => {}
                Access::Out if is_read(number) => lines.push(self.variable(name, Place::Operand(number), None)),
                Access::Out => {}
                _ if !is_read(number) && self.expressions[self.given(number)].is_pure => {}
                _ => {
                    let given = value(self.given(number));
                    lines.push(self.variable(name, Place::Operand(number), Some(&given)));
                }
            }
        }
        for (number, _) in self.body.locals.iter().enumerate() {
            let place = Place::Local(number);
            if self.body.steps.iter().any(|step| step.to == place) {
                lines.push(self.variable(&names.locals[number], place, None));
            }
        }
        let name = |place: Place| match place {
            Place::Operand(number) => names.operands[number].clone(),
            Place::Local(number) => names.locals[number].clone(),
        };
        let mut called = Vec::new();
        for (step, function) in self.body.steps.iter().zip(self.functions) {
            let given = step.from.iter().enumerate().map(|(i, source)| match source {
                _ if function.as_ref().is_some_and(|function| !function.code().reads(PARAMETERS[i])) => {
                    notation.number(0)
                }
                Source::Place(place) => name(*place),
                Source::Constant(value) => notation.number(*value),
                Source::Long(value) => notation.long(*value),
            });
            let from: Vec<String> = given.collect();
            let plain = notation.plain(step, &from);
            called.push(plain.is_none());
            let call = || function.as_ref().map(|function| notation.call(function.name(), &three(&from)));
            let value = plain.or_else(call).unwrap_or_default();
            let line = format!("{} = {value};", name(step.to));
            lines.push(match step.guard {
                Some((negated, place)) => notation.guarded(negated, &name(place), &line),
                None => line,
            });
        }
        for (number, operand) in operands.iter().enumerate() {
            // Rust's `_` is no place.
            if operand.access != Access::In && is_read(number) && self.places[number].text != "_" {
                lines.push(format!("{};", notation.assigned(&self.places[number], &names.operands[number], before)));
            }
        }
        Ok((self.laid_out(&lines), called))
    }

    /// The declaration of a variable that steps write.
    fn variable(&self, name: &str, place: Place, given: Option<&str>) -> String {
        let writes = self.body.steps.iter().filter(|step| step.to == place).count();
        let zero = self.notation.number(0);
        let initial = given.or(Some(&*zero).filter(|_| self.needs_initial(place)));
        let kind = match place {
            Place::Operand(number) => Kind::of(&self.statement.operands[number]),
            Place::Local(number) => self.body.locals[number].kind,
        };
        self.notation.variable(name, kind, initial, writes + usize::from(initial.is_some()) > 1)
    }

    /// Whether a variable that no step writes unconditionally needs a value.
    fn needs_initial(&self, place: Place) -> bool {
        let first = self.body.steps.iter().find(|step| step.to == place);
        first.is_none_or(|step| step.guard.is_some())
    }

    /// The block's lines, indented as the statement is; on one line in a macro.
    fn laid_out(&self, lines: &[String]) -> String {
        let [open, close] = self.notation.block();
        // A macro's body of C is one line.
        if self.statement.in_macro && self.notation.is_c() {
            return format!("{open} {} {close}", lines.join(" "));
        }
        let start = self.statement.span.start;
        let indent = indent(self.source, start);
        let step = if indent.contains('\t') { "\t" } else { "    " };
        let end = if super::include::has_crlf(self.source) { "\r\n" } else { "\n" };
        let mut text = format!("{open}{end}");
        for line in lines {
            text.push_str(&format!("{indent}{step}{line}{end}"));
        }
        text.push_str(&format!("{indent}{close}"));
        text
    }

    /// Names of variables that nothing in the statement has.
    fn names(&self) -> Names {
        let text = String::from_utf8_lossy(&self.source[self.statement.span.clone()]).into_owned();
        let mut taken: HashSet<String> = HashSet::new();
        let mut fresh = |wish: String| {
            let mut name = format!("vop_{wish}");
            while text.contains(&name) || !taken.insert(name.clone()) {
                name.push('_');
            }
            name
        };
        let operands = self.statement.operands.iter().enumerate();
        let operands =
            operands.map(|(number, operand)| fresh(operand.name.clone().unwrap_or(number.to_string()))).collect();
        let locals = self.body.locals.iter().map(|local| fresh(local.name.clone())).collect();
        Names { operands, locals }
    }
}

struct Names {
    operands: Vec<String>,
    locals: Vec<String>,
}

/// The blanks at the start of the line that a place is in.
pub(super) fn indent(source: &[u8], place: usize) -> String {
    let line = source[..place].iter().rposition(|b| *b == b'\n').map_or(0, |at| at + 1);
    let blank = source[line..place].iter().take_while(|b| matches!(b, b' ' | b'\t')).count();
    String::from_utf8_lossy(&source[line..line + blank]).into_owned()
}

/// The arguments of a function of three parameters.
fn three(from: &[String]) -> Vec<String> {
    let mut from = from.to_vec();
    from.resize(3, "0".into());
    from
}
