//! Templates of stores.
//!
//! A store is the last step of its run, and no load is before it: so every thread has read what the steps before the store read, as lanes of a
//! warp that go together do, and of several threads that write to one place the last one stays.

use super::assembler::{Length, Mask, Operand};
use super::emit::*;
use super::load::Shape;
use crate::code::{MemoryWidth, Store};

impl Writer<'_> {
    /// Writes a store. `site` is the number of its site.
    pub(super) fn store_to_memory(&mut self, line: &Line<'_>, store: &Store, site: usize) {
        let values = &line.sources[line.sources.len() - store.sources.len()..];
        let from: Vec<[u8; 2]> = values.iter().map(|value| self.read(*value)).collect();
        self.access(line, &store.access, store.sources.len(), site, &mut |this, shape| match (store.memory, shape) {
            (MemoryWidth::Bits8 | MemoryWidth::Bits16, Shape::Row) => {
                let narrow = if store.memory == MemoryWidth::Bits8 { TO_BYTES } else { TO_SHORTS };
                this.put(narrow, from[0][0], 0, 0);
            }
            // There are no instructions that write bytes here and there.
            (MemoryWidth::Bits8 | MemoryWidth::Bits16, _) => {
                let leave = this.asm.jump();
                this.leaves.push(leave);
            }
            (MemoryWidth::Bits32, Shape::Row) if from.len() == 1 => this.put(STORE_WORDS, from[0][0], 0, 0),
            (MemoryWidth::Bits64, Shape::Row) if from.len() == 1 => {
                this.put(STORE_DOUBLES, from[0][0], 0, 0);
                this.put(STORE_DOUBLES, from[0][1], 1, 64);
            }
            (MemoryWidth::Bits32, Shape::Row) if from.len() == 2 && !this.masked => {
                this.pair([from[0][0], from[1][0]]);
                this.put(STORE_WORDS, T3, 0, 0);
                this.put(STORE_WORDS, T4, 0, 64);
            }
            (_, shape) => {
                // Offsets of the shapes that need none.
                if shape != Shape::Any {
                    let by = if shape == Shape::Row { store.access.bytes } else { 0 };
                    let offsets = this.asm.vector(std::array::from_fn(|i| i as u32 * by));
                    this.copy(T0, offsets);
                }
                this.scatter(store, &from);
            }
        });
    }

    /// Stores a register, of the active threads of a half.
    fn put(&mut self, code: super::assembler::Code, from: u8, half: usize, distance: i32) {
        let mut mask = Mask::keeping(self.active().register);
        if self.masked && half == 1 {
            self.upper(K1, ACTIVE);
            mask.register = K1;
        }
        self.asm.evex(code, Length::Bits512, from, 0, Operand::Memory(SCRATCH, distance), mask);
    }

    /// The words of two registers in turn: those of eight threads in `T3`, those of the others in `T4`.
    fn pair(&mut self, from: [u8; 2]) {
        for (to, first) in [(T3, 0), (T4, 8)] {
            let places = self.asm.vector(std::array::from_fn(|i| first + i as u32 / 2 + 16 * (i as u32 % 2)));
            self.copy(to, places);
            self.vector(PERMUTE_WORDS, to, from[0], Operand::Register(from[1]));
        }
    }

    /// Stores to offsets in `T0`, in the order of threads.
    fn scatter(&mut self, store: &Store, from: &[[u8; 2]]) {
        if store.memory == MemoryWidth::Bits32 && from.len() == 1 {
            self.whole_mask(0);
            let to = Operand::Gathered(SCRATCH, T0, 0);
            return self.asm.evex(SCATTER_WORDS, Length::Bits512, from[0][0], 0, to, Mask::keeping(K0));
        }
        self.eight_of(T0, 1, T1);
        let double = store.memory == MemoryWidth::Bits64;
        for k in 0..if double { from.len() } else { from.len() / 2 } {
            let halves = if double {
                from[k]
            } else {
                self.pair([from[2 * k][0], from[2 * k + 1][0]]);
                [T3, T4]
            };
            for (half, from) in halves.into_iter().enumerate() {
                self.whole_mask(half);
                let to = Operand::Gathered(SCRATCH, [T0, T1][half], k as i32 * 8);
                self.asm.evex(SCATTER_DOUBLES, Length::Bits512, from, 0, to, Mask::keeping(K0));
            }
        }
    }
}
