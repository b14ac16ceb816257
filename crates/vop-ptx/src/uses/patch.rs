//! Edits of an instruction's text as edits of the file that holds it.
//!
//! A text is put together from a file: escapes are decoded, placeholders have names, literals are joined. An edit is made where the file
//! has the text as one piece of its own. Names are written as the file writes them, and a block as its literal may hold it.

use std::ops::Range;

use vop::{Diagnostic, Edit, Patch};

use super::is_name;
use crate::edits;
use crate::find::{Braces, Found, Language};
use crate::module::{Module, lex};

/// A patch of the text of an instruction, with the places of the file.
pub(super) fn in_file(patch: Patch, found: &Found, source: &[u8]) -> Patch {
    let Patch::Edits(edits) = patch else { return patch };
    let all = edits.iter().map(|edit| edit_in_file(edit, found, source)).collect();
    match keeps_names(&edits, found, source).and(all) {
        Ok(edits) => Patch::Edits(edits),
        Err(why) => Patch::OutOfReach(why),
    }
}

/// Checks that edits drop no operand which rustc wants to see in the template; a block keeps them by itself.
fn keeps_names(edits: &[Edit], found: &Found, source: &[u8]) -> Result<(), &'static str> {
    if !is_rust_asm(found) || edits.iter().any(|edit| is_block(&edit.text)) {
        return Ok(());
    }
    let after = edits::applied(found.text.as_bytes(), edits);
    match Names::of(found, source).fields_without(&String::from_utf8_lossy(&after)).next() {
        Some(_) => Err("rustc wants each operand named in the template"),
        None => Ok(()),
    }
}

fn is_rust_asm(found: &Found) -> bool {
    let spelling = found.context().spelling;
    spelling.language == Some(Language::Rust) && spelling.is_asm && !spelling.is_nested
}

fn edit_in_file(edit: &Edit, found: &Found, source: &[u8]) -> Result<Edit, &'static str> {
    if is_block(&edit.text) {
        return block(edit.span.clone(), &edit.text, found, source);
    }
    let span = place(edit.span.clone(), found, source)?;
    let names = Names::of(found, source);
    names.replaces(&edit.span, found)?;
    Ok(Edit::new(span, names.spelled(&edit.text)?))
}

/// The bytes of the file that an edit of the text replaces.
fn place(span: Range<usize>, found: &Found, source: &[u8]) -> Result<Range<usize>, &'static str> {
    match found.context().filled.is_empty() {
        true => found.edit_place(span, source),
        false => Err("a number that the asm is given is a part of it"),
    }
}

/// The first block among the patches of diagnostics.
pub(super) fn block_of(diagnostics: &[Diagnostic]) -> Option<String> {
    diagnostics.iter().find_map(|diagnostic| match &diagnostic.patch {
        Patch::Edits(edits) => edits.iter().find(|edit| is_block(&edit.text)).map(|edit| edit.text.clone()),
        _ => None,
    })
}

/// Whether a text stands for a whole instruction and needs no semicolon.
pub(crate) fn is_block(text: &str) -> bool {
    text.trim_start().starts_with('{')
}

