//! Search for the shortest sequence of machine instructions that computes a form.
//!
//! A state is the list of values computed so far. A value is represented by its words on a few inputs, and two instructions that
//! give equal words are taken as one. The search enumerates all instructions except the last two, and finds those from the wanted
//! result backwards. Whether some `lop3` of the state's values gives that result is read off the bits: a function exists if no two
//! bits with equal operands want different results. In the same way it decides whether a `lop3` gives the operand that another last
//! instruction needs. A sequence that is found is right on the inputs of the search. It must be checked on others, and proved.
//!
//! The search proves absence, too. If it finds nothing up to some length, and rejected nothing that was right on its own inputs, then
//! no sequence of that length computes the form: such a sequence would be right on these inputs whichever of two equal values it
//! took. This holds for the given instructions and constants, with at most one constant in an instruction. Two cases are not tried:
//! a last instruction that cannot be undone bit by bit (`vabsdiff4`, packed saturation) whose operand is a `lop3` just before it, and a
//! sum that reads the instruction before it twice.

mod instruction;

use std::collections::HashSet;
use std::sync::Mutex;
use std::sync::atomic::{AtomicU64, Ordering};

use vop::isa::range::Range;
use vop::lower::{Op, Sequence, Value};
use vop::{Form, Target};
use vop_tests::Random;

pub use instruction::{GROUPS, Instruction};
use instruction::{Wanted, instructions};

/// Inputs of the search: words that a value is known by.
const WORDS: usize = 24;

/// What a value is on the inputs.
type Column = [u32; WORDS];

/// What is looked for, and with what.
#[derive(Debug, Clone)]
pub struct Search {
    /// The form.
    pub form: Form,
    /// The GPU: which packed instructions there are.
    pub target: Target,
    /// Names of [`GROUPS`].
    pub groups: Vec<String>,
    /// Constants beside 0 and all ones, which are there always.
    pub constants: Vec<u32>,
    /// Bits of d that must be right.
    pub care: u32,
}

/// What was found at one length.
#[derive(Debug)]
pub struct Found {
    /// Sequences that are right on the inputs of the search and on many more.
    pub sequences: Vec<Sequence>,
    /// How many states were looked at.
    pub states: u64,
    /// How many sequences were right on the inputs of the search and wrong on others. Only where there are none does finding
    /// nothing prove that there is nothing.
    pub rejected: u64,
}

/// An instruction with its operands: numbers in the pool.
#[derive(Debug, Clone, Copy)]
struct Step {
    instruction: Instruction,
    operands: [usize; 3],
}

/// A value that a state may have next.
#[derive(Debug, Clone, Copy)]
struct Next {
    step: Step,
    column: Column,
}

/// What never changes during a search.
struct Plan<'a> {
    search: &'a Search,
    instructions: Vec<Instruction>,
    /// Those that cannot be undone bit by bit.
    final_only: Vec<Instruction>,
    /// Whether `lop3` is enumerated.
    logic: bool,
    /// How many of the pool are constants; a, b and perhaps c come after them.
    constants: usize,
    inputs: usize,
    first: Vec<Column>,
    d: Column,
    /// For each bit of a word its class: bits that all constants have alike.
    classes: [u8; 32],
    /// A constant of each partition that `lop3` can tell.
    masks: Vec<usize>,
    states: AtomicU64,
    rejected: AtomicU64,
    found: Mutex<Vec<Sequence>>,
}

impl Search {
    /// All sequences of `length` machine instructions, except those that begin like a shorter one. Stops when some are found.
    pub fn run(&self, length: usize) -> Found {
        let plan = Plan::new(self);
        let free = length.saturating_sub(2);
        let state = State { pool: plan.first.clone(), steps: Vec::new() };
        if length == 0 {
            plan.at_hand(&state);
        } else if free == 0 {
            plan.close(&state, length);
        } else {
            let list = plan.next(&state, &[]);
            let place = AtomicU64::new(0);
            std::thread::scope(|scope| {
                for _ in 0..2 {
                    scope.spawn(|| {
                        let mut state = state.clone();
                        loop {
                            let i = place.fetch_add(1, Ordering::Relaxed) as usize;
                            let Some(next) = list.get(i).filter(|_| !plan.is_done()) else { break };
                            state.push(next);
                            plan.descend(&mut state, free - 1, &list[i + 1..], length);
                            state.pop();
                        }
                    });
                }
            });
        }
        let sequences = plan.found.into_inner().unwrap_or_default();
        Found { sequences, states: plan.states.into_inner(), rejected: plan.rejected.into_inner() }
    }
}

