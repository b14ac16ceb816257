//! Runs a kernel: block after block, and within a block each thread until it must wait or ends.
//!
//! Threads of a block take turns only where they wait (barriers, exchanges within a warp), so a launch is deterministic: the
//! same input gives the same output, races included.

use vop::Semantics;

use super::error::{RunError, RunErrorKind, RunErrors, ThreadId};
use super::kernel::{Access, Collective, CollectiveKind, Kernel, Op, Parameter, Slot, Special};
use super::memory::{BufferId, Memory, View};
use super::types::{Kind, mask};
use crate::module::Scalar;

const WARP: usize = 32;
/// Threads of a block, as every target since sm_20 allows.
const MAX_THREADS: u64 = 1024;
const MAX_BLOCK: [u32; 3] = [1024, 1024, 64];
const MAX_GRID: [u32; 3] = [0x7fff_ffff, 65535, 65535];
/// Shared memory of a block that the largest target allows is 227 KiB; beyond it a launch cannot be meant.
const MAX_SHARED: usize = 227 * 1024;
/// Registers of all threads of a block, in slots: 1 GiB.
const MAX_REGISTERS: u64 = 1 << 27;

/// One argument of a launch.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub enum Arg {
    /// The address of a buffer, for a 64-bit integer parameter.
    Buffer(BufferId),
    /// A value with its type: the low bits of the word.
    Scalar(Scalar, u64),
    /// The bytes of an array or structure passed by value.
    Bytes(Vec<u8>),
}

impl From<BufferId> for Arg {
    fn from(buffer: BufferId) -> Arg {
        Arg::Buffer(buffer)
    }
}

macro_rules! arg {
    ($($rust:ident $ty:ident $value:ident => $bits:expr;)*) => { $(
        impl From<$rust> for Arg {
            fn from($value: $rust) -> Arg {
                Arg::Scalar(Scalar::$ty, $bits)
            }
        }
    )* };
}
arg! {
    u8 U8 v => u64::from(v);
    u16 U16 v => u64::from(v);
    u32 U32 v => u64::from(v);
    u64 U64 v => v;
    i8 S8 v => u64::from(v as u8);
    i16 S16 v => u64::from(v as u16);
    i32 S32 v => u64::from(v as u32);
    i64 S64 v => v as u64;
    f32 F32 v => u64::from(v.to_bits());
    f64 F64 v => v.to_bits();
}

impl Arg {
    fn describe(&self) -> String {
        match self {
            Arg::Buffer(_) => "a buffer".to_owned(),
            Arg::Scalar(ty, _) => format!("a .{} value", ty.name()),
            Arg::Bytes(bytes) => format!("a list of {} bytes", bytes.len()),
        }
    }

    /// The bytes to store for a parameter, if the argument fits it.
    fn bytes_for(&self, parameter: &Parameter, memory: &Memory) -> Option<Vec<u8>> {
        let scalar = parameter.bytes == parameter.ty.size();
        match self {
            Arg::Buffer(buffer) => (scalar && parameter.ty.width() == 64 && !parameter.ty.is_float())
                .then(|| memory.address(*buffer).to_le_bytes().to_vec()),
            Arg::Scalar(ty, value) => {
                // Compilers declare every integer `.u32` or `.b32`: width and floatness are what a parameter type tells.
                let untyped = matches!(parameter.ty, Scalar::B8 | Scalar::B16 | Scalar::B32 | Scalar::B64);
                let fits = ty.width() == parameter.ty.width() && (untyped || ty.is_float() == parameter.ty.is_float());
                (scalar && fits).then(|| value.to_le_bytes().into_iter().take(ty.size()).collect())
            }
            Arg::Bytes(bytes) => (bytes.len() == parameter.bytes).then(|| bytes.clone()),
        }
    }
}

/// What a launch needs to know beyond its shape and its arguments.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct LaunchOptions {
    /// Thread-instructions of one launch, after which it is taken for a runaway loop.
    pub instructions: u64,
    /// Bytes of dynamic shared memory for each block.
    pub dynamic_shared: usize,
    /// What video instructions compute: what the manual says, or what the code of ptxas does.
    pub semantics: Semantics,
}

