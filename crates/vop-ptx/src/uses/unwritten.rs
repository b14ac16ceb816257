//! V0713: operands of an `asm` that are read before it writes them.

use std::collections::HashMap;

use vop::{Code, Diagnostic, Parser, Patch};

use super::operands::{self, Used, constraint, used, written};
use super::packed;
use crate::find::{Access, AsmOperand, Found, FoundKind, Step};

/// What has been written of an operand.
#[derive(Default)]
struct State {
    whole: bool,
    /// The guards under which it was written.
    guards: Vec<(String, bool)>,
}

/// All of a list of statements, each with the instruction that reads it, at most one for each operand.
pub(super) fn find<'s>(steps: &'s [Step], source: &[u8]) -> Vec<(&'s Found, Diagnostic)> {
    let asm = steps.iter().find_map(|step| match step {
        Step::Video(found) => found.context().asm.as_ref(),
        _ => None,
    });
    let has_outputs = asm.is_some_and(|asm| asm.operands.iter().any(|operand| operand.access == Access::Out));
    if !has_outputs {
        return Vec::new();
    }
    let mut found_all = Vec::new();
    let mut states: HashMap<String, State> = HashMap::new();
    // Whether control has come from elsewhere: then a statement further down may have been executed before.
    let mut joined = false;
    // Who writes each register, for that.
    let writers = writers(steps, source);
    for (i, step) in steps.iter().enumerate() {
        match step {
            Step::Video(found) => {
                let Some(parsed) = (found.kind == FoundKind::Statement)
                    .then(|| Parser::new().parse_with_places(&found.text).ok())
                    .flatten()
                else {
                    return found_all;
                };
                let (instruction, places) = parsed;
                let guard = instruction.guard.map(|guard| (guard.predicate.to_owned(), guard.negated));
                for used in used(found, source, &places) {
                    let Used { position, name, at, operand, .. } = used;
                    let Some(operand) = operand.filter(|operand| operand.access == Access::Out) else { continue };
                    let reads = match position {
                        0 => false,
                        3 => instruction.form.reads_c(),
                        _ => true,
                    };
                    let state = states.entry(name.to_owned()).or_default();
                    let is_written = state.whole
                        || guard.as_ref().is_some_and(|_| !state.guards.is_empty())
                        || joined && writers.get(name).is_some_and(|writers| writers.iter().any(|&writer| writer != i));
                    if reads && !is_written {
                        // Once for each.
                        state.whole = true;
                        let spelled = written(found, source, &at);
                        let message = format!(
                            "`{spelled}` is read before the asm writes it, and `{}` gives it no value",
                            constraint(operand)
                        );
                        let help = match operand.written.starts_with('"') {
                            true if spelled.starts_with('$') => {
                                let number = spelled.trim_matches(['$', '{', '}']);
                                format!("tie an input to it: the constraint `{number}` and its old value")
                            }
                            true => format!("write `{}`", inout(operand)),
                            false => format!("write `{}` instead of `{}`", inout(operand), constraint(operand)),
                        };
                        let lint = Diagnostic::new(Code::V0713, at, message).label("may hold anything");
                        let mut lint = super::placed(lint, found, source).help(help);
                        let is_discarded = source.get(operand.expression_place.clone()) == Some(b"_");
                        if is_discarded {
                            lint.patch = Patch::OutOfReach("`_` has no value that it could begin as");
                        } else if !spelled.starts_with('$') {
                            lint.patch = operands::patch(operand, source, &inout(operand));
                        }
                        found_all.push((found, lint.related(operand.whole.clone(), "declared as only written")));
                    }
                }
                let d = instruction.d.to_owned();
                write(states.entry(d).or_default(), guard);
            }
            Step::Other(text) => {
                let guard = guard_of(text);
                for name in destinations(text) {
                    write(states.entry(name).or_default(), guard.clone());
                }
                joined |= matches!(packed::effect(text), packed::Effect::Break);
            }
            Step::Break => joined = true,
            Step::Unknown => return found_all,
        }
    }
    found_all
}

/// The constraint of an operand that is read and written, in the place of that of one that is written.
fn inout(operand: &AsmOperand) -> String {
    match constraint(operand) {
        // What is written early stays apart from the inputs.
        quoted if quoted.starts_with('"') => format!("\"+{}", quoted.trim_start_matches(['"', '='])),
        other => format!("inout({}", other.split_once('(').map_or("", |(_, class)| class)),
    }
}

fn write(state: &mut State, guard: Option<(String, bool)>) {
    match guard {
        None => state.whole = true,
        Some((name, negated)) => {
            state.whole |= state.guards.iter().any(|(other, sign)| *other == name && *sign != negated);
            state.guards.push((name, negated));
        }
    }
}

/// The statements that write each register, by their index.
fn writers(steps: &[Step], source: &[u8]) -> HashMap<String, Vec<usize>> {
    let mut writers: HashMap<String, Vec<usize>> = HashMap::new();
    for (i, step) in steps.iter().enumerate() {
        match step {
            Step::Video(found) => {
                if let Ok((instruction, places)) = Parser::new().parse_with_places(&found.text) {
                    let d = used(found, source, &places).iter().any(|used| used.position == 0);
                    if d {
                        writers.entry(instruction.d.to_owned()).or_default().push(i);
                    }
                }
            }
            Step::Other(text) => {
                for name in destinations(text) {
                    writers.entry(name).or_default().push(i);
                }
            }
            Step::Break | Step::Unknown => {}
        }
    }
    writers
}

/// The registers that a statement may write. A call may write each that it names.
fn destinations(text: &str) -> Vec<String> {
    match packed::effect(text) {
        packed::Effect::Writes(registers) => packed::names(registers).map(str::to_owned).collect(),
        _ if text.contains("call") => text
            .split(|c: char| !c.is_ascii_alphanumeric() && !matches!(c, '_' | '$' | '%'))
            .filter(|word| word.starts_with('%'))
            .map(str::to_owned)
            .collect(),
        _ => Vec::new(),
    }
}

fn guard_of(text: &str) -> Option<(String, bool)> {
    let guard = text.trim_start().strip_prefix('@')?;
    let name = guard.trim_start_matches(['!', ' ', '\t']);
    let negated = guard[..guard.len() - name.len()].contains('!');
    let end = name.find(|c: char| !c.is_ascii_alphanumeric() && !matches!(c, '_' | '$' | '%')).unwrap_or(name.len());
    Some((name[..end].to_owned(), negated))
}
