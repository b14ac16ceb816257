//! Addresses of shared memory that depend on a thread's place in the block alone, as most of those that kernels compute from `%tid`.
//!
//! A register that is written at one place, from nothing but `%tid` and the like, constants, and other such registers, has one value for each
//! thread, in every block of every launch with blocks of one shape. What it is is found out when a kernel is translated, by the loops that
//! the engine would execute. An access with such an address is checked then, for all threads; one that could fail is left to the checks in
//! the code. The function has no address to compute, and knows how the threads of each turn reach memory:
//!
//! - Mostly each thread of a turn is as far from the first one in every turn. Then the function has the offset of each turn's first thread in a
//!   table, and the distances from it in its instructions: eight bytes of two threads that stand together are one load, or one store.
//! - Otherwise the table has the offsets of all threads.
//!
//! Where all accesses of a run that may reach shared memory are so, and no turn writes what another one reads or writes, the run needs no
//! [`phases`](super::phases): each turn stores at once.
//!
//! A function for some of the threads checks its addresses as any other.

use std::collections::HashMap;
use std::rc::Rc;

use super::assembler::Operand;
use super::emit::*;
use super::load::{START, Shape};
use super::vectors::Vectors;
use crate::code::{Access, Entry, Kernel, Load, Op, Role, Step, Store};
use crate::column::{Area, File, Operands, Slot, WARP, Width};
use crate::memory::Space;
use crate::special::Special;

/// Registers that are looked at for this, at most, known or not: in a block of 1,024 threads their values take a megabyte.
const MAX_COLUMNS: usize = 128;
/// Steps from a register back to the constants.
const MAX_DEPTH: usize = 64;
/// An access's offset from its base, at most.
const MAX_OFFSET: i64 = 1 << 24;
/// Bytes that an operand's element may have.
const ELEMENT: usize = 8;
/// Sources and results of a computation.
const SOURCES: usize = 4;
const OPERANDS: usize = SOURCES + 2;

/// The elements of a register for all threads of a block, as their loops read them: words or doubles, or predicates.
type Column = Rc<[u8]>;

/// Where the threads of a block reach, by the base of an access.
#[derive(Debug)]
pub(super) struct Turns {
    /// The base of each thread.
    words: Vec<u32>,
    /// The base of the first thread of each turn.
    starts: Vec<u32>,
    /// How far each thread of a turn is from the first one, if that is so in every turn.
    ahead: Option<Vec<i32>>,
}

/// What is known of a kernel's registers, for blocks of one shape.
pub(super) struct Fixed<'k> {
    kernel: &'k Kernel,
    entry: Option<&'k Entry>,
    file: File,
    /// By register: the only step that writes it.
    writer: Vec<Option<usize>>,
    columns: HashMap<usize, Option<Column>>,
    turns: HashMap<usize, Option<Rc<Turns>>>,
    /// Whether anything was found.
    pub(super) found: bool,
}

/// A line of 64 bytes, where columns begin.
#[repr(C, align(64))]
#[derive(Clone, Copy)]
struct Cell([u8; 64]);