impl Default for LaunchOptions {
    fn default() -> LaunchOptions {
        LaunchOptions { instructions: 100_000_000_000, dynamic_shared: 0, semantics: Semantics::Isa }
    }
}

/// What a launch executed. A statement whose guard was false is not counted.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Counts {
    /// Statements, one for each thread that executed it.
    pub instructions: u64,
    /// Video instructions among them.
    pub video: u64,
}

impl Kernel {
    /// What is wrong with these arguments, each error with the argument's index: too few or too many, or one of the wrong size or
    /// kind.
    pub fn argument_errors(&self, args: &[Arg], memory: &Memory) -> Vec<(usize, RunError)> {
        let mut errors = Vec::new();
        let mut report = |i, message: String| errors.push((i, RunError::new(RunErrorKind::Argument, message)));
        for (i, parameter) in self.parameters.iter().enumerate() {
            let wanted = format!("parameter {} of `{}`: {parameter}", i + 1, self.name);
            match args.get(i) {
                None => report(i, format!("there is no argument for {wanted}")),
                Some(arg) if arg.bytes_for(parameter, memory).is_none() => {
                    report(i, format!("{} does not fit {wanted}", arg.describe()));
                }
                Some(_) => {}
            }
        }
        for i in self.parameters.len()..args.len() {
            report(
                i,
                format!("argument {} is one too many: `{}` has {} parameters", i + 1, self.name, self.parameters.len()),
            );
        }
        errors
    }

    /// Lays arguments out in parameter memory.
    fn pack(&self, args: &[Arg], memory: &Memory) -> Result<Vec<u8>, RunErrors> {
        let errors = self.argument_errors(args, memory);
        if !errors.is_empty() {
            return Err(RunErrors(errors.into_iter().map(|(_, error)| error).collect()));
        }
        let mut bytes = vec![0; self.parameter_bytes];
        for (parameter, arg) in self.parameters.iter().zip(args) {
            let value = arg.bytes_for(parameter, memory).unwrap_or_default();
            if let Some(place) = bytes.get_mut(parameter.offset..parameter.offset + value.len()) {
                place.copy_from_slice(&value);
            }
        }
        Ok(bytes)
    }

    /// Whether a launch of this shape is possible, without running anything.
    pub fn check_shape(&self, grid: [u32; 3], block: [u32; 3], dynamic_shared: usize) -> Result<(), RunError> {
        let fail = |message: String| Err(RunError::new(RunErrorKind::LaunchShape, message));
        for (what, size, max) in [("grid", grid, MAX_GRID), ("block", block, MAX_BLOCK)] {
            for (axis, (n, max)) in ["x", "y", "z"].iter().zip(size.into_iter().zip(max)) {
                if n == 0 || n > max {
                    return fail(format!("the {what}'s {axis} is {n}: it must be 1 to {max}"));
                }
            }
        }
        let threads: u64 = block.iter().map(|n| u64::from(*n)).product();
        let max = self.max_threads.unwrap_or(MAX_THREADS).min(MAX_THREADS);
        if threads > max {
            return fail(format!("a block of {threads} threads: `{}` may have {max}", self.name));
        }
        if let Some(required) = self.required_block
            && required != block
        {
            return fail(format!("`{}` requires (.reqntid) a block of {required:?}, not {block:?}", self.name));
        }
        if threads.saturating_mul(self.registers.len() as u64) > MAX_REGISTERS {
            return fail(format!(
                "a block of {threads} threads with {} registers each is too large",
                self.registers.len()
            ));
        }
        let shared = self.shared_bytes.saturating_add(dynamic_shared);
        if shared > MAX_SHARED {
            return fail(format!("{shared} bytes of shared memory: a block may have {MAX_SHARED}"));
        }
        Ok(())
    }

