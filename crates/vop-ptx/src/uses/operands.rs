//! What the operands of an `asm` are, by their constraints, and what an instruction needs them to be.
//!
//! A video instruction takes 32-bit registers. nvcc compares the size of each expression with its constraint's; ptxas compares
//! each register's type with the instruction's.

use std::ops::Range;

use vop::isa::scalar::ScalarType;
use vop::isa::special::is_special;
use vop::isa::types::Shape;
use vop::{Code, Declarations, Diagnostic, Edit, Instruction, Parser, Patch, Places, RegisterType};

use super::Verdict;
use crate::find::{Access, AsmOperand, Class, Found, PartialReason, Scalar};

/// An operand of the `asm` in an instruction.
pub(super) struct Used<'f> {
    /// 0 for d, 1 for a, 2 for b, 3 for c.
    pub(super) position: usize,
    /// As the file's text writes it: `%1`.
    pub(super) name: &'f str,
    /// The place of the name in the instruction's text.
    pub(super) at: Range<usize>,
    /// None where the `asm` has no such operand.
    pub(super) operand: Option<&'f AsmOperand>,
    has_selector: bool,
}

/// The operands of an instruction that are operands of the `asm`; those of which nothing is known are left out.
pub(super) fn used<'f>(found: &'f Found, source: &[u8], places: &Places) -> Vec<Used<'f>> {
    let Some(asm) = &found.context().asm else { return Vec::new() };
    let mut all = Vec::new();
    for (position, place) in places.operands.iter().enumerate() {
        let Some(text) = found.text.get(place.whole.clone()) else { continue };
        let skipped = text.len() - text.trim_start_matches(['-', ' ', '\t', '\n', '\r']).len();
        let start = place.whole.start + skipped;
        if let Some((name, operand)) = reference(found, source, start) {
            let at = start..start + name.len();
            if operand.is_some() || asm.complete {
                all.push(Used { position, name, at, operand, has_selector: place.selector.is_some() });
            }
        }
    }
    all
}

/// The placeholder at an offset of a text, and what it stands for.
fn reference<'f>(found: &'f Found, source: &[u8], at: usize) -> Option<(&'f str, Option<&'f AsmOperand>)> {
    let asm = found.context().asm.as_ref()?;
    let rest = found.text.get(at..)?.strip_prefix('%')?;
    let end = rest.find(|c: char| !c.is_alphanumeric() && !matches!(c, '_' | '$')).unwrap_or(rest.len());
    let name = rest.get(..end)?;
    // How the file writes it: `%0`, `%[x]`, `$0`, `${0}`, `{x}`; `%%0` and `%r1` are registers of PTX. A macro may write the number,
    // `"%" #i`; and `{{ x }}` is an expression of a template.
    let spelled = source.get(found.spelled_offset(at)..)?;
    let is_placeholder = match spelled {
        [b'%', b'%', ..] | [b'{', b'{', ..] => false,
        // What a macro or formatting fills in; Rust's `{x}` alone is the compiler's.
        [b'%' | b'$', ..] if found.is_pasted(at..at + 1 + end) => false,
        [b'%', next, ..] => *next == b'[' || name.starts_with(|c: char| c.is_ascii_digit()),
        // Julia's strings have a backslash before the sign.
        [b'$', ..] | [b'\\', b'$', ..] => true,
        // In a template of C, Python's formatting fills it in.
        [b'{', ..] => asm.operands.first().is_none_or(|operand| !operand.written.starts_with('"')),
        _ => false,
    };
    if !is_placeholder {
        return None;
    }
    Some((found.text.get(at..=at + end)?, asm.index(name).map(|index| &asm.operands[index])))
}

/// The special registers that an instruction outside a module names: of its other names nothing is known, and each is taken for
/// what it has to be.
pub(super) struct Special {
    names: Vec<String>,
    guard: Option<String>,
}

impl Declarations for Special {
    fn register(&self, name: &str) -> Option<RegisterType> {
        if self.names.iter().any(|special| special == name) {
            return None;
        }
        let is_guard = self.guard.as_deref() == Some(name);
        Some(RegisterType::Scalar(if is_guard { ScalarType::Pred } else { ScalarType::B32 }))
    }
}

