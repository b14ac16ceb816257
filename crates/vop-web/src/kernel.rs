//! `kernel`: the entries of a PTX text, with their parameters.
//!
//! | member | |
//! | --- | --- |
//! | `text` | the PTX |
//! | `columns` | the columns of drawings; 80 |
//!
//! The answer has `entries`, each with its `name`, the name of C++ in `demangled`, its `parameters`, what `.reqntid` says in `block`, the
//! greatest number of `threads` of a block, `shared` memory in bytes, and in `diagnostics` why it cannot be run. A parameter has a `name`, a
//! `type` as arguments are given (`u32`; `u8` of all its `bytes` for a structure), and `pointer`: whether it looks like one.

use std::collections::HashSet;

use serde::Deserialize;
use serde_json::{Value, json};
use vop_ptx::module::lex::{self, TokenKind};
use vop_ptx::module::{Function, Module, Scalar, StatementKind, Variable};
use vop_run::Program;

use crate::fault::Faults;

/// What is asked.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Request {
    text: String,
    columns: Option<usize>,
}

/// The answer.
pub fn answer(request: &Request) -> Value {
    let program = Program::read(&request.text);
    let module = program.module();
    let faults = Faults::new(module.text(), request.columns);
    let entries = program.entries().filter_map(|name| {
        let function = module.function(name)?;
        let kernel = program.kernel(name);
        let pointers = pointers(module, function);
        let parameters = function.parameters.iter().map(|parameter| {
            let ty = element(parameter.ty.scalar);
            let bytes = parameter.bytes();
            let is_one = bytes == parameter.ty.bytes() && parameter.ty.vector == 1;
            let name = module.slice(&parameter.name);
            json!({
                "name": name,
                "type": ty.filter(|_| is_one).unwrap_or("u8"),
                "bytes": bytes,
                "pointer": is_one && (parameter.pointer.is_some() || pointers.contains(name)),
            })
        });
        let parameters: Vec<Value> = parameters.collect();
        let (block, threads, shared, diagnostics) = match &kernel {
            Ok(kernel) => (kernel.required_block(), kernel.max_threads(), Some(kernel.shared_bytes()), Vec::new()),
            Err(errors) => (None, None, None, faults.all(errors)),
        };
        Some(json!({
            "name": name,
            "demangled": vop_run::demangled(name),
            "parameters": parameters,
            "block": block,
            "threads": threads,
            "shared": shared,
            "diagnostics": diagnostics,
        }))
    });
    json!({ "entries": entries.collect::<Vec<Value>>() })
}

/// The type of arguments that fits a parameter.
fn element(scalar: Scalar) -> Option<&'static str> {
    Some(match scalar {
        Scalar::U8 | Scalar::B8 => "u8",
        Scalar::S8 => "i8",
        Scalar::U16 | Scalar::B16 => "u16",
        Scalar::S16 => "i16",
        Scalar::U32 | Scalar::B32 => "u32",
        Scalar::S32 => "i32",
        Scalar::U64 | Scalar::B64 => "u64",
        Scalar::S64 => "i64",
        Scalar::F16 => "f16",
        Scalar::F32 => "f32",
        Scalar::F64 => "f64",
        _ => return None,
    })
}

/// The parameters whose values are used as addresses: `cvta` makes an address of it, or it stands in brackets, as it is or after sums whose
/// first operand it is.
fn pointers<'m>(module: &'m Module, function: &Function) -> HashSet<&'m str> {
    let mut of_register: Vec<(&str, &str)> = Vec::new();
    let mut found = HashSet::new();
    let is_parameter = |name: &str| {
        let named = |parameter: &&Variable| module.slice(&parameter.name) == name;
        function.parameters.iter().find(named).map(|parameter| module.slice(&parameter.name))
    };
    for statement in function.body.clone().into_iter().flat_map(|body| &module.statements()[body]) {
        let StatementKind::Instruction { opcode, operands, .. } = &statement.kind else { continue };
        let (opcode, operands) = (module.slice(opcode), module.slice(operands));
        let operands: Vec<&str> = lex::split_operands(operands).map(|range| &operands[range]).collect();
        let parameter_of = |register: &str| {
            of_register.iter().rev().find(|(other, _)| *other == register).map(|(_, parameter)| *parameter)
        };
        let base = |operand: &'m str| {
            let inner = operand.strip_prefix('[')?.strip_suffix(']')?;
            lex::tokens(inner).find(|token| token.kind == TokenKind::Name).map(|token| &inner[token.range])
        };
        let carried = match (opcode, operands.as_slice()) {
            (load, [_, address, ..]) if load.starts_with("ld.param") => base(address).and_then(is_parameter),
            (cvta, [_, source]) if cvta.starts_with("cvta") => {
                found.extend(parameter_of(source));
                parameter_of(source)
            }
            (sum, [_, first, ..]) if ["add.", "sub.", "mov."].iter().any(|name| sum.starts_with(name)) => {
                parameter_of(first)
            }
            (mad, [_, _, _, added]) if mad.starts_with("mad.") => parameter_of(added),
            _ => {
                found.extend(operands.iter().copied().filter_map(base).filter_map(parameter_of));
                None
            }
        };
        if let (Some(parameter), Some(register)) = (carried, operands.first()) {
            of_register.push((register, parameter));
        }
    }
    found
}
