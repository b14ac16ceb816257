//! Statements about memory that belongs to one thread, and about what the CUDA runtime provides.

use super::generator::{Generator, TEMPORARY, THREAD, UNIFORM};
use super::program::*;

const AT: Reg = (Address, 3);
const BASE: Reg = (Address, 2);

impl Generator<'_> {
    /// Of a kernel anything, of a function what it can reach.
    pub(super) fn own(&mut self) {
        match self.random.below(if self.function > 0 { 3 } else { 8 }) {
            0 => self.table(),
            1 => self.heap(),
            2 if self.random.percent(50) => self.print(),
            3 => self.shared_word(),
            4 => self.copy(),
            5 => self.global_words(),
            6 => self.strided(),
            7 => self.pack(),
            _ => self.divide(),
        }
    }

    /// A word or several of the table in constant memory.
    fn table(&mut self) {
        self.emit(What::ConstAddress(BASE));
        let count = self.random.pick(&[1, 2, 4]);
        let at = self.address(BASE, (TABLE / count) as u64, 4 * count as u64);
        let d = (0..count).map(|_| self.reg(W)).collect();
        self.guarded(What::Load(Space::Const, false, 4, d, at, 0));
    }

    /// Memory from the heap, written, read and given back.
    fn heap(&mut self) {
        let bytes = 16 + self.random.below(100) as u64;
        self.emit(What::Malloc(AT, bytes));
        let (stored, loaded) = (self.reg(D), self.reg(W));
        self.emit(What::Store(Space::Generic, 8, vec![stored], AT, 8));
        self.compute_plain();
        let (name, ty, count, f) = self.random.pick(&ATOMIC);
        if ty == D {
            let sources = (0..count).map(|_| self.source(D)).collect();
            self.alu("add.s64", BASE, vec![Source::Reg(AT), Source::Immediate(8)]);
            let d = self.reg(D);
            self.guarded(What::Atomic(Space::Generic, name, f, 8, d, BASE, sources));
        }
        self.guarded(What::Load(Space::Generic, false, 4, vec![loaded], AT, 12));
        self.emit(What::Free(AT));
    }

    /// A line of `printf`, from few threads.
    fn print(&mut self) {
        let format = self.random.below(FORMATS.len());
        let (_, kinds, _) = FORMATS[format];
        let end = self.label();
        let guard = self.some_guard();
        self.body.push(Ins::Do(Some(guard), What::Branch(end)));
        self.emit(What::LocalAddress(BASE));
        for (kind, (offset, bytes)) in kinds.iter().zip(places(kinds)) {
            let value = self.reg(*kind);
            self.emit(What::Store(Space::Local, bytes, vec![value], BASE, offset as i64));
        }
        self.emit(What::Cvta(Space::Local, BASE));
        self.emit(What::Print(format, BASE));
        self.body.push(Ins::Label(end));
    }

    /// The address of the thread's word in shared memory.
    fn word(&mut self) {
        self.emit(What::SharedAddress(BASE));
        self.alu("mul.wide.u32", AT, vec![Source::Reg(THREAD), Source::Immediate(4)]);
        self.alu("add.s64", AT, vec![Source::Reg(AT), Source::Reg(BASE)]);
        self.alu("add.s64", AT, vec![Source::Reg(AT), Source::Immediate(4 * SUMS as u64)]);
    }

    fn shared_word(&mut self) {
        self.word();
        let space = self.generic_or(Space::Shared, AT);
        for _ in 0..1 + self.random.below(3) {
            let (name, kind, count, f) = self.random.pick(&ATOMIC);
            let d = self.reg(W);
            if kind == W {
                let sources = (0..count).map(|_| self.source_of(name, W)).collect();
                self.guarded(What::Atomic(space, name, f, 4, d, AT, sources));
            } else {
                self.guarded(What::Load(space, true, 2, vec![d], AT, 2));
            }
        }
    }

    /// The space, or a generic address in its place.
    pub(super) fn generic_or(&mut self, space: Space, at: Reg) -> Space {
        if self.random.percent(40) {
            self.emit(What::Cvta(space, at));
            return Space::Generic;
        }
        space
    }

    /// An asynchronous copy, with something to do until it is there.
    fn copy(&mut self) {
        let from = self.address((Address, 0), u64::from(self.elements).next_power_of_two() / 2, 4);
        self.alu("add.s64", BASE, vec![Source::Reg(from), Source::Immediate(0)]);
        let from = BASE;
        // The base of shared memory is its start.
        self.emit(What::SharedAddress(AT));
        self.alu("mad.wide.s32", AT, vec![Source::Reg(THREAD), Source::Immediate(4), Source::Reg(AT)]);
        self.alu("add.s64", AT, vec![Source::Reg(AT), Source::Immediate(4 * SUMS as u64)]);
        self.guarded(What::Copy(AT, from));
        self.compute_plain();
        self.emit(What::WaitForCopies);
        let d = self.reg(W);
        self.guarded(What::Load(Space::Shared, false, 4, vec![d], AT, 0));
    }

    /// Vectors and atomics where the thread leaves its registers in the end.
    fn global_words(&mut self) {
        self.place();
        let values = (0..4).map(|_| self.reg(W)).collect();
        self.guarded(What::Store(Space::Global, 4, values, AT, 64));
        let values = (0..2).map(|_| self.reg(H)).collect();
        self.guarded(What::Store(Space::Generic, 2, values, AT, 68));
        let (name, kind, count, f) = self.random.pick(&ATOMIC);
        let (d, sources) = (self.reg(kind), (0..count).map(|_| self.source_of(name, kind)).collect());
        self.alu("add.s64", BASE, vec![Source::Reg(AT), Source::Immediate(72)]);
        let space = self.random.pick(&[Space::Global, Space::Generic]);
        self.guarded(What::Atomic(space, name, f, bits(kind) / 8, d, BASE, sources));
        let d = vec![self.reg(D), self.reg(D)];
        self.guarded(What::Load(Space::Global, false, 8, d, AT, 64));
    }

    /// Of elements as far as they go: the block's threads side by side, perhaps in a loop over all of them.
    fn strided(&mut self) {
        let (index, stride, end, again) = ((Counter, 8), (Counter, 9), self.label(), self.label());
        let sources = ["%ctaid.x", "%ntid.x", "%tid.x"].map(Source::Special).to_vec();
        self.alu("mad.lo.s32", index, sources);
        self.alu("mul.lo.s32", stride, ["%nctaid.x", "%ntid.x"].map(Source::Special).to_vec());
        let p = self.reg(P).1;
        let outside = |g: &mut Self, which: usize, label| {
            let (name, f) = COMPARE[which];
            let sources = [Source::Reg(index), Source::Reg(UNIFORM)];
            g.emit(What::SetP(name, f, p, (p + 1) % 5, sources, None));
            g.body.push(Ins::Do(Some((p, true)), What::Branch(label)));
        };
        // Not less than the elements.
        outside(self, 5, end);
        self.body.push(Ins::Label(again));
        self.alu("mul.wide.u32", AT, vec![Source::Reg(index), Source::Immediate(4)]);
        self.alu("add.s64", AT, vec![Source::Reg(AT), Source::Reg((Address, 0))]);
        let d = self.reg(W);
        self.emit(What::Load(Space::Global, false, 4, vec![d], AT, 0));
        for _ in 0..self.random.below(4) {
            self.compute_plain();
        }
        if self.random.percent(50) {
            self.alu("add.s32", index, vec![Source::Reg(index), Source::Reg(stride)]);
            // Less.
            outside(self, 4, again);
        }
        self.body.push(Ins::Label(end));
    }

    fn pack(&mut self) {
        let (wide, narrow, count) = self.random.pick(&[(W, H, 2), (D, W, 2), (D, H, 4)]);
        let (one, several) = (self.reg(wide), (0..count).map(|_| self.reg(narrow)).collect());
        if self.random.percent(50) {
            return self.guarded(What::Pack(one, several));
        }
        // Destinations must differ.
        let start = self.random.below(4);
        let several = (0..count).map(|i| (narrow, (start + i) % 4)).collect();
        self.guarded(What::Unpack(several, one));
    }

    fn divide(&mut self) {
        let (name, kind, f) = self.random.pick(&DIVIDE);
        let (a, b, d) = (self.source(kind), self.source(kind), self.reg(kind));
        let divisor = if kind == W { TEMPORARY } else { self.reg(D) };
        let one = Source::Immediate(1);
        if kind == W {
            self.alu("or.b32", divisor, vec![b, one]);
        } else {
            self.alu("and.b64", divisor, vec![b, Source::Immediate(0xff)]);
            self.alu("add.s64", divisor, vec![Source::Reg(divisor), one]);
        }
        self.guarded(What::Alu(name, f, d, vec![a, Source::Reg(divisor)]));
    }

    /// A barrier in two branches of the code.
    pub(super) fn barrier_apart(&mut self) {
        let id = self.random.below(16);
        let (guard, other, end) = (self.some_guard(), self.label(), self.label());
        self.body.push(Ins::Do(Some(guard), What::Branch(other)));
        self.compute_plain();
        self.emit(What::BarrierApart(id));
        self.emit(What::Branch(end));
        self.body.push(Ins::Label(other));
        self.emit(What::BarrierApart(id));
        self.compute_plain();
        self.body.push(Ins::Label(end));
    }

    /// The first warp arrives and goes on, the others wait for it; and a barrier behind it, so that none laps another.
    pub(super) fn barrier_counted(&mut self) {
        let (id, p, other, end) = (1 + self.random.below(14), self.reg(P).1, self.label(), self.label());
        let (name, f) = COMPARE[4];
        let first = [Source::Reg(THREAD), Source::Immediate(32)];
        self.emit(What::SetP(name, f, p, (p + 1) % 5, first, None));
        self.body.push(Ins::Do(Some((p, true)), What::Branch(other)));
        self.emit(What::BarrierCounted(false, id, self.threads));
        self.emit(What::Branch(end));
        self.body.push(Ins::Label(other));
        self.compute_plain();
        self.emit(What::BarrierCounted(true, id, self.threads));
        self.body.push(Ins::Label(end));
        self.compute_plain();
        self.emit(What::Barrier(0));
    }
}