/// The special registers in the text of an instruction, if there are any.
pub(super) fn special(found: &Found, source: &[u8]) -> Option<Special> {
    let text = found.text.as_str();
    if !text.contains('%') {
        return None;
    }
    let is_part = |c: char| c.is_ascii_alphanumeric() || matches!(c, '_' | '$' | '%');
    let (mut names, mut others) = (Vec::new(), Vec::new());
    for (at, _) in text.match_indices('%').filter(|&(at, _)| !text[..at].ends_with(is_part)) {
        let end = text[at..].find(|c| !is_part(c)).map_or(text.len(), |len| at + len);
        let name = &text[at..end];
        if !is_special(name) {
            continue;
        }
        // `%[tid]` and `{tid}` are operands with such a name.
        let spelled = source.get(found.spelled_offset(at)..).unwrap_or_default();
        let spelled = if spelled.starts_with(b"%%") { &spelled[1..] } else { spelled };
        let is_own = spelled.starts_with(name.as_bytes()) && !found.is_pasted(at..end);
        if is_own { &mut names } else { &mut others }.push(name.to_owned());
    }
    // PTX lets a register have such a name.
    names.retain(|name| !others.contains(name) && !is_declared(source, name));
    let guard = text.strip_prefix('@').map(|rest| {
        let name = rest.trim_start_matches(['!', ' ', '\t']);
        name[..name.find(|c| !is_part(c)).unwrap_or(name.len())].to_owned()
    });
    (!names.is_empty()).then_some(Special { names, guard })
}

/// Whether a declaration of registers somewhere in a file has this name.
fn is_declared(source: &[u8], name: &str) -> bool {
    memchr::memmem::find_iter(source, b".reg").any(|at| {
        let end = memchr::memchr(b';', &source[at..]).map_or(source.len(), |len| at + len);
        memchr::memmem::find(&source[at..end], name.as_bytes()).is_some()
    })
}

/// Why the operands of a legal instruction are refused; places are the file's.
pub(super) fn faults(found: &Found, source: &[u8], instruction: &Instruction<'_>, places: &Places) -> Vec<Diagnostic> {
    let mnemonic = instruction.form.mnemonic();
    let mut faults: Vec<Diagnostic> = Vec::new();
    if let Some(guard) = instruction.guard
        && let Some(at) = found.text.find(guard.predicate).filter(|_| found.text.starts_with('@'))
        && let Some((name, Some(operand))) = reference(found, source, at)
        && !matches!(operand.class, Class::Unknown | Class::Other("a predicate"))
    {
        let spelled = written(found, source, &(at..at + name.len()));
        let message = format!("`{spelled}` is no predicate, and guards an instruction");
        let fault = Diagnostic::new(Code::V0403, operand.whole.clone(), message).label(constraint(operand));
        let help = "declare a predicate in the asm, `.reg .pred p;`, and set it by `setp`";
        faults.push(at_template(fault, found, at..at + name.len()).help(help));
    }
    for used in used(found, source, places) {
        let Used { position, at, operand, has_selector, .. } = used;
        let Some(operand) = operand else {
            let count = found.context().asm.as_ref().map_or(0, |asm| asm.operands.len());
            let message = format!("the asm has no operand `{}`", written(found, source, &at));
            let label = match count {
                0 => "it has none".to_owned(),
                _ if found
                    .context()
                    .asm
                    .as_ref()
                    .is_some_and(|asm| asm.operands.iter().any(|one| one.name.is_some())) =>
                {
                    names(found, &written(found, source, &at))
                }
                1 => "its only operand is 0".to_owned(),
                _ => format!("its operands are 0 to {}", count - 1),
            };
            faults.push(placed(Diagnostic::new(Code::V0406, at, message).label(label), found, source));
            continue;
        };
        if faults.iter().any(|fault| fault.span == operand.whole) {
            continue;
        }
        let spelled = written(found, source, &at);
        let fault = match operand.class {
            Class::Other(what) => Some(
                Diagnostic::new(
                    Code::V0407,
                    operand.whole.clone(),
                    format!("`{spelled}` is {what}, and `{mnemonic}` takes 32-bit registers"),
                )
                .help(register_help(operand, &spelled)),
            ),
            Class::Memory => Some(
                Diagnostic::new(
                    Code::V0407,
                    operand.whole.clone(),
                    format!("`{spelled}` is in memory, and `{mnemonic}` takes 32-bit registers"),
                )
                .help(register_help(operand, &spelled)),
            ),
            Class::Immediate => {
                let why = if position == 0 {
                    Some("d is a register".to_owned())
                } else if mnemonic.shape() != Shape::Scalar {
                    Some(format!("the operands of `{mnemonic}` are registers"))
                } else if has_selector {
                    Some("a selector picks a part of a register".to_owned())
                } else {
                    None
                };
                why.map(|why| {
                    let message = format!("`{spelled}` is a number in the text, and {why}");
                    let mut fault = Diagnostic::new(Code::V0408, operand.whole.clone(), message)
                        .help(register_help(operand, &spelled));
                    if position > 0
                        && matches!(operand.written.as_str(), "\"n\"" | "\"i\"")
                        && !spelled.starts_with('$')
                    {
                        fault.patch = patch(operand, source, "\"r\"");
                    }
                    fault
                })
            }
            Class::Word => operand.scalar.filter(|scalar| *scalar != Scalar::Integer(4)).map(|scalar| {
                let what = match scalar {
                    Scalar::Float(4) => "a `float`".to_owned(),
                    Scalar::Float(_) => "a `double`".to_owned(),
                    Scalar::Integer(1) => "1 byte wide".to_owned(),
                    Scalar::Integer(_) => format!("{} bytes wide", scalar.size()),
                };
                let message = format!("`{spelled}` is {what}, and `{}` takes 32-bit integers", operand.written);
                let help = match scalar {
                    Scalar::Float(4) => "convert it, or pass its bits: `__float_as_uint(…)`",
                    Scalar::Integer(1 | 2) => "convert it to `unsigned` or `int`, as its sign demands",
                    _ => "convert it to `unsigned` or `int`",
                };
                Diagnostic::new(Code::V0409, operand.whole.clone(), message).help(help)
            }),
            Class::Unknown => None,
        };
        if let Some(fault) = fault {
            faults.push(at_template(fault.label(name_of(position)), found, at));
        }
    }
    faults
}

