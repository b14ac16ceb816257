//! Costs: in machine instructions of ptxas, as the instruction is and lowered.

use vop::lower::LowerOptions;
use vop::{Form, Target};

use crate::document::Document;
use crate::settings::{DEFAULT_TARGET, Settings};

/// The GPU that costs of a document are of.
pub fn target(document: &Document, settings: &Settings) -> Target {
    let of_module = || document.module()?.target()?.parse().ok();
    let target = settings.target.or_else(of_module);
    target.unwrap_or_else(|| DEFAULT_TARGET.parse().unwrap_or(Target::MEASURED[0]))
}

/// A cost in a sentence: `45 machine instructions on sm_90, 8 if lowered`.
pub fn sentence(form: Form, target: Target, settings: &Settings) -> String {
    let cost = form.cost(target);
    let plural = if cost == 1 { "" } else { "s" };
    let lowering = form.lower(LowerOptions::new(target).with_semantics(settings.semantics()));
    let lowered = match &lowering.sequence {
        Some(_) if lowering.exact && lowering.cost < cost => format!(", {} if it is lowered", lowering.cost),
        _ => String::new(),
    };
    format!("{cost} machine instruction{plural} on {target}{lowered}")
}
