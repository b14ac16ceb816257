//! Completion: mnemonics, then modifiers in the order of the syntax, then selectors; in files of PTX also registers and directives.

use std::ops::Range;

use vop::isa::table::Axis;
use vop::isa::types::{Mask, Part, Selector, Shape};
use vop::{Form, Mnemonic};
use vop_draw::mnemonic::{self, Slot};
use vop_ptx::module::{Module, ScopeId};

use crate::document::Document;
use crate::reference;
use crate::statement::{self, Begun};

/// What may be written.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Item {
    /// As it is written.
    pub label: String,
    /// What it is.
    pub kind: ItemKind,
    /// What it means, in a few words.
    pub detail: String,
}

/// What an [`Item`] is.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum ItemKind {
    /// The mnemonic of a video instruction.
    Video,
    /// Another mnemonic.
    Base,
    /// A modifier of an opcode, or a selector.
    Modifier,
    /// A register.
    Register,
    /// A directive or a type.
    Directive,
}

/// What may be written at a position, and the bytes before it that it replaces.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Completion {
    /// What has been written of it.
    pub replaces: Range<usize>,
    /// In the order in which they are shown.
    pub items: Vec<Item>,
    /// Whether there are others, which depend on what is typed next.
    pub is_incomplete: bool,
}

/// What may be written at a position.
pub fn completion(document: &Document, offset: usize) -> Option<Completion> {
    let begun = statement::begun(document, offset);
    let found = begun.and_then(|begun| match begun.operands {
        None if begun.opcode.is_empty() || begun.opcode.starts_with('.') => None,
        None => opcode(document, &begun, offset),
        Some(operands) => selectors(&begun, operands, offset),
    });
    found.or_else(|| names(document, offset))
}

fn opcode(document: &Document, begun: &Begun<'_>, offset: usize) -> Option<Completion> {
    let Some(dot) = begun.opcode.rfind('.') else {
        let video = Mnemonic::ALL.iter().map(|mnemonic| {
            let row = mnemonic.row();
            Item { label: row.name.into(), kind: ItemKind::Video, detail: row.summary.into() }
        });
        let base = reference::mnemonics().map(|row| Item {
            label: row.name.into(),
            kind: ItemKind::Base,
            detail: row.sentence.trim_end_matches('.').into(),
        });
        let begins = |item: &Item| item.label.starts_with(begun.opcode);
        let items: Vec<Item> = video.chain(base).filter(begins).collect();
        // Every string holds words: only what begins a mnemonic is one.
        return (!items.is_empty() || document.module().is_some()).then_some(Completion {
            replaces: begun.start..offset,
            items,
            is_incomplete: false,
        });
    };
    let (written, partial) = (&begun.opcode[..dot], &begun.opcode[dot..]);
    let mut words = written.split('.');
    let mnemonic = Mnemonic::from_name(words.next()?)?;
    let words: Vec<&str> = words.collect();
    let slots = mnemonic::modifiers(mnemonic);
    let next = next_slot(&slots, &words)?;
    let mut items = Vec::new();
    for slot in &slots[next..] {
        for (spelling, meaning) in spellings(slot) {
            let is_legal = is_legal(mnemonic, &slots, &format!("{written}{spelling}"));
            if is_legal && spelling.starts_with(partial) {
                let detail = if slot.name == spelling { meaning } else { format!("{}: {meaning}", slot.name) };
                items.push(Item { label: spelling, kind: ItemKind::Modifier, detail });
            }
        }
        if !slot.optional {
            break;
        }
    }
    Some(Completion { replaces: begun.start + dot..offset, items, is_incomplete: false })
}

/// The spellings of a part of the syntax, each with its meaning.
fn spellings(slot: &Slot) -> impl Iterator<Item = (String, String)> + '_ {
    let each = |(spellings, meaning): &'_ (String, String)| {
        let meaning = meaning.clone();
        spellings.split(' ').map(|spelling| (spelling.to_owned(), meaning.clone())).collect::<Vec<_>>()
    };
    slot.values.iter().flat_map(each)
}