/// Warnings about the operands of a legal instruction; places are the file's.
pub(super) fn lints(found: &Found, source: &[u8], _: &Instruction<'_>, places: &Places) -> Vec<Diagnostic> {
    let mut lints = Vec::new();
    for Used { position, at, operand, .. } in used(found, source, places) {
        if let Some(operand) = operand.filter(|operand| position == 0 && operand.access == Access::In) {
            let message = format!("the instruction writes `{}`, which is an input", written(found, source, &at));
            let lint = Diagnostic::new(Code::V0714, operand.whole.clone(), message).label("an input");
            let help = match (operand.written.starts_with('"'), written(found, source, &at).starts_with('$')) {
                (false, _) => "make it an output: `out(reg32)`, or `inout(reg32)` if it is read too",
                (true, false) => "make it an output: `\"=r\"`, or `\"+r\"` if it is read too",
                (true, true) => "make it an output: `=r`, and tie an input to it if it is read too",
            };
            lints.push(at_template(lint, found, at).help(help));
        }
    }
    lints
}

/// Whether an instruction reads an operand that the `asm` is only to write.
pub(super) fn reads_output(found: &Found, source: &[u8], instruction: &Instruction<'_>, places: &Places) -> bool {
    let reads_c = instruction.form.reads_c();
    used(found, source, places).iter().any(|used| {
        (used.position != 0 && (used.position != 3 || reads_c))
            && used.operand.is_some_and(|operand| operand.access == Access::Out)
    })
}

/// The verdict on an instruction of which a part is filled in later, for this reason.
pub(super) fn incomplete(found: &Found, source: &[u8], reason: PartialReason) -> Verdict {
    let mut faults = Vec::new();
    if let Some(asm) = &found.context().asm {
        for operand in found.context().registers.iter().filter_map(|&index| asm.operands.get(index)) {
            let message = "a register cannot be a part of a modifier or selector".to_owned();
            let fault = Diagnostic::new(Code::V0408, operand.whole.clone(), message).label(constraint(operand));
            let fault = fault.help(match operand.written.starts_with('"') {
                true => "if its value is a constant, write `\"n\"` for its constraint",
                false => "if its value is a constant, make it a `const` operand",
            });
            faults.push(at_template(fault, found, 0..found.text.len()));
        }
    }
    // What is wrong before that is wrong whatever the value is.
    let head = found.text.split(|c: char| c.is_whitespace()).find(|word| !word.starts_with('@')).unwrap_or_default();
    if faults.is_empty()
        && !head.contains('{')
        && !head.contains('%')
        && let Err(wrong) = Parser::new().allow_bare().parse_with_places(head)
    {
        let start = found.text.find(head).unwrap_or(0);
        let moved = wrong.into_iter().map(|fault| fault.moved(|span| start + span.start..start + span.end));
        faults.extend(moved.map(|fault| super::placed(fault, found, source)));
    }
    if faults.is_empty() { Verdict::Unjudged(reason) } else { Verdict::Illegal(faults) }
}

