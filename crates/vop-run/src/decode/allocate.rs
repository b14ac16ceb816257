//! Registers to columns, and blocks of code to ranks.
//!
//! Compilers name a register once for each value, thousands in a long kernel; as columns they would not fit any cache. Registers
//! whose values are never needed at the same time share a column: liveness over the blocks of code, then a linear scan (Poletto and
//! Sarkar, "Linear Scan Register Allocation", 1999). Liveness is that of one thread, and a thread's elements are its own, so threads
//! that have parted do not disturb each other.
//!
//! A block's rank is its index in a weak topological order (Bourdoncle, "Efficient chaotic iteration strategies with widenings",
//! 1993): before all that can follow it, and each loop in one piece. The engine runs threads at the lowest rank first.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use crate::code::{Entry, Formal, FunctionCode, Numbers, Op, Pc, Role, Step};
use crate::column::Slot;

/// A stretch of steps that is only entered at its start.
#[derive(Debug, Default)]
struct Block {
    first: usize,
    /// Behind the last step.
    end: usize,
    successors: Vec<usize>,
}

/// The average number of times that a block is looked at for its rank: loops are seldom nested as deep.
const MAX_DEPTH: usize = 256;

/// Gives every register of a function a column. Returns the rank of each step, and for a kernel's entry the steps as they were before.
/// `steps` starts at `start` of the kernel; `counts` says how many registers there are of each width.
pub(super) fn allocate(
    steps: &mut [Step],
    start: Pc,
    code: &mut FunctionCode,
    counts: [u32; 3],
) -> (Vec<u32>, Option<Entry>) {
    let blocks = blocks(steps, start);
    let order = weak_topological_order(&blocks);
    let mut ranks = vec![0; steps.len()];
    for (rank, block) in order.iter().enumerate() {
        ranks[blocks[*block].first..blocks[*block].end].fill(rank as u32);
    }
    let before = (start == 0).then(|| steps.to_vec());
    let (numbers, offsets, entered) = assign_columns(steps, &blocks, &order, code, counts);
    (ranks, before.map(|steps| Entry { steps, numbers, offsets, entered }))
}

fn blocks(steps: &[Step], start: Pc) -> Vec<Block> {
    let local = |pc: Pc| (pc - start) as usize;
    // Every target of a branch is a join.
    let mut block_of = vec![0; steps.len()];
    let mut blocks: Vec<Block> = Vec::new();
    for (i, step) in steps.iter().enumerate() {
        let starts = i == 0 || matches!(step.op, Op::Join) || {
            let before = &steps[i - 1];
            !before.op.falls_through()
        };
        if starts {
            blocks.push(Block { first: i, ..Block::default() });
        }
        block_of[i] = blocks.len() - 1;
    }
    let firsts: Vec<usize> = blocks.iter().map(|block| block.first).skip(1).chain([steps.len()]).collect();
    for (block, end) in blocks.iter_mut().zip(firsts) {
        block.end = end;
        let last = &steps[end - 1];
        match &last.op {
            Op::Branch(target) => block.successors.push(block_of[local(*target)]),
            Op::BranchIndexed { targets, .. } => {
                block.successors.extend(targets.iter().map(|target| block_of[local(*target)]));
            }
            _ => {}
        }
        if (last.op.falls_through() || last.guard.is_some()) && end < steps.len() {
            block.successors.push(block_of[end]);
        }
    }
    blocks
}

/// The blocks in the order of their ranks.
fn weak_topological_order(blocks: &[Block]) -> Vec<usize> {
    let mut order = Vec::with_capacity(blocks.len());
    // Sets of blocks that are still to be ordered, the next one last.
    let mut work: Vec<Vec<usize>> = vec![(0..blocks.len()).collect()];
    let mut state = Components::new(blocks.len());
    let mut whole = true;
    // Nested loops are taken apart as deep as this allows: deeper ones keep the order of their blocks.
    let mut budget = MAX_DEPTH.saturating_mul(blocks.len());
    while let Some(mut set) = work.pop() {
        if let [one] = set[..] {
            order.push(one);
            continue;
        }
        if budget < set.len() {
            set.sort_unstable();
            order.append(&mut set);
            continue;
        }
        budget -= set.len();
        // The head of a loop comes first; without it the rest falls apart into smaller components.
        let rest = if std::mem::take(&mut whole) {
            set
        } else {
            let head = set.iter().copied().min().unwrap_or(0);
            order.push(head);
            set.into_iter().filter(|block| *block != head).collect()
        };
        // Tarjan's algorithm gives components in reverse order: what is pushed last is ordered first.
        work.extend(state.components(blocks, &rest));
    }
    order
}

/// Strongly connected components of parts of a graph, without recursion.
struct Components {
    /// The number of the part that a block belongs to.
    part: Vec<u32>,
    parts: u32,
    index: Vec<u32>,
    low: Vec<u32>,
    on_stack: Vec<bool>,
}

impl Components {
    fn new(len: usize) -> Components {
        Components { part: vec![0; len], parts: 0, index: vec![0; len], low: vec![0; len], on_stack: vec![false; len] }
    }

