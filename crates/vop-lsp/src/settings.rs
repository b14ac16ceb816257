//! What a user sets in the editor, and what the configuration of a file says.

use serde_json::Value;
use vop::{Code, Semantics, Severity, Target};
use vop_ptx::find::Language;

/// What decides how a document is judged, and what is shown.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Settings {
    /// The GPU of costs and of lowering. If it is not set, a module's `.target` says it, else it is [`DEFAULT_TARGET`].
    pub target: Option<Target>,
    /// The compiler that matters: whose deviations are reported, and what lowering computes.
    pub semantics: Option<Semantics>,
    /// The least severe findings that are shown.
    pub level: Severity,
    /// The lints that are not shown.
    pub allow: Vec<Code>,
    /// Whether costs are shown beside instructions.
    pub inlay_hints: bool,
    /// The languages that instructions are ported to; if there is none, that of the document.
    pub port_to: Vec<vop_port::Target>,
}

/// The GPU of costs where nothing names one.
pub const DEFAULT_TARGET: &str = "sm_90";

impl Default for Settings {
    fn default() -> Settings {
        Settings {
            target: None,
            semantics: None,
            level: Severity::Warning,
            allow: Vec::new(),
            inlay_hints: true,
            port_to: Vec::new(),
        }
    }
}

impl Settings {
    /// The names of the settings.
    pub const NAMES: [&str; 6] = ["target", "semantics", "level", "allow", "inlayHints", "portTo"];

    /// Whether there are settings of this server in what a client sends.
    pub fn are_in(value: &Value) -> bool {
        value.get("vop").is_some() || Settings::NAMES.iter().any(|name| value.get(name).is_some())
    }

    /// Reads settings, `{"target": "sm_90"}` or `{"vop": {"target": "sm_90"}}`, and says what is wrong with those that cannot be read.
    /// What is absent or `null` has its default; a client sends all that it has.
    pub fn read(value: &Value) -> (Settings, Vec<String>) {
        let mut settings = Settings::default();
        let mut wrong = Vec::new();
        let value = value.get("vop").unwrap_or(value);
        let text = |key: &str, wrong: &mut Vec<String>| match value.get(key) {
            None | Some(Value::Null) => None,
            Some(Value::String(text)) if text.is_empty() => None,
            Some(Value::String(text)) => Some(text.clone()),
            Some(other) => {
                wrong.push(format!("vop.{key}: {other} is no string"));
                None
            }
        };
        let list = |key: &str, wrong: &mut Vec<String>| match value.get(key) {
            None | Some(Value::Null) => Vec::new(),
            // An empty list of a client in Lua is an empty object.
            Some(Value::Object(object)) if object.is_empty() => Vec::new(),
            Some(Value::Array(items)) if items.iter().all(Value::is_string) => {
                items.iter().filter_map(Value::as_str).map(str::to_owned).collect()
            }
            Some(other) => {
                wrong.push(format!("vop.{key}: {other} is no list of strings"));
                Vec::new()
            }
        };
        if let Some(name) = text("target", &mut wrong) {
            match name.parse() {
                Ok(target) => settings.target = Some(target),
                Err(why) => wrong.push(format!("vop.target: {why}")),
            }
        }
        if let Some(name) = text("semantics", &mut wrong) {
            match name.parse() {
                Ok(semantics) => settings.semantics = Some(semantics),
                Err(why) => wrong.push(format!("vop.semantics: {why}")),
            }
        }
        match text("level", &mut wrong).as_deref() {
            None => {}
            Some("error") => settings.level = Severity::Error,
            Some("warning") => settings.level = Severity::Warning,
            Some("note") => settings.level = Severity::Note,
            Some(other) => wrong.push(format!("vop.level: `{other}` is none of error, warning, note")),
        }
        for name in list("allow", &mut wrong) {
            match Code::from_name(&name) {
                Some(code) if code.severity() != Severity::Error => settings.allow.push(code),
                Some(code) => wrong.push(format!("vop.allow: {code} is an error, which only a comment can allow")),
                None => wrong.push(format!("vop.allow: there is no code `{name}`")),
            }
        }
        for name in list("portTo", &mut wrong) {
            match name.parse() {
                Ok(target) => settings.port_to.push(target),
                Err(why) => wrong.push(format!("vop.portTo: {why}")),
            }
        }
        match value.get("inlayHints") {
            None | Some(Value::Null) => {}
            Some(Value::Bool(shown)) => settings.inlay_hints = *shown,
            Some(other) => wrong.push(format!("vop.inlayHints: {other} is neither true nor false")),
        }
        (settings, wrong)
    }

