//! Finds values that are computed once a block, from samples: those that are the same for all threads, or a straight line over the
//! threads of half a warp.
//!
//! Much of what a kernel executes finds addresses: parameters, `%ctaid`, `%tid`, and sums and products of them. A register that is
//! written at one place, from nothing but such values, has one value for each thread whenever it is read. If the value is a straight
//! line over the threads of each half of a warp, the values of the first and the last thread of each half give all others. These *samples* are computed before
//! the block starts, by the loops that compute columns: one column of samples does for a thousand threads. Loads and stores then know
//! how far the threads' addresses are apart. (Such values are called affine and compute for one thread of a warp in: Collange, Defour
//! and Zhang, "Dynamic detection of uniform and affine vectors in GPGPU computations", 2009. Here they are found before the kernel
//! runs.)
//!
//! All threads of a half are mostly on the same side of a bound: the samples show that as well.
//!
//! Lines are taken up to multiples of two to the power of the register's width, in which sums and products of them are exact. Only
//! where a word becomes a double may a line break, where the word wraps; then the samples show it, and the block runs as if
//! nothing were known.

use crate::code::{Access, Claim, Entry, Kernel, Linear, Load, Op, Read, Role, Sampled, Step};
use crate::column::{Area, MAX_LANES, Operands, Slot, Width};
use crate::memory::Space;
use crate::special::Special;

/// Operations before each block. Most kernels have few; a kernel of thousands has most of them where few blocks come by.
const MAX_EACH: usize = 256;
/// Operations before a launch.
const MAX_ONCE: usize = 4096;
/// Threads of a row are less than 2^31 apart: a word wraps once between them at most.
const MAX_STRIDE: i64 = 1 << 20;
const _: () = assert!(MAX_STRIDE * MAX_LANES as i64 <= 1 << 31, "a row is one of a block");

/// What is known of a value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Line {
    /// From one thread of half a warp to the next.
    stride: i64,
    /// Where a word became a double: the factor by which a wrap of the word shows, times 2^32.
    wrap: u64,
    /// Whether all threads of the block have the same value.
    uniform: bool,
    /// Whether it differs between blocks.
    each: bool,
}

impl Line {
    const UNIFORM: Line = Line { stride: 0, wrap: 0, uniform: true, each: false };

    fn of_thread(stride: i64) -> Line {
        Line { stride, uniform: false, ..Line::UNIFORM }
    }

    fn checked(self) -> Option<Line> {
        // A factor below 2^31 times 2^32, with either sign, is no multiple of 2^64.
        (self.stride.abs() <= MAX_STRIDE && self.wrap < 1 << 31).then_some(self)
    }

    /// The sum of this line and `times` times the other.
    fn plus(self, other: Line, times: i64) -> Option<Line> {
        // Two that wrap at different threads might cancel out in the samples.
        let wrap = if self.wrap == 0 { other.wrap } else { self.wrap };
        let line = Line {
            stride: self.stride + times * other.stride,
            wrap,
            uniform: self.uniform && other.uniform,
            each: self.each || other.each,
        };
        (self.wrap == 0 || other.wrap == 0).then_some(line)?.checked()
    }

    fn times(self, factor: i64) -> Option<Line> {
        if factor == 0 {
            return Some(Line { stride: 0, wrap: 0, ..self });
        }
        let stride = self.stride.checked_mul(factor)?;
        Line { stride, wrap: self.wrap.checked_mul(factor.unsigned_abs())?, ..self }.checked()
    }

    /// As a double, of a word.
    fn extended(self) -> Line {
        Line { wrap: u64::from(self.stride != 0), ..self }
    }
}

/// The result of any computation on values that are the same for all threads of half a warp: it is the same for them too.
fn flat(sources: &[Option<Line>]) -> Option<Line> {
    let mut result = Line::UNIFORM;
    for source in sources {
        let line = (*source)?;
        if line.stride != 0 || line.wrap != 0 {
            return None;
        }
        (result.uniform, result.each) = (result.uniform && line.uniform, result.each || line.each);
    }
    Some(result)
}

/// By register: whether its column is needed, and whether its samples are.
struct Needs {
    column: Vec<bool>,
    sample: Vec<bool>,
}

/// A pass over the steps.
struct Finder<'k> {
    kernel: &'k Kernel,
    entry: &'k Entry,
    /// Where `%ctaid` is, if each thread has its own: see [`merge`](super::merge).
    ctaids: &'k [Slot],
    /// Whether the block's shape makes straight lines of `%tid`.
    lines: bool,
    /// By register.
    values: Vec<Option<Line>>,
    samples: Vec<Option<Slot>>,
    bytes: u32,
}