impl<'k> Fixed<'k> {
    /// `file` is that of a block: its special registers are those of all blocks of this shape.
    pub(super) fn new(kernel: &'k Kernel, file: &File) -> Fixed<'k> {
        let entry = kernel.entry.as_deref().filter(|entry| entry.steps.len() == kernel.steps.len());
        let mut writer = Vec::new();
        if let Some(entry) = entry {
            let mut times = vec![0u8; entry.numbers.total()];
            writer.resize(times.len(), None);
            for (at, step) in entry.steps.iter().enumerate() {
                let results = step.op.results();
                for number in results.into_iter().filter_map(|(slot, _)| entry.numbers.of(slot)) {
                    times[number] = times[number].saturating_add(1);
                    let computes = matches!(step.op, Op::Compute { .. }) && step.guard.is_none();
                    writer[number] = (computes && times[number] == 1).then_some(at);
                }
            }
            // What may be read before it is written is not what that step writes.
            entry.entered.iter().for_each(|number| writer[*number] = None);
        }
        let (columns, turns) = Default::default();
        Fixed { kernel, entry, file: *file, writer, columns, turns, found: false }
    }

    /// Whether a slot that is no register has one value for each thread, in all blocks of this shape.
    fn is_fixed(&self, slot: Slot) -> bool {
        let special = self.kernel.specials.iter().find(|(_, at, _)| *at == slot).map(|(special, ..)| *special);
        match (slot.area(), special) {
            (Area::Thread, Some(special)) => special.is_of_thread(),
            (Area::Block, Some(special)) => {
                use Special::{DynamicShared, Ntid, Nwarpid, One, Zero};
                matches!(special, Ntid(_) | Nwarpid | DynamicShared | Zero | One)
            }
            (Area::Block, None) => true,
            _ => false,
        }
    }

    /// The elements of a register.
    fn column(&mut self, number: usize, depth: usize) -> Option<Column> {
        if let Some(known) = self.columns.get(&number) {
            return known.clone();
        }
        if depth == 0 || self.columns.len() >= MAX_COLUMNS {
            return None;
        }
        let column = self.compute(number, depth);
        self.columns.insert(number, column.clone());
        column
    }

    #[allow(unsafe_code, reason = "operands stand in columns, which are raw memory")]
    fn compute(&mut self, number: usize, depth: usize) -> Option<Column> {
        let entry = self.entry?;
        let step: &Step = &entry.steps[self.writer[number]?];
        let Op::Compute { run, .. } = step.op else { return None };
        let mut sources = Vec::new();
        let (mut op, mut is_fixed) = (step.op.clone(), true);
        op.slots(&mut |slot, role| match (role, entry.numbers.of(*slot)) {
            (Role::Source, Some(source)) => sources.push(source),
            (Role::Source, None) => is_fixed &= self.is_fixed(*slot),
            _ => {}
        });
        if !is_fixed || sources.len() > SOURCES {
            return None;
        }
        let columns = sources.iter().map(|source| self.column(*source, depth - 1)).collect::<Option<Vec<Column>>>()?;
        // Each operand has a column of its own, of the widest elements.
        let lanes = self.file.warps * WARP;
        let mut cells = vec![Cell([0; 64]); (OPERANDS * ELEMENT * lanes).div_ceil(64)];
        let start = cells.as_mut_ptr().cast::<u8>();
        for (operand, column) in columns.iter().enumerate() {
            // SAFETY: there is room for as many columns, and no column has more bytes.
            unsafe {
                let to = start.add(operand * ELEMENT * lanes);
                to.copy_from_nonoverlapping(column.as_ptr(), column.len());
            }
        }
        let (mut source, mut result, mut found) = (0, SOURCES, None);
        op.slots(&mut |slot, role| {
            let Some(of) = entry.numbers.of(*slot) else { return };
            let place = match role {
                Role::Source => &mut source,
                _ => &mut result,
            };
            let (new, width) = entry.numbers.slot(of, (*place * ELEMENT) as u32);
            if *place >= SOURCES && of == number {
                found = Some((*place, width));
            }
            *slot = new;
            *place += 1;
        });
        let (Op::Compute { operands, .. }, Some((place, width))) = (&op, found) else { return None };
        let mut file = File::new(self.file.warps);
        for area in [Area::Predicates, Area::Words, Area::Doubles] {
            file.bases[area as usize] = start;
        }
        for area in [Area::Thread, Area::Block] {
            file.bases[area as usize] = self.file.bases[area as usize];
        }
        let operands: &Operands = operands;
        // SAFETY: sources and results have columns in these cells, which are aligned as those of a block are; all other operands are special
        // registers and constants, which the block's file has. Without a mask the loop computes for all threads.
        unsafe { run(&file, operands, std::ptr::null()) };
        let bytes = width.bytes() as usize * lanes;
        // SAFETY: the result's column is in the cells.
        Some(unsafe { std::slice::from_raw_parts(start.add(place * ELEMENT * lanes), bytes) }.into())
    }

    /// Where the threads reach by the base of a step's access, if that is known, and each of them is within shared memory.
    fn turns(&mut self, at: usize, access: &Access, lanes: usize, shared_len: u64) -> Option<Rc<Turns>> {
        let entry = self.entry?;
        let (base, _) = self::access(entry.steps.get(at)?)?;
        if access.space != Space::Shared || base.width != Width::Word {
            return None;
        }
        let number = entry.numbers.of(base.base)?;
        if !self.turns.contains_key(&number) {
            let column = self.column(number, MAX_DEPTH);
            self.turns.insert(number, column.map(|column| Rc::new(Turns::new(&column, lanes))));
        }
        let turns = self.turns.get(&number)?.clone()?;
        turns.are_within(access, shared_len).then_some(turns)
    }
}

impl Turns {
    fn new(column: &[u8], lanes: usize) -> Turns {
        let words: Vec<u32> = column.as_chunks().0.iter().map(|word| u32::from_le_bytes(*word)).collect();
        let ahead = |turn: &[u32]| -> Vec<i32> { turn.iter().map(|word| word.wrapping_sub(turn[0]) as i32).collect() };
        let mut turns = words.chunks_exact(lanes);
        let first = turns.next().map(ahead);
        let ahead = first.filter(|first| turns.all(|turn| ahead(turn) == *first));
        let starts: Vec<u32> = words.iter().step_by(lanes).copied().collect();
        Turns { words, starts, ahead }
    }

