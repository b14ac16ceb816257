//! `instruction`: one instruction: what is wrong with it, or all that is known of it.
//!
//! | member | |
//! | --- | --- |
//! | `text` | an instruction with or without operands; or a mnemonic or an intrinsic of CUDA, of which it is said what it is |
//! | `inputs` | the values of a, b and c, each a number from 0 to 4294967295, or `null`: a value with which every stage shows |
//! | `target` | the GPU of the lowered block; `sm_90` |
//! | `port` | a language of `vop port`. Without it nothing is ported |
//! | `columns` | the columns of drawings; 80 |
//! | `quick` | `true` while one types: `costs`, `lowering` and `port` are `null` if they are not known from the last request |
//!
//! The answer has `diagnostics`. If the instruction is legal, it has `form` and everything about it: `operands` (for editors of their
//! values), `semantics` (the manual's value and those of ptxas, each with its `stages` as an HTML table), `costs`, `lowering`, `intrinsics`
//! and `port`.

use std::cell::RefCell;

use serde::Deserialize;
use serde_json::{Value, json};
use vop::eval::Trace;
use vop::interval::OperandValue;
use vop::isa::form::Finish;
use vop::isa::types::{Selector, Type};
use vop::lower::{LowerOptions, Needs};
use vop::{
    Deviation, Diagnostic, Divergence, Form, Instruction, Intrinsic, Mnemonic, Parser, Places, Registers, Semantics,
    Target,
};
use vop_draw::html;

use crate::told::Told;

/// What is asked.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Request {
    text: String,
    inputs: Option<[Option<u32>; 3]>,
    target: Option<String>,
    port: Option<String>,
    columns: Option<usize>,
    #[serde(default)]
    quick: bool,
}

/// The answer.
///
/// # Errors
/// What is wrong with the request, in a sentence.
pub fn answer(request: &Request) -> Result<Value, String> {
    let text = request.text.as_str();
    let target = crate::target(request.target.as_deref())?;
    let port = match &request.port {
        None => None,
        Some(name) => Some(name.parse().map_err(|error: vop_port::UnknownTarget| error.to_string())?),
    };
    let word = text.trim().trim_end_matches(';').trim_end();
    if let Some(mnemonic) = Mnemonic::from_name(word) {
        return Ok(json!({ "mnemonic": mnemonic.row().name, "summary": mnemonic.row().summary }));
    }
    if let Some(intrinsic) = Intrinsic::from_name(word) {
        return Ok(json!({
            "intrinsic": intrinsic.to_string(),
            "meaning": intrinsic.describe(),
            "instruction": intrinsic.instruction(),
            "form": intrinsic.form().map(|form| form.to_string()),
            "difference": intrinsic.difference(),
        }));
    }
    match Parser::new().allow_bare().parse_with_places(text) {
        Err(faults) => Ok(json!({ "diagnostics": findings(text, &faults, request.columns) })),
        Ok((instruction, places)) => LAST.with_borrow_mut(|last| {
            let key = (text.to_owned(), target, port, request.columns);
            let known = match last.take() {
                Some(known) if known.key == key && (known.rest.is_some() || request.quick) => known,
                other => Known::of(key, &instruction, &places, other, request.quick),
            };
            let answer = about(&instruction, request.inputs.unwrap_or_default(), &known);
            *last = Some(known);
            Ok(answer)
        }),
    }
}

fn findings(text: &str, all: &[Diagnostic], columns: Option<usize>) -> Value {
    let told = Told::new(text, None, columns);
    all.iter().map(|one| told.finding(one)).collect()
}

thread_local! {
    /// What is known of the last instruction: values change with every key, and the instruction stays.
    static LAST: RefCell<Option<Known>> = const { RefCell::new(None) };
}

/// What does not depend on the values of a, b and c.
struct Known {
    /// Text, target, port and columns of the request.
    key: (String, Target, Option<vop_port::Target>, Option<usize>),
    form: Form,
    diagnostics: Value,
    /// What takes long; `None` after a quick request.
    rest: Option<Rest>,
    /// By semantics: values for which it differs from the manual.
    witnesses: Vec<Option<Divergence>>,
    /// Values with which every stage shows.
    telling: [u32; 3],
}

