//! From a seed to a program.

use super::program::*;
use super::random::Random;

/// Mostly small and edge values.
fn value(random: &mut Random) -> u64 {
    match random.below(6) {
        0 => random.next(),
        1 => random.next() & 0xffff_ffff,
        2 => random.pick(&[0, 1, 31, 32, 0x7fff_ffff, 0x8000_0000, 0xffff_ffff, u64::MAX, 1 << 63, 0x8000, 0xffff]),
        _ => random.next() & 0xff,
    }
}

pub(super) struct Generator<'r> {
    pub(super) random: &'r mut Random,
    pub(super) body: Vec<Ins>,
    labels: usize,
    lists: usize,
    /// Loops around, with the labels that `continue` and `break` go to.
    loops: Vec<(usize, usize)>,
    depth: usize,
    pub(super) function: usize,
    functions: Vec<bool>,
    pub(super) threads: usize,
    pub(super) elements: u32,
    /// Whether threads may end before the kernel's end.
    exits: bool,
}

/// What the kernel keeps of itself, in [`Own`] registers.
pub(super) const THREAD: Reg = (Own, 0);
pub(super) const UNIFORM: Reg = (Own, 1);
const FUEL: Reg = (Own, 2);
pub(super) const TEMPORARY: Reg = (Own, 3);
const TEMPORARY_2: Reg = (Own, 4);

