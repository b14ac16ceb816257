//! Instructions that show what a modifier does: with it, and without it, on values for which d differs.

use vop::{Form, Mnemonic};
use vop_draw::mnemonic::Slot;

/// A spelling for each slot of the syntax, or none.
pub(crate) type Choice = Vec<Option<String>>;

/// An effect of a spelling.
pub(crate) struct Effect {
    pub(crate) with: Form,
    /// The form that differs in nothing else.
    pub(crate) without: Form,
    /// Where the two differ.
    pub(crate) inputs: [u32; 3],
}

/// The spellings of a slot, one by one.
pub(crate) fn spellings(slot: &Slot) -> Vec<String> {
    slot.values.iter().flat_map(|(spelled, _)| spelled.split_whitespace().map(str::to_owned)).collect()
}

/// The plainest choice: unsigned types, nothing that may be left out.
pub(crate) fn plain(slots: &[Slot]) -> Choice {
    slots.iter().map(|slot| if slot.optional { None } else { spellings(slot).into_iter().next() }).collect()
}

/// The form that a choice spells, if it is legal.
pub(crate) fn form(mnemonic: Mnemonic, choice: &Choice) -> Option<Form> {
    let modifiers: String = choice.iter().flatten().map(String::as_str).collect();
    format!("{mnemonic}{modifiers}").parse().ok()
}

/// What spelling `value` of slot `at` does. Other modifiers are added where it has no effect alone.
pub(crate) fn effect(mnemonic: Mnemonic, slots: &[Slot], at: usize, value: &str) -> Option<Effect> {
    let others: Vec<Option<String>> = match slots[at].optional {
        true => vec![None],
        false => spellings(&slots[at]).into_iter().filter(|other| other != value).map(Some).collect(),
    };
    let mut contexts = vec![plain(slots)];
    let types = |choice: &Choice| {
        let signed = |spelling: &Option<String>| match spelling.as_deref() {
            Some(".u32") => Some(".s32".to_owned()),
            _ => spelling.clone(),
        };
        choice.iter().map(signed).collect::<Choice>()
    };
    contexts.push(types(&contexts[0]));
    let alone = contexts.clone();
    for (i, slot) in slots.iter().enumerate().filter(|(i, slot)| *i != at && slot.optional) {
        for spelling in spellings(slot) {
            for mut context in alone.iter().cloned() {
                context[i] = Some(spelling.clone());
                contexts.push(context);
            }
        }
    }
    // `.sat` limits to the type of d, so the sources have another.
    for context in &contexts {
        let mut with = context.clone();
        with[at] = Some(value.to_owned());
        let Some(with) = form(mnemonic, &with) else { continue };
        for other in &others {
            let mut without = context.clone();
            without[at] = other.clone();
            let Some(without) = form(mnemonic, &without) else { continue };
            if let Some(inputs) = separating(with, without) {
                return Some(Effect { with, without, inputs });
            }
        }
    }
    None
}

/// Values with something to see in each lane, and smaller ones.
const WORDS: [u32; 12] = [
    0x12f4_8056,
    0xff7f_8001,
    0x647f_80fe,
    0x0102_0304,
    0x7fff_fff0,
    0x8000_0010,
    0xffff_fff6,
    7,
    40,
    0x64,
    0x0001_2345,
    0,
];

/// Values on which two forms differ, if there are any among those tried: first those that show every stage of `with`.
fn separating(with: Form, without: Form) -> Option<[u32; 3]> {
    let differ = |[a, b, c]: [u32; 3]| with.eval(a, b, c) != without.eval(a, b, c);
    let telling = with.telling_inputs();
    let all = || {
        WORDS.into_iter().flat_map(|c| WORDS.into_iter().flat_map(move |a| WORDS.into_iter().map(move |b| [a, b, c])))
    };
    std::iter::once(telling).chain(all()).find(|inputs| differ(*inputs))
}