    /// Runs the kernel to its end.
    ///
    /// `grid` and `block` are x, y, z. On an error memory holds what had been written until then.
    pub fn launch(
        &self,
        grid: [u32; 3],
        block: [u32; 3],
        args: &[Arg],
        memory: &mut Memory,
        options: &LaunchOptions,
    ) -> Result<Counts, RunErrors> {
        self.check_shape(grid, block, options.dynamic_shared)?;
        // Threads that execute nothing take time as well.
        let all = grid.iter().chain(&block).fold(1u64, |product, n| product.saturating_mul(u64::from(*n)));
        if all > options.instructions {
            let message =
                format!("the launch has more threads than its limit of {} instructions", options.instructions);
            return Err(RunError::new(RunErrorKind::Limit, message).into());
        }
        let params = self.pack(args, memory)?;
        let threads = block.iter().map(|n| *n as usize).product::<usize>();
        let shared = self.shared_bytes + options.dynamic_shared;
        let mut run = Block {
            kernel: self,
            grid,
            block,
            ctaid: [0; 3],
            registers: vec![0; threads * self.registers.len()],
            shared: vec![0; shared],
            local: vec![0; threads * self.local_bytes],
            params,
            threads: vec![Thread { pc: 0, state: State::Ready }; threads],
            semantics: options.semantics,
            budget: options.instructions,
            limit: options.instructions,
            video: 0,
        };
        for z in 0..grid[2] {
            for y in 0..grid[1] {
                for x in 0..grid[0] {
                    run.ctaid = [x, y, z];
                    run.start(options.dynamic_shared);
                    run.finish(memory)?;
                }
            }
        }
        Ok(Counts { instructions: options.instructions - run.budget, video: run.video })
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum State {
    Ready,
    /// Past the `bar.sync` of this number, waiting for the block.
    Barrier(u32),
    /// Before the step of a collective, waiting for its lanes.
    Collective,
    Exited,
}

#[derive(Clone, Copy, Debug)]
struct Thread {
    pc: usize,
    state: State,
}

/// The block that is running.
struct Block<'k> {
    kernel: &'k Kernel,
    grid: [u32; 3],
    block: [u32; 3],
    ctaid: [u32; 3],
    /// Register files, one after the other.
    registers: Vec<u64>,
    shared: Vec<u8>,
    local: Vec<u8>,
    params: Vec<u8>,
    threads: Vec<Thread>,
    semantics: Semantics,
    /// Thread-instructions left.
    budget: u64,
    limit: u64,
    video: u64,
}

impl Block<'_> {
    fn start(&mut self, dynamic_shared: usize) {
        self.shared.fill(0);
        self.local.fill(0);
        self.threads.fill(Thread { pc: 0, state: State::Ready });
        let size = self.kernel.registers.len();
        for t in 0..self.threads.len() {
            let tid = self.tid(t);
            let (lane, warp) = ((t % WARP) as u32, t / WARP);
            let registers = &mut self.registers[t * size..(t + 1) * size];
            registers.copy_from_slice(&self.kernel.registers);
            for &(slot, special) in &self.kernel.specials {
                registers[slot as usize] = u64::from(match special {
                    Special::Tid(axis) => tid[axis],
                    Special::Ntid(axis) => self.block[axis],
                    Special::Ctaid(axis) => self.ctaid[axis],
                    Special::Nctaid(axis) => self.grid[axis],
                    Special::Laneid => lane,
                    Special::Warpid => warp as u32,
                    Special::Nwarpid => self.threads.len().div_ceil(WARP) as u32,
                    Special::LaneMaskEq => 1 << lane,
                    Special::LaneMaskLt => (1 << lane) - 1,
                    Special::LaneMaskLe => (1 << lane) | ((1 << lane) - 1),
                    Special::LaneMaskGe => !((1 << lane) - 1),
                    Special::LaneMaskGt => !((1 << lane) | ((1 << lane) - 1)),
                    Special::DynamicSharedSize => dynamic_shared as u32,
                    Special::TotalSharedSize => self.shared.len() as u32,
                    Special::GridId => 0,
                });
            }
        }
    }

    fn tid(&self, thread: usize) -> [u32; 3] {
        let [x, y, _] = self.block.map(|n| n as usize);
        [thread % x, thread / x % y, thread / (x * y)].map(|n| n as u32)
    }

