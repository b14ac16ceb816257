//! The statement that a position is in, read from its line alone: what is being typed is rarely whole.

use std::ops::Range;

use vop_ptx::asm;
use vop_ptx::find::Language;

use crate::document::Document;

/// What stands between the beginning of an instruction and a position.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct Begun<'d> {
    /// The opcode as far as it stands before the position: empty at the beginning of a statement.
    pub(crate) opcode: &'d str,
    /// Where it begins.
    pub(crate) start: usize,
    /// The operands before the position; none while the opcode is being written.
    pub(crate) operands: Option<&'d str>,
}

impl Begun<'_> {
    /// The number of the operand that the position is in.
    pub(crate) fn operand(&self) -> Option<usize> {
        self.operands.map(|operands| operands.matches(',').count())
    }
}

/// Whether a byte may stand in an opcode.
fn is_opcode(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'.' | b':')
}

/// Whether a byte may stand in a name.
fn is_name(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'$' | b'%')
}

/// The text without blanks and the escapes that stand for them.
fn without_blanks(mut text: &str) -> &str {
    loop {
        let before = text;
        text = text.trim_start();
        for escape in ["\\n", "\\t", "\\r"] {
            text = text.strip_prefix(escape).unwrap_or(text);
        }
        if text.len() == before.len() {
            return text;
        }
    }
}

/// The instruction that has begun at a position; none in a comment, or where there is no PTX.
pub(crate) fn begun(document: &Document, offset: usize) -> Option<Begun<'_>> {
    let text = document.text();
    let line = document.lines().span(text, document.lines().line(offset.min(text.len())));
    let before = text.get(line.start..offset)?;
    if document.language() != Language::Ptx && !is_in_string(document, offset) {
        return None;
    }
    if is_in_comment(document.language(), before) {
        return None;
    }
    let separator = |b: u8| matches!(b, b';' | b'{' | b'}' | b'"' | b'\'' | b'`');
    let mut start = before.bytes().rposition(separator).map_or(0, |at| at + 1);
    // A brace before an operand is a placeholder's, `{a}` or `{0}`, or a vector's.
    while start > 0 && matches!(before.as_bytes()[start - 1], b'{' | b'}') && is_of_operand(&before[..start - 1]) {
        start = before[..start - 1].bytes().rposition(separator).map_or(0, |at| at + 1);
    }
    let mut rest = without_blanks(before.get(start..)?);
    // Labels, then a guard.
    while let Some(colon) = rest.find(':') {
        let is_label = rest[..colon].bytes().all(is_name) && !rest[colon..].starts_with("::") && colon > 0;
        if !is_label {
            break;
        }
        rest = without_blanks(&rest[colon + 1..]);
    }
    if let Some(guard) = rest.strip_prefix('@') {
        let guard = guard.trim_start_matches('!');
        let end = guard.bytes().position(|b| !(is_name(b) || matches!(b, b'{' | b'}')))?;
        rest = guard[end..].trim_start();
    }
    let length = rest.bytes().position(|b| !is_opcode(b)).unwrap_or(rest.len());
    let (opcode, behind) = rest.split_at(length);
    let operands = match behind.as_bytes().first() {
        None => None,
        Some(b' ' | b'\t') => Some(behind),
        Some(_) => return None,
    };
    Some(Begun { opcode, start: offset - rest.len(), operands })
}

/// Whether a brace behind this text stands in an operand: behind the opcode and a blank, a comma or a sign of a name.
fn is_of_operand(before: &str) -> bool {
    let begin = before.bytes().rposition(|b| matches!(b, b';' | b'"' | b'\'' | b'`')).map_or(0, |at| at + 1);
    let statement = without_blanks(&before[begin..]);
    let has_opcode =
        statement.split_whitespace().next().is_some_and(|word| word.contains('.') || word.starts_with('@'));
    has_opcode && statement.contains([' ', '\t'])
}

fn is_in_comment(language: Language, before: &str) -> bool {
    let has_slashes = !matches!(language, Language::Python | Language::LlvmIr);
    let open = before.rfind("/*").is_some_and(|at| !before[at..].contains("*/"));
    (has_slashes && before.contains("//") && !before.contains("://")) || open
}

/// Whether a position of a source is in a string that may hold PTX: quotes are open on its line, or it is in an `asm`.
fn is_in_string(document: &Document, offset: usize) -> bool {
    let text = document.text();
    let line = document.lines().span(text, document.lines().line(offset.min(text.len())));
    let before = text.get(line.start..offset).unwrap_or_default();
    let mut open: Option<u8> = None;
    let mut bytes = before.bytes();
    while let Some(byte) = bytes.next() {
        match (byte, open) {
            (b'\\', Some(_)) => {
                bytes.next();
            }
            (b'"' | b'`', None) => open = Some(byte),
            (b'\'', None) if document.language() == Language::Python => open = Some(byte),
            (quote, Some(first)) if quote == first => open = None,
            _ => {}
        }
    }
    open.is_some() || asm_at(document, offset).is_some()
}