/// The first part of the syntax that may follow the modifiers that are written; none if they are not those of the syntax.
pub(crate) fn next_slot(slots: &[Slot], words: &[&str]) -> Option<usize> {
    let mut next = 0;
    for word in words {
        loop {
            let slot = slots.get(next)?;
            next += 1;
            if spellings(slot).any(|(spelling, _)| spelling.strip_prefix('.') == Some(word)) {
                break;
            }
            if !slot.optional {
                return None;
            }
        }
    }
    Some(next)
}

/// Whether an opcode can be completed to a legal one.
fn is_legal(mnemonic: Mnemonic, slots: &[Slot], opcode: &str) -> bool {
    let words: Vec<&str> = opcode.split('.').skip(1).collect();
    let Some(next) = next_slot(slots, &words) else { return false };
    let needed = slots[next..].iter().filter(|slot| !slot.optional);
    let rest: String = needed.filter_map(|slot| spellings(slot).next()).map(|(spelling, _)| spelling).collect();
    let form: Result<Form, _> = format!("{opcode}{rest}").parse();
    form.is_ok_and(|form| form.mnemonic() == mnemonic)
}

/// The selectors behind the dot of an operand.
fn selectors(begun: &Begun<'_>, operands: &str, offset: usize) -> Option<Completion> {
    let mnemonic = Mnemonic::from_name(begun.opcode.split('.').next()?)?;
    let number = begun.operand()?;
    let operand = operands.rsplit(',').next()?.trim_start();
    let dot = operand.rfind('.')?;
    let (name, partial) = (&operand[..dot], &operand[dot + 1..]);
    if name.is_empty() || !partial.bytes().all(|b| b.is_ascii_alphanumeric()) {
        return None;
    }
    let shape = mnemonic.shape();
    let is_part = |part: &Part| Item {
        label: part.to_string(),
        kind: ItemKind::Modifier,
        detail: format!("bits {} to {}", part.shift(), part.shift() + part.bits() - 1),
    };
    let (mut items, is_incomplete): (Vec<Item>, bool) = match (shape, number) {
        (Shape::Scalar, 0) if mnemonic.allows(Axis::Merge) => (Part::ALL.iter().map(is_part).collect(), false),
        (Shape::Scalar, 1 | 2) => (Part::ALL.iter().map(is_part).collect(), false),
        (Shape::Halves | Shape::Bytes, 0) => (masks(shape), false),
        (Shape::Halves, 1 | 2) => (halves(number == 2), false),
        (Shape::Bytes, 1 | 2) => (bytes(partial, number == 2), true),
        _ => return None,
    };
    // With a second operation d has no selector.
    let form: Result<Form, _> = begun.opcode.parse();
    if number == 0 && matches!(form.map(Form::finish), Ok(vop::isa::form::Finish::Secondary(_))) {
        items.clear();
    }
    items.retain(|item| item.label[1..].starts_with(partial));
    Some(Completion { replaces: offset - partial.len() - 1..offset, items, is_incomplete })
}

/// The masks of d, all lanes first.
fn masks(shape: Shape) -> Vec<Item> {
    let lanes = shape.lanes();
    let masks = (1..1u8 << lanes).rev().filter_map(|bits| Mask::new(bits, shape));
    masks
        .map(|mask| {
            let digits: String = (0..lanes).rev().filter(|&i| mask.has(i)).map(|i| i.to_string()).collect();
            let names: Vec<String> = digits.chars().map(String::from).collect();
            let plural = if names.len() == 1 { "lane" } else { "lanes" };
            let detail = match mask == Mask::full(shape) {
                true => "all lanes (as without a mask)".to_owned(),
                false => format!("{plural} {}", names.join(", ")),
            };
            Item { label: format!(".{}{digits}", shape.letter()), kind: ItemKind::Modifier, detail }
        })
        .collect()
}

