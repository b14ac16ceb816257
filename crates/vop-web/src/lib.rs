//! What the playground of vop's site asks: a request as JSON in, its answer as JSON out.
//!
//! A request is an object whose `ask` says which module answers it; the module describes the other members and the answer. A request that
//! is not understood is answered with `{"error": "…"}`.
//!
//! | `ask` | answer |
//! | --- | --- |
//! | [`instruction`] | one instruction: diagnostics, or everything about it |
//! | [`mod@file`] | the instructions of a source file, judged |
//! | [`kernel`] | the entries of a PTX text, with their parameters |
//! | [`run`] | one launch of a kernel: what it changed, and what its threads did step by step |
//!
//! ```
//! let answer = vop_web::answer(r#"{"ask": "file", "name": "a.cu", "text": "asm(\"vadd4.u32.u32.f32 %0, %1, %2, %3;\" : …);"}"#);
//! assert!(answer.contains("V0204"), "{answer}");
//! assert_eq!(vop_web::answer("{}"), r#"{"error":"the request has no `ask`"}"#);
//! ```

#[cfg(target_family = "wasm")]
pub mod abi;
mod fault;
pub mod file;
pub mod instruction;
pub mod kernel;
mod places;
pub mod run;
mod told;

use serde::de::DeserializeOwned;
use serde_json::{Map, Value, json};
use vop::Target;

/// The answer to a request, both JSON. It is an object with the member `error` alone if the request is not understood.
pub fn answer(request: &str) -> String {
    let answer = understood(request).unwrap_or_else(|why| json!({ "error": why }));
    answer.to_string()
}

fn understood(request: &str) -> Result<Value, String> {
    let request: Value = serde_json::from_str(request).map_err(|error| format!("the request is not JSON: {error}"))?;
    let Value::Object(mut members) = request else { return Err("the request is not an object".to_owned()) };
    match members.shift_remove("ask") {
        None => Err("the request has no `ask`".to_owned()),
        Some(Value::String(ask)) => match ask.as_str() {
            "file" => file::answer(&members_of(&ask, members)?),
            "instruction" => instruction::answer(&members_of(&ask, members)?),
            "kernel" => Ok(kernel::answer(&members_of(&ask, members)?)),
            "run" => run::answer(&members_of(&ask, members)?),
            _ => Err(format!("`ask` is `{ask}`, and must be one of `instruction`, `file`, `kernel` and `run`")),
        },
        Some(other) => Err(format!("`ask` is {other}, not a text")),
    }
}

/// The members of a request besides `ask`.
fn members_of<T: DeserializeOwned>(ask: &str, members: Map<String, Value>) -> Result<T, String> {
    serde_json::from_value(Value::Object(members)).map_err(|error| format!("`{ask}`: {error}"))
}

/// The GPU of costs where the request names none.
const DEFAULT_TARGET: &str = "sm_90";

/// The GPU of a request.
fn target(name: Option<&str>) -> Result<Target, String> {
    let name = name.unwrap_or(DEFAULT_TARGET);
    name.parse().map_err(|_| format!("there is no target `{name}`"))
}
