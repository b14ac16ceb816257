//! Strings that hold source in C's syntax: OpenCL or CUDA that is compiled when the program runs.
//!
//! Such source has no file beside it, so the functions are written into the string, where a file would include the header.

use vop_ptx::asm::{self, SourceString};
use vop_ptx::find::Language;

use super::{Carried, Left, PortedSource, SourceOptions, carry, include, write};
use crate::functions_within;

/// Carries over the statements of the strings of a file.
pub(super) fn port(source: &[u8], language: Language, options: &SourceOptions, ported: &mut PortedSource) {
    for string in asm::strings(source, language) {
        let inner = statements(source, &string, options);
        ported.left.extend(inner.left.into_iter().map(|left| Left { span: string.source_span(left.span), ..left }));
        ported.seen.extend(inner.seen.into_iter().map(|span| string.source_span(span)));
        let carried = inner.carried.into_iter();
        ported.carried.extend(carried.map(|carried| Carried { span: string.source_span(carried.span), ..carried }));
        for function in inner.functions {
            if ported.within.iter().all(|known| known.name() != function.name()) {
                ported.within.push(function);
            }
        }
        ported.edits.extend(inner.edits);
        ported.others += inner.others;
    }
}

/// What becomes of a string: spans are those of its text, and edits those of the file.
fn statements(source: &[u8], string: &SourceString, options: &SourceOptions) -> PortedSource {
    let text = string.text();
    let mut inner = PortedSource::default();
    let mut edits = Vec::new();
    let indent = string.editable(source, 0..0).map(|place| write::indent(source, place.start)).unwrap_or_default();
    for statement in asm::statements(text, Language::Cuda) {
        inner.seen.push(statement.span.clone());
        if super::is_kept(text, statement.span.start) {
            continue;
        }
        let carried = carry(text, &statement, options, Language::Cuda).and_then(|written| {
            if let Some(why) = string.unfit() {
                return Err(why.into());
            }
            if !statement.in_macro && !is_in_braces(&text[..statement.span.start]) {
                return Err("its string begins inside a function, so that there is no place for other functions".into());
            }
            let place = string.editable(source, statement.span.clone());
            let call = string.written(&written.text, &indent);
            match place.zip(call) {
                Some(edit) => Ok((edit, written)),
                None => Err("its string cannot hold the text that would stand for it".into()),
            }
        });
        match carried {
            Ok((edit, written)) => {
                edits.push((edit, statement.span.start));
                inner.add(written.functions, written.carried);
            }
            Err(why) if statement.is_video() => inner.left.push(Left { span: statement.span.clone(), why }),
            Err(_) => inner.others += 1,
        }
    }
    let Some(&(_, first)) = edits.first() else { return inner };
    let places: Vec<usize> = edits.iter().map(|(_, place)| *place).collect();
    // A line break behind the quotes stays there.
    let place = match include::place(text, first, &places).at {
        0 if text.starts_with(b"\n") => 1,
        place => place,
    };
    let functions = functions_within(&inner.functions, options.keep_ptx);
    match string.editable(source, place..place).zip(string.written(&functions, &indent)) {
        Some(edit) => inner.edits.push(edit),
        None => {
            let why = "its string cannot hold the functions";
            let left = inner.carried.drain(..).map(|carried| Left { span: carried.span, why: why.into() });
            inner.left.extend(left);
            inner.functions.clear();
            return inner;
        }
    }
    inner.edits.extend(edits.into_iter().map(|(edit, _)| edit));
    inner
}

/// Whether the end of a text is inside braces, of which those in literals and comments are none.
fn is_in_braces(text: &[u8]) -> bool {
    let mut depth = 0_i32;
    let mut at = 0;
    while at < text.len() {
        match text[at] {
            b'{' => depth += 1,
            b'}' => depth -= 1,
            b'/' if text[at..].starts_with(b"//") => {
                at += text[at..].iter().position(|b| *b == b'\n').unwrap_or(text.len() - at);
            }
            b'/' if text[at..].starts_with(b"/*") => {
                let end = text[at + 2..].windows(2).position(|window| window == b"*/");
                at += end.map_or(text.len() - at, |end| end + 3);
            }
            quote @ (b'"' | b'\'') => {
                at += 1;
                while at < text.len() && text[at] != quote && text[at] != b'\n' {
                    at += 1 + usize::from(text[at] == b'\\');
                }
            }
            _ => {}
        }
        at += 1;
    }
    depth > 0
}