impl Generator<'_> {
    pub(super) fn label(&mut self) -> usize {
        self.labels += 1;
        self.labels
    }

    pub(super) fn reg(&mut self, kind: Kind) -> Reg {
        let (.., count) = KINDS.iter().find(|(k, ..)| *k == kind).unwrap();
        (kind, self.random.below(*count))
    }

    /// Floating-point instructions take no integers as immediates.
    pub(super) fn source_of(&mut self, opcode: &str, kind: Kind) -> Source {
        if kind != P && opcode.contains(".f") { Source::Reg(self.reg(kind)) } else { self.source(kind) }
    }

    pub(super) fn source(&mut self, kind: Kind) -> Source {
        if kind != P && self.random.percent(20) {
            return Source::Immediate(cut(value(self.random), bits(kind)));
        }
        if kind == W && self.random.percent(8) {
            return Source::Special(self.random.pick(&[
                "%tid.x",
                "%laneid",
                "%ctaid.x",
                "%ntid.y",
                "%lanemask_lt",
                "%tid.z",
            ]));
        }
        Source::Reg(self.reg(kind))
    }

    fn guard(&mut self) -> Option<(usize, bool)> {
        self.random.percent(25).then(|| self.some_guard())
    }

    pub(super) fn some_guard(&mut self) -> (usize, bool) {
        (self.reg(P).1, self.random.percent(50))
    }

    pub(super) fn emit(&mut self, what: What) {
        self.body.push(Ins::Do(None, what));
    }

    pub(super) fn guarded(&mut self, what: What) {
        let guard = self.guard();
        self.body.push(Ins::Do(guard, what));
    }

    pub(super) fn alu(&mut self, opcode: &'static str, d: Reg, sources: Vec<Source>) {
        let (.., f) = ALU.iter().find(|(name, ..)| *name == opcode).unwrap();
        self.emit(What::Alu(opcode, *f, d, sources));
    }

    fn compute(&mut self) {
        match self.random.below(12) {
            0 => {
                let template = self.random.pick(&VIDEOS);
                let d = self.reg(W);
                let sources = [(); 3].map(|()| Source::Reg(self.reg(W)));
                let form = vop::parse(template).unwrap().form;
                self.guarded(What::Video(template.to_owned(), form, d, sources));
            }
            1 => {
                let wide = self.random.percent(50);
                let (kind, names) =
                    if wide { (D, ["add.cc.u64", "addc.cc.u64"]) } else { (W, ["add.cc.u32", "addc.cc.u32"]) };
                let subtract = self.random.percent(30);
                let names = match (subtract, wide) {
                    (true, true) => ["sub.cc.u64", "subc.cc.u64"],
                    (true, false) => ["sub.cc.u32", "subc.cc.u32"],
                    _ => names,
                };
                let (d, e) = (self.reg(kind), self.reg(kind));
                let s = [(); 4].map(|()| self.source(kind));
                let guard = self.guard();
                self.body.push(Ins::Do(guard, What::Carry(names[0], subtract, false, d, [s[0], s[1]])));
                if self.random.percent(50) {
                    self.compute_plain();
                }
                self.body.push(Ins::Do(guard, What::Carry(names[1], subtract, true, e, [s[2], s[3]])));
            }
            2 => {
                let (name, f) = self.random.pick(&COMPARE);
                let p = self.reg(P).1;
                let q = (p + 1 + self.random.below(4)) % 5;
                let sources = [self.source(W), self.source(W)];
                let third = self
                    .random
                    .percent(60)
                    .then(|| (self.random.pick(&["and", "or", "xor"]), self.reg(P).1, self.random.percent(30)));
                self.guarded(What::SetP(name, f, p, q, sources, third));
            }
            _ => self.compute_plain(),
        }
    }

    pub(super) fn compute_plain(&mut self) {
        let (opcode, d, kinds, f) = ALU[self.random.below(ALU.len())];
        let d = self.reg(d);
        let mut sources: Vec<Source> = kinds.iter().map(|kind| self.source_of(opcode, *kind)).collect();
        if opcode == "lop3.b32" {
            sources.push(Source::Immediate(self.random.next() & 0xff));
        }
        self.guarded(What::Alu(opcode, f, d, sources));
    }

    /// An address register that points at element `r & (count - 1)` of what starts at `base`.
    pub(super) fn address(&mut self, base: Reg, count: u64, size: u64) -> Reg {
        let (at, index) = ((Address, 3), Source::Reg(self.reg(W)));
        self.alu("and.b32", TEMPORARY, vec![index, Source::Immediate(count - 1)]);
        self.alu("mul.wide.u32", at, vec![Source::Reg(TEMPORARY), Source::Immediate(size)]);
        self.alu("add.s64", at, vec![Source::Reg(at), Source::Reg(base)]);
        at
    }

    fn memory(&mut self) {
        // Functions reach what is on the stack, the kernel also the buffers.
        let choice = if self.function > 0 { 3 + self.random.below(3) } else { self.random.below(7) };
        match choice {
            // Anywhere in the input, all sizes and vectors.
            0 | 1 => {
                let (size, kind) =
                    self.random.pick(&[(1, W), (1, D), (1, H), (2, H), (2, W), (2, D), (4, W), (4, D), (8, D)]);
                let count = self.random.pick(&[1, 1, 2, 4]);
                let bytes = size * count as u32;
                let at = self.address(
                    (Address, 0),
                    u64::from(self.elements * 4 / bytes).next_power_of_two() / 2,
                    u64::from(bytes),
                );
                let d = (0..count).map(|_| self.reg(kind)).collect();
                let signed = self.random.percent(50);
                let space = if self.random.percent(50) { Space::Global } else { Space::Generic };
                self.guarded(What::Load(space, signed, size, d, at, 0));
            }
            // Up to the end, behind a guard.
            2 => {
                let (index, at, p, d) = (self.reg(W), (Address, 3), self.reg(P), self.reg(W));
                self.alu("and.b32", TEMPORARY, vec![Source::Reg(index), Source::Immediate(0xff)]);
                let (name, f) = COMPARE[4];
                let limit = [Source::Reg(TEMPORARY), Source::Immediate(u64::from(self.elements))];
                self.emit(What::SetP(name, f, p.1, (p.1 + 1) % 5, limit, None));
                self.alu("mul.wide.u32", at, vec![Source::Reg(TEMPORARY), Source::Immediate(4)]);
                self.alu("add.s64", at, vec![Source::Reg(at), Source::Reg((Address, 0))]);
                self.body.push(Ins::Do(Some((p.1, true)), What::Load(Space::Global, false, 4, vec![d], at, 0)));
            }
            3 | 4 => {
                let at = (Address, 3);
                self.emit(What::LocalAddress((Address, 2)));
                let kind = self.random.pick(&[W, D]);
                let size = u64::from(bits(kind) / 8);
                let at = {
                    self.address((Address, 2), LOCAL as u64 * 4 / size, size);
                    at
                };
                let value = self.reg(kind);
                if self.random.percent(50) {
                    self.guarded(What::Store(Space::Local, size as u32, vec![value], at, 0));
                } else {
                    self.guarded(What::Load(Space::Local, false, size as u32, vec![value], at, 0));
                }
            }
            5 => {
                let values = [self.reg(W), self.reg(W)];
                self.emit(What::LocalAddress((Address, 2)));
                let offset = 8 * self.random.below(LOCAL / 2) as i64;
                self.guarded(What::Store(Space::Local, 4, values.to_vec(), (Address, 2), offset));
                let values = [self.reg(H), self.reg(H), self.reg(H), self.reg(H)];
                self.guarded(What::Load(Space::Local, true, 2, values.to_vec(), (Address, 2), offset));
            }
            _ => {
                // Sums over all threads of all blocks.
                let (name, f) = self.random.pick(&REDUCE);
                let value = self.source(W);
                let offset = REDUCE.iter().position(|(other, _)| *other == name).unwrap();
                self.alu(
                    "add.s64",
                    (Address, 3),
                    vec![Source::Reg((Address, 1)), Source::Immediate(4 * offset as u64)],
                );
                self.guarded(What::Reduce(Space::Global, name, f, (Address, 3), value));
            }
        }
    }

    fn call(&mut self) {
        let callees: Vec<usize> = (self.function + 1..self.functions.len()).collect();
        if callees.is_empty() {
            return self.compute();
        }
        let callee = self.random.pick(&callees);
        let (a, b, d) = (self.reg(W), self.reg(D), self.reg(W));
        let guard = self.guard();
        if self.functions[callee] {
            let sources = [self.source(W), self.source(D)];
            self.body.push(Ins::Do(guard, What::CallRegisters(callee, d, sources)));
            return;
        }
        self.lists += 1;
        let site = self.lists;
        self.body.push(Ins::Text(format!("{{ .param .b32 pa{site}; .param .b64 pb{site}; .param .b32 pr{site};")));
        self.emit(What::PutArgument(site, 0, a));
        self.emit(What::PutArgument(site, 1, b));
        let others: Vec<usize> = callees.iter().copied().filter(|f| !self.functions[*f]).collect();
        if self.random.percent(40) {
            let (one, other) = (self.random.pick(&others), self.random.pick(&others));
            let p = self.reg(P);
            self.emit(What::FunctionAddress((Address, 2), one));
            self.emit(What::FunctionAddress((Address, 3), other));
            let pick = vec![Source::Reg((Address, 2)), Source::Reg((Address, 3)), Source::Reg(p)];
            self.alu("selp.b64", (Address, 3), pick);
            self.body.push(Ins::Text(format!(
                "proto{site}: .callprototype (.param .b32 _) _ (.param .b32 _, .param .b64 _);"
            )));
            self.body.push(Ins::Do(guard, What::CallByAddress(site, (Address, 3))));
        } else {
            self.body.push(Ins::Do(guard, What::Call(site, callee)));
        }
        self.body.push(Ins::Do(guard, What::GetResult(site, d)));
        self.body.push(Ins::Text("}".to_owned()));
    }

    /// Statements that threads may execute in any company.
    fn block(&mut self, size: usize) {
        for _ in 0..1 + self.random.below(size) {
            self.statement();
        }
    }

    fn statement(&mut self) {
        let deep = self.depth >= 3;
        match self.random.below(if deep { 70 } else { 100 }) {
            0..50 => self.compute(),
            50..55 => self.memory(),
            55..62 => self.own(),
            62..65 if !self.loops.is_empty() => {
                let (again, out) = *self.loops.last().unwrap();
                let guard = self.some_guard();
                let target = if self.random.percent(50) { again } else { out };
                self.body.push(Ins::Do(Some(guard), What::Branch(target)));
            }
            65..67 => {
                let guard = self.some_guard();
                let exit = self.exits && self.random.percent(if self.function > 0 { 10 } else { 30 });
                let what = if exit { What::Exit } else { What::Return };
                if self.function > 0 || exit {
                    self.body.push(Ins::Do(Some(guard), what));
                }
            }
            67..70 if self.random.percent(50) => self.emit(What::Active(TEMPORARY_2)),
            70..78 => self.condition(),
            78..84 => self.count_loop(),
            84..88 => self.switch(),
            88..92 => self.jumps(),
            92.. => self.call(),
            _ => self.compute(),
        }
    }

    fn nested(&mut self, size: usize) {
        self.depth += 1;
        self.block(size);
        self.depth -= 1;
    }

    fn condition(&mut self) {
        let (p, when) = self.some_guard();
        let (other, end) = (self.label(), self.label());
        self.body.push(Ins::Do(Some((p, when)), What::Branch(other)));
        self.nested(4);
        let both = self.random.percent(60);
        if both {
            self.emit(What::Branch(end));
        }
        self.body.push(Ins::Label(other));
        if both {
            self.nested(4);
        }
        self.body.push(Ins::Label(end));
    }

    fn count_loop(&mut self) {
        let counter = (Counter, self.depth);
        let (again, test, out) = (self.label(), self.label(), self.label());
        let trips = self.reg(W);
        let most = Source::Immediate(self.random.pick(&[1, 3, 7]));
        self.alu("and.b32", counter, vec![Source::Reg(trips), most]);
        self.body.push(Ins::Label(again));
        self.loops.push((test, out));
        self.nested(4);
        self.loops.pop();
        self.body.push(Ins::Label(test));
        let p = self.reg(P).1;
        let (name, f) = COMPARE[1];
        self.emit(What::SetP(name, f, p, (p + 1) % 5, [Source::Reg(counter), Source::Immediate(0)], None));
        self.alu("sub.s32", counter, vec![Source::Reg(counter), Source::Immediate(1)]);
        self.body.push(Ins::Do(Some((p, true)), What::Branch(again)));
        self.body.push(Ins::Label(out));
    }

    fn switch(&mut self) {
        let count = 2 + self.random.below(4);
        let cases: Vec<usize> = (0..count).map(|_| self.label()).collect();
        let end = self.label();
        let mut list = cases.clone();
        list.resize(count.next_power_of_two(), end);
        let index = self.reg(W);
        self.alu("and.b32", TEMPORARY, vec![Source::Reg(index), Source::Immediate(list.len() as u64 - 1)]);
        self.lists += 1;
        let guard = self.guard();
        let number = self.lists;
        self.body.push(Ins::Text(format!("list{number}: .branchtargets {};", labels(&list))));
        self.body.push(Ins::Do(guard, What::Switch(number, TEMPORARY, list)));
        for case in cases {
            self.body.push(Ins::Label(case));
            self.nested(3);
            if self.random.percent(70) {
                self.emit(What::Branch(end));
            }
        }
        self.body.push(Ins::Label(end));
    }

    /// Blocks that jump to one another without any structure, as long as there is fuel.
    fn jumps(&mut self) {
        if self.depth > 0 && self.function == 0 && self.random.percent(50) {
            return self.compute();
        }
        let count = 2 + self.random.below(5);
        let blocks: Vec<usize> = (0..count).map(|_| self.label()).collect();
        let end = self.label();
        // Nested ones have each their own.
        let fuel = if self.depth < 3 { (Counter, 4 + self.depth) } else { FUEL };
        let start = self.random.pick(&blocks);
        let amount = self.reg(W);
        self.alu("and.b32", fuel, vec![Source::Reg(amount), Source::Immediate(15)]);
        self.emit(What::Branch(start));
        for block in &blocks {
            self.body.push(Ins::Label(*block));
            let p = self.reg(P).1;
            let (name, f) = COMPARE[0];
            self.emit(What::SetP(name, f, p, (p + 1) % 5, [Source::Reg(fuel), Source::Immediate(0)], None));
            self.body.push(Ins::Do(Some((p, true)), What::Branch(end)));
            self.alu("sub.s32", fuel, vec![Source::Reg(fuel), Source::Immediate(1)]);
            self.depth += 1;
            for _ in 0..1 + self.random.below(3) {
                if self.random.percent(15) && self.depth < 3 {
                    self.statement();
                } else {
                    self.compute();
                }
            }
            self.depth -= 1;
            match self.random.below(4) {
                0 => {
                    let target = self.random.pick(&blocks);
                    self.emit(What::Branch(target));
                }
                1 => {}
                2 => {
                    let (guard, target) = (self.some_guard(), self.random.pick(&blocks));
                    self.body.push(Ins::Do(Some(guard), What::Branch(target)));
                }
                _ => {
                    let list = [(); 4].map(|()| self.random.pick(&blocks)).to_vec();
                    let index = self.reg(W);
                    self.alu("and.b32", TEMPORARY, vec![Source::Reg(index), Source::Immediate(3)]);
                    self.lists += 1;
                    let number = self.lists;
                    self.body.push(Ins::Text(format!("list{number}: .branchtargets {};", labels(&list))));
                    self.emit(What::Switch(number, TEMPORARY, list));
                }
            }
        }
        self.body.push(Ins::Label(end));
    }

    /// Statements that all threads of the block execute which have not ended.
    fn together(&mut self, size: usize) {
        for _ in 0..1 + self.random.below(size) {
            match self.random.below(12) {
                0..6 => self.statement(),
                6 => self.exchange(),
                7 => self.sum(),
                8 => self.lanes(),
                9 => self.lanes_apart(),
                10 => match self.random.below(6) {
                    0 => {
                        let (d, p) = (self.reg(W), self.reg(P).1);
                        self.emit(What::BarrierCount(d, p));
                    }
                    1 => {
                        let (all, d, p) = (self.random.percent(50), self.reg(P).1, self.reg(P).1);
                        self.emit(What::BarrierVote(all, d, p));
                    }
                    2 => self.barrier_apart(),
                    3 if !self.exits && self.threads >= 64 && self.threads.is_multiple_of(32) => self.barrier_counted(),
                    _ => {
                        let id = self.random.below(16);
                        self.emit(What::Barrier(id));
                    }
                },
                _ if self.depth == 0 => {
                    // A loop with as many turns for every thread.
                    let counter = (Counter, 11);
                    let again = self.label();
                    self.alu("and.b32", counter, vec![Source::Reg(UNIFORM), Source::Immediate(3)]);
                    self.body.push(Ins::Label(again));
                    self.depth += 1;
                    self.together(4);
                    self.depth -= 1;
                    let p = self.reg(P).1;
                    let (name, f) = COMPARE[1];
                    self.emit(What::SetP(name, f, p, (p + 1) % 5, [Source::Reg(counter), Source::Immediate(0)], None));
                    self.alu("sub.s32", counter, vec![Source::Reg(counter), Source::Immediate(1)]);
                    self.body.push(Ins::Do(Some((p, true)), What::Branch(again)));
                }
                _ => self.compute(),
            }
        }
    }

    /// Each thread writes a word of shared memory and reads another thread's.
    fn exchange(&mut self) {
        let (value, d) = (self.reg(W), self.reg(W));
        let at = (Address, 3);
        self.emit(What::SharedAddress((Address, 2)));
        self.alu("mul.wide.u32", at, vec![Source::Reg(THREAD), Source::Immediate(4)]);
        self.alu("add.s64", at, vec![Source::Reg(at), Source::Reg((Address, 2))]);
        let space = self.generic_or(Space::Shared, at);
        self.emit(What::Store(space, 4, vec![value], at, 4 * SUMS as i64));
        self.emit(What::Barrier(0));
        // A thread that is there: the highest power of two of them.
        let known = (self.threads + 1).next_power_of_two() / 2;
        let at = self.address((Address, 2), known as u64, 4);
        let space = self.generic_or(Space::Shared, at);
        self.emit(What::Load(space, false, 4, vec![d], at, 4 * SUMS as i64));
        self.emit(What::Barrier(0));
    }

    fn sum(&mut self) {
        let (name, f) = self.random.pick(&REDUCE);
        let (value, d) = (self.source(W), self.reg(W));
        let word = self.random.below(SUMS) as i64;
        self.emit(What::SharedAddress((Address, 2)));
        self.alu("add.s64", (Address, 2), vec![Source::Reg((Address, 2)), Source::Immediate(4 * word as u64)]);
        self.guarded(What::Reduce(Space::Shared, name, f, (Address, 2), value));
        self.emit(What::Barrier(3));
        self.emit(What::Load(Space::Shared, false, 4, vec![d], (Address, 2), 0));
        self.emit(What::Barrier(3));
    }

    fn lane_operation(&mut self, guard: Option<(usize, bool)>, members: Source) {
        let kinds = [
            Lanes::Up,
            Lanes::Down,
            Lanes::Butterfly,
            Lanes::Index,
            Lanes::All,
            Lanes::Any,
            Lanes::Uniform,
            Lanes::Ballot,
            Lanes::MatchAny,
            Lanes::MatchWide,
            Lanes::MatchAll,
            Lanes::Elect,
            Lanes::Reduce(self.random.below(REDUCE.len())),
            Lanes::Sync,
        ];
        let kind = self.random.pick(&kinds);
        let (d, p) = (self.reg(W), self.reg(P).1);
        let what = match kind {
            Lanes::Up | Lanes::Down | Lanes::Butterfly | Lanes::Index => {
                let clamp = match kind {
                    Lanes::Up => self.random.pick(&[0, 0x1800, 0x1000]),
                    _ => self.random.pick(&[0x1f, 0x181f, 0x1c1f, 0x0f]),
                };
                let sources = vec![Source::Reg(self.reg(W)), self.source(W), Source::Immediate(clamp)];
                What::Lanes(kind, d, self.random.percent(50).then_some(p), sources, members)
            }
            Lanes::All | Lanes::Any | Lanes::Uniform => {
                What::Lanes(kind, (P, p), None, vec![Source::Reg(self.reg(P))], members)
            }
            Lanes::Ballot => What::Lanes(kind, d, None, vec![Source::Reg(self.reg(P))], members),
            Lanes::MatchAll => What::Lanes(kind, d, Some(p), vec![Source::Reg(self.reg(W))], members),
            Lanes::Elect => What::Lanes(kind, d, Some(p), vec![], members),
            Lanes::MatchWide => What::Lanes(kind, d, None, vec![Source::Reg(self.reg(D))], members),
            Lanes::Sync => What::Lanes(kind, d, None, vec![], members),
            _ => What::Lanes(kind, d, None, vec![Source::Reg(self.reg(W))], members),
        };
        self.body.push(Ins::Do(guard, what));
    }

    fn lanes(&mut self) {
        self.lane_operation(None, Source::Immediate(0xffff_ffff));
    }

    /// Some lanes among themselves, and perhaps the others somewhere else.
    fn lanes_apart(&mut self) {
        let p = self.reg(P).1;
        let mine = Source::Reg(TEMPORARY_2);
        let ballot = |p| vec![Source::Reg((P, p))];
        self.emit(What::Lanes(Lanes::Ballot, TEMPORARY_2, None, ballot(p), Source::Immediate(0xffff_ffff)));
        if self.random.percent(40) {
            return self.lane_operation(Some((p, true)), mine);
        }
        let (other, end) = (self.label(), self.label());
        self.body.push(Ins::Do(Some((p, false)), What::Branch(other)));
        self.depth += 3;
        self.compute_plain();
        self.lane_operation(None, mine);
        self.emit(What::Branch(end));
        self.body.push(Ins::Label(other));
        self.alu("not.b32", TEMPORARY_2, vec![mine]);
        self.compute_plain();
        self.lane_operation(None, mine);
        self.depth -= 3;
        self.body.push(Ins::Label(end));
    }
}

