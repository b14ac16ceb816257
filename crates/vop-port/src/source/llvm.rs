//! LLVM IR: calls in the place of calls of an `asm`.
//!
//! ```text
//! %d = call i32 asm "vadd4… $0, $1, $2, $3;", "=r,r,r,r"(i32 %a, i32 %b, i32 0) #1
//! %d = call i32 @vadd4_…(i32 %a, i32 %b, i32 0) #1
//! ```
//!
//! Values are never assigned twice, so each step of a template is a call whose value has a new name, and the last call has the name that
//! the `asm` had. A guard is the choice between the new value and the old one.

use std::ops::Range;

use vop_ptx::asm::{Access, AsmStatement, Class};

use super::body::{Body, Place, Source};
use super::write::PARAMETERS;
use crate::{Base, Port, Target, port_base};

/// What stands for an `asm`: the bytes that are replaced, the text, the functions that it calls, and notes.
pub(super) struct Written {
    pub(super) span: Range<usize>,
    pub(super) text: String,
    pub(super) functions: Vec<Port>,
    pub(super) notes: Vec<&'static str>,
}

/// The words that may stand beside the type of a value.
const ATTRIBUTES: [&str; 5] = ["noundef", "zeroext", "signext", "inreg", "returned"];

/// A value of LLVM IR for each place.
struct Values {
    operands: Vec<Option<String>>,
    locals: Vec<Option<String>>,
}

impl Values {
    fn of(&mut self, place: Place) -> &mut Option<String> {
        match place {
            Place::Operand(number) => &mut self.operands[number],
            Place::Local(number) => &mut self.locals[number],
        }
    }
}

