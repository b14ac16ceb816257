//! `file`: the video instructions of a source file, judged as `vop check` judges them.
//!
//! | member | |
//! | --- | --- |
//! | `text` | the file |
//! | `name` | its name, which tells its language |
//! | `language` | its language instead: a name that code blocks have, `cuda`, `ptx`, `python`; `jinja` and `jinja-ptx` for templates. Without both, it is guessed whether the file is PTX or CUDA C++ |
//! | `target` | the GPU of costs; `sm_90` |
//! | `semantics` | `ptxas`: faults of older releases (V0709) are not reported |
//! | `level` | the least severe findings that are told: `error`, `warning`, `note`; `warning` |
//! | `columns` | the columns of drawings; 80 |
//!
//! The answer has `language`, `target`, `uses`, `diagnostics` and `summary`. Offsets, `start` and `end`, are in units of UTF-16; lines and
//! columns count from 1.

use std::cell::RefCell;
use std::collections::HashMap;
use std::path::Path;

use serde::Deserialize;
use serde_json::{Value, json};
use vop::lower::LowerOptions;
use vop::{Code, Diagnostic, Form, Linter, Semantics, Severity, Target};
use vop_ptx::find::Language;
use vop_ptx::uses::{self, Use, Verdict};

use crate::told::Told;

/// What is asked.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Request {
    text: String,
    name: Option<String>,
    language: Option<String>,
    target: Option<String>,
    semantics: Option<String>,
    level: Option<Level>,
    columns: Option<usize>,
}

#[derive(Clone, Copy, Debug, Deserialize)]
#[serde(rename_all = "lowercase")]
enum Level {
    Error,
    Warning,
    Note,
}

/// The answer.
///
/// # Errors
/// What is wrong with the request, in a sentence.
pub fn answer(request: &Request) -> Result<Value, String> {
    let text = request.text.as_str();
    let language = language(request)?;
    let target = crate::target(request.target.as_deref())?;
    let semantics: Option<Semantics> = match &request.semantics {
        Some(name) => Some(name.parse().map_err(|why| format!("`{name}`: {why}"))?),
        None => None,
    };
    let level = match request.level.unwrap_or(Level::Warning) {
        Level::Error => Severity::Error,
        Level::Warning => Severity::Warning,
        Level::Note => Severity::Note,
    };
    let is_told = |finding: &Diagnostic| {
        finding.code.severity() <= level && !(semantics == Some(Semantics::Ptxas) && finding.code == Code::V0709)
    };
    thread_local! {
        // What is found out about a form is true of it in every file.
        static KNOWN: RefCell<(Linter, AllCosts)> = RefCell::default();
    }
    KNOWN.with_borrow_mut(|(linter, costs)| {
        let file = uses::read_with(text.as_bytes(), language, linter);
        let told = Told::new(text, request.name.as_deref(), request.columns);
        let all = file.uses.iter().map(|one| of_use(&told, one, target, costs));
        let all: Vec<Value> = all.collect();
        let mut findings: Vec<(&Diagnostic, Option<usize>)> = Vec::new();
        for (index, one) in file.uses.iter().enumerate() {
            findings.extend(one.faults().chain(&one.lints).map(|finding| (finding, Some(index))));
        }
        findings.extend(file.lints.iter().map(|finding| (finding, None)));
        findings.retain(|(finding, _)| is_told(finding));
        findings.sort_by_key(|(finding, _)| finding.span.start);
        let findings: Vec<Value> = findings
            .into_iter()
            .map(|(finding, of)| {
                let mut value = told.finding(finding);
                // The index of the instruction that it is about.
                value["use"] = json!(of);
                value
            })
            .collect();
        let count = |wanted: fn(&Verdict) -> bool| file.uses.iter().filter(|one| wanted(&one.verdict)).count();
        Ok(json!({
            "language": name_of(language),
            "target": target.to_string(),
            "uses": all,
            "diagnostics": findings,
            "summary": {
                "instructions": count(|verdict| *verdict != Verdict::Label),
                "legal": count(|verdict| matches!(verdict, Verdict::Legal(_) | Verdict::LegalFragment(_))),
                "illegal": count(|verdict| matches!(verdict, Verdict::Illegal(_))),
                "unjudged": count(|verdict| matches!(verdict, Verdict::Unjudged(_))),
            },
        }))
    })
}