#[derive(Clone)]
struct State {
    pool: Vec<Column>,
    steps: Vec<Step>,
}

impl State {
    fn push(&mut self, next: &Next) {
        self.pool.push(next.column);
        self.steps.push(next.step);
    }

    fn pop(&mut self) {
        self.pool.pop();
        self.steps.pop();
    }
}

impl<'a> Plan<'a> {
    fn new(search: &'a Search) -> Plan<'a> {
        let form = search.form;
        let bits = form.mnemonic().shape().bits();
        let target = search.target;
        let ranges = |bits| [Range::new(false, bits), Range::new(true, bits)];
        let mut packed = Vec::new();
        if target.number() >= 90 {
            packed.extend(ranges(16));
        }
        if target.number() >= 120 && target.has_family() {
            packed.extend(ranges(8));
        }
        let mut random = Random(0x5eed);
        let mut inputs = [[0; WORDS]; 3];
        for word in 0..WORDS {
            // Half of them edges, half any.
            let any = word % 2 == 1;
            inputs.iter_mut().for_each(|input| input[word] = if any { random.next() as u32 } else { random.value() });
        }
        let d = core::array::from_fn(|word| form.eval(inputs[0][word], inputs[1][word], inputs[2][word]));
        let mut constants = vec![0, u32::MAX];
        constants.extend(search.constants.iter().copied().filter(|constant| ![0, u32::MAX].contains(constant)));
        let reads_c = matches!(form.finish(), vop::isa::form::Finish::Accumulate(_));
        let mut first: Vec<Column> = constants.iter().map(|&constant| [constant; WORDS]).collect();
        first.extend(&inputs[..if reads_c { 3 } else { 2 }]);
        // Bits that no constant tells apart have one class.
        let pattern = |bit: usize| constants.iter().map(|constant| constant >> bit & 1).collect::<Vec<_>>();
        let mut patterns: Vec<Vec<u32>> = (0..32).map(pattern).collect();
        patterns.sort();
        patterns.dedup();
        let classes = core::array::from_fn(|bit| {
            patterns.iter().position(|known| *known == pattern(bit)).unwrap_or_default() as u8
        });
        let mut partitions = HashSet::new();
        let masks = (0..constants.len())
            .filter(|&i| partitions.insert(constants[i].min(!constants[i])) && constants[i] != u32::MAX)
            .collect();
        let instructions = instructions(&search.groups, bits, &packed);
        Plan {
            search,
            final_only: instructions.iter().copied().filter(|it| it.invert(0, [0; 3], 0).is_none()).collect(),
            instructions,
            logic: search.groups.iter().any(|group| group == "logic"),
            constants: constants.len(),
            inputs: if reads_c { 3 } else { 2 },
            first,
            d,
            classes,
            masks,
            states: AtomicU64::new(0),
            rejected: AtomicU64::new(0),
            found: Mutex::new(Vec::new()),
        }
    }

    fn is_done(&self) -> bool {
        self.found.lock().map_or(true, |found| found.len() >= 8)
    }

    fn descend(&self, state: &mut State, free: usize, inherited: &[Next], length: usize) {
        if free == 0 {
            self.close(state, length);
            return;
        }
        let list = self.next(state, inherited);
        for i in 0..list.len() {
            if self.is_done() {
                return;
            }
            state.push(&list[i]);
            self.descend(state, free - 1, &list[i + 1..], length);
            state.pop();
        }
    }

    /// What may come next: what could have come before but did not, and what reads the last value.
    fn next(&self, state: &State, inherited: &[Next]) -> Vec<Next> {
        let mut known: HashSet<Column> = state.pool.iter().copied().collect();
        let mut list = Vec::with_capacity(inherited.len());
        for next in inherited {
            if known.insert(next.column) {
                list.push(*next);
            }
        }
        let newest = if state.steps.is_empty() { None } else { Some(state.pool.len() - 1) };
        self.each(state, newest, |step| {
            let column = self.column(state, step);
            if known.insert(column) {
                list.push(Next { step, column });
            }
        });
        if self.logic {
            self.each_logic(state, newest, |operands, tables| {
                for (table, column) in tables.iter().enumerate() {
                    if known.insert(*column) {
                        let step = Step { instruction: Instruction::Base(Op::Lop3(table as u8)), operands };
                        list.push(Next { step, column: *column });
                    }
                }
            });
        }
        list
    }

    fn column(&self, state: &State, step: Step) -> Column {
        let [x, y, z] = step.operands.map(|i| &state.pool[i]);
        core::array::from_fn(|word| step.instruction.compute([x[word], y[word], z[word]]))
    }

    /// All instructions but `lop3` on values of the pool; those that read `newest` alone, if there is one.
    fn each(&self, state: &State, newest: Option<usize>, mut found: impl FnMut(Step)) {
        let count = state.pool.len();
        let is_constant = |i: usize| i < self.constants;
        let is_word = |i: usize| i > 0 && is_constant(i);
        for &instruction in &self.instructions {
            let arity = instruction.arity();
            for x in 0..count {
                if arity == 1 {
                    if !is_constant(x) && newest.is_none_or(|newest| newest == x) {
                        found(Step { instruction, operands: [x, 0, 0] });
                    }
                    continue;
                }
                for y in 0..count {
                    if instruction.commutes() && y < x || is_constant(x) && is_constant(y) {
                        continue;
                    }
                    if arity == 2 {
                        if newest.is_none_or(|newest| newest == x || newest == y) {
                            found(Step { instruction, operands: [x, y, 0] });
                        }
                        continue;
                    }
                    for z in 1..count {
                        let constants = [x, y, z].into_iter().filter(|&i| is_word(i)).count();
                        let fresh = newest.is_none_or(|newest| [x, y, z].contains(&newest));
                        if constants <= 1 && fresh && x > 0 && y > 0 {
                            found(Step { instruction, operands: [x, y, z] });
                        }
                    }
                }
            }
        }
    }

    /// All functions of three values, or of two and a constant; each with the 256 columns of its tables.
    fn each_logic(&self, state: &State, newest: Option<usize>, mut found: impl FnMut([usize; 3], &[Column; 256])) {
        let mut tables = Box::new([[0; WORDS]; 256]);
        let values: Vec<usize> = (self.constants..state.pool.len()).collect();
        for (i, &x) in values.iter().enumerate() {
            for &y in &values[i..] {
                let others = values.iter().copied().filter(|&z| z > y).chain(self.masks.iter().copied());
                for z in others {
                    // One value twice is what a function of it and a constant is.
                    if x == y && z >= self.constants {
                        continue;
                    }
                    if newest.is_some_and(|newest| ![x, y, z].contains(&newest)) {
                        continue;
                    }
                    for word in 0..WORDS {
                        let [x, y, z] = [x, y, z].map(|i| state.pool[i][word]);
                        let minterms = minterms([x, y, z]);
                        for table in 1..256_usize {
                            let rest = tables[table & (table - 1)][word];
                            tables[table][word] = rest | minterms[table.trailing_zeros() as usize];
                        }
                    }
                    found([x, y, z], &tables);
                }
            }
        }
    }

    /// Whether a value of the state is the result, for forms that return one of their operands.
    fn at_hand(&self, state: &State) {
        let all = [self.search.care; WORDS];
        for (i, column) in state.pool.iter().enumerate() {
            if agrees(column, &self.d, &all) {
                self.report(state, &[], i);
            }
        }
    }

    /// The last two instructions, or the last one where `length` is 1.
    fn close(&self, state: &State, length: usize) {
        self.states.fetch_add(1, Ordering::Relaxed);
        let care = [self.search.care; WORDS];
        if length == 1 {
            self.solve_last(state, &self.d, &care, &[]);
            return;
        }
        // What the last but one must be for the last to give d, the last being something else than lop3.
        let targets = self.targets(state);
        if self.logic {
            for (target, care, last) in &targets {
                if self.may_be_logic(&state.pool, target, care) {
                    self.solve_logic(state, target, care, &[*last]);
                }
            }
            // lop3 twice.
            if self.may_be_logic(&state.pool, &self.d, &care) {
                let mut state = state.clone();
                for next in self.next(&state, &[]) {
                    if let Instruction::Base(Op::Lop3(_)) = next.step.instruction {
                        state.push(&next);
                        self.solve_logic(&state, &self.d, &care, &[]);
                        state.pop();
                    }
                }
            }
        }
        // The last but one is something else than lop3, the last is whatever it is.
        let mut exact: Vec<(u32, usize)> = targets
            .iter()
            .enumerate()
            .filter(|(_, (_, care, _))| care[0] == u32::MAX)
            .map(|(i, (target, ..))| (target[0], i))
            .collect();
        exact.sort_unstable();
        let partial: Vec<usize> = (0..targets.len()).filter(|&i| targets[i].1[0] != u32::MAX).collect();
        self.each(state, None, |step| {
            let [x, y, z] = step.operands.map(|i| &state.pool[i]);
            let at = |word: usize| step.instruction.compute([x[word], y[word], z[word]]);
            let first = at(0);
            let start = exact.partition_point(|(word, _)| *word < first);
            let hits = exact[start..].iter().take_while(|(word, _)| *word == first).map(|(_, i)| *i);
            let hits =
                hits.chain(partial.iter().copied().filter(|&i| (targets[i].0[0] ^ first) & targets[i].1[0] == 0));
            for i in hits {
                let (target, care, last) = &targets[i];
                if (1..WORDS).all(|word| (target[word] ^ at(word)) & care[word] == 0) {
                    let number = state.pool.len();
                    self.report(state, &[step, filled(*last, number)], number + 1);
                }
            }
            for &last in &self.final_only {
                for other in 0..=state.pool.len() {
                    for operands in [[state.pool.len(), other, 0], [other, state.pool.len(), 0]] {
                        let words = operands.map(|i| state.pool.get(i).map_or(first, |column| column[0]));
                        if last.compute(words) == self.d[0] {
                            let last = Step { instruction: last, operands };
                            self.report(state, &[step, last], state.pool.len() + 1);
                        }
                    }
                }
            }
            if self.logic && self.may_be_logic_with(&state.pool, at, &self.d, &care) {
                let mut state = state.clone();
                state.push(&Next { step, column: core::array::from_fn(at) });
                self.solve_logic(&state, &self.d, &care, &[]);
            }
        });
    }

    /// Finds the last instruction, whose operands are values of the state.
    fn solve_last(&self, state: &State, target: &Column, care: &Column, then: &[Step]) {
        if self.logic && self.may_be_logic(&state.pool, target, care) {
            self.solve_logic(state, target, care, then);
        }
        self.each(state, None, |step| {
            if agrees(&self.column(state, step), target, care) {
                self.report(state, &[step], state.pool.len());
            }
        });
    }

    /// For each last instruction but `lop3`, one of whose operands is not there yet: what that must be. The operand's number
    /// in the step is `usize::MAX`.
    fn targets(&self, state: &State) -> Vec<(Column, Column, Step)> {
        const HOLE: usize = usize::MAX;
        let mut targets = Vec::new();
        let count = state.pool.len();
        let is_word = |i: usize| i > 0 && i < self.constants;
        for &instruction in &self.instructions {
            let arity = instruction.arity();
            for hole in 0..arity {
                if (0..hole).any(|before| instruction.are_alike(before, hole)) {
                    continue;
                }
                let others: Vec<usize> = (0..arity).filter(|&i| i != hole).collect();
                let alike = others.len() == 2 && instruction.are_alike(others[0], others[1]);
                for x in 0..if arity > 1 { count } else { 1 } {
                    for z in if arity > 2 { if alike { x..count } else { 0..count } } else { 0..1 } {
                        if arity > 2 && (is_word(x) && is_word(z) || x == 0 || z == 0) {
                            continue;
                        }
                        let mut operands = [0; 3];
                        operands[hole] = HOLE;
                        others.iter().zip([x, z]).for_each(|(&i, other)| operands[i] = other);
                        let step = Step { instruction, operands };
                        if let Some((target, care)) = self.wanted(state, step, hole) {
                            targets.push((target, care, step));
                        }
                    }
                }
            }
        }
        targets
    }

    fn wanted(&self, state: &State, step: Step, hole: usize) -> Option<(Column, Column)> {
        let (mut target, mut care) = ([0; WORDS], [0; WORDS]);
        if self.search.care != u32::MAX {
            return None;
        }
        for word in 0..WORDS {
            let words = step.operands.map(|i| state.pool.get(i).map_or(0, |column| column[word]));
            let wanted = step.instruction.invert(hole, words, self.d[word])?.ok()?;
            let Wanted { word: value, care: bits } = wanted;
            (target[word], care[word]) = (value & bits, bits);
        }
        Some((target, care))
    }

    /// Whether each bit of a target may be a function of the pool's bits at its place.
    fn may_be_logic(&self, pool: &[Column], target: &Column, care: &Column) -> bool {
        self.may_be_logic_with(pool, |_| 0, target, care)
    }

    /// As `may_be_logic`, with a value beside those of the pool.
    fn may_be_logic_with(&self, pool: &[Column], more: impl Fn(usize) -> u32, target: &Column, care: &Column) -> bool {
        let values = &pool[self.constants..];
        // Bits of one class with the same values, that want 0 and that want 1.
        let mut seen = [[0_u64; 64]; 2];
        let stride = values.len() + 1;
        if stride > 7 {
            return true;
        }
        for word in 0..WORDS {
            let more = more(word);
            for bit in (0..32).filter(|bit| care[word] >> bit & 1 != 0) {
                let mut place = usize::from(self.classes[bit]) & 31;
                for value in values {
                    place = place << 1 | (value[word] >> bit & 1) as usize;
                }
                place = place << 1 | (more >> bit & 1) as usize;
                let wants = (target[word] >> bit & 1) as usize;
                let (index, mark) = (place / 64 % 64, 1_u64 << (place % 64));
                seen[wants][index] |= mark;
                if seen[1 - wants][index] & mark != 0 {
                    return false;
                }
            }
        }
        true
    }

    /// All `lop3` of the state's values that give a target.
    fn solve_logic(&self, state: &State, target: &Column, care: &Column, then: &[Step]) {
        let values: Vec<usize> = (self.constants..state.pool.len()).collect();
        for (i, &x) in values.iter().enumerate() {
            for &y in &values[i..] {
                let others = values.iter().copied().filter(|&z| z > y).chain(self.masks.iter().copied());
                for z in others {
                    let (mut ones, mut zeros) = (0_u8, 0_u8);
                    for word in 0..WORDS {
                        let minterms = minterms([x, y, z].map(|i| state.pool[i][word]));
                        for (i, minterm) in minterms.into_iter().enumerate() {
                            ones |= u8::from(minterm & care[word] & target[word] != 0) << i;
                            zeros |= u8::from(minterm & care[word] & !target[word] != 0) << i;
                        }
                        if ones & zeros != 0 {
                            break;
                        }
                    }
                    if ones & zeros != 0 {
                        continue;
                    }
                    // Any bits of the table that nothing decides may be either.
                    let open = !(ones | zeros);
                    let mut more = open;
                    loop {
                        let instruction = Instruction::Base(Op::Lop3(ones | more));
                        let number = state.pool.len();
                        let mut steps = vec![Step { instruction, operands: [x, y, z] }];
                        steps.extend(then.iter().map(|&step| filled(step, number)));
                        let last = number + steps.len() - 1;
                        if self.report(state, &steps, last) || more == 0 {
                            break;
                        }
                        more = (more - 1) & open;
                    }
                }
            }
        }
    }

    /// Notes what was found, if it is right on many more inputs.
    fn report(&self, state: &State, last: &[Step], result: usize) -> bool {
        let mut sequence = Sequence::default();
        let mut values: Vec<Value> = (0..self.constants).map(|i| Value::Word(self.first[i][0])).collect();
        values.extend(&[Value::A, Value::B, Value::C][..self.inputs]);
        for step in state.steps.iter().chain(last) {
            let operands = step.operands.map(|i| values.get(i).copied().unwrap_or(Value::Word(0)));
            values.push(step.instruction.write(&mut sequence, operands));
        }
        if let Some(&result) = values.get(result) {
            sequence.set_result(result);
        }
        if !self.is_right(&sequence) {
            // A table with undecided bits is one of several that were tried, and a last instruction may be tried on its first
            // input alone: neither counts unless it is right on all inputs of the search.
            let is_right = (0..WORDS).all(|word| {
                let [a, b, c] = [0, 1, 2].map(|i| self.first.get(self.constants + i).map_or(0, |input| input[word]));
                (sequence.eval(a, b, c) ^ self.d[word]) & self.search.care == 0
            });
            self.rejected.fetch_add(is_right.into(), Ordering::Relaxed);
            return false;
        }
        if let Ok(mut found) = self.found.lock()
            && !found.contains(&sequence)
        {
            found.push(sequence);
        }
        true
    }

    fn is_right(&self, sequence: &Sequence) -> bool {
        let mut random = Random(77);
        (0..20_000).all(|i| {
            let [a, b, c] = [(); 3].map(|()| if i % 2 == 0 { random.value() } else { random.next() as u32 });
            (sequence.eval(a, b, c) ^ self.search.form.eval(a, b, c)) & self.search.care == 0
        })
    }
}

/// The last step with the number of the one that it waits for.
fn filled(step: Step, number: usize) -> Step {
    Step { operands: step.operands.map(|i| if i == usize::MAX { number } else { i }), ..step }
}

/// Which bits have each combination of three words' bits, in the order of a `lop3` table.
fn minterms([x, y, z]: [u32; 3]) -> [u32; 8] {
    core::array::from_fn(|i| {
        let take = |bit: usize, word: u32| if i >> bit & 1 != 0 { word } else { !word };
        take(2, x) & take(1, y) & take(0, z)
    })
}

fn agrees(column: &Column, target: &Column, care: &Column) -> bool {
    (0..WORDS).all(|word| (column[word] ^ target[word]) & care[word] == 0)
}
