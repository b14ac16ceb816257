//! Templates: a run of steps as a function over the threads of a block, sixteen or eight at a time.
//!
//! A word is an element of a vector register, a double takes two of them, a predicate is a truth: see [`vectors`](super::vectors). The
//! function reads a column when a step first needs it, and writes it after the last step that gives it a value, if anything reads it after the
//! run. Where registers do not suffice, the value that is needed last goes to the stack until then.
//!
//! A float that is a NaN is any NaN while only float instructions read it, which do not tell one from another; it becomes the NaN of
//! arithmetic before anything else reads it.

// The half of a double is an index of several arrays at once.
#![allow(clippy::needless_range_loop)]

use std::collections::HashMap;
use std::rc::Rc;

use super::assembler::{Assembler, Code, Condition, General, Jump, Operand, Place, code};
use super::fixed::{Fixed, Turns};
use super::index::Index;
use super::known::{Compared, Known, Relation};
use super::live::Live;
use super::load;
use super::phases::{phases, read_later};
use super::steady::Steady;
use super::vectors::{AND_NOT, LEFT, RIGHT, RIGHT_SIGNED, Vectors};
use super::video::{Video, video};
use super::{Found, places};
use crate::code::{Access, Kernel, Load, Op, Step, Store};
use crate::column::{Area, File, HALF, Operands, Slot, WARP, Width};
use crate::memory::Space;

/// Vector registers of the templates.
pub(super) const T0: u8 = 27;
pub(super) const T1: u8 = 28;
pub(super) const T2: u8 = 29;
pub(super) const T3: u8 = 30;
pub(super) const T4: u8 = 31;
/// Mask registers: those that predicates stay in, two for the templates, and that of the active threads.
pub(super) const PREDICATES: std::ops::RangeInclusive<u8> = 1..=4;
pub(super) const K0: u8 = 5;
pub(super) const K1: u8 = 6;
pub(super) const ACTIVE: u8 = 7;

/// General registers: the mask's bytes of the turn, the table of sites, the number of the turn, the start of the samples, and those of the
/// templates. The caller's stack pointer is kept in `rbp`.
pub(super) const MASK: General = General::Rsi;
pub(super) const SITES: General = General::Rbx;
pub(super) const TURN: General = General::R12;
pub(super) const SAMPLES: General = General::Rax;
pub(super) const SCRATCH: General = General::Rdi;
pub(super) const SCRATCH_2: General = General::R13;
pub(super) const SCRATCH_3: General = General::R14;
/// The state of a region.
pub(super) const STATE: General = General::R15;

/// Bytes of the stack that a function takes at most, with what alignment takes: less than a page, so that the guard behind the stack cannot be
/// passed without being touched.
const MAX_FRAME: usize = 3840;

/// The NaN of arithmetic in single precision.
const NAN: u32 = 0x7fff_ffff;

pub(super) const MOVE_WORDS: Code = code(1, 2, 0, 0x6f);
pub(super) const STORE_WORDS: Code = code(1, 2, 0, 0x7f);
pub(super) const STORE_PAST_CACHES: Code = code(1, 1, 0, 0xe7);
pub(super) const MOVE_DOUBLES: Code = code(1, 2, 1, 0x6f);
pub(super) const STORE_DOUBLES: Code = code(1, 2, 1, 0x7f);
pub(super) const MOVE_BYTES: Code = code(1, 3, 0, 0x6f);
pub(super) const STORE_BYTES: Code = code(1, 3, 0, 0x7f);
pub(super) const BYTES_TO_MASK: Code = code(2, 2, 0, 0x29);
pub(super) const MASK_TO_BYTES: Code = code(2, 2, 0, 0x28);
pub(super) const ADD: Code = code(1, 1, 0, 0xfe);
pub(super) const SUB: Code = code(1, 1, 0, 0xfa);
pub(super) const MUL: Code = code(2, 1, 0, 0x40);
pub(super) const AND: Code = code(1, 1, 0, 0xdb);
pub(super) const OR: Code = code(1, 1, 0, 0xeb);
pub(super) const XOR: Code = code(1, 1, 0, 0xef);
pub(super) const TERNARY: Code = code(3, 1, 0, 0x25);
pub(super) const SHIFT_LEFT: Code = code(2, 1, 0, 0x47);
pub(super) const SHIFT_RIGHT: Code = code(2, 1, 0, 0x45);
pub(super) const SHIFT_RIGHT_SIGNED: Code = code(2, 1, 0, 0x46);
/// Shifts by an immediate: the operation is in place of a register.
pub(super) const SHIFT_BY: Code = code(1, 1, 0, 0x72);
pub(super) const SHIFT_DOUBLES_BY: Code = code(1, 1, 1, 0x73);
pub(super) const MIN: Code = code(2, 1, 0, 0x3b);
pub(super) const MAX: Code = code(2, 1, 0, 0x3f);
pub(super) const MIN_SIGNED: Code = code(2, 1, 0, 0x39);
pub(super) const MAX_SIGNED: Code = code(2, 1, 0, 0x3d);
pub(super) const COMPARE: Code = code(3, 1, 0, 0x1e);
pub(super) const COMPARE_SIGNED: Code = code(3, 1, 0, 0x1f);
pub(super) const COMPARE_DOUBLES: Code = code(3, 1, 1, 0x1e);
pub(super) const COMPARE_DOUBLES_SIGNED: Code = code(3, 1, 1, 0x1f);
pub(super) const COMPARE_FLOATS: Code = code(1, 0, 0, 0xc2);
pub(super) const COMPARE_FLOAT_DOUBLES: Code = code(1, 1, 1, 0xc2);
pub(super) const SELECT: Code = code(2, 1, 0, 0x64);
pub(super) const SELECT_DOUBLES: Code = code(2, 1, 1, 0x64);
pub(super) const ADD_DOUBLES: Code = code(1, 1, 1, 0xd4);
pub(super) const SUB_DOUBLES: Code = code(1, 1, 1, 0xfb);
pub(super) const MUL_DOUBLES: Code = code(2, 1, 1, 0x40);
pub(super) const AND_DOUBLES: Code = code(1, 1, 1, 0xdb);
pub(super) const OR_DOUBLES: Code = code(1, 1, 1, 0xeb);
pub(super) const XOR_DOUBLES: Code = code(1, 1, 1, 0xef);
pub(super) const ABSOLUTE: Code = code(2, 1, 0, 0x1e);
pub(super) const SHUFFLE_BYTES: Code = code(2, 1, 0, 0x00);
pub(super) const WIDE: Code = code(1, 1, 1, 0xf4);
pub(super) const WIDE_SIGNED: Code = code(2, 1, 1, 0x28);
pub(super) const EXTEND: Code = code(2, 1, 0, 0x35);
pub(super) const EXTEND_SIGNED: Code = code(2, 1, 0, 0x25);
pub(super) const INSERT: Code = code(3, 1, 1, 0x3a);
pub(super) const EXTRACT: Code = code(3, 1, 1, 0x3b);
pub(super) const ADD_FLOATS: Code = code(1, 0, 0, 0x58);
pub(super) const MUL_FLOATS: Code = code(1, 0, 0, 0x59);
pub(super) const SUB_FLOATS: Code = code(1, 0, 0, 0x5c);
pub(super) const MIN_FLOATS: Code = code(1, 0, 0, 0x5d);
pub(super) const MAX_FLOATS: Code = code(1, 0, 0, 0x5f);
pub(super) const DIV_FLOATS: Code = code(1, 0, 0, 0x5e);
pub(super) const ROOTS: Code = code(1, 0, 0, 0x51);
/// a = a * b + c, of the destination a.
pub(super) const FUSED_213: Code = code(2, 1, 0, 0xa8);
/// c = a * b + c, of the destination c.
pub(super) const FUSED_231: Code = code(2, 1, 0, 0xb8);
pub(super) const FUSED_DOUBLES_213: Code = code(2, 1, 1, 0xa8);
pub(super) const ADD_FLOAT_DOUBLES: Code = code(1, 1, 1, 0x58);
pub(super) const MUL_FLOAT_DOUBLES: Code = code(1, 1, 1, 0x59);
pub(super) const SUB_FLOAT_DOUBLES: Code = code(1, 1, 1, 0x5c);
pub(super) const TO_FLOATS_SIGNED: Code = code(1, 0, 0, 0x5b);
pub(super) const TO_FLOATS: Code = code(1, 3, 0, 0x7a);
pub(super) const FLOATS_TO_DOUBLES: Code = code(1, 0, 0, 0x5a);
pub(super) const DOUBLES_TO_FLOATS: Code = code(1, 1, 1, 0x5a);
// Of masks.
pub(super) const MASK_MOVE: Code = code(1, 0, 0, 0x90);
pub(super) const MASK_AND: Code = code(1, 0, 0, 0x41);
pub(super) const MASK_OR: Code = code(1, 0, 0, 0x45);
pub(super) const MASK_XOR: Code = code(1, 0, 0, 0x47);
pub(super) const MASK_NOT: Code = code(1, 0, 0, 0x44);
pub(super) const MASK_TEST: Code = code(1, 0, 0, 0x98);
pub(super) const MASK_JOIN: Code = code(1, 1, 0, 0x4b);
pub(super) const MASK_SHIFT: Code = code(3, 1, 1, 0x30);

