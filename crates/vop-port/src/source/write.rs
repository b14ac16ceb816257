//! The text that stands for an `asm` statement.

use std::collections::HashSet;

use vop::lower::Value;
use vop_ptx::asm::{Access, AsmOperand, AsmStatement};

use super::body::{Body, Place, Source, Step, What, comment};
use crate::{Port, Target};

/// What a function's parameters are called in its code.
const PARAMETERS: [Value; 3] = [Value::A, Value::B, Value::C];

/// The text, which of the functions it calls, and notes for the reader.
type Text = (String, Vec<bool>, Vec<&'static str>);

/// Writes what stands for a statement, without the `;`.
///
/// One instruction becomes an assignment. Several become a block, in which each input is evaluated once, before all else, and each
/// output is assigned at the end: as an `asm` does it.
pub(super) fn statement(
    source: &[u8],
    statement: &AsmStatement,
    body: &Body,
    functions: &[Port],
    target: Target,
) -> Result<Text, String> {
    let text = |operand: &AsmOperand| without_comments(&String::from_utf8_lossy(&source[operand.expression.clone()]));
    let expressions: Vec<Expression> =
        statement.operands.iter().map(|operand| Expression::new(text(operand))).collect();
    if let Some(empty) = expressions.iter().position(|expression| expression.text.is_empty()) {
        return Err(format!("operand `%{empty}` is empty"));
    }
    let mut notes = Vec::new();
    let head = String::from_utf8_lossy(&source[statement.span.clone()]);
    let keyword = head.split(['(', '"']).next().unwrap_or_default();
    if keyword.contains("volatile") {
        notes.push("`volatile` is dropped");
    }
    if keyword.contains("goto") {
        return Err("it may jump: asm goto".into());
    }
    if head.contains("\"memory\"") {
        notes.push("the clobber `\"memory\"` is dropped: the call does not order accesses to memory");
    }
    if let Some(why) = unordered(statement, &expressions) {
        return Err(why);
    }
    let writer = Writer { source, statement, body, functions, target, expressions: &expressions };
    let (text, called) = match writer.assignment() {
        Some(text) => (text, vec![true]),
        None => writer.block()?,
    };
    if statement.in_macro && statement.operands.iter().any(|operand| operand.access == Access::InOut) {
        notes.push("the macro's parameter that is read and written is evaluated twice");
    }
    Ok((text, called, notes))
}

/// Why the order in which an `asm` evaluates its operands cannot be had: the places of outputs first, then the inputs, from left to right.
/// Assignments evaluate the place last.
fn unordered(statement: &AsmStatement, expressions: &[Expression]) -> Option<String> {
    let operands = || statement.operands.iter().zip(expressions).enumerate();
    let changes = operands().find(|(_, (operand, of))| operand.access == Access::In && !of.is_pure);
    for (number, (operand, place)) in operands() {
        if operand.access == Access::In {
            continue;
        }
        if !place.is_pure {
            return Some(format!("evaluating operand `%{number}`, which is written, may change something"));
        }
        if let Some((other, _)) = changes.filter(|_| !place.is_name()) {
            return Some(format!("evaluating operand `%{other}` may change which place operand `%{number}` is"));
        }
        let is_in_place = |name: &str| !place.is_name() && words(&place.text).any(|word| word == name);
        let first = operands().find(|(other, (operand, of))| {
            *other != number && operand.access != Access::In && of.is_name() && is_in_place(&of.text)
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

/// The words of an expression.
fn words(text: &str) -> impl Iterator<Item = &str> {
    text.split(|c: char| !(c.is_ascii_alphanumeric() || c == '_'))
}

/// The text of an operand's expression.
struct Expression {
    text: String,
    /// Whether evaluating it changes nothing, as far as its text tells.
    is_pure: bool,
}

impl Expression {
    fn new(text: String) -> Expression {
        let bytes = text.as_bytes();
        let mut is_pure = !text.contains("++") && !text.contains("--");
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
        Expression { text, is_pure }
    }

    /// Whether it names a place that no evaluation changes: `d`, `sum.x`, `ns::d`.
    fn is_name(&self) -> bool {
        self.text.bytes().all(|b| b.is_ascii_alphanumeric() || matches!(b, b'_' | b'.' | b':'))
    }

    /// Whether it is a number.
    fn is_number(&self) -> bool {
        self.text.starts_with(|c: char| c.is_ascii_digit()) && self.is_name()
    }

    /// As an argument of a call, or the value of an assignment.
    fn argument(&self) -> String {
        if has_outside_brackets(&self.text, b",") { format!("({})", self.text) } else { self.text.clone() }
    }

    /// As what is assigned to.
    fn place(&self) -> String {
        if has_outside_brackets(&self.text, b",?") { format!("({})", self.text) } else { self.text.clone() }
    }
}

/// Whether a text ends with a type in parentheses, such as `(int)`.
fn is_cast(text: &str) -> bool {
    let Some(inner) = text.trim_end().strip_suffix(')').and_then(|text| text.rsplit('(').next()) else { return false };
    !inner.is_empty() && inner.chars().all(|c| c.is_ascii_alphanumeric() || matches!(c, '_' | ' ' | '*' | ':'))
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
    functions: &'a [Port],
    target: Target,
    expressions: &'a [Expression],
}

impl Writer<'_> {
    /// `d = function(a, b, c)`, if that evaluates what the `asm` does: one instruction, every expression at most once.
    fn assignment(&self) -> Option<String> {
        let [step] = &self.body.steps[..] else { return None };
        let (None, Place::Operand(to)) = (step.guard, step.to) else { return None };
        // An operator needs words without sign, which the block makes.
        let names = vec![String::new(); step.from.len()];
        if plain(step, &names).is_some() {
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
                _ if !self.functions[0].code().reads(PARAMETERS[i]) => number(0),
                Source::Constant(value) => number(*value),
                // A tied output begins as the input.
                Source::Place(Place::Operand(operand)) => {
                    let operand = self.given(*operand);
                    read[operand] += 1;
                    self.expressions[operand].argument()
                }
                Source::Place(Place::Local(_)) => return None,
            });
        }
        // C leaves open in which order arguments are evaluated; so one that may change something stands alone.
        let is_input = |i: usize| operands[i].access == Access::In;
        let inputs = || self.expressions.iter().enumerate().filter(|(i, of)| is_input(*i) && !of.is_number());
        if inputs().any(|(_, expression)| !expression.is_pure) && inputs().count() > 1 {
            return None;
        }
        for (i, expression) in self.expressions.iter().enumerate() {
            let times = read[i] + usize::from(i == to);
            if times != 1 && !expression.is_pure {
                return None;
            }
        }
        let call = format!("{}({})", self.functions[0].name(), three(&arguments));
        Some(format!("{} = {call}", self.expressions[to].place()))
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
        let word = self.target.word();
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
            match operand.access {
                Access::In if operand.tied_to.is_some() && !is_read(number) => {}
                Access::In if operand.tied_to.is_some() && !expression.is_pure => {
                    return Err(format!(
                        "operand `%{number}` is tied to an output and read itself, and evaluating it twice may change something"
                    ));
                }
                Access::In if is_read(number) => {
                    lines.push(format!("const {word} {name} = {};", cast(word, expression)))
                }
                Access::In if !expression.is_pure => lines.push(format!("(void)({});", expression.text)),
                Access::In => {}
                Access::Out => {
                    let initial = if self.needs_initial(Place::Operand(number)) { " = 0" } else { "" };
                    if is_read(number) {
                        lines.push(format!("{word} {name}{initial};"));
                    }
                }
                _ => {
                    let given = self.given(number);
                    lines.push(format!("{word} {name} = {};", cast(word, &self.expressions[given])));
                }
            }
        }
        for (number, _) in self.body.locals.iter().enumerate() {
            let place = Place::Local(number);
            if self.body.steps.iter().any(|step| step.to == place) {
                let initial = if self.needs_initial(place) { " = 0" } else { "" };
                lines.push(format!("{word} {}{initial};", names.locals[number]));
            }
        }
        let name = |place: Place| match place {
            Place::Operand(number) => names.operands[number].clone(),
            Place::Local(number) => names.locals[number].clone(),
        };
        let mut called = Vec::new();
        for (step, function) in self.body.steps.iter().zip(self.functions) {
            let given = step.from.iter().enumerate().map(|(i, source)| match source {
                _ if !function.code().reads(PARAMETERS[i]) => number(0),
                Source::Place(place) => name(*place),
                Source::Constant(value) => number(*value),
            });
            let from: Vec<String> = given.collect();
            let plain = plain(step, &from);
            called.push(plain.is_none());
            let value = plain.unwrap_or_else(|| format!("{}({})", function.name(), three(&from)));
            let guard = match step.guard {
                Some((true, place)) => format!("if (!{}) ", name(place)),
                Some((false, place)) => format!("if ({}) ", name(place)),
                None => String::new(),
            };
            lines.push(format!("{guard}{} = {value};", name(step.to)));
        }
        for (number, operand) in operands.iter().enumerate() {
            if operand.access != Access::In && is_read(number) {
                lines.push(format!("{} = {};", self.expressions[number].place(), names.operands[number]));
            }
        }
        Ok((self.laid_out(&lines), called))
    }

    /// Whether a variable that no step writes unconditionally needs a value.
    fn needs_initial(&self, place: Place) -> bool {
        let first = self.body.steps.iter().find(|step| step.to == place);
        first.is_none_or(|step| step.guard.is_some())
    }

    /// The block's lines, indented as the statement is; on one line in a macro.
    fn laid_out(&self, lines: &[String]) -> String {
        if self.statement.in_macro {
            return format!("do {{ {} }} while (0)", lines.join(" "));
        }
        let start = self.statement.span.start;
        let line = self.source[..start].iter().rposition(|b| *b == b'\n').map_or(0, |at| at + 1);
        let blank = self.source[line..start].iter().take_while(|b| matches!(b, b' ' | b'\t')).count();
        let indent = String::from_utf8_lossy(&self.source[line..line + blank]);
        let step = if indent.contains('\t') { "\t" } else { "    " };
        let end = if super::include::has_crlf(self.source) { "\r\n" } else { "\n" };
        let mut text = format!("do {{{end}");
        for line in lines {
            text.push_str(&format!("{indent}{step}{line}{end}"));
        }
        text.push_str(&format!("{indent}}} while (0)"));
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

fn cast(word: &str, expression: &Expression) -> String {
    let simple = expression.text.bytes().all(|b| b.is_ascii_alphanumeric() || matches!(b, b'_' | b'[' | b']' | b'.'));
    if word.contains("::") {
        return format!("static_cast<{word}>({})", expression.text);
    }
    if simple { format!("({word}){}", expression.text) } else { format!("({word})({})", expression.text) }
}

fn number(value: u32) -> String {
    match value {
        0..10 => value.to_string(),
        10..=255 => format!("{value}u"),
        _ => format!("{value:#x}u"),
    }
}

/// The arguments of a function of three parameters.
fn three(from: &[String]) -> String {
    let mut from = from.to_vec();
    from.resize(3, "0".into());
    from.join(", ")
}

/// The value of a base instruction that an operator of C computes on words without sign.
fn plain(step: &Step, from: &[String]) -> Option<String> {
    let What::Base(base) = &step.what else { return None };
    let (name, modifiers) = base.opcode().split_once('.')?;
    let is_pred = modifiers == "pred";
    let sign = match (name, modifiers) {
        ("mov", _) => return Some(from[0].clone()),
        ("not", _) if !is_pred => return Some(format!("~{}", from[0])),
        ("neg", _) => return Some(format!("0u - {}", from[0])),
        ("selp", _) => return Some(format!("{} ? {} : {}", from[2], from[0], from[1])),
        ("mad", "lo.u32" | "lo.s32") => return Some(format!("{} * {} + {}", from[0], from[1], from[2])),
        ("add", "u32" | "s32" | "b32") => "+",
        ("sub", "u32" | "s32" | "b32") => "-",
        ("mul", "lo.u32" | "lo.s32") => "*",
        ("and", _) => "&",
        ("or", _) => "|",
        ("xor", _) => "^",
        ("shl", _) if is_amount(&step.from[1]) => "<<",
        ("shr", "u32" | "b32") if is_amount(&step.from[1]) => ">>",
        _ => return None,
    };
    // Two constants would be signed numbers.
    let is_constant = |source: &Source| matches!(source, Source::Constant(_));
    if step.from.iter().all(is_constant) {
        return None;
    }
    Some(format!("{} {sign} {}", from[0], from[1]))
}

fn is_amount(source: &Source) -> bool {
    matches!(source, Source::Constant(amount) if *amount < 32)
}
