//! Phases: how a run stores to shared memory that it has loaded from.
//!
//! Threads may write where others read. So that all loads come before all stores, as in the steps one by one, the function goes over the
//! threads several times: first with all that loads and computes, which leaves in their columns what the stores need, then with each store.
//! Where the addresses are known, and no turn writes what another one reads, once suffices: see [`fixed`](super::fixed).

use std::ops::Range;

use super::{emit, places};
use crate::code::{Kernel, Op, Step};
use crate::column::Slot;
use crate::memory::Space;

/// The places of the steps of each phase of a run.
pub(crate) fn phases(steps: &[Step], run: Range<usize>) -> Vec<Vec<usize>> {
    let places = places(steps, run);
    let is_shared = |at: usize| match &steps[at].op {
        Op::Load(load) => load.access.space == Space::Shared,
        Op::Store(store) => store.access.space == Space::Shared,
        _ => false,
    };
    let is_store = |at: usize| matches!(steps[at].op, Op::Store(_)) && is_shared(at);
    let loads = |at: &usize| matches!(steps[*at].op, Op::Load(_)) && is_shared(*at);
    let (stores, others): (Vec<usize>, Vec<usize>) = places.iter().partition(|at| is_store(**at));
    if stores.is_empty() || !others.iter().any(loads) {
        return vec![places];
    }
    [others].into_iter().chain(stores.into_iter().map(|at| vec![at])).collect()
}

/// The end of a run with phases whose first store is the last step of a range: behind the last store such that all that computes between
/// the stores can go before them.
pub(super) fn end(kernel: &Kernel, steps: &[Step], run: Range<usize>) -> usize {
    let (mut end, mut at) = (run.end, run.end - 1);
    // What the stores read, which must stay in its columns.
    let mut read: Vec<Slot> = Vec::new();
    while at < steps.len() && at - run.start < super::MAX_RUN && steps[at].guard.is_none() {
        match &steps[at].op {
            Op::Skip { steps, .. } => {
                at += *steps as usize;
                continue;
            }
            Op::Compute { known, operands, .. }
                if emit::can_write(kernel, *known, operands) && !read.contains(&operands.results[0]) => {}
            Op::Store(store)
                if store.access.space == Space::Shared
                    && super::load::can_access(kernel, &store.access, store.memory, store.sources.len()) =>
            {
                read.extend(store.sources.iter());
                read.push(store.access.base);
                end = at + 1;
            }
            _ => break,
        }
        at += 1;
    }
    end
}

/// What the later phases of a run read.
pub(super) fn read_later(steps: &[Step], phases: &[Vec<usize>]) -> Vec<Slot> {
    let stores = phases.iter().skip(1).flatten().filter_map(|at| match &steps[*at].op {
        Op::Store(store) => Some(store),
        _ => None,
    });
    stores.flat_map(|store| store.sources.iter().copied().chain([store.access.base])).collect()
}