/// What is chosen from many sequences, for several GPUs.
struct Rest {
    costs: Value,
    lowering: Value,
    port: Value,
}

impl Known {
    /// `last` is what is known of another request, or less of this one.
    fn of(
        key: (String, Target, Option<vop_port::Target>, Option<usize>),
        instruction: &Instruction<'_>,
        places: &Places,
        last: Option<Known>,
        quick: bool,
    ) -> Known {
        let form = instruction.form;
        let (text, target, port, columns) = &key;
        let witness = |semantics: Semantics| match semantics {
            Semantics::Isa => None,
            semantics => instruction.divergence(semantics),
        };
        Known {
            form,
            diagnostics: findings(text, &vop::lint(text, instruction, places), *columns),
            rest: (!quick).then(|| Rest {
                costs: last
                    .filter(|last| last.form == form)
                    .and_then(|last| last.rest)
                    .map_or_else(|| json!(costs(form)), |rest| rest.costs),
                lowering: lowering(instruction, *target),
                port: json!(port.map(|target| ported(form, target))),
            }),
            witnesses: Semantics::ALL.map(witness).to_vec(),
            telling: instruction.telling_inputs(Semantics::Isa),
            key,
        }
    }
}

/// Everything about a legal instruction.
fn about(instruction: &Instruction<'_>, given: [Option<u32>; 3], known: &Known) -> Value {
    let form = instruction.form;
    let row = form.mnemonic().row();
    let sources = instruction.operand_values();
    let inputs = values(given, sources, known.telling);
    let [a, b, c] = inputs;
    let traces: Vec<Trace> = Semantics::ALL.iter().map(|&semantics| form.explain_as(semantics, a, b, c)).collect();
    let semantics: Vec<Value> =
        traces.iter().zip(&known.witnesses).map(|(trace, witness)| semantics(trace, witness.as_ref())).collect();
    json!({
        "text": instruction.to_string(),
        "form": form.to_string(),
        "mnemonic": row.name,
        "meaning": form.describe(),
        "section": row.section,
        "version": format!("{}.{}", row.version.0, row.version.1),
        "least_target": format!("sm_{}", row.target),
        "operands": operands(form, &traces[0], sources),
        "semantics": semantics,
        "costs": known.rest.as_ref().map(|rest| &rest.costs),
        "lowering": known.rest.as_ref().map(|rest| &rest.lowering),
        "intrinsics": intrinsics(form),
        "port": known.rest.as_ref().map(|rest| &rest.port),
        "diagnostics": known.diagnostics,
    })
}

/// The values of operands: immediates as they are, registers as given, and otherwise those that show every stage.
fn values(given: [Option<u32>; 3], sources: [OperandValue; 3], telling: [u32; 3]) -> [u32; 3] {
    let mut values = telling;
    for i in 0..3 {
        values[i] = match sources[i] {
            OperandValue::Known(value) => value,
            // The operand is an earlier one.
            OperandValue::SameAs { operand, plus } => values[operand.min(i)].wrapping_add(plus),
            OperandValue::Free => given[i].unwrap_or(telling[i]),
        };
    }
    values
}

