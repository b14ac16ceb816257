//! Signature help: the syntax of the instruction that is being written, and the part of it that comes next.

use std::ops::Range;

use vop::Mnemonic;
use vop_draw::mnemonic;

use crate::completion::next_slot;
use crate::document::Document;
use crate::statement;

/// The syntax of an instruction.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Signature {
    /// In the manual's notation.
    pub label: String,
    /// What the instruction does.
    pub summary: &'static str,
    /// Its parts: where they stand in the label, which is ASCII, and what each means.
    pub parameters: Vec<(Range<usize>, String)>,
    /// The part that the position is in.
    pub active: Option<usize>,
}

/// The syntax of the video instruction that a position is in.
pub fn signature(document: &Document, offset: usize) -> Option<Signature> {
    let begun = statement::begun(document, offset)?;
    let mut words = begun.opcode.split('.');
    let mnemonic = Mnemonic::from_name(words.next()?)?;
    let mut words: Vec<&str> = words.collect();
    let row = mnemonic.row();
    let label = format!("{}{}", row.name, row.syntax);
    let opcode_end = label.find(' ').unwrap_or(label.len());
    let slots = mnemonic::modifiers(mnemonic);
    let mut parameters = Vec::new();
    let mut from = row.name.len();
    for slot in &slots {
        let start = label[from..opcode_end].find(slot.name).map(|at| from + at)?;
        from = start + slot.name.len();
        let meanings = slot.values.iter().map(|(spelling, meaning)| match slot.name == spelling {
            true => meaning.clone(),
            false => format!("{spelling}: {meaning}"),
        });
        parameters.push((start..from, meanings.collect::<Vec<_>>().join("; ")));
    }
    let mut from = opcode_end;
    for operand in mnemonic::operands(mnemonic) {
        let is_name = |at: usize| {
            let behind = label.as_bytes().get(at + 1).copied().unwrap_or(b'}');
            matches!(label.as_bytes()[at - 1], b' ' | b'}') && matches!(behind, b'{' | b',' | b'}')
        };
        let mut places = label[from..].match_indices(operand.name).map(|(at, _)| from + at);
        let start = places.find(|&at| is_name(at))?;
        // With its selector.
        let selector = label[start + 1..].strip_prefix("{.").and_then(|rest| rest.find('}')).map_or(0, |end| end + 3);
        from = start + 1 + selector;
        let selectors =
            if operand.selectors.is_empty() { String::new() } else { format!(" (selectors {})", operand.selectors) };
        parameters.push((start..from, format!("{}{selectors}", operand.meaning)));
    }
    let active = match begun.operand() {
        Some(number) => Some(slots.len() + number).filter(|&at| at < parameters.len()),
        None => {
            // The word that is being written is not yet one of the syntax.
            words.pop();
            let next = next_slot(&slots, &words);
            next.filter(|&at| at < slots.len())
        }
    };
    Some(Signature { label, summary: row.summary, parameters, active })
}

#[cfg(test)]
mod tests {
    use vop_ptx::find::Language;

    use super::*;

    fn active(text: &str) -> Option<String> {
        let document = Document::new(text, Language::Ptx);
        let signature = signature(&document, text.len())?;
        Some(signature.label[signature.parameters[signature.active?].0.clone()].to_owned())
    }

    #[test]
    fn parameters() {
        for (text, wanted) in [
            ("vadd4.", ".dtype"),
            ("vadd4.u32.s", ".atype"),
            ("vadd4.u32.u32.u32.", ".sat"),
            ("vadd4.u32.u32.u32.sat ", "d{.mask}"),
            ("vadd4.u32.u32.u32 d, a.b0", "a{.asel}"),
            ("vadd4.u32.u32.u32 d, a, b, ", "c"),
            ("vadd.u32.u32.u32 d, a, b, ", "c"),
            ("vmad.u32.u32.u32 d, -a, ", "b{.bsel}"),
            ("vshl.u32.u32.u32.", ".sat"),
            ("vset4.u32.u32.lt d.b0", "d{.mask}"),
        ] {
            assert_eq!(active(text).as_deref(), Some(wanted), "{text}");
        }
        assert_eq!(active("vadd4.u32.u32.u32 d, a, b, c, "), None);
        assert_eq!(active("add.u32 "), None);
    }

    #[test]
    fn all_have_one() {
        for mnemonic in Mnemonic::ALL {
            let text = format!("{mnemonic}.");
            let document = Document::new(text.as_str(), Language::Ptx);
            let signature = signature(&document, text.len()).expect("a signature");
            assert_eq!(signature.parameters.len(), mnemonic::modifiers(mnemonic).len() + 4);
            assert!(signature.parameters.windows(2).all(|two| two[0].0.end <= two[1].0.start), "{signature:?}");
        }
    }
}
