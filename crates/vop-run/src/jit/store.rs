//! Templates of stores.
//!
//! A store is the last step of its run, and reaches other memory than the loads before it: another space, or another allocation, which the
//! function asks first; for shared memory see [`phases`](super::phases). So every thread has read what the steps before the store read, as lanes
//! of a warp that go together do, and of several threads that write to one place the last one stays. For kernels that change an allocation in
//! its place there is a second run, which ends before the store.

use super::assembler::{Condition, General, Operand};
use super::emit::*;
use super::load::{FIRST, Shape, Site};
use super::vectors::Vectors;
use crate::code::{MemoryWidth, Store};

impl Writer<'_> {
    /// Leaves the function before its first turn if its store has the site of a load, or of none is known where it reaches.
    pub(super) fn leave_unless_apart(&mut self, lines: &[Line<'_>]) {
        let (mut loads, mut store) = (Vec::new(), None);
        for line in lines {
            match line.what {
                What::Load(_, site) if site > 0 => loads.push(site),
                What::Store(_, site) if site > 0 => store = Some(site),
                _ => {}
            }
        }
        let Some(store) = store else { return };
        let first_of = |site: usize| (site * size_of::<Site>()) as i32 + FIRST;
        for load in loads {
            self.asm.load(SCRATCH, SITES, first_of(load));
            self.asm.compare_memory(SCRATCH, SITES, first_of(store));
            self.leave_if(Condition::Zero);
        }
    }

    /// Writes a store. `site` is the number of its site.
    pub(super) fn store_to_memory(&mut self, line: &Line<'_>, store: &Store, site: usize) {
        let values = &line.sources[line.sources.len() - store.sources.len()..];
        let from: Vec<[u8; 2]> = values.iter().map(|value| self.read(*value)).collect();
        let mut body = |this: &mut Self, shape| match (store.memory, shape) {
            (MemoryWidth::Bits8 | MemoryWidth::Bits16, Shape::Row) if !this.masked || this.has_masked_rows(1) => {
                this.write_short_row(store.access.bytes, from[0][0], Operand::Memory(SCRATCH, 0));
            }
            (MemoryWidth::Bits32, Shape::Row) if from.len() == 1 => {
                this.write_past_caches(&store.access, site, |this, past| {
                    this.write_row(None, from[0][0], Operand::Memory(SCRATCH, 0), past);
                });
            }
            (MemoryWidth::Bits64, Shape::Row) if from.len() == 1 => this.write_doubles(store, site, from[0]),
            (MemoryWidth::Bits32, Shape::Row) if from.len() == 2 && !this.masked => {
                this.pair_words([from[0][0], from[1][0]]);
                this.write_doubles(store, site, [T3, T4]);
            }
            // There are no instructions that write bytes here and there.
            (MemoryWidth::Bits8 | MemoryWidth::Bits16, _) if this.vectors == Vectors::Avx512 => {
                let leave = this.asm.jump();
                this.leaves.push(leave);
            }
            (_, shape) => {
                // Offsets of the shapes that need none.
                if shape != Shape::Any {
                    let by = if shape == Shape::Row { store.access.bytes } else { 0 };
                    let offsets = this.asm.vector(std::array::from_fn(|i| i as u32 * by));
                    this.copy(T0, offsets);
                }
                match this.vectors {
                    Vectors::Avx2 => this.one_by_one(store, &from),
                    Vectors::Avx512 => this.scatter(store, &from),
                }
            }
        };
        match &line.turns {
            Some(turns) => self.store_known(turns, store, &from, &mut body),
            None => self.access(line, &store.access, 0, store.sources.len(), site, &mut body),
        }
    }

    /// A row of doubles.
    fn write_doubles(&mut self, store: &Store, site: usize, from: [u8; 2]) {
        self.write_past_caches(&store.access, site, |this, past| {
            for (half, from) in from.into_iter().enumerate() {
                let at = Operand::Memory(SCRATCH, (half * this.vectors.bytes()) as i32);
                this.write_row(Some(half), from, at, past);
            }
        });
    }

    /// Eight bytes of each thread: the given part of what is stored.
    fn eights(&mut self, store: &Store, from: &[[u8; 2]], part: usize) -> [u8; 2] {
        if store.memory == MemoryWidth::Bits64 {
            return from[part];
        }
        self.pair_words([from[2 * part][0], from[2 * part + 1][0]]);
        [T3, T4]
    }

    /// Stores to offsets in `T0`, in the order of threads.
    fn scatter(&mut self, store: &Store, from: &[[u8; 2]]) {
        if store.memory == MemoryWidth::Bits32 && from.len() == 1 {
            return self.scattered(None, from[0][0], T0, 0);
        }
        self.half_of(T0, 1, T1);
        let double = store.memory == MemoryWidth::Bits64;
        for k in 0..if double { from.len() } else { from.len() / 2 } {
            let halves = self.eights(store, from, k);
            for (half, from) in halves.into_iter().enumerate() {
                self.scattered(Some(half), from, [T0, T1][half], k as i32 * 8);
            }
        }
    }

    /// The same through general registers, as AVX2 has no such instruction: offsets and values go to the stack, and from there to memory.
    fn one_by_one(&mut self, store: &Store, from: &[[u8; 2]]) {
        let double = store.memory == MemoryWidth::Bits64;
        let offsets = self.place();
        let to = self.on_stack(offsets, 0);
        self.vector(STORE_WORDS, T0, 0, to);
        if double || from.len() > 1 {
            // Eight bytes at a time. Accesses are aligned, so the parts of one thread's bytes are never in place of another part.
            for part in 0..if double { from.len() } else { from.len() / 2 } {
                let eights = self.eights(store, from, part);
                self.write_eights(eights, offsets, 8 * part as i32);
            }
            return self.free_place(offsets);
        }
        let values = self.place();
        let to = self.on_stack(values, 0);
        self.vector(STORE_WORDS, from[0][0], 0, to);
        for thread in 0..self.vectors.lanes() as i32 {
            let skip = self.load_offset(offsets, thread);
            self.asm.load_word(SCRATCH_3, General::Rsp, self.distance_on_stack(values) + thread * 4);
            self.asm.store_at(SCRATCH_3, SCRATCH, SCRATCH_2, 0, store.access.bytes);
            if let Some(skip) = skip {
                self.asm.land(skip);
            }
        }
        [values, offsets].into_iter().for_each(|place| self.free_place(place));
    }
}
