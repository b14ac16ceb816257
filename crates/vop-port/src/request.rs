//! [`Request`]: what a text asks to be ported, a video instruction, a base instruction or an intrinsic of CUDA.

use core::fmt;
use core::ops::Range;

use vop::{Diagnostic, Instruction, Intrinsic, Operand, Parser, Semantics};

use crate::base::{BaseError, constant};
use crate::{Base, Port, PortError, Source, Target, port, port_base, port_intrinsic};

/// What is to be ported, and what a caller of the function must know.
///
/// ```
/// use vop_port::Request;
/// let request = Request::read("lop3.b32 d, a, b, c, 0x96", vop::Semantics::Isa).unwrap();
/// assert_eq!(request.port("c".parse().unwrap()).unwrap().name(), "ptx_lop3_b32_96");
/// assert!(Request::read("lop3.b32", vop::Semantics::Isa).unwrap_err().to_string().contains("constant"));
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Request {
    /// What is computed.
    pub source: Source,
    /// What the text says and the function does not: the values of operands, the guard, which of several overloads it is.
    pub notes: Vec<String>,
}

/// Why a text asks for nothing that can be ported.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum RequestError {
    /// It is read as a video instruction, and is none.
    Faults(Vec<Diagnostic>),
    /// It is read as a base instruction or as an intrinsic.
    Other {
        /// What is wrong, in a sentence without a stop.
        message: String,
        /// Where, in bytes of the text.
        span: Range<usize>,
        /// What to write instead.
        help: Option<String>,
    },
}

impl RequestError {
    /// Where the first fault is, in bytes of the text.
    pub fn span(&self) -> Option<Range<usize>> {
        match self {
            RequestError::Faults(faults) => faults.first().map(|fault| fault.span.clone()),
            RequestError::Other { span, .. } => Some(span.clone()),
        }
    }

    /// What to write instead, if it is known.
    pub fn help(&self) -> Option<&str> {
        match self {
            RequestError::Faults(faults) => faults.first().and_then(|fault| fault.help.as_deref()),
            RequestError::Other { help, .. } => help.as_deref(),
        }
    }
}

/// The first fault, without its help.
impl fmt::Display for RequestError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            RequestError::Faults(faults) => match faults.first() {
                Some(first) => write!(f, "{first}"),
                None => f.write_str("not an instruction"),
            },
            RequestError::Other { message, .. } => f.write_str(message),
        }
    }
}

impl core::error::Error for RequestError {}

impl Request {
    /// Reads a text: an instruction with or without operands, or the name of an intrinsic.
    ///
    /// # Errors
    /// What is wrong with it.
    pub fn read(text: &str, semantics: Semantics) -> Result<Request, RequestError> {
        let start = text.len() - text.trim_start().len();
        let trimmed = text.trim();
        if let Some(intrinsic) = Intrinsic::from_name(trimmed) {
            let notes = overload_note(trimmed, &intrinsic).into_iter().collect();
            return Ok(Request { source: Source::Intrinsic(intrinsic), notes });
        }
        if let Some(error) = unknown_intrinsic(trimmed, start) {
            return Err(error);
        }
        if let Some(read) = read_base(trimmed, start) {
            return read;
        }
        let instruction = Parser::new().allow_bare().parse(text).map_err(RequestError::Faults)?;
        Ok(Request { source: Source::Form(instruction.form, semantics), notes: notes(&instruction) })
    }

    /// The function of a language.
    ///
    /// # Errors
    /// If it needs what the language lacks.
    pub fn port(&self, target: Target) -> Result<Port, PortError> {
        match &self.source {
            Source::Form(form, semantics) => port(*form, target, *semantics),
            Source::Intrinsic(intrinsic) => Ok(port_intrinsic(intrinsic, target)),
            Source::Base(base) => Ok(port_base(base, target)),
        }
    }
}

/// Which of several intrinsics of one name it is, if the text does not say it.
fn overload_note(text: &str, intrinsic: &Intrinsic) -> Option<String> {
    let types = intrinsic.types().filter(|_| !text.contains('('))?;
    let others = intrinsic.overloads().into_iter().filter(|other| other.types() != Some(types));
    let others: Vec<String> = others.map(|other| format!("`{other}`")).collect();
    Some(format!("`{}` is overloaded: this is `{intrinsic}`, and there are {}", intrinsic.name(), others.join(", ")))
}

/// What is wrong with a name that reads as an intrinsic of CUDA, `__vfoo4`, and is none that is known.
fn unknown_intrinsic(text: &str, start: usize) -> Option<RequestError> {
    let name = text.split('(').next().unwrap_or_default().trim_end();
    let is_name = name.starts_with("__") && name.chars().all(|c| c.is_ascii_alphanumeric() || c == '_');
    if !is_name {
        return None;
    }
    let span = start..start + text.len();
    if let Some(known) = Intrinsic::from_name(name) {
        let all: Vec<String> = known.overloads().iter().map(|one| format!("`{one}`")).collect();
        let message = format!("`{text}` is no signature of `{name}`");
        return Some(RequestError::Other { message, span, help: Some(format!("write {}", all.join(" or "))) });
    }
    let by_reference = name.strip_prefix("__vib").and_then(|rest| rest.split_once('_')).and_then(|(extreme, ty)| {
        let (extreme, greater) = match extreme {
            "max" => ("max", true),
            "min" => ("min", false),
            _ => return None,
        };
        let (comparison, sign) = (if greater { "ge" } else { "le" }, ty.get(..1)?);
        Some(match ty {
            "s32" | "u32" => {
                format!("port `{extreme}.{ty}` for the value, and `setp.{comparison}.{ty}` for the predicate")
            }
            "s16x2" | "u16x2" => format!(
                "port `__v{extreme}{sign}2` for the value, and `vset2.{sign}32.{sign}32.{comparison}` for the predicates"
            ),
            _ => return None,
        })
    });
    let message = match by_reference {
        Some(_) => format!("`{name}` has results by reference, and a function returns one word"),
        None => {
            format!("`{name}` is none of the intrinsics of CUDA that are known; `vop list --intrinsics` lists them")
        }
    };
    Some(RequestError::Other { message, span, help: by_reference })
}

