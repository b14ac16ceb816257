//! An instruction on values, drawn, which the browser computes again.

use serde_json::{Value, json};
use vop::{Form, Semantics};
use vop_draw::html::{self, escaped};

use super::permalink;

/// What a page shows of an instruction.
#[derive(Debug, Clone)]
pub struct Example {
    /// The page's path.
    pub page: String,
    /// The request that gives `answer` in the playground.
    pub request: Value,
    /// What the library answers on this machine.
    pub answer: Value,
}

/// Draws examples of one page, and collects them.
pub(crate) struct Examples<'e> {
    pub(crate) page: String,
    pub(crate) up: &'static str,
    pub(crate) all: &'e mut Vec<Example>,
}

impl Examples<'_> {
    /// A figure: the instruction, a link to the playground, the stages, and a sentence, in HTML.
    pub(crate) fn figure(&mut self, form: Form, inputs: [u32; 3], semantics: Semantics, sentence: &str) -> String {
        let [a, b, c] = inputs;
        let text = form.to_string();
        let table = html::stages(&form.explain_as(semantics, a, b, c));
        let request = json!({ "ask": "instruction", "text": text, "inputs": inputs });
        let answer = vop_web::answer(&request.to_string());
        let answer = serde_json::from_str(&answer).unwrap_or(Value::Null);
        self.all.push(Example { page: self.page.clone(), request, answer });
        let values = [a, b, c].map(|value| value.to_string()).join(",");
        format!(
            "<figure class=\"example\" data-text=\"{text}\" data-inputs=\"{values}\" data-semantics=\"{semantics}\">\n\
             <figcaption><a href=\"{}\" title=\"Change it in the playground\"><code>{text}</code></a></figcaption>\n\
             <div class=\"scrolls\">{table}</div>\n{sentence}</figure>\n",
            permalink(self.up, &text, Some(inputs)),
            text = escaped(&text),
        )
    }
}