pub(super) const MASK_ONES: Code = code(1, 0, 0, 0x46);
/// Between memory and a mask register.
pub(super) const MASK_LOAD: Code = code(1, 0, 0, 0x90);
pub(super) const MASK_STORE: Code = code(1, 0, 0, 0x91);
// For loads.
pub(super) const BROADCAST_GENERAL: Code = code(2, 1, 0, 0x7c);
pub(super) const BROADCAST_BYTE: Code = code(2, 1, 0, 0x78);
pub(super) const BROADCAST_SHORT: Code = code(2, 1, 0, 0x79);
pub(super) const BROADCAST_WORD: Code = code(2, 1, 0, 0x58);
pub(super) const BROADCAST_DOUBLE: Code = code(2, 1, 1, 0x59);
pub(super) const EXTEND_BYTES: Code = code(2, 1, 0, 0x31);
pub(super) const EXTEND_SHORTS: Code = code(2, 1, 0, 0x33);
pub(super) const PERMUTE_WORDS: Code = code(2, 1, 0, 0x76);
pub(super) const PERMUTE_DOUBLES: Code = code(2, 1, 1, 0x76);
pub(super) const GATHER_WORDS: Code = code(2, 1, 0, 0x90);
pub(super) const GATHER_DOUBLES: Code = code(2, 1, 1, 0x90);
/// The first word of a vector register to a general register.
pub(super) const MOVE_FIRST: Code = code(1, 1, 0, 0x7e);
pub(super) const MOVE_FIRST_DOUBLE: Code = code(1, 1, 1, 0x7e);
/// The elements of a mask, from the first place on: the operands change places.
pub(super) const COMPRESS: Code = code(2, 1, 0, 0x8b);
// For stores.
pub(super) const TO_BYTES: Code = code(2, 2, 0, 0x31);
pub(super) const TO_SHORTS: Code = code(2, 2, 0, 0x33);
pub(super) const SCATTER_WORDS: Code = code(2, 1, 0, 0xa0);
pub(super) const SCATTER_DOUBLES: Code = code(2, 1, 1, 0xa0);
/// The elements with a bit in both operands, to a mask register.
pub(super) const TEST: Code = code(2, 1, 0, 0x27);

/// Comparisons of integers, as immediates.
pub(super) const DIFFERENT: u8 = 4;
pub(super) const NOT_BELOW: u8 = 5;
/// Comparisons of floats.
pub(super) const UNORDERED: u8 = 3;
pub(super) const ORDERED: u8 = 7;

/// An integer that is an immediate of the kernel.
pub(super) fn immediate(kernel: &Kernel, slot: Slot) -> Option<u32> {
    if slot.area() != Area::Block || kernel.specials.iter().any(|(_, at, _)| *at == slot) {
        return None;
    }
    let bytes = kernel.constants.get(slot.offset() as usize..)?;
    Some(u32::from_le_bytes(*bytes.first_chunk()?))
}

/// Whether there is a template for an instruction with these operands.
pub(super) fn can_write(kernel: &Kernel, known: Known, operands: &Operands) -> bool {
    let constant = |at: usize| immediate(kernel, operands.sources[at]).is_some();
    match known {
        Known::No => false,
        Known::Table => constant(3),
        Known::Permute => immediate(kernel, operands.sources[2]).is_some_and(|selectors| selectors & 0x8888 == 0),
        Known::Field { .. } => constant(1) && constant(2),
        Known::Insert => constant(2) && constant(3),
        Known::ShiftLeftDouble | Known::ShiftRightDouble => constant(1),
        _ => true,
    }
}

/// The widths of what an instruction reads and writes.
fn widths(known: Known) -> (&'static [Width], Width) {
    use Known::*;
    use Width::{Double, Predicate, Word};
    match known {
        No => (&[], Width::None),
        Move
        | Not
        | Negate
        | Absolute
        | Field { .. }
        | Low8
        | Low16
        | NegateFloat
        | AbsoluteFloat
        | ReciprocalRoot
        | ToFloat { .. } => (&[Word], Word),
        Add | Subtract | Multiply | And | Or | Xor | ShiftLeft | ShiftRight | ShiftRightSigned | Least | Greatest
        | LeastSigned | GreatestSigned | AddFloat | SubtractFloat | MultiplyFloat | LeastFloat | GreatestFloat => {
            (&[Word, Word], Word)
        }
        High { .. } => (&[Word, Word], Word),
        // The constants behind them are not read.
        Permute | Insert => (&[Word, Word], Word),
        MultiplyAdd | Table | FunnelLeft | FunnelRight | FusedFloat => (&[Word, Word, Word], Word),
        MoveDouble | NotDouble | ShiftLeftDouble | ShiftRightDouble | NegateFloatDouble => (&[Double], Double),
        AddDouble | SubtractDouble | MultiplyDouble | AndDouble | OrDouble | XorDouble | AddFloatDouble
        | SubtractFloatDouble | MultiplyFloatDouble => (&[Double, Double], Double),
        MultiplyAddDouble | FusedFloatDouble => (&[Double, Double, Double], Double),
        Wide { .. } => (&[Word, Word], Double),
        WideAdd { .. } => (&[Word, Word, Double], Double),
        Extend { .. } => (&[Word], Double),
        Low => (&[Double], Word),
        Compare(_, Compared::Short { .. } | Compared::Word { .. } | Compared::Float) => (&[Word, Word], Predicate),
        Compare(..) => (&[Double, Double], Predicate),
        SelectWord => (&[Word, Word, Predicate], Word),
        SelectDouble => (&[Double, Double, Predicate], Double),
        AndPredicate | OrPredicate | XorPredicate => (&[Predicate, Predicate], Predicate),
        MovePredicate | NotPredicate => (&[Predicate], Predicate),
    }
}

/// Whether an instruction does not tell one NaN from another in its sources.
fn takes_any_nan(known: Known) -> bool {
    use Known::*;
    match known {
        AddFloat | SubtractFloat | MultiplyFloat | FusedFloat | LeastFloat | GreatestFloat | ReciprocalRoot => true,
        Compare(_, what) => what == Compared::Float,
        _ => false,
    }
}

/// Something that a step of the run reads or writes.
#[derive(Clone, Debug)]
pub(super) struct Value {
    pub(super) slot: Slot,
    pub(super) width: Width,
    /// The steps of the run that read it, in order.
    pub(super) uses: Vec<usize>,
    /// How many of them are done.
    used: usize,
    /// Where it is, if it is in registers: a vector register, two of them, or a mask register.
    registers: Option<[u8; 2]>,
    /// Whether its column has it.
    stored: bool,
    /// Its place on the stack, if it has one.
    spilled: Option<usize>,
    /// Whether something reads it after the run.
    pub(super) lives: bool,
    /// Whether it may be another NaN than that of arithmetic.
    any_nan: bool,
    /// Whether its registers are a [`Home`], which nothing else is put in.
    pub(super) at_home: bool,
    /// Whether it is a byte or a short with zeros above it.
    short: bool,
}

/// Registers that have a column's elements for the threads of a turn, from one part of a region to the next.
#[derive(Clone, Copy, Debug)]
pub(super) struct Home {
    pub(super) slot: Slot,
    pub(super) width: Width,
    pub(super) registers: [u8; 2],
    /// Whether the region writes it.
    pub(super) written: bool,
    /// The register that has the elements of threads that have left a straight region, if there is one.
    pub(super) left: Option<u8>,
    /// Whether that register gets what the active threads have where the home is written, so that there is nothing to do where they leave.
    pub(super) follows: bool,
}

/// Which of two turns that have one sample is written: the first one finds where both reach.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum OfPair {
    Alone,
    First,
    Second,
}

/// Lines of a turn that is written twice at most: more of them would take longer to write than they save.
const MAX_PAIR: usize = 64;

/// A register that a part of a region reads or writes.
#[derive(Clone, Copy, Debug)]
pub(super) struct Crossing {
    pub(super) slot: Slot,
    pub(super) width: Width,
    pub(super) written: bool,
    pub(super) weight: u64,
    pub(super) crosses: bool,
}

/// What a line of a run is.
#[derive(Clone, Copy, Debug)]
pub(super) enum What<'s> {
    Compute(Known),
    /// A load or a store, and the number of its site.
    Load(&'s Load, usize),
    Store(&'s Store, usize),
    Video(Video),
}

/// An instruction of the run: which values it reads, and which it gives.
#[derive(Clone, Debug)]
pub(super) struct Line<'s> {
    pub(super) what: What<'s>,
    operands: Option<Operands>,
    pub(super) sources: Vec<usize>,
    pub(super) results: Vec<usize>,
    pub(super) index: Option<Index>,
    /// Where it reaches, if that is known. It then reads no address.
    pub(super) turns: Option<Rc<Turns>>,
    /// Whether what it gives is read by nothing that tells one NaN from another.
    any_nan: bool,
    /// The number of its steady access, if it is one.
    pub(super) steady: Option<usize>,
}

impl Line<'_> {
    /// The constant that a source is, as [`can_write`] has made sure.
    pub(super) fn constant(&self, kernel: &Kernel, source: usize) -> Option<u32> {
        immediate(kernel, self.operands?.sources[source])
    }

    /// Whether it reaches memory in a way that its addresses tell.
    fn has_shapes(&self) -> bool {
        match self.what {
            What::Load(load, _) => load::has_shapes(&load.access),
            What::Store(store, _) => load::has_shapes(&store.access),
            _ => false,
        }
    }
}

/// What reads the values of lines behind them.
#[derive(Clone, Copy, Debug)]
pub(super) struct Behind<'s> {
    /// The steps that may follow.
    pub(super) steps: &'s [usize],
    /// The predicate of a branch.
    pub(super) guard: Option<Slot>,
    /// What later phases read.
    pub(super) later: &'s [Slot],
}