    /// Whether an access with this base is within shared memory for all threads, and even.
    fn are_within(&self, access: &Access, shared_len: u64) -> bool {
        let offset = access.offset as i64;
        if !(-MAX_OFFSET..=MAX_OFFSET).contains(&offset) {
            return false;
        }
        self.words.iter().all(|word| {
            // Sums that wrap are left to the checks in the code.
            let at = i64::from(*word) + offset;
            *word <= i32::MAX as u32
                && at >= 0
                && at as u64 + u64::from(access.bytes) <= shared_len
                && at % i64::from(access.bytes) == 0
        })
    }

    /// How the threads reach memory, each that many bytes.
    fn shape(&self, bytes: u32) -> Shape {
        let is = |stride: u32| {
            let mut ahead = self.ahead.iter().flatten().enumerate();
            self.ahead.is_some() && ahead.all(|(i, ahead)| *ahead == (i as u32 * stride) as i32)
        };
        match (is(bytes), is(0)) {
            (true, _) => Shape::Row,
            (_, true) => Shape::Flat,
            _ => Shape::Any,
        }
    }

    /// How far threads are from the turn's first one, if it is so in every turn, each of them reaches eight bytes, and not all the same.
    fn pieces(&self, bytes: u32) -> Option<&[i32]> {
        let ahead = self.ahead.as_deref()?;
        (bytes == 8 && self.shape(bytes) != Shape::Flat).then_some(ahead)
    }

    /// Whether no two threads of a turn reach the same.
    fn are_distinct(&self) -> bool {
        let mut ahead = self.ahead.clone().unwrap_or_default();
        ahead.sort_unstable();
        ahead.windows(2).all(|pair| pair[0] != pair[1])
    }

    /// Whether each turn has this many bytes of shared memory from a distance behind its first base on.
    fn has_room(&self, distance: i32, bytes: i32, shared_len: u64) -> bool {
        self.starts.iter().all(|start| {
            let at = i64::from(*start) + i64::from(distance);
            at >= 0 && (at + i64::from(bytes)) as u64 <= shared_len
        })
    }
}

/// The registers of eight bytes of each thread: whether they are those of two words, and otherwise of the halves of doubles.
fn in_pieces(registers: &[[u8; 2]]) -> (bool, [u8; 2]) {
    match *registers {
        [first, second] => (true, [first[0], second[0]]),
        _ => (false, registers[0]),
    }
}

/// Whether turns can store at once: each access of shared memory of the run is known, and what a turn writes no other turn reads or writes.
pub(super) fn are_apart(accesses: &[(Rc<Turns>, &Access, bool)], lanes: usize, shared_len: u64) -> bool {
    // By byte: the turn that writes it, from one on.
    let mut writers = vec![0u16; shared_len as usize];
    let mut all_are = |stores: bool, apart: &mut dyn FnMut(&mut u16, u16) -> bool| {
        accesses.iter().filter(|(.., is_store)| *is_store || !stores).all(|(turns, access, _)| {
            turns.words.iter().enumerate().all(|(thread, word)| {
                let at = (i64::from(*word) + access.offset as i64) as usize;
                let turn = (thread / lanes + 1) as u16;
                writers[at..at + access.bytes as usize].iter_mut().all(|writer| apart(writer, turn))
            })
        })
    };
    let stores = all_are(true, &mut |writer, turn| {
        let first = *writer == 0;
        *writer = if first { turn } else { *writer };
        *writer == turn
    });
    stores && all_are(false, &mut |writer, turn| *writer == 0 || *writer == turn)
}

/// The access of a step.
fn access(step: &Step) -> Option<(&Access, bool)> {
    match &step.op {
        Op::Load(load) => Some((&load.access, false)),
        Op::Store(store) => Some((&store.access, true)),
        _ => None,
    }
}

impl Writer<'_> {
    /// Where the threads reach by the access of a step, if that is known, in a function for all threads.
    pub(super) fn turns_of(&mut self, at: usize, step: &Step) -> Option<Rc<Turns>> {
        let (access, is_store) = access(step).filter(|_| self.knows_places)?;
        let turns = self.fixed.turns(at, access, self.vectors.lanes(), self.shared_len)?;
        // With AVX-512, stores of bytes and shorts that are no rows leave the function.
        let leaves = is_store && access.bytes < 4 && self.vectors == Vectors::Avx512;
        if leaves && turns.shape(access.bytes) != Shape::Row {
            return None;
        }
        self.fixed.found = true;
        Some(turns)
    }