    /// In reverse topological order.
    fn components(&mut self, blocks: &[Block], part: &[usize]) -> Vec<Vec<usize>> {
        self.parts += 1;
        for block in part {
            (self.part[*block], self.index[*block]) = (self.parts, 0);
        }
        let mut found = Vec::new();
        let mut next = 1;
        let mut stack = Vec::new();
        for root in part {
            if self.index[*root] != 0 {
                continue;
            }
            // A block and how many of its successors have been looked at.
            let mut path = vec![(*root, 0)];
            while let Some((block, seen)) = path.last_mut() {
                let block = *block;
                if *seen == 0 {
                    (self.index[block], self.low[block]) = (next, next);
                    next += 1;
                    stack.push(block);
                    self.on_stack[block] = true;
                }
                if let Some(successor) = blocks[block].successors.get(*seen) {
                    *seen += 1;
                    if self.part[*successor] != self.parts {
                        continue;
                    }
                    if self.index[*successor] == 0 {
                        path.push((*successor, 0));
                    } else if self.on_stack[*successor] {
                        self.low[block] = self.low[block].min(self.index[*successor]);
                    }
                    continue;
                }
                path.pop();
                if let Some((parent, _)) = path.last() {
                    self.low[*parent] = self.low[*parent].min(self.low[block]);
                }
                if self.low[block] == self.index[block] {
                    let at = stack.iter().rposition(|other| *other == block).unwrap_or(0);
                    let component: Vec<usize> = stack.split_off(at);
                    for block in &component {
                        self.on_stack[*block] = false;
                    }
                    found.push(component);
                }
            }
        }
        found
    }
}