fn placed(diagnostic: Diagnostic, found: &Found, source: &[u8]) -> Diagnostic {
    super::placed(diagnostic, found, source)
}

/// The patch that gives an operand another constraint.
pub(super) fn patch(operand: &AsmOperand, source: &[u8], constraint: &str) -> Patch {
    let written = self::constraint(operand);
    let start = operand.place.end.saturating_sub(written.len());
    // A macro may write it, or another literal a part of it.
    match source.get(start..operand.place.end) {
        Some(text) if text == written.as_bytes() && start >= operand.place.start => {
            Patch::Edits(vec![Edit::new(start..operand.place.end, constraint)])
        }
        _ => Patch::OutOfReach("the constraint is not written in one piece there"),
    }
}

/// With the place in the template.
pub(super) fn at_template(diagnostic: Diagnostic, found: &Found, at: Range<usize>) -> Diagnostic {
    let place = found.definition_span(at.clone()).unwrap_or_else(|| found.source_span(at));
    // A macro may write both.
    let diagnostic = if place == diagnostic.span { diagnostic } else { diagnostic.related(place, "used here") };
    match super::expanded(found) {
        Some(text) => diagnostic.note(text),
        None => diagnostic,
    }
}

fn name_of(position: usize) -> &'static str {
    ["d", "a", "b", "c"].get(position).copied().unwrap_or_default()
}

/// A placeholder as the file writes it.
pub(super) fn written(found: &Found, source: &[u8], at: &Range<usize>) -> String {
    let place = found.definition_span(at.clone()).unwrap_or_else(|| found.source_span(at.clone()));
    let text = source.get(place).map(String::from_utf8_lossy);
    let text = text.as_deref().map(|text| text.strip_prefix('\\').filter(|text| text.starts_with('$')).unwrap_or(text));
    let text = text.filter(|text| match text.as_bytes() {
        // Not a part of one that a macro puts together.
        [b'%', b'[', .., last] => *last == b']',
        [b'%', next, ..] => next.is_ascii_digit(),
        [b'$' | b'{', ..] => true,
        _ => false,
    });
    text.or(found.text.get(at.clone())).unwrap_or_default().to_owned()
}

/// The names of the operands of an `asm`, in the way that a placeholder is written; at most eight.
fn names(found: &Found, like: &str) -> String {
    const MOST: usize = 8;
    let operands = found.context().asm.as_ref().map_or(&[][..], |asm| &asm.operands);
    let written = |(index, operand): (usize, &AsmOperand)| {
        let name = operand.name.clone().unwrap_or_else(|| index.to_string());
        match operand.name {
            _ if like.starts_with('{') => format!("{{{name}}}"),
            Some(_) => format!("%[{name}]"),
            None => format!("%{name}"),
        }
    };
    let mut all: Vec<String> = operands.iter().enumerate().take(MOST).map(written).collect();
    if operands.len() > MOST {
        all.push("…".to_owned());
    }
    let verb = if all.len() == 1 { "its only operand is" } else { "its operands are" };
    format!("{verb} {}", all.join(", "))
}

/// The constraint of an operand, without the name that Rust writes before it.
pub(super) fn constraint(operand: &AsmOperand) -> &str {
    match operand.written.split_once('=') {
        Some((_, constraint)) if !operand.written.starts_with('"') => constraint.trim_start(),
        _ => &operand.written,
    }
}

fn register_help(operand: &AsmOperand, spelled: &str) -> String {
    if operand.written.starts_with('"') {
        let sign = if operand.access == Access::In { "" } else { &operand.written[1..2] };
        let sign = if matches!(sign, "=" | "+") { sign } else { "" };
        // LLVM's constraints are one string.
        let quote = if spelled.starts_with('$') { "" } else { "\"" };
        format!("write `{quote}{sign}r{quote}`, with a 32-bit integer")
    } else {
        "use `reg32`, with a 32-bit integer".to_owned()
    }
}