/// The edit that writes a block in the place of an instruction, or of the part of one that `span` is.
///
/// # Errors
/// Why it cannot be written, in a part of a sentence.
pub(crate) fn block(span: Range<usize>, block: &str, found: &Found, source: &[u8]) -> Result<Edit, &'static str> {
    let spelling = found.context().spelling;
    let language = spelling.language.ok_or("its language is not known")?;
    if !matches!(language, Language::Cuda | Language::OpenCl | Language::Python | Language::Rust | Language::LlvmIr) {
        return Err("blocks are written into PTX, CUDA C++, OpenCL, Python, Rust and LLVM IR only");
    }
    let place = place(span.clone(), found, source)?;
    let literal_end = found.literal_end(span.end.saturating_sub(1)).ok_or("its place in the file is not known")?;
    let is_c = matches!(language, Language::Cuda | Language::OpenCl);
    let quoted = source.get(literal_end) == Some(&b'"');
    if is_c && !spelling.is_asm && !quoted {
        return Err("it stands in no string literal");
    }
    if spelling.braces == Braces::Unknown {
        return Err("its string does not show whether braces are doubled in it");
    }
    let names = Names::of(found, source);
    names.replaces(&span, found)?;
    let mut lines = Vec::new();
    for line in block.lines().map(str::trim).filter(|line| !line.is_empty()) {
        let mut spelled = String::new();
        for part in line.split_inclusive(['{', '}']) {
            let inner = part.trim_end_matches(['{', '}']);
            spelled.push_str(&names.spelled(inner)?);
            let braces = &part[inner.len()..];
            spelled.push_str(braces);
            if spelling.braces == Braces::Doubled {
                spelled.push_str(braces);
            }
        }
        lines.push(spelled);
    }
    if is_rust_asm(found)
        && let [.., last, _] = lines.as_mut_slice()
    {
        // rustc refuses operands that the template does not name, and counts those in comments.
        let unused: Vec<&str> = names.fields_without(block).collect();
        if !unused.is_empty() {
            last.push_str(&format!(" /* {} */", unused.join(" ")));
        }
    }
    // With its semicolon, as far as it stands in the literal.
    let behind = source.get(place.end..literal_end).unwrap_or_default();
    let blanks = behind.iter().take_while(|byte| matches!(byte, b' ' | b'\t')).count();
    // Behind a block it is an error.
    let end = match (found.has_semicolon(), behind.get(blanks) == Some(&b';')) {
        (_, true) => place.end + blanks + 1,
        (false, false) => place.end,
        (true, false) => return Err("its semicolon does not stand behind it in its literal"),
    };
    let newline = edits::newline(source);
    let line = Line::of(source, place.start);
    let text = if is_c && quoted && !spelling.is_nested && !found.context().definition {
        let indent = line.up_to_quote().ok_or("its literal does not begin on the line that it stands in")?;
        // The instruction stays as a comment.
        let comment = source.get(place.start..end).and_then(|text| std::str::from_utf8(text).ok());
        let comment = comment.filter(|text| !text.contains(['\n', '\\', '"']) && !text.contains("*/"));
        let comment = comment.map(|text| format!(" /* {text} */")).unwrap_or_default();
        laid_out(&lines, " \"", newline, &format!("{indent}\"")).replacen(newline, &format!("{comment}{newline}"), 1)
    } else if line.begins() || language == Language::Rust && !spelling.is_nested {
        // A literal of Rust may hold line ends, as does one whose line the instruction begins.
        let further = if line.begins() { "" } else { "    " };
        laid_out(&lines, "", newline, &format!("{}{further}", line.indent))
    } else {
        lines.join(" ")
    };
    // Two braces in a row are something else to templates and formats.
    let before = if source[..place.start].ends_with(b"{") { " " } else { "" };
    let behind = if source[end..].starts_with(b"}") { " " } else { "" };
    Ok(Edit::new(place.start..end, format!("{before}{text}{behind}")))
}

/// The lines of a block: between them `end`, a line end and `begin`. Statements stand further in where nothing closes a literal.
fn laid_out(lines: &[String], end: &str, newline: &str, begin: &str) -> String {
    let mut text = String::new();
    for (number, line) in lines.iter().enumerate() {
        if number > 0 {
            text.push_str(&format!("{end}{newline}{begin}"));
            let is_inside = end.is_empty() && number + 1 < lines.len();
            text.push_str(if is_inside { "    " } else { "" });
        }
        text.push_str(line);
    }
    text
}

/// The column behind which a literal's lines are not written below it.
const FAR: usize = 50;

/// The line of a file that holds a place.
struct Line<'s> {
    /// What stands before the place.
    before: &'s [u8],
    /// The blanks that it begins with.
    indent: &'s str,
    /// Whether the line before it goes on in it.
    is_continued: bool,
}

impl<'s> Line<'s> {
    fn of(source: &'s [u8], place: usize) -> Line<'s> {
        let start = source[..place].iter().rposition(|byte| *byte == b'\n').map_or(0, |at| at + 1);
        let before = &source[start..place];
        let blanks = before.iter().take_while(|byte| matches!(byte, b' ' | b'\t')).count();
        let indent = std::str::from_utf8(&before[..blanks]).unwrap_or_default();
        let is_continued = source[..start].trim_ascii_end().ends_with(b"\\");
        Line { before, indent, is_continued }
    }

    /// Whether the place is the first on its line, which the text has itself.
    fn begins(&self) -> bool {
        self.before.len() == self.indent.len() && !self.is_continued
    }

    /// Blanks up to the quote that opens the literal which holds the place; if that stands far to the right, those of a line that goes on.
    fn up_to_quote(&self) -> Option<String> {
        // An escaped quote stands in no PTX, and a quote before the last one belongs to another literal.
        let quote = self.before.iter().rposition(|byte| *byte == b'"')?;
        if quote > FAR {
            return Some(format!("{}        ", self.indent));
        }
        let blank = |byte: &u8| if *byte == b'\t' { '\t' } else { ' ' };
        let is_first = |byte: &&u8| !matches!(**byte, 0x80..0xc0);
        Some(self.before[..quote].iter().filter(is_first).map(blank).collect())
    }
}

/// Why an operand stays where it is.
const TAKES_NEXT: &str = "each of its placeholders takes the next argument";

/// The names in an instruction, as its file writes them.
struct Names<'f> {
    all: Vec<(&'f str, Result<String, &'static str>)>,
}