/// A selector with what each lane gets, lane 0 last as in the selector.
fn selector(selector: Selector, default: Selector) -> Item {
    let of = |lane: u8, lanes: u8| format!("{}{}", if lane < lanes { 'a' } else { 'b' }, lane % lanes);
    let lanes: Vec<String> = match selector {
        Selector::Bytes(lanes) => lanes.iter().rev().map(|&lane| of(lane, 4)).collect(),
        Selector::Halves(lanes) => lanes.iter().rev().map(|&lane| of(lane, 2)).collect(),
        Selector::Word | Selector::Part(_) => Vec::new(),
    };
    let default = if selector == default { " (as without a selector)" } else { "" };
    Item { label: selector.to_string(), kind: ItemKind::Modifier, detail: format!("{}{default}", lanes.join(" ")) }
}

fn halves(second: bool) -> Vec<Item> {
    let default = Selector::default_for(Shape::Halves, second);
    let all = (0..4).flat_map(|x| (0..4).map(move |y| Selector::Halves([y, x])));
    let mut items: Vec<Selector> = all.filter(|one| *one != default).collect();
    items.insert(0, default);
    items.into_iter().map(|one| selector(one, default)).collect()
}

/// The likeliest of the 4096 selectors that begin as written: the default, one byte in all lanes, reversed and interleaved ones, then those
/// that go on with each digit.
fn bytes(partial: &str, second: bool) -> Vec<Item> {
    let default = Selector::default_for(Shape::Bytes, second);
    let mut digits: Vec<String> = Vec::new();
    let mut add = |text: String| {
        if text.len() == 4 && !digits.contains(&text) {
            digits.push(text);
        }
    };
    let written = partial.strip_prefix('b').unwrap_or(partial);
    let written = if written.bytes().all(|b| (b'0'..=b'7').contains(&b)) && written.len() <= 4 { written } else { "" };
    let begins = |text: &&str| text.starts_with(written);
    let known = ["3210", "7654", "0123", "4567", "5140", "7362", "6420", "7531", "5410", "7632"];
    let (first, others) = if second { ("7654", "3210") } else { ("3210", "7654") };
    [first, others].into_iter().chain(known).filter(begins).for_each(|text| add(text.to_owned()));
    for byte in 0..8 {
        add(format!("{byte}{byte}{byte}{byte}"));
    }
    for byte in 0..8 {
        // As written, one digit more, and the default's last ones.
        let longer = format!("{written}{byte}");
        add(format!("{longer}{}", first.get(longer.len()..).unwrap_or_default()));
        add(format!("{written}{}", byte.to_string().repeat(4 - written.len().min(4))));
    }
    let lanes = |text: &String| {
        let mut lanes = [0u8; 4];
        for (lane, digit) in lanes.iter_mut().rev().zip(text.bytes()) {
            *lane = digit - b'0';
        }
        Selector::Bytes(lanes)
    };
    digits.iter().map(|text| selector(lanes(text), default)).collect()
}

