//! A program, one thread at a time, straight from the manual.

use std::collections::HashMap;

use super::program::*;

#[derive(Clone)]
struct Frame {
    function: usize,
    pc: usize,
    regs: HashMap<Reg, u64>,
    carry: bool,
    local: Vec<u8>,
    parameters: [u64; 3],
    /// What calls of this function are given, by site.
    arguments: HashMap<usize, [u64; 3]>,
    result: u64,
    /// What the call is to do with the result: into an argument of its site, or into a register.
    into: Option<Result<usize, Reg>>,
}

impl Frame {
    fn new(function: usize, parameters: [u64; 3]) -> Frame {
        Frame {
            function,
            pc: 0,
            regs: HashMap::new(),
            carry: false,
            local: vec![0; 4 * LOCAL],
            parameters,
            arguments: HashMap::new(),
            result: 0,
            into: None,
        }
    }
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum State {
    Runs,
    Barrier,
    Lanes,
    Ended,
}

struct Thread {
    frames: Vec<Frame>,
    state: State,
    specials: HashMap<&'static str, u64>,
}

pub(crate) struct Machine<'c> {
    pub(crate) case: &'c Case,
    pub(crate) labels: Vec<HashMap<usize, usize>>,
    /// The input and output buffers' addresses and bytes.
    pub(crate) buffers: [(u64, Vec<u8>); 2],
    pub(crate) shared: Vec<u8>,
    /// What `malloc` gave, in its order.
    pub(crate) heap: Vec<Vec<u8>>,
    /// Lines that were printed.
    pub(crate) printed: Vec<String>,
    pub(crate) executed: u64,
}

/// More than this and a case is not worth it: sanitizers take long.
#[allow(unexpected_cfgs, reason = "cargo-fuzz sets it")]
pub(crate) const MAX_EXECUTED: u64 = if cfg!(fuzzing) { 100_000 } else { 3_000_000 };

/// The kernel needs too long.
pub(crate) struct TooLong;

/// Addresses that stand for a function's array: the frame's depth above.
const LOCAL_AT: u64 = 1 << 60;
const FUNCTION_AT: u64 = 1 << 61;
/// The other spaces: of the heap, the number of the allocation is above.
const HEAP_AT: u64 = 1 << 62;
const SHARED_AT: u64 = 1 << 59;
const CONST_AT: u64 = 1 << 58;