fn labels(list: &[usize]) -> String {
    list.iter().map(|label| format!("L{label}")).collect::<Vec<_>>().join(", ")
}

/// A kernel, its functions and its launch, from a seed.
pub(crate) fn generate(seed: u64) -> Case {
    let mut random = Random(seed.wrapping_mul(0x1234_5678_9abc_def1) ^ 0x5851_f42d);
    let block = match random.below(9) {
        0 => [1, 1, 1],
        1 => [33, 1, 1],
        2 => [70, 1, 1],
        3 => [32, 1, 1],
        4 => [5, 3, 2],
        5 => [8, 8, 2],
        7 => [96, 1, 1],
        6 if random.percent(20) => [1023, 1, 1],
        _ => [1 + random.below(100) as u32, 1, 1],
    };
    let threads = block.iter().product::<u32>() as usize;
    let grid = [1 + random.below(3) as u32, 1 + random.below(2) as u32, 1];
    let exits = random.percent(60);
    let elements = 64 + random.below(64) as u32;
    let input = (0..elements).flat_map(|_| (value(&mut random) as u32).to_le_bytes()).collect();
    let table = [(); TABLE].map(|()| value(&mut random) as u32);
    let count = 1 + random.below(4);
    // The last function has its parameters in parameter space, so that there is always one to call by address.
    let registers: Vec<bool> = (0..count).map(|f| f > 0 && f + 1 < count && random.percent(40)).collect();
    let mut functions = Vec::new();
    let mut labels = 0;
    let mut lists = 0;
    for (f, is_registers) in registers.iter().enumerate() {
        let mut g = Generator {
            random: &mut random,
            body: Vec::new(),
            labels,
            lists,
            loops: Vec::new(),
            depth: usize::from(f > 0),
            function: f,
            functions: registers.clone(),
            threads,
            elements,
            exits,
        };
        g.start(f);
        if f > 0 && !is_registers && g.random.percent(30) {
            g.recursion();
        }
        if f == 0 {
            g.together(14);
            g.store_all();
        } else {
            g.block(5);
            let (d, guard) = (g.reg(W), g.guard());
            g.body.push(Ins::Do(guard, What::PutReturn(d)));
            if g.random.percent(50) {
                g.emit(What::Return);
            }
        }
        (labels, lists) = (g.labels, g.lists);
        functions.push(Function { body: g.body, registers: *is_registers });
    }
    Case { functions, grid, block, input, elements, table }
}