/// That an operand is a value, which a caller passes.
fn value_note(name: &str, value: &str) -> String {
    format!("operand {name} is `{value}`, and the function has a parameter for it: call it with {name} = {value}")
}

fn guard_note(guard: &str) -> String {
    format!("the guard `{guard}` is no part of the function: call it under this condition")
}

/// What an instruction says that its function does not: the values of operands, and the guard.
fn notes(instruction: &Instruction<'_>) -> Vec<String> {
    let mut notes = Vec::new();
    for (name, operand) in [("a", Some(instruction.a)), ("b", Some(instruction.b)), ("c", instruction.c)] {
        let value = match operand {
            Some(Operand::Immediate { text, .. }) => text.to_owned(),
            Some(Operand::Sum { register, addend }) => format!("{register} + {addend:#x}"),
            Some(Operand::Register(_)) | None => continue,
        };
        notes.push(value_note(name, &value));
    }
    notes.extend(instruction.guard.map(|guard| guard_note(&guard.to_string())));
    notes
}

fn is_register(text: &str) -> bool {
    let is_inner = |c: char| c.is_ascii_alphanumeric() || matches!(c, '_' | '$');
    let rest = text.strip_prefix('%').unwrap_or(text);
    !rest.is_empty() && rest.chars().all(is_inner) && !rest.starts_with(|c: char| c.is_ascii_digit() && text == rest)
}

/// Reads a base instruction; `None` if the text does not begin with the mnemonic of one.
fn read_base(text: &str, start: usize) -> Option<Result<Request, RequestError>> {
    let (guard, rest) = match text.strip_prefix('@') {
        Some(_) => text.split_once(char::is_whitespace).map(|(guard, rest)| (Some(guard), rest.trim_start()))?,
        None => (None, text),
    };
    let opcode = rest.split(|c: char| c.is_whitespace() || c == ';').next().unwrap_or_default();
    let mnemonic = opcode.split('.').next().unwrap_or_default();
    Base::is_mnemonic(mnemonic).then(|| {
        let at = |part: &str| {
            let from = start + (part.as_ptr() as usize - text.as_ptr() as usize);
            from..from + part.len()
        };
        let fault = |part: &str, message: String, help: Option<String>| {
            Err(RequestError::Other { message, span: at(part), help })
        };
        let Some(arity) = Base::arity_of(opcode) else {
            let known = Base::opcodes(Some(mnemonic));
            let some: Vec<String> = known.iter().take(8).map(|opcode| format!("`{opcode}`")).collect();
            let more = if known.len() > 8 { " and more" } else { "" };
            let help = format!("of `{mnemonic}` there are {}{more}", some.join(", "));
            if opcode == mnemonic {
                return fault(opcode, format!("`{mnemonic}` is a mnemonic without its types"), Some(help));
            }
            // There may be a video instruction that computes what packed types of others mean.
            if let Err(mut faults) = Parser::new().allow_bare().parse(text)
                && faults.first().is_some_and(|fault| opcode.contains('x') && !fault.label.is_empty())
            {
                for fault in &mut faults {
                    fault.span = start + fault.span.start..start + fault.span.end;
                }
                return Err(RequestError::Faults(faults));
            }
            return fault(opcode, format!("`{opcode}` is not among the base instructions that are ported"), Some(help));
        };
        let operands = rest[opcode.len()..].trim().trim_end_matches(';').trim_end();
        let operands: Vec<&str> = operands.split(',').map(str::trim).filter(|_| !operands.is_empty()).collect();
        let mut constants = vec![None; arity];
        if let Some((to, from)) = operands.split_first() {
            if from.len() != arity {
                let text =
                    format!("`{opcode}` has {} operands, of which d is one; here are {}", arity + 1, operands.len());
                return fault(rest, text, None);
            }
            if !is_register(to) {
                return fault(to, format!("`{to}` is no register"), None);
            }
            for (constant_of, operand) in constants.iter_mut().zip(from) {
                *constant_of = constant(operand);
                if constant_of.is_none() && !is_register(operand) {
                    let message = format!("`{operand}` is neither a register nor an integer");
                    return fault(operand, message, None);
                }
            }
        }
        match Base::try_read(opcode, &constants) {
            Ok(base) => {
                let mut notes = Vec::new();
                for (name, at) in ["a", "b", "c"].into_iter().zip(base.parameters()) {
                    if constants[at].is_some() {
                        notes.push(value_note(name, operands[at + 1]));
                    }
                }
                notes.extend(guard.map(guard_note));
                Ok(Request { source: Source::Base(base), notes })
            }
            Err(BaseError::Constant(_)) => {
                let help = "write its table, as in `lop3.b32 d, a, b, c, 0x96`".to_string();
                fault(opcode, format!("the last operand of `{opcode}` must be a constant from 0 to 255"), Some(help))
            }
            Err(BaseError::FourRegisters) => {
                let help =
                    "give the field's place or its length as a constant, as in `bfi.b32 d, a, b, 8, c`".to_string();
                fault(
                    opcode,
                    format!("`{opcode}` reads four registers, and functions have three parameters"),
                    Some(help),
                )
            }
            Err(error) => fault(opcode, format!("`{opcode}`: {error}"), None),
        }
    })
}