/// Writes functions, one behind another.
pub(super) struct Writer<'k> {
    pub(super) kernel: &'k Kernel,
    pub(super) scales: [usize; 6],
    /// Bytes of shared memory.
    pub(super) shared_len: u64,
    pub(super) fixed: Fixed<'k>,
    /// Whether the function that is written relies on it.
    pub(super) knows_places: bool,
    /// The number of phases of the run that was written last.
    pub(super) phases: usize,
    pub(super) vectors: Vectors,
    pub(super) asm: Assembler,
    pub(super) masked: bool,
    /// Whether stores may go past the caches.
    pub(super) streams: bool,
    pub(super) of_pair: OfPair,
    /// Whether the mask's register is that also where all threads are active.
    pub(super) keeps_mask: bool,
    pub(super) values: Vec<Value>,
    /// Registers that no value is in, a bit each.
    free: u32,
    free_masks: u8,
    /// The running instruction and its place in the run.
    at: usize,
    pinned: Vec<usize>,
    /// The number of places on the stack, and those of them that no value is in.
    pub(super) spills: usize,
    free_places: Vec<usize>,
    /// The last line that may leave the function. Columns stay as they are until then.
    last_check: Option<usize>,
    /// How many lines reach memory.
    pub(super) accesses: usize,
    /// Values that wait for that.
    waiting: Vec<usize>,
    /// Of the region that is written.
    pub(super) homes: Vec<Home>,
    /// Whether threads that part from the others leave it: see [`region`](super::region). And the homes that each exit needs.
    pub(super) straight: bool,
    pub(super) leaving: Vec<Vec<Home>>,
    /// With AVX2, the register of the active threads of a straight region.
    pub(super) active_words: Option<u8>,
    /// With AVX2, registers that count the threads of a straight region: a word of the state, and the register that has more of its count, in
    /// words for each place of a turn.
    pub(super) counters: Vec<(i32, u8)>,
    pub(super) steady: Steady,
    /// Jumps to the end.
    pub(super) leaves: Vec<Jump>,
}

/// The general register that holds the start of an area, and how many bytes of it one thread has.
fn base(area: Area) -> (General, usize) {
    let register = match area {
        Area::Predicates => General::R8,
        Area::Words => General::R9,
        Area::Doubles => General::R10,
        Area::Thread => General::R11,
        Area::Block => General::Rcx,
        Area::Samples => General::Rax,
    };
    (register, area.bytes())
}

/// Whether a value is in memory, the same for all threads.
pub(super) fn is_of_block(value: &Value) -> bool {
    value.stored && base(value.slot.area()).1 == 0
}

