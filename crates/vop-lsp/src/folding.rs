//! What can be folded in a module: functions, blocks, sections of debug information, and comments of several lines.

use std::ops::Range;

use vop_ptx::module::StatementKind;
use vop_ptx::module::lex::{self, TokenKind};

use crate::document::Document;

/// Lines that can be folded, from 0: the first one stays.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Fold {
    /// The first and the last line.
    pub lines: (usize, usize),
    /// Whether it is a comment.
    pub is_comment: bool,
}

/// What can be folded in a document that is a module.
pub fn folds(document: &Document) -> Vec<Fold> {
    let Some(module) = document.module() else { return Vec::new() };
    let mut folds = Vec::new();
    let line = |offset: usize| document.lines().line(offset);
    let mut add = |span: &Range<usize>, closes: usize, is_comment: bool| {
        // The line with the closing brace stays in sight.
        let (first, last) = (line(span.start), line(span.end.saturating_sub(1).max(span.start)).saturating_sub(closes));
        if first < last {
            folds.push(Fold { lines: (first, last), is_comment });
        }
    };
    for function in module.functions() {
        if let Some(body) = function.scope.map(|scope| &module.scope(scope).span) {
            add(&(function.header.start..body.end), 1, false);
        }
    }
    let bodies: Vec<_> = module.functions().iter().filter_map(|function| function.scope).collect();
    for (i, scope) in module.scopes().iter().enumerate().skip(1) {
        if bodies.iter().all(|body| body.index() != i) {
            add(&scope.span, 1, false);
        }
    }
    for statement in module.statements() {
        if matches!(statement.kind, StatementKind::Section { .. }) {
            add(&statement.span, 1, false);
        }
    }
    // Comments that stand alone on lines that follow each other are one.
    let text = document.text();
    let mut run: Option<Range<usize>> = None;
    for token in lex::tokens(text) {
        let is_alone = || {
            let first = document.lines().span(text, line(token.range.start));
            let last = document.lines().span(text, line(token.range.end.saturating_sub(1)));
            let is_blank = |part: Range<usize>| text.get(part).is_none_or(|part| part.trim().is_empty());
            is_blank(first.start..token.range.start) && is_blank(token.range.end..last.end.max(token.range.end))
        };
        if token.kind != TokenKind::Comment || !is_alone() {
            continue;
        }
        match &mut run {
            Some(before) if line(token.range.start) == line(before.end.saturating_sub(1)) + 1 => {
                before.end = token.range.end
            }
            _ => {
                if let Some(done) = run.replace(token.range) {
                    add(&done, 0, true);
                }
            }
        }
    }
    if let Some(done) = run {
        add(&done, 0, true);
    }
    folds.sort_by_key(|fold| fold.lines);
    folds.dedup_by_key(|fold| fold.lines.0);
    folds
}

#[cfg(test)]
mod tests {
    use vop_ptx::find::Language;

    use super::*;

    #[test]
    fn of_all_kinds() {
        let text = "// a\n// b\n\n.entry k()\n{\n  {\n    ret;\n  }\n  /* one\n     two */\n  // x\n}\n.section .debug_str {\n.b8 0\n}\n{}";
        let folds = folds(&Document::new(text, Language::Ptx));
        let lines: Vec<((usize, usize), bool)> = folds.iter().map(|fold| (fold.lines, fold.is_comment)).collect();
        assert_eq!(lines, [((0, 1), true), ((3, 10), false), ((5, 6), false), ((8, 10), true), ((12, 13), false)]);
    }
}