    fn thread_id(&self, thread: usize) -> ThreadId {
        ThreadId { block: self.ctaid, thread: self.tid(thread) }
    }

    /// Runs the block until all its threads have ended.
    fn finish(&mut self, memory: &mut Memory) -> Result<(), RunError> {
        loop {
            for t in 0..self.threads.len() {
                if self.threads[t].state == State::Ready {
                    self.run(t, memory)?;
                }
            }
            if self.exchange() {
                continue;
            }
            let mut waiting =
                self.threads.iter().filter(|thread| thread.state != State::Exited).map(|thread| thread.state);
            let Some(first) = waiting.next() else { return Ok(()) };
            if !matches!(first, State::Barrier(_)) || waiting.any(|state| state != first) {
                return Err(self.deadlock());
            }
            for thread in &mut self.threads {
                if thread.state == first {
                    thread.state = State::Ready;
                }
            }
        }
    }

    /// Runs one thread until it waits or ends.
    fn run(&mut self, t: usize, memory: &mut Memory) -> Result<(), RunError> {
        let kernel = self.kernel;
        let (size, local) = (kernel.registers.len(), kernel.local_bytes);
        let registers = &mut self.registers[t * size..(t + 1) * size];
        let local = &mut self.local[t * local..(t + 1) * local];
        let mut view = View { memory, shared: &mut self.shared, local, params: &mut self.params };
        let mut pc = self.threads[t].pc;
        let state = loop {
            let Some(step) = kernel.steps.get(pc) else { break State::Exited };
            pc += 1;
            if let Some(guard) = step.guard
                && (registers[guard.slot as usize] != 0) != guard.when
            {
                continue;
            }
            if self.budget == 0 {
                let message = format!("the launch's limit of {} thread-instructions is reached", self.limit);
                let error = RunError::new(RunErrorKind::Limit, message);
                return Err(self.fail(error.with_help("if this is no runaway loop, raise the limit"), t, pc - 1));
            }
            self.budget -= 1;
            let result = match &step.op {
                Op::Compute { f, d, sources: [a, b, c, e] } => {
                    registers[*d as usize] = f(
                        registers[*a as usize],
                        registers[*b as usize],
                        registers[*c as usize],
                        registers[*e as usize],
                    );
                    Ok(())
                }
                Op::Video { form, d, sources } => {
                    self.video += 1;
                    let [a, b, c] = sources.map(|slot| registers[slot as usize] as u32);
                    registers[*d as usize] = u64::from(form.eval_as(self.semantics, a, b, c));
                    Ok(())
                }
                Op::Branch(target) => {
                    pc = *target as usize;
                    Ok(())
                }
                Op::Load { access, d } => load(&mut view, access, d, registers),
                Op::Store { access, sources } => store(&mut view, access, sources, registers),
                Op::Atomic { f, access, d, sources: [b, c] } => {
                    let at = address(access, registers);
                    view.access(access.space, at, usize::from(access.bytes), true).map(|bytes| {
                        let old = read(bytes);
                        write(bytes, f(old, registers[*b as usize], registers[*c as usize], 0));
                        registers[*d as usize] = old;
                    })
                }
                Op::Sequence(ops) => {
                    for op in ops {
                        if let Op::Compute { f, d, sources } = op {
                            let [a, b, c, e] = sources.map(|slot| registers[slot as usize]);
                            registers[*d as usize] = f(a, b, c, e);
                        }
                    }
                    Ok(())
                }
                Op::Barrier(slot) => break State::Barrier(registers[*slot as usize] as u32),
                Op::Warp(_) => {
                    pc -= 1;
                    break State::Collective;
                }
                Op::Exit => break State::Exited,
                Op::Trap => {
                    return Err(self.fail(RunError::new(RunErrorKind::Trap, "the kernel executed trap"), t, pc - 1));
                }
            };
            if let Err(fault) = result {
                let error = view.explain(fault);
                return Err(self.fail(error, t, pc - 1));
            }
        };
        self.threads[t] = Thread { pc, state };
        Ok(())
    }