    /// Whether a run that has phases can do without.
    pub(super) fn stores_at_once(&mut self, steps: &[Step], phases: &[Vec<usize>]) -> bool {
        let mut accesses = Vec::new();
        for at in phases.iter().flatten() {
            let Some((access, is_store)) = access(&steps[*at]) else { continue };
            match access.space {
                Space::Shared => {}
                // It may reach shared memory, and is then left to the loops, which would read what turns have stored.
                Space::Generic => return false,
                _ => continue,
            }
            let Some(turns) = self.turns_of(*at, &steps[*at]) else { return false };
            accesses.push((turns, access, is_store));
        }
        are_apart(&accesses, self.vectors.lanes(), self.shared_len)
    }

    /// The host's address of the turn's first thread, and a distance, to the scratch register.
    fn point_at(&mut self, turns: &Turns, distance: i32) {
        self.asm.table_address(SCRATCH_2, &turns.starts);
        self.asm.load_element(SCRATCH, SCRATCH_2, TURN, 4, 0, false);
        self.asm.add_memory(SCRATCH, SITES, START);
        if distance != 0 {
            self.asm.add(SCRATCH, distance);
        }
    }

    /// How far threads are from the turn's first one, as words in `T0`.
    fn place_offsets(&mut self, ahead: &[i32]) {
        let offsets = self.asm.vector(std::array::from_fn(|i| ahead.get(i).map_or(0, |ahead| *ahead as u32)));
        self.copy(T0, offsets);
    }

    /// As [`access`](Self::access) does, of addresses that are known: where it reaches from a distance behind the bases on, and what is done
    /// there.
    pub(super) fn access_known(
        &mut self,
        turns: &Turns,
        bytes: u32,
        distance: i32,
        body: &mut dyn FnMut(&mut Self, Shape),
    ) {
        let shape = turns.shape(bytes);
        // Words around bytes and shorts are gathered, which must be where those of the memory are.
        match turns.ahead.as_deref().filter(|_| bytes >= 4 || shape != Shape::Any) {
            Some(ahead) => {
                self.point_at(turns, distance);
                if shape == Shape::Any {
                    self.place_offsets(ahead);
                }
            }
            None => {
                let offsets: Vec<u32> = turns.words.iter().map(|word| word.wrapping_add_signed(distance)).collect();
                self.asm.table_address(SCRATCH_2, &offsets);
                self.asm.copy(SCRATCH, TURN);
                self.asm.shift_left(SCRATCH, self.vectors.bytes().trailing_zeros() as u8);
                self.copy(T0, Operand::Gathered(SCRATCH_2, SCRATCH as u8, 0));
                self.asm.load(SCRATCH, SITES, START);
            }
        }
        body(self, shape);
    }

    /// Loads whose addresses are known: each with its distance and its registers.
    pub(super) fn load_known(&mut self, turns: &Turns, loads: &[(&Load, i32, Vec<[u8; 2]>)]) {
        let bytes = loads.first().map_or(0, |(load, ..)| load.access.bytes);
        let Some(ahead) = turns.pieces(bytes) else {
            // Loads of a group have one shape; only the distance of the first one is in its addresses.
            let first = loads.first().map_or(0, |(_, distance, _)| *distance);
            return self.access_known(turns, bytes, first, &mut |this, shape| {
                loads.iter().for_each(|(load, distance, d)| this.load_shaped(load, d, *distance - first, shape));
            });
        };
        self.point_at(turns, 0);
        for (load, distance, d) in loads {
            let at: Vec<i32> = ahead.iter().map(|ahead| ahead + distance).collect();
            let (pairs, to) = in_pieces(d);
            let shared_len = self.shared_len;
            if !self.read_pieces(pairs, to, &at, &|from, bytes| turns.has_room(from, bytes, shared_len)) {
                self.place_offsets(ahead);
                self.gather(load, d, *distance);
            }
        }
    }

    /// A store whose addresses are known, of values in registers.
    pub(super) fn store_known(
        &mut self,
        turns: &Turns,
        store: &Store,
        from: &[[u8; 2]],
        body: &mut dyn FnMut(&mut Self, Shape),
    ) {
        let Access { bytes, offset, .. } = store.access;
        let distance = offset as i32;
        if let Some(ahead) = turns.pieces(bytes).filter(|_| turns.are_distinct()) {
            let (pairs, from) = in_pieces(from);
            let at: Vec<i32> = ahead.iter().map(|ahead| ahead + distance).collect();
            if self.has_pieces(&at) {
                self.point_at(turns, 0);
                return self.write_pieces(pairs, from, &at);
            }
        }
        self.access_known(turns, bytes, distance, body);
    }
}