    /// With what the configuration of a file says: the editor's own settings win, lists are joined.
    #[must_use]
    pub fn of_file(&self, file: &FileSettings) -> Settings {
        let mut settings = self.clone();
        settings.target = settings.target.or(file.target);
        settings.semantics = settings.semantics.or(file.semantics);
        settings.allow.extend(&file.allow);
        settings
    }

    /// What is computed: the manual's value, if nothing else is asked for.
    pub fn semantics(&self) -> Semantics {
        self.semantics.unwrap_or_default()
    }

    /// The languages to port to from a file in a language.
    pub fn port_targets(&self, language: Language) -> Vec<vop_port::Target> {
        if !self.port_to.is_empty() {
            return self.port_to.clone();
        }
        let name = match language {
            Language::OpenCl | Language::JinjaCuda => "opencl",
            Language::Python | Language::Mlir => "numpy",
            Language::Rust => "rust",
            Language::LlvmIr => "llvm",
            Language::Julia => "julia",
            _ => "cpp",
        };
        name.parse().into_iter().collect()
    }
}

/// What the configuration of a file says, `vop.toml` or another: see [`serve`](crate::serve).
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct FileSettings {
    /// The first of its targets.
    pub target: Option<Target>,
    /// Its compiler.
    pub semantics: Option<Semantics>,
    /// The lints that it allows.
    pub allow: Vec<Code>,
    /// Whether it leaves the file out, so that nothing is reported.
    pub excluded: bool,
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn read() {
        let (settings, wrong) = Settings::read(&json!({ "vop": {
            "target": "sm_120f", "semantics": "ptxas", "level": "note", "allow": ["V0704"], "inlayHints": false,
            "portTo": ["rust", "c"],
        }}));
        assert_eq!(wrong, Vec::<String>::new());
        assert_eq!(settings.target, "sm_120f".parse().ok());
        assert_eq!(settings.semantics(), Semantics::Ptxas);
        assert_eq!((settings.level, settings.allow.as_slice()), (Severity::Note, &[Code::V0704][..]));
        assert!(!settings.inlay_hints);
        assert_eq!(settings.port_to.len(), 2);
        assert!(Settings::are_in(&json!({ "vop": {} })) && Settings::are_in(&json!({ "level": "note" })));
        assert!(!Settings::are_in(&json!({ "other": { "target": "x" } })) && !Settings::are_in(&json!(null)));
        for empty in [json!(null), json!({}), json!({ "target": "", "allow": {}, "level": null })] {
            assert_eq!(Settings::read(&empty), (Settings::default(), Vec::new()));
        }
    }

    #[test]
    fn faults() {
        let (settings, wrong) = Settings::read(&json!({
            "target": "sm_1", "semantics": 5, "level": "all", "allow": ["V0101", "V9"], "inlayHints": "no", "portTo": "c",
        }));
        assert_eq!(settings, Settings::default());
        assert_eq!(wrong.len(), 7, "{wrong:?}");
    }

    #[test]
    fn files() {
        let file = FileSettings {
            target: "sm_75".parse().ok(),
            semantics: Some(Semantics::Ptxas),
            allow: vec![Code::V0702],
            excluded: false,
        };
        let own = Settings { target: "sm_90".parse().ok(), allow: vec![Code::V0704], ..Settings::default() };
        let both = own.of_file(&file);
        assert_eq!(both.target, own.target);
        assert_eq!(both.semantics, file.semantics);
        assert_eq!(both.allow, [Code::V0704, Code::V0702]);
    }
}