    #[cold]
    fn fail(&self, error: RunError, thread: usize, pc: usize) -> RunError {
        let error = RunError { thread: Some(self.thread_id(thread)), ..error };
        match self.kernel.steps.get(pc) {
            Some(step) => self.kernel.locate(error, step),
            None => error,
        }
    }

    /// The error where no thread can go on: told of the first that waits, and of one that waits elsewhere.
    #[cold]
    fn deadlock(&self) -> RunError {
        let waiting: Vec<usize> = (0..self.threads.len()).filter(|t| self.threads[*t].state != State::Exited).collect();
        let first = waiting.first().copied().unwrap_or(0);
        let step_of = |t: usize| match self.threads[t].state {
            State::Barrier(_) => self.threads[t].pc.saturating_sub(1),
            _ => self.threads[t].pc,
        };
        let message = match waiting.iter().find(|t| self.threads[**t].state != self.threads[first].state) {
            Some(other) => {
                format!("this thread and {} wait for each other at different places", self.thread_id(*other))
            }
            None => "this thread waits for lanes of its warp that do not come".to_owned(),
        };
        self.fail(RunError::new(RunErrorKind::Deadlock, message), first, step_of(first))
    }

    /// Makes every collective whose lanes have all arrived; whether there was one.
    fn exchange(&mut self) -> bool {
        let kernel = self.kernel;
        let mut any = false;
        for start in (0..self.threads.len()).step_by(WARP) {
            let lanes = start..(start + WARP).min(self.threads.len());
            for t in lanes.clone() {
                if self.threads[t].state != State::Collective {
                    continue;
                }
                let pc = self.threads[t].pc;
                let Some(Op::Warp(collective)) = kernel.steps.get(pc).map(|step| &step.op) else { continue };
                let members = self.register(t, collective.members) as u32 | 1 << (t - start);
                let members: Vec<usize> = lanes
                    .clone()
                    .filter(|u| members >> (u - start) & 1 == 1 && self.threads[*u].state != State::Exited)
                    .collect();
                let arrived = |u: &usize| {
                    let thread = self.threads[*u];
                    thread.state == State::Collective && (thread.pc == pc || self.both_sync(thread.pc, collective.kind))
                };
                if members.iter().all(arrived) {
                    self.collective(collective, &members, start);
                    any = true;
                }
            }
        }
        any
    }

    /// `bar.warp.sync` may be met at different places of the kernel.
    fn both_sync(&self, pc: usize, kind: CollectiveKind) -> bool {
        let other = self.kernel.steps.get(pc).map(|step| &step.op);
        matches!((kind, other), (CollectiveKind::Sync, Some(Op::Warp(other))) if matches!(other.kind, CollectiveKind::Sync))
    }

    fn register(&self, thread: usize, slot: Slot) -> u64 {
        self.registers[thread * self.kernel.registers.len() + slot as usize]
    }

    fn set_register(&mut self, thread: usize, slot: Slot, value: u64) {
        self.registers[thread * self.kernel.registers.len() + slot as usize] = value;
    }

    fn collective(&mut self, collective: &Collective, members: &[usize], start: usize) {
        let votes = matches!(
            collective.kind,
            CollectiveKind::All | CollectiveKind::Any | CollectiveKind::Uniform | CollectiveKind::Ballot
        );
        let value_of = |block: &Self, t: usize| {
            let [a, b] = [collective.sources[0], collective.sources[1]].map(|slot| block.register(t, slot));
            if votes { a ^ b } else { a }
        };
        let values: Vec<u64> = members.iter().map(|t| value_of(self, *t)).collect();
        let ballot =
            members.iter().zip(&values).fold(0u64, |mask, (t, value)| mask | u64::from(*value != 0) << (t - start));
        let all = values.iter().all(|value| *value != 0);
        let results: Vec<(u64, u64)> = members
            .iter()
            .zip(&values)
            .map(|(t, own)| match collective.kind {
                CollectiveKind::Sync => (0, 0),
                CollectiveKind::All => (u64::from(all), 0),
                CollectiveKind::Any => (u64::from(ballot != 0), 0),
                CollectiveKind::Uniform => (u64::from(all || ballot == 0), 0),
                CollectiveKind::Ballot => (ballot, 0),
                CollectiveKind::Reduce(f) => (values.iter().copied().reduce(|a, b| f(a, b, 0, 0)).unwrap_or(0), 0),
                shuffle => {
                    let lane = (t - start) as u64;
                    let [b, c] = [collective.sources[1], collective.sources[2]].map(|slot| self.register(*t, slot));
                    let (from, inside) = source_lane(shuffle, lane, b & 31, c);
                    // The manual leaves a source lane outside the members undefined: here the lane keeps its own value.
                    let position = members.iter().position(|u| (u - start) as u64 == from);
                    (position.map_or(*own, |i| values[i]), u64::from(inside))
                }
            })
            .collect();
        for (t, (d, p)) in members.iter().zip(results) {
            self.set_register(*t, collective.d, d);
            self.set_register(*t, collective.p, p);
            self.threads[*t] = Thread { pc: self.threads[*t].pc + 1, state: State::Ready };
        }
    }
}

