//! What AVX2 and AVX-512 do in different ways: primitives that the templates are made of.
//!
//! | | AVX-512 | AVX2 |
//! |---|---|---|
//! | threads of a turn | 16 | 8 |
//! | vector registers | 32 | 16 |
//! | a truth: a predicate, or the result of a comparison | a bit of a mask register | a word of a vector register, all ones or zero |
//! | truths of half of the threads, for doubles | eight bits | four doubles of a vector register |
//! | the active threads | a mask register | the bytes of the mask, extended where they are needed; in straight regions a vector register |
//! | a constant | one element, which an instruction repeats | a whole vector |
//!
//! Most vector instructions are in both, under one code. A register of the templates has a number above those of AVX2, which names it by the
//! low four bits.

use super::assembler::{Code, Condition, General, Jump, Length, Mask, Operand, code};
use super::emit::*;
use super::known::{Compared, Relation};
use super::region::ENTERED;
use crate::level::Level;

/// The vector instructions that functions are made of.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Vectors {
    Avx2,
    Avx512,
}

impl Vectors {
    /// Those of a level, if there are templates for it.
    pub(crate) fn of(level: Level) -> Option<Vectors> {
        match level {
            Level::Avx2 => Some(Vectors::Avx2),
            Level::Avx512 => Some(Vectors::Avx512),
            _ => None,
        }
    }

    /// Threads of a turn.
    pub(crate) fn lanes(self) -> usize {
        self.bytes() / 4
    }

    /// Bytes of a vector register.
    pub(super) fn bytes(self) -> usize {
        match self {
            Vectors::Avx2 => 32,
            Vectors::Avx512 => 64,
        }
    }

    /// Vector registers of them that may be homes of regions, so that an instruction finds others for its operands and its result, which take
    /// this many.
    pub(super) fn homes(self, needed: usize) -> usize {
        let values = usize::from(self.values());
        values.saturating_sub(needed.max(values * 2 / 5))
    }

    /// Vector registers that values stay in. The five above them are for the templates.
    pub(super) fn values(self) -> u8 {
        match self {
            Vectors::Avx2 => 11,
            Vectors::Avx512 => 27,
        }
    }
}

/// A mask register to a general register.
const MASK_TO_GENERAL: Code = code(1, 0, 0, 0x93);
/// The second operand without the bits of the first.
const MASK_AND_NOT: Code = code(1, 0, 0, 0x42);

/// Shifts by an immediate, as the first operand.
pub(super) const RIGHT: u8 = 2;
pub(super) const RIGHT_SIGNED: u8 = 4;
pub(super) const LEFT: u8 = 6;

// Instructions that only AVX2 needs.
const EQUAL: Code = code(1, 1, 0, 0x76);
const GREATER: Code = code(1, 1, 0, 0x66);
const EQUAL_DOUBLES: Code = code(2, 1, 0, 0x29);
const GREATER_DOUBLES: Code = code(2, 1, 0, 0x37);
/// The second operand without the bits of the first.
pub(super) const AND_NOT: Code = code(1, 1, 0, 0xdf);
/// a = a * c + b.
const FUSED_132: Code = code(2, 1, 0, 0x98);
/// With truths in a vector register, whose number is an immediate.
const CHOOSE_WORDS: Code = code(3, 1, 0, 0x4a);
const CHOOSE_DOUBLES: Code = code(3, 1, 0, 0x4b);
const CHOOSE_BYTES: Code = code(3, 1, 0, 0x4c);
/// Sets the flags: zero, if no bit is in both operands.
const TEST_BITS: Code = code(2, 1, 0, 0x17);
const EXTRACT_HALF: Code = code(3, 1, 0, 0x39);
const INSERT_HALF: Code = code(3, 1, 0, 0x38);
/// Halves of two registers, as an immediate says.
const PERMUTE_HALVES: Code = code(3, 1, 0, 0x46);
/// The words of the second operand that the first one numbers.
const PERMUTE_AVX2: Code = code(2, 1, 0, 0x36);
/// The first bits of words to a general register.
const FIRST_BITS: Code = code(1, 0, 0, 0x50);
/// Sums of two words that are next to each other, of each 128 bits.
const ADD_PAIRS: Code = code(2, 1, 0, 0x02);
// Between memory and a vector register, where there are truths.
const LOAD_WORDS_MASKED: Code = code(2, 1, 0, 0x8c);
const LOAD_DOUBLES_MASKED: Code = code(2, 1, 1, 0x8c);
const BLEND_WORDS: Code = code(3, 1, 0, 0x02);
const STORE_WORDS_MASKED: Code = code(2, 1, 0, 0x8e);
const STORE_DOUBLES_MASKED: Code = code(2, 1, 1, 0x8e);
const WORDS_TO_UNSIGNED_SHORTS: Code = code(2, 1, 0, 0x2b);
const SHORTS_TO_UNSIGNED_BYTES: Code = code(1, 1, 0, 0x67);
/// Two words of each 128 bits of the first operand, then two of the second.
const SHUFFLE: Code = code(1, 0, 0, 0xc6);
const PERMUTE_QUARTERS: Code = code(3, 1, 1, 0x00);
// Words and doubles of two registers in turn, of the lower or the upper half of each 128 bits.
const LOWER_WORDS: Code = code(1, 1, 0, 0x62);
const UPPER_WORDS: Code = code(1, 1, 0, 0x6a);
const LOWER_DOUBLES: Code = code(1, 1, 0, 0x6c);
const UPPER_DOUBLES: Code = code(1, 1, 0, 0x6d);
const BYTES_TO_WORDS: Code = code(2, 1, 0, 0x21);
const BYTES_TO_DOUBLES: Code = code(2, 1, 0, 0x22);
const WORDS_TO_SHORTS: Code = code(1, 1, 0, 0x6b);
const SHORTS_TO_BYTES: Code = code(1, 1, 0, 0x63);
// Eight bytes between memory and a vector register.
const LOAD_EIGHT: Code = code(1, 2, 0, 0x7e);
const STORE_EIGHT: Code = code(1, 1, 0, 0xd6);
const STORE_EIGHT_UPPER: Code = code(1, 0, 0, 0x17);
/// Eight bytes of memory as the upper half of a quarter; the first operand has the lower one.
const LOAD_EIGHT_UPPER: Code = code(1, 0, 0, 0x16);
/// A quarter of a vector of AVX-512 to memory.
const EXTRACT_QUARTER: Code = code(3, 1, 0, 0x39);
/// A general register to the first word.
const FROM_GENERAL: Code = code(1, 1, 0, 0x6e);
/// As the code of AVX-512, which has another bit W.
const BROADCAST_DOUBLE_AVX2: Code = code(2, 1, 0, 0x59);

/// Of pairs in two registers, the first or the second words, for [`SHUFFLE`].
const FIRST_OF_PAIRS: [u8; 2] = [0x88, 0xdd];
/// Quarters in the order 0, 2, 1, 3.
const MIDDLE_CHANGED: u8 = 0xd8;