/// Names of languages beside those that code blocks have, and all names that answers have.
const LANGUAGES: [(&str, Language); 15] = [
    ("cuda", Language::Cuda),
    ("opencl", Language::OpenCl),
    ("python", Language::Python),
    ("llvm", Language::LlvmIr),
    ("mlir", Language::Mlir),
    ("rust", Language::Rust),
    ("julia", Language::Julia),
    ("go", Language::Go),
    ("d", Language::D),
    ("zig", Language::Zig),
    ("nim", Language::Nim),
    ("ptx", Language::Ptx),
    ("markdown", Language::Markdown),
    ("jinja", Language::JinjaCuda),
    ("jinja-ptx", Language::JinjaPtx),
];

fn name_of(language: Language) -> Option<&'static str> {
    LANGUAGES.iter().find(|(_, other)| *other == language).map(|(name, _)| *name)
}

fn language(request: &Request) -> Result<Language, String> {
    if let Some(name) = &request.language {
        let named = LANGUAGES.iter().find(|(other, _)| other == name).map(|(_, language)| *language);
        let found = named.or_else(|| Language::from_fence(name));
        return found.ok_or_else(|| format!("there is no language `{name}`"));
    }
    if let Some(name) = &request.name {
        let found = Language::from_path(Path::new(name));
        return found.ok_or_else(|| format!("the name `{name}` tells no language"));
    }
    let is_ptx = request.text.lines().any(|line| line.trim_start().starts_with(".version"));
    Ok(if is_ptx { Language::Ptx } else { Language::Cuda })
}

/// What a form costs as it is, and lowered, if that is less.
type Costs = (u32, Option<u32>);

type AllCosts = HashMap<(Form, Target), Costs>;

fn costs_of(form: Form, target: Target) -> Costs {
    let cost = form.cost(target);
    let lowering = form.lower(LowerOptions::new(target));
    let is_less = lowering.sequence.is_some() && lowering.exact && lowering.cost < cost;
    (cost, is_less.then_some(lowering.cost))
}

/// An instruction, and what is known of it.
fn of_use(told: &Told<'_>, one: &Use, target: Target, costs: &mut AllCosts) -> Value {
    let at = told.lines.range(&one.span);
    let mut value = json!({
        "text": one.text,
        "start": told.places.utf16(one.span.start),
        "end": told.places.utf16(one.span.end),
        "line": at.line,
        "column": at.column,
    });
    let (verdict, form, meaning) = match &one.verdict {
        Verdict::Legal(form) => ("legal", Some(form.to_string()), Some(form.describe())),
        Verdict::LegalFragment(form) => ("legal fragment", Some(form.opcode().to_string()), Some(form.describe())),
        Verdict::Illegal(_) => ("illegal", None, None),
        Verdict::Unjudged(reason) => ("not judged", None, Some(reason.to_string())),
        Verdict::Label => ("label", None, None),
    };
    let (cost, lowered) = match &one.verdict {
        // Of a fragment the operands are not known, on which the cost depends.
        Verdict::Legal(form) => {
            let (cost, lowered) = *costs.entry((*form, target)).or_insert_with(|| costs_of(*form, target));
            (Some(cost), lowered)
        }
        _ => (None, None),
    };
    value["verdict"] = json!(verdict);
    value["form"] = json!(form);
    value["meaning"] = json!(meaning);
    value["cost"] = json!(cost);
    value["lowered"] = json!(lowered);
    value
}