/// Registers behind `%`, and directives and types behind a dot that begins a word, in files of PTX.
fn names(document: &Document, offset: usize) -> Option<Completion> {
    let module = document.module()?;
    let text = document.text();
    let before = text.get(..offset)?;
    let length =
        before.bytes().rev().take_while(|b| b.is_ascii_alphanumeric() || matches!(b, b'_' | b'$' | b'%' | b'.'));
    let start = offset - length.count();
    let word = &text[start..offset];
    let mut items = Vec::new();
    if word.starts_with('%') {
        let scope = scope_at(module, offset);
        let mut at = Some(scope);
        while let Some(id) = at {
            let scope = module.scope(id);
            for register in scope.registers().iter().filter(|register| register.name.end <= offset) {
                let (name, ty) = (module.slice(&register.name), register.ty.scalar.name());
                match register.count {
                    None => items.push(Item { label: name.into(), kind: ItemKind::Register, detail: format!(".{ty}") }),
                    // Of many, the first ones.
                    Some(count) => items.extend((0..count.min(32)).map(|number| Item {
                        label: format!("{name}{number}"),
                        kind: ItemKind::Register,
                        detail: format!(".{ty}, of {name}<{count}>"),
                    })),
                }
            }
            at = scope.parent;
        }
        items.extend(reference::rows().iter().filter(|row| row.kind == reference::Kind::Register).map(|row| Item {
            label: row.name.into(),
            kind: ItemKind::Register,
            detail: row.sentence.trim_end_matches('.').into(),
        }));
    } else if word.starts_with('.') && !word[1..].contains('.') {
        let rows = reference::rows().iter();
        let rows = rows.filter(|row| matches!(row.kind, reference::Kind::Directive | reference::Kind::Type));
        items.extend(rows.map(|row| Item {
            label: row.name.into(),
            kind: ItemKind::Directive,
            detail: row.sentence.trim_end_matches('.').into(),
        }));
    }
    items.retain(|item| item.label.starts_with(word));
    let mut seen = std::collections::HashSet::new();
    items.retain(|item| seen.insert(item.label.clone()));
    (!items.is_empty()).then_some(Completion { replaces: start..offset, items, is_incomplete: false })
}

/// The innermost scope around a position.
pub(crate) fn scope_at(module: &Module, offset: usize) -> ScopeId {
    let statements = module.statements();
    let before = statements.partition_point(|statement| statement.span.start <= offset);
    let mut scope = before.checked_sub(1).map_or(ScopeId::MODULE, |last| statements[last].scope);
    while scope != ScopeId::MODULE && module.scope(scope).span.end <= offset {
        scope = module.scope(scope).parent.unwrap_or(ScopeId::MODULE);
    }
    scope
}

#[cfg(test)]
mod tests {
    use vop_ptx::find::Language;

    use super::*;

    fn labels(text: &str, language: Language) -> Vec<String> {
        let offset = text.find('|').expect("a position");
        let document = Document::new(text.replacen('|', "", 1), language);
        let Some(completion) = completion(&document, offset) else { return Vec::new() };
        assert_eq!(completion.replaces.end, offset);
        let written = document.slice(&completion.replaces);
        assert!(completion.items.iter().all(|item| item.label.starts_with(written)), "{completion:?}");
        completion.items.into_iter().map(|item| item.label).collect()
    }

    fn ptx(text: &str) -> Vec<String> {
        labels(text, Language::Ptx)
    }

    #[test]
    fn mnemonics() {
        assert_eq!(ptx("vabs|"), ["vabsdiff", "vabsdiff2", "vabsdiff4"]);
        assert!(ptx("@p a|").starts_with(&["add".into()]));
        assert!(labels("asm(\"vset|", Language::Cuda).contains(&"vset4".to_owned()));
        assert_eq!(labels("vset|", Language::Cuda), Vec::<String>::new());
        assert_eq!(labels("puts(\"hello wor|\");", Language::Cuda), Vec::<String>::new());
    }

    /// What may follow is what the syntax has next, and nothing that makes it illegal.
    #[test]
    fn modifiers() {
        assert_eq!(ptx("vadd4.|"), [".u32", ".s32"]);
        assert_eq!(ptx("vadd4.u32.s|"), [".s32"]);
        assert_eq!(ptx("vadd4.u32.u32.u32.|"), [".sat", ".add"]);
        assert_eq!(ptx("vadd4.u32.u32.u32.sat.|"), Vec::<String>::new());
        assert_eq!(ptx("vadd.u32.u32.u32.sat.|"), [".add", ".min", ".max"]);
        assert_eq!(ptx("vshl.u32.u32.|"), [".u32"]);
        assert_eq!(ptx("vshl.u32.u32.u32.|"), [".sat", ".clamp", ".wrap"]);
        assert_eq!(ptx("vset2.u32.s32.|"), [".eq", ".ne", ".lt", ".le", ".gt", ".ge"]);
        assert_eq!(ptx("vmad.s32.u32.u32.|"), [".po", ".sat", ".shr7", ".shr15"]);
        assert_eq!(ptx("vadd4.f32.|"), Vec::<String>::new());
    }