impl Writer<'_> {
    /// An instruction on whole vectors.
    pub(super) fn vector(&mut self, code: Code, d: u8, a: u8, b: Operand) {
        match self.vectors {
            Vectors::Avx2 => self.asm.vex(code, true, d, a, b),
            Vectors::Avx512 => self.asm.evex(code, Length::Bits512, d, a, b, Mask::ALL),
        }
    }

    /// An instruction on whole vectors with an immediate.
    pub(super) fn vector_by(&mut self, code: Code, d: u8, a: u8, b: Operand, by: u8) {
        self.vector(code, d, a, b);
        self.asm.immediate(by);
    }

    /// An instruction of AVX2 on half of a vector.
    fn half_vector(&mut self, code: Code, d: u8, a: u8, b: Operand) {
        self.asm.vex(code, false, d, a, b);
    }

    /// A copy of a register, or of what an operand names.
    pub(super) fn copy(&mut self, d: u8, from: Operand) {
        self.vector(MOVE_WORDS, d, 0, from);
    }

    /// A constant in a register. With AVX-512, a selection without a mask, as moves read no single element.
    pub(super) fn constant(&mut self, select: Code, d: u8, constant: Operand) {
        match self.vectors {
            Vectors::Avx2 => self.copy(d, constant),
            Vectors::Avx512 => self.vector(select, d, d, constant),
        }
    }

    /// An operand in a register: the given one, if it is in memory.
    fn in_register(&mut self, operand: Operand, through: u8) -> u8 {
        match operand {
            Operand::Register(register) => register,
            memory => {
                self.copy(through, memory);
                through
            }
        }
    }

    /// A shift by an immediate.
    pub(super) fn shift_by(&mut self, code: Code, operation: u8, d: u8, a: Operand, by: u8) {
        let a = match self.vectors {
            Vectors::Avx2 => Operand::Register(self.in_register(a, d)),
            Vectors::Avx512 => a,
        };
        self.vector_by(code, operation, d, a, by);
    }

    /// Half of the words of a register, as the last operand of an instruction that extends them; in the given register where they must be
    /// moved.
    pub(super) fn half_of(&mut self, register: u8, half: usize, through: u8) -> Operand {
        if half == 0 {
            return Operand::Register(register);
        }
        let extract = if self.vectors == Vectors::Avx2 { EXTRACT_HALF } else { EXTRACT };
        self.vector_by(extract, register, 0, Operand::Register(through), 1);
        Operand::Register(through)
    }

    /// The lower halves of two registers in one.
    pub(super) fn join(&mut self, d: u8, low: u8, high: u8) {
        let insert = if self.vectors == Vectors::Avx2 { INSERT_HALF } else { INSERT };
        self.vector_by(insert, d, low, Operand::Register(high), 1);
    }

    /// The first (0) or the second (1) words of pairs in two registers.
    fn words_of_pairs(&mut self, k: usize, d: u8, pairs: [u8; 2]) {
        self.vector_by(SHUFFLE, d, pairs[0], Operand::Register(pairs[1]), FIRST_OF_PAIRS[k]);
        self.vector_by(PERMUTE_QUARTERS, d, 0, Operand::Register(d), MIDDLE_CHANGED);
    }

    /// The low words of doubles.
    pub(super) fn low(&mut self, d: u8, doubles: [u8; 2]) {
        if self.vectors == Vectors::Avx2 {
            return self.words_of_pairs(0, d, doubles);
        }
        // Two instructions that each take half of them would take five steps of the one port that moves elements, this takes one.
        let places = self.asm.vector(std::array::from_fn(|i| 2 * i as u32));
        let to = if doubles.contains(&d) { T2 } else { d };
        self.copy(to, places);
        self.vector(PERMUTE_WORDS, to, doubles[0], Operand::Register(doubles[1]));
        if to != d {
            self.copy(d, Operand::Register(to));
        }
    }

    // Truths. Where a function takes a mask register and a vector register for them, it uses one of both.

    /// The register for truths.
    pub(super) fn truth(&self, mask: u8, vector: u8) -> u8 {
        if self.vectors == Vectors::Avx2 { vector } else { mask }
    }

    /// `yes` where there is a truth, otherwise `no`.
    pub(super) fn choose(&mut self, double: bool, d: u8, no: u8, yes: Operand, truths: u8) {
        if self.vectors == Vectors::Avx2 {
            return self.vector_by(if double { CHOOSE_DOUBLES } else { CHOOSE_WORDS }, d, no, yes, truths << 4);
        }
        let code = if double { SELECT_DOUBLES } else { SELECT };
        self.asm.evex(code, Length::Bits512, d, no, yes, Mask::keeping(truths));
    }

    /// An instruction whose result goes where there is a truth. AVX2 has the result in `T4` before.
    pub(super) fn where_true(&mut self, code: Code, double: bool, d: u8, a: u8, b: Operand, truths: u8) {
        if self.vectors == Vectors::Avx2 {
            self.vector(code, T4, a, b);
            return self.choose(double, d, d, Operand::Register(T4), truths);
        }
        self.asm.evex(code, Length::Bits512, d, a, b, Mask::keeping(truths));
    }

    /// Sets the flags: zero, if there is no truth.
    fn test_truths(&mut self, truths: u8) {
        match self.vectors {
            Vectors::Avx2 => self.vector(TEST_BITS, truths, 0, Operand::Register(truths)),
            Vectors::Avx512 => self.asm.vex(MASK_TEST, false, truths, 0, Operand::Register(truths)),
        }
    }

    /// A jump that is taken if there is no truth.
    pub(super) fn jump_if_none(&mut self, truths: u8) -> Jump {
        self.test_truths(truths);
        self.asm.jump_if(Condition::Zero)
    }

    /// A jump that is taken if there is one.
    fn jump_unless_none(&mut self, truths: u8) -> Jump {
        self.test_truths(truths);
        self.asm.jump_if(Condition::NotZero)
    }

    /// The truths of half of the threads, for their doubles: in the given register, or where they are.
    pub(super) fn half_of_truths(&mut self, truths: u8, half: usize, mask: u8, vector: u8) -> u8 {
        if self.vectors == Vectors::Avx2 {
            let half = self.half_of(truths, half, vector);
            self.vector(EXTEND_SIGNED, vector, 0, half);
            return vector;
        }
        if half == 0 {
            return truths;
        }
        self.asm.vex(MASK_SHIFT, false, mask, 0, Operand::Register(truths));
        self.asm.immediate(8);
        mask
    }

    /// The truths of both halves in one register.
    pub(super) fn join_truths(&mut self, d: u8, halves: [u8; 2]) {
        match self.vectors {
            Vectors::Avx2 => self.words_of_pairs(0, d, halves),
            Vectors::Avx512 => self.asm.vex(MASK_JOIN, true, d, halves[1], Operand::Register(halves[0])),
        }
    }

    /// `a` and `b`, `or`, …, each as an instruction of masks and as one of vectors.
    pub(super) fn truths(&mut self, of_masks: Code, of_vectors: Code, d: u8, a: u8, b: u8) {
        match self.vectors {
            Vectors::Avx2 => self.vector(of_vectors, d, a, Operand::Register(b)),
            Vectors::Avx512 => self.asm.vex(of_masks, true, d, a, Operand::Register(b)),
        }
    }

    pub(super) fn copy_truths(&mut self, d: u8, a: u8) {
        match self.vectors {
            Vectors::Avx2 => self.copy(d, Operand::Register(a)),
            Vectors::Avx512 => self.asm.vex(MASK_MOVE, false, d, 0, Operand::Register(a)),
        }
    }

    pub(super) fn not_truths(&mut self, d: u8, a: u8) {
        match self.vectors {
            Vectors::Avx2 => {
                let ones = self.asm.word(u32::MAX);
                self.vector(XOR, d, a, ones);
            }
            Vectors::Avx512 => self.asm.vex(MASK_NOT, false, d, 0, Operand::Register(a)),
        }
    }

    /// All threads as truths.
    fn all_truths(&mut self, mask: u8, vector: u8) -> u8 {
        let to = self.truth(mask, vector);
        match self.vectors {
            Vectors::Avx2 => self.vector(EQUAL, to, to, Operand::Register(to)),
            Vectors::Avx512 => self.asm.vex(MASK_ONES, true, to, to, Operand::Register(to)),
        }
        to
    }

    /// The active threads as truths: of all words, or of the doubles of a half. In a function for all threads, these.
    pub(super) fn active(&mut self, half: Option<usize>, mask: u8, vector: u8) -> u8 {
        match (self.vectors, half) {
            _ if !self.masked => self.all_truths(mask, vector),
            (Vectors::Avx512, half) => self.half_of_truths(ACTIVE, half.unwrap_or(0), mask, vector),
            (Vectors::Avx2, half) if self.active_words.is_some() => {
                let active = self.active_register();
                half.map_or(active, |half| self.half_of_truths(active, half, mask, vector))
            }
            (Vectors::Avx2, None) => {
                self.vector(BYTES_TO_WORDS, vector, 0, Operand::Memory(MASK, 0));
                vector
            }
            (Vectors::Avx2, Some(half)) => {
                self.vector(BYTES_TO_DOUBLES, vector, 0, Operand::Memory(MASK, 4 * half as i32));
                vector
            }
        }
    }

    /// The same in the given register, which an instruction may change.
    pub(super) fn own_active(&mut self, half: Option<usize>, mask: u8, vector: u8) -> u8 {
        let (active, own) = (self.active(half, mask, vector), self.truth(mask, vector));
        if active != own {
            self.copy_truths(own, active);
        }
        own
    }

    /// The start of a turn: finds out which threads are active; a jump that is taken if none is.
    pub(super) fn find_active(&mut self) -> Jump {
        let bytes = Operand::Memory(MASK, 0);
        match self.vectors {
            Vectors::Avx2 => self.asm.compare_at(MASK, 0, 0),
            Vectors::Avx512 => {
                self.asm.evex(MOVE_BYTES, Length::Bits128, T0, 0, bytes, Mask::ALL);
                self.asm.evex(BYTES_TO_MASK, Length::Bits128, ACTIVE, 0, Operand::Register(T0), Mask::ALL);
                self.asm.vex(MASK_TEST, false, ACTIVE, 0, Operand::Register(ACTIVE));
            }
        }
        self.asm.jump_if(Condition::Zero)
    }

    /// A jump that is taken unless all threads of the turn are active.
    pub(super) fn jump_unless_all_active(&mut self) -> Jump {
        if self.vectors == Vectors::Avx2 {
            self.asm.compare_at(MASK, 0, -1);
            return self.asm.jump_if(Condition::NotZero);
        }
        let ones = self.asm.vector([u32::MAX; 16]);
        self.asm.evex(MOVE_BYTES, Length::Bits128, T0, 0, Operand::Memory(MASK, 0), Mask::ALL);
        self.asm.evex(COMPARE, Length::Bits128, K0, T0, ones, Mask::ALL);
        self.asm.immediate(DIFFERENT);
        self.jump_unless_none(K0)
    }

    /// Truths from a column of predicates.
    pub(super) fn load_truths(&mut self, to: u8, from: Operand) {
        match self.vectors {
            Vectors::Avx2 => self.vector(BYTES_TO_WORDS, to, 0, from),
            Vectors::Avx512 => {
                self.asm.evex(MOVE_BYTES, Length::Bits128, T4, 0, from, Mask::ALL);
                self.asm.evex(BYTES_TO_MASK, Length::Bits128, to, 0, Operand::Register(T4), Mask::ALL);
            }
        }
    }

    /// Truths to a column of predicates, those of active threads.
    pub(super) fn store_truths(&mut self, from: u8, to: Operand) {
        if self.vectors == Vectors::Avx512 {
            let active = Mask::keeping(if self.masked { ACTIVE } else { 0 });
            self.asm.evex(MASK_TO_BYTES, Length::Bits128, T4, 0, Operand::Register(from), Mask::ALL);
            return self.asm.evex(STORE_BYTES, Length::Bits128, T4, 0, to, active);
        }
        self.truths_to_bytes(T4, from);
        if self.masked {
            self.half_vector(LOAD_EIGHT, T3, 0, to);
            match self.active_words {
                Some(active) => self.truths_to_bytes(T2, active),
                None => self.half_vector(LOAD_EIGHT, T2, 0, Operand::Memory(MASK, 0)),
            }
            self.half_vector(CHOOSE_BYTES, T4, T3, Operand::Register(T4));
            self.asm.immediate(T2 << 4);
        }
        self.half_vector(STORE_EIGHT, T4, 0, to);
    }

    /// Truths as eight bytes. AVX2.
    fn truths_to_bytes(&mut self, to: u8, truths: u8) {
        let upper = self.half_of(truths, 1, to);
        self.half_vector(WORDS_TO_SHORTS, to, truths, upper);
        self.half_vector(SHORTS_TO_BYTES, to, to, Operand::Register(to));
    }

    /// Truths on the stack.
    pub(super) fn spill_truths(&mut self, from: u8, to: Operand) {
        match self.vectors {
            Vectors::Avx2 => self.vector(STORE_WORDS, from, 0, to),
            Vectors::Avx512 => self.asm.vex(MASK_STORE, false, from, 0, to),
        }
    }

    pub(super) fn unspill_truths(&mut self, to: u8, from: Operand) {
        match self.vectors {
            Vectors::Avx2 => self.copy(to, from),
            Vectors::Avx512 => self.asm.vex(MASK_LOAD, false, to, 0, from),
        }
    }

    /// A register to a column, of the active threads; of doubles, those of a half. AVX2's stores of single elements are slow on some
    /// processors, and nobody else writes to a column: so what the other threads have is written again.
    pub(super) fn store_active(&mut self, half: Option<usize>, from: u8, to: Operand) {
        let code = if half.is_some() { STORE_DOUBLES } else { STORE_WORDS };
        if !self.masked {
            return self.vector(code, from, 0, to);
        }
        let active = self.active(half, K1, T4);
        match self.vectors {
            Vectors::Avx2 => {
                self.copy(T3, to);
                self.choose(half.is_some(), T3, T3, Operand::Register(from), active);
                self.vector(code, T3, 0, to);
            }
            Vectors::Avx512 => self.asm.evex(code, Length::Bits512, from, 0, to, Mask::keeping(active)),
        }
    }

    /// A register to another, of the active threads; of doubles, those of a half.
    pub(super) fn copy_active(&mut self, half: Option<usize>, to: u8, from: u8) {
        if !self.masked {
            return self.copy(to, Operand::Register(from));
        }
        let active = self.active(half, K1, T4);
        let code = if half.is_some() { MOVE_DOUBLES } else { MOVE_WORDS };
        match self.vectors {
            Vectors::Avx2 => self.choose(half.is_some(), to, to, Operand::Register(from), active),
            Vectors::Avx512 => {
                self.asm.evex(code, Length::Bits512, to, 0, Operand::Register(from), Mask::keeping(active));
            }
        }
    }

    // Masks of regions, in general registers and in memory: a bit for each thread, with AVX2 a byte.

    /// The mask of all threads of a turn.
    fn all_threads(&self) -> i32 {
        if self.vectors == Vectors::Avx2 { -1 } else { 0xffff }
    }

    /// The number of ones of the mask of all threads.
    pub(super) fn ones_of_all(&self) -> i32 {
        if self.vectors == Vectors::Avx2 { 64 } else { 16 }
    }

    /// Sets the flags: zero, if a mask has all threads. `SCRATCH` is not kept.
    pub(super) fn compare_with_all(&mut self, mask: General) {
        self.asm.copy(SCRATCH, mask);
        self.asm.xor(SCRATCH, self.all_threads());
    }

    /// A word of the state becomes the mask of all threads.
    pub(super) fn set_all_at(&mut self, distance: i32) {
        self.asm.set_at(STATE, distance, self.all_threads());
    }

    /// The mask of the turn, whose bytes are at `MASK`; with AVX2, where the state tells.
    pub(super) fn turn_mask(&mut self, to: General) {
        match self.vectors {
            Vectors::Avx2 => {
                self.asm.load(to, STATE, ENTERED as i32 * 8);
                self.asm.load(to, to, 0);
            }
            Vectors::Avx512 => {
                self.asm.evex(MOVE_BYTES, Length::Bits128, T0, 0, Operand::Memory(MASK, 0), Mask::ALL);
                self.asm.evex(BYTES_TO_MASK, Length::Bits128, ACTIVE, 0, Operand::Register(T0), Mask::ALL);
                self.mask_to_general(to, ACTIVE);
            }
        }
    }

    fn mask_to_general(&mut self, to: General, mask: u8) {
        self.asm.vex(MASK_TO_GENERAL, false, to as u8, 0, Operand::Register(mask));
    }

    /// Truths as a mask.
    fn truths_to_general(&mut self, to: General, truths: u8) {
        if self.vectors == Vectors::Avx512 {
            return self.mask_to_general(to, truths);
        }
        self.truths_to_bytes(T4, truths);
        self.first_to_general(MOVE_FIRST_DOUBLE, to, T4);
    }

    /// Of the active threads, whose mask is a word of the state, those where a truth is `when`, in `SCRATCH_3`, and the others, in `SCRATCH_2`.
    /// With AVX-512, the first one is also in a mask register, which is returned.
    pub(super) fn divide(&mut self, truths: u8, when: bool, own: i32) -> Option<u8> {
        if self.vectors == Vectors::Avx512 {
            let codes = if when { [MASK_AND, MASK_AND_NOT] } else { [MASK_AND_NOT, MASK_AND] };
            for ((code, mask), to) in codes.into_iter().zip([K0, K1]).zip([SCRATCH_3, SCRATCH_2]) {
                self.asm.vex(code, true, mask, truths, Operand::Register(ACTIVE));
                self.mask_to_general(to, mask);
            }
            return Some(K0);
        }
        self.truths_to_general(SCRATCH_3, truths);
        self.asm.load(SCRATCH_2, STATE, own);
        if !when {
            self.asm.xor(SCRATCH_3, -1);
        }
        self.asm.and_general(SCRATCH_3, SCRATCH_2);
        self.asm.xor_general(SCRATCH_2, SCRATCH_3);
        None
    }

    /// The same of all threads of the turn.
    pub(super) fn divide_all(&mut self, truths: u8, when: bool) {
        self.truths_to_general(SCRATCH_3, truths);
        let all = self.all_threads();
        if !when {
            self.asm.xor(SCRATCH_3, all);
        }
        self.asm.copy(SCRATCH_2, SCRATCH_3);
        self.asm.xor(SCRATCH_2, all);
    }

    /// A jump that is taken unless all threads have a truth, or unless none has. Behind it, [`jump_if_some_truths`](Self::jump_if_some_truths)
    /// asks on.
    pub(super) fn jump_unless_truths(&mut self, truths: u8, all: bool) -> Jump {
        match self.vectors {
            Vectors::Avx2 => {
                self.vector(FIRST_BITS, SCRATCH as u8, 0, Operand::Register(truths));
                match all {
                    true => self.asm.compare(SCRATCH, 0xff),
                    false => self.asm.test_self(SCRATCH),
                }
                self.asm.jump_if(Condition::NotZero)
            }
            Vectors::Avx512 => {
                self.asm.vex(MASK_TEST, false, truths, 0, Operand::Register(truths));
                self.asm.jump_if(if all { Condition::NotBelow } else { Condition::NotZero })
            }
        }
    }

    /// A jump that is taken if some threads have a truth and others have not, where [`jump_unless_truths`](Self::jump_unless_truths) jumped to.
    pub(super) fn jump_if_some_truths(&mut self, unless_all: bool) -> Jump {
        match self.vectors {
            Vectors::Avx2 => {
                match unless_all {
                    true => self.asm.test_self(SCRATCH),
                    false => self.asm.compare(SCRATCH, 0xff),
                }
                self.asm.jump_if(Condition::NotZero)
            }
            Vectors::Avx512 => self.asm.jump_if(if unless_all { Condition::NotZero } else { Condition::NotBelow }),
        }
    }

    /// Makes the threads of a word of the state the active ones.
    pub(super) fn set_active(&mut self, distance: i32) {
        match self.vectors {
            Vectors::Avx2 => self.asm.address(MASK, STATE, distance),
            Vectors::Avx512 => self.unspill_truths(ACTIVE, Operand::Memory(STATE, distance)),
        }
    }

    /// The next questions where words of all threads may be asked, active or not: jumps that are taken if they are the same, and if they are in
    /// a row. `T1` is then that of the first thread in all places.
    pub(super) fn jumps_if_regular(&mut self, words: u8, row: Operand) -> [Jump; 2] {
        self.vector(BROADCAST_WORD, T1, 0, Operand::Register(words));
        self.vector(SUB, T2, words, Operand::Register(T1));
        match self.vectors {
            Vectors::Avx2 => {
                self.vector(TEST_BITS, T2, 0, Operand::Register(T2));
                let alike = self.asm.jump_if(Condition::Zero);
                self.vector(XOR, T2, T2, row);
                self.vector(TEST_BITS, T2, 0, Operand::Register(T2));
                [alike, self.asm.jump_if(Condition::Zero)]
            }
            Vectors::Avx512 => {
                self.vector(TEST, K0, T2, Operand::Register(T2));
                let alike = self.jump_if_none(K0);
                self.vector_by(COMPARE, K0, T2, row, DIFFERENT);
                [alike, self.jump_if_none(K0)]
            }
        }
    }

    /// Pairs of words of 64 bits in memory become zero.
    pub(super) fn zero_pairs(&mut self, base: General, distance: i32, pairs: usize) {
        if pairs > 0 {
            self.vector(XOR, T0, T0, Operand::Register(T0));
        }
        for pair in (0..pairs).step_by(2) {
            let at = Operand::Memory(base, distance + pair as i32 * 16);
            match (self.vectors, pair + 1 < pairs) {
                (Vectors::Avx2, two) => self.asm.vex(STORE_WORDS, two, T0, 0, at),
                (_, true) => self.asm.evex(STORE_WORDS, Length::Bits256, T0, 0, at, Mask::ALL),
                (_, false) => self.asm.evex(STORE_WORDS, Length::Bits128, T0, 0, at, Mask::ALL),
            }
        }
    }

    // Masks of straight regions: those of the active threads are in a register.

    /// The register of the active threads as truths.
    pub(super) fn active_register(&self) -> u8 {
        self.active_words.unwrap_or(ACTIVE)
    }

    /// All threads of the turn become active.
    pub(super) fn activate_all(&mut self) {
        let active = self.active_register();
        self.all_truths(active, active);
    }

    /// The threads of a mask in a word of the state become active.
    pub(super) fn activate(&mut self, distance: i32) {
        match self.active_words {
            Some(active) => self.vector(BYTES_TO_WORDS, active, 0, Operand::Memory(STATE, distance)),
            None => self.set_active(distance),
        }
    }

    /// The threads of the turn become active, as [`turn_mask`](Self::turn_mask) has found them.
    pub(super) fn activate_turn(&mut self) {
        if let Some(active) = self.active_words {
            self.asm.load(SCRATCH, STATE, ENTERED as i32 * 8);
            self.vector(BYTES_TO_WORDS, active, 0, Operand::Memory(SCRATCH, 0));
        }
    }

    /// The active threads as a mask as regions have it in memory.
    pub(super) fn active_to_general(&mut self, to: General) {
        self.truths_to_general(to, self.active_register());
    }

    /// Of the active threads, those where a truth is `when` are not active any more. They are told, as truths.
    pub(super) fn part_from_active(&mut self, truths: u8, when: bool) -> u8 {
        let (parted, active) = (self.truth(K0, T0), self.active_register());
        let (of_masks, of_vectors) = if when { (MASK_AND, AND) } else { (MASK_AND_NOT, AND_NOT) };
        self.truths(of_masks, of_vectors, parted, truths, active);
        self.keep_active_unless(truths, when);
        parted
    }

    /// The number of truths, in units of one for each thread, in `SCRATCH`; the truths as bits in `SCRATCH_3`.
    fn count_truths(&mut self, truths: u8) {
        match self.vectors {
            Vectors::Avx2 => self.vector(FIRST_BITS, SCRATCH_3 as u8, 0, Operand::Register(truths)),
            Vectors::Avx512 => self.mask_to_general(SCRATCH_3, truths),
        }
        self.asm.count_ones(SCRATCH, SCRATCH_3);
    }

    /// The register that counts for a word of the state, if there is one.
    fn counter(&self, distance: i32) -> Option<u8> {
        self.counters.iter().find(|(word, _)| *word == distance).map(|(_, counter)| *counter)
    }

    /// Adds the number of active threads to a word of the state, or to the register that counts for it.
    pub(super) fn add_active(&mut self, distance: i32) {
        let active = self.active_register();
        if let Some(counter) = self.counter(distance) {
            // Truths are -1.
            return self.vector(SUB, counter, counter, Operand::Register(active));
        }
        self.count_truths(active);
        self.asm.add_to(SCRATCH, STATE, distance);
    }

    /// The same, and a jump that is taken if there are none.
    pub(super) fn add_active_or_jump(&mut self, distance: i32) -> Jump {
        self.add_active(distance);
        if self.counter(distance).is_some() {
            self.vector(FIRST_BITS, SCRATCH_3 as u8, 0, Operand::Register(self.active_register()));
        }
        self.asm.test_self(SCRATCH_3);
        self.asm.jump_if(Condition::Zero)
    }

    /// The registers that count start at zero.
    pub(super) fn start_counters(&mut self) {
        for (_, counter) in self.counters.clone() {
            self.vector(XOR, counter, counter, Operand::Register(counter));
        }
    }

    /// Adds what registers have counted to the words of the state. Each word of a register has counted one thread at most in each round and in
    /// each turn, which are not so many that it wraps.
    pub(super) fn end_counters(&mut self) {
        for (distance, counter) in std::mem::take(&mut self.counters) {
            let upper = self.half_of(counter, 1, T0);
            self.vector(ADD, T0, counter, upper);
            self.vector(ADD_PAIRS, T0, T0, Operand::Register(T0));
            self.vector(ADD_PAIRS, T0, T0, Operand::Register(T0));
            self.first_to_general(MOVE_FIRST, SCRATCH, T0);
            self.asm.add_to(SCRATCH, STATE, distance);
        }
    }

    /// The active threads of a straight region without those where a truth is `when`.
    pub(super) fn keep_active_unless(&mut self, truths: u8, when: bool) {
        let active = self.active_register();
        let (of_masks, of_vectors) = if when { (MASK_AND_NOT, AND_NOT) } else { (MASK_AND, AND) };
        self.truths(of_masks, of_vectors, active, truths, active);
    }

    /// Adds the number of threads of a turn that starts, which are active, and whose mask is in a general register as regions have it in memory.
    pub(super) fn start_threads(&mut self, mask: General, distance: i32) {
        if self.counter(distance).is_some() {
            return self.add_active(distance);
        }
        self.asm.count_ones(SCRATCH, mask);
        if self.vectors == Vectors::Avx2 {
            self.asm.shift_right(SCRATCH, 3);
        }
        self.asm.add_to(SCRATCH, STATE, distance);
    }

    /// Adds truths to a mask in a word of the state.
    pub(super) fn or_truths(&mut self, truths: u8, distance: i32) {
        self.truths_to_general(SCRATCH_2, truths);
        self.asm.or_to(SCRATCH_2, STATE, distance);
    }

    /// Words of one register to another where there are truths.
    pub(super) fn copy_where(&mut self, to: u8, from: u8, truths: u8) {
        match self.vectors {
            Vectors::Avx2 => self.choose(false, to, to, Operand::Register(from), truths),
            Vectors::Avx512 => {
                let mask = Mask::keeping(truths);
                self.asm.evex(MOVE_WORDS, Length::Bits512, to, 0, Operand::Register(from), mask);
            }
        }
    }

    /// Makes other threads active for what is written by the body.
    pub(super) fn with_active(&mut self, truths: u8, body: &mut dyn FnMut(&mut Self)) {
        let active = self.active_register();
        // No value is in a mask register at the end of a part.
        let kept = self.truth(*PREDICATES.start(), T1);
        self.copy_truths(kept, active);
        self.copy_truths(active, truths);
        body(self);
        self.copy_truths(active, kept);
    }

    // Memory.

    /// One double in all places.
    pub(super) fn broadcast_double(&mut self, d: u8, from: Operand) {
        let code = if self.vectors == Vectors::Avx2 { BROADCAST_DOUBLE_AVX2 } else { BROADCAST_DOUBLE };
        self.vector(code, d, 0, from);
    }

    /// A double in memory as the last operand of instructions that read it for all threads; in the given register where it must be there.
    pub(super) fn repeated(&mut self, base: General, distance: i32, through: u8) -> Operand {
        if self.vectors == Vectors::Avx512 {
            return Operand::Broadcast(base, distance);
        }
        self.broadcast_double(through, Operand::Memory(base, distance));
        Operand::Register(through)
    }

    /// The word of a general register in all places.
    pub(super) fn broadcast_general(&mut self, d: u8, from: General) {
        let from = Operand::Register(from as u8);
        if self.vectors == Vectors::Avx512 {
            return self.vector(BROADCAST_GENERAL, d, 0, from);
        }
        self.half_vector(FROM_GENERAL, d, 0, from);
        self.vector(BROADCAST_WORD, d, 0, Operand::Register(d));
    }

    /// The first word or double of a register, by the code of the move, to a general register.
    pub(super) fn first_to_general(&mut self, code: Code, to: General, from: u8) {
        let to = Operand::Register(to as u8);
        match self.vectors {
            Vectors::Avx2 => self.half_vector(code, from, 0, to),
            Vectors::Avx512 => self.asm.evex(code, Length::Bits128, from, 0, to, Mask::ALL),
        }
    }

    /// Where words in `T0` are not below others.
    pub(super) fn not_below(&mut self, bound: Operand) -> u8 {
        let truths = self.truth(K0, T2);
        match self.vectors {
            Vectors::Avx2 => {
                self.vector(MAX, T2, T0, bound);
                self.vector(EQUAL, T2, T2, Operand::Register(T0));
            }
            Vectors::Avx512 => self.vector_by(COMPARE, truths, T0, bound, NOT_BELOW),
        }
        truths
    }

    /// Offsets as doubles in `T0` and `T1` become words in `T0`; where they are not below a bound in memory, which is at most 2^31.
    pub(super) fn words_below(&mut self, bound: (General, i32)) -> u8 {
        let (base, distance) = bound;
        if self.vectors == Vectors::Avx2 {
            self.words_of_pairs(1, T3, [T0, T1]);
            self.words_of_pairs(0, T0, [T0, T1]);
            self.vector(BROADCAST_WORD, T1, 0, Operand::Memory(base, distance));
            let truths = self.not_below(Operand::Register(T1));
            self.vector(OR, truths, truths, Operand::Register(T3));
            return truths;
        }
        for (half, truths) in [(T0, K0), (T1, K1)] {
            self.vector_by(COMPARE_DOUBLES, truths, half, Operand::Broadcast(base, distance), NOT_BELOW);
        }
        self.join_truths(K0, [K0, K1]);
        self.low(T0, [T0, T1]);
        K0
    }

    /// Adds the truths of words in `T0` that a distance brings to the same bound or beyond it, where the distance does not wrap.
    pub(super) fn or_ahead_beyond(&mut self, truths: u8, span: u32, bound: (General, i32)) {
        let (span, (base, distance)) = (self.asm.word(span), bound);
        if self.vectors == Vectors::Avx512 {
            self.vector(ADD, T1, T0, span);
            self.vector_by(COMPARE, K1, T1, Operand::Broadcast(base, distance), NOT_BELOW);
            return self.truths(MASK_OR, OR, truths, truths, K1);
        }
        self.vector(BROADCAST_WORD, T1, 0, Operand::Memory(base, distance));
        self.vector(ADD, T3, T0, span);
        self.vector(MAX, T1, T1, Operand::Register(T3));
        self.vector(EQUAL, T1, T1, Operand::Register(T3));
        self.truths(MASK_OR, OR, truths, truths, T1);
    }

    /// Stores eight bytes of each thread to offsets on the stack, at a distance: those of four threads from each register. AVX2.
    pub(super) fn write_eights(&mut self, from: [u8; 2], offsets: usize, distance: i32) {
        let mut thread = 0;
        for from in from {
            for quarter in 0..2 {
                if quarter == 1 {
                    self.half_of(from, 1, T1);
                }
                for code in [STORE_EIGHT, STORE_EIGHT_UPPER] {
                    let skip = self.load_offset(offsets, thread);
                    let to = Operand::Gathered(SCRATCH, SCRATCH_2 as u8, distance);
                    self.half_vector(code, if quarter == 0 { from } else { T1 }, 0, to);
                    if let Some(skip) = skip {
                        self.asm.land(skip);
                    }
                    thread += 1;
                }
            }
        }
    }

    /// The offset of a thread from the stack; a jump that is taken if the thread is not active.
    pub(super) fn load_offset(&mut self, offsets: usize, thread: i32) -> Option<Jump> {
        let skip = self.masked.then(|| {
            self.asm.compare_byte_with_zero(MASK, thread);
            self.asm.jump_if(Condition::Zero)
        });
        self.asm.load_word(SCRATCH_2, General::Rsp, self.distance_on_stack(offsets) + thread * 4);
        skip
    }

    /// Sets the flags: zero, unless there is a truth for an active thread, or one of some low bits of `T0`. With AVX2, every bit of the truths
    /// counts.
    pub(super) fn test_active(&mut self, truths: u8, low_bits: u32) {
        let low = (low_bits != 0).then(|| self.asm.word(low_bits));
        match self.vectors {
            Vectors::Avx2 => {
                if let Some(low) = low {
                    self.vector(AND, T3, T0, low);
                    self.vector(OR, truths, truths, Operand::Register(T3));
                }
                let active = if self.masked { self.active(None, K1, T3) } else { truths };
                self.vector(TEST_BITS, truths, 0, Operand::Register(active));
            }
            Vectors::Avx512 => {
                if let Some(low) = low {
                    self.vector(TEST, K1, T0, low);
                    self.asm.vex(MASK_OR, true, truths, truths, Operand::Register(K1));
                }
                if self.masked {
                    self.asm.vex(MASK_AND, true, truths, truths, Operand::Register(ACTIVE));
                }
                self.asm.vex(MASK_TEST, false, truths, 0, Operand::Register(truths));
            }
        }
    }

    /// A jump that is taken unless the doubles in `T0` and `T1` are these constants.
    pub(super) fn jump_unless_doubles(&mut self, constants: [Operand; 2]) -> Jump {
        for ((register, truths), constant) in [(T0, K0), (T1, K1)].into_iter().zip(constants) {
            match self.vectors {
                Vectors::Avx2 => self.vector(XOR, register, register, constant),
                Vectors::Avx512 => self.vector_by(COMPARE_DOUBLES, truths, register, constant, DIFFERENT),
            }
        }
        match self.vectors {
            Vectors::Avx2 => {
                self.vector(OR, T0, T0, Operand::Register(T1));
                self.vector(TEST_BITS, T0, 0, Operand::Register(T0));
            }
            Vectors::Avx512 => {
                self.asm.vex(MASK_OR, true, K0, K0, Operand::Register(K1));
                self.asm.vex(MASK_TEST, false, K0, 0, Operand::Register(K0));
            }
        }
        self.asm.jump_if(Condition::NotZero)
    }

    /// A jump that is taken if the words in `T0` of all active threads are the same. `T1` is that of the first active thread in all places, and
    /// `T2` how far the others are from it.
    pub(super) fn jump_if_alike(&mut self) -> Jump {
        match (self.vectors, self.masked) {
            (_, false) => self.vector(BROADCAST_WORD, T1, 0, Operand::Register(T0)),
            (Vectors::Avx512, true) => {
                self.asm.evex(COMPRESS, Length::Bits512, T0, 0, Operand::Register(T1), Mask::zeroing(ACTIVE));
                self.vector(BROADCAST_WORD, T1, 0, Operand::Register(T1));
            }
            // The number of the first active thread stays in `T4`, and the active ones in `T3`.
            (Vectors::Avx2, true) => {
                self.own_active(None, K0, T3);
                self.vector(FIRST_BITS, SCRATCH as u8, 0, Operand::Register(T3));
                self.asm.count_zeros(SCRATCH);
                self.broadcast_general(T4, SCRATCH);
                self.vector(PERMUTE_AVX2, T1, T4, Operand::Register(T0));
            }
        }
        self.vector(SUB, T2, T0, Operand::Register(T1));
        self.jump_if_zero(T2)
    }

    /// A jump that is taken unless the words of a register follow one another; all threads are active. `T1` is the first one in all places.
    pub(super) fn jump_unless_counting(&mut self, words: u8) -> Jump {
        let counting = self.asm.vector(std::array::from_fn(|i| i as u32));
        self.vector(BROADCAST_WORD, T1, 0, Operand::Register(words));
        self.vector(SUB, T2, words, Operand::Register(T1));
        match self.vectors {
            Vectors::Avx2 => self.vector(XOR, T2, T2, counting),
            Vectors::Avx512 => self.vector_by(COMPARE, K0, T2, counting, DIFFERENT),
        }
        self.jump_unless_none(self.truth(K0, T2))
    }

    /// A jump that is taken if some words of a register have some bits.
    pub(super) fn jump_if_any_bits(&mut self, words: u8, bits: u32) -> Jump {
        let bits = self.asm.word(bits);
        if self.vectors == Vectors::Avx2 {
            self.vector(TEST_BITS, words, 0, bits);
            return self.asm.jump_if(Condition::NotZero);
        }
        self.vector(TEST, K0, words, bits);
        self.jump_unless_none(K0)
    }

    /// Where words in `T0` are not below a bound in memory, as [`not_below`](Self::not_below).
    pub(super) fn not_below_memory(&mut self, (base, distance): (General, i32)) -> u8 {
        if self.vectors == Vectors::Avx512 {
            return self.not_below(Operand::Broadcast(base, distance));
        }
        self.vector(BROADCAST_WORD, T1, 0, Operand::Memory(base, distance));
        self.not_below(Operand::Register(T1))
    }

    /// The next question: a jump that is taken if active threads are in a row, by their numbers times a constant. `T1` is then where the first
    /// thread of the turn is, or would be.
    pub(super) fn jump_if_in_a_row(&mut self, row: Operand) -> Jump {
        match (self.vectors, self.masked) {
            (Vectors::Avx2, masked) => {
                if masked {
                    self.vector(PERMUTE_AVX2, T4, T4, row);
                    self.vector(SUB, T1, T1, Operand::Register(T4));
                    self.vector(SUB, T2, T0, Operand::Register(T1));
                }
                self.vector(XOR, T2, T2, row);
                return self.jump_if_zero(T2);
            }
            (Vectors::Avx512, false) => self.vector_by(COMPARE, K0, T2, row, DIFFERENT),
            (Vectors::Avx512, true) => {
                let active = Mask::keeping(ACTIVE);
                self.copy(T2, row);
                self.asm.evex(COMPRESS, Length::Bits512, T2, 0, Operand::Register(T3), active);
                self.vector(BROADCAST_WORD, T3, 0, Operand::Register(T3));
                self.vector(SUB, T1, T1, Operand::Register(T3));
                self.vector(SUB, T2, T0, Operand::Register(T2));
                self.asm.evex(COMPARE, Length::Bits512, K0, T2, Operand::Register(T1), active);
                self.asm.immediate(DIFFERENT);
            }
        }
        self.jump_if_none(K0)
    }

    /// A jump that is taken if the words of active threads are zero. With AVX2, these are in `T3`.
    fn jump_if_zero(&mut self, words: u8) -> Jump {
        match self.vectors {
            Vectors::Avx2 => {
                let active = if self.masked { T3 } else { words };
                self.vector(TEST_BITS, words, 0, Operand::Register(active));
                self.asm.jump_if(Condition::Zero)
            }
            Vectors::Avx512 => {
                let active = Mask::keeping(if self.masked { ACTIVE } else { 0 });
                self.asm.evex(TEST, Length::Bits512, K0, words, Operand::Register(words), active);
                self.jump_if_none(K0)
            }
        }
    }

    /// Whether a masked access may reach a row of elements of these bytes, and leave the memory of other threads alone.
    pub(super) fn has_masked_rows(&self, bytes: u32) -> bool {
        self.vectors == Vectors::Avx512 || bytes >= 4
    }

    /// Reads a row of words, or half of a row of doubles: of active threads.
    pub(super) fn read_row(&mut self, half: Option<usize>, d: u8, at: Operand) {
        let code = if half.is_some() { MOVE_DOUBLES } else { MOVE_WORDS };
        if !self.masked {
            return self.vector(code, d, 0, at);
        }
        let active = self.active(half, K1, T4);
        match self.vectors {
            Vectors::Avx2 => {
                let code = if half.is_some() { LOAD_DOUBLES_MASKED } else { LOAD_WORDS_MASKED };
                self.vector(code, d, active, at);
            }
            Vectors::Avx512 => self.asm.evex(code, Length::Bits512, d, 0, at, Mask::zeroing(active)),
        }
    }

    /// Reads a row of bytes or shorts and extends them: of active threads, or with AVX2 of all, which [`has_masked_rows`](Self::has_masked_rows)
    /// is about.
    pub(super) fn read_short_row(&mut self, code: Code, d: u8, at: Operand) {
        match self.vectors {
            Vectors::Avx512 if self.masked => self.asm.evex(code, Length::Bits512, d, 0, at, Mask::zeroing(ACTIVE)),
            _ => self.vector(code, d, 0, at),
        }
    }

    /// Writes a row of words, or half of a row of doubles: of active threads, or of all and past the caches.
    pub(super) fn write_row(&mut self, half: Option<usize>, from: u8, at: Operand, past_caches: bool) {
        if past_caches {
            return self.vector(STORE_PAST_CACHES, from, 0, at);
        }
        if self.masked && self.vectors == Vectors::Avx2 {
            let active = self.active(half, K1, T4);
            let code = if half.is_some() { STORE_DOUBLES_MASKED } else { STORE_WORDS_MASKED };
            return self.vector(code, from, active, at);
        }
        self.store_active(half, from, at);
    }

    /// Writes the low bytes or shorts of words as a row: with AVX2, of all threads.
    pub(super) fn write_short_row(&mut self, bytes: u32, from: u8, at: Operand) {
        if self.vectors == Vectors::Avx512 {
            let code = if bytes == 1 { TO_BYTES } else { TO_SHORTS };
            let active = Mask::keeping(if self.masked { ACTIVE } else { 0 });
            return self.asm.evex(code, Length::Bits512, from, 0, at, active);
        }
        let low = self.asm.word((1 << (8 * bytes)) - 1);
        self.vector(AND, T1, from, low);
        let upper = self.half_of(T1, 1, T2);
        self.half_vector(WORDS_TO_UNSIGNED_SHORTS, T1, T1, upper);
        if bytes == 1 {
            self.half_vector(SHORTS_TO_UNSIGNED_BYTES, T1, T1, Operand::Register(T1));
            return self.half_vector(STORE_EIGHT, T1, 0, at);
        }
        self.half_vector(STORE_WORDS, T1, 0, at);
    }

    /// The first and the second words of pairs in two registers.
    pub(super) fn part_words(&mut self, pairs: [u8; 2], d: [u8; 2]) {
        for (k, d) in d.into_iter().enumerate() {
            if self.vectors == Vectors::Avx2 {
                self.words_of_pairs(k, d, pairs);
                continue;
            }
            let places = self.asm.vector(std::array::from_fn(|i| (2 * i + k) as u32));
            self.copy(d, places);
            self.vector(PERMUTE_WORDS, d, pairs[0], Operand::Register(pairs[1]));
        }
    }

    /// The words of two registers in turn: those of the first half of the threads in `T3`, those of the others in `T4`.
    pub(super) fn pair_words(&mut self, from: [u8; 2]) {
        let second = Operand::Register(from[1]);
        if self.vectors == Vectors::Avx2 {
            self.vector(LOWER_WORDS, T1, from[0], second);
            self.vector(UPPER_WORDS, T2, from[0], second);
            // The lower halves of both, and the upper ones.
            self.join(T3, T1, T2);
            return self.vector_by(PERMUTE_HALVES, T4, T1, Operand::Register(T2), 0x31);
        }
        for (to, first) in [(T3, 0), (T4, 8)] {
            let places = self.asm.vector(std::array::from_fn(|i| first + i as u32 / 2 + 16 * (i as u32 % 2)));
            self.copy(to, places);
            self.vector(PERMUTE_WORDS, to, from[0], second);
        }
    }

    /// The four words of each thread from a distance behind the address in the scratch register on, where threads are in a row.
    pub(super) fn part_row_of_four(&mut self, d: [u8; 4], ahead: i32) {
        let at = |block: usize, bytes: usize| Operand::Memory(SCRATCH, (block * bytes) as i32 + ahead);
        let blocks = [T0, T1, T2, T3];
        if self.vectors == Vectors::Avx512 {
            blocks.into_iter().enumerate().for_each(|(block, to)| self.copy(to, at(block, 64)));
            for (k, d) in d.into_iter().enumerate() {
                // The element of eight threads in the lower half.
                let places = self.asm.vector(std::array::from_fn(|i| (4 * i + k) as u32 & 31));
                self.copy(T4, places);
                self.vector(PERMUTE_WORDS, T4, T2, Operand::Register(T3));
                self.copy(d, places);
                self.vector(PERMUTE_WORDS, d, T0, Operand::Register(T1));
                self.join(d, d, T4);
            }
            return;
        }
        // The words of a thread, and of the fourth after it.
        for (thread, to) in blocks.into_iter().enumerate() {
            self.half_vector(MOVE_WORDS, to, 0, at(thread, 16));
            self.vector_by(INSERT_HALF, to, to, at(thread + 4, 16), 1);
        }
        for (code, d) in [LOWER_WORDS, UPPER_WORDS].into_iter().zip(d.chunks_exact(2)) {
            self.vector(code, T4, T0, Operand::Register(T1));
            self.vector(code, d[1], T2, Operand::Register(T3));
            self.vector(LOWER_DOUBLES, d[0], T4, Operand::Register(d[1]));
            self.vector(UPPER_DOUBLES, d[1], T4, Operand::Register(d[1]));
        }
    }

    /// The first (0) or the second (1) doubles of pairs in `T0` and `T1`.
    pub(super) fn doubles_of_pairs(&mut self, k: usize, d: u8) {
        if self.vectors == Vectors::Avx2 {
            let code = if k == 0 { LOWER_DOUBLES } else { UPPER_DOUBLES };
            self.vector(code, d, T0, Operand::Register(T1));
            return self.vector_by(PERMUTE_QUARTERS, d, 0, Operand::Register(d), MIDDLE_CHANGED);
        }
        let places = |i: usize| if i.is_multiple_of(2) { (i + k) as u32 } else { 0 };
        let places = self.asm.vector(std::array::from_fn(places));
        self.copy(d, places);
        self.vector(PERMUTE_DOUBLES, d, T0, Operand::Register(T1));
    }

    // Pieces: eight bytes of each thread at distances from the scratch register that are constants, where all threads are active.

    /// Reads the pieces of all threads: first and second words, or both halves of doubles. False if a gather is better, and nothing is written;
    /// `has_room` says whether bytes from a distance on are in the memory.
    pub(super) fn read_pieces(
        &mut self,
        words: bool,
        d: [u8; 2],
        at: &[i32],
        has_room: &dyn Fn(i32, i32) -> bool,
    ) -> bool {
        if self.vectors == Vectors::Avx512 {
            let ways: Option<Vec<Way>> = at.chunks_exact(8).map(|at| Way::of(at, has_room)).collect();
            let Some(ways) = ways else { return false };
            let to = if words { [T2, T3] } else { d };
            for ((at, way), to) in at.chunks_exact(8).zip(ways).zip(to) {
                self.read_eight(to, at, way);
            }
            if words {
                self.part_words(to, d);
            }
            return true;
        }
        let [a, b, c, e, f, g, h, i] = std::array::from_fn(|thread| at[thread]);
        if !words {
            self.read_four(d[0], [a, b, c, e]);
            self.read_four(d[1], [f, g, h, i]);
            return true;
        }
        // In this order two instructions part the words.
        self.read_four(T0, [a, b, f, g]);
        self.read_four(T1, [c, e, h, i]);
        for (to, part) in d.into_iter().zip(FIRST_OF_PAIRS) {
            self.vector_by(SHUFFLE, to, T0, Operand::Register(T1), part);
        }
        true
    }

    /// The pieces of four threads. AVX2.
    fn read_four(&mut self, to: u8, at: [i32; 4]) {
        let memory = |distance: i32| Operand::Memory(SCRATCH, distance);
        if follow(&at) {
            return self.copy(to, memory(at[0]));
        }
        for (upper, [a, b]) in [[at[0], at[1]], [at[2], at[3]]].into_iter().enumerate() {
            if follow(&[a, b]) {
                match upper {
                    0 => self.half_vector(MOVE_WORDS, to, 0, memory(a)),
                    _ => self.vector_by(INSERT_HALF, to, to, memory(a), 1),
                }
                continue;
            }
            let through = if upper == 0 { to } else { T2 };
            self.half_vector(LOAD_EIGHT, through, 0, memory(a));
            self.half_vector(LOAD_EIGHT_UPPER, through, through, memory(b));
            if upper == 1 {
                self.join(to, to, through);
            }
        }
    }

    /// The pieces of eight threads. AVX-512.
    fn read_eight(&mut self, to: u8, at: &[i32], way: Way) {
        match way {
            Way::Row => self.copy(to, Operand::Memory(SCRATCH, at[0])),
            Way::Halves => {
                self.asm.evex(MOVE_WORDS, Length::Bits256, to, 0, Operand::Memory(SCRATCH, at[0]), Mask::ALL);
                self.vector_by(INSERT, to, to, Operand::Memory(SCRATCH, at[4]), 1);
            }
            Way::Window(first) => {
                let places = |i: usize| if i.is_multiple_of(2) { (at[i / 2] - first) as u32 / 8 } else { 0 };
                let places = self.asm.vector(std::array::from_fn(places));
                self.copy(T0, Operand::Memory(SCRATCH, first));
                self.copy(to, places);
                self.vector(PERMUTE_DOUBLES, to, T0, Operand::Memory(SCRATCH, first + 64));
            }
        }
    }

    /// Whether [`write_pieces`](Self::write_pieces) is better than to write one by one.
    pub(super) fn has_pieces(&self, at: &[i32]) -> bool {
        self.vectors == Vectors::Avx2 || at.chunks_exact(2).all(follow)
    }

    /// Writes pieces, as [`read_pieces`](Self::read_pieces) reads them. No two threads write to one place.
    pub(super) fn write_pieces(&mut self, words: bool, from: [u8; 2], at: &[i32]) {
        if self.vectors == Vectors::Avx512 || words && follow(at) {
            let from = if words {
                self.pair_words(from);
                [T3, T4]
            } else {
                from
            };
            for (at, from) in at.chunks_exact(at.len() / 2).zip(from) {
                match self.vectors {
                    Vectors::Avx2 => self.write_four(from, [at[0], at[1], at[2], at[3]]),
                    Vectors::Avx512 => self.write_eight(from, at),
                }
            }
            return;
        }
        let [a, b, c, e, f, g, h, i] = std::array::from_fn(|thread| at[thread]);
        if !words {
            self.write_four(from[0], [a, b, c, e]);
            return self.write_four(from[1], [f, g, h, i]);
        }
        self.vector(LOWER_WORDS, T1, from[0], Operand::Register(from[1]));
        self.vector(UPPER_WORDS, T2, from[0], Operand::Register(from[1]));
        self.write_four(T1, [a, b, f, g]);
        self.write_four(T2, [c, e, h, i]);
    }

    /// The pieces of four threads. AVX2.
    fn write_four(&mut self, from: u8, at: [i32; 4]) {
        let memory = |distance: i32| Operand::Memory(SCRATCH, distance);
        if follow(&at) {
            return self.vector(STORE_WORDS, from, 0, memory(at[0]));
        }
        for (upper, [a, b]) in [[at[0], at[1]], [at[2], at[3]]].into_iter().enumerate() {
            if follow(&[a, b]) {
                match upper {
                    0 => self.half_vector(STORE_WORDS, from, 0, memory(a)),
                    _ => self.vector_by(EXTRACT_HALF, from, 0, memory(a), 1),
                }
                continue;
            }
            self.half_of(from, upper, T0);
            let from = if upper == 0 { from } else { T0 };
            self.half_vector(STORE_EIGHT, from, 0, memory(a));
            self.half_vector(STORE_EIGHT_UPPER, from, 0, memory(b));
        }
    }

    /// The pieces of eight threads, of which pairs follow one another. AVX-512.
    fn write_eight(&mut self, from: u8, at: &[i32]) {
        let memory = |distance: i32| Operand::Memory(SCRATCH, distance);
        if follow(at) {
            return self.vector(STORE_WORDS, from, 0, memory(at[0]));
        }
        for (half, at) in at.chunks_exact(4).enumerate() {
            if follow(at) {
                match half {
                    0 => self.asm.evex(STORE_WORDS, Length::Bits256, from, 0, memory(at[0]), Mask::ALL),
                    _ => self.vector_by(EXTRACT, from, 0, memory(at[0]), 1),
                }
                continue;
            }
            for (i, at) in at.chunks_exact(2).enumerate() {
                match 2 * half + i {
                    0 => self.asm.evex(STORE_WORDS, Length::Bits128, from, 0, memory(at[0]), Mask::ALL),
                    quarter => self.vector_by(EXTRACT_QUARTER, from, 0, memory(at[0]), quarter as u8),
                }
            }
        }
    }

    /// Gathers words, or the doubles of half of the threads: of active threads.
    pub(super) fn gathered(&mut self, half: Option<usize>, d: u8, offsets: u8, distance: i32) {
        let code = if half.is_some() { GATHER_DOUBLES } else { GATHER_WORDS };
        let active = self.own_active(half, K0, T4);
        let from = Operand::Gathered(SCRATCH, offsets, distance);
        match self.vectors {
            Vectors::Avx2 => self.vector(code, d, active, from),
            Vectors::Avx512 => self.asm.evex(code, Length::Bits512, d, 0, from, Mask::keeping(active)),
        }
    }

    /// Writes words, or the doubles of half of the threads, to offsets from the scratch register on: AVX-512.
    pub(super) fn scattered(&mut self, half: Option<usize>, from: u8, offsets: u8, distance: i32) {
        let code = if half.is_some() { SCATTER_DOUBLES } else { SCATTER_WORDS };
        let active = self.own_active(half, K0, T4);
        let to = Operand::Gathered(SCRATCH, offsets, distance);
        self.asm.evex(code, Length::Bits512, from, 0, to, Mask::keeping(active));
    }

    // Computations.

    /// Every second word becomes that of another register; the others have zeros there.
    pub(super) fn take_odd_words(&mut self, d: u8, from: u8) {
        match self.vectors {
            Vectors::Avx2 => self.vector_by(BLEND_WORDS, d, d, Operand::Register(from), 0b1010_1010),
            Vectors::Avx512 => {
                // d | from & odd
                let odd = self.asm.vector(std::array::from_fn(|i| if i % 2 == 1 { u32::MAX } else { 0 }));
                self.vector_by(TERNARY, d, from, odd, 0xf8);
            }
        }
    }

    /// Products of doubles. AVX2 multiplies words: high and low ones crosswise, and the low ones.
    pub(super) fn multiply_doubles(&mut self, d: u8, a: u8, b: Operand) {
        if self.vectors == Vectors::Avx512 {
            return self.vector(MUL_DOUBLES, d, a, b);
        }
        self.shift_by(SHIFT_DOUBLES_BY, RIGHT, T0, Operand::Register(a), 32);
        self.vector(WIDE, T0, T0, b);
        self.shift_by(SHIFT_DOUBLES_BY, RIGHT, T1, b, 32);
        self.vector(WIDE, T1, T1, Operand::Register(a));
        self.vector(ADD_DOUBLES, T0, T0, Operand::Register(T1));
        self.shift_by(SHIFT_DOUBLES_BY, LEFT, T0, Operand::Register(T0), 32);
        self.vector(WIDE, d, a, b);
        self.vector(ADD_DOUBLES, d, d, Operand::Register(T0));
    }

    /// Unsigned words as floats. AVX2 has no such instruction: both halves of a word are exact as floats, and so are the products of the upper
    /// ones, so that the sum is rounded once.
    pub(super) fn unsigned_to_floats(&mut self, d: u8, a: Operand) {
        if self.vectors == Vectors::Avx512 {
            return self.vector(TO_FLOATS, d, 0, a);
        }
        let (low, scale) = (self.asm.word(0xffff), self.asm.word(65536f32.to_bits()));
        let a = self.in_register(a, T0);
        self.vector(AND, T1, a, low);
        self.vector(TO_FLOATS_SIGNED, T1, 0, Operand::Register(T1));
        self.shift_by(SHIFT_BY, RIGHT, d, Operand::Register(a), 16);
        self.vector(TO_FLOATS_SIGNED, d, 0, Operand::Register(d));
        self.vector(FUSED_132, d, T1, scale);
    }

    /// A function of three bits, for each bit of words; no source is in the register of the result.
    ///
    /// With AVX2: where the first bit is set, the function is one of the two others, and where it is not, it is another. Both are joined in
    /// the way that suits them.
    pub(super) fn table(&mut self, table: u8, d: u8, a: Operand, b: u8, c: Operand) {
        if self.vectors == Vectors::Avx512 {
            self.copy(d, a);
            return self.vector_by(TERNARY, d, b, c, table);
        }
        const ONES: u8 = 15;
        let (a, c) = (self.in_register(a, T2), self.in_register(c, T3));
        let (without, with) = (table & ONES, table >> 4);
        if without == with {
            let result = self.table_of_two(without, d, b, c);
            if result != d {
                self.copy(d, Operand::Register(result));
            }
            return;
        }
        let (always, sometimes, joined, negated) = if without & with == without {
            (without, with, OR, false)
        } else if without & with == with {
            (with, without, OR, true)
        } else {
            (without, without ^ with, XOR, false)
        };
        let mut result = a;
        if sometimes != ONES || negated {
            let sometimes = self.table_of_two(sometimes, d, b, c);
            self.vector(if negated { AND_NOT } else { AND }, d, a, Operand::Register(sometimes));
            result = d;
        }
        if always != 0 {
            let always = self.table_of_two(always, T0, b, c);
            self.vector(joined, d, result, Operand::Register(always));
        } else if result != d {
            self.copy(d, Operand::Register(result));
        }
    }

    /// A function of two bits; the register that has it, which may be that of an operand.
    fn table_of_two(&mut self, table: u8, d: u8, b: u8, c: u8) -> u8 {
        let ones = self.asm.word(u32::MAX);
        // The functions that the low bit negates, but for the first of them.
        let (code, x, y, negated) = match table {
            10 => return c,
            12 => return b,
            0 | 15 => (XOR, b, b, table == 15),
            1 | 14 => (OR, b, c, table == 1),
            2 | 13 => (AND_NOT, b, c, table == 13),
            4 | 11 => (AND_NOT, c, b, table == 11),
            6 | 9 => (XOR, b, c, table == 9),
            7 | 8 => (AND, b, c, table == 7),
            _ => {
                self.vector(XOR, d, if table == 3 { b } else { c }, ones);
                return d;
            }
        };
        self.vector(code, d, x, Operand::Register(y));
        if negated {
            self.vector(XOR, d, d, ones);
        }
        d
    }

    /// Comparisons of integers of 32 bits. AVX2 has two of them: others ask whether an operand is the greatest or the least, or are negated.
    pub(super) fn compare_words(&mut self, signed: bool, relation: Relation, d: u8, a: u8, b: Operand) {
        if self.vectors == Vectors::Avx512 {
            return self.vector_by(if signed { COMPARE_SIGNED } else { COMPARE }, d, a, b, of_integers(relation));
        }
        let negated = match (relation, signed) {
            (Relation::Equal | Relation::NotEqual, _) => {
                self.vector(EQUAL, d, a, b);
                relation == Relation::NotEqual
            }
            (Relation::Greater, true) => return self.vector(GREATER, d, a, b),
            (Relation::Less, true) => {
                let b = self.in_register(b, T2);
                return self.vector(GREATER, d, b, Operand::Register(a));
            }
            _ => {
                let least = matches!(relation, Relation::LessOrEqual | Relation::Greater);
                let code = match (least, signed) {
                    (true, true) => MIN_SIGNED,
                    (true, false) => MIN,
                    (false, true) => MAX_SIGNED,
                    (false, false) => MAX,
                };
                self.vector(code, T2, a, b);
                self.vector(EQUAL, d, T2, Operand::Register(a));
                matches!(relation, Relation::Less | Relation::Greater)
            }
        };
        if negated {
            self.not_truths(d, d);
        }
    }

    /// The opposite of a comparison that is its negation here.
    pub(super) fn cheaper_opposite(&self, relation: Relation, what: Compared) -> Option<Relation> {
        let signed = match what {
            Compared::Short { signed } | Compared::Word { signed } => signed,
            // All of them are made of the signed ones.
            Compared::Double { .. } => true,
            Compared::Float | Compared::FloatDouble => return None,
        };
        let opposite = match (relation, signed) {
            (Relation::NotEqual, _) => Relation::Equal,
            (Relation::LessOrEqual, true) => Relation::Greater,
            (Relation::GreaterOrEqual, true) => Relation::Less,
            (Relation::Less, false) => Relation::GreaterOrEqual,
            (Relation::Greater, false) => Relation::LessOrEqual,
            _ => return None,
        };
        (self.vectors == Vectors::Avx2).then_some(opposite)
    }

    /// Comparisons of integers of 64 bits.
    pub(super) fn compare_doubles(&mut self, signed: bool, relation: Relation, d: u8, a: [u8; 2], b: [Operand; 2]) {
        let halves = [self.truth(K0, T2), self.truth(K1, T3)];
        if self.vectors == Vectors::Avx512 {
            let code = if signed { COMPARE_DOUBLES_SIGNED } else { COMPARE_DOUBLES };
            (0..2).for_each(|half| self.vector_by(code, halves[half], a[half], b[half], of_integers(relation)));
            return self.join_truths(d, halves);
        }
        for half in 0..2 {
            let (to, mut a, b) = (halves[half], a[half], b[half]);
            if matches!(relation, Relation::Equal | Relation::NotEqual) {
                self.vector(EQUAL_DOUBLES, to, a, b);
                continue;
            }
            let mut b = self.in_register(b, T1);
            if !signed {
                // With the first bit changed, numbers are in the order of signed ones.
                let first = self.asm.constant(1 << 63);
                self.vector(XOR, T0, a, first);
                self.vector(XOR, T1, b, first);
                (a, b) = (T0, T1);
            }
            match relation {
                Relation::Greater | Relation::LessOrEqual => self.vector(GREATER_DOUBLES, to, a, Operand::Register(b)),
                _ => self.vector(GREATER_DOUBLES, to, b, Operand::Register(a)),
            }
        }
        self.join_truths(d, halves);
        if matches!(relation, Relation::NotEqual | Relation::LessOrEqual | Relation::GreaterOrEqual) {
            self.not_truths(d, d);
        }
    }
}