impl<'k> Writer<'k> {
    pub(super) fn new(kernel: &'k Kernel, file: &File, shared_len: u64, vectors: Vectors) -> Writer<'k> {
        Writer {
            kernel,
            scales: file.scales,
            shared_len,
            fixed: Fixed::new(kernel, file),
            knows_places: false,
            phases: 1,
            vectors,
            asm: Assembler::new(vectors.bytes() / 4, vectors == Vectors::Avx512),
            streams: kernel.keeps_apart(),
            masked: false,
            of_pair: OfPair::Alone,
            keeps_mask: false,
            values: Vec::new(),
            free: 0,
            free_masks: 0,
            at: 0,
            pinned: Vec::new(),
            spills: 0,
            free_places: Vec::new(),
            last_check: None,
            accesses: 0,
            waiting: Vec::new(),
            homes: Vec::new(),
            straight: false,
            leaving: Vec::new(),
            active_words: None,
            counters: Vec::new(),
            steady: Steady::default(),
            leaves: Vec::new(),
        }
    }

    pub(super) fn code(&self) -> &[u8] {
        &self.asm.bytes
    }

    /// The run as a function; where it starts. `None` if a column is too far away or too much does not fit into registers. `sites` is the number of the run's first site.
    ///
    /// The function takes the starts of the areas, the mask, the number of turns, and the table of sites, by the System V convention. With
    /// a mask, it leaves out threads whose byte is zero. It returns the number of turns that are left where a check failed, with those of the
    /// phases behind; a function for all threads may have none of these, see [`stores_at_once`](Self::stores_at_once).
    pub(super) fn function(
        &mut self,
        steps: &[Step],
        found: &Found,
        live: &Live,
        masked: bool,
        sites: usize,
    ) -> Option<usize> {
        let start = self.asm.bytes.len();
        self.knows_places = !masked;
        let mut phases = phases(steps, found.start..found.end);
        if phases.len() > 1 && self.stores_at_once(steps, &phases) {
            phases = vec![places(steps, found.start..found.end)];
        }
        self.phases = phases.len();
        let later = read_later(steps, &phases);
        let has = |f: fn(&Op) -> bool| phases.iter().flatten().any(|at| f(&steps[*at].op));
        let (loads, stores) = (has(|op| matches!(op, Op::Load(_))), has(|op| matches!(op, Op::Store(_))));
        self.masked = masked;
        self.spills = 0;
        // The last ones are for accesses, and for stores one by one.
        let count = if stores { 5 } else { 3 + usize::from(loads) };
        let saved = &[General::Rbx, General::Rbp, TURN, SCRATCH_2, SCRATCH_3][..count];
        saved.iter().for_each(|register| self.asm.push(*register));
        // What each phase starts with.
        let kept: &[General] = if phases.len() > 1 { &[General::Rdi, MASK, General::Rdx] } else { &[] };
        kept.iter().for_each(|register| self.asm.push(*register));
        let frame = self.frame();
        if loads || stores {
            self.asm.copy(SITES, General::Rcx);
        }
        let mut ends = Vec::new();
        for (number, places) in phases.iter().enumerate() {
            if number > 0 {
                let places = kept.iter().rev().enumerate();
                places.for_each(|(i, register)| self.asm.load(*register, General::Rbp, 8 * i as i32));
            }
            let later: &[Slot] = if number == 0 { &later } else { &[] };
            let behind = Behind { steps: &[found.end], guard: None, later };
            let Some(lines) = self.lines(steps, places, &behind, live, sites) else {
                self.leaves.clear();
                self.asm.forget(start);
                return None;
            };
            self.turns(&lines);
            if self.leaves.is_empty() {
                continue;
            }
            let next = (number + 1 < phases.len()).then(|| self.asm.jump());
            for leave in std::mem::take(&mut self.leaves) {
                self.asm.land(leave);
            }
            let Some(next) = next else { continue };
            for _ in number + 1..phases.len() {
                self.asm.add_memory(General::Rdx, General::Rbp, 0);
            }
            ends.push(self.asm.jump());
            self.asm.land(next);
        }
        ends.into_iter().for_each(|end| self.asm.land(end));
        self.asm.copy(General::Rax, General::Rdx);
        self.end(start, frame, kept, saved)
    }

    /// Keeps the stack pointer and takes room below it; where [`Writer::end`] writes how much.
    pub(super) fn frame(&mut self) -> Place {
        self.asm.copy(General::Rbp, General::Rsp);
        self.asm.add_later(General::Rsp);
        let frame = self.asm.here();
        self.asm.and(General::Rsp, -64);
        frame
    }

    /// Returns from the function that started at a number of bytes, with general registers as they were: `saved`, and behind these `kept`, which
    /// are not asked for any more. `None` if it takes too much of the stack.
    pub(super) fn end(&mut self, start: usize, frame: Place, kept: &[General], saved: &[General]) -> Option<usize> {
        self.asm.copy(General::Rsp, General::Rbp);
        if !kept.is_empty() {
            self.asm.add(General::Rsp, 8 * kept.len() as i32);
        }
        saved.iter().rev().for_each(|register| self.asm.pop(*register));
        self.asm.leave();
        let bytes = self.spills * 2 * self.vectors.bytes();
        if bytes > MAX_FRAME {
            self.asm.forget(start);
            return None;
        }
        self.asm.patch(frame, -(bytes as i32));
        self.asm.end();
        Some(start)
    }

    /// The lines for all turns of a phase. The general registers are as when the function started, but that of the sites.
    fn turns(&mut self, lines: &[Line<'_>]) {
        let reaches = |line: &Line<'_>| matches!(line.what, What::Load(..) | What::Store(..));
        let loads = lines.iter().any(reaches);
        self.accesses = lines.iter().filter(|line| reaches(line)).count();
        let mut used = self.areas();
        if loads && !used.contains(&Area::Samples) {
            used.push(Area::Samples);
        }
        if loads {
            self.asm.set(TURN, 0);
        }
        self.load_areas(&used);
        self.leave_unless_apart(lines);
        let turn = self.asm.here();
        // Most turns are of threads that are all active, also where some threads of the block are not: for them rows are found faster.
        let mut ends = Vec::new();
        if self.masked && lines.iter().any(Line::has_shapes) {
            let some = self.jump_unless_all_active();
            let values = self.values.clone();
            (self.masked, self.keeps_mask) = (false, true);
            self.turn(lines);
            (self.masked, self.keeps_mask) = (true, false);
            self.values = values;
            ends.push(self.asm.jump());
            self.asm.land(some);
        }
        if self.masked {
            ends.push(self.find_active());
        } else if self.has_pairs(lines) {
            let values = self.values.clone();
            self.of_pair = OfPair::First;
            self.turn(lines);
            self.values = values;
            self.next_turn(&used);
            self.asm.add(TURN, 1);
            self.asm.decrement(General::Rdx);
            self.of_pair = OfPair::Second;
        }
        self.turn(lines);
        ends.into_iter().for_each(|end| self.asm.land(end));
        self.of_pair = OfPair::Alone;
        if self.masked {
            self.asm.add(MASK, self.vectors.lanes() as i32);
        }
        self.next_turn(&used);
        if loads {
            self.asm.add(TURN, 1);
        }
        self.asm.decrement(General::Rdx);
        self.asm.jump_back_if(Condition::NotZero, turn);
    }

    /// Whether turns are written in pairs: those that have one sample. A block is whole warps, so it has no turn without the other one.
    fn has_pairs(&self, lines: &[Line<'_>]) -> bool {
        let sampled = |line: &Line<'_>| match line.what {
            What::Load(load, _) => load::has_samples(&load.access),
            What::Store(store, _) => load::has_samples(&store.access),
            _ => false,
        };
        2 * self.vectors.lanes() == HALF && lines.len() <= MAX_PAIR && lines.iter().any(sampled)
    }

    /// The lines for one turn.
    pub(super) fn turn(&mut self, lines: &[Line<'_>]) {
        self.free = (1 << self.vectors.values()) - 1;
        for home in &self.homes {
            home.registers.iter().chain(&home.left).for_each(|register| self.free &= !(1 << register));
        }
        let counters = self.counters.iter().map(|(_, register)| register);
        self.active_words.iter().chain(counters).for_each(|register| self.free &= !(1 << register));
        self.free_masks = PREDICATES.fold(0, |all, k| all | 1 << k);
        self.free_places = (0..self.spills).collect();
        self.waiting.clear();
        self.last_check = lines
            .iter()
            .rposition(|line| matches!(line.what, What::Load(..) | What::Store(..)) && line.turns.is_none());
        let mut covered = vec![false; lines.len()];
        for (at, line) in lines.iter().enumerate() {
            self.at = at;
            let others = if covered[at] { Vec::new() } else { self.group(lines, at) };
            others.iter().for_each(|other| covered[*other] = true);
            let others: Vec<&Line<'_>> = others.into_iter().map(|other| &lines[other]).collect();
            self.line(line, (!covered[at]).then_some(&others));
        }
    }

    /// The areas that values are in.
    pub(super) fn areas(&self) -> Vec<Area> {
        Area::ALL.into_iter().filter(|area| self.values.iter().any(|value| value.slot.area() == *area)).collect()
    }

    /// The starts of areas, from the table that the function is given.
    pub(super) fn load_areas(&mut self, areas: &[Area]) {
        for area in areas {
            self.asm.load(base(*area).0, General::Rdi, (*area as usize * size_of::<*mut u8>()) as i32);
        }
    }

    /// Goes on to the elements of the next turn's threads.
    pub(super) fn next_turn(&mut self, areas: &[Area]) {
        for (register, bytes) in areas.iter().map(|area| base(*area)).filter(|(_, bytes)| *bytes != 0) {
            self.asm.add(register, (bytes * self.vectors.lanes()) as i32);
        }
    }

    /// The truths of the guard that lines were made with, behind them.
    pub(super) fn guard_truths(&mut self, lines: &[Line<'_>]) -> Option<u8> {
        self.at = lines.len();
        self.pinned.clear();
        let guard = self.values.iter().position(|value| value.uses.last() == Some(&self.at))?;
        Some(self.read(guard)[0])
    }

    /// The comparison that gives the guard behind lines, if nothing else reads it, and its opposite, if that takes fewer instructions.
    pub(super) fn opposite(&self, lines: &[Line<'_>]) -> Option<(usize, Known)> {
        let of_guard = |result: &usize| {
            let Value { uses, lives, .. } = &self.values[*result];
            uses[..] == [lines.len()] && !lives
        };
        let at = lines.iter().rposition(|line| line.results.iter().any(of_guard))?;
        let What::Compute(Known::Compare(relation, what)) = lines[at].what else { return None };
        self.cheaper_opposite(relation, what).map(|relation| (at, Known::Compare(relation, what)))
    }

    /// The registers that lines read or write, and how often; `depth` is the number of loops around them.
    pub(super) fn crossings(&self, depth: u32) -> Vec<Crossing> {
        let each = self.values.iter().filter(|value| {
            let area = value.slot.area();
            matches!(area, Area::Words | Area::Doubles | Area::Thread) && value.width != Width::Predicate
        });
        each.map(|value| {
            let times = value.uses.len() as u64 + u64::from(!value.stored);
            let weight = times.saturating_mul(1 << (3 * depth.min(6)));
            Crossing { slot: value.slot, width: value.width, written: !value.stored, weight, crosses: false }
        })
        .collect()
    }

    /// Adds the columns that lines write.
    pub(super) fn add_stored(&self, all: &mut Vec<(Slot, Width)>) {
        for value in self.values.iter().filter(|value| value.lives) {
            if !all.contains(&(value.slot, value.width)) {
                all.push((value.slot, value.width));
            }
        }
    }

    /// The vector registers that the operands and results of an instruction take at most.
    pub(super) fn most_registers(&self, lines: &[Line<'_>]) -> usize {
        let registers = |value: &usize| match self.values[*value].width {
            Width::Double => 2,
            Width::Predicate if self.vectors == Vectors::Avx512 => 0,
            _ => 1,
        };
        let of_line = |line: &Line<'_>| line.sources.iter().chain(&line.results).map(registers).sum();
        lines.iter().map(of_line).max().unwrap_or(0)
    }

    /// The registers of a home from its column, or to it: of all threads of the turn.
    pub(super) fn move_home(&mut self, home: &Home, to_column: bool) {
        let distance = self.distance(home.slot, home.width).unwrap_or(0);
        let double = home.width == Width::Double;
        let code = match (double, to_column) {
            (false, false) => MOVE_WORDS,
            (false, true) => STORE_WORDS,
            (true, false) => MOVE_DOUBLES,
            (true, true) => STORE_DOUBLES,
        };
        for half in 0..=usize::from(double) {
            let at = Operand::Memory(base(home.slot.area()).0, distance + (half * self.vectors.bytes()) as i32);
            self.vector(code, home.registers[half], 0, at);
        }
    }

    /// What some threads have of a straight region's home to the register of those that have left.
    pub(super) fn copy_to_left(&mut self, home: &Home, truths: u8) {
        if let Some(left) = home.left {
            self.copy_where(left, home.registers[0], truths);
        }
    }

    /// A home to its column, of the active threads.
    pub(super) fn store_home(&mut self, home: &Home) {
        let distance = self.distance(home.slot, home.width).unwrap_or(0);
        let double = home.width == Width::Double;
        for half in 0..=usize::from(double) {
            let at = Operand::Memory(base(home.slot.area()).0, distance + (half * self.vectors.bytes()) as i32);
            self.store_active(double.then_some(half), home.registers[half], at);
        }
    }

    /// The instructions at some steps, with their values.
    pub(super) fn lines<'s>(
        &mut self,
        steps: &'s [Step],
        places: &[usize],
        behind: &Behind<'_>,
        live: &Live,
        sites: usize,
    ) -> Option<Vec<Line<'s>>> {
        self.values.clear();
        // Constants may be read as words and as doubles.
        let mut current: HashMap<(Slot, bool), usize> = HashMap::new();
        let mut lines: Vec<Line<'s>> = Vec::new();
        let mut site = sites;
        let mut site_of = |access: &Access| {
            let own = if access.space == Space::Shared { 0 } else { site };
            site += usize::from(own != 0);
            own
        };
        // Samples are read by the templates themselves.
        let base_of = |access: &Access| {
            let reads = access.width != Width::None && access.stride.is_none();
            reads.then_some((access.base, access.width))
        };
        for at in places {
            if matches!(steps[*at].op, Op::Join) {
                continue;
            }
            let turns = self.turns_of(*at, &steps[*at]);
            let base_of = |access: &Access| base_of(access).filter(|_| turns.is_none());
            let (what, operands, sources, results): (_, _, Vec<_>, Vec<_>) = match &steps[*at].op {
                Op::Compute { known, operands, .. } => {
                    let (sources, result) = widths(*known);
                    let sources = operands.sources.into_iter().zip(sources.iter().copied()).collect();
                    (What::Compute(*known), Some(*operands), sources, vec![(operands.results[0], result)])
                }
                Op::Load(load) => {
                    let results = load.d.iter().map(|slot| (*slot, load::width(load.memory))).collect();
                    let sources = base_of(&load.access).into_iter().collect();
                    self.distance_of_samples(&load.access)?;
                    (What::Load(load, site_of(&load.access)), None, sources, results)
                }
                Op::Store(store) => {
                    let values = store.sources.iter().map(|slot| (*slot, load::width(store.memory)));
                    let sources = base_of(&store.access).into_iter().chain(values).collect();
                    self.distance_of_samples(&store.access)?;
                    (What::Store(store, site_of(&store.access)), None, sources, Vec::new())
                }
                Op::Video(step) => {
                    let form = video(self.kernel.videos[step.form as usize])?;
                    let sources = step.sources.iter().map(|slot| (*slot, Width::Word)).collect();
                    (What::Video(form), None, sources, vec![(step.d, Width::Word)])
                }
                _ => return None,
            };
            let mut line = Line {
                what,
                operands,
                sources: Vec::new(),
                results: Vec::new(),
                index: None,
                turns,
                any_nan: false,
                steady: None,
            };
            for (slot, width) in sources {
                let registers = self.homes.iter().find(|home| home.slot == slot).map(|home| home.registers);
                let value = *current.entry((slot, width == Width::Double)).or_insert_with(|| {
                    let at_home = registers.is_some();
                    self.values.push(Value { registers, at_home, ..Value::new(slot, width, true) });
                    self.values.len() - 1
                });
                self.distance(slot, width)?;
                self.values[value].uses.push(lines.len());
                line.sources.push(value);
            }
            for (slot, width) in results {
                self.distance(slot, width)?;
                let short = matches!(line.what, What::Load(load, _) if load::has_zeros_above(load));
                self.values.push(Value { short, ..Value::new(slot, width, false) });
                current.insert((slot, width == Width::Double), self.values.len() - 1);
                line.results.push(self.values.len() - 1);
            }
            lines.push(line);
        }
        if let Some(slot) = behind.guard {
            self.distance(slot, Width::Predicate)?;
            let value = *current.entry((slot, false)).or_insert_with(|| {
                self.values.push(Value::new(slot, Width::Predicate, true));
                self.values.len() - 1
            });
            self.values[value].uses.push(lines.len());
        }
        for ((slot, _), value) in current {
            let lives = behind.steps.iter().any(|step| live.at(*step, slot)) || behind.later.contains(&slot);
            self.values[value].lives = !self.values[value].stored && lives;
        }
        self.find_indexes(&mut lines);
        if lines.iter().any(|line| line.turns.is_some()) {
            self.forget_unread(&mut lines);
        }
        self.find_any_nans(&mut lines);
        Some(lines)
    }

    /// Leaves out what computes something that nothing reads.
    fn forget_unread(&mut self, lines: &mut [Line<'_>]) {
        for (at, line) in lines.iter_mut().enumerate().rev() {
            let unread = |value: &usize| self.values[*value].uses.is_empty() && !self.values[*value].lives;
            if !matches!(line.what, What::Compute(_)) || !line.results.iter().all(unread) {
                continue;
            }
            line.what = What::Compute(Known::No);
            line.results.clear();
            for source in std::mem::take(&mut line.sources) {
                self.values[source].uses.retain(|by| *by != at);
            }
        }
    }

    /// Finds instructions that change the sign of a float for nothing but instructions that take any NaN: so they take any NaN as well.
    fn find_any_nans(&self, lines: &mut [Line<'_>]) {
        for at in 0..lines.len() {
            let What::Compute(Known::NegateFloat | Known::AbsoluteFloat) = lines[at].what else { continue };
            let Value { uses, lives, .. } = &self.values[lines[at].results[0]];
            let takes = |by: &usize| {
                lines.get(*by).is_some_and(|line| matches!(line.what, What::Compute(known) if takes_any_nan(known)))
            };
            lines[at].any_nan = !lives && uses.iter().all(takes);
        }
    }

    /// Where the samples of an access are, if the code can name the place.
    fn distance_of_samples(&self, access: &Access) -> Option<i32> {
        let distance = access.base.offset() as usize * self.scales[access.base.area() as usize];
        i32::try_from(distance).ok()
    }

    /// Where a column is in its area, for the threads of the first turn, if the code can name the place.
    fn distance(&self, slot: Slot, width: Width) -> Option<i32> {
        // Special registers of a thread are words.
        if slot.area() == Area::Thread && width != Width::Word {
            return None;
        }
        let distance = slot.offset() as usize * self.scales[slot.area() as usize];
        i32::try_from(distance + WARP * 8).ok().map(|distance| distance - WARP as i32 * 8)
    }

    /// A value in memory; of a double, the half.
    pub(super) fn memory(&self, value: usize, half: usize) -> Operand {
        let Value { slot, width, spilled, .. } = self.values[value];
        if let Some(place) = spilled {
            return self.on_stack(place, half);
        }
        // What all threads share is the same in both halves.
        let half = if base(slot.area()).1 == 0 { 0 } else { half };
        let distance = self.distance(slot, width).unwrap_or(0);
        Operand::Memory(base(slot.area()).0, distance + (half * self.vectors.bytes()) as i32)
    }

    /// Half of a place on the stack.
    pub(super) fn on_stack(&self, place: usize, half: usize) -> Operand {
        Operand::Memory(General::Rsp, self.distance_on_stack(place) + (half * self.vectors.bytes()) as i32)
    }

    pub(super) fn distance_on_stack(&self, place: usize) -> i32 {
        (2 * place * self.vectors.bytes()) as i32
    }

    /// A new place on the stack, for two registers.
    pub(super) fn place(&mut self) -> usize {
        self.free_places.pop().unwrap_or_else(|| {
            self.spills += 1;
            self.spills - 1
        })
    }

    /// Gives a place back.
    pub(super) fn free_place(&mut self, place: usize) {
        self.free_places.push(place);
    }

    /// Keeps a value on the stack.
    fn spill(&mut self, value: usize) {
        let Some([low, high]) = self.values[value].registers else { return };
        self.values[value].spilled = Some(self.place());
        let [first, second] = [0, 1].map(|half| self.memory(value, half));
        match self.values[value].width {
            Width::Predicate => self.spill_truths(low, first),
            Width::Double => {
                self.vector(STORE_DOUBLES, low, 0, first);
                self.vector(STORE_DOUBLES, high, 0, second);
            }
            _ => self.vector(STORE_WORDS, low, 0, first),
        }
    }

    /// What an instruction adds to a home of words, if the value that it gives is that, and one or minus one.
    fn counts_by(&self, line: &Line<'_>, value: usize) -> Option<i32> {
        let of_home = |source: &usize| {
            let (old, new) = (&self.values[*source], &self.values[value]);
            old.slot == new.slot && self.homes.iter().any(|home| old.registers == Some(home.registers))
        };
        if line.results[..] != [value] || !matches!(line.what, What::Compute(Known::Add)) {
            return None;
        }
        let other = line.sources.iter().position(of_home)? ^ 1;
        let by = immediate(self.kernel, self.values[*line.sources.get(other)?].slot)? as i32;
        matches!(by, -1 | 1).then_some(by)
    }

    /// Stores a value in its column, or in its home, to which `counts` was added.
    fn store(&mut self, value: usize, counts: Option<i32>) {
        let Some([low, high]) = self.values[value].registers else { return };
        let slot = self.values[value].slot;
        if let Some(home) = self.homes.iter().find(|home| home.slot == slot).copied() {
            let halves = usize::from(home.width == Width::Double);
            for (half, from) in [low, high].into_iter().enumerate().take(1 + halves) {
                match self.straight {
                    _ if from == home.registers[half] => {}
                    true => self.copy(home.registers[half], Operand::Register(from)),
                    false => self.copy_active((halves == 1).then_some(half), home.registers[half], from),
                }
            }
            if self.masked && home.follows {
                match (counts, home.left, self.active_words) {
                    // Both had the same. Truths are -1, so this takes one instruction instead of three.
                    (Some(by), Some(left), Some(active)) => {
                        let code = if by > 0 { SUB } else { ADD };
                        self.vector(code, left, left, Operand::Register(active));
                    }
                    _ => self.copy_to_left(&home, self.active_register()),
                }
            }
            self.values[value].stored = true;
            return;
        }
        let spilled = self.values[value].spilled.take();
        let [first, second] = [0, 1].map(|half| self.memory(value, half));
        match self.values[value].width {
            Width::Word => self.store_active(None, low, first),
            Width::Double => {
                self.store_active(Some(0), low, first);
                self.store_active(Some(1), high, second);
            }
            Width::Predicate => self.store_truths(low, first),
            Width::None => {}
        }
        self.values[value].stored = true;
        self.values[value].spilled = spilled;
    }

    /// Whether values of a width stay in mask registers.
    fn in_masks(&self, width: Width) -> bool {
        width == Width::Predicate && self.vectors == Vectors::Avx512
    }

    /// Registers for a value.
    fn take(&mut self, width: Width) -> [u8; 2] {
        if self.in_masks(width) {
            while self.free_masks == 0 {
                self.evict(true);
            }
            let k = self.free_masks.trailing_zeros() as u8;
            self.free_masks &= !(1 << k);
            return [k, k];
        }
        let mut one = || {
            while self.free == 0 {
                self.evict(false);
            }
            let register = self.free.trailing_zeros() as u8;
            self.free &= !(1 << register);
            register
        };
        let low = one();
        [low, if width == Width::Double { one() } else { low }]
    }

    /// Frees the registers of the value that is needed last.
    fn evict(&mut self, masks: bool) {
        let candidates = self.values.iter().enumerate().filter(|(number, value)| {
            let free = !value.at_home && !self.pinned.contains(number);
            value.registers.is_some() && self.in_masks(value.width) == masks && free
        });
        let last = candidates.max_by_key(|(_, value)| value.uses.get(value.used).copied().unwrap_or(usize::MAX));
        let Some((number, _)) = last else { unreachable!("homes and groups of loads leave registers") };
        let value = &self.values[number];
        // What a home has is not in the column, and the home may get another value.
        let in_column = value.stored && self.homes.iter().all(|home| home.slot != value.slot);
        if !in_column && value.spilled.is_none() {
            self.spill(number);
        }
        self.release(number);
    }

    fn release(&mut self, value: usize) {
        if self.values[value].at_home {
            return;
        }
        if let Some([low, high]) = self.values[value].registers.take() {
            match self.in_masks(self.values[value].width) {
                true => self.free_masks |= 1 << low,
                false => self.free |= 1 << low | 1 << high,
            }
        }
    }

    /// A value in registers.
    pub(super) fn read(&mut self, value: usize) -> [u8; 2] {
        if let Some(registers) = self.values[value].registers {
            return registers;
        }
        let width = self.values[value].width;
        let registers = self.take(width);
        self.values[value].registers = Some(registers);
        let [first, second] = [0, 1].map(|half| self.memory(value, half));
        match width {
            Width::Predicate if self.values[value].spilled.is_some() => self.unspill_truths(registers[0], first),
            Width::Predicate => self.load_truths(registers[0], first),
            Width::Double => {
                self.vector(MOVE_DOUBLES, registers[0], 0, first);
                self.vector(MOVE_DOUBLES, registers[1], 0, second);
            }
            _ => self.copy(registers[0], first),
        }
        registers
    }

    /// A value as the last operand of instructions: in memory, if this is the only step that still reads it.
    pub(super) fn operands(&mut self, value: usize) -> [Operand; 2] {
        let Value { registers, uses, used, .. } = &self.values[value];
        let last = uses[*used..].iter().all(|step| *step == self.at);
        if registers.is_none() && last {
            return [0, 1].map(|half| self.memory(value, half));
        }
        self.read(value).map(Operand::Register)
    }

    /// Half of the words of a value, as the last operand; in the given register where they must be moved.
    fn half(&mut self, value: usize, half: usize, through: u8) -> Operand {
        if self.values[value].registers.is_none()
            && let Operand::Memory(base, distance) = self.memory(value, 0)
        {
            let Value { slot, spilled, .. } = self.values[value];
            let shared = spilled.is_none() && self::base(slot.area()).1 == 0;
            let ahead = if shared { 0 } else { half * self.vectors.bytes() / 2 };
            return Operand::Memory(base, distance + ahead as i32);
        }
        let [register, _] = self.read(value);
        self.half_of(register, half, through)
    }

    /// Makes the NaN of arithmetic of every NaN.
    pub(super) fn settle(&mut self, value: usize) {
        if !std::mem::take(&mut self.values[value].any_nan) {
            return;
        }
        let [register, _] = self.read(value);
        let nans = self.truth(K0, T4);
        self.vector_by(COMPARE_FLOATS, nans, register, Operand::Register(register), UNORDERED);
        let nan = self.asm.word(NAN);
        self.choose(false, register, register, nan, nans);
        self.values[value].stored = false;
        if let Some(place) = self.values[value].spilled.take() {
            self.free_place(place);
        }
    }

    /// Registers for a value that an instruction gives.
    pub(super) fn give(&mut self, value: usize) -> [u8; 2] {
        let registers = self.take(self.values[value].width);
        self.values[value].registers = Some(registers);
        self.pinned.push(value);
        registers
    }

    /// Registers for the result of the instruction.
    fn result(&mut self, line: &Line<'_>) -> [u8; 2] {
        self.give(line.results[0])
    }

    /// The same, perhaps those of a source that nothing reads any more, or those of its home: for templates that read their sources in the
    /// first instruction.
    fn result_over(&mut self, line: &Line<'_>) -> [u8; 2] {
        if let Some(registers) = self.home_for(line.results[0]) {
            let value = &mut self.values[line.results[0]];
            (value.registers, value.at_home) = (Some(registers), true);
            return registers;
        }
        let width = self.values[line.results[0]].width;
        for source in line.sources.clone() {
            let value = &self.values[source];
            let ends = value.uses.last() == Some(&self.at) && !self.waiting.contains(&source) && !value.at_home;
            let done = ends && value.width == width;
            if done && let Some(registers) = value.registers {
                // The column is not asked for any more, so that the value may be lost.
                self.values[source].registers = None;
                self.values[line.results[0]].registers = Some(registers);
                self.pinned.push(line.results[0]);
                return registers;
            }
        }
        self.result(line)
    }

    /// The registers of the home that the result of the instruction is stored in at once, for all threads of the turn.
    fn home_for(&self, result: usize) -> Option<[u8; 2]> {
        let value = &self.values[result];
        let at_once = value.lives && self.stores_now() && (self.straight || !self.masked);
        let home = self.homes.iter().find(|home| home.slot == value.slot && home.width == value.width)?;
        // What was there before.
        let read_later =
            |old: &Value| old.at_home && old.slot == home.slot && old.uses.last().is_some_and(|step| *step > self.at);
        (at_once && !self.values.iter().any(read_later)).then_some(home.registers)
    }

    /// Whether results are stored where they are computed, as no check is behind them that may leave the function.
    fn stores_now(&self) -> bool {
        self.last_check.is_none_or(|last| self.at >= last)
    }

    /// Writes an instruction: a load with others like it, or nothing, if it was among these.
    fn line(&mut self, line: &Line<'_>, others: Option<&Vec<&Line<'_>>>) {
        self.pinned.clear();
        self.pinned.extend(&line.sources);
        match line.what {
            What::Load(load, site) => {
                if let Some(others) = others {
                    self.load(line, load, site, others);
                }
            }
            What::Compute(known) => {
                if !takes_any_nan(known) && !line.any_nan {
                    line.sources.iter().for_each(|source| self.settle(*source));
                }
                self.template(line, known);
            }
            What::Video(video) => {
                line.sources.iter().for_each(|source| self.settle(*source));
                self.video(line, video);
            }
            What::Store(store, site) => {
                // Of floats, what memory gets is the NaN of arithmetic.
                line.sources.iter().for_each(|source| self.settle(*source));
                self.store_to_memory(line, store, site);
            }
        }
        for source in &line.sources {
            let value = &mut self.values[*source];
            while value.uses.get(value.used).is_some_and(|step| *step <= self.at) {
                value.used += 1;
            }
        }
        // What lives is stored at once, unless a later check may still leave the function.
        self.waiting.extend(line.results.iter().filter(|result| self.values[**result].lives));
        if self.stores_now() {
            self.pinned.clear();
            for value in std::mem::take(&mut self.waiting) {
                self.read(value);
                self.settle(value);
                self.store(value, self.counts_by(line, value));
                self.release_if_done(value);
            }
        }
        line.sources.iter().chain(&line.results).for_each(|value| self.release_if_done(*value));
    }

    /// Frees the registers of a value that nothing needs any more.
    fn release_if_done(&mut self, value: usize) {
        if self.values[value].used == self.values[value].uses.len() && !self.waiting.contains(&value) {
            self.release(value);
            if let Some(place) = self.values[value].spilled.take() {
                self.free_place(place);
            }
        }
    }

    /// An instruction of two words or doubles.
    pub(super) fn two(&mut self, line: &Line<'_>, code: Code) {
        let double = self.values[line.results[0]].width == Width::Double;
        let a = self.read(line.sources[0]);
        let b = self.operands(line.sources[1]);
        let d = self.result_over(line);
        self.vector(code, d[0], a[0], b[0]);
        if double {
            // The first half of the result may be where the second half of no source is: registers are reused as pairs.
            self.vector(code, d[1], a[1], b[1]);
        }
    }

    /// The same where operands may change places, so that the one in memory comes last.
    fn two_of_any_order(&mut self, line: &Line<'_>, code: Code) {
        let mut line = line.clone();
        if self.values[line.sources[0]].registers.is_none() {
            line.sources.swap(0, 1);
        }
        self.two(&line, code);
    }

    fn product_of_doubles(&mut self, line: &Line<'_>) {
        let [mut a, mut b] = [line.sources[0], line.sources[1]];
        if self.values[a].registers.is_none() {
            (a, b) = (b, a);
        }
        let (a, b) = (self.read(a), self.operands(b));
        let d = self.result_over(line);
        (0..2).for_each(|half| self.multiply_doubles(d[half], a[half], b[half]));
    }

    /// An instruction of two floats.
    fn floats(&mut self, line: &Line<'_>, code: Code) {
        self.two(line, code);
        self.values[line.results[0]].any_nan = true;
    }

    /// A shift by the words of another value, or by an immediate.
    fn shift(&mut self, line: &Line<'_>, by_words: Code, operation: u8) {
        let Some(by) = line.constant(self.kernel, 1) else { return self.two(line, by_words) };
        let [a, _] = self.operands(line.sources[0]);
        let [d, _] = self.result_over(line);
        self.shift_by(SHIFT_BY, operation, d, a, by.min(255) as u8);
    }

    fn shift_doubles(&mut self, line: &Line<'_>, operation: u8) {
        let by = line.constant(self.kernel, 1).unwrap_or(0);
        let a = self.operands(line.sources[0]);
        let d = self.result_over(line);
        for half in 0..2 {
            self.shift_by(SHIFT_DOUBLES_BY, operation, d[half], a[half], by.min(255) as u8);
        }
    }

    /// A word of one value with a constant.
    fn with_constant(&mut self, line: &Line<'_>, code: Code, constant: u32) {
        let [a, _] = self.read(line.sources[0]);
        let [d, _] = self.result_over(line);
        let constant = self.asm.word(constant);
        self.vector(code, d, a, constant);
        self.values[line.results[0]].any_nan = line.any_nan;
    }

    fn doubles_with_constant(&mut self, line: &Line<'_>, code: Code, constant: u64) {
        let a = self.read(line.sources[0]);
        let d = self.result_over(line);
        let constant = self.asm.constant(constant);
        for half in 0..2 {
            self.vector(code, d[half], a[half], constant);
        }
    }

    /// A shift of the two words of a funnel, by less than 32.
    fn funnel(&mut self, line: &Line<'_>, left: bool) {
        const ROTATE_LEFT: u8 = 1;
        const ROTATE_RIGHT: u8 = 0;
        let [a, b] = [line.sources[0], line.sources[1]];
        let Some(by) = line.constant(self.kernel, 2) else { return self.funnel_by(line, left) };
        let by = (by & 31) as u8;
        if a == b && self.vectors == Vectors::Avx512 {
            let [a, _] = self.operands(a);
            let [d, _] = self.result_over(line);
            return self.vector_by(SHIFT_BY, if left { ROTATE_LEFT } else { ROTATE_RIGHT }, d, a, by);
        }
        if by == 0 {
            let [from, _] = self.operands(if left { b } else { a });
            let [d, _] = self.result(line);
            return self.copy(d, from);
        }
        let ([a, _], [b, _]) = (self.operands(a), self.operands(b));
        let [d, _] = self.result(line);
        let (right, up) = if left { (32 - by, by) } else { (by, 32 - by) };
        self.shift_by(SHIFT_BY, RIGHT, d, a, right);
        self.shift_by(SHIFT_BY, LEFT, T0, b, up);
        self.vector(OR, d, d, Operand::Register(T0));
    }

    /// The same by a distance that is a register: distances of 32 give zero, as is right for the word that is not moved.
    fn funnel_by(&mut self, line: &Line<'_>, left: bool) {
        let [a, b, by] = [0, 1, 2].map(|source| self.read(line.sources[source])[0]);
        let [d, _] = self.result(line);
        let [low, bits] = [31, 32].map(|word| self.asm.word(word));
        self.vector(AND, T1, by, low);
        self.constant(SELECT, T0, bits);
        self.vector(SUB, T0, T0, Operand::Register(T1));
        let (right, up) = if left { (T0, T1) } else { (T1, T0) };
        self.vector(SHIFT_RIGHT, d, a, Operand::Register(right));
        self.vector(SHIFT_LEFT, T2, b, Operand::Register(up));
        self.vector(OR, d, d, Operand::Register(T2));
    }

    /// The high words of products: those of every other thread are multiplied where they are, and the others where they are moved to.
    fn high(&mut self, line: &Line<'_>, signed: bool) {
        let multiply = if signed { WIDE_SIGNED } else { WIDE };
        let ([a, _], [b, _]) = (self.read(line.sources[0]), self.read(line.sources[1]));
        let [d, _] = self.result(line);
        for (to, from) in [(T0, a), (T1, b)] {
            self.shift_by(SHIFT_DOUBLES_BY, RIGHT, to, Operand::Register(from), 32);
        }
        self.vector(multiply, T0, T0, Operand::Register(T1));
        self.vector(multiply, d, a, Operand::Register(b));
        self.shift_by(SHIFT_DOUBLES_BY, RIGHT, d, Operand::Register(d), 32);
        self.take_odd_words(d, T0);
    }

    /// Bytes of two words, as constant selectors say: a shuffle of each word gives zeros where the other one has the byte.
    fn permute(&mut self, line: &Line<'_>) {
        let selectors = line.constant(self.kernel, 2).unwrap_or(0);
        let places = |second: bool| {
            let byte = |word: u32, i: u32| match selectors >> (4 * i) & 7 {
                selector if (selector >= 4) == second => 4 * (word % 4) + selector % 4,
                _ => 0x80,
            };
            std::array::from_fn(|word| (0..4).fold(0, |all, i| all | byte(word as u32, i) << (8 * i)))
        };
        let mut from = [false, true].map(|second| (second, places(second))).to_vec();
        from.retain(|(_, places)| places[0] != 0x8080_8080);
        for (second, _) in &from {
            self.read(line.sources[usize::from(*second)]);
        }
        let [d, _] = self.result(line);
        for (i, (second, places)) in from.iter().enumerate() {
            let [source, _] = self.read(line.sources[usize::from(*second)]);
            let places = self.asm.vector(*places);
            self.vector(SHUFFLE_BYTES, if i == 0 { d } else { T0 }, source, places);
        }
        if from.len() > 1 {
            self.vector(OR, d, d, Operand::Register(T0));
        }
    }

    /// Some bits of words, from a constant place on.
    fn field(&mut self, line: &Line<'_>, signed: bool) {
        let [start, length] = [1, 2].map(|at| line.constant(self.kernel, at).unwrap_or(0) & 255);
        let [a, _] = self.operands(line.sources[0]);
        let [d, _] = self.result(line);
        if length == 0 || !signed && start > 31 {
            return self.vector(XOR, d, d, Operand::Register(d));
        }
        let unused = 32u32.saturating_sub(length) as u8;
        self.shift_by(SHIFT_BY, if signed { RIGHT_SIGNED } else { RIGHT }, d, a, start.min(31) as u8);
        match signed {
            _ if unused == 0 => {}
            true => {
                self.shift_by(SHIFT_BY, LEFT, d, Operand::Register(d), unused);
                self.shift_by(SHIFT_BY, RIGHT_SIGNED, d, Operand::Register(d), unused);
            }
            false => {
                let mask = self.asm.word(u32::MAX >> unused);
                self.vector(AND, d, d, mask);
            }
        }
    }

    /// The second words, with the low bits of the first ones from a constant place on.
    fn insert_field(&mut self, line: &Line<'_>) {
        let [start, length] = [2, 3].map(|at| line.constant(self.kernel, at).unwrap_or(0) & 255);
        let ones = u32::MAX.checked_shl(length).map_or(u32::MAX, |above| !above);
        let field = ones.checked_shl(start).unwrap_or(0);
        let ([a, _], [b, _]) = (self.operands(line.sources[0]), self.read(line.sources[1]));
        let [d, _] = self.result(line);
        let [field, others] = [field, !field].map(|mask| self.asm.word(mask));
        self.shift_by(SHIFT_BY, LEFT, T0, a, start.min(31) as u8);
        self.vector(AND, T0, T0, field);
        self.vector(AND, d, b, others);
        self.vector(OR, d, d, Operand::Register(T0));
    }

    /// Products of words as doubles.
    fn wide(&mut self, line: &Line<'_>, signed: bool) {
        let (extend, multiply) = if signed { (EXTEND_SIGNED, WIDE_SIGNED) } else { (EXTEND, WIDE) };
        let d = self.result(line);
        for (half, d) in d.into_iter().enumerate() {
            let a = self.half(line.sources[0], half, T0);
            self.vector(extend, T1, 0, a);
            let b = self.half(line.sources[1], half, T0);
            self.vector(extend, T2, 0, b);
            self.vector(multiply, d, T1, Operand::Register(T2));
        }
        if let Some(c) = line.sources.get(2) {
            let c = self.operands(*c);
            for half in 0..2 {
                self.vector(ADD_DOUBLES, d[half], d[half], c[half]);
            }
        }
    }

    fn fused(&mut self, line: &Line<'_>) {
        let [a, b, c] = [line.sources[0], line.sources[1], line.sources[2]];
        let [x, _] = self.read(a);
        let ends = |this: &Writer<'_>, value: usize| {
            this.values[value].uses.last() == Some(&this.at)
                && !this.waiting.contains(&value)
                && !this.values[value].at_home
                && line.sources.iter().filter(|s| **s == value).count() == 1
        };
        let in_registers = self.values[c].registers;
        // A sum goes on in the register that it is in.
        if let (Some([z, _]), true) = (in_registers, ends(self, c)) {
            let [y, _] = self.operands(b);
            self.values[c].registers = None;
            self.values[line.results[0]].registers = Some([z, z]);
            self.vector(FUSED_231, z, x, y);
        } else {
            let [y, _] = self.read(b);
            let [z, _] = self.operands(c);
            let d = if ends(self, a) {
                self.values[a].registers = None;
                self.values[line.results[0]].registers = Some([x, x]);
                x
            } else {
                let [d, _] = self.result(line);
                self.copy(d, Operand::Register(x));
                d
            };
            self.vector(FUSED_213, d, y, z);
        }
        self.values[line.results[0]].any_nan = true;
    }

    /// The smaller or the larger number: of zeros that with the right sign, of a number and a NaN the number.
    fn extreme(&mut self, line: &Line<'_>, code: Code, of_equal: Code) {
        let ([a, _], [b, _]) = (self.read(line.sources[0]), self.read(line.sources[1]));
        let [d, _] = self.result(line);
        self.vector(code, d, a, Operand::Register(b));
        let truths = self.truth(K0, T0);
        self.vector_by(COMPARE_FLOATS, truths, b, Operand::Register(b), UNORDERED);
        self.choose(false, d, d, Operand::Register(a), truths);
        self.vector_by(COMPARE_FLOATS, truths, a, Operand::Register(b), 0);
        self.where_true(of_equal, false, d, a, Operand::Register(b), truths);
        self.values[line.results[0]].any_nan = true;
    }

    /// As `pure::approx` computes it, operation by operation.
    fn reciprocal_root(&mut self, line: &Line<'_>) {
        let [a, _] = self.read(line.sources[0]);
        let [d, _] = self.result(line);
        let one = self.asm.word(1f32.to_bits());
        self.vector(ROOTS, T0, 0, Operand::Register(a));
        self.constant(SELECT, T1, one);
        self.vector(DIV_FLOATS, d, T1, Operand::Register(T0));
        let [one, one_half, three_eighths] = [1f64, 0.5, 0.375].map(|x| self.asm.constant(x.to_bits()));
        for (half, mended) in [T3, T4].into_iter().enumerate() {
            let wide = self.half_of(a, half, T0);
            self.vector(FLOATS_TO_DOUBLES, T0, 0, wide);
            let y = self.half_of(d, half, T1);
            self.vector(FLOATS_TO_DOUBLES, T1, 0, y);
            self.vector(MUL_FLOAT_DOUBLES, T2, T1, Operand::Register(T1));
            self.vector(MUL_FLOAT_DOUBLES, T2, T0, Operand::Register(T2));
            // error = 1 - wide * y * y
            self.constant(SELECT_DOUBLES, T0, one);
            self.vector(SUB_FLOAT_DOUBLES, T0, T0, Operand::Register(T2));
            self.vector(MUL_FLOAT_DOUBLES, T2, T0, three_eighths);
            self.vector(ADD_FLOAT_DOUBLES, T2, T2, one_half);
            self.vector(MUL_FLOAT_DOUBLES, T2, T0, Operand::Register(T2));
            self.vector(MUL_FLOAT_DOUBLES, T2, T1, Operand::Register(T2));
            self.vector(ADD_FLOAT_DOUBLES, T2, T1, Operand::Register(T2));
            self.vector(DOUBLES_TO_FLOATS, mended, 0, Operand::Register(T2));
        }
        self.join(T3, T3, T4);
        // Where the error is a NaN, and only there, so is what is mended with it.
        let numbers = self.truth(K0, T0);
        self.vector_by(COMPARE_FLOATS, numbers, T3, Operand::Register(T3), ORDERED);
        self.choose(false, d, d, Operand::Register(T3), numbers);
        self.values[line.results[0]].any_nan = true;
    }

    /// Fused multiplication of doubles. A result that is a NaN is the first operand that is one, made quiet: CPUs differ in which it is.
    fn fused_doubles(&mut self, line: &Line<'_>) {
        let sources: [[u8; 2]; 3] = std::array::from_fn(|i| self.read(line.sources[i]));
        let d = self.result(line);
        let [default, quiet] = [0xfff8_0000_0000_0000, 1 << 51].map(|bits| self.asm.constant(bits));
        let (nans, of_source) = (self.truth(K0, T0), self.truth(K1, T1));
        for half in 0..2 {
            let [a, b, c] = sources.map(|registers| registers[half]);
            let d = d[half];
            self.copy(d, Operand::Register(a));
            self.vector(FUSED_DOUBLES_213, d, b, Operand::Register(c));
            self.vector_by(COMPARE_FLOAT_DOUBLES, nans, d, Operand::Register(d), UNORDERED);
            let usual = self.jump_if_none(nans);
            self.choose(true, d, d, default, nans);
            for x in [c, b, a] {
                self.vector_by(COMPARE_FLOAT_DOUBLES, of_source, x, Operand::Register(x), UNORDERED);
                self.where_true(OR_DOUBLES, true, d, x, quiet, of_source);
            }
            self.asm.land(usual);
        }
    }

    fn compare(&mut self, line: &Line<'_>, relation: Relation, what: Compared) {
        // Of floats: quiet comparisons.
        let floats = match relation {
            Relation::Equal => 0x00,
            Relation::NotEqual => 0x0c,
            Relation::Less => 0x11,
            Relation::LessOrEqual => 0x12,
            Relation::Greater => 0x1e,
            Relation::GreaterOrEqual => 0x1d,
            Relation::EqualOrNan => 0x08,
            Relation::NotEqualOrNan => 0x04,
            Relation::LessOrNan => 0x19,
            Relation::LessOrEqualOrNan => 0x1a,
            Relation::GreaterOrNan => 0x16,
            Relation::GreaterOrEqualOrNan => 0x15,
            Relation::Numbers => ORDERED,
            Relation::Nan => UNORDERED,
        };
        let mut a = self.read(line.sources[0]);
        let mut b = self.operands(line.sources[1]);
        let [d, _] = self.result(line);
        match what {
            // Words that are equal in their low halves, or in the order of these, as there are zeros above.
            Compared::Short { signed }
                if (!signed || matches!(relation, Relation::Equal | Relation::NotEqual))
                    && line.sources.iter().all(|source| self.values[*source].short) =>
            {
                self.compare_words(false, relation, d, a[0], b[0]);
            }
            Compared::Short { signed } => {
                // The low halves, moved up, are in the same order.
                self.shift_by(SHIFT_BY, LEFT, T0, Operand::Register(a[0]), 16);
                self.shift_by(SHIFT_BY, LEFT, T1, b[0], 16);
                (a, b) = ([T0; 2], [Operand::Register(T1); 2]);
                self.compare_words(signed, relation, d, a[0], b[0]);
            }
            Compared::Word { signed } => self.compare_words(signed, relation, d, a[0], b[0]),
            Compared::Double { signed } => self.compare_doubles(signed, relation, d, a, b),
            Compared::Float => self.vector_by(COMPARE_FLOATS, d, a[0], b[0], floats),
            Compared::FloatDouble => {
                let halves = [self.truth(K0, T0), self.truth(K1, T1)];
                (0..2).for_each(|half| self.vector_by(COMPARE_FLOAT_DOUBLES, halves[half], a[half], b[half], floats));
                self.join_truths(d, halves);
            }
        }
    }

    fn select(&mut self, line: &Line<'_>) {
        let [k, _] = self.read(line.sources[2]);
        let is_zero = |this: &Writer<'_>, source: usize| line.constant(this.kernel, source) == Some(0);
        if self.values[line.results[0]].width == Width::Word && self.vectors == Vectors::Avx2 {
            // A truth is ones, so that nothing must choose between a value and zero.
            let (code, of) = if is_zero(self, 1) { (AND, 0) } else { (AND_NOT, 1) };
            if is_zero(self, 1 - of) {
                let [from, _] = self.operands(line.sources[of]);
                let [d, _] = self.result(line);
                return self.vector(code, d, k, from);
            }
        }
        let no = self.read(line.sources[1]);
        let yes = self.operands(line.sources[0]);
        let d = self.result(line);
        if self.values[line.results[0]].width == Width::Word {
            return self.choose(false, d[0], no[0], yes[0], k);
        }
        for half in 0..2 {
            let truths = self.half_of_truths(k, half, K1, T0);
            self.choose(true, d[half], no[half], yes[half], truths);
        }
    }

    fn predicates(&mut self, line: &Line<'_>, of_masks: Code, of_vectors: Code) {
        let ([a, _], [b, _]) = (self.read(line.sources[0]), self.read(line.sources[1]));
        let [d, _] = self.result(line);
        self.truths(of_masks, of_vectors, d, a, b);
    }

    fn template(&mut self, line: &Line<'_>, known: Known) {
        use Known::*;
        match known {
            No => {}
            Move => {
                let [a, _] = self.operands(line.sources[0]);
                let [d, _] = self.result(line);
                self.copy(d, a);
            }
            MoveDouble => {
                let a = self.operands(line.sources[0]);
                let d = self.result(line);
                (0..2).for_each(|half| self.vector(MOVE_DOUBLES, d[half], 0, a[half]));
            }
            MovePredicate => {
                let [a, _] = self.read(line.sources[0]);
                let [d, _] = self.result(line);
                self.copy_truths(d, a);
            }
            Add => self.two_of_any_order(line, ADD),
            Subtract => self.two(line, SUB),
            Multiply => self.two_of_any_order(line, MUL),
            MultiplyAdd => {
                let [a, _] = self.read(line.sources[0]);
                let ([b, _], [c, _]) = (self.operands(line.sources[1]), self.operands(line.sources[2]));
                let [d, _] = self.result(line);
                self.vector(MUL, d, a, b);
                self.vector(ADD, d, d, c);
            }
            And => self.two_of_any_order(line, AND),
            Or => self.two_of_any_order(line, OR),
            Xor => self.two_of_any_order(line, XOR),
            Not => self.with_constant(line, XOR, u32::MAX),
            ShiftLeft => self.shift(line, SHIFT_LEFT, LEFT),
            ShiftRight => self.shift(line, SHIFT_RIGHT, RIGHT),
            ShiftRightSigned => self.shift(line, SHIFT_RIGHT_SIGNED, RIGHT_SIGNED),
            Least => self.two_of_any_order(line, MIN),
            Greatest => self.two_of_any_order(line, MAX),
            LeastSigned => self.two_of_any_order(line, MIN_SIGNED),
            GreatestSigned => self.two_of_any_order(line, MAX_SIGNED),
            Negate => {
                let [a, _] = self.operands(line.sources[0]);
                let [d, _] = self.result(line);
                self.vector(XOR, T0, T0, Operand::Register(T0));
                self.vector(SUB, d, T0, a);
            }
            Absolute => {
                let [a, _] = self.operands(line.sources[0]);
                let [d, _] = self.result(line);
                self.vector(ABSOLUTE, d, 0, a);
            }
            High { signed } => self.high(line, signed),
            Permute => self.permute(line),
            Field { signed } => self.field(line, signed),
            Insert => self.insert_field(line),
            Table => {
                let table = line.constant(self.kernel, 3).unwrap_or(0);
                let [a, _] = self.operands(line.sources[0]);
                let [b, _] = self.read(line.sources[1]);
                let [c, _] = self.operands(line.sources[2]);
                let [d, _] = self.result(line);
                self.table(table as u8, d, a, b, c);
            }
            FunnelLeft => self.funnel(line, true),
            FunnelRight => self.funnel(line, false),
            Low8 => self.with_constant(line, AND, 0xff),
            Low16 => self.with_constant(line, AND, 0xffff),
            AddDouble => self.two_of_any_order(line, ADD_DOUBLES),
            SubtractDouble => self.two(line, SUB_DOUBLES),
            MultiplyDouble => self.product_of_doubles(line),
            MultiplyAddDouble => {
                let a = self.read(line.sources[0]);
                let (b, c) = (self.operands(line.sources[1]), self.operands(line.sources[2]));
                let d = self.result(line);
                for half in 0..2 {
                    self.multiply_doubles(d[half], a[half], b[half]);
                    self.vector(ADD_DOUBLES, d[half], d[half], c[half]);
                }
            }
            AndDouble => self.two_of_any_order(line, AND_DOUBLES),
            OrDouble => self.two_of_any_order(line, OR_DOUBLES),
            XorDouble => self.two_of_any_order(line, XOR_DOUBLES),
            NotDouble => self.doubles_with_constant(line, XOR_DOUBLES, u64::MAX),
            ShiftLeftDouble => self.shift_doubles(line, LEFT),
            ShiftRightDouble => self.shift_doubles(line, RIGHT),
            Wide { signed } | WideAdd { signed } => self.wide(line, signed),
            Extend { signed } => {
                let extend = if signed { EXTEND_SIGNED } else { EXTEND };
                let d = self.result(line);
                for (half, d) in d.into_iter().enumerate() {
                    let a = self.half(line.sources[0], half, T0);
                    self.vector(extend, d, 0, a);
                }
            }
            Low => {
                let a = self.read(line.sources[0]);
                let [d, _] = self.result(line);
                self.low(d, a);
            }
            AddFloat => self.floats(line, ADD_FLOATS),
            SubtractFloat => self.floats(line, SUB_FLOATS),
            MultiplyFloat => self.floats(line, MUL_FLOATS),
            FusedFloat => self.fused(line),
            NegateFloat => self.with_constant(line, XOR, 1 << 31),
            AbsoluteFloat => self.with_constant(line, AND, u32::MAX >> 1),
            LeastFloat => self.extreme(line, MIN_FLOATS, OR),
            GreatestFloat => self.extreme(line, MAX_FLOATS, AND),
            ReciprocalRoot => self.reciprocal_root(line),
            ToFloat { signed } => {
                let [a, _] = self.operands(line.sources[0]);
                let [d, _] = self.result(line);
                match signed {
                    true => self.vector(TO_FLOATS_SIGNED, d, 0, a),
                    false => self.unsigned_to_floats(d, a),
                }
            }
            // Of two NaNs these take the first, as the instructions do.
            AddFloatDouble => self.two(line, ADD_FLOAT_DOUBLES),
            SubtractFloatDouble => self.two(line, SUB_FLOAT_DOUBLES),
            MultiplyFloatDouble => self.two(line, MUL_FLOAT_DOUBLES),
            FusedFloatDouble => self.fused_doubles(line),
            NegateFloatDouble => self.doubles_with_constant(line, XOR_DOUBLES, 1 << 63),
            Compare(relation, what) => self.compare(line, relation, what),
            SelectWord | SelectDouble => self.select(line),
            AndPredicate => self.predicates(line, MASK_AND, AND),
            OrPredicate => self.predicates(line, MASK_OR, OR),
            XorPredicate => self.predicates(line, MASK_XOR, XOR),
            NotPredicate => {
                let [a, _] = self.read(line.sources[0]);
                let [d, _] = self.result(line);
                self.not_truths(d, a);
            }
        }
    }
}

impl Value {
    fn new(slot: Slot, width: Width, stored: bool) -> Value {
        Value {
            slot,
            width,
            uses: Vec::new(),
            used: 0,
            registers: None,
            stored,
            spilled: None,
            lives: false,
            any_nan: false,
            at_home: false,
            short: false,
        }
    }
}