impl Kernel {
    /// What can be computed from samples: in blocks where `%tid` is a straight line over half a warp (`lines`), or in any block. `None` if
    /// nothing can.
    pub(crate) fn sampled(&self, lines: bool) -> Option<&Sampled> {
        let entry = self.entry.as_deref()?;
        self.sampled[usize::from(lines)].get_or_init(|| find(self, entry, &self.steps, &[], lines)).as_ref()
    }
}

/// What can be computed from samples, of steps whose registers have no columns yet (`entry`) and of the same steps with them. `ctaids` are the
/// slots of threads that have a block's number.
pub(super) fn find(kernel: &Kernel, entry: &Entry, steps: &[Step], ctaids: &[Slot], lines: bool) -> Option<Sampled> {
    let total = entry.numbers.total();
    let (values, samples) = (vec![None; total], vec![None; total]);
    let mut finder = Finder { kernel, entry, ctaids, lines, values, samples, bytes: 0 };
    let found = finder.find_values();
    if !found.contains(&true) {
        return None;
    }
    let (dropped, computed) = finder.find_uses(&found);
    let sampled = finder.rewrite(steps, &dropped, &computed);
    (!sampled.once.is_empty() || !sampled.each.is_empty()).then_some(sampled)
}

impl Finder<'_> {
    fn number(&self, slot: Slot) -> Option<usize> {
        self.entry.numbers.of(slot)
    }

    /// What is known of a source.
    fn line(&self, slot: Slot) -> Option<Line> {
        let special = || self.kernel.specials.iter().find(|(_, at, _)| *at == slot).map(|(special, ..)| *special);
        match slot.area() {
            Area::Predicates | Area::Words | Area::Doubles => self.values[self.number(slot)?],
            // Blocks that are run as one are whole warps.
            Area::Thread if self.ctaids.contains(&slot) => Some(Line { each: true, ..Line::of_thread(0) }),
            Area::Thread if self.lines => match special()? {
                Special::Tid(0) | Special::Laneid => Some(Line::of_thread(1)),
                Special::Tid(_) | Special::Warpid => Some(Line::of_thread(0)),
                _ => None,
            },
            Area::Block => Some(Line { each: special().is_some_and(Special::is_of_block), ..Line::UNIFORM }),
            Area::Thread | Area::Samples => None,
        }
    }

    /// The value of an immediate.
    fn immediate(&self, slot: Slot, width: Width) -> Option<u64> {
        if slot.area() != Area::Block || self.kernel.specials.iter().any(|(_, at, _)| *at == slot) {
            return None;
        }
        let bytes = self.kernel.constants.get(slot.offset() as usize..)?;
        match width {
            Width::Double => Some(u64::from_le_bytes(*bytes.first_chunk()?)),
            _ => Some(u64::from(u32::from_le_bytes(*bytes.first_chunk()?))),
        }
    }

    fn result(&self, linear: Linear, operands: &Operands) -> Option<Line> {
        let [a, b, ..] = operands.sources;
        let lines = operands.sources.map(|slot| self.line(slot));
        if let Some(line) = flat(&lines) {
            return Some(line);
        }
        let [x, y, z, _] = lines;
        let product = |times: &dyn Fn(Line, i64) -> Option<Line>, factor: &dyn Fn(Slot) -> Option<i64>| {
            let product = match (factor(a), factor(b)) {
                (_, Some(factor)) => times(x?, factor),
                (Some(factor), _) => times(y?, factor),
                _ => flat(&[x, y]),
            };
            product?.plus(z?, 1)
        };
        match linear {
            Linear::No => None,
            Linear::Sum => x?.plus(y?, 1),
            Linear::Difference => x?.plus(y?, -1),
            Linear::Product(width) => product(&Line::times, &|slot| {
                let value = self.immediate(slot, width)?;
                Some(if width == Width::Word { i64::from(value as i32) } else { value as i64 })
            }),
            Linear::WideProduct { signed } => product(&|line, factor| line.extended().times(factor), &|slot| {
                let value = self.immediate(slot, Width::Word)?;
                Some(if signed { i64::from(value as i32) } else { value as i64 })
            }),
            Linear::Shift => match self.immediate(b, Width::Word)? {
                shift @ 0..32 => x?.times(1 << shift),
                _ => None,
            },
            Linear::Extension => Some(x?.extended()),
            Linear::Low => Some(Line { wrap: 0, ..x? }),
            // Comparisons that do not differ between blocks often differ between threads of a half, as in the last steps of a reduction.
            Linear::Order { .. } => {
                let (x, y) = (x?, y?);
                let one_is_flat = [x, y].iter().any(|line| line.stride == 0 && line.wrap == 0);
                let each = x.each || y.each;
                (one_is_flat && each).then_some(Line { each, ..Line::of_thread(0) })
            }
        }
    }

    /// A parameter of the kernel, which no launch lacks.
    fn is_parameter(&self, load: &Load) -> bool {
        let access = &load.access;
        let end = access.offset.saturating_add(u64::from(access.bytes));
        access.space == Space::Param
            && access.width == Width::None
            && !access.in_frame
            && access.offset.is_multiple_of(u64::from(access.bytes))
            && end <= self.kernel.parameter_bytes as u64
    }

    /// Finds the registers whose values are known; returns which steps compute them.
    fn find_values(&mut self) -> Vec<bool> {
        let entry = self.entry;
        let mut definitions = vec![0u8; self.values.len()];
        for step in &entry.steps {
            for (slot, _) in step.op.results() {
                if let Some(number) = self.number(slot) {
                    definitions[number] = definitions[number].saturating_add(1);
                }
            }
        }
        for number in &entry.entered {
            definitions[*number] = u8::MAX;
        }
        let (mut once, mut each) = (0, 0);
        let mut found = vec![false; entry.steps.len()];
        for (step, found) in entry.steps.iter().zip(&mut found) {
            if step.guard.is_some() {
                continue;
            }
            let line = match &step.op {
                Op::Compute { operands, linear, .. } => self.result(*linear, operands),
                Op::Load(load) if self.is_parameter(load) => Some(Line::UNIFORM),
                _ => None,
            };
            let Some(line) = line else { continue };
            let (count, limit) = if line.each { (&mut each, MAX_EACH) } else { (&mut once, MAX_ONCE) };
            let results: Vec<usize> =
                step.op.results().into_iter().filter_map(|(slot, _)| self.entry.numbers.of(slot)).collect();
            if *count < limit && results.iter().all(|number| definitions[*number] == 1) {
                *count += 1;
                *found = true;
                for number in results {
                    self.values[number] = Some(line);
                }
            }
        }
        found
    }

    /// Which steps nothing but samples needs, and which of those that were found are needed for samples.
    fn find_uses(&self, found: &[bool]) -> (Vec<bool>, Vec<bool>) {
        let steps = &self.entry.steps;
        let (mut dropped, mut computed) = (vec![false; steps.len()], vec![false; steps.len()]);
        let mut needs = Needs { column: vec![false; self.values.len()], sample: vec![false; self.values.len()] };
        // First the steps that were not found: they may stand before the steps that they use, as jumps go both ways.
        for (step, _) in steps.iter().zip(found).filter(|(_, found)| !**found) {
            self.add_uses(step, false, true, &mut needs);
        }
        // A step that was found uses only steps that were found before it.
        for (i, step) in steps.iter().enumerate().rev().filter(|(i, _)| found[*i]) {
            let results = || step.op.results().into_iter().filter_map(|(slot, _)| self.number(slot));
            computed[i] = results().any(|number| needs.sample[number]);
            dropped[i] = results().all(|number| self.is_uniform(number) || !needs.column[number]);
            self.add_uses(step, computed[i], !dropped[i], &mut needs);
        }
        (dropped, computed)
    }

    fn is_uniform(&self, number: usize) -> bool {
        self.values[number].is_some_and(|line| line.uniform)
    }

    /// Adds what a step needs: as one that computes samples, and as one that blocks execute.
    fn add_uses(&self, step: &Step, computes: bool, executes: bool, needs: &mut Needs) {
        let mut op = step.op.clone();
        // `Op::slots` shows the address of a load or store first. A store may store the address as well.
        let mut is_base = access(&mut op).is_some();
        op.slots(&mut |slot, role| {
            let is_base = std::mem::take(&mut is_base);
            if let (Role::Source, Some(number)) = (role, self.number(*slot)) {
                let by_samples = self.is_uniform(number) || (is_base && self.values[number].is_some());
                needs.sample[number] |= computes || (executes && by_samples);
                needs.column[number] |= executes && !by_samples;
            }
        });
        if let Some(number) = step.guard.and_then(|guard| self.number(guard.slot)) {
            let known = self.values[number].is_some();
            needs.sample[number] |= known;
            needs.column[number] |= !known;
        }
    }

    /// The number of a register whose line is known, and the line.
    fn known(&self, slot: Slot) -> Option<(usize, Line)> {
        let number = self.number(slot)?;
        Some((number, self.values[number]?))
    }

    /// Where the samples of a register stand.
    fn sample(&mut self, number: usize) -> Slot {
        let width = self.entry.numbers.slot(number, 0).1;
        let bytes = &mut self.bytes;
        *self.samples[number].get_or_insert_with(|| {
            let start = bytes.next_multiple_of(width.bytes());
            *bytes = start + width.bytes();
            Slot::new(Area::Samples, start)
        })
    }

    fn rewrite(&mut self, steps: &[Step], dropped: &[bool], computed: &[bool]) -> Sampled {
        let entry = self.entry;
        let mut sampled = Sampled { steps: steps.to_vec(), ..Sampled::default() };
        for (i, step) in entry.steps.iter().enumerate() {
            if computed[i] {
                let mut op = step.op.clone();
                let mut line = Line::UNIFORM;
                op.slots(&mut |slot, role| {
                    if let Some(number) = entry.numbers.of(*slot) {
                        *slot = self.sample(number);
                        if let (Role::Result, Some(found)) = (role, self.values[number]) {
                            line = found;
                        }
                    }
                });
                if let Op::Compute { linear: Linear::Order { width, signed }, operands, .. } = &op
                    && !line.uniform
                {
                    self.claim_order(&mut sampled, step, operands, *width, *signed);
                }
                if line.each { &mut sampled.each } else { &mut sampled.once }.push(op);
            }
            if dropped[i] {
                continue;
            }
            let mut new = step.clone();
            if let Some(guard) = &mut new.guard {
                guard.slot = match self.known(guard.slot) {
                    Some((number, _)) => self.sample(number),
                    None => self.place(guard.slot),
                };
            }
            if let Some(access) = access(&mut new.op)
                && let Some((number, line)) = self.known(access.base)
            {
                access.base = self.sample(number);
                access.stride = Some(line.stride as i32);
                if line.wrap != 0 {
                    sampled.claim(Claim::Straight(access.base, line.stride as i32));
                }
            }
            new.op.slots(&mut |slot, _| *slot = self.place(*slot));
            sampled.steps[i] = new;
        }
        // A row of steps that are not needed becomes one step.
        let mut i = 0;
        while i < dropped.len() {
            let row = dropped[i..].iter().take_while(|dropped| **dropped).count();
            if row > 0 {
                let counts = entry.steps[i..i + row].iter().filter(|step| step.counts).count() as u32;
                let skip = &mut sampled.steps[i];
                (skip.op, skip.counts) = (Op::Skip { steps: row as u32, counts }, false);
            }
            i += row.max(1);
        }
        sampled.bytes = self.bytes;
        self.find_reads(&mut sampled);
        sampled
    }

    /// Finds what steps read of what is computed before each block.
    fn find_reads(&self, sampled: &mut Sampled) {
        let mut of_blocks = Vec::new();
        for op in &sampled.each {
            op.clone().slots(&mut |slot, role| {
                if role == Role::Result {
                    of_blocks.push(*slot);
                }
            });
        }
        let Sampled { steps, read, .. } = sampled;
        let mut see = |slot: Slot| {
            if slot.area() != Area::Samples || !of_blocks.contains(&slot) || read.iter().any(|read| read.slot == slot) {
                return;
            }
            let number = self.samples.iter().position(|sample| *sample == Some(slot));
            if let Some((number, line)) = number.and_then(|number| Some((number, self.values[number]?))) {
                let width = self.entry.numbers.slot(number, 0).1;
                read.push(Read { slot, width, stride: line.stride as i32, uniform: line.uniform });
            }
        };
        for step in steps.iter() {
            step.op.clone().slots(&mut |slot, _| see(*slot));
            if let Some(guard) = step.guard {
                see(guard.slot);
            }
        }
    }

    /// A comparison of lines holds for all threads of a half if it does for the first and the last, and neither wraps between them.
    fn claim_order(&self, sampled: &mut Sampled, step: &Step, samples: &Operands, width: Width, signed: bool) {
        let Op::Compute { operands, .. } = &step.op else { return };
        for (slot, sample) in operands.sources.into_iter().zip(samples.sources).take(2) {
            // `%tid` and `%laneid` themselves are far from any end.
            let Some(line) = self.line(slot).filter(|_| sample.area() == Area::Samples) else { continue };
            if line.wrap != 0 {
                sampled.claim(Claim::Straight(sample, line.stride as i32));
            }
            if line.stride != 0 {
                sampled.claim(Claim::Ordered { slot: sample, width, signed, falls: line.stride < 0 });
            }
        }
        sampled.claim(Claim::Flat(samples.results[0]));
    }

    /// The slot of an operand of a step that blocks execute: registers that all threads share are read from their samples.
    fn place(&mut self, slot: Slot) -> Slot {
        match self.number(slot) {
            Some(number) if self.values[number].is_some_and(|line| line.uniform) => self.sample(number),
            Some(number) => self.entry.numbers.slot(number, self.entry.offsets[number]).0,
            None => slot,
        }
    }
}

impl Sampled {
    fn claim(&mut self, claim: Claim) {
        if !self.claims.contains(&claim) {
            self.claims.push(claim);
        }
    }
}

/// How a load or store reaches memory, where its base is a register.
fn access(op: &mut Op) -> Option<&mut Access> {
    let access = match op {
        Op::Load(load) => &mut load.access,
        Op::Store(store) => &mut store.access,
        _ => return None,
    };
    (access.width != Width::None).then_some(access)
}