/// The lane that `shfl` reads, and whether it is within the segment (manual, "shfl.sync").
fn source_lane(kind: CollectiveKind, lane: u64, b: u64, c: u64) -> (u64, bool) {
    let (clamp, segment) = (c & 31, c >> 8 & 31);
    let max_lane = (lane & segment) | (clamp & !segment);
    let (from, inside) = match kind {
        CollectiveKind::ShuffleUp => (lane.wrapping_sub(b), lane as i64 - b as i64 >= max_lane as i64),
        CollectiveKind::ShuffleDown => (lane + b, lane + b <= max_lane),
        CollectiveKind::ShuffleButterfly => (lane ^ b, lane ^ b <= max_lane),
        _ => {
            let from = (lane & segment) | (b & !segment);
            (from, from <= max_lane)
        }
    };
    (if inside { from } else { lane }, inside)
}

#[inline]
fn address(access: &Access, registers: &[u64]) -> u64 {
    let sum = registers[access.base as usize].wrapping_add(registers[access.offset as usize]);
    if access.narrow { sum & 0xffff_ffff } else { sum }
}

#[inline]
fn load(view: &mut View<'_>, access: &Access, d: &[Slot], registers: &mut [u64]) -> Result<(), super::memory::Fault> {
    let at = address(access, registers);
    let size = usize::from(access.bytes);
    let bytes = view.access(access.space, at, size * d.len(), false)?;
    for (slot, element) in d.iter().zip(bytes.chunks_exact(size)) {
        let value = read(element);
        registers[*slot as usize] = if access.extend == 0 {
            value
        } else {
            let unused = 64 - 8 * u32::from(access.bytes);
            ((value << unused) as i64 >> unused) as u64 & mask(u32::from(access.extend))
        };
    }
    Ok(())
}

#[inline]
fn store(
    view: &mut View<'_>,
    access: &Access,
    sources: &[Slot],
    registers: &[u64],
) -> Result<(), super::memory::Fault> {
    let at = address(access, registers);
    let size = usize::from(access.bytes);
    let bytes = view.access(access.space, at, size * sources.len(), true)?;
    for (slot, element) in sources.iter().zip(bytes.chunks_exact_mut(size)) {
        write(element, registers[*slot as usize]);
    }
    Ok(())
}

/// Little-endian bytes as a slot.
#[inline]
fn read(bytes: &[u8]) -> u64 {
    match *bytes {
        [a] => u64::from(a),
        [a, b] => u64::from(u16::from_le_bytes([a, b])),
        [a, b, c, d] => u64::from(u32::from_le_bytes([a, b, c, d])),
        [a, b, c, d, e, f, g, h] => u64::from_le_bytes([a, b, c, d, e, f, g, h]),
        _ => 0,
    }
}

/// The low bytes of a slot.
#[inline]
fn write(bytes: &mut [u8], value: u64) {
    match bytes.len() {
        1 => bytes[0] = value as u8,
        2 => bytes.copy_from_slice(&(value as u16).to_le_bytes()),
        4 => bytes.copy_from_slice(&(value as u32).to_le_bytes()),
        8 => bytes.copy_from_slice(&value.to_le_bytes()),
        _ => {}
    }
}