impl Machine<'_> {
    pub(crate) fn run(&mut self) -> Result<(), TooLong> {
        let [x, y, z] = self.case.grid;
        for index in 0..x * y * z {
            self.block([index % x, index / x % y, index / x / y])?;
        }
        Ok(())
    }

    fn block(&mut self, ctaid: [u32; 3]) -> Result<(), TooLong> {
        let [x, y, z] = self.case.block;
        let count = (x * y * z) as usize;
        self.shared = vec![0; 4 * (SUMS + count)];
        let parameters = [self.buffers[0].0, self.buffers[1].0, u64::from(self.case.elements)];
        let mut threads: Vec<Thread> = (0..count as u32)
            .map(|t| Thread {
                frames: vec![Frame::new(0, parameters)],
                state: State::Runs,
                specials: HashMap::from(
                    [
                        ("%tid.x", t % x),
                        ("%tid.y", t / x % y),
                        ("%tid.z", t / x / y),
                        ("%laneid", t % 32),
                        ("%lanemask_lt", (1 << (t % 32)) - 1),
                        ("%ntid.x", x),
                        ("%ntid.y", y),
                        ("%ctaid.x", ctaid[0]),
                        ("%ctaid.y", ctaid[1]),
                        ("%nctaid.x", self.case.grid[0]),
                    ]
                    .map(|(name, value)| (name, u64::from(value))),
                ),
            })
            .collect();
        loop {
            for thread in &mut threads {
                while thread.state == State::Runs {
                    self.step(thread)?;
                    if self.executed > MAX_EXECUTED {
                        return Err(TooLong);
                    }
                }
            }
            if threads.iter().all(|thread| thread.state == State::Ended) {
                return Ok(());
            }
            let mut progress = false;
            for warp in threads.chunks_mut(32) {
                progress |= self.lanes(warp);
            }
            if !progress {
                // Those that wait for others which have arrived and gone on.
                let counted = |machine: &Self, thread: &Thread| {
                    thread.state == State::Barrier && matches!(machine.what(thread), What::BarrierCounted(..))
                };
                if threads.iter().any(|thread| counted(self, thread)) {
                    for thread in &mut threads {
                        if counted(self, thread) {
                            self.go_on(thread);
                        }
                    }
                    continue;
                }
                let waiting = |thread: &&mut Thread| thread.state == State::Barrier;
                assert!(
                    threads.iter().all(|thread| matches!(thread.state, State::Barrier | State::Ended)),
                    "a deadlock"
                );
                self.barrier(threads.iter_mut().filter(waiting).collect());
            }
        }
    }

    fn what(&self, thread: &Thread) -> What {
        let frame = thread.frames.last().unwrap();
        match &self.case.functions[frame.function].body[frame.pc] {
            Ins::Do(_, what) => what.clone(),
            other => panic!("{other:?}"),
        }
    }

    fn value(&self, thread: &Thread, source: Source) -> u64 {
        match source {
            Source::Reg(reg) => thread.frames.last().unwrap().regs.get(&reg).copied().unwrap_or(0),
            Source::Immediate(value) => value,
            Source::Special(name) => thread.specials[name],
        }
    }

    fn set(&self, thread: &mut Thread, reg: Reg, value: u64) {
        thread.frames.last_mut().unwrap().regs.insert(reg, cut(value, bits(reg.0)));
    }

    fn barrier(&mut self, mut threads: Vec<&mut Thread>) {
        let mut counted = [0, 0];
        for thread in &threads {
            if let What::BarrierCount(_, p) | What::BarrierVote(_, _, p) = self.what(thread) {
                counted[0] += self.value(thread, Source::Reg((P, p)));
                counted[1] += 1;
            }
        }
        for thread in &mut threads {
            match self.what(thread) {
                What::BarrierCount(d, _) => self.set(thread, d, counted[0]),
                What::BarrierVote(true, d, _) => self.set(thread, (P, d), u64::from(counted[0] == counted[1])),
                What::BarrierVote(false, d, _) => self.set(thread, (P, d), u64::from(counted[0] > 0)),
                _ => {}
            }
            self.go_on(thread);
        }
    }

    fn go_on(&mut self, thread: &mut Thread) {
        thread.state = State::Runs;
        thread.frames.last_mut().unwrap().pc += 1;
        self.executed += 1;
    }

    /// Makes an exchange for which all lanes are there.
    fn lanes(&mut self, warp: &mut [Thread]) -> bool {
        let live = (0..warp.len()).filter(|l| warp[*l].state != State::Ended).fold(0u64, |bits, l| bits | 1 << l);
        let mut any = false;
        for first in 0..warp.len() {
            if warp[first].state != State::Lanes {
                continue;
            }
            let What::Lanes(kind, d, p, sources, members) = self.what(&warp[first]) else { panic!() };
            let members = self.value(&warp[first], members) & live;
            let at = |thread: &Thread| (thread.frames.len(), thread.frames.last().unwrap().pc);
            let here = at(&warp[first]);
            let list: Vec<usize> = (0..warp.len()).filter(|l| members >> l & 1 == 1).collect();
            if !list.iter().all(|l| warp[*l].state == State::Lanes && at(&warp[*l]) == here) {
                continue;
            }
            any = true;
            let values: Vec<Vec<u64>> =
                warp.iter().map(|thread| sources.iter().map(|source| self.value(thread, *source)).collect()).collect();
            let votes: Vec<u64> = list.iter().map(|l| values[*l].first().copied().unwrap_or(0)).collect();
            for &lane in &list {
                let all_same = votes.iter().all(|value| *value == votes[0]);
                let mut inside = false;
                let result = match kind {
                    Lanes::All => u64::from(votes.iter().all(|v| *v == 1)),
                    Lanes::Any => u64::from(votes.contains(&1)),
                    Lanes::Uniform => u64::from(all_same),
                    Lanes::Ballot => list.iter().zip(&votes).fold(0, |bits, (l, v)| bits | v << l),
                    Lanes::MatchAny => {
                        let same = list.iter().filter(|l| values[**l][0] == values[lane][0]);
                        same.fold(0, |bits, l| bits | 1 << l)
                    }
                    Lanes::MatchWide => {
                        let same = list.iter().filter(|l| values[**l][0] == values[lane][0]);
                        same.fold(0, |bits, l| bits | 1 << l)
                    }
                    Lanes::Elect => {
                        inside = lane == list[0];
                        list[0] as u64
                    }
                    Lanes::MatchAll => {
                        inside = all_same;
                        if all_same { members } else { 0 }
                    }
                    Lanes::Reduce(index) => {
                        let fold = |a: u64, b: &u64| cut(REDUCE[index].1(&[a, *b]), 32);
                        votes[1..].iter().fold(votes[0], fold)
                    }
                    Lanes::Sync => 0,
                    _ => {
                        // As the manual's pseudocode has it.
                        let (b, c) = (values[lane][1] & 31, values[lane][2]);
                        let (clamp, segment) = (c & 31, c >> 8 & 31);
                        let max_lane = (lane as u64 & segment) | (clamp & !segment & 31);
                        let min_lane = lane as u64 & segment;
                        let j = match kind {
                            Lanes::Up => lane as i64 - b as i64,
                            Lanes::Down => (lane as u64 + b) as i64,
                            Lanes::Butterfly => (lane as u64 ^ b) as i64,
                            _ => (min_lane | (b & !segment & 31)) as i64,
                        };
                        inside = if kind == Lanes::Up { j >= max_lane as i64 } else { j <= max_lane as i64 };
                        let from = if inside { j as usize } else { lane };
                        // Undefined by the manual; the engine says 0.
                        if list.contains(&from) { values[from][0] } else { 0 }
                    }
                };
                if kind != Lanes::Sync {
                    self.set(&mut warp[lane], d, result);
                }
                if let Some(p) = p {
                    self.set(&mut warp[lane], (P, p), u64::from(inside));
                }
                self.go_on(&mut warp[lane]);
            }
        }
        any
    }

    fn bytes<'a>(&'a mut self, thread: &'a mut Thread, space: Space, at: u64, len: usize) -> &'a mut [u8] {
        assert_eq!(at % len as u64, 0);
        if at & HEAP_AT != 0 {
            let offset = (at & 0xff_ffff) as usize;
            return &mut self.heap[(at & !HEAP_AT) as usize >> 24][offset..offset + len];
        }
        if at & LOCAL_AT != 0 && space != Space::Shared {
            let depth = (at >> 40 & 0xffff) as usize;
            let offset = (at & 0xff_ffff) as usize;
            return &mut thread.frames[depth].local[offset..offset + len];
        }
        if space == Space::Shared || at & SHARED_AT != 0 {
            let offset = (at & !SHARED_AT) as usize;
            return &mut self.shared[offset..offset + len];
        }
        let (start, bytes) =
            self.buffers.iter_mut().find(|(start, bytes)| at >= *start && at < start + bytes.len() as u64).unwrap();
        let offset = (at - *start) as usize;
        &mut bytes[offset..offset + len]
    }

    fn leave(&mut self, thread: &mut Thread) {
        if thread.frames.len() == 1 {
            thread.state = State::Ended;
            return;
        }
        let (done, caller) = (thread.frames.pop().unwrap(), thread.frames.last_mut().unwrap());
        match done.into {
            Some(Ok(site)) => caller.arguments.entry(site).or_default()[2] = done.result,
            Some(Err(reg)) => {
                caller.regs.insert(reg, done.result);
            }
            None => {}
        }
    }

    fn step(&mut self, thread: &mut Thread) -> Result<(), TooLong> {
        let frame = thread.frames.last().unwrap();
        let (function, depth) = (frame.function, thread.frames.len() as u64 - 1);
        let case = self.case;
        let Some(ins) = case.functions[function].body.get(frame.pc) else {
            self.leave(thread);
            return Ok(());
        };
        let Ins::Do(guard, what) = ins else {
            thread.frames.last_mut().unwrap().pc += 1;
            return Ok(());
        };
        if let Some((p, when)) = guard
            && (self.value(thread, Source::Reg((P, *p))) == 1) != *when
        {
            thread.frames.last_mut().unwrap().pc += 1;
            return Ok(());
        }
        match what {
            What::Barrier(_)
            | What::BarrierCount(..)
            | What::BarrierVote(..)
            | What::BarrierApart(_)
            | What::BarrierCounted(false, ..) => {
                thread.state = State::Barrier;
                return Ok(());
            }
            What::Lanes(..) => {
                thread.state = State::Lanes;
                return Ok(());
            }
            _ => {}
        }
        self.executed += 1;
        thread.frames.last_mut().unwrap().pc += 1;
        let value = |machine: &Self, thread: &Thread, source: &Source| machine.value(thread, *source);
        match what {
            What::Alu(_, f, d, sources) => {
                let sources: Vec<u64> = sources.iter().map(|source| value(self, thread, source)).collect();
                self.set(thread, *d, f(&sources));
            }
            What::Video(_, form, d, sources) => {
                let [a, b, c] = sources.map(|source| self.value(thread, source) as u32);
                self.set(thread, *d, u64::from(form.eval(a, b, c)));
            }
            What::Carry(_, subtract, carry_in, d, sources) => {
                let bits = bits(d.0);
                let [a, b] = sources.map(|source| u128::from(self.value(thread, source)));
                let mask = (1u128 << bits) - 1;
                // A difference is the sum with the complement.
                let b = if *subtract { !b & mask } else { b };
                let first = !carry_in && *subtract;
                let carry = if *carry_in { thread.frames.last().unwrap().carry } else { first };
                let sum = a + b + u128::from(carry);
                thread.frames.last_mut().unwrap().carry = sum > mask;
                self.set(thread, *d, (sum & mask) as u64);
            }
            What::SetP(_, f, p, q, sources, third) => {
                let [a, b] = sources.map(|source| self.value(thread, source));
                let t = f(a, b);
                let (mut yes, mut no) = (t, !t);
                if let Some((with, c, not)) = third {
                    let c = (self.value(thread, Source::Reg((P, *c))) == 1) != *not;
                    let combine = |t: bool| match *with {
                        "and" => t & c,
                        "or" => t | c,
                        _ => t ^ c,
                    };
                    (yes, no) = (combine(t), combine(!t));
                }
                self.set(thread, (P, *p), u64::from(yes));
                self.set(thread, (P, *q), u64::from(no));
            }
            What::Branch(label) => thread.frames.last_mut().unwrap().pc = self.labels[function][label],
            What::Switch(_, index, list) => {
                let index = self.value(thread, Source::Reg(*index)) as usize;
                thread.frames.last_mut().unwrap().pc = self.labels[function][&list[index]];
            }
            What::Load(space, signed, size, d, at, offset) => {
                let at = self.value(thread, Source::Reg(*at)).wrapping_add(*offset as u64);
                assert_eq!(at % u64::from(*size as usize as u32 * d.len() as u32), 0);
                let mut values = Vec::new();
                for i in 0..d.len() as u64 {
                    let mut word = [0; 8];
                    if *space == Space::Const {
                        let index = (at - CONST_AT) / 4 + i;
                        values.push(u64::from(self.case.table[index as usize]));
                        continue;
                    }
                    let from = self.bytes(thread, *space, at + i * u64::from(*size), *size as usize);
                    word[..from.len()].copy_from_slice(from);
                    let unused = 64 - 8 * size;
                    let value = u64::from_le_bytes(word);
                    values.push(if *signed { ((value << unused) as i64 >> unused) as u64 } else { value });
                }
                for (d, value) in d.iter().zip(values) {
                    self.set(thread, *d, value);
                }
            }
            What::Store(space, size, values, at, offset) => {
                let at = self.value(thread, Source::Reg(*at)).wrapping_add(*offset as u64);
                for (i, reg) in values.iter().enumerate() {
                    let value = self.value(thread, Source::Reg(*reg)).to_le_bytes();
                    let to = self.bytes(thread, *space, at + i as u64 * u64::from(*size), *size as usize);
                    to.copy_from_slice(&value[..*size as usize]);
                }
            }
            What::Reduce(space, _, f, at, source) => {
                let (at, value) = (self.value(thread, Source::Reg(*at)), self.value(thread, *source));
                let place = self.bytes(thread, *space, at, 4);
                let old = u64::from(u32::from_le_bytes(place.try_into().unwrap()));
                place.copy_from_slice(&(f(&[old, value]) as u32).to_le_bytes());
            }
            What::Atomic(space, name, f, bytes, d, at, sources) => {
                let at = self.value(thread, Source::Reg(*at));
                let mut operands = vec![0];
                operands.extend(sources.iter().map(|source| self.value(thread, *source)));
                let len = *bytes as usize;
                let place = self.bytes(thread, *space, at, len);
                let mut word = [0; 8];
                word[..len].copy_from_slice(place);
                operands[0] = u64::from_le_bytes(word);
                // In shared memory sums of single precision keep subnormal numbers.
                let flushes = *name == "add.f32" && *space != Space::Shared && at & SHARED_AT == 0;
                let flush = |x: u64| if flushes && x & 0x7f80_0000 == 0 { x & 0x8000_0000 } else { x };
                let old = operands[0];
                let new = flush(f(&operands.iter().map(|x| flush(*x)).collect::<Vec<_>>()));
                place.copy_from_slice(&new.to_le_bytes()[..len]);
                self.set(thread, *d, old);
            }
            What::Copy(to, from) => {
                let [to, from] = [to, from].map(|reg| self.value(thread, Source::Reg(*reg)));
                let bytes = self.bytes(thread, Space::Global, from, 4).to_vec();
                self.bytes(thread, Space::Shared, to, 4).copy_from_slice(&bytes);
            }
            What::Malloc(d, bytes) => {
                self.heap.push(vec![0; *bytes as usize]);
                self.set(thread, *d, HEAP_AT | (self.heap.len() as u64 - 1) << 24);
                // The argument and the result.
                self.executed += 2;
            }
            What::Free(_) => self.executed += 1,
            What::Print(format, at) => {
                let (_, kinds, line) = FORMATS[*format];
                let at = self.value(thread, Source::Reg(*at));
                let mut values = Vec::new();
                for (offset, bytes) in places(kinds) {
                    let mut word = [0; 8];
                    let found = self.bytes(thread, Space::Generic, at + offset, bytes as usize);
                    word[..found.len()].copy_from_slice(found);
                    values.push(u64::from_le_bytes(word));
                }
                self.printed.push(line(&values));
                // The address of the format, two arguments.
                self.executed += 3;
            }
            What::Pack(d, sources) => {
                let width = bits(d.0) / sources.len() as u32;
                let values = sources.iter().map(|source| self.value(thread, Source::Reg(*source)));
                let value = values.enumerate().fold(0, |packed, (i, value)| packed | value << (i as u32 * width));
                self.set(thread, *d, value);
            }
            What::Unpack(d, source) => {
                let width = bits(source.0) / d.len() as u32;
                let value = self.value(thread, Source::Reg(*source));
                for (i, d) in d.iter().enumerate() {
                    self.set(thread, *d, value >> (i as u32 * width));
                }
            }
            What::ConstAddress(d) => self.set(thread, *d, CONST_AT),
            What::Cvta(Space::Shared, d) => {
                let value = self.value(thread, Source::Reg(*d));
                self.set(thread, *d, value | SHARED_AT);
            }
            What::LocalAddress(d) => self.set(thread, *d, LOCAL_AT | depth << 40),
            What::SharedAddress(d) => self.set(thread, *d, 0),
            What::Parameter(d, i) => {
                let value = thread.frames.last().unwrap().parameters[*i];
                self.set(thread, *d, value);
            }
            What::PutArgument(site, i, reg) => {
                let value = self.value(thread, Source::Reg(*reg));
                thread.frames.last_mut().unwrap().arguments.entry(*site).or_default()[*i] = value;
            }
            What::Call(site, callee) => {
                let parameters = thread.frames.last().unwrap().arguments[site];
                thread.frames.push(Frame { into: Some(Ok(*site)), ..Frame::new(*callee, parameters) });
            }
            What::CallByAddress(site, at) => {
                let callee = (self.value(thread, Source::Reg(*at)) - FUNCTION_AT) as usize;
                let parameters = thread.frames.last().unwrap().arguments[site];
                thread.frames.push(Frame { into: Some(Ok(*site)), ..Frame::new(callee, parameters) });
            }
            What::GetResult(site, d) => {
                let value = thread.frames.last().unwrap().arguments[site][2];
                self.set(thread, *d, value);
            }
            What::CallRegisters(callee, d, sources) => {
                let [a, b] = sources.map(|source| self.value(thread, source));
                thread.frames.push(Frame { into: Some(Err(*d)), ..Frame::new(*callee, [a, b, 0]) });
            }
            What::Return => self.leave(thread),
            What::PutReturn(reg) => {
                let value = self.value(thread, Source::Reg(*reg));
                thread.frames.last_mut().unwrap().result = value;
            }
            What::FunctionAddress(d, callee) => self.set(thread, *d, FUNCTION_AT + *callee as u64),
            What::Exit => thread.state = State::Ended,
            // Which lanes are there is the machine's business.
            What::Active(d) => self.set(thread, *d, 0),
            // Addresses of arrays are generic here already, and copies are made at once.
            What::Cvta(..) | What::WaitForCopies => {}
            What::Barrier(_)
            | What::BarrierCount(..)
            | What::BarrierVote(..)
            | What::BarrierApart(_)
            | What::BarrierCounted(..)
            | What::Lanes(..) => {}
        }
        Ok(())
    }
}