impl Generator<'_> {
    fn start(&mut self, f: usize) {
        if f == 0 {
            self.emit(What::Parameter((Address, 0), 0));
            self.emit(What::Parameter((Address, 1), 1));
            self.emit(What::Parameter(UNIFORM, 2));
            // The thread's index in its block.
            self.alu("mad.lo.s32", THREAD, ["%tid.z", "%ntid.y", "%tid.y"].map(Source::Special).to_vec());
            let sources = vec![Source::Reg(THREAD), Source::Special("%ntid.x"), Source::Special("%tid.x")];
            self.alu("mad.lo.s32", THREAD, sources);
            // Something different in some registers, and nothing in others.
            for i in 0..4 {
                let d = self.reg(W);
                let by = Source::Immediate(self.random.next() & 0xffff_ffff);
                self.alu("mad.lo.s32", d, vec![Source::Reg(THREAD), by, Source::Immediate(i)]);
            }
        } else {
            self.emit(What::Parameter((W, 0), 0));
            self.emit(What::Parameter((D, 0), 1));
            self.emit(What::PutReturn((W, 0)));
        }
        self.emit(What::LocalAddress((Address, 2)));
        for i in 0..LOCAL / 2 {
            let value = self.reg(D);
            self.emit(What::Store(Space::Local, 8, vec![value], (Address, 2), 8 * i as i64));
        }
    }

    /// A call of the function itself, at most four deep, after which it goes on.
    fn recursion(&mut self) {
        let (p, end, d, b) = (self.reg(P).1, self.label(), self.reg(W), self.reg(D));
        self.alu("and.b32", TEMPORARY, vec![Source::Reg((W, 0)), Source::Immediate(3)]);
        let (name, f) = COMPARE[0];
        self.emit(What::SetP(name, f, p, (p + 1) % 5, [Source::Reg(TEMPORARY), Source::Immediate(0)], None));
        self.body.push(Ins::Do(Some((p, true)), What::Branch(end)));
        self.alu("sub.s32", TEMPORARY, vec![Source::Reg(TEMPORARY), Source::Immediate(1)]);
        self.lists += 1;
        let site = self.lists;
        self.body.push(Ins::Text(format!("{{ .param .b32 pa{site}; .param .b64 pb{site}; .param .b32 pr{site};")));
        self.emit(What::PutArgument(site, 0, TEMPORARY));
        self.emit(What::PutArgument(site, 1, b));
        self.emit(What::Call(site, self.function));
        self.emit(What::GetResult(site, d));
        self.body.push(Ins::Text("}".to_owned()));
        self.body.push(Ins::Label(end));
    }

    /// The address, less 64, of where the thread leaves its registers.
    pub(super) fn place(&mut self) {
        let at = (Address, 3);
        self.alu("mad.lo.s32", TEMPORARY, ["%ctaid.y", "%nctaid.x", "%ctaid.x"].map(Source::Special).to_vec());
        let threads = Source::Immediate(self.threads as u64);
        self.alu("mad.lo.s32", TEMPORARY, vec![Source::Reg(TEMPORARY), threads, Source::Reg(THREAD)]);
        self.alu("mul.wide.u32", at, vec![Source::Reg(TEMPORARY), Source::Immediate(OUT as u64)]);
        self.alu("add.s64", at, vec![Source::Reg(at), Source::Reg((Address, 1))]);
    }

    fn store_all(&mut self) {
        let at = (Address, 3);
        self.place();
        let mut offset = 64;
        for (kind, _, _, count) in [KINDS[2], KINDS[1], KINDS[0]] {
            for i in 0..count {
                self.emit(What::Store(Space::Global, bits(kind) / 8, vec![(kind, i)], at, offset));
                offset += i64::from(bits(kind) / 8);
            }
        }
        offset = (offset + 3) & !3;
        for i in 0..5 {
            let word = vec![Source::Immediate(1), Source::Immediate(0), Source::Reg((P, i))];
            self.alu("selp.b32", TEMPORARY, word);
            self.emit(What::Store(Space::Global, 4, vec![TEMPORARY], at, offset));
            offset += 4;
        }
        assert!(offset as usize <= OUT + 64, "{offset}");
    }
}