/// Whether pieces of eight bytes stand one behind another.
fn follow(at: &[i32]) -> bool {
    at.windows(2).all(|pair| pair[1] - pair[0] == 8)
}

/// How AVX-512 reads the pieces of eight threads.
#[derive(Clone, Copy, Debug)]
enum Way {
    Row,
    /// Two rows of four.
    Halves,
    /// Two vectors from a distance on, and a permutation.
    Window(i32),
}

impl Way {
    fn of(at: &[i32], has_room: &dyn Fn(i32, i32) -> bool) -> Option<Way> {
        const BYTES: i32 = 128;
        if follow(at) {
            return Some(Way::Row);
        }
        if at.chunks_exact(4).all(follow) {
            return Some(Way::Halves);
        }
        let (first, last) = (*at.iter().min()?, *at.iter().max()?);
        // Perhaps from further ahead, so that it ends with the last piece.
        let starts = [first, last + 8 - BYTES];
        let start =
            starts.into_iter().find(|start| *start <= first && last + 8 <= start + BYTES && has_room(*start, BYTES))?;
        at.iter().all(|at| (at - start) % 8 == 0).then_some(Way::Window(start))
    }
}

/// A comparison of integers as an immediate.
fn of_integers(relation: Relation) -> u8 {
    match relation {
        Relation::Equal => 0,
        Relation::NotEqual => DIFFERENT,
        Relation::Less => 1,
        Relation::LessOrEqual => 2,
        Relation::Greater => 6,
        _ => NOT_BELOW,
    }
}