impl<'f> Names<'f> {
    fn of(found: &'f Found, source: &[u8]) -> Names<'f> {
        let mut all: Vec<(&str, Result<String, &'static str>)> = Vec::new();
        let mut at = 0;
        for part in found.text.split_inclusive(|c| !is_name(c)) {
            let word = part.trim_end_matches(|c| !is_name(c));
            let place = at..at + word.len();
            at += part.len();
            if word.is_empty() || all.iter().any(|(name, _)| *name == word) {
                continue;
            }
            let spelled = match word.contains('$') && !word.starts_with('$') {
                true => Err(TAKES_NEXT),
                false => found
                    .edit_place(place, source)
                    .map(|place| String::from_utf8_lossy(source.get(place).unwrap_or_default()).into_owned())
                    .and_then(|spelled| own(spelled, found)),
            };
            all.push((word, spelled));
        }
        Names { all }
    }

    /// Checks that a part of the instruction may be written anew: what takes the next argument can be neither dropped nor repeated.
    fn replaces(&self, span: &Range<usize>, found: &Found) -> Result<(), &'static str> {
        let part = found.text.get(span.clone()).unwrap_or_default();
        let takes_next =
            |word: &str| self.all.iter().any(|(name, in_file)| *name == word && *in_file == Err(TAKES_NEXT));
        if part.split(|c| !is_name(c)).any(takes_next) { Err(TAKES_NEXT) } else { Ok(()) }
    }

    /// The fields, `{x}` in the file, that a text with the instruction's names does not hold.
    fn fields_without(&self, text: &str) -> impl Iterator<Item = &str> {
        self.all.iter().filter_map(move |(name, in_file)| {
            let in_file = in_file.as_deref().ok().filter(|in_file| in_file.starts_with('{'))?;
            (!text.split(|c| !is_name(c)).any(|word| word == *name)).then_some(in_file)
        })
    }

    /// A text with these names in the place of those of the instruction.
    fn spelled(&self, text: &str) -> Result<String, &'static str> {
        let mut spelled = String::new();
        for part in text.split_inclusive(|c| !is_name(c)) {
            let word = part.trim_end_matches(|c| !is_name(c));
            match self.all.iter().find(|(name, _)| *name == word) {
                Some((_, in_file)) => spelled.push_str(in_file.as_deref().map_err(|why| *why)?),
                None if word.contains(['%', '$']) => return Err("a name that it needs is not in the file"),
                None => spelled.push_str(word),
            }
            spelled.push_str(&part[word.len()..]);
        }
        Ok(spelled)
    }
}

/// A name as the file writes it, if it is the instruction's own and no field of a format.
fn own(spelled: String, found: &Found) -> Result<String, &'static str> {
    let (spelling, asm) = (found.context().spelling, &found.context().asm);
    let is_word = |sign: char| {
        spelled.strip_prefix(sign).is_some_and(|name| name.starts_with(|c: char| c.is_ascii_alphabetic() || c == '_'))
    };
    // The template of C's extended `asm`, in which `%r1` of PTX is `%%r1`.
    let is_template = spelling.is_asm
        && match spelling.language {
            _ if spelling.is_nested => true,
            Some(Language::Rust | Language::LlvmIr | Language::Mlir) => false,
            _ => asm.is_some(),
        };
    // `%s` is no operand of an `asm`: printf or Python's `%` fills it in.
    if is_template && is_word('%') {
        return Err(TAKES_NEXT);
    }
    // `string.Template`.
    if spelling.language == Some(Language::Python) && is_word('$') {
        return Err("a format writes a part of it");
    }
    Ok(spelled)
}

/// The patch of a diagnostic about a statement of a module, whose places are the module's already: blocks are laid out.
pub(super) fn in_module(mut diagnostic: Diagnostic, module: &Module) -> Diagnostic {
    let text = module.text();
    let Patch::Edits(edits) = &mut diagnostic.patch else { return diagnostic };
    let newline = edits::newline(text.as_bytes());
    for edit in edits.iter_mut().filter(|edit| is_block(&edit.text)) {
        let behind = &text[edit.span.end..];
        let blanks = behind.len() - behind.trim_start().len();
        if behind[blanks..].starts_with(';') {
            edit.span.end += blanks + 1;
        } else if behind[lex::skip_trivia(behind, 0)..].starts_with(';') {
            diagnostic.patch = Patch::OutOfReach("a comment stands before its semicolon");
            return diagnostic;
        }
        let line = Line::of(text.as_bytes(), edit.span.start);
        edit.text = edit.text.replace('\n', &format!("{newline}{}", line.indent));
    }
    diagnostic
}

/// The patch of a diagnostic about a module that a string of a file holds.
pub(super) fn in_string(patch: Patch, module: &Found, source: &[u8]) -> Patch {
    let Patch::Edits(edits) = patch else { return patch };
    let edits = edits.into_iter().map(|edit| {
        if edit.text.contains(['%', '$', '{', '\n']) {
            return Err("it stands in a module that a string holds");
        }
        Ok(Edit::new(module.edit_place(edit.span, source)?, edit.text))
    });
    match edits.collect() {
        Ok(edits) => Patch::Edits(edits),
        Err(why) => Patch::OutOfReach(why),
    }
}
