//! Rules for forms on half-words and bytes.
//!
//! A rule computes the lanes of one register, or the few words that it needs, in positions; which lane stands in which
//! position, and where the others come from, is not its business. Where the form accumulates, it sums the lanes that live.

mod absdiff;
mod averages;
mod idioms;
mod packed;
mod swar;
mod unpacked;
mod words;

use alloc::vec::Vec;

use super::LowerOptions;
use super::candidate::{Builder, Candidate, NotApplicable, Output, Placement, Value, Written, in_place};
use crate::isa::form::{Finish, Form};
use crate::isa::types::{Operation, Selector};

/// A rule: writes the steps of one way to compute a form, or says that it does not apply.
type Rule = fn(&mut Builder) -> Written;

/// All of them, by name.
const RULES: [(&str, Rule); 46] = [
    ("weighted sum", weighted_sum),
    ("packed add", packed::add_sub),
    ("packed saturating add", packed::saturating_add_sub),
    ("packed add below the complement", packed::add_below_complement),
    ("packed minimum", packed::min_max),
    ("packed difference of maximum and minimum", packed::absdiff),
    ("packed difference and negative part", packed::mixed_absdiff),
    ("packed difference of mixed maximum and minimum", packed::mixed_max_min),
    ("twice the packed maximum", packed::twice_maximum),
    ("packed comparison", packed::compare),
    ("packed comparison by sign", packed::compare_by_sign),
    ("even and odd bytes", unpacked::add_even_odd),
    ("minimum of even and odd bytes", unpacked::min_max_even_odd),
    ("half-words", unpacked::in_halves),
    ("half-word average", unpacked::average),
    ("half-word average, accumulated", unpacked::accumulated_average),
    ("signed half-word average, accumulated", unpacked::accumulated_signed_average),
    ("words", words::in_words),
    ("differences of words equal above", words::differences_below_same),
    ("sizes of differences", words::sizes),
    ("sizes of differences turned", words::sizes_turned),
    ("minimum at the top of words", words::min_max_at_top),
    ("guarded difference", words::guarded_difference),
    ("half-words by dot products", words::saturating_halves),
    ("bytes by dot products", words::saturating_bytes),
    ("guarded counts", words::guarded_counts),
    ("words equal elsewhere", words::absdiff_halves),
    ("unsigned average", averages::unsigned),
    ("signed average", averages::signed),
    ("average clamped at zero", averages::above_zero),
    ("mixed average of complements", averages::mixed_of_complements),
    ("mixed average modulo a lane", averages::mixed_modular),
    ("half of accumulated sums, rounded", averages::accumulated_mixed),
    ("accumulated mixed average", averages::accumulated_mixed_above_zero),
    ("native difference", absdiff::native),
    ("native difference of mixed types", absdiff::native_mixed),
    ("half of a sum and difference", absdiff::min_max),
    ("half of accumulated sums", absdiff::accumulated_min_max),
    ("saturation by native difference", absdiff::saturating_add_sub),
    ("lanes without their highest bits", swar::add_sub),
    ("lanes made even or odd", swar::add_sub_parity),
    ("half-words and a carry", swar::add_sub_halves),
    ("separate lanes", swar::add_sub_separate),
    ("minimum by average", swar::min_max),
    ("saturation by average", swar::saturating_add_sub),
    ("comparison by average", swar::compare),
];

/// What the rules write for a form.
pub(super) fn candidates(form: Form, options: LowerOptions) -> Vec<Candidate> {
    let mut candidates = Vec::new();
    for placement in placements(form) {
        for (name, rule) in RULES {
            let mut builder = Builder::new(form, options.target, placement);
            if let Ok(output) = rule(&mut builder) {
                candidates.push(builder.finish(name, output));
            }
        }
    }
    candidates
}

/// Where lanes may be computed: in place; where their first inputs stand, or their second; and, if there is one to accumulate,
/// at the top, from where one instruction shifts and adds it.
fn placements(form: Form) -> Vec<Placement> {
    let shape = form.mnemonic().shape();
    let lanes = shape.lanes();
    let mut placements = Vec::from([in_place(form)]);
    let accumulates = matches!(form.finish(), Finish::Accumulate(_));
    let live: Vec<usize> = (0..lanes).filter(|&lane| placements[0][lane].is_some()).collect();
    if live.len() == lanes && !accumulates {
        return placements;
    }
    for selector in [form.asel(), form.bsel()] {
        let source = |lane: usize| match selector {
            Selector::Halves(sources) => usize::from(sources[lane]),
            Selector::Bytes(sources) => usize::from(sources[lane]),
            Selector::Word | Selector::Part(_) => lane,
        };
        let mut placement: Placement = [None; 4];
        let is_free = live.iter().all(|&lane| {
            let position = &mut placement[source(lane) % lanes];
            position.replace(lane as u8).is_none() && source(lane) / lanes == source(live[0]) / lanes
        });
        if is_free && !placements.contains(&placement) {
            placements.push(placement);
        }
    }
    if let ([lane], true) = (&live[..], accumulates) {
        let mut top: Placement = [None; 4];
        top[lanes - 1] = Some(*lane as u8);
        if !placements.contains(&top) {
            placements.push(top);
        }
    }
    placements
}

/// Accumulated sums and differences: the inputs themselves, weighted.
fn weighted_sum(b: &mut Builder) -> Written {
    let second = match b.operation() {
        Operation::Add => 1,
        Operation::Sub => -1,
        _ => return Err(NotApplicable),
    };
    if !b.accumulates() || !b.is_in_place() {
        return Err(NotApplicable);
    }
    let weights = [1, second].map(|weight| b.placement.map(|lane| if lane.is_some() { weight } else { 0 }));
    Ok(Output::Value(b.sum(Value::C, weights)))
}