/// The `asm` statement that a position is in.
fn asm_at(document: &Document, offset: usize) -> Option<Range<usize>> {
    if document.language() == Language::Ptx || memchr::memmem::find(document.text().as_bytes(), b"asm").is_none() {
        return None;
    }
    let statements = asm::statements(document.text().as_bytes(), document.language());
    statements.into_iter().map(|statement| statement.span).find(|span| span.contains(&offset))
}

/// The word of an opcode around a position, `ld.global.u32`, and where it stands: the first of its instruction.
pub(crate) fn opcode_at(document: &Document, offset: usize) -> Option<Range<usize>> {
    let bytes = document.text().as_bytes();
    let behind = bytes.get(offset..)?.iter().position(|b| !is_opcode(*b)).unwrap_or(bytes.len() - offset);
    let end = offset + behind;
    let begun = begun(document, end)?;
    let is_here = begun.operands.is_none() && begun.start <= offset && begun.start < end;
    is_here.then_some(begun.start..end)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A text with `|` at the position.
    fn at(text: &str, language: Language) -> (Document, usize) {
        let offset = text.find('|').expect("a position");
        (Document::new(text.replacen('|', "", 1), language), offset)
    }

    fn parts(text: &str, language: Language) -> Option<(String, Option<String>)> {
        let (document, offset) = at(text, language);
        let begun = begun(&document, offset)?;
        assert!(document.text()[begun.start..].starts_with(begun.opcode));
        Some((begun.opcode.to_owned(), begun.operands.map(str::to_owned)))
    }

    #[test]
    fn in_ptx() {
        let ptx = |text| parts(text, Language::Ptx);
        let opcode = |text: &str| Some((text.to_owned(), None));
        assert_eq!(ptx("  vadd4.u|"), opcode("vadd4.u"));
        assert_eq!(ptx("ret; L: @!%p1 va|dd"), opcode("va"));
        assert_eq!(ptx("{ |"), opcode(""));
        assert_eq!(ptx("mov.b64 %rd1, {%r1, %r2}; vadd2|"), opcode("vadd2"));
        assert_eq!(ptx("vadd4.u32.u32.u32 d, a.|"), Some(("vadd4.u32.u32.u32".into(), Some(" d, a.".into()))));
        assert_eq!(ptx("st.v2.u32 [a], {b, |"), Some(("st.v2.u32".into(), Some(" [a], {b, ".into()))));
        assert_eq!(ptx("// vadd|"), None);
        assert_eq!(ptx("/* vadd|"), None);
        assert_eq!(ptx("[vadd|"), None);
    }

    #[test]
    fn in_sources() {
        let opcode = |text: &str| Some((text.to_owned(), None));
        assert_eq!(parts("asm(\"vadd|\" : );", Language::Cuda), opcode("vadd"));
        assert_eq!(parts("asm(\"mov.u32 %0, 1;\\n\\tvadd4.|\");", Language::Cuda), opcode("vadd4."));
        assert_eq!(parts("int vadd|", Language::Cuda), None);
        assert_eq!(
            parts("asm!(\"vadd4.u32.u32.u32 {d}, {a}.|\")", Language::Rust),
            Some(("vadd4.u32.u32.u32".into(), Some(" {d}, {a}.".into())))
        );
        assert_eq!(
            parts("asm(\"vadd4.u32.u32.u32 %0, %1.b|\");", Language::Cuda),
            Some(("vadd4.u32.u32.u32".into(), Some(" %0, %1.b".into())))
        );
    }

    #[test]
    fn words() {
        let word = |text: &str, language| {
            let (document, offset) = at(text, language);
            opcode_at(&document, offset).map(|span| document.slice(&span).to_owned())
        };
        assert_eq!(word("@p ld.glo|bal.u32 %r1, [a];", Language::Ptx).as_deref(), Some("ld.global.u32"));
        assert_eq!(word("ld.global.u32 %r|1, [a];", Language::Ptx), None);
        assert_eq!(word("asm(\"pr|mt.b32 %0, %1, %2, %3;\");", Language::Cuda).as_deref(), Some("prmt.b32"));
        assert_eq!(word("f(pr|mt.b32)", Language::Cuda), None);
    }
}