/// Writes what stands for a statement. `functions` are those of the steps.
pub(super) fn statement(
    source: &[u8],
    statement: &AsmStatement,
    body: &Body,
    functions: &[Port],
    target: Target,
) -> Result<Written, String> {
    let text = |range: Range<usize>| String::from_utf8_lossy(&source[range]).into_owned();
    let line = source[..statement.span.start].iter().rposition(|b| *b == b'\n').map_or(0, |end| end + 1);
    let before = text(line..statement.span.start);
    let (head, ty) = before.rsplit_once("call ").ok_or("it is not called by `call` in one line")?;
    let mut types = ty.split_whitespace().filter(|word| !ATTRIBUTES.contains(word));
    match (types.next(), types.next()) {
        (Some("i32"), None) => {}
        (Some("void"), None) => return Err("it has no result".into()),
        _ => return Err(format!("its result is `{}`, and not `i32`", ty.trim())),
    }
    let outputs: Vec<usize> =
        (0..statement.operands.len()).filter(|&i| statement.operands[i].access != Access::In).collect();
    let [output] = outputs[..] else {
        return Err(format!("it has {} outputs; one is carried over", outputs.len()));
    };
    let mut values = Values { operands: Vec::new(), locals: vec![None; body.locals.len()] };
    for (number, operand) in statement.operands.iter().enumerate() {
        if operand.access != Access::In {
            // A tied output begins as the input.
            let tied = statement.operands.iter().find(|of| of.tied_to == Some(number));
            values.operands.push(tied.map(|of| argument(&text(of.expression.clone()), number)).transpose()?);
            continue;
        }
        let value = match operand.class {
            Class::Word | Class::Immediate => Some(argument(&text(operand.expression.clone()), number)?),
            _ => None,
        };
        values.operands.push(value);
    }
    let call = |function: &Port, from: &[String]| {
        let from: Vec<String> = from.iter().map(|value| format!("i32 {value}")).collect();
        format!("@{}({})", function.name(), from.join(", "))
    };
    let mut names = Names::new(source, statement.span.start);
    // Each call with the name of its value, and the functions.
    let mut calls: Vec<(String, String)> = Vec::new();
    let mut called: Vec<Port> = Vec::new();
    for (step, function) in body.steps.iter().zip(functions) {
        let mut from = vec!["0".to_string(); 3];
        for (i, source) in step.from.iter().enumerate() {
            if function.code().reads(PARAMETERS[i]) {
                from[i] = match source {
                    Source::Constant(value) => (*value as i32).to_string(),
                    Source::Long(value) => (*value as i64).to_string(),
                    Source::Place(place) => values.of(*place).clone().unwrap_or_else(|| "0".into()),
                };
            }
        }
        let mut value = names.next();
        calls.push((value.clone(), call(function, &from)));
        called.push(function.clone());
        if let Some((negated, predicate)) = step.guard {
            let old = values.of(step.to).clone().unwrap_or_else(|| "0".into());
            let predicate = values.of(predicate).clone().unwrap_or_else(|| "0".into());
            let from = if negated { [old, value, predicate] } else { [value, old, predicate] };
            let choice = function_of("selp.b32", 3, target)?;
            value = names.next();
            calls.push((value.clone(), call(&choice, &from)));
            called.push(choice);
        }
        *values.of(step.to) = Some(value);
    }
    let result = values.operands[output].clone().unwrap_or_else(|| "0".into());
    // The value that the statement had is that of the last call.
    if calls.last().is_none_or(|(name, _)| *name != result) {
        let copy = function_of("mov.b32", 1, target)?;
        let from = [result, "0".into(), "0".into()];
        calls.push((names.next(), call(&copy, &from)));
        called.push(copy);
    }
    let mut notes = Vec::new();
    if text(statement.span.clone()).split('"').next().is_some_and(|words| words.contains("sideeffect")) {
        notes.push("`sideeffect` is dropped");
    }
    let (_, last) = calls.pop().unwrap_or_default();
    let indent = super::write::indent(source, statement.span.start);
    let end = if super::include::has_crlf(source) { "\r\n" } else { "\n" };
    let mut lines: String = calls.iter().map(|(name, call)| format!("{name} = call i32 {call}{end}{indent}")).collect();
    let span = if calls.is_empty() {
        statement.span.clone()
    } else {
        // The other calls stand before the line.
        let (name, call) = head.split_once('=').map_or(("%", head), |(name, call)| (name.trim(), call));
        let is_alone = name.starts_with('%') && !name.contains(char::is_whitespace);
        if !is_alone || !["", "tail", "notail", "musttail"].contains(&call.trim()) {
            return Err("a label or another instruction stands before it in its line".into());
        }
        // From what stands behind the indent.
        let kept = before.len() - before.trim_start().len();
        lines.push_str(head.trim_start());
        lines.push_str("call ");
        lines.push_str(ty);
        line + kept..statement.span.end
    };
    Ok(Written { span, text: lines + &last, functions: called, notes })
}

/// The function of a base instruction without constants.
fn function_of(opcode: &str, arity: usize, target: Target) -> Result<Port, String> {
    let base = Base::read(opcode, &vec![None; arity]).ok_or_else(|| format!("`{opcode}` is not known"))?;
    Ok(port_base(&base, target))
}

/// The value of an argument, `i32 noundef %a`.
fn argument(text: &str, number: usize) -> Result<String, String> {
    let other = || format!("operand `${number}` is `{text}`, and not an `i32`");
    let mut rest = text.strip_prefix("i32").filter(|rest| rest.starts_with(' ')).ok_or_else(other)?.trim_start();
    while let Some((word, behind)) = rest.split_once(' ')
        && ATTRIBUTES.contains(&word)
    {
        rest = behind.trim_start();
    }
    Ok(rest.to_string())
}

/// Names of values that the file does not have.
struct Names {
    stem: String,
    count: usize,
}

impl Names {
    fn new(source: &[u8], at: usize) -> Names {
        let text = String::from_utf8_lossy(source);
        let mut stem = format!("%vop.{at}");
        while text.contains(&stem) {
            stem.push('_');
        }
        Names { stem, count: 0 }
    }

    fn next(&mut self) -> String {
        self.count += 1;
        format!("{}.{}", self.stem, self.count)
    }
}
