//! Which masks come from `activemask`, for the check of what lanes of a warp do together.
//!
//! The value of `activemask` is not determined: it has the lanes that happen to execute it together, and the manual lets any lane run
//! alone. Code that works with any such set is right, as CUDA's `coalesced_threads()` is: it counts and numbers the lanes of the mask.
//! Code that reads a lane by a number which does not depend on the mask takes for granted that this lane is in it. Code that uses the
//! value for nothing but masks does not know which lanes it has: it takes for granted that these are all.
//!
//! The search follows registers through what computes, regardless of the order of steps. What comes from memory, from calls and from
//! other lanes may depend on anything, and where branches depend on the mask, so may everything: there nothing is claimed.

use std::collections::{HashMap, HashSet};

use crate::code::{Collective, CollectiveKind, Formal, FromActive, FunctionCode, Linear, Op, Role, Step};
use crate::column::Slot;
use crate::memory::Space;

/// Marks the collectives of a function whose masks may come from `activemask`. Registers do not have columns yet.
pub(super) fn mark(steps: &mut [Step], code: &FunctionCode) {
    if !steps.iter().any(|step| matches!(&step.op, Op::Warp(collective) if is_active(collective))) {
        return;
    }
    // Registers that may hold what `activemask` gave, and those that may depend on what is not known.
    let (mut active, mut unknown) = (HashSet::new(), HashSet::new());
    for formal in &code.parameters {
        if let Formal::Register(slot, _) = formal {
            unknown.insert(*slot);
        }
    }
    // By register: the steps that read it, which are looked at again when more is known of it.
    let mut readers: HashMap<Slot, Vec<usize>> = HashMap::new();
    let slots_of = |step: &mut Step| {
        let mut sources: Vec<Slot> = step.guard.iter().map(|guard| guard.slot).collect();
        let mut results = Vec::new();
        step.op.slots(&mut |slot, role| match role {
            Role::Source => sources.push(*slot),
            Role::Result => results.push(*slot),
        });
        (sources, results)
    };
    for (i, step) in steps.iter_mut().enumerate() {
        for slot in slots_of(step).0 {
            readers.entry(slot).or_default().push(i);
        }
    }
    let mut due: Vec<usize> = (0..steps.len()).rev().collect();
    while let Some(i) = due.pop() {
        let step = &mut steps[i];
        let (sources, results) = slots_of(step);
        let from = |set: &HashSet<Slot>| sources.iter().any(|slot| set.contains(slot));
        let (is_from_active, is_unknown) = match &step.op {
            Op::Compute { .. } | Op::Video(_) => (from(&active), from(&unknown)),
            Op::Warp(collective) if is_active(collective) => (true, from(&unknown)),
            // Parameters of the kernel.
            Op::Load(load) if matches!(load.access.space, Space::Param | Space::Const) => (false, from(&unknown)),
            Op::Clock { .. } | Op::StackAddress { .. } => (false, false),
            _ => (false, true),
        };
        for slot in results.into_iter().filter(|slot| slot.register_width().is_some()) {
            let is_new = [is_from_active && active.insert(slot), is_unknown && unknown.insert(slot)].contains(&true);
            if is_new {
                due.extend(readers.get(&slot).into_iter().flatten());
            }
        }
    }
    let branches = |step: &Step| {
        matches!(step.op, Op::Branch(_) | Op::BranchIndexed { .. } | Op::Return | Op::Exit | Op::Call(_))
            && step.guard.is_some_and(|guard| active.contains(&guard.slot))
    };
    let decides = steps.iter().any(branches);
    // A copy of the value is the value.
    let looks_at = |step: &Step| match &step.op {
        Op::Compute { operands, linear, .. } => {
            let [first, rest @ ..] = operands.sources;
            let copies = *linear == Linear::Sum && rest.iter().all(|slot| *slot == rest[2]);
            active.contains(&first) && !copies || rest.iter().any(|slot| active.contains(slot))
        }
        Op::Store(store) => store.sources.iter().any(|slot| active.contains(slot)),
        Op::Atomic(atomic) => atomic.sources.as_flattened().iter().any(|slot| active.contains(slot)),
        Op::Call(_) | Op::System(_) | Op::Video(_) => true,
        _ => false,
    };
    let only = !decides && !steps.iter().any(looks_at);
    for step in steps {
        if let Op::Warp(collective) = &mut step.op
            && collective.members.is_some_and(|members| active.contains(&members))
        {
            let [_, lane, clamp] = collective.sources;
            let depends = [lane, clamp].iter().any(|slot| active.contains(slot) || unknown.contains(slot));
            collective.from_active = FromActive { mask: true, only, lane_is_free: !depends && !decides };
        }
    }
}

fn is_active(collective: &Collective) -> bool {
    matches!(collective.kind, CollectiveKind::Active)
}
