//! Operands that complete a word of a template, `%1.b%2` with `"n"(I)`, or a number of it, `-%2` and `0x%2`: their values, where the
//! file says them.

use std::ops::Range;

use super::cursor::is_ident;
use super::lex::{Arguments, Facts, Text};
use super::mapped::{Mapped, Paste};
use super::mnemonic::is_modifier;
use super::operand::Class;
use super::placeholder::Dialect;

/// The versions of a template that are judged, one for each list of values.
const MOST_VERSIONS: usize = 16;

/// A value in a text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Filled {
    /// The operand and what it is, `%2` is 5.
    pub(crate) says: String,
    /// The place of the file that says it.
    pub(crate) place: Range<usize>,
}

/// A template with values for the operands that complete a word.
pub(super) struct Version {
    pub(super) text: Text,
    pub(super) filled: Vec<Filled>,
    /// The operands, by their index, that complete a word though they are registers.
    pub(super) registers: Vec<usize>,
}

/// A value, and the place that says it.
type Value = (i128, Range<usize>);

/// The versions of a decoded text, one for each list of values that its operands have. What has no known value is marked as
/// pasted by an operand. `facts` knows the names of the file.
pub(super) fn versions<'f, 'a: 'f>(text: Text, facts: impl FnOnce() -> Option<&'f Facts<'a>>) -> Vec<Version> {
    let whole = |text| vec![Version { text, filled: Vec::new(), registers: Vec::new() }];
    let is_rust = text.dialect == Dialect::RustAsm;
    let has_numbers = text.asm.as_ref().is_some_and(|asm| asm.operands.iter().any(|one| one.class == Class::Immediate));
    let sites = match text.dialect {
        Dialect::Ptx => return whole(text),
        Dialect::RustAsm => fields(&text.mapped),
        _ if has_glued(&text.mapped) || has_numbers => placeholders(&text.mapped),
        _ => return whole(text),
    };
    if sites.is_empty() {
        return whole(text);
    }
    let Some(asm) = text.asm.clone() else {
        let mapped = filled(&text.mapped, &sites, |_, place| place.unknown());
        return whole(Text { mapped, ..text });
    };
    let facts = facts();
    // The operands that complete words, each once.
    let mut operands: Vec<usize> = Vec::new();
    filled(&text.mapped, &sites, |name, place| {
        operands.extend(asm.index(name).filter(|index| !operands.contains(index)));
        place.unknown()
    });
    let immediates: Vec<usize> =
        operands.iter().copied().filter(|&index| asm.operands[index].class == Class::Immediate).collect();
    let of_template =
        facts.and_then(|facts| immediates.iter().find_map(|&index| facts.uses(&asm.operands[index].expression)));
    let environments: Vec<Option<Arguments>> = match of_template {
        Some(uses) if !uses.is_empty() => uses.into_iter().map(Some).collect(),
        _ => vec![None],
    };
    let mut all: Vec<Version> = Vec::new();
    for arguments in environments.iter().take(MOST_VERSIONS) {
        let value = |index: usize| -> Option<Value> {
            let operand = &asm.operands[index];
            if let (Some(facts), Class::Immediate) = (facts, operand.class) {
                if let Some(value) = facts.value(&operand.expression, None) {
                    return Some((value, operand.expression_place.clone()));
                }
                let arguments = arguments.as_ref()?;
                return Some((facts.value(&operand.expression, Some(arguments))?, arguments.place.clone()));
            }
            // Without names, only what is written as a number.
            match operand.expression.as_slice() {
                [number] if operand.class == Class::Immediate => {
                    let value = std::str::from_utf8(&number.text).ok()?.parse().ok()?;
                    Some((value, operand.expression_place.clone()))
                }
                _ => None,
            }
        };
        let mut said = Vec::new();
        let mut registers = Vec::new();
        let mapped = filled(&text.mapped, &sites, |name, place| {
            let Some(index) = asm.index(name) else { return place.unknown() };
            // What is a number in the text may stand beside others.
            if place == Place::Beside && asm.operands[index].class != Class::Immediate {
                return Fill::Keep;
            }
            if matches!(asm.operands[index].class, Class::Word | Class::Other(_)) {
                registers.push(index);
                return Fill::Unknown;
            }
            match value(index) {
                Some((value, place)) => {
                    let shown = match text.dialect {
                        Dialect::LlvmAsm => format!("${name}"),
                        _ if is_rust && name.contains('$') => "{}".to_owned(),
                        _ if is_rust => format!("{{{name}}}"),
                        _ if name.starts_with(|c: char| c.is_ascii_digit()) => format!("%{name}"),
                        _ => format!("%[{name}]"),
                    };
                    let one = Filled { says: format!("`{shown}` is {value}"), place };
                    if !said.contains(&one) {
                        said.push(one);
                    }
                    Fill::Value(value)
                }
                None => Fill::Unknown,
            }
        });
        if all.iter().all(|other| other.text.mapped.bytes() != mapped.bytes()) {
            let text = Text { mapped, asm: Some(asm.clone()), ..text_like(&text) };
            all.push(Version { text, filled: said, registers });
        }
    }
    all
}