/// What an editor of a, b and c needs: the value, the parts that the instruction reads, and why it cannot be changed, if so.
fn operands(form: Form, trace: &Trace, sources: [OperandValue; 3]) -> Vec<Value> {
    let shape = form.mnemonic().shape();
    let lanes = || {
        let letter = shape.letter();
        (0..shape.lanes())
            .rev()
            .map(move |lane| part(format!("{letter}{lane}"), lane as u32 * shape.bits(), shape.bits()))
    };
    let of = |i: usize| {
        let (ty, selector) = match i {
            0 => (form.atype(), form.asel()),
            1 => (form.btype(), form.bsel()),
            _ => (trace.c_type, Selector::Word),
        };
        let parts: Vec<Value> = match (i, form.finish()) {
            (2, Finish::Lanes(_)) | (0 | 1, _) if shape.is_simd() => lanes().collect(),
            _ => {
                let (shift, bits) = selector.place();
                let name = if bits == 32 { String::new() } else { selector.to_string() };
                vec![part(name, shift, bits)]
            }
        };
        let name = ["a", "b", "c"][i];
        let fixed = match sources[i] {
            OperandValue::Known(_) => Some("a number of the text".to_owned()),
            OperandValue::SameAs { operand, plus: 0 } => {
                Some(format!("the register of {}", ["a", "b", "c"][operand.min(2)]))
            }
            OperandValue::SameAs { operand, plus } => {
                Some(format!("the register of {} + {}", ["a", "b", "c"][operand.min(2)], plus as i32))
            }
            OperandValue::Free if i == 2 && !form.reads_c() => Some("not read".to_owned()),
            OperandValue::Free => None,
        };
        json!({
            "name": name,
            "value": trace.inputs[i],
            "signed": ty == Type::S32,
            "parts": parts,
            "fixed": fixed,
        })
    };
    let count = if form.uses_c() { 3 } else { 2 };
    (0..count).map(of).collect()
}

fn part(name: String, shift: u32, bits: u32) -> Value {
    json!({ "name": name.trim_start_matches('.'), "shift": shift, "bits": bits })
}

/// The value by one semantics, with its stages as a table, and where it is not the manual's. `witness` has values for which they differ,
/// which these may not be.
fn semantics(trace: &Trace, witness: Option<&Divergence>) -> Value {
    let form = trace.form;
    let [a, b, c] = trace.inputs;
    let deviations: Vec<Value> = trace
        .deviations
        .iter()
        .map(|deviation| {
            let words = format!(
                "At {}, the code of ptxas {}. By the manual {}.",
                deviation.stage(),
                deviation.ptxas(),
                deviation.manual()
            );
            json!({ "name": deviation.name(), "words": words })
        })
        .collect();
    json!({
        "name": trace.semantics.to_string(),
        "releases": trace.semantics.releases(),
        "d": trace.d,
        "differs": trace.d != form.eval(a, b, c),
        "deviations": deviations,
        "witness": witness.map(|witness| json!({
            "inputs": witness.inputs,
            "manual": witness.isa,
            "ptxas": witness.ptxas,
            "deviations": witness.deviations.iter().map(Deviation::name).collect::<Vec<_>>(),
        })),
        "stages": html::stages(trace),
    })
}

/// The cost as it is, and lowered, on the GPUs that were measured.
fn costs(form: Form) -> Vec<Value> {
    let cost = |target: Target| {
        let lowering = form.lower(LowerOptions::new(target));
        json!({
            "target": target.to_string(),
            "cost": form.cost(target),
            "lowered": lowering.sequence.is_some().then_some(lowering.cost),
        })
    };
    Target::MEASURED.into_iter().map(cost).collect()
}

fn lowering(instruction: &Instruction<'_>, target: Target) -> Value {
    let lowering = instruction.form.lower(LowerOptions::new(target));
    let needs = lowering.sequence.as_ref().map(|sequence| sequence.needs()).filter(|needs| *needs != Needs::NOTHING);
    json!({
        "target": target.to_string(),
        "rule": lowering.rule,
        "before": instruction.form.cost(target),
        "cost": lowering.cost,
        "exact": lowering.exact,
        "changed": lowering.sequence.is_some(),
        "block": lowering.block(instruction, &Registers::default()).to_string(),
        "needs": needs.map(|needs| format!(".version {}.{}, .target {}", needs.version.0, needs.version.1, needs.module_target())),
    })
}

fn intrinsics(form: Form) -> Vec<Value> {
    let of = |one: &Intrinsic| json!({ "name": one.to_string(), "difference": one.difference() });
    Intrinsic::of_form(form).iter().map(of).collect()
}

fn ported(form: Form, target: vop_port::Target) -> Value {
    match vop_port::port(form, target, Semantics::Isa) {
        Ok(port) => json!({
            "language": target.name(),
            "name": port.name(),
            "operations": port.operations(),
            "text": port.text(),
        }),
        Err(error) => json!({ "language": target.name(), "error": error.to_string() }),
    }
}