/// Gives each register a column. Returns the numbers of the registers, where their columns start, and which registers may be read before
/// they are written.
fn assign_columns(
    steps: &mut [Step],
    blocks: &[Block],
    order: &[usize],
    code: &mut FunctionCode,
    counts: [u32; 3],
) -> (Numbers, Vec<u32>, Vec<usize>) {
    let [p, w, d] = counts.map(|count| count as usize);
    let numbers = Numbers::new([p, w, d]);
    let total = numbers.total();
    let registers = |formals: &[Formal]| -> Vec<usize> {
        let slots = formals.iter().filter_map(|formal| match formal {
            Formal::Register(slot, _) => numbers.of(*slot),
            Formal::Stack { .. } => None,
        });
        slots.collect()
    };
    let (parameters, results) = (registers(&code.parameters), registers(&code.results));

    // Uses and definitions of each step, in that order. A register that a guard may leave as it was is used, not defined.
    let mut touches: Vec<(u32, bool)> = Vec::new();
    let mut ends = Vec::with_capacity(steps.len());
    for step in steps.iter_mut() {
        let guarded = step.guard.is_some();
        if let Some(guard) = step.guard {
            touches.extend(numbers.of(guard.slot).map(|number| (number as u32, false)));
        }
        step.op.slots(&mut |slot, role| {
            if let Some(number) = numbers.of(*slot) {
                if role == Role::Source || guarded {
                    touches.push((number as u32, false));
                }
                if role == Role::Result {
                    touches.push((number as u32, true));
                }
            }
        });
        if matches!(step.op, Op::Return) {
            touches.extend(results.iter().map(|number| (*number as u32, false)));
        }
        ends.push(touches.len());
    }
    let touches_of = |step: usize| &touches[if step == 0 { 0 } else { ends[step - 1] }..ends[step]];

    // Registers that a block needs from before: only these live across blocks.
    let mut global = vec![u32::MAX; total];
    let mut globals = Vec::new();
    let mut defined_in = vec![usize::MAX; total];
    let guards: Vec<bool> = steps.iter().map(|step| step.guard.is_some()).collect();
    let guarded = |step: usize| guards[step];
    for (b, block) in blocks.iter().enumerate() {
        for step in block.first..block.end {
            for &(number, defines) in touches_of(step) {
                let number = number as usize;
                if defines {
                    if !guarded(step) {
                        defined_in[number] = b;
                    }
                } else if defined_in[number] != b && global[number] == u32::MAX {
                    global[number] = globals.len() as u32;
                    globals.push(number);
                }
            }
        }
    }
    let words = globals.len().div_ceil(64);
    let mut needs = vec![0u64; words * blocks.len()];
    let mut kills = vec![0u64; words * blocks.len()];
    for (b, block) in blocks.iter().enumerate() {
        let (needs, kills) = (&mut needs[b * words..][..words], &mut kills[b * words..][..words]);
        for step in block.first..block.end {
            for &(number, defines) in touches_of(step) {
                let bit = global[number as usize];
                if bit == u32::MAX {
                    continue;
                }
                let (word, bit) = (bit as usize / 64, 1 << (bit % 64));
                if !defines {
                    needs[word] |= bit & !kills[word];
                } else if !guarded(step) {
                    kills[word] |= bit;
                }
            }
        }
    }
    // What lives at the start of each block, to a fixed point.
    let mut live_in = needs;
    let mut live_out = vec![0u64; words * blocks.len()];
    let mut changed = true;
    while changed {
        changed = false;
        for &b in order.iter().rev() {
            for word in 0..words {
                let out = blocks[b].successors.iter().fold(0, |out, s| out | live_in[s * words + word]);
                live_out[b * words + word] = out;
                let new = live_in[b * words + word] | (out & !kills[b * words + word]);
                if new != live_in[b * words + word] {
                    live_in[b * words + word] = new;
                    changed = true;
                }
            }
        }
    }

    // Intervals over positions: a step's uses at an even one, its definitions at the odd one behind.
    let mut intervals = vec![(u32::MAX, 0u32); total];
    let mut extend = |number: usize, at: u32| {
        let (start, end) = &mut intervals[number];
        *start = (*start).min(at);
        *end = (*end).max(at);
    };
    for block in blocks {
        for step in block.first..block.end {
            for &(number, defines) in touches_of(step) {
                extend(number as usize, 2 * step as u32 + u32::from(defines));
            }
        }
    }
    // A register that lives across a block's edge lives there: its first and its last edge are enough.
    let edges = |b: usize| [(&live_in, 2 * blocks[b].first, b), (&live_out, 2 * blocks[b].end - 1, b)];
    let mut first_seen = |edges: &mut dyn Iterator<Item = (&Vec<u64>, usize, usize)>| {
        let mut seen = vec![0u64; words];
        for (live, at, b) in edges {
            for (word, (seen, live)) in seen.iter_mut().zip(&live[b * words..]).enumerate() {
                let mut new = live & !*seen;
                *seen |= live;
                while new != 0 {
                    extend(globals[word * 64 + new.trailing_zeros() as usize], at as u32);
                    new &= new - 1;
                }
            }
        }
    };
    first_seen(&mut (0..blocks.len()).flat_map(edges));
    first_seen(&mut (0..blocks.len()).rev().flat_map(|b| edges(b).into_iter().rev()));
    for number in &parameters {
        extend(*number, 0);
    }

    let mut offsets = vec![0u32; total];
    for (area, range) in [0..p, p..p + w, p + w..total].into_iter().enumerate() {
        let size = [1, 4, 8][area];
        let mut by_start: Vec<usize> = range.filter(|number| intervals[*number].0 != u32::MAX).collect();
        by_start.sort_by_key(|number| intervals[*number].0);
        let mut active: BinaryHeap<Reverse<(u32, u32)>> = BinaryHeap::new();
        let mut free: Vec<u32> = Vec::new();
        let mut columns = 0;
        for number in by_start {
            let (start, end) = intervals[number];
            while let Some(Reverse((ended, column))) = active.peek().copied() {
                if ended >= start {
                    break;
                }
                active.pop();
                free.push(column);
            }
            // The column that was used last is most likely in the cache.
            let column = free.pop().unwrap_or_else(|| {
                columns += 1;
                columns - 1
            });
            active.push(Reverse((end, column)));
            offsets[number] = column * size;
        }
        code.registers[area] = columns * size;
    }
    let entry = &live_in[..words];
    let entered = |number: usize| {
        let bit = global[number] as usize;
        global[number] != u32::MAX && entry[bit / 64] >> (bit % 64) & 1 == 1
    };
    let entered: Vec<usize> =
        globals.iter().copied().filter(|number| entered(*number) && !parameters.contains(number)).collect();
    code.cleared = entered.iter().map(|number| numbers.slot(*number, offsets[*number])).collect();

    let assign = |slot: &mut Slot| {
        if let Some(number) = numbers.of(*slot) {
            *slot = numbers.slot(number, offsets[number]).0;
        }
    };
    for step in steps {
        if let Some(guard) = &mut step.guard {
            assign(&mut guard.slot);
        }
        step.op.slots(&mut |slot, _| assign(slot));
    }
    for formal in code.parameters.iter_mut().chain(&mut code.results) {
        if let Formal::Register(slot, _) = formal {
            assign(slot);
        }
    }
    (numbers, offsets, entered)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn graph(successors: &[&[usize]]) -> Vec<Block> {
        successors.iter().map(|s| Block { successors: s.to_vec(), ..Block::default() }).collect()
    }

    #[test]
    fn loops_come_in_one_piece_and_before_what_follows() {
        // 0 → 1 ⇄ 2, 1 → 3: a loop of 1 and 2, however the blocks are laid out.
        assert_eq!(weak_topological_order(&graph(&[&[1], &[3, 2], &[1], &[]])), [0, 1, 2, 3]);
        // A cold block at the end that goes back to the join: 0 → 1 or 2, 2 → 1.
        assert_eq!(weak_topological_order(&graph(&[&[1, 2], &[], &[1]])), [0, 2, 1]);
        // A loop in a loop: 1 → 2 → 3 → 2, 3 → 4 → 1, 4 → 5.
        assert_eq!(weak_topological_order(&graph(&[&[1], &[2], &[3], &[2, 4], &[1, 5], &[]])), [0, 1, 2, 3, 4, 5]);
        // A block that goes to itself.
        assert_eq!(weak_topological_order(&graph(&[&[0, 1], &[]])), [0, 1]);
    }
}