    #[test]
    fn every_modifier_leads_to_a_form() {
        for mnemonic in Mnemonic::ALL {
            // Depth first: each way is followed to its end.
            let mut open = vec![mnemonic.to_string()];
            let mut ends = 0;
            while let Some(opcode) = open.pop() {
                let next = ptx(&format!("{opcode}.|"));
                ends += usize::from(opcode.parse::<Form>().is_ok());
                open.extend(next.into_iter().map(|modifier| format!("{opcode}{modifier}")));
            }
            // All ways to write the parts of the syntax.
            let mut all = vec![mnemonic.to_string()];
            for slot in mnemonic::modifiers(mnemonic) {
                let with = |opcode: &String| -> Vec<String> {
                    let without = slot.optional.then(|| opcode.clone());
                    spellings(&slot).map(|(spelling, _)| format!("{opcode}{spelling}")).chain(without).collect()
                };
                all = all.iter().flat_map(with).collect();
            }
            let all = all.iter().filter(|opcode| opcode.parse::<Form>().is_ok()).count();
            assert!(all > 0 && ends == all, "{mnemonic}: {ends} of {all}");
        }
    }

    #[test]
    fn selectors() {
        assert_eq!(ptx("vadd.u32.u32.u32 d, a.|"), [".b0", ".b1", ".b2", ".b3", ".h0", ".h1"]);
        assert_eq!(ptx("vadd.u32.u32.u32 d, a.h|"), [".h0", ".h1"]);
        assert_eq!(ptx("vadd.u32.u32.u32 d.b|"), [".b0", ".b1", ".b2", ".b3"]);
        assert_eq!(ptx("vadd.u32.u32.u32.add d.|"), Vec::<String>::new());
        assert_eq!(ptx("vmad.u32.u32.u32 d.|"), Vec::<String>::new());
        assert_eq!(ptx("vadd2.u32.u32.u32 d.|"), [".h10", ".h1", ".h0"]);
        assert_eq!(ptx("vadd2.u32.u32.u32 d, a, b.|").first().map(String::as_str), Some(".h32"));
        assert_eq!(ptx("vadd2.u32.u32.u32 d, a.|").len(), 16);
        let bytes = ptx("vadd4.u32.u32.u32 d, a.b|");
        assert_eq!(bytes[0], ".b3210");
        assert!(bytes.contains(&".b0000".into()) && bytes.len() > 15, "{bytes:?}");
        assert_eq!(ptx("vadd4.u32.u32.u32 d, a.b765|").len(), 8);
        assert_eq!(ptx("vadd4.u32.u32.u32 d, a, b, c.|"), Vec::<String>::new());
        assert!(labels("asm(\"vadd4.u32.u32.u32 %0, %1.|\");", Language::Cuda).contains(&".b3210".into()));
        // Each is legal.
        for first in ["d", "d, a", "d, a, b"] {
            for label in ptx(&format!("vadd4.u32.u32.u32 {first}.|")) {
                let rest = [", a, b, c", ", b, c", ", c"][first.matches(',').count()];
                let text = format!("vadd4.u32.u32.u32 {first}{label}{rest}");
                assert!(vop::parse(&text).is_ok(), "{text}");
            }
        }
    }

    #[test]
    fn registers_and_directives() {
        let text = ".reg .b32 %r<3>;\n.entry k() { .reg .pred %p; add.u32 %r0, %|; }";
        let found = ptx(text);
        assert_eq!(found[..4], ["%p", "%r0", "%r1", "%r2"]);
        assert!(found.contains(&"%tid".into()));
        assert!(ptx(".ver|").contains(&".version".into()));
        assert!(ptx(".reg .b3|").contains(&".b32".into()));
    }
}
