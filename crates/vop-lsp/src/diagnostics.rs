//! The findings of a document that are shown: those of `vop check`.

use vop::{Code, Diagnostic, Semantics};

use crate::document::Document;
use crate::settings::Settings;

/// The findings of a document, in its order, with positions in its text.
pub fn findings<'d>(document: &'d Document, settings: &Settings) -> Vec<&'d Diagnostic> {
    let file = document.file_uses();
    let of_uses = file.uses.iter().flat_map(|one| one.faults().chain(&one.lints));
    let of_older = |finding: &Diagnostic| {
        // Faults of releases before the one that matters.
        settings.semantics == Some(Semantics::Ptxas) && finding.code == Code::V0709
    };
    let is_shown = |finding: &&Diagnostic| {
        finding.code.severity() <= settings.level && !settings.allow.contains(&finding.code) && !of_older(finding)
    };
    let mut findings: Vec<&Diagnostic> = of_uses.chain(&file.lints).filter(is_shown).collect();
    findings.sort_by_key(|finding| finding.span.start);
    findings
}

/// What is said at the place of a finding: the message, the reasons and what to write instead. A block to write is left to the action that
/// writes it.
pub fn message(finding: &Diagnostic) -> String {
    let mut text = finding.message.clone();
    for note in &finding.notes {
        text.push_str("\nnote: ");
        text.push_str(note);
    }
    if let Some(help) = &finding.help {
        text.push_str("\nhelp: ");
        let first = help.lines().next().unwrap_or_default();
        text.push_str(first.trim_end_matches(':'));
    }
    text
}

#[cfg(test)]
mod tests {
    use vop::Severity;
    use vop_ptx::find::Language;

    use super::*;

    #[test]
    fn levels_and_allowed() {
        let text = ".reg .b32 a, b, c, d;\nvadd4.u32.u32.u32 d, a.b0, b, c;\nvabsdiff4.u32.u32.u32.sat d, a, b, c;\n";
        let document = Document::new(text, Language::Ptx);
        let codes = |settings: &Settings| {
            findings(&document, settings).iter().map(|finding| finding.code.name()).collect::<Vec<_>>()
        };
        let settings = Settings::default();
        let all = codes(&settings);
        assert!(all.contains(&"V0702") && all.len() >= 2, "{all:?}");
        assert!(!codes(&Settings { allow: vec![Code::V0702], ..Settings::default() }).contains(&"V0702"));
        let errors = codes(&Settings { level: Severity::Error, ..Settings::default() });
        assert!(errors.len() < all.len() && !errors.is_empty());
        let found = findings(&document, &settings);
        assert!(message(found[0]).contains("\nhelp: "), "{}", message(found[0]));
    }
}