fn text_like(text: &Text) -> Text {
    Text {
        mapped: Mapped::default(),
        dialect: text.dialect,
        asm: None,
        definition: text.definition,
        macro_name: text.macro_name.clone(),
        unread: text.unread,
    }
}

/// What stands for a placeholder.
enum Fill {
    Value(i128),
    /// Any text.
    Unknown,
    /// The placeholder.
    Keep,
}

/// How a placeholder stands in a text.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Place {
    /// It completes a modifier, a selector or a mnemonic.
    Word,
    /// It stands beside a sign or a word, and is a part of an operand: `-%2`, `0x%2`, `%2%3`, `%2 + 1`.
    Beside,
    Apart,
}

impl Place {
    /// What an operand is in such a place of which nothing is known.
    fn unknown(self) -> Fill {
        if self == Place::Word { Fill::Unknown } else { Fill::Keep }
    }
}

fn has_glued(text: &Mapped) -> bool {
    let bytes = text.bytes();
    memchr::memchr_iter(b'%', bytes).any(|at| at > 0 && (is_ident(bytes[at - 1]) || bytes[at - 1] == b'.'))
}

/// A placeholder, and its name in it.
struct Site {
    whole: Range<usize>,
    name: Range<usize>,
}

/// The placeholders that a text holds as `%name`.
fn placeholders(text: &Mapped) -> Vec<Site> {
    let bytes = text.bytes();
    let mut sites = Vec::new();
    for at in memchr::memchr_iter(b'%', bytes).filter(|&at| text.paste_at(at).is_none()) {
        let digits = bytes[at + 1..].iter().take_while(|b| b.is_ascii_digit()).count();
        let letters = bytes[at + 1..].iter().take_while(|&&b| is_ident(b)).count();
        let name = at + 1..at + 1 + if digits > 0 { digits } else { letters };
        if !name.is_empty() {
            sites.push(Site { whole: at..name.end, name });
        }
    }
    sites
}

/// The placeholders of Rust's `asm!`, `{name}`, which are fields of its template.
fn fields(text: &Mapped) -> Vec<Site> {
    let fields = text.pasted_by(Paste::Field).into_iter();
    fields.map(|name| Site { whole: name.clone(), name }).collect()
}

/// A text with placeholders replaced that do not stand apart.
fn filled(text: &Mapped, sites: &[Site], mut fill: impl FnMut(&str, Place) -> Fill) -> Mapped {
    let bytes = text.bytes();
    let mut out = Mapped::from_pieces_of(text);
    let mut copied = 0;
    for Site { whole, name } in sites {
        // What stands before it, with what has been filled in.
        out.push_slice(text, copied..whole.start);
        copied = whole.start;
        let place = place(&out, &bytes[whole.end..]);
        if place == Place::Apart {
            continue;
        }
        let shown = std::str::from_utf8(&bytes[name.clone()]).unwrap_or_default();
        match fill(shown, place) {
            Fill::Keep => continue,
            Fill::Value(value) => out.push_instead(value.to_string().as_bytes(), text, whole.clone(), None),
            Fill::Unknown => out.push_instead(&bytes[whole.clone()], text, whole.clone(), Some(Paste::Operand)),
        }
        copied = whole.end;
    }
    out.push_slice(text, copied..bytes.len());
    out
}

/// How a placeholder between two texts stands in them.
fn place(before: &Mapped, behind: &[u8]) -> Place {
    if completes_a_word(before, behind.first().copied().unwrap_or(0)) {
        return Place::Word;
    }
    let bytes = before.bytes();
    let touches = bytes.last().is_some_and(|&b| is_ident(b)) && before.paste_at(bytes.len() - 1).is_none();
    let of_expression = |&b: &u8| b"-~!+*/%&|^<>=?:()".contains(&b);
    // A guard is none, nor is a comment.
    let (left, right) = (bytes.trim_ascii_end(), behind.trim_ascii_start());
    let sign_before = left.last().is_some_and(of_expression) && !left.ends_with(b"@!") && !left.ends_with(b"*/");
    let sign_behind =
        right.first().is_some_and(of_expression) && !right.starts_with(b"/*") && !right.starts_with(b"//");
    let goes_on = behind.first().is_some_and(|&b| is_ident(b));
    if touches || goes_on || sign_before || sign_behind { Place::Beside } else { Place::Apart }
}

/// Whether a placeholder behind this text is a part of a modifier, a selector or a mnemonic. A register may follow a whole
/// modifier at once: `.add%0`.
fn completes_a_word(before: &Mapped, next: u8) -> bool {
    let bytes = before.bytes();
    let Some(last) = bytes.len().checked_sub(1) else { return false };
    if before.paste_at(last).is_some_and(|(by, _)| by == Paste::Operand) {
        return true;
    }
    if before.paste_at(last).is_some() || !(is_ident(bytes[last]) || bytes[last] == b'.') {
        return false;
    }
    let start = bytes.iter().rposition(|&b| !is_ident(b)).map_or(0, |i| i + 1);
    let word = &bytes[start..];
    match start.checked_sub(1).map(|dot| bytes[dot]) {
        Some(b'.') => !is_modifier(word),
        // `%1%2` is no word, and `vadd%4.u32` is one.
        Some(b'%') => false,
        _ => next == b'.' && !word.is_empty(),
    }
}
